# SPDX-License-Identifier: Apache-2.0
"""Tables of counts from the integers of released marginals, and how far noise moves them."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.sensitivity.factors.tables import centered
from lownoise.sensitivity.orders import answers_along

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.noise.marginals import AbstractLayout, MarginalTotals, Noisy
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Marginals
    from lownoise.questions.attributes import Attribute


def tables_of(
    layout: AbstractLayout,
    attributes: Sequence[Attribute],
    sets: Sequence[tuple[int, ...]],
    released: Noisy,
) -> Vector:
    """Return the counts by several sets of attributes of the same sizes, shape (k, n, …).

    T_B = Σ_{A⊆B} (centred table of A)·Π_{j∈B∖A} 1/nⱼ, of which `joined` takes an axis at a time.
    The joint cells of ordered attributes are one axis, the last.

    Args:
        layout: which integers they are.
        attributes: of the question.
        sets: rising attributes, of the same sizes, and ordered ones at the same places.
        released: the integers.
    """
    axes = layout.axes
    sizes = [attributes[i].size for i in sets[0]]
    plain = [j for j, i in enumerate(sets[0]) if i not in axes]
    ordered = [i for i in sets[0] if i in axes]
    parts: dict[tuple[int, ...], Vector] = {}  # by places among those that are not ordered
    for k in range(len(plain) + 1):
        for inside in itertools.combinations(range(len(plain)), k):
            if all(sizes[plain[j]] > 1 for j in inside):
                own_sets = [tuple(chosen[plain[j]] for j in inside) for chosen in sets]
                parts[inside] = layout.read(own_sets, ordered, released)
    room = np.empty(len(sets) * math.prod(sizes))  # the largest table of each step ends there
    last = [j for j in range(len(sizes)) if j not in plain]
    table = joined(parts, len(plain), 1, room).reshape(
        len(sets), *[sizes[j] for j in (*plain, *last)]
    )
    return np.transpose(table, [0, *(1 + (*plain, *last).index(j) for j in range(len(sizes)))])


def joined(
    parts: dict[tuple[int, ...], Vector], count: int, first: int, room: Vector | None = None
) -> Vector:
    """Return the table that has these sums of differences along its axes, by an axis at a time.

    Of one table of whole numbers it makes exactly that one (`centered`).

    Args:
        parts: by the axes along which they are differences, rising, of shape (…, n₁ − 1, …, …); the
            table is summed over the others. Along an axis of one category there are none.
        count: of the axes.
        first: where they begin.
        room: at the end of which the largest table of each step may be put.

    Examples:
        >>> from lownoise.sensitivity.factors.tables import differences
        >>> table = np.array([[5.0, 3.0, 1.0], [2.0, 7.0, 4.0]])
        >>> along = {(): table.sum(), (0,): table.sum(axis=1), (1,): table.sum(axis=0)}
        >>> along |= {(0,): differences(along[(0,)]), (1,): differences(along[(1,)])}
        >>> joined({**along, (0, 1): differences(table)}, 2, 0)
        array([[5., 3., 1.],
               [2., 7., 4.]])
    """
    for j in reversed(range(count)):
        merged: dict[tuple[int, ...], Vector] = {}
        for inside in [key for key in parts if j not in key]:
            # the axes before it are still differences, those after are done
            axis, own = first + len(inside), parts.get((*inside, j))
            if own is None:  # one category
                merged[inside] = np.expand_dims(parts[inside], axis)
            else:
                put = room if len(inside) == j else None
                merged[inside] = centered(own, axis, parts[inside], put)
        parts = merged
    return parts[()]


def averaged(estimates: Iterator[tuple[Vector, float]]) -> Vector:
    """Return the mean of arrays by weights: what they all are, exactly, where they are equal.

    Args:
        estimates: the arrays, of one shape, at least one, each with its weight.

    Examples:
        >>> averaged(iter([(np.array([3.0, 4.0]), 0.1), (np.array([3.0, 7.0]), 0.2)]))
        array([3., 6.])
    """
    first, unit = next(estimates)
    moved, weight = np.zeros_like(first), 1.0
    for own, precision in estimates:
        weight += precision / unit
        moved += precision / unit * (own - first)
    return np.asarray(first + moved / weight)


def weighted_errors(question: Marginals, totals: MarginalTotals, noise: Vector) -> Vector:
    """Return √ω times the errors of all answers that were asked for, shape (n, m).

    Args:
        question: what was asked.
        totals: whose integers the noise is added to.
        noise: of n releases, in steps, shape (n, r).
    """
    attributes = question.attributes
    far = 2.0**20 * (totals.size or 1)  # steps, beside which the number of records is not large
    by_way = question.way is not None
    sets = list(question.sets())
    weights = [question.weights[len(own) if by_way else k] for k, own in enumerate(sets)]

    def read(integers: Vector) -> Vector:
        found: list[Vector] = []
        released = totals.noisy(integers)
        for own, weight in zip(sets, weights, strict=True):
            table = tables_of(totals.layout, attributes, [own], released)[0]
            for axis, i in enumerate(own):
                order = attributes[i].ordered
                if order is not None:
                    table = answers_along(table, axis, order)
            found.append(math.sqrt(weight) * table.ravel())
        return np.concatenate(found)

    length = noise.shape[1]
    base = read(np.zeros(length))
    moved = [(read(row) - base) / far for row in far * np.eye(length)]
    return np.asarray(noise @ np.array(moved).reshape(length, base.size))
