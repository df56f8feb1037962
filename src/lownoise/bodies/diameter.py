# SPDX-License-Identifier: Apache-2.0
"""The farthest pairs of a point set, without looking at every pair.

Each point carries a bound on its distance to any other, at first its own norm plus the greatest
one. Points are taken from the greatest bound down; a pair is looked at only while both bounds
exceed what has been found, because a pair is no longer than either of its points' bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.rounding import growth

if TYPE_CHECKING:
    from lownoise.arrays import Integers, Vector

_ROWS = 512
_PARTNERS = 8192


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """What a scan found.

    Args:
        longest: at least the distance of any pair of these float points, whatever their center.
        first: the points whose farthest partner is beyond what was asked, shape (k,).
        second: those partners, shape (k,).
        distances: shape (k,), falling.
        bounds: what no distance of each point exceeds, shape (n,).
    """

    longest: float
    first: Integers
    second: Integers
    distances: Vector
    bounds: Vector


def farthest_pairs(
    points: Vector,
    *,
    beyond: float = 0.0,
    enough: int | None = None,
    bounds: Vector | None = None,
) -> Pairs:
    """Return the pairs farther apart than `beyond`, each point with its farthest partner.

    Args:
        points: shape (n, r), about any center near the middle.
        beyond: pairs no longer than this are of no interest; where `enough` is None, only pairs at
            least as long as the longest found so far are.
        enough: stop once that many points have a partner; None: find the longest pair.
        bounds: what is known of each point's distances, shape (n,).

    Examples:
        >>> square = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])
        >>> found = farthest_pairs(square - square.mean(axis=0))
        >>> bool(abs(found.longest - 5.0) < 1e-9)
        True
    """
    squares = np.einsum("ij,ij->i", points, points)
    norms = np.sqrt(squares)
    most = float(np.max(norms))
    # |x|² + |y|² − 2x·y is within γ·(|x| + |y|)² of |x − y|², however near x and y are
    hidden = growth(points.shape[1] + 9) * 4 * most * most
    grain = growth(points.shape[1] + 30)

    def outward(lengths: Vector) -> Vector:
        return np.asarray(np.sqrt(np.square(lengths) + hidden) * (1 + grain))

    simple = (norms + most) * (1 + grain)
    known = simple if bounds is None else np.minimum(simple, bounds)
    order = np.argsort(-known, kind="stable")
    falling = known[order]
    reach = np.zeros(len(points))  # the longest squared distance seen from each point
    partner = np.zeros(len(points), dtype=np.int64)
    # |x − y|² as one product, so that no table of distances is touched twice
    ones = np.ones((len(points), 1))
    left = np.hstack([-2 * points, squares[:, None], ones])
    right = np.hstack([points, ones, squares[:, None]])
    level = beyond
    done = 0
    while done < order.size:
        live = int(np.searchsorted(-falling, -level, side="left"))
        if done >= live or (enough is not None and np.count_nonzero(reach > beyond**2) >= enough):
            break
        block = order[done : min(done + _ROWS, live)]
        floor = beyond if enough is not None else level
        _scan(left, right, block, order[done:live], floor**2, reach, partner)
        if enough is None:
            level = max(level, float(np.sqrt(np.max(reach[block]))))
        done += block.size
    reach = np.sqrt(reach)
    rest = float(falling[done]) if done < order.size else 0.0
    # what was pruned is no longer than `level`, what was not reached no longer than its bound
    tight = np.minimum(known, outward(np.maximum(reach, level)))
    tight[order[done:]] = known[order[done:]]
    if enough is None or done >= int(np.searchsorted(-falling, -level, side="left")):
        rest = min(rest, level)
    found = np.flatnonzero(reach > beyond)
    found = found[np.argsort(-reach[found], kind="stable")]
    return Pairs(
        float(outward(np.maximum(rest, np.max(reach, initial=0.0)))),
        found,
        partner[found],
        reach[found],
        tight,
    )


def _scan(
    left: Vector,
    right: Vector,
    block: Integers,
    others: Integers,
    beyond: float,
    reach: Vector,
    partner: Integers,
) -> None:
    """Update `reach`, squared, by all pairs of `block` with `others`; `partner` where beyond."""
    rows = left[block]
    for start in range(0, others.size, _PARTNERS):
        columns = others[start : start + _PARTNERS]
        distance = rows @ right[columns].T
        for mine, theirs, table in ((block, columns, distance), (columns, block, distance.T)):
            best = np.max(table, axis=1)
            better = best > reach[mine]
            reach[mine[better]] = best[better]
            far = np.flatnonzero(better & (best > beyond))
            partner[mine[far]] = theirs[np.argmax(table[far], axis=1)]
