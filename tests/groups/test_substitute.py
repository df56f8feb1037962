# SPDX-License-Identifier: Apache-2.0
"""Means by groups where one record becomes another, of any group: how many there are is public.

Mutants, each seen red: 4h(r² − 1/v) without its 4, h without its 2 beside C, noise on the count
of all rows, the count's variance left in a margin's, evidence with 4C' where 2C' is known, pure
noise at the whole ε, a table of another size taken.
"""

import itertools
import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from benchmarks.totals import of_any_shape

import lownoise as ln
from cases import MEMBERS
from edits import edited
from groups.test_groups import BOX, COLUMNS, PURE, N, asked, covariance_of_integers, exact, table
from lownoise.errors import FileError, LownoiseError
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.group_noise import group_mechanism, group_values, with_diameter
from lownoise.noise.joint_groups import joint_mechanism
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning import Plan
from lownoise.planning.comparing import alternative
from lownoise.release.comparison import Comparison
from lownoise.release.guarantees import tail_quantile
from lownoise.sensitivity.factors import DenseShape
from refusals import refused_plan

BUDGET = ln.zcdp(0.1)


def planned(question, budget=BUDGET, **more):
    return ln.plan(question, budget=budget, relation="substitute", **{"size": N, **more})


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize("place", range(1, len(MEMBERS), 6), ids=lambda i: MEMBERS[i].name)
def test_no_change_of_a_record_is_farther_than_is_charged(place):
    """From any group and values to any other, by the definition of the noise."""
    member = MEMBERS[place]
    if member.domain.oracles:
        return
    names = [f"c{i}" for i in range(member.domain.dimension)]
    order = (2.0, 3.0, math.inf)[place % 3]
    plan = planned(asked(member.domain, names, way=1 + place % 2), order=order)
    mechanism = plan.terms.mechanism
    sample = member.sample(np.random.default_rng(place), 9)
    found = []
    for k, point in enumerate(sample):
        row = dict(zip(names, point, strict=True)) | {"sex": "FM?"[k // 3], "region": k % 3}
        one = pd.DataFrame([row] * N)
        found.append(np.array(mechanism.totals.exact(mechanism.read(one)), dtype=float) / N)
    covariance = covariance_of_integers(plan)
    exact_one = (
        mechanism.totals.width - 1
    )  # the count of all rows, which has no noise and never moves
    kept = np.delete(np.arange(len(covariance)), exact_one)
    inverse = np.linalg.pinv(covariance[np.ix_(kept, kept)], hermitian=True)
    lengths = []
    for one, other in itertools.combinations(found, 2):
        change = one - other
        assert change[exact_one] == 0
        lengths.append(math.sqrt(change[kept] @ inverse @ change[kept]))
    assert max(lengths) <= mechanism.loss.mu * (1 + 1e-9)
    assert mechanism.loss.mu <= plan.terms.parameter < mechanism.loss.mu * (1 + 1e-6)


RIM = np.arange(24) * math.pi / 12
DISC = np.vstack([r * np.column_stack([np.cos(RIM), np.sin(RIM)]) for r in (0, 0.3, 0.6, 0.8, 1)])


def of_moments(rows):
    left, right = np.triu_indices(rows.shape[1])
    return np.hstack([rows, rows[:, left] * rows[:, right]])


APART = {  # the question, what records add, and how much of what opposite ones would be is charged
    "moments of a disc": (ln.Moments, ln.Ball(2), None, of_moments(DISC), 0.93),
    "off": (ln.Mean, ln.Box([0, 0], [3, 1]), [1.0, 0.5], [(0, 0), (3, 0), (0, 1), (3, 1)], 1.0),
}


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("name", "order", "share", "near"),
    [
        ("moments of a disc", 2.0, 0.05, 0.85),
        ("moments of a disc", math.inf, None, 0.97),
        ("off", 2.0, 0.05, 0.85),
    ],
)
def test_two_records_of_a_group_are_as_far_as_is_charged(name, order, share, near):
    """All pairs of records and groups, by the definition; half of D² in the charge is seen red."""
    kind, domain, center, rows, less = APART[name]
    more = {} if center is None else {"center": center}
    question = kind(["x", "y"], domain, by={"g": 3}, outside={"g": 0}, **more)
    plan = planned(question, ln.gaussian_dp(1.0), order=order, count_share=share)
    mechanism = plan.terms.mechanism
    noise, inner = mechanism.noise, mechanism.totals.inner
    values = np.hstack([np.asarray(rows) - question.mean.center, np.ones((len(rows), 1))])
    shape = noise.inner.shape.dense() * np.outer(inner.unit, inner.unit)
    first, second = np.triu_indices(len(values))
    whole, sums = np.linalg.inv(shape), np.linalg.inv(shape[:-1, :-1])
    every, one = 1 / noise.tables.variances
    apart = values[first] - values[second]
    alone = np.einsum("ij,jk,ik->i", apart[:, :-1], sums, apart[:, :-1]) * every / 3
    inside = np.einsum("ij,jk,ik->i", apart, whole, apart) * one * 2 / 3 + alone
    lengths = np.einsum("ij,jk,ik->i", values, whole, values)
    both = np.einsum("ij,jk,ik->i", values[first], whole, values[second])
    between = (2 * (lengths[first] + lengths[second]) + 2 * both) * one / 3 + alone
    found, mu = math.sqrt(max(inside.max(), between.max())), mechanism.loss.mu
    assert near * mu <= found <= mu * (1 + 1e-9)
    opposite = noise.loss(replace(mechanism.totals.becoming, apart=None)).mu
    assert mu <= less * opposite


@pytest.mark.parametrize("share", [None, 0.05])
def test_of_a_box_about_its_middle_the_charge_is_attained(share):
    """Within a group from a corner to the opposite one; with less for the count, too."""
    plan = planned(asked(), count_share=share)
    mechanism, corners = plan.terms.mechanism, [(0.0, 100.0), (80.0, 900.0)]
    inverse = np.linalg.pinv(np.delete(np.delete(covariance_of_integers(plan), 2, 0), 2, 1))
    rows = [
        pd.DataFrame([{"age": a, "pay": b, "sex": sex, "region": 0}] * N)
        for a, b in corners
        for sex in "FM"
    ]
    found = [np.array(mechanism.totals.exact(mechanism.read(r)), dtype=float) / N for r in rows]
    moved = [np.delete(a - b, 2) for a, b in itertools.combinations(found, 2)]
    far = [math.sqrt(m @ inverse @ m) for m in moved]
    assert max(far) == pytest.approx(mechanism.loss.mu, rel=1e-6)


TRIANGLE = ln.Points([[0, 0], [1, 0], [0, 1]])
CUT = ln.intersection(ln.Box([0, 0], [1, 1]), ln.Slab([1, 1], 0, 1))
SHAPES = {
    "middle": (ln.Box([0, 0], [3, 1]), None, list(itertools.product((0, 3), (0, 1)))),
    "off": (ln.Box([0, 0], [3, 1]), [1.0, 0.5], list(itertools.product((0, 3), (0, 1)))),
    "triangle": (TRIANGLE, None, [(0, 0), (1, 0), (0, 1)]),
    "cut": (CUT, None, [(0, 0), (1, 0), (0, 1)]),
}
CLOSE = {"middle": (0.06, 0.06), "off": (0.07, 0.04), "triangle": (0.06, 0.03), "cut": (0.3, 0.1)}
BY = [
    ({"g": 3}, {"sets": [["g"]]}),
    ({"g": 3}, {"way": 1}),
    ({"a": 2, "b": 3}, {"way": 2, "group_weights": [1.0, 3.0, 0.5]}),
]


@cache
def measured(name, place):
    """Return a plan that is charged by how far two records are from each other, at p = ∞."""
    domain, center, _ = SHAPES[name]
    by, more = BY[place]
    rest = {"by": by, "outside": dict.fromkeys(by, 0), "center": center}
    plan = planned(ln.Mean(["x", "y"], domain, **rest, **more), order=math.inf)
    assert plan.terms.mechanism.noise.diameter is not None
    return plan


@pytest.mark.parametrize(("name", "place", "near"), [("triangle", 1, 1 - 1e-6), ("off", 1, 0.98)])
def test_a_change_of_group_and_values_is_charged_as_far_as_it_goes(name, place, near):
    """From each record of each group to all others, by the definition of the noise."""
    plan, (by, _) = measured(name, place), BY[place]
    mechanism, noise = plan.terms.mechanism, covariance_of_integers(plan)
    inverse = np.linalg.pinv(np.delete(np.delete(noise, 2, 0), 2, 1))
    found = [
        mechanism.totals.exact(
            mechanism.read(
                pd.DataFrame([dict(zip(["x", "y", *by], (*record, *own), strict=True))] * N)
            )
        )
        for record in SHAPES[name][2]
        for own in itertools.product(*map(range, by.values()))
    ]
    moved = np.array([np.subtract(a, b) / N for a, b in itertools.combinations(found, 2)])
    assert not np.any(moved[:, 2])  # the count of all rows
    moved = np.delete(moved, 2, axis=1)
    far = math.sqrt(np.max(np.einsum("ij,jk,ik->i", moved, inverse, moved)))
    assert near <= far / mechanism.loss.mu <= 1 + 1e-9
    assert with_diameter(mechanism, None).loss.mu > 1.02 * mechanism.loss.mu


RECORDS = {  # of each domain, those that are the farthest among them, or nearly
    "box": (ln.Box([0, 0], [3, 1]), list(itertools.product((0, 3), (0, 1)))),
    "list": (ln.Points([[0, 0], [3, 1], [1, 2], [2, 0]]), [[0, 0], [3, 1], [1, 2], [2, 0]]),
    "ball": (ln.Ball(2), DISC[-24:]),
}


@pytest.mark.parametrize("name", RECORDS)
def test_whatever_the_noise_no_change_is_more_than_is_charged(name):
    """Noise of any shape and any σ on each space, not that of a plan alone, about any point."""
    domain, rows = RECORDS[name]
    question = ln.Mean(["x", "y"], domain, by={"a": 2, "b": 3}, outside={"a": 0, "b": 0}, way=2)
    own = ln.plan(question, budget=BUDGET, relation="add_remove").terms.mechanism
    rng, sharper = np.random.default_rng(3), 0
    one = own.totals.inner
    values = np.hstack([np.array(rows) - question.mean.center, np.ones((len(rows), 1))]) / one.unit
    first, second = values[np.array(np.triu_indices(len(values)))]
    for _ in range(30):
        apart = np.diag(rng.uniform(0.2, 1, 3) * [4, 3, 1]) + np.tril(rng.normal(size=(3, 3)), -1)
        shape = DenseShape(apart / one.unit[:, None])
        sigma = rng.uniform(0.5, 2, 4)
        inner = replace(group_values(own), noise=GaussianNoise(shape))
        made = group_mechanism(question, inner, sigma, N)
        found = with_diameter(made, made.noise.diameter_up(made.totals.changes))
        assert found.loss.mu <= made.loss.mu * (1 + 1e-12)
        sharper += found.loss.mu < made.loss.mu * (1 - 1e-3)
        whole = np.linalg.inv(shape.dense())
        sums = np.linalg.inv(shape.dense()[:-1, :-1])
        moved = (first - second)[:, :-1]
        lengths = [np.einsum("ij,jk,ik->i", x, whole, x) for x in (first, second)]
        both = np.einsum("ij,jk,ik->i", first, whole, second)
        alone = np.einsum("ij,jk,ik->i", moved, sums, moved) / sigma[0] ** 2
        for same in itertools.product((1, 0), repeat=2):  # attributes in which groups agree
            a, b = (x - 1 / n for x, n in zip(same, (2, 3), strict=True))
            spaces = zip(sigma[1:] ** -2, (1 / 2, 2 / 3, 1 / 3), (a, b, a * b), strict=True)
            cost = alone + sum(w * (h * sum(lengths) - 2 * c * both) for w, h, c in spaces)
            assert math.sqrt(np.max(cost)) <= found.loss.mu * (1 + 1e-9)
    assert sharper > 3


def test_files_of_before_two_records_were_measured_say_what_they_said():
    plan = measured("triangle", 1)
    own, question = plan.terms.mechanism, plan.terms.question
    more = with_diameter(own, None).loss.mu / plan.terms.parameter * (1 + 1e-12)
    wide = own.noise.tables.orbit_deviations * more
    before = group_mechanism(question, group_values(own), wide, N)
    old = replace(plan, terms=replace(plan.terms, mechanism=before))
    assert "diameter" not in old.to_json()
    again = Plan.from_json(old.to_json())
    assert again.terms.mechanism.loss.mu == before.loss.mu == pytest.approx(own.loss.mu)
    assert ln.verify(old.to_json())
    assert ln.verify(plan.to_json())
    assert Plan.from_json(plan.to_json()).terms.mechanism.loss == own.loss
    assert old.error > 1.02 * plan.error


@pytest.mark.parametrize("edit", [lambda x: x * (1 - 1e-8), lambda x: x * 1.01, str, bool, int])
def test_a_file_that_says_otherwise_how_far_two_records_are_is_refused(edit):
    document = json.loads(measured("triangle", 1).to_json())
    noise = document["terms"]["noise"]
    noise["diameter"] = edit(noise["diameter"])
    with pytest.raises(FileError, match=r"noise\.diameter is not how far"):
        Plan.from_json(json.dumps(document))


def test_a_file_of_records_that_come_and_go_says_no_such_length():
    plan = ln.plan(asked(), budget=BUDGET, relation="add_remove")
    document = json.loads(plan.to_json())
    document["terms"]["noise"]["diameter"] = 1.0
    with pytest.raises(FileError, match=r"noise\.diameter is of means"):
        Plan.from_json(json.dumps(document))


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("shape", "order", "place"),
    [
        ("middle", 2.0, 0),
        ("middle", 3.0, 1),
        ("middle", math.inf, 2),
        ("off", 2.0, 2),
        ("off", 3.0, 0),
        ("off", math.inf, 1),
        ("triangle", 2.0, 1),
        ("triangle", 3.0, 2),
        ("triangle", math.inf, 1),
        ("cut", 2.0, 1),
    ],
)
def test_the_least_noise_of_any_shape_is_between_the_ends(shape, order, place):
    """Against the general solver, for all e_g ⊗ y − e_g' ⊗ y', in the space that they span."""
    domain, center, corners = SHAPES[shape]
    by, more = BY[place]
    rest = {"by": by, "outside": dict.fromkeys(by, 0), "center": center}
    question = ln.Mean(["x", "y"], domain, **rest, **more)
    plan = planned(question, ln.gaussian_dp(1.0), order=order)
    values = np.array([[*(np.array(x) - question.mean.center), 1.0] for x in corners])
    ends, own = of_any_shape(question, plan.terms.weights, values, order), plan.certificate
    assert own.lower <= ends.upper * (1 + 1e-9)
    assert ends.lower <= own.upper * (1 + 1e-9)
    gap, excess = CLOSE[shape]
    assert own.gap < gap
    assert own.upper < ends.lower * (1 + excess)


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("order", "place", "most", "far"),
    [(2.0, 0, 0.01, 0.001), (math.inf, 1, 0.01, 0.001), (2.0, 2, 0.07, 0.04)],
)
def test_moments_are_proved_by_records_that_are_drawn_anew_in_another_group(
    order, place, most, far
):
    """Against the general solver on moments of 1, 0 and −1 alone, which prove as much."""
    by, more = BY[place]
    question = ln.Moments(["x"], ln.Box([-1], [1]), by=by, outside=dict.fromkeys(by, 0), **more)
    plan = planned(question, ln.gaussian_dp(1.0), order=order, size=1)
    own = plan.certificate
    assert plan.terms.evidence.apart is not None
    values = np.array([[1.0, 0.5, 1.0], [0.0, -0.5, 1.0], [-1.0, 0.5, 1.0]])
    least = of_any_shape(question, plan.terms.weights, values, order)
    assert own.lower <= least.upper * (1 + 1e-9)
    assert least.lower <= own.lower * (1 + far)
    assert own.gap < most
    assert ln.verify(plan.to_json())


def test_sums_cost_no_more_than_without_groups():
    """About the middle of a box counts of groups are free: sums err as if there were none."""
    plan = planned(asked(way=None, sets=[["sex", "region"]]), order=math.inf)
    alone = ln.plan(asked().mean, budget=BUDGET, relation="substitute", size=N, order=math.inf)
    assert plan.standard_deviation.reshape(-1, 3)[:, :2] == pytest.approx(
        np.tile(N * alone.standard_deviation, (12, 1)), rel=1e-5
    )


@pytest.mark.grid(1)
@pytest.mark.parametrize("center", [None, [10.0, 850.0]])
def test_the_count_of_all_rows_is_exact_and_margins_agree(center):
    """With noise of 10^-4 of a record. Six deviations: chance below 1e-6 of any false alarm."""
    question = asked(center=center)
    plan, rows = planned(question, ln.zcdp(1e5)), table()
    release = plan.release(rows)
    wanted = [exact(rows, question, question.groups.names(s)) for s in question.groups.sets()]
    off = np.abs(release.estimate - np.concatenate([own.ravel() for own in wanted]))
    assert np.all(off <= 6 * plan.standard_deviation + 1e-6)
    assert plan.standard_deviation[2] == 0
    assert release.groups().counts == [N]
    assert release.groups().count_deviation == 0
    for names in (["sex"], ["region"], ["sex", "region"]):
        found = release.groups(*names)
        assert found.counts.sum() == pytest.approx(N, rel=1e-12)
        assert found.sums.sum(axis=0) == pytest.approx(release.groups().sums[0], rel=1e-9)
    assert not np.any(release.groups().intervals[..., 0] > release.groups().means)


def test_covariances_are_those_of_the_noise():
    """Of 6,000 draws, as of add_remove; off the middle, so that sums and counts go together."""
    plan = planned(asked(center=[0.0, 900.0]))
    totals = plan.terms.mechanism.totals
    noise = plan.terms.mechanism.noise.simulate(6000, SimulationRandomness(5))
    matrix = np.array([totals.answers(row) for row in np.eye(totals.length, dtype=int).tolist()])
    found, covariance, scale = noise @ matrix, plan.covariance, plan.standard_deviation
    assert np.sqrt(np.diag(covariance)) == pytest.approx(scale, rel=1e-9)
    near, one = found.T @ found / len(found), np.where(scale > 0, scale, 1.0)
    wanted = covariance / np.outer(one, one)
    stray = np.sqrt((1 + wanted**2) / len(found))
    assert np.all(np.abs(near / np.outer(one, one) - wanted) <= 6.2 * stray)
    assert np.all(near[2] == 0)


@pytest.mark.sweep("test_covariances_are_those_of_the_noise")
def test_intervals_of_means_cover_as_often_as_they_say():
    """At level 0.6, 110 runs of 8 means: 5.4 deviations off the expected hits, below 1e-7 each."""
    question = asked(center=[0.0, 900.0], sets=[[], ["sex"]], way=None, outside="extra")
    plan, rows, source, runs = (
        planned(question, size=4000),
        table(4000),
        SimulationRandomness(7),
        110,
    )
    mechanism = plan.terms.mechanism
    records, first, hits = mechanism.read(rows), plan.release(rows), {}
    for _ in range(runs):
        release = replace(first, integers=mechanism.run(records, randomness=source))
        for names in ((), ("sex",)):
            found = release.groups(*names, level=0.6)
            truth = exact(rows, question, names).reshape(-1, 3)
            means = question.mean.center + truth[:, :-1] / truth[:, -1:]
            inside = (found.intervals[..., 0] <= means) & (means <= found.intervals[..., 1])
            hits[names] = hits.get(names, 0) + inside
    for own in hits.values():
        assert np.all(np.abs(own - 0.6 * runs) <= 5.4 * math.sqrt(runs * 0.24)), own


@pytest.mark.grid(3)
@pytest.mark.parametrize("place", range(0, len(MEMBERS), 9), ids=lambda i: MEMBERS[i].name)
def test_files_hold_all_and_verify(place):
    member = MEMBERS[place]
    if member.domain.oracles:
        return
    names = [f"c{i}" for i in range(member.domain.dimension)]
    plan = planned(asked(member.domain, names), order=(2.0, math.inf)[place % 2], size=30)
    rows = pd.DataFrame(member.sample(np.random.default_rng(1), 30), columns=names)
    release = plan.release(rows.assign(sex="F", region=np.arange(30) % 3))
    again = type(release).from_json(release.to_json())
    assert np.array_equal(again.estimate, release.estimate)
    assert again.certificate == release.certificate
    assert ln.verify(plan.to_json())
    assert ln.verify(release.to_json())
    assert 0 < plan.lower_bound <= plan.error


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t["noise"].update(deviations=[x * 0.99 for x in t["noise"]["deviations"]]),
        lambda t: t.update(relation="add_remove"),
        lambda t: t.update(size=None),
        lambda t: t["question"]["groups"]["attributes"][0].update(outside=None),
    ],
)
def test_edited_files_are_refused(edit):
    refused_plan(edited(planned(asked()), edit))


def test_less_noise_is_charged_more():
    plan = planned(asked())
    mechanism, question = plan.terms.mechanism, plan.terms.question
    deviations = mechanism.noise.tables.orbit_deviations
    half = group_mechanism(question, group_values(mechanism), deviations / 2, N)
    assert half.loss.mu == pytest.approx(2 * mechanism.loss.mu, rel=1e-9)
    flat = np.array([*deviations[:-1], 0.0])  # joint groups without noise
    assert group_mechanism(question, group_values(mechanism), flat, N).loss.mu == math.inf


@pytest.mark.grid(3)
@pytest.mark.parametrize("mechanism", PURE)
def test_pure_noise_is_that_of_two_records(mechanism):
    """One goes and one comes, each at half of ε; the file says so, and is refused with less."""
    question = asked()
    plan = planned(question, ln.pure_dp(1.0), mechanism=mechanism)
    half = ln.plan(question, budget=ln.pure_dp(0.5), relation="add_remove", mechanism=mechanism)
    own, one = plan.terms.mechanism.loss, half.terms.mechanism.loss
    assert own.epsilon == 2 * one.epsilon <= 1.0
    assert (own.rho, own.mu) == (4 * one.rho, 2 * one.mu)
    # of counts those that least squares makes with the number of all rows known, written again
    width, joint = question.length, math.prod(a.size for a in question.groups.attributes)
    covariance, places = half.covariance, np.arange(len(half.names))
    counted = places % width == width - 1
    every = counted & (places >= places.size - joint * width)  # by both, which come last
    beside = covariance[:, every].sum(axis=1)
    known = np.eye(places.size) - np.outer(beside * counted / beside[every].sum(), every)
    wanted = known @ covariance @ known.T
    assert plan.covariance == pytest.approx(wanted, rel=1e-6, abs=1e-9 * np.max(covariance))
    deviations = np.sqrt(np.maximum(np.diag(wanted), 0))
    assert plan.standard_deviation == pytest.approx(deviations, rel=1e-6, abs=1e-6)
    assert plan.terms.compared < 0.95 * half.terms.compared
    assert ln.verify(plan.to_json())
    document = json.loads(half.to_json())
    document["terms"].update(relation="substitute", size=N)
    with pytest.raises(FileError):
        Plan.from_json(json.dumps(document))
    release = plan.release(table())
    assert release.groups().counts.tolist() == [N]
    assert release.groups().count_intervals.tolist() == [[N, N]]
    for names in (("sex",), ("region",), ("sex", "region")):
        assert release.groups(*names).counts.sum() == pytest.approx(N, rel=1e-12)
    assert ln.verify(release.to_json())
    near = planned(question, ln.pure_dp(1000.0), mechanism=mechanism).release(table())
    for names in ((), ("sex",), ("sex", "region")):
        found, truth = near.groups(*names), exact(table(), question, names).reshape(-1, width)
        assert found.counts == pytest.approx(truth[:, -1], abs=1)
    again = type(release).from_json(release.to_json())
    assert np.array_equal(again.estimate, release.estimate)


@pytest.mark.parametrize("mechanism", ["k_norm", "laplace"])
def test_pure_intervals_with_a_known_number_cover_as_often_as_they_say(mechanism):
    """At level 0.8, 20,000 draws: 5.4 deviations below have chance below 1e-7 each."""
    question = asked(center=[0.0, 900.0], outside="extra")
    plan = planned(question, ln.pure_dp(0.5), mechanism=mechanism)
    own, view, count = plan.terms.mechanism, plan.terms.view, 20_000
    for chosen in ((), (0,), (0, 1)):
        deviations, beside = view.scales(chosen)
        radius = view.ratio_radius(chosen, 0.8)
        rows = own.totals.of_margins(chosen)[: question.length]
        drawn = own.simulate(count, SimulationRandomness(5), rows)
        assert bool(chosen) == bool(np.any(drawn[:, -1]))  # all rows are known
        for i, column in enumerate(drawn.T[:-1]):
            for slope in (-30.0, -1.0, 0.0, 0.5, 30.0):  # in deviations of the sum over the count's
                theta = slope * deviations[i] / deviations[-1] if chosen else 0.0
                variance = deviations[i] ** 2 - 2 * theta * beside[i]
                far = radius[i] * math.sqrt(variance + (theta * deviations[-1]) ** 2)
                inside = np.mean(np.abs(column - theta * drawn[:, -1]) <= far)
                assert 0.8 - 5.4 * math.sqrt(0.16 / count) <= inside <= 0.87
    assert np.all(view.ratio_radius((0,), 0.95) < 0.8 * tail_quantile(0.05, own.noise.moment))


def test_files_of_before_counts_were_known_say_what_they_said():
    plan = planned(asked(), ln.pure_dp(1.0), mechanism="laplace")
    own = plan.terms.mechanism
    before = joint_mechanism(plan.terms.question, group_values(own), N, agrees=False)
    terms = replace(plan.terms, mechanism=before)
    old = replace(plan, terms=replace(terms, alternatives=Comparison([alternative(terms)])))
    assert "agrees" not in old.to_json()
    assert ln.verify(old.to_json())
    release = old.release(table())
    assert ln.verify(release.to_json())
    assert release.groups().counts.tolist() != [N]
    assert old.terms.compared > 1.05 * plan.terms.compared
    for edit in (
        lambda t: t["noise"].update(agrees=1),
        lambda t: t.update(relation="add_remove", size=None),
    ):
        refused_plan(edited(plan, edit))


def test_under_epsilon_and_delta_the_least_noise_is_taken():
    plan = planned(asked(), ln.approx_dp(1.0, 1e-6))
    errors = [own.error for own in plan.comparison if own.error is not None]
    assert errors == sorted(errors)
    assert {own.mechanism for own in plan.comparison} == {*PURE, "gaussian"}
    assert all(0 < bound.value <= plan.error for bound in plan.bounds)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: planned(asked(outside="drop")), 'outside="drop"'),
        (lambda: planned(asked(missing="drop")), 'missing="drop"'),
        (lambda: planned(asked(), size=None), "no public number"),
        (lambda: planned(asked(), ln.pure_dp(1.0), count_share=0.5), "count_share"),
        (lambda: planned(asked()).release(table(N + 1)), "give it exactly"),
        (lambda: ln.plan(asked(), budget=BUDGET, relation=ln.Ball(2, radius=1.0), size=N),
         "give substitute or add_remove"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(make, said):
    with pytest.raises(LownoiseError, match=said) as found:
        make()
    assert "\n" not in str(found.value)


def test_releases_of_one_margin_each_share_a_budget():
    parts = {
        "sex": ln.Mean(COLUMNS, BOX, by={"sex": ["F", "M"]}, outside="extra"),
        "region": ln.Mean(COLUMNS, BOX, by={"region": 3}, outside="extra"),
    }
    both = ln.together(parts, budget=BUDGET, relation="substitute", size=N)
    release = both.release(table())
    assert release["sex"].groups("sex").counts.sum() == pytest.approx(N)
