# SPDX-License-Identifier: Apache-2.0
"""Domains of a kind that statistics meets, each a short list of points; tests run them too."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln

if TYPE_CHECKING:
    from collections.abc import Callable

ADULT = Path(__file__).parents[1] / "tests" / "data" / "adult.csv"
ORDERS = (2.0, 3.0, 8.0, math.inf)
DIGITS = 4


@dataclass(frozen=True)
class NaturalDomain:
    """A name and what makes the points, one row a point."""

    name: str
    make: Callable[[], np.ndarray]

    @cached_property
    def points(self) -> np.ndarray:
        return np.asarray(self.make(), dtype=np.float64)

    @property
    def rank(self) -> int:
        """The affine dimension."""
        return int(np.linalg.matrix_rank(self.points - self.points[0]))

    @property
    def most(self) -> float:
        """The greatest gain there can be, by Jung's theorem."""
        return math.sqrt(2 * self.rank / (self.rank + 1))

    def gain(self, order: float) -> float:
        """How much smaller noise around K − K is than noise around K twice as large."""
        domain = ln.Points(self.points)
        around = ln.theory.enclose(domain, order=order).certificate.upper
        return (
            2
            * around
            / ln.theory.enclose(ln.difference_body(domain), order=order).certificate.upper
        )


def one_hot() -> np.ndarray:
    return np.eye(8)


def few_ones() -> np.ndarray:
    table = np.array(list(itertools.product((0, 1), repeat=8)))
    return table[table.sum(axis=1) <= 3]


def few_ratings() -> np.ndarray:
    rows = [np.zeros(6)]
    for size in (1, 2):
        for films in itertools.combinations(range(6), size):
            for stars in itertools.product(range(1, 6), repeat=size):
                row = np.zeros(6)
                row[list(films)] = stars
                rows.append(row)
    return np.array(rows)


def visits() -> np.ndarray:
    hours = np.arange(24)
    spans = ((hours - start) % 24 < length for start in hours for length in range(1, 5))
    return np.array(list(spans), dtype=float)


def shares() -> np.ndarray:
    tenths = [(a, b, 10 - a - b) for a in range(11) for b in range(11 - a)]
    return np.array(tenths) / 10


def sphere() -> np.ndarray:
    i = np.arange(200) + 0.5
    height, turn = 1 - 2 * i / 200, math.pi * (1 + math.sqrt(5)) * i
    around = np.sqrt(1 - height**2)
    return np.stack([around * np.cos(turn), around * np.sin(turn), height], axis=1)


def cross() -> np.ndarray:
    return np.vstack([np.eye(6), -np.eye(6)])


def cube() -> np.ndarray:
    return np.array(list(itertools.product((0, 1), repeat=6)))


def positive() -> np.ndarray:
    return np.random.default_rng(0).uniform(size=(12, 6))


def spread() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((30, 6))


def staircase() -> np.ndarray:
    return np.tril(np.ones((13, 12)), -1)


def pairs() -> np.ndarray:
    return np.array([np.r_[a, b] for a in np.eye(4) for b in np.eye(5)])


def powers() -> np.ndarray:
    x = np.linspace(0, 1, 101)
    return np.stack([x, x**2, x**3], axis=1)


def spending() -> np.ndarray:
    return np.vstack([np.zeros(6), np.eye(6)])


def adult() -> np.ndarray:
    """Age, years of school, weekly hours and sex of 48,842 people, each in parts of its range."""
    names = ("age", "education-num", "hours-per-week", "sex")
    with ADULT.open(encoding="utf-8") as lines:
        rows = np.array([[float(row[n]) for n in names] for row in csv.DictReader(lines)])
    rows = np.unique(rows, axis=0)
    return (rows - rows.min(axis=0)) / (rows.max(axis=0) - rows.min(axis=0))


DOMAINS = (
    NaturalDomain("one of 8 categories (one-hot)", one_hot),
    NaturalDomain("amounts in 6 accounts, together at most 1", spending),
    NaturalDomain("shares of three, in tenths", shares),
    NaturalDomain("two answers at once: one-hot of 4 beside one-hot of 5", pairs),
    NaturalDomain("8 yes/no answers, at most 3 of them yes", few_ones),
    NaturalDomain("ratings 1–5 of at most 2 of 6 films, else 0", few_ratings),
    NaturalDomain("a visit of 1–4 consecutive hours of 24", visits),
    NaturalDomain("staircase: x ≥ t for 12 thresholds t", staircase),
    NaturalDomain("powers x, x², x³ of one number in [0, 1]", powers),
    NaturalDomain("12 random points of [0, 1]⁶", positive),
    NaturalDomain("30 standard normal points", spread),
    NaturalDomain("distinct rows of a census table (age, school, hours, sex)", adult),
    NaturalDomain("200 points spread over a sphere", sphere),
    NaturalDomain("6 yes/no answers (cube corners)", cube),
    NaturalDomain("± one unit of one of 6 (cross-polytope)", cross),
)
