# SPDX-License-Identifier: Apache-2.0
"""The ρ and μ that a noise states, against its own density: no change reveals more."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from lownoise.noise import KNormNoise, LaplaceNoise
from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricBox, SymmetricPoints
from lownoise.sets.norms import ImageNorm, norm_of
from lownoise.sets.unit_balls import NormBall

BOX = SymmetricBox(np.array([6.0, 3.0]))
TURN = np.array([[3.0, 1.0], [-1.0, 2.0]])
BODIES = {
    "box": BOX,
    "points": SymmetricPoints(np.array([[6.0, 0.0], [2.0, 4.0], [-3.0, 3.0]])),
    "differences": PointDifferences(np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 5.0]])),
    "disc": ImageBody(np.array([2.0, 2.0]), NormBall(2, 2.0)),
    "ellipse": ImageBody(TURN, NormBall(2, 2.0)),
    "diamond": ImageBody(np.array([2.0, 5.0]), NormBall(2, 1.0)),
    "cube of order 3": ImageBody(np.array([2.0, 1.0]), NormBall(2, 3.0)),
}
CHANGES = {
    "box": [(6.0, 3.0), (6.0, -3.0), (6.0, 0.0)],
    "points": [(6.0, 0.0), (2.0, 4.0), (-3.0, 3.0)],
    "differences": [(6.0, 1.0), (1.0, 5.0), (5.0, -4.0)],
    "disc": [(2.0, 0.0), (1.2, 1.6)],
    "ellipse": [(3.0, -1.0), (1.0, 2.0)],
    "diamond": [(2.0, 0.0), (0.0, 5.0)],
    "cube of order 3": [(2.0, 0.0), (2 * 0.5 ** (1 / 3), 0.5 ** (1 / 3))],
}
EPSILONS = (0.5, 2.0)
GRID = 401


def k_norm(name, epsilon):
    gauge = norm_of(BODIES[name])
    return KNormNoise(gauge, 1 / epsilon), lambda z: epsilon * gauge.norm_up(z)


def ellipsoid(name, epsilon):
    gauge = ImageNorm(TURN * 3, NormBall(2, 2.0))
    most = gauge.sensitivity_up(BODIES[name])
    return KNormNoise(gauge, most / epsilon), lambda z: epsilon * gauge.norm_up(z) / most


def laplace(name, epsilon):
    unit = LaplaceNoise(np.array([2.0, 3.0])).loss(BODIES[name]).epsilon
    scales = np.array([2.0, 3.0]) * (unit / epsilon)
    return LaplaceNoise(scales), lambda z: np.abs(z) @ (1 / scales)


KINDS = {"k_norm": k_norm, "ellipsoid": ellipsoid, "laplace": laplace}
CASES = [(kind, name, e) for kind in KINDS for name in BODIES for e in EPSILONS]


def losses(energy, change):
    """Privacy losses at the points of a fine grid, and their chances, the grid's own sum 1."""
    turns = np.linspace(0, np.pi, 400)
    edge = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    half = np.abs(change) + 12 * np.max(np.abs(edge) / energy(edge)[:, None], axis=0)
    lines = [np.linspace(-own, own, GRID) for own in half]
    points = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, 2)
    own = energy(points)
    chances = np.exp(-own)
    return energy(points - change) - own, chances / chances.sum()


def gaussian_delta(mu, at):
    return ndtr(mu / 2 - at / mu) - math.exp(at) * ndtr(-mu / 2 - at / mu)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("kind", "name", "epsilon"), CASES)
def test_no_change_reveals_more_than_the_rho_and_the_mu_of_its_noise(kind, name, epsilon):
    """Renyi divergences and the privacy curve from a grid of the density, to 1%."""
    noise, energy = KINDS[kind](name, epsilon)
    loss = noise.loss(BODIES[name])
    assert loss.rho <= epsilon * math.tanh(epsilon / 2)
    for change in CHANGES[name]:
        found, chances = losses(energy, np.array(change))
        assert chances @ found <= loss.rho * 1.01
        for order in (1.5, 3.0, 8.0):
            divergence = math.log(chances @ np.exp((order - 1) * found)) / (order - 1)
            assert divergence <= order * loss.rho * 1.01
        for at in (0.0, 0.3 * epsilon, 0.7 * epsilon, 0.95 * epsilon):
            left = chances @ np.maximum(1 - np.exp(at - found), 0)
            assert left <= gaussian_delta(loss.mu, at) * 1.01 + 1e-6


@pytest.mark.grid
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("kind", "name"),
    [("k_norm", "disc"), ("k_norm", "ellipse"), ("laplace", "diamond"), ("laplace", "box")],
)
def test_the_rho_and_the_mu_are_the_least(kind, name, epsilon):
    """Some change reveals that much, to 1%: of two Laplace numbers μ is an upper bound (4%)."""
    noise, energy = KINDS[kind](name, epsilon)
    loss = noise.loss(BODIES[name])
    seen = [losses(energy, np.array(change)) for change in CHANGES[name]]
    assert max(chances @ found for found, chances in seen) >= loss.rho * 0.99
    apart = max(chances @ np.maximum(1 - np.exp(-found), 0) for found, chances in seen)
    assert apart >= gaussian_delta(loss.mu * (0.94 if name == "box" else 0.99), 0.0)


def test_several_numbers_that_move_together_cost_less_than_one():
    """Sixteen scores, each with its share of ε: 16·φ(1/16), hardly above ε²/(2·16)."""
    many = SymmetricBox(np.ones(16))
    loss = LaplaceNoise(np.full(16, 16.0)).loss(many)
    assert loss.epsilon == pytest.approx(1.0, rel=1e-12)
    assert 0.0305 < loss.rho < 1 / 32
    assert loss.mu < 0.32
