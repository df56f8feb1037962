# SPDX-License-Identifier: Apache-2.0
"""What product noise reveals and what it does to answers, looking at every record."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.sensitivity.orders import answer_rows
from lownoise.sensitivity.residuals import AxisNoise, product_blocks

QUESTIONS = {
    "alone": ln.Marginals({"t": 6}, sets=[["t"]], ordered={"t": "range"}),
    "one": ln.Marginals({"a": 2, "t": 4, "b": 2}, way=2, ordered={"t": "prefix"}),
    "no pairs": ln.Marginals(
        {"t": 3, "u": 3, "a": 2}, way=1, ordered={"t": "prefix", "u": "range"}
    ),
    "two": ln.Marginals(
        {"t": 3, "a": 3, "u": 2, "b": 3},
        sets=[["t", "a"], ["u", "a", "b"], ["u", "t"]],
        ordered={"t": "range", "u": "prefix"},
    ),
    "three": ln.Marginals(
        {"t": 2, "u": 3, "v": 3, "a": 2},
        way=3,
        ordered={"t": "prefix", "u": "prefix", "v": "range"},
    ),
}


def drawn(products, seed):
    rng = np.random.default_rng(seed)
    noise = []
    for n in products.blocks.sizes:
        own = np.tril(rng.normal(size=(n - 1, n - 1)))
        own[np.diag_indices(n - 1)] = rng.uniform(0.5, 2, n - 1)
        noise.append(AxisNoise(mean=rng.dirichlet(np.ones(n))[:-1], triangle=own))
    variances = np.where(products.silent, 0.0, rng.uniform(0.5, 2, products.silent.size))
    return tuple(noise), variances


def covariance(question, products, noise, variances):
    """Return the noise of counts over all sets of marginals, and what each record adds to them.

    By the definition: independent residuals of every set, mixed with u on the attributes outside.
    """
    sizes = [a.size for a in question.attributes]
    axes = products.blocks.axes
    mean, root = {}, {}
    for i, n in enumerate(sizes):
        if i in axes:
            own = noise[axes.index(i)]
            mean[i] = np.append(own.mean, 1 - own.mean.sum())
            root[i] = np.vstack([own.triangle, -own.triangle.sum(axis=0)])
        else:
            mean[i], root[i] = np.full(n, 1 / n), np.eye(n) - 1 / n
    kinds = products.complete
    inside = {
        A for s in question.sets() for k in range(len(s) + 1) for A in itertools.combinations(s, k)
    }
    columns = {A: int(np.prod([root[i].shape[1] for i in A])) for A in sorted(inside)}
    rows = []
    for chosen in question.sets():
        line = []
        for A, width in columns.items():
            if not set(A) <= set(chosen):
                line.append(np.zeros((int(np.prod([sizes[i] for i in chosen])), width)))
                continue
            part = np.full((1, 1), math.sqrt(variances[kinds.place[kinds.orbit(A)]]))
            for i in chosen:
                part = np.kron(part, root[i] if i in A else mean[i][:, None])
            line.append(part)
        rows.append(np.hstack(line))
    factor = np.vstack(rows)
    records = list(itertools.product(*map(range, sizes)))
    changes = []
    for record in records:
        own = []
        for chosen in question.sets():
            table = np.zeros([sizes[i] for i in chosen])
            table[tuple(record[i] for i in chosen)] = 1
            own.append(table.reshape(-1))
        changes.append(np.concatenate(own))
    return factor @ factor.T, np.array(changes)


def told(M, changes):
    """Return s'M⁺s for each change, having seen that it lies in the range of M."""
    M = (M + M.T) / 2
    values, vectors = np.linalg.eigh(M)
    kept = values > 1e-9 * values[-1]
    off = changes @ vectors[:, ~kept]
    assert np.max(np.abs(off), initial=0) < 1e-6
    return np.sum((changes @ vectors[:, kept]) ** 2 / values[kept], axis=1)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_record_is_told_with_more_than_what_is_said(name, seed):
    question = QUESTIONS[name]
    products = product_blocks(question, public=False)
    noise, variances = drawn(products, seed)
    exact = float(np.max(told(*covariance(question, products, noise, variances))))
    found = products.cost_up(noise, variances)
    # the record that is farthest along every axis is one of them: nothing is lost
    assert exact * (1 - 1e-8) <= found <= exact * (1 + 1e-8)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_change_is_told_with_more_than_what_is_said(name, seed):
    question = QUESTIONS[name]
    products = product_blocks(question, public=True)
    noise, variances = drawn(products, seed)
    M, records = covariance(question, products, noise, variances)
    pairs = list(itertools.combinations(range(len(records)), 2))
    changes = np.array([records[x] - records[y] for x, y in pairs])
    exact = float(np.max(told(M, changes)))
    found = products.cost_up(noise, variances)
    assert exact * (1 - 1e-8) <= found <= exact * 2.5


@pytest.mark.parametrize("name", QUESTIONS)
def test_unordered_noise_costs_what_it_does_there(name):
    """With u = 1/n and N = I − 11'/n the bound is exact under `substitute` too."""
    question = QUESTIONS[name]
    products = product_blocks(question, public=True)
    _, variances = drawn(products, 5)
    noise = []
    for n in products.blocks.sizes:
        own = np.linalg.cholesky(np.eye(n - 1) - 1 / n)
        noise.append(AxisNoise(mean=np.full(n - 1, 1 / n), triangle=own))
    M, records = covariance(question, products, noise, variances)
    pairs = list(itertools.combinations(range(len(records)), 2))
    exact = float(np.max(told(M, np.array([records[x] - records[y] for x, y in pairs]))))
    found = products.cost_up(noise, variances)
    assert exact * (1 - 1e-8) <= found <= exact * (1 + 1e-8)


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_have_the_variances_of_their_sums(name):
    question = QUESTIONS[name]
    products = product_blocks(question, public=False)
    noise, variances = drawn(products, 3)
    M, _ = covariance(question, products, noise, variances)
    found = products.answer_variances(noise, variances)
    orbits, blocks, start = products.complete, products.blocks, 0
    for chosen in question.sets():
        attributes = [question.attributes[i] for i in chosen]
        count = int(np.prod([a.size for a in attributes]))
        own = M[start : start + count, start : start + count]
        start += count
        rows = np.ones((1, 1))
        for a in attributes:
            rows = np.kron(rows, answer_rows(a.ordered, a.size))
        expected = np.einsum("ri,ij,rj->r", rows, own, rows)
        # axes in the order of the ordered attributes; all cells of the others are alike
        shape = [len(answer_rows(a.ordered, a.size)) for a in attributes]
        plain = [k for k, i in enumerate(chosen) if i not in blocks.axes]
        expected = expected.reshape(shape)
        assert np.allclose(np.ptp(expected, axis=tuple(plain)) if plain else 0, 0, atol=1e-9)
        (row,) = [k for k, o in enumerate(orbits.asked) if o == orbits.orbit(chosen)]
        one = expected[tuple(0 if k in plain else slice(None) for k in range(len(shape)))]
        assert np.allclose(found[row], one.reshape(-1), rtol=1e-9)


def test_noise_that_leaves_a_direction_free_costs_everything():
    products = product_blocks(QUESTIONS["two"], public=True)
    noise, variances = drawn(products, 1)
    for bad in (0.0, math.nan):
        triangle = noise[0].triangle.copy()
        triangle[1, 1] = bad
        broken = (AxisNoise(mean=noise[0].mean, triangle=triangle), noise[1])
        assert products.cost_up(broken, variances) == math.inf
    silent = variances.copy()
    silent[-1] = 0.0
    assert products.cost_up(noise, silent) == math.inf


def test_an_inverse_that_is_off_is_made_up_for(monkeypatch):
    from lownoise.sensitivity.factors import dense

    true = dense._inverse
    for public in (False, True):
        products = product_blocks(QUESTIONS["two"], public=public)
        noise, variances = drawn(products, 2)
        exact = products.cost_up(noise, variances)
        again = tuple(AxisNoise(mean=n.mean, triangle=n.triangle) for n in noise)
        monkeypatch.setattr(dense, "_inverse", lambda matrix: true(matrix) * (1 - 1e-5))
        found = products.cost_up(again, variances)
        monkeypatch.setattr(dense, "_inverse", true)
        assert exact * (1 - 1e-9) <= found <= exact * 1.01
