# SPDX-License-Identifier: Apache-2.0
"""What a stream reveals: recomputed from the final integers' own covariance, for every strategy."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.streams import DensePair, RecursivePair, ToeplitzPair, TreePair, start, steps_of
from lownoise.streams.pairs import LARGEST
from lownoise.streams.progress import noise_of
from streams.kinds import KEPT, TAKEN, WORKLOADS, factors

BUDGETS = (ln.zcdp(1e-10), ln.zcdp(0.5), ln.zcdp(1e5), ln.approx_dp(1, 1e-6), ln.gaussian_dp(0.3))


def revealed(mechanism):
    """Return the greatest Mahalanobis distance of neighbours under B·Bᵀ and the cover, in floats.

    Rounding apart it is what the integers reveal, and what is stated must not be below it.
    """
    B, _ = factors(mechanism.pair)
    size = float(mechanism.shape.scale[0])
    noise = np.linalg.norm(mechanism.cover)
    M = size**2 * B @ B.T + noise**2 * np.eye(len(B))
    W = mechanism.workload.matrix()
    moved = W * float(mechanism.change_steps[0])
    return math.sqrt(max(np.einsum("ij,ij->j", moved, np.linalg.solve(M, moved))))


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize(("name", "strategy"), TAKEN, ids=str)
@pytest.mark.parametrize("error", ["mean", "max"])
def test_what_is_stated_covers_the_noise_and_wastes_little(name, strategy, error):
    stream = ln.stream(WORKLOADS[name], budget=ln.zcdp(0.5), strategy=strategy, error=error)
    mechanism = stream.terms.mechanism
    mu, true = mechanism.loss.mu, revealed(mechanism)
    assert mu <= 1.0
    assert mu >= true * (1 - 1e-9)
    # the tree's noise hides more than its columns say: each sum is added by few answers
    if strategy not in ("binary_tree", "honaker_streaming"):
        assert mu <= true * (1 + 1e-4)


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_every_budget_is_kept_to_the_last_digit_and_used(budget, relation):
    asked = {"relation": relation, "domain": ln.Box([-3.0], [1.0]), "mechanism": "gaussian"}
    stream = ln.stream(ln.Prefix(9), budget=budget, **asked)
    parameter = budget.gaussian_parameter()
    assert parameter * (1 - 1e-9) <= stream.cost.mu <= parameter
    reach = 3.0 if relation == "add_remove" else 4.0
    least = ln.theory.factorize(np.tril(np.ones((9, 9))), rtol=1e-9).certificate.upper / 3
    # less noise beside a record leaves rounding more to say: 10^-6 of the error at rho = 10^-10
    assert stream.error == pytest.approx(least * reach / parameter, rel=1e-5)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize(("name", "strategy"), KEPT, ids=str)
def test_both_roundings_of_both_streams_are_covered(name, strategy):
    # beside noise of next to no width nothing is off but the roundings: a round's integer, and that
    # of an excess, each by less than a step, and an answer that is no integer by its slack; in the
    # stream and in its neighbour
    made = ln.stream(WORKLOADS[name], budget=ln.zcdp(0.5), strategy=strategy).terms.mechanism
    thin = replace(made, shape=made.shape.scaled(2.0**-70))
    slack = {"decayed": 0.5, "momentum": 0.5, "late": 0.5}.get(name, 0.0)
    n = thin.workload.rounds
    residual = made.pair.residual_up * float(made.change_steps[0])
    least = 2 * (1 + 1 + slack) * math.sqrt(n) + residual
    apart = thin.side_up * float(thin.cover[0])
    assert least <= apart * (1 + 1e-12)
    # power: one rounding of two would be half of it
    assert apart <= least * (1.05 if name in ("prefix", "window", "decayed") else 1.7)
    assert made.loss.mu >= math.hypot(made.main_up, least / float(made.cover[0])) * (1 - 1e-12)


def test_factors_that_do_not_make_the_workload_are_paid_for():
    # a wrong optimiser may cost accuracy, never privacy: B is half of what it should be
    good = ln.stream(ln.Prefix(8), budget=ln.zcdp(0.5), strategy="square_root").terms.mechanism
    wrong = ToeplitzPair(good.workload, frozen(good.pair.noise / 2), good.pair.strategy)
    bad = replace(good, pair=wrong)
    assert bad.loss.mu > 100  # what B·C lacks is hidden by the thin cover alone
    assert bad.loss.mu >= revealed(bad) * (1 - 1e-9)
    off = good.pair.noise.copy()
    off[3] += 1e-7
    slightly = replace(good, pair=ToeplitzPair(good.workload, frozen(off), good.pair.strategy))
    assert slightly.loss.mu > good.loss.mu * (1 + 1e-7)
    dense = ln.stream(ln.Prefix(8), budget=ln.zcdp(0.5), strategy="optimal").terms.mechanism
    moved = dense.pair.noise.copy()
    moved[5, 2] += 1e-3
    apart = replace(dense, pair=DensePair(dense.workload, frozen(moved), dense.pair.strategy))
    assert apart.loss.mu > 10


def test_an_answer_never_uses_what_a_later_round_brings():
    C = np.tril(np.ones((4, 4)))
    B = np.eye(4)
    B[1, 2] = 1e-300
    with pytest.raises(PlanError, match="later round"):
        DensePair(ln.Prefix(4), frozen(B), frozen(C))


@pytest.mark.grid(least=3)
@pytest.mark.parametrize(("name", "strategy"), KEPT, ids=str)
def test_noise_of_a_round_is_the_same_bits_whatever_later_numbers_are(name, strategy):
    pair = ln.stream(WORKLOADS[name], budget=ln.zcdp(0.5), strategy=strategy).terms.mechanism.pair
    _, C = factors(pair)
    n = pair.rounds
    last = np.where(np.any(C, axis=1), n - 1 - np.argmax(C[:, ::-1] != 0, axis=1), 0)
    generator = np.random.default_rng(5)
    z = generator.standard_normal((pair.sources, 2))
    for t in (0, 3, n - 2):
        later = z.copy()
        later[last > t] = generator.standard_normal((int(np.sum(last > t)), 2)) * 1e6
        assert np.array_equal(pair.apply(z)[: t + 1], pair.apply(later)[: t + 1])


@pytest.mark.parametrize("rounds", [31, 33, 700, 9000])
def test_long_convolutions_look_at_the_past_alone(rounds):
    from lownoise.streams.toeplitz import causal_product

    generator = np.random.default_rng(rounds)
    column, z = generator.standard_normal(rounds), generator.standard_normal((rounds, 1))
    found = causal_product(column, z)
    for t in generator.integers(1, rounds, size=6):
        later = z.copy()
        later[t:] = 1e9
        assert np.array_equal(found[:t], causal_product(column, later)[:t])


@pytest.mark.parametrize("rounds", [1, 2, 32, 33, 512, 513, 2100])
def test_the_bounds_on_rounding_hold_and_are_no_guess(rounds):
    from lownoise.streams.toeplitz import causal_error, causal_product, product

    generator = np.random.default_rng(rounds)
    column, z = generator.standard_normal(rounds), generator.uniform(-LARGEST, LARGEST, rounds)
    exact = np.array([Fraction(0)] * rounds)
    scale = 2.0**60
    whole = [int(x * scale) for x in column], [int(x * scale) for x in z]
    column, z = (np.array([float(Fraction(k, 2**60)) for k in own]) for own in whole)
    first = [Fraction(x) for x in column]
    second = [Fraction(x) for x in z]
    picks = sorted({0, rounds // 2, rounds - 1})
    found = causal_product(column, z[:, None])[:, 0]
    other, off = product(column, z)
    bound = causal_error(float(np.abs(column).sum()), rounds, LARGEST)
    for t in picks:
        exact[t] = sum((first[t - s] * second[s] for s in range(t + 1)), Fraction(0))
        assert abs(Fraction(float(found[t])) - exact[t]) <= Fraction(bound)
        assert abs(Fraction(float(other[t])) - exact[t]) <= Fraction(off)
    assert bound < 1e-6 * max(1.0, float(np.abs(found).max())) * rounds


class Far:
    """Bits of which the first number's first 192 are 0: farther out than any table."""

    def __init__(self, seed):
        self._own = SimulationRandomness(seed)
        self._calls = 0

    def words(self, count):
        found = self._own.words(count)
        if self._calls < 3:
            found[0] = 0
        self._calls += 1
        return found


@pytest.mark.parametrize(
    "strategy",
    ["square_root", "normalized_square_root", "optimal", "binary_tree", "honaker_streaming"],
)
def test_numbers_beyond_all_tables_are_added_exactly(strategy):
    terms = ln.stream(ln.Prefix(12), budget=ln.zcdp(0.5), strategy=strategy).terms
    mechanism = terms.mechanism
    unit, beyond = mechanism.pair.draw(1, Far(3))
    assert len(beyond) == 1
    own = beyond[0]
    assert own.beyond > 0
    noise = mechanism.all_noise(Far(3))[:, 0]
    B, _ = factors(mechanism.pair)
    push = B[:, own.source] * own.beyond * float(mechanism.shape.scale[0])
    within = unit[:, 0] * float(mechanism.shape.scale[0]) + push
    assert np.all(np.abs(noise - within) <= 9 * float(mechanism.cover[0]) + 16)
    assert np.max(np.abs(push)) > 100 * float(mechanism.cover[0])


DRAWS, COPIES = 20, 2000
ERROR_OF_FIRST_KIND = 1e-8


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("name", "strategy"),
    [pair for pair in TAKEN if pair[0] in ("prefix", "momentum")],
    ids=str,
)
def test_noise_has_the_stated_variance_and_no_mean(name, strategy):
    # 40,000 columns of noise: each variance is known to √(2/40,000) = 0.7%, each mean to 0.5%
    from scipy.stats import chi2, norm

    domain = ln.Box(np.zeros(COPIES), np.ones(COPIES))
    terms = ln.stream(WORKLOADS[name], budget=ln.zcdp(0.5), strategy=strategy, domain=domain).terms
    n, step = terms.question.workload.rounds, terms.mechanism.coding.step
    stated = terms.view.deviations(0, n)
    draws = []
    for seed in range(DRAWS):
        noise = noise_of(terms.mechanism, SimulationRandomness(1000 + seed)).take(n)
        draws.append(noise * step / stated)
    draws = np.concatenate(draws, axis=1)
    count = DRAWS * COPIES
    level = ERROR_OF_FIRST_KIND / (4 * n)
    squares = np.sum(draws**2, axis=1)
    assert np.all(squares < chi2.isf(level, count))
    assert np.all(squares > chi2.ppf(level, count))
    assert np.all(np.abs(draws.sum(axis=1)) < norm.isf(level) * math.sqrt(count))
    # power: a deviation that is off by 5% is seen
    assert count * 1.05**2 > chi2.isf(level, count)
    assert count * 0.95**2 < chi2.ppf(level, count)
    # rounds depend on each other as B says
    B, _ = factors(terms.mechanism.pair)
    M = B @ B.T
    sizes = np.sqrt(np.diag(M))
    wanted = M / np.outer(sizes, sizes) if np.all(sizes > 0) else None
    if wanted is not None:
        found = draws @ draws.T / count
        assert np.max(np.abs(found - wanted)) < 8.5 / math.sqrt(count)


def test_published_answers_are_the_exact_ones_plus_the_noise():
    for name, workload in WORKLOADS.items():
        terms = ln.stream(workload, budget=ln.zcdp(0.5), domain=ln.Box([-2.0], [3.0])).terms
        noise = noise_of(terms.mechanism, SimulationRandomness(8)).take(workload.rounds)[:, 0]
        stream = start(terms, randomness=SimulationRandomness(8))
        values = np.random.default_rng(2).uniform(-3, 4, workload.rounds)
        step = float(terms.mechanism.coding.step[0])
        codes = np.floor(np.clip(values, -2, 3) / step + 0.5)
        exact = workload.matrix() @ codes
        published = stream.update_many(values) / step
        assert np.allclose(published, exact + noise, rtol=1e-12, atol=1.0), name


@pytest.mark.grid
@pytest.mark.parametrize("workload", [ln.Prefix(60), ln.Decayed(60, 0.93)], ids=str)
@pytest.mark.parametrize("error", ["mean", "max"])
def test_closed_forms_of_exponentials_are_those_of_their_matrices(workload, error):
    pair = ln.stream(
        workload, budget=ln.zcdp(0.5), strategy="rational", error=error, memory=3
    ).terms.mechanism.pair
    B, C = factors(pair)
    assert pair.column_up == pytest.approx(np.linalg.norm(C[:, 0]), rel=1e-12)
    assert pair.column_up >= np.linalg.norm(C[:, 0]) * (1 - 1e-15)
    apart = np.linalg.norm((workload.matrix() - B @ C)[:, 0])
    assert apart <= pair.residual_up + 1e-13
    squares = np.sum(B**2, axis=1)
    assert pair.variances(0, 60) == pytest.approx(squares, rel=1e-9)
    assert pair.variances(17, 5) == pytest.approx(squares[17:22], rel=1e-9)
    assert pair.mean_variance == pytest.approx(squares.mean(), rel=1e-10)
    assert pair.largest_variance == pytest.approx(squares.max(), rel=1e-10)


def test_exponentials_that_are_not_factors_are_paid_for():
    good = ln.stream(ln.Prefix(500), budget=ln.zcdp(0.5), strategy="rational").terms.mechanism
    pair = good.pair
    off = pair.answer_weights.copy()
    off[1] *= 1 + 1e-7
    worse = RecursivePair(pair.workload, pair.gaps, pair.weights, pair.answer_gaps, frozen(off))
    assert worse.residual_up > 1e-8
    assert replace(good, pair=worse).loss.mu > good.loss.mu * (1 + 1e-6)


def test_recursive_noise_is_the_convolution_it_stands_for():
    from lownoise.streams.pairs import close_normals
    from lownoise.streams.recursive import Recursion

    pair = ln.stream(ln.Prefix(300), budget=ln.zcdp(0.5), strategy="rational").terms.mechanism.pair
    B, _ = factors(pair)
    found = Recursion(pair, 1).take(300, SimulationRandomness(9))[:, 0]
    z = close_normals(300, SimulationRandomness(9))
    assert np.linalg.norm(found - B @ z) <= pair.error_up + 1e-11
    halves = Recursion(pair, 1)
    randomness = SimulationRandomness(9)
    parts = [halves.take(100, randomness), halves.take(200, randomness)]
    assert np.array_equal(np.concatenate(parts)[:, 0], found)


def test_the_bound_on_long_products_counts_every_transform():
    from lownoise.streams.toeplitz import causal_error

    # two levels of blocks: of 512 and of 32 rounds, in transforms of 1,024 and of 64; no error in
    # practice comes near what the worst case allows, so the terms are counted here
    unit = 2.0**-53
    twice = sum(2 * 3 * 8 * unit * (length.bit_length() + 3) for length in (1024, 64))
    least = twice * LARGEST * math.sqrt(2100)
    assert least <= causal_error(1.0, 2100, LARGEST) <= 2 * least
    assert causal_error(1.0, 32, LARGEST) < least / 10


def test_noise_that_is_drawn_ahead_is_handed_out_once_and_in_order():
    terms = ln.stream(ln.Prefix(12_000), budget=ln.zcdp(0.5), strategy="rational").terms
    noise = noise_of(terms.mechanism, SimulationRandomness(2))
    parts = [noise.take(count) for count in (1, 4000, 3000, 1, 4998)]
    assert [len(own) for own in parts] == [1, 4000, 3000, 1, 4998]
    steps = np.diff(np.concatenate(parts)[:, 0] * terms.mechanism.coding.step[0])
    # neighbouring rounds share nearly all of their noise: a jump would show what was left out
    assert np.max(np.abs(steps)) < 9 * math.sqrt(2) * terms.view.deviations(0, 1)[0, 0]


@pytest.mark.grid(3)
@pytest.mark.parametrize("rounds", [30, 300])
@pytest.mark.parametrize("name", ["square_root", "normalized_square_root", "optimal", "rational"])
def test_noise_is_no_longer_than_is_said(name, rounds):
    """‖B·z‖ for z within the longest that is drawn: where B has one sign, all of them so long."""
    from lownoise.streams.recursive import FARTHEST

    pair = ln.stream(ln.Prefix(rounds), budget=ln.zcdp(0.5), strategy=name).terms.mechanism.pair
    B, _ = factors(pair)
    longest = np.linalg.norm(np.abs(B).sum(axis=1)) if np.all(B >= -1e-12) else np.linalg.norm(B, 2)
    if isinstance(pair, RecursivePair):
        assert pair._column_sum >= np.abs(B).sum(axis=1).max()
    far = FARTHEST if isinstance(pair, RecursivePair) else LARGEST
    assert pair.size_up >= longest * far * (1 - 1e-9)


@pytest.mark.parametrize("rounds", [1, 7, 1024, 1025, 5000])
def test_running_sums_of_whole_numbers_are_exact(rounds):
    from lownoise.streams.toeplitz import _running

    values = np.random.default_rng(rounds).integers(-(2**30), 2**30, (rounds, 2)).astype(float)
    assert np.array_equal(_running(values), np.cumsum(values, axis=0))


def test_a_grid_that_shows_beside_the_noise_of_a_sum_is_refused():
    # 2^20 rounds, the tree's deviation of 3.2: half a step a round adds up to 2^19 steps, which may
    # be 2^-5 of it; a grid of 2^-23 will do, and sums of longer values need one of 2^-21
    pair, one = TreePair(ln.Prefix(1 << 20)), np.ones(1)
    assert steps_of(pair.workload, 2.0**18 * one, one, one, pair).tolist() == [2.0**-23]
    with pytest.raises(PlanError, match="too long for 64 bits beside its noise"):
        steps_of(pair.workload, 2.0**20.5 * one, one, one, pair)
