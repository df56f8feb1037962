# SPDX-License-Identifier: Apache-2.0
"""Uniform points of the hull of hardly more points than dimensions, and their opposites (ours).

Of n = d + k points p the columns of F, let N be a basis of the kernel of F, shape (n, k). By the
duality of linear programmes d of them, b, with signs s are a simplex of the boundary where

    Σ_{i∈b} sᵢNᵢ + Σ_{j∉b} uⱼNⱼ = 0   for some u in [−1, 1]^k,

Nᵢ the rows of N (the u are ⟨w, pⱼ⟩, w the normal of the simplex), and |det F_b| is |det N_c| times
a constant, c the others than b (complementary minors). With 0 on the right moved to (η, η², …), η
below everything, u is never on the edge: then the cones from 0 over such simplices tile the hull,
whichever points lie on a face together (docs/theory.md, "Bodies that need no walk"). So c is drawn
with a chance ∝ |det N_c|, then signs at random, until the parallelepiped of c holds what it has to.

c comes row by row. After i rows the next has a chance ∝ how far it is from the span of those, so
that an order of c has |det| over the product of the sums. These are no constants: what a sum falls
short of √(n(k − i)) by, its bound by Cauchy and Schwarz for an orthonormal N, a try is given up
with. Chances are whole multiples of 2⁻⁴⁰ at least the true ones, by floats whose error is followed;
what they are too large by the last choice takes back, with exact determinants. Floats discard a
choice of signs only by a vector of the kernel that proves it; all else is decided in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import LAST, ROUGH, grown, growth
from lownoise.samplers.lazy import WORD, chosen
from lownoise.samplers.uniform.abstract import AbstractUniform, dyadic
from lownoise.samplers.uniform.hull import simplex_point, simplex_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy

_BITS = 40  # of a chance
_WHOLE = 1 << _BITS
_ROUNDS = 8  # of making a kernel's basis orthonormal
_ROOM = 2.0**-16  # of the bounds on sums, for what chances are rounded up by
_NUMBERS = 1 << 19  # of tries that are made at a time
_LEAST_TRIES = 16
_EDGE = 1e-9
_SEED = 20261128
_PILOTS, _LEAST_PILOTS, _PILOT_WORK = 1024, 24, 1e6
_TRY, _NUMBERS_OF_TRY = 5.0, 150.0  # microseconds, and numbers a microsecond


@final
@dataclass(frozen=True, eq=False)
class UniformBases(AbstractUniform):
    """Uniform points of the hull of ±p, p one of n = d + k rows: exact, by `tries` tries each.

    Args:
        points: p, shape (n, d), n > d, of rank d; exactly the stored floats. Points inside the
            hull, on its faces, zeros and repeats may be among them.
        moment: E u·uᵀ, shape (d, d), or an estimate; without it simplices are drawn for one.

    Raises:
        PlanError: where the points are no more than dimensions, of a lower rank, or too nearly so
            for floats.

    Examples:
        >>> square = UniformBases(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        >>> basis, signs = square.simplex(SimulationRandomness(1))
        >>> basis.shape, signs.shape, 1 < square.tries < 3
        ((2,), (2,), True)
    """

    points: ArrayLike
    moment: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check, and find the kernel."""
        given = matrix(self.points, field="UniformBases.points", error=PlanError)
        object.__setattr__(self, "points", given)
        n, d = given.shape
        if not n > d:
            raise PlanError(
                f"UniformBases.points: {n} in {d} dimensions; give more than dimensions"
            )
        _ = self._kernel  # which may raise

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self._points.shape[1])

    @property
    def estimated(self) -> bool:
        """Yes: `second_moment` is an estimate, and no claim rests on it."""
        return True

    @property
    def tries(self) -> float:
        """How many choices are tried for a point on average, nearly; see `tries_of`."""
        return tries_of(*self._points.shape)

    @property
    def work(self) -> float:
        """Microseconds a point."""
        return work_of(*self._points.shape)

    @property
    def _points(self) -> Vector:
        return np.asarray(self.points)

    @cached_property
    def _kernel(self) -> _Kernel:
        return _Kernel(self._points)

    def simplex(self, randomness: Randomness) -> tuple[Integers, Vector]:
        """Return d of the points and their signs, with a chance in proportion to the volume.

        Returns:
            Numbers of points, rising, shape (d,), and ±1 for each, shape (d,): the corners, but
            for 0, of a simplex.
        """
        count = 2 * self.tries
        while True:
            found = self._kernel.tried(count, randomness)
            for i in range(len(found.others)):
                if self._kernel.takes(found, i, randomness):
                    basis = np.delete(np.arange(found.signs.shape[1]), found.others[i])
                    return basis, found.signs[i, basis]

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        basis, signs = self.simplex(randomness)
        return simplex_point(signs[:, None] * self._points[basis], randomness)

    def second_moment(self) -> Vector:
        """Return what was given, or what simplices of a simulation have, shape (d, d)."""
        if self.moment is not None:
            return np.asarray(self.moment).copy()
        return self._estimated.copy()

    @cached_property
    def _estimated(self) -> Vector:
        d = self.dimension
        count = min(max(int(_PILOT_WORK / self.work), _LEAST_PILOTS), _PILOTS)
        corners = self._simulated(count, SimulationRandomness(_SEED))
        sums = corners.sum(axis=1)
        own = np.einsum("fia,fib->ab", corners, corners, optimize=True) + sums.T @ sums
        return frozen(own / (len(corners) * (d + 1) * (d + 2)))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        return simplex_points(self._simulated(count, randomness), randomness)

    def _simulated(self, count: int, randomness: Randomness) -> Vector:
        """Return corners of simplices, shape (count, d, d)."""
        corners: list[Vector] = []
        while len(corners) < count:
            found = self._kernel.tried((count - len(corners)) * self.tries, randomness)
            off = np.max(np.abs(found.middles), axis=1, initial=0.0) - 1
            kept = off < 0
            for i in np.flatnonzero(np.abs(off) <= _EDGE).tolist():
                kept[i] = self._kernel.takes(found, i, randomness)
            basis = np.ones(found.signs.shape, dtype=np.bool_)
            np.put_along_axis(basis, found.others, values=False, axis=1)
            numbers = np.nonzero(basis[kept])[1].reshape(-1, self.dimension)
            signs = found.signs[kept][basis[kept]].reshape(numbers.shape)
            corners.extend(signs[:, :, None] * self._points[numbers])
        return np.array(corners[:count])


def tries_of(count: int, dimension: int) -> float:
    """Return nearly how many choices of `count` points a point of their hull takes: (π/2)^(k/2)√C.

    With N orthonormal, Σ det² = 1 over all c of C; sums of random signs have a density about
    (2π)^(−k/2) at 0 beside a volume of 2^k|det N_c|, and √C is what Σ|det| is at most.

    Examples:
        >>> round(tries_of(18, 16)), round(tries_of(24, 16))
        (19, 5221)
    """
    k = count - dimension
    logs = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(dimension + 1)
    return math.exp(min((k * math.log(math.pi / 2) + logs) / 2, 700.0))


def work_of(count: int, dimension: int) -> float:
    """Return about how many microseconds the tries for a point take on a usual core.

    Examples:
        >>> work_of(18, 16) < 200 < work_of(24, 16) < 2e5
        True
    """
    k = count - dimension
    return tries_of(count, dimension) * (_TRY + count * k * k / _NUMBERS_OF_TRY)


@final
@dataclass(frozen=True, eq=False)
class _Tries:
    """Choices that floats did not discard.

    Args:
        others: c, shape (m, k).
        shares: the whole chances that c was drawn with, row by row, shape (m, k).
        signs: of all points, of which those of c mean nothing, shape (m, n).
        middles: u, nearly, shape (m, k).
    """

    others: Integers
    shares: Integers
    signs: Vector
    middles: Vector


@final
class _Kernel:
    """The kernel of F: a basis in whole numbers, N, and N·M, which is orthonormal or nearly."""

    def __init__(self, points: Vector) -> None:
        n, d = points.shape
        self.size = k = n - d
        found, nullity = fmpz_mat(dyadic(points).rows).transpose().nullspace()
        if int(nullity) != k:
            raise PlanError(f"{n} points in {d} dimensions are flat; leave out an answer")
        self._whole = [[int(x) for x in row[:k]] for row in found.tolist()]
        self.rows = self._orthonormal()
        self._sides = self._bounds()

    def _orthonormal(self) -> Vector:
        """Return N·M, each number the nearest float, and keep M."""
        n, k = len(self._whole), self.size
        sizes = [max(abs(row[j]) for row in self._whole).bit_length() for j in range(k)]
        M = fmpq_mat(k, k, [fmpq(1, 1 << sizes[i]) if i == j else fmpq(0)
                            for i in range(k) for j in range(k)])  # fmt: skip
        N = fmpq_mat(fmpz_mat(self._whole))
        for _ in range(_ROUNDS):
            product = (N * M).table()
            rows = np.array([[int(x.p) / int(x.q) for x in row] for row in product])
            off = float(np.max(np.abs(rows.T @ rows - np.eye(k)))) * k
            if off < 2.0**-20:
                self._turn, self._exact = M, product
                return frozen(rows)
            try:
                turn = np.linalg.inv(np.linalg.qr(rows, mode="r"))
            except np.linalg.LinAlgError:
                break
            M = M * fmpq_mat(k, k, [fmpq(*x.as_integer_ratio()) for x in turn.ravel().tolist()])
        raise PlanError(
            f"{n} points in {n - k} dimensions are too nearly flat; leave out an answer"
        )

    def _bounds(self) -> list[float]:
        """Return at least the sums of distances from the span of i rows, for each i < k.

        The squares of the distances sum to at most (k − i)·‖N·M‖² (Cauchy and Schwarz).
        """
        n, k = self.rows.shape
        return [math.sqrt(n * (k - i)) * (1 + _ROOM) for i in range(k)]

    @cached_property
    def _unit(self) -> Fraction:
        """What |det N_c| over the product of the chances, in 2⁻⁴⁰ths, is to be multiplied by."""
        det = abs(self._turn.det())
        whole = Fraction(int(det.p) << _BITS * self.size, int(det.q))
        for side in self._sides:
            whole /= Fraction(side)
        return whole

    @cached_property
    def _lost(self) -> float:
        """How far off a row of floats is from that of N·M, in length."""
        most = float(np.max(np.linalg.norm(self.rows, axis=1)))
        return grown(most * LAST, ROUGH) + 2.0**-900

    def tried(self, count: float, randomness: Randomness) -> _Tries:
        """Return choices of c and of signs that may be simplices, of about so many."""
        n, k = self.rows.shape
        most = max(min(count, _NUMBERS // (n * k)), _LEAST_TRIES)
        others, shares = self._others(int(most), randomness)
        # of which there may be none: where few points depend on each other most tries are given up
        wide = -(-n // WORD)
        words = randomness.words(len(others) * wide).reshape(len(others), wide)
        bits = np.unpackbits(words.view(np.uint8), axis=1)[:, :n]
        signs = np.asarray(1.0 - 2.0 * bits, dtype=np.float64)
        free = signs.copy()
        np.put_along_axis(free, others, 0.0, axis=1)
        columns = self.rows[others]
        try:
            turned = np.linalg.inv(columns)
        except np.linalg.LinAlgError:
            return _Tries(others, shares, signs, np.ones(others.shape))
        # with t a column of `turned`, N·M·t is in the kernel: where |Σ_b sᵢ(NMt)ᵢ| is over
        # Σ_c |(NMt)ⱼ| no u has them all
        middles = np.einsum("mi,mij->mj", free @ self.rows, turned)
        room = np.abs(np.einsum("mij,mjl->mil", columns, turned)).sum(axis=1)
        whole = float(np.sum(np.max(np.abs(self.rows), axis=1)))
        off = 4 * (growth(n + k + 9) * whole + n * self._lost) * np.abs(turned).sum(axis=1)
        kept = np.flatnonzero(~np.any(np.abs(middles) > room * (1 + LAST) + off, axis=1))
        return _Tries(others[kept], shares[kept], signs[kept], middles[kept])

    def _others(self, count: int, randomness: Randomness) -> tuple[Integers, Integers]:
        """Return c of the tries that come to one, and their chances; shapes (m, k)."""
        n, k = self.rows.shape
        words = randomness.words(count * k).reshape(count, k) >> np.uint64(WORD - _BITS)
        levels = words.astype(np.int64)
        left = np.broadcast_to(self.rows, (count, n, k)).copy()  # what is beyond the span so far
        errors = np.full(count, self._lost)  # of its rows, in length
        others, shares = np.zeros((2, count, k), dtype=np.int64)
        for i in range(k):
            lengths = np.sqrt(np.einsum("mij,mij->mi", left, left))
            chances = self._chances(lengths, errors, others[:, :i], self._sides[i])
            ends = np.cumsum(chances, axis=1)
            picks = np.count_nonzero(ends <= levels[:, i, None], axis=1)
            on = np.flatnonzero(picks < n)
            picks = picks[on]
            levels, others, shares, errors = levels[on], others[on], shares[on], errors[on]
            others[:, i], shares[:, i] = picks, chances[on, picks]
            if i + 1 < k:
                left, errors = self._beyond(left[on], errors, picks)
        return others, shares

    def _beyond(self, left: Vector, errors: Vector, picks: Integers) -> tuple[Vector, Vector]:
        """Return what is left of all rows beyond one of them more, and how far off that is.

        Of a row, a multiple of the one picked is taken, at most `most / length` times it.
        """
        lengths = np.sqrt(np.einsum("mij,mij->mi", left, left))
        own, most = np.arange(len(left)), np.max(lengths, axis=1, initial=0.0)
        length = lengths[own, picks]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            axis = left[own, picks] / length[:, None]
            beyond = left - np.einsum("mij,mj->mi", left, axis)[:, :, None] * axis[:, None, :]
            errors = errors * grown(1 + grown(most / length, LAST), LAST)
            errors = grown(errors + growth(4 * self.size + 40) * most, LAST)
        return beyond, errors

    def _chances(self, lengths: Vector, errors: Vector, others: Integers, side: float) -> Integers:
        """Return whole numbers of 2⁻⁴⁰ths, at least the distances over `side`, shape (m, n)."""
        with np.errstate(invalid="ignore", over="ignore"):
            upper = grown(lengths, LAST) + errors[:, None]
            wide = ~(np.sum(upper, axis=1) * (1 + _ROOM / 8) < side)
            upper[wide] = 0.0
        for m in np.flatnonzero(wide).tolist():
            upper[m] = self._distances_up(others[m].tolist())
        return np.asarray(np.floor(upper * (_WHOLE / side) * (1 + LAST)), dtype=np.int64) + 1

    def _distances_up(self, others: list[int]) -> Vector:
        """Return at least how far each row is from the span of some, by fractions.

        0 where those are dependent, as no c has them.
        """
        i, n = len(others), len(self._whole)
        if not i:
            return np.array([_root_up(_dot(row, row)) for row in self._exact])
        some = [self._exact[j] for j in others]
        gram = fmpq_mat(i, i, [_dot(a, b) for a in some for b in some])
        if gram.det() == 0:
            return np.zeros(n)
        inverse = gram.inv()
        found = []
        for row in self._exact:
            across = fmpq_mat(i, 1, [_dot(a, row) for a in some])
            found.append(_root_up(_dot(row, row) - (across.transpose() * inverse * across)[0, 0]))
        return np.array(found)

    def takes(self, found: _Tries, i: int, randomness: Randomness) -> bool:
        """Return whether a choice is a simplex, and kept: less often the larger its chance was."""
        others = found.others[i].tolist()
        columns = fmpz_mat([self._whole[j] for j in others]).transpose()
        det = abs(int(columns.det()))
        if not det or not self._holds(columns, others, found.signs[i]):
            return False
        share = det * self._unit / math.prod(found.shares[i].tolist())
        return chosen([share.numerator, share.denominator], randomness=randomness) == 0

    def _holds(self, columns: Any, others: list[int], signs: Vector) -> bool:  # noqa: ANN401
        """Return whether u is in the cube, by whole numbers, with (η, η², …) for 0."""
        k, left = self.size, set(others)
        signed = [(int(s), row) for j, (s, row) in enumerate(
            zip(signs.tolist(), self._whole, strict=True)) if j not in left]  # fmt: skip
        sums = [-sum(s * row[j] for s, row in signed) for j in range(k)]
        middles = columns.solve(fmpz_mat(k, 1, sums)).entries()
        if any(abs(u) > 1 for u in middles):
            return False
        edges = [j for j, u in enumerate(middles) if abs(u) == 1]
        inverse = columns.inv(integer=False).table() if edges else []
        return all(_first(inverse[j]) * middles[j] < 0 for j in edges)


def _first(row: list[Any]) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return the first number that is not 0."""
    return next(x for x in row if x != 0)


def _dot(first: list[Any], second: list[Any]) -> Any:  # noqa: ANN401
    return sum((a * b for a, b in zip(first, second, strict=True)), fmpq(0))


def _root_up(square: Any) -> float:  # noqa: ANN401
    return grown(math.sqrt(max(int(square.p) / int(square.q), 0.0)), LAST) + 2.0**-500
