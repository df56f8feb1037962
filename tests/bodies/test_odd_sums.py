# SPDX-License-Identifier: Apache-2.0
"""Odd sums of signs prove how far a cube's image reaches: never less than its corners, in any file.

Mutants seen: a weight taken twice from e, from D once; a form without its sums; a row of two signs
let in; a factorization not looked at. What rounding takes is too little for a test to see.
"""

import json
import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
import lownoise_check as checker
from check.documents import changed
from lownoise.errors import LownoiseError, PlanError
from lownoise.numbers.norms import order_norm
from lownoise.release import codec
from lownoise.sets.bodies import ImageBody
from lownoise.sets.bodies.multipliers import odd_sums_up
from lownoise.sets.unit_balls import NormBall
from lownoise.solvers import solve
from lownoise.solvers.odd_sums import least_sums
from lownoise_check import FALSE, HOLDS

SEED = st.integers(0, 2**32 - 1)


def signs(k):
    """All corners of a cube, up to a change of all signs, shape (2^(k − 1), k)."""
    return np.array(list(product([1.0, -1.0], repeat=k)))[: 1 << (k - 1)]


def sums_of(rng, k, n):
    """Sums of three or five signs at places drawn at random, shape (n, k)."""
    found = np.zeros((n, k))
    for row in found:
        many = int(rng.choice([1, 3, 5][: 1 + (k >= 3) + (k >= 5)]))
        row[rng.choice(k, many, replace=False)] = rng.choice([-1.0, 1.0], many)
    return found


@settings(max_examples=60)
@given(SEED)
def test_no_odd_sums_prove_less_than_the_farthest_corner(seed):
    """Whatever weights are given; where floats find no proof, nothing is said to be proved."""
    rng = np.random.default_rng(seed)
    k, r = int(rng.integers(1, 11)), int(rng.integers(1, 7))
    image = rng.normal(size=(r, k)) * 10.0 ** rng.uniform(-3, 3, k) * 10.0 ** rng.uniform(-90, 90)
    y = rng.exponential(size=k) * np.linalg.norm(image, axis=0) ** rng.choice([0, 1, 2])
    sums = sums_of(rng, k, int(rng.integers(0, 9)))
    weights = rng.exponential(size=len(sums)) * np.min(y) * 10.0 ** rng.uniform(-4, 0.5)
    table = np.vstack([y, weights[:, None] * sums])
    truth = np.max(np.linalg.norm(signs(k) @ image.T, axis=1))
    assert odd_sums_up(image, table) >= truth * (1 - 1e-12)
    body = ImageBody(image, NormBall(k, math.inf), table)
    assert body.length_up(np.eye(r), np.zeros(r)) >= truth * (1 - 1e-12)


@pytest.mark.grid(0, least=3)
@pytest.mark.parametrize(
    ("k", "r", "order"),
    [(12, 4, 2.0), (9, 3, math.inf), (13, 6, math.inf), (13, 6, 4.0), (12, 9, 2.0)],
)
def test_the_noise_covers_every_corner_and_is_no_more_than_of_squares(k, r, order):
    rng = np.random.default_rng(k)
    factor = rng.normal(size=(r, k))
    body, ones = ImageBody(factor, NormBall(k, math.inf)), np.ones(r)
    squares = solve(body, order=order, weights=ones).claim
    y, c = squares.body.multipliers, squares.dual.query_weights
    table, precision = least_sums(factor, y, order, c)
    corners = signs(k) @ factor.T
    # xᵀM⁻¹x ≤ 1 for M = F·(D/e)⁻¹·Fᵀ, and what is proved of it is hardly more
    M = factor @ np.linalg.solve(precision, factor.T)
    covered = np.sum(y) * (factor / y) @ factor.T
    white = np.linalg.inv(np.linalg.cholesky(M))
    reach = np.max(np.linalg.norm(corners @ white.T, axis=1))
    proved = ImageBody(factor, body.base, table).longest_image_up(white)
    assert reach <= proved <= 1 + 1e-9
    own = solve(body, order=order, weights=ones, odd_sums=True).claim.certificate()
    least = ln.theory.enclose(ln.Points(np.vstack([corners, -corners])), order=order).certificate
    plain = squares.certificate().upper
    assert least.lower * (1 - 1e-9) <= own.upper <= plain * (1 + 1e-12)
    size, loose = (order_norm(np.sqrt(np.diag(own)), order) for own in (M, covered))
    assert least.lower * (1 - 1e-9) <= size <= loose * (1 + 1e-3)  # what the barrier may cost
    # of what squares have beyond the least half is left at most
    assert size - least.upper <= (loose - least.upper) / 2 + 1e-3 * loose


def test_a_guess_that_is_too_low_is_not_believed(monkeypatch):
    apart = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]])
    table = np.array([[1.5 + 1e-9] * 3, [0.5] * 3])
    assert odd_sums_up(apart, table) == pytest.approx(math.sqrt(8), rel=1e-8)
    plain = np.linalg.eigvalsh
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda matrix: 0.9 * plain(matrix))
    assert odd_sums_up(apart, table) == math.inf


def test_multipliers_that_are_no_odd_sums_of_a_cubes_signs_are_refused():
    cube, square = NormBall(4, math.inf), np.ones(4)
    good = np.array([1.0, -1.0, 0.0, 1.0])
    ImageBody(np.eye(4), cube, np.vstack([square, 0.1 * good]))
    for row in ([1.0, 1, 0, 0], [0.0, 0, 0, 0], [1.0, 1, 2, 0], [math.nan] * 4):
        with pytest.raises(PlanError, match="odd many signs"):
            ImageBody(np.eye(4), cube, np.vstack([square, row]))
    with pytest.raises(PlanError, match="odd many signs"):
        ImageBody(np.eye(4), NormBall(4, 3.0), np.vstack([square, 0.1 * good]))
    with pytest.raises(PlanError, match="4 numbers above 0"):
        ImageBody(np.eye(4), cube, np.vstack([0 * square, 0.1 * good]))


@cache
def planned():
    """The text of a plan whose noise odd sums prove."""
    domain = ln.Zonotope(np.random.default_rng(2).normal(size=(24, 6)), center=np.arange(6))
    plan = ln.plan(ln.Sum(list("abcdef"), domain), budget=ln.zcdp(0.5), relation="add_remove")
    assert plan.certificate.gap < 0.01  # 0.08 by squares alone
    return plan.to_json()


def edited(path, change):
    """The plan with another value at a path, and the digest of that."""
    document = json.loads(changed(planned(), path, change))
    document["digest"] = codec.digest(document)
    return json.dumps(document)


REACH = ("terms", "noise", "reach")


def test_a_file_has_the_sums_and_both_readers_prove_what_it_says():
    fields = json.loads(planned())
    assert fields["format"] == "lownoise.plan/6"
    assert ln.Plan.from_json(planned()).to_json() == planned()
    assert ln.verify(planned())
    assert checker.decide(planned())[0] == HOLDS
    # squares alone do not prove it
    alone = json.loads(
        edited(REACH, lambda reach: [own for own in reach if isinstance(own, float)])
    )
    alone["format"] = "lownoise.plan/2"
    alone["digest"] = codec.digest(alone)
    assert not proved(json.dumps(alone))
    assert checker.decide(json.dumps(alone))[0] == FALSE


def proved(text):
    """Whether everything in a file holds; what is refused is so in one line."""
    try:
        return bool(ln.verify(text))
    except LownoiseError as error:
        return "\n" in str(error)


@pytest.mark.parametrize(
    "change",
    {
        "a weight below zero": lambda own: [-own[0], *own[1:]],
        "a weight of zero": lambda own: [0.0, *own[1:]],
        "a weight ten times as great": lambda own: [10 * own[0], *own[1:]],
        "two signs": lambda own: own[:-1],
        "four signs": lambda own: [
            *own,
            next(i for i in range(1, 9) if i not in map(abs, own[1:])),
        ],
        "no sign": lambda own: own[:1],
        "a place twice": lambda own: [*own[:-1], own[1]],
        "place zero": lambda own: [*own[:-1], 0],
        "a place beyond": lambda own: [*own[:-1], 26],
        "a place in parts": lambda own: [*own[:-1], float(own[-1])],
        "a sign turned": lambda own: [*own[:-1], -own[-1]],
        "nothing": lambda own: own[:0],
    }.items(),
    ids=lambda own: own[0],
)
def test_no_reader_takes_another_sum(change):
    """Each is refused, or more noise is asked for."""

    def heaviest(reach):  # of those that matter, the one that matters most
        k = sum(isinstance(own, float) for own in reach)
        at = max(range(k, len(reach)), key=lambda i: reach[i][0])
        return [*reach[:at], change[1](reach[at]), *reach[at + 1 :]]

    text = edited(REACH, heaviest)
    assert not proved(text)
    assert checker.decide(text)[0] == FALSE


def test_less_noise_is_not_covered_and_another_version_not_read():
    def less(rows):
        return [[x * (1 - 1e-6) for x in row] for row in rows]

    text = edited(("terms", "noise", "factor"), less)
    assert not proved(text)
    assert checker.decide(text)[0] == FALSE
    older = edited(("format",), lambda _: "lownoise.plan/5")
    with pytest.raises(LownoiseError, match="does not fit terms; use an unedited file"):
        ln.Plan.from_json(older)
