# SPDX-License-Identifier: Apache-2.0
"""A certificate that states more than its evidence proves is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

import lownoise as ln
from cases import POINT_CASES
from lownoise.certificate import Certificate
from lownoise.errors import PlanError
from lownoise.sensitivity.factors import DenseShape

PROOFS = {
    **{
        case.name: ln.theory.enclose(case.domain, order=3.0).certificate for case in POINT_CASES[1:]
    },
    "a box": ln.theory.enclose(ln.Box([0, 1], [1, 5])).certificate,
    "factors": ln.theory.factorize(np.tril(np.ones((6, 6)))).certificate,
    "a workload": ln.theory.enclose(ln.Points(np.eye(4)), workload=np.tri(3, 4)).certificate,
}
every_proof = pytest.mark.parametrize("name", [n for n, p in PROOFS.items() if p.upper > 0])


@every_proof
def test_it_proves_what_it_states(name):
    proof = PROOFS[name]
    found = proof.verify()
    assert (found.lower, found.upper) == (proof.lower, proof.upper)


def test_it_is_proved_once_and_verifying_it_proves_it_again(monkeypatch):
    proof = PROOFS["a workload"]
    claim = proof.claim
    assert claim.proved is claim.proved
    assert (claim.proved.lower, claim.proved.upper) == (proof.lower, proof.upper)
    monkeypatch.setattr(type(claim.dual), "least", lambda *_: 0.0)
    assert claim.proved.lower == proof.lower > 0
    with pytest.raises(PlanError, match=r"its evidence proves 0\.0 to"):
        proof.verify()


@every_proof
@pytest.mark.parametrize("by", [1e-11, 1e-6, 1.0])
def test_it_is_refused_when_it_states_more(name, by):
    proof = PROOFS[name]
    for wrong in (
        replace(proof, lower=proof.lower * (1 + by)),
        replace(proof, upper=proof.upper / (1 + by)),
        replace(proof, lower=math.nan),
        replace(proof, upper=math.nan),
    ):
        with pytest.raises(PlanError, match=r"^certificate states .*; solve again$"):
            wrong.verify()


@every_proof
def test_it_may_state_less(name):
    proof = PROOFS[name]
    modest = Certificate(proof.lower / 2, proof.upper * 2, proof.claim)
    assert modest.verify() == proof


def test_evidence_of_another_body_is_refused():
    """Mutants by hand: another body, order, shape, center, weights."""
    proof = ln.theory.enclose(
        ln.Points(np.random.default_rng(0).normal(size=(9, 3))), order=3.0
    ).certificate
    claim = proof.claim
    larger = claim.body.replaced(2 * claim.body.points)
    smaller = claim.body.replaced(claim.body.points / 2)
    for wrong in (
        replace(claim, body=larger),
        replace(claim, body=smaller),
        replace(claim, order=2.0),
        replace(claim, order=4.0),
        replace(claim, shape=DenseShape(np.eye(3))),
        replace(claim, center=claim.center + 0.01),
        replace(claim, weights=claim.weights * [1.0, 1.0, 1.01]),
        replace(claim, dual=replace(claim.dual, query_weights=np.ones(3))),
        replace(claim, dual=replace(claim.dual, vertex_weights=claim.dual.vertex_weights[::-1])),
    ):
        with pytest.raises(PlanError, match=r"^certificate states"):
            replace(proof, claim=wrong).verify()


def test_without_evidence_there_is_nothing_to_check():
    with pytest.raises(PlanError, match=r"; make it with the search itself$"):
        Certificate(1.0, 2.0).verify()


def test_the_gap_of_nothing_is_nothing():
    assert Certificate(0.0, 0.0).gap == 0.0
    assert Certificate(0.0, 1.0).gap == math.inf


AGES = ln.Box([0, 0], [1, 9])
TWO = {"age": 2, "sex": 2}
BOX = {"question": ln.Mean(["a", "b"], AGES), "relation": "substitute", "size": 9}
ASKED = {
    "means": (BOX, "the answers", "the answers"),
    "weighed means": ({**BOX, "weights": [1.0, 2.0]}, "the answers", "the answers, times weights"),
    "sums and a count": ({**BOX, "relation": "add_remove", "size": None},) + ("the answers",) * 2,
    "marginals": ({"question": ln.Marginals(TWO, way=1)}, "records", "records"),
    "weighed marginals": (
        {"question": ln.Marginals(TWO, sets=[["age"], ["sex"]], weights=[1.0, 2.0])},
        *("records, times weights",) * 2,
    ),
    "queries": ({"question": ln.Queries([[0, 1, 1, 0]], TWO)}, "records", "records"),
}


@pytest.mark.parametrize("name", ASKED)
def test_error_bound_and_certificate_say_their_unit(name):
    """Whose unit it is, and whether weights count, which of a mean only the certificate's do."""
    asked, own, bounds = ASKED[name]
    plan = ln.plan(**{"relation": "add_remove", **asked}, budget=ln.zcdp(0.5))
    count = name == "sums and a count"  # its weight is of a share of the privacy
    wanted = f"{bounds}, times weights" if count else bounds
    assert (plan.terms.unit, plan.certificate.unit) == (own, wanted)
    assert f"unit={wanted!r}" in repr(plan.certificate)
    assert wanted in plan._repr_html_()
    other = abs(plan.certificate.upper / plan.objective - 1) > 1e-6
    assert other == (own != wanted)
