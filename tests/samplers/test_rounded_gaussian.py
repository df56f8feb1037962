# SPDX-License-Identifier: Apache-2.0
"""The rounded Gaussian: the right integer bit for bit, and the right law.

Exactness is judged through a scripted source whose later words are all equal: whoever asks for
more bits, and in whatever order, each number's bits are known for ever, and so is the number.
"""

import functools
import math
import sys
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from lownoise.numbers.normals import normals
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import AbstractShape, DiagonalShape
from shapes.test_diagonal import factor

SIGN = 2**63
TABLE = 2**47  # smaller tails are beyond the table
DIGITS = 130
HAND_MADE = [0, 1, 2, 2**11, 2**30, TABLE - 1, TABLE, TABLE + 1, 2**62, SIGN - 1]


class Scripted:
    """Serve the given words, then `later` for ever; count what is asked beyond the script."""

    def __init__(self, words, later):
        self._words, self._later, self.beyond = list(words), later, 0

    def words(self, count):
        served = self._words[:count]
        del self._words[:count]
        self.beyond += count - len(served)
        return np.array(served + [self._later] * (count - len(served)), dtype=np.uint64)


class Continued:
    """Serve the given words first, then those of another source."""

    def __init__(self, words, later):
        self._first, self._later, self.beyond = words, later, 0

    def words(self, count):
        first, self._first = self._first, None
        if first is not None:
            return first
        self.beyond += count
        return self._later.words(count)


@dataclass(frozen=True, eq=False)
class Rows(AbstractShape):
    """A dense factor B, any number of times down the diagonal: L = I ⊗ B, for these tests."""

    B: np.ndarray
    copies: int = 1

    @property
    def dimension(self):
        return len(self.B) * self.copies

    @property
    def sources(self):
        return self.dimension

    @property
    def whitening(self):
        raise NotImplementedError

    def box_radius_up(self, half_width):
        raise NotImplementedError

    def deviations(self):
        return np.sqrt(self.diagonal())

    def conditional_scales(self):
        raise NotImplementedError

    @property
    def rank(self):
        return self.dimension

    def mapped(self, matrix):
        raise NotImplementedError

    @property
    def longest_row(self):
        return int(np.count_nonzero(self.B, axis=1).max())

    def apply(self, vector):
        return (vector.reshape(self.copies, -1) @ self.B.T).ravel()

    def apply_abs(self, vector):
        return (vector.reshape(self.copies, -1) @ np.abs(self.B).T).ravel()

    def solve(self, vector):
        return np.linalg.solve(self.B, vector.reshape(self.copies, -1).T).T.ravel()

    def diagonal(self):
        return np.tile(np.diag(self.B @ self.B.T), self.copies)

    def quadratic_form(self, vector):
        return float(np.sum(self.solve(vector) ** 2))

    def dense(self):
        return np.kron(np.eye(self.copies), self.B @ self.B.T)

    def scaled(self, factor):
        return Rows(factor * self.B, self.copies)

    def row(self, index):
        copy, own = divmod(index, len(self.B))
        columns = np.flatnonzero(self.B[own])
        return columns + copy * len(self.B), self.B[own, columns]


@functools.cache
def normal(word, later):
    """Return the number whose bits are `word`, then `later` for ever, to over 60 digits."""
    tail = (mpmath.mpf(word % SIGN) + mpmath.mpf(later) / (2**64 - 1)) / 2**64
    z = mpmath.mpf(-float(special.ndtri(float(tail))))
    for _ in range(6):  # Newton's: 16 digits double to over 130
        density = mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)
        z += (mpmath.erfc(z / mpmath.sqrt(2)) / 2 - tail) / density
    assert abs(mpmath.erfc(z / mpmath.sqrt(2)) / 2 - tail) <= tail * mpmath.mpf(10) ** -110
    return z if word < SIGN else -z


def expected(shape, words, later):
    """Return the roundings that the bits determine, by another road than the sampler's."""
    with mpmath.workdps(DIGITS):
        xi = [normal(int(w), later) for w in words]
        totals = [
            sum((mpmath.mpf(float(a)) * x for a, x in zip(row, xi, strict=True)), mpmath.mpf(0))
            for row in factor(shape)
        ]
        return [int(mpmath.floor(t + mpmath.mpf(0.5))) for t in totals]


def assert_exact(shape, words, later=0x123456789ABCDEF):
    source = Scripted(words, later)
    drawn = rounded_gaussian(shape, randomness=source)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == expected(shape, words, later)
    return source.beyond


# ---------------------------------------------------------------- the right integer, bit for bit


either_way = pytest.mark.usefixtures("either_way")


@pytest.fixture(params=[2.0**51, 0.0], ids=["table", "balls"])
def either_way_setting(request):
    return request.param


@pytest.fixture(name="either_way")
def _either_way(either_way_setting, monkeypatch):
    """The table decides, or nothing counts as decided and ball arithmetic does: test both."""
    module = sys.modules["lownoise.samplers.gaussian"]
    monkeypatch.setattr(module, "_LARGEST", either_way_setting)


@pytest.mark.grid(3)
@either_way
@pytest.mark.parametrize("scale", [1e-3, 0.3, 0.7, 1.0, 1e3, 2**33 * 1.7, 2.0**45])
def test_the_integer_is_the_rounding_of_the_bits(scale):
    words = SimulationRandomness(11).words(160).tolist()
    assert_exact(DiagonalShape([scale] * 160), words)


@pytest.mark.grid(least=3)
@either_way
@pytest.mark.parametrize("later", [1, 0x123456789ABCDEF, 2**64 - 2])
@pytest.mark.parametrize("sign", [0, SIGN])
@pytest.mark.parametrize("scale", [1e-3, 0.3, 2**33 * 1.7, 2.0**45, 2.0**50, 2.0**55])
def test_hand_made_words_of_both_signs(scale, sign, later):
    words = [sign + tail for tail in HAND_MADE]
    assert_exact(DiagonalShape([scale] * len(words)), words, later)


@either_way
def test_a_tail_of_zeros_draws_until_the_number_is_known():
    # two more words of zeros, then bits: |z| > 15
    for sign in (0, SIGN):
        source = Scripted([sign, 0, 0], 2**63)
        drawn = int(rounded_gaussian(DiagonalShape([1.0]), randomness=source)[0])
        with mpmath.workdps(DIGITS):
            low, high = (mpmath.mpf(n) * mpmath.mpf(2) ** -193 for n in (1, 2))
            size = abs(drawn)
            root = mpmath.sqrt(2)
            assert mpmath.erfc((size + mpmath.mpf(0.5)) / root) / 2 <= low
            assert high <= mpmath.erfc((size - mpmath.mpf(0.5)) / root) / 2
        assert size > 15
        assert (drawn < 0) == (sign == SIGN)
        assert source.beyond >= 1


@either_way
@pytest.mark.parametrize(("scale", "least_wrong"), [(2.0**50, 1), (2.0**55, 25)])
def test_where_floats_alone_would_be_wrong_the_slow_path_is_right(scale, least_wrong):
    words = SimulationRandomness(12).words(100)
    shape = DiagonalShape([scale] * 100)
    assert_exact(shape, words.tolist(), 0)
    by_floats = np.rint(scale * normals(words)[0]).astype(np.int64)
    assert np.sum(by_floats != expected(shape, words, 0)) >= least_wrong


@pytest.mark.grid
@either_way
@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("scale", [0.3, 1e3, 2**33 * 1.7, 2.0**45])
@pytest.mark.parametrize("boundary", [0.25, 0.9, 1.7])
def test_a_half_integer_hidden_in_the_unread_bits_is_decided_by_reading_them(
    scale,
    boundary,
    negative,
):
    """The 64 bits, and the 64 after them, do not decide; those after these do, either way."""
    with mpmath.workdps(DIGITS):
        least = math.floor(boundary * scale)  # the tail of (least + ½)/scale, in bits
        tail = mpmath.erfc((least + mpmath.mpf(0.5)) / mpmath.mpf(scale) / mpmath.sqrt(2)) / 2
        word, rest = divmod(int(mpmath.floor(tail * 2**128)), 2**64)
    word += SIGN * negative
    # a smaller tail is a larger number: zeros after these bits lie beyond the half
    for later, size in ((0, least + 1), (2**64 - 1, least)):
        source = Scripted([word, rest], later)
        drawn = rounded_gaussian(DiagonalShape([scale]), randomness=source)
        assert drawn.tolist() == [-size if negative else size]
        assert source.beyond >= 1
    # and bits well off the half decide at once
    for second, size in ((rest // 2, least + 1), (rest + (2**64 - rest) // 2, least)):
        source = Scripted([word, second], 0)
        drawn = rounded_gaussian(DiagonalShape([scale]), randomness=source)
        assert drawn.tolist() == [-size if negative else size]
        assert source.beyond == 0


@either_way
def test_zero_scale_is_zero_whatever_the_bits():
    words = [*HAND_MADE, *(SIGN + tail for tail in HAND_MADE)]
    source = Scripted(words, 1)
    drawn = rounded_gaussian(DiagonalShape([0.0] * len(words)), randomness=source)
    assert drawn.tolist() == [0] * len(words)


@either_way
def test_zero_scales_leave_their_neighbours_alone():
    words = SimulationRandomness(13).words(60).tolist()
    assert_exact(DiagonalShape([0.0, 1e6, 2.0**50] * 20), words)


def test_more_than_one_block_keeps_its_order():
    count = (1 << 15) + 5
    words = SimulationRandomness(14).words(count)
    whole = rounded_gaussian(DiagonalShape(np.full(count, 1e6)), randomness=Scripted(words, 1))
    for i in (0, (1 << 15) - 1, 1 << 15, count - 1):
        alone = DiagonalShape([1e6])
        assert whole[i] == expected(alone, [words[i]], 1)[0]


@either_way
def test_the_top_bit_mirrors_the_noise():
    words = SimulationRandomness(15).words(200)
    shape = DiagonalShape(np.geomspace(0.5, 2.0**50, 200))
    drawn = rounded_gaussian(shape, randomness=Scripted(words, 77))
    mirrored = rounded_gaussian(shape, randomness=Scripted(words ^ np.uint64(SIGN), 77))
    assert np.array_equal(drawn, -mirrored)
    assert np.all(drawn[50:] != 0)


# ---------------------------------------------------------------- factors with dense rows

TWO = np.array([[3.0e4, 0.0], [-4.0e4, 1.0e4]])
THREE = np.array([[2.0**20, 0, 0], [0.6 * 2**20, 0.8 * 2**20, 0], [-(2.0**19), 2.0**18, 2.0**20]])


@pytest.mark.grid
@either_way
@pytest.mark.parametrize("B", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("size", [1e-5, 1.0, 2.0**20, 2.0**30, 2.0**35])
def test_dense_rows_are_the_rounding_of_the_bits(B, size):
    source = SimulationRandomness(21)
    for _ in range(40):
        assert_exact(Rows(B * size), source.words(len(B)).tolist())


@either_way
def test_dense_rows_with_tails_beyond_the_table():
    for tail in HAND_MADE:
        assert_exact(Rows(THREE), [tail, SIGN + 2**60 + 3, 2**61 + 1])
        assert_exact(Rows(THREE * 2.0**30), [2**61 + 1, SIGN + tail, 2**60 + 3])


@either_way
def test_rows_of_mixed_size_share_their_numbers():
    # the first row is decided by floats, the others by ball arithmetic
    B = np.array([[1e3, 0, 0], [2.0**52, 1.0, 0], [2.0**52, 2.0**52, 2.0**52]])
    source = SimulationRandomness(22)
    for _ in range(60):
        assert_exact(Rows(B), source.words(3).tolist())


@either_way
def test_both_rows_use_the_same_number_however_many_bits_it_takes():
    # at this scale 64 bits leave about one rounding in ten open: were the further bits drawn anew
    # for the second row, some of 300 pairs would differ (chance to miss it: 0.95^300 < 1e-6)
    B = np.array([[2.0**59, 0.0], [2.0**59, 0.0]])
    words, later = SimulationRandomness(23), SimulationRandomness(24)
    refined = 0
    for _ in range(300):
        source = Continued(words.words(2), later)
        one, two = rounded_gaussian(Rows(B), randomness=source).tolist()
        assert one == two
        refined += source.beyond > 0
    assert refined > 20


# ---------------------------------------------------------------- the law

KS_SAMPLE = 1_000_000
# first kind 1e-6: √n·D exceeds 2.694 with probability 2·exp(−2·2.694²) = 1e-6 (Kolmogorov's limit).
# Power: a scale off by 2 % moves the distribution function by 0.0048 at one standard deviation,
# √n·D ≥ 4.8 there with standard deviation 0.37: it is missed with probability below 1e-8.
# The grid of 2^-20 standard deviations moves √n·D by less than 2e-4.
KS_CRITICAL = 2.694

VARIANCE_SAMPLE = 200_000
# first kind 1e-6: n·s²/σ² is chi-square with n degrees, both sides 5e-7.
# Power: a scale off by 2 % moves it by 4 %, 12.6 standard deviations of 0.32 %, the limits are at
# 4.9: missed with probability below 1e-12.
VARIANCE_LIMITS = stats.chi2.ppf([5e-7, 1 - 5e-7], VARIANCE_SAMPLE) / VARIANCE_SAMPLE

SCALE = 2.0**20
OFF = [0.98, 1.02]


def sample(scale, count, seed):
    return rounded_gaussian(
        DiagonalShape(np.full(count, scale)), randomness=SimulationRandomness(seed)
    )


def ks_rejects(drawn, scale):
    distance = stats.kstest(drawn / scale, stats.norm.cdf, mode="asymp").statistic
    return math.sqrt(drawn.size) * distance > KS_CRITICAL


def variance_rejects(drawn, scale):
    ratio = np.mean((drawn / scale) ** 2)
    return not VARIANCE_LIMITS[0] <= ratio <= VARIANCE_LIMITS[1]


def mean_rejects(drawn, scale):
    # 5 standard errors: first kind 5.8e-7; power: a mean off by 0.03 σ is missed with 1e-12
    return abs(np.mean(drawn / scale)) > 5 / math.sqrt(drawn.size)


def test_the_distribution_function():
    assert not ks_rejects(sample(SCALE, KS_SAMPLE, 31), SCALE)


@pytest.mark.parametrize("off", OFF)
def test_the_distribution_function_of_another_scale_is_rejected(off):
    assert ks_rejects(sample(SCALE * off, KS_SAMPLE, 32), SCALE)


@pytest.mark.parametrize("scale", [SCALE, 2.0**33 * 1.7, 2.0**45])
def test_the_variance(scale):
    assert not variance_rejects(sample(scale, VARIANCE_SAMPLE, 33), scale)


@pytest.mark.parametrize("off", OFF)
def test_the_variance_of_another_scale_is_rejected(off):
    assert variance_rejects(sample(SCALE * off, VARIANCE_SAMPLE, 34), SCALE)


@pytest.mark.parametrize("scale", [SCALE, 5.0, 0.7])
def test_the_mean_is_zero(scale):
    drawn = sample(scale, VARIANCE_SAMPLE, 35)
    assert not mean_rejects(drawn, math.sqrt(scale**2 + 1 / 12))


def test_a_mean_that_is_off_is_rejected():
    # truncation toward −∞ in place of rounding at scale 5: off by a tenth of σ
    assert mean_rejects(sample(5.0, VARIANCE_SAMPLE, 36) - 0.5, 5.0)


@pytest.mark.parametrize("edge", [2.5, 3.5, 4.3])
def test_the_tails_have_their_mass(edge):
    # first kind 1e-6 by the exact binomial. Power: at 2.5 and 3.5 a mass off by a half is missed
    # with probability below 1e-6; at 4.3, where the slow path begins and 17 are expected, a mass
    # that is lost altogether or six times too large
    drawn = sample(SCALE, KS_SAMPLE, 37)
    beyond = int(np.sum(np.abs(drawn) > edge * SCALE))
    chance = 2 * stats.norm.sf(edge)
    assert stats.binomtest(beyond, drawn.size, chance).pvalue > 1e-6


COUNT_SAMPLE = 400_000
COUNT_SCALES = [0.3, 0.7, 2.0]
# first kind 1e-6 by chi-square's limit, every cell expecting over 20.
# Power: a scale off by 2 % adds a noncentrality above 200 at each of the scales, against a limit
# below 60 and a standard deviation of 2√200 = 28: missed with probability below 1e-6.


def count_rejects(drawn, scale):
    """Chi-square of the counts of each integer against the mass between half-integers."""
    last = 0
    while stats.norm.sf((last + 0.5) / scale) * drawn.size > 20:
        last += 1
    edges = np.arange(-last + 0.5, last) / scale
    mass = np.diff(stats.norm.cdf(edges), prepend=0.0, append=1.0)
    counts = np.bincount(np.clip(drawn, -last, last) + last, minlength=2 * last + 1)
    return stats.chisquare(counts, mass * drawn.size).pvalue < 1e-6


@pytest.mark.parametrize("scale", COUNT_SCALES)
def test_small_scales_have_the_mass_between_half_integers(scale):
    assert not count_rejects(sample(scale, COUNT_SAMPLE, 41), scale)


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize("scale", COUNT_SCALES)
def test_small_scales_that_are_off_are_rejected(scale, off):
    assert count_rejects(sample(scale * off, COUNT_SAMPLE, 42), scale)


def test_coordinates_and_draws_are_independent():
    # first kind: r·√n is normal, 5.1 has 3.4e-7 a test, 8 tests: below 1e-6 each.
    # Power: a correlation of 0.03 (0.07 between blocks) is missed with probability below 1e-12.
    source = SimulationRandomness(43)
    shape = DiagonalShape(np.full(VARIANCE_SAMPLE, SCALE))
    one, two = (rounded_gaussian(shape, randomness=source) / SCALE for _ in range(2))
    limit = 5.1 / math.sqrt(VARIANCE_SAMPLE - 2)
    pairs = [(one[:-1], one[1:]), (one[:-2], one[2:]), (one[: 1 << 15], one[1 << 15 : 1 << 16])]
    for a, b in [*pairs, (one, two)]:
        bound = max(limit, 5.1 / math.sqrt(a.size - 2))
        assert abs(np.corrcoef(a, b)[0, 1]) < bound
        assert abs(np.corrcoef(a**2, b**2)[0, 1]) < bound


COVARIANCE_SAMPLE = 200_000
# z = B⁻¹x is standard. First kind, by the normal limit of mean(zᵢzⱼ), whose standard deviation is
# √2/√n on the diagonal and 1/√n beside it: 5.4 of these have 6.7e-8 an entry, 6 entries 4e-7.
# Power: a scale off by 2 % moves the diagonal by 4 %, 12.6 standard deviations: missed with
# probability below 1e-11. A lost or negated entry of B moves an entry by 0.2 or more.


def covariance_rejects(B, claimed):
    shape = Rows(B, COVARIANCE_SAMPLE)
    drawn = rounded_gaussian(shape, randomness=SimulationRandomness(44))
    z = Rows(claimed, COVARIANCE_SAMPLE).solve(drawn.astype(float)).reshape(-1, len(B))
    d = len(B)
    limit = 5.4 / math.sqrt(COVARIANCE_SAMPLE) * (np.ones((d, d)) + (math.sqrt(2) - 1) * np.eye(d))
    return bool(np.any(np.abs(z.T @ z / COVARIANCE_SAMPLE - np.eye(d)) > limit))


@pytest.mark.parametrize("B", [TWO, THREE], ids=["two", "three"])
def test_dense_rows_have_the_covariance_of_their_factor(B):
    assert not covariance_rejects(B, B)


@pytest.mark.parametrize("B", [TWO, THREE], ids=["two", "three"])
def test_the_covariance_of_another_factor_is_rejected(B):
    assert covariance_rejects(B * 0.98, B)
    assert covariance_rejects(B * 1.02, B)
    assert covariance_rejects(np.diag(np.diag(B)), B)
    assert covariance_rejects(np.abs(B), B)


@pytest.mark.grid(1)
@pytest.mark.parametrize("scale", [1.1 * 2.0**48, 1.7 * 2.0**49, 1.3 * 2.0**50])
def test_the_table_and_the_balls_decide_alike_where_products_round(scale, monkeypatch):
    """Here the rounding of L·z itself is a quarter of a step: leaving it out of the doubt shows."""
    module = sys.modules["lownoise.samplers.gaussian"]
    shape = DiagonalShape(np.full(30_000, scale))
    drawn = []
    for largest in (2.0**51, 0.0):
        monkeypatch.setattr(module, "_LARGEST", largest)
        drawn.append(rounded_gaussian(shape, randomness=SimulationRandomness(12)))
    assert np.array_equal(*drawn)
