# SPDX-License-Identifier: Apache-2.0
"""Domains made of others: products, sums, Kronecker products, hulls of unions, affine images.

Each holds the hull of what it combines, so that a record inside stays where it is: of a list
(`ln.Points`), and of tensors, the hull.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain, Difference
from lownoise.sets.domains.balls import MOST_COORDINATES
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.compound import (
    Hull,
    Product,
    checked_hull,
    checked_mapped,
    checked_product,
    corners_of,
)
from lownoise.sets.domains.image import Image, center_or_zero, check_size, checked_factor
from lownoise.sets.domains.nearest import narrowed, turned
from lownoise.sets.domains.points import Points, Polytope, hull_of
from lownoise.sets.unit_balls import KroneckerBall, mixed_ball, product_ball

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_MOST_POINTS = 2**18
_MOST_NUMBERS = 2**27  # of a factor: a gigabyte


@DOMAINS.constructor
def product(*domains: AbstractDomain) -> AbstractDomain:
    """Return all (x, y, …) with x in the first domain, y in the second and so on.

    Of a list each x is a mixture of its points, as in all combinations: the set is convex.
    Γ_p(K × L) = (Γ_p(K)^t + Γ_p(L)^t)^{1/t} with t = 2p/(p + 2), 2 at p = ∞ (002, Lemma 60).

    Args:
        domains: one or more, of any kinds but tensors of a ball, slabs and difference bodies.

    Raises:
        DomainError: where there is none, or one is of a kind that does not combine.

    Examples:
        >>> import lownoise as ln
        >>> records = ln.product(ln.Box([0], [120]), ln.Ball(2, radius=3))
        >>> records.support(np.array([1.0, 0.0, -1.0])).__round__(9)
        123.0
    """
    parts = _checked(domains, "product")
    simple = _simple(parts, np.concatenate)
    if simple is not None:
        return simple
    images = _images(parts)
    if images is None:
        return checked_product(parts)
    total = sum(part.dimension for part in parts)
    base = product_ball([own.base for own in images])
    center = frozen(np.concatenate([own.center for own in images]))
    if all(own.diagonal for own in images):
        return Image(frozen(np.concatenate([own.factor for own in images])), base, center)
    from scipy.linalg import block_diag

    _check_numbers(total * base.dimension, "product")
    return Image(frozen(block_diag(*(own.dense for own in images))), base, center)


@DOMAINS.constructor
def minkowski_sum(*domains: AbstractDomain) -> AbstractDomain:
    """Return all x + y + …, x from the first domain, y from the second and so on.

    Γ_p(K + L) ≤ Γ_p(K) + Γ_p(L) (002, Theorem 20).

    Args:
        domains: one or more of like dimension, of any kinds but tensors of a ball, slabs and
            difference bodies.

    Raises:
        DomainError: where there is none, dimensions differ, or one is of a kind that does not
            combine.

    Examples:
        >>> import lownoise as ln
        >>> rounded = ln.minkowski_sum(ln.Box([-1, -1], [1, 1]), ln.Ball(2))
        >>> rounded.support(np.array([3.0, 4.0])).__round__(9)
        12.0
    """
    parts = _checked(domains, "minkowski_sum", alike=True)
    simple = _simple(parts, lambda bounds: np.sum(bounds, axis=0))
    if simple is not None:
        return simple
    images = _images(parts)
    if images is None:
        points = _sums(parts)
        if points is not None:
            return points
        d = parts[0].dimension
        return checked_mapped(np.tile(np.eye(d), len(parts)), checked_product(parts), np.zeros(d))
    base = product_ball([own.base for own in images])
    center = np.sum([own.center for own in images], axis=0)
    return _side_by_side(images, base, center, "minkowski_sum")


@DOMAINS.constructor
def hull(*domains: AbstractDomain) -> AbstractDomain:
    """Return the convex hull of the union; of one list, `ln.hull(ln.Points(…))`, its mixtures.

    Args:
        domains: one or more of like dimension, of any kinds but tensors of a ball, slabs and
            difference bodies.

    Raises:
        DomainError: where there is none, dimensions differ, or one is of a kind that does not
            combine.

    Examples:
        >>> import lownoise as ln
        >>> spindle = ln.hull(ln.Ball(2), ln.Ellipsoid([3.0, 0.5]))
        >>> spindle.support(np.array([1.0, 0.0])).__round__(9)
        3.0
        >>> rates = ln.hull(ln.Points(np.eye(3)))  # three rates that add up to one
        >>> rates.contains(np.array([0.2, 0.5, 0.3])), rates.clamp(np.full(3, 0.4)).round(6)
        (True, array([0.333333, 0.333333, 0.333333]))
    """
    parts = _checked(domains, "hull", alike=True)
    listed = corners_of(parts)
    if listed is not None:
        return hull_of(np.vstack(listed))
    images = _images(parts)
    if images is None or any(np.any(own.center != images[0].center) for own in images):
        return checked_hull(parts)
    # {x₁ + … : Σ‖x_k‖ ≤ 1} is the hull of bodies about one center
    base = mixed_ball([own.base for own in images], 1.0)
    return _side_by_side(images, base, images[0].center, "hull")


@DOMAINS.constructor
def kronecker(first: AbstractDomain, second: AbstractDomain) -> AbstractDomain:
    """Return the hull of all x ⊗ y, x in the first domain and y in the second.

    Number i·d₂ + j is xᵢyⱼ.
    Γ_p is multiplied where both are symmetric about zero (002, Lemma 62).

    Args:
        first: in d₁ coordinates.
        second: in d₂ coordinates.

    Raises:
        DomainError: where one has many corners and is not symmetric about zero, or is a ball of
            matrices or a Kronecker product itself.

    Examples:
        >>> import lownoise as ln
        >>> pairs = ln.kronecker(ln.Ball(2), ln.Ball(3, radius=2))
        >>> pairs.dimension, pairs.clamp(np.array([0.0, 0, 4, 0, 0, 0])).round(9).tolist()
        (6, [0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    """
    parts = _checked((first, second), "kronecker")
    size = first.dimension * second.dimension
    if size > MOST_COORDINATES:
        raise DomainError(f"kronecker makes {size:,} coordinates; give at most 2^24")
    images = _images(parts)
    if images is not None and not any(
        np.any(own.center) or not own.base.unconditional for own in images
    ):
        one, two = images
        base = KroneckerBall(one.base, two.base)
        if not (one.diagonal and two.diagonal):
            _check_numbers(size * base.dimension, "kronecker")
        flat = np.multiply.outer(one.factor, two.factor).ravel()
        whole = flat if one.diagonal and two.diagonal else np.kron(one.dense, two.dense)
        factor = np.asarray(whole, dtype=np.float64)
        check_size(factor, "kronecker.factor")
        return Image(frozen(factor), base, frozen(np.zeros(size)))
    listed = corners_of([first, second], _MOST_POINTS)
    if listed is None:
        raise DomainError(
            "kronecker of these domains has no known form; give balls about zero, not of matrices, "
            "or few points",
        )
    rows = np.einsum("ni,mj->nmij", *listed).reshape(-1, size)
    return hull_of(rows)


def _checked(
    domains: tuple[AbstractDomain, ...], name: str, *, alike: bool = False
) -> list[AbstractDomain]:
    if not domains:
        raise DomainError(f"{name} was given no domain; give at least one")
    for i, domain in enumerate(domains):
        if not isinstance(domain, AbstractDomain):
            raise DomainError(
                f"{name}[{i}]={type(domain).__name__} is no domain; give ln.Box(…) or such"
            )
        if alike and domain.dimension != domains[0].dimension:
            raise DomainError(
                f"{name}[{i}] has {domain.dimension} coordinates and the first has "
                f"{domains[0].dimension}; give domains of like dimension",
            )
    return [domain.hulled() for domain in domains]


def _simple(
    parts: list[AbstractDomain], combined: Callable[[list[Vector]], Vector]
) -> AbstractDomain | None:
    """Return the only part, or the box of combined bounds; None where a part is no box."""
    if len(parts) == 1:
        return parts[0]
    boxes = [part for part in parts if isinstance(part, Box)]
    if len(boxes) < len(parts):
        return None
    return Box(combined([box.lower for box in boxes]), combined([box.upper for box in boxes]))


def _images(parts: list[AbstractDomain]) -> list[Image] | None:
    found = [part.as_image() for part in parts]
    images = [own for own in found if own is not None]
    return images if len(images) == len(parts) else None


def _check_numbers(count: int, name: str) -> None:
    if count > _MOST_NUMBERS:
        raise DomainError(f"{name} needs a matrix of {count} numbers; combine fewer coordinates")


def _side_by_side(images: list[Image], base: AbstractUnitBall, center: Vector, name: str) -> Image:
    _check_numbers(images[0].dimension * base.dimension, name)
    check_size(center, f"{name}.center")
    return Image(frozen(np.hstack([own.dense for own in images])), base, frozen(center))


def _sums(parts: list[AbstractDomain]) -> AbstractDomain | None:
    """Return the hull of all sums of the parts' corners; None where they are too many."""
    found = corners_of(parts, _MOST_POINTS)
    if found is None:
        return None
    every = found[0]
    for own in found[1:]:
        every = np.repeat(every, len(own), axis=0) + np.tile(own, (len(every), 1))
    return hull_of(every)


@DOMAINS.constructor
def image(
    factor: ArrayLike,
    domain: AbstractDomain,
    shift: ArrayLike | None = None,
) -> AbstractDomain:
    """Return {shift + F·x : x in the domain}; F may be rectangular or of any rank.

    The image of a list (`ln.Points`) is a list: a record becomes the nearest of the points' images.

    Args:
        factor: F, shape (m, d); or shape (d,), its diagonal, which never becomes a d × d matrix.
        domain: a domain in d coordinates.
        shift: shape (m,); zero by default.

    Raises:
        DomainError: where shapes do not match, a number is not finite or too large, or the domain
            is of a kind that does not combine.

    Examples:
        >>> import lownoise as ln
        >>> total = ln.image([[1.0, 1.0, 1.0]], ln.Ball(3))
        >>> round(total.support(np.array([1.0])), 9)  # √3
        1.732050808
    """
    f = checked_factor(factor, "image.factor")
    d = _dimension(domain, "image.domain")
    if f.shape[-1] != d:
        raise DomainError(
            f"image.factor has shape {f.shape} for a domain of {d} coordinates; "
            "give one column each",
        )
    m = f.shape[0]
    offset = center_or_zero(shift, m, "image.shift")
    if isinstance(domain, Points):
        return Points(_applied(f, domain.points) + offset)
    if isinstance(domain, Difference) and not np.any(offset):
        return image(f, domain.base).difference()
    domain = domain.hulled()
    own = domain.as_image()
    if own is None:
        return _compound_image(f, domain, offset)
    center = frozen(_applied(f, own.center[None])[0] + offset)
    if f.ndim == 1:
        product = own.factor * (f if own.diagonal else f[:, None])
    else:
        product = f * own.factor if own.diagonal else f @ own.factor
    check_size(product, "image.factor × domain")
    check_size(center, "image.factor × center")
    narrow, base = narrowed(own.base, turned(own.base, product))
    return Image(frozen(narrow), base, center)


@DOMAINS.constructor
def projection(  # noqa: PLR0911 (one a kind of domain)
    domain: AbstractDomain, coordinates: Sequence[int]
) -> AbstractDomain:
    """Return what the domain's points show in those coordinates alone.

    Γ_p never grows (002, Lemma 63).

    Args:
        domain: in d coordinates.
        coordinates: different ones, from 0; their order is the order of the new coordinates.

    Raises:
        DomainError: where a coordinate is not there or comes twice, or the domain is of a kind
            that does not combine.

    Examples:
        >>> import lownoise as ln
        >>> ln.projection(ln.Box([0, 1, 2], [3, 4, 5]), [2, 0]).upper
        array([5., 3.])
    """
    d = _dimension(domain, "projection.domain")
    kept = _checked_coordinates(coordinates, d)
    if isinstance(domain, Box):
        return Box(domain.lower[kept], domain.upper[kept])
    if isinstance(domain, Points):
        return Points(domain.points[:, kept])
    if isinstance(domain, Difference):
        return projection(domain.base, coordinates).difference()
    domain = domain.hulled()
    if isinstance(domain, Polytope):
        return hull_of(domain.points[:, kept])
    own = domain.as_image()
    if own is None:
        return _projected(domain, kept)
    center = frozen(own.center[kept])
    restricted = own.base.restricted(kept) if own.diagonal and np.all(np.diff(kept) > 0) else None
    if restricted is not None:
        return Image(frozen(own.factor[kept]), restricted, center)
    return Image(frozen(own.dense[kept]), own.base, center)


def _compound_image(f: Vector, domain: AbstractDomain, offset: Vector) -> AbstractDomain:
    """Return the image part by part where that is what it is: of hulls, and along coordinates."""
    if isinstance(domain, Polytope):
        return hull_of(_applied(f, domain.points) + offset)
    if isinstance(domain, Hull):
        return checked_hull([image(f, part, offset).hulled() for part in domain.parts])
    if isinstance(domain, Product) and f.ndim == 1:
        own = zip(domain.parts, domain.blocks, strict=True)
        return checked_product([image(f[at], part, offset[at]).hulled() for part, at in own])
    listed = domain.corners() if isinstance(domain, Product) else None
    if listed is not None:
        return hull_of(_applied(f, listed) + offset)
    return checked_mapped(f, domain, offset)


def _projected(domain: AbstractDomain, kept: Integers) -> AbstractDomain:
    """Return some coordinates of a compound, of a product part by part where none is between."""
    if isinstance(domain, Product):
        blocks = domain.blocks
        whose = np.searchsorted([at.stop for at in blocks], kept, side="right")
        first = np.flatnonzero(np.append(True, np.diff(whose) != 0))
        runs = np.split(kept, first[1:])
        if np.unique(whose[first]).size == first.size:
            own = [
                projection(domain.parts[i], (run - blocks[i].start).tolist())
                for i, run in zip(whose[first], runs, strict=True)
            ]
            return product(*own)
    return _compound_image(np.eye(domain.dimension)[kept], domain, np.zeros(len(kept)))


def _applied(f: Vector, rows: Vector) -> Vector:
    return np.asarray(rows * f if f.ndim == 1 else rows @ f.T)


def _dimension(domain: object, field: str) -> int:
    if not isinstance(domain, AbstractDomain):
        raise DomainError(f"{field}={type(domain).__name__} is no domain; give ln.Box(…) or such")
    return domain.dimension


def _checked_coordinates(coordinates: Sequence[int], dimension: int) -> Integers:
    try:
        found = np.asarray(coordinates)
    except ValueError:
        found = np.zeros(0)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise DomainError("projection.coordinates is no list of whole numbers; give such as [0, 2]")
    if np.any((found < 0) | (found >= dimension)):
        raise DomainError(
            f"projection.coordinates names one outside 0 to {dimension - 1}; give those there are",
        )
    if np.unique(found).size < found.size:
        raise DomainError("projection.coordinates names one twice; give each once")
    return found.astype(np.int64)
