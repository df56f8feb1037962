# SPDX-License-Identifier: Apache-2.0
"""A mechanism: exact integer totals plus the rounding of noise; the release itself.

Its noise is enlarged until the loss that is measured on its final form is covered. The optimiser's
word ends here: whatever noise it proposed, the loss is that of the final integers and the final
noise. No other loop decides how much noise there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import worse
from lownoise.noise.totals import table_of
from lownoise.noise.units import repeated
from lownoise.numbers.randomness import orderless
from lownoise.numbers.threads import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.queries import TableQuery
    from lownoise.noise.abstract import AbstractNoise, AbstractStructure, Loss
    from lownoise.noise.totals import AbstractTotals
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.norms import AbstractNorm


SHOWN = 2.0**-7  # of a deviation: more than that rounding of records may not move an answer by
_FEW_RECORDS = 2**14
_TIMES = 2.0**9  # so a deviation is 2^16 steps, whose rounding is below 2^-35 of its square
_AHEAD = 7  # pieces that may wait for one that takes long


@final
@dataclass(frozen=True, eq=False)
class AdditiveMechanism:
    """Integer totals plus rounded noise.

    Noise is drawn without looking at the totals; they meet in one integer addition.

    Args:
        totals: the integers, how far one row moves them, and their answers.
        noise: what is added, in their unit.
        unit: whose rows are hidden together; None where each row is.

    Raises:
        PlanError: where there is not one number of noise an integer.
    """

    totals: AbstractTotals
    noise: AbstractNoise
    unit: PrivacyUnit | None = None
    most_rounding: ClassVar[float | None] = SHOWN

    def __post_init__(self) -> None:
        if self.noise.dimension != self.totals.length:
            raise PlanError("noise has not one number an integer; plan again")
        if self.unit is not None and self.unit.total is not None and self.totals.each is None:
            raise PlanError("unit_total is of totals that rows of a unit add up to, of ln.Sum")

    @property
    def relation(self) -> Relation:
        """What a neighbour is."""
        return self.totals.relation

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""
        return self.totals.size

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.totals.length

    @property
    def estimated(self) -> bool:
        """Whether the deviations were estimated by simulation and not computed."""
        return self.noise.estimated

    @cached_property
    def loss(self) -> Loss:
        """What one run reveals, from the final integers and the final noise alone."""
        changes, unit = self.totals.changes, self.unit
        if unit is None:
            return self.noise.loss(changes)
        every = (changes, self.totals.becoming) if unit.exchanged else (changes,)
        return worse([self.noise.loss(repeated(own, unit.copies)) for own in every])

    def read(self, table: Any) -> Any:  # noqa: ANN401 (what an engine takes, and what it makes)
        """Return what an engine makes of a table, of the first rows of each unit, or its totals.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        return self.totals.read(table_of(table, self.unit, self.added))

    @property
    def added(self) -> TotalsQuery | None:
        """What a row adds to its unit's total; None where rows are read as they are."""
        return self.totals.each if self.unit is not None and self.unit.total is not None else None

    @property
    def reading(self) -> TableQuery[Any] | None:
        """As of the totals."""
        return self.totals.reading

    def checked(self, records: Any) -> Any:  # noqa: ANN401
        """Return what was read, as `AbstractTotals.checked`."""
        return self.totals.checked(records)

    def run(self, records: Any, *, randomness: Randomness) -> tuple[int, ...]:  # noqa: ANN401
        """Return the noisy integers: the release itself.

        Args:
            records: what `read` returned.
            randomness: where the noise comes from.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        pieces = self.pieces(records, randomness=randomness)
        return tuple(k for _, piece in pieces for k in piece.tolist())

    def pieces(
        self,
        records: Any,  # noqa: ANN401 (what `read` makes)
        *,
        randomness: Randomness,
        room: Integers | None = None,
    ) -> Iterator[tuple[int, Integers]]:
        """Yield the release piece by piece: where a piece begins, and its noisy integers.

        Threads draw the operating system's noise for several at once.

        Args:
            records: what `read` returned.
            randomness: where the noise comes from.
            room: for all integers, in which each piece is put by who makes it; None where each has
                its own.

        Raises:
            TableError: where the table has not the public number of rows.
        """

        def noisy(piece: Any) -> tuple[int, Integers]:  # noqa: ANN401 (of the totals)
            exact = self.totals.part(records, piece)
            noise = self.noise.part(piece, randomness)
            if exact.shape != noise.shape:
                raise PlanError("noise has not one number an integer; plan again")
            whole = None if room is None else room[piece.start : piece.start + exact.size]
            # integers of Python become 64-bit ones, or raise, as where they are assigned
            return piece.start, np.add(exact, noise, out=whole, casting="unsafe")

        if not orderless(randomness):
            yield from map(noisy, self.totals.pieces)
            return
        # in the room they take none of their own
        yield from in_order(noisy, self.totals.pieces, ahead=1 if room is None else _AHEAD)

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the released answers, shape (m,)."""
        return self.totals.answers(integers)

    def check_released(self, integers: Sequence[int]) -> None:
        """Refuse integers that no release has, as `AbstractTotals.check_released`."""
        self.totals.check_released(integers)

    @cached_property
    def rounding(self) -> float:
        """How far rounding moves an answer at most, in its deviations: what no deviation states.

        Of records that is of all of them or, where their number is private, of so few as no table
        of any use has less. Of the noise, which adds a twelfth of a step's square to a variance, a
        step counts `_TIMES` times: deviations are stated to ten digits. Whole noise is not rounded.
        """
        off = self.totals.rounding * max(self.size or 0, _FEW_RECORDS)
        return max(self.noise.beside(self.totals, off), _TIMES * self.noise.coarseness(self.totals))

    @cached_property
    def deviations(self) -> Vector:
        """The standard deviation of each answer, shape (m,)."""
        return self.noise.deviations(self.totals.unit, self.totals.embed)

    def answer_scales(self, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how answers that follow from the summed ones stray; shapes (m,) and (m,).

        Args:
            embed: the answers from the summed ones, shape (m, r); None where they are the same.

        Returns:
            Their standard deviations, and the covariance of each with the last.
        """
        return self.noise.answer_scales(self.totals.unit, embed)

    def covariance(self) -> Vector:
        """Return the covariance of the answers, shape (m, m)."""
        return self.noise.answer_covariance(self.totals.unit, self.totals.embed)

    @cached_property
    def answer_noise(self) -> AbstractShape:
        """A factor of the covariance of the answers, in their units.

        Raises:
            PlanError: where the noise is no Gaussian.
        """
        return self.noise.answer_factor(self.totals.unit, self.totals.embed)

    def simulate(self, count: int, randomness: Randomness, embed: Vector | None = None) -> Vector:
        """Return the noise of `count` releases in the answers' units; shape (count, m).

        Args:
            count: how many.
            randomness: where the noise comes from.
            embed: other answers from what is summed.
        """
        drawn, unit = self.noise.simulate(count, randomness), self.totals.unit
        embed = self.totals.embed if embed is None else embed
        return np.asarray(drawn * unit if embed is None else drawn @ (embed * unit).T)


LEFT = 2.0**-40  # of a budget: another processor may round products of matrices otherwise
_SPARE = 1e-9  # of the noise: less than that is left where it is
_NOTHING = 2.0**-500  # of what is allowed: where nothing moves, but for rounding up
_ROUNDS = 500
M = TypeVar("M")


def spared(noise: AbstractNoise | AbstractNorm | AbstractStructure) -> float:
    """Return the part of a budget that noise is scaled to: all, or but for what rounding may take.

    So what is planned on one machine is read, and released from, on every other. Of independent
    noise on parities it is the changes whose lengths are products of matrices, or are not.
    """
    return 1.0 if noise.steady else 1 - LEFT


def covering(
    scaled: Callable[[float], M], revealed: Callable[[M], float], allowed: float, start: float = 1.0
) -> M:
    """Return the mechanism with the least noise among scaled(factor) that reveals what is allowed.

    Args:
        scaled: the mechanism whose noise is so many times what was asked for.
        revealed: μ of a mechanism, or ε, from its final noise, rounded up.
        allowed: the most that it may be, above 0.
        start: the factor that is tried first.

    Raises:
        PlanError: where a direction that records can move in has no noise, or no factor is enough.
    """
    factor, found, grown = start, scaled(start), False
    for _ in range(_ROUNDS):
        spent = revealed(found)
        if not math.isfinite(spent):
            raise PlanError("noise leaves a direction that records can move in; plan again")
        room = spent / allowed
        # what had to grow is left as it is: a program may say another size each time it is asked
        if spent <= allowed and (grown or not _NOTHING < room < 1 - _SPARE):
            return found
        # what covers with room to spare shrinks; what does not, grows by a float at the least
        least = math.nextafter(factor, math.inf)
        grown = grown or room >= 1
        factor = factor * room if room < 1 else max(factor * room, least)
        found = scaled(factor)
    raise PlanError("no noise of this shape reveals so little; give a larger budget")
