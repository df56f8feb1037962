# SPDX-License-Identifier: Apache-2.0
"""Streams under (ε, δ): Gaussian noise and pure noise on sums are compared, the least is taken.

Mutants, each seen red: the greatest taken, ε of sums doubled, pure noise left out, draws of the
wrong width, one interval for another.
"""

import math

import numpy as np
import pytest
from scipy.stats import norm

import lownoise as ln
from lownoise.errors import LownoiseError, OverspentError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning import StreamPlan
from lownoise.spec import read_spec
from lownoise.streams import start

BUDGET = ln.approx_dp(1.0, 1e-6)
ASKED = {
    "few": {"workload": ln.Prefix(16)},
    "many": {"workload": ln.Prefix(1 << 14)},
    "max": {"workload": ln.Prefix(30), "error": "max"},
    "window": {"workload": ln.SlidingWindow(40, 5)},
    "ball": {"workload": ln.Prefix(12), "domain": ln.Ball(3)},
    "people": {"workload": ln.Prefix(12), "participations": 2, "separation": 4},
    "small": {"workload": ln.Prefix(16), "budget": ln.approx_dp(0.1, 1e-3)},
}


def streamed(name="few", **more):
    return ln.stream(**{"budget": BUDGET, **ASKED[name], **more})


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ASKED)
def test_the_least_is_taken_and_each_is_what_it_is_alone(name):
    stream = streamed(name)
    rows = [own for own in stream.terms.alternatives if own.error is not None]
    errors = [own.error for own in rows]
    assert stream.terms.name == rows[0].mechanism
    assert stream.error == pytest.approx(min(errors), rel=1e-9)
    assert {own.mechanism for own in stream.terms.alternatives} == {"gaussian", "laplace", "k_norm"}
    for own in rows:
        alone = streamed(name, mechanism=own.mechanism)
        assert alone.terms.name == own.mechanism
        assert alone.error == pytest.approx(own.error, rel=1e-12)
        assert alone.terms.within_budget
        budget = ASKED[name].get("budget", BUDGET)
        pair = (own.mechanism != "gaussian") * budget.epsilon
        assert alone.cost.epsilon <= budget.epsilon
        assert alone.cost.epsilon >= pair * (1 - 1e-9)
        assert alone.cost.delta <= (budget.delta if own.mechanism == "gaussian" else 0.0)
    direct = streamed(name, budget=ln.pure_dp(ASKED[name].get("budget", BUDGET).epsilon))
    assert min(own.error for own in rows if own.mechanism != "gaussian") == direct.error


def test_trees_win_while_rounds_are_few_and_files_say_what_was_compared():
    """At (1, 1e-6) to some thousands of rounds: levels cost log n, δ a factor of 5."""
    assert [streamed(name).terms.name for name in ("few", "ball", "many", "small")] == [
        "laplace",
        "k_norm",
        "gaussian",
        "gaussian",
    ]
    plan = StreamPlan(streamed().terms)
    assert plan.verify()
    again = StreamPlan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    assert again.terms.budget == BUDGET
    assert "Mechanism" in str(plan)


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", ["few", "ball", "max"])
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_it_prints_how_far_each_strays(name, mechanism):
    """Against 400 draws of what is published: 0.2 and 0.055 are 5 of their deviations."""
    terms, randomness = streamed(name, mechanism=mechanism).terms, SimulationRandomness(11)
    view, rounds = terms.view, terms.question.workload.rounds
    nothing = np.zeros((rounds, terms.question.domain.dimension))
    made = (start(terms, randomness=randomness) for _ in range(400))
    drawn = np.array([own.update_many(nothing).reshape(nothing.shape) for own in made])
    lengths = np.linalg.norm(drawn, axis=2).mean(axis=0)
    found = lengths.mean() if view.measure == "mean" else lengths.max()
    assert view.mean_error == pytest.approx(found, rel=0.2)
    assert view.mean_error < view.error  # Jensen
    beyond = np.mean(np.abs(drawn) > view.widest(0.95), axis=0)
    assert beyond.max() <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / 400)
    assert beyond.max() >= 0.005
    if mechanism == "gaussian":
        deviation = float(np.max(view.standard_deviations()))
        assert view.widest(0.9) == pytest.approx(norm.ppf(0.95) * deviation, rel=1e-9)


def test_a_stream_too_long_to_draw_keeps_to_what_log_concave_noise_keeps_to():
    stream = streamed("few", workload=ln.Prefix(20_001), mechanism="laplace")
    assert " ? " in repr(stream.terms.alternatives).splitlines()[1]
    deviation = float(np.max(stream.standard_deviations()))
    assert 2.118 < stream.terms.view.widest(0.95) / deviation < 2.3  # Laplace noise: ln(20)/√2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"mechanism": "radial"}, "mechanism='radial' is of no stream; give one of gaussian"),
        ({"mechanism": "k_norm"}, "for one number it is Laplace noise"),
        ({"mechanism": "laplace", "strategy": "optimal"}, "give one of gaussian"),
        ({"mechanism": "laplace", "memory": 3}, "is not for this question"),
        ({"mechanism": "laplace", "budget": ln.zcdp(1.0)}, "is pure, and budget=1-zCDP is not"),
        ({"mechanism": "gaussian", "budget": ln.pure_dp(1.0)}, "is not pure, and budget=1-DP is"),
        ({"strategy": "none"}, "strategy='none' is unknown; give auto"),
    ],
    ids=str,
)
def test_mistakes_are_one_line_with_the_remedy(more, said):
    with pytest.raises(LownoiseError) as error:
        streamed(**more)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_account_is_told_and_a_file_goes_on_with_what_was_named(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "people", BUDGET, reading="gaussian")
    with pytest.raises(OverspentError, match='mechanism="gaussian" asks for mu'):
        streamed(ledger=ledger)
    assert not [own for own in ledger.entries() if own.state != "cancelled"]
    first = streamed(ledger=ledger, mechanism="gaussian", path=tmp_path / "s")
    first.update(1.0)
    again = streamed(ledger=ledger, mechanism="gaussian", path=tmp_path / "s")
    assert again.round == 1
    own = ln.Ledger.create(tmp_path / "o", "people", BUDGET, reading="basic")
    streamed(ledger=own, path=tmp_path / "t").update(1.0)
    assert streamed(ledger=own, mechanism="laplace", path=tmp_path / "t").round == 1


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_specification_names_a_mechanism(mechanism, tmp_path):
    (tmp_path / "own.toml").write_text(
        f'[question]\nkind = "stream"\nrounds = 16\nmechanism = "{mechanism}"\n'
        '[budget]\nkind = "approx_dp"\nepsilon = 1.0\ndelta = 1e-6\n'
    )
    plan = read_spec(tmp_path / "own.toml").plan()
    assert plan.terms.name == mechanism
    assert plan.terms.compared == streamed(mechanism=mechanism).terms.compared
