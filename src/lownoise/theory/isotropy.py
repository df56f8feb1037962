# SPDX-License-Identifier: Apache-2.0
"""Isotropic position, the isotropic constant L_K, and the volumes that follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds.volume import ball_log_volume
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import SLACK
from lownoise.sets.domains import AbstractDomain
from lownoise.theory.bound import HARDT_TALWAR, Bound
from lownoise.theory.every import checked_budget
from lownoise.theory.spectral import checked_count
from lownoise.theory.uniform import symmetric_hull, uniform_law

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.privacy.budget import AbstractBudget


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class IsotropicPosition:
    """The linear map that makes a body alike in all directions, and its isotropic constant.

    transform·(K − center) has the volume of K and the second moment L_K²·vol(K)^{2/d} in every
    direction (001, Definition 2.8 and Fact 2.9). Made by `isotropic`.

    Args:
        constant: L_K = det(covariance)^{1/(2d)}/vol(K)^{1/d} (001, Fact 7.6).
        error: how far L_K may be off: what floats lose, or four standard errors of a sample.
        how: "closed form", "tiling" (by simplices or parallelepipeds) or "sample".
        transform: shape (d, d), of determinant 1, symmetric.
        center: the mean of a uniform point, shape (d,).
        covariance: of a uniform point, shape (d, d).
        log_volume: ln vol(K).
        symmetric: whether K is known to be symmetric about its center.
    """

    constant: float
    error: float
    how: str
    transform: Vector
    center: Vector
    covariance: Vector
    log_volume: float
    symmetric: bool

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.center.size

    @property
    def eigenvalues(self) -> Vector:
        """The eigenvalues σ₁ ≥ … ≥ σ_d of the covariance, shape (d,)."""
        return np.asarray(np.linalg.eigvalsh(self.covariance)[::-1])

    @property
    def eigenvectors(self) -> Vector:
        """Unit vectors u₁, …, u_d with those eigenvalues, as rows, shape (d, d)."""
        return np.asarray(np.linalg.eigh(self.covariance)[1].T[::-1])

    @property
    def stretch(self) -> float:
        """The least c with K in c-approximately isotropic position (001, Definition 6.1)."""
        geometric = math.exp(math.fsum(np.log(self.eigenvalues)) / self.dimension)
        return math.sqrt(float(self.eigenvalues[0]) / geometric)


def isotropic(domain: AbstractDomain | ArrayLike) -> IsotropicPosition:
    """Return the isotropic position of a body, and L_K.

    Closed forms are used for boxes, ellipsoids, balls of ℓ_r and of balls joined by ℓ_r, simplices,
    their difference bodies, products and images of those; tilings for zonotopes and for hulls in up
    to eight dimensions (symmetric ones in up to seventeen); random directions, with a stated error,
    for other unit balls.

    Args:
        domain: K; of a list of points their hull. Or a matrix F, shape (d, n), for F·B₁ⁿ, the hull
            of its columns and their opposites: the body of 001.

    Raises:
        DomainError: where K has no volume, or is of a kind that no way is known for.
        PlanError: where a matrix is no table of finite numbers.

    Examples:
        >>> import lownoise as ln
        >>> cube = isotropic(ln.Box([0, 0, 0], [1, 2, 4]))
        >>> round(cube.constant * math.sqrt(12), 9), cube.how
        (1.0, 'closed form')
        >>> (cube.transform.diagonal() * [1, 2, 4]).round(9)  # a cube of volume 8
        array([2., 2., 2.])
    """
    if isinstance(domain, AbstractDomain):
        law = uniform_law(domain)
    else:
        law = symmetric_hull(matrix(domain, field="domain", error=PlanError).T)
    d = law.center.size
    values, vectors = np.linalg.eigh(law.covariance)
    log = math.fsum(np.log(values)) / d
    constant = math.exp(log / 2 - law.log_volume / d)
    transform = (vectors * (math.exp(log / 2) / np.sqrt(values))) @ vectors.T
    return IsotropicPosition(
        constant=constant,
        error=constant * law.error / d,
        how=law.how,
        transform=frozen(transform),
        center=law.center,
        covariance=law.covariance,
        log_volume=law.log_volume,
        symmetric=law.symmetric,
    )


def least_isotropic_constant(d: int) -> float:
    """Return L of the ball, v_d^{−1/d}/√(d+2): the least of any body, and of any density.

    Of densities of at most 1 on R^d the one on a ball of volume 1 has the least E‖x‖².

    Raises:
        PlanError: where d is no number of dimensions.

    Examples:
        >>> round(least_isotropic_constant(1) * math.sqrt(12), 9)
        1.0
    """
    d = checked_count("d", d)
    return math.exp(-ball_log_volume(d) / d) / math.sqrt(d + 2)


def most_isotropic_constant(d: int) -> float:
    """Return 1/(√3·v_d^{1/d}), which no symmetric convex body's L is above (ours).

    A marginal of a symmetric body is a mixture of uniform laws on [−a, a], a ≤ h, so that its
    variance is at most h²/3: a body with covariance σ²I holds the ball of radius √3·σ.

    Raises:
        PlanError: where d is no number of dimensions.

    Examples:
        >>> round(most_isotropic_constant(1) * math.sqrt(12), 9)
        1.0
    """
    d = checked_count("d", d)
    return math.exp(-ball_log_volume(d) / d) / math.sqrt(3)


def section_bounds(position: IsotropicPosition, dimension: int) -> tuple[Bound, Bound]:
    """Return both bounds on Vol_k(K ∩ E)^{1/(d−k)}, K in isotropic position with volume 1.

    E is any k-dimensional subspace (001, Proposition 7.3, with constants that are ours): with
    j = d − k it is between L_j/L_K and e_j·M_j/L_K, where L_j is the least isotropic constant in j
    dimensions, M_j the most (`most_isotropic_constant`) and e_j = √((j+2)!)/(j!)^{(j+2)/(2j)} ≤ e.

    Args:
        position: of K, symmetric.
        dimension: k, from 1 to d − 1.

    Raises:
        PlanError: where K is not known to be symmetric, or k is out of range.

    Examples:
        >>> import lownoise as ln
        >>> low, high = section_bounds(isotropic(ln.Box([-1] * 3, [1] * 3)), 2)
        >>> round(low.value, 6), round(high.value, 6)  # plane sections of a cube: 1 to √2
        (1.0, 2.44949)
    """
    d = position.dimension
    k = checked_count("dimension", dimension, least=1, most=d - 1)
    _check_symmetric(position)
    j = d - k
    high = position.constant + position.error
    low = max(position.constant - position.error, 1e-300)
    stretch = math.exp(math.lgamma(j + 3) / 2 - math.lgamma(j + 1) * (j + 2) / (2 * j))
    least, most = least_isotropic_constant(j), stretch * most_isotropic_constant(j)
    lower = Bound(
        value=least / high * (1 - SLACK),
        side="lower",
        quantity=f"Vol_{k}(K ∩ E)^{{1/{j}}}",
        constant=least,
        binds=f"every {k}-dimensional subspace E",
        over="the body in isotropic position with volume 1",
        theorem=f"{HARDT_TALWAR}, Proposition 7.3",
        ours="the constant",
        hypotheses=("K is convex and symmetric",),
    )
    upper = replace(lower, value=most / low * (1 + SLACK), side="upper", constant=most)
    return lower, upper


def projection_bound(position: IsotropicPosition, dimension: int) -> Bound:
    """Return what Vol_k(P·K)^{1/k} is at least, P onto the k leading eigenvectors.

    001, Proposition 7.7, (σ₁⋯σ_k)^{1/(2k)} times a factor with constants that are ours; the better
    of two: √3·v_k^{1/k}, because P·K holds that ellipsoid (`most_isotropic_constant`); and
    (L_{d−k}/L_K)^{(d−k)/k}/L_K, by Corollary 7.4 (P·K holds the section) after Lemma 7.5. At k = d
    the second is an equality.

    Args:
        position: of K, symmetric.
        dimension: k, from 1 to d.

    Raises:
        PlanError: where K is not known to be symmetric, or k is out of range.

    Examples:
        >>> import lownoise as ln
        >>> box = isotropic(ln.Box([0, 0, 0], [4, 2, 1]))
        >>> [round(projection_bound(box, k).value ** k, 4) for k in (1, 2, 3)]  # of 4, 8 and 8
        [4.0, 8.0, 8.0]
    """
    d = position.dimension
    k = checked_count("dimension", dimension, least=1, most=d)
    _check_symmetric(position)
    high = position.constant + position.error
    direct = math.sqrt(3) * math.exp(ball_log_volume(k) / k)
    share = (d - k) / k
    by_section = (least_isotropic_constant(d - k) / high) ** share / high if k < d else 1 / high
    constant = max(direct, by_section)
    logs = math.fsum(np.log(position.eigenvalues[:k])) / (2 * k)
    return Bound(
        value=constant * math.exp(logs) * (1 - max(SLACK, position.error / high)),
        side="lower",
        quantity=f"Vol_{k}(P·K)^{{1/{k}}}",
        constant=constant,
        binds=f"the projection onto the {k} leading eigenvectors",
        over="the body",
        theorem=f"{HARDT_TALWAR}, Proposition 7.7",
        ours="the constant",
        hypotheses=("K is convex and symmetric",),
    )


def k_norm_bound(position: IsotropicPosition, budget: AbstractBudget) -> Bound:
    """Return what the K-norm mechanism errs at most, by L_K: c·((d+1)/ε)·√d·L_K·vol(K)^{1/d}.

    001, Theorem 6.2: E‖noise‖₂ = ((d+1)/ε)·E‖z‖₂ for z uniform in K (Theorem 4.3), and in
    c-approximately isotropic position E‖z‖₂² ≤ d·c²·L_K²·vol(K)^{2/d}. Its own (d+1)·√d has no
    further constant.

    Args:
        position: of K, the body of what neighbours change, symmetric about 0.
        budget: `ln.pure_dp`.

    Raises:
        PlanError: where K is not symmetric about 0, or the budget is not pure.

    Examples:
        >>> import lownoise as ln
        >>> found = k_norm_bound(isotropic(ln.Ball(3)), ln.pure_dp(1.0))  # E‖noise‖ is exactly 3
        >>> round(found.value, 6)
        3.098387
    """
    checked_budget(budget, ("pure_dp",))
    _check_symmetric(position)
    if np.any(np.abs(position.center) > SLACK * np.sqrt(np.diag(position.covariance))):
        raise PlanError(
            "position is of a body about another point than 0; give that of what neighbours change",
        )
    d = position.dimension
    epsilon = float(budget.epsilon)  # type: ignore[attr-defined]
    size = (position.constant + position.error) * math.exp(position.log_volume / d)
    constant = position.stretch * (d + 1) / epsilon * math.sqrt(d)
    return Bound(
        value=constant * size * (1 + SLACK),
        side="upper",
        quantity="E‖error‖_2",
        constant=constant,
        binds=f"the K-norm mechanism under {budget}",
        over="every table",
        theorem=f"{HARDT_TALWAR}, Theorem 6.2",
        hypotheses=(
            "K is convex and symmetric",
            f"K is in {position.stretch:.6g}-approximately isotropic position",
        ),
    )


def _check_symmetric(position: IsotropicPosition) -> None:
    """Refuse a body that is not known to be symmetric.

    Raises:
        PlanError: as said.
    """
    if not position.symmetric:
        raise PlanError(
            "position is of a body that is not known to be symmetric; give that of its difference "
            "body, ln.difference_body(domain)",
        )
