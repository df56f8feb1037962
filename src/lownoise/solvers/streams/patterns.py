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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.frames import find_frame
from lownoise.solvers.generation import generate
from lownoise.solvers.newton import Problem
from lownoise.solvers.pricing import AbstractVertices, Priced
from lownoise.solvers.solution import FLOOR_SHARE
from lownoise.solvers.streams.banded import banded
from lownoise.solvers.streams.toeplitz import optimal_toeplitz

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.solvers.solution import Progress
    from lownoise.solvers.streams.toeplitz import Error

_FINE, _ROUGH = 2.0**-12, 2.0**-6  # where patterns are few, and where they are many
_RTOL = 1e-6
_MOST_STEPS, _FEW_STEPS = 60, 20
_SPLITS = 8  # of a pattern before and after a round: how many are tried
_CUTS = (0.0, 2.0**-9, 2.0**-8, 2.0**-7, 2.0**-6, math.inf)  # of the mean of X_ii
_SCALINGS = 4
_LONG = 64  # rounds, beyond which axes are found quickly
_MOST_NUMBERS = 1 << 21  # rounds of the workload times patterns
_NEAR = 1 + 1e-5  # of the proof: what is charged can stay as it is
_FEW = 1500  # vertices that are all listed from the start
_ENUMERATED = 9  # members of a pattern whose signs are all tried
_LEAST_EACH = 4  # signs for one pattern
_SWEEPS = 20  # of flips of one sign each


@final
@dataclass(frozen=True, eq=False)
class PatternFactors:
    """Factors of the least noise, nearly, and the weights that prove it.

    Args:
        noise: B, lower triangular, shape (n, n).
        strategy: C, lower triangular, shape (n, n).
        patterns: with signs, rounds from 1, 0 where there are fewer, shape (N, k).
        weights: one a pattern, shape (N,).
        query_weights: one an answer, shape (n,).
        status: how the search ended.
    """

    noise: Vector
    strategy: Vector
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
    rtol: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> PatternFactors:
    """Return the least noise for all patterns that one person may add to.

    Args:
        W: lower triangular, shape (n, n).
        participation: which rounds.
        order: p, 2 for the mean error and ∞ for the largest.
        signed: whether the changes of rounds may have unlike signs, and factors are charged for
            these; else some changes are left out, and so does the noise.
        rtol: the relative gap before what is left is cut off; None for one that takes seconds.
        progress: called after every step.
    """
    from scipy.linalg import solve_triangular

    n = len(W)
    frame = find_frame(SymmetricPoints(frozen(np.ascontiguousarray(W.T))), None, in_order=True)
    shown = frame.seen(None)
    rows = np.ones(n) if shown is None else shown
    down = frame.down(W.T)  # one row a round
    unit = math.ldexp(1.0, math.frexp(float(np.max(np.abs(down)) * participation.count))[1])
    vertices = PatternVertices(down, participation, signed=signed)
    problem = Problem(
        queries=rows / unit,
        order=order,
        moves=False,
        floor=_RTOL * FLOOR_SHARE,
        quick=n > _LONG,
    )
    if vertices.complete:
        rtol = _RTOL
    elif rtol is None:
        rtol = _FINE if vertices.few else _ROUGH
    short = not vertices.few and (participation.count > _SPLITS or rtol > _ROUGH)
    most = _FEW_STEPS if short else _MOST_STEPS
    found = generate(problem, vertices, rtol=rtol, progress=progress, most=most)
    # a file of evidence has a limit: what carries least goes
    carried = np.argsort(-found.weights)[: _MOST_NUMBERS // n]
    B, C = np.zeros((n, n)), np.zeros((n, n))
    B[:, frame.pivots] = frame.up() @ found.factor
    C[frame.pivots] = solve_triangular(found.factor, down.T, lower=True, check_finite=False)
    B, C = np.tril(B), np.tril(C)
    X, least = C.T @ C, (found.lower / found.upper) ** 2
    if signed and frame.exact and float(np.max(vertices.through(X))) > least * _NEAR:
        better = _trimmed(W, X, vertices, order)
        B, C = (B, C) if better is None else better
    return PatternFactors(
        noise=frozen(B),
        strategy=frozen(C),
        patterns=vertices.patterns(found.indices[carried]),
        weights=frozen(found.weights[carried]),
        query_weights=frozen(found.query_weights),
        status=found.status,
    )


def _trimmed(
    W: Vector, X: Vector, vertices: PatternVertices, order: float
) -> tuple[Vector, Vector] | None:
    """Return B and C of an X that is charged less beside what it errs; None where none is found.

    What is charged is Σ|X_ij| over a pattern. At the optimum X_ij is 0 for most pairs of rounds
    that share a pattern, and what a search leaves there costs more than it helps: it is cut off,
    and rounds are scaled until the worst pattern through each is about as long. Where patterns are
    many, the best of a band and the best that depends on t − s alone are tried, too.
    """
    from scipy.linalg import solve_triangular

    far, unit, signs = vertices.shared, float(np.mean(np.diag(X))), np.sign(X)
    tried = [
        np.where(far, own * np.maximum(np.abs(X) - cut * unit, 0.0), X)
        for cut, own in itertools.product(_CUTS, (np.maximum(signs, 0.0), signs))
    ]
    if not vertices.few and np.all(np.diag(W)):
        error: Error = "max" if math.isinf(order) else "mean"
        person = vertices.participation
        if person.separation > 1:
            C = banded(W, person.separation, error, person)
            tried.append(C.T @ C)
        first = np.subtract.outer(np.arange(len(W)), np.arange(len(W)))
        if np.array_equal(W, np.where(first >= 0, W[:, 0][np.maximum(first, 0)], 0.0)):
            c = optimal_toeplitz(W[:, 0], error, person)
            C = np.where(first >= 0, c[np.maximum(first, 0)], 0.0)
            tried.append(C.T @ C)
    least, found = math.inf, None
    for each in tried:
        Z = each
        for _ in range(_SCALINGS):
            through = vertices.through(Z)
            try:
                C = np.linalg.cholesky(Z[::-1, ::-1]).T[::-1, ::-1]
            except np.linalg.LinAlgError:
                break
            B = solve_triangular(C, W.T, lower=True, trans="T", check_finite=False).T
            rows = np.square(B).sum(axis=1)
            squared = float(np.max(through) * (np.max(rows) if math.isinf(order) else np.sum(rows)))
            if squared < least:
                least, found = squared, (np.tril(B), np.tril(C))
            Z = Z / through[:, None] ** 0.25 / through**0.25
    return found


class PatternVertices(AbstractVertices):
    """The points Σ W_i·ε_i, ε of signs on a pattern and 0 elsewhere, or of zeros and ones.

    Args:
        columns: one row a round: what a unit of it moves, shape (n, r).
        participation: which rounds.
        signed: whether ε has signs, else zeros and ones.
    """

    def __init__(self, columns: Vector, participation: Participation, *, signed: bool) -> None:
        self._columns = columns
        self.participation = participation
        self._signed = signed
        n, k = len(columns), participation.count
        lists = spaced_patterns(participation, n)
        if participation.pattern != "spaced" and k > 1:  # as far apart as they fit, to start from
            gap = max(participation.separation, n // k)
            lists = spaced_patterns(replace(participation, separation=gap, pattern="spaced"), n)
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
    def complete(self) -> bool:
        """Whether all are listed."""
        return self._complete

    @property
    def few(self) -> bool:
        """Whether the patterns are a list that is looked through, if not all of their signs."""
        return self.participation.pattern == "spaced"

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
        found = np.zeros((len(indices), self.participation.count), dtype=np.int64)
        for row, i in zip(found, indices, strict=True):
            own = self._coefficients[int(i)]
            used = np.flatnonzero(own)
            row[: used.size] = (used + 1) * np.sign(own[used]).astype(np.int64)
        return found

    @property
    def shared(self) -> Chosen:
        """Which pairs of different rounds have a pattern that holds both, shape (n, n)."""
        n, own = len(self._columns), self.participation
        lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        if own.pattern == "spaced":
            b = own.separation
            return np.asarray((lag > 0) & (lag % b == 0) & (lag < own.count * b))
        return np.asarray(lag >= own.separation)

    def through(self, X: Vector) -> Vector:
        """Return the greatest Σ|X_ij| of a pattern that holds each round, as a search finds it."""
        found, size = np.diag(X).copy(), np.abs(X)
        for rounds in self._groups(size):
            lengths = size[rounds[:, :, None], rounds[:, None, :]].sum(axis=(1, 2))
            for j in range(rounds.shape[1]):
                np.maximum.at(found, rounds[:, j], lengths)
        return found

    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return patterns that stand out; where they are no short list, those that a search finds.

        The radius is then that of what was found.
        """
        moved = self._columns @ inverse.T
        X = moved @ moved.T
        found = [self._signs(rounds, X) for rounds in self._groups(X)]
        values = np.concatenate([own for _, _, own in found])
        radius = math.sqrt(max(float(np.max(values)), 0.0))
        most = np.zeros(values.size, dtype=np.bool_)
        most[np.argsort(-values)[:wanted]] = True  # no more, where many are as long
        most &= values > beyond**2
        indices: list[int] = []
        for rounds, signs, own in found:
            out, most = most[: own.size], most[own.size :]
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

    def _groups(self, X: Vector) -> list[Integers]:
        """Return patterns of like length that may stand out, rounds from 0."""
        own = self.participation
        if own.pattern == "spaced":
            lists = spaced_patterns(own, len(X))
            lengths = sorted({len(each) for each in lists})
            return [np.array([p for p in lists if len(p) == m]) for m in lengths]
        return _paths(X, own, signed=self._signed)

    def _signs(self, rounds: Integers, X: Vector) -> tuple[Integers, Vector, Vector]:
        """Return patterns with the signs that make Σ X_ij·ε_i·ε_j greatest, or nearly."""
        blocks = X[rounds[:, :, None], rounds[:, None, :]]
        m = rounds.shape[1]
        # several of each: one alone would make the search long
        few = max(_LEAST_EACH, 2 * len(X) // len(rounds))
        if m <= _ENUMERATED:
            signs = _choices(m, signed=self._signed)
            values = np.einsum("si,pij,sj->ps", signs, blocks, signs, optimize=True)
            few = min(few, len(signs))
            best = np.argpartition(-values, few - 1, axis=1)[:, :few]
            chosen = np.take_along_axis(values, best, axis=1)
            return np.repeat(rounds, few, axis=0), signs[best].reshape(-1, m), chosen.reshape(-1)
        # a fixed stream of signs to start from: nothing that is released depends on it
        starts = np.random.default_rng(0).integers(0, 2, size=(few, m)).astype(np.float64)
        starts[0] = 1.0
        signs = np.repeat(2 * starts[None] - 1 if self._signed else starts[None], len(rounds), 0)
        for _ in range(_SWEEPS if self.few else 2):
            before = signs.copy()
            for j in range(m):
                signs[:, :, j] = 0.0
                pull = np.einsum("pi,psi->ps", blocks[:, j], signs)
                if self._signed:
                    signs[:, :, j] = np.where(pull < 0, -1.0, 1.0)
                else:
                    signs[:, :, j] = np.where(blocks[:, j, j, None] + 2 * pull > 0, 1.0, 0.0)
            if np.array_equal(before, signs):
                break
        values = np.einsum("psi,pij,psj->ps", signs, blocks, signs, optimize=True)
        return np.repeat(rounds, few, axis=0), signs.reshape(-1, m), values.reshape(-1)


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
    for before in sorted({round(i * (k - 1) / _SPLITS) for i in range(_SPLITS + 1)}):
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
