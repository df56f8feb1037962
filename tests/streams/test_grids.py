# SPDX-License-Identifier: Apache-2.0
"""Values that decimals spell: which multiples they are, and that sums of them are exact."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import DomainError, FileError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning import StreamPlan
from lownoise.sets.domains.grid import multiples
from lownoise.streams import start
from lownoise.streams.codec import document

LISTS = {
    "prices": ([0.0, 19.99, 29.99, 4.5], Fraction(1, 100)),
    "tenths": ([0.0, 0.1, 0.1 + 0.2, 0.7], Fraction(1, 10)),
    "thirds": ([0.0, 2 / 3, 1.0], Fraction(1, 3)),
    "quarters": ([0.0, 0.25, 1.0], Fraction(1, 4)),
    "small": ([0.0, 4e-9, 1e-8], Fraction(2, 10**9)),
    "far": ([0.0, 1000.1, 1000.4, -999.9], Fraction(1, 10)),
    "threes": ([0.0, 6.0, 15.0], Fraction(3)),
}


@pytest.mark.parametrize("name", LISTS)
def test_numbers_are_multiples_of_what_they_spell(name):
    values, unit = LISTS[name]
    found = multiples(np.array(values))
    assert found[0] == unit
    for value, times in zip(values, found[1].tolist(), strict=True):
        assert abs(Fraction(value) - unit * times) <= abs(Fraction(value)) / 2**50
    assert math.gcd(*found[1].tolist()) == 1


def test_every_fraction_of_few_digits_is_known_by_its_multiples():
    drawn = np.random.default_rng(3)
    for _ in range(200):
        q, p = int(drawn.integers(1, 1000)), int(drawn.integers(1, 50))
        times = drawn.integers(-500, 500, 8)
        times[0] = 1
        unit = Fraction(p, q)
        found = multiples(times * (p / q))  # as an array adds up to it: off by a rounding or two
        assert found[0] == unit
        assert np.array_equal(found[1], times)


def test_a_zero_that_floats_add_up_to_is_one():
    """-0.3, -0.2, … in steps of 0.1 have 5e-17 in their middle, and whole noise all the same."""
    values = np.arange(-0.3, 0.35, 0.1)
    assert 0 < abs(values[3]) < 1e-16
    unit, times = multiples(values)
    assert unit == Fraction(1, 10)
    assert times.tolist() == [-3, -2, -1, 0, 1, 2, 3]
    stream = ln.stream(
        ln.Prefix(4),
        budget=ln.pure_dp(40.0),
        domain=ln.Points(values[:, None]),
        relation=ln.Box([-0.1], [0.1]),
    )
    mechanism = stream.terms.mechanism
    assert stream.terms.name == "geometric"
    codes = mechanism.coding.encode(values[:, None])[:, 0]
    assert np.array_equal(np.diff(codes), np.full(6, mechanism.noise.spacing[0]))
    assert ln.verify(stream.to_json())


def test_what_has_no_step_in_common_has_none():
    assert multiples(np.array([0.0, 1.0, math.pi])) is None
    assert multiples(np.array([1e-9, 1.0])) is None  # 10^9 steps
    assert multiples(np.zeros(3))[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", LISTS)
def test_sums_are_those_of_decimals_and_not_of_floats(name, relation):
    """10,000 values in integers, worth what their decimals add up to but for a last rounding."""
    values, unit = LISTS[name]
    domain = ln.Points(np.array(values)[:, None])
    stream = ln.stream(
        ln.Prefix(10_000),
        budget=ln.pure_dp(200.0),
        domain=domain,
        relation=relation,
        strategy="tree",
        mechanism="geometric",
    )
    mechanism = stream.terms.mechanism
    coding = mechanism.coding
    own = np.random.default_rng(4).integers(0, len(values), 10_000)
    codes = coding.encode(domain.points[own])[:, 0].tolist()
    times = multiples(np.array(values))[1]
    exact = unit * sum(times[own].tolist())
    found = Fraction(sum(codes)) * Fraction(float(coding.step[0]))
    found += 10_000 * Fraction(float(coding.center[0]))
    # the unit is a float, and so is the point that codes are taken about under "substitute"
    lost = Fraction(sum(map(abs, codes))) * Fraction(float(coding.step[0]))
    lost += 10_000 * abs(Fraction(float(coding.center[0])))
    rounded = 0 if relation == "add_remove" else 10_000 * Fraction(float(coding.step[0])) / 2
    assert abs(found - exact) <= lost / 2**50 + rounded
    spacing = int(mechanism.noise.spacing[0])
    listed = coding.encode(domain.points)[:, 0]
    assert not np.any((listed - listed[0]) % spacing)
    if relation == "add_remove":
        assert coding.encode(np.zeros((1, 1)))[0, 0] == 0
        assert np.array_equal(listed * unit.denominator, times * unit.denominator * spacing)
    assert 0.5 <= mechanism.off[0] / (10_000 * coding.step[0]) < 5


def test_codes_far_from_zero_are_multiples_though_differences_of_floats_are_not():
    """Differences of such floats are off by more than a step of the grid. Red: points rounded."""
    points = np.array([[1e6 + 0.1], [1e6 + 0.4], [1e6 + 1.0]])
    stream = ln.stream(
        ln.Prefix(4),
        budget=ln.pure_dp(200.0),
        domain=ln.Points(points),
        relation="substitute",
        mechanism="geometric",
    )
    mechanism = stream.terms.mechanism
    codes, spacing = mechanism.coding.encode(points)[:, 0], int(mechanism.noise.spacing[0])
    assert np.array_equal(np.diff(codes), [spacing, 2 * spacing])
    assert spacing * mechanism.coding.step[0] == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
@pytest.mark.parametrize("name", LISTS)
def test_they_err_no_more_than_the_best_of_others(name, epsilon):
    domain = ln.Points(np.array(LISTS[name][0])[:, None])
    asked = {"budget": ln.pure_dp(epsilon), "domain": domain}
    stream = ln.stream(ln.Prefix(12), **asked)
    errors = [own.error for own in stream.terms.alternatives if own.error]
    assert stream.error == pytest.approx(min(errors), rel=1e-9)
    usual = ln.stream(ln.Prefix(12), **asked, mechanism="laplace")
    assert stream.error <= usual.error * (1 + 1e-9)


def test_a_unit_changes_no_noise():
    """Tenths err a tenth of what their multiples do: the same noise, in another unit."""
    errors = [
        ln.stream(
            ln.Prefix(12),
            budget=ln.pure_dp(6.0),
            domain=ln.Points(np.array([[0.0], [1.0], [4.0]]) * unit),
            mechanism="geometric",
        ).error
        / unit
        for unit in (1.0, 0.1, 1 / 3, 0.01, 12.5)
    ]
    assert errors == pytest.approx([errors[0]] * 5, rel=1e-6)


def test_a_grid_that_is_coarse_is_of_parts_of_what_values_are_apart_by():
    """Long sums leave few bits below a value: powers of two would be no parts of so odd ones."""
    odd = 1 + 2.0**-25
    stream = ln.stream(
        [[2.0**20]],
        budget=ln.pure_dp(2.0),
        domain=ln.Points([[0.0], [odd], [2.0**18 * odd]]),
        relation=ln.Box([-odd], [odd]),
        mechanism="geometric",
    )
    mechanism = stream.terms.mechanism
    assert mechanism.noise.spacing[0] * mechanism.coding.step[0] == odd
    assert np.log2(mechanism.noise.spacing[0]) < 25
    assert ln.verify(stream.to_json())


def test_a_step_of_a_file_is_part_of_what_values_are_apart_by():
    asked = {"budget": ln.pure_dp(6.0), "domain": ln.Grid([0], [0.5], 0.1)}
    stream = ln.stream(ln.Prefix(8), **asked, mechanism="geometric")
    fields = json.loads(document(stream.terms))
    (step,) = fields["terms"]["noise"]["step"]
    for other in (step * 1.5, step * 3, step * (1 + 2**-40), -step, 0.0, 0.2):
        fields["terms"]["noise"]["step"] = [other]
        with pytest.raises(FileError, match="step"):
            StreamPlan.from_json(json.dumps({**fields, "derived": {}}))
    laplace = json.loads(document(ln.stream(ln.Prefix(8), **asked, mechanism="laplace").terms))
    laplace["terms"]["noise"]["step"] = [step]
    with pytest.raises(FileError, match="step is not made of powers of two"):
        StreamPlan.from_json(json.dumps({**laplace, "derived": {}}))


def test_a_value_between_two_counts_as_the_nearest():
    terms = ln.stream(
        ln.Prefix(6), budget=ln.pure_dp(8.0), domain=ln.Grid([0], [1], 0.1), mechanism="geometric"
    ).terms
    given = [0.1, 0.13, 0.16, 2.0, -7.0, math.nan]
    meant = [0.1, 0.1, 0.2, 1.0, 0.0, 0.0]
    one, other = (
        start(terms, randomness=SimulationRandomness(1)).update_many(own) for own in (given, meant)
    )
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("given", "points"),
    [
        (([0], [3]), [0, 1, 2, 3]),
        (([-1], [1], 0.5), [-1, -0.5, 0, 0.5, 1]),
        (([0.1], [0.7], [0.2]), [0.1, 0.3, 0.5, 0.7]),
        (([0], [1], 1 / 3), [0, 1 / 3, 2 / 3, 1]),
        (([5], [5]), [5]),
        (([0], [1], np.array(0.5)), [0, 0.5, 1]),
        (([0], [3e23], 1e23), [0, 1e23, 2e23, 3e23]),  # 3·10^23 is no three floats of 10^23
        (([2.0**40 - 1], [2.0**40]), [2**40 - 1, 2**40]),
    ],
)
def test_a_grid_lists_all_its_values(given, points):
    assert ln.Grid(*given).points.ravel().tolist() == points


def test_a_grid_of_several_numbers_lists_all_pairs():
    found = {tuple(own) for own in ln.Grid([0, 1], [2, 1.5], [1, 0.25]).points.tolist()}
    assert found == set(itertools.product([0.0, 1.0, 2.0], [1.0, 1.25, 1.5]))
    assert len(ln.Grid([0], [2**18 - 1]).points) == 2**18


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([0], [1], 0.3), "Grid.upper[0]=1 is 3.3333333333333335 times Grid.spacing[0]=0.3"),
        (([0], [1234570], 7), "Grid.lower[0]=0; give 1234569.0"),  # 1.23457e+06 is what was given
        (([0], [1], np.float32(0.1)), "spacing[0]=0.10000000149011612 above"),  # and not 10 × 0.1
        (([1e16], [1e16 + 10]), "Grid.spacing[0]=1 is less than 2^-40 of 1.000000000000001e+16"),
        (([-1e12], [1 - 1e12], 1e-4), "Grid.spacing[0]=0.0001 is less than 2^-40 of -1e+12, where"),
        (([0, 0], [1, 1.05], 0.1), "above Grid.lower[1]=0; give 1"),
        (([1], [0]), "Grid.lower[0]=1 exceeds Grid.upper[0]=0; swap them"),
        (([0], [1], 0), "Grid.spacing[0]=0 is not above 0"),
        (([0], [1], -1), "Grid.spacing[0]=-1 is not above 0"),
        (([0], [2**18]), "Grid has more than 2^18 values from 0 to 262144, 1 apart"),
        (([0, 0], [999, 999]), "Grid has more than 2^18 values"),
        (([0, 0], [1]), "Grid.lower has 2 coordinates, Grid.upper 1 and Grid.spacing 2"),
        (([0], [1], [1, 1]), "Grid.lower has 1 coordinates, Grid.upper 1 and Grid.spacing 2"),
        (([0], [1], "tenth"), "Grid.spacing is not a list of numbers"),
        (([0], [math.inf]), "Grid.upper[0]=inf is not finite"),
    ],
    ids=str,
)
def test_what_is_no_grid_is_refused_in_one_line(given, said):
    with pytest.raises(DomainError) as error:
        ln.Grid(*given)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
