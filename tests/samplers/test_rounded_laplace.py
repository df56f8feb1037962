"""Rounded Laplace numbers: their exact law, and the roundings that take more bits."""

import math

import numpy as np
import pytest
from flint import arb

from frequencies import GivenWords
from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.laplace import rounded_laplace


@pytest.mark.grid(3)
@pytest.mark.parametrize("scale", [0.1, 0.7, 3.0, 1e3, 2.0**30])
def test_the_law_is_that_of_a_rounded_laplace_number(scale):
    """200,000 draws against P(round z ≤ k), by Kolmogorov's distance.

    First kind below 1e-7 by Massart's inequality, 2·exp(−2nt²) at t = 0.0065. Power: a scale off by
    5% moves the law by 0.009 where it moves it most (by 0.003 for a scale of 0.1, of few values).
    """
    drawn = rounded_laplace(np.full(200_000, scale), randomness=SimulationRandomness(3))
    ks = np.unique(drawn)
    at = (ks + 0.5) / scale
    law = np.where(at >= 0, 1 - np.exp(-np.abs(at)) / 2, np.exp(-np.abs(at)) / 2)
    empirical = np.searchsorted(np.sort(drawn), ks, side="right") / drawn.size
    assert np.max(np.abs(law - empirical)) < 0.0065


def test_a_half_is_decided_with_more_bits():
    """The 63 bits of U around which −b·log U is a half leave it open; so does U below 2^−63."""
    scale = 1000.0
    with precision(200):
        bits = int((arb(2) ** 63 * (-arb(5) / 2000).exp()).floor().unique_fmpz())
    near = GivenWords([bits << 1, (bits << 1) | 1])
    found = rounded_laplace(np.full(2, scale), randomness=near)
    assert near.asked > 2
    assert found[0] in {2, 3}
    assert found[1] in {-2, -3}
    rare = GivenWords([0])
    assert rounded_laplace(np.array([2.0]), randomness=rare)[0] >= round(2 * 63 * math.log(2))
    assert rare.asked > 1


def test_the_sign_is_the_lowest_bit_alone():
    words = SimulationRandomness(9).words(1000).tolist()
    scales = np.full(1000, 1e6)
    one = rounded_laplace(scales, randomness=GivenWords([w | 1 for w in words]))
    other = rounded_laplace(scales, randomness=GivenWords([w & ~1 for w in words]))
    assert np.array_equal(one, -other)
    assert np.all(other >= 0)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, 2.0**53])
def test_scales_out_of_range_are_refused(scale):
    with pytest.raises(PlanError, match="scales"):
        rounded_laplace(np.array([scale]), randomness=SimulationRandomness(1))
