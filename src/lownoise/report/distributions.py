# SPDX-License-Identifier: Apache-2.0
"""Distributions: the counts up to each value with their band, drawn, and quantiles in a table."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from lownoise.report import spelling
from lownoise.report.lines import band_chart
from lownoise.report.parts import Column, Estimate, Prose, Table
from lownoise.report.spelling import shown
from lownoise.report.view import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.questions import Attribute, Marginals
    from lownoise.report.parts import Part

_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def distribution(release: Any, level: float, percent: str) -> tuple[Part, ...]:  # noqa: ANN401
    """Return the distribution of the one column that is asked for in its order; else nothing.

    Args:
        release: of marginals.
        level: with which the band holds, and each interval.
        percent: the same in words.
    """
    question = release.terms.question
    ordered = [a for a in question.attributes if a.ordered]
    if len(ordered) != 1:
        return ()
    own = ordered[0]
    if own.edges is None and own.labels is not None:  # which may be words
        return ()
    found = release.distribution(own.name, level=level)
    if own.edges is not None:
        ends = [own.edges[0], *found.values.tolist()]
        heights, band = [0.0], [(0.0, 0.0)]
    else:
        ends, heights, band = found.values.tolist(), [], []
    heights += found.counts.tolist()
    band += zip(found.lower.tolist(), found.upper.tolist(), strict=True)
    parts: list[Part] = []
    if len(ends) > 1:
        caption = (
            f"How many rows have at most each value of {shown(own.name)}. The band contains all "
            f"exact counts with probability {percent}. The ranges are drawn equally wide."
        )
        named = list(map(spelling.shortest, ends))
        title = f"Rows with at most each value of {shown(own.name)}"
        parts.append(band_chart(named, heights, band, title=title, caption=caption))
    every = list(itertools.islice(_groups(question, own), MOST_ROWS // len(_QUANTILES)))
    rows = []
    for label, where in every:
        for q in _QUANTILES:
            at = release.quantile(q, own.name, where=where, level=level)
            rows.append((label, f"{100 * q:g}%", Estimate(at.value, at.lower, at.upper)))
    parts.append(
        Table(
            columns=(
                Column("Rows", "name"),
                Column("Quantile", "words"),
                Column(f"Value of {shown(own.name)}", "estimate", level, even=False),
            ),
            rows=tuple(rows),
            caption=(
                f"Interpolated linearly between the ends of ranges, with {percent} intervals for "
                "the exact quantile of the rows."
            ),
            title="Quantiles",
            terminal=len(_QUANTILES),
        )
    )
    said = "release.quantile(q, where=…) and release.distribution(where=…) have all others."
    return (*parts, Prose(said, note=True))


def _groups(question: Marginals, own: Attribute) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield all rows, and each group in which the column is asked for: its name, and `where`."""
    yield "all rows", {}
    place = question.attributes.index(own)
    for chosen in question.sets():
        others = [question.attributes[i] for i in chosen if i != place]
        if place not in chosen or not others:
            continue
        for cells in itertools.product(*(range(a.size) for a in others)):
            pairs = list(zip(others, cells, strict=True))
            label = ", ".join(f"{shown(a.name)}={shown(a.label(k))}" for a, k in pairs)
            yield label, {a.name: _value(a, k) for a, k in pairs}


def _value(attribute: Attribute, cell: int) -> object:
    """Return the category of a cell, as `where` takes it."""
    if attribute.labels is None or cell == attribute.categories:
        return attribute.label(cell)
    return attribute.labels[cell]
