# SPDX-License-Identifier: Apache-2.0
"""Laws of randomizers in fractions, and what a law says of the loss and of reports."""

from fractions import Fraction
from functools import singledispatch
from itertools import combinations, product
from math import comb, prod

import numpy as np
from flint import arb, fmpq
from scipy.stats import chi2

from lownoise.local_model.coordinates import SampledCoordinates
from lownoise.local_model.labels import DirectResponse, SubsetSelection, UnaryEncoding
from lownoise.local_model.randomizer import FULL
from lownoise.local_model.tables import SampledTables
from lownoise.numbers.intervals import precision

MIXED = SampledTables(
    parts=(
        DirectResponse.fitted(3, 1.0),
        UnaryEncoding.fitted(2, 0.5),
        SubsetSelection.fitted(4, 0.5),
    ),
    tickets=(3, 1, 2),
)
LABELS = list(product(range(3), range(2), range(4)))  # of its tables


def points(r):
    """Return points of the cube of r coordinates: two corners, the middle, and two others."""
    inside = np.random.default_rng(3).integers(-FULL, FULL + 1, (2, r))
    return [np.full(r, FULL), np.full(r, -FULL), np.zeros(r, dtype=np.int64), *inside]


def nearest_corner(point):
    """Return the corner of the cube that is nearest."""
    return np.where(point > 0, FULL, -FULL)


def truth(randomizer, record):
    """Return what the mean of estimates is to be, shape (dimension,)."""
    if isinstance(randomizer, SampledCoordinates):
        return np.array(record) / FULL
    parts = randomizer.parts if isinstance(randomizer, SampledTables) else [randomizer]
    return np.concatenate([np.eye(p.labels)[i] for p, i in zip(parts, record, strict=True)])


@singledispatch
def law(randomizer, record):
    """Return the chance of every report of an encoded record, written out of stored numbers."""
    raise TypeError(randomizer, record)


@law.register
def law_of_one_label(randomizer: DirectResponse, record):
    k, uniform = randomizer.labels, Fraction(randomizer.uniform)
    return {(j,): uniform / k + (1 - uniform) * (j == record[0]) for j in range(k)}


@law.register
def law_of_bits(randomizer: UnaryEncoding, record):
    p, q = Fraction(randomizer.kept), Fraction(randomizer.added)
    one = [p if i == record[0] else q for i in range(randomizer.labels)]
    return {
        bits: prod(c if b else 1 - c for c, b in zip(one, bits, strict=True))
        for bits in product((0, 1), repeat=randomizer.labels)
    }


@law.register
def law_of_sets(randomizer: SubsetSelection, record):
    k, s, missed = randomizer.labels, randomizer.size, Fraction(randomizer.missed)
    found = {}
    for chosen in combinations(range(k), s):
        inside = record[0] in chosen
        chance = (1 - missed) / comb(k - 1, s - 1) if inside else missed / comb(k - 1, s)
        listed = randomizer.lowest.size == s and s * (k - 1).bit_length() < k
        found[chosen if listed else tuple(int(i in chosen) for i in range(k))] = chance
    return found


@law.register
def law_of_signs(randomizer: SampledCoordinates, record):
    r, b, f = randomizer.coordinates, randomizer.sampled, Fraction(randomizer.flipped)
    found = {}
    for chosen in combinations(range(r), b):
        for signs in product((0, 1), repeat=b):
            chances = []
            for i, sign in zip(chosen, signs, strict=True):
                above = (1 + Fraction(int(record[i]), FULL)) / 2
                plus = above * (1 - f) + (1 - above) * f
                chances.append(plus if sign else 1 - plus)
            report = tuple(2 * i + s for i, s in zip(chosen, signs, strict=True))
            found[report] = prod(chances) / comb(r, b)
    return found


@law.register
def law_of_tables(randomizer: SampledTables, record):
    found, width = {}, randomizer.lowest.size - 1
    for t, (part, ticket) in enumerate(zip(randomizer.parts, randomizer.tickets, strict=True)):
        for report, chance in law(part, record[t : t + 1]).items():
            padded = (t, *report, *(0,) * (width - len(report)))
            found[padded] = Fraction(ticket, sum(randomizer.tickets)) * chance
    return found


def check_loss(randomizer, laws):
    """Check that the loss is ln of the greatest ratio of chances of a report, or just above it."""
    assert all(sum(own.values()) == 1 for own in laws)
    most = max(a[report] / b[report] for a in laws for b in laws for report in a)
    with precision(200):
        exact, stated = arb(fmpq(most.numerator, most.denominator)).log(), randomizer.loss.epsilon
        assert exact <= arb(stated)
        assert arb(stated) - exact < 1e-14


def allowed(randomizer):
    """Return the reports that are allowed, of all within a step of the ends."""
    ends = zip(randomizer.lowest.tolist(), randomizer.highest.tolist(), strict=True)
    rows = np.array(list(product(*(range(low - 1, high + 2) for low, high in ends))))
    return {tuple(row) for row in rows[randomizer.allowed(rows)].tolist()}


def statistic(law, reports):
    """Return Pearson's statistic of reports against a law, over its quantile at 5e-8."""
    rows, counts = np.unique(reports, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    assert set(seen) <= set(law)
    expected = {report: float(chance) * len(reports) for report, chance in law.items()}
    assert min(expected.values()) > 5
    found = sum((seen.get(r, 0) - e) ** 2 / e for r, e in expected.items())
    return found / chi2.isf(5e-8, len(law) - 1)
