# SPDX-License-Identifier: Apache-2.0
"""What shuffled reports reveal: above real shuffles counted out, and hardly above the clones'."""

import itertools
import math
from collections import Counter
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from lownoise.errors import BudgetError
from lownoise.privacy import shuffling
from lownoise.privacy.shuffling import delta_up, epsilon_up, local_epsilon_down

SMALL = [(e0, n) for e0 in (0.1, 0.7, 1.5, 3.0) for n in (1, 2, 3, 5, 9)]


def clones(local_epsilon, size):
    """Both laws of (A + Δ, C − A + 1 − Δ), one outcome at a time."""
    p, chance = 1 / (1 + math.exp(-local_epsilon)), math.exp(-local_epsilon)
    laws = Counter(), Counter()
    for c in range(size):
        for a in range(c + 1):
            share = math.comb(size - 1, c) * chance**c * (1 - chance) ** (size - 1 - c)
            share *= math.comb(c, a) / 2**c
            for law, q in zip(laws, (p, 1 - p), strict=True):
                law[a + 1, c - a] += share * q
                law[a, c - a + 1] += share * (1 - q)
    return laws


def delta_of(one, other, epsilon):
    """∑ max(0, P − e^ε·Q), whichever is P."""
    both = one.keys() | other.keys()
    return max(
        math.fsum(max(0.0, a[at] - math.exp(epsilon) * b[at]) for at in both)
        for a, b in ((one, other), (other, one))
    )


@pytest.mark.parametrize(("local_epsilon", "size"), SMALL)
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_delta_is_that_of_the_clones(local_epsilon, size, part):
    epsilon = part * local_epsilon
    true = delta_of(*clones(local_epsilon, size), epsilon)
    found = delta_up(local_epsilon, size, epsilon)
    assert true * (1 - 1e-12) - 1e-17 <= found <= true * (1 + 1e-9) + 1e-17


def shuffled(laws):
    """The law of how often each outcome occurs, given each person's law of outcomes."""
    found = Counter({(0,) * len(laws[0]): 1.0})
    for law in laws:
        after = Counter()
        for counts, chance in found.items():
            for at, share in enumerate(law):
                after[(*counts[:at], counts[at] + 1, *counts[at + 1 :])] += chance * share
        found = after
    return found


def response(epsilon, labels):
    """Randomized response of labels: the chance of each report, one row a label."""
    e = math.exp(epsilon)
    return (np.ones((labels, labels)) + (e - 1) * np.eye(labels)) / (e + labels - 1)


def uneven(epsilon):
    """Three records, four outcomes, no symmetry; within e^ε of each other, and as far at some."""
    rows = np.array([[0, 1, 0.3, 0.5], [1, 0, 0.6, 0.2], [0.4, 0.7, 0, 1]])
    laws = np.exp(epsilon / 2 * rows)
    return laws / laws.sum(axis=1, keepdims=True)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("make", [lambda e: response(e, 2), lambda e: response(e, 3), uneven])
@pytest.mark.parametrize(("local_epsilon", "size"), SMALL)
def test_no_shuffle_of_real_reports_reveals_more(make, local_epsilon, size):
    laws = make(local_epsilon)
    records = range(len(laws))
    worst = dict.fromkeys((0.05, 0.3, 0.7), 0.0)
    for others in itertools.combinations_with_replacement(records, size - 1):
        seen = [shuffled([laws[x] for x in (own, *others)]) for own in records]
        for one, other in itertools.combinations(seen, 2):
            for part in worst:
                found = delta_of(one, other, part * local_epsilon)
                worst[part] = max(worst[part], found)
    for part, delta in worst.items():
        assert delta <= delta_up(local_epsilon, size, part * local_epsilon) * (1 + 1e-12)


def test_reports_of_a_bit_are_not_far_from_it():
    """Randomized response of a bit reveals half of that at least: the bound says something."""
    local_epsilon, size, delta = 1.0, 400, 1e-4
    keep = 1 / (1 + math.exp(-local_epsilon))
    counts = np.arange(size)
    rest = binom.pmf(counts, size - 1, 1 - keep)  # nobody else has the bit
    zero = np.append(rest, 0) * keep + np.append(0, rest) * (1 - keep)
    one = np.append(rest, 0) * (1 - keep) + np.append(0, rest) * keep
    found = epsilon_up(local_epsilon, size, delta)
    assert np.maximum(one - math.exp(found) * zero, 0).sum() <= delta
    assert np.maximum(one - math.exp(found / 2) * zero, 0).sum() > delta


@pytest.mark.parametrize("local_epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("size", [300, 20_000, 1_000_000])
@pytest.mark.parametrize("epsilon", [0.005, 0.03, 0.2])
def test_sums_over_all_counts_in_floats_agree(local_epsilon, size, epsilon):
    """The same sum over every c within nine deviations, by scipy's tails."""
    chance, p = math.exp(-local_epsilon), 1 / (1 + math.exp(-local_epsilon))
    if epsilon >= local_epsilon:
        return
    middle = (size - 1) * chance
    far = 9 * math.sqrt(middle * (1 - chance)) + 40
    c = np.arange(max(int(middle - far), 0), min(int(middle + far), size - 1) + 1)
    e = math.exp(epsilon)
    k = np.ceil((c + 1) * (e * p - (1 - p)) / ((2 * p - 1) * (1 + e)))
    own = p * binom.sf(k - 2, c, 0.5) + (1 - p) * binom.sf(k - 1, c, 0.5)
    other = (1 - p) * binom.sf(k - 2, c, 0.5) + p * binom.sf(k - 1, c, 0.5)
    true = (binom.pmf(c, size - 1, chance) * np.maximum(own - e * other, 0)).sum()
    found = delta_up(local_epsilon, size, epsilon)
    assert true * (1 - 1e-6) - 1e-12 <= found <= true * 1.005 + 1e-12


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize("local_epsilon", [1e-6, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 1000.0])
def test_more_people_reveal_less_and_never_more_than_alone(local_epsilon):
    for delta in (1e-100, 1e-6, 0.01):
        found = [epsilon_up(local_epsilon, 10**k, delta) for k in range(9)]
        assert all(0 <= after <= before * (1 + 1e-4) for before, after in pairwise(found))
        assert found[0] <= local_epsilon
        if delta == 1e-6 and 0.5 <= local_epsilon <= 4:
            assert found[7] < 0.02


def test_near_sizes_reveal_nearly_the_same():
    """Where c is no more looked at one by one, little is lost."""
    found = [epsilon_up(1.0, n, 1e-6) for n in range(600, 6000, 300)]
    assert all(after < before for before, after in pairwise(found))
    scaled = [e * math.sqrt(n) for e, n in zip(found, range(600, 6000, 300), strict=True)]
    # it falls slowly, as √ln does, and has no step where c is gathered
    assert all(0.98 * before < after < before * 1.0001 for before, after in pairwise(scaled))


@pytest.mark.parametrize("local_epsilon", [0.1, 1.0, 3.0])
def test_epsilon_and_delta_are_of_one_curve(local_epsilon):
    """Up to how finely c is gathered, which depends on δ."""
    for size in (1, 30, 5000, 10**6):
        for delta in (1e-9, 1e-5):
            epsilon = epsilon_up(local_epsilon, size, delta)
            assert delta_up(local_epsilon, size, epsilon) <= delta * (1 + 2e-3)
            if size > 1:
                assert delta_up(local_epsilon, size, epsilon * (1 - 1e-4)) > delta * (1 - 2e-3)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.5, 2.0])
@pytest.mark.parametrize("size", [1, 50, 5000, 10**6])
def test_reports_may_reveal_so_much_where_they_are_shuffled(epsilon, size):
    delta = 1e-6
    local_epsilon = local_epsilon_down(epsilon, size, delta)
    assert local_epsilon >= epsilon
    assert delta_up(local_epsilon, size, epsilon) <= delta * (1 + 2e-3)
    assert delta_up(local_epsilon * 1.001, size, epsilon) > delta * (1 - 2e-3)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("local_epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("size", [10**4, 10**6, 10**8])
def test_below_the_closed_bound(local_epsilon, size):
    """ln(1 + 16·tanh(ε₀/2)·√(e^{ε₀} ln(4/δ)/n)), Feldman, McMillan & Talwar 2021, of large n."""
    delta = 1e-6
    closed = 16 * math.tanh(local_epsilon / 2)
    closed *= math.sqrt(math.exp(local_epsilon) * math.log(4 / delta) / size)
    assert epsilon_up(local_epsilon, size, delta) <= math.log1p(closed)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("trials", [1, 7, 400, 30_000])
@pytest.mark.parametrize("chance", [1e-9, 0.02, math.exp(-1), 1 - 2**-40])
def test_chances_of_clones_are_rounded_up_and_so_are_both_ends(trials, chance):
    start, chances, below = shuffling._window(trials, chance, 0.9)
    last = start + chances.size - 1
    with mpmath.workdps(40):
        odds = mpmath.mpf(chance) / (1 - mpmath.mpf(chance))
        true = [
            mpmath.binomial(trials, start)
            * mpmath.mpf(chance) ** start
            * (1 - mpmath.mpf(chance)) ** (trials - start)
        ]
        for c in range(start + 1, trials + 1 if trials < 500 else last + 400):
            true.append(true[-1] * (trials - c + 1) / c * odds)
        for found, one in zip(chances[:-1], true[: chances.size - 1], strict=True):
            assert one <= found <= one * (1 + mpmath.mpf(10) ** -9) + mpmath.mpf(2) ** -999
        beyond = mpmath.fsum(true[chances.size - 1 :])
        assert beyond <= chances[-1] <= 3 * beyond + mpmath.mpf(2) ** -990
        under, term = mpmath.mpf(0), true[0]
        for c in range(start, 0, -1):
            term *= c / (trials - c + 1) / odds
            under += term
        assert under <= below <= 3 * under


def test_counts_below_the_first_are_as_if_all_were_seen():
    few = shuffling._Clones(np.array([50]), np.array([0.75]), 0.25, false=0.2)
    none = shuffling._Clones(np.array([50]), np.array([0.75]), 0.0, false=0.2)
    assert few.delta_up(0.3) == pytest.approx(none.delta_up(0.3) + 0.25)


def test_tails_are_rounded_down_and_chances_up():
    counts = np.array([0, 1, 2, 9, 80, 4001])
    first = np.array([1, 1, 2, 7, 55, 2100])
    tails = shuffling._tails_down(counts, first)
    chances = shuffling._binomials_up(counts, first.tolist())
    for c, k, tail, chance in zip(counts.tolist(), first.tolist(), tails, chances, strict=True):
        at = math.comb(c, k - 1)
        with mpmath.workdps(40):
            true = mpmath.mpf(sum(math.comb(c, j) for j in range(k, c + 1))) / at
            assert true * (1 - mpmath.mpf(10) ** -9) <= tail <= true
            true = mpmath.mpf(at) / mpmath.mpf(2) ** c
            assert true <= chance <= true * (1 + mpmath.mpf(10) ** -12)


def test_delta_falls_with_epsilon_to_nothing():
    for local_epsilon, size in [(1.0, 100), (3.0, 10**5), (0.01, 7)]:
        grid = np.linspace(0, local_epsilon, 40)
        found = [delta_up(local_epsilon, size, epsilon) for epsilon in grid]
        assert all(after <= before for before, after in pairwise(found))
        assert found[-1] == 0.0


def test_what_is_out_of_range_is_refused_in_one_line():
    for call, match in [
        (lambda: epsilon_up(0.0, 5, 1e-6), r"local_epsilon=0\.0 is out of range"),
        (lambda: epsilon_up(math.inf, 5, 1e-6), "local_epsilon=inf is out of range"),
        (lambda: epsilon_up(1.0, 0, 1e-6), "size=0 is no number of people"),
        (lambda: epsilon_up(1.0, 5, 0.0), r"delta=0\.0 is out of range"),
        (lambda: epsilon_up(1.0, 5, 1.0), r"delta=1\.0 is out of range"),
        (lambda: local_epsilon_down(1.0, 5, 1.0), r"delta=1\.0 is out of range"),
        (lambda: delta_up(1.0, 5, -1.0), r"epsilon=-1\.0 is out of range"),
        (lambda: delta_up(1.0, 5, math.nan), "epsilon=nan is out of range"),
    ]:
        with pytest.raises(BudgetError, match=match) as caught:
            call()
        assert "\n" not in str(caught.value)
