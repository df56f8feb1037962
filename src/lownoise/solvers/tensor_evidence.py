# SPDX-License-Identifier: Apache-2.0
"""Better evidence for tensors of the ball beyond p = 2: masses and query weights, in turn (ours).

The nuclear norm of diag(√c)·B·diag(√w) is at least its product with any P of spectral norm 1, and
equal to it for the polar factor. For a fixed P that is Σ √cⱼ·hⱼ, and Σ √w_g·A_g over the orbits
that rows belong to; the best c and the best w for it are known. So no step loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import OrthantDual, RotationDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import TensorChanges

_WORK = 2e9  # multiplications
_FEWEST, _MOST = 4, 400
_HELD = 1e-9


def improved(
    dual: RotationDual | OrthantDual, body: TensorChanges, asked: Vector, order: float
) -> RotationDual | OrthantDual:
    """Return evidence that proves at least as much.

    Args:
        dual: where to start; masses that are 0 stay so, and those of differences as they are.
        body: the changes.
        asked: ωL, shape (m, d).
        order: p in (2, ∞].
    """
    _, first, members = np.unique(asked, axis=0, return_index=True, return_inverse=True)
    q = conjugate(order)
    members = np.ravel(members)
    often = np.bincount(members).astype(np.float64)
    rows = asked[first]
    c = np.maximum(dual.query_weights, 1e-12 * float(np.max(dual.query_weights)))[first]
    most = int(np.clip(_WORK / len(first) ** 3, _FEWEST, _MOST))
    before = 0.0
    for _ in range(most):
        made, orbit = dual.moments(body).rows, _orbits(dual, body)
        seen = made @ rows.T
        left, _, right = np.linalg.svd(seen * np.sqrt(often * c), full_matrices=False)
        pairs = (left @ right) * seen
        h = np.maximum(np.sum(pairs, axis=0) / np.sqrt(often), 0.0)  # for one of the answers
        c = np.maximum(h / max(float(np.max(h)), 1e-300), 1e-12) ** (1 / (q - 0.5))
        c /= order_norm(c * often ** (1 / q if np.isfinite(q) else 0.0), q)
        had = orbit >= 0
        gained = np.bincount(orbit[had], weights=(pairs @ np.sqrt(often * c))[had]).astype(float)
        value = float(h @ (often * np.sqrt(c)))
        dual = _weighted(dual, gained, frozen(c[members]))
        if value <= before * (1 + _HELD):
            break
        before = value
    return dual


def _orbits(dual: RotationDual | OrthantDual, body: TensorChanges) -> Integers:
    """Return which mass each row of its moments has, −1 where it has none."""
    if isinstance(dual, OrthantDual):
        d, k = body.ball.size, body.size.size
        return np.array([0] * d + [1, 2] + [1] * (k - d))
    if body.ball.odd or not body.counted:
        return np.full(body.dimension, -1)
    found = np.zeros(body.dimension, dtype=np.int64)
    found[-2] = 1  # x = 0
    return found


def _weighted(
    dual: RotationDual | OrthantDual, gained: Vector, c: Vector
) -> RotationDual | OrthantDual:
    """Return the evidence with the best masses: they are as the squares of A, A = gained/√mass."""
    if isinstance(dual, OrthantDual):
        before = np.append(dual.weights, max(1 - float(np.sum(dual.weights)), 0.0))
        masses = np.square(np.maximum(gained, 0.0)) / np.maximum(before, 1e-300)
        return OrthantDual(frozen((masses / np.sum(masses))[:2]), c)
    if not gained.size:
        return RotationDual(dual.alone, dual.weights, dual.angles, c)
    before = np.array([dual.alone, 1 - dual.alone])
    masses = np.square(np.maximum(gained, 0.0)) / np.maximum(before, 1e-300)
    return RotationDual(float(masses[0] / np.sum(masses)), dual.weights, dual.angles, c)
