# SPDX-License-Identifier: Apache-2.0
"""What every noise of a pure release can say of itself.

The noise is a real vector, drawn without looking at the totals; what is published is the totals,
integers, plus its rounding: `samplers.lazy` says why rounding reveals nothing more.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from lownoise.rounding import up
from lownoise.samplers.lazy import rounded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lownoise.arrays import Vector
    from lownoise.entropy import Entropy
    from lownoise.samplers.lazy import Lazy
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sensitivity import Reach

_EXP_SLACK = 1 + 2.0**-40


@final
@dataclass(frozen=True)
class Loss:
    """What one run reveals: (ε, δ), each rounded up; δ is 0 where nothing is approximate."""

    epsilon: float
    delta: float = 0.0


class AbstractPureNoise(ABC):
    """Real-valued noise on r integers, in their unit."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of integers r."""

    @abstractmethod
    def loss(self, reach: Reach) -> Loss:
        """Return what integers reveal that one neighbour moves by points of `reach`, rounded up."""

    @abstractmethod
    def draw(self, entropy: Entropy) -> Lazy:
        """Return the noise, known by its bits so far."""

    @abstractmethod
    def covariance(self) -> Vector:
        """Return its covariance, shape (r, r); or shape (r,), its diagonal, where that is all."""

    @abstractmethod
    def simulate(self, count: int, entropy: Entropy) -> Vector:
        """Return `count` draws in floats, for predictions and tests alone; shape (count, r)."""

    @property
    @abstractmethod
    def estimated(self) -> bool:
        """Whether the covariance was estimated by simulation and not computed."""

    def integers(self, entropy: Entropy) -> list[int]:
        """Return the rounding of the noise, r integers."""
        return rounded(self.draw(entropy), entropy=entropy)


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
    total = sum(map(Fraction, listed), Fraction(0))
    found = float(total)
    return found if Fraction(found) >= total else up(found)


def sampling_loss(epsilon: float, uniform: AbstractUniform) -> Loss:
    """Return what noise reveals that is made of points which are nearly uniform.

    With a density within 1 ± η of the exact noise's, ratios grow by (1 + η)/(1 − η) at most
    (001, Lemma A.1); its logarithm is below 2η/(1 − η). With a total variation of τ,
    P'(A) ≤ P(A) + τ ≤ e^ε·Q(A) + τ ≤ e^ε·Q'(A) + (1 + e^ε)τ (001, section 8).

    Args:
        epsilon: what exact noise reveals.
        uniform: the sampler.
    """
    eta, tau = uniform.relative, uniform.distance
    if not eta < 1:
        return Loss(math.inf)
    total = epsilon if eta == 0 else sum_up([epsilon, up(up(2 * eta) / (1 - eta)) * _EXP_SLACK])
    if tau == 0:
        return Loss(total)
    grown = math.exp(min(total, 700.0)) * _EXP_SLACK + 1 if total < 700 else math.inf  # noqa: PLR2004
    return Loss(total, min(up(tau * grown), 1.0))


def distance_within(epsilon: float, delta: float) -> float:
    """Return the total variation τ whose cost (1 + e^ε)τ is within δ, rounded down.

    Args:
        epsilon: what is revealed at most.
        delta: δ ≥ 0.

    Examples:
        >>> distance_within(1.0, 0.0)
        0.0
        >>> round(distance_within(0.0, 1e-6), 12)
        5e-07
    """
    if not (delta > 0 and epsilon < 700):  # noqa: PLR2004 (where floats end)
        return 0.0
    return delta / (math.exp(epsilon) * _EXP_SLACK + 1) * (1 - 2.0**-39)
