# SPDX-License-Identifier: Apache-2.0
"""Noise grows until it covers, and no further: whatever it was asked for first."""

import math
from types import SimpleNamespace

import pytest

from lownoise.errors import PlanError
from lownoise.noise import mechanism as module


def covering(scaled, allowed):
    return module.covering(scaled, lambda found: found.mu, allowed)


def noisy(reach, seen=None):
    """A mechanism of noise `factor` whose records reach so far: μ = reach/factor."""

    def scaled(factor):
        if seen is not None:
            seen.append(factor)
        return SimpleNamespace(factor=factor, mu=reach / factor)

    return scaled


@pytest.mark.parametrize("parameter", [0.1, 1.0, 7.3])
@pytest.mark.parametrize("reach", [1e-9, 0.3, 0.7, 1 - 1e-15, 1.0, 1 + 1e-15, 1.5, 3.7, 1e9])
def test_it_reveals_at_most_what_it_may_and_hardly_less(reach, parameter):
    found = covering(noisy(reach * parameter), parameter)
    assert parameter * (1 - 1e-8) <= found.mu <= parameter


def test_noise_that_fits_is_left_as_it_is():
    seen = []
    assert covering(noisy(1 - 1e-12, seen), 1.0).factor == 1.0
    assert seen == [1.0]


def test_nothing_that_moves_costs_nothing():
    assert covering(noisy(0.0), 1.0).factor == 1.0


@pytest.mark.parametrize("reach", [math.inf, math.nan])
def test_a_direction_without_noise_is_refused(reach):
    with pytest.raises(PlanError, match="leaves a direction that records can move in"):
        covering(noisy(reach), 1.0)
