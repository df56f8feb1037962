# SPDX-License-Identifier: Apache-2.0
"""How far sums of independent numbers of known laws stray: characteristic functions, and bounds."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from lownoise.noise.coordinates import LAPLACE
from lownoise.noise.independent import GeometricNoise, LaplaceNoise
from lownoise.noise.lattice import Stairs, SteppedNoise
from lownoise.noise.marginal_noise import Parts
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.coordinates import CoordinateLaw
    from lownoise.numbers.arrays import Integers, Vector

_ALIASED = 30.0  # deviations that nothing is beyond
_HALVINGS = 50
_OFF = 1e-6  # of a chance, and of a quantile
_NEAR = np.geomspace(1e-5, 1e3, 50)  # of rates: how far from 0, over how far from the pole
_LEAN, _STEP, _LONGEST = 0.5, 0.15, 12.0  # of the hyperbola, and of what is summed
_BLOCK, _NODES, _SMALL = 24, 4000, 36.0  # points at once, and at most; a logarithm of nothing
_PART = 1e-3  # of what is left, for a second derivative
_SLOWEST, _RATES = 1e-6, 400  # of the rates of Chernoff's bound, as parts of the greatest
_SIDE = 200  # of the square that the points for whole numbers are, 40,000
_LEAST = 1e-300  # beside what may be 0
_NOTHING = -45.0  # the logarithm of terms that are left out
_NARROWED, _PARTS = 10, 17  # times, and into how many, what holds the quantile is cut
_LITTLE = 1e-10  # of a chance: what lies beyond the grid's period
_SMOOTHED, _LAST = 8, 6.0  # uniform numbers, and what each has its angle at where the grid ends
_LEFT = 1e-7  # above what is left of the integral there, ∫ x^−8·(2/π)/x dx beyond x = 6


def coordinate_quantile(law: CoordinateLaw, scales: Vector, counts: Vector, level: float) -> float:
    """Return t with |X| ≤ t with chance `level`, X a sum of independent numbers of a law.

    P(X > t) = (1/2πi)·∫ Π M(bz)·e^{−tz} dz/z, M the law's transform, over any line from below to
    above that passes the real axis between 0 and 1/max b, and that may bend to the right: M has no
    poles but on that axis, from there on. Over a hyperbola about these the integrand falls as
    e^{−t|z|}, so that its sum over a grid converges geometrically: at levels from 0.001 on it is
    off by less than a part in 10^9, and t is widened for more than that.

    Args:
        law: of the numbers.
        scales: b of each kind of number, shape (k,).
        counts: how many are of each kind, shape (k,).
        level: between 0 and 1.

    Raises:
        PlanError: where `level` is not between 0 and 1.

    Examples:
        >>> round(coordinate_quantile(LAPLACE, np.array([2.0]), np.ones(1), 0.95), 5)  # 2·ln 20
        5.99146
        >>> many = coordinate_quantile(LAPLACE, np.array([1.0]), np.array([1e6]), 0.95)
        >>> round(many / math.sqrt(2e6), 4)  # nearly normal
        1.96
    """
    half = (1 - checked_level(level)) / 2
    kept = (scales > 0) & (counts > 0)
    if not np.any(kept):
        return 0.0
    n, own = counts[kept], scales[kept]
    if law == LAPLACE and n.sum() == 1:
        return float(own[0]) * -math.log(2 * half)
    deviation = math.sqrt(law.variance * float(n @ np.square(own)))
    own = own / deviation

    def logs(z: Vector) -> Vector:
        return np.asarray(np.log(law.transform(np.multiply.outer(z, own))) @ n)

    pole = 1 / float(np.max(own))
    with np.errstate(over="ignore"):
        where = np.asarray(_NEAR / (1 + _NEAR) * pole)
        bounds = (logs(where) - math.log(half)) / where  # Chernoff's
    least = int(np.argmin(bounds))
    # along the real axis the integrand is least at the point of that bound; at 0 it has a pole
    start = max(float(where[least]), min(1.0, pole / 2))
    bend, beside = pole - start, _PART * min(start, pole - start)
    near = np.array([start - beside, start, start + beside])
    second = float(np.diff(logs(near), 2)[0]) / beside**2
    narrow = 1 / math.sqrt(max(second, 0.0) + start**-2)
    step = _STEP * min(narrow / (bend * math.cos(_LEAN)), 1.0)
    nearest = level / math.sqrt(2)  # as no symmetric log-concave density is above 1/√2 deviations
    z, parts = np.zeros(0, complex), np.zeros(0, complex)
    while z.size < _NODES and (z.size + 0.5) * step < _LONGEST:
        angles = _LEAN + 1j * (z.size + np.arange(_BLOCK) + 0.5) * step
        own_z = start + bend * (np.sin(angles) - math.sin(_LEAN))
        parts = np.append(parts, logs(own_z) + np.log(bend * np.cos(angles) / own_z))
        z = np.append(z, own_z)
        sizes = (parts - nearest * z).real
        if sizes[-1] < np.max(sizes) - _SMALL:
            break
    # the logarithm of a tail of log-concave numbers is concave: Newton's steps stay on the far side
    t, asked = float(bounds[least]), half * (1 - _OFF)
    for _ in range(_HALVINGS):
        own = np.exp(parts - t * z) * (step / math.pi)
        beyond, density = float(np.sum(own).real), float(np.sum(own * z).real)
        nearer = beyond / density * math.log(asked / beyond)
        if abs(nearer) < _OFF**2 * t:
            break
        t -= nearer
    return t * deviation * (1 + _OFF)


def geometric_quantile(
    weights: Vector, scales: Vector, counts: Vector, level: float, law: type = GeometricNoise
) -> float:
    """Return t with |Σ w·z| ≤ t with chance `level`, z whole numbers of chances ∝ e^{−|z|/b}.

    Or z of staircases of ε = 1/b: those are such whole numbers and independent ones between, whose
    φ are p·sin(uγ)/uγ + (1 − p)·sin(u(1 − γ))/u(1 − γ), of any sign (`Stairs.between`).

    φ(u) = Π (1 + v(1 − cos wu))^{−n}, v the variance, does not fall. So to X = Σ w·z a sum η of
    eight uniform numbers is added, r at most: P(|X| > t) ≤ P(|X + η| > t − r), and that is
    1 − (2/π)·∫ sin(ut)/u·φ(u) du over u > 0, as a sum over a grid whose terms fall fast. Nothing is
    beyond the grid's period but with a chance of 10^−10 of what is asked for, by Chernoff's bound.
    Below a chance of 10^−7 the inversion is not precise enough: the bound is returned.

    Args:
        weights: w of each kind of number, above 0, shape (k,).
        scales: b of each kind, shape (k,).
        counts: how many are of each kind, shape (k,).
        level: between 0 and 1.
        law: `GeometricNoise`, or `Stairs`.

    Raises:
        PlanError: where `level` is not between 0 and 1.

    Examples:
        >>> one = np.ones(1)
        >>> geometric_quantile(one, 0.5 * one, one, 0.95)  # beyond 1 with a chance of 0.032
        1.0
        >>> many = geometric_quantile(one, 1.0 * one, 1e6 * one, 0.95)
        >>> deviation = math.sqrt(1e6 / (math.cosh(1.0) - 1))
        >>> 1.96 < many / deviation < 1.99  # nearly normal
        True
    """
    outside, whole = 1 - checked_level(level), law is GeometricNoise
    if counts.sum() == 1:
        alone = GeometricNoise(scales) if whole else SteppedNoise.least(1.0, 1 / float(scales[0]))
        return float(weights[0] * alone.far(outside)[0])
    own = GeometricNoise.variances(scales)
    # none of them is other than 0
    zeros = float(counts @ (np.log(-np.expm1(-1 / scales)) - np.log1p(np.exp(-1 / scales))))
    if whole and math.exp(zeros) >= level:
        return 0.0
    strays = own if whole else 1 / Stairs.precision(1 / scales)[0]
    deviation = math.sqrt(float(np.sum(counts * np.square(weights) * strays)))
    w = weights / deviation
    parts = Parts(law, w, scales, counts)
    bound = sum_bound(parts, outside)
    if outside * (1 - _OFF) <= _LEFT:
        return bound * deviation
    farthest = sum_bound(parts, outside * _LITTLE)
    step = math.pi / (farthest * (1 + 1 / _ALIASED))
    blur = _SMOOTHED * _LAST / (_SIDE**2 * step)
    logs, rows, signs = _smoothed().copy(), np.arange(_SIDE), np.ones((_SIDE, _SIDE))
    for i in np.argsort(-counts * own):  # what leaves little comes first: of that no more is asked
        sines = _sines(step * w[i : i + 1] / 2, rows)
        logs -= float(counts[i]) * np.log1p(2 * float(own[i]) * np.square(sines))
        if not whole:
            left = _between(step * w[i : i + 1], scales[i : i + 1], rows)
            logs += float(counts[i]) * np.log(np.abs(left) + _LEAST)
            signs *= np.where((left < 0) & (counts[i] % 2 == 1), -1.0, 1.0)
        kept = np.max(logs, axis=1) > _NOTHING
        logs, rows, signs = logs[kept], rows[kept], signs[kept]
    terms = signs * np.exp(logs) / _places(rows) * (2 / math.pi)
    low, wide, asked = 0.0, farthest, outside * (1 - _OFF) - _LEFT
    for _ in range(_NARROWED):
        cuts = low + wide * np.arange(1, _PARTS) / _PARTS
        above = np.flatnonzero(1 - np.sum(_sines(step * cuts, rows, terms), axis=0) > asked)
        low, wide = float(np.append(low, cuts[above])[-1]), wide / _PARTS
    return min((low + wide + blur) * (1 + _OFF), bound) * deviation


@lru_cache(maxsize=1)
def _smoothed() -> Vector:
    """Return the logarithms of what eight uniform numbers leave of each term: a square."""
    angles = (np.arange(_SIDE**2) + 0.5) * (_LAST / _SIDE**2 / math.pi)
    found = _SMOOTHED * np.log(np.abs(np.sinc(angles)) + _LEAST)
    return frozen(found.reshape(_SIDE, _SIDE))


def _places(rows: Integers) -> Vector:
    """Return k + ½ of the square's rows, shape (rows, side)."""
    return np.asarray(_SIDE * rows[:, None] + np.arange(_SIDE) + 0.5)


def _between(angle: Vector, scale: Vector, rows: Integers) -> Vector:
    """Return what the numbers between whole ones leave of each term of a staircase's, one kind.

    Args:
        angle: of the first row, for a multiple, shape (1,).
        scale: b, shape (1,).
        rows: as of `_sines`.
    """
    first, chance = Stairs.between(1 / scale)
    found = chance / first * _sines(angle * first, rows)
    found += (1 - chance) / (1 - first) * _sines(angle * (1 - first), rows)
    return np.asarray(found / (angle * _places(rows)))


def _sines(angles: Vector, rows: Integers, terms: Vector | None = None) -> Vector:
    """Return sin(angle·(k + ½)) for k = side·a + b, a of some rows and all b, shape (rows, side).

    Of sums they are, so that few sines make many: sin(x + y) = sin x·cos y + cos x·sin y.

    Args:
        angles: one, or where terms are given several, shape (n,).
        rows: the a, shape (rows,).
        terms: what each is multiplied by, shape (rows, side); then sums over b, shape (rows, n).
    """
    x, y = np.outer(_SIDE * rows, angles), np.outer(np.arange(_SIDE) + 0.5, angles)
    if terms is None:
        both = np.hstack([np.sin(x), np.cos(x)]) @ np.hstack([np.cos(y), np.sin(y)]).T
        return np.asarray(both)
    return np.asarray(np.sin(x) * (terms @ np.cos(y)) + np.cos(x) * (terms @ np.sin(y)))


_QUANTILES: dict[type, Callable[[Vector, Vector, Vector, float], float]] = {
    LaplaceNoise: lambda weights, scales, counts, level: coordinate_quantile(
        LAPLACE, weights * scales, counts, level
    ),
    GeometricNoise: geometric_quantile,
    Stairs: partial(geometric_quantile, law=Stairs),
}


def _integer_rise(scales: Vector, x: Vector) -> Vector:
    """Return ln E e^{xX} of geometric numbers: −ln(1 − v(cosh x − 1)), v the variance."""
    return -np.log1p(-2 * GeometricNoise.variances(scales) * np.square(np.sinh(x / 2)))


def _stairs_rise(scales: Vector, x: Vector) -> Vector:
    """Return that of staircases: of whole numbers, and of what is between these."""
    first, chance = Stairs.between(1 / scales)
    parts = ((chance, first), (1 - chance, 1 - first))
    return _integer_rise(scales, x) + np.log(sum(p * np.sinh(x * g) / (x * g) for p, g in parts))


_RISES: dict[type, Callable[[Vector, Vector], Vector]] = {
    LaplaceNoise: lambda scales, x: -np.log1p(-np.square(scales * x)),
    GeometricNoise: _integer_rise,
    Stairs: _stairs_rise,
}


def sum_bound(parts: Parts, outside: float) -> float:
    """Return t with |X| > t with chance `outside` at most, X a sum of numbers of a law (Chernoff).

    P(X > t) ≤ E e^{uX}/e^{ut} for every u with uw < 1/b; the best of many is taken.

    Args:
        parts: the numbers.
        outside: above 0.

    Examples:
        >>> one = np.ones(1)
        >>> many = Parts(LaplaceNoise, one, one, 1e6 * one)
        >>> 6.1 < sum_bound(many, 1e-9) / math.sqrt(2e6) < 6.6  # 6.11, were it normal
        True
    """
    if not parts.counts.size:
        return 0.0
    steepest = float(np.min(1 / (parts.scales * parts.weights))) * (1 - _OFF)
    rates = np.geomspace(_SLOWEST, 1.0, _RATES)[:, None] * steepest
    logs = _RISES[parts.law](parts.scales, rates * parts.weights) @ parts.counts
    return float(np.min((logs - math.log(outside / 2)) / rates[:, 0])) * (1 + _OFF)


def sum_quantile(parts: Parts, level: float) -> float:
    """Return t with |X| ≤ t with chance `level`, X a sum of independent numbers of a law.

    Raises:
        PlanError: where `level` is not between 0 and 1.
    """
    if not parts.counts.size:
        return 0.0
    found = _QUANTILES[parts.law](parts.weights, parts.scales, parts.counts, level)
    step = float(parts.weights[0])
    if parts.law is GeometricNoise and np.all(parts.weights == step):
        return step * math.floor(found / step)  # it is a multiple, and beyond them all is as rare
    return found
