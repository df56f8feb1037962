# SPDX-License-Identifier: Apache-2.0
"""Problems with known optima: one row adds a domain, and every law runs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from lownoise import Box, Points, difference_body
from lownoise.certificate import order_norm

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.domains import PointsDifference

ORDERS = (2.0, 2.5, 3.0, 4.0, 17.0, 1000.0, math.inf)


@dataclass(frozen=True)
class Case:
    name: str
    domain: Box

    def gamma(self, order: float) -> float:
        """Γ_p(K) by the published form for boxes, 002 equation (27) with its ½, in plain Python."""
        halves = [(u - lo) / 2 for lo, u in zip(self.domain.lower, self.domain.upper, strict=True)]
        r = 2.0 if math.isinf(order) else 2 * order / (order + 2)
        top = max(halves)
        return top and top * sum((h / top) ** r for h in halves) ** (1 / r)


CASES = (
    Case("unit interval", Box([0], [1])),
    Case("unit cube", Box(np.zeros(8), np.ones(8))),
    Case("uneven", Box([-60, -120, 0, 0], [1440, 1440, 720, 5000])),
    Case("far from zero", Box([2.0**50, -(2.0**50)], [2.0**50 + 1, -(2.0**50) + 3])),
    Case("scales", Box([-1e-9, -1.0, -1e9], [1e-9, 1.0, 1e9])),
    Case("one flat side", Box([0, 3, 0], [1, 3, 10])),
    Case("huge", Box([-(2.0**500)], [2.0**500])),
    Case("tiny", Box([0.0, 0.0], [2.0**-390, 2.0**-380])),
)


@dataclass(frozen=True)
class PointCase:
    name: str
    domain: Points | PointsDifference
    gamma: Callable[[float], float] | None = None  # Γ_p(K) as a function of p, where it is known


RANDOM = np.random.default_rng(2026)
SCALES = np.array([1e-12, 1e-5, 1.0, 1e3, 1e12])
CUBE = np.array(list(product([-1.0, 1.0], repeat=4)))


def always(value: float) -> Callable[[float], float]:
    def gamma(order: float) -> float:
        return value

    return gamma


def corners(box: Box) -> Points:
    return Points(list(product(*zip(box.lower, box.upper, strict=True))))


# Simplex and its differences: M = λ(I − 11ᵀ/N) by symmetry and convexity (002, section 2.3)
POINT_CASES = (
    PointCase("one point", Points([[3.0, -4.0]]), always(0.0)),
    PointCase("one number", Points([[-1.0], [0.5], [2.0]]), always(1.5)),
    PointCase("simplex", Points(np.eye(5)), lambda p: 0.8 * 5 ** (1 / p)),
    PointCase(
        "simplex, differences",
        difference_body(Points(np.eye(5))),
        lambda p: math.sqrt(1.6) * 5 ** (1 / p),
    ),
    PointCase("ball of ℓ₁", Points(np.vstack([np.eye(6), -np.eye(6)])), lambda p: 6 ** (1 / p)),
    PointCase("cube", Points(CUBE), lambda p: Case("", Box(-np.ones(4), np.ones(4))).gamma(p)),
    PointCase("uneven box", corners(CASES[2].domain), CASES[2].gamma),
    PointCase("box with one flat side", corners(CASES[5].domain), CASES[5].gamma),
    PointCase(
        "duplicates and inner points",
        Points(np.vstack([CUBE, CUBE[3:9], 0.9 * RANDOM.uniform(-1, 1, (40, 4))])),
        lambda p: Case("", Box(-np.ones(4), np.ones(4))).gamma(p),
    ),
    PointCase(
        "segment far away",
        Points([[2.0**40, 1.0, 0.0], [2.0**40 + 6, 9.0, 0.0]]),
        lambda p: order_norm(np.array([3.0, 4.0]), p),
    ),
    PointCase(
        "columns of all scales",
        Points(np.vstack([np.diag(SCALES), -np.diag(SCALES)])),
        lambda p: order_norm(SCALES, p),
    ),
    PointCase("a few", Points(RANDOM.normal(size=(9, 4)) + 3)),
    PointCase("fewer than columns", Points(RANDOM.normal(size=(4, 7)))),
    PointCase("many", Points(RANDOM.normal(size=(800, 6)))),
    PointCase("many, differences", difference_body(Points(RANDOM.normal(size=(120, 5))))),
    PointCase("dense, of all scales", Points(RANDOM.normal(size=(40, 5)) * SCALES)),
    PointCase("thin", Points(RANDOM.normal(size=(30, 3)) @ [[1, 1, 1], [0, 1e-7, 0], [0, 0, 1.0]])),
)
