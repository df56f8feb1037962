# SPDX-License-Identifier: Apache-2.0
"""What noise near a staircase may have less is never said to be less than it has.

Mutants seen: inner caps counted once, not e^ε times; rows summed without what bends; more held;
moves of any length believed, and steps wider than a change.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from lownoise.solvers.radial import RadialFit, Staircase, Threshold, covering
from lownoise.solvers.radial_fit import fitted
from lownoise.solvers.radial_near import _caps, shortfall

ASKED = [(2, 4.0, 1e-9), (3, 2.0, 1e-6), (6, 1.0, 1e-6), (24, 4.0, 1e-9)]
LEAST = 1e-7  # parts of E‖z‖² that may decide in a plan
SURE = 1e-5  # of what is found


@cache
def found(d: int, epsilon: float, delta: float) -> tuple[RadialFit, Staircase]:
    fit = fitted(d, epsilon, delta)
    logs = -epsilon * np.arange(fit.radii.size, dtype=float)
    return fit, Staircase(d, fit.radii, logs)


def others(d: int, epsilon: float, delta: float) -> list[Staircase]:
    """As private: orbits that begin elsewhere or of another λ, even steps, bends, and far ends."""
    fit, own = found(d, epsilon, delta)
    threshold = Threshold(d, epsilon, fit.proof.multiplier)
    starts = fit.radii[0] + np.array([*(i / 12 for i in range(1, 12)), 1e-2, -1e-3, 1e-4])
    made = []
    for start, part in [
        *((start % 1, 1.0) for start in starts),
        *((fit.radii[0], p) for p in PARTS),
    ]:
        turned = Threshold(d, epsilon, threshold.multiplier * part)
        level = turned.level(start, 0.3 * fit.second_moment, 3 * fit.second_moment, 1e-7)
        made.append(turned.staircase(start, level))
    steps = np.arange(own.radii.size, dtype=float)
    made += [Staircase(d, start + steps, own.logs) for start in (0.2, 0.5, 0.8)]
    made += [Staircase(d, own.radii + size * np.sin(steps), own.logs) for size in (1e-2, 1e-3)]
    for k in (0, 1, 2):
        moved = own.radii.copy()
        moved[k] += 0.1 * (moved[k + 1] - moved[k])
        made.append(Staircase(d, moved, own.logs))
    far = np.where(own.weights() < TINY, own.radii * 10 ** (5 / d), own.radii)
    made.append(Staircase(d, far, own.logs))
    return [covering(each, epsilon, delta) for each in made]


PARTS = (0.5, 0.9, 1.2, 3.0)
TINY = 1e-17


@pytest.mark.grid(0, least=2)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_what_is_found_is_least_of_those_near(asked: tuple[int, float, float]) -> None:
    _, own = found(*asked)
    assert shortfall(own, *asked[1:]) < SURE


@pytest.mark.grid(0, least=2)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_what_errs_more_is_told(asked: tuple[int, float, float]) -> None:
    """Of noise that is as private: never less than what it has above the least, to 10⁻⁷ of it."""
    all_made = [found(*asked)[1], *others(*asked)]
    least = min(each.second_moment() for each in all_made)
    assert all_made[0].second_moment() < (1 + SURE) * least
    above = [each.second_moment() / least - 1 for each in all_made]
    assert sum(part > LEAST for part in above) > len(above) / 2
    for each, part in zip(all_made, above, strict=True):
        assert shortfall(each, *asked[1:]) > part - LEAST


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_slopes_are_those_of_delta(asked: tuple[int, float, float]) -> None:
    """B by differences of δ, which is computed elsewhere, from volumes."""
    d, epsilon, _ = asked
    _, own = found(*asked)
    caps, masses = _caps(d, epsilon, own.radii), np.exp(own.logs + d * np.log(own.radii))
    jumps = np.exp(own.logs) * -math.expm1(-epsilon)
    jumps[-1] = math.exp(own.logs[-1])

    def lost(move: float) -> float:
        """δ times all mass, in volumes of the unit ball at the first height."""
        radii = own.radii.copy()
        radii[k] += move
        return Staircase(d, radii, own.logs).delta(epsilon) * float(jumps @ radii**d)

    for k in np.argsort(-masses)[:3].tolist():
        step = 1e-3 * min(float(caps.room[max(k - 1, 0) : k + 1].min()), 1e-2)
        slope = (lost(step) - lost(-step)) / (2 * step)
        own_slope = caps.chances[k] * jumps[k] * d * own.radii[k] ** (d - 1)
        assert slope == pytest.approx(own_slope, rel=1e-3)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e300, 1e-300])
def test_what_is_no_noise_is_not_known(wrong: float) -> None:
    _, own = found(*ASKED[1])
    for k in (0, 3):
        radii = own.radii.copy()
        radii[k] = wrong
        assert not shortfall(Staircase(own.dimension, radii, own.logs), *ASKED[1][1:]) < SURE
