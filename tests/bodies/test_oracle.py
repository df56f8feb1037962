# SPDX-License-Identifier: Apache-2.0
"""How far bodies of a program reach: never less than in exact arithmetic, and hardly more."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.errors import DomainError
from lownoise.sets.bodies import LiftedOracle, OracleBody, OracleDifferences
from lownoise.sets.bodies.program import Program
from oracles import ellipsoid, listed, pairs

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

ONES = np.ones(3)
ALL = np.arange(3)


def program(points: Vector, *, tells: bool = True, widen: float = 1.0, **more: Any) -> Program:
    center = points.mean(axis=0)
    options: dict[str, Any] = {
        "name": "list",
        "center": center,
        "extent": np.abs(points - center).max(axis=0) * widen,
        "maximise": listed(points),
        "differences": pairs(points) if tells else None,
        "contains": None,
    }
    return Program(**{**options, **more})


def exact_square(matrix: Vector, change: list[Fraction]) -> Fraction:
    """‖matrix·change‖², without rounding."""
    rows = [
        sum((Fraction(a) * s for a, s in zip(row, change, strict=True)), Fraction(0))
        for row in matrix.tolist()
    ]
    return sum((r * r for r in rows), Fraction(0))


def between(points: Vector, center: Vector) -> list[list[Fraction]]:
    c = [Fraction(v) for v in center.tolist()]
    return [[Fraction(v) - w for v, w in zip(row, c, strict=True)] for row in points.tolist()]


def close(reach: float, square: Fraction, *, size: float, slack: float = 1e-6) -> None:
    """Assert √square ≤ reach ≤ √square, up to what rounding of the form hides of `size`."""
    assert Fraction(reach) ** 2 >= square
    assert Fraction(reach) ** 2 <= square * (1 + Fraction(1e-12)) + Fraction((slack * size) ** 2)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Vector, Vector, Vector]:
    """Points, a map and a center, each coordinate in its own unit."""
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    unit = 2.0 ** rng.integers(-30, 30, 3)
    points = rng.normal(size=(draw(st.integers(1, 12)), 3)) * unit + rng.normal(size=3) * unit * 9
    matrix = rng.normal(size=(draw(st.integers(1, 4)), 4)) / np.append(unit, 1.0)
    center = points[0] + rng.normal(size=3) * unit * draw(st.sampled_from([0.0, 1.0, 100.0]))
    return points, matrix, center


@settings(max_examples=80)
@given(asked())
def test_reach_is_above_exact_arithmetic(case: tuple[Vector, Vector, Vector]) -> None:
    points, matrix, center = case
    known = program(points)
    linear = np.ascontiguousarray(matrix[:, :3])
    far = np.abs(points - center).max(axis=0) + np.abs(points - points.mean(axis=0)).max(axis=0)
    size = float(np.linalg.norm(np.abs(linear) @ far))
    about = between(points, center)
    square = max(exact_square(linear, s) for s in about)
    close(OracleBody(known, ALL, ONES).length_up(linear, center), square, size=size)
    apart = max(exact_square(linear, s) for x in points for s in between(points, x))
    close(OracleDifferences(known, ALL, ONES).length_up(linear, np.zeros(3)), apart, size=2 * size)
    lifted = LiftedOracle(known, ALL, ONES, center)
    square = max(exact_square(matrix, [*s, Fraction(1)]) for s in about)
    total = size + float(np.linalg.norm(matrix[:, 3]))
    close(lifted.length_up(matrix, np.zeros(4)), square, size=10 * total)


@settings(max_examples=80)
@given(asked())
def test_extents_are_above_exact_arithmetic(case: tuple[Vector, Vector, Vector]) -> None:
    points, matrix, center = case
    known = program(points, widen=3.0)
    linear = np.ascontiguousarray(matrix[:, :3])
    about = between(points, center)
    lifted = [[*s, Fraction(1)] for s in about]
    apart = [s for x in points for s in between(points, x)]
    for body, a, changes, c in (
        (OracleBody(known, ALL, ONES), linear, about, center),
        (OracleDifferences(known, ALL, ONES), linear, apart, np.zeros(3)),
        (LiftedOracle(known, ALL, ONES, center), matrix, lifted, np.zeros(4)),
    ):
        for row, extent in zip(a, body.extent_up(a, c), strict=True):
            square = max(exact_square(row[None], s) for s in changes)
            reach = np.abs(points - points.mean(axis=0)).max(axis=0)
            far = np.abs(row[:3]) @ (9 * reach + 2 * np.abs(points[0] - center)) + abs(row[-1])
            assert Fraction(extent) ** 2 >= square
            assert extent <= math.sqrt(square) + 1e-13 * far


def test_units_and_some_coordinates() -> None:
    rng = np.random.default_rng(5)
    points, origin = rng.normal(size=(9, 4)), rng.normal(size=4)
    pivots, step = np.array([0, 2, 3]), np.array([0.25, 2.0, 0.5])
    known = program(points)
    kept = points[:, pivots] / step
    matrix = rng.normal(size=(4, 4))
    lifted = np.hstack([kept - origin[pivots] / step, np.ones((9, 1))])
    body = LiftedOracle(known, pivots, step, origin)
    truth = float(np.max(np.linalg.norm(lifted @ matrix.T, axis=1)))
    assert truth <= body.length_up(matrix, np.zeros(4)) * (1 + 1e-14)
    assert body.length_up(matrix, np.zeros(4)) <= truth * (1 + 1e-12)
    assert np.allclose(body.vertices(points), lifted, rtol=1e-14)
    for factor in (4.0, 0.125):
        assert np.allclose(body.scaled(factor).vertices(points), factor * lifted, rtol=1e-14)
        assert body.scaled(factor).length_up(matrix, np.zeros(4)) == pytest.approx(factor * truth)
    apart = OracleDifferences(known, pivots, step)
    truth = max(float(np.max(np.linalg.norm((kept - x) @ matrix[:, :3].T, axis=1))) for x in kept)
    assert apart.length_up(matrix[:, :3], np.zeros(3)) == pytest.approx(truth, rel=1e-12)
    assert np.allclose(apart.widths(), np.ptp(kept, axis=0), rtol=1e-12)
    still = OracleBody(known, pivots, step)
    truth = float(np.max(np.linalg.norm((kept - kept[0]) @ matrix[:, :3].T, axis=1)))
    assert still.length_up(matrix[:, :3], kept[0]) == pytest.approx(truth, rel=1e-12)


def least_circle(points: Vector) -> float:
    """The radius of the least circle around points of the plane, by all pairs and triples."""
    centers = [(x + y) / 2 for x, y in combinations(points, 2)]
    for x, y, z in combinations(points, 3):
        a = 2 * np.array([y - x, z - x])
        if abs(np.linalg.det(a)) > 1e-12:
            centers.append(np.linalg.solve(a, [y @ y - x @ x, z @ z - x @ x]))
    radii = [float(np.max(np.linalg.norm(points - c, axis=1))) for c in centers]
    return min(radii)


@pytest.mark.grid
@pytest.mark.parametrize("seed", range(25))
def test_differences_without_pairs_are_twice_the_least_ball(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(2, 9)), 2)) * [1.0, 5.0] + 7
    matrix = rng.normal(size=(2, 2))
    body = OracleDifferences(program(points, tells=False), np.arange(2), np.ones(2))
    exact = 2 * least_circle(points @ matrix.T)
    found = body.length_up(matrix, np.zeros(2))
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-6)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_differences_of_a_symmetric_set_need_no_pairs(d: int) -> None:
    rng = np.random.default_rng(d)
    factor, middle = rng.normal(size=(d, d)), rng.normal(size=d)
    known = Program(
        name="ellipsoid",
        center=middle + 0.1,  # not where it is symmetric about
        extent=np.linalg.norm(factor, axis=1) + 0.11,
        maximise=ellipsoid(factor, middle),
        differences=None,
        contains=None,
    )
    matrix = rng.normal(size=(d, d))
    found = OracleDifferences(known, np.arange(d), np.ones(d)).length_up(matrix, np.zeros(d))
    exact = 2 * float(np.linalg.norm(matrix @ factor, 2))
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-6)


def test_a_count_that_moves_with_nothing_costs_its_own_length_alone() -> None:
    # A₁ = 0: no center, no square to complete
    body = LiftedOracle(program(np.eye(3)), ALL, ONES, np.zeros(3))
    matrix = np.zeros((2, 4))
    matrix[0, 3], matrix[1, 3] = 3.0, 4.0
    assert 5.0 <= body.length_up(matrix, np.zeros(4)) <= 5.0 * (1 + 1e-12)
    # A₁ of rank one, the count along another row and along the same
    matrix = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]])
    exact = math.sqrt(1 + 4)
    assert exact <= body.length_up(matrix, np.zeros(4)) <= exact * (1 + 1e-7)
    matrix = np.array([[1.0, 1.0, 0.0, 2.0]])
    assert 3.0 <= body.length_up(matrix, np.zeros(4)) <= 3.0 * (1 + 1e-7)
    # a center so far out that the square is not completed: the linear term counts
    matrix = np.array([[2.0**-22, 0.0, 0.0, 1.0]])
    exact = 1 + 2.0**-22
    assert exact <= body.length_up(matrix, np.zeros(4)) <= exact * (1 + 1e-6)


def test_bounds_are_used_and_not_values() -> None:
    # the program's upper bound is twice what it finds: every reach is √2 of the plain one, at least
    points = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])

    def loose(matrix: Vector, center: Vector) -> Any:
        point, value, upper = listed(points)(matrix, center)
        return point, value, 2 * upper

    for tells in (True, False):
        plain = program(points, tells=tells)
        wide = program(points, tells=tells, maximise=loose)
        eye, zero, pivots, ones = np.eye(2), np.zeros(2), np.arange(2), np.ones(2)
        for kind in (OracleBody, OracleDifferences):
            if tells and kind is OracleDifferences:
                continue
            ratio = kind(wide, pivots, ones).length_up(eye, zero) / kind(
                plain, pivots, ones
            ).length_up(eye, zero)
            assert ratio >= math.sqrt(2) * (1 - 1e-9)


def test_an_answer_is_remembered_and_given_copies() -> None:
    points = np.array([[1.0, 0.0], [0.0, 1.0]])
    calls = []

    def spoiling(matrix: Vector, center: Vector) -> Any:
        answer = listed(points)(matrix, center)
        calls.append(0)
        matrix[:] = np.nan
        center[:] = np.nan
        return answer

    known = program(points, maximise=spoiling)
    matrix, center = np.eye(2), np.zeros(2)
    one = known.farthest(matrix, center)
    two = known.farthest(matrix, center)
    assert len(calls) == 1
    assert one.upper == two.upper
    assert np.array_equal(matrix, np.eye(2))
    assert np.array_equal(center, np.zeros(2))


def test_evidence_that_is_out_of_reach_is_not_known() -> None:
    points = np.array([[1.0, 0.0], [0.0, 1.0]])
    known = program(points, contains=lambda x: bool(x[0] > -0.2))
    body = OracleBody(known, np.arange(2), np.ones(2))
    assert body.knows(points)
    assert not body.knows(points + 5)
    assert not body.knows(np.array([[-0.0, 0.5], [-0.21, 0.5]]))
    assert not body.knows(points[:, :1])
    assert not OracleDifferences(known, np.arange(2), np.ones(2)).knows(points)


def test_spread_spans_the_flat_and_no_more() -> None:
    rng = np.random.default_rng(6)
    flat = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=5)
    found = program(flat, widen=2.0).spanning
    assert np.linalg.matrix_rank(found - found[0], tol=1e-9) == 2
    thin = flat + 1e-7 * rng.normal(size=(20, 5))
    found = program(thin).spanning
    assert np.linalg.matrix_rank(found - found[0], tol=1e-10) == 5
    with pytest.raises(DomainError, match="too large"):
        program(flat).farthest(np.full((1, 5), 1e308), flat[0])


@pytest.mark.parametrize(
    "domain",
    [
        ln.Ball(2),
        ln.Points([[0.0, 1.0], [2.0, 3.0]]),
        ln.intersection(ln.Box([0, 0], [4, 4]), ln.Slab([1.0, 1.0], -9.0, 4.0)),
        ln.product(ln.Ball(2), ln.Points([[0.0], [2.0]])),
        ln.hull(ln.Ball(2), ln.Points([[3.0, 3.0]])),
    ],
)
def test_a_code_that_is_no_number_is_of_no_point(domain):
    held = domain.bounding_set()
    for code in held.spanning:
        assert held.knows(code)
        assert not held.knows(np.full_like(code, np.nan))
        assert not held.knows(np.full_like(code, np.inf))
