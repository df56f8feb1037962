# SPDX-License-Identifier: Apache-2.0
"""Write the tables and plots of docs/solver.md: `python -m pages.solver [part …]`.

Parts are `targets`, `cases`, `gains` and `growth`; all of them where none is named. `peers` is
written only where it is named: it takes most of an hour, and skips what is not installed. Whatever
a table says of bounds and gains is recomputed by tests/docs/test_solver_page.py.
"""

from __future__ import annotations

import math
import os
import re
import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.solver import (
    LONGEST,
    NAMES,
    ONE_THREAD,
    PEERS,
    ROOT,
    ROWS,
    beside,
    growth_problems,
    ratio_of,
    said,
    solved,
    target_of,
    value_of,
    verdict,
)

import lownoise as ln
from pages import natural_domains

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

PAGE = ROOT / "docs" / "solver.md"
IMAGES = ROOT / "docs" / "images"
CASE_ORDERS = (2.0, 3.0, 8.0, math.inf)
RUNS = 3
DIGITS = 8


@dataclass(frozen=True)
class Case:
    """A problem of the table of cases, solved at each order."""

    name: str
    solve: Callable[[float], ln.theory.Enclosure | ln.theory.Factorization]


def _points(points: np.ndarray, **options: np.ndarray) -> Callable[[float], ln.theory.Enclosure]:
    return lambda order: ln.theory.enclose(ln.Points(points), order=order, **options)


def _changes(points: np.ndarray) -> Callable[[float], ln.theory.Enclosure]:
    return lambda order: ln.theory.enclose(ln.difference_body(ln.Points(points)), order=order)


def _factors(
    matrix: np.ndarray, **options: np.ndarray
) -> Callable[[float], ln.theory.Factorization]:
    return lambda order: ln.theory.factorize(matrix, order=order, **options)


def cases() -> tuple[Case, ...]:
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((500, 20))
    unlike = rng.standard_normal((60, 9)) * np.logspace(-12, 12, 9)
    ranges = np.array([[a <= t <= b for t in range(32)] for a in range(32) for b in range(a, 32)])
    week = natural_domains.visits()
    return (
        Case("500 normal points, d=20", _points(normal)),
        Case("their differences", _changes(normal)),
        Case("one-hot of 8", _points(np.eye(8))),
        Case("visits, 24 hours", _points(week)),
        Case("differences of visits", _changes(week)),
        Case("5 points in 40 coordinates", _points(rng.standard_normal((5, 40)))),
        Case("columns from 1e-12 to 1e12", _points(unlike)),
        Case("prefix sums, n=128", _factors(np.tril(np.ones((128, 128))))),
        Case("528 ranges of 32 counts", _factors(np.eye(32), workload=ranges * 1.0)),
        Case("wide matrix, 10 × 200", _factors(rng.standard_normal((10, 200)))),
    )


def order_name(order: float) -> str:
    return "∞" if math.isinf(order) else f"{order:g}"


def case_row(
    case: Case, order: float, found: ln.theory.Enclosure | ln.theory.Factorization
) -> list[str]:
    """Return what the page says of one answer, without its time."""
    certificate = found.certificate
    return [
        case.name,
        order_name(order),
        outward(certificate.lower, -1),
        outward(certificate.upper, 1),
        power(certificate.gap),
        str(found.iterations),
    ]


def outward(value: float, side: int) -> str:
    """Return a bound to eight digits, rounded away from the other one."""
    unit = 10.0 ** (math.floor(math.log10(value)) + 1 - DIGITS)
    count = math.ceil(value / unit) if side > 0 else math.floor(value / unit)
    if value >= 10**DIGITS:
        return f"{count * unit:.{DIGITS - 1}e}"
    return f"{count * unit:.{max(DIGITS - 1 - math.floor(math.log10(value)), 0)}f}"


def gain_row(domain: natural_domains.NaturalDomain) -> list[str]:
    """Return what the page says of one domain."""
    n, d = domain.points.shape
    return [
        domain.name,
        str(n),
        str(d),
        *(f"{domain.gain(order):.4f}" for order in natural_domains.ORDERS),
        f"{domain.most:.4f}",
    ]


def table(head: list[str], rows: Iterable[list[str]], words: int = 1) -> str:
    """Return a table whose columns after the first `words` are numbers."""
    lines = [head, ["---"] * words + ["---:"] * (len(head) - words), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def targets() -> str:
    reached, cited = [], []
    for row in ROWS:
        found = solved(row.problem)
        memory = f", {found['gigabytes']:.2g} GB" if row.gigabytes else ""
        verdict_ = "PASS" if verdict(row, found) else "FAIL"
        took = seconds(found["seconds"]) + memory
        gap = power(found["gap"])
        reached.append([row.title, target_of(row), verdict_, took, gap, value_of(row, found)])
        cited.append([row.title, row.today, ratio_of(row, found)])
    head = ["problem", "target", "", "here", "gap", "upper bound"]
    return (
        table(head, reached, words=3)
        + "\n\n"
        + table(["problem", "other tools, as cited", "ratio"], cited, words=2)
    )


def power(value: float) -> str:
    """Return a gap to one digit: 4e-7."""
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-")


def seconds(value: float) -> str:
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def case_table() -> str:
    rows = []
    for case in cases():
        for order in CASE_ORDERS:
            times = []
            for _ in range(RUNS):
                start = time.process_time()
                found = case.solve(order)
                times.append(time.process_time() - start)
            rows.append([*case_row(case, order, found), f"{statistics.median(times):.3f}"])
    return table(["case", "p", "lower", "upper", "gap", "steps", "s"], rows)


def gain_table() -> str:
    head = ["domain", "N", "d", *(f"p={order_name(p)}" for p in natural_domains.ORDERS), "at most"]
    rows = [gain_row(domain) for domain in natural_domains.DOMAINS]
    plot_gains(rows)
    return table(head, rows)


def peer_table(reached: dict[str, list[tuple[str, dict | None]]] | None = None) -> str:
    """Return the table; `reached` has what `beside` returns by the name of the row."""
    rows = []
    for name in PEERS:
        row = NAMES[name]
        found = solved(row.problem)
        optimum = row.problem.error(found["upper"])
        rows.append([row.title, "lownoise", seconds(found["seconds"]), f"≤ {power(found['gap'])}"])
        for title, result in beside(row) if reached is None else reached.get(name, []):
            took, off = said(result, optimum)
            rows.append(["", title, took, off])
    note = f"\n\nA peer is ended after {LONGEST} CPU seconds."
    return table(["problem", "by", "CPU seconds", "above the optimum"], rows, words=2) + note


def plot_growth() -> None:
    families = growth_problems()
    times = {
        title: [(x, solved(problem)["seconds"]) for x, problem in problems]
        for title, problems in families.items()
    }
    figure, panels = figure_of(2, 2, 7.4, 5.6)
    _grow(panels[0, 0], {"d = 20": times["N (d=20, p=2)"]}, "points N")
    _grow(panels[0, 1], {"N = 20d": times["d (N=20d, p=2)"]}, "coordinates d")
    sums = {"p = 2": times["n (prefix sums, p=2)"], "p = ∞": times["n (prefix sums, p=∞)"]}
    _grow(panels[1, 0], sums, "prefix sums of n counts")
    orders = {
        "points, d = 50, N = 1000": times["p (d=50, N=1000)"],
        "prefix sums, n = 256": times["p (prefix sums, n=256)"],
    }
    panel = panels[1, 1]
    for (name, line), mark in zip(orders.items(), "os", strict=True):
        where = [1 - 2 / p for p, _ in line]
        panel.plot(where, [t for _, t in line], f"-{mark}", ms=4, lw=1.2, label=name)
    ticks = (2, 2.5, 3, 4, 6, 10, math.inf)
    panel.set_xticks([1 - 2 / p for p in ticks], [order_name(p) for p in ticks])
    panel.set_xlabel("order p")
    panel.set_ylim(0, None)
    panel.legend(frameon=False)
    for panel in panels[:, 0]:
        panel.set_ylabel("CPU seconds")
    save(figure, IMAGES / "solver-growth.svg")


def plot_gains(rows: list[list[str]]) -> None:
    figure, panels = figure_of(1, 1, 7.4, 4.6)
    panel = panels[0, 0]
    place = np.arange(len(rows))[::-1]
    panel.barh(place, [float(row[-1]) - 1 for row in rows], left=1, color="#d9dde3", height=0.62)
    for column, mark, name, fill in ((-2, "D", "p = ∞", "none"), (3, "o", "p = 2", None)):
        at = [float(row[column]) for row in rows]
        panel.plot(at, place, mark, ms=7 if fill else 4, mfc=fill, label=name)
    panel.set_yticks(place, [row[0] for row in rows])
    panel.set_xlim(0.99, 1.42)
    panel.set_xlabel("2Γ(K)/Γ(K − K); bar: Jung's limit")
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.legend(frameon=False, loc="lower right")
    save(figure, IMAGES / "solver-gains.svg")


def figure_of(rows: int, columns: int, width: float, height: float) -> tuple:
    """Return a figure and its panels, in the style of the documents."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    style = {
        "svg.hashsalt": "lownoise",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": mpl.cycler(color=["#1f5fa8", "#c1561b"]),
    }
    plt.rcParams.update(style)
    figure, panels = plt.subplots(rows, columns, figsize=(width, height), squeeze=False)
    return figure, panels


def _grow(panel: object, lines: dict[str, list[tuple[float, float]]], label: str) -> None:
    for (name, line), mark in zip(lines.items(), "os", strict=False):
        panel.loglog(*zip(*line, strict=True), f"-{mark}", ms=4, lw=1.2, label=name)
    times = [t for line in lines.values() for _, t in line]
    decades = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    panel.set_ylim(10.0 ** decades[0], 10.0 ** decades[1])
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axis.set_minor_formatter(lambda *_: "")
    panel.set_xlabel(label)
    panel.grid(alpha=0.25, which="major")
    panel.legend(frameon=False)


def save(figure: object, path: Path, bottom: float = 0.0) -> None:
    """Write a figure, with room for a key at its foot."""
    figure.tight_layout(rect=(0, bottom, 1, 1))
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


def part(text: str, name: str) -> str:
    """Return what stands between the marks of a part."""
    return re.search(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", text, re.DOTALL)[1].strip()


def written(text: str, name: str, body: str) -> str:
    """Return the page with another body between the marks of a part."""
    old = part(text, name)
    return text.replace(f"<!-- {name} -->\n\n{old}\n", f"<!-- {name} -->\n\n{body}\n", 1)


PARTS = {"targets": targets, "cases": case_table, "gains": gain_table}


def main(arguments: list[str]) -> int:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        command = [sys.executable, "-m", "pages.solver", *arguments]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})  # noqa: S606
    wanted = arguments or [*PARTS, "growth"]
    unknown = set(wanted) - {*PARTS, "growth", "peers"}
    if unknown:
        print(f"no part {', '.join(unknown)}; parts: {', '.join([*PARTS, 'growth', 'peers'])}")
        return 2
    ln.theory.enclose(ln.Points(np.eye(3)))  # so that imports are not counted
    for name in wanted:
        if name == "growth":
            plot_growth()
            continue
        body = (PARTS | {"peers": peer_table})[name]()
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, body), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
