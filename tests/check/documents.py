# SPDX-License-Identifier: Apache-2.0
"""Plans of each kind that the checker for strangers decides: small, and of both relations."""

import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import lownoise as ln
from edits import put

LIST = [
    [0.0, 0.0, 0.0],
    [7.0, 3.0, 0.1],
    [-4.0, -4.0, -9.0],
    [-8.0, -9.0, -6.0],
    [6.0, 3.0, 8.0],
    [0.0, 2.0, 9.0],
]
TURNED = [[2.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.1, 3.0]]
ONE_HOT = np.eye(3)
DOMAINS = {
    "box": ln.Box([0, -1, 2], [1, 4, 12]),
    "points": ln.Points(LIST),
    "flat list": ln.Points(ONE_HOT),
    "ball": ln.Ball(3, radius=2.0, center=[1.0, 0.0, 0.0]),
    "ellipsoid": ln.Ellipsoid(TURNED, center=[1.0, 2.0, 3.0]),
    "zonotope": ln.Zonotope([*TURNED, [1.0, 1.0, -1.0]], center=[1.0, 2.0, 3.0]),
}
BUDGETS = {"zcdp": ln.zcdp(0.5), "gdp": ln.gaussian_dp(0.3), "approx": ln.approx_dp(1.0, 1e-6)}
MEANS = [
    (domain, relation, budget, order)
    for domain in DOMAINS
    for relation, budget, order in (
        ("substitute", "zcdp", 2.0),
        ("add_remove", "approx", 2.0),
        ("substitute", "gdp", np.inf),
        ("add_remove", "zcdp", np.inf),
    )
]


@cache
def mean(domain, relation, budget, order):
    """Return the text of a plan of means."""
    question = ln.Mean(["a", "b", "c"], DOMAINS[domain])
    size = 50 if relation == "substitute" else None
    asked = {"budget": BUDGETS[budget], "relation": relation, "size": size, "order": order}
    return ln.plan(question, **asked, mechanism="gaussian").to_json()


def changed(text, path, change):
    """Return a document with another value at a path, its digest as it was."""
    return json.dumps(put(json.loads(text), path, change))


TABLES = {
    "way": {"sizes": {f"x{i}": 5 for i in range(30)}, "way": 2},
    "sets": {
        "sizes": {"a": 2, "b": 3, "c": ["u", "v", "w"], "d": 2, "e": 1},
        "sets": [["a", "b"], ["b", "c"], ["d", "e"], ["a", "d"], []],
        "weights": [1.0, 2.0, 1.0, 3.0, 1.0],
    },
}
MARGINALS = [
    ("way", "add_remove", "zcdp", 2.0),
    ("way", "substitute", "gdp", 2.0),
    ("sets", "add_remove", "approx", np.inf),
    ("sets", "substitute", "zcdp", np.inf),
]


@cache
def marginals(table, relation, budget, order):
    """Return the text of a plan of marginals."""
    question = ln.Marginals(**TABLES[table], outside="extra")
    size = 50 if relation == "substitute" else None
    asked = {"budget": BUDGETS[budget], "relation": relation, "size": size, "order": order}
    plan = ln.plan(question, **asked, mechanism="gaussian")
    with tempfile.TemporaryDirectory() as folder:
        plan.save(Path(folder) / "plan.json")
        return (Path(folder) / "plan.json").read_text(encoding="utf-8")


STREAMS = [
    (12, "optimal", "mean", None, "add_remove"),
    (12, "optimal", "max", "box", "substitute"),
    (9, "square_root", "mean", "points", "add_remove"),
    (9, "toeplitz", "max", "flat list", "substitute"),
    (700, "square_root", "max", None, "add_remove"),
    (700, "toeplitz", "mean", "ellipsoid", "substitute"),
    (12, "optimal", "mean", "ball", "add_remove"),
    (12, "toeplitz", "mean", "ball", "substitute"),
]


@cache
def stream(rounds, strategy, error, domain, relation):
    """Return the text of a stream's plan."""
    values = None if domain is None else DOMAINS[domain]
    asked = {"domain": values, "relation": relation, "strategy": strategy, "error": error}
    return ln.stream(ln.Prefix(rounds), budget=ln.zcdp(0.5), **asked).to_json()


UNDER = {"budget": ln.pure_dp(0.7)}


def _small(question, relation="substitute", order=2.0, size=9, budget=BUDGETS["zcdp"], **named):
    asked = {"relation": relation, "size": size if relation == "substitute" else None}
    plan = ln.plan(question, budget=budget, order=order, **asked, **named)
    with tempfile.TemporaryDirectory() as folder:
        plan.save(Path(folder) / "plan.json")
        return (Path(folder) / "plan.json").read_text(encoding="utf-8")


TRIANGLE = ln.Points([[0.0, 0.0], [1.0, 4.0], [3.0, 1.0]])
PAIR, SKEW = ["a", "b"], [[2.0, 0.3], [0.1, 1.0]]
FILES = {
    "box": lambda: _small(ln.Mean(PAIR, ln.Box([0, 0], [1, 4]))),
    "sums over a box": lambda: _small(ln.Mean(["a"], ln.Box([-2], [2])), "add_remove", np.inf),
    "points": lambda: _small(ln.Mean(PAIR, TRIANGLE)),
    "sums of points": lambda: _small(ln.Mean(PAIR, TRIANGLE), "add_remove", np.inf),
    "flat list": lambda: _small(ln.Mean(["a", "b", "c"], ln.Points(np.eye(3)))),
    "ball": lambda: _small(ln.Mean(PAIR, ln.Ball(2, radius=2.0))),
    "sums over a ball": lambda: _small(ln.Mean(PAIR, ln.Ball(2)), "add_remove"),
    "ellipsoid": lambda: _small(
        ln.Mean(PAIR, ln.Ellipsoid([[2.0, 0.3], [0.1, 1.0]])), order=np.inf
    ),
    "marginals": lambda: _small(
        ln.Marginals({"a": 2, "b": 3, "c": 2}, sets=[["a", "b"], ["c"]]), "add_remove"
    ),
    "marginals of a public size": lambda: _small(
        ln.Marginals({"a": 2, "b": 3, "c": 3}, way=2, outside="extra"), order=np.inf
    ),
    "moments": lambda: _small(ln.Moments(["a"], ln.Box([0], [4])), weights="range"),
    "moments and their count": lambda: _small(
        ln.Moments(["a"], ln.Box([-1], [1])), "add_remove", np.inf
    ),
    "moments of a ball": lambda: _small(ln.Moments(PAIR, ln.Ball(2, radius=2.0)), "add_remove"),
    "totals": lambda: _small(ln.Sum(PAIR, ln.Box([0, -1], [1, 4])), "add_remove"),
    "means by groups": lambda: _small(
        ln.Mean(["a"], ln.Box([0], [4]), by={"g": 2, "h": ["x", "y", "z"]}, way=1), "add_remove"
    ),
    "totals by groups": lambda: _small(
        ln.Sum(["a"], ln.Box([0], [4]), by={"g": 2, "h": 2}, sets=[["g", "h"], ["h"]]),
        "add_remove",
        np.inf,
    ),
    "queries of a public size": lambda: _small(
        ln.Queries([[0, 1, 1], [1, 3, 3], [0, 3, 1]], {"a": 2}, outside="extra"), order=np.inf
    ),
    "distribution": lambda: _small(
        ln.Distribution("a", [0, 1, 5, 9], by={"b": ["x", "y"]}), "add_remove"
    ),
    "ranges of a public size": lambda: _small(
        ln.Marginals({"a": 3, "b": 2}, way=2, ordered={"a": "range"}, outside={"a": 0, "b": 1}),
        order=np.inf,
    ),
    "counts under ε": lambda: _small(
        ln.Marginals({"a": 2, "b": 3}, way=2), "add_remove", **UNDER, mechanism="geometric"
    ),
    "means under ε": lambda: _small(
        ln.Mean(PAIR, ln.Box([0, -1], [1, 3])), "add_remove", **UNDER, mechanism="k_norm"
    ),
    "means under ε and δ": lambda: _small(
        ln.Mean(PAIR, ln.Box([0, -1], [1, 3])),
        budget=ln.approx_dp(1.0, 1e-6),
        mechanism="k_norm",
        weights="range",
    ),
    "whole noise under ε": lambda: _small(
        ln.Mean(PAIR, ln.Points([[0, 0], [0, 1], [1, 0], [1, 1]])),
        budget=ln.pure_dp(4.0),
        mechanism="discrete_k_norm",
    ),
    "totals under ε": lambda: _small(
        ln.Sum(PAIR, ln.Box([-1, 0], [1, 3])), "add_remove", **UNDER, mechanism="laplace"
    ),
    "stream": lambda: stream(4, "optimal", "mean", None, "add_remove"),
    "Toeplitz stream": lambda: stream(5, "toeplitz", "max", None, "add_remove"),
    "stream under ε": lambda: ln.stream(
        ln.Prefix(5), budget=ln.pure_dp(2.0), strategy="honaker", mechanism="laplace"
    ).to_json(),
    "square root under ε": lambda: ln.stream(
        ln.Prefix(3), budget=ln.pure_dp(2.0), strategy="square_root", error="max"
    ).to_json(),
    "whole stream under ε": lambda: ln.stream(
        ln.Prefix(5),
        domain=ln.Points([[0.0], [2.0], [6.0]]),
        budget=ln.pure_dp(2.0),
        relation="substitute",
        strategy="honaker",
        mechanism="geometric",
    ).to_json(),
}
