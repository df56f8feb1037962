# SPDX-License-Identifier: Apache-2.0
"""How far a domain reaches in the metric of a quadratic form, from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import matrix as checked_matrix
from lownoise.numbers.arrays import vector
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import growth, up
from lownoise.sets.bodies import ImageBody
from lownoise.sets.bodies.multipliers import farthest_multipliers
from lownoise.sets.domains import AbstractDomain, Difference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector

_CLIMBS = 100
_STARTS = 16
_RISES = 1e-12


@final
@readable
@dataclass(frozen=True, eq=False)
class Farthest:
    """What is known of max ‖A(x − c)‖ over a domain: value ≤ the maximum ≤ upper.

    Made by `farthest`.

    Args:
        point: a point of the domain, shape (d,).
        value: ‖A(point − c)‖, in floats.
        upper: at least the maximum, rounded up.
    """

    point: Vector
    value: float
    upper: float


def farthest(
    domain: AbstractDomain,
    matrix: ArrayLike,
    center: ArrayLike | None = None,
) -> Farthest:
    """Return a point far from c in the metric of AᵀA, and a bound on how far any point is.

    From many starts it goes to the point that is extreme along the gradient, which never loses; the
    bound is the one that privacy rests on.

    Args:
        domain: K, d coordinates.
        matrix: A, shape (r, d): a factor of the form AᵀA, not the form itself. A symmetric
            indefinite matrix is refused: it is more likely a form than a factor.
        center: c, shape (d,); the domain's center by default.

    Raises:
        DomainError: where shapes do not match, or the domain is of a kind that has no such bound.

    Examples:
        >>> import lownoise as ln
        >>> found = ln.theory.farthest(ln.Ball(2, radius=3), [[1.0, 0.0], [0.0, 2.0]])
        >>> round(found.value, 6), found.upper / found.value < 1 + 1e-9
        (6.0, True)
    """
    if not isinstance(domain, AbstractDomain):
        raise DomainError(f"domain={type(domain).__name__} is no domain; give ln.Box(…) or such")
    a = checked_matrix(matrix, field="matrix", error=DomainError)
    d = domain.dimension
    if a.ndim != 2 or a.shape[1] != d or not len(a):  # noqa: PLR2004
        raise DomainError(f"matrix has shape {a.shape} for {d} coordinates; give one column each")
    if a.shape[0] == d and np.array_equal(a, a.T):
        least, most = np.linalg.eigvalsh(a)[[0, -1]]
        if least < -_RISES * abs(most):
            raise DomainError(
                "matrix is symmetric and indefinite, as no form of lengths is; give A with AᵀA the "
                "form: a factor of it, whose rows may have any sign and order"
            )
    c = domain.center if center is None else vector(center, field="center", error=DomainError)
    if c.size != d:
        raise DomainError(f"center has {c.size} coordinates for {d}; give one each")
    upper = _upper(domain, a, c)
    point = _climbed(domain, a, c)
    value = float(np.linalg.norm(a @ (point - c)))
    return Farthest(point, min(value, upper), upper)


def _upper(domain: AbstractDomain, a: Vector, c: Vector) -> float:
    """Return at least max ‖a·(x − c)‖ over the domain."""
    every, ones = np.arange(c.size), np.ones(c.size)
    if isinstance(domain, Difference):
        moved = float(np.linalg.norm(np.abs(a) @ np.abs(c))) if np.any(c) else 0.0
        return up(_difference_up(domain, a) + up(moved))
    # a box about another point than its center would be taken for a wider one
    body = (domain.as_image() or domain).lifted(every, ones, c)
    seen = np.hstack([a, np.zeros((len(a), 1))])
    if isinstance(body, ImageBody):
        image = seen @ body.dense
        body = (
            body.with_multipliers(farthest_multipliers(image, body.base)) if np.any(image) else body
        )
    return body.length_up(seen, np.zeros(c.size + 1))


def _difference_up(domain: Difference, a: Vector) -> float:
    """Return at least max ‖a·(x − y)‖ over two records, whose coordinates may be copies."""
    chosen = domain.base.exact_coordinates()
    lost = 0.0
    if chosen.embed is not None:
        sizes = np.abs(a) @ (np.abs(chosen.embed) @ domain.extent[chosen.pivots])
        lost = up(growth(len(chosen.embed) + 9) * float(np.linalg.norm(sizes)))
        a = a @ chosen.embed
    body = domain.base.differences(chosen.pivots, np.ones(chosen.pivots.size))
    return up(body.length_up(a, np.zeros(body.dimension)) + lost)


def _climbed(domain: AbstractDomain, a: Vector, c: Vector) -> Vector:
    axes = np.linalg.svd(a, full_matrices=False)[2][:_STARTS]
    random = np.random.default_rng(0).standard_normal((_STARTS, len(a))) @ a  # starts only
    x = domain.extreme(np.vstack([axes, -axes, random]))
    size = np.linalg.norm((x - c) @ a.T, axis=1)
    for _ in range(_CLIMBS):
        higher = domain.extreme((x - c) @ a.T @ a)
        lengths = np.linalg.norm((higher - c) @ a.T, axis=1)
        if not np.any(lengths > size * (1 + _RISES)):
            break
        x = np.where((lengths > size)[:, None], higher, x)
        size = np.maximum(size, lengths)
    return np.asarray(x[np.argmax(size)])
