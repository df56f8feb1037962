# SPDX-License-Identifier: Apache-2.0
"""What a theorem says of a number, with its constant, its source and its conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from lownoise.numbers.readable import readable

NIKOLOV_TANG = "Nikolov & Tang 2023"
HARDT_TALWAR = "Hardt & Talwar 2010"
HENZINGER = "Henzinger, Upadhyay & Upadhyay 2023"

_SOME, _EVERY = "some ", "every "


@final
@readable
@dataclass(frozen=True, kw_only=True)
class Bound:
    """A number that a theorem puts below or above another one.

    Args:
        value: rounded to the safe side: down where it is a lower bound, up where an upper one.
        side: whether the quantity is at least the value, or at most.
        quantity: what is bounded, as "(E‖error‖_2²)^{1/2}".
        constant: the theorem's factor on the number that the domain or workload has of itself.
        binds: whom, as "every unbiased ρ-zCDP mechanism".
        over: on which datasets or distributions, as "every dataset".
        theorem: where it is from, as "Nikolov & Tang 2023, Theorem 43".
        ours: what of it is not the source's, as "the constant"; "" where nothing.
        hypotheses: its conditions, each of which was checked.
        alternative: what holds where this does not: on a neighbour, or on a distribution nearby.

    Examples:
        >>> import lownoise as ln
        >>> found = Bound(
        ...     value=0.5, side="lower", quantity="γ", constant=0.5, binds="every factorization",
        ...     over="every matrix", theorem="ours",
        ... )
        >>> print(found)
        γ ≥ 0.5, for every factorization on every matrix (ours)
    """

    value: float
    side: Literal["lower", "upper"]
    quantity: str
    constant: float
    binds: str
    over: str
    theorem: str
    ours: str = ""
    hypotheses: tuple[str, ...] = ()
    alternative: Bound | None = None

    @property
    def source(self) -> str:
        """Where it is from, and what of it is not."""
        return f"{self.theorem}; {self.ours} ours" if self.ours else self.theorem

    @property
    def denied(self) -> tuple[str, str]:
        """Whom, and where, to say that none has less: "some" becomes "every", and "or" "and".

        Examples:
            >>> for over in ("some table", "any dataset or a neighbour of it"):
            ...     found = Bound(
            ...         value=0.5, side="lower", quantity="error", constant=0.5,
            ...         binds="every 1-DP mechanism", over=over, theorem="ours",
            ...     )
            ...     print("No {} has an error below 0.5 on {}.".format(*found.denied))
            No 1-DP mechanism has an error below 0.5 on every table.
            No 1-DP mechanism has an error below 0.5 on any dataset and on all neighbours of it.
        """
        over = self.over.replace(" or a neighbour", " and on all neighbours")
        over = over.replace(" or one at most", " and on all at most")
        if over.startswith(_SOME):
            over = _EVERY + over.removeprefix(_SOME)
        return self.binds.removeprefix(_EVERY), over

    def __str__(self) -> str:
        """Return the bound as a sentence."""
        relation = "≥" if self.side == "lower" else "≤"
        whom = self.binds.removesuffix(",")
        comma = "," if "," in whom.rpartition(")")[2] else ""
        line = (
            f"{self.quantity} {relation} {self.value:.6g}, for {whom}{comma} on {self.over} "
            f"({self.source})"
        )
        return line if self.alternative is None else f"{line}; or {self.alternative}"
