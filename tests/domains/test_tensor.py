# SPDX-License-Identifier: Apache-2.0
"""Moment tensors: the least noise against listed points and published bounds; exact releases."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from drawn import powers as tensors
from exact_norms import coded_changes, square
from lownoise.engines import SignCoding, Totals
from lownoise.errors import DomainError, FileError, PlanError, QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sets.domains import CubePower
from lownoise.sets.unit_balls.parity import choices

ORDERS = (2.0, 3.0, math.inf)
SIZES = [(d, power) for d in (2, 3, 4) for power in (1, 2, 3)] + [(4, 4), (2, 5)]
RELATIONS = ("substitute", "add_remove")


def every(d, power, radius=1.0):
    return tensors(radius * choices(np.arange(2**d), d), power)


def listed(d, power, radius=1.0):
    return ln.Points(np.unique(every(d, power, radius), axis=0))


def columns(domain):
    return [f"c{i}" for i in range(domain.dimension)]


def brackets(one, other):
    """Both are proved, so neither's lower bound may exceed the other's upper one."""
    one.verify()
    assert one.lower <= other.upper * (1 + 1e-12)
    assert other.lower <= one.upper * (1 + 1e-12)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("d", "power"), SIZES)
def test_the_least_noise_is_that_of_the_listed_tensors(d, power, order):
    cube, points = ln.TensorPower(d, power, radius=1.5), listed(d, power, 1.5)
    for one, other in (
        (cube, points),
        (ln.difference_body(cube), ln.difference_body(points)),
    ):
        found, general = ln.theory.enclose(one, order=order), ln.theory.enclose(other, order=order)
        brackets(found.certificate, general.certificate)
        assert found.certificate.gap < 1e-8
        assert general.certificate.gap < 1e-6
        body = points.points if one is cube else other.base.points[:, None] - other.base.points
        for s in body.reshape(-1, d**power):
            assert found.shape.quadratic_form(s - found.center) <= 1 + 1e-8


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("d", "power"), [(2, 2), (3, 2), (3, 3), (4, 4)])
@pytest.mark.parametrize("asked", ["weights", "workload"])
def test_other_questions_of_it_too(d, power, order, asked):
    rng = np.random.default_rng(d + power)
    extra = {
        "weights": {"weights": rng.uniform(0.5, 2, d**power)},
        "workload": {"workload": rng.normal(size=(3, d**power))},
    }[asked]
    cube, points = ln.TensorPower(d, power), listed(d, power)
    for one, other in ((cube, points), (ln.difference_body(cube), ln.difference_body(points))):
        found = ln.theory.enclose(one, order=order, **extra)
        brackets(found.certificate, ln.theory.enclose(other, order=order, **extra).certificate)
        assert found.certificate.gap < 1e-5
        assert found.shape.dimension == d**power


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("d", "power"), SIZES)
def test_a_plan_has_the_noise_of_the_listed_tensors(d, power, relation, order):
    cube, points = ln.TensorPower(d, power), listed(d, power)
    size = 10 if relation == "substitute" else None
    plans = [
        ln.plan(
            ln.Mean(columns(cube), domain, center=cube.center),
            budget=ln.zcdp(0.5),
            relation=relation,
            size=size,
            order=order,
        )
        for domain in (cube, points)
    ]
    assert plans[0].objective == pytest.approx(plans[1].objective, rel=2e-6)
    assert plans[0].lower_bound == pytest.approx(plans[1].lower_bound, rel=2e-6)
    assert plans[0].certificate.gap < 1e-8
    assert plans[0].verify()


def moment_norm(d, power, order):
    """Γ_p(cube) from the formula, each multi-index counted in plain Python."""
    counts = {}
    for index in itertools.product(range(d), repeat=power):
        odd = frozenset(i for i in index if index.count(i) % 2)
        if odd:
            counts[odd] = counts.get(odd, 0) + 1
    if math.isinf(order):
        return math.sqrt(len(counts))
    return sum(n ** (2 / (order + 2)) for n in counts.values()) ** ((order + 2) / (2 * order))


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 2.5, 4.0, 50.0, math.inf])
@pytest.mark.parametrize(
    ("d", "power"), [(2, 2), (4, 2), (6, 2), (6, 3), (9, 3), (4, 4), (8, 4), (5, 1), (3, 6)]
)
def test_the_exact_value_lies_within_the_published_bounds(d, power, order):
    """002, Theorem 64, first line; for the cube it holds as displayed."""
    exact = ln.theory.enclose(ln.TensorPower(d, power), order=order).certificate
    exponent = power / order + power / 2
    assert (d / power) ** exponent <= exact.upper
    assert exact.lower <= d**exponent * (1 + 1e-12)
    assert exact.upper == pytest.approx(moment_norm(d, power, order), rel=1e-9)
    assert exact.gap < 1e-9


def test_the_published_bounds_need_two_dimensions():
    """Of d = 1 and an even power only a point is left, which needs no noise: no bound holds."""
    only = ln.TensorPower(1, 2)
    assert ln.theory.enclose(only).certificate.upper == 0 < (1 / 2) ** 2


def test_differences_of_an_even_power_need_up_to_the_root_of_two_less():
    """Σ (x_S − y_S)² over pairs is 4w(d − w), w signs being different, not 4·d(d − 1)/2."""
    for d, saved in ((2, 1.0), (3, 1.5), (30, 435 / 225)):
        cube = ln.TensorPower(d, 2)
        alone = ln.theory.enclose(cube).certificate.upper
        pairs = ln.theory.enclose(ln.difference_body(cube)).certificate.upper
        assert 2 * alone / pairs == pytest.approx(math.sqrt(saved), rel=1e-9)
    odd = ln.TensorPower(4, 3)
    assert ln.theory.enclose(ln.difference_body(odd)).certificate.upper == pytest.approx(
        2 * ln.theory.enclose(odd).certificate.upper
    )


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("d", "power"), [(30, 2), (30, 3), (6, 4), (70, 3)])
def test_many_dimensions_are_never_listed(d, power, order):
    cube = ln.TensorPower(d, power, radius=2.0)
    for domain in (cube, ln.difference_body(cube)):
        found = ln.theory.enclose(domain, order=order)
        assert found.certificate.gap < 1e-7
        found.certificate.verify()
        assert found.center.shape == (d**power,)
        assert found.shape.deviations().shape == (d**power,)
    theta = np.random.default_rng(0).normal(size=d**power)
    x = tensors(np.random.default_rng(1).choice([-2.0, 2.0], size=(3, d)), power)
    assert np.all(x @ theta <= cube.support(theta))
    assert np.array_equal(cube.clamp(x), x)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("d", "power", "off"), [(3, 2, 0.0), (3, 2, 0.3), (3, 3, 0.1), (4, 4, 0)])
def test_what_is_revealed_is_covered_exactly(d, power, off, relation, order):
    cube = ln.TensorPower(d, power, radius=1.1)
    center = np.where(cube.copies < 0, cube.value, off * np.linspace(-1, 1, d**power))
    plan = ln.plan(
        ln.Mean(columns(cube), cube, center=center),
        budget=ln.zcdp(0.5),
        relation=relation,
        size=7 if relation == "substitute" else None,
        order=order,
    )
    mechanism = plan.terms.mechanism
    codes = np.unique(mechanism.totals.query.coding.encode(every(d, power, 1.1)), axis=0)
    worst = square(mechanism.noise.shape.factor, coded_changes(mechanism, codes))
    assert worst <= Fraction(mechanism.loss.mu) ** 2
    assert mechanism.loss.mu <= 1.0
    if not off:
        assert worst >= Fraction(mechanism.loss.mu) ** 2 * (1 - Fraction(1, 10**6))
    assert plan.verify()


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("d", "power"), [(3, 2), (3, 3), (23, 2)])
def test_a_release_is_written_read_and_right(tmp_path, d, power, relation):
    rng = np.random.default_rng(5)
    cube = ln.TensorPower(d, power)
    rows = tensors(rng.choice([-1.0, 1.0], size=(40, d), p=[0.3, 0.7]), power)
    table = pd.DataFrame(rows, columns=columns(cube))
    plan = ln.plan(
        ln.Mean(columns(cube), cube),
        budget=ln.zcdp(1e6),  # so little noise that the answers are what they should be
        relation=relation,
        size=40 if relation == "substitute" else None,
    )
    path = tmp_path / "plan.json"
    plan.save(path)
    again = type(plan).from_json(path.read_text())
    assert again.to_json() == plan.to_json()
    assert ln.verify(plan.to_json())
    release = again.release(table)
    assert ln.verify(release.to_json())
    estimate = release.estimate
    if relation == "add_remove":
        estimate = cube.center + estimate[:-1] / estimate[-1]
    np.testing.assert_allclose(estimate, rows.mean(axis=0), atol=1e-2)
    # copies of one product of signs are released as one number
    assert len(np.unique(estimate)) <= cube.base.dimension + 1
    assert np.all(release.standard_deviation[: d**power][cube.copies < 0] == 0)


def test_a_damaged_file_is_refused():
    plan = ln.plan(
        ln.Mean(columns(ln.TensorPower(2, 2)), ln.TensorPower(2, 2)),
        budget=ln.zcdp(0.5),
        relation="add_remove",
    )
    text = plan.to_json()
    assert not ln.verify(text.replace('"radius": 1.0', '"radius": 2.0'))
    with pytest.raises((FileError, QuestionError, DomainError)):
        type(plan).from_json(text.replace('"power": 2', '"power": 3'))


def test_records_are_moved_to_a_tensor():
    rng = np.random.default_rng(11)
    for d, power in ((3, 2), (4, 3), (3, 4), (5, 1)):
        cube = ln.TensorPower(d, power, radius=0.7)
        exact = every(d, power, 0.7)
        assert all(cube.contains(x) for x in exact)
        assert not cube.contains(1.01 * exact[0])
        rows = rng.normal(size=(50, d**power)) * 10.0 ** rng.integers(-3, 4, (50, 1))
        rows[:3, 0] = np.inf, -np.inf, 1e300
        found = cube.clamp(rows)
        assert all(np.any(np.all(exact == x, axis=1)) for x in found)
        # a tensor with every sixteenth entry spoilt comes back
        spoilt = np.where(rng.uniform(size=exact.shape) < 1 / 16, 0.0, exact)
        if power == 3:
            assert np.array_equal(cube.clamp(spoilt), exact)


def test_a_row_that_lacks_a_value_is_the_stand_in_as_a_whole():
    cube = ln.TensorPower(3, 2)
    stand_in = every(3, 2)[1]
    question = ln.Mean(columns(cube), cube, missing=stand_in)
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    coding = plan.terms.mechanism.totals.query.coding
    row = every(3, 2)[3].copy()
    row[4] = np.nan
    assert np.array_equal(coding.encode(row[None]), coding.encode(stand_in[None]))
    default = ln.Mean(columns(cube), cube)
    assert cube.contains(default.missing)
    with pytest.raises(QuestionError, match="not a point"):
        ln.Mean(columns(cube), cube, missing=cube.center)


def test_its_support_is_that_of_all_tensors():
    rng = np.random.default_rng(2)
    for d, power in ((3, 2), (4, 3), (3, 4)):
        cube, points = ln.TensorPower(d, power, radius=1.5), every(d, power, 1.5)
        for theta in rng.normal(size=(5, d**power)):
            assert cube.support(theta) == pytest.approx(np.max(points @ theta))
            changes = ln.difference_body(cube)
            assert changes.support(theta) == pytest.approx(np.ptp(points @ theta))
        assert changes.contains(points[0] - points[3])
        assert not changes.contains(points[0] - 1.5 * points[3])
        np.testing.assert_allclose(cube.center, points.mean(axis=0), atol=1e-12)
        assert np.array_equal(cube.lower, points.min(axis=0))
        assert np.array_equal(cube.upper, points.max(axis=0))


def test_totals_are_exact_whatever_the_batches():
    cube = ln.TensorPower(3, 2)
    plan = ln.plan(ln.Mean(columns(cube), cube), budget=ln.zcdp(0.5), relation="add_remove")
    mechanism = plan.terms.mechanism
    coding = mechanism.totals.query.coding
    rows = every(3, 2)[np.random.default_rng(0).integers(0, 8, 3000)]
    sums = coding.sums(list(rows.T))
    assert sums == [sum(int(k) for k in column) for column in coding.encode(rows).T]
    noisy = mechanism.run(Totals(3000, tuple(sums)), randomness=SimulationRandomness(1))
    assert len(noisy) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 2), "dimension=0"),
        ((2.5, 2), "dimension=2.5"),
        ((3, 0), "power=0"),
        ((3, True), "power=True"),
        ((3, 2, "sphere"), 'give "cube" or "ball"'),
        ((3, 2, "cube", -1.0), "radius=-1"),
        ((3, 2, "cube", math.inf), "radius=inf"),
        ((3, 2, "cube", math.nan), "radius=nan"),
        ((3, 2, "cube", "x"), "radius='x' is not a number"),
        ((2, 23), "2\\^22"),
        ((3000, 2), "2\\^22"),
        ((3, 2, "cube", 1e60), "radius"),
        ((10, 6, "cube", 1e60), "radius"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(arguments, words):
    with pytest.raises(DomainError, match=words):
        ln.TensorPower(*arguments)


def test_what_is_too_large_to_release_is_refused():
    cube = ln.TensorPower(30, 3)
    with pytest.raises(DomainError, match=r"10\^7"):
        ln.plan(ln.Mean(columns(cube), cube), budget=ln.zcdp(0.5), relation="add_remove")
    with pytest.raises(PlanError, match="difference_body"):
        ln.theory.enclose(ln.TensorPower(13, 2), workload=np.ones((1, 169)))
    with pytest.raises(DomainError, match="10 dimensions"):
        ln.difference_body(cube).contains(np.zeros(27000))
    with pytest.raises(DomainError, match="changes"):
        ln.difference_body(cube).clamp(np.zeros(27000))


def test_what_is_a_point_or_a_number_is_one():
    assert ln.TensorPower(1, 2, radius=3.0).points.tolist() == [[9.0]]
    assert ln.TensorPower(1, 3, radius=2.0).points.tolist() == [[-8.0], [8.0]]
    assert ln.TensorPower(1, 2, "ball", 3.0).upper.tolist() == [9.0]
    assert ln.TensorPower(1, 3, "ball", 3.0).lower.tolist() == [-27.0]
    assert ln.TensorPower(2, 2, radius=0.0).points.tolist() == [[0.0] * 4]
    assert isinstance(ln.TensorPower(2, 1), CubePower)


@pytest.mark.parametrize(("d", "power"), [(3, 1), (3, 2), (3, 3), (4, 2)])
def test_with_a_body_of_changes_noise_covers_what_one_sign_does(d, power):
    """Codes of x and of x with one sign turned, the other changes being left out of the body."""
    cube, signs = ln.TensorPower(d, power, radius=1.5), choices(np.arange(2**d), d)
    codes, bits = cube.tensors(signs), [np.arange(2**d) ^ (1 << i) for i in range(d)]
    body = ln.Points(np.unique(np.vstack([codes - codes[own] for own in bits]), axis=0))
    question = ln.Mean(columns(cube), cube)
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation=body, size=100)
    mechanism = plan.terms.mechanism
    whole = mechanism.totals.query.coding.encode(codes).astype(float)
    far = max(mechanism.noise.shape.quadratic_form(s) for own in bits for s in whole - whole[own])
    assert 0.999 < far <= mechanism.loss.mu**2 <= 1 + 1e-12
    plan.verify()
    assert plan.certificate.gap < 1e-6
    assert ln.Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    other = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=100)
    assert plan.error <= other.error * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_codes_are_within_their_slack_of_what_they_stand_for(seed):
    """In exact arithmetic, on a grid so coarse that rounding is most of it."""
    rng = np.random.default_rng(seed)
    cube = ln.TensorPower(4, 2, radius=float(rng.uniform(1, 2)))
    center = rng.uniform(cube.lower, cube.upper)
    pivots = cube.pivots
    coding = SignCoding(
        columns=tuple(columns(cube)),
        domain=cube,
        center=center,
        missing=cube.clamp(center),
        pivots=pivots,
        step=2.0 ** rng.integers(-3, 1, pivots.size),
    )
    rows = cube.tensors(choices(np.arange(16), 4))
    for row, code in zip(rows, coding.encode(rows), strict=True):
        for j, i in enumerate(pivots):
            exact = (Fraction(row[i]) - Fraction(center[i])) / Fraction(coding.step[j])
            assert abs(Fraction(int(code[j])) - exact) <= Fraction(coding.slack[j])
    assert np.all(coding.slack <= 0.5 + 1e-12)
