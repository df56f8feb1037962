# SPDX-License-Identifier: Apache-2.0
"""The mechanism that knows one table's mean: unbiased, (0, δ)-private and without error there.

It is the source's counterexample (002, Theorem 53): under δ > 0 no lower bound on the error of
unbiased mechanisms holds on every table. Beside the table its error is √((1 − δ)/δ) times what the
mean moves.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arguments import checked_number
from lownoise.numbers.arrays import floats, frozen, matrix
from lownoise.numbers.randomness import SystemRandomness
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import exact, root_up
from lownoise.privacy import ApproxDPEvent
from lownoise.release.execution import charged
from lownoise.samplers.lazy import chosen
from lownoise.sets.domains import AbstractDomain
from lownoise.theory.quadratics import farthest
from lownoise.theory.spectral import check_sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Payer

_LEAST = 1e-300
_MOST = 10**6  # numbers of a table, whose sums are made in fractions
_MOST_ROWS = 1000  # different ones
Point = tuple[Fraction, ...]
Law = tuple[tuple[Fraction, Point], ...]


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class ExactOn:
    """Publishes the reference table's mean μ₀, and with chance δ what makes that unbiased.

    With chance 1 − δ it says μ₀ whatever the table is, else μ₀ + (μ(X) − μ₀)/δ: the mean of both is
    μ(X), and the laws at any two tables of n rows differ with chance δ at most. Made by
    `exact_on`.

    Args:
        reference: the table X₀, shape (n, d).
        delta: δ, as it prints; what a draw costs, with ε = 0, where one row takes another value.
    """

    reference: Vector
    delta: float

    @cached_property
    def mean(self) -> Vector:
        """μ₀, the mean of the reference table, shape (d,)."""
        return _floats(self._fixed)

    @cached_property
    def _fixed(self) -> Point:
        return _mean(self.reference)

    @cached_property
    def _chance(self) -> Fraction:
        return exact(self.delta)

    def draw(
        self,
        table: ArrayLike,
        *,
        ledger: Payer | None = None,
        randomness: Randomness | None = None,
    ) -> Vector:
        """Return one answer on a table, shape (d,): a coin of chance δ, decided exactly.

        This is the private release. The coin is the one thing drawn, from as many random bits as it
        takes; the answer is the float nearest to the exact one.

        Args:
            table: X, shape (n, d), n that of the reference table; private.
            ledger: the account that pays (0, δ); without one, who calls has to charge it.
            randomness: where the bits come from; the operating system by default, and nothing else
                for anything that is published.

        Raises:
            PlanError: where the table has another shape; nothing is spent then.
            LedgerError: where the account cannot pay; nothing is drawn then.
            EngineError: where a value is no finite number; the spend stays reserved.
        """
        source = SystemRandomness() if randomness is None else randomness
        try:
            rows = floats(table)
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise PlanError("table is no matrix of numbers; give a row a record") from None
        self._check_shape(rows.shape)
        note, event = "a draw of a mechanism that knows an answer", ApproxDPEvent(0.0, self.delta)
        d = self._chance

        def answer() -> Point:
            beside = self._beside(_mean(rows))  # whichever way the coin falls
            truly = chosen([d.denominator - d.numerator, d.denominator], randomness=source)
            return beside if truly else self._fixed

        found = charged(ledger, event, note, answer)[0]
        return _floats(found)

    def law(self, table: ArrayLike) -> Law:
        """Return the answers on a table with their chances, exactly: two, or one on means like μ₀.

        Raises:
            PlanError: where the table has another shape or holds what is no finite number.
        """
        mean = self._mean_of(table)
        if mean == self._fixed:
            return ((Fraction(1), mean),)
        return ((1 - self._chance, self._fixed), (self._chance, self._beside(mean)))

    def total_variation(self, table: ArrayLike, other: ArrayLike) -> Fraction:
        """Return how far apart the laws at two tables are: δ where their means differ, else 0.

        Raises:
            PlanError: as `law`.
        """
        chances: dict[Point, Fraction] = {}
        for sign, given in ((1, table), (-1, other)):
            for chance, answer in self.law(given):
                chances[answer] = chances.get(answer, Fraction(0)) + sign * chance
        return sum((abs(c) for c in chances.values()), Fraction(0)) / 2

    def covariance(self, table: ArrayLike) -> Vector:
        """Return (1 − δ)/δ·(μ(X) − μ₀)(μ(X) − μ₀)ᵀ, shape (d, d): zero on the reference table.

        Raises:
            PlanError: as `law`.
        """
        moved = self._change(table)
        ratio = (1 - self._chance) / self._chance
        return frozen(np.stack([_floats(tuple(ratio * a * b for b in moved)) for a in moved]))

    def error(self, table: ArrayLike) -> float:
        """Return (E‖error‖₂²)^{1/2} = √((1 − δ)/δ)·‖μ(X) − μ₀‖ on a table, rounded up.

        Raises:
            PlanError: as `law`.
        """
        return self._error_at(sum((x * x for x in self._change(table)), Fraction(0)))

    def neighbour_error(self, domain: AbstractDomain) -> float:
        """Return at least the error on every table that one row of the reference makes, rounded up.

        It is √((1 − δ)/δ)·max ‖x − xᵢ‖/n over rows xᵢ of the reference table and records x of the
        domain; what is returned is above that by as much as lengths over the domain are known.

        Raises:
            DomainError: where it is no domain of so many coordinates.
            PlanError: where the reference table has more than 1,000 different rows.
        """
        if not isinstance(domain, AbstractDomain) or domain.dimension != self.reference.shape[1]:
            d = self.reference.shape[1]
            raise DomainError(f"domain={domain!r} has not the table's {d} columns; give one of it")
        rows = np.unique(self.reference, axis=0)
        if len(rows) > _MOST_ROWS:
            raise PlanError(
                f"reference has {len(rows):,} different rows, and the record farthest from each is "
                f"looked for; give a table of at most {_MOST_ROWS:,}",
            )
        far = max(farthest(domain, np.eye(rows.shape[1]), row).upper for row in rows)
        return self._error_at((Fraction(far) / len(self.reference)) ** 2)

    def _error_at(self, square: Fraction) -> float:
        try:
            return root_up((1 - self._chance) / self._chance * square)
        except OverflowError:
            return math.inf

    def _change(self, table: ArrayLike) -> Point:
        mean = self._mean_of(table)
        return tuple(a - b for a, b in zip(mean, self._fixed, strict=True))

    def _mean_of(self, table: ArrayLike) -> Point:
        rows = matrix(table, field="table", error=PlanError)
        self._check_shape(rows.shape)
        return _mean(rows)

    def _beside(self, mean: Point) -> Point:
        d = self._chance
        return tuple(b + (a - b) / d for a, b in zip(mean, self._fixed, strict=True))

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if shape != self.reference.shape:
            raise PlanError(
                f"table has shape {shape}, and the reference {self.reference.shape}; give one of "
                "the same shape",
            )


def exact_on(reference: ArrayLike, *, delta: float) -> ExactOn:
    """Return the (0, δ)-private unbiased mechanism without error on a reference table.

    It shows what no theorem can say (002, Theorem 53): under δ > 0 an unbiased mechanism may be
    exact on any one table, so lower bounds hold there or on a neighbour. Use it for nothing else.

    Args:
        reference: the table X₀, shape (n, d): public, and not the one that is to be protected.
        delta: δ in [1e-300, 1): a number means what it prints, 0.1 one tenth.

    Raises:
        PlanError: where the table is no matrix of finite numbers, has more than 10^6, or δ is out
            of range.

    Examples:
        >>> import lownoise as ln
        >>> ages = np.array([[0.25], [0.5], [1.0]])
        >>> guess = ln.theory.exact_on(ages, delta=0.01)
        >>> guess.error(ages)
        0.0
        >>> round(guess.neighbour_error(ln.Box([0], [1])), 6)  # 1/3·√99
        3.316625
        >>> guess.law([[0.25], [0.5], [0.0]])
        ((Fraction(99, 100), (Fraction(7, 12),)), (Fraction(1, 100), (Fraction(-131, 4),)))
    """
    rows = matrix(reference, field="reference", error=PlanError)
    if not rows.size or rows.size > _MOST:
        raise PlanError(
            f"reference has shape {rows.shape}; give a row a record, and at most {_MOST:,} numbers"
        )
    check_sizes("reference", rows)
    number = checked_number("delta", delta)
    if not _LEAST <= number < 1:
        raise PlanError(f"delta={number:g} is out of range; give one from 1e-300 and below 1")
    return ExactOn(reference=frozen(rows), delta=number)


def _floats(numbers: Point) -> Vector:
    """Return the nearest floats, shape (d,); infinite beyond them."""
    most = Fraction(sys.float_info.max)
    ends = {True: math.inf, False: -math.inf}
    found = [float(x) if abs(x) <= most else ends[x > 0] for x in numbers]
    return frozen(np.array(found))


def _mean(rows: Any) -> Point:  # noqa: ANN401 (numbers, shape (n, d))
    """Return the exact mean of the rows."""
    n = len(rows)
    return tuple(sum(map(Fraction, column), Fraction(0)) / n for column in rows.T.tolist())
