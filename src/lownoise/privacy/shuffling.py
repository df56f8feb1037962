# SPDX-License-Identifier: Apache-2.0
"""What n reports of an ε₀-locally private randomizer reveal together, once shuffled.

All use one randomizer R, and what is seen is the reports in random order, without anything that
tells whose they are. Let two tables differ in one record, x or x′. With chance e^{−ε₀} each of the
others' reports may be taken for a *clone*, half of them drawn from R(x) and half from R(x′), as
the density of R at any record is at least e^{−ε₀} of both (Feldman, McMillan & Talwar 2021). R(x)
and R(x′) are mixtures of two laws with weights p and 1 − p, p = e^{ε₀}/(1 + e^{ε₀}). So all that
is seen is a function of how many reports are drawn from either law: with A ~ Bin(C, ½), C ~
Bin(n − 1, e^{−ε₀}) and Δ ~ Bernoulli(p)

    (A + Δ, C − A + 1 − Δ)  against  (A + 1 − Δ, C − A + Δ),

and has at most their δ at every ε. `docs/theory.md` has the proof.

Given C = c, the ratio of chances grows with A + Δ = k, and is above e^ε from some k on:

    δ_c(ε) = (p − e^ε(1 − p))·b(k − 1) − (e^ε − 1)·P(A ≥ k),   b the chances of Bin(c, ½).

δ_c falls with c, for a fair coin may be added to either side: so c may be rounded down to few
values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import BudgetError, quoted
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import down, exact, grown, growth, up

if TYPE_CHECKING:
    from typing import Any

    from lownoise.numbers.arrays import Integers, Vector

_BITS = 160
_LEAST, _MOST = 1e-6, 1e3  # ε₀
_MOST_PEOPLE = 10**8  # more count as so many
_WIDEST = 512  # values of c that are looked at one by one
_WORK = 2**20  # numbers at once
_LEAST_DELTA = 1e-100
_HALVINGS = 40


def delta_up(local_epsilon: float, size: int, epsilon: float) -> float:
    """Return at least δ such that n shuffled reports are (ε, δ)-private under `substitute`.

    Args:
        local_epsilon: ε₀ of each report, in [1e-6, 1000].
        size: n ≥ 1 people, one report each, all of one randomizer.
        epsilon: ε ≥ 0.

    Raises:
        BudgetError: where a number is out of range.

    Examples:
        >>> round(delta_up(1.0, 1, 0.5), 6), round((math.e - math.exp(0.5)) / (1 + math.e), 6)
        (0.287649, 0.287649)
        >>> delta_up(1.0, 10_000, 0.5) < 1e-12, delta_up(1.0, 10_000, 1.0)
        (True, 0.0)
    """
    clones = _checked(local_epsilon, size, _LEAST_DELTA)
    if not epsilon >= 0:
        raise BudgetError(f"epsilon={quoted(epsilon)} is out of range; give at least 0")
    return clones.delta_up(epsilon) if epsilon < local_epsilon else 0.0


def epsilon_up(local_epsilon: float, size: int, delta: float) -> float:
    """Return at least ε such that n shuffled reports are (ε, δ)-private under `substitute`.

    Never more than ε₀, which needs no δ and no shuffling.

    Args:
        local_epsilon: ε₀ of each report, in [1e-6, 1000].
        size: n ≥ 1 people, one report each, all of one randomizer.
        delta: δ in [1e-100, 1).

    Raises:
        BudgetError: where a number is out of range.

    Examples:
        >>> [round(epsilon_up(1.0, n, 1e-6), 3) for n in (1, 1_000, 1_000_000)]
        [1.0, 0.182, 0.004]
    """
    _checked_delta(delta)
    clones = _checked(local_epsilon, size, delta)
    if clones.delta_up(0.0) <= delta:
        return 0.0
    below, above = 0.0, float(local_epsilon)
    for _ in range(_HALVINGS):
        # the least ε is somewhere between; small ones to as many digits as large ones
        middle = math.sqrt(below * above) if below else above / 16
        if not below < middle < above:
            break
        below, above = (below, middle) if clones.delta_up(middle) <= delta else (middle, above)
        if above <= below * (1 + 2.0**-17):
            break
    return above


def local_epsilon_down(epsilon: float, size: int, delta: float) -> float:
    """Return an ε₀ whose n shuffled reports are surely (ε, δ)-private, hardly below the greatest.

    At least ε, which needs neither δ nor shuffling.

    Args:
        epsilon: ε of what is seen, in [1e-6, 1000].
        size: n ≥ 1 people, one report each, all of one randomizer.
        delta: δ in [1e-100, 1).

    Raises:
        BudgetError: where a number is out of range.

    Examples:
        >>> round(local_epsilon_down(0.1, 100_000, 1e-6), 2)
        3.12
    """
    _checked_delta(delta)
    found, beyond = float(epsilon), _MOST
    _checked(found, size, delta)
    for _ in range(_HALVINGS):
        middle = math.sqrt(found * beyond)
        fits = _checked(middle, size, delta).delta_up(epsilon) <= delta
        found, beyond = (middle, beyond) if fits else (found, middle)
        if beyond <= found * (1 + 2.0**-14):
            break
    return found


@final
@dataclass(frozen=True, eq=False)
class _Clones:
    """The law of C, gathered at few values, and the chance of the true law of the two.

    Args:
        counts: values of c, increasing.
        chances: at least the chance of c up to the next value, of each.
        below: at least the chance that C is below the first.
        false: at most 1 − p.
    """

    counts: Integers
    chances: Vector
    below: float
    false: float

    def delta_up(self, epsilon: float) -> float:
        """Return at least δ(ε)."""
        odds = _exponential_down(epsilon)
        # P(k) − e^ε·Q(k) has the sign of k·(p − q)(1 + e^ε) − (c + 1)(e^ε·p − q)
        q, e = Fraction(self.false), Fraction(odds)
        p = 1 - q
        if e * q >= p:
            return 0.0
        share = (e * p - q) / ((p - q) * (1 + e))
        n, d = share.numerator, share.denominator
        first = [-(-(int(c) + 1) * n // d) for c in self.counts]
        least = float(p - e * q)
        ahead = grown(least, 2.0**-50) - _tails_down(self.counts, np.array(first)) * down(odds - 1)
        values = _binomials_up(self.counts, first) * np.maximum(ahead, 0.0)
        values = np.minimum.accumulate(np.minimum(values * (1 + growth(8)), 1.0))
        total = float(values @ self.chances) + self.below
        return min(total * (1 + growth(4 * values.size)), 1.0)


def _checked_delta(delta: float) -> None:
    if not _LEAST_DELTA <= delta < 1:
        raise BudgetError(
            f"delta={quoted(delta)} is out of range; give at least {_LEAST_DELTA:g} and below 1"
        )


def _checked(local_epsilon: float, size: int, delta: float) -> _Clones:
    if not _LEAST <= local_epsilon <= _MOST:
        raise BudgetError(
            f"local_epsilon={quoted(local_epsilon)} is out of range; give at least {_LEAST:g} and "
            f"at most {_MOST:g}"
        )
    if not size >= 1:
        raise BudgetError(f"size={quoted(size)} is no number of people; give at least 1")
    return _clones(float(local_epsilon), min(int(size), _MOST_PEOPLE), float(delta))


@lru_cache(maxsize=64)
def _clones(local_epsilon: float, size: int, delta: float) -> _Clones:
    """Return the law of C at chances that are no more than e^{−ε₀}: fewer clones reveal more."""
    from flint import arb, fmpq

    meant = max(Fraction(local_epsilon), exact(local_epsilon))
    with precision(_BITS):
        power = (-arb(fmpq(meant.numerator, meant.denominator))).exp()
        clone, false = down(float(power.lower())), down(float((power / (1 + power)).lower()))
    clone, false = max(clone, 0.0), max(false, 0.0)
    start, chances, below = _window(size - 1, clone, delta)
    tail = max(math.isqrt(size), 1)  # numbers that a tail of A takes, or fewer
    groups = max(_WIDEST // 8, min(_WIDEST, _WORK // (8 * tail)))
    cuts = np.arange(chances.size)
    if cuts.size > groups:
        # close where C is likely, and far from each other where it is not; any cuts are a proof
        weight = np.cumsum(chances**0.125)
        at = np.searchsorted(weight, weight[-1] * np.arange(groups) / groups)
        cuts = np.unique(np.append(at, 0))
    return _Clones(start + cuts, np.add.reduceat(chances, cuts), below, false)


def _window(trials: int, chance: float, delta: float) -> tuple[int, Vector, float]:
    """Return the first value, chances of it and the next ones, and the chance below, all up.

    The last holds all beyond it. What is below is far less than δ.
    """
    from flint import arb

    if trials == 0 or chance == 0.0:
        return 0, np.ones(1), 0.0
    middle = min(int(trials * chance), trials)
    far = math.sqrt(2 * math.log(1 / delta)) + 4
    width = int(far * math.sqrt(trials * chance * (1 - chance)) + far * far) + 8
    first, last = max(middle - width, 0), min(middle + width, trials)
    with precision(_BITS):
        log = _log_choose(trials, middle) + middle * arb(chance).log()
        log += (trials - middle) * (-arb(chance)).log1p()
        at = up(float(log.exp().upper()))
    odds = chance / (1 - chance)
    above = np.arange(middle + 1, last + 1, dtype=np.float64)
    under = np.arange(middle, first, -1, dtype=np.float64)
    rising = at * np.cumprod((trials - above + 1) / above * odds)
    falling = at * np.cumprod(under / (trials - under + 1) / odds)
    chances = np.concatenate([falling[::-1], [at], rising])
    # five roundings a factor, and products that are too small for a float
    chances = chances * (1 + growth(8 * chances.size)) + 2.0**-1000
    # beyond either end chances fall at least as fast as a geometric series
    if last < trials:
        ratio = grown((trials - last) / (last + 1) * odds)
        chances[-1] = grown(chances[-1] / (1 - ratio))
    below = 0.0
    if first > 0:
        ratio = grown(first / (trials - first + 1) / odds)
        below = grown(float(chances[0]) * ratio / (1 - ratio))
    return first, chances, below


def _tails_down(counts: Integers, first: Integers) -> Vector:
    """Return at most P(A ≥ k)/P(A = k − 1) for A ~ Bin(c, ½), shape (m,), of each c and k ≥ 1.

    The terms of the sum are products of the ratios (c − j + 1)/j; what is left out makes it less.
    """
    c, k = counts.astype(np.float64)[:, None], first.astype(np.float64)[:, None]
    most = float(np.max(c - k)) + 1
    start = float(np.max((c - k + 1) / k))
    far = 6 * math.sqrt(float(np.max(c))) + 50
    if 0 < start < 1:
        far = min(far, 40 / -math.log(start) + 1)
    terms = max(int(min(most, far)), 0)
    found = np.zeros(counts.size)
    rows = max(_WORK // max(terms, 1), 1)
    steps = np.arange(terms, dtype=np.float64)
    for at in range(0, counts.size, rows):
        own = slice(at, at + rows)
        ratios = np.maximum(c[own] - k[own] - steps + 1, 0.0) / (k[own] + steps)
        found[own] = np.cumprod(ratios, axis=1).sum(axis=1)
    return found * (1 - growth(4 * terms + 8))


def _binomials_up(counts: Integers, first: list[int]) -> Vector:
    """Return at least P(A = k − 1) for A ~ Bin(c, ½), shape (m,)."""
    from flint import arb

    with precision(_BITS):
        two = arb(2).log()
        pairs = zip(counts.tolist(), first, strict=True)
        logs = [_log_choose(c, k - 1) - c * two for c, k in pairs]
        return np.array([up(float(log.exp().upper())) for log in logs])


def _log_choose(n: int, k: int) -> Any:  # noqa: ANN401 (flint has no types)
    return _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k)


@lru_cache(maxsize=2**14)
def _log_factorial(n: int) -> Any:  # noqa: ANN401
    """Return a ball of ln n!; precise as all that calls it."""
    from flint import arb

    return arb(n + 1).lgamma()


def _exponential_down(epsilon: float) -> float:
    """Return a float that is at most e^ε, and at least 1."""
    from flint import arb, fmpq

    meant = min(Fraction(epsilon), exact(epsilon))
    with precision(_BITS):
        return max(down(float(arb(fmpq(meant.numerator, meant.denominator)).exp().lower())), 1.0)
