# SPDX-License-Identifier: Apache-2.0
"""What an ellipsoid around a body costs, rounded up."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.norms import order_norm
from lownoise.numbers.rounding import TINY, grown, growth
from lownoise.sensitivity.factors import DenseShape, row_lengths
from lownoise.sets.bodies import AbstractBody, ImageBody, SymmetricBox, TensorBall

if TYPE_CHECKING:
    from lownoise.certificate.claim import Claim
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape


@singledispatch
def covering_upper(body: object, claim: Claim) -> float:
    """Return at least √tr_{p/2} of the least multiple of the claim's ellipsoid that covers `body`.

    Raises:
        PlanError: where the kind of body is not known.
    """
    raise PlanError(f"body={type(body).__name__} is not covered by a known rule; use ln.Points")


@covering_upper.register(SymmetricBox)
def _box_upper(body: SymmetricBox, claim: Claim) -> float:
    return body.radius_up(claim.shape) * upper_bound(claim.shape, claim.order, claim.weights)


@covering_upper.register(ImageBody)
def _image_upper(body: ImageBody, claim: Claim) -> float:
    if claim.frame is not None:
        return _covering_in_frame(body, claim)
    return body.radius_up(claim.shape) * upper_bound(claim.shape, claim.order, claim.weights)


@covering_upper.register(TensorBall)
def _ball_upper(body: TensorBall, claim: Claim) -> float:
    # the shape is one deviation for each part, in parts of the greatest length of a tensor
    m, parts = np.square(claim.shape.deviations()), body.parts
    if m.shape != parts.shares.shape or not np.all(m > 0):
        raise PlanError("claim has no noise for some part of its tensors; solve again")
    reach = math.sqrt(body.energy_up(parts.shares / m))
    size = body.norm(parts.table @ m, claim.order)
    return grown(body.value * float(claim.weights[0]) * reach * size)


@covering_upper.register(AbstractBody)
def _covering_in_frame(body: AbstractBody, claim: Claim) -> float:
    frame, shape = claim.frame, claim.shape
    if frame is None or not isinstance(shape, DenseShape):
        raise PlanError("claim has no frame for its points; solve again")
    off = frame.slack_up(body, claim.queries, claim.center)
    # L·(K − center) ⊂ radius·L·up·√M·B₂ + [−off, off], and Γ_p is at most additive
    extra = order_norm(
        claim.weights * off,
        2 * claim.order / (claim.order + 2) if not math.isinf(claim.order) else 2.0,
    )
    if not frame.rank:
        return grown(extra) if extra else 0.0
    white = shape.whitening
    if not white.defect < 1:
        return math.inf
    down = white.matrix if frame.exact else white.matrix @ frame.map_down()
    reach = body.length_up(down, claim.center)
    if frame.view is not None:  # otherwise the product above is a choice of columns
        far = body.extent_up(np.eye(body.dimension), claim.center)
        sums = np.abs(white.matrix) @ (np.abs(frame.map_down()) @ far)
        reach += growth(frame.rank + 9) * float(np.linalg.norm(sums))
    radius = reach / (1 - white.defect)
    seen = frame.seen(claim.queries)
    factor = shape.factor if seen is None else seen @ shape.factor
    rows = grown(row_lengths(factor), growth(factor.shape[1] + 12))
    if seen is not None:
        rows += growth(2 * seen.shape[1] + 9) * np.linalg.norm(
            np.abs(seen) @ np.abs(shape.factor), axis=1
        )
    size = order_norm(claim.weights * rows, claim.order)
    return grown(radius * size + extra, TINY)


def upper_bound(noise: AbstractShape, order: float, weights: Vector) -> float:
    """Return at least √tr_{p/2}(ωMω) = ‖ω·standard deviations‖_p of `noise`."""
    return grown(order_norm(weights * noise.deviations(), order))
