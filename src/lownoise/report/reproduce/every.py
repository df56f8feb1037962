# SPDX-License-Identifier: Apache-2.0
"""What 001 and 003 say of every mechanism, and of bodies, whose constants are ours."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds import HARDT_TALWAR, HENZINGER, geometric_down
from lownoise.planning import stream
from lownoise.privacy import approx_dp, pure_dp, zcdp
from lownoise.questions import Prefix
from lownoise.report.reproduce.claim import Claim, Comparison
from lownoise.sets.domains import Ball, Box, Points, image
from lownoise.theory.every import (
    counting_bound,
    factorization_error,
    parity_bound,
    workload_bound,
)
from lownoise.theory.factorization import factorize
from lownoise.theory.isotropy import isotropic, projection_bound, section_bounds
from lownoise.theory.volume import volume_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.sets.domains import AbstractDomain

_BUDGETS = (zcdp(0.005), approx_dp(1.0, 1e-6))
_ORDERS = (1.0, 2.0, math.inf)


@cache
def square_root(rounds: int) -> float:
    """Return the root mean square error of the square root mechanism at unit noise."""
    plan = stream(Prefix(rounds), budget=zcdp(0.5), strategy="square_root")
    return float(plan.certificate.upper)


def _counting(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for n in (64, 2**12) if quick else (64, 2**12, 2**18):
        for budget in _BUDGETS:
            for most in (1, None):
                yield Comparison(
                    case=f"n = {n:,}, {budget}, {'bits' if most else 'counts of any size'}",
                    claimed=constant * counting_bound(n, budget, most=most).value,
                    relation="≥",
                    found=square_root(n) / budget.gaussian_parameter(),
                )


def _parities(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for d, w in ((6, 2), (20, 3)) if quick else ((6, 2), (20, 3), (100, 5)):
        for budget in _BUDGETS:
            yield Comparison(
                case=f"d = {d}, w = {w}, {budget}",
                claimed=constant * parity_bound(d, w, budget).value,
                relation="≥",
                found=math.sqrt(math.comb(d, w)) / budget.gaussian_parameter(),
            )


def _mechanism(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare the error of the best factors' mechanism with that of a stream of the same sums."""
    for n in (8, 64) if quick else (8, 64, 256):
        found = factorize(np.tril(np.ones((n, n))), rtol=1e-9)
        for budget in _BUDGETS:
            error = factorization_error(found.left, found.right, budget)
            plan = stream(Prefix(n), budget=budget, strategy="optimal")
            yield Comparison(
                case=f"running sums, n = {n}, {budget}",
                claimed=constant * error.value / math.sqrt(n),
                relation="=",
                found=float(plan.certificate.upper),
                within=1e-6,
            )


def _any(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for seed in range(2 if quick else 6):
        W = np.random.default_rng(seed).normal(size=(5, 9))
        best = factorize(W)
        for budget in _BUDGETS:
            yield Comparison(
                case=f"random W, seed {seed}, {budget}",
                claimed=constant * workload_bound(best, budget).value,
                relation="≥",
                found=best.certificate.upper / budget.gaussian_parameter(),
            )


def _complex(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for seed in range(2 if quick else 6):
        W = np.random.default_rng(seed).normal(size=(4, 6))
        yield Comparison(
            case=f"random W, seed {seed}",
            claimed=constant * factorize(W + 0j).certificate.upper,
            relation="=",
            found=factorize(W).certificate.upper,
            within=1e-5,
        )


def _diagonal(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for d in (2, 7) if quick else (2, 7, 50):
        values = np.random.default_rng(d).normal(size=d)
        yield Comparison(
            case=f"d = {d}",
            claimed=constant * float(np.linalg.norm(values)),
            relation="=",
            found=factorize(np.diag(values)).certificate.upper,
            within=1e-5,
        )


def _bodies(d: int) -> Iterator[tuple[str, AbstractDomain, float]]:
    """Return images of bodies by random maps, and L_K in closed form."""
    map_of = np.random.default_rng(d).normal(size=(d, d))
    root = math.exp(math.lgamma(d + 1) / d)
    round_one = math.exp(math.lgamma(d / 2 + 1) / d) / math.sqrt(math.pi * (d + 2))
    yield "parallelepiped", image(map_of, Box(-np.ones(d), np.ones(d))), 1 / math.sqrt(12)
    yield "ellipsoid", image(map_of, Ball(d)), round_one
    cross = root / math.sqrt(2 * (d + 1) * (d + 2))
    yield "cross-polytope", image(map_of, Ball(d, order=1)), cross
    simplex = root / ((d + 1) ** ((d + 1) / (2 * d)) * math.sqrt(d + 2))
    yield "simplex", Points(np.vstack([np.zeros(d), map_of])), simplex


def _isotropic(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for d in (2, 6) if quick else (2, 6, 30):
        for name, domain, known in _bodies(d):
            yield Comparison(
                case=f"{name}, d = {d}",
                claimed=constant * known,
                relation="=",
                found=isotropic(domain).constant,
                within=1e-8,
            )


def _sections(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare sections by coordinates, whose volumes are known, with both bounds."""
    for d in (3,) if quick else (3, 6):
        for order in _ORDERS:
            position = isotropic(Ball(d, order=order))
            side = math.exp(position.log_volume / d)
            for k in range(1, d):
                inner = math.exp(isotropic(Ball(k, order=order)).log_volume) / side**k
                found = inner ** (1 / (d - k))
                low, high = section_bounds(position, k)
                case = f"ball of ℓ_{order:g}, d = {d}, k = {k}"
                yield Comparison(case=case, claimed=constant * low.value, relation="≥", found=found)
                yield Comparison(
                    case=case, claimed=high.value / constant, relation="≤", found=found
                )


def _projections(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for d in (2, 4) if quick else (2, 4, 9):
        sides = np.arange(d, 0, -1.0)
        position = isotropic(Box(-sides, sides))
        for k in range(1, d + 1):
            yield Comparison(
                case=f"box of sides 2, 4, …, {2 * d}, k = {k}",
                claimed=constant * projection_bound(position, k).value,
                relation="≥",
                found=2 * float(np.prod(sides[:k])) ** (1 / k),
            )


def _people(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare the bound on histograms of people with geometric noise on each count."""
    for d in (1, 4) if quick else (1, 4, 32):
        for epsilon in (0.01, 0.5):
            yield Comparison(
                case=f"{d} counts, ε = {epsilon:g}",
                claimed=constant * volume_bound(np.eye(d), pure_dp(epsilon)).value,
                relation="≥",
                found=math.sqrt(d) * geometric_down(epsilon),
            )


_geometry, _streams = partial(Claim, HARDT_TALWAR), partial(Claim, HENZINGER)

BODIES = (
    _geometry(
        "Fact 7.6", "L_K = det(M_K)^{1/(2d)}/Vol(K)^{1/d}, the same for every T·K", _isotropic
    ),
    _geometry(
        "Proposition 7.3",
        "K isotropic with volume 1: Vol_k(K ∩ E)^{1/(d−k)} is between c/L_K and C/L_K",
        _sections,
        note="The constants are ours; sections along coordinates are compared.",
    ),
    _geometry(
        "Proposition 7.7",
        "Vol_k(P·K)^{1/k} ≥ α·(σ₁⋯σ_k)^{1/(2k)}, P onto the k leading eigenvectors",
        _projections,
        note="α is ours, from L_K of the body; the source leaves it open.",
    ),
    _geometry(
        "Theorem B.1",
        "for tables of people the volume bound holds as well",
        _people,
        note="By our proof, for every ε; compared with geometric noise.",
    ),
)

MECHANISMS = (
    _streams(
        "Theorem 4",
        "every (ε, δ)-DP mechanism of running sums errs c·ln(n)/ε in the mean, some table",
        _counting,
        note="The constant is ours, for bits and for counts; compared with the square root.",
    ),
    _streams(
        "Theorem 9, every mechanism",
        "every (ε, δ)-DP mechanism errs c·√C(d, w)/ε on parities of weight w, some table",
        _parities,
        note="The constant is ours; compared with Gaussian noise on each parity.",
    ),
    _streams(
        "Theorem 36, the mechanism",
        "left·(right·x + noise) errs ‖left‖_F·‖right‖·C_{ε,δ}",
        _mechanism,
        note="C_{ε,δ} is replaced by the exact curve's; compared with a stream's plan.",
    ),
    _streams(
        "Theorem 36, every mechanism",
        "every (ε, δ)-DP mechanism errs c·γ_F(W)/ε on some table",
        _any,
        note="The constant is ours; compared with Gaussian noise of the best factors.",
    ),
    _streams("Fact 44", "for a real W complex factors are no better than real ones", _complex),
    _streams("Lemma 48", "γ_F of a diagonal matrix is ‖D‖_F", _diagonal),
)
