# SPDX-License-Identifier: Apache-2.0
"""The errors that docs/streams.md states are what comes out now."""

import pytest
from pages import solver as solver_page
from pages import streams as streams_page

from lownoise.planning.strategies import STRATEGIES

TEXT = streams_page.PAGE.read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in solver_page.part(TEXT, "errors").splitlines()[2:]
]
SLOW = ("optimal", "banded", "honaker")  # at 1,024 rounds


def test_the_page_has_all_strategies():
    assert [row[0].strip("`") for row in ROWS] == list(STRATEGIES)
    assert [row[1] for row in ROWS] == [own.description for own in STRATEGIES.values()]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_errors_are_as_stated(strategy):
    row = next(row for row in ROWS if row[0] == f"`{strategy}`")
    for i, rounds in enumerate(streams_page.SIZES):
        if strategy in SLOW and rounds > 16:
            continue
        found = streams_page.squared_errors(strategy, rounds)
        assert row[2 + 2 * i : 4 + 2 * i] == [f"{x:.4g}" for x in found]
