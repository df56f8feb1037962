# SPDX-License-Identifier: Apache-2.0
"""The threshold of a proof, from both ends, and what shorter changes must move (ours).

Far out the recursion of `Threshold` is stable backward and near 0 forward. So orbits come back from
the end, at one ν, and where they hardly differ they meet those that start below 1. Where few steps
hold most of the mass they differ: at a ν at which the backward ones fit, r² + A(r) is short of ν on
an interval (x, γ), and has room beyond it, on (γ, τ(x)). There shorter changes move mass from the
one to the other (certificate/radial.py). The largest ν is where the two are equal, and the least
noise then has its first radius at γ, as no change moves anything there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from scipy.special import betainc, betaincinv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.radial import Staircase, Threshold

_SPARE = 1e-4  # parts of ν by which r² + A(r) is above it where the mass is
_MOST_SPARE = 0.03  # parts of ν, or of r², elsewhere
_MOST_LOG = 50.0
_LARGE = 0.45  # a chance that no orbit reaches
_LEAST_COSINE = 1e-9
_LEAST_END = 1.5
_FADING = 0.4  # parts of the way back to most of the mass, in which what is over at the end fades
_LEAST_RADIUS = 1e-4
_TAIL = 0.3  # a chance, at most, where c becomes a constant
_STARTS = np.unique(np.append(np.geomspace(1e-4, 1, 201)[:-1], np.arange(1, 200) / 200))
_CLOSER = 40  # starts between the two where noise begins to be short
_SLOPE = 0.1  # of τ, at least
_FEWEST = 24  # small radii of which the orbits are known
_STEP = 1e-5  # parts of ν, at first


@final
class Spare:
    """By how much r² + A(r) is above ν: more where hardly any mass is, so that few nodes will do.

    Args:
        staircase: the noise.
        epsilon: ε.
        level: about ν.
    """

    def __init__(self, staircase: Staircase, epsilon: float, level: float) -> None:
        self._radii, self._logs, self._epsilon = staircase.radii, staircase.logs, epsilon
        self._power, self._level = staircase.dimension - 1, level
        masses = self._logs + self._power * np.log(self._radii)
        self._top = float(masses.max())
        self.mode = float(self._radii[int(masses.argmax())])
        self.end = float(self._radii[-1])

    def __call__(self, radii: Vector) -> Vector:
        """Return it at radii above 0."""
        logs = np.interp(radii, self._radii, self._logs) + self._power * np.log(radii)
        logs -= np.maximum(radii - self.end, 0.0) * self._epsilon
        parts = _SPARE * np.exp(np.clip((self._top - logs) / 2, 0, _MOST_LOG))
        most = _MOST_SPARE * np.maximum(self._level, radii * radii)
        return np.asarray(np.minimum(parts * self._level, most))


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """What a proof is made of, at rising radii.

    Args:
        level: ν.
        radii: shape (n,), above 0.
        cosines: c there, which are those of τ.
        transfer: what shorter changes add to A there.
        corners: radii at which `transfer` has its zeros.
        first: the start below 1 of the orbit that passes γ; 0 where nothing is moved.
    """

    level: float
    radii: Vector
    cosines: Vector
    transfer: Vector
    corners: tuple[float, ...] = ()
    first: float = 0.0


Points = tuple["Vector", ...]  # radii, chances beyond τ, cosines; and of which orbits


def share(d: int, cosines: Vector) -> Vector:
    """P(t < c) of the cosine t of a uniform direction with a fixed one, for c ≤ 0."""
    return np.asarray(0.5 * betainc((d - 1) / 2, 0.5, np.maximum(1 - cosines * cosines, 0.0)))


def _inside(d: int, chances: Vector) -> Vector:
    """Return 1 − c² of the cosine that has a chance below 1/2."""
    return np.asarray(betaincinv((d - 1) / 2, 0.5, 2 * chances))


def backward(threshold: Threshold, level: float, spare: Spare, orbits: Vector) -> Points:
    """Return orbits back from the end of the noise, where c has become a constant.

    Args:
        threshold: the equation of τ.
        level: ν.
        spare: what is added to ν.
        orbits: where in their last step they are, rising, in (0, 1).
    """
    d, scale = threshold.dimension, threshold.multiplier
    growth, power = math.exp(threshold.epsilon), (d - 1) / 2
    most = level + _TAIL * math.expm1(threshold.epsilon) * scale
    end = min(spare.end, math.sqrt(most))
    if end < _LEAST_END:
        return (np.zeros(0),) * 4
    room = max(end * end - level, 0.0)
    last = room * (1 - _MOST_SPARE) / (math.expm1(threshold.epsilon) * scale)
    inside = float(_inside(d, np.array(last)))
    cosine = -math.sqrt(1 - inside)
    start = cosine + math.sqrt(end * end - inside)  # τ(start) = end
    counted = 0.5 * float(betainc(power, 0.5, min(inside * (start / end) ** 2, 1.0)))
    over = room + scale * last - growth * scale * counted
    fading = _FADING * max(end - spare.mode, 1.0)

    def more(u: Vector) -> Vector:
        # continuous, from what is over in the last step to what is spare
        part = np.clip(1 - (start - u) / fading, 0.0, 1.0)
        return np.asarray(part * over * (u / end) ** 2 + (1 - part) * spare(u))

    u = start + (end - start) * orbits
    chances, own = np.full(u.size, last), np.arange(u.size)
    found = [(u, chances, np.full(u.size, cosine), orbits)]
    while u.size:
        inner = (u * u - level + scale * chances - more(u)) / (growth * scale)
        kept = (inner > 0) & (inner < _LARGE) & (u > 1)
        u, inner, own = u[kept], inner[kept], own[kept]
        x = _inside(d, inner)
        v = np.sqrt((u - 1) ** 2 + 2 * u * x / (1 + np.sqrt(1 - x)))
        c = (v * v + 1 - u * u) / (2 * v)
        kept = (c < -_LEAST_COSINE) & (v < u)
        u, v, c, x, own = u[kept], v[kept], c[kept], x[kept], own[kept]
        chances = 0.5 * betainc(power, 0.5, np.minimum((u / v) ** 2 * x, 1.0))
        found.append((v, chances, c, orbits[own]))
        u = v
    return _sorted(found)


def forward(
    threshold: Threshold, level: float, spare: Spare, starts: Vector, until: float
) -> Points:
    """Return orbits from starts in (0, 1) on to a radius, with ν and what is spare met there.

    A chance below 0 says how much more than that there is.
    """
    d, scale = threshold.dimension, threshold.multiplier
    growth, power = math.exp(threshold.epsilon), (d - 1) / 2
    r, counted, found = starts, np.zeros(starts.size), []
    while r.size:
        chances = (level + spare(r) - r * r) / scale + growth * counted
        r, chances = r[chances < _LARGE], chances[chances < _LARGE]
        x = _inside(d, np.maximum(chances, 0.0))
        c = -np.sqrt(1 - x)
        u = np.sqrt(r * r + 1 - 2 * r * c)
        found.append((r, chances, c))
        on = (u < until) & (chances > 0)
        counted = 0.5 * betainc(power, 0.5, np.minimum((r[on] / u[on]) ** 2 * x[on], 1.0))
        r = u[on]
    return _sorted(found)


def _sorted(found: Sequence[Points]) -> Points:
    columns = [np.concatenate(own) for own in zip(*found, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return tuple(own[order] for own in columns)


def joined(threshold: Threshold, level: float, spare: Spare, count: int) -> Curve | None:
    """Return orbits that meet where most of the mass is, without a move; None if ν is too large.

    Args:
        threshold: the equation of τ.
        level: ν.
        spare: what is added to ν.
        count: of orbits.
    """
    meet = max(spare.mode, 1.0)
    orbits = (np.arange(count) + 0.5) / count
    radii, chances, cosines, _ = backward(threshold, level, spare, orbits)
    if not radii.size:
        return None
    starts = np.append(1e-3, (np.arange(count) + 0.5) / count)
    r, first, c = forward(threshold, level, spare, starts, meet + 1)
    seen = (r >= meet - 1) & (r <= meet)
    if not np.any(seen) or radii[0] > max(meet - 1, float(r[seen][0])):
        return None
    known = np.exp(np.interp(r[seen], radii, np.log(chances)))
    if not np.all(known >= first[seen]):
        return None
    radii, cosines = _rising(
        np.concatenate([r[r < meet], radii[radii >= meet]]),
        np.concatenate([c[r < meet], cosines[radii >= meet]]),
    )
    return Curve(level, radii, cosines, np.zeros(radii.size))


def orbits_near(threshold: Threshold, level: float, spare: Spare, count: int) -> Vector:
    """Return orbits, of which as many as are equally far apart at small radii, by their ratios."""
    even = np.asarray((np.arange(count) + 0.5) / count)
    radii, _, _, orbits = backward(threshold, level, spare, even)
    near = np.nonzero(radii < 1)[0]
    if near.size < _FEWEST:
        return even
    wanted = np.geomspace(max(radii[near[0]], _LEAST_RADIUS), radii[near[-1]], count)
    turns = np.unwrap(orbits[near], period=1.0)
    return np.unique(np.append(even, np.mod(np.interp(wanted, radii[near], turns), 1.0)))


def transfer(threshold: Threshold, level: float, spare: Spare, orbits: Vector) -> Curve | None:
    """Return orbits from the end and what shorter changes move; None if ν is too large.

    Args:
        threshold: the equation of τ.
        level: ν.
        spare: what is added to ν.
        orbits: as `backward` takes them.
    """
    d, scale = threshold.dimension, threshold.multiplier
    radii, chances, cosines, _ = backward(threshold, level, spare, orbits)
    meet = max(spare.mode, 1.0)
    if not radii.size or radii[0] > meet:
        return None
    starts, at = _STARTS, -1
    for _ in range(2):
        r, first, c = forward(threshold, level, spare, starts, meet + 2)
        # what is short where both are known, and what is left over
        need = scale * (first - np.exp(np.interp(r, radii, np.log(chances))))
        need[r < radii[0]] = 0.0
        over = np.nonzero((need[:-1] <= 0) & (r[:-1] <= meet))[0]
        if not over.size:
            return None
        rises = over[need[over + 1] > 0]
        at = int(rises[-1] if rises.size else over[-1])
        if r[at + 1] >= 1:
            break
        closer = np.linspace(r[at], r[at + 1], _CLOSER)
        starts = np.unique(np.concatenate([_STARTS, closer, radii[radii < 1]]))
    begin, end = float(r[at]), float(np.sqrt(r[at] ** 2 + 1 - 2 * r[at] * c[at]))
    between = (r > begin) & (r < end)
    short = np.nonzero(between & (need > 0))[0]
    gamma = _zero(r, need, int(short[-1])) if short.size else begin
    below, rest = r <= begin, radii > end
    inner = np.append(r[between], gamma)
    moves = np.append(need[between], 0.0)
    moves = np.where(inner < gamma, np.maximum(moves, 0.0), np.minimum(moves, 0.0))
    points = [
        (r[below], c[below], np.zeros(int(below.sum()))),
        (inner, np.interp(inner, radii, cosines), moves),
        (np.array([end]), np.interp([end], radii, cosines), np.zeros(1)),
        (radii[rest], cosines[rest], np.zeros(int(rest.sum()))),
    ]
    radii, cosines, need = _rising(*_sorted(points))
    if gamma <= begin:
        return Curve(level, radii, cosines, np.zeros(radii.size))
    masses = need * np.where(radii < end, radii / end, 0.0) ** (d - 1)
    gained, lost = (float(np.trapezoid(np.maximum(own, 0.0), radii)) for own in (masses, -masses))
    if gained * math.exp(threshold.epsilon) > lost:
        return None
    onto = np.sqrt(r * r + 1 - 2 * r * c)
    start = float(np.interp(gamma, onto[below], r[below])) if gamma > 1 else gamma
    return Curve(level, radii, cosines, need, corners=(begin, gamma, end), first=start % 1.0)


def _rising(radii: Vector, cosines: Vector, *others: Vector) -> Points:
    """Return points without those at which τ would fall, or hardly rise, after the last."""
    onto = np.sqrt(radii * radii + 1 - 2 * radii * cosines) - _SLOPE * radii
    before = np.maximum.accumulate(np.append(-np.inf, onto[:-1]))
    kept = (onto > before) & (np.diff(radii, prepend=-1.0) > 0)
    return tuple(own[kept] for own in (radii, cosines, *others))


def _zero(radii: Vector, values: Vector, at: int) -> float:
    """Return where the line from one value to the next is 0."""
    a, b, f, g = radii[at], radii[at + 1], values[at], values[at + 1]
    return float(a - f * (b - a) / (g - f))


def greatest(made: Callable[[float], Curve | None], guess: float, rtol: float) -> Curve | None:
    """Return the curve of the largest ν that has one, to a relative width; None if none has.

    Args:
        made: the curve of ν, None where ν is too large.
        guess: about ν.
        rtol: how near.
    """
    high, step = guess, _STEP
    low = high * (1 - step)
    best = made(low)
    while best is None:
        step *= 4
        if step > 1:
            return None
        high, low = low, low * (1 - step)
        best = made(low)
    while high == guess and (found := made(high)) is not None:
        best, low, step = found, high, 4 * step
        guess = high = low * (1 + step)
    while high - low > rtol * high:
        middle = (low + high) / 2
        found = made(middle)
        if found is None:
            high = middle
        else:
            best, low = found, middle
    return best
