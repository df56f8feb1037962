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
from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import RoundedBody, SymmetricBox
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
