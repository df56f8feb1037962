# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import gammainc

from lownoise.bounds import (
    Rounding,
    averaging_bound,
    ball_log_volume,
    directional_bound,
    geometric_down,
    log_mass,
    packing_bound,
    roundings,
    volume_lower_bound,
)
from lownoise.errors import PlanError
from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricBox, SymmetricPoints
from lownoise.sets.unit_balls import NormBall

EPSILONS = (1e-6, 0.1, 1.0, 5.0)
DIMENSIONS = (1, 2, 3, 5, 8, 20, 64)
EPSILON = st.floats(1e-4, 30.0)
DIMENSION = st.integers(1, 80)
KINDS = ("shares", "convex", "lifted", "listed", "vertices")


def cube(d):
    return SymmetricBox(np.ones(d))


def ball(d):
    return ImageBody(np.ones(d), NormBall(d, 2.0))


def cross(d):
    return SymmetricPoints(np.eye(d))


# the root mean square error of the K-norm mechanism at ε = 1: √((d+1)(d+2)·E‖u‖²)
K_NORM = {
    cube: lambda d: math.sqrt((d + 1) * (d + 2) * d / 3),
    ball: lambda d: math.sqrt((d + 1) * d),
    cross: lambda d: math.sqrt(2 * d),
}
LOG_VOLUME = {
    cube: lambda d: d * math.log(2),
    ball: lambda d: d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1),
    cross: lambda d: d * math.log(2) - math.lgamma(d + 1),
}


@pytest.mark.grid
@pytest.mark.parametrize("shape", K_NORM)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_closed_forms_of_shares(shape, d):
    found = averaging_bound(LOG_VOLUME[shape](d), d, epsilon=0.5)
    radius = math.exp((LOG_VOLUME[shape](d) - LOG_VOLUME[ball](d) + math.lgamma(d + 1)) / d)
    assert found == pytest.approx(math.sqrt(d / (d + 2)) * radius / 0.5, rel=1e-9)
    assert volume_lower_bound(shape(d), epsilon=0.5, records="shares").value >= found * (1 - 1e-9)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("shape", K_NORM)
@pytest.mark.parametrize("records", KINDS)
@pytest.mark.parametrize("d", [1, 2, 4, 12])
def test_never_above_the_k_norm_mechanism(shape, records, d):
    """Its noise is private in every model: distances in each are no less than the gauge."""
    for epsilon in EPSILONS:
        found = volume_lower_bound(shape(d), epsilon=epsilon, records=records).value
        assert found <= K_NORM[shape](d) / epsilon


@pytest.mark.grid(3)
@pytest.mark.parametrize("records", ["convex", "lifted", "listed", "vertices"])
def test_never_above_geometric_noise_where_truths_are_whole(records):
    """Counts of d kinds of records: geometric noise on each has the error √d·√(2q)/(1 − q)."""
    for d in (1, 2, 3, 10):
        for epsilon in EPSILONS:
            best = math.sqrt(2 * d) * math.exp(-epsilon / 2) / -math.expm1(-epsilon)
            # whole counts alone are `listed`; the others have more truths, for Laplace noise
            worst = best if records == "listed" else math.sqrt(2 * d) / epsilon
            found = volume_lower_bound(cross(d), epsilon=epsilon, records=records)
            assert found.value <= worst
    assert volume_lower_bound(cross(3), epsilon=0.01, records=records).value > 0.3 * worst_at(0.01)


def worst_at(epsilon):
    return math.sqrt(6) / epsilon


@pytest.mark.parametrize("epsilon", [0.01, 0.3])
@pytest.mark.parametrize(
    ("records", "pieces"), [("convex", 1), ("lifted", 2), ("listed", 5), ("vertices", 6)]
)
def test_what_whole_records_cost(records, pieces, epsilon):
    """√(5/7)·e^{−qε²/40}·(vol·5!/v₅)^{1/5}/ε − √q/2·reach, or whole distances, each k late."""
    volume, reach, most = 40.0, 0.25, 9000
    unit = (volume / (8 * math.pi**2 / 15)) ** 0.2 * math.sqrt(5 / 7)
    rounded = unit * math.exp(-pieces * epsilon**2 / 40) * 120**0.2 / epsilon
    rounded -= math.sqrt(pieces) / 2 * reach
    shells = (math.exp(-epsilon * m) * (m**5 - (m - 1) ** 5) for m in range(1, most + 1))
    complete = unit * math.fsum(shells) ** 0.2
    late = {"convex": 1.0, "vertices": math.exp(-epsilon)}.get(records, 0.0)
    found = [
        averaging_bound(math.log(volume), 5, epsilon=epsilon, most=most, rounding=how, extent=reach)
        for how in roundings(records, 5)
    ]
    assert found[-1] == pytest.approx(rounded, rel=1e-9)
    assert len(found) == (2 if late else 1)
    assert found[0] == pytest.approx(complete * late or rounded, rel=1e-9)


@given(EPSILON, DIMENSION, st.sampled_from(KINDS), st.integers(1, 10**6))
def test_never_above_the_constant_answer(epsilon, k, records, most):
    """Truths within a ball of radius M: answering its center errs by M at most."""
    for how in roundings(records, k):
        found = averaging_bound(
            ball_log_volume(k), k, epsilon=epsilon, most=most, rounding=how, extent=1.0
        )
        assert found <= most


def test_with_hardly_any_privacy_loss_it_is_the_spread_of_a_uniform_truth():
    for k in (1, 4, 30):
        found = averaging_bound(ball_log_volume(k), k, epsilon=1e-9, most=100, rounding=Rounding(0))
        assert found == pytest.approx(100 * math.sqrt(k / (k + 2)), rel=1e-5)


@given(EPSILON, DIMENSION, st.integers(1, 10**5))
def test_averaging_is_never_below_packing(epsilon, k, most):
    args = {"epsilon": epsilon, "most": most}
    assert averaging_bound(0.3, k, **args, rounding=Rounding(0)) >= packing_bound(0.3, k, **args)


def test_what_packing_loses_and_what_a_ball_keeps():
    """√(k/(k+2))·(k!)^{1/k} over k/(2√2e·2^{1/k}) tends to 2√2; the ball's mechanism is e above."""
    k = 4000
    ours = averaging_bound(ball_log_volume(k), k, epsilon=0.1)
    assert ours / packing_bound(ball_log_volume(k), k, epsilon=0.1) == pytest.approx(
        math.sqrt(8), rel=5e-3
    )
    assert K_NORM[ball](k) / 0.1 / ours == pytest.approx(math.e, rel=5e-3)


@given(st.floats(0.01, 3.0), st.integers(1, 12), st.integers(1, 400))
def test_weights_are_sums_over_shells(epsilon, k, most):
    exact = math.fsum(math.exp(-epsilon * m) * (m**k - (m - 1) ** k) for m in range(1, most + 1))
    found = math.exp(log_mass(k, epsilon, most))
    assert exact * (1 - 1e-8) <= found <= exact
    real = math.factorial(k) / epsilon**k * gammainc(k, epsilon * most)
    assert math.exp(log_mass(k, epsilon, most, ceiled=False)) == pytest.approx(real, rel=1e-7)
    assert math.exp(log_mass(k, epsilon, most, ceiled=False)) <= real * (1 + 1e-9)


def test_weights_without_an_end_and_of_many_shells():
    for k in (1, 3, 20):
        assert log_mass(k, 1e-5) == pytest.approx(math.lgamma(k + 1) - k * math.log(1e-5), rel=1e-6)
        assert log_mass(k, 0.3) == pytest.approx(log_mass(k, 0.3, 10**5), abs=1e-9)
        assert log_mass(k, 1e-5, 10**4) <= log_mass(k, 1e-5, 10**4, ceiled=False)
    assert log_mass(3, 1.0, 0) == -math.inf
    # more shells than are added: still no more than their sum
    assert -1.1e-4 < log_mass(1, 1e-4) + math.log(math.expm1(1e-4)) <= 0


def test_weights_by_points_drawn_in_a_ball():
    """Z·v_k is the integral of e^{−ε⌈‖y‖⌉}: the mean over M·B₂ times its volume."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(200_000, 3))
    points *= (
        6 * rng.uniform(size=(200_000, 1)) ** (1 / 3) / np.linalg.norm(points, axis=1)[:, None]
    )
    values = np.exp(-0.7 * np.ceil(np.linalg.norm(points, axis=1)))
    off = 6 * values.std() / math.sqrt(len(values))
    assert abs(math.exp(log_mass(3, 0.7, 6)) / 6**3 - values.mean()) < off


@given(EPSILON, DIMENSION, st.sampled_from(KINDS))
def test_falls_with_epsilon_and_grows_with_the_records(epsilon, k, records):
    def best(epsilon, most):
        return max(
            averaging_bound(0.0, k, epsilon=epsilon, most=most, rounding=how, extent=0.5)
            for how in roundings(records, k)
        )

    assert best(epsilon, 1000) >= best(epsilon * 1.1, 1000) * (1 - 1e-9)
    assert best(epsilon, 2000) >= best(epsilon, 1000) * (1 - 1e-9)


def test_rounding_to_whole_records_as_simulated():
    """The mean weight and blur of randomly rounded coefficients are what the proof claims."""
    rng = np.random.default_rng(8)
    for epsilon in (0.2, 1.0, 3.0):
        share = rng.uniform(size=(400, 5))
        grown = np.prod(1 - share + share * math.exp(epsilon), axis=1)
        limit = np.exp(epsilon * share.sum(axis=1) + 5 * epsilon**2 / 8)
        assert np.all(grown <= limit * (1 + 1e-12))
    assert np.max(share * (1 - share)) <= 0.25


def private_optimum(most, epsilon, per_unit=4):
    """The least worst mean square of ε-DP answers to j ∈ {−M … M}, on a grid of answers: LP."""
    truths = np.arange(-most, most + 1)
    answers = np.arange(-most * per_unit, most * per_unit + 1) / per_unit
    t, a = truths.size, answers.size
    cost = np.append(np.zeros(t * a), 1.0)
    rows, bounds = [], []
    for i in range(t):
        row = np.zeros(t * a + 1)
        row[i * a : (i + 1) * a], row[-1] = (answers - truths[i]) ** 2, -1.0
        rows.append(row)
        bounds.append(0.0)
    for i in range(t - 1):
        for one, other in ((i, i + 1), (i + 1, i)):
            for j in range(a):
                row = np.zeros(t * a + 1)
                row[one * a + j], row[other * a + j] = 1.0, -math.exp(epsilon)
                rows.append(row)
                bounds.append(0.0)
    complete = np.zeros((t, t * a + 1))
    for i in range(t):
        complete[i, i * a : (i + 1) * a] = 1.0
    found = linprog(cost, np.array(rows), bounds, complete, np.ones(t), method="highs")
    assert found.status == 0
    return math.sqrt(found.fun)


@pytest.mark.parametrize(("most", "epsilon"), [(1, 1.0), (3, 0.5), (5, 1.0), (6, 2.0)])
def test_below_the_best_private_answer_of_a_small_problem(most, epsilon):
    best = private_optimum(most, epsilon)
    for how in (Rounding(0), Rounding(1)):
        found = averaging_bound(
            math.log(2), 1, epsilon=epsilon, most=most, rounding=how, extent=1.0
        )
        # the convex model has more truths: they are within half a record of these
        assert found <= best + (0.5 if how.pieces == 0 else 0.0)
    bound = directional_bound(1.0, epsilon=epsilon, most=most, extent=1.0)
    assert bound <= best <= geometric_down(epsilon) * (1 + 1e-6)


def test_the_direction_is_met_by_geometric_noise():
    assert directional_bound(2.0, epsilon=1.0) == pytest.approx(
        2 * math.sqrt(2 * math.exp(-1)) / (1 - math.exp(-1)), rel=1e-9
    )
    assert directional_bound(1.0, epsilon=1.0, most=400, extent=1.0) > 0.9 * geometric_down(1.0)
    assert directional_bound(0.0, epsilon=1.0) == 0.0


@given(EPSILON, st.integers(1, 10**4))
def test_no_direction_is_above_the_constant_answer(epsilon, most):
    assert directional_bound(1.0, epsilon=epsilon, most=most, extent=1.0) <= most


@pytest.mark.parametrize("q", [0.2, 0.5, 0.8])
def test_no_chain_of_neighbours_is_nearer_to_zero_than_geometric_noise(q):
    """Over symmetric laws on ±(θ + j), neighbours within a factor q, by a linear program."""
    least = math.inf
    for phase in np.linspace(0, 0.5, 11):
        points = np.unique(np.concatenate([np.arange(-40, 41) + phase, np.arange(-40, 41) - phase]))
        at = {round(x, 9): i for i, x in enumerate(points)}
        rows = []
        for x, i in at.items():
            for step in (-1, 1):
                other = at.get(round(x + step, 9))
                if other is not None:
                    row = np.zeros(points.size)
                    row[i], row[other] = q, -1.0
                    rows.append(row)
        found = linprog(
            points**2, np.array(rows), np.zeros(len(rows)), np.ones((1, points.size)), 1
        )
        least = min(least, found.fun)
    assert least == pytest.approx(2 * q / (1 - q) ** 2, rel=1e-2 if q > 0.7 else 1e-3)


def test_the_best_projection_of_a_long_box():
    widths = np.array([1e3, 1e3, 1e-3, 1e-6])
    found = volume_lower_bound(SymmetricBox(widths), epsilon=1.0, records="shares")
    assert found.dimension == 2
    alone = volume_lower_bound(SymmetricBox(widths[:2]), epsilon=1.0, records="shares")
    assert found.value == pytest.approx(alone.value, rel=1e-9)
    assert 0 < found.packing < found.value


def test_weights_scale_the_body():
    rng = np.random.default_rng(3)
    points, weights = rng.normal(size=(9, 3)), np.array([1.0, 0.25, 4.0])
    asked = {"epsilon": 0.2, "records": "listed"}
    one = volume_lower_bound(SymmetricPoints(points), **asked, weights=weights)
    other = volume_lower_bound(SymmetricPoints(points * weights), **asked)
    assert one.value == pytest.approx(other.value, rel=1e-9)
    zero = volume_lower_bound(SymmetricPoints(points), **asked, weights=np.array([1.0, 0, 4.0]))
    rest = volume_lower_bound(SymmetricPoints((points * weights)[:, [0, 2]]), **asked)
    assert zero.value == pytest.approx(rest.value, rel=1e-9)


@pytest.mark.grid
@pytest.mark.parametrize(
    ("body", "weight"), [(249, 332), (500, 332), (-250, -332), (-400, -332), (501, -332)]
)
@pytest.mark.parametrize("order", [2.0, math.inf])
@pytest.mark.parametrize("shape", K_NORM)
def test_bodies_and_weights_of_any_size_have_the_bound_of_the_unit(shape, order, body, weight):
    """Squares of what is seen of them are no floats, and none is taken: nothing warns."""
    asked = {"epsilon": 0.2, "records": "convex", "order": order}
    unit = volume_lower_bound(shape(3), **asked, weights=np.array([1.0, 0.5, 2.0]))
    far = volume_lower_bound(
        shape(3).scaled(2.0**body), **asked, weights=2.0**weight * np.array([1.0, 0.5, 2.0])
    )
    size = body + weight
    assert far.dimension == unit.dimension
    assert math.ldexp(far.value, -size) == pytest.approx(unit.value, rel=1e-8)
    assert math.ldexp(far.packing, -size) == pytest.approx(unit.packing, rel=1e-8)
    more = far.dimension * size * math.log(2)
    assert unit.log_volume + more - 1e-6 < far.log_volume <= unit.log_volume + more


def test_a_bound_beyond_all_floats_is_one_of_them():
    """And so below what is meant, which none of them holds."""
    asked = {"epsilon": 2.0**-300, "records": "shares"}
    found = volume_lower_bound(cube(1).scaled(2.0**500), **asked, weights=np.array([2.0**332]))
    assert 2.0**1023 <= found.value < math.inf


@pytest.mark.parametrize("order", [2.5, 4.0, math.inf])
def test_other_orders_count_the_answers_of_a_projection(order):
    """Laplace noise on each of d coordinates of a cube at ε/d has an ℓ_p error above the bound."""
    d, epsilon = 6, 0.3
    found = volume_lower_bound(cube(d), epsilon=epsilon, records="shares", order=order)
    two = volume_lower_bound(cube(d), epsilon=epsilon, records="shares")
    assert found.value <= two.value
    each = [averaging_bound(k * math.log(2), k, epsilon=epsilon) for k in range(1, d + 1)]
    best = max(value * k ** (1 / order - 0.5) for k, value in enumerate(each, start=1))
    assert found.value == pytest.approx(best, rel=1e-9)
    noise = np.random.default_rng(1).laplace(scale=d / epsilon, size=(4000, d))
    length = np.linalg.norm(noise, ord=order, axis=1)
    assert found.value <= math.sqrt(np.mean(length**2))


def test_differences_are_no_worse_than_listed_changes():
    points = np.random.default_rng(4).normal(size=(7, 3))
    first, second = np.triu_indices(7, 1)
    one = volume_lower_bound(PointDifferences(points), epsilon=0.1, records="listed")
    other = volume_lower_bound(
        SymmetricPoints(points[first] - points[second]), epsilon=0.1, records="listed"
    )
    assert one.value == pytest.approx(other.value, rel=0.05)


def test_refusals_and_flat_bodies():
    with pytest.raises(PlanError, match="epsilon=0"):
        averaging_bound(0.0, 1, epsilon=0)
    with pytest.raises(PlanError, match="epsilon=inf"):
        volume_lower_bound(cube(1), epsilon=math.inf, records="shares")
    with pytest.raises(PlanError, match="weights"):
        volume_lower_bound(cube(2), epsilon=1, records="shares", weights=np.array([1.0, -1.0]))
    none = volume_lower_bound(SymmetricBox(np.zeros(2)), epsilon=1.0, records="shares")
    assert (none.value, none.dimension) == (0.0, 0)
    line = SymmetricPoints(np.array([[1.0, 2.0], [2.0, 4.0]]))
    assert volume_lower_bound(line, epsilon=1.0, records="shares").dimension == 1


@pytest.mark.grid
@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("epsilon", [0.03, 0.7, 4.0])
@pytest.mark.parametrize("most", [1, 2, 40, math.inf])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_packing_is_the_best_whole_number_of_changes(k, epsilon, most, power):
    log_volume = 0.3 * k
    ball = math.exp(ball_log_volume(k))
    best = max(
        m / (2 * 2 ** (1 / power)) * (math.exp(log_volume - epsilon * m) / (2 * ball)) ** (1 / k)
        for m in range(1, int(min(most, 3 * k / epsilon + 2)) + 1)
    )
    found = packing_bound(log_volume, k, epsilon=epsilon, most=most, power=power)
    assert best * (1 - 1e-9) <= found <= best
