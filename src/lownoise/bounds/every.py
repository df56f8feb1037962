# SPDX-License-Identifier: Apache-2.0
"""What no private mechanism of linear answers beats, biased or not (ours).

The answers are W·x, x whole numbers, and tables are neighbours where one coordinate differs by 1.
Average the law of the error Z over many tables: where coordinates have no end, in the limit Z + w
is as hard to tell from Z as neighbours are, w any column of W. One number that is so has E Z² ≥ κ²
for w = 1. So E(θᵀZ)² ≥ κ²·(θᵀw)² for every θ and w: the ellipsoid of E ZZᵀ covers κ·w, and
(E‖Z‖_p²)^{1/2} ≥ κ·γ_(p)(W). Each function here is one κ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lownoise.numbers.rounding import grown, lowered, shrunk

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_RHO = 350.0  # beyond it the bound is below the floats
_STEPS = 256
_FAR = 60.0  # e^{−60} is no longer worth a term


def every_zcdp(rho: float) -> float:
    """Return at most 1/√(e^{2ρ} − 1): κ of ρ-zCDP, where coordinates have no end.

    Hammersley, Chapman & Robbins: the means of Z + 1 and Z differ by 1, so 1 ≤ Var Z·χ², and χ² is
    e^{D₂} − 1 ≤ e^{2ρ} − 1 (ours). Gaussian noise has 1/√(2ρ).

    Examples:
        >>> round(every_zcdp(0.005), 3)
        9.975
    """
    return shrunk(1 / math.sqrt(grown(math.expm1(2 * rho)))) if rho < _MOST_RHO else 0.0


def every_approx(epsilon: float, delta: float) -> float:
    """Return a κ of (ε, δ)-DP, where coordinates have no end; 0 where δ leaves nothing.

    Let Z be symmetric, T(t) = P(Z > t) and q = e^{−ε}. Then T(t+1) ≥ q(T(t) − δ), T(t) + q·T(1−t) ≥
    q(1−δ) on (0, 1), and T ≤ ½. With J + 1 terms of E Z² = 4Σ∫(t+j)T(t+j), A = Σq^j, D = Σjq^j,
    v = q(1−δ)/(1+q) and r = (J+1)q^{J+1}/((1+q)A),

        κ² = 2v(A + 2D) − (1 − q + 2qδ)·A·r² − 2δq/(1−q)·((J+1)² − A − 2D),

    for every J (ours; docs/theory.md has the steps). At δ = 0 it is 2q/(1−q)² as J grows, which
    geometric noise attains.

    Examples:
        >>> round(every_approx(0.1, 0.0) * 0.1, 3), round(every_approx(0.1, 1e-6) * 0.1, 3)
        (1.414, 1.413)
    """
    if delta >= 0.5:  # noqa: PLR2004
        return 0.0
    q, gap = math.exp(-epsilon), -math.expm1(-epsilon)
    best = 0.0
    for i in range(_STEPS):
        last = math.floor(_FAR / epsilon * 2.0 ** (-i / 4)) if i else 0
        if i and not last:
            break
        # q^{J+1}, and the sums in its terms
        end = math.exp(-epsilon * (last + 1))
        ones = -math.expm1(-epsilon * (last + 1)) / gap
        steps = (ones - 1 - last * end) / gap if last else 0.0
        kept = q * (1 - delta) / (1 + q) * 2 * (ones + 2 * steps)
        late = min((last + 1) * end / ((1 + q) * ones), 0.5)
        early = (gap + 2 * q * delta) * ones * late**2
        lost = 2 * delta * q / gap * ((last + 1.0) ** 2 - ones - 2 * steps)
        size = (1 + 2 * delta * q / gap) * (ones + (ones + 1 + last) / gap + (last + 1.0) ** 2)
        best = max(best, lowered(kept - early - lost, kept + early + size * 2.0**-8))
    return shrunk(math.sqrt(best))


def finite_down(most: int, *, epsilon: float, delta: float = 0.0) -> float:
    """Return a κ of (ε, δ)-DP, where each coordinate is a whole number from 0 to `most`.

    Let each coordinate be 0 or m with chances of a half. Given the others, neighbours at distance m
    have laws p₀ and p₁, and the mean square error along θ is at least ½(mθᵀw)²·∫p₀p₁/(p₀+p₁). Where
    p₀/p₁ is within e^{±mε} that is at least e^{mε}/(1+e^{mε})² of p₀ + p₁, and
    δ(e^{mε}−1)/(e^ε−1) of each is elsewhere: κ² = m²(1 − δ_m)/(4 cosh²(mε/2)) for every m (ours).
    Or `_chain`, with χ² = e^{−ε}(e^ε − 1)².

    Examples:
        >>> round(finite_down(1, epsilon=0.1), 4), round(finite_down(10**4, epsilon=0.1) * 0.1, 4)
        (0.4994, 0.9977)
    """

    def lost_at(m: int) -> float:
        return grown(delta * math.exp(_log_ratio(m, epsilon))) if delta else 0.0

    best = _chain(most, 0.5 / epsilon, lambda g: (4 * math.sinh(g * epsilon / 2) ** 2, lost_at(g)))
    for m in _sizes(most, 2.4 / epsilon):
        if lost_at(m) < 1:
            share = shrunk(1 - lost_at(m))
            away = math.exp(-m * epsilon / 2) / (1 + math.exp(-m * epsilon))  # 1/(2 cosh(mε/2))
            best = max(best, m * math.sqrt(max(share, 0.0)) * away)
    return shrunk(best)


def finite_zcdp_down(most: int, rho: float) -> float:
    """Return a κ of ρ-zCDP, where each coordinate is a whole number from 0 to `most`.

    As `finite_down`: ∫p₀p₁/(p₀+p₁) ≥ ½(∫√(p₀p₁))² by Cauchy–Schwarz, and that is ½e^{−ρm²} or more,
    since distance m is m²ρ-zCDP (Bun & Steinke 2016): κ = (m/2)·e^{−ρm²/2} for every m. Or
    `_chain`, with χ² = e^{2ρ} − 1 (both ours).

    Examples:
        >>> round(finite_zcdp_down(1, 0.005), 4), round(finite_zcdp_down(10**4, 0.005), 3)
        (0.4988, 9.956)
    """
    sizes = _sizes(most, 1 / math.sqrt(rho))
    pair = max(m / 2 * math.exp(-rho * m * m / 2) for m in sizes)
    chain = _chain(most, 0.3 / math.sqrt(rho), lambda g: (math.expm1(2 * rho * g * g), 0.0))
    return shrunk(max(pair, chain))


def _chain(most: int, best: float, unlike: Callable[[int], tuple[float, float]]) -> float:
    """Return max over g of gK(1−δ)/((K−1)(√(χ²+δ)+√δ) + 1 + √(1+χ²+δ)), K = ⌊most/g⌋ steps of g.

    Tables 0, g, …, Kg have laws p_j of the answer, and chances π_j. Let h_j = min(p_j, e^ε·p_{j−1})
    for 1 ≤ j ≤ K (p_j itself where δ = 0), and 0 for j = 0 and K + 1. Σ(h_{j+1} − h_j) = 0, so that
    the answer drops out of Σ∫(answer − jgθᵀw)(h_{j+1} − h_j), which is gθᵀw·Σ∫h_j; and by
    Cauchy–Schwarz its square is at most E(error)²·Σ∫(h_{j+1} − h_j)²/(π_j·p_j). There the integral
    is at most 1+χ²+δ for j = 0, (√(χ²+δ)+√δ)² for 0 < j < K and 1 for j = K, and π is as their
    roots: van Trees' inequality, by steps (ours; docs/theory.md has them).
    """
    found = 0.0
    for g in _sizes(most, best):
        try:
            square, delta = unlike(g)
        except OverflowError:
            continue
        if delta < 1:
            steps, apart = most // g, grown(square) + delta
            each = math.sqrt(apart) + math.sqrt(delta)
            size = grown((steps - 1) * each + 1 + math.sqrt(1 + apart))
            found = max(found, shrunk(g * steps * (1 - delta) / size))
    return found


def _sizes(most: int, best: float) -> list[int]:
    """Return the m that are tried, in 1…most."""
    near = min(max(math.floor(best), 1), most)
    found = {1, near, min(near + 1, most)}
    found |= {max(math.floor(near * 2.0 ** (-i / 4)), 1) for i in range(1, 20)}
    return sorted(found)


def _log_ratio(m: int, epsilon: float) -> float:
    """Return ln (e^{mε}−1)/(e^ε−1), at most a little off."""
    if m * epsilon > 600:  # noqa: PLR2004 (beyond the floats: nothing is left)
        return 600.0
    return math.log(math.expm1(m * epsilon) / math.expm1(epsilon))
