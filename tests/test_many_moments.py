# SPDX-License-Identifier: Apache-2.0
"""Moments of more columns than are searched: bounds, evidence, noise, and what follows."""

import itertools
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.certificate import FlipDual, OracleDual
from lownoise.errors import FileError, PlanError
from lownoise.release.moments import MomentAnswers
from lownoise.report import render_html, sections
from lownoise.report.mean import _decimals
from lownoise.sensitivity.factors import SHAPES, BlockShape, DenseShape
from lownoise.sets.bodies import LiftedOracle, MomentSet, OracleDifferences
from lownoise.sets.bodies.moment_forms import apart_up, moments_up
from lownoise.solvers import solve

SEED = 20_261_124
RELATIONS = ("substitute", "add_remove")
ROWS = 50
WIDTHS = np.array([0.2, 5.0, 1.0, 1.0, 30.0, 0.5, 2.0, 1.0])


@cache
def planned(relation, weights="range", width=8):
    low = -0.3 * WIDTHS[:width]
    question = ln.Moments([f"c{i}" for i in range(width)], ln.Box(low, WIDTHS[:width]))
    size = ROWS if relation == "substitute" else None
    return ln.plan(question, budget=ln.zcdp(2.0), relation=relation, size=size, weights=weights)


def table(random, width=8):
    own = random.choice([-0.4, -0.3, 0.1, 0.35, 1.0, 1.2], (ROWS, width)) * WIDTHS[:width]
    return pd.DataFrame(own, columns=[f"c{i}" for i in range(width)])


def body_of(width, relation, half=None):
    half = np.ones(width) if half is None else half
    known = MomentSet(-half, half)
    n, every = known.dimension, np.arange(known.dimension)
    if relation == "substitute":
        return OracleDifferences(known, every, np.ones(n))
    return LiftedOracle(known, every, np.ones(n), known.center)


def changes(body, random, count):
    """Some changes of the body: of corners, of faces and of inner records."""
    d = body.program.width
    z = random.choice([-1.0, -0.2, 0.0, 0.1, 1.0], (2, count, d), p=[0.35, 0.1, 0.1, 0.1, 0.35])
    if isinstance(body, OracleDifferences):
        return body.vertices(np.stack(z, axis=1))
    return body.vertices(z[0])


def test_a_shape_of_one_block_is_the_dense_shape_of_the_same_numbers():
    random = np.random.default_rng(SEED)
    block = np.tril(random.normal(size=(3, 3))) + 3 * np.eye(3)
    shape = BlockShape(random.random(4) + 0.1, np.array([1, 2, 6]), DenseShape(block))
    dense = shape.mapped(np.eye(7))
    assert np.allclose(shape.dense(), dense.dense())
    assert np.allclose(np.diag(shape.dense()), shape.diagonal())
    z, half = random.normal(size=7), random.random(7)
    assert np.allclose(shape.apply(z), dense.factor @ z)
    assert np.allclose(shape.solve(shape.apply(z)), z)
    assert np.all(shape.apply_abs(np.abs(z)) >= np.abs(shape.apply(z)) - 1e-12)
    for i in range(7):
        where, entries = shape.row(i)
        row = np.zeros(7)
        row[where] = entries
        assert np.array_equal(row, dense.factor[i])
    rows, columns = np.indices((7, 7))
    assert np.allclose(shape.entries(rows, columns), shape.dense())
    assert np.allclose(shape.seen(np.diag(half)), half[:, None] * dense.factor)
    for own, other in zip(shape.conditional_scales(), dense.conditional_scales(), strict=True):
        assert np.allclose(own, other)
    assert shape.whitening.defect < 1e-10
    assert np.allclose(shape.whitening.matrix @ dense.factor, np.eye(7))
    corners = np.array(list(itertools.product([1.0, -1.0], repeat=7))) * half
    most = max(np.linalg.norm(shape.solve(s)) for s in corners)
    assert most <= shape.box_radius_up(half) <= 1.5 * most
    again = SHAPES.read(SHAPES.write(shape))
    assert np.array_equal(again.dense(), shape.dense())
    assert np.allclose(shape.scaled(half).dense(), shape.dense() * np.outer(half, half))
    written = SHAPES.write(shape)
    for wrong in ({"places": [1, 1, 2]}, {"places": [1, 2, 9]}, {"factor": [[1.0]]}):
        with pytest.raises(FileError, match="noise"):
            SHAPES.read({**written, **wrong})


def test_no_corner_is_beyond_the_bound_on_moments():
    random = np.random.default_rng(SEED)
    for _ in range(40):
        d = 5
        products = np.abs(random.normal(size=(d, d)))
        products = np.triu(products, 1) + np.triu(products, 1).T
        root = random.normal(size=(d + 1, d + 1)) * random.choice([0.1, 1.0])
        gram, singles = root.T @ root, random.random(d)
        t = np.hstack([np.indices((2,) * d).reshape(d, -1).T, np.ones((2**d, 1))]).astype(float)
        forms = np.sum((t @ gram) * t, axis=1) + t[:, :d] @ singles
        forms += np.sum((t[:, :d] @ products) * t[:, :d], axis=1) / 2
        upper = moments_up(singles, products, gram, 0 * gram)
        assert np.max(forms) <= upper
    # nothing is lost where all that is quadratic is cancelled
    flat = np.zeros((d + 1, d + 1))
    flat[:d, :d] = np.diag(np.sum(products, axis=1)) / 2 - products / 2
    exact = float(np.sum(singles) + np.sum(products) / 2)
    assert moments_up(singles, products, flat, 0 * flat) == pytest.approx(exact, rel=1e-9)


def test_no_cut_is_beyond_the_bound_on_differences():
    random = np.random.default_rng(SEED)
    for d in (3, 5):
        u = np.array(list(itertools.product([1.0, -1.0, 0.0, 0.1, -0.2], repeat=d)))
        q, (left, right) = 1 - u * u, np.triu_indices(d, 1)
        for trial in range(12):
            n, nn = random.random(d), random.random(left.size) ** 3
            table_of = np.zeros((d, d))
            table_of[left, right] = table_of[right, left] = nn
            e = np.diag(random.random(d) * random.choice([0.5, 20.0])) - table_of / 4
            if trial % 2:
                e = np.abs(e)
            forms = np.square(1 - u) @ n + np.square(1 - u[:, left] * u[:, right]) @ nn
            forms += np.sum((q @ e) * q, axis=1)
            upper = apart_up(n, table_of, e)
            assert np.max(forms) <= upper <= 1.35 * np.max(forms)


@pytest.mark.parametrize("d", [2, 3, 7])
def test_squares_that_change_in_opposite_ways_are_covered_too(d):
    """Noise that ties squares together hides a rise of both, and not one of one against another."""
    body, random = body_of(d, "substitute"), np.random.default_rng(SEED)
    squares = body.program.squares
    z = random.choice([-1.0, 0.0, 0.1, 1.0], (2, 5000, d))
    own = body.vertices(np.stack(z, axis=1))
    for share in (0.5, 0.999):
        tied = (1 - share) * np.eye(d) + share * np.ones((d, d))
        block = DenseShape(np.linalg.cholesky(tied))
        shape = BlockShape(np.full(body.dimension - d, 50.0), squares, block)
        white = np.linalg.inv(shape.mapped(np.eye(body.dimension)).factor)
        most = np.max(np.linalg.norm(own @ white.T, axis=1))
        assert most <= body.radius_up(shape) <= 1.5 * most
        dense = DenseShape(np.linalg.cholesky(shape.dense()))
        assert most <= body.radius_up(dense)


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_change_of_many_columns_is_beyond_the_radius(relation):
    random = np.random.default_rng(SEED)
    body = body_of(7, relation, WIDTHS[:7])
    own, n = changes(body, random, 20_000), body.dimension
    squares = body.program.squares
    places = squares if relation == "substitute" else np.append(squares, n - 1)
    sign = np.tril(random.normal(size=(places.size,) * 2)) + 3 * np.eye(places.size)
    unit = body.widths()
    for block in (sign, np.diag(np.diag(sign))):
        shape = BlockShape(np.ones(n - places.size), places, DenseShape(block)).scaled(unit)
        lengths = np.linalg.norm(own @ np.linalg.inv(shape.mapped(np.eye(n)).factor).T, axis=1)
        assert np.max(lengths) <= body.radius_up(shape)
        # and of any other shape by what is known of lengths
        dense = DenseShape(np.linalg.cholesky(shape.dense()))
        assert np.max(lengths) <= body.radius_up(dense) <= 2.5 * np.max(lengths)
    assert np.all(np.max(np.abs(own), axis=0) <= body.widths())
    longest = np.max(np.linalg.norm(own, axis=1))
    assert longest <= body.answer_length(None) <= 1.3 * longest
    assert body.scaled(0.25).radius_up(shape) == pytest.approx(body.radius_up(shape) / 4)


@pytest.mark.parametrize("relation", RELATIONS)
def test_evidence_proves_what_the_list_of_all_its_flips_proves(relation):
    random = np.random.default_rng(SEED)
    d, body = 3, body_of(3, relation)
    wide = 2 * d if relation == "substitute" else d
    z, w = random.uniform(-1, 1, (4, wide)), np.array([0.4, 0.3, 0.2, 0.1])
    weights, c = random.random(body.dimension) + 0.5, random.random(body.dimension)
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=d)))
    every = (z.reshape(4, 1, -1, d) * signs[None, :, None, :]).reshape(4 * 8, -1, d)
    every = every if relation == "substitute" else every[:, 0]
    listed = OracleDual(every, np.repeat(w, 8), c).least(body, 4.0, weights)
    own = FlipDual(z, w, c).least(body, 4.0, weights)
    assert own == pytest.approx(listed, rel=1e-9)
    for wrong in (z[:, 1:], 1.5 * np.sign(z)):
        with pytest.raises(PlanError, match="does not fit"):
            FlipDual(wrong, w, c).least(body, 4.0, weights)


# what is proved of all noise: the gap of each, with room for other floating-point arithmetic
GAPS = [
    (4, "substitute", 2.0, 1e-3),
    (4, "substitute", math.inf, 5e-3),
    (8, "substitute", 2.0, 0.03),
    (20, "substitute", 2.0, 0.015),
    (8, "add_remove", 2.0, 1e-3),
    (8, "add_remove", 4.0, 1e-2),
    (20, "add_remove", 2.0, 1e-3),
]


@pytest.mark.grid(1)
@pytest.mark.parametrize("unlike", [False, True])
@pytest.mark.parametrize(("d", "relation", "order", "most"), GAPS, ids=str)
def test_noise_is_near_the_least_of_all(d, relation, order, most, unlike):
    body = body_of(d, relation)
    sizes = np.exp(np.random.default_rng(SEED).normal(size=d)) if unlike else np.ones(d)
    known = body.program
    weights = np.append(sizes, sizes[known.left] * sizes[known.right])
    weights[known.squares] *= 2
    if relation == "add_remove":
        weights = np.append(weights, 0.2 * np.linalg.norm(weights))
    found = solve(body, order=order, weights=weights).claim.certificate()
    assert 0 <= found.gap <= most


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_widths_that_are_powers_of_ten_apart_have_noise_near_the_least(relation):
    for half, order in ((10.0 ** np.arange(-6, 6), 2.0), (2.0 ** np.arange(-12, 13), 4.0)):
        body = body_of(half.size, relation, half)
        weights = np.ones(body.dimension)
        if relation == "add_remove":
            weights[-1] = 0.2 * np.linalg.norm(body.widths()[:-1])
        assert solve(body, order=order, weights=weights).claim.certificate().gap < 0.1


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_many_columns_release_what_was_asked_and_verify(relation):
    plan, random = planned(relation), np.random.default_rng(SEED)
    rows = table(random)
    mechanism = plan.terms.mechanism
    exact = mechanism.totals.answers(mechanism.totals.exact(mechanism.read(rows)))
    low, high = -0.3 * WIDTHS, WIDTHS
    inside = np.clip(rows.to_numpy(), low, high)
    about = inside - (low + high) / 2
    expected = [(about[:, i] * about[:, j]).mean() for i in range(8) for j in range(i, 8)]
    expected = np.append(inside.mean(axis=0), expected)
    if relation == "add_remove":
        assert exact[-1] == ROWS
        exact = plan.terms.question.center + exact[:-1] / ROWS
    assert np.allclose(exact, expected, atol=1e-6)
    release = plan.release(rows)
    for file in (release.to_json(), plan.to_json()):
        assert ln.verify(file)
    again = ln.Release.from_json(release.to_json())
    assert np.array_equal(again.moments.covariance, release.moments.covariance)


@pytest.mark.parametrize("relation", RELATIONS)
def test_one_row_of_many_columns_moves_no_more_than_the_noise_covers(relation):
    plan, random = planned(relation), np.random.default_rng(SEED)
    mechanism = plan.terms.mechanism
    coding = mechanism.totals.query.coding
    places = random.choice([-0.3, 0.35, 0.45, 1.0], (2, 20_000, 8), p=[0.45, 0.05, 0.05, 0.45])
    first, second = (coding.encode(own * WIDTHS) for own in places)
    moved = (first - second).astype(float)
    if relation == "add_remove":
        step = 1 / mechanism.totals.count_step
        moved = np.hstack([first.astype(float), np.full((len(first), 1), step)])
    factor = mechanism.noise.shape.mapped(np.eye(moved.shape[1])).factor
    unit = np.linalg.norm(factor, axis=1)
    lengths = np.linalg.norm((moved / unit) @ np.linalg.inv(factor / unit[:, None]).T, axis=1)
    assert np.max(lengths) <= mechanism.loss.mu
    assert np.max(lengths) >= 0.95 * mechanism.loss.mu


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_intervals_are_those_of_the_delta_method(relation):
    """Against gradients by differences and the covariance of all answers."""
    plan = planned(relation)
    rows = np.random.default_rng(SEED).normal(size=(500, 8)) @ np.diag(WIDTHS / 8)
    rows[:, 1] += 2 * rows[:, 0]
    about = rows - plan.terms.question.domain.middle
    left, right = np.triu_indices(8)
    means = np.append(rows.mean(axis=0), (about[:, left] * about[:, right]).mean(axis=0))
    answers = means
    if relation == "add_remove":
        answers = np.append((means - plan.terms.question.center) * ROWS, float(ROWS))
    noise = plan.terms.covariance

    def numbers(values):
        found = MomentAnswers(plan.terms, values)
        line = found.coefficients("c1", on=["c0", "c3", "c5"])
        return np.concatenate([found.covariance[1], found.correlation[1, 2:], line.slopes])

    step = 1e-5 * np.sqrt(np.diag(noise))
    sides = np.array([numbers(answers + e) - numbers(answers - e) for e in np.diag(step)])
    gradient = (sides / (2 * step[:, None])).T
    expected = 1.959964 * np.sqrt(np.einsum("ij,jk,ik->i", gradient, noise, gradient))
    found = MomentAnswers(plan.terms, answers)
    line = found.coefficients("c1", on=["c0", "c3", "c5"])
    raw = found._around(*found._correlation(), 0.95)[1, 2:]  # not cut
    whole = found._around(found.covariance, *found._slopes, 0.95)[1]
    ends = np.vstack([whole, raw, np.stack([line.lower, line.upper], axis=1)])
    assert np.allclose((ends[:, 1] - ends[:, 0]) / 2, expected, rtol=1e-4)
    assert np.allclose(ends.mean(axis=1), numbers(answers))


@pytest.mark.grid(1)
@pytest.mark.parametrize("budget", [ln.zcdp(50.0), ln.pure_dp(500.0)], ids=str)
def test_moments_by_groups_are_those_of_each_group(budget):
    random = np.random.default_rng(SEED)
    question = ln.Moments(
        ["a", "b"], ln.Box([0, -1], [4, 1]), by={"s": ["f", "m"], "t": [0, 1, 2]}, way=1
    )
    plan = ln.plan(question, budget=budget, relation="add_remove", weights="range")
    rows = pd.DataFrame({"a": random.uniform(0, 4, 900), "b": random.uniform(-1, 1, 900)})
    rows["b"] = np.clip(rows["b"] + rows["a"] / 4 - 0.5, -1, 1)
    rows["s"], rows["t"] = random.choice(["f", "m"], 900), random.integers(0, 3, 900)
    release = plan.release(rows)
    assert ln.verify(release.to_json())
    for name, label, own in (("s", "m", "m"), ("t", "2", 2)):
        found = release.moments.groups(name)[(label,)]
        kept = rows[rows[name] == own][["a", "b"]]
        expected = np.cov(kept.T.to_numpy(), bias=True)
        assert np.allclose(found.covariance, expected, atol=0.05)
        ends = found.covariance_interval(1 - 1e-9)
        assert np.all((ends[..., 0] <= expected) & (expected <= ends[..., 1]))
        assert found.coefficients("b").slopes[0] == pytest.approx(
            expected[0, 1] / expected[0, 0], abs=0.05
        )
    assert release.moments.groups()[()].covariance.shape == (2, 2)
    with pytest.raises(AttributeError, match=r"give release\.moments\.groups\(…\)\[labels\]"):
        _ = release.moments.correlation
    assert not hasattr(release.moments, "absent")
    own = plan.terms.certificate
    if plan.terms.gaussian:
        assert own.gap < 1e-5


def test_too_many_moments_by_groups_of_a_public_number_of_rows_are_refused():
    box = ln.Box(np.zeros(45), np.ones(45))
    names = [f"c{i}" for i in range(45)]
    question = ln.Moments(names, box, by={"s": [0, 1]}, outside={"s": 0})
    with pytest.raises(PlanError, match=r"1,080, and of more than 1,000"):
        ln.plan(question, budget=ln.zcdp(1.0), relation="substitute", size=100)


@pytest.mark.grid(1)
@pytest.mark.parametrize("cell", ["s=m", "t=1", "all rows"])
def test_groups_of_a_public_number_of_rows_have_the_noise_of_their_answers(cell):
    """Against the covariance of all answers; there the count of all rows has no noise."""
    plan = by_groups_of_many_rows()
    rows = np.random.default_rng(SEED).integers(0, 2, (60, 2))
    table_of = pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "s": ["f", "m", "x"] * 20})
    table_of["t"] = [0, 1] * 30
    name, _, label = cell.partition("=")
    found = plan.release(table_of).moments
    found = found.groups(name)[(label,)] if label else found.groups()[()]
    every, width = np.asarray(plan.terms.covariance), 6
    at = plan.terms.question.labels().index(cell) * width
    own = every[at : at + width, at : at + width]
    rows, columns = np.indices((width, width))
    assert np.allclose(found._noise(rows, columns), own, rtol=1e-12, atol=1e-12 * np.max(own))
    gradients = np.eye(width - 1)
    mean = found.estimate[:-1] / found.estimate[-1]
    slope = np.column_stack([gradients, -mean]) / found.estimate[-1]
    expected = np.einsum("ij,jk,ik->i", slope, own, slope)
    assert np.allclose(found._forms(np.arange(width - 1), gradients), expected)


@cache
def by_groups_of_many_rows():
    question = ln.Moments(
        ["a", "b"],
        ln.Box([0, 0], [1, 2]),
        by={"s": ["f", "m", "x"], "t": [0, 1]},
        sets=[[], ["s"], ["t"]],
        outside={"s": "f", "t": 0},
    )
    return ln.plan(question, budget=ln.zcdp(5.0), relation="substitute", size=60, weights="range")


def test_correlations_of_ten_columns_are_printed_as_a_matrix():
    random = np.random.default_rng(SEED)
    x = random.random((400, 10))
    x[:, 9] = 1 - x[:, 0]
    names = [f"column {i}" for i in range(10)]
    question = ln.Moments(names, ln.Box(np.zeros(10), np.ones(10)))
    plan = ln.plan(question, budget=ln.zcdp(1e4), relation="substitute", size=400)
    release = plan.release(pd.DataFrame(x, columns=names))
    lines = str(release).splitlines()
    row = next(line for line in lines if line.split()[:3] == ["10", "column", "9"])
    expected = [round(own, 2) for own in release.moments.correlation[9, :9].tolist()]
    assert [float(own.replace("−", "-")) for own in row.split()[3:]] == expected
    assert expected[0] < -0.9
    assert max(map(len, lines)) <= 80
    every = [part for section in sections(release) for part in section.parts]
    (found,) = [part for part in every if getattr(part, "shares", ())]
    assert not any(float(own.replace("−", "-")) == 0 and "−" in own for own in row.split()[3:])
    shares = np.array(found.shares)[:, 1:]
    assert shares == pytest.approx(np.tril(release.moments.correlation, -1)[:, :-1])
    page = render_html(sections(release))
    shaded = f"{45 * abs(release.moments.correlation[9, 0]):.0f}%"
    assert f'<td class="below" style="--share: {shaded}">{row.split()[3]}</td>' in page


def test_a_correlation_that_rounds_to_none_has_no_sign():
    assert [_decimals(own) for own in (-0.004, 0.004, -0.006, -1.0, 0.5, math.nan)] == [
        ".00",
        ".00",
        "−.01",
        "−1.00",
        ".50",
        "none",
    ]


def test_moments_are_parts_of_compounds():
    domain = ln.Moments(["a", "b"], ln.Box([0, 0], [1, 2])).domain
    for compound in (ln.product(domain, ln.Box([0], [1])), ln.product(ln.Ball(2), domain)):
        question = ln.Mean([f"x{i}" for i in range(compound.dimension)], compound)
        plan = ln.plan(question, budget=ln.zcdp(1.0), relation="substitute", size=100)
        rows = np.random.default_rng(SEED).normal(size=(6000, compound.dimension))
        own = compound.records(rows)
        moved = (own[:3000] - own[3000:]) / 100
        covariance = np.asarray(plan.terms.covariance)
        lengths = np.sum(moved @ np.linalg.inv(covariance) * moved, axis=1)
        assert np.max(lengths) <= plan.terms.mechanism.loss.mu**2 * (1 + 1e-9)
        assert plan.terms.certificate.gap < 0.02


def test_two_hundred_columns_form_no_matrix_of_all_moments():
    """20,300 numbers: their bound and their noise, without a matrix of 3 GB."""
    d = 200
    half = np.exp(np.random.default_rng(SEED).normal(size=d))
    body = body_of(d, "add_remove", half)
    known, n = body.program, body.dimension
    squares = np.append(known.squares, n - 1)
    unit = body.widths()
    block = DenseShape(np.diag(unit[squares]))
    shape = BlockShape(np.delete(unit, squares), squares, block)
    assert 100 < body.radius_up(shape) < 200
    apart = body_of(d, "substitute", half)
    shape = BlockShape(
        np.delete(apart.widths(), known.squares),
        known.squares,
        DenseShape(np.diag(apart.widths()[known.squares])),
    )
    cut = (d + 1) / 2  # half of all columns, and the count's, on either side
    assert 0.9999 * cut < apart.radius_up(shape) < 1.01 * cut
