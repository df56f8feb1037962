# SPDX-License-Identifier: Apache-2.0
"""How far apart three neighbours' laws are: each step of the proof, and the whole against laws."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import asymptotic as asymptotic_page
from pages.solver import part

from lownoise.bounds import divergence_up, unbiased_substitute

ORDERS = 1 + np.geomspace(1e-4, 1e6, 1200)
# P⁺, P⁻ and Q on four outcomes, found by a search for laws that are far apart for their ρ
FAR = [
    [
        (0.07253303, 0.19921998, 0.26693476, 0.46131223),
        (0.29971781, 0.16513826, 0.06191062, 0.47323331),
        (0.0678033, 0.30164619, 0.05660935, 0.57394115),
    ],
    [
        (0.10542777, 0.70937402, 0.14906394, 0.03613427),
        (0.22437518, 0.64402643, 0.05812231, 0.07347609),
        (0.096637, 0.80103901, 0.05588281, 0.04644118),
    ],
    [
        (0.08244436, 0.2383671, 0.08451165, 0.59467689),
        (0.11029704, 0.19068655, 0.07693724, 0.62207917),
        (0.08115855, 0.18882235, 0.07716595, 0.65285314),
    ],
]


def far_laws():
    return [np.array(laws) / np.sum(laws, axis=1, keepdims=True) for laws in FAR]


def random_laws(seed, scale, outcomes=6):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(outcomes)) * np.exp(scale * rng.standard_t(3, (3, outcomes)))
    return weights / weights.sum(axis=1, keepdims=True)


def rho_of(laws):
    """Return a ρ at which all pairs are ρ-zCDP, at most 2% above the least.

    D_α grows with α, so between two orders of a grid D_α/α is at most D at the one over the other.
    """
    logs, worst = np.log(laws), 0.0
    for one in range(3):
        for other in set(range(3)) - {one}:
            terms = ORDERS[:, None] * logs[one] + (1 - ORDERS[:, None]) * logs[other]
            top = terms.max(axis=1)
            divergence = (top + np.log(np.exp(terms - top[:, None]).sum(axis=1))) / (ORDERS - 1)
            worst = max(worst, float(np.max(divergence[1:] / ORDERS[:-1])), divergence[0])
            worst = max(worst, float(np.max(logs[one] - logs[other])) / ORDERS[-1])
    return worst


def integral(laws):
    """Return ∫(P⁺−P⁻)²/Q."""
    return float(np.sum(np.square(laws[0] - laws[1]) / laws[2]))


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("scale", [0.003, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(40))
def test_no_laws_are_farther_apart(seed, scale):
    laws = random_laws(seed, scale)
    for roles in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        assert integral(laws[roles]) <= divergence_up(rho_of(laws))


@pytest.mark.parametrize("laws", far_laws())
def test_laws_that_are_far_apart(laws):
    """They exceed e^{2ρ} − 1, what two of them have: the correction of order √ρ is no slack."""
    rho = rho_of(laws)
    assert 1.09 * math.expm1(2 * rho) < integral(laws)
    assert 0.6 * divergence_up(rho) < integral(laws) <= divergence_up(rho)


@pytest.mark.parametrize("rho", [1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.25])
def test_the_gaussian_is_asymptotically_the_best(rho):
    """√D over √(2ρ) is 1 + √(3ρ)/2 + O(ρ), and less than √3 far above ρ = 0.1."""
    gaussian = 1 / math.sqrt(2 * rho)
    ratio = gaussian / unbiased_substitute(1, 1, rho)
    assert 1 < ratio < min(1 + 0.5 * math.sqrt(3 * rho) * (1 + 2 * math.sqrt(rho)), 1.83)


@given(st.floats(1e-300, 1e3), st.floats(0, 1))
def test_less_budget_is_no_farther_apart(rho, share):
    assert divergence_up(share * rho) <= divergence_up(rho) * (1 + 1e-12)


@given(st.floats(1e-9, 0.5))
def test_rounding_is_upward_and_small(rho):
    """The same parameters, in 60 digits: any j ≥ 6 and w ≥ 0 prove the bound with their best λ."""
    with mpmath.workdps(60):
        r = mpmath.mpf(rho)
        j = max(mpmath.mpf(6), 1.5 * mpmath.sqrt(3 / r) - 4)
        w = 2 * r * max(0, 1 - 2 * mpmath.sqrt(r))
        scale = (j + 1) / (6 + w * (j + 1))
        c, two = 1 / (2 * scale), mpmath.expm1(2 * r)
        rates = ((6, 1), (12, (mpmath.sqrt(3) - 1) / 4), (20, mpmath.mpf(1) / 10))
        three = min(part * mpmath.expm1(rate * r) for rate, part in rates)
        moment = 2 * mpmath.expm1(j * r) / j
        rest = scale * w**2 / 2 + (1 - scale * w) * moment + c * three + w * two
        # 3c/(4T)·I² + (1 + w/4 − c/2)·I − R = 0
        near = max(mpmath.polyroots([3 * c / (4 * two), 1 + w / 4 - c / 2, -rest], extraprec=400))
        true = min(near, 2 * mpmath.expm1(2 * r) - 2 * mpmath.expm1(-r))
        assert true <= divergence_up(rho) <= true * (1 + mpmath.mpf(2) ** -40)


@given(st.floats(6, 1e6), st.floats(1e-3, 1))
def test_a_cosh_is_above_two_terms_of_its_powers(j, at):
    """cosh(ky)/cosh(y) − 1 ≥ (j/2)(z + (j − 2)z²/12), z = 4 sinh²y, k = √(4j + 1) ≥ 5."""
    with mpmath.workdps(50):
        k, y = mpmath.sqrt(4 * mpmath.mpf(j) + 1), mpmath.mpf(20 * at)
        z = 4 * mpmath.sinh(y) ** 2
        above = mpmath.cosh(k * y) / mpmath.cosh(y) - 1
        assert above - j / 2 * (z + (j - 2) * z**2 / 12) >= -above * mpmath.mpf(10) ** -40


def test_below_six_it_is_not():
    k, y = math.sqrt(4 * 5 + 1), 2.0
    z = 4 * math.sinh(y) ** 2
    assert math.cosh(k * y) / math.cosh(y) - 1 < 2.5 * (z + 3 * z**2 / 12)


@given(st.fractions(0, 100))
def test_powers_are_above_the_third_moment(a):
    """Those of which E is known: a^s − 1 − s(a − 1), E ≤ e^{s(s−1)ρ} − 1, for s = 3, 4 and 5."""
    third = a * (a - 1) ** 2
    assert a**3 - 1 - 3 * (a - 1) >= third
    assert (a**5 - 1 - 5 * (a - 1)) / 10 >= third
    part = Fraction(183012701892219324, 10**18)  # at least (√3 − 1)/4, by less than 1e-17
    assert (4 * part + 1) ** 2 > 3
    assert part * (a**4 - 1 - 4 * (a - 1)) >= third
    if a == Fraction(173205, 100000):  # where it touches
        assert (part - Fraction(1, 10**6)) * (a**4 - 1 - 4 * (a - 1)) < third


@pytest.mark.parametrize("laws", [*far_laws(), *(random_laws(seed, 0.3) for seed in range(20))])
def test_what_the_middle_of_two_laws_is_off_the_third(laws):
    """The steps from Q to M, with the moments that the laws have in place of their bounds."""
    a, b, q = laws[0] / laws[2], laws[1] / laws[2], laws[2]
    x, apart = (a + b) / 2, integral(laws)
    middle = x * q
    second = (np.sum(q * (a - 1) ** 2) + np.sum(q * (b - 1) ** 2)) / 2
    assert np.sum(q * (x - 1) ** 2) == pytest.approx(second - apart / 4)
    third = (np.sum(q * a * (a - 1) ** 2) + np.sum(q * b * (b - 1) ** 2)) / 2
    own = np.sum(middle * (x - 1) ** 2)
    triangle = np.sum((laws[0] - laws[1]) ** 2 / middle)
    assert own <= third + apart / 2 - 0.75 * apart**2 / triangle + 1e-12
    assert np.sum(middle * (x - 1)) == pytest.approx(np.sum(q * (x - 1) ** 2))
    ratio = laws[0] / laws[1]
    z = (ratio - 1) ** 2 / ratio
    g2 = 4 * z / (4 + z)
    assert np.sum(middle * g2) == pytest.approx(triangle)
    assert np.sum(middle * g2 * x) == pytest.approx(apart)
    for j, w in [(6.0, 0.0), (6.0, 0.3), (40.0, 0.05)]:
        scale = (j + 1) / (6 + w * (j + 1))
        above = scale * w**2 / 2 + (1 - scale * w) * (z + (j - 2) / 12 * z**2)
        assert np.all(g2 + scale / 2 * (g2 - w) ** 2 <= above * (1 + 1e-12))


def test_the_page_states_these_ratios():
    text = asymptotic_page.PAGE.read_text(encoding="utf-8")
    assert part(text, "ratios") == asymptotic_page.ratios()
