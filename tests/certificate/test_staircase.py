# SPDX-License-Identifier: Apache-2.0
"""No noise that is added around a ball errs less than the staircase, by other methods too.

Mutants, each seen red: what is proved raised, the slope left out or of another power, one sum with
the other's power.
"""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from lownoise.certificate import staircase
from lownoise.certificate.staircase import least_first, least_square_down, staircase_ratio
from lownoise.samplers.steps import StepRadius

LAWS = [(1, 0.5), (1, 1.0), (1, 4.0), (1, 16.0), (2, 2.0), (3, 8.0), (6, 4.0), (16, 1.0), (64, 1.0)]


def attained(d, epsilon, first):
    return StepRadius(d, epsilon, first).mean(2.0) * d / (d + 2)


@pytest.mark.grid(3)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_what_is_proved_is_what_the_staircase_has(law):
    least = attained(*law, least_first(*law))
    assert 1 <= least / least_square_down(*law) < 1 + 1e-5
    for first in np.linspace(0.01, 1, 23):
        assert attained(*law, first) >= least * (1 - 1e-12)


@pytest.mark.parametrize(("d", "epsilon"), [(1, 1.0), (1, 4.0), (2, 2.0), (3, 3.0)])
def test_a_linear_programme_over_all_profiles_finds_none_below(d, epsilon):
    """Densities that are constant on cells, rising or falling: f(r) ≤ e^ε·f(r') where |r − r'| ≤ 1.

    The grid has 12 cells a step, so that its own least is up to 2% above.
    """
    cells, end = 12, math.ceil(24 / epsilon) + 2 * d  # beyond it f is not bound at all
    edges = np.arange(cells * end + 1) / cells
    mass = np.diff(edges**d)
    square = np.diff(edges ** (d + 2)) * d / (d + 2)
    rows, columns, values = [], [], []
    n, at = mass.size, 0
    for gap in range(1, cells + 1):
        for i in range(n - gap):
            for a, b in ((i, i + gap), (i + gap, i)):
                rows += [at, at]
                columns += [a, b]
                values += [1.0, -math.exp(epsilon)]
                at += 1
    bounds = coo_matrix((values, (rows, columns)), shape=(at, n))
    found = linprog(
        square, A_ub=bounds.tocsr(), b_ub=np.zeros(at), A_eq=mass[None], b_eq=[1.0], method="highs"
    )
    assert found.status == 0
    assert 1 - 1e-6 < found.fun / least_square_down(d, epsilon) < 1.02


@pytest.mark.parametrize("law", LAWS[1:6:2], ids=str)
def test_more_is_not_proved(law, monkeypatch):
    monkeypatch.setattr(staircase, "_LESS", 1 + 2.0**-17)
    monkeypatch.setattr(staircase, "_MOST_INTERVALS", 150)
    assert least_square_down.__wrapped__(*law) == 0


def test_the_known_staircase_of_one_number():
    """Geng & Viswanath: E z² is of the order of e^{−2ε/3} as ε grows, and Laplace's as it falls."""
    assert staircase_ratio(1, 0.05) == pytest.approx(1.0, abs=2e-4)
    own = [math.log(least_square_down(1, epsilon)) for epsilon in (15.0, 30.0)]
    assert own[1] - own[0] == pytest.approx(-10.0, rel=0.01)


def test_outside_the_range_of_steps_nothing_is_proved():
    assert least_square_down(1, 1e-3) == least_square_down(1, 100.0) == 0
