# SPDX-License-Identifier: Apache-2.0
"""Releases of one plan that share a budget: what each may reveal, and who may take which use.

Mutants seen: √k left out of what Gaussian uses reveal together, k out of what pure ones do, a use
not counted, a plan's digest not compared, a use given back that was answered.
"""

import contextlib
import math
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from befallen import Died, Dying
from lownoise.errors import (
    BudgetError,
    LedgerError,
    PlanError,
    SpecError,
    TableError,
)
from lownoise.privacy import (
    ApproxDPEvent,
    ComposedEvent,
    GaussianEvent,
    PureNoiseEvent,
    Shared,
    ZcdpEvent,
    gaussian_curve,
    noise_curve,
    pure_curve,
    zcdp_curve,
)
from lownoise.privacy.readings import within
from lownoise.privacy.shared import (
    ball_delta_up,
    ball_parameter_down,
    response_delta_up,
    response_parameter_down,
)
from lownoise.release.execution import charged
from lownoise.report.records import account
from lownoise.spec import read_spec
from refusals import one_line, refused_plan

BUDGETS = [
    ln.zcdp(0.3),
    ln.gaussian_dp(0.7),
    ln.approx_dp(1.0, 1e-6),
    ln.approx_dp(0.1, 1e-9),
    ln.approx_dp(8.0, 1e-5),
]
USES = [1, 2, 12, 365, 5000]


def mean(d=1, **more):
    return ln.Mean([f"c{i}" for i in range(d)], ln.Box([0] * d, [1] * d), **more)


def planned(budget, uses, d=1, **more):
    return ln.plan(mean(d), budget=budget, relation="substitute", size=3, uses=uses, **more)


def rows(d=1, n=3):
    return pd.DataFrame({f"c{i}": [0.5] * n for i in range(d)})


def opened(folder, budget=None, name="d", **more):
    return ln.Ledger.create(folder / "l", name, budget or ln.zcdp(0.3), **more)


# ---------------------------------------------------------------- what all reveal together


def test_sums_over_answers_one_by_one_are_what_is_charged():
    """Every one of 2^k answers of randomised response, in fractions of e^ε as a float."""
    for k, epsilon, joint in product((1, 2, 5, 9), (0.1, 0.7, 2.0), (0.05, 0.9, 3.0)):
        truth = 1 / (1 + math.exp(-epsilon))
        exact = 0.0
        for answers in product((1, -1), repeat=k):
            true = answers.count(1)
            p = truth**true * (1 - truth) ** (k - true)
            q = truth ** (k - true) * (1 - truth) ** true
            exact += max(p - math.exp(joint) * q, 0.0)
        found = response_delta_up(k, Fraction(epsilon), Fraction(joint))
        assert exact - 1e-15 <= found <= exact * (1 + 1e-9) + 1e-15


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (8.0, 1e-3)])
@pytest.mark.parametrize("uses", USES)
def test_the_greatest_parameter_is_within_and_no_more_is(uses, epsilon, delta):
    found = response_parameter_down(uses, epsilon, delta)
    assert found * uses >= epsilon * (1 - 1e-12)
    assert response_delta_up(uses, Fraction(found), Fraction(epsilon)) <= delta
    assert response_delta_up(uses, Fraction(found * (1 + 1e-6)), Fraction(epsilon)) > delta


@pytest.mark.parametrize(
    ("uses", "epsilon", "delta"), [(2, 1.0, 1e-4), (12, 1.0, 1e-4), (80, 2, 1e-3)]
)
def test_laplace_noise_reveals_no_more_than_is_charged(uses, epsilon, delta):
    """Losses of Laplace numbers on a grid, moved inward, by dp-accounting."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    budget = ln.approx_dp(epsilon, delta)
    plan = planned(budget, uses, mechanism="laplace")
    joint, own = plan.joint_cost, plan.terms.cost
    assert within(budget, joint)
    pair = joint.as_pair()
    found = pld.from_laplace_mechanism(
        1 / own.epsilon,
        value_discretization_interval=own.epsilon / 500,
        pessimistic_estimate=False,
    ).self_compose(uses)
    least = found.get_delta_for_epsilon(pair[0])
    assert least <= pair[1] + 1e-12
    assert not pair[1] or least > pair[1] / 2


@pytest.mark.parametrize(("dimension", "epsilon", "joint"), [(2, 1.0, 0.6), (5, 2.0, 0.7)])
def test_noise_of_a_ball_reveals_what_draws_of_it_say(dimension, epsilon, joint):
    """δ = E max(0, 1 − e^{ε′−L}) over 400,000 draws of one use and of two; 5σ, 6e-7 a side.

    A δ that is 4% off is seen with chance above 0.999.
    """
    rng = np.random.default_rng(57)
    draws = rng.standard_normal((2, 400_000, dimension))
    lengths = rng.gamma(dimension, size=(2, 400_000))
    draws *= (lengths / np.linalg.norm(draws, axis=2))[..., None]
    move = np.zeros(dimension)
    move[0] = epsilon
    losses = np.linalg.norm(draws - move, axis=2) - np.linalg.norm(draws, axis=2)
    for uses in (1, 2):
        kept = np.maximum(0, -np.expm1(joint - losses[:uses].sum(axis=0)))
        spread = 5 * kept.std() / math.sqrt(kept.size)
        assert abs(ball_delta_up(uses, dimension, epsilon, joint) - kept.mean()) < spread
        assert spread < 0.02 * kept.mean()


@pytest.mark.parametrize(("uses", "dimension"), [(1, 16), (3, 3)])
def test_a_ball_s_own_losses_lie_between_what_is_known_of_all_noise(uses, dimension):
    found = ball_parameter_down(uses, dimension, 1.0, 1e-6)
    assert ball_delta_up(uses, dimension, found, 1.0) <= 1e-6
    assert ball_delta_up(uses, dimension, found * (1 + 1e-5), 1.0) > 1e-6
    assert found >= response_parameter_down(uses, 1.0, 1e-6)
    own = math.sqrt(uses) * noise_curve.ball_mu_up(dimension, found)
    assert gaussian_curve.delta_up(own, 1.0) >= 1e-6 * (1 - 1e-6)  # μ knows no less, by its proof


def test_wide_ranges_have_as_many_times_the_noise():
    """The search for scales begins where a use of so wide a range reveals an epsilon of 10⁴."""

    def error(width):
        asked = {"relation": "substitute", "size": 1, "uses": 100, "mechanism": "laplace"}
        question = ln.Mean(["x"], ln.Box([0], [width]))
        return ln.plan(question, budget=ln.approx_dp(0.3, 1e-12), **asked).error

    assert math.isclose(error(2.0**40), 2.0**40 * error(1.0), rel_tol=1e-6)


def test_one_use_of_a_ball_needs_less_noise_than_its_epsilon_says():
    """In 16 dimensions 0.68 of the variance at (1, 1e-6), and it is not of the whole pair alone."""
    question = ln.Mean([f"c{i}" for i in range(16)], ln.Ball(16))
    asked = {"budget": ln.approx_dp(1.0, 1e-6), "relation": "substitute", "size": 3}
    asked["mechanism"] = "k_norm"
    alone, shared = ln.plan(question, **asked), ln.plan(question, uses=1, **asked)
    assert shared.terms.mechanism.loss.ball == 16
    assert (shared.error / alone.error) ** 2 == pytest.approx(0.680, abs=2e-3)
    assert isinstance(shared.joint_cost, ComposedEvent)
    assert within(ln.approx_dp(1.0, 1e-6), shared.joint_cost)
    again = ln.Plan.from_json(shared.to_json())
    assert again.verify()
    assert again.joint_cost == shared.joint_cost


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("uses", USES)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_gaussian_uses_fill_the_budget_and_no_more(budget, uses):
    plan = planned(budget, uses, mechanism="gaussian")
    mu, joint = plan.terms.cost.mu, plan.joint_cost
    assert uses * Fraction(mu) ** 2 <= Fraction(joint.mu) ** 2
    assert joint.mu <= budget.gaussian_parameter()
    assert joint.mu >= budget.gaussian_parameter() * (1 - 1e-8)
    assert within(budget, joint)
    assert plan.verify()


@pytest.mark.grid
@pytest.mark.parametrize("uses", [1, 12, 5000])
@pytest.mark.parametrize("budget", [ln.approx_dp(1.0, 1e-6), ln.approx_dp(8.0, 1e-5)], ids=str)
@pytest.mark.parametrize("mechanism", ["laplace", "ellipsoid"])
def test_pure_uses_stay_within_an_epsilon_and_a_delta(mechanism, budget, uses):
    plan = planned(budget, uses, d=6, mechanism=mechanism)
    own, joint = plan.terms.cost, plan.joint_cost
    assert within(budget, joint)
    assert own.epsilon * uses >= budget.epsilon * (1 - 1e-9)  # δ is of use, or not needed
    # each number that is charged holds of all
    assert joint.as_rho() >= uses * Fraction(own.rho)
    assert joint.as_mu_square() >= uses * Fraction(own.mu) ** 2
    epsilon, delta = joint.as_pair()
    proofs = [
        0.0 if uses * own.epsilon <= epsilon else 1.0,
        response_delta_up(uses, Fraction(own.epsilon), Fraction(epsilon)),
        ball_delta_up(uses, plan.terms.mechanism.loss.ball, own.epsilon, epsilon),
        gaussian_curve.delta_up(math.sqrt(uses) * own.mu, epsilon),
        zcdp_curve.delta_up(uses * own.rho, epsilon),
    ]
    assert min(proofs) <= delta * (1 + 1e-9)
    assert plan.verify()


@pytest.mark.parametrize("uses", [1, 3, 10])
def test_under_pure_privacy_epsilon_is_split_evenly(uses):
    plan = planned(ln.pure_dp(1.0), uses)
    assert isinstance(plan.joint_cost, PureNoiseEvent)
    assert plan.terms.cost.epsilon == pytest.approx(1 / uses, rel=1e-8)
    assert within(ln.pure_dp(1.0), plan.joint_cost)


def test_the_noise_that_is_least_then_is_taken():
    """One use of a number has radial noise, a few Laplace noise, and many Gaussian noise."""
    budget = ln.approx_dp(1.0, 1e-6)
    taken = [planned(budget, k).mechanism for k in (1, 4, 12, 365)]
    assert taken == ["radial", "laplace", "gaussian", "gaussian"]
    for k in (1, 4, 12):
        errors = [own.error for own in planned(budget, k).comparison if own.error is not None]
        assert np.all(np.diff(errors) >= -1e-9 * np.max(errors))
        assert len(errors) >= 4


def test_ellipsoids_of_many_numbers_gain_from_their_own_mu():
    """In 64 dimensions noise of a ball has a tenth of the loss that its ε alone would allow."""
    plan = planned(ln.approx_dp(1.0, 1e-6), 12, d=64, mechanism="ellipsoid")
    own = plan.terms.cost
    assert own.epsilon > 4 * response_parameter_down(12, 1.0, 1e-6)
    assert own.mu < pure_curve.mu_up(Fraction(own.epsilon)) / 4
    assert isinstance(plan.joint_cost, ComposedEvent)


@pytest.mark.parametrize(
    "uses", [0, -1, 10**9, True, 2.5, "3", math.nan, 10**400, [2], np.float64(2), np.array([2, 3])]
)
def test_what_is_no_number_of_uses_is_refused_in_a_line(uses):
    with one_line(PlanError, match=r"^uses="):
        planned(ln.zcdp(0.3), uses)


def test_a_share_that_is_too_small_and_what_is_known_by_no_sum_are_refused():
    with pytest.raises(BudgetError, match=r"^uses=1000000 "):
        planned(ln.pure_dp(0.5), 10**6)
    with pytest.raises(BudgetError, match="leave uses out"):
        Shared(ln.approx_dp(1.0, 1e-6), 2).joint(ZcdpEvent(0.1))
    assert planned(ln.zcdp(0.3), np.int64(2)).uses == 2
    pair = Shared(ln.approx_dp(1.0, 1e-6), 5).joint(ApproxDPEvent(0.1, 1e-8)).as_pair()
    assert 5e-8 <= pair[1] < 5.1e-8
    pair = Shared(ln.approx_dp(1.0, 1e-6), 5).joint(ApproxDPEvent(0.3, 1e-8)).as_pair()
    assert pair[1] >= 5e-8 + response_delta_up(5, Fraction(3, 10), Fraction(1))


def test_a_stream_has_no_uses():
    with pytest.raises(PlanError, match=r"^uses=3 is for ln.plan"):
        ln.stream(ln.Prefix(4), budget=ln.zcdp(1), uses=3)


@pytest.mark.parametrize(
    "question",
    [
        mean(2),
        ln.Marginals({"a": 2, "b": 3}, way=1),
        ln.Queries([[1, 0, 0], [1, 1, 0]], {"a": 3}),
        ln.Parity(["a", "b"], degree=1),
    ],
    ids=lambda own: type(own).__name__,
)
def test_every_question_has_uses_and_its_file_keeps_them(question):
    plan = ln.plan(question, budget=ln.zcdp(0.3), relation="add_remove", uses=4)
    again = ln.Plan.from_json(plan.to_json())
    assert again.uses == plan.uses == 4
    assert again.joint_cost == plan.joint_cost
    assert again.verify()
    alone = ln.plan(question, budget=ln.zcdp(0.3 / 4), relation="add_remove")
    assert again.terms.cost.mu == pytest.approx(alone.terms.cost.mu, rel=1e-8)


def test_an_edited_file_is_another_plan_or_none(tmp_path):
    plan, ledger = planned(ln.zcdp(0.3), 4), opened(tmp_path)
    plan.release(rows(), ledger)
    more = plan.to_json().replace('"uses": 4', '"uses": 5')
    less = plan.to_json().replace('"rho": 0.3', '"rho": 0.2')
    for text in (more, less):
        assert text != plan.to_json()
        refused_plan(text, "noise is too small for the budget")
        assert not ln.verify(text)
    other = ln.Plan.from_json(plan.to_json().replace('"uses": 4', '"uses": 3'))
    assert other.joint_cost != plan.joint_cost
    with pytest.raises(LedgerError, match="too little"):
        other.release(rows(), ledger)
    assert ledger.entries()[0].uses.taken == 1


# ---------------------------------------------------------------- who takes which use


def test_uses_are_taken_one_by_one_by_that_plan_alone(tmp_path):
    ledger, plan = opened(tmp_path), planned(ln.zcdp(0.3), 3)
    spends = [plan.release(rows(), ledger).spend]
    assert ledger.remaining()["rho"] < 1e-8
    other = planned(ln.zcdp(0.3), 4)
    with pytest.raises(LedgerError, match="too little"):
        other.release(rows(), ledger)
    spends += [ln.Plan.from_json(plan.to_json()).release(rows(), ledger).spend for _ in range(2)]
    assert [(own.number, own.use) for own in spends] == [(1, 1), (1, 2), (1, 3)]
    before = ledger.path.read_bytes()

    class Unread:
        """A table that nobody may look at."""

        def __getattribute__(self, name):
            raise AssertionError(name)

    with one_line(LedgerError, match=r"^spend=1 .* none of its 3 uses left"):
        plan.release(Unread(), ledger)
    assert ledger.path.read_bytes() == before
    (entry,) = ledger.entries()
    assert (entry.state, entry.uses.uses, entry.uses.taken) == ("settled", 3, 3)
    assert entry.event == GaussianEvent(plan.joint_cost.mu)


def test_of_eight_at_once_exactly_five_take_the_five_uses(tmp_path):
    ledger, plan = opened(tmp_path), planned(ln.zcdp(0.3), 5)
    text = plan.to_json()

    def release(_):
        try:
            return ln.Plan.from_json(text).release(rows(), ledger).spend.use
        except LedgerError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(release, range(8)))
    assert sorted(own for own in found if isinstance(own, int)) == [1, 2, 3, 4, 5]
    assert sum("none of its 5 uses" in own for own in found if isinstance(own, str)) == 3
    (entry,) = ledger.entries()
    assert entry.uses.taken == 5


def test_a_refused_table_gives_its_use_back_and_the_spend_where_it_was_the_only_one(tmp_path):
    ledger, plan = opened(tmp_path), planned(ln.zcdp(0.3), 2)
    with pytest.raises(TableError):
        plan.release(rows(n=2), ledger)
    assert [(e.state, e.uses.taken) for e in ledger.entries()] == [("cancelled", 0)]
    assert ledger.remaining() == {"rho": 0.3}
    first = plan.release(rows(), ledger)
    with pytest.raises(TableError):
        plan.release(rows(n=2), ledger)
    assert [(e.state, e.uses.taken) for e in ledger.entries()][1] == ("settled", 1)
    second = plan.release(rows(), ledger)
    assert [own.spend.number for own in (first, second)] == [2, 2]
    with pytest.raises(LedgerError, match="none of its 2"):
        plan.release(rows(), ledger)


def test_a_use_counts_whatever_becomes_of_its_release(tmp_path):
    ledger, event = opened(tmp_path), GaussianEvent(0.1)
    number, use = ledger.reserve_use(event, "plan", 2)  # and its process dies
    assert (number, use) == (1, 1)
    assert ledger.reserve_use(event, "plan", 2) == (1, 2)
    with pytest.raises(LedgerError, match="none of its 2"):
        ledger.reserve_use(event, "plan", 2)
    ledger.settle_use(1, 2)
    for wrong in (lambda: ledger.cancel_use(1, 2), lambda: ledger.settle_use(1, 2)):
        with pytest.raises(LedgerError, match="is not reserved"):
            wrong()
    ledger.cancel_use(1, 1)
    assert [(e.state, e.uses.taken) for e in ledger.entries()] == [("settled", 1)]
    # where another use is begun the spend stays
    assert ledger.reserve_use(event, "third", 2) == (2, 1)
    assert ledger.reserve_use(event, "third", 2) == (2, 2)
    ledger.cancel_use(2, 1)
    assert ledger.entries()[1].state == "reserved"
    ledger.settle_use(2, 2)
    # what was given back by hand is spent by no use of it
    number, use = ledger.reserve_use(event, "other", 2)
    ledger.cancel(number)
    with pytest.raises(LedgerError, match="is not reserved"):
        ledger.settle_use(number, use)
    assert ledger.reserve_use(event, "other", 2) == (number + 1, 1)


@pytest.mark.parametrize("before", [0, 2])
def test_a_process_that_dies_at_any_statement_loses_its_use_at_most(tmp_path, monkeypatch, before):
    connect = sqlite3.connect

    def release(ledger):
        charged(ledger, GaussianEvent(0.1), "", lambda: None, uses=("plan", 3))

    template = opened(tmp_path)
    for _ in range(before):
        release(template)
    seen = set()
    for at in range(1, 200):
        ledger = ln.Ledger(shutil.copy(template.path, tmp_path / f"l{at}"), "d")
        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Dying, **k))
            Dying.left = at
            answered = 0
            with contextlib.suppress(Died):
                release(ledger)
                answered = 1
        taken = sum(own.uses.taken for own in ledger.entries())
        assert before + answered <= taken <= before + 1
        if taken - before not in seen:
            for _ in range(taken, 3):
                release(ledger)
            with pytest.raises(LedgerError, match="none of its 3"):
                release(ledger)
        seen.add(taken - before)
        if answered:
            break
    assert (at > 20, seen) == (True, {0, 1})


def test_accounts_do_not_take_each_others_uses(tmp_path):
    first, second = opened(tmp_path), opened(tmp_path, name="e")
    assert first.reserve_use(GaussianEvent(0.1), "plan", 2) == (1, 1)
    assert second.reserve_use(GaussianEvent(0.1), "plan", 2) == (2, 1)
    with pytest.raises(LedgerError, match="is not reserved"):
        second.settle_use(1, 1)
    assert ln.Ledger(tmp_path / "l", "d").entries()[0].uses.taken == 1


def test_a_ledger_is_renewed_where_the_first_use_is_reserved_or_not_at_all(tmp_path):
    ledger = opened(tmp_path)

    def version():
        connection = sqlite3.connect(ledger.path)
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        connection.close()
        return found

    ledger.reserve(GaussianEvent(0.1))
    assert (version(), ledger.entries()[0].uses) == (2, None)
    with pytest.raises(LedgerError, match="too little"):
        ledger.reserve_use(GaussianEvent(9.0), "plan", 2)
    assert version() == 2
    ledger.reserve_use(GaussianEvent(0.1), "plan", 2)
    assert version() == 3
    assert [own.uses and own.uses.uses for own in ledger.entries()] == [None, 2]


@pytest.mark.parametrize("reading", ["basic", "gaussian", "zcdp"])
def test_an_account_of_each_reading_pays_for_the_uses_of_what_it_can_add_up(tmp_path, reading):
    whole = ln.approx_dp(1.0, 1e-6)
    ledger = opened(tmp_path, whole, reading=reading)
    name = "laplace" if reading == "basic" else "gaussian"
    share = ln.approx_dp(0.4, 1e-7)
    plan = planned(share, 12, mechanism=name)
    plan.release(rows(), ledger)
    (entry,) = ledger.entries()
    assert reading in plan.readings
    assert within(whole, entry.event)
    if reading == "basic":
        assert entry.pair[0] <= 0.4
        assert entry.pair[1] <= 1e-7


def test_a_release_without_a_ledger_says_that_uses_are_not_known():
    release = planned(ln.zcdp(0.3), 12).release(rows())
    assert not release.recorded
    assert "not known which of its 12 uses" in " ".join(str(release).split())


def test_a_specification_has_uses_and_its_account_says_how_many_are_taken(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(
        """[question]
relation = "substitute"
size = 3
uses = 2
[question.columns]
c0 = { lower = 0, upper = 1 }
[budget]
rho = 0.3
"""
    )
    ledger = opened(tmp_path)
    for use in (1, 2):  # each run plans anew
        assert read_spec(path).plan(None).release(rows(), ledger).spend.use == use
        assert f"{use} of 2 uses taken" in " ".join(str(account(ledger)).split())
    path.write_text('[question]\nkind = "stream"\nrounds = 4\nuses = 2\n[budget]\nrho = 1\n')
    with pytest.raises(SpecError, match=r"question.uses: is for releases of tables"):
        read_spec(path)


def test_an_account_that_cannot_pay_is_told_what_all_gaussian_uses_ask(tmp_path):
    whole = ln.approx_dp(1.0, 1e-6)
    ledger, plan = opened(tmp_path, whole, reading="gaussian"), planned(whole, 4)
    assert plan.mechanism == "laplace"
    with pytest.raises(LedgerError, match=r'mechanism="gaussian" asks for mu 0\.2367'):
        plan.release(rows(), ledger)
