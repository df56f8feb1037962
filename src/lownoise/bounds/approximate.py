# SPDX-License-Identifier: Apache-2.0
"""What no unbiased (ε, δ)-DP mechanism can beat, on a dataset or on a neighbour of it.

(ε, δ) alone allows a mechanism that is exact on one dataset (002, Theorem 53), but not on those
around it as well. Two laws of an (ε, δ)-DP mechanism have densities within e^a of each other,
a > ε, but for a set of small mass (002, Lemma 45, has a = 2ε). Inside the set the bounds of pure
privacy hold; outside, a mean that moves needs a variance of the order of 1/δ. Every constant is
ours, and so is the proof, which needs no condition on n or d (002, Theorems 4, 51 and 52, leave a
constant open and ask for δ ≤ c/n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from lownoise.bounds.unbiased import expm1, three_laws, unbiased_local
from lownoise.numbers.rounding import grown, shrunk

_CUTS = 120  # values of a that are tried; each is a proof
_LARGEST = 300.0  # of a: e^a is a float


@final
@dataclass(frozen=True, kw_only=True)
class Either:
    """Two numbers: one below the error on a dataset, or one below that on a neighbour.

    For every x in (0, 1): error ≥ here·(1 − x)² on the dataset, or error ≥ beside·x² on a
    neighbour; in one dimension 1 − x and x are not squared.

    Args:
        here: what the dataset's own error is at least, were δ used for nothing else.
        beside: what a neighbour's is, else; ∞ where δ = 0.
        dimension: how many dimensions the changes of the answers have, at most.
    """

    here: float
    beside: float
    dimension: float

    @property
    def _power(self) -> int:
        return 1 if self.dimension == 1 else 2

    @property
    def least(self) -> float:
        """At most the greater of the two errors: (here^{−1/2} + beside^{−1/2})^{−2}."""
        if self.here <= 0 or self.beside <= 0:
            return 0.0
        root = 1 / self._power
        # over the smaller one, so that no power of it overflows
        small, large = sorted((self.here, self.beside))
        return shrunk(small / (1 + math.pow(small / large, root)) ** self._power)

    def split(self, share: float) -> tuple[float, float]:
        """Return the two numbers where x is `share`, in (0, 1)."""
        power = self._power
        return shrunk(self.here * (1 - share) ** power), shrunk(self.beside * share**power)


def unbiased_substitute(
    gamma: float, size: int, epsilon: float, delta: float, dimension: float
) -> Either:
    """Return what is known of the mean of n records under (ε, δ), one of them substituted.

    With X⁺, X⁻ as in `unbiased.unbiased_substitute`, laws P⁺, P⁻ and Q, m the mean under Q, S the
    set where all three densities are within e^a, and η at least what each of them has outside it:

        (w_K(θ)/n)(1 − η) ≤ σ_Q·√(∫_S(P⁺−P⁻)²/Q) + (σ_{P⁺} + σ_{P⁻})√η,

    and the integral is at most C_a + b_a·η as in `unbiased_local`. So in each direction
    either σ_Q ≥ (1−x)w_K(θ)(1−η)/(n√(C_a + b_aη)), or a neighbour has a deviation of at least
    x·w_K(θ)(1−η)/(2n√η). Where the first holds in all directions Γ_p(K−K) is covered; else the
    second holds in one, of a width of at least yΓ_p(K−K)/d after directions of less width, which
    have at most yΓ_p(K−K) of it together, are left out (002, Lemma 50, has y = 1/2). x = y is best.

    Args:
        gamma: at most Γ_p(K−K).
        size: n ≥ 1.
        epsilon: ε > 0.
        delta: δ ≥ 0.
        dimension: at least d, the dimension of the answers' changes.

    Examples:
        >>> known = unbiased_substitute(1.0, 10, 0.1, 1e-12, 3)
        >>> exact = unbiased_substitute(1.0, 10, 0.1, 0.0, 3)
        >>> 0.8 < known.least / exact.least < 1
        True
    """
    return _best(gamma / size, 2.0, epsilon, delta, dimension, pairs=3)


def unbiased_add_remove(gamma: float, epsilon: float, delta: float, dimension: float) -> Either:
    """Return what is known of the sum (and count) under (ε, δ), records come and go.

    The record that is extreme along θ makes one neighbour, h_S(θ) away: with two laws P and Q
    h_S(θ)(1 − η) ≤ σ_Q·√(e^{−a}(e^a − 1)² + η) + σ_P√η, because (p/q − 1)² is at most
    e^{−a}(e^a − 1)²·p/q where e^{−a} ≤ p/q ≤ e^a; the rest is as in `unbiased_substitute`.

    Args:
        gamma: at most Γ_p(S), S = ±(lifted K).
        epsilon: ε > 0.
        delta: δ ≥ 0.
        dimension: at least that of S.

    Examples:
        >>> known = unbiased_add_remove(1.0, 0.5, 0.0, 3)
        >>> round(known.least * math.exp(-0.25) * math.expm1(0.5), 9), known.beside
        (1.0, inf)
    """
    return _best(gamma, 1.0, epsilon, delta, dimension, pairs=1)


def _best(
    gamma: float, neighbours: float, epsilon: float, delta: float, dimension: float, *, pairs: int
) -> Either:
    """Return the better of many a: `pairs` of laws are kept within e^a of each other."""
    if delta == 0:
        one = math.exp(-epsilon / 2) / -math.expm1(-epsilon)
        here = unbiased_local(gamma, 1, epsilon) if pairs > 1 else shrunk(gamma * one)
        return Either(here=here, beside=math.inf, dimension=dimension)
    best = Either(here=0.0, beside=0.0, dimension=dimension)
    for k in range(_CUTS):
        more = epsilon * 2.0 ** ((k - _CUTS + 20) / 4)
        if epsilon + more > _LARGEST:
            break
        found = _at(gamma, neighbours, epsilon, delta, dimension, pairs=pairs, more=more)
        best = max(best, found, key=lambda own: own.least)
    return best


def _at(
    gamma: float,
    neighbours: float,
    epsilon: float,
    delta: float,
    dimension: float,
    *,
    pairs: int,
    more: float,
) -> Either:
    """Return what a = ε + `more` proves.

    A pair's bad set has at most δ(1 + e^{−a})/(1 − e^{ε−a}) of either law, since E₁ = {p > e^a q}
    has P(E₁) ≤ e^εQ(E₁) + δ ≤ e^{ε−a}P(E₁) + δ; of a third law at most 2δ/(1 − e^{ε−a}), since that
    has at most e^εQ(E₁) + δ of E₁, and e^εP(E₂) + δ of {q > e^a p}.
    """
    a = epsilon + more
    own = 1 + math.exp(-a)
    lost = grown(delta * (own if pairs == 1 else 2 * own + 2) / -math.expm1(-more))
    if not lost < 1:
        return Either(here=0.0, beside=0.0, dimension=dimension)
    square, slope = three_laws(a) if pairs > 1 else _two_laws(a)
    kept = gamma * (1 - lost)
    return Either(
        here=shrunk(kept / math.sqrt(square + slope * lost)),
        beside=shrunk(kept / (neighbours * dimension * math.sqrt(lost))),
        dimension=dimension,
    )


def _two_laws(a: float) -> tuple[float, float]:
    """Return e^{−a}(e^a − 1)², and what mass outside the set adds."""
    return math.exp(a) * math.expm1(-a) ** 2, 1.0


def distributional(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """Return (ε', δ') that laws of 𝓜 on n draws of P, and of distributions 1/n away, are within.

    For Q^± = (1 − 1/n)P + (1/n)·(point mass at x^±), 𝓜's laws on n independent draws of P, Q⁺ and
    Q⁻ are (ε', δ')-indistinguishable with e^{ε'} = (1 + (e^ε − 1)/n)^n and δ' =
    δ(e^{ε'} − 1)/(e^ε − 1) (ours; 002, Lemma 57, has 6ε and 4e^{6ε}δ): given the other draws let
    f_P, f_+ and f_− be the chances of an event for one draw from P, or where it is x^±, any two
    within (ε, δ). Then
    (1−β)f_P + βf_+ ≤ (1 + β(e^ε − 1))·((1−β)f_P + βf_−) + βδ, β = 1/n, and alike between f_P and
    either mixture; replace the draws one by one.

    Args:
        epsilon: ε > 0.
        delta: δ ≥ 0.
        size: n ≥ 1.

    Examples:
        >>> distributional(0.5, 0.0, 1)[0] <= 0.5 * (1 + 1e-9)
        True
        >>> round(distributional(0.5, 1e-9, 10**9)[0], 6), round(math.expm1(0.5), 6)
        (0.648721, 0.648721)
    """
    one = epsilon - math.log(size)  # beyond the floats that is all of it
    growth = size * (math.log1p(math.expm1(epsilon) / size) if epsilon < _LARGEST else one)
    if not delta:
        return grown(growth), 0.0
    more = expm1(growth - epsilon) + 1
    return grown(growth), grown(delta * more * math.expm1(-growth) / math.expm1(-epsilon))
