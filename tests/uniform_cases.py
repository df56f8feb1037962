# SPDX-License-Identifier: Apache-2.0
"""Bodies with their norms written down anew: what every sampler of uniform points is judged by.

A row here runs all laws of `test_uniform`.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy.spatial import ConvexHull

from lownoise.samplers.uniform import (
    UniformBases,
    UniformContractions,
    UniformHull,
    UniformImage,
    UniformNormBall,
    UniformProduct,
    UniformSorted,
    UniformZonotope,
)
from lownoise.samplers.walks import RoundBody, Within
from lownoise.sets.norms import SpannedNorm

SKEW = np.array([[2.0, 0.5, 0.0], [-1.0, 1.0, 0.25], [0.5, 0.0, 3.0]])
SCALES = np.array([0.5, 2.0, 1.25])
HULL = np.array(
    [[1, 0, 0], [0, 2, 0], [0.5, 1, 3], [1, 1, 1], [0.25, 0, 0], [-1, 2, 0.5], [1, 1.5, 0.125]]
)
PRISM = np.array(
    [[1.0, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1], [1, 0, 0], [3, 0, 0], [1, 1, 0]]
)
GENERATORS = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 2], [1, -1, 1], [2, 2, 0]])
FLAT_PLANE = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 2.0]])


@dataclass(frozen=True, eq=False)
class Case:
    """A sampler, the norm of its body (shapes (n, d) and (n,)), and a box around that."""

    name: str
    uniform: object
    norm: object
    half: np.ndarray

    @property
    def dimension(self):
        return self.uniform.dimension

    @property
    def family(self):
        return type(self.uniform)


def ball(order):
    return lambda x: np.linalg.norm(x, order, axis=1)


def sorted_norm(weights):
    return lambda x: np.sort(np.abs(x), axis=1)[:, ::-1] @ weights


def by_planes(normals, levels):
    return lambda x: np.max(np.abs(x @ normals.T) / levels, axis=1)


def hull_norm(points):
    """The norm of a hull, by the facets that qhull finds."""
    found = ConvexHull(np.vstack([points, -points])).equations
    return by_planes(found[:, :-1], -found[:, -1])


def zonotope_norm(generators):
    """The norm of a zonotope: its facets' normals are those of d − 1 generators."""
    d = generators.shape[1]
    normals = []
    for some in combinations(generators, d - 1):
        _, values, axes = np.linalg.svd(np.array(some))
        if d == 1 or values[-1] > 1e-9:
            normals.append(axes[-1])
    normals = np.array(normals)
    return by_planes(normals, np.abs(normals @ generators.T).sum(axis=1))


def tried(points):
    """Points of a hull by trying those of an ellipsoid, with the hull's own second moment."""
    gauge = SpannedNorm(points)
    factor, inner, outer = gauge._round()
    body = RoundBody(membership=gauge._membership, factor=factor, inner=inner, outer=outer)
    return Within(body=body, moment=UniformHull(points).second_moment())


def of_bases(points):
    """The same by tries of simplices."""
    return UniformBases(points, UniformHull(points).second_moment())


def hull_case(name, points):
    return Case(name, UniformHull(points), hull_norm(points), np.abs(points).max(axis=0))


def zonotope_case(name, generators):
    half = np.abs(generators).sum(axis=0)
    return Case(name, UniformZonotope(generators), zonotope_norm(generators), half)


def _cases():
    one = np.ones(3)
    for order in (1.0, 1.5, 2.0, 3.0, 10.0, math.inf):
        yield Case(f"ball {order}", UniformNormBall(3, order), ball(order), one)
    yield Case("disc", UniformNormBall(2, 2.0), ball(2), one[:2])
    yield Case("interval", UniformNormBall(1, 4.0), ball(2), one[:1])
    yield Case(
        "stretched",
        UniformImage(SCALES, UniformNormBall(3, 1.0)),
        lambda x: ball(1)(x / SCALES),
        SCALES,
    )
    yield Case(
        "ellipsoid",
        UniformImage(SKEW, UniformNormBall(3, 2.0)),
        lambda x: ball(2)(np.linalg.solve(SKEW, x.T).T),
        np.linalg.norm(SKEW, axis=1),
    )
    yield Case(
        "product",
        UniformProduct((UniformNormBall(2, 2.0), UniformImage([3.0], UniformNormBall(1, 1.0)))),
        lambda x: np.maximum(ball(2)(x[:, :2]), np.abs(x[:, 2]) / 3),
        np.array([1.0, 1.0, 3.0]),
    )
    for weights in ([1.0, 0.5, 0.125], [2.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.25]):
        w = np.array(weights)
        yield Case(f"sorted {weights}", UniformSorted(w), sorted_norm(w), np.full(w.size, 1 / w[0]))
    for shape in ((2, 2), (3, 1), (1, 2)):
        yield Case(
            f"contractions {shape}",
            UniformContractions(*shape),
            lambda x, shape=shape: np.linalg.norm(x.reshape(-1, *shape), 2, axis=(1, 2)),
            np.ones(shape[0] * shape[1]),
        )
    yield hull_case("hull", HULL)
    yield Case("tried", tried(HULL), hull_norm(HULL), np.abs(HULL).max(axis=0))
    yield Case("bases", of_bases(HULL[:5]), hull_norm(HULL[:5]), np.abs(HULL[:5]).max(axis=0))
    yield hull_case("prism", PRISM)
    yield Case(
        "segment",
        UniformHull([[1.0], [-3.0], [2.0]]),
        lambda x: np.abs(x[:, 0]) / 3,
        np.array([3.0]),
    )
    yield zonotope_case("zonotope", GENERATORS)
    yield zonotope_case("hexagon", FLAT_PLANE)
    yield Case(
        "cell",
        UniformZonotope(SKEW),
        lambda x: ball(np.inf)(x @ np.linalg.inv(SKEW)),
        np.abs(SKEW).sum(axis=0),
    )


CASES = list(_cases())


@cache
def reference(case, count):
    """Uniform points of the body by rejection from the box, in floats; shape (count, d)."""
    rng = np.random.default_rng(count)
    found = np.empty((0, case.dimension))
    while len(found) < count:
        x = rng.uniform(-case.half, case.half, (1 << 18, case.dimension))
        found = np.vstack([found, x[case.norm(x) <= 1]])
    return found[:count]


@dataclass
class Scripted:
    """Serve the given words first, then those of another source; remember all."""

    first: list
    later: object

    def __post_init__(self):
        self.served = []

    def words(self, count):
        head = self.first[:count]
        del self.first[:count]
        tail = self.later.words(count - len(head)) if count > len(head) else []
        found = np.array([*head, *tail], dtype=np.uint64)
        self.served.append(found)
        return found


def middles(lazy):
    """The real vector in floats."""
    return np.array([float(ball.mid()) for ball in lazy.balls()])
