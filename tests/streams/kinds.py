# SPDX-License-Identifier: Apache-2.0
"""Every strategy with every workload that it takes: what the laws of streams run on."""

import itertools

import numpy as np

import lownoise as ln
from lownoise.planning.strategies import STRATEGIES
from lownoise.questions import LowerTriangular
from lownoise.streams import DensePair, NormalizedPair, RecursivePair, ToeplitzPair

WORKLOADS = {
    "prefix": ln.Prefix(21),
    "window": ln.SlidingWindow(20, 6),
    "decayed": ln.Decayed(19, 0.7),
    "momentum": LowerTriangular(
        [[0.5 * 0.9 ** (i - j) + (i - j) if j <= i else 0 for j in range(18)] for i in range(18)]
    ),
    "heavy ball": ln.Momentum(17, 0.9),
    "late": LowerTriangular(np.tril(np.ones((7, 7)), -1)),  # an answer without its own round
}


def taken():
    """Yield (workload's name, strategy) wherever the strategy takes the workload."""
    for (name, workload), strategy in itertools.product(WORKLOADS.items(), STRATEGIES):
        if STRATEGIES[strategy].refuses(workload) is None:
            yield name, strategy


TAKEN = list(taken())
KEPT = [own for own in TAKEN if own[1] != "rational"]


def _triangle(column):
    n = len(column)
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(lag >= 0, np.asarray(column)[np.maximum(lag, 0)], 0.0)


def _exponentials(bases, weights, count):
    return [float(sum(w * b**t for w, b in zip(weights, bases, strict=True))) for t in range(count)]


def factors(pair):
    """Return B and C of a small pair, dense: B as it is applied where noise is kept."""
    n = pair.rounds
    if isinstance(pair, RecursivePair):
        below = pair.rate * (1 - pair.gaps)
        above = pair.rate * (1 - pair.answer_gaps)
        B = _triangle(_exponentials(above, pair.answer_weights, n))
        return B, _triangle([1.0, *_exponentials(below, pair.weights, n - 1)])
    B = pair.apply(np.eye(pair.sources))
    if isinstance(pair, NormalizedPair):
        return B, _triangle(pair.strategy) / pair.lengths
    if isinstance(pair, ToeplitzPair):
        return B, _triangle(pair.strategy)
    if isinstance(pair, DensePair):
        return B, pair.strategy
    rows = []
    for level in range(n.bit_length()):
        for k in range(n >> level):
            row = np.zeros(n)
            row[k << level : (k + 1) << level] = 1
            rows.append(row)
    return B, np.array(rows)
