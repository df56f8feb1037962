# SPDX-License-Identifier: Apache-2.0
"""The report: nothing is fetched, user text is literal, every kind of answer has its page."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import lownoise as ln
from lownoise import report
from lownoise.errors import PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.release import execute

RUDE = [
    "<script>alert(1)</script>",
    "$x_1$",
    "a&b \"quoted\" 'it'",
    "line\nbreak\x1b[31m",
    "ü" * 90,
]


def made(names, *, relation="substitute", lower=0.0, upper=1.0, budget=None, ledger=None, order=2):
    d = len(names)
    box = ln.Box(np.full(d, lower), np.broadcast_to(upper, (d,)))
    plan = ln.plan(
        ln.Mean(names, box),
        budget=budget or ln.approx_dp(1, 1e-6),
        relation=relation,
        size=50 if relation == "substitute" else None,
        order=order,
    )
    frame = pd.DataFrame(np.full((50, d), 0.25), columns=names)
    return execute(plan.terms, frame, ledger, randomness=SimulationRandomness(1))


class Reader(HTMLParser):
    """Collects what a browser would fetch, the words that it would show, and unclosed tags."""

    VOID = ("meta", "br", "link", "img", "path", "use")

    def __init__(self, text):
        super().__init__()
        self.fetched, self.words, self.tags, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data") and not value.startswith(
                "#"
            ):
                self.fetched.append(value)
            if name == "style" and "url(" in value and "url(#" not in value:
                self.fetched.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


SUBJECTS = {
    "means": lambda: made(["a", "b"], upper=[1.0, 9.0]),
    "sums": lambda: made(["a", "b"], relation="add_remove"),
    "one": lambda: made(["a"]),
    "largest": lambda: made(["a", "b", "c"], order=math.inf, budget=ln.zcdp(0.1)),
    "no noise": lambda: made(["a"], lower=0.25, upper=0.25),
    "some noise": lambda: made(["a", "b"], lower=0.25, upper=[0.25, 1.0]),
    "rude": lambda: made(RUDE),
    "many": lambda: made([f"c{i}" for i in range(250)], upper=np.geomspace(1, 1e4, 250)),
    "huge budget": lambda: made(["a", "b"], budget=ln.zcdp(1e6)),
}


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("kind", ["release", "plan"])
def test_a_page_is_whole_and_fetches_nothing(name, kind):
    release = SUBJECTS[name]()
    text = report.html(release if kind == "release" else release.terms)
    page = Reader(text)
    assert page.open == []
    assert page.fetched == []
    assert "@import" not in text
    assert "script" not in page.tags
    assert not {"link", "iframe", "img", "object"} & set(page.tags)
    addresses = {w for w in text.replace('"', " ").split() if "://" in w}
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert ("svg" in page.tags) == (name != "no noise")


def test_user_text_is_shown_literally_and_controls_are_made_visible():
    page = Reader(report.html(made(RUDE)))
    words = "".join(page.words)
    for name in RUDE[:3]:
        assert words.count(name) >= 3  # answers, figure, bounds
    assert "line�break�[31m" in words
    assert "\x1b" not in words


def test_a_page_depends_on_its_subject_alone():
    release = made(["a", "b"])
    assert report.html(release) == report.html(release)


def test_an_unrecorded_release_warns_and_a_recorded_one_names_its_entry(tmp_path):
    assert "Nothing was recorded" in report.html(made(["a"]))
    ledger = ln.Ledger.create(tmp_path / "l", "town <b>", ln.zcdp(1))
    page = report.html(made(["a"], budget=ln.zcdp(0.5), ledger=ledger))
    assert "Nothing was recorded" not in page
    assert "Entry 1 in the account of “town &lt;b&gt;”" in page


def test_many_answers_are_drawn_in_part_and_said_so():
    assert "The 40 of 250 answers" in report.html(made([f"c{i}" for i in range(250)]))


def test_means_under_add_remove_are_said_not_to_be_exactly_unbiased():
    page = report.html(made(["a"], relation="add_remove"))
    assert "not exactly unbiased" in page
    assert "sum(a - center)" in page


def test_the_figure_has_words_for_those_who_do_not_see_it():
    page = report.html(made(["a", "b"]))
    assert 'role="img"' in page
    assert '<title id="figure-title">' in page
    assert "a: i.i.d. Gaussian" in page


def test_pairs_are_drawn_as_ellipses_beside_the_circle_of_equal_privacy():
    """Widths 1 and 9: half axes as √(1·10) : √(9·10), the circle as √82."""
    page = report.html(made(["a", "b"], upper=[1.0, 9.0]))
    (across, up, circle) = re.search(
        r'<circle class="round" r="([\d.]+)".*?rx="([\d.]+)" ry="([\d.]+)"', page, re.DOTALL
    ).group(2, 3, 1)
    assert float(up) / float(across) == pytest.approx(3, rel=1e-3)
    assert float(circle) / float(up) == pytest.approx(math.sqrt(82 / 90), rel=1e-3)
    assert "This plan: an ellipse reaching" in page


def test_of_many_answers_four_are_paired_and_of_one_none():
    many = report.html(made([f"c{i}" for i in range(9)], upper=np.geomspace(1, 100, 9)))
    assert many.count("<ellipse") == 6
    assert {"→ c0", "↑ c8"} <= set(re.findall(r"[→↑] c\d", many))
    assert "<ellipse" not in report.html(made(["a"]))


def test_a_plan_has_the_page_of_its_terms():
    ask = {"relation": "add_remove"}
    one = ln.Queries([[1, 0]], {"a": 2})
    for question in (ln.Mean(["a"], ln.Box([0], [1])), ln.Marginals({"a": 2}, way=1), one):
        plan = ln.plan(question, budget=ln.zcdp(0.5), **ask)
        assert report.html(plan) == report.html(plan.terms)
    pure = ln.plan(one, budget=ln.pure_dp(1), **ask)
    assert report.html(pure) == report.html(pure.terms)


def test_equal_noise_is_not_said_to_be_less():
    page = report.html(made(["a"]))
    assert "The total variance is the same as with i.i.d." in page
    assert "1.000 times" not in page


def test_what_is_no_release_has_no_page():
    with pytest.raises(PlanError, match="has no page"):
        report.html(3)


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("width", [40, 100])
def test_terminal_tables_show_every_answer(name, width):
    release = SUBJECTS[name]()
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    with console.capture() as capture:
        console.print(report.release_table(release))
        console.print(report.plan_table(release.terms))
    text = capture.get()
    console.file.close()
    assert "\x1b" not in text
    assert "certificate" in text
    if name != "rude":
        assert all(n.split("(")[0] in text for n in release.names)
