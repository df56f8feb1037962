# SPDX-License-Identifier: Apache-2.0
"""Recursive noise: which coordinates each level keeps, of which norm, and how ε is split."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.pure import KNormNoise, ellipsoid_norm
from lownoise.noise.recursive import RecursiveNoise
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.planning.pure_noise import SMALL, scales_of_order, squared_error
from lownoise.sets.bodies import PointDifferences

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.pure_noise import Setting
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.norms import AbstractNorm

_MOST_BITS, _LEAST_BITS = 12, 5  # of an entry of the rotation
_EXACT_BITS = 52
_MOST_TURNED = 256  # coordinates
_MOST_CUT = 7  # dimensions in which the differences of many points are cut up in a second
_DIGITS = 9  # of gaps, of which those that differ in less are equal
_GAPS = 3  # between eigenvalues, the widest, that levels are parted at
_FEW = 2  # ways that are tried where a norm of the body's is refused: those predicted best


def recursive(setting: Setting, around: Callable[[], Vector]) -> AdditiveMechanism:
    """Return noise of several levels (001, section 7), ε split so that the error is least.

    At each level the coordinates are turned to the eigenvectors of the noise's covariance where
    errors have the Euclidean length, and the flattest are kept: half of them, as in the source, all
    beyond one of the widest gaps, or what were best of ellipsoids, whichever errs least. With Vⱼ
    the kept squared error at ε = 1, Σ Vⱼ/εⱼ² is least under Σ εⱼ = ε for εⱼ ∝ Vⱼ^{1/3}.

    A level has the norm of what the body is there, or, where that has no exact sampler that is soon
    done, the norm of an ellipsoid around it: levels are private with any norm. Where points are
    found by tries, so that norms take long to make, and no mechanism is named, levels that are
    predicted to win nothing, were all of them ellipsoids, are not made.

    Args:
        setting: what noise is fitted to.
        around: returns F of an ellipsoid F·B of the integers that move, roughly around the body.

    Raises:
        PlanError: where there is one level only, or they are too many to turn, too fine or flat.
    """
    d = setting.kept.size
    if d < 2:  # noqa: PLR2004
        raise PlanError("one number has one level: it is the K-norm mechanism")
    if d > _MOST_TURNED:
        raise PlanError(f"{d:,} numbers are too many to rotate; the limit is {_MOST_TURNED}")
    body, factor = setting.body, cache(around)
    own = _first(setting, factor)
    root = _root(setting.metric)
    values, vectors = np.linalg.eigh(root @ _moment_of(own[0]) @ root.T)
    turned, values = vectors[:, ::-1].T @ root, values[::-1]
    ways = _ways(values)
    if isinstance(body, PointDifferences):
        ways = {way for way in ways if way[1] <= _MOST_CUT} or {(d, 1)}
    if own[0].uniform.work and not setting.named:
        ways = {way for way in ways if _predicted(values, way) < _predicted(values, (d,))}
        if not ways:
            raise PlanError("its predicted error is above that of one level; name it to use it")
    made, refused, left = [], [], _FEW
    for way in sorted(ways, key=lambda way: (_predicted(values, way), way)):
        try:
            found, beside = _recursive(setting, own, turned, way, factor)
        except PlanError as error:
            refused.append(error)
            continue
        made.append(found)
        left -= beside
        if left <= 0:
            break
    if not made:
        raise refused[0]
    return min(made, key=lambda own: squared_error(own, setting))


_Gauge = tuple["AbstractNorm", bool]  # and whether it is an ellipsoid's around the body


def _first(setting: Setting, factor: Callable[[], Vector]) -> _Gauge:
    """Return the norm of the first level, whose points are uniform in no weaker sense."""
    try:
        gauge = setting.gauge
    except PlanError:
        return _around(factor(), setting.body), True
    if gauge.uniform.distance:
        return _around(factor(), setting.body), True
    return gauge, False


def _level(setting: Setting, rows: Vector, factor: Callable[[], Vector]) -> _Gauge:
    image = setting.body.mapped(rows)
    try:
        return setting.norm_of(image), False
    except PlanError:
        return _around(_image(rows, factor()), image), True


def _image(rows: Vector, factor: Vector) -> Vector:
    """Return a triangular F of the image of an ellipsoid."""
    return triangle_of((rows * factor if factor.ndim == 1 else rows @ factor).T).T


def _around(factor: Vector, body: AbstractBody) -> AbstractNorm:
    """Return the norm of the least multiple of F·B that is known to hold the body, or nearly."""
    unit = ellipsoid_norm(frozen(np.ascontiguousarray(factor)))
    return unit.scaled(unit.sensitivity_up(body))


def _moment_of(gauge: AbstractNorm) -> Vector:
    own = gauge.uniform.second_moment()
    return np.asarray(np.diag(own) if own.ndim == 1 else own)


def _ways(values: Vector) -> set[tuple[int, ...]]:
    """Return sizes of levels, all of them first, by the second moment along each axis, falling."""
    d = values.size
    with np.errstate(over="ignore"):  # no gap is wider than one beyond all floats
        falls = np.round(values[:-1] / np.maximum(values[1:], 1e-300), _DIGITS)
    gaps = 1 + np.argsort(-falls, kind="stable")  # of equals the first
    ways = {tuple(d >> i for i in range(d.bit_length())), *((d, int(k)) for k in gaps[:_GAPS])}
    best = _shortest(values)
    return ways | ({best} if len(best) > 1 else set())


def _kept(values: Vector, first: int, end: int) -> float:
    """Return what an ellipsoid's noise in `end` dimensions errs in those from `first` on, at ε = 1.

    Up to a factor: its points have the second moment along an axis over end + 2, and r² is
    (end + 1)(end + 2) in the mean.
    """
    return (end + 1) * float(np.sum(np.maximum(values[first:end], 0.0)))


def _predicted(values: Vector, way: tuple[int, ...]) -> float:
    """Return the cube root of the squared error of these levels, were all of them ellipsoids."""
    return math.fsum(np.cbrt(_kept(values, m, n)) for n, m in pairwise((*way, 0)))


def _shortest(values: Vector) -> tuple[int, ...]:
    """Return the sizes of levels that are best of ellipsoids: a shortest way from d to 0.

    Examples:
        >>> _shortest(np.array([1e6, 1.0, 1.0, 1.0]))
        (4, 1)
        >>> _shortest(np.ones(4))
        (4,)
    """
    d, moments = values.size, np.maximum(values, 0.0)
    least, after = np.zeros(d + 1), np.zeros(d + 1, dtype=np.int64)
    for n in range(1, d + 1):
        kept = (n + 1) * np.cumsum(moments[:n][::-1])[::-1]  # as `_kept` from each on to n
        ends = least[:n] + np.cbrt(kept)
        after[n] = int(np.argmin(np.round(ends / np.min(ends), _DIGITS)))  # of equals the first
        least[n] = ends[after[n]]
    found = [d]
    while after[found[-1]]:
        found.append(int(after[found[-1]]))
    return tuple(found)


def _recursive(
    setting: Setting,
    first: _Gauge,
    turned: Vector,
    sizes: tuple[int, ...],
    factor: Callable[[], Vector],
) -> tuple[AdditiveMechanism, int]:
    """Return noise of levels of these sizes, and how many ways it stands for.

    None where no level is an ellipsoid's; all where all are, of which the best was predicted.
    """
    rows = _turned(setting, turned, sizes, factor)
    norms = [first, *(_level(setting, rows[:n], factor) for n in sizes[1:])]
    around = frozenset(i for i, (_, own) in enumerate(norms) if own)

    def scaled_by(scales: Vector) -> RecursiveNoise:
        levels = zip(norms, scales.tolist(), strict=True)
        return RecursiveNoise(rows, tuple(KNormNoise(own, b) for (own, _), b in levels), around)

    unit = scaled_by(np.ones(len(norms)))
    if setting.order > 2:  # noqa: PLR2004
        one = np.ones((1, len(sizes)))
        scales = scales_of_order(one, _kept_squares(unit, setting), setting.order) / setting.epsilon
    else:
        shares = np.cbrt([max(v, 1e-300) for v in _kept_errors(unit, setting.metric)])
        scales = 1 / (shares / shares.sum() * setting.epsilon)
    found = setting.made(lambda most: scaled_by(scales * most))
    if not around:
        return found, 0
    wide = {i for i, n in enumerate(sizes) if n > 1}
    return found, _FEW if wide <= around else 1


def _kept_errors(noise: RecursiveNoise, metric: Vector) -> list[float]:
    """Return tr(M·T⁻¹·(what a level keeps)·T⁻ᵀ), a level each."""
    inverse = np.linalg.inv(noise.rows)
    own = inverse.T @ (np.diag(metric) if metric.ndim == 1 else metric) @ inverse
    ends = [level.dimension for level in noise.levels]
    firsts = [*ends[1:], 0]
    return [
        float(np.sum(own[first:end, first:end] * kept))
        for first, end, kept in zip(firsts, ends, noise.kept, strict=True)
    ]


def _kept_squares(noise: RecursiveNoise, setting: Setting) -> Vector:
    """Return what each level adds to the variance of each weighted error, about, shape (m, L)."""
    own = setting.weighted[..., setting.kept]
    own = own / float(np.max(np.abs(own), initial=SMALL))
    rows = (np.diag(own) if own.ndim == 1 else own) @ np.linalg.inv(noise.rows)
    ends = [level.dimension for level in noise.levels]
    found = [
        np.einsum("ji,ik,jk->j", rows[:, first:end], kept, rows[:, first:end], optimize=True)
        for first, end, kept in zip([*ends[1:], 0], ends, noise.kept, strict=True)
    ]
    return np.asarray(np.maximum(np.array(found).T, 0.0))


def _root(metric: Vector) -> Vector:
    """Return R with RᵀR = M, shape (d, d)."""
    if metric.ndim == 1:
        return np.diag(np.sqrt(metric))
    values, vectors = np.linalg.eigh(metric)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def _turned(
    setting: Setting, turned: Vector, sizes: tuple[int, ...], factor: Callable[[], Vector]
) -> Vector:
    """Return T: its rows from the longest direction to the flattest, level by level.

    Args:
        setting: as of `recursive`.
        turned: rows for the first level, shape (d, d).
        sizes: of the levels.
        factor: as of `recursive`.
    """
    rows = turned.copy()
    for n in sizes[1:]:
        rows[:n] = np.linalg.eigh(_moment(setting, rows[:n], factor))[1][:, ::-1].T @ rows[:n]
    found = _rounded(rows, setting.body)
    if not np.all(np.isfinite(found)) or np.linalg.cond(found) > 2.0**30:
        raise PlanError("the body is too flat to separate its levels; leave out some answers")
    return frozen(found)


def _moment(setting: Setting, rows: Vector, factor: Callable[[], Vector]) -> Vector:
    """Return the second moment of the image of the body, or around it, nearly, up to a factor."""
    near = _rounded(rows, setting.body)
    try:
        dense = _moment_of(setting.norm_of(setting.body.mapped(near)))
    except PlanError:
        own = _image(near, factor())
        dense = own @ own.T
    unit = np.max(np.abs(rows), axis=1)  # what each was divided by
    return np.asarray(dense * unit * unit[:, None])


def _rounded(rows: Vector, body: AbstractBody) -> Vector:
    """Return the rows, each times a number, with so few bits that images of the body are exact.

    Raises:
        PlanError: where the integers are too fine for that.
    """
    size = float(np.max(body.widths()))
    left = _EXACT_BITS - math.ceil(math.log2(max(size, 1.0) * rows.shape[1]))
    bits = min(_MOST_BITS, left)
    if bits < _LEAST_BITS:
        raise PlanError("the integers are too fine for levels that are exact images of them")
    most = np.max(np.abs(rows), axis=1, keepdims=True)
    most = np.where(most > 0, most, 1.0)
    return np.asarray(np.rint(rows / most * 2.0**bits) * 2.0**-bits)
