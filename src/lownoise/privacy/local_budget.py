# SPDX-License-Identifier: Apache-2.0
"""What one report of one person may reveal, where nobody is trusted with a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from lownoise.errors import BudgetError, FileError, quoted
from lownoise.numbers.readable import readable
from lownoise.privacy.budget import approx_dp, pure_dp


@final
@readable
@dataclass(frozen=True)
class LocalDP:
    """ε-local differential privacy (002, Definition 5), or (ε, δ) where a δ is given.

    Args:
        epsilon: ε.
        delta: δ, 0 for pure privacy.
    """

    epsilon: float
    delta: float = 0.0

    def __str__(self) -> str:
        if self.delta:
            return f"({self.epsilon:g}, {self.delta:g})-local DP"
        return f"{self.epsilon:g}-local DP"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"kind": "local_dp", "epsilon": self.epsilon, "delta": self.delta}


def local_dp(epsilon: float, delta: float | None = None) -> LocalDP:
    """Return the budget of one report: ε-local differential privacy, or (ε, δ).

    Each report is private by itself: for any two records of its sender, the probabilities of any
    set of reports differ by a factor of at most e^ε (except for δ). Two reports of one person cost
    twice.

    Args:
        epsilon: ε in [1e-6, 1000].
        delta: δ in [1e-100, 1), which allows Gaussian reports; None for pure privacy.

    Raises:
        BudgetError: where a number is outside its range.

    Examples:
        >>> local_dp(1.0)
        LocalDP(epsilon=1.0, delta=0.0)
        >>> local_dp(0.0)
        Traceback (most recent call last):
        lownoise.errors.BudgetError: local_dp.epsilon=0 is out of range; give at least 1e-06 and...
    """
    try:
        if delta is None:
            return LocalDP(pure_dp(epsilon).epsilon)
        found = approx_dp(epsilon, delta)
    except BudgetError as error:
        text = str(error).replace("pure_dp", "local_dp").replace("approx_dp", "local_dp")
        raise BudgetError(text) from None
    return LocalDP(found.epsilon, found.delta)


def checked_local(budget: LocalDP) -> LocalDP:
    """Return the budget where its numbers are in range, however it was built.

    Raises:
        BudgetError: where it is none of `local_dp`.
    """
    if not isinstance(budget, LocalDP):
        raise BudgetError(
            f"budget={quoted(budget)} is not of one person's report; give ln.local_dp(epsilon)"
        )
    return local_dp(budget.epsilon, budget.delta or None)


def local_from_dict(fields: dict[str, Any]) -> LocalDP:
    """Return the budget that `LocalDP.to_dict` described, checked as if it were new.

    Raises:
        FileError: where it is of another kind or has other fields.
        BudgetError: where a number is out of range.
    """
    if set(fields) != {"kind", "epsilon", "delta"} or fields["kind"] != "local_dp":
        raise FileError(f"budget={quoted(fields)} is none of local_dp")
    return checked_local(LocalDP(fields["epsilon"], fields["delta"]))
