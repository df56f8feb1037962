# SPDX-License-Identifier: Apache-2.0
"""Sets that are known by a program: one function a set, each with a bound that is proved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector

Maximise = "Callable[[Vector, Vector], tuple[Vector, float, float]]"


def listed(points: Vector) -> Any:
    """The points of a list."""

    def maximise(matrix: Vector, center: Vector) -> tuple[Vector, float, float]:
        about = points - center
        values = np.einsum("ij,ij->i", about @ matrix, about)
        i = int(np.argmax(values))
        return points[i], float(values[i]), float(values[i])

    return maximise


def pairs(points: Vector) -> Any:
    """All pairs of points of a list."""

    def differences(matrix: Vector) -> tuple[tuple[Vector, Vector], float, float]:
        best = (points[0], points[0], 0.0)
        for x in points:
            y, value, _ = listed(points)(matrix, x)
            if value > best[2]:
                best = (x, y, value)
        return best[:2], best[2], best[2]

    return differences


def ellipsoid(factor: Vector, middle: Vector) -> Any:
    """middle + factor·ball, by the trust region problem and its dual.

    max uᵀAu + 2bᵀu over the ball is, for every λ above A, at most λ + bᵀ(λ − A)⁻¹b.
    """

    def maximise(matrix: Vector, center: Vector) -> tuple[Vector, float, float]:
        a = factor.T @ matrix @ factor
        w, axes = np.linalg.eigh((a + a.T) / 2)
        b = axes.T @ (factor.T @ matrix @ (middle - center))
        size = float(np.linalg.norm(b))
        low = float(w[-1]) + 1e-13 * max(float(w[-1]), size, 1e-300)
        high = low + size

        def length(value: float) -> float:
            return float(np.linalg.norm(b / (value - w)))

        for _ in range(200 if length(low) > 1 else 0):
            half = (low + high) / 2
            low, high = (half, high) if length(half) > 1 else (low, half)
        multiplier = high if length(low) > 1 else low
        u = b / (multiplier - w)
        rest = math.sqrt(max(0.0, 1 - float(u @ u)))
        u[-1] += rest if u[-1] >= 0 else -rest
        x = middle + factor @ (axes @ (u / np.linalg.norm(u)))
        constant = float((middle - center) @ matrix @ (middle - center))
        upper = multiplier + float(np.sum(b * b / (multiplier - w))) + constant
        return x, float((x - center) @ matrix @ (x - center)), upper

    return maximise


def curve(
    point: Callable[[float], Vector],
    bend: Callable[[Vector, Vector], float],
    low: float,
    high: float,
) -> Any:
    """A curve, by halving: on [l, r] a function is at most its ends plus bend·(r − l)²/8.

    `bend(matrix, center)` bounds its second derivative along the whole curve.
    """

    def maximise(matrix: Vector, center: Vector) -> tuple[Vector, float, float]:
        most = bend(matrix, center)

        def value(t: float) -> float:
            x = point(t) - center
            return float(x @ matrix @ x)

        known = {low: value(low), high: value(high)}
        parts = [(low, high)]
        best = max(known, key=known.__getitem__)
        while True:
            upper = 0.0
            left = []
            for a, b in parts:
                bound = max(known[a], known[b]) + most * (b - a) ** 2 / 8
                upper = max(upper, bound)
                if bound > known[best] * (1 + 1e-9) + 1e-300:
                    left.append((a, b))
            if not left or len(known) > 5000:
                # what was left out before is at most this much above the best
                return point(best), known[best], max(upper, known[best] * (1 + 1e-9) + 1e-300)
            parts = []
            for a, b in left:
                half = (a + b) / 2
                known[half] = value(half)
                parts += [(a, half), (half, b)]
            best = max(known, key=known.__getitem__)

    return maximise


def moment(t: float) -> Vector:
    return np.array([t, t * t, t**3])


def moment_bend(matrix: Vector, center: Vector) -> float:
    size = np.abs(matrix)
    x = 1 + np.abs(center)
    first, second = np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 6.0])
    return float(2 * first @ size @ first + 2 * second @ size @ x)


def arc(angle: float) -> Vector:
    return np.array([math.cos(angle), math.sin(angle)])


def arc_bend(matrix: Vector, center: Vector) -> float:
    size = np.abs(matrix)
    one = np.ones(2)
    return float(2 * one @ size @ one + 2 * one @ size @ (1 + np.abs(center)))


MOMENT_CURVE = curve(moment, moment_bend, 0.0, 1.0)
HALF_DISC = curve(arc, arc_bend, 0.0, math.pi)  # a convex function is greatest on the arc


def in_half_disc(x: Vector) -> bool:
    return bool(x[1] >= -1e-12 and np.linalg.norm(x) <= 1 + 1e-12)


def to_half_disc(x: Vector) -> Vector:
    y = np.array([x[0], max(x[1], 0.0)])
    return y / max(1.0, float(np.linalg.norm(y)))


def to_moment_curve(x: Vector) -> Vector:
    return moment(float(np.clip(x[0], 0.0, 1.0)))
