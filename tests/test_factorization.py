# SPDX-License-Identifier: Apache-2.0
"""The best factors: published values, what they multiply to, and the laws of γ_(p)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from cases import ORDERS
from lownoise.certificate import order_norm
from lownoise.errors import PlanError

ORDER = st.one_of(st.just(2.0), st.floats(2, 40), st.just(math.inf))
SEED = st.integers(0, 2**32 - 1)
FLOAT = 1 + 1e-9

few = settings(max_examples=12)


def prefix(n):
    return np.tril(np.ones((n, n)))


def some_matrix(seed):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 7, 2)
    rank = rng.integers(1, min(m, n) + 1)
    return rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))


def check(W, found, order, weights=None):
    """W = left·right, no column of right is longer than 1, and left costs what is stated."""
    rows = np.linalg.norm(W, axis=1, keepdims=True)
    assert np.all(np.abs(found.left @ found.right - W) <= 1e-9 * rows)
    assert np.all(np.einsum("ij,ij->j", found.right, found.right) <= 1)
    deviations = np.sqrt(np.einsum("ij,ij->i", found.left, found.left))
    omega = np.ones(len(W)) if weights is None else weights
    assert order_norm(omega * deviations, order) == pytest.approx(found.certificate.upper, rel=1e-8)


@pytest.mark.parametrize(
    ("n", "order", "squared", "digits"),
    [
        (64, 2.0, 4.409397203944 * 64, 1e-12),
        (128, 2.0, 5.34072676 * 128, 2e-9),
        (256, 2.0, 6.372668142596 * 256, 1e-12),
        (64, math.inf, 4.457869, 2e-7),
        (128, math.inf, 5.38608654, 2e-9),
    ],
)
def test_prefix_sums_cost_the_published_value(n, order, squared, digits):
    """To the digits that mathematics.md, section 4, gives."""
    found = ln.theory.factorize(prefix(n), order=order, rtol=1e-9)
    assert found.status == "solved"
    assert found.certificate.gap <= 1e-9
    assert found.certificate.lower**2 <= squared * (1 + digits)
    assert squared * (1 - digits) <= found.certificate.upper**2
    # Σ 1/(2 sin((2j−1)π/(4n+2))) is the trace norm, and ‖W‖_*/√n never above γ_F
    trace = math.fsum(
        1 / (2 * math.sin((2 * j - 1) * math.pi / (4 * n + 2))) for j in range(1, n + 1)
    )
    if order == 2:
        assert trace / math.sqrt(n) <= found.certificate.lower


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "W",
    [
        prefix(9),
        np.random.default_rng(0).normal(size=(4, 11)),
        np.random.default_rng(1).normal(size=(11, 4)),
        np.random.default_rng(2).normal(size=(6, 2)) @ np.random.default_rng(3).normal(size=(2, 6)),
        np.array([[5.0]]),
        np.diag([1.0, 0.0, 2.0]),
        np.tril(np.random.default_rng(4).normal(size=(5, 5)), -1),
        np.diag([1e-12, 1.0, 1e12]) @ np.random.default_rng(5).normal(size=(3, 8)),
    ],
    ids=["prefix", "wide", "tall", "deficient", "number", "diagonal", "strict", "scales"],
)
def test_the_factors_are_what_they_should_be(W, order):
    found = ln.theory.factorize(W, order=order)
    check(W, found, order)
    assert found.certificate.gap <= 1e-6
    assert found.certificate.verify() == found.certificate
    if W.shape[0] == W.shape[1] and not np.any(np.triu(W, 1)):
        for factor in (found.left, found.right):
            assert factor.shape == W.shape
            assert not np.any(np.triu(factor, 1))
    else:
        rank = np.linalg.matrix_rank(W / np.linalg.norm(W, axis=1, keepdims=True))
        assert found.left.shape == (len(W), rank)


@few
@given(SEED, ORDER)
def test_it_is_the_cost_of_the_columns_and_their_opposites(seed, order):
    """002, Theorem 23: Γ_p({±w₁ … ±w_N}) = γ_(p)(W)."""
    W = some_matrix(seed)
    factors = ln.theory.factorize(W, order=order).certificate
    hull = ln.theory.enclose(ln.Points(np.hstack([W, -W]).T), order=order).certificate
    assert factors.lower <= hull.upper * FLOAT
    assert hull.lower <= factors.upper * FLOAT


@few
@given(SEED, ORDER)
def test_the_best_shift_of_the_columns_costs_what_the_points_do(seed, order):
    """002, Theorem 23: Γ_p({w₁ … w_N}) = inf_v γ_(p)(W + v1ᵀ), attained at minus the center."""
    W = some_matrix(seed)
    found = ln.theory.enclose(ln.Points(W.T), order=order)
    shift = np.random.default_rng(seed).normal(size=len(W))
    anyhow = ln.theory.factorize(W + shift[:, None], order=order).certificate
    assert found.certificate.lower <= anyhow.upper * FLOAT
    if W.shape[1] > 1:
        best = ln.theory.factorize(W - found.center[:, None], order=order).certificate
        assert best.lower <= found.certificate.upper * FLOAT


@few
@given(SEED)
def test_turning_the_answers_changes_nothing_at_two(seed):
    """γ_F(UW) = γ_F(W) for orthogonal U."""
    W = some_matrix(seed)
    U = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(W), len(W))))[0]
    plain, turned = ln.theory.factorize(W).certificate, ln.theory.factorize(U @ W).certificate
    assert plain.lower <= turned.upper * FLOAT
    assert turned.lower <= plain.upper * FLOAT


@few
@given(
    st.lists(
        st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6), min_size=1, max_size=7
    ),
    ORDER,
)
def test_a_diagonal_costs_its_norm(entries, order):
    proof = ln.theory.factorize(np.diag(entries), order=order).certificate
    known = order_norm(np.abs(entries), order)
    assert proof.lower <= known * (1 + 1e-14)
    assert known <= proof.upper * (1 + 1e-14)
    assert proof.gap <= 1e-6


@few
@given(SEED, ORDER)
def test_a_workload_on_top_is_the_product(seed, order):
    W = some_matrix(seed)
    L = np.random.default_rng(seed).normal(size=(9, len(W)))
    asked, formed = (
        ln.theory.factorize(W, workload=L, order=order),
        ln.theory.factorize(L @ W, order=order),
    )
    assert asked.certificate.lower <= formed.certificate.upper * FLOAT
    assert formed.certificate.lower <= asked.certificate.upper * FLOAT
    check(
        L @ W,
        replace(asked, left=L @ asked.left),
        order,
    )


@pytest.mark.parametrize(
    "L", [[[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]
)
@pytest.mark.parametrize("W", [prefix(3), np.eye(3), np.ones((3, 2))])
def test_what_a_workload_does_not_see_gets_no_noise(W, L):
    """A triangle has no triangular factors then: its factors are those of L·W."""
    found = ln.theory.factorize(W, workload=L, order=3.0)
    known = ln.theory.factorize(np.array(L) @ W, order=3.0).certificate
    assert np.array(L) @ found.left @ found.right == pytest.approx(np.array(L) @ W)
    assert found.left.shape[1] == np.linalg.matrix_rank(np.array(L) @ W)
    assert known.lower <= found.certificate.upper * FLOAT
    assert found.certificate.lower <= known.upper * FLOAT
    assert found.certificate.verify() == found.certificate


def test_weights_are_of_the_answers():
    W, weights = np.random.default_rng(3).normal(size=(4, 6)), np.array([1.0, 3.0, 0.1, 10.0])
    found = ln.theory.factorize(W, order=4.0, weights=weights)
    check(W, found, 4.0, weights)
    scaled = ln.theory.factorize(weights[:, None] * W, order=4.0).certificate
    assert found.certificate.lower <= scaled.upper * FLOAT
    assert scaled.lower <= found.certificate.upper * FLOAT


def ill_made(kind, rng):
    """A matrix that floats can hardly factor: flat, nearly flat, or of all scales."""
    n = int(rng.integers(2, 8))
    lower = np.tril(rng.normal(size=(n, n)))
    if kind == "scaled rows":
        return np.diag(10.0 ** rng.uniform(-70, 70, n)) @ lower
    if kind == "scaled columns":
        return lower @ np.diag(10.0 ** rng.uniform(-10, 10, n) * (rng.random(n) < 0.8))
    if kind == "wide":
        r = int(rng.integers(1, n))
        inner = np.diag(10.0 ** rng.uniform(-9, 0, r))
        return rng.normal(size=(n, r)) @ inner @ rng.normal(size=(r, n + 1))
    middle = {
        "flat": (rng.random(n) < 0.6) * 1.0,
        "nearly flat": 10.0 ** rng.uniform(-12, 0, n),
        "flat, of all scales": (rng.random(n) < 0.6) * 10.0 ** rng.uniform(-8, 8, n),
    }[kind]
    return lower @ np.diag(middle) @ np.tril(rng.normal(size=(n, n)))


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize(
    "kind", ["flat", "nearly flat", "flat, of all scales", "scaled rows", "scaled columns", "wide"]
)
def test_factors_make_the_matrix_again_or_are_refused(kind, order):
    rng = np.random.default_rng(17)
    made = 0
    for _ in range(8):
        W = ill_made(kind, rng)
        try:
            found = ln.theory.factorize(W, order=order)
        except PlanError as refusal:
            assert "\n" not in str(refusal)  # noqa: PT017 (either is right)
            continue
        made += 1
        rows = np.linalg.norm(W, axis=1, keepdims=True)
        assert np.all(np.abs(found.left @ found.right - W) <= 1e-9 * rows)
        assert 0 <= found.certificate.lower <= found.certificate.upper < math.inf
    assert made >= 4


def test_a_row_that_nearly_follows_from_others_is_refused_by_its_place():
    W = np.diag([1.0, 1e-10, 1e-5]) + np.tril(np.ones((3, 3)), -1) * [1.0, 1e-10, 0.0]
    W = np.vstack([np.hstack([W, np.zeros((3, 1))]), [1.0, 0.37, 1.0, 0.0]])
    with pytest.raises(PlanError, match=r"^matrix has factors that lose .* of row \d; leave out"):
        ln.theory.factorize(W)


def test_no_matrix_needs_no_factor():
    for W in (np.zeros((3, 3)), np.zeros((2, 5))):
        found = ln.theory.factorize(W)
        assert (found.certificate.lower, found.certificate.upper) == (0.0, 0.0)
        assert np.array_equal(found.left @ found.right, W)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"matrix": [[1.0, math.nan]]}, r"matrix\[0, 1\]=nan is not finite; give"),
        ({"matrix": [[math.inf]]}, r"matrix\[0, 0\]=inf is not finite; give"),
        ({"matrix": []}, r"matrix has shape \(0,\); give"),
        ({"matrix": [[]]}, r"matrix has shape \(1, 0\); give"),
        ({"matrix": [1.0, 2.0]}, r"matrix has shape \(2,\); give"),
        ({"matrix": [[[1.0]]]}, r"matrix has shape \(1, 1, 1\); give"),
        ({"matrix": [[1.0], [1.0, 2.0]]}, "matrix is not a table of numbers; give"),
        ({"matrix": [[1, 1j]], "weights": [1.0]}, "matrix is complex; give"),
        ({"matrix": "W"}, "matrix is not a table of numbers; give"),
        ({"matrix": [[2.0**251]]}, "matrix has a number beyond 2\\^250; use"),
        ({"matrix": [[1.0], [2.0**-251]]}, "matrix has at most .* in row 1, below 2\\^-250; use"),
        ({"matrix": [[1.0]], "order": 1.9}, "order=1.9 is out of range; give"),
        ({"matrix": [[1.0]], "rtol": 0.0}, "rtol=0 is out of range; give"),
        ({"matrix": [[1.0]], "weights": [1.0, 2.0]}, "weights has 2 numbers for 1 answers; give"),
        ({"matrix": [[1.0]], "weights": [0.0]}, r"weights\[0\]=0 is out of range; give"),
        ({"matrix": [[1.0]], "workload": [[1.0, 2.0]]}, r"workload has shape \(1, 2\).*; give"),
    ],
)
def test_refuses_in_one_line(arguments, said):
    with pytest.raises(PlanError, match=f"^{said}") as refusal:
        ln.theory.factorize(**arguments)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("order", [2.0, math.inf])
def test_a_triangle_that_is_singular_to_floats_has_its_least_factors(order):
    """Random lower triangles are flat to 2⁻ⁿ: 0.004 and 0.005 were left at n = 100."""
    A = np.tril(np.random.default_rng(0).normal(size=(80, 80)))
    found = ln.theory.factorize(A, order=order)
    assert found.status == "solved"
    assert found.certificate.gap <= 1e-6
    assert found.certificate.verify() == found.certificate
    assert np.allclose(found.left @ found.right, A, atol=1e-12)
