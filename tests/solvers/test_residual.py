# SPDX-License-Identifier: Apache-2.0
"""The least noise for marginals, against the general solver and the published figures."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import lownoise as ln
from lownoise.sensitivity.residuals import TableChanges, marginal_orbits
from lownoise.solvers.independent import solve_residual

ADULT = json.loads((Path(__file__).parents[1] / "data" / "adult-domain.json").read_text())


@pytest.mark.parametrize(
    ("sizes", "published"),
    [
        ([10] * 10, 9.34811084),
        (list(ADULT.values()), 10.66500805),
    ],
)
def test_published_errors_to_every_digit(sizes, published):
    question = ln.Marginals({f"x{i}": n for i, n in enumerate(sizes)}, way=3)
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    assert round(plan.error / math.sqrt(question.cells), 8) == published
    assert plan.certificate.gap < 1e-9


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_attributes_that_are_alike_need_one_variable(order, relation):
    """The orbits' answer is that of the same question asked set by set, without exchanges."""
    sizes = {"a": 3, "b": 3, "c": 3, "d": 2}
    question = ln.Marginals(sizes, way=2)
    orbits = marginal_orbits(question)
    names = [question.names(s) for s in question.sets()]
    apart = marginal_orbits(
        ln.Marginals(sizes, sets=names, weights=[1 + 1e-9 * k for k in range(len(names))])
    )
    assert len(apart.asked) == question.count > len(orbits.asked)
    one = solve_residual(orbits, order, relation, 1e-8)
    two = solve_residual(apart, order, relation, 1e-8)
    bounds = [
        found.dual.least(TableChanges(of, relation), order, np.sqrt(of.weights))
        for found, of in ((one, orbits), (two, apart))
    ]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 5.0, math.inf])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_adult_is_solved(order, relation):
    orbits = marginal_orbits(ln.Marginals(ADULT, way=2))
    found = solve_residual(orbits, order, relation, 1e-6)
    lower = found.dual.least(TableChanges(orbits, relation), order, np.sqrt(orbits.weights))
    V = orbits.cell_variances(found.noise)
    upper = np.linalg.norm(np.repeat(np.sqrt(V), orbits.cells.astype(int)), order)
    assert lower <= upper <= lower * (1 + 1.1e-6)
    assert found.status == "solved"
