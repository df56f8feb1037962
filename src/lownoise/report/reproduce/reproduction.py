# SPDX-License-Identifier: Apache-2.0
"""Every claim checked, and every figure computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.report.reproduce import beside, constants, counting, every, gammas, means, pure
from lownoise.report.reproduce.figures import FIGURES, Figure

if TYPE_CHECKING:
    from lownoise.report.reproduce.claim import Claim, Row

Drawing = Callable[..., Figure]
CLAIMS: tuple[Claim, ...] = (
    *gammas.CLAIMS,
    *means.CLAIMS,
    *beside.CLAIMS,
    *pure.CLAIMS,
    *every.BODIES,
    *counting.CLAIMS,
    *every.MECHANISMS,
    *constants.CONSTANTS,
)


@final
@dataclass(frozen=True)
class Reproduction:
    """What was claimed and what was found.

    Args:
        rows: a claim each, in the order of the sources.
        figures: as asked for.
    """

    rows: tuple[Row, ...]
    figures: tuple[Figure, ...]

    @property
    def failing(self) -> tuple[Row, ...]:
        """The claims that do not hold."""
        return tuple(row for row in self.rows if row.verdict == "fails")

    def __bool__(self) -> bool:
        """Return whether every claim holds, as printed or as corrected."""
        return not self.failing

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON values."""
        return {
            "holds": bool(self),
            "claims": [
                {
                    "source": row.claim.source,
                    "place": row.claim.place,
                    "says": row.claim.says,
                    "verdict": row.verdict,
                    "case": row.tightest.case,
                    "claimed": row.tightest.claimed,
                    "relation": row.tightest.relation,
                    "found": row.tightest.found,
                    "compared": len(row.comparisons),
                    "correction": row.claim.correction,
                    "note": row.claim.note,
                }
                for row in self.rows
            ],
        }


def reproduce(
    *,
    quick: bool = False,
    progress: Callable[[str], None] | None = None,
    claims: tuple[Claim, ...] = CLAIMS,
    figures: tuple[Drawing, ...] = FIGURES,
) -> Reproduction:
    """Check every claim of the sources, and draw the figures.

    Args:
        quick: whether to take smaller and fewer cases: seconds in place of minutes.
        progress: called with the place of each claim before it is checked.
        claims: which; all by default.
        figures: which; all by default.

    Examples:
        >>> found = reproduce(quick=True, claims=CLAIMS[:2], figures=())
        >>> bool(found), [row.verdict for row in found.rows]
        (True, ['holds', 'holds'])
    """
    rows = []
    for claim in claims:
        if progress is not None:
            progress(f"{claim.source}, {claim.place}")
        rows.append(claim.checked(quick=quick))
    drawn = []
    for figure in figures:
        if progress is not None:
            progress(f"figure: {figure.__name__.replace('_', ' ')}")
        drawn.append(figure(quick=quick))
    return Reproduction(tuple(rows), tuple(drawn))
