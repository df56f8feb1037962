# SPDX-License-Identifier: Apache-2.0
"""Noise whose density falls in steps, or that is on a lattice: what is worth it; any is private."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.staircase import least_first, staircase_ratio
from lownoise.errors import PlanError
from lownoise.noise.discrete_cube import DiscreteCubeNoise
from lownoise.noise.discrete_k_norm import (
    MOST_STEPS,
    counts_cells,
    has_lattice,
    is_table,
    lattice_noise,
)
from lownoise.noise.discrete_staircase import (
    MOST_WIDTH,
    DiscreteStaircaseNoise,
    least_stairs,
)
from lownoise.noise.independent import GeometricNoise, LaplaceNoise
from lownoise.noise.mechanism import spared
from lownoise.noise.pure import KNormNoise, ellipsoid_norm
from lownoise.noise.radial import RadialNoise
from lownoise.noise.staircase import StaircaseNoise
from lownoise.numbers.arrays import frozen
from lownoise.planning.pure_noise import (
    ellipsoid_factor,
    independent,
    squared_error,
    weighted_errors,
)
from lownoise.privacy import ApproxDP
from lownoise.privacy.units import rows_of
from lownoise.release.guarantees import allowed, pure_cost
from lownoise.samplers.steps import LEAST_EPSILON, MOST_EPSILON, StepRadius

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.means import MeanTotals
    from lownoise.noise.totals import AbstractSummedTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.pure_noise import Setting
    from lownoise.planning.release_plan import Request
    from lownoise.questions import AbstractSummed, Mean
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.norms import AbstractNorm
    from lownoise.solvers.radial import RadialFit

MOST_DIMENSIONS = 200  # of radial noise
_LEAST_ROOM = 1e-9  # relative: what noise grows by where a profile covers δ in floats alone
_WIDER, _ATTEMPTS = 10.0, 10
_MOST_OF_STEP = 500.0  # ε of one step of a lattice, beyond which geometric noise is not drawn
_MOST_STAIRS = 16  # numbers with discrete staircases, where these are not named
_MOST_CUBE = 12  # numbers with K-norm noise of a cube in whole numbers, where it is not named
_LESS = 0.99  # of the variance of noise without steps: what has less is made unasked


@lru_cache(maxsize=64)
def fine(epsilon: float) -> float:
    """Return the inverse of the least deviation that grids are to be fine beside.

    It is ε, as for Laplace noise, or that of the staircase of one number and a change of 1 where
    that is narrower: beyond ε = 4, by e^{ε/3}.

    Examples:
        >>> fine(1.0), round(fine(8.0), 1)
        (1.0, 17.2)
    """
    step = min(epsilon, MOST_EPSILON)
    if step < LEAST_EPSILON:
        return epsilon
    return max(epsilon, math.sqrt(3 / StepRadius(1, step, least_first(1, step)).mean(2.0)))


def is_worth_lattice(epsilon: float) -> bool:
    """Return whether geometric noise has a hundredth less variance than Laplace noise or more.

    Where it has not it is made only if it is named, as it costs more ρ and μ.

    Args:
        epsilon: the most that one step of a lattice may reveal.

    Examples:
        >>> is_worth_lattice(0.34), is_worth_lattice(0.35)
        (False, True)
    """
    geometric, _ = GeometricNoise.precision(np.array([epsilon]))
    return bool(LaplaceNoise.precision(np.array([epsilon]))[0] <= _LESS * geometric)


def within_lattice(epsilon: float) -> float:
    """Return the part of a budget at which geometric noise is made: all of it, or up to its end.

    So a larger budget has no more noise. What is beyond is not spent.

    Args:
        epsilon: as of `is_worth_lattice`.

    Examples:
        >>> within_lattice(8.0), within_lattice(1000.0)
        (1.0, 0.5)
    """
    return min(1.0, _MOST_OF_STEP / epsilon) if epsilon > 0 else 1.0


def within_stairs(epsilon: float) -> float:
    """Return the part of a budget at which discrete staircases are made; the rest is not spent.

    Examples:
        >>> within_stairs(4.0), within_stairs(64.0)
        (1.0, 0.5)
    """
    return min(1.0, MOST_EPSILON / epsilon) if epsilon > 0 else 1.0


def is_worth_stairs(steps: Vector, epsilon: float) -> bool:
    """Return whether discrete staircases have a hundredth less variance than geometric noise.

    Each number with a like part of ε, which is enough to see whether they are worth it.

    Args:
        steps: how many steps of its lattice each number moves by at most, shape (r,).
        epsilon: ε of all.

    Examples:
        >>> is_worth_stairs(np.array([8.0]), 1.0), is_worth_stairs(np.array([1.0]), 4.0)
        (True, False)
    """
    own = epsilon / max(steps.size, 1)
    part = min(own, MOST_EPSILON)
    fits = 0 < steps.size <= _MOST_STAIRS and part >= LEAST_EPSILON
    if not fits or not np.all((steps >= 1) & (steps <= MOST_WIDTH)):
        return False
    usual = 1 / GeometricNoise.precision(own / steps)[0]
    pairs = [(int(width), width / part) for width in steps.tolist()]
    found = sum(least_stairs(*pair).variance(pair[1]) for pair in pairs)
    return bool(found <= _LESS * np.sum(usual))


def is_worth_cube(size: int, epsilon: float) -> bool:
    """Return whether K-norm noise of a cube has a hundredth less variance in whole numbers.

    Less than the staircase of real numbers of that cube, which has no more than K-norm noise.

    Examples:
        >>> is_worth_cube(2, 4.0), is_worth_cube(2, 0.5), is_worth_cube(8, 8.0)
        (True, False, False)
    """
    part = min(epsilon, MOST_EPSILON)
    if not 2 <= size <= _MOST_CUBE or part < LEAST_EPSILON:  # noqa: PLR2004
        return False
    real = StepRadius(size, part, least_first(size, part)).mean(2.0) / 3
    return bool(DiscreteCubeNoise(size, 1 / part).covariance()[0] <= _LESS * real)


def lattice_builders(
    question: Mean | AbstractSummed,
    request: Request,
    totals: MeanTotals | AbstractSummedTotals[Any],
    width: Vector,
    weights: Vector,
) -> dict[str, Callable[[Setting], AdditiveMechanism]]:
    """Return what makes noise on the answers in whole numbers, where it is named or worth it.

    Args:
        question: what is asked.
        request: how it was asked.
        totals: the sums, which have steps in common that records move them by.
        width: how far a record moves each sum, shape (r,).
        weights: what one unit of each answer's error matters, shape (m,).
    """
    named, epsilon, lattice = request.mechanism, request.epsilon, totals.lattice
    if lattice is None:
        return {}
    steps = np.rint((width / lattice)[width > 0])
    most = float(np.max(1 / np.maximum(steps, 1), initial=0.0)) * epsilon  # of one step

    if totals.kinds <= totals.length + 1:  # a table's, or independent
        worth, part = is_worth_lattice(epsilon / 2), within_lattice(epsilon)
        worth = worth and bool(np.all(steps <= MOST_STEPS))
    else:
        worth, part = is_worth_cube(steps.size, epsilon / request.rows), within_stairs(epsilon)
    several = totals.length > 1 and not request.exchanged
    table = named is None and several and worth and has_lattice(totals.on_lattice.changes)
    stairs = named is None and is_worth_stairs(steps * request.rows, epsilon)
    known = (
        ("geometric", is_worth_lattice(most), _geometric, within_lattice(most)),
        ("discrete_staircase", stairs, _discrete_staircases, within_stairs(epsilon)),
        ("discrete_k_norm", table, _discrete_k_norm, part),
    )

    def on_lattice(
        noise: Callable[[Setting], AdditiveMechanism], setting: Setting
    ) -> AdditiveMechanism:
        """Return the noise, in steps that all records move answers by."""
        own = totals.on_lattice
        weighted = weighted_errors(own, weights, question)
        return noise(replace(setting, totals=own, weighted=weighted))

    return {
        name: partial(ended, partial(on_lattice, noise), part)
        for name, worth, noise, part in known
        if worth or name == named
    }


def ended(
    build: Callable[[Setting], AdditiveMechanism], part: float, setting: Setting
) -> AdditiveMechanism:
    """Return noise that is made of a part of ε, where its scales end."""
    alone = part == 1 or setting.shared is not None
    return build(setting if alone else replace(setting, epsilon=setting.epsilon * part))


def _geometric(setting: Setting) -> AdditiveMechanism:
    return independent(setting, GeometricNoise)


def _discrete_staircases(setting: Setting) -> AdditiveMechanism:
    """Return discrete staircases as wide as numbers move, ε split over them as of other noise.

    Args:
        setting: whose integers records move by whole steps.

    Raises:
        PlanError: where steps are too wide, or reveal too little or too much.
    """
    moves = setting.body.widths() * rows_of(setting.unit)
    if not np.all(moves <= MOST_WIDTH):
        raise PlanError("steps are too many for a discrete staircase; take another mechanism")
    widths = np.maximum(np.floor(moves), 1).astype(np.int64)  # of whole numbers, rounded up
    return independent(setting, partial(DiscreteStaircaseNoise.least, widths))


def _discrete_k_norm(setting: Setting) -> AdditiveMechanism:
    """Return K-norm noise on the lattice of one table, of independent records, or of a cube.

    Args:
        setting: whose integers records move by whole steps.

    Raises:
        PlanError: where records are no such, answers are no counts of a table's cells, or ε is too
            little or too much.
    """
    body = setting.body
    if is_table(body) and not counts_cells(setting.totals.embed):
        raise PlanError("answers are more than counts of the cells of one table")
    scale = (2.0 if is_table(body) else 1.0) * rows_of(setting.unit) / setting.epsilon
    one = lattice_noise(body, scale)
    return setting.made(one.scaled)


def is_worth_steps(setting: Setting) -> bool:
    """Return whether staircase noise has a hundredth less variance than K-norm noise or more.

    Where it has not it is made only if it is named, as it costs more ρ and μ.
    """
    size, step = setting.kept.size, min(setting.epsilon, MOST_EPSILON)
    known = size > 0 and step >= LEAST_EPSILON
    return known and staircase_ratio(size, step) * (setting.epsilon / step) ** 2 <= _LESS


def staircase(
    setting: Setting,
    around: Callable[[Callable[[Setting, AbstractShape], AdditiveMechanism]], AdditiveMechanism],
) -> AdditiveMechanism:
    """Return the least staircase noise of the body of changes, or of an ellipsoid around it.

    Its steps are as wide as the longest change. The ε of a step has an end, and a larger budget
    has no more noise for it: what is beyond is not spent.

    Args:
        setting: what noise is fitted to.
        around: returns what a function makes of the least ellipsoid around the body.

    Raises:
        PlanError: where none can be drawn.
    """
    if not setting.kept.size:
        raise PlanError("no neighbour changes any answer")
    size, epsilon = setting.kept.size, setting.epsilon
    if setting.shared is None:
        epsilon = min(epsilon, MOST_EPSILON)

    def of(norm: AbstractNorm, own: Setting) -> AdditiveMechanism:
        own = own if epsilon == own.epsilon else replace(own, epsilon=epsilon)
        one = own.with_noise(KNormNoise(norm, 1.0)).loss.epsilon / spared(norm)

        def fewer(factor: float) -> StaircaseNoise:
            step = epsilon / factor
            return StaircaseNoise(norm, one, step, least_first(norm.uniform.rank, step))

        return own.made(fewer)

    def body() -> AdditiveMechanism:
        # of one number all norms are alike, and this one is drawn in blocks
        alone = ellipsoid_norm(frozen(setting.body.widths())) if size == 1 else None
        return of(alone or setting.gauge, setting)

    made, refused = [], []
    for build in (
        body,
        lambda: around(lambda own, shape: of(ellipsoid_norm(ellipsoid_factor(own, shape)), own)),
    ):
        try:
            made.append(build())
        except PlanError as error:
            refused.append(error)
    if not made:
        raise refused[0]
    return min(made, key=lambda own: squared_error(own, setting))


def radial(fit: RadialFit, setting: Setting, shape: AbstractShape) -> AdditiveMechanism:
    """Return the least radial noise around an ellipsoid that holds the body of changes (ours).

    Where the body is a ball and the ellipsoid is it, no additive noise has less squared error, but
    for the gap that `solvers.radial_fit` proves; elsewhere it is offered and compared. The noise
    grows until δ, bounded from its final form, is covered.

    Args:
        fit: as `profile` returns it.
        setting: what noise is fitted to.
        shape: as of `ellipsoid`.

    Raises:
        PlanError: where it does not cover δ.
    """
    shared = setting.shared
    radii, weights = (frozen(own[fit.weights > 0]) for own in (fit.radii, fit.weights))
    factor = ellipsoid_factor(setting, shape)
    norm = ellipsoid_norm(factor)
    one = norm.sensitivity_up(setting.body) / spared(norm)
    scale, room = one * rows_of(setting.unit), _LEAST_ROOM
    for _ in range(_ATTEMPTS):
        found = setting.with_noise(RadialNoise(fit.epsilon, scale, factor, radii, weights))
        kept = shared is None or shared.keeps(pure_cost(found.loss).event)
        if kept and found.loss.delta <= fit.delta:
            return found
        scale, room = scale * (1 + room), room * _WIDER
    raise PlanError("the radial profile does not cover delta; take another mechanism")


def profile(setting: Setting, *, near: float) -> RadialFit:
    """Return the least radial noise for changes of length 1, and what no additive noise beats.

    Args:
        setting: what noise is fitted to.
        near: as of `least_profile`.

    Raises:
        PlanError: where δ is 0, or no profile is known for so many dimensions or such a budget.
    """
    from lownoise.solvers.radial_fit import least_profile

    epsilon, delta, shared = setting.epsilon, setting.delta, setting.shared
    if shared is not None and shared.uses == 1 and isinstance(shared.budget, ApproxDP):
        epsilon, delta = allowed(shared.budget), shared.budget.delta
    elif shared is not None:
        raise PlanError("the cost of several uses of radial noise is not known; leave out uses")
    if not delta > 0:
        raise PlanError("radial noise needs delta > 0; give ln.approx_dp(epsilon, delta)")
    dimension = setting.kept.size
    if dimension > MOST_DIMENSIONS:
        raise PlanError(
            f"radial noise is fitted to at most {MOST_DIMENSIONS} numbers that records move, and "
            f"these are {dimension:,}; take another mechanism",
        )
    return least_profile(dimension, epsilon, delta, near=near)
