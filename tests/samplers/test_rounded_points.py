"""Rounded points of ellipsoids: the stated error of floats, their exact law, and more bits."""

import math

import numpy as np
import pytest
from flint import arb, arb_mat
from scipy.stats import kstest

from frequencies import GivenWords
from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import Tail, normals
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers import ellipsoid
from lownoise.samplers.ellipsoid import rounded_points
from lownoise.samplers.lazy import choices, chosen

ERROR = 1e-7  # of each test of a law
TURN = np.array([[3.0, 1.0, 0.0], [-0.5, 2.0, 0.25], [0.0, -1.0, 1.5]])
LENGTH = 0.1 * 2.0**40  # no whole number


def true_points(factor, length, words, *, gamma):
    """Return the balls of length·F·u that a row of words allows."""
    size = len(factor)
    with precision(300):
        g = [Tail(int(word)).ball() for word in words]
        scale = arb(length) / sum((x * x for x in g[: size + 2]), arb(0)).sqrt()
        if gamma:
            scale *= sum((x * x for x in g[size + 2 :]), arb(0)) / 2
        matrix = np.diag(factor) if factor.ndim == 1 else factor
        column = arb_mat(size, size, [arb(f) for f in matrix.ravel().tolist()])
        column = column * arb_mat(size, 1, g[:size])
        return [scale * column[i, 0] for i in range(size)]


@pytest.mark.parametrize("gamma", [False, True])
@pytest.mark.parametrize("factor", [np.ones(1), np.array([1.0, 3.0, 0.1, 1e-6]), TURN])
def test_floats_are_off_by_no_more_than_they_say(factor, gamma):
    """Every value that 64 bits a number allow; and of usual words within 2^−44 of the length."""
    size = len(factor)
    width = size + 2 + gamma * 2 * (size + 1)
    drawn = SimulationRandomness(11).words(60 * width).reshape(-1, width).copy()
    drawn[:10, 0] = (1 << 63) - 1 - np.arange(10, dtype=np.uint64)  # about 0
    drawn[10:20, -1] = np.uint64(3) << np.arange(10, dtype=np.uint64)  # far out, beyond the table
    value, doubt = ellipsoid._in_floats(factor, np.full(len(drawn), LENGTH), drawn)
    widest = LENGTH * np.max(np.abs(factor)) * (4 * size + 40 if gamma else 1)
    for words, own, off in zip(drawn, value, doubt, strict=True):
        for ball, x, most in zip(
            true_points(factor, LENGTH, words, gamma=gamma), own, off, strict=True
        ):
            assert float((abs(ball - arb(x))).upper()) <= most
    assert np.max(doubt[20:]) < widest * 2.0**-44


def _off(by):
    """Normal numbers that are off by so much, outward or inward by a bit of their word."""

    def found(words):
        z, error = normals(words)
        outward = (words >> np.uint64(20) & np.uint64(1)).astype(bool)
        return z + np.where(outward, 1, -1) * np.copysign(by, z), error + by

    return found


@pytest.mark.parametrize("factor", [np.ones(1), TURN])
@pytest.mark.parametrize("gamma", [False, True])
def test_what_normal_numbers_are_off_by_is_carried_on(gamma, factor, monkeypatch):
    """Of numbers that are off by 2^−28 each, values are off by no more than they say."""
    monkeypatch.setattr(ellipsoid, "normals", _off(2.0**-28))
    size = len(factor)
    width = size + 2 + gamma * 2 * (size + 1)
    drawn = SimulationRandomness(12).words(100 * width).reshape(-1, width)
    value, doubt = ellipsoid._in_floats(factor, np.full(100, LENGTH), drawn)
    share = []
    for words, own, off in zip(drawn, value, doubt, strict=True):
        balls = true_points(factor, LENGTH, words, gamma=gamma)
        wrong = [float(abs(ball - arb(x)).upper()) for ball, x in zip(balls, own, strict=True)]
        share.append(np.array(wrong) / off)
    assert 0.5 < np.max(share) <= 1


@pytest.mark.parametrize("gamma", [False, True])
def test_what_is_off_decides_nothing(gamma, monkeypatch):
    lengths, exact = np.full(40, LENGTH), lambda _: arb(LENGTH)
    once = rounded_points(TURN, lengths, exact, randomness=SimulationRandomness(2), gamma=gamma)
    monkeypatch.setattr(ellipsoid, "normals", _off(2.0**-38))
    again = rounded_points(TURN, lengths, exact, randomness=SimulationRandomness(2), gamma=gamma)
    assert np.array_equal(once, again)


@pytest.mark.parametrize("gamma", [False, True])
def test_more_bits_decide_the_same(gamma, monkeypatch):
    """What floats decide, ball arithmetic decides alike; where they decide nothing, it decides."""
    lengths, exact = np.full(80, LENGTH), lambda _: arb(LENGTH)
    once = rounded_points(TURN, lengths, exact, randomness=SimulationRandomness(2), gamma=gamma)
    monkeypatch.setattr(ellipsoid, "_LEAST", math.inf)
    again = rounded_points(TURN, lengths, exact, randomness=SimulationRandomness(2), gamma=gamma)
    assert np.array_equal(once, again)


def test_a_half_is_decided_with_more_bits():
    """A length at which a point lies on a half, as far as 64 bits say, asks for more of them."""
    words = SimulationRandomness(3).words(3).tolist()
    with precision(300):
        middle = abs(true_points(np.ones(1), 1.0, words, gamma=False)[0].mid())
        length = arb(4.5) / middle
    given = GivenWords(words)
    found = rounded_points(
        np.ones(1), np.array([float(length.mid())]), lambda _: length, randomness=given
    )
    assert abs(int(found[0, 0])) in {4, 5}
    assert given.asked > 3


def test_the_least_and_the_widest_lengths():
    source = SimulationRandomness(4)
    small = rounded_points(np.ones(2), np.full(9, 1e-300), lambda _: arb(1e-300), randomness=source)
    assert not np.any(small)
    tiny = np.array([1.0, 1e-310])
    mixed = rounded_points(tiny, np.full(9, 100.0), lambda _: arb(100), randomness=source)
    assert np.any(mixed[:, 0])
    assert not np.any(mixed[:, 1])
    wide = rounded_points(
        np.ones(2), np.full(9, 2.0**90), lambda _: arb(2) ** 90, randomness=source
    )
    assert max(abs(own) for own in wide.ravel().tolist()) > 2**80
    none = rounded_points(np.ones(2), np.zeros(0), lambda _: arb(1), randomness=source)
    assert none.shape == (0, 2)


@pytest.mark.parametrize("size", [1, 2, 5, 16])
def test_the_law_is_uniform_in_the_ball(size):
    """Kolmogorov's distance of |z|^d and of one coordinate; 20,000 draws, 3% off is seen."""
    from scipy.stats import beta

    lengths = np.full(20_000, 2.0**30)
    found = rounded_points(
        np.ones(size), lengths, lambda _: arb(2) ** 30, randomness=SimulationRandomness(6)
    )
    points = found / 2.0**30
    assert kstest(np.linalg.norm(points, axis=1) ** size, "uniform").pvalue > ERROR
    last = beta((size + 1) / 2, (size + 1) / 2, loc=-1, scale=2)
    assert kstest(points[:, -1], last.cdf).pvalue > ERROR


@pytest.mark.parametrize("size", [1, 3, 16])
def test_the_law_of_the_noise_of_a_norm(size):
    """‖z‖ has the law Gamma(d, 1): its distance, of 20,000 draws; a scale off by 3% is seen."""
    lengths = np.full(20_000, 2.0**30)
    found = rounded_points(
        np.ones(size),
        lengths,
        lambda _: arb(2) ** 30,
        randomness=SimulationRandomness(7),
        gamma=True,
    )
    length = np.linalg.norm(found / 2.0**30, axis=1)
    assert kstest(length, "gamma", args=(size,)).pvalue > ERROR


def test_many_choices_are_as_likely_as_one():
    """Words on every end and beside it choose what exact fractions choose; chances hold."""
    cumulative = [3**40, 3**40 + 1, 2 * 3**40, 5 * 3**40]
    ends = [(own << 64) // cumulative[-1] for own in cumulative[:-1]]
    words = [word + by for word in ends for by in (-1, 0, 1)] + [0, 2**64 - 1]
    many = choices(cumulative, len(words), randomness=GivenWords(words))
    for word, own in zip(words, many.tolist(), strict=True):
        if word not in ends:
            assert own == chosen(cumulative, randomness=GivenWords([word]))
    counts = np.bincount(
        choices([1, 3, 10], 100_000, randomness=SimulationRandomness(8)), minlength=3
    )
    share = np.array([0.1, 0.2, 0.7])
    assert np.all(np.abs(counts / 1e5 - share) < 5.4 * np.sqrt(share * (1 - share) / 1e5))
