# SPDX-License-Identifier: Apache-2.0
"""What the low bits of an answer tell: the attacks of Mironov (2012) and Haney et al. (2022).

An attack is a function of the outputs of two neighbouring inputs, and looks at which numbers can
be reached and never at how large they are. Each is run on noise in floating point, where it must
win, and on lownoise, where it must not.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lownoise as ln
from lownoise.engines import memory
from lownoise.engines.queries import totals_query
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import DiagonalShape

COLUMNS = 2000  # as many outputs a run
RUNS = 10
FIRST_KIND = 1e-6
FINEST = 10**6  # the exponent of zero: every power of two divides it


def exponents(outputs):
    """Return the exponent of the greatest power of two that divides each output, exactly."""
    if outputs.dtype == np.int64:
        mantissa, shift = outputs, 0
    else:
        fraction, exponent = np.frexp(outputs)
        mantissa, shift = (fraction * 2.0**53).astype(np.int64), exponent - 53
    low = mantissa & -mantissa
    return np.where(mantissa == 0, FINEST, np.log2(np.maximum(low, 1)).astype(int) + shift)


def tells_apart(left, right):
    """Return whether two samples of kinds differ: a chi-square test of homogeneity.

    First kind 1e-6. Power: with 20,000 outputs each, kinds whose shares differ by a total of 5 %
    give a statistic beyond 60 on a few dozen degrees of freedom, and are told apart with chance
    above 0.99; the flaws below move 5 % to 100 %.
    """
    kinds, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    table = np.zeros((2, kinds.size))
    np.add.at(table[0], place[: left.size], 1)
    np.add.at(table[1], place[left.size :], 1)
    common = table.sum(axis=0) >= 60  # the approximation holds; the rare ones are one kind
    pooled = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) >= 60]
    return pooled.shape[1] > 1 and stats.chi2_contingency(pooled).pvalue < FIRST_KIND


def support(left, right):
    """Mironov: the share of the left outputs finer than any output of the right input."""
    return float(np.mean(exponents(left) < exponents(right).min()))


def precision(left, right):
    """Haney et al.: whether the fineness depends on the input, in all outputs or in the small."""
    whole = tells_apart(exponents(left), exponents(right))
    small = [s[np.abs(s) <= np.quantile(np.abs(s), 0.1)] for s in (left, right)]
    return whole or tells_apart(*map(exponents, small))


def naive(total, scale, seed):
    """Add a float normal to a float: what most code does."""
    noise = np.random.default_rng(seed).standard_normal(COLUMNS * RUNS)
    return total + scale * noise


def mechanism(lower, upper, relation="substitute", rho=0.5, size=4):
    question = ln.Mean([f"c{i}" for i in range(COLUMNS)], ln.Box(lower, upper))
    size = size if relation == "substitute" else None
    return ln.plan(question, budget=ln.zcdp(rho), relation=relation, size=size).terms.mechanism


def ours(made, records, seed):
    """Release a table of equal columns RUNS times: integers."""
    table = np.repeat(np.array(records, float)[:, None], COLUMNS, axis=1)
    totals = memory.totals(made.totals.query, table)
    randomness = SimulationRandomness(seed)
    runs = [made.run(totals, randomness=randomness)[:COLUMNS] for _ in range(RUNS)]
    return np.array(runs, dtype=np.int64).ravel()


def box(lower, upper):
    return [lower] * COLUMNS, [upper] * COLUMNS


# the neighbours' totals are at different magnitudes, about zero, or both large
NEIGHBOURS = [
    ("unit", (0.0, 1.0), [0.0, 0, 0, 0], [1.0, 0, 0, 0]),
    ("about zero", (-1.0, 1.0), [1.0, 0, 0, 0], [-1.0, 0, 0, 0]),
    ("across a power", (0.0, 1.0), [1.0, 1, 1, 0.9], [1.0, 1, 1, 1]),
    ("tiny", (0.0, 2.0**-30), [0.0, 0, 0, 0], [2.0**-30, 0, 0, 0]),
    ("huge", (-(2.0**300), 2.0**300), [0.0] * 4, [2.0**300, 0, 0, 0]),
    ("far", (2.0**50, 2.0**50 + 1), [2.0**50] * 4, [2.0**50 + 1, *[2.0**50] * 3]),
]
NEIGHBOUR_IDS = [name for name, *_ in NEIGHBOURS]


@pytest.mark.parametrize("scale", [0.25, 1.0, 4.0])
def test_mironov_the_support_of_float_noise_names_the_input(scale):
    left, right = naive(0.0, scale, 1), naive(1.0, scale, 2)
    assert support(left, right) > 0.05
    assert support(right, left) == 0.0


@pytest.mark.parametrize("scale", [0.25, 1, 4, 16, 64])
@pytest.mark.parametrize("unit", [2.0**-30, 1.0, 2.0**40])
def test_haney_the_precision_of_float_noise_names_the_input(scale, unit):
    # at 64 the outputs below 1 are 1.2 % of all, 250 of 20,000, a tenth of the small ones
    assert precision(naive(0.0, scale * unit, 3), naive(unit, scale * unit, 4))


@pytest.mark.grid
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize(("name", "bounds", "left", "right"), NEIGHBOURS, ids=NEIGHBOUR_IDS)
def test_our_outputs_tell_nothing_by_their_low_bits(name, bounds, left, right, relation):
    made = mechanism(*box(*bounds), relation)
    one, other = ours(made, left, 5), ours(made, right, 6)
    # every integer can be reached: half are odd, so the finest grid is the same for both
    assert exponents(one).min() == exponents(other).min() == 0
    assert support(one, other) == support(other, one) == 0.0
    assert not precision(one, other), name


@pytest.mark.parametrize("rho", [1e-8, 1e-2, 10.0, 1e5])
def test_our_outputs_tell_nothing_at_any_magnitude_of_noise(rho):
    made = mechanism(*box(0.0, 1.0), rho=rho)
    one, other = ours(made, [0.0] * 4, 7), ours(made, [1.0, 0, 0, 0], 8)
    assert exponents(one).min() == exponents(other).min() == 0
    assert not precision(one, other)


def test_the_attack_on_low_bits_is_not_won_by_chance():
    # the control of the control: two samples of one input, both ways, are not told apart
    assert not precision(naive(1.0, 1.0, 9), naive(1.0, 1.0, 10))
    assert support(naive(1.0, 1.0, 9), naive(1.0, 1.0, 10)) < 0.001


# ---------------------------------------------------------------- residues

MODULI = [2, 3, 5, 7, 8, 16, 64, 255]


def residues_are_even(outputs, modulus):
    """Chi-square against the uniform law; first kind 1e-6 a modulus.

    Power: where only every second residue occurs the statistic is the sample's size, 2,000 or more.
    """
    counts = np.bincount(np.mod(outputs, modulus), minlength=modulus)
    return stats.chisquare(counts).pvalue > FIRST_KIND


def test_a_rounded_float_normal_misses_residues():
    widest = np.rint(2.0**58 * np.random.default_rng(11).standard_normal(4000)).astype(np.int64)
    assert not residues_are_even(widest, 8)
    assert not residues_are_even(widest, 64)


@pytest.mark.parametrize("scale", [2.0**20, 2.0**50, 2.0**58])
def test_our_noise_reaches_every_residue(scale):
    shape = DiagonalShape(np.full(4000, scale))
    noise = rounded_gaussian(shape, randomness=SimulationRandomness(12))
    for modulus in MODULI:
        assert residues_are_even(noise, modulus), modulus


@pytest.mark.parametrize("records", [[0.0, 0, 0, 0], [1.0, 0, 0, 0], [1.0, 1, 1, 1]])
def test_our_outputs_reach_every_residue(records):
    outputs = ours(mechanism(*box(0.0, 1.0)), records, 13)
    for modulus in MODULI:
        assert residues_are_even(outputs, modulus), modulus


# ---------------------------------------------------------------- the whole way


def test_what_a_release_holds_are_integers_whatever_the_table_holds():
    question = ln.Mean(["x"], ln.Box([0], [1]))
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=2)
    for value in (0.0, 1e-300, 1 / 3, 1.0, np.nan, np.inf):
        frame = pd.DataFrame({"x": [value, 0.5]})
        answer = plan.release(frame)
        assert all(type(k) is int for k in answer.integers)
        totals = totals_query(plan.terms.mechanism.totals.query).of(frame)
        assert all(type(k) is int for k in totals.sums)
