# SPDX-License-Identifier: Apache-2.0
"""The best factors of a matrix: γ_(p)(W), with its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import PointDual, order_norm
from lownoise.errors import PlanError
from lownoise.numbers.arguments import (
    check_size,
    checked_order,
    checked_queries,
    checked_rtol,
    checked_weights,
)
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import grown
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import SymmetricPoints, TranslatedPoints
from lownoise.solvers import RTOL, solve
from lownoise.solvers.streams import pattern_factors
from lownoise.theory.enclosure import proved_status
from lownoise.theory.spectral import checked_complex, embedded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.certificate import AbstractDual, Certificate, Claim
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.solvers import Progress

_SMALLEST = 2.0**-250
_LOST = 1e-9  # of the length of a row of W: what factors may lose of it


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class Factorization:
    """W = left·right + shift·1ᵀ with columns of `right` of length at most 1.

    No number of that is off W by more than 1e-9 of the length of its row. `factorize` makes them;
    of a complex W they are complex.

    Args:
        left: shape (m, r), r the rank of W, or m where W is square and lower-triangular. Where a
            workload does not see every direction of W, its factors of L·W are L·left and right.
        right: shape (r, n).
        certificate: lower ≤ γ_(p)(W) ≤ upper = √tr_{p/2}(left·leftᵀ), and `verify`.
        status: how the search ended, and what helps where it ended early.
        iterations: the number of Newton steps.
        order: p.
        shift: what is taken from every column, shape (m,); zeros unless `shift=True` was asked for.
    """

    left: Vector
    right: Vector
    certificate: Certificate
    status: str
    iterations: int
    order: float
    shift: Vector


def factorize(
    matrix: ArrayLike,
    *,
    order: float = 2.0,
    workload: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    shift: bool = False,
) -> Factorization:
    """Return the factors of W with the least √tr_{p/2}(left·leftᵀ): γ_(p)(W).

    That is γ_F at p = 2 and γ_2 at p = ∞, and Γ_p of the hull of ±columns of W (002, Theorem 23).
    Noise left·z, z standard normal, hides a change of 1 in any one coordinate of x in W·x: adding
    it is what a factorization mechanism does.

    With `shift` one vector is taken from all columns first, the best one, and the least is Γ_p of
    the hull of the columns, wherever it stands (002, after Theorem 23). 2·left·z hides the change
    of one column into another; columns that are all alike cost nothing.

    Complex factors of a complex W = A + iB come from those of [[A, −B], [B, A]], and none are
    better (ours; docs/theory.md). For a real W complex factors are no better than real ones (003,
    Fact 44).

    Args:
        matrix: W, shape (m, n). Where it is square and lower-triangular both factors are too, so
            that noise for a round needs nothing of later rounds (not with `shift`).
        order: p in [2, ∞].
        workload: L, shape (k, m): errors are those of L·W·x; γ_(p)(LW) then, without forming LW.
        weights: ω > 0, what one unit of each answer's error matters; ones by default.
        rtol: the relative gap between the bounds to stop at, from 1e-12.
        progress: called with a `Progress` after every step; see `enclose`.
        shift: whether a vector is taken from every column.

    Raises:
        PlanError: where an argument is out of range or no table of finite numbers; where a complex
            W is given with `workload`, weights or `shift`; and where
            floats do not hold factors that make W again to 1e-9 of each row, or bounds on them: a
            triangle with a row that nearly follows from those before it has factors with numbers
            as much larger than its own, and so has a matrix with rows of very unlike sizes.

    Examples:
        >>> import lownoise as ln
        >>> found = ln.theory.factorize(np.tril(np.ones((4, 4))), rtol=1e-9)
        >>> bool(np.allclose(found.left @ found.right, np.tril(np.ones((4, 4)))))
        True
        >>> round(found.certificate.upper ** 2 / 4, 6)
        1.718536
        >>> one = ln.theory.factorize([[1.0, 1.0], [2.0, 2.0]], shift=True)
        >>> one.certificate.upper, one.shift.tolist()
        (0.0, [1.0, 2.0])
    """
    order = checked_order(order)
    rtol = checked_rtol(rtol)
    if np.iscomplexobj(W := _checked(matrix)):
        if workload is not None or weights is not None or shift:
            raise PlanError(
                "matrix is complex; give no workload, weights or shift with it, or its real form "
                "[[A, −B], [B, A]]",
            )
        return _complex(W, order, rtol, progress)
    queries = None if workload is None else checked_queries(workload, len(W))
    omega = checked_weights(weights, len(W) if queries is None else len(queries))
    check_size(omega, queries)
    triangular = W.shape[0] == W.shape[1] and not np.any(np.triu(W, 1)) and not shift
    columns = frozen(np.ascontiguousarray(W.T))
    fixed = SymmetricPoints(columns)
    solution = solve(
        TranslatedPoints(columns) if shift else fixed,
        order=order,
        weights=omega,
        queries=queries,
        rtol=rtol,
        progress=progress,
        in_order=triangular,
    )
    claim = solution.claim
    certificate = claim.certificate()
    moved = SymmetricPoints(frozen(columns - claim.center)) if shift else fixed
    left, right = _triangles(claim, moved, triangular=triangular)
    at = np.array(claim.center)
    _check_made(W, queries, left, right, at)
    return Factorization(
        left=frozen(left),
        right=frozen(right),
        certificate=certificate,
        status=proved_status(solution.status, certificate, rtol),
        iterations=solution.iterations,
        order=order,
        shift=frozen(at),
    )


def _complex(
    W: Vector, order: float, rtol: float, progress: Callable[[Progress], None] | None
) -> Factorization:
    """Return factors of a complex matrix, by the real one that does the same to (Re x, Im x).

    That has 2m rows, so ‖·‖_p of its deviations is 2^{1/p} times ours.
    """
    m, rank = len(W), int(np.linalg.matrix_rank(W))
    share = 1.0 if math.isinf(order) else 2.0 ** (-1 / order)
    real = factorize(share * embedded(W), order=order, rtol=rtol, progress=progress)
    wide = real.left @ real.left.T / share**2
    # the mean of M and JMJᵀ, J = [[0, −1], [1, 0]], is the real form of a complex matrix
    even = (wide[:m, :m] + wide[m:, m:]) / 2 + 1j * (wide[m:, :m] - wide[:m, m:]) / 2
    values, vectors = np.linalg.eigh(even)
    kept = np.argsort(-values)[:rank]
    left = vectors[:, kept] * np.sqrt(values[kept])
    right = (vectors[:, kept] / np.sqrt(values[kept])).conj().T @ W
    longest = math.sqrt(float(np.max(np.sum(np.abs(right) ** 2, axis=0), initial=0.0)))
    longest *= 1 + 2.0**-50
    if longest > 0:
        left, right = left * longest, right / longest
    _check_made(W, None, left, right, np.zeros(m))
    cost = order_norm(np.sqrt(np.sum(np.abs(left) ** 2, axis=1)), order)
    certificate = replace(real.certificate, upper=max(real.certificate.upper, grown(cost)))
    return replace(
        real,
        left=frozen(left),
        right=frozen(right),
        certificate=certificate,
        shift=frozen(np.zeros(m)),
    )


def best_factors(
    W: Vector,
    error: str,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Vector, Vector, AbstractDual]:
    """Return B and C, lower triangles with B·C = W, and the evidence that none are better.

    Args:
        W: lower triangular, shape (n, n).
        error: "mean": the least ‖B‖_F; "max": the least row of B; the columns of C at most 1 long.
        rtol: the relative gap to reach.
        progress: as `factorize`'s.
    """
    body = SymmetricPoints(frozen(np.ascontiguousarray(W.T)))
    solution = solve(
        body,
        order=2.0 if error == "mean" else math.inf,
        weights=np.ones(len(W)),
        rtol=rtol,
        progress=progress,
        in_order=True,
    )
    claim = solution.claim
    left, right = _triangles(claim, body, triangular=True)
    return frozen(left), frozen(right), claim.dual


@final
@dataclass(frozen=True, eq=False)
class PatternEvidence:
    """Weights that prove what no noise is below where one person adds to several rounds.

    Args:
        dual: on the points Σ W_i·ε_i of the patterns.
        patterns: rounds from 1 with the signs of ε, 0 where there are fewer, shape (N, k).
    """

    dual: PointDual
    patterns: Integers


def best_pattern_factors(
    W: Vector,
    error: str,
    participation: Participation,
    *,
    signed: bool,
    rtol: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Vector, Vector, PatternEvidence]:
    """Return B and C, lower triangles with B·C = W, that hide a person's rounds together, nearly.

    The length that a pattern moves is about 1, and is to be measured.

    Args:
        W: lower triangular, shape (n, n).
        error: "mean": the least ‖B‖_F; "max": the least row of B.
        participation: the rounds that one person may add to.
        signed: whether changes of rounds may have unlike signs.
        rtol: as `pattern_factors`'.
        progress: as `factorize`'s.
    """
    order = 2.0 if error == "mean" else math.inf
    found = pattern_factors(W, participation, order, signed=signed, rtol=rtol, progress=progress)
    dual = PointDual(np.arange(len(found.patterns)), found.weights, found.query_weights)
    return found.noise, found.strategy, PatternEvidence(dual, found.patterns)


def _triangles(claim: Claim, body: SymmetricPoints, *, triangular: bool) -> tuple[Vector, Vector]:
    n, m = body.points.shape
    left, right = np.zeros((m, 0)), np.zeros((0, n))
    frame, shape = claim.frame, claim.shape
    if frame is not None and frame.rank and isinstance(shape, DenseShape):
        left, right = _factors(frame.up() @ shape.factor, shape.factor, frame.down(body.points).T)
    if triangular and (frame is None or frame.view is None):
        pivots = np.arange(0) if frame is None else frame.pivots
        left, right = _expanded(left, pivots, 1), _expanded(right, pivots, 0)
    return left, right


def _check_made(
    W: Vector, queries: Vector | None, left: Vector, right: Vector, shift: Vector
) -> None:
    """Refuse factors that are not those of W.

    Raises:
        PlanError: as said.
    """
    made, wanted = left @ right + shift[:, None], W
    if queries is not None:  # what no query sees may be lost
        made, wanted = queries @ made, queries @ W
        size = np.linalg.norm(np.abs(queries) @ np.abs(W), axis=1)
    else:
        size = np.linalg.norm(W, axis=1)
    lost = np.max(np.abs(made - wanted), axis=1)
    wrong = np.flatnonzero(~(lost <= _LOST * size))
    if wrong.size:
        i = int(wrong[0])
        raise PlanError(
            f"matrix has factors that lose {lost[i] / size[i] if size[i] else math.inf:.1e} of row "
            f"{i}; leave out rows that nearly follow from those before them, or bring rows to like "
            "sizes and say by weights what they matter",
        )


def _checked(values: ArrayLike) -> Vector:
    W = checked_complex(values)
    size = np.max(np.abs(W), axis=1)
    small = np.flatnonzero((size > 0) & (size < _SMALLEST))
    if small.size:
        i = int(small[0])
        raise PlanError(
            f"matrix has at most {size[i]} in row {i}, below 2^-250; use a smaller unit",
        )
    return W


def _factors(left: Vector, factor: Vector, columns: Vector) -> tuple[Vector, Vector]:
    from scipy.linalg import solve_triangular

    right = solve_triangular(factor, columns, lower=True, check_finite=False)
    longest = float(np.sqrt(np.max(np.einsum("ij,ij->j", right, right))))
    longest *= 1 + 2.0**-50  # so that no column is longer than 1 by a rounding
    return left * longest, right / longest


def _expanded(factor: Vector, pivots: Integers, axis: int) -> Vector:
    """Return the square triangle that has the columns, or rows, of `factor` at `pivots`."""
    size = factor.shape[1 - axis]
    square = np.zeros((size, size))
    square[(slice(None), pivots) if axis else pivots] = factor
    return np.tril(square)
