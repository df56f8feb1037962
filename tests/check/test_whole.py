# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides whole noise of means, totals and queries of listed records.

Which of its laws it is follows from what records change. Mutants, each seen red: ε of a table's
cells taken for 1/b, the share of what cells add up to left out, a cube's γ taken for 1.
"""

import json
import math
from functools import cache
from itertools import product

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import changed
from lownoise_check import FALSE, HOLDS, OPEN, F

CORNERS = [[float(i), float(j)] for i in (0, 1) for j in (0, 1)]
LISTS = {
    "one of three": [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]],
    "yes or no": [[0.0], [1.0]],
    "corners": CORNERS,
    "in halves": [[1.0, 0.5], [1.0, 1.0], [2.0, 0.5], [2.0, 1.0]],
    "independent": [[2.0, 5, 1], [0, 1, 1], [0, 1, 3]],
}
CASES = [
    ("one of three", ln.Mean, "substitute", "discrete_k_norm"),
    ("one of three", ln.Mean, "add_remove", "discrete_k_norm"),
    ("one of three", ln.Mean, "add_remove", "geometric"),
    ("yes or no", ln.Mean, "add_remove", "discrete_k_norm"),
    ("yes or no", ln.Mean, "substitute", "discrete_k_norm"),
    ("corners", ln.Mean, "substitute", "discrete_k_norm"),
    ("corners", ln.Mean, "add_remove", "discrete_k_norm"),
    ("corners", ln.Sum, "substitute", "discrete_k_norm"),
    ("in halves", ln.Mean, "substitute", "discrete_k_norm"),
    ("independent", ln.Sum, "add_remove", "discrete_k_norm"),
    ("independent", ln.Mean, "add_remove", "geometric"),
    ("queries", None, "substitute", "discrete_k_norm"),
    ("queries", None, "add_remove", "geometric"),
]
BELOW = "lower_bound follows"


@cache
def plan(name, kind, relation, mechanism, epsilon=4.0):
    public = relation == "substitute"
    if kind is None:
        outside = {"x": "p"} if public else "drop"
        question = ln.Queries(np.eye(4), {"x": list("pqrs")}, outside=outside)
    else:
        points = LISTS[name]
        question = kind([f"x{i}" for i in range(len(points[0]))], ln.Points(points))
    more = {"relation": relation, "size": 50 if public else None, "mechanism": mechanism}
    return ln.plan(question, budget=ln.pure_dp(epsilon), **more)


def only_bound_is_open(lines):
    return all(line.startswith("holds") or BELOW in line for line in lines[:-1])


def times(by):
    return lambda x: [times(by)(y) for y in x] if isinstance(x, list) else by * x


def forged(text):
    document = json.loads(text)
    noise, derived, less = document["terms"]["noise"], document["derived"], times(1 - 1e-6)
    for name in {"scale", "scales"} & {*noise}:
        yield changed(text, ("terms", "noise", name), less)
    for path in (("terms", "budget"), ("derived", "cost")):
        yield changed(text, (*path, "epsilon"), less)
    for name in ("rho", "mu"):
        yield changed(text, ("derived", "cost_of_noise", name), less)
    for name in ("standard_deviation", "objective", "error"):
        yield changed(text, ("derived", name), less)
    for i in range(len(derived["standard_deviation"])):
        own = [x * (1 + 1e-6 * (i == j)) for j, x in enumerate(derived["standard_deviation"])]
        yield changed(text, ("derived", "standard_deviation"), lambda _, own=own: own)
    relations = {"substitute": "add_remove", "add_remove": "substitute"}
    yield changed(text, ("terms", "relation"), lambda own: relations[own])


@pytest.mark.parametrize("case", CASES)
def test_whole_noise_holds_and_a_part_in_a_million_less_does_not(case):
    text = plan(*case).to_json()
    status, lines = checker.decide(text)
    assert status == HOLDS or (status == OPEN and only_bound_is_open(lines)), lines
    assert status == HOLDS or case[2] == "substitute"
    for edited in forged(text):
        status, lines = checker.decide(edited)
        assert status == FALSE, lines
        assert "\n" not in lines[-1]


def laws(found, epsilon):
    """Return the points of each law out to a chance of nothing, and their weights, by its name."""
    kind, r = type(found).__name__, found.dimension
    far = range(-10, 11)
    if kind == "DiscreteKNormNoise":  # cells, given that they add up to nothing
        z = np.array(list(product(far, repeat=r)))
        return z, np.exp(-(np.abs(z).sum(axis=1) + np.abs(z.sum(axis=1))) * epsilon / 2)
    if kind == "DiscreteCubeNoise":
        z = np.array(list(product(far, repeat=r)))
        return z, np.exp(-epsilon * np.abs(z).max(axis=1))
    w = np.array(list(product(far, repeat=r)))
    return w @ found.corners, np.exp(-epsilon * np.abs(w).sum(axis=1))


FEW = [own for own in CASES if own[3] == "discrete_k_norm" and own[0] != "queries"]


@pytest.mark.parametrize("case", FEW)
def test_variances_and_losses_are_those_of_a_sum_over_the_whole_law(case, monkeypatch):
    """At every point of the lattice, with the law as it is drawn: second moments, ε, distances."""
    seen, own = [], checker.Values.lattice
    monkeypatch.setattr(
        checker.Values,
        "lattice",
        lambda self, file, *more: (seen.append((self, file)), own(self, file, *more)),
    )
    planned = plan(*case)
    checker.decide(planned.to_json())
    ((values, file),) = seen
    noise, changes = planned.terms.mechanism.noise, planned.terms.mechanism.totals.changes
    points, weights = laws(noise, float(values.moved))
    weights = weights / weights.sum()
    wide, vectors, share = values.whole
    vectors = np.array(vectors, dtype=float)
    r = noise.dimension
    form = float(wide) * (vectors.T @ vectors - float(share) * np.ones((r, r)))
    exact = (points * weights[:, None]).T @ points
    assert form == pytest.approx(exact, rel=1e-9, abs=1e-12)
    chance = {tuple(z): w for z, w in zip(points.tolist(), weights, strict=True)}
    listed = changes.points
    moves = listed if case[2] == "add_remove" else [a - b for a in listed for b in listed]
    ratio, apart = 0.0, 0.0
    for s in moves:
        own = [(w, chance.get(tuple((np.array(z) - s).tolist()))) for z, w in chance.items()]
        both = [(a, b) for a, b in own if b is not None and min(a, b) > 1e-25]
        ratio = max(ratio, *(math.log(a / b) for a, b in both))
        apart = max(apart, sum(max(a - b, 0) for a, b in both))
    assert ratio == pytest.approx(float(values.moved), rel=1e-9)
    assert apart <= float(file.apart) * (1 + 1e-9)
    if file.law == "staircase":
        assert apart == pytest.approx(float(file.apart), rel=1e-9)


@pytest.mark.parametrize(
    "points",
    [
        [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0]],  # a number that moves by two
        [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]],  # one twice
        [[0.0, 0.0], [0.5, 0.0], [0.0, 1.0], [1.0, 1.0]],  # half a step
    ],
)
def test_whole_noise_of_other_lists_is_not_taken_for_what_it_is_not(points):
    text = plan("corners", ln.Mean, "substitute", "discrete_k_norm").to_json()
    edited = changed(text, ("terms", "question", "points"), lambda _: points)
    assert checker.decide(edited)[0] in (FALSE, OPEN)


def test_a_cube_has_the_law_of_rounded_stairs():
    """Σ (2k + 1)^d·q^k in closed form: at d = 1 it is (1 + q)/(1 − q)²."""
    q = math.exp(-2.0)
    found = [float(checker.shells(F(1, 2), 1, F(2), up)) for up in (0, 1)]
    assert found == pytest.approx([(1 + q) / (1 - q) ** 2 / 2] * 2, rel=1e-12)
