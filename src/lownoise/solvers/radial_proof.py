# SPDX-License-Identifier: Apache-2.0
"""From thresholds to a proof: the cosine of τ as a line between few nodes, and what it proves."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc

from lownoise.certificate.radial import RadialProof

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.radial import Threshold

_STARTS = 64  # orbits, at most
_POINTS = 6000  # of all orbits together, about
_SHORTS = (3e-4, 1e-3, 3e-3)  # how far below the largest ν orbits are taken, so that all end soon
_NEAR = 1e-3  # parts of ν that a proof may lose before the next of these is tried
_HELD = (0.01, 0.03, 0.1, 0.3, 1.0)  # parts of ν below which a cap near the end is held
_NONE = -1 + 1e-12  # a cosine of no cap
_MISS = 5e-5  # parts of ν that a line between nodes may miss
_ROOM = 2e-4  # parts of ν left to the check in intervals
_MORE = 5  # times as much in two dimensions, or where steps are few: the grid sees less there
_FEW = 16


def proof_of(threshold: Threshold, level: float, delta: float, steps: int) -> RadialProof:
    """Return a proof whose `lower` is hardly below level − λδ; `holds` has the last word.

    Args:
        threshold: the equation of τ, at its λ.
        level: ν, of which every orbit's ν is hardly below it.
        delta: δ.
        steps: about how many steps an orbit has.
    """
    best = -math.inf
    radii = cosines = np.zeros(0)
    for short in _SHORTS:
        found, *curve = _shortened(threshold, level, short, steps)
        if found > best:
            best, (radii, cosines) = found, curve
        if best > level * (1 - _NEAR):
            break
    if radii[-1] <= 1:  # ψ = 0 from there on, and a proof says so up to 1
        radii = np.append(radii, [radii[-1] * (1 + 1e-3), 1 + 1e-3])
        cosines = np.append(cosines, [-1.0, -1.0])
    few = threshold.dimension == 2 or steps < _FEW  # noqa: PLR2004
    return RadialProof(
        threshold.dimension,
        threshold.epsilon,
        delta,
        tuple(radii.tolist()),
        tuple(cosines.tolist()),
        threshold.multiplier,
        best - _ROOM * (_MORE if few else 1) * level,
    )


def _shortened(
    threshold: Threshold, level: float, short: float, steps: int
) -> tuple[float, Vector, Vector]:
    """Return the least of r² + A(r) in floats, nodes, and the cosines there."""
    radii, cosines = _curve(threshold, level * (1 - short), steps)
    ended = [_ended(threshold, radii, cosines, part * level) for part in _HELD]
    cosines = max(ended, key=lambda held: least(threshold, radii, held))
    kept = _nodes(threshold, radii, cosines, _MISS * level)
    radii, cosines = radii[kept], cosines[kept]
    return least(threshold, radii, cosines), radii, cosines


def _curve(threshold: Threshold, level: float, steps: int) -> tuple[Vector, Vector]:
    """Return rising radii and c there, up to where r² + A(r) ≥ ν with no ψ at r."""
    count = min(_STARTS, max(24, _POINTS // steps))
    starts = np.append(1e-3, (np.arange(count) + 0.5) / count)
    path, _ = threshold.orbits(starts, np.full(starts.size, level), together=True)
    path.append(np.full(starts.size, np.nan))
    points = np.concatenate([np.stack([a, b]) for a, b in itertools.pairwise(path)], axis=1)
    points = points[:, np.isfinite(points[0])]
    r, u = points[:, np.argsort(points[0])]
    ends = np.nonzero(np.isnan(u))[0]
    end = int(ends[0]) if ends.size else u.size
    cosines = (r[:end] ** 2 + 1 - u[:end] ** 2) / (2 * r[:end])
    last = int(np.nonzero(cosines > _NONE)[0][-1]) + 1 if np.any(cosines > _NONE) else 0
    end, cosines = min(last, end), cosines[:last]
    r = np.concatenate([[0.0], r[: end + 1]])
    cosines = np.concatenate([cosines[:1], cosines, cosines[-1:]]) if end else np.full(2, -1.0)
    return r, np.clip(cosines, -1.0, -1e-9)


def _ended(threshold: Threshold, radii: Vector, cosines: Vector, least: float) -> Vector:
    """Hold the cap near the end, where it falls steeply, at `least`/λ: the next step has room."""
    small = threshold.multiplier * _share(threshold.dimension, cosines) < least
    small &= radii > radii[-1] / 2
    first = int(np.nonzero(small)[0][0]) if small.any() else radii.size - 1
    return np.append(cosines[:first], np.maximum(cosines[first:], cosines[max(first - 1, 0)]))


def _share(d: int, cosine: Vector) -> Vector:
    return np.asarray(0.5 * betainc((d - 1) / 2, 0.5, np.maximum(1 - cosine * cosine, 0.0)))


def _nodes(threshold: Threshold, radii: Vector, cosines: Vector, most: float) -> list[int]:
    """Return the indices of nodes, by the longest lines whose caps miss at most `most`/λ."""
    d = threshold.dimension
    caps = threshold.multiplier * _share(d, cosines)
    kept, at, length = [0], 0, 1
    while at < radii.size - 1:

        def fits(end: int, at: int = at) -> bool:
            inside = slice(at, end + 1)
            line = np.interp(radii[inside], radii[[at, end]], cosines[[at, end]])
            there = threshold.multiplier * _share(d, line)
            return bool(np.all(np.abs(there - caps[inside]) <= most))

        length = max(1, length)
        last = radii.size - 1
        while at + length < last and fits(min(at + 2 * length, last)):
            length *= 2
        low, high = min(at + length, last), min(at + 2 * length, last)
        if low > at + 1 and not fits(low):
            low, high = at + 1, low
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        low = high if high > low and fits(high) else low
        length = max(1, (low - at) // 2)
        at = low
        kept.append(at)
    return kept


def least(threshold: Threshold, radii: Vector, cosines: Vector) -> float:
    """Return the least of r² + A(r) over a fine grid, in floats."""
    d, scale = threshold.dimension, threshold.multiplier
    fine = np.unique(
        np.concatenate([radii[:-1] + (radii[1:] - radii[:-1]) * x for x in (0, 0.25, 0.5, 0.75, 1)])
    )
    # The lines bend at nodes, and at what steps onto nodes.
    c = np.interp(fine, radii, cosines)
    onto = np.interp(radii, np.sqrt(fine * fine + 1 - 2 * fine * c), fine)
    fine = np.unique(np.concatenate([fine, onto, np.nextafter(onto, 0.0)]))
    c = np.interp(fine, radii, cosines)
    near = fine[fine <= 1]
    values = [near * near + scale * _share(d, np.interp(near, radii, cosines))]
    r = np.sqrt(fine * fine + 1 - 2 * fine * c)
    own = np.where(r < radii[-1], _share(d, np.interp(r, radii, cosines)), 0.0)
    counted = _share(d, (fine * c - 1) / r)
    values.append(r * r + scale * (own - math.exp(threshold.epsilon) * counted))
    return float(min(v.min() for v in values))
