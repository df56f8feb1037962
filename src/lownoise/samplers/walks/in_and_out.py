# SPDX-License-Identifier: Apache-2.0
"""Points of a convex body by the proximal walk, "In-and-Out", exactly as its proof has it.

Kook, Vempala & Zhang (2024), after Chen, Chewi, Salim & Wibisono (2022): from x in K the walk goes
out to y = x + σξ, and back in to a draw of N(y, σ²I) restricted to K, by trying until one is in K.

The walk lives in real numbers, and so does this one. Proposals are not y + σξ' but y₀ + σξ' about a
float y₀; with y = y₀ + N + δ, the density of N(y, σ²I) over theirs is

    a constant times exp(⟨x, N⟩/σ² + ⟨x − y₀, δ⟩/σ²).

N is an exact float vector with ⟨x, N⟩ ≤ S on K, and κ is at least the last term on K; so a proposal
in K taken with chance exp((⟨x, N⟩ − S + ⟨x − y₀, δ⟩)/σ² − κ) ≤ 1 has the law of N(y, σ²I) in K,
exactly (von Neumann 1951). First N = 0 and y₀ is near y. Where that fails, half-spaces that hold K
give an N for which y₀ is near the point of K next to y: without it the number of proposals has an
infinite mean. κ is near 1e-12, and the coin is in doubt about as rarely. What floats leave open,
here and at the boundary of K, is decided by more bits in ball arithmetic. The new point is
y₀ + σξ', so errors never add up and nothing need be kept of the path.

Its normal vectors and coins are a stock of floats within a proved error, and their bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import NormalVector, normals
from lownoise.numbers.rounding import CROSS, grown, growth
from lownoise.samplers.lazy import WORD, Lazy, UniformBits, settled
from lownoise.samplers.walks.body import AbstractRound
from lownoise.samplers.walks.mixing import Proximal, moment, points_after

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Vector, Words
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.walks.body import RoundBody


LARGEST = 12.0  # a normal number beyond it, one in 2^107, is wild
ERROR = 2.0**-47  # how far a normal number's float can be off
_BLOCKS = (1 << 8, 1 << 12)  # rows drawn first, and later


@final
class Increments:
    """Rows of independent normal numbers, each with a coin; drawn in blocks, used in turn.

    Rows that are looked at and then left are as good as new: which row is used is decided by the
    rows before it.

    Args:
        dimension: d numbers a row.
        randomness: where the bits come from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> stock = Increments(3, SimulationRandomness(1))
        >>> first = stock.next(2)
        >>> first, stock.numbers[first : first + 2].shape
        (0, (2, 3))
    """

    def __init__(self, dimension: int, randomness: Randomness) -> None:
        self._dimension = dimension
        self._entropy = randomness
        self._made: dict[int, NormalVector] = {}
        self._words: Words = np.empty((0, dimension + 1), dtype=np.uint64)
        self.numbers: Vector = np.empty((0, dimension))
        self.coins: Vector = np.empty(0)  # the leading bits of uniform numbers, as floats
        self.wild: Chosen = np.empty(0, dtype=np.bool_)
        self.at = 0

    def next(self, count: int) -> int:
        """Return where the next rows stand, at least `count` of them."""
        if self.at + count > len(self.numbers):
            self._refill(max(_BLOCKS[len(self.numbers) > 0], count))
        return self.at

    def vector(self, index: int) -> NormalVector:
        """Return a row by its bits; ask once for a row."""
        made = self._made.get(index)
        return made if made is not None else NormalVector(self._words[index, :-1])

    def coin(self, index: int) -> UniformBits:
        """Return a row's coin by its bits."""
        return UniformBits(self._words[index, -1:])

    def _refill(self, rows: int) -> None:
        d = self._dimension
        self._words = self._entropy.words(rows * (d + 1)).reshape(rows, d + 1)
        z, error = normals(np.ascontiguousarray(self._words[:, :-1]).ravel())
        self.numbers, errors = z.reshape(rows, d), error.reshape(rows, d)
        self.coins = self._words[:, -1].astype(np.float64) * 2.0**-WORD
        self._made = {}
        for row in np.flatnonzero(errors.max(axis=1) > ERROR / 2).tolist():
            self._made[row] = self._close(row)
        self.wild = np.abs(self.numbers).max(axis=1) > LARGEST
        self.at = 0

    def _close(self, row: int) -> NormalVector:
        """Draw bits of a row until its floats are within the error: one row in 2^20/d."""
        exact = NormalVector(self._words[row, :-1])
        with precision(_BITS):
            while True:
                balls = exact.balls()
                if all(ball.is_finite() and ball.rad() < ERROR / 4 for ball in balls):
                    self.numbers[row] = [float(ball.mid()) for ball in balls]
                    return exact
                exact.refine(self._entropy)


@final
class Anchored:
    """anchor + scale·ξ for a row ξ of normal numbers.

    Args:
        anchor: exact floats, shape (d,).
        scale: an exact float.
        numbers: ξ.
    """

    def __init__(self, anchor: Vector, scale: float, numbers: NormalVector | UniformBits) -> None:
        self.anchor = anchor
        self._scale = scale
        self.numbers = numbers

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.anchor.size

    def balls(self) -> list[Any]:
        """Return a ball for each coordinate."""
        scale = arb(self._scale)
        return [
            arb(a) + scale * z
            for a, z in zip(self.anchor.tolist(), self.numbers.balls(), strict=True)
        ]

    def refine(self, randomness: Randomness) -> None:
        """Draw more bits of each number."""
        self.numbers.refine(randomness)


_BITS = 192
_TRIES = (4, 16, 64, 256)  # proposals looked at together: at first, and then
_EXP = 2.0**-40  # how far numpy's exponential can be off, relatively, with room to spare
_LOOSE = 2.0**-10  # floats that are off by more decide no coin
_WILD = 2.0**-104  # over twice the chance that a normal number is wild, on both ways


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class InAndOut(AbstractRound):
    """Points of F·K after so many steps of the walk in K.

    Where the membership is exact, the density is within 1 ± `relative` of the uniform one; noise
    made of it has a density within (1 + η)/(1 − η) of the K-norm mechanism's on either side, so its
    loss is at most ε + log((1 + η)/(1 − η)) (001, Lemma A.1, with the constant of this case: both
    densities are off by 1 ± η, and their ratio by the quotient).

    Args:
        body: K and F.
        deviation: σ.
        steps: n.
        volume: at least vol(K), where better is known than the volume of outer·B₂.
        given: an estimate of E u·uᵀ, shape (d, d), where there is one already.

    Raises:
        PlanError: where a number is out of range.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> from lownoise.samplers.walks import Preimage, RoundBody
        >>> square = Preimage(np.eye(2))
        >>> body = RoundBody(membership=square, factor=np.eye(2), inner=1.0, outer=1.5)
        >>> walk = InAndOut(body=body, deviation=1.0, steps=40)
        >>> walk.relative < 1e-8
        True
        >>> point = walk.draw(SimulationRandomness(1)).balls()
        >>> all(abs(x) < 1 for x in point)
        True
    """

    body: RoundBody
    deviation: float
    steps: int
    volume: float | None = None
    given: Vector | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.steps < 1:
            raise PlanError(f"InAndOut.steps={self.steps} is below 1; give at least one step")
        _ = self.proof

    @cached_property
    def proof(self) -> Proximal:
        """What is proved of the walk."""
        return Proximal(
            dimension=self.dimension,
            inner=self.body.inner,
            outer=self.body.outer,
            deviation=self.deviation,
            volume=self.volume,
        )

    @cached_property
    def relative(self) -> float:
        """η: the density is within 1 ± η of the uniform one, but for `distance`."""
        return self.proof.relative_up(self.steps)

    @cached_property
    def distance(self) -> float:
        """What a weak membership can change, in total variation; 0 where it is exact.

        It forgets points of K that `norms` cannot tell from the boundary, and those reached by a
        wild number.
        """
        if self.body.membership.exact:
            return 0.0
        shell = 3 * self._bounds(LARGEST).doubt + _WILD  # both sides of the doubt, and its rounding
        return self.proof.distance_up(self.steps, shell)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far.

        How long it takes depends on the bits alone. Where the membership knows no half-spaces, more
        than N proposals are tried with a chance that falls like 1/N.
        """
        return self.body.mapped(_Path(self, randomness).walk(self.steps))

    def second_moment(self) -> Vector:
        """Return an estimate of E u·uᵀ, shape (d, d), by a simulation with a fixed seed."""
        return self._moment.copy()

    @cached_property
    def _moment(self) -> Vector:
        return moment(self.body, self.proof) if self.given is None else self.given

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points of the walk in floats, shape (count, d)."""
        found = points_after(self.body, self.proof, self.steps, count, randomness)
        return np.asarray(found @ self.body.matrix.T)

    def _bounds(self, largest: float) -> _Bounds:
        """Return what floats can be off by while no normal number exceeds `largest`."""
        d, outer, sigma = self.dimension, self.body.outer, self.deviation
        move = sigma * largest
        # σẑ is off by σ·ERROR and a rounding; two sums are rounded below outer + 2·move
        error = sigma * ERROR + 2.0**-50 * (outer + 2 * move)
        off = grown(math.sqrt(d) * 2 * error)
        far = 2 * outer + math.sqrt(d) * move
        return _Bounds(
            largest=largest,
            error=error,
            doubt=self.body.doubt(outer + 2 * move, error),
            kappa=grown((far * off + off * off) / (sigma * sigma), CROSS),
        )


@final
@dataclass(frozen=True)
class _Bounds:
    """What floats are off by: a coordinate, norms, and κ ≥ |⟨x − y₀, δ⟩|/σ² for x in K."""

    largest: float
    error: float
    doubt: float
    kappa: float


@final
@dataclass(frozen=True, eq=False)
class _Tilt:
    """Proposals about y₀ = `anchor`, near y − N; N = `shift`, and ⟨N, x⟩ ≤ S = `limit` on K."""

    anchor: Vector
    shift: Vector
    limit: float


@final
class _Path:
    """One run of the walk: where it is, in floats and by its bits."""

    def __init__(self, law: InAndOut, randomness: Randomness) -> None:
        self._law = law
        self._body = law.body
        self._entropy = randomness
        self._sigma = law.deviation
        self._stock = Increments(law.dimension, randomness)
        self._bounds = law._bounds(LARGEST)  # noqa: SLF001 (one module)
        words = randomness.words(law.dimension)
        side = law.proof.start
        self._point = Anchored(np.full(law.dimension, -side), 2 * side, UniformBits(words))
        self._near = side * (2 * (words.astype(np.float64) * 2.0**-WORD) - 1)

    def walk(self, steps: int) -> Lazy:
        """Return where the walk is after so many steps."""
        for _ in range(steps):
            self._step()
        return self._point

    def _step(self) -> None:
        stock = self._stock
        out = stock.next(1)
        move = stock.numbers[out]
        if stock.wild[out]:
            largest = max(self._bounds.largest, float(np.abs(move).max()))
            self._bounds = self._law._bounds(largest)  # noqa: SLF001
        y = self._near + self._sigma * move
        forward = stock.vector(out)
        stock.at += 1
        tilt = _Tilt(y, np.zeros_like(y), 0.0)
        for tries in chain(_TRIES, repeat(_TRIES[-1])):
            first = stock.next(tries)
            points = tilt.anchor + self._sigma * stock.numbers[first : first + tries]
            sides = self._body.decide(points, self._bounds.doubt)
            wild = stock.wild[first : first + tries]
            if wild.any():
                sides[wild] = 0
            coins = self._coins(points, first, tilt)
            for i in np.flatnonzero((sides >= 0) & (coins >= 0)).tolist():
                back = Anchored(tilt.anchor, self._sigma, stock.vector(first + i))
                if not sides[i] and not self._inside(back):
                    continue
                if not coins[i] and not self._takes(first + i, back, forward, tilt):
                    continue
                self._near, self._point = points[i], back
                stock.at = first + i + 1
                return
            stock.at += tries
            if tries == _TRIES[0]:
                tilt = self._tilted(y)

    def _tilted(self, y: Vector) -> _Tilt:
        """Return the proposals to go on with: about a point of K near y, or about y itself."""
        shifts, limits = self._body.shifts(y[None])
        anchor = y - shifts[0]
        outer, move = self._body.outer, self._sigma * self._bounds.largest
        size = max(float(np.linalg.norm(anchor)), float(np.abs(shifts).max()) / 2)
        near = size <= outer + move / 2  # what the bounds on floats take for granted
        return _Tilt(anchor, shifts[0], float(limits[0])) if near else _Tilt(y, 0 * y, 0.0)

    def _coins(self, points: Vector, first: int, tilt: _Tilt) -> Vector:
        """Return 1 where the coin surely takes a proposal in K, −1 where surely not, 0 in doubt."""
        law, bounds = self._law, self._bounds
        square = self._sigma * self._sigma
        height = (points @ tilt.shift - tilt.limit) / square
        largest = law.body.outer + 2 * self._sigma * bounds.largest
        size = float(np.abs(tilt.shift).sum())
        # of the points, of the product, of the last two operations
        off = size * (bounds.error + growth(law.dimension + 4) * largest) / square
        off += (size * largest + abs(tilt.limit)) / square * 2.0**-50
        coins = self._stock.coins[first : first + len(points)]
        chance = np.exp(np.minimum(height, 1.0))  # in K it is at most 0
        low = chance * (1 - 2 * bounds.kappa - 2 * off - _EXP) - 2.0**-52
        high = chance * (1 + 2 * off + _EXP) + 2.0**-52
        if off > _LOOSE:
            return np.zeros(len(points), dtype=np.int8)
        return np.asarray((coins < low).astype(np.int8) - (coins > high))

    def _inside(self, point: Anchored) -> bool:
        """Whether a point in doubt is in K, by as many of its bits as that takes."""
        if not self._body.membership.exact:
            return False
        return self._body.settles(point, self._entropy, _BITS)

    def _takes(self, index: int, back: Anchored, forward: NormalVector, tilt: _Tilt) -> bool:
        """Whether the coin takes a proposal x in K: U < exp((⟨x, N⟩ − S + ⟨x − y₀, δ⟩)/σ² − κ)."""
        coin = self._stock.coin(index)

        def ask() -> bool | None:
            sigma = arb(self._sigma)
            own = [sigma * z for z in back.numbers.balls()]
            moves = zip(self._point.balls(), forward.balls(), strict=True)
            y = [x + sigma * z for x, z in moves]
            height = arb(-tilt.limit)
            for true, anchor, shift, move in zip(
                y, tilt.anchor.tolist(), tilt.shift.tolist(), own, strict=True
            ):
                delta = true - arb(anchor) - arb(shift)
                height += (arb(anchor) + move) * arb(shift) + move * delta
            chance = (height / (sigma * sigma) - arb(self._bounds.kappa)).exp()
            left = coin.balls()[0] - chance
            return True if left < 0 else False if left >= 0 else None

        return settled(ask, self._point, forward, back, coin, randomness=self._entropy, bits=_BITS)
