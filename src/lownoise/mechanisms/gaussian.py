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

from lownoise.arrays import frozen
from lownoise.bodies import SymmetricBox
from lownoise.engines import Coding, Totals, TotalsQuery
from lownoise.errors import PlanError, TableError
from lownoise.privacy import GaussianEvent
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity import radius_up, sensitivity_body

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.entropy import Entropy
    from lownoise.sensitivity import Relation
    from lownoise.shapes import DiagonalShape
    from lownoise.workloads import Mean

_FEWEST_BITS = 40  # log2 of the standard deviation in grid steps, at the least
_BIAS_BITS = 10  # under `substitute`: rounding of records moves a mean by ≤ 2^-10 deviations
_REACH_BITS = 24  # log2 of a record's reach in grid steps, where the noise is far wider
_MOST_BITS = 50  # a record's code, and the noise beside it, stay exact in a float


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianMechanism:
    """The release of sums, and under `add_remove` of the count, on a grid.

    Args:
        query: what is summed; its coding has d columns.
        relation: what a neighbour is.
        size: the public number of records under `substitute`, else None.
        count_step: the unit of the count's integers under `add_remove` (a power of two, at most
            1), else None.
        noise: the noise of the integers, in their units: d coordinates, and the count last.

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    query: TotalsQuery
    relation: Relation
    size: int | None
    count_step: float | None
    noise: DiagonalShape

    def __post_init__(self) -> None:
        if self.size is not None and self.query.drops_missing:
            raise PlanError("dropping rows would change the public size; use a stand-in")

    @cached_property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final integers and the final noise alone."""
        return GaussianEvent(radius_up(self.noise, self.reach))

    @property
    def reach(self) -> SymmetricBox:
        """The body of all changes that one neighbour makes to the integers."""
        coding = self.query.coding
        least, greatest = coding.least(), coding.greatest()
        if self.count_step is None:
            return SymmetricBox(frozen((greatest - least).astype(np.float64)))
        most = np.maximum(np.abs(least), np.abs(greatest)).astype(np.float64)
        return SymmetricBox(frozen(np.append(most, 1 / self.count_step)))

    def check(self, totals: Totals) -> None:
        """Refuse totals that the promise does not cover.

        Raises:
            TableError: under `substitute`, where the table has another number of rows.
        """
        if self.size is not None and totals.count != self.size:
            raise TableError(
                f"size={self.size} but the table has {totals.count} rows; under substitute the "
                "number of records is public: give it exactly",
            )

    def run(self, totals: Totals, *, entropy: Entropy) -> tuple[int, ...]:
        """Return the noisy integers: the release itself.

        Raises:
            TableError: as `check`.
        """
        self.check(totals)
        noise = rounded_gaussian(self.noise, entropy=entropy).tolist()
        exact = totals.sums
        if self.count_step is not None:
            exact = (*exact, totals.count * int(1 / self.count_step))
        return tuple(t + z for t, z in zip(exact, noise, strict=True))

    @property
    def unit(self) -> Vector:
        """What one grid step is worth in each answer, shape (d,) or, with the count, (d + 1,)."""
        step = self.query.coding.step
        if self.count_step is not None:
            return frozen(np.append(step, self.count_step))
        assert self.size is not None  # noqa: S101 (one of the two is set, by construction)
        return frozen(step / self.size)

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the released answers: means, or sums about the center and the count.

        Float arithmetic on what is already public; relative error about 1e-16.
        """
        values = np.array([float(k) for k in integers]) * self.unit
        return frozen(values + self.query.coding.center if self.count_step is None else values)

    @cached_property
    def answer_noise(self) -> DiagonalShape:
        """The noise of the answers, in their units."""
        return self.noise.scaled(self.unit)


def gaussian_mechanism(
    question: Mean,
    relation: Relation,
    size: int | None,
    shape: DiagonalShape,
    parameter: float,
) -> GaussianMechanism:
    """Return the mechanism whose noise has `shape`, scaled to reveal at most `parameter` = μ.

    The optimiser's word ends here: whatever `shape` is, the radius is measured on the final grid
    and the noise is enlarged until it is covered.

    Args:
        question: the columns and their domain.
        relation: what a neighbour is.
        size: the public number of records under `substitute`, else None.
        shape: noise of the sum (and count) that roughly covers the sensitivity body with radius 1.
        parameter: μ > 0.

    Raises:
        PlanError: where the shape has no noise in a direction that needs some.
    """
    reach = sensitivity_body(question.domain, relation, question.center).half_width
    step = _steps(shape.scale / parameter, reach, size, parameter)
    count_step = None
    if relation == "add_remove":
        count_step = step[-1] = min(float(step[-1]), 1.0)
    noise = shape.scaled(1 / parameter / step)
    coding = Coding(
        columns=question.columns,
        lower=question.domain.lower,
        upper=question.domain.upper,
        center=question.center,
        missing=question.missing,
        step=frozen(step[: len(question.columns)].copy()),
    )
    query = TotalsQuery(coding, question.drops_missing)

    def scaled(factor: float) -> GaussianMechanism:
        return GaussianMechanism(
            query=query,
            relation=relation,
            size=size,
            count_step=count_step,
            noise=noise.scaled(factor),
        )

    factor = 1.0
    mechanism = scaled(factor)
    while mechanism.event.mu > parameter:
        if math.isinf(mechanism.event.mu):
            raise PlanError("shape leaves a direction that records can move in without noise")
        factor = max(factor * (mechanism.event.mu / parameter), math.nextafter(factor, math.inf))
        mechanism = scaled(factor)
    return mechanism


def _steps(deviation: Vector, reach: Vector, size: int | None, parameter: float) -> Vector:
    """Return the grid of each answer, powers of two: fine beside its noise and beside a record."""
    fewest = _FEWEST_BITS if size is None else max(_FEWEST_BITS, size.bit_length() + _BIAS_BITS - 1)
    most = _MOST_BITS - max(0, math.ceil(math.log2(parameter)))
    used = (deviation > 0) & (reach > 0)
    ratio = np.divide(deviation, reach, out=np.ones_like(deviation), where=used)
    bits = np.clip(np.ceil(np.log2(ratio)) + _REACH_BITS, min(fewest, most), most)
    exponent = np.floor(np.log2(np.where(used, deviation, 1.0))) - bits
    # a shape that is far too narrow will be enlarged; its records must still have codes
    exponent = np.maximum(exponent, np.ceil(np.log2(np.where(used, reach, 1.0))) - _MOST_BITS)
    return np.exp2(np.where(used, exponent, 0.0))
