# SPDX-License-Identifier: Apache-2.0
"""Reports of projected answers: beside what was released, with how near they are and their bias."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from lownoise.questions import Marginals
from lownoise.report import spelling
from lownoise.report.parts import Caution, Column, Figures, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.nearest import Projected

_NORMS = {"noise": "the norm of the noise", "euclidean": "the Euclidean norm of the error"}
_SETS = {
    "domain": "the answers that tables can have",
    "nonnegative": "marginals that agree and have no cell below 0",
}


def projected(found: Projected) -> list[Section]:
    """Return projected answers beside the released ones, and how near to the nearest they are."""
    question = found.release.terms.question
    marginals = isinstance(question, Marginals)
    count = question.count if marginals else found.estimate.size
    asked = spelling.count(count, "marginal" if marginals else "answer")
    title = f"{asked}, projected onto {_SETS[found.onto]}: biased."
    rows = list(islice(_rows(found), MOST_ROWS))
    every = (question.cells if marginals else count) - len(rows)
    table = Table(
        columns=(Column("Answer", "name"), Column("Projected", "value"), Column("Released")),
        rows=tuple(
            (shown(name), spelling.significant(new, 6), spelling.significant(old, 6))
            for name, new, old in rows
        ),
        caption="What was released is unbiased, and stays what intervals are about.",
        hidden=every,
        rest="{hidden} more answers.",
        terminal=MOST_ROWS,
    )
    ended = "within what was asked for" if found.converged else "not within what was asked for"
    figures = (
        ("Nearest in", _NORMS[found.norm]),
        ("Moved by", spelling.significant(found.distance, 4)),
        ("From the nearest, at most", f"{spelling.at_most(found.gap, 2)}, {ended}"),
        ("Steps", f"{found.iterations:,}"),
    )
    return [
        Section("head", title, (Caution(found.biased, "biased"),), kicker="Projected answers"),
        Section("answers", "Answers", (table,)),
        Section(
            "nearest",
            "How near",
            (
                Figures(figures),
                Prose(
                    "No plan chooses this: its errors are compared with no lower bound here, for "
                    "those are of unbiased mechanisms.",
                    "bounds",
                    note=True,
                ),
            ),
        ),
    ]


def _rows(found: Projected) -> Iterator[tuple[str, float, float]]:
    """Yield the names of answers, what they are now and what was released."""
    if not isinstance(found.release.terms.question, Marginals):
        old = found.release.estimate.tolist()
        yield from zip(found.release.names, found.estimate.tolist(), old, strict=True)
        return
    labels = {a.name: a for a in found.release.terms.question.attributes}
    both = zip(found.marginals(), found.release.marginals(), strict=True)
    for (names, new), (_, old) in both:
        for place in np.ndindex(new.shape):
            said = [f"{n}={labels[n].label(k)}" for n, k in zip(names, place, strict=True)]
            yield ", ".join(said) or "rows", float(new[place]), float(old[place])
