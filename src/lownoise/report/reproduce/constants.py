# SPDX-License-Identifier: Apache-2.0
"""The constants that proofs give, written a second time, beside the numbers that bounds state.

Other rows hold bounds against mechanisms, and a bound that were too great by less than its room
would pass there; here none does. Each case has a Γ, a volume or singular values in closed form.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds import HARDT_TALWAR, HENZINGER, NIKOLOV_TANG
from lownoise.privacy import approx_dp, local_dp, pure_dp, zcdp
from lownoise.report.reproduce.claim import Claim, Comparison
from lownoise.sets.domains import Ball, Box, Points, difference_body
from lownoise.theory.audit import audit
from lownoise.theory.bound import gamma_down
from lownoise.theory.enclosure import enclose
from lownoise.theory.every import workload_bound, worst_table_bound
from lownoise.theory.spectral import prefix_trace_norm, trace_norm_lower, trace_norm_upper
from lownoise.theory.unbiased import (
    approximate_bound,
    concentrated_bound,
    distributional_bound,
    gaussian_bound,
    local_bound,
    pure_bound,
)
from lownoise.theory.variances import power_error, variance_bound
from lownoise.theory.volume import volume_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.bounds import Bound

_SIZE, _RHO, _EPSILON, _DELTA = 40, 0.5, 0.5, 1e-6
_ONE = math.sqrt(3.0)  # Γ₂ of the unit ball of R³; its differences have twice that
_KINDS = 8  # of records that are counted: the hull of all changes is a cross-polytope


def _equal(
    case: str, constant: float, claimed: float, found: Bound | float, within: float = 1e-6
) -> Comparison:
    number = found if isinstance(found, float) else found.value
    return Comparison(
        case=case, claimed=constant * claimed, relation="=", found=number, within=within
    )


def _three(epsilon: float) -> float:
    """Return C, at least ∫(P⁺ − P⁻)²/Q of three laws with densities within e^ε."""
    e = math.exp(epsilon)
    return (e - 1) ** 2 * max(1 / e, 2 / (e + 2))


def _unbiased(constant: float, *, quick: bool) -> Iterator[Comparison]:
    del quick
    ball, n, two = Ball(3), _SIZE, 2 * _ONE
    one = 2 * math.sinh(_EPSILON / 2)  # e^{−ε/2}(e^ε − 1)
    pure, local, rho = pure_dp(_EPSILON), local_dp(_EPSILON), zcdp(_RHO)
    step, apart = math.expm1(2 * _RHO), 2 * math.exp(2 * _RHO) - 2 * math.exp(-_RHO)
    theirs = [
        ("42", pure_bound(ball, pure, size=n, form="published"), _ONE / (2 * n * one)),
        (
            "43",
            concentrated_bound(ball, rho, size=n, form="published"),
            _ONE / (2 * n * math.sqrt(step)),
        ),
        (
            "55",
            local_bound(ball, local, size=n, form="published"),
            _ONE / (2 * math.sqrt(n) * one),
        ),
        ("3, 15", gaussian_bound(ball, rho, size=n), two / (n * math.sqrt(2 * _RHO))),
    ]
    for place, found, claimed in theirs:
        yield _equal(f"Theorem {place}", constant, claimed, found)
    for epsilon in (_EPSILON, 2.0):
        most = two / math.sqrt(_three(epsilon))
        budget = f"ε = {epsilon:g}"
        found = pure_bound(ball, pure_dp(epsilon), size=n)
        yield _equal(f"Theorem 42, ours, {budget}", constant, most / n, found)
        found = local_bound(ball, local_dp(epsilon), size=n)
        yield _equal(f"Theorem 55, ours, {budget}", constant, most / math.sqrt(n), found)
    found = concentrated_bound(ball, rho, size=n)
    yield _equal("Theorem 43, two neighbours", constant, two / (n * math.sqrt(apart)), found)
    found = concentrated_bound(ball, rho, relation="add_remove")
    yield _equal("Theorem 43, of sums", constant, _ONE / math.sqrt(step), found)
    found = pure_bound(ball, pure, relation="add_remove")
    yield _equal("Theorem 42, of sums", constant, _ONE / one, found)
    within = n * math.log1p(math.expm1(_EPSILON) / n)
    found = distributional_bound(ball, pure, size=n)
    yield _equal("Theorem 59, ours", constant, two / (n * math.sqrt(_three(within))), found)
    yield from _either(constant)
    triangle = Points([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]])
    wide = enclose(difference_body(triangle)).certificate.upper
    of_records = gamma_down(enclose(triangle), differences=True)
    yield _equal("Γ(K − K) from Γ(K), regular triangle", constant, wide, of_records)
    variance = variance_bound(ball, rho, power_error(), size=n)
    yield _equal("Lemma 35, variances", constant, two**2 / (n * n * apart), variance, 1e-4)
    found_rho = audit(np.eye(3) * 0.01, ball, rho, size=n).rho
    yield _equal("Lemma 13, ρ of N(0, 1/100)", constant, (2 / n / 0.1) ** 2 / 2, found_rho)


def _either(constant: float) -> Iterator[Comparison]:
    """Compare with the best of many a, from the text of the theorem."""
    a = _EPSILON + _EPSILON * np.geomspace(1e-4, 16.0, 4000)
    e = np.exp(a)
    of_one = _DELTA / -np.expm1(_EPSILON - a)
    square = (e - 1) ** 2 * np.maximum(1 / e, 2 / (e + 2))
    lost = of_one * (4 + 2 / e)
    here = np.sqrt(square + np.where(e <= 2, square, square / (e - 1)) * lost)  # noqa: PLR2004
    beside = 6 * np.sqrt(lost)  # two neighbours, three dimensions
    best = np.max((1 - lost) / (np.sqrt(here) + np.sqrt(beside)) ** 2)
    budget = approx_dp(_EPSILON, _DELTA)
    found = approximate_bound(Ball(3), budget, size=_SIZE)
    yield _equal("Theorem 4", constant, 2 * _ONE / _SIZE * float(best), found, 1e-3)
    lost = of_one * (1 + 1 / e)
    here, beside = np.sqrt((e - 1) ** 2 / e + lost), 3 * np.sqrt(lost)
    best = np.max((1 - lost) / (np.sqrt(here) + np.sqrt(beside)) ** 2)
    found = approximate_bound(Ball(3), budget, relation="add_remove")
    yield _equal("Theorem 4, of sums", constant, _ONE * float(best), found, 1e-3)


def _pure(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare bounds on counts of 8 kinds of records, whose hull is a cross-polytope."""
    del quick
    epsilon, matrix = 0.1, np.eye(_KINDS)
    packed = averaged = 0.0
    for k in range(1, _KINDS + 1):
        ball = math.pi ** (k / 2) / math.gamma(k / 2 + 1)
        volume = 2.0**k / math.gamma(k + 1)
        for m in range(1, 20 * _KINDS):
            share = (volume / (2 * ball * math.exp(epsilon * m))) ** (1 / k)
            packed = max(packed, m / (2 * math.sqrt(2)) * share)
        averaged = max(averaged, math.sqrt(k / (k + 2)) * 2 / (epsilon * ball ** (1 / k)))
    budget = pure_dp(epsilon)
    found = volume_bound(matrix, budget, people=False, form="packing")
    yield _equal("Corollary 3.4, by packing", constant, packed, found)
    found = volume_bound(matrix, budget, people=False)
    yield _equal("Corollary 3.4, ours", constant, averaged, found)
    z = np.arange(-2000, 2001)
    chance = np.exp(-epsilon * np.abs(z))
    deviation = math.sqrt(float(z**2 @ chance / np.sum(chance)))  # of two-sided geometric noise
    found = worst_table_bound(Box([-1], [1]), budget)
    yield _equal("along a direction, ours", constant, deviation, found)


def _linear(constant: float, *, quick: bool) -> Iterator[Comparison]:
    n = 64 if quick else 300
    prefix = np.tril(np.ones((n, n)))
    values = np.linalg.svd(prefix, compute_uv=False)
    trace = float(np.sum(values))
    least, most = trace / math.sqrt(n), math.sqrt(trace * float(values[0]))
    yield _equal("Lemma 1, below", constant, least, trace_norm_lower(prefix))
    yield _equal("Lemma 1, above", constant, most, trace_norm_upper(prefix))
    yield _equal("Theorem 3", constant, trace, prefix_trace_norm(n))
    most_records = 7
    steps = [(g, most_records // g) for g in range(1, most_records + 1)]
    for rho in (2.0, 0.01):
        pair = max(m / 2 * math.exp(-rho * m * m / 2) for m in range(1, most_records + 1))
        chain = max(
            g * k / (math.exp(rho * g * g) + (k - 1) * math.sqrt(math.expm1(2 * rho * g * g)) + 1)
            for g, k in steps
        )
        one = workload_bound(np.eye(1), zcdp(rho), most=most_records)
        yield _equal(f"counts to 7, ρ = {rho:g}", constant, max(pair, chain), one)
    # of 14 records half go through each of two changes
    mean = worst_table_bound(Box([0], [1]), zcdp(0.01), size=2 * most_records)
    yield _equal("a mean of 14 records", constant, max(pair, chain) / 14, mean)
    budget = approx_dp(1.0, 1e-9)
    q = math.exp(-1.0)
    found = workload_bound(np.eye(1), budget)
    yield _equal("counts of any size", constant, math.sqrt(2 * q) / (1 - q), found)


CONSTANTS = (
    Claim(
        NIKOLOV_TANG,
        "Theorems 3–59, constants",
        "bounds on unbiased mechanisms are their Γ times the constant of the proof",
        _unbiased,
        note="A ball of 3 dimensions, in closed form; the constants are ours, written twice.",
    ),
    Claim(
        HARDT_TALWAR,
        "Theorem 3.3, constants",
        "bounds by volume are those of a cross-polytope, in closed form",
        _pure,
        note="8 counts; the constants are ours, written twice.",
    ),
    Claim(
        HENZINGER,
        "Theorems 3–36, constants",
        "bounds on linear answers are their singular values times the constant of the proof",
        _linear,
        note="The constants are ours, written twice.",
    ),
)
