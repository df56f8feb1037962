# SPDX-License-Identifier: Apache-2.0
"""The document of a stream: read back exactly, and refused where it was forged."""

import json
from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import FileError, PlanError
from lownoise.numbers.packing import packed, unpacked
from lownoise.planning import StreamPlan
from lownoise.release import codec
from lownoise.release.encoding import relation_to_dict
from lownoise.streams.codec import derived, document, terms_to_dict
from lownoise.streams.view import shown_rounds
from refusals import one_line, sealed
from streams.kinds import TAKEN, WORKLOADS, factors

ZCDP = ln.zcdp(0.5)
LISTED = ln.Points([[1, 0], [0, 0], [1, 1.5]])
CASES = {
    "optimal": (ln.Prefix(12), {}),
    "one round": (ln.Prefix(1), {}),
    "largest": (ln.Prefix(12), {"error": "max"}),
    "square root": (ln.Prefix(300), {"strategy": "square_root"}),
    "input": (ln.Prefix(30), {"strategy": "input"}),
    "output": (ln.SlidingWindow(30, 3), {"strategy": "output"}),
    "tree": (ln.Prefix(20), {"strategy": "binary_tree"}),
    "weighted tree": (ln.Prefix(20), {"strategy": "honaker_streaming"}),
    "rational": (ln.Prefix(40), {"strategy": "rational", "memory": 2}),
    "normalized": (ln.Prefix(30), {"strategy": "normalized_square_root"}),
    "off 0": (ln.Prefix(5), {"domain": ln.Ball(2, 2.0, center=[1.0, 0.0])}),
    "crowd": (
        ln.Prefix(9),
        {"domain": ln.Box([0.0], [90.0]), "relation": ln.Box([-1.0], [1.0])},
    ),
    "window in a ball": (ln.SlidingWindow(9, 4), {"domain": ln.Ball(3, 2.0)}),
    "decayed list": (ln.Decayed(40, 0.9), {"domain": LISTED, "strategy": "square_root"}),
    "matrix, substitute": (
        np.tril(np.arange(1.0, 26).reshape(5, 5)),
        {"domain": ln.Box([-1, 2], [3, 5]), "relation": "substitute"},
    ),
    "flat list": (ln.Prefix(6), {"domain": ln.Points(np.eye(3)), "relation": "substitute"}),
    "bodies of people": (
        ln.Prefix(6),
        {"domain": ln.Box([0, 0], [99, 99]), "relation": ln.Ball(2, 1.5, order=1)},
    ),
    "tensors": (ln.Prefix(6), {"domain": ln.TensorPower(2, 2), "relation": "substitute"}),
    "cross-polytope": (ln.Prefix(6), {"domain": ln.Ball(2, 1, order=1), "strategy": "input"}),
}


@cache
def terms_of(name):
    workload, more = CASES[name]
    return ln.stream(workload, budget=ZCDP, **more).terms


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize(("name", "strategy"), TAKEN)
def test_every_strategy_has_a_document(name, strategy):
    few = 2 if strategy == "rational" else None  # which takes seconds to find more
    terms = ln.stream(WORKLOADS[name], budget=ZCDP, strategy=strategy, memory=few).terms
    text = document(terms)
    again = StreamPlan.from_json(text)
    assert again.to_json() == text
    assert again.terms.mechanism.loss == terms.mechanism.loss
    for own, read in zip(
        factors(terms.mechanism.pair), factors(again.terms.mechanism.pair), strict=True
    ):
        assert own.tobytes() == read.tobytes()


@pytest.mark.grid
@pytest.mark.parametrize("name", CASES)
def test_terms_are_read_back_to_the_last_bit(name):
    text = document(terms_of(name))
    again = StreamPlan.from_json(text)
    assert again.to_json() == text
    a, b = terms_of(name).mechanism, again.terms.mechanism
    assert (a.loss, relation_to_dict(a.relation), a.coding.step.tolist()) == (
        b.loss,
        relation_to_dict(b.relation),
        b.coding.step.tolist(),
    )
    if hasattr(a.pair, "noise"):
        assert a.pair.noise.tobytes() == b.pair.noise.tobytes()
        assert a.pair.strategy.tobytes() == b.pair.strategy.tobytes()
    x = np.random.default_rng(1).normal(size=(50, a.coding.center.size))
    assert np.array_equal(a.coding.encode(x), b.coding.encode(x))
    found = ln.verify(text)
    assert found, [c for c in found.checks if not c.holds]


def test_the_document_says_what_is_promised():
    terms = terms_of("optimal")
    said = derived(terms)
    assert said["rounds"] == [1, 2, 4, 8, 12]
    assert said["standard_deviation"][4] == terms.view.deviations(11, 1)[0].tolist()
    assert said["error"] == terms.error
    assert said["certificate"]["lower"] <= said["error"] <= said["certificate"]["upper"]
    assert shown_rounds(1) == [1]
    assert shown_rounds(16)[-2:] == [8, 16]


def cross():
    points = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

    def maximise(matrix, center):
        values = np.einsum("ij,jk,ik->i", points - center, matrix, points - center)
        return points[np.argmax(values)], values.max(), values.max()

    def clamp(x):
        return x / max(1.0, float(np.abs(x).sum()))

    return ln.Oracle(2, maximise, half_widths=[1, 1], clamp=clamp, name="cross")


def test_a_program_is_named_and_must_be_given(tmp_path):
    asked = {"budget": ZCDP, "domain": cross(), "relation": "substitute"}
    stream = ln.stream(ln.Prefix(5), **asked, path=tmp_path / "a")
    text = stream.to_json()
    with pytest.raises(FileError, match="program, which no file holds"):
        StreamPlan.from_json(text)
    assert StreamPlan.from_json(text, cross()).to_json() == text
    assert ln.verify(text, domain=cross())
    stream.update([1, 0])
    with pytest.raises(FileError, match="program, which no file holds"):
        ln.Stream.open(tmp_path / "a")
    assert ln.Stream.open(tmp_path / "a", cross()).round == 1
    assert ln.stream(ln.Prefix(5), **asked, path=tmp_path / "a").round == 1


def changed(fields, path, value):
    *above, last = path
    for key in above:
        fields = fields[key]
    if value is DROP:
        del fields[last]
    else:
        fields[last] = value(fields[last]) if callable(value) else value


DROP = object()


def scaled(factor):
    def own(value):
        if isinstance(value, dict):
            kind = len(value["shape"])
            return packed(unpacked(value, "x", kind) * factor)
        return [factor * k for k in value]

    return own


def few(evidence, block):
    """Return evidence of fewer rounds, which fits but for its place in the workload."""
    own = evidence["rounds"]
    inside = [i for i, vertex in enumerate(own["vertices"]) if vertex < block]
    return {
        **evidence,
        "block": block,
        "rounds": {
            **own,
            "query_weights": own["query_weights"][:block],
            "vertices": [own["vertices"][i] for i in inside],
            "vertex_weights": [own["vertex_weights"][i] for i in inside],
        },
    }


FORGED = [
    # what would reveal more than the budget
    ("optimal", ("noise", "scale"), scaled(0.999999), "too small for the budget"),
    ("optimal", ("noise", "cover"), scaled(0.5), "too small for the budget"),
    ("optimal", ("noise", "cover"), scaled(0.0), "too small for the budget"),
    ("optimal", ("pair", "strategy"), scaled(1.001), "too small for the budget"),
    ("optimal", ("pair", "strategy"), scaled(0.5), "too small for the budget"),
    ("optimal", ("pair", "noise"), scaled(0.5), "too small for the budget"),
    ("square root", ("pair", "noise"), scaled(0.5), "too small for the budget"),
    ("optimal", ("budget", "rho"), 0.49, "too small for the budget"),
    ("optimal", ("question", "upper"), [1.01], "too small for the budget"),
    ("optimal", ("question", "lower"), [-1.01], "too small for the budget"),
    ("matrix, substitute", ("question", "upper"), [3, 5.1], "too small for the budget"),
    ("window in a ball", ("question", "image", "factor"), [2.2], "damaged|budget"),
    ("decayed list", ("question", "points"), [[1, 0], [0, 0], [1, 1.6]], "too small"),
    ("crowd", ("relation", "change", "upper"), [1.1], "too small"),
    ("crowd", ("relation",), "substitute", "too small"),
    ("crowd", ("relation", "change"), {"lower": [0], "upper": [0]}, "no width"),
    ("crowd", ("relation", "change"), {"lower": [0, 0], "upper": [1, 1]}, "coordinates"),
    # what does not fit
    ("optimal", ("question", "workload", "rounds"), 13, "damaged"),
    ("optimal", ("question", "workload", "rounds"), 0, "out of range"),
    ("optimal", ("question", "workload", "rounds"), 12.0, "whole number"),
    ("optimal", ("question", "workload", "rounds"), True, "whole number"),
    ("optimal", ("question", "workload", "kind"), "sums", "is unknown"),
    ("optimal", ("question", "workload", "kind"), ["prefix"], "is unknown"),
    ("optimal", ("question", "workload"), DROP, "missing or wrong"),
    ("tree", ("question", "workload", "rounds"), 1 << 40, "largest="),
    ("tree", ("pair", "weighted"), 1, "running sums"),
    (
        "rational",
        ("question", "workload"),
        {"kind": "sliding_window", "rounds": 40, "width": 3},
        "rational factors are for",
    ),
    ("tree", ("question", "workload"), {"kind": "decayed", "rounds": 20, "rate": 0.5}, "sums"),
    ("optimal", ("pair", "kind"), "circle", "is unknown"),
    ("optimal", ("pair", "kind"), "toeplitz", "has the shape"),
    ("optimal", ("pair", "kind"), "tree", "pair.weighted is missing"),
    ("optimal", ("pair",), {"kind": "tree", "weighted": False}, "too small"),
    ("optimal", ("pair",), {"kind": "tree", "weighted": 1}, "running sums"),
    ("rational", ("pair", "weights"), scaled(0.5), "too small"),
    ("rational", ("pair", "answer_weights"), scaled(0.5), "too small"),
    ("rational", ("pair", "gaps"), scaled(1.1), "too small"),
    ("rational", ("pair", "gaps"), scaled(-1), "out of range"),
    ("rational", ("pair", "answer_gaps"), [0.0], "out of range"),
    ("rational", ("pair", "answer_weights"), ["x"], "pair.answer_weights"),
    ("normalized", ("pair", "lengths"), scaled(0.5), "too small"),
    ("normalized", ("pair", "lengths"), scaled(-1), "must fall"),
    ("normalized", ("pair", "noise"), scaled(0.5), "too small"),
    ("crowd", ("relation", "change", "upper"), [2.0], "too small"),
    ("off 0", ("noise", "reach"), [1.0], "numbers above 0"),
    ("off 0", ("noise", "reach"), [1.0, 1.0, 0.0], "above 0"),
    ("off 0", ("noise", "reach"), [1e-9, 1e-9, 1.0], "too small"),
    ("off 0", ("question", "center"), [1.0, 0.0], "coded about 0"),
    ("off 0", ("question", "image", "shift"), [2.1, 0.0], "hold 0|outside"),
    ("optimal", ("pair", "noise", "float64"), "AAAA", "pair.noise"),
    ("optimal", ("pair", "noise", "float64"), "@@", "pair.noise"),
    ("optimal", ("pair", "noise", "shape"), [12, 1 << 40], "largest="),
    ("optimal", ("pair", "noise"), packed(np.full((12, 12), np.nan)), "not finite"),
    ("optimal", ("pair", "strategy"), packed(np.ones((12, 12))), "later round"),
    ("optimal", ("noise", "step"), [0.3], "powers of two"),
    ("optimal", ("noise", "step"), [2.0**-200], "damaged"),
    ("optimal", ("noise", "step"), ["x"], "noise.step"),
    ("optimal", ("noise", "scale"), [1e300], "2\\^52"),
    ("optimal", ("noise", "scale"), [1.0, 1.0], "2 coordinates, and 1 are"),
    ("optimal", ("noise", "cover"), [-1.0], "noise.cover"),
    ("optimal", ("noise", "cover"), [1e300], "2\\^52"),
    ("optimal", ("noise", "kind"), "round", "is unknown"),
    ("flat list", ("noise", "embed"), [[1, 0], [0, 1], [0, 0]], "do not describe"),
    ("flat list", ("noise", "pivots"), [1, 0], "do not describe"),
    ("optimal", ("question", "center"), [0.5], "coded about 0"),
    ("optimal", ("question", "missing"), [2.0], "missing"),
    ("optimal", ("question", "columns"), ["a", "b"], "columns"),
    ("optimal", ("relation",), "replace", "is unknown"),
    ("optimal", ("relation",), {"change": {"lower": [0], "upper": [1]}}, "small|not mean"),
    ("optimal", ("error",), "median", "is unknown"),
    ("optimal", ("strategy",), "", "strategy"),
    ("optimal", ("strategy",), 3, "strategy"),
    ("optimal", ("reason",), "x" * 501, "reason"),
    ("optimal", ("reason",), "\x1b[2J", "reason"),
    ("optimal", ("budget", "kind"), "pure", "is unknown"),
    ("optimal", ("budget", "rho"), -1, "out of range"),
    ("optimal", ("evidence", "block"), 0, "evidence.block"),
    ("optimal", ("evidence", "block"), 13, "evidence.block"),
    ("optimal", ("evidence", "block"), True, "evidence.block"),
    ("optimal", ("evidence", "rounds", "kind"), "hope", "is unknown"),
    ("optimal", ("evidence", "rounds", "vertex_weights"), [1.0], "weights, one a point"),
    ("optimal", ("evidence", "changes", "query_weights"), [-1.0], "query_weights"),
    ("matrix, substitute", ("evidence", "block"), 4, "no block|numbers"),
    ("matrix, substitute", ("evidence",), lambda own: few(own, 4), "no block of the workload"),
    (
        "flat list",
        ("relation",),
        {"change": {"lower": [-0.1] * 3, "upper": [0.1] * 3}},
        "as the domain's points never do",
    ),
    ("optimal", ("noise",), [], "missing or wrong"),
    ("optimal", ("question",), "mean", "missing or wrong"),
]


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("name", "path", "value", "said"), FORGED)
def test_a_forged_document_is_refused_in_one_line(name, path, value, said):
    fields = json.loads(document(terms_of(name)))
    changed(fields["terms"], path, value)
    text = sealed(fields)
    with one_line(FileError, match=said):
        StreamPlan.from_json(text)
    with suppress(FileError):  # of one that names no question
        assert not ln.verify(text)


def zeros(*shape):
    return {"shape": list(shape), "float64": "AAAA"}  # what it holds is never looked at


HOSTILE = {  # small files that took up to 87 seconds and 2.2 GB, or would take more
    "a tree": ("tree", {"rounds": 1 << 26}, {}, 0),
    "a long column": ("square root", {"rounds": 1 << 26}, {"noise": zeros(1 << 26)}, 0),
    "a wide factor": ("optimal", {"rounds": 1}, {"noise": zeros(1, 1 << 28)}, 0),
    "two factors": ("optimal", {}, {"noise": zeros(1200, 1200), "strategy": zeros(1200, 1200)}, 0),
    "lengths": ("normalized", {}, {"lengths": zeros(1 << 22)}, 0),
    "a matrix": ("matrix, substitute", {"entries": zeros(1 << 13, 1 << 13)}, {}, 0),
    "negative shapes": ("optimal", {}, {"noise": zeros(-(1 << 20), -(1 << 20))}, 0),
    "evidence": ("rational", {"rounds": 1 << 40}, {}, 1 << 13),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_that_is_long_to_check_is_refused_before_it_is(name, monkeypatch):
    case, workload, pair, block = HOSTILE[name]
    fields = json.loads(document(terms_of(case)))
    fields["terms"]["question"]["workload"].update(workload)
    fields["terms"]["pair"].update(pair)
    fields["terms"]["evidence"]["block"] += block
    text = sealed(fields)
    # nothing is made of the terms
    monkeypatch.setattr("lownoise.streams.codec.QUESTIONS", None)
    for read in (ln.verify, StreamPlan.from_json):
        with one_line(FileError, match="give that number as largest="):
            read(text)


def test_prefix_sums_under_a_pure_budget_are_read_at_any_length():
    """Its tree has a short form, and what bounds it is closed: nothing of the file is long."""
    made = ln.stream(ln.Prefix(1 << 14), budget=ln.pure_dp(1.0))
    text = made.to_json()
    assert len(text) < 4_000
    assert ln.verify(text)
    assert StreamPlan.from_json(text).to_json() == text


@pytest.mark.parametrize("name", ["optimal", "square root", "matrix, substitute"])
def test_what_is_larger_is_read_where_it_is_asked_for(name):
    text = document(terms_of(name))
    with pytest.raises(FileError, match="largest="):
        ln.verify(text, largest=0)
    most = 1 << 17
    assert ln.verify(text, largest=most)
    assert StreamPlan.from_json(text, largest=most).verify()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("derived", "error"), 1.0),
        (("derived", "lower_bound"), 1.3),
        (("derived", "standard_deviation"), [[0.0]] * 5),
        (("derived", "more"), 1),
        (("derived", "cost", "mu"), 0.5),
        (("digest",), "0" * 64),
    ],
)
def test_what_a_document_states_must_follow(path, value):
    fields = json.loads(document(terms_of("optimal")))
    fields["derived"]["more"] = None
    changed(fields, path, value)
    if path[-1] != "more":
        del fields["derived"]["more"]
    if path != ("digest",):
        fields["digest"] = codec.digest(fields)
    assert not ln.verify(json.dumps(fields))


def test_weaker_evidence_gives_a_weaker_bound_and_never_a_stronger_one():
    fields = terms_to_dict(terms_of("optimal"))
    own = fields["evidence"]["rounds"]
    own["vertex_weights"] = [9 * w for w in own["vertex_weights"]]
    text = codec.dump("plan", {"terms": fields})
    forged = StreamPlan.from_json(text).certificate
    assert forged.lower <= terms_of("optimal").certificate.upper


def test_no_other_document_is_taken_for_a_stream():
    plan = ln.plan(ln.Mean(["x"], ln.Box([0], [1])), budget=ZCDP, relation="add_remove")
    with pytest.raises(FileError):
        StreamPlan.from_json(plan.to_json())
    with pytest.raises(FileError):
        type(plan).from_json(document(terms_of("optimal")))
    fields = json.loads(document(terms_of("optimal")))
    fields["format"] = "lownoise.release/2"
    assert not ln.verify(json.dumps(fields))


@pytest.mark.parametrize("name", ["square root", "normalized", "optimal"])
def test_a_file_may_keep_as_many_rounds_as_a_plan(name, monkeypatch):
    text = document(terms_of(name))
    rounds = terms_of(name).question.workload.rounds
    monkeypatch.setattr("lownoise.streams.codec._MOST_KEPT", rounds)
    assert StreamPlan.from_json(text).verify()
    monkeypatch.setattr("lownoise.streams.codec._MOST_KEPT", rounds - 1)
    with pytest.raises(FileError, match=rf"keeps noise of {rounds} rounds"):
        StreamPlan.from_json(text)


@pytest.mark.parametrize("order", [1.0, 3.0, "mean", None])
def test_terms_are_of_an_error_that_is_known(order):
    with pytest.raises(PlanError, match=r"order=.* is of no error of a stream"):
        _ = replace(terms_of("square root"), order=order).error
