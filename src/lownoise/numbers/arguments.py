# SPDX-License-Identifier: Apache-2.0
"""Arguments that every search for the least noise takes, checked, and names that they had."""

from __future__ import annotations

import math
import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeGuard, TypeVar

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arrays import frozen, matrix, number, vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.errors import LownoiseError
    from lownoise.numbers.arrays import Vector

_LARGEST = 2.0**250
_MOST_ORDER = 1e6  # beyond it the maximum is meant
_LEAST_RTOL = 1e-12
_LIGHTEST = 1e-100

_P = ParamSpec("_P")
_R = TypeVar("_R")


def checked_order(order: float) -> float:
    """Return p.

    Raises:
        PlanError: where it is not in [2, 1e6] and not infinite.
    """
    taken = " from 2 to 1e6, or infinity (math.inf)"
    p = number(order, field="order", error=PlanError, within=taken)
    if not (2 <= p <= _MOST_ORDER or math.isinf(p)) or p < 0:  # noqa: PLR2004
        raise PlanError(f"order={p:g} is out of range; give one{taken}")
    return p


def checked_rtol(rtol: float) -> float:
    """Return the relative gap to reach.

    Raises:
        PlanError: where it is not in [1e-12, 1].
    """
    gap = checked_number("rtol", rtol)
    if not _LEAST_RTOL <= gap <= 1:
        raise PlanError(f"rtol={gap:g} is out of range; give one from 1e-12 to 1")
    return gap


def checked_level(level: float, field: str = "level") -> float:
    """Return a chance or a share.

    Raises:
        PlanError: where it is not above 0 and below 1.
    """
    chance = checked_number(field, level)
    if not 0 < chance < 1:
        raise PlanError(f"{field}={chance:g} is out of range; give one between 0 and 1")
    return chance


def checked_number(field: str, value: float) -> float:
    """Return `value` as a float, which may be infinite.

    Raises:
        PlanError: where it is no number: text, a truth value, complex, or NaN.
    """
    return number(value, field=field, error=PlanError)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether it is a whole number, numpy's included; no truth value is one.

    Examples:
        >>> is_integer(np.int64(7)), is_integer(7.0), is_integer(True)
        (True, False, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def checked_integer(
    field: str,
    value: Any,  # noqa: ANN401 (whatever a caller gives)
    *,
    bits: int | None = None,
    error: type[LownoiseError] = PlanError,
) -> int:
    """Return a whole number of at least 1, numpy's included; no truth value is one.

    Args:
        field: what messages call it.
        value: the number.
        bits: it may be 2^bits at most; None for any.
        error: what refuses it.

    Raises:
        PlanError: or the error that was asked for, where it is none, or out of range.

    Examples:
        >>> checked_integer("rounds", np.int64(7))
        7
        >>> checked_integer("rounds", 0, bits=40)
        Traceback (most recent call last):
        lownoise.errors.PlanError: rounds=0 is out of range; give 1 to 2^40
    """
    if not is_integer(value) or (bits is None and value < 1):
        raise error(f"{field}={quoted(value)} is no whole number; give one of at least 1")
    found = int(value)
    if bits is not None and not 1 <= found <= 1 << bits:
        raise error(f"{field}={quoted(found)} is out of range; give 1 to 2^{bits}")
    return found


def checked_queries(workload: ArrayLike, dimension: int) -> Vector:
    """Return L, shape (m, d).

    Raises:
        PlanError: where it is not a table of finite numbers with one column a coordinate.
    """
    queries = matrix(workload, field="workload", error=PlanError)
    if queries.shape[1] != dimension or not len(queries):
        raise PlanError(
            f"workload has shape {queries.shape} for {dimension} coordinates; "
            "give one row a query, one column a coordinate",
        )
    return queries


def check_size(weights: Vector, queries: Vector | None) -> None:
    """Refuse weights and queries whose products with points could overflow.

    Raises:
        PlanError: where a weight times a number of its query is beyond 2^250.
    """
    size = np.ones(weights.size) if queries is None else np.max(np.abs(queries), axis=1)
    large = np.flatnonzero(size > _LARGEST / weights)
    if large.size:
        i = int(large[0])
        field = "weights" if queries is None else "weights × workload"
        value = float(weights[i]) * float(size[i])
        raise PlanError(f"{field}[{i}]={value:g} is beyond 2^250; use a larger unit")


def checked_weights(
    weights: ArrayLike | None,
    count: int,
    *,
    field: str = "weights",
    each: str = "an answer",
    error: type[LownoiseError] = PlanError,
) -> Vector:
    """Return ω, shape (count,): ones where none are given.

    Args:
        weights: what was given.
        count: how many there have to be.
        field: what they are called.
        each: what each of them is of, with its article.
        error: what is raised where they are not one number from 1e-100 to 1e100 for each.
    """
    if weights is None:
        return frozen(np.ones(count))
    omega = vector(weights, field=field, error=error)
    if omega.size != count:
        many = each.rsplit(maxsplit=1)[-1]
        raise error(f"{field} has {omega.size} numbers for {count} {many}s; give one {each}")
    expect_weights(omega, field, error)
    return omega


def expect_weights(omega: Vector, field: str, error: type[LownoiseError]) -> None:
    """Refuse weights that are not all from 1e-100 to 1e100."""
    wrong = np.flatnonzero(~((omega >= _LIGHTEST) & (omega <= 1 / _LIGHTEST)))
    if wrong.size:
        i = int(wrong[0])
        raise error(f"{field}[{i}]={omega[i]:g} is out of range; give one in [1e-100, 1e100]")


def renamed(old: str, new: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return what makes a function take a keyword by its name of 0.1 too, with a warning."""

    def accepting(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if old in kwargs and new not in kwargs:
                text = f"{old}= is {new}= since 0.2, and 0.3 knows it by that name only"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return accepting
