# SPDX-License-Identifier: Apache-2.0
"""Slabs, and what several domains have in common, in the simplest form that it has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, number, vector
from lownoise.numbers.readable import brief, html_table
from lownoise.sets.bodies import Section, is_slabs
from lownoise.sets.bodies.barrier import middle
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.image import Image, check_size
from lownoise.sets.domains.intersection import LEAST_MARGIN, Intersection, checked_intersection
from lownoise.sets.domains.points import Points
from lownoise.sets.unit_balls import (
    CappedBall,
    IntersectionBall,
    NormBall,
    product_ball,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Chosen, Vector
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.abstract import Piece
    from lownoise.sets.unit_balls import AbstractUnitBall

_LEAST_CAP = 2.0**-250
_SAME = 2.0**-48  # of the numbers that make it: how far two equal centers may be apart
_ROUNDS = 4  # of telling ranges from slabs and slabs from ranges
_TIGHT = 1e-6  # by how much a slab must shrink to be replaced
_EMPTY = "intersection is empty: {}; give domains that have a point in common"


@DOMAINS.constructor
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Slab(AbstractDomain):
    """The slab {x : lower ≤ ⟨normal, x⟩ ≤ upper}; a half-space where one of both is infinite.

    No domain of records by itself, as it is unbounded: a part of `ln.intersection`.

    Args:
        normal: not 0, shape (d,).
        lower: in the unit of ⟨normal, x⟩; may be −∞.
        upper: in the same unit, above `lower`; may be ∞.

    Raises:
        DomainError: where the normal is 0 or not finite, or the slab is empty, flat or everything.

    Examples:
        >>> total = Slab([1, 1, 1], 0, 10)
        >>> total.contains(np.array([5.0, 6.0, -1.0]))
        True
    """

    of_records: ClassVar[bool] = False
    intersects: ClassVar[bool] = True

    normal: Vector
    lower: float  # type: ignore[assignment]
    upper: float  # type: ignore[assignment]

    def __init__(self, normal: ArrayLike, lower: float, upper: float) -> None:
        a = vector(normal, field="Slab.normal", error=DomainError)
        check_size(a, "Slab.normal")
        if not np.any(a):
            raise DomainError("Slab.normal is 0 and has no direction; give another")
        low = number(lower, field="Slab.lower", error=DomainError)
        high = number(upper, field="Slab.upper", error=DomainError)
        if not low < high:
            raise DomainError(
                f"Slab.lower={low:g} is not below Slab.upper={high:g}; give room between them"
            )
        if math.isinf(low) and math.isinf(high):
            raise DomainError("Slab.lower and Slab.upper are infinite; give one of them at least")
        check_size(np.array([b for b in (low, high) if math.isfinite(b)]), "Slab.lower, upper")
        object.__setattr__(self, "normal", a)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    def __repr__(self) -> str:
        return f"Slab({brief(self.normal)}, from {self.lower:.6g} to {self.upper:.6g})"

    def _repr_html_(self) -> str:
        return html_table(repr(self), [])

    @property
    def center(self) -> Vector:
        """The point of its middle plane, or of its only one, that is nearest to zero."""
        ends = [b for b in (self.lower, self.upper) if math.isfinite(b)]
        unit = self.normal / np.max(np.abs(self.normal))
        level = sum(ends) / len(ends) / float(np.max(np.abs(self.normal)))
        return np.asarray(unit * (level / float(unit @ unit)))

    def support(self, direction: Vector) -> float:
        """Return max ⟨θ, x⟩, infinite where θ is not along the normal; θ has shape (d,)."""
        share = float(direction @ self.normal) / float(self.normal @ self.normal)
        if np.any(np.abs(direction - share * self.normal) > 1e-12 * np.abs(direction)):
            return math.inf
        return 0.0 if share == 0 else share * (self.upper if share > 0 else self.lower)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies between the planes."""
        return bool(self.lower <= float(self.normal @ point) <= self.upper)

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each clipped to the nearest point between the planes, shapes (n, d)."""
        level = rows @ self.normal
        move = (np.clip(level, self.lower, self.upper) - level) / float(self.normal @ self.normal)
        return np.asarray(rows + move[..., None] * self.normal)

    def enclosed(self, *, mixed: bool = False) -> tuple[AbstractBody, Vector]:
        """Refuse: nothing encloses it.

        Raises:
            DomainError: always.
        """
        raise DomainError("domain=Slab is unbounded; cut it with ln.intersection(ln.Box(…), slab)")


@DOMAINS.constructor
def intersection(*domains: AbstractDomain) -> AbstractDomain:
    """Return the intersection of domains: all records that lie in every one of them.

    Boxes give a box. Domains of one center whose axes are the coordinates give an `Image`, of any
    dimension; a box and a ball there are exact where the ball's order is at least 2. Others give an
    `Intersection` of slabs and ellipsoids, whose certificate shows how near its noise is to the
    least.

    Args:
        domains: `ln.Box`, `ln.Ball`, `ln.Ellipsoid` and other images of cubes and balls by
            invertible matrices, `ln.Slab`, or one single point in `ln.Points`.

    Raises:
        DomainError: where nothing or no neighbourhood is left, or a domain is of another kind.

    Examples:
        >>> from lownoise.sets.domains.balls import Ball
        >>> clipped = intersection(Ball(3, radius=1.0), Box([-0.6] * 3, [0.6] * 3))
        >>> clipped.clamp(np.array([3.0, 0.0, 4.0])).round(9)
        array([0.45, 0.  , 0.6 ])
        >>> baskets = intersection(Box([0, 0], [5, 5]), Slab([1, 1], 0, 6))
        >>> baskets.contains(np.array([4.0, 3.0]))
        False
    """
    parts = _checked(domains)
    single = [part for part in parts if isinstance(part, Points)]
    if single:
        return _point(single, parts)
    parts = _merged(parts)
    if len(parts) == 1:
        return parts[0]
    return _concentric(parts) or _general(parts)


def _checked(domains: Sequence[object]) -> list[AbstractDomain]:
    if not domains:
        raise DomainError("intersection has no domains; give at least one")
    found: list[AbstractDomain] = []
    for i, domain in enumerate(domains):
        if not isinstance(domain, AbstractDomain) or not domain.intersects:
            raise DomainError(
                f"intersection[{i}]={type(domain).__name__} cannot be intersected; give boxes, "
                "balls, ellipsoids or slabs"
            )
        if domain.dimension != found[0].dimension if found else False:
            raise DomainError(
                f"intersection[{i}] has {domain.dimension} coordinates and intersection[0] "
                f"{found[0].dimension}; give all the same"
            )
        found.append(domain)
    return found


def _point(single: list[Points], parts: list[AbstractDomain]) -> Points:
    """Return the one point, if it is in every part."""
    for points in single:
        if np.any(points.points != points.points[0]):
            raise DomainError(
                "intersection with ln.Points of several points is not a list of points, as records "
                "may be mixtures of them; list the points that remain, or give facets as ln.Slab"
            )
    point = single[0].points[0]
    if not all(part.contains(point) for part in parts):
        raise DomainError(_EMPTY.format("the single point is outside of another domain"))
    return Points(point[None])


def _merged(parts: list[AbstractDomain]) -> list[AbstractDomain]:
    """Return the parts, every one once and boxes, and slabs along an axis, made one box."""
    once = [part for i, part in enumerate(parts) if not any(part is q for q in parts[:i])]
    boxes = [part for part in once if isinstance(part, Box)]
    if not boxes:
        return once
    low = np.max([box.lower for box in boxes], axis=0)
    high = np.min([box.upper for box in boxes], axis=0)
    rest: list[AbstractDomain] = []
    for part in once:
        if isinstance(part, Slab) and np.count_nonzero(part.normal) == 1:
            j = int(np.flatnonzero(part.normal)[0])
            ends = sorted((part.lower / part.normal[j], part.upper / part.normal[j]))
            low[j], high[j] = max(low[j], ends[0]), min(high[j], ends[1])
        elif not isinstance(part, Box):
            rest.append(part)
    if np.any(low > high):
        i = int(np.flatnonzero(low > high)[0])
        raise DomainError(
            _EMPTY.format(f"coordinate {i} is at least {low[i]:g}, at most {high[i]:g}")
        )
    return [Box(low, high), *rest]


def _concentric(parts: list[AbstractDomain]) -> AbstractDomain | None:
    """Return the image of what unit balls along the coordinates share; None where they do not."""
    own = [part.along_axes() for part in parts]
    first = own[0]
    found: list[tuple[Vector, AbstractUnitBall, AbstractDomain]] = []
    if first is None:
        return None
    for part, image in zip(parts, own, strict=True):
        if image is None or not image.base.unconditional:
            return None
        size = np.abs(first.shift) + np.abs(image.shift) + first.extent + image.extent
        if np.any(np.abs(image.shift - first.shift) > _SAME * size):
            return None
        found.append((np.abs(image.factor), image.base, part))
    flat = np.any([factor == 0 for factor, _, _ in found], axis=0)
    found = [(np.where(flat, 0.0, factor), base, part) for factor, base, part in found]
    found = _one_cube(found, first.shift)
    kept = list(found)
    for each in found:
        others = [other for other in kept if other is not each]
        if any(_inside(other, each) for other in others):
            kept = others
    if len(kept) == 1:
        factor, base, part = kept[0]
        return part if not np.any(flat) else Image(frozen(factor), base, first.shift)
    factors = [factor for factor, _, _ in kept]
    balls = [base for _, base, _ in kept]
    cubes = [is_slabs(base) for base in balls]
    if len(kept) == 2 and any(cubes):  # noqa: PLR2004
        i = 1 - cubes.index(True)
        base, ball, half = balls[i], factors[i], factors[1 - i]
        if isinstance(base, NormBall):
            cap = _checked_cap(np.minimum(half / np.where(flat, 1.0, ball), 1.0), flat)
            return Image(frozen(ball), CappedBall(cap, base.order), first.shift)
    unit = np.where(flat, 1.0, np.min(factors, axis=0))
    scales = np.array([unit / np.where(flat, 1.0, factor) for factor in factors])
    return Image(
        frozen(np.where(flat, 0.0, unit)),
        IntersectionBall(tuple(balls), frozen(scales)),
        first.shift,
    )


def _checked_cap(cap: Vector, flat: Chosen) -> Vector:
    low = np.flatnonzero(~flat & (cap < _LEAST_CAP))
    if low.size:
        i = int(low[0])
        raise DomainError(
            f"intersection caps coordinate {i} at {cap[i]:.0e} of its ball, below 2^-250; "
            "use another unit",
        )
    return frozen(np.where(flat, 1.0, cap))


def _one_cube(
    found: list[tuple[Vector, AbstractUnitBall, AbstractDomain]], shift: Vector
) -> list[tuple[Vector, AbstractUnitBall, AbstractDomain]]:
    """Return the parts, several cubes made the one that they share."""
    cubes = [each for each in found if is_slabs(each[1])]
    if len(cubes) < 2:  # noqa: PLR2004
        return found
    half = frozen(np.min([factor for factor, _, _ in cubes], axis=0))
    cube = NormBall(half.size, math.inf)
    rest = [each for each in found if not is_slabs(each[1])]
    return [(half, cube, Image(half, cube, shift)), *rest]


def _inside(
    one: tuple[Vector, AbstractUnitBall, AbstractDomain],
    other: tuple[Vector, AbstractUnitBall, AbstractDomain],
) -> bool:
    """Return whether `one` is surely inside of `other`, which then adds nothing.

    Args:
        one: half axes, base and domain.
        other: half axes, base and domain.
    """
    (f, base, _), (g, outer, _) = one, other
    ratio = np.where(g > 0, f / np.where(g > 0, g, 1.0), 0.0)
    if isinstance(base, NormBall) and isinstance(outer, NormBall) and base.order <= outer.order:
        # the ball of the lower order is inside of that of the higher
        return bool(np.all(ratio <= 1))
    if is_slabs(base):  # its corner is the point of the greatest norm
        return bool(outer.norm_up(ratio[None])[0] <= 1 + 2.0**-40)
    if is_slabs(outer):
        return bool(np.all(base.widths() * ratio <= 1))
    return False


def _general(parts: list[AbstractDomain]) -> Intersection:
    """Return what slabs and ellipsoids share, about a point well inside."""
    bounded = [part for part in parts if not isinstance(part, Slab)]
    slabs = [part for part in parts if isinstance(part, Slab)]
    if not bounded:
        raise DomainError("intersection of slabs alone has no bounds; add a bounded part, ln.Box")
    low = np.max([part.lower for part in bounded], axis=0)
    high = np.min([part.upper for part in bounded], axis=0)
    low, high, limits = _with_limits(low, high, slabs)
    if np.any(low > high) or np.any(limits[:, 0] > limits[:, 1]):
        raise DomainError(_EMPTY.format("what one domain says is against what another says"))
    pieces: list[Piece] = []
    for part in bounded:
        if isinstance(part, Box) and np.all(low < high):
            part = Box(np.maximum(low, part.lower), np.minimum(high, part.upper))  # noqa: PLW2901
        pieces += part.pieces()
    for slab, (least, most) in zip(slabs, limits, strict=True):
        if (
            slab.lower <= least
            and most <= slab.upper
            and not (least == slab.lower or most == slab.upper)
        ):
            continue  # it cuts nothing off the ranges
        unit = slab.normal / max((most - least) / 2, 2.0**-500)
        size = float(slab.normal @ slab.normal)
        pieces.append(
            (unit[None], slab.normal * ((least + most) / 2 / size), NormBall(1, math.inf))
        )
    return _placed(pieces, (low + high) / 2)


def _with_limits(low: Vector, high: Vector, slabs: list[Slab]) -> tuple[Vector, Vector, Vector]:
    """Return the ranges that slabs leave, and the range of each slab that the ranges leave."""
    limits = np.array([(slab.lower, slab.upper) for slab in slabs]).reshape(-1, 2)
    for _ in range(_ROUNDS):
        for i, slab in enumerate(slabs):
            a = slab.normal
            least, most = np.minimum(a * low, a * high), np.maximum(a * low, a * high)
            slack = 2.0**-48 * float(np.sum(np.maximum(np.abs(least), np.abs(most))))
            limits[i, 0] = max(limits[i, 0], float(np.sum(least)) - slack)
            limits[i, 1] = min(limits[i, 1], float(np.sum(most)) + slack)
            used = a != 0
            room = np.where(used, a, 1.0)
            top = (limits[i, 1] - (np.sum(least) - least) + slack) / room
            bottom = (limits[i, 0] - (np.sum(most) - most) - slack) / room
            ends = np.where(a > 0, top, bottom), np.where(a > 0, bottom, top)
            tight = (high - low) * _TIGHT
            low = np.where(used & (ends[1] > low + tight), ends[1], low)
            high = np.where(used & (ends[0] < high - tight), ends[0], high)
    return low, high, limits


def _placed(pieces: list[Piece], start: Vector) -> Intersection:
    """Return the section about the point where the greatest norm of a part is least."""
    rows = np.vstack([g for g, _, _ in pieces])
    offsets = np.concatenate([g @ (start - c) for g, c, _ in pieces])
    base = product_ball([unit for _, _, unit in pieces])
    # in a coordinate's own unit, so that the search is well posed
    unit = 1 / np.max(np.abs(rows), axis=0)
    shape = Section(frozen(rows * unit), frozen(offsets), base)
    point, norm = middle(shape.rows, offsets, shape.slabs, shape.balls)
    if norm > 1 + LEAST_MARGIN:
        raise DomainError(_EMPTY.format("no point is in all of them"))
    if norm > 1 - LEAST_MARGIN:
        raise DomainError(
            "intersection has no interior: its domains touch, or leave a sliver; give domains that "
            "have more in common, or a flat in fewer columns"
        )
    center = start + unit * point
    about = np.concatenate([g @ (center - c) for g, c, _ in pieces])
    return checked_intersection(rows, about, base, center)
