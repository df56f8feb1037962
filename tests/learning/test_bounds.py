# SPDX-License-Identifier: Apache-2.0
"""No adversary's mean regret is above the bound, and a bound with less noise would be passed.

Each run's regret against the best model of the ball in hindsight is a number; the mean of m runs
is compared with the bound plus 5.1 standard errors of it, which a true bound passes with a chance
below 1e-6 (one-sided, the mean of m ≥ 120 bounded numbers being near normal). What power there is:
under the adversary that follows the noise the noise's part is most of what is measured, so a bound
whose noise is left out is passed; a test says so.
"""

import numpy as np
import pytest

import lownoise as ln
from learning.members import (
    LOSSES,
    REGULARIZERS,
    STRATEGIES,
    learning,
    planned,
    records,
    simulated,
)
from lownoise.learning.bounds import Setting
from lownoise.learning.clipping import clipped
from lownoise.learning.learned import followed
from lownoise.learning.steps import ElasticNet
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.streams.progress import noise_of

RUNS = 120


def linear_loss():
    """⟨x, θ⟩: its gradient is the record, so an adversary may pick gradients."""
    return learning.Loss(
        value=lambda *own: own[1] @ own[0],
        gradient=lambda *own: own[1],
        lipschitz=1.0,
        name="linear",
    )


def asked(**fields):
    own = {"features": 2, "records": 40, "clip": 1.0, "radius": 1.0, "budget": ln.zcdp(2.0)}
    return learning.plan(linear_loss(), **{**own, **fields})


def best_in_hindsight(total, rounds, plan):
    """Return the least of ⟨total, u⟩ + rounds·r(u) over the ball, by the steps' own closed form."""
    own, request = plan.request.regularizer, plan.request
    kept = np.maximum(np.abs(total) - rounds * own.lasso, 0.0)
    u = -np.copysign(kept, total)
    curve = rounds * own.ridge
    length = np.linalg.norm(u)
    u = u / curve if curve and length / curve <= request.radius else u / max(length, 1e-300)
    if not (curve and length / curve <= request.radius):
        u = u * request.radius
    return total @ u + rounds * own.value(u)


def adversary(kind, rng):
    """Return what picks a gradient of length 1 from all models so far."""
    fixed = rng.normal(size=2)
    fixed /= np.linalg.norm(fixed)

    def against(models, _):
        model = models[-1]
        length = np.linalg.norm(model)
        return model / length if length > 1e-12 else fixed

    def switching(_, past):
        return fixed if (len(past) // 8) % 2 else -fixed

    def noise(models, past):
        # along what noise has done to the model
        clean = -sum(past, np.zeros(2)) / noise.strength
        apart = models[-1] - clean
        length = np.linalg.norm(apart)
        return apart / length if length > 1e-12 else fixed

    return {"against": against, "switching": switching, "noise": noise}[kind]


def regret(plan, kind, seed):
    """Return a run's mean regret: the plan's own steps, on its stream's own noise."""
    own, leader, mechanism = plan.request, plan.leader, plan.stream.terms.mechanism
    pick = adversary(kind, np.random.default_rng(seed))
    if kind == "noise":
        pick.strength = leader.strength
    noise = noise_of(mechanism, SimulationRandomness(seed)).take(plan.rounds)
    noise = noise * mechanism.coding.step
    answers = np.zeros((plan.rounds, 2))
    models, past, total = [own.first_model], [], 0.0
    for t, column in enumerate(own.workload.matrix().T):
        g = pick(models, past)
        total += g @ models[-1] + own.regularizer.value(models[-1])
        past.append(g)
        answers += column[:, None] * g
        models.append(leader.next((answers[t] + noise[t]) * (1 - own.momentum), t + 1))
    return (total - best_in_hindsight(sum(past), plan.rounds, plan)) / plan.rounds


def test_a_regret_of_these_tests_is_that_of_a_run():
    plan = asked(momentum=0.5, regularizer=REGULARIZERS["elastic net"])
    run, pick = simulated(plan, 4), adversary("against", np.random.default_rng(4))
    models, past, total = [run.model], [], 0.0
    for _ in range(run.rounds):
        g = pick(models, past)
        total += g @ models[-1] + plan.request.regularizer.value(models[-1])
        past.append(g)
        models.append(run.update(g[None], [0.0]))
    found = (total - best_in_hindsight(sum(past), run.rounds, plan)) / run.rounds
    assert found == pytest.approx(regret(plan, "against", 4), abs=1e-6)


CASES = [
    *((kind, {"strategy": "optimal"}) for kind in ("against", "switching", "noise")),
    *(("noise", {"strategy": strategy}) for strategy in STRATEGIES[1:]),
    *(("against", {"regularizer": REGULARIZERS[own]}) for own in ("ridge", "lasso", "elastic net")),
    ("noise", {"regularizer": REGULARIZERS["ridge"]}),
    *((kind, {"momentum": 0.7}) for kind in ("against", "switching", "noise")),
    ("noise", {"epochs": 2, "records": 20}),
    ("noise", {"learning_rate": 1.0}),
    ("switching", {"start": (0.6, -0.3)}),
]


@pytest.mark.grid(1)
@pytest.mark.parametrize(("kind", "fields"), CASES)
def test_no_adversarys_mean_regret_is_above_the_bound(kind, fields):
    plan = asked(**fields)
    found = np.array([regret(plan, kind, seed) for seed in range(RUNS)])
    error = found.std(ddof=1) / np.sqrt(RUNS)
    assert found.mean() <= plan.regret_bound.value + 5.1 * error


def test_without_its_noise_the_bound_is_passed():
    plan = asked(learning_rate=8.0, budget=ln.zcdp(0.02))
    found = np.array([regret(plan, "noise", seed) for seed in range(RUNS)])
    error = found.std(ddof=1) / np.sqrt(RUNS)
    assert plan.regret_bound.noise > 0.5 * plan.regret_bound.value
    assert found.mean() - 5.1 * error > 0.1
    assert found.mean() <= plan.regret_bound.value


SETTINGS = [
    {"records": 40.0, "momentum": 0.0, "convexity": 0.0, "slope": 0.0},
    {"records": 40.0, "momentum": 0.9, "convexity": 0.0, "slope": 0.2},
    {"records": 160.0, "momentum": 0.0, "convexity": 0.3, "slope": 0.5},
    {"records": 160.0, "momentum": 0.5, "convexity": 1e-6, "slope": 0.0},
]


@pytest.mark.parametrize("fields", SETTINGS)
def test_the_learning_rate_is_that_of_the_least_bound(fields):
    lengths = np.concatenate([[0.0], np.linspace(0.5, 2.0, 39)])
    setting = Setting(
        lipschitz=0.7,
        lengths=lengths,
        distance=2.0,
        width=4.0,
        offset=0.0,
        truncation=0.0,
        **fields,
    )
    least = setting.bound(setting.best, "").value
    for factor in (0.01, 0.5, 0.99, 1.01, 2.0, 100.0):
        assert setting.bound(setting.best * factor, "").value >= least


def test_the_bound_is_the_sources_where_its_case_is_asked():
    """Rκ√((1 + 2·mean E|z|/κ)/n), the form of 003's Theorem 6."""
    plan = asked(records=64)
    noise = np.concatenate([[0.0], plan.deviations()[:-1]]) * np.sqrt(2)
    closed = np.sqrt((1 + 2 * noise.mean()) / 64)
    assert plan.regret_bound.value == pytest.approx(closed, rel=1e-6)


def test_each_part_of_the_bound_is_the_theorys():
    lam, kappa, gamma, rho, b = 3.0, 0.7, 0.8, 0.2, 0.5
    lengths = np.array([0.0, 2.0, 1.0])
    setting = Setting(
        records=6.0, lipschitz=kappa, lengths=lengths, momentum=gamma, distance=2.0, width=4.0,
        offset=0.3, slope=rho, convexity=b, truncation=0.01,
    )  # fmt: skip
    found, lag = setting.bound(lam, "x"), kappa * gamma / (1 - gamma)
    each = [1 / lam, 1 / (lam + b), 1 / (lam + 2 * b)]
    width = sum(own * kappa**2 / 2 for own in each) + (kappa + rho) * lag * sum(each[1:])
    assert found.diameter == pytest.approx((lam / 2 * 4 + 0.3) / 6)
    assert found.width == pytest.approx(width / 6)
    assert found.noise == pytest.approx((kappa + rho) * (2 * each[1] + each[2]) / 6)
    assert found.rounding == pytest.approx(3 * 0.01 * 4 / 6)
    parts = found.diameter + found.width + found.noise + found.rounding
    assert parts <= found.value <= parts * (1 + 1e-9)
    assert found.value - found.without_noise == pytest.approx(found.noise)


def test_gradients_that_are_shorter_than_the_clip_count_by_their_length():
    short, long = (asked(records=64, clip=own, learning_rate=0.1) for own in (1.0, 3.0))
    assert short.steepest == long.steepest == 1.0
    assert long.regret_bound.width == short.regret_bound.width
    assert long.regret_bound.noise == pytest.approx(3 * short.regret_bound.noise, rel=1e-6)


def test_under_momentum_noise_counts_by_what_is_left_of_it():
    plan = asked(momentum=0.75, learning_rate=0.3)
    assert plan.learning_rate == pytest.approx(0.3)
    strength = 0.25 / 0.3  # λ, of the sums times 1 − γ
    lengths = 0.25 * plan.deviations()[:-1] * np.sqrt(2)
    assert plan.regret_bound.noise == pytest.approx(lengths.sum() / strength / 40, rel=1e-6)
    assert plan.regret_bound.diameter == pytest.approx(strength / 2 / 40)


def test_a_short_last_batch_counts_by_its_records():
    whole, short = asked(records=40, batch=4), asked(records=38, batch=4)
    assert whole.rounds == short.rounds == 10
    rate = {"learning_rate": 0.5}
    whole, short = asked(records=40, batch=4, **rate), asked(records=38, batch=4, **rate)
    assert short.regret_bound.width == pytest.approx(whole.regret_bound.width * 40 / 38)


def test_a_strongly_convex_regularizer_makes_the_width_fall_faster():
    plain, ridge = asked(records=400), asked(records=400, regularizer=ElasticNet(ridge=1.0))
    assert ridge.regret_bound.value < plain.regret_bound.value / 2


def test_a_bound_is_refused_where_a_clipped_gradient_has_no_loss():
    free = learning.Loss(value=len, gradient=len, name="free")
    own = {"features": 2, "records": 40, "clip": 1.0, "radius": 1.0, "budget": ln.zcdp(2.0)}
    for loss in (free, learning.Loss(value=len, gradient=len, lipschitz=1.5, name="steep")):
        plan = learning.plan(loss, **own)
        assert plan.regret_bound is plan.risk_bound is None
        assert f"loss={loss.name}" in plan.refusals["regret_bound"]
        assert f"loss={loss.name} can have gradients beyond clip=1" in str(plan).replace("\n", " ")
        assert plan.learning_rate > 0


def test_a_bound_says_of_which_loss_it_is():
    assert planned("logistic", clip=1.0).regret_bound.of == "the loss"
    assert "clipped loss" in planned("logistic", clip=0.1).regret_bound.of
    assert "clipped loss" in planned("least squares", target_bound=None).regret_bound.of


def test_a_risk_is_bounded_after_one_pass_only():
    assert planned().risk_bound == planned().regret_bound
    twice = planned(epochs=2)
    assert twice.regret_bound is not None
    assert twice.risk_bound is None
    assert "epochs=2" in twice.refusals["risk_bound"]


def test_the_binary_trees_bound_stands_beside_where_it_has_one():
    plan = asked(records=64)
    assert plan.binary_tree.value == asked(records=64, strategy="binary_tree").regret_bound.value
    assert plan.binary_tree.value > plan.regret_bound.value
    assert asked(momentum=0.5).binary_tree is None


def best_of(values, slopes, radius):
    """Return the least of a convex sum over the ball, by projected steps; at least its minimum."""
    u, least = np.zeros(2), np.inf
    for k in range(400):
        least = min(least, values(u))
        u = u - slopes(u) / np.sqrt(1 + k)
        u /= max(np.linalg.norm(u) / radius, 1.0)
    return least


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", ["least squares", "logistic", "huber"])
def test_the_clipped_losss_regret_is_within_its_bound(name):
    """Of sorted records, with most gradients clipped; the best model is found to 1e-2 and below."""
    loss, clip, radius = LOSSES[name], 0.15, 2.0
    plan = learning.plan(
        loss, features=2, records=80, batch=2, epochs=2, clip=clip, radius=radius,
        budget=ln.zcdp(2.0),
    )  # fmt: skip
    X, y = records(plan)
    order = np.argsort(y * X[:, 0])  # the best model moves all the time
    X, y, found = X[order], y[order], []
    best = best_of(
        lambda u: loss.clipped_values(u, X, y, clip).mean(),
        lambda u: clipped(loss.gradients(u, X, y), clip, plan.unit).mean(axis=0),
        radius,
    )
    for seed in range(20):
        run, total = simulated(plan, seed), 0.0
        for t in range(run.rounds):
            own = slice(t % 40 * 2, t % 40 * 2 + 2)
            total += loss.clipped_values(run.model, X[own], y[own], clip).sum()
            run.advance(X[own], y[own])
        found.append(total / 160 - best)
    error = np.std(found, ddof=1) / np.sqrt(20)
    assert "clipped" in plan.regret_bound.of
    # twenty means: 8.5 standard errors of Student's law with 19 degrees are 1e-7
    assert np.mean(found) <= plan.regret_bound.value + 8.5 * error


def test_the_averages_risk_is_within_its_bound():
    """Records drawn from a list of 200, whose mean loss is the risk."""
    plan = learning.plan(
        learning.Logistic(), features=2, records=150, batch=4, clip=1.0, radius=2.0,
        budget=ln.zcdp(2.0), feature_radius=1.0, regularizer=learning.Ridge(0.02),
    )  # fmt: skip
    law = planned(features=2, records=200)
    X, y = records(law, 5)
    loss, r = plan.request.loss, plan.request.regularizer

    def risk(u):
        return loss.values(u, X, y).mean() + r.value(u)

    best = best_of(risk, lambda u: loss.gradients(u, X, y).mean(axis=0) + r.ridge * u, 2.0)
    found = []
    for seed in range(30):
        drawn = np.random.default_rng(seed).integers(0, 200, 150)
        found.append(risk(followed(simulated(plan, seed), X[drawn], y[drawn]).average) - best)
    error = np.std(found, ddof=1) / np.sqrt(30)
    assert 0 < np.mean(found) <= plan.risk_bound.value + 7.5 * error


def test_a_short_last_batch_has_less_of_the_regularizer_than_its_round_of_regret():
    """The average weighs it by its records: what its round has more of r joins the risk bound."""
    plan = asked(records=15, batch=14, radius=3.0, regularizer=ElasticNet(0.25, 2.0))
    d, risk, regret = plan.request.dimension, plan.risk_bound, plan.regret_bound
    most = 0.25 * 3.0 * d**0.5 + 2.0 / 2 * 3.0**2  # r at the sphere, at its greatest
    assert risk.value - regret.value >= (1 - 1 / 14) * most / (15 / 14)
    assert asked(records=28, batch=14, regularizer=ElasticNet(0.25, 2.0)).risk_bound.value == (
        asked(records=28, batch=14, regularizer=ElasticNet(0.25, 2.0)).regret_bound.value
    )
