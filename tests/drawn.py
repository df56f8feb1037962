# SPDX-License-Identifier: Apache-2.0
"""Points drawn inside the domains of `cases`, some of them extreme: a sampler a kind of body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector

    Sampler = Callable[[np.random.Generator, int], Vector]


def in_ball(d: int, order: float) -> Sampler:
    """Points of the unit ball of ℓ_order, half of them on its boundary, some on the axes."""

    def sample(rng: np.random.Generator, n: int) -> Vector:
        x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
        x[: n // 4] = rng.choice([-1.0, 1.0], (n // 4, d))
        x[n // 4 : n // 2] *= rng.permuted(np.eye(d)[np.zeros(n // 2 - n // 4, int)], axis=1)
        size = np.linalg.norm(x, order, axis=1)
        x /= np.where(size > 0, size, 1.0)[:, None]
        return x * np.where(rng.random(n) < 0.5, 1.0, rng.random(n))[:, None]

    return sample


def moved(sample: Sampler, factor: Vector | float, center: Vector | float) -> Sampler:
    """Images of points under x → center + factor·x; a vector is a diagonal."""

    def own(rng: np.random.Generator, n: int) -> Vector:
        x = sample(rng, n)
        return center + (x @ np.transpose(factor) if np.ndim(factor) == 2 else x * factor)

    return own


def joined(*samples: Sampler) -> Sampler:
    """Points side by side."""
    return lambda rng, n: np.hstack([sample(rng, n) for sample in samples])


def summed(*samples: Sampler) -> Sampler:
    """Sums of points."""
    return lambda rng, n: sum(sample(rng, n) for sample in samples)


def mixed(*samples: Sampler) -> Sampler:
    """Mixtures of points, most of them of one point alone."""

    def own(rng: np.random.Generator, n: int) -> Vector:
        share = rng.dirichlet(np.full(len(samples), 0.1), size=n)
        return sum(share[:, i : i + 1] * sample(rng, n) for i, sample in enumerate(samples))

    return own


def by_norm(d: int, norm: Callable[[Vector], Vector]) -> Sampler:
    """Points of the unit ball of a norm of rows, from those of the cube."""

    def sample(rng: np.random.Generator, n: int) -> Vector:
        x = np.vstack([np.eye(d), in_ball(d, math.inf)(rng, n - d)])
        size = norm(x)
        return x / np.where(size > 0, size, 1.0)[:, None]

    return sample


def spectra(rows: int, columns: int, values: Sampler) -> Sampler:
    """Matrices of random singular vectors, row by row; `values` draws their singular values."""

    def sample(rng: np.random.Generator, n: int) -> Vector:
        u, _, v = np.linalg.svd(rng.normal(size=(n, rows, columns)), full_matrices=False)
        return ((u * values(rng, n)[:, None]) @ v).reshape(n, rows * columns)

    return sample


def powers(x: Vector, power: int) -> Vector:
    """Return the tensor power of each row."""
    found = x
    for _ in range(power - 1):
        found = np.einsum("ni,nj->nij", found, x).reshape(len(x), -1)
    return found


def tensors(sample: Sampler, power: int) -> Sampler:
    """Tensor powers of points."""
    return lambda rng, n: powers(sample(rng, n), power)


def pairwise(first: Sampler, second: Sampler) -> Sampler:
    """Points x ⊗ y, every other of them mixed with the one before."""

    def own(rng: np.random.Generator, n: int) -> Vector:
        found = np.einsum("ni,nj->nij", first(rng, n), second(rng, n)).reshape(n, -1)
        share = rng.random((n, 1)) * (np.arange(n) % 2)[:, None]
        return (1 - share) * found + share * np.roll(found, 1, axis=0)

    return own


def choices(d: int) -> Sampler:
    """Choices of signs."""
    return lambda rng, n: rng.choice([-1.0, 1.0], (n, d))


def rays(middle: Vector, leave: Callable[[Vector], Vector]) -> Sampler:
    """Points on rays from a point inside, half of them where the ray leaves: at `leave`(u) ≥ 0."""

    def sample(rng: np.random.Generator, n: int) -> Vector:
        u = rng.normal(size=(n, middle.size)) * (rng.random((n, middle.size)) < 0.8)
        size = np.linalg.norm(u, axis=1)
        u /= np.where(size > 0, size, 1.0)[:, None]
        part = np.where(rng.random(n) < 0.5, 1.0, rng.random(n))
        return middle + (part * leave(u))[:, None] * u

    return sample


def upwards(sample: Sampler) -> Sampler:
    """Points of the plane, those below the axis mirrored."""

    def own(rng: np.random.Generator, n: int) -> Vector:
        x = sample(rng, n)
        return np.stack([x[:, 0], np.abs(x[:, 1])], axis=1)

    return own


def out_of_planes(normals: Vector, rooms: Vector) -> Callable[[Vector], Vector]:
    """Where rays leave {x : ⟨normal, x − middle⟩ ≤ room}."""

    def leave(u: Vector) -> Vector:
        along = u @ normals.T
        return np.min(np.where(along > 0, rooms / np.where(along > 0, along, 1.0), 1e6), axis=1)

    return lambda u: np.where(np.any(u != 0, axis=1), leave(u), 0.0)
