# SPDX-License-Identifier: Apache-2.0
"""What holds of every domain of the family: its geometry, its least noise, its plan and release."""

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from cases import MEMBERS
from designs import pairwise_design
from lownoise.certificate import order_norm
from lownoise.errors import LownoiseError
from lownoise.numbers.norms import conjugate
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.sensitivity.relations import sensitivity_set
from lownoise.sets.domains import BallPower, CubePower, Image

ORDERS = (2.0, 3.0, 4.0, math.inf)
ORDER_OF = {"substitute": math.inf, "add_remove": 2.0}  # of the plans
RELATIONS = tuple(ORDER_OF)
SEED = st.integers(0, 2**32 - 1)
ORDER = st.sampled_from(ORDERS)
ROUND = 1 + 1e-9
ROWS = 60

OPERATIONS = {
    "image": lambda m: ln.image(np.eye(m.domain.dimension), m.domain),
    "sum": lambda m: ln.minkowski_sum(m.domain, m.partner(m.domain.dimension)),
    "product": lambda m: ln.product(m.domain, m.partner(2)),
    "kronecker": lambda m: ln.kronecker(about_zero(m), m.partner(2)),
    "projection": lambda m: ln.projection(m.domain, [0]),
    "hull": lambda m: ln.hull(m.domain, m.domain),
    "workload": lambda m: ln.theory.enclose(m.domain, workload=2 * np.eye(m.domain.dimension)),
    "plan": lambda m: ln.plan(question(m), budget=ln.zcdp(0.5), relation="add_remove"),
}


def about_zero(member):
    """The domain, moved to have its center at zero where it can be moved."""
    own = member.domain
    kept = "image" in member.refuses
    return own if kept else ln.image(np.ones(own.dimension), own, -own.center)


def able(operation):
    """Every member but those whose row says that the operation is refused."""
    have = [m for m in MEMBERS if operation not in m.refuses]
    return pytest.mark.parametrize("member", have, ids=lambda member: member.name)


# each law on each member at one end of the orders, each end with each law and with each member
LAWS = {
    "sum": "sum",
    "product": "product",
    "kronecker": "kronecker",
    "projection": "projection",
    "hull": "hull",
    "a multiple": "workload",
}
AT_AN_END = pairwise_design(
    {"law": LAWS, "member": MEMBERS, "order": (2.0, math.inf)},
    lambda law, member, **_: LAWS[law] not in member.refuses,
)


def at_an_end(law):
    """Every member that a law is stated for, each with an order of the design's choice."""
    rows = [(row["member"], row["order"]) for row in AT_AN_END if row["law"] == law]
    names = [f"{member.name}-{order}" for member, order in rows]
    return pytest.mark.parametrize(("member", "order"), rows, ids=names)


every = pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
few = settings(max_examples=2)
some = pytest.mark.grid(0, least=5)  # of laws of how near noise is to least: `make sweep` has all


def lengths(shape, rows):
    """√(rowᵀM⁻¹row) for each row, in least squares where M is singular."""
    if isinstance(shape, DiagonalShape):
        part = np.where(shape.scale > 0, rows / np.where(shape.scale > 0, shape.scale, 1.0), 0.0)
        return np.linalg.norm(part, axis=1)
    columns = [shape.apply(source) for source in np.eye(shape.sources)]
    factor = np.array(columns).reshape(-1, shape.dimension).T
    if not factor.shape[1]:
        return np.zeros(len(rows))
    unit = np.maximum(np.linalg.norm(factor, axis=1), 1e-300)
    return np.linalg.norm(np.linalg.lstsq(factor / unit[:, None], (rows / unit).T)[0], axis=0)


def costs(shape, order, queries=None, weights=1.0):
    """√tr_{p/2}(ωLMLᵀω), from M alone."""
    M = shape.dense() if queries is None else queries @ shape.dense() @ queries.T
    return order_norm(weights * np.sqrt(np.maximum(np.diag(M), 0.0)), order)


@cache
def least(member, order):
    return ln.theory.enclose(member.domain, order=order)


@cache
def least_of_changes(member, order):
    return ln.theory.enclose(ln.difference_body(member.domain), order=order)


def last_digits(member, theta=None):
    """What rounding of numbers as large as the domain's is worth, along θ."""
    size = np.max(np.abs(member.sample(np.random.default_rng(0), 64)), axis=0)
    return 2.0**-48 * float(size @ np.abs(np.ones_like(size) if theta is None else theta))


@pytest.mark.grid
@every
@few
@given(seed=SEED)
def test_no_point_is_beyond_the_support(member, seed):
    rng = np.random.default_rng(seed)
    points, domain = member.sample(rng, 400), member.domain
    assert points.shape == (400, domain.dimension)
    for theta in (*rng.normal(size=(6, domain.dimension)), *np.eye(domain.dimension)):
        values, off = points @ theta, last_digits(member, theta)
        assert np.max(values) <= domain.support(theta) + off
        assert -np.min(values) <= domain.support(-theta) + off
        assert np.ptp(values) <= domain.width(theta) + 2 * off
        assert domain.support(2 * theta) == pytest.approx(2 * domain.support(theta), abs=off)
    assert np.all(points >= domain.lower - last_digits(member))
    assert np.all(points <= domain.upper + last_digits(member))


@some
@every
def test_some_points_come_near_the_support(member):
    """A support that is too wide costs noise: what the definition draws nearly reaches it."""
    points, domain = member.sample(np.random.default_rng(7), 10_000), member.domain
    for theta in np.random.default_rng(8).normal(size=(6, domain.dimension)):
        assert np.ptp(points @ theta) >= member.near * domain.width(theta) - last_digits(member)


@pytest.mark.grid
@every
@few
@given(seed=SEED)
def test_points_stay_where_they_are_and_others_come_in(member, seed):
    rng = np.random.default_rng(seed)
    domain = member.domain
    points = member.sample(rng, 3 if member.slow else 10)
    width = domain.upper - domain.lower
    room = 1e-8 * width + last_digits(member)
    assert np.all(np.abs(domain.clamp(points) - points) <= room)
    moved = domain.clamp(domain.center + 3 * width * rng.normal(size=(6, domain.dimension)))
    for theta in rng.normal(size=(20, domain.dimension)):
        assert np.max(moved @ theta) <= domain.support(theta) + np.abs(theta) @ room


@pytest.mark.grid
@every
@few
@given(seed=SEED)
def test_a_row_is_clipped_for_itself_alone_to_the_last_bit(member, seed):
    """Wherever it stands and whatever stands beside it: or neighbours would differ in two rows."""
    rng, domain = np.random.default_rng(seed), member.domain
    d, width = domain.dimension, domain.upper - domain.lower
    far = domain.center + 3 * width * rng.normal(size=(4, d))
    wild = rng.choice([np.inf, -np.inf, 1e308, -1e308, 0.0, 5e-324, 1.0], (4, d))
    rows = np.vstack([far, wild, member.sample(rng, 64)[:2]])
    known = domain.clamp(rows)
    assert np.all(np.isfinite(known))
    places = rng.permutation(len(rows))
    assert np.array_equal(domain.clamp(rows[places]), known[places])
    assert np.array_equal(domain.clamp(np.asfortranarray(rows)), known)
    i = int(rng.integers(len(rows)))
    assert np.array_equal(domain.clamp(rows[i]), known[i])
    assert np.array_equal(domain.clamp(np.stack([rows, rows])), np.stack([known, known]))
    assert domain.clamp(rows[:0]).shape == (0, d)
    if not member.slow:  # and in any block of a long table
        at = np.arange(1030) % len(rows)
        assert np.array_equal(domain.clamp(rows[at]), known[at])


@pytest.mark.grid
@every
@few
@given(seed=SEED, order=ORDER)
def test_the_ellipsoid_holds_ten_thousand_points(member, seed, order):
    rng = np.random.default_rng(seed)
    found = least(member, order)
    proof = found.certificate
    about = member.sample(rng, 10_000) - found.center
    reach = np.max(lengths(found.shape, about))
    assert reach <= 1 + 1e-6 + 1e3 * last_digits(member)
    assert 0 <= proof.lower <= proof.upper
    assert proof.gap <= member.gap
    assert proof.verify() == proof
    # what M says is what the certificate says, and M is definite where the domain moves
    M = found.shape.dense()
    assert costs(found.shape, order) == pytest.approx(
        proof.upper, rel=1e-9, abs=last_digits(member)
    )
    unit = np.where(np.diag(M) > 0, np.sqrt(np.diag(M)), 1.0)
    span = np.linalg.matrix_rank(about[:200] / unit, tol=1e-6)
    assert np.linalg.matrix_rank(M / np.outer(unit, unit), tol=1e-12, hermitian=True) >= span


@some
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("member", [m for m in MEMBERS if m.gamma], ids=lambda m: m.name)
def test_the_known_least_is_found(member, order):
    proof = least(member, order).certificate
    known = member.gamma(order)
    assert proof.lower <= known * (1 + 1e-12)
    assert known <= proof.upper * (1 + 1e-12)
    assert proof.upper <= known * (1 + member.gap)


@some
@every
@few
@given(seed=SEED, order=ORDER)
def test_some_of_its_points_cost_no_more(member, seed, order):
    """Monotone: points drawn by the definition alone are inside, and so is their ellipsoid."""
    points = member.sample(np.random.default_rng(seed), 40)
    some = ln.theory.enclose(ln.Points(points), order=order).certificate
    whole = least(member, order).certificate
    assert some.lower <= whole.upper * ROUND + last_digits(member)


@some
@every
@few
@given(seed=SEED, order=ORDER)
def test_a_measure_on_its_points_costs_no_more(member, seed, order):
    """002, Theorem 26: tr (D cov(P) D)^{1/2} ≤ Γ_p(K) for all P on K and D ≥ 0 of norm 1."""
    rng = np.random.default_rng(seed)
    points, weights = member.sample(rng, 60), rng.dirichlet(np.ones(60))
    squares = rng.exponential(size=member.domain.dimension)
    d = np.sqrt(squares / order_norm(squares, conjugate(order)))
    rows = np.sqrt(weights)[:, None] * (points - weights @ points) * d
    value = np.sum(np.linalg.svd(rows, compute_uv=False))
    assert value <= least(member, order).certificate.upper * ROUND + last_digits(member)


@some
@able("image")
@few
@given(seed=SEED, order=ORDER, factor=st.floats(1e-3, 1e3))
def test_it_scales_and_does_not_move_with_the_domain(member, seed, order, factor):
    rng = np.random.default_rng(seed)
    domain = member.domain
    shift = rng.integers(-9, 9, domain.dimension) * 1.0
    changed = ln.image(np.full(domain.dimension, factor), domain, shift)
    here, there = (
        least(member, order).certificate,
        ln.theory.enclose(changed, order=order).certificate,
    )
    off = last_digits(member) * factor + 2.0**-40 * factor
    assert factor * here.lower <= there.upper * ROUND + off
    assert there.lower <= factor * here.upper * ROUND + off
    theta = rng.normal(size=domain.dimension)
    assert changed.support(theta) == pytest.approx(
        factor * domain.support(theta) + theta @ shift, rel=1e-9, abs=10 * off
    )


@some
@at_an_end("sum")
def test_a_sum_costs_no_more_than_both(member, order):
    """002, Theorem 20."""
    other = member.partner(member.domain.dimension)
    both = ln.minkowski_sum(member.domain, other)
    proof = ln.theory.enclose(both, order=order, rtol=0.2).certificate
    alone = ln.theory.enclose(other, order=order).certificate
    assert proof.lower <= (least(member, order).certificate.upper + alone.upper) * ROUND
    theta = np.random.default_rng(1).normal(size=both.dimension)
    assert both.support(theta) == pytest.approx(
        member.domain.support(theta) + other.support(theta), rel=1e-9
    )


MADE = {
    "product": lambda m: (ln.product(m.domain, m.partner(2)), {}),
    "sum": lambda m: (ln.minkowski_sum(m.domain, m.partner(m.domain.dimension)), {}),
    "hull": lambda m: (ln.hull(m.domain, ln.Ellipsoid(1.0 + np.arange(m.domain.dimension))), {}),
    "image": lambda m: (m.domain, {"weights": 1.0 + np.arange(m.domain.dimension)}),
    "workload": lambda m: (m.domain, {"workload": np.ones((2, m.domain.dimension))}),
}
# every way with a third of the members, every member in two ways
COSTED = [
    pytest.param(member, way, id=f"{member.name}, {way}")
    for i, member in enumerate(MEMBERS)
    for j, way in enumerate(MADE)
    if (i + j) % 3 == 0 and way not in member.refuses
]


@some
@pytest.mark.parametrize(("member", "way"), COSTED)
def test_what_is_returned_costs_what_is_proved(member, way):
    """The ellipsoid covers by the proof, so it costs neither more nor less than the proof says."""
    domain, more = MADE[way](member)
    order = 2.0 if len(member.name) % 2 else math.inf
    found = ln.theory.enclose(domain, order=order, rtol=0.3, **more)
    cost = costs(found.shape, order, more.get("workload"), more.get("weights", 1.0))
    assert cost == pytest.approx(found.certificate.upper, rel=1e-9, abs=3 * last_digits(member))


@some
@at_an_end("product")
def test_a_product_costs_the_power_mean_of_both(member, order):
    """002, Lemma 60."""
    other = member.partner(2)
    t = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    proof = ln.theory.enclose(ln.product(member.domain, other), order=order, rtol=1e-3).certificate
    parts = [least(member, order).certificate, ln.theory.enclose(other, order=order).certificate]
    low, high = (sum(getattr(c, side) ** t for c in parts) for side in ("lower", "upper"))
    assert proof.lower <= high ** (1 / t) * ROUND
    assert low ** (1 / t) <= proof.upper * ROUND
    # a product's corners are not all listed
    assert proof.gap <= max(member.gap + 1e-3, 0.02, member.beside)


@some
@at_an_end("kronecker")
def test_a_kronecker_product_costs_the_product(member, order):
    """002, Lemma 62, about zero; beside L = −L it is K ∪ −K that counts, as x ⊗ y = −x ⊗ −y."""
    about, other = about_zero(member), member.partner(2)
    rtol = max(0.03, member.gap / 2)
    proof = ln.theory.enclose(ln.kronecker(about, other), order=order, rtol=rtol).certificate
    one, two = least(member, order).certificate, ln.theory.enclose(other, order=order).certificate
    theta = np.random.default_rng(6).normal(size=about.dimension)
    if abs(about.support(theta) - about.support(-theta)) > 1e-6 * about.width(theta):
        both = ln.hull(about, ln.image(-np.ones(about.dimension), about))
        one = ln.theory.enclose(both, order=order).certificate
    off = last_digits(member)
    assert proof.lower <= (one.upper + off) * two.upper * ROUND
    assert one.lower * two.lower <= (proof.upper + off) * ROUND


@some
@at_an_end("projection")
def test_a_projection_costs_no_more(member, order):
    """002, Lemma 63; its support is the domain's in directions that it sees."""
    kept = [1, 0] if member.domain.dimension > 1 else [0]
    seen = ln.projection(member.domain, kept)
    proof = ln.theory.enclose(seen, order=order).certificate
    assert proof.lower <= least(member, order).certificate.upper * ROUND + last_digits(member)
    theta = np.zeros(member.domain.dimension)
    theta[kept] = np.random.default_rng(2).normal(size=len(kept))
    assert seen.support(theta[kept]) == pytest.approx(
        member.domain.support(theta), rel=1e-9, abs=last_digits(member)
    )
    points = member.sample(np.random.default_rng(3), 500)[:, kept]
    assert np.max(points @ theta[kept]) <= seen.support(theta[kept]) + last_digits(member)


@some
@at_an_end("hull")
def test_only_the_hull_counts(member, order):
    """What lies inside already changes nothing: a smaller copy about the center."""
    domain = member.domain
    inner = ln.image(np.full(domain.dimension, 0.5), domain, domain.center / 2)
    proof = ln.theory.enclose(ln.hull(domain, inner), order=order, rtol=3e-3).certificate
    alone = least(member, order).certificate
    assert proof.lower <= alone.upper * ROUND + last_digits(member)
    assert alone.lower <= proof.upper * ROUND + last_digits(member)
    assert proof.gap <= max(member.gap, 3e-3, member.beside)


@some
@every
def test_it_falls_with_the_order(member):
    proofs = [least(member, order).certificate for order in ORDERS]
    for here, there in pairwise(proofs):
        assert there.lower <= here.upper * ROUND


@some
@able("workload")
def test_it_is_the_most_that_rescaling_costs(member):
    """002, Lemma 27: Γ_p(K) ≥ Γ₂(DK) for diagonal D ≥ 0 with tr_q(D²) = 1, q = p/(p − 2)."""
    rng = np.random.default_rng(4)
    for order in (3.0, math.inf):
        proof = least(member, order).certificate
        squares = rng.exponential(size=member.domain.dimension) + 1e-3
        d = np.sqrt(squares / order_norm(squares, conjugate(order)))
        scaled = ln.theory.enclose(member.domain, weights=d, rtol=1e-3).certificate
        assert scaled.lower <= proof.upper * ROUND


@some
@at_an_end("a multiple")
def test_a_workload_that_multiplies_scales(member, order):
    asked = 7 * np.eye(member.domain.dimension)
    found = ln.theory.enclose(member.domain, workload=asked, order=order, rtol=1e-3).certificate
    alone = least(member, order).certificate
    assert found.lower <= 7 * alone.upper * ROUND
    assert 7 * alone.lower <= found.upper * ROUND


@some
@able("image")
def test_a_workload_is_its_image(member):
    queries = np.random.default_rng(5).normal(size=(2, member.domain.dimension))
    asked = ln.theory.enclose(member.domain, workload=queries, rtol=1e-3).certificate
    formed = ln.theory.enclose(ln.image(queries, member.domain), rtol=1e-3).certificate
    off = np.abs(queries).sum() * last_digits(member)
    assert asked.lower <= formed.upper * ROUND + off
    assert formed.lower <= asked.upper * ROUND + off


@pytest.mark.grid
@every
@pytest.mark.parametrize("relation", RELATIONS)
def test_changes_in_steps_are_those_over_the_steps(member, relation):
    """And samples of them are no wider than the body says, in any coordinate."""
    domain, rng = member.domain, np.random.default_rng(3)
    chosen = domain.exact_coordinates()
    pivots, step = chosen.pivots, 2.0 ** np.arange(-3, chosen.pivots.size - 3)
    counted = 1 if relation == "add_remove" else 0
    ones, steps = (
        sensitivity_set(domain, relation, domain.center, chosen, unit).widths()
        for unit in (np.ones(step.size), step)
    )
    units = np.append(step, 1.0)[: step.size + counted]
    np.testing.assert_allclose(steps * units, ones, rtol=1e-6, atol=last_digits(member))
    x, y = member.sample(rng, 300), member.sample(rng, 300)
    moved = np.abs((x - (domain.center if counted else y))[:, pivots])
    assert np.all(moved <= ones[: step.size] * ROUND + 2 * last_digits(member))
    assert not counted or ones[-1] >= 1


REFUSALS = [(m, what) for m in MEMBERS for what in sorted(m.refuses)]


@pytest.mark.parametrize(("member", "what"), REFUSALS, ids=lambda x: getattr(x, "name", x))
def test_what_a_row_says_is_refused_is_refused_in_one_line(member, what):
    with pytest.raises(LownoiseError) as refusal:
        OPERATIONS[what](member)
    assert "\n" not in str(refusal.value)
    assert ";" in str(refusal.value)  # with a remedy


@pytest.mark.grid
@every
@few
@given(seed=SEED)
def test_differences_of_points_are_in_the_difference_body(member, seed):
    rng = np.random.default_rng(seed)
    body = ln.difference_body(member.domain)
    changes = member.sample(rng, 200) - member.sample(rng, 200)
    for theta in rng.normal(size=(6, body.dimension)):
        assert np.max(changes @ theta) <= body.support(theta) + 2 * last_digits(member, theta)


@some
@every
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_differences_cost_no_more_than_twice(member, order):
    once, twice = (own(member, order).certificate for own in (least, least_of_changes))
    assert twice.lower <= 2 * once.upper * ROUND + last_digits(member)
    if order == 2:  # Jung
        d = member.domain.dimension
        most = twice.upper * math.sqrt(2 * d / (d + 1))
        assert 2 * once.lower <= most * ROUND + last_digits(member)


def question(member):
    return ln.Mean([f"c{i}" for i in range(member.domain.dimension)], member.domain)


@cache
def planned(member, relation):
    return ln.plan(
        question(member),
        budget=ln.zcdp(0.5),
        relation=relation,
        size=ROWS if relation == "substitute" else None,
        order=ORDER_OF[relation],
    )


def table(member, seed=0):
    """Points of the domain, points outside, and what no coordinate can be."""
    rng = np.random.default_rng(seed)
    rows = member.sample(rng, ROWS)
    width = member.domain.upper - member.domain.lower
    rows[::5] += 2 * width * rng.normal(size=rows[::5].shape)
    rows[3], rows[4, 0], rows[7] = np.nan, np.nan, np.inf
    return rows


@some
@able("plan")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_plan_keeps_its_budget_and_can_be_checked(member, relation):
    plan = planned(member, relation)
    assert plan.cost.mu <= plan.terms.parameter == 1.0
    assert plan.verify()
    again = ln.Plan.from_json(plan.to_json(), plan.terms.view.program)
    assert again.to_json() == plan.to_json()
    assert plan.certificate.lower <= plan.certificate.upper
    assert plan.certificate.gap <= member.gap + 1e-6
    assert plan.lower_bound <= plan.error
    if relation == "substitute":
        changes = least_of_changes(member, ORDER_OF[relation]).certificate
        assert changes.lower * (1 - 1e-6) <= ROWS * plan.objective + last_digits(member)


@pytest.mark.grid
@able("plan")
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_change_of_the_integers_is_covered(member, relation):
    """The privacy of it: codes of records of every kind, in the final noise, two by two."""
    plan = planned(member, relation)
    mechanism = plan.terms.mechanism
    rng = np.random.default_rng(2)
    count = 20 if member.slow else 200
    ends = member.sample(rng, count)
    if isinstance(member.domain, Image):
        ends = np.vstack([ends, member.domain.extreme(rng.normal(size=(count, ends.shape[1])))])
    codes = mechanism.totals.query.coding.encode(
        np.vstack([table(member, 1)[: 12 if member.slow else ROWS], ends])
    ).astype(np.float64)
    if relation == "substitute":
        changes = (codes[:, None] - codes).reshape(len(codes) ** 2, codes.shape[1])
    else:
        changes = np.hstack([codes, np.full((len(codes), 1), 1 / mechanism.totals.count_step)])
    noise = mechanism.noise.shape
    reached = float(np.max(lengths(noise, changes))) if changes.shape[1] else 0.0
    assert reached <= mechanism.loss.mu * (1 + 1e-12)
    # and the noise is not far too much: some change comes near, if any is possible
    assert reached >= mechanism.loss.mu / (1 + member.gap) * 0.8


@pytest.mark.grid
@able("plan")
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_release_is_its_codes_and_the_noise_alone(member, relation):
    plan = planned(member, relation)
    mechanism = plan.terms.mechanism
    rows = table(member)
    frame = pd.DataFrame(rows, columns=plan.terms.question.columns)
    release = execute(plan.terms, frame, None, randomness=SimulationRandomness(7))
    noise = rounded_gaussian(mechanism.noise.shape, randomness=SimulationRandomness(7)).tolist()
    exact = [sum(column) for column in mechanism.totals.query.coding.encode(rows).T.tolist()]
    if relation == "add_remove":
        exact.append(ROWS * int(1 / mechanism.totals.count_step))
    assert list(release.integers) == [t + z for t, z in zip(exact, noise, strict=True)]
    assert ln.verify(release.to_json(), domain=plan.terms.view.program)
    read = ln.Release.from_json(release.to_json(), plan.terms.view.program)
    assert np.array_equal(read.estimate, release.estimate)
    # without noise the answers are those of the records, each moved into the domain
    lacking = np.isnan(rows)
    if isinstance(member.domain, (BallPower, CubePower)):  # part of a tensor stands for no record
        lacking = np.any(lacking, axis=1, keepdims=True)
    inside = np.where(lacking, plan.terms.question.missing, rows)
    truth = member.domain.clamp(inside)
    center = plan.terms.question.center
    wanted = (truth - center).sum(axis=0)
    wanted = np.append(wanted, ROWS) if relation == "add_remove" else center + wanted / ROWS
    answers = mechanism.answers(tuple(exact))
    width = np.append(member.domain.upper - member.domain.lower, 1.0)[: wanted.size]
    off = 1e-8 * ROWS * width + ROWS * last_digits(member) + 1e-3 * plan.standard_deviation
    assert np.all(np.abs(answers - wanted) <= off)


@pytest.mark.grid
@able("plan")
def test_a_plan_releases_none_one_and_many_records(member):
    """A release that fails once its budget is taken has lost it."""
    plan = planned(member, "add_remove")
    for count in (0, 1, ROWS):
        frame = pd.DataFrame(table(member)[:count], columns=plan.terms.question.columns)
        assert np.all(np.isfinite(plan.release(frame).estimate))
