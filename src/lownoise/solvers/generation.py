# SPDX-License-Identifier: Apache-2.0
"""The fidelity program over all vertices of a body, a few of them at a time.

Newton's method works on a short list; pricing looks for vertices that stick out of its ellipsoid
and adds the worst. Weights on a part of the vertices are weights on all, so every lower bound is
one for the body; an upper bound needs a pass over all vertices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.solvers.fidelity import UnresolvedError
from lownoise.solvers.newton import ListedVertices, newton
from lownoise.solvers.solution import INTERRUPTED, SOLVED, STUCK, Sides

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.solvers.fidelity import Fidelity
    from lownoise.solvers.newton import Iterate, Problem
    from lownoise.solvers.pricing import AbstractVertices
    from lownoise.solvers.solution import Progress

    # an ellipsoid and its radius over all vertices; weights on vertices
    Best = Sides[tuple[Integers, Iterate[Fidelity], float], tuple[Integers, Iterate[Fidelity]]]

_MOST_ITERATIONS = 500
_STALLED = 30  # steps without a better bound
_TIE = 1e-4  # of rtol
_SETTLING = 16  # steps for the noise on queries that cost nearly nothing
_INSIDE = 0.9  # a vertex whose stretch is below this is dropped
_FIRST, _INNER, _LAST = 0.02, 0.3, 0.25  # how far a short list is solved before pricing
_NEW_SHARE = 0.3  # of all weight, for vertices that were just found
_CENTRING = 0.1  # of the gap: weight times slack, summed, at a warm start
_LEAST = 1e-14
_APART = 1e-12
_MOST_LISTED = 6000  # vertices: their Hessian takes half a gigabyte
_CARRIED = 0.1
_SHORT = "stopped at the greatest number of steps; raise rtol"
_FULL = "stopped: the optimum rests on more vertices than fit; the bounds hold, or raise rtol"


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """The best of both sides.

    Args:
        factor: lower triangle; factor·factorᵀ = M covers the body about the mean of the vertices
            `cover_indices` under `cover_weights`, or about 0; shape (r, r).
        cover_indices: shape (j,) or (j, 2).
        cover_weights: shape (j,), of sum 1.
        indices: the vertices that carry weight, shape (k,) or (k, 2).
        weights: w > 0, shape (k,).
        query_weights: c, shape (n,).
        lower: float value of the lower bound.
        upper: float value of the upper bound.
        iterations: Newton steps.
        status: how it ended.
    """

    factor: Vector
    cover_indices: Integers
    cover_weights: Vector
    indices: Integers
    weights: Vector
    query_weights: Vector
    lower: float
    upper: float
    iterations: int
    status: str


@final
@dataclass(frozen=True, eq=False)
class _State:
    """Where Newton's method starts: w, v and, near an optimum, weight times slack."""

    weights: Vector
    roots: Vector
    product: float | None


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class _Short:
    """A short list of vertices, and how far its own program is to be solved."""

    problem: Problem
    indices: Integers
    points: Vector
    complete: bool
    inner: float
    most: int


def _outcome(problem: Problem, best: Best, status: str) -> Outcome:
    assert best.dual is not None  # noqa: S101 (a solver takes at least one step)
    assert best.noise is not None  # noqa: S101 (and prices at least once)
    indices, low = best.dual
    around, iterate, radius = best.noise
    e = problem.exponent
    return Outcome(
        factor=iterate.state.factor() * radius,
        cover_indices=around,
        cover_weights=iterate.weights / float(np.sum(iterate.weights)),
        indices=indices,
        weights=low.weights / float(np.sum(low.weights)),
        query_weights=low.roots**e / float(np.sum(low.roots)) ** e,
        lower=best.lower,
        upper=best.upper,
        iterations=best.steps,
        status=status,
    )


def generate(
    problem: Problem,
    vertices: AbstractVertices,
    *,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
    most: int = _MOST_ITERATIONS,
) -> Outcome:
    """Return the least ellipsoid around the vertices, to a relative gap of `rtol`.

    Args:
        problem: queries and order.
        vertices: what is to be covered.
        rtol: above 0.
        progress: called after every step; an interrupt during it, or at any other time after the
            first step, ends the search with the best that was found.
        most: the greatest number of Newton steps.
    """
    wanted = 2 * vertices.dimension + 4
    best: Best = Sides(rtol, progress, tie=rtol * _TIE)
    indices = vertices.first(2 * wanted)
    points = vertices.gather(indices)
    state = _cold(problem, points)
    status = _SHORT
    try:
        while best.steps < most:
            complete = len(indices) == vertices.count
            inner = rtol if complete else max(rtol * _LAST, min(_FIRST, best.ahead * _INNER))
            short = _Short(
                problem=problem,
                indices=indices,
                points=points,
                complete=complete,
                inner=inner,
                most=most,
            )
            iterate = _polish(short, state, best)
            found = None if complete else _price(vertices, indices, iterate, best, wanted)
            if best.gap <= rtol:
                status = SOLVED
                break
            if best.ahead <= rtol / 2 and best.gap > rtol:  # bounds that no vertex explains
                status = STUCK
                break
            if complete or found is None or (not len(found) and inner <= rtol * _LAST):
                status = STUCK if best.steps < most else _SHORT
                break
            keep = _outer(iterate)
            room = max(_MOST_LISTED - int(np.count_nonzero(keep)), 0)
            if len(found) > 0 and not room:
                status = _FULL
                break
            found = found[:room]
            indices = np.concatenate([indices[keep], found])
            points = vertices.gather(indices)
            state = _warm(iterate, keep, len(found), best.gap)
    except KeyboardInterrupt:
        if best.steps == 0:
            raise
        assert best.dual is not None  # noqa: S101 (there was a step)
        _price(vertices, *best.dual, best, wanted)
        status = INTERRUPTED
    except UnresolvedError:  # what was found before is as good as it was
        if best.noise is None:
            raise
        status = STUCK
    return _outcome(problem, best, status)


def _polish(short: _Short, state: _State, best: Best) -> Iterate[Fidelity]:
    """Return an iterate whose bounds on the listed vertices are within `inner` of each other."""
    lower, upper, stalled, settling = 0.0, math.inf, 0, 0
    program = ListedVertices(short.problem, short.points)
    for iterate in newton(program, state.weights, state.roots, state.product):
        better = iterate.lower > lower or iterate.objective * iterate.radius < upper
        lower = max(lower, iterate.lower)
        upper = min(upper, iterate.objective * iterate.radius)
        stalled = 0 if better else stalled + 1
        best.steps += 1
        best.prove(iterate.lower, (short.indices, iterate))
        if short.complete:
            best.cover(iterate.objective * iterate.radius, (short.indices, iterate, iterate.radius))
        best.tell()
        near = upper / lower - 1 <= short.inner
        if near and short.complete and settling < _SETTLING and best.steps < short.most:
            settling += 1
            if not (iterate.settled and iterate.gap <= short.inner):
                continue
        if near or stalled >= _STALLED or best.steps >= short.most:
            break
    return iterate


def _outer(iterate: Iterate[Fidelity]) -> Chosen:
    """Return which listed vertices to keep: those not clearly inside, if they carry C."""
    state = iterate.state
    keep = state.stretches() > _INSIDE * state.value
    rows = state.vertices[keep] * np.sqrt(iterate.weights[keep])[:, None] / state.lengths
    carried = np.linalg.eigvalsh(rows.T @ rows)[0]  # of 1, which all of them carry
    return keep if carried > _CARRIED else np.ones(keep.shape, dtype=np.bool_)


def _price(
    vertices: AbstractVertices,
    indices: Integers,
    iterate: Iterate[Fidelity],
    best: Best,
    wanted: int,
) -> Integers:
    """Return vertices that stick out farther than any listed one, and record the upper bound."""
    root = math.sqrt(iterate.state.value)
    beyond = max(1.0, iterate.radius / root * (1 + _APART))
    inverse = iterate.state.inverse_factor() / root
    priced = vertices.price(inverse, iterate.state.mean, beyond, wanted)
    radius = priced.radius * root
    best.cover(iterate.objective * radius, (indices, iterate, radius))
    if priced.farthest is not None:
        best.farthest = min(best.farthest, iterate.objective * priced.farthest * root)
    return priced.indices


def _cold(problem: Problem, points: Vector) -> _State:
    """Start with weights in proportion to size: right where vertices are orthogonal and p = 2."""
    about = points - points.mean(axis=0) if problem.moves else points
    seen = about * problem.queries if problem.queries.ndim == 1 else about @ problem.queries.T
    size = np.linalg.norm(seen, axis=1)
    weights = size / np.sum(size) + _LEAST
    return _State(weights, np.full(problem.count, 1.0 / problem.count), None)


def _warm(iterate: Iterate[Fidelity], keep: Chosen, new: int, gap: float) -> _State:
    """Start from an optimum of fewer vertices: the new ones get a small share."""
    share = min(_NEW_SHARE, _NEW_SHARE * 10 * gap) if new else 0.0
    old = iterate.weights[keep]
    weights = np.concatenate([old * ((1 - share) / np.sum(old)), np.full(new, share / max(new, 1))])
    return _State(weights, iterate.roots, _CENTRING * min(gap, 1.0) / len(weights))
