# SPDX-License-Identifier: Apache-2.0
"""How far one person moves C·x in several rounds: the worst of all patterns, or a bound for it.

Let G = CᵀC and |u_i| ≤ 1 for the rounds i of a pattern π. Then

    ‖Σ_{i∈π} C_i ⊗ u_i‖² = Σ_{i,j∈π} G_ij·⟨u_i, u_j⟩ ≤ Σ_{i,j∈π} |G_ij|,

with equality at u_i = u where G ≥ 0 on π. The right side only grows with π. What is looked for here
is its greatest value over the patterns of a participation: k rounds at most, every b-th one
("spaced"), or any two at least b apart ("separated", and "any" with b = 1).

*Spaced.* There are n patterns, one a start: all are looked at.

*The majorant* (ours). For i ≤ j let Ĝ_ij be the greatest |G_{i+a,j+a'}| with 0 ≤ a ≤ a'. The l-th
and m-th members of a pattern, l < m, are i ≥ l·b and j ≥ i + (m − l)·b, so |G_ij| ≤ Ĝ_{lb,mb}: no
pattern is beyond Σ Ĝ over {0, b, 2b, …}, and that is attained where |G| = Ĝ, as for a Toeplitz C
whose column is nowhere negative and does not rise from c_b on: there G_ij = Σ_{t<n−j} c_t·c_{t+j−i}
falls in both a and a' for j ≥ i + b, and nothing else is used.

*By position* (ours). Let G'_ij = max_{h≤i} |G_hj| for i ≤ j, or more. A member j that is the m-th
adds, with those before it, at most w_m(j) = |G_jj| + 2Σ_{q<m} G'_{j−qb,j}; the greatest Σ w_m(i_m)
over positions b apart is a dynamic programme. The same holds with time reversed.

*By chains* (ours). Let h_q(i, s) be the greatest Σ_j |G_ij| over q rounds from s on that are b
apart, and

    F_q(i) = |G_ii| + max_{j≥i+b} ( 2|G_ij| + 2h_{q−2}(i, j + b) + F_{q−1}(j) )⁺.

By induction no pattern of q rounds that starts in i has more than F_q(i): the second member and its
followers have F_{q−1}(j), and the first one with the third and later ones at most h. It is exact
where |G_ij| = 0 for j ≥ i + 2b (so for a band of b), and for k ≤ 2.

*Branch and bound* starts from there, extends the pattern whose bound is greatest, and ends when
that bound is attained, or after a given number of steps with the greatest bound that is left:
both are bounds for every pattern.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import FEW, grown, growth, up

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.participation import Participation

    Lag = Callable[[int], Vector]  # of d: at least |G_{i,i+d}| for all i, shape (n − d,)

CLOSE = 1e-9  # a bound that is attained but for so small a part is called exact
_MOST_CHAINED = 1 << 28  # n²·k for which chains are followed
_SAME = 1 + 2.0**-43  # a bound that is attained but for so small a part is looked into no more
_MOST_PAIRS = 1 << 23  # n²·k numbers that are kept of chains
_MOST_STEPS = 2000  # of branch and bound
_MOST_WORK = 1 << 25  # n·k, or n²·k/16, for all steps together
_ROWS = 64


@final
@dataclass(frozen=True)
class Worst:
    """The worst pattern, as far as it is known.

    Args:
        square_up: at least Σ|G_ij| over every pattern.
        attained: Σ|G_ij| over `members`, but for rounding.
        members: a pattern, the rounds from 0 on.
    """

    square_up: float
    attained: float
    members: tuple[int, ...]

    @property
    def length_up(self) -> float:
        """At least ‖Σ C_i ⊗ u_i‖ over every pattern."""
        return up(math.sqrt(self.square_up))

    @property
    def exact(self) -> bool:
        """Whether no pattern is beyond `members`; then `length_up` is attained where G ≥ 0."""
        return self.square_up <= self.attained * (1 + CLOSE)


_UNKNOWN = Worst(math.inf, 0.0, (0,))


def gram_up(columns: Vector) -> Vector:
    """Return at least |CᵀC|, entry by entry, shape (n, n), for a matrix C of shape (m, n).

    Examples:
        >>> bool(np.all(gram_up(np.array([[3.0, -1.0]])) >= [[9.0, 3.0], [3.0, 1.0]]))
        True
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    return rounded_products(columns.T @ columns, lengths, lengths, len(columns))


def gram_of(lag: Lag, rounds: int) -> Vector:
    """Return the matrix |G| of these lags, shape (n, n)."""
    found = np.empty((rounds, rounds))
    flat = found.reshape(-1)
    for d in range(rounds):
        own = lag(d)
        flat[d : (rounds - d) * rounds : rounds + 1] = own
        flat[d * rounds :: rounds + 1] = own
    return found


def fitting(participation: Participation, rounds: int) -> int:
    """Return how many rounds of a pattern there can be in all."""
    return min(participation.count, (rounds - 1) // participation.separation + 1)


def worst(gram: Vector, participation: Participation) -> Worst:
    """Return the worst pattern of a matrix, or a bound for it.

    Args:
        gram: at least |CᵀC|, symmetric, shape (n, n); see `gram_up`.
        participation: the patterns.

    Examples:
        >>> from lownoise.sensitivity.participation import Participation
        >>> found = worst(gram_up(np.tril(np.ones((4, 4)))), Participation(2, 2, "separated"))
        >>> found.members, found.exact, 10.0 <= found.square_up < 10.000001
        ((0, 2), True, True)
    """
    n = len(gram)
    if not np.all(np.isfinite(gram)):
        return _UNKNOWN
    k, b = fitting(participation, n), participation.separation
    first = spaced(gram.diagonal, n, k, b)
    if participation.pattern == "spaced":
        return first
    most = majorant(gram, k, b)
    if n * n * k > _MOST_CHAINED:
        ahead = by_position(_covered(gram), n, k, b)
        back = by_position(_covered(gram[::-1, ::-1]), n, k, b)
        found = _improved(gram, first.members, b)
        return Worst(min(most, ahead, back), _sum(gram, found), found)
    chains = _Chains.of(gram, k, b)
    starts = (first.members, chains.path())
    found = max((_improved(gram, own, b) for own in starts), key=lambda own: _sum(gram, own))
    bound, found = chains.bound(found)
    return Worst(min(most, bound), _sum(gram, found), found)


def spaced(lag: Lag, rounds: int, count: int, separation: int) -> Worst:
    """Return the worst of all patterns i, i + b, i + 2b, …: n of them.

    Args:
        lag: of d: at least |G_{i,i+d}|, shape (n − d,).
        rounds: n.
        count: k, no more than fit.
        separation: b.
    """
    total = np.zeros(rounds)
    for m in range(count):
        own = windows(lag(m * separation), count - m, separation)
        total[: own.size] += own if m == 0 else 2 * own
    start = int(np.argmax(total))
    members = tuple(range(start, rounds, separation))[:count]
    return Worst(outward(float(total[start]), 4 * count), float(total[start]), members)


def windows(values: Vector, width: int, step: int) -> Vector:
    """Return Σ_{l<width} values[s + l·step] for every s, what is beyond the end being 0.

    Each is a sum of the end of one block of `width` and the beginning of the next, so nothing is
    taken off again and `width` additions are all the rounding.

    Examples:
        >>> windows(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2, 3).tolist()
        [5.0, 7.0, 3.0, 4.0, 5.0]
    """
    rows = -(-values.size // step)
    width = min(width, rows)
    blocks = -(-rows // width)
    padded = np.zeros(blocks * width * step)
    padded[: values.size] = values
    whole = padded.reshape(blocks, width, step)
    found = np.cumsum(whole[:, ::-1], axis=1)[:, ::-1].copy()
    if width > 1:
        found[:-1, 1:] += np.cumsum(whole[1:, :-1], axis=1)
    result: Vector = found.reshape(-1)[: values.size]
    return result


def majorant(gram: Vector, count: int, separation: int) -> float:
    """Return at least Σ|G_ij| over every pattern: Ĝ over {0, b, 2b, …}.

    Args:
        gram: at least |G|, shape (n, n).
        count: k, no more than fit.
        separation: b.
    """
    members = separation * np.arange(count)
    below = np.zeros(len(gram) + 1)  # row i + 1 of Ĝ, one place ahead
    total = 0.0
    for i in range(len(gram) - 1, -1, -1):
        own = np.maximum(gram[i, i:], below[i + 1 :])
        own = np.maximum.accumulate(own[::-1])[::-1]
        below[i:-1] = own
        if i % separation == 0 and i // separation < count:
            row = own[members[i // separation :] - i]
            total += float(row[0] + 2 * np.sum(row[1:]))
    return outward(total, 2 * count + 4)


def by_position(lag: Lag, rounds: int, count: int, separation: int) -> float:
    """Return at least Σ|G_ij| over every pattern b apart, from what a member adds at its place.

    Args:
        lag: of d: at least |G_{h,i+d}| for every h ≤ i, shape (n − d,); see `_covered`.
        rounds: n.
        count: k, no more than fit.
        separation: b.
    """
    best, adds = np.zeros(rounds), np.zeros(rounds)  # what a pattern that ends in j has at most
    for m in range(count):
        shift = m * separation
        adds[shift:] += lag(shift) if m == 0 else 2 * lag(shift)
        before = np.maximum.accumulate(best)
        best = adds.copy()
        best[separation:] += before[: rounds - separation] if m else 0.0
        best[:shift] = before[:shift]  # no room for so many; a smaller pattern counts
    return outward(float(np.max(best)), 4 * count)


def _covered(gram: Vector) -> Lag:
    """Return the lags of max_{h≤i} |G_hj|, for i ≤ j."""
    found = np.maximum.accumulate(gram, axis=0)
    return found.diagonal


def rounded_products(
    product: Vector, left: Vector, right: Vector, terms: int, *, outer: bool = True
) -> Vector:
    """Return at least |G| for computed inner products of columns of computed lengths."""
    tiny = 2.0**-511 * math.sqrt(terms)  # of squares that vanish
    left, right = (own * (1 + growth(terms + 4)) + tiny for own in (left, right))
    size = np.multiply.outer(left, right) if outer else left * right
    return np.asarray(grown(np.abs(product) + growth(terms + 8) * size, FEW))


def outward(total: float, operations: int) -> float:
    """Return at least a sum of numbers of at least 0, after so many rounded operations each."""
    found = total * (1 + growth(operations + 4)) + 2.0**-1000
    return min(math.inf, found)  # what is no number is no bound


def _sum(gram: Vector, members: tuple[int, ...]) -> float:
    own = list(members)
    return float(np.sum(gram[np.ix_(own, own)]))


def _improved(gram: Vector, members: tuple[int, ...], separation: int) -> tuple[int, ...]:
    """Return a pattern that moving any one member does not make worse."""
    n, own = len(gram), list(members)
    moved = True
    while moved:
        moved = False
        for m in range(len(own)):
            least = own[m - 1] + separation if m else 0
            most = own[m + 1] - separation if m + 1 < len(own) else n - 1
            others = own[:m] + own[m + 1 :]
            range_ = slice(least, most + 1)
            gain = gram.diagonal()[range_] + 2 * np.sum(gram[others, range_], axis=0)
            place = int(np.argmax(gain))
            if gain[place] > gain[own[m] - least] * (1 + CLOSE):
                own[m], moved = least + place, True
    return tuple(own)


@final
@dataclass(frozen=True, eq=False)
class _Chains:
    """The bounds F_q(i) of patterns that start in i, and what branch and bound needs beside them.

    Args:
        gram: at least |G|.
        separation: b.
        best: F, for q = 0, …, k; shape (k + 1, n).
        after: the second member of F's pattern, or n; shape (k + 1, n).
        partners: |G_ii| + 2h_{q−1}(i, i + b), what i adds with q − 1 later members, (k + 1, n).
        pairs: 2|G_ij| + 2h_{q−2}(i, j + b) for j ≥ i + b, else -inf, shape (k + 1, n, n); empty
            where it would be long.
    """

    gram: Vector
    separation: int
    best: Vector
    after: Vector
    partners: Vector
    pairs: Vector

    @classmethod
    def of(cls, gram: Vector, k: int, b: int) -> _Chains:
        n = len(gram)
        best, partners = np.zeros((k + 1, n)), np.zeros((k + 1, n))
        after = np.full((k + 1, n), n)
        pairs = np.full((k + 1, n, n) if n * n * k <= _MOST_PAIRS else (0, n, n), -np.inf)
        own = gram.diagonal()
        for stop in range(n, 0, -min(b, _ROWS)):
            rows = np.arange(max(stop - min(b, _ROWS), 0), stop)
            ahead = int(rows[0]) + b  # later members of all these rows are from here on
            best[1:, rows] = partners[1:, rows] = own[rows]
            if ahead >= n:
                continue
            A = gram[rows[0] : stop, ahead:]
            allowed = np.arange(ahead, n)[None, :] >= rows[:, None] + b
            A = np.where(allowed, A, 0.0)
            h = np.zeros((len(rows), n - ahead + b))  # of q − 2; zeros where no round is left
            for q in range(2, k + 1):
                own_pairs = np.where(allowed, 2 * (A + h[:, b:]), -np.inf)
                if pairs.size:
                    pairs[q, rows, ahead:] = own_pairs
                through = own_pairs + best[q - 1, ahead:]
                place = np.argmax(through, axis=1)
                found = np.maximum(through[np.arange(len(rows)), place], 0.0)
                best[q, rows] = own[rows] + found
                after[q, rows] = np.where(found > 0, ahead + place, n)
                wide = np.zeros_like(h)
                backwards = (A + h[:, b:])[:, ::-1]
                wide[:, : n - ahead] = np.maximum.accumulate(backwards, axis=1)[:, ::-1]
                h = wide
                partners[q, rows] = own[rows] + 2 * h[:, 0]
        return cls(gram, b, best, after, partners, pairs)

    def path(self) -> tuple[int, ...]:
        """Return the pattern that the bounds were made of."""
        q, n = len(self.best) - 1, len(self.gram)
        i, found = int(np.argmax(self.best[q])), []
        while q and i < n:
            found.append(i)
            i, q = int(self.after[q, i]), q - 1
        return tuple(found)

    def bound(self, found: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        """Return at least Σ|G_ij| over every pattern, and the worst met from a first one."""
        gram, (k, n) = self.gram, (len(self.best) - 1, len(self.gram))
        attained = _sum(gram, found)
        heap: list[tuple[float, tuple[int, ...], float]] = []
        for i in np.flatnonzero(self.best[k] > attained).tolist():
            heapq.heappush(heap, (-float(self.best[k, i]), (i,), float(gram[i, i])))
        work = n * k * (1 + n // 16 if self.pairs.size else 1)
        for _ in range(min(_MOST_STEPS, _MOST_WORK // work)):
            if not heap or -heap[0][0] <= attained * _SAME:
                break
            most, members, value = heapq.heappop(heap)
            if value > attained:
                attained, found = value, members
            left = k - len(members)
            if not left or members[-1] + self.separation >= n:
                continue
            start, linear, bounds = self._extended(members, left)
            bounds = np.minimum(value + bounds, -most)
            for j in np.flatnonzero(bounds > attained).tolist():
                grown = value + float(linear[j] + gram[start + j, start + j])
                heapq.heappush(heap, (-float(bounds[j]), (*members, start + j), grown))
        most = max(attained, -heap[0][0] if heap else 0.0)
        return outward(most, k * k + 8 * k), found

    def _extended(self, members: tuple[int, ...], left: int) -> tuple[int, Vector, Vector]:
        """Return where the next member may start, its products with all, and what it brings."""
        b, start = self.separation, members[-1] + self.separation
        linear = 2 * np.sum(self.gram[list(members), start:], axis=0)
        free, ends = np.zeros(linear.size + b), linear.size  # what `q` more bring from j on
        alone = free.copy()
        for q in range(1, left):
            place = linear + self.partners[q, start:] + free[b:]
            free[:ends] = np.maximum.accumulate(place[::-1])[::-1]
            alone[:ends] = np.maximum.accumulate((linear + alone[b:])[::-1])[::-1]
        apart = linear + self.best[left, start:] + alone[b:]
        together = linear + self.partners[left, start:] + free[b:]
        found = np.minimum(apart, together)
        if not self.pairs.size:
            return start, linear, found
        alone = linear + self.gram.diagonal()[start:]
        chained = alone
        for q in range(2, left + 1):
            through = np.max(self.pairs[q, start:, start:] + chained, axis=1)
            chained = alone + np.maximum(through, 0.0)
        return start, linear, np.minimum(found, chained)
