# SPDX-License-Identifier: Apache-2.0
"""Totals of listed points: codes of the nearest, summed exactly."""

import numpy as np
import pytest

from lownoise.engines import ListCoding, TotalsQuery, memory
from lownoise.errors import PlanError
from lownoise.sets.domains import Points

POINTS = Points([[0.0, 0.0, 5.0], [1.0, 0.5, 5.0], [0.25, -3.0, 5.0], [0.25, 3.0, 5.0]])
CODING = ListCoding(
    columns=("x", "y z", "w"),
    domain=POINTS,
    center=POINTS.center,
    missing=POINTS.points[1],
    pivots=np.array([0, 1]),
    step=np.array([2.0**-30, 2.0**-20]),
)
NASTY = [0.0, -0.0, 0.3, 1e308, -1.7e308, np.inf, -np.inf, np.nan, 2.0**-1074, 0.6249, 0.625]
ROWS = np.array([[a, b, c] for a in NASTY for b in NASTY for c in (5.0, np.nan, 7.0)])


def test_the_totals_are_those_of_the_nearest_points_in_plain_python():
    """A second writing: clamp to the ranges, scale, nearest by squares, code."""
    ranges = [(0.0, 1.0), (-3.0, 3.0)]
    sums = [0, 0]
    for row in ROWS.tolist():
        filled = [v if v == v else m for v, m in zip(row, CODING.missing.tolist(), strict=True)]  # noqa: PLR0124
        parts = [
            (min(max(v, lo), hi) - lo) / (hi - lo)
            for v, (lo, hi) in zip(filled, ranges, strict=False)
        ]
        gaps = []
        for point in POINTS.points.tolist():
            own = [(v - lo) / (hi - lo) for v, (lo, hi) in zip(point, ranges, strict=False)]
            gaps.append(sum((a - b) ** 2 for a, b in zip(parts, own, strict=True)))
        assert sorted(gaps)[1] - min(gaps) > 1e-6  # no ties in this test
        near = POINTS.points[int(np.argmin(gaps))]
        for j in range(2):
            sums[j] += int(np.floor((near[j] - CODING.center[j]) / CODING.step[j] + 0.5))
    assert memory.totals(TotalsQuery(CODING, drops_missing=False), ROWS).sums == tuple(sums)


def test_sums_of_large_codes_do_not_wrap():
    huge = Points([[0.0], [1.0]])
    coding = ListCoding(
        columns=("x",), domain=huge, center=np.zeros(1), missing=np.zeros(1),
        pivots=np.array([0]), step=np.array([2.0**-52]),
    )  # fmt: skip
    assert coding.sums([np.ones(5000)]) == [5000 * 2**52]


def test_a_grid_that_is_too_fine_is_refused():
    with pytest.raises(PlanError, match="too fine"):
        ListCoding(
            columns=("x",), domain=Points([[0.0], [1.0]]), center=np.zeros(1),
            missing=np.zeros(1), pivots=np.array([0]), step=np.array([2.0**-53]),
        )  # fmt: skip
