# SPDX-License-Identifier: Apache-2.0
"""The search behind `enclose_convex`: members of a convex set of variances, and tangents, by turns.

The best mean of the members so far against the tangents so far is a linear program (simplicial
decomposition; von Hohenbalken 1977); its prices say at which slopes the next ellipsoid is asked
for. Where an error has edges the prices jump, so a part of the best slopes so far stays, and from
time to time the proved side is raised by its own slope. No bound rests on what is found so.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arguments import checked_number, checked_queries
from lownoise.numbers.arrays import frozen, vector
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import FEW, SLACK, grown, lowered, shrunk
from lownoise.sets.domains import AbstractDomain
from lownoise.theory.enclosure import enclose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector

    Tangent = tuple[Vector, float, float]  # slopes, offset, size of what was rounded

_FLOOR = 1e-9  # of a slope, beside the one that matters most: an ellipsoid covers all answers
_CURVED = 1e-9  # how far below a tangent rounding may put a convex function
_TOUCHING = 0.5  # of the error: tangents that may touch at the best
_CLIMBED, _CLIMBS = 60, 20  # tangents, and steps over their means
_VAIN = 5  # enclosures in a row that prove no more, before such a climb
_ASIDE = 500  # answers whose variance is tried twice as large
_TURNS = 60  # of the linear program, between two enclosures
_KEPT, _MORE = 0.9, 0.3  # how much of the best slopes so far stays in the next ones


class VarianceError(Protocol):
    """What an error says at variances v, shape (m,): its value, and a slope there, shape (m,)."""

    def __call__(self, variances: Vector, /) -> tuple[float, ArrayLike]:
        """Return f(v) and a slope at v."""


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class ConvexEnclosure:
    """An ellipsoid around a domain with nearly the least error; made by `enclose_convex`.

    Args:
        matrix: M of the ellipsoid center + √M·B₂, shape (d, d).
        center: shape (d,).
        variances: at least scale·diag(LMLᵀ), shape (m,).
        lower: no ellipsoid around a translate of the domain has less error.
        upper: the error of this one.
        iterations: how many enclosures at p = 2 were made.
        status: how the search ended.
    """

    matrix: Vector
    center: Vector
    variances: Vector
    lower: float
    upper: float
    iterations: int
    status: str

    @property
    def gap(self) -> float:
        """(upper − lower)/|upper|."""
        return (self.upper - self.lower) / abs(self.upper) if self.upper != self.lower else 0.0


class Members:
    """Least ellipsoids at p = 2, by slopes."""

    def __init__(self, domain: AbstractDomain, workload: ArrayLike | None) -> None:
        if not isinstance(domain, AbstractDomain):
            raise DomainError(
                f"domain={type(domain).__name__} is no domain; give ln.Box(…) or such"
            )
        self.domain, d = domain, domain.dimension
        self.queries = np.eye(d) if workload is None else checked_queries(workload, d)
        self.plain = workload is None
        widths = np.array([domain.width(row) for row in self.queries])
        top = float(np.max(widths))
        self.moving = widths > top * _FLOOR
        self.start = 1 / np.square(np.where(self.moving, widths / top, 1.0)) if top else None

    def member(self, slopes: Vector) -> tuple[Vector, Vector, float]:
        """Return M and the center of an ellipsoid, and at most the least slopes·v."""
        found = enclose(
            self.domain,
            weights=np.sqrt(slopes),
            workload=None if self.plain else self.queries,
        )
        return found.shape.dense(), found.center, _squared_down(found.certificate.lower)

    def least(self, slopes: Vector) -> float:
        """Return at most the least slopes·v, where some slopes are 0."""
        used = slopes > 0
        if not np.any(used):
            return 0.0
        rows = self.queries[used]
        found = enclose(self.domain, weights=np.sqrt(slopes[used]), workload=rows)
        return _squared_down(found.certificate.lower)

    def variances(self, matrix: Vector) -> Vector:
        """Return diag(LMLᵀ), shape (m,)."""
        if self.plain:
            return np.asarray(np.maximum(np.diag(matrix), 0.0))
        found = np.einsum("md,de,me->m", self.queries, matrix, self.queries)
        return np.asarray(np.maximum(found, 0.0))


def _squared_down(gamma: float) -> float:
    return shrunk(gamma * gamma)


def _mean(weights: Sequence[float], tangents: Sequence[Tangent]) -> Tangent:
    """Return a mean of tangents, which no convex function is below either."""
    slopes, offsets, sizes = zip(*tangents, strict=True)
    return (
        np.asarray(np.array(weights) @ np.array(slopes)),
        math.fsum(w * b for w, b in zip(weights, offsets, strict=True)),
        max(sizes),
    )


class Tangents:
    """An error, and its tangents so far: f(v) ≥ slopes·v + offsets, row by row."""

    def __init__(self, error: VarianceError, scale: float) -> None:
        self.error, self.scale = error, scale
        self.slopes: list[Vector] = []
        self.offsets: list[float] = []
        self.sizes: list[float] = []  # of the terms of the offsets, which were rounded

    def at(self, variances: Vector) -> float:
        """Return f(scale·v), and keep its tangent there.

        Raises:
            PlanError: where it is no number, falls, or lies below an earlier tangent.
        """
        found = self.error(self.scale * variances)
        try:
            own, slope = found
        except (TypeError, ValueError):
            raise PlanError("error returns no pair; return its value and its slope") from None
        value = checked_number("error", own)
        slopes = self.scale * vector(slope, field="the error's slope", error=PlanError)
        if not math.isfinite(value) or slopes.shape != variances.shape or np.any(slopes < 0):
            raise PlanError(
                f"error={value:g} has {slopes.size} slopes, the least {np.min(slopes):g}, at "
                f"{variances.size} variances; give a finite value and one slope of at least 0 an "
                "answer",
            )
        along = float(slopes @ variances)
        size = abs(value) + along
        if self.slopes:
            below = float(np.max(np.array(self.slopes) @ variances + np.array(self.offsets)))
            if value < below - _CURVED * (size + max(self.sizes)):
                raise PlanError(
                    f"error={value:g} lies below an earlier tangent, at {below:g}: it is not "
                    "convex; give a convex one",
                )
        self.slopes.append(slopes)
        self.offsets.append(value - along)
        self.sizes.append(size)
        return value

    def mean(self, weights: Vector) -> Tangent:
        """Return the mean of the first tangents, by weights of any sum."""
        each = (weights / weights.sum()).tolist()
        own = zip(self.slopes, self.offsets, self.sizes, strict=True)
        return _mean(each, [tangent for tangent, _ in zip(own, each, strict=False)])


class Search:
    """Members of V and tangents, by turns."""

    def __init__(self, asked: Members, tangents: Tangents, rtol: float) -> None:
        self.asked, self.tangents, self.rtol = asked, tangents, rtol
        self.matrices: list[Vector] = []
        self.centers: list[Vector] = []
        self.seen: list[Vector] = []
        self.best: Vector = np.ones(1)  # shares of the members
        self.lower, self.upper = -math.inf, math.inf
        self.kept: Tangent | None = None  # slopes, offset, size

    def run(self, most: int) -> ConvexEnclosure:
        """Return the best mean of members, and what proves how good it is."""
        start = self.asked.start
        weights = np.ones(len(self.asked.queries)) if start is None else start
        self._add(*self.asked.member(weights)[:2])
        self.upper = self.tangents.at(grown(self.seen[0]))
        for j in range(min(self.seen[0].size, _ASIDE)):  # what other answers' tangents say
            aside = grown(self.seen[0])
            aside[j] *= 2
            self.tangents.at(aside)
        self.made, self.most, stay, vain = 1, most, 0.0, 0
        if start is None:  # no width: nothing is as little as nothing
            self.lower = self.upper
        while not self._done():
            tangent = self._program()
            if self.kept is not None and stay:
                tangent = _mean((stay, 1 - stay), (self.kept, tangent))
            if self._raised(tangent):
                stay, vain = max(stay - _MORE / 3, 0.0), 0
            else:
                stay, vain = min(stay + _MORE, _KEPT), vain + 1
            if vain == _VAIN and not self._done():
                vain = 0
                self._climb()
        if self.lower < self.upper:
            self._program()
        return self._result()

    def _done(self) -> bool:
        return self.upper - self.lower <= self.rtol * abs(self.upper) or self.made >= self.most

    def _raised(self, tangent: Tangent) -> bool:
        """Return whether a tangent proves more than all before."""
        slopes, offset, size = tangent
        bound = lowered(self._least(slopes) + offset, size, 2 * SLACK)
        self.made += 1
        if bound <= self.lower:
            return False
        self.lower, self.kept = bound, tangent
        return True

    def _climb(self) -> None:
        """Raise the lower bound over the means of the tangents that nearly touch.

        What a mean proves is concave and smooth in its weights, with a slope that each enclosure
        gives, so that a few do where the error has edges and linear programs take turns for long.
        """
        from scipy.optimize import minimize

        values = self._tangents_at(np.array(self.seen[: self.best.size]).T @ self.best)
        order = np.argsort(-values)[:_CLIMBED]
        near = order[values[order] >= np.max(values) - _TOUCHING * abs(self.upper)]
        unit = abs(self.upper) or 1.0

        def less(shares: Vector) -> tuple[float, Vector]:
            if self._done():
                raise StopIteration
            shares = np.maximum(shares, 0.0)
            weights = np.zeros(values.size)
            weights[near] = shares if np.any(shares) else 1.0
            tangent = self.tangents.mean(weights)
            self._raised(tangent)
            own = self._tangents_at(self.seen[-1])[near]
            return -float(shares @ own) / unit, -own / unit

        k = near.size
        with suppress(StopIteration):
            minimize(
                less,
                np.full(k, 1 / k),
                jac=True,
                bounds=[(0, 1)] * k,
                constraints={"type": "eq", "fun": lambda x: np.sum(x) - 1, "jac": np.ones_like},
                method="SLSQP",
                options={"maxiter": _CLIMBS, "ftol": self.rtol / 100},
            )

    def _tangents_at(self, variances: Vector) -> Vector:
        own = self.tangents
        return np.asarray(np.array(own.slopes) @ variances + np.array(own.offsets))

    def _add(self, matrix: Vector, center: Vector) -> None:
        self.matrices.append(matrix)
        self.centers.append(center)
        self.seen.append(self.asked.variances(matrix))

    def _least(self, slopes: Vector) -> float:
        """Return at most the least slopes·v, and keep the ellipsoid of nearly the same slopes."""
        near = self.seen[-1]
        size = np.where(near > 0, near, max(float(np.max(near)), 1e-300))
        floored = np.maximum(slopes, _FLOOR * float(np.max(slopes * size)) / size)
        if not np.any(slopes):
            return 0.0
        matrix, center, least = self.asked.member(floored)
        self._add(matrix, center)
        whole = np.array_equal(floored, slopes)
        return least if whole else self.asked.least(np.where(floored == slopes, slopes, 0.0))

    def _program(self) -> Tangent:
        """Return a mean of tangents that is least at the best mean of members, which is kept.

        Any weights of tangents prove what they prove; any shares of members are a member.
        """
        from scipy.optimize import linprog

        seen = np.array(self.seen).T
        k, last = seen.shape[1], -math.inf
        for _ in range(_TURNS):
            slopes, offsets = np.array(self.tangents.slopes), np.array(self.tangents.offsets)
            size = abs(self.upper) or 1.0
            found = linprog(
                np.r_[np.zeros(k), 1.0],
                A_ub=np.c_[slopes @ seen / size, -np.ones(len(slopes))],
                b_ub=-offsets / size,
                A_eq=np.r_[np.ones(k), 0.0][None],
                b_eq=[1.0],
                bounds=[(0, None)] * k + [(None, None)],
            )
            if found.x is None:
                break
            shares = np.maximum(found.x[:k], 0.0)
            shares /= shares.sum()
            weights = np.maximum(-found.ineqlin.marginals, 0.0)
            value = self.tangents.at(grown(seen @ shares))
            if value < self.upper:
                self.upper, self.best = value, shares
            model = float(found.x[k]) * size
            if value - model <= self.rtol / 10 * abs(value) or model <= last:
                break
            last = model
        return self.tangents.mean(weights)

    def _result(self) -> ConvexEnclosure:
        shares = self.best
        used = range(shares.size)
        matrix = grown(sum(shares[i] * self.matrices[i] for i in used), FEW)
        center = sum(shares[i] * self.centers[i] for i in used)
        solved = self.upper - self.lower <= self.rtol * abs(self.upper)
        return ConvexEnclosure(
            matrix=frozen(np.asarray(matrix)),
            center=frozen(np.asarray(center)),
            variances=frozen(self.tangents.scale * self.asked.variances(np.asarray(matrix))),
            lower=min(self.lower, self.upper),
            upper=self.upper,
            iterations=self.made,
            status="solved" if solved else "stopped at the most enclosures; the bounds hold",
        )
