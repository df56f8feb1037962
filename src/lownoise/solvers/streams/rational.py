# SPDX-License-Identifier: Apache-2.0
"""The best strategies that are rational: streams of any length in a few numbers of memory.

Write 1/x for the shift. c_0 = 1 and c_t = Σ_j ω_j θ_j^{t−1} is C = Π(z − λ_j)/Π(z − θ_j), and for
w_t = ρ^t the other factor is B = z/(z − ρ)·Π(z − θ_j)/Π(z − λ_j): b_t = Σ_j β_j μ_j^t with
μ = (ρ, λ_1, …, λ_k). Weights ω_j > 0 are the same as ρ > θ_1 > λ_1 > θ_2 > … > θ_k > λ_k. So the
search is over the gaps of these numbers to ρ,

    θ_j = ρ(1 − g_j), λ_j = ρ(1 − h_j),   0 < g_1 < h_1 < g_2 < … < g_k < h_k,

with no root to find; residues are products of differences of gaps, and all are right to the last
digits however near ρ a decay is. Both norms are sums of geometric series over pairs of poles, so
that one evaluation with its gradient costs O(k²), or O(k³) with small arrays, at any n. A ratio
p = 1 − q is given by q, so that q = 1e-18 is no different from q = 0.1: where n·q is small the
closed forms of the sums cancel, and the binomial series in q takes their place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.participation import ONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.solvers.streams.toeplitz import Error

_SOLVED = 1e-9
_SETTLED = 1e-6  # of several participations: a pole may go to ρ itself, ever slower
_NEAREST, _WIDEST = 1e-3, 30.0  # what a logarithm of a ratio of two gaps may be
_FIRST, _HIGHEST = 4.0, 0.7  # where the search starts: n times the first gap, and the last
_STEPS, _SEVERAL = 3000, 500
_AHEAD, _WITHIN, _MOST = 3, 0.005, 24
_LAST = 2.0  # λ_k > −ρ, so that b does not grow
_POSITIVE = 1.0  # λ_k > 0 where a person is in several rounds: then c ≥ 0 falls from c_0 on
_SERIES = 0.5  # n·q below which the series is used
_TERMS = 16
_TOGETHER = 1 << 12  # participations whose sums are kept at once


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Rational:
    """C and B = W·C⁻¹ as sums of exponentials, for w_t = ρ^t.

    Made by `rational`, or by `from_gaps`.

    Args:
        decay: ρ in (0, 1].
        gaps: g, ascending, shape (k,): c's decays are θ = ρ(1 − g).
        weights: ω > 0, shape (k,): c_0 = 1, c_t = Σ ω_j θ_j^{t−1}.
        answer_gaps: (0, h), ascending, shape (k + 1,): b's decays are μ = ρ(1 − h), h_k < 2.
        answer_weights: β, shape (k + 1,): b_t = Σ β_j μ_j^t, and Σ β = 1.
    """

    decay: float
    gaps: Vector
    weights: Vector
    answer_gaps: Vector
    answer_weights: Vector

    @property
    def decays(self) -> Vector:
        """θ, falling, shape (k,); where `gaps` says more than these digits can, use it."""
        return self.decay * (1 - self.gaps)

    def strategy(self, size: int) -> Vector:
        """Return c, shape (n,)."""
        return np.concatenate([[1.0], _combined(self.decay, self.gaps, self.weights, size - 1)])

    def answers(self, size: int) -> Vector:
        """Return b, shape (n,)."""
        return _combined(self.decay, self.answer_gaps, self.answer_weights, size)

    def squared_error(self, size: int, error: Error, participation: Participation = ONE) -> float:
        """Return ‖Kc‖²·Σ d_t b_t², d as in `round_weights`, at any n in O(k²) a participation.

        Args:
            size: n.
            error: "mean" or "max".
            participation: the rounds that one person may add to.
        """
        return math.exp(_log_error(self, size, error, participation)[0])


def from_gaps(gaps: Vector, inverse_gaps: Vector, decay: float) -> Rational:
    """Return the strategy with these gaps.

    Args:
        gaps: g, ascending, shape (k,).
        inverse_gaps: h, shape (k,), with g_1 < h_1 < g_2 < … < g_k < h_k < 2.
        decay: ρ in (0, 1].

    Examples:
        >>> found = from_gaps(np.array([0.25]), np.array([0.75]), 1.0)
        >>> found.weights, found.decays, found.strategy(4)
        (array([0.5]), array([0.75]), array([1.     , 0.5    , 0.375  , 0.28125]))
        >>> found.answers(4)
        array([1.      , 0.5     , 0.375   , 0.34375])
    """
    across = inverse_gaps[None, :] - gaps[:, None]
    weights = decay * np.prod(across, axis=1) / _others(gaps)
    k = len(gaps)
    # h_i − h_j, i > j, is what lies on both sides of g_{j+1} between them
    between = np.zeros((k, k))
    for j in range(k - 1):
        between[j, j + 1 :] = across[j + 1, j + 1 :] - across[j + 1, j]
    between = between - between.T
    np.fill_diagonal(between, 1.0)
    first = float(np.prod(gaps / inverse_gaps))
    # -across^T holds g_i − h_j at [j, i]
    rest = np.prod(-across.T, axis=1) / (np.prod(between, axis=1) * -inverse_gaps)
    return Rational(
        decay=decay,
        gaps=frozen(gaps.copy()),
        weights=frozen(weights),
        answer_gaps=frozen(np.concatenate([[0.0], inverse_gaps])),
        answer_weights=frozen(np.concatenate([[first], rest])),
    )


@lru_cache(maxsize=256)  # those that come near enough are asked for again
def rational(
    decay: float, size: int, buffers: int, error: Error, participation: Participation = ONE
) -> Rational:
    """Return the rational strategy with the least error found for w_t = ρ^t over n rounds.

    By BFGS in the logarithms of the ratios of neighbouring gaps, from evenly spread ones. How near
    the best Toeplitz strategy it is, `toeplitz.lower_bound` says: the problem is not convex. For
    the mean error positive weights get only within about 0.05% of it, and buffers beyond some 5 to
    8 are of no use.

    Args:
        decay: ρ in (0, 1]; 1 for prefix sums.
        size: n, at least 1, to about 10⁹.
        buffers: k, at least 1.
        error: "mean" or "max".
        participation: the rounds that one person may add to; they move C·x farthest where they are
            0, b, 2b, …, for c is then made to fall, by λ_k > 0.

    Examples:
        >>> round(rational(1.0, 1024, 3, "max").squared_error(1024, "max"), 5)
        10.74266
    """
    from scipy.optimize import minimize

    last = _LAST if participation.count == 1 else _POSITIVE

    def value(x: Vector) -> tuple[float, Vector]:
        points, slopes = _points(x, last)
        with np.errstate(all="ignore"):  # a step too far may put a pole on another
            found = from_gaps(points[0::2], points[1::2], decay)
            logarithm, by_gaps, by_poles = _log_error(found, max(size, 2), error, participation)
        if not math.isfinite(logarithm):
            return math.inf, np.zeros_like(x)
        gradient = np.empty(2 * buffers)
        gradient[0::2], gradient[1::2] = by_gaps, by_poles[1:]
        return logarithm, slopes(gradient)

    # the first gap is what a stream of n rounds, or of the memory that ρ leaves, can tell from 0;
    # a start nearer 0 ends where one pair of poles cancels and is of no use
    lengths, settled, steps = [size], _SOLVED, _STEPS
    if participation.count > 1:
        # what has been forgotten when a person comes back costs less
        lengths.append(min(size, participation.separation))
        settled, steps = _SETTLED, _SEVERAL
    found = []
    for length in lengths:
        first = math.log(min(max(_FIRST / length, 1 - decay), _HIGHEST / 2))
        step = (math.log(_HIGHEST) - first) / (2 * buffers - 1)
        x = np.concatenate([[first], np.full(2 * buffers - 1, math.log(step))])
        options = {"gtol": settled, "maxiter": steps}
        found.append(minimize(value, x, jac=True, method="BFGS", options=options))
    points, _ = _points(min(found, key=lambda run: float(run.fun)).x, last)
    return from_gaps(points[0::2], points[1::2], decay)


def enough_buffers(
    decay: float, size: int, error: Error, participation: Participation = ONE
) -> int:
    """Return how many buffers come within about 1% of the best Toeplitz strategy.

    The fewest whose squared error is within 0.5% of that of three more: errors approach their limit
    geometrically. For prefix sums of a million rounds 5 (mean) and 6 (largest error).

    Args:
        decay: ρ in (0, 1].
        size: n, at least 1.
        error: "mean" or "max".
        participation: the rounds that one person may add to.

    Examples:
        >>> enough_buffers(1.0, 1024, "mean"), enough_buffers(1.0, 1024, "max")
        (3, 3)
    """
    errors: list[float] = []
    while len(errors) < _AHEAD + _MOST:
        found = rational(decay, size, len(errors) + 1, error, participation)
        errors.append(found.squared_error(size, error, participation))
        if len(errors) > _AHEAD and errors[-1 - _AHEAD] <= (1 + _WITHIN) * errors[-1]:
            break
    return len(errors) - _AHEAD


def _points(x: Vector, last: float = _LAST) -> tuple[Vector, Callable[[Vector], Vector]]:
    """Return the gaps g_1, h_1, g_2, … at x, and the map from a gradient in them to one in x.

    x holds the logarithm of the first, then those of the logarithms of each over the one before.
    """
    with np.errstate(under="ignore", over="ignore"):
        ratios = np.clip(np.exp(x[1:]), _NEAREST, _WIDEST)
    logs = x[0] + np.concatenate([[0.0], np.cumsum(ratios)])
    with np.errstate(under="ignore", over="ignore"):
        points = np.exp(np.minimum(logs, 700.0))
    # beyond 2 the last decay would be below −ρ, beyond 1 below 0: bend smoothly towards it
    bent = last * points / (last + points)

    def slopes(gradient: Vector) -> Vector:
        by_logs = gradient * bent**2 / points
        tails = np.cumsum(by_logs[::-1])[::-1]
        return np.concatenate([tails[:1], tails[1:] * ratios])

    return bent, slopes


def _log_error(
    found: Rational, size: int, error: Error, participation: Participation
) -> tuple[float, Vector, Vector]:
    """Return the logarithm of the squared error, and its gradient in g and in (0, h)."""
    g, poles = found.gaps, found.answer_gaps
    sums = falling_sum if error == "mean" else geometric_sum
    norm, once, by_gaps = _squared_move(found, size, participation)
    squares, slopes = _pairs(found.decay, poles, size, sums)
    answers = found.answer_weights
    again = answers * (squares @ answers)
    length = float(np.sum(again))
    by_poles = 2 * answers * (slopes @ answers) / length
    # residues are products of differences: their logarithms' slopes are sums of reciprocals
    mass, price = once, 2 * again / length
    across = 1 / (poles[None, :] - g[:, None])  # 1/(h_i − g_j) at [j, i], the pole 0 first
    inner, outer = _reciprocals(g), _reciprocals(poles)
    with_zero = across[:, 1:]
    by_gaps += mass * (np.sum(inner, axis=1) - np.sum(with_zero, axis=1)) - mass @ inner
    by_poles[1:] += mass @ with_zero
    by_gaps += -across @ price
    by_poles += price * (np.sum(outer, axis=1) + np.sum(across, axis=0)) - price @ outer
    positive = norm > 0 and length > 0  # but for rounding where poles meet
    return math.log(norm) + math.log(length) if positive else math.inf, by_gaps, by_poles


def _squared_move(
    found: Rational, size: int, participation: Participation
) -> tuple[float, Vector, Vector]:
    """Return ‖Kc‖², the slopes of its logarithm in log ω, and those in g where ω is held.

    With N_j = n − jb and E_j(θ) = Σ_{m=1..j} θ^{mb},

        ‖Kc‖² = Σ_{j<k} Σ_{s<N_j} c_s·(c_s + 2·Σ_{m=1..j} c_{s+mb})
              = Σ_{j<k} [1 + 2·Σ_p ω_p E_j(θ_p)/θ_p
                         + Σ_{p,q} ω_p ω_q (1 + E_j(θ_p) + E_j(θ_q))·Σ_{s<N_j−1} (θ_p θ_q)^s].
    """
    decay, g, weights = found.decay, found.gaps, found.weights
    b = participation.separation
    count = min(participation.count, -(-size // b))
    squares, slopes = np.zeros((len(g), len(g))), np.zeros((len(g), len(g)))
    apart, apart_slopes = np.zeros(len(g)), np.zeros(len(g))
    passed, passed_slopes = np.zeros((1, len(g))), np.zeros((1, len(g)))  # E, and its slope in g
    for begun in range(0, count, _TOGETHER):
        j = np.arange(begun, min(begun + _TOGETHER, count))
        lags = np.maximum(j * b, 1)[:, None]
        # θ^{mb−1}, and its slope in g; m = 0 adds nothing
        away = (1 - decay) + decay * g
        powers = np.where(j[:, None] > 0, _power(away[None, :], lags - 1), 0.0)
        bent = -decay * (lags - 1) * _power(away[None, :], np.maximum(lags - 2, 0))
        bent = np.where(j[:, None] > 0, bent, 0.0)
        apart += (count - j) @ powers
        apart_slopes += (count - j) @ bent
        theta = decay * (1 - g)
        passed = passed[-1] + np.cumsum(powers * theta, axis=0)
        passed_slopes = passed_slopes[-1] + np.cumsum(bent * theta - decay * powers, axis=0)
        left = (size - 1 - j * b)[:, None, None]
        sums, tilts = _pairs(decay, g, left, geometric_sum)
        both = 1 + passed[:, :, None] + passed[:, None, :]
        squares += np.sum(sums * both, axis=0)
        slopes += np.sum(tilts * both + sums * passed_slopes[:, :, None], axis=0)
    once = weights * (squares @ weights) + weights * apart
    norm = count + float(np.sum(once)) + float(weights @ apart)
    by_gaps = 2 * weights * (slopes @ weights + apart_slopes)
    return norm, 2 * once / norm, by_gaps / norm


def _pairs(
    decay: float,
    gaps: Vector,
    size: int | Integers,
    sums: Callable[[Vector, int | Integers], tuple[Vector, Vector]],
) -> tuple[Vector, Vector]:
    """Return the sums over products of two decays ρ²(1 − u), and their slopes in the first gap."""
    both = gaps[:, None] + gaps[None, :] - gaps[:, None] * gaps[None, :]
    away = (1 - decay) * (1 + decay) + decay**2 * both
    values, slopes = sums(away, size)
    return values, slopes * decay**2 * (1 - gaps[None, :])


def _others(points: Vector) -> Vector:
    """Return Π_{i≠j}(p_i − p_j) for each j."""
    differences = points[None, :] - points[:, None]
    np.fill_diagonal(differences, 1.0)
    product: Vector = np.prod(differences, axis=1)
    return product


def _reciprocals(points: Vector) -> Vector:
    """Return 1/(p_i − p_j) at [j, i], 0 where i = j."""
    differences = points[None, :] - points[:, None]
    np.fill_diagonal(differences, np.inf)
    return 1 / differences


def _combined(decay: float, gaps: Vector, weights: Vector, size: int) -> Vector:
    """Return Σ_j weight_j·(ρ(1 − g_j))^t, t = 0 … n − 1."""
    found = np.zeros(size)
    with np.errstate(under="ignore"):
        for base, weight in zip(decay * (1 - gaps), weights, strict=True):
            found += weight * np.cumprod(np.concatenate([[1.0], np.full(size, base)]))[:size]
    return found


def geometric_sum(gaps: Vector, size: int | Integers) -> tuple[Vector, Vector]:
    """Return Σ_{t<n} p^t, and its derivative in q, for p = 1 − q.

    Args:
        gaps: q, 0 ≤ q ≤ 2, any shape.
        size: n, at least 0; or one of each sum.

    Examples:
        >>> value, slope = geometric_sum(np.array([0.0, 0.5, 2.0]), 3)
        >>> value.tolist(), slope.tolist()
        ([3.0, 1.75, 1.0], [-3.0, -2.0, 1.0])
    """
    near = gaps * size < _SERIES
    q = np.where(near, 1.0, gaps)
    power = _power(q, size)
    value = (1 - power) / q
    slope = (size * _power(q, np.maximum(size - 1, 0)) - value) / q
    series, rise = _binomial(gaps, size, 1)
    return np.where(near, series, value), np.where(near, rise, slope)


def falling_sum(gaps: Vector, size: int | Integers) -> tuple[Vector, Vector]:
    """Return Σ_{t<n} (1 − t/n)·p^t, and its derivative in q, for p = 1 − q.

    Args:
        gaps: q, 0 ≤ q ≤ 2, any shape.
        size: n, at least 1.

    Examples:
        >>> value, slope = falling_sum(np.array([0.0, 0.5]), 2)
        >>> value.tolist(), slope.tolist()
        ([1.5, 1.25], [-0.5, -0.5])
    """
    near = gaps * size < _SERIES
    q = np.where(near, 1.0, gaps)
    power = _power(q, size)
    ended = (1 - power) / (size * q)
    value = (1 - (1 - q) * ended) / q
    slope = (ended - (1 - q) * (_power(q, np.maximum(size - 1, 0)) - ended) / q - value) / q
    series, rise = _binomial(gaps, size + 1, 2)
    return np.where(near, series / size, value), np.where(near, rise / size, slope)


def _power(gaps: Vector, exponent: int | Integers) -> Vector:
    """Return (1 − q)ⁿ."""
    with np.errstate(under="ignore", divide="ignore"):
        # log1p needs 1 − q > 0; a negative ratio is the sign times its absolute value
        sizes = np.where(gaps > 1, 2 - gaps, gaps)
        logs = np.log1p(-np.minimum(sizes, 1.0))
        # 0·log 0 is 0 here
        powers: Vector = np.exp(exponent * np.where(np.equal(exponent, 0), 0.0, logs))
    return np.where((gaps > 1) & (exponent % 2 == 1), -powers, powers)


def _binomial(gaps: Vector, size: int | Integers, first: int) -> tuple[Vector, Vector]:
    """Return Σ_j C(size, first + j)·(−q)^j, and its derivative, where size·q is small."""
    q = np.where(gaps * size < 2 * _SERIES, gaps, 0.0)
    coefficient = np.asarray(1.0)
    for i in range(first):
        coefficient = coefficient * (size - i) / (i + 1)
    value, slope, power = np.zeros_like(q), np.zeros_like(q), np.ones_like(q)
    for j in range(_TERMS):
        value = value + coefficient * power
        coefficient = coefficient * -(size - first - j) / (first + j + 1)
        slope = slope + (j + 1) * coefficient * power
        power = power * q
    return value, slope
