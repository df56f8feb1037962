# SPDX-License-Identifier: Apache-2.0
"""Write the tables of docs/budgets.md, and draw its figure: `python -m pages.budgets [part …]`.

Parts are noises (minutes), peers (where `--peer` names an interpreter with opendp and diffprivlib),
readings, map and figure; without one all but peers. The last two are of all rows that
`python -m benchmarks.budgets --rows FILE` makes in some ten minutes, and are read from that FILE.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.budgets import (
    EPSILONS,
    HEAD,
    PEERS,
    QUESTIONS,
    SIZES,
    Chosen,
    Row,
    peers_of,
    row_of,
    rows_of,
)
from benchmarks.solver import ROOT

import lownoise as ln
from lownoise.errors import BudgetError
from lownoise.privacy import (
    ApproxDPEvent,
    ApproxNoiseEvent,
    GaussianEvent,
    PureDPEvent,
    PureNoiseEvent,
    ZcdpEvent,
)
from lownoise.privacy.events import READINGS
from lownoise.privacy.readings import PLAIN
from pages.solver import IMAGES, figure_of, save, table, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.privacy import Event

PAGE = ROOT / "docs" / "budgets.md"
PICTURE = IMAGES / "budgets.svg"
SHOWN = (1, 4, 16, 32, 64, 128)
ALONE = ((0.1, 1e-6), (8.0, 1e-6))  # of 16 columns
MEANS = next(iter(QUESTIONS))
MAPPED = (0.0, 1e-6)
BUDGETS = ((0.1, 1e-6), (1.0, 1e-6), (8.0, 1e-9))
COLORS = {
    "gaussian": "#1f5fa8",
    "k_norm": "#c1561b",
    "laplace": "#76808a",
    "radial": "#2a8a57",
    "staircase": "#8a4fa3",
}
ASKED = ln.approx_dp(1.0, 1e-6)
EVENTS: dict[str, tuple[Event, bool]] = {
    "Gaussian noise of a plan under (1, 10⁻⁶)": (GaussianEvent(ASKED.gaussian_parameter()), True),
    "K-norm noise of a plan, four columns, ε = 1": (PureNoiseEvent(1.0, 0.36788, 1.03007), True),
    "Laplace noise of a plan, four columns, ε = 1": (PureNoiseEvent(1.0, 0.115204, 0.591219), True),
    "radial noise of a plan under (1, 10⁻⁶), four columns": (
        ApproxNoiseEvent(1.0, 1e-6, 0.209764, 0.729237),
        True,
    ),
    "radial noise, sixteen": (ApproxNoiseEvent(1.0, 1e-6, 0.129643, 0.601589), True),
    "noise known by (1, 10⁻⁶) alone": (ApproxDPEvent(1.0, 1e-6), True),
    "by hand: `ln.gaussian_dp(0.2)`": (GaussianEvent(0.2), False),
    "by hand: `ln.zcdp(0.02)`": (ZcdpEvent(0.02), False),
    "by hand: `ln.pure_dp(0.5)`": (PureDPEvent(0.5), False),
    "by hand: `ln.approx_dp(0.5, 1e-8)`": (ApproxDPEvent(0.5, 1e-8), False),
}


def rows() -> list[Row]:
    shown = [(asked, d, 1.0, delta) for asked in QUESTIONS for d in SHOWN for delta in (0.0, 1e-6)]
    shown += [(asked, 16, *own) for asked in QUESTIONS for own in ALONE]
    return [row_of(*own) for own in shown]


def noises() -> str:
    return table(list(HEAD), [row.cells() for row in rows()], words=1)


def least(row: Row) -> str:
    """Return the least noise of a row, and its error over the bound."""
    best, error = next(iter(row.errors.items()))
    return f"{best} {error / row.bound:.3g}"


def map_of(found: list[Row]) -> str:
    """Return what is least of every question, at every budget and in every dimension."""
    known = {(row.asked, row.d, row.epsilon, row.delta): least(row) for row in found}
    head = ["asked", "d", "δ", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    body = [
        [
            asked,
            str(d),
            f"{delta:g}".replace("e-0", "e-"),
            *(known[asked, d, epsilon, delta] for epsilon in EPSILONS),
        ]
        for asked in QUESTIONS
        for d in SIZES
        for delta in MAPPED
    ]
    return table(head, body, words=1)


def peers(python: str) -> str:
    asked = [row_of(MEANS, d, 1.0, 1e-6) for d in SHOWN]
    named = [name.replace("_", " ") for name in PEERS]
    found = []
    for row in peers_of(asked, python):
        best = next(iter(row.errors))
        least = row.errors[best]
        found.append(
            [
                str(row.d),
                best,
                *(f"{row.errors[name] / least:.3g}×" for name in ("gaussian", *named)),
            ]
        )
    head = [
        "columns",
        "least",
        "our Gaussian",
        "OpenDP, Laplace",
        "OpenDP, Gaussian",
        "diffprivlib",
    ]
    return table(head, found, words=0)


def price(event: Event, reading: str, *, asked: bool) -> str:
    """Return what a reading charges for a spend, or that it does not pay."""
    if reading == "caps":
        own = event.as_pair()
        if isinstance(event, GaussianEvent):
            return f"μ² = {float(event.as_mu_square()):.4g}"
        return "not paid" if own is None else f"ε = {own[0]:g}, δ = {own[1]:g}"
    if reading == "aside":
        own = [event.rho_aside(), event.mu_square_aside()]
        known = [each for each in own if each is not None]
        delta = f"δ = {float(known[0][0]):g}"
        return (
            " or ".join(
                f"{name} = {float(each[1]):.4g}"
                for name, each in zip(("ρ", "μ²"), own, strict=True)
                if each
            )
            + f", {delta}"
        )
    found = PLAIN[reading]
    try:
        sums = found.charge(event, found.pair(event, ASKED if asked else None))
    except BudgetError:
        return "not paid"
    names = {"square": "μ²", "rho": "ρ", "epsilon": "ε", "delta": "δ"}
    return ", ".join(f"{names[name]} = {float(number):.4g}" for name, number in sums.items())


def readings() -> str:
    body = [
        [name, *(price(event, reading, asked=asked) for reading in READINGS)]
        for name, (event, asked) in EVENTS.items()
    ]
    return table(["spend", *(f"`{reading}`" for reading in READINGS)], body, words=6)


def draw(found: list[Row]) -> None:
    figure, panels = figure_of(1, len(BUDGETS), 9.2, 3.6)
    for panel, (epsilon, delta) in zip(panels[0], BUDGETS, strict=True):
        lines: dict[str, list[tuple[int, float]]] = {name: [] for name in COLORS}
        for row in found:
            if (row.asked, row.epsilon, row.delta) != (MEANS, epsilon, delta):
                continue
            best = min(row.errors.values())
            for name in lines.keys() & row.errors.keys():
                lines[name].append((row.d, row.errors[name] / best))
        for name, line in lines.items():
            if line:
                label = name.replace("_", "-")
                panel.plot(*zip(*line, strict=True), "-o", ms=3, color=COLORS[name], label=label)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_xticks((1, 4, 16, 64, 200), ("1", "4", "16", "64", "200"))
        panel.set_yticks((1, 2, 3, 5, 10), ("1", "2", "3", "5", "10"))
        panel.minorticks_off()
        panel.set_ylim(0.9, 14)
        panel.set_title(f"ε = {epsilon:g}, δ = $10^{{{math.log10(delta):.0f}}}$", fontsize=9)
        panel.set_xlabel("columns in [0, 1]")
        panel.grid(axis="y", color="#e3e6ea", lw=0.6)
    panels[0, 0].set_ylabel("error over the least")
    panels[0, -1].legend(frameon=False, loc="upper right", fontsize=8)
    save(figure, PICTURE)


PARTS: dict[str, Callable[[], str]] = {"noises": noises, "readings": readings}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS, "map", "figure"])
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--rows", metavar="FILE", type=Path, help="rows that are kept")
    given = parser.parse_args()
    wanted = {name: PARTS[name] for name in given.parts or PARTS if name in PARTS}
    if given.peer:
        wanted["peers"] = lambda: peers(given.peer)
    found: list[Row] = []
    if not given.parts or {"map", "figure"} & set(given.parts):
        found = [*rows_of(Chosen(), given.rows)]
        wanted["map"] = lambda: map_of(found)
    for name, body in wanted.items():
        text = written(PAGE.read_text(encoding="utf-8"), name, body())
        PAGE.write_text(text, encoding="utf-8")
    if found:
        draw(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
