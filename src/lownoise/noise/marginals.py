# SPDX-License-Identifier: Apache-2.0
"""The release of marginals: exact counts on residual spaces, and a Gaussian noise of one's choice.

For every set A of unordered attributes that a marginal sees, integers are summed in which each
category stands against the last one, and get noise; which integers along ordered attributes, and
which noise, its `layout` says. Nothing of the counts is rounded.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.covering import covering
from lownoise.noise.loss import Loss
from lownoise.noise.mechanism import check_public, check_rows
from lownoise.numbers.rounding import square_up
from lownoise.samplers import prepare, rounded_gaussian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Attribute
    from lownoise.questions.residuals import Blocks, Orbits, Products, TableChanges
    from lownoise.samplers.gaussian import Factor
    from lownoise.sensitivity.relations import Relation

_STEPS = 20  # log2 of a standard deviation in grid steps, where counts leave room
_ROOM = 62  # bits of an integer
_FAR = 64.0  # deviations: farther no normal number of fewer than 2000 bits lies
_ROWS = 40  # log2 of the number of rows that fits in any case
_CHUNK = 1 << 16  # cells that are noised at once, in the cache
_LEFT = 2.0**-40


Sums = tuple["Sequence[int]", "Sequence[Vector]"]  # ordered attributes; the cells of each sum


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


class AbstractMarginalNoise(ABC):
    """Gaussian noise on residual spaces: which integers it stands on, and what it covers."""

    steps: Vector

    @property
    @abstractmethod
    def unordered(self) -> Orbits:
        """The marginals up to the exchange of attributes: their unordered parts."""

    @property
    @abstractmethod
    def changes(self) -> TableChanges | Blocks | Products:
        """What one record changes in the marginals: what evidence about this noise speaks of."""

    @property
    @abstractmethod
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered."""

    @property
    @abstractmethod
    def changes(self) -> TableChanges | Blocks | Products:
        """What one record changes: what evidence is about."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """At least the length of the greatest change in this noise: μ."""

    @abstractmethod
    def widest(self) -> Iterator[tuple[float, int]]:
        """Yield at least the deviation of each kind of space's cells, and its differences."""

    @abstractmethod
    def widths(self, *, public: bool) -> list[int]:
        """Return how many integers a centred direction of each orbit has, 0 where none is kept."""

    @abstractmethod
    def step(self, space: Space) -> float:
        """Return the unit of a space's integers, in records."""

    @abstractmethod
    def factor(self, space: Space, copies: int) -> Factor:
        """Return the noise of some sets of attributes of a space, in grid steps."""

    @abstractmethod
    def exact(self, records: Records, space: Space, sets: Sequence[tuple[int, ...]]) -> Integers:
        """Return the counts of some sets of attributes of a space, without noise, flat."""

    @abstractmethod
    def follows(self, inside: tuple[int, ...], chosen: Sequence[int]) -> bool:
        """Return whether a marginal with these unordered attributes follows from the release."""

    @abstractmethod
    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""

    @abstractmethod
    def covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return the covariance of sums over ordered categories on one residual orbit, shape (k,).

        Args:
            place: which orbit.
            first: ordered attributes, and for each the cells of each sum, shape (·, n); k sums.
            second: the same, as many.
        """

    @abstractmethod
    def differences(self, found: Vector, space: Space, ordered: Sequence[int], size: int) -> Vector:
        """Return noisy differences in each ordered cell, in records, (n₁ − 1, …, cells).

        Args:
            found: the integers of one set of attributes, in records, shape (length,).
            space: their space.
            ordered: the ordered attributes whose joint cells are the last axis, rising.
            size: the public number of records, 0 where it is private.
        """


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class MarginalMechanism:
    """The release of marginals.

    Args:
        attributes: of the table.
        size: the public number of records, None under `add_remove`.
        noise: the noise, and the integers that it stands on.

    Raises:
        PlanError: where the size does not fit, or integers do not hold the noise.
    """

    attributes: tuple[Attribute, ...]
    size: int | None
    noise: AbstractMarginalNoise

    def __post_init__(self) -> None:
        check_public(self.size, self.relation, drops=False)
        wide = list(self.noise.widest())
        check_room(np.array([w for w, _ in wide]), [k for _, k in wide], self.noise.steps)

    @property
    def relation(self) -> Relation:
        """What a neighbour is."""
        return "add_remove" if self.size is None else "substitute"

    @property
    def orbits(self) -> Orbits:
        """The marginals up to the exchange of attributes: their unordered parts."""
        return self.noise.unordered

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered."""
        return self.noise.axes

    @property
    def estimated(self) -> bool:
        """It is known."""
        return False

    @cached_property
    def loss(self) -> Loss:
        """What one run reveals, from the final noise alone."""
        mu = self.noise.radius
        return Loss(math.inf, 0.0, square_up(mu) / 2, mu)

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """All residual spaces of unordered attributes, in the order of their integers."""
        return laid_out(self.orbits, self.noise.widths(public=self.size is not None))

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

    def read(self, table: Any) -> Records:  # noqa: ANN401 (what an engine takes)
        """Return the categories of all rows.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        from lownoise.engines.counts import read_records

        records = read_records(self.attributes, table)
        check_rows(self.size, records.count)
        return records

    def pieces(self, records: Records, *, randomness: Randomness) -> Iterator[tuple[int, Integers]]:
        """Yield the noisy integers, piece by piece: where a piece begins, and the piece.

        Args:
            records: the rows.
            randomness: where the noise comes from.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        prepare(self.length)
        for space in self.spaces:
            grid = int(1 / self.noise.step(space))
            for start, sets in space.pieces:
                factor = self.noise.factor(space, len(sets))
                noisy = rounded_gaussian(factor, randomness=randomness)
                yield start, noisy + self.noise.exact(records, space, sets) * grid

    def follows(self, chosen: Sequence[int]) -> bool:
        """Return whether the marginal of these attributes follows from the release."""
        return self.noise.follows(self._inside(chosen), chosen)

    def _inside(self, chosen: Sequence[int]) -> tuple[int, ...]:
        sizes = self.orbits.sizes[self.orbits.kinds]
        return tuple(i for i in chosen if i not in self.axes and sizes[i] > 1)

    def covariance(self, inside: Sequence[int], first: Sums, second: Sums) -> Vector:
        """Return the covariance of sums of ordered categories on a residual space, shape (k,).

        Args:
            inside: its unordered attributes A; 0 where it has no noise.
            first: ordered attributes, and for each the cells of each sum, shape (·, n); k sums.
            second: the same, as many.
        """
        place = self.orbits.place.get(self.orbits.orbit(inside))
        return np.zeros(1) if place is None else self.noise.covariance(place, first, second)

    def differences(
        self, sets: Sequence[tuple[int, ...]], ordered: Sequence[int], integers: Integers
    ) -> Vector:
        """Return noisy differences along A in each ordered cell, in records, (k, n₁ − 1, …, cells).

        Args:
            sets: unordered attributes A, rising, k sets of one shape.
            ordered: the ordered attributes whose joint cells are the last axis, rising.
            integers: the release, shape (length,).
        """
        size = self.size or 0
        if sets[0] not in self.place:  # the number of records alone
            return np.full((len(sets), 1), float(size))
        plain = np.asarray(integers)  # pieces of a mapped file are slow to make
        return np.stack(
            [
                self.noise.differences(
                    np.asarray(plain[start : start + space.length] * self.noise.step(space)),
                    space,
                    ordered,
                    size,
                )
                for start, space in (self.place[chosen] for chosen in sets)
            ]
        )


def fitted(
    attributes: Sequence[Attribute],
    size: int | None,
    scaled: Callable[[float], AbstractMarginalNoise],
    parameter: float,
) -> MarginalMechanism:
    """Return the mechanism with as little noise as reveals at most μ, and hardly less.

    What is left of μ, a part in 2^40, is room for another machine's sums: it may round their last
    digits otherwise when it reads the file, and must not find more than the budget.

    Args:
        attributes: of the table.
        size: the public number of records, None under `add_remove`.
        scaled: returns so many times the noise.
        parameter: μ > 0.

    Raises:
        PlanError: where something that needs noise has none, or more than integers hold.
    """
    parameter *= 1 - _LEFT

    def mechanism(factor: float) -> MarginalMechanism:
        return MarginalMechanism(attributes=tuple(attributes), size=size, noise=scaled(factor))

    return covering(mechanism, lambda found: found.loss.mu, parameter, 1 / parameter)


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


def _sets(orbits: Orbits, orbit: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of attributes of an orbit, each rising."""
    members = [np.flatnonzero(orbits.kinds == k).tolist() for k in sorted(set(orbit))]
    counts = [count for _, count in sorted(Counter(orbit).items())]
    parts = [itertools.combinations(m, c) for m, c in zip(members, counts, strict=True)]
    for choice in itertools.product(*parts):
        yield tuple(sorted(itertools.chain.from_iterable(choice)))


def grid_step(deviation: float) -> float:
    """Return a power of two, at most 1: fine beside the noise, and coarse enough for all counts."""
    if not deviation:
        return 1.0
    # a row adds 0, 1 or −1 to each integer
    return 2.0 ** -min(max(_STEPS - math.frexp(deviation)[1], 0), _ROOM - _ROWS)
