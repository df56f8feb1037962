# SPDX-License-Identifier: Apache-2.0
"""The least ellipsoid around the differences of many points: on a growing part of the points.

Weights on pairs of a part are weights on pairs of all, so every lower bound for a part is one for
all points. An ellipsoid of a part is scaled until it covers all pairs, and the points that stick
out farthest join the part. While many stick out, a pass over the pairs stops when it has seen
enough of them; only the last few passes are over all pairs, and these look again only at points
that were near the farthest before. The search itself looks at the pairs of the part alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sets.pairs import farthest_pairs
from lownoise.solvers.generation import INTERRUPTED, SOLVED, STUCK, Progress, generate
from lownoise.solvers.pricing import PairVertices, carried

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.pairs import Pairs
    from lownoise.solvers.generation import Outcome
    from lownoise.solvers.newton import Problem

MANY = 8000  # points from which on a part pays
_START = 2000  # points of the first part
_JOIN = 3000  # pairs whose points join it in a round, at most
_ENOUGH = 6000  # points that stick out: then a pass over all pairs can wait
_NEAR = 0.99  # of the farthest: points that may be the next to stick out
_ROUNDS = 60
_GRAIN = 1e-9
_FIRST, _INNER, _LAST = 0.02, 0.03, 0.25  # how far a part is solved before the next pass


@final
@dataclass(frozen=True, eq=False)
class _Known:
    """What a pass told of the distances of each point, under the map `inverse`."""

    bounds: Vector
    inverse: Vector


def generate_growing(
    problem: Problem,
    points: Vector,
    *,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Return the least ellipsoid around all differences, to a relative gap of `rtol`.

    Args:
        problem: queries and order.
        points: shape (n, r), all different, n large.
        rtol: above 0.
        progress: called after every step, with bounds that hold for all pairs; an interrupt ends
            the search with the best that was found.
    """
    part = PairVertices(points).spread(_START)
    low = high = None
    steps, inner, whole, status = 0, _FIRST, False, STUCK
    known: _Known | None = None
    for _ in range(_ROUNDS):
        bounds = (low.lower if low else 0.0, high.upper if high else math.inf)
        heard = _heard(progress, steps, *bounds)
        found = _of_all(
            generate(problem, PairVertices(points[part]), rtol=inner, progress=heard), part
        )
        steps += found.iterations
        low = found if low is None or found.lower > low.lower else low
        try:
            far, known = _pass(points, found, known, whole=whole)
        except KeyboardInterrupt:
            high = _scaled(found, _round_reach(points, found)) if high is None else high
            status = INTERRUPTED
            break
        covering = _scaled(found, far.longest)
        high = covering if high is None or covering.upper < high.upper else high
        if found.status == INTERRUPTED or high.upper <= low.lower * (1 + rtol):
            status = INTERRUPTED if found.status == INTERRUPTED else SOLVED
            break
        joined = np.union1d(part, np.concatenate([far.first[:_JOIN], far.second[:_JOIN]]))
        if joined.size == part.size and whole and inner <= rtol * _LAST:
            break
        part = joined
        whole = whole or far.first.size < _ENOUGH
        ahead = found.upper * float(np.max(far.distances, initial=1.0)) / low.lower - 1
        inner = rtol * _LAST if whole else max(rtol * _LAST, min(_FIRST, ahead * _INNER))
    assert low is not None  # noqa: S101 (there is a first round)
    assert high is not None  # noqa: S101 (likewise)
    return replace(
        high,
        indices=low.indices,
        weights=low.weights,
        query_weights=low.query_weights,
        lower=low.lower,
        iterations=steps,
        status=status,
    )


def _pass(
    points: Vector, found: Outcome, known: _Known | None, *, whole: bool
) -> tuple[Pairs, _Known]:
    """Return pairs that an ellipsoid does not cover; where `whole`, all that are near its edge."""
    inverse = _inverse(found)
    far = farthest_pairs(
        _image(points, inverse),
        beyond=_NEAR if whole else 1.0,
        enough=len(points) + 1 if whole else _ENOUGH,
        bounds=None if known is None else carried(known.bounds, known.inverse, inverse),
    )
    return far, _Known(far.bounds, inverse)


def _inverse(found: Outcome) -> Vector:
    return np.asarray(np.linalg.inv(found.factor), dtype=np.float64)


def _image(points: Vector, inverse: Vector) -> Vector:
    middle = points[0] + np.mean(points - points[0], axis=0)
    return np.asarray((points - middle) @ inverse.T)


def _round_reach(points: Vector, found: Outcome) -> float:
    """Return what no difference exceeds, without a look at pairs."""
    image = _image(points, _inverse(found))
    return 2 * float(np.max(np.linalg.norm(image, axis=1))) * (1 + _GRAIN)


def _scaled(found: Outcome, times: float) -> Outcome:
    return replace(found, factor=found.factor * times, upper=found.upper * times)


def _of_all(found: Outcome, part: Integers) -> Outcome:
    """Return the outcome of a part with the places of its points among all."""
    return replace(found, indices=part[found.indices], cover_indices=part[found.cover_indices])


def _heard(
    progress: Callable[[Progress], None] | None, steps: int, lower: float, upper: float
) -> Callable[[Progress], None] | None:
    """Return what tells of the steps on a part: its lower bounds hold for all, its upper do not."""
    if progress is None:
        return None

    def told(own: Progress) -> None:
        progress(Progress(steps + own.iteration, max(lower, own.lower), upper))

    return told
