# SPDX-License-Identifier: Apache-2.0
"""A set that is known by a program: what the program says, checked against all that it said before.

The program maximises (x − c)ᵀQ(x − c) over the set and hands over a point, its value and an upper
bound. Bounds alone count for privacy. One that is too small looks like a good one in general, but
it is found out as soon as it contradicts any point that the program itself has found.
"""

from __future__ import annotations

import hashlib
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.rounding import LAST, grown, growth
from lownoise.sets.bodies.reach import AbstractSet, Farthest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Chosen, Vector

_ROOM = 2.0**-40  # of the reach, for points that are rounded
_ALIKE = 1e-9  # of a value, beside rounding: a value farther off is another point's
_SPANNED = 1e-12  # of the extent along a direction: a point within that does not span it
_FLAT = 1e-9  # of the extent along a direction: a width that is proved to be less is none
_OUTER = 8  # points, whose distances to all others are looked at
_FIRST_WORDS = 200  # of an error's own text


@final
class Program(AbstractSet):
    """What a user's program says of a set K, and has said.

    Args:
        name: how it is called in messages and files.
        center: a public point, shape (d,).
        extent: at least |x − center| in each coordinate, shape (d,).
        maximise: (Q, c) ↦ (x, (x − c)ᵀQ(x − c), upper).
        differences: Q ↦ ((x, y), (x − y)ᵀQ(x − y), upper), or None.
        contains: x ↦ whether it is in K, up to rounding, or None.
    """

    def __init__(
        self,
        *,
        name: str,
        center: Vector,
        extent: Vector,
        maximise: Callable[..., Any],
        differences: Callable[..., Any] | None,
        contains: Callable[..., Any] | None,
    ) -> None:
        self.name = name
        self.center = center
        self.extent = extent
        self._maximise = maximise
        self._differences = differences
        self._contains = contains
        self._room = extent * (1 + _ROOM) + (np.abs(center) + extent) * 2.0**-50 * (extent > 0)
        self._said: dict[bytes, tuple[Vector, float]] = {}
        self._points: dict[bytes, Vector] = {}

    @property
    def width(self) -> int:
        """A point is encoded as its coordinates."""
        return self.dimension

    def place(self, encoded: Vector) -> Vector:
        """Return the points themselves."""
        return encoded

    def knows(self, encoded: Vector) -> bool:
        """Return whether a point may be in K."""
        return self.holds(encoded)

    @property
    def bounds_differences(self) -> bool:
        """Whether it maximises over pairs of points, too."""
        return self._differences is not None

    def far(self, center: Vector) -> Vector:
        """Return at least |x − center| over K, shape (d,)."""
        return np.asarray(grown(self._room + np.abs(self.center - center), LAST))

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return a point far out under a map, and at least max ‖matrix·(x − center)‖².

        Args:
            matrix: A, shape (r, d).
            center: c, shape (d,).

        Raises:
            DomainError: where the program fails, or contradicts itself.
        """
        return self._squared(matrix, self.far(center), center)

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return two points far apart, and at least max ‖matrix·(x − y)‖²; as `farthest`."""
        return self._squared(matrix, 2 * self._room, None)

    def _squared(self, matrix: Vector, far: Vector, center: Vector | None) -> Farthest:
        # a power of two brings every question to values of about 1, whatever the units
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(np.linalg.norm(np.abs(matrix) @ far)) * (1 + growth(len(matrix) + 99))
        if not math.isfinite(size):
            raise DomainError(
                f"Oracle.half_widths of {self.name!r} is too large here; use larger units"
            )
        exponent = math.frexp(size)[1] if size else 0
        scaled = np.ldexp(matrix, -exponent)
        form = scaled.T @ scaled
        form = (form + form.T) / 2
        answer = self._asked(form, far, center)
        # the form is within γ|A|ᵀ|A| of AᵀA
        upper = answer.upper + growth(len(matrix) + 4) * math.ldexp(size, -exponent) ** 2
        return Farthest(answer.point, math.ldexp(grown(upper, LAST), 2 * exponent))

    def _asked(self, form: Vector, far: Vector, center: Vector | None) -> Farthest:
        """Ask, or remember, and check the answer against every point so far."""
        field = "differences" if center is None else "maximise"
        about = b"" if center is None else center.tobytes()
        key = hashlib.sha256(form.tobytes() + about).digest()
        # of one evaluation of the form at a point of K in floats, in any order
        doubt = growth(4 * form.shape[0] + 40) * float(far @ np.abs(form) @ far)
        if key not in self._said:
            arguments = (form,) if center is None else (form, center)
            function = self._differences if center is None else self._maximise
            self._said[key] = self._checked(field, function, arguments, doubt)
        point, upper = self._said[key]
        worst = self._worst(form, center)
        if upper + 2 * doubt < worst:
            raise DomainError(
                f"Oracle.{field} of {self.name!r} gave the upper bound {upper!r} below {worst!r}, "
                "the value at a point that it found itself; bound the maximum from above",
            )
        return Farthest(point, grown(max(upper + 3 * doubt, 0.0), LAST))

    def _worst(self, form: Vector, center: Vector | None) -> float:
        """Return the greatest value over all points that were found, whoever asked.

        They judge answers alone: searches start from what spans K, so that no plan follows from
        what was asked before.
        """
        points = np.array(list(self._points.values()))
        if center is not None:
            about = points - center
            return float(np.max(np.einsum("ij,ij->i", about @ form, about)))
        # from a few points that are far out: enough to catch what is plainly too small
        about = points - self.center
        outer = np.argsort(-np.einsum("ij,ij->i", about @ form, about))[:_OUTER]
        worst = 0.0
        for y in points[outer]:
            about = points - y
            worst = max(worst, float(np.max(np.einsum("ij,ij->i", about @ form, about))))
        return worst

    def _checked(
        self,
        field: str,
        function: Callable[..., Any] | None,
        arguments: tuple[Vector, ...],
        doubt: float,
    ) -> tuple[Vector, float]:
        form = arguments[0]
        # copies: what the program does to them must not reach what it is judged by
        answer = self._called(field, function, *(a.copy() for a in arguments))
        shape = (2, self.dimension) if field == "differences" else (self.dimension,)
        try:
            given, value, upper = answer
            point = np.array(given, dtype=np.float64)
            value, upper = float(value), float(upper)
        except (TypeError, ValueError, OverflowError):
            what = "pair of points" if field == "differences" else "point"
            raise DomainError(
                f"Oracle.{field} of {self.name!r} gave {_short(answer)}; "
                f"return ({what}, value, upper bound)",
            ) from None
        if point.shape != shape:
            raise DomainError(
                f"Oracle.{field} of {self.name!r} gave a point of shape {point.shape}; "
                f"return one of shape {shape}",
            )
        for name, number in (("value", value), ("upper bound", upper)):
            if not math.isfinite(number):
                raise DomainError(
                    f"Oracle.{field} of {self.name!r} gave the {name} {number}; "
                    "return a finite number",
                )
        for x in np.reshape(point, (-1, self.dimension)):
            self._admit(field, x)
        about = point[0] - point[1] if field == "differences" else point - arguments[1]
        own = float(about @ form @ about)
        if abs(own - value) > _ALIKE * max(abs(own), abs(value)) + 16 * doubt:
            raise DomainError(
                f"Oracle.{field} of {self.name!r} gave the value {value!r} for a point whose "
                f"value is {own!r}; return the value at the point",
            )
        for x in np.reshape(point, (-1, self.dimension)):
            self._points.setdefault(x.tobytes(), x.copy())
        point.setflags(write=False)
        return point, upper

    def _admit(self, field: str, point: Vector) -> None:
        wrong = np.flatnonzero(~(np.abs(point - self.center) <= self._room))
        if wrong.size:
            i = int(wrong[0])
            raise DomainError(
                f"Oracle.{field} of {self.name!r} gave a point whose coordinate {i} is "
                f"{point[i]}, farther than half_widths[{i}]={self.extent[i]} from "
                f"{self.center[i]}; raise it, or return a point of the set",
            )
        if not self.holds(point):
            raise DomainError(
                f"Oracle.{field} of {self.name!r} gave a point that its own `contains` refuses; "
                "return a point of the set, and let `contains` allow for rounding",
            )

    def within(self, points: Vector) -> Chosen:
        """Return which points are within reach, shapes (n, d) and (n,)."""
        return np.asarray(np.all(np.abs(points - self.center) <= self._room, axis=1))

    def holds(self, point: Vector) -> bool:
        """Return whether a point may be in K: within reach, and held by `contains` if there is one.

        Raises:
            DomainError: where `contains` fails.
        """
        if not self.within(point[None])[0]:
            return False
        if self._contains is None:
            return True
        answer = self._called("contains", self._contains, np.array(point))
        try:
            return bool(answer)
        except (TypeError, ValueError):
            raise DomainError(
                f"Oracle.contains of {self.name!r} gave {_short(answer)}; return True or False",
            ) from None

    def _called(self, field: str, function: Callable[..., Any] | None, *arguments: Vector) -> Any:  # noqa: ANN401
        if function is None:
            raise DomainError(f"Oracle.{field} of {self.name!r} is missing; give it")
        try:
            return function(*arguments)
        except Exception as error:
            raise DomainError(
                f"Oracle.{field} of {self.name!r} raised {type(error).__name__} "
                f"({_short(error)}); mend the program",
            ) from error

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩ over K.

        Seen from a corner of the box that holds K, ⟨θ, x − corner⟩ is never negative, and so its
        greatest square says the maximum itself.

        Args:
            direction: θ, shape (d,).
            about: shape (d,).

        Raises:
            DomainError: as `farthest`.
        """
        corner = self._corner(direction)
        answer = self.farthest(direction[None], corner)
        off = corner - about
        lost = growth(self.dimension + 9) * float(np.abs(direction) @ np.abs(off))
        length = grown(math.sqrt(answer.upper), LAST)
        return float(direction @ off) + length + grown(lost + length * 2.0**-50)

    def extreme(self, direction: Vector) -> Vector:
        """Return a point that should be extreme along θ, shape (d,)."""
        return self.farthest(direction[None], self._corner(direction)).point

    def _corner(self, direction: Vector) -> Vector:
        return np.asarray(self.center - np.where(direction < 0, -1.0, 1.0) * self.extent)

    @cached_property
    def spanning(self) -> Vector:
        """Points of K that span the flat that it fills, shape (n, d), n ≤ 2d + 1 and a few.

        Raises:
            DomainError: where the bounds leave open whether K is flat.
        """
        unit = np.where(self.extent > 0, self.extent, 1.0)
        wide = np.flatnonzero(self.extent > 0)
        axes = np.eye(self.dimension)[wide] / unit[wide, None]
        found = [self.farthest(np.diag(1 / unit), self.center).point]
        found += [self.extreme(sign * axis) for axis in axes for sign in (1.0, -1.0)]
        flat = np.zeros((0, wide.size))
        for _ in range(2 * wide.size + 1):  # each time a direction more is spanned, or is flat
            rows = (np.array(found) - found[0])[:, wide] / unit[wide]
            missing = _missing(np.vstack([rows, flat]))
            if missing is None:
                break
            theta = np.zeros(self.dimension)
            theta[wide] = missing / unit[wide]
            ends = [self.extreme(theta), self.extreme(-theta)]
            size = float(np.abs(theta) @ self.extent)
            gained = max(abs(float(theta @ (x - found[0]))) for x in ends)
            if gained > _SPANNED * size:
                found += ends
                continue
            width = sum(self.support_up(side, self.center) for side in (theta, -theta))
            if not width <= _FLAT * size:
                raise DomainError(
                    f"Oracle.maximise of {self.name!r} finds no width along a direction in which "
                    f"its bounds allow {width / size:.1e} of half_widths; give tighter upper "
                    "bounds, or leave out a coordinate that follows from others",
                )
            flat = np.vstack([flat, missing])
        points = np.array(found)
        _, first = np.unique(points, axis=0, return_index=True)
        kept = points[np.sort(first)]
        kept.setflags(write=False)
        return kept


def _missing(rows: Vector) -> Vector | None:
    """Return a unit vector that is orthogonal to all rows; None where they span everything."""
    k = rows.shape[1]
    if not k:
        return None
    _, lengths, turned = np.linalg.svd(rows, full_matrices=True)
    # an axis that was followed is about 1 long: what is thin beside it is asked about once more
    rank = int(np.count_nonzero(lengths > _SPANNED * max(float(lengths[0]), _SPANNED)))
    return None if rank == k else np.asarray(turned[rank])


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _FIRST_WORDS else text[:_FIRST_WORDS] + "…"
