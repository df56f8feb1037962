# SPDX-License-Identifier: Apache-2.0
"""Totals alone beside totals that follow from means: errors at μ = 1, values from 0 to 1.

    python -m benchmarks.totals [--least]

Errors are ‖standard deviations‖₂ under `add_remove`. A total is a sum about the center plus the
center times the count; "Laplace" has the same ρ in even parts. "gap" is what the certificate
leaves, "plan" seconds. Boxes of many columns come last, whose noise is searched for. A second table
is of totals by groups where records become others. With `--least` totals, means and moments by few
groups stand beside the least noise of any shape, by the general solver on all pairs of listed
records.
"""

from __future__ import annotations

import itertools
import math
import time
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.sets.bodies import SymmetricPoints
from lownoise.solvers import solve

if TYPE_CHECKING:
    from lownoise.certificate import Certificate
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.mean import AbstractGrouped as Grouped

BUDGET = ln.gaussian_dp(1.0)


def main() -> None:
    """Print the table."""
    print(f"{'columns':>8}{'Sum':>10}{'from Mean':>12}{'Laplace':>10}{'gap':>10}{'plan':>8}")
    for d in (1, 3, 8, 20, 40):
        columns, box = [f"x{i}" for i in range(d)], ln.Box(np.zeros(d), np.ones(d))
        begin = time.perf_counter()
        own = ln.plan(ln.Sum(columns, box), budget=BUDGET, relation="add_remove")
        seconds = time.perf_counter() - begin
        mean = ln.plan(ln.Mean(columns, box), budget=BUDGET, relation="add_remove")
        sums, count = mean.standard_deviation[:-1], mean.standard_deviation[-1]
        follow = np.hypot(sums, 0.5 * count)
        errors = [np.linalg.norm(e) for e in (own.standard_deviation, follow, own.terms.laplace)]
        numbers = f"{errors[0]:>10.2f}{errors[1]:>12.2f}{errors[2]:>10.2f}"
        print(f"{d:>8}{numbers}{own.certificate.gap:>10.1e}{seconds:>8.2f}")
    by_groups()


DOMAINS = {
    "1 column in [0, 1]": ln.Box([0], [1]),
    "4 columns in [0, 1]": ln.Box([0] * 4, [1] * 4),
    "12 columns in [0, 1]": ln.Box([0] * 12, [1] * 12),
    "[2, 4] and [1, 9]": ln.Box([2, 1], [4, 9]),
    "6 one-hot columns": ln.Points(np.eye(6)),
    "a disc beside zero": ln.Ball(2, radius=1.0, center=[1.0, 0.0]),
}
SHAPES: dict[str, dict[str, Any]] = {
    "16": {"by": {"g": 16}},
    "16 and all rows": {"by": {"g": 16}, "way": 1},
    "2 × 5, way=2": {"by": {"g": 2, "h": 5}, "way": 2},
    "12 × 3, way=1": {"by": {"g": 12, "h": 3}, "way": 1},
}


def by_groups() -> None:
    """Print errors of totals that follow from means over those of totals, and the gaps of these."""
    print(
        f"\n{'by groups, substitute':<24}{'':<18}" + "".join(f"{f'p={p:g}':>16}" for p in (2, inf))
    )
    for name, domain in DOMAINS.items():
        for shape, asks in SHAPES.items():
            told = {**asks, "outside": dict.fromkeys(asks["by"], 0)}
            cells = []
            for p in (2.0, inf):
                given: Any = {"relation": "substitute", "size": 1000, "order": p}
                columns = [f"x{i}" for i in range(domain.dimension)]
                own = ln.plan(ln.Sum(columns, domain, **told), budget=BUDGET, **given)
                mean = ln.plan(ln.Mean(columns, domain, **told), budget=BUDGET, **given).terms
                kept = np.hstack([np.eye(len(columns)), mean.question.mean.center[:, None]])
                groups = mean.view.covariance.shape[0] // (len(columns) + 1)
                follow = np.kron(np.eye(groups), kept)
                strays = np.sqrt(np.diag(follow @ mean.view.covariance @ follow.T))
                over = np.linalg.norm(strays, p) / np.linalg.norm(own.standard_deviation, p)
                cells.append(f"{over:>8.3f}{own.certificate.gap:>8.2%}")
            print(f"{name:<24}{shape:<18}" + "".join(cells), flush=True)


FEW: dict[str, dict[str, Any]] = {
    "3": {"by": {"g": 3}},
    "3 and all rows": {"by": {"g": 3}, "way": 1},
    "2 × 3, way=2": {"by": {"g": 2, "h": 3}, "way": 2},
}
GRID = np.linspace(-1, 1, 9)
TURNS = np.arange(8) * math.pi / 4
RING = np.column_stack([np.cos(TURNS), np.sin(TURNS)])
MOMENTS = {
    "moments of 1 column": (ln.Box([-1], [1]), GRID[:, None]),
    "moments of 2 columns": (
        ln.Box([-1, -1], [1, 1]),
        np.array([*itertools.product((-1, 0, 1), repeat=2)]),
    ),
    "moments of a disc": (ln.Ball(2), np.vstack([0 * RING[:1], 0.4 * RING, RING])),
}
TOTALS = {
    "1 column in [0, 1]": (ln.Box([0], [1]), np.array([[0.0], [1.0]])),
    "[2, 4] and [1, 9]": (ln.Box([2, 1], [4, 9]), np.array([*itertools.product((2, 4), (1, 9))])),
    "3 one-hot columns": (ln.Points(np.eye(3)), np.eye(3)),
}


UNIT = np.array([*itertools.product((0, 1), repeat=2)])
MEANS = {
    "means of 3 one-hot": (ln.Points(np.eye(3)), np.eye(3)),
    "means of 2, off": (ln.Box([0, 0], [1, 1]), UNIT),
}
OFF = {"means of 2, off": [0.3, 0.3]}  # about another point than the middle


def least() -> None:
    """Print how far noise is above the least of any shape, that above the bound, and the gap."""
    print(f"{'values':<24}{'groups':<18}{'p':>5}{'over least':>12}{'least/bound':>13}{'gap':>9}")
    for name, (domain, records) in (TOTALS | MEANS | MOMENTS).items():
        columns = [f"x{i}" for i in range(domain.dimension)]
        for shape, asks in FEW.items():
            told = {**asks, "outside": dict.fromkeys(asks["by"], 0)}
            asked = ln.Sum if name in TOTALS else ln.Moments if name in MOMENTS else ln.Mean
            if name in OFF:
                told["center"] = OFF[name]
            question: Any = asked(columns, domain, **told)
            values = records.astype(np.float64)
            if name in MEANS:
                about = values - question.mean.center
                values = np.hstack([about, np.ones((len(about), 1))])
            if name in MOMENTS:
                pairs = np.triu_indices(domain.dimension)
                products = (values[:, :, None] * values[:, None, :])[:, pairs[0], pairs[1]]
                about = np.hstack([values, products]) - question.mean.center
                values = np.hstack([about, np.ones((len(about), 1))])
            for p in (2.0, inf):
                plan = ln.plan(question, budget=BUDGET, relation="substitute", size=1, order=p)
                weights = np.asarray(plan.terms.weights)
                ends, own = of_any_shape(question, weights, values, p), plan.certificate
                over, under = own.upper / ends.lower - 1, ends.upper / own.lower - 1
                print(f"{name:<24}{shape:<18}{p:>5g}{over:>12.2%}{under:>13.2%}", end="")
                print(f"{own.gap:>9.2%}", flush=True)


def of_any_shape(question: Grouped, weights: Vector, values: Vector, order: float) -> Certificate:
    """Return both ends on the least noise for all that these records change; shape (n, k)."""
    sizes = [a.size for a in question.groups.attributes]
    every = [np.kron(group, y) for group in np.eye(math.prod(sizes)) for y in values]
    changes = np.array([a - b for a, b in itertools.combinations(every, 2)])
    _, size, axes = np.linalg.svd(changes, full_matrices=False)
    span = axes[size > 1e-9 * size[0]].T
    margins = []
    for chosen in question.groups.sets():
        own: Any = np.ones((1, 1))
        for i, n in enumerate(sizes):
            own = np.kron(own, np.eye(n) if i in chosen else np.ones((1, n)))
        margins.append(own)
    found = solve(
        SymmetricPoints(changes @ span),
        order=order,
        weights=np.kron(question.weights, weights).astype(np.float64),
        queries=np.kron(np.vstack(margins), np.eye(values.shape[1])) @ span,
        rtol=1e-4,
    )
    return found.claim.certificate()


if __name__ == "__main__":
    Arguments(__doc__).chosen(main, least=least)()
