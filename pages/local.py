# SPDX-License-Identifier: Apache-2.0
"""Draw docs/images/local.svg, and write the table of docs/local.md: `python -m pages.local [part]`.

Parts are `picture` and `randomizers`; both where none is named. The table is computed of plans,
without a simulation; tests/docs/test_local_page.py does the same again.

What n people's devices say of the mean of points of a ball, beside what no unbiased local
randomizer can beat and beside what a trusted curator adds. Dots are measured: reports of random
points of the ball, drawn from the system's randomness, so they differ a little from run to run.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.solver import ROOT

import lownoise as ln
from pages.solver import figure_of, save, table, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE = ROOT / "docs" / "local.md"
PICTURE = ROOT / "docs" / "images" / "local.svg"
DIMENSIONS = (2, 10, 100, 1000)
EPSILONS = tuple(float(e) for e in np.geomspace(0.5, 8, 17).round(3))
MEASURED = (0.5, 1.0, 2.0, 4.0, 8.0)
PEOPLE = 10**6
REPORTS = 1000
QUESTIONS = {
    "`ln.Ball(1)`": ln.Ball(1),
    "`ln.Ball(10)`": ln.Ball(10),
    "`ln.Ball(100)`": ln.Ball(100),
    "`ln.Box([-1] * 2, [1] * 2)`": ln.Box([-1.0] * 2, [1.0] * 2),
    "`ln.Box([-1] * 10, [1] * 10)`": ln.Box([-1.0] * 10, [1.0] * 10),
    "2 labels": ln.Marginals({"label": 2}, way=1, outside={"label": 0}),
    "10 labels": ln.Marginals({"label": 10}, way=1, outside={"label": 0}),
    "100 labels": ln.Marginals({"label": 100}, way=1, outside={"label": 0}),
}
LOCAL, CENTRAL, BOUND = "#c1561b", "#1f5fa8", "#76808a"


@cache
def planned(dimension: int, epsilon: float) -> ln.LocalPlan:
    return ln.local(ln.Ball(dimension), ln.local_dp(epsilon))


def central(dimension: int, epsilon: float) -> float:
    """Return what a curator whom all trust errs by, with pure noise of the same ε."""
    names = [f"x{j}" for j in range(dimension)]
    question = ln.Mean(names, ln.Ball(dimension))
    budget = ln.pure_dp(epsilon)
    return ln.plan(question, budget=budget, relation="substitute", size=PEOPLE).error


def measured(dimension: int, epsilon: float) -> float:
    """Return the root of the mean square of reports' errors, over √n."""
    plan, rng = planned(dimension, epsilon), np.random.default_rng(dimension)
    points = rng.standard_normal((REPORTS, dimension))
    points *= rng.uniform(size=(REPORTS, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    own, total = plan.randomizer, 0.0
    for report, point in zip(plan.randomize_all(points), points, strict=True):
        row = np.array([report.values])
        found = plan.encoder.decode(own.mean(own.sums(row), 1))
        total += float(np.sum((found - point) ** 2))
    return (total / REPORTS / PEOPLE) ** 0.5


def panel(axis: Axes, dimension: int, *, first: bool) -> None:
    """Draw one dimension."""
    root = PEOPLE**0.5
    plans = [planned(dimension, e) for e in EPSILONS]
    upper = [own.error / root for own in plans]
    lower = [own.lower_bound / root for own in plans]
    curator = [central(dimension, e) for e in EPSILONS]
    dots = [measured(dimension, e) for e in MEASURED]
    axis.fill_between(EPSILONS, lower, upper, color=LOCAL, alpha=0.10, lw=0)
    axis.loglog(EPSILONS, upper, color=LOCAL, lw=1.8, label="local: at most, proved")
    axis.loglog(MEASURED, dots, "o", color=LOCAL, ms=4.5, mec="white", mew=0.8, label="measured")
    axis.loglog(
        EPSILONS, lower, color=BOUND, lw=1.3, ls=(0, (4, 2)), label="no unbiased local one is below"
    )
    axis.loglog(EPSILONS, curator, color=CENTRAL, lw=1.8, label="a trusted curator, same ε")
    axis.set_title(f"d = {dimension:,}", fontsize=9.5, loc="left", pad=6)
    axis.set_xlim(0.46, 8.7)
    axis.set_ylim(3e-7, 0.4)
    axis.set_xticks(MEASURED, [f"{e:g}" for e in MEASURED])
    axis.minorticks_off()
    axis.grid(axis="y", color="#e6e9ec", lw=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(length=3, color="#b9c0c7")
    axis.spines[["left", "bottom"]].set_color("#b9c0c7")
    if not first:
        axis.tick_params(labelleft=False)


def answered(name: str, epsilon: float) -> ln.LocalPlan:
    """Return the plan of a question of the page."""
    return ln.local(QUESTIONS[name], ln.local_dp(epsilon))


def cell(plan: ln.LocalPlan) -> str:
    """Return the best randomizer, its error, and how far that is above the lower bound."""
    return f"{plan.mechanism} {plan.error:.3g}, {plan.error / plan.lower_bound:.2f}×"


def randomizers() -> None:
    """Write the table of the page."""
    head = ["question", *(f"ε = {epsilon:g}" for epsilon in MEASURED)]
    rows = [[name, *(cell(answered(name, e)) for e in MEASURED)] for name in QUESTIONS]
    made = table(head, rows, words=len(head))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(written(text, "randomizers", made), encoding="utf-8")


def picture() -> None:
    """Draw all dimensions."""
    figure, panels = figure_of(1, len(DIMENSIONS), 7.6, 3.2)
    for k, (axis, dimension) in enumerate(zip(panels[0], DIMENSIONS, strict=True)):
        panel(axis, dimension, first=k == 0)
    panels[0, 0].set_ylabel("error of a million people’s mean,\nin radii of the ball")
    for axis in panels[0]:
        axis.set_xlabel("ε of one report", labelpad=4)
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="lower center", ncols=4, frameon=False, fontsize=8.5)
    save(figure, PICTURE, bottom=0.075)


PARTS = {"picture": picture, "randomizers": randomizers}


def main(parts: list[str]) -> int:
    """Make the named parts, or all."""
    for name in parts or PARTS:
        PARTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
