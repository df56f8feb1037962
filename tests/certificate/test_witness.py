# SPDX-License-Identifier: Apache-2.0
"""A witness proves in fractions what the certificate proves in floats, and none proves more."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.certificate.witness import LARGEST, moment, proves, witness
from lownoise.errors import FileError
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.release import codec

RNG = np.random.default_rng(5)
DOMAINS = {
    "points": ln.Points(RNG.normal(size=(9, 4))),
    "unlike units": ln.Points(RNG.normal(size=(9, 4)) * [0.01, 1.0, 10.0, 100.0]),
    "differences": ln.difference_body(ln.Points(RNG.normal(size=(7, 3)))),
}


def forms(claim):
    """G, C and the mass of a claim about listed points."""
    vertices = claim.body.vertices(claim.dual.indices)
    rows = np.eye(vertices.shape[1]) if claim.queries is None else claim.queries
    asked = claim.weights[:, None] * rows
    C = moment(vertices, claim.dual.vertex_weights, moves=claim.body.moves)
    return moment(asked, claim.dual.query_weights), C, math.fsum(claim.dual.vertex_weights)


@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("name", DOMAINS)
def test_it_proves_the_certificate_and_not_a_thousandth_more(name, asked, order):
    domain = DOMAINS[name]
    rng = np.random.default_rng(1)
    workload = rng.normal(size=(5, domain.dimension)) if asked else None
    found = ln.theory.enclose(domain, order=order, workload=workload).certificate
    G, C, mass = forms(found.claim)
    X = witness(G, C)
    size = order_norm(found.claim.dual.query_weights, conjugate(order))
    bound = float(np.trace(X)) / math.sqrt(size * mass)
    assert found.lower * (1 - 1e-5) <= bound <= found.upper
    assert proves(G, C, X)
    assert not proves(G, C, X * 1.001)


@pytest.mark.parametrize(
    ("G", "C", "X", "holds"),
    [
        ([[1]], [[0]], 0.0, True),
        ([[1]], [[0]], 2.0**-1000, False),
        ([[0]], [[1]], 2.0**-1000, False),
        ([[-1]], [[1]], 0.0, False),
        ([[1]], [[1]], math.nextafter(1.0, 2.0), False),
    ],
)
def test_the_last_bit_decides(G, C, X, holds):
    G, C = ([[Fraction(v) for v in row] for row in each] for each in (G, C))
    assert proves(G, C, np.array([[X]])) == holds


def test_there_is_none_where_it_would_take_long_or_floats_find_none():
    wide = moment(np.eye(LARGEST + 1), np.ones(LARGEST + 1))
    flat = moment(np.array([[1.0, 2.0]]), np.ones(1))
    assert witness(wide, wide) is None
    assert witness(flat, flat) is None


def test_a_file_has_room_for_it():
    """Readers take a square table of numbers, and prove nothing by it."""
    rows = ln.Points(np.random.default_rng(2).normal(size=(6, 2)))
    plan = ln.plan(ln.Mean(["a", "b"], rows), budget=ln.zcdp(0.5), size=9, relation="substitute")
    document = json.loads(plan.to_json())
    for table, reads in (([[0.5, 0.0], [0.0, 9.0]], True), ([[1.0, 2.0]], False), ("no", False)):
        document["terms"]["evidence"]["witness"] = table
        document["digest"] = codec.digest(document)
        if reads:
            assert ln.Plan.from_json(json.dumps(document)).certificate == plan.certificate
        else:
            with pytest.raises(FileError):
                ln.Plan.from_json(json.dumps(document))
