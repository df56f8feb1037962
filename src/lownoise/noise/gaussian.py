# SPDX-License-Identifier: Apache-2.0
"""Exact integer totals plus the rounding of a true Gaussian of a given shape.

Everything that privacy needs is here in its final form: the integers that a record can become, the
factor of the noise in the same unit, and the radius of the one in the other, rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import PlanError
from lownoise.noise.codes import coding_for
from lownoise.noise.grid import MeanGrid
from lownoise.noise.thickness import thickened
from lownoise.numbers.arrays import frozen
from lownoise.privacy import GaussianEvent
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.coordinates import summed_body
from lownoise.sensitivity.relations import Change

if TYPE_CHECKING:
    from lownoise.engines import Totals
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Mean
    from lownoise.sensitivity.changes import Reach
    from lownoise.sensitivity.coordinates import Coordinates
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation

_ROOM = 1e-9  # of the noise: less than that is left where it is
_FEWEST_BITS = 40  # log2 of the standard deviation in grid steps, at the least
_BIAS_BITS = 10  # under `substitute`: rounding of records moves a mean by ≤ 2^-10 deviations
_REACH_BITS = 24  # log2 of a record's reach in grid steps, where the noise is far wider
_SHOWN = 2.0**-7  # of a deviation: what rounding of records may move a mean by, with a body
_LEAST_STEPS = 2.0**20  # the least deviation in grid steps, with a body
_MOST_BITS = 50  # a record's code, and the noise beside it, stay exact in a float


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianMechanism:
    """The release of sums, and under `add_remove` of the count, on a grid.

    Args:
        query: what is summed; its coding reads d columns and sums r coordinates.
        relation: what a neighbour is.
        size: the public number of records, None under `add_remove`.
        count_step: the unit of the count's integers under `add_remove` (a power of two, at most
            1), else None.
        noise: the noise of the integers, in their units: r coordinates, and the count last.
        coordinates: which r coordinates are summed, and how the others follow.
        hint: coefficients that prove how far records reach, where an image of a unit body needs
            them; any are a proof, and the right ones prove the least. Shape (k,), or None.

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    query: TotalsQuery
    relation: Relation
    size: int | None
    count_step: float | None
    noise: AbstractShape
    coordinates: Coordinates
    hint: Vector | None = None

    def __post_init__(self) -> None:
        _ = self.grid  # its fields are checked

    @cached_property
    def grid(self) -> MeanGrid:
        """How records become integers, and integers answers."""
        return MeanGrid(
            query=self.query,
            relation=self.relation,
            size=self.size,
            count_step=self.count_step,
            coordinates=self.coordinates,
            hint=self.hint,
        )

    @cached_property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final integers and the final noise alone."""
        return GaussianEvent(self.reach.radius_up(self.noise))

    @property
    def reach(self) -> Reach:
        """The body of all changes that one neighbour makes to the integers."""
        return self.grid.reach

    def check(self, totals: Totals) -> None:
        """Refuse totals that the promise does not cover.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        self.grid.check(totals)

    def run(self, totals: Totals, *, randomness: Randomness) -> tuple[int, ...]:
        """Return the noisy integers: the release itself.

        Raises:
            EngineError: as `check`.
        """
        self.check(totals)
        noise = rounded_gaussian(self.noise, randomness=randomness).tolist()
        return tuple(t + z for t, z in zip(self.grid.exact(totals), noise, strict=True))

    @property
    def unit(self) -> Vector:
        """What one grid step is worth in each summed answer, shape (r,), or (r + 1,)."""
        return self.grid.unit

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed answers to all answers; None where all are summed."""
        return self.grid.embed

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the released answers: means, or sums about the center and the count."""
        return self.grid.answers(integers)

    @cached_property
    def answer_noise(self) -> AbstractShape:
        """The noise of the answers, in their units."""
        own = self.noise.scaled(self.unit)
        return own if self.embed is None else own.mapped(self.embed)


def gaussian_mechanism(
    question: Mean,
    relation: Relation,
    size: int | None,
    shape: AbstractShape,
    parameter: float,
    chosen: Coordinates,
    hint: Vector | None = None,
) -> GaussianMechanism:
    """Return the mechanism whose noise has `shape`, scaled to reveal at most `parameter` = μ.

    The optimiser's word ends here: whatever `shape` is, the radius is measured on the final grid
    and the noise is enlarged until it is covered.

    Args:
        question: the columns and their domain.
        relation: what a neighbour is.
        size: the public number of records, None under `add_remove`.
        shape: noise of the summed coordinates (and the count) that roughly covers the sensitivity
            body with radius 1.
        parameter: μ > 0.
        chosen: the coordinates that are summed.
        hint: coefficients for the bound on a record's reach, or None.

    Raises:
        PlanError: where the shape has no noise in a direction that needs some.
    """
    body = summed_body(question.domain, relation, question.center, chosen)
    reach = extent = body.widths()
    if isinstance(relation, Change):
        assert size is not None  # noqa: S101 (one record changes, of so many)
        domain, kept = question.domain, chosen.pivots
        extent = (domain.upper - domain.lower)[kept] * (1 + _ROOM)
        shape = thickened(shape, extent, size, parameter)
        reach = np.where(reach > 0, reach, extent)
    least, most = shape.spread()
    step = grid_steps(least / parameter, most / parameter, reach, extent, size, parameter)
    count_step = None
    if relation == "add_remove":
        count_step = step[-1] = min(float(step[-1]), 1.0)
    noise = shape.scaled(1 / parameter / step)
    query = TotalsQuery(
        coding_for(question, chosen, frozen(step[: chosen.pivots.size].copy())),
        question.drops_missing,
    )

    def scaled(factor: float) -> GaussianMechanism:
        return GaussianMechanism(
            query=query,
            relation=relation,
            size=size,
            count_step=count_step,
            noise=noise.scaled(factor),
            coordinates=chosen,
            hint=hint,
        )

    mechanism = scaled(1.0)
    # a shape that covers with room to spare shrinks first
    room = mechanism.event.mu / parameter
    factor = room if 0 < room < 1 - _ROOM else 1.0
    mechanism = mechanism if factor == 1 else scaled(factor)
    while not mechanism.event.mu <= parameter:
        if not math.isfinite(mechanism.event.mu):
            raise PlanError("shape leaves a direction that records can move in without noise")
        factor = max(factor * (mechanism.event.mu / parameter), math.nextafter(factor, math.inf))
        mechanism = scaled(factor)
    if isinstance(relation, Change):
        _check_rounding(mechanism, extent)
    return mechanism


def _check_rounding(mechanism: GaussianMechanism, extent: Vector) -> None:
    """Refuse a grid on which the rounding of all records, half a step each, shows in the noise."""
    shift = max((mechanism.size or 0) / 2, _SHOWN * _LEAST_STEPS)
    if np.any((extent > 0) & (_SHOWN * mechanism.noise.deviations() < shift)):
        raise PlanError(
            f"relation allows changes too small beside the domain for {mechanism.size:,} records: "
            "rounding would show beside the noise; give a narrower domain",
        )


def grid_steps(
    least: Vector,
    most: Vector,
    reach: Vector,
    extent: Vector,
    size: int | None,
    parameter: float,
    fewest: int = _FEWEST_BITS,
) -> Vector:
    """Return the grid of each answer, powers of two: fine beside its noise and beside a record.

    Args:
        least: the standard deviation of each answer when all others are known, shape (r,).
        most: its standard deviation, shape (r,).
        reach: how far one neighbour can move it, shape (r,).
        extent: how far one record can be from the center, shape (r,).
        size: the public number of records, or None.
        parameter: μ.
        fewest: log2 of the standard deviation in steps, at the least.
    """
    fewest = fewest if size is None else max(fewest, size.bit_length() + _BIAS_BITS - 1)
    greatest = _MOST_BITS - max(0, math.ceil(math.log2(parameter)))
    used = (least > 0) & (reach > 0)
    # a record reaches about μ deviations in every direction of a noise that fits
    near = reach * np.divide(least, most, out=np.ones_like(least), where=used)
    ratio = np.divide(least, near, out=np.ones_like(least), where=used)
    bits = np.clip(np.ceil(np.log2(ratio)) + _REACH_BITS, min(fewest, greatest), greatest)
    exponent = np.floor(np.log2(np.where(used, least, 1.0))) - bits
    # a shape that is far too narrow will be enlarged; its records must still have codes, and noise
    # that is far wider than it is thin must still have numbers
    largest = np.where(used, np.maximum(extent, np.where(most > least, most, 0.0)), 1.0)
    exponent = np.maximum(exponent, np.ceil(np.log2(largest)) - _MOST_BITS)
    return np.exp2(np.where(used, exponent, 0.0))
