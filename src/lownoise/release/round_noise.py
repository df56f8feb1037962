# SPDX-License-Identifier: Apache-2.0
"""What i.i.d. Gaussian noise would have to be: the comparison beside a plan of marginals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.questions.ordered import answer_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.questions import Attribute, Marginals


def squared_change(question: Marginals, *, public: bool) -> float:
    """Return how far one neighbour moves all answers together, squared.

    A record is in one cell of each marginal, and in as many counts along an ordered attribute as
    hold its category. Exact under `add_remove`, and under `substitute` without ordered attributes;
    else of two pairs of records that are far apart, so at most the truth.

    Args:
        question: the marginals.
        public: whether one record becomes another (`substitute`), which leaves their number.

    Examples:
        >>> from lownoise.questions import Marginals
        >>> squared_change(Marginals({"a": 3, "b": 2}, way=2), public=True)
        6.0
        >>> squared_change(Marginals({"a": 3}, way=1, ordered={"a": "prefix"}), public=False)
        4.0
    """
    attributes = question.attributes
    held = [_held(a) for a in attributes]
    same = ends = 0.0
    for chosen in question.sets():
        best = math.prod(held[i][0] for i in chosen)
        moves = any(attributes[i].size > 1 and not attributes[i].ordered for i in chosen)
        if not public:
            same += best
            continue
        first, last = (math.prod(held[i][k] for i in chosen) for k in (1, 2))
        both = 0.0 if moves else math.prod(held[i][3] for i in chosen)
        same += 2 * best if moves else 0.0
        ends += first + last - 2 * both
    return max(same, ends)


def _held(attribute: Attribute) -> tuple[float, float, float, float]:
    """Return how many counts hold a category, at the most; the first; the last; those two both."""
    if not attribute.ordered:
        return 1.0, 1.0, 1.0, 1.0
    rows = answer_rows(attribute.ordered, attribute.size)
    each = rows.sum(axis=0)
    both = float(np.sum(rows[:, 0] * rows[:, -1]))
    return float(np.max(each)), float(each[0]), float(each[-1]), both


def cells_an_answer(question: Marginals, chosen: Sequence[int]) -> float:
    """Return how many cells an answer of this marginal adds up, on average."""
    attributes = [question.attributes[i] for i in chosen]
    return math.prod(
        float(np.mean(answer_rows(a.ordered, a.size).sum(axis=1))) if a.ordered else 1.0
        for a in attributes
    )
