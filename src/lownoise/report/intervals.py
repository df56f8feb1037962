# SPDX-License-Identifier: Apache-2.0
"""Estimates with their intervals as a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.report import spelling
from lownoise.report.charts import SHOWN_OF_MANY, circle, drawing, even_ticks, line, room_for, text
from lownoise.report.parts import Chart
from lownoise.report.spelling import shortened, shown, significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from lownoise.numbers.arrays import Vector


def intervals(
    names: Sequence[str], values: Vector, found: Vector, ends: tuple[Vector, Vector]
) -> Chart:
    """Return estimates with their intervals, the first 40 of them.

    On one axis where all answers have the same range, and else each in its own.

    Args:
        names: of the answers, m.
        values: the estimates, shape (m,).
        found: the ends of the intervals, shape (m, 2).
        ends: the least and the greatest that each answer can be, each of shape (m,).
    """
    m = min(values.size, SHOWN_OF_MANY)
    low, high = np.minimum(ends[0], found[:, 0])[:m], np.maximum(ends[1], found[:, 1])[:m]
    varied = ends[1] > ends[0]  # not of an answer that all records have alike
    common = bool(np.any(varied)) and all(np.ptp(end[varied]) == 0 for end in ends)
    if common:  # no wider than what is drawn, so that small shares are seen
        low[:], high[:] = _drawn(found[:m], max(0.0, float(ends[0][varied][0])))
    rows = list(zip(names, values[:m], found[:m], low, high, strict=False))
    drawn = tuple(_intervals(rows, common=common, narrow=narrow) for narrow in (False, True))
    where = "on one axis"
    if not common:
        where = "in the public range of each, or as far as its interval goes; the ends are given"
    caption = f"Estimates with their intervals, {where}."
    if m < values.size:
        caption += f" The first {m:,} of {values.size:,} answers are shown."
    return Chart(drawn, caption)


def _drawn(found: Vector, floor: float) -> tuple[float, float]:
    """Return the ends of an axis for intervals, shape (m, 2): from `floor`, where that is near."""
    low, high = float(found[:, 0].min()), float(found[:, 1].max())
    aside = (high - low) / 25  # so that no end lies on the edge
    if low - floor > 2 * (high - low) > 0:  # most of the axis would be empty, and differences lost
        return low - aside, high + aside
    return min(low, floor), high + aside


def _intervals(rows: Sequence[Any], *, common: bool, narrow: bool) -> Markup:
    """Draw for a page of 720 pixels, or with names above their rows for a screen of 340."""
    width, row, letters = (340.0, 52.0, 42) if narrow else (720.0, 34.0, 26)
    labels = [shortened(name, letters) for name, *_ in rows]
    left = 14.0 if narrow else room_for(labels)
    top, right = 8.0, width - 24
    floor = top + row * len(rows)
    parts, said = [], []

    def across(value: float, low: float, high: float) -> float:
        return left + (right - left) * ((value - low) / (high - low) if high > low else 0.5)

    *_, low, high = rows[0]
    for tick in even_ticks(high, low) if common and high > low else []:
        x = across(tick, low, high)
        parts.append(line(x, top, x, floor, "rule"))
        parts.append(text(x, floor + 14, spelling.shortest(tick), "middle"))
    for k, (label, (name, value, own, low, high)) in enumerate(zip(labels, rows, strict=True)):
        middle = top + row * (k + 0.5)
        y = middle + 6 if narrow else middle - (0 if common else 4)
        parts.append(text(0, middle - 12, label) if narrow else text(left - 12, y, label, "end"))
        parts.append(line(left, y, right, y, "rule"))
        if not common:
            parts += [
                text(left, y + 12, significant(low), "quiet"),
                text(right, y + 12, significant(high), "quiet end"),
            ]
        x1, x2 = (across(float(end), low, high) for end in own)
        parts += [line(x1, y, x2, y, "own"), circle(across(value, low, high), y, 3.5, "square")]
        ends = " to ".join(significant(float(end)) for end in own)
        said.append(f"{shown(name)}: {significant(float(value))}, {ends}")
    return drawing(
        (width, floor + (26 if common else 8)),
        parts,
        name="narrow-intervals" if narrow else "intervals",
        look="narrow" if narrow else "wide",
        title="Estimates with their intervals",
        description="; ".join(said),
    )
