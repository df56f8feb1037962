# SPDX-License-Identifier: Apache-2.0
"""What noise on blocks of ordered attributes reveals, against covariances that are written out."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.sensitivity.factors import dense
from lownoise.sensitivity.residuals import ChangeCosts, ordered, ordered_blocks

QUESTIONS = {
    "one": ln.Marginals({"a": 2, "t": 4, "b": 2}, way=2, ordered={"t": "prefix"}),
    "no pairs": ln.Marginals(
        {"t": 3, "u": 3, "a": 2}, way=1, ordered={"t": "prefix", "u": "range"}
    ),
    "two": ln.Marginals(
        {"t": 3, "a": 3, "u": 2, "b": 3},
        sets=[["t", "a"], ["u", "a", "b"], ["u", "t"]],
        ordered={"t": "range", "u": "prefix"},
    ),
    "alone": ln.Marginals({"t": 6}, sets=[["t"]], ordered={"t": "range"}),
}


def triangles(blocks, rng):
    found = []
    for block in blocks.blocks:
        own = np.tril(rng.normal(size=(block.length, block.length)))
        own[np.diag_indices(block.length)] = rng.uniform(0.5, 2, block.length)
        found.append(own)
    return found


def precision(question, blocks, factors):
    """Return sᵀM⁻¹s' for all pairs of records, looking at every set of attributes."""
    sizes = [a.size for a in question.attributes]
    records = list(itertools.product(*map(range, sizes)))
    at = {b.place: (b, f) for b, f in zip(blocks.blocks, factors, strict=True)}
    plain = [i for i in range(len(sizes)) if i not in blocks.axes]
    inside = set()
    for s in question.sets():
        own = [i for i in s if i in plain]
        for k in range(len(own) + 1):
            inside.update(itertools.combinations(own, k))
    joint = np.array(
        [np.ravel_multi_index([r[i] for i in blocks.axes], blocks.sizes) for r in records]
    )
    total = np.zeros((len(records), len(records)))
    for A in inside:
        known = at.get(blocks.plain.place[blocks.plain.orbit(A)])
        if known is None:
            continue
        block, factor = known
        S = block.records[joint]
        q = S @ np.linalg.inv(factor @ factor.T) @ S.T
        for i in A:
            x = np.array([r[i] for r in records])
            q = q * ((x[:, None] == x) - 1 / sizes[i])
        total += q
    return total


@pytest.mark.grid(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("public", [False, True])
def test_the_cost_is_the_largest_distance_between_records(name, public, seed):
    question = QUESTIONS[name]
    blocks = ordered_blocks(question, public=public)
    factors = triangles(blocks, np.random.default_rng(seed))
    matrix = precision(question, blocks, factors)
    square = np.diag(matrix)
    expected = np.max(square)
    if public:
        expected = np.max(square[:, None] + square - 2 * matrix)
    found = blocks.cost_up(factors)
    assert expected * (1 - 1e-13) <= found <= expected * (1 + 1e-9)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", QUESTIONS)
def test_looking_at_few_pairs_at_a_time_finds_the_same(name, monkeypatch):
    blocks = ordered_blocks(QUESTIONS[name], public=True)
    made = [triangles(blocks, np.random.default_rng(seed)) for seed in range(25)]
    whole = [blocks.cost_up(factors) for factors in made]
    monkeypatch.setattr(ordered, "_CHUNK", 1)
    found = [blocks.cost_up(factors) for factors in made]
    assert np.allclose(found, whole, rtol=1e-12, atol=0)


def test_the_changes_that_are_told_cost_what_is_said():
    blocks = ordered_blocks(QUESTIONS["one"], public=True)
    rng = np.random.default_rng(6)
    factors = triangles(blocks, rng)
    images = [b.records @ np.linalg.inv(f).T for b, f in zip(blocks.blocks, factors, strict=True)]
    patterns, pairs, most = ChangeCosts(blocks).worst(images)
    agreeing = ChangeCosts(blocks).agreeing(patterns)
    trace = ChangeCosts(blocks).trace
    cost = np.zeros(len(pairs))
    for k, image in enumerate(images):
        x, y = image[pairs[:, 0]], image[pairs[:, 1]]
        cost += trace[k] * (np.sum(x * x, 1) + np.sum(y * y, 1))
        cost -= 2 * agreeing[:, k] * np.sum(x * y, 1)
    assert cost[0] == pytest.approx(most, rel=1e-12)
    assert np.all(np.diff(cost) <= 1e-12 * most)


def test_no_more_changes_are_told_than_there_are_categories_or_a_few(monkeypatch):
    """Where no two records look alike all pairs cost as much: what ends the list is its length."""
    monkeypatch.setattr(ordered, "_EACH", 1000)
    for question in QUESTIONS.values():
        blocks = ordered_blocks(question, public=True)
        K = blocks.categories
        for few in (2, K + 1, 1000):
            monkeypatch.setattr(ordered, "_FEW", few)
            _, pairs, _ = ChangeCosts(blocks).worst([np.eye(K) for _ in blocks.blocks])
            assert len(pairs) <= max(K, few)
            assert len(pairs) >= min(max(K, few), K * (K - 1) // 2)


def test_noise_that_leaves_a_direction_free_costs_everything():
    blocks = ordered_blocks(QUESTIONS["one"], public=False)
    factors = triangles(blocks, np.random.default_rng(1))
    factors[1] = factors[1].copy()
    factors[1][2, 2] = 0.0
    assert blocks.cost_up(factors) == math.inf
    factors[1][2, 2] = math.nan
    assert blocks.cost_up(factors) == math.inf


def test_a_badly_scaled_factor_is_not_underrated():
    """Beside exact rational arithmetic, where floats alone lose digits."""
    from fractions import Fraction

    blocks = ordered_blocks(QUESTIONS["alone"], public=False)
    rng = np.random.default_rng(3)
    (block,) = blocks.blocks
    finite = 0
    for scale in [0.3, 0.1, 0.05, 0.03] * 15:
        own = np.tril(rng.normal(size=(6, 6)))
        own[np.diag_indices(6)] = rng.uniform(scale, 2 * scale, 6)
        exact = Fraction(0)
        for s in block.records:
            z: list[Fraction] = []
            for i in range(6):
                left = Fraction(s[i]) - sum(Fraction(own[i, j]) * z[j] for j in range(i))
                z.append(left / Fraction(own[i, i]))
            exact = max(exact, sum(v * v for v in z))
        found = blocks.cost_up([own])
        if math.isfinite(found):
            finite += 1
            assert Fraction(found) >= exact
    assert finite >= 45


@pytest.mark.parametrize("public", [False, True])
def test_an_inverse_that_is_off_is_made_up_for(public, monkeypatch):
    blocks = ordered_blocks(QUESTIONS["two"], public=public)
    factors = triangles(blocks, np.random.default_rng(2))
    exact = blocks.cost_up(factors)
    true = dense._inverse
    monkeypatch.setattr(dense, "_inverse", lambda matrix: true(matrix) * (1 - 1e-5))
    found = blocks.cost_up(factors)
    assert exact * (1 - 1e-9) <= found <= exact * 1.01
