# SPDX-License-Identifier: Apache-2.0
"""No evidence for an image of a unit body proves more than is true, whatever it says."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.certificate import ImageDual, SquaresDual
from lownoise.errors import PlanError
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.sets.bodies import ImageBody, SymmetricPoints
from lownoise.sets.unit_balls import CappedBall, NormBall, SortedBall
from lownoise.solvers import solve
from unit_ball_cases import BASES, least_multiple, random_points

SEED = st.integers(0, 2**32 - 1)
ORDER = st.one_of(st.just(2.0), st.floats(2, 40), st.just(math.inf))
every = pytest.mark.parametrize("base", BASES.values(), ids=list(BASES))


def exact_value(second, c, order, weights, queries):
    """tr (G^{1/2} C G^{1/2})^{1/2} / √‖c‖_q to 40 digits; `second` is C, rows of mpf."""
    with mpmath.workdps(40):
        d = second.rows
        L = mpmath.eye(d) if queries is None else mpmath.matrix(queries.tolist())
        c = [mpmath.mpf(float(v)) for v in c]
        scale = mpmath.diag([mpmath.sqrt(v) * float(w) for v, w in zip(c, weights, strict=True)])
        values = mpmath.eigsy(scale * L * second * L.T * scale, eigvals_only=True)
        q = conjugate(order)
        norm = max(c) if math.isinf(q) else mpmath.fsum(v**q for v in c) ** (1 / mpmath.mpf(q))
        return mpmath.fsum(mpmath.sqrt(max(v, 0)) for v in values) / mpmath.sqrt(norm)


def seconds(factor, rows, weights):
    """Σ w·F·x·(F·x)ᵀ in 40 digits."""
    with mpmath.workdps(40):
        F = mpmath.matrix(factor.tolist())
        found = mpmath.zeros(F.rows)
        for x, w in zip(rows, weights, strict=True):
            image = F * mpmath.matrix(x.tolist())
            found += mpmath.mpf(float(w)) * image * image.T
        return found


def evidence(base, seed, *, asked):
    rng = np.random.default_rng(seed)
    d, k = 3, base.dimension
    body = ImageBody(rng.normal(size=(d, k)) * 10.0 ** rng.uniform(-6, 6, (d, 1)), base)
    queries = rng.normal(size=(4, d)) if asked else None
    m = d if queries is None else 4
    return rng, body, queries, rng.exponential(size=m), 10.0 ** rng.uniform(-2, 2, m)


@pytest.mark.grid
@every
@settings(max_examples=3)
@given(seed=SEED, order=ORDER, asked=st.booleans())
def test_squares_prove_no_more_than_their_second_moment_does(base, seed, order, asked):
    """The bound is at most the fidelity of diag(z), or of rounded signs, whichever is more."""
    rng, body, queries, c, weights = evidence(base, seed, asked=asked)
    z = rng.exponential(size=base.dimension) ** 2
    found = SquaresDual(z, c).least(body, order, weights, queries)
    t = least_multiple(base, z)
    plain = exact_value(
        seconds(body.factor, np.diag(np.sqrt(z)), np.ones(len(z))), c, order, weights, queries
    )
    # the second moment of √z∘sign(Wᵀg), W the directions of the columns seen
    with mpmath.workdps(40):
        seen = body.factor if queries is None else queries @ body.factor
        W = (np.sqrt(c) * weights)[:, None] * seen
        W /= np.linalg.norm(W, axis=0)
        root = np.sqrt(z)
        angles = np.arcsin(np.clip(W.T @ W, -1, 1)) * (2 / math.pi)
        np.fill_diagonal(angles, 1.0)
        second = mpmath.matrix((root[:, None] * angles * root).tolist())
        F = mpmath.matrix(body.factor.tolist())
        signs = exact_value(F * second * F.T, c, order, weights, queries)
        norm = float(base.norm_up(root[None])[0])
    assert found <= max(plain / math.sqrt(t), signs / norm) * (1 + 1e-9)
    assert found >= float(plain) / math.sqrt(base.moment_up(z)) * (1 - 1e-9)


@pytest.mark.grid
@every
@settings(max_examples=3)
@given(seed=SEED, order=ORDER, asked=st.booleans())
def test_points_prove_just_less_than_their_second_moment_does(base, seed, order, asked):
    rng, body, queries, c, weights = evidence(base, seed, asked=asked)
    x = random_points(base, rng, 4) * 10.0 ** rng.uniform(-3, 3)  # of any size: it is divided out
    w = rng.exponential(size=len(x)) * 10.0 ** rng.uniform(-9, 9, len(x))
    found = ImageDual(x, w, c).least(body, order, weights, queries)
    mass = float(np.sum(w * np.square(base.norm_up(x))))
    known = exact_value(seconds(body.factor, x, w), c, order, weights, queries) / math.sqrt(mass)
    assert found <= known * (1 + mpmath.mpf(2) ** -40)
    assert found >= known * (1 - mpmath.mpf(1e-9))


def corners(factor):
    k = factor.shape[1]
    return np.array(list(product([1.0, -1.0], repeat=k)))[: 2 ** (k - 1)] @ factor.T


@settings(max_examples=12)
@given(SEED, ORDER)
def test_no_evidence_exceeds_an_ellipsoid_found_from_the_corners(seed, order):
    """A zonotope as an image, against its least ellipsoid as a list of points."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 5)), int(rng.integers(1, 9))
    factor = rng.normal(size=(d, k)) * 10.0 ** rng.uniform(-2, 2, k)
    cube = NormBall(k, math.inf)
    body, ones = ImageBody(factor, cube), np.ones(d)
    least = ln.theory.enclose(
        ln.Points(np.vstack([corners(factor), -corners(factor)])), order=order
    )
    proof = least.certificate
    assert proof.gap < 1e-5
    own = solve(body, order=order, weights=ones).claim
    bounds = own.certificate()
    assert bounds.lower <= proof.upper * (1 + 1e-12)
    assert proof.lower <= bounds.upper * (1 + 1e-12)
    # within √(π/2) by theorem, whatever the corners are
    assert bounds.upper <= math.sqrt(math.pi / 2) * proof.upper * (1 + 1e-6)
    for _ in range(4):
        z, c = rng.exponential(size=k) ** 2, rng.exponential(size=d) ** 2
        x, w = rng.normal(size=(6, k)), rng.exponential(size=6)
        for dual in (SquaresDual(z, c), ImageDual(x, w, c)):
            assert dual.least(body, order, ones) <= proof.upper
    # the corners' own measure, written as points of the base, proves as much as it did
    claim = least.certificate.claim
    signs = np.array(list(product([1.0, -1.0], repeat=k)))[: 2 ** (k - 1)]
    both = np.vstack([signs, -signs])[claim.dual.indices]
    again = ImageDual(both, claim.dual.vertex_weights, claim.dual.query_weights)
    assert again.least(body, order, ones) == pytest.approx(proof.lower, rel=1e-5)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "base",
    [
        NormBall(3, 1.0), NormBall(3, 1.5), NormBall(3, 2.0), NormBall(3, 3.0), NormBall(3, 9.0),
        CappedBall(np.array([0.7, 0.5, 0.9])), SortedBall(np.array([2.0, 1.0, 0.5])),
    ],
    ids=lambda base: f"{type(base).__name__} {getattr(base, 'order', '')}",
)  # fmt: skip
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
def test_no_evidence_exceeds_an_ellipsoid_around_many_of_its_points(base, order):
    """The least ellipsoid around points inside is at most that around the body, and near it."""
    rng = np.random.default_rng(5)
    factor = rng.normal(size=(2, 3))
    body = ImageBody(factor, base)
    angles = np.linspace(0, math.pi, 200, endpoint=False)
    theta = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ends = base.extreme(theta @ factor) @ factor.T
    inner = ln.theory.enclose(ln.Points(np.vstack([ends, -ends])), order=order).certificate
    found = solve(body, order=order, weights=np.ones(2)).claim.certificate()
    assert found.lower <= inner.upper * (1 + 1e-3)  # 200 directions in the plane
    assert inner.lower <= found.upper * (1 + 1e-12)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        dual = SquaresDual(rng.exponential(size=3), rng.exponential(size=2))
        assert dual.least(body, order, np.ones(2)) <= inner.upper * (1 + 1e-3)


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED, order=ORDER)
def test_along_the_diagonal_both_forms_of_a_body_prove_the_same(base, seed, order):
    rng = np.random.default_rng(seed)
    k = base.dimension
    factor = np.exp(rng.normal(size=k))
    z, c, weights = rng.exponential(size=(3, k))
    dual = SquaresDual(z, c)
    flat = dual.least(ImageBody(factor, base), order, weights)
    full = dual.least(ImageBody(np.diag(factor), base), order, weights)
    assert flat == pytest.approx(full, rel=1e-9) or flat < full  # signs may prove more
    known = math.fsum(np.sqrt(c * z) * weights * factor) / math.sqrt(least_multiple(base, z))
    assert flat <= known / math.sqrt(order_norm(c, conjugate(order))) * (1 + 1e-9)


SQUARES = np.ones(3)
POINTS = np.eye(3)


@pytest.mark.parametrize(
    "dual",
    [
        SquaresDual(-SQUARES, np.ones(2)),
        SquaresDual(np.array([1.0, math.nan, 1.0]), np.ones(2)),
        SquaresDual(np.array([1.0, math.inf, 1.0]), np.ones(2)),
        SquaresDual(np.ones(2), np.ones(2)),
        SquaresDual(np.ones((3, 1)), np.ones(2)),
        SquaresDual(SQUARES, np.ones(3)),
        SquaresDual(SQUARES, np.ones(1)),
        SquaresDual(SQUARES, np.array([1.0, -1e-300])),
        SquaresDual(SQUARES, np.array([1.0, math.nan])),
        SquaresDual(SQUARES, np.array([1.0, math.inf])),
        ImageDual(POINTS, -np.ones(3), np.ones(2)),
        ImageDual(POINTS, np.array([1.0, math.nan, 1.0]), np.ones(2)),
        ImageDual(POINTS, np.array([1.0, math.inf, 1.0]), np.ones(2)),
        ImageDual(POINTS, np.ones(2), np.ones(2)),
        ImageDual(POINTS[:, :2], np.ones(3), np.ones(2)),
        ImageDual(np.full((3, 3), math.nan), np.ones(3), np.ones(2)),
        ImageDual(np.full((3, 3), math.inf), np.ones(3), np.ones(2)),
        ImageDual(POINTS, np.ones(3), np.ones(3)),
        ImageDual(POINTS, np.ones(3), np.array([1.0, -1.0])),
    ],
)
def test_malformed_evidence_is_refused_in_one_line(dual):
    body = ImageBody(np.ones((2, 3)), NormBall(3, 3.0))
    with pytest.raises(PlanError, match=r"does not fit its body; solve again$") as refusal:
        dual.least(body, 2.0, np.ones(2))
    assert "\n" not in str(refusal.value)


def test_evidence_for_images_does_not_fit_points_and_the_other_way_round():
    points = SymmetricPoints(np.eye(3))
    for dual in (SquaresDual(SQUARES, np.ones(3)), ImageDual(POINTS, np.ones(3), np.ones(3))):
        with pytest.raises(PlanError, match=r"does not fit its body; solve again$"):
            dual.least(points, 2.0, np.ones(3))


@pytest.mark.parametrize("factor", [np.ones((2, 3)), np.zeros((2, 3)), np.eye(3)[:2]])
def test_no_weight_proves_nothing(factor):
    body, ones = ImageBody(factor, NormBall(3, 3.0)), np.ones(2)
    for dual in (
        SquaresDual(0 * SQUARES, ones),
        SquaresDual(SQUARES, 0 * ones),
        ImageDual(POINTS, 0 * SQUARES, ones),
        ImageDual(POINTS, SQUARES, 0 * ones),
        ImageDual(0 * POINTS, SQUARES, ones),
        ImageDual(np.zeros((0, 3)), np.zeros(0), ones),
    ):
        assert dual.least(body, 2.0, ones) == 0.0
    still = ImageBody(np.zeros((2, 3)), NormBall(3, 3.0))
    assert SquaresDual(SQUARES, ones).least(still, 2.0, ones) == 0.0
    assert ImageDual(POINTS, SQUARES, ones).least(still, 2.0, ones) == 0.0


@settings(max_examples=10)
@given(SEED, ORDER)
def test_the_size_of_weights_does_not_matter(seed, order):
    rng = np.random.default_rng(seed)
    base = NormBall(4, 3.0)
    body = ImageBody(rng.normal(size=(3, 4)), base)
    z, c, x, w = rng.random(4), rng.random(3), rng.normal(size=(5, 4)), rng.random(5)
    for one, other in (
        (SquaresDual(z, c), SquaresDual(1e9 * z, 1e-9 * c)),
        (ImageDual(x, w, c), ImageDual(1e3 * x, 1e-9 * w, 1e9 * c)),
    ):
        bounds = [dual.least(body, order, np.ones(3)) for dual in (one, other)]
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-9)


@pytest.mark.grid(0)
@pytest.mark.parametrize(
    ("order", "left", "by_sums"), [(2.0, 0.081, 0.043), (math.inf, 0.082, 0.033)]
)
def test_what_is_turned_sign_by_sign_proves_more_of_a_zonotope_than_gradients_do(
    order, left, by_sums
):
    domain = ln.Zonotope(np.random.default_rng(1).normal(size=(60, 12)))
    body = domain.symmetrized(np.arange(12), np.ones(12))
    squares = solve(body, order=order, weights=np.ones(12)).claim.certificate()
    assert squares.gap < left  # by gradients alone 0.087 and 0.0845
    odd = solve(body, order=order, weights=np.ones(12), odd_sums=True).claim.certificate()
    assert odd.lower == squares.lower
    assert odd.gap < by_sums


@pytest.mark.grid(1)
@pytest.mark.parametrize("d", [24, 64])
def test_totals_of_ranges_far_from_zero_are_within_a_part_in_four_hundred(d):
    body = ln.Box([10] * d, [11] * d).symmetrized(np.arange(d), np.ones(d))
    assert solve(body, order=2.0, weights=np.ones(d)).claim.certificate().gap < 1 / 400
