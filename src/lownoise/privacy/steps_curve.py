# SPDX-License-Identifier: Apache-2.0
"""How far noise of a staircase is from itself once it is moved: the total variation (ours).

Let f be e^{−εk} times a constant on the shell γ + k − 1 < ‖z‖ ≤ γ + k. Where ‖s‖ ≤ 1, f(z) and
f(z − s) are equal or differ by the factor e^ε: the loss is ε, 0 or −ε, as that of randomised
response which is given with some chance, and their total variation says all (`aside_curve`). With f
the mixture of uniform laws on (γ + k)·B, it is at most the mixture of theirs. For a symmetric
convex body B, vol(B ∩ (B + x))^{1/d} is concave along a ray (Brunn & Minkowski), so

    1 − vol(B ∩ (B + x))/vol(B) ≤ 1 − (1 − ‖x‖/2)^d for ‖x‖ ≤ 2,

as a cube has along its diagonal; of a Euclidean ball it is I(1/2, (d + 1)/2) at ‖x‖²/4, a
regularized incomplete beta function.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up
from lownoise.samplers.steps import BITS

if TYPE_CHECKING:
    from lownoise.samplers.steps import StepRadius


@lru_cache(maxsize=1024)
def variation_up(steps: StepRadius, shift: float, *, euclidean: bool) -> float:
    """Return at least the total variation, for a shift of norm at most `shift` ≤ 1.

    Args:
        steps: the law of the radii.
        shift: the most that a norm of a change is.
        euclidean: whether the norm is the Euclidean length of d free linear forms.

    Examples:
        >>> from lownoise.samplers.steps import StepRadius
        >>> found = variation_up(StepRadius(1, 1.0, 0.5), 1.0, euclidean=True)  # P(|z| < 1/2)
        >>> round(found, 9)  # tanh(ε/2)
        0.462117157
    """
    from flint import arb

    weights, rest = steps.weights(BITS)
    with precision(BITS):
        apart, total = arb(0), arb(0)
        for k, weight in enumerate(weights):
            apart += weight * _apart(shift / (2 * (steps.start + k)), steps, euclidean)
            total += weight
        return min(up(float(((apart + rest) / total).upper())), 1.0)


def _apart(half: Any, steps: StepRadius, euclidean: bool) -> Any:  # noqa: ANN401, FBT001 (flint)
    """Return at least the total variation between uniform laws on B and on B + x, ‖x‖/2 given."""
    from flint import arb

    if not half < 1:
        return arb(1)
    if euclidean:
        return (half * half).beta_lower(arb(0.5), (arb(steps.dimension) + 1) / 2, 1)
    return 1 - (1 - half) ** steps.dimension
