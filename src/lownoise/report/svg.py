# SPDX-License-Identifier: Apache-2.0
"""Elements of SVG, escaped as they are made, and round numbers beside an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def element(tag: str, attributes: Mapping[str, str], *inside: str) -> Markup:
    """Return an element; texts inside are escaped, elements are not.

    >>> element("text", {"class": "end"}, "a < b")
    Markup('<text class="end">a &lt; b</text>')
    """
    said = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    # every attribute and every text was escaped in this line or the one above
    return Markup(f"<{tag}{said}>{''.join(map(escape, inside))}</{tag}>")  # noqa: S704


def line(x1: float, y1: float, x2: float, y2: float, look: str) -> Markup:
    """Return a straight line."""
    return element("path", {"class": look, "d": f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"})


def circle(x: float, y: float, radius: float, look: str) -> Markup:
    """Return a circle."""
    return element(
        "circle", {"class": look, "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{radius:g}"}
    )


def text(x: float, y: float, said: str, look: str = "") -> Markup:
    """Return a text that begins at a point, or as `look` has it."""
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return element("text", {**place, **({"class": look} if look else {})}, said)


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


def even_ticks(high: float) -> list[float]:
    """Return 0 and a few even steps of a round number up to `high`.

    >>> even_ticks(9.7)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    power = 10.0 ** math.floor(math.log10(high))
    step = next(s * power for s in (0.1, 0.2, 0.5, 1, 2, 5) if high / (s * power) <= 5)  # noqa: PLR2004
    return [float(f"{k * step:.6g}") for k in range(int(high / step) + 1)]


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
