# SPDX-License-Identifier: Apache-2.0
"""Sections that few directions describe reach as far as is said, and the noise is nearly least.

Mutants, each red here: roundings of sums in a count's unit; a length without what crosses (`1 / t`
0); a ball of K' without the square of its center in its room; the count's shift left out of the
center.
"""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.noise.gaussian import gaussian_mean
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.relations import ADD_REMOVE
from lownoise.sets.bodies import SectionBody
from lownoise.solvers import solve

D = 5


def lens(d, apart=1.0, **more):
    way = np.eye(d)[0] * apart
    return ln.intersection(ln.Ball(d), ln.Ball(d, center=way), **more)


SETS = {
    "unequal balls": ln.intersection(ln.Ball(D), ln.Ball(D, 0.7, center=[0.3, 0.4, 0, 0.2, 0])),
    "like ellipsoids": ln.intersection(
        ln.Ellipsoid(np.arange(1.0, D + 1)),
        ln.Ellipsoid(np.arange(1.0, D + 1), center=[0.5, 0, 0, 0, 2]),
    ),
}
STEP = np.array([0.5, 1.0, 2.0, 0.25, 1.0])


def bodies(domain):
    pivots, away = np.arange(D), domain.center + 0.05 * np.eye(D)[0]
    return {
        "translates": (domain.enclosed()[0], 0.01 * np.arange(D)),
        "differences": (domain.differences(pivots, STEP), np.zeros(D)),
        "lifted": (domain.lifted(pivots, STEP, away), np.zeros(D + 1)),
    }


def reached(body: SectionBody, matrix, center):
    """Return the greatest length of points that climb from many starts: all of them are inside."""
    rng = np.random.default_rng(0)
    section = body.section if body.inside is None else body.inside
    directions = rng.standard_normal((24, matrix.shape[1]))
    best = 0.0
    for _ in range(8):
        ahead = section.far(directions[:, :D])
        if body.kind == "differences":
            points = np.hstack([ahead, section.far(-directions[:, :D])])
        else:
            points = ahead
        changes, gauges = body.changes(points)
        if body.inside is None:
            changes = changes / gauges[:, None]
        seen = (changes - center) @ matrix.T
        best = max(best, float(np.max(np.linalg.norm(seen, axis=1))))
        directions = seen @ matrix
        if body.kind == "lifted":  # back, too
            directions[::2] *= -1
    return best


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", SETS)
def test_nothing_reaches_farther(name):
    rng = np.random.default_rng(3)
    for kind, (body, center) in bodies(SETS[name]).items():
        assert body.rotated is not None
        d = body.dimension
        matrix = rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-0.5, 0.5, d)
        least = reached(body, matrix, center)
        bound = body.rotated.length_up(matrix, center, math.inf)
        assert least * (1 - 1e-9) <= bound <= least * 3, kind


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", SETS)
def test_of_noise_that_turns_along_nothing_is_lost(name):
    for kind, (body, center) in bodies(SETS[name]).items():
        form = np.cov(np.random.default_rng(1).standard_normal((body.dimension, 40)))
        own = body.rotated.averaged(form)
        at = body.rotated.along(center)
        matrix = np.linalg.inv(np.linalg.cholesky(own))
        least = reached(body, matrix, at)
        bound = body.rotated.length_up(matrix, at, math.inf)
        assert least * (1 - 1e-9) <= bound <= least * (1 + 2e-3), kind


def test_an_average_is_what_turns_leave():
    body = lens(D).enclosed()[0]
    form = np.cov(np.random.default_rng(1).standard_normal((D, 40)))
    mean, rng = np.zeros((D, D)), np.random.default_rng(2)
    for _ in range(2000):
        turn = np.eye(D)
        turn[1:, 1:] = np.linalg.qr(rng.standard_normal((D - 1, D - 1)))[0]
        mean += turn @ form @ turn.T / 2000
    assert np.allclose(body.rotated.averaged(form), mean, atol=0.1)


@pytest.mark.grid(0)
@pytest.mark.parametrize(
    ("domain", "gap"),
    [
        (ln.difference_body(lens(4)), 1e-3),
        (ln.intersection(ln.Ball(4), ln.Slab(np.ones(4), -0.2, 9)), 2e-3),
    ],
    ids=["differences of a lens", "a ball and a slab"],
)
def test_noise_is_nearly_the_least(domain, gap):
    assert ln.theory.enclose(domain).certificate.gap < gap


def test_a_lens_with_its_count():
    body = lens(3).lifted(np.arange(3), np.ones(3), np.array([0.5, 0.0, 0.0]))
    assert solve(body, order=2.0, weights=np.ones(4)).claim.certificate().gap < 1e-4


def test_it_reaches_as_far_in_units_of_a_grid():
    lifted, _ = bodies(lens(D))["lifted"]
    form = np.cov(np.random.default_rng(1).standard_normal((D + 1, 40)))
    matrix = np.linalg.inv(np.linalg.cholesky(lifted.rotated.averaged(form)))
    own = lifted.rotated.length_up(matrix, np.zeros(D + 1), math.inf)
    fine = lifted.scaled(2.0**40).rotated.length_up(matrix / 2**40, np.zeros(D + 1), math.inf)
    assert own <= fine * (1 + 1e-9) <= own * (1 + 2e-9)


def test_noise_of_a_lens_and_its_count_is_as_large_as_it_has_to_be():
    asked = ln.Mean(["x", "y", "z"], lens(3))
    least = np.sqrt([0.5, 1.5, 1.5, 2.0])  # x²/0.5 + ‖(y, z)‖²/1.5 is at most 1/2 on the lens
    shape = DenseShape(np.diag(least))
    made = gaussian_mean(asked, ADD_REMOVE, None, shape, 1.0, asked.coordinates())
    assert np.allclose(made.noise.shape.deviations() * made.totals.unit, least, rtol=1e-4)


def test_what_has_more_directions_is_bounded_as_before():
    for domain in (
        ln.intersection(ln.Ball(D), ln.Box([-0.5] * D, [0.9] * D)),
        ln.intersection(ln.Ellipsoid([1, 2, 1, 1, 1]), ln.Ball(D, 1.5, center=[0.5, 0, 0, 0, 0])),
    ):
        assert domain.enclosed()[0].rotated is None
