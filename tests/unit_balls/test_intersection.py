# SPDX-License-Identifier: Apache-2.0
"""Capped balls and meets of unit balls against general optimisers and linear programmes."""

import math

import numpy as np
import pytest

from lownoise.errors import FileError
from lownoise.sets.unit_balls import UNIT_BALLS, CappedBall, IntersectionBall, NormBall
from unit_ball_cases import EVEN, MEETS

RANDOM = np.random.default_rng(11)


def test_the_split_of_norms_gives_what_a_general_optimiser_gives():
    from scipy.optimize import minimize

    for name in ("two balls", "two orders", "three orders", "cross and ball", "pairs and cube"):
        base = MEETS[name]
        theta = RANDOM.uniform(0.2, 1.0, (6, base.dimension))
        support = base.support_up(theta)
        for direction, bound in zip(theta, support, strict=True):
            held = {"type": "ineq", "fun": lambda x, own=base: 1 - _norms(own, x)}
            found = minimize(
                lambda x, t=direction: -float(t @ x), np.full(4, 0.2), method="SLSQP",
                bounds=[(1e-9, 2)] * 4, constraints=[held], options={"ftol": 1e-13, "maxiter": 999},
            )  # fmt: skip
            assert bound == pytest.approx(-found.fun, rel=1e-6)


def _norms(base, x):
    """The norm of each part of a meet, by the definition, for x ≥ 0."""
    found = []
    for part, scale in zip(base.parts, base.scales, strict=True):
        y = scale * x
        if isinstance(part, CappedBall):
            found += [*(y / part.cap), np.sum(y**part.order) ** (1 / part.order)]
        elif isinstance(part, NormBall):
            found += list(y) if math.isinf(part.order) else [np.linalg.norm(y, part.order)]
        else:
            found += [np.linalg.norm(y[:2]), np.sum(y[2:])]
    return np.array(found)


@pytest.mark.grid(3)
@pytest.mark.parametrize("orders", [(1.0, 2.0), (1.05, 1.9), (2.0, 7.0), (3.0, 900.0), (1.0, 1.0)])
def test_bounds_of_two_norms_are_met_at_every_scale(orders):
    """A bound and a point of the body that comes near it prove each other."""
    k = 9
    for spread, near in ((0.3, 1e-8), (3.0, 5e-3)):
        scales = 10.0 ** RANDOM.uniform(-spread, spread, (2, k))
        base = IntersectionBall((NormBall(k, orders[0]), NormBall(k, orders[1])), scales)
        theta = RANDOM.standard_normal((40, k)) * 10.0 ** RANDOM.uniform(-spread, spread, (40, k))
        theta[0], theta[1], theta[2, 1:] = 0.0, 1.0, 0.0
        theta[3] *= 2.0**-500
        theta[4] *= 2.0**500
        ends = base.extreme(theta)
        bounds, reached = base.support_up(theta), np.sum(ends * theta, axis=1)
        assert np.all(base.norm_up(ends) <= 1 + 1e-12)
        assert np.all(reached <= bounds)
        assert np.all(reached >= bounds * (1 - near))
        points = RANDOM.standard_normal((500, k))
        points /= base.norm_up(points)[:, None]
        assert np.all(points @ theta.T <= bounds * (1 + 1e-12))


@pytest.mark.parametrize("order", [1.0, 1.5])
def test_moments_of_even_caps_are_exact(order):
    # by linear programming over all arrangements of the extreme squares
    from itertools import permutations

    from scipy.optimize import linprog

    base = CappedBall(EVEN, order)
    filled = np.sort(np.abs(base.extreme(np.array([[4.0, 3.0, 2.0, 1.0]]))[0]))
    squares = np.array(sorted(set(permutations(np.square(filled)))))
    for _ in range(10):
        z = RANDOM.uniform(size=4)
        found = linprog(np.ones(len(squares)), A_ub=-squares.T, b_ub=-z)
        assert base.moment_up(z) == pytest.approx(found.fun, rel=1e-8)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "meet", "parts": [], "scales": [[1.0]]},
        {"kind": "meet", "parts": [{"kind": "norm", "size": 2, "order": 2}], "scales": [[1.0]]},
        {"kind": "meet", "parts": [{"kind": "norm", "size": 1, "order": 2}], "scales": [[0.0]]},
        {"kind": "capped", "cap": [0.5], "order": 0.5},
    ],
)
def test_refuses_damaged_files(fields):
    with pytest.raises(FileError):
        UNIT_BALLS.read(fields)
