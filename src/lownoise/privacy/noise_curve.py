# SPDX-License-Identifier: Apache-2.0
"""The least ρ and μ of each pure noise, over all changes it hides, rounded up.

ε alone implies what randomised response has (`pure_curve`). Noise that has a density and is added
to numbers reveals less; `docs/theory.md` has the proofs.

* *Laplace.* One number, moved by ε times its scale, has ρ = ε − 1 + e^{−ε} and μ with
  Φ(−μ/2) = e^{−ε/2}/2. All noise whose log density changes by ε at most along every change has no
  more: K-norm noise of any body.
* *A ball.* Noise of density ∝ exp(−ε|z|) in d dimensions, moved by a unit vector, has with κ = d/2
  and c = ε/2

      ρ = (ε²/2)·(K_κ(c)I_κ(c) + K_{κ−1}(c)I_{κ+1}(c)),   Φ(−μ/2) = (1 − T)/2,
      T = c·(K_κ(c)L_{κ−1}(c) + K_{κ−1}(c)L_κ(c)),

  I, K and L the modified Bessel and Struve functions; T is the total variation. Linear images of
  such noise have the same, and d = 1 is Laplace noise.
* *A report* that is kept with chance q and else one of N alike: see `response_rho_up`.

Each is the least: of Laplace noise and of a ball ρ is the Kullback–Leibler divergence, where D_α/α
is greatest, and the curve of μ-GDP touches the trade-off curve where both errors are equal. Where ε
is so large that T is 1 to all digits, μ of a ball is from a bound on 1 − T, below 1% above it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

_PRECISIONS = (128, 512)  # bits, until the ball is narrow
_NARROW = 2.0**-44  # relative
_LARGE = 1000.0  # no budget's ε is above it
_LITTLE = 2.0**-30  # below it the leading terms do
_SLOPE = 1.2533141373155006  # above √(π/2), the slope of μ at 0, where it is steepest
_MOST_DIMENSIONS = 10_000  # beyond it Bessel functions take long
_SEARCH = 60  # halvings


def laplace_rho_up(epsilon: float) -> float:
    """Return at least ε − 1 + e^{−ε}.

    Examples:
        >>> 0.367879 < laplace_rho_up(1.0) < 0.367880
        True
    """
    from flint import arb

    if not epsilon <= _LARGE:
        return epsilon
    if epsilon < _LITTLE:
        return up(up(epsilon * epsilon) / 2) if epsilon else 0.0
    return _narrow_up(lambda: arb(epsilon) + (-arb(epsilon)).expm1())


def laplace_mu_up(epsilon: float) -> float:
    """Return at least μ with Φ(−μ/2) = e^{−ε/2}/2.

    Examples:
        >>> 1.03006 < laplace_mu_up(1.0) < 1.03007
        True
    """
    from flint import arb

    if not epsilon <= _LARGE:
        return 2 * up(math.sqrt(epsilon))  # Φ(−x) ≤ e^{−x²/2}/2
    if epsilon < _LITTLE:
        return up(epsilon * _SLOPE) if epsilon else 0.0
    return _mu_up(lambda: (-(-arb(epsilon) / 2).expm1(), (-arb(epsilon) / 2).exp()))


@lru_cache(maxsize=4096)
def ball_rho_up(dimension: int, epsilon: float) -> float:
    """Return at least ρ of noise ∝ exp(−ε|z|) in d dimensions under unit changes.

    Examples:
        >>> 0.031219 < ball_rho_up(16, 1.0) < 0.031220  # below ε²/2d = 0.03125
        True
    """
    from flint import arb

    plain = laplace_rho_up(epsilon)
    if not (0 < epsilon <= _LARGE and 1 < dimension <= _MOST_DIMENSIONS):
        return plain

    def found() -> Any:  # noqa: ANN401 (flint carries no types)
        k, c = arb(dimension) / 2, arb(epsilon) / 2
        inner = c.bessel_k(k) * c.bessel_i(k) + c.bessel_k(k - 1) * c.bessel_i(k + 1)
        return arb(epsilon) ** 2 / 2 * inner

    return min(_narrow_up(found), plain)


@lru_cache(maxsize=4096)
def ball_mu_up(dimension: int, epsilon: float) -> float:
    """Return at least μ of noise ∝ exp(−ε|z|) in d dimensions under unit changes.

    Examples:
        >>> 0.253860 < ball_mu_up(16, 1.0) < 0.253862
        True
    """
    from flint import arb

    plain = laplace_mu_up(epsilon)
    if not (0 < epsilon <= _LARGE and 1 < dimension <= _MOST_DIMENSIONS):
        return plain

    def found() -> tuple[Any, Any]:
        k, c = arb(dimension) / 2, arb(epsilon) / 2
        apart = c * (c.bessel_k(k) * _struve(k - 1, c) + c.bessel_k(k - 1) * _struve(k, c))
        return apart, 1 - apart

    def less() -> tuple[Any, Any]:
        # 1 − T is ∫ y^κ K_κ(y) dy beyond c, over what that is beyond 0, and K_κ ≥ K_{κ−1}
        k, c = arb(dimension) / 2, arb(epsilon) / 2
        whole = arb(2) ** (k - 1) * arb.pi().sqrt() * (k + arb(1) / 2).gamma()
        rest = c**k * c.bessel_k(k) / whole
        return 1 - rest, rest

    own = _mu_up(found)
    return min(own if own < math.inf else _mu_up(less), plain)


def response_rho_up(keep: Fraction, records: int) -> float:
    """Return at least ρ of a report that is kept with chance q and else one of N records alike.

    Two records give a report of one of themselves with chances h = q + (1 − q)/N and l = (1 − q)/N,
    and of any other alike: with w = ε(α − ½), ε = ln(h/l) and b = (1 − h − l)/(2√(hl)),

        D_α/α = ε²·ln((b + cosh w)/(b + cosh ε/2)) / (w² − ε²/4),

    the mean of ε²·S over the squares between, S(w) = sinh(w)/(2w(b + cosh w)), which rises and then
    falls. Where it falls from the start, ρ is the divergence of α = 1; else a point w where S falls
    and is still above its mean has ρ ≤ ε²·S(w).

    Args:
        keep: q in (0, 1).
        records: N ≥ 2.

    Examples:
        >>> from fractions import Fraction
        >>> 0.4621 < response_rho_up(Fraction(math.tanh(0.5)), 2) < 0.4622  # ε = 1
        True
    """
    from flint import arb, fmpq

    high, low = _chances(keep, records)

    def ball(number: Fraction) -> Any:  # noqa: ANN401
        return arb(fmpq(number.numerator, number.denominator))

    def falls(b: Any, w: Any) -> Any:  # noqa: ANN401 (the sign of −S′)
        return w.sinh() * (b + w.cosh()) - w * (b * w.cosh() + 1)

    with precision(_PRECISIONS[0]):
        epsilon = (ball(high) / ball(low)).log()
        b = ball(1 - high - low) / (2 * (ball(high) * ball(low)).sqrt())
        start = epsilon / 2
        if falls(b, start) >= 0:
            return up(float((ball(high - low) * epsilon).upper()))

        def sure(w: Any) -> bool:  # noqa: ANN401
            mean = ((b + w.cosh()) / (b + start.cosh())).log() / (w**2 - start**2)
            return bool(falls(b, w) >= 0) and bool(mean <= w.sinh() / (2 * w * (b + w.cosh())))

        # S is at its mean beyond its peak; the peak itself is sure
        below, above = start, start
        while not falls(b, above) >= 0:
            below, above = above, 2 * above
        for _ in range(_SEARCH):
            middle = ((below + above) / 2).mid()
            below, above = (below, middle) if falls(b, middle) >= 0 else (middle, above)
        best, beyond = above, 2 * above
        while sure(beyond):
            best, beyond = beyond, 2 * beyond
        for _ in range(_SEARCH):
            middle = ((best + beyond) / 2).mid()
            best, beyond = (middle, beyond) if sure(middle) else (best, middle)
        found = epsilon**2 * best.sinh() / (2 * best * (b + best.cosh()))
        return up(float(found.upper())) if sure(best) else math.inf


def response_mu_up(keep: Fraction, records: int) -> float:
    """Return at least μ of such a report: Φ⁻¹(h) − Φ⁻¹(l).

    Its trade-off curve has the corners (l, 1 − h) and (1 − h, l), where the convex one of μ-GDP
    is not above it.

    Examples:
        >>> from fractions import Fraction
        >>> 1.2319 < response_mu_up(Fraction(math.tanh(0.5)), 2) < 1.2321  # ε = 1
        True
    """
    from flint import arb, fmpq

    def quantile(p: Fraction) -> Any:  # noqa: ANN401
        tail = min(p, 1 - p)
        ball = (2 * arb(fmpq(tail.numerator, tail.denominator))).erfcinv()
        return ball if p > tail else -ball

    high, low = _chances(keep, records)
    return _narrow_up(lambda: arb(2).sqrt() * (quantile(high) - quantile(low)))


def _chances(keep: Fraction, records: int) -> tuple[Fraction, Fraction]:
    low = (1 - keep) / records
    return keep + low, low


def _struve(order: Any, c: Any) -> Any:  # noqa: ANN401
    """Return the modified Struve function L_ν(c) by its series, which is a ₁F₂."""
    from flint import arb

    half = arb(3) / 2
    series = (c * c / 4).hypgeom([arb(1)], [half, order + half])
    return (c / 2) ** (order + 1) / (half.gamma() * (order + half).gamma()) * series


def _mu_up(found: Callable[[], tuple[Any, Any]]) -> float:
    """Return at least μ with 2Φ(μ/2) − 1 = T, from balls of T and 1 − T."""
    from flint import arb

    for bits in _PRECISIONS:
        with precision(bits):
            apart, rest = found()
        if _narrow(apart) and _narrow(rest):  # of what is not, an inverse takes minutes
            with precision(_PRECISIONS[0]):
                # each form where it loses no digits
                root = apart.erfinv() if apart < rest else rest.erfcinv()
                return up(float((2 * arb(2).sqrt() * root).upper())) if apart != 0 else 0.0
    return math.inf


def _narrow_up(found: Callable[[], Any]) -> float:
    """Return at least the number that a ball holds; infinite where no precision makes it narrow."""
    for bits in _PRECISIONS:
        with precision(bits):
            ball = found()
            if _narrow(ball):
                return up(float(ball.upper())) if ball != 0 else 0.0
    return math.inf


def _narrow(ball: Any) -> bool:  # noqa: ANN401
    return bool(ball.is_finite() and (ball.is_zero() or ball.rad() < _NARROW * abs(ball.mid())))
