# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides noise of a norm: K-norm, of ellipsoids, level by level, radial.

Mutants, each seen red: a level's share of ε left out, the ellipsoid's length taken for 1, shells
that hold next to nothing compared with those beyond (δ ten digits too small), a cap with the
dimension of its rim, a tile's center left out.
"""

import json
import math
from functools import cache
from itertools import islice, pairwise, product

import numpy as np
import pytest
from mpmath import besseli, besselk, mp, mpf, struvel

import lownoise as ln
import lownoise_check as checker
from check.documents import DOMAINS, PAIR, SKEW, TRIANGLE, changed
from check.test_edits import edits
from lownoise.numbers.packing import packed, unpacked
from lownoise.privacy.radial_curve import delta_up
from lownoise.solvers.radial_fit import least_profile
from lownoise_check import FALSE, HOLDS, OPEN, F

MECHANISMS = ("recursive", "radial", "ellipsoid", "k_norm")
MATRIX = [[1.0, 1, 0, 0], [0, 1, -0.5, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
SETS = {
    **DOMAINS,
    "wide box": ln.Box(np.zeros(8), np.arange(1.0, 9.0)),
    "still box": ln.Box([0, 3, 1], [1, 3, 2]),
    "long ball": ln.Ellipsoid(np.diag([9.0, 2.0, 1.0, 5.0])),
    "large ball": ln.Ball(16),
}
ASKED = [
    *[(kind, name) for kind in ("mean", "sum") for name in SETS],
    ("queries", "any"),
]
CASES = [
    (*asked, relation, mechanism)
    for mechanism in MECHANISMS
    for asked in ASKED
    for relation in ("substitute", "add_remove")
    # a ball that comes and goes about another point has no sampler in few dimensions
    if (mechanism, asked[0], relation) != ("k_norm", "sum", "add_remove")
    or asked[1] not in ("ball", "ellipsoid")
    # a second a forgery where balls are many: of radial noise means are enough
    if mechanism != "radial" or asked[0] != "sum" or asked[1] == "ball"
]


@cache
def planned(kind, name, relation, mechanism):
    """Return a plan's file; orders take turns where the noise is the same for both."""
    public = relation == "substitute"
    if kind == "queries":
        question = ln.Queries(MATRIX, {"x": list("pqrs")}, outside={"x": "p"} if public else "drop")
    else:
        of = SETS[name]
        asked = ln.Mean if kind == "mean" else ln.Sum
        question = asked([f"x{i}" for i in range(of.dimension)], of)
    budget = ln.approx_dp(0.7, 1e-6) if mechanism == "radial" else ln.pure_dp(0.7)
    size, order = 50 if public else None, np.inf if name in ("points", "any") else 2.0
    more = {"size": size, "order": order, "mechanism": mechanism}
    return ln.plan(question, budget=budget, relation=relation, **more).to_json()


def scaled(by):
    """Return a change of a number, of each in a list, or of a packed array."""

    def change(value):
        if isinstance(value, dict):
            return packed(by * unpacked(value, "array", len(value["shape"])))
        return [by * x for x in value] if isinstance(value, list) else by * value

    return change


def forged(text):
    """Yield false files: less noise, another body, another relation, more that is stated."""
    document = json.loads(text)
    terms, noise = document["terms"], document["terms"]["noise"]
    here, less = ("terms", "noise"), scaled(0.99)
    for i, _ in enumerate(noise.get("levels", ())):
        yield changed(text, (*here, "levels", i, "scale"), less)
    for name in {"scale", "factor", "radii"} & {*noise}:
        yield changed(text, (*here, name), less)
    if "weights" in noise:
        turned = packed(unpacked(noise["weights"], "weights", 1)[::-1].copy())
        yield changed(text, (*here, "weights"), lambda _: turned)
    if "rows" in noise:
        other = packed(-1.01 * unpacked(noise["rows"], "T", 2)[::-1])
        yield changed(text, (*here, "rows"), lambda _: other)
    for path in (("terms", "budget"), ("derived", "cost")):
        yield changed(text, (*path, "epsilon"), less)
        if terms["mechanism"] == "radial":
            yield changed(text, (*path, "delta"), less)
    for name in ("rho", "mu"):
        yield changed(text, ("derived", "cost_of_noise", name), less)
    # how large a greatest error is beyond the greatest deviation is not decided
    for name in ("error", "objective", "standard_deviation")[terms["order"] != 2.0 :]:
        yield changed(text, ("derived", name), less)
    relations = {"substitute": "add_remove", "add_remove": "substitute"}
    yield changed(text, ("terms", "relation"), lambda own: relations[own])
    yield larger(text, terms["question"])


def larger(text, asked):
    """Return a file whose records are a hundredth larger."""
    way = ("terms", "question", *(("mean",) if asked["kind"] == "sum" else ()))
    question, more = asked.get("mean", asked), scaled(1.01)
    if "image" in question:
        dense = isinstance(question["image"]["factor"][0], list)
        path = (*way, "image", "factor")
        return changed(text, path, lambda own: [*map(more, own)] if dense else more(own))
    if "lower" in question:
        return changed(text, (*way, "upper"), lambda own: [x + 0.01 * max(own) for x in own])
    if "points" in question:
        return changed(text, (*way, "points"), lambda own: [*map(more, own)])
    return changed(text, (*way, "matrix"), more)


@pytest.mark.grid(1, least=12)
@pytest.mark.parametrize("case", CASES)
def test_noise_of_a_norm_holds_and_a_hundredth_less_does_not(case):
    text = planned(*case)
    status, lines = checker.decide(text)
    proved = case not in [("mean", name, "substitute", "radial") for name in ("ball", "large ball")]
    if proved:
        assert status == HOLDS, lines
    else:  # the bound of noise that is added to numbers over a ball is left open, and nothing else
        assert (status, sum(line.startswith("holds") for line in lines)) == (OPEN, 4), lines
    turns = 3 if case[-1] == "radial" else 1  # neighbours in the list try the others
    for edited in islice(forged(text), CASES.index(case) % turns, None, turns):
        status, lines = checker.decide(edited)
        assert status == FALSE, lines
        assert "\n" not in lines[-1]
    more = changed(text, ("derived", "lower_bound"), scaled(4.0))
    assert checker.decide(more)[0] == OPEN


def test_noise_whose_deviations_are_not_decided_is_private_or_not():
    """Of the hull of many points in eight dimensions; a hundredth less noise is too little."""
    points = ln.Points(np.random.default_rng(0).integers(-2, 3, (12, 8)).astype(float))
    question, asked = ln.Mean([f"x{i}" for i in range(8)], points), ln.pure_dp(1.0)
    text = ln.plan(
        question, budget=asked, relation="substitute", size=100, mechanism="k_norm"
    ).to_json()
    hides = "no change by one neighbour reveals more than ε"
    status, lines = checker.decide(text)
    assert status == OPEN
    assert f"holds  {hides}" in lines
    status, lines = checker.decide(changed(text, ("terms", "noise", "scale"), scaled(0.99)))
    assert status == FALSE
    assert f"FALSE  {hides}" in lines


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_edit_of_what_noise_is_or_costs_makes_false_things_hold(mechanism):
    """Every value of the noise, the budget and what is stated: as in `test_edits.py`."""
    question = ln.Mean(["a"], ln.Box([0], [4])) if mechanism == "radial" else None
    question = question or ln.Mean(PAIR, TRIANGLE)
    budget = ln.approx_dp(1.0, 1e-6) if mechanism == "radial" else ln.pure_dp(1.0)
    asked = {"budget": budget, "relation": "substitute", "size": 9, "mechanism": mechanism}
    document = json.loads(ln.plan(question, **asked).to_json())
    del document["terms"]["compared"]
    assert checker.decide(json.dumps(document))[0] == HOLDS
    weaker = {("cost", "epsilon"), ("cost", "delta"), ("cost_of_noise", "rho")}
    weaker |= {("cost_of_noise", "mu"), ("derived", "error")}
    wrong = []
    for path, what, edited in edits(document):
        if path[:2] not in (("terms", "noise"), ("terms", "budget")) and path[0] != "derived":
            continue
        status, lines = checker.decide(json.dumps(edited))
        assert "\n" not in lines[-1]
        harmless = what in ("int", "float") or path[:2] == ("derived", "names")
        harmless |= path[-2:] in weaker and what in ("up", "x2", "down", "half")
        harmless |= path[-1] == "lower_bound" and what in ("down", "half", "zero")
        harmless |= path[:2] == ("terms", "budget") and what in ("up", "x2")
        harmless |= path == ("terms", "noise", "epsilon")  # δ is of the ε that is charged
        harmless |= path[:3] == ("terms", "noise", "reach")  # a hint
        harmless |= path[2:] == ("factor", "shape") and what == "long"  # of one number
        harmless |= path[2:3] == ("step",) and what == "half" and mechanism == "k_norm"  # as finer
        if status == HOLDS and not harmless:
            wrong.append((*path, what))
        if path[-2:] in {("cost", "epsilon"), ("cost", "delta")} and what in ("down", "half"):
            assert status == FALSE, (path, what)
    assert not wrong


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("radii", packed(np.arange(1.0, 1e5))),
        ("radii", packed(np.array([1.0, 1e300]))),
        ("radii", packed(np.array([2.0, 1.0]))),
        ("radii", {"shape": [1 << 50], "float64": ""}),
        ("weights", packed(np.ones(3))),
        ("weights", packed(np.full(400, 1e-320))),
        ("factor", packed(np.zeros(3))),
        ("factor", packed(np.ones((3, 3)))),
        ("scale", 1e300),
        ("scale", 0.0),
        ("kept", [0]),
        ("kept", [2, 1, 0]),
        ("epsilon\nHOLDS", 1.0),
    ],
)
def test_hostile_noise_is_refused_in_one_line(name, value):
    refused(planned("mean", "ball", "substitute", "radial"), name, value)


def refused(text, name, value):  # see to it that another value of its noise is, in one line
    document = json.loads(text)
    document["terms"]["noise"][name] = value
    status, lines = checker.decide(json.dumps(document))
    assert status in (FALSE, OPEN)
    assert "\n" not in lines[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("levels", []),
        ("levels", [{"coordinates": 2, "scale": 1e9}]),
        ("levels", [{"coordinates": 2, "scale": 9.0}, {"coordinates": 2, "scale": 9.0}]),
        ("levels", [{"coordinates": 3, "scale": 9.0}] * 10**5),
        ("rows", packed(np.ones((3, 3)))),
        ("rows", packed(np.eye(200))),
        ("rows", packed(np.full((3, 3), 1e-300))),
    ],
)
def test_hostile_levels_are_refused_in_one_line(name, value):
    refused(planned("mean", "points", "substitute", "recursive"), name, value)


@pytest.mark.parametrize("d", [2, 3, 8, 17, 100])
@pytest.mark.parametrize("epsilon", [F(1, 1000), F(7, 10), F(20)])
def test_what_noise_of_a_ball_shows_is_enclosed(d, epsilon):
    found = checker.of_ball(d, epsilon)
    with mp.workdps(60):
        x, k = mpf(epsilon.numerator) / epsilon.denominator, mpf(d) / 2
        c = x / 2
        rho = x**2 / 2 * (besselk(k, c) * besseli(k, c) + besselk(k - 1, c) * besseli(k + 1, c))
        apart = c * (besselk(k, c) * struvel(k - 1, c) + besselk(k - 1, c) * struvel(k, c))
        for own, exact in zip(found, (rho, apart), strict=True):
            assert exact <= mpf(own.numerator) / own.denominator <= exact * (1 + mpf(10) ** -18)


PROFILES = [(1, 1.0, 1e-6), (2, 4.0, 1e-9), (16, 1.0, 1e-6), (100, 1.0, 1e-9), (200, 4.0, 1e-9)]


@pytest.mark.parametrize(("d", "epsilon", "delta"), PROFILES)
def test_the_curve_of_balls_is_no_less_than_it_is_and_hardly_more(d, epsilon, delta):
    """Against balls of the program's own, which end 2^-80 above what is true, and a little."""
    fit = least_profile(d, epsilon, delta)
    radii, weights = fit.radii.tolist(), fit.weights.tolist()
    own = checker.Balls(d, [radii], [weights])
    for shift, more in product((0.3, 1.0, 1.3), (0.0, 0.5 * epsilon, epsilon)):
        found = float(own.beyond(F(more), F(shift)))
        other = delta_up(d, radii, weights, more, shift)
        assert other * (1 - 1e-15) - 2.0**-79 <= found <= other
    assert own.longest(F(epsilon), F(delta)) == pytest.approx(1, abs=1e-6)
    assert own.second == pytest.approx(F(fit.second_moment) * F(d + 2, d), rel=1e-12)


def test_of_one_number_the_curve_is_a_sum_of_lengths():
    """In fractions: intervals on which both densities are constant."""
    radii, weights = [F(1), F(5, 2), F(3)], [F(1), F(2), F(1, 4)]
    own, total = checker.Balls(1, [[*map(float, radii)]], [[*map(float, weights)]]), sum(weights)

    def density(z):
        return sum((w / (2 * r) for w, r in zip(weights, radii, strict=True) if abs(z) < r), F(0))

    for shift in (F(1, 2), F(1), F(7)):
        ends = sorted({x + y for x in (*radii, *(-r for r in radii)) for y in (0, shift)})
        for epsilon in (0.0, 0.4):
            odds = F(math.exp(epsilon))
            parts = (
                (b - a) * max(density((a + b) / 2) - odds * density((a + b) / 2 - shift), F(0))
                for a, b in pairwise(ends)
            )
            assert own.beyond(F(epsilon), shift) == pytest.approx(sum(parts) / total, abs=1e-14)


def test_second_moments_are_those_of_the_bodies():
    """Sums of segments are hulls of their corners, differences are hulls: both ways, exactly."""
    rng = np.random.default_rng(4)
    for n, many in ((2, 4), (3, 5), (3, 3)):
        segments = rng.integers(-9, 10, (many, n)).tolist()
        signs = np.array([*product((-1, 1), repeat=many - 1)])
        corners = (np.column_stack([np.ones(len(signs), int), signs]) @ segments).tolist()
        assert checker.of_tiles(segments) == checker.of_hull([x for x in corners if any(x)])
    for n in (2, 3, 4):
        points = rng.integers(-9, 10, (n + 1, n)).tolist()
        pairs = [(a, b) for i, a in enumerate(points) for b in points[:i]]
        apart = [[x - y for x, y in zip(*pair, strict=True)] for pair in pairs]
        assert checker.of_simplex(points) == checker.of_hull(apart)
    cross = checker.of_hull(np.eye(3, dtype=int).tolist())
    assert cross == [[F(i == j, 10) for j in range(3)] for i in range(3)]


def test_a_chain_of_chances_binds_what_is_private_with_a_delta():
    """At δ = 0 it is that of geometric noise, which attains it; a δ takes away, and never adds."""
    for epsilon in (F(1, 10), F(1), F(3)):
        q = math.exp(-epsilon)
        exact = 2 * q / (1 - q) ** 2
        assert 0.999 * exact < checker.endless(epsilon, F(0)) <= exact * (1 + 1e-12)
        found = [checker.endless(epsilon, F(1, 10**k)) for k in (2, 6, 9)]
        assert found == sorted(found)
        assert found[-1] <= checker.endless(epsilon, F(0))
        sums = [checker.among(epsilon, 100, F(1), 4, F(1), F(1), F(1, 10**k)) for k in (2, 6, 9)]
        assert sums == sorted(sums)


def test_skew_ellipsoids_that_come_and_go_about_another_point():
    """Where no shares are in a file the checker finds them: the least is known in closed form."""
    of = ln.Ellipsoid(SKEW, center=[3.0, -1.0])
    asked = {"budget": ln.pure_dp(1.0), "relation": "add_remove", "mechanism": "ellipsoid"}
    text = ln.plan(ln.Sum(PAIR, of), **asked).to_json()
    bare = changed(text, ("terms", "noise"), lambda own: {k: own[k] for k in own if k != "reach"})
    assert checker.decide(text)[0] == checker.decide(bare)[0] == HOLDS
