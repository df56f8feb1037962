# SPDX-License-Identifier: Apache-2.0
"""Records of a domain as points of the unit ball, of the cube, or as labels.

The ellipsoid is the one that Γ_p fits, wherever it may stand (002, Theorem 17: f(x) = A⁻¹(x − c) is
in the unit ball for x in K). What lies outside the domain, but inside the ranges, counts as it is
where the ellipsoid holds it, and else as the point where the line to the center leaves it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import DomainError, FileError
from lownoise.kinds import PACKED, VECTOR, Field, Form
from lownoise.local_model.encoder import ENCODERS, AbstractEncoder, numbers_of
from lownoise.local_model.randomizer import FULL
from lownoise.numbers.arrays import frozen, weighed
from lownoise.numbers.packing import packed, unpacked
from lownoise.numbers.rounding import shrunk

if TYPE_CHECKING:
    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.domains import AbstractDomain

_STARTS, _STEPS = 8, 6  # of the search for records that an ellipsoid leaves out
_BLOCK = 1 << 16  # numbers of distances to listed points at once


def names_form(values: Any, field: str) -> tuple[str, ...]:  # noqa: ANN401
    """Return names of a document.

    Raises:
        FileError: where they are none.
    """
    if not isinstance(values, list) or not all(isinstance(own, str) and own for own in values):
        raise FileError(f"{field} is no list of names")
    if len(set(values)) != len(values) or not values:
        raise FileError(f"{field} names a column twice, or none")
    return tuple(values)


def _factor_to_json(factor: Vector) -> Any:  # noqa: ANN401
    return factor.tolist() if factor.ndim == 1 else packed(factor)


def _factor(value: Any, field: str) -> Vector:  # noqa: ANN401
    return VECTOR.read(value, field) if isinstance(value, list) else unpacked(value, field)


NAMES = Form(list, names_form)
_FACTOR = Form(_factor_to_json, _factor)


def _expect_ranges(kind: str, missing: Vector, lower: Vector, upper: Vector, names: int) -> None:
    if not missing.shape == lower.shape == upper.shape == (names,):
        raise FileError(f"{kind} has not one number a column")
    if not np.all((lower <= missing) & (missing <= upper)):
        raise FileError(f"{kind}.missing is outside its ranges")


class AbstractColumnEncoder(AbstractEncoder):
    """Of records that are d numbers, each the value of a column, and the mean of each column."""

    missing: Vector  # the public stand-in of values that are no finite number, shape (d,)

    @property
    def length(self) -> int:
        """The number of columns d."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def outward(self, records: Vector) -> Vector:
        """Return in which directions what encoding cuts off grows, of records, shape (n, d)."""
        return records - self.decode(np.zeros(self.dimension))

    def _furthest(self, domain: AbstractDomain) -> Vector:
        """Return records far along the columns and along directions that encoding cuts first.

        Raises:
            DomainError: where no such point is known how to find.
        """
        axes = np.eye(domain.dimension)
        found = [domain.extreme(np.vstack([axes, -axes]))]
        if self.makes == "ball":
            records = domain.extreme(
                np.random.default_rng(0).normal(size=(_STARTS, domain.dimension)) * domain.extent
            )
            for _ in range(_STEPS):
                records = domain.extreme(self.outward(records))
                found.append(records)
        return np.vstack(found)

    def apart(self, question: Any) -> float:  # noqa: ANN401
        """Return how far the extreme records of a mean's domain are from what is decoded of them.

        In parts of the columns' ranges; infinite for another question. They are the records that
        are furthest along the columns, the domain's corners where they can be listed (an ellipsoid
        that holds those holds the domain), and of a few that are drawn, moved along what is cut
        off, those furthest outside an ellipsoid.
        """
        from lownoise.questions import Mean

        if not isinstance(question, Mean) or tuple(question.columns) != tuple(self.names):
            return math.inf
        domain = question.domain
        try:
            records = self._furthest(domain)
        except DomainError:  # no such point is known how to find
            records = domain.spanning + domain.center
        corners = domain.corners()
        if corners is not None:
            records = np.vstack([records, corners])
        encoded = self.encode(np.asarray(records))
        if self.makes == "label":
            found = self.answers.T[encoded[:, 0]]
        else:
            at_zero = self.decode(np.zeros(self.dimension))
            A, y = self.answers, encoded / FULL
            found = at_zero + (y * A if A.ndim == 1 else y @ A.T)
        widths = np.where(domain.upper > domain.lower, domain.upper - domain.lower, 1.0)
        size = np.maximum(widths, 1e-6 * np.max(np.abs(domain.center)))
        return float(np.max(np.abs(found - records) / size))


@ENCODERS.kind(
    "ellipsoid",
    Field("columns", NAMES),
    Field("center", VECTOR),
    Field("factor", _FACTOR),
    Field("lower", VECTOR),
    Field("upper", VECTOR),
    Field("missing", VECTOR),
)
@final
@dataclass(frozen=True, eq=False, kw_only=True)
class EllipsoidEncoder(AbstractColumnEncoder):
    """x = center + A·y, y in the unit ball.

    Args:
        columns: d names.
        center: c, shape (d,).
        factor: A, shape (d, r), its columns orthogonal and none zero; or its diagonal, shape (d,).
        lower: the least value of each column, shape (d,); what is below counts as it.
        upper: the greatest, shape (d,).
        missing: the public stand-in of values that are no finite number, shape (d,).

    Raises:
        FileError: where the shapes do not fit, or a column of A is zero.
    """

    columns: tuple[str, ...]
    center: Vector
    factor: Vector
    lower: Vector
    upper: Vector
    missing: Vector
    makes: ClassVar[Takes] = "ball"

    def __post_init__(self) -> None:
        d = len(self.columns)
        _expect_ranges("ellipsoid", self.missing, self.lower, self.upper, d)
        if self.center.shape != (d,) or len(self.factor) != d or not self.dimension:
            raise FileError("ellipsoid has not one row a column")
        with np.errstate(over="ignore", divide="ignore"):
            sane = np.isfinite(self._squares) & np.isfinite(1 / self._squares)
            if not np.all(sane):
                raise FileError("ellipsoid.factor has a column of no length, or beyond all floats")

    @cached_property
    def _squares(self) -> Vector:
        """The squares of the lengths of A's columns, shape (r,)."""
        return np.asarray(self.factor**2 if self.factor.ndim == 1 else (self.factor**2).sum(axis=0))

    @property
    def dimension(self) -> int:
        """The number r of coordinates in the ball."""
        return int(self.factor.shape[-1])

    @property
    def answers(self) -> Vector:
        """A."""
        return self.factor

    @property
    def ends(self) -> tuple[Vector, Vector]:
        """The ranges of the columns."""
        return self.lower, self.upper

    def encode(self, records: Any) -> Integers:  # noqa: ANN401
        """Return y in units of 1/FULL, towards zero, none longer than FULL; shape (n, r).

        Raises:
            TableError: where a record is of another shape.
        """
        rows = np.clip(numbers_of(records, self.columns, self.missing), self.lower, self.upper)
        # a file can hold ranges whose squares are beyond all floats: nothing is said, and y is 0
        with np.errstate(all="ignore"):
            about = rows - self.center
            # orthogonal columns: A⁺ = diag(1/|aⱼ|²)·Aᵀ
            along = about * self.factor if self.factor.ndim == 1 else about @ self.factor
            y = along / self._squares
            y /= np.maximum(np.sqrt(np.sum(y**2, axis=1, keepdims=True)), 1.0)
        return within_ball(np.where(np.isfinite(y), y, 0.0))

    def outward(self, records: Vector) -> Vector:
        """Return the gradients of |y|², (A⁺)ᵀA⁺(x − c), but for lengths; shape (n, d)."""
        about = records - self.center
        if self.factor.ndim == 1:
            return np.asarray(about / (self._squares / np.max(self._squares)))
        along = (about @ self.factor) / self._squares
        return np.asarray((along / (self._squares / np.max(self._squares))) @ self.factor.T)

    def decode(self, mean: Vector) -> Vector:
        """Return c + A·mean, shape (d,)."""
        moved = weighed(self.factor, mean)
        return frozen(self.center + moved)


def within_ball(y: Vector) -> Integers:
    """Return points of the ball, shape (n, r), in units of 1/FULL, none of them outside it.

    Examples:
        >>> within_ball(np.array([[0.6, 0.8], [1.0, 0.0]])).tolist()
        [[40265318, 53687091], [67108864, 0]]
    """
    found = np.trunc(y * FULL)
    while True:  # squares and their sum are whole numbers below 2^53, so the lengths are exact
        long = np.sum(found**2, axis=1) > FULL**2
        if not np.any(long):
            return found.astype(np.int64)
        found[long] = np.trunc(shrunk(found[long]))


@ENCODERS.kind(
    "ranges",
    Field("columns", NAMES),
    Field("lower", VECTOR),
    Field("upper", VECTOR),
    Field("missing", VECTOR),
)
@final
@dataclass(frozen=True, eq=False, kw_only=True)
class RangeEncoder(AbstractColumnEncoder):
    """Each column's place in its range, from −1 to 1; a column of one value is not encoded.

    Args:
        columns: d names.
        lower: the least value of each column, shape (d,); what is below counts as it.
        upper: the greatest, shape (d,).
        missing: the public stand-in of values that are no finite number, shape (d,).

    Raises:
        FileError: where the shapes do not fit, or no column has a width.
    """

    columns: tuple[str, ...]
    lower: Vector
    upper: Vector
    missing: Vector
    makes: ClassVar[Takes] = "cube"

    def __post_init__(self) -> None:
        _expect_ranges("ranges", self.missing, self.lower, self.upper, len(self.columns))
        if not self.dimension or not np.all(np.isfinite(self._half)):
            raise FileError("ranges has no column of a finite width")

    @cached_property
    def _half(self) -> Vector:
        with np.errstate(over="ignore"):
            return np.asarray(self.upper / 2 - self.lower / 2)

    @cached_property
    def _wide(self) -> Integers:
        return np.flatnonzero(self._half > 0)

    @property
    def dimension(self) -> int:
        """The number r of columns that have a width."""
        return int(self._wide.size)

    @cached_property
    def answers(self) -> Vector:
        """Half the ranges, (d,); as a matrix (d, r) where some column has no width."""
        if self.dimension == self.length:
            return frozen(self._half)
        return frozen(np.diag(self._half)[:, self._wide])

    @property
    def ends(self) -> tuple[Vector, Vector]:
        """The ranges of the columns."""
        return self.lower, self.upper

    def encode(self, records: Any) -> Integers:  # noqa: ANN401
        """Return the places in units of 1/FULL, shape (n, r).

        Raises:
            TableError: where a record is of another shape.
        """
        rows = np.clip(numbers_of(records, self.columns, self.missing), self.lower, self.upper)
        middle = self.lower / 2 + self.upper / 2
        places = (rows - middle)[:, self._wide] / self._half[self._wide]
        return np.rint(np.clip(places, -1.0, 1.0) * FULL).astype(np.int64)

    def decode(self, mean: Vector) -> Vector:
        """Return the middles plus mean times half the ranges, shape (d,)."""
        found = self.lower / 2 + self.upper / 2
        found[self._wide] += self._half[self._wide] * mean
        return frozen(found)


@ENCODERS.kind(
    "nearest",
    Field("columns", NAMES),
    Field("points", PACKED),
    Field("missing", VECTOR),
)
@final
@dataclass(frozen=True, eq=False, kw_only=True)
class NearestEncoder(AbstractColumnEncoder):
    """Which of k listed points is nearest, distances being in parts of the columns' ranges.

    Args:
        columns: d names.
        points: the points, shape (k, d).
        missing: the public stand-in of values that are no finite number, shape (d,).

    Raises:
        FileError: where the shapes do not fit.
    """

    columns: tuple[str, ...]
    points: Vector
    missing: Vector
    makes: ClassVar[Takes] = "label"

    def __post_init__(self) -> None:
        d = len(self.columns)
        if self.points.ndim != 2 or self.points.shape[1] != d or len(self.points) < 2:  # noqa: PLR2004
            raise FileError("nearest.points are not two or more rows of one number a column")
        _expect_ranges("nearest", self.missing, *self._range, d)

    @cached_property
    def _range(self) -> tuple[Vector, Vector]:
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def _wide(self) -> Integers:
        lower, upper = self._range
        return np.flatnonzero(upper > lower)

    def _scaled(self, rows: Vector) -> Vector:
        low, high = (end[self._wide] for end in self._range)
        return (np.clip(rows[:, self._wide], low, high) - low) / (high - low)

    @property
    def dimension(self) -> int:
        """The number k of points."""
        return len(self.points)

    @cached_property
    def answers(self) -> Vector:
        """The points as columns, shape (d, k)."""
        return frozen(self.points.T)

    def encode(self, records: Any) -> Integers:  # noqa: ANN401
        """Return the place of the nearest point in the list, shape (n, 1).

        Raises:
            TableError: where a record is of another shape.
        """
        rows = numbers_of(records, self.columns, self.missing)
        found = np.empty(len(rows), dtype=np.int64)
        step = max(_BLOCK // len(self.points), 1)
        with np.errstate(all="ignore"):  # a file can hold points beyond all floats apart
            goals = self._scaled(self.points)
            for start in range(0, len(rows), step):
                part = self._scaled(rows[start : start + step])
                apart = ((part[:, None, :] - goals) ** 2).sum(axis=2)
                found[start : start + step] = np.argmin(apart, axis=1)
        return found[:, None]

    def decode(self, mean: Vector) -> Vector:
        """Return the points times their shares, summed, shape (d,)."""
        return frozen(mean @ self.points)
