# SPDX-License-Identifier: Apache-2.0
"""Audits of covariances: private or not, possible or not, and where they waste, by brute force.

Broken once, each seen red: n left out of the scale, D taken as 2ρ, the least of r taken for its
greatest, the whitening's null space kept, an even tensor's opposite taken for a tensor.
"""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import lownoise as ln
from lownoise import report
from lownoise.bounds import divergence_up
from lownoise.errors import LownoiseError

RECORDS = 50
DOMAINS = {
    "points": ln.Points([[0, 0], [3, 0], [1, 2.0]]),
    "box": ln.Box([0, 1], [4, 2]),
    "ball": ln.Ball(2, radius=2),
    "simplex": ln.Points(np.eye(4)),
    "image": ln.image([[1, 1], [0, 1.0], [2, 1]], ln.Ball(2)),
    "product": ln.product(ln.Box([0], [1]), ln.Ball(2)),
    "tensors": ln.TensorPower(3, 2),
    "flat": ln.Points([[0, 0, 0], [1, 1, 1.0]]),
}


@cache
def least(domain, relation):
    """Return the shape of the least noise at μ = 1, and n as a factor of its deviations."""
    body = ln.difference_body(domain)
    if relation == "add_remove":
        body = ln.hull(domain, ln.image(-np.eye(domain.dimension), domain))
    return ln.theory.enclose(body).shape.dense(), RECORDS if relation == "substitute" else 1


def asked(covariance, domain, budget, relation="substitute", **options):
    size = RECORDS if relation == "substitute" else None
    return ln.theory.audit(covariance, domain, budget, size=size, relation=relation, **options)


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("name", DOMAINS)
def test_the_least_noise_is_private_and_wastes_nothing(name, relation):
    shape, n = least(DOMAINS[name], relation)
    found = asked(shape / n**2, DOMAINS[name], ln.zcdp(0.501), relation)
    assert found.private
    assert found.possible
    assert found.mu == pytest.approx((1, 1), rel=1e-3)
    assert found.excess == pytest.approx((1, 1), rel=1e-3)
    assert found.excess[0] <= 1 + 1e-6
    assert found.least[0] <= found.deviation * (1 + 1e-6)
    assert found.bound.value < found.deviation


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("name", DOMAINS)
def test_too_little_noise_is_refuted_and_more_than_needed_is_seen(name, relation):
    """What is refuted at a budget is not private either, and the direction shows it."""
    domain, (shape, n) = DOMAINS[name], least(DOMAINS[name], relation)
    less = asked(shape / n**2 / 9, domain, ln.zcdp(0.5), relation)
    assert not less.private
    assert not less.possible
    theta = less.tightest.vector
    worst = max(domain.width(theta), 0) if n > 1 else max(map(domain.support, (theta, -theta)))
    far = divergence_up(0.5) if n > 1 else math.expm1(1.0)
    variance = float(theta @ shape @ theta) / n**2 / 9
    assert (worst / n) ** 2 > far * variance
    more = asked(9 * shape / n**2, domain, ln.zcdp(0.5), relation)
    assert more.private
    assert more.rho == pytest.approx(0.5 / 9, rel=1e-2)
    assert more.excess == pytest.approx((1, 1), rel=1e-3)


@pytest.mark.grid(3)
@pytest.mark.parametrize("seed", range(6))
def test_lists_of_points_by_all_pairs(seed):
    rng = np.random.default_rng(seed)
    points, factor = rng.normal(size=(9, 3)), rng.normal(size=(3, 3))
    covariance = factor @ factor.T / 100
    found = asked(covariance, ln.Points(points), ln.zcdp(1.0))
    inverse = np.linalg.inv(covariance)
    pairs = [points[i] - points[j] for i, j in itertools.combinations(range(9), 2)]
    longest = max(math.sqrt(s @ inverse @ s) for s in pairs) / RECORDS
    assert found.mu[0] <= longest * (1 + 1e-9)
    assert longest * (1 - 1e-12) <= found.mu[1] <= longest * (1 + 1e-6)
    assert found.private == (longest**2 / 2 <= 1.0)
    assert found.mu[0] >= longest * (1 - 1e-6)  # all starts of so few points find it


def test_the_most_wasteful_direction_of_a_plane():
    """Against 100,000 angles, at a covariance that suits the domain in no direction."""
    points = np.random.default_rng(5).normal(size=(12, 2))
    covariance = np.array([[3.0, 1.0], [1.0, 0.5]]) / RECORDS**2
    found = asked(covariance, ln.Points(points), ln.zcdp(0.5))
    angles = np.linspace(0, math.pi, 100_000)
    thetas = np.column_stack([np.cos(angles), np.sin(angles)])
    deviation = np.sqrt(np.einsum("ki,ij,kj->k", thetas, covariance, thetas))
    widths = np.ptp(points @ thetas.T, axis=0) / RECORDS
    waste = found.mu[0] * deviation / widths
    assert found.wasteful.factor == pytest.approx(np.max(waste), rel=1e-2)
    assert found.wasteful.factor <= np.max(waste) * (1 + 1e-6)
    assert np.min(waste) == pytest.approx(1, rel=1e-6)  # the tightest


def test_a_refutation_in_exact_fractions():
    """Each float is a fraction: two listed points and a direction refute the claim alone."""
    points = [[0, 0, 1], [2, 1, 0], [1, 5, 5], [3, 3, 0]]
    covariance = np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 2]]) / 2048
    found = asked(covariance, ln.Points(np.array(points, dtype=float)), ln.zcdp(1e-3))
    assert not found.possible
    theta = [Fraction(v) for v in found.tightest.vector.tolist()]
    along = [sum(t * x for t, x in zip(theta, point, strict=True)) for point in points]
    variance = sum(
        theta[i] * Fraction(covariance[i, j]) * theta[j] for i in range(3) for j in range(3)
    )
    far = Fraction(divergence_up(1e-3))
    assert (max(along) - min(along)) ** 2 > far * variance * RECORDS**2


def test_between_private_and_impossible():
    """r² between 2ρ and D: no Gaussian noise of it is private, and nothing refutes others."""
    r2 = (2 * 0.5 + divergence_up(0.5)) / 2
    found = asked(np.eye(1) / r2 / RECORDS**2, ln.Box([0], [1]), ln.zcdp(0.5))
    assert not found.private
    assert found.possible
    assert found.rho == pytest.approx(r2 / 2)


@pytest.mark.parametrize(
    ("budget", "private"),
    [
        (ln.zcdp(0.51), True),
        (ln.zcdp(0.49), False),
        (ln.gaussian_dp(1.01), True),
        (ln.gaussian_dp(0.99), False),
        (ln.approx_dp(4.9, 1e-6), True),
        (ln.approx_dp(4.8, 1e-6), False),
    ],
)
def test_every_budget_that_gaussian_noise_keeps(budget, private):
    found = asked(np.eye(1) / RECORDS**2, ln.Box([0], [1]), budget)
    assert found.private == private
    assert found.possible


def test_noise_only_in_the_span():
    simplex = ln.Points(np.eye(3))
    flat = (np.eye(3) - 1 / 3) / RECORDS**2
    found = asked(flat, simplex, ln.zcdp(1.01))
    assert found.private
    assert found.rho == pytest.approx(1.0)
    assert math.isfinite(found.wasteful.factor)
    whole = asked(np.eye(3) / RECORDS**2, simplex, ln.zcdp(1.01))
    assert whole.wasteful.factor == math.inf
    assert np.allclose(whole.wasteful.vector, whole.wasteful.vector[0], rtol=1e-6)
    for uncovered in (np.diag([1.0, 1, 0]), np.ones((3, 3)), np.zeros((3, 3))):
        none = asked(uncovered, simplex, ln.zcdp(5.0))
        assert not none.private
        assert not none.possible
        assert none.mu[1] == none.rho == math.inf
        assert math.isnan(none.excess[0])


def test_a_single_point_needs_none():
    found = asked(np.zeros((2, 2)), ln.Points([[1.0, 2.0]]), ln.zcdp(0.1))
    assert found.private
    assert found.possible
    assert (found.rho, found.excess) == (0, (1, 1))
    assert asked(np.eye(2), ln.Points([[1.0, 2.0]]), ln.zcdp(0.1)).excess == (math.inf, math.inf)


@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
def test_workload_weights_and_order_are_those_of_the_answers(order):
    """Seen through L and ω as the mapped domain is in other units."""
    domain, rows = ln.Points([[0, 0], [3, 0], [1, 2.0]]), np.array([[1.0, 1], [0, 2], [1, -1]])
    omega = np.array([1.0, 0.5, 2.0])
    covariance = np.array([[2.0, 0.3, 0], [0.3, 1, 0.1], [0, 0.1, 3]]) / 1000
    found = asked(covariance, domain, ln.zcdp(0.5), order=order, workload=rows, weights=omega)
    other = asked(
        covariance, ln.Points(domain.points @ rows.T), ln.zcdp(0.5), order=order, weights=omega
    )
    assert found.mu == pytest.approx(other.mu)
    assert found.deviation == other.deviation
    assert found.least == pytest.approx(other.least, rel=1e-5)


def test_units_do_not_matter():
    domain = ln.Box([0, 0], [1e6, 1e-6])
    found = asked(np.diag([1e12, 1e-12]) / RECORDS**2, domain, ln.zcdp(1.01))
    assert found.private
    assert found.rho == pytest.approx(1.0)


def test_extreme_tensors_are_tensors_and_extreme():
    """The opposite of an even tensor is none: what is extreme is found among the tensors."""
    rng = np.random.default_rng(0)
    for size, power in ((3, 2), (4, 2), (3, 3), (20, 2)):
        domain = ln.TensorPower(size, power)
        directions = rng.normal(size=(5, domain.dimension))
        points = domain.extreme(directions)
        assert all(domain.contains(point) for point in points)
        reached = np.einsum("kd,kd->k", points, directions)
        supports = np.array([domain.support(each) for each in directions])
        assert np.all(reached <= supports + 1e-12 * np.abs(supports))
        if size <= 16:
            assert reached == pytest.approx(supports)


BAD = {
    "shape": (np.eye(3), {}, "covariance has shape"),
    "asymmetric": ([[1.0, 0.5], [0.1, 1.0]], {}, "give a symmetric matrix"),
    "indefinite": ([[1.0, 2.0], [2.0, 1.0]], {}, "not positive semidefinite"),
    "negative": ([[1.0, 0], [0, -1.0]], {}, "a variance below 0"),
    "off nothing": ([[1.0, 1.0], [1.0, 0.0]], {}, "not positive semidefinite"),
    "nan": ([[1.0, math.nan], [math.nan, 1.0]], {}, "is not finite"),
    "text": ("eye", {}, "is not a table of numbers"),
    "size": (np.eye(2), {"size": 0}, "size=0"),
    "no size": (np.eye(2), {"size": None}, "size=None"),
    "private size": (np.eye(2), {"relation": "add_remove"}, "size=50 is private"),
    "order": (np.eye(2), {"order": 1}, "order=1"),
    "relation": (np.eye(2), {"relation": "swap"}, "relation"),
    "weights": (np.eye(2), {"weights": [1.0]}, "weights has 1"),
    "workload": (np.eye(2), {"workload": np.eye(3)}, "workload has shape"),
    "pure": (np.eye(2), {"budget": ln.pure_dp(1.0)}, "no Gaussian noise keeps"),
    "budget": (np.eye(2), {"budget": 1.0}, "budget"),
    "domain": (np.eye(2), {"domain": "box"}, "is no domain"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name):
    covariance, options, said = BAD[name]
    given = {"domain": ln.Box([0, 0], [1, 1]), "budget": ln.zcdp(1.0), "size": 50, **options}
    with pytest.raises(ln.errors.LownoiseError, match=said) as caught:
        ln.theory.audit(covariance, **given)
    assert "\n" not in str(caught.value)


def test_a_report_says_all_of_it():
    found = asked(np.eye(2) / 1e4, ln.Box([0, 0], [1, 1]), ln.zcdp(0.5))
    text = report.render_text(report.sections(found, names=["height", "weight"]))
    for said in ("needs", "possible", "over the least", "any unbiased", "waste", "height"):
        assert said in text
    none = report.render_text(
        report.sections(asked(np.zeros((1, 1)), ln.Box([0], [1]), ln.zcdp(1)))
    )
    assert "NOT private" in none
    assert "No unbiased mechanism" in none


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_no_budget_is_too_great_to_audit(relation):
    """e^{2ρ} is beyond the floats; no covariance but one without noise is impossible then."""
    for covariance, possible in ((np.eye(2) / 1e6, True), (np.zeros((2, 2)), False)):
        found = asked(covariance, DOMAINS["box"], ln.zcdp(1e6), relation)
        assert found.possible is possible


@pytest.mark.parametrize(
    ("covariance", "size"),
    [
        (np.eye(2) * 1e308, 1000),
        (np.eye(2) * 5e-324, 3),
        (np.diag([1e-320, 1.0]), 3),
        (np.diag([1e300, 1e-300]), 3),
        (np.eye(2), 10**200),
        (np.eye(2), 10**400),
    ],
    ids=["great", "least", "subnormal", "unlike", "many", "too many"],
)
def test_what_floats_cannot_audit_is_refused_and_not_judged(covariance, size):
    """It was once called impossible, of a number that is none."""
    with pytest.raises(LownoiseError) as caught:
        ln.theory.audit(covariance, DOMAINS["box"], ln.zcdp(1.0), size=size)
    assert "\n" not in str(caught.value)
    assert ";" in str(caught.value)
