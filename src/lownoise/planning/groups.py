# SPDX-License-Identifier: Apache-2.0
"""Means by groups become a plan: the noise of a mean times that of marginals, or in each group."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate import order_norm
from lownoise.certificate.groups import GroupDual
from lownoise.errors import PlanError
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.group_noise import gaussian_groups
from lownoise.noise.joint_groups import both_up, joint_mechanism, joint_table
from lownoise.noise.measured import MeasuredTables
from lownoise.noise.mechanism import LEFT, SHOWN, covering, spared
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.planning.means import least_between, plan_mean
from lownoise.planning.pure import pure_means
from lownoise.planning.pure_tables import best_split
from lownoise.planning.release_plan import Plan, checked_size
from lownoise.planning.sums import of_totals, plan_totals
from lownoise.privacy import ApproxDP, PureDP, approx_dp, pure_dp
from lownoise.questions.attributes import check_labels
from lownoise.release.group_scales import sums_scales
from lownoise.release.guarantees import allowed
from lownoise.release.terms import Terms
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.relations import (
    ADD_REMOVE,
    SUBSTITUTE,
    checked_word,
    sensitivity_set,
)
from lownoise.sensitivity.residuals import TableChanges, marginal_orbits
from lownoise.sensitivity.residuals.ordered import split_marginals
from lownoise.sensitivity.residuals.signed import cell_tables
from lownoise.solvers import SOLVED, solve
from lownoise.solvers.independent import solve_residual

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.comparing import Builders
    from lownoise.planning.release_plan import Request
    from lownoise.privacy import Budget
    from lownoise.questions.mean import AbstractGrouped
    from lownoise.sensitivity.residuals import Orbits
    from lownoise.solvers import Solution
    from lownoise.solvers.solution import Fitted

_PROVED = 0.01  # a gap that is small enough without evidence on differences
_EVEN = 0.5  # of what a record may reveal, for its count: where it changes its group that is free
_FARTHEST = 4.0  # what noise on the sums of all rows is multiplied by, or divided, at most
_MEASURED = 64  # integers of a group whose noise is searched for
_PARTS = (-4.0, 2.0)  # logarithms of c, about
_FINELY = {"xatol": 0.01, "maxiter": 20}
_SAME = 1e-6  # of 2: no choice by last bits
_WORTH = 0.01  # of the error: less is not worth noise on several tables
_LEAST, _ROUGH = 0.01, 1e-3  # of a share


def plan_groups(question: AbstractGrouped, request: Request) -> Plan:
    """Return the plan for means by groups.

    Raises:
        PlanError: where an argument does not fit.
    """
    size = _checked(question, request)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    if not question.counted:
        return plan_totals(question, request, size, order, rtol)
    share = _EVEN if size is not None or request.exchanged else None
    values = plan_mean(question.mean, _of_groups(request, size, share))
    orbits = split_marginals(question.groups, public=False).plain
    tables = solve_residual(orbits, order, ADD_REMOVE, rtol, request.progress)
    own, parameter = values.terms, request.gaussian_parameter
    if size is None:
        mechanism = gaussian_groups(question, own.mechanism, tables.noise, parameter)
    else:
        most = own.evidence.most_rows
        if len(question.columns) > most:
            raise PlanError(
                f"moments are {len(question.columns):,}, and of more than {most:,} nothing is "
                'proved by groups with a public number of rows; use relation="add_remove", or ask '
                "of fewer columns"
            )
        parameter *= 1 - LEFT
        mechanism = _substituted(question, request, size, orbits, tables, own, parameter)
    assert own.plain_evidence is not None  # noqa: S101 (what all plans of means have)
    terms = Terms(
        question=question,
        budget=request.budget,
        order=order,
        weights=own.weights,
        evidence=GroupDual(values=own.evidence, plain=own.plain_evidence, tables=tables.dual),
        mechanism=mechanism,
    )
    if size is not None and terms.certificate.gap > _PROVED:
        terms, apart = _with_differences(terms, rtol)
        few = own.mechanism.length <= _MEASURED and request.count_share is None
        if few and terms.certificate.gap > _PROVED:
            terms = _reshaped(terms, apart, own, orbits, tables.noise, parameter)
    status = tables.status if values.status == SOLVED else values.status
    return Plan(terms, status=status)


def _with_differences(terms: Terms, rtol: float) -> tuple[Terms, Solution]:
    """Return the terms with evidence on differences of two records, where that proves more.

    And what the solver found of differences.
    """
    question: Any = terms.question
    mean, dual = question.mean, terms.evidence
    assert terms.weights is not None  # noqa: S101 (what all terms of groups have)
    chosen = mean.coordinates()
    found = solve(
        sensitivity_set(mean.domain, SUBSTITUTE, mean.center, chosen),
        order=terms.order,
        weights=frozen(terms.weights[:-1].copy()),
        queries=chosen.embed,
        rtol=rtol,
    )
    more = replace(terms, evidence=replace(dual, apart=found.claim.dual))
    return min(terms, more, key=lambda own: own.certificate.gap), found


def _reshaped(
    terms: Terms,
    differences: Solution,
    own: Terms,
    orbits: Orbits,
    variances: Vector,
    parameter: float,
) -> Terms:
    """Return the terms with noise c·M₀ ⊕ 0 + yyᵀ in groups, where that errs less.

    M₀ is the least for differences of two records, which all that keep their groups change by, and
    y the middle of the domain and its count: what takes it to another group changes by that and
    half a difference. The mean's noise, the least where records come and go, is wide along y at the
    expense of differences.

    Args:
        terms: of groups.
        differences: M₀.
        own: the terms of a mean.
        orbits: the residual spaces.
        variances: σ² of each, the least for counts.
        parameter: μ.
    """
    question: Any = terms.question
    mean, totals = question.mean, own.mechanism.totals
    unit, pivots = totals.unit, mean.coordinates().pivots
    middle = np.append((mean.domain.center - mean.center)[pivots], 1.0) / unit
    apart = np.zeros((unit.size, unit.size))
    apart[:-1, :-1] = differences.full_shape.dense() / np.outer(unit[:-1], unit[:-1])

    def made(part: float) -> Terms:
        factor = np.linalg.cholesky(math.exp(part) * apart + np.outer(middle, middle))
        values = replace(own.mechanism, noise=GaussianNoise(DenseShape(factor)))
        one = replace(own, mechanism=values)
        best = _all_rows(orbits, own.order, variances, one, _apart(one))
        found = gaussian_groups(question, values, best, parameter, terms.size)
        return replace(terms, mechanism=found)

    def error(part: float) -> float:
        try:
            return made(part).view.upper
        except (PlanError, np.linalg.LinAlgError):
            return math.inf

    from scipy.optimize import minimize_scalar

    found = minimize_scalar(error, bounds=_PARTS, method="bounded", options=_FINELY)
    if not found.fun < terms.view.upper:
        return terms
    best = made(float(found.x))
    return best if best.mechanism.rounding <= SHOWN else terms


def _of_groups(request: Request, size: int | None, share: float | None) -> Request:
    """Return the request of a mean whose count is private, which every group has."""
    if share is None and size is None:
        return request
    own = share if request.count_share is None else request.count_share
    return replace(request, relation=ADD_REMOVE, size=None, count_share=own)


def _substituted(
    question: AbstractGrouped,
    request: Request,
    size: int,
    orbits: Orbits,
    tables: Fitted[Vector, Any],
    own: Terms,
    parameter: float,
) -> AdditiveMechanism:
    """Return the noise of groups where one record becomes another.

    That on counts is as large as costs sums nothing. Where records that differ in their groups
    reveal more than those that differ in values, less of what they reveal is spent on counts.
    """
    far = _apart(own)
    best = _all_rows(orbits, own.order, tables.noise, own, far)
    made = [gaussian_groups(question, own.mechanism, best, parameter, size)]
    if request.count_share is not None:
        return made[0]
    alone = TableChanges(orbits, ADD_REMOVE).cost_up(tables.noise)
    paid = TableChanges(orbits, SUBSTITUTE).cost_up(tables.noise) / alone
    even = 1 - max(paid, 2.0) / (2 * far)  # about where two records of a group reveal as much
    for share in {1 - paid / 4, even, (even + _EVEN) / 2}:
        if not _LEAST <= share < _EVEN * (1 - _ROUGH):
            continue
        less = plan_mean(question.mean, _of_groups(request, size, share)).terms
        weighed = replace(less, weights=own.weights)
        best = _all_rows(orbits, own.order, tables.noise, weighed, _apart(less))
        made.append(gaussian_groups(question, less.mechanism, best, parameter, size))

    def error(mechanism: AdditiveMechanism) -> float:
        evidence = GroupDual(values=own.evidence, plain=None, tables=tables.dual)
        return replace(own, question=question, mechanism=mechanism, evidence=evidence).view.upper

    return min(made, key=error)


def _apart(own: Terms) -> float:
    """Return how far two records are from each other, over how far one is, squared: 4 at most."""
    mechanism: Any = own.mechanism
    shape, totals = mechanism.noise.shape, mechanism.totals
    far, one = totals.becoming.radius_up(shape), totals.changes.radius_up(shape)
    return float(min((far / one) ** 2, 4.0))


def _all_rows(orbits: Orbits, order: float, variances: Vector, own: Terms, far: float) -> Vector:
    """Return variances with as much noise on all rows as is best where their number is public.

    Only their sums have noise then. The noise of a mean is given; how much of it all rows get is
    one number, of which the error times what a record reveals has one least.

    Args:
        orbits: the residual spaces, of which that of all rows is the first.
        order: p.
        variances: σ² of each, the least for counts, shape (k,).
        own: the terms of a mean, with its noise.
        far: what two records reveal there that differ in values, over what one does.
    """
    weights = own.weights
    assert weights is not None  # noqa: S101 (what all terms of means have)
    full, sums = (
        own.standard_deviation * weights,
        sums_scales(own.mechanism, own.mechanism.totals.embed) * weights,
    )
    copies, apart = np.repeat(orbits.cells, full.size), variances.copy()
    apart[0] = 0.0
    beside, alone = orbits.cell_variances(apart), orbits.cell_variances(variances - apart)

    changes = TableChanges(orbits, SUBSTITUTE)
    saved = 2 - far if far < 2 - _SAME else 0.0  # beside records that are opposite

    def cost(times: float) -> float:
        squares = np.outer(beside, full**2) + np.outer(times * alone, sums**2)
        errors = np.sqrt(orbits.weights[:, None] * squares).reshape(-1)
        tried = apart + times * (variances - apart)
        within, both = float(np.sum(orbits.trace / tried)), changes.cost_up(tried)
        between = max(2 * within, both) - max(within - both / 2, 0.0) * saved
        paid = max(within * far, between)
        return order_norm(errors, order, copies) * math.sqrt(paid)

    best = least_between(cost, 1 / _FARTHEST, _FARTHEST)
    return np.asarray(apart + best * (variances - apart))


def _halved(budget: Budget) -> Budget:
    """Return the budget of each of two steps: one record goes, and another comes."""
    if isinstance(budget, PureDP):
        return pure_dp(budget.epsilon / 2)
    assert isinstance(budget, ApproxDP)  # noqa: S101 (`planning.verb` asks)
    epsilon = allowed(budget) / 2
    return approx_dp(epsilon, budget.delta / both_up(epsilon, 1.0) if budget.delta else 0.0)


def pure_groups(question: AbstractGrouped, request: Request) -> Builders:
    """Return what makes a plan with each pure noise: that of a mean, in each group of tables.

    The table of joint groups has it at the whole ε; several that share no record's group have it
    each at a part of ε, where the error is less so.

    Raises:
        PlanError: where an argument does not fit, or is one of Gaussian noise.
    """
    size = _checked(question, request)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    if size is not None and joint_table(question).cells == (1,):
        return dict.fromkeys(("k_norm", "ellipsoid", "recursive", "laplace"), _alone)
    counted = question.counted
    one = _of_groups(request, size, None) if counted else of_totals(question, request)
    if two_steps := size is not None or request.exchanged:
        rows = None if one.unit is None else replace(one.unit, exchanged=False)
        one = replace(one, budget=_halved(one.budget), unit=rows)
    inner = pure_means(question.mean, one)
    tables = cache(
        lambda: solve_residual(
            split_marginals(question.groups, public=False).plain,
            order,
            ADD_REMOVE,
            rtol,
            request.progress,
        )
    )

    budget = request.budget
    assert isinstance(budget, (PureDP, ApproxDP))  # noqa: S101 (`planning.verb` asks)
    split = cache(lambda: None if request.shared else _split_tables(question, order))

    def mechanisms(values: AdditiveMechanism) -> list[AdditiveMechanism]:
        measured = split()
        if measured is None or values.loss.delta:
            return [joint_mechanism(question, values, size)]
        try:
            values.noise.scaled(1.0)
        except PlanError:  # noise from outside may have no multiples
            return [joint_mechanism(question, values, size)]
        found = covering(
            lambda factor: replace(
                joint_mechanism(question, values, size, measured.scaled(factor)), unit=request.unit
            ),
            lambda own: own.loss.epsilon,
            allowed(budget) * spared(values.noise),
        )
        try:
            beside = [joint_mechanism(question, values, size)]
        except PlanError:  # answers are too many for groups that are all noised together
            beside = []
        return [replace(found, unit=None), *beside]

    def planned(build: Callable[[], Plan]) -> Plan:
        made = build()
        own, dual = made.terms, None
        if own.evidence is not None:
            dual = GroupDual(values=own.evidence, plain=None, tables=tables().dual)
        every = [
            replace(
                own,
                question=question,
                mechanism=mechanism,
                evidence=dual,
                additive=None,
                budget=request.budget if two_steps else own.budget,
            )
            for mechanism in mechanisms(own.mechanism)
        ]
        return replace(made, terms=min(every, key=lambda each: each.compared))

    # mixtures of balls, of the Euclidean or another norm, are no log-concave laws: of their sums no
    # tail is known
    kept = inner.keys() - {"radial", "staircase"}
    return {name: partial(planned, own) for name, own in inner.items() if name in kept}


def _alone() -> Plan:
    """Refuse noise made for groups where all rows are the only one, and their number is public.

    Raises:
        PlanError: as said.
    """
    raise PlanError(
        "sets=[[]] asks for all rows only, whose number is public; leave out by=, which halves "
        "the noise of their sums at least"
    )


def _split_tables(question: AbstractGrouped, order: float) -> MeasuredTables | None:
    """Return margins with noise each, and ε split over them; None where joint groups do as well.

    What a group has in place of a count is noised alike in all tables, so that errors are those of
    counts times what one group's are: the split is that of marginals.
    """
    groups = question.groups
    joint, orbits = joint_table(question), marginal_orbits(groups)
    tables, shares = best_split(groups, cell_tables(orbits, public=False), order)
    parts = [
        (cells, share)
        for place, share in enumerate(shares.tolist())
        for cells, _ in tables.members(place)
    ]
    every = math.fsum(share for _, share in parts)
    sets, scales = zip(*((cells, every / share) for cells, share in parts), strict=True)
    split, way = MeasuredTables(joint.sizes, sets, scales), groups.way is not None
    spaces = list(groups.sets())
    weights = [groups.weights[len(s) if way else k] for k, s in enumerate(spaces)]
    copies = np.array([math.prod(joint.shape(s)) for s in spaces], dtype=np.float64)

    def error(measured: MeasuredTables) -> float:
        found = [w * measured.variance(s) for w, s in zip(weights, spaces, strict=True)]
        return order_norm(np.sqrt(np.array(found)), order, copies)

    return split if error(split) < error(joint) * (1 - _WORTH) else None


def _checked(question: AbstractGrouped, request: Request) -> int | None:
    """Return the public number of records, None under `add_remove`.

    Raises:
        PlanError: where the relation is a body of changes, or rows may be left out of a public
            number.
    """
    check_labels(question.groups.attributes)
    relation = checked_word(request.relation, "means and totals by groups")
    size = checked_size(request.size, relation)
    if size is not None and question.mean.drops_missing:
        raise PlanError('missing="drop" changes the public size; use "center" or a point')
    if size is not None and question.drops:
        raise PlanError(
            'outside="drop" would change the public size; give outside="extra", or name what '
            "stands in for other values, as outside={name: category}"
        )
    return size
