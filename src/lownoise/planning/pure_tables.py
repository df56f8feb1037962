# SPDX-License-Identifier: Apache-2.0
"""Marginals and parities under a pure budget: what gets Laplace noise, and how ε is split.

Counts are read by least squares from all tables that are noised, so an error is the sum over
residual spaces of what each matters over what all tables tell of it (`residuals.signed`). With
t = 1/b for each orbit of tables, and p(t) the inverse of the variance of one number, t²/2 of
Laplace and cosh t − 1 of geometric noise,

    error² = Σ_A wₐ/Σ_s told_{A,s}·p(t_s)  under  Σ_s copies_s·t_s = ε,

which is not convex: to leave a table out is a corner. So it is searched from several starts, and
where a table is hardly used it is left out. Any split is private.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.errors import PlanError, QuestionError
from lownoise.noise.cell_norm import cell_mechanism, stairs_mechanism, table_mechanism
from lownoise.noise.independent import LaplaceNoise
from lownoise.noise.marginal_noise import answer_variances
from lownoise.noise.parity import ParityChanges, independent_parity
from lownoise.noise.signed import LAWS, SIGNED, lattice, signed_mechanism
from lownoise.numbers.arguments import checked_order
from lownoise.planning.gaussian import plan_marginals, plan_parity
from lownoise.planning.pure import pure_summed
from lownoise.planning.pure_noise import least_scales
from lownoise.planning.pure_steps import (
    is_worth_lattice,
    is_worth_stairs,
    within_lattice,
    within_stairs,
)
from lownoise.planning.release_plan import Plan, checked_counting
from lownoise.privacy import ApproxDP, GaussianDP, PureDP
from lownoise.questions.attributes import check_labels
from lownoise.release.guarantees import allowed
from lownoise.release.terms import Terms
from lownoise.sensitivity.residuals import marginal_orbits
from lownoise.sensitivity.residuals.ordered import split_marginals

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.independent import AbstractIndependentNoise
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.comparing import Builders
    from lownoise.planning.release_plan import Request
    from lownoise.questions import Marginals, Parity
    from lownoise.sensitivity.residuals.signed import SignedTables

_LARGE = 64.0  # an order as good as ∞ to a search
_LEAST = 1e-4  # of the squared error: tables that gain less are left out
_FAINT = 6.0  # how much less a table gets, in logarithms, that is inside another
_STEPS, _FEW_STEPS = 500, 25  # of a search, and of one that is looked into
_MOST_STARTS = 64
_FURTHER = 4  # of these searches that go on
_APART = 3.0  # how much more or less a table gets than others, in logarithms, where it is tried
_MOST_CELLS = 128  # beyond, given what they add up to, variances are less by 1 or 2 in 100
_STATUS = "the best of those available"
_LISTED = (
    "laplace_histogram",
    "geometric_histogram",
    "randomized_response",
    "k_norm",
    "ellipsoid",
    "recursive",
)


def pure_marginals(question: Marginals, request: Request) -> Builders:
    """Return what makes a plan of marginals with each pure noise.

    Raises:
        PlanError: where an argument does not fit.
    """
    check_labels(question.attributes)
    _, size = checked_counting(request, "Marginals", drops=question.drops)
    order, budget = checked_order(request.order), request.budget
    assert isinstance(budget, (PureDP, ApproxDP))  # noqa: S101 (`planning.verb` asks)
    orbits = marginal_orbits(question)

    def made(name: str) -> AdditiveMechanism:
        if name == "k_norm":
            delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
            named = request.mechanism is not None
            return cell_mechanism(
                question, size, allowed(budget), delta, unit=request.unit, patient=named
            )
        if name in whole:
            build, part = whole[name]
            return build(question, size, allowed(budget) * part, request.unit)
        make, law = SIGNED[name]
        tables = make(orbits, public=size is not None)
        part = within_lattice(most(make)) if law.on_lattice else 1.0
        return split(question, tables, size, order, request.epsilon * part, law)

    evidence = cache(lambda: plan_marginals(question, _gaussian(request)).terms.evidence)

    def planned(name: str) -> Plan:
        terms = Terms(
            question=question,
            budget=budget,
            order=order,
            name=name,
            mechanism=made(name),
            evidence=evidence(),
        )
        return Plan(terms, status=_STATUS)

    def most(make: Callable[..., SignedTables]) -> float:
        """Return the most of ε that one step may have: two cells change by 1 each, or one by 2."""
        steps = lattice(make(orbits, public=size is not None))
        moved = 1.0 if size is None else 2.0
        return request.epsilon * float(np.max(steps, initial=0.0)) / moved

    whole = {
        "discrete_staircase": (stairs_mechanism, within_stairs(allowed(budget))),
        "discrete_k_norm": (table_mechanism, within_lattice(request.epsilon)),
    }
    kept = [
        name
        for name, (make, law) in SIGNED.items()
        if name == request.mechanism or not law.on_lattice or is_worth_lattice(most(make))
    ]
    # of several cells a unit's rows may each be in another, and no staircase has less there
    one = question.answers == 1 and size is None
    steps = np.array([float(request.rows)])
    if request.mechanism is None and one and is_worth_stairs(steps, allowed(budget)):
        kept.append("discrete_staircase")
    table = size is not None and _is_small_table(question)
    if request.mechanism is None and table and is_worth_lattice(request.epsilon / 2):
        kept.append("discrete_k_norm")
    kept += [name for name in whole if name == request.mechanism]
    return {name: partial(planned, name) for name in (*kept, "k_norm")}


def _is_small_table(question: Marginals) -> bool:
    """Return whether all attributes together have 3 cells or more, and not many."""
    return 3 <= math.prod(a.size for a in question.attributes) <= _MOST_CELLS  # noqa: PLR2004


def pure_parity(question: Parity, request: Request) -> Builders:
    """Return what makes a plan of parities with each pure noise.

    Where all records are few enough to be listed, those of linear queries over them are among them.

    Raises:
        PlanError: where an argument does not fit.
    """
    relation, size = checked_counting(request, "Parity", drops=question.drops)
    order, budget = checked_order(request.order), request.budget
    assert isinstance(budget, (PureDP, ApproxDP))  # noqa: S101 (`planning.verb` asks)

    evidence = cache(lambda: plan_parity(question, _gaussian(request)).terms.evidence)

    def by_degree(name: str) -> Plan:
        law = LAWS[name]
        part = within_lattice(request.epsilon) if law.on_lattice else 1.0
        epsilon = request.epsilon * part
        scales = _scales_by_degree(question, changes, order, epsilon, law)
        terms = Terms(
            question=question,
            budget=budget,
            order=order,
            name=name,
            mechanism=independent_parity(question, relation, size, scales, epsilon, law),
            evidence=evidence(),
        )
        return Plan(terms, status=_STATUS)

    changes = ParityChanges.of(question, relation, np.ones(len(question.degrees)))
    together = max(changes.changing.sum(axis=1).tolist(), default=0.0)
    kept = [
        name
        for name, law in LAWS.items()
        if name == request.mechanism
        or not law.on_lattice
        or (together and is_worth_lattice(request.epsilon / together))
    ]
    own: Builders = {name: partial(by_degree, name) for name in kept}
    try:
        others = pure_summed(question.as_queries, request)
    except QuestionError as error:
        reason = str(error)

        def refused() -> Plan:
            raise PlanError(reason)

        return own | dict.fromkeys(_LISTED, refused)

    def over_records(name: str) -> Plan:
        found = others[name]()
        terms = replace(found.terms, question=question, weights=None, evidence=evidence())
        return replace(found, terms=terms)

    return own | {name: partial(over_records, name) for name in _LISTED if name in others}


def _gaussian(request: Request) -> Request:
    """Return the same request for Gaussian noise, whose evidence bounds every mechanism's error."""
    return replace(request, budget=GaussianDP(1.0), mechanism=None)


def _scales_by_degree(
    question: Parity,
    changes: ParityChanges,
    order: float,
    epsilon: float,
    law: type[AbstractIndependentNoise],
) -> Vector:
    """Return b of each degree, up to a factor, that errs nearly least; 0 where nothing moves.

    Where all parities move together Σ n(ω b²)^{p/2} is least under Σ n/b = ε for b ∝ ω^{−p/(2p+2)}.
    Else those of `least_scales` are tried beside it; of noise of another law, the same.
    """
    changing, shift = changes.changing, changes.shift
    moving = np.any(changing > 0, axis=0)
    weights, counts = question.degree_weights[moving], np.array(question.counts, float)[moving]
    power = 0.5 if math.isinf(order) else order / (2 * order + 2)
    changing = changing[:, moving]
    tried = [weights**-power, least_scales(changing, weights * counts)] if weights.size else []

    def error(b: Vector) -> float:
        own = b * (float(np.max(changing @ (1 / b))) * shift / epsilon)
        steps = shift if law.on_lattice else 1.0
        deviations = np.sqrt(law.variances(np.maximum(own / steps, law.least))) * steps
        return order_norm(np.sqrt(weights) * deviations, order, counts)

    found = np.zeros(moving.size)
    if tried:
        found[moving] = min(tried, key=error)
    return found


def split(
    question: Marginals,
    tables: SignedTables,
    size: int | None,
    order: float,
    epsilon: float,
    law: type[AbstractIndependentNoise] = LaplaceNoise,
) -> AdditiveMechanism:
    """Return noise on the cells of some tables, ε split so that the error is nearly least.

    Args:
        question: the marginals.
        tables: which tables may be noised; those that hardly help are left out.
        size: the public number of records, None under `add_remove`.
        order: p, of the error.
        epsilon: ε.
        law: of the noise of one number.

    Raises:
        PlanError: where a table is too large, or has more noise than integers hold.
    """
    tables, shares = best_split(question, tables, order, epsilon, law)
    return signed_mechanism(question, tables, size, 1 / shares, epsilon, law)


def best_split(
    question: Marginals,
    tables: SignedTables,
    order: float,
    epsilon: float = 1.0,
    law: type[AbstractIndependentNoise] = LaplaceNoise,
) -> tuple[SignedTables, Vector]:
    """Return the tables that are kept, and the part of ε of each orbit's, up to a factor.

    Args:
        question: as of `split`.
        tables: as of `split`.
        order: as of `split`.
        epsilon: as of `split`; of Laplace noise the parts are the same at any.
        law: as of `split`.
    """
    if len(tables.asked) > 1:
        return _Search(question, tables, order, epsilon, law).best()
    return tables, np.ones(len(tables.asked))


@final
class _Search:
    """The search for a split."""

    def __init__(
        self,
        question: Marginals,
        tables: SignedTables,
        order: float,
        epsilon: float,
        law: type[AbstractIndependentNoise],
    ) -> None:
        self._epsilon, self._law = epsilon, law
        self._steps = lattice(tables) if law.on_lattice else np.ones(len(tables.asked))
        self._blocks = split_marginals(question, public=tables.public)
        self._tables, self._half = tables, min(order, _LARGE) / 2
        plain, full = self._blocks.plain, tables.orbits
        if self._blocks.axes:
            units = [answer_variances(self._blocks, full, e) for e in np.eye(len(full.residuals))]
            dense = np.array([np.concatenate(own) for own in units]).T
            self._rows, self._columns = np.nonzero(dense)
            self._entries = dense[self._rows, self._columns]
            counts = list(self._blocks.counts)
        else:
            self._rows, self._columns, self._entries = full.variance_terms
            counts = [1] * len(plain.asked)
        self._weights = np.repeat(plain.weights, counts)
        self._cells = np.repeat(plain.cells, counts)

    def best(self) -> tuple[SignedTables, Vector]:
        """Return the tables that are kept, and the part of ε of each of theirs, up to a factor."""
        widest = np.array([float(not self._inside(k)) for k in range(len(self._tables.asked))])
        starts = [np.zeros(widest.size), np.where(widest > 0, 0.0, -_FAINT)]
        if 2 * widest.size <= _MOST_STARTS:
            # each table once nearly alone in front, and once nearly left out
            moved = np.vstack([np.eye(widest.size), -np.eye(widest.size)]) * _APART
            tried = [self._settled(own, _FEW_STEPS) for own in moved]
            tried.sort(key=lambda own: own[0])
            starts += [own for _, own in tried[:_FURTHER]]
        value, found = min(map(self._settled, starts), key=lambda own: own[0])
        kept = np.ones(found.size, dtype=bool)
        for k in np.argsort(found + np.log(self._tables.copies), kind="stable").tolist():
            kept[k] = False
            without = self._value(np.where(kept, found, -np.inf))
            if not without <= value * (1 + _LEAST):
                kept[k] = True
        asked = tuple(own for own, keep in zip(self._tables.asked, kept, strict=True) if keep)
        return replace(self._tables, asked=asked), np.exp(found[kept])

    def _inside(self, place: int) -> bool:
        """Return whether all attributes of a table are in another's."""
        own = self._tables.asked[place]
        mine = Counter((*own.cells, *own.signs))
        return any(
            other is not own and mine <= Counter((*other.cells, *other.signs))
            for other in self._tables.asked
        )

    def _settled(self, start: Vector, steps: int = _STEPS) -> tuple[float, Vector]:
        """Return the squared error, and ln t, from where a search from a start ends."""
        from scipy.optimize import minimize

        found = minimize(
            self._slope, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}
        )
        at = found.x - np.max(found.x)
        return self._value(at), at

    def _value(self, at: Vector) -> float:
        """Return the squared error; infinite where no table tells of some space."""
        return math.exp(self._slope(at)[0])

    def _slope(self, at: Vector) -> tuple[float, Vector]:
        """Return the logarithm of the squared error, and its slope in ln t."""
        most = float(np.max(at))
        if most == -math.inf:  # no table is left
            return math.inf, np.zeros(at.size)
        # a factor of all t changes nothing: a search that wanders off keeps within floats
        tables, t = self._tables, np.exp(at - most)
        changing = self._changing(t)
        factor = self._epsilon / float(changing @ t)
        rates = t * factor
        precise, slope = self._law.precision(rates * self._steps)
        precisions = tables.precisions(precise / np.square(self._steps))
        moving = ~tables.silent
        if not np.all(precisions[moving] > 0):
            return math.inf, np.zeros(at.size)
        variances = np.where(moving, 1 / np.where(moving, precisions, 1.0), 0.0)
        answers = np.zeros(self._weights.size)
        np.add.at(answers, self._rows, self._entries * variances[self._columns])
        weighted = self._weights * answers
        most = float(np.max(weighted))
        powers = self._cells * (weighted / most) ** (self._half - 1)
        total = float(np.sum(powers * weighted / most))
        by_answer = powers * self._weights / (most * total)
        by_variance = np.bincount(
            self._columns, self._entries * by_answer[self._rows], minlength=variances.size
        )
        rows, columns, information = tables.information
        # a square of what a search passes is beyond floats, unless a power of two is taken aside
        scale = np.ldexp(0.5, np.frexp(np.max(variances))[1])
        by_precision = by_variance * scale * (variances / scale * variances)
        by_split = -np.bincount(columns, information * by_precision[rows], minlength=t.size) * (
            slope / self._steps * rates
        )
        # what is told is of rates that are ε in all
        value = math.log(most) + math.log(total) / self._half
        return value, by_split - float(np.sum(by_split)) * changing * rates / self._epsilon

    def _changing(self, t: Vector) -> Vector:
        """Return what each orbit's t is multiplied by in ε: by the change that reveals the most."""
        tables = self._tables
        every = np.array(tables.copies, dtype=np.float64)
        if not tables.public:
            return every
        changed = tables.changed
        return 2 * (every if changed is None else changed[int(np.argmax(changed @ t))])
