# SPDX-License-Identifier: Apache-2.0
"""Convex losses of one record: values, gradients, and how long a gradient can be.

Clipping c·g with c = min(1, κ/|g|) is the gradient of another convex loss where the loss is
φ(⟨x, θ⟩) with a convex φ (ours). There g = φ'(m)x at the margin m = ⟨x, θ⟩, so

    c·g = ψ(m)x,    ψ(m) = max(−κ/|x|, min(κ/|x|, φ'(m))),

and ψ rises as φ' does: it is the derivative of the convex function ∫ψ. That is the *clipped loss*:
φ where its slope is at most κ/|x|, and straight beyond.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np

from lownoise.errors import FileError, PlanError, quoted
from lownoise.kinds import Field, Kinds
from lownoise.numbers.arguments import checked_integer, checked_number
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lownoise.numbers.arrays import Vector


class RecordFunction(Protocol):
    """A function of a model, shape (d,), of features (B, k) and targets (B,)."""

    def __call__(self, model: Vector, X: Vector, y: Vector) -> NDArray[Any]:
        """Return a row, or a number, a record."""


class AbstractLoss(ABC):
    """A loss ℓ(θ; x, y), convex in the model θ."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What a document and a message call it."""

    @property
    def linear(self) -> bool:
        """Whether it is a convex function of ⟨x, θ⟩, so that clipping leaves a convex loss."""
        return False

    def dimension(self, features: int) -> int:
        """Return the number of coordinates of a model."""
        return features

    @abstractmethod
    def values(self, model: Vector, X: Vector, y: Vector) -> Vector:
        """Return the loss of each record, shape (B,).

        Args:
            model: θ, shape (d,).
            X: features, shape (B, k).
            y: targets, shape (B,).
        """

    @abstractmethod
    def gradients(self, model: Vector, X: Vector, y: Vector) -> Vector:
        """Return the gradient of each record in the model, shape (B, d).

        A row is a function of its own record and the model alone; what is missing there makes it
        NaN, which counts as 0.
        """

    @abstractmethod
    def lipschitz(
        self, radius: float, feature_radius: float | None, target_bound: float | None
    ) -> float | None:
        """Return at least the length of every gradient, None where that is not known.

        Args:
            radius: of the models.
            feature_radius: at least every |x|, or None.
            target_bound: at least every |y|, or None.
        """

    def predictions(self, model: Vector, X: Vector) -> Vector:
        """Return what the model says of each record, shape (B,).

        Raises:
            PlanError: where the loss does not say.
        """
        raise PlanError(f"loss={self.name} makes no predictions; compute them from the model")

    def correct(self, model: Vector, X: Vector, y: Vector) -> Vector | None:
        """Return 1 where a record's class is the predicted one, else 0; None where none is."""
        return None


LOSSES: Kinds[AbstractLoss] = Kinds("loss")


class AbstractLinearLoss(AbstractLoss):
    """φ(⟨x, θ⟩; y) for a convex φ."""

    @property
    def name(self) -> str:
        """What a document and a message call it."""
        return LOSSES.of(self).name

    @property
    def linear(self) -> bool:
        """True: clipping leaves a convex loss."""
        return True

    @abstractmethod
    def heights(self, margins: Vector, y: Vector) -> Vector:
        """Return φ, shape (B,)."""

    @abstractmethod
    def slopes(self, margins: Vector, y: Vector) -> Vector:
        """Return φ', which rises with the margin, shape (B,)."""

    @abstractmethod
    def steepest(self, margin: float, target_bound: float | None) -> float | None:
        """Return at least every |φ'| where no |margin| is larger, None where that is not known."""

    def values(self, model: Vector, X: Vector, y: Vector) -> Vector:
        """Return the loss of each record, shape (B,)."""
        return self.heights(X @ model, y)

    def gradients(self, model: Vector, X: Vector, y: Vector) -> Vector:
        """Return the gradient of each record, shape (B, d)."""
        found: Vector = self.slopes(X @ model, y)[:, None] * X
        return found

    def lipschitz(
        self, radius: float, feature_radius: float | None, target_bound: float | None
    ) -> float | None:
        """Return |x| times the steepest slope, None where either is not known."""
        if feature_radius is None:
            return None
        slope = self.steepest(radius * feature_radius, target_bound)
        return None if slope is None else grown(slope * feature_radius)

    def predictions(self, model: Vector, X: Vector) -> Vector:
        """Return ⟨x, θ⟩, shape (B,)."""
        found: Vector = X @ model
        return found

    def clipped_values(self, model: Vector, X: Vector, y: Vector, clip: float) -> Vector:
        """Return the clipped loss of each record, shape (B,).

        It is φ(m) where |φ'| ≤ κ/|x| between m and where φ' is nearest 0, and straight beyond.
        """
        with np.errstate(all="ignore"):
            margins, most = X @ model, clip / np.linalg.norm(X, axis=1)
            low, high = self._ends(most, y)
            inside = np.clip(margins, low, high)
            beyond = np.abs(margins - inside)
            straight = np.where(beyond > 0, most * beyond, beyond)  # most is infinite at x = 0
            found: Vector = self.heights(inside, y) + straight
        return found

    @abstractmethod
    def _ends(self, most: Vector, y: Vector) -> tuple[Vector, Vector]:
        """Return the margins between which |φ'| ≤ most, which may be infinite."""


@LOSSES.kind("least_squares")
@final
@readable
@dataclass(frozen=True)
class LeastSquares(AbstractLinearLoss):
    """(⟨x, θ⟩ − y)²/2.

    Examples:
        >>> loss = LeastSquares()
        >>> loss.gradients(np.array([2.0]), np.array([[3.0]]), np.array([1.0]))
        array([[15.]])
        >>> round(loss.lipschitz(2.0, 3.0, 1.0), 6)
        21.0
    """

    def heights(self, margins: Vector, y: Vector) -> Vector:
        """Return half the squared residuals."""
        return np.asarray((margins - y) ** 2 / 2)

    def slopes(self, margins: Vector, y: Vector) -> Vector:
        """Return the residuals."""
        return np.asarray(margins - y)

    def steepest(self, margin: float, target_bound: float | None) -> float | None:
        """Return the largest residual."""
        return None if target_bound is None else margin + target_bound

    def _ends(self, most: Vector, y: Vector) -> tuple[Vector, Vector]:
        return y - most, y + most


@LOSSES.kind("logistic")
@final
@readable
@dataclass(frozen=True)
class Logistic(AbstractLinearLoss):
    """log(1 + exp(−s·⟨x, θ⟩)), s = 1 where the target is above 0 and −1 elsewhere.

    So targets may be 0 and 1, or −1 and 1. Predictions are probabilities of the first.

    Examples:
        >>> X, y = np.array([[2.0], [2.0]]), np.array([1.0, 0.0])
        >>> Logistic().gradients(np.zeros(1), X, y).ravel()
        array([-1.,  1.])
    """

    def heights(self, margins: Vector, y: Vector) -> Vector:
        """Return log(1 + exp(−s·m))."""
        return np.asarray(np.logaddexp(0.0, -_signs(y) * margins))

    def slopes(self, margins: Vector, y: Vector) -> Vector:
        """Return −s/(1 + exp(s·m))."""
        signs = _signs(y)
        return np.asarray(-signs * _sigmoid(-signs * margins))

    def steepest(self, margin: float, target_bound: float | None) -> float | None:
        """Return 1/(1 + exp(−|m|))."""
        return 1 / (1 + math.exp(-min(margin, 700.0)))

    def predictions(self, model: Vector, X: Vector) -> Vector:
        """Return the probabilities of a target above 0, shape (B,)."""
        return _sigmoid(X @ model)

    def correct(self, model: Vector, X: Vector, y: Vector) -> Vector:
        """Return 1 where the more probable class is the record's, else 0."""
        return np.asarray(((X @ model > 0) == (y > 0)).astype(np.float64))

    def _ends(self, most: Vector, y: Vector) -> tuple[Vector, Vector]:
        signs = _signs(y)
        # |φ'| = 1/(1 + exp(s·m)) ≤ most from s·m = log(1/most − 1) on
        start = np.where(most >= 1, -np.inf, np.log(1 / np.minimum(most, 1.0) - 1))
        return np.where(signs > 0, start, -np.inf), np.where(signs > 0, np.inf, -start)


@LOSSES.kind("huber", "threshold")
@final
@readable
@dataclass(frozen=True)
class Huber(AbstractLinearLoss):
    """(⟨x, θ⟩ − y)²/2 for residuals up to a threshold, and linear beyond.

    Args:
        threshold: above 0, in the unit of the target.

    Raises:
        PlanError: where it is not.

    Examples:
        >>> Huber(1.0).gradients(np.array([2.0]), np.array([[3.0]]), np.array([1.0]))
        array([[3.]])
    """

    threshold: float

    def __post_init__(self) -> None:
        found = checked_number("Huber.threshold", self.threshold)
        if not 0 < found < math.inf:
            raise PlanError(f"Huber.threshold={found:g} is not above 0 and finite; give one")
        object.__setattr__(self, "threshold", found)

    def heights(self, margins: Vector, y: Vector) -> Vector:
        """Return r²/2, or threshold·(|r| − threshold/2) beyond it."""
        size = np.abs(margins - y)
        inner = np.minimum(size, self.threshold)
        return np.asarray(inner * (size - inner / 2))

    def slopes(self, margins: Vector, y: Vector) -> Vector:
        """Return the residuals, clipped to the threshold."""
        return np.asarray(np.clip(margins - y, -self.threshold, self.threshold))

    def steepest(self, margin: float, target_bound: float | None) -> float | None:
        """Return the threshold, or the largest residual where that is less."""
        return (
            self.threshold if target_bound is None else min(self.threshold, margin + target_bound)
        )

    def _ends(self, most: Vector, y: Vector) -> tuple[Vector, Vector]:
        wide = np.where(most >= self.threshold, np.inf, most)
        return y - wide, y + wide


def _no_file(name: str, dimension: int | None = None, lipschitz: float | None = None) -> Loss:
    raise FileError(
        f"loss.name={quoted(name)} is a function, which no file holds; give the loss that was "
        "planned with as loss=…"
    )


@LOSSES.kind(
    "function",
    "name",
    Field("dimension", attribute="coordinates", optional=True),
    Field("lipschitz", attribute="constant", optional=True),
    make=_no_file,
)
@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class Loss(AbstractLoss):
    """Any convex loss, by its functions.

    Both functions take (model, X, y), shapes (d,), (B, k) and (B,). Each row of their results must
    be a function of the model and its own record alone. The guarantee needs this of the gradient,
    and nothing else, since gradients are clipped.

    Args:
        value: returns the loss of each record, shape (B,).
        gradient: returns the gradient of each record in the model, shape (B, d).
        lipschitz: a bound on the length of every gradient, over all possible models and records;
            without it there is no regret bound.
        name: its name in documents and messages; by default the name of `gradient`.
        dimension: of a model, if it is not the number of features.

    Raises:
        PlanError: where an argument is of no meaning.

    Examples:
        >>> mean = Loss(
        ...     value=lambda model, X, y: ((X - model) ** 2).sum(axis=1) / 2,
        ...     gradient=lambda model, X, y: model - X,
        ...     lipschitz=2.0, name="distance",
        ... )
        >>> mean.gradients(np.ones(2), np.zeros((1, 2)), np.zeros(1))
        array([[1., 1.]])
    """

    value: RecordFunction
    gradient: RecordFunction
    constant: float | None
    called: str
    coordinates: int | None

    def __init__(
        self,
        *,
        value: RecordFunction,
        gradient: RecordFunction,
        lipschitz: float | None = None,
        name: str | None = None,
        dimension: int | None = None,
    ) -> None:
        for field, function in (("value", value), ("gradient", gradient)):
            if not callable(function):
                raise PlanError(f"Loss.{field}={quoted(function)} is no function; give one")
        constant = None if lipschitz is None else checked_number("Loss.lipschitz", lipschitz)
        if constant is not None and not 0 < constant < math.inf:
            raise PlanError(f"Loss.lipschitz={constant:g} is not above 0 and finite; give one")
        called = type(gradient).__name__ if name is None else name
        if name is None and hasattr(gradient, "__name__"):
            called = gradient.__name__
        if not isinstance(called, str) or not called.isprintable() or not 0 < len(called) <= 60:  # noqa: PLR2004
            raise PlanError(f"Loss.name={quoted(called)} is no short text; give one")
        if dimension is not None:
            dimension = checked_integer("Loss.dimension", dimension)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "gradient", gradient)
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "called", called)
        object.__setattr__(self, "coordinates", dimension)

    @property
    def name(self) -> str:
        """What a document and a message call it."""
        return self.called

    def dimension(self, features: int) -> int:
        """Return the number of coordinates of a model."""
        return features if self.coordinates is None else self.coordinates

    def values(self, model: Vector, X: Vector, y: Vector) -> Vector:
        """Return what `value` returns."""
        return np.asarray(self.value(model, X, y))

    def gradients(self, model: Vector, X: Vector, y: Vector) -> Vector:
        """Return what `gradient` returns."""
        return np.asarray(self.gradient(model, X, y))

    def lipschitz(
        self, radius: float, feature_radius: float | None, target_bound: float | None
    ) -> float | None:
        """Return what was stated."""
        return self.constant


def _signs(y: Vector) -> Vector:
    """Return 1 for a target above 0, −1 for another, NaN for what is missing."""
    return np.where(np.isnan(y), np.nan, np.where(y > 0, 1.0, -1.0))


def _sigmoid(t: Vector) -> Vector:
    """Return 1/(1 + exp(−t)) without overflow."""
    small = np.exp(-np.abs(t))
    return np.asarray(np.where(t >= 0, 1.0, small) / (1 + small))
