# SPDX-License-Identifier: Apache-2.0
"""Participations that the laws of streams run on, and all their patterns one by one."""

import itertools

from lownoise.sensitivity.participation import Participation

PATTERNED = (
    Participation(2, 5, "spaced"),
    Participation(3, 4, "spaced"),
    Participation(3, 4, "separated"),
    Participation(2, 1, "any"),
)


def patterns(own, rounds):
    """Yield every set of rounds, from 0, that one person may add to."""
    for count in range(1, own.count + 1):
        for found in itertools.combinations(range(rounds), count):
            gaps = [b - a for a, b in itertools.pairwise(found)]
            if own.pattern == "spaced":
                if all(gap == own.separation for gap in gaps):
                    yield found
            elif all(gap >= own.separation for gap in gaps):
                yield found
