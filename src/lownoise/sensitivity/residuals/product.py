# SPDX-License-Identifier: Apache-2.0
"""Noise that is a product over ordered attributes, with one variance for each set of attributes.

Where ordered attributes have many joint categories, one covariance for all of them is too large.
Instead each ordered attribute t gets a vector u_t, adding up to 1, and a matrix N_t with N_t·1 = 0.
Counts over a set B are Σ_{A⊆B} R_A ⊗ u_{B∖A}: R_A takes u times the total away along every axis, as
it is done with u = 1/n where an attribute is not ordered. R_A gets independent noise of covariance
σ_A² ⊗ N, where N = I − 11ᵀ/n for unordered attributes; so a sum l over cells of B has the variance

    Σ_{A⊆B} σ_A² Π_{i∈A} lᵢᵀNᵢlᵢ Π_{j∈B∖A} (lⱼ·uⱼ)².

With q_t(x, y) = (e_x − u)ᵀN⁺(e_y − u), κ_t at least all q_t(x, x) and −γ_t at most all q_t(x, y), a
record that comes or goes is told with at most μ² = Σ_A σ_A⁻² Π κᵢ, since this rises in each q. One
that becomes another is told with at most the maximum over ηᵢ ∈ {κᵢ, −γᵢ} of 2·Σ_A σ_A⁻² (Π κᵢ −
Π ηᵢ), since what is taken away is linear in each ηᵢ. Both are the costs of `residuals.cost` with
h = γ/(κ + γ) in place of 1/n (ours).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import TINY, grown, growth
from lownoise.sensitivity.orders import answer_count
from lownoise.sensitivity.residuals.cost import TableChanges
from lownoise.sensitivity.residuals.orbits import marginal_orbits
from lownoise.sensitivity.residuals.ordered import MOST_CATEGORIES, split_marginals, whitened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Marginals
    from lownoise.sensitivity.residuals.orbits import Orbits
    from lownoise.sensitivity.residuals.ordered import Blocks, Span

MOST_ANSWERS = 1 << 24  # of marginals that count once, with ordered attributes
_MOST_ENTRIES = 1 << 25  # of the answers along one attribute, written out


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class AxisNoise:
    """The noise along one ordered attribute of n categories, written without the last one.

    Args:
        mean: u, shape (n − 1,).
        triangle: L with N = L·Lᵀ, a lower triangle of shape (n − 1, n − 1).
    """

    mean: Vector
    triangle: Vector

    @cached_property
    def rows(self) -> Vector:
        """[u, L]: from the total's noise and the residual's to that of counts, (n − 1, n)."""
        return frozen(np.hstack([self.mean[:, None], self.triangle]))

    @cached_property
    def extent(self) -> tuple[float, float]:
        """At least κ and at most −γ; both infinite where L has no inverse that floats find."""
        n = self.mean.size + 1
        found, off = whitened(np.eye(n)[:, :-1] - self.mean, self.triangle)
        if not math.isfinite(off):
            return math.inf, -math.inf
        longest = grown(float(np.max(np.linalg.norm(found, axis=1))), TINY)
        doubt = (2 * longest + off) * off + growth(4 * n + 99) * longest**2
        products = found @ found.T
        most = grown(float(np.max(np.diag(products))) + doubt, TINY)
        # |q(x, y)| ≤ κ; 0 may stand for a least product above it
        least = min(grown(float(np.min(products)) - doubt, TINY), 0.0)
        return most, max(least, -most)

    def parts(self, sums: Vector) -> tuple[Vector, Vector]:
        """Return l·u and lᵀL of sums over cells; shapes (k, n), (k,) and (k, n − 1)."""
        own = sums[:, :-1] - sums[:, -1:]
        return sums[:, -1] + own @ self.mean, own @ self.triangle


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ProductBlock:
    """The noisy counts over the unordered sets A of one orbit, and sets of ordered attributes.

    Args:
        place: of the orbit among the residuals of `Products.blocks.plain`.
        spans: the sets T of ordered attributes, by rising number.
        variables: where σ_{A∪T} stands, for each T.
        shapes: n_t − 1 of the attributes in each T.
    """

    place: int
    spans: tuple[Span, ...]
    variables: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the counts over each T begin, and how many there are in all."""
        return tuple(np.cumsum([0, *map(math.prod, self.shapes)]).tolist())

    @property
    def length(self) -> int:
        """How many counts there are."""
        return self.starts[-1]

    def part(self, span: Span) -> slice:
        """Return where the counts over a span stand."""
        k = self.spans.index(span)
        return slice(self.starts[k], self.starts[k + 1])


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Products:
    """What marginals ask of noise that is a product over ordered attributes.

    Args:
        blocks: their ordered and unordered parts.
        complete: the orbits of all attributes; its residual orbits number the variances.
    """

    blocks: Blocks
    complete: Orbits

    @property
    def kinds(self) -> tuple[int, ...]:
        """The type of each ordered attribute in `complete`."""
        return tuple(int(self.complete.kinds[i]) for i in self.blocks.axes)

    def variable(self, place: int, span: Span) -> int:
        """Return where σ of an orbit of unordered attributes and an ordered set stands."""
        orbit = self.blocks.plain.residuals[place]
        return self.complete.place[tuple(sorted((*orbit, *(self.kinds[t] for t in span))))]

    @cached_property
    def silent(self) -> Vector:
        """Which variances are none: that of the number of records where it is public."""
        empty = [self.blocks.public and not orbit for orbit in self.complete.residuals]
        return frozen(np.array(empty))

    @cached_property
    def parts(self) -> tuple[ProductBlock, ...]:
        """The blocks whose counts are released."""
        found = []
        for place in range(len(self.blocks.plain.residuals)):
            spans = tuple(sorted(self.blocks.moving(place), key=lambda s: (len(s), s)))
            if spans:
                block = ProductBlock(
                    place=place,
                    spans=spans,
                    variables=tuple(self.variable(place, s) for s in spans),
                    shapes=tuple(tuple(self.blocks.sizes[t] - 1 for t in s) for s in spans),
                )
                found.append(block)
        return tuple(found)

    @cached_property
    def seeing(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """For each orbit of marginals the unordered orbits it sees, and what they count there."""
        found: list[list[tuple[int, float]]] = [[] for _ in self.blocks.spans]
        for place, seen in enumerate(self.blocks.seen_at):
            for row, entry in seen:
                found[row].append((place, entry))
        return tuple(map(tuple, found))

    def weights(self, row: int, variances: Vector) -> Vector:
        """Return what Π (l·u)² Π lᵀNl are multiplied by in an answer's variance, shape (2, …).

        Args:
            row: the orbit of marginals.
            variances: σ², shape (r,).
        """
        span = self.blocks.spans[row]
        found = np.zeros((2,) * len(span))
        for place, entry in self.seeing[row]:
            for choice in np.ndindex(*found.shape):
                chosen = tuple(t for t, own in zip(span, choice, strict=True) if own)
                found[choice] += entry * variances[self.variable(place, chosen)]
        return found

    def answer_variances(self, noise: Sequence[AxisNoise], variances: Vector) -> list[Vector]:
        """Return the variance of each answer in each orbit of marginals, g arrays.

        Args:
            noise: of each ordered attribute.
            variances: σ², shape (r,).
        """
        pairs = []
        parts = self.blocks.answer_parts(tuple(range(len(noise))))
        for part, own in zip(parts, noise, strict=True):
            total, rest = own.parts(part)
            pairs.append(np.stack([np.square(total), np.sum(np.square(rest), axis=1)]))
        found = []
        for row, span in enumerate(self.blocks.spans):
            table = self.weights(row, variances)
            for t in span:  # each product moves its axis to the end
                table = np.tensordot(table, pairs[t], axes=(0, 0))
            found.append(table.reshape(-1))
        return found

    def averaged(
        self,
        noise: Sequence[AxisNoise],
        weights: Sequence[Vector],
    ) -> tuple[Orbits, Vector]:
        """Return one answer for each orbit of marginals, and Π (κ + γ) of each residual orbit.

        Args:
            noise: of each ordered attribute.
            weights: c ≥ 0 of each answer along each ordered attribute: the one answer has the
                variance Σ Π c_t·(variance) in units of variances that are divided by Π (κ + γ).
        """
        shares, scales = reduced(self, [own.extent for own in noise])
        parts = self.blocks.answer_parts(tuple(range(len(noise))))
        pairs = []
        for part, own, c in zip(parts, noise, weights, strict=True):
            total, rest = own.parts(part)
            pairs.append((float(c @ np.square(total)), float(np.sum(c @ np.square(rest)))))
        rows, columns, entries = [], [], []
        for row, span in enumerate(self.blocks.spans):
            for place, entry in self.seeing[row]:
                for choice in itertools.product((0, 1), repeat=len(span)):
                    inside = tuple(t for t, own in zip(span, choice, strict=True) if own)
                    found = math.prod(pairs[t][own] for t, own in zip(span, choice, strict=True))
                    rows.append(row)
                    columns.append(self.variable(place, inside))
                    entries.append(entry * found * scales[columns[-1]])
        answer_parts = (np.array(rows), np.array(columns), frozen(np.array(entries)))
        return replace(shares, counted=self.blocks.plain.cells, answer_parts=answer_parts), scales

    def cost_up(self, noise: Sequence[AxisNoise], variances: Vector) -> float:
        """Return at least μ², the squared distance that one neighbour moves the noisy counts.

        Args:
            noise: of each ordered attribute.
            variances: σ² of each residual orbit, shape (r,); 0 where there is none.

        Examples:
            >>> from lownoise.questions import Marginals
            >>> two = {"age": "prefix", "hours": "prefix"}
            >>> asked = Marginals({"age": 2, "hours": 2}, sets=[["age", "hours"]], ordered=two)
            >>> even = AxisNoise(mean=np.array([0.5]), triangle=np.array([[0.5]]))
            >>> found = product_blocks(asked, public=False)
            >>> round(found.cost_up([even, even], np.ones(4)), 9)  # ±1 on four spaces
            4.0
        """
        shares, scales = reduced(self, [own.extent for own in noise])
        if not np.all(np.isfinite(scales)):
            return math.inf
        return TableChanges(shares, self.blocks.relation).cost_up(variances / scales)


def reduced(products: Products, extent: Sequence[tuple[float, float]]) -> tuple[Orbits, Vector]:
    """Return the orbits with h of each attribute, and Π (κ + γ) of each residual orbit.

    Args:
        products: what is asked.
        extent: κ and −γ of each ordered attribute.
    """
    shares = (1 / products.complete.sizes).astype(np.float64)
    width = np.ones(shares.size)
    for kind, (most, least) in zip(products.kinds, extent, strict=True):
        if not math.isfinite(most) or most <= 0:
            return products.complete, np.full(len(products.complete.residuals), math.inf)
        shares[kind] = -least / (most - least)
        width[kind] = grown(most - least, TINY)
    scales = [math.prod(width[list(orbit)].tolist()) for orbit in products.complete.residuals]
    return replace(products.complete, shares=frozen(shares)), np.array(scales)


def product_blocks(question: Marginals, *, public: bool) -> Products:
    """Return what a question asks of noise that is a product over its ordered attributes.

    Args:
        question: the marginals.
        public: whether the number of records is public.

    Raises:
        PlanError: where an ordered attribute has too many categories, or there are too many
            answers along all of them.

    Examples:
        >>> from lownoise.questions import Marginals
        >>> two = {"age": "prefix", "hours": "prefix"}
        >>> asked = Marginals({"age": 85, "hours": 99, "sex": 2}, way=2, ordered=two)
        >>> [part.shapes for part in product_blocks(asked, public=False).parts]
        [((), (84,), (98,), (84, 98)), ((), (84,), (98,))]
    """
    blocks = split_marginals(question, public=public)
    if max(blocks.sizes, default=0) > MOST_CATEGORIES:
        raise PlanError(
            f"an ordered attribute has {max(blocks.sizes):,} categories; ask for at most "
            f"{MOST_CATEGORIES:,}: declare fewer categories, or do not declare it as ordered",
        )
    own = zip(blocks.orders, blocks.sizes, strict=True)
    along = max((n * answer_count(order, n) for order, n in own), default=0)
    asked = sum(blocks.counts)
    if asked > MOST_ANSWERS or along > _MOST_ENTRIES:
        raise PlanError(
            f"ordered attributes ask for {asked:,} answers along them; declare fewer categories, "
            'or ask for "prefix" in place of "range"',
        )
    return Products(blocks=blocks, complete=marginal_orbits(question))
