# SPDX-License-Identifier: Apache-2.0
"""Noise that is a product over ordered attributes, and weights that bound all other noise.

Along each ordered attribute the noise is the least for its own answers and its total, which has a
weight λ of its own: in a question of many marginals a total is told by all of them. Given the noise
along attributes, the variances of sets of attributes are those of `residual`, with an answer for
each orbit of marginals, weighted as the least noise along attributes weighs it. λ is searched for.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.product import AxisDual, ProductDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.questions import Marginals
from lownoise.sensitivity.residuals import AxisNoise, ordered_blocks
from lownoise.solvers.independent import solve_residual
from lownoise.solvers.newton import objective
from lownoise.solvers.ordered import solve_ordered
from lownoise.solvers.solution import Sides

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.certificate.tables import ResidualDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.residuals import Orbits, Products
    from lownoise.solvers.solution import Fitted, Progress

    Across = tuple[tuple[AxisNoise, ...], Vector]

_ALONG = 1e-7  # the gap to reach along one attribute
_MANY, _ALONG_MANY = 2000, 1e-4  # and where it has many answers that have weights
_INNER = 1e-6  # the gap to reach for the variances of sets
_FIRST, _STEP, _NEAR, _MOST = 1.0, 4.0, 2.0, 4096.0  # λ
_ROUNDS = 3  # of variances, where the answers of a marginal do not all have one weight
_DONE = (
    "stopped: ordered attributes have many categories together, so the noise is a product over "
    "them; the gap is that of this noise and of the bound"
)


def solve_product(
    products: Products,
    order: float,
    progress: Callable[[Progress], None] | None = None,
) -> Fitted[Across, ProductDual]:
    """Return noise that is a product over ordered attributes, at μ = 1.

    The noise is that along each ordered attribute, and σ² of each residual orbit, shape (r,); 0
    where none is needed. Iterations are how many λ were tried.

    Args:
        products: what the marginals ask.
        order: p in [2, ∞].
        progress: called with a `Progress` after every λ.
    """
    sides: Sides[Across, ProductDual] = Sides(0.0, progress)
    return sides.searched(_Search(products, order, sides).run)


@final
class _Search:
    """The λ that were tried."""

    def __init__(self, products: Products, order: float, sides: Sides[Across, ProductDual]) -> None:
        self.products, self.order, self.sides = products, order, sides
        self.weights = np.sqrt(products.blocks.plain.weights)
        self.errors: dict[tuple[float, ...], float] = {}
        self.along: dict[tuple[int, str, float], tuple[AxisNoise, AxisDual]] = {}

    def run(self) -> str:
        """Try λ for all axes, larger or smaller as long as that is better; then for each axis."""
        count = len(self.products.blocks.sizes)
        weight = _FIRST
        while self._try((weight,) * count) <= min(self.errors.values()) and weight < _MOST:
            weight *= _STEP
        if weight == _FIRST * _STEP:  # λ = 0 is the least where all marginals have all of them
            self._try((0.0,) * count)
        best = min(self.errors, key=self.errors.__getitem__)
        for factor in (1 / _NEAR, _NEAR):
            self._try(tuple(w * factor for w in best))
        for t in range(count if count > 1 else 0):
            best = min(self.errors, key=self.errors.__getitem__)
            for factor in (1 / _STEP, _STEP):
                self._try((*best[:t], best[t] * factor, *best[t + 1 :]), prove=False)
        return _DONE

    def _try(self, weights: tuple[float, ...], *, prove: bool = True) -> float:
        """Take in what λ gives, its proof where asked; return the error of its noise."""
        if weights in self.errors:
            return self.errors[weights]
        blocks = self.products.blocks
        made = []
        for size, kind, weight in zip(blocks.sizes, blocks.orders, weights, strict=True):
            key = (size, kind, weight)
            if key not in self.along:
                self.along[key] = _along(size, kind, self.order, weight)
            made.append(self.along[key])
        noise = tuple(own for own, _ in made)
        orbits, scales = self.products.averaged(noise, [dual.answers for _, dual in made])
        error = math.inf
        for _ in range(_ROUNDS if self.order > 2 else 1):  # noqa: PLR2004
            found = solve_residual(orbits, self.order, blocks.relation, _INNER)
            if prove:
                self._take(made, found)
            last, error = error, min(error, self._noisy(noise, found.noise * scales))
            if not error < last * (1 - _INNER):
                break
            orbits = self._louder(orbits, noise, found.noise, scales)
        self.errors[weights] = error
        self.sides.steps += 1
        self.sides.tell()
        return error

    def _louder(
        self, orbits: Orbits, noise: tuple[AxisNoise, ...], variances: Vector, scales: Vector
    ) -> Orbits:
        """Return the one answer for each orbit of marginals as large as all of them now are."""
        assert orbits.answer_parts is not None  # noqa: S101 (`averaged` gives it)
        rows, columns, entries = orbits.answer_parts
        all_of_them = self.products.answer_variances(noise, variances * scales)
        own = np.array([objective(v, self.order) ** 2 for v in all_of_them])
        seen = orbits.cell_variances(variances)
        ratio = own / np.where(seen > 0, seen, 1.0)
        return replace(orbits, answer_parts=(rows, columns, frozen(entries * ratio[rows])))

    def _take(
        self,
        made: Sequence[tuple[AxisNoise, AxisDual]],
        found: Fitted[Vector, ResidualDual],
    ) -> None:
        """Keep the weights if no others prove more."""
        dual = ProductDual(
            axes=tuple(own for _, own in made),
            cells=found.dual.cells,
            patterns=found.dual.patterns,
            chances=found.dual.chances,
        )
        self.sides.prove(dual.least(self.products, self.order, self.weights), dual)

    def _noisy(self, noise: tuple[AxisNoise, ...], variances: Vector) -> float:
        """Return the error of noise at μ = 1; keep it if it is the least."""
        cost = self.products.cost_up(noise, variances)
        upper = math.sqrt(cost) * self._error(noise, variances)
        self.sides.cover(upper, (noise, frozen(variances * cost)))
        return upper

    def _error(self, noise: tuple[AxisNoise, ...], variances: Vector) -> float:
        plain = self.products.blocks.plain
        own = self.products.answer_variances(noise, variances)
        counts = [len(v) for v in own]
        weighted = np.sqrt(np.repeat(plain.weights, counts) * np.concatenate(own))
        return order_norm(weighted, self.order, np.repeat(plain.cells, counts))


def _along(size: int, kind: str, order: float, weight: float) -> tuple[AxisNoise, AxisDual]:
    """Return the least noise for the answers along one attribute and its total, and its weights."""
    sets, weights = [["x"]], [1.0]
    if weight:
        sets, weights = [["x"], []], [1.0, weight]
    asked = Marginals({"x": size}, sets=sets, weights=weights, ordered={"x": kind})
    blocks = ordered_blocks(asked, public=False)
    many = order > 2 and blocks.counts[0] > _MANY  # noqa: PLR2004
    found = solve_ordered(blocks, order, _ALONG_MANY if many else _ALONG)
    # coordinates are the total and the categories but the last: the first column is √m·(1, u)
    (factor,) = found.noise
    noise = AxisNoise(
        mean=frozen(factor[1:, 0] / factor[0, 0]), triangle=frozen(factor[1:, 1:].copy())
    )
    answers = found.dual.cells[0]
    q = conjugate(order)
    scale = float(np.max(answers))
    if not math.isinf(q):
        scale *= float(np.sum((answers / scale) ** q) ** (1 / q))
    chances = np.zeros(size)
    chances[found.dual.pairs[:, 0]] = found.dual.chances
    dual = AxisDual(
        answers=frozen(answers / scale),
        chances=frozen(chances / float(np.sum(chances))),
        split=frozen(np.append(noise.mean, 1 - float(np.sum(noise.mean)))),
    )
    return noise, dual
