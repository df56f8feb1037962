# SPDX-License-Identifier: Apache-2.0
"""Parities under a pure budget: what the worst neighbours reveal, how far answers stray, files."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import FileError, LownoiseError, PlanError
from lownoise.numbers.randomness import SimulationRandomness
from refusals import one_line, refused_plan, sealed

SIZES = {"add_remove": None, "substitute": 60}
BITS = ["a", "b", "c", "d"]


def planned(relation, degree=(0, 1, 3), **more):
    weights = more.pop("weights", None)
    outside = "drop" if SIZES[relation] is None else 0
    question = ln.Parity(BITS, list(degree), weights=weights, outside=outside)
    budget = more.pop("budget", ln.pure_dp(0.7))
    return ln.plan(question, budget=budget, relation=relation, size=SIZES[relation], **more)


def rows(count=60):
    drawn = np.random.default_rng(4).integers(0, 2, (count, len(BITS)))
    return pd.DataFrame(drawn, columns=BITS)


def parities(question):
    """What each record adds to each parity, shape (2^D, m)."""
    records = itertools.product((0, 1), repeat=len(question.attributes))
    return np.array(
        [[(-1) ** sum(record[i] for i in s) for s in question.sets()] for record in records]
    )


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("degree", [(2,), (0, 1, 3), (1, 2, 3, 4)])
@pytest.mark.parametrize("weights", ["even", "steep"])
@pytest.mark.parametrize("relation", SIZES)
@pytest.mark.parametrize("law", ["laplace", "geometric"])
def test_epsilon_is_that_of_the_worst_neighbours(relation, weights, degree, law):
    """Of either law Σ|change|/scale; whole numbers are changed by whole steps of theirs."""
    given = None if weights == "even" else [10.0**k for k in range(len(degree))]
    plan = planned(relation, degree, weights=given, mechanism=law)
    noise = plan.terms.mechanism.noise
    scales = np.repeat(noise.scales, plan.terms.question.counts)
    added = parities(plan.terms.question)
    free = scales > 0
    assert np.all(free) or relation == "substitute"
    assert np.all(added[:, ~free] == 1)  # the number of rows, which is public
    own = added[:, free] / scales[free]
    pairs = own[:, None] - own if relation == "substitute" else own[:, None]
    most = float(np.max(np.sum(np.abs(pairs), axis=2)))
    if law == "geometric":
        steps = plan.terms.mechanism.totals.unit[free]
        assert np.all(steps == (2 if relation == "substitute" else 1))
        moves = pairs * scales[free] / steps
        assert np.array_equal(moves.round(9), np.rint(moves))
    stated = plan.terms.mechanism.loss.epsilon
    assert most <= stated * (1 + 1e-14)
    assert stated <= most * (1 + 1e-11)
    assert 0.7 * (1 - 1e-6) < stated <= 0.7


@pytest.mark.parametrize("relation", SIZES)
@pytest.mark.parametrize(("law", "budget"), [("gaussian", ln.gaussian_dp), ("laplace", ln.pure_dp)])
def test_parities_of_several_degrees_leave_what_processors_round(relation, law, budget):
    """2⁻⁴⁰ where a cost is a sum of products; of one degree it is one product, and all is spent."""
    for degree, several in (((2,), False), ((0, 1, 3), True), ((1, 2), True)):
        plan = planned(relation, degree, mechanism=law, budget=budget(0.7))
        loss = plan.terms.mechanism.loss
        left = 1 - (loss.mu if law == "gaussian" else loss.epsilon) / 0.7
        assert (left > 2.0**-41) == several
        assert 0 <= left < 2.0**-39


@pytest.mark.parametrize("relation", SIZES)
def test_rho_and_mu_are_those_of_laplace_numbers(relation):
    """One degree: C(4, 2) numbers that come or go, or the most that change by 2."""
    plan = planned(relation, (2,), mechanism="laplace")
    loss, b = plan.terms.mechanism.loss, float(plan.terms.mechanism.noise.scales[0])
    count, move = (6, 1 / b) if relation == "add_remove" else (4, 2 / b)
    assert loss.rho == pytest.approx(count * (move - 1 + math.exp(-move)), rel=1e-9)


@pytest.mark.parametrize("relation", SIZES)
def test_whole_noise_has_less_by_its_law_and_keeps_whether_sums_are_even(relation):
    """One degree: each of C(4, 2) moves by a step, all or four of them. Plans take it unasked.

    At ε = 200 sums are exact but with a chance of 1e-13.
    """
    epsilon = 8.0
    whole, laplace = (
        planned(relation, (2,), mechanism=law, budget=ln.pure_dp(epsilon))
        for law in ("geometric", "laplace")
    )
    t = epsilon / (6 if relation == "add_remove" else 4)
    assert (whole.error / laplace.error) ** 2 == pytest.approx(
        (t / 2 / math.sinh(t / 2)) ** 2, rel=1e-6
    )
    per = t * math.tanh(t / 2)
    assert whole.cost.rho == pytest.approx(epsilon / t * per, rel=1e-9)
    compared = {own.mechanism for own in planned(relation, (2,), budget=ln.pure_dp(8)).comparison}
    assert {"geometric", "laplace"} <= compared
    table, question = rows(), whole.terms.question
    true = parities(question)[(table.to_numpy() @ [8, 4, 2, 1])].sum(axis=0)
    found = whole.release(table)
    assert ln.verify(found.to_json())
    if relation == "substitute":
        assert np.all((found.estimate - true) % 2 == 0)
    assert np.array_equal(found.estimate, np.rint(found.estimate))
    sure = planned(relation, (0, 2), mechanism="geometric", budget=ln.pure_dp(200.0))
    assert np.array_equal(sure.release(table).estimate, [60, *true])


def test_whole_noise_of_units_and_of_many_bits_is_verified():
    unit = {"privacy_unit": "id", "rows_per_unit": 3, "mechanism": "geometric"}
    plan = planned("add_remove", (1, 2), budget=ln.pure_dp(30.0), **unit)
    assert plan.cost.epsilon == pytest.approx(30, rel=1e-9)
    assert ln.verify(plan.to_json())
    # alone of seventy bits, and with an end of what is spent
    many = ln.Parity([f"b{i}" for i in range(70)], [70])
    plan = ln.plan(many, budget=ln.pure_dp(1000.0), relation="add_remove")
    assert plan.mechanism == "geometric"
    assert plan.cost.epsilon <= 500
    document = json.loads(plan.to_json())
    document["terms"]["noise"]["steps"] = [0.5]
    refused_plan(sealed(document), "steps")


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", SIZES)
def test_every_mechanism_is_compared_released_and_read_back(relation):
    plan = planned(relation)
    made = [own.mechanism for own in plan.comparison if own.error is not None]
    assert set(made) >= {"laplace", "laplace_histogram", "k_norm"}
    assert [own.error for own in plan.comparison if own.error] == sorted(
        own.error for own in plan.comparison if own.error
    )
    assert 0 < plan.lower_bound <= plan.error
    for name in made:
        one = planned(relation, mechanism=name)
        assert ln.Plan.from_json(one.to_json()).to_json() == one.to_json()
        assert bool(one.verify()), one.verify()
        release = one.release(rows())
        assert ln.Release.from_json(release.to_json()).to_json() == release.to_json()
        assert release.estimate.shape == (1 + 4 + 4,)
        assert one.terms.mechanism.loss.epsilon <= 0.7


@pytest.mark.parametrize("relation", SIZES)
def test_answers_are_unbiased_and_stray_as_said(relation):
    """400 runs; first kind and power as in tests/tables/test_pure_tables.py."""
    plan = planned(relation, mechanism="laplace")
    mechanism, table = plan.terms.mechanism, rows()
    exact = parities(plan.terms.question)[table.to_numpy() @ [8, 4, 2, 1]].sum(axis=0)
    records, source = mechanism.read(table), SimulationRandomness(2)
    found = np.array(
        [mechanism.answers(mechanism.run(records, randomness=source)) for _ in range(400)]
    )
    off, said = found - exact, plan.standard_deviation
    free = said > 0
    assert np.all(off[:, ~free] == 0)
    assert np.all(np.abs(off.mean(axis=0)[free]) < 7 * said[free] / 20)
    ratio = np.mean(np.square(off[:, free] / said[free]))
    assert ratio == pytest.approx(1, rel=1 / 3)


def test_many_bits_have_noise_by_degree_alone():
    question = ln.Parity([f"b{i}" for i in range(100)], [1, 2])
    plan = ln.plan(question, budget=ln.pure_dp(1), relation="add_remove")
    assert plan.mechanism == "laplace"
    reasons = {own.note for own in plan.comparison if own.error is None}
    assert all("too many to be counted one by one" in reason for reason in reasons)
    scales = plan.terms.mechanism.noise.scales
    assert 100 / scales[0] + 4950 / scales[1] == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("relation", "order"),
    # where one record changes and p > 2 a start that is near is taken, not the least
    [("add_remove", 2.0), ("add_remove", 4.0), ("add_remove", math.inf), ("substitute", 2.0)],
)
def test_no_split_over_degrees_nearby_errs_less(relation, order):
    plan = planned(relation, (1, 2), weights=[1.0, 5.0], order=order, mechanism="laplace")
    scales, counts = plan.terms.mechanism.noise.scales, plan.terms.question.counts
    changing = plan.terms.mechanism.totals.changes.changing

    def error(b):
        spread = np.repeat(np.sqrt([1.0, 5.0]) * b, counts)
        return np.linalg.norm(spread, ord=order) * np.max(changing @ (1 / b))

    for k in range(2):
        for factor in (0.9, 1.1):
            other = scales.copy()
            other[k] *= factor
            assert error(other) >= error(scales) * (1 - 1e-6)


@pytest.mark.parametrize(
    ("field", "value"), [("scales", [0.0, 9.0, 9.0]), ("scales", [1e-3, 1e-3, 1e-3])]
)
def test_a_file_with_too_little_noise_is_refused(field, value):
    document = json.loads(planned("add_remove", mechanism="laplace").to_json())
    document["terms"]["noise"][field] = value
    document["terms"]["noise"]["steps"] = [
        1.0 if not v else min(1.0, 2.0 ** (math.frexp(v)[1] - 20)) for v in value
    ]
    document["terms"]["noise"]["steps"] = [
        max(s, 2.0**-22) for s in document["terms"]["noise"]["steps"]
    ]
    refused_plan(json.dumps(document), error=(FileError, PlanError))


def test_mistakes_are_one_line():
    for wrong in (
        lambda: planned("add_remove", mechanism="gaussian"),
        lambda: planned("add_remove", mechanism="laplace_residual"),
        lambda: planned("add_remove", budget=ln.zcdp(1), mechanism="laplace"),
        lambda: ln.plan(ln.Parity(["a"], 1), budget=ln.pure_dp(1), relation="substitute", size=9),
    ):
        with one_line(LownoiseError):
            wrong()


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", [ln.pure_dp(0.2), ln.approx_dp(0.2, 1e-6)], ids=str)
@pytest.mark.parametrize("uses", [None, 3])
def test_the_number_of_rows_alone_has_no_noise_where_it_is_public(budget, uses):
    question = ln.Parity(BITS, 0, outside=0)
    plan = ln.plan(question, budget=budget, relation="substitute", size=60, uses=uses)
    assert plan.error == 0
    assert {own.error for own in plan.comparison} <= {0, None}
    assert "no neighbour changes any answer" in repr(plan.comparison)
    assert plan.release(rows()).estimate.tolist() == [60]
    for name in ("laplace_histogram", "randomized_response", "k_norm"):
        with pytest.raises(PlanError, match="no neighbour changes any answer"):
            ln.plan(question, budget=budget, relation="substitute", size=60, mechanism=name)
