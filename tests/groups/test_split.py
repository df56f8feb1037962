# SPDX-License-Identifier: Apache-2.0
"""Pure noise on several margins of groups, ε split over them: what it reveals, and least squares.

Mutants, each seen red: weights that are even over tables, a space's variance without a factor, ε of
one table alone, a table's scale forgotten in the draw or in the covariance, the exact law of one
group's noise taken for a mixture's intervals.
"""

import functools
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import FileError, PlanError
from lownoise.noise import RadialNoise, StaircaseNoise
from lownoise.noise.joint_groups import joint_mechanism
from lownoise.noise.measured import MeasuredTables
from lownoise.noise.units import Repeated
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning import Plan

BOX = ln.Box([0, 100], [80, 900])
BY = {"sex": ["F", "M"], "region": 5, "job": 4}
RNG = np.random.default_rng(5)
ROWS = 3000
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(45, 30, ROWS),
        "pay": RNG.gamma(2, 200, ROWS),
        "sex": RNG.choice(["F", "M"], ROWS),
        "region": RNG.integers(0, 5, ROWS),
        "job": RNG.integers(0, 4, ROWS),
    }
)
KINDS = {
    "means": lambda: ln.Mean(["age", "pay"], BOX, by=BY, way=1, outside="extra"),
    "totals": lambda: ln.Sum(["age", "pay"], BOX, by=BY, way=1, outside="extra"),
    "moments": lambda: ln.Moments(["age"], ln.Box([0], [80]), by=BY, way=1, outside="extra"),
}


@functools.cache
def planned(kind="means", epsilon=1.0, mechanism=None, relation="add_remove", **more):
    size = ROWS if relation == "substitute" else None
    return ln.plan(
        KINDS[kind](),
        budget=ln.pure_dp(epsilon),
        relation=relation,
        size=size,
        mechanism=mechanism,
        weights="range",
        **more,
    )


def summed(sizes, chosen):
    """What the groups of a margin add up, of all joint groups."""
    own = np.ones((1, 1))
    for i, n in enumerate(sizes):
        own = np.kron(own, np.eye(n) if i in chosen else np.ones((1, n)))
    return own


@pytest.mark.parametrize(
    ("sizes", "sets", "scales"),
    [
        ((2, 3), ((0,), (1,)), (1.0, 2.5)),
        ((2, 1, 3), ((0, 1), (0, 2), ()), (0.7, 2.0, 3.0)),
        ((3, 2, 2), ((0, 1), (1, 2), (0, 1, 2), (2,)), (1.5, 0.8, 4.0, 2.0)),
    ],
)
def test_margins_are_the_least_squares_of_all_tables(sizes, sets, scales):
    """By the pseudoinverse over all joint groups: written a second time."""
    measured = MeasuredTables(sizes, sets, scales)

    seen = np.vstack([summed(sizes, s) for s in sets])
    variances = np.repeat(np.square(scales), [len(summed(sizes, s)) for s in sets])
    white = seen / np.sqrt(variances)[:, None]
    solved = np.linalg.pinv(white) / np.sqrt(variances)
    noisy = np.random.default_rng(1).normal(size=(len(seen), 2))
    ends = np.cumsum([len(summed(sizes, s)) for s in sets])[:-1]
    tables = [
        part.reshape(*(sizes[i] for i in s), 2)
        for s, part in zip(sets, np.split(noisy, ends), strict=True)
    ]
    for k in range(len(sizes) + 1):
        for chosen in itertools.combinations(range(len(sizes)), k):
            if not measured.covers(chosen):
                assert not any({i for i in chosen if sizes[i] > 1} <= {*s} for s in sets)
                continue
            wanted = summed(sizes, chosen) @ solved
            assert measured.matrix(chosen) == pytest.approx(wanted, abs=1e-12)
            assert np.diag(wanted * variances @ wanted.T) == pytest.approx(
                measured.variance(chosen), rel=1e-12
            )
            found = measured.read(tables, chosen)
            assert found.reshape(-1, 2) == pytest.approx(wanted @ noisy, abs=1e-12)


@pytest.mark.grid
@pytest.mark.parametrize(
    ("kind", "mechanism"),
    [("means", "k_norm"), ("means", "laplace"), ("totals", "k_norm"), ("moments", "ellipsoid")],
)
def test_all_tables_together_reveal_no_more_than_the_budget(kind, mechanism):
    """A record adds one vector to one group of each table: Σ ‖y‖/s over them, worst at a corner."""
    plan = planned(kind, mechanism=mechanism)
    own = plan.terms.mechanism
    noise, measured = own.noise, own.totals.measured
    assert len(noise.tables) == 3
    assert 1 - 1e-6 < own.loss.epsilon <= 1
    rows = TABLE.assign(age=np.where(TABLE.age < 40, 0.0, 80.0), pay=900.0)[:8]
    worst = 0.0
    for i in range(len(rows)):
        one = np.array(own.totals.exact(own.read(rows[i : i + 1])), float)
        parts = one.reshape(noise.groups, -1)
        moved = np.flatnonzero(np.any(parts, axis=1))
        tables = np.searchsorted(np.cumsum(measured.cells), moved, side="right")
        assert tables.tolist() == [0, 1, 2]  # one group of each
        found = 0.0
        for place, y in zip(moved, parts[moved], strict=True):
            if mechanism == "laplace":
                found += float(np.sum(np.abs(y) / noise.inner.scales)) / noise.scales[place]
            else:
                norm = float(noise.inner.gauge.norm_up(y[None])[0])
                found += norm / noise.inner.scale / noise.scales[place]
        worst = max(worst, found)
    assert worst <= own.loss.epsilon * (1 + 1e-12)  # a norm here is rounded up
    if mechanism == "laplace" and kind == "means":
        assert worst > 0.95
    less = joint_mechanism(plan.terms.question, _values(plan), None, measured.scaled(0.5))
    assert less.loss.epsilon == pytest.approx(2 * own.loss.epsilon)
    assert less.loss.rho > own.loss.rho


def _values(plan):
    """Return the mechanism of the mean that groups are made of."""
    own = plan.terms.mechanism
    return replace(own, totals=own.totals.inner, noise=own.noise.inner)


@pytest.mark.grid(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_split_errs_less_than_joint_groups_and_answers_agree(kind):
    plan = planned(kind)
    joint = joint_mechanism(plan.terms.question, _values(plan))
    noise = np.linalg.norm(joint.deviations)
    assert np.linalg.norm(plan.standard_deviation) < 0.65 * noise
    assert np.sqrt(np.diag(plan.covariance)) == pytest.approx(plan.standard_deviation, rel=1e-9)
    release = plan.release(TABLE)
    every = release.groups()
    for name in BY:
        found = release.groups(name)
        assert found.sums.sum(axis=0) == pytest.approx(every.sums[0])
        if found.counts is not None:
            assert found.counts.sum() == pytest.approx(every.counts[0])
    assert ln.verify(plan.to_json())
    assert ln.verify(release.to_json())
    again = type(release).from_json(release.to_json())
    assert np.array_equal(again.estimate, release.estimate)
    assert str(again) == str(release)
    assert np.array_equal(again.standard_deviation, plan.standard_deviation)


@pytest.mark.grid(3)
@pytest.mark.parametrize("mechanism", ["k_norm", "laplace", "recursive", "ellipsoid"])
def test_answers_stray_as_they_say_and_hold_the_rows(mechanism):
    """Of 3,000 draws variances stray by 5.4·√(5/3000) of themselves with chance below 1e-7 each: a
    Laplace number has kurtosis 6, mixtures less. A scale that is forgotten is off by 40% and more.
    """
    plan = planned(mechanism=mechanism)
    own = plan.terms.mechanism
    drawn = own.simulate(3000, SimulationRandomness(2))
    far = 5.4 * math.sqrt(5 / 3000)
    assert np.mean(drawn**2, axis=0) == pytest.approx(plan.standard_deviation**2, rel=far)
    source, records = SimulationRandomness(3), own.read(TABLE)
    exact = np.array(own.totals.exact(records), float)
    runs = np.array([own.run(records, randomness=source) for _ in range(60)], float) - exact
    deviations = own.noise.deviations(np.ones(own.length), None)
    strays = np.mean((runs / deviations) ** 2, axis=0).reshape(own.noise.groups, -1)
    # 60 draws of 10 numbers at least a table, of kurtosis 6 at most: 0.5 off is 5.4 deviations
    ends = np.cumsum(own.totals.measured.cells)[:-1]
    assert all(abs(np.mean(part) - 1) < 0.5 for part in np.split(strays, ends))
    sharp = planned(epsilon=1000, mechanism=mechanism)
    found = sharp.release(TABLE).groups("region")
    for k in range(5):  # 40 deviations: of a mixture of such noises beyond them is below e^-40
        kept = TABLE[TABLE.region == k]
        far = 40 * found.count_deviation
        assert found.counts[k] == pytest.approx(len(kept), abs=far)
        far = 40 * found.sum_deviations[0]
        assert found.sums[k, 0] == pytest.approx(kept.age.clip(0, 80).sum(), abs=far)


def test_intervals_of_mixtures_cover_at_least_as_often_as_they_say():
    """At level 0.8, 120 runs of 12 groups' means: 5.4 deviations below has chance below 1e-7."""
    plan = planned(epsilon=0.5)
    own, source = plan.terms.mechanism, SimulationRandomness(4)
    records, release = own.read(TABLE), plan.release(TABLE)
    hits, kept = dict.fromkeys(BY, 0), {}
    for name, declared in BY.items():
        listed = declared if isinstance(declared, list) else range(declared)
        kept[name] = np.array([TABLE[TABLE[name] == v].age.clip(0, 80).mean() for v in listed])
    for _ in range(120):
        found = replace(release, integers=own.run(records, randomness=source))
        for name, own_means in kept.items():
            inside = found.groups(name, level=0.8).intervals[: len(own_means), 0]
            hits[name] += (inside[:, 0] <= own_means) & (own_means <= inside[:, 1])
    for counted in hits.values():
        assert np.all(counted >= 0.8 * 120 - 5.4 * math.sqrt(120 * 0.16))
    assert not release.terms.view.one_noise((1,))


@pytest.mark.parametrize("kind", ["means", "totals"])
def test_a_public_number_of_rows_and_units_are_within_the_budget(kind):
    public = planned(kind, relation="substitute")
    assert len(public.terms.mechanism.noise.tables) == 3
    assert 1 - 1e-6 < public.terms.mechanism.loss.epsilon <= 1
    assert ln.verify(public.release(TABLE).to_json())
    own = public.terms.mechanism.totals
    if kind == "means":  # counts are the least squares with all rows known, sums without
        width, sizes, tables = own.width, own.measured.sizes, own.measured
        margins = [*own.question.groups.sets()]
        seen = np.vstack([np.ones((1, math.prod(sizes))), *(summed(sizes, s) for s in tables.sets)])
        variances = np.repeat(np.square(tables.scales), tables.cells)
        for place, all_rows in ((width - 1, 1e-12), (0, 1e12)):
            deviations = np.sqrt(np.append(all_rows, variances))
            solved = np.linalg.pinv(seen / deviations[:, None], rcond=1e-9) / deviations
            wanted = np.vstack([summed(sizes, s) for s in margins]) @ solved[:, 1:]
            assert own.embed[place::width, place::width] == pytest.approx(wanted, abs=1e-6)
    for relation in ("add_remove", "substitute"):
        plan = ln.plan(
            KINDS[kind](), budget=ln.pure_dp(1), relation=relation,
            privacy_unit="age", rows_per_unit=4,
        )  # fmt: skip
        assert len(plan.terms.mechanism.noise.tables) == 3
        assert 1 - 1e-6 < plan.terms.mechanism.loss.epsilon <= 1
        assert ln.verify(plan.to_json())


def test_noise_whose_density_falls_in_steps_tells_of_each_group_that_a_unit_is_in():
    """One row of four moves its group by a whole step of e^ε: four rows in four groups by four."""
    q = ln.Sum(["age"], ln.Box([0], [80]), by={"region": 5}, outside="extra")
    own = ln.plan(
        q, budget=ln.pure_dp(4), relation="add_remove", mechanism="k_norm",
        privacy_unit="job", rows_per_unit=4,
    ).terms.mechanism  # fmt: skip
    row, gauge = own.totals.changes, own.noise.inner.gauge
    wide = gauge.sensitivity_up(row) * 4
    steps = StaircaseNoise(gauge, wide, 4.0, 0.2)
    assert steps.loss(row).epsilon == steps.loss(Repeated(row, 4)).epsilon == 4
    found = replace(own, noise=replace(own.noise, inner=steps)).loss
    assert found.epsilon >= 4 * 4
    alone = steps.loss(row)
    assert found.rho >= 4 * alone.rho and found.mu >= 2 * alone.mu  # noqa: PT018
    two = replace(own.noise, inner=steps, tables=((2, 1.0),))  # no more groups are there
    assert two.loss(Repeated(row, 4)).epsilon == 2 * 4
    became = replace(own.noise, inner=steps, public=True).loss(Repeated(row, 4))
    assert became.epsilon >= 2 * 4 * 4  # four groups lose a row each, and four get one
    balls = RadialNoise(1.0, wide, np.ones(1), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    one, all_in_one = balls.loss(row), balls.loss(Repeated(row, 4))
    spread = replace(own.noise, inner=balls).loss(Repeated(row, 4))
    assert spread.epsilon >= 4 * one.epsilon > all_in_one.epsilon
    assert spread.delta >= min(4 * one.delta, 1)


@pytest.mark.parametrize("mechanism", ["ellipsoid", "recursive"])
def test_of_noise_of_a_ball_or_with_such_levels_units_in_groups_are_charged_epsilon(mechanism):
    """Its ρ and μ² add up over rows of one group; over groups only ε is known to."""
    q = ln.Sum(["x", "y", "z"], ln.Ball(3, radius=2.0), by={"g": 3})
    asked = {"budget": ln.pure_dp(1), "relation": "add_remove", "mechanism": mechanism}
    rows, units = (
        ln.plan(q, **asked, **more)
        for more in ({}, {"privacy_unit": "u", "rows_per_unit": 3, "order_by": ["x"]})
    )
    assert units.terms.mechanism.noise.inner.of_ball
    assert math.isfinite(rows.terms.mechanism.loss.rho)
    assert units.terms.mechanism.loss.rho == units.terms.mechanism.loss.mu == math.inf
    assert units.cost.rho == pytest.approx(math.tanh(0.5))
    assert ln.verify(units.to_json())


def test_a_column_that_never_moves_needs_no_noise_on_any_table():
    box = ln.Box([0, 5], [80, 5])
    for by, tables in ((BY, 3), ({"region": 5}, 1)):
        q = ln.Mean(["age", "pay"], box, by=by, way=1, outside="extra")
        plan = ln.plan(q, budget=ln.pure_dp(1), relation="add_remove")
        assert len(plan.terms.mechanism.noise.tables) == tables
        assert 1 - 1e-6 < plan.terms.mechanism.loss.epsilon <= 1
    assert ln.verify(plan.release(TABLE.assign(pay=5)).to_json())


def test_joint_groups_are_kept_where_they_do_as_well_and_many_are_planned_split():
    both = ln.Mean(["age"], ln.Box([0], [80]), by={"sex": ["F", "M"], "region": 3}, way=2)
    plan = ln.plan(both, budget=ln.pure_dp(1), relation="add_remove")
    assert plan.terms.mechanism.totals.tables is None
    assert "tables" not in json.loads(plan.to_json())["terms"]["noise"]
    box = ln.Box(np.zeros(4), np.ones(4))
    wide = ln.Mean(list("wxyz"), box, by={"a": 50, "b": 20, "c": 10}, way=1)
    many = ln.plan(wide, budget=ln.pure_dp(1), relation="add_remove")
    assert many.terms.mechanism.noise.groups == 80
    # a release a margin, ε in even parts, which do not agree
    alone = ln.plan(wide.mean, budget=ln.pure_dp(1 / 3), relation="add_remove")
    apart = np.linalg.norm(alone.standard_deviation) * math.sqrt(80)
    assert np.linalg.norm(many.standard_deviation[5:]) < 0.97 * apart
    with pytest.raises(PlanError, match="too many for pure noise"):
        joint_mechanism(wide, _values(many))


def test_edited_files_are_refused():
    plan = planned(mechanism="laplace")
    noise = json.loads(plan.to_json())["terms"]["noise"]
    for edit in (
        {"scales": [s * 0.9 for s in noise["scales"]]},
        {"scales": [-1.0, *noise["scales"][1:]]},
        {"scales": noise["scales"][:2]},
        {"tables": [[0], [1], [3]]},
        {"tables": [[0], [1], [1]]},
        {"tables": [[0], [1], [True]]},
        {"tables": noise["tables"][:2], "scales": noise["scales"][:2]},
        {"tables": "all"},
        {"tables": [], "scales": []},
    ):
        document = json.loads(plan.to_json())
        document["terms"]["noise"].update(edit)
        with pytest.raises(FileError) as found:
            Plan.from_json(json.dumps(document))
        assert "\n" not in str(found.value)
