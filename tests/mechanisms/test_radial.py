# SPDX-License-Identifier: Apache-2.0
"""Radial noise: what it states of itself, its law, and what is refused.

Seeds are fixed; each statistical test fails with chance below 1e-6 where the code is right, and
says what it would see. Mutants, each seen red: a radius drawn 3% shorter than the claim's, δ
halved, a change counted half as long or 5% shorter, the ball chosen with the next one's chance,
e^ε squared.
"""

import math

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import beta, chi2

from lownoise.errors import PlanError
from lownoise.noise import KNormNoise, LaplaceNoise, PartialNoise, RadialNoise
from lownoise.noise.abstract import NOISES
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sets.bodies import ImageBody, SymmetricBox
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

DISC = ImageBody(np.ones(2), NormBall(2, 2.0))
TURN = np.array([[300.0, 100.0], [-100.0, 200.0]])
ERROR = 1e-6
TIE = 1e-9


def steps(d, epsilon, start=0.3, step=0.8, tail=30.0):
    """A density that falls by e^{−ε} at equal steps: not the least, but a usual staircase."""
    count = math.ceil((tail + 2 * d) / epsilon)
    radii = start + step * np.arange(count)
    logs = d * np.log(radii) - epsilon * np.arange(count)
    weights = np.exp(logs - logs.max())
    return radii[weights > 1e-14], weights[weights > 1e-14]


def noise(d=2, epsilon=1.0, scale=1.0, factor=None, **more):
    radii, weights = steps(d, epsilon, **more)
    return RadialNoise(epsilon, scale, np.ones(d) if factor is None else factor, radii, weights)


def falls(own):
    """The density at each radius of the mixture, up to one factor."""
    pieces = own.weights / own.radii**own.dimension
    return np.cumsum(pieces[::-1])[::-1]


def heights(own, points):
    """f at points of the plane that F = 1 and the scale leave as they are, up to one factor."""
    found = np.searchsorted(own.radii, np.linalg.norm(points, axis=1), side="left")
    return np.append(falls(own), 0.0)[found]


def seen(own, drawn, shift):
    """A lower bound on δ from draws, but with chance 1e-6: of where f(z) > e^ε f(z − s).

    That set has δ = P − e^ε Q, and Clopper & Pearson bound P from below and Q from above. Where the
    two are equal, but for rounding, nothing is won and the counts would be larger.
    """

    def count(points):
        ahead = heights(own, points) > math.exp(own.epsilon + TIE) * heights(own, points - shift)
        return int(ahead.sum())

    n, (p, q) = len(drawn), (count(drawn), count(drawn + shift))
    least = beta.ppf(ERROR / 2, p, n - p + 1) if p else 0.0
    most = beta.ppf(1 - ERROR / 2, q + 1, n - q)
    return least - math.exp(own.epsilon) * most


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_more_is_seen_than_is_claimed_and_hardly_less(epsilon):
    """Of 400,000 draws 80% of δ are seen: less is red, and so is noise of 85% of its size."""
    own, way = noise(epsilon=epsilon), np.array([0.6, 0.8])
    claim = own.loss(DISC).delta
    drawn = own.simulate(400_000, SimulationRandomness(3))
    assert 0.8 * claim < seen(own, drawn, way) <= claim
    assert seen(own, drawn, way / 2) < claim / 2
    assert seen(own, drawn, way / 0.85) > claim


def test_integers_have_the_law_of_the_mixture():
    """χ² over rings of equal chance and quarters of the turn: 7% of radius is seen (λ = 139)."""
    own = noise(epsilon=1.0, scale=1.0, factor=TURN)
    randomness = SimulationRandomness(5)
    drawn = np.array([own.integers(randomness) for _ in range(6000)])
    points = np.linalg.solve(TURN, drawn.T).T
    length = np.linalg.norm(points, axis=1)
    chances = own.weights / own.weights.sum()

    def below(r):
        return float(chances @ np.minimum(r / own.radii, 1.0) ** 2)

    rings = (np.array([below(r) for r in length]) * 10).astype(int)
    turns = ((np.arctan2(points[:, 1], points[:, 0]) / math.pi + 1) * 2).astype(int) % 4
    counts = np.bincount(rings * 4 + turns, minlength=40)
    assert float(np.sum((counts - 150.0) ** 2 / 150.0)) < chi2.ppf(1 - ERROR, 39)


@pytest.mark.sweep("test_integers_have_the_law_of_the_mixture")
def test_integers_have_the_length_of_the_mixture():
    """The mean of ln ‖z‖, of a ball ln r − 1/d: 3% is 10 of its deviations, 4.9 are red."""
    scale, n = 2.0**20, 7000
    own, randomness = noise(d=16, scale=scale), SimulationRandomness(7)
    drawn = np.array([own.integers(randomness) for _ in range(n)], dtype=float)
    found = np.log(np.linalg.norm(drawn, axis=1) / scale)
    chances, logs = own.weights / own.weights.sum(), np.log(own.radii)
    mean = float(chances @ logs)
    deviation = math.sqrt(float(chances @ logs**2) - mean**2 + 1 / 16**2)
    assert abs(found.mean() - (mean - 1 / 16)) < 4.9 * deviation / math.sqrt(n)


def test_simulated_and_exact_draws_have_one_covariance_and_the_stated_moments():
    own = noise(d=3, epsilon=0.7, factor=np.array([1.0, 5.0, 25.0]))
    drawn = own.simulate(200_000, SimulationRandomness(6))
    assert np.mean(np.square(drawn), axis=0) == pytest.approx(own.covariance(), rel=0.03)
    line = drawn @ np.array([3.0, -1.0, 0.3])
    sigma = math.sqrt(np.array([9.0, 1.0, 0.09]) @ own.covariance())
    for order in (2.0, 3.0, 6.0):
        mean = float(np.mean(np.abs(line) ** order)) ** (1 / order) / sigma
        assert own.moment(order) == pytest.approx(mean, rel=0.05)
    for chance in (0.5, 0.05, 0.001):
        assert np.mean(np.abs(line) > own.quantile(chance) * sigma) == pytest.approx(
            chance, abs=6 * math.sqrt(chance / 200_000)
        )


def test_a_quantile_is_never_too_small():
    """In floats of another formula: I at 1 − (h/r)² of each ball."""
    own = noise(d=5, epsilon=0.4)
    chances = own.weights / own.weights.sum()
    sigma = math.sqrt(float(chances @ own.radii**2) / 7)
    for chance in (0.9, 0.1, 1e-4, 1e-9):
        height = own.quantile(chance) * sigma
        inside = betainc(0.5, 3.0, np.minimum((height / own.radii) ** 2, 1.0))
        assert float(chances @ (1 - inside)) <= chance * (1 + 1e-9)
    assert PartialNoise(own, np.arange(5), 7).quantile(0.1) == own.quantile(0.1)
    assert PartialNoise(own, np.arange(5), 7).moment(4.0) == own.moment(4.0)


def test_what_is_log_concave_says_so_and_radial_noise_is_not():
    """Only that of a norm: of a mixture of two balls far apart no bound of such a law holds."""
    far = RadialNoise(1.0, 1.0, np.ones(2), np.array([1.0, 100.0]), np.array([0.999, 0.001]))
    laplace = LaplaceNoise(np.ones(2))
    assert laplace.log_concave
    assert KNormNoise(ImageNorm(np.ones(2), NormBall(2, 2.0)), 1.0).log_concave
    assert not far.log_concave
    assert far.moment(8.0) > laplace.moment(8.0)
    assert laplace.quantile(0.1) is None


def test_the_loss_is_of_the_longest_change_in_the_gauge():
    own = noise(factor=np.array([2.0, 4.0]))
    box = SymmetricBox(np.array([1.2, 3.2]))  # its corner has length (0.6, 0.8)
    assert own.loss(box).delta == pytest.approx(noise().loss(DISC).delta, rel=1e-9)
    assert own.loss(box).epsilon == 1.0
    half = RadialNoise(1.0, 2.0, own.factor, own.radii, own.weights)
    assert half.loss(box).delta < own.loss(box).delta
    assert own.loss(SymmetricBox(np.zeros(2))).delta == 0


FIELDS = ("epsilon", "scale", "factor", "radii", "weights")
WRONG = {
    "radii that fall": {"radii": np.array([2.0, 1.0])},
    "radii alike": {"radii": np.array([1.0, 1.0])},
    "a radius that is none": {"radii": np.array([1.0, math.nan])},
    "a radius of 0": {"radii": np.array([0.0, 1.0])},
    "an endless radius": {"radii": np.array([1.0, math.inf])},
    "a weight below 0": {"weights": np.array([1.0, -1.0])},
    "a weight of 0": {"weights": np.array([1.0, 0.0])},
    "a weight that is none": {"weights": np.array([1.0, math.nan])},
    "one weight too few": {"weights": np.array([1.0])},
    "none": {"radii": np.zeros(0), "weights": np.zeros(0)},
    "too many": {"radii": np.arange(1.0, 1e6), "weights": np.ones(999_999)},
    "no scale": {"scale": 0.0},
    "no epsilon": {"epsilon": math.nan},
    "a flat factor": {"factor": np.array([1.0, 0.0])},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_mixture_is_refused(name):
    good = {
        "epsilon": 1.0,
        "scale": 1.0,
        "factor": np.ones(2),
        "radii": np.array([1.0, 2.0]),
        "weights": np.array([1.0, 1.0]),
    }
    RadialNoise(**good)
    with pytest.raises(PlanError):
        RadialNoise(**{**good, **WRONG[name]})


def test_documents_hold_the_same_floats():
    own = noise(factor=TURN, scale=3.0)
    written = NOISES["radial"].write(own)
    read = NOISES["radial"].read(written, "noise", DISC, 0.0)
    assert all(np.array_equal(getattr(read, name), getattr(own, name)) for name in FIELDS)
    assert read.loss(DISC) == own.loss(DISC)
