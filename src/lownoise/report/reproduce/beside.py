# SPDX-License-Identifier: Apache-2.0
"""Nikolov & Tang 2023 on mechanisms beside Gaussian noise: exact on one table, sampled, biased."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lownoise.privacy import pure_dp
from lownoise.questions import Parity
from lownoise.release.nearest.answers import MeanAnswers, ParityAnswers
from lownoise.release.nearest.projected import nearest_answers
from lownoise.report.reproduce.claim import Comparison
from lownoise.report.reproduce.gammas import claim_of
from lownoise.sets.domains import Points, TensorPower
from lownoise.theory.comparison import compare_unbiased
from lownoise.theory.counterexample import exact_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Vector
    from lownoise.release.nearest.answers import AbstractAnswers
    from lownoise.theory.counterexample import ExactOn

_RHO = 0.5


def _exact_on(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare the total variation of all pairs of tables of three bits, and the error at X₀."""
    tables = [[[float(b)] for b in bits] for bits in itertools.product((0, 1), repeat=3)]
    for delta in (0.1, 1e-6) if quick else (0.5, 0.1, 1e-3, 1e-6):
        mechanism = exact_on(tables[1], delta=delta)
        off = max(_bias(mechanism, t) for t in tables)
        apart = max(mechanism.total_variation(t, u) for t in tables for u in tables)
        beside = max(mechanism.error(t) for t in tables if _differ(t, tables[1]) == 1)
        yield Comparison(
            case=f"total variation, δ = {delta:g}",
            claimed=delta / constant,
            relation="≤",
            found=float(apart),
        )
        yield Comparison(
            case=f"bias and error on X₀, δ = {delta:g}",
            claimed=0.0,
            relation="=",
            found=float(off) + mechanism.error(tables[1]),
        )
        yield Comparison(
            case=f"error beside X₀ is √((1 − δ)/δ)/n (ours), δ = {delta:g}",
            claimed=constant * math.sqrt((1 - delta) / delta) / 3,
            relation="=",
            found=beside,
            within=1e-12,
        )


def _bias(mechanism: ExactOn, table: list[list[float]]) -> Fraction:
    """Return how far the expected answer is from the mean, exactly."""
    expected = sum((c * a[0] for c, a in mechanism.law(table)), Fraction(0))
    return abs(expected - sum((Fraction(x[0]) for x in table), Fraction(0)) / len(table))


def _differ(table: list[list[float]], other: list[list[float]]) -> int:
    return sum(a != b for a, b in zip(table, other, strict=True))


def _response(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare the error of randomised response on bits with what binds every local mechanism."""
    size = 100
    for odds in (1.1, 1.9) if quick else (1.01, 1.1, 1.5, 1.9, 1.999):
        budget = pure_dp(math.log(odds))
        for name, table in (("all ones", [[1.0]] * size), ("half", [[0.0], [1.0]] * (size // 2))):
            found = compare_unbiased(Points([[0], [1]]), table, budget=budget)
            (row,) = [r for r in found.rows if r.mechanism == "randomized response"]
            yield Comparison(
                case=f"e^ε = {odds:g}, {name}",
                claimed=constant * row.bound.value,
                relation="=",
                found=row.error,
            )


def _simulated(answers: AbstractAnswers, truth: Vector, sigma: float, runs: int) -> float:
    """Return the projection's root mean square error over simulated i.i.d. noise."""
    rng, total = np.random.default_rng(53), 0.0
    for _ in range(runs):
        z = sigma * rng.standard_normal(truth.size)
        unit = float(np.linalg.norm(z))
        near = nearest_answers(truth + z, answers, np.ones(z.size), rtol=1e-3, unit=unit)
        total += float(np.sum((near.point - truth) ** 2))
    return math.sqrt(total / runs)


def _moments(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare the projected second moments of a ball with (ℓΔ/(n√2ρ))^{1/2}·d^{1/4}."""
    for d in (8,) if quick else (8, 16, 24):
        domain = TensorPower(d, 2, "ball")
        truth = np.eye(d).ravel() / d
        for size in (10, 100):
            sigma = math.sqrt(2) / (size * math.sqrt(2 * _RHO))
            yield Comparison(
                case=f"moments of order 2, d = {d}, n = {size}",
                claimed=math.sqrt(2 * sigma) * d**0.25 / constant,
                relation="≤",
                found=_simulated(MeanAnswers(domain, None), truth, sigma, 20),
            )


def _marginals(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare one answer of projected marginals with (2√(2d ln 2)/(n√2ρ))^{1/2}."""
    for d in (6,) if quick else (6, 8, 10):
        question = Parity([f"b{i}" for i in range(d)], [1, 2], outside=0)
        k = question.count
        for size in (10, 30):
            sigma = 2 * math.sqrt(k) / (size * math.sqrt(2 * _RHO))
            found = _simulated(ParityAnswers(question, 1), np.zeros(k), sigma, 20)
            root = 2 * math.sqrt(2 * d * math.log(2)) / (size * math.sqrt(2 * _RHO))
            yield Comparison(
                case=f"2-way marginals of {d} bits, n = {size}",
                claimed=math.sqrt(root) / constant,
                relation="≤",
                found=found / math.sqrt(k),
            )


CLAIMS = (
    claim_of(
        "Theorem 53, proof",
        "any two of its laws are δ apart at most, and it is unbiased on every dataset",
        _exact_on,
        note="Every pair of tables of 3 bits, in fractions. The total variation is δ where means "
        "differ, and 0 where they do not. The error beside X₀ is ours.",
    ),
    claim_of(
        "§1, response",
        "is unbiased; ours: on {0, 1} none that is unbiased and local does better, e^ε ≤ 2",
        _response,
        note="Its error is exact; the bound is ours.",
    ),
    claim_of(
        "§1, moments",
        "the projection mechanism errs by c·d^{1/4}/√(n√ρ) on moments of any order",
        _moments,
        note="Under ρ-zCDP; c = √(ℓΔ/√2), with its proof, is ours. Errors are of 20 runs.",
    ),
    claim_of(
        "§1, marginals",
        "the projection mechanism errs by c·d^{1/4}/√(n√ρ) on an answer of ℓ-way marginals",
        _marginals,
        note="Of one answer: of all of them together, as Theorem 7 counts, it is d^{ℓ/2} times "
        "that. c is ours.",
    ),
)
