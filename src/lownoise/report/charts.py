# SPDX-License-Identifier: Apache-2.0
"""Charts as inline SVG: they take the page's colours and fonts, and say in words what they show."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.questions.residuals import marginal_orbits
from lownoise.release.regions import chi_quantile
from lownoise.report import spelling
from lownoise.report.parts import Chart
from lownoise.report.spelling import shortened, shown, significant
from lownoise.report.svg import (
    circle,
    described,
    drawing,
    element,
    even_ticks,
    line,
    log_ticks,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from lownoise.numbers.arrays import Integers, Vector

MOST_ANSWERS = 200  # that are drawn
SHOWN_OF_MANY = 40
MOST_ATTRIBUTES = 100
_NO_NOISE = "no noise needed"
_SERIES = ("i.i.d. Gaussian", "Laplace, budget split")
_LEVEL = 0.95


# --- other noise as a multiple of this plan's, answer by answer


def _ratios(own: Vector, other: Vector) -> Vector:
    """Return other/own for each answer's deviation, NaN where there is none, shape (m,)."""
    return np.asarray(np.divide(other, own, out=np.full(own.size, math.nan), where=own > 0))


def drawn_answers(ratios: Sequence[Vector]) -> Integers:
    """Return which answers are drawn: all, or of more than 200 the 40 that differ most."""
    m = ratios[0].size
    if m <= MOST_ANSWERS:
        return np.arange(m)
    largest = np.maximum(*ratios)
    order = np.argsort(np.where(np.isnan(largest), np.inf, -largest), kind="stable")
    return np.sort(order[:SHOWN_OF_MANY])


def multiples(terms: Any) -> Chart:  # noqa: ANN401
    """Return the deviations of i.i.d. and Laplace noise, as multiples of the plan's."""
    own = terms.standard_deviation
    ratios = [_ratios(own, other) for other in (terms.isotropic, terms.laplace)]
    chosen = drawn_answers(ratios)
    names = [terms.names[k] for k in chosen]
    found = [ratio[chosen] for ratio in ratios]
    caption = (
        "Standard deviation of each answer’s noise, as a multiple of this plan’s, at the same "
        "budget. Right of the line is more noise than this plan’s, left of it less."
    )
    if chosen.size < own.size:
        caption += (
            f" The {chosen.size:,} of {own.size:,} answers with the largest multiples are shown."
        )
    drawn = tuple(_multiples(names, found, narrow=narrow) for narrow in (False, True))
    return Chart(drawn, caption)


def _multiples(names: Sequence[str], ratios: Sequence[Vector], *, narrow: bool) -> Markup:
    """Draw for a page of 720 pixels, or with names above their rows for a screen of 340."""
    width, row, letters = (340.0, 44.0, 42) if narrow else (720.0, 27.0, 26)
    labels = [shortened(name, letters) for name in names]
    left = 14.0 if narrow else 24 + 7.5 * max(map(len, labels))
    top, height = (70.0 if narrow else 30.0), row * len(names)
    finite = [1.0, *(v for r in ratios for v in r.tolist() if math.isfinite(v) and v > 0)]
    margin = max((max(finite) / min(finite)) ** 0.06, 1.12)
    low, high = min(min(finite) / margin, 0.8), max(max(finite) * margin, 1.25)

    def across(value: float) -> float:
        return left + (width - left - 24) * math.log(value / low) / math.log(high / low)

    parts = _legend(0.0 if narrow else left, narrow=narrow)
    for tick in log_ticks(low, high, most=5 if narrow else 8):
        x = across(tick)
        parts.append(line(x, top, x, top + height, "rule"))
        parts.append(text(x, top + height + 16, f"{spelling.shortest(tick)}×", "middle"))
    under = "times this plan’s standard deviation (log scale)"
    middle = width / 2 if narrow else (left + width) / 2
    parts.append(text(middle, top + height + 36, under, "middle"))
    parts.append(line(across(1), top, across(1), top + height, "own"))
    for k, label in enumerate(labels):
        middle = top + row * (k + 0.5)
        y = middle + 9 if narrow else middle
        parts.append(text(0, middle - 11, label) if narrow else text(left - 12, y, label, "end"))
        values = [float(r[k]) for r in ratios]
        if any(map(math.isnan, values)):
            parts.append(text(across(1) + 8, y, _NO_NOISE, "quiet"))
            continue
        ends = sorted([1.0, *values])
        parts.append(line(across(ends[0]), y, across(ends[-1]), y, "span"))
        parts += [circle(across(values[0]), y, 4.5, "iid"), _diamond(across(values[1]), y)]
    name = "narrow-multiples" if narrow else "multiples"
    return drawing(
        (width, top + height + 46),
        parts,
        name=name,
        look="narrow" if narrow else "wide",
        title="Standard deviations of other noise, as a multiple of this plan’s",
        description=_multiples_in_words(names, ratios),
    )


def _legend(left: float, *, narrow: bool) -> list[Markup]:
    """Draw what the line and the two marks are, in a row or one under the other."""
    parts, labels = [], ("this plan (1×)", *_SERIES)
    for k, label in enumerate(labels):
        x, y = (left + 8, 12 + 19.0 * k) if narrow else (left + 8 + 165 * k, 12.0)
        mark = (line(x - 7, y, x + 7, y, "own"), circle(x, y, 4.5, "iid"), _diamond(x, y))[k]
        parts += [mark, text(x + 14, y, label)]
    return parts


def _diamond(x: float, y: float) -> Markup:
    return element("path", {"class": "laplace", "d": f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"})


def _multiples_in_words(names: Sequence[str], ratios: Sequence[Vector]) -> str:
    """Return each answer's multiples; beyond 40 answers, the range of each kind."""
    pairs = list(zip(_SERIES, ratios, strict=True))
    if len(names) > SHOWN_OF_MANY:
        return "; ".join(
            f"{label}: {significant(float(np.nanmin(r)))} to {significant(float(np.nanmax(r)))} "
            "times"
            for label, r in pairs
        )

    def said(k: int) -> str:
        if np.isnan(ratios[0][k]):
            return _NO_NOISE
        return ", ".join(f"{label} {significant(float(r[k]))} times" for label, r in pairs)

    return "; ".join(f"{shown(name)}: {said(k)}" for k, name in enumerate(names))


# --- the noise of two answers together


def ellipses(terms: Any) -> tuple[Chart, ...]:  # noqa: ANN401
    """Return the noise of pairs of answers as ellipses, beside the circle of i.i.d. noise.

    Of more than four noisy answers, the two that i.i.d. noise serves worst and the two that it
    serves best are paired.
    """
    ratios = _ratios(terms.standard_deviation, terms.isotropic)
    noisy = np.flatnonzero(~np.isnan(ratios))
    if noisy.size > 4:  # noqa: PLR2004 (six panels)
        order = noisy[np.argsort(ratios[noisy], kind="stable")]
        noisy = np.sort(np.concatenate([order[:2], order[-2:]]))
    panels = tuple(_ellipse(terms, i, j) for i, j in itertools.combinations(noisy.tolist(), 2))
    caption = (
        f"The noise of two answers together falls in the filled ellipse with chance {_LEVEL:.0%}; "
        "i.i.d. Gaussian noise that reveals as much needs the dashed circle."
    )
    return (Chart(panels, caption),) if panels else ()


def _ellipse(terms: Any, i: int, j: int) -> Markup:  # noqa: ANN401
    radius = chi_quantile(_LEVEL, 2)
    across, up = (float(radius * terms.standard_deviation[k]) for k in (i, j))
    reach = float(radius * terms.isotropic[i])  # the same in every coordinate
    axes, angle = _axes(terms.mechanism.answer_noise, i, j)
    largest = max(across, up, reach)
    fitted: dict[str, str] = {
        "class": "fitted",
        "rx": f"{radius * axes[0] / largest:.4f}",
        "ry": f"{radius * axes[1] / largest:.4f}",
    }
    if round(angle, 2):
        fitted["transform"] = f"rotate({-angle:.2f})"  # degrees; a picture's y runs down
    words = [shown(terms.names[k]) for k in (i, j)]
    own = f"±{significant(across)} and ±{significant(up)}"
    picture = described(
        "svg",
        {"viewBox": "-1.12 -1.12 2.24 2.24"},
        [
            element("path", {"class": "cross", "d": "M-1.1 0H1.1M0 -1.1V1.1"}),
            element("circle", {"class": "round", "r": f"{reach / largest:.4f}"}),
            element("ellipse", fitted),
        ],
        name=f"pair-{i}-{j}",
        title=f"Noise of {words[0]} (across) and {words[1]} (up)",
        description=(
            f"This plan: an ellipse reaching {significant(across)} across and {significant(up)} "
            f"up; i.i.d. Gaussian noise: a circle of radius {significant(reach)}."
        ),
    )
    lines = (
        ("axis", f"→ {shortened(terms.names[i], 18)}"),
        ("axis", f"↑ {shortened(terms.names[j], 18)}"),
        ("own", own),
        ("quiet", f"i.i.d. ±{significant(reach)}"),
    )
    under = [element("span", {"class": look}, said) for look, said in lines]
    return element("div", {"class": "ellipse"}, picture, element("p", {}, *under))


def _axes(noise: Any, i: int, j: int) -> tuple[tuple[float, float], float]:  # noqa: ANN401
    """Return the deviations along the axes of the pair's ellipse, and the first one's angle."""
    rows = np.zeros((2, noise.sources))
    for place, k in enumerate((i, j)):
        columns, entries = noise.row(k)
        rows[place, columns] = entries
    size = float(np.max(np.abs(rows)))
    covariance = (rows / size) @ (rows / size).T
    if covariance[0, 1] == 0:
        return (size * float(covariance[0, 0]) ** 0.5, size * float(covariance[1, 1]) ** 0.5), 0.0
    squares, turned = np.linalg.eigh(covariance)
    least, most = (size * float(v) for v in np.sqrt(np.maximum(squares, 0.0)))
    angle = float(np.degrees(np.arctan2(turned[1, 1], turned[0, 1])))
    return (most, least), (angle + 90) % 180 - 90  # an axis has no front and no back


# --- the noise of many answers, the largest first


def curve(deviations: Vector, isotropic: float) -> tuple[Chart, ...]:
    """Return all deviations, the largest first; nothing where answers are few, or none has noise.

    Args:
        deviations: the standard deviation of each answer, shape (m,).
        isotropic: that of i.i.d. noise.
    """
    m = deviations.size
    if m < 8 or not np.any(deviations > 0):  # noqa: PLR2004 (fewer are read in the table)
        return ()
    falling = np.sort(deviations)[::-1]
    high = 1.08 * max(float(falling[0]), isotropic)
    width, height, left, top = 640.0, 170.0, 58.0, 12.0
    right, floor = left + width, top + height

    def y_of(value: float) -> float:
        return top + height * (1 - value / high)

    parts = []
    for tick in even_ticks(high):
        parts.append(line(left, y_of(tick), right, y_of(tick), "rule"))
        parts.append(text(left - 8, y_of(tick), spelling.shortest(tick), "end"))
    places = np.unique(np.linspace(0, m - 1, min(m, 400)).astype(int)).tolist()
    steps = [  # each answer is a step of even width
        f"{left + width * start / m:.1f} {y_of(float(falling[start])):.1f}"
        f"H{left + width * end / m:.1f}"
        for start, end in zip(places, [*places[1:], m], strict=True)
    ]
    level, last = y_of(isotropic), y_of(float(falling[-1]))
    if abs(level - last) < 14:  # noqa: PLR2004 (pixels between two labels)
        last = level + (14.0 if last >= level else -14.0)
    parts += [
        line(left, level, right, level, "level"),
        element("path", {"class": "own", "d": "M" + "L".join(steps)}),
        text(right + 8, level, "i.i.d."),
        text(right + 8, last, "this plan"),
        text(left, floor + 18, "largest"),
        text(right, floor + 18, f"{m:,} answers", "end"),
    ]
    title = "Standard deviation of each answer, the largest first"
    drawn = drawing(
        (right + 74, floor + 40),
        parts,
        name="curve",
        look="fixed",
        title=title,
        description=(
            f"From {significant(float(falling[0]))} down to {significant(float(falling[-1]))}; "
            f"i.i.d. noise has {significant(isotropic)} everywhere."
        ),
    )
    caption = f"{title}, and of i.i.d. noise on all of them at the same budget."
    return (Chart((drawn,), caption, name=title),)


# --- the noise of marginals by pairs of attributes


def heatmap(terms: Any, one: str) -> tuple[Chart, ...]:  # noqa: ANN401
    """Return a square a pair of attributes; nothing where no pair and no attribute was asked for.

    Args:
        terms: of marginals.
        one: what an answer is called.
    """
    attributes = terms.question.attributes[:MOST_ATTRIBUTES]
    count = len(attributes)
    orbits = marginal_orbits(terms.question)
    typical = (float(np.sqrt(np.mean(np.square(d)))) for *_, d in terms.deviations())
    asked = dict(zip(orbits.asked, typical, strict=True))
    values = {
        (i, j): asked[orbit]
        for i in range(count)
        for j in range(i + 1)
        if (orbit := orbits.orbit({i, j})) in asked
    }
    if count < 2 or not values:  # noqa: PLR2004
        return ()
    edges = _edges([v for v in values.values() if v > 0])
    names = [shortened(a.name, 20) for a in attributes]
    drawn = drawing(
        _size(names),
        _squares(names, values, edges),
        name="map",
        look="fixed",
        title=f"Standard deviation of a {one}, by pairs of attributes",
        description=_map_in_words(terms, values),
    )
    caption = (
        f"Standard deviation of a {one}, in rows: of the marginal of two attributes, and on the "
        "diagonal of one."
    )
    if len(values) < count * (count + 1) // 2:
        caption += " A pair without a square was not asked for."
    hidden = len(terms.question.attributes) - count
    if hidden:
        caption += f" The first {count} attributes are shown; {hidden:,} more are not."
    ranges = [f"{significant(low)} – {significant(high)}" for low, high in edges]
    if len(edges) == 1:
        ranges = [significant(edges[0][1])]
    legend = tuple((_opacity(k, len(edges)), said) for k, said in enumerate(ranges))
    return (Chart((drawn,), caption, legend, name="Map of standard deviations"),)


def _side(count: int) -> float:
    """Return how wide a square is, in pixels."""
    return min(max(620.0 / count, 13.0), 44.0)


def _left(names: Sequence[str]) -> float:
    """Return the room for names beside the squares; a letter is 6.3 pixels wide."""
    return 12 + 6.3 * max(map(len, names))


def _size(names: Sequence[str]) -> tuple[float, float]:
    left, wide = _left(names), len(names) * _side(len(names))
    return left + wide + 8, wide + left


def _squares(
    names: Sequence[str],
    values: dict[tuple[int, int], float],
    edges: list[tuple[float, float]],
) -> list[Markup]:
    """Draw the squares of each shade in one path, their numbers where they fit, and the names."""
    count, left = len(names), _left(names)
    side = _side(count)
    said = {place: significant(v) for place, v in values.items()}
    numbered = side >= 40 and max(map(len, said.values())) <= 6  # noqa: PLR2004 (pixels, letters)
    paths = [""] * len(edges)
    parts: list[Markup] = []
    for (i, j), value in values.items():
        x, y = left + j * side, i * side
        shade = sum(value >= low for low, _ in edges[1:])
        paths[shade] += f"M{x:.1f} {y:.1f}h{side - 1:.1f}v{side - 1:.1f}h{1 - side:.1f}z"
        if numbered:
            dark = shade >= len(edges) - 2 and len(edges) > 2  # noqa: PLR2004
            look = "number onto" if dark else "number"
            parts.append(text(x + side / 2, y + side / 2, said[i, j], look))
    for k, name in enumerate(names):
        middle = (k + 0.5) * side
        parts.append(text(left - 6, middle, name, "end"))
        turned = f"translate({left + middle:.1f} {count * side + 6:.1f}) rotate(-90)"
        parts.append(element("text", {"class": "end", "transform": turned}, name))
    shades = [
        element("path", {"class": "square", "fill-opacity": _opacity(k, len(edges)), "d": path})
        for k, path in enumerate(paths)
        if path
    ]
    return [*shades, *parts]


def _edges(values: list[float]) -> list[tuple[float, float]]:
    """Return the least and largest deviation of each of six shades, evenly on a log scale."""
    if not values:
        return [(0.0, 0.0)]
    low, high = min(values), max(values)
    if high <= low * 1.005:  # as near as this they have one shade
        return [(low, high)]
    return list(itertools.pairwise(np.geomspace(low, high, 7).tolist()))


def _opacity(shade: int, count: int) -> str:
    return f"{0.12 + 0.88 * (shade / (count - 1) if count > 1 else 0.4):.3f}"


def _map_in_words(terms: Any, values: dict[tuple[int, int], float]) -> str:  # noqa: ANN401
    """Return the range, and where its ends are."""

    def named(place: tuple[int, int]) -> str:
        names = terms.question.names(sorted(set(place)))
        return f"{significant(values[place])} for {' by '.join(map(shown, names))}"

    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if math.isclose(values[least], values[most]):
        return f"Every one is {significant(values[most])}."
    return f"From {named(least)} to {named(most)}."
