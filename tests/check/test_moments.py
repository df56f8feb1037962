# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides moments of boxes and balls.

Mutants, each seen red: squares that change in opposite ways taken for 0; a second derivative
without its squares; opposites alone looked at in a ball; a matrix of noise taken for its part that
flips leave; the count left out of what a record changes; half of the second moment of products.
"""

import itertools
import json
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import BUDGETS, changed
from check.test_questions import scaled
from lownoise_check import FALSE, HOLDS, OPEN

SEED = 20_261_129
WIDTHS = np.array([0.2, 5.0, 1.0, 1.0, 30.0, 0.5, 2.0, 1.0])
GROUPS = {"by": {"sex": ["F", "M"], "area": 3}, "way": 2}
DOMAINS = {
    "one": ln.Box([-1.0], [1.0]),
    "two, unlike": ln.Box([0.0, -3.0], [10.0, 1e3]),
    "far from 0": ln.Box([1e6, 1e6 + 1], [1e6 + 3, 1e6 + 2]),
    "three": ln.Box([-1.0, 0.0, 5.0], [1.0, 1e-3, 6.0]),
    "four": ln.Box(np.zeros(4), np.ones(4)),
    "many": ln.Box(-0.3 * WIDTHS, WIDTHS),
    "disc": ln.Ball(2),
    "ball": ln.Ball(3, radius=2.5, center=[10.0, 0.0, -5.0]),
    "wide ball": ln.Ball(12, radius=0.1),
}
CASES = [
    *itertools.product(DOMAINS, ("substitute", "add_remove"), (2.0, np.inf), ("",)),
    *itertools.product(("one", "two, unlike", "disc", "many"), ("add_remove",), (2.0,), ("by",)),
]


@cache
def planned(of, relation, order, by):
    """Return a plan's file; budgets and weights take turns."""
    turn = CASES.index((of, relation, order, by))
    domain = DOMAINS[of]
    public = relation == "substitute"
    groups = {**GROUPS, "outside": "extra"} if by else {}
    question = ln.Moments([f"x{i}" for i in range(domain.dimension)], domain, **groups)
    plan = ln.plan(
        question,
        budget=list(BUDGETS.values())[turn % 3],
        relation=relation,
        size=40 if public else None,
        order=order,
        weights="range",
        mechanism="gaussian",
    )
    return plan.to_json()


def noise_of(by):
    return ("terms", "noise", "values") if by else ("terms", "noise")


def scaled_noise(text, by, times):
    """Return a file whose noise is so many times as wide."""
    document = json.loads(text)
    place = document["terms"]["noise"]["values"] if by else document["terms"]["noise"]
    for name in {"scale", "factor"} & {*place}:
        place[name] = scaled(place[name], times)
    return json.dumps(document)


@pytest.mark.grid
@pytest.mark.parametrize("asked", CASES, ids=str)
def test_what_was_planned_holds(asked):
    status, lines = checker.decide(planned(*asked))
    assert status == HOLDS, lines
    assert ln.verify(planned(*asked))


def test_a_matrix_whose_digits_are_not_those_of_its_mean_over_flips_holds():
    """Weights of one on widths of all sizes: some moments have noise far wider than they change."""
    widths = np.array([0.14, 0.6, 150.0, 7.0, 0.007])
    plan = ln.plan(
        ln.Moments(list("abcde"), ln.Box(np.zeros(5), widths)),
        budget=ln.zcdp(0.1),
        relation="add_remove",
        order=np.inf,
        weights=np.ones(20),
        mechanism="gaussian",
    )
    status, lines = checker.decide(plan.to_json())
    assert status == HOLDS, lines


@pytest.mark.grid
@pytest.mark.parametrize("asked", CASES, ids=str)
def test_a_little_less_of_anything_does_not(asked):
    """A part in a hundred thousand less of noise, budget, cost and upper end; more of the lower."""
    text, by = planned(*asked), asked[-1]
    status, lines = checker.decide(scaled_noise(text, by, 1 - 1e-5))
    assert status == FALSE
    assert any(own.startswith("FALSE  no change by one neighbour") for own in lines)
    turn = CASES.index(asked)
    number = ("rho", "mu", "epsilon")[turn % 3]
    for path, times in (
        (("terms", "budget", number), 1 - 1e-6),
        (("derived", "certificate", "upper"), 1 - 1e-6),
        (("derived", "certificate", "lower"), 1.01),
        (("derived", "cost", "mu"), 1 - 1e-6),
        (("derived", "cost", "rho"), 1 - 1e-6),
        (("derived", "objective"), 1 - 1e-6),
    ):
        edited = changed(text, path, lambda value, times=times: value * times)
        assert checker.decide(edited)[0] == FALSE, path


@pytest.mark.grid(1, least=6)
@pytest.mark.parametrize("asked", CASES, ids=str)
def test_other_records_rows_and_relations_do_not(asked):
    text, by = planned(*asked), asked[-1]
    document = json.loads(text)
    here = ("terms", "question", "mean") if by else ("terms", "question")
    place = document["terms"]["question"]
    place = place["mean"] if by else place
    relation = asked[1]
    edits = [
        (("terms", "relation"), "add_remove" if relation == "substitute" else "substitute"),
        (("terms", "size"), 39 if relation == "substitute" else 40),
        (("terms", "noise"), {}),
    ]
    if "ball_moments" in place:
        edits.append(((*here, "ball_moments", "radius"), place["ball_moments"]["radius"] * 1.001))
    else:
        lower, upper = (np.array(place["moments"][name]) for name in ("lower", "upper"))
        wider = {"lower": (lower - 0.001).tolist(), "upper": (upper + 0.001).tolist()}
        edits.append(((*here, "moments"), wider))  # about the same middle
    center = list(place["center"])
    center[-1] += 1e-3 * (abs(center[-1]) + 1)
    if relation == "add_remove":  # of squares beside their count
        edits.append(((*here, "center"), [*center[:-1], 50 * center[-1]]))
    for path, value in edits:
        status, lines = checker.decide(changed(text, path, lambda _, value=value: value))
        assert status in (FALSE, OPEN), path
        assert "\n" not in lines[-1]
    for name in {"scale", "factor"} & {*(document["terms"]["noise"] if not by else {})}:
        short = changed(text, ("terms", "noise", name), lambda own: own[:-1])
        assert checker.decide(short)[0] in (FALSE, OPEN)


@pytest.mark.parametrize("of", ["two, unlike", "disc"])
@pytest.mark.parametrize(
    "value", [None, [], {}, "x", True, -1.0, 1e308, float("nan"), 10**400, [[[]]], [1e308] * 3]
)
def test_hostile_values_have_one_line(of, value):
    text = planned(of, "add_remove", 2.0, "")
    document = json.loads(text)
    kind = next(name for name in document["terms"]["question"] if "moments" in name)
    paths = [("terms", "question", kind, name) for name in document["terms"]["question"][kind]]
    paths += [("terms", "question", name) for name in (kind, "center", "columns")]
    paths += [("terms", "noise", name) for name in document["terms"]["noise"]]
    names = ("points", "vertex_weights", "query_weights")
    paths += [("terms", "evidence", name) for name in names]
    for path in paths:
        status, lines = checker.decide(changed(text, path, lambda _: value))
        assert status in (FALSE, OPEN), path
        assert "\n" not in lines[-1]
        assert len(lines[-1]) < 1000


def test_a_cross_term_that_is_dropped_is_missed():
    """A block without what ties its squares together, or its count, reaches less far."""
    for of, relation in (("many", "substitute"), ("disc", "add_remove")):
        text = planned(of, relation, 2.0, "")
        diagonal = changed(
            text,
            ("terms", "noise", "factor"),
            lambda rows: [[x * (i == j) for j, x in enumerate(row)] for i, row in enumerate(rows)],
        )
        assert checker.decide(text)[0] == HOLDS
        assert checker.decide(diagonal)[0] == FALSE


def changes(own, random, many):
    """Return what some records, or pairs of them, change, in steps, and their count of 8."""
    d = len(own.outer)
    z = random.choice([-1.0, -0.6, -0.2, 0.0, 0.1, 0.7, 1.0], (2, many, d))
    z[:, many // 2 :] = random.uniform(-1, 1, (2, many - many // 2, d))
    z[1, : many // 3] = z[0, : many // 3] * random.uniform(-1, 1, (many // 3, d))
    if own.ball:
        z /= np.maximum(np.linalg.norm(z, axis=2, keepdims=True), 1.0)
        z[0, ::2] /= np.maximum(np.linalg.norm(z[0, ::2], axis=1, keepdims=True), 1e-9)
        z[1, ::4] = -z[0, ::4] * random.uniform(0, 1, (len(z[0, ::4]), 1))
    left, right = np.array(own.pairs).T
    r = np.array([float(x) for x in own.outer])
    seen = np.concatenate([z * r, z[..., left] * z[..., right] * r[left] * r[right]], axis=2)
    if not own.counted:
        return (seen[0] - seen[1]) / own.step
    about = seen[0]
    about[:, own.squares] -= [float(x) for x in own.away]
    return np.hstack([about / own.step, np.full((many, 1), 8.0)])


@pytest.mark.grid(3, least=8)
@pytest.mark.parametrize("kind", ["block", "dense", "diagonal"])
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("of", ["one", "two, unlike", "three", "many", "disc", "ball"])
def test_no_change_is_beyond_what_is_shown_and_little_is_lost(of, relation, kind):
    """Of any noise: no limit below a change that there is passes; where flips leave it, near."""
    random = np.random.default_rng(SEED)
    document = json.loads(planned(of, relation, 2.0, ""))
    question, noise = document["terms"]["question"], dict(document["terms"]["noise"])
    counted = relation == "add_remove"
    noise["step"] = [2.0 ** (np.frexp(x)[1] - 36) for x in noise["step"]]
    noise["step"] = [2.0**-36 * max(1.0, abs(c)) for c in question["center"]]
    noise["step"] = [2.0 ** int(np.log2(s)) for s in noise["step"]]
    own = checker.Moments(question, noise, "kind drops_missing", counted, counted)
    n = own.d + counted
    places = [*own.squares, *([own.d] if counted else [])]
    units = np.array([float(x) for x in own.units(own.outer)]) / own.step
    units = np.append(units, 8.0) if counted else units
    for _ in range(4):
        factor = np.diag(units * random.uniform(0.5, 2.0, n))
        if kind != "diagonal":
            k = len(places)
            turned = np.eye(k) + np.tril(random.normal(size=(k, k)), -1) * random.choice([0.3, 2])
            factor[np.ix_(places, places)] = units[places, None] * turned
        given = {"kind": kind, "step": noise["step"]}
        given |= {
            "block": {
                "scale": np.delete(np.diag(factor), places).tolist(),
                "places": places,
                "factor": factor[np.ix_(places, places)].tolist(),
            },
            "dense": {"factor": factor.tolist()},
            "diagonal": {"scale": np.diag(factor).tolist()},
        }[kind]
        far = np.linalg.solve(factor, changes(own, random, 20_000).T)
        most = Fraction(float(np.max(np.sum(far * far, axis=0)) * (1 - 1e-9)))
        made = own.noise(given)
        count = 8 * counted
        assert not checker.shows(lambda made=made, c=count, m=most: own.covers(made, c, m))
        assert own.covers(made, count, most * (20 if own.ball else 2))
        assert not checker.shows(lambda made=made, c=count, m=most: own.covers(made, c, m / 2))


@pytest.mark.parametrize(
    ("of", "block", "alone"),
    [
        ("two, unlike", [[1.0, -0.95], [-0.95, 1.0]], [1e-4, 1e-4, 1e-4]),
        ("disc", [[0.501, -0.499], [-0.499, 0.501]], [1e-3, 1e-3, 2.0]),
    ],
)
def test_squares_in_opposite_ways_and_records_at_an_angle_are_seen(of, block, alone):
    """Noise of these precisions is weakest there: of neither corners nor opposites."""
    random = np.random.default_rng(SEED)
    document = json.loads(planned(of, "substitute", 2.0, ""))
    question, noise = document["terms"]["question"], dict(document["terms"]["noise"])
    noise["step"] = [2.0**-30] * 5
    own = checker.Moments(question, noise, "kind drops_missing", counted=False, lifted=False)
    units = np.array([float(x) for x in own.units(own.outer)]) * 2.0**30
    factor = np.diag(units)
    kept = [0, 1, 3]
    factor[kept, kept] /= np.sqrt(alone)
    root = np.linalg.cholesky(np.linalg.inv(block))
    factor[np.ix_(own.squares, own.squares)] = units[own.squares, None] * root
    far = np.linalg.solve(factor, changes(own, random, 20_000).T)
    most = Fraction(float(np.max(np.sum(far * far, axis=0))))
    made = own.noise({"kind": "dense", "factor": factor.tolist()})
    assert not checker.shows(lambda: own.covers(made, 0, most * Fraction(999, 1000)))
    assert own.covers(made, 0, most * Fraction(11, 10))


def test_noise_that_flips_change_is_covered_no_less():
    """A dense factor with ties between a column and its square costs more than its mean does."""
    random = np.random.default_rng(SEED)
    document = json.loads(planned("one", "add_remove", 2.0, ""))
    question, noise = document["terms"]["question"], dict(document["terms"]["noise"])
    noise["step"] = [2.0**-36, 2.0**-36]
    own = checker.Moments(question, noise, "kind drops_missing", counted=True, lifted=True)
    factor = np.diag([2.0**36, 2.0**36, 8.0])
    factor[1, 0] = 0.8 * factor[1, 1]
    far = np.linalg.solve(factor, changes(own, random, 2000).T)
    most = Fraction(float(np.max(np.sum(far * far, axis=0))))
    made = own.noise({"kind": "dense", "factor": factor.tolist()})
    for times in (Fraction(999, 1000), Fraction(3, 2), 2):
        assert not checker.shows(lambda times=times: own.covers(made, 8, most * times))


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("of", ["two, unlike", "three", "disc", "ball"])
def test_what_is_proved_is_what_all_flips_of_the_evidence_prove(of, relation):
    """Against fidelity in floats with a list of all flips, or of many orders and turns."""
    document = json.loads(planned(of, relation, 2.0, ""))
    question, noise = document["terms"]["question"], document["terms"]["noise"]
    counted, evidence = relation == "add_remove", document["terms"]["evidence"]
    own = checker.Moments(question, noise, "kind drops_missing", counted, counted)
    d = len(own.inner)
    r = np.array([float(x) for x in own.inner])
    weights = np.array(document["terms"]["weights"])
    c = np.array(evidence["query_weights"])
    given = evidence["points"]
    if isinstance(given, dict):
        given = checker.unpacked(given, "points", given["shape"])
    w = np.array(evidence["vertex_weights"])
    left, right = np.array(own.pairs).T
    flips = np.array(list(itertools.product([1.0, -1.0], repeat=d)))

    def seen(z):
        return np.hstack([z * r, z[:, left] * z[:, right] * r[left] * r[right]])

    moment = np.zeros((len(weights), len(weights)))
    for row, mass in zip(given, w, strict=True):
        for z in turned(row, d, counted, flips) if own.ball else [(np.array(row), 1.0)]:
            first = seen(flips * z[0][:d])
            if counted:
                first[:, own.squares] -= [float(x) for x in own.away]
                first = np.hstack([first, np.ones((len(flips), 1))])
            else:
                first = first - seen(flips * z[0][d:])
            moment += mass * z[1] * first.T @ first / len(flips)
    asked = np.diag(np.sqrt(c) * weights)
    values = np.linalg.eigvalsh(asked @ moment @ asked)
    exact = np.sum(np.sqrt(np.maximum(values, 0))) ** 2 / np.sum(w) / np.max(c)
    found = float(own.proved(evidence, "", weights.tolist(), infinite=False))
    assert abs(found / exact - 1) < 1e-5


def turned(row, d, counted, flips):
    """Yield records, or pairs, of these lengths: turned as the evidence says, and their shares."""
    del flips
    share = row[-1]
    lengths, along = (row[:1], 1.0) if counted else (row[:2], row[2])
    z = np.zeros((len(lengths), d))
    z[:, 0] = lengths
    if not counted:
        z[1, 0], z[1, 1] = lengths[1] * along, lengths[1] * np.sqrt(max(1 - along**2, 0.0))
    change = np.outer(z[0], z[0]) - (0 if counted else np.outer(z[1], z[1]))
    axes = np.linalg.eigh(change)[1]
    for basis, part in ((axes, 1 - share), (axes @ evenly(np.linalg.eigvalsh(change)), share)):
        for order in itertools.permutations(range(d)):
            own = (z @ basis)[:, list(order)]
            yield own.reshape(-1), part / len(list(itertools.permutations(range(d))))


def evenly(values):
    """Return a rotation after which a diagonal matrix is the same all along its diagonal."""
    d = len(values)
    basis = np.eye(d)
    for _ in range(200):
        form = basis.T @ np.diag(values) @ basis
        own = np.diag(form) - np.trace(form) / d
        i, j = int(np.argmax(own)), int(np.argmin(own))
        if own[i] - own[j] < 1e-14:
            break
        a, b, c = own[i], own[j], form[i, j]  # make the first of both 0
        t = np.roots([b, 2 * c, a])[0].real
        turn = np.eye(d)
        cos, sin = 1 / np.hypot(1, t), t / np.hypot(1, t)
        turn[i, i], turn[j, i], turn[i, j], turn[j, j] = cos, sin, -sin, cos
        basis = basis @ turn
    return basis
