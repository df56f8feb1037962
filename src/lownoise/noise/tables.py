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
    from collections.abc import Sequence

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

    T_B = Σ_{A⊆B} (centred table of A)·Π_{j∈B∖A} 1/nⱼ, an axis at a time: what is centred along
    the axis, and the even spread of what is summed over it. The joint cells of ordered
    attributes are one axis, the last.

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
    parts: dict[tuple[int, ...], Vector] = {}  # by places in the sets
    for k in range(len(plain) + 1):
        for inside in itertools.combinations(plain, k):
            if all(sizes[j] > 1 for j in inside):
                own_sets = [tuple(chosen[j] for j in inside) for chosen in sets]
                parts[inside] = layout.read(own_sets, ordered, released)
    room = np.empty(len(sets) * math.prod(sizes))  # the largest table of each step ends there
    for j in reversed(plain):
        size = sizes[j]
        merged: dict[tuple[int, ...], Vector] = {}
        for inside in [key for key in parts if j not in key]:
            # the axes before it are still differences, those after are done
            axis = 1 + len(inside)
            shared = parts[inside] / size
            own = parts.get((*inside, j))
            if own is None:  # one category
                shape = (*shared.shape[:axis], size, *shared.shape[axis:])
                merged[inside] = np.broadcast_to(np.expand_dims(shared, axis), shape)
            else:
                whole = len(inside) + 1 == len(plain[: plain.index(j) + 1])
                merged[inside] = centered(own, axis, shared, room if whole else None)
        parts = merged
    last = [j for j in range(len(sizes)) if j not in plain]
    table = parts[()].reshape(len(sets), *[sizes[j] for j in (*plain, *last)])
    return np.transpose(table, [0, *(1 + (*plain, *last).index(j) for j in range(len(sizes)))])


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
