# SPDX-License-Identifier: Apache-2.0
"""Moments over a ball: bounds, evidence, the least noise, and what is released.

Mutants, each seen red: the greatest cost looked for between opposites alone, or at the surface
alone; half the number of products left out; half of the share of products in evidence; squares
about another point than is coded; a row clipped column by column.
"""

import itertools
import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.certificate import TurnedDual
from lownoise.errors import FileError, LownoiseError, SpecError
from lownoise.sensitivity.factors import BlockShape, DenseShape
from lownoise.sets.bodies import BallMomentSet, LiftedOracle, OracleDifferences
from lownoise.solvers import solve
from lownoise.spec.files import read_spec

SEED = 20_261_124
RELATIONS = ("substitute", "add_remove")
ROWS = 60
CENTER = (10.0, 0.0, -5.0)


def known(d, radius=1.0):
    return BallMomentSet(np.zeros(d), radius, np.zeros(d))


def body_of(d, relation):
    own = known(d)
    n, every = own.dimension, np.arange(own.dimension)
    if relation == "substitute":
        return OracleDifferences(own, every, np.ones(n))
    return LiftedOracle(own, every, np.ones(n), own.center)


def drawn(random, count, d):
    z = random.normal(size=(count, d))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    z[::7] = np.round(z[::7] / np.max(np.abs(z[::7]), axis=1, keepdims=True))
    z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1.0)
    z[-3:] = 0.0
    return z * random.choice([1.0, 1.0, 1.0, 0.9, 0.5, 0.2], (count, 1))


def changes(body, random, count=4000):
    d = body.program.width
    one, other = drawn(random, count, d), drawn(random, count, d)
    other[: count // 2] = -one[: count // 2] * random.uniform(0, 1, (count // 2, 1))
    if isinstance(body, OracleDifferences):
        return body.vertices(np.stack([one, other], axis=1))
    return body.vertices(one)


def turned(n, a, b, d):
    """Noise that rotations leave as it is, of these precisions."""
    of = known(d)
    block = (np.eye(d) - 1 / d) / a + 1 / (d * d * b)
    alone = np.append(np.full(d, n), np.full(of.products.size, 2 * a)) ** -0.5
    return BlockShape(alone, of.squares, DenseShape(np.linalg.cholesky(block)))


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_greatest_cost_of_noise_that_rotations_leave_is_found_and_attained(d):
    random = np.random.default_rng(SEED + d)
    body = body_of(d, "substitute")
    for _ in range(25):
        n, a, b = np.exp(random.normal(0, 1.5, 3))
        shape = turned(n, a, b, d)
        bound = body.radius_up(shape)
        white = shape.whitening.matrix
        found = np.linalg.norm(changes(body, random, 800) @ white.T, axis=1)
        assert np.max(found) <= bound
        gram = a * (np.eye(d) - 1 / d) + b
        pair = body.program._pair(
            body.program.form_up(np.full(d, n), np.full(d * (d - 1) // 2, 2 * a), gram, 0 * gram).at
        )
        assert np.linalg.norm(white @ body.vertices(pair)[0]) >= bound * (1 - 1e-9)


@pytest.mark.parametrize("d", [2, 4])
def test_records_and_their_count_are_farthest_at_the_center_or_the_surface(d):
    random = np.random.default_rng(SEED + d)
    body, ends = body_of(d, "add_remove"), []
    z = np.vstack([0 * np.eye(d)[:1], np.eye(d)[:1], drawn(random, 400, d)])
    for _ in range(25):
        n, a = np.exp(random.normal(-2, 1.5, 2))
        root = random.normal(size=(2, 2))
        covariance = root @ root.T
        block = np.zeros((d + 1, d + 1))
        block[:d, :d] = (np.eye(d) - 1 / d) / a + covariance[0, 0] / d**2
        block[:d, d] = block[d, :d] = covariance[0, 1] / d
        block[d, d] = covariance[1, 1]
        alone = np.append(np.full(d, n), np.full(d * (d - 1) // 2, 2 * a)) ** -0.5
        places = np.append(body.program.squares, body.dimension - 1)
        shape = BlockShape(alone, places, DenseShape(np.linalg.cholesky(block)))
        lengths = np.linalg.norm(body.vertices(z) @ shape.whitening.matrix.T, axis=1)
        assert np.max(lengths) <= body.radius_up(shape) <= np.max(lengths) * (1 + 1e-9)
        ends.append(int(np.argmax(lengths)))
    assert 0 in ends
    assert len(set(ends)) > 1


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("d", [2, 3, 6])
def test_no_change_is_beyond_the_bound_whatever_the_noise(d, relation):
    """Of noise of any precisions and blocks, of any matrix, and along any answer."""
    random = np.random.default_rng(SEED + d)
    body = body_of(d, relation)
    own = changes(body, random)
    n, k = body.dimension, d + (relation == "add_remove")
    places = np.append(body.program.squares, n - 1)[:k]
    for trial in range(12):
        scale = np.exp(random.normal(0, 1, n - k)) * (1, 30)[trial % 2]
        root = np.tril(random.normal(size=(k, k))) + 2 * np.eye(k)
        shape = BlockShape(scale, places, DenseShape(root))
        lengths = np.linalg.norm(own @ shape.whitening.matrix.T, axis=1)
        assert np.max(lengths) <= body.radius_up(shape)
        dense = DenseShape(np.tril(random.normal(size=(n, n))) + 3 * np.eye(n))
        lengths = np.linalg.norm(own @ dense.whitening.matrix.T, axis=1)
        assert np.max(lengths) <= body.radius_up(dense)
        rows = random.normal(size=(3, n))
        ends = body.extent_up(rows, np.zeros(n))
        assert np.all(np.max(np.abs(own @ rows.T), axis=0) <= ends)
        if relation == "substitute":  # each end is found
            code = np.stack([[body.program.extreme_up(s * row) for s in (1, -1)] for row in rows])
            assert np.all(np.sum(body.vertices(code) * rows, axis=1) >= (1 - 1e-5) * ends)
    assert np.all(np.max(np.abs(own), axis=0) <= body.widths())


def signs_and_orders(d):
    for order in itertools.permutations(range(d)):
        for signs in itertools.product((1, -1), repeat=d):
            yield np.array(order), np.array(signs)


@pytest.mark.parametrize("relation", RELATIONS)
def test_evidence_is_what_flips_and_orders_of_such_records_have(relation):
    """Of d = 3: records, or pairs, turned so that what differs is diagonal, or off the diagonal."""
    body, d, share = body_of(3, relation), 3, 0.37
    pairs = relation == "substitute"
    even = np.ones(3) / math.sqrt(3)
    one, two = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    half, other = (one + two) / math.sqrt(2), (one - two) / math.sqrt(2)
    cosine = -0.4
    far, near = math.sqrt((1 - cosine) / 2), math.sqrt((1 + cosine) / 2)
    if pairs:  # opposites, and two of one length
        points = [[1.0, 0.3, -1.0, share], [1.0, 1.0, cosine, share]]
        flat = [[(one, -0.3 * one)], [(far * half + near * other, -far * half + near * other)]]
        off = [[(even, -0.3 * even)], [(far * one + near * two, -far * one + near * two)]]
    else:
        points = [[1.0, share], [0.6, share]]
        flat, off = [[(one,)], [(0.6 * one,)]], [[(even,)], [(0.6 * even,)]]
    w = np.array([0.7, 0.3])
    expected, mean, count = 0, 0, 0
    for order, signs in signs_and_orders(d):
        count += 1
        for weight, diagonal, beside in zip(w, flat, off, strict=True):
            for part, records in ((1 - share, diagonal[0]), (share, beside[0])):
                z = np.stack([record[order] * signs for record in records])
                change = body.vertices(z[None] if pairs else z)[0]
                expected = expected + weight * part * np.outer(change, change)
                mean = mean + weight * part * change
    dual = TurnedDual(np.array(points), w, np.ones(body.dimension))
    rows = dual.moments(body).rows
    assert np.allclose(rows.T @ rows, expected / count, atol=1e-9)
    if not pairs:
        own = dual.moments(body, counted=True)
        about = (expected / count - np.outer(mean, mean) / count**2)[:-1, :-1]
        assert np.allclose(own.rows.T @ own.rows, about, atol=1e-9)
        assert np.allclose(own.mean, mean[:-1] / count, atol=1e-9)


@cache
def planned(d, relation, order=2.0, weights="range", budget=None, **more):
    question = ln.Moments([f"x{i}" for i in range(d)], ln.Ball(d, 2.0, center=np.ones(d)))
    size = ROWS if relation == "substitute" else None
    return ln.plan(
        question,
        budget=budget or ln.zcdp(0.5),
        relation=relation,
        size=size,
        order=order,
        weights=weights,
        **more,
    )


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("d", "order"), [(2, 2.0), (2, math.inf), (3, 3.5), (30, 2.0)])
def test_noise_is_the_least_and_is_proved_to_be(d, order, relation):
    assert planned(d, relation, order).certificate.gap < 1e-5
    assert planned(d, relation, order, None).certificate.gap < 1e-5


def test_two_hundred_columns_have_the_least_noise():
    for relation in RELATIONS:
        assert planned(200, relation).certificate.gap < 1e-5


@pytest.mark.grid
@pytest.mark.parametrize("order", [2.0, math.inf])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("d", [2, 3])
def test_a_general_solver_finds_no_less_noise_for_records_of_the_ball(d, relation, order):
    """Of many points and dense noise, within a hundredth; no part of the solver of balls is run."""
    random = np.random.default_rng(SEED)
    z = drawn(random, 70, d)
    angles = np.arange(24) * math.pi / 12
    circle = np.zeros((24, d))
    circle[:, 0], circle[:, 1] = np.cos(angles), np.sin(angles)
    z = np.vstack([z, circle, -z[:30], 0.35 * circle, 0 * z[:1]])
    of, body = known(d), body_of(d, relation)
    held = of.moments(z)
    domain = ln.Points(held)
    center = body.origin if relation == "add_remove" else None
    n, every = of.dimension, np.arange(of.dimension)
    points = (
        domain.differences(every, np.ones(n))
        if center is None
        else domain.lifted(every, np.ones(n), center)
    )
    weights = np.linspace(1, 1, body.dimension)
    general = solve(points, order=order, weights=weights, rtol=1e-4).claim.certificate()
    own = solve(body, order=order, weights=weights, rtol=1e-4).claim.certificate()
    assert general.lower <= own.upper * (1 + 1e-6)
    assert own.lower <= general.upper * 1.011  # a few points need a little less
    assert own.upper <= own.lower * (1 + 1e-5)


def test_unlike_weights_are_covered_and_their_gap_is_printed():
    plan = planned(3, "add_remove", weights=(1.0, 2, 3, 1, 1, 1, 5, 1, 1))
    assert plan.terms.within_budget
    assert 0 < plan.certificate.gap < 0.2


def table(random, count=ROWS):
    rows = random.normal(size=(count, 3)) * [0.5, 0.7, 1.4] + CENTER
    own = pd.DataFrame(rows, columns=list("xyz"))
    own["sex"] = random.choice(["F", "M"], count)
    return own


BALL = ln.Ball(3, 2.0, center=CENTER)
ASKED = [
    ("zcdp", ln.zcdp(0.5), {}),
    ("pure", ln.pure_dp(1.0), {}),
    ("approx", ln.approx_dp(1.0, 1e-6), {}),
    ("groups", ln.zcdp(0.5), {"by": {"sex": ("F", "M")}, "way": 1, "outside": "extra"}),
]


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("name", "budget", "groups"), ASKED, ids=[own[0] for own in ASKED])
def test_whatever_plans_releases_what_was_asked_and_verifies(name, budget, groups, relation):
    random = np.random.default_rng(SEED)
    rows = table(random)
    question = ln.Moments(list("xyz"), BALL, **groups)
    size = ROWS if relation == "substitute" else None
    plan = ln.plan(question, budget=budget, relation=relation, size=size)
    release = plan.release(rows)
    assert ln.verify(release.to_json())
    assert ln.Release.from_json(release.to_json()).to_json() == release.to_json()
    assert "ball" in plan.to_json()
    assert "±" in str(release)
    near = ln.plan(question, budget=ln.zcdp(1e6), relation=relation, size=size).release(rows)
    own = near.moments if name != "groups" else near.moments.groups()[()]
    # rows are clipped to the ball, and not to its box
    about = rows[list("xyz")].to_numpy() - CENTER
    about /= np.maximum(np.linalg.norm(about, axis=1, keepdims=True) / 2, 1.0)
    assert np.allclose(own.mean, about.mean(axis=0) + CENTER, atol=5e-3)
    assert np.allclose(own.covariance, np.cov(about.T, bias=True), atol=3e-2)


@pytest.mark.parametrize("relation", RELATIONS)
def test_one_row_moves_the_integers_by_no_more_than_the_noise_covers(relation):
    """Measured in the noise itself, of rows inside, outside and at the surface."""
    random = np.random.default_rng(SEED)
    question = ln.Moments(list("xyz"), BALL)
    plan = ln.plan(
        question,
        budget=ln.zcdp(0.5),
        relation=relation,
        size=1 if relation == "substitute" else None,
    )
    mechanism = plan.terms.mechanism

    totals = mechanism.totals

    def integers(z):
        codes = totals.query.coding.encode(np.asarray(z) * 2 + CENTER).astype(float)
        if totals.count_step is None:
            return codes
        return np.hstack([codes, np.full((len(codes), 1), 1 / totals.count_step)])

    inverse = np.linalg.inv(mechanism.noise.covariance())
    z = np.vstack([drawn(random, 60, 3), 4 * drawn(random, 20, 3), [[1e300, 1, np.nan]]])
    moves = integers(z)
    one = pd.DataFrame(z[-1:] * 2 + CENTER, columns=list("xyz"))
    assert list(totals.exact(mechanism.read(one))) == moves[-1].tolist()
    if relation == "substitute":
        own = drawn(random, 40, 3)
        moves = np.vstack(
            [
                (moves[:, None] - moves[None]).reshape(-1, 9),
                integers(own) - integers(-0.2 * own),
            ]
        )
    worst = float(np.max(np.sum((moves @ inverse) * moves, axis=1)))
    assert 0.9 < worst <= 1 + 1e-9


def test_shifted_scaled_and_other_balls():
    """What is a box is one; what is neither is refused in one line."""
    names = ["a", "b"]
    as_box = ln.Moments(names, ln.Ball(2, 3.0, order=math.inf)).domain
    assert np.allclose(as_box.box.lower, -3)
    assert np.allclose(as_box.box.upper, 3)
    assert np.allclose(ln.Moments(["a"], ln.Ball(1, 3.0)).domain.box.lower, -3)
    assert ln.Moments(names, ln.Ellipsoid([2.0, 2.0])).domain.radius == 2
    for domain, text in (
        (ln.Ellipsoid([2.0, 1.0]), "no Euclidean ball of one radius"),
        (ln.Ball(2, order=1), "no Euclidean ball of one radius"),
        (ln.Ball(2, radius=0.0), "no second moments"),
        (ln.Ball(2, radius=1e-9, center=[1e9, 0]), "no second moments"),
        (ln.Ball(201), "2 to 200"),
        (ln.Points([[1.0, 2.0]]), "no box and no Euclidean ball"),
    ):
        with pytest.raises(LownoiseError, match=text) as refused:
            ln.Moments([f"x{i}" for i in range(domain.dimension)], domain)
        assert "\n" not in str(refused.value)
    one, other = planned(3, "add_remove"), ln.Moments(list("abc"), ln.Ball(3, 20.0))
    wider = ln.plan(other, budget=ln.zcdp(0.5), relation="add_remove", weights="range")
    assert wider.terms.compared == pytest.approx(one.terms.compared, rel=1e-6)


def test_a_file_says_which_ball_it_is():
    plan = planned(3, "substitute")
    for edit in ({"radius": 1.0}, {"radius": -2.0}, {"center": [1.0, 1.0]}, {"radius": "2"}):
        fields = json.loads(plan.to_json())
        assert fields["terms"]["question"]["ball_moments"]["radius"] == 2.0
        fields["terms"]["question"]["ball_moments"].update(edit)
        with pytest.raises(FileError):
            ln.Plan.from_json(json.dumps(fields))
    fields = json.loads(plan.to_json())
    fields["terms"]["evidence"]["vertex_weights"][0] *= 0.5
    assert not ln.verify(json.dumps(fields))


SPEC = """
[question]
kind = "moments"
relation = "add_remove"
weights = "range"
columns = ["x0", "x1"]
domain = {}

[budget]
rho = 0.5
"""


def test_a_specification_asks_for_the_same(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SPEC.format('{kind = "ball", dimension = 2, radius = 2, center = [1, 1]}'))
    assert read_spec(path).plan().error == pytest.approx(planned(2, "add_remove").error)
    path.write_text(SPEC.format('{kind = "ball", dimension = 2, order = 1}'))
    with pytest.raises(SpecError, match="no Euclidean ball"):
        read_spec(path).plan()


@pytest.mark.grid
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("radius", "weights"),
    [
        (2.0**-40, None),
        (2.0**-190, None),
        (1.0, [1e-61, 1e-61, 1e-54, 1e4, 1e-54]),
        (1.0, [1e-11, 1e56, 1e9, 1e-47, 1e31]),
    ],
)
def test_units_and_weights_that_are_far_apart_have_noise(radius, weights, relation):
    """Squares in small units weigh next to nothing beside the count of records."""
    plan = ln.plan(
        ln.Moments(["a", "b"], ln.Ball(2, radius)),
        budget=ln.zcdp(0.5),
        relation=relation,
        size=ROWS if relation == "substitute" else None,
        weights=weights,
    )
    assert np.all(plan.standard_deviation > 0)
    assert plan.terms.mechanism.loss.mu <= plan.terms.parameter
    assert weights is not None or plan.certificate.gap < 1e-6
