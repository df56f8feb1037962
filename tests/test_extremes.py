# SPDX-License-Identifier: Apache-2.0
"""At the ends of what domains, matrices and weights may be, a plan has numbers or is refused."""

import json
import math

import numpy as np
import pytest

import lownoise as ln

HUGE, TINY = 2.0**500, 2.0**-400  # the widest box and the narrowest
FAR, NEAR = 2.0**249, 2.0**-250  # of lists of points, and of matrices
DOMAINS = {
    "widest": ln.Box([-HUGE, -HUGE], [HUGE, HUGE]),
    "widest from zero": ln.Box([0], [HUGE]),
    "narrowest": ln.Box([-TINY, 0], [TINY, TINY]),
    "both": ln.Box([0, 0], [HUGE, TINY]),
    "far points": ln.Points([[0, 0], [FAR, 0], [0, FAR]]),
    "near points": ln.Points([[0, 0], [NEAR, 0], [0, NEAR]]),
    "wide ball": ln.Ball(2, radius=FAR),
    "narrow ball": ln.Ball(2, radius=NEAR),
}
RELATIONS = {"substitute": 100, "add_remove": None}
BUDGETS = (ln.zcdp(0.5), ln.zcdp(1e-12), ln.pure_dp(1.0), ln.pure_dp(1e-6))
MATRICES = {
    "large": [[2.0**250, 0, -(2.0**250)], [1, 1, 1]],
    "small": [[2.0**-250, 0, 0], [2.0**-250, 2.0**-250, 0]],
    "both": [[2.0**250, 0, 0], [0, 2.0**-250, 0]],
}
NAMED = ("k_norm", "ellipsoid", "laplace")


def finite(made):
    """Whether all that a plan says is a number, but for a covariance, which may be infinite."""
    ends = made.certificate
    said = [made.error, made.objective, ends.lower, ends.upper, made.lower_bound]
    with np.errstate(over="ignore"):
        squares = np.asarray(made.covariance)
    json.loads(made.to_json(), parse_constant=pytest.fail)  # NaN and Infinity are no JSON
    alike = [own.error for own in made.comparison if own.error is not None]
    return (
        all(map(math.isfinite, [*said, *alike]))
        and np.all(np.isfinite(made.standard_deviation))
        and not np.any(np.isnan(squares))
    )


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", DOMAINS)
def test_means_of_any_width_have_numbers(name, relation, budget):
    domain, size = DOMAINS[name], RELATIONS[relation]
    columns = [f"c{i}" for i in range(domain.dimension)]
    question = ln.Mean(columns, domain)
    for order, weights in ((2.0, None), (math.inf, "range")):
        asked = {"relation": relation, "size": size, "order": order, "weights": weights}
        assert finite(ln.plan(question, budget=budget, **asked))


@pytest.mark.grid
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["far points", "near points", "wide ball", "narrow ball"])
def test_the_least_and_the_greatest_weights_scale_what_pure_means_say(name, relation):
    question = ln.Mean(["a", "b"], DOMAINS[name])
    asked = {"budget": ln.pure_dp(1.0), "relation": relation, "size": RELATIONS[relation]}
    unit = ln.plan(question, **asked)
    for weight in (1e-100, 1e100):
        made = ln.plan(question, **asked, weights=[weight, weight])
        assert finite(made)
        assert made.error == pytest.approx(weight * unit.error, rel=1e-6)
        assert made.lower_bound == pytest.approx(weight * unit.lower_bound, rel=1e-6)


@pytest.mark.parametrize("mechanism", NAMED)
def test_a_count_beside_the_widest_sum_is_noised_no_more_than_it_matters(mechanism):
    """A mean errs by the count's noise times how far it may be: the count was as good as lost."""
    question = ln.Mean(["a"], DOMAINS["widest from zero"])
    for budget in (ln.pure_dp(1.0), ln.approx_dp(1.0, 1e-9)):
        asked = {"budget": budget, "relation": "add_remove", "mechanism": mechanism}
        made = ln.plan(question, **asked)
        unit = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), **asked)
        assert finite(made)
        assert made.error == pytest.approx(unit.error * HUGE, rel=1e-6)
        assert made.standard_deviation[-1] == pytest.approx(unit.standard_deviation[-1], rel=1e-6)
        assert made.lower_bound == pytest.approx(unit.lower_bound * HUGE, rel=1e-6)


@pytest.mark.grid
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", MATRICES)
def test_queries_of_any_size_have_numbers(name, relation, budget):
    question = ln.Queries(MATRICES[name], {"a": 3}, outside={"a": 0})
    assert finite(ln.plan(question, budget=budget, relation=relation, size=RELATIONS[relation]))


@pytest.mark.parametrize("relation", RELATIONS)
def test_counts_of_any_weight_have_numbers(relation):
    asked = {"budget": ln.zcdp(1e-6), "relation": relation, "size": RELATIONS[relation]}
    bits = ln.Parity(["a", "b"], [1, 2], weights=[1e-100, 1e100], outside=0)
    assert finite(ln.plan(bits, **asked))
    tables = ln.Marginals({"a": 3, "b": 2}, way=1, weights=[1e-4, 1e4], outside="extra")
    made = ln.plan(tables, **asked)
    ends = made.certificate
    said = (made.error, made.objective, ends.lower, ends.upper, made.lower_bound)
    assert all(map(math.isfinite, (*said, made.standard_deviation("a"))))
