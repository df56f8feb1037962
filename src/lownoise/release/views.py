# SPDX-License-Identifier: Apache-2.0
"""What is particular to a question's answers: names, what weighs, what is compared, what is public.

A view belongs to terms. Marginals have theirs in `release.marginals`.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from lownoise.certificate import unit_of, upper_bound
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.release.guarantees import error_bound
from lownoise.release.lower_bounds import AbstractBounded

if TYPE_CHECKING:
    from lownoise.certificate import Evidence
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Mean  # noqa: F401 (in quotes, below)
    from lownoise.release.terms import Terms
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates

_LEAST = 2.0**-900
_TINY = 2.0**-50


Asked = TypeVar("Asked")


class AbstractView(AbstractBounded, Generic[Asked]):
    """What terms say of the answers of one kind of question, `Asked`."""

    folder = False  # whether a release's integers are an array, saved in a folder

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    @property
    def size(self) -> int | None:
        """The public number of records, None where it is private."""
        return self._terms.size

    @property
    def question(self) -> Asked:
        """What is asked."""
        return cast("Asked", self._terms.question)  # which has chosen the view by its class

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What a ledger says of the release."""

    @property
    @abstractmethod
    def standard_deviation(self) -> Any:  # noqa: ANN401 (numbers, or a function of a marginal)
        """The standard deviation of each answer's noise."""

    @property
    @abstractmethod
    def covariance(self) -> Any:  # noqa: ANN401 (a matrix, or a function of two cells)
        """The covariance of the answers."""

    @property
    @abstractmethod
    def weighted(self) -> tuple[Vector, Vector | None]:
        """The answers' deviations as the error weighs them, and how often each occurs."""

    @property
    def compared(self) -> tuple[Vector, Vector | None]:
        """As `weighted`, but with the user's weights whatever the noise: mechanisms' yardstick."""
        return self.weighted

    def compared_errors(self, errors: Vector) -> Vector:
        """Return the errors whose norms are compared, of those of all answers; shape (n, m) both.

        Raises:
            PlanError: where answers stand in no row.
        """
        raise PlanError(f"ln.{type(self._terms.question).__name__} has too many answers to draw")

    def check_drawn(self) -> None:
        """Refuse quantiles of all answers' noise, where these are no row of numbers.

        Raises:
            PlanError: as said.
        """

    def half_widths(self, level: float) -> Vector:
        """Return how far from its answer the exact one is with chance `level`, shape (m,).

        Of marginals the greatest of each kind that was asked for.

        Raises:
            PlanError: where `level` is not between 0 and 1, or the law of the noise is not known.
        """
        return self._terms.proof.half_widths(level)

    def widest(self, level: float) -> float:
        """Return the greatest of `half_widths`, but for the count of means; of streams in all.

        Raises:
            PlanError: as `half_widths`.
        """
        return float(np.max(self.half_widths(level)))

    @property
    def mean_error(self) -> float | None:
        """E‖error‖ where the view has its own; None where it follows from draws of all answers.

        Raises:
            PlanError: where answers are too many to be drawn.
        """
        return None

    def unit(self, *, plain: bool = False) -> str:
        """Return whose unit norms of the answers' errors have, in words.

        Args:
            plain: of weights that are all one, where the question has none of its own.
        """
        return unit_of("records", self._terms.question.weights)

    @property
    def error(self) -> float:
        """(E‖error‖_p²)^{1/2} with Gaussian noise: exact at p = 2 and for one answer."""
        deviations, counts = self.weighted
        return error_bound(deviations, self._terms.order, counts)

    @property
    @abstractmethod
    def upper(self) -> float:
        """At least the objective of the noise: the certificate's upper end."""

    @property
    @abstractmethod
    def body(self) -> Any:  # noqa: ANN401 (a body, or how tables of counts change)
        """All changes that one neighbour makes to what is summed: what the evidence is about."""

    @property
    @abstractmethod
    def matters(self) -> Vector:
        """ω as the evidence has it: one an answer, a degree of parities, an orbit of marginals."""

    @property
    def embed(self) -> Vector | None:
        """The matrix from what is summed to all answers; None where all are summed."""
        return None

    @property
    def divisor(self) -> int:
        """What sums are divided by to be answers."""
        return 1

    @cached_property
    def least(self) -> float:
        """At most the least objective of Gaussian noise at μ = 1, recomputed from evidence."""
        return self._least(self._terms.evidence, self.matters)

    @cached_property
    def plain_least(self) -> float:
        """As `least`, for weights that are all one: of that is the lower bound.

        It is `least` where the question has its own weights.
        """
        own = self._terms.plain_evidence
        return self.least if own is None else self._least(own, np.ones(self.matters.size))

    def _least(self, dual: Evidence | None, weights: Vector) -> float:
        if dual is None:
            return 0.0
        found = dual.least(self.body, self._terms.order, weights, self.embed)
        # numbers below 2^-1022 are rounded to their last bits: near them nothing is proved
        # m rows of a unit that are alike change m times what one does
        return found / self.divisor * self._terms.rows * (1 - _TINY) if found >= _LEAST else 0.0

    @property
    def gaussian_parameter(self) -> float:
        """The greatest μ that one row may cost a Gaussian release, for comparison."""
        return self._terms.budget.gaussian_parameter() / self._terms.rows

    def neighbour(self, unit: str) -> str:
        """Return what a neighbouring table is, in a sentence.

        Args:
            unit: what becomes of one row.
        """
        if self._terms.privacy_unit is None:
            return f"One person is one row; between neighbouring tables one row {unit}."
        own = self._terms.privacy_unit
        return f"Between neighbouring tables one {own.column} {own.becomes}."

    @property
    def covers_exactly(self) -> bool | None:
        """Whether fractions alone show that Gaussian noise covers the changes; None: not asked."""
        return None

    @property
    def evidence_about(self) -> tuple[AbstractBody, Vector, Vector | None] | None:
        """The body, weights and queries that a witness speaks of; None where none is made."""
        return None

    @property
    def binding_least(self) -> float:
        """At most the least error of Gaussian noise at μ = 1 on the answers; 0 where none binds.

        A body of changes needs a row that each of them, or its opposite, keeps inside the domain.
        """
        return self.plain_least

    @property
    def dimension(self) -> float:
        """How many answers there are."""
        deviations, counts = self.weighted
        return float(deviations.size if counts is None else np.sum(counts))

    @property
    def left_out(self) -> str:
        """Which rows are left out, in words that follow from the question; "" where none is."""
        return ""

    @property
    @abstractmethod
    def assumptions(self) -> tuple[str, ...]:
        """What every release of the question rests on, whatever its noise, one sentence each."""

    @property
    def program(self) -> AbstractDomain | None:
        """The domain that a file of the terms only names, None where it holds all of it."""
        return None

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        return {"standard_deviation": self.standard_deviation.tolist()}

    @property
    def isotropic(self) -> Any:  # noqa: ANN401 (one number, or one an answer)
        """The standard deviation of i.i.d. Gaussian noise on all answers at the same budget."""
        raise PlanError(f"ln.{type(self._terms.question).__name__} has no round noise to compare")

    @property
    def laplace(self) -> Any:  # noqa: ANN401 (one an answer)
        """Standard deviations of Laplace noise with the budget split evenly."""
        raise PlanError(f"ln.{type(self._terms.question).__name__} has no Laplace noise to compare")

    @property
    def histogram(self) -> Any:  # noqa: ANN401 (one an answer, or a function of a marginal)
        """The deviation of each answer summed from i.i.d. noise on the count of every record."""
        raise PlanError(f"ln.{type(self._terms.question).__name__} has no histogram to compare")

    def deviations(self) -> Any:  # noqa: ANN401 (one row an orbit of marginals)
        """Return for each orbit of marginals one of them, how many there are, the deviation."""
        raise PlanError(f"ln.{type(self._terms.question).__name__} has no orbits of marginals")

    @property
    def chosen(self) -> Coordinates:
        """The answers that are summed, of which the evidence speaks, and how all follow."""
        raise PlanError(f"ln.{type(self._terms.question).__name__} has no summed answers")


class AbstractRowView(AbstractView[Asked]):
    """Answers in a row: by default of a question that has weights of its own."""

    @property
    def weights(self) -> Vector:
        """What one unit of each answer's error matters, shape (m,)."""
        found: Vector = self._terms.question.weights
        return found

    @property
    def matters(self) -> Vector:
        """The same."""
        return self.weights

    @property
    def weighted(self) -> tuple[Vector, None]:
        """The deviations times the weights."""
        return frozen(self.weights * self.standard_deviation), None

    def compared_errors(self, errors: Vector) -> Vector:
        """Return them times the weights."""
        return errors * self.weights

    @property
    def upper(self) -> float:
        """At least ‖ω·std‖_p."""
        return upper_bound(self._terms.mechanism.answer_noise, self._terms.order, self.weights)

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, in its unit, shape (m,)."""
        found: Vector = self._terms.mechanism.deviations
        return found

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request.

        Raises:
            PlanError: beyond 10,000 answers; ask `standard_deviation`.
        """
        found: Vector = self._terms.mechanism.covariance()
        return found
