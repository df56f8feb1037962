# SPDX-License-Identifier: Apache-2.0
"""The errors that docs/radial.md states are those that are found now."""

import pytest
from benchmarks import radial
from pages import radial as page
from pages.pure import rows_of

ROWS = rows_of(page.PAGE.read_text(encoding="utf-8"), page.NAME)
AGAIN = [row for row in ROWS if row[:3] in (["1", "1e-06", "8"], ["4", "1e-09", "100"])]
STATED = [radial.HEAD.index(name) for name in ("Gaussian", "K-norm", "radial", "proved", "balls")]


def test_the_page_has_all_budgets_and_dimensions():
    asked = [[f"{e:g}", f"{d:g}", str(n)] for e, d in radial.BUDGETS for n in radial.SIZES]
    assert [row[:3] for row in ROWS] == asked


def test_bounds_are_within_a_five_hundredth():
    assert all(float(row[7].rstrip("%")) <= 0.2 for row in ROWS)


@pytest.mark.grid(1)
@pytest.mark.parametrize("row", AGAIN, ids=str)
def test_numbers_are_as_stated(row):
    found = radial.row(int(row[2]), float(row[0]), float(row[1]))
    assert [float(found[k]) for k in STATED] == pytest.approx(
        [float(row[k]) for k in STATED], rel=1e-3
    )
