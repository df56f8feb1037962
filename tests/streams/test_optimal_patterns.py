# SPDX-License-Identifier: Apache-2.0
"""The least noise for people in several rounds: beside an outside solver, and its evidence."""

import itertools
import json
import math

import numpy as np
import pytest
from tests.streams.kinds_of_patterns import patterns

import lownoise as ln
from lownoise.bounds import may_have_room
from lownoise.certificate import PointDual
from lownoise.errors import FileError, PlanError
from lownoise.planning import StreamPlan
from lownoise.questions import LowerTriangular
from lownoise.release import codec
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.sensitivity.relations import Change
from lownoise.solvers.streams.patterns import PatternVertices
from lownoise.streams import StreamEvidence, unlike_signs
from lownoise.theory.factorization import best_pattern_factors

SPACED = Participation(3, 2, "spaced")
SEPARATED = Participation(2, 3, "separated")
ANY = Participation(3, 1, "any")
N = 7
WORKLOADS = {
    "prefix": ln.Prefix(N),
    "window": ln.SlidingWindow(N, 3),
    "decayed": ln.Decayed(N, 0.7),
    "matrix": LowerTriangular(np.tril(np.cos(np.arange(N * N)).reshape(N, N)) + np.eye(N)),
    "flat": LowerTriangular(np.tril(np.ones((N, N))) * (np.arange(N) != 3)),  # a round unused
}
ORDERS = {"mean": 2.0, "max": math.inf}
CROWD = {"domain": ln.Box([0], [99]), "relation": ln.Box([-1], [1])}


def movements(own, rounds, *, signed):
    """Return every ε that one person may have, the largest alone where signs make them enough."""
    values = (1.0, -1.0) if signed else (1.0,)
    found = []
    for chosen in patterns(own, rounds):
        for signs in itertools.product(values, repeat=len(chosen)):
            found.append(np.zeros(rounds))
            found[-1][list(chosen)] = signs
    if not signed:  # and any part of a pattern
        parts = {tuple(e) for e in found}
        for e in found:
            on = np.flatnonzero(e)
            for keep in itertools.product((0.0, 1.0), repeat=on.size):
                part = np.zeros(rounds)
                part[on] = keep
                parts.add(tuple(part))
        found = [np.array(e) for e in parts if any(e)]
    return np.array(found)


def outside(W, own, error, *, signed):
    """Return the least squared error over all X = CᵀC, by another program."""
    import cvxpy

    X = cvxpy.Variable(W.shape, PSD=True)
    sides = movements(own, len(W), signed=signed)
    rows = [cvxpy.matrix_frac(row, X) for row in W if np.any(row)]
    size = sum(rows) / len(W) if error == "mean" else cvxpy.maximum(*rows)
    covered = [cvxpy.sum(cvxpy.multiply(np.outer(e, e), X)) <= 1 for e in sides]
    return cvxpy.Problem(cvxpy.Minimize(size), covered).solve(solver="CLARABEL")


def charged(C, own):
    X = np.abs(C.T @ C)
    return max(X[np.ix_(chosen, chosen)].sum() for chosen in patterns(own, len(X)))


@pytest.mark.grid(1)
@pytest.mark.parametrize("error", ORDERS)
@pytest.mark.parametrize(
    ("name", "own", "signed"),
    [
        ("prefix", SPACED, True),
        ("prefix", SPACED, False),
        ("prefix", SEPARATED, True),
        ("prefix", ANY, True),
        ("window", SPACED, True),
        ("window", SEPARATED, False),
        ("decayed", SEPARATED, True),
        ("matrix", SPACED, True),
        ("matrix", SEPARATED, True),
        ("matrix", ANY, False),
    ],
)
def test_an_outside_solver_finds_the_same_least_error(name, own, signed, error):
    workload = WORKLOADS[name]
    W = workload.matrix()
    B, C, found = best_pattern_factors(W, error, own, signed=signed)
    wanted = outside(W, own, error, signed=signed)
    evidence = StreamEvidence(None, found.dual, N, found.patterns)
    lower = evidence.factor_norm(workload, own, ORDERS[error], signed=signed)
    listed = own.pattern == "spaced"
    assert wanted * (1 - (1e-5 if listed else 1e-2)) <= lower**2 <= wanted * (1 + 1e-6)
    np.testing.assert_allclose(B @ C, W, atol=1e-9 * np.abs(W).max())
    rows = np.square(B).sum(axis=1)
    moves = max(e @ C.T @ C @ e for e in movements(own, N, signed=signed))
    if signed:  # what is charged, for vectors of any direction, is more where X has numbers below 0
        assert moves <= charged(C, own) * (1 + 1e-9)
        moves = charged(C, own)
    reached = (rows.mean() if error == "mean" else rows.max()) * moves
    near = {"matrix": 0.12, "window": 0.06}.get(name, 0.02 if error == "max" else 1e-3)
    assert wanted * (1 - 1e-6) <= reached <= wanted * (1 + max(near, 0 if listed else 0.03))


def test_a_round_that_no_answer_uses_is_left_out():
    workload = WORKLOADS["flat"]
    B, C, found = best_pattern_factors(workload.matrix(), "mean", SPACED, signed=True)
    np.testing.assert_allclose(B @ C, workload.matrix(), atol=1e-9)
    evidence = StreamEvidence(None, found.dual, N, found.patterns)
    lower = evidence.factor_norm(workload, SPACED, 2.0, signed=True)
    assert 0.99 < np.square(B).sum() / N * charged(C, SPACED) / lower**2 < 1.1


@pytest.mark.parametrize("own", [SPACED, SEPARATED, ANY, Participation(12, 1, "any")], ids=str)
@pytest.mark.parametrize("signed", [True, False])
def test_what_a_search_finds_is_a_pattern_and_worth_what_it_says(own, signed):
    n, rng = 14, np.random.default_rng(3)
    root = rng.normal(size=(n, n))
    vertices = PatternVertices(np.eye(n), own, signed=signed)
    priced = vertices.price(root, np.zeros(n), 0.0, 40)
    rows = vertices.patterns(priced.indices)
    StreamEvidence(None, PointDual(np.arange(1), np.ones(1), np.ones(1)), n, rows).check(
        own, signed=signed
    )
    lengths = np.linalg.norm(vertices.gather(priced.indices) @ root.T, axis=1)
    assert lengths.max() == pytest.approx(priced.radius)
    if own.count < 12:  # and few are longer
        most = max(np.linalg.norm(root @ e) for e in movements(own, n, signed=signed))
        assert priced.radius >= 0.9 * most


def planned(own=SPACED, workload=None, **more):
    return ln.stream(
        ln.Prefix(N) if workload is None else workload,
        budget=ln.gaussian_dp(1.0),
        participations=own.count,
        separation=own.separation,
        pattern=own.pattern,
        **more,
    )


@pytest.mark.grid
@pytest.mark.parametrize("own", [SPACED, SEPARATED, ANY], ids=str)
@pytest.mark.parametrize("strategy", ["optimal", "square_root"])
@pytest.mark.parametrize("more", [{}, CROWD], ids=["one sign", "signs"])
def test_every_strategy_prints_what_none_is_below(own, strategy, more):
    terms = planned(own, strategy=strategy, **more).terms
    assert terms.evidence.patterns is not None
    best = planned(own, strategy="optimal", **more).terms
    assert 0 < terms.view.least < min(best.view.error, terms.view.error)
    # more rounds of one person take more noise than one of them
    assert terms.view.least > ln.stream(ln.Prefix(N), budget=ln.gaussian_dp(1.0)).terms.view.least


@pytest.mark.parametrize("more", [{}, CROWD], ids=["one sign", "signs"])
def test_patterns_are_kept_in_files_to_the_last_bit(more):
    plan = planned(SEPARATED, **more)
    again = StreamPlan.from_json(plan.to_json())
    assert again.to_json() == StreamPlan(plan.terms).to_json()
    np.testing.assert_array_equal(again.terms.evidence.patterns, plan.terms.evidence.patterns)
    assert again.terms.view.least == plan.terms.view.least
    assert "patterns" not in planned(ONE).to_json()


FORGED = {
    "two that are too near": [[1, 2, 0]],
    "one that is too far": [[1, 3, 7]],
    "the same twice": [[2, 2, 0]],
    "falling": [[3, 1, 0]],
    "a hole": [[1, 0, 3]],
    "nothing": [[0, 0, 0]],
    "beyond the rounds": [[4, 6, 8]],
    "too many": [[1, 3, 5, 7]],
    "the least integer": [[1, -(2**63), 0]],
    "a sign": [[1, -3, 0]],
}


@pytest.mark.parametrize("name", FORGED)
def test_patterns_that_are_not_one_person_s_are_refused(name):
    fields = json.loads(planned().to_json())
    evidence = fields["terms"]["evidence"]
    evidence["patterns"] = FORGED[name]
    evidence["rounds"]["vertices"], evidence["rounds"]["vertex_weights"] = [0], [1.0]
    with pytest.raises(FileError, match=r"evidence\.patterns has rounds, or signs"):
        StreamPlan.from_json(codec.dump("plan", {k: fields[k] for k in ("terms", "derived")}))


def test_signs_are_read_where_changes_have_opposites():
    fields = json.loads(planned(**CROWD).to_json())
    evidence = fields["terms"]["evidence"]
    evidence["patterns"] = FORGED["a sign"]
    evidence["rounds"]["vertices"], evidence["rounds"]["vertex_weights"] = [0], [1.0]
    text = codec.dump("plan", {k: fields[k] for k in ("terms", "derived")})
    assert 0 < StreamPlan.from_json(text).terms.view.least < planned(**CROWD).terms.view.least


def test_patterns_need_people_in_several_rounds_and_weights():
    dual = PointDual(np.arange(1), np.ones(1), np.ones(N))
    pattern = np.array([[1, 3, 5]])
    StreamEvidence(None, dual, N, pattern).check(SPACED, signed=False)
    for own, rounds in ((ONE, dual), (SPACED, None)):
        with pytest.raises(PlanError, match=r"evidence\.patterns"):
            StreamEvidence(None, rounds, N, pattern).check(own, signed=True)


@pytest.mark.parametrize(
    ("domain", "relation", "wanted"),
    [
        (ln.Box([0], [1]), "add_remove", False),
        (ln.Box([-1], [1]), "add_remove", True),
        (ln.Box([-1, 0], [1, 1]), "add_remove", False),
        (ln.Ball(2, 1.0), "add_remove", True),
        (ln.Ball(2, 1.0, center=[0.5, 0.0]), "add_remove", False),
        (ln.Points(np.eye(2)), "add_remove", False),
        (ln.Box([0], [1]), "substitute", True),
        (ln.Box([0], [9]), ln.Box([-1], [1]), True),
    ],
)
def test_signs_prove_nothing_where_changes_have_no_opposite(domain, relation, wanted):
    from lownoise.sensitivity.relations import checked_relation

    assert unlike_signs(domain, checked_relation(relation)) is wanted


ROOM = [
    (ln.Ball(2), ln.Box([-1, -1], [1, 1]), False),  # its corners are outside, about every record
    (ln.Ball(2), ln.Box([-0.7, -0.7], [0.7, 0.7]), True),
    (ln.Ball(2), ln.Ball(2), True),
    (ln.Ball(2), ln.Ball(2, 1.001), False),
    (ln.Ball(2), ln.Points([[2.0, 0.0]]), True),  # from one end to the other
    (ln.Ball(2), ln.Points([[2.1, 0.0]]), False),
    (ln.Ball(3, order=1), ln.Box([-1, -1, 0], [1, 1, 0]), False),
    (ln.Ball(3, order=1), ln.Ball(3, order=1), True),
    (ln.Ellipsoid([[1.0, 0.0], [0.99, 0.01]]), ln.Points([[1.0, 0.0]]), False),  # thin, askew
    (ln.hull(ln.Points([[0, 0], [3, 0], [0, 3]])), ln.Box([-1.5, -1.5], [1.5, 1.5]), False),
    (ln.hull(ln.Points([[0, 0], [3, 0], [0, 3]])), ln.Box([-0.4, -0.4], [0.4, 0.4]), True),
    (ln.product(ln.Box([0], [1]), ln.Ball(2)), ln.Box([-0.5, -1, -1], [0.5, 1, 1]), False),
    (ln.product(ln.Box([0], [1]), ln.Ball(2)), ln.Box([-0.5, -0.7, -0.7], [0.5, 0.7, 0.7]), True),
    (ln.hull(ln.Points([[0, 0], [3, 0], [0, 3]])), ln.Ball(2, 0.55), True),
    (ln.hull(ln.Points([[0, 0], [3, 0], [0, 3]])), ln.Ball(2, 0.9), False),  # inradius 0.88
    (ln.Box([0] * 3, [1] * 3), ln.image([[0.5], [0.5], [0.5]], ln.Ball(1)), True),
    (ln.Ball(3), ln.image([[0.5], [0.5], [0.5]], ln.Ball(1)), True),
    (ln.Ball(40), ln.Box([-0.1] * 40, [0.1] * 40), True),
    (ln.Ball(40, order=4), ln.Box([-1] * 40, [1] * 40), False),
]


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("domain", "body", "room"), ROOM)
def test_bounds_are_stated_only_where_a_record_has_room_for_every_change(domain, body, room):
    """The ranges of the columns alone once said that a ball has room for a box around it."""
    assert may_have_room(domain, Change(body)) is room
    question = ln.Mean([f"x{i}" for i in range(domain.dimension)], domain)
    plan = ln.plan(question, budget=ln.zcdp(0.1), relation=body, size=10)
    assert (plan.lower_bound > 0) is room
    if room:  # the record at the center, or at the middle of one change, is that record
        changes = body.extreme(np.random.default_rng(0).normal(size=(200, domain.dimension)))
        share = 0.5 if isinstance(body, ln.Points) else 1.0
        assert all(domain.contains(domain.center + share * s) for s in changes)


def test_unbiased_bounds_of_several_rounds_need_room_for_both_signs():
    change = ln.Box([-1], [1])
    narrow = planned(domain=ln.Box([0], [1]), relation=change).terms
    assert may_have_room(narrow.question.domain, Change(change))
    assert narrow.view.least > 0
    assert narrow.lower_bound == narrow.view.binding_least == 0
    assert planned(domain=ln.Box([0], [2]), relation=change).terms.lower_bound > 0
    listed = ln.Points([[0.0], [1.0], [2.0]])
    assert may_have_room(listed, Change(ln.Points([[1.0]])), both=True)
    assert not may_have_room(ln.Points([[0.0], [1.0]]), Change(ln.Points([[1.0]])), both=True)


@pytest.mark.parametrize("own", [Participation(4, 12, "spaced"), Participation(4, 9, "separated")])
def test_the_closed_form_is_below_what_evidence_proves_and_near(own):
    n = 48
    workload = ln.Prefix(n)
    found = best_pattern_factors(workload.matrix(), "mean", own, signed=True)[2]
    proved = StreamEvidence(None, found.dual, n, found.patterns)
    closed = StreamEvidence(None, None, n)
    shown = [e.factor_norm(workload, own, 2.0, signed=True) for e in (closed, proved)]
    assert 0.8 < shown[0] / shown[1] < 1
    one_sign = closed.factor_norm(workload, own, 2.0, signed=False)
    assert one_sign == pytest.approx(workload.trace_norm_down)  # a quarter of four is no more


@pytest.mark.parametrize(
    ("rounds", "own", "theirs"),
    [(256, Participation(4, 64, "spaced"), 27.16451490)],
)
def test_dense_strategies_are_no_worse_than_those_of_jax_privacy(rounds, own, theirs):
    W = np.tril(np.ones((rounds, rounds)))
    B, C, found = best_pattern_factors(W, "mean", own, signed=True)
    starts = range(own.separation)
    X = np.abs(C.T @ C)
    most = max(X[s :: own.separation, s :: own.separation].sum() for s in starts)
    reached = np.square(B).sum() / rounds * most
    assert reached <= theirs
    evidence = StreamEvidence(None, found.dual, rounds, found.patterns)
    lower = evidence.factor_norm(ln.Prefix(rounds), own, 2.0, signed=True) ** 2
    assert 1 <= reached / lower < 1 + 1e-6


@pytest.mark.parametrize(
    ("own", "near"),
    [
        (Participation(10, 6, "spaced"), 1e-3),  # signs that are not all tried
        (Participation(4, 12, "separated"), 0.02),
        (Participation(4, 1, "any"), 0.06),
    ],
    ids=str,
)
def test_what_is_charged_is_near_what_is_proved(own, near):
    view = planned(own, ln.Prefix(60), strategy="optimal", **CROWD).terms.view
    assert 1 <= (view.error / view.least) ** 2 < 1 + near


@pytest.mark.parametrize(
    ("own", "pattern"),
    [
        (SEPARATED, [1, 3]),
        (SPACED, [1, 4, 0]),
        (ANY, [1, -(2**63), 0]),
        (Participation(2, 2, "spaced"), [1, 2]),
    ],
    ids=str,
)
def test_each_promise_about_a_pattern_is_looked_at_alone(own, pattern):
    dual = PointDual(np.arange(1), np.ones(1), np.ones(N))
    with pytest.raises(PlanError, match=r"evidence\.patterns has rounds, or signs"):
        StreamEvidence(None, dual, N, np.array([pattern])).check(own, signed=True)


def test_the_closed_form_counts_no_round_that_patterns_leave_over():
    tiled, own = 24, Participation(2, 12, "spaced")
    closed = StreamEvidence(None, None, 1)
    shown = [
        closed.factor_norm(ln.Prefix(n), own, 2.0, signed=True) * math.sqrt(n) for n in (24, 25)
    ]
    assert shown[1] == pytest.approx(shown[0])
    assert shown[0] == pytest.approx(math.sqrt(2 / tiled) * ln.Prefix(tiled).nuclear_norm_down(24))


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("rounds", "own"),
    [
        (24, {"participations": 3, "separation": 4}),
        (24, {"participations": 3}),
        (60, {"participations": 5, "separation": 4}),
    ],
)
@pytest.mark.parametrize("error", ["mean", "max"])
def test_what_is_called_optimal_errs_no_more_than_families_that_it_could_use(rounds, own, error):
    asked = {"budget": ln.zcdp(0.5), "error": error, **own}
    best = ln.stream(ln.Prefix(rounds), strategy="optimal", **asked).error
    for strategy in ("banded", "toeplitz"):
        assert best <= ln.stream(ln.Prefix(rounds), strategy=strategy, **asked).error * (1 + 1e-9)
