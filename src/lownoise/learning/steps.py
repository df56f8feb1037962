# SPDX-License-Identifier: Apache-2.0
"""Follow the regularised leader: the next model from the noisy sum of all gradients so far.

    θ_{t+1} = argmin over |θ| ≤ R of  λ/2·|θ − θ_1|² + ⟨S, θ⟩ + t·r(θ)

in closed form: for r(θ) = a|θ|_1 + b/2·|θ|² and a multiplier m ≥ 0 of the ball the minimum is at
−soft(S − λθ_1, ta)/(λ + tb + m), so the ball only shortens what it would be without.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import Kinds
from lownoise.numbers.arguments import checked_number
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

REGULARIZERS: Kinds[ElasticNet] = Kinds("regularizer")


@REGULARIZERS.kind("elastic_net", "lasso", "ridge")
@final
@readable
@dataclass(frozen=True)
class ElasticNet:
    """r(θ) = lasso·|θ|_1 + ridge/2·|θ|², added to each round's loss.

    It is public, costs nothing, and is in every step in closed form.

    Args:
        lasso: a ≥ 0.
        ridge: b ≥ 0.

    Raises:
        PlanError: where one is not at least 0 and finite.

    Examples:
        >>> ElasticNet(lasso=0.1, ridge=0.5).value(np.array([1.0, -2.0]))
        1.55
    """

    lasso: float = 0.0
    ridge: float = 0.0

    def __post_init__(self) -> None:
        for field in ("lasso", "ridge"):
            found = checked_number(f"ElasticNet.{field}", self.__dict__[field])
            if not 0 <= found < math.inf:
                raise PlanError(f"ElasticNet.{field}={found:g} is not at least 0; give one")
            object.__setattr__(self, field, found)

    def value(self, model: Vector) -> float:
        """Return r(θ)."""
        return float(self.lasso * np.sum(np.abs(model)) + self.ridge / 2 * np.sum(model**2))

    def lipschitz(self, radius: float, dimension: int) -> float:
        """Return at least how fast it changes where |θ| ≤ radius."""
        return self.lasso * math.sqrt(dimension) + self.ridge * radius


def Ridge(strength: float) -> ElasticNet:  # noqa: N802 (a regularizer is named like one)
    """Return r(θ) = strength/2·|θ|².

    Examples:
        >>> Ridge(0.5)
        ElasticNet(lasso=0.0, ridge=0.5)
    """
    return ElasticNet(ridge=strength)


def Lasso(strength: float) -> ElasticNet:  # noqa: N802
    """Return r(θ) = strength·|θ|_1.

    Examples:
        >>> Lasso(0.5)
        ElasticNet(lasso=0.5, ridge=0.0)
    """
    return ElasticNet(lasso=strength)


@final
@dataclass(frozen=True, eq=False)
class Leader:
    """The steps of one run.

    Args:
        strength: λ, after momentum.
        radius: R.
        start: θ_1, shape (d,), in the ball.
        regularizer: r.
    """

    strength: float
    radius: float
    start: Vector
    regularizer: ElasticNet

    def next(self, total: Vector, rounds: int) -> Vector:
        """Return θ_{t+1}, shape (d,), read-only.

        Args:
            total: S, the noisy sum of mean gradients, shape (d,).
            rounds: t.
        """
        own = self.regularizer
        push = self.strength * self.start - total
        kept = np.maximum(np.abs(push) - rounds * own.lasso, 0.0)
        model = np.copysign(kept, push) / (self.strength + rounds * own.ridge)
        length = float(np.linalg.norm(model))
        if length > self.radius:
            model = model * (self.radius / length)
        return frozen(np.asarray(model))
