# SPDX-License-Identifier: Apache-2.0
"""The least noise of the form F diag(u) Fᵀ around an image F·B of a unit ball.

With Aⱼᵢ = (ωLF)ⱼᵢ², u = 1/y covers B where energy(y) ≤ 1, and the variances are Au. So the least
‖Au‖_{p/2} is, for weights c on the queries, ‖c‖_q ≤ 1, and z in the hull of {x² : x ∈ B},

    min over u = max over (c, z) of (Σᵢ √((Aᵀc)ᵢ zᵢ))²,

concave in (c, z) together. For given c the base has the best z (`best_squares`), and y is
√(a/z)/Σ√(az) with a = Aᵀc. For given z the step c ← (c·g²)^{1/(2q−1)}, g = A√(z/a), never loses:
by Jensen's inequality √aᵢ is at least Σⱼ (Aⱼᵢc⁰ⱼ/a⁰ᵢ)·√(a⁰ᵢcⱼ/c⁰ⱼ), which touches it at c⁰ and
whose best c is that one (ours). Where LF is a scaled permutation with signs, M is the least of all
ellipsoids, and z and c prove it; for other F it is within √(π/2) of the least where squares of B
fill a convex set (002, Lemma 31 and Theorem 32).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.solvers.solution import INTERRUPTED, SOLVED, Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector

_MOST_ROUNDS = 5000
_EVERY = 10  # rounds between looks at the gap, and extrapolations
_LEAST = 1e-300
_FAINT = 1e-200  # a weight whose answers still have a say in what is covered
_LOOKS, _FEW_LOOKS = 10, 4  # few where a body's own bounds are searched for, and slow
_STALLED = 1e-2
_SHORT = "stopped at the greatest number of rounds; the bounds are proved as they are"


class Squares(Protocol):
    """What the search asks of a body: the two things that a unit ball says of its squares."""

    def energy_up(self, coefficients: Vector, /) -> float:
        """Return at least max Σ yᵢxᵢ² over the body."""

    def best_squares(self, gains: Vector, /) -> Vector:
        """Return z among the squares that makes Σ√(gᵢzᵢ) greatest, or nearly."""


@final
@dataclass(frozen=True, eq=False)
class Majorant:
    """What was found.

    Args:
        coefficients: y > 0 with energy about 1, shape (k,).
        squares: z, shape (k,).
        query_weights: c, shape (m,).
        status: how it ended.
        rounds: how many rounds it took.
    """

    coefficients: Vector
    squares: Vector
    query_weights: Vector
    status: str
    rounds: int


def closed_majorant(size: Vector, order_of_base: float, order: float) -> Majorant:
    """Return the optimum where ωLF is the diagonal `size` and B a unit ball of ℓ_r.

    Σ sᵢ√(cᵢzᵢ) under ‖c‖_q ≤ 1 and ‖z‖_{r/2} ≤ 1 is at most ‖s‖_t with 1/t = ½ + 1/p − 1/r
    (Hölder), reached at c = b^{1/q}, z = b^{2/r} with b in proportion to sᵗ and of sum 1;
    then y is in proportion to b^{1−2/r}. A base with r < 2 has the ball's squares.

    Args:
        size: s ≥ 0, shape (d,), not all 0.
        order_of_base: r in [1, ∞].
        order: p in [2, ∞].

    Examples:
        >>> closed_majorant(np.array([1.0, 4.0]), np.inf, 2.0).coefficients
        array([0.2, 0.8])
    """
    r = max(order_of_base, 2.0)
    q = conjugate(order)
    inverse = 0.5 + 1 / order - 1 / r
    relative = size / np.max(size)
    b = relative ** (1 / inverse) if inverse > 0 else (relative == 1).astype(np.float64)
    b /= np.sum(b)
    y = np.ones(size.size)
    if r > 2:  # noqa: PLR2004
        y = np.maximum(relative ** ((1 - 2 / r) / inverse), _LEAST)
        power = r / (r - 2) if not math.isinf(r) else 1.0
        y /= order_norm(y, power)
    c, z = b ** (1 / q), b ** (2 / r)
    return Majorant(frozen(y), frozen(z), frozen(c), SOLVED, 0)


def least_majorant(
    squared: Vector,
    base: Squares,
    order: float,
    *,
    rtol: float,
    only_near: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Majorant:
    """Return the best coefficients y, and the weights that prove that no others do better.

    Args:
        squared: A, shape (m, k), every column with an entry above 0; or its diagonal, shape (k,).
        base: B, k coordinates.
        order: p in [2, ∞].
        rtol: the relative gap to reach.
        only_near: whether energies of the body are searched for, and so near the best only.
        progress: called now and then.
    """
    search = _Search(squared, base, order)
    status, rounds = _SHORT, 0
    gaps: list[float] = []
    looks = _FEW_LOOKS if only_near else _LOOKS
    try:
        for rounds in range(_MOST_ROUNDS + 1):
            if search.step(look=rounds % _EVERY == 0):
                if progress is not None:
                    progress(Progress(rounds, search.lower, search.upper))
                gap = search.upper / search.lower - 1
                if search.settled or gap <= rtol or _stalls(gaps, gap, looks):
                    status = SOLVED
                    break
    except KeyboardInterrupt:
        if not search.cover.size:
            raise
        status = INTERRUPTED
    return Majorant(
        frozen(search.cover),
        frozen(search.squares),
        frozen(search.query_weights),
        status,
        rounds,
    )


def _stalls(gaps: list[float], gap: float, looks: int) -> bool:
    """Take a gap in; return whether that many looks have closed hardly any of it.

    Where a base's bounds are not exact, both sides come to rest with a gap between them.
    """
    gaps.append(gap)
    return len(gaps) > looks and gap > (1 - _STALLED) * gaps[-1 - looks]


class _Search:
    """The weights on queries, and the best of both sides that they have led to.

    Args:
        squared: A.
        base: B.
        order: p.
    """

    def __init__(self, squared: Vector, base: Squares, order: float) -> None:
        self._squared = squared
        self._base = base
        self._order = order
        self._q = conjugate(order)
        self.settled = math.isinf(self._q)  # p = 2: there is nothing to weigh
        equal = np.ones(len(squared))
        self._c = equal / order_norm(equal, self._q)
        self.lower, self.upper = 0.0, math.inf
        self.cover, self.squares = np.zeros(0), np.zeros(0)
        self.query_weights = self._c

    def step(self, *, look: bool) -> bool:
        """Move the weights once; return whether both sides were looked at."""
        c, flat = self._c, self._squared.ndim == 1
        a = np.maximum(self._squared * c if flat else c @ self._squared, _LEAST)
        z = np.maximum(self._base.best_squares(a), _LEAST)
        if look:
            self._look(a, z)
        if not self.settled:
            g = self._variances(np.sqrt(z / a))
            moved = (c * np.square(g / np.max(g))) ** (1 / (2 * self._q - 1))
            self._c = np.maximum(moved / order_norm(moved, self._q), _FAINT)
        return look

    def _variances(self, u: Vector) -> Vector:
        return np.asarray(self._squared * u if self._squared.ndim == 1 else self._squared @ u)

    def _look(self, a: Vector, z: Vector) -> None:
        value = float(np.sum(np.sqrt(a * z)))
        y = np.sqrt(a / z) / value
        y /= self._base.energy_up(y)
        size = math.sqrt(order_norm(self._variances(1 / y), self._order / 2))
        if value > self.lower:
            self.lower, self.squares, self.query_weights = value, z, self._c
        if size < self.upper:
            self.upper, self.cover = size, y


def folded(images: Vector, order: float) -> tuple[Vector, Vector] | None:
    """Return how much each coordinate matters where every answer is a multiple of one of them.

    With a the answers that are multiples of coordinate i, ‖·‖_p of their deviations is that of one
    answer sᵢ = ‖a‖_p; and where one query has weight Cᵢ, theirs are c = Cᵢ·(|a|/sᵢ)^{p−2}, which
    make Σ a²c greatest under ‖c‖_q = Cᵢ (Hölder). None where an answer mixes coordinates.

    Args:
        images: ωLF, shape (m, k), no column all 0.
        order: p in [2, ∞].

    Returns:
        s, shape (k,), and the shares c/Cᵢ, shape (m, k).
    """
    if np.max(np.count_nonzero(images, axis=1)) > 1:
        return None
    size = np.abs(images)
    top = np.max(size, axis=0)
    relative = size / top
    if math.isinf(order):
        most = relative == 1
        return top, most / np.sum(most, axis=0)
    s = np.sum(relative**order, axis=0) ** (1 / order)
    return top * s, np.where(relative > 0, (relative / s) ** (order - 2), 0.0)
