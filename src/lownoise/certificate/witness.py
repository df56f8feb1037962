# SPDX-License-Identifier: Apache-2.0
"""A matrix that proves a lower bound to anybody who can add and multiply whole numbers.

Let [[G, X], [Xᵀ, C]] be positive semidefinite. As [[M, −I], [−I, M⁻¹]] is so for every M ≻ 0, their
inner product tr GM − 2·tr X + tr CM⁻¹ is at least 0: half of tr GM + tr CM⁻¹ is at least tr X, and
so is the fidelity of G and C, its minimum. Where G = Lᵀdiag(ω²c)L and C is the second moment of a
measure of mass w on a body S,

    √tr_{p/2}(ωLMLᵀω) ≥ tr X/√(‖c‖_q·w)   for every M that covers S, q = p/(p − 2).

All of G, C and X are whole numbers over a power of two, so no rounding is left but that of the norm
and of the mass. With the polar factor T of R·Aᵀ, where G = AᵀA and C = RᵀR, X = AᵀTᵀR reaches the
fidelity; a little of it is given up so that what rounding X to floats does is covered (ours).

That a matrix W of whole numbers is positive semidefinite is shown without a decomposition that
would have to be believed: some floats R that nearly make it, and W − RRᵀ, computed exactly, has
diagonal entries at least as large as the others of their row together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from lownoise.numbers.norms import conjugate, order_norm
from lownoise.numbers.rounding import grown, shrunk
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.sets.bodies import SymmetricBox

if TYPE_CHECKING:
    from lownoise.certificate.evidence import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody

_GIVEN = (2.0**-30, 2.0**-24, 2.0**-18)  # of X: where G or C is nearly singular, more
_SPARED = 0.25  # of what is given: what the root leaves to the diagonal
LARGEST = 32  # coordinates: beyond, files grow long and whole numbers take a second
NEAR = 2.0**-13  # of the bound: what a witness may fall short of it


@final
@dataclass(frozen=True, eq=False)
class Dyadic:
    """A matrix of whole numbers over 2^places.

    Examples:
        >>> half = Dyadic.of(np.array([[0.5, 1.0]]))
        >>> (half.T @ half).floats().tolist()
        [[0.25, 0.5], [0.5, 1.0]]
    """

    integers: Any
    places: int

    @classmethod
    def of(cls, values: Vector) -> Self:
        """Return floats exactly; shape (n, m), or (m,) for a diagonal matrix."""
        from flint import fmpz_mat

        square = np.diag(values) if values.ndim == 1 else values
        parts, powers = np.frexp(square)
        places = 53 - int(np.min(powers[square != 0], initial=53))
        mantissas = np.ldexp(parts, 53).astype(np.int64).ravel().tolist()
        shifts = (powers - 53 + places).ravel().tolist()
        entries = [v << s if v else 0 for v, s in zip(mantissas, shifts, strict=True)]
        return cls(fmpz_mat(*square.shape, entries), places)

    @property
    def T(self) -> Self:  # noqa: N802 (the transpose)
        """The transpose."""
        return type(self)(self.integers.transpose(), self.places)

    def __matmul__(self, other: Self) -> Self:
        return type(self)(self.integers * other.integers, self.places + other.places)

    def __sub__(self, other: Self) -> Self:
        places = max(self.places, other.places)
        return type(self)(self.finer(places).integers - other.finer(places).integers, places)

    def times(self, number: Fraction) -> Self:
        """Return a multiple by a whole number over a power of two."""
        power = number.denominator.bit_length() - 1
        return type(self)(self.integers * number.numerator, self.places + power)

    def finer(self, places: int) -> Self:
        """Return the same matrix over 2^places, places at least its own."""
        return type(self)(self.integers * (1 << (places - self.places)), places)

    def floats(self) -> Vector:
        """Return floats within 2^-52 of each entry, shape (n, m).

        Raises:
            OverflowError: where no float is near an entry.
        """
        found = [[_near(int(v), self.places) for v in row] for row in self.integers.table()]
        return np.array(found, dtype=np.float64)


def _near(integers: int, places: int) -> float:
    beyond = max(integers.bit_length() - 64, 0)
    return math.ldexp(float(integers >> beyond), beyond - places)


Square = tuple[Dyadic, Fraction]  # Σ wᵢ·rowᵢ·rowᵢᵀ, and at least the mass of the measure


def moment(rows: Dyadic, weights: Vector, *, moves: bool = False, apart: bool = False) -> Square:
    """Return the second moment of weighted points and its mass, each times the same number.

    Args:
        rows: shape (n, d).
        weights: w ≥ 0, shape (n,).
        moves: whether it is about the weighted mean.
        apart: whether it is that of differences of two different points, both drawn from w.

    Examples:
        >>> found, mass = moment(Dyadic.of(np.array([[0.5, 1.0]])), np.array([2.0]))
        >>> found.floats().tolist(), mass
        ([[0.5, 1.0], [1.0, 2.0]], Fraction(2, 1))
    """
    exact = [Fraction(v) for v in weights.tolist()]
    mass = sum(exact, Fraction(0))
    found = rows.T @ Dyadic.of(weights) @ rows
    if not moves and not apart:
        return found, mass
    # mass·Σ w·row·rowᵀ less the square of Σ w·row is mass² times the covariance
    total = Dyadic.of(weights[None, :]) @ rows
    found = found.times(mass) - total.T @ total
    if not apart:
        return found, mass**2
    return found.times(Fraction(2)), mass**2 - sum(v * v for v in exact)


def forms(
    dual: AbstractDual, body: AbstractBody, weights: Vector, embed: Vector | None
) -> tuple[Dyadic, Dyadic, Fraction] | None:
    """Return G, C and the mass; None where they are not known exactly, or have too many entries.

    Args:
        dual: the evidence.
        body: S, d coordinates.
        weights: ω > 0, shape (m,).
        embed: L, shape (m, d); None for the identity.
    """
    if not 0 < body.dimension <= LARGEST:
        return None
    square = dual.square(body)
    if square is None:
        return None
    asked = Dyadic.of(weights)
    if embed is not None:
        asked = asked @ Dyadic.of(embed)
    return asked.T @ Dyadic.of(dual.query_weights) @ asked, *square


def witness(
    dual: AbstractDual,
    body: AbstractBody,
    order: float,
    weights: Vector,
    embed: Vector | None = None,
) -> Vector | None:
    """Return X in floats that proves nearly what the evidence does, shape (d, d).

    None where the measure is not known exactly, beyond 32 coordinates, and where G or C has no
    inverse that floats find.

    Args:
        dual: the evidence, which fits.
        body: S, d coordinates.
        order: p in [2, ∞].
        weights: ω > 0, shape (m,).
        embed: L, shape (m, d); None for the identity.
    """
    known = forms(dual, body, weights, embed)
    if known is None:
        return None
    G, C, _ = known
    try:
        A, R = (np.linalg.cholesky(each.floats()).T for each in (G, C))
        left, _, right = np.linalg.svd(R @ A.T)
    except (np.linalg.LinAlgError, OverflowError):
        return None
    best = A.T @ (left @ right).T @ R
    if not np.any(left - np.diag(np.diag(left))):  # a box: both are diagonal
        best = np.diag(np.diag(best))
    least = dual.least(body, order, weights, embed) * (1 - NEAR)
    for given in _GIVEN:
        X: Vector = shrunk(best, given)
        if np.all(np.isfinite(X)) and (proved(X, dual, body, order, weights, embed) or 0) >= least:
            return X
    return None


def proved(
    X: Vector,
    dual: AbstractDual,
    body: AbstractBody,
    order: float,
    weights: Vector,
    embed: Vector | None = None,
) -> float | None:
    """Return what X proves of the least √tr_{p/2}(ωLMLᵀω), rounded down; None where it is no proof.

    Args:
        X: finite, shape (d, d).
        dual: the evidence, which fits.
        body: S, d coordinates.
        order: p in [2, ∞].
        weights: ω > 0, shape (m,).
        embed: L, shape (m, d); None for the identity.

    Examples:
        >>> from lownoise.certificate import CornerDual
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> asked = CornerDual(np.ones(1)), SymmetricBox(np.array([3.0])), 2.0, np.ones(1)
        >>> [proved(np.array([[x]]), *asked) for x in (2.0, 3.0000001)]
        [1.999..., None]
    """
    known = forms(dual, body, weights, embed)
    if known is None or X.shape != (body.dimension,) * 2:
        return None
    G, C, mass = known
    if not (mass > 0 and proves(G, C, X)):
        return None
    total = sum((Fraction(v) for v in np.diag(X).tolist()), Fraction(0))
    size = grown(order_norm(dual.query_weights, conjugate(order))) * grown(float(mass))
    return shrunk(float(total) / math.sqrt(size)) if total > 0 and size > 0 else 0.0


def covers(body: AbstractBody, shape: AbstractShape, radius: float | Fraction) -> bool | None:
    """Return whether noise dominates a box, Σ (h/σ)² ≤ radius², in fractions.

    None where the body is no box, the noise not independent, or there are more than 32 coordinates.

    Args:
        body: S.
        shape: of the noise.
        radius: what is stated of the greatest length of a change in that noise.

    Examples:
        >>> from lownoise.sensitivity.factors import DiagonalShape
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> box, noise = SymmetricBox(np.array([3.0, 4.0])), DiagonalShape([1.0, 1.0])
        >>> covers(box, noise, 5.0), covers(box, noise, 4.999999999999999)
        (True, False)
    """
    if not isinstance(body, SymmetricBox) or not isinstance(shape, DiagonalShape):
        return None
    if body.dimension > LARGEST or not math.isfinite(radius):
        return None
    ends = zip(body.half_width.tolist(), shape.scale.tolist(), strict=True)
    changing = [(Fraction(h), Fraction(s)) for h, s in ends if h]
    if any(s == 0 for _, s in changing):
        return False
    return sum(((h / s) ** 2 for h, s in changing), Fraction(0)) <= Fraction(radius) ** 2


def proves(G: Dyadic, C: Dyadic, X: Vector) -> bool:
    """Return whether [[G, X], [Xᵀ, C]] is shown to be positive semidefinite, in whole numbers.

    It is brought near the identity by triangles that have an inverse, which changes nothing.

    Args:
        G: shape (d, d), symmetric.
        C: shape (d, d), symmetric.
        X: finite, shape (d, d).

    Examples:
        >>> one = Dyadic.of(np.eye(1))
        >>> proves(one, one, np.eye(1) * 0.999), proves(one, one, np.eye(1) * 1.0000001)
        (True, False)
    """
    left, right = _turning(G), _turning(C)
    if left is None or right is None:
        return False
    across = left @ Dyadic.of(X) @ right.T
    integers = _blocks(left @ G @ left.T, across, right @ C @ right.T)
    return any(_leaves_a_diagonal(integers, given * _SPARED) for given in _GIVEN)


def _blocks(upper: Dyadic, across: Dyadic, lower: Dyadic) -> Dyadic:
    """Return [[upper, across], [acrossᵀ, lower]]."""
    from flint import fmpz_mat

    parts = (upper, across, across.T, lower)
    places = max(own.places for own in parts)
    tables = [own.finer(places).integers.table() for own in parts]
    top = [a + b for a, b in zip(tables[0], tables[1], strict=True)]
    bottom = [a + b for a, b in zip(tables[2], tables[3], strict=True)]
    return Dyadic(fmpz_mat(top + bottom), places)


def _turning(form: Dyadic) -> Dyadic | None:
    """Return a triangle T with an inverse for which T·form·Tᵀ is nearly the identity."""
    from scipy.linalg import solve_triangular

    try:
        factor = np.linalg.cholesky(form.floats())
    except (np.linalg.LinAlgError, OverflowError):
        return None
    turn = np.asarray(np.tril(solve_triangular(factor, np.eye(len(factor)), lower=True)))
    sound = np.all(np.isfinite(turn)) and np.all(np.diag(turn) > 0)
    return Dyadic.of(turn) if sound else None


def _leaves_a_diagonal(integers: Dyadic, spared: float) -> bool:
    """Return whether a root of what floats hold, a little less, leaves a dominating diagonal."""
    try:
        near = integers.floats()
        root = Dyadic.of(np.asarray(np.linalg.cholesky(near - spared * np.eye(len(near)))))
    except (np.linalg.LinAlgError, OverflowError):
        return False
    left = (integers - root @ root.T).integers.table()
    return all(2 * row[i] >= sum(map(abs, row)) for i, row in enumerate(left))
