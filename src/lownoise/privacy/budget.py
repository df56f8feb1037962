# SPDX-License-Identifier: Apache-2.0
"""Privacy budgets, and the most that one Gaussian release may reveal under each.

A budget's numbers mean the decimals that the user typed: three spends of 0.1 fill 0.3 exactly.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import BudgetError, told
from lownoise.numbers.arrays import real
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import down, sqrt_up, up
from lownoise.privacy.gaussian_curve import parameter_down

if TYPE_CHECKING:
    from collections.abc import Callable


def exact(number: float) -> Fraction:
    """Return the shortest decimal that reads back as `number`, as a fraction.

    Examples:
        >>> 3 * exact(0.1) == exact(0.3)
        True
    """
    return Fraction(repr(float(number)))


def decimal_up(number: Fraction) -> float:
    """Return the least float that is at least `number`, read as a float and as its decimal.

    Examples:
        >>> decimal_up(Fraction(1, 10)), decimal_up(Fraction(0.1)) > 0.1  # its float is above 1/10
        (0.1, True)
    """
    found = float(number)
    while min(Fraction(found), exact(found)) < number:
        found = up(found)
    return found


def decimal_down(number: Fraction) -> float:
    """Return the greatest float that is at most `number`, read as a float and as its decimal.

    Examples:
        >>> decimal_down(Fraction(1, 10)) < 0.1  # its float is above 1/10
        True
    """
    found = float(number)
    while max(Fraction(found), exact(found)) > number:
        found = down(found)
    return found


def float_up(number: Fraction) -> float:
    """Return the number where it is a float or its decimal, else the float above it."""
    rounded = float(number)
    return rounded if max(Fraction(rounded), exact(rounded)) >= number else up(rounded)


def root_up(square: Fraction) -> float:
    """Return the square root of a fraction: exact where it is a float, else rounded up.

    Examples:
        >>> root_up(Fraction(9, 4)), Fraction(root_up(Fraction(2))) ** 2 > 2
        (1.5, True)
    """
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root * root == square and Fraction(float(root)) == root:
        return float(root)
    return sqrt_up(up(float(square)))


def root_down(square: Fraction) -> float:
    """Return the greatest float whose square is at most `square`, as a float and as its decimal.

    Examples:
        >>> root_down(Fraction(9, 4)), Fraction(root_down(Fraction(2))) ** 2 < 2
        (1.5, True)
    """
    found = up(math.sqrt(square))
    while max(Fraction(found), exact(found)) ** 2 > square:
        found = down(found)
    return found


@final
@readable
@dataclass(frozen=True)
class Zcdp:
    """ρ-zero-concentrated differential privacy (002, Definition 10)."""

    rho: float

    def __str__(self) -> str:
        return f"{self.rho:g}-zCDP"


@final
@readable
@dataclass(frozen=True)
class ApproxDP:
    """(ε, δ)-differential privacy."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-DP"


@final
@readable
@dataclass(frozen=True)
class GaussianDP:
    """μ-Gaussian differential privacy: neighbours are as alike as N(0,1) and N(μ,1), or more."""

    mu: float

    def __str__(self) -> str:
        return f"{self.mu:g}-GDP"


@final
@readable
@dataclass(frozen=True)
class PureDP:
    """ε-differential privacy: no outcome is more than e^ε times likelier under a neighbour."""

    epsilon: float

    def __str__(self) -> str:
        return f"{self.epsilon:g}-DP"


Budget = Zcdp | ApproxDP | GaussianDP | PureDP
KNOWN = "ln.zcdp(rho), ln.gaussian_dp(mu), ln.approx_dp(epsilon, delta) or ln.pure_dp(epsilon)"


def gaussian_dp(mu: float) -> GaussianDP:
    """Return the budget of μ-GDP.

    Args:
        mu: μ in [1e-6, 1000].

    Raises:
        BudgetError: where μ is not a number in that range.

    Examples:
        >>> gaussian_dp(1.0)
        GaussianDP(mu=1.0)
    """
    return GaussianDP(_within("gaussian_dp.mu", mu, 1e-6, 1e3))


def zcdp(rho: float) -> Zcdp:
    """Return the budget of ρ-zCDP.

    Args:
        rho: ρ in [1e-12, 1e6].

    Raises:
        BudgetError: where ρ is not a number in that range.

    Examples:
        >>> zcdp(0.5)
        Zcdp(rho=0.5)
    """
    return Zcdp(_within("zcdp.rho", rho, 1e-12, 1e6))


def approx_dp(epsilon: float, delta: float) -> ApproxDP:
    """Return the budget of (ε, δ)-differential privacy.

    Args:
        epsilon: ε in [1e-6, 1000].
        delta: δ in [1e-100, 1), the chance that is left out; choose far less than 1/n.

    Raises:
        BudgetError: where a number is outside its range.

    Examples:
        >>> approx_dp(1.0, 1e-6)
        ApproxDP(epsilon=1.0, delta=1e-06)
    """
    checked_epsilon = _within("approx_dp.epsilon", epsilon, 1e-6, 1e3)
    return ApproxDP(checked_epsilon, _within("approx_dp.delta", delta, 1e-100, 1 - 2.0**-53))


def pure_dp(epsilon: float, delta: None = None) -> PureDP:
    """Return the budget of ε-differential privacy, which leaves no chance out.

    Args:
        epsilon: ε in [1e-6, 1000].
        delta: nothing; whoever has a δ wants `ln.approx_dp`.

    Raises:
        BudgetError: where ε is not a number in that range, or a δ is given.

    Examples:
        >>> pure_dp(1.0)
        PureDP(epsilon=1.0)
    """
    if delta is not None:
        raise BudgetError(
            f"pure_dp.delta={told(delta)} is given; pure privacy has no delta, leave it out or "
            "give ln.approx_dp(epsilon, delta)",
        )
    return PureDP(_within("pure_dp.epsilon", epsilon, 1e-6, 1e3))


def _within(field: str, value: float, least: float, most: float) -> float:
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise BudgetError(f"{field} is not a number; give one in [{least:g}, {most:g}]") from None
    if not least <= number <= most:
        top = "below 1" if most < 1 else f"at most {most:g}"
        raise BudgetError(f"{field}={number:g} is out of range; give at least {least:g} and {top}")
    return number


@singledispatch
def gaussian_parameter(budget: object) -> float:
    """Return the greatest float μ such that one μ-GDP Gaussian release stays within `budget`.

    Raises:
        BudgetError: where the budget is of a kind that a Gaussian cannot keep.

    Examples:
        >>> gaussian_parameter(zcdp(0.5))
        1.0
    """
    raise BudgetError(f"budget={told(budget)} is of no known kind; use {KNOWN}")


@gaussian_parameter.register(Zcdp)
def _gaussian_parameter_of_zcdp(budget: Zcdp) -> float:
    # N(0, M/(2ρ)) is ρ-zCDP (002, Lemma 13): μ²/2 = ρ
    # ρ as the decimal and as its float, so that the cost is within it however it is read
    twice = 2 * min(exact(budget.rho), Fraction(budget.rho))
    mu = up(math.sqrt(twice))
    while Fraction(mu) ** 2 > twice:
        mu = down(mu)
    return mu


@gaussian_parameter.register(GaussianDP)
def _gaussian_parameter_of_gaussian_dp(budget: GaussianDP) -> float:
    decimal = exact(budget.mu)
    return budget.mu if Fraction(budget.mu) <= decimal else down(budget.mu)


@gaussian_parameter.register(ApproxDP)
def _gaussian_parameter_of_approx_dp(budget: ApproxDP) -> float:
    return parameter_down(budget.epsilon, budget.delta)


@gaussian_parameter.register(PureDP)
def _gaussian_parameter_of_pure_dp(budget: PureDP) -> float:
    # P(Z > t)/P(Z > t + s) grows without bound with t, whatever the deviation
    raise BudgetError(
        f"budget={budget} is pure, which no Gaussian noise keeps; ask with ln.Queries and the "
        "matrix of the workload, or give ln.zcdp(rho) or ln.approx_dp(epsilon, delta)",
    )


_KINDS: dict[str, tuple[type[Budget], Callable[..., Budget]]] = {
    "zcdp": (Zcdp, zcdp),
    "approx_dp": (ApproxDP, approx_dp),
    "gaussian_dp": (GaussianDP, gaussian_dp),
    "pure_dp": (PureDP, pure_dp),
}


def budget_to_dict(budget: Budget) -> dict[str, Any]:
    """Return the budget as JSON values.

    Examples:
        >>> budget_to_dict(zcdp(0.5))
        {'kind': 'zcdp', 'rho': 0.5}
    """
    kind = next(k for k, (cls, _) in _KINDS.items() if isinstance(budget, cls))
    return {"kind": kind, **asdict(budget)}


def checked_budget(budget: Budget) -> Budget:
    """Return the budget where its numbers are in range, however it was built.

    Raises:
        BudgetError: where it is no budget, or a number of it is out of range.

    Examples:
        >>> checked_budget(Zcdp(-1.0))
        Traceback (most recent call last):
        lownoise.errors.BudgetError: zcdp.rho=-1 is out of range; give at least 1e-12 and at most...
    """
    if not isinstance(budget, Budget):
        raise BudgetError(f"budget={told(budget)} is of no known kind; use {KNOWN}")
    return budget_from_dict(budget_to_dict(budget))


def budget_from_dict(fields: dict[str, Any]) -> Budget:
    """Return the budget that `budget_to_dict` described, checked as if it were new.

    Raises:
        BudgetError: where its kind is unknown or a number out of range.
    """
    numbers = dict(fields)
    kind = numbers.pop("kind", None)
    if kind not in _KINDS:
        raise BudgetError(
            f"budget.kind={told(kind)} is unknown; this version knows {', '.join(_KINDS)}"
        )
    try:
        return _KINDS[kind][1](**numbers)
    except TypeError:
        raise BudgetError(f"budget={told(fields)} has other fields than {kind} needs") from None
