# SPDX-License-Identifier: Apache-2.0
"""What each pure noise costs in ρ and μ, held against integrals that know none of the formulas."""

import math
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import ndtr, roots_genlaguerre, roots_jacobi

import lownoise as ln
from lownoise.certificate.staircase import least_first
from lownoise.noise.abstract import Loss, composed
from lownoise.noise.independent import GeometricNoise, LaplaceNoise, independent_loss
from lownoise.noise.response import keep_for
from lownoise.privacy import aside_curve
from lownoise.privacy.gaussian_curve import delta_up
from lownoise.privacy.noise_curve import (
    ball_mu_up,
    ball_rho_up,
    laplace_mu_up,
    laplace_rho_up,
    response_mu_up,
    response_rho_up,
)
from lownoise.privacy.pure_curve import mu_up, rho_up
from lownoise.privacy.radial_curve import variation_up
from lownoise.samplers.steps import StepRadius

EPSILONS = [1e-6, 1e-3, 0.1, 0.5, 1.0, 1.7, 3.0, 5.0, 30.0, 300.0, 1000.0]
BALLS = [(d, e) for d in (2, 3, 4, 9, 16) for e in (0.3, 1.0, 4.0)] + [(64, 1.0), (64, 20.0)]
ORDERS = [1.0001, 1.5, 2.0, 4.0, 10.0]


def phi(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def gaussian_delta(mu, at):
    return ndtr(mu / 2 - at / mu) - np.exp(at) * ndtr(-mu / 2 - at / mu)


def losses(dimension, epsilon, nodes=150):
    """Privacy losses of noise ∝ exp(−ε|z|) moved by a unit vector, and their chances.

    Quadrature over the length and the angle of the noise, in place of prolate coordinates.
    """
    r, a = roots_genlaguerre(nodes, dimension - 1)
    t, b = roots_jacobi(nodes, (dimension - 3) / 2, (dimension - 3) / 2)
    radius, turn = r[:, None] / epsilon, t[None, :]
    loss = epsilon * (np.sqrt(radius**2 + 1 - 2 * radius * turn) - radius)
    chances = np.outer(a / a.sum(), b / b.sum())
    return loss.ravel(), chances.ravel()


# ---------------------------------------------------------------- Laplace noise


def laplace_divergence(epsilon, order):
    a, e = mpmath.mpf(order), mpmath.mpf(epsilon)
    odds = a / (2 * a - 1) * mpmath.exp((a - 1) * e)
    return mpmath.log(odds + (a - 1) / (2 * a - 1) * mpmath.exp(-a * e)) / (a - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_of_laplace_noise_is_the_most_of_its_renyi_divergences(epsilon):
    with mpmath.workdps(60):
        rho = laplace_rho_up(epsilon)
        for excess in [1e-12, 1e-6, 1e-3, 0.1, 1.0, 7.0, 100.0, 1e6]:
            order = 1 + mpmath.mpf(excess)
            assert laplace_divergence(epsilon, order) <= order * rho
        order = 1 + mpmath.mpf("1e-20")
        assert rho <= laplace_divergence(epsilon, order) * (1 + mpmath.mpf("1e-12"))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_mu_of_laplace_noise_is_the_least_whose_curve_is_never_below(epsilon):
    """δ(ε′) = 1 − e^{(ε′−ε)/2}; at ε′ = 0 they touch."""
    with mpmath.workdps(60 + int(epsilon / 2)):
        mu, e = mpmath.mpf(laplace_mu_up(epsilon)), mpmath.mpf(epsilon)

        def excess(mu, at):
            gaussian = phi(mu / 2 - at / mu) - mpmath.exp(at) * phi(-mu / 2 - at / mu)
            return gaussian - (1 - mpmath.exp((at - e) / 2))

        assert all(excess(mu, e * k / 40) >= 0 for k in range(0, 41, 1 if epsilon < 100 else 10))
        assert excess(mu * (1 - mpmath.mpf("1e-12")), 0) < 0


@settings(max_examples=60)
@given(st.floats(1e-6, 1000) | st.floats(1e-150, 1e-6))
def test_numbers_of_laplace_noise_are_rounded_up(epsilon):
    with mpmath.workdps(300):
        e = mpmath.mpf(epsilon)
        exact = e + mpmath.expm1(-e) if e > 1e-80 else e**2 / 2
        rho, mu = mpmath.mpf(laplace_rho_up(epsilon)), mpmath.mpf(laplace_mu_up(epsilon))
        assert exact <= rho <= exact * (1 + mpmath.mpf("1e-9")) + mpmath.mpf("1e-323")
        assert phi(-mu / 2) <= mpmath.exp(-e / 2) / 2
        assert phi(-mu * (1 - mpmath.mpf("1e-9")) / 2) >= mpmath.exp(-e / 2) / 2


# ---------------------------------------------------------------- noise of a ball


@pytest.mark.parametrize(("dimension", "epsilon"), BALLS)
def test_rho_of_a_ball_is_the_most_of_its_renyi_divergences(dimension, epsilon):
    """Quadrature of every order; that of α = 1 is ρ itself, to its own accuracy."""
    loss, chances = losses(dimension, epsilon)
    rho = ball_rho_up(dimension, epsilon)
    assert chances @ loss == pytest.approx(rho, rel=2e-3)
    for order in ORDERS:
        divergence = math.log(chances @ np.exp((order - 1) * loss)) / (order - 1)
        assert divergence <= order * rho * (1 + 2e-3)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("dimension", "epsilon"), BALLS)
def test_mu_of_a_ball_is_that_of_its_total_variation_and_holds_everywhere(dimension, epsilon):
    """The first number of the noise is √(2G)·N/ε, G ~ Gamma((d + 1)/2): T = P(it is below ½)."""
    law = stats.gamma((dimension + 1) / 2)
    half = epsilon / 2

    def inside(level):
        return 1 - 2 * ndtr(-half / math.sqrt(2 * law.ppf(level)))

    apart = integrate.quad(inside, 0, 1, limit=300)[0]
    mu = ball_mu_up(dimension, epsilon)
    assert 1 - 2 * ndtr(-mu / 2) == pytest.approx(apart, rel=1e-6)
    loss, chances = losses(dimension, epsilon)
    for at in np.linspace(0, epsilon, 15):
        left = chances @ np.maximum(1 - np.exp(at - loss), 0)
        assert left <= gaussian_delta(mu, at) * (1 + 3e-3) + 1e-9


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_ball_of_one_number_is_laplace_and_more_numbers_reveal_less(epsilon):
    assert ball_rho_up(1, epsilon) == laplace_rho_up(epsilon)
    assert ball_mu_up(1, epsilon) == laplace_mu_up(epsilon)
    dimensions = (1, 2, 3, 5, 16, 17, 300)
    for own in (ball_rho_up, ball_mu_up):
        found = [own(d, epsilon) for d in dimensions]
        assert all(a > b > 0 for a, b in pairwise(found))
    for d in dimensions:
        rho, e = Fraction(ball_rho_up(d, epsilon)), Fraction(epsilon)
        assert rho <= min(e * e / (2 * d) * (1 + Fraction(1, 10**15)), rho_up(e))
        assert ball_mu_up(d, epsilon) <= mu_up(e)


@pytest.mark.grid
@pytest.mark.parametrize("own", [ball_rho_up, ball_mu_up])
@pytest.mark.parametrize("dimension", [1, 2, 7, 200])
def test_more_epsilon_reveals_more(own, dimension):
    found = [own(dimension, epsilon) for epsilon in np.geomspace(1e-5, 900, 60).tolist()]
    assert all(a < b for a, b in pairwise(found))


def test_known_values():
    """Closed forms at d = 3, where Bessel functions are elementary; and the figure of d = 16."""
    e = 1.3
    c = e / 2
    sinh, cosh = math.sinh(c), math.cosh(c)
    i = [math.sqrt(2 / (math.pi * c)) * own for own in (sinh, cosh - sinh / c)]
    i.append(i[0] - 3 / c * i[1])  # I_{5/2}
    k = math.sqrt(math.pi / (2 * c)) * math.exp(-c)
    rho = e * e / 2 * (k * (1 + 1 / c) * i[1] + k * i[2])
    assert ball_rho_up(3, e) == pytest.approx(rho, rel=1e-12)
    assert 0.03121 < ball_rho_up(16, 1.0) < 0.03122
    assert 0.3678 < laplace_rho_up(1.0) < 0.3679


def test_numbers_without_end_stay_above_and_never_below_zero():
    assert laplace_rho_up(0.0) == laplace_mu_up(0.0) == ball_rho_up(4, 0.0) == 0
    assert laplace_rho_up(math.inf) == laplace_mu_up(math.inf) == math.inf
    assert laplace_rho_up(1e5) >= 1e5 - 1
    assert ball_rho_up(20_000, 1.0) == laplace_rho_up(1.0)  # where Bessel functions take long
    assert delta_up(laplace_mu_up(1e4), 0.0) > 1 - 1e-15


# ---------------------------------------------------------------- reports


RESPONSES = [(n, e) for n in (2, 3, 5, 10, 1000) for e in (0.1, 1.0, 5.0, 20.0)]


@pytest.mark.parametrize(("records", "epsilon"), RESPONSES)
def test_a_report_has_the_rho_and_mu_of_its_chances(records, epsilon):
    """Brute force over orders; the corners of the trade-off curve, which is a polygon."""
    keep = Fraction(keep_for(epsilon, records))
    low = float((1 - keep) / records)
    high, rest = float(keep) + low, (records - 2) * low
    rho = response_rho_up(keep, records)
    a = 1 + np.geomspace(1e-4, 1e4, 4000)
    logs = np.logaddexp(
        np.logaddexp(
            a * math.log(high) + (1 - a) * math.log(low),
            a * math.log(low) + (1 - a) * math.log(high),
        ),
        math.log(rest) if rest else -math.inf,
    )
    found = float(np.max(logs / (a - 1) / a))
    assert found * (1 - 1e-9) <= rho <= found * (1 + 1e-3)
    assert rho <= epsilon * math.tanh(epsilon / 2) * (1 + 1e-9)
    mu = response_mu_up(keep, records)
    assert mu <= float(mu_up(Fraction(epsilon)))
    with mpmath.workdps(40):
        own = (1 - mpmath.mpf(keep.numerator) / keep.denominator) / records
        # where one error is `own`, that of μ-GDP is Φ(Φ⁻¹(1 − own) − μ), at most that of reports
        corner = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * own) - mpmath.mpf(mu)
        other = 1 - mpmath.mpf(keep.numerator) / keep.denominator - own
        assert phi(corner) <= other
        assert phi(corner + mpmath.mpf(mu) * mpmath.mpf("1e-12")) > other


# ---------------------------------------------------------------- other norms


@pytest.mark.grid
@pytest.mark.parametrize("order", [1.0, 3.0, math.inf])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_no_norm_reveals_more_than_laplace_noise_and_a_cube_as_much(order, epsilon):
    """Quadrature in the plane: at ends of a cube's diagonals, and of a cross-polytope's axes."""
    x, y = np.meshgrid(*[np.linspace(-25, 25, 1001) / epsilon] * 2)
    found = []
    for move in ((1.0, 0.0), (1.0, 1.0), (1.0, 0.4)):
        s = np.array(move) / np.linalg.norm(move, order)
        logs = [
            -epsilon * np.linalg.norm(np.stack([x - k * s[0], y - k * s[1]]), order, axis=0).ravel()
            for k in (0, 1)
        ]
        one, two = (np.exp(log) / np.exp(log).sum() for log in logs)
        divergence = one @ (logs[0] - logs[1])
        apart = np.abs(one - two).sum() / 2
        found.append((divergence, -2 * stats.norm.ppf((1 - apart) / 2)))
    most = np.array([laplace_rho_up(epsilon), laplace_mu_up(epsilon)])
    assert np.all(np.array(found) <= most * (1 + 2e-3))
    as_much = {1.0: 0, math.inf: 1}
    for i, own in enumerate(found):
        assert (own >= most * (1 - 2e-3)).all() == (i == as_much.get(order))


# ---------------------------------------------------------------- many numbers


@given(st.lists(st.floats(0, 2), min_size=1, max_size=6), st.floats(0.01, 3), st.randoms())
def test_no_change_of_independent_numbers_reveals_more_than_is_said(most, epsilon, rng):
    """Any changes within what each may move and all together, against the greedy ones."""
    loss = independent_loss(most, epsilon, LaplaceNoise)
    left, moved = epsilon, []
    for own in rng.sample(most, len(most)):
        moved.append(min(own, left) * rng.choice([1, 1, rng.random()]))
        left -= moved[-1]
    assert sum(map(laplace_rho_up, moved)) <= loss.rho * (1 + 1e-12)
    assert math.hypot(*map(laplace_mu_up, moved)) <= loss.mu * (1 + 1e-12)
    assert loss.rho <= laplace_rho_up(epsilon) * (1 + 1e-12)
    assert loss.mu <= laplace_mu_up(epsilon) * (1 + 1e-12)


def test_levels_add_their_rho_and_their_squared_mu():
    both = composed([Loss(0.1, 0.0, 0.1, 0.3), Loss(0.2, 0.0, 0.2, 0.4)])
    assert Fraction(both.rho) >= Fraction(0.1) + Fraction(0.2)
    assert Fraction(both.mu) ** 2 >= Fraction(0.3) ** 2 + Fraction(0.4) ** 2
    assert (both.rho, both.mu) == pytest.approx((0.3, 0.5), rel=1e-15)
    assert math.isinf(composed([both, Loss(0.1)]).mu)


def test_the_numbers_on_the_page_are_these():
    text = (Path(__file__).parents[2] / "docs" / "pure.md").read_text(encoding="utf-8")
    table = text.split("| noise | ρ | μ |")[1].split("\n\n")[0]
    rows = re.findall(r"\| (\d\.\d{4}) \| (\d\.\d{4}) \|$", table, flags=re.MULTILINE)
    split = independent_loss([1 / 16] * 16, 1.0, LaplaceNoise)
    expected = [(rho_up(Fraction(1)), mu_up(Fraction(1))), (laplace_rho_up(1), laplace_mu_up(1))]
    steps = [StepRadius(d, 1.0, least_first(d, 1.0)) for d in (1, 2)]
    apart = [variation_up(own, 1.0, euclidean=True) for own in steps]
    expected += [(aside_curve.rho_up(1.0, t), aside_curve.mu_up(1.0, t)) for t in apart]
    counts = ln.plan(
        ln.Count("id"),
        budget=ln.pure_dp(1.0),
        relation="add_remove",
        privacy_unit="id",
        rows_per_unit=8,
        mechanism="discrete_staircase",
    )
    expected.insert(3, (GeometricNoise.rho_up(1.0), GeometricNoise.mu_up(1.0)))
    expected.insert(4, (counts.cost.rho, counts.cost.mu))
    expected += [(split.rho, split.mu)]
    expected += [(ball_rho_up(d, 1.0), ball_mu_up(d, 1.0)) for d in (2, 16, 1000)]
    assert rows == [(f"{float(rho):.4f}", f"{float(mu):.4f}") for rho, mu in expected]
