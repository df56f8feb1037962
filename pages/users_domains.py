# SPDX-License-Identifier: Apache-2.0
"""A dozen domains that users have, with what one unit of error matters; tests run them too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import lownoise as ln

ORDERS = (2.0, math.inf)


@dataclass(frozen=True)
class UsersDomain:
    """A domain, and the noise that it saves.

    Errors are measured in parts of each coordinate's range, so that units do not matter.

    Args:
        name: what the records are.
        code: the expression that makes the domain.
    """

    name: str
    code: str

    @cached_property
    def domain(self) -> ln.Box:
        names = {"ln": ln, "np": np, "math": math, **HELP}
        return eval(self.code, names)  # noqa: S307 (lines below)

    @cached_property
    def changes(self) -> ln.Box:
        return ln.difference_body(self.domain)

    @cached_property
    def weights(self) -> np.ndarray:
        widths = self.domain.upper - self.domain.lower
        return 1 / np.where(widths > 0, widths, 1.0)

    @cached_property
    def farthest(self) -> ln.theory.Farthest:
        """Two records that are far apart, and what proves that none are much farther."""
        return ln.theory.farthest(self.changes, np.diag(self.weights))

    @property
    def reach(self) -> float:
        """How far two records can be apart, at least: what round noise has to hide."""
        return self.farthest.value

    @cached_property
    def proofs(self) -> dict[float, ln.Certificate]:
        """What proves the least noise, by the order of the error."""
        return {
            p: ln.theory.enclose(self.changes, order=p, weights=self.weights).certificate
            for p in ORDERS
        }

    def saved(self, order: float) -> tuple[float, float]:
        """Return round noise over the least noise in ‖standard deviations‖_p, and the gap."""
        d = self.domain.dimension
        certificate = self.proofs[order]
        return self.reach * d ** (1 / order) / certificate.upper, certificate.gap

    @cached_property
    def saved_as_given(self) -> float:
        """Return the same at p = 2 for noise of one size in the units of the domain as given."""
        reach = ln.theory.farthest(self.changes, np.eye(self.domain.dimension)).value
        return reach * float(np.linalg.norm(self.weights)) / self.proofs[2.0].upper


def correlated(size: int, share: float) -> np.ndarray:
    """Return a factor of the covariance share^|i − j|."""
    index = np.arange(size)
    return np.linalg.cholesky(share ** np.abs(index[:, None] - index))


def totals(groups: int, each: int) -> np.ndarray:
    """Return the matrix that adds to parts their totals, group by group and overall."""
    parts = np.eye(groups * each)
    sums = np.kron(np.eye(groups), np.ones(each))
    return np.vstack([np.ones(groups * each), sums, parts])


def normal(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((rows, columns))


def total(size: int, most: float) -> ln.Slab:
    return ln.Slab([1] * size, 0, most)


def row_sums(rows: int, columns: int) -> np.ndarray:
    return np.kron(np.eye(rows), np.ones(columns))


HELP = {
    "caps": [3, 4, 5, 6, 7],
    "correlated": correlated,
    "each": np.array([0.7, 0.6, 0.2]),
    "normal": normal,
    "row_sums": row_sums,
    "so_far": np.tril(np.ones((24, 24))),
    "total": total,
    "totals": totals,
    "unlike": np.linspace(0.05, 0.6, 20),
}

LINES = """
ages and incomes                          | ln.Box([0, 0], [120, 1e6])
8 rates that sum to one                   | ln.hull(ln.Points(np.eye(8)))
5 counts with caps, 10 in total at most   | ln.intersection(ln.Box([0] * 5, caps), total(5, 10))
a gradient, entries clipped unlike        | ln.intersection(ln.Ball(20), ln.Box(-unlike, unlike))
a gradient, clipped layer by layer  | ln.product(ln.Ball(30), ln.Ball(10, 0.2), ln.Ball(5, 0.1))
8 correlated survey scores                | ln.Ellipsoid(15 * correlated(8, 0.9), center=[50] * 8)
a 4 × 6 matrix of operator norm 1         | ln.OperatorNormBall(4, 6)
its row sums                              | ln.image(row_sums(4, 6), ln.OperatorNormBall(4, 6))
sums so far of 24 hourly rates            | ln.image(so_far, ln.Box([0] * 24, [1] * 24))
sums so far of one visit in 24 hours      | ln.image(so_far, ln.Ball(24, order=1))
3 groups of 4 amounts, with their totals  | ln.image(totals(3, 4), ln.Box([0] * 12, [100] * 12))
12 effects of 6 causes                    | ln.Zonotope(normal(6, 12))
3 changes, capped unlike, 1 in all   | ln.intersection(ln.Ball(3, order=1), ln.Box(-each, each))
6 effects of the two largest of 6 causes  | ln.image(normal(6, 6), ln.TopBall(6, 2))
"""

DOMAINS = tuple(
    UsersDomain(*(cell.strip() for cell in line.split(" | ", 1)))
    for line in LINES.strip().splitlines()
)
