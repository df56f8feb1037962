# SPDX-License-Identifier: Apache-2.0
"""The K-norm mechanism with a body of changes for each table, as smooth sensitivity has a number.

001, section 9, points at it: Nissim, Raskhodnikova & Smith's smooth sensitivity with polytopes. The
construction, its privacy and its error are ours (docs/theory.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arguments import checked_number
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.numbers.readable import readable
from lownoise.theory.every import checked_budget
from lownoise.theory.optimal import checked_distances
from lownoise.theory.spectral import checked_count
from lownoise.theory.uniform import symmetric_hull

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy.budget import AbstractBudget
    from lownoise.theory.uniform import UniformLaw

_MOST_POINTS = 4096
_NEXT = 1.0  # the distance of neighbours


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class SmoothNoise:
    """Noise of density ∝ (1 + α‖z‖_{S(x)})^{−γ}: heavy tails, and a body for each table.

    S(x) is the hull of e^{−β·d(x,y)}·±(f(y′) − f(y)) over all neighbours y and y′. So S(x) holds
    what a neighbour of x changes, and S(x) ⊂ e^β·S(x′) for neighbours. With e^β = 1 + α the density
    changes by at most e^{β(d+γ)} = e^ε. Made by `smooth_noise`.

    Args:
        answers: f, shape (D, d), a row a table.
        distances: between tables, along neighbours, shape (D, D).
        epsilon: ε.
        tail: γ > d + 2.
    """

    answers: Vector
    distances: Vector
    epsilon: float
    tail: float

    @property
    def beta(self) -> float:
        """β = ε/(d + γ), by which ln ‖·‖_{S(x)} may change from a table to its neighbour."""
        return self.epsilon / (int(self.answers.shape[1]) + self.tail)

    @property
    def rate(self) -> float:
        """α = e^β − 1: the noise is 1/α times as large as S."""
        return math.expm1(self.beta)

    @cached_property
    def _pairs(self) -> tuple[Integers, Integers]:
        first, second = np.nonzero(self.distances == _NEXT)
        return first, second

    def body(self, table: int) -> Vector:
        """Return points whose hull, with their opposites, is S(x), shape (N, d).

        Raises:
            PlanError: where there is no such table.
        """
        x = checked_count("table", table, least=0, most=len(self.answers) - 1)
        first, second = self._pairs
        near = np.exp(-self.beta * self.distances[x, first])
        points = near[:, None] * (self.answers[second] - self.answers[first])
        turned = points * np.where(_leading(points) < 0, -1.0, 1.0)[:, None]
        return np.unique(turned[np.any(turned != 0, axis=1)], axis=0)

    def law(self, table: int) -> UniformLaw:
        """Return the uniform law on S(x).

        Raises:
            DomainError: where S(x) has no volume, or too many facets.
        """
        return symmetric_hull(self.body(table))

    def error(self, table: int) -> float:
        """Return (E‖noise‖₂²)^{1/2} on one table.

        Of the density ‖z‖ has r^{d−1}(1+r)^{−γ}, E r² = d(d+1)/((γ−d−1)(γ−d−2)), and the direction
        is that of the boundary, where second moments are (d+2)/d times those of S.
        """
        d, g = self.answers.shape[1], self.tail - self.answers.shape[1]
        moment = float(np.trace(self.law(table).covariance))
        tails = math.sqrt(g - 1) * math.sqrt(g - 2)
        return math.sqrt((d + 1) * (d + 2) * moment) / (tails * self.rate)

    def log_density(self, table: int, answer: ArrayLike) -> float:
        """Return ln of the density of an answer on a table, in floats.

        Raises:
            PlanError: where the answer is of another size.
        """
        a = vector(answer, field="answer", error=PlanError)
        d = self.answers.shape[1]
        if a.size != d:
            raise PlanError(f"answer has {a.size} numbers for {d}; give one each")
        size = _gauge(self.body(table), a - self.answers[table])
        # ∫(1 + α‖z‖)^{−γ} dz = d·vol(S)·α^{−d}·B(d, γ − d)
        beta = math.lgamma(d) + math.lgamma(self.tail - d) - math.lgamma(self.tail)
        whole = math.log(d) + self.law(table).log_volume - d * math.log(self.rate) + beta
        return float(-self.tail * math.log1p(self.rate * size) - whole)


def smooth_noise(
    answers: ArrayLike,
    distances: ArrayLike,
    budget: AbstractBudget,
    *,
    tail: float | None = None,
) -> SmoothNoise:
    """Return the ε-DP noise whose size and shape follow the tables nearby (001, section 9; ours).

    For answers that a change moves far on few tables. Of linear answers S(x) is the same body
    everywhere, and K-norm noise is smaller. It is for small finite problems, to compare with
    `optimal_mechanism`: bodies, errors and densities in floats, and no release.

    Args:
        answers: f, shape (D, d): a row a table, full of as many directions as columns.
        distances: shape (D, D), as for `optimal_mechanism`; neighbours are at distance 1, and what
            is not is as far as the shortest path of neighbours.
        budget: `ln.pure_dp`.
        tail: γ > d + 2, d + 4 by default; where it is greater the tails are lighter and the bodies
            change less from table to table.

    Raises:
        PlanError: where the budget is not pure, or an argument is out of range.

    Examples:
        >>> import lownoise as ln
        >>> tables = np.arange(40.0)  # 40 tables in a row; the answer jumps at the last
        >>> jump = np.where(tables < 39, tables, 139.0)[:, None]
        >>> far = np.abs(tables[:, None] - tables)
        >>> noise = ln.theory.smooth_noise(jump, far, ln.pure_dp(3.0))
        >>> round(noise.error(39) / noise.error(0))  # at the jump, and far from it
        101
    """
    f = matrix(answers, field="answers", error=PlanError)
    d = f.shape[1]
    epsilon = float(checked_budget(budget, ("pure_dp",)).epsilon)  # type: ignore[attr-defined]
    near = checked_distances(distances, len(f)) == _NEXT
    gamma = d + 4.0 if tail is None else checked_number("tail", tail)
    if not d + 2 < gamma < math.inf:
        raise PlanError(f"tail={gamma:g} leaves no second moment; give one above {d + 2}")
    pairs = int(np.count_nonzero(near))
    if not 0 < pairs <= 2 * _MOST_POINTS:
        raise PlanError(
            f"distances has {pairs:,} neighbours at distance 1; give one to {2 * _MOST_POINTS:,}",
        )
    from scipy.sparse.csgraph import shortest_path

    far = frozen(shortest_path(near, unweighted=True))
    return SmoothNoise(answers=frozen(f), distances=far, epsilon=epsilon, tail=gamma)


def _leading(points: Vector) -> Vector:
    """Return the first number of each row that is not 0."""
    first = np.argmax(points != 0, axis=1)
    return np.asarray(points[np.arange(len(points)), first])


def _gauge(points: Vector, target: Vector) -> float:
    """Return the least Σ|c| with Σ cᵢxᵢ = target."""
    from scipy.optimize import linprog

    own = points.T
    solved = linprog(
        np.ones(2 * len(points)), A_eq=np.hstack([own, -own]), b_eq=target, method="highs-ds"
    )
    if solved.status:
        raise PlanError("answers move in fewer directions than they have columns; leave some out")
    return float(solved.fun)
