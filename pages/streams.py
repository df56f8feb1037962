# SPDX-License-Identifier: Apache-2.0
"""Write the tables and plots of docs/streams.md: `python -m pages.streams [part …]`.

Parts are `errors`, `people`, `rounds` and `days`; all of them where none is named. What the tables
say is recomputed by tests/docs/test_streams_page.py. `people` needs `--peer PYTHON`, an interpreter
that has jax-privacy, and is left as it is without.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import zipfile
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.participations import lines
from benchmarks.solver import ROOT

import lownoise as ln
from lownoise.planning.strategies import STRATEGIES
from pages.solver import figure_of, save, table, written

if TYPE_CHECKING:
    from lownoise.streams import Stream

PAGE = ROOT / "docs" / "streams.md"
IMAGES = ROOT / "docs" / "images"
SIZES = (16, 256, 1024)
DRAWN = (
    "binary_tree",
    "honaker",
    "square_root",
    "normalized_square_root",
    "toeplitz",
    "rational",
    "optimal",
)
DAYS = 365
PEOPLE = (
    "256,4,64,spaced",
    "256,4,64,separated",
    "512,8,64,separated",
)
COLORS = ("#c1561b", "#e0a458", "#76808a", "#6a4c93", "#2a9d8f", "#b5838d", "#1f5fa8")


def squared_errors(strategy: str, rounds: int) -> tuple[float, float]:
    """Return the mean and the largest variance of a round where one change moves by 1, at μ = 1."""
    found = []
    for error in ("mean", "max"):
        stream = ln.stream(ln.Prefix(rounds), budget=ln.zcdp(0.5), strategy=strategy, error=error)
        found.append(stream.error**2)
    return found[0], found[1]


def error_row(strategy: str) -> list[str]:
    """Return what the page says of one strategy."""
    row = [f"`{strategy}`", STRATEGIES[strategy].description]
    for rounds in SIZES:
        if strategy == "banded" and rounds > 256:
            row += ["", ""]
            continue
        row += [f"{x:.4g}" for x in squared_errors(strategy, rounds)]
    return row


def error_table() -> str:
    """Return the table of squared errors."""
    head = ["strategy", "what has noise"]
    for rounds in SIZES:
        head += [f"n={rounds}: mean", "largest"]
    return table(head, [error_row(name) for name in STRATEGIES], words=2)


def people_table(peer: str) -> str:
    """Return the table of errors where a person is in several rounds."""
    head = ["rounds, and a person's", "strategy", "error", "none is below", "CPU s"]
    return table([*head, "jax-privacy", "its CPU s"], lines(list(PEOPLE), peer), words=2)


def cancelled_a_day() -> tuple[list[date], np.ndarray]:
    """Return the days of 2013 and how many of their flights never left."""
    from lownoise.cli.demo import _archive

    with zipfile.ZipFile(_archive()) as packed, packed.open("flights.csv") as file:
        rows = csv.DictReader(io.TextIOWrapper(file, "utf-8"))
        days, counts = set(), Counter()
        for r in rows:
            day = date(int(r["year"]), int(r["month"]), int(r["day"]))
            days.add(day)
            counts[day] += r["dep_time"] in ("", "NA")
    ordered = sorted(days)
    return ordered, np.array([counts[day] for day in ordered], dtype=float)


def daily_stream(budget: float = 0.005) -> Stream:
    """Return a running count of a year of days; one flight changes one day's count by 1."""
    return ln.stream(
        ln.Prefix(DAYS),
        budget=ln.zcdp(budget),
        domain=ln.Box([0.0], [2000.0]),
        relation=ln.Box([-1.0], [1.0]),
    )


def plot_rounds() -> None:
    """Draw each strategy's standard deviation round by round."""
    n = 256
    figure, panels = figure_of(1, 1, 7.4, 4.2)
    axis = panels[0, 0]
    t = np.arange(1, n + 1)
    for i, name in enumerate(DRAWN):
        own = ln.stream(ln.Prefix(n), budget=ln.zcdp(0.5), strategy=name).standard_deviations()
        wide = name in ("optimal", "binary_tree")
        axis.plot(t, own[:, 0], label=name, lw=1.8 if wide else 1.1, color=COLORS[i])
    axis.set_xlabel("round")
    axis.set_ylabel("standard deviation at rho = 1/2")
    axis.set_ylim(0, None)
    axis.set_xlim(1, n)
    figure.legend(loc="lower center", ncols=4, frameon=False)
    save(figure, IMAGES / "streams-rounds.svg", bottom=0.12)


def plot_days() -> None:
    """Draw a year's running count of cancelled flights with its band."""
    days, counts = cancelled_a_day()
    stream = daily_stream()
    answers = stream.update_many(counts)
    band = 1.96 * stream.standard_deviations()[:, 0]
    figure, panels = figure_of(2, 1, 7.4, 5.4)
    above, below = panels[:, 0]
    above.plot(days, answers, color="#1f5fa8", lw=1.4, label="private running count")
    above.fill_between(days, answers - band, answers + band, color="#1f5fa8", alpha=0.25, lw=0)
    above.plot(
        days,
        np.cumsum(counts),
        color="#b4541a",
        lw=0.9,
        ls="--",
        label="true count, shown here because the table is public",
    )
    above.set_ylabel("cancelled flights so far")
    above.legend(frameon=False, loc="upper left")
    below.axhline(0, color="#76808a", lw=0.8)
    below.plot(days, answers - np.cumsum(counts), color="#1f5fa8", lw=1.2)
    below.plot(days, band, color="#76808a", lw=0.8, ls=":")
    below.plot(days, -band, color="#76808a", lw=0.8, ls=":")
    below.set_ylabel("off by, and 95% band")
    save(figure, IMAGES / "streams-days.svg")


def main(arguments: list[str]) -> int:
    """Write the named parts, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["errors", "people", "rounds", "days"])
    parser.add_argument("--peer", help="an interpreter that has jax-privacy")
    given = parser.parse_args(arguments)
    if "errors" in given.parts:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(written(text, "errors", error_table()), encoding="utf-8")
    if "people" in given.parts and given.peer:
        body = people_table(given.peer)
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(written(text, "people", body), encoding="utf-8")
    if "rounds" in given.parts:
        plot_rounds()
    if "days" in given.parts:
        plot_days()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
