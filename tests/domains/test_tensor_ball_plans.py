# SPDX-License-Identifier: Apache-2.0
"""Plans and releases of moment tensors of the ball: against lists, exactly, and attacked."""

import copy
import json
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from flint import arb, ctx

import lownoise as ln
from drawn import powers as tensors
from edits import changed, leaves, put
from exact_norms import square
from lownoise.certificate import OrthantDual, RotationDual
from lownoise.engines import Totals
from lownoise.errors import DomainError, FileError, PlanError, QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.relations import sensitivity_set
from lownoise.sets.bodies import PointDifferences, SymmetricPoints, TensorBall, TensorChanges
from lownoise.sets.bodies.harmonics import axes, kernels, monomials, multiplicities
from lownoise.solvers import solve
from refusals import refused_plan, sealed

ORDERS = (2.0, 3.0, math.inf)
RELATIONS = ("substitute", "add_remove")
SIZES = [(2, 1), (2, 2), (3, 2), (3, 3), (2, 4), (3, 4)]


def columns(domain):
    return [f"c{i}" for i in range(domain.dimension)]


def sphere(count, size, seed=0):
    x = np.random.default_rng(seed).normal(size=(count, size))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def in_ball(count, size, radius, seed=0):
    """Half of them on the sphere, some of those axes and diagonals, one of them 0."""
    rng = np.random.default_rng(seed)
    x = radius * sphere(count, size, seed)
    x[count // 2 :] *= rng.uniform(size=(count - count // 2, 1))
    x[:size], x[size] = radius * np.eye(size), radius / math.sqrt(size)
    x[-1] = 0.0
    return x


def planned(domain, relation, **extra):
    question = ln.Mean(columns(domain), domain, **extra.pop("question", {}))
    size = 100 if relation == "substitute" else None
    extra = {"budget": ln.zcdp(0.5), "mechanism": "gaussian", **extra}
    return ln.plan(question, relation=relation, size=size, **extra)


@pytest.mark.parametrize(("size", "power"), [*SIZES, (2, 7), (4, 5)])
def test_kernels_are_those_of_the_harmonic_parts(size, power):
    parts, own = TensorBall(size, power, 1.0, differences=False).parts, kernels(size, power)
    often = multiplicities(size, power)
    assert len(own) == len(parts.degrees)
    dense = [kernel.toarray() for kernel in own]
    np.testing.assert_allclose(sum(dense), np.diag(1 / often), atol=1e-14)
    for kernel, dimension in zip(dense, parts.dimensions, strict=True):
        np.testing.assert_allclose(kernel * often @ kernel, kernel, atol=1e-13)
        assert np.sum(np.diag(kernel) * often) == pytest.approx(dimension)
    # |Πₖw|² is aₖ for every tensor w of a unit vector
    m = np.prod(sphere(9, size)[:, None, :] ** monomials(size, power), axis=2)
    for kernel, share in zip(dense, parts.shares, strict=True):
        length = np.sum((m * often) @ kernel * (m * often), axis=1)
        np.testing.assert_allclose(length, share, rtol=1e-10, atol=1e-14)
    bases, off = axes(size, power)
    assert off < 1e-11
    for columns_of, kernel in zip(bases, dense, strict=True):
        projection = np.sqrt(often)[:, None] * kernel * np.sqrt(often)
        np.testing.assert_allclose(columns_of @ columns_of.T, projection, atol=off)


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("size", "power"), [*SIZES, (2, 5)])
def test_reach_is_never_less_than_that_of_points(size, power, relation):
    ball, rng = ln.TensorPower(size, power, "ball", 1.3), np.random.default_rng(power)
    center = rng.uniform(ball.lower, ball.upper)
    body = sensitivity_set(ball, relation, center)
    m = tensors(in_ball(600, size, 1.3), power)[:, ball.pivots]
    moved = m - m[rng.permutation(len(m))]
    if relation == "add_remove":
        moved = np.hstack([m - center[ball.pivots], np.ones((len(m), 1))])
    zero = np.zeros(body.dimension)
    for rows in (1, 2, body.dimension, 3 * body.dimension):
        matrix = rng.normal(size=(rows, body.dimension)) * 10.0 ** rng.integers(-3, 4, (rows, 1))
        far = np.linalg.norm(moved @ matrix.T, axis=1)
        assert np.max(far) <= body.length_up(matrix, zero)
        assert body.length_up(2**40 * matrix, zero) == pytest.approx(
            2**40 * body.length_up(matrix, zero), rel=1e-9
        )
        extent = body.extent_up(matrix, zero)
        assert np.all(np.max(np.abs(moved @ matrix.T), axis=0) <= extent)
        if power < 3:  # exact but for what is not sampled
            assert np.all(extent <= 1.25 * np.max(np.abs(moved @ matrix.T), axis=0))
    assert body.length_up(np.zeros((3, body.dimension)), zero) == 0
    assert body.length_up(np.full((1, body.dimension), math.inf), zero) == math.inf
    for factor in (4.0, 2.0**-60):
        assert np.array_equal(body.scaled(factor).widths(), factor * body.widths())
    np.testing.assert_array_less(np.max(np.abs(moved), axis=0), body.widths() * (1 + 1e-12))


def listed(ball, relation, count=48):
    """The body of a fine circle and 0, and what is asked of it, by the definition of changes."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    x = np.vstack([ball.radius * np.stack([np.cos(angles), np.sin(angles)], 1), np.zeros((1, 2))])
    m = np.unique(tensors(x, ball.power)[:, ball.pivots].round(13), axis=0)
    if relation == "substitute":
        return PointDifferences(m)
    about = m - ball.center[ball.pivots]
    return SymmetricPoints(np.hstack([about, np.ones((len(m), 1))]))


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_in_the_plane_it_is_the_least_noise_around_a_fine_circle(power, relation, order):
    """Both bounds are proved; points of the ball need at most as much, and hardly less."""
    ball = ln.TensorPower(2, power, "ball", 1.5)
    answers = ball.coordinates().answers(ball.center if relation == "add_remove" else None)
    count = len(answers) if answers is not None else 2 + (relation == "add_remove")
    weights = np.ones(count)
    if relation == "add_remove":
        weights[-1] = 0.4
    asked = {"order": order, "weights": weights, "queries": answers}
    found = solve(sensitivity_set(ball, relation, ball.center), **asked).claim.certificate()
    general = solve(listed(ball, relation), **asked).claim.certificate()
    found.verify()
    assert general.lower <= found.upper * (1 + 1e-9)
    assert found.lower <= general.upper / math.cos(power * math.pi / 48) * (1 + 1e-9)
    if order == 2 or power < 3:
        assert found.gap < 1e-6
        assert found.upper == pytest.approx(general.upper, rel=0.01)
    if power == 3:  # the noise is the least there too, though nothing proves it
        assert found.upper == pytest.approx(general.upper, rel=0.01)


def test_in_space_it_is_the_least_noise_around_many_points():
    ball, rng = ln.TensorPower(3, 2, "ball"), np.random.default_rng(0)
    m = tensors(np.vstack([in_ball(9, 3, 1.0), sphere(180, 3)]), 2)[:, ball.pivots]
    lifted = np.hstack([m - ball.center[ball.pivots], np.ones((len(m), 1))])
    answers = ball.coordinates().answers(ball.center)
    for order in ORDERS:
        weights = np.append(np.ones(9), rng.uniform(0.2, 0.8))
        asked = {"order": order, "weights": weights, "queries": answers}
        found = solve(sensitivity_set(ball, "add_remove", ball.center), **asked)
        general = solve(SymmetricPoints(lifted), **asked).claim.certificate()
        own = found.claim.certificate()
        assert own.gap < 1e-6
        assert general.lower <= own.upper * (1 + 1e-9)
        assert own.upper == pytest.approx(general.upper, rel=0.03)


@pytest.mark.parametrize("relation", RELATIONS)
def test_evidence_is_of_true_changes_alone(relation):
    """No measure proves more than the noise that covers everything, whatever its masses say."""
    rng = np.random.default_rng(4)
    for size, power in ((2, 2), (3, 3), (3, 2)):
        ball = ln.TensorPower(size, power, "ball", 1.2)
        plan = planned(ball, relation, order=3.0)
        terms = plan.terms
        body, answers = terms.view.body, terms.mechanism.totals.embed
        upper = terms.certificate.upper * terms.parameter * (terms.size or 1)
        parts = (body, 3.0, terms.weights, answers)
        for _ in range(20):
            c = rng.exponential(size=terms.weights.size) ** 3
            pairs = 0 if relation == "add_remove" else 5
            dual = RotationDual(
                float(rng.uniform()),
                10 * rng.exponential(size=pairs),
                rng.uniform(-1, 1, pairs),
                c,
            )
            assert dual.least(*parts) <= upper
            if power == 2:
                masses = rng.exponential(size=4 if relation == "substitute" else 2) * 5
                assert OrthantDual(masses, c).least(*parts) <= upper
        none = np.zeros(0)
        for wrong in (
            RotationDual(1.5, none, none, c),
            RotationDual(0.5, np.ones(2), np.ones(1), c),
            RotationDual(0.5, np.ones(1), np.full(1, 1.5), c),
            RotationDual(0.5, -np.ones(1), np.ones(1), c),
            RotationDual(0.5, none, none, c[:-1]),
            OrthantDual(np.ones(3), c),
            OrthantDual(-np.ones(2 if relation == "add_remove" else 4), c),
        ):
            with pytest.raises(PlanError, match="Dual"):
                wrong.least(*parts)
        assert RotationDual(1.0, none, none, 0 * c).least(*parts) == 0


# An order shapes the noise and a budget scales it, each by itself: either relation has them all,
# each tensor most of them
BUDGETS = [(ln.zcdp(0.5), p) for p in ORDERS]
BUDGETS += [(ln.zcdp(1e-6), math.inf), (ln.approx_dp(1.0, 1e-6), 3.0)]
PAIRS = [(relation, *of) for relation in RELATIONS for of in [(2, 1), (2, 2), (3, 3), (2, 4)]]
COVERED = [(*pair, *BUDGETS[(i + j) % 5]) for i, pair in enumerate(PAIRS) for j in (0, 2)]


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("relation", "size", "power", "budget", "order"), COVERED)
def test_what_is_revealed_is_covered_exactly(size, power, relation, order, budget):
    ball = ln.TensorPower(size, power, "ball", 1.1)
    plan = planned(ball, relation, order=order, budget=budget, rtol=1e-3)
    mechanism = plan.terms.mechanism
    codes = mechanism.totals.query.coding.encode(tensors(in_ball(60, size, 1.1), power)).tolist()
    if relation == "add_remove":
        changes = [[*map(Fraction, x), 1 / Fraction(mechanism.totals.count_step)] for x in codes]
    else:
        opposite = [x for x in codes[:20] for _ in codes[:20]]
        other = codes[:20] * 20 if power % 2 == 0 else [[-k for k in x] for x in opposite]
        pairs = zip(opposite, other, strict=True)
        changes = [[Fraction(a - b) for a, b in zip(x, y, strict=True)] for x, y in pairs]
    worst, mu = square(mechanism.noise.shape.factor, changes), Fraction(mechanism.loss.mu)
    assert worst <= mu**2
    assert worst >= mu**2 * (1 - Fraction(1, 10**6 if power % 2 else 8))
    assert mechanism.loss.mu <= plan.terms.parameter
    assert mechanism.loss.mu >= plan.terms.parameter * (1 - 1e-6)
    assert plan.verify()


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("size", "power"), [(3, 1), (3, 2), (3, 3), (2, 4)])
def test_a_release_is_written_read_and_right(tmp_path, size, power, relation):
    ball = ln.TensorPower(size, power, "ball", 2.0)
    rows = tensors(in_ball(100, size, 2.0), power)
    table = pd.DataFrame(rows, columns=columns(ball))
    plan = planned(ball, relation, budget=ln.zcdp(1e6))
    path = tmp_path / "plan.json"
    plan.save(path)
    again = ln.Plan.from_json(path.read_text())
    assert again.to_json() == plan.to_json()
    assert ln.verify(plan.to_json())
    release = again.release(table)
    assert ln.verify(release.to_json())
    assert ln.Release.from_json(release.to_json()).to_json() == release.to_json()
    estimate = release.mean
    noise = release.standard_deviation[: ball.dimension] / (1 if release.terms.size else 100)
    assert np.all(np.abs(estimate - rows.mean(axis=0)) <= 6 * noise + 0.01 * ball.value)
    # copies of one entry are released as one number
    assert len(np.unique(release.estimate[: ball.dimension])) == len(ball.pivots)


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_answers_are_unbiased_and_their_noise_is_what_it_says(relation):
    """4,000 runs on two records: means within 5.5 deviations, variances within 5.5 of theirs."""
    ball = ln.TensorPower(2, 2, "ball")
    rows = tensors(np.array([[0.6, 0.8], [-0.3, 0.1]]), 2)
    question = ln.Mean(columns(ball), ball)
    size = 2 if relation == "substitute" else None
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation=relation, size=size)
    mechanism = plan.terms.mechanism
    totals = Totals(2, tuple(mechanism.totals.query.coding.sums(list(rows.T))))
    randomness, n = SimulationRandomness(7), 4000
    runs = [mechanism.answers(mechanism.run(totals, randomness=randomness)) for _ in range(n)]
    exact = rows.mean(axis=0)
    if relation == "add_remove":
        exact = np.append(np.sum(rows - ball.center, axis=0), 2.0)
    error = np.array(runs) - exact
    deviation = plan.standard_deviation
    assert np.all(np.abs(np.mean(error, axis=0)) <= 5.5 * deviation / math.sqrt(n))
    variance = np.mean(np.square(error / deviation), axis=0)
    assert np.all(np.abs(variance - 1) <= 5.5 * math.sqrt(2 / n))
    covariance = error.T @ error / n
    off = np.abs(covariance - plan.covariance) / np.outer(deviation, deviation)
    assert np.max(off) <= 5.5 * math.sqrt(2 / n)


@pytest.mark.parametrize(("size", "power"), [(2, 1), (3, 2), (2, 3), (3, 4), (2, 9)])
def test_a_clamped_record_is_within_its_rounding_of_a_tensor(size, power):
    """The tensor is found again from the largest fibre, and multiplied with 200 bits."""
    rng = np.random.default_rng(power)
    ball = ln.TensorPower(size, power, "ball", 0.7)
    rows = rng.normal(size=(40, size**power)) * 10.0 ** rng.integers(-9, 9, (40, 1))
    rows[:20] = tensors(in_ball(20, size, 0.9, seed=power), power)
    before, ctx.prec = ctx.prec, 200
    try:
        for row in ball.clamp(rows):
            top = int(np.argmax(np.abs(row)))
            if not row[top]:
                assert not np.any(row)
                continue
            fibre = row.reshape(-1, size)[top // size]
            # of the entry with the largest index alone, i…i, which some row of tensors has
            at = int(np.argmax(np.abs(fibre)))
            x = [arb(float(v)) / arb(float(fibre[at])) for v in fibre]
            power_sum = sum((v * v for v in x), arb(0))
            i = sum(at * size**j for j in range(power))
            own = float(row[i])
            long = arb(abs(own)) ** (arb(1) / power)  # the length of x's entry `at`
            x = [v * long * (1 if own > 0 or power % 2 == 0 else -1) for v in x]
            length = (power_sum * long * long).sqrt()
            shrink = min(float((arb(ball.radius) / length).lower()), 1.0)
            assert shrink > 1 - 1e-12
            x = [v * arb(shrink) for v in x]
            for entry in range(size**power):
                product = arb(1)
                for j in range(power):
                    product *= x[entry // size**j % size]
                off = abs(product - arb(float(row[entry])))
                # what the fibre's own last bits say of x comes on top
                assert off <= 3 * arb(float(ball.rounding[entry]) + ball.value * power * 2.0**-51)
    finally:
        ctx.prec = before


def test_codes_do_not_depend_on_other_records():
    """A row's arithmetic must not care where it stands, or one record would move others."""
    rng = np.random.default_rng(8)
    for size, power in ((3, 1), (3, 2), (2, 3), (2, 5)):
        ball = ln.TensorPower(size, power, "ball", 0.9)
        coding = planned(ball, "add_remove").terms.mechanism.totals.query.coding
        rows = rng.normal(size=(1037, size**power)) * 10.0 ** rng.integers(-200, 4, (1037, 1))
        rows[5, 0], rows[6, 0], rows[7] = np.inf, -np.inf, 1e308
        codes = coding.encode(rows)
        for start in (1, 2, 3, 500, 1036):
            assert np.array_equal(coding.encode(rows[start:]), codes[start:])
        assert np.array_equal(coding.encode(rows[::-1]), codes[::-1])
        assert np.array_equal(coding.encode(rows[11]), codes[11])
        assert coding.sums(list(rows.T)) == [sum(k) for k in codes.T.tolist()]
        most = (ball.extent[ball.pivots] + ball.rounding[ball.pivots]) / coding.step + coding.slack
        assert np.all(np.abs(codes) <= most)


def test_a_row_that_lacks_a_value_is_the_stand_in_as_a_whole():
    ball = ln.TensorPower(2, 2, "ball")
    stand_in = tensors(np.array([[0.6, 0.7]]), 2)[0]
    plan = planned(ball, "add_remove", question={"missing": stand_in})
    coding = plan.terms.mechanism.totals.query.coding
    row = np.array([1.0, 0.0, 0.0, np.nan])
    assert np.array_equal(coding.encode(row[None]), coding.encode(stand_in[None]))
    assert any("as a whole" in line for line in plan.terms.assumptions)
    assert ball.contains(ln.Mean(columns(ball), ball).missing)
    # of power 1 each value stands for itself
    line = ln.TensorPower(2, 1, "ball")
    coding = planned(line, "add_remove").terms.mechanism.totals.query.coding
    half = coding.encode(np.array([[0.5, np.nan], [0.5, 0.0]]))
    assert np.array_equal(half[0], half[1])


@pytest.mark.grid(0, least=2)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("size", "power"), [(2, 1), (2, 2), (3, 3), (6, 2)])
def test_the_count_takes_about_its_share(size, power, order):
    ball = ln.TensorPower(size, power, "ball")
    near = 1e-9 if ball.odd or order == 2 else 1e-4
    alone = ln.theory.enclose(ball, order=order, rtol=near).certificate.upper
    for share in (0.05, 0.3):
        plan = planned(ball, "add_remove", order=order, count_share=share, rtol=near)
        sums = np.linalg.norm(plan.standard_deviation[:-1], ord=order)
        wanted = 1 / math.sqrt(1 - share)
        assert 1 <= sums / alone * (1 + 1e-9) <= (wanted * 1.001 if order == 2 else 1.25)
        if ball.odd:
            assert sums == pytest.approx(alone * wanted, rel=1e-6)
            assert plan.standard_deviation[-1] == pytest.approx(1 / math.sqrt(share), rel=1e-6)


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("order", ORDERS)
def test_other_weights_and_centers_are_planned_with_an_honest_gap(relation, order):
    rng = np.random.default_rng(1)
    for size, power in ((2, 2), (3, 3)):
        ball = ln.TensorPower(size, power, "ball")
        center = ball.clamp(rng.normal(size=ball.dimension)) / 2
        weights = rng.uniform(0.5, 2, ball.dimension)
        plan = planned(ball, relation, order=order, weights=weights, question={"center": center})
        assert plan.verify()
        assert 0 < plan.certificate.gap < 1.0
        assert plan.cost.mu <= 1
        assert ln.Plan.from_json(plan.to_json()).to_json() == plan.to_json()


DOCUMENTED = (("substitute", 2.0), ("add_remove", 2.0), ("add_remove", math.inf))


@cache
def documents():
    ball, found = ln.TensorPower(2, 2, "ball"), {}
    rows = pd.DataFrame(tensors(in_ball(100, 2, 1.0), 2), columns=columns(ball))
    for relation, order in DOCUMENTED:
        plan = planned(ball, relation, order=order)
        found[f"plan {relation} {order}"] = plan.to_json()
        found[f"release {relation} {order}"] = plan.release(rows).to_json()
    return found


NAMES = [
    f"{kind} {relation} {order}" for relation, order in DOCUMENTED for kind in ("plan", "release")
]
HARMLESS = {"columns", "missing", "drops_missing", "created", "versions", "spend"}


@pytest.mark.grid(0, least=2)
@pytest.mark.parametrize("name", NAMES)
def test_every_edit_that_mends_the_digest_is_noticed_where_it_matters(name):
    original = json.loads(documents()[name])
    first = ln.verify(documents()[name])
    assert first
    for path, _ in leaves(original):
        words = set(map(str, path))
        if path == ("digest",) or HARMLESS & words:
            continue
        # it moves no difference: only a release's answers show it, and only of what is summed
        if "substitute" in name and "center" in words and (name[:4] == "plan" or path[-1] == 2):
            continue
        try:
            found = ln.verify(sealed(put(original, path, changed)))
        except FileError:
            continue
        # evidence and noise of the same numbers, up to what machines differ by, are as good
        if found:
            assert words & {"evidence", "factor"}, path
            assert proved(found) == pytest.approx(proved(first), rel=1e-9, abs=0), path


def proved(found):
    """Return both sides of the certificate and the lower bound, as they were computed again."""
    own = {check.name: check.found for check in found.checks}
    sides = json.loads(own["certificate as stated"])
    return [sides["lower"], sides["upper"], json.loads(own["lower_bound as stated"])]


def test_noise_of_another_tensor_does_not_verify():
    """The same numbers under a wider ball, or as choices of signs, or with less noise."""
    document = json.loads(documents()["plan substitute 2.0"])
    for field, value in (("radius", 1.0 + 1e-6), ("of", "cube"), ("power", 3), ("dimension", 3)):
        forged = copy.deepcopy(document)
        forged["terms"]["question"]["tensor"][field] = value
        assert not ln.verify(sealed(forged))
    for i in range(3):
        forged = copy.deepcopy(document)
        row = forged["terms"]["noise"]["factor"][i]
        forged["terms"]["noise"]["factor"][i] = [0.999 * v for v in row]
        refused_plan(sealed(forged), "too small for the budget")


def test_with_a_body_of_changes_it_is_released_too():
    ball = ln.TensorPower(2, 2, "ball")
    nudges = ln.Points([[0.1, 0.0, 0.0, -0.1], [0.0, 0.05, 0.05, 0.0]])
    plan = ln.plan(ln.Mean(columns(ball), ball), budget=ln.zcdp(0.5), relation=nudges, size=1000)
    assert plan.verify()
    assert plan.certificate.gap < 1e-6
    assert plan.lower_bound == 0  # K is not convex: no record has room for such changes
    assert ln.Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    for body in (ln.difference_body(ball), ball):
        with pytest.raises(DomainError, match="no known hull"):
            ln.plan(ln.Mean(columns(ball), ball), budget=ln.zcdp(1), relation=body, size=9)


def test_what_does_not_fit_is_refused():
    ball, large = ln.TensorPower(3, 2, "ball"), ln.TensorPower(30, 3, "ball")
    for domain in (large, ln.TensorPower(4000, 1, "ball")):
        with pytest.raises(DomainError, match=r"10\^7"):
            planned(domain, "add_remove")
    with pytest.raises(QuestionError, match="one name a coordinate"):
        ln.Mean(["x", "y", "z"], ball)
    with pytest.raises(QuestionError, match="not a point"):
        ln.Mean(columns(ball), ball, missing=ball.center)
    with pytest.raises(QuestionError, match="outside"):
        ln.Mean(columns(ball), ball, center=np.full(9, 2.0))
    with pytest.raises(PlanError, match="size"):
        TensorChanges(TensorBall(3, 2, 1.0, differences=True), np.ones(5), np.zeros(5))
    with pytest.raises(PlanError, match="last"):
        TensorChanges(TensorBall(3, 2, 1.0, differences=True), np.ones(6), np.zeros(6), 1.0)
    body = sensitivity_set(ball, "substitute", ball.center)
    assert body.radius_up(DenseShape(np.diag([1.0, 1, 1, 1, 1, 1e-200]))) > 1e150
    thin = np.eye(6)
    thin[0] = 0.0
    assert body.radius_up(DenseShape(thin)) == math.inf


def test_an_interrupted_search_is_still_a_plan():
    ball = ln.TensorPower(3, 2, "ball")

    def stop(_at):
        raise KeyboardInterrupt

    for relation in RELATIONS:
        plan = planned(ball, relation, order=3.0, progress=stop)
        assert plan.verify()
        assert plan.cost.mu <= 1


def test_a_record_at_zero_counts_where_it_is_the_farthest():
    """About the mean of the sphere the trace of a record less the count is r − 1: −1 at x = 0."""
    for size, power in ((2, 2), (3, 2), (2, 4)):
        ball = ln.TensorPower(size, power, "ball")
        body = sensitivity_set(ball, "add_remove", ball.center)
        fold = np.zeros(body.dimension)
        # |x|^ℓ is the sum of its monomials, each as often as in the multinomial theorem of x²
        for i, alpha in enumerate(monomials(size, power)):
            if np.all(alpha % 2 == 0):
                halves = [math.factorial(int(a) // 2) for a in alpha]
                fold[i] = math.factorial(power // 2) / math.prod(halves)
        assert body.mean @ fold[:-1] == pytest.approx(1)
        fold[-1] = float(body.offset @ fold[:-1]) - 1  # at r: r − 1
        assert body.length_up(fold[None], np.zeros(body.dimension)) >= 1 - 1e-12
        many = np.repeat(fold[None], 20, axis=0)
        assert body.length_up(many, np.zeros(body.dimension)) >= math.sqrt(20) * (1 - 1e-12)


def test_what_cancels_does_not_hide_what_rounding_does():
    """At x = 0 a change is (−offset, 1): its image, exactly, where floats lose most of it."""
    rng, ball = np.random.default_rng(3), TensorBall(2, 2, 1.0, differences=False)
    for _ in range(200):
        body = TensorChanges(ball, np.full(3, 2.0**-70), rng.uniform(1, 2, 3), 1.0)
        row = rng.normal(size=4)
        row[3] = row[:3] @ body.offset
        exact = Fraction(row[3]) - sum(
            Fraction(a) * Fraction(b) for a, b in zip(row[:3], body.offset, strict=True)
        )
        row[:3] *= 2.0**-60  # so that the cancelled part is all there is
        row[3] *= 2.0**-60
        far = body.length_up(row[None], np.zeros(4))
        seen = sum((Fraction(a) * Fraction(2) ** -70) ** 2 for a in row[:3])
        assert Fraction(far) >= abs(exact) * Fraction(2) ** -60
        assert Fraction(far) ** 2 <= 100 * (seen + Fraction(2) ** -180)


def test_rounding_is_no_less_than_what_minors_show():
    """Of a tensor within ε of x ⊗ x the minor ad − bc is at most ε(|a| + |b| + |c| + |d|) + 2ε²."""
    ball, shown = ln.TensorPower(2, 2, "ball", 0.7), 0
    off = [Fraction(float(v)) for v in ball.rounding]
    for row in ball.clamp(tensors(in_ball(400, 2, 0.9), 2)):
        a, b, c, d = (Fraction(float(v)) for v in row)
        minor = abs(a * d - b * c)
        shown += minor > 0
        first = off[0] * abs(d) + off[3] * abs(a) + off[1] * abs(c) + off[2] * abs(b)
        assert minor <= first + off[0] * off[3] + off[1] * off[2]
    assert shown > 50
