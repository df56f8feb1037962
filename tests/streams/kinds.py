# SPDX-License-Identifier: Apache-2.0
"""Every strategy with every workload that it takes: what the laws of streams run on."""

import itertools

import numpy as np

import lownoise as ln
from lownoise.planning.strategies import STRATEGIES
from lownoise.workloads import LowerTriangular

WORKLOADS = {
    "prefix": ln.Prefix(21),
    "window": ln.SlidingWindow(20, 6),
    "decayed": ln.Decayed(19, 0.7),
    "momentum": LowerTriangular(
        [[0.5 * 0.9 ** (i - j) + (i - j) if j <= i else 0 for j in range(18)] for i in range(18)]
    ),
    "late": LowerTriangular(np.tril(np.ones((7, 7)), -1)),  # an answer without its own round
}


def taken():
    """Yield (workload's name, strategy) wherever the strategy takes the workload."""
    for (name, workload), strategy in itertools.product(WORKLOADS.items(), STRATEGIES):
        if STRATEGIES[strategy].refuses(workload) is None:
            yield name, strategy


TAKEN = list(taken())


def factors(pair):
    """Return B as the pair applies it, and C from its own arrays: dense, for a small pair."""
    B = pair.apply(np.eye(pair.sources))
    n = pair.rounds
    if hasattr(pair, "strategy") and pair.strategy.ndim == 2:
        return B, pair.strategy
    if hasattr(pair, "strategy"):
        lag = np.subtract.outer(np.arange(n), np.arange(n))
        return B, np.where(lag >= 0, pair.strategy[np.maximum(lag, 0)], 0.0)
    rows = []
    for level in range(n.bit_length()):
        for k in range(n >> level):
            row = np.zeros(n)
            row[k << level : (k + 1) << level] = 1
            rows.append(row)
    return B, np.array(rows)
