# SPDX-License-Identifier: Apache-2.0
"""What a guarantee of one kind implies in another, tight and on the safe side.

* μ-GDP implies (μ²/2)-zCDP, because every such mechanism is a post-processing of N(0,1) against
  N(μ,1), whose Rényi divergence of order α is αμ²/2; and it implies (ε, δ) by the exact curve.
* ρ-zCDP implies (ε, δ) for every order α > 1, and the best is taken: see `zcdp_curve`.
* ε-DP implies all three, by randomised response: see `pure_curve`.
* Nothing else follows: (ε, δ) leaves δ of the outcomes unbounded, so no ρ and no μ; from ρ-zCDP
  no μ is known that would be tight; and Gaussian noise has every ρ, μ or (ε, δ) and no pure ε.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Literal

from lownoise.errors import BudgetError, told
from lownoise.privacy import pure_curve, zcdp_curve
from lownoise.privacy.budget import (
    KNOWN,
    ApproxDP,
    Budget,
    GaussianDP,
    PureDP,
    Zcdp,
    approx_dp,
    decimal_up,
    exact,
    float_up,
)
from lownoise.privacy.gaussian_curve import epsilon_up

Kind = Literal["zcdp", "gaussian_dp", "approx_dp", "pure_dp"]
KINDS: tuple[Kind, ...] = ("zcdp", "gaussian_dp", "approx_dp", "pure_dp")


def convert(budget: Budget, kind: Kind, *, delta: float | None = None) -> Budget:
    """Return the least guarantee of `kind` that every mechanism within `budget` surely has.

    Args:
        budget: what is known.
        kind: "zcdp", "gaussian_dp", "approx_dp" or "pure_dp".
        delta: δ of the result, for "approx_dp" only.

    Raises:
        BudgetError: where nothing of that kind follows, or δ is missing, superfluous or out of
            range.

    Examples:
        >>> from lownoise import gaussian_dp
        >>> convert(gaussian_dp(1.0), "zcdp")
        Zcdp(rho=0.5)
        >>> round(convert(Zcdp(0.1), "approx_dp", delta=1e-6).epsilon, 3)
        2.142
        >>> round(convert(PureDP(1.0), "gaussian_dp").mu, 4)
        1.232
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise BudgetError(f"kind={told(kind)} is unknown; give one of {', '.join(KINDS)}")
    if (kind == "approx_dp") != (delta is not None):
        raise BudgetError(
            f"delta={told(delta)} does not fit {kind}; give it for approx_dp and only then"
        )
    if delta is not None:
        delta = approx_dp(1.0, delta).delta
    if kind == "pure_dp" and isinstance(budget, (Zcdp, GaussianDP, ApproxDP)):
        raise BudgetError(
            f"budget={budget} implies no pure_dp, because Gaussian noise may have it and is not "
            "pure; state ln.pure_dp(epsilon) to begin with",
        )
    return _implied(budget, kind, delta)


@singledispatch
def _implied(budget: object, _kind: Kind, _delta: float | None) -> Budget:
    raise BudgetError(f"budget={told(budget)} is of no known kind; use {KNOWN}")


@_implied.register(GaussianDP)
def _implied_of_gaussian_dp(budget: GaussianDP, kind: Kind, delta: float | None) -> Budget:
    if kind == "zcdp":
        return Zcdp(float_up(max(exact(budget.mu), Fraction(budget.mu)) ** 2 / 2))
    if delta is not None:
        return ApproxDP(epsilon_up(budget.mu, delta), delta)
    return budget


@_implied.register(Zcdp)
def _implied_of_zcdp(budget: Zcdp, kind: Kind, delta: float | None) -> Budget:
    if kind == "gaussian_dp":
        raise BudgetError(
            f"budget={budget} implies no known mu; plan with it, and the cost of a Gaussian "
            "release says its mu",
        )
    return budget if delta is None else ApproxDP(zcdp_curve.epsilon_up(budget.rho, delta), delta)


@_implied.register(ApproxDP)
def _implied_of_approx_dp(budget: ApproxDP, kind: Kind, delta: float | None) -> Budget:
    if delta is None:
        raise BudgetError(
            f"budget={budget} implies no {kind}, because delta of the outcomes are not bounded; "
            f"state {kind} to begin with",
        )
    if delta < budget.delta:
        raise BudgetError(
            f"delta={delta:g} is below that of {budget}; no epsilon follows for a smaller delta",
        )
    return ApproxDP(budget.epsilon, delta)


@_implied.register(PureDP)
def _implied_of_pure_dp(budget: PureDP, kind: Kind, delta: float | None) -> Budget:
    epsilon = max(exact(budget.epsilon), Fraction(budget.epsilon))
    if kind == "zcdp":
        return Zcdp(decimal_up(pure_curve.rho_up(epsilon)))
    if kind == "gaussian_dp":
        return GaussianDP(decimal_up(pure_curve.mu_up(epsilon)))
    if delta is None:
        return budget
    return ApproxDP(min(pure_curve.epsilon_up(epsilon, delta), budget.epsilon), delta)
