# SPDX-License-Identifier: Apache-2.0
"""How far noise moves the counts of released marginals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.noise.tables import tables_of
from lownoise.sensitivity.orders import answers_along

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


def weighted_errors(terms: Any, noise: Vector) -> Vector:  # noqa: ANN401 (what is above)
    """Return √ω times the errors of all answers that were asked for, shape (n, m).

    Args:
        terms: of marginals.
        noise: of n releases, in steps, shape (n, r).
    """
    question, totals = terms.question, terms.mechanism.totals
    attributes = question.attributes
    far = 2.0**20 * (terms.size or 1)  # steps, beside which the number of records is not large
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
