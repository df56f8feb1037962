# SPDX-License-Identifier: Apache-2.0
"""Write the tables and the plot of docs/pure.md: `python -m benchmarks.pure_page [part …]`.

Parts are `random` (minutes), `flat`, `domains`, `speed` and `plot`, which draws what the table of
`random` says; all of them where none is named. What the tables say is recomputed by
tests/docs/test_pure_page.py.
"""

from __future__ import annotations

import sys

from benchmarks import pure
from benchmarks.solver import ROOT
from benchmarks.solver_page import figure_of, part, save, table, written

PAGE = ROOT / "docs" / "pure.md"
IMAGE = ROOT / "docs" / "images" / "pure-random.svg"
SHOWN = 32  # the d of the panel along N

LINES = {  # column of the table, color (Okabe and Ito), dashes, mark
    "Laplace, counts": ("#cc79a7", "-", "v"),
    "Laplace, answers": ("#d55e00", "-", "^"),
    "recursive": ("#56b4e9", "-", "D"),
    "Gaussian": ("#5d666f", "--", "s"),
    "K-norm": ("#0072b2", "-", "o"),
    "no 1-DP below": ("#000000", ":", ""),
}
NAMES = {
    "Laplace, counts": "Laplace noise on the counts",
    "Laplace, answers": "Laplace noise on the answers",
    "recursive": "recursive K-norm",
    "Gaussian": "Gaussian, δ = 10⁻⁶",
    "K-norm": "K-norm",
    "no 1-DP below": "no 1-DP mechanism below",
}


def rows_of(text: str, name: str) -> list[list[str]]:
    """Return the cells of a table of the page."""
    lines = part(text, name).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def random_table(rows: list[list[str]] | None = None) -> str:
    found = rows or [pure.cells(row) for row in pure.random_rows()]
    return table(list(pure.HEAD), found, words=0)


def plot() -> None:
    """Draw the table of queries of random signs."""
    rows = rows_of(PAGE.read_text(encoding="utf-8"), "random")
    figure, panels = figure_of(1, 2, 7.6, 4.4)
    left, right = panels[0]
    most = f"{pure.MOST:,}"
    _lines(left, [row for row in rows if row[1] == most], lambda row: float(row[0]))
    own = [row for row in rows if row[0] == str(SHOWN) and "^" not in row[1]]
    _lines(right, own, lambda row: float(row[1].replace(",", "")))
    left.set_xlabel(f"queries d, on N = {most} kinds of records")
    right.set_xlabel(f"kinds of records N, d = {SHOWN} queries")
    left.set_ylabel("root mean square error over d, ε = 1")
    left.set_xticks(pure.SIZES, [str(d) for d in pure.SIZES])
    ticks = [float(row[1].replace(",", "")) for row in own]
    right.set_xticks(ticks, [row[1] for row in own])
    top = max(axis.get_ylim()[1] for axis in (left, right))
    for axis in (left, right):
        axis.minorticks_off()
        axis.set_ylim(0.25, top)
        axis.set_yticks([0.5, 1, 2, 5, 10, 20, 50], ["½", "1", "2", "5", "10", "20", "50"])
        axis.grid(axis="y", color="#d9dde3", lw=0.6)
        axis.set_axisbelow(True)
    right.tick_params(labelleft=False)
    _labels(right, own)
    save(figure, IMAGE)


def _lines(axis: object, rows: list[list[str]], x: object) -> None:
    for name, (color, dashes, mark) in LINES.items():
        column = pure.HEAD.index(name)
        y = [float(row[column].split(" ")[0]) / float(row[0]) for row in rows]
        wide = 2.0 if name == "K-norm" else 1.3
        axis.loglog([x(row) for row in rows], y, color=color, ls=dashes, marker=mark, ms=4, lw=wide)


def _labels(axis: object, rows: list[list[str]]) -> None:
    """Write each line's name beside its end, apart from each other."""
    last = rows[-1]
    ends = {
        name: float(last[pure.HEAD.index(name)].split(" ")[0]) / float(last[0]) for name in LINES
    }
    where = 0.0
    for name, y in sorted(ends.items(), key=lambda own: own[1]):
        where = max(y, where * 1.18)
        axis.annotate(
            NAMES[name],
            (1.0, y),
            (1.04, where),
            xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"),
            color=LINES[name][0],
            va="center",
            annotation_clip=False,
            fontsize=8.5,
        )


TABLES = {"random": random_table}


def main(parts: list[str]) -> int:
    """Write the named parts, or all."""
    for name in parts or [*TABLES, "plot"]:
        if name == "plot":
            plot()
            continue
        body = TABLES[name]()
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, body), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
