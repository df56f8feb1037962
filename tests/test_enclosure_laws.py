# SPDX-License-Identifier: Apache-2.0
"""What holds of Γ_p for every domain, drawn at random: 002, sections 2.2 to 2.5, and Jung."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.certificate import order_norm
from lownoise.errors import LownoiseError
from lownoise.numbers.norms import conjugate

ORDER = st.one_of(st.just(2.0), st.floats(2, 40), st.just(math.inf))
SEED = st.integers(0, 2**32 - 1)
ROUND = 1 + 1e-12

few = settings(max_examples=12)


def body(seed, *, least=1, most=12, dimension=None):
    """Points at random: of any number and kind, some of them flat, far away or repeated."""
    rng = np.random.default_rng(seed)
    d = dimension or int(rng.integers(1, 5))
    n = int(rng.integers(least, most + 1))
    points = rng.normal(size=(n, d)) if rng.random() < 0.6 else rng.integers(-2, 3, (n, d)) * 1.0
    return points * 10.0 ** rng.uniform(-3, 3, d) + rng.integers(-1, 2) * 10.0 ** rng.uniform(0, 3)


def least(points, order=2.0, **more):
    return ln.theory.enclose(ln.Points(points), order=order, **more).certificate


@few
@given(SEED, ORDER)
def test_more_points_cost_no_less(seed, order):
    points = body(seed, least=2)
    part = points[: len(points) // 2]
    assert least(part, order).lower <= least(points, order).upper


@few
@given(SEED, ORDER, st.floats(1e-6, 1e6))
def test_it_scales_with_the_domain(seed, order, factor):
    points = body(seed)
    once, scaled = least(points, order), least(factor * points, order)
    assert factor * once.lower <= scaled.upper * ROUND
    assert scaled.lower <= factor * once.upper * ROUND


@few
@given(SEED, SEED, ORDER)
def test_a_minkowski_sum_costs_no_more_than_both(one, other, order):
    """002, Theorem 20: the triangle inequality."""
    x, y = body(one, most=6, dimension=3), body(other, most=6, dimension=3)
    both = (x[:, None] + y).reshape(-1, 3)
    assert least(both, order).lower <= (least(x, order).upper + least(y, order).upper) * ROUND


@few
@given(SEED, st.floats(2, 30), st.floats(1, 4))
def test_it_falls_with_the_order(seed, order, factor):
    points = body(seed)
    assert least(points, order * factor).lower <= least(points, order).upper
    assert least(points, math.inf).lower <= least(points, order).upper


@few
@given(SEED, ORDER)
def test_it_does_not_move_with_the_domain(seed, order):
    points = body(seed)
    moved = points + 7 * np.max(np.abs(points)) * np.random.default_rng(seed).integers(-3, 4)
    here, there = least(points, order), least(moved, order)
    assert here.lower <= there.upper * (1 + 1e-9)
    assert there.lower <= here.upper * (1 + 1e-9)


@few
@given(SEED, ORDER)
def test_only_the_hull_counts(seed, order):
    points = body(seed)
    rng = np.random.default_rng(seed)
    inner = rng.dirichlet(np.ones(len(points)), size=7) @ points
    full = rng.permutation(np.vstack([points, inner, points[: len(points) // 2]]))
    assert least(full, order).lower <= least(points, order).upper * (1 + 1e-9)
    assert least(points, order).lower <= least(full, order).upper * (1 + 1e-9)


@few
@given(SEED, st.one_of(st.floats(2.1, 40), st.just(math.inf)))
def test_it_is_the_most_that_a_rescaled_domain_costs_at_two(seed, order):
    """002, Lemma 27: Γ_p(K) = max Γ₂(DK) over diagonal D ≥ 0 with tr_q(D²) = 1, q = p/(p−2)."""
    points = body(seed, least=3)
    proof = least(points, order)
    q, rng = conjugate(order), np.random.default_rng(seed)
    for _ in range(3):
        squares = rng.exponential(size=points.shape[1]) ** rng.integers(1, 4)
        d = np.sqrt(squares / order_norm(squares, q))
        assert least(points * d, 2.0).lower <= proof.upper * ROUND
    c = proof.claim.dual.query_weights
    d = np.sqrt(c / order_norm(c, q))
    assert proof.lower <= least(points * d, 2.0).upper * ROUND  # the certificate's D attains it


@few
@given(SEED, ORDER)
def test_the_dual_measure_costs_what_its_covariance_says(seed, order):
    """002, Theorem 26: tr (D cov(P) D)^{1/2} ≤ Γ_p(K), with equality for the certificate's own."""
    points = body(seed, least=3)
    proof = least(points, order)
    rng, q = np.random.default_rng(seed), conjugate(order)

    def value(x, weights, c):
        about = x - weights @ x
        rows = np.sqrt(weights)[:, None] * about * np.sqrt(c / order_norm(c, q))
        return np.sum(np.linalg.svd(rows, compute_uv=False))

    anyhow = rng.dirichlet(np.ones(len(points)))
    assert value(points, anyhow, rng.exponential(size=points.shape[1])) <= proof.upper * ROUND
    dual = proof.claim.dual
    own = value(points[dual.indices], dual.vertex_weights, dual.query_weights)
    assert own == pytest.approx(proof.lower, rel=1e-9)


@few
@given(SEED)
def test_differences_cost_at_most_twice_and_at_least_what_jung_allows(seed):
    points = body(seed, least=2)
    d = np.linalg.matrix_rank(points - points[0])
    once, pairs = (
        least(points),
        ln.theory.enclose(ln.difference_body(ln.Points(points))).certificate,
    )
    assert pairs.lower <= 2 * once.upper * ROUND
    assert 2 * once.lower / math.sqrt(2 * d / (d + 1)) <= pairs.upper * ROUND


@few
@given(SEED, ORDER)
def test_differences_are_those_of_all_pairs(seed, order):
    points = body(seed, most=7)
    pairs = (points[:, None] - points).reshape(-1, points.shape[1])
    given_ = ln.theory.enclose(ln.difference_body(ln.Points(points)), order=order).certificate
    formed = least(pairs, order)
    assert given_.lower <= formed.upper * (1 + 1e-9)
    assert formed.lower <= given_.upper * (1 + 1e-9)


@few
@given(SEED, ORDER)
def test_a_workload_is_its_image(seed, order):
    points = body(seed, dimension=3)
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(int(rng.integers(1, 7)), 3))
    asked, formed = least(points, order, workload=queries), least(points @ queries.T, order)
    assert asked.lower <= formed.upper * (1 + 1e-9)
    assert formed.lower <= asked.upper * (1 + 1e-9)


@pytest.mark.parametrize(
    "point",
    [
        ln.Points([[3.0, -4.0]]),
        ln.Points([[3.0, -4.0]] * 3),
        ln.product(ln.Points([[1.0]]), ln.Points([[2.0]])),
        ln.hull(ln.Points([[1.0, 2.0]]), ln.Points([[1.0, 2.0]])),
        ln.Ball(2, 0.0, center=[3.0, -4.0]),
        ln.Box([3.0, -4.0], [3.0, -4.0]),
    ],
    ids=["list", "list of one", "product", "hull", "ball", "box"],
)
@pytest.mark.parametrize("workload", [None, [[1.0, 1.0]]], ids=["all", "asked"])
def test_the_changes_of_a_point_stand_at_zero(point, workload):
    found = ln.theory.enclose(ln.difference_body(point), workload=workload)
    assert not np.any(found.center)
    assert found.certificate.upper <= 1e-12


def unlike(kind, rng):
    """A domain of 3 columns whose sizes are anything from 10^-75 to 10^75."""
    s = 10.0 ** rng.uniform(-75, 75, 3) * (rng.random(3) < 0.9)
    points = rng.normal(size=(5, 3)) * s
    return {
        "box": lambda: ln.Box(-s, s),
        "points": lambda: ln.Points(points),
        "half axes": lambda: ln.Ellipsoid(s),
        "ellipsoid": lambda: ln.Ellipsoid(np.diag(s) @ rng.normal(size=(3, 3))),
        "zonotope": lambda: ln.Zonotope(points),
        "far ball": lambda: ln.Ball(3, s[0], 1.5, center=s),
        "product": lambda: ln.product(ln.Ball(1, s[0]), ln.Points(points[:, :2])),
        "sum": lambda: ln.minkowski_sum(ln.Ball(3, s[0]), ln.Ellipsoid(s)),
        "hull": lambda: ln.hull(ln.Ball(3, s[0]), ln.Ellipsoid(s)),
        "cut": lambda: ln.intersection(ln.Ball(3, s[0]), ln.Slab(s + 1e-70, 0, s[0] + 1e-70)),
        "image": lambda: ln.image(np.diag(s) @ rng.normal(size=(3, 2)), ln.Ball(2)),
    }[kind]()


def bounds(domain, order, way, rng):
    """Both bounds that are proved, or None where a line of refusal says why there are none."""
    try:
        if way == "plan":
            question = ln.Mean([f"c{i}" for i in range(domain.dimension)], domain)
            proof = ln.plan(
                question, budget=ln.zcdp(0.5), relation="add_remove", order=order, rtol=0.1
            ).certificate
        elif way == "factors":
            proof = ln.theory.factorize(
                rng.normal(size=(4, 3)) * domain.upper[0], order=order
            ).certificate
        else:
            body = ln.difference_body(domain) if way == "differences" else domain
            proof = ln.theory.enclose(body, order=order, rtol=0.1).certificate
    except LownoiseError as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017 (either is right)
        return None
    return proof.lower, proof.upper


WAYS = ["whole", "differences", "plan", "factors"]
KINDS = [
    *("box", "points", "half axes", "ellipsoid", "zonotope", "far ball"),
    *("product", "sum", "hull", "cut", "image"),
]


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sizes_of_any_scale_are_bounded_or_refused_in_one_line(kind, way):
    """Sizes of their own for each kind and way: at p = ∞, and at p = 2 and 3 in turn."""
    place = (KINDS.index(kind), WAYS.index(way))
    rng = np.random.default_rng(place)
    for order in (math.inf, 2.0 + sum(place) % 2):
        try:
            domain = unlike(kind, rng)
        except LownoiseError as refusal:
            assert "\n" not in str(refusal)  # noqa: PT017 (either is right)
            continue
        found = bounds(domain, order, way, rng)
        assert found is None or 0 <= found[0] <= found[1] < math.inf


@pytest.mark.grid
@pytest.mark.parametrize("order", [2.0, 3.0, 1000.0, math.inf])
@pytest.mark.parametrize("exponent", [10, 50, 74, -74])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_columns_of_two_scales_are_bounded_however_far_apart(order, exponent):
    sizes = np.array([10.0**exponent, 10.0**-exponent, 1.0])
    found = bounds(ln.Points(np.diag(sizes)), order, "whole", None)
    if exponent > 0:  # or the least comes first, and what floats lose of it is said
        assert found is not None
    assert found is None or found[1] <= found[0] * 1.101
