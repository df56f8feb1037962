# SPDX-License-Identifier: Apache-2.0
"""Pure noise: what it reveals, in exact numbers and as a tester sees that knows nothing of it."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat
from scipy.stats import beta

from lownoise.errors import PlanError
from lownoise.noise import (
    AdditiveMechanism,
    KNormNoise,
    LaplaceNoise,
    PartialNoise,
    RecursiveNoise,
    ResponseMechanism,
)
from lownoise.noise.abstract import Loss, quotient_up, sampling_loss, sum_up
from lownoise.noise.recursive import inverted
from lownoise.noise.response import keep_for
from lownoise.noise.totals import AbstractTotals
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.questions import Queries
from lownoise.sets.bodies import PointDifferences, SymmetricBox, SymmetricPoints
from lownoise.sets.norms import norm_of

BOX = SymmetricBox(np.array([6.0, 3.0]))
POINTS = SymmetricPoints(np.array([[6.0, 0.0], [2.0, 4.0], [-3.0, 3.0]]))
PAIRS = PointDifferences(np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 5.0]]))
TURN = np.array([[1.0, 0.5], [-0.5, 1.0]])


def recursion(reach, epsilon):
    """Return a recursion of two levels with so much in each half."""
    return RecursiveNoise(
        TURN,
        (
            KNormNoise(norm_of(reach), 2 / epsilon),
            KNormNoise(norm_of(reach.mapped(TURN[:1])), 2 / epsilon),
        ),
    )


def laplace(reach, epsilon):
    """Return Laplace noise that reveals ε, or a last digit less."""
    unit = LaplaceNoise(np.array([2.0, 3.0]))
    return LaplaceNoise(unit.scales * (unit.loss(reach).epsilon / epsilon * (1 + 1e-12)))


KINDS = {
    "k_norm": lambda reach, epsilon: KNormNoise(norm_of(reach), 1 / epsilon),
    "recursive": recursion,
    "laplace": laplace,
}
CASES = list(product(KINDS, [BOX, POINTS, PAIRS]))
IDS = [f"{kind}-{type(body).__name__}" for kind, body in CASES]


def changes(reach):
    """Return the corners of a body of changes."""
    if isinstance(reach, SymmetricBox):
        return np.array(list(product(*[(-w, w) for w in reach.half_width])))
    if isinstance(reach, PointDifferences):
        return np.array([x - y for x in reach.points for y in reach.points])
    return np.vstack([reach.points, -reach.points])


@pytest.mark.parametrize(("kind", "reach"), CASES, ids=IDS)
@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_the_loss_is_what_was_asked_and_no_more(kind, reach, epsilon):
    """Exact bodies cost exactly ε, or hardly less."""
    loss = KINDS[kind](reach, epsilon).loss(reach)
    assert epsilon * (1 - 1e-9) <= loss.epsilon <= epsilon * (1 + 1e-12)
    assert loss.delta == 0


@pytest.mark.parametrize("reach", [BOX, POINTS, PAIRS])
def test_laplace_covers_every_change_in_exact_fractions(reach):
    """Σ|sᵢ|/bᵢ is at most the loss, and equal to it somewhere but for rounding."""
    noise = laplace(reach, 0.7)
    costs = [
        sum(Fraction(abs(s)) / Fraction(b) for s, b in zip(change, noise.scales, strict=True))
        for change in changes(reach).tolist()
    ]
    most = max(costs)
    assert most <= Fraction(noise.loss(reach).epsilon) <= most * Fraction(1 + 1e-12)


def at_least(first, second, confidence=1e-7):
    """Return what ε is at least, by the best of some half-planes; all hold but once in 10^5.

    Clopper and Pearson's bounds on the chance of each event, a hundred events at most.
    """
    best = 0.0
    n = len(first)
    for angle in np.linspace(0, np.pi, 9)[:-1]:
        direction = np.array([math.cos(angle), math.sin(angle)])
        a, b = first @ direction, second @ direction
        for cut in np.quantile(np.concatenate([a, b]), [0.02, 0.1, 0.3, 0.7, 0.9, 0.98]):
            for own, other in ((a > cut, b > cut), (b > cut, a > cut), (a <= cut, b <= cut)):
                low = beta.ppf(confidence, max(own.sum(), 1), n - own.sum() + 1)
                high = beta.ppf(1 - confidence, other.sum() + 1, max(n - other.sum(), 1))
                best = max(best, math.log(low / high))
    return best


@pytest.mark.grid
@pytest.mark.parametrize(("kind", "reach"), CASES, ids=IDS)
def test_a_tester_finds_no_more_than_the_claim_and_half_the_noise(kind, reach):
    """From outputs alone ε is bounded from below, by 1e-5 never above the claim.

    With the noise of 2ε the same tester finds more than ε: it has power. The two levels of a
    recursion are seen in one direction at a time only, so there it takes 4ε.
    """
    draws = 1_500
    randomness = SimulationRandomness(5)

    def outputs(epsilon, change):
        noise = KINDS[kind](reach, epsilon)
        drawn = np.array([noise.integers(randomness) for _ in range(draws)], dtype=float)
        # the law of the rounding, from the simulated law, where drawing would take long
        more = np.rint(noise.simulate(20 * draws, randomness))
        return np.vstack([drawn, more]) + change

    change = max(changes(reach).tolist(), key=np.linalg.norm)
    assert at_least(outputs(1.0, 0.0), outputs(1.0, change)) <= 1.0
    mutant = 4.0 if kind == "recursive" else 2.0
    assert at_least(outputs(mutant, 0.0), outputs(mutant, change)) > 1.0


@pytest.mark.grid(1)
@pytest.mark.parametrize(("kind", "reach"), CASES, ids=IDS)
def test_draws_have_the_covariance_that_is_stated(kind, reach):
    """Within 8 standard errors, which rejects × 0.9 and × 1.1 (draws), × 0.98 (simulated)."""
    noise = KINDS[kind](SymmetricBox(BOX.half_width * 64) if reach is BOX else reach, 0.01)
    own = noise.covariance()
    stated = np.diag(own) if own.ndim == 1 else own
    randomness = SimulationRandomness(6)
    few = np.array([noise.integers(randomness) for _ in range(1000)], dtype=float)
    many = noise.simulate(200_000, randomness)
    scale = np.sqrt(np.outer(np.diag(stated), np.diag(stated)))
    # a product of two such numbers has a kurtosis of 6 at most: its deviation is below 2.5
    assert np.max(np.abs(few.T @ few / len(few) - stated) / scale) < 8 * 2.5 / math.sqrt(len(few))
    assert np.max(np.abs(many.T @ many / len(many) - stated) / scale) < 8 * 2.5 / math.sqrt(2e5)


def test_noise_of_a_smaller_body_is_seen_to_reveal_more():
    """The norm of K hides half of what K − K can change; the loss says so."""
    half = SymmetricPoints(PAIRS.points[1:])
    noise = KNormNoise(norm_of(half), 1.0)
    assert noise.loss(half).epsilon == 1.0
    assert noise.loss(PAIRS).epsilon > 1.5


def test_nothing_hides_what_moves_without_noise():
    """An integer that has no noise and moves reveals everything."""
    own = PartialNoise(LaplaceNoise(np.array([6.0])), np.array([0]), 2)
    assert math.isinf(own.loss(BOX).epsilon)
    still = SymmetricBox(np.array([6.0, 0.0]))
    assert own.loss(still).epsilon == 1.0
    assert all(z[1] == 0 for z in (own.integers(SimulationRandomness(i)) for i in range(20)))


@pytest.mark.parametrize("kept", [[0, 1], [1, 3], [0, 3]])
def test_the_covariance_is_that_of_what_moves_and_zero_elsewhere(kept):
    for inner in (LaplaceNoise(np.array([6.0, 2.0])), KNormNoise(norm_of(BOX), 1.0)):
        own = inner.covariance()
        dense = np.zeros((4, 4))
        dense[np.ix_(kept, kept)] = np.diag(own) if own.ndim == 1 else own
        found = PartialNoise(inner, np.array(kept), 4).covariance()
        assert np.array_equal(np.diag(found) if found.ndim == 1 else found, dense)


def test_the_noise_does_not_look_at_the_totals():
    """The same bits give the same noise, whatever is added to it."""

    class Grid:
        size, length, reach = None, 2, BOX
        pieces, part = AbstractTotals.pieces, AbstractTotals.part

        def __init__(self, q):
            self.q = q

        def exact(self, totals):
            return self.q

    noise = KNormNoise(norm_of(BOX), 1.0)
    far = (10**40, -(10**30))
    near, away = (
        AdditiveMechanism(Grid(q), noise).run(None, randomness=SimulationRandomness(7))
        for q in [(0, 0), far]
    )
    assert tuple(a - q for a, q in zip(away, far, strict=True)) == near


@pytest.mark.parametrize("bits", [64, 128, 512])
def test_the_inverse_of_a_turn_is_held_to_every_bit(bits):
    """By fractions, of which some are 2^80 times others, and T is singular to 79 bits."""
    nearly = np.array([[1, 1 - 2.0**-20], [1 - 2.0**-20, 1 - 2.0**-19]])  # its determinant: -2^-40
    turn = np.rint(np.random.default_rng(1).uniform(-1, 1, (6, 6)) * 2**20) / 2**20
    turn[2:, :2] = turn[4:, 2:4] = 0
    turn[2:4, 2:4] = turn[4:, 4:] = nearly
    exact = fmpq_mat(6, 6, [fmpq(int(x * 2**20), 2**20) for x in turn.ravel()]).inv().entries()
    assert max(abs(own) for own in exact) > 2**75
    found = inverted(turn.tobytes(), bits).entries()
    with precision(4096):
        for ball, own in zip(found, exact, strict=True):
            assert abs(ball.mid() - own) <= ball.rad() * (1 + arb(2) ** -4000)
            assert ball.rad() <= abs(arb(own)) * arb(2) ** -bits


def test_refuses_what_does_not_fit():
    """One line each."""
    noise = KNormNoise(norm_of(BOX), 1.0)
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(PlanError, match="not above 0"):
            replace(noise, scale=wrong)
        with pytest.raises(PlanError, match=r"not all above 0|beyond"):
            LaplaceNoise(np.array([1.0, wrong]))
    with pytest.raises(PlanError, match="have no inverse"):
        RecursiveNoise(np.ones((2, 2)), recursion(BOX, 1.0).levels)
    for levels in ((noise, noise), (noise,)):
        with pytest.raises(PlanError, match="do not fall"):
            RecursiveNoise(TURN, levels)
    levels = recursion(BOX, 1.0).levels
    # what is drawn and what is bounded must be one matrix: no row may be finer than both know
    for wrong in (TURN * 2.0**-60, TURN * (1 + 2.0**-40), TURN * 2, TURN * math.nan, TURN[:1]):
        with pytest.raises(PlanError, match=r"whole numbers over 2\^20|do not fall"):
            RecursiveNoise(wrong, levels)
    with pytest.raises(PlanError, match="rising places"):
        PartialNoise(noise, np.array([1, 0]), 3)


def test_a_walk_costs_what_it_is_off_by():
    """Its relative error goes to ε, its total variation to δ."""

    class Near:
        relative, distance = 1e-3, 0.0

    exact = Loss(1.0, 0.0, 0.25, 0.5)
    near = sampling_loss(exact, Near())
    assert 1 + 2e-3 < near.epsilon < 1 + 2.01e-3
    assert near.delta == 0
    assert near.rho == pytest.approx((0.5 + math.sqrt(2e-3)) ** 2, rel=1e-3)
    assert near.mu == pytest.approx(0.503, rel=1e-12)
    Near.relative, Near.distance = 0.0, 1e-9
    loss = sampling_loss(exact, Near())
    assert math.isinf(loss.rho)
    assert math.isinf(loss.mu)
    assert loss.epsilon == 1.0
    assert (1 + math.e) * 1e-9 <= loss.delta < (1 + math.e) * 1.0001e-9
    Near.distance = 0.4
    assert sampling_loss(exact, Near()).delta == 1.0  # a chance, whatever it is a bound of
    Near.relative = 1.0
    assert math.isinf(sampling_loss(exact, Near()).epsilon)


def test_sums_and_quotients_are_rounded_up():
    """At least the exact value, in fractions."""
    rng = np.random.default_rng(8)
    for a, b, c in rng.random((200, 3)).tolist():
        assert Fraction(quotient_up(a, b)) * Fraction(b) >= Fraction(a)
        assert Fraction(sum_up([a, b, c])) >= sum(map(Fraction, (a, b, c)))
    assert quotient_up(1.0, 0.0) == math.inf
    assert sum_up([math.inf, 1.0]) == math.inf


RESPONSE = Queries(np.array([[1.0, 2.0, 4.0]]), {"x": 3}, outside={"x": 0})


class Counts:
    """A histogram."""

    def __init__(self, counts):
        self.counts = np.array(counts)
        self.count = int(self.counts.sum())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_responses_reveal_what_their_ratio_says(epsilon):
    """ln of the greatest ratio of chances is at most ε, and hardly less."""
    made = ResponseMechanism(question=RESPONSE, size=10, keep=keep_for(epsilon, 3))
    q = made.keep
    ratio = math.log((q + (1 - q) / 3) / ((1 - q) / 3))
    assert ratio * (1 - 1e-14) <= made.loss.epsilon <= epsilon
    assert made.loss.epsilon > epsilon * (1 - 1e-9)


def test_responses_are_unbiased_with_the_stated_deviation():
    """Their mean is the exact answer, and their deviation the stated one where it is greatest.

    10 standard errors of 4,000 releases; a chance q × 0.9 is 40 of them away.
    """
    made = ResponseMechanism(question=RESPONSE, size=50, keep=keep_for(1.0, 3))
    randomness = SimulationRandomness(9)
    records = Counts([0, 0, 50])
    found = np.array(
        [made.answers(made.run(records, randomness=randomness))[0] for _ in range(4000)]
    )
    error = made.deviations[0] / math.sqrt(len(found))
    assert abs(found.mean() - 200) < 10 * error
    worst = max(
        np.std(
            [
                made.answers(made.run(Counts(50 * row), randomness=randomness))[0]
                for _ in range(1500)
            ]
        )
        for row in np.eye(3, dtype=int)
    )
    assert 0.85 < worst / made.deviations[0] < 1.15


def test_as_many_bits_are_drawn_whatever_the_counts():
    """Nothing but the public size decides how much is drawn."""

    class Counting:
        def __init__(self):
            self.words_drawn, self.inner = 0, SimulationRandomness(10)

        def words(self, count):
            self.words_drawn += count
            return self.inner.words(count)

    made = ResponseMechanism(question=RESPONSE, size=60, keep=keep_for(1.0, 3))
    drawn = []
    for counts in ([60, 0, 0], [20, 20, 20], [0, 1, 59]):
        randomness = Counting()
        made.run(Counts(counts), randomness=randomness)
        drawn.append(randomness.words_drawn)
    assert len(set(drawn)) == 1
