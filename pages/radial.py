# SPDX-License-Identifier: Apache-2.0
"""Write the table and the plot of docs/radial.md: `python -m pages.radial [table | plot]`.

The plot draws what the table says. tests/docs/test_radial_page.py finds some of it again.
"""

from __future__ import annotations

import sys

from benchmarks import radial
from benchmarks.solver import ROOT

from pages.pure import rows_of
from pages.solver import figure_of, save, table, written

PAGE = ROOT / "docs" / "radial.md"
IMAGE = ROOT / "docs" / "images" / "radial.svg"
NAME = "radial"

LINES = {  # column of the table, color (Okabe and Ito), dashes, width, key
    "Gaussian": ("#5d666f", "--", 1.3, "Gaussian"),
    "K-norm": ("#0072b2", "-", 1.3, "K-norm, no use of δ"),
    "radial": ("#d55e00", "-", 2.4, "radial"),
    "proved": ("#000000", ":", 1.6, "no additive noise is below"),
}


def plot() -> None:
    """Draw the table."""
    rows = rows_of(PAGE.read_text(encoding="utf-8"), NAME)
    figure, panels = figure_of(1, len(radial.BUDGETS), 9.0, 3.4)
    for axis, (epsilon, delta) in zip(panels[0], radial.BUDGETS, strict=True):
        own = [row for row in rows if row[:2] == [f"{epsilon:g}", f"{delta:g}"]]
        for name, (color, dashes, width, key) in LINES.items():
            at = radial.HEAD.index(name)
            told = [row for row in own if row[at] != radial.UNKNOWN]
            sizes, errors = [int(row[2]) for row in told], [float(row[at]) for row in told]
            axis.loglog(sizes, errors, color=color, ls=dashes, lw=width, label=key)
        axis.minorticks_off()
        axis.set_xticks([2, 8, 32, 128], ["2", "8", "32", "128"])
        axis.set_title(f"ε = {epsilon:g}, δ = {delta:g}", fontsize=9)
        axis.set_xlabel("dimensions")
        least = min(float(row[radial.HEAD.index("radial")]) for row in own)
        most = float(own[0][radial.HEAD.index("Gaussian")])
        ticks = [n * 10.0**k for k in range(-3, 4) for n in (1, 2, 5)]
        shown = [y for y in ticks if 0.9 * least <= y <= 2 * most]
        axis.set_yticks(shown, [f"{y:g}" for y in shown])
        axis.set_ylim(0.9 * least, 1.6 * most)
    panels[0][0].set_ylabel("root mean square error of a number")
    panels[0][0].legend(frameon=False, fontsize=8, loc="lower right")
    save(figure, IMAGE)


def main(parts: list[str]) -> int:
    """Write the named parts, or both."""
    for name in parts or ["table", "plot"]:
        if name == "plot":
            plot()
            continue
        body = table(list(radial.HEAD), [list(row) for row in radial.rows()], words=0)
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), NAME, body), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
