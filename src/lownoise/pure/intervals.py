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

from lownoise.answers import half_widths, joint_half_widths
from lownoise.arrays import frozen
from lownoise.entropy import SimulationEntropy
from lownoise.errors import PlanError
from lownoise.mechanisms.pure import LaplaceNoise, ResponseMechanism
from lownoise.pure.spread import tail_quantile
from lownoise.pure.terms import PureTerms

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.mechanisms.pure import AdditiveMechanism

_DRAWS = 20_000
_MOST_NUMBERS = 4e7
_MISSED = 1e-6
_SEED = 20_100_602


@half_widths.register(PureTerms)
def _(terms: PureTerms, level: float) -> Vector:
    """Return how far from its answer the exact one is with chance `level`, one by one."""
    outside = 1 - _checked(level)
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
    outside = 1 - _checked(level)
    mechanism = terms.mechanism
    deviations = mechanism.deviations
    if isinstance(mechanism, ResponseMechanism):
        return _hoeffding(mechanism, outside / deviations.size)
    if _simulated(mechanism, outside):
        draws = np.abs(_draws(mechanism)) / np.where(deviations > 0, deviations, 1.0)
        most = draws.max(axis=1)
        return frozen(deviations * np.partition(most, rank := _rank(len(most), outside))[rank])
    return frozen(tail_quantile(outside / deviations.size) * deviations)


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise PlanError(f"level={level} is not between 0 and 1; give such as 0.95")
    return level


def _hoeffding(mechanism: ResponseMechanism, outside: float) -> Vector:
    """Return half widths for a sum of independent reports, each within its spread (Hoeffding)."""
    reach = math.sqrt(mechanism.size * math.log(2 / outside) / 2)
    return frozen(reach * mechanism.spread)


def _simulated(mechanism: AdditiveMechanism, outside: float) -> bool:
    """Return whether so many draws as are needed can be made."""
    answers = mechanism.deviations.size
    enough = (1 - outside) ** _DRAWS <= _MISSED
    return enough and _DRAWS * max(answers, mechanism.length) <= _MOST_NUMBERS


def _draws(mechanism: AdditiveMechanism) -> Vector:
    return mechanism.simulate(_DRAWS, SimulationEntropy(_SEED))


@lru_cache(maxsize=64)
def _rank(count: int, outside: float) -> int:
    """Return which of `count` rising numbers is above the quantile but with chance 1e-6.

    The number of draws beyond the quantile is binomial with mean count·outside; the one that is
    taken has k draws beyond it, with P(Binomial ≤ k) ≤ 1e-6.
    """
    from scipy.stats import binom

    k = int(binom.ppf(_MISSED, count, outside)) - 1
    return count - 1 - max(k, 0)
