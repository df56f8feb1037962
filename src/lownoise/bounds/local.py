# SPDX-License-Identifier: Apache-2.0
"""What no unbiased ε-locally private mechanism can beat, on any dataset.

Each person's report alone is private, so a direction θ costs each of them its width, and variances
add (002, Lemma 54): √Var θᵀ𝓜 ≥ w_K(θ)/(√n·κ) for every θ gives error ≥ Γ_p(K−K)/(√n·κ), p ≥ 2. The
frequencies of k labels are the mean of the vertices of the simplex, and K is these.

For (ε, δ) with δ > 0 there is no such bound: who answers with a record x₀ that is fixed beforehand
with chance 1 − δ, and with x₀ + (x − x₀)/δ else, is unbiased, (0, δ)-private, and exact where every
record is x₀ (002, Theorem 53, of one person).
"""

from __future__ import annotations

import math

from lownoise.numbers.rounding import shrunk


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
