# SPDX-License-Identifier: Apache-2.0
"""Write the table of ratios of docs/theory.md, and draw its figure: `python -m pages.asymptotic`.

The error of Gaussian noise fitted to K − K over each bound on all unbiased ρ-zCDP mechanisms, at
p = 2, on every dataset and for every K (the published one where K is symmetric).
"""

from __future__ import annotations

import math
import sys

import numpy as np
from benchmarks.solver import ROOT

from lownoise.bounds import divergence_up
from pages.solver import IMAGES, figure_of, save, table, written

PAGE = ROOT / "docs" / "theory.md"
PICTURE = IMAGES / "asymptotic.svg"
SHOWN = (1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)
DRAWN = np.geomspace(1e-6, 1, 241)
BLUE, BROWN, GREY = "#1f5fa8", "#c1561b", "#76808a"


def published(rho: float) -> float:
    """Return the ratio for 002, Theorem 43: half the width of K, covered once."""
    return 4 * math.sqrt(math.expm1(2 * rho) / (2 * rho))


def two_neighbours(rho: float) -> float:
    """Return the ratio where both extremes of K are told from each other, at once."""
    return math.sqrt((2 * math.expm1(2 * rho) - 2 * math.expm1(-rho)) / (2 * rho))


def best(rho: float) -> float:
    """Return the ratio that the library states."""
    return math.sqrt(divergence_up(rho) / (2 * rho))


def ratios() -> str:
    rows = [
        [f"{rho:g}", *(f"{ratio(rho):.4f}" for ratio in (published, two_neighbours, best))]
        for rho in SHOWN
    ]
    return table(["ρ", "002, Theorem 43", "two neighbours", "the better of both, D"], rows, words=0)


def draw() -> None:
    figure, panels = figure_of(1, 1, 6.4, 3.6)
    panel = panels[0, 0]
    lines = {
        "002, Theorem 43 (symmetric K)": (published, GREY, "--", 1e-4, 4.12),
        "two neighbours: √3": (two_neighbours, BROWN, "-.", 1e-4, 1.82),
        "this theorem: 1": (best, BLUE, "-", 1e-4, 1.1),
    }
    for name, (ratio, color, dash, x, y) in lines.items():
        panel.plot(DRAWN, [ratio(rho) for rho in DRAWN], dash, color=color, lw=1.6)
        panel.text(x, y, name, color=color, ha="center", va="bottom")
    panel.axhline(1, color="#b9c0c8", lw=0.8, zorder=0)
    panel.set_xscale("log")
    panel.set_xlim(DRAWN[0], DRAWN[-1])
    panel.set_ylim(0.9, 5)
    panel.set_yticks([1, 2, 3, 4, 5])
    panel.grid(axis="y", color="#e6e9ed", lw=0.6)
    panel.set_axisbelow(True)
    panel.set_xlabel("ρ")
    panel.set_ylabel("the Gaussian's error over the bound, p = 2")
    save(figure, PICTURE)


def main() -> int:
    draw()
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), "ratios", ratios()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
