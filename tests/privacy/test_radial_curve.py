# SPDX-License-Identifier: Apache-2.0
"""The curve of mixtures of balls, against lengths in fractions and integrals of the density.

Mutants, each seen red: the shift halved, e^ε left out of what is lost, the caps' dimension off by
two, J(i) one shell too late or too early, the inner caps not subtracted.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc

from lownoise.privacy.radial_curve import delta_up

PROFILES = {
    "one ball": ([2.0], [1.0]),
    "two": ([1.0, 2.5], [1.0, 3.0]),
    "steps of one": ([0.5 + k for k in range(9)], [math.exp(-k) * (0.5 + k) for k in range(9)]),
    "close": ([3.0, 3.25, 3.5, 4.0, 6.0], [5.0, 1.0, 1.0, 2.0, 0.25]),
}


def density(d, radii, weights, at):
    """f at a distance, in units of one over the volume of the unit ball."""
    pieces = np.array(weights) / sum(weights) / np.array(radii) ** d
    return float(pieces[np.array(radii) >= at].sum())


def integrated(d, radii, weights, epsilon, shift):
    """∫(f(z) − e^ε f(z − s))₊ dz over the sphere of each radius, and over radii."""
    grown = math.exp(epsilon)

    def outside(r, beyond):
        """The share of a sphere of radius r about 0 that is farther than that from s."""
        height = (r * r + shift * shift - beyond * beyond) / (2 * r * shift)
        if abs(height) >= 1:
            return float(height > 0)
        far = betainc((d - 1) / 2, 0.5, 1 - height * height) / 2
        return 1 - far if height >= 0 else far

    def lost(r):
        own = density(d, radii, weights, r)
        total, inner = 0.0, 1.0
        for beyond in radii:
            rest = outside(r, beyond)
            there = density(d, radii, weights, beyond)
            total += max(own - grown * there, 0.0) * (inner - rest)
            inner = rest
        return (total + own * inner) * d * r ** (d - 1)

    ends = sorted({0.0, *radii, *(abs(r - shift) for r in radii)})
    ends = [r for r in ends if r <= radii[-1]]
    pieces = [
        quad(lost, a + 1e-13, b - 1e-13, epsabs=1e-12, limit=200)[0] for a, b in pairwise(ends)
    ]
    return sum(pieces)


@pytest.mark.grid
@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("name", PROFILES)
def test_it_is_the_integral_of_what_is_lost(d, name):
    radii, weights = PROFILES[name]
    for epsilon, shift in ((0.1, 1.0), (1.0, 0.75), (1.0, 1.5)):
        exact = integrated(d, radii, weights, epsilon, shift)
        found = delta_up(d, radii, weights, epsilon, shift)
        assert exact == pytest.approx(found, abs=2e-8)


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.0])
def test_on_a_line_it_is_a_sum_of_lengths(name, epsilon):
    radii, weights = PROFILES[name]
    shift = 0.75  # all ends are multiples of 1/8
    ends = np.arange(-10, 11, 0.125)
    middles = (ends[:-1] + ends[1:]) / 2
    own = np.array([density(1, radii, weights, abs(z)) for z in middles])
    moved = np.array([density(1, radii, weights, abs(z - shift)) for z in middles])
    exact = np.maximum(own - math.exp(epsilon) * moved, 0.0).sum() * 0.125 / 2
    assert exact * (1 - 1e-12) <= delta_up(1, radii, weights, epsilon, shift) <= exact + 1e-12


@pytest.mark.parametrize("d", [1, 2, 5, 40])
@pytest.mark.parametrize("name", PROFILES)
def test_the_longest_shift_is_the_worst_and_a_larger_epsilon_costs_less(d, name):
    radii, weights = PROFILES[name]
    shifts = [delta_up(d, radii, weights, 0.5, s) for s in (0.0, 0.1, 0.6, 1.0, 1.7, 20.0)]
    assert shifts == sorted(shifts)
    assert shifts[0] == 0
    assert shifts[-1] == pytest.approx(1.0, abs=1e-15)
    curve = [delta_up(d, radii, weights, e) for e in (0.0, 0.2, 1.0, 3.0, 800.0, 1e9)]
    assert curve == sorted(curve, reverse=True)
    longer = delta_up(d, [r * 1.01 for r in radii], weights, 0.5)
    assert longer < delta_up(d, radii, weights, 0.5)


def test_balls_that_meet_in_a_point_are_decided_and_what_is_not_costs_all():
    assert delta_up(3, [0.5], [1.0], 1.0, 1.0) == pytest.approx(1.0, abs=1e-15)
    assert delta_up(2, [1.0, 2.0, 3.0], [1.0] * 3, 0.0, 1.0) <= 1
    assert delta_up(2, [2.0**-299, 2.0**299], [5e-324, 1e300], 1.0, 1.0) == 1
    assert delta_up(2, [1.0], [1.0], 1.0, math.inf) == 1
    assert delta_up(2, [1.0], [1.0], 1.0, math.nan) == 1
