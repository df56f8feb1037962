# SPDX-License-Identifier: Apache-2.0
"""Both bounds on a least ellipsoid, and the claim that they follow from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.norms import order_norm
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import TINY, grown, growth
from lownoise.sensitivity.factors import DenseShape, row_lengths
from lownoise.sets.bodies import TensorBall

if TYPE_CHECKING:
    from lownoise.certificate.evidence import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.frames import Frame


class Provable(Protocol):
    """What both bounds follow from."""

    def certificate(self) -> Certificate:
        """Return both bounds, rounded outward."""


@final
@readable
@dataclass(frozen=True)
class Certificate:
    """Bounds on the least objective: lower ≤ least ≤ upper, both in one unit.

    `upper` is what the noise at hand has; no noise of the same kind and cost has less than `lower`.

    Args:
        lower: at most the least.
        upper: at least what is at hand.
        claim: what both follow from, where `verify` can recompute them.
        unit: whose unit both are in, in words; the gap is a ratio and has none.

    Examples:
        >>> Certificate(lower=1.0, upper=1.25)
        Certificate(lower=1.0, upper=1.25, unit='the answers')
        >>> Certificate(lower=1.0, upper=1.25).gap
        0.25
    """

    lower: float
    upper: float
    claim: Provable | None = field(default=None, repr=False, compare=False)
    unit: str = "the answers"

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

    @cached_property
    def proved(self) -> Certificate:
        """The certificate, computed once, for who compares claims; `verify` computes it again."""
        return self.certificate()

    def certificate(self) -> Certificate:
        """Return both bounds, rounded outward.

        Raises:
            PlanError: where the ellipsoid does not cover the body, or the evidence is malformed.
        """
        upper = self.upper()
        initial = (
            self.shape
            if self.queries is None and self.shape.dimension == len(self.weights)
            else None
        )
        lower = self.dual.least(self.body, self.order, self.weights, self.queries, initial)
        return Certificate(min(lower, upper), upper, self, unit_of("the answers", self.weights))

    def upper(self) -> float:
        """Return at least √tr_{p/2} of the least multiple of the ellipsoid that covers the body.

        Raises:
            PlanError: where the ellipsoid is not one that is known to cover a multiple of the body.
        """
        frame, shape, body = self.frame, self.shape, self.body
        if frame is None and self.queries is None and not np.any(self.center):
            return body.covering_up(shape, self.order, self.weights)
        if frame is None or not isinstance(shape, DenseShape) or isinstance(body, TensorBall):
            raise PlanError("claim has no frame for its points; solve again")
        off = frame.slack_up(body, self.queries, self.center)
        # L·(K − center) ⊂ radius·L·up·√M·B₂ + [−off, off], and Γ_p is at most additive
        extra = order_norm(
            self.weights * off,
            2 * self.order / (self.order + 2) if not math.isinf(self.order) else 2.0,
        )
        if not frame.rank:
            return grown(extra) if extra else 0.0
        white = shape.whitening
        if not white.defect < 1:
            return math.inf
        down = white.matrix if frame.exact else white.matrix @ frame.map_down()
        extent = body.length_up(down, self.center)
        if frame.view is not None:  # otherwise the product above is a choice of columns
            far = body.extent_up(np.eye(body.dimension), self.center)
            sums = np.abs(white.matrix) @ (np.abs(frame.map_down()) @ far)
            extent += growth(frame.rank + 9) * float(np.linalg.norm(sums))
        radius = extent / (1 - white.defect)
        seen = frame.seen(self.queries)
        factor = shape.factor if seen is None else seen @ shape.factor
        rows = grown(row_lengths(factor), growth(factor.shape[1] + 12))
        if seen is not None:
            rows += growth(2 * seen.shape[1] + 9) * np.linalg.norm(
                np.abs(seen) @ np.abs(shape.factor), axis=1
            )
        size = order_norm(self.weights * rows, self.order)
        return grown(radius * size + extra, TINY)


def unit_of(answers: str, weights: Vector) -> str:
    """Return whose unit a norm of weighted deviations of these answers has, in words.

    Examples:
        >>> unit_of("the answers", np.ones(3)), unit_of("records", np.array([1.0, 2.0]))
        ('the answers', 'records, times weights')
    """
    return answers + (", times weights" if np.any(weights != 1) else "")


def upper_bound(noise: AbstractShape, order: float, weights: Vector) -> float:
    """Return at least √tr_{p/2}(ωMω) = ‖ω·standard deviations‖_p of `noise`."""
    return grown(order_norm(weights * noise.deviations(), order))
