# SPDX-License-Identifier: Apache-2.0
"""A question and a budget become what each person's device sends; no data are read.

The ellipsoid is fitted by Γ_p(K), wherever it may stand; every randomizer that takes points of the
ball, of the cube or labels is fitted to its encoder, and the one of the least error is taken.

How a domain is encoded on devices, and which randomizer errs least; no data are read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import DomainError, PlanError, quoted
from lownoise.local_model import (
    RANDOMIZERS,
    CellEncoder,
    EllipsoidEncoder,
    NearestEncoder,
    RangeEncoder,
    TablesEncoder,
)
from lownoise.local_model.terms import LocalTerms, answer_weights, error_of
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.planning.local_plan import LocalPlan
from lownoise.planning.verb import plan
from lownoise.privacy import gaussian_dp
from lownoise.privacy.local_budget import checked_local
from lownoise.questions import Marginals, Mean
from lownoise.release.comparison import Alternative
from lownoise.sets.domains import AbstractDomain, Points
from lownoise.solvers import RTOL
from lownoise.theory.enclosure import enclose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.local_model import AbstractEncoder, AbstractRandomizer
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.release_plan import Plan
    from lownoise.privacy.local_budget import LocalDP
    from lownoise.sensitivity.factors import AbstractShape

_MOST_LISTED = 1 << 14  # points of a list, each of which can be reported by its place
_FLAT = 1e-12  # of the longest axis: a shorter one is none
_MADE = {
    "ball": "coordinates in the least ellipsoid",
    "cube": "columns in their ranges",
    "label": "labels",
    "labels": "cells of tables, one table a report",
}


def encoders_of(
    question: Mean, order: float, weights: Vector, rtol: float = RTOL
) -> list[AbstractEncoder]:
    """Return the encoders of a domain: its ellipsoid, its ranges, and its list of points.

    Args:
        question: the columns and their domain.
        order: p of the error.
        weights: ω, shape (d,).
        rtol: how close to the least ellipsoid.

    Raises:
        PlanError: where the domain is one point.
    """
    domain, columns = question.domain, question.columns
    missing = frozen(np.clip(question.missing, domain.lower, domain.upper))
    found: list[AbstractEncoder] = []
    try:
        around = enclose(domain, order=order, weights=weights, rtol=rtol)
    except (DomainError, PlanError):  # of a kind that has no ellipsoid; its ranges are left
        around = None
    factor = None if around is None else orthogonal_factor(around.shape)
    if factor is not None and around is not None:
        found.append(
            EllipsoidEncoder(
                columns=columns,
                center=around.center,
                factor=factor,
                lower=domain.lower,
                upper=domain.upper,
                missing=missing,
            )
        )
    if np.any(domain.upper > domain.lower):
        found.append(
            RangeEncoder(columns=columns, lower=domain.lower, upper=domain.upper, missing=missing)
        )
    if isinstance(domain, Points) and 2 <= len(domain.points) <= _MOST_LISTED:  # noqa: PLR2004
        found.append(NearestEncoder(columns=columns, points=domain.points, missing=missing))
    if not found:
        raise PlanError("domain has one point, so there is nothing to report; give a larger domain")
    return found


def encoders_of_marginals(question: Marginals) -> list[AbstractEncoder]:
    """Return the encoders of marginals: the cell of all attributes, and that of one of the tables.

    Raises:
        PlanError: where neither can be, with the reason of the first.
    """
    found: list[AbstractEncoder] = []
    refused: list[PlanError] = []
    kinds: tuple[type[CellEncoder | TablesEncoder], ...] = (CellEncoder, TablesEncoder)
    for kind in kinds:
        try:
            found.append(kind.of(question))
        except PlanError as reason:
            refused.append(reason)
    if not found:
        raise refused[0]
    return found


def orthogonal_factor(shape: AbstractShape) -> Vector | None:
    """Return A with M = A·Aᵀ and orthogonal columns, shape (d, r), or its diagonal; None for M = 0.

    Args:
        shape: M, by any factor.
    """
    deviations = shape.independent
    if deviations is not None and np.all(deviations > 0):
        return frozen(deviations)
    values, axes = np.linalg.eigh(shape.dense())
    lengths = np.sqrt(np.maximum(values, 0.0))
    kept = lengths > _FLAT * lengths.max(initial=0.0)
    if not np.any(kept):
        return None
    return frozen(axes[:, kept] * lengths[kept])


def compare(
    encoders: list[AbstractEncoder],
    budget: LocalDP,
    order: float,
    weights: Vector,
    only: str | None,
) -> tuple[tuple[AbstractEncoder, AbstractRandomizer], tuple[Alternative, ...]]:
    """Return the encoder and randomizer of the least error, and all that were compared."""
    found: list[tuple[float, AbstractEncoder, AbstractRandomizer, Alternative]] = []
    missed: list[Alternative] = []
    for randomizer in RANDOMIZERS.names:
        if only not in (None, randomizer):
            continue
        kind = RANDOMIZERS[randomizer].of
        taking = [own for own in encoders if own.makes == kind.takes]
        for encoder in taking:
            note = f"of {encoder.dimension:,} {_MADE[encoder.makes]}"
            try:
                made = encoder.fitted(kind, budget.epsilon, budget.delta)
                error = error_of(encoder, made, order, weights)
            except PlanError as reason:
                missed.append(Alternative(randomizer, None, str(reason)))
                continue
            found.append((error, encoder, made, Alternative(randomizer, error, note)))
    usable = [own for own in found if math.isfinite(own[0])]
    if not usable:
        said = "; ".join(own.note for own in missed) or "it takes what the question has not"
        raise PlanError(f"mechanism={quoted(only)} does not fit: {said}; leave it out")
    # two that are the same mechanism differ in last digits: the one that is listed first is taken
    usable.sort(key=lambda own: float(f"{own[0]:.8e}"))
    rows = (*(own[3] for own in usable), *missed)
    return usable[0][1:3], rows


_LONGEST_NAME = 100


def local(
    question: AbstractDomain | Mean | Marginals,
    budget: LocalDP,
    *,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    mechanism: str | None = None,
    name: str = "",
    rtol: float = RTOL,
) -> LocalPlan:
    """Plan the reports of people's own devices: local differential privacy, no trusted curator.

    Args:
        question: what is estimated: the mean of a domain's records, `ln.Ball(10)`, or of named
            columns, `ln.Mean(columns, domain)`; or the shares of labels and of their combinations,
            `ln.Marginals({"city": [...]}, way=1)`.
        budget: `ln.local_dp(epsilon)`, or `ln.local_dp(epsilon, delta)`, of one report.
        order: p in [2, ∞], the norm of the error that is minimised.
        weights: the weight of one unit of each answer's error, above 0; ones by default.
        mechanism: the name of one randomizer to use, as in `comparison`. By default all that fit
            are compared, and the one with the least error is used.
        name: the name of the collection. Reports of another collection (another month's, of the
            same question) are then not counted in this one.
        rtol: the relative distance to the least ellipsoid.

    Raises:
        PlanError, BudgetError: where an argument is out of range, or no randomizer fits.
        DomainError: where the domain is of a kind that has neither ellipsoid nor ranges.

    Examples:
        >>> import lownoise as ln
        >>> means = ln.local(ln.Ball(10), ln.local_dp(1.0))
        >>> means.error > means.lower_bound > 0
        True
        >>> reports = [means.randomize([0.5] + [0.0] * 9) for _ in range(100)]
        >>> means.aggregate(reports).estimate.shape
        (10,)
    """
    asked, encoders = _asked(question)
    allowed = checked_local(budget)
    p = checked_order(order)
    fitted = _curator(asked, p, weights, checked_rtol(rtol))
    omega = frozen(answer_weights(fitted.terms))
    if isinstance(asked, Mean):
        encoders = encoders_of(asked, p, omega, rtol)
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise PlanError(f"name={quoted(name)} is no text of at most {_LONGEST_NAME} characters")
    if mechanism is not None and mechanism not in RANDOMIZERS.names:
        known = ", ".join(RANDOMIZERS.names)
        raise PlanError(f"mechanism={quoted(mechanism)} is unknown; give one of {known}")
    best, rows = compare(encoders, allowed, p, omega, mechanism)
    terms = LocalTerms(
        encoder=best[0],
        randomizer=best[1],
        budget=allowed,
        order=p,
        weights=omega,
        name=name,
        alternatives=rows,
        curator=fitted.terms,
    )
    return LocalPlan(terms, asked)


def _asked(question: Any) -> tuple[Mean | Marginals, list[AbstractEncoder]]:  # noqa: ANN401
    """Return the question, and the encoders that it has whatever the domain's ellipsoid is."""
    if isinstance(question, AbstractDomain):
        question = Mean([f"x{i}" for i in range(question.dimension)], question)
    if isinstance(question, Marginals):
        return question, encoders_of_marginals(question)
    if not isinstance(question, Mean):
        raise PlanError(
            f"question={type(question).__name__} is nothing that devices report; give a domain, "
            "ln.Mean(columns, domain) or ln.Marginals(sizes, way=1)",
        )
    if question.domain.source is not question.domain:
        raise PlanError("ln.Moments are not reported by devices; give ln.Mean(columns, domain)")
    if question.drops_missing:
        raise PlanError('missing="drop" leaves reports out; use "center" or a point')
    return question, []


def _curator(question: Mean | Marginals, order: float, weights: Any, rtol: float) -> Plan:  # noqa: ANN401
    """Return the least Gaussian noise on one record: its certificate bounds Γ_p(K − K)."""
    return plan(
        question,
        budget=gaussian_dp(1.0),
        relation="substitute",
        size=1,
        order=order,
        weights=weights,
        rtol=rtol,
    )
