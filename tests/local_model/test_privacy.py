# SPDX-License-Identifier: Apache-2.0
"""No report tells two records apart by more than the loss says, judged from reports alone.

A black-box test on every randomizer: of reports of two records it learns an event that tells them
apart, and on fresh reports bounds the ratio of its chances from below. Where that bound is above ε
the randomizer is not as private as it says. Error of the first kind: each bound is wrong with a
chance of at most 2e-9 (two Clopper-Pearson ends of 1e-9), and there are fewer than 200 of them.
Power: on every member the test finds at least what `FOUND` says of its ε, so one that reveals twice
what it states, or draws with another threshold, is caught (`test_twice_the_loss_is_caught`).
"""

import math

import numpy as np
import pytest
from scipy.stats import beta

from local_model.coins import sizes
from local_model.members import MEMBERS
from lownoise.local_model import FULL
from lownoise.numbers.randomness import SimulationRandomness

COUNT = 60_000
ERROR = 1e-9
NARROW = 64  # values: a column of so few is looked at one by one
FOUND = 0.55  # of ε, by the black box on the worst pair that is tried


def pairs(randomizer):
    """Pairs of encoded records that are far apart, some inside, and some that are neighbours."""
    r = randomizer.dimension
    if "label" in randomizer.takes:
        last, zeros = np.array(sizes(randomizer)) - 1, np.zeros(len(sizes(randomizer)), np.int64)
        return [(zeros, zeros + 1), (last, zeros)]
    end = np.zeros(r, dtype=np.int64)
    end[0] = FULL
    if randomizer.takes == "cube":
        full = np.full(r, FULL)
        return [(full, -full), (end, -end), (full, np.zeros(r, dtype=np.int64))]
    turned = np.roll(end, 1)
    inside = np.full(r, int(FULL * 0.5 / math.sqrt(r)))
    return [(end, -end), (end, turned), (end, 0 * end), (inside, -inside), (turned, 0 * end)]


def features(randomizer, reports):
    """Columns as they are, or an indicator of each value where there are few of them."""
    columns = []
    for j in range(reports.shape[1]):
        low, high = int(randomizer.lowest[j]), int(randomizer.highest[j])
        if high - low <= NARROW:
            columns += [(reports[:, j] == k).astype(float) for k in range(low, high + 1)]
        else:
            columns.append(reports[:, j].astype(float))
    return np.stack(columns, axis=1)


def linear(one, two):
    """A score: the difference of the two means, by their variances."""
    pooled = np.vstack([one, two])
    apart, spread = one.mean(axis=0) - two.mean(axis=0), pooled.var(axis=0)
    along = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    return lambda rows: rows @ along


def by_columns(one, two):
    """A score: the columns' log ratios of how often a sixteenth of all values comes, added up."""
    rows = []
    for first, second in zip(one.T, two.T, strict=True):
        ends = np.unique(np.quantile(np.concatenate([first, second]), np.arange(1, 16) / 16))
        often = [
            np.bincount(np.searchsorted(ends, own), minlength=len(ends) + 1) + 0.5
            for own in (first, second)
        ]
        rows.append((ends, np.log(often[0] / often[1])))

    def score(values):
        return sum(
            ratio[np.searchsorted(ends, own)]
            for own, (ends, ratio) in zip(values.T, rows, strict=True)
        )

    return score


def least_ratio(hits, others):
    """At most log P(E)/P'(E), sure but for 2·ERROR."""
    least = beta.ppf(ERROR, hits.sum(), COUNT - hits.sum() + 1) if hits.any() else 0.0
    most = beta.ppf(1 - ERROR, others.sum() + 1, COUNT - others.sum())
    return math.log(least / most) if least > 0 else -math.inf


def found(randomizer, first, second, seed):
    """The largest log ratio of chances that reports of two records show, from below."""
    randomness = SimulationRandomness(seed)

    def drawn(record):
        encoded = np.repeat(np.array([record], dtype=np.int64), COUNT, axis=0)
        return features(randomizer, randomizer.reports(encoded, randomness=randomness))

    one, two = drawn(first), drawn(second)
    best, score, end = -math.inf, None, 0.0
    for made in (linear(one, two), by_columns(one, two)):
        scores = made(one), made(two)
        for own in np.unique(np.quantile(np.concatenate(scores), np.linspace(0.005, 0.995, 100))):
            middle = own + 1e-9 * (1 + abs(own))  # a score that is as large is not above it
            ratio = least_ratio(scores[0] > middle, scores[1] > middle)
            if ratio > best:
                best, score, end = ratio, made, middle
    if score is None:
        return -math.inf
    return least_ratio(score(drawn(first)) > end, score(drawn(second)) > end)


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize("name", MEMBERS)
def test_no_pair_shows_more_than_the_loss(name):
    randomizer = MEMBERS[name]()
    loss = randomizer.loss
    shown = [found(randomizer, *pair, seed=1000 * k) for k, pair in enumerate(pairs(randomizer))]
    if math.isfinite(loss.epsilon):
        assert max(shown) <= loss.epsilon
        assert max(shown) >= FOUND * loss.epsilon  # or the test could not fail
    else:  # Gaussian: no ε holds; what it shows is bounded by its own curve elsewhere
        assert max(shown) > 0


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", MEMBERS)
def test_twice_the_loss_is_caught(name):
    """One that reveals twice what it states shows more than half of its own ε."""
    randomizer = MEMBERS[name]()
    epsilon = randomizer.loss.epsilon
    if math.isfinite(epsilon):
        first, second = pairs(randomizer)[0]
        assert found(randomizer, first, second, seed=5) > epsilon / 2


@pytest.mark.parametrize("name", MEMBERS)
def test_reports_are_within_their_ranges_and_allowed(name):
    randomizer = MEMBERS[name]()
    for first, second in pairs(randomizer):
        rows = np.array([first, second] * 500, dtype=np.int64)
        reports = randomizer.reports(rows, randomness=SimulationRandomness(2))
        assert reports.dtype == np.int64
        assert reports.shape == (1000, randomizer.lowest.size)
        assert np.all(reports >= randomizer.lowest)
        assert np.all(reports <= randomizer.highest)
        assert np.all(randomizer.allowed(reports))
