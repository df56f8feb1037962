# SPDX-License-Identifier: Apache-2.0
"""How far an image of a unit ball reaches, where coefficients of squares say too little.

*Of ℓ_r with 1 < r < 2* such coefficients see the Euclidean ball around. With q = r/(r − 1) > 2 and
columns xⱼ of X, max ‖X·x‖ is the greatest (Σ |⟨xⱼ, u⟩|^q)^(1/q) over unit vectors u, and as
|⟨xⱼ, u⟩|^(q−2) ≤ ‖xⱼ‖^(q−2) it is at most λ^(1/q), λ the largest eigenvalue of
Σ ‖xⱼ‖^(q−2)·xⱼxⱼᵀ (ours): exact at both ends, r = 1 and r = 2.

*In few dimensions*, from widths alone: cones of directions, halved.

max ‖X(s − c)‖ over a body is the greatest h(u) over unit vectors u, where h(u) is the most of
|⟨u, X(s − c)⟩|. h is a norm, so on the cone of u₁, …, u_r it is at most what is linear there and
equal to h at these: ⟨v, u⟩ with ⟨v, uᵢ⟩ = h(uᵢ), at most ‖v‖. Cones whose v is too long are
halved. Near a direction that is farthest both what is missing and what a cone may be wide fall by
the square of the width, so that few cones a halving are left (ours).

Directions are whole numbers, half of those between are sums: nothing between two cones is lost.
Each cone is in one orthant, so that no two of its directions are more than a right angle apart and
‖Σ aᵢuᵢ‖² ≥ Σ aᵢ²‖uᵢ‖² for a ≥ 0: where ⟨v, uᵢ⟩ ≥ h(uᵢ) − ρ‖uᵢ‖ for all i, h is at most ‖v‖ + ρ√r.
Where v is outside the cone that is too much: if ‖uᵢ‖ = 1, Σ aᵢ = 1 and no cosine between two is
below g, ‖Σ aᵢuᵢ‖² ≥ g + (1 − g)/r, and h is at most its greatest value at a uᵢ over the root.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.norms import dual_order
from lownoise.numbers.rounding import LAST, down, grown, growth, spectral_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_MOST_ROWS = 5  # dimensions that are looked at in this way
_MOST_CONES = 250_000
_MOST_NUMBERS = 6_000_000  # of directions that widths are taken of
_ENOUGH = 4  # times 8^r: cones that mostly prove much
_CLOSE = 2.0**-24  # how much farther than what is attained a cone may be
_FIRST_HALVINGS = {2: 4, 3: 6}  # of all cones before any is looked at, by dimensions
_CLIMBS = 50
_STARTS = 4
_RISES = 1e-12
_LARGEST = 2.0**51  # a coordinate of a direction: sums of two are exact


@final
@dataclass(frozen=True, eq=False)
class Length:
    """How far it is at most, and along what it is farthest, or nearly.

    Args:
        upper: at least the greatest h(u)/‖u‖.
        direction: the best u that was looked at, shape (r,); None where none was, or none reaches
            farther than what is known to be attained.
    """

    upper: float
    direction: Vector | None


def image_length(
    image: Vector, base: AbstractUnitBall, limit: float = math.inf, *, attained: float = 0.0
) -> Length:
    """Return at least max ‖X·x‖ over B, and at most `limit`, a bound from elsewhere.

    Args:
        image: X, shape (r, k).
        base: B, k coordinates.
        limit: at least max ‖X·x‖.
        attained: a length that some point has, or nearly: where `limit` is no more, it is returned.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> round(image_length(np.eye(2) * [3.0, 4.0], NormBall(2, 1.5)).upper, 6)
        4.0
    """
    order = base.ball_order
    known = order == 2 or limit <= attained * (1 + _CLOSE)  # noqa: PLR2004 (coefficients of 1 say all)
    if known or not base.unconditional:
        return Length(limit, None)
    most = float(np.max(np.abs(image), initial=0.0))
    if not 0 < most < math.inf:
        return Length(limit, None)
    size = math.ldexp(1.0, math.frexp(most)[1] - 1)  # a power of two: nothing is rounded
    own = np.ascontiguousarray(image / size)
    found = _longest_of_unit(own.tobytes(), len(own), base, limit / size, attained / size)
    longest = min(grown(found.upper * size, LAST), limit)
    # what is so small is not rounded in relation to itself
    return replace(found, upper=longest if longest > 2.0**-1000 else limit)


@lru_cache(maxsize=16)  # one claim is asked for its bounds many times
def _longest_of_unit(
    entries: bytes, rows: int, base: AbstractUnitBall, limit: float, attained: float
) -> Length:
    """Return the same of an image whose largest entry is from 1 to 2."""
    image = np.frombuffer(entries).reshape(rows, -1)
    order = base.ball_order
    if order is not None and 1 < order < 2:  # noqa: PLR2004
        limit = min(limit, _between_up(image, order))
    most = 0 if base.searched or base.only_near else most_cones(len(image), base.dimension)
    if not most:
        return Length(limit, None)
    far_point = climbed_from(base, image, np.zeros(len(image)))
    inside = max(1.0, float(base.norm_up(far_point[None])[0]))
    attained = max(attained, float(np.linalg.norm(image @ far_point)) / inside)
    # the products below are rounded
    far = np.abs(image) @ base.widths() * growth(len(image) + 9)

    def widths(directions: Vector) -> Vector:
        return np.asarray(base.support_up(directions @ image) + np.abs(directions) @ far)

    found = body_length(widths, len(image), limit, most, attained=attained)
    return found if found.direction is not None else replace(found, direction=image @ far_point)


def climbed_from(
    base: AbstractUnitBall, image: Vector, away: Vector, more: Vector | None = None
) -> Vector:
    """Return x in B that makes ‖X·x + o‖ great: to what is extreme along the gradient, and again.

    Args:
        base: B, k coordinates.
        image: X, shape (r, k).
        away: o, shape (r,).
        more: where to start besides the longest axes, shape (n, k).
    """
    axes = np.linalg.svd(image, full_matrices=False)[2][:_STARTS]
    starts = np.vstack([axes, -axes, away @ image, *([] if more is None else [more])])
    x = base.extreme(starts)
    size = np.linalg.norm(x @ image.T + away, axis=1)
    for _ in range(_CLIMBS):
        higher = base.extreme((x @ image.T + away) @ image)
        lengths = np.linalg.norm(higher @ image.T + away, axis=1)
        if not np.any(lengths > size * (1 + _RISES)):
            break
        x = np.where((lengths > size)[:, None], higher, x)
        size = np.maximum(size, lengths)
    return np.asarray(x[np.argmax(size)])


def most_cones(rows: int, effort: float) -> int:
    """Return how many cones may be looked at; 0 where that would prove little.

    Args:
        rows: dimensions.
        effort: numbers that are looked at for one direction.
    """
    most = int(min(_MOST_CONES, _MOST_NUMBERS / effort))
    return most if rows <= _MOST_ROWS and most >= _ENOUGH * 8**rows else 0


def _between_up(image: Vector, order: float) -> float:
    """Return at least max ‖X·x‖ over the ball of ℓ_r, 1 < r < 2, by the eigenvalue."""
    q = down(dual_order(order))  # a smaller one is the dual of a larger ball
    sizes = np.linalg.norm(image, axis=0) * (1 + growth(len(image) + 9))
    most = float(np.max(sizes, initial=0.0))
    if not 0 < most < math.inf:
        return most
    off = (q + 9) * 2.0**-46
    if off > 2.0**-30:  # so near order 1 that powers are not known
        return math.inf
    powers = np.maximum((sizes / most) ** (q / 2 - 1), 2.0**-400) * (1 + off)
    longest = spectral_up(image / most * powers) ** (2 / q)
    return float(grown(most * longest))


def longest_up(image: Vector, corners: Vector) -> float:
    """Return at least max ‖image·x‖ over corners x, shape (N, k)."""
    hidden = np.linalg.norm(np.abs(corners) @ np.abs(image).T, axis=1) * growth(image.shape[1] + 3)
    lengths = np.linalg.norm(corners @ image.T, axis=1) + hidden
    return float(np.max(lengths)) * (1 + growth(len(image) + 9))


def body_length(
    widths: Callable[[Vector], Vector],
    rows: int,
    limit: float = math.inf,
    most: int = _MOST_CONES,
    *,
    attained: float = 0.0,
    close: float = _CLOSE,
) -> Length:
    """Return at least the greatest of h(u)/‖u‖, hardly more where that takes few cones.

    Args:
        widths: h of each row of a matrix of shape (n, r), rounded up: of a norm; shape (n,).
        rows: r ≥ 1.
        limit: a bound from elsewhere; returned where it is nearly attained.
        most: cones that are looked at.
        attained: a length that some point of the body has, or nearly.
        close: how much farther than what is attained a cone may be.

    Examples:
        >>> cross = lambda u: np.max(np.abs(u), axis=1)  # of the hull of ±e₁ and ±e₂
        >>> round(body_length(cross, 2).upper, 6)
        1.0
    """
    signs = 1.0 - 2.0 * ((np.arange(1 << (rows - 1))[:, None] >> np.arange(rows)) & 1)
    cones = signs[:, :, None] * np.eye(rows)  # half of all orthants: h(−u) = h(u)
    for _ in range(min(_FIRST_HALVINGS.get(rows, 0), most.bit_length() - rows)):
        cones = np.concatenate(_cut(cones, np.linalg.norm(cones, axis=2))[:2])
    known, where = np.unique(cones.reshape(-1, rows), axis=0, return_inverse=True)
    ends = np.asarray(widths(known))[where].reshape(len(cones), rows)
    settled, looked = 0.0, 0
    best = None
    while True:
        lengths = np.linalg.norm(cones, axis=2)
        ratios = ends / lengths
        at = np.unravel_index(np.argmax(ratios), ratios.shape)
        if ratios[at] > attained:
            attained, best = float(ratios[at]), cones[at]
        # what is not a number proves nothing
        bounds = np.nan_to_num(_bounds(cones, ends, lengths), nan=np.inf, posinf=np.inf)
        looked += len(cones)
        open_ = bounds > attained * (1 + close)
        settled = max(settled, float(np.max(bounds[~open_], initial=0.0)))
        if limit <= attained * (1 + close):
            return Length(limit, best)
        if not np.any(open_):
            return Length(min(settled, limit), best)
        if looked > most or np.max(np.abs(cones)) > _LARGEST:
            return Length(min(max(settled, float(np.max(bounds))), limit), best)
        cones, ends = _halved(widths, cones[open_], ends[open_], lengths[open_])


def _bounds(cones: Vector, ends: Vector, lengths: Vector) -> Vector:
    """Return at least h(u)/‖u‖ over each cone, shape (n,)."""
    rows = cones.shape[1]
    unit = cones / lengths[:, :, None]
    with np.errstate(all="ignore"):
        v = np.linalg.solve(unit, (ends / lengths)[:, :, None])
        v = np.where(np.isfinite(v), v, 0.0)
        size = np.linalg.norm(v, axis=(1, 2))
        # what v lacks, by the exact directions
        lacks = (ends - np.einsum("nij,njk->ni", cones, v)) / lengths
    missing = np.maximum(np.max(lacks, axis=1), 0.0)
    off = growth(2 * rows + 20) * (size + np.max(ends / lengths, axis=1))
    flat = (size + math.sqrt(rows) * (missing + off)) * (1 + growth(rows + 20))
    cosines = np.min(np.einsum("nik,njk->nij", unit, unit), axis=(1, 2)) - growth(2 * rows + 20)
    least = np.sqrt(np.maximum(cosines + (1 - cosines) / rows, 0.5 / rows))
    round_ = np.max(ends / lengths, axis=1) / least * (1 + growth(2 * rows + 40))
    return np.asarray(np.minimum(flat, round_))


def _halved(
    widths: Callable[[Vector], Vector], cones: Vector, ends: Vector, lengths: Vector
) -> tuple[Vector, Vector]:
    """Return both halves of each cone, cut through its widest pair of directions."""
    one, two, middle, first, second = _cut(cones, lengths)
    value, n = np.asarray(widths(middle)), len(cones)
    own, at = np.concatenate([ends, ends]), np.arange(n)
    own[at, first], own[n + at, second] = value, value
    return np.concatenate([one, two]), own


def _cut(cones: Vector, lengths: Vector) -> tuple[Vector, Vector, Vector, Integers, Integers]:
    """Return both halves of each cone, their new direction, and in whose place it is in each."""
    n, rows, _ = cones.shape
    unit = cones / lengths[:, :, None]
    beside = np.einsum("nik,njk->nij", unit, unit) + 2 * np.eye(rows)
    first, second = np.divmod(np.argmin(beside.reshape(n, -1), axis=1), rows)
    at = np.arange(n)
    # of nearly equal length, so that the sum is in the middle: a power of two is exact
    ratio = np.exp2(np.round(np.log2(lengths[at, first] / lengths[at, second])))
    middle = (
        np.maximum(1 / ratio, 1.0)[:, None] * cones[at, first]
        + np.maximum(ratio, 1.0)[:, None] * cones[at, second]
    )
    one, two = cones.copy(), cones.copy()
    one[at, first], two[at, second] = middle, middle
    return one, two, middle, first, second
