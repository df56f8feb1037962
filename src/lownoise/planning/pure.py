# SPDX-License-Identifier: Apache-2.0
"""The pure noises of a question, each with what makes a plan of it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import PlanError
from lownoise.kinds import resolved
from lownoise.noise import AdditiveMechanism
from lownoise.noise.abstract import NOISES
from lownoise.noise.independent import GeometricNoise, LaplaceNoise
from lownoise.noise.means import MeanTotals, coding_for
from lownoise.noise.mechanism import SHOWN
from lownoise.noise.queries import HistogramTotals, QueryTotals
from lownoise.noise.response import MOST_REPORTS, ResponseMechanism, keep_for
from lownoise.noise.totals import AbstractSummedTotals, grid_steps
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import decimal_up
from lownoise.planning.means import apart, checked_weights
from lownoise.planning.pure_levels import recursive
from lownoise.planning.pure_noise import (
    Setting,
    deviations,
    ellipsoid,
    ellipsoid_factor,
    independent,
    k_norm,
    require_changes,
    weighted_errors,
)
from lownoise.planning.pure_steps import (
    ended,
    fine,
    is_worth_lattice,
    is_worth_steps,
    lattice_builders,
    profile,
    radial,
    staircase,
    within_lattice,
)
from lownoise.planning.release_plan import Plan, checked_counting, checked_size
from lownoise.privacy import ApproxDP, PureDP
from lownoise.questions import AbstractQueries, AbstractSummed, Mean
from lownoise.release.additive import short
from lownoise.release.guarantees import allowed
from lownoise.release.pure_bound import fit_weights, question_body
from lownoise.release.terms import Terms
from lownoise.sensitivity.relations import Change, checked_relation, sensitivity_set
from lownoise.solvers import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.abstract import Loss
    from lownoise.noise.independent import AbstractIndependentNoise
    from lownoise.noise.totals import AbstractTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.comparing import Builders
    from lownoise.planning.release_plan import Request
    from lownoise.privacy import Shared
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation
    from lownoise.solvers import Solution

    Mechanism = AdditiveMechanism | ResponseMechanism

T = TypeVar("T")

_STEP_BITS = 32  # log2 of the noise in grid steps, at the least
_COUNT_BITS = 30  # the same, for counts of records
_ROUGH = 1e-3  # how near to the least ellipsoid; mechanisms differ by far more


def pure_means(question: Mean, request: Request) -> Builders:
    """Return what makes a plan of means with each pure noise.

    Raises:
        PlanError: where an argument does not fit, or is one of Gaussian noise.
    """
    relation = checked_relation(request.relation)
    if question.drops_missing and not (relation.counted or question.comes):
        raise PlanError('missing="drop" changes the public size; use "center" or a point')
    if request.count_share is not None:
        raise PlanError("count_share is for Gaussian noise; for pure noise leave it out")
    size = checked_size(request.size, relation)
    weights = checked_weights(request.weights, question)
    totals = _mean_totals(question, relation, size, _grid_epsilon(request))
    others: dict[str, Callable[[Setting], Mechanism]] = {}
    if question.comes or not isinstance(relation, Change):
        own, kept = question.domain, totals.coordinates.pivots
        far = np.maximum(np.abs(own.lower), np.abs(own.upper))
        width = (far if question.comes else own.upper - own.lower)[kept]
        fit = _fit(question, weights, totals, request)
        others.update(lattice_builders(question, request, totals, width, fit))
    return _builders(question, relation, request, weights, totals, others)


def pure_summed(question: AbstractSummed, request: Request) -> Builders:
    """Return what makes a plan of sums of what each row adds with each pure noise.

    Raises:
        PlanError: where an argument does not fit.
    """
    question.check()
    relation, size = checked_counting(request, type(question).__name__, drops=question.drops)
    epsilon = _grid_epsilon(request)
    chosen = question.coordinates(relation)
    width = question.changes(relation, chosen).widths()
    near = width / epsilon
    step = frozen(grid_steps(near, near, width, width, size, epsilon, _STEP_BITS))
    totals: AbstractSummedTotals[Any] = resolved(question.totals)(
        question=question, relation=relation, size=size, coordinates=chosen, step=step
    )
    others: dict[str, Callable[[Setting], Mechanism]] = {}
    weights = question.weights
    if isinstance(question, AbstractQueries):
        others["laplace_histogram"] = partial(_counts, LaplaceNoise)
        others["randomized_response"] = lambda _: _response(question, size, request)
    others.update(lattice_builders(question, request, totals, width, weights))
    most = (1.0 if size is None else 0.5) * request.epsilon
    named = request.mechanism == "geometric_histogram"
    if isinstance(question, AbstractQueries) and (named or is_worth_lattice(most)):
        build = partial(_counts, GeometricNoise)
        others["geometric_histogram"] = partial(ended, build, within_lattice(most))
    return _builders(question, relation, request, weights, totals, others)


def _mean_totals(
    question: Mean, relation: Relation, size: int | None, epsilon: float
) -> MeanTotals:
    chosen = question.coordinates()
    if isinstance(relation, Change) and not question.comes:
        relation.check(question.domain, chosen)
    # where records come and go, no center that a user gives changes the noise: what is summed is
    # about the domain's own, and sums about another point follow
    about = question.domain.center if size is None else None
    width = sensitivity_set(question.domain, relation, question.domain.center, chosen).widths()
    extent = width
    if isinstance(relation, Change) and not question.comes:
        extent = (question.domain.upper - question.domain.lower)[chosen.pivots]
        require_changes(width, extent)
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
        comes=question.comes,
    )


def _bounded(request: Request) -> PureDP | ApproxDP:
    """Return the budget of one release, under which pure noise is planned."""
    assert isinstance(request.budget, (PureDP, ApproxDP))  # noqa: S101 (`planning.verb` asks)
    return request.budget


def _grid_epsilon(request: Request) -> float:
    """Return the ε of Laplace noise beside which the grid is fine, of one row.

    A noise that is named has no need of a grid for staircases, which levels may not have.
    """
    epsilon = _bounded(request).epsilon
    return (fine(epsilon) if request.mechanism in (None, "staircase") else epsilon) / request.rows


def _shared(request: Request) -> Shared | None:
    """Return the (ε, δ) that releases share; None where ε alone says how much noise is needed."""
    shared = request.shared
    return None if shared is None or isinstance(shared.budget, PureDP) else shared


def _own_budget(request: Request, loss: Loss) -> PureDP | ApproxDP:
    """Return the budget of one release: where several share an (ε, δ), what its noise came to."""
    shared = _shared(request)
    if shared is None or not 0 < loss.epsilon < math.inf:
        return _bounded(request)
    if loss.delta:
        return ApproxDP(*(decimal_up(Fraction(own)) for own in (loss.epsilon, loss.delta)))
    return PureDP(decimal_up(Fraction(loss.epsilon)))


def _builders(
    question: Mean | AbstractSummed,
    relation: Relation,
    request: Request,
    weights: Vector,
    totals: AbstractTotals,
    others: dict[str, Callable[[Setting], Mechanism]],
) -> Builders:
    """Return what makes a plan of each mechanism."""
    budget, order = _bounded(request), checked_order(request.order)
    fit = _fit(question, weights, totals, request)
    setting = Setting(
        totals=totals,
        weighted=weighted_errors(totals, fit, question),
        epsilon=allowed(budget),
        delta=budget.delta if isinstance(budget, ApproxDP) else 0.0,
        order=order,
        shared=_shared(request),
        unit=request.unit,
        named=request.mechanism is not None,
    )
    if not setting.kept.size:
        others = dict.fromkeys(others, lambda _: _unmoved())
    solved = cache(lambda: _solved(question, relation, request, fit, setting))
    fitted = cache(lambda: profile(setting, near=request.near))
    asked = (question, weights, order)
    mechanisms: dict[str, Callable[[], Mechanism]] = {
        "k_norm": lambda: k_norm(setting),
        "ellipsoid": lambda: _around(ellipsoid, setting, solved(), asked),
        "recursive": lambda: recursive(
            setting, lambda: _around(ellipsoid_factor, setting, solved(), asked)
        ),
        "laplace": lambda: independent(
            setting, least=lambda: _around(deviations, setting, solved(), asked)
        ),
        **{name: partial(build, setting) for name, build in others.items()},
    }
    named = request.mechanism
    if isinstance(request.asked, ApproxDP) or named == "radial":
        mechanisms["radial"] = lambda: _around(partial(radial, fitted()), setting, solved(), asked)
    if named is not None or is_worth_steps(setting):
        mechanisms["staircase"] = lambda: staircase(
            setting, lambda fit: _around(fit, setting, solved(), asked)
        )
    for name in NOISES.names:  # those of which nothing is said above, whoever declared them
        if name not in mechanisms and (name == named or NOISES[name].of.compared):
            mechanisms[name] = partial(NOISES[name].of.fitted, setting)

    def planned(name: str) -> Plan:
        mechanism, found = _finely(mechanisms[name]()), solved()
        terms = Terms(
            question=question,
            budget=_own_budget(request, mechanism.loss),
            order=order,
            weights=frozen(weights),
            name=name,
            mechanism=mechanism,
            evidence=None if found is None else found.claim.dual,
            additive=short(fitted().proof) if name == "radial" else None,
        )
        return Plan(terms, status="the best of those available")

    return {name: partial(planned, name) for name in mechanisms}


def _fit(
    question: Mean | AbstractSummed, weights: Vector, totals: AbstractTotals, request: Request
) -> Vector:
    """Return what errors matter that noise is fitted to: of means that come with a count, of it."""
    if not isinstance(question, Mean) or totals.size is not None:
        return weights
    return fit_weights(question, weights, checked_order(request.order))[0]


def _finely(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism.

    Raises:
        PlanError: where rounding of records would move answers by more than is told of its noise.
    """
    if isinstance(mechanism, AdditiveMechanism) and mechanism.rounding > SHOWN:
        raise PlanError(
            "rounding of records would show beside so little noise; give less epsilon, fewer "
            "records or a narrower domain, or take another mechanism",
        )
    return mechanism


def _solved(
    question: Mean | AbstractSummed,
    relation: Relation,
    request: Request,
    weights: Vector,
    setting: Setting,
) -> Solution | None:
    """Return the least ellipsoid around all changes, with its evidence; None where none change."""
    if not setting.kept.size:
        return None
    totals = setting.totals
    assert isinstance(totals, (MeanTotals, AbstractSummedTotals))  # noqa: S101 (where answers are summed)
    chosen = totals.coordinates
    body, embed = question_body(question, relation, chosen, exchanged=request.exchanged)
    lifted = embed is None and body.dimension < weights.size
    if lifted or (embed is not None and len(embed) < weights.size):  # sums alone
        weights = weights[:-1]
    return solve(
        body,
        order=checked_order(request.order),
        weights=frozen(weights),
        queries=embed,
        rtol=max(checked_rtol(request.rtol), _ROUGH),
        progress=request.progress,
    )


def _unmoved() -> Mechanism:
    """Refuse noise on records where no neighbour changes any answer.

    Raises:
        PlanError: as said.
    """
    raise PlanError("no neighbour changes any answer")


def _around(
    noise: Callable[[Setting, AbstractShape], T],
    setting: Setting,
    found: Solution | None,
    asked: tuple[Any, Vector, float],
) -> T:
    """Return noise around the least ellipsoid of all changes, or what it is made of.

    Raises:
        PlanError: where none change.
    """
    if found is None:
        raise PlanError("no neighbour changes any answer")
    totals = setting.totals
    step, shape = totals.unit, found.full_shape
    if isinstance(totals, MeanTotals):
        step = step * (totals.size or 1)
        multipliers = found.claim.body.multipliers
        if shape.dimension < totals.length:  # of sums alone
            question, own, order = asked
            shape, multipliers = apart(question, found, own, order, None)
        if multipliers is not None:
            setting = replace(setting, totals=replace(totals, multipliers=multipliers))
    return noise(setting, shape.scaled(1 / step))


def _counts(law: type[AbstractIndependentNoise], setting: Setting) -> AdditiveMechanism:
    """Return noise of a law on the number of each record."""
    totals = setting.totals
    assert isinstance(totals, QueryTotals)  # noqa: S101 (of linear queries)
    sensitivity = 1.0 if totals.size is None else 2.0
    step = 1.0
    if not law.on_lattice:
        fine = math.floor(math.log2(sensitivity / setting.epsilon)) - _COUNT_BITS
        step = min(2.0**fine, 1.0)
    own = HistogramTotals(
        question=totals.question, relation=totals.relation, size=totals.size, step=step
    )
    weighted = totals.question.matrix * own.unit
    setting = replace(setting, totals=own, weighted=weighted, delta=0.0, order=2.0)
    scales = np.full(own.length, sensitivity / step / setting.epsilon)
    return setting.made(lambda factor: law(frozen(scales * factor)))


def _response(question: AbstractQueries, size: int | None, request: Request) -> ResponseMechanism:
    if request.unit is not None:
        raise PlanError("it reports each row by itself, and a unit has several")
    if size is None:
        raise PlanError("the number of reports would reveal the number of records")
    if size > MOST_REPORTS:
        raise PlanError(f"{size:,} reports are too many to draw; the cap is {MOST_REPORTS:,}")
    n = question.record_count
    keep = keep_for(allowed(_bounded(request)), n) if n > 1 else 0.0
    if not 0 < keep < 1:
        raise PlanError(f"no report of {n:,} records can be kept at this epsilon")
    return ResponseMechanism(question=question, size=size, keep=keep)
