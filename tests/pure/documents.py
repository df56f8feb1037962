# SPDX-License-Identifier: Apache-2.0
"""A plan of each pure mechanism, and a small table that it fits."""

import numpy as np
import pandas as pd

import lownoise as ln
from lownoise.noise.abstract import NOISES
from lownoise.release.comparison import names

OURS = [name for name in NOISES.names if NOISES[name].of.__module__.startswith("lownoise.")]
NAMES = tuple(name for name in names() if name in OURS or name not in NOISES)
SIZE = 30
BUDGET = ln.pure_dp(0.7)
MATRIX = np.array([[1.0, 1, 0, 0], [0, 1, -0.5, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
ASKED = {
    "laplace": ("mean", "substitute"),
    "k_norm": ("mean", "add_remove"),
    "recursive": ("mean", "substitute"),
    "laplace ": ("queries", "add_remove"),
    "k_norm ": ("queries", "substitute"),
    "recursive ": ("queries", "add_remove"),
    "ellipsoid": ("mean", "add_remove"),
    "ellipsoid ": ("queries", "substitute"),
    "laplace_histogram": ("queries", "substitute"),
    "geometric": ("queries", "add_remove"),
    "geometric_histogram": ("queries", "substitute"),
    "discrete_staircase": ("queries", "add_remove"),
    "randomized_response": ("queries", "substitute"),
    "staircase": ("mean", "add_remove"),
    "staircase ": ("queries", "substitute"),
    "radial": ("mean", "add_remove"),
    "radial ": ("queries", "substitute"),
}
APPROXIMATE = {"radial": ln.approx_dp(0.7, 1e-6)}


def question(kind, relation="substitute"):
    if kind == "mean":
        return ln.Mean(["a", "b"], ln.Box([0, 0], [1, 4]))
    outside = {"x": "p"} if relation == "substitute" else "drop"
    return ln.Queries(MATRIX, {"x": ["p", "q", "r", "s"]}, outside=outside)


def planned(kind="mean", relation="substitute", mechanism=None, budget=BUDGET, **more):
    size = SIZE if relation == "substitute" else None
    return ln.plan(
        question(kind, relation),
        budget=budget,
        relation=relation,
        size=size,
        mechanism=mechanism,
        **more,
    )


def plan_of(name):
    kind, relation = ASKED[name]
    budget = APPROXIMATE.get(name.strip(), BUDGET)
    return planned(kind, relation, name.strip(), budget)


def table():
    rng = np.random.default_rng(1)
    numbers = {"a": rng.uniform(0, 1, SIZE), "b": rng.uniform(0, 4, SIZE)}
    return pd.DataFrame({**numbers, "x": rng.choice(list("pqrs"), SIZE)})


def exact(plan):
    """The answers that noise is added to, computed with numpy alone."""
    rows = table()
    if isinstance(plan.terms.question, ln.Queries):
        return MATRIX @ [(rows["x"] == x).sum() for x in "pqrs"]
    columns = rows[["a", "b"]].to_numpy()
    if plan.terms.size is not None:
        return columns.mean(axis=0)
    return np.append((columns - [0.5, 2]).sum(axis=0), len(rows))
