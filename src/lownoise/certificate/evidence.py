# SPDX-License-Identifier: Apache-2.0
"""Evidence: what proves that no noise is much smaller.

Evidence about an ellipsoid that covers a body S under order p is a pair: query weights c ≥ 0 with
‖c‖_q ≤ 1, q = p/(p−2), and a measure on S with second moment C. Weak duality: whenever M covers S
(sᵀM⁻¹s ≤ 1 on S), and L is what is asked of the sum,

    √tr_{p/2}(LMLᵀ) ≥ tr (G^{1/2} C G^{1/2})^{1/2},   G = Lᵀ diag(c) L,

because tr(GM) ≤ tr_{p/2}(LMLᵀ) (Hölder), tr(CM⁻¹) ≤ 1, and ½(a·tr GM + tr CM⁻¹/a) is at least the
right side for every a > 0. Weights ω on the answers enter as ωL. Where the ellipsoid may stand
anywhere, C is taken about the mean: no other center has a smaller second moment.

The right side is the nuclear norm of diag(√c)·L·[√wᵢ sᵢ], which `pairing` bounds from below.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, final

import numpy as np

from lownoise.certificate.pairing import about_mean, paired_down
from lownoise.errors import FileError, PlanError
from lownoise.kinds import NONNEGATIVE, Field, Form, Kinds
from lownoise.numbers.arrays import floats, frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.numbers.rounding import growth, shrunk
from lownoise.sets.bodies import AbstractBody, TensorBall

if TYPE_CHECKING:
    from lownoise.certificate.witness import Square
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape

    Changes = AbstractBody | TensorBall
    Kind = Any  # of changes: each kind of evidence says which it is about

# of a mass: two of them, multiplied, are still a normal number. Sums and norms of numbers below
# 2^-1022 are rounded to their last bits, not relatively: smaller evidence proves nothing
LEAST_MASS = 2.0**-450


class Evidence(Protocol):
    """What proves, of some kind of changes, that no noise is much smaller."""

    def least(
        self, changes: Kind, order: float, weights: Vector, embed: Vector | None = None
    ) -> float:
        """Return at most the least objective of any Gaussian noise at μ = 1.

        The objective is ‖ω·(standard deviations)‖_p over the answers.

        Args:
            changes: what a neighbour can change: a body, `Orbits` with their relation, `Blocks`,
                `Products` or `ParityChanges`, as the kind of evidence says.
            order: p in [2, ∞].
            weights: ω > 0, on standard deviations: one an answer, one an orbit of marginals, or one
                a degree of parities.
            embed: L, what is asked of the changes, shape (m, d); None for themselves.

        Raises:
            PlanError: where the evidence does not fit.
        """


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """A measure of mass 1 at most, by what its second moment is the square of.

    Args:
        rows: shape (n, d): Σ rowᵢ rowᵢᵀ is its covariance, or of symmetric ones its second moment.
        mean: shape (d,).
        off: how far rounding can have moved the rows, summed over all of them, and the mean; (d,).
    """

    rows: Vector
    mean: Vector
    off: Vector

    def paired(self, asked: Vector, embed: Vector | None, initial: AbstractShape | None) -> float:
        """Return at most the nuclear norm of diag(asked)·L·rowsᵀ, of the exact rows.

        Args:
            asked: √c·ω, shape (m,).
            embed: L, or None.
            initial: the nearly least M, or None.
        """
        off = self.off * math.sqrt(max(self.off.size, asked.size))
        return paired_down(self.rows, off, asked, embed, initial)


def moments_of_points(
    vertices: Vector,
    w: Vector,
    body: AbstractBody,
    *,
    counted: bool,
    moves: bool = False,
) -> Moments:
    """Return the moments of a measure on points.

    Args:
        vertices: the points, shape (n, d).
        w: their weights, of sum 1, shape (n,).
        body: which they are of.
        counted: whether each is a lifted (x, count) or its opposite: the count is left out.
        moves: whether they are taken about their mean in any case.
    """
    if not np.any(w):
        return nothing(body.dimension - counted, counted=counted)
    root = np.sqrt(w)[:, None]
    own = vertices
    if counted:
        own = np.where(vertices[:, -1:] < 0, -vertices, vertices)[:, :-1]
    if not (counted or moves or body.moves):
        lost = growth(9) * (np.sqrt(w) @ np.abs(own))
        return Moments(root * own, np.zeros(own.shape[1]), lost)
    about, off = about_mean(own, w)
    off = off + growth(9) * (np.sqrt(w) @ np.abs(about))
    if counted:  # otherwise nobody asks where the mean is
        off += growth(len(w) + 9) * (w @ np.abs(own))
    return Moments(root * about, w @ own, off)


def nothing(dimension: int, *, counted: bool) -> Moments:
    """Return the moments of no measure.

    Raises:
        PlanError: where it is of a lifted part, whose mean has a say in the whole.
    """
    if counted:
        raise PlanError("evidence of a part has no weight; solve again")
    none = np.zeros(dimension)
    return Moments(np.zeros((0, dimension)), none, none)


def count_column(dense: Vector) -> int:
    """Return the one column of an image of lifted values that has a count.

    Raises:
        PlanError: where it is none of them.
    """
    found = np.flatnonzero(dense[-1])
    if found.size != 1:
        raise PlanError("evidence of values and a count does not fit their image; solve again")
    return int(found[0])


class AbstractDual(ABC):
    """Evidence about a body: a measure on it, and query weights c ≥ 0, one an answer."""

    query_weights: Vector
    most_rows: ClassVar[float] = math.inf  # coordinates, beyond which `moments` has no rows

    @abstractmethod
    def moments(self, changes: Kind, *, counted: bool = False) -> Moments:
        """Return the measure's moments; of no rows where it has no weight.

        Args:
            changes: the body, or a part of a product.
            counted: whether that part is lifted; its count is then left out.

        Raises:
            PlanError: where it is no measure on that body, or has no weight and is counted.
        """

    def fidelity(
        self, changes: Kind, asked: Vector, embed: Vector | None, initial: AbstractShape | None
    ) -> float:
        """Return at most tr (G^{1/2} C G^{1/2})^{1/2}, relative rounding aside.

        That is what the moments prove, unless a kind of evidence knows more.

        Args:
            changes: the body.
            asked: √c·ω, shape (m,).
            embed: L, or None.
            initial: the nearly least M, or None.

        Raises:
            PlanError: where it is no measure on that body.
        """
        return self.moments(changes).paired(asked, embed, initial)

    def points_needed(self, changes: Kind, answers: int) -> int:
        """Return how many points, each a change of one record, prove as much at most.

        By Carathéodory's theorem k(k+1)/2 + 1 have any second moment in k dimensions.

        Args:
            changes: the body.
            answers: how many answers are made of the changes.
        """
        k = min(changes.dimension, answers)
        return int(k * (k + 1) // 2 + 1)

    def square(self, changes: Kind) -> Square | None:
        """Return the measure's second moment exactly; None where its points are nearly known.

        Args:
            changes: the body, which the evidence fits.
        """
        return None

    @final
    def least(
        self,
        changes: Changes,
        order: float,
        weights: Vector,
        embed: Vector | None = None,
        initial: AbstractShape | None = None,
    ) -> float:
        """Return a number that √tr_{p/2}(ωLMLᵀω) exceeds for every M that covers the body.

        Args:
            changes: S, d coordinates.
            order: p in [2, ∞].
            weights: ω > 0, shape (m,).
            embed: L, shape (m, d); None for the identity.
            initial: the nearly least M, if it is known: it makes the bound quicker, not other.

        Raises:
            PlanError: where the evidence does not fit.
        """
        c = self.query_weights
        # the entries of tensors of a ball are of few kinds
        copies = changes.parts.counts if isinstance(changes, TensorBall) else None
        answers = changes.dimension if embed is None else len(embed)
        kinds = answers if copies is None else len(copies)
        sound = c.shape == (kinds,) and np.all((c >= 0) & (c < math.inf))
        if not sound or weights.shape != ((kinds,) if copies is None else (1,)):
            raise self.misfit()
        asked = np.sqrt(c) * weights
        found = self.fidelity(changes, asked, embed, initial)
        size = order_norm(c, conjugate(order), copies)
        return shrunk(found / math.sqrt(size)) if size >= LEAST_MASS and found > 0 else 0.0

    @final
    def misfit(self) -> PlanError:
        """Return the refusal of a body that this is no evidence about."""
        return PlanError(f"{type(self).__name__} does not fit its body; solve again")

    @final
    def shares(self, weights: Vector, count: int, *, fits: bool | np.bool_) -> Vector:
        """Return weights divided by their sum: zeros where that is so tiny that it proves nothing.

        Raises:
            PlanError: where they are not as many or not at least 0, or evidence does not fit.
        """
        sound = weights.shape == (count,) and np.all((weights >= 0) & (weights < math.inf))
        if not fits or not sound:
            raise self.misfit()
        total = float(np.sum(weights))
        return np.asarray(weights / total if total >= LEAST_MASS else 0 * weights)


EVIDENCE: Kinds[AbstractDual] = Kinds("evidence")


def _points(values: Any, field: str) -> Vector:  # noqa: ANN401 (a file)
    found = floats(values)
    if not found.size or not np.all(np.isfinite(found)):
        raise FileError(f"{field} is not made of points of finite numbers")
    return frozen(found)


QUERY_WEIGHTS = Field("query_weights", NONNEGATIVE)
POINTS = (
    QUERY_WEIGHTS,
    Field("points", Form(read=_points)),
    Field("vertex_weights", NONNEGATIVE),
)


def weighed(
    query_weights: Vector,
    points: Any,  # noqa: ANN401 (an array)
    vertex_weights: Vector,
) -> tuple[Any, Vector, Vector]:
    """Return points that a file states, their weights and the query weights.

    Raises:
        FileError: where there is not one weight a point.
    """
    if len(points) != vertex_weights.size:
        raise FileError(f"evidence.vertex_weights is not {len(points)} weights, one a point")
    return points, vertex_weights, query_weights
