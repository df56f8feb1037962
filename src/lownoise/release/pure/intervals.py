# SPDX-License-Identifier: Apache-2.0
"""How far from the released answers the exact ones are, whatever pure noise was added.

The law of the noise is public, so its quantiles are those of draws of it, made anew with a public
seed: nothing about the data is in them. The order statistic that is taken covers with the stated
chance but for one seed in a million. Where draws would be too many, the tails of symmetric
log-concave numbers bound them.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lownoise.noise.pure import LaplaceNoise, ResponseMechanism
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.answers import half_widths, joint_half_widths
from lownoise.release.pure.spread import tail_quantile
from lownoise.release.pure.terms import PureTerms

if TYPE_CHECKING:
    from lownoise.noise.pure import AdditiveMechanism
    from lownoise.numbers.arrays import Vector

_DRAWS = 20_000
_MOST_NUMBERS = 4e7
_MISSED = 1e-6
_SEED = 20_100_602
_DIRECTIONS = 32  # in which the noise of a sum and the count is looked at
_FLAT = 1e-12  # of a variance: what is left of it is rounding


@half_widths.register(PureTerms)
def _(terms: PureTerms, level: float) -> Vector:
    """Return how far from its answer the exact one is with chance `level`, one by one."""
    outside = 1 - checked_level(level)
    mechanism = terms.mechanism
    if isinstance(mechanism, ResponseMechanism):
        return _hoeffding(mechanism, outside)
    if isinstance(mechanism.noise, LaplaceNoise) and mechanism.grid.embed is None:
        return frozen(mechanism.noise.scales * mechanism.grid.unit * -math.log(outside))
    if _simulated(mechanism, outside):
        draws = np.abs(_draws(mechanism))
        return frozen(np.partition(draws, rank := _rank(len(draws), outside), axis=0)[rank])
    return frozen(tail_quantile(outside) * mechanism.deviations)


@joint_half_widths.register(PureTerms)
def _(terms: PureTerms, level: float) -> Vector:
    """Return how far from their answers all exact ones are together, with chance `level`."""
    outside = 1 - checked_level(level)
    mechanism = terms.mechanism
    deviations = mechanism.deviations
    if isinstance(mechanism, ResponseMechanism):
        return _hoeffding(mechanism, outside / deviations.size)
    if _simulated(mechanism, outside):
        draws = np.abs(_draws(mechanism)) / np.where(deviations > 0, deviations, 1.0)
        most = draws.max(axis=1)
        return frozen(deviations * np.partition(most, rank := _rank(len(most), outside))[rank])
    return frozen(tail_quantile(outside / deviations.size) * deviations)


@lru_cache(maxsize=8)  # the same for every release of a mechanism
def ratio_reach(mechanism: AdditiveMechanism, level: float, together: int = 1) -> Vector:
    """Return how many deviations sum − θ·count strays with chance `level`, whatever θ; shape (d,).

    For symmetric log-concave noise X in the plane the quantile of |⟨u, X⟩| is a norm of u (Meyer &
    Reisner 1991; Bobkov 2010). So it is looked at along some directions, of noise made round, and
    is at most 1/cos of half the angle between them higher on the others. Where draws would be too
    many, the bound for log-concave numbers takes their place.

    Args:
        mechanism: whose last answer is the count.
        level: of each interval, or of all.
        together: how many intervals share the chance to miss.

    Raises:
        PlanError: where `level` is not between 0 and 1.
    """
    outside = (1 - checked_level(level)) / together
    deviations, beside = mechanism.spread(mechanism.grid.embed)
    columns = deviations.size - 1
    missed = _MISSED / (_DIRECTIONS * max(columns, 1))
    few = columns * _DIRECTIONS * _DRAWS <= _MOST_NUMBERS
    if not (few and _simulated(mechanism, outside, missed)):
        return frozen(np.full(columns, tail_quantile(outside)))
    draws = _draws(mechanism)
    count = draws[:, -1] / deviations[-1]
    slope = beside[:-1] / deviations[-1]
    rest = np.square(deviations[:-1]) - np.square(slope)
    alone = np.sqrt(np.where(rest > _FLAT * np.square(deviations[:-1]), rest, math.inf))
    rank = _rank(_DRAWS, outside, missed)
    found = np.empty(columns)
    angles = np.arange(_DIRECTIONS) * (math.pi / _DIRECTIONS)
    for i in range(columns):
        own = (draws[:, i] - slope[i] * count) / alone[i]
        along = (np.abs(math.cos(t) * count + math.sin(t) * own) for t in angles.tolist())
        found[i] = max(float(np.partition(each, rank)[rank]) for each in along)
    return frozen(found / math.cos(math.pi / (2 * _DIRECTIONS)))


def _hoeffding(mechanism: ResponseMechanism, outside: float) -> Vector:
    """Return half widths for a sum of independent reports, each within its spread (Hoeffding)."""
    reach = math.sqrt(mechanism.size * math.log(2 / outside) / 2)
    return frozen(reach * mechanism.spread)


def _simulated(mechanism: AdditiveMechanism, outside: float, missed: float = _MISSED) -> bool:
    """Return whether so many draws as are needed can be made."""
    answers = mechanism.deviations.size
    enough = (1 - outside) ** _DRAWS <= missed
    return enough and _DRAWS * max(answers, mechanism.length) <= _MOST_NUMBERS


def _draws(mechanism: AdditiveMechanism) -> Vector:
    return mechanism.simulate(_DRAWS, SimulationRandomness(_SEED))


@lru_cache(maxsize=64)
def _rank(count: int, outside: float, missed: float = _MISSED) -> int:
    """Return which of `count` rising numbers is above the quantile but with chance `missed`.

    The number of draws beyond the quantile is binomial with mean count·outside; the one that is
    taken has k draws beyond it, with P(Binomial ≤ k) ≤ `missed`.
    """
    from scipy.stats import binom

    k = int(binom.ppf(missed, count, outside)) - 1
    return count - 1 - max(k, 0)
