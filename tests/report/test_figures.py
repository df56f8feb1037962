# SPDX-License-Identifier: Apache-2.0
"""Figures: literal names, ids that never meet, the page's colours, the same bytes every time."""

import re

import matplotlib as mpl
import numpy as np
import pytest

import lownoise as ln
from lownoise import report
from lownoise.report import figures, sentences

RUDE = ["$x_1$", "<script>", 'id="x" #010101', "飛行時間", "אורך", "url(#y)"]


def terms(names, upper=1.0):
    d = len(names)
    box = ln.Box(np.zeros(d), np.broadcast_to(upper, (d,)))
    return ln.plan(ln.Mean(names, box), budget=ln.zcdp(0.5), relation="substitute", size=9).terms


@pytest.mark.parametrize("narrow", [False, True])
def test_names_are_literal(narrow):
    drawn = figures.comparison(terms(RUDE), narrow=narrow)
    body = drawn.partition("</desc>")[2]
    for name in RUDE:
        assert name.replace("<", "&lt;").replace(">", "&gt;") in body


def test_ids_are_unique_and_every_link_has_its_target():
    page = report.html(terms(["a", "b"], [1.0, 9.0]))
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)|aria-labelledby="([^"]+)"', page)
    targets = {t for found in links for group in found for t in group.split()}
    assert len(targets) > 4
    assert targets <= set(ids)


@pytest.mark.parametrize("narrow", [False, True])
def test_no_colour_or_font_but_the_page_s_own(narrow):
    drawn = figures.comparison(terms(["a", "b"], [1.0, 9.0]), narrow=narrow)
    assert "font-family" not in drawn
    assert "DejaVu" not in drawn
    colours = set(re.findall(r"(?:fill|stroke): ?([^;\"]+)", drawn))
    assert colours <= {*figures._COLORS.values(), "none"}  # none of matplotlib's


def test_a_user_s_matplotlib_settings_do_not_enter():
    plain = figures.comparison(terms(["a"]))
    with mpl.rc_context({"text.usetex": True, "font.size": 40, "svg.fonttype": "path"}):
        assert figures.comparison(terms(["a"])) == plain
        assert mpl.rcParams["font.size"] == 40


def test_an_answer_without_noise_says_so():
    drawn = figures.comparison(terms(["a", "b"], [0.0, 1.0]))
    assert drawn.count("no noise needed") == 2  # in the drawing and in its description


def test_of_many_answers_those_with_the_largest_multiples_are_shown():
    chosen = figures.shown_answers(terms([f"c{i}" for i in range(250)], np.geomspace(1, 1e4, 250)))
    assert chosen.tolist() == list(range(40))  # the narrowest suffer most from round noise
    assert figures.shown_answers(terms([f"c{i}" for i in range(200)])).size == 200


def test_a_tiny_gap_is_said_in_few_digits():
    assert sentences.gap(terms(["a", "b"])) == "below 0.0001%"
