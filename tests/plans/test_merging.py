# SPDX-License-Identifier: Apache-2.0
"""Questions on counts that are one question: what they then err, what they cost, and which are not.

Mutants, each seen red: importance not squared into weights; weights of a set that two ask for not
added up; rows left out by one question left out for another; a merged plan charged once a name; a
merged plan that is worse taken all the same.
"""

import math

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import FileError, QuestionError
from lownoise.planning.several import merged
from lownoise.privacy import PureDP
from lownoise.privacy.readings import within

SIZES = {"region": 5, "sex": ["F", "M"], "pay": {"edges": [0, 10, 20, 50]}}
ROWS = 400
RNG = np.random.default_rng(7)
TABLE = pd.DataFrame(
    {
        "region": RNG.integers(0, 6, ROWS),  # 5 is none of the categories
        "sex": RNG.choice(["F", "M", "?"], ROWS),
        "pay": RNG.uniform(0, 50, ROWS),
    }
)
BUDGETS = [ln.zcdp(0.5), ln.approx_dp(1.0, 1e-6), ln.pure_dp(1.0)]


def counts(*names, **more):
    return ln.Count({name: SIZES[name] for name in names}, outside="extra", **more)


ASKED = {
    "sex": counts("sex"),
    "age": ln.Mean(["pay"], ln.Box([0], [50])),
    "region": counts("region"),
    "both": ln.Marginals(
        {name: SIZES[name] for name in ("sex", "region")}, way=2, outside="extra", weights=[3, 1, 2]
    ),
}
IMPORTANCE = {"sex": 3.0, "age": 0.1, "region": 1.0, "both": 0.5}
NAMES = ("sex", "region", "both")


def planned(budget=BUDGETS[0], relation="add_remove", asked=ASKED, **more):
    size = ROWS if relation == "substitute" else None
    return ln.together(asked, budget=budget, relation=relation, size=size, **more)


def error_of(question, view):
    """√Σ w·variance over a question's own tables, cell by cell."""
    total = 0.0
    for k, chosen in enumerate(question.sets()):
        weight = question.weights[k if question.way is None else len(chosen)]
        names = question.names(chosen)
        sizes = [a.size for a in question.attributes if a.name in names]
        deviations = np.broadcast_to(view.standard_deviation(*names, answers=True), sizes)
        total += weight * float(np.square(deviations).sum())
    return math.sqrt(total)


@pytest.mark.grid(0, least=2)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_one_plan_has_the_total_error_of_all_of_its_questions_and_less_than_a_split(
    budget, relation
):
    own = planned(budget, relation, importance=IMPORTANCE)
    assert len({id(own[name]) for name in NAMES}) == 1
    assert own["age"] is not own["sex"]
    view = own["sex"].terms.view
    parts = [IMPORTANCE[name] * error_of(ASKED[name], view) for name in NAMES]
    parts.append(IMPORTANCE["age"] * own["age"].terms.compared)
    assert own.error == pytest.approx(math.hypot(*parts), rel=1e-6)
    apart = planned(budget, relation, importance=IMPORTANCE, merge=False)
    assert len({id(plan) for plan in apart.plans.values()}) == len(ASKED)
    # the error of a staircase is not just in proportion to 1/ε
    near = 1e-3 if isinstance(budget, PureDP) else 1e-6
    assert own.apart == pytest.approx(apart.error, rel=near)
    assert apart.apart == pytest.approx(apart.error, rel=near)
    assert own.error < 0.95 * apart.error
    assert own["sex"].certificate.gap < 1e-3 or not own["sex"].terms.gaussian
    # what is charged is what the two plans reveal, of the whole budget and no more
    assert within(budget, own.cost)
    costs = [own[name].terms.cost.event for name in ("sex", "age")]
    assert float(own.cost.as_rho()) == pytest.approx(sum(float(c.as_rho()) for c in costs))
    assert own.shares["sex"] + own.shares["age"] == pytest.approx(1)
    assert f"with a plan for each question {own.apart:.4g}" in str(own)


def test_tables_are_those_of_each_question_and_agree(tmp_path):
    plan = planned(ln.zcdp(1e5))
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1e5))
    release = plan.release(TABLE, ledger)
    assert len(ledger.entries()) == 1
    assert release["sex"] is release["both"]
    sex = TABLE["sex"].map({"F": 0, "M": 1, "?": 2})
    assert np.allclose(release["sex"]["sex"], np.bincount(sex), atol=0.5)
    assert np.allclose(
        release["region"]["region"], TABLE["region"].value_counts(sort=False).sort_index(), atol=0.5
    )
    both = release["both"]["sex", "region"]
    assert np.allclose(both, pd.crosstab(sex, TABLE["region"]), atol=0.5)
    assert np.allclose(both.sum(axis=1), release["sex"]["sex"], atol=1e-9)
    release.save(tmp_path / "made")
    files = ["1-sex-region-both", "2-age.json", "together.json"]
    assert sorted(p.name for p in (tmp_path / "made").iterdir()) == files
    again = ln.JointRelease.load(tmp_path / "made")
    assert list(again) == list(ASKED)
    assert again["region"] is again["sex"]
    assert again.cost == release.cost == plan.cost
    assert np.array_equal(again["both"]["sex", "region"], both)
    assert ln.verify(tmp_path / "made" / files[0])


DROPS = {"sex": ["F", "M"], "region": 5}
APART = {
    "rows of one are left out": [ln.Count({"sex": ["F", "M"]}), ln.Count(DROPS)],
    "other categories": [counts("sex"), ln.Count({"sex": ["M", "F"]}, outside="extra")],
    "two orders": [
        ln.Distribution("pay", [0, 9, 50], outside="extra"),
        ln.Distribution("age", [0, 9, 50], outside="extra"),
    ],
    "one in an order": [
        ln.Distribution("pay", [0, 9, 50], outside="extra"),
        ln.Histogram("pay", {"edges": [0, 9, 50]}, outside="extra"),
    ],
    "means": [ASKED["age"], counts("sex")],
}


@pytest.mark.parametrize("why", APART)
def test_what_is_not_one_question_is_planned_by_itself(why):
    asked = dict(zip("ab", APART[why], strict=True))
    assert not merged(asked, {"a": {}, "b": {}}, {"a": 1.0, "b": 1.0})


def test_options_shares_and_errors_of_another_order_keep_questions_apart():
    asked = {"a": counts("sex"), "b": counts("region")}
    even = {"a": 1.0, "b": 1.0}
    assert merged(asked, {"a": {"rtol": 1e-4}, "b": {"rtol": 1e-4}}, even)
    for own in ({"order": 3.0}, {"mechanism": "laplace"}, {"rtol": 1e-3}):
        assert not merged(asked, {"a": own, "b": {}}, even)
    assert not merged(asked, {"a": {"order": 3.0}, "b": {"order": 3.0}}, even)
    split = planned(asked=asked, shares={"a": 1.0, "b": 3.0})
    assert split["a"] is not split["b"]
    assert split.apart == split.error


def test_the_same_rows_are_left_out_where_questions_are_one():
    """Of both attributes, as each question by itself leaves them out."""
    asked = {"a": ln.Count(DROPS), "b": ln.Count(DROPS, sets=[["sex"]])}
    plan = planned(ln.zcdp(1e5), asked=asked)
    assert plan["a"] is plan["b"]
    kept = TABLE[(TABLE["sex"] != "?") & (TABLE["region"] < 5)]
    for name in ("a", "b"):
        alone = ln.plan(asked[name], budget=ln.zcdp(1e5), relation="add_remove").release(TABLE)
        for release in (plan.release(TABLE)[name], alone):
            assert release["sex"].sum() == pytest.approx(len(kept), abs=0.5)


def test_where_one_plan_is_no_better_questions_keep_their_own():
    """Where the number of rows is public two attributes share nothing."""
    asked = {"a": counts("sex"), "b": counts("region")}
    apart = planned(relation="substitute", asked=asked)
    assert apart["a"] is not apart["b"]
    one = planned(asked=asked)
    assert one["a"] is one["b"]
    assert one.error < one.apart


def test_a_distribution_and_counts_of_its_groups_are_one():
    pay, sex = SIZES["pay"]["edges"], SIZES["sex"]
    asked = {
        "pay": ln.Distribution("pay", pay, by={"sex": sex}, outside="extra"),
        "sex": counts("sex"),
    }
    plan = planned(ln.zcdp(1e5), asked=asked)
    assert plan["pay"] is plan["sex"]
    release = plan.release(TABLE)
    assert release["pay"].quantile(0.5).value == pytest.approx(TABLE["pay"].median(), abs=5)
    assert release["sex"]["sex"][0] == pytest.approx((TABLE["sex"] == "F").sum(), abs=0.5)


def test_a_folder_whose_names_share_a_file_is_read_in_order_alone(tmp_path):
    release = planned(ln.zcdp(10.0)).release(TABLE)
    release.save(tmp_path / "made")
    path = tmp_path / "made" / "together.json"
    path.write_text(path.read_text().replace('"both": "1-', '"both": "3-'))
    with pytest.raises(FileError, match="digest"):
        ln.JointRelease.load(tmp_path / "made")


def test_marginals_of_declared_attributes_are_those_that_were_declared():
    question = ASKED["both"]
    names = [question.names(chosen) for chosen in question.sets()]
    again = ln.Marginals.of(question.attributes, dict.fromkeys(names, 2.0))
    assert again.attributes == question.attributes
    assert [again.names(chosen) for chosen in again.sets()] == names
    with pytest.raises(QuestionError, match="out of range"):
        ln.Marginals.of(question.attributes, {("sex",): 0.0})
