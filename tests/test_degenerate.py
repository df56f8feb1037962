# SPDX-License-Identifier: Apache-2.0
"""Flat, thin, repeated and ill-scaled domains are solved as they are; nonsense is refused."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.certificate import order_norm
from lownoise.errors import DomainError, PlanError

ORDERS = (2.0, 2.001, 3.0, 100.0, math.inf)
every_order = pytest.mark.parametrize("order", ORDERS)


def brackets(proof, known, *, rtol=1e-6):
    assert proof.lower <= known * (1 + 1e-12)
    assert known <= proof.upper * (1 + 1e-12)
    assert proof.gap <= rtol
    assert proof.verify() == proof


@pytest.mark.grid
@every_order
@pytest.mark.parametrize("copies", [1, 2, 1000])
@pytest.mark.parametrize("workload", [None, [[1.0, -1.0]], np.zeros((2, 2))])
def test_one_point_needs_no_noise(copies, order, workload):
    point = ln.Points(np.tile([[3.0, -1e9]], (copies, 1)))
    for domain in (point, ln.difference_body(point)):
        found = ln.theory.enclose(domain, order=order, workload=workload)
        proof = found.certificate
        assert (proof.lower, proof.upper, proof.gap) == (0.0, 0.0, 0.0)
        assert proof.verify() == proof
        assert found.status == "solved: no width"
        assert found.shape.sources == 0
    assert np.array_equal(ln.theory.enclose(point).center, [3.0, -1e9])


def test_a_million_copies_of_one_point_need_no_noise():
    domain = ln.Points(np.full((1_000_000, 2), 7.0))
    assert ln.theory.enclose(domain).certificate.upper == 0.0
    assert ln.theory.enclose(ln.difference_body(domain)).certificate.upper == 0.0


@every_order
def test_copies_of_few_points_are_looked_at_once(order):
    """Each step of column generation would else add copies of one pair."""
    domain = ln.Points(np.eye(12)[np.random.default_rng(0).integers(0, 12, 600)])
    found = ln.theory.enclose(ln.difference_body(domain), order=order)
    brackets(found.certificate, math.sqrt(2 * 11 / 12) * 12 ** (1 / order))
    assert found.iterations < 60


@every_order
@pytest.mark.parametrize("far", [0.0, 1e3, 2.0**40])
def test_two_points_cost_half_of_their_distance(order, far):
    ends = np.array([[0.0, 1.0, 2.0], [6.0, 1.0, -6.0]]) + far
    brackets(
        ln.theory.enclose(ln.Points(ends), order=order).certificate,
        order_norm(np.array([3.0, 4.0]), order),
    )


@every_order
@pytest.mark.parametrize("far", [0.0, 1e3, 2.0**20])
def test_a_flat_body_gets_noise_in_its_span_alone(order, far):
    """One-hot rows, each twice a coordinate, moved far away: the sum of all is fixed."""
    points = np.repeat(np.eye(4), 2, axis=1) + far
    found = ln.theory.enclose(ln.Points(points), order=order)
    brackets(found.certificate, 0.75 * 8 ** (1 / order))
    assert found.shape.sources == 3
    across = np.array([np.r_[1, -1, np.zeros(6)], np.tile([1.0, 0.0], 4)])
    assert np.abs(across @ found.shape.dense()) == pytest.approx(0, abs=1e-9)


@pytest.mark.grid(3)
@every_order
def test_columns_of_all_scales_lose_nothing(order):
    """From 1e-12 to 1e12 in one domain: dense points, another unit a column."""
    points = np.random.default_rng(9).normal(size=(40, 6))
    weights = 10.0 ** np.linspace(-12, 12, 6)
    weighed = ln.theory.enclose(ln.Points(points), order=order, weights=weights)
    scaled = ln.theory.enclose(ln.Points(points * weights), order=order)
    for found in (weighed, scaled):
        assert found.status == "solved"
        assert found.certificate.gap <= 1e-6
    assert weighed.certificate.lower <= scaled.certificate.upper
    assert scaled.certificate.lower <= weighed.certificate.upper


@pytest.mark.grid
@pytest.mark.parametrize("rank", [1, 2, 5, 9])
@every_order
def test_queries_of_columns_of_all_scales_lose_nothing(order, rank):
    """A coordinate 1e-24 times as wide as another is asked about as much."""
    rng = np.random.default_rng(rank)
    units = 10.0 ** np.linspace(-12, 12, 5)
    points, queries = rng.normal(size=(30, 5)) + 1, rng.normal(size=(rank, 5))
    plain = ln.theory.enclose(ln.Points(points), workload=queries, order=order)
    scaled = ln.theory.enclose(ln.Points(points * units), workload=queries / units, order=order)
    mixed = ln.theory.enclose(ln.Points(points * units), workload=queries, order=order)
    for found in (plain, scaled, mixed):
        assert found.status == "solved"
        assert found.certificate.gap <= 1e-6
    assert plain.certificate.lower <= scaled.certificate.upper * (1 + 1e-9)
    assert scaled.certificate.lower <= plain.certificate.upper * (1 + 1e-9)


@every_order
@pytest.mark.parametrize("height", [1e-14, 1e-11, 1e-8, 1e-3])
def test_a_thin_body_is_covered_whether_or_not_floats_can_tell(order, height):
    points = np.array([[0.0, 0.0], [1.0, 1.0 + height], [2.0, 2.0], [1.0, 1.0 - height]])
    found = ln.theory.enclose(ln.Points(points), order=order)
    proof = found.certificate
    assert order_norm(np.ones(2), order) <= proof.upper * (1 + 1e-15)
    assert proof.gap <= 1e-6
    assert proof.verify() == proof


@every_order
def test_no_coordinate_gets_needless_noise_at_the_maximum(order):
    """±e₁, ±.1e₂, ±.01e₃: at p = ∞ the short sides are free, and still get no more than they need.

    The bounds alone do not say so: any noise of up to 1 on them costs nothing.
    """
    sides = np.array([1.0, 0.1, 0.01])
    found = ln.theory.factorize(np.diag(sides), order=order)
    brackets(found.certificate, order_norm(sides, order))
    assert np.linalg.norm(found.left, axis=1) == pytest.approx(sides, rel=0.02)


@every_order
def test_an_idle_query_changes_nothing(order):
    points = np.random.default_rng(1).normal(size=(9, 3))
    queries = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    idle = ln.theory.enclose(ln.Points(points), workload=queries, order=order)
    plain = ln.theory.enclose(ln.Points(points[:, :2]), workload=queries[[0, 2], :2], order=order)
    assert idle.certificate.lower <= plain.certificate.upper * (1 + 1e-9)
    assert plain.certificate.lower <= idle.certificate.upper * (1 + 1e-9)
    assert not np.any(idle.shape.dense()[2])  # nobody asks


@pytest.mark.parametrize("size", [2.0**250, 2.0**-250, 1e60, 1e-60])
@every_order
def test_the_greatest_and_the_least_numbers_are_solved(order, size):
    found = ln.theory.enclose(ln.Points(size * np.eye(3)), order=order)
    brackets(found.certificate, size * (2 / 3) * 3 ** (1 / order))


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([[1.0, math.nan]], r"Points.points\[0, 1\]=nan is not finite; give"),
        ([[1.0], [-math.inf]], r"Points.points\[1, 0\]=-inf is not finite; give"),
        ([], r"Points.points has shape \(0,\); give"),
        ([[]], r"Points.points has shape \(1, 0\); give"),
        (np.zeros((0, 3)), r"Points.points has shape \(0, 3\); give"),
        ([1.0, 2.0], r"Points.points has shape \(2,\); give"),
        ([[[1.0]]], r"Points.points has shape \(1, 1, 1\); give"),
        ([[1.0], [1.0, 2.0]], "Points.points is not a table of numbers; give"),
        ([["a"]], "Points.points is not a table of numbers; give"),
        ("ab", "Points.points is not a table of numbers; give"),
        (None, "Points.points is not a table of numbers; give"),
        ([[10**400]], "Points.points is not a table of numbers; give"),
        ([[0.0, 1.0], [0.0, -(2.0**251)]], r"Points.points has -3.*e\+75 in column 1.*; use"),
        ([[0.0], [2.0**-251]], "Points.points spans .* in column 0, below .*; use"),
    ],
)
def test_what_is_no_set_of_points_is_refused_in_one_line(points, said):
    with pytest.raises(DomainError, match=f"^{said}") as refusal:
        ln.Points(points)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"order": 1.5}, "order=1.5 is out of range; give"),
        ({"order": math.nan}, "order=nan is not a number; give"),
        ({"order": "two"}, "order='two' is not a number; give"),
        ({"order": -math.inf}, "order=-inf is out of range; give"),
        ({"order": 1e7}, r"order=1e\+07 is out of range; give"),
        ({"rtol": 0}, "rtol=0 is out of range; give"),
        ({"rtol": 2}, "rtol=2 is out of range; give"),
        ({"weights": [1.0]}, "weights has 1 numbers for 2 answers; give"),
        ({"weights": [1.0, -1.0]}, r"weights\[1\]=-1 is out of range; give"),
        ({"weights": [1.0, 1e90]}, r"weights\[1\]=1e\+90 is beyond 2\^250; use"),
        ({"workload": [[1.0]]}, r"workload has shape \(1, 1\) for 2 coordinates; give"),
        ({"workload": [1.0, 2.0]}, r"workload has shape \(2,\); give"),
        ({"workload": [[math.nan, 1.0]]}, r"workload\[0, 0\]=nan is not finite; give"),
        ({"workload": np.zeros((0, 2))}, r"workload has shape \(0, 2\).*; give"),
        ({"workload": [[1e300, 0.0]]}, r"weights × workload\[0\]=1e\+300 is beyond 2\^250; use"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(arguments, said):
    with pytest.raises(PlanError, match=f"^{said}") as refusal:
        ln.theory.enclose(ln.Points(np.eye(2)), **arguments)
    assert "\n" not in str(refusal.value)


def test_what_is_no_domain_is_refused_in_one_line():
    with pytest.raises(DomainError, match=r"^domain=list cannot be enclosed; give"):
        ln.theory.enclose([[1.0]])
    with pytest.raises(PlanError, match=r"^workload on a box of 13 ranges .*; leave"):
        ln.theory.enclose(ln.Box(np.zeros(13), np.ones(13)), workload=np.ones((1, 13)))


@every_order
@pytest.mark.parametrize("n", [2, 3, 7])
def test_what_is_the_same_for_all_points_needs_no_noise(order, n):
    """The sum of a one-hot row is 1, and floats that say 1 ± 1e-16 do not make noise of it."""
    found = ln.theory.enclose(ln.Points(np.eye(n)), workload=np.ones((2, n)), order=order)
    assert found.status.startswith("solved: no width")
    assert found.certificate.upper < 1e-13
    assert not np.any(found.shape.dense())


ONE_POINT = [ln.Points([[3.0]]), ln.Points([[0.0, 2.0]] * 2), ln.Box([1.0], [1.0])]
BUDGETS = [ln.pure_dp(1.0), ln.approx_dp(1.0, 1e-6), ln.zcdp(0.5)]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("domain", ONE_POINT, ids=str)
def test_answers_that_are_known_beforehand_cost_nothing_or_are_refused(domain, budget):
    plan = ln.plan(
        ln.Mean(list("xy")[: domain.dimension], domain),
        budget=budget,
        relation="substitute",
        size=9,
    )
    assert not np.any(plan.standard_deviation)
    assert "The answers have no error" in str(plan)  # which no division by nothing stops
    with pytest.raises(DomainError, match="domain has one point, so that every answer is known"):
        ln.stream(ln.Prefix(4), budget=budget, domain=domain, relation="substitute")


@pytest.mark.parametrize("strategy", ["input", "honaker", "square_root"])
def test_no_rounding_is_stated_of_a_number_that_never_changes(strategy):
    """It has no noise, so no sum of it is rounded, though its grid is of whole numbers."""
    stream = ln.stream(
        ln.Prefix(7),
        budget=ln.pure_dp(1.0),
        domain=ln.Box([1.0, 0.0], [1.0, 1.0]),
        relation="substitute",
        strategy=strategy,
    )
    stated = np.stack([stream.standard_deviations(), stream.half_widths()])
    assert not stated[:, :, 0].any()
    assert stated[:, :, 1].all()
    answers = stream.update_many([[1.0, 0.5]] * 7)
    assert np.array_equal(answers[:, 0], np.arange(1.0, 8.0))
