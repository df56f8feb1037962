# SPDX-License-Identifier: Apache-2.0
"""The factorizations that a stream can use, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.errors import PlanError
from lownoise.factorization import best_factors
from lownoise.solvers.streams import series
from lownoise.streams import DensePair, ToeplitzPair, TreePair
from lownoise.workloads import Prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.arrays import Vector
    from lownoise.certificate import AbstractDual
    from lownoise.solvers import Progress
    from lownoise.streams import AbstractPair
    from lownoise.workloads import AbstractStreamWorkload

MOST_DENSE = 4096
MOST_OPTIMAL = 1024  # rounds that "auto" solves for the optimum: seconds
_RTOL = 1e-9
MOST_KEPT = 1 << 24  # rounds whose noise "auto" keeps


@final
@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a strategy may be told.

    Args:
        error: "mean" or "max".
        memory: the buffers of "rational", the band of "banded"; None for what is near the best.
        progress: as `ln.plan`'s.
    """

    error: str
    memory: int | None = None
    progress: Callable[[Progress], None] | None = None


@final
@dataclass(frozen=True)
class Made:
    """A factorization, and evidence that none is better where the search for it found some."""

    pair: AbstractPair
    dual: AbstractDual | None = None


@final
@dataclass(frozen=True)
class Strategy:
    """One way to factor a workload.

    Args:
        make: returns the pair.
        refuses: returns why it cannot factor this workload, or None.
        said: what it is, in a few words.
    """

    make: Callable[[AbstractStreamWorkload, Choice], Made]
    refuses: Callable[[AbstractStreamWorkload], str | None]
    said: str


def _any(workload: AbstractStreamWorkload) -> str | None:
    return None


def _dense(workload: AbstractStreamWorkload) -> str | None:
    if workload.rounds > MOST_DENSE:
        return f"needs matrices of {workload.rounds:,} rounds; it goes to {MOST_DENSE:,}"
    return None


def _toeplitz(workload: AbstractStreamWorkload) -> str | None:
    if not workload.toeplitz:
        return "needs a workload that depends on t - s alone"
    return None


def _prefix(workload: AbstractStreamWorkload) -> str | None:
    return None if isinstance(workload, Prefix) else "is for running sums, ln.Prefix"


def _identity(n: int) -> Vector:
    return frozen((np.arange(n) == 0).astype(np.float64))


def _input(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    if workload.toeplitz:
        column = frozen(workload.first_column())
        return Made(ToeplitzPair(workload, column, _identity(workload.rounds)))
    return Made(DensePair(workload, workload.matrix(), frozen(np.eye(workload.rounds))))


def _output(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    if workload.toeplitz:
        column = frozen(workload.first_column())
        return Made(ToeplitzPair(workload, _identity(workload.rounds), column))
    return Made(DensePair(workload, frozen(np.eye(workload.rounds)), workload.matrix()))


def _square_root(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    root = frozen(series.square_root(workload.first_column()))
    return Made(ToeplitzPair(workload, root, root))


def _optimal(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    W = workload.matrix()
    found = best_factors(W, choice.error, _RTOL, choice.progress)
    return Made(DensePair(workload, *found[:2]), found[2])


def _binary_tree(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    if not isinstance(workload, Prefix):
        raise PlanError("binary_tree is for running sums; use ln.Prefix")
    return Made(TreePair(workload))


STRATEGIES: dict[str, Strategy] = {
    "input": Strategy(_input, _any, "noise in every value"),
    "output": Strategy(_output, _any, "noise in every answer"),
    "binary_tree": Strategy(_binary_tree, _prefix, "noise in sums of 1, 2, 4, … rounds"),
    "square_root": Strategy(_square_root, _toeplitz, "both factors the square root of W"),
    "optimal": Strategy(_optimal, _dense, "the least noise of all factorizations"),
}


def choose(workload: AbstractStreamWorkload, error: str) -> tuple[str, str]:
    """Return the strategy that "auto" takes, and why, in one sentence.

    Args:
        workload: W.
        error: "mean" or "max".
    """
    n = workload.rounds
    if n <= MOST_OPTIMAL or not workload.toeplitz:
        return "optimal", f"{n:,} rounds are few enough to solve for the least {error} error"
    return "square_root", (
        f"{n:,} rounds are many to solve for, and the square root is near the least error with "
        "a number a round in memory"
    )
