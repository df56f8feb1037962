# SPDX-License-Identifier: Apache-2.0
"""What no ε-DP mechanism can beat in any direction, and so in all of them at once."""

from __future__ import annotations

import math

from lownoise.numbers.rounding import grown, lowered, shrunk

_RATES = 60


def geometric_down(epsilon: float) -> float:
    """Return at most √(2q)/(1 − q), q = e^{−ε}: the deviation of two-sided geometric noise.

    Examples:
        >>> round(geometric_down(1e-6) * 1e-6, 6), geometric_down(800.0) < 1e-100
        (1.414214, True)
    """
    # √(2q)/(1 − q) = √2/(2 sinh(ε/2))
    return shrunk(math.sqrt(2) * math.exp(-epsilon / 2) / -math.expm1(-epsilon))


def directional_bound(
    gamma: float,
    *,
    epsilon: float,
    most: float = math.inf,
    changes: int = 1,
    reach: float = 0.0,
) -> float:
    """Return Γ_p(S)·√(2q)/(1 − q), q = e^{−ε}, less what an end to the records costs.

    Every ε-DP mechanism, biased or not, has (E‖error‖_p²)^{1/2}, p ≥ 2, at least this on some table
    (ours; Γ_p(S) is at least the greatest extent of S in any direction).

    *One direction.* Let s be a change of one record, and consider tables with the truths j·s, j
    whole. Averaged over many j and over signs, the error's law has, in the limit, P(Z ∈ A + s) ≥
    q·P(Z ∈ A). With h = θᵀs the tail T(t) = P(θᵀZ > t) is at most ½ at 0, T(t + h) ≥ q·T(t), and on
    (0, h) T(t) ≥ q·P(θᵀZ > t − h) = q·(1 − T(h − t)). The least 4∫tT dt = E(θᵀZ)² is then at
    T = q/(1 + q) on (0, h), geometric noise on the points jh: h²·2q/(1 − q)².

    *All directions.* Average over Σ jᵢsᵢ. Then E ZZᵀ is one matrix Σ with √(θᵀΣθ) ≥ κ·h_S(θ),
    κ = √(2q)/(1 − q), for every θ, so √Σ·B₂ covers κS, and (E‖Z‖_p²)^{1/2} ≥ ‖√diag Σ‖_p ≥
    κ·Γ_p(S).

    *An end.* Where only |jᵢ| ≤ M are possible, answer for others at the nearest end: that is ε-DP
    as well, and errs by ‖Σ(jᵢ beyond M)·sᵢ‖ more at most. Let jᵢ have a chance ∝ p^{|jᵢ|},
    p = e^{−η}, in place of a uniform one: κ becomes that of ε + η, and the root mean square of
    (|j| − M)₊ is √2·p^{(M+1)/2}/(1 − p) at most. Every η is a proof.

    Args:
        gamma: at most Γ_p(S), proved by points of S that changes of one record make.
        epsilon: ε > 0.
        most: M, how often each of those changes can be made, and its opposite.
        changes: how many points of S the proof uses; of no matter where M = ∞.
        reach: at least ‖s‖_p for each of them; likewise.

    Examples:
        >>> round(directional_bound(1.0, epsilon=0.01) * 0.01, 4)
        1.4142
        >>> directional_bound(1.0, epsilon=0.01, most=2000, reach=1.0) < 130
        True
    """
    if gamma <= 0:
        return 0.0
    if math.isinf(most):
        return shrunk(gamma * geometric_down(epsilon))
    found = 0.0
    for i in range(_RATES):
        rate = epsilon * 2.0 ** (8 - i / 3)
        kept = gamma * geometric_down(epsilon + rate)
        lost = math.sqrt(2) * math.exp(-rate * (most + 1) / 2) / -math.expm1(-rate)
        found = max(found, lowered(kept - grown(changes * reach * lost), kept))
    return found
