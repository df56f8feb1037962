# SPDX-License-Identifier: Apache-2.0
"""Tables of differences: the factor is a Kronecker product, and centring undoes it."""

import numpy as np
import pytest

from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers import rounded_gaussian
from lownoise.samplers.gaussian import _decide
from lownoise.sensitivity.factors.tables import DifferenceFactor, centered, differences


def written_out(factor):
    D = np.eye(factor.copies)
    for n in factor.sizes:
        D = np.kron(D, np.hstack([np.eye(n - 1), -np.ones((n - 1, 1))]))
    return factor.scale * D


@pytest.mark.parametrize("sizes", [(), (2,), (5,), (2, 3), (3, 2, 4)])
@pytest.mark.parametrize("copies", [1, 3])
def test_it_is_the_kronecker_product(sizes, copies):
    factor = DifferenceFactor(scale=0.75, sizes=sizes, copies=copies)
    D = written_out(factor)
    assert D.shape == (factor.dimension, factor.sources)
    z = np.random.default_rng(0).normal(size=factor.sources)
    assert np.allclose(factor.apply(z), D @ z, atol=1e-14)
    most = np.abs(D) @ np.full(factor.sources, np.abs(z).max())
    assert np.allclose(factor.apply_abs(np.abs(z)), most, atol=1e-14)  # one number for all
    for i in range(factor.dimension):
        columns, entries = factor.row(i)
        row = np.zeros(factor.sources)
        row[columns] = entries
        assert np.array_equal(row, D[i])
        assert np.all(np.diff(columns) > 0)
        assert columns.size == factor.longest_row


def test_a_number_far_above_the_others_is_in_no_sum_but_its_own():
    factor = DifferenceFactor(scale=0.75, sizes=(4, 5), copies=200)
    error = np.ones(factor.sources)
    error[7] = 2.0**20
    assert np.allclose(factor.apply_abs(error), np.abs(written_out(factor)) @ error, rtol=1e-14)


@pytest.mark.parametrize("scale", [2.0**18 + 1 / 3, 2.0**46 + 1 / 3])
def test_what_is_decided_quickly_is_what_ball_arithmetic_decides(scale):
    """Of the larger scale floats alone decide several wrong: the doubt is what leaves them open."""
    factor = DifferenceFactor(scale=scale, sizes=(3, 4, 5), copies=20)
    quick = rounded_gaussian(factor, randomness=SimulationRandomness(9))
    words = SimulationRandomness(9).words(factor.sources)
    rows = np.arange(factor.dimension)
    assert quick.tolist() == _decide(factor, rows, words, SimulationRandomness(1))


def test_centring_has_the_same_differences_and_sums_to_zero():
    table = np.random.default_rng(1).integers(-9, 9, (3, 4)).astype(float)
    whole = centered(centered(table, 0), 1)
    assert whole.shape == (4, 5)
    assert np.allclose(differences(whole), table)
    assert np.allclose(whole.sum(axis=0), 0)
    assert np.allclose(whole.sum(axis=1), 0)
