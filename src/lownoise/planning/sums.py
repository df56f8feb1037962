# SPDX-License-Identifier: Apache-2.0
"""Totals of columns become a plan: that of a mean, of which one record changes.

Totals by groups become that times that of marginals, or two of them. Where a record becomes another
the sums of all rows change by differences of two records alone, and those of groups by records,
too. So the former get noise M₀ of the shape of differences, and the latter the best mixture of
that, of what the middle of the domain adds, and of the noise of totals.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.certificate.groups import GroupDual
from lownoise.errors import DomainError, PlanError, quoted
from lownoise.noise.exchanges import exchange_up
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.group_noise import gaussian_groups, group_mechanism
from lownoise.noise.mechanism import LEFT, SHOWN, covering
from lownoise.noise.sums import sum_mechanism
from lownoise.numbers.arrays import vector
from lownoise.planning.means import plan_mean, plan_means, with_least
from lownoise.planning.pure import pure_means
from lownoise.planning.release_plan import Plan, checked_size
from lownoise.questions import Sum
from lownoise.release.terms import Terms
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.relations import (
    ADD_REMOVE,
    SUBSTITUTE,
    Change,
    checked_relation,
    exchange_body,
    sensitivity_set,
)
from lownoise.sensitivity.residuals import TableChanges
from lownoise.sensitivity.residuals.ordered import split_marginals
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.domains import AbstractDomain, Box
from lownoise.solvers import SOLVED, solve
from lownoise.solvers.independent import solve_residual

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.comparing import Builders
    from lownoise.planning.release_plan import Request
    from lownoise.questions import Mean
    from lownoise.questions.mean import AbstractGrouped
    from lownoise.sensitivity.residuals import Orbits
    from lownoise.sets.bodies import AbstractBody


def plan_sum(question: Sum, request: Request) -> Plan:
    """Return the plan for totals.

    Raises:
        PlanError: where an argument does not fit.
        DomainError: where records come and go, and the hull of the domain and its opposite is not
            known.
    """
    mean, own = _asked(question, request)
    return _planned(question, request, partial(plan_means, mean, own))


def pure_sums(question: Sum, request: Request) -> Builders:
    """Return what makes a plan of totals with each pure noise.

    Raises:
        PlanError: where an argument does not fit, or is one of Gaussian noise.
        DomainError: as `plan_sum`.
    """
    mean, own = _asked(question, request)
    inner = pure_means(mean, own)
    return {name: partial(_planned, question, request, build) for name, build in inner.items()}


def unit_total(question: object, given: Any) -> AbstractDomain:  # noqa: ANN401
    """Return what a unit's rows add up to is clipped to.

    Args:
        question: what is asked.
        given: a domain; or the greatest size of each column's total, one for all or one each.

    Raises:
        PlanError: where the question releases no totals of units, or it is none of these.
    """
    if not isinstance(question, Sum):
        raise PlanError(
            f"unit_total is for ln.Sum without by; of ln.{type(question).__name__} leave it out"
        )
    if isinstance(given, AbstractDomain):
        return given
    wide = np.full(len(question.columns), given) if np.ndim(given) == 0 else given
    ends = vector(wide, field="unit_total", error=PlanError)
    if ends.size != len(question.columns) or np.any(ends <= 0):
        raise PlanError(
            f"unit_total={quoted(given)} is not one size above 0 for each of "
            f"{len(question.columns)} columns, nor a domain; give those, or ln.Box(lower, upper)"
        )
    return Box(-ends, ends)


def _asked(question: Sum, request: Request) -> tuple[Mean, Request]:
    """Return the mean that totals are, and what is asked of it."""
    if request.count_share is not None:
        raise PlanError("count_share is for means; ln.Sum releases no count: leave it out")
    relation = checked_relation(request.relation)
    if checked_size(request.size, relation) is not None:
        return question.mean, request
    unit = request.unit
    mean = question.coming if unit is None else question.of_units(unit.total, unit.rows)
    check_coming(mean)
    own = replace(request, unit=None if unit is None else unit.of_totals)
    return mean, replace(own, relation=Change(mean.domain), size=1)


def check_coming(mean: Mean) -> None:
    """Refuse the mean that totals are where the hull of its domain and the opposite is not known.

    Raises:
        DomainError: as said.
    """
    try:
        pivots = mean.coordinates().pivots[:1]  # known of one coordinate, known of all
        mean.domain.symmetrized(pivots, np.ones(pivots.size))
    except DomainError as error:
        raise DomainError(str(error).replace("relation=", "Sum.domain=")) from None


def _planned(question: Sum, request: Request, build: Callable[[], Plan]) -> Plan:
    made = build()
    size = checked_size(request.size, checked_relation(request.relation))
    mechanism = sum_mechanism(question, made.terms.mechanism, size)
    terms = replace(made.terms, question=question, mechanism=mechanism, additive=None)
    return replace(made, terms=terms)


_FLAT = 1e-9  # of the noise of totals, beside what has none in some direction
_STEPS = (4.0, 2.0, 1.0, 0.5)  # of logarithms of parts, before simplices
_MOST = 150  # errors that simplices look at
_CLOSE = 1e-3  # of a logarithm
_RISES = 1e-7  # of the error: less is no better
_MOVES = 12  # of each size
_SAME = 1e-6  # of σ², but for one number that multiplies all
_NEAR = 2  # sizes that are left out near to what is quick
_MEASURED = 24  # coordinates of pairs that are not listed, which are bounded in each step
_NONE = -12.0  # the logarithm of a part that is hardly there
_STARTS = ((0.0, 0.0, _NONE), (_NONE, _NONE, 0.0), (-1.0, 0.0, -1.0))
_ASIDE = 0.25  # of 1 = ‖x − x'‖²: of a set that is symmetric, ‖x − v‖² at most


def plan_totals(
    question: AbstractGrouped, request: Request, size: int | None, order: float, rtol: float
) -> Plan:
    """Return the plan for totals by groups.

    Raises:
        PlanError: where an argument does not fit.
        DomainError: where the hull of the domain and its opposite is not known.
    """
    one, mean = of_totals(question, request), question.mean
    values = plan_mean(mean, one)
    own, chosen = values.terms, mean.coordinates()
    parameter = request.gaussian_parameter * (1 - LEFT)
    orbits = split_marginals(question.groups, public=False).plain
    tables = solve_residual(orbits, order, ADD_REMOVE, rtol, request.progress)
    every, shapes, apart = [], [own.mechanism], None
    if size is not None or request.exchanged:
        body = exchange_body(mean.domain, mean.center, chosen, counted=False)
        shapes += [] if body is None else [plan_mean(mean, one, body).terms.mechanism]
        differences = sensitivity_set(mean.domain, SUBSTITUTE, mean.center, chosen)
        weights = np.asarray(own.weights)
        found = solve(differences, order=order, weights=weights, queries=chosen.embed, rtol=rtol)
        apart = found.claim.dual
        if size is not None:
            others = solve_residual(orbits, order, SUBSTITUTE, rtol, request.progress)
            far = found.full_shape.dense()
            tried = [np.append(1.0, each[1:]) for each in (tables.noise, others.noise)]
            scaled = tried[0] * (tried[1][-1] / tried[0][-1])  # which the parts make up for
            if np.allclose(scaled[1:], tried[1][1:], rtol=_SAME, atol=0.0):
                tried.pop()
            for known in tried:
                every += _Parted(question, size, own, far, orbits, known).made(parameter)
    every += [gaussian_groups(question, each, tables.noise, parameter, size) for each in shapes]
    dual = GroupDual(values=own.evidence, plain=own.plain_evidence, tables=tables.dual, apart=apart)
    terms = Terms(
        question=question,
        budget=request.budget,
        order=order,
        weights=own.weights,
        evidence=dual,
        mechanism=every[0],
    )
    status = tables.status if values.status == SOLVED else values.status
    return Plan(with_least(terms, every, request.unit), status=status)


def of_totals(question: AbstractGrouped, request: Request) -> Request:
    """Return the request of totals of one group: of one record that changes by a point.

    Raises:
        PlanError: where a part is asked for the count.
        DomainError: where the hull of the domain and its opposite is not known.
    """
    if request.count_share is not None:
        raise PlanError("count_share is for means; ln.Sum releases no count: leave it out")
    check_coming(question.mean)
    rows = None if request.unit is None else replace(request.unit, exchanged=False)
    return replace(request, relation=Change(question.mean.domain), size=1, unit=rows)


@final
@dataclass(frozen=True, eq=False)
class _Parted:
    """Noise e^a·M₀ + e^b·vvᵀ + e^c·M₁ in groups and M₀ on all rows, M₁ that of totals, in steps.

    Args:
        question: what is asked.
        size: the public number of records.
        own: the terms of totals of one group.
        far: M₀, which differences of two records need, in units.
        orbits: the residual spaces.
        variances: σ² of each, of which that of all rows is 1.
    """

    question: AbstractGrouped
    size: int
    own: Terms
    far: Vector
    orbits: Orbits
    variances: Vector

    def made(self, parameter: float) -> list[AdditiveMechanism]:
        """Return the best of these; none where no pairs of records are known."""
        if self.pairs is None or not np.all(self.variances > 0):
            return []
        at = self._best()
        if at is None:
            return []
        noise, all_rows = self.shapes(at)

        def scaled(factor: float) -> AdditiveMechanism:
            mean = replace(self.own.mechanism, noise=GaussianNoise(noise))
            deviations = np.append(1.0, np.sqrt(self.variances[1:]) * factor)
            beside = GaussianNoise(all_rows.scaled(factor))
            return group_mechanism(self.question, mean, deviations, self.size, beside)

        try:
            found = covering(scaled, lambda made: made.loss.mu, parameter)
        except PlanError:  # what is nearly flat leaves nothing for integers
            return []
        return [found] if found.rounding <= SHOWN else []

    def _best(self) -> Vector | None:
        """Return the logarithms of the best mixture; None where none is found."""
        assert self.pairs is not None  # noqa: S101 (asked by `made`)
        listed = isinstance(self.pairs, SymmetricPoints)
        symmetric = self.question.mean.domain.as_image() is not None
        starts, steps = [np.array(start) for start in _STARTS], list(_STEPS)
        if symmetric and not listed:  # what is quick says where to begin
            quick = partial(self.error, cost=lambda at: _aside(at, *self.paid))
            starts = [_least(quick, starts, _STEPS)]
            steps = steps[_NEAR:]
        if listed or self.pairs.dimension <= _MEASURED:
            slow = partial(self.error, cost=self.cost)
            at = _least(slow, starts, steps)
            return at if math.isfinite(slow(at)) else None
        return starts[0] if symmetric else None

    @cached_property
    def pairs(self) -> AbstractBody | None:
        """All pairs of records."""
        mean, one = self.own.mechanism, np.ones(self.variances.size)
        totals: Any = group_mechanism(self.question, mean, one, self.size).totals
        found: AbstractBody | None = totals.changes.pairs
        return found

    @cached_property
    def _parts(self) -> tuple[Vector, Vector, Vector]:
        """M₀, v and M₁ in steps; M₀ with some noise in all directions."""
        values: Any = self.own.mechanism
        unit, pivots = values.totals.unit, values.totals.coordinates.pivots
        far = self.far / np.outer(unit, unit)
        total = values.noise.shape.dense() * self.own.parameter**2
        size = max(float(np.max(np.diag(far)) / np.max(np.diag(total))), _FLAT)
        apart = far + _FLAT * size * total
        try:
            np.linalg.cholesky(apart)
        except np.linalg.LinAlgError:  # few records in many columns: totals are nearly flat, too
            apart = far + _FLAT * size * np.diag(np.diag(total))
        return apart, self.question.mean.domain.center[pivots] / unit, total

    def shapes(self, at: Vector) -> tuple[DenseShape, DenseShape]:
        """Return those of groups, and of all rows.

        Raises:
            LinAlgError: where one has no factor.
        """
        (a, b, c), (far, middle, total) = np.exp(at), self._parts
        mixed = a * far + b * np.outer(middle, middle) + c * total
        return DenseShape(np.linalg.cholesky(mixed)), DenseShape(np.linalg.cholesky(far))

    @cached_property
    def paid(self) -> tuple[float, float]:
        """About h and m of `noise.exchanges`."""
        within = float(np.sum(self.orbits.trace[1:] / self.variances[1:]))
        both = TableChanges(self.orbits, SUBSTITUTE).cost_up(self.variances)
        return within, max(both / 2 - within, 0.0)

    def cost(self, at: Vector) -> float:
        """Return what a record reveals, squared."""
        assert self.pairs is not None  # noqa: S101 (asked by `made`)
        return exchange_up(self.pairs, *self.shapes(at), *self.paid)

    def error(self, at: Vector, cost: Callable[[Vector], float]) -> float:
        """Return the weighted error at μ = 1."""
        try:
            shapes, paid = self.shapes(at), cost(at)
        except np.linalg.LinAlgError:
            return math.inf
        totals: Any = self.own.mechanism.totals
        rows = np.eye(totals.unit.size) if totals.embed is None else np.asarray(totals.embed)
        rows = np.asarray(self.own.weights)[:, None] * rows * totals.unit
        noise, all_rows = (np.sum((rows @ shape.factor) ** 2, axis=1) for shape in shapes)
        alone = np.zeros(self.variances.size)
        alone[0] = 1.0
        parts = (self.variances - alone, noise), (alone, all_rows)
        squares = sum(np.outer(self.orbits.cell_variances(v), own) for v, own in parts)
        deviations = np.sqrt(self.orbits.weights[:, None] * squares)
        copies = np.repeat(self.orbits.cells, noise.size)
        return order_norm(deviations.reshape(-1), self.own.order, copies) * math.sqrt(paid)


def _aside(at: Vector, within: float, across: float) -> float:
    """Return about what noise costs that is wide about the middle of a symmetric set.

    With x = v + z and M ≥ e^a·M₀ + e^b·vvᵀ a record is at most as long as (z, 1) is in both.
    """
    a, b = np.exp(at[:2])
    if at[2] > _NONE:
        return math.inf
    inside = within / a + 1
    if a < across:
        return float(max(inside, 2 * (within + across) * (_ASIDE / a + 1 / b)))
    between = 2 * _ASIDE / a * (within + 2 * a - across) + 2 * (within + across) / b
    return float(max(inside, between))


def _least(
    error: Callable[[Vector], float], starts: Sequence[Vector], steps: Sequence[float]
) -> Vector:
    """Return where a function is least: the best way down from some points, and then finely."""
    ends = [_descended(error, start, steps) for start in starts]
    at, value = min(ends, key=lambda end: end[1])
    if not math.isfinite(value):
        return at
    from scipy.optimize import minimize

    corners = np.vstack([at, at + np.diag(np.full(at.size, steps[-1]))])
    fine = {"initial_simplex": corners, "maxfev": _MOST, "xatol": _CLOSE, "fatol": _RISES * value}
    found = minimize(error, at, method="Nelder-Mead", options=fine)
    return np.asarray(found.x if found.fun < value else at)


def _descended(
    error: Callable[[Vector], float], at: Vector, steps: Sequence[float]
) -> tuple[Vector, float]:
    """Return where steps along the axes lead, and the value there."""
    value = error(at)
    for step in steps:
        for _ in range(_MOVES):
            before = value
            for i, sign in itertools.product(range(at.size), (1.0, -1.0)):
                tried = at.copy()
                tried[i] = np.clip(tried[i] + sign * step, _NONE, -_NONE)
                found = error(tried)
                if found < value * (1 - _RISES):
                    at, value = tried, found
            if value == before:
                break
    return at, value
