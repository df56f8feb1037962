# SPDX-License-Identifier: Apache-2.0
"""Charts as inline SVG: they take the page's colours and fonts, and say in words what they show."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from lownoise.release.regions import chi_quantile
from lownoise.report import spelling
from lownoise.report.parts import Chart
from lownoise.report.spelling import shortened, shown, significant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lownoise.numbers.arrays import Integers, Vector

MOST_ANSWERS = 200  # that are drawn
SHOWN_OF_MANY = 40
_NO_NOISE = "no noise needed"
_SERIES = ("i.i.d. Gaussian", "Laplace, budget split")
_LEVEL = 0.95
_LETTER, _GAP = 7.0, 3.0  # the width of a letter, and of what is left beside a label, in pixels


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
    left = 14.0 if narrow else room_for(labels)
    top, height = (70.0 if narrow else 30.0), row * len(names)
    finite = [1.0, *(v for r in ratios for v in r.tolist() if math.isfinite(v) and v > 0)]
    margin = max((max(finite) / min(finite)) ** 0.06, 1.12)
    low, high = min(min(finite) / margin, 0.8), max(max(finite) * margin, 1.25)

    def across(value: float) -> float:
        return left + (width - left - 24) * math.log(value / low) / math.log(high / low)

    parts = _legend(0.0 if narrow else left, narrow=narrow)
    for tick in _apart(low, high, across, most=5 if narrow else 8):
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

    def spoken(k: int) -> str:
        if np.isnan(ratios[0][k]):
            return _NO_NOISE
        return ", ".join(f"{label} {significant(float(r[k]))} times" for label, r in pairs)

    return "; ".join(f"{shown(name)}: {spoken(k)}" for k, name in enumerate(names))


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
    extent = float(radius * terms.isotropic[i])  # the same in every coordinate
    axes, angle = _axes(terms.mechanism.answer_noise, i, j)
    largest = max(across, up, extent)
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
            element("circle", {"class": "round", "r": f"{extent / largest:.4f}"}),
            element("ellipse", fitted),
        ],
        name=f"pair-{i}-{j}",
        title=f"Noise of {words[0]} (across) and {words[1]} (up)",
        description=(
            f"This plan: an ellipse reaching {significant(across)} across and {significant(up)} "
            f"up; i.i.d. Gaussian noise: a circle of radius {significant(extent)}."
        ),
    )
    lines = (
        ("axis", f"→ {shortened(terms.names[i], 18)}"),
        ("axis", f"↑ {shortened(terms.names[j], 18)}"),
        ("own", own),
        ("quiet", f"i.i.d. ±{significant(extent)}"),
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


# --- elements of SVG, escaped as they are made, and round numbers beside an axis


def element(tag: str, attributes: Mapping[str, str], *inside: str) -> Markup:
    """Return an element; texts inside are escaped, elements are not.

    >>> element("text", {"class": "end"}, "a < b")
    Markup('<text class="end">a &lt; b</text>')
    """
    said = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    # every attribute and every text was escaped in this line or the one above
    return Markup(f"<{tag}{said}>{''.join(map(escape, inside))}</{tag}>")  # noqa: S704


def room_for(labels: Iterable[str]) -> float:
    """Return the pixels that labels take at the left of a drawing, in the widest of usual fonts."""
    return 24 + 7.5 * max(map(spelling.width_of, labels))


def line(x1: float, y1: float, x2: float, y2: float, look: str) -> Markup:
    """Return a straight line."""
    return element("path", {"class": look, "d": f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"})


def circle(x: float, y: float, radius: float, look: str) -> Markup:
    """Return a circle."""
    return element(
        "circle", {"class": look, "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{radius:g}"}
    )


def text(x: float, y: float, content: str, look: str = "") -> Markup:
    """Return a text that begins at a point, or as `look` has it."""
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return element("text", {**place, **({"class": look} if look else {})}, content)


def described(
    tag: str,
    attributes: Mapping[str, str],
    inside: Iterable[Markup],
    *,
    name: str,
    title: str,
    description: str,
) -> Markup:
    """Return a drawing with words for those who do not see it; `name` begins its ids."""
    labels = {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    words = (
        element("title", {"id": f"{name}-title"}, title),
        element("desc", {"id": f"{name}-desc"}, description),
    )
    return element(tag, {**attributes, **labels}, *words, *inside)


def drawing(
    size: tuple[float, float],
    inside: Iterable[Markup],
    *,
    name: str,
    look: str,
    title: str,
    description: str,
) -> Markup:
    """Return a drawing so wide and so high, in pixels."""
    width, height = (f"{side:.0f}" for side in size)
    attributes = {
        "class": look,
        "width": width,
        "height": height,
        "viewBox": f"0 0 {width} {height}",
    }
    return described("svg", attributes, inside, name=name, title=title, description=description)


def even_ticks(high: float, low: float = 0.0) -> list[float]:
    """Return a few even steps of a round number between two.

    >>> even_ticks(9.7), even_ticks(1.1, low=-0.3)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 0.5, 1.0])
    """
    width = high - low
    power = 10.0 ** math.floor(math.log10(width))
    step = next(s * power for s in (0.1, 0.2, 0.5, 1, 2, 5) if width / (s * power) <= 5)  # noqa: PLR2004
    places = range(math.ceil(low / step), int(high // step) + 1)
    return [float(f"{k * step:.6g}") for k in places]


def _apart(low: float, high: float, across: Callable[[float], float], *, most: int) -> list[float]:
    """Return as many round numbers as have room for what they are called, `most` of them."""
    for number in range(most, 0, -1):
        found = log_ticks(low, high, most=number)
        room = [(across(v), (len(spelling.shortest(v)) + 1) * _LETTER / 2 + _GAP) for v in found]
        if all(a + own < b - other for (a, own), (b, other) in itertools.pairwise(room)):
            break
    return found


def log_ticks(low: float, high: float, *, most: int) -> list[float]:
    """Return round numbers that include 1, at most about `most` of them.

    >>> log_ticks(0.7, 12, most=5)
    [1.0, 2.0, 5.0, 10.0]
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 1.25, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        places = [float(f"{d}e{k}") for k in decades for d in digits]
        places = [p for p in places if low <= p <= high]
        if len(places) <= most:
            break
    every = math.ceil(len(places) / most)
    return places[places.index(1.0) % every :: every]
