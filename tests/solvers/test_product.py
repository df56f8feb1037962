# SPDX-License-Identifier: Apache-2.0
"""Product noise and its lower bound, beside the exact optimum where that can be had."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.certificate import product as certificate
from lownoise.certificate.product import AxisDual, ProductDual
from lownoise.errors import PlanError
from lownoise.sensitivity.orders import answer_rows
from lownoise.sensitivity.residuals import product_blocks
from lownoise.solvers.product import solve_product


def nuclear(question, dual, shares):
    """Return F of the dual's weights by writing out all records, under `add_remove` at p = 2."""
    rows = []
    for chosen in question.sets():
        part = np.ones((1, 1))
        for i, a in enumerate(question.attributes):
            part = np.kron(part, answer_rows(a.ordered, a.size) if i in chosen else np.ones(a.size))
        rows.append(part)
    w = np.ones(1)
    for own in shares:
        w = np.kron(w, own)
    return float(np.linalg.svd(np.vstack(rows) * np.sqrt(w), compute_uv=False).sum())


@pytest.mark.parametrize("columns", [1, 4, 9, 10**6])
def test_the_bound_is_at_most_what_its_weights_prove(columns, monkeypatch):
    """Beside the same function of all records, whatever the weights are."""
    monkeypatch.setattr(certificate, "_COLUMNS", columns)
    question = ln.Marginals({"t": 5, "a": 2, "u": 4}, way=2, ordered={"t": "prefix", "u": "range"})
    products = product_blocks(question, public=False)
    rng = np.random.default_rng(columns)
    for _ in range(4):
        axes = tuple(
            AxisDual(
                answers=np.ones(len(answer_rows(kind, n))),
                chances=rng.dirichlet(np.ones(n)),
                split=rng.dirichlet(np.ones(n)),
            )
            for kind, n in (("prefix", 5), ("range", 4))
        )
        dual = ProductDual(
            axes=axes,
            cells=np.ones(len(products.blocks.spans)),
            patterns=np.zeros((1, products.complete.members.size), dtype=np.int64),
            chances=np.ones(1),
        )
        shares = [axes[0].chances, np.full(2, 0.5), axes[1].chances]
        exact = nuclear(question, dual, shares)
        found = dual.least(products, 2.0, np.sqrt(products.blocks.plain.weights))
        assert exact * 0.5 < found <= exact * (1 + 1e-9)
        if columns == 10**6:  # the whole space: nothing is left out
            assert found == pytest.approx(exact, rel=1e-7)


def test_the_bound_is_at_most_what_its_weights_prove_of_changes():
    """Under `substitute`, from the covariance of drawn changes that is written out."""
    question = ln.Marginals({"t": 4, "u": 3}, way=2, ordered={"t": "prefix", "u": "prefix"})
    products = product_blocks(question, public=True)
    rng = np.random.default_rng(1)
    shares = [rng.dirichlet(np.full(n, 4.0)) for n in (4, 3)]
    axes = tuple(AxisDual(answers=np.ones(len(w)), chances=w, split=w) for w in shares)
    patterns = np.array([[1, 1], [1, 0], [0, 1]])
    chances = np.array([3.0, 1.0, 2.0])
    dual = ProductDual(axes=axes, cells=np.ones(4), patterns=patterns, chances=chances)
    second = np.zeros((12, 12))
    for pattern, chance in zip(patterns, chances, strict=True):
        joint = []
        for differs, w in zip(pattern, shares, strict=True):
            h = w.min()
            apart = np.outer(w, w) - h / (1 - h) * (np.diag(w) - np.outer(w, w))
            assert np.all(apart >= -1e-15)  # these are chances of pairs
            joint.append(apart if differs else np.diag(w))
        pairs = np.kron(joint[0], joint[1])
        for x, y in itertools.product(range(12), repeat=2):
            change = np.eye(12)[x] - np.eye(12)[y]
            second += chance / 6 * pairs[x, y] * np.outer(change, change)
    rows = [
        np.kron(a, b)
        for a in (np.ones((1, 4)), np.tril(np.ones((4, 4))))
        for b in (np.ones((1, 3)), np.tril(np.ones((3, 3))))
    ]
    values, vectors = np.linalg.eigh(second)
    root = (vectors * np.sqrt(values.clip(0))) @ vectors.T
    exact = float(np.linalg.svd(np.vstack(rows) @ root, compute_uv=False).sum())
    found = dual.least(products, 2.0, np.sqrt(products.blocks.plain.weights))
    assert found == pytest.approx(exact, rel=1e-6)
    assert found <= exact


def test_weights_that_prove_nothing_prove_nothing():
    question = ln.Marginals({"t": 6, "u": 5}, way=2, ordered={"t": "prefix", "u": "range"})
    products = product_blocks(question, public=False)
    good = solve_product(products, 2.0).dual

    def with_axis(**changed):
        own = {k: getattr(good.axes[0], k) for k in ("answers", "chances", "split")} | changed
        return ProductDual(
            axes=(AxisDual(**own), good.axes[1]),
            cells=good.cells,
            patterns=good.patterns,
            chances=good.chances,
        )

    weights = np.sqrt(products.blocks.plain.weights)
    assert with_axis().least(products, 2.0, weights) > 0
    for changed in (
        {"answers": np.zeros(6)},
        {"chances": -good.axes[0].chances},
        {"chances": np.full(6, math.nan)},
        {"split": np.full(6, math.inf)},
    ):
        assert with_axis(**changed).least(products, 2.0, weights) == 0


def test_too_many_categories_or_answers_are_refused_in_one_line():
    with pytest.raises(PlanError, match="2,000 categories"):
        product_blocks(
            ln.Marginals({"t": 2000}, way=1, ordered={"t": "prefix"}),
            public=False,
        )
    many = ln.Marginals({"t": 400, "u": 400}, way=2, ordered={"t": "range", "u": "range"})
    with pytest.raises(PlanError, match='"prefix" in place of "range"'):
        product_blocks(many, public=False)
