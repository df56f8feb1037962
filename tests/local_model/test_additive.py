# SPDX-License-Identifier: Apache-2.0
"""Noise on the point itself: its law, that each integer is the exact one, and what it reveals."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from local_model.members import MEMBERS
from lownoise.errors import FileError, PlanError
from lownoise.local_model import FULL, RANDOMIZERS, BallGaussian, BallKNorm, CubeLaplace
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.privacy.gaussian_curve import delta_up

ADDITIVE = {name: MEMBERS[name]() for name in ("gaussian", "k_norm", "laplace")}
EACH = pytest.mark.parametrize("own", ADDITIVE.values(), ids=ADDITIVE)
MANY = 1_000_000
LINE = math.sqrt(math.log(2 / 1e-6) / (2 * MANY))  # of Dvoretzky, Kiefer, Wolfowitz & Massart


class Recorded:
    """Randomness that says what it gave, beginning with words of the test's own."""

    def __init__(self, first=(), seed=1):
        self.given, self._first, self._rest = [], list(first), SimulationRandomness(seed)

    def words(self, count):
        own = [self._first.pop(0) for _ in range(min(count, len(self._first)))]
        found = np.array(own + self._rest.words(count - len(own)).tolist(), dtype=np.uint64)
        self.given.append(found)
        return found


def normal(word, more=()):
    """The normal number of a word and the words after it, by mpmath; 60 digits."""
    bits, length = int(word) & (2**63 - 1), 64
    for next_word in more:
        bits, length = bits << 64 | int(next_word), length + 64
    tail = mpmath.mpf(2 * bits + 1) / mpmath.mpf(2) ** (length + 1)
    size = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail)
    return -size if int(word) >> 63 else size


def noise(own, z):
    """The noise of size 1 of normal numbers, as the docstrings say it."""
    r = own.dimension
    if isinstance(own, BallGaussian):
        return z
    if isinstance(own, CubeLaplace):
        return [
            (a * a + b * b - c * c - d * d) / 2 for a, b, c, d in zip(*[iter(z)] * 4, strict=True)
        ]
    total = sum(x * x for x in z) / 2
    return [total * x / mpmath.sqrt(sum(y * y for y in z[:r])) for x in z[:r]]


def values(own, point, words, uniform):
    """What is rounded down, for each coordinate."""
    factor = mpmath.mpf(own.deviation if isinstance(own, BallGaussian) else own.scale)
    z = noise(own, [normal(word) for word in words])
    return [
        (mpmath.mpf(int(y)) / FULL + factor * x) / own.step + mpmath.mpf(2 * int(u) + 1) / 2**65
        for y, x, u in zip(point, z, uniform, strict=True)
    ]


@pytest.mark.grid(1)
@EACH
def test_each_integer_is_the_exact_one_by_another_method(own):
    rng = np.random.default_rng(4)
    points = rng.integers(-FULL // 2, FULL // 2, (60, 3))
    recorded = Recorded(seed=8)
    found = own.reports(points, randomness=recorded)
    words, uniform = recorded.given[0].reshape(60, -1), recorded.given[1].reshape(60, -1)
    with mpmath.workdps(60):
        for k in range(60):
            exact = values(own, points[k], words[k], uniform[k])
            assert found[k].tolist() == [int(mpmath.floor(x)) for x in exact]


@EACH
def test_an_integer_within_the_last_bit_is_decided_by_further_bits(own):
    """U is set where ⌊x + U⌋ changes within its 64 bits: what comes next decides, both ways."""
    rng = np.random.default_rng(5)
    count = len(Recorded().given) + own._sources
    seen = set()
    for seed in range(12):
        words = rng.integers(0, 2**64, count, dtype=np.uint64)
        with mpmath.workdps(60):
            start = values(own, [0, 0, 0], words, [0, 0, 0])[0] - mpmath.mpf(2) ** -65
            missing = mpmath.ceil(start) - start
            crossing = int(missing * 2**64)
            recorded = Recorded([*words, crossing, 0, 0], seed)
            found = own.reports(np.zeros((1, 3), np.int64), randomness=recorded)[0, 0]
            assert len(recorded.given) > 2
            later = [int(word) for given in recorded.given[2:] for word in given]
            used = own._used(0)
            rounds = len(later) // (len(used) + 1)
            z = [normal(word) for word in words]
            for at, j in enumerate(used):
                z[j] = normal(words[j], later[at :: len(used) + 1][:rounds])
            bits = crossing
            for more in later[len(used) :: len(used) + 1]:
                bits = bits << 64 | more
            factor = own.deviation if isinstance(own, BallGaussian) else own.scale
            value = mpmath.mpf(factor) * noise(own, z)[0] / own.step
            value += mpmath.mpf(2 * bits + 1) / mpmath.mpf(2) ** (65 + 64 * rounds)
            assert found == int(mpmath.floor(value))
            seen.add(found - int(mpmath.floor(start)))
    assert seen == {0, 1}


@pytest.mark.grid
@EACH
@pytest.mark.parametrize("word", [0, 1, 2**43 - 1, 2**63, 2**63 + 5])
def test_a_number_beyond_the_table_is_decided_exactly(own, word):
    recorded = Recorded([word] + [2**61] * (own._sources - 1), seed=3)
    found = own.reports(np.zeros((1, 3), np.int64), randomness=recorded)
    words, uniform = recorded.given[:2]
    later = [int(w) for given in recorded.given[2:] for w in given]
    with mpmath.workdps(60):
        exact = [int(mpmath.floor(x)) for x in values(own, [0, 0, 0], words, uniform)]
    if later:  # a word so small leaves it open
        assert word % 2**63 < 6
        assert np.all(np.abs(found) <= own.highest)
    else:
        assert found[0].tolist() == np.clip(exact, own.lowest, own.highest).tolist()


def test_coordinates_that_share_a_number_agree_on_its_further_bits():
    """One of H is open without end at first; then all three coordinates are one length times G."""
    own, seen = ADDITIVE["k_norm"], set()
    for seed in range(8):
        recorded = Recorded([2**61] * 3 + [0] + [2**62] * 2, seed)
        found = own.reports(np.zeros((1, 3), np.int64), randomness=recorded)[0]
        assert len(recorded.given) > 2
        assert np.ptp(found) <= 1
        assert np.all(found < own.highest)
        seen.add(int(found[0]))
    assert len(seen) > 4  # the further bits decide how long it is


def law(own, t):
    """The distribution function of a coordinate of noise of size 1."""
    x = np.abs(t)
    upper = {
        BallGaussian: lambda: stats.norm.sf(x),
        CubeLaplace: lambda: np.exp(-x) / 2,
        BallKNorm: lambda: (2 + x) * np.exp(-x) / 4,  # r = 3: ∫ 2πρ e^-ρ dρ/(8π) from x on, twice
    }[type(own)]()
    return np.where(t < 0, upper, 1 - upper)


def distribution(own, y, size):
    """P(report ≤ k) for each k of its range: the law of x + U, U uniform."""
    k = np.arange(own.lowest[0], own.highest[0] + 1)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    at = [((k + 1 - (1 + u) / 2) * own.step - y) / size for u in nodes]
    return sum(w / 2 * law(own, t) for w, t in zip(weights, at, strict=True))


@pytest.mark.grid(1)
@EACH
@pytest.mark.parametrize("column", [0, 2])
def test_each_coordinate_has_its_law(own, column):
    """Passes by chance in all but 1e-6 of seeds; noise of 0.98 or 1.02 of its size is refused."""
    points = np.tile(np.array([[FULL // 3, -FULL // 4, FULL // 2]]), (MANY, 1))
    found = own.reports(points, randomness=SimulationRandomness(11))[:, column]
    counts = np.bincount(found - own.lowest[0], minlength=2 * own.highest[0] + 1)
    measured = np.cumsum(counts) / MANY
    y = points[0, column] / FULL
    assert np.max(np.abs(measured - distribution(own, y, own._size))) < LINE
    for wrong in (0.98, 1.02):
        assert np.max(np.abs(measured - distribution(own, y, own._size * wrong))) > LINE
    assert np.max(np.abs(measured - distribution(own, y + 0.1 * own._size, own._size))) > LINE


def test_the_length_of_k_norm_noise_is_gamma_and_its_direction_is_uniform():
    own = ADDITIVE["k_norm"]
    found = own.reports(np.zeros((MANY, 3), np.int64), randomness=SimulationRandomness(12))
    z = found * own.step / own.scale
    lengths = np.sort(np.sqrt(np.sum(z**2, axis=1)))
    steps = np.arange(MANY) / MANY
    rounding = 2e-4  # of a length by U: a 64th of a deviation, squared
    assert np.max(np.abs(stats.gamma.cdf(lengths, 3) - steps)) < LINE + rounding
    assert np.max(np.abs(stats.gamma.cdf(lengths * 1.02, 3) - steps)) > LINE + rounding
    diagonal = z @ np.array([1.0, 1.0, -1.0]) / math.sqrt(3)
    assert np.max(np.abs(law(own, np.sort(diagonal)) - steps)) < LINE + rounding


@pytest.mark.grid
@pytest.mark.parametrize("dimension", [1, 2, 40])
@pytest.mark.parametrize("name", ADDITIVE)
def test_estimates_are_unbiased_and_vary_as_stated(name, dimension):
    """Six deviations of mean and variance: by chance less than 1e-6 of seeds fail."""
    own = RANDOMIZERS[name].of.fitted(dimension, 2.0, 1e-5)
    y = np.zeros(dimension, np.int64)
    y[0], y[-1] = -FULL // 2, FULL // 2
    n = 40_000
    found = own.reports(np.tile(y, (n, 1)), randomness=SimulationRandomness(13))
    sums = own.sums(found)
    mean, covariance = own.mean(sums, n), own.covariance(sums, n)
    greatest = own.variances(np.ones(dimension))
    off = (mean - y / FULL) / np.sqrt(greatest / n)
    assert np.max(np.abs(off)) < 6
    ratio = np.diag(covariance) * n / greatest
    assert np.all(np.abs(ratio - 1) < 6 * math.sqrt(8 / n))  # kurtosis at most 9
    own_sample = np.atleast_2d(np.cov(found.T)) * own.step**2 / n
    assert np.allclose(covariance, own_sample, rtol=1e-9, atol=1e-12 * np.max(own_sample))


@EACH
def test_what_answers_vary_by_follows_from_coordinates(own):
    A = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    each = own.variances(np.ones(3))[0]
    assert np.allclose(own.variances(A), each * np.sum(A**2, axis=1), rtol=1e-9)
    assert np.allclose(own.variances(A[0]), each * A[0] ** 2, rtol=1e-9)
    assert own.total_variance(A) == pytest.approx(np.sum(own.variances(A)), rel=1e-9)
    width = (own.highest - own.lowest) * own.step
    assert np.all(own.influence(A) >= np.abs(A) @ width)
    assert np.allclose(own.influence(A), np.abs(A) @ width, rtol=1e-9)
    assert np.all(own.influence(A[0]) >= np.abs(A[0]) * width)


@EACH
def test_sums_are_exact_and_add_up(own):
    rng = np.random.default_rng(6)
    found = rng.integers(own.lowest, own.highest, (70, 3), endpoint=True)
    sums = own.sums(found)
    rows = found.tolist()
    second = [sum(row[i] * row[j] for row in rows) for i in range(3) for j in range(i, 3)]
    assert sums.tolist() == [sum(column) for column in zip(*rows, strict=True)] + second
    assert (own.sums(found[:9]) + own.sums(found[9:])).tolist() == sums.tolist()
    assert own.sums(found[:0]).tolist() == [0] * 9


def test_sums_are_exact_on_any_grid_of_a_file():
    own = CubeLaplace(2, 2.0, 2.0**-42)
    ends = np.array([own.highest, own.lowest, own.highest - 1])
    first, second = zip(*ends.tolist(), strict=True)
    products = [sum(a * b for a, b in zip(*pair, strict=True)) for pair in (
        (first, first), (first, second), (second, second)
    )]  # fmt: skip
    assert max(products) > 2**64
    assert own.sums(ends).tolist() == [sum(first), sum(second), *products]
    assert own.sums(ends[:0]).tolist() == [0] * 5


# ---------------------------------------------------------------- what it reveals


def pairs(own):
    """Pairs of points of the ball or the cube: corners, opposites, and many more."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        one, other = rng.normal(size=(2, 3))
        if own.takes == "cube":
            yield np.sign(one), np.sign(other)
            yield np.sign(one), -np.sign(one)
        else:
            yield one / np.linalg.norm(one), other / np.linalg.norm(other)
            yield one / np.linalg.norm(one), -one / np.linalg.norm(one)


def log_density(own, apart):
    length = np.linalg.norm(apart) if isinstance(own, BallKNorm) else np.sum(np.abs(apart))
    return -length / own.scale


@pytest.mark.parametrize("name", ["k_norm", "laplace"])
def test_epsilon_is_the_greatest_ratio_of_densities(name):
    """Over pairs and outputs by search: none is above, and opposite points come up to it."""
    own = ADDITIVE[name]
    ratios = [
        log_density(own, at - one) - log_density(own, at - other)
        for one, other in pairs(own)
        for at in (one, other, 3 * one - other, np.zeros(3))
    ]
    assert max(ratios) <= own.loss.epsilon * (1 + 1e-14)
    assert max(ratios) >= own.loss.epsilon * (1 - 1e-12)
    assert own.loss.epsilon <= 1.0


def test_gaussian_reports_are_within_the_exact_curve_and_use_it_up():
    own = ADDITIVE["gaussian"]
    mu = 2 / own.deviation
    assert own.loss.mu >= Fraction(2) / Fraction(own.deviation)
    assert delta_up(own.loss.mu, 1.0) <= 1e-6
    delta = stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu)
    assert delta == pytest.approx(1e-6, rel=1e-6)
    # and by integration of the densities of two opposite points
    p, q = stats.norm(1, own.deviation).pdf, stats.norm(-1, own.deviation).pdf
    above, _ = integrate.quad(
        lambda x: max(p(x) - math.e * q(x), 0), 0, 12 * own.deviation, limit=200
    )
    assert above == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize("cls", [BallKNorm, CubeLaplace])
def test_a_tester_of_outputs_alone_finds_no_more_than_epsilon(cls):
    """Two opposite points and every threshold; half of ε in `loss` would be seen (ratio e^1.2)."""
    own = cls.fitted(1, 1.2)
    one = np.full((MANY, 1), FULL)
    first = own.reports(one, randomness=SimulationRandomness(14))[:, 0]
    second = own.reports(-one, randomness=SimulationRandomness(15))[:, 0]
    thresholds = np.quantile(first, np.linspace(0.02, 0.98, 49))
    a = np.array([np.mean(first > t) for t in thresholds]) - LINE
    b = np.array([np.mean(second > t) for t in thresholds]) + LINE
    surely = np.max(np.log(np.maximum(a, 1e-9) / b))
    assert own.loss.epsilon / 2 < surely <= own.loss.epsilon


@EACH
@pytest.mark.parametrize(
    "point", [[FULL, FULL, 1], [FULL + 1, 0, 0], [0, -(2**62), 0], [2**62] * 3, [-(2**63), 0, 0]]
)
def test_a_point_outside_counts_as_the_middle(own, point):
    outside = max(map(abs, point)) > FULL or own.takes == "ball"
    found = own.reports(np.array([point]), randomness=SimulationRandomness(16))
    middle = own.reports(np.zeros((1, 3), np.int64), randomness=SimulationRandomness(16))
    assert (found.tolist() == middle.tolist()) == outside


@EACH
def test_the_randomness_that_is_drawn_does_not_depend_on_the_record(own):
    drawn = []
    for point in ([0, 0, 0], [FULL, 0, 0], [FULL // 2, -FULL // 3, 5], [2**60, 0, 0]):
        recorded = Recorded(seed=17)
        own.reports(np.array([point] * 50), randomness=recorded)
        drawn.append([given.tolist() for given in recorded.given])
    assert all(given == drawn[0] for given in drawn)


# ---------------------------------------------------------------- ranges, and what is stored


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.3, 1.0, 7.3, 1000.0])
@pytest.mark.parametrize("dimension", [1, 2, 10, 1000])
@pytest.mark.parametrize("name", ADDITIVE)
def test_fitted_noise_is_the_least_within_the_budget_and_loses_nothing_by_its_ranges(
    name, dimension, epsilon
):
    own = RANDOMIZERS[name].of.fitted(dimension, epsilon, 1e-9)
    assert own.loss.within(epsilon, 1e-9)
    field = "deviation" if name == "gaussian" else "scale"
    less = {"coordinates": dimension, "step": own.step, field: own._size * (1 - 1e-12)}
    assert not type(own)(**less).loss.within(epsilon, 1e-9)
    assert 64 <= own._size * math.sqrt(own._variance) / own.step < 128
    assert int(own.highest[0]).bit_length() < 24
    # E(|z| − T)₊ of a coordinate, or of the length: in deviations
    far = Fraction(int(own.highest[0]) - 1) * Fraction(own.step) - 1
    t = float(far / Fraction(own._size))
    with mpmath.workdps(30):
        lost = {
            "gaussian": lambda: mpmath.npdf(t) - t * mpmath.erfc(t / mpmath.sqrt(2)) / 2,
            "laplace": lambda: mpmath.exp(-t),
            "k_norm": lambda: mpmath.quad(
                lambda x: (
                    (x - t) * x ** (dimension - 1) * mpmath.exp(-x - mpmath.loggamma(dimension))
                ),
                [t, t + 40, t + 400],
            ),
        }[name]()
    assert lost < 1e-15 * math.sqrt(own._variance)


def test_no_gaussian_noise_is_within_a_pure_budget():
    own = BallGaussian(3, 2.0**250, 2.0**240)
    assert own.loss.within(1.0, 1e-100)
    assert not own.loss.within(1.0)


def test_gaussian_reports_need_a_delta():
    with pytest.raises(PlanError, match="delta=0 allows no Gaussian"):
        BallGaussian.fitted(3, 1.0)


@EACH
def test_what_is_stored_is_read_back_and_nothing_else(own):
    fields = RANDOMIZERS.write(own)
    assert RANDOMIZERS.read(fields) == own
    size = "deviation" if isinstance(own, BallGaussian) else "scale"
    for wrong in (
        {"dimension": 0}, {"dimension": 2.0}, {"dimension": True}, {"dimension": 2**40},
        {"step": 0.3}, {"step": 0.0}, {"step": math.inf}, {"step": math.nan}, {"step": 1},
        {"step": 2.0**-80}, {"step": 2.0**-1000}, {"step": 2.0**900},
        {size: 0.0}, {size: -1.0}, {size: math.inf}, {size: "1"}, {size: 1e300},
        {"more": 1},
    ):  # fmt: skip
        with pytest.raises(FileError):
            RANDOMIZERS.read(fields | wrong)
    for name in fields.keys() - {"kind"}:
        with pytest.raises(FileError):
            RANDOMIZERS.read({k: v for k, v in fields.items() if k != name})
