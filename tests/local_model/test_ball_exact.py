# SPDX-License-Identifier: Apache-2.0
"""Draws of the ball are those of the continuous law, to the last bit that decides them.

The oracle is mpmath at 60 digits: from the words that were drawn, in the order in which they were,
it computes V and the integers by itself.
"""

import math
from dataclasses import astuple

import mpmath
import numpy as np
import pytest
from flint import arb

from lownoise.local_model import FULL, HalfSpace, SphereCap, directed
from lownoise.local_model.directed import _LARGEST, _MARGIN
from lownoise.local_model.normal_rows import NormalRows, lifted
from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import WORST, normals
from lownoise.numbers.randomness import SimulationRandomness

CASES = [
    SphereCap(1, 0.5, 0.25, 50),
    SphereCap(2, 2.0**-26, 0.25, 71),
    SphereCap(2, 0.9, 0.25, 71),
    SphereCap(3, 0.4, 0.25, 87),
    SphereCap(3, 0.5, 0.25, 87),
    SphereCap(3, 1 - 2.0**-26, 0.25, 87),
    SphereCap(10, 0.1, 0.25, 159),
    SphereCap(10, 0.7, 0.25, 159),
    SphereCap(10, 2.0**-26, 0.25, 2**20),
    HalfSpace(1, 0.25, 10, 50),
    HalfSpace(3, 0.25, 2, 50),
    HalfSpace(10, 0.25, 13, 80_000),
]
LARGE = [
    SphereCap(1000, 0.02, 0.25, 1582),
    SphereCap(1000, 0.3, 0.25, 1582),
    HalfSpace(1000, 0.25, 41, 50),
]


def named(randomizer):
    return "-".join([type(randomizer).__name__, *map(str, astuple(randomizer))])


def rows_of(r, count, seed=1):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, r))
    rows *= (rng.uniform(size=count) / np.linalg.norm(rows, axis=1))[:, None]
    found = np.trunc(rows * FULL).astype(np.int64)
    found[0] = 0
    return found


class Recorded:
    """Words of a simulation, but for some that are set, by when they are drawn; all are kept."""

    def __init__(self, seed, fixed=None):
        self._source = SimulationRandomness(seed)
        self._fixed = fixed or {}
        self.seen = []

    def words(self, count):
        found = self._source.words(count).copy()
        for at, word in self._fixed.items():
            if 0 <= at - len(self.seen) < count:
                found[at - len(self.seen)] = word
        self.seen += found.tolist()
        return found


# ---------------------------------------------------------------- floats and bits agree


@pytest.mark.grid
@pytest.mark.parametrize("randomizer", [*CASES, *LARGE], ids=named)
def test_deciding_everything_by_bits_gives_the_same(randomizer, monkeypatch):
    rows = rows_of(randomizer.dimension, 40 if randomizer.dimension <= 10 else 2)
    quick = randomizer.reports(rows, randomness=SimulationRandomness(7))
    monkeypatch.setattr(directed, "_MARGIN", math.inf)
    slow = randomizer.reports(rows, randomness=SimulationRandomness(7))
    assert np.array_equal(quick, slow)


def trials(randomizer):
    """Rows of normal numbers: random ones, far ones, and ones that are nearly 0 altogether."""
    count = 60 if randomizer.dimension <= 10 else 3
    width = randomizer.width
    words = SimulationRandomness(3).words(count * width).reshape(count, width).copy()
    middle = np.uint64(2**63)
    for row, size in ((0, 2**20), (1, 2**40), (2, 2**52)):
        near = SimulationRandomness(row).words(width) % np.uint64(size)
        sign = near % np.uint64(2) * middle
        words[row] = sign + (middle - np.uint64(1) - near)
    words[-1, 0] = 12345  # beyond the table
    return NormalRows(words, randomness=SimulationRandomness(4))


def exact_of(randomizer, vector, tails, coin):
    """Balls of V of both laws and of the margin, that of `margins` and not up to a factor."""
    length = arb(sum(own**2 for own in vector)).sqrt()
    unit = [own / length for own in vector]
    r = randomizer.dimension
    along = sum(u * g for u, g in zip(unit, tails, strict=False))
    if isinstance(randomizer, HalfSpace):
        margin = randomizer.longest - sum(g**2 for g in tails).sqrt()
    elif randomizer._folds:
        margin = abs(along) / sum(g**2 for g in tails).sqrt() - arb(randomizer.threshold)
    else:
        square = sum(g**2 for g in tails[:r]) - along**2
        rest, gamma = sum(g**2 for g in tails[r:]), arb(randomizer.threshold)
        height = ((rest + gamma**2 * square) / (rest + square)).sqrt()
        margin = gamma - coin * height
    return (
        randomizer.exact_tilted(unit, tails),
        randomizer.exact_plain(tails[:r]),
        margin,
        randomizer.exact_margin(unit, tails, [coin])[0],
    )


@pytest.mark.grid
@pytest.mark.parametrize("randomizer", [*CASES, *LARGE], ids=named)
def test_floats_are_within_their_bound(randomizer):
    """Of each coordinate and each comparison, also where the numbers are nearly 0."""
    made = trials(randomizer)
    count, r = len(made.words), randomizer.dimension
    vectors = rows_of(r, count, seed=2)
    vectors[0, 0] = FULL
    about = vectors / np.sqrt((vectors.astype(float) ** 2).sum(axis=1, keepdims=True))
    words = SimulationRandomness(9).words(count)
    coins = directed._floats(words)
    margins, margin_off = randomizer.margins(about, made.values, coins)
    tilted, tilted_off = randomizer.tilted(about, made.values)
    plain, plain_off = randomizer.plain(made.values[:, :r])
    small = 0
    for row in range(count):
        with precision(400):
            coin = (arb(int(words[row])) + arb(0.5)) / arb(2) ** 64
            v, g, margin, sign = exact_of(
                randomizer, vectors[row].tolist(), made.exact(row).balls(), coin
            )
            for found, off, exact in (
                (tilted[row], tilted_off[row], v),
                (plain[row], plain_off[row], g),
                (margins[row : row + 1], margin_off[row], [margin]),
            ):
                small += off <= _LARGEST
                if off <= _LARGEST:
                    allowed = 4.5 * arb(float(off))
                    # the balls leave open what later bits say, far less than the bound
                    far = [abs(arb(float(x)) - y) for x, y in zip(found, exact, strict=True)]
                    assert all(own <= allowed for own in far), (row, float(off), max(far))
        if abs(margins[row]) > _MARGIN * margin_off[row]:
            assert (sign > 0) == (margins[row] > 0)
            assert (sign < 0) == (margins[row] < 0)
    assert small >= 2 * count
    assert tilted_off[-1] < 1e-10


def test_far_normal_numbers_are_found_with_the_bits_that_they_take():
    """Power: without more bits than the first 63 the number would be further off than WORST."""
    words = np.array([[12345, 5, 2**62], [2**63 + 1, 0, 1]], dtype=np.uint64)
    source = Recorded(5)
    made = NormalRows(words, randomness=source)
    assert len(source.seen) >= 5
    for row in (0, 1):
        with precision(300):
            for value, ball in zip(made.values[row], made.exact(row).balls(), strict=True):
                assert abs(arb(float(value)) - ball) <= WORST
    assert abs(made.values[0, 0]) > 7
    with mpmath.workdps(60):
        later = source.seen[0]
        tail = (mpmath.mpf(12345) * 2**64 + later) / mpmath.mpf(2) ** 128
        z = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail)
        assert abs(z - mpmath.mpf(made.values[0, 0])) < mpmath.mpf(2) ** -45


def test_rows_keep_their_bits_when_others_take_their_place():
    words = SimulationRandomness(6).words(12).reshape(4, 3).copy()
    words[1, 2] = 99
    first = NormalRows(words, randomness=Recorded(1))
    second = NormalRows(words[::-1].copy(), randomness=Recorded(2))
    first.exact(3).refine(SimulationRandomness(3))
    far = second.exact(2).balls()[2]
    chosen = np.array([True, False, True, False])
    first.replace(np.array([1, 3]), second, chosen)
    assert np.array_equal(first.words, words[[0, 3, 2, 1]])
    assert first.exact(3).balls()[2].mid() == far.mid()
    fresh = NormalRows(words[3:], randomness=Recorded(1))
    assert [x.mid() for x in first.exact(1).balls()] == [x.mid() for x in fresh.exact(0).balls()]
    assert np.array_equal(first.values[1], fresh.values[0])


# ---------------------------------------------------------------- draws that are open


def normal(bits, length):
    """The normal number whose sign and tail are these bits, and half a unit beyond them."""
    sign = bits >> (length - 1)
    tail = (mpmath.mpf(bits % (1 << (length - 1))) + 0.5) / mpmath.mpf(2) ** length
    z = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail)
    return -z if sign else z


def vector_of(cap, vector, numbers):
    """V in the cap, from normal numbers."""
    r, gamma = cap.dimension, mpmath.mpf(cap.threshold)
    size = mpmath.sqrt(sum(mpmath.mpf(x) ** 2 for x in vector))
    unit = [x / size for x in vector]
    g, z = numbers[:r], numbers[r:]
    along = mpmath.fsum(a * b for a, b in zip(unit, g, strict=True))
    across = [a - along * b for a, b in zip(g, unit, strict=True)]
    square, rest = sum(x * x for x in across), sum(x * x for x in z)
    if z:
        height = mpmath.sqrt((rest + gamma**2 * square) / (rest + square))
        part = mpmath.sqrt(1 - gamma**2) / mpmath.sqrt(square + rest)
    else:
        height = abs(along) / mpmath.sqrt(along**2 + square)
        part = 1 / mpmath.sqrt(along**2 + square)
    return height, [height * u + part * x for u, x in zip(unit, across, strict=True)]


@pytest.mark.parametrize("threshold", [0.3, 0.8])  # both ways
@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("later", [0, 2**64 - 1])
def test_an_integer_that_floats_leave_open_is_that_of_the_bits(threshold, blind, later):
    """U is set so near the edge of a step that only later bits say on which side sV + U is."""
    cap = SphereCap(3, threshold, 0.5, 1000)
    vector = [3 * 2**22, -(2**24), 12345]
    row = np.array([vector])
    width = cap.width
    # the lift, the law, the trial, its coin, the other normal numbers, U
    first_other = 2 + width + 1
    place = first_other + 3
    fixed = {0: 0, 1: 0 if blind else 2**64 - 1, 2 + width: 0}
    for seed in range(100):
        source = Recorded(seed, fixed)
        cap.reports(row, randomness=source)
        if len(source.seen) == place + 3:  # the first trial was accepted, and nothing was open
            break
    with mpmath.workdps(60):
        words = source.seen
        at = 2 if not blind else first_other
        numbers = [normal(word, 64) for word in words[at : at + (3 if blind else width)]]
        if blind:
            size = mpmath.sqrt(sum(x * x for x in numbers))
            v = [x / size for x in numbers]
        else:
            v = vector_of(cap, vector, numbers)[1]
        wanted = mpmath.ceil(1000 * v[1]) - 1000 * v[1]
        edge = int(mpmath.floor(wanted * mpmath.mpf(2) ** 64))
    near = fixed | {place + 1: edge}
    more = {place + 3 + k: later for k in range(width + 3 + 1)}
    source = Recorded(seed, near | more)
    found = cap.reports(row, randomness=source)[0]
    extra = len(source.seen) - place - 3
    assert extra >= width + 3 + 1  # it was open, and the bits of all that enters were drawn
    if extra == width + 3 + 1:
        with mpmath.workdps(60):
            tails = [(w << 64) | later for w in words[at : at + (3 if blind else width)]]
            numbers = [normal(bits, 128) for bits in tails]
            if blind:
                size = mpmath.sqrt(sum(x * x for x in numbers))
                v = [x / size for x in numbers]
            else:
                v = vector_of(cap, vector, numbers)[1]
            whole = (mpmath.mpf((edge << 64) | later) + 0.5) / mpmath.mpf(2) ** 128
            assert found[1] == mpmath.floor(1000 * v[1] + whole)


def test_both_sides_of_an_edge_are_taken():
    """Power of the test above: the same first bits give both integers."""
    cap = SphereCap(2, 0.8, 0.5, 1000)
    row = np.array([[FULL // 2, FULL // 3]])
    place = 2 + cap.width + 1 + 2
    fixed = {0: 0, 1: 2**64 - 1, 2 + cap.width: 0}
    source = Recorded(1, fixed)
    cap.reports(row, randomness=source)
    with mpmath.workdps(60):
        numbers = [normal(word, 64) for word in source.seen[2 : 2 + cap.width]]
        v = vector_of(cap, row[0].tolist(), numbers)[1]
        wanted = mpmath.ceil(1000 * v[0]) - 1000 * v[0]
        edge = int(mpmath.floor(wanted * mpmath.mpf(2) ** 64))
    found = set()
    for seed in range(40):
        # other words after the first ones
        source = Recorded(1, fixed | {place: edge})
        later = SimulationRandomness(seed)
        first = source.words

        def words(count, first=first, source=source, later=later):
            return first(count) if len(source.seen) < place + 2 else later.words(count)

        source.words = words
        found.add(int(cap.reports(row, randomness=source)[0, 0]))
    assert len(found) == 2
    assert max(found) - min(found) == 1


@pytest.mark.parametrize(("word", "expected"), [(0, True), (2**64 - 1, False)])
def test_a_trial_that_floats_leave_open_is_decided_by_the_bits(word, expected):
    """The coin is set at γ/t: what comes after its 64 bits decides, whatever the tails' do."""
    cap = SphereCap(3, 0.8, 0.5, 1000)
    assert not cap._folds
    vector = [5, -7, 11]
    row = np.array([vector])
    about = row / np.linalg.norm(row)
    words = SimulationRandomness(2).words(cap.width).reshape(1, -1)
    with mpmath.workdps(60):
        numbers = [normal((int(w) << 64) | 2**63, 128) for w in words[0]]
        height, _ = vector_of(cap, vector, numbers)
        coin = int(mpmath.floor(cap.threshold / height * mpmath.mpf(2) ** 64))
    trial = NormalRows(words, randomness=Recorded(1))
    coins = np.array([coin], dtype=np.uint64)
    margin, off = cap.margins(about, trial.values, directed._floats(coins))
    assert abs(margin[0]) <= directed._doubt(off)[0]

    class Later:
        """More bits of each normal number in the middle, and of the coin at an end."""

        def __init__(self):
            self.asked = 0

        def words(self, count):
            self.asked += 1
            return np.full(count, word if self.asked > cap.width else 2**63, dtype=np.uint64)

    assert cap._is_accepted(vector, trial, 0, coins, Later()) is expected


@pytest.mark.parametrize("toward", [0.0, 1.0])
def test_a_trial_of_a_folded_sphere_is_decided_by_the_bits(toward):
    """The threshold is the float beside |p|/|G|, nearer than floats tell: the oracle says where."""
    vector = [5, -7, 11]
    about = np.array([vector]) / np.linalg.norm(vector)
    for seed in range(100):
        words = SimulationRandomness(seed).words(3).reshape(1, -1)
        with mpmath.workdps(60):
            numbers = [normal((int(w) << 64) | 2**63, 128) for w in words[0]]
            height, _ = vector_of(SphereCap(3, 0.1, 0.5, 9), vector, numbers)
            threshold = math.nextafter(float(height), toward)
        cap = SphereCap(3, threshold, 0.5, 9) if threshold < 0.45 else None
        if cap is not None and abs(float(height) - threshold) > 0:
            break
    assert cap is not None
    assert cap._folds
    trial = NormalRows(words, randomness=Recorded(1))
    margin, off = cap.margins(about, trial.values, np.zeros(1))
    assert abs(margin[0]) <= directed._doubt(off)[0]
    found = cap._is_accepted(vector, trial, 0, np.zeros(1, dtype=np.uint64), Recorded(2))
    assert found is (toward == 0.0)
    with mpmath.workdps(60):
        assert found == (height > mpmath.mpf(threshold))


@pytest.mark.parametrize("square", [2, 3, 2**40 + 1, FULL**2 - 1])
@pytest.mark.parametrize(("later", "negative"), [(0, False), (2**64 - 1, True)])
def test_a_sign_that_floats_leave_open_is_decided_by_the_bits(square, later, negative):
    """The uniform number is set at |y|/FULL: what comes after its 63 bits decides."""
    edge = math.isqrt((square << 126) // FULL**2)
    y = {2: [1, 1, 0, 0], 3: [1, 1, 1, 0], 2**40 + 1: [2**20, 1, 0, 0]}.get(square)
    if y is None:
        y = four_squares(square)
    assert sum(x * x for x in y) == square
    source = Recorded(1, {0: 2**63 + edge, 1: later, 2: later})
    found = lifted(np.array([y]), randomness=source)
    exact = (square << 254) > ((edge << 64) | later) ** 2 * FULL**2
    assert exact != negative
    assert (found[0] @ np.array(y) > 0) == exact
    assert len(source.seen) >= 2


def four_squares(number):
    """Whole numbers whose squares add up to a number of the form 2^52 − 1, near its root."""
    rng = np.random.default_rng(1)
    while True:
        a = math.isqrt(number - int(rng.integers(2**20)))
        for b in range(3000):
            rest = number - a * a - b * b
            if rest < 0:
                break
            c = math.isqrt(rest)
            d = math.isqrt(rest - c * c)
            if c * c + d * d == rest:
                return [a, b, c, d]


def test_signs_have_their_chances():
    """(1 + |y|/FULL)/2: always on the sphere, even chances at the center, 2·10^5 draws each.

    Error of the first kind 1e-10 (Hoeffding); power: a chance 0.02 off is found nearly always.
    """
    count = 200_000
    for part in (0.0, 0.25, 0.5, 0.9, 1.0):
        y = np.zeros((count, 2), dtype=np.int64)
        y[:, 1] = int(part * FULL)
        found = lifted(y, randomness=SimulationRandomness(int(part * 100)))
        axis = 0 if part == 0 else 1
        assert np.all(np.abs(found[:, axis]) == (FULL if part == 0 else y[:, 1]))
        share = np.mean(found[:, axis] > 0)
        assert abs(share - (1 + part) / 2) <= math.sqrt(math.log(2e10) / (2 * count))
        if part == 1:
            assert share == 1


def test_a_word_of_the_law_is_compared_exactly():
    """Of 2^52 values of the word's 52 bits exactly λ·2^52 are the law that knows nothing."""
    uniform = 5 / 2**52
    cap = SphereCap(2, 0.9, uniform, 71)
    row = np.array([[FULL, 0]])
    seen = []
    for top in (4, 5):
        source = Recorded(3, {0: 0, 1: (top << 12) | 0xFFF})
        seen.append(cap.reports(row, randomness=source)[0, 0] / 71)
    assert seen[1] >= 0.9 - 1 / 71
    plain = {
        int(cap.reports(row, randomness=Recorded(k, {0: 0, 1: 4 << 12}))[0, 0] < 0)
        for k in range(40)
    }
    assert plain == {0, 1}


# ---------------------------------------------------------------- the table


def test_words_beside_the_table_are_within_the_worst_bound():
    words = SimulationRandomness(8).words(100_000)
    _, error = normals(words)
    assert np.all((error <= WORST) | np.isinf(error))
