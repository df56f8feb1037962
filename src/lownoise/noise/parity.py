# SPDX-License-Identifier: Apache-2.0
"""Exact parities plus the rounding of a true Gaussian: independent noise, one variance a degree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.covering import covering
from lownoise.noise.size import check_rows
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.privacy import GaussianEvent
from lownoise.questions.residuals.parities import parity_cost_up, parity_costs
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import DiagonalShape

if TYPE_CHECKING:
    from lownoise.engines.parities import Bits
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Parity

_STEPS = 20  # log2 of a standard deviation in grid steps, where counts leave room
_FINEST = 2.0**-22  # with it 2^40 rows fit an integer of 64 bits


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ParityMechanism:
    """The release of parities: whole numbers, so that nothing is rounded but the noise.

    Args:
        question: which parities.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        deviations: τ of each degree, in records, shape (k,); 0 for the number of records where it
            is public.
        steps: the unit of each degree's integers, in records: powers of two, at most 1; shape (k,).

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    question: Parity
    relation: str
    size: int | None
    deviations: Vector
    steps: Vector

    def __post_init__(self) -> None:
        if self.size is not None and self.question.drops:
            raise PlanError("dropping rows would change the public size; use a stand-in")

    @cached_property
    def costs(self) -> Vector:
        """What τ⁻² of each degree is multiplied by in μ², for each pattern of changes."""
        question = self.question
        return parity_costs(len(question.attributes), question.degrees, self.relation)

    @cached_property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final noise alone."""
        return GaussianEvent(sqrt_up(parity_cost_up(self.costs, np.square(self.deviations))))

    def check(self, count: int) -> None:
        """Refuse a table that the promise does not cover.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, count)

    def run(self, records: Bits, *, randomness: Randomness) -> tuple[int, ...]:
        """Return the noisy integers: the release itself.

        Raises:
            EngineError: as `check`.
        """
        self.check(records.count)
        scale = np.repeat(self.deviations / self.steps, self.question.counts)
        noise = rounded_gaussian(DiagonalShape(scale), randomness=randomness)
        grid = np.repeat((1 / self.steps).astype(np.int64), self.question.counts)
        return tuple((records.parities(self.question.degrees) * grid + noise).tolist())

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.question.count

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the released parities, shape (m,)."""
        return frozen(np.array(integers, float) * np.repeat(self.steps, self.question.counts))

    @cached_property
    def answer_noise(self) -> DiagonalShape:
        """The noise of the answers, in records."""
        return DiagonalShape(np.repeat(self.deviations, self.question.counts))


def parity_mechanism(
    question: Parity, relation: str, size: int | None, variances: Vector, parameter: float
) -> ParityMechanism:
    """Return the mechanism whose variances are in proportion to these and that reveals at most μ.

    Args:
        question: which parities.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        variances: τ² of each degree that roughly cost μ = 1, shape (k,).
        parameter: μ > 0.

    Raises:
        PlanError: where a degree that needs noise has none.
    """

    def scaled(factor: float) -> ParityMechanism:
        deviations = np.sqrt(variances) * (factor / parameter)
        return ParityMechanism(
            question=question,
            relation=relation,
            size=size,
            deviations=frozen(deviations),
            steps=frozen(np.array([_step(d) for d in deviations.tolist()])),
        )

    return covering(scaled, parameter)


def _step(deviation: float) -> float:
    """Return a power of two, at most 1: fine beside the noise, and coarse enough for all counts."""
    if not deviation:
        return 1.0
    return min(max(2.0 ** min(math.frexp(deviation)[1] - _STEPS, 0), _FINEST), 1.0)
