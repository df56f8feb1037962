# SPDX-License-Identifier: Apache-2.0
"""What pure ε-differential privacy implies: the curve of randomised response, rounded up.

An ε-DP release is a post-processing of randomised response, which tells a bit truly with chance
1 − a and falsely with chance a = 1/(1 + e^ε) (Kairouz, Oh & Viswanath 2015, Theorem 8). So what
randomised response reveals is the most that any ε-DP release reveals, and each bound is attained.

* ρ-zCDP with ρ = ε·tanh(ε/2). With u = α − 1/2 the Rényi divergence of order α is
  (g(u²) − g(1/4))/(α − 1), g(s) = ln cosh(ε√s). As tanh(x)/x falls, g is concave, so
  g(u²) − g(1/4) ≤ g′(1/4)(u² − 1/4) = ε·tanh(ε/2)·α(α − 1), and α → 1 attains it. It is below the
  ε²/2 of Bun & Steinke (2016, Proposition 1.4), because tanh x ≤ x.
* μ-GDP with Φ(μ/2) = 1 − a. The trade-off curve of randomised response is two segments through
  (0, 1), (a, a) and (1, 0) (Wasserman & Zhou 2010). G_μ(x) = Φ(Φ⁻¹(1 − x) − μ) is convex and holds
  the same three points when Φ⁻¹(1 − a) = μ/2, so it lies below the segments; a smaller μ lies above
  the middle point.
* (ε′, δ) with δ = (e^ε − e^ε′)/(1 + e^ε) for ε′ ≤ ε. It is the greatest p − e^ε′·q where
  p ≤ e^ε·q and 1 − q ≤ e^ε(1 − p): the corners are (0, 0), (1, 1) and (1 − a, a).
"""

from __future__ import annotations

from fractions import Fraction

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up

_BITS = 400
_LARGE = 1000  # beyond it plain bounds do


def rho_up(epsilon: Fraction) -> Fraction:
    """Return at least ρ = ε·tanh(ε/2), never above ε²/2.

    Examples:
        >>> 0.46211 < rho_up(Fraction(1)) < 0.46212
        True
    """
    from flint import arb, fmpq

    plain = min(epsilon**2 / 2, epsilon)
    if epsilon > _LARGE:
        return plain
    with precision(_BITS):
        ball = arb(fmpq(epsilon.numerator, epsilon.denominator))
        rho = up(float((ball * (ball / 2).tanh()).upper()))
    return min(plain, Fraction(rho))


def mu_square_up(epsilon: Fraction) -> Fraction:
    """Return at least μ², Φ(μ/2) = e^ε/(1 + e^ε).

    Beyond ε = 1000 it is 8ε: Φ(−x) ≤ e^{−x²/2}/2 and e^{−ε}/2 ≤ 1/(1 + e^ε).
    """
    return 8 * epsilon if epsilon > _LARGE else mu_up(epsilon) ** 2


def mu_up(epsilon: Fraction) -> Fraction:
    """Return at least μ, Φ(μ/2) = e^ε/(1 + e^ε), for ε to 1000.

    Examples:
        >>> 1.2319 < mu_up(Fraction(1)) < 1.2321
        True
    """
    from flint import arb, fmpq

    with precision(_BITS):
        ball = arb(fmpq(epsilon.numerator, epsilon.denominator))
        # Φ(x) = (1 + erf(x/√2))/2, and each form where it loses no digits
        root = (ball / 2).tanh().erfinv() if epsilon < 1 else (2 / (1 + ball.exp())).erfcinv()
        return Fraction(up(float((2 * arb(2).sqrt() * root).upper())))


def epsilon_up(epsilon: Fraction, delta: float) -> float:
    """Return at least the ε′ at which an ε-DP release surely has `delta`.

    It is 0 where δ alone is enough.

    Examples:
        >>> round(epsilon_up(Fraction(1), 0.25), 4)
        0.5815
    """
    from flint import arb, fmpq

    with precision(_BITS):
        ball = arb(fmpq(epsilon.numerator, epsilon.denominator))
        kept = 1 - arb(delta) * (1 + (-ball).exp())
        if not kept > 0:
            return 0.0
        return max(up(float((ball + kept.log()).upper())), 0.0)
