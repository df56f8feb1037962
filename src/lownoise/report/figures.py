# SPDX-License-Identifier: Apache-2.0
"""Figures as inline SVG: they take the page's colours and fonts, and say what they show."""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.report import numbers
from lownoise.report.names import shortened, shown
from lownoise.report.ratios import answer_ratios
from lownoise.report.svg import inline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.terms import Terms

MOST_ANSWERS = 200
SHOWN_OF_MANY = 40
_TALL = 15  # rows, beyond which the axis is labelled above as well
_NO_NOISE = "no noise needed"
_LONGEST = 26  # letters of a name beside its row
_WIDE = 720.0  # points; the page shows a narrower figure of its own to narrow screens
_NARROW = 340.0
_INK, _QUIET, _PAPER = "#010101", "#010102", "#010103"
_PLAN, _IID, _LAPLACE = "#010104", "#010105", "#010106"
_COLORS = {  # no drawing has these by chance
    _INK: "currentColor",
    _QUIET: "var(--quiet, #76808a)",
    _PAPER: "var(--paper, #fff)",
    _PLAN: "var(--plan, #1f5fa8)",
    _IID: "var(--iid, #b4541a)",
    _LAPLACE: "var(--laplace, #6a4c93)",
}
_SERIES = (("i.i.d. Gaussian", _IID, "o"), ("Laplace, budget split", _LAPLACE, "D"))


def shown_answers(terms: Terms) -> Integers:
    """Return which answers the figure shows: all, or of more than 200 the 40 that differ most."""
    m = len(terms.names)
    if m <= MOST_ANSWERS:
        return np.arange(m)
    ratios = np.maximum(
        answer_ratios(terms, terms.isotropic),
        answer_ratios(terms, terms.laplace),
    )
    order = np.argsort(np.where(np.isnan(ratios), np.inf, -ratios), kind="stable")
    return np.sort(order[:SHOWN_OF_MANY])


def comparison(terms: Terms, *, narrow: bool = False) -> str:
    """Return SVG: each answer's standard deviation under other noise, as a multiple of the plan's.

    Args:
        terms: what is drawn.
        narrow: draw for a screen of 360 px, names above their rows, instead of a page.
    """
    import matplotlib as mpl

    chosen = shown_answers(terms)
    others = (terms.isotropic, terms.laplace)
    ratios = [answer_ratios(terms, other)[chosen] for other in others]
    names = [terms.names[i] for i in chosen]
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the browser has its own
        mpl.rcdefaults()
        mpl.rcParams.update(_settings(narrow))
        drawn = _draw(names, ratios, narrow=narrow)
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        drawn.savefig(file, format="svg", transparent=True, metadata=nothing)
    return inline(
        file.getvalue(),
        name="narrow-figure" if narrow else "figure",
        look="narrow" if narrow else "wide",
        title="Standard deviations of other noise, as a multiple of this plan’s",
        description=_description(names, ratios),
        colors=_COLORS,
    )


def _settings(narrow: bool) -> dict[str, Any]:  # noqa: FBT001
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "lownoise",
        "font.size": 12.0 if narrow else 13.0,
        "text.color": _INK,
        "axes.linewidth": 0.8,
    }


def _draw(names: list[str], ratios: list[Vector], *, narrow: bool) -> Any:  # noqa: ANN401
    from matplotlib.figure import Figure

    width, row = (_NARROW, 40.0) if narrow else (_WIDE, 27.0)
    longest = min(max(map(len, names)), _LONGEST)
    left, right = (14.0, 14.0) if narrow else (24.0 + 7.5 * longest, 24.0)
    top, bottom = (76.0, 46.0) if narrow else (40.0, 50.0)
    tall = len(names) > _TALL
    top += 16.0 * tall
    height = top + row * len(names) + bottom
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, row * len(names) / height),
    )
    axes.set(xscale="log", xlim=_range(ratios), ylim=(len(names) - 0.5, -0.5), yticks=[])
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_color(_QUIET)
    _ticks(axes, few=narrow, both=tall)
    axes.set_xlabel("times this plan’s standard deviation (log scale)", color=_INK, labelpad=6)
    axes.axvline(1.0, color=_PLAN, linewidth=1.8, zorder=1)
    drop = 0.22 if narrow else 0.0  # dots stand below a name above them
    for y, name in enumerate(names):
        _name(axes, y, name, narrow=narrow)
        values = [float(r[y]) for r in ratios]
        if any(math.isnan(v) for v in values):
            axes.annotate(
                _NO_NOISE, (1, y + drop), (7, 0), "data", "offset points", color=_QUIET, va="center"
            )
            continue
        ends = [1.0, *values]
        axes.hlines(y + drop, min(ends), max(ends), color=_QUIET, linewidth=1.0, alpha=0.6)
        for value, (_, color, marker), size in zip(values, _SERIES, (62, 44), strict=True):
            axes.scatter(value, y + drop, size, color, marker=marker, linewidths=0, zorder=3)
    _legend(figure, 0.0 if narrow else left / width - 0.01, narrow=narrow)
    return figure


def _name(axes: Any, y: int, name: str, *, narrow: bool) -> None:  # noqa: ANN401
    across = axes.get_yaxis_transform()
    if narrow:
        text = shortened(name, 42)
        under = {"facecolor": _PAPER, "edgecolor": "none", "pad": 1.0}
        axes.text(0, y - 0.2, text, transform=across, va="center", bbox=under, parse_math=False)
    else:
        text = shortened(name, _LONGEST)
        axes.text(-0.02, y, text, transform=across, va="center", ha="right", parse_math=False)


def _range(ratios: list[Vector]) -> tuple[float, float]:
    found = [v for v in np.concatenate(ratios).tolist() if math.isfinite(v) and v > 0]
    lowest, highest = min([1.0, *found]), max([1.0, *found])
    margin = max((highest / lowest) ** 0.06, 1.12)
    return min(lowest / margin, 0.8), max(highest * margin, 1.25)


def _ticks(axes: Any, *, few: bool, both: bool) -> None:  # noqa: ANN401
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    places = list(_tick_places(*axes.get_xlim(), most=5 if few else 8))
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{numbers.shortest(float(x))}×"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", color=_QUIET, labelcolor=_INK, length=4, labeltop=both)
    axes.grid(axis="x", color=_QUIET, alpha=0.25, linewidth=0.8)
    axes.set_axisbelow(True)


def _tick_places(low: float, high: float, *, most: int) -> Iterator[float]:
    """Yield round numbers that include 1, at most about `most` of them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 1.25, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        places = [float(f"{d}e{k}") for k in decades for d in digits]
        places = [p for p in places if low <= p <= high]
        if len(places) <= most:
            break
    every = math.ceil(len(places) / most)
    start = places.index(1.0) % every
    yield from places[start::every]


def _legend(figure: Any, left: float, *, narrow: bool) -> None:  # noqa: ANN401
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=_PLAN, linewidth=1.8, label="this plan (1×)")]
    handles += [
        Line2D([], [], color=color, marker=marker, linestyle="", markersize=7, label=label)
        for label, color, marker in _SERIES
    ]
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(left, 1.0),
        ncols=1 if narrow else 3,
        frameon=False,
        borderaxespad=0.3,
        handletextpad=0.6,
        labelspacing=0.4,
        labelcolor=_INK,
    )


def _description(names: list[str], ratios: list[Vector]) -> str:
    """Return each answer's multiples; beyond 40 answers, the range of each kind."""
    if len(names) > SHOWN_OF_MANY:
        return "; ".join(
            f"{label}: {_times(np.nanmin(values))} to {_times(np.nanmax(values))} times"
            for (label, _, _), values in zip(_SERIES, ratios, strict=True)
        )
    return "; ".join(f"{shown(name)}: {_multiples(ratios, y)}" for y, name in enumerate(names))


def _multiples(ratios: list[Vector], row: int) -> str:
    if np.isnan(ratios[0][row]):
        return _NO_NOISE
    series = zip(_SERIES, ratios, strict=True)
    return ", ".join(f"{label} {_times(values[row])} times" for (label, _, _), values in series)


def _times(value: float) -> str:
    return numbers.significant(float(value))
