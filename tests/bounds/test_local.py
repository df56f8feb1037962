# SPDX-License-Identifier: Apache-2.0
"""The local lower bound: its constant by linear programming, true of real laws, met by some."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from lownoise.bounds import ball_local, published_local, unbiased_local
from lownoise.local_model.cap_law import best, greatest_mean_up, moments

EPSILONS = st.floats(1e-6, 1000)
FEW = [0.01, 0.3, math.log(2), 0.8, 1.5, 3.0, 6.0]


def constant(epsilon):
    """C, in the terms of docs/theory.md."""
    e = math.exp(epsilon)
    return (e - 1) ** 2 * max(1 / e, 2 / (e + 2))


@pytest.mark.parametrize("epsilon", FEW)
def test_the_constant_is_the_greatest_over_laws_of_many_outcomes(epsilon):
    """∫(P⁺−P⁻)²/Q over all laws whose densities at an outcome are among many triples within e^ε."""
    e = math.exp(epsilon)
    draws = np.random.default_rng(3)
    grid = np.exp(epsilon * np.array(list(itertools.product(np.linspace(0, 1, 9), repeat=3))))
    inside = np.exp(epsilon * draws.random((500, 3)))
    triples = np.vstack([grid, inside])
    assert (triples.max(axis=1) <= e * triples.min(axis=1) * (1 + 1e-12)).all()
    values = (triples[:, 0] - triples[:, 1]) ** 2 / triples[:, 2]
    found = linprog(-values, A_eq=triples.T, b_eq=np.ones(3), method="highs")
    assert -found.fun == pytest.approx(constant(epsilon), rel=1e-9)


@pytest.mark.parametrize("epsilon", FEW)
def test_the_linear_function_of_the_proof_is_above(epsilon):
    e, c = math.exp(epsilon), constant(epsilon)
    alpha, beta = (2 * c, -c) if e <= 2 else (e * c / (e - 1), -c / (e - 1))
    assert alpha + beta == pytest.approx(c)
    p, r, q = np.random.default_rng(4).uniform(1, e, size=(3, 20_000))
    corners = np.array(list(itertools.product([1, e], repeat=3))).T
    for a, b, d in ((p, r, q), corners):
        above = alpha * (a + b) / 2 + beta * d
        assert (above - (a - b) ** 2 / d >= -1e-12 * e * c).all()


@given(st.floats(1e-3, 8), st.integers(2, 7), st.integers(0, 10**6))
def test_no_three_laws_exceed_it(epsilon, outcomes, seed):
    """Laws within e^ε of each other: densities of [1, e^{ε/2}] over sums that are so, too."""
    draws = np.random.default_rng(seed)
    laws = np.exp(epsilon / 2 * draws.integers(0, 2, size=(3, outcomes)))
    laws /= laws.sum(axis=1, keepdims=True)
    p, r, q = laws
    ratio = max((a / b).max() for a, b in itertools.permutations(laws, 2))
    assert ratio <= math.exp(epsilon) * (1 + 1e-12)
    if ratio > 1 + 1e-9:
        assert ((p - r) ** 2 / q).sum() <= constant(math.log(ratio)) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", FEW)
def test_three_laws_attain_it(epsilon):
    e = math.exp(epsilon)
    if e >= 2:  # each says one of three outcomes with chance e/(e + 2)
        laws = (np.ones((3, 3)) + (e - 1) * np.eye(3)) / (e + 2)
    else:  # P⁺ and P⁻ by randomized response, Q half of either way
        x = 1 / (2 * e + 2)
        laws = x * np.array([[e, 1, e, 1], [1, e, 1, e], [1, 1, e, e]])
    assert laws.sum(axis=1) == pytest.approx(1)
    assert max((a / b).max() for a, b in itertools.permutations(laws, 2)) <= e * (1 + 1e-12)
    p, r, q = laws
    assert ((p - r) ** 2 / q).sum() == pytest.approx(constant(epsilon), rel=1e-12)


@given(EPSILONS, st.integers(1, 10**9), st.floats(1e-6, 1e6))
def test_rounding_is_downward_and_small(epsilon, size, gamma):
    with mpmath.workdps(60):
        e, g = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(gamma)
        root = (e - 1) * mpmath.sqrt(size)
        ours = g / (root * mpmath.sqrt(max(1 / e, 2 / (e + 2))))
        theirs = g / (2 * root / mpmath.sqrt(e))
        for found, true in [
            (unbiased_local(gamma, size, epsilon), ours),
            (published_local(gamma, size, epsilon), theirs),
        ]:
            assert true * (1 - mpmath.mpf(2) ** -39) <= found <= true


@given(EPSILONS)
def test_beats_the_published_bound_and_falls_with_epsilon(epsilon):
    ours = unbiased_local(1, 1, epsilon)
    assert published_local(1, 1, epsilon) < ours
    assert unbiased_local(1, 1, epsilon * 1.01) < ours


def test_randomized_response_meets_it_up_to_the_logarithm_of_two():
    for epsilon in (0.001, 0.1, 0.5, math.log(2), 0.75, 1.0, 4.0, 20.0):
        keep = 1 / (1 + math.exp(-epsilon))
        deviation = math.sqrt(keep * (1 - keep)) / (2 * keep - 1)  # of a bit, whichever it is
        bound = unbiased_local(1.0, 1, epsilon)
        if epsilon <= math.log(2):
            assert bound == pytest.approx(deviation, rel=1e-9)
        assert 0.7 * deviation <= bound <= deviation


@pytest.mark.grid(3)
@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 100, 1000])
def test_no_cap_randomizer_is_below_it_on_any_record(dimension):
    """A record of length 1 has the least variance, 1/m² − 1; Γ₂(K−K) = 2√d."""
    for epsilon in (1e-6, 0.01, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0):
        mean = moments(dimension, *best(dimension, epsilon))[0]
        deviation = math.sqrt(1 / mean**2 - 1)
        bound = unbiased_local(2 * math.sqrt(dimension), 1, epsilon)
        assert bound <= deviation
        if epsilon <= 0.01 and dimension >= 100:
            assert deviation / bound == pytest.approx(math.sqrt(math.pi / 2), rel=0.01)


@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 1000])
def test_the_cap_randomizer_errs_exactly_the_least_on_the_sphere(dimension):
    for epsilon in (1e-6, 0.5, 1.0, 4.0, 8.0):
        mean = moments(dimension, *best(dimension, epsilon))[0]
        deviation = math.sqrt((1 - mean) * (1 + mean)) / mean
        bound = ball_local(greatest_mean_up(dimension, epsilon), 1)
        assert bound <= deviation <= bound * (1 + 1e-8)
        assert bound >= unbiased_local(2 * math.sqrt(dimension), 1, epsilon) * (1 - 1e-9)
        assert ball_local(greatest_mean_up(dimension, epsilon), 100) == pytest.approx(bound / 10)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_no_unbiased_report_of_points_of_a_circle_beats_it(epsilon):
    """The argument on twelve points, whose greatest mean is that of some points in a row.

    Of reports with given chances the least E|T|², T unbiased at every point, is least squares.
    """
    draws = np.random.default_rng(5)
    angles = np.arange(12) * math.pi / 6
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    odds = math.expm1(epsilon)
    sums = [np.hypot(*points[:k].sum(axis=0)) for k in range(1, 7)]
    mean = max(odds * total / (12 + odds * k) for k, total in enumerate(sums, 1))
    assert mean == pytest.approx(greatest_mean_up(2, epsilon), rel=0.05)
    bound, least = ball_local(mean, 1), math.inf
    for trial in range(60):
        # likelier near the point itself, evenly or not
        edge = math.cos(math.pi * (trial % 6 + 0.5) / 12) + draws.normal(0, 0.2, (12, 12)) * (
            trial > 5
        )
        near = np.cos(angles[:, None] - angles[None, :]) > edge
        laws = np.where(near, math.exp(epsilon), 1.0)
        laws /= laws.sum(axis=1, keepdims=True)
        if (laws.max(axis=0) / laws.min(axis=0)).max() > math.exp(epsilon) * (1 + 1e-9):
            laws = (laws + np.ones((12, 12)) / 12 * 30) / 31  # little of it is then private
            ratio = (laws.max(axis=0) / laws.min(axis=0)).max()
            assert ratio <= math.exp(epsilon)
        share = laws.mean(axis=0)
        gram = laws @ (laws / share).T
        estimate = (laws / share).T @ np.linalg.lstsq(gram, points, rcond=None)[0]
        if np.abs(laws @ estimate - points).max() < 1e-9:
            second = (share[:, None] * estimate**2).sum()
            assert second - 1 >= bound**2 * (1 - 1e-9)
            least = min(least, second - 1)
    assert least < 1.3 * bound**2


@pytest.mark.parametrize("seed", range(20))
def test_no_use_of_all_reports_together_beats_each_for_itself(seed):
    """002, Lemma 54, of two people, three outcomes and whatever function of both is unbiased."""
    draws = np.random.default_rng(seed)
    laws = draws.dirichlet([2, 2, 2], size=2)  # of a bit that is 0, of one that is 1
    # ∑ f(a, b) laws[x, a] laws[y, b] = (x + y)/2 for all x, y: any solution
    rows = np.array([np.outer(laws[x], laws[y]).ravel() for x in (0, 1) for y in (0, 1)])
    means = np.array([0.0, 0.5, 0.5, 1.0])
    start = np.linalg.lstsq(rows, means, rcond=None)[0]
    free = np.linalg.svd(rows)[2][4:]
    f = (start + free.T @ draws.normal(size=5)).reshape(3, 3)
    for x, y in itertools.product((0, 1), repeat=2):
        joint = np.outer(laws[x], laws[y])
        variance = (joint * f**2).sum() - (joint * f).sum() ** 2
        own = [(laws[x], 2 * f @ laws[y] - y), (laws[y], 2 * laws[x] @ f - x)]
        parts = [(law * g**2).sum() - (law * g).sum() ** 2 for law, g in own]
        assert variance >= sum(parts) / 4 - 1e-12
        ratio = max((laws[0] / laws[1]).max(), (laws[1] / laws[0]).max())
        assert math.sqrt(variance) >= unbiased_local(1.0, 2, math.log(ratio)) - 1e-12


def test_zero_width_needs_nothing_and_large_epsilon_overflows_nothing():
    assert unbiased_local(0.0, 5, 1.0) == 0
    assert 0 < unbiased_local(1.0, 5, 1000.0) < 1e-200
