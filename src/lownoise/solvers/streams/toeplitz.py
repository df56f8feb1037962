# SPDX-License-Identifier: Apache-2.0
"""The best strategy among lower-triangular Toeplitz matrices.

With b·c = w modulo xⁿ and d_t = (n − t)/n (mean error) or 1 (largest error), the squared error is
‖c‖²·Σ d_t b_t². Scaling c until both factors agree makes it the square of

    J(c) = ½‖c‖² + ½ Σ d_t b_t²,   b = w/c,   ∇J = c − T(q)ᵀ(d∘b),   q = b/c,

and ∇²J·v = v + T(q)ᵀ(d∘T(q)v) + T(2(q/c)·v)ᵀ(d∘b). Every T(·) is a product of series, so one
product by ∇²J is six transforms. In these coordinates ∇²J is I plus an operator of about the same
size: Newton's method with a few conjugate gradients a step needs some 25 products whatever n is.

Why what it finds is the best of all, not of those nearby: `lower_bound`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from lownoise.sensitivity.participation import ONE
from lownoise.solvers.streams.series import (
    divide,
    gathered,
    inverse,
    multiply,
    repeated,
    square_root,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.participation import Participation

Error = Literal["mean", "max"]

_STEPS = 50
_PRODUCTS = 200
_SOLVED = 1e-9  # of ‖∇J‖ beside ‖c‖: J is then within about its square
_ENOUGH = 1e-4  # of the promised descent (Armijo)
_SHORTEST = 2.0**-20
_DAMPINGS = (0.9, 0.7, 0.5, 0.3)
_FLOOR = 1e-9  # of the largest coefficient, below which the bound's test vector is not let
_DENSE = 2048  # up to here signs that differ cost one dense norm instead of the bound's tightness
_PROJECTIONS = 500
_SETTLED = 1e-8  # of the projected gradient of the logarithm, where ‖c‖ is about 1
_RECENT = 8
_LONGEST = 1e6
_LEAST = 1e-3  # of c_0
_ROUNDING = 16 * 2.0**-53  # of a transform, per halving of its length


def round_weights(size: int, error: Error) -> Vector:
    """Return d, shape (n,): what b_t² adds to the squared error, (n − t)/n or 1.

    Args:
        size: n.
        error: "mean" or "max".

    Examples:
        >>> round_weights(4, "mean"), round_weights(2, "max")
        (array([1.  , 0.75, 0.5 , 0.25]), array([1., 1.]))
    """
    return np.arange(size, 0.0, -1.0) / size if error == "mean" else np.ones(size)


def squared_error(
    workload: Vector, strategy: Vector, error: Error, participation: Participation = ONE
) -> float:
    """Return ‖Kc‖²·Σ d_t b_t², b = w/c: the squared error a round where one change moves by 1.

    ‖Kc‖ is how far a person in rounds 0, b, 2b, … moves C·x; no pattern moves it farther where
    c ≥ 0 falls, or patterns are spaced and c ≥ 0.

    Args:
        workload: w, shape (n,).
        strategy: c, shape (n,), c_0 not 0.
        error: "mean" or "max".
        participation: the rounds that one person may add to.

    Examples:
        >>> round(squared_error(np.ones(1024), square_root(np.ones(1024)), "max"), 8)
        10.70961067
    """
    b = divide(workload, strategy)
    moved = repeated(strategy, participation.count, participation.separation)
    return float(moved @ moved) * float(round_weights(len(b), error) @ b**2)


def optimal_toeplitz(
    workload: Vector,
    error: Error,
    participation: Participation = ONE,
    band: int | None = None,
) -> Vector:
    """Return c, the first column of the best lower-triangular Toeplitz strategy.

    Of a person in several rounds c ≥ 0 for spaced patterns, and c ≥ 0 falling for others: then
    {0, b, 2b, …} moves C·x farthest, and by ‖Kc‖ exactly.

    For the largest error of prefix sums, and of decayed ones, that is the square root itself: γ is
    then Landau's constant Σ r_k² (Landau 1913; see `lower_bound`).

    Where the square root has zeros inside the unit disc the search starts from several places, and
    what it finds may be a local optimum.

    Args:
        workload: w, shape (n,), w_0 > 0; its first column for Toeplitz W.
        error: "mean", √(‖B‖_F²/n)·max‖C e_t‖; or "max", the largest ‖B's row‖ for the first factor.
        participation: the rounds that one person may add to.
        band: how many of the first c_t may be other than 0; None is all of them.

    Returns:
        c, shape (n,), c_0 > 0, with ‖Kc‖² = Σ d_t b_t² to about 1e-9.

    Examples:
        >>> round(squared_error(np.ones(64), optimal_toeplitz(np.ones(64), "mean"), "mean"), 6)
        4.74823
    """
    weights = round_weights(len(workload), error)
    starts = _starts(workload)
    if participation.count == 1 and band is None:
        found = [_newton(start, workload, weights) for start in starts]
    else:
        most = len(workload) if band is None else band
        found = [_projected(start, workload, weights, participation, most) for start in starts]
    return min(found, key=lambda c: squared_error(workload, c, error, participation))


def _starts(workload: Vector) -> list[Vector]:
    """Return where to search: the square root if, as a polynomial, it has no zero in the disc.

    Then it is the best for the largest error. Otherwise it is stationary and may be far from good:
    the input's noise, the output's, and roots whose zeros are moved out by z → s·z are tried too.
    """
    n = len(workload)
    with np.errstate(all="ignore"):  # a root may grow beyond all numbers: others are tried then
        root = square_root(workload)
        if not np.all(np.isfinite(root)):
            root = workload
        elif _turns(root) == 0:
            return [root]
        damped = [root * s ** np.arange(n) for s in _DAMPINGS]
        starts = [np.eye(1, n)[0], np.array(workload), *damped]
        return [c for c in starts if np.all(np.isfinite(divide(workload, c)))]


def _turns(c: Vector) -> int:
    """Return how often c turns about 0 along the unit circle: its zeros inside, if none is near."""
    from scipy.fft import next_fast_len, rfft

    half = rfft(c, 4 * next_fast_len(len(c), real=True))
    return round(float(np.sum(np.angle(half[1:] * half[:-1].conj()))) / math.pi)


def _newton(start: Vector, workload: Vector, weights: Vector) -> Vector:
    c = _balanced(start, workload, weights, ONE)
    for _ in range(_STEPS):
        value, slope, curvature = _expansion(c, workload, weights)
        size = float(np.linalg.norm(slope))
        if size <= _SOLVED * float(np.linalg.norm(c)):
            break
        step = _conjugate_gradients(curvature, slope, min(0.1, math.sqrt(size)) * size)
        promised, length = float(slope @ step), 1.0
        while length > _SHORTEST:
            ahead = c + length * step
            b = divide(workload, ahead)
            lowest = 0.5 * float(ahead @ ahead) + 0.5 * float(weights @ b**2)
            if lowest <= value + _ENOUGH * length * promised:
                break
            length /= 2
        else:
            break  # what is left to gain is lost in rounding
        c = ahead
    return _balanced(c, workload, weights, ONE)


def _projected(
    start: Vector, workload: Vector, weights: Vector, participation: Participation, band: int
) -> Vector:
    """Return the least log ‖Kc‖² + log Σ d_t b_t² found over a cone of c, by projected gradients.

    The steps are those of Barzilai and Borwein, and one is taken where it errs less than the worst
    of the last few. In these coordinates the Hessian is near I where b is large, and some tens of
    steps are enough whatever n is.
    """
    c = _into(start / float(np.linalg.norm(start)), participation, band)
    value, slope = _log_error(c, workload, weights, participation)
    recent, best, length = [value], (value, c), 1.0
    for _ in range(_PROJECTIONS):
        if float(np.max(np.abs(_into(c - slope, participation, band) - c))) <= _SETTLED:
            break
        step = _into(c - length * slope, participation, band) - c
        promised, share = float(slope @ step), 1.0
        while share > _SHORTEST:
            ahead = c + share * step
            lowest, next_slope = _log_error(ahead, workload, weights, participation)
            if lowest <= max(recent) + _ENOUGH * share * promised:
                break
            share /= 2
        else:
            break  # what is left to gain is lost in rounding
        moved, bent = ahead - c, next_slope - slope
        curvature = float(moved @ bent)
        length = min(float(moved @ moved) / curvature, _LONGEST) if curvature > 0 else _LONGEST
        c, value, slope = ahead, lowest, next_slope
        recent = [*recent[1 - _RECENT :], value]
        if value < best[0]:
            best = (value, c)
    # what the sum of two points of the cone rounded
    return _balanced(_into(best[1], participation, band), workload, weights, participation)


def _into(c: Vector, participation: Participation, band: int) -> Vector:
    """Return the nearest c ≥ 0 of this band, falling unless patterns are spaced; c_0 above 0."""
    from scipy.optimize import isotonic_regression

    falling = participation.pattern != "spaced"
    own = c[:band]
    nearest = isotonic_regression(own, increasing=False).x if falling else own
    found: Vector = np.zeros_like(c)
    np.maximum(nearest, 0.0, out=found[:band])
    found[0] = max(float(found[0]), _LEAST)
    return found


def _log_error(
    c: Vector, workload: Vector, weights: Vector, participation: Participation
) -> tuple[float, Vector]:
    """Return log ‖Kc‖² + log Σ d_t b_t², and its gradient."""
    count, separation = participation.count, participation.separation
    with np.errstate(over="ignore", invalid="ignore"):  # far steps, from which it comes back
        reciprocal = inverse(c)
        b = multiply(workload, reciprocal)
        q = multiply(b, reciprocal)
        moved, costs = repeated(c, count, separation), weights * b
        square, price = float(moved @ moved), float(b @ costs)
        back = multiply(q, costs[::-1])[::-1]
    if not (math.isfinite(price) and price > 0 and np.all(np.isfinite(back))):
        return math.inf, np.zeros_like(c)
    slope = 2 / square * gathered(moved, count, separation) - 2 / price * back
    return math.log(square) + math.log(price), slope


def lower_bound(workload: Vector, strategy: Vector, error: Error) -> float:
    """Return a squared error that no lower-triangular Toeplitz strategy is below.

    For every y, with H the Hankel matrix of y (H_ij = y_{i+j}, 0 beyond n) and D = diag(d),

        ‖c‖·‖D^{1/2}b‖ ≥ Σ w_k y_k / ‖D^{-1/2}H‖,   as Σ w_k y_k = Σ_k y_k Σ_{i+j=k} b_i c_j = bᵀHc

    (ours; at D = I the dual of Landau's problem: ‖H‖ is the norm of the Toeplitz matrix of y, and
    the bound is attained by the Carathéodory–Fejér theorem). Lagrange's condition c = H·b at the
    optimum gives y from c by one division; with y ≥ 0 and b, c > 0 Perron's theorem then says that
    (D^{1/2}b, c) is the top singular pair, so that the optimum is global and the bound is tight.
    The norm is bounded by ‖A‖² ≤ max_i (|A|ᵀ|A|x)_i/x_i for any x > 0 (Collatz and Wielandt), plus
    what transforms can have rounded; or, where y has both signs (a sliding window) and n ≤ 2048, by
    its largest singular value. Beyond that such bounds are far below what is attained.

    Args:
        workload: w, shape (n,), w_0 > 0.
        strategy: c near the optimum, shape (n,), as `optimal_toeplitz` gives it; a bad one gives a
            low bound, never a wrong one.
        error: "mean" or "max".

    Examples:
        >>> w = np.ones(64)
        >>> best = optimal_toeplitz(w, "mean")
        >>> round(squared_error(w, best, "mean") / lower_bound(w, best, "mean") - 1, 9)
        0.0
    """
    weights = round_weights(len(workload), error)
    b = divide(workload, strategy)
    y = divide(strategy[::-1], b)[::-1]  # c_i = Σ_j y_{i+j} b_j, read from the last row up
    norm = _positive_norm(np.abs(y), np.abs(strategy), weights)
    if np.any(y < 0) and len(y) <= _DENSE:
        norm = min(norm, _dense_norm(y, weights))
    total = math.fsum((workload * y).tolist())
    return (max(total, 0.0) / norm * (1 - 2.0**-45)) ** 2


def _positive_norm(y: Vector, start: Vector, weights: Vector) -> float:
    """Return at least ‖D^{-1/2}H‖ for y ≥ 0; `start` ≥ 0 is near its right singular vector."""
    x = np.maximum(start, _FLOOR * float(np.max(start)))
    noise = _ROUNDING * (math.log2(len(y)) + 2) * float(np.linalg.norm(y))
    once = (_hankel(y, x) + noise * float(np.linalg.norm(x))) / weights
    twice = _hankel(y, once) + noise * float(np.linalg.norm(once))
    return math.sqrt(float(np.max(twice / x)))


def _dense_norm(y: Vector, weights: Vector) -> float:
    """Return at least ‖D^{-1/2}H‖, by a singular value whose error LAPACK bounds."""
    from scipy.linalg import hankel, svdvals

    matrix = hankel(y, np.zeros(len(y))) / np.sqrt(weights)[:, None]
    largest = float(svdvals(matrix, check_finite=False)[0])
    return largest * (1 + 8 * len(y) * 2.0**-53)


def _hankel(y: Vector, x: Vector) -> Vector:
    """Return Hx, (Hx)_i = Σ_j y_{i+j} x_j."""
    return multiply(y[::-1], x)[::-1]


def _balanced(c: Vector, workload: Vector, weights: Vector, participation: Participation) -> Vector:
    """Return c scaled so that both halves of J agree."""
    b = divide(workload, c)
    moved = repeated(c, participation.count, participation.separation)
    scaled: Vector = c * (float(weights @ b**2) / float(moved @ moved)) ** 0.25
    return scaled


def _expansion(
    c: Vector, workload: Vector, weights: Vector
) -> tuple[float, Vector, Callable[[Vector], Vector]]:
    """Return J, ∇J and v ↦ ∇²J·v."""
    from scipy.fft import irfft, next_fast_len, rfft

    n = len(c)
    reciprocal = inverse(c)
    b = multiply(workload, reciprocal)
    q = multiply(b, reciprocal)
    length = next_fast_len(2 * n - 1, real=True)
    once, twice = rfft(q, length), rfft(2 * multiply(q, reciprocal), length)
    costs = weights * b
    priced = rfft(costs, length)
    value = 0.5 * float(c @ c) + 0.5 * float(b @ costs)
    slope: Vector = c - irfft(priced * once.conj(), length)[:n]

    def curvature(v: Vector) -> Vector:
        transformed = rfft(v, length)
        moved = weights * irfft(once * transformed, length)[:n]
        bent = irfft(twice * transformed, length)[:n]
        spectrum = once.conj() * rfft(moved, length) + priced * rfft(bent, length).conj()
        product: Vector = v + irfft(spectrum, length)[:n]
        return product

    return value, slope, curvature


def _conjugate_gradients(
    product: Callable[[Vector], Vector], slope: Vector, tolerance: float
) -> Vector:
    """Return x with ‖A·x + slope‖ ≤ tolerance, or the last x before A was found not positive."""
    x, rest = np.zeros(len(slope)), -slope
    along, square = rest, float(rest @ rest)
    for _ in range(_PRODUCTS):
        bent = product(along)
        curvature = float(along @ bent)
        if curvature <= 0:
            return x if np.any(x) else rest
        share = square / curvature
        x = x + share * along
        rest = rest - share * bent
        following = float(rest @ rest)
        if math.sqrt(following) <= tolerance:
            break
        along, square = rest + following / square * along, following
    return x
