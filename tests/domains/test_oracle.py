# SPDX-License-Identifier: Apache-2.0
"""Sets that a program knows: as good as other domains that know them, and no lie goes through."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import DomainError, FileError, PlanError, QuestionError
from lownoise.sensitivity.relations import sensitivity_set
from lownoise.solvers import solve
from oracles import (
    HALF_DISC,
    MOMENT_CURVE,
    arc,
    ellipsoid,
    in_half_disc,
    listed,
    moment,
    pairs,
    to_half_disc,
    to_moment_curve,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector

RNG = np.random.default_rng(20)
SOME = RNG.normal(size=(30, 3)) * [1.0, 20.0, 0.3] + [3.0, -50.0, 0.0]
RTOL = 1e-6
ORDERS = (2.0, 3.0, math.inf)
TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def of_points(points: Vector, **more: Any) -> ln.Oracle:
    known = ln.Points(points)
    reach = np.maximum(known.upper - known.center, known.center - known.lower)
    options: dict[str, Any] = {
        "center": known.center,
        "half_widths": reach * (1 + 1e-15),
        "clamp": known.clamp,
        "differences": pairs(points),
    }
    return ln.Oracle(points.shape[1], more.pop("maximise", listed(points)), **{**options, **more})


def alike(found: Any, other: Any, *, rtol: float = RTOL) -> bool:
    """Whether two pairs of bounds are of one number, each within rtol."""
    within = found.gap <= rtol * 1.001 and other.gap <= rtol * 1.001
    return within and found.lower <= other.upper and other.lower <= found.upper


@pytest.mark.parametrize("order", ORDERS)
def test_a_listed_oracle_is_its_points(order: float) -> None:
    oracle, points = of_points(SOME), ln.Points(SOME)
    one, other = ln.theory.enclose(oracle, order=order), ln.theory.enclose(points, order=order)
    assert alike(one.certificate, other.certificate)
    one.certificate.verify()
    one = ln.theory.enclose(ln.difference_body(oracle), order=order)
    other = ln.theory.enclose(ln.difference_body(points), order=order)
    assert alike(one.certificate, other.certificate)


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_a_plan_of_a_listed_oracle_is_that_of_its_points(order: float, relation: Any) -> None:
    size = 1000 if relation == "substitute" else None
    oracle, points = of_points(SOME), ln.Points(SOME)
    found = [
        ln.plan(
            ln.Mean(["a", "b", "c"], domain),
            budget=ln.zcdp(0.3),
            relation=relation,
            size=size,
            order=order,
            weights=[1.0, 0.05, 3.0],
            # whose bounds are not the same numbers, and by default decide the count's part
            count_share=0.05 if size is None else None,
        )
        for domain in (oracle, points)
    ]
    assert alike(found[0].certificate, found[1].certificate, rtol=3 * RTOL)
    assert found[0].lower_bound == pytest.approx(found[1].lower_bound, rel=2 * RTOL)
    assert found[0].cost.mu <= found[0].terms.parameter
    assert found[0].verify()


def test_a_workload_and_weights_are_those_of_points() -> None:
    asked = np.array([[1.0, 0.1, 0.0], [0.0, 0.1, 3.0], [1.0, 0.0, -2.0], [0.3, 0.3, 0.3]])
    weights = [1.0, 2.0, 0.5, 1.0]
    for domain in (lambda d: d, ln.difference_body):
        one, other = (
            ln.theory.enclose(domain(d), workload=asked, weights=weights, order=3.0)
            for d in (of_points(SOME), ln.Points(SOME))
        )
        assert alike(one.certificate, other.certificate)
        # and of a workload that sees two directions only
        one, other = (
            ln.theory.enclose(domain(d), workload=asked[:2])
            for d in (of_points(SOME), ln.Points(SOME))
        )
        assert alike(one.certificate, other.certificate)


# every order, and every dimension at both ends of the orders
ENDS = [(d, order) for d in (1, 2, 3) for order in ORDERS if d < 3 or order in (2.0, math.inf)]


@pytest.mark.grid(1)
@pytest.mark.parametrize(("d", "order"), ENDS)
def test_an_ellipsoid_known_by_its_trust_region_has_its_closed_form(d: int, order: float) -> None:
    factor, middle = RNG.normal(size=(d, d)), 3 * RNG.normal(size=d)
    length = np.linalg.norm(factor, axis=1)
    oracle = ln.Oracle(
        d,
        ellipsoid(factor, middle),
        center=middle,
        half_widths=length * (1 + 1e-12),
        name="ellipsoid",
    )
    least = float(np.max(length)) if math.isinf(order) else np.sum(length**order) ** (1 / order)
    for domain, exact in ((oracle, least), (ln.difference_body(oracle), 2 * least)):
        found = ln.theory.enclose(domain, order=order)
        assert found.status == "solved"
        assert found.certificate.lower <= exact * (1 + 1e-9)
        assert exact <= found.certificate.upper * (1 + 1e-12)
        assert found.certificate.gap <= RTOL * 1.001
    # about a point that is not its center, under add_remove as the same ball as an image
    if d > 1:
        center = middle + 0.3 * length
        plans = [
            ln.plan(
                ln.Mean([f"x{i}" for i in range(d)], domain, center=center),
                budget=ln.zcdp(0.5),
                relation="add_remove",
            )
            for domain in (
                ln.Oracle(
                    d,
                    ellipsoid(factor, middle),
                    center=middle,
                    half_widths=length * (1 + 1e-12),
                    clamp=ln.Ellipsoid(factor, center=middle).clamp,
                ),
                ln.Ellipsoid(factor, center=middle),
            )
        ]
        # the image may prove no more than a diagonal majorant does; neither contradicts the other
        one, other = (p.certificate for p in plans)
        assert one.gap <= 3 * RTOL
        assert one.lower <= other.upper * (1 + 1e-3)


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("program", "point", "ends", "middle", "reach"),
    [
        (MOMENT_CURVE, moment, (0.0, 1.0), [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
        (HALF_DISC, arc, (0.0, math.pi), [0.0, 0.5], [1.0, 0.5]),
    ],
)
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_what_no_other_domain_describes_is_near_a_fine_list_of_it(
    program: Callable[..., Any],
    point: Callable[[float], Vector],
    ends: tuple[float, float],
    middle: list[float],
    reach: list[float],
    order: float,
) -> None:
    fine = ln.Points(np.array([point(t) for t in np.linspace(*ends, 3001)]))
    oracle = ln.Oracle(len(middle), program, center=middle, half_widths=reach)
    found, other = ln.theory.enclose(oracle, order=order), ln.theory.enclose(fine, order=order)
    assert found.status == "solved"
    assert other.certificate.lower <= found.certificate.upper
    assert found.certificate.upper <= other.certificate.upper * (1 + 3e-6)
    # without `differences` those are bounded by twice the least ball: honest, and not much more
    found = ln.theory.enclose(ln.difference_body(oracle), order=order)
    other = ln.theory.enclose(ln.difference_body(fine), order=order)
    d = len(middle)
    assert other.certificate.lower <= found.certificate.upper
    assert found.certificate.lower <= other.certificate.upper * (1 + 1e-6)
    assert found.certificate.upper <= other.certificate.upper * math.sqrt(2 * d / (d + 1))
    assert found.certificate.gap <= RTOL or "upper bounds prove" in found.status
    some = fine.points[:: len(fine.points) // 40]
    changes = (some[:, None] - some).reshape(-1, d)
    assert max(found.shape.quadratic_form(s) for s in changes) <= 1 + 1e-6


def test_a_half_disc_is_planned_released_and_verified() -> None:
    disc = ln.Oracle(
        2,
        HALF_DISC,
        center=[0, 0.5],
        half_widths=[1, 0.5],
        clamp=to_half_disc,
        contains=in_half_disc,
        name="half disc",
    )
    table = pd.DataFrame(RNG.normal(size=(5000, 2)), columns=["x", "y"])
    exact = np.array([to_half_disc(x) for x in table.to_numpy()])
    for relation, size in (("substitute", 5000), ("add_remove", None)):
        question = ln.Mean(["x", "y"], disc)
        plan = ln.plan(question, budget=ln.zcdp(0.5), relation=relation, size=size)  # type: ignore[arg-type]
        assert plan.verify()
        assert plan.cost.rho <= 0.5
        assert any("half disc" in line for line in plan.terms.assumptions)
        release = plan.release(table)
        truth = exact.mean(axis=0)
        if size is None:
            truth = np.append((exact - question.center).sum(axis=0), 5000)
        # seven deviations: a false alarm once in 10^11
        assert np.all(np.abs(release.estimate - truth) <= 7 * release.standard_deviation)
        text = release.to_json()
        assert ln.verify(text, domain=disc)
        again = ln.Release.from_json(text, disc)
        assert again.integers == release.integers
        assert np.array_equal(again.estimate, release.estimate)
        assert again.to_json() == text


def test_a_file_without_its_oracle_is_refused_and_with_another_too() -> None:
    oracle = of_points(TRIANGLE, name="triangle")
    plan = ln.plan(ln.Mean(["x", "y"], oracle), budget=ln.zcdp(0.5), relation="substitute", size=10)
    text = plan.to_json()
    for read in (ln.verify, ln.Plan.from_json):
        with pytest.raises(FileError, match="'triangle' is a program"):
            read(text)
    assert ln.Plan.from_json(text, oracle).cost == plan.cost
    with pytest.raises(FileError, match="reach, rounding differ"):
        ln.verify(text, domain=of_points(TRIANGLE, name="triangle", half_widths=[2, 2]))
    box = ln.plan(
        ln.Mean(["x"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="substitute", size=10
    )
    with pytest.raises(FileError, match="holds its own"):
        ln.verify(box.to_json(), domain=oracle)
    # another set of the same name and reach: what one record can change is computed again
    larger = of_points(
        np.vstack([TRIANGLE, [[0.9, 0.9]]]),
        name="triangle",
        center=oracle.center,
        half_widths=oracle.extent,
    )
    assert not ln.verify(text, domain=larger)


def test_reach_is_the_old_name_of_half_widths() -> None:
    old: dict[str, Any] = {"reach": [1, 1]}
    with pytest.warns(DeprecationWarning, match="^reach= is half_widths= since 0.2") as seen:
        oracle = ln.Oracle(2, listed(TRIANGLE), **old)
    assert [w.filename for w in seen] == [__file__]
    assert oracle.extent.tolist() == [1, 1]
    with pytest.raises(TypeError, match="reach"):
        ln.Oracle(2, listed(TRIANGLE), half_widths=[1, 1], **old)


def test_a_plan_needs_clamp() -> None:
    oracle = ln.Oracle(2, listed(TRIANGLE), half_widths=[1, 1], name="bare")
    assert ln.theory.enclose(oracle).status == "solved"
    with pytest.raises(PlanError, match="clamp of 'bare' is missing"):
        ln.Mean(["x", "y"], oracle)


def lying(**wrong: Any) -> Callable[..., Any]:
    """The triangle's program, but for one part of its answer."""

    def maximise(matrix: Vector, center: Vector) -> tuple[Any, Any, Any]:
        point, value, upper = listed(TRIANGLE)(matrix, center)
        answer = {"point": point, "value": value, "upper": upper}
        answer.update({k: f(answer[k]) for k, f in wrong.items()})
        return answer["point"], answer["value"], answer["upper"]

    return maximise


def failing(*_: Vector) -> None:
    raise ZeroDivisionError("a\nb")


LIES: dict[str, tuple[Any, str]] = {
    "a bound below its own value": (lying(upper=lambda u: 0.99 * u), "upper bound .* below"),
    "a value of another point": (lying(value=lambda v: 0.9 * v), "gave the value"),
    "a value too high": (lying(value=lambda v: 1.1 * v, upper=lambda u: 2 * u), "gave the value"),
    "a point out of reach": (
        lying(point=lambda x: x + 3 * np.eye(2)[1]),
        r"coordinate 1 .* half_widths\[1\]",
    ),
    "a point that is not a number": (lying(point=lambda x: x * np.nan), "half_widths"),
    "a bound that is not a number": (lying(upper=lambda _: math.nan), "upper bound nan"),
    "an infinite bound": (lying(upper=lambda _: math.inf), "upper bound inf"),
    "a value that is not a number": (lying(value=lambda _: math.nan), "value nan"),
    "a point of another shape": (lying(point=lambda _: np.zeros(3)), r"shape \(3,\)"),
    "a text": (lying(point=lambda _: "here"), "return .point, value, upper bound."),
    "two things": (lambda *_: (np.zeros(2), 1.0), "return .point, value, upper bound."),
    "nothing": (lambda *_: None, "gave None"),
    "an exception": (failing, r"raised ZeroDivisionError \(a b\)"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused_in_one_line(lie: str) -> None:
    program, text = LIES[lie]
    oracle = ln.Oracle(2, program, half_widths=[1, 1], clamp=ln.Points(TRIANGLE).clamp, name="liar")
    for use in (
        lambda: ln.theory.enclose(oracle),
        lambda: ln.theory.enclose(ln.difference_body(oracle)),
        lambda: oracle.support(np.ones(2)),
        lambda: ln.plan(
            ln.Mean(["x", "y"], oracle), budget=ln.zcdp(0.5), relation="substitute", size=9
        ),
    ):
        with pytest.raises(DomainError, match=text) as caught:
            use()
        assert "'liar'" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert ";" in str(caught.value)  # a remedy


def test_a_bound_below_an_earlier_point_is_refused() -> None:
    # it forgets a corner that it has found: nothing but its own past contradicts it
    calls = []

    def forgetful(matrix: Vector, center: Vector) -> tuple[Vector, float, float]:
        calls.append(center)
        points = TRIANGLE if len(calls) <= 5 else TRIANGLE[:2]
        return listed(points)(matrix, center)  # type: ignore[no-any-return]

    with pytest.raises(DomainError, match="a point that it found itself"):
        ln.theory.enclose(ln.Oracle(2, forgetful, half_widths=[1, 1]))
    assert len(calls) > 5


def test_pairs_are_checked_as_points_are() -> None:
    def short(matrix: Vector) -> Any:
        pair, value, upper = pairs(TRIANGLE)(matrix)
        return pair, value, 0.98 * upper

    def near(matrix: Vector) -> Any:
        # the nearest pair, and an honest value of it: other points are farther apart
        return pairs(TRIANGLE[:2] * [1.0, 0.5])(matrix)

    def single(matrix: Vector) -> Any:
        return TRIANGLE[0], 0.0, 1.0

    for program, text in (
        (short, "differences .* upper bound"),
        (near, "differences .* upper bound"),
        (single, r"shape \(2,\); return one of shape \(2, 2\)"),
        (failing, "differences .* raised"),
    ):
        oracle = ln.Oracle(2, listed(TRIANGLE), half_widths=[1, 1], differences=program)
        with pytest.raises(DomainError, match=text):
            ln.theory.enclose(ln.difference_body(oracle))


def test_what_contains_refuses_is_no_point() -> None:
    oracle = ln.Oracle(2, listed(TRIANGLE), half_widths=[1, 1], contains=lambda x: x[1] < 0.5)
    with pytest.raises(DomainError, match="its own `contains` refuses"):
        ln.theory.enclose(oracle)
    oracle = ln.Oracle(2, listed(TRIANGLE), half_widths=[1, 1], contains=lambda _: np.ones(2))
    with pytest.raises(DomainError, match="contains of 'oracle' gave"):
        ln.theory.enclose(oracle)
    oracle = ln.Oracle(2, listed(TRIANGLE), half_widths=[1, 1], contains=failing)
    with pytest.raises(DomainError, match="contains of 'oracle' raised"):
        ln.theory.enclose(oracle)


def test_a_program_that_is_not_the_same_twice_gives_one_plan() -> None:
    random = np.random.default_rng(3)

    def moody(matrix: Vector, center: Vector) -> tuple[Vector, float, float]:
        point, _, upper = listed(TRIANGLE)(matrix, center)
        if random.random() < 0.5:
            point = TRIANGLE[random.integers(3)]
        value = float((point - center) @ matrix @ (point - center))
        return point, value, upper * (1 + 0.1 * random.random())

    truth = ln.theory.enclose(ln.Points(TRIANGLE)).certificate
    oracle = ln.Oracle(2, moody, half_widths=[1, 1], clamp=ln.Points(TRIANGLE).clamp)
    found = ln.theory.enclose(oracle).certificate
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper <= truth.upper * 1.06
    plan = ln.plan(ln.Mean(["x", "y"], oracle), budget=ln.zcdp(1), relation="substitute", size=5)
    assert plan.cost.rho <= 1
    assert plan.verify()


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_loose_bounds_cost_noise_and_never_privacy(relation: Any) -> None:
    loose = 1.21
    size = 100 if relation == "substitute" else None

    def maximise(matrix: Vector, center: Vector) -> tuple[Vector, float, float]:
        point, value, upper = listed(TRIANGLE)(matrix, center)
        return point, value, loose * upper

    def differences(matrix: Vector) -> Any:
        pair, value, upper = pairs(TRIANGLE)(matrix)
        return pair, value, loose * upper

    oracle = of_points(TRIANGLE, maximise=maximise, differences=differences)
    found = ln.plan(ln.Mean(["x", "y"], oracle), budget=ln.zcdp(0.5), relation=relation, size=size)
    assert "upper bounds prove" in found.status
    assert found.cost.rho <= 0.5
    assert found.verify()
    # the same weights, so that the count's share is the same
    body = sensitivity_set(ln.Points(TRIANGLE), relation, found.terms.question.center)
    truth = solve(body, order=2.0, weights=found.terms.weights).claim.certificate()
    ratio = found.certificate.upper * (size or 1) / truth.upper
    # about another center the loose part of a square can be more than 10% of the length
    assert 1.02 < ratio < 1.5 if relation == "add_remove" else ratio == pytest.approx(1.1, rel=1e-5)
    assert found.certificate.lower * (size or 1) <= truth.upper
    # what the noise really hides, by listing every change to the codes
    assert found.terms.mechanism.loss.mu >= true_radius(found, TRIANGLE) * 1.02


def true_radius(plan: ln.Plan, points: Vector) -> float:
    """max √(sᵀΣ⁻¹s) over changes s of exact records to the integers, in plain numpy."""
    mechanism = plan.terms.mechanism
    coding = mechanism.totals.query.coding
    codes = (points - coding.center) / coding.step
    if mechanism.totals.count_step is None:
        changes = (codes[:, None] - codes[None]).reshape(-1, codes.shape[1])
    else:
        changes = np.hstack([codes, np.full((len(codes), 1), 1 / mechanism.totals.count_step)])
    images = np.linalg.solve(mechanism.noise.shape.dense(), changes.T)
    return float(np.sqrt(np.max(np.einsum("ij,ij->i", images.T, changes))))


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_the_stated_radius_is_the_true_one(relation: Any) -> None:
    plan = ln.plan(
        ln.Mean(["a", "b", "c"], of_points(SOME)),
        budget=ln.zcdp(0.5),
        relation=relation,
        size=100 if relation == "substitute" else None,
    )
    true = true_radius(plan, SOME)
    assert true <= plan.terms.mechanism.loss.mu <= true * (1 + 1e-6)
    assert plan.terms.mechanism.loss.mu == pytest.approx(1.0, abs=1e-6)


def test_an_interrupt_returns_the_bounds_so_far() -> None:
    factor = np.random.default_rng(1).normal(size=(6, 6))
    reach = np.linalg.norm(factor, axis=1) * (1 + 1e-12)
    exact = float(np.linalg.norm(reach))

    def stop(at: Any) -> None:
        if at.iteration == 12:
            raise KeyboardInterrupt

    oracle = ln.Oracle(6, ellipsoid(factor, np.zeros(6)), half_widths=reach)
    for domain, times in ((oracle, 1.0), (ln.difference_body(oracle), 2.0)):
        found = ln.theory.enclose(domain, progress=stop)
        assert found.status.startswith("interrupted")
        assert found.certificate.lower <= times * exact <= found.certificate.upper
        assert math.isfinite(found.certificate.upper)
    # inside the program itself
    calls = []

    def tired(matrix: Vector, center: Vector) -> Any:
        calls.append(0)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return ellipsoid(factor, np.zeros(6))(matrix, center)

    found = ln.theory.enclose(ln.Oracle(6, tired, half_widths=reach))
    assert found.status.startswith("interrupted")
    assert found.certificate.lower <= exact <= found.certificate.upper


def test_an_interrupt_of_the_second_way_leaves_the_first() -> None:
    steps: list[int] = []
    tired: list[int] = []

    def later(at: Any) -> None:
        if steps and at.iteration == 1:
            tired.append(0)
        steps.append(at.iteration)

    def maximise(matrix: Vector, center: Vector) -> Any:
        if tired:  # at every call from then on
            raise KeyboardInterrupt
        return listed(TRIANGLE)(matrix, center)

    oracle = ln.Oracle(2, maximise, half_widths=[1, 1])
    found = ln.theory.enclose(ln.difference_body(oracle), progress=later)
    assert tired
    assert found.status.startswith("interrupted")
    truth = ln.theory.enclose(ln.difference_body(ln.Points(TRIANGLE))).certificate
    assert found.certificate.lower <= truth.upper
    assert truth.lower <= found.certificate.upper


def test_nothing_is_spent_where_the_program_fails(tmp_path: Any) -> None:
    broken: list[int] = []

    def fickle(matrix: Vector, center: Vector) -> Any:
        if broken:
            raise RuntimeError
        return listed(TRIANGLE)(matrix, center)

    def holds(x: Vector) -> bool:
        if broken:
            raise RuntimeError
        return True

    oracle = of_points(TRIANGLE, maximise=fickle, contains=holds)
    plan = ln.plan(ln.Mean(["x", "y"], oracle), budget=ln.zcdp(0.1), relation="substitute", size=3)
    ledger = ln.Ledger.create(tmp_path / "ledger.jsonl", "data", ln.zcdp(1))
    table = pd.DataFrame(TRIANGLE, columns=["x", "y"])
    broken.append(1)
    with pytest.raises(DomainError, match="raised RuntimeError"):
        plan.release(table, ledger)
    assert not ledger.entries()
    broken.clear()
    release = plan.release(table, ledger)
    broken.append(1)
    # what was paid can be written down, whatever the program does by now
    assert "integers" in release.to_json()


def test_a_row_on_which_clamp_fails_counts_as_the_stand_in() -> None:
    def clamp(row: Vector) -> Any:
        if row[0] > 100:
            raise ValueError("secret")
        if row[0] > 50:
            return np.full(2, np.nan)
        if row[0] > 40:
            return row  # out of reach
        if row[0] > 30:
            return np.array([0.9, 0.9])  # within reach, and not in the set
        if row[0] > 20:
            return np.zeros(3)
        return ln.Points(TRIANGLE).clamp(row)

    oracle = of_points(TRIANGLE, clamp=clamp, contains=lambda x: x.sum() < 1 + 1e-9)
    home = oracle.clamp(oracle.center)
    rows = np.array([[x, 0.0] for x in (101.0, 51.0, 41.0, 31.0, 21.0)])
    assert np.array_equal(oracle.clamp(rows), np.broadcast_to(home, rows.shape))
    assert np.array_equal(oracle.clamp(np.array([0.9, 0.0])), [1.0, 0.0])
    table = pd.DataFrame(np.vstack([rows, TRIANGLE]), columns=["x", "y"])
    plan = ln.plan(ln.Mean(["x", "y"], oracle), budget=ln.zcdp(9), relation="substitute", size=8)
    assert plan.release(table).estimate.shape == (2,)
    lost = of_points(TRIANGLE, clamp=failing)
    with pytest.raises(DomainError, match="does not take center to a point"):
        ln.Mean(["x", "y"], lost)


def test_flat_sets_are_worked_in_their_flat() -> None:
    simplex = np.eye(4)
    oracle, points = of_points(simplex), ln.Points(simplex)
    for domain in (lambda d: d, ln.difference_body):
        one, other = (ln.theory.enclose(domain(d)) for d in (oracle, points))
        assert alike(one.certificate, other.certificate, rtol=3 * RTOL)
    plans = [
        ln.plan(ln.Mean(list("abcd"), d), budget=ln.zcdp(0.5), relation="substitute", size=10)
        for d in (oracle, points)
    ]
    assert plans[0].terms.mechanism.noise.dimension == 3
    assert plans[0].error == pytest.approx(plans[1].error, rel=3 * RTOL)
    assert plans[0].verify()
    # off the flat a center would be summed with noise that its flat has not
    off = of_points(simplex, center=np.zeros(4), half_widths=np.ones(4))
    question = ln.Mean(list("abcd"), off)
    with pytest.raises(DomainError, match="off the flat"):
        ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=10)


def test_one_point_needs_no_noise() -> None:
    point = np.array([[2.0, -3.0]])
    oracle = ln.Oracle(
        2, listed(point), center=point[0], half_widths=[0, 0], clamp=lambda _: point[0]
    )
    assert ln.theory.enclose(oracle).certificate.upper == 0
    assert ln.theory.enclose(ln.difference_body(oracle)).certificate.upper == 0
    plan = ln.plan(ln.Mean(["a", "b"], oracle), budget=ln.zcdp(1), relation="substitute", size=2)
    assert plan.error == 0
    # found to be one point within a wide reach
    wide = ln.Oracle(2, listed(point), center=point[0], half_widths=[1, 5])
    assert ln.theory.enclose(wide).certificate.upper < 1e-9


def test_bounds_too_loose_to_tell_flat_from_thin_are_refused() -> None:
    flat = np.array([[0.0, 0.0], [1.0, 1.0]])

    def loose(matrix: Vector, center: Vector) -> Any:
        point, value, upper = listed(flat)(matrix, center)
        return point, value, upper * 1.1 + 1e-3

    with pytest.raises(DomainError, match="finds no width along a direction"):
        ln.theory.enclose(ln.Oracle(2, loose, center=[0.5, 0.5], half_widths=[1, 1]))


def test_units_do_not_matter() -> None:
    scale = np.array([1e-9, 1.0, 1e12])
    points = np.random.default_rng(4).normal(size=(12, 3))
    one = ln.theory.enclose(of_points(points * scale), weights=1 / scale)
    other = ln.theory.enclose(ln.Points(points * scale), weights=1 / scale)
    assert alike(one.certificate, other.certificate)


def test_support_and_extremes_are_those_of_points() -> None:
    oracle, points = of_points(SOME), ln.Points(SOME)
    for theta in RNG.normal(size=(20, 3)):
        exact = points.support(theta)
        size = float(np.abs(theta) @ np.abs(SOME).max(axis=0))
        assert exact - 1e-15 * size <= oracle.support(theta) <= exact + 1e-12 * size
        assert oracle.extreme(theta[None])[0] @ theta == pytest.approx(exact, abs=1e-12 * size)
    assert ln.difference_body(oracle).support(np.ones(3)) == pytest.approx(
        points.width(np.ones(3)), rel=1e-11
    )
    far = ln.theory.farthest(oracle, np.diag([1.0, 0.1, 2.0]))
    truth = float(np.max(np.linalg.norm((SOME - oracle.center) * [1.0, 0.1, 2.0], axis=1)))
    assert truth * (1 - 1e-12) <= far.upper <= truth * (1 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"dimension": 0}, "dimension=0"),
        ({"half_widths": [1]}, "half_widths has 1 coordinates for 2"),
        ({"half_widths": [1, -1]}, r"half_widths\[1\]=-1 is below 0"),
        ({"half_widths": [1, math.inf]}, r"half_widths\[1\]=inf"),
        ({"half_widths": [1, 1e300]}, "beyond 2"),
        ({"center": [0]}, "center has 1"),
        ({"center": [0, math.nan]}, r"center\[1\]=nan"),
        ({"maximise": None}, "maximise=NoneType is no function"),
        ({"clamp": 3}, "clamp=int is no function"),
        ({"contains": "x"}, "contains=str is no function"),
        ({"differences": []}, "differences=list is no function"),
        ({"rounding": [-1, 0]}, r"rounding\[0\]=-1 is below 0"),
        ({"name": ""}, "name='' is no name"),
        ({"name": "a\nb"}, "no name"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], text: str) -> None:
    good: dict[str, Any] = {"dimension": 2, "maximise": listed(TRIANGLE), "half_widths": [1, 1]}
    with pytest.raises(DomainError, match=text):
        ln.Oracle(**{**good, **arguments})


def test_contains_says_what_is_known() -> None:
    assert not ln.Oracle(2, listed(TRIANGLE), half_widths=[1, 1]).contains(np.array([2.0, 0.0]))
    by_clamp = of_points(TRIANGLE)
    assert by_clamp.contains(np.array([1.0, 0.0]))
    assert not by_clamp.contains(np.array([0.5, 0.0]))
    with pytest.raises(QuestionError, match="not a point"):
        ln.Mean(["x", "y"], by_clamp, missing=[0.5, 0.0])


def test_records_are_moved_onto_the_moment_curve() -> None:
    oracle = ln.Oracle(
        3,
        MOMENT_CURVE,
        center=[0.5] * 3,
        half_widths=[0.5] * 3,
        clamp=to_moment_curve,
        name="moments",
    )
    assert np.array_equal(oracle.clamp(np.array([2.0, 0.0, 0.0])), np.ones(3))
    plan = ln.plan(ln.Mean(["x", "x2", "x3"], oracle), budget=ln.zcdp(0.5), relation="add_remove")
    fine = np.array([moment(t) for t in np.linspace(0, 1, 2001)])
    true = true_radius(plan, fine)
    assert true * (1 - 1e-7) <= plan.terms.mechanism.loss.mu <= true * (1 + 1e-5)


def test_a_plan_is_the_same_whatever_was_asked_before() -> None:
    """Noise of a set that bounds no differences itself follows from arguments, to the last bit."""
    factor = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.3, 0.0, 0.2]])
    reach = np.linalg.norm(factor, axis=1) * (1 + 1e-12)
    own = ln.Ellipsoid(factor, np.zeros(3))
    oracle = ln.Oracle(3, ellipsoid(factor, np.zeros(3)), half_widths=reach, clamp=own.clamp)
    known = {"budget": ln.zcdp(0.5), "relation": "substitute", "size": 100}
    made = [
        ln.plan(ln.Mean(["a", "b", "c"], oracle), order=order, **known).covariance.tolist()
        for order in (2.0, 3.0, 2.0)
    ]
    assert made[0] == made[2] != made[1]
