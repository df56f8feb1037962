# SPDX-License-Identifier: Apache-2.0
"""Nikolov & Tang 2023, *General Gaussian noise mechanisms*: its claims about Γ_p."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds import NIKOLOV_TANG
from lownoise.report.reproduce.claim import Claim, Comparison
from lownoise.sets.domains import (
    AbstractDomain,
    Ball,
    Box,
    Ellipsoid,
    Points,
    TensorPower,
    kronecker,
    minkowski_sum,
    product,
    projection,
)
from lownoise.theory.enclosure import enclose
from lownoise.theory.factorization import factorize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.certificate import Certificate
    from lownoise.numbers.arrays import Vector

ORDERS = (2.0, 3.0, 8.0, math.inf)
GAP = 2e-6  # what a search leaves between its bounds, at most


def _inverse(order: float) -> float:
    """Return 1/p."""
    return 0.0 if math.isinf(order) else 1 / order


def named(order: float) -> str:
    """Return "p = 2"."""
    return "p = ∞" if math.isinf(order) else f"p = {order:g}"


def gamma(domain: AbstractDomain, order: float) -> Certificate:
    """Return bounds on Γ_p."""
    return enclose(domain, order=order).certificate


def _middle(proved: Certificate) -> float:
    return math.sqrt(proved.lower * proved.upper)


def signs_of(d: int, count: int) -> Vector:
    """Return points of the cube that everybody computes alike: bits of multiples of an odd number.

    Shape (count, d).
    """
    bits = (np.arange(1, count + 1)[:, None] * 2_654_435_761 >> (np.arange(d) + 7)) & 1
    return np.asarray(2.0 * bits - 1)


def _boxes(quick: bool) -> Iterator[tuple[str, Vector, Vector]]:  # noqa: FBT001
    rng = range(1, 4 if quick else 8)
    for d in rng:
        low = -np.arange(1.0, d + 1)
        yield f"box, d = {d}", low, low + np.sqrt(np.arange(1.0, d + 1))


def _norm(values: Vector, order: float) -> float:
    exponent = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    return float(np.sum(np.abs(values) ** exponent) ** (1 / exponent))


def _box_as(share: float, constant: float, *, quick: bool) -> Iterator[Comparison]:
    for name, low, high in _boxes(quick):
        for order in ORDERS:
            yield Comparison(
                case=f"{name}, {named(order)}",
                claimed=constant * share * _norm(high - low, order),
                relation="=",
                found=_middle(gamma(Box(low, high), order)),
                within=GAP,
            )


def _box(constant: float, *, quick: bool) -> Iterator[Comparison]:
    yield from _box_as(0.5, constant, quick=quick)


def _box_printed(constant: float, *, quick: bool) -> Iterator[Comparison]:
    yield from _box_as(1.0, constant, quick=quick)


def _cube(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for d in (1, 4, 50) if quick else (1, 4, 50, 1000):
        for order in ORDERS:
            yield Comparison(
                case=f"[−2, 5]^{d}, {named(order)}",
                claimed=constant * d ** (0.5 + _inverse(order)) * 7 / 2,
                relation="=",
                found=_middle(gamma(Box(np.full(d, -2.0), np.full(d, 5.0)), order)),
                within=GAP,
            )


def _ellipsoid(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for d in (2, 3) if quick else (2, 3, 6):
        factor = np.tril(1.0 / (1 + np.add.outer(np.arange(d), np.arange(d))))
        for order in ORDERS:
            diagonal = np.sqrt(np.einsum("ij,ij->i", factor, factor))
            size = float(np.linalg.norm(diagonal, np.inf if math.isinf(order) else order))
            yield Comparison(
                case=f"ellipsoid, d = {d}, {named(order)}",
                claimed=constant * size,
                relation="=",
                found=_middle(gamma(Ellipsoid(factor, np.arange(float(d))), order)),
                within=GAP,
            )


def _product(constant: float, *, quick: bool) -> Iterator[Comparison]:
    pairs: tuple[tuple[str, AbstractDomain, AbstractDomain], ...] = (
        ("ball × list of points", Ball(3, radius=2.0), Points(signs_of(2, 5) * [1.0, 3.0])),
        ("segment × ℓ₄ ball", Box([0.0], [1.0]), Ball(2, radius=1.0, order=4)),
    )
    for name, first, second in pairs[: 1 if quick else 2]:
        for order in ORDERS:
            t = 2.0 if math.isinf(order) else 2 * order / (order + 2)
            parts = [_middle(gamma(part, order)) for part in (first, second)]
            yield Comparison(
                case=f"{name}, {named(order)}",
                claimed=constant * (parts[0] ** t + parts[1] ** t) ** (1 / t),
                relation="=",
                found=_middle(gamma(product(first, second), order)),
                within=2 * GAP,
            )


def _kronecker(constant: float, *, quick: bool) -> Iterator[Comparison]:
    first, second = Box([-1.0, -2.0], [1.0, 2.0]), Box([-3.0, -1.0], [3.0, 1.0])
    for order in ORDERS[:2] if quick else ORDERS:
        parts = [_middle(gamma(part, order)) for part in (first, second)]
        yield Comparison(
            case=f"two boxes about 0, {named(order)}",
            claimed=constant * parts[0] * parts[1],
            relation="=",
            found=_middle(gamma(kronecker(first, second), order)),
            within=2 * GAP,
        )


def _norm_like(constant: float, *, quick: bool) -> Iterator[Comparison]:
    first = Box([0.0, 0.0], [1.0, 3.0])
    for order in ORDERS[:2] if quick else ORDERS:
        for name, second in (
            ("box + disc", Ball(2, radius=1.5)),
            ("two boxes", Box([-1.0, 0.0], [2.0, 1.0])),
        ):
            most = gamma(first, order).upper + gamma(second, order).upper
            yield Comparison(
                case=f"{name}, {named(order)}",
                claimed=most / constant,
                relation="≤",
                found=gamma(minkowski_sum(first, second), order).lower,
            )


def _projected(constant: float, *, quick: bool) -> Iterator[Comparison]:
    domain = Points(signs_of(5, 9) * [1.0, 2.0, 3.0, 4.0, 5.0])
    for order in ORDERS[:2] if quick else ORDERS:
        whole = gamma(domain, order).upper
        yield Comparison(
            case=f"3 of 5 coordinates of a list, {named(order)}",
            claimed=whole / constant,
            relation="≤",
            found=gamma(projection(domain, [0, 2, 4]), order).lower,
        )


def _factors(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for d, columns in ((2, 3), (4, 6)) if quick else ((2, 3), (4, 6), (6, 40)):
        matrix = signs_of(d, columns).T + 0.25 * np.arange(d)[:, None]
        for order in (2.0, math.inf):
            yield Comparison(
                case=f"{d} × {columns}, {named(order)}",
                claimed=constant * _middle(factorize(matrix, order=order).certificate),
                relation="=",
                found=_middle(gamma(Points(np.hstack([matrix, -matrix]).T), order)),
                within=2 * GAP,
            )


def _shifted(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare Γ_p of a list with the best factors of its points moved; of one point it is 0."""
    sizes = ((2, 3), (4, 6)) if quick else ((2, 3), (4, 6), (6, 30))
    for d, columns in sizes:
        matrix = signs_of(d, columns).T + 0.25 * np.arange(d)[:, None]
        for order in (2.0, math.inf):
            yield Comparison(
                case=f"{d} × {columns}, {named(order)}",
                claimed=constant * _middle(factorize(matrix, order=order, shift=True).certificate),
                relation="=",
                found=_middle(gamma(Points(matrix.T), order)),
                within=2 * GAP,
            )
    yield Comparison(
        case="one column",
        claimed=0.0,
        relation="≤",
        found=factorize(np.full((3, 4), 7.0), shift=True).certificate.upper,
    )


def _moments_of(base: str, constant: float, share: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare Γ_p of tensors with (d/ℓ)^{ℓ/p} or (d/ℓ)^{ℓ/p + ℓ/2} and the same without 1/ℓ.

    `share` is the power of 1/ℓ^{ℓ/2} on the lower bound.
    """
    sizes = ((2, 2), (4, 2), (3, 3)) if quick else ((2, 2), (4, 2), (8, 2), (3, 3), (6, 3), (4, 4))
    for d, power in sizes:
        for order in ORDERS:
            found = gamma(TensorPower(d, power, base), order)
            exponent = power * _inverse(order) + (power / 2 if base == "cube" else 0.0)
            case = f"d = {d}, ℓ = {power}, {named(order)}"
            least = (d / power) ** exponent * power ** (-share * power / 2)
            yield Comparison(case=case, claimed=constant * least, relation="≥", found=found.upper)
            yield Comparison(
                case=case, claimed=d**exponent / constant, relation="≤", found=found.lower
            )


def _cube_moments(constant: float, *, quick: bool) -> Iterator[Comparison]:
    yield from _moments_of("cube", constant, 0.0, quick=quick)


def _ball_moments(constant: float, *, quick: bool) -> Iterator[Comparison]:
    yield from _moments_of("ball", constant, 1.0, quick=quick)


def _ball_moments_printed(constant: float, *, quick: bool) -> Iterator[Comparison]:
    yield from _moments_of("ball", constant, 0.0, quick=quick)


def marginal_points(bits: int, ways: int) -> Points:
    """Return all ℓ-fold products of the one-way marginals of d bits, as the source lists them."""
    table = np.array(np.meshgrid(*[[0.0, 1.0]] * bits)).reshape(bits, -1).T
    one = np.stack([table, 1 - table], axis=2).reshape(len(table), -1)
    found = one
    for _ in range(ways - 1):
        found = np.einsum("ni,nj->nij", found, one).reshape(len(one), -1)
    return Points(found)


def _one_way(constant: float, *, quick: bool) -> Iterator[Comparison]:
    segment = Points([[1.0, 0.0], [0.0, 1.0]])
    for bits in (1, 7) if quick else (1, 7, 300):
        for order in ORDERS:
            share = _inverse(order)
            yield Comparison(
                case=f"d = {bits}, {named(order)}",
                claimed=constant * 2 ** (share - 1) * bits ** (share + 0.5),
                relation="=",
                found=_middle(gamma(product(*[segment] * bits), order)),
                within=GAP,
            )


def _marginals(constant: float, *, quick: bool) -> Iterator[Comparison]:
    sizes = ((2, 2), (3, 2)) if quick else ((2, 2), (3, 2), (4, 2), (5, 2), (3, 3))
    for bits, ways in sizes:
        for order in ORDERS:
            found = gamma(marginal_points(bits, ways), order)
            most = bits ** (ways * (_inverse(order) + 0.5))
            case = f"d = {bits}, ℓ = {ways}, {named(order)}"
            least = most / (2 * math.sqrt(2) * ways) ** ways
            yield Comparison(case=case, claimed=constant * least, relation="≥", found=found.upper)
            yield Comparison(case=case, claimed=most / constant, relation="≤", found=found.lower)


def few_domains(quick: bool) -> tuple[tuple[str, AbstractDomain], ...]:  # noqa: FBT001
    """Return domains of several kinds, with their names."""
    few = (
        ("cube, d = 4", Box(np.zeros(4), np.ones(4))),
        ("ball, d = 5", Ball(5)),
        ("simplex, N = 6", Points(np.eye(6))),
    )
    return few if quick else (*few, ("signs, 40 × 7", Points(signs_of(7, 40))))


def _duality(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare the best ellipsoid found with the best tr(cov(P)^{1/2}) found: they meet."""
    for name, domain in few_domains(quick):
        for order in ORDERS:
            found = gamma(domain, order)
            yield Comparison(
                case=f"{name}, {named(order)}",
                claimed=constant * found.lower,
                relation="=",
                found=found.upper,
                within=GAP,
            )


claim_of = partial(Claim, NIKOLOV_TANG)

CLAIMS = (
    claim_of("Lemma 19", "Γ_p of an ellipsoid AB₂ + u is √tr_{p/2}(AAᵀ)", _ellipsoid),
    claim_of("Theorem 20", "Γ_p(K + L) ≤ Γ_p(K) + Γ_p(L)", _norm_like),
    claim_of("Theorem 23", "Γ_p of ±the columns of W is γ_(p)(W)", _factors),
    claim_of(
        "Theorem 23, shifted", "Γ_p of the columns of W is the least γ_(p)(W + v1ᵀ)", _shifted
    ),
    claim_of(
        "Theorem 26",
        "the least ellipsoid and the greatest tr((D cov(P) D)^{1/2}) are equal",
        _duality,
        note="Both are found at once; each is proved on its own.",
    ),
    claim_of("Lemma 60", "Γ_p(K × L)^t = Γ_p(K)^t + Γ_p(L)^t, t = 2p/(p + 2)", _product),
    claim_of(
        "Equation (26)",
        "Γ_p of the box [a, b] is ½‖b − a‖_{2p/(p+2)}",
        _box,
        printed=_box_printed,
        correction="The print lacks the ½ that equation (27) has.",
    ),
    claim_of("Equation (27)", "Γ_p([a, b]^d) = d^{1/2 + 1/p}(b − a)/2", _cube),
    claim_of("Lemma 62", "Γ_p(K ⊗ L) = Γ_p(K)Γ_p(L) for symmetric K, L", _kronecker),
    claim_of("Lemma 63", "Γ_p of a coordinate projection is at most Γ_p", _projected),
    claim_of(
        "Theorem 64, cube",
        "(d/ℓ)^{ℓ/p + ℓ/2} ≤ Γ_p(conv{x^⊗ℓ : x ∈ {−1, 1}^d}) ≤ d^{ℓ/p + ℓ/2}",
        _cube_moments,
        note="d ≥ 2: of d = 1 and an even ℓ one point is left, and Γ_p = 0.",
    ),
    claim_of(
        "Theorem 64, ball",
        "(d/ℓ)^{ℓ/p} ℓ^{−ℓ/2} ≤ Γ_p(conv{x^⊗ℓ : x ∈ B₂}) ≤ d^{ℓ/p}",
        _ball_moments,
        printed=_ball_moments_printed,
        correction="The display lacks the factor ℓ^{−ℓ/2} that its proof gives.",
    ),
    claim_of(
        "Theorem 65, ℓ = 1",
        "Γ_p of the one-way marginals of d bits is 2^{1/p − 1}d^{1/p + 1/2}",
        _one_way,
    ),
    claim_of(
        "Theorem 65",
        "d^{ℓ/2 + ℓ/p}/(2√2ℓ)^ℓ ≤ Γ_p(ℓ-way marginals) ≤ d^{ℓ/p + ℓ/2}",
        _marginals,
        note="The upper bound's proof gives 2^{ℓ/p} times as much; the display held everywhere.",
    ),
)
