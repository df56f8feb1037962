# SPDX-License-Identifier: Apache-2.0
"""What no Gaussian noise on marginals can beat, where ordered attributes have many categories.

The bound is that of `certificate.tables`, for weights that are products over ordered attributes:
of an answer Π c_t times a weight for its marginals, of a record's category Π w_t, Σ w_t = 1. With
R_t = diag(√c_t)·(answers)·diag(√w_t) and e_t = √w_t, a block of unordered attributes adds the
nuclear norm of the matrices ⊗_{t∈B} R_t ⊗_{t∉B} e_tᵀ, weighted and one above another, times the
root of what changes make of M⁻¹. That root has e_t and what is orthogonal to it as its spaces: a
change draws both categories from w_t, equal or, with a share of −h/(1 − h), h = min w_t, different.

The matrix is too large to be written out. On each axis let V hold e_t and a few directions, P as
many among answers. The nuclear norm of a matrix is at least that of its blocks on the diagonal for
any split of its rows and columns, so for Z_t = (I − PPᵀ)R(I − VVᵀ) it is at least

    Σ_S Π_{t∈S} ‖Z_t‖ · ‖the same matrices of PᵀRV and eᵀV on the axes outside S‖   (ours).

Nothing is lost where marginals all have the same ordered attributes, or where V is the whole space.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import LEAST_MASS
from lownoise.certificate.pairing import paired_down
from lownoise.errors import PlanError
from lownoise.numbers.arrays import triangle_of
from lownoise.numbers.norms import conjugate
from lownoise.numbers.rounding import shrunk
from lownoise.sensitivity.residuals import Products, TableChanges
from lownoise.sensitivity.residuals.product import reduced

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.residuals.ordered import Span

_COLUMNS = 256  # of a matrix that is written out
_ORTHONORMAL = 2.0**-38
_SLACK = 2.0**-28  # outward: bases and products are within 2^-38, of up to 256 directions
_CANCELLED = 2.0**-44  # of all that a change moves: what may be left by rounding alone


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class AxisDual:
    """The evidence along one ordered attribute of n categories.

    Args:
        answers: c ≥ 0 on each answer along it, shape (k,).
        chances: w ≥ 0 on each category, shape (n,).
        split: which counts of the attribute go with the total, shape (n,): a hint.
    """

    answers: Vector
    chances: Vector
    split: Vector


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ProductDual:
    """The evidence for a lower bound.

    Args:
        axes: of each ordered attribute.
        cells: c ≥ 0 on an answer of each orbit of marginals, shape (g,); times those of `axes`.
        patterns: which attributes of a record change, by type, shape (k, t); one row of zeros under
            `add_remove`.
        chances: w ≥ 0, shape (k,).
    """

    axes: tuple[AxisDual, ...]
    cells: Vector
    patterns: Integers
    chances: Vector

    def least(
        self, changes: Products, order: float, weights: Vector, embed: Vector | None = None
    ) -> float:
        """Return at most the least ‖ω·deviations‖_p at μ = 1: 0 where nothing is proved.

        Args:
            changes: what the marginals ask.
            order: p in [2, ∞].
            weights: ω of each orbit of marginals, on standard deviations, shape (g,).
            embed: None: counts are asked for themselves.

        Examples:
            >>> from lownoise.sensitivity.residuals import product_blocks
            >>> from lownoise.questions import Marginals
            >>> one = Marginals({"age": 2}, sets=[["age"]], ordered={"age": "prefix"})
            >>> half = np.array([0.5, 0.5])
            >>> even = AxisDual(answers=np.ones(2), chances=half, split=half)
            >>> dual = ProductDual(axes=(even,), cells=np.ones(1), patterns=np.zeros((1, 1), int),
            ...                    chances=np.ones(1))
            >>> found = dual.least(product_blocks(one, public=False), 2.0, np.ones(1))
            >>> round(found**2, 6)  # as `OrderedDual` has it
            2.5
        """
        if not isinstance(changes, Products):
            raise PlanError("ProductDual is evidence for noise that is a product; plan again")
        dual, products = self, changes
        given = [dual.cells, dual.chances, *(v for a in dual.axes for v in (a.answers, a.chances))]
        sound = [np.all(np.isfinite(v) & (v >= 0)) for v in given]
        if not all(sound) or min(np.max(v, initial=0) for v in given) < LEAST_MASS:
            return 0.0
        if not all(np.all(np.isfinite(a.split)) for a in dual.axes):
            return 0.0
        blocks, tops = products.blocks, [float(np.max(own.answers)) for own in dual.axes]
        cells = dual.cells * [math.prod(tops[t] for t in span) for span in blocks.spans]
        if not np.max(cells) >= LEAST_MASS or not np.all(np.isfinite(cells)):
            return 0.0
        cells /= float(np.max(cells))
        many = max(int(_COLUMNS ** (1 / max(len(dual.axes), 1))), 1)
        parts = blocks.answer_parts(tuple(range(len(dual.axes))))
        axes = [_axis(own, rows, many) for own, rows in zip(dual.axes, parts, strict=True)]
        if not all(math.isfinite(axis.rest) for axis in axes):
            return 0.0
        shares = [_share(own.chances) if blocks.public else 0.0 for own in dual.axes]
        orbits, scales = reduced(products, [(1.0, -h / (1 - h)) for h in shares])
        costs = TableChanges(orbits, blocks.relation).costs(dual.patterns) * scales
        paid = (dual.chances / math.fsum(dual.chances)) @ costs
        paid = np.maximum(paid - _CANCELLED * orbits.trace * scales, 0.0)
        found = 0.0
        for place, seen in enumerate(blocks.seen_at):
            asked: dict[Span, float] = {}
            for row, entry in seen:
                own = entry * weights[row] ** 2 * blocks.plain.cells[row] * cells[row]
                asked[blocks.spans[row]] = asked.get(blocks.spans[row], 0.0) + float(own)
            known = {s: float(paid[products.variable(place, s)]) for s in blocks.tops[place]}
            found += _block_down(axes, asked, known)
        found /= math.sqrt(_size(dual, products, cells, conjugate(order)))
        return shrunk(found, _SLACK) if math.isfinite(found) else 0.0


@final
@dataclass(frozen=True, eq=False)
class _Axis:
    """R and e of one axis, in a few directions of which e is the first."""

    kept: Vector  # PᵀRV, shape (m, m)
    rest: float  # at most ‖(I − PPᵀ)R(I − VVᵀ)‖

    @property
    def size(self) -> int:
        return len(self.kept)


def _size(dual: ProductDual, products: Products, cells: Vector, q: float) -> float:
    """Return ‖c‖_q over all answers; those along an axis have 1 as their largest."""
    scaled = [own.answers / float(np.max(own.answers)) for own in dual.axes]
    if math.isinf(q):
        return 1.0
    along = [math.fsum(c**q) for c in scaled]
    blocks = products.blocks
    own = zip(blocks.plain.cells.tolist(), cells.tolist(), blocks.spans, strict=True)
    total = math.fsum(n * c**q * math.prod(along[t] for t in span) for n, c, span in own)
    return float(total ** (1 / q))


def _share(chances: Vector) -> float:
    """Return at most min w, w adding up to 1."""
    return shrunk(float(np.min(chances)) / math.fsum(chances), _SLACK)


def _axis(dual: AxisDual, answers: Vector, many: int) -> _Axis:
    w = dual.chances / math.fsum(dual.chances)
    e = np.sqrt(w)
    rows = np.sqrt(dual.answers / float(np.max(dual.answers)))[:, None] * answers * e
    R = triangle_of(rows) if len(rows) > len(e) else rows  # the same products of columns
    many = min(many, *R.shape)
    left, _, right = np.linalg.svd(R)
    V = _basis(e, right[: many - 1].T)
    P = _basis(R @ (dual.split / np.where(e > 0, e, 1.0)), left[:, : many - 1])
    if V is None or P is None:
        return _Axis(np.zeros((many, many)), math.inf)
    rest = R - P @ (P.T @ R)
    rest -= (rest @ V) @ V.T
    n = len(e)
    lost = _SLACK / 16 * float(np.linalg.norm(R))
    found = paired_down(np.eye(n), np.zeros(n), np.ones(len(rest)), rest, None)
    return _Axis(P.T @ R @ V, max(found - lost, 0.0) if many < n else 0.0)


def _basis(first: Vector, others: Vector) -> Vector | None:
    """Return orthonormal columns of which the first is `first`, up to its length."""
    found, size = np.linalg.qr(np.column_stack([first, others]))
    found[:, 0] *= -1.0 if size[0, 0] < 0 else 1.0
    gram = found.T @ found
    gram[np.diag_indices(len(gram))] -= 1
    sound = float(np.linalg.norm(gram)) < _ORTHONORMAL and np.all(np.isfinite(found))
    return found if sound else None


def _block_down(axes: list[_Axis], answered: dict[Span, float], paid: dict[Span, float]) -> float:
    """Return at most the nuclear norm of one block.

    Args:
        axes: the ordered attributes.
        answered: what weights make of the answers of each ordered set.
        paid: what changes make of M⁻¹ where just the axes of a set are orthogonal to e.
    """
    found = 0.0
    for outside in paid:
        size = math.prod(axes[t].rest for t in outside)
        if not size:
            continue
        inside = [t for t in range(len(axes)) if t not in outside]
        shape = [axes[t].size for t in inside]
        rows = []
        for span, weight in answered.items():
            if not set(outside) <= set(span):
                continue
            row = np.full((1, 1), math.sqrt(weight))
            for t in inside:
                row = np.kron(row, axes[t].kept if t in span else np.eye(1, axes[t].size))
            rows.append(row)
        matrix = np.vstack(rows)
        scale = np.zeros(shape)
        for choice in itertools.product((False, True), repeat=len(inside)):
            off = [t for t, own in zip(inside, choice, strict=True) if own]
            at = tuple(slice(1, None) if own else 0 for own in choice)
            scale[at] = math.sqrt(paid.get(tuple(sorted((*outside, *off))), 0.0))
        matrix = matrix * scale.reshape(-1)
        matrix = matrix[:, np.any(matrix, axis=0)]
        if matrix.size:
            n = matrix.shape[1]
            down = paired_down(np.eye(n), np.zeros(n), np.ones(len(matrix)), matrix, None)
            found += size * down
    return found
