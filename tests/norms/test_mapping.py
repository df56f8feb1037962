# SPDX-License-Identifier: Apache-2.0
"""Images of bodies are no larger than they are: along every direction they extend as the body."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricBox, SymmetricPoints
from lownoise.sets.norms import norm_of
from lownoise.sets.norms.image import simplest
from lownoise.sets.unit_balls import NormBall

RNG = np.random.default_rng(20261122)
WIDTHS = np.array([1.0, 2.0, 5.0])
CORNERS = np.array(list(product([-1.0, 1.0], repeat=3))) * WIDTHS
BODIES = {
    "box": (SymmetricBox(WIDTHS), CORNERS),
    "corners": (SymmetricPoints(CORNERS), CORNERS),
    "differences": (PointDifferences(CORNERS), 2 * CORNERS),
    "diagonal": (ImageBody(WIDTHS, NormBall(3, 1.0)), np.vstack([np.diag(WIDTHS)] * 2)),
    "dense": (ImageBody(np.diag(WIDTHS) + 0.5, NormBall(3, 1.0)), (np.diag(WIDTHS) + 0.5).T),
}


def extent(body):
    """Return how far a body of one coordinate goes."""
    return 1 / float(norm_of(body).norm_up(np.ones((1, 1)))[0])


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", BODIES)
def test_an_image_extends_along_each_direction_as_the_body_does(name):
    body, corners = BODIES[name]
    for i in range(90):
        rows = RNG.choice([-1, -0.75, 0, 0, 0.25, 0.5, 0.75, 1], size=(2, 3))
        if i % 3 == 0:  # parts of 1, which a row that keeps one coordinate has too
            parts = [[1, 0, 0], [0.25, 0.75, 0], [0.5, -0.5, 0], [1, -1, 0], [1, 1, 0]]
            rows = RNG.permuted(RNG.choice(parts, size=2), axis=1)
        u = RNG.choice([-1, -0.5, 0.25, 1], size=(1, 2))
        kept = {tuple(np.flatnonzero(row)) for row in rows}
        if len(kept) == 1 or not np.any(u @ rows):
            continue  # two rows of one coordinate have a box around them
        most = float(np.max(np.abs(corners @ rows.T @ u.T)))
        assert extent(body.mapped(rows).mapped(u)) == pytest.approx(most, rel=1e-9)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, math.inf])
def test_a_simpler_factor_has_the_same_image(order):
    base = NormBall(3, order)
    dual = {1.0: math.inf, math.inf: 1.0}.get(order, order / (order - 1) if order > 1 else 0)
    for entries in RNG.choice([0, 0, 0, 1.0, -2.0], size=(3000, 9)):
        factor = entries.reshape(3, 3)
        found = simplest(factor, base)
        found = np.diag(found) if found.ndim == 1 else found
        for u in RNG.choice([-1.0, 0.5, 2.0], size=(3, 3)):
            sides = [np.linalg.norm(u @ f, dual) for f in (factor, found)]
            assert sides[0] == pytest.approx(sides[1])
