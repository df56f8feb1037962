# SPDX-License-Identifier: Apache-2.0
"""What pure plans and releases are charged: the ρ and μ of their own noise, from any file."""

import json
import math
import re
from fractions import Fraction

import pytest

import lownoise as ln
from lownoise.numbers.rounding import exact
from lownoise.privacy import ApproxNoiseEvent, PureDPEvent, PureNoiseEvent
from lownoise.privacy.noise_curve import ball_mu_up, ball_rho_up, laplace_mu_up, laplace_rho_up
from lownoise.privacy.pure_curve import mu_up, rho_up
from lownoise.release import codec
from pure.documents import APPROXIMATE, ASKED, plan_of, planned, table

PLANS = {name: plan_of(name) for name in ASKED}
WHOLE = ("geometric", "geometric_histogram")
PURE = [name for name in PLANS if name.strip() not in APPROXIMATE]


@pytest.mark.parametrize("name", PURE)
def test_every_mechanism_is_charged_no_more_than_what_its_epsilon_implies(name):
    """And for all noise that is added, no more than Laplace noise of that ε, level by level."""
    plan = PLANS[name]
    cost, event = plan.cost, plan.cost.event
    assert isinstance(event, PureNoiseEvent)
    for stated, charged in zip(
        (cost.epsilon, cost.rho, cost.mu), (event.epsilon, event.rho, event.mu), strict=True
    ):
        assert min(Fraction(charged), exact(charged)) >= Fraction(stated)
        assert charged == pytest.approx(stated, rel=1e-15)
    epsilon = Fraction(cost.epsilon)
    assert 0 < Fraction(event.rho) <= rho_up(epsilon)
    assert 0 < Fraction(event.mu) <= mu_up(epsilon)
    if name.strip() not in ("randomized_response", "staircase", *WHOLE):  # their losses are ε or 0
        assert cost.rho <= laplace_rho_up(cost.epsilon) * (1 + 1e-12)
        assert cost.mu <= laplace_mu_up(cost.epsilon) * (1 + 1e-12)
    # a Gaussian of that ρ would be at most as good: μ²/2 is never below ρ
    assert cost.mu**2 / 2 >= cost.rho * (1 - 1e-12)


@pytest.mark.parametrize("name", [name for name in PLANS if name not in PURE])
def test_noise_that_is_not_pure_is_charged_as_a_pair_that_is_within_its_budget(name):
    cost, budget = PLANS[name].cost, PLANS[name].terms.budget
    assert isinstance(cost.event, ApproxNoiseEvent)
    # of all but δ; nothing but ε is known of a walk whose law is known in total variation
    alone = PureDPEvent(cost.epsilon)
    assert 0 < cost.rho <= alone.as_rho() * (1 + 1e-12)
    assert 0 < cost.mu <= math.sqrt(alone.as_mu_square()) * (1 + 1e-12)
    assert cost.event.epsilon >= cost.epsilon == budget.epsilon
    assert 0.999 * budget.delta < cost.delta <= cost.event.delta <= budget.delta
    assert re.fullmatch(r"\(0\.7, (9\.99.*e-07|1e-06)\)-DP", cost.guarantee)


@pytest.mark.grid
@pytest.mark.parametrize("name", PURE)
def test_a_file_says_what_noise_costs_and_is_not_believed(name):
    document = json.loads(PLANS[name].to_json())
    stated = document["derived"]["cost_of_noise"]
    assert stated == {"rho": PLANS[name].cost.rho, "mu": PLANS[name].cost.mu}
    for field in stated:
        stated[field] *= 0.999
        document["digest"] = codec.digest(document)
        off = [c.name for c in ln.verify(json.dumps(document)).checks if not c.holds]
        assert off == ["cost_of_noise as stated"]
        stated[field] /= 0.999
        again = ln.Plan.from_json(json.dumps(document))  # what follows is computed, never read
        assert again.cost == PLANS[name].cost


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("name", PLANS)
def test_a_file_from_before_noise_was_charged_is_read_and_holds(name):
    for text in (PLANS[name].to_json(), PLANS[name].release(table()).to_json()):
        document = json.loads(text)
        del document["derived"]["cost_of_noise"]
        document["digest"] = codec.digest(document)
        old = json.dumps(document)
        assert ln.verify(old)
        kind = ln.Plan if "plan/" in document["format"] else ln.Release
        assert kind.from_json(old).terms.cost == PLANS[name].cost


@pytest.mark.parametrize("dimension", [1, 2, 5, 16])
def test_a_ball_is_charged_by_its_dimension(dimension):
    gradient = ln.Mean([f"g{i}" for i in range(dimension)], ln.Ball(dimension, radius=1))
    asked = {"relation": "substitute", "size": 100, "mechanism": "k_norm"}
    cost = ln.plan(gradient, budget=ln.pure_dp(1.0), **asked).cost
    assert cost.rho == pytest.approx(ball_rho_up(dimension, cost.epsilon), rel=1e-12)
    assert cost.mu == pytest.approx(ball_mu_up(dimension, cost.epsilon), rel=1e-12)
    assert cost.rho <= 1 / (2 * dimension)


def test_a_ledger_is_charged_what_the_noise_costs(tmp_path):
    plan = planned("mean", "substitute", "laplace")
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(0.3))
    plan.release(table(), ledger)
    (entry,) = ledger.entries()
    assert entry.event == plan.cost.event
    assert exact(ledger.spent().rho) >= Fraction(plan.cost.rho)
    # two columns share ε: less than one number has, and far less than what ε implies
    scales, widths = plan.terms.mechanism.noise.scales, plan.terms.mechanism.totals.changes.widths()
    moves = (widths / scales).tolist()
    assert plan.cost.rho == pytest.approx(sum(map(laplace_rho_up, moves)), rel=1e-6)
    assert plan.cost.rho < 0.8 * laplace_rho_up(plan.cost.epsilon) < 0.8 * 0.7 * math.tanh(0.35)


def test_noise_known_in_total_variation_alone_has_what_epsilon_implies_but_for_delta(monkeypatch):
    monkeypatch.setattr("lownoise.sets.norms.image.decided", lambda _: False)
    question = ln.Mean(list("abcd"), ln.SchattenBall(2, 2, order=1))
    plan = ln.plan(
        question,
        budget=ln.approx_dp(1.0, 1e-6),
        relation="substitute",
        size=10,
        mechanism="k_norm",
    )
    assert plan.cost.delta > 0
    epsilon = Fraction(plan.cost.epsilon)
    assert plan.cost.rho == pytest.approx(float(rho_up(epsilon)), rel=1e-12)
    assert plan.cost.mu == pytest.approx(float(mu_up(epsilon)), rel=1e-12)
    assert ln.verify(plan.to_json())
