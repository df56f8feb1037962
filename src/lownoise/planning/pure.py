# SPDX-License-Identifier: Apache-2.0
"""A question and a pure budget become a plan: mechanisms are compared, and the best is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import LownoiseError, PlanError, told
from lownoise.noise.codes import coding_for
from lownoise.noise.gaussian import grid_steps
from lownoise.noise.grid import MeanGrid
from lownoise.noise.pure import (
    AdditiveMechanism,
    HistogramTotals,
    LaplaceNoise,
    QueryTotals,
    ResponseMechanism,
    keep_for,
)
from lownoise.noise.pure.response import MOST_REPORTS
from lownoise.noise.queries import QueryGrid, query_body, query_coordinates
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SystemRandomness
from lownoise.planning.abstract import AbstractPlan
from lownoise.planning.mean import checked_weights, whole
from lownoise.planning.pure_noise import Setting, ellipsoid, k_norm, laplace, recursive
from lownoise.planning.request import checked_counting, checked_size
from lownoise.privacy import ApproxDP, PureDP, gaussian_parameter
from lownoise.questions import Mean, Queries
from lownoise.questions.attributes import check_labels
from lownoise.release import codec
from lownoise.release.pure import Alternative, PureTerms
from lownoise.release.pure.bound import count_weight, middle, question_body
from lownoise.release.pure.codec import NAMES, terms_from_dict
from lownoise.release.pure.execution import execute
from lownoise.release.pure.terms import allowed
from lownoise.sensitivity.coordinates import check_change, coordinates, summed_body
from lownoise.sensitivity.relations import Change, checked_relation
from lownoise.solvers import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.pure.mechanism import Grid
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.request import Request
    from lownoise.privacy import Ledger
    from lownoise.release.pure import PureRelease
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Solution

    Mechanism = AdditiveMechanism | ResponseMechanism

_STEP_BITS = 32  # log2 of the noise in grid steps, at the least
_COUNT_BITS = 30  # the same, for counts of records
_LEAST_WEIGHT = 1e-100
_ROUGH = 1e-3  # how near to the least ellipsoid; mechanisms differ by far more
_SIMPLEST = (
    "laplace",
    "laplace_histogram",
    "randomized_response",
    "k_norm",
    "ellipsoid",
    "recursive",
)
_NOTES = {
    "k_norm": "noise of the shape of what one record can change",
    "ellipsoid": "K-norm noise of the least ellipsoid around all changes",
    "recursive": "K-norm noise level by level",
    "laplace": "independent Laplace noise on the answers, epsilon split",
    "laplace_histogram": "Laplace noise on the count of every record",
    "randomized_response": "each record is answered for on its own",
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class PurePlan(AbstractPlan):
    """What a pure release will be: its mechanism, noise, error, lower bound and cost.

    Made by `plan`; `terms` holds everything, and `status` says how the plan came about.
    """

    terms: PureTerms
    status: str = "read from a file"

    @property
    def mechanism(self) -> str:
        """The name of the mechanism: the best that is available, unless one was asked for."""
        return self.terms.name

    @property
    def comparison(self) -> tuple[Alternative, ...]:
        """Every mechanism that was compared, the best first, then those not available and why."""
        return self.terms.alternatives

    @property
    def guarantee(self) -> str:
        """What the user gets, in words."""
        return self.terms.cost.guarantee

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return self.terms.names

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, in its unit, shape (m,)."""
        return self.terms.standard_deviation

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request."""
        return self.terms.covariance

    def release(self, table: Any, ledger: Ledger | None = None) -> PureRelease:  # noqa: ANN401
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
    def from_json(cls, text: str, domain: AbstractDomain | None = None) -> PurePlan:
        """Return the plan that `to_json` wrote.

        Args:
            text: the document.
            domain: the set, where it is or holds an `ln.Oracle`: a program, which no file holds.

        Raises:
            FileError: where the text is no plan of a version that is known.
        """
        return codec.guarded(
            lambda: cls(terms_from_dict(codec.load("plan", text)["terms"], domain)),
        )


def is_pure(request: Request) -> bool:
    """Return whether a request is for a pure mechanism."""
    return isinstance(request.budget, PureDP) or request.mechanism is not None


@singledispatch
def plan_pure(question: object, request: Request) -> PurePlan:
    """Return the plan under a pure budget.

    Raises:
        BudgetError: where the question is of a kind that Gaussian noise alone answers.
        PlanError: where a pure mechanism was named for such a question.
    """
    gaussian_parameter(request.budget)
    raise PlanError(
        f"ln.{type(question).__name__} has no pure mechanism; give ln.Queries with its matrix, or "
        "a budget that a Gaussian keeps: ln.zcdp or ln.approx_dp",
    )


@plan_pure.register(Mean)
def _(question: Mean, request: Request) -> PurePlan:
    relation = checked_relation(request.relation)
    if question.drops_missing and relation != "add_remove":
        raise PlanError('missing="drop" changes the public size; use "center" or a point')
    if request.count_share is not None:
        raise PlanError("count_share is for Gaussian noise; under a pure budget leave it out")
    size = checked_size(request.size, relation)
    weights = checked_weights(request.weights, question)
    grid = _mean_grid(question, relation, size, _checked(request).epsilon)
    return _best(question, relation, request, weights, grid, {})


@plan_pure.register(Queries)
def _(question: Queries, request: Request) -> PurePlan:
    check_labels(question.universe.attributes)
    relation, size = checked_counting(request, "Queries", drops=question.drops)
    epsilon = _checked(request).epsilon
    chosen = query_coordinates(question, relation)
    reach = query_body(question, relation, chosen).widths()
    step = frozen(
        grid_steps(reach / epsilon, reach / epsilon, reach, reach, size, epsilon, _STEP_BITS)
    )
    grid = QueryTotals(
        grid=QueryGrid(question=question, relation=relation, coordinates=chosen, step=step),
        size=size,
    )
    others: dict[str, Callable[[], Mechanism]] = {
        "laplace_histogram": lambda: _histogram(question, relation, size, request),
        "randomized_response": lambda: _response(question, size, request),
    }
    return _best(question, relation, request, question.weights, grid, others)


def _mean_grid(question: Mean, relation: Relation, size: int | None, epsilon: float) -> MeanGrid:
    chosen = coordinates(question.domain)
    if isinstance(relation, Change):
        check_change(relation, question.domain, chosen)
    # where records come and go, no center that a user gives changes the noise: what is summed is
    # about the domain's own, and sums about another point follow
    about = question.domain.center if size is None else None
    reach = summed_body(question.domain, relation, question.domain.center, chosen).widths()
    extent = reach
    if isinstance(relation, Change):
        extent = (question.domain.upper - question.domain.lower)[chosen.pivots]
        if np.any((reach == 0) & (extent > 0)):
            raise PlanError(
                "relation lets a coordinate of the domain never change, which a pure release does "
                "not cover; give a body that changes all, or ln.zcdp",
            )
    near = reach / epsilon
    step = grid_steps(near, near, reach, extent, size, epsilon, _STEP_BITS)
    count_step = min(float(step[-1]), 1.0) if size is None else None
    own = frozen(step[: chosen.pivots.size].copy())
    return MeanGrid(
        query=TotalsQuery(coding_for(question, chosen, own, about), question.drops_missing),
        relation=relation,
        size=size,
        count_step=count_step,
        coordinates=chosen,
        center=None if about is None or np.array_equal(about, question.center) else question.center,
    )


def _checked(request: Request) -> PureDP | ApproxDP:
    """Return the budget of a request for a pure mechanism.

    Raises:
        PlanError: where it is of another kind, or the mechanism is unknown.
    """
    named = isinstance(request.mechanism, str) and request.mechanism in NAMES
    if request.mechanism is not None and not named:
        raise PlanError(
            f"mechanism={told(request.mechanism)} is unknown; give one of {', '.join(NAMES)}",
        )
    if not isinstance(request.budget, (PureDP, ApproxDP)):
        raise PlanError(
            f"mechanism={told(request.mechanism)} is pure, and budget={request.budget} is not; "
            "give ln.pure_dp(epsilon), or leave the mechanism out",
        )
    return request.budget


def _best(
    question: Mean | Queries,
    relation: Relation,
    request: Request,
    weights: Vector,
    grid: Grid,
    others: dict[str, Callable[[], Mechanism]],
) -> PurePlan:
    """Return the plan of the mechanism asked for, or of the best."""
    budget, order = _checked(request), checked_order(request.order)
    fit = weights
    if isinstance(question, Mean) and grid.size is None:
        count = count_weight(question, weights, order)
        fit = np.append(weights, count if _LEAST_WEIGHT < count < 1 / _LEAST_WEIGHT else 1.0)
    setting = Setting(
        grid=grid,
        weighted=_weighted(grid, fit, question),
        epsilon=allowed(budget),
        delta=budget.delta if isinstance(budget, ApproxDP) else 0.0,
    )
    if not setting.kept.size:
        others = {}
    found = _solved(question, relation, request, fit, setting)
    builders: dict[str, Callable[[], Mechanism]] = {
        "k_norm": lambda: k_norm(setting),
        "ellipsoid": lambda: _ellipsoid(setting, found),
        "recursive": lambda: recursive(setting),
        "laplace": lambda: laplace(setting),
        **others,
    }
    made: dict[str, PureTerms] = {}
    refused: list[Alternative] = []
    for name, build in builders.items():
        try:
            terms = PureTerms(
                question=question,
                budget=budget,
                relation=relation,
                order=order,
                weights=frozen(weights),
                name=name,
                mechanism=build(),
                alternatives=(),
                dual=None if found is None else found.claim.dual,
            )
            terms.check_budget()
        except LownoiseError as error:
            refused.append(Alternative(name, None, str(error)))
        else:
            made[name] = terms
    # of equals the simplest: numbers that differ in their last digits are equal
    ranked = sorted(made.values(), key=lambda t: (float(f"{t.error:.9e}"), _SIMPLEST.index(t.name)))
    compared = tuple(Alternative(t.name, t.error, _NOTES[t.name]) for t in ranked) + tuple(refused)
    wanted = request.mechanism or (ranked[0].name if ranked else None)
    if wanted not in made:
        reason = next((r.note for r in refused if r.mechanism == wanted), "it is not for means")
        raise PlanError(f"mechanism={told(wanted)} is not available here: {reason}")
    terms = replace(made[wanted], alternatives=compared)
    without = replace(terms, dual=None)
    return PurePlan(
        terms if terms.lower_bound > without.lower_bound else without,
        status="as asked" if request.mechanism else "the best of those available",
    )


def _solved(
    question: Mean | Queries,
    relation: Relation,
    request: Request,
    weights: Vector,
    setting: Setting,
) -> Solution | None:
    """Return the least ellipsoid around all changes, with its evidence; None where none change."""
    if not setting.kept.size:
        return None
    grid = setting.grid
    inner = grid.grid if isinstance(grid, QueryTotals) else grid
    assert isinstance(inner, (MeanGrid, QueryGrid))  # noqa: S101 (where answers are summed)
    chosen = inner.coordinates
    body, embed = question_body(question, relation, chosen)
    return solve(
        body,
        order=checked_order(request.order),
        weights=frozen(weights),
        queries=embed,
        rtol=max(checked_rtol(request.rtol), _ROUGH),
        progress=request.progress,
    )


def _ellipsoid(setting: Setting, found: Solution | None) -> AdditiveMechanism:
    if found is None:
        raise PlanError("no neighbour changes any answer")
    grid = setting.grid
    step = grid.unit * (1 if grid.size is None or isinstance(grid, QueryTotals) else grid.size)
    hint = found.claim.body.multipliers
    if hint is not None and isinstance(grid, MeanGrid):
        setting = replace(setting, grid=replace(grid, hint=hint))
    return ellipsoid(setting, whole(found).scaled(1 / step))


def _weighted(grid: Grid, weights: Vector, question: Mean | Queries) -> Vector:
    """Return the matrix from integers to weighted errors: of sums, about the middle."""
    embed = grid.embed
    if isinstance(grid, MeanGrid) and isinstance(question, Mean):
        embed = grid.embed_about(middle(question.domain))
    return weights * grid.unit if embed is None else weights[:, None] * embed * grid.unit


def _histogram(
    question: Queries, relation: str, size: int | None, request: Request
) -> AdditiveMechanism:
    epsilon = allowed(_checked(request))
    moved = 1.0 if size is None else 2.0
    step = min(2.0 ** (math.floor(math.log2(moved / epsilon)) - _COUNT_BITS), 1.0)
    grid = HistogramTotals(question=question, relation=relation, size=size, step=step)
    setting = Setting(grid=grid, weighted=question.matrix * grid.unit, epsilon=epsilon, delta=0.0)
    scales = np.full(grid.length, moved / step / epsilon)
    return setting.made(lambda factor: LaplaceNoise(frozen(scales * factor)))


def _response(question: Queries, size: int | None, request: Request) -> ResponseMechanism:
    if size is None:
        raise PlanError("the number of reports would reveal the number of records")
    if size > MOST_REPORTS:
        raise PlanError(f"{size:,} reports are too many to draw; the cap is {MOST_REPORTS:,}")
    n = question.universe.size
    keep = keep_for(allowed(_checked(request)), n) if n > 1 else 0.0
    if not 0 < keep < 1:
        raise PlanError(f"no report of {n:,} records can be kept at this epsilon")
    return ResponseMechanism(question=question, size=size, keep=keep)
