# SPDX-License-Identifier: Apache-2.0
"""What no noise is below that hides which rows a unit has, from evidence on differences alone.

The changes are L − L, L the hull of 0 and of all (x − v, 1), x in K: (x − x', 0) and ±(x − v, 1).
Noise on sums that covers the former is at least Γ large, the least for K − K, and the count's has
at least the variance 1.

Where K is symmetric about v (ours): (s, t) ↦ (−s, t) leaves the changes as they are. So of noise
N that covers them the mean with its image covers them too, and its error is no larger: sums and
count are independent, of covariances N₁ and c. Let r be the greatest ‖N₁^{−½}(x − v)‖. As 4r²·N₁
covers K − K, the sums' error is at least Γ/(2r), and r² + 1/c ≤ 1. So the error is at least

    min over 0 < u ≤ 1/4 of ‖(Γ/(2√u), ω/√(1 − u))‖_p,

whose p-th power is convex in u. Noise of the least shape for K − K attains each of them.

That is of sums about v. Sums about another point are those and v − u counts, and a deviation of
theirs is less by |v − u| deviations of the count at most. So with E the error about v, of which the
count is E/ω at most, no error is below E/(1 + ‖ω·(v − u)‖_p/ω): correlated noise may be that good.
"""

from __future__ import annotations

import math

import numpy as np

from lownoise.numbers.norms import order_norm
from lownoise.numbers.rounding import shrunk

_QUARTER = 0.25  # r² where noise on sums is the least for K − K, and no more


def coming_share(least: float, weight: float, order: float) -> float:
    """Return u, the part of μ² that a row which comes spends on sums about v, for the least error.

    Args:
        least: Γ > 0, of the least noise for K − K at μ = 1, K symmetric about v.
        weight: ω > 0 on the count.
        order: p.

    Examples:
        >>> coming_share(2.0, 1.0, 2.0), round(coming_share(2.0, 6.0, 2.0), 6)
        (0.25, 0.142857)
    """
    power = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    with np.errstate(over="ignore"):
        ratio = float(np.power(2 * weight / least, power)) if least else math.inf
    return min(_QUARTER, 1 / (1 + ratio))


def exchanged_least(least: float, weight: float, order: float, away: float | None) -> float:
    """Return at most the least ‖(ω·deviations of sums, ω·that of the count)‖_p at μ = 1.

    Args:
        least: Γ: at most that of sums, of noise that covers K − K alone.
        weight: ω on the count.
        order: p.
        away: at least ‖ω·(v − u)‖_p, K symmetric about v and sums about u; None where it is not.

    Examples:
        >>> round(exchanged_least(2.0, 1.0, 2.0, 0.0), 6)  # √(4 + 4/3)
        2.309401
        >>> round(exchanged_least(2.0, 1.0, 2.0, None), 6)  # √(4 + 1)
        2.236068
    """
    found = _size([least, weight], order)
    if away is None or not (least > 0 and weight > 0):
        return found
    u = coming_share(least, weight, order)
    about = _size([least / (2 * math.sqrt(u)), weight / math.sqrt(1 - u)], order)
    return max(found, shrunk(shrunk(about / (1 + away / weight))))


def _size(both: list[float], order: float) -> float:
    found = shrunk(order_norm(np.array(both), order))
    return shrunk(found) if math.isfinite(found) else 0.0
