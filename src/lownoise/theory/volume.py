# SPDX-License-Identifier: Apache-2.0
"""Volume bounds on pure mechanisms: over all tables, or near any given one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from lownoise.bounds import record_changes, volume_lower_bound
from lownoise.errors import PlanError
from lownoise.numbers.arguments import checked_order, checked_queries, checked_weights
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.rounding import shrunk, up
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.domains import AbstractDomain
from lownoise.theory.bound import HARDT_TALWAR, Bound
from lownoise.theory.every import checked_budget
from lownoise.theory.spectral import check_sizes, checked_count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.bounds import Records
    from lownoise.privacy.budget import AbstractBudget
    from lownoise.sets.bodies import AbstractBody

Form = Literal["averaging", "packing"]
_CONVEX = ("shares", "convex", "near")


def volume_bound(
    domain: AbstractDomain | ArrayLike,
    budget: AbstractBudget,
    *,
    size: int | None = None,
    people: bool = True,
    within: int | None = None,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    power: float = 2.0,
    form: Form = "averaging",
) -> Bound:
    """Return what every ε-DP mechanism errs at least, biased or not, by the volume of a projection.

    Of all projections that leading eigenvectors of a second moment span, the best one counts (001,
    Theorem 3.3 and Corollary 3.4). The source leaves the constant open. `form="packing"` is its
    proof with constants, max over m of (m/(2·2^{1/a}))·(vol_k(PS)/(2v_k·e^{εm}))^{1/k};
    "averaging" is ours, 2√2 times as much in many dimensions and more in few, and holds of tables
    of people, where the source has its Theorem B.1 (docs/theory.md).

    `within=r` says it of each neighbourhood: no mechanism errs less on *all* tables that differ
    from a given one in at most r people, whichever it is. A mechanism that is good on one table and
    near it pays there (ours; the lower side of what 001, section 9, says of smooth sensitivity).

    Args:
        domain: K; or a matrix F, shape (d, n), whose answers F·x are asked of histograms x.
        budget: `ln.pure_dp`.
        size: n, public, where one record is substituted: the bound is on the mean of n; or None,
            records come and go: it is on the sum of x − v, v the domain's center. None with
            a matrix.
        people: with a matrix, whether x counts people; else x may be any real vector and neighbours
            are at ℓ₁ distance 1, the source's model.
        within: r, how many people differ; None for all tables.
        order: p in [2, ∞].
        weights: ω > 0 on the d answers; ones by default.
        power: a, 1 or 2, of the error (E‖ω·error‖_p^a)^{1/a}; the source has 1.
        form: "averaging" or "packing".

    Raises:
        PlanError: where the budget is not pure, an argument is out of range, no volume is known, or
            `form="packing"` is asked of lists of records, whose numbers it does not round.

    Examples:
        >>> import lownoise as ln
        >>> import numpy as np
        >>> cube = volume_bound(ln.Box([-1] * 64, [1] * 64), ln.pure_dp(0.1), size=10**5)
        >>> best = math.sqrt(65 * 66 * 64 / 3) * 2 / 0.1 / 10**5  # K-norm noise
        >>> 3.0 < best / cube.value < 7.0
        True
        >>> packed = volume_bound(np.eye(8), ln.pure_dp(0.1), people=False, form="packing")
        >>> ours = volume_bound(np.eye(8), ln.pure_dp(0.1), people=False)
        >>> 2.8 < ours.value / packed.value < 3.7, packed.theorem
        (True, 'Hardt & Talwar 2010, Corollary 3.4')
    """
    epsilon = up(float(checked_budget(budget, ("pure_dp",)).epsilon))  # type: ignore[attr-defined]
    order = checked_order(order)
    if power not in (1, 2):
        raise PlanError(f"power={power} is no moment of this bound; give 1 or 2")
    if form not in ("averaging", "packing"):
        raise PlanError(f"form={form!r} is not known; give 'averaging' or 'packing'")
    radius = None if within is None else checked_count("within", within)
    body, kind, most = _changes(domain, size, people=people)
    over, hypotheses = "some table", [_model(domain, size, people=people)]
    if radius is not None:
        over = f"some table at distance at most {radius} of any given one"
        if kind in ("convex", "lifted"):
            kind = "near"
        elif kind == "listed":
            radius = max(radius - body.dimension, 0)
            hypotheses.append(f"the given table has more than {within} people of every kind")
        most = min(most, float(radius))
    if form == "packing" and kind not in _CONVEX:
        raise PlanError(
            "form='packing' rounds no numbers of people of a list; leave it out, or give "
            "people=False with a matrix, or a convex domain with size=n",
        )
    found = volume_lower_bound(
        body,
        epsilon=epsilon,
        records=kind,
        most=most,
        weights=checked_weights(weights, body.dimension),
        order=order,
        power=power,
    )
    share = shrunk(1 if size is None else 1 / size)
    value = shrunk(share * (found.value if form == "averaging" else found.packing))
    own = math.exp(found.log_volume / found.dimension) if found.dimension else 0.0
    name = "∞" if math.isinf(order) else f"{order:g}"
    quantity = f"E‖error‖_{name}" if power == 1 else f"(E‖error‖_{name}²)^{{1/2}}"
    whole = people and not isinstance(domain, AbstractDomain)
    return Bound(
        value=value,
        side="lower",
        quantity=quantity,
        constant=value / own if own else 0.0,
        binds=f"every {budget} mechanism, biased or not",
        over=over,
        theorem=f"{HARDT_TALWAR}, {'Theorem B.1' if whole else 'Corollary 3.4'}",
        ours="the proof and the constant" if form == "averaging" else "the constant",
        hypotheses=(*hypotheses, f"a projection to {found.dimension} dimensions"),
    )


def _changes(
    domain: AbstractDomain | ArrayLike,
    size: int | None,
    *,
    people: bool,
) -> tuple[AbstractBody, Records, float]:
    """Return what changes make, how truths are made of them and how many there are.

    Raises:
        PlanError: where an argument is out of range, or nothing is known of the domain.
    """
    if not isinstance(domain, AbstractDomain):
        F = matrix(domain, field="domain", error=PlanError)
        if size is not None:
            raise PlanError("size goes with a domain; a matrix has histograms of any size")
        if not F.size:
            raise PlanError(f"domain has shape {F.shape}; give at least one row and one column")
        check_sizes("domain", F)
        checked_queries(F, F.shape[1])
        return SymmetricPoints(frozen(F.T)), "listed" if people else "shares", math.inf
    n = None if size is None else checked_count("size", size)
    found = record_changes(domain, n, domain.center)
    if found is None:
        raise PlanError(
            f"domain={type(domain).__name__} has no volume that is known; give a box, a ball, an "
            "image of one, or a list of points",
        )
    return found


def _model(domain: AbstractDomain | ArrayLike, size: int | None, *, people: bool) -> str:
    """Return what tables are, in words."""
    if isinstance(domain, AbstractDomain):
        return (
            "tables of any size; neighbours differ by one record that comes or goes"
            if size is None
            else f"tables of {size} records; neighbours differ in one"
        )
    return (
        "histograms of people, of any size; neighbours differ by one person"
        if people
        else "tables are real vectors; neighbours are at ℓ₁ distance 1"
    )
