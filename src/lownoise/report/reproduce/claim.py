# SPDX-License-Identifier: Apache-2.0
"""A claim of a source beside what the library finds, and whether it holds.

A claim is a rule that compares numbers: the source's own, times a constant, and ours. With the
constant 1 it is what the source says. How wrong a constant could be and still hold is the claim's
*room*, and is shown: a rule that no constant could break would prove nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, final

if TYPE_CHECKING:
    from collections.abc import Iterable

Relation = Literal["=", "≤", "≥"]
Verdict = Literal["holds", "fails", "holds as corrected"]

_LIMIT = 1e12  # of room: beyond, a rule compares nothing


@final
@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One number that a source states, and the number found.

    Args:
        case: of what, as "box, d = 5, p = 4".
        claimed: what the source says, times the constant that was asked for.
        relation: what is found is this, beside what is claimed.
        found: from the library.
        within: how far apart two equal numbers may be, relative: the gap of a proof, or how many
            digits the source gives.
    """

    case: str
    claimed: float
    relation: Relation
    found: float
    within: float = 1e-9

    @property
    def room(self) -> float:
        """By what factor the source's number could be off, the wrong way, and still hold.

        Below 1 the comparison fails.
        """
        if not (math.isfinite(self.claimed) and math.isfinite(self.found)):
            return 0.0
        if self.relation == "=":
            off = abs(self.claimed - self.found)
            size = max(abs(self.claimed), abs(self.found))
            return 1 + self.within if off <= self.within * size else 0.0
        if min(self.claimed, self.found) <= 0:
            more = self.found - self.claimed if self.relation == "≥" else self.claimed - self.found
            return _LIMIT if more >= 0 else 0.0
        ratio = self.claimed / self.found if self.relation == "≤" else self.found / self.claimed
        return min(ratio * (1 + self.within), _LIMIT)

    @property
    def holds(self) -> bool:
        """Whether it does, up to what was allowed."""
        return self.room >= 1


class Rule(Protocol):
    """What a claim says of numbers: yields comparisons."""

    def __call__(self, constant: float, *, quick: bool) -> Iterable[Comparison]:
        """Compare the source's numbers, fewer and smaller cases where `quick`.

        Args:
            constant: 1 is what the source says; a greater one makes the claim stronger: lower
                bounds times it, upper bounds over it, and an equality false.
            quick: whether to take seconds, not minutes.
        """


@final
@dataclass(frozen=True)
class Claim:
    """What a source says, where, and the rule that checks it.

    Args:
        source: as "Nikolov & Tang 2023".
        place: theorem or equation, as "Theorem 42"; several claims may share one.
        says: in one sentence of words and formulas.
        rule: compares numbers; of the statement as it has to be read, where it is misprinted.
        printed: compares numbers of the statement as it is printed, where that is false.
        correction: what the print should say, where it is false.
        note: what is ours in the check, or which constant the source leaves open.
    """

    source: str
    place: str
    says: str
    rule: Rule
    printed: Rule | None = None
    correction: str = ""
    note: str = ""

    def checked(self, constant: float = 1.0, *, quick: bool = False) -> Row:
        """Return the row of this claim, with the source's constant times `constant`."""
        comparisons = tuple(self.rule(constant, quick=quick))
        printed = tuple(self.printed(1.0, quick=quick)) if self.printed is not None else ()
        return Row(claim=self, comparisons=comparisons, printed=printed)


@final
@dataclass(frozen=True, kw_only=True)
class Row:
    """A claim with what was found.

    Args:
        claim: what is claimed.
        comparisons: at least one; all must hold.
        printed: of the statement as printed, where that is claimed to be false: one must fail.
    """

    claim: Claim
    comparisons: tuple[Comparison, ...]
    printed: tuple[Comparison, ...] = ()

    @property
    def tightest(self) -> Comparison:
        """The comparison with the least room: the one that a wrong constant breaks first."""
        return min(self.comparisons, key=lambda own: own.room)

    @property
    def counterexample(self) -> Comparison | None:
        """Where the statement as printed is farthest from true."""
        failing = [own for own in self.printed if not own.holds]
        return min(failing, key=lambda own: own.room) if failing else None

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds; where a misprint is claimed, it has to be shown as well."""
        if not self.comparisons or not all(own.holds for own in self.comparisons):
            return "fails"
        if self.claim.printed is None:
            return "holds"
        return "holds as corrected" if self.counterexample is not None else "fails"

    @property
    def room(self) -> float:
        """By what factor the source's constant could be off and still hold."""
        return self.tightest.room
