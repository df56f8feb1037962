# SPDX-License-Identifier: Apache-2.0
"""What draws of a discrete law show: whether they have its chances, and how far two laws are apart.

Each has an error of the first kind of 1e-6.
"""

import math

import numpy as np
from scipy.stats import chi2, norm

from lownoise.numbers.randomness import SimulationRandomness

ERROR = 1e-6
LEAST = 20  # draws that an outcome of its own is to have; all others are one


def fits(found, outcomes, chances):
    """Return whether rows that were drawn have these chances, by χ².

    Args:
        found: shape (n, d), or (n,).
        outcomes: shape (k, d), or (k,).
        chances: shape (k,).
    """
    found = found.reshape(len(found), -1)
    kept = chances * len(found) >= LEAST
    place = {tuple(row): i for i, row in enumerate(outcomes[kept].reshape(kept.sum(), -1).tolist())}
    counts = np.zeros(kept.sum() + 1)
    for row, many in zip(*np.unique(found, axis=0, return_counts=True), strict=True):
        counts[place.get(tuple(row.tolist()), -1)] += many
    expected = np.append(chances[kept], 1 - chances[kept].sum()) * len(found)
    value = np.sum(np.square(counts - expected) / np.maximum(expected, 1e-3))
    return value < chi2.isf(ERROR, kept.sum())


def ratio_seen(one, two, places):
    """Return ε from below: the greatest log-ratio of two chances at a place that draws show.

    Args:
        one: rows that were drawn of one law, shape (n, d), or (n,).
        two: of the other.
        places: rows that are looked for.
    """
    z, most = norm.isf(ERROR / (2 * len(places))), 0.0  # deviations of each count
    for at in places:
        more, less = (
            float(np.sum(np.all(own.reshape(len(own), -1) == at, axis=1))) for own in (one, two)
        )
        low = more - z * math.sqrt(more)
        most = max(most, math.log(max(low, 1) / (less + z * math.sqrt(less) + z * z)))
    return most


class GivenWords:
    """Randomness whose first words are given; how many are asked for is counted."""

    def __init__(self, words):
        self._first, self._more, self.asked = list(words), SimulationRandomness(5), 0

    def words(self, count):
        self.asked += count
        if self._first:
            found, self._first = self._first[:count], self._first[count:]
            return np.array(found, dtype=np.uint64)
        return self._more.words(count)
