# SPDX-License-Identifier: Apache-2.0
"""How far images of unit balls reach: never below a point of theirs, and hardly above."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.sets.bodies import ImageBody
from lownoise.sets.bodies.lengths import body_length, image_length
from lownoise.sets.unit_balls import NormBall, SortedBall

RNG = np.random.default_rng(20261123)
BALLS = {
    "1.2": lambda k: NormBall(k, 1.2),
    "1.5": lambda k: NormBall(k, 1.5),
    "1.9": lambda k: NormBall(k, 1.9),
    "3": lambda k: NormBall(k, 3.0),
    "cube": lambda k: NormBall(k, math.inf),
    "sorted": lambda k: SortedBall(np.linspace(1, 0.2, k)),
}


def farthest(image, base):
    """Return the length of a point that climbing from many starts finds: at most the reach."""
    points = base.extreme(RNG.standard_normal((500, len(image))) @ image)
    for _ in range(200):
        points = base.extreme(points @ image.T @ image)
    points /= np.maximum(base.norm_up(points), 1)[:, None]
    return float(np.max(np.linalg.norm(points @ image.T, axis=1)))


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", BALLS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (2, 3), (3, 3), (3, 7), (4, 6)])
def test_cones_close_the_reach_of_images_in_few_dimensions(name, rows, columns):
    base, image = BALLS[name](columns), RNG.standard_normal((rows, columns))
    found = image_length(image, base).upper
    attained = farthest(image, base)
    assert attained * (1 - 1e-13) <= found <= attained * (1 + 1e-5)
    assert image_length(image, base, attained).upper <= attained  # what is known is kept
    # what is said to be attained saves cones, and proves nothing
    assert image_length(image, base, attained=1.5 * attained).upper >= attained * (1 - 1e-13)
    assert image_length(1e-200 * image, base).upper == pytest.approx(1e-200 * found)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [1.001, 1.1, 1.5, 1.9, 1.999])
def test_an_eigenvalue_bounds_images_of_orders_between_one_and_two(order):
    base, image = NormBall(9, order), RNG.standard_normal((6, 9)) * np.logspace(-3, 2, 9)
    attained = farthest(image, base)
    found = image_length(image, base).upper
    assert attained * (1 - 1e-13) <= found <= np.linalg.norm(image, 2) * (1 + 1e-9)
    equal = np.linalg.svd(RNG.standard_normal((6, 6)))[0]  # columns at right angles
    assert image_length(equal, NormBall(6, order)).upper == pytest.approx(1, rel=1e-9)


def test_few_cones_prove_less_and_still_enough():
    image = RNG.standard_normal((4, 6))
    base = NormBall(6, 1.3)
    found = [
        body_length(lambda u: base.support_up(u @ image), 4, most=n).upper for n in (1, 300, 10**5)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > 1.01 * found[-1] >= 1.01 * farthest(image, base) * (1 - 1e-13)
    assert body_length(lambda u: np.zeros(len(u)), 3).upper == 0


def test_a_widest_direction_between_the_axes_is_found_to_its_last_digits():
    """A segment of length 1: its widths are |⟨a, u⟩|, and no cone but those about a matter."""
    for rows in (2, 3, 4):
        a = RNG.standard_normal(rows)
        a /= np.linalg.norm(a)
        found = body_length(lambda u, a=a: np.abs(u @ a) * (1 + 1e-15), rows).upper
        assert 1 - 1e-15 <= found <= 1 + 2.0**-23


# what coefficients of squares alone leave open, at p = 2 and p = ∞
@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("domain", "gaps"),
    [
        (lambda f: ln.image(f(3, 4), ln.Ball(4, order=1.5)), (1e-5, 1e-5)),  # 0.13, 0.11
        (lambda f: ln.image(f(4, 5), ln.Ball(5, order=1.2)), (1e-5, 1e-5)),
        (lambda f: ln.image(f(3, 5), ln.Ball(5, order=4)), (1e-5, 1e-5)),
        (lambda f: ln.Zonotope(f(30, 3)), (1e-5, 1e-5)),
        (lambda f: ln.image(f(8, 8), ln.Ball(8, order=1.2)), (0.2, 0.2)),  # 0.17, 0.32
        (lambda f: ln.image(f(8, 8), ln.OrderedBall(np.linspace(1, 0.2, 8))), (1e-5, 1e-5)),
    ],
)
def test_gaps_of_images(domain, gaps):
    rng = np.random.default_rng(8)
    made = domain(lambda *shape: rng.normal(size=shape).tolist())
    for order, gap in zip((2.0, math.inf), gaps, strict=True):
        found = ln.theory.enclose(made, order=order)
        assert found.certificate.gap < gap
        found.certificate.verify()


def test_widths_hold_what_a_matrix_of_noise_makes_of_an_image():
    body = ImageBody(RNG.standard_normal((3, 5)), NormBall(5, 1.4))
    matrix = RNG.standard_normal((3, 3)) * [1e3, 1.0, 1e-3]
    attained = farthest(matrix @ body.factor, body.base)
    assert attained * (1 - 1e-13) <= body.length_up(matrix, np.zeros(3)) <= attained * (1 + 1e-5)


def test_widths_that_are_no_numbers_prove_nothing():
    assert body_length(lambda u: np.full(len(u), np.nan), 2).upper == np.inf
    half = body_length(lambda u: np.where(u[:, 0] > 0, np.nan, np.linalg.norm(u, axis=1)), 2)
    assert half.upper == np.inf
