# SPDX-License-Identifier: Apache-2.0
"""Linear queries or parities and a budget become a plan; no data are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise import codec
from lownoise.arguments import checked_order, checked_rtol
from lownoise.entropy import SystemEntropy
from lownoise.errors import PlanError
from lownoise.linear import LinearTerms
from lownoise.linear.codec import derived, terms_from_dict, terms_to_dict
from lownoise.linear.execution import execute
from lownoise.mechanisms import parity_mechanism, query_mechanism
from lownoise.mechanisms.queries import query_body, query_coordinates
from lownoise.neighbours import RELATIONS
from lownoise.planning.request import checked_size
from lownoise.privacy import gaussian_parameter
from lownoise.residuals.parities import parity_costs
from lownoise.shapes import DenseShape
from lownoise.solvers import solve
from lownoise.solvers.parity import solve_parity
from lownoise.verification import Verification, verify

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.arrays import Vector
    from lownoise.certificate import Certificate
    from lownoise.linear import LinearRelease
    from lownoise.neighbours import Word
    from lownoise.planning.request import Request
    from lownoise.privacy import Ledger
    from lownoise.terms import Cost
    from lownoise.workloads import Parity, Queries


@final
@dataclass(frozen=True, eq=False)
class LinearPlan:
    """What a release of linear queries will be: its noise, its error, its proof and its cost.

    Made by `plan`; `terms` holds everything, and `status` says how the search for the least noise
    ended.
    """

    terms: LinearTerms
    status: str = "read from a file"

    @property
    def error(self) -> float:
        """(E‖√weight·error‖_p²)^{1/2} of the answers: exact at p = 2, a stated bound otherwise."""
        return self.terms.error

    @property
    def objective(self) -> float:
        """‖√weight·(standard deviations)‖_p."""
        return self.terms.objective

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, shape (m,)."""
        return self.terms.standard_deviation

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request."""
        return self.terms.covariance

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least `objective` of any Gaussian noise within the budget."""
        return self.terms.certificate

    @property
    def lower_bound(self) -> float:
        """What no unbiased mechanism with this plan's ρ has an error below, on any dataset."""
        return self.terms.lower_bound

    @property
    def cost(self) -> Cost:
        """What the release reveals, from the final noise, rounded up."""
        return self.terms.cost

    def release(self, table: Any, ledger: Ledger | None = None) -> LinearRelease:  # noqa: ANN401
        """Read the table, add the noise, and return the answers.

        Args:
            table: the path of a CSV or Parquet file, a pandas DataFrame or an Arrow table.
            ledger: the account that pays, `ln.Ledger(path, dataset)`; without one nothing is
                recorded, and the release says so.

        Raises:
            LedgerError: where the account cannot pay; then no record has been read.
            TableError: where the table cannot be opened or does not fit; then nothing is spent.
            EngineError: where reading its rows failed; then the spend stays reserved.
        """
        return execute(self.terms, table, ledger, entropy=SystemEntropy())

    def verify(self) -> Verification:
        """Recompute everything from the plan's own file, without the optimiser; see `verify`."""
        return verify(self.to_json())

    def to_json(self) -> str:
        """Return the plan as JSON, versioned; `from_json` reads it back exactly."""
        content = {"terms": terms_to_dict(self.terms), "derived": derived(self.terms)}
        return codec.dump("plan", content)

    @classmethod
    def from_json(cls, text: str) -> LinearPlan:
        """Return the plan that `to_json` wrote.

        Raises:
            FileError: where the text is no plan of a version that is known.
        """
        return codec.guarded(lambda: cls(terms_from_dict(codec.load("plan", text)["terms"])))

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, all of it or nothing.

        Raises:
            FileError: where it cannot be written.
        """
        codec.write(Path(path), self.to_json())


def plan_queries(question: Queries, request: Request) -> LinearPlan:
    """Return the plan for linear queries."""
    relation, size, order, rtol = _checked(question, request)
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
    relation, size, order, rtol = _checked(question, request)
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


def _checked(question: Queries | Parity, request: Request) -> tuple[Word, int | None, float, float]:
    """Return relation, size, order and rtol.

    Raises:
        PlanError: where one of them does not fit.
    """
    kind = type(question).__name__
    given = request.relation
    relation = next((w for w in RELATIONS if isinstance(given, str) and given == w), None)
    if relation is None:
        said = repr(given) if isinstance(given, str) else type(given).__name__
        raise PlanError(f"relation={said} is unknown for {kind}; give {' or '.join(RELATIONS)}")
    if request.weights is not None or request.count_share is not None:
        raise PlanError(f"weights and count_share are for means; ln.{kind} counts records")
    size = checked_size(request.size, relation)
    if size is not None and question.drops:
        raise PlanError(
            f'outside="drop" of ln.{kind} would change the public size; name what stands in for '
            "other values",
        )
    return relation, size, checked_order(request.order), checked_rtol(request.rtol)
