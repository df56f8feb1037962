# SPDX-License-Identifier: Apache-2.0
"""What no Gaussian noise on means by groups can beat: a product of two bounds.

Let Γ_p(S; L) be the least ‖L-answers' deviations‖_p of Gaussian noise that covers S at μ = 1. It is
the greatest of tr (G^{1/2} C G^{1/2})^{1/2}, G = Lᵀ diag(c) L, over c ≥ 0 with ‖c‖_q ≤ 1 and second
moments C of measures on S (see `certificate.evidence`, and 002, Theorem 26 and Lemma 67). Take
such c and C for the tables, whose records are e_g, and for the values y. Then c ⊗ c' has norm 1,
the second moment of e_g ⊗ y with g and y independent is C ⊗ C', and G ⊗ G' goes with them, so that

    Γ_p(tables ⊗ values) ≥ tr (G^{1/2} C G^{1/2})^{1/2} · tr (G'^{1/2} C' G'^{1/2})^{1/2},

whose greatest is Γ_p(tables)·Γ_p(values). The product of both least noises has exactly that error:
the deviations of cell b's answer j are those of b times those of j, and e_g ⊗ y is as long as e_g
times y. So where both are the least, the product is the least of all, for every p (ours; checked
against the general solver in the tests).

Where one record becomes another, changes are e_g ⊗ y − e_g' ⊗ y', y = (z, 1). With g and g' drawn
evenly and independently, and y and y' each with the second moment C', they have on every residual
space but that of all rows twice the second moment of e_g ⊗ y: the mixed terms vanish. There the
bound is √2 times what it was, and for all rows, whose number does not change, it is left out.

More is known of values that are symmetric about zero. C' without its mixed terms proves no less, so
of what it proves, F' = tr (G'^{1/2} C' G'^{1/2})^{1/2}, sums have at least P = F' − R, R = ω√c' of
the count. Let a part λ of the measure be as said, with y' = (−z, 1), and the rest change z to −z
within g; let the count have κ times its query weight. Sums then have the second moment (4 − 2λ)C'
on every space and 4C' on that of all rows, counts 2λ and 0, so that for all λ in [0, 1] and κ ≥ 0

    Γ_p ≥ ((√(4 − 2λ)·P + √(2λκ)·R)·(F_tables − F_all) + 2P·F_all) / √‖c ⊗ c'‖_q,

F_all the part of the tables' bound that is of all rows; the count of all rows, which has no noise,
may be given no query weight in the norm (ours). At p = 2 and where P = R that is λ = κ = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import LEAST_MASS, Moments
from lownoise.certificate.measures import CornerDual, PointDual
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.numbers.rounding import grown, growth, shrunk

if TYPE_CHECKING:
    from lownoise.certificate.evidence import AbstractDual
    from lownoise.certificate.tables import ResidualDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.residuals import TableChanges
    from lownoise.sets.bodies import AbstractBody

_TINY = 2.0**-50
_FEW = 1e-3
_MOST = 4.0  # times the query weight of the count
_GRID, _ROUNDS = 7, 8
_MANY = 40_000  # entries of differences, beyond which nothing is sought
Proved = Callable[[float, float], tuple[float, float]]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GroupDual:
    """The evidence for a lower bound.

    Args:
        values: on what a record changes in one group.
        plain: the same for weights of one on the columns, of Gaussian noise.
        tables: on which groups there are.
        apart: of totals, on differences of two records, where one becomes another.
    """

    values: AbstractDual
    plain: AbstractDual | None
    tables: ResidualDual
    apart: AbstractDual | None = None


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """Two values z and z' that are drawn together, and one of them, drawn evenly.

    Args:
        single: the moments of the one about its mean.
        differences: rows whose squares add up to the second moment of z − z', shape (n, d).
    """

    single: Moments
    differences: Vector


def single_of(dual: AbstractDual, body: AbstractBody) -> Moments:
    """Return the moments of z about its mean, from a measure on (z, 1) and the opposites."""
    if not isinstance(dual, CornerDual):
        return dual.moments(body, counted=True)
    rows = np.asarray(dual.moments(body).rows[:-1, :-1])  # signs are independent
    return Moments(rows, np.zeros(len(rows)), np.zeros(len(rows)))


def pairs_of(dual: AbstractDual, body: AbstractBody, middle: Vector | None) -> Pairs:
    """Return pairs of values from evidence on what a record changes, and its count.

    Of a list two different ones, from its weights; else, where values are symmetric about a point,
    opposite ones; else independent ones.

    Args:
        dual: a measure on (z, 1) and the opposites.
        body: all of these.
        middle: the point that values are symmetric about, shape (d,); None where there is none.
    """
    own = single_of(dual, body)
    if middle is not None:
        rows = np.vstack([own.rows, own.mean - middle])
        return Pairs(Moments(rows, middle, 2 * own.off), 2 * rows)
    if isinstance(dual, PointDual) and not dual.independent:
        w = dual.vertex_weights / np.sum(dual.vertex_weights)
        left = float(1 - w @ w)
        if left > _FEW:
            single: AbstractDual = replace(dual, vertex_weights=w * (1 - w) / left)
            rows = shrunk(math.sqrt(2 / left)) * own.rows
            one = single.moments(body, counted=True)
            return Pairs(Moments(one.rows, one.mean, np.maximum(one.off, own.off)), rows)
    return Pairs(own, math.sqrt(2) * own.rows)


def _nuclear(rows: Vector, asked: Vector, embed: Vector | None) -> float:
    """Return about the nuclear norm of rows·Lᵀ·diag(asked)."""
    own = rows * asked if embed is None else rows @ (asked[:, None] * embed).T
    return float(np.linalg.norm(own, "nuc"))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SubstituteBound:
    """What is proved where one record becomes another.

    Args:
        tables: the evidence on which groups there are.
        changes: what a record that comes or goes changes in tables of counts.
        order: p in [2, ∞].
        weights: ω of each orbit of marginals, on standard deviations.
    """

    tables: ResidualDual
    changes: TableChanges
    order: float
    weights: Vector

    def least(self, own: float, all_rows: float = 0.0) -> float:
        """Return what is proved from what is of the values, where nothing is known of these.

        Args:
            own: what is proved of one group.
            all_rows: what is of all rows, beside 1 of each other part.
        """
        least = self.tables.least(self.changes, self.order, self.weights, all_rows=all_rows)
        return math.sqrt(2) * own * least * (1 - _TINY)

    def of_values(
        self,
        own: float,
        dual: AbstractDual,
        weights: Vector,
        body: AbstractBody,
        embed: Vector | None,
        middle: Vector | None,
    ) -> float:
        """Return what is proved from what is of one group, and with what evidence.

        Args:
            own: what is proved of one group.
            dual: the evidence that does, whose last answer is the count.
            weights: ω of sums and the count.
            body: what one value changes that comes or goes.
            embed: as of `paired`.
            middle: where the values are symmetric about, beside the center; None: nowhere.
        """
        apart = embed is None or not (np.any(embed[:-1, -1]) or np.any(embed[-1, :-1]))
        if apart and middle is not None and not np.any(middle):
            return self.symmetric(own, dual, float(weights[-1]))
        return self.paired(dual, pairs_of(dual, body, middle), weights, embed)

    def symmetric(self, own: float, dual: AbstractDual, weight: float) -> float:
        """Return what is proved where values are symmetric about the center.

        Args:
            own: what is proved of one group.
            dual: the evidence that does, whose last answer is the count.
            weight: ω of the count.
        """
        size = order_norm(dual.query_weights, conjugate(self.order))
        if not (own > 0 and size >= LEAST_MASS):
            return 0.0
        count = weight * math.sqrt(float(dual.query_weights[-1]) / size)
        sums = shrunk(own - grown(count))
        if sums <= 0:
            return self.least(own)
        root = math.sqrt(size)

        def proved(share: float, times: float) -> tuple[float, float]:
            along = math.sqrt(4 - 2 * share) * sums + math.sqrt(2 * share * times) * count
            return along * root, 2 * sums * root

        return self._best(dual, proved, proved)

    def paired(
        self, dual: AbstractDual, pairs: Pairs, weights: Vector, embed: Vector | None
    ) -> float:
        """Return what is proved by pairs of values that are drawn together.

        Args:
            dual: whose query weights are taken; the last answer is the count.
            pairs: of values.
            weights: ω of sums and the count.
            embed: sums and the count from what is summed, the count last; None for themselves.
        """
        alone = None if embed is None else embed[:-1, :-1]

        def asked(times: float) -> Vector:
            own = np.sqrt(dual.query_weights) * weights
            own[-1] *= math.sqrt(times)
            return own

        def rows(share: float) -> Vector:
            own = pairs.single
            return np.vstack(
                [
                    np.pad(math.sqrt(1 - share) * pairs.differences, ((0, 0), (0, 1))),
                    np.pad(math.sqrt(2 * share) * own.rows, ((0, 0), (0, 1))),
                    math.sqrt(2 * share) * np.append(own.mean, 1.0),
                ]
            )

        def near(share: float, times: float) -> tuple[float, float]:
            own = asked(times)
            return _nuclear(rows(share), own, embed), _nuclear(pairs.differences, own[:-1], alone)

        def proved(share: float, times: float) -> tuple[float, float]:
            found = rows(share)
            off = growth(9) * np.sum(np.abs(found), axis=0)
            off[:-1] += 3 * pairs.single.off
            every = Moments(found, np.zeros(off.size), off).paired(asked(times), embed, None)
            off = growth(9) * np.sum(np.abs(pairs.differences), axis=0) + 3 * pairs.single.off
            sums = Moments(pairs.differences, np.zeros(off.size), off)
            return every, sums.paired(asked(times)[:-1], alone, None)

        return self._best(dual, near if pairs.differences.size <= _MANY else None, proved)

    def _best(self, dual: AbstractDual, near: Proved | None, proved: Proved) -> float:
        """Return what the best λ and κ prove, any of which prove what they do.

        Args:
            dual: whose query weights are taken.
            near: about what they prove of the values, in groups and in all rows; None for 1, 1.
            proved: at most that.
        """
        q, c = conjugate(self.order), dual.query_weights
        rest, count = (order_norm(own, q) for own in (c[:-1], c[-1:]))
        part, whole = (self.least(1.0, all_rows=k) for k in (0.0, 1.0))

        def norm(times: float) -> float:
            return math.sqrt(order_norm(np.array([rest, count * times * self._kept]), q))

        def error(at: Vector) -> float:
            assert near is not None  # noqa: S101 (asked below)
            along, sums = near(*at.tolist())
            return (along * part + sums * max(whole - part, 0.0)) / norm(float(at[1]))

        best, low, high = np.ones(2), np.zeros(2), np.array([1.0, _MOST])
        for _ in range(_ROUNDS if near is not None else 0):
            axes = [np.linspace(a, b, _GRID) for a, b in zip(low, high, strict=True)]
            tried = [best, *np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)]
            best = max(tried, key=error)
            width = (high - low) / (_GRID - 1)
            low, high = np.maximum(best - width, 0.0), np.minimum(best + width, [1.0, _MOST])
        along, sums = proved(*best.tolist())
        size = grown(norm(float(best[1])))
        if not (along > 0 and size**2 >= LEAST_MASS):
            return 0.0
        return shrunk(self.least(along / math.sqrt(2), sums / along) / size)

    @property
    def _kept(self) -> float:
        """The part of the count's norm that is left without the count of all rows."""
        orbits, q = self.changes.orbits, conjugate(self.order)
        if math.isinf(q) or () not in orbits.asked:
            return 1.0
        cells = self.tables.cells / float(np.max(self.tables.cells))
        parts = cells**q * orbits.cells
        one = float(parts[orbits.asked.index(())] / np.sum(parts))
        return float(grown(max(1 - one, 0.0)) ** (1 / q))
