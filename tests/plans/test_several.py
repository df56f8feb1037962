# SPDX-License-Identifier: Apache-2.0
"""Several questions on one budget: the split is the least, and one entry pays for all."""

import ast
import html
import inspect
import json
import typing
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import constructors
import lownoise as ln
from command_line import refused, run
from lownoise.errors import (
    BudgetError,
    FileError,
    LedgerError,
    PlanError,
    QuestionError,
    TableError,
)
from lownoise.planning import verb
from lownoise.privacy.readings import within
from lownoise.privacy.units import OF_UNITS
from lownoise.release import execution
from lownoise.release.members import joint_event
from refusals import sealed

BUDGETS = [ln.zcdp(0.5), ln.gaussian_dp(0.8), ln.approx_dp(1.0, 1e-6), ln.pure_dp(1.0)]
SIZE = 60
TABLE = pd.DataFrame(
    {
        "age": np.linspace(0, 99, SIZE),
        "pay": np.linspace(3, 1, SIZE),
        "sex": ["F", "M", "F"] * (SIZE // 3),
    }
)
QUESTIONS = {
    "means": ln.Mean(["age", "pay"], ln.Box([0, 0], [100, 5])),
    "counts": ln.Histogram("sex", ["F", "M"], outside="extra"),
    "spread": ln.Moments(["pay"], ln.Box([0], [5])),
}
IMPORTANCE = {"means": 0.1, "counts": 1.0, "spread": 2.0}


def planned(budget=BUDGETS[0], relation="add_remove", questions=QUESTIONS, **more):
    if questions is QUESTIONS and not more:
        return alone(budget, relation)
    size = SIZE if relation == "substitute" else None
    return ln.together(questions, budget=budget, relation=relation, size=size, **more)


@cache
def alone(budget, relation):
    """The plan of the three questions with nothing else asked, which many tests read."""
    return planned(budget, relation, dict(QUESTIONS))


@pytest.mark.grid(0)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_no_other_split_has_a_smaller_total_error(budget, relation):
    best = planned(budget, relation, importance=IMPORTANCE)
    assert sum(best.shares.values()) == pytest.approx(1)

    def total(shares):
        own = planned(budget, relation, shares=shares)
        return np.sqrt(sum((IMPORTANCE[n] * own[n].terms.compared) ** 2 for n in own))

    assert total(best.shares) == pytest.approx(best.error, rel=1e-6)
    assert total(dict.fromkeys(QUESTIONS, 1.0)) == pytest.approx(best.even_error, rel=1e-6)
    assert best.error <= best.even_error
    for name in QUESTIONS:
        for factor in (0.9, 1.1):
            other = total({**best.shares, name: factor * best.shares[name]})
            assert other > best.error * (1 + 1e-5)


SMALL = {**QUESTIONS, "means": ln.Mean(["age"], ln.Box([0], [0.01]))}


@pytest.mark.grid(0)
@pytest.mark.parametrize("budget", [BUDGETS[0], BUDGETS[3]], ids=str)
def test_a_question_in_small_units_is_told_what_importance_would_split_evenly(budget):
    own = planned(budget, questions=SMALL)
    assert own.shares["means"] < 0.1 / 3
    said = str(own).splitlines()[-1]
    assert said.startswith(f"means gets {100 * own.shares['means']:.2g}% of the budget, as one ")
    assert f"<p>{html.escape(said)}</p>" in own._repr_html_()
    told = ast.literal_eval(said[said.index("{") : said.index("}") + 1])
    assert told == pytest.approx(own.even_importance, rel=0.06)
    for importance, off in ((own.even_importance, 0.01), (told, 0.06)):
        again = planned(budget, questions=SMALL, importance=importance)
        assert list(again.shares.values()) == pytest.approx([1 / 3] * 3, rel=off)
        assert again.error == pytest.approx(again.even_error, rel=off)
        assert "evenly" not in str(again)
    # nobody is told who chose so, or whose shares are not small
    for chosen in ({"shares": {**own.shares, "means": 1}}, {"importance": dict(IMPORTANCE)}):
        assert "evenly" not in str(planned(budget, questions=SMALL, **chosen))
    alike = {"counts": QUESTIONS["counts"], "spread": QUESTIONS["spread"]}
    assert "evenly" not in str(planned(budget, questions=alike))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_all_together_reveal_the_budget_and_no_more(budget):
    own = planned(budget, importance=IMPORTANCE)
    assert within(budget, own.cost)
    costs = [plan.terms.cost.event for plan in own.plans.values()]
    # again in fractions, and each plan is that of its part alone
    assert own.cost.as_mu_square() >= sum(each.as_mu_square() for each in costs)
    assert own.cost.as_rho() >= sum(each.as_rho() for each in costs)
    assert float(own.cost.as_rho()) == pytest.approx(float(sum(c.as_rho() for c in costs)))
    if own.cost.as_pair() is not None:
        exact = sum(Fraction(each.epsilon) for each in costs)
        assert own.cost.epsilon >= exact
    # hardly anything is left: a tenth more of any would be too much
    wider = ln.plan(
        QUESTIONS["means"],
        budget=type(own["means"].terms.budget)(
            *(1.1 * number for number in vars(own["means"].terms.budget).values())
        ),
        relation="add_remove",
        mechanism=own["means"].mechanism,
    )
    terms = [wider.terms, own["counts"].terms, own["spread"].terms]
    assert not within(budget, joint_event(terms))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_one_entry_pays_for_all_and_files_come_back(budget, tmp_path):
    reading = {"reading": "gaussian"} if isinstance(budget, type(BUDGETS[2])) else {}
    ledger = ln.Ledger.create(tmp_path / "ledger", "people", budget, **reading)
    plan = planned(budget)
    release = plan.release(TABLE, ledger)
    (entry,) = ledger.entries()
    assert entry.state == "settled"
    assert entry.event == plan.cost == release.cost
    assert {own.spend.number for own in release.releases.values()} == {entry.id}
    with pytest.raises(LedgerError):
        plan.release(TABLE, ledger)
    assert len([own for own in ledger.entries() if own.state == "settled"]) == 1
    release.save(tmp_path / "published")
    again = ln.JointRelease.load(tmp_path / "published")
    assert list(again) == list(QUESTIONS)
    assert np.array_equal(again["means"].estimate, release["means"].estimate)
    assert np.array_equal(again["counts"]["sex"], release["counts"]["sex"])
    for place in ("1-means.json", "2-counts", "3-spread.json"):
        assert ln.verify(tmp_path / "published" / place)


def test_a_table_that_does_not_fit_spends_nothing(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "ledger", "people", BUDGETS[0])
    plan = planned()
    with pytest.raises(TableError, match="sex"):  # the first question could be read
        plan.release(TABLE[["age", "pay"]], ledger)
    assert [own.state for own in ledger.entries()] in ([], ["cancelled"])
    assert plan.release(TABLE, ledger)["means"].recorded


def test_answers_are_those_of_the_table():
    release = planned(ln.zcdp(1e5)).release(TABLE)
    assert np.allclose(release["means"].mean, TABLE[["age", "pay"]].mean(), atol=0.5)
    assert np.allclose(release["counts"]["sex"], [40, 20, 0], atol=0.2)
    assert np.allclose(release["spread"].moments.variance, TABLE["pay"].var(ddof=0), atol=0.05)


def test_folders_that_were_edited_are_refused(tmp_path):
    release = planned().release(TABLE)
    release.save(tmp_path / "published")
    with pytest.raises(FileError, match="cannot be made"):
        release.save(tmp_path / "published")
    path = tmp_path / "published" / "together.json"
    text = path.read_text()
    with pytest.raises(FileError, match=r"together\.json"):
        ln.JointRelease.load(tmp_path)
    path.write_text(text.replace('"rho": 0.5', '"rho": 0.4'))
    with pytest.raises(FileError, match="digest"):
        ln.JointRelease.load(tmp_path / "published")
    fields = json.loads(text)
    for change in (
        {"budget": {"kind": "zcdp", "rho": 0.4}},
        {"releases": {**fields["releases"], "means": "../1-means.json"}},
        {"more": 1},
    ):
        edited = {**fields, **change}
        path.write_text(sealed(edited))
        with pytest.raises((FileError, PlanError)):
            ln.JointRelease.load(tmp_path / "published")
    # a release of another publication does not pass for one of this
    other = planned(ln.zcdp(2.0)).release(TABLE)
    path.write_text(text)
    other["means"].save(tmp_path / "published" / "1-means.json", overwrite=True)
    with pytest.raises((FileError, PlanError), match="another than together"):
        ln.JointRelease.load(tmp_path / "published")


def test_options_reach_their_question_alone():
    own = planned(options={"means": {"weights": "range", "order": 4.0}})
    assert own["means"].terms.order == 4.0
    assert own["counts"].terms.order == 2.0
    assert "share" in str(own)
    assert repr(own).startswith("<JointPlan: 3 questions under 0.5-zCDP")


@pytest.mark.parametrize("name", [0, None, "nope", ["means"], {}, ("means", "counts")], ids=str)
def test_a_question_that_is_none_is_refused_in_one_line(name):
    for own in (planned(), planned().release(TABLE)):
        with pytest.raises(PlanError, match=r"^question=.* is unknown; give one of means, "):
            own[name]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"questions": {}}, r"questions=\{\} are no questions; give \[question"),
        ({"questions": []}, r"questions=\[\] are no questions"),
        ({"questions": "age"}, "questions='age' are no questions"),
        ({"questions": {"a\n": QUESTIONS["means"]}}, "printable"),
        ({"questions": {"a": 3}}, "is no question"),
        ({"questions": [QUESTIONS["means"], 2]}, r"questions\[1\]=int is no question"),
        ({"questions": [[*QUESTIONS.values()]]}, r"questions\[0\]=list is no question"),
        (
            {"questions": [QUESTIONS["means"], ln.Mean(["age", "pay"], ln.Box([0, 0], [100, 5]))]},
            r"questions\[1\] asks what questions\[0\] asks; leave one out",
        ),
        ({"questions": ["age"], "weights": "range"}, r"questions\[0\]=str is no question"),
        ({"uses": 3}, "uses is of one question; leave it out"),
        ({"weights": "range"}, r"in options, as options=\{'means': \{'weights': …\}\}"),
        ({"importance": {"means": 1.0}}, "one number a question"),
        ({"importance": {**IMPORTANCE, "means": 0.0}}, "out of range"),
        ({"shares": {**IMPORTANCE, "means": -1.0}}, "out of range"),
        ({"shares": IMPORTANCE, "importance": IMPORTANCE}, "give one of them"),
        ({"options": {"mean": {}}}, "is unknown; give one of means"),
        ({"options": {"means": {"uses": 3}}}, "give some of order"),
        ({"relation": ln.Ball(2)}, "is unknown for together"),
        ({"shares": {**IMPORTANCE, "means": 1e-14}}, "shares leaves question='means' 3.3e-15"),
        ({"importance": {**IMPORTANCE, "means": 1e100}}, "importance leaves question='"),
        ({"importance": {**IMPORTANCE, "means": 1e101}}, r"importance\['means'\]=1e\+101 is out"),
        ({"importance": {**IMPORTANCE, "means": "1"}}, r"\['means'\]='1' is not a number"),
        ({"budget": ln.zcdp(1e-12)}, "budget leaves question='means' 1.0e\\+00 of the budget"),
    ],
)
def test_mistakes_have_one_line_and_a_remedy(more, said):
    with pytest.raises((PlanError, BudgetError, QuestionError), match=said):
        planned(**more)


LISTED = {
    "mean 1": QUESTIONS["means"],
    "marginals": QUESTIONS["counts"],
    "mean 2": ln.Mean(["pay"], ln.Box([0], [5]), by={"sex": ["F", "M"]}),
    "moments 1": QUESTIONS["spread"],
    "sum": ln.Sum(["pay"], ln.Box([0], [5]), by={"sex": ["F", "M"]}),
    "moments 2": ln.Moments(["age"], ln.Box([0], [100]), by={"sex": ["F", "M"]}),
    "queries": ln.Queries(np.eye(2), [["F"], ["M"]], columns=["sex"]),
    "parity": ln.Parity(["a", "b"], 1),
}


def documents(plan):
    return {name: plan[name].to_json() for name in plan}


def test_a_list_is_planned_as_by_the_names_of_what_is_asked():
    asked = {"budget": BUDGETS[0], "relation": "add_remove"}
    importance = {name: 1.0 + place for place, name in enumerate(LISTED)}
    listed = ln.plan([*LISTED.values()], importance=importance, **asked)
    by_name = ln.together(LISTED, importance=importance, **asked)
    assert list(listed) == list(LISTED)
    assert (
        documents(listed)
        == documents(by_name)
        == documents(ln.plan(LISTED, **asked, importance=importance))
    )
    few = (QUESTIONS["means"], QUESTIONS["counts"])
    release = ln.plan(few, **asked).release(TABLE)
    assert release["mean"].mean.shape == (2,)
    assert ln.plan(few[:1], **asked)["mean"].error == pytest.approx(
        ln.plan(few[0], **asked).error, rel=1e-9
    )


def test_the_public_verb_takes_what_those_of_one_question_and_of_several_take():
    one, several = (inspect.signature(own) for own in typing.get_overloads(ln.plan))
    alone, shared = inspect.signature(verb.plan), inspect.signature(ln.together)
    assert (
        list(one.parameters)
        == list(alone.parameters)
        == list(inspect.signature(ln.plan).parameters)
    )
    own = [name for name in shared.parameters if name not in {"questions", "unit"}]
    assert list(several.parameters) == ["question", *own, *OF_UNITS]
    for given in (one, several):
        for name, parameter in given.parameters.items():
            beside = (alone if given is one else shared).parameters.get(name, parameter)
            assert (parameter.default is ...) == (beside.default is not inspect.Parameter.empty)
    with pytest.raises(PlanError, match=r"question=str is no question; .* or several in a list"):
        ln.plan("age", budget=BUDGETS[0], relation="add_remove")


def test_a_question_that_needs_no_noise_is_asked_alone():
    point = ln.Mean(["a"], ln.Box([1], [1]))
    with pytest.raises(PlanError, match="ask it alone"):
        planned(relation="substitute", questions={"a": point, **QUESTIONS})


SPEC = """
[[question]]
name = "means"
relation = "add_remove"
weights = "range"
importance = 2

[question.columns]
age = { lower = 0, upper = 100 }

[[question]]
name = "ages"
kind = "marginals"
relation = "add_remove"
way = 1

[question.attributes]
age = { edges = [0, 50, 100] }

[budget]
rho = 0.5

[data]
path = "people.csv"

[ledger]
path = "office.ledger"
dataset = "people"
"""


@pytest.fixture
def folder(tmp_path):
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "asked.toml").write_text(SPEC)
    ln.Ledger.create(tmp_path / "office.ledger", "people", ln.zcdp(0.5))
    return tmp_path


def test_a_specification_of_several_is_planned_and_released_on_the_command_line(folder):
    ledger = ln.Ledger(folder / "office.ledger", "people")
    questions = {
        "means": ln.Mean(["age"], ln.Box([0], [100])),
        "ages": ln.Marginals({"age": {"edges": [0, 50, 100]}}, way=1),
    }
    expected = planned(
        questions=questions,
        importance={"means": 2.0, "ages": 1.0},
        options={"means": {"weights": "range"}},
    )
    shown = run(folder, "together", "asked.toml")
    assert shown.returncode == 0
    assert str(expected) in shown.stdout
    assert not ledger.entries()
    done = run(folder, "together", "asked.toml", "--out", "published")
    assert done.returncode == 0, done.stderr
    assert len(ledger.entries()) == 1
    assert done.stdout.count("Entry 1 in the account of “people”") == 1
    found = ln.JointRelease.load(folder / "published")
    assert list(found) == ["means", "ages"]
    assert found["ages"].marginal("age").shape == (2,)
    assert "</html>" in (folder / "published" / "1-means.html").read_text()
    # which file is whose is said, and a command that reads one release asks for one
    assert done.stdout.endswith(
        "published:\nmeans: 1-means.json, 1-means.html\nages: 2-ages, 2-ages.html\n"
    )
    refused(run(folder, "marginal", "published", "age"), "of several questions; give one of those")
    assert run(folder, "marginal", "published/2-ages", "age").returncode == 0
    # neither a folder that exists nor an account without budget loses or spends anything
    refused(run(folder, "together", "asked.toml", "--out", "published"), "give --out a new folder")
    again = run(folder, "together", "asked.toml", "--out", "more")
    assert again.returncode == 2
    assert not (folder / "more").exists()
    assert len(ledger.entries()) == 1


def test_what_is_paid_for_and_cannot_be_written_is_printed_or_kept(folder, monkeypatch, capsys):
    """The disk fills between the spend and the folder: margins are kept, all else is printed."""
    from lownoise.cli.together import together
    from lownoise.planning.joint import JointRelease

    def full(*_):
        raise FileError("folder=published cannot be written (No space left on device)")

    (folder / "asked.toml").write_text(SPEC.replace("people.csv", str(folder / "people.csv")))
    text = (folder / "asked.toml").read_text()
    (folder / "asked.toml").write_text(text.replace("office", str(folder / "office")))
    monkeypatch.setattr(JointRelease, "write", full)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with pytest.raises(FileError):
        together(folder / "asked.toml", data=None, out=folder / "published")
    printed = capsys.readouterr()
    assert ln.Release.from_json(printed.out).recorded
    (kept,) = [line for line in printed.err.splitlines() if "kept in" in line]
    assert kept.startswith("ages: ")
    assert ln.Release.load(kept.split("kept in ")[1]).recorded


def test_an_interrupted_release_of_several_says_that_its_spend_counts(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    ledger = ln.Ledger(folder / "office.ledger", "people")
    monkeypatch.setattr(execution, "_each", interrupted)
    done = run(folder, "together", "asked.toml", "--out", "published")
    assert done.returncode == 130
    assert "stays reserved, and counts" in done.stderr
    assert [entry.state for entry in ledger.entries()] == ["reserved"]
    assert not (folder / "published").exists()


def test_mistakes_in_a_specification_of_several_are_listed_with_their_question(folder):
    path = folder / "asked.toml"
    path.write_text(SPEC.replace("way = 1", "wey = 1").replace('"range"', '"ranges"'))
    found = run(folder, "together", "asked.toml")
    assert found.returncode == 2
    assert "question[0].weights" in found.stderr
    assert "question[1].wey" in found.stderr
    for old, new, said in (
        ('name = "ages"', 'name = "means"', "given twice"),
        ('name = "ages"', "", "given twice"),
        ("way = 1", "way = 1\nuses = 3", "of one question"),
        ("rho = 0.5", "rho = -1", "budget.rho"),
        ("importance = 2", "importance = 2\nshare = 0.5", "give one of them"),
        ('"add_remove"\nweights', '"substitute"\nsize = 60\nweights', "give all the same"),
    ):
        path.write_text(SPEC.replace(old, new))
        found = run(folder, "together", "asked.toml")
        assert found.returncode == 2, said
        assert said in found.stderr
    path.write_text("question = []\n" + SPEC[SPEC.index("[budget]") :])
    assert run(folder, "together", "asked.toml").returncode == 2
    path.write_text(SPEC)
    refused(run(folder, "plan", "asked.toml"), "lownoise together")


def test_a_table_that_gives_its_rows_once_is_read_for_every_question():
    import pyarrow as pa

    rows = pd.DataFrame({"x": np.linspace(0, 1, 60), "g": np.arange(60) % 2})
    plan = ln.together(
        {"mean": ln.Mean(["x"], ln.Box([0], [1])), "counts": ln.Histogram("g", 2)},
        budget=ln.zcdp(1e4),
        relation="add_remove",
    )
    for table in (pa.Table.from_pandas(rows).to_reader(), pa.Table.from_pandas(rows), rows):
        release = plan.release(table)
        assert release["mean"].estimate[-1] == pytest.approx(60, abs=1)
        assert release["counts"]["g"] == pytest.approx([30, 30], abs=1)


def test_every_question_has_its_table_by_name():
    found = planned().release(TABLE)
    tables = found.to_pandas(level=0.5)
    assert list(tables) == list(found)
    for name, own in tables.items():
        assert own.equals(found[name].to_pandas(level=0.5))


@pytest.mark.parametrize(("options", "said"), [({"m": 3}, "no mapping"), ([1], "no mapping")])
def test_options_that_are_no_mappings_are_refused_in_one_line(options, said):
    with pytest.raises(PlanError, match=said):
        ln.together(
            {"m": ln.Mean(["x"], ln.Box([0], [1]))},
            budget=ln.zcdp(1.0),
            relation="add_remove",
            options=options,
        )


@pytest.mark.grid(0)
@pytest.mark.parametrize("budget", BUDGETS[1:], ids=str)
def test_a_folder_says_whose_it_is_and_is_verified_as_one(budget, tmp_path):
    """Members are those that were written, the account's entry names them, and cost is of all."""
    reading = {"reading": "gaussian"} if isinstance(budget, type(BUDGETS[2])) else {}
    ledger = ln.Ledger.create(tmp_path / "ledger", "people", budget, **reading)
    plan = planned(budget)
    plan.save(tmp_path / "plan")
    again = ln.JointPlan.load(tmp_path / "plan")
    assert str(again) == str(plan)
    assert again.cost == plan.cost
    release = again.release(TABLE, ledger)
    release.save(tmp_path / "made")
    paid = f"ledger  Entry {ledger.entries()[0].id} in the account of “people”."
    for name in release:  # all but who paid, which is said once and for all
        said, of_ledger, entry = f"{name}: {release[name]}".rstrip().rpartition("\nledger ")
        assert said in str(release), of_ledger
        assert entry.split() == paid.split()[1:]
    assert str(release).endswith(f"\n\n{paid}")
    assert str(release).count("\nledger") == 1
    assert str(plan.release(TABLE)).count("Nothing was recorded") == 1
    for folder in ("plan", "made"):
        found = ln.verify(tmp_path / folder)
        assert found
        names = {check.name for check in found.checks}
        assert {"'means': as listed", "together within the budget", "one entry pays"} <= names
        assert ln.verify(tmp_path / folder / "together.json")
        # the entry of the account names the plans, and so does what is said of either folder
        (note,) = [entry.note for entry in ledger.entries()]
        assert note.split(":")[0] in found.checks[-1].found
    with pytest.raises(FileError, match="has plans"):
        ln.JointRelease.load(tmp_path / "plan")
    with pytest.raises(FileError, match="has releases"):
        ln.JointPlan.load(tmp_path / "made")
    # a release of the same plan in the place of one, by no digest of its own
    release = again.release(TABLE)
    (tmp_path / "made" / "3-spread.json").unlink()
    release["spread"].save(tmp_path / "made" / "3-spread.json", overwrite=True)
    wrong = [check.name for check in ln.verify(tmp_path / "made").checks if not check.holds]
    assert wrong == ["'spread': as listed", "one entry pays"]
    with pytest.raises(FileError, match="another than together"):
        ln.JointRelease.load(tmp_path / "made")


def test_a_folder_that_reveals_more_than_its_budget_is_seen(tmp_path):
    """Also where every member holds, and whoever wrote it made the digests anew."""

    planned(ln.zcdp(2.0)).save(tmp_path / "plan")
    path = tmp_path / "plan" / "together.json"
    fields = json.loads(path.read_text())
    fields["budget"]["rho"] = 1.0
    path.write_text(sealed(fields))
    wrong = [check.name for check in ln.verify(tmp_path / "plan").checks if not check.holds]
    assert wrong == ["together within the budget"]


def edited(folder, change):
    from lownoise.release.codec import digest

    path = folder / "together.json"
    fields = change(json.loads(path.read_text()))
    path.write_text(json.dumps({**fields, "digest": digest(fields)}))


@pytest.mark.grid(0, least=2)
@pytest.mark.parametrize(
    ("word", "given"),
    [
        ("shares", 0.5),
        ("shares", None),
        ("shares", -1.0),
        ("importance", 0.0),
        ("importance", "1"),
        ("apart", -1.0),
        ("apart", "9"),
        ("names", "means\n"),
        ("members", {}),
    ],
)
def test_what_a_folder_of_plans_says_of_them_is_theirs(word, given, tmp_path):
    """Whoever wrote it made the digests anew: each share is the part that the plan has."""
    planned(importance=IMPORTANCE).save(tmp_path / "plan")
    assert ln.verify(tmp_path / "plan")

    def change(fields):
        if word == "names":
            fields["plans"] = {
                given: "1-means.json",
                "counts": "2-counts.json",
                "spread": "3-spread.json",
            }
        elif word == "members":
            fields["members"]["4.json"] = given
        else:
            fields[word] = given if word == "apart" else {**fields[word], "counts": given}
        return fields

    edited(tmp_path / "plan", change)
    with pytest.raises(FileError):
        ln.JointPlan.load(tmp_path / "plan")
    try:
        found = [own.name for own in ln.verify(tmp_path / "plan").checks if not own.holds]
    except FileError:
        found = ["refused"]
    assert found == (["split as stated"] if (word, given) == ("shares", 0.5) else ["refused"])


def test_plans_in_the_place_of_releases_are_no_releases(tmp_path):
    from lownoise.release.codec import digest, parsed

    plan = planned()
    plan.save(tmp_path / "plan")
    plan.release(TABLE).save(tmp_path / "made")
    text = (tmp_path / "plan" / "1-means.json").read_text()
    (tmp_path / "made" / "1-means.json").write_text(text)

    def change(fields):
        fields["members"]["1-means.json"]["document"] = digest(parsed(text))
        return fields

    edited(tmp_path / "made", change)
    with pytest.raises(FileError, match=r"is not lownoise\.release.*; this is a plan; read"):
        ln.verify(tmp_path / "made")


def test_what_would_reveal_more_than_its_budget_is_not_released(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "ledger", "people", ln.zcdp(2.0))
    plan = replace(planned(), budget=ln.zcdp(0.4))
    with pytest.raises(PlanError, match=r"more together than 0\.4-zCDP"):
        plan.release(TABLE, ledger)
    assert not ledger.entries()


def test_rows_that_are_there_once_are_read_where_every_question_has_its_columns():
    """Of units with bounded totals, too, which are added up question by question."""
    import pyarrow as pa

    def asked(other):
        one = ln.Box([0], [100])
        return ln.together(
            {"age": ln.Sum(["age"], one), "other": ln.Sum([other], one)},
            budget=ln.zcdp(1e6),
            relation="add_remove",
            privacy_unit="sex",
            options={name: {"unit_total": 1e4} for name in ("age", "other")},
        )

    rows = pa.Table.from_pandas(TABLE).to_reader()
    for column in ("wealth", "day"):
        odd = pa.Table.from_pandas(TABLE.assign(day=pd.Timestamp(0))).to_reader()
        with pytest.raises(TableError, match=column):
            asked(column).release(odd)
        assert odd.read_all().num_rows == SIZE
    found = asked("pay").release(rows)["other"].estimate
    assert found == pytest.approx([TABLE["pay"].sum()], abs=100)


def test_folders_without_digests_of_members_are_read(tmp_path):
    """As they were written before."""

    planned().release(TABLE).save(tmp_path / "made")
    path = tmp_path / "made" / "together.json"
    fields = json.loads(path.read_text())
    del fields["members"]
    path.write_text(sealed(fields))
    assert ln.verify(tmp_path / "made")
    assert list(ln.JointRelease.load(tmp_path / "made")) == list(QUESTIONS)


def test_folders_whose_members_have_numbers_for_names_are_read(tmp_path):
    """As they were written before files were called by their questions."""
    import lownoise_check

    plan = planned()
    plan.save(tmp_path / "plans")
    plan.release(TABLE).save(tmp_path / "releases")
    for kind in ("plans", "releases"):
        places = json.loads((tmp_path / kind / "together.json").read_text())[kind]
        short = {own: own.split("-")[0] + Path(own).suffix for own in places.values()}
        assert len({*short, *short.values()}) == 6
        for own, number in short.items():
            (tmp_path / kind / own).rename(tmp_path / kind / number)

        def change(fields, short=short, kind=kind):
            fields[kind] = {name: short[own] for name, own in fields[kind].items()}
            fields["members"] = {short[own]: said for own, said in fields["members"].items()}
            return fields

        edited(tmp_path / kind, change)
        assert ln.verify(tmp_path / kind)
        file = lownoise_check.tried(
            lownoise_check.File(),
            lambda own, kind=kind: lownoise_check.check_together(own, tmp_path / kind),
        )
        assert not [what for status, what in file.found if status == lownoise_check.FALSE]
    assert list(ln.JointPlan.load(tmp_path / "plans")) == list(QUESTIONS)
    assert list(ln.JointRelease.load(tmp_path / "releases")) == list(QUESTIONS)


@pytest.mark.parametrize("name", ["../up", "a/b", "ä ö", "CON", "x" * 300, "a.json", ".", "2"])
def test_whatever_questions_are_called_their_files_have_names(name, tmp_path):
    plan = planned(questions={name: QUESTIONS["means"], "other": QUESTIONS["counts"]})
    plan.save(tmp_path / "plans")
    assert len([*(tmp_path / "plans").iterdir()]) == 3
    assert list(ln.JointPlan.load(tmp_path / "plans")) == [name, "other"]
    assert ln.verify(tmp_path / "plans")


def test_answers_of_all_questions_are_written_on_the_command_line(folder):
    ledger = ln.Ledger(folder / "office.ledger", "people")
    command = ("together", "asked.toml")
    refused(run(folder, *command, "--answers", "a.csv"), "give --out DIR")
    refused(run(folder, *command, "--out", "p", "--answers", "a.txt"), "a.txt")
    (folder / "a-2-ages.csv").write_text("")
    said = "a-2-ages.csv exists; give --answers a new file"
    refused(run(folder, *command, "--out", "p", "--answers", "a.csv"), said)
    assert not ledger.entries()
    assert not (folder / "p").exists()
    assert not (folder / "a-1-means.csv").exists()
    done = run(folder, *command, "--out", "p", "--answers", "b.csv")
    assert done.returncode == 0, done.stderr
    assert "ages: 2-ages, 2-ages.html, b-2-ages.csv\n" in done.stdout
    found = ln.JointRelease.load(folder / "p")
    for file, name in (("b-1-means.csv", "means"), ("b-2-ages.csv", "ages")):
        found[name].export(folder / "own.csv")
        assert (folder / file).read_bytes() == (folder / "own.csv").read_bytes()


def test_a_folder_of_several_within_one_of_several_is_no_member(tmp_path):
    """Links in a circle would be followed without end."""
    planned().save(tmp_path / "plan")
    (tmp_path / "plan" / "1-means.json").unlink()
    (tmp_path / "plan" / "1-means.json").symlink_to(tmp_path / "plan", target_is_directory=True)
    with pytest.raises(FileError):
        ln.verify(tmp_path / "plan")


def test_a_question_whose_domain_is_a_program_is_paid_for_with_others(tmp_path):

    def farthest(matrix, center):
        point, value = constructors.disc(matrix, center)
        most = (np.sqrt(np.linalg.norm(matrix, 2)) * (1 + np.linalg.norm(center))) ** 2
        return point, value, most * (1 + 1e-9)

    disc = ln.Oracle(2, farthest, half_widths=[1.0, 1.0], clamp=ln.Ball(2).clamp, name="disc")
    asked = {"disc": ln.Mean(["age", "pay"], disc), "counts": QUESTIONS["counts"]}
    ledger = ln.Ledger.create(tmp_path / "ledger", "people", BUDGETS[0])
    release = planned(questions=asked).release(TABLE, ledger)
    release.save(tmp_path / "made")
    again = ln.JointRelease.load(tmp_path / "made", {"disc": disc})
    assert np.array_equal(again["disc"].estimate, release["disc"].estimate)
    assert ledger.entries()[0].note.startswith("together ")
    assert ln.verify(tmp_path / "made", domain=disc)
    with pytest.raises(FileError, match="is a program"):
        ln.verify(tmp_path / "made")
