# SPDX-License-Identifier: Apache-2.0
"""What is particular to a question's answers: names, what weighs, what is compared, what is public.

A view belongs to terms. Marginals have theirs in `release.marginals`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, final

import numpy as np

from lownoise.bounds import may_have_room, unbiased_change
from lownoise.certificate import unit_of, upper_bound
from lownoise.certificate.witness import covers
from lownoise.errors import PlanError
from lownoise.noise import baselines
from lownoise.noise.means import MeanTotals
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import square_up
from lownoise.release.guarantees import error_bound, unbiased_bound
from lownoise.release.pure_bound import farthest_mean, middle
from lownoise.sensitivity.relations import Change, checked_relation, sensitivity_set
from lownoise.sets.bodies import SectionBody
from lownoise.sets.domains.encoding import oracle_of

if TYPE_CHECKING:
    from lownoise.certificate import Evidence
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Mean
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates

_LEAST = 2.0**-900
_TINY = 2.0**-50
_FEW_NAMES = 3  # in a ledger's note


Asked = TypeVar("Asked")


class AbstractView(ABC, Generic[Asked]):
    """What terms say of the answers of one kind of question, `Asked`."""

    folder = False  # whether a release's integers are an array, saved in a folder

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

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
        return found / self.divisor * (1 - _TINY) if found >= _LEAST else 0.0

    @property
    def covers_exactly(self) -> bool | None:
        """Whether fractions alone show that Gaussian noise covers the changes; None: not asked."""
        return None

    @property
    def evidence_about(self) -> tuple[AbstractBody, Vector, Vector | None] | None:
        """The body, weights and queries that a witness speaks of; None where none is made."""
        return None

    @property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's error is below, on any dataset (see `bounds.unbiased`)."""
        terms = self._terms
        return unbiased_bound(self.plain_least, terms.parameter, terms.size)

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


@final
class MeanView(AbstractRowView["Mean"]):
    """Means, or sums about the center and the count."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, or their sums and the count."""
        columns = self.question.columns
        if self._terms.size is not None:
            return columns
        return (*(f"sum({c} - center)" for c in columns), "count")

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        columns, terms = self.question.columns, self._terms
        if not terms.gaussian:
            return f"{terms.name}: {len(columns):,} means"
        few = len(columns) <= _FEW_NAMES
        hidden = "changes in a body: " if isinstance(terms.relation, Change) else ""
        return f"{hidden}mean of {', '.join(columns) if few else f'{len(columns)} columns'}"[:200]

    @property
    def totals(self) -> MeanTotals:
        """How records become integers."""
        found = self._terms.mechanism.totals
        assert isinstance(found, MeanTotals)  # noqa: S101 (what all mechanisms of means have)
        return found

    @property
    def chosen(self) -> Coordinates:
        """The coordinates that are summed, of which the evidence speaks, and how all follow."""
        return self.totals.coordinates

    @property
    def weights(self) -> Vector:
        """What one unit of each answer's error matters, or of each column's with pure noise."""
        found = self._terms.weights
        assert found is not None  # noqa: S101 (what all terms of means have)
        return found

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed coordinates to all answers; None where all are summed."""
        return self.totals.embed

    @property
    def divisor(self) -> int:
        """The public number of records, by which sums are divided to be means."""
        return self._terms.size or 1

    @property
    def weighted(self) -> tuple[Vector, None]:
        """Under Gaussian noise the deviations themselves; else times the weights.

        Where sums and the count come with pure noise, those of the worst means.
        """
        terms = self._terms
        if terms.gaussian:
            return self.standard_deviation, None
        own = self.standard_deviation if terms.size is not None else self.worst_means
        return frozen(self.weights * own), None

    def unit(self, *, plain: bool = False) -> str:
        """Return "the answers": columns have units of their own, and the count is of records."""
        return unit_of("the answers", np.ones(1) if plain else self.weights)

    @cached_property
    def worst_means(self) -> Vector:
        """The standard deviations of sums about the worst mean in the columns' bounds, shape (d,).

        To first order n times what the means themselves stray by. The center does not matter, nor
        does where the domain lies.
        """
        about = self.totals.embed_about(middle(self.question.domain))
        deviations, beside = self._terms.mechanism.answer_scales(about)
        far = farthest_mean(self.question.domain)
        ends = far * deviations[-1]
        # in a unit, a power of two, in which no square is beyond floats
        unit = math.ldexp(1.0, math.frexp(max(*deviations[:-1].tolist(), *ends.tolist()))[1])
        own = np.square(deviations[:-1] / unit) + 2 * far * np.abs(beside[:-1] / unit / unit)
        return frozen(np.sqrt(own + np.square(ends / unit)) * unit)

    @cached_property
    def body(self) -> AbstractBody:
        """All changes that one neighbour makes to the summed coordinates, and the count."""
        totals, terms = self.totals, self._terms
        found = sensitivity_set(
            self.question.domain, terms.relation, self.question.center, totals.coordinates
        )
        if isinstance(found, SectionBody) and totals.multipliers is not None:
            return found.with_multipliers(totals.multipliers)
        return found

    @property
    def covers_exactly(self) -> bool | None:
        """Whether fractions alone show that independent noise covers a box; None for all else."""
        mechanism = self._terms.mechanism
        return covers(self.totals.changes, mechanism.noise.shape, mechanism.loss.mu)

    @property
    def evidence_about(self) -> tuple[AbstractBody, Vector, Vector | None]:
        """All changes, weights on the answers, and what answers are made of."""
        return self.body, self.matters, self.embed

    @property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's error is below, on any dataset (see `bounds.unbiased`).

        Where the relation is a body of changes it speaks of tables with a row that each of them, or
        its opposite, keeps inside the domain; where there can be no such row, it is 0.
        """
        return bound_of_records(self._terms, self.question.domain, self.plain_least)

    @cached_property
    def isotropic(self) -> Vector:
        """Standard deviations of i.i.d. Gaussian noise at the same budget, shape (m,)."""
        terms = self._terms
        sensitivity = self.body.answer_length(self.embed) / self.divisor
        return baselines.isotropic_gaussian(sensitivity, self.weights.size, terms.parameter)

    @cached_property
    def laplace(self) -> Vector:
        """Standard deviations of Laplace noise with the budget split evenly, shape (m,)."""
        widths = self.body.answer_widths(self.embed) / self.divisor
        return baselines.split_laplace(self._terms.budget, widths)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every release of means rests on, whatever its noise, one sentence each."""
        terms = self._terms
        found = list(mean_assumptions(self.question, terms.relation, terms.size))
        if terms.gaussian and isinstance(terms.relation, Change):
            found.append(
                "The lower bound holds on tables with a row that every change of the body, or its "
                "opposite, keeps inside the domain.",
            )
        if terms.gaussian and terms.size is not None and not terms.mechanism.loss.mu:
            found.append("The domain is one point, so nothing is revealed and nothing is noised.")
        return tuple(found)

    @property
    def program(self) -> AbstractDomain | None:
        """The domain that a file of the terms only names, None where it holds all of it."""
        return oracle_of(self.question.domain)

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        return {"names": list(self.names), **super().derived}


def bound_of_records(
    terms: Terms, domain: AbstractDomain, least: float, *, several: bool = False
) -> float:
    """Return what no unbiased mechanism's error is below, on any dataset.

    Where the relation is a body of changes, on data with a record that each change of it, or its
    opposite, keeps inside the domain; where there can be no such record, it is 0.

    Args:
        terms: whose budget and relation.
        domain: of a record.
        least: at most the least error of Gaussian noise at μ = 1.
        several: whether a neighbour changes several records; each then needs room for both.
    """
    if isinstance(terms.relation, Change):
        fits = may_have_room(domain, terms.relation, both=several)
        return unbiased_change(least, square_up(terms.parameter) / 2) if fits else 0.0
    return unbiased_bound(least, terms.parameter, terms.size)


def mean_assumptions(question: Mean, relation: Relation, size: int | None) -> tuple[str, ...]:
    """Return what every release of means rests on, whatever its noise, one sentence each."""
    unit = checked_relation(relation).sentence
    said = [
        f"One person is one row; a neighbouring table is one in which one row {unit}.",
        *question.domain.assumptions,
    ]
    if question.drops_missing:
        said.append("A row that lacks a value in any of the columns is left out.")
    else:
        said.append("A missing value counts as the stand-in, by default the center.")
    if size is not None:
        said.append(f"The number of rows, {size:,}, is public.")
    else:
        said.append(
            "The sums and the count are unbiased; a mean made of them is not exactly unbiased.",
        )
    return tuple(said)
