# SPDX-License-Identifier: Apache-2.0
"""Totals without a count: a record adds x or takes it away, and nothing is spent on how many.

Mutants, each seen red: a body between codes without its opposite, codes about the center, the
rounding of a value that never changes left out, means that are not multiplied by the public number
of rows, a count that is checked where it is private.
"""

import contextlib
import itertools
import math

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from cases import MEMBERS
from edits import edited
from lownoise.certificate.staircase import staircase_ratio
from lownoise.errors import DomainError, LownoiseError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.questions import QUESTIONS
from lownoise.sets.bodies import SymmetricPoints
from lownoise.solvers import solve
from lownoise.spec import read_spec
from refusals import refused_plan

BOX = ln.Box([0, -1], [3, 5])
ZCDP, PURE, APPROX = ln.zcdp(0.1), ln.pure_dp(1.0), ln.approx_dp(1.0, 1e-6)
N = 60


def planned(domain=BOX, budget=ZCDP, relation="add_remove", **more):
    names = [f"x{i}" for i in range(domain.dimension)]
    size = None if relation == "add_remove" else N
    return ln.plan(ln.Sum(names, domain), budget=budget, relation=relation, size=size, **more)


def table(domain=BOX, n=N, seed=0):
    rng = np.random.default_rng(seed)
    width = np.asarray(domain.upper - domain.lower)
    rows = domain.lower - 0.2 * width + 1.4 * width * rng.random((n, domain.dimension))
    return pd.DataFrame(rows, columns=[f"x{i}" for i in range(domain.dimension)])


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("place", range(0, len(MEMBERS), 4), ids=lambda i: MEMBERS[i].name)
@pytest.mark.parametrize("budget", [ZCDP, PURE], ids=["Gaussian", "pure"])
def test_no_record_that_comes_or_goes_moves_the_integers_farther_than_is_charged(place, budget):
    """Of Gaussian noise in the inverse of its covariance, of pure noise as its own norm says."""
    member = MEMBERS[place]
    if member.domain.oracles:
        return
    more = {} if budget is ZCDP else {"mechanism": "laplace"}
    with contextlib.suppress(DomainError):  # where no hull is known: said in one line, below
        _compare(member, place, planned(member.domain, budget, **more), budget)


def _compare(member, place, plan, budget):
    mechanism = plan.terms.mechanism
    sample = member.sample(np.random.default_rng(place), 12)
    names = list(plan.terms.question.columns)
    codes = [
        np.array(mechanism.totals.exact(mechanism.read(pd.DataFrame([x], columns=names))), float)
        for x in sample
    ]
    wanted = sample[:, mechanism.totals.inner.coordinates.pivots] / mechanism.totals.unit
    assert np.max(np.abs(codes - wanted)) < 2 + 1e-9 * np.max(np.abs(wanted))
    if budget is ZCDP:
        inverse = np.linalg.pinv(mechanism.noise.covariance(), hermitian=True)
        far = max(math.sqrt(y @ inverse @ y) for y in codes)
        assert far <= mechanism.loss.mu * (1 + 1e-9)
    else:
        inner = getattr(mechanism.noise, "inner", mechanism.noise) or mechanism.noise
        kept = getattr(mechanism.noise, "kept", np.arange(len(codes[0])))
        far = max(float(np.sum(np.abs(y[kept]) / inner.scales)) for y in codes)
        assert far <= mechanism.loss.epsilon * (1 + 1e-9)
    assert plan.terms.within_budget


FIXED = [1 / 3, 2 / 3, 1 / 5, 2 / 5, 4 / 5]


@pytest.mark.parametrize(
    "domain",
    [
        ln.Box([0, *FIXED], [1, *FIXED]),
        ln.product(ln.Ball(2), ln.Box(FIXED, FIXED)),
        ln.Points([[0.1, *FIXED], [0.2, *FIXED]]),
    ],
    ids=["box", "beside a ball", "list"],
)
def test_values_that_never_change_are_covered_as_they_are_rounded(domain):
    """Some of these are rounded up on any grid."""
    mechanism = planned(domain).terms.mechanism
    names = [f"x{i}" for i in range(domain.dimension)]
    row = pd.DataFrame([domain.clamp(domain.center)], columns=names)
    codes = np.array(mechanism.totals.exact(mechanism.read(row)), dtype=float)
    assert np.all(np.abs(codes) <= mechanism.totals.changes.widths())


@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
def test_no_noise_is_less(order):
    """Against the general solver on the corners of a box that holds zero, and of one that does not.

    The reach of a box beyond zero is attained at its far corner.
    """
    for domain in (BOX, ln.Box([1, 2], [2, 5])):
        plan = planned(domain, ln.gaussian_dp(1.0), order=order)
        corners = list(itertools.product(*zip(domain.lower, domain.upper, strict=True)))
        points = SymmetricPoints(np.array(corners, dtype=float))
        found = solve(points, order=order, weights=np.ones(2), rtol=1e-6).claim.certificate()
        assert plan.certificate.upper == pytest.approx(found.upper, rel=1e-5)
        assert plan.certificate.gap < 1e-5


def test_one_total_has_the_noise_of_its_reach():
    for low, high in ((0, 9), (-3, 2), (4, 5), (-7, -6)):
        far = max(abs(low), abs(high))
        own = planned(ln.Box([low], [high]), ln.gaussian_dp(0.5))
        assert own.standard_deviation == pytest.approx([2 * far], rel=1e-6)
        pure = planned(ln.Box([low], [high]), PURE, mechanism="laplace")
        assert pure.standard_deviation == pytest.approx([math.sqrt(2) * far], rel=1e-6)
        least = math.sqrt(2 * staircase_ratio(1, 1.0)) * far
        assert planned(ln.Box([low], [high]), PURE).standard_deviation == pytest.approx([least])


def test_less_noise_than_sums_that_follow_from_a_mean():
    """About zero a sum is that about the center and center times the count."""
    alone, mean = planned(), planned().terms.question.mean
    for share, most in ((0.05, 0.75), (None, 1.0)):  # by default the count has what totals need
        both = ln.plan(mean, budget=ZCDP, relation="add_remove", count_share=share)
        follow = np.hypot(both.standard_deviation[:2], mean.center * both.standard_deviation[2])
        assert np.linalg.norm(alone.standard_deviation) < most * np.linalg.norm(follow)


@pytest.mark.grid
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("budget", [ln.zcdp(1e5), ln.pure_dp(1000)], ids=["Gaussian", "pure"])
def test_totals_are_those_of_the_rows(relation, budget):
    """With noise of 10^-4 of a record: forty deviations have chance below e^-50."""
    for domain in (BOX, ln.Box([2, -9], [3, -9]), ln.Points([[0, 1], [2, 0], [1, 1.0]])):
        rows = table(domain)
        plan = planned(domain, budget, relation)
        release = plan.release(rows)
        wanted = np.sum([domain.clamp(row) for row in rows.to_numpy()], axis=0)
        off = np.abs(release.estimate - wanted)
        assert np.all(off <= 40 * plan.standard_deviation + 1e-3)
        assert ln.verify(plan.to_json())
        again = type(release).from_json(release.to_json())
        assert np.array_equal(again.estimate, release.estimate)
        assert ln.verify(release.to_json())
        assert str(release)
        assert str(plan)


def test_missing_values_stand_in_or_are_left_out():
    rows = table()
    rows.loc[3:5, "x1"] = np.nan
    for missing, wanted in (("center", 2.0), ([0, 4], 4.0), ("drop", 0.0)):
        question = ln.Sum(["x0", "x1"], BOX, missing=missing)
        plan = ln.plan(question, budget=ln.zcdp(1e5), relation="add_remove")
        full = rows.clip([0, -1], [3, 5], axis=1)
        kept = full.dropna() if missing == "drop" else full
        found = plan.release(rows).estimate
        assert found == pytest.approx(kept.fillna({"x1": wanted}).sum().to_numpy(), abs=0.1)


def test_draws_stray_as_is_said():
    """Of 4,000 draws a variance strays by 6 of its deviations with chance below 2e-9."""
    plan = planned(ln.Box([1, 2], [2, 5]))
    found = plan.terms.mechanism.simulate(4000, SimulationRandomness(3))
    near = found.T @ found / len(found)
    scale = np.outer(plan.standard_deviation, plan.standard_deviation)
    assert np.all(np.abs(near - plan.covariance) <= 6 * np.sqrt(2 / len(found)) * scale)


def test_under_epsilon_and_delta_the_least_noise_is_taken():
    plan = planned(budget=APPROX)
    errors = [own.error for own in plan.comparison if own.error is not None]
    assert errors == sorted(errors)
    assert {"gaussian", "k_norm", "laplace"} <= {own.mechanism for own in plan.comparison}
    assert all(0 < bound.value <= plan.error for bound in plan.bounds)
    assert plan.lower_bound > 0.5 * plan.error


def test_a_unit_of_several_rows_has_as_much_more_noise():
    rows = table().assign(who=np.arange(N) // 3)
    unit = {"privacy_unit": "who", "rows_per_unit": 3}
    plan = planned(**unit)
    assert plan.standard_deviation == pytest.approx(3 * planned().standard_deviation, rel=1e-6)
    assert ln.verify(plan.release(rows).to_json())


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t.update(relation="substitute", size=N),
        lambda t: t.update(size=N),
        lambda t: t["noise"].update(step=[2.0**-70] * 2),
        lambda t: t["question"]["mean"].update(upper=[3.0, 9.0]),
        lambda t: t["question"]["mean"].update(drops_missing=1),
    ],
)
def test_edited_files_are_refused(edit):
    refused_plan(edited(planned(), edit))


def test_questions_are_kept():
    for missing in ("drop", [1.0, 1.0]):
        own = QUESTIONS.write(ln.Sum(["a", "b"], BOX, missing=missing))
        assert QUESTIONS.write(QUESTIONS.read(own)) == own


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: planned(count_share=0.1), "releases no count"),
        (lambda: ln.Sum(["a"], BOX), "one name a coordinate"),
        (lambda: planned(ln.intersection(BOX, ln.Slab([1, 1], 0, 4))), "no known hull"),
        (lambda: planned().release(table()).mean, "mean is for columns"),
        (lambda: planned(relation="substitute").release(table(n=N + 1)), "give it exactly"),
        (
            lambda: ln.plan(
                ln.Sum(["x0", "x1"], BOX, missing="drop"), budget=ZCDP, relation="substitute",
                size=N,
            ),
            "public size",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(make, said):
    with pytest.raises(LownoiseError, match=said) as found:
        make()
    assert "\n" not in str(found.value)


def test_specifications_ask_for_totals(tmp_path):
    text = """
[question]
kind = "sum"
relation = "add_remove"

[question.columns]
hours = { lower = 0, upper = 60 }

[budget]
mu = 0.5
"""
    path = tmp_path / "spec.toml"
    path.write_text(text, encoding="utf-8")
    plan = read_spec(path).plan()
    assert plan.names == ("sum(hours)",)
    assert plan.standard_deviation == pytest.approx([120], rel=1e-6)
    path.write_text(text.replace("upper = 60 }", "upper = 60, center = 3 }"), encoding="utf-8")
    with pytest.raises(LownoiseError, match="which totals do not use"):
        read_spec(path)
