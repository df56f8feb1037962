# SPDX-License-Identifier: Apache-2.0
"""What no factorization of a stream's workload can beat, in closed form."""

from __future__ import annotations

import math
from functools import singledispatch

import numpy as np

from lownoise.numbers.rounding import shrunk
from lownoise.questions.streams import Prefix

_EXACT = 1 << 16
_SLACK = 2.0**-36  # downward: sines and logarithms are not directed


@singledispatch
def trace_norm_down(workload: object) -> float:
    """Return at most ‖W‖_*/n, which no factorization's error is below at unit change.

    Both errors, √(‖B‖_F²/n)·‖C‖_{1→2} and the largest row of B for the first factor, are at least
    that: γ_F(W) ≥ ‖W‖_*/√n (003, Lemma 1), and a maximum is no less than a mean. 0 where no closed
    form is known.

    Args:
        workload: W.

    Examples:
        >>> round(trace_norm_down(Prefix(1)), 6)
        1.0
    """
    return 0.0


@trace_norm_down.register(Prefix)
def _prefix_trace_norm(workload: Prefix) -> float:
    # the singular values are 1/(2 sin((2j − 1)π/(4n + 2))), j = 1 … n (003)
    n = workload.rounds
    few = min(n, _EXACT)
    angle = math.pi / (4 * n + 2)
    total = math.fsum(0.5 / np.sin((2 * np.arange(1, few + 1) - 1) * angle))
    if few < n:
        # 1/sin falls, so the sum over j > few is at least the integral from few + 1 to n + 1,
        # and ∫ du/sin u = log tan(u/2)
        start, end = (2 * few + 1) * angle, min((2 * n + 1) * angle, math.pi / 2)
        whole = math.log(math.tan(end / 2)) - math.log(math.tan(start / 2))
        total += whole / (4 * angle)
    return shrunk(total / n, _SLACK)


def spread_down(block: int, rounds: int) -> float:
    """Return at most what a bound on γ_F² over `block` rounds is worth, a round, over all rounds.

    W holds the leading block ⌊n/m⌋ times along its diagonal where it is Toeplitz; each block of
    rows of B with its own columns of C factors it, so γ_F(W)² ≥ ⌊n/m⌋·γ_F(block)² (ours).

    Args:
        block: m.
        rounds: n ≥ m.

    Examples:
        >>> spread_down(4, 4), spread_down(4, 11)
        (0.25, 0.18181818181818182)
    """
    return (rounds // block) / rounds
