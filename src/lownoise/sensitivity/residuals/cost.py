# SPDX-License-Identifier: Apache-2.0
"""What noise on the residual spaces reveals of one record, at most.

A record x adds to the space of A a table of squared length Π_{i∈A} (1 − 1/nᵢ), whatever x is: a
record that comes or goes is told with μ² = Σ_A Π (1 − 1/nᵢ)/σ_A². Where one record becomes another,
the two tables have the product Π_{i∈A} (δᵢ − 1/nᵢ), δᵢ = 1 where both agree in attribute i and else
0, so that

    μ² = max over δ of Σ_A (2/σ_A²)·[Π_{i∈A} (1 − 1/nᵢ) − Π_{i∈A} (δᵢ − 1/nᵢ)].

Only how many attributes of each type differ matters: a *pattern*. All patterns are looked at where
that is quick. Else they are bounded by a relaxation (see `relaxed`), or, where a set has more than
three attributes, by parts, the most promising first, and what was not looked at from above.

What independent noise on parities reveals of one record, at most.

A record adds ±1 to every parity: one that comes or goes is told with μ² = Σ_S 1/τ_S². Where one
record becomes another that differs in d bits, the parities of the sets with an odd number of these
bits change by 2, and no others: with one variance τ_k² for all sets of k bits,

    μ² = max over d of Σ_k 4·odd(k, d)/τ_k²,   odd(k, d) = Σ_{j odd} C(d, j)·C(D − d, k − j).

The least noise has this form: averaging a covariance over the 2^D flips of bits (which change only
signs of parities) leaves it diagonal, and averaging over the orders of bits leaves one variance a
degree; both keep privacy and errors (ours).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import SLACK, grown
from lownoise.sensitivity.relations import word_of
from lownoise.sensitivity.residuals.relaxed import relaxed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.residuals.orbits import Orbits

_WHOLE = 2**22  # patterns: so many are all looked at
_FEW = 12  # costly patterns that are told
_PARTS = 3 * 10**7  # bounds times residual orbits
_LOOSE = 0.02  # above it a relaxation's bound is compared with that of parts


@final
@dataclass(frozen=True, eq=False)
class TableChanges:
    """What one record changes in tables of counts.

    Args:
        orbits: the residual spaces.
        relation: "substitute" or "add_remove".
        exchanged: whether one becomes another, too, where the number of records is private; the
            pattern without a difference is then that of one which comes or goes.
    """

    orbits: Orbits
    relation: str
    exchanged: bool = False

    @cached_property
    def counted(self) -> bool:
        """Whether records come and go alone: then one record has one pattern.

        Raises:
            PlanError: where no relation is called that.
        """
        return word_of(self.relation).counted and not self.exchanged

    def costs(self, patterns: Integers) -> Vector:
        """Return what σ_A⁻² is multiplied by in μ², for each pattern and residual orbit, (k, r).

        Args:
            patterns: how many attributes of each type differ, shape (k, t); not looked at under
                `add_remove`, where there is one row.
        """
        if self.counted:
            return self.orbits.trace[None, :]
        found = np.maximum(costs_of(self.orbits).at(patterns), 0.0)
        if self.exchanged:
            found[~np.any(patterns, axis=1)] = self.orbits.trace
        return found

    def cost_up(self, variances: Vector) -> float:
        """Return at least μ², the squared distance that one neighbour moves the noisy tables.

        Args:
            variances: σ² of each residual orbit, shape (r,), 0 where there is no noise.
        """
        if self.exchanged:
            both = (TableChanges(self.orbits, word) for word in ("add_remove", "substitute"))
            return max(own.cost_up(variances) for own in both)
        if self.counted:
            return grown(_quotients(self.orbits.trace, variances))
        costs = costs_of(self.orbits)
        moving = costs.most > 0  # the number of records does not move
        with np.errstate(divide="ignore"):
            rates = np.where(moving, 1 / variances, 0.0)
        if not np.all(np.isfinite(rates)):
            return math.inf
        _, bound = costs.worst(rates)
        return grown(bound) + SLACK * float(np.sum(rates * costs.most))


def _quotients(amounts: Vector, variances: Vector) -> float:
    with np.errstate(divide="ignore"):
        return float(np.sum(amounts / variances))


@lru_cache(maxsize=4)
def costs_of(orbits: Orbits) -> PatternCosts:
    """Return the costs of patterns, with what was computed of them before."""
    return PatternCosts(orbits)


@final
@dataclass(frozen=True, eq=False)
class PatternCosts:
    """The costs of patterns under `substitute`."""

    orbits: Orbits

    @cached_property
    def tables(self) -> list[Vector]:
        """For each type and k, d: the sum over k-sets of its attributes of Π (δᵢ − h).

        Shape (most attributes of the type in an orbit + 1, members + 1): d of the members differ.
        """
        deepest: Counter[int] = Counter()
        for orbit in self.orbits.residuals:
            for kind, count in Counter(orbit).items():
                deepest[kind] = max(deepest[kind], count)
        found = []
        shares = self.orbits.products.tolist()
        for kind, (h, m) in enumerate(zip(shares, self.orbits.members.tolist(), strict=True)):
            differ, agree = -h, 1 - h
            table = np.zeros((deepest[kind] + 1, m + 1))
            for k in range(deepest[kind] + 1):
                for d in range(m + 1):
                    table[k, d] = sum(
                        math.comb(d, j) * differ**j * math.comb(m - d, k - j) * agree ** (k - j)
                        for j in range(max(0, k - (m - d)), min(k, d) + 1)
                    )
            found.append(table)
        return found

    @cached_property
    def factors(self) -> list[list[tuple[int, int]]]:
        """For each residual orbit its types and how often each occurs."""
        return [sorted(Counter(orbit).items()) for orbit in self.orbits.residuals]

    @cached_property
    def most(self) -> Vector:
        """What no pattern's cost exceeds in size, shape (r,): 0 for the number of records."""
        return np.where([len(f) > 0 for f in self.factors], 4 * self.orbits.trace, 0.0)

    def at(self, patterns: Integers) -> Vector:
        """Return the costs of patterns, shape (k, r)."""
        agreeing = np.ones((len(patterns), len(self.factors)))
        for place, pattern in enumerate(patterns.tolist()):
            parts = [table[:, d] for table, d in zip(self.tables, pattern, strict=True)]
            each = np.concatenate([*parts, [1.0]])  # the last one pads short orbits
            for column in self._rows:
                agreeing[place] *= each[column]
        return 2 * (self.orbits.trace - agreeing)

    @cached_property
    def _rows(self) -> Integers:
        """Where each factor's row stands among the rows of all tables, shape (most factors, r)."""
        starts = np.cumsum([0, *(len(table) for table in self.tables)]).tolist()
        most = max((len(f) for f in self.factors), default=0)
        found = np.full((most, len(self.factors)), starts[-1])
        for place, factors in enumerate(self.factors):
            for j, (kind, count) in enumerate(factors):
                found[j, place] = starts[kind] + count
        return found

    def worst(self, rates: Vector) -> tuple[Integers, float]:
        """Return costly patterns, the costliest first, and a number that no pattern exceeds.

        Args:
            rates: σ⁻² of each residual orbit, shape (r,).
        """
        kept = np.where(self.most > 0, rates, 0.0)
        if math.prod(int(m) + 1 for m in self.orbits.members) <= _WHOLE:
            return self._all(kept)
        loose = relaxed(self.orbits)
        if loose is None:
            return self._branches(kept)
        found = loose.search(kept)
        # at the least noise many patterns cost the same: start between them
        least = loose.least(kept, np.mean(found[:_FEW], axis=0))
        patterns = np.array([loose.pattern(agree) for agree in found[:_FEW]])
        bound = 2 * (float(np.sum(kept * self.orbits.trace)) - least)
        if bound > float(self.at(patterns[:1])[0] @ kept) * (1 + _LOOSE):
            bound = min(bound, self._branches(kept, _PARTS // 10)[1])
        return patterns, _coarse_up(bound)

    def costly(self, rates: Vector) -> Integers:
        """Return costly patterns, the costliest that was found first: `worst` without its bound."""
        if math.prod(int(m) + 1 for m in self.orbits.members) > _WHOLE:
            loose = relaxed(self.orbits)
            if loose is not None:
                kept = np.where(self.most > 0, rates, 0.0)
                return np.array([loose.pattern(agree) for agree in loose.search(kept)[:_FEW]])
        return self.worst(rates)[0]

    def _all(self, rates: Vector) -> tuple[Integers, float]:
        """Evaluate Σ_A σ_A⁻² Π (δᵢ − 1/nᵢ) for all patterns at once, one axis a type."""
        values = np.zeros([len(table) for table in self.tables])
        for rate, factors in zip(rates.tolist(), self.factors, strict=True):
            place = [0] * values.ndim
            for kind, count in factors:
                place[kind] = count
            values[tuple(place)] = rate
        for table in self.tables:  # each product moves its axis to the end
            values = np.tensordot(values, table, axes=(0, 0))
        flat = values.reshape(-1)
        low = np.argpartition(flat, _FEW)[:_FEW] if flat.size > _FEW else np.arange(flat.size)
        low = low[np.argsort(flat[low], kind="stable")]
        patterns = np.stack(np.unravel_index(low, values.shape), axis=1).astype(np.int64)
        return patterns, 2 * (float(np.sum(rates * self.orbits.trace)) - float(flat[low[0]]))

    def _branches(self, rates: Vector, parts: int | None = None) -> tuple[Integers, float]:
        """Fix the number of differing attributes type by type, the most promising branch first."""
        types = np.argsort(self.orbits.sizes, kind="stable").tolist()
        r = len(self.factors)
        occurs = np.zeros((len(types), r), dtype=np.int64)
        for place, factors in enumerate(self.factors):
            for kind, count in factors:
                occurs[kind, place] = count
        # what the types not yet fixed can multiply by, from the last one on
        low, high = [np.ones(r)], [np.ones(r)]
        for kind in reversed(types):
            table = self.tables[kind]
            ends = np.stack([table.min(axis=1), table.max(axis=1)])[:, occurs[kind]]
            corners = np.stack(
                [ends[0] * low[-1], ends[0] * high[-1], ends[1] * low[-1], ends[1] * high[-1]]
            )
            low.append(corners.min(axis=0))
            high.append(corners.max(axis=0))
        low.reverse()
        high.reverse()
        total = float(np.sum(rates * self.orbits.trace))

        def bound(product: Vector, depth: int) -> float:
            least = np.minimum(product * low[depth], product * high[depth])
            return 2 * (total - float(np.sum(rates * least)))

        best = np.array(self.orbits.members, dtype=np.int64)  # all differ
        highest = float((self.at(best[None]) @ rates)[0])
        first: tuple[float, int, tuple[int, ...], Vector] = (
            -bound(np.ones(r), 0),
            0,
            (),
            np.ones(r),
        )
        open_branches = [first]
        made, most = 1, max((_PARTS if parts is None else parts) // r, len(types))
        while open_branches and -open_branches[0][0] > grown(highest) and made < most:
            _, _, fixed, product = heapq.heappop(open_branches)
            kind = types[len(fixed)]
            for d in range(int(self.orbits.members[kind]) + 1):
                now = product * self.tables[kind][occurs[kind], d]
                extent = bound(now, len(fixed) + 1)
                made += 1
                if len(fixed) + 1 < len(types):
                    heapq.heappush(open_branches, (-extent, made, (*fixed, d), now))
                elif extent > highest:
                    best = np.zeros(len(types), dtype=np.int64)
                    best[types] = (*fixed, d)
                    highest = extent
        left = -open_branches[0][0] if open_branches else 0.0
        return best[None], max(highest, left)


def _coarse_up(bound: float) -> float:
    """Round up to 30 bits: what an eigenvalue's last bits change on another machine is no matter.

    Examples:
        >>> _coarse_up(1.0), 3.0 < _coarse_up(3.0 + 1e-12) < 3.0 + 1e-8
        (1.0, True)
        >>> _coarse_up(math.nan)
        inf
    """
    if not math.isfinite(bound):
        return math.inf
    part, power = math.frexp(bound)
    return math.ldexp(math.ceil(math.ldexp(part, 30)), power - 30)


def exchanged_costs(bits: int, degrees: Sequence[int]) -> Vector:
    """Return `parity_costs` of a record that comes or goes, and of one that becomes another.

    Examples:
        >>> exchanged_costs(2, [0, 1]).tolist()
        [[1.0, 2.0], [0.0, 4.0], [0.0, 8.0]]
    """
    both = (parity_costs(bits, degrees, word) for word in ("add_remove", "substitute"))
    return np.vstack(list(both))


def parity_costs(bits: int, degrees: Sequence[int], relation: str) -> Vector:
    """Return what τ_k⁻² is multiplied by in μ², shape (patterns, degrees): a row for each pattern.

    Whole numbers, rounded once. Under `add_remove` there is one pattern; under `substitute` pattern
    d − 1 is that of d differing bits.

    Args:
        bits: D.
        degrees: k of each degree.
        relation: "substitute" or "add_remove".

    Examples:
        >>> parity_costs(3, [0, 1, 2], "substitute").tolist()
        [[0.0, 4.0, 8.0], [0.0, 8.0, 8.0], [0.0, 12.0, 0.0]]
        >>> parity_costs(3, [0, 1, 2], "add_remove").tolist()
        [[1.0, 3.0, 3.0]]
    """
    if word_of(relation).counted:
        return np.array([[float(math.comb(bits, k)) for k in degrees]])
    return np.array(
        [[4.0 * _odd(bits, k, differing) for k in degrees] for differing in range(1, bits + 1)]
    )


def _odd(bits: int, degree: int, differing: int) -> int:
    """Return how many sets of `degree` bits have an odd number of the `differing` ones."""
    return sum(
        math.comb(differing, j) * math.comb(bits - differing, degree - j)
        for j in range(1, min(degree, differing) + 1, 2)
    )


@final
@dataclass(frozen=True, eq=False)
class ParityChanges:
    """What one record changes in parities.

    Args:
        costs: as `parity_costs`, shape (n, k).
        counts: the number of parities of each degree, shape (k,).
    """

    costs: Vector
    counts: Vector


def parity_cost_up(costs: Vector, variances: Vector) -> float:
    """Return at least μ² of independent noise on parities.

    Args:
        costs: as `parity_costs`.
        variances: τ² of each degree, shape (degrees,), 0 where there is no noise.
    """
    with np.errstate(divide="ignore"):
        rates = np.where(np.any(costs > 0, axis=0), 1 / variances, 0.0)
    if not np.all(np.isfinite(rates)):
        return math.inf
    return grown(float(np.max(costs @ rates)))
