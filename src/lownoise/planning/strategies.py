# SPDX-License-Identifier: Apache-2.0
"""The factorizations that a stream can use, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arrays import frozen
from lownoise.questions import Decayed, Prefix
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.solvers.streams import (
    banded,
    column_norms,
    divide,
    enough_buffers,
    honaker,
    optimal_toeplitz,
    rational,
    square_root,
)
from lownoise.streams import DensePair, NormalizedPair, RecursivePair, ToeplitzPair, TreePair
from lownoise.theory.factorization import best_factors, best_pattern_factors

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import AbstractStreamWorkload
    from lownoise.solvers import Progress
    from lownoise.solvers.streams.toeplitz import Error
    from lownoise.streams import AbstractPair

_RTOL = 1e-9
MOST_DENSE = 4096
_BAND = 32
_PRODUCTS = 1 << 27  # of numbers in one gradient of a banded strategy
_MOST_BUFFERS = 24
MOST_OPTIMAL = 1024  # rounds that "auto" solves for the optimum: seconds
MOST_SOLVED = 1 << 18  # rounds for which "auto" spends seconds on long factors
MOST_KEPT = 1 << 24  # rounds whose noise "auto" keeps
# for a person in several rounds, rounds that "auto" solves for: seconds at most
_MOST_SPACED = 512
_MOST_PATTERNED = 64  # the optimum, where patterns are not spaced
_MOST_BANDED = 512
_MOST_PROJECTED = 1 << 16


@final
@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a strategy may be told.

    Args:
        error: "mean" or "max".
        memory: the buffers of "rational", the band of "banded"; None for what is near the best.
        progress: as `ln.plan`'s.
        participation: the rounds that one person may add to.
    """

    error: str
    memory: int | None = None
    progress: Callable[[Progress], None] | None = None
    participation: Participation = ONE


@final
@dataclass(frozen=True)
class Made:
    """A factorization, and evidence that none is better where the search for it found some.

    Args:
        pair: B and C.
        dual: weights on columns of W, or on patterns.
        patterns: with signs, where one person adds to several rounds; see `StreamEvidence`.
    """

    pair: AbstractPair
    dual: AbstractDual | None = None
    patterns: Integers | None = None


@final
@dataclass(frozen=True)
class Strategy:
    """One way to factor a workload.

    Args:
        make: returns the pair.
        refuses: returns why it cannot factor this workload, or None.
        description: what it is, in a few words.
        keeps: whether the noise of all rounds is drawn before the first one.
    """

    make: Callable[[AbstractStreamWorkload, Choice], Made]
    refuses: Callable[[AbstractStreamWorkload], str | None]
    description: str
    keeps: bool = True


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


def _small(workload: AbstractStreamWorkload) -> str | None:
    return None if isinstance(workload, Prefix) else _toeplitz(workload) or _dense(workload)


def _diagonal(workload: AbstractStreamWorkload) -> str | None:
    if not workload.toeplitz and not np.all(np.diag(workload.matrix())):
        return "needs a workload whose answers all use their own round"
    return _dense(workload)


def _prefix(workload: AbstractStreamWorkload) -> str | None:
    return None if isinstance(workload, Prefix) else "is for running sums, ln.Prefix"


def _geometric(workload: AbstractStreamWorkload) -> str | None:
    return None if isinstance(workload, (Prefix, Decayed)) else "is for ln.Prefix and ln.Decayed"


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
    root = frozen(square_root(workload.first_column()))
    return Made(ToeplitzPair(workload, root, root))


def _optimal(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    W, person = workload.matrix(), choice.participation
    if person == ONE:
        found = best_factors(W, choice.error, _RTOL, choice.progress)
        return Made(DensePair(workload, *found[:2]), found[2])
    # noise for changes of unlike signs, whatever the changes are: that is what a pair is charged
    B, C, own = best_pattern_factors(W, choice.error, person, signed=True, progress=choice.progress)
    pair: AbstractPair = DensePair(workload, B, C)
    if person.pattern != "spaced" and _toeplitz(workload) is None:
        # a search over patterns without number may end above what these are charged
        even = _toeplitz_best(workload, choice).pair
        pair = min(pair, even, key=lambda found: _charged(found, choice))
    return Made(pair, own.dual, own.patterns)


def _charged(pair: AbstractPair, choice: Choice) -> float:
    """Return the squared error of a pair, with noise for a person's rounds."""
    own = pair.mean_variance if choice.error == "mean" else pair.largest_variance
    return own * pair.sensitivity_up(choice.participation) ** 2


def _normalized(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    root = square_root(workload.first_column())
    if isinstance(workload, Prefix):
        own = frozen(root)
        return Made(NormalizedPair(workload, own, own, frozen(column_norms(root).copy())))
    lag = np.subtract.outer(np.arange(root.size), np.arange(root.size))
    strategy = np.where(lag >= 0, root[np.maximum(lag, 0)], 0.0)
    return _from_strategy(workload, strategy / column_norms(root))


def _banded(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    n, person = workload.rounds, choice.participation
    band = _band(n, person) if choice.memory is None else choice.memory
    if not 1 <= band <= n:
        raise PlanError(f"memory={quoted(band)} is no band of {n} rounds; give 1 to {n}")
    given = workload.first_column() if workload.toeplitz else workload.matrix()
    return _from_strategy(workload, banded(given, band, _error(choice), person))


def _band(rounds: int, person: Participation) -> int:
    """Return a band as wide as the separation, where the matrices of its search are small."""
    if person.separation == 1:
        return min(rounds, _BAND)
    return min(rounds, person.separation, max(_BAND, _PRODUCTS // rounds**2))


def _toeplitz_best(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    column = workload.first_column()
    strategy = frozen(optimal_toeplitz(column, _error(choice), choice.participation))
    return Made(ToeplitzPair(workload, frozen(divide(column, strategy)), strategy))


def _binary_tree(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    return Made(TreePair(_running(workload)))


def _honaker_streaming(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    return Made(TreePair(_running(workload), weighted=True))


def _honaker(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    return _from_strategy(workload, honaker(workload.rounds))


def _from_strategy(workload: AbstractStreamWorkload, strategy: Vector) -> Made:
    """Return the pair of a lower-triangular C with nothing but numbers above 0 on its diagonal."""
    from scipy.linalg import solve_triangular

    # B·C = W, row by row from the last column: Cᵀ·Bᵀ = Wᵀ
    noise = solve_triangular(strategy, workload.matrix().T, lower=True, trans="T").T
    return Made(DensePair(workload, frozen(np.tril(noise)), frozen(strategy)))


def _rational(workload: AbstractStreamWorkload, choice: Choice) -> Made:
    if not isinstance(workload, (Prefix, Decayed)):
        raise PlanError("rational factors are for ln.Prefix and ln.Decayed; use another")
    rate = workload.rate if isinstance(workload, Decayed) else 1.0
    error = _error(choice)
    if choice.memory is not None and not 1 <= choice.memory <= _MOST_BUFFERS:
        raise PlanError(
            f"memory={choice.memory} is no number of buffers; give 1 to {_MOST_BUFFERS}"
        )
    size, person = workload.rounds, choice.participation
    buffers = choice.memory or enough_buffers(rate, size, error, person)
    found = rational(rate, size, buffers, error, person)
    return Made(
        RecursivePair(
            workload,
            frozen(found.gaps),
            frozen(found.weights),
            frozen(found.answer_gaps),
            frozen(found.answer_weights),
        )
    )


def _error(choice: Choice) -> Error:
    return "mean" if choice.error == "mean" else "max"


def _running(workload: AbstractStreamWorkload) -> Prefix:
    if not isinstance(workload, Prefix):
        raise PlanError("the binary tree is for running sums; use ln.Prefix")
    return workload


STRATEGIES: dict[str, Strategy] = {
    "input": Strategy(_input, _any, "noise in every value"),
    "output": Strategy(_output, _any, "noise in every answer"),
    "binary_tree": Strategy(_binary_tree, _prefix, "noise in sums of 1, 2, 4, … rounds"),
    "honaker": Strategy(_honaker, _dense, "least squares on all sums of the binary tree"),
    "honaker_streaming": Strategy(
        _honaker_streaming, _prefix, "least squares on the sums that are complete"
    ),
    "square_root": Strategy(_square_root, _toeplitz, "both factors the square root of W"),
    "normalized_square_root": Strategy(
        _normalized, _small, "the square root with columns of one length"
    ),
    "banded": Strategy(_banded, _diagonal, "sums of few rounds: the best of their band"),
    "toeplitz": Strategy(_toeplitz_best, _toeplitz, "the best that depend on t - s alone"),
    "rational": Strategy(
        _rational, _geometric, "sums of exponentials: few numbers of memory", keeps=False
    ),
    "optimal": Strategy(_optimal, _dense, "the least noise of all factorizations"),
}


def choose(
    workload: AbstractStreamWorkload, error: str, participation: Participation = ONE
) -> tuple[str, str]:
    """Return the strategy that "auto" takes, and why, in one sentence.

    Args:
        workload: W.
        error: "mean" or "max".
        participation: the rounds that one person may add to.
    """
    several = participation.count > 1
    return _for_several(workload, participation) if several else _for_one(workload, error)


def _for_one(workload: AbstractStreamWorkload, error: str) -> tuple[str, str]:
    """Return the strategy for a person in one round."""
    n = workload.rounds
    if n <= MOST_OPTIMAL:
        return "optimal", f"{n:,} rounds are few enough to solve for the least {error} error"
    if not workload.toeplitz:
        return "input", (
            f'a matrix of {n:,} rounds takes long to solve for; strategy="optimal" does so'
        )
    if n <= (MOST_SOLVED if isinstance(workload, Prefix) else MOST_DENSE):
        return "normalized_square_root", (
            f"{n:,} rounds are many to solve for, and the square root with columns of one length "
            "is near the least error"
        )
    if error == "mean" and n <= MOST_SOLVED:
        return "toeplitz", (
            f"{n:,} rounds are many for matrices, and the best factors that depend on t - s alone "
            "take seconds and a number a round in memory"
        )
    if isinstance(workload, (Prefix, Decayed)) and n > MOST_KEPT:
        return "rational", f"noise for {n:,} rounds would fill the memory, and this needs little"
    return "square_root", (
        f"{n:,} rounds are many to solve for, and the square root is near the least error with "
        "a number a round in memory"
    )


def _for_several(workload: AbstractStreamWorkload, person: Participation) -> tuple[str, str]:
    """Return the strategy for a person in several rounds: measured from 16 rounds to 2¹⁸."""
    n, spaced = workload.rounds, person.pattern == "spaced"
    # patterns that fill the stream are well hidden by columns that end before a person is back
    filled = person.separation > 1 and 2 * person.count * person.separation >= n
    if spaced and n <= _MOST_SPACED:
        return "optimal", f"{n:,} rounds are few enough to solve for patterns that are spaced"
    if filled and n <= _MOST_BANDED and _diagonal(workload) is None:
        return "banded", (
            f"patterns fill {n:,} rounds, and columns that end before a person comes back are "
            "near the least error"
        )
    if n <= _MOST_PATTERNED:
        return "optimal", f"{n:,} rounds are few enough to solve for any pattern"
    name, why = "square_root", "and the square root needs no search"
    if not workload.toeplitz:
        name, why = "input", 'and strategy="optimal" takes long for them'
    elif isinstance(workload, (Prefix, Decayed)) and n > _MOST_PROJECTED:
        name, why = "rational", "and a few exponentials that fit the pattern remember little"
    elif n <= MOST_SOLVED:
        name, why = "toeplitz", "and the best factors that depend on t - s alone fit the pattern"
    return name, f"{n:,} rounds are many to solve for, {why}"
