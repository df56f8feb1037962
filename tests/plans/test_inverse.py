# SPDX-License-Identifier: Apache-2.0
"""The least budget, or number of records, for answers that are near enough: no less is.

Mutants, each seen red: a place too low or too high returned, the measure inverted, δ replaced, the
interval's level ignored, one answer's interval looked at alone.
"""

import json

import numpy as np
import pytest

import lownoise as ln
from cases import MEMBERS
from command_line import run
from lownoise.errors import LownoiseError, PlanError
from lownoise.planning import inverse
from lownoise.privacy.budget import budget_to_dict

LIKE = (ln.zcdp(1), ln.gaussian_dp(0.5), ln.pure_dp(2), ln.approx_dp(1, 1e-6))
TABLES = {
    "means": (
        ln.Mean(["age", "income"], ln.Box([0, 0], [120, 5e5])),
        {"relation": "substitute", "size": 5000, "weights": "range"},
    ),
    "sums": (ln.Mean(["a", "b"], ln.Ball(2)), {"relation": "add_remove"}),
    "marginals": (ln.Marginals({"a": 3, "b": 4}, way=2), {"relation": "add_remove"}),
    "parity": (ln.Parity(["a", "b", "c"], degree=2), {"relation": "add_remove"}),
    "queries": (ln.Queries([[1, 1, 0], [0, 1, 1]], {"a": 3}), {"relation": "add_remove"}),
}


def number(budget):
    return next(v for k, v in budget_to_dict(budget).items() if k not in ("kind", "delta"))


def lower(budget):
    """Return the budget whose number is the next lower one of four digits."""
    name = inverse._SOUGHT[type(budget)][0]
    down = inverse._number(inverse._place(number(budget)) - 1)
    assert down < number(budget)
    assert f"{down:.4g}" == f"{down:.12g}"
    return type(budget)(**{**vars(budget), name: down})


@pytest.mark.grid(1)
@pytest.mark.parametrize("like", LIKE, ids=str)
@pytest.mark.parametrize("asked", TABLES)
def test_the_budget_suffices_and_the_next_lower_one_does_not(asked, like):
    question, rest = TABLES[asked]
    aim = ln.plan(question, budget=like, **rest).error * 1.37
    found = ln.budget_for(question, like=like, error=aim, **rest)
    assert found.kind == like.kind
    assert number(found) < number(like)
    assert getattr(found, "delta", None) == getattr(like, "delta", None)
    assert ln.plan(question, budget=found, **rest).error <= aim
    assert ln.plan(question, budget=lower(found), **rest).error > aim


@pytest.mark.grid(0, least=2)
@pytest.mark.parametrize("like", LIKE, ids=str)
@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("asked", ["means", "marginals", "queries"])
def test_all_intervals_reach_as_far_as_asked_and_no_farther(asked, level, like):
    question, rest = TABLES[asked]
    if asked != "means" and level == 0.5 and str(like) == "2-DP":
        rest = {**rest, "mechanism": "laplace"}  # half of all whole numbers are exact then
    own = ln.plan(question, budget=like, **rest).terms.view.half_widths(level)
    factors = np.linspace(1.0, 0.7, own.size)  # one answer needs more than the rest
    found = ln.budget_for(question, like=like, interval=factors * own, level=level, **rest)

    def farthest(budget):
        plan = ln.plan(question, budget=budget, **rest)
        return np.max(plan.terms.view.half_widths(level) / (factors * own))

    assert farthest(found) <= 1 < farthest(lower(found))
    alone = ln.budget_for(question, like=like, interval=own.max(), level=level, **rest)
    assert number(alone) <= number(like) * (1 + 1e-3)


@pytest.mark.grid(3)
@pytest.mark.parametrize("like", LIKE, ids=str)
@pytest.mark.parametrize("place", range(0, len(MEMBERS), 9), ids=lambda i: MEMBERS[i].name)
def test_as_many_records_suffice_and_one_less_does_not(place, like):
    domain = MEMBERS[place].domain
    question = ln.Mean([f"c{i}" for i in range(domain.dimension)], domain)
    aim = ln.plan(question, budget=like, relation="substitute", size=777).error
    found = ln.size_for(question, budget=like, relation="substitute", error=aim)
    assert abs(found - 777) <= 1
    plans = (
        ln.plan(question, budget=like, relation="substitute", size=n) for n in (found, found - 1)
    )
    enough, short = (plan.error for plan in plans)
    assert enough <= aim < short


def test_marginals_tell_the_widest_interval_of_each_kind():
    for budget in (ln.zcdp(0.5), ln.pure_dp(1), ln.approx_dp(1, 1e-6)):
        plan = ln.plan(
            ln.Marginals({"a": 3, "b": 4, "c": 4}, way=2), budget=budget, relation="add_remove"
        )
        kinds = [names for names, _, _ in plan.terms.deviations()]
        found = plan.terms.view.half_widths(0.9)
        assert found.tolist() == [plan.terms.view.half_width(0.9, *k) for k in kinds]


@pytest.mark.parametrize("start", [1e-12, 1e-6, 0.123456, 0.9999, 1, 9.9995, 1000, 123456, 1e6])
def test_places_are_the_numbers_of_four_digits(start):
    place = inverse._place(start)
    numbers = [inverse._number(place + k) for k in range(-1, 12)]
    assert numbers == sorted(set(numbers))
    assert numbers[0] < start <= numbers[1]
    assert all(float(f"{x:.3e}") == x for x in numbers)


def test_a_search_ends_where_errors_do_not_fall_smoothly():
    steps = {1: 5.0, 40: 4.0, 41: 0.9, 900: 0.5}

    def ratio(at):
        return steps[max(k for k in steps if k <= at)]

    for first in (1, 40, 41, 500, 10**6):
        assert inverse._least((1, 10**6), first, ratio, float, round) == 41
    assert inverse._least((1, 30), 7, ratio, float, round) is None
    assert inverse._least((41, 10**6), 10**5, ratio, float, round) == 41


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "error and interval both state"),
        ({"error": 1, "interval": 1}, "error and interval both state"),
        ({"error": 0}, "error=0 is out of range"),
        ({"error": float("inf")}, "error=inf is out of range"),
        ({"error": float("nan")}, "error=nan is not a number"),
        ({"error": "1"}, "error='1' is not a number"),
        ({"interval": [1, -2]}, "interval=-2 is out of range"),
        ({"interval": [[1, 2], [3]]}, "interval is not a list of numbers"),
        ({"interval": [True, 2]}, "interval is not a list of numbers"),
        ({"interval": [5e-324, 1]}, "no budget like 1-zCDP is enough"),
        ({"interval": [1, 2, 3]}, "interval has 3 numbers for 2 answers"),
        ({"interval": 1, "level": 1.0}, "level=1 is out of range"),
        ({"error": 1e-300}, "no budget like 1-zCDP is enough, up to rho = 1e+06"),
        ({"error": 1, "size": 0}, "size=0 is no public number"),
    ],
)
def test_refusals_are_one_clear_line(given, said):
    question, rest = TABLES["means"]
    with pytest.raises(LownoiseError) as refused:
        ln.budget_for(question, **{"like": ln.zcdp(1), **rest, **given})
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_a_budget_for_several_questions_is_that_of_their_total():
    asked = {"relation": "add_remove"}
    several = [ln.Mean(["pay"], ln.Box([0], [5])), ln.Histogram("sex", ["F", "M"])]
    aim = ln.plan(several, budget=ln.zcdp(0.5), **asked).error
    found = ln.budget_for(several, like=ln.zcdp(1), error=aim, **asked)
    assert ln.plan(several, budget=found, **asked).error <= aim
    assert ln.plan(several, budget=lower(found), **asked).error > aim
    with pytest.raises(PlanError, match="interval is for the answers of one question"):
        ln.budget_for(several, like=ln.zcdp(1), interval=1, **asked)


def test_sizes_are_of_means_of_public_tables():
    means, marginals = TABLES["means"][0], TABLES["marginals"][0]
    for question, more, said in (
        (means, {"relation": "add_remove"}, "relation=add_remove keeps the number of records"),
        (means, {"relation": "substitute", "size": 5}, "size is what ln.size_for finds"),
        (means, {"relation": "substitute", "error": 1e-30}, "no number of records is enough"),
        (marginals, {"relation": "substitute"}, "question=Marginals is no ln.Mean of all rows"),
        ([means, marginals], {}, "question=list is no ln.Mean of all rows"),
    ):
        with pytest.raises(PlanError, match=said):
            ln.size_for(question, **{"budget": ln.zcdp(1), "error": 1.0, **more})


SPEC = """
[question]
relation = "substitute"
mechanism = "gaussian"
size = 5000
[question.columns]
age = { lower = 0, upper = 120 }
income = { lower = 0, upper = 500000 }
[budget]
epsilon = 1.0
delta = 1e-6
"""


def test_the_command_line_says_what_python_does(tmp_path):
    spec = tmp_path / "survey.toml"
    spec.write_text(SPEC)
    question = TABLES["means"][0]
    near = ("--interval", "2", "--interval", "9000", "--level", "0.9")
    found = run(tmp_path, "budget-for", spec, *near)
    given = {"interval": [2, 9000], "level": 0.9, "relation": "substitute"}
    given |= {"mechanism": "gaussian"}
    least = ln.budget_for(question, like=ln.approx_dp(1, 1e-6), size=5000, **given)
    assert found.stdout == (
        f'[budget]\nkind = "approx_dp"\nepsilon = {least.epsilon}\ndelta = 1e-06\n'
    )
    size = ln.size_for(question, budget=ln.approx_dp(1, 1e-6), **given)
    as_json = run(tmp_path, "size-for", spec, *near, "--json")
    assert json.loads(as_json.stdout) == {"size": size}


def expect_refusal(folder, *command, said):
    """Expect one line of the command, with these words."""
    refused = run(folder, *command)
    assert said in refused.stderr
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_the_command_line_asks_of_several_questions_their_total_error(tmp_path):
    spec = tmp_path / "office.toml"
    asked = (
        '[[question]]\nname = "pay"\nrelation = "add_remove"\n'
        "columns.pay = { lower = 0, upper = 5 }\n"
        '[[question]]\nname = "sex"\nkind = "marginals"\nrelation = "add_remove"\nway = 1\n'
        'attributes.sex = ["F", "M"]\n'
    )
    spec.write_text(f"{asked}[budget]\nrho = 1.0\n")
    found = json.loads(run(tmp_path, "budget-for", spec, "--error", "9", "--json").stdout)
    sex = ln.Marginals({"sex": ["F", "M"]}, way=1)
    several = {"pay": ln.Mean(["pay"], ln.Box([0], [5])), "sex": sex}
    least = ln.budget_for(several, like=ln.zcdp(1), error=9, relation="add_remove")
    assert found == {"kind": "zcdp", "rho": least.rho}
    for command, said in (
        (("budget-for", spec, "--interval", "3"), "interval is for the answers of one question"),
        (("size-for", spec, "--error", "3"), "give one question on means"),
    ):
        expect_refusal(tmp_path, *command, said=said)


def test_the_command_line_asks_of_streams_their_error_alone(tmp_path):
    spec = tmp_path / "stream.toml"
    spec.write_text('[question]\nkind = "stream"\nrounds = 16\n[budget]\nrho = 1.0\n')
    found = run(tmp_path, "budget-for", spec, "--error", "3", "--json")
    budget = ln.zcdp(json.loads(found.stdout)["rho"])
    assert ln.stream(ln.Prefix(16), budget=budget).error <= 3
    assert ln.stream(ln.Prefix(16), budget=lower(budget)).error > 3
    for command, said in (
        (("budget-for", spec, "--interval", "3"), "intervals of a stream differ from round"),
        (("size-for", spec, "--error", "3"), "depends on a public number of records"),
    ):
        expect_refusal(tmp_path, *command, said=said)
