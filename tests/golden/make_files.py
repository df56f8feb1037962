# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.golden.make_files FOLDER`: plans, releases, streams, ledgers and specifications.

Run once by each version whose files are to be read for ever, with nothing but names that all
versions have; `python -m tests.golden.files --write` then says in an index what is read from them.
`python -m tests.golden.make_files FOLDER later` adds those of the versions 2 to 6 of plans and
releases, each by what its number says.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import lownoise as ln

ROWS = 24
AT = np.arange(ROWS)
TABLE = pd.DataFrame(
    {
        "a": np.cos(AT) / 2 + 0.5,
        "b": 4 * np.cos(2 * AT) ** 2,
        "x": [list("pqrs")[k % 4] for k in AT],
        "s": AT % 2,
        "t": AT % 5,
        "y": AT % 3,
    }
)
ZCDP, GDP = ln.zcdp(0.5), ln.gaussian_dp(0.4)
ADP, PURE = ln.approx_dp(1.0, 1e-6), ln.pure_dp(0.7)
SUBSTITUTE = {"relation": "substitute", "size": ROWS}
ADD = {"relation": "add_remove"}
CHANGE = {"relation": ln.Ball(2, radius=0.25), "size": ROWS}
BOX = ln.Box([0, 0], [1, 4])
LIST = ln.Points([[0, 0], [1, 0], [1, 4], [0.5, 2]])
QUERIES = np.array([[1.0, 1, 0, 0], [0, 1, -0.5, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
COUNTED = {"s": 2, "t": 5, "y": 3}


def mean(domain=BOX, **more):
    return ln.Mean(["a", "b"], domain, **more)


def queries(**more):
    return ln.Queries(QUERIES, {"x": list("pqrs")}, **more)


def marginals(**asked):
    return ln.Marginals(COUNTED, outside="extra", **asked)


PLANS = {
    "mean-substitute-zcdp": (mean(), ZCDP, SUBSTITUTE),
    "mean-add-gdp": (mean(), GDP, ADD),
    "mean-change-adp": (mean(), ADP, CHANGE),
    "mean-ball-order": (mean(ln.Ball(2, 2.0, 3.0, center=[0.5, 2])), ZCDP, {**ADD, "order": 3.0}),
    "mean-list-substitute": (mean(LIST), ADP, {**SUBSTITUTE, "order": math.inf}),
    "mean-zonotope-add": (
        mean(ln.Zonotope([[0.5, 0], [0.2, 1]])),
        GDP,
        {**ADD, "count_share": 0.3},
    ),
    "mean-ellipsoid-weights": (
        mean(ln.Ellipsoid([[1.0, 0], [0.3, 2]])),
        ZCDP,
        {**SUBSTITUTE, "weights": "range"},
    ),
    "mean-drop-center": (mean(missing="drop", center=[0.2, 1.0]), ADP, ADD),
    "mean-compound": (mean(ln.minkowski_sum(ln.Ball(2), LIST)), ZCDP, {**SUBSTITUTE, "rtol": 0.1}),
    "mean-product-of-lists": (
        mean(ln.product(ln.Points([[0.0], [1.0]]), ln.Box([0.0], [4.0]))),
        ZCDP,
        ADD,
    ),
    "queries-add-zcdp": (queries(), ZCDP, ADD),
    "queries-substitute-adp": (queries(outside={"x": "p"}), ADP, {**SUBSTITUTE, "order": math.inf}),
    "parity-add-gdp": (ln.Parity(["s"], [0, 1], outside=0), GDP, ADD),
    "parity-substitute-zcdp": (ln.Parity(["s"], 1, outside=0, weights=[2.0]), ZCDP, SUBSTITUTE),
    "pure-laplace": (mean(), PURE, {**SUBSTITUTE, "mechanism": "laplace"}),
    "pure-k_norm-sums": (mean(), PURE, {**ADD, "mechanism": "k_norm"}),
    "pure-recursive": (mean(LIST), PURE, {**SUBSTITUTE, "mechanism": "recursive"}),
    "pure-ellipsoid-sums": (mean(), ln.approx_dp(0.7, 1e-9), {**ADD, "mechanism": "ellipsoid"}),
    "pure-change": (mean(), PURE, CHANGE),
    "pure-queries-k_norm": (queries(), PURE, {**ADD, "mechanism": "k_norm"}),
    "pure-queries-best": (queries(outside={"x": "p"}), PURE, SUBSTITUTE),
    "pure-queries-histogram": (
        queries(outside={"x": "p"}),
        PURE,
        {**SUBSTITUTE, "mechanism": "laplace_histogram"},
    ),
    "pure-queries-response": (
        queries(outside={"x": "p"}),
        PURE,
        {**SUBSTITUTE, "mechanism": "randomized_response"},
    ),
    "marginals-way": (marginals(way=2), ZCDP, ADD),
    "marginals-sets-substitute": (marginals(sets=[["s", "t"], []]), ADP, SUBSTITUTE),
    "marginals-prefix": (
        marginals(way=1, ordered={"t": "prefix"}),
        GDP,
        {**ADD, "order": math.inf},
    ),
    "marginals-ranges": (marginals(way=2, ordered={"t": "range", "y": "prefix"}), ZCDP, SUBSTITUTE),
}
PLANNED_ONLY = (
    "mean-add-gdp",
    "mean-list-substitute",
    "parity-add-gdp",
    "pure-recursive",
    "pure-change",
    "marginals-prefix",
)
PAID = ("mean-drop-center", "queries-add-zcdp", "marginals-way")
STREAMS = {
    "square-root": (ln.Prefix(40), {"strategy": "square_root", "budget": ZCDP}),
    "rational": (ln.Prefix(40), {"strategy": "rational", "memory": 2, "budget": GDP}),
    "tree-vectors": (
        ln.Prefix(20),
        {"strategy": "binary_tree", "domain": ln.Ball(2, 2.0, center=[1.0, 0.0]), "budget": ADP},
    ),
    "window-substitute": (
        ln.SlidingWindow(20, 6),
        {
            "strategy": "output",
            "domain": ln.Box([-1], [3]),
            "relation": "substitute",
            "budget": ZCDP,
        },
    ),
    "optimal-people": (
        np.tril(np.arange(1.0, 37).reshape(6, 6)),
        {"domain": ln.Box([0], [9]), "relation": ln.Box([-1], [1]), "error": "max", "budget": ZCDP},
    ),
}
FOLLOWED = "square-root"
SPECS = {
    "mean": """[question]
relation = "substitute"
size = 100

[question.columns]
age = { lower = 0, upper = 99 }
"dep delay" = { lower = -60, upper = 1440, missing = 0 }

[budget]
epsilon = 1
delta = 1e-6

[data]
path = "t.csv"

[ledger]
path = "privacy.ledger"
dataset = "people"
""",
    "pure": """[question]
relation = "add_remove"
mechanism = "k_norm"

[question.columns]
a = { lower = 0, upper = 1 }
b = { lower = 0, upper = 4 }

[budget]
kind = "pure_dp"
epsilon = 0.5

[data]
path = "t.csv"
""",
    "marginals": """[question]
kind = "marginals"
relation = "add_remove"
way = 2

[question.attributes]
age = 5
sex = ["F", "M"]

[budget]
rho = 0.5

[data]
path = "t.csv"
""",
    "stream": """[question]
kind = "stream"
workload = "prefix"
rounds = 30

[budget]
mu = 0.4
""",
}


def values(stream, rounds):
    """Return what the rounds of a stream are given."""
    d = stream.terms.question.domain.dimension
    at = np.cos(np.arange(rounds)[:, None] * (1.0 + np.arange(d)))
    return at if d > 1 else at[:, 0]


def make(folder):
    """Write every file into a new folder."""
    folder.mkdir(parents=True)
    ledger = ln.Ledger.create(folder / "paid.ledger", "people", ln.zcdp(9))
    for name, (question, budget, asked) in PLANS.items():
        plan = ln.plan(question, budget=budget, **asked)
        if name in PLANNED_ONLY:
            plan.save(folder / f"{name}.plan.json")
            continue
        paid = ledger if name in PAID else None
        if plan.terms.view.folder:
            plan.release(TABLE, paid, path=folder / f"{name}.release")
        else:
            plan.release(TABLE, paid).save(folder / f"{name}.release.json")
    for name, (workload, asked) in STREAMS.items():
        paid = {"ledger": ledger} if name == FOLLOWED else {}
        stream = ln.stream(workload, path=folder / f"{name}.stream", **asked, **paid)
        stream.update_many(values(stream, 3))
    stream = ln.stream(ln.Decayed(30, 0.9), budget=ZCDP, strategy="square_root")
    stream.update_many(values(stream, 3))
    (folder / "decayed.plan.json").write_text(stream.to_json())
    (folder / "decayed.state").write_bytes(stream.state())
    mixed = ln.Ledger.create(folder / "mixed.ledger", "people", ln.approx_dp(3, 1e-5))
    mixed.charge(ln.approx_dp(0.5, 1e-6), "by hand")
    ln.Ledger.create(folder / "mixed.ledger", "others", ln.pure_dp(2)).charge(
        ln.pure_dp(0.5), "one"
    )
    for name, text in SPECS.items():
        (folder / f"{name}.toml").write_text(text)


PEOPLE = {"privacy_unit": "person", "rows_per_unit": 2}
SEGMENTS = np.random.default_rng(2).normal(size=(24, 6))
SIX = [f"v{i}" for i in range(6)]
LATER = {  # the number in each name is the one that it has
    "2-mean-substitute": (mean(), ZCDP, SUBSTITUTE),
    "3-units-add": (mean(), ZCDP, {**ADD, **PEOPLE}),
    "4-units-substitute": (mean(), ZCDP, {"relation": "substitute", **PEOPLE}),
    "5-units-total": (
        ln.Sum(["a", "b"], BOX),
        ZCDP,
        {**ADD, "privacy_unit": "person", "unit_total": 2},
    ),
    "6-odd-sums": (ln.Sum(SIX, ln.Zonotope(SEGMENTS, center=AT[:6])), ZCDP, ADD),
}


def make_later(folder):
    """Write a plan and a release of each later number into a folder that is there."""
    people = {"person": AT // 2, **{name: np.sin(AT + i) for i, name in enumerate(SIX)}}
    for name, (question, budget, asked) in LATER.items():
        plan = ln.plan(question, budget=budget, **asked)
        plan.save(folder / f"{name}.plan.json")
        plan.release(TABLE.assign(**people)).save(folder / f"{name}.release.json")


if __name__ == "__main__":
    (make_later if sys.argv[2:] == ["later"] else make)(Path(sys.argv[1]))
