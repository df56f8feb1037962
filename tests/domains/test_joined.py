# SPDX-License-Identifier: Apache-2.0
"""What combines domains, held to other ways of writing the same set, and to published rules."""

import math
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import DomainError, FileError
from lownoise.sets.domains import Image
from lownoise.sets.unit_balls import (
    UNIT_BALLS,
    KroneckerBall,
    NormBall,
)

ORDERS = (2.0, 3.0, math.inf)
RNG = np.random.default_rng(7)
TALL, SQUARE = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 3))


def gamma(domain, order, gap=2e-6):
    found = ln.theory.enclose(domain, order=order).certificate.verify()
    assert found.gap <= gap
    return found


def power(order):
    return 2.0 if math.isinf(order) else 2 * order / (order + 2)


def same(first, second):
    """Two sets, told apart by their supports in many directions."""
    for direction in RNG.normal(size=(200, first.dimension)):
        assert first.support(direction) == pytest.approx(second.support(direction), rel=1e-9)


@pytest.mark.grid(1)
@pytest.mark.parametrize("order", ORDERS)
def test_product_rule(order):
    """002, Lemma 60."""
    parts = [ln.Ball(3, 2.0, center=[1, 2, 3]), ln.Ellipsoid(TALL), ln.Box([0, 1], [5, 1.5])]
    t = power(order)
    wanted = sum(gamma(part, order).upper ** t for part in parts) ** (1 / t)
    # at p = ∞ the parts' query weights are coupled, and the gap closes to 2e-5
    found = gamma(ln.product(*parts), order, gap=3e-5)
    assert found.lower <= wanted * (1 + 1e-6)
    assert wanted <= found.upper * (1 + 3e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_kronecker_rule(order):
    """002, Lemma 62, for bodies about zero."""
    for first, second in (
        (ln.Ball(3, order=3), ln.Ellipsoid([1.0, 4.0])),
        (ln.Box([-1, -2], [1, 2]), ln.Ball(3, order=1)),
        (ln.TopBall(4, 2), ln.Ball(2, 0.5)),
    ):
        wanted = gamma(first, order).upper * gamma(second, order).upper
        found = gamma(ln.kronecker(first, second), order)
        assert found.lower <= wanted * (1 + 1e-6)
        assert wanted * (1 - 1e-6) <= found.upper


@pytest.mark.parametrize("order", ORDERS)
def test_kronecker_of_lists(order):
    first = ln.Points(np.vstack([np.eye(2), -np.eye(2)]))
    second = ln.Points(np.vstack([SQUARE, -SQUARE]))
    wanted = gamma(first, order).upper * gamma(second, order).upper
    assert gamma(ln.kronecker(first, second), order).upper == pytest.approx(wanted, rel=4e-6)


@pytest.mark.grid(1)
@pytest.mark.parametrize("order", ORDERS)
def test_projections_never_need_more(order):
    """002, Lemma 63."""
    domains = (
        ln.Ball(4, order=3),
        ln.Zonotope(RNG.normal(size=(7, 4))),
        ln.OrderedBall([4, 2, 1, 0.5]),
        ln.product(ln.Ball(2), ln.Ball(2, order=1)),
        ln.Points(RNG.normal(size=(9, 4))),
        ln.OperatorNormBall(2, 2),
        ln.kronecker(ln.Ball(2), ln.Ball(2)),
    )
    for domain in domains[: 5 if math.isinf(order) else None]:
        whole = gamma(domain, order)
        for kept in ([0], [1, 3], [2, 0, 1]):
            part = ln.projection(domain, kept)
            assert part.dimension == len(kept)
            assert gamma(part, order, gap=0.3).lower <= whole.upper
            for direction in RNG.normal(size=(20, len(kept))):
                lifted = np.zeros(4)
                lifted[kept] = direction
                assert part.support(direction) == pytest.approx(domain.support(lifted), rel=1e-6)


@pytest.mark.grid(1)
@pytest.mark.parametrize("order", ORDERS)
def test_the_sum_needs_at_most_the_sum(order):
    """002, Theorem 20; equal for multiples of one body."""
    parts = [ln.Ellipsoid(SQUARE), ln.Box([0] * 3, [1, 2, 3])]
    total = sum(gamma(part, order).upper for part in parts)
    found = ln.theory.enclose(ln.minkowski_sum(*parts), order=order).certificate.verify()
    assert found.lower <= total * (1 + 1e-6)
    twice = ln.minkowski_sum(parts[0], parts[0])
    assert gamma(twice, order, gap=1e-4).lower <= 2 * gamma(parts[0], order).upper
    assert gamma(twice, order, gap=1e-4).upper >= 2 * gamma(parts[0], order).lower


@pytest.mark.parametrize("order", ORDERS)
def test_hulls_are_covered_as_their_parts_are(order):
    """A hull of round bodies against many points of them: the list can only need less."""
    first, second = ln.Ball(2), ln.Ellipsoid([3.0, 0.4])
    found = gamma(ln.hull(first, second), order)
    angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    listed = gamma(ln.Points(np.vstack([ring, ring * [3.0, 0.4]])), order)
    assert listed.lower <= found.upper
    assert found.lower <= listed.upper * (1 + 4e-5)  # the ring's own chords
    inside = ln.hull(first, ln.Ball(2, 0.5), second)
    assert gamma(inside, order).upper == pytest.approx(found.upper, rel=4e-6)


def test_two_ways_of_writing_one_set():
    box = ln.Box([-1, -2, 0], [1, 2, 0])
    same(ln.image(TALL, box), ln.Zonotope((TALL * [1, 2, 0]).T))
    same(ln.image(TALL, ln.Ball(3), [1, 2, 3, 4, 5]), ln.Ellipsoid(TALL, [1, 2, 3, 4, 5]))
    same(ln.image(TALL, ln.Ball(3, order=1)), ln.Points(np.vstack([TALL.T, -TALL.T])))
    same(ln.minkowski_sum(box, ln.Box([0] * 3, [1] * 3)), ln.Box([-1, -2, 0], [2, 3, 1]))
    same(
        ln.hull(ln.Ball(2, order=1), ln.Box([0, 0], [1, 1])),
        ln.Points([[-1, 0], [0, -1], [1, 1], [1, 0], [0, 1]]),
    )
    same(ln.product(ln.Points([[0], [3]]), ln.Box([1], [2])), ln.Box([0, 1], [3, 2]))
    same(ln.TopBall(3, 1), ln.Ball(3, order=np.inf))
    same(ln.TopBall(3, 3), ln.Ball(3, order=1))
    same(ln.OrderedBall([1, 0.5, 0.25], 2.0), ln.image([2.0] * 3, ln.OrderedBall([1, 0.5, 0.25])))
    nested = ln.product(ln.product(ln.Ball(2), ln.Ball(1)), ln.Box([-1], [1]))
    same(nested, ln.product(ln.Ball(2), ln.Box([-1, -1], [1, 1])))
    same(ln.difference_body(ln.image(TALL, ln.Ball(3))), ln.Ellipsoid(2 * TALL))


def test_the_kronecker_of_balls_is_the_nuclear_norm():
    """Its support is the largest singular value; bounds of rows and columns are no lower."""
    product, nuclear = ln.kronecker(ln.Ball(2), ln.Ball(3)), ln.SchattenBall(2, 3, 1)
    for direction in RNG.normal(size=(50, 6)):
        assert nuclear.support(direction) <= product.support(direction) * (1 + 1e-12)
    x = np.kron([0.6, 0.8], [0.0, 1.0, 0.0])
    np.testing.assert_allclose(product.clamp(x), x, rtol=1e-9)
    np.testing.assert_allclose(product.clamp(3 * x), x, rtol=1e-9)
    rows = RNG.normal(size=(200, 6))
    sizes = np.linalg.svd(product.clamp(rows).reshape(-1, 2, 3), compute_uv=False).sum(axis=1)
    assert np.all(sizes <= 1 + 1e-9)


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("bits", [1, 7, 300])
def test_one_way_marginals(order, bits):
    """002, Theorem 65: d pairs (x, 1 − x); each is a segment, so this is a cube seen twice."""
    domain = ln.product(*[ln.Points([[1.0, 0.0], [0.0, 1.0]])] * bits)
    share = 0.0 if math.isinf(order) else 1 / order
    wanted = 2 ** (share - 1) * bits ** (share + 0.5)
    assert gamma(domain, order).upper == pytest.approx(wanted, rel=1e-6)


def test_two_way_marginals_lie_between_their_bounds():
    """002, Theorem 65, for all x ⊗ x of y in the one-way marginals of d bits, listed."""
    for bits in (2, 3):
        table = np.array(np.meshgrid(*[[0, 1]] * bits)).reshape(bits, -1).T
        one = np.stack([table, 1 - table], axis=2).reshape(len(table), -1)
        two = np.einsum("ni,nj->nij", one, one).reshape(len(one), -1)
        for order in ORDERS:
            share = 0.0 if math.isinf(order) else 1 / order
            most = bits ** (2 * share + 1)
            found = gamma(ln.Points(two), order)
            assert most / (2 * math.sqrt(2) * 2) ** 2 <= found.upper
            assert found.lower <= most


def test_a_thousand_parts_and_a_million_coordinates():
    parts = [ln.Ball(3, 1 + i % 7, 1 + i % 3) for i in range(1000)]
    wanted = sum((1 + i % 7) * 3 ** (0.5 + max(0.5 - 1 / (1 + i % 3), 0)) for i in range(1000))
    assert gamma(ln.product(*parts), 2.0).upper == pytest.approx(wanted, rel=1e-9)
    d = 10**6
    sizes = 1 + RNG.random(d)
    # t = 1/(½ + ¼ − ⅓) = 12/5 at p = 4 and order 3
    wanted = float(np.sum(sizes ** (12 / 5))) ** (5 / 12)
    assert gamma(ln.image(sizes, ln.Ball(d, order=3)), 4.0).upper == pytest.approx(wanted, rel=1e-7)


@pytest.mark.sweep("test_the_sum_needs_at_most_the_sum")
def test_many_generators():
    """10⁴ generators in 200 coordinates: both sides within √(π/2) of each other."""
    domain = ln.Zonotope(RNG.normal(size=(10_000, 200)))
    assert gamma(domain, 2.0, gap=math.sqrt(math.pi / 2) - 1 + 1e-6).lower > 0


def test_bounds_of_matrices_do_not_pass_for_those_of_all_signs():
    """H = [[1, 1], [1, −1]]/√2 has operator norm 1, |H| has √2."""
    h = np.array([1, 1, 1, -1]) / math.sqrt(2)
    ball = ln.OperatorNormBall(2, 2)
    assert ball.contains(h)
    assert not ball.contains(np.abs(h))
    for make in (
        lambda: ln.intersection(ball, ln.Ball(4, radius=3)),
        lambda: ln.intersection(ln.product(ball, ln.Ball(1)), ln.Ball(5, radius=3)),
        lambda: ln.kronecker(ball, ln.Ball(2, order=np.inf)),
        lambda: ln.kronecker(ln.kronecker(ln.Ball(2), ln.Ball(2)), ln.Ball(2)),
    ):
        with pytest.raises(DomainError) as refused:
            make()
        assert "\n" not in str(refused.value)
    fields = {
        "kind": "kronecker",
        "first": UNIT_BALLS.write(ball.base),
        "second": UNIT_BALLS.write(NormBall(2, 2.0)),
    }
    with pytest.raises(FileError, match="changes of signs"):
        UNIT_BALLS.read(fields)


def test_products_of_points_say_the_truth_of_their_hull():
    """All x ⊗ y have norm 1, and supports, energies and widths hold for them."""
    base, n = KroneckerBall(NormBall(2, math.inf), NormBall(3, 2.0)), 4000
    x, y = RNG.normal(size=(n, 2)), RNG.normal(size=(n, 3))
    x /= np.max(np.abs(x), axis=1)[:, None]
    y /= np.linalg.norm(y, axis=1)[:, None]
    points = np.einsum("ni,nj->nij", x, y).reshape(n, -1)
    assert base.norm_up(points) == pytest.approx(1, abs=1e-8)
    assert np.all(base.norm_up(points) >= 1 - 1e-12)
    directions = RNG.normal(size=(50, base.dimension))
    assert np.all(points @ directions.T <= base.support_up(directions))
    for weights in RNG.exponential(size=(20, base.dimension)):
        assert np.max(np.square(points) @ weights) <= base.energy_up(weights)
    assert np.all(np.max(np.abs(points), axis=0) <= base.widths() * (1 + 1e-12))


def test_moments_of_products_are_true_mixtures():
    """z = Σ weight·(x ⊗ y)² for signs and unit vectors, in exact fractions."""
    base = KroneckerBall(NormBall(2, math.inf), NormBall(2, 2.0))
    z = np.array([0.25, 0.75, 0.25, 0.75])  # (1, 1) ⊗ (¼, ¾): rows of signs, a point of the disc
    assert 1 <= base.moment_up(z) <= 1 + 1e-9
    exact = [Fraction(1, 4) * 1, Fraction(3, 4) * 1] * 2
    assert [Fraction(float(v)) for v in z] == exact
    # the row sums of a mixture are at most the disc's: more of one row cannot be
    assert base.moment_up(np.array([1.0, 1.0, 0.0, 0.0])) >= 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (ln.product, "no domain"),
        (lambda: ln.product(ln.Ball(2), "ball"), r"product\[1\]"),
        (lambda: ln.minkowski_sum(ln.Ball(2), ln.Ball(3)), "like dimension"),
        (lambda: ln.hull(ln.Ball(4), ln.TensorPower(2, 2, "ball")), "combine"),
        (lambda: ln.image(np.eye(2), ln.Ball(3)), "one column each"),
        (lambda: ln.image(np.eye(3), ln.Ball(3), shift=[1.0]), "image.shift"),
        (lambda: ln.image([[np.nan, 1.0]], ln.Ball(2)), "image.factor"),
        (lambda: ln.image([1e60, 1.0], ln.Ball(2, 1e60)), "2\\^250"),
        (lambda: ln.image(np.eye(2), "ball"), "is no domain"),
        (lambda: ln.projection(ln.Ball(3), [0, 3]), "outside 0 to 2"),
        (lambda: ln.projection(ln.Ball(3), [0, 0]), "twice"),
        (lambda: ln.projection(ln.Ball(3), []), "whole numbers"),
        (lambda: ln.projection(ln.Ball(3), [0.5]), "whole numbers"),
        (lambda: ln.kronecker(ln.Ball(2, center=[1, 1]), ln.Ball(2)), "about zero"),
        (lambda: ln.OrderedBall([1, 2]), r"weights\[1\]=2"),
        (lambda: ln.OrderedBall([0, 0]), "above 0"),
        (lambda: ln.OrderedBall([]), "one number a coordinate"),
        (lambda: ln.OrderedBall([1, 0], -1), "radius"),
        (lambda: ln.TopBall(3, 4), "largest=4"),
        (lambda: ln.TopBall(3, 0), "largest=0"),
        (lambda: ln.product(ln.Points(np.eye(3)), ln.TensorPower(2, 2, "ball")), "combine"),
    ],
)
def test_what_has_no_form_is_refused_in_one_line(make, words):
    with pytest.raises(DomainError, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_what_is_combined_can_be_combined_again():
    inner = ln.hull(ln.Ball(2), ln.Ellipsoid([2.0, 0.5]))
    outer = ln.image(SQUARE, ln.product(inner, ln.Box([-1], [1])))
    assert isinstance(outer, Image)
    found = ln.theory.enclose(outer, order=3).certificate.verify()
    assert found.gap < 0.26  # within √(π/2)
    point = outer.extreme(np.ones((1, 3)))[0]
    assert outer.contains(point)


def test_tensors_of_few_signs_are_lists_to_what_combines_domains():
    tensors = ln.TensorPower(3, 2)
    seen = ln.projection(tensors, [1, 2, 5])  # x₁x₂, x₁x₃, x₂x₃: an even number of them is −1
    same(seen, ln.Points([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]))
    total = ln.image(np.ones((1, 9)), tensors)  # (x₁ + x₂ + x₃)²
    assert total.support(np.ones(1)) == 9
    assert -total.support(-np.ones(1)) == 1
    assert ln.product(tensors, ln.Box([0], [1])).dimension == 10


def test_members_of_a_sum_of_round_bodies_are_told_from_others():
    domain = ln.minkowski_sum(ln.Ball(5), ln.Ball(5, order=1))
    points = domain.extreme(RNG.normal(size=(5, 5)))
    for point in points:
        assert domain.contains(point)
        assert not domain.contains(1.001 * point)
        assert domain.contains(domain.clamp(1.5 * point))


def test_wide_ellipsoids_are_narrowed_to_what_they_are():
    wide = ln.Ellipsoid(RNG.normal(size=(3, 40)), [1, 2, 3])
    assert wide.factor.shape == (3, 3)
    same(wide, ln.image(np.linalg.cholesky(wide.factor @ wide.factor.T), ln.Ball(3), [1, 2, 3]))
    seen = ln.image(RNG.normal(size=(2, 3)), ln.Ellipsoid(SQUARE))
    assert seen.factor.shape == (2, 2)
    flat = ln.Ellipsoid(np.outer([1.0, 2.0, 3.0], [3.0, 4.0]))
    assert flat.factor.shape == (3, 1)
    assert flat.support(np.array([1.0, 0, 0])) == pytest.approx(5)
    assert ln.Ellipsoid(np.zeros((2, 3))).support(np.ones(2)) == 0
