# SPDX-License-Identifier: Apache-2.0
"""Charts: lines named where they end, and estimates with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.report import spelling
from lownoise.report.charts import (
    SHOWN_OF_MANY,
    circle,
    drawing,
    element,
    even_ticks,
    line,
    log_ticks,
    room_for,
    text,
)
from lownoise.report.parts import Chart
from lownoise.report.spelling import shortened, shown, significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from lownoise.numbers.arrays import Vector
    from lownoise.report.reproduce import Figure, Line

_WIDTH, _HEIGHT, _LEFT, _TOP, _NAMES = 440.0, 250.0, 62.0, 34.0, 262.0
_APART = 16.0  # pixels between the names of two lines
_MOST_TICKS = 6
_WIDE, _MOST_ENDS = 634.0, 16  # of a chart without names beside it


@final
@dataclass(frozen=True)
class _Scale:
    """Numbers → pixels, along one side."""

    low: float
    high: float
    start: float
    length: float
    log: bool

    def at(self, value: float) -> float:
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + self.length * share

    def ticks(self) -> list[float]:
        if not self.log:
            return even_ticks(self.high, self.low)
        if self.high / self.low < 100:  # noqa: PLR2004 (decades alone would be too few)
            return [
                tick
                for tick in log_ticks(min(self.low, 1), max(self.high, 1), most=2 * _MOST_TICKS)
                if self.low <= tick <= self.high
            ]
        decades = range(
            math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1
        )
        return [10.0**k for k in decades[:: -(-len(decades) // _MOST_TICKS)]]


def line_chart(figure: Figure) -> Chart:
    """Return a chart of the lines of a figure.

    Examples:
        >>> from lownoise.report.reproduce import Figure, Line
        >>> lines = (Line("a < b", ((1, 1), (10, 5))),)
        >>> chart = line_chart(Figure(lines=lines, name="c", caption="c", across="x", upward="y"))
        >>> "a &lt; b" in chart.drawn[0]
        True
    """
    lines, log = figure.lines, figure.log
    xs = [x for own in lines for x, _ in own.points]
    ys = [y for own in lines for _, y in own.points]
    floor = min(ys) if figure.least is None else figure.least
    right, bottom = _LEFT + _WIDTH, _TOP + _HEIGHT
    over = (
        max(ys) ** 1.02 / floor**0.02
        if log[1] and floor > 0
        else max(ys) + 0.04 * (max(ys) - floor)
    )
    x_of = _Scale(min(xs), max(xs), _LEFT, _WIDTH, log[0])
    y_of = _Scale(floor, over, bottom, -_HEIGHT, log[1])
    parts = []
    for tick in y_of.ticks():
        parts.append(line(_LEFT, y_of.at(tick), right, y_of.at(tick), "rule"))
        parts.append(text(_LEFT - 8, y_of.at(tick), spelling.shortest(tick), "end"))
    for tick in x_of.ticks():
        parts.append(line(x_of.at(tick), bottom, x_of.at(tick), bottom + 5, "rule"))
        parts.append(text(x_of.at(tick), bottom + 16, spelling.shortest(tick), "middle"))
    for own in lines:
        path = "L".join(f"{x_of.at(x):.1f} {y_of.at(y):.1f}" for x, y in own.points)
        parts.append(element("path", {"class": own.look, "d": f"M{path}"}))
    parts += _names(lines, [y_of.at(own.points[-1][1]) for own in lines], right)
    parts.append(text((_LEFT + right) / 2, bottom + 38, figure.across, "middle"))
    parts.append(text(_LEFT, _TOP - 20, figure.upward))
    drawn = drawing(
        (right + _NAMES, bottom + 52),
        parts,
        name=figure.name,
        look="lines",
        title=f"{figure.upward} against {figure.across}",
        description="; ".join(_in_words(own) for own in lines),
    )
    return Chart((drawn,), figure.caption)


def band_chart(
    ends: Sequence[str],
    heights: Sequence[float],
    band: Sequence[tuple[float, float]],
    *,
    title: str,
    caption: str,
) -> Chart:
    """Return a chart of a line in a band, above ranges that are drawn equally wide.

    Args:
        ends: what the ends of the ranges are called, one more than ranges.
        heights: of the line at the ends.
        band: below and above it.
        title: what is drawn.
        caption: what is seen.

    Examples:
        >>> band = [(0, 0), (3, 5), (8, 9)]
        >>> chart = band_chart(["0", "9", "<"], [0, 4, 8], band, title="t", caption="c")
        >>> "&lt;" in chart.drawn[0], "9: 4.00 (3.00 to 5.00)" in chart.drawn[0]
        (True, True)
    """
    k, bottom = len(ends) - 1, _TOP + _HEIGHT
    least, most = min(0.0, *(low for low, _ in band)), max(1.0, *(high for _, high in band))
    y_of = _Scale(least, most, bottom, -_HEIGHT, log=False)
    x_of = _Scale(0.0, float(k), _LEFT, _WIDE, log=False)
    parts = []
    for tick in y_of.ticks():
        parts.append(line(_LEFT, y_of.at(tick), _LEFT + _WIDE, y_of.at(tick), "rule"))
        parts.append(text(_LEFT - 8, y_of.at(tick), spelling.shortest(tick), "end"))
    for i in range(0, k + 1, -(-k // _MOST_ENDS)):
        parts.append(line(x_of.at(i), bottom, x_of.at(i), bottom + 5, "rule"))
        parts.append(text(x_of.at(i), bottom + 16, ends[i], "middle"))
    lows, highs = ([own[side] for own in band] for side in (0, 1))

    def path(values: Sequence[float], places: Sequence[int]) -> str:
        return "L".join(f"{x_of.at(i):.1f} {y_of.at(values[i]):.1f}" for i in places)

    every, back = range(k + 1), range(k, -1, -1)
    around = f"M{path(highs, every)}L{path(lows, back)}z"
    parts.append(element("path", {"class": "band", "d": around}))
    parts.append(element("path", {"class": "own", "d": f"M{path(heights, every)}"}))
    short = spelling.significant
    said = (
        f"{end}: {short(y)} ({short(low)} to {short(high)})"
        for end, y, (low, high) in zip(ends, heights, band, strict=True)
    )
    drawn = drawing(
        (_LEFT + _WIDE + 24, bottom + 30),
        parts,
        name="band",
        look="lines",
        title=title,
        description="; ".join(said),
    )
    return Chart((drawn,), caption)


def _names(lines: Sequence[Line], heights: Sequence[float], right: float) -> list[Markup]:
    """Return the names where lines end, apart from each other, with a stroke of their look."""
    order = sorted(range(len(lines)), key=lambda k: heights[k])
    placed: list[float] = []
    for k in order:
        placed.append(max(heights[k], placed[-1] + _APART) if placed else heights[k])
    sunk = max(0.0, placed[-1] - (_TOP + _HEIGHT))
    parts = []
    for k, y in zip(order, placed, strict=True):
        parts.append(line(right + 6, y - sunk, right + 22, y - sunk, lines[k].look))
        parts.append(text(right + 28, y - sunk, lines[k].name))
    return parts


def _in_words(own: Line) -> str:
    (x, y), (last, end) = own.points[0], own.points[-1]
    short = spelling.significant
    return f"{own.name}: {short(y)} at {short(x)}, {short(end)} at {short(last)}"


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
