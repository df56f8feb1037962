# SPDX-License-Identifier: Apache-2.0
"""How much less noise there is near a staircase: what a step of Newton's would gain (ours).

Let a density fall by e^{−ε} at each of r₀ < r₁ < …, let w_k be the chance of the ball of radius r_k
in its mixture, and c_k = d·w_k/r_k. Moving r_k changes E‖z‖² + λδ by c_k(r_k² + λB_k − E‖z‖² − λδ),
B_k the chance of ‖z − s‖ > r_{k+1} less e^ε times that of ‖z + s‖ < r_{k−1}, given ‖z‖ = r_k and
‖s‖ = 1: that is 0 at every k where the noise is least (solvers/radial.py). B_k depends on the radii
beside r_k alone, so second derivatives H are tridiagonal. Along changes that keep δ, half of gᵀH⁻¹g
is what a step of Newton's gains.

The sides r_k, 1, r_{k+1} of a triangle give the cosines of the two caps: 1 − cos² is (Heron) a
product with the factor 1 − (r_{k+1} − r_k), and so is what each adds to the sum of a row of H. So
nothing cancels where steps are nearly as wide as a change, as they are where δ is small.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import beta, betainc

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.radial import Staircase

_CUT = 1e-8  # chances of balls, below which radii are held and slopes count in full
_FLAT = 1e-8  # of E‖z‖²: what no move gains is no slope
_WITHIN = 0.5  # parts of 1 less a step by which it changes at most
_SAFE = 4.0  # for what is no parabola, and for moves of what is held


class _Caps(NamedTuple):
    """B at each radius; the slopes of both caps, and the room, between each and the next."""

    chances: Vector
    outer: Vector
    inner: Vector
    room: Vector


def shortfall(staircase: Staircase, epsilon: float, delta: float) -> float:
    """Return what parts of its E‖z‖² noise near a staircase may be below it; infinite if unknown.

    Args:
        staircase: whose density falls by e^{−ε} at each radius, in two dimensions or more.
        epsilon: ε.
        delta: its δ.
    """
    with np.errstate(all="ignore"):
        return _gained(staircase, epsilon, delta)


def _gained(staircase: Staircase, epsilon: float, delta: float) -> float:
    d, radii, weights = staircase.dimension, staircase.radii, staircase.weights()
    caps, moment = _caps(d, epsilon, radii), staircase.second_moment()
    held = np.nonzero(weights > _CUT)[0]
    if not held.size or not np.all(caps.room > 0):  # no numbers, or steps wider than a change
        return math.inf
    first, end = int(held[0]), int(held[-1]) + 1
    seen = slice(first, end)
    scale = _multiplier(weights[seen], radii[seen] ** 2, caps.chances[seen])
    unit = d * weights / radii
    slopes = unit * (radii**2 + scale * (caps.chances - delta) - moment)
    short, long, growth = radii[:-1], radii[1:], scale * math.exp(epsilon)
    ties = scale * unit[:-1] * caps.outer * long / short
    bent = caps.room * (2 - caps.room) / 2
    sums = 2 * radii * unit + _FLAT * moment * weights
    sums[:-1] -= scale * unit[:-1] * caps.outer * bent / short**2
    sums[1:] -= growth * unit[1:] * caps.inner * bent / long**2
    beside = np.append(0.0, np.append(ties, 0.0))  # those with what is held, too
    diagonal = sums[seen] + beside[first:end] + beside[first + 1 : end + 1]
    sides = np.stack([slopes[seen], (unit * (caps.chances - delta))[seen]])
    moves = _solved(diagonal, -ties[first : end - 1], sides)
    if moves is None:
        return math.inf
    part = (sides[0] @ moves[1]) / (sides[1] @ moves[1])
    move = moves[0] - part * moves[1]  # keeps δ
    if not np.all(np.abs(np.diff(move)) <= _WITHIN * caps.room[first : end - 1]):
        return math.inf
    rest = np.abs(slopes).sum() - np.abs(slopes[seen]).sum()
    found = float((_SAFE * sides[0] @ move / 2 + max(rest, 0.0)) / moment)
    return found if found >= 0 else math.inf


def _caps(d: int, epsilon: float, radii: Vector) -> _Caps:
    power, short, long = (d - 1) / 2, radii[:-1], radii[1:]
    step = long - short
    room = np.maximum(1 - step, 0.0)  # spheres farther apart are not met at once
    square = np.maximum(room * (step + 1) * (short + long + 1) * (short + long - 1), 0.0)
    sines = square / (4 * short * short), square / (4 * long * long)  # their squares
    most, least = (0.5 * betainc(power, 0.5, np.minimum(own, 1)) for own in sines)
    most = np.where(short * short + 1 > long * long, 1 - most, most)
    outer, inner = (own ** (power - 1) / beta(power, 0.5) for own in sines)
    chances = np.append(most, 0.0) - math.exp(epsilon) * np.append(0.0, least)
    return _Caps(chances, outer, inner, room)


def _multiplier(weights: Vector, squares: Vector, chances: Vector) -> float:
    """Return λ for which r² + λB is as nearly constant as can be."""
    mean = (weights @ chances) / weights.sum()
    apart = chances - mean
    return float(-(weights * apart) @ squares / ((weights * apart) @ apart))


def _solved(diagonal: Vector, beside: Vector, sides: Vector) -> Vector | None:
    """Return H⁻¹ of each side; None unless H is positive definite."""
    from scipy.linalg import LinAlgError, solveh_banded

    banded = np.zeros((2, diagonal.size))
    banded[0, 1:], banded[1] = beside, diagonal
    try:
        found = solveh_banded(banded, sides.T)
    except (LinAlgError, ValueError):  # or no numbers
        return None
    return np.asarray(found.T)
