# SPDX-License-Identifier: Apache-2.0
"""The boundary of a symmetric hull as simplices, without error: beneath and beyond (placing).

The hull of ±p₁, …, ±pₙ grows a pair of points at a time. It begins with the 2^d facets of
d independent pairs. A point p outside sees the simplices whose plane ⟨a, x⟩ = 1 has ⟨a, p⟩ > 1,
strictly. What it sees is taken away, and p is joined to each ridge that one simplex it sees shares
with one it does not.

Claim: after every step the simplices form a complex whose union is the boundary of the hull, none
is flat with 0, and each ridge belongs to exactly two. Then the cones from 0 over them tile the
hull, and a simplex's share of the volume is its share of the determinants.

By induction. Coplanar simplices are seen together: p sees whole facets, which make up a ball. Its
boundary, the rim, is a sphere of those ridges that belong to one seen simplex and not to two; each
of their faces belongs to two of them, and so does each ridge of the new simplices, rim ones to a
new and an unseen one. Every point of the new boundary is unseen, or on a segment from p to the rim.
A rim ridge r₁, …, r_{d−1} and p are independent: were p = Σ λᵢrᵢ, the planes of both its simplices
would give p the height Σ λᵢ, over 1 for the seen and not over 1 for the unseen. A point that sees
nothing is in the hull. What −p sees is opposite to what p sees; no simplex is seen by both, and
none that p added is seen by −p. So one simplex of each opposite pair is enough.

Every sign is decided by floats with a bound on their error; within it, by integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from flint import fmpq, fmpz_mat

from lownoise.errors import PlanError
from lownoise.numbers.rounding import CROSS, grown, growth
from lownoise.samplers.uniform.abstract import Dyadic, dyadic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Chosen, Integers, Vector

Plane: TypeAlias = tuple[Any, ...]  # of rational numbers (flint carries no types)

_UNASKED = -1
MOST_SIMPLICES = 100_000  # of which no two are opposite


@final
@dataclass(frozen=True, eq=False)
class Star:
    """A tiling of a symmetric hull by simplices with a corner at 0, one of each opposite pair.

    Args:
        points: the distinct points p, one of each opposite pair, shape (n, d).
        exact: the same as integers.
        simplices: their other corners: k for pₖ₋₁, −k for −pₖ₋₁, shape (F, d).
    """

    points: Vector
    exact: Dyadic
    simplices: Integers

    def corners(self) -> Vector:
        """Return the corners, shape (F, d, d)."""
        signs = np.sign(self.simplices)
        return np.asarray(signs[:, :, None] * self.points[np.abs(self.simplices) - 1])

    def weights(self) -> list[int]:
        """Return the |determinant| of each simplex in the units of `exact`."""
        rows = np.sort(np.abs(self.simplices) - 1, axis=1)
        distinct, own = np.unique(rows, axis=0, return_inverse=True)  # signs change nothing
        found = [abs(int(self.exact.square(row).det())) for row in distinct.tolist()]
        return [found[k] for k in own.ravel().tolist()]

    def normals(self, units: Sequence[int]) -> Vector:
        """Return the distinct a with the hull in |⟨a, y⟩| ≤ 1, one of each opposite pair.

        Args:
            units: yⱼ = xⱼ·2^−unitⱼ, d of them.

        Returns:
            Shape (G, d); each number is the float nearest to the exact one.
        """
        shifts = [u - e for u, e in zip(units, self.exact.exponents, strict=True)]
        floats = np.array(
            [
                [_quotient(int(x.p), int(x.q), s) for x, s in zip(plane, shifts, strict=True)]
                for plane in (_plane(self.exact, own) for own in self.simplices.tolist())
            ]
        )
        first = np.take_along_axis(floats, np.argmax(floats != 0, axis=1)[:, None], axis=1)
        return np.asarray(np.unique(floats * np.sign(first) + 0.0, axis=0))


def star(points: Vector) -> Star:
    """Return the tiling of the hull of ±points.

    Args:
        points: shape (N, d), finite.

    Raises:
        PlanError: where the points are not of rank d, or the hull has too many simplices.

    Examples:
        >>> square = star(np.array([[1.0, 1.0], [1.0, -1.0], [0.5, 1.0], [-1.0, -1.0]]))
        >>> square.points
        array([[ 1. ,  1. ],
               [ 1. , -1. ],
               [ 0.5,  1. ]])
        >>> sum(square.weights()), np.abs(square.normals([0, 0])).sum(axis=0)
        (8, array([1., 1.]))
    """
    kept = _distinct(points)
    d = kept.shape[1]
    if 2 ** (d - 1) > MOST_SIMPLICES:
        raise PlanError(_too_many(d))
    exact = dyadic(kept)
    order = _farthest_first(kept)
    first = _independent(exact, order)
    if len(first) < d:
        raise PlanError(f"UniformHull.points have rank {len(first)}, below {d}; use their span")
    growing = _Growing(kept, exact, first)
    for i in order:
        if i not in first:
            growing.place(i)
    return Star(kept, exact, growing.simplices())


def units_of(points: Vector) -> Integers:
    """Return exponents of two that bring each column within [−1, 1], shape (d,)."""
    return np.asarray(np.frexp(np.max(np.abs(points), axis=0))[1], np.int64)


@final
class _Growing:
    """Simplices with their planes, in floats with bounds, and as integers where that was asked."""

    def __init__(self, points: Vector, exact: Dyadic, first: list[int]) -> None:
        d = len(first)
        self._points = np.ldexp(points, -units_of(points))  # exact, but for what vanishes beside 1
        self._exact = exact
        signs = 1 - 2 * (np.arange(2 ** (d - 1))[:, None] >> np.arange(d) & 1)
        self._rows: Integers = signs * (np.array(first) + 1)
        self._count = len(signs)
        self._normals, self._errors = self._planes(self._rows)
        self._known = np.full(self._count, _UNASKED)  # which of the exact planes
        self._numbers: dict[tuple[tuple[int, int], ...], int] = {}
        self._exact_planes: list[Plane] = []

    def simplices(self) -> Integers:
        """Return the simplices, one of each opposite pair."""
        return self._rows[: self._count].copy()

    def place(self, index: int) -> None:
        """Let the hull grow by a pair of points."""
        side = self._side(index)
        seen = np.flatnonzero(side)
        if not seen.size:
            return
        rim = _rim(self._rows[seen] * side[seen, None])
        added = np.column_stack([rim, np.full(len(rim), index + 1)])
        count = self._count - seen.size + len(added)
        if count > MOST_SIMPLICES:
            raise PlanError(_too_many(self._points.shape[1]))
        # new simplices take the places of those seen; then the last ones, or new places, the rest
        more = np.arange(self._count, count)
        places = np.concatenate([seen[: len(added)], more])
        while count > len(self._rows):
            self._double()
        self._rows[places] = added
        self._normals[places], self._errors[places] = self._planes(added)
        self._known[places] = _UNASKED
        empty = seen[len(added) :]
        if empty.size:
            last = np.setdiff1d(np.arange(count, self._count), empty)
            empty = empty[empty < count]
            for values in (self._rows, self._normals, self._errors, self._known):
                values[empty] = values[last]
        self._count = count

    def _double(self) -> None:
        self._rows = np.concatenate([self._rows, self._rows])
        self._normals = np.concatenate([self._normals, self._normals])
        self._errors = np.concatenate([self._errors, self._errors])
        self._known = np.concatenate([self._known, self._known])

    def _side(self, index: int) -> Integers:
        """Return 1 where p sees the simplex, −1 where −p does, else 0."""
        extent = self._normals[: self._count] @ self._points[index]
        size = np.abs(extent)
        side = np.where(size > 1, np.sign(extent), 0.0).astype(np.int64)
        doubtful = np.flatnonzero(~(np.abs(size - 1) > self._errors[: self._count]))
        if doubtful.size:
            p = self._exact.rows[index]
            asked, own = np.unique(self._planes_of(doubtful), return_inverse=True)
            answers = []
            for number in asked.tolist():
                plane = self._exact_planes[number]
                height = sum((a * x for a, x in zip(plane, p, strict=True)), fmpq(0))
                answers.append((height > 1) - (height < -1))
            side[doubtful] = np.array(answers)[own]
        return side

    def _planes_of(self, which: Integers) -> Integers:
        """Return the numbers of their exact planes, equal planes the same."""
        for k in which[self._known[which] == _UNASKED].tolist():
            plane = _plane(self._exact, self._rows[k].tolist())
            key = tuple((int(x.p), int(x.q)) for x in plane)
            number = self._numbers.setdefault(key, len(self._exact_planes))
            if number == len(self._exact_planes):
                self._exact_planes.append(plane)
            self._known[k] = number
        return self._known[which]

    def _planes(self, simplices: Integers) -> tuple[Vector, Vector]:
        """Return a with ⟨a, v⟩ = 1 on the corners v, and how far off ⟨a, p⟩ can be for |p| ≤ 1.

        With X ≈ V⁻¹, a' = X·1, ρ = 1 − Va' and ‖I − XV‖₁ ≤ e < 1: V⁻¹ρ = (XV)⁻¹Xρ, so that
        ‖V⁻¹1 − a'‖₁ ≤ ‖Xρ‖₁/(1 − e).
        """
        d = simplices.shape[1]
        V = np.sign(simplices)[:, :, None] * self._points[np.abs(simplices) - 1]
        try:
            X = np.linalg.inv(V)
        except np.linalg.LinAlgError:
            return np.ones((len(V), d)), np.full(len(V), math.inf)
        lost = growth(d + 3)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            a = X.sum(axis=2)
            size = np.abs(a)
            residual = np.abs(1 - np.einsum("fij,fj->fi", V, a))
            residual += lost * (1 + np.einsum("fij,fj->fi", np.abs(V), size)) + 2.0**-900
            unit = np.abs(np.eye(d) - X @ V) + lost * (np.eye(d) + np.abs(X) @ np.abs(V))
            e = grown(np.max(unit.sum(axis=1), axis=1), CROSS)
            off = np.einsum("fij,fj->f", np.abs(X), residual) / (1 - e)
            errors = grown(off + (lost + 2.0**-900) * size.sum(axis=1), CROSS) + lost
            errors[~(e < 0.5) | ~np.isfinite(errors)] = math.inf  # noqa: PLR2004
            a[~np.isfinite(a)] = 1.0
        return a, errors


def _rim(visible: Integers) -> Integers:
    """Return the ridges that belong to one of the simplices alone, shape (k, d − 1)."""
    d = visible.shape[1]
    ridges = np.concatenate([np.delete(visible, i, axis=1) for i in range(d)])
    ridges.sort(axis=1)
    ridges = ridges[np.lexsort(ridges.T)]
    new = np.ones(len(ridges) + 1, dtype=bool)
    new[1:-1] = np.any(ridges[1:] != ridges[:-1], axis=1)
    alone: Chosen = new[1:] & new[:-1]
    return np.asarray(ridges[alone])


def _plane(exact: Dyadic, simplex: list[int]) -> Plane:
    """Return the rational a with ⟨a, v⟩ = 1 on the corners v, in the units of `exact`."""
    rows = [exact.rows[abs(k) - 1] for k in simplex]
    signs = [1 if k > 0 else -1 for k in simplex]
    return tuple(fmpz_mat(rows).solve(fmpz_mat(len(rows), 1, signs)).entries())


def _quotient(above: int, below: int, shift: int) -> float:
    """Return the float nearest to above/below·2^shift; infinite beyond all floats."""
    try:
        return (above << max(shift, 0)) / (below << max(-shift, 0))
    except OverflowError:
        return math.copysign(math.inf, above)


def _distinct(points: Vector) -> Vector:
    """Return the points without zeros and repeats, counting opposite ones as the same."""
    used = points[np.any(points != 0, axis=1)] + 0.0
    if not len(used):
        return used
    first = np.take_along_axis(used, np.argmax(used != 0, axis=1)[:, None], axis=1)
    _, kept = np.unique(used * np.sign(first) + 0.0, axis=0, return_index=True)
    return np.asarray(used[np.sort(kept)])


def _farthest_first(points: Vector) -> list[int]:
    """Return an order in which few points see anything: the farthest first, seen round."""
    unit = points / np.max(np.abs(points), axis=0, initial=0.0, where=points != 0)
    _, values, axes = np.linalg.svd(unit, full_matrices=False)
    length = np.linalg.norm(unit @ axes.T / np.maximum(values, values[0] * 1e-9), axis=1)
    order: list[int] = np.argsort(-length, kind="stable").tolist()
    return order


def _independent(exact: Dyadic, order: list[int]) -> list[int]:
    """Return the points that do not depend on those before them in the order."""
    reduced, _, rank = fmpz_mat([exact.rows[i] for i in order]).transpose().rref()
    rows = reduced.table()[:rank]
    return [order[next(j for j, x in enumerate(row) if x != 0)] for row in rows]


def _too_many(d: int) -> str:
    return (
        f"the hull of these points in {d} dimensions has over {2 * MOST_SIMPLICES} simplices;"
        " give fewer points or dimensions, or use a body around them"
    )
