# SPDX-License-Identifier: Apache-2.0
"""What holds on a dataset or on a neighbour under (ε, δ): every step by brute force."""

import itertools
import math
from operator import ne

import mpmath
import numpy as np
import pytest

from lownoise.bounds import approximate, unbiased_local
from lownoise.bounds.approximate import Either, unbiased_add_remove, unbiased_substitute

RNG = np.random.default_rng(21)
EPSILONS = (0.05, 0.5, 1.5)


def close(epsilon, delta, laws, atoms):
    """Return laws, any two (ε, δ)-indistinguishable and no less; shape (laws, atoms + laws)."""
    drawn = RNG.dirichlet(np.ones(atoms), size=laws)
    middle, low, high = drawn.mean(axis=0), 0.0, 1.0
    for _ in range(60):  # as far from their mean as ε allows
        share = (low + high) / 2
        mixed = (1 - share) * middle + share * drawn
        within = np.max(np.log(mixed.max(axis=0) / mixed.min(axis=0)))
        low, high = (share, high) if within <= epsilon else (low, share)
    common = (1 - low) * middle + low * drawn
    return np.hstack([common * (1 - delta), np.eye(laws) * delta])


def hockey_stick(p, q, epsilon):
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0)))


@pytest.mark.grid(1)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_no_statistic_of_close_laws_beats_the_bound(epsilon, delta):
    """For every T: σ_Q/A + max(σ₊, σ₋)/B ≥ 1, in one dimension and at unit width."""
    known = unbiased_substitute(1.0, 1, epsilon, delta, 1)
    tightest = math.inf
    for _ in range(60):
        laws = close(epsilon, delta, 3, 4)
        actual = [hockey_stick(a, b, epsilon) for a, b in itertools.permutations(laws, 2)]
        assert max(actual) <= delta * (1 + 1e-9)
        for _ in range(20):
            t = RNG.standard_normal(7) * np.where(np.arange(7) < 4, 1.0, RNG.random() / delta)
            # the dataset's own record lies between the two extremes
            minus, q, plus = laws[np.argsort(laws @ t)]
            t = (t - float(t @ q)) / float(t @ (plus - minus))
            beside = max(
                math.sqrt(float(law @ t**2) - float(law @ t) ** 2) for law in (plus, minus)
            )
            own = math.sqrt(float(q @ t**2)) / known.here + beside / known.beside
            assert own >= 1
            tightest = min(tightest, own)
    assert tightest < 8  # the test has some power


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.02])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_mechanism_that_knows_an_answer_pays_on_a_neighbour(epsilon, delta):
    """002, Theorem 53: T is 0 on the dataset; ±(1/2)/δ with chance δ on the two neighbours."""
    deviation = math.sqrt((1 - delta) / delta) / 2
    assert unbiased_substitute(1.0, 1, epsilon, delta, 1).beside <= deviation
    alone = math.sqrt((1 - delta) / delta)  # records come and go: the sum is off by 1
    assert unbiased_add_remove(1.0, epsilon, delta, 1).beside <= alone


def second_writing(epsilon, delta, more, pairs):
    """Return the two constants of one a, from the text of the theorem."""
    a = epsilon + more
    e = math.exp(a)
    eta = delta / (1 - math.exp(-more)) * {1: 1 + 1 / e, 3: 2 * (1 + 1 / e) + 2}[pairs]
    if pairs == 1:
        square = (e - 1) ** 2 / e + eta
        return (1 - eta) / math.sqrt(square), (1 - eta) / math.sqrt(eta)
    own = (e - 1) ** 2 * max(1 / e, 2 / (e + 2))
    slope = own if e <= 2 else own / (e - 1)
    return (1 - eta) / math.sqrt(own + slope * eta), (1 - eta) / (2 * math.sqrt(eta))


@pytest.mark.parametrize("pairs", [1, 3])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [1e-10, 1e-5])
def test_the_constants_are_those_of_the_theorem(epsilon, delta, pairs):
    for more in (1e-3, 0.1, 1.0):
        found = approximate._at(
            1.0, 2.0 if pairs == 3 else 1.0, epsilon, delta, 1, pairs=pairs, more=more
        )
        assert (found.here, found.beside) == pytest.approx(
            second_writing(epsilon, delta, more, pairs), rel=1e-10
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("a_more", [0.2, 1.0])
def test_the_set_outside_is_as_small_as_is_said(epsilon, a_more):
    """Two laws that are as far as (ε, δ) allows: δ at a ratio of exactly e^a, and its mirror."""
    delta, a = 1e-3, epsilon + a_more
    mass = delta / (1 - math.exp(epsilon - a))  # P(E) ≤ e^ε Q(E) + δ with Q(E) = e^{−a}P(E)
    p = np.array([mass, mass * math.exp(-a), 1 - mass - mass * math.exp(-a)])
    q = p[[1, 0, 2]]
    assert max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)) <= delta * (1 + 1e-9)
    outside = p[0] + p[1]
    assert outside == pytest.approx(delta * (1 + math.exp(-a)) / (1 - math.exp(epsilon - a)))


def test_without_delta_it_is_the_bound_of_pure_privacy():
    for epsilon in (*EPSILONS, 5.0, 900.0):
        found = unbiased_substitute(2.0, 3, epsilon, 0.0, 7)
        assert found.beside == math.inf
        assert found.least == pytest.approx(unbiased_local(2.0, 1, epsilon) / 3, rel=1e-9)


@pytest.mark.parametrize("dimension", [1, 2, 50])
def test_it_falls_with_delta_and_dimension_and_scales(dimension):
    deltas = (0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1)
    found = [unbiased_substitute(1.0, 1, 0.3, delta, dimension).least for delta in deltas]
    assert all(a >= b for a, b in itertools.pairwise(found))
    more = unbiased_substitute(1.0, 1, 0.3, 1e-9, dimension + 1).least
    assert more <= found[3]
    assert unbiased_substitute(6.0, 2, 0.3, 1e-9, dimension).least == pytest.approx(3 * found[3])
    assert unbiased_substitute(0.0, 2, 0.3, 1e-9, dimension).least == 0


@pytest.mark.parametrize("dimension", [1, 4])
def test_both_clauses_meet_in_the_least(dimension):
    known = Either(here=3.0, beside=40.0, dimension=dimension)
    shares = np.linspace(0.001, 0.999, 4001)
    best = max(min(known.split(float(x))) for x in shares)
    assert best <= known.least * (1 + 1e-12)
    assert best == pytest.approx(known.least, rel=2e-3)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_laws_of_nearby_distributions_are_as_close_as_is_said(size, epsilon):
    """e^{ε·count} reaches ε' exactly; random (ε, δ) mechanisms never exceed it."""
    datasets = list(itertools.product((0, 1, 2), repeat=size))  # x⁻, a point of P, x⁺
    beta = 1 / size
    weights = {"p": (0.0, 1.0, 0.0), "+": (0.0, 1 - beta, beta), "-": (beta, 1 - beta, 0.0)}
    laws = {k: np.array([np.prod([w[x] for x in data]) for data in datasets])
            for k, w in weights.items()}  # fmt: skip
    count = np.array([data.count(2) for data in datasets])
    most, _ = approximate.distributional(epsilon, 0.0, size)
    chance = np.exp(epsilon * (count - size))
    ratio = math.log(float(laws["+"] @ chance) / float(laws["p"] @ chance))
    assert ratio == pytest.approx(most, rel=1e-9)
    delta = 0.01
    within, lost = approximate.distributional(epsilon, delta, size)
    apart = np.array([[sum(map(ne, a, b)) for b in datasets] for a in datasets])
    added = delta * np.expm1(epsilon * apart) / math.expm1(epsilon)
    for _ in range(100):
        start = RNG.random(len(datasets)) * RNG.random() ** 3
        level = np.min(np.exp(epsilon * apart) * start + added, axis=1)  # (ε, δ) from any to any
        assert np.all(level <= np.exp(epsilon * apart) * level[None, :] + added + 1e-12)
        for a, b in itertools.permutations(laws.values(), 2):
            assert float(a @ level) <= math.exp(within) * float(b @ level) + lost * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 299.0, 301.0, 1000.0])
@pytest.mark.parametrize("size", [1, 10, 10**9])
def test_nearby_distributions_under_every_budget_are_as_sixty_digits_say(epsilon, size):
    with mpmath.workdps(60):
        more = mpmath.expm1(mpmath.mpf(epsilon))
        within = size * mpmath.log1p(more / size)
        lost = 1e-90 * mpmath.expm1(within) / more
        found = approximate.distributional(epsilon, 1e-90, size)
        assert within <= found[0] <= within * (1 + 1e-11)
        assert lost <= found[1]
        assert found[1] <= lost * (1 + 1e-8) or lost > 1e200
