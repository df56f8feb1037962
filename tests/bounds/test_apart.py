# SPDX-License-Identifier: Apache-2.0
"""Bounds by changes that are far apart: below every law that records allow, and near the best."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import lownoise as ln
from lownoise.bounds.apart import apart_bound
from lownoise.numbers.rounding import grown

RNG = np.random.default_rng(20261130)
MANY = 10**9


def least_square(points, offset, epsilon, *, come, reach=3):
    """E|Z|² at least, Z on a lattice's translate, where P(z + s) ≥ e^{−ε}P(z): by a programme.

    What leads out of the part of the lattice that is looked at is not asked for, so that it is
    below that of the whole.
    """
    m = len(points)
    counts = [
        c for c in product(range(-reach, reach + 1), repeat=m)
        if come or (sum(c) == 0 and sum(map(abs, c)) <= 2 * reach)
    ]  # fmt: skip
    places = {c: k for k, c in enumerate(counts)}
    one = np.eye(m, dtype=int)
    steps = [*one, *-one] if come else [a - b for a in one for b in one if np.any(a != b)]
    rows, q = [], math.exp(-epsilon)
    for c, k in places.items():
        for step in steps:
            to = places.get(tuple((np.array(c) + step).tolist()))
            if to is not None:
                row = np.zeros(len(counts))
                row[k], row[to] = q, -1
                rows.append(row)
    errors = np.sum((np.array(counts) @ points + offset) ** 2, axis=1)
    found = linprog(
        errors, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=np.ones((1, len(counts))),
        b_eq=[1.0], options=dict.fromkeys(
            ("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10
        ),
    )  # fmt: skip
    return found.fun


LISTS = {
    "two categories": (np.eye(2), False),
    "three categories": (np.eye(3), False),
    "three of unlike weights": (np.diag([1.0, 1.5, 2.0]), False),
    "two that come and go": (np.eye(2), True),
    "no right angles": (np.array([[1.0, 0.25], [0.0, 1.0]]), True),
    "a triangle": (np.array([[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]]), False),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0, 7.0])
@pytest.mark.parametrize("name", LISTS)
def test_no_law_of_the_error_has_less(name, epsilon):
    """Wherever its points are beside the lattice; where ε is large it is nearly attained."""
    points, come = LISTS[name]
    found = apart_bound(points, size=None if come else MANY, epsilon=epsilon) ** 2
    assert found > 0
    reach = 2 if len(points) > 2 else 4
    least = []
    for k in range(8):
        offset = RNG.uniform(-0.5, 0.5, len(points)) @ points if k else np.zeros(points.shape[1])
        own = least_square(points, offset, epsilon, come=come, reach=reach)
        least.append(own)
        assert found <= grown(own, 1e-5)
    if epsilon == 7:
        assert found > 0.98 * least[0]


@pytest.mark.grid(3)
@pytest.mark.parametrize("kinds", [2, 5, 17, 40])
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
def test_below_noise_on_categories(kinds, epsilon):
    """Independent whole noise on each count, which two by 1 move, and one answer for all tables."""
    own = np.eye(kinds)
    noise = math.sqrt(kinds / (2 * math.sinh(epsilon / 4) ** 2))
    for size in (1, 3, 100, 10**5):
        found = apart_bound(own, size=size, epsilon=epsilon)
        assert found <= min(noise, size * math.sqrt(2))
        for order in (3.0, math.inf):
            assert apart_bound(own, size=size, epsilon=epsilon, order=order) <= found
    assert apart_bound(own, size=1, epsilon=epsilon) == 0
    added = apart_bound(own, size=None, epsilon=epsilon)
    assert added <= math.sqrt(kinds / (2 * math.sinh(epsilon / 2) ** 2))


def test_units_records_that_depend_on_others_and_numbers_that_end():
    plain = apart_bound(np.eye(6), size=MANY, epsilon=8.0)
    assert apart_bound(1e6 * np.eye(6), size=MANY, epsilon=8.0) == pytest.approx(1e6 * plain)
    turn = np.linalg.qr(RNG.normal(size=(6, 6)))[0]
    assert apart_bound(np.eye(6) @ turn + 3.0, size=MANY, epsilon=8.0) == pytest.approx(plain)
    assert apart_bound(np.ones((4, 3)), size=MANY, epsilon=8.0) == 0
    assert apart_bound(RNG.normal(size=(9, 3)), size=MANY, epsilon=8.0) == 0
    assert apart_bound(np.zeros((1, 3)), size=None, epsilon=8.0) == 0
    assert apart_bound(np.full((2, 2), np.inf), size=MANY, epsilon=8.0) == 0
    assert apart_bound(np.eye(6), size=MANY, epsilon=900.0) < 1e-150


def test_plans_of_categories_are_within_four_of_what_nothing_beats():
    """Staircase noise of 17 categories at ε = 8, where the bound was a twelfth of it."""
    names = [f"c{i}" for i in range(17)]
    plan = ln.plan(
        ln.Mean(names, ln.Points(np.eye(17))),
        budget=ln.pure_dp(8.0),
        relation="substitute",
        size=10**6,
        mechanism="staircase",
    )
    assert 3 < plan.error / plan.lower_bound < 3.5
