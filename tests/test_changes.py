# SPDX-License-Identifier: Apache-2.0
"""What one neighbour can change, of domains of every kind, against all corners.

The oracle lists the corners x of the domain by hand and takes the definition of neighbours alone:
`substitute` changes the sum by x − x', `add_remove` changes (sum − count·v, count) by ±(x − v, 1).
Mutants seen: K for K − K, the center left out, added for subtracted or not over the step, the count
dropped or doubled, the middle for the center, a shape's defect left out or on the wrong side.
"""

import math

import numpy as np
import pytest
from tests.toys.domain import Wedge

import lownoise as ln
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sensitivity.factors.abstract import Whitening
from lownoise.sensitivity.relations import sensitivity_set
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.domains import CubePower, Intersection, Product
from lownoise.sets.domains.coordinates import every_coordinate

TILT = np.array([[2.0, 1.0], [-1.0, 0.5]])
SQUARE = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
TRIANGLE = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]])
CUBE = ln.Box([-1, -1], [1, 1])
BOX = ln.Box([-1, 5], [1, 8])
CUT = ln.intersection(ln.Box([0, 0], [4, 4]), ln.Slab([1.0, 2.0], -99.0, 4.0))
TENSORS = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, -1.0, 1.0]])
PRISM = np.array([[*x, z] for x in TRIANGLE for z in (5.0, 6.0)])
# of each kind: the domain, its corners, and how far above the truth its radius is in noise that
# joins all coordinates, at most
CASES = {
    "box": (BOX, SQUARE * [1.0, 1.5] + [0.0, 6.5], 0.25),
    "points": (ln.Points(TRIANGLE), TRIANGLE, 1e-9),
    "hull": (ln.hull(ln.Points(TRIANGLE), ln.Points([[3.0, 1.5]])), [*TRIANGLE, [3, 1.5]], 1e-9),
    "stretched": (ln.image([3.0, -2.0], CUBE, [0.5, 1]), SQUARE * [3, 2] + [0.5, 1], 0.05),
    "tilted": (ln.image(TILT, CUBE, [4, 1]), SQUARE @ TILT.T + [4, 1], 1e-9),
    "segment": (ln.image([[3.0], [1.0]], ln.Box([0], [1])), [[0.0, 0.0], [3.0, 1.0]], 1e-9),
    "section": (CUT, TRIANGLE, 0.2),
    "product": (
        ln.product(ln.Points([[0.0], [2.0]]), ln.Box([5], [6])),
        [[0.0, 5.0], [0.0, 6.0], [2.0, 5.0], [2.0, 6.0]],
        1e-9,
    ),
    "corners of three": (ln.product(ln.Points(TRIANGLE), ln.Box([5], [6])), PRISM, 1e-9),
    "parities": (ln.TensorPower(2, 2), TENSORS, 0.05),
    "from outside": (Wedge(4.0), [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], 0.05),
}
# on the line from the first corner to the last: at both ends, between them and beyond
PLACES = [("substitute", 0.5), *(("add_remove", t) for t in (-0.5, 0.0, 0.1, 0.5, 0.9, 1.0, 1.5))]


def center_at(corners, place):
    first, last = np.asarray(corners)[[0, -1]]
    return first + place * (last - first) + [0.125, *[0.0] * (first.size - 1)]


def changed(corners, relation, center):
    x = np.asarray(corners, dtype=float)
    if relation == "substitute":
        return (x[:, None] - x).reshape(-1, x.shape[1])
    lifted = np.hstack([x - center, np.ones((len(x), 1))])
    return np.vstack([lifted, -lifted])


def shapes(dimension):
    """A diagonal noise, and two that join all coordinates in other signs."""
    rng = np.random.default_rng(dimension)
    yield DiagonalShape(rng.uniform(0.5, 2, dimension))
    for _ in range(2):
        yield DenseShape(np.eye(dimension) + 0.4 * rng.normal(size=(dimension, dimension)))


def factor(shape):
    return np.linalg.cholesky(shape.dense())


@pytest.mark.grid(least=3)
@pytest.mark.parametrize(("relation", "place"), PLACES)
@pytest.mark.parametrize("case", CASES)
def test_the_reach_is_just_above_that_of_every_corner(case, relation, place):
    domain, corners, room = CASES[case]
    center = center_at(corners, place)
    body = sensitivity_set(domain, relation, center)
    kept = domain.exact_coordinates().pivots  # copies of entries once
    reached = changed(np.asarray(corners)[:, kept], relation, center[kept])
    for shape in shapes(reached.shape[1]):
        lengths = np.linalg.norm(np.linalg.solve(factor(shape), reached.T), axis=0)
        radius = body.radius_up(shape)
        assert radius >= lengths.max() * (1 - 1e-12)
        joined = isinstance(shape, DenseShape) or case == "section"
        assert radius <= lengths.max() * (1 + (room if joined else 1e-9))


@pytest.mark.grid
@pytest.mark.parametrize(("relation", "place"), PLACES)
@pytest.mark.parametrize("case", [c for c in CASES if c not in ("box", "parities")])
def test_every_row_is_just_above_what_corners_make_of_it(case, relation, place):
    """In steps, of each coordinate one: they are how the integers see it."""
    domain, corners, _ = CASES[case]
    center = center_at(corners, place)
    step = np.array([0.5, 4.0, 1.0])[: center.size]
    chosen = every_coordinate(center)
    body = sensitivity_set(domain, relation, center, chosen, step)
    reached = (
        changed(corners, relation, center)
        / [*step, 1.0][: center.size + (relation == "add_remove")]
    )
    d = body.dimension
    rows = np.vstack([np.eye(d), np.random.default_rng(2).normal(size=(6, d))])
    truth = np.abs(rows @ reached.T).max(axis=1)
    found = body.extent_up(rows, np.zeros(d))
    assert np.all(found >= truth * (1 - 1e-12))
    # pairs of listed points are looked at from a center, for they are many
    coarse = case in ("points", "hull") and relation == "substitute"
    assert np.all(found <= truth * (2 if coarse else 1) * (1 + 1e-9))


def test_kinds_are_what_they_are_called():
    assert isinstance(CUT, Intersection)
    assert isinstance(CASES["parities"][0], CubePower)
    assert isinstance(CASES["corners of three"][0], Product)


def test_a_product_with_few_corners_is_planned_by_them_about_any_center():
    """Part by part as much is covered, and 2% less is proved."""
    domain = CASES["corners of three"][0]
    for center in (domain.lower, domain.upper):
        question = ln.Mean(["a", "b", "c"], domain, center=center)
        plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
        assert plan.certificate.gap < 1e-5


@pytest.mark.parametrize("defect", [2.0**-20, 0.25, 0.75])
def test_what_a_whitening_lacks_is_paid_for(defect):
    """X = (1 − defect)·L⁻¹ makes every change that much shorter than it is."""
    L = np.array([[4.0, 0.0], [2.0, 1.0]])

    class Crooked:
        whitening = Whitening((1 - defect) * np.linalg.inv(L), defect)

    points = np.array([[3.0, 4.0], [-1.0, 2.0]])
    truth = np.linalg.norm(np.linalg.solve(L, points.T), axis=0).max()
    found = SymmetricPoints(points).radius_up(Crooked())
    assert truth * (1 - 1e-15) <= found <= truth * (1 + 1e-9)


@pytest.mark.parametrize("defect", [1.0, 2.0, math.inf, math.nan])
def test_a_whitening_that_says_nothing_bounds_nothing(defect):
    class Crooked:
        whitening = Whitening(np.eye(2), defect)

    assert SymmetricPoints(np.eye(2)).radius_up(Crooked()) == math.inf


@pytest.mark.parametrize("place", [-0.5, 0.0, 0.1, 0.5, 0.9, 1.0, 1.5])
def test_the_section_around_a_lifted_body_holds_every_corner(place):
    """Its rows are what the bound on lengths is made of; far from it they would prove nothing."""
    center, step = center_at(TRIANGLE, place), np.array([0.5, 4.0])
    body = CUT.lifted(np.arange(2), step, center)
    reached = changed(TRIANGLE, "add_remove", center) / [*step, 1.0]
    norms = body.section.base.norm_up(reached @ body.section.rows.T)
    assert np.all(norms <= 1 + 1e-12)
    assert np.max(norms) >= 1 - 1e-12
