# SPDX-License-Identifier: Apache-2.0
"""What a plan or a release of linear queries says of itself, in words that text and page share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.report import sentences
from lownoise.report.linear_noise import totals
from lownoise.report.said import error, times

if TYPE_CHECKING:
    from lownoise.release.linear import LinearTerms
    from lownoise.report.spread import Totals


def round_noise(over: dict[str, Totals]) -> str:
    """Return how much i.i.d. noise on all answers would cost more."""
    return times(over, "isotropic", "i.i.d. Gaussian noise on every answer", "an answer")


def all_records(over: dict[str, Totals]) -> str:
    """Return how much noise on the counts of all records would cost more."""
    words = "i.i.d. noise on the count of every possible record, summed up"
    return times(over, "histogram", words, "an answer")


def promises(terms: LinearTerms) -> list[tuple[str, str]]:
    """Return what is promised, each with its name."""
    over = totals(terms)
    return [
        ("error", error(terms, over, "answer")),
        ("i.i.d. noise", round_noise(over)),
        ("all records", all_records(over)),
        ("certificate", sentences.certificate(terms)),
        ("lower bound", sentences.lower_bound(terms)),
        ("cost", sentences.cost(terms)),
    ]
