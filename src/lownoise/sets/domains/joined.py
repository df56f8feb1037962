# SPDX-License-Identifier: Apache-2.0
"""Domains made of several: products, Minkowski sums, Kronecker products and hulls of unions.

Each holds the hull of what it combines, so that a record inside stays where it is: of a list
(`ln.Points`), and of tensors, the hull.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain
from lownoise.sets.domains.balls import MOST_COORDINATES
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.compound import checked_hull, checked_mapped
from lownoise.sets.domains.image import Image, check_size
from lownoise.sets.domains.points import hull_of
from lownoise.sets.domains.product import checked_product
from lownoise.sets.unit_balls import KroneckerBall, mixed_ball, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
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
    if len(parts) == 1:
        return parts[0]
    boxes = [part for part in parts if isinstance(part, Box)]
    if len(boxes) == len(parts):
        low, high = ([getattr(b, side) for b in boxes] for side in ("lower", "upper"))
        return Box(np.concatenate(low), np.concatenate(high))
    images = _images(parts)
    if images is None:
        return checked_product(parts)
    total = sum(part.dimension for part in parts)
    base = product_ball([own.base for own in images])
    center = frozen(np.concatenate([own.center for own in images]))
    if all(own.diagonal for own in images):
        return Image(frozen(np.concatenate([own.factor for own in images])), base, center)
    _check_numbers(total * base.dimension, "product")
    return Image(_blocks(images, total, base.dimension), base, center)


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
    if len(parts) == 1:
        return parts[0]
    boxes = [part for part in parts if isinstance(part, Box)]
    if len(boxes) == len(parts):
        low, high = ([getattr(b, side) for b in boxes] for side in ("lower", "upper"))
        return Box(np.sum(low, axis=0), np.sum(high, axis=0))
    images = _images(parts)
    if images is None:
        listed = _sums(parts)
        if listed is not None:
            return listed
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
    lists = [part.corners() for part in parts]
    found = [each for each in lists if each is not None]
    if len(found) == len(parts):
        return hull_of(np.vstack(found))
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
    left, right = first.corners(), second.corners()
    if left is None or right is None or len(left) * len(right) > _MOST_POINTS:
        raise DomainError(
            "kronecker of these domains has no known form; give balls about zero, not of matrices, "
            "or few points",
        )
    rows = np.einsum("ni,mj->nmij", left, right).reshape(-1, size)
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


def _images(parts: list[AbstractDomain]) -> list[Image] | None:
    found = [part.as_image() for part in parts]
    images = [own for own in found if own is not None]
    return images if len(images) == len(parts) else None


def _check_numbers(count: int, name: str) -> None:
    if count > _MOST_NUMBERS:
        raise DomainError(f"{name} needs a matrix of {count} numbers; combine fewer coordinates")


def _blocks(images: list[Image], rows: int, columns: int) -> Vector:
    factor = np.zeros((rows, columns))
    i = j = 0
    for own in images:
        d, k = own.dimension, own.base.dimension
        factor[i : i + d, j : j + k] = own.dense
        i, j = i + d, j + k
    return frozen(factor)


def _side_by_side(images: list[Image], base: AbstractUnitBall, center: Vector, name: str) -> Image:
    _check_numbers(images[0].dimension * base.dimension, name)
    check_size(center, f"{name}.center")
    return Image(frozen(np.hstack([own.dense for own in images])), base, frozen(center))


def _sums(parts: list[AbstractDomain]) -> AbstractDomain | None:
    """Return the hull of all sums of the parts' corners; None where they are too many."""
    lists = [part.corners() for part in parts]
    found = [each for each in lists if each is not None]
    if len(found) < len(parts) or np.prod([float(len(own)) for own in found]) > _MOST_POINTS:
        return None
    every = found[0]
    for own in found[1:]:
        every = np.repeat(every, len(own), axis=0) + np.tile(own, (len(every), 1))
    return hull_of(every)
