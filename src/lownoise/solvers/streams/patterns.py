# SPDX-License-Identifier: Apache-2.0
"""The least noise for a stream to several of whose rounds one person adds: patterns with signs.

A person who moves the rounds i of a pattern by ε_i moves W·x by Σ W_i·ε_i; the least ellipsoid
M = BBᵀ around all of these gives C = B⁻¹W, and CᵀC = X then has Σ X_ij·ε_i·ε_j ≤ 1. Patterns are
many, and generated where the ellipsoid at hand leaves them out. For patterns that are no short list
the search for one that is left out is a heuristic: what privacy charges is measured afterwards.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.frames import find_frame
from lownoise.solvers.generation import generate
from lownoise.solvers.newton import Problem
from lownoise.solvers.pricing import AbstractVertices, Priced
from lownoise.solvers.solution import FLOOR_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.sets.frames import Frame
    from lownoise.solvers.sides import Progress

ROUGH = 2.0**-8
_RTOL = 1e-6
_MOST_STEPS = 60
_FEW = 1500  # vertices that are all listed from the start
_ENUMERATED = 9  # members of a pattern whose signs are all tried
_SWEEPS = 20  # of flips of one sign each


@final
@dataclass(frozen=True, eq=False)
class PatternFactors:
    """A factor of the least noise, and the weights that prove it.

    Args:
        frame: the answers whose noise is solved for.
        factor: a lower triangle, factor·factorᵀ = M in the frame's coordinates.
        patterns: with signs, rounds from 1, 0 where there are fewer, shape (N, k).
        weights: one a pattern, shape (N,).
        query_weights: one an answer, shape (n,).
        status: how the search ended.
    """

    frame: Frame
    factor: Vector
    patterns: Integers
    weights: Vector
    query_weights: Vector
    status: str


def pattern_factors(
    W: Vector,
    participation: Participation,
    order: float,
    *,
    signed: bool,
    rough: float = ROUGH,
    progress: Callable[[Progress], None] | None = None,
) -> PatternFactors:
    """Return the least noise for all patterns that one person may add to.

    Args:
        W: lower triangular, shape (n, n).
        participation: which rounds.
        order: p, 2 for the mean error and ∞ for the largest.
        signed: whether the changes of rounds may have unlike signs; else some are left out.
        rough: the relative gap to pulls where patterns are no short list; else it is 1e-6.
        progress: called after every step.
    """
    n = len(W)
    frame = find_frame(SymmetricPoints(frozen(np.ascontiguousarray(W.T))), None, in_order=True)
    shown = frame.seen(None)
    rows = np.ones(n) if shown is None else shown
    down = frame.down(W.T)  # one row a round
    unit = math.ldexp(1.0, math.frexp(float(np.max(np.abs(down)) * participation.count))[1])
    vertices = PatternVertices(down, participation, signed=signed)
    problem = Problem(queries=rows / unit, order=order, moves=False, floor=_RTOL * FLOOR_SHARE)
    rtol = _RTOL if vertices.few_patterns else rough
    found = generate(problem, vertices, rtol=rtol, progress=progress, most=_MOST_STEPS)
    carried = found.weights > 0
    return PatternFactors(
        frame=frame,
        factor=found.factor,
        patterns=vertices.patterns(found.indices[carried]),
        weights=frozen(found.weights[carried]),
        query_weights=frozen(found.query_weights),
        status=found.status,
    )


class PatternVertices(AbstractVertices):
    """The points Σ W_i·ε_i, ε of signs on a pattern and 0 elsewhere, or of zeros and ones.

    Args:
        columns: one row a round: what a unit of it moves, shape (n, r).
        participation: which rounds.
        signed: whether ε has signs, else zeros and ones.
    """

    def __init__(self, columns: Vector, participation: Participation, *, signed: bool) -> None:
        self._columns = columns
        self._participation = participation
        self._signed = signed
        n, k = len(columns), participation.count
        lists = spaced_patterns(participation, n)
        self._known: dict[bytes, int] = {}
        self._coefficients: list[Vector] = []
        self._complete = False
        if participation.pattern == "spaced" and len(lists) << k <= _FEW << signed:
            self._complete = True
            for length in {len(own) for own in lists}:
                some = np.array([own for own in lists if len(own) == length])
                for signs in _choices(length, signed=signed):
                    self._add(some, np.tile(signs, (len(some), 1)))
        else:
            for own in lists:
                flips = 1.0 - (1.0 + signed) * np.eye(len(own))
                flips[0] = 1.0  # all, and all but one of another sign: they span
                self._add(np.tile(own, (len(own), 1)), flips)

    @property
    def dimension(self) -> int:
        """The number of coordinates r."""
        return int(self._columns.shape[1])

    @property
    def few_patterns(self) -> bool:
        """Whether the patterns are a list that is looked through, if not all of their signs."""
        return self._participation.pattern == "spaced"

    @property
    def count(self) -> int:
        """How many there are, where all are listed."""
        return len(self._coefficients) if self._complete else super().count

    def first(self, wanted: int) -> Integers:
        """Return all that are listed from the start."""
        return np.arange(len(self._coefficients))

    def gather(self, indices: Integers) -> Vector:
        """Return those vertices, shape (k, r)."""
        return np.stack([self._coefficients[int(i)] for i in indices]) @ self._columns

    def patterns(self, indices: Integers) -> Integers:
        """Return patterns with signs, rounds from 1, filled up with 0; shape (N, k)."""
        found = np.zeros((len(indices), self._participation.count), dtype=np.int64)
        for row, i in zip(found, indices, strict=True):
            own = self._coefficients[int(i)]
            used = np.flatnonzero(own)
            row[: used.size] = (used + 1) * np.sign(own[used]).astype(np.int64)
        return found

    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return patterns that stand out; where they are no short list, those that a search finds.

        The radius is then that of what was found.
        """
        moved = self._columns @ inverse.T
        X = moved @ moved.T
        found = self._search(X)
        values = np.concatenate([own for _, _, own in found])
        radius = math.sqrt(max(float(np.max(values)), 0.0))
        level = np.partition(values, -min(wanted, values.size))[-min(wanted, values.size)]
        level = max(level, beyond**2)
        indices: list[int] = []
        for rounds, signs, own in found:
            out = own > level if level == beyond**2 else own >= level
            indices += self._add(rounds[out], signs[out])
        return Priced(radius, np.unique(np.array(indices, dtype=np.int64)))

    def _add(self, rounds: Integers, signs: Vector) -> list[int]:
        """Take patterns in; return their places."""
        n, places = len(self._columns), []
        dense = np.zeros((len(rounds), n))
        np.put_along_axis(dense, rounds, signs, axis=1)
        first = np.argmax(dense != 0, axis=1)
        dense *= np.where(dense[np.arange(len(dense)), first] < 0, -1.0, 1.0)[:, None]
        for row in dense:
            key = row.astype(np.int8).tobytes()
            if key not in self._known:
                self._known[key] = len(self._coefficients)
                self._coefficients.append(row)
            places.append(self._known[key])
        return places

    def _search(self, X: Vector) -> list[tuple[Integers, Vector, Vector]]:
        """Return patterns that may stand out: rounds, signs and Σ X_ij·ε_i·ε_j."""
        own = self._participation
        if own.pattern == "spaced":
            lists = spaced_patterns(own, len(X))
            lengths = sorted({len(each) for each in lists})
            groups = [np.array([p for p in lists if len(p) == m]) for m in lengths]
        else:
            groups = list(_paths(X, own, signed=self._signed))
        return [self._signs(rounds, X) for rounds in groups]

    def _signs(self, rounds: Integers, X: Vector) -> tuple[Integers, Vector, Vector]:
        """Return patterns with the signs that make Σ X_ij·ε_i·ε_j greatest, or nearly."""
        blocks = X[rounds[:, :, None], rounds[:, None, :]]
        m = rounds.shape[1]
        if m <= _ENUMERATED:
            signs = _choices(m, signed=self._signed)
            values = np.einsum("si,pij,sj->ps", signs, blocks, signs, optimize=True)
            # the best few of each: one alone would make the search long
            few = min(4, len(signs))
            best = np.argpartition(-values, few - 1, axis=1)[:, :few]
            chosen = np.take_along_axis(values, best, axis=1)
            return (
                np.repeat(rounds, few, axis=0),
                signs[best].reshape(-1, m),
                chosen.reshape(-1),
            )
        signs = np.ones((len(rounds), m))
        for _ in range(_SWEEPS):
            before = signs.copy()
            for j in range(m):
                signs[:, j] = 0.0
                pull = np.einsum("pi,pi->p", blocks[:, j], signs)
                if self._signed:
                    signs[:, j] = np.where(pull < 0, -1.0, 1.0)
                else:
                    signs[:, j] = np.where(blocks[:, j, j] + 2 * pull > 0, 1.0, 0.0)
            if np.array_equal(before, signs):
                break
        return rounds, signs, np.einsum("pi,pij,pj->p", signs, blocks, signs, optimize=True)


def spaced_patterns(participation: Participation, rounds: int) -> list[list[int]]:
    """Return the largest patterns with members exactly b apart, rounds from 0.

    Args:
        participation: how many, and how far apart.
        rounds: n.

    Examples:
        >>> from lownoise.sensitivity.participation import Participation
        >>> spaced_patterns(Participation(2, 3, "spaced"), 5)
        [[0, 3], [1, 4], [2]]
    """
    k, b = participation.count, participation.separation
    return [
        list(range(s, min(s + k * b, rounds), b))
        for s in range(rounds)
        if s < b or s + (k - 1) * b < rounds
    ]


def _choices(members: int, *, signed: bool) -> Vector:
    """Return all signs with the first +, or all zeros and ones but zeros alone."""
    if signed:
        rest = np.array(list(itertools.product((1.0, -1.0), repeat=members - 1)))
        return np.hstack([np.ones((len(rest), 1)), rest.reshape(len(rest), members - 1)])
    return np.array(list(itertools.product((1.0, 0.0), repeat=members)))[:-1]


def _paths(X: Vector, participation: Participation, *, signed: bool) -> list[Integers]:
    """Return patterns of rounds at least b apart with much of Σ|X_ij|: through each round some.

    Round by round the best pattern that ends there, by what is best before it; likewise from the
    end; and for each round and count before it both joined.
    """
    k, b, n = participation.count, participation.separation, len(X)
    gain = np.abs(X) if signed else X
    ahead = _best_before(gain, k, b)
    behind = [n - 1 - own[::-1] for own in _best_before(gain[::-1, ::-1], k, b)]
    found = []
    for before in range(k):
        after = k - 1 - before
        first, last = ahead[before], behind[after]
        whole = np.hstack([first, last[:, ::-1][:, 1:]])
        ok = np.all((whole >= 0) & (whole < n), axis=1)
        if np.any(ok):
            found.append(np.unique(whole[ok], axis=0))
    if not signed or not found:
        found += [own[np.all((own >= 0) & (own < n), axis=1)] for own in ahead]
    return [own for own in found if len(own)]


def _best_before(gain: Vector, k: int, b: int) -> list[Integers]:
    """Return for each count below k the paths of count + 1 rounds that end in each round; or -1."""
    n = len(gain)
    value, path, pulls = np.diag(gain).copy(), np.arange(n)[:, None], gain.copy()
    found = [path]
    lag = np.subtract.outer(np.arange(n), np.arange(n))  # of a later round after an earlier
    for _ in range(1, k):
        joined = value[None, :] + 2 * pulls.T + np.diag(gain)[:, None]
        joined[lag < b] = -np.inf
        best = np.argmax(joined, axis=1)
        value = joined[np.arange(n), best]
        pulls = np.where(np.isfinite(value)[:, None], pulls[best] + gain, 0.0)
        path = np.hstack([path[best], np.arange(n)[:, None]])
        path[~np.isfinite(value)] = -n - 1
        found.append(path)
    return found
