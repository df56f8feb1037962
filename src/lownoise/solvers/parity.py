# SPDX-License-Identifier: Apache-2.0
"""The least noise for parities: one variance a degree.

Where one pattern of changes binds or the largest error counts, in closed form; else the convex
program in log variances, with a logarithmic barrier whose multipliers are the evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.tables import ParityDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import order_norm
from lownoise.questions.residuals.cost import ParityChanges, parity_cost_up
from lownoise.solvers.generation import INTERRUPTED, SOLVED, STUCK, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.numbers.arrays import Vector

_STEPS = 50  # of Newton, for one barrier
_GROWTH = 10.0  # of the barrier's weight
_ROUNDS = 18
_NEAR = 1e-10  # Newton's decrement, squared, at which the next barrier begins
_NOISE = 1e-12  # of the value: what floats cannot tell from a decrease


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ParitySolution:
    """Variances that nearly are the least, and the evidence.

    Args:
        variances: τ² of each degree at μ = 1, shape (k,); 0 where no noise is needed.
        dual: the evidence for the lower bound.
        status: how the search ended.
    """

    variances: Vector
    dual: ParityDual
    status: str


def solve_parity(
    costs: Vector,
    counts: Vector,
    weights: Vector,
    order: float,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> ParitySolution:
    """Return the least noise on parities at μ = 1.

    Args:
        costs: as `residuals.parity_costs`, shape (n, k).
        counts: the number of parities of each degree, shape (k,).
        weights: ω of each degree, on variances, shape (k,).
        order: p in [2, ∞].
        rtol: the relative gap between the bounds to reach.
        progress: called with a `Progress` after every step.

    Examples:
        >>> found = solve_parity(np.array([[3.0]]), np.array([3.0]), np.ones(1), 2.0, 1e-9)
        >>> round(float(found.variances[0]), 9)  # m parities need the variance m each
        3.0
    """
    moving = np.any(costs > 0, axis=0)
    variances, c, best = np.zeros(counts.size), np.zeros(counts.size), (0.0, math.inf)
    dual = ParityDual(degrees=frozen(c), patterns=frozen(np.ones(len(costs))))
    status = SOLVED
    if not np.any(moving):  # the number of records alone, which is public
        return ParitySolution(variances=frozen(variances), dual=dual, status=status)
    A, n, omega = costs[:, moving], counts[moving], weights[moving]
    candidates = _candidates(A, n, omega, order)
    for step, (rates, patterns) in enumerate(candidates, 1):
        own = np.zeros(counts.size)
        own[moving] = 1 / rates
        own *= parity_cost_up(costs, own)
        upper = order_norm(np.sqrt(weights * own), order, counts)
        # where p is large its shares are powers that floats blur: those of the maximum are near
        for p in (order, math.inf):
            share = np.zeros(counts.size)
            share[moving] = _share(A, n, omega, p, own[moving], patterns)
            evidence = ParityDual(degrees=frozen(share), patterns=frozen(patterns))
            lower = evidence.least(ParityChanges(costs, counts), order, np.sqrt(weights))
            if lower > best[0]:
                best, dual = (lower, best[1]), evidence
        if upper < best[1]:
            best, variances = (best[0], upper), own
        status = SOLVED if best[1] <= best[0] * (1 + rtol) else STUCK
        try:
            if progress is not None:
                progress(Progress(step, *best))
        except KeyboardInterrupt:
            status = INTERRUPTED
        if status != STUCK:
            break
    return ParitySolution(variances=frozen(variances), dual=dual, status=status)


def _candidates(
    A: Vector, n: Vector, omega: Vector, order: float
) -> Iterator[tuple[Vector, Vector]]:
    """Yield rates 1/τ² and weights on patterns, better and better."""
    even = omega / float(np.max(A @ omega))
    worst = np.zeros(len(A))
    worst[int(np.argmax(A @ even))] = 1.0
    yield even, worst
    if math.isinf(order) or even.size == 1:
        return  # all weighted variances are equal
    s = order / 2
    # in logarithms: ω^s is beyond all floats where p is large
    single = np.exp((np.log(n) + s * np.log(omega) - np.log(A.max(axis=0))) / (s + 1))
    if len(A) == 1:
        yield single / float(A[0] @ single), np.ones(1)
        return
    yield from _barrier(A, n, omega, s, even, single)


def _share(
    A: Vector, n: Vector, omega: Vector, order: float, variances: Vector, patterns: Vector
) -> Vector:
    """Return the weights on degrees that go best with these variances."""
    if math.isinf(order):
        # all weighted variances are equal: c says which degrees pay
        return np.asarray((patterns @ A) * omega / n)
    part = omega * variances
    return np.asarray((part / np.max(part)) ** (order / 2 - 1))


def _barrier(
    A: Vector, n: Vector, omega: Vector, s: float, start: Vector, single: Vector
) -> Iterator[tuple[Vector, Vector]]:
    """Minimise t·log Σ n(ω/u)^s − Σ log(1 − A·u) in log u for rising t: convex, in any unit."""
    v = np.log(min(single / float(np.max(A @ single)), start, key=lambda u: _size(u, n, omega, s)))
    v -= math.log(2.0)

    def value(v: Vector, t: float) -> float:
        with np.errstate(all="ignore"):  # a step too far has no slack, or no rate left
            slack = 1 - A @ np.exp(v)
            if not (np.all(slack > 0) and np.all(np.exp(v) > 0)):
                return math.inf
            return t * _size(np.exp(v), n, omega, s) - float(np.sum(np.log(slack)))

    t = 1.0
    for _ in range(_ROUNDS):
        for _ in range(_STEPS):
            u = np.exp(v)
            share = np.exp(np.log(n) + s * np.log(omega / u) - _size(u, n, omega, s))
            push = A * u / (1 - A @ u)[:, None]
            gradient = push.sum(axis=0) - t * s * share
            bend = np.diag(share) - np.outer(share, share)
            hessian = push.T @ push + np.diag(push.sum(axis=0)) + t * s * s * bend
            move = np.linalg.solve(hessian, -gradient)
            decrement, now, length = float(-gradient @ move), value(v, t), 1.0
            while value(v + length * move, t) > now - 0.1 * length * decrement + _NOISE * abs(now):
                length /= 2
            v = v + length * move
            if decrement < _NEAR:
                break
        u = np.exp(v)
        yield u, 1 / (1 - A @ u)
        t *= _GROWTH


def _size(u: Vector, n: Vector, omega: Vector, s: float) -> float:
    """Return log Σ n(ω/u)^s."""
    parts = np.log(n) + s * np.log(omega / u)
    largest = float(np.max(parts))
    return largest + math.log(float(np.sum(np.exp(parts - largest))))
