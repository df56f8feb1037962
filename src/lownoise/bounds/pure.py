# SPDX-License-Identifier: Apache-2.0
"""The best volume bound over projections: what no ε-DP mechanism's error is below on all tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds.volume import Records, averaging_bound, packing_bound, roundings
from lownoise.bounds.volumes import log_volume_down
from lownoise.errors import PlanError
from lownoise.numbers.rounding import FEW, grown, growth, shrunk, spectral_up
from lownoise.sets.bodies import AbstractBody, ImageBody, PointDifferences, SymmetricBox

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_EVERY = 12  # dimensions up to which all are tried


@final
@dataclass(frozen=True, kw_only=True)
class VolumeBound:
    """A lower bound on the error of every ε-DP mechanism, and where it comes from.

    Args:
        value: at most the greatest (E‖ω·error‖_p²)^{1/2} over tables, of any mechanism.
        dimension: k, of the projection that gives it; 0 where nothing is proved.
        log_volume: at most ln vol_k of the weighted body's projection.
        packing: what the source's packing of the same projection gives, at most.
    """

    value: float
    dimension: int
    log_volume: float
    packing: float


def volume_lower_bound(
    body: AbstractBody,
    *,
    epsilon: float,
    records: Records,
    most: float = math.inf,
    weights: Vector | None = None,
    order: float = 2.0,
    moment: Vector | None = None,
) -> VolumeBound:
    """Return the best `averaging_bound` over leading eigenvectors of a second moment.

    Whatever the projections, each is a proof. For p > 2 the ℓ_p norm of m numbers is at least
    m^{1/p − 1/2} times their length, so that a projection to m of the answers counts that much.

    Args:
        body: S, what one record changes, about 0.
        epsilon: ε > 0.
        records: how truths are made of changes, see `roundings`.
        most: M, how many records can be changed; ∞ where tables of every size are neighbours.
        weights: ω ≥ 0 on the answers, shape (d,); ones by default.
        order: p in [2, ∞].
        moment: second moments whose eigenvectors are tried, shape (d, d); by default the body's
            own, weighted.

    Raises:
        PlanError: where epsilon is not above 0 and finite, or weights are not d numbers ≥ 0.

    Examples:
        >>> cube = SymmetricBox(np.ones(8))
        >>> found = volume_lower_bound(cube, epsilon=0.1, records="shares")
        >>> found.dimension, found.value < math.sqrt(9 * 10 * 8 / 3) / 0.1
        (8, True)
    """
    if not 0 < epsilon < math.inf:
        raise PlanError(f"epsilon={epsilon} is not above 0 and finite; give a budget")
    d = body.dimension
    scale = np.ones(d) if weights is None else np.asarray(weights, dtype=np.float64)
    if scale.shape != (d,) or not np.all(np.isfinite(scale) & (scale >= 0)):
        raise PlanError(f"weights are not {d} finite numbers of at least 0; give one an answer")
    axes = _axes(moment_of(body) * np.outer(scale, scale) if moment is None else moment)
    best = VolumeBound(value=0.0, dimension=0, log_volume=-math.inf, packing=0.0)
    for k in _dimensions(len(axes)):
        matrix = axes[:k] * scale
        used = np.any(matrix, axis=0)
        if np.count_nonzero(used) < k:
            continue
        log_volume = log_volume_down(body, matrix)
        if math.isinf(log_volume):
            continue
        # the projection is this over ω, whose norm is 1 up to rounding
        norm = grown(spectral_up(matrix[:, used] / scale[used]), FEW)
        share = float(np.count_nonzero(used)) ** (1 / order - 0.5) if order > 2 else 1.0  # noqa: PLR2004
        share = shrunk(share / norm)
        reach = _reach_up(body, matrix)
        value = share * max(
            averaging_bound(log_volume, k, epsilon=epsilon, most=most, rounding=how, reach=reach)
            for how in roundings(records, k)
        )
        if value > best.value:
            packed = share * packing_bound(log_volume, k, epsilon=epsilon, most=most)
            best = VolumeBound(value=value, dimension=k, log_volume=log_volume, packing=packed)
    return best


def _dimensions(rank: int) -> list[int]:
    """Return the k that are tried: all few, then a twelfth more each time, and the last."""
    found, k = [], 1
    while k <= rank:
        found.append(k)
        k += max(1, k // _EVERY)
    return found if not found or found[-1] == rank else [*found, rank]


def _axes(moment: Vector) -> Vector:
    """Return orthonormal rows along which the second moment falls, those that have some."""
    if not np.any(moment - np.diag(np.diag(moment))):
        values, vectors = np.diag(moment), np.eye(len(moment))
    else:
        values, vectors = np.linalg.eigh(moment)
    order = np.argsort(-values, kind="stable")
    kept = order[values[order] > 2.0**-46 * float(np.max(values, initial=0.0))]
    return np.asarray(vectors[:, kept].T)


@singledispatch
def moment_of(body: object) -> Vector:
    """Return a second moment of what the body is made of, shape (d, d); any is as true.

    Examples:
        >>> moment_of(SymmetricBox(np.array([1.0, 2.0])))
        array([[1., 0.],
               [0., 4.]])
    """
    return np.zeros((0, 0))


@moment_of.register(SymmetricBox)
def _box_moment(body: SymmetricBox) -> Vector:
    return np.diag(np.square(body.half_width))


@moment_of.register(ImageBody)
def _image_moment(body: ImageBody) -> Vector:
    return np.diag(np.square(body.factor)) if body.diagonal else body.factor @ body.factor.T


@moment_of.register(PointDifferences)
def _differences_moment(body: PointDifferences) -> Vector:
    about = body.points - body.points.mean(axis=0)
    return np.asarray(about.T @ about / len(about))


@moment_of.register(AbstractBody)
def _body_moment(body: AbstractBody) -> Vector:
    spanning = body.spanning
    return np.asarray(spanning.T @ spanning / max(len(spanning), 1))


def _reach_up(body: AbstractBody, matrix: Vector) -> float:
    """Return at least max ‖As‖ over the body."""
    if isinstance(body, SymmetricBox):
        far = float(np.linalg.norm(np.abs(matrix) @ body.half_width))
        return grown(far, growth(2 * matrix.size + 9))
    return body.length_up(matrix, np.zeros(body.dimension))
