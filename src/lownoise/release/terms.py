# SPDX-License-Identifier: Apache-2.0
"""What is guaranteed before a record is read: the noise, how good it is, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from lownoise.certificate import Certificate, order_norm
from lownoise.certificate.witness import proved, witness
from lownoise.errors import PlanError
from lownoise.kinds import resolved
from lownoise.numbers.rounding import OTHER_MACHINE
from lownoise.privacy.readings import paying
from lownoise.privacy.units import rows_of
from lownoise.questions.encoding import AbstractQuestion
from lownoise.release.comparison import GAUSSIAN, NOTHING_COMPARED, Comparison
from lownoise.release.proofs import GaussianProof, PureProof
from lownoise.release.readable import Readable
from lownoise.sensitivity.relations import relation_name

if TYPE_CHECKING:
    from lownoise.bounds import Bound
    from lownoise.certificate import AbstractDual
    from lownoise.certificate.radial import AdditiveProof
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget, Event, Shared
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.release.guarantees import Cost, PureCost
    from lownoise.release.views import AbstractView
    from lownoise.sensitivity.relations import Relation


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Terms(Readable):
    """The terms of a release, whatever is asked and whatever noise is added.

    Args:
        question: what is asked; its kind, and that of mechanism and evidence, its view knows.
        budget: the most that one release may spend.
        order: p in [2, ∞], the norm of the error.
        mechanism: the final integers and the final noise.
        evidence: that the noise is near the least, for the certificate; None where there is none.
        name: of the mechanism: "gaussian", or a pure one's.
        weights: ω on the answers that the noise was fitted to, shape (m,): the user's, ones by
            default; under `add_remove` with Gaussian noise the count's follows from its share, and
            with pure noise they are on the d columns. None where the question has its own.
        plain_evidence: the evidence for the same set with all weights one, where that is another.
        alternatives: what was compared, the best first.
        shared: the budget that several releases share, and how many do; None where each pays alone.
        additive: a proof of what no additive noise beats; None where there is none.
    """

    question: Any
    budget: Budget
    order: float
    mechanism: Any
    evidence: Any
    name: str = GAUSSIAN
    weights: Vector | None = None
    plain_evidence: AbstractDual | None = None
    alternatives: Comparison = NOTHING_COMPARED
    shared: Shared | None = None
    additive: AdditiveProof | None = None

    @property
    def gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        return self.name == GAUSSIAN

    @property
    def relation(self) -> Relation:
        """What a neighbour is."""
        relation: Relation = self.mechanism.relation
        return relation

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""
        size: int | None = self.mechanism.size
        return size

    @property
    def privacy_unit(self) -> PrivacyUnit | None:
        """Whose rows are hidden together; None where each row is."""
        unit: PrivacyUnit | None = getattr(self.mechanism, "unit", None)
        return unit

    @property
    def exchanged(self) -> bool:
        """Whether units take other rows in neighbouring tables, and do not only come and go."""
        return self.privacy_unit is not None and self.privacy_unit.exchanged

    @property
    def neighbours(self) -> str:
        """What an account calls the relation, and of which units."""
        unit = self.privacy_unit
        return relation_name(self.relation) if unit is None else unit.neighbours

    @property
    def rows(self) -> int:
        """How many rows of a unit count at most; 1 where rows are protected."""
        return rows_of(self.privacy_unit)

    @cached_property
    def view(self) -> AbstractView[Any]:
        """What is particular to the question."""
        return view_of(self)

    @cached_property
    def proof(self) -> GaussianProof | PureProof:
        """What follows from the kind of noise."""
        return GaussianProof(self) if self.gaussian else PureProof(self)

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return self.view.names

    @cached_property
    def parameter(self) -> float:
        """The greatest μ that the budget allows one Gaussian release; the greatest ε if pure."""
        return self.proof.parameter

    @cached_property
    def cost(self) -> Cost | PureCost:
        """What one release reveals, from the final integers and the final noise, rounded up."""
        return self.proof.cost

    @cached_property
    def charged(self) -> Event:
        """What an account is charged: one release, or at the first of several all that share."""
        event = self.cost.event
        return event if self.shared is None else self.shared.joint(event, self.mechanism.loss.ball)

    @property
    def asked(self) -> Budget:
        """The budget that what is charged was asked with."""
        return self.budget if self.shared is None else self.shared.budget

    @property
    def within_budget(self) -> bool:
        """Whether the cost is at most the budget, and that of all releases what they share."""
        return self._within(0.0)

    @property
    def within_budget_as_read(self) -> bool:
        """Whether it is, but for the last bits that the machine which wrote a file may have less.

        A cost is proved through products of matrices, whose last bits differ between processors.
        Such a file says what was proved where it was written, and is read; nothing is released
        from it where more than the budget is proved.
        """
        return self._within(OTHER_MACHINE)

    def _within(self, more: float) -> bool:
        if self.shared is None:
            return self.proof.within(more)
        all_kept = self.shared.keeps(self.cost.event, self.mechanism.loss.ball)
        return all_kept and self.proof.within(more)

    def check_budget(self) -> None:
        """Refuse to release what reveals more than the budget.

        Raises:
            PlanError: as said.
        """
        if not self.within_budget:
            raise PlanError("plan reveals more than its budget; make it anew with ln.plan")

    @property
    def standard_deviation(self) -> Any:  # noqa: ANN401 (numbers, or a function of a marginal)
        """The standard deviation of each answer's noise, in its unit, shape (m,).

        Of marginals a function of the attributes' names; see `release.marginals`.
        """
        return self.view.standard_deviation

    @property
    def covariance(self) -> Any:  # noqa: ANN401 (a matrix, or a function of two cells)
        """The covariance of the answers, shape (m, m), formed on request.

        Of marginals a function of two cells; see `release.marginals`.
        """
        return self.view.covariance

    @cached_property
    def objective(self) -> float:
        """‖ω·(standard deviations)‖_p of all answers, as the view weighs them."""
        deviations, counts = self.view.weighted
        return order_norm(deviations, self.order, counts)

    @cached_property
    def error(self) -> float:
        """(E‖ω·error‖_p²)^{1/2}: exact at p = 2 (and for one answer), else a bound.

        Where means come as sums and a count with pure noise, that of the worst means, times the
        number of records.
        """
        return self.proof.error

    @cached_property
    def compared(self) -> float:
        """‖ω·(standard deviations)‖_p, by which mechanisms are compared, whatever their noise.

        Of means that come as sums and a count it is that of the worst means, times the number of
        records. With the user's weights, and those of a question that has its own.
        """
        return self.proof.compared

    @cached_property
    def mean_error(self) -> float:
        """E‖ω·error‖_p of the same answers, from 20,000 draws of the noise with a public seed.

        Raises:
            PlanError: where answers are too many to be drawn.
        """
        return self.proof.mean_error

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings of accounts that can pay for it: see `AbstractEvent.readings`."""
        return paying(self.charged, self.asked)

    @property
    def unit(self) -> str:
        """Whose unit `error`, `objective` and `lower_bound` are in, in words.

        The certificate has its own: Gaussian noise on a mean is fitted to weighted answers, and its
        error is that of the answers as they are.
        """
        return self.view.unit(plain=self.gaussian)

    @cached_property
    def certificate(self) -> Certificate:
        """Bounds on the least `objective` of any Gaussian noise within the budget.

        Under a pure budget: on the least `error` of any mechanism of this ε, over all tables.
        """
        return self.proof.certificate

    @cached_property
    def witness(self) -> Vector | None:
        """What shows the certificate's lower end in whole numbers, None where nothing does."""
        about = self.view.evidence_about if self.gaussian else None
        if about is None:
            return None
        body, weights, embed = about
        return witness(self.evidence, body, self.order, weights, embed)

    def witnessed(self, given: Vector) -> tuple[float, float]:
        """Return what some witness proves of the least objective at μ = 1, and what evidence does.

        Args:
            given: X, shape (d, d). What is no witness of these terms proves nothing: 0.
        """
        about = self.view.evidence_about if self.gaussian else None
        if about is None:
            return 0.0, 0.0
        body, weights, embed = about
        least = self.evidence.least(body, self.order, weights, embed)
        return proved(given, self.evidence, body, self.order, weights, embed) or 0.0, least

    @cached_property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's `error` is below, on any dataset (see `bounds.unbiased`).

        Of pure noise: the greatest of `bounds`; 0 where nothing is proved.
        """
        return self.proof.lower_bound

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        """Lower bounds on `error`, each with whom it binds and its theorem; `lower_bound` first."""
        return self.proof.bounds

    def deviations(self) -> Any:  # noqa: ANN401 (one row an orbit of marginals)
        """Return for each orbit of marginals one of them, how many there are, the deviation."""
        return self.view.deviations()

    @property
    def isotropic(self) -> Any:  # noqa: ANN401 (one number, or one an answer)
        """The standard deviation of i.i.d. Gaussian noise on all answers at the same budget."""
        return self.view.isotropic

    @property
    def laplace(self) -> Any:  # noqa: ANN401 (one an answer)
        """Standard deviations of Laplace noise with the budget split evenly, shape (m,)."""
        return self.view.laplace

    @property
    def histogram(self) -> Any:  # noqa: ANN401 (one an answer, or a function of a marginal)
        """The deviation of each answer summed from i.i.d. noise on the count of every record."""
        return self.view.histogram

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantees rest on, one sentence each."""
        own = () if self.privacy_unit is None else self.privacy_unit.sentences
        return (*own, *self.view.assumptions, *self.proof.assumptions)


def view_of(terms: Terms) -> AbstractView[Any]:
    """Return what is particular to the question of some terms.

    Raises:
        PlanError: where it is none.
    """
    if not isinstance(terms.question, AbstractQuestion):
        raise PlanError(f"question={type(terms.question).__name__} is of no known kind; plan again")
    found: AbstractView[Any] = resolved(terms.question.parts.view)(terms)
    return found
