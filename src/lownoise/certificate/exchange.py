# SPDX-License-Identifier: Apache-2.0
"""What no noise is below that hides which rows a unit has, from evidence on differences alone.

The changes are L − L, L the hull of 0 and of all (x − v, 1), x in K: (x − x', 0) and ±(x − v, 1).
Noise on sums that covers the former is at least Γ large, the least for K − K, and the count's has
at least the variance 1.

Where K is symmetric about v (ours): (s, t) ↦ (−s, t) leaves the changes as they are. So of noise
N that covers them the mean with its image covers them too, and its error is no larger: sums and
count are independent, of covariances N₁ and c. Let r be the greatest ‖N₁^{−½}(x − v)‖. As 4r²·N₁
covers K − K, the sums' error is at least Γ/(2r), and r² + 1/c ≤ 1. So the error is at least

    min over 0 < u ≤ 1/4 of ‖(Γ/(2√u), ω/√(1 − u))‖_p,

whose p-th power is convex in u. Noise of the least shape for K − K attains each of them.

That is of sums about v. Sums about another point are those and v − u counts, and a deviation of
theirs is less by |v − u| deviations of the count at most. So with E the error about v, of which the
count is E/ω at most, no error is below E/(1 + ‖ω·(v − u)‖_p/ω): correlated noise may be that good.

What no Gaussian noise on sums by groups can beat, where a record becomes another.

Changes are e_g ⊗ x − e_g' ⊗ x'. Three measures are mixed: of a record that keeps its group and
takes other values, whose x − x' has the second moment E; and of one that keeps its values, whose x
has C, and takes another group, any of them or one that differs in all attributes. On the residual
space of A the first has tr_A·E, tr_A = Π (1 − 1/nᵢ), and the others κ_A·C, κ_A what tables of
counts cost of such a change, 0 on that of all rows. For query weights c of the groups and columns,
with b_A what they have of the noise on A, column by column, and G_A = Lᵀ diag(b_A) L,

    Γ_p ≥ Σ_A tr (G_A^{1/2} M_A G_A^{1/2})^{1/2} / √‖c‖_q,    M_A = λ₀·tr_A·E + κ_A·C,

κ_A with the shares λ₁ and λ₂ of the others (duality as in `certificate.groups`; ours). Any shares
that add up to 1 prove it, and any c: the best of some are taken.

Of means x is (z, 1), and there is a fourth: g' is another group, any of them evenly, and z and z'
are independent, of a law with the mean m and the covariance V. Over all pairs of groups, N² of
them, mixed terms vanish on A ≠ ∅, and over those that are one they are −2·tr_A·(m, 1)(m, 1)ᵀ. So
over the others they are 2·tr_A·(m, 1)(m, 1)ᵀ/(N − 1), beside 2·tr_A·C; on all rows it has 2V, and
no count changes there.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import LEAST_MASS, Moments
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.numbers.rounding import FEW, LAST, growth, shrunk
from lownoise.sensitivity.residuals.cost import costs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.certificate.evidence import AbstractDual
    from lownoise.certificate.tables import ResidualDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.residuals import Orbits
    from lownoise.sets.bodies import AbstractBody

_QUARTER = 0.25  # r² where noise on sums is the least for K − K, and no more


def coming_share(least: float, weight: float, order: float) -> float:
    """Return u, the part of μ² that a row which comes spends on sums about v, for the least error.

    Args:
        least: Γ > 0, of the least noise for K − K at μ = 1, K symmetric about v.
        weight: ω > 0 on the count.
        order: p.

    Examples:
        >>> coming_share(2.0, 1.0, 2.0), round(coming_share(2.0, 6.0, 2.0), 6)
        (0.25, 0.142857)
    """
    power = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    with np.errstate(over="ignore"):
        ratio = float(np.power(2 * weight / least, power)) if least else math.inf
    return min(_QUARTER, 1 / (1 + ratio))


def exchanged_least(least: float, weight: float, order: float, away: float | None) -> float:
    """Return at most the least ‖(ω·deviations of sums, ω·that of the count)‖_p at μ = 1.

    Args:
        least: Γ: at most that of sums, of noise that covers K − K alone.
        weight: ω on the count.
        order: p.
        away: at least ‖ω·(v − u)‖_p, K symmetric about v and sums about u; None where it is not.

    Examples:
        >>> round(exchanged_least(2.0, 1.0, 2.0, 0.0), 6)  # √(4 + 4/3)
        2.309401
        >>> round(exchanged_least(2.0, 1.0, 2.0, None), 6)  # √(4 + 1)
        2.236068
    """
    found = _size([least, weight], order)
    if away is None or not (least > 0 and weight > 0):
        return found
    u = coming_share(least, weight, order)
    about = _size([least / (2 * math.sqrt(u)), weight / math.sqrt(1 - u)], order)
    return max(found, shrunk(shrunk(about / (1 + away / weight))))


def _size(both: list[float], order: float) -> float:
    found = shrunk(order_norm(np.array(both), order))
    return shrunk(found) if math.isfinite(found) else 0.0


_ROUNDS, _NARROWER = 10, 0.6
_SHARES = {2: 3, 4: 4}  # measures that are mixed, by how many moments they have
_MANY = 40_000  # entries of both measures on all spaces, beyond which few shares are tried
_ORDERS = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0]  # in place of ∞


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class TotalsBound:
    """What is proved of totals by groups where a record becomes another.

    Args:
        tables: the evidence on which groups there are; its query weights are taken.
        orbits: the groups.
        order: p in [2, ∞].
        weights: ω of each orbit of marginals, on standard deviations.
        values: a measure on what a record adds, and its body.
        apart: a measure on differences of two records, and their body.
        single: of means, the moments of z in `values` about their mean; else None.
    """

    tables: ResidualDual
    orbits: Orbits
    order: float
    weights: Vector
    values: tuple[AbstractDual, AbstractBody]
    apart: tuple[AbstractDual, AbstractBody]
    single: Moments | None = None

    def least(self, matters: Vector, embed: Vector | None, errors: Vector) -> float:
        """Return at most the least weighted error at μ = 1; 0 where nothing is proved.

        Args:
            matters: ω of the columns, on standard deviations, shape (m,).
            embed: the totals from what is summed; None for themselves.
            errors: about what the noise errs by, from which query weights follow, shape (g, m).
        """
        measures = [dual.moments(body) for dual, body in (self.apart, self.values)]
        if self.single is not None:  # no count changes where a record keeps its group
            one, mean = self.single, np.append(self.single.mean, 1.0)
            off = growth(9) * np.sum(np.abs(one.rows), axis=0) + 3 * one.off
            apart = Moments(math.sqrt(2) * one.rows, np.zeros(off.size), off)
            both = [
                Moments(np.pad(m.rows, ((0, 0), (0, 1))), mean, np.append(m.off, 0.0))
                for m in (measures[0], apart)
            ]
            alone = Moments(mean[None], mean, np.append(one.off, 0.0))
            measures = [both[0], measures[1], both[1], alone]
        every = [own for c in self._queries(errors) if (own := self._seen(c)) is not None]
        mixtures = [_Mixed(measures, self._costs, np.sqrt(own) * matters, embed) for own in every]
        shares = [own.best() for own in mixtures]
        about = [own.about(at) for own, at in zip(mixtures, shares, strict=True)]
        if not about:
            return 0.0
        place = int(np.argmax(about))
        return mixtures[place].proved(shares[place])

    def _queries(self, errors: Vector) -> list[Vector]:
        """Return query weights: products of those at hand, and those of the noise; (g, m) each."""
        cells = self.tables.cells[:, None]
        found = [cells * self.values[0].query_weights]
        alone = self.apart[0].query_weights
        found.append(cells * (alone if self.single is None else np.append(alone, 0.0)))
        orders = _ORDERS if math.isinf(self.order) else [self.order]
        most = float(np.max(errors, initial=0.0))
        if 0 < most < math.inf:
            found += [(errors / most) ** (p - 2) for p in orders]
        if self.single is not None and () in self.orbits.asked:  # that count has no noise
            for own in found:
                own[self.orbits.asked.index(()), -1] = 0.0
        return found

    def _seen(self, queries: Vector) -> Vector | None:
        """Return b_A of every column for weights of norm 1, shape (r, m); None where they are 0."""
        orbits, most = self.orbits, float(np.max(queries, initial=0.0))
        sound = bool(np.all((queries >= 0) & (queries < math.inf)))
        if not (sound and most >= LEAST_MASS):
            return None
        c = queries / most
        size = order_norm(c.reshape(-1), conjugate(self.order), np.repeat(orbits.cells, c.shape[1]))
        rows, columns, entries = orbits.variance_terms
        found = np.zeros((len(orbits.residuals), c.shape[1]))
        each = (np.square(self.weights) * orbits.cells)[:, None] * c
        np.add.at(found, columns, entries[:, None] * each[rows])
        return np.asarray(shrunk(1.0) * found / size)

    @property
    def _costs(self) -> Vector:
        """Return tr_A, and κ_A of another group, and of one that differs in all, shape (3, r)."""
        orbits, trace = self.orbits, self.orbits.trace
        sizes = zip(orbits.sizes.tolist(), orbits.members.tolist(), strict=True)
        groups = math.prod(n**k for n, k in sizes)
        any_other = 2 * trace * (groups / max(groups - 1, 1))
        every = np.maximum(costs_of(orbits).at(orbits.members[None])[0], 0.0)
        any_other[0] = every[0] = 0.0
        found = [trace, any_other, every]
        if self.single is not None:  # of values drawn anew, and what they have in common
            drawn = 2 * trace * (np.arange(trace.size) > 0)
            found += [drawn, drawn / max(groups - 1, 1), np.arange(trace.size) == 0]
        return np.asarray(shrunk(np.vstack(found)))


@final
@dataclass(frozen=True, eq=False)
class _Mixed:
    """What shares of three measures prove, for given query weights.

    Args:
        measures: of x − x', and of x; of means 2V and the mean beside.
        costs: what their second moments are multiplied by, a row a measure that is drawn, shape
            (3, r): that of x in all but the first. Of means a row more for x, and what the mean and
            2V have there.
        asked: √b_A·ω, shape (r, m).
        embed: the totals from what is summed, or None.
    """

    measures: list[Moments]
    costs: Vector
    asked: Vector
    embed: Vector | None

    @cached_property
    def _rows(self) -> list[Vector]:
        return [m.rows if self.embed is None else m.rows @ self.embed.T for m in self.measures]

    def _parts(self, at: Vector) -> Iterator[tuple[Vector, list[float]]]:
        """Yield √b_A·ω and the roots of what the moments are multiplied by."""
        left = np.cumprod(np.append(1.0, 1 - at))
        shares = shrunk(left * np.append(at, 1.0), FEW)
        size, costs = shares.size, self.costs
        found = [shares[0] * costs[0], shares[1:] @ costs[1:size]]
        if len(costs) > size:
            found += [shares[-1] * costs[-1], shares[-1] * costs[-2]]
        for asked, own in zip(self.asked, shrunk(np.sqrt(found).T, LAST), strict=True):
            if np.any(asked) and np.any(own):
                yield asked, own.tolist()

    def about(self, at: Vector) -> float:
        """Return nearly what shares prove: that of the first, and of the second in the rest."""
        total = 0.0
        for asked, own in self._parts(at):
            rows = np.vstack([r * k for r, k in zip(self._rows, own, strict=True) if k])
            total += float(np.linalg.norm(rows * asked, "nuc"))
        return total

    def proved(self, at: Vector) -> float:
        """Return at most what shares prove."""
        total = []
        for asked, own in self._parts(at):
            found = np.vstack([m.rows * k for m, k in zip(self.measures, own, strict=True)])
            off = growth(9) * np.sum(np.abs(found), axis=0)
            off += 2 * sum(m.off * k for m, k in zip(self.measures, own, strict=True))
            total.append(Moments(found, np.zeros(off.size), off).paired(asked, self.embed, None))
        return float(shrunk(math.fsum(total)))

    def best(self) -> Vector:
        """Return about the best shares."""
        best, width = np.full(_SHARES[len(self.measures)] - 1, 0.5), 0.5
        few = sum(r.size for r in self._rows) * len(self.asked) > _MANY
        for _ in range(1 if few else _ROUNDS):
            axes = [np.clip([x - width, x, x + width], 0, 1) for x in best.tolist()]
            best = max(map(np.array, itertools.product(*axes)), key=self.about)
            width *= _NARROWER
        return best
