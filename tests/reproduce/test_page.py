# SPDX-License-Identifier: Apache-2.0
"""The command writes the page, and fails where a claim does."""

import json
import re
from dataclasses import replace

import pytest
from tests.command_line import run

from lownoise.report.claims import reproduction
from lownoise.report.lines import line_chart
from lownoise.report.reproduce import CLAIMS, FIGURES, reproduce
from reproduce.once import quickly


@pytest.fixture
def _checked_once(monkeypatch):
    def known(*, quick, progress):
        assert quick
        progress("all")
        return quickly()

    monkeypatch.setattr("lownoise.report.reproduce.reproduce", known)


@pytest.mark.usefixtures("_checked_once")
def test_the_command_prints_the_table_and_writes_the_page(tmp_path):
    out = tmp_path / "claims.html"
    done = run(tmp_path, "reproduce", "--quick", "--out", out)
    assert done.returncode == 0
    for claim in CLAIMS:
        assert claim.place in done.stdout
    html = out.read_text(encoding="utf-8")
    assert html.count("<figure>") == len(FIGURES)
    assert "http" not in html.replace("http://www.w3.org", "")
    assert run(tmp_path, "reproduce", "--quick", "--out", out).returncode == 2


@pytest.mark.usefixtures("_checked_once")
def test_json_has_every_claim(tmp_path):
    done = run(tmp_path, "reproduce", "--quick", "--json")
    found = json.loads(done.stdout)
    assert found["holds"] is True
    assert [row["place"] for row in found["claims"]] == [claim.place for claim in CLAIMS]


def test_a_planted_constant_is_refused_with_its_place(monkeypatch, capsys):
    planted = replace(
        CLAIMS[2], rule=lambda constant, **named: CLAIMS[2].rule(2 * constant, **named)
    )
    found = reproduce(quick=True, claims=(CLAIMS[0], planted), figures=())
    assert [row.claim.place for row in found.failing] == [CLAIMS[2].place]
    title = reproduction(found)[0].title
    assert title.startswith("1 of 2 claims")


@pytest.mark.grid(3)
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_figures_are_drawn_with_words_beside_them(figure):
    chart = line_chart(figure(quick=True))
    assert len(chart.caption) > 40
    drawn = str(chart.drawn[0])
    words = re.search(r"<desc[^>]*>(.*?)</desc>", drawn)[1]
    assert words.count(" at ") >= 4  # both ends of two lines at least
    width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn).groups())
    places = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"', drawn)
    assert len(places) > 6
    assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in places)
