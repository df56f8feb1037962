# SPDX-License-Identifier: Apache-2.0
"""The least ellipsoid around points: laws on all cases, published values, three other methods."""

import math
from functools import cache

import numpy as np
import pytest
from tests.references import ellipsoid_method, fixed_point

import lownoise as ln
from cases import CASES, ORDERS, POINT_CASES, PointCase, corners
from lownoise.certificate import order_norm
from lownoise.sets.domains import Difference
from solvers.semidefinite import least

RTOL = 1e-6
FLOAT = 1e-9
PROGRAMME = 2e-6  # what the interior-point solver promises, and then some


@cache
def solved(case: PointCase, order: float) -> ln.theory.Enclosure:
    return ln.theory.enclose(case.domain, order=order)


def vertices(domain):
    if isinstance(domain, Difference):
        x = domain.base.points
        return (x[:, None] - x).reshape(-1, domain.dimension)
    return domain.points


every_case = pytest.mark.parametrize("case", POINT_CASES, ids=lambda c: c.name)
every_order = pytest.mark.parametrize("order", ORDERS)


@pytest.mark.grid(least=3)
@every_case
@every_order
def test_bounds_meet_at_the_known_value(case, order):
    found = solved(case, order)
    proof = found.certificate
    assert found.status.startswith("solved")
    assert proof.lower <= proof.upper <= proof.lower * (1 + RTOL)
    if case.gamma is not None:
        known = case.gamma(order)
        assert proof.lower <= known * (1 + 1e-14)
        assert known <= proof.upper * (1 + 1e-14)


@pytest.mark.grid
@every_case
@every_order
def test_the_proof_can_be_checked_again(case, order):
    proof = solved(case, order).certificate
    assert proof.verify() == proof


@pytest.mark.grid(least=3)
@every_case
@every_order
def test_the_ellipsoid_covers_and_costs_what_is_stated(case, order):
    found = solved(case, order)
    cost = order_norm(np.sqrt(found.shape.diagonal()), order)
    assert cost == pytest.approx(found.certificate.upper, rel=1e-9)
    about = vertices(case.domain) - found.center
    reach = max(found.shape.quadratic_form(s) for s in about[:: max(len(about) // 300, 1)])
    assert reach <= 1 + 1e-6 or np.isinf(reach)
    if np.isinf(reach):  # flat: a few units of rounding away from its span
        assert found.shape.sources < found.shape.dimension


@pytest.mark.grid
@pytest.mark.parametrize(
    "case",
    [case for case in CASES[:6] if case.domain.dimension <= 5],
    ids=lambda c: c.name,
)
@every_order
def test_corners_of_a_box_cost_its_closed_form(case, order):
    """002 (27): Γ_p = ½‖b−a‖_{2p/(p+2)}."""
    proof = ln.theory.enclose(corners(case.domain), order=order).certificate
    assert proof.lower <= case.gamma(order) * (1 + 1e-14)
    assert case.gamma(order) <= proof.upper * (1 + 1e-14)
    assert proof.gap <= RTOL


@pytest.mark.parametrize("n", [2, 3, 8, 20])
def test_the_simplex_costs_the_published_values(n):
    """Γ₂ = (N−1)/√N, and half the difference body √((N−1)/2) (mathematics, section 4)."""
    simplex = ln.Points(np.eye(n))
    alone = ln.theory.enclose(simplex).certificate
    pairs = ln.theory.enclose(ln.difference_body(simplex)).certificate
    for proof, known in (
        (alone, (n - 1) / math.sqrt(n)),
        (pairs, 2 * math.sqrt((n - 1) / 2)),
    ):
        assert proof.lower <= known * (1 + 1e-14)
        assert known <= proof.upper * (1 + 1e-14)
        assert proof.gap <= RTOL


@pytest.mark.grid(3)
@pytest.mark.parametrize("asked", [False, True], ids=["all", "queries"])
@pytest.mark.parametrize("kind", ["symmetric", "shifted", "differences"])
@pytest.mark.parametrize("order", [2.0, 3.0, 8.0, math.inf])
def test_three_slow_methods_agree(order, kind, asked):
    rng = np.random.default_rng(11)
    points = rng.normal(size=(6, 3)) + 1
    queries = rng.normal(size=(7, 3)) if asked else None
    body = ln.Points(points)
    slow = points
    if kind == "symmetric":
        body = ln.Points(np.vstack([points, -points]))
    elif kind == "differences":
        body = ln.difference_body(body)
        slow = (points[:, None] - points)[np.triu_indices(6, 1)]
    proof = ln.theory.enclose(body, order=order, workload=queries).certificate
    ask = {"queries": queries, "order": order, "centered": kind != "shifted"}
    fixed = fixed_point(slow, **ask)
    cuts = ellipsoid_method(slow, rtol=1e-3, **ask)
    for bracket in (fixed, cuts):
        assert bracket.lower <= proof.upper * (1 + FLOAT)
        assert proof.lower <= bracket.upper * (1 + FLOAT)
    assert fixed.gap <= 1e-6
    third = least(slow, **ask)
    assert proof.lower * (1 - PROGRAMME) <= third <= proof.upper * (1 + PROGRAMME)


def test_a_workload_costs_what_its_image_costs():
    rng = np.random.default_rng(5)
    points, queries = rng.normal(size=(30, 4)), rng.normal(size=(25, 4))
    for order in (2.0, 5.0, math.inf):
        asked = ln.theory.enclose(ln.Points(points), workload=queries, order=order)
        formed = ln.theory.enclose(ln.Points(points @ queries.T), order=order)
        assert asked.certificate.lower <= formed.certificate.upper * (1 + FLOAT)
        assert formed.certificate.lower <= asked.certificate.upper * (1 + FLOAT)
        deviations = np.sqrt(np.diag(queries @ asked.shape.dense() @ queries.T))
        assert order_norm(deviations, order) == pytest.approx(asked.certificate.upper, rel=1e-9)


def test_a_workload_on_a_box_is_one_on_its_corners():
    box, queries = ln.Box([0, 1, 2], [1, 1, 5]), np.array([[1.0, 5.0, 1.0], [1.0, 0.0, -1.0]])
    asked = ln.theory.enclose(box, workload=queries, order=3).certificate
    formed = ln.theory.enclose(ln.Points(corners(box).points @ queries.T), order=3).certificate
    assert asked.lower <= formed.upper
    assert formed.lower <= asked.upper


def test_weights_are_a_diagonal_workload():
    points, weights = np.random.default_rng(8).normal(size=(12, 3)), np.array([1.0, 10.0, 0.1])
    for order in (2.0, 4.0, math.inf):
        weighed = ln.theory.enclose(ln.Points(points), order=order, weights=weights).certificate
        scaled = ln.theory.enclose(ln.Points(points * weights), order=order).certificate
        assert weighed.lower <= scaled.upper
        assert scaled.lower <= weighed.upper


@pytest.mark.parametrize("order", [3.0, math.inf])
def test_half_of_the_differences_of_a_symmetric_body_cost_as_much_as_itself(order):
    points = np.random.default_rng(1).normal(size=(7, 3))
    body = ln.Points(np.vstack([points, -points]))
    once = ln.theory.enclose(body, order=order).certificate
    pairs = ln.theory.enclose(ln.difference_body(body), order=order).certificate
    assert 2 * once.lower <= pairs.upper * (1 + FLOAT)
    assert pairs.lower <= 2 * once.upper * (1 + FLOAT)
