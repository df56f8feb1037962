# SPDX-License-Identifier: Apache-2.0
"""Draw docs/images/learning.svg, and write the tables of docs/learning.md.

`python -m pages.learning [part …]`; parts are `regret` (the picture), `bounds` and `accuracy`, the
first two where none is named. Dots are measured with the system's randomness, so they differ a
little from run to run. The accuracies are those of `python -m benchmarks.learning`, which takes
half an hour.
"""

from __future__ import annotations

import math
import statistics
import sys
from functools import cache

import numpy as np
from benchmarks import learning as real
from benchmarks.solver import ROOT

import lownoise as ln
from pages.solver import figure_of, save, table, written

PAGE = ROOT / "docs" / "learning.md"
PICTURE = ROOT / "docs" / "images" / "learning.svg"
FEATURES = 5
SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
RUNS = 8
OURS, TREE = "auto", "binary_tree"
COLORS = {OURS: "#1f5fa8", TREE: "#c1561b"}
LABELS = {OURS: "ours", TREE: "binary tree"}
SHOWN = ("input", "binary_tree", "square_root", "rational", "optimal")
EPOCHS = (1, 4)
ROUNDS = 256  # of the table of bounds
BUDGET = 0.5
LEAST = 1e-12


@cache
def planned(rounds: int, strategy: str, epochs: int = 1) -> ln.learning.LearningPlan:
    """Return least squares on so many rounds of one record each, in a ball of radius 1."""
    return ln.learning.plan(
        ln.learning.LeastSquares(),
        features=FEATURES,
        records=rounds // epochs,
        epochs=epochs,
        clip=2.0,
        radius=1.0,
        feature_radius=1.0,
        target_bound=1.0,
        budget=ln.zcdp(BUDGET),
        strategy=strategy,
    )


def against(model: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the record that an adversary gives who sees the model, on which it errs most."""
    length = float(np.linalg.norm(model))
    return (model / length if length else np.eye(FEATURES)[0]), -1.0


def hindsight(X: np.ndarray, y: np.ndarray, radius: float) -> np.ndarray:
    """Return the least-squares model in the ball: the multiplier of its radius by bisection."""
    values, vectors = np.linalg.eigh(X.T @ X)
    right = vectors.T @ (X.T @ y)
    low, high = 0.0, float(np.linalg.norm(right)) / radius
    if np.linalg.norm(right / np.maximum(values, LEAST)) <= radius:
        high = 0.0
    while high - low > LEAST * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if np.linalg.norm(right / (values + middle)) > radius:
            low = middle
        else:
            high = middle
    return vectors @ (right / np.maximum(values + high, LEAST))


def measured(rounds: int, strategy: str) -> list[float]:
    """Return the mean regret of each run against the adversary."""
    plan, found = planned(rounds, strategy), []
    for _ in range(RUNS):
        run, seen = plan.start(), []
        models = np.empty((rounds, FEATURES))
        for t in range(rounds):
            models[t] = run.model
            seen.append(against(run.model))
            run.update([seen[-1][0]], [seen[-1][1]])
        X, y = np.array([own for own, _ in seen]), np.array([own for _, own in seen])
        best = hindsight(X, y, 1.0)
        losses = (np.einsum("ij,ij->i", models, X) - y) ** 2 / 2
        found.append(float(np.mean(losses) - np.mean((X @ best - y) ** 2) / 2))
    return found


def plot_regret() -> None:
    """Draw bounds and measured regrets, ours and the binary tree's, over the number of rounds."""
    figure, panels = figure_of(1, 1, 7.4, 4.2)
    axis = panels[0, 0]
    for strategy in (TREE, OURS):
        bounds = [planned(n, strategy).regret_bound.value for n in SIZES]
        runs = [measured(n, strategy) for n in SIZES]
        means = [statistics.mean(own) for own in runs]
        bars = [2 * statistics.stdev(own) / math.sqrt(RUNS) for own in runs]
        color, name = COLORS[strategy], LABELS[strategy]
        axis.plot(SIZES, bounds, color=color, lw=1.6, label=f"{name}: at most")
        axis.errorbar(
            SIZES, means, yerr=bars, color=color, fmt="o", ms=4, lw=1, label=f"{name}: measured"
        )
    axis.plot(
        SIZES,
        [2.0 / math.sqrt(n) for n in SIZES],
        color="#76808a",
        lw=1,
        ls="--",
        label="without noise: at most",
    )
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.yaxis.set_minor_formatter(lambda *_: "")
    axis.set_xlabel("rounds")
    axis.set_ylabel("mean regret a record")
    axis.grid(alpha=0.25, which="major")
    figure.legend(loc="lower center", ncols=3, frameon=False)
    save(figure, PICTURE, bottom=0.14)


def bound_row(strategy: str) -> list[str]:
    """Return what the page says of one strategy: noise, bound and memory, one pass and several."""
    row = [f"`{strategy}`"]
    for epochs in EPOCHS:
        plan = planned(ROUNDS, strategy, epochs)
        row += [f"{plan.noise:.3g}", f"{plan.regret_bound.value:.3g}"]
    return [*row, f"{planned(ROUNDS, strategy).memory:,}"]


def bound_table() -> str:
    """Return the table of regret bounds."""
    head = ["strategy"]
    for epochs in EPOCHS:
        head += [f"{epochs} pass{'es' if epochs > 1 else ''}: noise", "regret at most"]
    return table([*head, "bytes kept"], [bound_row(name) for name in SHOWN])


def accuracy_table() -> str:
    """Return the table of scores on real data."""
    rows = []
    for name, made in real.TASKS.items():
        task = made()
        for epochs in task.passes:
            for method, scores in real.rows_of(task, epochs):
                cells = [f"{mean:.2f} ± {half:.2f}" for mean, half in scores]
                rows.append(
                    [
                        f"{name}, {epochs}",
                        f"`{method}`" if "_" in method or method in SHOWN else method,
                        *cells,
                    ]
                )
    head = ["records, passes", "noise", *(f"ε = {e:g}" for e in real.EPSILONS)]
    return table(head, rows, words=2)


def main(parts: list[str]) -> int:
    """Write the named parts."""
    chosen = parts or ["regret", "bounds"]
    if "regret" in chosen:
        plot_regret()
    for name, made in (("bounds", bound_table), ("accuracy", accuracy_table)):
        if name in chosen:
            text = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(written(text, name, made()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
