# SPDX-License-Identifier: Apache-2.0
"""Figures as inline SVG: text stays text, colours follow the page, nothing is fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from lownoise.report.names import shortened, shown

if TYPE_CHECKING:
    from lownoise.terms import Terms

_MOST = 40  # answers in one figure
_INK = "#123456"  # replaced by the page's text colour
_ROUND = "#c0561f"
_LAPLACE = "#3f76b5"
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lownoise",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.parse_math": False,
}


def shown_answers(terms: Terms) -> list[int]:
    """Return which answers the figure shows: all, or the ones that round noise hurts most."""
    own = terms.standard_deviation
    noisy = np.flatnonzero(own > 0)
    if noisy.size <= _MOST:
        return [int(i) for i in noisy]
    worst = np.argsort(-terms.isotropic[noisy] / own[noisy], kind="stable")[:_MOST]
    return [int(i) for i in np.sort(noisy[worst])]


def comparison(terms: Terms) -> str:
    """Return an SVG of round noise in units of this plan's; "" where no answer is noisy."""
    import io

    import matplotlib as mpl
    from matplotlib.figure import Figure

    chosen = shown_answers(terms)
    if not chosen:
        return ""
    own = terms.standard_deviation[chosen]
    series = (
        ("i.i.d. Gaussian", terms.isotropic[chosen] / own, _ROUND, "o"),
        ("Laplace, budget split", terms.laplace[chosen] / own, _LAPLACE, "D"),
    )
    rows = np.arange(len(chosen))[::-1]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 1.5 + 0.42 * len(chosen)), layout="constrained")
        axes = figure.subplots()
        axes.axvline(1.0, color=_INK, linewidth=1.5)
        for label, ratios, colour, marker in series:
            axes.hlines(rows, 1.0, ratios, color=colour, linewidth=1, alpha=0.35)
            axes.plot(ratios, rows, marker, color=colour, label=label, markersize=7)
        axes.set_xscale("log")
        both = np.concatenate([s[1] for s in series] + [np.ones(1)])
        low, high = both.min() / 1.25, both.max() * 1.25
        axes.set_xlim(low, high)
        ticks = _ticks(float(low), float(high))
        axes.set_xticks(ticks, [f"{t:g}×" for t in ticks])
        axes.minorticks_off()
        axes.set_yticks(rows, [shortened(terms.names[i], 28) for i in chosen])
        axes.set_ylim(-0.6, len(chosen) - 0.4)
        axes.set_xlabel("standard deviation, in units of this plan's (the line at 1×)")
        axes.tick_params(length=0)
        axes.grid(axis="x", color=_INK, alpha=0.15)
        axes.spines[:].set_visible(False)
        figure.legend(loc="outside upper left", ncols=2, frameon=False, labelcolor=_INK)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return _inline(
        buffer.getvalue(),
        "Noise of other mechanisms beside this plan's",
        "; ".join(
            f"{terms.names[i]}: "
            + ", ".join(f"{label} {r[k]:.3g} times" for label, r, *_ in series)
            for k, i in enumerate(chosen)
        ),
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers in [low, high]; 1 is always among them."""
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    fine = [m * 10.0**e for e in decades for m in (1, 1.5, 2, 3, 5, 7)]
    inside = [t for t in fine if low <= t <= high]
    coarse = [t for t in inside if np.isclose(np.log10(t) % 1, 0)]
    return inside if len(inside) <= 8 else coarse  # noqa: PLR2004 (labels that fit side by side)


def _inline(svg: str, title: str, description: str) -> str:
    """Return the drawing without its file header, scalable, in the page's colour, with words."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = body.replace(_INK, "currentColor").replace("#000000", "currentColor")
    body = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", body)
    body = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", body)
    head, tail = body.split(">", 1)
    return (
        f'{head} role="img" aria-labelledby="figure-title figure-description">'
        f'<title id="figure-title">{escape(title)}</title>'
        f'<desc id="figure-description">{escape(description)}</desc>{tail}'
    )
