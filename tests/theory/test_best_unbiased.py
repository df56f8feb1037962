# SPDX-License-Identifier: Apache-2.0
"""The best unbiased mechanism of a small table, by a linear program, is above every bound."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_array

import lownoise as ln

BIT = ln.Points([[0.0], [1.0]])
ANSWERS = np.linspace(-9, 11, 41)  # of a count of 2 bits: far beyond both ends


def least_error(epsilon, delta, tables):
    """Return the least of the greatest root mean square error on some tables of two bits.

    Unknown are the chances of the answers on each count, what an (ε, δ)-pair may leave over, and
    the greatest square. A mechanism that answers whole numbers of a grid is one of all mechanisms:
    its error is above the best one's.
    """
    counts, r = range(3), ANSWERS.size
    pairs = [(i, j) for i, j in itertools.permutations(counts, 2) if abs(i - j) == 1]
    start = 3 * r
    size = start + len(pairs) * r + 1
    above = lil_array((len(pairs) * (r + 1) + len(tables), size))
    most = np.zeros(above.shape[0])
    row = 0
    for k, (i, j) in enumerate(pairs):
        for a in range(r):
            above[row, i * r + a] = 1
            above[row, j * r + a] = -math.exp(epsilon)
            above[row, start + k * r + a] = -1
            row += 1
        for a in range(r):
            above[row, start + k * r + a] = 1
        most[row] = delta
        row += 1
    for x in tables:
        for a in range(r):
            above[row, x * r + a] = (ANSWERS[a] - x) ** 2
        above[row, size - 1] = -1
        row += 1
    equal, to = lil_array((6, size)), np.zeros(6)
    for x in counts:
        for a in range(r):
            equal[2 * x, x * r + a] = 1
            equal[2 * x + 1, x * r + a] = ANSWERS[a]
        to[2 * x : 2 * x + 2] = 1, x
    cost = np.zeros(size)
    cost[-1] = 1
    solved = linprog(
        cost, A_ub=above.tocsr(), b_ub=most, A_eq=equal.tocsr(), b_eq=to, method="highs"
    )
    assert solved.status == 0, solved.message
    return math.sqrt(solved.fun)


@pytest.mark.parametrize("epsilon", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("table", [0, 1])
def test_no_unbiased_mechanism_beats_the_pure_bound_on_any_table(epsilon, table):
    bound = 2 * ln.theory.pure_bound(BIT, ln.pure_dp(epsilon), size=2).value
    best = least_error(epsilon, 0.0, [table])
    assert 0.6 * best < bound <= best * (1 + 1e-7)


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.05])
@pytest.mark.parametrize("table", [0, 1])
def test_none_beats_the_bound_of_a_table_or_its_neighbours(epsilon, delta, table):
    bound = 2 * ln.theory.approximate_bound(BIT, ln.approx_dp(epsilon, delta), size=2).value
    beside = [x for x in range(3) if abs(x - table) <= 1]
    best = least_error(epsilon, delta, beside)
    assert 0.05 * best < bound <= best * (1 + 1e-7)
    if delta > 1e-3:  # the clause is needed: one table alone has less than any bound of ε-DP
        alone = least_error(epsilon, delta, [table])
        assert alone < 0.9 * best
