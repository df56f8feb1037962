# SPDX-License-Identifier: Apache-2.0
"""The lower bound is below the exact value of its evidence, and evidence cannot lie upward."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.certificate import (
    CornerDual,
    ImageDual,
    OracleDual,
    PointDual,
    SquaresDual,
)
from lownoise.errors import PlanError
from lownoise.numbers.norms import conjugate
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import (
    AbstractOracleBody,
    ImageBody,
    OracleBody,
    OracleDifferences,
    PointDifferences,
    SymmetricBox,
    SymmetricPoints,
    TranslatedPoints,
)
from lownoise.sets.unit_balls import NormBall

SEED = st.integers(0, 2**32 - 1)
ORDER = st.one_of(st.just(2.0), st.floats(2, 40), st.just(math.inf))
KINDS = (TranslatedPoints, SymmetricPoints, PointDifferences)


def exact_value(dual, body, order, weights, queries):
    """‖diag(√c)·ωL·[√wᵢ(sᵢ − x̄)]‖_* / √(‖c‖_q Σw) to 60 digits."""
    with mpmath.workdps(60):
        x = mpmath.matrix(body.points.tolist())
        rows = [x[int(i), :] for i in np.ravel(dual.indices)]
        if isinstance(body, PointDifferences):
            rows = [a - b for a, b in zip(rows[::2], rows[1::2], strict=True)]
        w = [mpmath.mpf(float(v)) for v in dual.vertex_weights]
        mass = mpmath.fsum(w)
        mean = mpmath.zeros(1, body.dimension)
        if body.moves:
            for v, row in zip(w, rows, strict=True):
                mean += v / mass * row
        c = [mpmath.mpf(float(v)) for v in dual.query_weights]
        L = mpmath.eye(body.dimension) if queries is None else mpmath.matrix(queries.tolist())
        scale = mpmath.diag([mpmath.sqrt(a) * float(b) for a, b in zip(c, weights, strict=True)])
        table = mpmath.matrix(len(rows), L.rows)
        for i, (v, row) in enumerate(zip(w, rows, strict=True)):
            table[i, :] = mpmath.sqrt(v) * (scale * L * (row - mean).T).T
        q = conjugate(order)
        norm = (
            max(c)
            if math.isinf(q)
            else mpmath.fsum(v ** mpmath.mpf(q) for v in c) ** (1 / mpmath.mpf(q))
        )
        gram = table.T * table
        values = mpmath.eigsy(gram, eigvals_only=True)
        return mpmath.fsum(mpmath.sqrt(max(v, 0)) for v in values) / mpmath.sqrt(norm * mass)


def evidence(seed, kind, *, far, asked):
    rng = np.random.default_rng(seed)
    d, n, k = 3, 9, int(rng.integers(1, 7))
    units = 10.0 ** rng.uniform(-9, 9, d)
    body = kind((rng.normal(size=(n, d)) + far * rng.normal(size=d)) * units)
    shape = (k, 2) if kind is PointDifferences else k
    indices = rng.integers(0, n, shape)
    queries = rng.normal(size=(4, d)) if asked else None
    m = d if queries is None else 4
    spread = 10.0 ** rng.uniform(-12, 0, k)
    dual = PointDual(indices, rng.dirichlet(np.ones(k)) * spread, rng.exponential(size=m))
    return body, dual, 10.0 ** rng.uniform(-2, 2, m), queries


@settings(max_examples=15)
@given(SEED, ORDER, st.sampled_from(KINDS), st.sampled_from([0.0, 1.0, 1e6]), st.booleans())
def test_it_is_just_below_the_exact_value(seed, order, kind, far, asked):
    body, dual, weights, queries = evidence(seed, kind, far=far, asked=asked)
    found = dual.least(body, order, weights, queries)
    known = exact_value(dual, body, order, weights, queries)
    assert mpmath.mpf(found) <= known
    reach = float(known) * (1 if kind is TranslatedPoints else 1 + far)
    assert found >= float(known) * (1 - 1e-9) - 1e-9 * reach * (1 + far)


@settings(max_examples=15)
@given(SEED, ORDER, st.booleans())
def test_what_cancels_is_rounded_down(seed, order, asked):
    """What the evidence sees is mostly rounding of what it does not: the doubt is as large."""
    rng = np.random.default_rng(seed)
    along = rng.normal(size=3)
    across = np.linalg.qr(along[:, None], mode="complete")[0][:, 1:].T
    points = rng.normal(size=(6, 1)) * 1e6 * along + 1e-10 * rng.normal(size=(6, 3))
    if not asked:
        points[:, 0], points[0, 0] = 1 + 1e-16 * points[:, 0], -1e6
    kind = SymmetricPoints if asked else TranslatedPoints
    w = np.r_[1e-30 if not asked else 1.0, np.ones(5)]
    dual = PointDual(np.arange(6), w, np.ones(2 if asked else 3))
    queries = across if asked else None
    weights = np.ones(2) if asked else np.array([1.0, 1e-12, 1e-12])
    body = kind(points)
    found = dual.least(body, order, weights, queries)
    assert mpmath.mpf(found) <= exact_value(dual, body, order, weights, queries)


@pytest.mark.parametrize("order", [2.0, 5.0, math.inf])
def test_a_pairing_that_is_not_quite_orthonormal_is_paid_for(order, monkeypatch):
    """Its norm is counted: the rows themselves pair better than any polar factor."""
    monkeypatch.setattr("lownoise.certificate.pairing._ORTHOGONAL", math.inf)
    monkeypatch.setattr("lownoise.certificate.pairing._LOST", math.inf)
    body = TranslatedPoints(np.random.default_rng(0).normal(size=(9, 3)) * [1.0, 2.0, 3.0])
    dual = PointDual(np.arange(9), np.ones(9), np.ones(3))
    hint = DenseShape(np.eye(3))
    found = dual.least(body, order, np.ones(3), None, hint)
    assert mpmath.mpf(found) <= exact_value(dual, body, order, np.ones(3), None)


@settings(max_examples=15)
@given(SEED, ORDER, st.floats(-6, 2))
def test_a_hint_makes_it_quicker_and_not_other(seed, order, off):
    """Any ellipsoid may be hinted at: a far one is not used."""
    rng = np.random.default_rng(seed)
    body, dual, weights, _ = evidence(seed, TranslatedPoints, far=0.0, asked=False)
    found = ln.theory.enclose(
        ln.Points(body.points), order=order, weights=weights
    ).certificate.claim
    hint = DenseShape(found.shape.factor * (1 + 10.0**off * rng.uniform(size=(3, 3))))
    for evidence_ in (found.dual, dual):
        plain = evidence_.least(body, order, weights)
        hinted = evidence_.least(body, order, weights, None, hint)
        assert hinted == pytest.approx(plain, rel=1e-9)
        assert mpmath.mpf(hinted) <= exact_value(evidence_, body, order, weights, None)


@settings(max_examples=15)
@given(SEED, ORDER, st.floats(0, 3))
def test_wrong_evidence_cannot_exceed_the_optimum(seed, order, size):
    """Weights are checked, not believed: whatever they are, the bound is one."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 3))
    proof = ln.theory.enclose(ln.Points(points), order=order).certificate
    claim = proof.claim
    dual = claim.dual
    w = dual.vertex_weights * np.exp(size * rng.normal(size=dual.vertex_weights.size))
    c = dual.query_weights * np.exp(size * rng.normal(size=3))
    for wrong in (
        PointDual(dual.indices, w, c),
        PointDual(dual.indices, 1e9 * dual.vertex_weights, 1e-9 * dual.query_weights),
        PointDual(rng.permutation(8)[: w.size], w, dual.query_weights),
    ):
        assert wrong.least(claim.body, order, claim.weights) <= proof.upper


@settings(max_examples=10)
@given(SEED, ORDER, st.booleans())
def test_independent_points_are_worth_all_their_pairs(seed, order, asked):
    rng = np.random.default_rng(seed)
    body, _, weights, queries = evidence(seed, PointDifferences, far=1.0, asked=asked)
    k = int(rng.integers(1, 7))
    indices, w, c = (
        rng.permutation(9)[:k],
        rng.dirichlet(np.ones(k)),
        rng.exponential(size=weights.size),
    )
    i, j = np.triu_indices(k, 1)
    found = PointDual(indices, w, c, independent=True).least(body, order, weights, queries)
    if k == 1:
        assert found == 0.0
        return
    pairs = PointDual(np.stack([indices[i], indices[j]], axis=1), w[i] * w[j], c)
    assert found == pytest.approx(pairs.least(body, order, weights, queries), rel=1e-8)
    known = exact_value(pairs, body, order, weights, queries)
    # the weights themselves are floats, and their products are rounded
    assert mpmath.mpf(found) <= known * (1 + mpmath.mpf(2) ** -50)


def test_independent_points_are_different_ones_of_a_difference_body():
    twice = PointDual(np.array([0, 0]), np.ones(2), np.ones(2), independent=True)
    fine = PointDual(np.array([0, 1]), np.ones(2), np.ones(2), independent=True)
    for dual, kind in (
        (twice, PointDifferences),
        (fine, SymmetricPoints),
        (fine, TranslatedPoints),
    ):
        with pytest.raises(PlanError, match=r"; solve again$"):
            dual.least(kind(np.eye(2)), 2.0, np.ones(2))


def test_one_point_many_times_proves_nothing():
    body = TranslatedPoints(np.array([[1.0, 2.0], [3.0, 5.0]]))
    dual = PointDual(np.array([1, 1, 1]), np.ones(3), np.ones(2))
    for hint in (None, DenseShape(np.eye(2))):
        assert dual.least(body, 2.0, np.ones(2), None, hint) == 0.0


def test_no_weight_proves_nothing():
    body = SymmetricPoints(np.eye(2))
    index, one = np.array([0, 1]), np.ones(2)
    assert PointDual(index, 0 * one, one).least(body, 2.0, one) == 0.0
    assert PointDual(index, one, 0 * one).least(body, 2.0, one) == 0.0


@pytest.mark.parametrize(
    "dual",
    [
        PointDual(np.array([0, 2]), np.ones(2), np.ones(2)),
        PointDual(np.array([0, -1]), np.ones(2), np.ones(2)),
        PointDual(np.array([0.0, 1.0]), np.ones(2), np.ones(2)),
        PointDual(np.array([[0, 1]]), np.ones(1), np.ones(2)),
        PointDual(np.array([0, 1]), np.ones(3), np.ones(2)),
        PointDual(np.array([0, 1]), np.ones(2), np.ones(3)),
        PointDual(np.array([0, 1]), np.array([1.0, -1.0]), np.ones(2)),
        PointDual(np.array([0, 1]), np.ones(2), np.array([1.0, -1e-300])),
        PointDual(np.array([0, 1]), np.array([1.0, math.nan]), np.ones(2)),
        CornerDual(np.ones(2)),
    ],
)
def test_malformed_evidence_is_refused(dual):
    with pytest.raises(PlanError, match=r"; solve again$") as refusal:
        dual.least(SymmetricPoints(np.eye(2)), 2.0, np.ones(2))
    assert "\n" not in str(refusal.value)


def test_evidence_for_points_does_not_fit_a_box():
    with pytest.raises(PlanError, match=r"; solve again$"):
        PointDual(np.array([0]), np.ones(1), np.ones(2)).least(
            SymmetricBox(np.ones(2)), 2.0, np.ones(2)
        )


def test_evidence_of_the_last_bits_proves_nothing():
    """‖(5e-324, 5e-324)‖₂ is 5e-324 in floats: the lower bound would be 2^¼ too high."""
    least = 5e-324
    c = np.full(2, least)
    box = SymmetricBox(np.ones(2))
    assert CornerDual(c).least(box, 4.0, np.ones(2)) == 0
    ball = ImageBody(np.ones(2), NormBall(2, 4.0))
    for dual in (
        SquaresDual(np.full(2, least), np.ones(2)),
        SquaresDual(np.ones(2), c),
        ImageDual(np.full((2, 2), least), np.ones(2), np.ones(2)),
        ImageDual(np.ones((2, 2)), c, np.ones(2)),
    ):
        assert dual.least(ball, 4.0, np.ones(2)) == 0


COUNTS = ln.intersection(ln.Box([0, 0, 0], [3, 4, 5]), ln.Slab([1, 1, 1], -99, 7))
CORNERS = [  # 0 ≤ x ≤ (3, 4, 5), Σx ≤ 7
    *([0, 0, 0], [3, 0, 0], [0, 4, 0], [0, 0, 5], [3, 4, 0]),
    *([3, 0, 4], [2, 0, 5], [0, 4, 3], [0, 2, 5]),
]


@pytest.mark.parametrize("pairs", [True, False])
def test_points_beyond_a_section_prove_no_more_than_those_on_its_rim(pairs):
    """Evidence is checked, not believed: what is outside is drawn back to the body."""
    domain, listed = COUNTS, ln.Points(CORNERS)
    if pairs:
        domain, listed = ln.difference_body(domain), ln.difference_body(listed)
    claim, least = (
        ln.theory.enclose(domain).certificate.claim,
        ln.theory.enclose(listed).certificate.upper,
    )
    for stretch in (0.5, 1.0, 1.01, 1.3, 1.9):
        placed = replace(claim.dual, points=stretch * claim.dual.points)
        found = placed.least(claim.body, claim.order, claim.weights)
        assert least * (1 - 1e-4) * min(stretch, 1.0) <= found <= least
        assert stretch >= 1 or found <= least * 0.51


OFF = 2.0**-10


@pytest.mark.parametrize("kind", [OracleBody, OracleDifferences])
@pytest.mark.parametrize("asked", [None, np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])])
def test_what_is_not_known_of_vertices_is_taken_off(kind, asked):
    """A program that places its points too far out, within what it says, proves no more."""
    points = np.random.default_rng(6).normal(size=(8, 3))

    class Program:
        """Points that are placed a little too far out."""

        dimension, width = 3, 3

        def __init__(self, off, doubt):
            self.off, self.doubt = off, np.full(3, doubt)

        def place(self, told):
            return told + self.off * np.sign(told)

        def knows(self, told):
            return bool(np.any(np.all(points == told, axis=1)))

    rng = np.random.default_rng(7)
    pairs = kind is OracleDifferences
    told = points[rng.integers(0, 8, (6, 2))] if pairs else points
    m = 3 if asked is None else 2
    dual = OracleDual(told, rng.dirichlet(np.ones(len(told))), rng.dirichlet(np.ones(m)))
    exact, doubted, plain = (
        dual.least(kind(Program(*own), np.arange(3), np.ones(3)), 2.0, np.ones(m), asked)
        for own in [(0.0, 0.0), (OFF, OFF), (OFF, 0.0)]
    )
    assert issubclass(kind, AbstractOracleBody)
    assert doubted <= exact
    assert exact < plain  # power: without the doubt it would be too high
    assert doubted >= exact * 0.9


@pytest.mark.grid
@pytest.mark.parametrize("weights", [[1e100, 1e100], [1e100, 3e99], [2e-100, 1e-100]])
@pytest.mark.parametrize("scale", [2.0**249, 2.0**-249])
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("boxed", [False, True])
def test_units_beyond_the_squares_of_floats_change_no_bound(weights, scale, relation, boxed):
    """Nothing warns, which pytest would raise; without a count both bounds are to scale."""

    def ends(scale, weights):
        points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.25]])
        domain = ln.Box([0, 0], [scale, scale]) if boxed else ln.Points(points * scale)
        size = 100 if relation == "substitute" else None
        asked = ln.Mean(["a", "b"], domain)
        made = ln.plan(
            asked, budget=ln.zcdp(0.1), relation=relation, size=size, weights=weights, rtol=1e-7
        )
        assert ln.verify(made.to_json())
        return made.certificate

    found = ends(scale, weights)
    assert 0.999 * found.upper < found.lower <= found.upper
    if relation == "substitute":
        own = ends(1.0, (np.array(weights) / max(weights)).tolist())
        assert found.lower / found.upper == pytest.approx(own.lower / own.upper, rel=1e-6)
