# SPDX-License-Identifier: Apache-2.0
"""Products, hulls, sums and images of unlike domains, held to lists and to published rules."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.certificate import JointDual
from lownoise.errors import DomainError, FileError, PlanError
from lownoise.sensitivity.relations import sensitivity_set
from lownoise.sets.domains.compound import Hull, Mapped, Product, checked_product
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict
from lownoise.solvers import solve
from oracles import ellipsoid

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

ORDERS = (2.0, 3.0, math.inf)
FEW = np.random.default_rng(5).normal(loc=[1.0, -2.0], size=(7, 2))
OTHER = np.random.default_rng(6).normal(size=(6, 3))
TURN = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, -1.0]])


def disc(**more: Any) -> ln.Oracle:
    """The disc of radius 2 about (1, 0), as a program knows it."""
    middle, factor = np.array([1.0, 0.0]), 2 * np.eye(2)
    ball = ln.Ball(2, 2.0, center=middle)
    return ln.Oracle(
        2,
        ellipsoid(factor, middle),
        center=middle,
        half_widths=[2.0, 2.0],
        clamp=ball.clamp,
        **more,
    )


def bounds(domain: Any, order: float) -> tuple[float, float]:
    proof = ln.theory.enclose(domain, order=order).certificate.verify()
    return proof.lower, proof.upper


def names(d: int) -> list[str]:
    return [f"x{i}" for i in range(d)]


def planned(domain: Any, relation: Any, order: float = 2.0, **more: Any) -> ln.Plan:
    question = ln.Mean(names(domain.dimension), domain, **more)
    size = None if relation == "add_remove" else 50
    share = 0.05 if size is None else None  # by default it follows from bounds, as a set is written
    budget = ln.zcdp(0.5)
    return ln.plan(
        question, budget=budget, relation=relation, size=size, order=order, count_share=share
    )


@pytest.mark.grid(1)
@pytest.mark.parametrize("order", ORDERS)
def test_the_product_rule(order: float) -> None:
    """002, Lemma 60, with the parts' own least noise from other solvers."""
    t = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    parts = (ln.Points(np.eye(10)), ln.Ball(30, order=3), ln.Points(FEW))
    whole = ln.product(*parts)
    assert isinstance(whole, Product)
    for made in (lambda d: d, ln.difference_body):
        own = np.array([bounds(made(part), order) for part in parts])
        low, high = np.sum(own**t, axis=0) ** (1 / t)
        found = bounds(made(whole), order)
        assert found[1] <= found[0] * (1 + 2e-6)
        assert low <= found[1]
        assert found[0] <= high


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_a_product_of_lists_is_the_list_of_all_pairs(order: float, relation: str) -> None:
    parts = (ln.Points(FEW), ln.Points(OTHER))
    joint, listed = (
        planned(d, relation, order) for d in (checked_product(parts), ln.product(*parts))
    )
    assert isinstance(joint.terms.evidence, JointDual)
    one, other = joint.certificate, listed.certificate
    assert one.lower <= other.upper * (1 + 1e-9)
    assert other.lower <= one.upper * (1 + 1e-9)
    # under add_remove two lists off their centers are best tied to each other, which this is not
    assert one.upper <= other.upper * (1 + (3e-6 if relation == "substitute" else 5e-3))
    assert one.gap <= (2e-6 if relation == "substitute" else 0.03)
    assert joint.verify()


@pytest.mark.sweep("test_the_product_rule")
def test_centers_that_are_no_middle_are_traded() -> None:
    """With one list off its center evidence for independent parts is exact."""
    whole = ln.product(ln.Points(FEW), ln.Ball(3, center=[5, 0, 0]), ln.Box([0], [2]))
    for order in (2.0, math.inf):
        assert planned(whole, "add_remove", order).certificate.gap <= 3e-6
    # a public point far from the middle of both
    moved = planned(whole, "add_remove", center=[2.0, -1.0, 5.3, 0.2, 0.1, 1.2])
    assert moved.certificate.gap <= 0.05
    assert moved.verify()


def test_answers_that_mix_parts_are_covered() -> None:
    few = FEW[:4]
    whole = ln.product(ln.Points(few), ln.Ball(2, 2.0))
    asked = np.array([[1.0, 0, 1, 0], [0, 1, 0, -1], [1, 1, 1, 1]])
    found = ln.theory.enclose(whole, workload=asked).certificate.verify()
    ring = np.stack([np.cos(np.arange(256) * np.pi / 128), np.sin(np.arange(256) * np.pi / 128)], 1)
    listed = ln.Points(np.array([[*x, *y] for x in few for y in 2 * ring]))
    other = ln.theory.enclose(listed, workload=asked).certificate
    assert found.lower <= other.upper * (1 + 1e-3)
    assert other.lower <= found.upper
    assert found.gap <= 1e-5


def test_evidence_of_another_product_is_refused() -> None:
    whole = ln.product(ln.Points(FEW), ln.Ball(3))
    body = sensitivity_set(whole, "substitute", whole.center)
    claim = solve(body, order=2.0, weights=np.ones(5)).claim
    dual = claim.dual
    assert isinstance(dual, JointDual)
    for wrong in (
        replace(dual, parts=dual.parts[::-1]),
        replace(dual, parts=dual.parts[:1]),
        replace(dual, query_weights=np.ones(4)),
        replace(dual, query_weights=-dual.query_weights),
    ):
        with pytest.raises(PlanError):
            replace(claim, dual=wrong).certificate()
    # twice the weight of a part's points says no more
    first = replace(dual.parts[0], vertex_weights=2 * dual.parts[0].vertex_weights)
    more = replace(claim, dual=replace(dual, parts=(first, dual.parts[1])))
    assert more.certificate().lower == pytest.approx(claim.certificate().lower, rel=1e-9)


def sampled(rng: np.random.Generator, domain: Any, count: int) -> Vector:
    return domain.extreme(rng.normal(size=(count, domain.dimension)))


SETS: dict[str, Any] = {
    "product": lambda: checked_product([ln.Points(FEW[:3]), ln.Ball(2, 2.0), ln.Box([0], [3])]),
    "of an oracle": lambda: ln.product(disc(), ln.Points(OTHER)),
    "of a section": lambda: ln.product(
        ln.intersection(ln.Ball(2), ln.Slab([1, 1], -0.2, 2)), ln.Points(FEW)
    ),
    "hull": lambda: ln.hull(ln.Ball(2), ln.Ball(2, 0.5, center=[2, 0]), ln.Points(FEW)),
    "hull with an oracle": lambda: ln.hull(disc(), ln.Box([-3, -1], [0, 1])),
    "sum": lambda: ln.minkowski_sum(ln.Points(FEW), ln.Ellipsoid([2.0, 0.3])),
    "image": lambda: ln.image(TURN, disc(), [1, 2, 3]),
    "flat image": lambda: ln.image(
        np.hstack([TURN.T, np.eye(2)[:, :1]]), ln.product(ln.Points(FEW), ln.Ball(2)), [1, 2]
    ),
    "projection": lambda: ln.projection(ln.product(ln.Points(OTHER), ln.Ball(3)), [0, 4]),
    "image of a sum": lambda: ln.image(TURN, ln.minkowski_sum(ln.Points(FEW), ln.Ball(2)), None),
    "nested": lambda: ln.product(ln.hull(ln.Ball(2), ln.Points(FEW)), ln.Ball(2)),
    "signs": lambda: ln.product(ln.TensorPower(3, 2), ln.Ball(2)),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", SETS)
def test_bounds_hold_for_points_drawn_at_random(name: str) -> None:
    rng = np.random.default_rng(11)
    domain = SETS[name]()
    known, d = domain.bounding_set(), domain.dimension
    points = sampled(rng, domain, 60)
    points = np.vstack([points, (points[:30] + points[30:]) / 2])
    for _ in range(2):
        matrix, center = rng.normal(size=(d, d)), known.center + rng.normal(size=d)
        told = known.farthest(matrix, center)
        lengths = np.linalg.norm((points - center) @ matrix.T, axis=1)
        assert np.max(lengths) ** 2 <= told.upper * (1 + 1e-9)
        assert known.knows(told.point)
        reached = np.linalg.norm(matrix @ (known.place(told.point) - center)) ** 2
        assert np.max(lengths) ** 2 * 0.7 <= reached <= told.upper * (1 + 1e-9)
        theta = rng.normal(size=d)
        assert np.max(points @ theta) <= domain.support(theta) + 1e-9
        assert np.all(np.abs(points - known.center) <= known.extent * (1 + 1e-9))
        if known.bounds_differences:
            pair = known.farthest_pair(matrix)
            apart = (points[:, None] - points).reshape(-1, d) @ matrix.T
            assert np.max(np.linalg.norm(apart, axis=1)) ** 2 <= pair.upper * (1 + 1e-9)
            x, y = known.place(pair.point)
            assert np.linalg.norm(matrix @ (x - y)) ** 2 <= pair.upper * (1 + 1e-9)


def test_bounds_are_the_maximum_of_lists_and_balls() -> None:
    """All choices of points, and of a ball about each the trust region problem."""
    rng = np.random.default_rng(12)
    whole = checked_product([ln.Points(FEW), ln.Points(OTHER)]).bounding_set()
    hull = ln.hull(ln.Ball(2), ln.Ball(2, 0.5, center=[2, 0])).bounding_set()
    rounded = ln.minkowski_sum(ln.Points(FEW), ln.Ellipsoid([2.0, 0.3])).bounding_set()
    every = np.array([[*x, *y] for x in FEW for y in OTHER])
    for _ in range(5):
        matrix, center = rng.normal(size=(5, 5)), rng.normal(size=5)
        best = np.max(np.sum(np.square((every - center) @ matrix.T), axis=1))
        assert whole.farthest(matrix, center).upper == pytest.approx(best, rel=1e-9)
        apart = (every[:, None] - every).reshape(-1, 5) @ matrix.T
        best = np.max(np.sum(np.square(apart), axis=1))
        assert whole.farthest_pair(matrix).upper == pytest.approx(best, rel=1e-9)
        matrix, center = rng.normal(size=(2, 2)), rng.normal(size=2)
        balls = [(np.eye(2), np.zeros(2)), (0.5 * np.eye(2), np.array([2.0, 0.0]))]
        best = max(ellipsoid(f, c)(matrix.T @ matrix, center)[1] for f, c in balls)
        assert hull.farthest(matrix, center).upper == pytest.approx(best, rel=1e-8)
        about = np.diag([2.0, 0.3])
        best = max(ellipsoid(about, x)(matrix.T @ matrix, center)[1] for x in FEW)
        assert rounded.farthest(matrix, center).upper == pytest.approx(best, rel=1e-8)


@pytest.mark.sweep("test_bounds_are_the_maximum_of_lists_and_balls")
@pytest.mark.parametrize("order", ORDERS)
def test_a_hull_of_discs_is_nearly_that_of_many_points(order: float) -> None:
    angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    whole = ln.hull(ln.Ball(2), ln.Ball(2, 0.5, center=[2, 0]))
    assert isinstance(whole, Hull)
    listed = ln.Points(np.vstack([ring, ring * 0.5 + [2.0, 0.0]]))
    for made in (lambda d: d, ln.difference_body):
        found, other = bounds(made(whole), order), bounds(made(listed), order)
        assert found[1] <= found[0] * (1 + 2e-6)
        assert other[0] <= found[1]
        assert found[0] <= other[1] * (1 + 4e-5)  # the rings' own chords
    for relation in ("substitute", "add_remove"):
        one, other_plan = (planned(d, relation, order) for d in (whole, listed))
        assert one.certificate.gap <= 3e-6
        assert other_plan.certificate.lower <= one.certificate.upper
        assert one.certificate.lower <= other_plan.certificate.upper * (1 + 1e-4)


def test_a_record_of_the_hull_stays_and_another_goes_to_the_nearest() -> None:
    whole = ln.hull(ln.Ball(2), ln.Ball(2, center=[4, 0]))
    between = np.array([[2.0, 0.0], [2.0, 0.9], [0.5, 0.5], [4.5, -0.3]])
    np.testing.assert_allclose(whole.clamp(between), between, atol=1e-9)
    assert all(whole.contains(x) for x in between)
    np.testing.assert_allclose(whole.clamp(np.array([[2.0, 3.0]])), [[2.0, 1.0]], atol=1e-6)
    assert not whole.contains(np.array([2.0, 1.1]))
    # each row by itself, whatever is beside it
    rows = np.random.default_rng(1).normal(size=(5, 2)) * 5
    np.testing.assert_array_equal(whole.clamp(rows)[3], whole.clamp(rows[3]))


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("name", "relation"),
    [
        (name, relation)
        for name in SETS
        for relation in ("substitute", "add_remove")
        if name != "hull with an oracle"  # no record can be moved into it
        and (name, relation) != ("of a section", "add_remove")  # it takes half a minute
    ],
)
def test_plans_are_released_and_kept_in_files(name: str, relation: str) -> None:
    domain = SETS[name]()
    plan = planned(domain, relation)
    assert plan.cost.mu <= plan.terms.parameter
    table = np.random.default_rng(3).normal(size=(50, domain.dimension)) * 2
    released = plan.release(pd.DataFrame(table, columns=names(domain.dimension)))
    given = domain if "oracle" in str(domain_to_dict(domain)) else None
    text = released.to_json()
    again = ln.Release.from_json(text, domain=given)
    assert again.to_json() == text
    assert ln.verify(text, domain=given)
    if given is not None:
        with pytest.raises(FileError, match="no file holds"):
            ln.Release.from_json(text)
        with pytest.raises(FileError):
            ln.Release.from_json(text, domain=disc(name="other"))
    else:
        with pytest.raises(FileError, match="leave it out"):
            ln.Release.from_json(text, domain=disc())


def test_files_that_describe_no_domain_are_refused() -> None:
    fields = domain_to_dict(ln.hull(ln.Ball(2), ln.Ball(2, 0.5, center=[2, 0])))
    same = domain_from_dict(fields)
    assert isinstance(same, Hull)
    assert domain_to_dict(same) == fields
    for broken in (
        {"hull": []},
        {"hull": [*fields["hull"], {"lower": [0.0], "upper": [1.0]}]},
        {"product": []},
        {"mapped": {"factor": [[1.0]], "domain": fields, "shift": [0.0]}},
    ):
        with pytest.raises(DomainError):
            domain_from_dict(broken)


def test_a_program_is_not_asked_about_records() -> None:
    for domain in (ln.hull(disc(), ln.Box([-3, -1], [0, 1])), ln.image([[1.0, 1.0]], disc())):
        assert bounds(domain, 2.0)[0] > 0
        with pytest.raises(PlanError, match=r"ln\.Oracle") as refused:
            domain.clamp(np.zeros((1, domain.dimension)))
        assert "\n" not in str(refused.value)
    turned = ln.image(TURN, disc())
    assert isinstance(turned, Mapped)
    inside = np.array([1.5, 0.5]) @ TURN.T
    np.testing.assert_allclose(turned.clamp(inside), inside, atol=1e-9)
    assert ln.product(disc(), ln.Ball(2)).contains(np.array([1.0, 0.0, 0.5, 0.5]))


def test_what_knows_an_oracle_as_a_ball_is_the_same() -> None:
    """A disc known by its trust region problem, in the place of the ball that it is."""
    ball = ln.Ball(2, 2.0, center=[1.0, 0.0])
    for make in (
        lambda part: ln.product(part, ln.Points(OTHER)),
        lambda part: ln.hull(part, ln.Points(FEW)),
        lambda part: ln.image(TURN, part, [1, 2, 3]),
    ):
        found, other = bounds(make(disc()), 2.0), bounds(make(ball), 2.0)
        assert found[1] <= found[0] * (1 + 1e-5)
        assert other[0] <= found[1]
        assert found[0] <= other[1]


def test_tensors_do_not_compose() -> None:
    for make in (
        lambda: ln.kronecker(disc(), ln.Ball(2)),
        lambda: ln.kronecker(ln.hull(ln.Ball(2), ln.Ball(2, center=[3, 0])), ln.Ball(2)),
        lambda: ln.product(ln.TensorPower(2, 2, "ball"), ln.Points(OTHER)),
        lambda: ln.hull(ln.difference_body(ln.Points(FEW)), ln.Ball(2)),
    ):
        with pytest.raises(DomainError) as refused:
            make()
        assert "\n" not in str(refused.value)
