# SPDX-License-Identifier: Apache-2.0
"""Write the tables and the plot of docs/pure.md: `python -m pages.pure [part …]`.

Parts are `random` (minutes), `flat`, `staircase`, `counts`, `units`, `domains`, `speed`, `walks`
and `plot`, which draws what the table of `random` says; all of them where none is named. What the
tables say of errors is recomputed by tests/docs/test_pure_page.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks import pure, pure_domains, pure_speed, staircase
from benchmarks.solver import ROOT

from pages.solver import figure_of, part, save, table, written

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = ROOT / "docs" / "pure.md"
IMAGE = ROOT / "docs" / "images" / "pure-random.svg"
SHOWN = 64  # the d of the panel along N
SEEN = (1.0, 50.0)  # errors over d that are drawn
APART = 1.17  # of names, one above another

LINES = {  # column of the table, color (Okabe and Ito), dashes, mark
    "Laplace, counts": ("#cc79a7", "-", "v"),
    "Laplace, answers": ("#d55e00", "-", "^"),
    "recursive": ("#56b4e9", "-", "D"),
    "Gaussian": ("#5d666f", "--", "s"),
    "ellipsoid": ("#009e73", "-", "P"),
    "K-norm": ("#0072b2", "-", "o"),
    "bound": ("#000000", ":", ""),
}
NAMES = {
    "Laplace, counts": "Laplace noise on the counts",
    "Laplace, answers": "Laplace noise on the answers",
    "recursive": "recursive K-norm",
    "ellipsoid": "K-norm of an ellipsoid",
    "Gaussian": "Gaussian, δ = 10⁻⁶",
    "K-norm": "K-norm",
    "bound": "no 1-DP mechanism is below",
}


def rows_of(text: str, name: str) -> list[list[str]]:
    """Return the cells of a table of the page."""
    lines = part(text, name).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def error_of(row: list[str], name: str) -> float:
    """Return an error of a row of the table of random signs."""
    if name == "bound":
        return max(error_of(row, own) for own in ("volume bound", "direction bound"))
    return float(row[pure.HEAD.index(name)].split(" ")[0])


def plot() -> None:
    """Draw the table of queries of random signs."""
    rows = rows_of(PAGE.read_text(encoding="utf-8"), "random")
    figure, panels = figure_of(1, 2, 7.8, 4.3)
    left, right = panels[0]
    most = f"{pure.MOST:,}"
    across = [row for row in rows if row[1] == most]
    along = [row for row in rows if row[0] == str(SHOWN)]
    _lines(left, across, [float(row[0]) for row in across])
    _lines(right, along, list(range(len(along))))
    left.set_xscale("log")
    left.set_xlabel(f"d queries of N = {most} kinds of records")
    right.set_xlabel(f"N kinds of records, d = {SHOWN} queries")
    left.set_ylabel("root mean square error, over d, at ε = 1")
    left.set_xticks(pure.SIZES, [str(d) for d in pure.SIZES])
    right.set_xticks(range(len(along)), [row[1].replace("2^64", "all 2⁶⁴") for row in along])
    for axis in (left, right):
        axis.minorticks_off()
        axis.set_ylim(*SEEN)
        axis.set_yticks([1, 2, 3, 5, 10, 20, 40], ["1", "2", "3", "5", "10", "20", "40"])
        axis.grid(axis="y", color="#e3e6ea", lw=0.6)
        axis.set_axisbelow(True)
    name = "Laplace, counts"
    left.annotate(NAMES[name], (6.2, 40), color=LINES[name][0], fontsize=8.5)
    right.tick_params(labelleft=False)
    _labels(right, along[-1])
    save(figure, IMAGE)


def _lines(axis: object, rows: list[list[str]], x: list[float]) -> None:
    for name, (color, dashes, mark) in LINES.items():
        y = [error_of(row, name) / float(row[0]) for row in rows]
        wide = 2.0 if name == "K-norm" else 1.3
        axis.semilogy(x, y, color=color, ls=dashes, marker=mark, ms=4, lw=wide)


def _labels(axis: object, last: list[str]) -> None:
    """Write each line's name beside its end, apart from each other."""
    ends = {name: error_of(last, name) / float(last[0]) for name in LINES}
    ends = {name: y for name, y in ends.items() if y < SEEN[1]}  # who leaves is named on the left
    where = 0.0
    for name, y in sorted(ends.items(), key=lambda own: own[1]):
        where = max(y, where * APART)
        axis.annotate(
            NAMES[name],
            (1.03, where),
            xycoords=("axes fraction", "data"),
            color=LINES[name][0],
            va="center",
            annotation_clip=False,
            fontsize=8.5,
        )


TABLES: dict[str, Callable[[], str]] = {
    "random": lambda: table(list(pure.HEAD), [*map(pure.cells, pure.random_rows())], words=0),
    "flat": lambda: table(list(pure.FLAT_HEAD), [*map(pure.flat_cells, pure.FLAT)], words=0),
    "staircase": lambda: table(list(staircase.HEAD), staircase.rows(), words=0),
    "counts": lambda: table(list(staircase.COUNT_HEAD), staircase.counts()),
    "units": lambda: table(list(staircase.UNIT_HEAD), staircase.units(), words=0),
    "domains": lambda: table(list(pure_domains.HEAD), pure_domains.domain_rows()),
    "speed": lambda: table(list(pure_speed.HEAD), pure_speed.speed_rows()),
    "walks": lambda: table(list(pure_speed.WALK_HEAD), pure_speed.walk_rows(), words=0),
}


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
