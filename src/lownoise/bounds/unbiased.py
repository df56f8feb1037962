# SPDX-License-Identifier: Apache-2.0
"""What no unbiased ρ-zCDP mechanism can beat, nor an ε-local one, on any dataset.

*ρ-zCDP.* Both follow the source's plan (002, section 4): a direction θ in which a neighbour moves
the truth by b forces Var θᵀ𝓜(X) ≥ b²/χ² (Hammersley-Chapman-Robins); if b ≥ κ·h_S(θ) for every θ,
then the covariance covers κS/χ: ‖std‖_p ≥ κΓ_p(S)/χ, and (E‖error‖_p²)^{1/2} ≥ ‖std‖_p for p ≥ 2
(Jensen).

Beside them, whether some record may have room in its domain for every change of a body, and what
a bound on a part of a stream's workload is worth for all of it.

χ² is how far apart the laws of three neighbours can be. P⁺, P⁻ and Q are the laws at three tables,
each a neighbour of the other two, so that no divergence D_α of one of them from another exceeds αρ.
They are absolutely continuous with respect to each other, since a D_α is finite in either
direction.

*ε-local.* Each person's report alone is private, so a direction θ costs each of them its width, and
variances add (002, Lemma 54): √Var θᵀ𝓜 ≥ w_K(θ)/(√n·κ) for every θ gives error ≥ Γ_p(K−K)/(√n·κ),
p ≥ 2. The frequencies of k labels are the mean of the vertices of the simplex, and K is these.

For (ε, δ) with δ > 0 there is no such bound: who answers with a record x₀ that is fixed beforehand
with chance 1 − δ, and with x₀ + (x − x₀)/δ else, is unbiased, (0, δ)-private, and exact where every
record is x₀ (002, Theorem 53, of one person).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import FEW, TINY, grown, shrunk

if TYPE_CHECKING:
    from lownoise.sensitivity.relations import Change
    from lownoise.sets.domains import AbstractDomain


_NEAR = 0.5  # ρ, beyond which the second form is far above the first
_LEAST = 1e-300  # ρ, below which floats lose digits


def divergence_up(rho: float) -> float:
    """Return at least ∫(P⁺−P⁻)²/Q: at most 6ρ(1 + O(ρ)) and 2ρ(1 + √(3ρ) + O(ρ)), the lesser.

    Opened, the square is two terms of at most e^{2ρ} (D₂ ≤ 2ρ) less twice ∫P⁺P⁻/Q ≥ (∫√(P⁺P⁻))² =
    e^{−D_{1/2}(P⁺‖P⁻)} ≥ e^{−ρ} (D_{1/2} ≤ D₁ ≤ ρ). That is the lesser bound from ρ = 0.28 on.
    Below, Q gives way to M = (P⁺+P⁻)/2: ∫(P⁺−P⁻)²/M is at most e^{2ρ} − 1, and what M/Q is off 1
    is told from second and third moments (see `docs/theory.md`). Both are ours.

    Args:
        rho: ρ > 0.

    Returns:
        Infinite beyond the floats.

    Examples:
        >>> [round(divergence_up(rho) / (2 * rho), 4) for rho in (1.0, 0.1, 0.01, 1e-4, 1e-8)]
        [7.0212, 1.7528, 1.1802, 1.0173, 1.0002]
    """
    rho = max(rho, _LEAST)  # a mechanism of less is one of that much, too
    apart = grown(2 * expm1(2 * rho) - 2 * math.expm1(-rho), FEW)
    return apart if rho > _NEAR else min(apart, _near(rho))


def _near(rho: float) -> float:
    """Return the second form for 0 < ρ ≤ 1/2: every j ≥ 6 and w ≥ 0 prove one.

    I = ∫(P⁺−P⁻)²/Q is at most R + c·(I/2 − 3I²/(4T)) − wI/4, c = 1/(2λ). j ~ 1/√ρ and w ~ 2ρ are
    near the best.
    """
    root = math.sqrt(rho)
    j = max(6.0, 1.5 * math.sqrt(3.0) / root - 4)
    w = 2 * rho * max(0.0, 1 - 2 * root)
    scale = shrunk((j + 1) / (6 + w * (j + 1)), FEW)  # λ
    c = 1 / (2 * scale)
    two = math.expm1(2 * rho)  # T
    three = min(
        math.expm1(6 * rho),
        (math.sqrt(3.0) - 1) / 4 * math.expm1(12 * rho),
        math.expm1(20 * rho) / 10,
    )
    r = scale * w * w / 2 + (1 - scale * w) * 2 * math.expm1(j * rho) / j + c * three + w * two
    b = 1 + w / 4 - c / 2
    return grown(2 * r / (b + math.sqrt(b * b + 3 * c * r / two)), TINY)


def expm1(x: float) -> float:
    """Return e^x − 1, infinite beyond the floats: a bound by its inverse is 0, and still true."""
    try:
        return math.expm1(x)
    except OverflowError:
        return math.inf


def unbiased_substitute(gamma: float, size: int, rho: float) -> float:
    """Return Γ_p(K−K)/(n√D), D = `divergence_up(ρ)`: error ≥ this, for the mean, on every dataset.

    Let X⁺ and X⁻ replace the first record of X by the two extremes of K along θ, with laws P⁺, P⁻,
    and let Q be the law at X. Any two of the three datasets are neighbours. Then b = w_K(θ)/n and
    (∫T(dP⁺ − dP⁻))² ≤ Var_Q(T)·∫(P⁺−P⁻)²/Q, at most D. D/(2ρ) → 1 as ρ → 0, so the Gaussian fitted
    to K−K is then the best of all at p = 2. Ours; the source's Theorem 43 uses one neighbour at
    half the width, Γ_p(K−K)/(2n√(e^{2ρ} − 1)), which is never more.

    Args:
        gamma: at most Γ_p(K−K), in the unit of the records.
        size: n ≥ 1.
        rho: ρ > 0.

    Examples:
        >>> unbiased_substitute(1.0, 1, 1e-6) * math.sqrt(2e-6) > 0.999  # of the Gaussian's
        True
    """
    if gamma == 0:
        return 0.0
    return shrunk(gamma / (size * math.sqrt(divergence_up(rho))))


def unbiased_add_remove(gamma: float, rho: float) -> float:
    """Return Γ_p(S)/√(e^{2ρ} − 1): error ≥ this, for (sum, count), on every dataset.

    Adding the record of K that is extreme along θ moves the truth by h_S(θ), and χ² ≤ e^{D₂} − 1 ≤
    e^{2ρ} − 1 (002, Theorem 43's argument with a whole width; the constant is ours). Where −θ is
    the extreme one, the same record moves it as far: only the square matters.

    Args:
        gamma: at most Γ_p(S), S = ±(lifted K), in the unit of the answers.
        rho: ρ ≥ 0.

    Examples:
        >>> 0.99 < unbiased_add_remove(1.0, 0.5) * math.sqrt(math.e - 1) < 1.0
        True
    """
    if gamma == 0:
        return 0.0
    divergence = expm1(2 * rho)
    return shrunk(gamma / math.sqrt(divergence))


def may_have_room(domain: AbstractDomain, change: Change, *, both: bool = False) -> bool:
    """Return whether a record x is known with x + s or x − s in the domain for every s of the body.

    Args:
        domain: K.
        change: the body of changes.
        both: whether x + s and x − s are asked for: where several records change at once, a change
            may ask for the one of some and for the other of others.

    Examples:
        >>> from lownoise.sets.domains import Ball, Box, Points
        >>> from lownoise.sensitivity.relations import Change
        >>> [may_have_room(Box([0, 0], [4, 4]), Change(Ball(2, radius=r))) for r in (2, 3)]
        [True, False]
        >>> [may_have_room(Box([0], [w]), Change(Box([-1], [1])), both=True) for w in (1, 2)]
        [False, True]
        >>> one_hot = Points(np.eye(3))
        >>> [may_have_room(one_hot, Change(Points(s))) for s in ([[1, -1, 0]], [[1, 0, 0]])]
        [True, False]
    """
    d = domain.dimension
    return domain.may_have_room(change.changes(np.arange(d), np.ones(d)), both=both)


def block_worth_down(block: int, rounds: int) -> float:
    """Return at most what a bound on γ_F² over `block` rounds is worth, a round, over all rounds.

    W holds the leading block ⌊n/m⌋ times along its diagonal where it is Toeplitz; each block of
    rows of B with its own columns of C factors it, so γ_F(W)² ≥ ⌊n/m⌋·γ_F(block)² (ours).

    Args:
        block: m.
        rounds: n ≥ m.

    Examples:
        >>> block_worth_down(4, 4), block_worth_down(4, 11)
        (0.25, 0.18181818181818182)
    """
    return (rounds // block) / rounds


def unbiased_local(gamma: float, size: int, epsilon: float) -> float:
    """Return Γ_p(K−K)/(√n·√C): error ≥ this, for the mean of n records, on every dataset.

    C = (e^ε − 1)²·max(e^{−ε}, 2/(e^ε + 2)). Let Q be the law of the report of a person's record and
    P⁺, P⁻ those of the two extremes of K along θ; every two of the three have densities within e^ε
    of each other. As in `unbiased_substitute` w_K(θ)² ≤ Var_Q(T)·∫(P⁺−P⁻)²/Q for each unbiased T,
    and the integral is at most C: (p⁺−p⁻)²/q is convex and homogeneous, hence below any linear
    α(p⁺+p⁻)/2 + βq, α + β = C, that is not below it on the corners of [1, e^ε]³. They are α = 2C,
    β = −C where e^ε ≤ 2, else α = e^ε·C/(e^ε − 1), β = −C/(e^ε − 1). Three laws attain it (ours).

    Args:
        gamma: at most Γ_p(K−K), in the unit of the records.
        size: n ≥ 1.
        epsilon: ε > 0, of each person's report, which sees no other's.

    Examples:
        >>> odds = 1.5  # e^ε: randomized response, which says the truth with chance 3/5, meets it
        >>> deviation = math.sqrt(0.6 * 0.4) / (2 * 0.6 - 1)
        >>> round(unbiased_local(1.0, 1, math.log(odds)) / deviation, 9)
        1.0
    """
    rest = math.exp(-epsilon)
    # (e^ε − 1)·e^{−ε/2}, and the same times √(2/(1 + 2e^{−ε})), so that nothing overflows
    half = -math.expm1(-epsilon)
    root = max(1.0, math.sqrt(2 / (1 + 2 * rest)))
    return shrunk(gamma * math.exp(-epsilon / 2) / (math.sqrt(size) * half * root))


def three_laws(epsilon: float) -> tuple[float, float]:
    """Return C, at least ∫(P⁺−P⁻)²/Q of laws with densities within e^ε, and b.

    On a set where they are, outside of which Q has a mass of at most η, the integral is at most
    C + bη: it is at most α + βQ(set), α + β = C and β = −b (see `unbiased_local`).

    Examples:
        >>> [round(value, 6) for value in three_laws(math.log(2))]
        [0.5, 0.5]
    """
    more = math.expm1(epsilon)
    if more <= 1:
        square = more * more / (1 + more)
        return square, square
    square = 2 * more * more / (3 + more)
    return square, square / more


def published_local(gamma: float, size: int, epsilon: float) -> float:
    """Return Γ_p(K−K)/(2√n·e^{−ε/2}(e^ε − 1)): 002, Theorem 55, with its constant.

    Of Lemma 41 one neighbour at half the width has χ² ≤ e^{−ε}(e^ε − 1)² (Lemma 39), and Lemma 54
    adds the variances; w_K is the support function of K−K, for which Lemma 36's proof holds as for
    K. `unbiased_local` is never less.

    Args:
        gamma: at most Γ_p(K−K), in the unit of the records.
        size: n ≥ 1.
        epsilon: ε > 0.

    Examples:
        >>> published_local(1.0, 100, 0.1) < unbiased_local(1.0, 100, 0.1)
        True
    """
    half = -math.expm1(-epsilon)
    return shrunk(gamma * math.exp(-epsilon / 2) / (2 * math.sqrt(size) * half))


def ball_local(mean: float, size: int) -> float:
    """Return √((1/m² − 1)/n): error ≥ this for the mean of a unit ball, on some dataset, at p = 2.

    Let u be uniform on the sphere, and T an unbiased ε-private report of it. Then 1 = E⟨T, u⟩ =
    E⟨T, E[u | report]⟩ ≤ m·E|T|, so that E|T − u|² = E|T|² − 1 ≥ 1/m² − 1 on average over u, and
    for some u. The spherical cap randomizer attains it at every u: it is exactly the least (ours).
    Of n people on the sphere variances add, as in `unbiased_local`.

    Args:
        mean: at least m, the greatest |E[u | report]| of ε, in (0, 1]: `cap_law.greatest_mean_up`.
        size: n ≥ 1.

    Examples:
        >>> round(ball_local(0.5, 3), 9)
        1.0
    """
    return shrunk(math.sqrt((1 - mean) * (1 + mean) / size) / mean)
