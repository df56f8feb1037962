# SPDX-License-Identifier: Apache-2.0
"""Exact counts on residual spaces plus the rounding of a true Gaussian of one variance on each.

For every set A of attributes that a marginal sees, the integers (D ⊗ … ⊗ D)·counts_A are summed,
each category against the last one, and get the noise σ_A·(D ⊗ … ⊗ D)ξ: what independent noise of
standard deviation σ_A on each cell of A becomes. D is made of integers, so nothing of the counts is
rounded, and a record moves the noisy table by exactly what `residuals.cost` says.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.size import check_rows
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.privacy import GaussianEvent
from lownoise.questions.residuals import largest_cost_up
from lownoise.samplers import prepare, rounded_gaussian
from lownoise.sensitivity.factors.differences import DifferenceFactor, differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.engines.categories import Records
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.residuals import Orbits

_STEPS = 20  # log2 of a standard deviation in grid steps, where counts leave room
_ROOM = 62  # bits of an integer
_FAR = 64.0  # deviations: farther no normal number of fewer than 2000 bits lies
_ROWS = 40  # log2 of the number of rows that fits in any case
_CHUNK = 1 << 16  # cells that are noised at once, in the cache
_LEFT = 2.0**-40
_SPARE = 1e-9  # of the noise: less than that is left where it is


Sums = tuple["Sequence[int]", "Sequence[Vector]"]  # ordered attributes; the cells of each sum


class Revealing(Protocol):
    """What knows what one run reveals."""

    @property
    def event(self) -> GaussianEvent:
        """What one run reveals."""


M = TypeVar("M", bound=Revealing)


@final
@dataclass(frozen=True)
class Space:
    """Where the integers of some residual spaces of one shape lie, one after another.

    Args:
        sets: the attributes A of each.
        sizes: n of each attribute, in the order of A.
        orbit: which residual orbit they belong to.
        start: the place of the first integer.
        width: how many integers each centred direction has.
    """

    sets: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    orbit: int
    start: int
    width: int = 1

    @property
    def length(self) -> int:
        """How many integers each of them has."""
        return math.prod(n - 1 for n in self.sizes) * self.width

    @property
    def pieces(self) -> list[tuple[int, tuple[tuple[int, ...], ...]]]:
        """The sets that are noised at once, each with the place of its first integer."""
        many = max(_CHUNK // (math.prod(self.sizes) * self.width), 1)
        starts = range(0, len(self.sets), many)
        return [(self.start + k * self.length, self.sets[k : k + many]) for k in starts]


def laid_out(orbits: Orbits, widths: Sequence[int]) -> tuple[Space, ...]:
    """Return the spaces of all residual orbits, in the order of their integers.

    Args:
        orbits: the residual orbits.
        widths: how many integers a centred direction of each has, 0 for an orbit left out.
    """
    found, start = [], 0
    for place, (orbit, width) in enumerate(zip(orbits.residuals, widths, strict=True)):
        if not width:
            continue
        by_sizes: defaultdict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
        for chosen in _sets(orbits, orbit):
            sizes = tuple(int(orbits.sizes[orbits.kinds[i]]) for i in chosen)
            by_sizes[sizes].append(chosen)
        for sizes, sets in by_sizes.items():
            space = Space(tuple(sets), sizes, place, start, width)
            start += len(sets) * space.length
            found.append(space)
    return tuple(found)


def where(spaces: Sequence[Space]) -> dict[tuple[int, ...], tuple[int, Space]]:
    """Return where the integers of each residual space begin, and its space."""
    return {
        chosen: (space.start + k * space.length, space)
        for space in spaces
        for k, chosen in enumerate(space.sets)
    }


def check_public(size: int | None, relation: str) -> None:
    """Refuse a size that is not public: it must never be compared with a table's.

    Raises:
        PlanError: as said, or where a public size is no whole number from 1.
    """
    whole = isinstance(size, int) and not isinstance(size, bool) and size >= 1
    if size is not None if relation == "add_remove" else not whole:
        raise PlanError("size does not fit the relation; plan again")


def check_room(deviations: Vector, inside: Sequence[int], steps: Vector) -> None:
    """Refuse noise that integers do not hold.

    Args:
        deviations: σ of the noise on the cells of each kind of space, shape (r,).
        inside: how many differences are taken of each.
        steps: the unit of the integers, shape (r,).

    Raises:
        PlanError: as said.
    """
    rows = 2.0 ** (np.array(inside, dtype=np.float64) / 2)
    if not np.all(deviations * rows / steps < 2.0**_ROOM / _FAR):
        raise PlanError(
            "noise of some marginal is beyond what integers hold; give a larger budget, or "
            "weights that are nearer to each other",
        )


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ResidualMechanism:
    """The release of counts on residual spaces.

    Args:
        orbits: the marginals and their residual spaces.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        deviations: σ of each residual orbit, in records, shape (r,); 0 for the number of records
            where it is public.
        steps: the unit of each orbit's integers, in records: powers of two, at most 1; shape (r,).
    """

    orbits: Orbits
    relation: str
    size: int | None
    deviations: Vector
    steps: Vector

    def __post_init__(self) -> None:
        check_public(self.size, self.relation)
        inside = [len(orbit) for orbit in self.orbits.residuals]
        check_room(self.deviations, inside, self.steps)

    @cached_property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final noise alone."""
        cost = largest_cost_up(self.orbits, self.variances, self.relation)
        return GaussianEvent(sqrt_up(cost))

    @property
    def variances(self) -> Vector:
        """σ² of each residual orbit, in records, shape (r,)."""
        return frozen(np.square(self.deviations))

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """All residual spaces, in the order of their integers."""
        # the number of records is not released where it is public
        kept = [int(self.size is None or len(orbit) > 0) for orbit in self.orbits.residuals]
        return laid_out(self.orbits, kept)

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return sum(len(space.sets) * space.length for space in self.spaces)

    @cached_property
    def place(self) -> dict[tuple[int, ...], tuple[int, Space]]:
        """Where the integers of each residual space begin, and its space."""
        return where(self.spaces)

    def check(self, count: int) -> None:
        """Refuse a table that the promise does not cover.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, count)

    def run(self, records: Records, *, randomness: Randomness) -> Iterator[tuple[int, Integers]]:
        """Yield the noisy integers, piece by piece: where a piece begins, and the piece.

        Args:
            records: the rows.
            randomness: where the noise comes from.

        Raises:
            EngineError: as `check`.
        """
        self.check(records.count)
        prepare(self.length)
        for space in self.spaces:
            deviation, step = self.deviations[space.orbit], self.steps[space.orbit]
            for start, sets in space.pieces:
                factor = DifferenceFactor(
                    scale=float(deviation / step), sizes=space.sizes, copies=len(sets)
                )
                noisy = rounded_gaussian(factor, randomness=randomness)
                exact = differences(records.marginals(sets), 1).reshape(-1) * int(1 / step)
                yield start, noisy + exact

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered."""
        return ()

    def follows(self, chosen: Sequence[int]) -> bool:
        """Return whether the marginal of these attributes follows from the release."""
        sizes = self.orbits.sizes[self.orbits.kinds]
        kept = [i for i in chosen if sizes[i] > 1]
        return self.orbits.orbit(kept) in self.orbits.place

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return list(self.orbits.cell_variances(self.variances)[:, None])

    def covariance(self, inside: Sequence[int], first: Sums, second: Sums) -> Vector:
        """Return σ² of the residual space of `inside`: 0 where there is none.

        Args:
            inside: unordered attributes.
            first: sums over categories of ordered attributes: none.
            second: the same.
        """
        place = self.orbits.place.get(self.orbits.orbit(inside))
        return np.array([0.0 if place is None else float(self.variances[place])])

    def differences(
        self, sets: Sequence[tuple[int, ...]], ordered: Sequence[int], integers: Integers
    ) -> Vector:
        """Return noisy differences of residual spaces of one shape, in records, (k, n₁ − 1, …, 1).

        Args:
            sets: the attributes A of each, rising.
            ordered: attributes that are ordered: none.
            integers: the release, shape (length,).
        """
        if self.size is not None and not sets[0]:
            return np.full((len(sets), 1), float(self.size))
        places = [self.place[chosen] for chosen in sets]
        plain = np.asarray(integers)  # pieces of a mapped file are slow to make
        own = np.stack([plain[start : start + space.length] for start, space in places])
        found = own * self.steps[[space.orbit for _, space in places]][:, None]
        return found.reshape(len(sets), *(n - 1 for n in places[0][1].sizes), 1)


def _sets(orbits: Orbits, orbit: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of attributes of an orbit, each rising."""
    members = [np.flatnonzero(orbits.kinds == k).tolist() for k in sorted(set(orbit))]
    counts = [count for _, count in sorted(Counter(orbit).items())]
    parts = [itertools.combinations(m, c) for m, c in zip(members, counts, strict=True)]
    for choice in itertools.product(*parts):
        yield tuple(sorted(itertools.chain.from_iterable(choice)))


def residual_mechanism(
    orbits: Orbits, relation: str, size: int | None, variances: Vector, parameter: float
) -> ResidualMechanism:
    """Return the mechanism whose variances are in proportion to these and that reveals at most μ.

    Args:
        orbits: the marginals.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        variances: σ² of each residual orbit up to a factor, shape (r,).
        parameter: μ > 0.

    Raises:
        PlanError: where a residual space that needs noise has none, or more than integers hold.
    """

    def scaled(factor: float) -> ResidualMechanism:
        deviations = np.sqrt(variances) * factor
        return ResidualMechanism(
            orbits=orbits,
            relation=relation,
            size=size,
            deviations=frozen(deviations),
            steps=grid_steps(deviations),
        )

    return fitted(scaled, parameter)


def fitted(scaled: Callable[[float], M], parameter: float) -> M:
    """Return the mechanism with as little noise as reveals at most μ, and hardly less.

    What is left of μ, a part in 2^40, is room for another machine's sums: it may round their last
    digits otherwise when it reads the file, and must not find more than the budget.

    Args:
        scaled: returns the mechanism with this many times the noise.
        parameter: μ > 0.

    Raises:
        PlanError: where something that needs noise has none.
    """
    parameter *= 1 - _LEFT
    factor = 1 / parameter
    mechanism = scaled(factor)
    if not math.isfinite(mechanism.event.mu):
        raise PlanError("a residual space that records can move in has no noise; plan again")
    room = mechanism.event.mu / parameter
    if 0 < room < 1 - _SPARE:  # it covers with room to spare
        factor *= room
        mechanism = scaled(factor)
    while not mechanism.event.mu <= parameter:
        factor = max(factor * (mechanism.event.mu / parameter), math.nextafter(factor, math.inf))
        mechanism = scaled(factor)
    return mechanism


def grid_steps(deviations: Vector) -> Vector:
    """Return the unit of each orbit's integers that goes with its deviation, shape (r,)."""
    return frozen(np.array([grid_step(deviation) for deviation in deviations.tolist()]))


def grid_step(deviation: float) -> float:
    """Return a power of two, at most 1: fine beside the noise, and coarse enough for all counts."""
    if not deviation:
        return 1.0
    # a row adds 0, 1 or −1 to each integer
    return 2.0 ** -min(max(_STEPS - math.frexp(deviation)[1], 0), _ROOM - _ROWS)
