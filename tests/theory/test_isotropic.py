# SPDX-License-Identifier: Apache-2.0
"""L_K by closed forms and by second methods; sections and projections against exact volumes."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import DomainError, PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.uniform import UniformNormBall
from lownoise.theory import isotropic

RNG = np.random.default_rng(2031)
SKEW = RNG.normal(size=(3, 3))


def factorial_root(d):
    return math.exp(math.lgamma(d + 1) / d)


def simplex(d):
    """Its closed form: (d!)^{1/d}/((d+1)^{(d+1)/(2d)}·√(d+2))."""
    return factorial_root(d) / ((d + 1) ** ((d + 1) / (2 * d)) * math.sqrt(d + 2))


def ball(d):
    return math.gamma(d / 2 + 1) ** (1 / d) / math.sqrt(math.pi * (d + 2))


def cross(d):
    return factorial_root(d) / (math.sqrt(2) * math.sqrt((d + 1) * (d + 2)))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_known_constants(d):
    corners = np.vstack([np.zeros(d), RNG.normal(size=(d, d))])
    cases = {
        "box": (ln.Box(-np.ones(d), RNG.random(d) + 1), 1 / math.sqrt(12)),
        "ball": (ln.Ball(d, radius=3.0), ball(d)),
        "ellipsoid": (ln.Ellipsoid(RNG.normal(size=(d, d + 1))), ball(d)),
        "cross": (ln.Ball(d, order=1), cross(d)),
        "matrix": (RNG.normal(size=(d, d)), cross(d)),
        "simplex": (ln.Points(corners), simplex(d)),
        "cubes": (ln.product(*[ln.Box([0], [i + 1.0]) for i in range(d)]), 1 / math.sqrt(12)),
    }
    for name, (domain, known) in cases.items():
        found = isotropic(domain)
        assert found.constant == pytest.approx(known, rel=1e-9), name
        assert found.error < 1e-8
        # isotropic, of the same volume, whatever the body was
        assert np.linalg.slogdet(found.transform)[1] == pytest.approx(0, abs=1e-9)
        moved = found.transform @ found.covariance @ found.transform
        size = found.constant**2 * math.exp(2 * found.log_volume / d)
        assert moved == pytest.approx(size * np.eye(d), rel=1e-8, abs=1e-9 * size)


def in_hull(points):
    from scipy.spatial import ConvexHull

    planes = ConvexHull(points).equations
    return points, lambda x: np.all(x @ planes[:, :-1].T <= -planes[:, -1] + 1e-12, axis=1)


def differences(points):
    return (points[:, None] - points).reshape(-1, points.shape[1])


def sums(generators):
    """Return all Σ ±g."""
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * len(generators))).reshape(len(generators), -1)
    return signs.T @ generators


TWELVE, SIX, FOUR, FIVE = (RNG.normal(size=(n, 3)) for n in (12, 6, 4, 5))
MATRIX = RNG.normal(size=(3, 6))
BALL = np.sign(RNG.normal(size=(64, 3)))
SAMPLED = {
    "hull": (ln.Points(TWELVE), in_hull(TWELVE)),
    "zonotope": (ln.Zonotope(FIVE), in_hull(sums(FIVE))),
    "matrix": (MATRIX, in_hull(np.vstack([MATRIX.T, -MATRIX.T]))),
    "simplex differences": (ln.difference_body(ln.Points(FOUR)), in_hull(differences(FOUR))),
    "differences": (ln.difference_body(ln.Points(SIX)), in_hull(differences(SIX))),
    "cylinder": (
        ln.product(ln.Ball(2), ln.Box([0], [3])),
        (np.array([[-1.0, -1, 0], [1, 1, 3]]), lambda x: np.hypot(x[:, 0], x[:, 1]) <= 1),
    ),
    "image": (
        ln.image(SKEW, ln.Ball(3, order=3)),
        (
            BALL @ SKEW.T,
            lambda x: np.sum(np.abs(np.linalg.solve(SKEW, x.T)) ** 3, axis=0) <= 1,
        ),
    ),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_a_sample_of_the_body_agrees(name):
    """Points of a box around it that are inside: 50,000 have a standard error of 2% at most."""
    domain, (corners, inside) = SAMPLED[name]
    found = isotropic(domain)
    low, high = corners.min(axis=0), corners.max(axis=0)
    x = low + (high - low) * np.random.default_rng(2).random((50_000, 3))
    x = x[inside(x)]
    volume = float(np.prod(high - low)) * len(x) / 50_000
    scale = np.sqrt(np.max(np.diag(found.covariance)))
    assert math.exp(found.log_volume) == pytest.approx(volume, rel=0.1)
    assert found.covariance == pytest.approx(np.cov(x.T), abs=0.1 * scale**2)
    assert found.center == pytest.approx(x.mean(axis=0), abs=0.1 * scale)


def test_a_unit_ball_without_a_form_has_a_stated_error():
    """Operator norms of 2 × 2 matrices: the volume is 2π²/3, and E of an entry's square 1/5 + …"""
    found = isotropic(ln.OperatorNormBall(2, 2))
    assert found.how == "sample"
    assert 0 < found.error < 0.01 * found.constant
    assert math.exp(found.log_volume) == pytest.approx(2 * math.pi**2 / 3, rel=0.02)
    draws = np.random.default_rng(3).uniform(-1, 1, size=(200_000, 2, 2))
    inside = draws[np.linalg.norm(draws, ord=2, axis=(1, 2)) <= 1]
    moment = float(np.mean(np.sum(inside**2, axis=(1, 2)))) / 4
    exact = math.sqrt(moment) / (2 * math.pi**2 / 3) ** 0.25
    assert abs(found.constant - exact) < found.error + 0.003


def test_mixed_balls_have_the_moments_of_their_samples():
    from lownoise.sets.unit_balls import MixedBall, NormBall
    from lownoise.theory.uniform import _ball, _sampled

    base = MixedBall((NormBall(2, 2.0), NormBall(3, 1.0), NormBall(1, 2.0)), order=1.5)
    known, drawn = _ball(base), _sampled(base)
    assert known.log_volume == pytest.approx(drawn.log_volume, abs=0.02)
    assert known.covariance == pytest.approx(drawn.covariance, rel=0.05, abs=1e-12)
    points = UniformNormBall(4, 3.0).simulate(50_000, SimulationRandomness(5))
    assert _ball(NormBall(4, 3.0)).covariance == pytest.approx(
        np.diag(np.mean(points**2, axis=0)), rel=0.03, abs=1e-12
    )


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("kind", ["cube", "ball", "cross"])
def test_sections_through_the_center_are_within_the_bounds(kind, d):
    """Of the first k coordinates, and of hyperplanes: exact volumes in the volume-1 position."""
    body = {"cube": ln.Ball(d, order=math.inf), "ball": ln.Ball(d), "cross": ln.Ball(d, order=1)}
    order = {"cube": math.inf, "ball": 2.0, "cross": 1.0}[kind]
    position = isotropic(body[kind])
    side = math.exp(position.log_volume / d)
    for k in range(1, d):
        low, high = ln.theory.section_bounds(position, k)
        inner = isotropic(ln.Ball(k, order=order)).log_volume
        section = (math.exp(inner) / side**k) ** (1 / (d - k))
        assert low.value <= section <= high.value
    low, high = ln.theory.section_bounds(position, d - 1)
    if kind == "cube":  # Ball 1986: sections of the unit cube are between 1 and √2
        assert low.value == pytest.approx(1)
        assert high.value >= math.sqrt(2)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_projections_are_above_the_bound_and_meet_it_at_full_dimension(d):
    sides = np.sort(RNG.random(d) * 5 + 0.1)[::-1]
    box = isotropic(ln.Box(np.zeros(d), sides))
    ellipsoid = isotropic(ln.Ellipsoid(sides / 2))
    cylinder = np.linalg.qr(RNG.normal(size=(d, d)))[0]
    turned = isotropic(ln.image(cylinder, ln.Box(-sides, sides)))
    for k in range(1, d + 1):
        own = float(np.prod(sides[:k]))
        assert ln.theory.projection_bound(box, k).value ** k <= own * (1 + 1e-9)
        disc = math.pi ** (k / 2) / math.gamma(k / 2 + 1) * own / 2**k
        assert ln.theory.projection_bound(ellipsoid, k).value ** k <= disc * (1 + 1e-9)
        assert ln.theory.projection_bound(turned, k).value ** k <= own * 2**k * (1 + 1e-9)
    for position in (box, ellipsoid, turned):
        full = ln.theory.projection_bound(position, d)
        assert full.value**d == pytest.approx(math.exp(position.log_volume), rel=1e-6)


def test_every_symmetric_body_is_between_the_least_and_the_most_constant():
    for d in (1, 2, 3, 6):
        low, high = ln.theory.least_isotropic_constant(d), ln.theory.most_isotropic_constant(d)
        for order in (1.0, 1.5, 2.0, 5.0, math.inf):
            assert low <= isotropic(ln.Ball(d, order=order)).constant * (1 + 1e-9)
            assert isotropic(ln.Ball(d, order=order)).constant <= high * (1 + 1e-9)
        assert low == pytest.approx(ball(d))


@pytest.mark.parametrize("budget", [ln.pure_dp(0.1), ln.pure_dp(2.0)], ids=str)
@pytest.mark.parametrize(
    "domain",
    [ln.Ball(4), ln.Box([-1, -2, -5], [1, 2, 5]), ln.Ball(3, order=1), RNG.normal(size=(3, 6))],
    ids=["ball", "box", "cross", "matrix"],
)
def test_the_k_norm_mechanism_is_between_the_volume_bound_and_its_own(domain, budget):
    """Theorem 6.2 above, Theorem 3.3 below: E‖noise‖₂ = ((d+1)/ε)·E‖z‖₂, by a simulation."""
    position = isotropic(domain)
    upper = ln.theory.k_norm_bound(position, budget)
    exact = (position.dimension + 1) / budget.epsilon * math.sqrt(np.trace(position.covariance))
    assert upper.value >= exact * (1 - 1e-9)
    assert upper.value <= exact * position.stretch * (1 + 1e-6)
    if isinstance(domain, np.ndarray):
        lower = ln.theory.volume_bound(domain, budget, people=False, power=1)
        assert lower.value <= upper.value
        # e√(2πe)·L_K and no more, as both sides grow, for bodies that are nearly isotropic
        assert upper.value < 30 * position.constant * position.stretch * lower.value


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: isotropic(ln.Box([0, 0], [1, 0])), DomainError, "no volume"),
        (lambda: isotropic(ln.Points([[0, 0], [1, 1], [2, 2]])), DomainError, "no volume"),
        (lambda: isotropic(np.ones((2, 5))), DomainError, "no volume"),
        (lambda: isotropic(ln.Points(RNG.normal(size=(40, 9)))), DomainError, "tile"),
        (lambda: isotropic([[math.nan]]), PlanError, "domain"),
        (
            lambda: ln.theory.section_bounds(isotropic(ln.Points(np.eye(3, 2))), 1),
            PlanError,
            "symmetric",
        ),
        (
            lambda: ln.theory.k_norm_bound(isotropic(ln.Box([0], [1])), ln.pure_dp(1.0)),
            PlanError,
            "another point",
        ),
        (
            lambda: ln.theory.k_norm_bound(isotropic(ln.Ball(2)), ln.zcdp(1.0)),
            PlanError,
            "pure_dp",
        ),
        (lambda: ln.theory.projection_bound(isotropic(ln.Ball(2)), 3), PlanError, "dimension=3"),
    ],
)
def test_refuses(call, error, match):
    with pytest.raises(error, match=match):
        call()
