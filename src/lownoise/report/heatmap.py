# SPDX-License-Identifier: Apache-2.0
"""A map of standard deviations: one square a pair of attributes, their own on the diagonal."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.questions.residuals import marginal_orbits
from lownoise.report import numbers
from lownoise.report.names import shortened, shown

if TYPE_CHECKING:
    from lownoise.release.tables import TableTerms

MOST = 100  # attributes
_SHADES = 6
_WIDE, _LEAST, _MOST_SIDE = 620.0, 13.0, 44.0  # of the map and of a square, in pixels
_NUMBERED = 40.0  # from this side on a square shows its number
_LETTERS = 20  # of a name
_LETTER = 6.3  # pixels
_LONGEST = 6  # letters of a number in a square
_EVEN = 1.005  # deviations as near as this have one shade


def heatmap(terms: TableTerms) -> dict[str, Any] | None:
    """Return what the page draws, None where no pair and no attribute alone was asked for."""
    attributes = terms.question.attributes[:MOST]
    count = len(attributes)
    orbits = marginal_orbits(terms.question)
    asked = dict(zip(orbits.asked, (_typical(d) for *_, d in terms.deviations()), strict=True))
    values = {
        (i, j): asked[orbit]
        for i in range(count)
        for j in range(i + 1)
        if (orbit := orbits.orbit({i, j})) in asked
    }
    if count < 2 or not values:  # noqa: PLR2004
        return None
    edges = _edges([v for v in values.values() if v > 0])
    side = min(max(_WIDE / count, _LEAST), _MOST_SIDE)
    names = [shortened(a.name, _LETTERS) for a in attributes]
    left = 12 + _LETTER * max(map(len, names))
    said = {place: numbers.significant(v) for place, v in values.items()}
    numbered = side >= _NUMBERED and max(map(len, said.values())) <= _LONGEST
    shades: list[list[str]] = [[] for _ in range(len(edges))]
    texts = []
    for (i, j), value in values.items():
        x, y = left + j * side, i * side
        shade = _shade(value, edges)
        shades[shade].append(f"M{x:.1f} {y:.1f}h{side - 1:.1f}v{side - 1:.1f}h{1 - side:.1f}z")
        if numbered:
            dark = shade >= len(edges) - 2 and len(edges) > 2  # noqa: PLR2004
            texts.append((f"{x + side / 2:.1f}", f"{y + side / 2:.1f}", said[i, j], dark))
    steps = range(count)
    return {
        "width": f"{left + count * side + 8:.0f}",
        "height": f"{count * side + left:.0f}",
        "shades": [(_opacity(k, len(edges)), "".join(path)) for k, path in enumerate(shades)],
        "texts": texts,
        "rows": [(f"{left - 6:.1f}", f"{(k + 0.5) * side:.1f}", names[k]) for k in steps],
        "columns": [
            (f"{left + (k + 0.5) * side:.1f}", f"{count * side + 6:.1f}", names[k]) for k in steps
        ],
        "legend": [(_opacity(k, len(edges)), text) for k, text in enumerate(_legend(edges))],
        "missing": len(values) < count * (count + 1) // 2,
        "hidden": len(terms.question.attributes) - count,
        "count": count,
        "description": _description(terms, values),
    }


def _typical(deviations: Any) -> float:  # noqa: ANN401 (one number, or one a cell)
    return float(np.sqrt(np.mean(np.square(deviations))))


def _edges(values: list[float]) -> list[tuple[float, float]]:
    """Return the least and largest deviation of each shade, evenly on a log scale."""
    if not values:
        return [(0.0, 0.0)]
    low, high = min(values), max(values)
    if high <= low * _EVEN:
        return [(low, high)]
    ends = np.geomspace(low, high, _SHADES + 1).tolist()
    return list(itertools.pairwise(ends))


def _shade(value: float, edges: list[tuple[float, float]]) -> int:
    return sum(value >= low for low, _ in edges[1:])


def _opacity(shade: int, count: int) -> str:
    return f"{0.12 + 0.88 * (shade / (count - 1) if count > 1 else 0.4):.3f}"


def _legend(edges: list[tuple[float, float]]) -> list[str]:
    if len(edges) == 1:
        return [numbers.significant(edges[0][1])]
    return [f"{numbers.significant(low)} – {numbers.significant(high)}" for low, high in edges]


def _description(terms: TableTerms, values: dict[tuple[int, int], float]) -> str:
    """Return the range, and where its ends are."""

    def named(place: tuple[int, int]) -> str:
        names = terms.question.names(sorted(set(place)))
        return f"{numbers.significant(values[place])} for {' by '.join(map(shown, names))}"

    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if math.isclose(values[least], values[most]):
        return f"Every one is {numbers.significant(values[most])}."
    return f"From {named(least)} to {named(most)}."
