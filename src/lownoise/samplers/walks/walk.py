# SPDX-License-Identifier: Apache-2.0
"""The proximal walk of a body with the deviation and the number of steps that take least work."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from lownoise.errors import PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.walks.body import RoundBody
from lownoise.samplers.walks.in_and_out import InAndOut
from lownoise.samplers.walks.mixing import Proximal, started, step

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.walks.membership import AbstractMembership

MOST_WORK = 4e6  # in proposals: about a minute
_OVERHEAD = 60.0  # what a step costs beside its proposals, in proposals
_SEED = 20260102
_PILOT = 10
_USUAL, _PROPOSALS = 4.0, 8.0  # a deviation times d/inner, and how many proposals it takes
_WORSE = 1.5  # where the search ends
_FACTORS = tuple(2.0 ** (k / 2) for k in range(-1, 10))  # deviations tried, times inner/d


def steps_needed(
    dimension: int, inner: float, outer: float, *, deviation: float, relative: float = 1e-9
) -> int:
    """Return how many steps of the walk bring its density within 1 ± `relative`.

    Examples:
        >>> [steps_needed(d, 1.0, d**0.5, deviation=2 / d) for d in (2, 5, 10, 20)]
        [29, 400, 4825, 71784]
    """
    proof = Proximal(dimension=dimension, inner=inner, outer=outer, deviation=deviation)
    return proof.steps_needed(relative)


def walk(
    membership: AbstractMembership,
    factor: Vector,
    inner: float,
    outer: float,
    *,
    relative: float = 1e-9,
    distance: float = 0.0,
    volume: float | None = None,
    pilots: int = 48,
    moment: Vector | None = None,
) -> InAndOut:
    """Return a walk whose points are proved to be as near uniform as asked, or refuse.

    A larger deviation mixes sooner and has more proposals refused; a pilot in floats with a fixed
    seed finds which takes least work. Any deviation is sound.

    Args:
        membership: who knows the body S.
        factor: F, shape (d, d), with inner·B₂ ⊂ F⁻¹S ⊂ outer·B₂.
        inner: that radius, proved.
        outer: that radius, proved.
        relative: η: the density is within 1 ± η of the uniform one.
        distance: what total variation is allowed besides; 0 makes the guarantee pure.
        volume: at least vol(F⁻¹S), where better is known than the volume of outer·B₂.
        pilots: how many points try each deviation.
        moment: E u·uᵀ, shape (d, d), where it need not be estimated by the walk.

    Raises:
        PlanError: where an argument is out of range, the walk would take more than about a minute,
            or a weak membership does not allow what is asked.

    Examples:
        >>> import numpy as np
        >>> from lownoise.samplers.walks import Preimage
        >>> uniform = walk(Preimage(np.eye(3)), np.eye(3), 1.0, 1.75)
        >>> uniform.relative <= 1e-9, uniform.distance
        (True, 0.0)
    """
    body = RoundBody(membership=membership, factor=factor, inner=inner, outer=outer)
    if not membership.exact and distance == 0:
        raise PlanError(
            "the membership of this body is weak, so its points are known in total variation alone "
            "and no guarantee is pure; give an exact membership, or a distance > 0 for (ε, δ)"
        )
    best: tuple[float, float, int, float] | None = None
    least = sys.maxsize
    randomness = SimulationRandomness(_SEED)
    proofs = [
        Proximal(
            dimension=body.dimension,
            inner=inner,
            outer=outer,
            deviation=inner * c / body.dimension,
            volume=volume,
        )
        for c in _FACTORS
    ]
    points = started(body, proofs[0], pilots, randomness)
    for proof in proofs:
        steps = proof.steps_needed(relative)
        if steps * (_OVERHEAD + membership.work) > (MOST_WORK if best is None else best[0]):
            least = min(least, steps)
            continue
        tried = 0.0
        for _ in range(_PILOT):
            points, more = step(body, points, proof.deviation, randomness)
            tried += more / _PILOT
        work = steps * (_OVERHEAD + tried * membership.work)
        if best is None or work < best[0]:
            best = (work, proof.deviation, steps, tried)
        elif work > _WORSE * best[0]:
            break
    if best is None or best[0] > MOST_WORK:
        steps, tried = (best[2], best[3]) if best else (least, 1.0)
        most = most_dimensions(body.dimension, outer / inner, membership.work, relative)
        instead = f"ask {most} answers at once, or fewer" if most else "give a rounder body"
        raise PlanError(
            f"a point of this body in {body.dimension} coordinates takes {steps} steps of the walk "
            f"with about {math.ceil(tried)} proposals each, over a minute's work; {instead}, or "
            "use noise that is sampled directly"
        )
    found = InAndOut(body=body, deviation=best[1], steps=best[2], volume=volume, given=moment)
    if found.distance > distance:
        raise PlanError(
            f"the membership of this body is weak: the walk is known to {found.distance:.3g} in "
            f"total variation and {distance:.3g} is allowed; give an exact membership"
        )
    return found


def most_dimensions(dimension: int, ratio: float, work: float = 1.0, relative: float = 1e-9) -> int:
    """Return in how many dimensions, below this one, a walk in such bodies is about a minute's.

    Args:
        dimension: d, of a body in which a walk takes longer.
        ratio: outer/inner there, which is taken to grow like √d.
        work: of a proposal, in those of a box.
        relative: η.

    Returns:
        0 where it is longer in every dimension.

    Examples:
        >>> most_dimensions(40, 40**0.5), most_dimensions(40, 1e9)
        (27, 0)
    """

    def short(d: int) -> bool:
        outer = max(ratio * math.sqrt(d / dimension), 1.0)
        steps = steps_needed(d, 1.0, outer, deviation=_USUAL / d, relative=relative)
        return steps * (_OVERHEAD + _PROPOSALS * work) <= MOST_WORK

    low, high = 0, dimension
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if short(middle) else (low, middle)
    return low
