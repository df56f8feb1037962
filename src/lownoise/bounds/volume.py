# SPDX-License-Identifier: Apache-2.0
"""What no ε-DP mechanism can beat: a body with much room has no small error everywhere.

The bounds are on the greatest (E‖answer − truth‖₂²)^{1/2} over all tables, whatever the mechanism,
biased or not. Let D₀ be a table, Q the mechanism's law there, and P(S) a k-dimensional image of the
changes S under a map of norm at most 1, so that P of the answer errs no more than the answer.

*Averaging* (ours). Let every y in a region have a table with the truth y at distance at most D(y)
from D₀, so P_y ≤ e^{εD(y)}·Q. Give y the weight e^{−εD(y)} and let W be the whole weight. Then the
mean chance that |answer − y| ≤ s is at most (1/W)·∫Q(da) vol{y : |a − y| ≤ s} ≤ v_k·s^k/W. That is
1 at s* = (W/v_k)^{1/k}; hence the mean squared error is at least ∫₀^{s*} 2s(1 − (s/s*)^k) ds =
s*²·k/(k + 2). The source (001, Theorem 3.3) packs points instead, and loses a constant factor.

*Whole records* (ours). If y = Σ cᵢvᵢ over q changes vᵢ of one record, round each cᵢ at random
without bias; D = Σ|zᵢ|, and E e^{εD} ≤ e^{ε·Σ|cᵢ| + qε²/8} (Hoeffding's lemma). Give (y, z) the
weight (chance of z)/E e^{εD}: as above W = ∫dy/E e^{εD}, and the truth is off y by at most
√(q/4)·max‖vᵢ‖ in the mean square, which is taken off (Minkowski).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.rounding import grown, lowered, shrunk

Records = Literal["shares", "convex", "near", "lifted", "listed", "vertices"]

_MOST_TERMS = 1 << 14
_SERIES = 4000


@final
@dataclass(frozen=True)
class Rounding:
    """How truths are made of whole records.

    Args:
        pieces: q, how many numbers of copies are rounded at random; 0: none, distances are rounded
            up instead; None: distances are real numbers.
        late: by how many records more the distance may exceed that.
    """

    pieces: int | None
    late: int = 0


def roundings(records: Records, k: int) -> tuple[Rounding, ...]:
    """Return the ways in which truths in k dimensions are made of records, each a proof.

    * shares: every point of mS is the truth at distance at most m, m ≥ 0 real (the source's model,
      histograms of real numbers in ℓ₁).
    * convex: every point of S, convex with 0 inside, is a change that one record makes, as often
      as wanted: y is ⌈m⌉ records of one kind, or a random number of them.
    * near: S is a translate of a convex set K, and the m records of a table that are changed first
      may be any m of K: their sum then is any of mK − Σ xᵢ, which grow with m.
    * lifted: S is the hull of a convex set and its opposite, and records come and go: y is α
      records of one kind that come and β that go (out of a table with many of every kind).
    * listed: only the vertices of S are changes: some k of them make y, by Carathéodory's theorem
      (`most` is how often each can be made).
    * vertices: S = K − K and K is convex; the table has `most` copies of each vertex of K. To move
      by t(a − b), b = Σ βⱼvⱼ, take ⌈tβⱼ⌉ of each out and put as many equal records of K in: at most
      ⌈t⌉ + k changes, exactly; or round all tβⱼ at random.

    Examples:
        >>> roundings("listed", 3)
        (Rounding(pieces=3, late=0),)
    """
    if records == "shares":
        return (Rounding(None),)
    if records == "convex":
        return (Rounding(0), Rounding(1))
    if records == "near":
        return (Rounding(0),)
    if records == "lifted":
        return (Rounding(min(2, k)),)
    if records == "listed":
        return (Rounding(k),)
    return (Rounding(0, late=k), Rounding(k + 1))


def ball_log_volume(k: int, order: float = 2.0) -> float:
    """Return ln vol {x ∈ R^k : ‖x‖_order ≤ 1}.

    Examples:
        >>> round(math.exp(ball_log_volume(2)), 9), round(math.exp(ball_log_volume(3, math.inf)), 9)
        (3.141592654, 8.0)
    """
    if math.isinf(order):
        return k * math.log(2)
    return k * (math.log(2) + math.lgamma(1 + 1 / order)) - math.lgamma(1 + k / order)


def log_mass(k: int, epsilon: float, most: float = math.inf, *, ceiled: bool = True) -> float:
    """Return at most ln Z, the weight of mS over m ≤ `most` where S has volume 1.

    Z = ∫₀^M k·t^{k−1}·e^{−εt} dt, with ⌈t⌉ in place of t where `ceiled`; without an end the first
    is k!/ε^k, and the second is Σ e^{−εm}(m^k − (m−1)^k), at least e^{−ε} times the first.

    Args:
        k: the dimension.
        epsilon: ε > 0.
        most: M, an integer or ∞.
        ceiled: whether distances are rounded up to whole numbers.

    Examples:
        >>> round(math.exp(log_mass(3, 1.0, ceiled=False)), 6)
        6.0
        >>> round(math.exp(log_mass(1, 1.0)), 6)
        0.581977
    """
    if most < 1:
        return -math.inf
    real = math.lgamma(k + 1) - k * math.log(epsilon) + _log_gamma_share(k, epsilon * most)
    real = lowered(real, 1 + math.lgamma(k + 1) + k * abs(math.log(epsilon)))
    if not ceiled:
        return real
    terms = min(most, (k + 40 * math.sqrt(k) + 40) / epsilon + 2)
    if terms > _MOST_TERMS:
        return real - epsilon
    m = np.arange(1, math.floor(terms) + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        steps = k * np.log(m) + np.log(-np.expm1(k * np.log1p(-1 / m)))
    logs = steps - epsilon * m
    top = float(np.max(logs))
    found = top + math.log(math.fsum(np.exp(logs - top)))
    return lowered(found, 1 + abs(top) + float(np.max(np.abs(steps))) + epsilon * terms)


def _log_gamma_share(k: int, x: float) -> float:
    """Return at most ln P(Gamma(k, 1) ≤ x)."""
    if math.isinf(x):
        return 0.0
    if x > k:  # Chernoff: P(Gamma(k, 1) > x) ≤ e^{k − x}·(x/k)^k
        beyond = k - x + k * math.log(x / k)
        if beyond < -40:  # noqa: PLR2004
            return lowered(math.log1p(-grown(math.exp(beyond))), 1.0)
    # Σ_{i ≥ k} e^{−x}·x^i/i!, all terms above 0: a part of them is a lower bound
    i = np.arange(k, k + _SERIES, dtype=np.float64)
    steps = np.concatenate([[0.0], np.cumsum(math.log(x) - np.log(i[1:]))])
    top = float(np.max(steps))
    first = k * math.log(x) - x - math.lgamma(k + 1)
    with np.errstate(under="ignore"):  # whatever a caller has: terms that small do not count
        parts = np.exp(steps - top)
    found = first + top + math.log(math.fsum(parts))
    size = 1 + x + k * abs(math.log(x)) + math.lgamma(k + 1) + _SERIES * 2.0**-10
    return min(lowered(found, size), 0.0)


def averaging_bound(
    log_volume: float,
    k: int,
    *,
    epsilon: float,
    most: float = math.inf,
    rounding: Rounding | None = None,
    extent: float = 0.0,
    power: float = 2.0,
) -> float:
    """Return (k/(k+a))^{1/a}·(vol_k(PS)·Z/v_k)^{1/k}, less what rounding to whole records costs.

    Every ε-DP mechanism has (E‖error‖₂^a)^{1/a} at least this on some table (ours; see above).

    Args:
        log_volume: at most ln vol_k(PS), P of norm at most 1.
        k: the dimension.
        epsilon: ε > 0.
        most: M, how many records can be changed.
        rounding: how truths are made of records; by default shares of them.
        extent: at least max ‖Ps‖ over S, where numbers of records are rounded at random.
        power: a, 2 for the root mean square or 1 for the mean.

    Raises:
        PlanError: where epsilon is not above 0 and finite.

    Examples:
        >>> one = averaging_bound(math.log(2.0), 1, epsilon=0.1)
        >>> round(one * 0.1, 6)  # of √2 that Laplace noise has
        0.57735
    """
    if not 0 < epsilon < math.inf:
        raise PlanError(f"epsilon={epsilon} is not above 0 and finite; give a budget")
    how = rounding or Rounding(None)
    mass = log_mass(k, epsilon, most, ceiled=how.pieces == 0)
    if math.isinf(log_volume) or math.isinf(mass):
        return 0.0
    pieces = how.pieces or 0
    logs = (log_volume, mass, -ball_log_volume(k), -epsilon * how.late, -pieces * epsilon**2 / 8)
    exponent = lowered(math.fsum(logs) / k, 1 + sum(map(abs, logs)) / k)
    if exponent > 700:  # noqa: PLR2004 (beyond the floats)
        return 0.0
    found = (k / (k + power)) ** (1 / power) * math.exp(exponent)
    blur = math.sqrt(pieces / 4) * extent
    return max(lowered(found - blur, found + blur), 0.0)


def packing_bound(
    log_volume: float, k: int, *, epsilon: float, most: float = math.inf, power: float = 2.0
) -> float:
    """Return max over whole m of (m/(2·2^{1/a}))·(vol_k(PS)/(2·v_k·e^{εm}))^{1/k}: by packing.

    The source's argument with its constants (001, Theorem 3.3 and Corollary 3.4): were the error
    smaller, mS would hold more than 2e^{εm} points whose balls of 2^{1/a} errors are disjoint,
    and each of them would have a chance of half at its own truth (Markov);
    `averaging_bound` is never below it.

    Args:
        log_volume: at most ln vol_k(PS).
        k: the dimension.
        epsilon: ε > 0.
        most: M.
        power: a, of the error (E‖error‖₂^a)^{1/a}.

    Examples:
        >>> ours = averaging_bound(0.0, 8, epsilon=0.1, rounding=Rounding(0))
        >>> 3 < ours / packing_bound(0.0, 8, epsilon=0.1) < 4
        True
    """
    if most < 1 or math.isinf(log_volume):
        return 0.0
    near = min(k / epsilon, most)
    log_share = (log_volume - math.log(2) - ball_log_volume(k)) / k
    found = 0.0
    for m in {max(math.floor(near), 1), min(max(math.ceil(near), 1), most)}:
        exponent = math.log(m) + log_share - epsilon * m / k
        if exponent < 700:  # noqa: PLR2004
            found = max(found, math.exp(exponent) / (2 * 2.0 ** (1 / power)))
    return shrunk(found)
