"""Totals by groups without a count: what `ln.Sum(…, by=…)` asks.

Mutants, each seen red: differences of values within a group left out where one record becomes
another, or charged as those of one that comes; the count read as a column; an interval of one group
for a margin of several; evidence that says twice as much of values that are not symmetric;
pairs within a group alone, or across groups alone; noise of all rows drawn with that of groups.
"""

import json
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.units.test_exchange import revealed

import lownoise as ln
from lownoise.errors import DomainError, FileError, PlanError, QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.questions import QUESTIONS, GroupedSum
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from lownoise.solvers import solve
from lownoise.spec import read_spec

N = 40
BY = {"g": ["a", "b"], "h": 3}
DOMAINS = {
    "from zero": ln.Box([0, 0], [3, 5]),
    "symmetric": ln.Box([-1, -2], [1, 2]),
    "far": ln.Box([2, 1], [4, 9]),
    "a ball": ln.Ball(2, 3.0),
    "a list": ln.Points([[0.0, 1], [2, 0], [3, 3]]),
}
BUDGETS = {"zcdp": ln.zcdp(0.5), "pure": ln.pure_dp(1.0), "approx": ln.approx_dp(1.0, 1e-6)}
RELATIONS = {"add_remove": {}, "substitute": {"size": N}}


def asked(domain="from zero", **more):
    given = {"by": BY, "way": 2, "outside": "extra", **more}
    return ln.Sum(["x", "y"], DOMAINS[domain], **given)


@cache
def made(domain="from zero", budget="zcdp", relation="add_remove", **more):
    return ln.plan(
        asked(domain),
        budget=BUDGETS[budget],
        relation=relation,
        **RELATIONS[relation],
        **more,
    )


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    ends = rng.choice([-9.0, 9.0, 0.0, 2.5], (n, 2))
    g, h = rng.choice(["a", "b", "?"], n), rng.integers(0, 4, n)
    return pd.DataFrame({"x": ends[:, 0], "y": ends[:, 1], "g": g, "h": h})


def exact(mechanism, rows):
    records = mechanism.read(rows)
    own = [mechanism.totals.part(records, piece) for piece in mechanism.totals.pieces]
    return np.concatenate([np.asarray(part, dtype=object) for part in own]).astype(float)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("budget", ["zcdp", "pure"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_no_record_is_told_by_more_than_was_asked(domain, budget, relation):
    """Measured on the noise itself, of records that come or go, or become others of any group."""
    plan = made(domain, budget, relation)
    mechanism, rows = plan.terms.mechanism, table(N + 17)
    whole = rows.iloc[:N] if plan.terms.size else rows.iloc[:9]
    ends = []
    for i in range(N, N + 17):
        changed = pd.concat([whole.iloc[1:], rows.iloc[[i]]])
        ends.append(exact(mechanism, changed))
    rest = exact(mechanism, whole.iloc[1:]) if not plan.terms.size else None
    changes = (
        [a - rest for a in ends] if rest is not None else [a - b for a, b in combinations(ends, 2)]
    )
    found = [revealed(mechanism, own) for own in changes if np.any(own)]
    if found[0] is not None:
        most = plan.terms.parameter
        assert 0.7 * most < max(found) <= most * (1 + 1e-6)


@pytest.mark.parametrize("order", [2.0, 3.0, np.inf])
def test_totals_of_records_that_come_and_go_have_the_least_noise_of_all(order):
    """The theorem of products, against the general solver that knows nothing of groups."""
    rows = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 5.0]])
    question = ln.Sum(["x", "y"], ln.Points(rows), by={"g": 2}, way=1)
    plan = ln.plan(question, budget=ln.gaussian_dp(1.0), relation="add_remove", order=order)
    assert plan.certificate.gap < 1e-5
    apart = np.vstack([np.kron(e, rows) for e in np.eye(2)])
    queries = np.kron(np.vstack([np.ones((1, 2)), np.eye(2)]), np.eye(2))
    found = solve(
        SymmetricPoints(apart), order=order, weights=np.ones(6), queries=queries
    ).claim.certificate()
    assert plan.certificate.upper == pytest.approx(found.upper, rel=1e-4)


@pytest.mark.grid(3)
@pytest.mark.parametrize("domain", DOMAINS)
def test_noise_where_records_become_others_is_within_its_gap(domain):
    """The least of all, by the general solver on corners, is between the ends that are printed."""
    own = DOMAINS[domain].corners()
    if own is None:  # points of a circle, whose hull it holds
        t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        own = 3 * np.column_stack([np.cos(t), np.sin(t)])
    question = ln.Sum(["x", "y"], DOMAINS[domain], by={"g": 2}, outside="extra")
    plan = ln.plan(question, budget=ln.gaussian_dp(1.0), relation="substitute", size=N)
    rows = np.vstack([np.kron(e, own) for e in np.eye(3)])
    least = solve(PointDifferences(rows), order=2.0, weights=np.ones(6)).claim.certificate()
    assert plan.certificate.lower <= least.upper * (1 + 1e-9)
    assert least.lower * (1 - 1e-2 * (domain == "a ball")) <= plan.certificate.upper
    assert plan.certificate.upper <= 1.035 * least.upper
    assert plan.certificate.lower >= 0.93 * least.lower
    if domain == "symmetric":
        assert plan.certificate.gap < 1e-6


def test_few_records_in_many_columns_have_noise_of_all_rows_of_their_own():
    """Two records in three columns: what they add up to is flat, too. 24 and a gap of 160% before.

    With one group these are sums, whose noise is that of a mean's; with three a general solver has
    the least, of the two coordinates that records are in.
    """
    rows = np.array([[4.255, 6.261, 8.408], [5.329, 3.342, 2.646]])
    asks = {"budget": ln.gaussian_dp(1.0), "relation": "substitute", "size": N}
    one, three = (
        ln.plan(ln.Sum(["x", "y", "z"], ln.Points(rows), by={"g": n}, outside={"g": 0}), **asks)
        for n in (1, 3)
    )
    assert one.certificate.gap < 1e-6
    changes = np.vstack([np.kron(e, np.eye(2)) for e in np.eye(3)])
    queries = np.kron(np.eye(3), rows.T)
    least = solve(PointDifferences(changes), order=2.0, weights=np.ones(9), queries=queries)
    upper = least.claim.certificate().upper
    assert three.certificate.lower <= upper * (1 + 1e-9)
    assert three.certificate.upper <= 1.035 * upper


@pytest.mark.grid(1)
@pytest.mark.parametrize("order", [2.0, np.inf])
def test_one_column_has_the_least_noise_of_all(order):
    """A group and all rows change by other amounts: their noise is no multiple of one another's."""
    question = ln.Sum(["x"], ln.Box([0], [1]), by={"g": 3}, way=1, outside={"g": 0})
    budget = ln.gaussian_dp(1.0)
    plan = ln.plan(question, budget=budget, relation="substitute", size=N, order=order)
    assert plan.certificate.gap < 2e-3
    rows = np.vstack([np.kron(e, [[0.0], [1.0]]) for e in np.eye(3)])
    queries = np.vstack([np.ones((1, 3)), np.eye(3)])
    found = solve(PointDifferences(rows), order=order, weights=np.ones(4), queries=queries)
    least = found.claim.certificate()
    assert plan.certificate.upper == pytest.approx(least.upper, rel=2e-3)
    assert plan.certificate.lower <= least.upper * (1 + 1e-9)


@pytest.mark.grid(1)
@pytest.mark.parametrize("domain", ["far", "a list"])
@pytest.mark.parametrize("order", [2.0, np.inf])
def test_totals_that_follow_from_means_have_more_noise(domain, order):
    asks = {"by": {"g": 2}, "way": 1, "outside": "extra"}
    given = {"budget": ln.gaussian_dp(1.0), "relation": "substitute", "size": N, "order": order}
    own = ln.plan(ln.Sum(["x", "y"], DOMAINS[domain], **asks), **given)
    means = ln.plan(ln.Mean(["x", "y"], DOMAINS[domain], **asks), **given).terms
    kept = np.hstack([np.eye(2), means.question.mean.center[:, None]])  # sum + center·count
    follow = np.kron(np.eye(4), kept)
    strays = np.sqrt(np.diag(follow @ means.view.covariance @ follow.T))
    assert own.certificate.upper < 0.97 * np.linalg.norm(strays, order)


@pytest.mark.sweep("test_intervals_of_every_margin_cover_at_their_level")
def test_noise_of_totals_strays_and_agrees_as_it_says():
    """Of 20,000 draws a deviation is off by 5% with a chance below 1e-20."""
    plan = made("far", relation="substitute")
    mechanism = plan.terms.mechanism
    assert mechanism.noise.all_rows is not None
    draws = mechanism.noise.simulate(20_000, SimulationRandomness(7))
    embed = np.array(
        [mechanism.totals.answers(own) for own in np.eye(mechanism.length, dtype=int).tolist()]
    )
    errors = draws @ embed
    assert np.allclose(np.std(errors, axis=0), plan.standard_deviation, rtol=0.05)
    assert np.allclose(np.sqrt(np.diag(plan.terms.view.covariance)), plan.standard_deviation)
    seen = np.corrcoef(errors.T)
    stated = plan.terms.view.covariance / np.outer(*2 * [plan.standard_deviation])
    assert np.max(np.abs(seen - stated)) < 0.05


def test_files_state_the_noise_of_all_rows():
    plan = made("far", relation="substitute")
    fields = json.loads(plan.to_json())
    assert {*fields["terms"]["noise"]} == {"values", "deviations", "all_rows"}
    for change in (
        lambda noise: noise["all_rows"].update(factor=[[1.0, 0.0], [0.0, 1.0]]),
        lambda noise: noise["all_rows"].update(factor=[[1.0]]),
        lambda noise: noise["deviations"].__setitem__(0, 2.0),
        lambda noise: noise.pop("all_rows"),
    ):
        forged = json.loads(plan.to_json())
        change(forged["terms"]["noise"])
        with pytest.raises(FileError):
            ln.Plan.from_json(json.dumps(forged))


def test_a_ball_off_zero_has_a_plan_by_groups():
    """Coefficients that bound differences were taken for those of the hull, and refused."""
    question = ln.Sum(["x", "y"], ln.Ball(2, 1.0, center=[1.0, 0.0]), by={"g": 2}, outside="extra")
    plan = ln.plan(question, budget=ln.gaussian_dp(1.0), relation="substitute", size=N)
    assert plan.certificate.gap < 0.08
    assert plan.verify()


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_totals_are_those_of_the_rows_and_margins_agree(relation):
    rows = table()
    rows.loc[3, "x"] = np.nan
    plan = ln.plan(asked(), budget=ln.zcdp(1e6), relation=relation, **RELATIONS[relation])
    release = plan.release(rows)
    values = np.column_stack([rows.x.fillna(1.5).clip(0, 3), rows.y.clip(0, 5)])
    found = release.groups("g")
    for i, name in enumerate(["a", "b", "?"]):
        own = values[(rows.g == name).to_numpy()].sum(axis=0)
        assert np.allclose(found.sums[i], own, atol=0.5)
    assert np.allclose(found.intervals.mean(axis=2), found.sums)
    joint = release.groups("g", "h").sums.reshape(3, 4, 2)
    assert np.allclose(joint.sum(axis=1), found.sums)
    assert np.allclose(joint.sum(axis=(0, 1)), release.groups().sums)
    assert found.labels == (("a",), ("b",), ("(other)",))
    shown = found.to_pandas()
    assert list(shown) == ["g", "sum(x)", "low(x)", "high(x)", "sum(y)", "low(y)", "high(y)"]
    assert "Total of x" in str(release)
    assert not any("count" in name for name in plan.names)
    assert release.estimate.size == len(plan.names) == 2 * (1 + 3 + 4 + 12)
    assert ln.verify(release.to_json())


@pytest.mark.parametrize("budget", ["zcdp", "pure"])
def test_intervals_of_every_margin_cover_at_their_level(budget):
    """Of 4,000 draws fewer than 3,600 are inside one of 95% with a chance below 1e-30."""
    plan = made(budget=budget)
    mechanism = plan.terms.mechanism
    draws = mechanism.noise.simulate(4000, SimulationRandomness(5))
    embed = np.array(
        [mechanism.totals.answers(own) for own in np.eye(mechanism.length, dtype=int).tolist()]
    )
    view, start, errors = plan.terms.view, 0, draws @ embed
    for chosen in view.spaces:
        deviations = view.scales(chosen)[0]
        half = view.ratio_radius(chosen, 0.95) * deviations
        inside = np.mean(np.abs(errors[:, start : start + 2]) <= half, axis=0)
        assert np.all(inside > 0.9)
        strays = np.std(errors[:, start : start + 2], axis=0)
        assert np.allclose(strays, deviations, rtol=0.1)
        start += 2 * view._cells(chosen)


@pytest.mark.grid
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_files_hold_them_and_forged_ones_are_refused(budget, relation):
    plan = made(budget=budget, relation=relation)
    text = plan.to_json()
    again = ln.Plan.from_json(text)
    assert again.to_json() == text
    assert isinstance(again.terms.question, GroupedSum)
    assert again.verify()
    fields = json.loads(text)
    other = made(budget=budget, relation="substitute" if relation == "add_remove" else "add_remove")
    fields["terms"]["noise"] = json.loads(other.to_json())["terms"]["noise"]
    if relation == "substitute":  # noise for records that come and go alone
        with pytest.raises(FileError):
            ln.Plan.from_json(json.dumps(fields))
    assert not ln.verify(json.dumps(fields))
    fields = json.loads(text)
    fields["terms"]["question"]["kind"] = "mean_by_groups"
    with pytest.raises(FileError):
        ln.Plan.from_json(json.dumps(fields))
    question = plan.terms.question
    assert QUESTIONS.read(QUESTIONS.write(question)).labels() == question.labels()


def test_what_cannot_be_had_is_said_in_one_line():
    given = {"budget": ln.zcdp(1), "relation": "add_remove"}
    with pytest.raises(PlanError, match="count_share is for means"):
        ln.plan(asked(), count_share=0.5, **given)
    with pytest.raises(PlanError, match="is unknown for means and totals by groups"):
        ln.plan(asked(), budget=ln.zcdp(1), relation=ln.Ball(2), size=N)
    with pytest.raises(PlanError, match="would change the public size"):
        ln.plan(asked(outside="drop"), budget=ln.zcdp(1), relation="substitute", size=N)
    with pytest.raises(QuestionError, match="give by="):
        ln.Sum(["x"], ln.Box([0], [1]), way=1)
    cut = ln.intersection(ln.Ball(2), ln.Box([-0.5, -2], [1, 2]))
    with pytest.raises(DomainError, match=r"Sum\.domain="):
        ln.plan(ln.Sum(["x", "y"], cut, by=BY), **given)


SPEC = """
[question]
kind = "sum"
relation = "add_remove"
way = 1
outside = "extra"

[question.columns.x]
lower = 0
upper = 3

[question.by]
g = ["a", "b"]

[budget]
rho = 0.5
"""


def test_a_specification_asks_for_them(tmp_path):
    (tmp_path / "asked.toml").write_text(SPEC)
    plan = read_spec(tmp_path / "asked.toml").plan()
    assert isinstance(plan.terms.question, GroupedSum)
    assert plan.names == (
        "sum(x) of all rows",
        "sum(x) of g=a",
        "sum(x) of g=b",
        "sum(x) of g=(other)",
    )


def test_questions_together_and_units_take_them():
    both = ln.together(
        {"totals": asked(), "rows": ln.Histogram("g", ["a", "b"], outside="extra")},
        budget=ln.zcdp(0.5),
        relation="add_remove",
        privacy_unit="h",
        rows_per_unit=2,
    )
    released = both.release(table())
    assert released["totals"].groups("g").sums.shape == (3, 2)
