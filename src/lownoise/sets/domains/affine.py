# SPDX-License-Identifier: Apache-2.0
"""Affine images of domains, and their coordinates alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain, Difference
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.compound import Hull, checked_hull, checked_mapped
from lownoise.sets.domains.image import Image, center_or_zero, check_size, checked_factor
from lownoise.sets.domains.joined import product
from lownoise.sets.domains.points import Points, Polytope, hull_of
from lownoise.sets.domains.product import Product, checked_product
from lownoise.sets.domains.turning import narrowed, turned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector


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
    moved = center_or_zero(shift, m, "image.shift")
    if isinstance(domain, Points):
        return Points(_applied(f, domain.points) + moved)
    if isinstance(domain, Difference) and not np.any(moved):
        return image(f, domain.base).difference()
    domain = domain.hulled()
    own = domain.as_image()
    if own is None:
        return _compound_image(f, domain, moved)
    center = frozen(_applied(f, own.center[None])[0] + moved)
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


def _compound_image(f: Vector, domain: AbstractDomain, moved: Vector) -> AbstractDomain:
    """Return the image part by part where that is what it is: of hulls, and along coordinates."""
    if isinstance(domain, Polytope):
        return hull_of(_applied(f, domain.points) + moved)
    if isinstance(domain, Hull):
        return checked_hull([image(f, part, moved).hulled() for part in domain.parts])
    if isinstance(domain, Product) and f.ndim == 1:
        own = zip(domain.parts, domain.program.blocks, strict=True)
        return checked_product([image(f[at], part, moved[at]).hulled() for part, at in own])
    listed = domain.corners() if isinstance(domain, Product) else None
    if listed is not None:
        return hull_of(_applied(f, listed) + moved)
    return checked_mapped(f, domain, moved)


def _projected(domain: AbstractDomain, kept: Integers) -> AbstractDomain:
    """Return some coordinates of a compound, of a product part by part where none is between."""
    if isinstance(domain, Product):
        blocks = domain.program.blocks
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
