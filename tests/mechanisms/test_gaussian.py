# SPDX-License-Identifier: Apache-2.0
"""The final integers and the final noise: covered, rounded outward, whatever the optimiser said."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lownoise as ln
from cases import CASES, ORDERS
from lownoise.engines import Totals
from lownoise.errors import PlanError, TableError
from lownoise.noise.gaussian import gaussian_mean
from lownoise.noise.means import coding_for
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sensitivity.factors import DiagonalShape

BUDGETS = (ln.zcdp(1e-12), ln.zcdp(0.5), ln.zcdp(1e6), ln.approx_dp(1, 1e-6), ln.approx_dp(50, 0.1))


def exact_square(mechanism):
    """max sᵀM⁻¹s over every pair of codes of a record's corners, in exact fractions."""
    coding = mechanism.totals.query.coding
    scale = [Fraction(s) for s in mechanism.noise.shape.scale]
    low, high = coding.least().tolist(), coding.greatest().tolist()
    if mechanism.totals.count_step is None:
        moves = [(h - lo,) for lo, h in zip(low, high, strict=True)]
    else:
        moves = [(lo, h) for lo, h in zip(low, high, strict=True)]
        moves.append((Fraction(1) / Fraction(mechanism.totals.count_step),))
    corners = itertools.product(*moves)
    return max(
        sum((Fraction(m) / s) ** 2 for m, s in zip(corner, scale, strict=True) if m)
        for corner in corners
    )


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("case", [c for c in CASES if c.domain.dimension < 8], ids=lambda c: c.name)
def test_what_is_revealed_is_covered_exactly_and_within_the_budget(case, budget, relation):
    names = [f"c{i}" for i in range(case.domain.dimension)]
    size = 1000 if relation == "substitute" else None
    asked = {"budget": budget, "relation": relation, "size": size, "mechanism": "gaussian"}
    plan = ln.plan(ln.Mean(names, case.domain), **asked)
    mechanism = plan.terms.mechanism
    square = exact_square(mechanism)
    assert square <= Fraction(mechanism.loss.mu) ** 2
    assert mechanism.loss.mu <= budget.gaussian_parameter()
    # not wasteful: the grid and the outward rounding cost less than a millionth
    assert float(square) >= (1 - 1e-6) * budget.gaussian_parameter() ** 2


@given(
    st.floats(0.01, 100),
    st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=2),
    st.sampled_from(["substitute", "add_remove"]),
)
def test_a_wrong_optimiser_costs_accuracy_never_privacy(parameter, wrong, relation):
    """Any shape at all is enlarged until the recomputed radius is within the budget."""
    question = ln.Mean(["a", "b"], ln.Box([0, -5], [1, 100]))
    extra = [1e-6] if relation == "add_remove" else []
    size = 10 if relation == "substitute" else None
    shape = DiagonalShape([*wrong, *extra])
    mechanism = gaussian_mean(
        question, relation, size, shape, parameter, question.domain.coordinates()
    )
    assert exact_square(mechanism) <= Fraction(parameter) ** 2


def test_a_shape_without_noise_where_records_move_is_refused():
    question = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 1]))
    with pytest.raises(PlanError, match="leaves a direction"):
        gaussian_mean(
            question,
            "substitute",
            10,
            DiagonalShape([1.0, 0.0]),
            1.0,
            question.domain.coordinates(),
        )


@pytest.mark.parametrize("order", ORDERS)
def test_standard_deviations_are_those_of_the_theory(order):
    """Closed form: std = √M/(nμ), Mᵢ = wᵢ^{4/(p+2)}·Σ w^{2p/(p+2)}."""
    widths = np.array([1.0, 20.0, 300.0])
    plan = ln.plan(
        ln.Mean(["a", "b", "c"], ln.Box([0, 0, 0], widths)),
        budget=ln.zcdp(0.02),
        relation="substitute",
        size=500,
        order=order,
    )
    power = 0.0 if math.isinf(order) else 4 / (order + 2)
    r = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    expected = np.sqrt(widths**power * np.sum(widths**r)) / (500 * 0.2)
    assert np.allclose(plan.standard_deviation, expected, rtol=1e-8)


@pytest.mark.parametrize("size", [1, 1000, 10**7, 10**9])
def test_rounding_of_records_moves_a_mean_by_a_thousandth_of_its_noise_at_most(size):
    plan = ln.plan(
        ln.Mean(["a", "b"], ln.Box([0.1, -7], [0.3, 1e6])),
        budget=ln.approx_dp(1, 1e-9),
        relation="substitute",
        size=size,
        mechanism="gaussian",
    )
    step = plan.terms.mechanism.totals.query.coding.step
    assert np.all(step / 2 <= 2.0**-10 * plan.standard_deviation)


def test_wrong_size_is_refused_before_any_noise_is_drawn():
    class Untouchable:
        def words(self, count):
            raise AssertionError(count)

    plan = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(1), relation="substitute", size=3
    )
    with pytest.raises(TableError, match="size=3 is not the number of rows"):
        plan.terms.mechanism.run(Totals(2, (0,)), randomness=Untouchable())


def test_noise_does_not_look_at_the_totals():
    """The same bits move any totals by the same integers: the two meet in one addition."""
    plan = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(1e-3), relation="add_remove")
    mechanism = plan.terms.mechanism
    unit = int(1 / mechanism.totals.count_step)
    moved = set()
    for total in (0, 1, -(10**15), 10**30):
        answer = mechanism.run(Totals(7, (total,)), randomness=SimulationRandomness(3))
        moved.add((answer[0] - total, answer[1] - 7 * unit))
    assert len(moved) == 1


@pytest.mark.parametrize(
    ("domain", "center", "missing"),
    [
        (ln.Box([0, 0], [4, 4]), [1, 1], [3, 4]),
        (ln.Points([[0, 0], [4, 1], [1, 4]]), [1, 1], [4, 1]),
        (ln.Ball(2, 4), [1, 1], [0, 3]),
        (ln.TensorPower(2, 1), [0, 0], [1, -1]),
    ],
    ids=["box", "points", "ball", "signs"],
)
def test_a_lacking_record_has_the_code_of_the_questions_stand_in(domain, center, missing):
    question = ln.Mean(["x", "y"], domain, center=center, missing=missing)
    chosen = domain.coordinates()
    coding = coding_for(question, chosen, np.full(chosen.pivots.size, 2.0**-20))
    assert coding.columns == question.columns
    assert coding.center.tolist() == center
    found = coding.encode(np.full((1, 2), np.nan))
    assert np.array_equal(found, coding.encode(np.array([missing], dtype=np.float64)))
    about = np.subtract(missing, center)[chosen.pivots]
    assert np.max(np.abs(found[0] * 2.0**-20 - about)) <= 2.0**-20
