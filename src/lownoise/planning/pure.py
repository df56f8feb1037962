# SPDX-License-Identifier: Apache-2.0
"""A question and a pure budget become a plan: mechanisms are compared, and the best is taken."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import LownoiseError, PlanError, quoted
from lownoise.noise.abstract import NOISES
from lownoise.noise.fitting import grid_steps
from lownoise.noise.means import MeanTotals, coding_for
from lownoise.noise.pure import LaplaceNoise
from lownoise.noise.queries import HistogramTotals, QueryTotals, query_body, query_coordinates
from lownoise.noise.response import MOST_REPORTS, ResponseMechanism, keep_for
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.planning.gaussian import checked_weights, full_shape
from lownoise.planning.pure_noise import Setting, ellipsoid, k_norm, laplace, recursive
from lownoise.planning.release_plan import Plan
from lownoise.planning.request import checked_counting, checked_size
from lownoise.privacy import ApproxDP, PureDP
from lownoise.questions import AbstractQueries, Mean
from lownoise.release.guarantees import allowed
from lownoise.release.pure_bound import fit_weights, middle, question_body
from lownoise.release.stored import names
from lownoise.release.terms import Alternative, Terms
from lownoise.sensitivity.relations import Change, checked_relation, sensitivity_set
from lownoise.solvers import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.mechanism import AbstractTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.request import Request
    from lownoise.sensitivity.relations import Relation
    from lownoise.solvers import Solution

    Mechanism = AdditiveMechanism | ResponseMechanism

_STEP_BITS = 32  # log2 of the noise in grid steps, at the least
_COUNT_BITS = 30  # the same, for counts of records
_ROUGH = 1e-3  # how near to the least ellipsoid; mechanisms differ by far more
_NOTES = {  # the simplest first
    "laplace": "independent Laplace noise on the answers, epsilon split",
    "laplace_histogram": "Laplace noise on the count of every record",
    "randomized_response": "each record is answered for on its own",
    "k_norm": "noise of the shape of what one record can change",
    "ellipsoid": "K-norm noise of the least ellipsoid around all changes",
    "recursive": "K-norm noise level by level",
}


def plan_pure(question: object, request: Request) -> Plan:
    """Return the plan under a pure budget.

    Raises:
        BudgetError: where the question is of a kind that Gaussian noise alone answers.
        PlanError: where a pure mechanism was named for such a question.
    """
    if isinstance(question, Mean):
        return _plan_mean(question, request)
    if isinstance(question, AbstractQueries):
        return _plan_queries(question, request)
    request.budget.gaussian_parameter()
    raise PlanError(
        f"ln.{type(question).__name__} has no pure mechanism; give ln.Queries with its matrix, or "
        "a budget that a Gaussian keeps: ln.zcdp or ln.approx_dp",
    )


def _plan_mean(question: Mean, request: Request) -> Plan:
    relation = checked_relation(request.relation)
    if question.drops_missing and not relation.counted:
        raise PlanError('missing="drop" changes the public size; use "center" or a point')
    if request.count_share is not None:
        raise PlanError("count_share is for Gaussian noise; under a pure budget leave it out")
    size = checked_size(request.size, relation)
    weights = checked_weights(request.weights, question)
    totals = _mean_totals(question, relation, size, _checked(request).epsilon)
    return _best(question, relation, request, weights, totals, {})


def _plan_queries(question: AbstractQueries, request: Request) -> Plan:
    question.check()
    relation, size = checked_counting(request, type(question).__name__, drops=question.drops)
    epsilon = _checked(request).epsilon
    chosen = query_coordinates(question, relation)
    width = query_body(question, relation, chosen).widths()
    near = width / epsilon
    step = frozen(grid_steps(near, near, width, width, size, epsilon, _STEP_BITS))
    totals = QueryTotals(
        question=question, relation=relation, size=size, coordinates=chosen, step=step
    )
    others: dict[str, Callable[[], Mechanism]] = {
        "laplace_histogram": lambda: _histogram(question, relation, size, request),
        "randomized_response": lambda: _response(question, size, request),
    }
    return _best(question, relation, request, question.weights, totals, others)


def _mean_totals(
    question: Mean, relation: Relation, size: int | None, epsilon: float
) -> MeanTotals:
    chosen = question.domain.coordinates()
    if isinstance(relation, Change):
        relation.check(question.domain, chosen)
    # where records come and go, no center that a user gives changes the noise: what is summed is
    # about the domain's own, and sums about another point follow
    about = question.domain.center if size is None else None
    width = sensitivity_set(question.domain, relation, question.domain.center, chosen).widths()
    extent = width
    if isinstance(relation, Change):
        extent = (question.domain.upper - question.domain.lower)[chosen.pivots]
        if np.any((width == 0) & (extent > 0)):
            raise PlanError(
                "relation lets a coordinate of the domain never change, which a pure release does "
                "not cover; give a body that changes all, or ln.zcdp",
            )
    near = width / epsilon
    step = grid_steps(near, near, width, extent, size, epsilon, _STEP_BITS)
    count_step = min(float(step[-1]), 1.0) if size is None else None
    own = frozen(step[: chosen.pivots.size].copy())
    return MeanTotals(
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
    named = isinstance(request.mechanism, str) and request.mechanism in names()
    if request.mechanism is not None and not named:
        raise PlanError(
            f"mechanism={quoted(request.mechanism)} is unknown; give one of {', '.join(names())}",
        )
    if not isinstance(request.budget, (PureDP, ApproxDP)):
        raise PlanError(
            f"mechanism={quoted(request.mechanism)} is pure, and budget={request.budget} is not; "
            "give ln.pure_dp(epsilon), or leave the mechanism out",
        )
    return request.budget


def _best(
    question: Mean | AbstractQueries,
    relation: Relation,
    request: Request,
    weights: Vector,
    totals: AbstractTotals,
    others: dict[str, Callable[[], Mechanism]],
) -> Plan:
    """Return the plan of the mechanism asked for, or of the best."""
    budget, order = _checked(request), checked_order(request.order)
    fit = weights
    if isinstance(question, Mean) and totals.size is None:
        fit, _ = fit_weights(question, weights, order)
    setting = Setting(
        totals=totals,
        weighted=_weighted(totals, fit, question),
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
    named = request.mechanism
    if named is not None and named not in _NOTES:  # one from outside
        builders[named] = lambda: NOISES[named].of.fitted(setting)
    made: dict[str, Terms] = {}
    refused: list[Alternative] = []
    for name, build in builders.items():
        try:
            terms = Terms(
                question=question,
                budget=budget,
                order=order,
                weights=frozen(weights),
                name=name,
                mechanism=build(),
                evidence=None if found is None else found.claim.dual,
            )
            terms.check_budget()
            _check_error(terms)
        except LownoiseError as error:
            refused.append(Alternative(name, None, str(error)))
        else:
            made[name] = terms
    # of equals the simplest: numbers that differ in their last digits are equal
    notes = {**_NOTES, **{name: NOISES[name].of.note for name in made if name not in _NOTES}}
    simplest = list(notes)
    ranked = sorted(made.values(), key=lambda t: (float(f"{t.error:.9e}"), simplest.index(t.name)))
    compared = tuple(Alternative(t.name, t.error, notes[t.name]) for t in ranked) + tuple(refused)
    wanted = request.mechanism or (ranked[0].name if ranked else None)
    if wanted not in made:
        reason = next((r.note for r in refused if r.mechanism == wanted), "it is not for means")
        raise PlanError(f"mechanism={quoted(wanted)} is not available here: {reason}")
    terms = replace(made[wanted], alternatives=compared)
    without = replace(terms, evidence=None)
    return Plan(
        terms if terms.lower_bound > without.lower_bound else without,
        status="as asked" if request.mechanism else "the best of those available",
    )


def _check_error(terms: Terms) -> None:
    """Refuse a mechanism whose error floats do not hold: nothing could be said of it, nor saved."""
    with np.errstate(all="ignore"):
        known = math.isfinite(terms.error)
    if not known:
        raise PlanError("its error is beyond what floats hold; use a larger unit")


def _solved(
    question: Mean | AbstractQueries,
    relation: Relation,
    request: Request,
    weights: Vector,
    setting: Setting,
) -> Solution | None:
    """Return the least ellipsoid around all changes, with its evidence; None where none change."""
    if not setting.kept.size:
        return None
    totals = setting.totals
    assert isinstance(totals, (MeanTotals, QueryTotals))  # noqa: S101 (where answers are summed)
    chosen = totals.coordinates
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
    totals = setting.totals
    step = totals.unit
    if isinstance(totals, MeanTotals):
        step = step * (totals.size or 1)
        multipliers = found.claim.body.multipliers
        if multipliers is not None:
            setting = replace(setting, totals=replace(totals, multipliers=multipliers))
    return ellipsoid(setting, full_shape(found).scaled(1 / step))


def _weighted(totals: AbstractTotals, weights: Vector, question: Mean | AbstractQueries) -> Vector:
    """Return the matrix from integers to weighted errors: of sums, about the middle."""
    embed, unit = totals.embed, totals.unit
    if isinstance(totals, MeanTotals) and isinstance(question, Mean):
        embed = totals.embed_about(middle(question.domain))
    return weights * unit if embed is None else weights[:, None] * embed * unit


def _histogram(
    question: AbstractQueries, relation: Relation, size: int | None, request: Request
) -> AdditiveMechanism:
    epsilon = allowed(_checked(request))
    sensitivity = 1.0 if size is None else 2.0
    step = min(2.0 ** (math.floor(math.log2(sensitivity / epsilon)) - _COUNT_BITS), 1.0)
    totals = HistogramTotals(question=question, relation=relation, size=size, step=step)
    weighted = question.matrix * totals.unit
    setting = Setting(totals=totals, weighted=weighted, epsilon=epsilon, delta=0.0)
    scales = np.full(totals.length, sensitivity / step / epsilon)
    return setting.made(lambda factor: LaplaceNoise(frozen(scales * factor)))


def _response(question: AbstractQueries, size: int | None, request: Request) -> ResponseMechanism:
    if size is None:
        raise PlanError("the number of reports would reveal the number of records")
    if size > MOST_REPORTS:
        raise PlanError(f"{size:,} reports are too many to draw; the cap is {MOST_REPORTS:,}")
    n = question.record_count
    keep = keep_for(allowed(_checked(request)), n) if n > 1 else 0.0
    if not 0 < keep < 1:
        raise PlanError(f"no report of {n:,} records can be kept at this epsilon")
    return ResponseMechanism(question=question, size=size, keep=keep)
