# SPDX-License-Identifier: Apache-2.0
"""The lower bounds: below the Gaussian at every ρ, at the stated ratios, and true of real laws."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lownoise.bounds import (
    divergence_up,
    unbiased_add_remove,
    unbiased_substitute,
)

RHO = st.floats(1e-9, 300)


@given(RHO, st.integers(1, 10**9), st.floats(1e-6, 1e6))
def test_the_gaussian_is_never_below_its_bound(rho, size, gamma):
    # p = 2: the Gaussian fitted to K − K has error Γ₂(K−K)/(n√(2ρ)), to (sum, count) Γ₂(S)/√(2ρ)
    assert unbiased_substitute(gamma, size, rho) < gamma / (size * math.sqrt(2 * rho))
    assert unbiased_add_remove(gamma, rho) < gamma / math.sqrt(2 * rho)


@given(RHO, st.integers(1, 10**9), st.floats(1e-6, 1e6))
def test_rounding_is_downward_and_small(rho, size, gamma):
    with mpmath.workdps(60):
        r, g = mpmath.mpf(rho), mpmath.mpf(gamma)
        three = g / (size * mpmath.sqrt(divergence_up(rho)))  # see test_asymptotic.py
        two = g / mpmath.sqrt(mpmath.expm1(2 * r))
        for found, true in [
            (unbiased_substitute(gamma, size, rho), three),
            (unbiased_add_remove(gamma, rho), two),
        ]:
            assert true * (1 - mpmath.mpf(2) ** -39) <= found <= true


def test_ratios_for_small_rho():
    rho = 1e-7
    gaussian = 1 / math.sqrt(2 * rho)
    assert gaussian / unbiased_substitute(1, 1, rho) == pytest.approx(1, rel=1e-3)
    assert gaussian / unbiased_add_remove(1, rho) == pytest.approx(1, rel=1e-6)


@given(RHO)
def test_beats_the_published_bound(rho):
    published = 1 / (2 * math.sqrt(math.expm1(2 * rho)))
    assert unbiased_substitute(1, 1, rho) >= published * (1 - 1e-9)


@given(st.floats(1e-3, 3))
def test_the_step_from_zcdp_to_the_spread_holds_for_three_gaussians(rho):
    """∫(P⁺−P⁻)²/Q ≤ D where the bound's premise is tight: three shifted normals.

    For N(a, 1), N(b, 1) over N(0, 1) the integral is e^{a²} + e^{b²} − 2e^{ab}; ρ-zCDP of each
    pair asks |a|, |b|, |a − b| ≤ √(2ρ).
    """
    reach = math.sqrt(2 * rho)
    shifts = np.linspace(-reach, reach, 41)
    a, b = np.meshgrid(shifts, shifts)
    allowed = np.abs(a - b) <= reach
    integral = np.exp(a**2) + np.exp(b**2) - 2 * np.exp(a * b)
    assert integral[allowed].max() <= divergence_up(rho) + 1e-12


def test_randomised_response_obeys_the_bound_on_every_dataset():
    """n bits, each flipped with chance 1/(1 + e^ε), debiased: ε-DP, so (ε²/2)-zCDP; unbiased."""
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        flip = 1 / (1 + math.exp(epsilon))
        n = 50
        deviation = math.sqrt(flip * (1 - flip) / n) / (1 - 2 * flip)
        assert deviation >= unbiased_substitute(1.0, n, epsilon**2 / 2)


def test_zero_width_needs_nothing_and_overflow_says_nothing():
    assert unbiased_substitute(0, 5, 1) == 0
    assert unbiased_add_remove(0, 1) == 0
    assert unbiased_substitute(1, 5, 1e6) == 0
    assert unbiased_add_remove(1, 1e6) == 0
