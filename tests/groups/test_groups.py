# SPDX-License-Identifier: Apache-2.0
"""Means by groups: sums and counts of every margin, with the noise of a mean times that of tables.

Mutants, each seen red: σ_A without its square root, a part of the cost left out,
margins with the noise of the joint groups, the count on the grid of a sum, Fieller without the
covariance, rows of an unknown category counted, evidence that claims more; of pure noise one draw
for all groups, the deviation of sums as a sum of deviations.
"""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.publications_real import packaged

import lownoise as ln
from cases import MEMBERS
from edits import edited
from lownoise.errors import LownoiseError, PlanError, QuestionError
from lownoise.noise.group_noise import group_mechanism, group_values
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.questions import QUESTIONS
from lownoise.sets.bodies import SymmetricPoints
from lownoise.solvers import solve
from refusals import refused_plan

BY = {"sex": ["F", "M"], "region": 3}
COLUMNS = ["age", "pay"]
BOX = ln.Box([0, 100], [80, 900])
N = 400


def asked(domain=BOX, columns=COLUMNS, **more):
    return ln.Mean(columns, domain, **{"by": BY, "way": 2, "outside": "extra", **more})


BUDGET = ln.zcdp(0.1)


def planned(question, budget=BUDGET, **more):
    return ln.plan(question, budget=budget, relation="add_remove", **more)


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.05, np.nan, rng.normal(45, 30, n)),
            "pay": rng.gamma(2, 200, n),
            "sex": rng.choice(["F", "M", "?"], n),
            "region": rng.integers(-1, 4, n),
        }
    )


def exact(rows, question, names):
    """Return the sums about the center and the counts, by pandas: written a second time."""
    mean, groups = question.mean, question.groups
    values = rows[list(mean.columns)].to_numpy(float)
    stand_in = np.where(np.isnan(values), mean.missing, values)
    kept = np.ones(len(rows), dtype=bool)
    if mean.drops_missing:
        kept &= ~np.isnan(values).any(axis=1)
    cells = []
    for own in groups.attributes:
        listed = list(range(own.categories)) if own.labels is None else list(own.labels)
        place = rows[own.name].map(lambda v, listed=listed: listed.index(v) if v in listed else -1)
        place = place.to_numpy()
        if own.outside is None:
            kept &= place >= 0
        else:
            place = np.where(place < 0, own.outside, place)
        cells.append(place)
    codes = np.clip(stand_in, mean.domain.lower, mean.domain.upper) - mean.center
    chosen = groups.index(names)
    sizes = [groups.attributes[i].size for i in chosen]
    found = np.zeros((*sizes, len(mean.columns) + 1))
    for i in np.flatnonzero(kept):
        found[tuple(cells[j][i] for j in chosen)] += [*codes[i], 1.0]
    return found


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"outside": "drop"},
        {"missing": "drop", "outside": {"sex": "F", "region": "extra"}},
        {"way": None, "sets": [["sex"], ["sex", "region"]], "group_weights": [4.0, 1.0]},
        {"center": [10.0, 850.0], "missing": [0.0, 900.0]},
    ],
    ids=["extra", "drop", "missing", "sets", "center"],
)
def test_answers_are_those_of_the_rows_and_margins_agree(more):
    """With noise of 10^-4 of a record. Six deviations: chance below 1e-6 of any false alarm."""
    question = asked(**more)
    plan = planned(question, ln.zcdp(1e5))
    release, rows = plan.release(table()), table()
    place = 0
    for chosen in question.groups.sets():
        names = question.groups.names(chosen)
        wanted = exact(rows, question, names)
        size = wanted.size
        found = release.estimate[place : place + size].reshape(wanted.shape)
        deviations = plan.standard_deviation[place : place + size].reshape(wanted.shape)
        assert np.all(np.abs(found - wanted) <= 6 * deviations + 1e-6)
        own = release.groups(*names)
        assert own.counts == pytest.approx(found[..., -1].ravel())
        sums = found[..., :-1] + found[..., -1:] * question.mean.center
        assert own.sums == pytest.approx(sums.reshape(own.sums.shape))
        place += size
    assert place == question.count == len(question.labels()) * question.length == len(plan.names)
    joint = release.groups("sex", "region").sums.reshape(
        *(a.size for a in question.groups.attributes), -1
    )
    assert release.groups("sex").sums == pytest.approx(joint.sum(axis=1), rel=1e-9)
    assert release.groups("region").sums == pytest.approx(joint.sum(axis=0), rel=1e-9)


@pytest.mark.parametrize("names", [("sex",), ("region", "sex"), ()])
def test_one_group_is_read_by_its_labels_with_the_numbers_of_its_row(names):
    found = planned(asked(), ln.zcdp(1.0)).release(table()).groups(*names)
    rows = found.to_pandas()
    for k, labels in enumerate(found.labels):
        own = found[labels]
        assert list(own) == list(rows.columns[len(names) :])
        assert list(own.values()) == rows.iloc[k, len(names) :].tolist()
        assert len(names) != 1 or found[labels[0]] == own


@pytest.mark.parametrize("group", ["nope", 0, None, True, ["F"], ("F", "north"), slice(0, 1)])
def test_a_group_that_is_none_is_refused_in_one_line_with_those_there_are(group):
    moments = ln.Moments(["age"], ln.Box([0], [100]), by={"sex": ["F", "M"]})
    rows = pd.DataFrame({"sex": ["F", "M"], "age": [20, 30]})
    of_moments = planned(moments, ln.zcdp(1.0)).release(rows).moments.groups("sex")
    assert of_moments["F"] is of_moments[("F",)]
    for found in (planned(asked(), ln.zcdp(1.0)).release(table()).groups("sex"), of_moments):
        with pytest.raises(QuestionError, match=r"^group=.* is none of this margin; give .*'F'"):
            found[group]


@pytest.mark.parametrize("budget", [ln.zcdp(1.0), ln.pure_dp(1.0)], ids=str)
def test_totals_that_are_0_in_every_group_have_intervals_of_0(budget):
    own = planned(ln.Sum(["pay"], ln.Box([0], [0]), by={"sex": ["F", "M"]}), budget)
    found = own.release(pd.DataFrame({"pay": [0, 1], "sex": ["F", "M"]})).groups("sex")
    assert not found.sums.any()
    assert not found.sum_intervals.any()


def covariance_of_integers(plan):
    """Return the noise's covariance, entry by entry from its definition; shape (r, r)."""
    totals, noise = plan.terms.mechanism.totals, plan.terms.mechanism.noise
    inner = noise.inner.shape.dense()
    found = np.zeros((totals.length, totals.length))
    for piece in totals.pieces:
        differences = np.ones((1, 1))
        for n in piece.space.sizes:
            differences = np.kron(differences, np.hstack([np.eye(n - 1), -np.ones((n - 1, 1))]))
        sigma = float(noise.tables.orbit_deviations[piece.space.orbit])
        one = sigma**2 * np.kron(differences @ differences.T, inner)
        own = np.kron(np.eye(len(piece.sets)), one)
        at = slice(piece.start, piece.start + len(own))
        found[at, at] = own
    return found


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize("place", range(0, len(MEMBERS), 5), ids=lambda i: MEMBERS[i].name)
def test_no_record_moves_the_integers_farther_than_is_charged(place):
    """Brought in at any group, by the definition of the noise; and some come near."""
    member = MEMBERS[place]
    d = member.domain.dimension
    names = [f"c{i}" for i in range(d)]
    order = (2.0, 3.0, math.inf)[place % 3]
    if member.domain.oracles:
        with pytest.raises(QuestionError, match="program"):
            asked(member.domain, names)
        return
    plan = planned(asked(member.domain, names, way=1 + place % 2), order=order)
    mechanism = plan.terms.mechanism
    lengths = []
    inverse = np.linalg.pinv(covariance_of_integers(plan), hermitian=True)
    sample = member.sample(np.random.default_rng(place), 12)
    for k, point in enumerate(sample):
        row = pd.DataFrame(
            {**dict(zip(names, point, strict=True)), "sex": ["FM?"[k % 3]], "region": [k % 4]},
            index=[0],
        )
        change = np.array(mechanism.totals.exact(mechanism.read(row)), dtype=float)
        lengths.append(math.sqrt(change @ inverse @ change))
    assert max(lengths) <= mechanism.loss.mu * (1 + 1e-9)
    assert mechanism.loss.mu <= plan.terms.parameter
    alone = ln.plan(ln.Mean(names, member.domain), budget=ln.zcdp(0.1), relation="add_remove",
                    order=order, mechanism="gaussian")  # fmt: skip
    own = alone.terms.mechanism
    inverse = np.linalg.pinv(own.noise.covariance(), hermitian=True)
    codes = [
        np.array(own.totals.exact(own.read(pd.DataFrame([point], columns=names))), float)
        for point in sample
    ]
    far = max(math.sqrt(y @ inverse @ y) for y in codes)
    assert max(lengths) == pytest.approx(far, rel=1e-6)  # as far as a record of the mean alone


@pytest.mark.grid
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize(
    ("by", "more"),
    [
        ({"g": 3}, {"sets": [["g"]]}),
        ({"g": 3}, {"way": 1}),
        ({"a": 2, "b": 3}, {"way": 2, "group_weights": [1.0, 3.0, 0.5]}),
        ({"a": 2, "b": 2}, {"sets": [[], ["a"], ["a", "b"]], "group_weights": [9, 1, 1]}),
    ],
    ids=["groups", "groups and all", "two", "sets"],
)
def test_no_noise_of_any_shape_is_less(by, more, order):
    """Against the general solver, for all e_g ⊗ (x, 1) of the corners of a box off its middle."""
    domain = ln.Box([0, 0], [3, 1])
    question = ln.Mean(["x", "y"], domain, by=by, center=[1.0, 0.5], **more)
    plan = planned(question, ln.gaussian_dp(1.0), order=order)
    corners = [(x - 1.0, y - 0.5, 1.0) for x, y in itertools.product((0, 3), (0, 1))]
    sizes = [a.size for a in question.groups.attributes]
    cells = math.prod(sizes)
    points = np.array([np.kron(np.eye(cells)[g], c) for g in range(cells) for c in corners])
    rows = []
    for chosen in question.groups.sets():
        parts = [np.eye(n) if i in chosen else np.ones((1, n)) for i, n in enumerate(sizes)]
        own = np.ones((1, 1))
        for part in parts:
            own = np.kron(own, part)
        rows.append(own)
    queries = np.kron(np.vstack(rows), np.eye(3))
    weights = np.kron(question.weights, plan.terms.weights)
    found = solve(SymmetricPoints(points), order=order, weights=weights, queries=queries, rtol=1e-6)
    ends, own = found.claim.certificate(), plan.certificate
    assert own.lower <= ends.upper * (1 + 1e-9)
    assert ends.lower <= own.upper * (1 + 1e-9)
    assert own.gap < 2e-6
    assert own.upper == pytest.approx(ends.upper, rel=1e-5)


@pytest.mark.grid(1)
@pytest.mark.parametrize("more", [{}, {"way": None, "sets": [["sex"], ["sex", "region"]]}])
def test_covariances_are_those_of_the_noise(more):
    """Of 6,000 draws: an entry strays by more than 6.2 of its deviations with chance below 1e-9,
    so any of 1,600 with chance below 1e-6; a variance that is off by 15 per cent is seen.
    """
    question = asked(**more)
    plan = planned(question)
    totals = plan.terms.mechanism.totals
    noise = plan.terms.mechanism.noise.simulate(6000, SimulationRandomness(5))
    matrix = np.array([totals.answers(row) for row in np.eye(totals.length, dtype=int).tolist()])
    found = noise @ matrix
    covariance = plan.covariance
    assert np.sqrt(np.diag(covariance)) == pytest.approx(plan.standard_deviation, rel=1e-9)
    scale = plan.standard_deviation
    near = found.T @ found / len(found) / np.outer(scale, scale)
    wanted = covariance / np.outer(scale, scale)
    stray = np.sqrt((1 + wanted**2) / len(found))
    assert np.all(np.abs(near - wanted) <= 6.2 * stray)


def test_deviations_of_integers_are_those_of_the_noise():
    mechanism = planned(asked()).terms.mechanism
    found = mechanism.noise.deviations(np.ones(mechanism.length), None)
    wanted = np.sqrt(np.diag(covariance_of_integers(planned(asked()))))
    assert found == pytest.approx(wanted, rel=1e-12)
    assert 0 < mechanism.rounding < 2.0**-7


def exact_means(rows, question):
    """Return the means by one attribute and by two, which no run changes."""
    found = {}
    for names in (("sex",), ("sex", "region")):
        truth = exact(rows, question, names).reshape(-1, 3)
        found[names] = question.mean.center + truth[:, :-1] / truth[:, -1:]
    return found


def test_intervals_of_means_cover_as_often_as_they_say():
    """At level 0.6, 180 runs of 16 means: 5.4 deviations from the expected hits have chance below
    1e-7 each; without the covariance 0.86 of pay's intervals cover, as the center is far off.
    """
    question = asked(
        center=[0.0, 900.0], outside="drop", sets=[["sex"], ["sex", "region"]], way=None
    )
    plan = planned(question, ln.zcdp(0.02))
    rows = table(4000)
    records = plan.terms.mechanism.read(rows)
    first, source = plan.release(rows), SimulationRandomness(11)
    runs = 180
    hits, means_of = {}, exact_means(rows, question)
    for _ in range(runs):
        integers = plan.terms.mechanism.run(records, randomness=source)
        release = replace(first, integers=integers)
        for names, means in means_of.items():
            found = release.groups(*names, level=0.6)
            inside = (found.intervals[..., 0] <= means) & (means <= found.intervals[..., 1])
            hits[names] = hits.get(names, 0) + inside
            assert np.all(found.bounded)
    for own in hits.values():
        assert np.all(np.abs(own - 0.6 * runs) <= 5.4 * math.sqrt(runs * 0.24)), own


def test_small_groups_are_said_to_be_unknown():
    plan = planned(asked())
    none = [0] * plan.terms.mechanism.length
    release = replace(plan.release(table(5)), integers=tuple(none))
    found = release.groups("sex", "region")
    assert not np.any(found.bounded)
    assert np.all(found.intervals[:, 0] == [0, 80])
    assert np.all(np.isnan(found.means[found.counts <= 0]))


def test_a_mean_that_noise_does_not_bound_is_written_as_none(tmp_path):
    plan = planned(asked())
    integers = (2**44,) * plan.terms.mechanism.length  # counts of three sizes, two above 0
    released = replace(plan.release(table(5)), integers=integers)
    found = released.groups("sex", "region")
    assert np.any(found.bounded)
    assert np.any(np.isfinite(found.means[~found.bounded]))
    released.export(tmp_path / "rows.json", "sex", "region")
    found.export(tmp_path / "groups.json")
    rows, groups = (
        json.loads((tmp_path / name).read_text()) for name in ("rows.json", "groups.json")
    )
    means = [row[-4] for row in rows["rows"] if row[2].startswith("mean(")]
    known = np.where(found.bounded[:, None], found.means, np.nan)
    at = [i for i, own in enumerate(groups["columns"]) if own["name"].startswith("mean(")]
    written = [[row[i] for i in at] for row in groups["rows"]]
    assert np.array_equal(np.array(means, float), known.ravel(), equal_nan=True)
    assert np.array_equal(np.array(written, float), known, equal_nan=True)
    assert "may have no rows" in rows["columns"][2]["meaning"]
    assert all("may have no rows" in groups["columns"][i]["meaning"] for i in at)


def test_one_margin_has_the_noise_of_one_release_a_group():
    """Groups share no row, so that each may be released by itself at the whole budget."""
    plan = planned(asked(way=None, sets=[["sex", "region"]]))
    alone = ln.plan(asked().mean, budget=ln.zcdp(0.1), relation="add_remove")
    assert plan.standard_deviation.reshape(-1, 3) == pytest.approx(
        np.tile(alone.standard_deviation, (12, 1)), rel=1e-6
    )


def test_margins_together_err_less_than_a_budget_split_between_them():
    plan = planned(asked())
    parts = [
        planned(asked(way=None, sets=[list(s)]), ln.zcdp(0.1 / 4)).standard_deviation
        for s in ([], ["sex"], ["region"], ["sex", "region"])
    ]
    split = np.concatenate(parts)
    assert np.sum(plan.standard_deviation**2) < 0.75 * np.sum(split**2)


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", ["duckdb", "arrow", "csv", "words"])
def test_every_engine_sums_the_same(kind, tmp_path):
    rows, question = table(), asked()
    totals = planned(question).terms.mechanism.totals
    wanted = totals.exact(totals.read(rows))
    if kind == "csv":
        given = tmp_path / "rows.csv"
        rows.to_csv(given, index=False)
    elif kind == "arrow":
        import pyarrow as pa

        given = pa.Table.from_pandas(rows)
    elif kind == "duckdb":
        import duckdb

        given = duckdb.from_df(rows)
    else:
        given = rows.assign(region=rows.region.astype(str), age=rows.age.astype(str))
    assert totals.exact(totals.read(given)) == wanted
    assert totals.exact(totals.read(rows[:0])) == [0] * totals.length


def test_a_column_may_be_summed_and_grouped_by():
    question = ln.Mean(["pay"], ln.Box([0], [1000]), by={"pay": {"edges": [0, 250, 500, 1000]}})
    release = planned(question, ln.zcdp(1e5)).release(table())
    found, pay = release.groups("pay"), table().pay.clip(0, 1000)
    assert found.counts == pytest.approx(np.histogram(pay, [0, 250, 500, 1000])[0], abs=0.5)
    assert found.means[0, 0] == pytest.approx(pay[pay < 250].mean(), abs=1)


@pytest.mark.grid(3)
@pytest.mark.parametrize("place", range(1, len(MEMBERS), 6), ids=lambda i: MEMBERS[i].name)
def test_files_hold_all_and_verify(place):
    member = MEMBERS[place]
    names = [f"c{i}" for i in range(member.domain.dimension)]
    if member.domain.oracles:
        return
    plan = planned(asked(member.domain, names), order=(2.0, math.inf)[place % 2])
    assert ln.verify(plan.to_json())
    rows = pd.DataFrame(member.sample(np.random.default_rng(1), 30), columns=names)
    rows = rows.assign(sex="F", region=np.arange(30) % 3)
    release = plan.release(rows)
    again = type(release).from_json(release.to_json())
    assert np.array_equal(again.estimate, release.estimate)
    assert again.certificate == release.certificate
    assert ln.verify(release.to_json())
    assert QUESTIONS.write(QUESTIONS.read(QUESTIONS.write(plan.terms.question))) == QUESTIONS.write(
        plan.terms.question
    )


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t["noise"].update(deviations=[x * 0.99 for x in t["noise"]["deviations"]]),
        lambda t: t["noise"].update(deviations=[0.0, *t["noise"]["deviations"][1:]]),
        lambda t: t["noise"].update(deviations=t["noise"]["deviations"][1:]),
        lambda t: t["noise"]["values"].update(count_step=0.3),
        lambda t: t["question"]["groups"].update(way=1),
        lambda t: t["question"]["groups"]["attributes"][1].update(categories=9),
        lambda t: t["evidence"].update(tables={}),
        lambda t: t["evidence"]["values"].update(query_weights=[1.0]),
        lambda t: t.update(mechanism="laplace"),
        lambda t: t.update(size=10, relation="substitute"),
    ],
)
def test_edited_files_are_refused(edit):
    refused_plan(edited(planned(asked()), edit))


def test_less_noise_is_charged_more():
    plan = planned(asked())
    mechanism = plan.terms.mechanism
    half = group_mechanism(
        plan.terms.question,
        group_values(mechanism),
        mechanism.noise.tables.orbit_deviations / 2,
    )
    assert half.loss.mu == pytest.approx(2 * mechanism.loss.mu, rel=1e-9)
    flat = mechanism.noise.tables.orbit_deviations.copy()
    flat[-1] = 0.0  # joint groups without noise
    assert group_mechanism(plan.terms.question, group_values(mechanism), flat).loss.mu == math.inf


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ln.Mean(["x"], ln.Box([0], [1]), way=1), "give by="),
        (lambda: ln.Mean(["x"], ln.Box([0], [1]), by={}), "^by is no mapping"),
        (lambda: ln.Mean(["x"], ln.Box([0], [1]), by="sex"), "^by is no mapping"),
        (lambda: ln.Sum(["x"], ln.Box([0], [1]), by={"g": []}), r"^by\['g'\] lists no category"),
        (lambda: ln.Count({"g": ["a", "a"]}), r"^by\['g'\] lists 'a' twice"),
        (lambda: asked(by={"g": ["T", "yes"]}, way=1), r"^by\['g'\] lists 'T' and 'yes', both 1"),
        (lambda: ln.Count({"g": ["007", "7"]}), r"^by\['g'\] lists '007' and '7', both 7"),
        (lambda: ln.Histogram("x", ["T", "1"]), r"^Histogram.categories lists 'T' and '1', both"),
        (lambda: ln.Distribution("x", [0, 1], by={"g": ["T", "1"]}), r"^by\['g'\] lists 'T' and"),
        (lambda: asked(outside={"h": "drop"}),
         "^outside names 'h', no attribute; name some of 'sex', 'region'$"),
        (lambda: ln.Mean(["x"], ln.Box([0], [1]), by={"a": 2}, way=1, group_weights=[1]),
         r"^group_weights has shape \(1,\)"),
        (lambda: ln.Sum(["x"], ln.Box([0], [1]), by={"a": 2}, sets=[["b"]]), r"^sets\[0\]: 'b'"),
        (lambda: ln.Mean(["x"], ln.Box([0], [1]), by={"a": 2**11, "b": 2**11}), "groups in all"),
        (lambda: ln.Mean(["x"], ln.Box([0], [1]), by={"a": 2}, way=3), "way=3 with 1 attribute"),
        (lambda: planned(asked(), ln.pure_dp(1), mechanism="radial"), "radial"),
        (lambda: planned(ln.Mean(["x"], ln.Box([0], [1]), by={"g": 9000}), ln.pure_dp(1)),
         "too many for pure noise"),
        (lambda: planned(asked(), ln.approx_dp(1, 1e-6), mechanism="median"), "median"),
        (lambda: planned(asked()).release(table()).groups("age"), "no attribute"),
        (lambda: planned(asked(way=1)).release(table()).groups("sex", "region"), "does not follow"),
        (lambda: planned(asked()).release(table()).quantile(0.5), "ln.Distribution"),
        (lambda: planned(asked().mean).release(table()).groups(), "ln.Mean"),
        (lambda: planned(asked()).release(table()).mean, r"use groups\("),
        (lambda: planned(asked()).release(table()).region(), "simultaneous_interval"),
        (lambda: planned(asked()).release(table().drop(columns="region")), "region"),
        (lambda: planned(asked()).release(table().drop(columns="pay")), "pay"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(make, said):
    with pytest.raises((QuestionError, PlanError, LownoiseError), match=said) as found:
        make()
    assert "\n" not in str(found.value)


PURE = ("k_norm", "ellipsoid", "recursive", "laplace")


@pytest.mark.grid(3)
@pytest.mark.parametrize("mechanism", PURE)
def test_pure_noise_is_that_of_a_mean_in_every_joint_group(mechanism):
    """Of a margin it is the sum over its joint groups; a record is told by one group alone."""
    question, budget = asked(), ln.pure_dp(0.5)
    plan = planned(question, budget, mechanism=mechanism)
    alone = planned(question.mean, budget, mechanism=mechanism)
    own = plan.terms.mechanism
    assert own.loss == alone.terms.mechanism.loss
    assert plan.standard_deviation[-36:] == pytest.approx(np.tile(alone.standard_deviation, 12))
    assert plan.standard_deviation[:3] == pytest.approx(alone.standard_deviation * math.sqrt(12))
    assert np.sqrt(np.diag(plan.covariance)) == pytest.approx(plan.standard_deviation, rel=1e-9)
    rows = table(40)
    less = np.array(own.totals.exact(own.read(rows[1:])), dtype=float).reshape(12, -1)
    more = np.array(own.totals.exact(own.read(rows)), dtype=float).reshape(12, -1)
    changed = np.flatnonzero(np.any(more != less, axis=1))
    assert len(changed) == 1
    inner = np.array(alone.terms.mechanism.totals.exact(alone.terms.mechanism.read(rows[:1])))
    assert np.array_equal((more - less)[changed[0]], inner)


@pytest.mark.grid(3)
@pytest.mark.parametrize("mechanism", PURE)
def test_every_joint_group_has_a_draw_of_its_own(mechanism):
    """Of 400 runs: a correlation of two groups beyond 6.3/20 has chance below 1e-8, so any of 66
    below 1e-6; one draw for two groups has correlation 1. Two equal numbers: below 1e-6.
    """
    plan = planned(asked(), ln.pure_dp(0.5), mechanism=mechanism)
    own, source = plan.terms.mechanism, SimulationRandomness(9)
    records = own.read(table(30))
    exact_integers = np.array(own.totals.exact(records), dtype=float)
    noise = [np.array(own.run(records, randomness=source)) - exact_integers for _ in range(400)]
    first = np.array(noise)[:, ::3].astype(float)  # a number of each group
    assert np.unique(first).size == first.size
    correlations = np.corrcoef(first.T) - np.eye(12)
    assert np.max(np.abs(correlations)) < 6.3 / 20


@pytest.mark.grid(3)
@pytest.mark.parametrize("mechanism", PURE)
def test_pure_answers_are_those_of_the_rows(mechanism):
    """At ε = 1000: noise of 0.01 of a record; 40 deviations of Laplace noise have chance e^-56."""
    question = asked(center=[10.0, 850.0])
    plan = planned(question, ln.pure_dp(1000), mechanism=mechanism)
    rows = table()
    release = plan.release(rows)
    wanted = [exact(rows, question, question.groups.names(s)) for s in question.groups.sets()]
    off = np.abs(release.estimate - np.concatenate([own.ravel() for own in wanted]))
    assert np.all(off <= 40 * plan.standard_deviation + 1e-5)
    assert ln.verify(plan.to_json())
    again = type(release).from_json(release.to_json())
    assert np.array_equal(again.estimate, release.estimate)
    assert ln.verify(release.to_json())


@pytest.mark.grid(1)
@pytest.mark.parametrize("mechanism", ["k_norm", "laplace"])
def test_pure_intervals_cover_at_least_as_often_as_they_say(mechanism):
    """At level 0.8, 150 runs of 16 means: 5.4 deviations below have chance below 1e-7 each."""
    margins = [["sex"], ["sex", "region"]]
    question = asked(center=[0.0, 900.0], outside="drop", sets=margins, way=None)
    plan = planned(question, ln.pure_dp(0.4), mechanism=mechanism)
    rows, runs = table(4000), 150
    records = plan.terms.mechanism.read(rows)
    first, source = plan.release(rows), SimulationRandomness(3)
    hits, means_of = {}, exact_means(rows, question)
    for _ in range(runs):
        integers = plan.terms.mechanism.run(records, randomness=source)
        release = replace(first, integers=integers)
        for names, means in means_of.items():
            found = release.groups(*names, level=0.8)
            inside = (found.intervals[..., 0] <= means) & (means <= found.intervals[..., 1])
            hits[names] = hits.get(names, 0) + inside
    for own in hits.values():
        assert np.all(own >= 0.8 * runs - 5.4 * math.sqrt(runs * 0.16)), own


@pytest.mark.parametrize("order", [2.0, math.inf])
def test_under_epsilon_and_delta_the_least_noise_is_taken(order):
    plan = planned(asked(), ln.approx_dp(1.0, 1e-6), order=order)
    errors = [own.error for own in plan.comparison if own.error is not None]
    assert errors == sorted(errors)
    assert {own.mechanism for own in plan.comparison} == {*PURE, "gaussian"}
    for own in plan.comparison:
        named = planned(asked(), ln.approx_dp(1.0, 1e-6), order=order, mechanism=own.mechanism)
        assert named.terms.compared == pytest.approx(own.error, rel=1e-9)
    assert all(bound.value <= plan.error for bound in plan.bounds)
    assert plan.lower_bound > 0.1 * plan.error


def test_edited_pure_files_are_refused():
    plan = planned(asked(), ln.pure_dp(1.0), mechanism="laplace")
    scales = json.loads(plan.to_json())["terms"]["noise"]["values"]["scales"]
    for edit in (
        lambda t: t["noise"]["values"].update(scales=[x * 0.9 for x in scales]),
        lambda t: t["noise"].update(deviations=[1.0]),
        lambda t: t.update(mechanism="gaussian"),
        lambda t: t["evidence"].update(tables={}),
    ):
        refused_plan(edited(plan, edit))


def test_nothing_of_the_rows_is_in_what_is_said_or_shaped():
    """Two neighbours, one with a category that no other row has, have alike files and tables."""
    plan = planned(asked(outside="drop"))
    rows = table(50)
    strange = rows.copy()
    strange.loc[0, "sex"] = "new"
    one, other = plan.release(rows), plan.release(strange)
    assert one.terms is other.terms
    assert len(one.integers) == len(other.integers)
    assert one.groups("sex").labels == other.groups("sex").labels == (("F",), ("M",))
    assert "left out" in " ".join(plan.terms.assumptions)


def test_attributes_of_no_margin_cost_pure_noise_nothing():
    more = ln.Mean(["age"], ln.Box([0], [9]), by={"a": 2, "b": 50}, sets=[["a"]])
    less = ln.Mean(["age"], ln.Box([0], [9]), by={"a": 2}, sets=[["a"]])
    one, other = (planned(q, ln.pure_dp(1.0), mechanism="laplace") for q in (more, less))
    assert np.array_equal(one.standard_deviation, other.standard_deviation)
    rows = pd.DataFrame({"age": [1.0, 2.0, 3.0], "a": [0, 1, 1], "b": [3, 49, 77]})
    release = planned(more, ln.pure_dp(1000.0), mechanism="laplace").release(rows)
    assert release.groups("a").counts == pytest.approx([1, 1], abs=0.5)  # a row is left out for b
    with pytest.raises(QuestionError, match="does not follow"):
        release.groups("b")


def test_deviations_of_correlated_pure_noise_need_no_matrix_of_all_groups():
    points = ln.Points([[0, 0], [1, 0.2], [0.3, 1], [0.7, 0.9]])
    few, many = (
        planned(
            ln.Mean(["x", "y"], points, by={"g": n}, way=1), ln.pure_dp(1.0), mechanism="k_norm"
        )
        for n in (3, 400)
    )
    noise, totals = few.terms.mechanism.noise, few.terms.mechanism.totals
    matrix = totals.embed * totals.unit
    wanted = matrix @ noise.covariance() @ matrix.T
    assert few.covariance == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert few.standard_deviation == pytest.approx(np.sqrt(np.diag(wanted)), rel=1e-9)
    scales = noise.answer_scales(totals.unit, totals.embed)[1]
    assert scales == pytest.approx(wanted[-1], rel=1e-9, abs=1e-9 * float(np.max(wanted)))
    own = np.sqrt(np.diag(noise.covariance()))
    assert noise.deviations(np.ones(own.size), None) == pytest.approx(own)
    assert ln.verify(many.to_json())
    big = replace(many.terms.mechanism.noise, tables=((10**6, 1.0),))
    with pytest.raises(PlanError, match="would fill the memory"):
        big.covariance()


def test_tables_keep_groups_that_are_called_as_numbers_are():
    question = ln.Mean(["x"], ln.Box([0], [9]), by={"count": ["u", "v"], "answer": 2})
    rows = pd.DataFrame({"x": [1.0, 2.0], "count": ["u", "v"], "answer": [0, 1]})
    release = planned(question, ln.zcdp(1e5)).release(rows)
    found = release.groups("count").to_pandas()
    assert list(found["count"]) == ["u", "v"]
    assert found["count_"].to_numpy() == pytest.approx([1, 1], abs=0.5)
    assert list(release.to_pandas("answer").columns[:2]) == ["answer", "answer_"]


def test_margins_of_many_attributes_take_a_sum_of_whole_arrays_each():
    by = {f"g{i}": 2 for i in range(16)}
    question = ln.Mean(["x"], ln.Box([0], [1]), by=by, way=2)
    rows = pd.DataFrame({"x": [0.5] * 9, **{name: np.arange(9) % 2 for name in by}})
    release = planned(question, ln.zcdp(1e5)).release(rows)
    assert release.groups("g3", "g7").counts == pytest.approx([5, 0, 0, 4], abs=0.5)
    with pytest.raises(QuestionError, match="answers; ask for at most"):
        ln.Mean(["x"], ln.Box([0], [1]), by={f"g{i}": 2 for i in range(20)}, way=10)


def test_a_table_that_a_benchmark_skips_is_said_to_be(capsys):
    assert packaged("no_such_package_of_tables", "data/visits.csv") is None
    assert capsys.readouterr().err == (
        "data/visits.csv is skipped; pip install no_such_package_of_tables\n"
    )
    assert packaged("lownoise", "engines/parts.py").is_file()
    assert not capsys.readouterr().err
