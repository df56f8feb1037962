# SPDX-License-Identifier: Apache-2.0
"""A plan says what a run will do, before it does, and refuses what does not fit in one line."""

import json

import numpy as np
import pytest

import lownoise as ln
from learning.members import LOSSES, REGULARIZERS, STRATEGIES, learning, planned, records, simulated
from lownoise.errors import BudgetError, FileError, LownoiseError, PlanError


@pytest.mark.grid(1)
@pytest.mark.parametrize("momentum", [0.0, 0.6])
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("batch", [1, 4, 7])
def test_the_noise_of_a_plan_is_the_noise_of_its_runs(batch, epochs, momentum):
    plan = planned(batch=batch, epochs=epochs, momentum=momentum, records=9)
    zeros = np.full((9, 3), np.nan)  # no gradient at all: what is answered is noise
    found = []
    for seed in range(60):
        run = simulated(plan, seed)
        for t in range(run.rounds):
            run.update(zeros[: plan.request.size(t + 1)], zeros[: plan.request.size(t + 1), 0])
        found.append(np.ravel(run.stream.last.answers) / batch)
    # 180 numbers: their mean square is within 70 % with a chance above 1 − 1e-6
    assert np.mean(np.square(found)) == pytest.approx(plan.deviations()[-1] ** 2, rel=0.7)
    assert plan.noise == pytest.approx(np.sqrt(np.mean(plan.deviations() ** 2)))
    assert plan.deviations(2, 3).tolist() == plan.deviations()[1:4].tolist()


def test_epochs_are_participations_of_the_stream():
    plan = planned(epochs=3)
    own = plan.stream.terms.mechanism.participation
    assert (own.count, own.separation, own.pattern) == (3, 15, "spaced")
    assert plan.rounds == 45
    assert planned(epochs=3).noise > 1.5 * planned().noise
    assert "3 epochs" in " ".join(plan.assumptions)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_a_record_moves_an_answer_by_a_gradient_or_by_two(relation):
    plan = planned(relation=relation)
    body = plan.stream.terms.relation.body
    steps = {"add_remove": 1, "substitute": 2}[relation]
    assert body.upper.tolist() == [0.5 * steps] * 3
    other = planned(relation="add_remove")
    assert plan.noise == pytest.approx(steps * other.noise, rel=1e-6)


def test_what_all_rounds_reveal_is_the_budget():
    plan = planned(budget=ln.approx_dp(1.0, 1e-6))
    assert plan.cost.epsilon == 1.0
    assert plan.cost.delta <= 1e-6
    assert planned().cost.rho <= 0.5
    assert planned().verify()


@pytest.mark.grid(3)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regularizer", ["none", "elastic net"])
def test_a_plan_is_read_as_it_was_written(loss, regularizer):
    plan = planned(loss, regularizer=REGULARIZERS[regularizer], momentum=0.5, epochs=2)
    text = plan.to_json()
    given = LOSSES[loss] if loss == "distance" else None
    found = learning.LearningPlan.from_json(text, given)
    assert found.to_json() == text
    assert found.request.to_dict() == plan.request.to_dict()
    assert found.learning_rate == plan.learning_rate
    assert str(found) == str(plan)


def test_a_file_that_says_another_thing_is_refused(tmp_path):
    plan = planned()
    plan.save(tmp_path / "plan.json")
    fields = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    for name, value in (("epochs", 2), ("clip", 5.0), ("batch", 5), ("relation", "substitute")):
        other = {**fields, "request": {**fields["request"], name: value}}
        with pytest.raises(FileError):
            learning.LearningPlan.from_json(json.dumps(other))
    with pytest.raises(FileError, match="says something"):
        learning.LearningPlan.from_json(
            json.dumps({**fields, "request": {**fields["request"], "radius": 2}})
        )
    with pytest.raises(FileError, match="is a function"):
        learning.LearningPlan.from_json(planned("distance").to_json())
    with pytest.raises(FileError, match="is not the one"):
        learning.LearningPlan.from_json(plan.to_json(), LOSSES["distance"])
    with pytest.raises(FileError, match="format"):
        learning.LearningPlan.from_json(plan.stream.to_json())


@pytest.mark.grid(3)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_learns(strategy):
    plan = planned(strategy=strategy, budget=ln.zcdp(1e6), radius=4.0, epochs=2)
    assert plan.strategy == strategy
    found = plan.fit(*records(plan))
    assert found.evaluate(*records(plan)).accuracy > 0.85
    assert found.model.shape == found.average.shape == (3,)
    kept = 12 if strategy == "rational" else 30
    assert plan.memory <= kept * 3 * 8


REFUSED = [
    ({"loss": "logistic"}, "loss='logistic'"),
    ({"clip": 0}, "clip=0"),
    ({"clip": float("nan")}, "clip=nan"),
    ({"radius": -1}, "radius=-1"),
    ({"radius": None}, "radius"),
    ({"records": 0}, "records=0"),
    ({"records": 2.5}, r"records=2\.5"),
    ({"batch": True}, "batch=True"),
    ({"batch": 61}, "batch=61"),
    ({"epochs": 0}, "epochs=0"),
    ({"features": "x"}, "features='x'"),
    ({"momentum": 1.0}, "momentum=1"),
    ({"momentum": -0.1}, "momentum=-0.1"),
    ({"learning_rate": 0}, "learning_rate=0"),
    ({"feature_radius": 0}, "feature_radius=0"),
    ({"target_bound": float("inf")}, "target_bound=inf"),
    ({"regularizer": 0.1}, "regularizer=0.1"),
    ({"intercept": 1}, "intercept=1"),
    ({"relation": "changes"}, "relation='changes'"),
    ({"start": [0.0, 0.0]}, "start has 2"),
    ({"start": [9.0, 0.0, 0.0]}, "beyond radius=2"),
    ({"start": [float("nan")] * 3}, "start"),
    ({"strategy": "best"}, "strategy='best'"),
    ({"strategy": "binary_tree", "momentum": 0.5}, "binary_tree"),
    ({"error": "median"}, "error='median'"),
    ({"memory": 3}, "memory=3"),
    ({"budget": ln.pure_dp(1.0)}, "budget"),
    ({"budget": 1.0}, "budget"),
]


@pytest.mark.parametrize(("fields", "match"), REFUSED, ids=str)
def test_what_does_not_fit_is_refused_in_one_line(fields, match):
    asked = {
        "loss": learning.Logistic(), "features": 3, "records": 60, "clip": 1.0, "radius": 2.0,
        "budget": ln.zcdp(0.5), **fields,
    }  # fmt: skip
    with pytest.raises((PlanError, BudgetError), match=match) as refused:
        learning.plan(asked.pop("loss"), **asked)
    assert isinstance(refused.value, LownoiseError)
    assert "\n" not in str(refused.value)
