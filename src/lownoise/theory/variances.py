# SPDX-License-Identifier: Apache-2.0
"""Any convex function of the variances as the error: certified from both sides by enclosures.

The variances v = diag(LMLᵀ) of ellipsoids center + √M·B₂ around K make a set V whose upper side is
convex, because (x − c)ᵀM⁻¹(x − c) is convex in (c, M). Let f be convex and non-decreasing. A slope
g at u gives f(v) ≥ f(u) + g·(v − u), and so does every mean of such: f(v) ≥ h·v + b, h ≥ 0. Over V,
h·v is at least Γ₂² with the weights √h, which an enclosure at p = 2 proves from below:

    min f ≥ b + Γ₂(√h·LK)².

Its ellipsoid is a new member of V, and means of members are members: f at the best mean is the
upper side. Neither rests on how h and the mean were found (`simplicial`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds import NIKOLOV_TANG, Bound, divergence_up
from lownoise.errors import PlanError
from lownoise.numbers.arguments import checked_number, checked_rtol
from lownoise.numbers.arrays import matrix, vector
from lownoise.numbers.rounding import grown, shrunk
from lownoise.privacy import GaussianDP, Zcdp
from lownoise.sets.domains import AbstractDomain, difference_body
from lownoise.theory.bound import budget_of, checked_records
from lownoise.theory.simplicial import ConvexEnclosure, Members, Search, Tangents, VarianceError
from lownoise.theory.spectral import checked_count

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector


def power_error(power: float = 1.0, *, weights: ArrayLike | None = None) -> VarianceError:
    """Return Σ(ωⱼvⱼ)^power: at power 1 the weighted sum of variances, at p/2 ‖std‖_p^p.

    Args:
        power: at least 1.
        weights: ω ≥ 0, shape (m,); ones by default.

    Raises:
        PlanError: where they are out of range.

    Examples:
        >>> power_error(2.0)(np.array([1.0, 3.0]))
        (10.0, array([2., 6.]))
    """
    k = checked_number("power", power)
    if not 1 <= k < math.inf:
        raise PlanError(f"power={k:g} makes no convex error; give at least 1")
    omega = _checked_omega(weights)

    def error(variances: Vector) -> tuple[float, Vector]:
        _check_answers("weights", omega.size, variances)
        seen = omega * variances
        return float(np.sum(seen**k)), k * omega * seen ** (k - 1)

    return error


def largest_error(groups: ArrayLike | None = None) -> VarianceError:
    """Return maxᵢ Σⱼ Gᵢⱼvⱼ: the largest of several weighted sums of variances.

    Args:
        groups: G ≥ 0, a row each, shape (k, m); by default each answer alone.

    Raises:
        PlanError: where a number is below 0.

    Examples:
        >>> largest_error([[1, 1, 0], [0, 0, 3]])(np.array([1.0, 1.5, 0.5]))
        (2.5, array([1., 1., 0.]))
    """
    if groups is not None:
        rows = matrix(groups, field="groups", error=PlanError)
        if np.any(rows < 0):
            raise PlanError("groups has a number below 0; give none")

    def error(variances: Vector) -> tuple[float, Vector]:
        own = np.eye(variances.size) if groups is None else rows
        _check_answers("groups", own.shape[1], variances)
        sums = own @ variances
        most = int(np.argmax(sums))
        return float(sums[most]), own[most]

    return error


def _check_answers(field: str, count: int, variances: Vector) -> None:
    if count not in (1, variances.size):
        raise PlanError(f"{field} is of {count} answers, and there are {variances.size}; give each")


def _checked_omega(weights: ArrayLike | None) -> Vector:
    omega = vector([1.0] if weights is None else weights, field="weights", error=PlanError)
    if np.any(omega < 0):
        raise PlanError("weights has a number below 0; give none")
    return omega


def enclose_convex(
    domain: AbstractDomain,
    error: VarianceError,
    *,
    workload: ArrayLike | None = None,
    scale: float = 1.0,
    rtol: float = 1e-5,
    iterations: int = 100,
) -> ConvexEnclosure:
    """Return the ellipsoid around a translate of the domain whose variances have the least error.

    For the mean of n records under `substitute` give `ln.difference_body(domain)`; Gaussian noise
    of ρ-zCDP has the variances v/(2ρn²), which is the scale where the error is not homogeneous.

    Args:
        domain: K.
        error: f with a slope, convex and non-decreasing in variances v ≥ 0: `power_error`,
            `largest_error` or any function that returns (f(v), slope at v). A value below an
            earlier tangent, or a slope below 0, is refused; that it is convex elsewhere, too, is
            taken on trust.
        workload: L, shape (m, d); the identity by default.
        scale: what variances are multiplied with before the error sees them.
        rtol: the relative gap to stop at, from 1e-12.
        iterations: the most enclosures at p = 2 that are made.

    Raises:
        PlanError: where an argument is out of range, or the error is not convex or falls.
        DomainError: where the domain is of a kind that cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> box = ln.Box([0, 0], [2, 4])
        >>> found = enclose_convex(box, power_error(2.0))  # ‖std‖₄⁴, in closed form
        >>> exact = (1 ** (4 / 3) + 2 ** (4 / 3)) ** 3
        >>> found.lower <= exact <= found.upper, found.gap < 1e-5
        (True, True)
    """
    if not callable(error):
        raise PlanError(
            f"error={type(error).__name__} is no function; give ln.theory.power_error()"
        )
    asked = Members(domain, workload)
    tangents = Tangents(error, _positive("scale", scale))
    steps = checked_count("iterations", iterations)
    return Search(asked, tangents, checked_rtol(rtol)).run(steps)


def variance_bound(
    domain: AbstractDomain,
    budget: Zcdp | GaussianDP,
    error: VarianceError,
    *,
    size: int,
    workload: ArrayLike | None = None,
    rtol: float = 1e-5,
) -> Bound:
    """Return what a convex error of variances is at least, for every unbiased mechanism.

    Its covariance covers κ(K−K), κ = 1/(n√D(ρ)) (002, Lemma 35, with the constant of
    `concentrated_bound`), so its variances are κ² times those of an ellipsoid around K − K.

    Args:
        domain: K, the records' domain.
        budget: `ln.zcdp(rho)` or `ln.gaussian_dp(mu)`.
        error: as of `enclose_convex`, of the variances of the mean.
        size: n ≥ 1, public; neighbours substitute one record.
        workload: L, shape (m, d).
        rtol: as of `enclose_convex`.

    Raises:
        PlanError, DomainError: as `enclose_convex`.
        BudgetError: where the budget is of another kind.

    Examples:
        >>> import lownoise as ln
        >>> found = variance_bound(ln.Box([0], [1]), ln.zcdp(1e-4), power_error(), size=10)
        >>> round(found.value * 2e-4 * 10**2, 3)  # of the Gaussian's variance
        0.983
    """
    own = budget_of(budget, (Zcdp, GaussianDP), "ln.zcdp(rho) or ln.gaussian_dp(mu)")
    rho = own.rho if isinstance(own, Zcdp) else grown(own.mu**2 / 2)
    n = checked_records(size)
    factor = shrunk(1 / (divergence_up(rho) * float(n) ** 2))
    if not factor:
        raise PlanError(f"budget={own} bounds no variance that is a float; give one of less rho")
    body = difference_body(domain)
    found = enclose_convex(body, error, workload=workload, scale=factor, rtol=rtol)
    return Bound(
        value=found.lower,
        side="lower",
        quantity="the error of the variances",
        constant=factor,
        binds=f"every unbiased mechanism that is {rho:.6g}-zCDP",
        over="every dataset",
        theorem=f"{NIKOLOV_TANG}, Lemma 35",
        ours="the constant, and convex errors",
        hypotheses=("n is public, and neighbours substitute one record", "the error is convex"),
    )


def _positive(field: str, value: float) -> float:
    number = checked_number(field, value)
    if not 0 < number < math.inf:
        raise PlanError(f"{field}={value} is out of range; give one above 0")
    return number
