# SPDX-License-Identifier: Apache-2.0
"""Gamma radii, the noise of norms, and Laplace numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.gamma import GammaRadius, k_norm_noise, laplace, simulated_noise
from lownoise.samplers.lazy import UniformBits, above_zero, chosen, rounded, settled
from lownoise.samplers.uniform import UniformNormBall
from uniform_cases import CASES, Scripted, middles

FIRST_KIND = 1e-6
EXACT = 3000
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def gamma_rejects(sample, shape):
    return stats.kstest(sample, stats.gamma(shape).cdf).pvalue < FIRST_KIND


@pytest.mark.parametrize("shape", [1, 2, 5])
def test_radii_are_gamma_and_no_other(shape):
    source = SimulationRandomness(1)
    radius = GammaRadius(shape)
    drawn = np.array([middles(radius.draw(source))[0] for _ in range(EXACT)])
    for sample in (drawn, radius.simulate(EXACT, source)):
        assert not gamma_rejects(sample, shape)
        assert gamma_rejects(sample, shape + 1)
        assert shape == 1 or gamma_rejects(sample, shape - 1)


def test_a_radius_is_what_its_words_say():
    source = Scripted([], SimulationRandomness(2))
    found = middles(GammaRadius(7).draw(source))[0]
    u = (source.served[0].astype(float) + 0.5) * 2.0**-64
    assert math.isclose(found, -math.log(math.prod(u)), rel_tol=1e-12)


@pytest.mark.grid(3)
@every
def test_the_norm_of_noise_is_gamma_of_one_more_than_the_dimension(case):
    """The density exp(−‖z‖/b) says so; with Gamma(d) radii its norm would be another."""
    scale, d = 1000.0, case.dimension
    source = SimulationRandomness(3)
    noise = [
        rounded(k_norm_noise(case.uniform, scale, randomness=source), randomness=source)
        for _ in range(EXACT // 3)
    ]
    # ‖z‖ = r·‖u‖ with ‖u‖^d uniform and r ~ Gamma(d + 1): Gamma(d)
    norms = case.norm(np.array(noise) / scale)
    assert not gamma_rejects(norms, d)
    assert gamma_rejects(norms, d + 1)
    assert gamma_rejects(norms * 1.4, d)
    assert gamma_rejects(norms / 1.4, d)
    simulated = case.norm(simulated_noise(case.uniform, 1.0, 20_000, SimulationRandomness(4)))
    assert not gamma_rejects(simulated, d)


def test_the_noise_of_the_cross_polytope_is_laplace():
    """Both ways to it: independent numbers, and a radius times a uniform point."""
    source = SimulationRandomness(5)
    ball = UniformNormBall(3, 1.0)
    direct = np.array([middles(k_norm_noise(ball, 2.0, randomness=source)) for _ in range(EXACT)])
    general = simulated_noise(ball, 2.0, 20_000, source)
    for sample in (direct, general):
        for column in sample.T:
            assert stats.kstest(column, stats.laplace(scale=2.0).cdf).pvalue > FIRST_KIND
            assert stats.kstest(column * 1.5, stats.laplace(scale=2.0).cdf).pvalue < FIRST_KIND
        for i, j in ((0, 1), (0, 2), (1, 2)):  # |r|·√n is normal
            for power in (1, 2):
                own = stats.spearmanr(np.abs(sample[:, i]) ** power, sample[:, j] ** power)
                assert own.pvalue > FIRST_KIND


def test_laplace_numbers_are_what_their_words_say():
    scales = np.array([1.0, 0.0, 2.5e6, 1e-3])
    source = Scripted([], SimulationRandomness(6))
    lazy = laplace(scales, randomness=source)
    u = (source.served[0].astype(float) + 0.5) * 2.0**-64
    v = 2 * u - 1
    expected = np.zeros(4)
    expected[[0, 2, 3]] = -scales[[0, 2, 3]] * np.sign(v) * np.log(np.abs(v))
    assert np.allclose(middles(lazy), expected, rtol=1e-9)
    assert rounded(lazy, randomness=source) == np.rint(expected).astype(int).tolist()


@pytest.mark.parametrize("word", [0, 2**64 - 1, 2**63, 2**63 - 1])
def test_structured_words_are_cured_by_more(word):
    source = Scripted([word] * 8, SimulationRandomness(7))
    lazy = laplace(np.full(4, 2.0**50), randomness=source)
    found = rounded(lazy, randomness=source)
    lazy.refine(source)
    with precision(400):
        assert [int((z + 0.5).floor().unique_fmpz()) for z in lazy.balls()] == found


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scales_out_of_range_are_refused(scale):
    for order in (1.0, 2.0):
        with pytest.raises(PlanError, match="the scale of noise is"):
            k_norm_noise(UniformNormBall(2, order), scale, randomness=SimulationRandomness(1))
    with pytest.raises(PlanError, match=r"GammaRadius\.shape=0"):
        GammaRadius(0)


def test_choices_have_their_weights():
    # chi-square with 3 degrees of freedom; power: a weight off by a fifth is rejected
    weights = np.array([1, 5, 3, 7])
    source = SimulationRandomness(8)
    sums = np.cumsum(weights).tolist()
    counts = np.bincount([chosen(sums, randomness=source) for _ in range(30_000)], minlength=4)
    expected = weights / 16 * counts.sum()
    assert stats.chisquare(counts, expected).pvalue > FIRST_KIND
    off = expected * [1, 1.2, 1, 1]
    assert stats.chisquare(counts, off / off.sum() * counts.sum()).pvalue < FIRST_KIND


@pytest.mark.parametrize(
    ("words", "choice", "left"),
    [
        ([0], 0, 1),
        ([2**64 - 1], 2, 1),
        ([0x5555555555555555, 0], 0, 1),  # a third lies in what the first word leaves open
        ([0x5555555555555555, 2**64 - 1], 1, 1),
        ([0x5555555555555556], 1, 1),
    ],
)
def test_a_choice_asks_for_more_bits_only_where_it_must(words, choice, left):
    source = Scripted([*words, 1], SimulationRandomness(9))
    assert chosen([1, 2, 3], randomness=source) == choice
    assert len(source.first) == left


def test_signs_are_asked_until_they_are_sure():
    class Near:
        """u − 1/2 for a u whose first word leaves that open."""

        dimension = 1

        def __init__(self):
            self.bits = UniformBits(np.array([2**63 - 1], dtype=np.uint64))

        def balls(self):
            return [u - 0.5 + 2.0**-65 for u in self.bits.balls()]

        def refine(self, randomness):
            self.bits.refine(randomness)

    for word, answer in ((0, False), (2**64 - 1, True)):
        assert above_zero(Near(), randomness=Scripted([word], SimulationRandomness(1))) == [answer]


def test_numbers_kept_alone_keep_their_bits():
    source = SimulationRandomness(10)
    all_three = UniformBits(source.words(3))
    all_three.refine(source)
    alone = all_three.kept([2, 0])
    whole = all_three.balls()
    with precision(300):
        for ball, own in zip(alone.balls(), (whole[2], whole[0]), strict=True):
            assert ball.mid() in own
            assert ball.rad() < 2.0**-120


def test_what_is_open_draws_bits_of_every_vector_in_turn():
    drawn = []

    class Vector:
        def __init__(self, name):
            self.name = name

        def refine(self, randomness):
            drawn.append(self.name)

    answers = iter([None, None, False])
    found = settled(lambda: next(answers), Vector("a"), Vector("b"), randomness=None)
    assert found is False
    assert drawn == ["a", "b", "a", "b"]
