# SPDX-License-Identifier: Apache-2.0
"""What is guaranteed before a record is read: the noise, how good it is, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from lownoise.certificate import Certificate, order_norm
from lownoise.certificate.witness import proved, witness
from lownoise.errors import PlanError
from lownoise.kinds import row_of
from lownoise.numbers.readable import readable
from lownoise.questions import AbstractQueries, Marginals, Mean, Parity
from lownoise.release.linear_views import ParityView, QueryView
from lownoise.release.marginals import MarginalView
from lownoise.release.proofs import GaussianProof, PureProof
from lownoise.release.readable import Readable
from lownoise.release.views import AbstractView, MeanView

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget
    from lownoise.release.guarantees import Cost, PureCost
    from lownoise.sensitivity.relations import Relation

GAUSSIAN = "gaussian"


@final
@readable
@dataclass(frozen=True)
class Alternative:
    """A mechanism that was compared.

    Args:
        mechanism: its name.
        error: as `Terms.error` has it; None where the mechanism was not available.
        note: why it was not, or what it is.
    """

    mechanism: str
    error: float | None
    note: str


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Terms(Readable):
    """The terms of a release, whatever is asked and whatever noise is added.

    Args:
        question: what is asked; its kind, and that of mechanism and evidence, its view knows.
        budget: the most that may be spent.
        order: p in [2, ∞], the norm of the error.
        mechanism: the final integers and the final noise.
        evidence: that the noise is near the least, for the certificate; None where there is none.
        name: of the mechanism: "gaussian", or a pure one's.
        weights: ω on the answers that the noise was fitted to, shape (m,): the user's, ones by
            default; under `add_remove` with Gaussian noise the count's follows from its share, and
            with pure noise they are on the d columns. None where the question has its own.
        plain_evidence: the evidence for the same set with all weights one, where that is another.
        alternatives: what was compared, the best first.
    """

    question: Any
    budget: Budget
    order: float
    mechanism: Any
    evidence: Any
    name: str = GAUSSIAN
    weights: Vector | None = None
    plain_evidence: AbstractDual | None = None
    alternatives: tuple[Alternative, ...] = ()

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
        """What the release reveals, from the final integers and the final noise, rounded up."""
        return self.proof.cost

    @property
    def within_budget(self) -> bool:
        """Whether the cost is at most the budget."""
        return self.proof.within_budget

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

        Under a pure budget: what no mechanism of this ε, biased or not, has an error below on every
        table (see `bounds.volume`); 0 where nothing is proved.
        """
        return self.proof.lower_bound

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
        return (*self.view.assumptions, *self.proof.assumptions)


# which view terms have: one row a kind of question
VIEWS: dict[type, type[AbstractView[Any]]] = {
    Mean: MeanView,
    AbstractQueries: QueryView,
    Parity: ParityView,
    Marginals: MarginalView,
}


def view_of(terms: Terms) -> AbstractView[Any]:
    """Return what is particular to the question of some terms.

    Raises:
        PlanError: where no view is known for it.
    """
    view = row_of(VIEWS, terms.question)
    if view is None:
        raise PlanError(f"question={type(terms.question).__name__} is of no known kind; plan again")
    return view(terms)
