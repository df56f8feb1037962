# SPDX-License-Identifier: Apache-2.0
"""Balls, ellipsoids and zonotopes know their geometry and take in what lies off them."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

import lownoise as ln
from lownoise.errors import DomainError
from lownoise.sets.domains import Image
from lownoise.sets.domains.image import checked_image
from lownoise.sets.unit_balls import CappedBall, MixedBall, NormBall, SortedBall
from unit_ball_cases import exact_norm

SEED = st.integers(0, 2**32 - 1)
RNG = np.random.default_rng(11)
FAR = np.array([1e6, -3.0, 0.0])
IMAGES = {
    "ball": ln.Ball(3, 2.0, center=FAR),
    "ball of ℓ₁": ln.Ball(3, 2.0, order=1),
    "ball of ℓ₃": ln.Ball(3, 1e-9, order=3),
    "cube": ln.Ball(3, 5.0, order=math.inf),
    "number": ln.Ball(1, 7.0, center=[3.0]),
    "point": ln.Ball(2, 0.0, center=[3.0, -1.0]),
    "ellipsoid": ln.Ellipsoid(RNG.normal(size=(3, 3)), center=FAR),
    "half axes": ln.Ellipsoid([1e-6, 1.0, 1e6]),
    "tall ellipsoid": ln.Ellipsoid(RNG.normal(size=(4, 2))),
    "wide ellipsoid": ln.Ellipsoid(RNG.normal(size=(2, 4))),
    "flat ellipsoid": ln.Ellipsoid([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]),
    "parallelepiped": ln.Zonotope(RNG.normal(size=(3, 3)), center=FAR),
    "zonotope": ln.Zonotope(RNG.normal(size=(6, 3)) * [1e-3, 1.0, 1e3], center=FAR),
    "flat zonotope": ln.Zonotope([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [-1.0, 1.0, 0.0]]),
    "capped": Image(np.full(3, 2.0), CappedBall(np.array([0.5, 0.7, 0.9])), FAR),
    "turned sorted": Image(RNG.normal(size=(3, 3)), SortedBall(np.array([1.0, 1.0, 0.0])), FAR),
    "mixed": Image(
        RNG.normal(size=(3, 4)), MixedBall((NormBall(2, 2.0), NormBall(2, 3.0)), 2.0), np.zeros(3)
    ),
}
every = pytest.mark.parametrize("domain", IMAGES.values(), ids=list(IMAGES))


def matrix(domain):
    return np.diag(domain.factor) if domain.diagonal else domain.factor


def records(domain, rng, count):
    """Points of K, by points of its base: half of them extreme."""
    base = domain.base
    x = rng.normal(size=(count, base.dimension)) * 10.0 ** rng.uniform(-3, 0, (count, 1))
    x[::2] = base.extreme(x[::2])
    x /= np.maximum(base.norm_up(x), 1.0)[:, None]
    return domain.center + x @ matrix(domain).T


def outsiders(domain, rng, count):
    """Rows of every kind, most of them outside."""
    far = domain.center + rng.normal(size=(count, domain.dimension)) * domain.extent * 3
    far[::4] *= 10.0 ** rng.uniform(-300, 300, (len(far[::4]), 1))
    wild = rng.choice([np.inf, -np.inf, 1e308, -1e308, 0.0, 5e-324, 1.0], far[1::4].shape)
    far[1::4] = wild
    return far


def room(domain):
    """1e-9 of the domain's own size, and what a last digit of a point far from 0 is worth."""
    size = np.where(domain.extent > 0, domain.extent, np.inf)
    share = float(np.max(2.0**-52 * np.abs(domain.center) / size))
    return (1e-9 + 4 * share) * domain.extent + 2.0**-52 * np.abs(domain.center)


@pytest.mark.grid(least=6)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_support_and_width_are_the_most_over_its_points(domain, seed):
    rng = np.random.default_rng(seed)
    inside = records(domain, rng, 60) - domain.center
    for theta in rng.normal(size=(8, domain.dimension)) / np.maximum(domain.extent, 1e-300):
        off = theta @ domain.center
        noise = 1e-14 * float(np.abs(theta) @ np.abs(domain.center))
        reached = float(np.max(np.abs(inside @ theta)))
        most = domain.support(theta) - off
        assert reached <= most * (1 + 1e-12) + noise
        assert domain.width(theta) == pytest.approx(2 * most, rel=1e-9, abs=4 * noise)
        end = domain.extreme(theta[None])[0] - domain.center
        assert float(end @ theta) == pytest.approx(most, rel=1e-9, abs=4 * noise)


@every
def test_ranges_are_the_supports_of_the_axes(domain):
    for i, axis in enumerate(np.eye(domain.dimension)):
        assert domain.upper[i] == pytest.approx(domain.support(axis), rel=1e-12)
        assert domain.lower[i] == pytest.approx(-domain.support(-axis), rel=1e-12)
    assert domain.upper - domain.center == pytest.approx(domain.extent, rel=1e-9, abs=1e-9)


@pytest.mark.grid(least=6)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_what_is_inside_stays_and_is_known_to_be_inside(domain, seed):
    inside = records(domain, np.random.default_rng(seed), 20)
    assert np.all(np.abs(domain.clamp(inside) - inside) <= room(domain))
    assert all(domain.contains(x) for x in inside)
    assert domain.contains(domain.center)
    assert np.array_equal(domain.clamp(domain.center), domain.center)


@pytest.mark.grid(least=6)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_what_is_outside_lands_inside(domain, seed):
    """Judged by the support in many directions, and by the moved point's own coordinates."""
    rng = np.random.default_rng(seed)
    rows = outsiders(domain, rng, 12)
    moved = domain.clamp(rows)
    assert np.all(np.isfinite(moved))
    assert np.all(np.abs(moved - domain.center) <= domain.extent + domain.rounding)
    unit = np.where(domain.extent > 0, domain.extent, 1.0)
    for theta in rng.normal(size=(40, domain.dimension)) / unit:
        slack = float(np.abs(theta) @ domain.rounding)
        most = float(domain.base.support_up((theta @ matrix(domain))[None])[0])
        assert np.all((moved - domain.center) @ theta <= most * (1 + 1e-12) + slack)
    assert all(domain.contains(x) for x in moved[::3])
    # once inside it stays: clamping twice is clamping once
    assert np.all(np.abs(domain.clamp(moved) - moved) <= room(domain))


@pytest.mark.grid
@every
def test_what_is_outside_is_known_to_be_outside(domain):
    unit = np.where(domain.extent > 0, domain.extent, 1.0)
    for direction in np.random.default_rng(0).normal(size=(3, domain.dimension)) / unit:
        end = domain.extreme(direction[None])[0] - domain.center
        beyond = 1.01 * end if np.any(end) else np.full(domain.dimension, 1e-6)
        assert not domain.contains(domain.center + beyond)
    for value in (np.nan, np.inf, -np.inf, 1e300):
        assert not domain.contains(np.full(domain.dimension, value))


@pytest.mark.parametrize(
    "domain",
    [
        *(ln.Ball(23, 2.0, order) for order in (1.0, 1.5, 2.0, 3.0, math.inf)),
        ln.Ellipsoid(np.random.default_rng(5).normal(size=(23, 23))),
        ln.Ellipsoid(np.random.default_rng(6).normal(size=(23, 7))),
    ],
    ids=lambda domain: f"{domain.factor.shape} {domain.base.order:g}",
)
def test_a_long_row_is_moved_alike_alone_and_among_others(domain):
    """Sums of many numbers could be taken in several orders: they are taken in one."""
    rows = np.random.default_rng(7).normal(size=(1030, 23)) * 3
    known = domain.clamp(rows)
    for i in (0, 1, 511, 1023, 1024, 1029):
        assert np.array_equal(domain.clamp(rows[i]), known[i])
    for count in (2, 3, 7, 100):
        assert np.array_equal(domain.clamp(rows[-count:]), known[-count:])
        assert np.array_equal(domain.clamp(rows[:count]), known[:count])


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, math.inf])
def test_a_ball_moves_records_towards_its_center(order):
    domain = ln.Ball(3, 2.0, order=order, center=[1.0, 2.0, 3.0])
    about = np.random.default_rng(1).normal(size=(50, 3)) * 9
    norm = (
        np.sum(np.abs(about) ** order, axis=1) ** (1 / order)
        if order < math.inf
        else np.max(np.abs(about), axis=1)
    )
    wanted = about * np.minimum(2 / norm, 1.0)[:, None]
    assert domain.clamp(domain.center + about) - domain.center == pytest.approx(wanted, rel=1e-9)


@settings(max_examples=12)
@given(SEED)
def test_a_zonotope_moves_records_to_its_nearest_point(seed):
    """In parts of each reach; against bounded least squares."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    k = int(rng.integers(d + 1, 8))
    domain = ln.Zonotope(rng.normal(size=(k, d)) * 10.0 ** rng.uniform(-3, 3, d))
    for row in rng.normal(size=(6, d)) * domain.extent:
        goal = np.clip(row / domain.extent, -2, 2)
        found = lsq_linear(domain.factor / domain.extent[:, None], goal, (-1, 1), tol=1e-14)
        wanted = domain.factor @ found.x
        moved = domain.clamp(row)
        assert moved / domain.extent == pytest.approx(wanted / domain.extent, abs=2e-6)
        mine = float(np.sum(np.square(moved / domain.extent - goal)))
        assert mine <= 2 * found.cost + 1e-8


@settings(max_examples=8)
@given(SEED)
def test_a_wide_image_of_a_ball_moves_records_to_its_nearest_point(seed):
    """Nearest in parts of each reach: no other point of it is nearer, in many samples."""
    rng = np.random.default_rng(seed)
    domain = checked_image(rng.normal(size=(2, 4)), NormBall(4, 2.0), np.zeros(2))
    row = 1.5 * rng.normal(size=2)
    goal = np.clip(row / domain.extent, -2, 2)
    angles = np.linspace(0, 2 * math.pi, 4000)
    ends = domain.extreme(np.stack([np.cos(angles), np.sin(angles)], axis=1)) / domain.extent
    best = float(np.min(np.linalg.norm(ends - goal, axis=1)))
    mine = float(np.linalg.norm(domain.clamp(row) / domain.extent - goal))
    assert mine <= best + 1e-5


@pytest.mark.grid(least=6)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_clamped_rows_are_as_near_to_the_domain_as_it_says(domain, seed):
    """The result is a point of K and a box of `rounding` about it: the noise pays for no more.

    Along the diagonal it is in the sum where the norm of what the box leaves is at most 1, exactly.
    """
    F, base = matrix(domain), domain.base
    moved = domain.clamp(outsiders(domain, np.random.default_rng(seed), 16))
    for y in moved:
        about = [
            Fraction(float(a)) - Fraction(float(c)) for a, c in zip(y, domain.center, strict=True)
        ]
        if domain.diagonal:
            left = [
                max(abs(a) - Fraction(float(r)), Fraction(0)) / abs(Fraction(float(f)))
                if f
                else abs(a)
                for a, r, f in zip(about, domain.rounding, domain.factor, strict=True)
            ]
            # fractions to floats: half a last digit each
            assert exact_norm(base, np.array([float(v) for v in left])) <= 1 + 2.0**-52
        elif domain._inverse is not None:
            with mpmath.workdps(40):
                A = mpmath.matrix(F.tolist())
                inverse = (A.T * A) ** -1 * A.T
                x = inverse * mpmath.matrix(
                    [mpmath.mpf(a.numerator) / a.denominator for a in about]
                )
                box = np.abs(np.array(inverse.tolist(), dtype=float)) @ domain.rounding
                room = exact_norm(base, box) * (1 + 1e-12)
                assert exact_norm(base, np.array(x.T.tolist()[0], dtype=float)) <= 1 + room + 1e-15


@pytest.mark.grid
@every
def test_what_one_record_can_change_is_twice_the_domain(domain):
    difference = ln.difference_body(domain)
    theta = np.random.default_rng(2).normal(size=domain.dimension)
    off = 1e-12 * float(np.abs(theta) @ np.abs(domain.center))
    assert difference.support(theta) == pytest.approx(domain.width(theta), rel=1e-9, abs=off)
    assert not np.any(difference.center)
    ends = records(domain, np.random.default_rng(3), 12)
    assert all(difference.contains(x - y) for x in ends[:4] for y in ends[4:]) or np.any(
        domain.center
    )


def test_numbers_from_outside_are_copied_and_cannot_be_changed():
    given_ = np.eye(2)
    domain = ln.Ellipsoid(given_)
    given_[0, 0] = 9.0
    assert domain.factor[0, 0] == 1.0
    for domain in (
        ln.Ball(2),
        ln.Ellipsoid([1.0]),
        ln.Ellipsoid(np.eye(2)),
        ln.Zonotope(np.eye(2)),
    ):
        for numbers in (domain.factor, domain.center, domain.extent, domain.lower, domain.upper):
            with pytest.raises(ValueError, match="read-only"):
                numbers[0] = 9.0
    with pytest.raises(ValueError, match="read-only"):
        ln.Ball(2).center[0] = 1.0


NAN, INF, BALL = math.nan, math.inf, NormBall(3, 2.0)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: ln.Ball(0), "Ball.dimension=0 is no number of coordinates; give"),
        (lambda: ln.Ball(-3), "Ball.dimension=-3 is no number of coordinates; give"),
        (lambda: ln.Ball(2.0), "Ball.dimension=2.0 is no number of coordinates; give"),
        (lambda: ln.Ball(True), "Ball.dimension=True is no number of coordinates; give"),  # noqa: FBT003
        (lambda: ln.Ball("2"), "Ball.dimension='2' is no number of coordinates; give"),
        (lambda: ln.Ball(2, -1.0), "Ball.radius=-1 is out of range; give"),
        (lambda: ln.Ball(2, NAN), "Ball.radius=nan is not a number; give one"),
        (lambda: ln.Ball(2, INF), "Ball.radius=inf is out of range; give"),
        (lambda: ln.Ball(2, None), "Ball.radius=None is not a number; give"),
        (lambda: ln.Ball(2, [1.0, 2.0]), "Ball.radius=<list> is not a number; give"),
        (lambda: ln.Ball(2, 2.0**251), r"Ball.radius.*=3.6.*e\+75 is beyond 2\^250; use"),
        (lambda: ln.Ball(2, 2.0**-251), r"Ball.radius.*=2.7.*e-76 is within 2\^-250 of zero; use"),
        (lambda: ln.Ball(2, order=0.99), "Ball.order=0.99 is no norm; give"),
        (lambda: ln.Ball(2, order=-INF), "Ball.order=-inf is no norm; give"),
        (lambda: ln.Ball(2, order=NAN), "Ball.order=nan is not a number; give one"),
        (lambda: ln.Ball(2, order="inf"), r"Ball.order='inf' .* one from 1 on, or infinity \("),
        (lambda: ln.Ball(2, order="two"), "Ball.order='two' is not a number; give"),
        (lambda: ln.Ball(2, center=[0.0]), "Ball.center has 1 coordinates for 2; give"),
        (lambda: ln.Ball(2, center=[0.0, NAN]), r"Ball.center\[1\]=nan is not finite; give"),
        (lambda: ln.Ball(2, center=0.0), r"Ball.center has shape \(\); give"),
        (lambda: ln.Ball(1, center=[2.0**251]), r"Ball.center\[0\]=3.6.* is beyond 2\^250; use"),
        (lambda: ln.Ellipsoid([]), r"Ellipsoid.factor has shape \(0,\); give"),
        (lambda: ln.Ellipsoid([[]]), r"Ellipsoid.factor has shape \(1, 0\); give"),
        (lambda: ln.Ellipsoid(3.0), r"Ellipsoid.factor has shape \(\); give"),
        (lambda: ln.Ellipsoid(None), "Ellipsoid.factor is not a table of num.*; give"),
        (lambda: ln.Ellipsoid([[1.0], [1.0, 2.0]]), "Ellipsoid.factor is not a table.*; give"),
        (lambda: ln.Ellipsoid("ab"), r"Ellipsoid.factor .*; give"),
        (lambda: ln.Ellipsoid([["a"]]), "Ellipsoid.factor is not a table of numbers; give"),
        (lambda: ln.Ellipsoid([1.0, INF]), r"Ellipsoid.factor\[1\]=inf is not finite; give"),
        (lambda: ln.Ellipsoid([[1.0, NAN]]), r"Ellipsoid.factor\[0, 1\]=nan is not finite; give"),
        (lambda: ln.Ellipsoid([[1.0, 2.0**251]]), r"Ellipsoid.factor\[0, 1\]=.* is beyond.*; use"),
        (lambda: ln.Ellipsoid([1.0, 1e-80]), r"Ellipsoid.factor\[1\]=1e-80 is within.*; use"),
        (lambda: ln.Ellipsoid([[10**400]]), "Ellipsoid.factor is not a table of numbers; give"),
        (lambda: ln.Ellipsoid([[[1.0]]]), r"Ellipsoid.factor has shape \(1, 1, 1\); give"),
        (lambda: ln.Ellipsoid([1.0], center=[1.0, 2.0]), "Ellipsoid.center has 2 coord.*; give"),
        (lambda: ln.Zonotope([]), r"Zonotope.generators has shape \(0,\); give"),
        (lambda: ln.Zonotope([[]]), r"Zonotope.generators has shape \(1, 0\); give"),
        (lambda: ln.Zonotope([1.0, 2.0]), r"Zonotope.generators has shape \(2,\); give"),
        (lambda: ln.Zonotope(np.zeros((0, 3))), r"Zonotope.generators has shape \(0, 3\); give"),
        (lambda: ln.Zonotope([[1.0, -INF]]), r"Zonotope.generators\[0, 1\]=-inf is not.*; give"),
        (lambda: ln.Zonotope([[1.0], [1e80]]), r"Zonotope.generators\[1, 0\]=1e\+80 is bey.*; use"),
        (lambda: ln.Zonotope([[1.0, 2.0]], center=[0.0]), "Zonotope.center has 1 coord.*; give"),
        (lambda: checked_image(np.eye(2), BALL, np.zeros(2)), "Image.factor has 2 col.*; give"),
        (lambda: checked_image(np.eye(3), BALL, np.zeros(2)), "Image.shift has 2 coord.*; give"),
        (lambda: checked_image(np.ones(4), BALL, np.zeros(4)), "Image.factor has 4 col.*; give"),
    ],
)  # fmt: skip
def test_what_is_no_domain_is_refused_in_one_line(build, said):
    with pytest.raises(DomainError, match=f"^{said}") as refusal:
        build()
    assert "\n" not in str(refusal.value)
