# SPDX-License-Identifier: Apache-2.0
"""Questions that users have, and every pure mechanism's error on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln

if TYPE_CHECKING:
    from lownoise.planning.ask import Question

EPSILON = 1.0
SIZE = 1000  # records, where their number is public
NAMES = (
    "k_norm",
    "staircase",
    "ellipsoid",
    "recursive",
    "laplace",
    "laplace_histogram",
    "geometric",
    "geometric_histogram",
    "randomized_response",
)
HEAD = ("question", *(f"`{name}`" for name in NAMES), "none below")


@dataclass(frozen=True)
class Asked:
    """A question and who its neighbours are.

    Args:
        name: what is asked.
        code: the expression that makes the question.
        options: further arguments of `ln.plan`; by default one record is substituted among SIZE.
    """

    name: str
    code: str
    options: dict[str, Any] | None = None

    @cached_property
    def plan(self) -> ln.Plan:
        question: Question = eval(self.code, {"ln": ln, "np": np, **HELP})  # noqa: S307 (lines below)
        options = self.options or {"relation": "add_remove"}
        return ln.plan(question, budget=ln.pure_dp(EPSILON), **options)

    @property
    def row(self) -> list[str]:
        """What the page says, the error of the sum for means."""
        bound = self.plan.lower_bound
        assert bound is not None
        unit = SIZE if self.plan.terms.size is not None and "Mean" in self.code else 1
        found = {own.mechanism: own.error for own in self.plan.comparison}
        least = found[self.plan.mechanism]
        assert least is not None
        cells = []
        for name in NAMES:
            error = found.get(name)
            said = "–" if error is None else f"{error * unit:.4g}"
            cells.append(
                f"**{said}**" if error is not None and error <= least * (1 + 1e-6) else said
            )
        return [self.name, *cells, f"{bound * unit:.4g}"]


def named(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


MARGINS = np.vstack([np.kron(np.eye(5), np.ones(4)), np.kron(np.ones(5), np.eye(4))])
SO_FAR = np.tril(np.ones((32, 32)))
HELP = {"named": named, "margins": MARGINS, "so_far": SO_FAR}
FIXED: dict[str, object] = {"relation": "substitute", "size": SIZE}

QUESTIONS = (
    Asked("a count", 'ln.Queries([[1, 0]], {"yes": 2})'),
    Asked("two counts of the same people", 'ln.Queries([[1, 1, 0, 0], [1, 0, 1, 0]], {"a": 4})'),
    Asked(
        "ages and incomes, in ranges",
        'ln.Mean(["age", "income"], ln.Box([0, 0], [120, 1e6]))',
        FIXED | {"weights": "range"},
    ),
    Asked("8 scores in [0, 1]", "ln.Mean(named(8), ln.Box([0] * 8, [1] * 8))", FIXED),
    Asked("which of 8 things", "ln.Mean(named(8), ln.Points(np.eye(8)))", FIXED),
    Asked("a gradient of length 1, d = 8", "ln.Mean(named(8), ln.Ball(8))", FIXED),
    Asked("8 shares of a whole, ±", "ln.Mean(named(8), ln.Ball(8, order=1))", FIXED),
    Asked("all cells of a 5 × 4 table", 'ln.Queries(np.eye(20), {"a": 5, "b": 4})'),
    Asked("its 9 margins", 'ln.Queries(margins, {"a": 5, "b": 4})'),
    Asked("counts up to each of 32 ages", 'ln.Queries(so_far, {"age": 32})'),
    Asked(
        "one yes in 100, by reports",
        'ln.Queries([[1, 0]], {"yes": 2}, outside={"yes": 0})',
        {"relation": "substitute", "size": 100},
    ),
)


def domain_rows() -> list[list[str]]:
    return [asked.row for asked in QUESTIONS]
