# SPDX-License-Identifier: Apache-2.0
"""Small finite problems: all databases of a few records, and a list of possible answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import QuestionError, quoted
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.arrays import frozen, number
from lownoise.numbers.arrays import matrix as matrix_of
from lownoise.numbers.readable import readable
from lownoise.sensitivity.relations import word_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector

_MOST = 1000  # databases: their distances are 8 MB
_MOST_NUMBERS = 1 << 24  # in the differences of exact and possible answers
_LARGEST = 2.0**100
_POWER = 10.0


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class FiniteProblem:
    """Databases, how far apart they are, and how wrong each answer is on each.

    Made by `finite_problem`.

    Args:
        histograms: the databases, how many records of each kind; shape (D, N).
        answers: what may be answered, shape (R, m).
        distances: how many changes of one person lead from one database to another; shape (D, D).
        errors: shape (D, R).
    """

    histograms: Vector
    answers: Vector
    distances: Vector
    errors: Vector


def finite_problem(
    queries: ArrayLike,
    *,
    size: int,
    relation: str = "add_remove",
    answers: ArrayLike | None = None,
    order: float = 2.0,
    power: float = 1.0,
) -> FiniteProblem:
    """Return the problem of linear queries on the histogram of a few records.

    Args:
        queries: W, shape (m, N): what a record of each of N kinds adds to each answer.
        size: n: databases have at most n records under `add_remove`, and n under `substitute`.
        relation: what one person changes: "add_remove", "substitute", or what the field calls them.
        answers: what may be answered, shape (R, m); all exact values by default.
        order: p in [1, ∞]: an answer a has the error ‖W·histogram − a‖_p …
        power: … to this power, from 0.01 to 10.

    Raises:
        QuestionError: where an argument is out of range, or there are more than 1,000 databases.

    Examples:
        >>> count = finite_problem([[1.0]], size=3)
        >>> count.answers.ravel().tolist(), count.distances[0].tolist()
        ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0])
        >>> finite_problem(np.eye(3), size=2, relation="substitute").histograms.shape
        (6, 3)
    """
    W = _bounded("queries", queries)
    m, N = W.shape
    word = word_or_none(relation)
    if word is None:
        raise QuestionError(
            f"relation={quoted(relation)} is unknown; give 'add_remove' or 'substitute'"
        )
    if not is_integer(size) or size < 1:
        raise QuestionError(f"size={quoted(size)} is no number of records; give an integer from 1")
    taken = " from 1 on, or infinity (math.inf)"
    p = number(order, field="order", error=QuestionError, within=taken)
    if not p >= 1:
        raise QuestionError(f"order={p:g} is out of range; give one{taken}")
    exponent = number(power, field="power", error=QuestionError)
    if not 0.01 <= exponent <= _POWER:  # noqa: PLR2004
        raise QuestionError(f"power={exponent:g} is out of range; give one from 0.01 to 10")
    free = N if word.counted else N - 1
    size = int(size)
    # there are more databases than records and than kinds: neither may be long
    if (min(size, free) and size + free > _MOST) or math.comb(size + free, free) > _MOST:
        raise QuestionError(
            f"size={quoted(size)} over {N} kinds of record makes more than {_MOST:,} databases; "
            "take fewer records",
        )
    count = math.comb(size + free, free)
    counts = np.array(list(_histograms(size, free)), dtype=np.float64).reshape(count, free)
    if not word.counted:
        counts = np.column_stack([counts, size - counts.sum(axis=1)])
    exact = counts @ W.T
    possible = np.unique(exact, axis=0) if answers is None else _bounded("answers", answers)
    if possible.shape[1] != m:
        raise QuestionError(
            f"answers has shape {possible.shape} for {m} queries; give one number a query",
        )
    if count * possible.size > _MOST_NUMBERS:
        raise QuestionError(f"answers has {len(possible):,} rows; give fewer")
    steps = np.array([np.abs(counts - row).sum(axis=1) for row in counts])
    off = np.linalg.norm(exact[:, None] - possible, ord=p, axis=2)
    return FiniteProblem(
        histograms=frozen(counts),
        answers=frozen(possible),
        distances=frozen(steps if word.counted else steps / 2),
        errors=frozen(off**exponent),
    )


def _histograms(size: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """Yield all counts of at most `size` records of `kinds` kinds."""
    if kinds == 0:
        yield ()
        return
    for first in range(size + 1):
        for rest in _histograms(size - first, kinds - 1):
            yield (first, *rest)


def _bounded(field: str, values: ArrayLike) -> Vector:
    table = matrix_of(values, field=field, error=QuestionError)
    if not table.size:
        raise QuestionError(f"{field} has shape {table.shape}; give at least one row and column")
    if np.max(np.abs(table)) > _LARGEST:
        raise QuestionError(f"{field} has a number beyond 2^100; use a larger unit")
    return table
