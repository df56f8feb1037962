# SPDX-License-Identifier: Apache-2.0
"""Every case of the tests' tables with every relation; budgets, orders and options in pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import lownoise as ln
from cases import CASES, MEMBERS, POINT_CASES
from constructors import CONSTRUCTORS
from designs import pairwise_design
from lownoise.sets.domains import AbstractDomain, Difference
from pure.documents import MATRIX
from streams.kinds import TAKEN, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 12
BUDGETS = {
    "zcdp": ln.zcdp(0.5),
    "gaussian_dp": ln.gaussian_dp(0.3),
    "approx_dp": ln.approx_dp(1.0, 1e-6),
}
# under (ε, δ) noises are compared unless one is named; rows are of Gaussian noise
GAUSSIAN = {own: "gaussian" if own == BUDGETS["approx_dp"] else None for own in BUDGETS.values()}
PURE = {"pure_dp": ln.pure_dp(0.7), "approx_dp": ln.approx_dp(0.7, 1e-9)}
ORDERS = (2.0, 3.0, math.inf)
RELATIONS = ("substitute", "add_remove")
SIZES = {"substitute": ROWS, "add_remove": None, "change": ROWS}


@dataclass(frozen=True)
class Asked:
    """One row of the golden table.

    Args:
        name: by which it is stored.
        case: what is asked, whatever the relation and the budget.
        make: returns the plan, or the stream.
        table: what is released; of a stream the values of its rounds.
        reference: what is released beside it, so that exact totals show in a difference.
    """

    name: str
    case: str
    make: Callable[[], Any]
    table: Any
    reference: Any


def domains():
    """Return the domains of the tests' tables, by the table and the name."""
    found = {f"box {c.name}": c.domain for c in CASES}
    found |= {
        f"points {c.name}": c.domain for c in POINT_CASES if not isinstance(c.domain, Difference)
    }
    found |= {f"member {m.name}": m.domain for m in MEMBERS}
    for constructor in CONSTRUCTORS:
        if constructor.call is ln.Grid:  # points, said otherwise: all rows would take other turns
            continue
        made = constructor() if constructor.name[0].isupper() else None
        if isinstance(made, AbstractDomain) and not isinstance(made, ln.Slab):  # without ends
            found[f"constructor {constructor.name}"] = made
    return found


def relation_of(word, domain):
    """Return the relation that a row names; a body of changes is a tenth of the ranges."""
    if word != "change":
        return word
    return ln.Ellipsoid((domain.upper - domain.lower) / 10)


def pairs(factors, allowed=lambda **_: True):
    """Return a pairwise design's rows, each as the values in the order of the factors."""
    return [tuple(row[name] for name in factors) for row in pairwise_design(factors, allowed)]


def columns_of(domain):
    return [f"c{i}" for i in range(domain.dimension)]


def mean_of(domain, option):
    more = {
        "center": {"center": domain.center + (domain.upper - domain.center) / 4},
        "missing": {"missing": "drop"},
    }.get(option, {})
    return ln.Mean(columns_of(domain), domain, **more)


def records_of(domain):
    """Return rows inside and outside of a domain, and some with values that are missing."""
    turns = np.cos(np.arange(ROWS)[:, None] * (1.0 + np.arange(domain.dimension)))
    rows = domain.center + 0.8 * turns * (domain.upper - domain.lower)
    rows[3], rows[5, 0] = np.nan, np.nan
    return rows


def of_a_mean(name, domain, relation, **asked):
    asked.setdefault("mechanism", GAUSSIAN.get(asked["budget"]))
    option, body = asked.pop("option", ""), asked.pop("body", None)
    more = {"weights": {"weights": "range"}, "share": {"count_share": 0.3}}.get(option, {})

    def make():
        return ln.plan(
            mean_of(domain, option),
            relation=body or relation_of(relation, domain),
            size=SIZES[relation],
            **asked,
            **more,
        )

    columns = columns_of(domain)
    count = 0 if SIZES[relation] is None else ROWS
    still = np.tile(domain.center, (count, 1))
    return Asked(
        name,
        name.partition(f", {relation}, ")[0],
        make,
        pd.DataFrame(records_of(domain), columns=columns),
        pd.DataFrame(still, columns=columns, dtype=np.float64),
    )


def means():
    """Yield means of every domain under Gaussian noise."""
    own = domains()
    design = pairs(
        {
            "case": tuple(own),
            "relation": ("substitute", "add_remove", "change"),
            "budget": tuple(BUDGETS),
            "order": ORDERS,
            "option": ("", "weights", "center", "missing", "share"),
        },
        lambda relation, option, **_: (
            relation == "add_remove" or option not in {"missing", "share"}
        ),
    )
    for row in design:
        case, relation, budget, order, option = row
        name = f"{case}, {relation}, {budget}, order {order:g}, {option or 'plain'}"
        yield of_a_mean(
            name, own[case], relation, budget=BUDGETS[budget], order=order, option=option
        )


SQUARE = ln.Box([0.0, -3.0], [2.0, 5.0])
CUBE = ln.Box([0.0, -3.0, 1.0], [4.0, 5.0, 7.0])
ZONE = ln.Zonotope([[1.0, 0.5], [-0.5, 2.0], [1.0, -1.0]], center=[0.3, 7.0])
DISC = ln.image([[0.3, 0.15], [-0.6, 0.075], [0.15, 0.3]], ln.Ball(2))
GRID = ln.Points(np.stack(np.meshgrid(np.arange(7) / 3, np.arange(5) / 7), axis=-1).reshape(-1, 2))
EDGES = ln.Points([[1.0, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1], [1, 0, 0, -1], [1, 0, -1, 0]])
BODIES = {
    "ball in a box": (SQUARE, ln.Ball(2, radius=0.5)),
    "box in a box": (SQUARE, ln.Box([-0.5, -1.0], [0.5, 1.0])),
    "box off center in a box": (SQUARE, ln.Box([0.25, -1.0], [0.75, 1.0])),
    "octahedron in a box": (SQUARE, ln.Ball(2, radius=0.5, order=1)),
    "ball off center in a box": (SQUARE, ln.Ball(2, radius=0.25, center=[0.25, 0.5])),
    "zonotope in a box": (SQUARE, ln.Zonotope([[0.2, 0.5], [0.4, -0.5]])),
    "a line in a box": (SQUARE, ln.Points([[0.5, -1.0]])),
    "differences in a box": (SQUARE, ln.difference_body(ln.Points([[0, 0], [0.5, 1], [1, 0]]))),
    "one column in a box": (SQUARE, ln.Box([0.0, -1.0], [0.0, 1.0])),
    "a tilted disc in a box": (CUBE, DISC),
    "a tilted disc in a ball": (ln.Ball(3, radius=3, center=[1.0, 2.0, 30.0]), DISC),
    "box in a ball": (ln.Ball(2, radius=2, order=3), ln.Box([-0.3, -0.5], [0.3, 0.5])),
    "points in a zonotope": (ZONE, ln.Points([[0.5, 0.5], [-1.0, 0.25]])),
    "box on a grid": (GRID, ln.Box([-0.7, -0.3], [0.7, 0.3])),
    "edges of a simplex": (ln.Points(np.eye(4)), EDGES),
}


def bodies():
    """Yield means whose neighbours are bodies of changes of every kind."""
    for case, budget, order in pairs(
        {"case": tuple(BODIES), "budget": tuple(BUDGETS), "order": ORDERS}
    ):
        domain, body = BODIES[case]
        name = f"body {case}, change, {budget}, order {order:g}"
        yield of_a_mean(name, domain, "change", body=body, budget=BUDGETS[budget], order=order)


def pure_means():
    """Yield means of every domain under pure noise."""
    own = domains()
    design = pairs(
        {
            "case": tuple(own),
            "relation": ("substitute", "add_remove", "change"),
            "mechanism": ("k_norm", "ellipsoid", "recursive", "laplace"),
            "budget": tuple(PURE),
        }
    )
    for row in design:
        case, relation, mechanism, budget = row
        name = f"pure {case}, {relation}, {mechanism}, {budget}"
        yield of_a_mean(name, own[case], relation, budget=PURE[budget], mechanism=mechanism)


RNG = np.random.default_rng(3)
MATRICES = {
    "prefix": np.tril(np.ones((6, 6))),
    "random": RNG.standard_normal((4, 9)),
    "tall": RNG.standard_normal((9, 4)),
    "low rank": RNG.standard_normal((7, 3)) @ RNG.standard_normal((3, 9)),
    "zeros and twins": np.array([[1, 1, 0, 2.0], [0, 0, 0, 0], [3, 3, 3, 3], [2, 2, 0, 4]]),
    "scales": np.diag([1e6, 1.0, 1e-6]) @ RNG.standard_normal((3, 8)),
    "offset": 1e6 + RNG.integers(0, 3, (3, 8)),
    "one record": np.array([[2.0], [0.0]]),
    "nothing": np.zeros((2, 5)),
    "of the documents": MATRIX,
}
BITS = {"all of three": (3, [0, 1, 2, 3]), "pairs of five": (5, 2), "some of four": (4, [0, 1, 2])}
RECORDS = pd.DataFrame(
    {
        "x": [0, 1, 1, 3, 2, 0, 1, 99, 2, 3, 0, 0],
        **{
            f"b{i}": [(k >> i) & 1 for k in (0, 3, 5, 7, 9, 11, 2, 30, 21, 16, 8, 1)]
            for i in range(5)
        },
        "a": [0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1],
        "b": [0, 1, 2, 2, 1, 0, 0, 1, 7, 2, 1, 0],
        "one": [0] * ROWS,
        "c": list("xyxyxxyyxyxx"),
        "t": [0, 1, 2, 3, 4, 9, 0, 1, 2, 3, 4, 0],
    }
)
ALIKE = pd.concat([RECORDS.iloc[:1]] * ROWS, ignore_index=True)


def records(relation):
    """Return the records that are counted, and those beside them."""
    return RECORDS, (RECORDS.iloc[:0] if SIZES[relation] is None else ALIKE)


def linear():
    """Yield queries and parities under Gaussian noise, and queries under pure noise."""
    questions = {
        f"queries {name}": ln.Queries(W, {"x": W.shape[1]}, outside={"x": 0})
        for name, W in MATRICES.items()
    }
    questions |= {
        f"parity {name}": ln.Parity([f"b{i}" for i in range(bits)], degree, outside=0)
        for name, (bits, degree) in BITS.items()
    }
    questions["parity weighted"] = ln.Parity(
        ["b0", "b1", "b2"], [1, 2], weights=[2.0, 1.0], outside=0
    )
    for row in pairs(
        {"case": tuple(questions), "relation": RELATIONS, "budget": tuple(BUDGETS), "order": ORDERS}
    ):
        case, relation, budget, order = row
        yield Asked(
            f"{case}, {relation}, {budget}, order {order:g}",
            case,
            partial(
                ln.plan,
                questions[case],
                relation=relation,
                size=SIZES[relation],
                budget=BUDGETS[budget],
                mechanism=GAUSSIAN[BUDGETS[budget]],
                order=order,
            ),
            *records(relation),
        )
    mechanisms = (
        "laplace",
        "k_norm",
        "recursive",
        "ellipsoid",
        "laplace_histogram",
        "randomized_response",
    )
    asked = tuple(name for name in questions if name.startswith("queries"))
    for row in pairs(
        {"case": asked, "relation": RELATIONS, "mechanism": mechanisms, "budget": tuple(PURE)}
    ):
        case, relation, mechanism, budget = row
        yield Asked(
            f"pure {case}, {relation}, {mechanism}, {budget}",
            f"pure {case}",
            partial(
                ln.plan,
                questions[case],
                relation=relation,
                size=SIZES[relation],
                budget=PURE[budget],
                mechanism=mechanism,
            ),
            *records(relation),
        )


SMALL = {"a": 2, "b": 3, "one": 1, "c": ["x", "y"]}
ORDERED = {"a": 2, "t": 5, "one": 1, "b": 3}
MARGINALS = {
    "none": (SMALL, {"way": 0}),
    "ways": (SMALL, {"way": 2}),
    "all": (SMALL, {"way": 4}),
    "some": (SMALL, {"sets": [["a", "b", "one"], ["b", "c"], []]}),
    "weighted": ({"a": 2, "b": 3}, {"way": 1, "weights": [1.0, 2.0]}),
    "prefix": (ORDERED, {"way": 2, "ordered": {"t": "prefix"}}),
    "range": (ORDERED, {"way": 1, "ordered": {"t": "range", "one": "prefix"}}),
    "two orders": (ORDERED, {"way": 2, "ordered": {"t": "prefix", "b": "range"}}),
    "one category": ({"one": 1}, {"way": 1, "ordered": {"one": "prefix"}}),
    "product": (
        {"t": 60, "b": 40, "a": 2},
        {"sets": [["t", "a"], ["b"]], "ordered": {"t": "prefix", "b": "range"}},
    ),
}


def marginals():
    """Yield marginals, with and without orders."""
    for row in pairs(
        {"case": tuple(MARGINALS), "relation": RELATIONS, "budget": tuple(BUDGETS), "order": ORDERS}
    ):
        case, relation, budget, order = row
        sizes, asked = MARGINALS[case]
        yield Asked(
            f"marginals {case}, {relation}, {budget}, order {order:g}",
            f"marginals {case}",
            partial(
                ln.plan,
                ln.Marginals(sizes, outside="extra", **asked),
                relation=relation,
                size=SIZES[relation],
                budget=BUDGETS[budget],
                mechanism=GAUSSIAN[BUDGETS[budget]],
                order=order,
            ),
            *records(relation),
        )


VALUES = {
    "unit": None,
    "box": ln.Box([-1.0, 0.0], [3.0, 5.0]),
    "ball": ln.Ball(2, 2.0, center=[1.0, 0.0]),
    "list": ln.Points([[1, 0], [0, 0], [1, 1.5]]),
    "tensors": ln.TensorPower(2, 2),
    "octahedron": ln.Ball(2, 1.0, order=1),
}


def streams():
    """Yield streams: every strategy with every workload, domains and relations in pairs."""
    cases = tuple(f"{workload}, {strategy}" for workload, strategy in TAKEN)
    for row in pairs(
        {
            "case": cases,
            "relation": ("add_remove", "substitute", "change"),
            "budget": tuple(BUDGETS),
            "values": tuple(VALUES),
            "error": ("mean", "max"),
        }
    ):
        case, relation, budget, values, error = row
        workload, strategy = case.split(", ")
        domain = VALUES[values]
        box = ln.Box([0.0], [1.0]) if domain is None else domain
        more = {} if domain is None else {"domain": domain}
        rounds = WORKLOADS[workload].rounds
        d = box.dimension
        turns = np.cos(np.arange(rounds)[:, None] * (1.0 + np.arange(d)))
        given = (turns if d > 1 else turns[:, 0]), np.zeros((rounds, d) if d > 1 else rounds)
        yield Asked(
            f"stream {case}, {relation}, {budget}, {values}, {error}",
            f"stream {case}",
            partial(
                ln.stream,
                WORKLOADS[workload],
                budget=BUDGETS[budget],
                mechanism=GAUSSIAN[BUDGETS[budget]],
                strategy=strategy,
                error=error,
                relation=relation_of(relation, box),
                memory=2 if strategy == "rational" else None,
                **more,
            ),
            *given,
        )


def members():
    """Return every row, by its name."""
    found = {}
    for own in (means, bodies, pure_means, linear, marginals, streams):
        for asked in own():
            if asked.name in found:
                raise ValueError(f"two rows are named {asked.name!r}")
            found[asked.name] = asked
    return found
