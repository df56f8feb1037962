# SPDX-License-Identifier: Apache-2.0
"""What is far in moments, and the masses on it that prove most: for `moments`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_MOST_SWAPS = 5  # inner columns, each of which either record may have
_SWEEPS = 20
_STEPS = 600
_LEAST_STEPS = 100
_WORK = 1.2e9  # entries looked at
_FAINT = 1e-14
_MANY = 60  # columns, beyond which fewer pairs prove nearly as much
_FEWER = 160
_MIXED = 60


def best_masses(
    squares: Vector, block: Vector, omega: Vector, c: Vector, start: Vector | None = None
) -> tuple[Vector, Vector]:
    """Return masses λ that make Σ √(cω²Σλs²) + tr √(what the block has) great, and its shares.

    Args:
        squares: s² of all but the block, shape (n, a).
        block: what the block changes by, shape (n, b).
        omega: ω of both, shape (a + b,).
        c: weights on the answers, shape (a + b,).
        start: masses to begin with; the first counts for much by default.

    Returns:
        λ, shape (n,), and how much of the sum each answer has, shape (a + b,).
    """
    from scipy.optimize import minimize

    n, a = squares.shape
    asked = np.square(omega) * c
    rows = block * np.sqrt(asked[a:])
    size = float(np.max(asked[:a]))
    root = math.sqrt(size)
    rows = rows / root

    def parts(masses: Vector) -> tuple[Vector, Vector, Vector]:
        z = (masses @ squares) * asked[:a] / size
        form = (rows.T * masses) @ rows
        values, axes = np.linalg.eigh(form + _FAINT * (1 + np.trace(form)) * np.eye(len(form)))
        return np.maximum(z, _FAINT * _FAINT), np.maximum(values, _FAINT * _FAINT), axes

    def short(v: Vector) -> tuple[float, Vector]:
        masses = np.exp(v - np.max(v))
        masses /= np.sum(masses)
        z, values, axes = parts(masses)
        total = float(np.sum(np.sqrt(z)) + np.sum(np.sqrt(values)))
        slope = squares @ (asked[:a] / size / np.sqrt(z))
        slope += np.sum(np.square(rows @ axes) / np.sqrt(values), axis=1)
        slope /= 2 * total
        return -math.log(total), -masses * (slope - masses @ slope)

    first = np.zeros(n) if start is None else np.log(np.maximum(start, _FAINT))
    most = int(np.clip(_WORK / squares.size, _LEAST_STEPS, _STEPS))
    options = {"maxiter": most, "maxfun": 2 * most, "ftol": 1e-13, "gtol": 1e-10}
    found = minimize(short, first, jac=True, method="L-BFGS-B", options=options)
    masses = np.exp(found.x - np.max(found.x))
    masses /= np.sum(masses)
    z, values, axes = parts(masses)
    shares = np.append(np.sqrt(z), np.square(axes) @ np.sqrt(values))
    return masses, shares


def ends(width: int) -> Vector:
    """Return some corners of t: all ones, none, all but one, and single ones; shape (n, d)."""
    one = np.eye(width)
    single = one if width <= _MANY else one[:0]
    return np.vstack([np.ones((1, width)), np.zeros((1, width)), 1 - one, single])


def far_apart(
    singles: Vector, products: Vector, block: Vector, starts: Vector
) -> tuple[Vector, Vector]:
    """Return how great the form of differences is where it is greatest nearby, and there u.

    Args:
        singles: nᵢ, shape (d,).
        products: nᵢⱼ, i < j in order, shape (d(d − 1)/2,).
        block: M of the squares, shape (d, d).
        starts: u to start from, shape (n, d).
    """
    from scipy.optimize import minimize

    left, right = np.triu_indices(singles.size, 1)

    def less(u: Vector) -> tuple[float, Vector]:
        q, w = 1 - u * u, 1 - u[left] * u[right]
        seen = block @ q
        found = singles @ np.square(1 - u) + products @ (w * w) + q @ seen
        slope = -2 * singles * (1 - u) - 4 * u * seen
        np.add.at(slope, left, -2 * products * w * u[right])
        np.add.at(slope, right, -2 * products * w * u[left])
        return -float(found), -slope

    sides = [(-1, 1)] * singles.size
    ends = [minimize(less, at, jac=True, method="L-BFGS-B", bounds=sides) for at in starts]
    return np.array([-each.fun for each in ends]), np.round([each.x for each in ends], 5)


def swapped(u: Vector) -> Vector:
    """Return pairs of a corner and u times it, and others in which inner columns are exchanged.

    That leaves z and products, or hardly, and takes squares to all signs; shape (n, 2d).
    """
    found = []
    for own in u:
        inner = np.flatnonzero(np.abs(own) < 1)[1 : 1 + _MOST_SWAPS]
        for signs in np.ndindex(*(2,) * inner.size):
            pair = np.stack([np.ones(own.size), own])
            some = inner[np.array(signs, dtype=bool)]
            pair[:, some] = pair[::-1, some]
            found.append(pair.ravel())
    return np.unique(np.array(found), axis=0)


def cuts(vectors: Vector, graph: Vector) -> Vector:
    """Return pairs whose second is ±1 times the first, by the signs of vectors seen from somewhere.

    Each is improved, a sign at a time, until no other is farther; and pairs of which one is in the
    middle of some columns.

    Args:
        vectors: x, shape (d + 1, r).
        graph: N, what products reveal, shape (d + 1, d + 1).
    """
    r = len(vectors)
    random = np.random.default_rng(0)  # where to look: nothing that is released
    many = 3 * r + 40 if r <= _MANY else _FEWER
    signs = np.where(random.standard_normal((many, vectors.shape[1])) @ vectors.T < 0, -1.0, 1.0)
    for _ in range(_SWEEPS * r):
        # how much farther a pair gets by one other sign
        gain = signs * (signs @ graph)
        best = np.argmax(gain, axis=1)
        rows = np.arange(many)
        better = gain[rows, best] > 1e-12 * np.max(graph)
        if not np.any(better):
            break
        signs[rows[better], best[better]] *= -1
    signs = np.unique(signs * signs[:, :1], axis=0)[:, 1:]
    d = r - 1
    far = np.hstack([np.ones_like(signs), signs])
    middle = np.hstack([np.ones((1, d)), np.zeros((1, d))])
    half = random.random((min(d, _MIXED), d)) < 0.5  # noqa: PLR2004 (one of two)
    mixed = np.hstack([np.where(half, 1.0, 0.0), np.where(half, 0.0, 1.0)])
    return np.vstack([middle, mixed, far])
