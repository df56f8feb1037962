# SPDX-License-Identifier: Apache-2.0
"""A bounded set that only a program knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import DomainError, FileError, PlanError, quoted
from lownoise.kinds import Field
from lownoise.numbers.arguments import renamed
from lownoise.numbers.arrays import frozen, vector
from lownoise.numbers.readable import brief, number_of
from lownoise.sets.bodies.program import Program
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain
from lownoise.sets.domains.balls import checked_dimension
from lownoise.sets.domains.image import LARGEST, check_size, checked_center

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Chosen, Vector

_ROUNDING = 2.0**-40  # of the reach: how far off a record is that `clamp` computed in floats
_ULPS = 2.0**-48  # of the center
_NEAR = 1e-9


def _unwritten(**fields: object) -> Oracle:
    """Refuse to make a program of what is public of it."""
    raise FileError(f"oracle={quoted(fields.get('name'))} is a program, which no file holds")


@DOMAINS.kind(
    "oracle", "name", "center", Field("reach", attribute="extent"), "rounding", make=_unwritten
)
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Oracle(AbstractDomain):
    """Any bounded set K, given by a program that maximises quadratic forms over it.

    Noise is fitted to K, to its differences and to its records with a count, and privacy uses the
    program's certified upper bounds and its half widths, which must be true: of a set that nobody
    else describes nothing else is known. Every answer is checked against the points that the
    program has found so far, so that one which contradicts itself is refused; a bound that is too
    small and never contradicted is not noticed. Loose bounds are as private, with more noise and a
    wider certificate.

    Args:
        dimension: d ≥ 1.
        maximise: called with a symmetric positive semidefinite Q (up to rounding), shape (d, d),
            and a point c, shape (d,), in K or not; returns (x, value, upper): a point x of K that
            is far out, (x − c)ᵀQ(x − c), and at least the greatest such value over K. Rounding of
            a few sums of products is allowed for. Q comes scaled so that values are at most about
            1. The same question may be asked in any order, and an answer is remembered.
        half_widths: at least |x − center| over K in each coordinate, shape (d,). Wide ones cost
            digits only.
        center: a public point, shape (d,), zero by default; it need not lie in K, unless K is flat.
        clamp: takes a row, shape (d,), to a point of K, and points of K to themselves; needed where
            records are summed. Where it fails on a row, or leaves the half widths, or goes to what
            `contains` refuses, that row counts as clamp(center): what a table holds makes no
            difference to whether a release succeeds.
        contains: takes a point, shape (d,), and returns whether it is in K, up to rounding. Points
            of `maximise` and `clamp` are checked with it.
        differences: called with Q; returns ((x, y), value, upper) for (x − y)ᵀQ(x − y) over pairs.
            Without it differences are bounded by twice the least ball around K, at most a factor
            √(2d/(d + 1)) more than they are, and nothing more where K has a center of symmetry.
        rounding: how far off K a point can be that `clamp` returns, shape (d,); 2^-40 of the half
            widths and 2^-48 of |center| by default.
        name: how messages and files call it.

    Raises:
        DomainError: where an argument is out of range; and wherever the program is asked, where it
            fails, is malformed, or contradicts itself.

    Examples:
        >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> def maximise(matrix, center):
        ...     values = np.einsum("ij,jk,ik->i", corners - center, matrix, corners - center)
        ...     return corners[np.argmax(values)], values.max(), values.max()
        >>> import lownoise as ln
        >>> triangle = ln.Oracle(2, maximise, half_widths=[1, 1])
        >>> found = ln.theory.enclose(triangle)
        >>> round(found.certificate.upper, 6)
        0.918559
        >>> round(ln.theory.enclose(ln.Points(corners)).certificate.upper, 6)
        0.918559
    """

    name: str
    off: Vector
    program: Program
    mover: Callable[..., Any] | None
    checks: bool

    @renamed("reach", "half_widths")
    def __init__(
        self,
        dimension: int,
        maximise: Callable[..., Any],
        *,
        half_widths: ArrayLike,
        center: ArrayLike | None = None,
        clamp: Callable[..., Any] | None = None,
        contains: Callable[..., Any] | None = None,
        differences: Callable[..., Any] | None = None,
        rounding: ArrayLike | None = None,
        name: str = "oracle",
    ) -> None:
        d = checked_dimension(dimension, "Oracle.dimension")
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise DomainError(f"Oracle.name={quoted(name)} is no name; give printable text")
        given = {
            "maximise": maximise,
            "clamp": clamp,
            "contains": contains,
            "differences": differences,
        }
        for own, function in given.items():
            if not callable(function) and (function is not None or own == "maximise"):
                raise DomainError(
                    f"Oracle.{own}={type(function).__name__} is no function; give one",
                )
        middle = np.zeros(d) if center is None else _numbers(center, d, "center")
        far = _numbers(half_widths, d, "half_widths", least=True)
        if rounding is None:
            off = np.where(far > 0, _ROUNDING * far + _ULPS * np.abs(middle), 0.0)
        else:
            off = np.where(far > 0, _numbers(rounding, d, "rounding", least=True), 0.0)
        program = Program(
            name=name,
            center=frozen(middle.copy()),
            extent=frozen(far.copy()),
            maximise=maximise,
            differences=differences,
            contains=contains,
        )
        for own, value in (
            ("name", name),
            ("off", frozen(off)),
            ("program", program),
            ("mover", clamp),
            ("checks", contains is not None),
        ):
            object.__setattr__(self, own, value)

    @property
    def _size(self) -> str:
        return f"{brief(self.name)}, {number_of(self.dimension, 'column')}"

    @property
    def oracles(self) -> tuple[Oracle, ...]:
        """Itself."""
        return (self,)

    @property
    def searchable(self) -> bool:
        """It is not: a program must not be asked about records."""
        return False

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What its guarantees rest on, and what becomes of a row outside, one sentence each."""
        return (
            f"The program {self.name!r} knows the set; its bounds and clamp are taken to be right.",
            "The set, center and stand-in are public; none of them was taken from this table.",
            "A row outside the set is moved into it; how many is not published.",
        )

    def bounding_set(self) -> Program:
        """Return what the user's program says, checked."""
        return self.program

    @property
    def rounding(self) -> Vector:
        """How far a clamped record can be off K, shape (d,)."""
        return self.off

    @cached_property
    def spanning(self) -> Vector:
        """Points about the center that span what K spans, shape (n, d).

        Raises:
            DomainError: where K is flat and the center is off the flat that it fills.
        """
        spanning = self.program.spanning
        unit = np.where(self.extent > 0, self.extent, 1.0)
        within = _rank((spanning - spanning[0]) / unit)
        if within < np.count_nonzero(self.extent) and within < _rank(
            (spanning - self.center) / unit
        ):
            raise DomainError(
                f"Oracle.center of {self.name!r} is off the flat that the set fills; "
                "give a point of the set",
            )
        return frozen(spanning - self.center)

    @cached_property
    def full(self) -> bool:
        """Whether every coordinate has a width and none follows from others."""
        unit = np.where(self.extent > 0, self.extent, 1.0)
        return bool(np.all(self.extent > 0)) and _rank(self.spanning / unit) == self.dimension

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K, as nearly as the program tells.

        That is `contains` where it was given, otherwise whether `clamp` leaves the point where it
        is, within 1e-9 of the half widths, otherwise whether it is within them.
        """
        point = np.asarray(point, dtype=np.float64)
        if not self.program.holds(point):
            return False
        if self.checks or self.mover is None:
            return True
        clipped, held = self._clipped(point[None])
        room = _NEAR * self.extent + 2.0**-40 * np.abs(self.center)
        return bool(held[0] and np.all(np.abs(clipped[0] - point) <= room))

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each clipped to a point of K, shapes (n, d).

        Raises:
            PlanError: where the oracle has no `clamp`.
            DomainError: where clamp(center) is no point of K.
        """
        home = self._home
        found, held = self._clipped(rows)
        return np.where(held[:, None], found, home)

    @cached_property
    def _home(self) -> Vector:
        """The point of K that every row goes to on which `clamp` fails."""
        if self.mover is None:
            raise PlanError(
                f"Oracle.clamp of {self.name!r} is missing, and a record could lie anywhere; "
                "give a function that moves a row into the set",
            )
        found, held = self._clipped(self.center[None])
        if not held[0]:
            raise DomainError(
                f"Oracle.clamp of {self.name!r} does not take center to a point of the set; "
                "return a row of finite numbers within half_widths, which `contains` holds",
            )
        return frozen(found[0].copy())

    def _clipped(self, rows: Vector) -> tuple[Vector, Chosen]:
        """Return where `clamp` takes each row, and whether that is a point of K; (n, d), (n,)."""
        assert self.mover is not None  # noqa: S101 (the callers looked)
        found = np.full(rows.shape, np.nan)
        for i, row in enumerate(np.clip(rows, -LARGEST, LARGEST)):
            try:
                clipped = np.asarray(self.mover(row), dtype=np.float64)
            except Exception:  # noqa: BLE001, S112 (what a row makes it do must not show)
                continue
            if clipped.shape == row.shape:
                found[i] = clipped
        held = self.program.within(found)
        if self.checks:
            held[held] = [self._holds(x) for x in found[held]]
        return np.clip(found, self.center - self.extent, self.center + self.extent), held

    def _holds(self, point: Vector) -> bool:
        try:
            return self.program.holds(point)
        except DomainError:
            return False


def _numbers(values: ArrayLike, dimension: int, name: str, *, least: bool = False) -> Vector:
    field_ = f"Oracle.{name}"
    found = vector(values, field=field_, error=DomainError)
    checked_center(found, dimension, field_)
    check_size(found, field_)
    if least and np.any(found < 0):
        i = int(np.flatnonzero(found < 0)[0])
        raise DomainError(f"{field_}[{i}]={found[i]:g} is below 0; give a distance")
    return found


def _rank(rows: Vector) -> int:
    return int(np.linalg.matrix_rank(rows, tol=1e-12 * max(float(np.linalg.norm(rows)), 1e-12)))
