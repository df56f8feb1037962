# SPDX-License-Identifier: Apache-2.0
"""The linear system of one Newton step, solved in the smaller of two spaces.

The matrix is D + BᵀB with D diagonal: one column of B a variable, one row a pair of axes (what the
second derivative of F squares), one for the gradient and, where the body moves, one an axis. With
few variables the matrix is formed, its squares by quadrature; with many more variables than pairs
of axes (a tall workload) the identity of Woodbury leaves a system of the size of B's rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.fidelity import Fidelity

_FEW = 1500  # variables: below, forming the matrix is always quick
_JITTER = 1e-13
_BLOCK = 1 << 22  # numbers
_REFINEMENTS = 2


def newton_system(
    state: Fidelity,
    pull: Vector | None,
    gradient: Vector,
    extra: Vector,
    *,
    coarse: bool,
) -> Callable[[Vector], Vector]:
    """Return the function that solves (−H + diag(extra))·x = right, H = ∇²(2·log F), within 2%.

    Args:
        state: F at the current weights.
        pull: as `Fidelity.curvature` takes it.
        gradient: of 2·log F, shape (n,).
        extra: above 0, shape (n,).
        coarse: whether within 12% will do.
    """
    r = state.lengths.size
    pairs = r * (r + 1) // 2 + 1 + r * state.moves
    if gradient.size <= max(_FEW, pairs):
        return _formed(state, pull, gradient, extra, coarse=coarse)
    return _reduced(state, pull, gradient, extra)


def _formed(
    state: Fidelity,
    pull: Vector | None,
    gradient: Vector,
    extra: Vector,
    *,
    coarse: bool,
) -> Callable[[Vector], Vector]:
    return bent_system(state.curvature(pull, coarse=coarse), state.value, gradient, extra)


def bent_system(
    matrix: Vector, value: float, gradient: Vector, extra: Vector
) -> Callable[[Vector], Vector]:
    """Return the function that solves matrix/value + ½·gradient·gradientᵀ + diag(extra).

    Args:
        matrix: positive semidefinite, shape (n, n); it is overwritten.
        value: above 0.
        gradient: shape (n,).
        extra: above 0, shape (n,).

    Raises:
        LinAlgError: where it is not positive definite in floats.
    """
    from scipy.linalg import lapack

    diagonal = matrix.reshape(-1)[:: gradient.size + 1]
    whole = diagonal / value + 0.5 * gradient**2 + extra
    scale = 1 / np.sqrt(whole)
    matrix *= scale / value
    matrix *= scale[:, None]
    matrix += np.outer(0.5 * scale * gradient, scale * gradient)
    diagonal[:] = 1 + _JITTER
    # its transpose is in the order that LAPACK works in, and symmetric
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError

    def solve(right: Vector) -> Vector:
        found: Vector = scale * lapack.dpotrs(factor, scale * right, lower=1)[0]
        return found

    return solve


def _reduced(
    state: Fidelity,
    pull: Vector | None,
    gradient: Vector,
    extra: Vector,
) -> Callable[[Vector], Vector]:
    from scipy.linalg import cho_factor, cho_solve

    blocks = list(_columns(state, pull, gradient))
    small = np.eye(blocks[0][1].shape[1])
    for part, columns in blocks:
        scaled = columns / np.sqrt(extra[part])[:, None]
        small += scaled.T @ scaled
    factor = cho_factor(small, lower=True, overwrite_a=True, check_finite=False)

    def times(x: Vector) -> Vector:  # B·x
        total: Vector = np.sum([x[part] @ columns for part, columns in blocks], axis=0)
        return total

    def back(y: Vector) -> Vector:  # Bᵀ·y
        return np.concatenate([columns @ y for _, columns in blocks])

    def once(right: Vector) -> Vector:
        plain = right / extra
        inner: Vector = cho_solve(factor, times(plain), check_finite=False)
        return plain - back(inner) / extra

    def solve(right: Vector) -> Vector:
        found = once(right)
        for _ in range(_REFINEMENTS):  # small entries of `extra` cost digits
            found = found + once(right - extra * found - back(times(found)))
        return found

    return solve


def _columns(
    state: Fidelity,
    pull: Vector | None,
    gradient: Vector,
) -> Iterator[tuple[slice, Vector]]:
    """Yield Bᵀ in blocks of rows, each with the variables that they belong to."""
    m = state.lengths
    r = m.size
    a, b = np.triu_indices(r)
    # both halves of a symmetric matrix count
    twice = np.where(a == b, 1.0, 2.0) / state.value
    on_queries = np.sqrt(twice * m[a] * m[b] / (m[a] + m[b]))
    on_vertices = -np.sqrt(twice / (m[a] * m[b] * (m[a] + m[b])))
    n = 0 if pull is None else pull.size
    moving = np.sqrt(2 / (state.mass * state.value * m))
    step = max(_BLOCK // a.size, 1)
    for start in range(0, gradient.size, step):
        for low, high in ((start, min(start + step, n)), (max(start, n), start + step)):
            part = slice(low, min(high, gradient.size))
            if part.stop <= part.start:
                continue
            if part.start < n:
                assert pull is not None  # noqa: S101 (n counts its entries)
                rows = state.queries[part] * pull[part, None]
                pairs, moved = on_queries * rows[:, a] * rows[:, b], np.zeros_like(rows)
            else:
                rows = state.vertices[part.start - n : part.stop - n]
                pairs, moved = on_vertices * rows[:, a] * rows[:, b], rows * moving
            slope = gradient[part, None] / np.sqrt(2)
            yield part, np.hstack([pairs, slope, moved] if state.moves else [pairs, slope])
