# SPDX-License-Identifier: Apache-2.0
"""How much must be revealed, or how many people asked, for answers that are near enough.

A plan follows from a budget; here a budget, or a public number of records, follows from how far
answers may stray. Plans are made until one suffices, and the one that does is measured as every
plan is: no law of errors is trusted beyond where to look next.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import LownoiseError, PlanError
from lownoise.numbers.arguments import checked_level, checked_number
from lownoise.numbers.arrays import vector
from lownoise.planning.ask import plan
from lownoise.planning.joint import JointPlan
from lownoise.privacy import ApproxDP, GaussianDP, PureDP
from lownoise.privacy.budget import Zcdp, budget_from_dict, budget_to_dict, checked_budget
from lownoise.questions import Mean
from lownoise.sensitivity.relations import SUBSTITUTE, checked_relation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.planning.release_plan import AbstractPlan
    from lownoise.privacy import Budget

    Measure = Callable[[AbstractPlan | JointPlan], float]

# what of each kind of budget is sought, and between which numbers
_SOUGHT: dict[type, tuple[str, float, float]] = {
    Zcdp: ("rho", 1e-12, 1e6),
    GaussianDP: ("mu", 1e-6, 1e3),
    ApproxDP: ("epsilon", 1e-6, 1e3),
    PureDP: ("epsilon", 1e-6, 1e3),
}
_DIGITS = 4  # of the number that is returned
_TENS = 9 * 10 ** (_DIGITS - 1)  # how many numbers of four digits there are in a power of ten
_MOST_RECORDS = 10**12
_FIRST_SIZE = 1000
_FEW = 8  # places that are looked at before the span is halved
_FAR = 600.0  # logarithms beyond which floats end


def budget_for(
    question: Any,  # noqa: ANN401 (what `plan` takes)
    *,
    like: Budget,
    error: float | None = None,
    interval: ArrayLike | None = None,
    level: float = 0.95,
    **asked: Any,  # noqa: ANN401 (what `plan` takes)
) -> Budget:
    """Return the smallest budget for a given accuracy, without reading any data.

    Args:
        question: as for `ln.plan`.
        like: a budget of the kind to return. The δ of `ln.approx_dp` is kept; its ε, ρ or μ is the
            start of the search.
        error: the largest allowed `Plan.error`, in the answers' units; for several questions the
            largest `JointPlan.error`.
        interval: the largest allowed half-width of an answer's interval: one number for all
            answers, or one for each, shape (m,), in their units. Give this or `error`.
        level: the probability with which each interval covers.
        **asked: `relation`, `size` and the other arguments of `ln.plan`.

    Returns:
        A budget whose number has four digits. It is accurate enough for `ln.plan`, and the next
        smaller one is not.

    Raises:
        PlanError: if an argument is out of range, or no budget of this kind is enough.
        LownoiseError: if `ln.plan` refuses `like`.

    Examples:
        >>> import lownoise as ln
        >>> ages = ln.Mean(["age"], ln.Box([0], [120]))
        >>> ln.budget_for(ages, like=ln.zcdp(1), interval=1, relation="substitute", size=5000)
        Zcdp(rho=0.001107)
        >>> counts = ln.Marginals({"age": 85, "sex": 2}, way=2)
        >>> ln.budget_for(counts, like=ln.pure_dp(1), error=200, relation="add_remove")
        PureDP(epsilon=0.1726)
    """
    near = nearness(error, interval, level)
    return least_budget(lambda budget: plan(question, budget=budget, **asked), like, near)


def size_for(
    question: Mean,
    *,
    budget: Budget,
    error: float | None = None,
    interval: ArrayLike | None = None,
    level: float = 0.95,
    **asked: Any,  # noqa: ANN401 (what `plan` takes)
) -> int:
    """Return the smallest public number of records for a given accuracy of means; reads no data.

    Args:
        question: means, as for `ln.plan`.
        budget: the budget of one release.
        error: as for `budget_for`.
        interval: as for `budget_for`.
        level: as for `budget_for`.
        **asked: the arguments of `ln.plan` without the size. `relation` is "substitute" by default,
            since under "add_remove" the number of records is private.

    Raises:
        PlanError: if an argument is out of range, the number of records is private, or a
            trillion records are not enough.
        LownoiseError: if `ln.plan` refuses the question.

    Examples:
        >>> import lownoise as ln
        >>> ages = ln.Mean(["age"], ln.Box([0], [120]))
        >>> ln.size_for(ages, budget=ln.zcdp(0.1), interval=1)
        526
    """
    if not isinstance(question, Mean):
        raise PlanError(
            f"question={type(question).__name__} is no ln.Mean of all rows, which alone has a size "
            "to be found; ask ln.budget_for",
        )
    asked = {"relation": SUBSTITUTE, **asked}
    if "size" in asked:
        raise PlanError("size is what ln.size_for finds; leave it out")
    if asked.get("privacy_unit") is not None:
        raise PlanError("privacy_unit keeps the number of rows private; ask ln.budget_for")
    if checked_relation(asked["relation"]).counted:
        raise PlanError(
            "relation=add_remove keeps the number of records private, and the error of sums and of "
            "the count is the same however many there are; ask ln.budget_for"
        )
    near = nearness(error, interval, level)
    return least_size(lambda size: plan(question, budget=budget, size=size, **asked), near)


def nearness(error: float | None, interval: ArrayLike | None, level: float) -> Measure:
    """Return what says how many times too far from exact a plan's answers are: 1 suffices.

    Args:
        error: as of `budget_for`.
        interval: as of `budget_for`.
        level: as of `budget_for`.

    Raises:
        PlanError: where not just one of the two is given, or it is not above 0.
    """
    if (error is None) == (interval is None):
        raise PlanError("error and interval both state the accuracy; give one of them")
    checked_level(level)
    if error is not None:
        most = checked_number("error", error)
        _check_above_zero("error", most)
        return lambda made: made.error / most
    given: Any = interval if np.iterable(interval) else [interval]
    widths = vector(given, field="interval", error=PlanError)
    for width in widths.tolist():
        _check_above_zero("interval", width)

    def farthest(made: AbstractPlan | JointPlan) -> float:
        if isinstance(made, JointPlan):
            raise PlanError(
                "interval is for the answers of one question, and there are several; give error"
            )
        found = made.terms.view.half_widths(level)
        if widths.size not in (1, found.size):
            raise PlanError(
                f"interval has {widths.size} numbers for {found.size} answers; give one for all, "
                "or one an answer",
            )
        with np.errstate(over="ignore"):  # infinitely too far
            return float(np.max(found / widths))

    return farthest


def _check_above_zero(field: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise PlanError(f"{field}={value:g} is out of range; give one above 0")


def least_budget(
    make: Callable[[Budget], AbstractPlan | JointPlan], like: Budget, near: Measure
) -> Budget:
    """Return the least budget of a kind, in four digits, whose plan is near enough.

    Args:
        make: returns the plan of a budget.
        like: a budget of the kind, where the search begins.
        near: as `nearness` returns it.

    Raises:
        LownoiseError: where no plan can be had of `like`, or no budget suffices.
    """
    first = checked_budget(like)
    name, least, most = _SOUGHT[type(first)]

    def at(number: float) -> Budget:
        return budget_from_dict({**budget_to_dict(first), name: number})

    found = _least(
        (_place(least), _place(most)),
        _place(getattr(first, name)),
        lambda place: near(make(at(_number(place)))),
        _number,
        _place,
    )
    if found is None:
        raise PlanError(
            f"no budget like {first} is enough, up to {name} = {most:g}; allow a larger error"
        )
    return at(_number(found))


def least_size(make: Callable[[int], AbstractPlan], near: Measure) -> int:
    """Return the least number of records whose plan is near enough.

    Args:
        make: returns the plan for a number of records.
        near: as `nearness` returns it.

    Raises:
        LownoiseError: where no plan can be had of a thousand, or a trillion do not suffice.
    """
    found = _least((1, _MOST_RECORDS), _FIRST_SIZE, lambda size: near(make(size)), float, math.ceil)
    if found is None:
        raise PlanError(
            f"no number of records is enough, up to {_MOST_RECORDS:g}; allow a larger error, or "
            "give a larger budget"
        )
    return found


def _least(
    span: tuple[int, int],
    first: int,
    ratio: Callable[[int], float],
    number: Callable[[int], float],
    place: Callable[[float], int],
) -> int | None:
    """Return the least place at which a ratio that falls is at most 1, None where none is.

    Both are nearly straight in logarithms, so that a few places are looked at; where they are not,
    the span is halved. The place that is returned has been looked at, and so has the one below.

    Args:
        span: the places.
        first: where to begin; what is raised there is raised here.
        ratio: of a place.
        number: what a place stands for, rising.
        place: the first place for a number at least this one.
    """
    low, high = span[0] - 1, span[1] + 1
    seen: list[tuple[float, float]] = []
    at = min(max(first, span[0]), span[1])
    while high - low > 1:
        try:
            found = ratio(at)
        except LownoiseError:
            if not seen:
                raise
            found = math.inf  # less than the least that any noise is known for
        low, high = (low, at) if found <= 1 else (at, high)
        if 0 < found < math.inf:
            seen.append((math.log(number(at)), math.log(found)))
        straight = len(seen) <= _FEW and 0 < found < math.inf
        at = _next(seen[-2:], place) if straight else (low + high) // 2
        at = min(max(at, low + 1), high - 1)
    return high if high <= span[1] else None


def _next(seen: list[tuple[float, float]], place: Callable[[float], int]) -> int:
    """Return where the line through what was seen is 0; through one point, of slope −1."""
    (x, y), *more = reversed(seen)
    slope = (more[0][1] - y) / (more[0][0] - x) if more and more[0][0] != x else -1.0
    step = -y / slope if slope < 0 else y
    return place(math.exp(min(max(x + step, -_FAR), _FAR)))


def _place(number: float) -> int:
    """Return the place of the least number of four digits that is at least this one."""
    power = math.floor(math.log10(number)) - _DIGITS + 1
    place: int = math.ceil(Decimal(repr(number)).scaleb(-power)) + _TENS * power
    return place if _number(place) >= number else place + 1


def _number(place: int) -> float:
    """Return the number of four digits at a place: 1000 to 9999, times a power of ten."""
    power, digits = divmod(place - _TENS // 9, _TENS)
    return float(f"{digits + _TENS // 9}e{power}")
