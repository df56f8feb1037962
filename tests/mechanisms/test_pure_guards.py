# SPDX-License-Identifier: Apache-2.0
"""Small steps of pure mechanisms that privacy rests on: rounding, redraws and refusals."""

from fractions import Fraction

import numpy as np
import pytest

from lownoise.errors import PlanError
from lownoise.noise import KNormNoise, ResponseMechanism
from lownoise.questions import Queries
from lownoise.sets.bodies import SymmetricBox
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall


def test_the_loss_of_k_norm_noise_is_never_rounded_down():
    """In fractions, of 300 scales: the reach over the scale is at most what is said."""
    box = SymmetricBox(np.array([2.0, 4.0]))
    gauge = ImageNorm(np.array([2.0, 4.0]), NormBall(2, np.inf))
    assert gauge.sensitivity_up(box) == 1
    for scale in np.random.default_rng(1).uniform(0.3, 30, 300).tolist():
        epsilon = Fraction(KNormNoise(gauge, scale).loss(box).epsilon)
        assert Fraction(1) / Fraction(scale) <= epsilon <= Fraction(1 + 1e-15) / Fraction(scale)


class Words:
    """Random words that are known beforehand."""

    def __init__(self, *words):
        self.left = [np.array(own, dtype=np.uint64) for own in words]

    def words(self, count):
        found = self.left.pop(0)
        assert found.size == count
        return found


class Counts:
    """A histogram."""

    def __init__(self, counts):
        self.counts = np.array(counts)
        self.count = int(self.counts.sum())


def test_noise_wider_than_floats_hold_has_no_finite_variance_and_raises_nothing():
    noise = KNormNoise(ImageNorm(np.ones(2), NormBall(2, 2.0)), 2.0**600)
    assert np.all(np.isinf(noise.covariance()))


def test_words_beyond_the_last_multiple_are_drawn_again_until_none_is():
    """2^64 = 3k + 1: the last word alone would make the first record likelier."""
    question = Queries(np.array([[1.0, 2.0, 4.0]]), {"x": 3}, outside={"x": 0})
    made = ResponseMechanism(question=question, size=3, keep=2.0**-30)
    most = 2**64 - 1
    source = Words([most] * 3, [1, most, most], [most, 2], [2])  # coins: none is kept
    assert made.run(Counts([3, 0, 0]), randomness=source) == (0, 1, 2)
    assert not source.left
    source = Words([most] * 3, [most - 1, most - 2, most - 3])  # below it nothing is
    assert made.run(Counts([3, 0, 0]), randomness=source) == (1, 1, 1)


def test_reports_are_refused_where_rows_would_be_dropped_or_coins_are_not_whole():
    matrix = np.array([[1.0, 2.0, 4.0]])
    dropping = Queries(matrix, {"x": 3}, outside="drop")
    with pytest.raises(PlanError, match="dropping rows would change the public size"):
        ResponseMechanism(question=dropping, size=3, keep=0.5)
    question = Queries(matrix, {"x": 3}, outside={"x": 0})
    for keep, size in ((2.0**-65, 3), (0.0, 3), (1.0, 3), (0.5, 0), (0.5, 10**7 + 1)):
        with pytest.raises(PlanError, match="keep or size is out of range"):
            ResponseMechanism(question=question, size=size, keep=keep)
