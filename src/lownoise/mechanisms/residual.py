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
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.errors import PlanError, TableError
from lownoise.privacy import GaussianEvent
from lownoise.residuals import largest_cost_up
from lownoise.rounding import sqrt_up
from lownoise.samplers import prepare, rounded_gaussian
from lownoise.shapes.differences import DifferenceFactor, differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.arrays import Integers, Vector
    from lownoise.engines.categories import Records
    from lownoise.entropy import Entropy
    from lownoise.residuals import Orbits

_STEPS = 20  # log2 of a standard deviation in grid steps, where counts leave room
_ROOM = 62  # bits of an integer
_FAR = 64.0  # deviations: farther no normal number of fewer than 2000 bits lies
_ROWS = 40  # log2 of the number of rows that fits in any case
_CHUNK = 1 << 16  # cells that are noised at once, in the cache
_SPARE = 1e-9  # of the noise: less than that is left where it is


@final
@dataclass(frozen=True)
class Space:
    """Where the integers of some residual spaces of one shape lie, one after another.

    Args:
        sets: the attributes A of each.
        sizes: n of each attribute, in the order of A.
        orbit: which residual orbit they belong to.
        start: the place of the first integer.
    """

    sets: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    orbit: int
    start: int

    @property
    def length(self) -> int:
        """How many integers each of them has."""
        return math.prod(n - 1 for n in self.sizes)


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
        whole = isinstance(self.size, int) and not isinstance(self.size, bool) and self.size >= 1
        if self.size is not None if self.relation == "add_remove" else not whole:
            raise PlanError("size does not fit the relation; plan again")
        rows = np.array([2.0 ** (len(orbit) / 2) for orbit in self.orbits.residuals])
        if not np.all(self.deviations * rows / self.steps < 2.0**_ROOM / _FAR):
            raise PlanError(
                "noise of some marginal is beyond what integers hold; give a larger budget, or "
                "weights that are nearer to each other",
            )

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
        found, start = [], 0
        for place, orbit in enumerate(self.orbits.residuals):
            if self.size is not None and not orbit:
                continue  # the number of records is public
            by_sizes: defaultdict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
            for chosen in _sets(self.orbits, orbit):
                sizes = tuple(int(self.orbits.sizes[self.orbits.kinds[i]]) for i in chosen)
                by_sizes[sizes].append(chosen)
            for sizes, sets in by_sizes.items():
                space = Space(tuple(sets), sizes, place, start)
                start += len(sets) * space.length
                found.append(space)
        return tuple(found)

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return sum(len(space.sets) * space.length for space in self.spaces)

    @cached_property
    def place(self) -> dict[tuple[int, ...], tuple[int, Space]]:
        """Where the integers of each residual space begin, and its space."""
        return {
            chosen: (space.start + k * space.length, space)
            for space in self.spaces
            for k, chosen in enumerate(space.sets)
        }

    def check(self, count: int) -> None:
        """Refuse a table that the promise does not cover.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        if self.size is not None and count != self.size:
            raise TableError(
                f"size={self.size} but the table has {count} rows; where one record changes "
                "the number of records is public: give it exactly",
            )

    def run(self, records: Records, *, entropy: Entropy) -> Iterator[tuple[int, Integers]]:
        """Yield the noisy integers, piece by piece: where a piece begins, and the piece.

        Args:
            records: the rows.
            entropy: where the noise comes from.

        Raises:
            TableError: as `check`.
        """
        self.check(records.count)
        prepare(self.length)
        for space in self.spaces:
            deviation, step = self.deviations[space.orbit], self.steps[space.orbit]
            many = max(_CHUNK // math.prod(space.sizes), 1)
            for k in range(0, len(space.sets), many):
                sets = space.sets[k : k + many]
                factor = DifferenceFactor(
                    scale=float(deviation / step), sizes=space.sizes, copies=len(sets)
                )
                noisy = rounded_gaussian(factor, entropy=entropy)
                exact = differences(records.marginals(sets), 1).reshape(-1) * int(1 / step)
                yield space.start + k * space.length, noisy + exact

    def differences(self, sets: Sequence[tuple[int, ...]], integers: Integers) -> Vector:
        """Return noisy differences of residual spaces of one shape, in records, (k, n₁ − 1, …).

        Args:
            sets: the attributes A of each, rising.
            integers: the release, shape (length,).
        """
        if self.size is not None and not sets[0]:
            return np.full(len(sets), float(self.size))
        places = [self.place[chosen] for chosen in sets]
        plain = np.asarray(integers)  # pieces of a mapped file are slow to make
        own = np.stack([plain[start : start + space.length] for start, space in places])
        found = own * self.steps[[space.orbit for _, space in places]][:, None]
        return found.reshape(len(sets), *(n - 1 for n in places[0][1].sizes))


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
    return frozen(np.array([_step(deviation) for deviation in deviations.tolist()]))


def _step(deviation: float) -> float:
    """Return a power of two, at most 1: fine beside the noise, and coarse enough for all counts."""
    if not deviation:
        return 1.0
    # a row adds 0, 1 or −1 to each integer
    return 2.0 ** -min(max(_STEPS - math.frexp(deviation)[1], 0), _ROOM - _ROWS)
