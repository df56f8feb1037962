# SPDX-License-Identifier: Apache-2.0
"""Both bounds on a least ellipsoid, and the claim that they follow from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, final

from lownoise.certificate.upper import covering_upper
from lownoise.errors import PlanError
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.certificate.evidence import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody, TensorBall
    from lownoise.sets.frames import Frame


class Provable(Protocol):
    """What both bounds follow from."""

    def certificate(self) -> Certificate:
        """Return both bounds, rounded outward."""


@final
@dataclass(frozen=True)
class Certificate:
    """Bounds on the least objective: lower ≤ least ≤ upper, in the unit of the answers.

    `upper` is what the noise at hand has; no noise of the same kind and cost has less than `lower`.

    Args:
        lower: at most the least.
        upper: at least what is at hand.
        claim: what both follow from, where `verify` can recompute them.

    Examples:
        >>> Certificate(lower=1.0, upper=1.25).gap
        0.25
    """

    lower: float
    upper: float
    claim: Provable | None = field(default=None, repr=False, compare=False)

    @property
    def gap(self) -> float:
        """upper/lower − 1; 0 where both are 0."""
        if self.upper == 0:
            return 0.0
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf

    def verify(self) -> Certificate:
        """Recompute both bounds from the noise at hand and the evidence; return them.

        Nothing of how they were found is used, and every rounding goes outward.

        Raises:
            PlanError: where there is no evidence, or it proves less than what is stated.
        """
        if self.claim is None:
            raise PlanError("certificate has no evidence with it; make it with the search itself")
        found = self.claim.certificate()
        # two runs of one product may differ in their last bits
        if not (self.lower <= grown(found.lower) and found.upper <= grown(self.upper)):
            raise PlanError(
                f"certificate states {self.lower!r} to {self.upper!r} and its evidence proves "
                f"{found.lower!r} to {found.upper!r}; solve again",
            )
        return found


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Claim:
    """That an ellipsoid covers a body and is nearly the least one that does.

    Args:
        body: S, in d dimensions.
        order: p in [2, ∞].
        queries: L, shape (m, d); None for the identity.
        weights: ω > 0, shape (m,).
        frame: the coordinates that the ellipsoid is given in.
        shape: M in those coordinates.
        center: where it stands, shape (d,).
        dual: the evidence that it is nearly least.
    """

    body: AbstractBody | TensorBall
    order: float
    queries: Vector | None
    weights: Vector
    frame: Frame | None
    shape: AbstractShape
    center: Vector
    dual: AbstractDual

    def certificate(self) -> Certificate:
        """Return both bounds, rounded outward.

        Raises:
            PlanError: where the ellipsoid does not cover the body, or the evidence is malformed.
        """
        upper = covering_upper(self.body, self)
        hint = (
            self.shape
            if self.queries is None and self.shape.dimension == len(self.weights)
            else None
        )
        lower = self.dual.least(self.body, self.order, self.weights, self.queries, hint)
        return Certificate(min(lower, upper), upper, self)
