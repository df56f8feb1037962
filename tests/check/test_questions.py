# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides totals, groups, linear queries and ordered counts."""

import json
from functools import cache

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import BUDGETS, DOMAINS, changed
from lownoise_check import FALSE, HOLDS, OPEN

COLUMNS = ["a", "b", "c"]
GROUPS = {"by": {"sex": ["F", "M"], "area": 3}, "way": 2}
HERE = ("terms", "noise")
VALUES = (*HERE, "values")
WIDE = [*DOMAINS, "moved ball", "wide box", "still box"]
MORE = {
    "moved ball": ln.Ball(3, radius=2.0, center=[0.0, 0.0, 9.0]),
    "wide box": ln.Box(np.zeros(8), np.arange(1.0, 9.0)),
    "still box": ln.Box([0, 3, 1], [1, 3, 2]),  # one column has one value
}
ORDERED = {"age": {"edges": [0, 18, 40, 65]}, "sex": 2, "pay": 3}


def _domain(name):
    found = {**DOMAINS, **MORE}[name]
    return [f"x{i}" for i in range(found.dimension)], found


def _asked(kind, of, outside):
    """Return a question, and where the numbers of its noise stand in a file."""
    match kind:
        case "sum":
            return ln.Sum(*_domain(of)), HERE
        case "sum by":
            return ln.Sum(*_domain(of), **GROUPS), VALUES
        case "mean by":
            return ln.Mean(*_domain(of), **GROUPS), VALUES
        case "queries":
            rng = np.random.default_rng(5)
            matrix = {"any": rng.normal(size=(4, 12)), "one twice": np.tri(3, 12)[[0, 1, 2, 1]]}
            records = [[i, i % 3] for i in range(12)]
            place = "drop" if outside == "drop" else records[3]
            return ln.Queries(matrix[of], records, columns=["x", "y"], outside=place), HERE
        case "ordered":
            given = {
                "alone": {"sizes": {"age": ORDERED["age"]}, "sets": [["age"]]},
                "by": {"sizes": ORDERED, "way": 2},
                "ranges": {"sizes": ORDERED, "sets": [["age", "sex"], ["pay"], ["age"]]},
                "two": {"sizes": ORDERED, "way": 2},
            }[of]
            order = {"age": "range" if of == "ranges" else "prefix"}
            order |= {"pay": "range"} if of == "two" else {}
            return ln.Marginals(**given, ordered=order, outside=outside), HERE


CASES = [
    *[("sum", own, relation) for own in WIDE for relation in ("add_remove", "substitute")],
    *[("sum by", own, "add_remove") for own in ("box", "points", "ball", "still box")],
    *[("mean by", own, "add_remove") for own in ("box", "points", "ball", "flat list")],
    *[("queries", own, r) for own in ("any", "one twice") for r in ("add_remove", "substitute")],
    *[
        ("ordered", own, relation)
        for own in ("alone", "by", "ranges", "two")
        for relation in ("add_remove", "substitute")
    ],
]


@cache
def planned(kind, of, relation):
    """Return a plan's file, and where its noise is; budgets and orders take turns."""
    turn = CASES.index((kind, of, relation))
    public = relation == "substitute"
    question, place = _asked(kind, of, "extra" if public else "drop")
    plan = ln.plan(
        question,
        budget=list(BUDGETS.values())[turn % 3],
        relation=relation,
        size=40 if public else None,
        order=(2.0, np.inf)[turn // 2 % 2],
        mechanism="gaussian",
    )
    return plan.to_json(), place


def scaled(value, by):
    """Return all floats of a value times a number."""
    if isinstance(value, list):
        return [scaled(own, by) for own in value]
    return {k: scaled(v, by) for k, v in value.items()} if isinstance(value, dict) else value * by


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("asked", CASES, ids=str)
def test_what_was_planned_holds_and_a_part_in_a_million_less_does_not(asked):
    text, noise = planned(*asked)
    status, lines = checker.decide(text)
    assert status == HOLDS, lines
    less, more = 1 - 1e-6, 1 + 1e-6
    terms = json.loads(text)["terms"]
    own = terms["noise"].get("values", terms["noise"])
    name = next(name for name in ("factor", "factors", "scale") if name in own)
    budget = next(name for name in ("rho", "mu", "epsilon") if name in terms["budget"])
    certificate = ("derived", "certificate")
    edits = [
        ((*noise, name), less),
        ((*noise, name), 0.5),
        (("terms", "budget", budget), less),
        ((*certificate, "upper"), less),
        ((*certificate, "lower"), more),
        (("derived", "cost", "mu"), less),
    ]
    if "deviations" in terms["noise"]:
        edits.append((("terms", "noise", "deviations"), less))
    for path, by in edits:
        edited = changed(text, path, lambda value, by=by: scaled(value, by))
        status, lines = checker.decide(edited)
        assert status == FALSE, path
        if path[:2] == HERE:  # it is what hides that fails, and not what is stated alone
            short = ("FALSE  no change by one neighbour", "FALSE  noise, or evidence, is short")
            assert any(own.startswith(short) for own in lines), (path, lines)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, np.inf])
@pytest.mark.parametrize("of", ["box", "points", "ball"])
def test_of_groups_of_a_public_size_all_but_the_lower_bounds_is_decided(of, order):
    """What hides them is as tight here as in the plan: a millionth less is refused."""
    question = ln.Mean(*_domain(of), **GROUPS, outside="extra")
    asked = {"relation": "substitute", "size": 40, "order": order}
    text = ln.plan(question, budget=ln.zcdp(0.5), **asked).to_json()
    status, lines = checker.decide(text)
    assert status == OPEN
    assert [own.split()[0] for own in lines] == ["holds"] * 5 + ["open", "CANNOT"]
    kept = json.loads(text)["terms"]["noise"]["values"]
    entries = "scale" if "scale" in kept else "factor"
    for path in ((*HERE, "deviations"), (*VALUES, entries)):
        edited = changed(text, path, lambda own: scaled(own, 1 - 1e-6))
        status, lines = checker.decide(edited)
        assert status == FALSE
        short = ("FALSE  no change by one neighbour", "FALSE  noise, or evidence, is short")
        assert any(own.startswith(short) for own in lines), (path, lines)
    known = "diameter" in json.loads(text)["terms"]["noise"]
    assert known or (of, order) != ("points", np.inf)
    for path, change in (
        *[((*HERE, "diameter"), lambda x, by=by: x * by) for by in (1 - 1e-6, 1 + 1e-6) if known],
        (("derived", "groups", 0, "standard_deviation"), lambda own: scaled(own, 1 - 1e-6)),
        (("derived", "certificate", "upper"), lambda own: own * (1 - 1e-9)),
        (("terms", "question", "groups", "attributes", 0, "outside"), lambda _: None),
        (("terms", "size"), lambda _: None),
    ):
        assert checker.decide(changed(text, path, change))[0] == FALSE, path


def test_two_records_of_a_group_are_looked_at_where_a_file_says_how_far_they_are():
    """Where they are farther from each other than any that change their group."""
    asked = ln.Mean(["x"], ln.Box([0], [1]), by={"g": 3}, outside="extra")
    rest = {"relation": "substitute", "size": 40, "count_share": 0.1}
    plan = ln.plan(asked, budget=ln.zcdp(0.5), **rest)
    mechanism = plan.terms.mechanism
    far = mechanism.noise.diameter_up(mechanism.totals.changes)
    for less, holds in ((1.0, "holds"), (1 - 1e-6, "FALSE")):
        document = json.loads(plan.to_json())
        noise = document["terms"]["noise"]
        noise |= {"diameter": far, "deviations": scaled(noise["deviations"], less)}
        _, lines = checker.decide(json.dumps(document))
        assert f"{holds}  no change by one neighbour has more than μ" in lines


@pytest.mark.parametrize("kind", ["sum", "sum by", "mean by"])
@pytest.mark.parametrize("of", ["box", "points", "ball"])
def test_wider_records_do_not_hold(kind, of):
    text, _ = planned(kind, of, "add_remove")
    document = json.loads(text)
    mean = document["terms"]["question"]
    mean = mean.get("total", mean)["mean"]
    name = next(name for name in ("upper", "points", "image") if name in mean)
    if name == "image":
        mean[name]["factor"] = scaled(mean[name]["factor"], 1 + 1e-6)
    else:
        mean[name] = scaled(mean[name], 1 + 1e-6)
    assert checker.decide(json.dumps(document))[0] == FALSE


def test_a_group_that_is_dropped_or_renamed_does_not_hold():
    text, _ = planned("mean by", "box", "add_remove")
    for path, change in (
        (("derived", "groups"), lambda found: found[:-1]),
        (("derived", "groups", 1, "by"), lambda _: ["area"]),
        (("derived", "groups", 0, "standard_deviation"), lambda found: scaled(found, 1 - 1e-6)),
        (("terms", "question", "groups", "way"), lambda _: 1),
        (("terms", "question", "groups", "attributes", 0, "categories"), lambda found: found[:1]),
    ):
        assert checker.decide(changed(text, path, change))[0] == FALSE, path


def test_another_order_of_what_is_asked_does_not_hold():
    text, _ = planned("ordered", "by", "substitute")
    ordered = ("terms", "question", "attributes", 0, "ordered")
    for other in ("range", None):
        assert checker.decide(changed(text, ordered, lambda _, x=other: x))[0] == FALSE


def test_what_no_neighbour_changes_holds():
    plan = ln.plan(ln.Count("id"), budget=ln.zcdp(0.5), relation="substitute", size=9)
    assert checker.decide(plan.to_json())[0] == HOLDS


@pytest.mark.parametrize(
    ("question", "relation", "said"),
    [
        (
            lambda: ln.Sum(["a"], ln.Box([0], [1]), by={"g": 2}, outside="extra"),
            "substitute",
            "totals by groups of a public number of records",
        ),
        (
            lambda: ln.Marginals({"a": 20, "b": 20}, way=2, ordered={"a": "prefix", "b": "prefix"}),
            "add_remove",
            "ordered attributes of over 130 categories",
        ),
    ],
)
def test_what_is_outside_is_named(question, relation, said):
    size = 40 if relation == "substitute" else None
    plan = ln.plan(question(), budget=ln.zcdp(0.5), relation=relation, size=size)
    status, lines = checker.decide(plan.to_json())
    assert (status, said in lines[-1]) == (OPEN, True), lines
