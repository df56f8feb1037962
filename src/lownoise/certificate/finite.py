# SPDX-License-Identifier: Apache-2.0
"""How good a mechanism of a finite problem is, and what no private one is below.

A mechanism is a table P: row x is the law of the answer on database x. It is ε-differentially
private when P[x, r] ≤ e^{ε·d(x, x')}·P[x', r] for all pairs and answers (001, section 2.4). The
probabilities are multiples of 2⁻⁵², so that floats hold them exactly: that rows sum to one and that
pairs are close enough is decided without error.

The lower bound is weak duality. Take any z ≥ 0 on pairs and answers and any prior w. Because
e^{−ε·d}·P[x, r] − P[x', r] ≤ 0,

    Σₓ wₓ·error(x)  ≥  Σ_{x,r} P[x, r]·g[x, r]  ≥  Σₓ minᵣ g[x, r],
    g[x, r] = wₓ·e[x, r] + Σ_{x'} e^{−ε·d(x, x')}·z[(x, x'), r] − Σ_{x'} z[(x', x), r],

and the worst error is at least the mean under w. Nothing is asked of z and w but their signs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.claim import Certificate
from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import down, growth, up
from lownoise.samplers.lazy import UNIT

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_LARGEST = 2.0**60  # a ratio that two probabilities above 0 never have
_BITS = 96


@final
@dataclass(frozen=True, eq=False)
class FiniteDual:
    """Evidence that no private mechanism of a finite problem errs much less.

    Args:
        prior: w ≥ 0, one weight a database, shape (D,).
        pairs: databases (x, x') at a finite distance, shape (k, 2).
        multipliers: z ≥ 0, shape (k, R).
    """

    prior: Vector
    pairs: Integers
    multipliers: Vector


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class FiniteClaim:
    """That a mechanism of a finite problem is private, and nearly the best that is.

    Args:
        distances: between databases, shape (D, D).
        errors: e ≥ 0, of an answer on a database, shape (D, R).
        epsilon: the privacy parameter.
        prior: weights of the databases, shape (D,); None where the worst of them counts.
        probabilities: P, shape (D, R), multiples of 2⁻⁵².
        dual: the evidence that P is nearly the best.
    """

    distances: Vector
    errors: Vector
    epsilon: float
    prior: Vector | None
    probabilities: Vector
    dual: FiniteDual

    def certificate(self) -> Certificate:
        """Return both bounds on the least error, rounded outward.

        Raises:
            PlanError: where the mechanism is not private, or the evidence is malformed.
        """
        check_private(self.probabilities, self.distances, self.epsilon)
        return Certificate(self._lower(), self._upper(), self, unit="errors")

    def _upper(self) -> float:
        each = expected_errors_up(self.probabilities, self.errors)
        if self.prior is None:
            return float(np.max(each))
        total = math.fsum(np.nextafter(self.prior * each, np.inf)[each > 0])
        return up(up(total) / down(math.fsum(self.prior))) if total else 0.0

    def _lower(self) -> float:
        w = self.dual.prior if self.prior is None else self.prior
        pairs, z = self.dual.pairs, self.dual.multipliers
        D, R = self.errors.shape
        fits = w.shape == (D,) and pairs.shape == (len(z), 2) and z.shape == (len(pairs), R)
        if not fits or not np.all((pairs >= 0) & (pairs < D)):
            raise PlanError("FiniteDual does not fit its problem; solve again")
        signs = np.all((w >= 0) & (w < math.inf)) and np.all((z >= 0) & (z < math.inf))
        if not signs or not np.any(w > 0):
            raise PlanError("FiniteDual has a weight that is negative or not finite; solve again")
        there, back = pairs.T
        if not np.all(np.isfinite(self.distances[there, back])):
            raise PlanError("FiniteDual has a pair at no finite distance; solve again")
        own = w[:, None] * self.errors
        plus, minus = own.copy(), np.zeros_like(own)
        np.add.at(plus, there, ratios(self.distances, self.epsilon)[1][there, back][:, None] * z)
        np.add.at(minus, back, z)
        most = int(np.max(np.bincount(pairs.ravel(), minlength=D)))  # terms in one sum
        rounding = growth(2 * most + 20) * (plus + minus)
        total = math.fsum(np.min(plus - minus - rounding, axis=1))
        return max(down(down(total) / up(math.fsum(w))), 0.0)


def check_private(probabilities: Vector, distances: Vector, epsilon: float) -> None:
    """Refuse a table that is not, exactly, an ε-differentially private mechanism.

    Args:
        probabilities: P, shape (D, R).
        distances: shape (D, D).
        epsilon: at least 0.

    Raises:
        PlanError: where a row is no law in multiples of 2⁻⁵², or two rows are too far apart.
    """
    P = probabilities
    counts = P / UNIT
    lawful = P.shape[:1] == distances.shape[:1] and np.all((P >= 0) & (P <= 1))
    if not lawful or np.any(counts != np.floor(counts)):
        raise PlanError("probabilities are no multiples of 2^-52 in [0, 1]; solve again")
    if np.any(np.sum(counts.astype(np.int64), axis=1) != int(1 / UNIT)):
        raise PlanError("probabilities of a database do not sum to one; solve again")
    most, _ = ratios(distances, epsilon)
    for x in range(len(P)):
        near = np.flatnonzero(np.isfinite(distances[x]))
        a = most[x, near][:, None]
        # a product rounded to nearest is at most one step above the exact one
        allowed = np.where(a == 1, P[near], np.nextafter(a * P[near], 0.0))
        if np.any(P[x] > allowed):
            raise PlanError(f"probabilities break epsilon={epsilon:g}; solve again")


def expected_errors_up(probabilities: Vector, errors: Vector) -> Vector:
    """Return at least the expected error on each database, shape (D,)."""
    products = probabilities * errors
    terms = np.where(products > 0, np.nextafter(products, np.inf), 0.0)
    sums = np.array([math.fsum(row) for row in terms])
    return np.where(sums > 0, np.nextafter(sums, np.inf), 0.0)


def ratios(distances: Vector, epsilon: float) -> tuple[Vector, Vector]:
    """Return at most e^{ε·d}, never above 2⁶⁰, and at most e^{−ε·d}; both 1 at d = 0.

    Args:
        distances: at least 0, some infinite; any shape.
        epsilon: at least 0.

    Examples:
        >>> most, least = ratios(np.array([0.0, 1.0, 100.0, np.inf]), 0.5)
        >>> most.round(6).tolist(), least.round(6).tolist()
        ([1.0, 1.648721, 1.152921504606847e+18, 1.152921504606847e+18], [1.0, 0.606531, 0.0, 0.0])
    """
    from flint import arb

    different, where = np.unique(distances, return_inverse=True)
    most, least = np.full(different.shape, _LARGEST), np.zeros(different.shape)
    with precision(_BITS):
        for i, d in enumerate(different.tolist()):
            if d == 0 or epsilon == 0:
                most[i] = least[i] = 1.0
            elif epsilon * d < 700:  # noqa: PLR2004 (e^{−700} is a float; smaller may be 0)
                exponent = arb(epsilon) * arb(d)
                most[i] = min(down(float(exponent.exp().lower())), _LARGEST)
                least[i] = max(down(float((-exponent).exp().lower())), 0.0)
    shape = distances.shape
    return most[where].reshape(shape), least[where].reshape(shape)
