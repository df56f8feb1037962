# SPDX-License-Identifier: Apache-2.0
"""Problems with known optima: one row adds a domain, and every law runs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from drawn import (
    by_norm,
    choices,
    in_ball,
    joined,
    mixed,
    moved,
    out_of_planes,
    pairwise,
    rays,
    spectra,
    summed,
    tensors,
    upwards,
)
from lownoise import (
    Ball,
    Box,
    Ellipsoid,
    KyFanBall,
    OperatorNormBall,
    Oracle,
    OrderedBall,
    Points,
    SchattenBall,
    Slab,
    TensorPower,
    TopBall,
    Zonotope,
    difference_body,
    hull,
    intersection,
    kronecker,
    minkowski_sum,
)
from lownoise import (
    product as side_by_side,
)
from lownoise.certificate import order_norm
from lownoise.sets.domains import Image
from oracles import HALF_DISC, ellipsoid, in_half_disc, to_half_disc

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.domains import AbstractDomain, Difference

    Sampler = Callable[[np.random.Generator, int], Vector]

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
    domain: Points | Difference
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


@dataclass(frozen=True)
class Member:
    """A domain of the family: one row, and every law of tests/test_members.py runs on it.

    `sample` draws points of K by its definition, apart from the code under test, shape (n, d), some
    of them extreme; `gamma` is Γ_p(K) where it is known; `gap` is what its certificate must reach;
    `near` is the part of each width that 10,000 of those points must fill; `slow` says that
    bringing in a record takes a search, so that fewer are tried; `partner` makes the domain of so
    many coordinates that it is combined with; `refuses` names the operations of
    tests/test_members.py that have no form for it: there the law is that they are refused.
    """

    name: str
    domain: AbstractDomain
    sample: Sampler
    gamma: Callable[[float], float] | None = None
    gap: float = 2e-6
    beside: float = 0.0  # the gap beside another part, where it is worse than alone
    near: float = 0.9
    slow: bool = False
    partner: Callable[[int], AbstractDomain] = Ball
    refuses: frozenset[str] = frozenset()

    @property
    def family(self) -> type:
        """What it is the image of, or what it is: one of each is in the first tier of a law."""
        return type(self.domain.base if isinstance(self.domain, Image) else self.domain)


def cross(d: int) -> Points:
    """The corners of the ℓ₁ ball."""
    return Points(np.vstack([np.eye(d), -np.eye(d)]))


AWAY = np.array([1e3, -2.0, 0.5])
NEAR = np.array([1.0, -2.0, 0.5])
TURNED = np.random.default_rng(1).normal(size=(3, 3)) * [[1.0], [10.0], [0.1]]
FEW = np.random.default_rng(2).normal(size=(6, 3))
MANY = np.random.default_rng(3).normal(size=(25, 3))
FLAT = np.random.default_rng(4).normal(size=(3, 2))
AXES = np.array([1e-3, 1.0, 1e3])


def of_ball(radius: float, order: float) -> Callable[[float], float]:
    return lambda p: radius * 3 ** (1 / p + max(0.5 - 1 / order, 0.0))


def entries(counts: list[int], p: float) -> float:
    """Γ_p of signs, each of which stands in so many coordinates (docs/theory.md)."""
    return float(np.sum(np.power(counts, 2 / (p + 2.0))) ** ((p + 2) / (2 * p)))


# what has no form yet beside others, and of which no images are known
ALONE = frozenset({"image", "sum", "product", "kronecker", "projection", "hull"})

MEMBERS = (
    Member(
        "box",
        Box([-1.0, 0.0, 5.0], [1.0, 10.0, 5.5]),
        moved(in_ball(3, math.inf), np.array([1.0, 5.0, 0.25]), np.array([0.0, 5.0, 5.25])),
        Case("", Box([-1.0, 0.0, 5.0], [1.0, 10.0, 5.5])).gamma,
    ),
    Member(
        "simplex",
        Points(np.eye(3)),
        lambda rng, n: np.eye(3)[rng.integers(0, 3, n)],
        lambda p: 2 / 3 * 3 ** (1 / p),
        partner=cross,
    ),
    Member(
        "a few points",
        Points(FEW + AWAY),
        lambda rng, n: (FEW + AWAY)[rng.integers(0, len(FEW), n)],
        partner=cross,
    ),
    Member(
        "mixtures of a few points",
        hull(Points(FEW + NEAR)),
        lambda rng, n: (
            np.vstack([np.repeat(np.eye(6), 2, axis=0), rng.dirichlet(np.ones(6), n)])[:n]
            @ (FEW + NEAR)
        ),
        partner=cross,
    ),
    *(
        Member(
            f"ball of order {order:g}",
            Ball(3, 2.0, order, AWAY),
            moved(in_ball(3, order), 2.0, AWAY),
            of_ball(2.0, order),
        )
        for order in (1.0, 1.5, 2.0, 3.0, math.inf)
    ),
    Member("interval", Ball(1, 3.0), moved(in_ball(1, 2.0), 3.0, 0.0), always(3.0)),
    Member("one point", Ball(3, 0.0, center=AWAY), moved(in_ball(3, 2.0), 0.0, AWAY), always(0.0)),
    Member(
        "point in a table",
        Ellipsoid(np.zeros((2, 2)), [3.0, 4.0]),
        moved(in_ball(2, 2.0), 0.0, np.array([3.0, 4.0])),
        always(0.0),
    ),
    Member(
        "half axes",
        Ellipsoid(AXES),
        moved(in_ball(3, 2.0), AXES, 0.0),
        lambda p: order_norm(AXES, p),
    ),
    Member(
        "ellipsoid",
        Ellipsoid(TURNED, AWAY),
        moved(in_ball(3, 2.0), TURNED, AWAY),
        lambda p: order_norm(np.linalg.norm(TURNED, axis=1), p),
    ),
    Member(
        "flat ellipsoid",
        Ellipsoid(FLAT),
        moved(in_ball(2, 2.0), FLAT, 0.0),
        lambda p: order_norm(np.linalg.norm(FLAT, axis=1), p),
    ),
    Member("zonotope", Zonotope(FEW, AWAY), moved(in_ball(6, math.inf), FEW.T, AWAY)),
    Member(
        "zonotope of many",
        Zonotope(MANY),
        moved(in_ball(25, math.inf), MANY.T, 0.0),
        gap=0.26,
        near=0.65,
    ),
    Member(
        "two largest",
        TopBall(3, 2),
        by_norm(3, lambda x: np.sort(np.abs(x), axis=1)[:, 1:].sum(axis=1)),
    ),
    Member(
        "product",
        side_by_side(Ball(2, 2.0), Box([0.0], [2.0])),
        joined(moved(in_ball(2, 2.0), 2.0, 0.0), moved(in_ball(1, 2.0), 1.0, 1.0)),
        # 002, Lemma 60
        lambda p: order_norm(
            np.array([2.0 * 2 ** (1 / p), 1.0]), 2.0 if math.isinf(p) else 2 * p / (p + 2)
        ),
    ),
    Member(
        "sum of a ball and an ellipsoid",
        minkowski_sum(Ball(3), Ellipsoid(TURNED)),
        summed(in_ball(3, 2.0), moved(in_ball(3, 2.0), TURNED, 0.0)),
        gap=0.26,
        slow=True,
    ),
    Member(
        "list beside a ball",
        side_by_side(Points(np.eye(3)), Ball(2, 0.5)),
        joined(lambda rng, n: np.eye(3)[rng.integers(0, 3, n)], moved(in_ball(2, 2.0), 0.5, 0.0)),
        # 002, Lemma 60
        lambda p: order_norm(
            np.array([2 / 3 * 3 ** (1 / p), 0.5 * 2 ** (1 / p)]),
            2.0 if math.isinf(p) else 2 * p / (p + 2),
        ),
        partner=lambda d: Box(-np.ones(d), np.ones(d)),  # a sum with a ball takes a long search
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "hull of two balls",
        hull(Ball(3), Ball(3, 0.5, center=[2.0, 0.0, 0.0])),
        mixed(in_ball(3, 2.0), moved(in_ball(3, 2.0), 0.5, np.array([2.0, 0.0, 0.0]))),
        refuses=frozenset({"kronecker"}),
        slow=True,
    ),
    Member(
        "sum of a list and a ball",
        minkowski_sum(Points(FEW), Ball(3)),
        summed(lambda rng, n: FEW[rng.integers(0, len(FEW), n)], in_ball(3, 2.0)),
        refuses=frozenset({"kronecker"}),
        slow=True,
    ),
    Member(
        "hull of a ball and an ellipsoid",
        hull(Ball(3), Ellipsoid(TURNED)),
        mixed(in_ball(3, 2.0), moved(in_ball(3, 2.0), TURNED, 0.0)),
        gap=0.5,
        slow=True,
    ),
    Member(
        "two largest of weights",
        OrderedBall([3.0, 2.0, 0.5]),
        by_norm(3, lambda x: np.sort(np.abs(x), axis=1) @ [0.5, 2.0, 3.0]),
    ),
    Member(
        "capped ball",
        intersection(Ball(3), Box([-0.6, -0.5, -0.7], [0.6, 0.5, 0.7])),
        by_norm(
            3,
            lambda x: np.maximum(
                np.linalg.norm(x, axis=1), np.max(np.abs(x) / [0.6, 0.5, 0.7], axis=1)
            ),
        ),
    ),
    Member(
        "Kronecker product",
        kronecker(Ball(2, 2.0), Ball(2, order=1.0)),
        pairwise(moved(in_ball(2, 2.0), 2.0, 0.0), in_ball(2, 1.0)),
        lambda p: 2.0 * 2 ** (1 / p) * 2 ** (1 / p),  # 002, Lemma 62
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "operator norm",
        OperatorNormBall(2, 2, 2.0, [[1.0, 0.0], [0.0, -30.0]]),
        moved(spectra(2, 2, in_ball(2, math.inf)), 2.0, np.array([1.0, 0.0, 0.0, -30.0])),
        lambda p: 2.0 * math.sqrt(2) * 4 ** (1 / p),
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "nuclear norm",
        SchattenBall(2, 3, 1.0),
        spectra(2, 3, in_ball(2, 1.0)),
        lambda p: 6 ** (1 / p),
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "Schatten 4",
        SchattenBall(3, 2, 4.0, 0.1),
        moved(spectra(3, 2, in_ball(2, 4.0)), 0.1, 0.0),
        lambda p: 0.1 * 2**0.25 * 6 ** (1 / p),
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "Ky Fan 2",
        KyFanBall(3, 3, 2),
        spectra(3, 3, by_norm(3, lambda x: np.sort(np.abs(x), axis=1)[:, 1:].sum(axis=1))),
        lambda p: 9 ** (1 / p),
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "pairs of signs",
        TensorPower(3, 2, radius=2.0),
        tensors(moved(choices(3), 2.0, 0.0), 2),
        # each pair of indices stands in two entries
        lambda p: 4 * (math.sqrt(3) if math.isinf(p) else entries([2, 2, 2], p)),
        partner=cross,
    ),
    Member(
        "triples of signs",
        TensorPower(2, 3),
        tensors(choices(2), 3),
        # i alone and i beside both others' pairs: four entries for each of the two signs
        lambda p: math.sqrt(2) if math.isinf(p) else entries([4, 4], p),
        partner=cross,
    ),
    Member(
        "pairs of a ball's coordinates",
        TensorPower(2, 2, "ball", 2.0),
        tensors(moved(in_ball(2, 2.0), 2.0, 0.0), 2),
        refuses=ALONE | {"workload"},
    ),
    Member(
        "triples of a ball's coordinates",
        TensorPower(2, 3, "ball"),
        tensors(in_ball(2, 2.0), 3),
        gap=0.2,
        near=0.75,  # the greatest value of a cubic form has no formula: a bound
        refuses=ALONE | {"workload"},
    ),
    Member(
        "counts with caps and a total",
        intersection(Box([0, 0, 0], [3, 4, 5]), Slab([1, 1, 1], 0, 7)),
        rays(
            np.ones(3),
            out_of_planes(
                np.vstack([-np.eye(3), np.eye(3), np.ones((1, 3))]),
                np.array([1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0]),
            ),
        ),
        gap=0.1,
        beside=0.3,  # bounded by one sum of quadratics, not by the best one
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "half disc of a program",
        Oracle(2, HALF_DISC, half_widths=[1, 1], clamp=to_half_disc, contains=in_half_disc),
        upwards(in_ball(2, 2.0)),
        gap=0.16,  # of its differences; √(4/3) at most
        refuses=frozenset({"kronecker"}),
    ),
    Member(
        "ellipsoid of a program",
        Oracle(
            3,
            ellipsoid(TURNED, NEAR),
            center=NEAR,
            half_widths=np.linalg.norm(TURNED, axis=1) * (1 + 1e-12),
            clamp=Ellipsoid(TURNED, NEAR).clamp,
        ),
        moved(in_ball(3, 2.0), TURNED, NEAR),
        lambda p: order_norm(np.linalg.norm(TURNED, axis=1), p),
        refuses=frozenset({"kronecker"}),
    ),
)
