# SPDX-License-Identifier: Apache-2.0
"""A witness proves in whole numbers what the certificate proves in floats, and none proves more."""

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import lownoise as ln
from lownoise.certificate.witness import (
    LARGEST,
    NEAR,
    Dyadic,
    _leaves_a_diagonal,
    covers,
    proved,
    proves,
    witness,
)
from lownoise.release.encoding import witness_to_dict
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.bodies import SymmetricBox, SymmetricPoints
from refusals import refused_plan, sealed

RNG = np.random.default_rng(5)
DOMAINS = {
    "points": ln.Points(RNG.normal(size=(9, 4))),
    "unlike units": ln.Points(RNG.normal(size=(9, 4)) * [0.01, 1.0, 10.0, 100.0]),
    "differences": ln.difference_body(ln.Points(RNG.normal(size=(7, 3)))),
    "a simplex": ln.difference_body(
        ln.Points([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    ),
    "a box": ln.Box([0, 0, 0], [1, 2, 9]),
    "a ball": ln.Ball(3, radius=2.0),
}
ONE_DIRECTION = (("a ball", True, math.inf), ("unlike units", False, math.inf))
EXACT = 1e-8  # of the bound: what is given up, where G and C have inverses


def asked_of(claim):
    return claim.dual, claim.body, claim.order, claim.weights, claim.queries


@cache
def claimed(name, order, asked):
    domain = DOMAINS[name]
    workload = np.random.default_rng(1).normal(size=(5, domain.dimension)) if asked else None
    return ln.theory.enclose(domain, order=order, workload=workload).certificate


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("name", DOMAINS)
def test_it_proves_the_certificate_and_not_a_thousandth_more(name, asked, order):
    found = claimed(name, order, asked)
    about = asked_of(found.claim)
    X = witness(*about)
    if (
        X is None
    ):  # one query matters, and whether floats find an inverse is the machine's last bits
        assert (name, asked, order) in ONE_DIRECTION
        return
    least = about[0].least(*about[1:])
    assert least * (1 - NEAR) <= proved(X, *about) <= found.upper
    assert proved(X * 1.001, *about) is None


@pytest.mark.parametrize("name", ["points", "a simplex", "a box", "a ball"])
def test_little_is_given_up(name):
    found = claimed(name, 2.0, False)  # noqa: FBT003
    about = asked_of(found.claim)
    assert proved(witness(*about), *about) == pytest.approx(found.lower, rel=EXACT)


@pytest.mark.parametrize("name", ["points", "a simplex", "differences"])
def test_weights_may_have_any_sum(name):
    dual, *about = asked_of(claimed(name, 2.0, False).claim)  # noqa: FBT003
    assert dual.independent == (name == "a simplex")
    fourfold = replace(dual, vertex_weights=4 * dual.vertex_weights)
    found = [proved(witness(each, *about), each, *about) for each in (dual, fourfold)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize(("beside", "holds"), [(0.5, True), (0.5 + 2.0**-40, False)])
def test_a_root_is_not_believed(beside, holds, monkeypatch):
    """Of a root that makes half the identity, the rest must have a dominating diagonal."""
    half = Dyadic.of(np.array([[1.0, beside], [beside, 1.0]]))
    monkeypatch.setattr(np.linalg, "cholesky", lambda _: np.sqrt(0.5) * np.eye(2) * (1 - 2.0**-52))
    assert _leaves_a_diagonal(half, 0.0) == holds


def floats(*values):
    return Dyadic.of(np.array(values, dtype=np.float64))


@pytest.mark.parametrize(
    ("G", "C", "X", "holds"),
    [
        (1.0, 1.0, 1 - 2.0**-20, True),
        (2.0**-600, 2.0**600, 1 - 2.0**-20, True),
        (1.0, 1.0, math.nextafter(1.0, 2.0), False),
        (1.0, 1.0, 1 + 2.0**-20, False),
        (1.0, 0.0, 2.0**-1000, False),
        (-1.0, 1.0, 0.0, False),
    ],
)
def test_what_is_not_semidefinite_is_no_witness(G, C, X, holds):
    assert proves(floats([G]), floats([C]), np.array([[X]])) == holds


def test_eigenvalues_below_nought_by_little_are_seen():
    """Power: an eigenvalue of −2^-40 beside others of 1, which a decomposition rounds away."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    G = C = Dyadic.of(np.eye(6))
    for size, holds in ((1 - 2.0**-25, True), (1 + 2.0**-40, False)):
        assert proves(G, C, (turn * np.append(np.full(5, 0.5), size)) @ turn.T) == holds


def test_there_is_none_where_it_would_take_long_or_floats_find_none():
    wide = SymmetricBox(np.ones(LARGEST + 1))
    flat = SymmetricPoints(np.array([[1.0, 2.0]]))
    for body in (wide, flat):
        order, d = 2.0, body.dimension
        dual = ln.certificate.CornerDual(np.ones(d))
        if body is flat:
            dual = ln.certificate.PointDual(np.array([0]), np.ones(1), np.ones(d))
        assert witness(dual, body, order, np.ones(d)) is None


@pytest.mark.parametrize("seed", range(4))
def test_a_box_is_covered_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    box, shape = SymmetricBox(rng.uniform(size=7)), DiagonalShape(rng.uniform(size=7))
    radius = box.radius_up(shape)
    assert covers(box, shape, radius) is True
    assert covers(box, shape, radius * (1 - 1e-11)) is False
    assert covers(box, DenseShape(np.eye(7)), radius) is None
    assert covers(SymmetricBox(np.ones(1)), DiagonalShape([0.0]), 1e9) is False


TWO = {"a": 2, "b": 2}
PLANS = {
    "listed": (ln.Mean(["a", "b"], ln.Points(RNG.normal(size=(6, 2)))), "substitute", 9),
    "a box": (ln.Mean(["a", "b"], ln.Box([0, 0], [1, 9])), "substitute", 9),
    "sums": (ln.Mean(["a", "b"], ln.Box([0, 0], [1, 9])), "add_remove", None),
    "a ball": (ln.Mean(["a", "b"], ln.Ball(2, radius=3.0)), "substitute", 9),
    "queries": (ln.Queries([[0, 1, 1, 0], [1, 1, 0, 0]], TWO), "add_remove", None),
}
NAME = "lower bound in exact whole numbers"


@cache
def planned(name):
    question, relation, size = PLANS[name]
    return ln.plan(question, budget=ln.zcdp(0.5), relation=relation, size=size)


def edited(name, X):
    """A plan's file with another witness, or none, and the digest of whoever wrote it."""
    document = json.loads(planned(name).to_json())
    del document["terms"]["evidence"]["witness"]
    if X is not None:
        document["terms"]["evidence"]["witness"] = X
    return sealed(document)


def verdicts(text):
    return {check.name: check.holds for check in ln.verify(text).checks}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", PLANS)
def test_a_file_has_it_and_verify_checks_it(name):
    plan = planned(name)
    found = verdicts(plan.to_json())
    assert found[NAME]
    assert all(found.values())
    assert ("noise covers it in exact fractions" in found) == (name in ("a box", "sums"))
    assert ln.Plan.from_json(plan.to_json()).to_json() == plan.to_json()


@pytest.mark.parametrize("name", PLANS)
def test_a_file_without_it_verifies_without_it(name):
    """Files of 0.1 have none."""
    found = verdicts(edited(name, None))
    assert NAME not in found
    assert all(found.values())


@pytest.mark.parametrize("name", PLANS)
def test_a_forged_witness_is_refused(name):
    X = planned(name).terms.witness
    d = len(X)
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    forged = [X * 1.0001, X * 0.999, -X, np.zeros((d, d)), X @ turn, X + 0.001 * np.max(X)]
    for i in range(d):  # one entry, by a thousandth of the largest
        one = np.zeros((d, d))
        one[i, i] = 1e-3 * np.max(np.abs(X))
        forged += [X + one]
    forged += [X[:-1, :-1]] if d > 1 else []
    for other in forged:
        found = verdicts(edited(name, witness_to_dict(other)["witness"]))
        assert not found.pop(NAME)
        assert all(found.values())


@pytest.mark.parametrize("name", ["listed", "a box"])
def test_a_witness_of_other_last_bits_is_one(name):
    """Another machine makes another, and reading makes none."""
    X = planned(name).terms.witness * (1 - 2.0**-40)
    text = edited(name, witness_to_dict(X)["witness"])
    assert all(verdicts(text).values())
    assert "witness" not in vars(ln.Plan.from_json(text).terms)


@pytest.mark.parametrize("other", [[[1.0, 2.0]], "no", [[math.nan]], {}, [[[1.0]]]])
def test_what_is_no_table_is_refused_in_one_line(other):
    text = edited("listed", other)
    refused_plan(text)
    assert not ln.verify(text)
