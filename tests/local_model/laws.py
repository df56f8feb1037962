# SPDX-License-Identifier: Apache-2.0
"""What the law of a randomizer's reports, written out in fractions, says of it and of reports."""

from itertools import product

import numpy as np
from flint import arb, fmpq
from scipy.stats import chi2

from lownoise.numbers.intervals import precision


def ratio(laws):
    """Return how many times as likely a report is from one record as from another, at most."""
    assert all(sum(own.values()) == 1 for own in laws)
    return max(a[report] / b[report] for a in laws for b in laws for report in a)


def check_loss(randomizer, laws):
    """Check that the loss that is stated is the logarithm of that, and just above it."""
    most, stated = ratio(laws), randomizer.loss.epsilon
    with precision(200):
        exact = arb(fmpq(most.numerator, most.denominator)).log()
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
