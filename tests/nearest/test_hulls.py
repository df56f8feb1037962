# SPDX-License-Identifier: Apache-2.0
"""Nearest points of hulls and cones: in the set, and as near as they say, by other methods."""

import numpy as np
import pytest
from scipy import optimize

import lownoise as ln
from lownoise.errors import DomainError, PlanError
from lownoise.release.nearest.answers import MeanAnswers, QueryAnswers, transformed
from lownoise.release.nearest.hulls import nearest_point
from lownoise.release.nearest.projected import _weight_bound, nearest_answers

RNG = np.random.default_rng(53)
POINTS = RNG.normal(size=(30, 4))
SEEN = {"euclidean": np.ones(4), "diagonal": np.array([1.0, 3.0, 0.2, 10.0]),
        "dense": RNG.normal(size=(4, 4)) + 2 * np.eye(4)}  # fmt: skip
RTOL = 1e-6


def seen_by(seen, x):
    return seen * x if seen.ndim == 1 else x @ seen.T


def found(answers, y, seen, rtol=RTOL):
    return nearest_answers(y, answers, seen, rtol=rtol, unit=1e-3)


def sets():
    """A hull and a cone of the same points, far from 0, with the corners of each."""
    apart = POINTS + np.array([3.0, 0, 0, 0])
    return {
        "hull": (QueryAnswers(apart.T, 1), apart),
        "cone": (QueryAnswers(apart.T, None), apart),
        "few rows": (QueryAnswers(apart.T, 7), 7 * apart),
    }


def targets(count=6):
    return [scale * RNG.normal(size=4) for scale in (0.3, 1, 3, 30) for _ in range(count // 2)]


def holds(answers, corners, x, tolerance):
    """Whether x is a mixture of the corners, by a linear programme: the least error in any one."""
    m, N = x.size, len(corners)
    off = np.ones((m, 1))
    sums = [] if answers.cone else [np.append(np.ones(N), 0.0)]
    done = optimize.linprog(
        np.append(np.zeros(N), 1.0),
        A_ub=np.block([[corners.T, -off], [-corners.T, -off]]),
        b_ub=np.concatenate([x, -x]),
        A_eq=np.array(sums) if sums else None,
        b_eq=np.ones(len(sums)) if sums else None,
    )
    return done.fun <= tolerance


@pytest.mark.grid
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("kind", ["hull", "cone", "few rows"])
def test_it_is_in_the_set_and_no_corner_says_that_another_is_nearer(kind, seen):
    """The gap is checked by every corner: ‖x − x*‖² ≤ max ⟨y − x, v − x⟩, and of a cone by NNLS."""
    answers, corners = sets()[kind]
    V = SEEN[seen]
    for y in targets():
        near = found(answers, y, V)
        assert near.converged
        assert holds(answers, corners, near.point, 1e-9 * max(1, np.abs(near.point).max()))
        left = seen_by(V, y - near.point)
        assert near.distance == pytest.approx(np.linalg.norm(left), rel=1e-9, abs=1e-9)
        if answers.cone:
            exact = optimize.nnls(seen_by(V, corners).T, seen_by(V, y))[1]
        else:
            worst = max(0.0, float(np.max(seen_by(V, corners - near.point) @ left)))
            assert np.sqrt(worst) <= near.gap * (1 + 1e-9)
            # sums to one by a heavy row: the least distance as another method has it
            heavy = 1e4 * max(np.abs(seen_by(V, corners)).max(), 1.0)
            A = np.vstack([seen_by(V, corners).T, np.full(len(corners), heavy)])
            exact = optimize.nnls(A, np.append(seen_by(V, y), heavy))[1]
        assert near.distance <= exact * (1 + 1e-6) + 1e-6
        assert near.distance >= exact * (1 - 1e-6) - 1e-6


@pytest.mark.grid(3)
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("kind", ["hull", "cone", "few rows"])
def test_it_is_idempotent_and_no_two_answers_come_farther_apart(kind, seen):
    answers, _ = sets()[kind]
    V = SEEN[seen]
    ys = targets()
    near = [found(answers, y, V) for y in ys]
    for own in near:
        again = found(answers, own.point, V)
        assert np.linalg.norm(seen_by(V, again.point - own.point)) <= 1e-6
    for y, a in zip(ys, near, strict=True):
        for z, b in zip(ys, near, strict=True):
            apart = np.linalg.norm(seen_by(V, a.point - b.point))
            assert apart <= np.linalg.norm(seen_by(V, y - z)) + a.gap + b.gap + 1e-12


@pytest.mark.grid
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("kind", ["hull", "cone", "few rows"])
def test_what_is_inside_stays_to_the_last_bit(kind, seen):
    answers, corners = sets()[kind]
    for _ in range(5):
        y = RNG.dirichlet(np.ones(len(corners))) @ corners
        near = found(answers, y, SEEN[seen])
        assert np.array_equal(near.point, y)
        assert near.distance == 0


DOMAINS = {
    "box": ln.Box([0, -1, 2], [1, 1, 4]),
    "ball": ln.Ball(5, radius=2.0),
    "sum of absolute values": ln.Ball(4, order=1.0),
    "ellipsoid": ln.Ellipsoid([[1.0, 2.0], [0.0, 1.0]]),
    "points": ln.Points(POINTS),
    "matrices": ln.SchattenBall(3, 3, order=1.0),
    "signs": ln.TensorPower(4, 2),
    "moments": ln.TensorPower(4, 2, "ball"),
    "hull": ln.hull(ln.Ball(2), ln.Box([0, 0], [2, 2])),
    "product": ln.product(ln.Ball(2), ln.Box([0], [1])),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("name", DOMAINS)
def test_means_of_every_domain_are_nearest_by_the_domain_s_own_support(name, dense):
    """h_K(V'(y − x)) − ⟨y − x, x⟩ bounds the squared distance, whatever was searched."""
    domain = DOMAINS[name]
    d = domain.dimension
    rng = np.random.default_rng(d)
    V = rng.normal(size=(d, d)) + 2 * np.eye(d) if dense else np.ones(d)
    answers = MeanAnswers(domain, None)
    for far in (0.5, 2.0, 20.0):
        y = domain.center + far * rng.normal(size=d)
        near = found(answers, y, V)
        left = seen_by(V, y - near.point)
        pull = left @ V if dense else left
        above = domain.support(pull) - pull @ near.point
        assert np.sqrt(max(above, 0.0)) <= max(near.gap, 1e-6 * (1 + near.distance))
        assert near.gap <= max(RTOL * near.distance, 1e-6)
        # nobody else in it is nearer
        others = domain.extreme(rng.normal(size=(50, d)))
        mixed = near.point + rng.uniform(size=(50, 1)) * (others - near.point)
        assert np.all(
            np.linalg.norm(seen_by(V, mixed - y), axis=1) >= near.distance - near.gap - 1e-12
        )


def test_moment_matrices_are_clipped_in_their_eigenvalues():
    """Positive with trace at most 1: the eigenvalues' nearest point of that simplex."""
    domain = ln.TensorPower(6, 2, "ball")
    rng = np.random.default_rng(7)
    for far in (0.1, 0.5, 3.0):
        A = np.outer(*(2 * [rng.normal(size=6) / 3])) + far * rng.normal(size=(6, 6))
        near = found(MeanAnswers(domain, None), A.ravel(), np.ones(36))
        values, axes = np.linalg.eigh((A + A.T) / 2)
        kept = np.maximum(values, 0)
        if kept.sum() > 1:
            low, high = values.min() - 1, values.max()
            for _ in range(200):
                level = (low + high) / 2
                low, high = (
                    (level, high) if np.maximum(values - level, 0).sum() > 1 else (low, level)
                )
            kept = np.maximum(values - low, 0)
        exact = (axes * kept) @ axes.T
        assert np.linalg.norm(near.point.reshape(6, 6) - exact) <= near.gap + 1e-6


def test_sums_and_a_count_make_a_mean_in_the_domain():
    domain = ln.Ball(3, radius=2.0, center=[1, 0, 0])
    center = np.array([0.5, 0.5, 0.0])
    answers = MeanAnswers(domain, center)
    for _ in range(10):
        y = np.append(20 * RNG.normal(size=3), RNG.uniform(1, 10))
        near = found(answers, y, np.ones(4))
        assert near.converged
        assert near.point[-1] > 0
        mean = center + near.point[:-1] / near.point[-1]
        assert np.linalg.norm(mean - [1, 0, 0]) <= 2 * (1 + 1e-9)
    # what points away from the cone is nearest to no rows at all
    away = found(answers, np.array([0.0, 0.0, 0.0, -5.0]), np.ones(4))
    assert np.max(np.abs(away.point)) <= 1e-9


def test_a_cone_that_is_not_pointed_is_refused_in_one_line():
    answers = QueryAnswers(np.array([[1.0, -1.0]]), None)
    with pytest.raises(PlanError, match="count") as refused:
        found(answers, np.array([3.0]), np.ones(1))
    assert "\n" not in str(refused.value)


def test_a_search_that_ends_early_says_how_far_it_can_be():
    domain = ln.Ball(20)
    V = RNG.normal(size=(20, 20))
    y = 2 * RNG.normal(size=20)

    def corner(r):
        point = domain.extreme((r @ V)[None])[0]
        return point, V @ point, domain.support(r @ V)

    exact = nearest_point(V @ y, corner, start=V @ y, rtol=1e-9, unit=1e-6, most=5000)
    for most in (1, 2, 4):
        early = nearest_point(V @ y, corner, start=V @ y, rtol=1e-9, unit=1e-6, most=most)
        assert not early.converged
        assert early.iterations == most
        assert np.linalg.norm(early.seen - exact.seen) <= early.gap + exact.gap


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("of", ["cube", "ball"])
def test_extreme_tensors_are_tensors_and_reach_the_support(of, power):
    """Of even powers −x ⊗ x is none, however far along a direction it is."""
    domain = ln.TensorPower(3, power, of)
    directions = RNG.normal(size=(20, 3**power))
    if power == 2:  # every tensor but 0 is behind
        directions[0] = -np.eye(3).ravel()
    if of == "ball" and power > 2:
        with pytest.raises(DomainError, match="power"):
            domain.extreme(directions)
        return
    for theta, x in zip(directions, domain.extreme(directions), strict=True):
        assert np.max(np.abs(domain.clamp(x) - x)) <= 1e-9
        assert theta @ x == pytest.approx(domain.support(theta), rel=1e-9, abs=1e-9)


def test_the_transform_is_the_matrix_of_characters():
    values = RNG.normal(size=16)
    signs = [[(-1) ** (s & x).bit_count() for s in range(16)] for x in range(16)]
    assert transformed(values) == pytest.approx(np.array(signs) @ values)


@pytest.mark.parametrize("seed", range(6))
def test_the_weights_of_a_nearest_point_of_a_cone_are_within_their_bound(seed):
    """By least squares; attained by a target along the point of their hull nearest to 0."""
    rng = np.random.default_rng(seed)
    corners = np.hstack([rng.normal(size=(7, 3)), np.ones((7, 1))])

    def corner(direction):
        values = corners @ direction
        best = corners[int(np.argmax(values))]
        return best, best, float(np.max(values))

    big = 1e6
    shares = optimize.nnls(np.vstack([corners.T, np.full(7, big)]), np.append(np.zeros(4), big))[0]
    along = 50 * (shares @ corners)
    for target in (along, rng.normal(size=4), rng.normal(size=4) + 3 * corners[0]):
        most = _weight_bound(target, corner, 1000)
        assert np.sum(optimize.nnls(corners.T, target)[0]) <= most
    assert _weight_bound(along, corner, 1000) < 50 * 1.1
