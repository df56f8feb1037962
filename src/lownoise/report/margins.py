# SPDX-License-Identifier: Apache-2.0
"""All margins that were asked for: a table of each on a page, and all of them in one file."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from lownoise.errors import QuestionError
from lownoise.release.readable import free
from lownoise.report.parts import Prose
from lownoise.report.spelling import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.questions import Attribute, Marginals
    from lownoise.report.changes import ChangeView
    from lownoise.report.groups import GroupsView
    from lownoise.report.marginals import MarginalsView
    from lownoise.report.parts import Part
    from lownoise.report.view import Row

ALL = "(all)"  # stands where a margin is not split by an attribute
MOST_CELLS = 1 << 20  # of all margins in one file
_MOST_BESIDE = 120  # rows of tables beside the margin that is drawn
_MOST_NAMED = 12


def every(view: GroupsView | MarginalsView | ChangeView) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Return the rows of all margins as those of one table, and what their labels are called.

    Args:
        view: of a release of margins; of the one that was chosen, if any was.

    Raises:
        QuestionError: where they have more cells than a table of all is for.
    """
    attributes, margins = view.margins.attributes, view.margins
    if view.chosen is not None or margins.count == 1:
        return view.rows()
    check(margins)
    asked = list(margins.sets())
    split = sorted({i for chosen in asked for i in chosen})
    names = tuple(attributes[i].name for i in split)
    whole = {i: _for_all(attributes[i]) for i in split}

    def placed(chosen: Sequence[int]) -> Iterator[Row]:
        at = {i: k for k, i in enumerate(chosen)}
        for row in replace(view, chosen=margins.names(chosen)).rows()[1]:
            labels = (row.labels[at[i]] if i in at else whole[i] for i in split)
            yield replace(row, labels=(*labels, *row.labels[len(chosen) :]))

    found = chain.from_iterable(map(placed, asked))
    return (*names, *(free(own, names) for own in view.beside)), found


def check(margins: Marginals) -> None:
    """Refuse margins that are too large for one file.

    Raises:
        QuestionError: the same.
    """
    if margins.count > 1 and margins.cells > MOST_CELLS:
        raise QuestionError(
            f"answers={margins.cells:,} cells in {margins.count:,} tables are more than the "
            f"{MOST_CELLS:,} that one file is for; name the attributes of one table, on the "
            "command line by `lownoise marginal FOLDER NAME… --out FILE`"
        )


def others(view: GroupsView | MarginalsView, drawn: Sequence[str]) -> Iterator[Part]:
    """Yield tables of the margins that are not drawn, while they have few rows, and name all.

    Args:
        view: of a release of margins.
        drawn: the attributes of the margin that is drawn.
    """
    margins, room = view.margins, _MOST_BESIDE
    names: list[str] = []
    if view.chosen is not None:
        return
    for chosen in margins.sets():
        own = margins.names(chosen)
        if tuple(own) == tuple(drawn):
            continue
        if len(names) < _MOST_NAMED:
            names.append(" × ".join(map(shown, own)) or "all rows")
        cells = math.prod(margins.attributes[i].size for i in chosen)
        if cells <= room:
            room -= cells
            table = replace(view, chosen=own).counts()
            title = f"By {' × '.join(map(shown, own))}" if own else "All rows"
            yield replace(table, title=title, terminal=0)
        elif len(names) == _MOST_NAMED:
            break
    more = margins.count - 1 - len(names)
    if names:
        said = ", ".join(names) + f" and {more:,} more" * (more > 0)
        said = (
            f"{said[:1].upper()}{said[1:]}: `--answers FILE.csv` and `to_pandas()` have all tables."
        )
        yield Prose(said, "also has", note=True)


def _for_all(attribute: Attribute) -> str:
    """Return what stands for all categories of an attribute, which is no label of one."""
    own = {attribute.label(k) for k in range(attribute.size)}
    said = ALL
    while said in own:
        said += "_"
    return said
