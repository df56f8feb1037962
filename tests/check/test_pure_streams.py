# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides streams under a pure budget, as `ln.verify` does.

The charge is computed level by level, and the variances of running sums by its own recursion, which
is held here against least squares on the matrix of all sums.
"""

import json
from functools import cache

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import DOMAINS, ONE_HOT, changed
from lownoise.numbers.packing import packed, unpacked
from lownoise_check import FALSE, HOLDS, OPEN

TENTHS = [[0.0], [0.1], [0.3]]
ZEROED = np.vstack([np.zeros(3), ONE_HOT])
VALUES = {
    "numbers": None,
    "box": ln.Box([0, -1], [1, 3]),
    "ball": ln.Ball(2, radius=2.0),
    "yes": ln.Points([[0.0], [1.0]]),
    "steps": ln.Points([[0.0, 0.0], [2.0, 3.0], [-4.0, 9.0]]),
    "tenths": ln.Points(TENTHS),
    "one of three": ln.Points(ZEROED),
    "flat": DOMAINS["flat list"],
}
PLANS = [
    (7, "numbers", "add_remove", "laplace", "auto", "mean"),
    (21, "numbers", "substitute", "laplace", "auto", "max"),
    (33, "numbers", "add_remove", "laplace", "binary_tree", "mean"),
    (33, "box", "substitute", "laplace", "honaker", "max"),
    (9, "steps", "add_remove", "laplace", "input", "mean"),
    (20, "one of three", "substitute", "laplace", "square_root", "max"),
    (12, "box", "add_remove", "laplace", "square_root", "mean"),
    (18, "box", "add_remove", "k_norm", "auto", "mean"),
    (17, "ball", "substitute", "k_norm", "auto", "max"),
    (5, "steps", "substitute", "k_norm", "binary_tree", "mean"),
    (16, "flat", "substitute", "k_norm", "auto", "mean"),
    (300, "yes", "add_remove", "geometric", "auto", "mean"),
    (20, "steps", "substitute", "geometric", "honaker", "max"),
    (20, "tenths", "substitute", "geometric", "binary_tree", "mean"),
    (20, "one of three", "add_remove", "geometric", "auto", "mean"),
]


@cache
def planned(rounds, values, relation, mechanism, strategy, error):
    """Return the text of a stream's plan."""
    asked = {"relation": relation, "strategy": strategy, "error": error, "mechanism": mechanism}
    budget = ln.pure_dp(3.0 if mechanism == "geometric" else 0.5)
    return ln.stream(ln.Prefix(rounds), domain=VALUES[values], budget=budget, **asked).to_json()


def times(by):
    """Return what makes numbers of any depth, or a packed row of them, so many times as large."""

    def scaled(value):
        if isinstance(value, dict):
            return packed(unpacked(value, "it", len(value["shape"])) * by)
        return [scaled(own) for own in value] if isinstance(value, list) else value * by

    return scaled


@pytest.mark.parametrize("asked", PLANS, ids=str)
def test_pure_streams_hold_and_a_thousandth_less_does_not(asked):
    text = planned(*asked)
    status, lines = checker.decide(text)
    assert status == HOLDS, lines
    assert ln.verify(text)
    document = json.loads(text)
    noise = next(name for name in ("scales", "scale") if name in document["terms"]["noise"])
    less, more = times(0.999), times(1.001)
    edits = [
        (("terms", "noise", noise), less),
        (("terms", "noise", noise), more),  # errors are larger than is stated
        (("derived", "cost", "epsilon"), less),
        (("derived", "cost_of_noise", "rho"), less),
        (("derived", "cost_of_noise", "mu"), less),
        (("terms", "budget", "epsilon"), less),
        (("derived", "standard_deviation"), less),
    ]
    coarse = checker.decide(changed(text, ("terms", "noise", "step"), times(2.0**36)))
    assert coarse[0] in (FALSE, *[OPEN] * (asked[1] == "ball")), coarse
    if document["terms"]["pair"]["kind"] == "tree":
        edits += [(("terms", "pair", "widths"), less), (("terms", "pair", "widths"), more)]
        edits += [(("terms", "pair", "fitted"), lambda own: not own)] * (
            len(document["terms"]["pair"]["widths"]) > 1
        )
    for path, change in edits:
        assert checker.decide(changed(text, path, change))[0] == FALSE, path
    for by in (1.2, 2.0):  # 1.41 is of all mechanisms, where changes come again and again
        above = changed(text, ("derived", "lower_bound"), times(by))
        assert checker.decide(above)[0] != HOLDS


def pair(text, **parts):
    """Return a plan with other sums."""
    return changed(text, ("terms", "pair"), lambda own: own | parts)


def test_a_tree_of_other_sums_is_not_the_one_that_is_charged_for():
    text = planned(300, "yes", "add_remove", "geometric", "auto", "mean")
    own = json.loads(text)["terms"]["pair"]
    arities, widths = own["arities"], own["widths"]
    assert len(arities) > 0
    for other in (
        pair(text, arities=arities[:-1], widths=widths[:-1]),  # a level removed, and its charge
        pair(text, arities=arities[1:], widths=widths[1:]),
        pair(text, arities=[own + 1 for own in arities]),
        pair(text, arities=arities[:-1]),  # not as many levels as widths
        pair(text, widths=[*widths, widths[-1]]),
        pair(text, widths=widths[::-1]) if len({*widths}) > 1 else pair(text, widths=[]),
        pair(text, arities=[*arities, 2] * 9, widths=[*widths, 1.0] * 9),  # above the top
        pair(text, arities=[1, *arities], widths=[1.0, *widths]),
        pair(text, fitted=1),
        changed(text, ("terms", "question", "workload", "rounds"), lambda n: 2 * n),
    ):
        assert checker.decide(other)[0] == FALSE


def test_whole_noise_is_of_whole_steps_alone():
    """Not of parts of rounds, and charged by what values are apart by and not by their grid."""
    text = planned(20, "steps", "substitute", "geometric", "honaker", "max")
    column = packed(np.array([1.0, *[0.5] * 19]))
    parts = changed(text, ("terms", "pair"), lambda _: {"kind": "toeplitz", "column": column})
    status, lines = checker.decide(parts)
    assert (status, "parts of rounds" in lines[-1]) == (FALSE, True), lines
    nearer = changed(  # 1 apart where it was 2: the noise is half as wide in steps of the grid
        text, ("terms", "question", "points"), lambda own: [*own, [1.0, 3.0]]
    )
    assert checker.decide(nearer)[0] == FALSE
    ranged = changed(text, ("terms", "question"), lambda own: {
        name: value for name, value in own.items() if name != "points"
    } | {"lower": [-4.0, 0.0], "upper": [2.0, 9.0]})  # fmt: skip
    assert checker.decide(ranged)[0] in (FALSE, OPEN)


def test_each_later_sum_of_a_square_root_is_charged_its_part_and_a_step():
    text = planned(12, "box", "add_remove", "laplace", "square_root", "mean")
    column = json.loads(text)["terms"]["pair"]["column"]
    own = unpacked(column, "it", 1)
    for other in (own * (1 - 2.0**-20), np.append(own[:-1], 2.0), own + 2.0**-21, own * 0):
        forged = pair(text, column=packed(np.asarray(other)))
        assert checker.decide(forged)[0] == FALSE
    steps = 11 * sum(1 / b for b in json.loads(text)["terms"]["noise"]["scales"])
    less = changed(text, ("derived", "cost", "epsilon"), lambda epsilon: epsilon - steps / 2)
    # the steps that rounding moves are a part of the charge
    assert checker.decide(less)[0] == FALSE
    longer = np.append(own[:-1], own[-1] + 2.0**-20)
    assert checker.decide(pair(text, column=packed(longer)))[0] == FALSE


@pytest.mark.parametrize("name", ["staircase", "discrete_staircase", "ellipsoid", "radial"])
def test_noise_that_it_does_not_know_in_streams_is_left_open(name):
    text = planned(7, "numbers", "add_remove", "laplace", "auto", "mean")
    status, lines = checker.decide(changed(text, ("terms", "mechanism"), lambda _: name))
    assert (status, f"mechanism='{name}'" in lines[-1]) == (OPEN, True), lines


def test_laplace_noise_on_a_ball_is_left_open():
    text = planned(7, "ball", "add_remove", "laplace", "auto", "mean")
    assert checker.decide(text)[0] == OPEN


def test_people_in_several_rounds_are_left_open():
    budget = ln.pure_dp(1.0)
    text = ln.stream(ln.Prefix(9), budget=budget, participations=2).to_json()
    assert checker.decide(text)[0] == OPEN


def sums(rounds, arities):
    """Return which rounds each sum of a tree holds, level by level."""
    found, size = [], 1
    for arity in (*arities, 1):
        at = np.arange(rounds) // size
        found.append((np.arange(at[-1] + 1)[:, None] == at).astype(float))
        size *= arity
    return found


@pytest.mark.parametrize(
    ("rounds", "arities"), [(1, []), (7, []), (8, [2, 2, 2]), (11, [3, 2]), (13, [4, 3]), (9, [8])]
)
def test_running_sums_stray_as_least_squares_on_all_sums_has_it(rounds, arities):
    rng = np.random.default_rng(rounds)
    variances = rng.uniform(0.2, 5.0, len(arities) + 1)
    levels = sums(rounds, arities)
    matrix = np.vstack(levels)
    noise = np.concatenate([np.full(len(own), v) for own, v in zip(levels, variances, strict=True)])
    best = np.linalg.inv(matrix.T @ (matrix / noise[:, None]))
    running = np.tri(rounds)
    exact = np.diag(running @ best @ running.T)
    found = checker.of_tree(
        rounds, arities, [checker.F(v) for v in variances.tolist()], fitted=True
    )
    np.testing.assert_allclose([float(x) for x in found], exact, rtol=1e-12)


@pytest.mark.parametrize(
    ("rounds", "arities"), [(7, []), (8, [2, 2, 2]), (11, [3, 2]), (26, [3, 3])]
)
def test_running_sums_of_the_fewest_sums_stray_as_these_do(rounds, arities):
    variances = [1.0, 3.0, 7.0, 20.0][: len(arities) + 1]
    exact = []
    for t in range(1, rounds + 1):
        left, total, sizes = t, 0.0, np.cumprod([1, *arities])
        for size, v in reversed(list(zip(sizes.tolist(), variances, strict=True))):
            total += v * (left // size)
            left %= size
        exact.append(total)
    found = checker.of_tree(rounds, arities, [checker.F(v) for v in variances], fitted=False)
    np.testing.assert_allclose([float(x) for x in found], exact, rtol=1e-12)


def test_totals_of_decimals_with_whole_noise_are_not_called_false():
    """Their step is what decimals are apart by, of which floats are near multiples."""
    question = ln.Sum(["a", "b"], ln.Points([[0.0, 0.0], [1.0, 0.0], [0.0, 0.1]]))
    asked = {"budget": ln.pure_dp(4.0), "relation": "add_remove", "mechanism": "geometric"}
    assert checker.decide(ln.plan(question, **asked).to_json())[0] == HOLDS
