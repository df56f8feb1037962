# SPDX-License-Identifier: Apache-2.0
"""Linear queries or parities and a budget become a plan; no data are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.noise import parity_mechanism, query_mechanism
from lownoise.noise.queries import query_body, query_coordinates
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.randomness import SystemRandomness
from lownoise.planning.abstract import AbstractPlan
from lownoise.planning.request import checked_counting
from lownoise.privacy import gaussian_parameter
from lownoise.questions.attributes import check_labels
from lownoise.questions.residuals.parities import parity_costs
from lownoise.release import codec
from lownoise.release.linear import LinearTerms
from lownoise.release.linear.codec import terms_from_dict
from lownoise.release.linear.execution import execute
from lownoise.sensitivity.factors import DenseShape
from lownoise.solvers import solve
from lownoise.solvers.parity import solve_parity

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.request import Request
    from lownoise.privacy import Ledger
    from lownoise.questions import Parity, Queries
    from lownoise.release.linear import LinearRelease


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinearPlan(AbstractPlan):
    """What a release of linear queries will be: its noise, its error, its proof and its cost.

    Made by `plan`; `terms` holds everything, and `status` says how the search for the least noise
    ended.
    """

    terms: LinearTerms
    status: str = "read from a file"

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, shape (m,)."""
        return self.terms.standard_deviation

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request."""
        return self.terms.covariance

    def release(self, table: Any, ledger: Ledger | None = None) -> LinearRelease:  # noqa: ANN401
        """Read the table, add the noise, and return the answers.

        Args:
            table: the path of a CSV or Parquet file, a pandas DataFrame or an Arrow table.
            ledger: the account that pays, `ln.Ledger(path, dataset)`; without one nothing is
                recorded, and the release says so.

        Raises:
            LedgerError: where the account cannot pay; then no record has been read.
            TableError: where the table cannot be opened, lacks a column or has not the public
                number of rows; then nothing is spent.
            EngineError: where reading its rows failed; then the spend stays reserved.
        """
        return execute(self.terms, table, ledger, randomness=SystemRandomness())

    @classmethod
    def from_json(cls, text: str) -> LinearPlan:
        """Return the plan that `to_json` wrote.

        Raises:
            FileError: where the text is no plan of a version that is known.
        """
        return codec.guarded(lambda: cls(terms_from_dict(codec.load("plan", text)["terms"])))


def plan_queries(question: Queries, request: Request) -> LinearPlan:
    """Return the plan for linear queries."""
    check_labels(question.universe.attributes)
    relation, size = checked_counting(request, "Queries", drops=question.drops)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    parameter = gaussian_parameter(request.budget)
    chosen = query_coordinates(question, relation)
    found = solve(
        query_body(question, relation, chosen),
        order=order,
        weights=question.weights,
        queries=chosen.embed,
        rtol=rtol,
        progress=request.progress,
    )
    frame, shape = found.claim.frame, found.claim.shape
    if frame is not None and not frame.exact and isinstance(shape, DenseShape):
        shape = DenseShape(frame.up() @ shape.factor)
    mechanism = query_mechanism(question, relation, size, shape, parameter, chosen)
    dual = found.claim.dual
    terms = LinearTerms(budget=request.budget, order=order, dual=dual, mechanism=mechanism)
    return LinearPlan(terms, status=found.status)


def plan_parity(question: Parity, request: Request) -> LinearPlan:
    """Return the plan for parities."""
    relation, size = checked_counting(request, "Parity", drops=question.drops)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    parameter = gaussian_parameter(request.budget)
    found = solve_parity(
        parity_costs(len(question.attributes), question.degrees, relation),
        np.array(question.counts, dtype=np.float64),
        question.degree_weights,
        order,
        rtol,
        request.progress,
    )
    mechanism = parity_mechanism(question, relation, size, found.variances, parameter)
    terms = LinearTerms(budget=request.budget, order=order, dual=found.dual, mechanism=mechanism)
    return LinearPlan(terms, status=found.status)
