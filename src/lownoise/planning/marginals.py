# SPDX-License-Identifier: Apache-2.0
"""Marginals and a budget become a plan; no data are read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.noise import ordered_mechanism, product_mechanism, residual_mechanism
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.randomness import SystemRandomness
from lownoise.planning.abstract import AbstractPlan
from lownoise.planning.request import checked_counting
from lownoise.privacy import gaussian_parameter
from lownoise.questions.attributes import check_labels
from lownoise.questions.residuals import marginal_orbits, ordered_blocks, product_blocks
from lownoise.questions.residuals.ordered import MOST_CATEGORIES
from lownoise.release import codec
from lownoise.release.tables import TableTerms
from lownoise.release.tables.codec import terms_from_dict
from lownoise.release.tables.execution import execute
from lownoise.solvers.ordered import solve_ordered
from lownoise.solvers.product import solve_product
from lownoise.solvers.residual import solve_residual

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.numbers.arrays import Vector
    from lownoise.planning.request import Request
    from lownoise.privacy import Budget, Ledger
    from lownoise.questions import Marginals
    from lownoise.release.tables import TableRelease
    from lownoise.release.tables.terms import Cell, TableMechanism
    from lownoise.solvers.ordered import OrderedSolution
    from lownoise.solvers.product import ProductSolution
    from lownoise.solvers.residual import ResidualSolution

# joint categories of ordered attributes: of more, all pairs are not searched in a minute, and noise
# that is a product is far less than what is found by then
_MOST_PAIRED = 150


@final
@dataclass(frozen=True, eq=False, repr=False)
class TablePlan(AbstractPlan):
    """What a release of marginals will be: its noise, its error, its proof and its cost.

    Made by `plan`; `terms` holds everything, and `status` says how the search for the least noise
    ended.
    """

    terms: TableTerms
    status: str = "read from a file"

    def standard_deviation(self, *names: str, answers: bool = False) -> float | Vector:
        """Return the standard deviation of the noise of each cell of a marginal, in rows.

        Args:
            names: of attributes.
            answers: of each count along its ordered attributes, not of each cell.

        Returns:
            One number where no attribute is ordered, else an array like the marginal.

        Raises:
            QuestionError: where a name is unknown or the marginal does not follow from those asked.
        """
        return self.terms.standard_deviation(*names, answers=answers)

    def covariance(self, first: Cell, second: Cell) -> float:
        """Return the covariance of the noise of two cells, in rows².

        Args:
            first: names of a marginal's attributes, and the number of a cell of each.
            second: another.

        Raises:
            QuestionError: where one of them does not exist or does not follow from those asked.
        """
        return self.terms.covariance(first, second)

    def release(
        self,
        table: Any,  # noqa: ANN401
        ledger: Ledger | None = None,
        *,
        path: str | PathLike[str] | None = None,
    ) -> TableRelease:
        """Read the table, add the noise, and return the marginals.

        Args:
            table: the path of a CSV or Parquet file, a pandas DataFrame or an Arrow table.
            ledger: the account that pays, `ln.Ledger(path, dataset)`; without one nothing is
                recorded, and the release says so.
            path: a new folder to write the release to as it is made, so that it need not fit the
                memory; `ln.TableRelease.load(path)` reads it.

        Raises:
            FileError: where the folder cannot be made; then nothing is spent.
            LedgerError: where the account cannot pay; then no record has been read.
            TableError: where the table cannot be opened, lacks a column or has not the public
                number of rows; then nothing is spent.
            EngineError: where reading its rows failed; then the spend stays reserved.
        """
        return execute(self.terms, table, ledger, randomness=SystemRandomness(), path=path)

    @classmethod
    def from_json(cls, text: str) -> TablePlan:
        """Return the plan that `to_json` wrote.

        Raises:
            FileError: where the text is no plan of a version that is known.
        """
        return codec.guarded(lambda: cls(terms_from_dict(codec.load("plan", text)["terms"])))


def plan_marginals(question: Marginals, request: Request) -> TablePlan:
    """Return the plan for marginals."""
    check_labels(question.attributes)
    relation, size = checked_counting(request, "Marginals", drops=question.drops)
    order, parameter = checked_order(request.order), gaussian_parameter(request.budget)
    rtol, progress = checked_rtol(request.rtol), request.progress
    categories = math.prod(a.size for a in question.attributes if a.ordered)
    most = MOST_CATEGORIES if size is None else min(_MOST_PAIRED, MOST_CATEGORIES)
    if categories > most:
        products = product_blocks(question, public=size is not None)
        across = solve_product(products, order, progress)
        shape = product_mechanism(products, size, across.noise, across.variances, parameter)
        return _plan(question, request.budget, order, across, shape)
    if question.ordered:
        blocks = ordered_blocks(question, public=size is not None)
        along = solve_ordered(blocks, order, rtol, progress)
        noise = ordered_mechanism(blocks, size, along.factors, parameter)
        return _plan(question, request.budget, order, along, noise)
    orbits = marginal_orbits(question)
    found = solve_residual(orbits, order, relation, rtol, progress)
    mechanism = residual_mechanism(orbits, relation, size, found.variances, parameter)
    return _plan(question, request.budget, order, found, mechanism)


def _plan(
    question: Marginals,
    budget: Budget,
    order: float,
    found: ResidualSolution | OrderedSolution | ProductSolution,
    mechanism: TableMechanism,
) -> TablePlan:
    terms = TableTerms(
        question=question, budget=budget, order=order, dual=found.dual, mechanism=mechanism
    )
    return TablePlan(terms, status=found.status)
