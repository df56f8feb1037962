# SPDX-License-Identifier: Apache-2.0
"""Points of a convex body by the proximal walk, "In-and-Out", exactly as its proof has it.

Kook, Vempala & Zhang (2024), after Chen, Chewi, Salim & Wibisono (2022): from x in K the walk goes
out to y = x + σξ, and back in to a draw of N(y, σ²I) restricted to K, by trying until one is in K.

The walk lives in real numbers, and so does this one. A float y₀ is kept near y, and y₀ + σξ' is
tried instead of y + σξ'. Where it is in K, a coin takes it with chance exp(l − κ), l the logarithm
of the two densities' ratio and κ ≥ |l| on K; so what is taken has the law of N(y, σ²I) in K,
exactly (von Neumann 1951). κ is near 1e-12: but once in 1/κ times the coin is sure whatever l is.
What is not sure, here and at the boundary of K, is decided by more bits, in ball arithmetic. The
new point is y₀ + σξ', so errors never add up and nothing need be kept of the path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.balls import precision
from lownoise.errors import PlanError
from lownoise.samplers.lazy import WORD, Lazy, UniformBits
from lownoise.samplers.uniform import AbstractUniform
from lownoise.samplers.walks.increments import ERROR, LARGEST, Anchored, Increments, NormalVector
from lownoise.samplers.walks.mixing import Proximal
from lownoise.samplers.walks.prediction import moment, points_after

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.entropy import Entropy
    from lownoise.samplers.walks.body import RoundBody

_BITS = 192
_TRIES = (4, 16, 64, 256)  # proposals looked at together: at first, and then
_WILD = 2.0**-104  # over twice the chance that a normal number is wild, on both ways


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class InAndOut(AbstractUniform):
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

    Raises:
        PlanError: where a number is out of range.

    Examples:
        >>> from lownoise.entropy import SimulationEntropy
        >>> from lownoise.samplers.walks import Preimage, RoundBody
        >>> square = Preimage(np.eye(2))
        >>> body = RoundBody(membership=square, factor=np.eye(2), inner=1.0, outer=1.5)
        >>> walk = InAndOut(body=body, deviation=1.0, steps=40)
        >>> walk.relative < 1e-8
        True
        >>> point = walk.draw(SimulationEntropy(1)).balls()
        >>> all(abs(x) < 1 for x in point)
        True
    """

    body: RoundBody
    deviation: float
    steps: int
    volume: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.steps < 1:
            raise PlanError(f"InAndOut.steps={self.steps} is below 1; give at least one step")
        _ = self.proof

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.body.dimension

    @property
    def estimated(self) -> bool:
        """Yes: `second_moment` is simulated, and no claim rests on it."""
        return True

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

    def draw(self, entropy: Entropy) -> Lazy:
        """Return a point, known by its bits so far.

        How many proposals are tried has a heavy tail: more than N in all with a chance that falls
        like 1/N.
        """
        return Mapped(self.body, _Path(self, entropy).walk(self.steps))

    def second_moment(self) -> Vector:
        """Return an estimate of E u·uᵀ, shape (d, d), by a simulation with a fixed seed."""
        return self._moment.copy()

    @cached_property
    def _moment(self) -> Vector:
        return moment(self.body, self.proof)

    def simulate(self, count: int, entropy: Entropy) -> Vector:
        """Return `count` points of the walk in floats, shape (count, d)."""
        found = points_after(self.body, self.proof, self.steps, count, entropy)
        return np.asarray(found @ self.body.matrix.T)

    def _bounds(self, largest: float) -> _Bounds:
        """Return what floats can be off by while no normal number exceeds `largest`."""
        d, outer, sigma = self.dimension, self.body.outer, self.deviation
        move = sigma * largest
        # σẑ is off by σ·ERROR and a rounding; two sums are rounded below outer + 2·move
        error = sigma * ERROR + 2.0**-50 * (outer + 2 * move)
        off = math.sqrt(d) * 2 * error * (1 + 2.0**-40)
        far = 2 * outer + math.sqrt(d) * move
        return _Bounds(
            largest=largest,
            doubt=self.body.doubt(outer + 2 * move, error),
            kappa=(far * off + off * off) / (sigma * sigma) * (1 + 2.0**-20),
        )


@final
@dataclass(frozen=True)
class _Bounds:
    """`doubt` of norms, and κ ≥ |l| for every y₀ and y so near each other."""

    largest: float
    doubt: float
    kappa: float


@final
class Mapped:
    """F·u for a point u of the round body, known by its bits so far."""

    def __init__(self, body: RoundBody, point: Lazy) -> None:
        self._body = body
        self._point = point

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self._body.dimension

    def balls(self) -> list[Any]:
        """Return a ball for each coordinate."""
        return self._body.image(self._point.balls())

    def refine(self, entropy: Entropy) -> None:
        """Draw more bits of the point."""
        self._point.refine(entropy)


@final
class _Path:
    """One run of the walk: where it is, in floats and by its bits."""

    def __init__(self, law: InAndOut, entropy: Entropy) -> None:
        self._law = law
        self._body = law.body
        self._entropy = entropy
        self._sigma = law.deviation
        self._stock = Increments(law.dimension, entropy)
        self._bounds = law._bounds(LARGEST)  # noqa: SLF001 (one module)
        words = entropy.words(law.dimension)
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
        for tries in chain(_TRIES, repeat(_TRIES[-1])):
            first = stock.next(tries)
            points = y + self._sigma * stock.numbers[first : first + tries]
            sides = self._body.decide(points, self._bounds.doubt)
            wild = stock.wild[first : first + tries]
            if wild.any():
                sides[wild] = 0
            for i in np.flatnonzero(sides >= 0).tolist():
                back = Anchored(y, self._sigma, stock.vector(first + i))
                if not sides[i] and not self._inside(back):
                    continue
                if not self._takes(first + i, back, forward):
                    continue
                self._near, self._point = points[i], back
                stock.at = first + i + 1
                return
            stock.at += tries

    def _inside(self, point: Anchored) -> bool:
        """Whether a point in doubt is in K, by as many of its bits as that takes."""
        if not self._body.membership.exact:
            return False
        bits = _BITS
        while True:
            with precision(bits):
                found = self._body.holds(point.balls())
            if found is not None:
                return found
            point.refine(self._entropy)
            bits += WORD

    def _takes(self, index: int, back: Anchored, forward: NormalVector) -> bool:
        """Whether the coin takes a proposal: V > 1 − exp(l − κ), V uniform in [0, 1).

        With y = y₀ + δ, l = (⟨x − y₀, δ⟩ − |δ|²/2)/σ² at the proposal x; the threshold is ≤ 2κ.
        """
        kappa = self._bounds.kappa
        if self._stock.coins[index] > 2 * kappa * (1 + 2.0**-40):
            return True
        coin = self._stock.coin(index)
        bits = _BITS
        while True:
            with precision(bits):
                here = zip(self._point.balls(), forward.balls(), back.anchor, strict=True)
                sigma = arb(self._sigma)
                shift = [x + sigma * z - arb(a) for x, z, a in here]
                inner = sum(
                    (s * z for s, z in zip(shift, back.numbers.balls(), strict=True)), arb(0)
                )
                square = sum((s * s for s in shift), arb(0))
                ratio = inner / sigma - square / (2 * sigma * sigma)
                above = coin.balls()[0] - 1 + (ratio - arb(kappa)).exp()
            if above > 0:
                return True
            if above <= 0:
                return False
            for part in (self._point, forward, back, coin):
                part.refine(self._entropy)
            bits += WORD
