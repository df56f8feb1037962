# SPDX-License-Identifier: Apache-2.0
"""Which integers the records of a question become, and how far one neighbour moves them."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.engines import (
    AbstractCoding,
    ClampingCoding,
    Coding,
    ListCoding,
    SignCoding,
)
from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import (
    PointDifferences,
    RoundedBody,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.domains import AbstractDomain, Box, CubePower, Points

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Mean
    from lownoise.sensitivity.relations import Change
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates


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
    return of_domain(columns=question.columns, center=center, missing=question.missing, step=step)


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


def changed_reach(
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
        moved = np.nextafter(body.half_width + slack, np.inf)
        return SymmetricBox(frozen(np.where(body.half_width + slack > 0, moved, 0.0)))
    return RoundedBody(body, frozen(slack))


@singledispatch
def reach_of(coding: object, count_step: float | None) -> AbstractBody:
    """Return the body of all changes that one neighbour makes to the integers.

    Args:
        coding: how records become integers.
        count_step: the unit of the count's integers, the last coordinate; None where no record
            comes or goes, and one takes another value.

    Raises:
        PlanError: where the coding is of no known kind.
    """
    raise PlanError(f"coding={type(coding).__name__} is of no known kind; plan again")


@reach_of.register(Coding)
def _reach_of_coding(coding: Coding, count_step: float | None) -> SymmetricBox:
    least, greatest = coding.least(), coding.greatest()
    if count_step is None:
        return SymmetricBox(frozen((greatest - least).astype(np.float64)))
    most = np.maximum(np.abs(least), np.abs(greatest)).astype(np.float64)
    return SymmetricBox(frozen(np.append(most, 1 / count_step)))


@reach_of.register(ListCoding)
def _reach_of_list_coding(coding: ListCoding, count_step: float | None) -> AbstractBody:
    # at most 2^52: exact, and so are their differences; points of one code are one row
    codes = np.unique(coding.codes, axis=0).astype(np.float64)
    if count_step is None:
        return PointDifferences(frozen(codes))
    return SymmetricPoints(frozen(np.hstack([codes, np.full((len(codes), 1), 1 / count_step)])))


@reach_of.register(SignCoding)
def _reach_of_sign_coding(coding: SignCoding, count_step: float | None) -> AbstractBody:
    # the two codes of each parity are middle ± half, exactly: multiples of ½ below 2^52
    low, high = coding.codes.astype(np.float64)
    half, middle = (high - low) / 2, (high + low) / 2
    if count_step is None:
        return coding.domain.parity_differences(half)
    body = coding.domain.parity_lifted(half * count_step, middle * count_step)
    return body.scaled(1 / count_step)


@reach_of.register(ClampingCoding)
def _reach_of_clamping_coding(coding: ClampingCoding, count_step: float | None) -> AbstractBody:
    domain, pivots, step = coding.domain, coding.pivots, coding.step
    if count_step is None:
        body = domain.differences(pivots, step)
        return RoundedBody(body, frozen(2 * coding.slack))
    # the count's integers are 1/count_step: the body whose last coordinate is 1, times that
    body = domain.lifted(pivots, step / count_step, coding.center)
    return RoundedBody(body.scaled(1 / count_step), frozen(np.append(coding.slack, 0.0)))
