# SPDX-License-Identifier: Apache-2.0
"""From thresholds to a proof: lines between few nodes, and what they prove."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate.radial import RadialProof
from lownoise.solvers.radial_flow import Curve, greatest, joined, orbits_near, share, transfer

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.radial import Threshold
    from lownoise.solvers.radial_flow import Spare

_POINTS = 6000  # of all orbits together, about
_FEW, _FEWEST = 4, 8  # orbits, while ν is looked for where they are alike, and then
_LEVEL = 2e-6  # parts of ν to which it is found
_USUAL = 1.4e-4  # parts of ν that what is spare costs, as a rule
_BELOW = (0, 3, 10, 30, 100, 300, 1000, 3000)  # times as far below it, for more orbits
_ALIKE = 5e-4  # parts of ν below which nothing is moved
_MISSES = (0.3, 0.1, 0.03)  # parts of what is spare that a line between nodes may miss
_WORTH = 5e-5  # parts of ν that closer lines must gain
_ROOM = 1e-4  # parts of ν left to the check in intervals
_TESTED = 64  # nodes of either kind at which Λ is looked at


def curve_of(threshold: Threshold, guess: float, spare: Spare, steps: int) -> Curve | None:
    """Return what a proof of the largest ν is made of; None where none is found.

    Args:
        threshold: the equation of τ, at its λ.
        guess: about ν.
        spare: what is added to ν.
        steps: about how many steps an orbit has.
    """
    count = max(_FEWEST, _POINTS // steps)
    # Orbits that meet without a move are alike, and a few say which ν is too large.
    few = greatest(
        lambda level: joined(threshold, level, spare, _FEW), guess * (1 - _USUAL), _LEVEL
    )
    found = None
    if few is not None:
        levels = [few.level * (1 - _LEVEL * part) for part in _BELOW]
        curves = (joined(threshold, level, spare, count) for level in levels)
        found = next((own for own in curves if own is not None), None)
    if found is None or found.level < guess * (1 - _ALIKE):
        orbits = orbits_near(threshold, guess, spare, count)
        own = greatest(lambda level: transfer(threshold, level, spare, orbits), guess, _LEVEL)
        if own is not None and (found is None or own.level > found.level):
            found = own
    return found


def proof_of(threshold: Threshold, curve: Curve, spare: Spare, delta: float) -> RadialProof:
    """Return a proof whose ν is hardly below that of a curve; `holds` has the last word.

    Args:
        threshold: the equation of τ, at its λ.
        curve: from `curve_of`.
        spare: what was added to ν.
        delta: δ.
    """
    found = _lines(threshold, curve, spare, _MISSES[0])
    best = least(threshold, *found)
    for part in _MISSES[1:]:
        if best >= curve.level * (1 - _ROOM):
            break
        lines = _lines(threshold, curve, spare, part)
        value = least(threshold, *lines)
        if value > best + _WORTH * curve.level:
            best, found = value, lines
    radii, cosines, change = found
    size = int(np.nonzero(change)[0][-1]) + 2 if np.any(change) else 0
    return RadialProof(
        threshold.dimension,
        threshold.epsilon,
        delta,
        tuple(radii.tolist()),
        tuple(cosines.tolist()),
        threshold.multiplier,
        min(best, curve.level) - _ROOM * curve.level,
        tuple(change[:size].tolist()),
    )


def _lines(
    threshold: Threshold, curve: Curve, spare: Spare, miss: float
) -> tuple[Vector, Vector, Vector]:
    """Return nodes, the cosines there and what is moved there, in balance."""
    d, growth = threshold.dimension, math.exp(threshold.epsilon)
    ends = [0, *np.searchsorted(curve.radii, curve.corners).tolist(), curve.radii.size - 1]
    kept = [0]
    for first, last in itertools.pairwise(ends):
        kept += [first + k for k in _nodes(threshold, curve, spare, miss, slice(first, last + 1))]
    kept = sorted(set(kept))
    radii, cosines, change = (own[kept] for own in (curve.radii, curve.cosines, curve.transfer))
    radii, cosines, change = (
        np.append(start, own) for start, own in ((0.0, radii), (cosines[0], cosines), (0, change))
    )
    gained, lost = (_mass(d, radii, np.maximum(sign * change, 0.0)) for sign in (1, -1))
    if gained * growth > lost * (1 - 1e-9):
        change = np.where(change > 0, change * (lost / (gained * growth)) * (1 - 1e-9), change)
    return radii, np.clip(cosines, -1.0, -1e-9), change


def _mass(d: int, radii: Vector, values: Vector) -> float:
    """Return d∫t(r)r^{d−1}dr of lines."""
    moving = np.nonzero(values)[0]
    if not moving.size:
        return 0.0
    values, radii = (own[moving[0] - 1 : moving[-1] + 2] for own in (values, radii))
    a, b = radii[:-1], radii[1:]
    slope = np.diff(values) / (b - a)
    inner = (values[:-1] - slope * a) * (b**d - a**d)
    inner += slope * (b ** (d + 1) - a ** (d + 1)) * d / (d + 1)
    return float(inner[(values[:-1] > 0) | (values[1:] > 0)].sum())


def _nodes(threshold: Threshold, curve: Curve, spare: Spare, miss: float, part: slice) -> list[int]:
    """Return nodes in a part, of the longest lines that miss parts of `spare` at most."""
    d, scale = threshold.dimension, threshold.multiplier
    growth = scale * math.exp(threshold.epsilon)
    radii, cosines, change = (own[part] for own in (curve.radii, curve.cosines, curve.transfer))
    caps, most = scale * share(d, cosines), miss * spare(radii)
    onto = np.sqrt(radii * radii + 1 - 2 * radii * cosines)
    counted, more = growth * share(d, (radii * cosines - 1) / onto), miss * spare(onto)
    kept, at, length = [0], 0, 1
    last = radii.size - 1

    def fits(at: int, end: int) -> bool:
        inside = slice(at, end + 1)
        r = radii[inside]
        line = np.interp(r, radii[[at, end]], cosines[[at, end]])
        if np.any(np.abs(scale * share(d, line) - caps[inside]) > most[inside]):
            return False
        other = np.interp(r, radii[[at, end]], change[[at, end]])
        if np.any(np.abs(other - change[inside]) > most[inside]):
            return False
        there = growth * share(d, (r * line - 1) / np.sqrt(r * r + 1 - 2 * r * line))
        return not np.any(np.abs(there - counted[inside]) > more[inside])

    while at < last:
        length = max(1, length)
        while at + length < last and fits(at, min(at + 2 * length, last)):
            length *= 2
        low, high = min(at + length, last), min(at + 2 * length, last)
        if low > at + 1 and not fits(at, low):
            low, high = at + 1, low
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(at, middle) else (low, middle)
        low = high if high > low and fits(at, high) else low
        length = max(1, (low - at) // 2)
        at = low
        kept.append(at)
    return kept


def least(threshold: Threshold, radii: Vector, cosines: Vector, change: Vector) -> float:
    """Return the least of r² + A(r) over a fine grid, in floats."""
    d, scale = threshold.dimension, threshold.multiplier
    parts = (0, 0.25, 0.5, 0.75, 1)
    fine = np.unique(np.concatenate([radii[:-1] + (radii[1:] - radii[:-1]) * x for x in parts]))
    # The lines bend at nodes, and at what steps onto nodes.
    c = np.interp(fine, radii, cosines)
    onto = np.interp(radii, np.sqrt(fine * fine + 1 - 2 * fine * c), fine)
    fine = np.unique(np.concatenate([fine, onto, np.nextafter(onto, 0.0)]))
    c = np.interp(fine, radii, cosines)
    near = fine[fine <= 1]

    def value(r: Vector) -> Vector:
        added = np.interp(r, radii, change)
        return np.asarray(r * r + scale * share(d, np.interp(r, radii, cosines)) + added)

    r = np.sqrt(fine * fine + 1 - 2 * fine * c)
    counted = scale * math.exp(threshold.epsilon) * share(d, (fine * c - 1) / r)
    return float(min(value(near).min(), (value(r) - counted).min()))


def greatest_test(d: int, radii: Vector, change: Vector) -> float:
    """Return about Λ, from some of the nodes: it is decided in balls where a bound is stated.

    Args:
        d: the dimension.
        radii: nodes, rising.
        change: t there.
    """
    lost = _mass(d, radii, np.maximum(-change, 0.0))
    gains, losses = (np.nonzero(sign * change > 0)[0] for sign in (1, -1))
    if not gains.size or not lost > 0:
        return 0.0
    at, to = (own[:: math.ceil(own.size / _TESTED)] for own in (gains, losses))
    r, u = radii[at][:, None], radii[to][None, :]
    cosines = (r * r + u * u - 1) / (2 * r * u)
    near = share(d, -np.abs(np.minimum(cosines, 1.0)))
    chances = np.where(cosines < 0, 1 - near, near)
    return float(np.max(change[at][:, None] * -change[to][None, :] / (lost * chances)))
