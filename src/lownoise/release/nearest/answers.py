# SPDX-License-Identifier: Apache-2.0
"""The answers that some table has, fractions of rows allowed: hulls and cones of single records.

Where n is public they are n times (of a mean: once) the hull of what one record says; where rows
come and go, the cone. An oracle finds the record that says most along a direction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.questions import AbstractQueries, Marginals, Mean, Parity
from lownoise.release.nearest.tables import centred
from lownoise.sets.domains import Box

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.nearest.tables import Stack, Tables
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain

MOST_BITS = 20
MOST_RECORDS = 1 << 20


class AbstractAnswers(ABC):
    """All answers that tables have: convex, and closed."""

    cone = False  # whether every multiple of an answer is one
    everything = False  # whether all numbers are answers of some table

    @abstractmethod
    def extreme(self, direction: Vector) -> tuple[Vector, float]:
        """Return what a record says that is extreme along a direction, and a bound on how far.

        Args:
            direction: θ, shape (m,).

        Returns:
            a, shape (m,), and at least max ⟨θ, a⟩ over all records.

        Raises:
            PlanError: where no such record is known how to find.
        """

    def holds(self, answers: Vector) -> bool:
        """Return whether these are answers of a table; False also where that is not looked at."""
        del answers
        return False

    def clipped(self, answers: Vector) -> Vector | None:
        """Return the nearest answers where every coordinate is one on its own; None elsewhere."""
        del answers
        return None


def answers_of(terms: Terms) -> AbstractAnswers:
    """Return the answers of a question in a row.

    Raises:
        PlanError: where they are not known, or too many records would be looked at.
    """
    question, n = terms.question, terms.size
    if isinstance(question, Mean):
        center = None if n is not None else question.center
        return MeanAnswers(question.domain, center)
    if isinstance(question, Parity):
        return ParityAnswers(question, n)
    if isinstance(question, AbstractQueries):
        return QueryAnswers(question.matrix, n)
    raise PlanError(f"question={type(question).__name__} has no projected answers; use estimate")


@final
class MeanAnswers(AbstractAnswers):
    """Means of a domain; or, about a center, sums and a count: the cone of (x − v, 1).

    Args:
        domain: K.
        center: v, where rows come and go.
    """

    def __init__(self, domain: AbstractDomain, center: Vector | None) -> None:
        self._domain, self._center, self.cone = domain, center, center is not None

    def extreme(self, direction: Vector) -> tuple[Vector, float]:
        """Return a record that is extreme, as `AbstractAnswers.extreme`."""
        theta = direction if self._center is None else direction[:-1]
        try:
            x = self._domain.extreme(theta[None])[0]
        except DomainError:
            raise PlanError(
                f"projected needs records of {self._domain!r} that are extreme along a direction, "
                "and none is known how to find; use estimate",
            ) from None
        above = self._domain.support(theta)
        if self._center is None:
            return x, above
        lifted = np.append(x - self._center, 1.0)
        return lifted, above - float(theta @ self._center) + float(direction[-1])

    def holds(self, answers: Vector) -> bool:
        """Return whether these means are in the domain itself."""
        return self._center is None and self._domain.contains(answers)

    def clipped(self, answers: Vector) -> Vector | None:
        """Return the answers, each clipped to its range, of a box."""
        own = isinstance(self._domain, Box) and self._center is None
        return self._domain.clip_rows(answers[None])[0] if own else None


@final
class QueryAnswers(AbstractAnswers):
    """What rows of finitely many kinds add to linear queries.

    Args:
        matrix: shape (m, N).
        size: n, None where rows come and go.
    """

    def __init__(self, matrix: Vector, size: int | None) -> None:
        self._matrix, self._size, self.cone = matrix, size or 1, size is None

    def extreme(self, direction: Vector) -> tuple[Vector, float]:
        """Return a record that is extreme, as `AbstractAnswers.extreme`."""
        values = direction @ self._matrix
        best = int(np.argmax(values))
        return self._matrix[:, best] * self._size, float(values[best]) * self._size


@final
class ParityAnswers(AbstractAnswers):
    """Parities of all records of d bits: the one that says most is found by a fast transform.

    Where rows come and go, any numbers are parities of some table, but for the count's: a table of
    evenly spread rows has all parities 0, and a few more rows of each kind give them any values.

    Args:
        question: the parities.
        size: n, None where rows come and go.
    """

    def __init__(self, question: Parity, size: int | None) -> None:
        bits = len(question.attributes)
        self.cone, self._size, self._bits = size is None, size or 1, bits
        self.everything = self.cone and 0 not in question.degrees
        if bits > MOST_BITS and not self.everything:
            raise PlanError(
                f"projected looks at all records of {bits} bits; ask for at most {MOST_BITS}",
            )
        masks = [sum(1 << i for i in chosen) for chosen in question.sets()]
        self._masks: Integers = np.array(masks if not self.everything else [], dtype=np.int64)

    def extreme(self, direction: Vector) -> tuple[Vector, float]:
        """Return a record that is extreme, as `AbstractAnswers.extreme`."""
        values = np.zeros(1 << self._bits)
        np.add.at(values, self._masks, direction)
        values = transformed(values)
        best = int(np.argmax(values))
        odd = np.bitwise_count(self._masks & best) % 2
        return (1.0 - 2.0 * odd) * self._size, float(values[best]) * self._size


def transformed(values: Vector) -> Vector:
    """Return Σ_S values[S]·(−1)^{|S ∩ x|} for every x, by a fast transform; 2^d numbers.

    Examples:
        >>> transformed(np.array([1.0, 2.0, 0.0, 0.0])).tolist()
        [3.0, -1.0, 3.0, -1.0]
    """
    found, half = values.copy(), 1
    while half < found.size:
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return found


@final
class TableAnswers(AbstractAnswers):
    """Marginals of tables, as weighted centred tables in a row.

    Args:
        question: the marginals.
        tables: how centred tables make them.
        roots: what each centred table is multiplied with; 0 where it is fixed.
        size: n, None where rows come and go.
    """

    def __init__(self, question: Marginals, tables: Tables, roots: Stack, size: int | None) -> None:
        self._sizes = [a.size for a in question.attributes]
        self._tables, self._roots = tables, roots
        self._size, self.cone = size or 1, size is None
        used = {i for group in tables.inner.values() for a in group for i in a}
        self._used = sorted(used)
        records = 1
        for i in self._used:
            records *= self._sizes[i]
            if records > MOST_RECORDS:
                raise PlanError(
                    'projected("domain") looks at all combinations of categories, more than 2^20 '
                    'here; use projected("nonnegative")',
                )

    def row(self, stack: Stack) -> Vector:
        """Return centred tables, each times its root, in a row."""
        return np.concatenate(
            [own.ravel() for own in self._tables.weighed(self._roots, stack).values()]
        )

    def stack(self, row: Vector, given: Stack) -> Stack:
        """Return the centred tables of a row; those that are fixed from `given`."""
        found, start = {}, 0
        for key, own in given.items():
            roots = self._roots[key].reshape(-1, *[1] * len(key))
            part = row[start : start + own.size].reshape(own.shape)
            found[key] = np.where(roots > 0, part / np.where(roots > 0, roots, 1.0), own)
            start += own.size
        return found

    def extreme(self, direction: Vector) -> tuple[Vector, float]:
        """Return a record that is extreme, as `AbstractAnswers.extreme`."""
        shape = [self._sizes[i] for i in self._used]
        values, start = np.zeros(shape), 0
        pulls = {}
        for key, group in self._tables.inner.items():
            size = len(group) * int(np.prod(key, dtype=np.int64))
            pulls[key] = direction[start : start + size].reshape(len(group), *key)
            start += size
        pulls = centred_stack(self._tables.weighed(self._roots, pulls))
        for key, group in self._tables.inner.items():
            for a, own in zip(group, pulls[key], strict=True):
                wide = [self._sizes[i] if i in a else 1 for i in self._used]
                values += own.reshape(wide)
        best = np.unravel_index(int(np.argmax(values)), shape)
        record = self.row(self._record([int(k) for k in best]))
        return record, float(values[best]) * self._size

    def _record(self, cells: list[int]) -> Stack:
        """Return the centred tables of n rows that are all one record."""
        at = dict(zip(self._used, cells, strict=True))
        found: Stack = {}
        for key, group in self._tables.inner.items():
            own = np.zeros((len(group), *key))
            for i, a in enumerate(group):
                own[(i, *(at[j] for j in a))] = self._size
            found[key] = own
        return centred_stack(found)


def centred_stack(stack: Stack) -> Stack:
    """Return stacks of tables, each less its means along every axis."""
    return {key: centred(own) for key, own in stack.items()}
