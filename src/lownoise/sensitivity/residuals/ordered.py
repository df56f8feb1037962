# SPDX-License-Identifier: Apache-2.0
"""Residual spaces where some attributes are ordered: a block of them for each unordered set.

Categories of an ordered attribute cannot be exchanged, so on its axis the noise has a covariance
that is to be found. Let A be a set of unordered attributes, and let the marginals that contain A
have the ordered attributes τ₁, τ₂, …. They see the tables over A, centred along each attribute of
A, times the functions on ordered categories that are sums of functions on τ₁, τ₂, …: a space of
dimension r_A. By symmetry of the unordered categories the least noise is independent for different
A, and for each of the centred directions of A it has the same r_A × r_A covariance M_A (ours).

Functions are written in corners: a product over axes of either 1 or the indicator of one category
that is not the last. Those with their indicators on a subset of some τ are a basis, of integers.

What noise on the blocks of ordered attributes reveals of one record, at most.

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

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import SLACK, grown, growth
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.orders import answer_count, answer_rows
from lownoise.sensitivity.relations import ADD_REMOVE, SUBSTITUTE
from lownoise.sensitivity.residuals.cost import PatternCosts
from lownoise.sensitivity.residuals.orbits import Orbits, marginal_orbits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Marginals
    from lownoise.sensitivity.orders import Order
    from lownoise.sensitivity.relations import AbstractWord

MOST_CATEGORIES = 1024  # joint ones, of all ordered attributes
_MOST_ENTRIES = 1 << 25  # of the answers of a block, written out

Span = tuple[int, ...]  # some of the ordered attributes, by their places among them, rising
MOST_PATTERNS = 1 << 16
_CHUNK = 1 << 22  # patterns times pairs that are looked at at once
_FEW = 24  # costly changes that are told, where there are fewer categories
_EACH, _EACH_OF_MANY = 3, 8  # of them with one category
_MANY = 64  # categories, beyond which most pairs may cost alike: more are told, so less often
_COSTLY = 0.5  # of the greatest cost


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """What marginals see of tables over the unordered sets of one orbit.

    Args:
        place: of the orbit among `Blocks.plain.residuals`.
        spans: the sets of ordered attributes whose functions are seen, with all their subsets.
        corners: which products of corners are coordinates, rising, shape (r,).
        sizes: the number of categories of each ordered attribute.
    """

    place: int
    spans: frozenset[Span]
    corners: Integers
    sizes: tuple[int, ...]

    @property
    def length(self) -> int:
        """The number of coordinates r."""
        return int(self.corners.size)

    @cached_property
    def records(self) -> Vector:
        """The coordinates of a record in each joint category, shape (K, r): 0 or 1."""
        found: Vector = np.ones((1, 1))
        for size in self.sizes:
            found = np.asarray(np.kron(found, _corners(size)), np.float64)
        return frozen(np.ascontiguousarray(found[self.corners].T))

    def rows(self, span: Span, parts: Sequence[Vector]) -> tuple[Vector, Vector]:
        """Return sums over cells of `span` by their coordinates, and what they take of the total.

        Args:
            span: the ordered attributes.
            parts: for each of them the cells of each sum, shape (·, n).

        Returns:
            Shape (k, r) and (k,), k the product of how many sums there are along each; the second
            is 0 where the total is a coordinate.
        """
        found: Vector = np.ones((1, 1))
        for axis, size in enumerate(self.sizes):
            if axis in span:
                own = parts[span.index(axis)]
                own = np.hstack([own[:, -1:], own[:, :-1] - own[:, -1:]])
            else:
                own = np.zeros((1, size))
                own[0, 0] = 1.0
            found = np.asarray(np.kron(found, own), np.float64)
        total = np.zeros(len(found)) if 0 in self.corners else found[:, 0]
        return found[:, self.corners], total


def _corners(size: int) -> Vector:
    """Return 1 and the indicators of all categories but the last, shape (n, n)."""
    found = np.zeros((size, size))
    found[0] = 1.0
    found[np.arange(1, size), np.arange(size - 1)] = 1.0
    return found


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Blocks:
    """The blocks of a question, and the answers that see them.

    Args:
        plain: the unordered part of each marginal; its residual orbits number the blocks.
        axes: the ordered attributes with more than one category, as indices of attributes.
        sizes: how many categories each has.
        orders: what is asked along each.
        spans: the ordered part of each orbit of marginals.
        public: whether the number of records is public.
        becoming: whether one becomes another, too, where it is private, or none, category K.
    """

    plain: Orbits
    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    orders: tuple[Order, ...]
    spans: tuple[Span, ...]
    public: bool
    becoming: bool = False

    @property
    def relation(self) -> AbstractWord:
        """Which tables are neighbours."""
        return SUBSTITUTE if self.public else ADD_REMOVE

    @property
    def categories(self) -> int:
        """The number K of joint categories of the ordered attributes."""
        return math.prod(self.sizes)

    @cached_property
    def tops(self) -> dict[int, frozenset[Span]]:
        """For the place of each orbit of unordered sets, the ordered sets that are seen with it."""
        found: defaultdict[int, set[Span]] = defaultdict(set)
        for place, span in {(c, self.spans[r]) for r, c in zip(*self._terms[:2], strict=True)}:
            for count in range(len(span) + 1):
                found[place].update(itertools.combinations(span, count))
        return {place: frozenset(spans) for place, spans in found.items()}

    def moving(self, place: int) -> frozenset[Span]:
        """Return those of `tops` that records can move in: not their number where it is public."""
        constant = {()} if self.public and not self.plain.residuals[place] else set()
        return self.tops.get(place, frozenset()) - constant

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Every block that records can move in."""
        support = [
            tuple(np.flatnonzero(corner).tolist())
            for corner in itertools.product(*[(0, *[1] * (n - 1)) for n in self.sizes])
        ]
        found = []
        for place in range(len(self.plain.residuals)):
            seen = self.moving(place)
            if seen:
                corners = np.array([i for i, s in enumerate(support) if s in seen])
                block = Block(
                    place=place, spans=self.tops[place], corners=corners, sizes=self.sizes
                )
                found.append(block)
        return tuple(found)

    @cached_property
    def _terms(self) -> tuple[list[int], list[int], list[float]]:
        rows, columns, entries = self.plain.variance_terms
        return rows.tolist(), columns.tolist(), entries.tolist()

    def seen(self, block: Block) -> tuple[tuple[int, float], ...]:
        """Return the orbits of marginals that see a block: its place, and what M_A counts there.

        A sum of ordered categories with coordinates l has, in each unordered cell of the marginal,
        the variance Σ_A (what is returned)·lᵀM_A l.
        """
        return self.seen_at[block.place]

    @cached_property
    def seen_at(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """For each residual orbit what `seen` returns of its block."""
        found: list[list[tuple[int, float]]] = [[] for _ in self.plain.residuals]
        for row, column, entry in zip(*self._terms, strict=True):
            found[column].append((row, entry))
        return tuple(map(tuple, found))

    def answer_parts(self, span: Span) -> list[Vector]:
        """Return the cells of each answer along each attribute of a span."""
        return [answer_rows(self.orders[t], self.sizes[t]).astype(np.float64) for t in span]

    def cell_parts(self, span: Span) -> list[Vector]:
        """Return the cells themselves, as `answer_parts` returns answers."""
        return [np.eye(self.sizes[t]) for t in span]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many answers each orbit of marginals has in one unordered cell, shape (g,)."""
        own = [answer_count(o, n) for o, n in zip(self.orders, self.sizes, strict=True)]
        return tuple(math.prod(own[t] for t in span) for span in self.spans)

    @cached_property
    def queries(self) -> tuple[dict[Span, Vector], ...]:
        """For each block and each span that is asked there, the answers' coordinates."""
        shared: dict[tuple[bytes, Span], Vector] = {}  # blocks that see the same have the same
        found = []
        for block in self.blocks:
            own = {}
            for span in sorted({self.spans[row] for row, _ in self.seen(block)}):
                key = (block.corners.tobytes(), span)
                if key not in shared:
                    shared[key] = frozen(block.rows(span, self.answer_parts(span))[0])
                own[span] = shared[key]
            found.append(own)
        return tuple(found)

    def variances(self, factors: Sequence[Vector]) -> list[Vector]:
        """Return the variance of each answer in each orbit of marginals, g arrays of (counts,).

        Args:
            factors: L_A of each block, M_A = L_A·L_Aᵀ, shape (r, r).
        """
        found = [np.zeros(count) for count in self.counts]
        for block, queries, factor in zip(self.blocks, self.queries, factors, strict=True):
            own = {s: np.sum((rows @ factor) ** 2, axis=1) for s, rows in queries.items()}
            for row, entry in self.seen(block):
                found[row] += entry * own[self.spans[row]]
        return found

    def cost_up(self, factors: Sequence[Vector]) -> float:
        """Return at least μ², the squared distance that one neighbour moves the noisy tables.

        Args:
            factors: L_A of each, lower triangles of shape (r, r).

        Examples:
            >>> from lownoise.sensitivity.residuals.ordered import ordered_blocks
            >>> from lownoise.questions import Marginals
            >>> asked = Marginals({"age": 3}, way=1, ordered={"age": "prefix"})
            >>> found = ordered_blocks(asked, public=False)
            >>> round(found.cost_up([2 * np.eye(3)]), 9)  # the total and an indicator: 2/4
            0.5
        """
        if not self.blocks:
            return 0.0  # the number of records alone, which is public
        images = [whitened(b.records, f) for b, f in zip(self.blocks, factors, strict=True)]
        if not all(math.isfinite(off) for _, off in images):
            return math.inf
        trace = self.plain.trace[[b.place for b in self.blocks]]
        doubt = 0.0
        for part, (image, off) in zip(trace.tolist(), images, strict=True):
            longest = grown(float(np.max(np.linalg.norm(image, axis=1))))
            r = image.shape[1]
            doubt += 4 * part * ((2 * longest + off) * off + growth(4 * r + 99) * longest**2)
        total = float(np.max(_alone(trace, images)))
        coming = 0.0 if self.public else grown(total) + doubt
        if not self.public and not self.becoming:
            return coming
        worst = ChangeCosts(self).worst([image for image, _ in images])[2]
        return max(grown(worst) + doubt + 4 * SLACK * total, coming)


def ordered_blocks(question: Marginals, *, public: bool) -> Blocks:
    """Return the blocks of a question with ordered attributes.

    Args:
        question: the marginals.
        public: whether the number of records is public.

    Raises:
        PlanError: where the ordered attributes have too many categories together.

    Examples:
        >>> from lownoise.questions import Marginals
        >>> asked = Marginals({"age": 5, "sex": 2}, way=2, ordered={"age": "prefix"})
        >>> found = ordered_blocks(asked, public=False)
        >>> [(found.plain.residuals[b.place], b.length) for b in found.blocks]
        [((), 5), ((1,), 5)]
    """
    found = split_marginals(question, public=public)
    if found.categories > MOST_CATEGORIES:
        raise PlanError(
            f"ordered attributes have {found.categories:,} categories together; ask for at most "
            f"{MOST_CATEGORIES:,}: declare fewer categories, or fewer attributes as ordered",
        )
    asked = sum(dict(zip(found.spans, found.counts, strict=True)).values())
    if found.categories * asked > _MOST_ENTRIES:
        raise PlanError(
            f"ordered attributes ask for {asked:,} answers along them; declare fewer categories, "
            'or ask for "prefix" in place of "range"',
        )
    return found


def split_marginals(question: Marginals, *, public: bool) -> Blocks:
    """Return the ordered and the unordered parts of a question's marginals, of any size."""
    orbits = marginal_orbits(question)
    axes = tuple(i for i, a in enumerate(question.attributes) if a.ordered and a.size > 1)
    if not axes:  # a copy would compute again what these know of themselves
        spans = ((),) * len(orbits.asked)
        return Blocks(plain=orbits, axes=(), sizes=(), orders=(), spans=spans, public=public)
    sizes = tuple(question.attributes[i].size for i in axes)
    kind = {int(orbits.kinds[i]): t for t, i in enumerate(axes)}
    members = orbits.members.copy()
    members[list(kind)] = 0  # patterns count unordered attributes only
    return Blocks(
        plain=replace(
            orbits,
            members=members,
            asked=tuple(tuple(k for k in o if k not in kind) for o in orbits.asked),
        ),
        axes=axes,
        sizes=sizes,
        orders=tuple(a.ordered for a in (question.attributes[i] for i in axes) if a.ordered),
        spans=tuple(tuple(sorted(kind[k] for k in o if k in kind)) for o in orbits.asked),
        public=public,
    )


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
            images: vectors of shape (K, r) for each block, of products q_A(x, y); 0 is no record.
        """
        x, y = np.triu_indices(K := len(images[0]))
        products = [image @ image.T for image in images]
        alone = sum(t * np.diag(q) for t, q in zip(self.trace, products, strict=True))
        base = (alone + np.zeros(K))[x] + (alone + np.zeros(K))[y]
        crossed = np.stack([q[x, y] for q in products])  # blocks by pairs
        extent = base + 2 * self.trace @ np.abs(crossed)
        order = np.argsort(-extent, kind="stable")
        agreeing = self.agreeing(self.patterns)
        step = max(_CHUNK // len(self.patterns), 1)
        values, worst = np.full(order.size, -np.inf), np.zeros(order.size, dtype=np.int64)
        highest = -np.inf
        for start in range(0, order.size, step):
            pairs = order[start : start + step]
            if extent[pairs[0]] <= highest:
                break  # no pair that is left can cost more
            costs = base[pairs] - 2 * (agreeing @ crossed[:, pairs])
            worst[pairs] = np.argmax(costs, axis=0)
            values[pairs] = costs[worst[pairs], np.arange(pairs.size)]
            highest = max(highest, float(np.max(values[pairs])))
        # a few of each category, so that those chosen are not all alike
        chosen: list[int] = []
        seen = np.zeros(K, dtype=np.int64)
        most, each = (max(K, _FEW), _EACH) if K <= _MANY else (2 * K, _EACH_OF_MANY)
        for j in np.argsort(-values, kind="stable").tolist():
            if len(chosen) >= most or not values[j] > _COSTLY * highest:
                break
            if min(seen[x[j]], seen[y[j]]) < each:
                seen[[x[j], y[j]]] += 1
                chosen.append(j)
        pairs = np.stack([x[chosen], y[chosen]], axis=1).astype(np.int64)
        return self.patterns[worst[chosen]], pairs, highest
