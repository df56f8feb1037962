# SPDX-License-Identifier: Apache-2.0
"""The integers of records: how far one neighbour moves them, against the codes themselves.

Mutants seen: one record's rounding for two, the sum of both not rounded up, one end of a box for
the farther one, the middle of the parities' codes left out, the count's step left out.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.noise.means import changed_extent, coding_for
from lownoise.noise.queries import QueryTotals
from lownoise.questions import Queries
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sensitivity.relations import Change

TRIANGLE = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]])
SQUARE = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
TENSORS = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, -1.0, 1.0]])
# of each kind of codes: the domain, its corners, and how far above them the reach may be: records
# that are clamped in floats are off by some roundings, and a box is its own corners' box
CASES = {
    "box": (ln.Box([-1, -1], [1, 1]), SQUARE, 1.0),
    "points": (ln.Points(TRIANGLE), TRIANGLE, 1e-9),
    "parities": (ln.TensorPower(2, 2), TENSORS, 0.05),
    "clamped": (ln.hull(ln.Points(TRIANGLE), ln.Points([[3.0, 1.5]])), [*TRIANGLE, [3, 1.5]], 2.0),
}
PLACES = [("substitute", 0.5), *(("add_remove", t) for t in (0.0, 0.1, 0.5, 0.9, 1.0))]


def coding_of(domain, center, step):
    question = ln.Mean([f"c{i}" for i in range(domain.dimension)], domain, center=center)
    chosen = domain.coordinates()
    return coding_for(question, chosen, np.full(chosen.pivots.size, step))


@pytest.mark.grid
@pytest.mark.parametrize(("relation", "place"), PLACES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("step", [2.0**-20, 0.5])
def test_the_reach_is_that_of_every_corner_as_an_integer(case, relation, place, step):
    domain, corners, room = CASES[case]
    x = np.asarray(corners, dtype=float)
    center = x[0] + place * (x[-1] - x[0])
    coding = coding_of(domain, center, step)
    codes = coding.encode(x).astype(float)
    unit = 0.25
    if relation == "substitute":
        moved, reach = (codes[:, None] - codes).reshape(-1, codes.shape[1]), coding.changes(None)
    else:
        moved = np.hstack([codes, np.full((len(codes), 1), 1 / unit)])
        reach = coding.changes(unit)
    d = moved.shape[1]
    joined = np.eye(d) + 0.3 * np.random.default_rng(d).normal(size=(d, d))
    for factor in (np.diag(np.arange(1.0, d + 1)), joined):
        diagonal = np.count_nonzero(factor) == d
        shape = DiagonalShape(np.diag(factor)) if diagonal else DenseShape(factor)
        truth = np.linalg.norm(np.linalg.solve(factor, moved.T), axis=0).max()
        found = reach.radius_up(shape)
        assert found >= truth * (1 - 1e-12)
        fine = step < 2.0**-10 or case != "clamped"
        assert not fine or found <= truth * (1 + (1e-5 if diagonal else room))


def test_boxes_of_changes_with_both_roundings_are_never_rounded_down():
    """In fractions: half of the width over the step, and what two records are rounded by."""
    rng = np.random.default_rng(4)
    below = 0
    for width, step in zip(rng.uniform(0.1, 3, 300), 2.0 ** rng.integers(-30, 1, 300), strict=True):
        body = ln.Box([-width], [width])
        coding = coding_of(ln.Box([0.0], [9.0]), np.array([4.5]), float(step))
        reach = changed_extent(coding, Change(body), np.arange(1), mixed=False)
        exact = Fraction(width) / Fraction(step) + 2 * Fraction(float(coding.slack[0]))
        found = Fraction(float(reach.half_width[0]))
        assert exact <= found <= exact * Fraction(1 + 2.0**-51)
        nearest = Fraction(width / step + 2 * float(coding.slack[0]))
        below += nearest < exact
    assert below > 50  # power: to nearest as many would be too low


def test_a_coordinate_without_width_stays_without():
    box = ln.Box([0.0, 3.0], [9.0, 3.0])
    for place in (0.0, 4.0, 5.0, 9.0):  # beside it the farther bound counts
        reach = coding_of(box, np.array([place, 3.0]), 0.5).changes(0.25)
        assert reach.half_width.tolist() == [2 * max(place, 9 - place), 0.0, 4.0]
    coding = coding_of(box, np.array([4.5, 3.0]), 0.5)
    change = Change(ln.Box([-1.0, 0.0], [1.0, 0.0]))
    reach = changed_extent(coding, change, np.arange(2), mixed=False)
    assert reach.half_width[1] == 0


TWICE = Queries(np.array([[1.0, 2, 4], [0, 1, 5], [2, 4, 8]]), {"x": 3}, outside={"x": 0})


def grid(step):
    chosen = TWICE.coordinates("add_remove")
    steps = np.full(chosen.pivots.size, step)
    return QueryTotals(
        question=TWICE, relation="add_remove", size=None, coordinates=chosen, step=steps
    )


def test_queries_follow_from_their_pivots_or_are_refused():
    chosen = TWICE.coordinates("add_remove")
    assert chosen.pivots.size == 2
    assert TWICE.follows(chosen)

    def changed(**fields):
        return type(chosen)(
            **{"pivots": chosen.pivots, "embed": chosen.embed, "start": chosen.start, **fields}
        )

    embed = chosen.embed
    off = embed.copy()
    off[2] *= 1 + 1e-6
    bent = [
        changed(embed=off),  # of one query all numbers are off
        changed(embed=embed[:2]),
        changed(embed=embed[:, :1]),
        changed(embed=None),
        changed(pivots=chosen.pivots[::-1], embed=embed[:, ::-1]),
        changed(pivots=np.array([0, 0])),
        changed(pivots=np.array([-3, 1])),
        changed(pivots=np.array([0, 3])),
        changed(start=np.ones(3)),
    ]
    assert not any(TWICE.follows(other) for other in bent)


def test_the_codes_of_queries_are_whole_numbers_of_steps_or_the_grid_is_refused():
    found, summed = grid(0.5), TWICE.matrix[TWICE.coordinates("add_remove").pivots].T
    assert found.codes.tolist() == (2 * summed).tolist()
    least = 2.0**-52 * summed.max()  # the farthest code is 2^52
    assert np.all(np.abs(grid(least).codes - summed / least) <= 0.5)
    for step in (least / 2, 2.0**-60, 2.0**-1074):
        with pytest.raises(PlanError, match="step is too fine for the matrix"):
            grid(step)
    assert math.isfinite(found.changes.radius_up(DiagonalShape([1.0, 1.0])))


SHARE = 1e-3  # of an answer's noise, as the README says
BOX = ln.Box([0, -1], [10, 2])
ROUNDED = {
    "means": ln.Mean(["x", "y"], BOX),
    "totals": ln.Sum(["x", "y"], BOX),
    "a list": ln.Mean(["x", "y"], ln.Points([[0, 0], [1, 0.333], [0.7, 1.0]])),
    "totals by groups": ln.Sum(["x", "y"], BOX, by={"g": ["a", "b"]}, outside="extra"),
}


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize(("budget", "rows"), [(ln.zcdp(100), 10**9), (ln.pure_dp(4), 10**7)])
@pytest.mark.parametrize("name", ROUNDED)
def test_rounding_of_that_many_rows_moves_little_beside_the_noise(name, budget, rows, relation):
    size = {"size": rows} if relation == "substitute" else {}
    own = ln.plan(ROUNDED[name], budget=budget, relation=relation, **size).terms.mechanism
    deviations = own.noise.deviations(np.ones(own.length), None)
    moves = deviations > 0  # of what has none all records are whole
    assert np.all(rows * own.totals.rounding[moves] < SHARE * deviations[moves])
