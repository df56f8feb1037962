# SPDX-License-Identifier: Apache-2.0
"""Every kind of plan and release that a report is made of, and what a reader sees of a page."""

import functools
import math
from html.parser import HTMLParser

import numpy as np
import pandas as pd

import lownoise as ln
from golden.accessors import simulated
from lownoise.planning.stream_plan import StreamRequest
from lownoise.planning.streaming import plan_stream
from pure.documents import ASKED, BUDGET, SIZE, plan_of
from pure.documents import planned as pure

RUDE = [
    "<script>alert(1)</script>",
    "$x_1$",
    "a&b \"quoted\" 'it'",
    "line\nbreak\x1b[31m",
    "ü" * 90,
]
ROWS = 40
PREFIX = np.tril(np.ones((10, 10)))


def asked(question, relation="substitute", budget=None, **more):
    budget = budget or ln.zcdp(0.5)
    size = None if relation == "add_remove" else ROWS
    return ln.plan(question, budget=budget, relation=relation, size=size, **more)


def mean(names, relation="substitute", *, lower=0.0, upper=1.0, budget=None, **more):
    d = len(names)
    box = ln.Box(np.full(d, lower), np.broadcast_to(upper, (d,)))
    if budget is None:
        budget, more = ln.approx_dp(1, 1e-6), {"mechanism": "gaussian", **more}
    return asked(ln.Mean(names, box), relation, budget, **more)


def tables(sizes, relation="add_remove", order=2.0, outside="extra", **more):
    return asked(ln.Marginals(sizes, outside=outside, **more), relation, order=order)


def bits(count, degree, **more):
    return ln.Parity([f"b{i}" for i in range(count)], degree, **more)


def stream(workload, columns=1, error="mean"):
    request = StreamRequest(
        workload=workload,
        budget=ln.zcdp(0.5),
        strategy="auto",
        error=error,
        domain=ln.Box(np.zeros(columns), np.ones(columns)),
        relation="add_remove",
        memory=None,
    )
    return plan_stream(request)


MANY = [f"c{i}" for i in range(250)]
PUBLIC = {"outside": {"age": 0}}
MEMBERS = {
    "means": lambda: mean(["a", "b"], upper=[1.0, 9.0]),
    "sums": lambda: mean(["a", "b"], "add_remove"),
    "one mean": lambda: mean(["a"]),
    "largest": lambda: mean(["a", "b", "c"], order=math.inf, budget=ln.zcdp(0.1)),
    "mean, no noise": lambda: mean(["a"], lower=0.25, upper=0.25),
    "mean, some noise": lambda: mean(["a", "b"], lower=0.25, upper=[0.25, 1.0]),
    "mean, rude": lambda: mean(RUDE),
    "many means": lambda: mean(MANY, upper=np.geomspace(1, 1e4, 250)),
    "huge budget": lambda: mean(["a", "b"], budget=ln.zcdp(1e6)),
    "moments": lambda: asked(ln.Moments(["a", "b"], ln.Box([0, 0], [1, 9])), weights="range"),
    "moments, rude": lambda: asked(
        ln.Moments(RUDE[:4], ln.Box(np.zeros(4), np.ones(4))), "add_remove"
    ),
    "body of changes": lambda: mean(["a", "b"], ln.Ball(2, radius=0.1)),
    "prefix": lambda: asked(ln.Queries(PREFIX, {"age": 10}), "add_remove"),
    "queries of a public size": lambda: asked(ln.Queries(np.eye(3), {"age": 3}, **PUBLIC)),
    "queries, no noise": lambda: asked(ln.Queries(np.ones((2, 3)), {"age": 3}, **PUBLIC)),
    "one query": lambda: asked(ln.Queries([[1, 0, -2.5]], {"age": 3}), "add_remove"),
    "listed": lambda: asked(
        ln.Queries(np.eye(2), [[0, "x"], [1, "y"]], columns=["age", "sex"], outside=[0, "x"]),
        order=math.inf,
    ),
    "queries, rude": lambda: asked(
        ln.Queries(np.eye(8), {name: [RUDE[0], "x"] for name in RUDE[:3]}, outside="drop"),
        "add_remove",
    ),
    "parities": lambda: asked(bits(6, [0, 1, 3], weights=[1, 4, 2]), "add_remove"),
    "parities, rude": lambda: asked(ln.Parity(RUDE, 1), "add_remove"),
    "pairs": lambda: tables({"age": ["young", "old"], "sex": 2, "town": 5}, way=2),
    "one marginal": lambda: tables({"age": 3}, way=1),
    "rows alone": lambda: tables({"age": 3, "sex": 2}, way=0),
    "marginals of a public size": lambda: tables({"age": 3, "sex": 2}, "substitute", way=2),
    "marginals, no noise": lambda: tables({"age": 3}, "substitute", way=0),
    "one category": lambda: tables({"age": 1, "sex": 2}, outside="drop", way=2),
    "sets": lambda: tables(
        {"a": 3, "b": 2, "c": 4}, sets=[["a", "b"], ["c"]], weights=[1, 3], order=math.inf
    ),
    "ordered": lambda: tables({"age": 6, "sex": 2}, way=2, ordered={"age": "prefix"}),
    "marginals, rude": lambda: tables({name: [*RUDE[:2], "x"] for name in RUDE}, way=2),
    "many attributes": lambda: tables({f"attribute {i}": 2 + i % 7 for i in range(103)}, way=2),
    **{f"pure {name}": functools.partial(plan_of, name) for name in ASKED},
    "pure, no noise": lambda: ln.plan(
        ln.Queries(np.ones((2, 3)), {"age": 3}, **PUBLIC),
        budget=BUDGET,
        relation="substitute",
        size=SIZE,
    ),
    "pure, worst": lambda: pure("mean", "add_remove", order=math.inf, weights=[1.0, 3.0]),
    "pure, delta": lambda: pure(budget=ln.approx_dp(0.7, 1e-6), mechanism="k_norm"),
    "pure, rude": lambda: mean(RUDE[:4], "add_remove", budget=BUDGET, mechanism="laplace"),
    "stream": lambda: stream(ln.Prefix(365)),
    "stream of columns": lambda: stream(ln.SlidingWindow(50, 7), 10, "max"),
}
STREAMS = ("stream", "stream of columns")
RELEASED = [name for name in MEMBERS if name not in STREAMS]
KINDS = [*((n, "plan") for n in MEMBERS), *((n, "release") for n in RELEASED)]


@functools.cache
def plan(name):
    return MEMBERS[name]()


def released(planned, ledger=None):
    """Release a plan on a table of made-up rows, with simulated noise."""
    terms, rng = planned.terms, np.random.default_rng(1)
    size, question = terms.size or ROWS, terms.question
    if isinstance(question, ln.Mean):
        read = question.domain.source
        cells = rng.uniform(read.lower, read.upper, (size, read.dimension))
        rows = pd.DataFrame(cells, columns=question.sources)
    else:
        known = question if hasattr(question, "attributes") else question.universe
        rows = pd.DataFrame(
            {
                a.name: rng.choice(a.categories if a.labels is None else list(a.labels), size)
                for a in known.attributes
            }
        )
    with simulated(1):
        return planned.release(rows, ledger)


@functools.cache
def release(name):
    return released(plan(name))


def subject(name, kind):
    return plan(name) if kind == "plan" else release(name)


class Reader(HTMLParser):
    """What a browser would fetch, the words that it would show, tags, ids, targets."""

    VOID = ("meta", "br", "link", "img")

    def __init__(self, text):
        super().__init__()
        self.fetched, self.words, self.tags, self.open = [], [], set(), []
        self.ids, self.targets = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            if name in ("src", "href", "xlink:href", "action", "data", "srcset"):
                self.fetched.append(value)
            if name == "style" and "url(" in value:
                self.fetched.append(value)
            if name == "id":
                self.ids.append(value)
            if name == "aria-labelledby":
                self.targets += value.split()

    def handle_startendtag(self, tag, attrs):
        raise AssertionError(f"<{tag}/> is left open by HTML")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


def words(text):
    return "".join(Reader(text).words)
