# SPDX-License-Identifier: Apache-2.0
"""Unit balls, and what they are by definition: one row adds a base, and every law runs on it."""

from __future__ import annotations

import math
from functools import singledispatch
from itertools import combinations

import mpmath
import numpy as np
from scipy.optimize import linprog, minimize

from lownoise.sets.unit_balls import (
    CappedBall,
    IntersectionBall,
    KroneckerBall,
    MixedBall,
    NormBall,
    ParityBall,
    ParityDifferenceBall,
    SortedBall,
    SpectralBall,
    product_ball,
)

NORM = NormBall(2, math.inf)
BASES = {
    "interval": NormBall(1, 7.0),
    "ball of ℓ₁": NormBall(4, 1.0),
    "nearly ℓ₁": NormBall(3, 1.0 + 2.0**-20),
    "ball of ℓ₁.₅": NormBall(3, 1.5),
    "ball of ℓ₂": NormBall(4, 2.0),
    "ball of ℓ₃": NormBall(3, 3.0),
    "ball of ℓ₁₀₀₀": NormBall(3, 1000.0),
    "cube": NormBall(4, math.inf),
    "capped": CappedBall(np.array([0.6, 1.0, 0.3])),
    "only caps": CappedBall(np.array([0.2, 0.5, 0.4])),
    "two largest": SortedBall(np.array([1.0, 1.0, 0.0, 0.0])),
    "ordered ℓ₁": SortedBall(np.array([3.0, 2.0, 1.0, 0.5])),
    "largest alone": SortedBall(np.array([1e-3, 0.0, 0.0])),
    "product": MixedBall(
        (NormBall(2, 2.0), CappedBall(np.array([0.9, 0.5])), NormBall(1, 1.0), NormBall(2, 3.0)),
        math.inf,
    ),
    "product of sorted": MixedBall((SortedBall(np.array([2.0, 1.0])), NORM), math.inf),
    "hull": MixedBall((NormBall(2, 2.0), NORM, NormBall(1, 2.0)), 1.0),
    "mixed at 1.5": MixedBall((NormBall(2, 3.0), NORM), 1.5),
    "mixed at 3": MixedBall((NormBall(2, 1.0), NormBall(2, 2.0)), 3.0),
}

GAUGES = {
    "operator": NormBall(3, math.inf),
    "Schatten 4": NormBall(3, 4.0),
    "Schatten 2.5": NormBall(3, 2.5),
    "Schatten 1.5": NormBall(3, 1.5),
    "nuclear": NormBall(3, 1.0),
    "Ky Fan 2": SortedBall(np.array([1.0, 1.0, 0.0])),
    "ordered": SortedBall(np.array([3.0, 2.0, 0.5])),
    "capped values": CappedBall(np.full(3, 0.7)),
}
MATRICES = {
    f"{name} {r}x{c}": SpectralBall(r, c, gauge)
    for name, gauge in GAUGES.items()
    for r, c in ((3, 3), (3, 5), (4, 3))
}
CAP, EVEN = np.array([0.3, 0.5, 0.7, 0.9]), np.full(4, 0.45)
SCALES = np.array([[1.0, 0.8, 1.2, 0.9], [0.9, 1.1, 0.7, 1.0]])
MEETS = {
    **{f"capped {r}": CappedBall(CAP, r) for r in (1.0, 1.4, 2.0, 3.0, 8.0)},
    **{f"even {r}": CappedBall(EVEN, r) for r in (1.0, 1.4, 2.0)},
    "two balls": IntersectionBall((NormBall(4, 2.0), NormBall(4, 2.0)), SCALES),
    "two orders": IntersectionBall((NormBall(4, 2.0), NormBall(4, 4.0)), SCALES),
    "three orders": IntersectionBall(
        (NormBall(4, 2.5), CappedBall(np.array([0.9, 0.4, 0.8, 1.0]), 4.0), NormBall(4, 2.0)),
        np.vstack([SCALES, [[0.8, 1.0, 1.0, 1.3]]]),
    ),
    "cross and ball": IntersectionBall(
        (NormBall(4, 1.0), NormBall(4, 2.0)), SCALES * [[0.6], [1.0]]
    ),
    "capped and sorted": IntersectionBall(
        (CappedBall(CAP), SortedBall(np.array([1, 0.5, 0.2, 0]))), SCALES
    ),
    "pairs and cube": IntersectionBall(
        (product_ball([NormBall(2, 2.0), NormBall(2, 1.0)]), NormBall(4, math.inf)), SCALES
    ),
}
PARITIES = {
    repr(base): base
    for base in (
        *(
            ParityBall(d, degrees)
            for d, degrees in ((4, (1,)), (4, (2,)), (4, (1, 3)), (5, (2, 4, 0)))
        ),
        *(ParityDifferenceBall(d, degrees) for d, degrees in ((2, (2,)), (4, (2,)), (5, (2, 4)))),
    )
}
PAIRS = {
    "cube by ball": KroneckerBall(NormBall(2, math.inf), NormBall(3, 2.0)),
    "ball by ball": KroneckerBall(NormBall(2, 2.0), NormBall(3, 2.0)),
    "cross by cube": KroneckerBall(NormBall(3, 1.0), NormBall(2, math.inf)),
}
MEMBERS = BASES | MATRICES | MEETS | PARITIES | PAIRS


def parts(base):
    """Return the factors of a base, each with where its coordinates stand."""
    own = base.parts if isinstance(base, MixedBall) else (base,)
    ends = np.cumsum([0, *(part.dimension for part in own)])
    return [(p, slice(int(a), int(b))) for p, a, b in zip(own, ends[:-1], ends[1:], strict=True)]


@singledispatch
def exact_norm(base, point):
    """Return the norm of one point by its definition, to 60 digits."""
    return _power_norm([exact_norm(part, point[own]) for part, own in parts(base)], base.order)


def _power_norm(sizes, order):
    with mpmath.workdps(60):
        if math.isinf(order):
            return max(sizes)
        r = mpmath.mpf(order)
        return mpmath.fsum(v**r for v in sizes) ** (1 / r)


@exact_norm.register(NormBall)
def _(base, point):
    with mpmath.workdps(60):
        return _power_norm([abs(mpmath.mpf(float(v))) for v in point], base.order)


@exact_norm.register(CappedBall)
def _(base, point):
    with mpmath.workdps(60):
        size = [abs(mpmath.mpf(float(v))) for v in point]
        over = max(v / mpmath.mpf(float(c)) for v, c in zip(size, base.cap, strict=True))
        return max(over, mpmath.sqrt(mpmath.fsum(v * v for v in size)))


@exact_norm.register(SortedBall)
def _(base, point):
    with mpmath.workdps(60):
        falling = sorted((abs(mpmath.mpf(float(v))) for v in point), reverse=True)
        pairs = zip(base.weights, falling, strict=True)
        return mpmath.fsum(mpmath.mpf(float(w)) * v for w, v in pairs)


def random_points(base, rng, count):
    """Return points of B: half of them on its boundary, many of them thin."""
    x = rng.normal(size=(count, base.dimension)) * 10.0 ** rng.uniform(-3, 0, (count, 1))
    x *= rng.random((count, base.dimension)) < 0.7
    x = np.vstack([x, base.extreme(rng.normal(size=(count, base.dimension)))])
    size = np.array([float(exact_norm(base, row)) for row in x])
    shrink = np.where(rng.random(len(x)) < 0.5, 1.0, rng.random(len(x)))
    return x / np.where(size > 0, size, 1.0)[:, None] * shrink[:, None] * (1 - 1e-15)


def sorted_atoms(base):
    """Return the squares of extreme points of a sorted norm's ball, shape (n, k): all subsets."""
    k, found = base.dimension, [np.zeros(base.dimension)]
    for j in range(1, k + 1):
        for chosen in combinations(range(k), j):
            z = np.zeros(k)
            z[list(chosen)] = 1 / np.sum(base.weights[:j]) ** 2
            found.append(z)
    return np.array(found)


@singledispatch
def least_multiple(base, z):
    """Return the least t with z ∈ t·hull{x² : x ∈ B}, apart from the code under test."""
    inner = [mpmath.mpf(least_multiple(part, z[own])) for part, own in parts(base)]
    return float(_power_norm(inner, max(base.order / 2, 1.0)))


@least_multiple.register(NormBall)
@least_multiple.register(CappedBall)
def _(base, z):
    if isinstance(base, NormBall) and base.order < 2:  # mixtures of the ends of the axes
        return float(mpmath.fsum(z))
    return float(exact_norm(base, np.sqrt(z))) ** 2  # the squares are convex: one point will do


@least_multiple.register(SortedBall)
def _(base, z):
    atoms = sorted_atoms(base)
    scale = float(np.max(atoms))
    found = linprog(np.ones(len(atoms)), A_ub=-atoms.T / scale, b_ub=-z)
    return found.fun / scale


@singledispatch
def best_spread(base, g):
    """Return the greatest Σ√(gz) over hull{x² : x ∈ B}, by a general optimiser."""
    inner = [mpmath.mpf(best_spread(part, g[own])) for part, own in parts(base)]
    r = max(base.order, 2.0)  # Σ sᵢ√τᵢ with √τ in the outer ball: the dual norm of s
    return float(_power_norm(inner, 1.0 if math.isinf(r) else r / (r - 1)))


@best_spread.register(NormBall)
def _(base, g):
    k = base.dimension
    r = max(base.order, 2.0)
    if math.isinf(r) or k == 1:
        return float(np.sum(np.sqrt(g)))
    held = [{"type": "ineq", "fun": lambda z: 1 - np.sum(z ** (r / 2))}]
    return _maximised(g, np.full(k, k ** (-2 / r)), [(1e-12, 1)] * k, held, np.eye(k))


@best_spread.register(CappedBall)
def _(base, g):
    k = base.dimension
    held = [{"type": "ineq", "fun": lambda z: 1 - np.sum(z)}]
    caps = np.square(base.cap)
    start = caps / max(np.sum(caps), 1.0)
    return _maximised(g, start, [(1e-12, float(c)) for c in caps], held, np.eye(k))


@best_spread.register(SortedBall)
def _(base, g):
    atoms = sorted_atoms(base)
    held = [{"type": "ineq", "fun": lambda w: 1 - np.sum(w)}]
    start = np.full(len(atoms), 1 / len(atoms))
    return _maximised(g, start, [(0, 1)] * len(atoms), held, atoms)


def _maximised(g, start, bounds, held, atoms):
    scale = float(np.sqrt(np.max(atoms)))

    def value(w):
        return -float(np.sum(np.sqrt(g * np.maximum(w @ atoms, 1e-30)))) / scale

    found = minimize(
        value, start, bounds=bounds, constraints=held, method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    low, high = 0.0, 1.0  # what it ends at may be beyond what is held, by machine
    for _ in range(60):
        middle = (low + high) / 2
        inside = all(np.min(own["fun"](middle * found.x)) >= 0 for own in held)
        low, high = (middle, high) if inside else (low, middle)
    return -value(low * found.x) * scale
