# SPDX-License-Identifier: Apache-2.0
"""The errors that docs/streams.md states are what comes out now."""

import pytest
from benchmarks import participations
from pages import solver as solver_page
from pages import streams as streams_page

import lownoise as ln
from lownoise.planning.strategies import STRATEGIES

TEXT = streams_page.PAGE.read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in solver_page.part(TEXT, "errors").splitlines()[2:]
]
PEOPLE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in solver_page.part(TEXT, "people").splitlines()[2:]
]
TITLES = {participations.Row.of(text).title: text for text in streams_page.PEOPLE}
QUICK = ("input", "square_root", "normalized_square_root", "toeplitz", "rational")
SLOW = ("optimal", "banded", "honaker")  # at 1,024 rounds


def test_the_page_has_all_strategies():
    assert [row[0].strip("`") for row in ROWS] == list(STRATEGIES)
    assert [row[1] for row in ROWS] == [own.description for own in STRATEGIES.values()]


@pytest.mark.grid(3)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_errors_are_as_stated(strategy):
    row = next(row for row in ROWS if row[0] == f"`{strategy}`")
    for i, rounds in enumerate(streams_page.SIZES):
        if strategy in SLOW and rounds > 16:
            continue
        found = streams_page.squared_errors(strategy, rounds)
        assert row[2 + 2 * i : 4 + 2 * i] == [f"{x:.4g}" for x in found]


def test_the_page_has_all_rows_of_people():
    assert list(dict.fromkeys(row[0] for row in PEOPLE)) == list(TITLES)


@pytest.mark.grid(1)
@pytest.mark.parametrize("row", PEOPLE, ids=lambda row: " ".join(row[:2]))
def test_errors_for_people_are_as_stated(row):
    text, strategy = TITLES[row[0]], row[1].split()[0].strip("`")
    own = participations.Row.of(text)
    chosen = participations.choose(ln.Prefix(own.rounds), "mean", own.participation)[0]
    assert row[1] == f"`{strategy}`" + (" (auto)" if strategy == chosen else "")
    value, low, seconds, theirs, their_seconds = (float(cell or "nan") for cell in row[2:])
    assert not low > value * (1 + 1e-7)
    assert not value > theirs * (1 + 1e-7)
    assert not seconds >= their_seconds
    if strategy in QUICK and own.rounds <= 512:
        found = participations.measure(text, strategy)["value"]
        assert found == pytest.approx(value, rel=1e-6)
