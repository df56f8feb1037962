# SPDX-License-Identifier: Apache-2.0
"""What noise on the blocks of ordered attributes reveals of one record, at most.

A record in the joint ordered category x adds to the block of A a table of centred squared length
Π_{i∈A} (1 − 1/nᵢ) times s_x, its coordinates. With q_A(x, y) = s_xᵀ M_A⁻¹ s_y, a record that comes
or goes is told with

    μ² = max over x of Σ_A Π_{i∈A} (1 − 1/nᵢ)·q_A(x, x),

and one that becomes another with the maximum over x, y and δ (see `cost`) of

    Σ_A Π_{i∈A} (1 − 1/nᵢ)·(q_A(x, x) + q_A(y, y)) − 2·Π_{i∈A} (δᵢ − 1/nᵢ)·q_A(x, y).

q is computed from an approximate inverse of L_A; how far that is from an inverse is bounded, and
with it how far q is off.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.rounding import SLACK, grown, growth
from lownoise.questions.residuals.cost import PatternCosts
from lownoise.sensitivity.factors import DenseShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions.residuals.ordered import Blocks

MOST_PATTERNS = 1 << 16
_CHUNK = 1 << 22  # patterns times pairs that are looked at at once
_FEW = 24  # costly changes that are told, where there are fewer categories
_EACH = 3  # of them with one category
_COSTLY = 0.5  # of the greatest cost


def whitened(records: Vector, factor: Vector) -> tuple[Vector, float]:
    """Return about L⁻¹s for each row s, and what they may be off in length, at most.

    The second is ∞ where L has no inverse that floats find. Each entry of s may be rounded once.

    Args:
        records: shape (K, r).
        factor: L, shape (r, r).
    """
    if not np.all(np.isfinite(factor)):
        return np.zeros_like(records), math.inf
    white = DenseShape(factor).whitening
    if not white.defect < 1:
        return np.zeros_like(records), math.inf
    found = records @ white.matrix.T
    lost = growth(records.shape[1] + 9) * np.linalg.norm(
        np.abs(records) @ np.abs(white.matrix).T, axis=1
    )
    # L⁻¹s = (XL)⁻¹·Xs and ‖(XL)⁻¹ − I‖ ≤ defect/(1 − defect)
    longest = grown(float(np.max(np.linalg.norm(found, axis=1) + lost)))
    off = longest * white.defect / (1 - white.defect) + float(np.max(lost)) / (1 - white.defect)
    return found, grown(off)


def ordered_cost_up(blocks: Blocks, factors: Sequence[Vector]) -> float:
    """Return at least μ², the squared distance that one neighbour moves the noisy tables.

    Args:
        blocks: the blocks.
        factors: L_A of each, lower triangles of shape (r, r).

    Examples:
        >>> from lownoise.questions.residuals.ordered import ordered_blocks
        >>> from lownoise.questions import Marginals
        >>> asked = Marginals({"age": 3}, way=1, ordered={"age": "prefix"})
        >>> found = ordered_blocks(asked, public=False)
        >>> round(ordered_cost_up(found, [2 * np.eye(3)]), 9)  # the total and an indicator: 2/4
        0.5
    """
    if not blocks.blocks:
        return 0.0  # the number of records alone, which is public
    images = [whitened(b.records, f) for b, f in zip(blocks.blocks, factors, strict=True)]
    if not all(math.isfinite(off) for _, off in images):
        return math.inf
    trace = blocks.plain.trace[[b.place for b in blocks.blocks]]
    doubt = 0.0
    for part, (image, off) in zip(trace.tolist(), images, strict=True):
        longest = grown(float(np.max(np.linalg.norm(image, axis=1))))
        r = image.shape[1]
        doubt += 4 * part * ((2 * longest + off) * off + growth(4 * r + 99) * longest**2)
    if not blocks.public:
        return grown(float(np.max(_alone(trace, images)))) + doubt
    worst = ChangeCosts(blocks).worst([image for image, _ in images])[2]
    total = float(np.max(_alone(trace, images)))
    return grown(worst) + doubt + 4 * SLACK * total


def _alone(trace: Vector, images: Sequence[tuple[Vector, float]]) -> Vector:
    total: Vector = sum(
        part * np.sum(image**2, axis=1) for part, (image, _) in zip(trace, images, strict=True)
    ) + np.zeros(1)
    return total


@final
class ChangeCosts:
    """The costs of changes under `substitute`: a pattern, and joint ordered categories x, y.

    Args:
        blocks: the blocks.

    Raises:
        PlanError: where the unordered attributes have too many patterns.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.costs = PatternCosts(blocks.plain)
        self.trace = blocks.plain.trace[[b.place for b in blocks.blocks]]
        count = math.prod(int(m) + 1 for m in blocks.plain.members)
        if count > MOST_PATTERNS:
            raise PlanError(
                f"relation=substitute with ordered attributes has {count:,} patterns of changed "
                f'attributes, more than {MOST_PATTERNS:,}; ask for relation="add_remove", or '
                "declare fewer different attributes",
            )
        shape = [int(m) + 1 for m in blocks.plain.members]
        self.patterns: Integers = np.stack(
            np.unravel_index(np.arange(count), shape), axis=1
        ).astype(np.int64)

    def agreeing(self, patterns: Integers) -> Vector:
        """Return Π_{i∈A} (δᵢ − 1/nᵢ) summed over each orbit, shape (k, blocks)."""
        places = [b.place for b in self.blocks.blocks]
        found: Vector = self.trace - self.costs.at(patterns)[:, places] / 2
        return found

    def worst(self, images: Sequence[Vector]) -> tuple[Integers, Integers, float]:
        """Return costly changes, the costliest first: patterns, pairs (x, y), the greatest cost.

        Args:
            images: vectors of shape (K, r) for each block whose products are q_A(x, y).
        """
        K = self.blocks.categories
        x, y = np.triu_indices(K)
        products = [image @ image.T for image in images]
        alone = sum(t * np.diag(q) for t, q in zip(self.trace, products, strict=True))
        base = (alone + np.zeros(K))[x] + (alone + np.zeros(K))[y]
        crossed = np.stack([q[x, y] for q in products])  # blocks by pairs
        reach = base + 2 * self.trace @ np.abs(crossed)
        order = np.argsort(-reach, kind="stable")
        agreeing = self.agreeing(self.patterns)
        step = max(_CHUNK // len(self.patterns), 1)
        values, worst = np.full(order.size, -np.inf), np.zeros(order.size, dtype=np.int64)
        highest = -np.inf
        for start in range(0, order.size, step):
            pairs = order[start : start + step]
            if reach[pairs[0]] <= highest:
                break  # no pair that is left can cost more
            costs = base[pairs] - 2 * (agreeing @ crossed[:, pairs])
            worst[pairs] = np.argmax(costs, axis=0)
            values[pairs] = costs[worst[pairs], np.arange(pairs.size)]
            highest = max(highest, float(np.max(values[pairs])))
        # a few of each category, so that what is told is not all alike
        chosen: list[int] = []
        seen = np.zeros(K, dtype=np.int64)
        for j in np.argsort(-values, kind="stable").tolist():
            if len(chosen) >= max(K, _FEW) or not values[j] > _COSTLY * highest:
                break
            if min(seen[x[j]], seen[y[j]]) < _EACH:
                seen[[x[j], y[j]]] += 1
                chosen.append(j)
        pairs = np.stack([x[chosen], y[chosen]], axis=1).astype(np.int64)
        return self.patterns[worst[chosen]], pairs, highest
