# SPDX-License-Identifier: Apache-2.0
"""How often one person takes part in a stream: in which rounds a neighbour may differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final, get_args

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arguments import checked_integer, is_integer

if TYPE_CHECKING:
    from collections.abc import Mapping

Pattern = Literal["spaced", "separated", "any"]
PATTERNS: tuple[str, ...] = get_args(Pattern)


@final
@dataclass(frozen=True)
class Participation:
    """The rounds that one person may add to: a pattern is a set of them.

    Args:
        count: k, the most rounds of a pattern.
        separation: b, at least 1; 1 where the pattern is "any".
        pattern: "spaced", every b-th round from any start; "separated", rounds at least b apart;
            "any", any k rounds.

    Raises:
        PlanError: where a number is out of range, or the pattern unknown.

    Examples:
        >>> Participation(4, 64, "spaced").phrase
        'at most 4 rounds, each 64 after the one before'
    """

    count: int = 1
    separation: int = 1
    pattern: Pattern = "any"

    def __post_init__(self) -> None:
        for field, value in (("participations", self.count), ("separation", self.separation)):
            checked_integer(field, value)
        if not isinstance(self.pattern, str) or self.pattern not in PATTERNS:
            raise PlanError(
                f"pattern={quoted(self.pattern)} is unknown; give one of {', '.join(PATTERNS)}"
            )
        if self.pattern == "any" and self.separation != 1:
            raise PlanError(
                f'separation={self.separation} is not kept by pattern="any"; leave it out, or give '
                'pattern="separated" or "spaced"'
            )
        object.__setattr__(self, "count", int(self.count))
        object.__setattr__(self, "separation", int(self.separation))
        if self.count == 1:  # one round is one round, however patterns are made
            object.__setattr__(self, "separation", 1)
            object.__setattr__(self, "pattern", "any")

    @classmethod
    def asked(cls, participations: int, separation: int, pattern: str | None) -> Participation:
        """Return the participation of the arguments that a person gives.

        Args:
            participations: k.
            separation: b.
            pattern: one of `PATTERNS`; None is "any" where the separation is 1, else "separated".

        Raises:
            PlanError: where they are out of range.
        """
        default = "any" if is_integer(separation) and separation == 1 else "separated"
        chosen = default if pattern is None else pattern
        return cls(participations, separation, chosen)  # type: ignore[arg-type]

    @property
    def span(self) -> int:
        """How many rounds a pattern of k members takes at least."""
        return (self.count - 1) * self.separation + 1

    @property
    def phrase(self) -> str:
        """What one person adds to, in words that follow "one person adds to"."""
        if self.count == 1:
            return "one round only"
        if self.pattern == "any":
            return f"at most {self.count:,} rounds"
        if self.pattern == "spaced":
            return f"at most {self.count:,} rounds, each {self.separation:,} after the one before"
        return f"at most {self.count:,} rounds, any two at least {self.separation:,} apart"

    def check(self, rounds: int) -> None:
        """Refuse a participation that a stream has no room for.

        Raises:
            PlanError: where k rounds b apart are more than there are.
        """
        if self.span > rounds:
            most = (rounds - 1) // self.separation + 1
            raise PlanError(
                f"participations={self.count:,} with separation={self.separation:,} do not fit in "
                f"{rounds:,} rounds; give at most {most:,}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"count": self.count, "separation": self.separation, "pattern": self.pattern}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any] | None) -> Participation:
        """Return what `to_dict` wrote; None is one person in one round."""
        if fields is None:
            return ONE
        return cls(fields["count"], fields["separation"], fields["pattern"])


ONE = Participation()
