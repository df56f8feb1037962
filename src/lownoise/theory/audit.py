# SPDX-License-Identifier: Apache-2.0
"""What somebody else's covariance hides, whether it can be true, and what it wastes.

All of it is in the lengths √(sᵀ(n²Σ)⁺s) of the changes s in S (S = LK − LK, or ±LK for sums, where
n counts as 1). Let r be the greatest of them.

* Gaussian noise N(0, Σ) on the mean has the density ratio of N(0, 1) against N(r, 1) at worst: it
  is r-GDP and (r²/2)-zCDP, and no less (002, Lemma 13).
* *Any* unbiased ρ-zCDP mechanism has √Var θᵀ𝓜 ≥ κh_S(θ) on every dataset, κ = 1/(n√D) with D of
  `bounds.unbiased` (under `add_remove` e^{2ρ} − 1), so κS ⊂ √Σ·B₂ (002, Lemma 35): r² ≤ D. A
  change s that is longer refutes the claim, along θ = Σ⁺s.
* The least ‖std‖_p of Gaussian noise as private is Γ_p(S)/(nr) (002, Theorem 15 and Lemma 36).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds import (
    NIKOLOV_TANG,
    Bound,
    divergence_up,
    unbiased_add_remove,
    unbiased_substitute,
)
from lownoise.bounds.unbiased import expm1
from lownoise.certificate import order_norm
from lownoise.errors import DomainError, PlanError, quoted
from lownoise.numbers.arguments import checked_order, checked_queries, checked_weights
from lownoise.numbers.arrays import frozen
from lownoise.numbers.arrays import matrix as checked_matrix
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import FEW, ROUGH, SLACK, grown, growth, shrunk, square_up
from lownoise.privacy import GaussianEvent
from lownoise.privacy.budget import checked_budget
from lownoise.privacy.readings import within
from lownoise.sensitivity.relations import checked_word
from lownoise.sets.domains import AbstractDomain, difference_body, hull, image
from lownoise.theory.bound import checked_records
from lownoise.theory.enclosure import enclose
from lownoise.theory.quadratics import farthest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget

_ALIKE = 1e-9  # how far off symmetry, definiteness or a flat rounding may put a number
_NONE = 1e-12  # a variance beside the largest, each coordinate in its own deviation
_FAR = 2.0**420  # deviations and changes whose squares and ratios are floats
_STEPS = 80  # towards the direction that wastes most
_SHRINKS = 0.93


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class Direction:
    """A combination θ of answers: the deviation of its noise beside what its changes need.

    Args:
        vector: θ, shape (m,), of length 1 in the greatest entry.
        deviation: √(θᵀΣθ).
        change: at most h_S(θ)/n, the most that one record moves θ's answer by.
        factor: the deviation over the least that changes along θ alone need for as much privacy:
            1 where they are as long as any.
    """

    vector: Vector
    deviation: float
    change: float
    factor: float


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class Audit:
    """What a covariance hides and wastes; made by `audit`.

    Args:
        private: whether Gaussian noise of this covariance is proved to keep the budget.
        possible: False where no unbiased mechanism of this budget has this covariance, whatever its
            noise, on any dataset: `tightest` proves it.
        mu: at least and at most the μ of Gaussian noise of this covariance (infinite where some
            change meets no noise).
        rho: at least its ρ, so the least budget that it needs is hardly less.
        deviation: ‖ω·standard deviations‖_p, in the unit of the answers.
        least: at least and at most the least that Gaussian noise as private as this has.
        excess: `deviation` over the least, at least and at most; infinite where none is needed, and
            (nan, nan) where this noise has no privacy to compare at.
        bound: what no unbiased mechanism of the budget is below.
        tightest: where changes are longest beside the noise: they need all of it.
        wasteful: where noise is largest beside the changes, at least (found by a search); a factor
            of infinity where nothing moves.
        budget: what was asked for.
        order: p.
        relation: "substitute", of the mean, or "add_remove", of the sum.
    """

    private: bool
    possible: bool
    mu: tuple[float, float]
    rho: float
    deviation: float
    least: tuple[float, float]
    excess: tuple[float, float]
    bound: Bound = field(repr=False)
    tightest: Direction
    wasteful: Direction
    budget: Budget = field(repr=False)
    order: float = field(repr=False)
    relation: str = field(repr=False)


def audit(
    covariance: ArrayLike,
    domain: AbstractDomain,
    budget: Budget,
    *,
    size: int | None = None,
    order: float = 2.0,
    relation: str = "substitute",
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
) -> Audit:
    """Return what a covariance of somebody's answers hides, and what it wastes.

    The answers are L·μ(X), the mean of n records, or under "add_remove" L·Σxᵢ, the sum.

    Args:
        covariance: Σ, shape (m, m), of the answers. Directions with less than 1e-12 of the largest
            variance (each answer in its own deviation) count as without noise, and those along
            which changes are shorter than 1e-9 of the longest count as not moving.
        domain: K.
        budget: `ln.zcdp`, `ln.gaussian_dp` or `ln.approx_dp`; of the last, `possible` and `bound`
            speak of unbiased mechanisms that are zCDP at the ρ of the Gaussian it buys.
        size: n, public; only and always under "substitute".
        order: p in [2, ∞].
        relation: "substitute" or "add_remove".
        weights: ω > 0, what one unit of each answer's error matters, shape (m,); ones by default.
        workload: L, shape (m, d); the identity by default.

    Raises:
        PlanError: where an argument is out of range, or the covariance is none.
        DomainError: where the domain is of a kind that cannot be enclosed.
        BudgetError: where no Gaussian noise keeps the budget.

    Examples:
        >>> import lownoise as ln
        >>> simplex = ln.Points(np.eye(3))
        >>> found = ln.theory.audit(np.eye(3) / 100**2, simplex, ln.zcdp(1.01), size=100)
        >>> found.private, found.possible, round(found.rho, 6)
        (True, True, 1.0)
        >>> round(found.excess[0], 6), found.wasteful.factor  # noise on the sum, which is known
        (1.224745, inf)
    """
    if not isinstance(domain, AbstractDomain):
        raise DomainError(f"domain={type(domain).__name__} is no domain; give ln.Box(…) or such")
    d, order = domain.dimension, checked_order(order)
    word = checked_word(relation, "audit")
    n = _checked_size(size, counted=word.counted)
    queries = np.eye(d) if workload is None else checked_queries(workload, d)
    omega = checked_weights(weights, len(queries))
    mu_allowed = checked_budget(budget).gaussian_parameter()
    changes = hull(domain, image(-np.eye(d), domain)) if word.counted else difference_body(domain)
    sigma = _checked_covariance(covariance, len(queries))
    _check_sizes(sigma, n, np.abs(queries) @ np.maximum(np.abs(domain.lower), np.abs(domain.upper)))
    seen = _Noise(sigma * float(n) ** 2)
    longest = _Longest(seen, domain if word.counted else changes, queries, counted=word.counted)
    rho = square_up(mu_allowed) / 2
    far = expm1(2 * rho) if word.counted else divergence_up(rho)
    proof = enclose(changes, order=order, weights=weights, workload=workload).certificate
    low, high = longest.low, longest.high
    deviation = float(order_norm(omega * np.sqrt(np.maximum(np.diag(seen.matrix), 0)), order)) / n
    least = (
        shrunk(proof.lower / n / high) if high else 0.0,
        grown(proof.upper / n / low) if low else 0.0,
    )
    wide = unbiased_add_remove if word.counted else unbiased_substitute
    bounds = (proof.lower, rho) if word.counted else (proof.lower, n, rho)
    return Audit(
        private=bool(math.isfinite(high) and (not high or within(budget, GaussianEvent(high)))),
        possible=math.isfinite(low) and not low * low * (1 - SLACK) > grown(far),
        mu=(low, high),
        rho=square_up(high) / 2,
        deviation=deviation,
        least=least,
        excess=_excess(deviation, least) if math.isfinite(high) else (math.nan, math.nan),
        bound=_bound(wide(*bounds), budget, order, far, n=n, counted=word.counted),
        tightest=longest.tightest(n),
        wasteful=longest.wasteful(n),
        budget=budget,
        order=order,
        relation=word.name,
    )


def _excess(deviation: float, least: tuple[float, float]) -> tuple[float, float]:
    """Return the ratio from both sides; 1 where nothing is needed and nothing added."""
    if not deviation:
        return 1.0, 1.0
    low, high = least
    return (shrunk(deviation / high) if high else math.inf, deviation / low if low else math.inf)


def _bound(
    value: float, budget: Budget, order: float, far: float, *, n: int, counted: bool
) -> Bound:
    """Return Lemma 36 with the constants of `bounds.unbiased`."""
    rho = checked_budget(budget).gaussian_parameter() ** 2 / 2
    return Bound(
        value=value,
        side="lower",
        quantity=f"‖standard deviations‖_{order:g} of the {'sum' if counted else 'mean'}",
        constant=shrunk(1 / (n * math.sqrt(far))) if far else math.inf,
        binds=f"every unbiased {rho:.6g}-zCDP mechanism",
        over="every dataset",
        theorem=f"{NIKOLOV_TANG}, Lemma 36",
        ours="the constant",
        hypotheses=("neighbours add or remove a record",)
        if counted
        else ("neighbours replace one of n records, n public",),
    )


class _Noise:
    """n²Σ and a whitening of its range: A with AΣAᵀ ≈ 1, and how far from it.

    Each coordinate is brought to its own deviation first, so that units do not matter.
    """

    def __init__(self, matrix: Vector) -> None:
        self.matrix = matrix
        own = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        self.noisy = np.flatnonzero(own > 0)
        scale = own[self.noisy]
        values, axes = np.linalg.eigh(
            matrix[np.ix_(self.noisy, self.noisy)] / np.outer(scale, scale)
        )
        kept = values > _NONE * max(values[-1] if values.size else 0.0, 1.0)
        m = len(matrix)
        self.white = np.zeros((int(kept.sum()), m))
        self.white[:, self.noisy] = (axes[:, kept] / np.sqrt(values[kept])).T / scale
        # directions without noise: whole coordinates, and combinations of others
        self.silent = np.zeros((m - len(self.white), m))
        quiet = np.setdiff1d(np.arange(m), self.noisy)
        self.silent[np.arange(quiet.size), quiet] = 1.0
        self.silent[quiet.size :, self.noisy] = axes[:, ~kept].T / scale
        product = self.white @ matrix @ self.white.T - np.eye(len(self.white))
        lost = growth(2 * m + 9) * (np.abs(self.white) @ np.abs(matrix) @ np.abs(self.white.T))
        self.defect = float(np.linalg.norm(np.abs(product) + lost)) * (1 + SLACK)

    def deviation(self, theta: Vector) -> float:
        """Return at least √(θᵀ·n²Σ·θ), shape (m,)."""
        size = np.abs(theta)
        lost = growth(2 * theta.size + 3) * float(size @ np.abs(self.matrix) @ size)
        return math.sqrt(max(float(theta @ self.matrix @ theta), 0.0) + lost)


class _Longest:
    """The greatest √(sᵀ(n²Σ)⁺s) over the changes, from both sides, and directions of both kinds.

    Args:
        noise: n²Σ.
        body: K − K, or K where it and its opposite are the changes.
        queries: L, shape (m, d).
        counted: which of the two.
    """

    def __init__(
        self, noise: _Noise, body: AbstractDomain, queries: Vector, *, counted: bool
    ) -> None:
        self.noise, self.body, self.queries, self.counted = noise, body, queries, counted
        d = body.dimension
        size = np.maximum(np.abs(body.lower), np.abs(body.upper))
        rows = noise.white @ queries
        lost = growth(rows.shape[1] + len(queries) + 9) * (
            np.abs(noise.white) @ (np.abs(queries) @ size)
        )
        found = None
        self.high = 0.0
        if len(rows):
            found = farthest(body, np.vstack([rows, np.zeros(d)]), np.zeros(d))
            length = found.upper + float(np.linalg.norm(lost))
            whitened = length / math.sqrt(1 - noise.defect) if noise.defect < 1 else math.inf
            self.high = grown(whitened, FEW)
        candidates = [] if found is None else [noise.white.T @ (rows @ found.point)]
        for theta in noise.silent:
            along = float(self._supports(theta[None] @ queries)[0])
            limit = _ALIKE * float(np.abs(theta) @ (np.abs(queries) @ size))
            if along > limit:
                self.high = math.inf
                candidates.append(theta)
        self._directions = [v for v in candidates if np.any(v)] or [np.eye(len(queries))[0]]
        ratios = [self._ratio(theta) for theta in self._directions]
        self.best = self._directions[int(np.argmax(ratios))]
        self.low = min(max(ratios), self.high)

    def _supports(self, directions: Vector) -> Vector:
        """Return h_S along each row, in coordinates of records, shape (k,)."""
        points = self.body.extreme(directions)
        found = np.einsum("kd,kd->k", points, directions)
        if self.counted:
            found = np.maximum(
                found, -np.einsum("kd,kd->k", self.body.extreme(-directions), directions)
            )
        return np.asarray(np.maximum(found, 0.0))

    def _change(self, theta: Vector) -> float:
        """Return at most h_S(θ)."""
        size = np.maximum(np.abs(self.body.lower), np.abs(self.body.upper))
        lost = growth(self.queries.size + 9) * float(np.abs(theta) @ (np.abs(self.queries) @ size))
        return max(shrunk(float(self._supports(theta[None] @ self.queries)[0]), ROUGH) - lost, 0.0)

    def _ratio(self, theta: Vector) -> float:
        """Return at most h_S(θ)/√(θᵀ·n²Σ·θ), which no r is below."""
        change, deviation = self._change(theta), self.noise.deviation(theta)
        return change / deviation if deviation else (math.inf if change else 0.0)

    def _direction(self, theta: Vector, n: int, factor: float) -> Direction:
        theta = theta / np.max(np.abs(theta))
        return Direction(
            vector=frozen(theta),
            deviation=self.noise.deviation(theta) / n,
            change=self._change(theta) / n,
            factor=factor,
        )

    def tightest(self, n: int) -> Direction:
        """Return where the changes are longest beside the noise."""
        return self._direction(self.best, n, 1.0)

    def wasteful(self, n: int) -> Direction:
        """Return where the noise is largest beside the changes, as far as a search finds it.

        On |u| = 1, θ = Aᵀu, all deviations are 1 and the width is convex: from many starts it steps
        against its gradient, the change that is extreme, and keeps the narrowest.
        """
        white = self.noise.white
        if not len(white):
            return self.tightest(n)
        rows = white @ self.queries
        random = np.random.default_rng(0).standard_normal((2 * len(white), len(white)))  # starts
        seen = rows @ self.body.extreme(np.vstack([rows, -rows, random @ rows])).T
        axes = np.linalg.eigh(seen @ seen.T)[1].T
        answers = (self.noise.matrix @ white.T)[self.noise.noisy]
        u = _unit(np.vstack([axes, np.eye(len(white)), answers, random]))
        best, narrowest, step = u[0], math.inf, 0.5
        for _ in range(_STEPS):
            points = self.body.extreme(u @ rows) @ rows.T
            widths = np.einsum("kr,kr->k", points, u)
            if self.counted:
                other = self.body.extreme(-u @ rows) @ rows.T
                opposite = -np.einsum("kr,kr->k", other, u)
                points = np.where((opposite > widths)[:, None], -other, points)
                widths = np.maximum(widths, opposite)
            at = int(np.argmin(widths))
            if widths[at] < narrowest:
                best, narrowest = u[at], float(widths[at])
            slope = points - widths[:, None] * u
            u = _unit(u - step * _unit(slope))
            step *= _SHRINKS
        theta = white.T @ best
        flat = narrowest <= _ALIKE * max(self.low, 0.0) or not self.low
        return self._direction(theta, n, math.inf if flat else max(self.low / narrowest, 1.0))


def _unit(rows: Vector) -> Vector:
    """Return rows of length 1, shape (k, r); those of length 0 as they are."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(size > 0, size, 1.0))


def _checked_size(size: int | None, *, counted: bool) -> int:
    """Return n, which counts as 1 for sums.

    Raises:
        PlanError: where it is missing or not wanted.
    """
    if counted:
        if size is not None:
            raise PlanError(f"size={quoted(size)} is private under add_remove; leave it out")
        return 1
    return checked_records(size)


def _check_sizes(covariance: Vector, n: int, changes: Vector) -> None:
    """Refuse deviations that floats cannot set beside changes, both times n, shape (m,) each.

    Raises:
        PlanError: as said.
    """
    own = np.sqrt(np.diag(covariance)) * n
    own = own[own > 0]
    far = max(float(np.max(own, initial=1.0)), float(np.max(changes)))
    if far > _FAR or far > _FAR * float(np.min(own, initial=1.0)):
        raise PlanError(
            "covariance and domain have sizes too unlike for floats; bring them to units in which "
            "both are between 1e-60 and 1e60"
        )


def _checked_covariance(covariance: ArrayLike, answers: int) -> Vector:
    """Return Σ, made exactly symmetric.

    Raises:
        PlanError: where it is no covariance of so many answers.
    """
    found = checked_matrix(covariance, field="covariance", error=PlanError)
    if found.shape != (answers, answers):
        raise PlanError(
            f"covariance has shape {found.shape} for {answers} answers; give one row and one "
            "column each",
        )
    own = np.diag(found)
    if np.max(np.abs(found)) > _FAR**2:
        raise PlanError(f"covariance has a number beyond {_FAR**2:.0e}; use a larger unit")
    if np.any(own < 0):
        i = int(np.argmax(own < 0))
        raise PlanError(f"covariance[{i}, {i}]={own[i]:g} is a variance below 0; give none")
    size = np.sqrt(np.outer(own, own))
    off = np.abs(found - found.T) > _ALIKE * size
    if np.any(off):
        i, j = (int(k) for k in np.argwhere(off)[0])
        raise PlanError(
            f"covariance[{i}, {j}]={found[i, j]:g} is not covariance[{j}, {i}]={found[j, i]:g}; "
            "give a symmetric matrix",
        )
    scale = np.where(own > 0, np.sqrt(own), 1.0)
    relative = (found + found.T) / 2 / np.outer(scale, scale)
    quiet = (own == 0)[:, None] & (found != 0)
    least = float(np.linalg.eigvalsh(relative)[0])
    if np.any(quiet) or least < -_ALIKE * answers:
        raise PlanError(
            f"covariance is not positive semidefinite (its correlations have the eigenvalue "
            f"{least:.3g}); give one that is",
        )
    return np.asarray((found + found.T) / 2)
