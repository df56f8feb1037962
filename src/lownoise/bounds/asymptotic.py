# SPDX-License-Identifier: Apache-2.0
"""How far apart the laws of three neighbours can be: what bounds unbiased ρ-zCDP mechanisms.

P⁺, P⁻ and Q are the laws at three tables, each a neighbour of the other two, so that no divergence
D_α of one of them from another exceeds αρ. They are absolutely continuous with respect to each
other, since a D_α is finite in either direction.
"""

from __future__ import annotations

import math

from lownoise.numbers.rounding import FEW, TINY, grown, shrunk

_NEAR = 0.5  # ρ, beyond which the second form is far above the first
_LEAST = 1e-300  # ρ, below which floats lose digits


def divergence_up(rho: float) -> float:
    """Return at least ∫(P⁺−P⁻)²/Q: at most 6ρ(1 + O(ρ)) and 2ρ(1 + √(3ρ) + O(ρ)), the lesser.

    Opened, the square is two terms of at most e^{2ρ} (D₂ ≤ 2ρ) less twice ∫P⁺P⁻/Q ≥ (∫√(P⁺P⁻))² =
    e^{−D_{1/2}(P⁺‖P⁻)} ≥ e^{−ρ} (D_{1/2} ≤ D₁ ≤ ρ). That is the lesser bound from ρ = 0.28 on.
    Below, Q gives way to M = (P⁺+P⁻)/2: ∫(P⁺−P⁻)²/M is at most e^{2ρ} − 1, and what M/Q is off 1
    is told from second and third moments (see `docs/theory.md`). Both are ours.

    Args:
        rho: ρ > 0.

    Returns:
        Infinite beyond the floats.

    Examples:
        >>> [round(divergence_up(rho) / (2 * rho), 4) for rho in (1.0, 0.1, 0.01, 1e-4, 1e-8)]
        [7.0212, 1.7528, 1.1802, 1.0173, 1.0002]
    """
    rho = max(rho, _LEAST)  # a mechanism of less is one of that much, too
    apart = grown(2 * expm1(2 * rho) - 2 * math.expm1(-rho), FEW)
    return apart if rho > _NEAR else min(apart, _near(rho))


def _near(rho: float) -> float:
    """Return the second form for 0 < ρ ≤ 1/2: every j ≥ 6 and w ≥ 0 prove one.

    I = ∫(P⁺−P⁻)²/Q is at most R + c·(I/2 − 3I²/(4T)) − wI/4, c = 1/(2λ). j ~ 1/√ρ and w ~ 2ρ are
    near the best.
    """
    root = math.sqrt(rho)
    j = max(6.0, 1.5 * math.sqrt(3.0) / root - 4)
    w = 2 * rho * max(0.0, 1 - 2 * root)
    scale = shrunk((j + 1) / (6 + w * (j + 1)), FEW)  # λ
    c = 1 / (2 * scale)
    two = math.expm1(2 * rho)  # T
    three = min(
        math.expm1(6 * rho),
        (math.sqrt(3.0) - 1) / 4 * math.expm1(12 * rho),
        math.expm1(20 * rho) / 10,
    )
    r = scale * w * w / 2 + (1 - scale * w) * 2 * math.expm1(j * rho) / j + c * three + w * two
    b = 1 + w / 4 - c / 2
    return grown(2 * r / (b + math.sqrt(b * b + 3 * c * r / two)), TINY)


def expm1(x: float) -> float:
    """Return e^x − 1, infinite beyond the floats: a bound by its inverse is 0, and still true."""
    try:
        return math.expm1(x)
    except OverflowError:
        return math.inf
