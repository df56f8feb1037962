# SPDX-License-Identifier: Apache-2.0
"""What every noise can say of itself, and what one run with it reveals, each number rounded up.

The noise is a real vector, drawn without looking at the totals; what is published is the totals,
integers, plus its rounding: `samplers.lazy` says why rounding reveals nothing more.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import Kinds
from lownoise.noise.coordinates import LAPLACE, Coordinates, log_concave_moment
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown, sqrt_up, square_up, up
from lownoise.privacy import noise_curve, pure_curve
from lownoise.samplers.lazy import rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody


_LITTLE = 1e-3  # the most that points are off by where 3η covers what μ moves


@final
@dataclass(frozen=True)
class Loss:
    """What one run reveals, each number rounded up.

    Args:
        epsilon: ε; infinite for Gaussian noise, which is μ-GDP and (ε, 0)-DP for no ε.
        delta: δ, 0 where nothing is approximate.
        rho: ρ of the noise itself, of all but δ where that is above 0; infinite where nothing but
            ε is known of it.
        mu: μ of the noise itself, likewise.
        ball: d where the noise is, for the worst change, that ∝ exp(−|z|) in d ≥ 2 dimensions moved
            by ε, |·| Euclidean; 0 where it is other noise.
    """

    epsilon: float
    delta: float = 0.0
    rho: float = math.inf
    mu: float = math.inf
    ball: int = 0


def gaussian_loss(mu: float) -> Loss:
    """Return what Gaussian noise reveals of changes of length μ: ρ = μ²/2, rounded up.

    Examples:
        >>> gaussian_loss(2.0).rho
        2.0
    """
    return Loss(math.inf, 0.0, square_up(mu) / 2, mu)


def pure_loss(epsilon: Fraction) -> Loss:
    """Return what any noise reveals that is ε-DP: what randomised response does, rounded up.

    Examples:
        >>> pure_loss(Fraction(2)).epsilon, round(pure_loss(Fraction(2)).rho, 4)
        (2.0, 1.5232)
    """
    rho, square = pure_curve.rho_up(epsilon), pure_curve.mu_square_up(epsilon)
    return Loss(fraction_up(epsilon), 0.0, fraction_up(rho), sqrt_up(fraction_up(square)))


def quotient_up(numerator: float, denominator: float) -> float:
    """Return a/b where that is a float, else the float above it; infinite for b = 0 < a.

    Examples:
        >>> quotient_up(1.0, 4.0)
        0.25
        >>> Fraction(quotient_up(1.0, 3.0)) >= Fraction(1, 3)
        True
    """
    if numerator == 0:
        return 0.0
    if denominator == 0 or not math.isfinite(numerator):
        return math.inf
    found = numerator / denominator
    if not math.isfinite(found):
        return math.inf
    enough = Fraction(found) * Fraction(denominator) >= Fraction(numerator)
    return found if enough else up(found)


def sum_up(numbers: Iterable[float]) -> float:
    """Return the sum where that is a float, else the float above it.

    Examples:
        >>> sum_up([0.5, 0.25])
        0.75
        >>> sum_up([0.1] * 3) >= 0.3
        True
    """
    listed = list(numbers)
    if not all(map(math.isfinite, listed)):
        return math.inf
    return fraction_up(sum(map(Fraction, listed), Fraction(0)))


def ball_loss(dimension: int, epsilon: float) -> Loss:
    """Return what noise ∝ exp(−|z|) of so many numbers reveals that moves by ε, |·| Euclidean.

    Examples:
        >>> ball_loss(16, 1.0).rho < ball_loss(2, 1.0).rho < ball_loss(1, 1.0).rho
        True
    """
    if not math.isfinite(epsilon):
        return Loss(math.inf)
    rho = noise_curve.ball_rho_up(dimension, epsilon)
    ball = dimension if dimension > 1 else 0
    return Loss(epsilon, 0.0, rho, noise_curve.ball_mu_up(dimension, epsilon), ball)


def worse(losses: Sequence[Loss]) -> Loss:
    """Return what a run reveals of changes each of which reveals one of these at most.

    Examples:
        >>> worse([Loss(1.0, 0.0, 0.25, 3.0), Loss(0.5, 0.0, 0.5, 4.0)])
        Loss(epsilon=1.0, delta=0.0, rho=0.5, mu=4.0, ball=0)
    """
    if len(losses) == 1:
        return losses[0]
    epsilon, delta, rho, mu = (
        max(getattr(loss, name) for loss in losses) for name in ("epsilon", "delta", "rho", "mu")
    )
    # of noise e^{−|z|} what the farthest change reveals is what any does
    ball = losses[0].ball if all(loss.ball == losses[0].ball for loss in losses) else 0
    return Loss(epsilon, delta, rho, mu, ball)


def composed(losses: Sequence[Loss]) -> Loss:
    """Return what several runs reveal together: ε, δ, ρ and μ² add (Dong, Roth & Su 2022).

    Examples:
        >>> composed([Loss(1.0, 0.0, 0.25, 3.0), Loss(0.5, 0.0, 0.5, 4.0)]).rho
        0.75
    """
    delta = min(sum_up(loss.delta for loss in losses), 1.0)
    mus = [loss.mu for loss in losses]
    mu = math.inf
    if all(map(math.isfinite, mus)):
        mu = sqrt_up(fraction_up(sum((Fraction(own) ** 2 for own in mus), Fraction(0))))
    return Loss(
        sum_up(loss.epsilon for loss in losses), delta, sum_up(loss.rho for loss in losses), mu
    )


def sampling_loss(exact: Loss, uniform: AbstractUniform) -> Loss:
    """Return what noise reveals that is made of points which are nearly uniform.

    With a density within 1 ± η of the exact noise's, ratios grow by (1 + η)/(1 − η) at most
    (001, Lemma A.1); its logarithm is below Δ = 2η/(1 − η). So D_α ≤ αρ + Δα/(α − 1), which with
    the growth of D_α in α is at most α(√ρ + √Δ)²; and both errors of a test stay within 1 ± η of
    what they were, which moves μ by 3η at most (`docs/theory.md`). With a total variation of τ,
    P'(A) ≤ P(A) + τ ≤ e^ε·Q(A) + τ ≤ e^ε·Q'(A) + (1 + e^ε)τ (001, section 8).

    Args:
        exact: what exact noise reveals.
        uniform: the sampler.
    """
    eta, tau, epsilon = uniform.relative, uniform.distance, exact.epsilon
    if not eta < 1:
        return Loss(math.inf)
    if eta == tau == 0:
        return exact
    off = grown(up(up(2 * eta) / (1 - eta)))
    total = epsilon if eta == 0 else sum_up([epsilon, off])
    if tau == 0:
        root = up(sqrt_up(exact.rho) + sqrt_up(off))
        mu = sum_up([exact.mu, up(3 * eta)]) if eta <= _LITTLE else math.inf
        return Loss(total, 0.0, up(root * root), mu)
    much = grown(math.exp(min(total, 700.0))) + 1 if total < 700 else math.inf  # noqa: PLR2004
    return Loss(total, min(up(tau * much), 1.0))


class AbstractStructure(ABC):
    """Changes whose greatest length in Gaussian noise follows from how they are made."""

    @property
    @abstractmethod
    def steady(self) -> bool:
        """Whether what noise reveals of them is, to the last bit, the same on every processor."""

    @abstractmethod
    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least the greatest length of a change in noise of this shape.

        Raises:
            PlanError: where the noise is not of the form that is known for them.
        """


class AbstractNoise(ABC):
    """Real-valued noise on r integers, in their unit.

    One from outside says its name and fields by `@NOISES.kind`, how it is read from the body of
    changes, a distance in total variation and its fields (`make`), and by `fitted` how much of it a
    plan takes where `mechanism=` names it.
    """

    note: ClassVar[str] = ""  # what a comparison of mechanisms says of it
    compared: ClassVar[bool] = False  # whether plans that name no noise fit it, too, by `fitted`

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of integers r."""

    @abstractmethod
    def loss(self, changes: AbstractBody) -> Loss:
        """Return what integers reveal that one neighbour moves by points of `changes`."""

    @property
    def independent_scales(self) -> Vector | None:
        """The scale of each number where all are independent Laplace ones, (r,); else None."""
        return None

    @property
    def coordinates(self) -> Coordinates | None:
        """The law of each number, where it is known to be one of those; else None."""
        own = self.independent_scales
        return None if own is None else Coordinates(LAPLACE, own)

    def far(self, outside: float) -> Vector | None:
        """Return how far each number strays but with chance `outside`, (r,); None if unknown."""
        own = self.independent_scales
        return None if own is None else frozen(own * -math.log(outside))

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far.

        Raises:
            PlanError: where it is not drawn bit by bit.
        """
        raise PlanError(f"noise={type(self).__name__} is not drawn bit by bit; use its integers")

    def scaled(self, factor: float) -> AbstractNoise:
        """Return so many times this noise.

        Raises:
            PlanError: where it has no multiples.
        """
        raise PlanError(f"noise={type(self).__name__} has no multiples; plan it anew")

    def growth(self, factors: Vector) -> Vector:
        """Return how many times as far `scaled` by each factor strays: as many, as a rule; (k,)."""
        return factors

    def block(self, count: int, randomness: Randomness) -> Integers | None:
        """Return what `many` does, where so many are drawn at once; None where one by one."""
        return None

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw, r integers."""
        found = self.block(1, randomness)
        if found is not None:
            return list(found[0].tolist())
        return rounded(self.draw(randomness), randomness=randomness)

    def many(self, count: int, randomness: Randomness) -> Integers:
        """Return the rounding of so many draws, whole numbers of any size; shape (count, r)."""
        found = self.block(count, randomness)
        if found is not None:
            return found
        drawn = [self.integers(randomness) for _ in range(count)]
        return np.array(drawn, dtype=object).reshape(count, self.dimension)

    def part(self, piece: Any, randomness: Randomness) -> Integers:  # noqa: ANN401 (of the totals)
        """Return the rounding of one draw where the totals' integers come: by default all of it."""
        return np.array(self.integers(randomness), dtype=object)

    def covariance(self) -> Vector:
        """Return its covariance, shape (r, r); or shape (r,), its diagonal, where that is all.

        Raises:
            PlanError: where it fits no matrix.
        """
        raise PlanError(f"covariance of {type(self).__name__} is no matrix; ask it of two cells")

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats, for predictions and tests alone; shape (count, r).

        Raises:
            PlanError: where it fits no row.
        """
        found = self.block(count, randomness)
        if found is None:
            raise PlanError(f"noise={type(self).__name__} stands in no row; draw its pieces")
        return found.astype(np.float64)

    def answer_factor(self, unit: Vector, embed: Vector | None) -> AbstractShape:
        """Return a factor of the answers' covariance; arguments as of `deviations`.

        Raises:
            PlanError: where the noise is no Gaussian.
        """
        raise PlanError("region is for Gaussian noise only; use simultaneous_interval")

    @classmethod
    def fitted(cls, setting: Any) -> Any:  # noqa: ANN401, ARG003 (planning is above)
        """Return the mechanism with the least such noise within a budget.

        Args:
            setting: the totals, what errors weigh and the budget, a `planning.pure_noise.Setting`.

        Raises:
            PlanError: where plans fit it otherwise, or it cannot cover the changes.
        """
        raise PlanError("no plan of this question has such noise")

    @property
    def estimated(self) -> bool:
        """Whether the covariance was estimated by simulation: it is computed, as a rule."""
        return False

    @property
    def left_out(self) -> str:
        """Why a chance δ is left out, in words, where one is."""
        return "the points of the noise are drawn by a walk whose law is known that closely"

    @property
    def steady(self) -> bool:
        """Whether what it reveals is, to the last bit, the same on every processor."""
        return True

    @property
    def integer_valued(self) -> bool:
        """Whether it is drawn in whole numbers, of which none is rounded."""
        return False

    @property
    def log_concave(self) -> bool:
        """Whether its density is symmetric and log-concave, from which bounds on tails follow."""
        return self.independent_scales is not None

    @property
    def of_ball(self) -> bool:
        """Whether it is of a ball in several dimensions, or has parts that are.

        Its ρ and μ² are not known to be convex in moves: of several, ε alone adds up.
        """
        return False

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every answer's noise X, σ its deviation; q ≥ 2.

        Infinite where nothing is known.
        """
        if self.log_concave:
            return log_concave_moment(order)
        return 1.0 if order == 2 else math.inf  # noqa: PLR2004

    def quantile(self, chance: float) -> float | None:
        """Return t with P(|X| > t·σ) ≤ `chance` where all answers' noises X have one law.

        None where they have not.
        """
        del chance
        return None

    def deviations(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the standard deviations of answers that follow from the integers, shape (m,).

        Args:
            unit: what one step of each integer is worth, shape (r,).
            embed: from the integers' worth to the answers, shape (m, r); None for the identity.
        """
        return self.answer_scales(unit, embed)[0]

    def coarseness(self, totals: Any) -> float:  # noqa: ANN401 (its totals stand above)
        """Return how large the steps that an answer is summed of are beside its deviation.

        The greatest of all answers'; 0 where nothing is rounded.

        Args:
            totals: the integers that it is added to.
        """
        if self.integer_valued:
            return 0.0
        coarse = (totals.unit > totals.finest) & (
            self.deviations(np.ones(self.dimension), None) > 0
        )
        return self.beside(totals, coarse.astype(np.float64))

    def beside(self, totals: Any, off: Vector) -> float:  # noqa: ANN401 (as of `coarseness`)
        """Return how far answers are moved at most, in their deviations.

        Args:
            totals: as of `coarseness`.
            off: how far each integer is, in steps, shape (r,).
        """
        if not np.any(off):
            return 0.0
        unit, embed = totals.unit, totals.embed
        moved = off * unit if embed is None else np.abs(embed) @ (off * unit)
        with np.errstate(divide="ignore"):
            return float(np.max(moved[moved > 0] / self.deviations(unit, embed)[moved > 0]))

    def answer_scales(self, unit: Vector, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how answers stray, and how each does with the last; shapes (m,) and (m,).

        Args:
            unit: as of `deviations`.
            embed: as of `deviations`.

        Returns:
            The standard deviations, and the covariance of each answer with the last.
        """
        own = self.covariance()
        if embed is None:
            flat = own.ndim == 1
            last = np.append(np.zeros(own.size - 1), own[-1]) if flat else own[:, -1]
            deviations = np.sqrt(own if flat else np.diag(own)) * unit
            with np.errstate(over="ignore"):  # infinite where floats end, and deviations are not
                return frozen(deviations), frozen(last * unit * unit[-1])
        matrix = np.asarray(embed * unit)
        product = matrix * own if own.ndim == 1 else matrix @ own
        variance = np.einsum("ij,ij->i", product, matrix)
        return frozen(np.sqrt(np.maximum(variance, 0.0))), frozen(product @ matrix[-1])

    def answer_covariance(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the covariance of the answers, shape (m, m); arguments as of `deviations`."""
        own = self.covariance()
        dense = np.diag(own) if own.ndim == 1 else own
        if embed is None:
            return frozen(dense * unit * unit[:, None])
        matrix = np.asarray(embed * unit)
        return frozen(matrix @ dense @ matrix.T)


NOISES: Kinds[AbstractNoise] = Kinds("noise")  # by the names of mechanisms
