# SPDX-License-Identifier: Apache-2.0
"""The totals of means: which integers records become, and how far a neighbour moves them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial, singledispatch
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines import (
    AbstractCoding,
    ClampingCoding,
    Coding,
    ListCoding,
    SignCoding,
)
from lownoise.errors import DomainError, PlanError
from lownoise.noise.totals import AbstractTotals, check_public, check_rows, lattice_of
from lownoise.noise.units import standing
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.relations import Change
from lownoise.sets.bodies import (
    ImageBody,
    RoundedBody,
    SectionBody,
    SymmetricBox,
    SymmetricPoints,
    image_body,
)
from lownoise.sets.bodies.multipliers import as_stated, without
from lownoise.sets.domains import AbstractDomain, Box, CubePower, Points
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.engines import Totals, TotalsQuery
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Mean
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates


DOMAIN, START = "domain", "start"  # what files say that codes are taken about
CLAMPED = 1.0  # steps: more than rounding a value that never changes can be off by


def coding_for(
    question: Mean, chosen: Coordinates, step: Vector, about: Vector | None = None
) -> AbstractCoding:
    """Return how records of the question's domain become integers.

    Args:
        question: the columns, their domain, center and stand-in.
        chosen: the coordinates that are summed.
        step: the unit of the integers, powers of two, shape (r,).
        about: the point that is coded as zero, shape (d,); by default the question's center.
    """
    of_domain = _coding(question.domain, chosen.pivots)
    center = question.center if about is None else about
    return of_domain(columns=question.sources, center=center, missing=question.missing, step=step)


@singledispatch
def _coding(domain: object, pivots: Integers) -> Callable[..., AbstractCoding]:
    """Return the coding of a kind of domain, but for the fields that all codings have."""
    raise DomainError(f"domain={type(domain).__name__} has no known codes; use ln.Box or ln.Points")


@_coding.register(Box)
def _coding_of_box(domain: Box, pivots: Integers) -> Callable[..., AbstractCoding]:
    return partial(Coding, lower=domain.lower, upper=domain.upper)


@_coding.register(Points)
def _coding_of_points(domain: Points, pivots: Integers) -> Callable[..., AbstractCoding]:
    return partial(ListCoding, domain=domain, pivots=pivots)


@_coding.register(AbstractDomain)
def _coding_of_any_domain(
    domain: AbstractDomain, pivots: Integers
) -> Callable[..., AbstractCoding]:
    return partial(ClampingCoding, domain=domain, pivots=pivots)


@_coding.register(CubePower)
def _coding_of_cube_power(domain: CubePower, pivots: Integers) -> Callable[..., AbstractCoding]:
    return partial(SignCoding, domain=domain, pivots=pivots)


def changed_extent(
    coding: AbstractCoding, change: Change, pivots: Integers, *, mixed: bool
) -> AbstractBody:
    """Return S over the step, and around it what rounding of both of the records can add.

    Args:
        coding: how records become integers.
        change: what one of them can change by.
        pivots: the coordinates that are summed, shape (r,).
        mixed: whether answers are made of several of them.
    """
    body = change.changes(pivots, coding.step, mixed=mixed)
    slack = 2 * coding.slack
    if isinstance(body, SymmetricBox):
        wider = np.nextafter(body.half_width + slack, np.inf)
        return SymmetricBox(frozen(np.where(body.half_width + slack > 0, wider, 0.0)))
    return RoundedBody(body, frozen(slack))


def coming_extent(coding: AbstractCoding) -> AbstractBody:
    """Return the hull of the codes of all records, which are taken about zero, and their opposites.

    Args:
        coding: how records become integers.

    Raises:
        DomainError: where the hull of a domain is not known.
    """
    if isinstance(coding, Coding):  # between the codes of the bounds: they are monotone
        least, greatest = (own.astype(np.float64) for own in (coding.least(), coding.greatest()))
        # whole numbers below 2^52, so that halves of their sums are exact
        if np.array_equal(least, -greatest):
            return SymmetricBox(frozen(greatest))
        middle, half = (greatest + least) / 2, (greatest - least) / 2
        columns = np.hstack([np.diag(half), middle[:, None]])
        return image_body(frozen(columns), NormBall(middle.size + 1, math.inf))
    if isinstance(coding, ListCoding):
        codes = np.unique(coding.codes, axis=0).astype(np.float64)
        return SymmetricPoints(frozen(codes))
    domain: Any = coding.domain  # type: ignore[attr-defined]  # of all others
    body: AbstractBody = domain.symmetrized(coding.pivots, coding.step)
    # also where a coordinate has one value, which is rounded, too
    return RoundedBody(body, frozen(np.maximum(coding.slack, CLAMPED)))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class MeanTotals(AbstractTotals):
    """Sums of coded records, and under `add_remove` their count.

    Args:
        query: what is summed; its coding reads d columns and sums r coordinates.
        relation: what a neighbour is.
        size: the public number of records, None under `add_remove`.
        count_step: the unit of the count's integers under `add_remove` (a power of two, at most
            1), else None.
        coordinates: which r coordinates are summed, and how the others follow.
        multipliers: for the bound on how far records can change, where an image of a unit ball
            needs them; any are a proof, and the right ones prove the least. Shape (k,), or with odd
            sums of signs (1 + n, k); or None.
        center: the question's, about which sums are answered under `add_remove`, shape (d,); None
            where it is the one that codes are taken about.
        comes: whether the relation is a record that comes or goes, of sums without a count.

    Raises:
        PlanError: where rows would be dropped from a table of public size, or the size does not
            fit the relation.
    """

    query: TotalsQuery
    relation: Relation
    size: int | None
    count_step: float | None
    coordinates: Coordinates
    multipliers: Vector | None = None
    center: Vector | None = None
    comes: bool = False

    def __post_init__(self) -> None:
        drops = self.query.drops_missing and not self.comes
        check_public(self.size, self.relation, drops=drops)
        if (self.size is None) == (self.count_step is None):
            raise PlanError("size and count_step do not fit the relation; plan again")

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return int(self.coordinates.pivots.size) + (self.count_step is not None)

    @cached_property
    def changes(self) -> AbstractBody:
        """The set of all changes that one neighbour makes to the integers."""
        if self.comes:
            found = coming_extent(self.query.coding)
        elif isinstance(self.relation, Change):
            chosen = self.coordinates
            mixed = chosen.embed is not None
            found = changed_extent(self.query.coding, self.relation, chosen.pivots, mixed=mixed)
        else:
            found = self.query.coding.changes(self.count_step)
        if self.multipliers is None:
            return found
        if isinstance(found, ImageBody):
            return found.with_multipliers(self.multipliers)
        if not isinstance(found, RoundedBody):
            return found
        if not isinstance(found.body, (ImageBody, SectionBody)):
            return found
        return RoundedBody(found.body.with_multipliers(self.multipliers), found.slack)

    @cached_property
    def becoming(self) -> AbstractBody:
        """What a record changes that becomes another: sums by a difference, and not the count."""
        found = self.query.coding.changes(None)
        many = self.multipliers
        inner = found.body if isinstance(found, RoundedBody) else found
        if many is not None and isinstance(inner, ImageBody):
            # those of the lifted body have one more, of the count
            inner = inner.with_multipliers(without(many, inner.base.dimension))
            found = RoundedBody(inner, found.slack) if isinstance(found, RoundedBody) else inner
        return found if self.comes else standing(found)

    @property
    def reading(self) -> TableQuery[Totals]:
        """What is asked of a table."""
        from lownoise.engines.queries import totals_query

        return totals_query(self.query)

    def exact(self, records: Totals) -> tuple[int, ...]:
        """Return the integers without noise: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        if self.count_step is None:
            return records.sums
        return (*records.sums, records.count * int(1 / self.count_step))

    @property
    def stated(self) -> dict[str, Any]:
        """The grid, what codes are taken about, the multipliers and the summed coordinates."""
        multipliers = self.multipliers
        return {
            "step": self.query.coding.step.tolist(),
            "count_step": self.count_step,
            **({} if self.center is None else {"about": self._about}),
            **({} if multipliers is None else {"reach": as_stated(multipliers)}),
            **self.coordinates.stated,
        }

    @property
    def _about(self) -> str:
        """Which point of the domain codes are taken about: its center, or the first of a list."""
        coding = self.query.coding
        if not isinstance(coding, ListCoding) or not np.array_equal(coding.center, coding.start):
            return DOMAIN
        centered = np.array_equal(coding.center, coding.domain.center)
        return DOMAIN if self.size is None and centered else START

    @property
    def lattice(self) -> Vector | None:
        """The greatest steps that all records are apart by in each sum, shape (r,); None if none.

        Only points of a list are known to be, whose differences floats hold.
        """
        coding, kept = self.query.coding, self.coordinates.pivots
        if not isinstance(coding, ListCoding):
            return None
        points = coding.domain.points[:, kept]
        about = np.zeros(kept.size) if self.comes else coding.start[kept]
        apart = points - about
        taken = points - apart  # what was subtracted, and with it what rounding took (Dekker)
        lost = (points - (apart + taken)) + (taken - about)
        if np.any(lost):
            return None
        step = lattice_of(apart)  # of tenths it is 2^-55 or so, and codes are too large
        with np.errstate(over="ignore"):
            return step if np.all(np.abs(apart) / step <= coding.most) else None

    @property
    def spelled(self) -> Vector | None:
        """The same where points are what decimals spell, 0.1 a tenth of 1; shape (r,)."""
        coding = self.query.coding
        found = coding.lattice if isinstance(coding, ListCoding) else None
        return self.lattice if found is None else found[0]

    @property
    def apart(self) -> Integers | None:
        """The most steps of the grid that all codes are apart by, (r,); None where none is known.

        Of a value that may become 0 also from 0 on; 0 where all codes are one.
        """
        coding = self.query.coding
        if not isinstance(coding, ListCoding):
            return None
        about = np.zeros_like(coding.codes[0]) if self.size is None else coding.codes[0]
        return np.asarray(np.gcd.reduce(coding.codes - about, axis=0))

    @property
    def kinds(self) -> float:
        """How many points the list has; infinitely many, where records are not of one."""
        coding = self.query.coding
        return len(coding.domain.points) if isinstance(coding, ListCoding) else math.inf

    @property
    def on_lattice(self) -> MeanTotals:
        """The same in those steps, from the first point of the list on, or from 0.

        Raises:
            PlanError: where there are none.
        """
        coding, step = self.query.coding, self.lattice
        if step is None or not isinstance(coding, ListCoding):
            raise PlanError("records are no list of points, and have no steps in common")
        asked = coding.center if self.center is None else self.center
        about = asked if self.comes else frozen(coding.start)
        return replace(
            self,
            query=replace(self.query, coding=replace(coding, step=step, center=about)),
            count_step=None if self.count_step is None else 1.0,
            center=None if np.array_equal(about, asked) else asked,
        )

    @property
    def unit(self) -> Vector:
        """What one grid step is worth in each summed answer, shape (r,), or (r + 1,)."""
        step = self.query.coding.step
        if self.count_step is not None:
            return frozen(np.append(step, self.count_step))
        assert self.size is not None  # noqa: S101 (one of the two is set, by construction)
        return frozen(step / self.size)

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed answers to all answers; None where all are summed."""
        about = self.query.coding.center
        return self.embed_about(about if self.center is None else self.center)

    def embed_about(self, center: Vector) -> Vector | None:
        """Return the matrix to sums about another point and the count; None where it changes none.

        Under `substitute` no point matters.
        """
        if self.count_step is None:
            return self.coordinates.answers(None)
        return self.coordinates.answers(center, self.query.coding.center)

    @property
    def rounding(self) -> Vector:
        """Half a step of each sum that the domain lets move; counts are exact."""
        own = self.query.coding.rounding
        return frozen(own if self.count_step is None else np.append(own, 0.0))

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the released answers: means, or sums about the center and the count.

        Float arithmetic on what is already public; relative error about 1e-16.
        """
        return frozen(self.totals(integers) / (self.size or 1))

    def totals(self, integers: Sequence[int]) -> Vector:
        """Return means times the public number of rows; or sums about the center and the count.

        Whole where integers, their steps and the center are.
        """
        center, chosen, embed = self.query.coding.center, self.coordinates, self.embed
        summed = np.array([float(k) for k in integers])
        if self.count_step is not None:
            summed = summed * self.unit
            return summed if embed is None else np.asarray(embed @ summed)
        size, summed = self.size or 1, summed * self.query.coding.step
        if embed is None:
            return np.asarray(summed + size * center)
        about = summed + size * (center - chosen.start)[chosen.pivots]
        return np.asarray(size * chosen.start + embed @ about)
