# SPDX-License-Identifier: Apache-2.0
"""Accuracy of private learning on real data: `python -m benchmarks.learning [adult|flights …]`.

The same steps with the noise of each strategy and without noise, for several ε at δ = 1e-6, one
pass over the records and several; each figure is a mean over orders of the records, which also
choose what is held out, with a 95% interval of Student's t. For every method alike the learning
rate is the best of a grid on the held-out records, which a person without public data cannot
choose by: figures compare methods, and promise nothing. Features have public ranges alone.

Adult: whether an income is above 50,000, a logistic model of 50 numbers. Flights: how many minutes
late each flight of 2013 arrived, by its carrier, month, hour, airport, distance and delay at
departure; Huber's loss, 59 numbers; what is printed is the mean absolute error in minutes.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
import sys
import zipfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.learning import LearningPlan
from lownoise.learning.clipping import clipped_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ADULT = Path(__file__).parents[1] / "tests" / "data" / "adult.csv"
CATEGORIES = {
    "workclass": 9,
    "marital-status": 7,
    "occupation": 15,
    "relationship": 6,
    "race": 5,
    "sex": 2,
}
NUMBERS = {
    "age": 85,
    "education-num": 16,
    "capital-gain": 100,
    "capital-loss": 100,
    "hours-per-week": 99,
}
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-6
STRATEGIES = ("input", "binary_tree", "square_root", "rational", "optimal")
ORDERS = 5
LEVEL = 0.975
MINUTES = 60.0


@dataclass(frozen=True)
class Task:
    """Something to learn.

    Args:
        name: what it is called.
        loss: of a record.
        clip: the longest gradient.
        radius: of the models' ball.
        batches: in one pass.
        passes: numbers of passes that are tried.
        rates: learning rates that are tried, over √passes.
        rows: features, each row of length at most 1.
        targets: of each row.
        held_out: how many rows are not learned from.
        score: of predictions and targets, by `best` of which rates are chosen.
        best: max or min.
    """

    name: str
    loss: ln.learning.AbstractLoss
    clip: float
    radius: float
    batches: int
    passes: tuple[int, ...]
    rates: tuple[float, ...]
    rows: np.ndarray
    targets: np.ndarray
    held_out: int
    score: Callable[[np.ndarray, np.ndarray], float]
    best: Callable[..., tuple[float, float]]

    def split(self, order: int) -> tuple[np.ndarray, ...]:
        """Return what is learned from and what is held out, in an order of the records."""
        rows = np.random.default_rng(order).permutation(len(self.rows))
        kept, out = rows[self.held_out :], rows[: self.held_out]
        kept = kept[: len(kept) // self.batches * self.batches]
        return self.rows[kept], self.targets[kept], self.rows[out], self.targets[out]

    def planned(self, strategy: str, epsilon: float, epochs: int) -> LearningPlan:
        """Return the plan, before a rate is chosen."""
        records = (len(self.rows) - self.held_out) // self.batches * self.batches
        return ln.learning.plan(
            self.loss,
            features=self.rows.shape[1],
            records=records,
            batch=records // self.batches,
            epochs=epochs,
            clip=self.clip,
            radius=self.radius,
            budget=ln.approx_dp(epsilon, DELTA),
            strategy=strategy,
            feature_radius=1.0,
        )


def correct(predicted: np.ndarray, targets: np.ndarray) -> float:
    """Return the percentage of targets that are on their prediction's side of a half."""
    return 100 * float(np.mean((predicted > 0.5) == (targets > 0.5)))


def minutes(predicted: np.ndarray, targets: np.ndarray) -> float:
    """Return the mean absolute error in minutes."""
    return MINUTES * float(np.mean(np.abs(predicted - targets)))


def one_hot(codes: np.ndarray, size: int) -> np.ndarray:
    """Return a 1 for the category of each row, and 0 for others."""
    return np.asarray(np.eye(size)[codes])


def short(parts: list[np.ndarray], most: int) -> np.ndarray:
    """Return features side by side with a constant one; at most `most` of them are at most 1."""
    rows = np.hstack([*parts, np.ones((len(parts[0]), 1))])
    return rows / math.sqrt(most + 1)


@cache
def adult() -> Task:
    """Return the task of the Adult table."""
    names = ADULT.read_text(encoding="utf-8").split("\n", 1)[0].strip().split(",")
    table = np.loadtxt(ADULT, delimiter=",", skiprows=1, dtype=np.int64)
    parts = [one_hot(table[:, names.index(name)], size) for name, size in CATEGORIES.items()]
    parts += [table[:, [names.index(name)]] / most for name, most in NUMBERS.items()]
    target = table[:, names.index("income>50K")].astype(float)
    most = len(CATEGORIES) + len(NUMBERS)
    return Task(
        name="adult",
        loss=ln.learning.Logistic(),
        clip=1.0,
        radius=30.0,
        batches=100,
        passes=(1, 4),
        rates=(1.0, 3.0, 10.0, 30.0),
        rows=short(parts, most),
        targets=target,
        held_out=8842,
        score=correct,
        best=max,
    )


@cache
def flights() -> Task:
    """Return the task of the flights that arrived."""
    from lownoise.cli.demo import _archive

    with zipfile.ZipFile(_archive()) as packed, packed.open("flights.csv") as file:
        rows = [
            own
            for own in csv.DictReader(io.TextIOWrapper(file, "utf-8"))
            if own["arr_delay"] not in ("", "NA")
        ]
    parts = []
    for name in ("carrier", "month", "hour", "origin"):  # the lists of these are public
        places = {value: i for i, value in enumerate(sorted({own[name] for own in rows}))}
        parts.append(one_hot(np.array([places[own[name]] for own in rows]), len(places)))
    delay = np.array([[float(own["dep_delay"])] for own in rows])
    parts.append(np.clip(delay / MINUTES, -1.0, 3.0) / 3)
    parts.append(np.array([[float(own["distance"])] for own in rows]) / 5000)
    late = np.array([float(own["arr_delay"]) for own in rows]) / MINUTES
    return Task(
        name="flights",
        loss=ln.learning.Huber(0.25),
        clip=0.25,
        radius=30.0,
        batches=100,
        passes=(1,),
        rates=(2.0, 5.0, 12.0, 20.0),
        rows=short(parts, 6),
        targets=np.clip(late, -2.0, 6.0),
        held_out=27_346,
        score=minutes,
        best=min,
    )


TASKS: dict[str, Callable[[], Task]] = {"adult": adult, "flights": flights}


def without_noise(plan: LearningPlan, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the last model of the same steps without noise, which is not private."""
    own, leader = plan.request, plan.leader
    model, total = own.first_model, np.zeros(own.dimension)
    for done in range(1, own.rounds + 1):
        first = (done - 1) % own.batches * own.batch
        part = slice(first, first + own.batch)
        total = total + clipped_sum(own.loss, model, X[part], y[part], own.clip, plan.unit)
        model = leader.next(total / own.batch, done)
    return model


def scored(task: Task, base: LearningPlan, *, private: bool) -> tuple[float, float]:
    """Return the mean score over orders at the best rate, and half its interval."""
    found = []
    for rate in task.rates:
        tried = rate / math.sqrt(base.request.epochs)
        plan = LearningPlan(replace(base.request, learning_rate=tried), base.stream)
        own = []
        for order in range(ORDERS):
            X, y, X_out, y_out = task.split(order)
            model = plan.fit(X, y).model if private else without_noise(plan, X, y)
            own.append(task.score(task.loss.predictions(model, X_out), y_out))
        found.append((statistics.mean(own), statistics.stdev(own)))
    mean, deviation = task.best(found, key=lambda own: own[0])
    return mean, float(student.ppf(LEVEL, ORDERS - 1)) * deviation / math.sqrt(ORDERS)


def rows_of(task: Task, epochs: int) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Yield each method with its scores, one an ε."""
    for strategy in STRATEGIES:
        plans = [task.planned(strategy, epsilon, epochs) for epsilon in EPSILONS]
        yield strategy, [scored(task, plan, private=True) for plan in plans]
    plan = task.planned("square_root", 1.0, epochs)
    yield "without noise", [scored(task, plan, private=False)] * len(EPSILONS)


def main(names: list[str]) -> int:
    """Print the scores of the named tasks, or of all."""
    for name in names or TASKS:
        task: Any = TASKS[name]()
        for epochs in task.passes:
            print(f"\n{name}, {epochs} pass(es), {len(task.rows):,} records")
            print(f"{'':15}" + "".join(f"{f'ε = {e:g}':>16}" for e in EPSILONS))
            for method, scores in rows_of(task, epochs):
                cells = "".join(f"{f'{mean:.2f} ± {half:.2f}':>16}" for mean, half in scores)
                print(f"{method:15}{cells}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Arguments(__doc__).words(*TASKS)))
