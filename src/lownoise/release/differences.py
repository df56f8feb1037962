# SPDX-License-Identifier: Apache-2.0
"""How far the change between two releases strays: their noises are independent of each other.

So variances add, and the law of the difference is known wherever both laws are: Gaussian numbers
stay Gaussian; of Laplace and geometric numbers, and of coordinates of one law, the sums are
(`tails`); other noise is drawn, anew and apart for each, as `proofs` does for one. Where none of
these serves, each answer is within its interval of level √level with that chance, and both are with
chance `level`.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.noise.independent import GeometricNoise
from lownoise.noise.marginal_noise import Parts
from lownoise.noise.response import ResponseMechanism
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.guarantees import tail_quantile
from lownoise.release.proofs import DRAWS, simulated
from lownoise.release.regions import Ratios, covering_rank, normal_quantile, normal_tail
from lownoise.release.stored import plan_digest
from lownoise.release.tails import (
    coordinate_quantile,
    sum_bound,
    sum_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms

_SEEDS = (20_100_602, 20_231_117)  # one a release: noise that is drawn for both is independent
_RARE = 1e-4  # chances beyond which bounds of sums are stated, not quantiles
_CELLS = 256  # of a disc, in each of which the farthest change is bounded
_SHARES = (0.9, 0.05, 0.025)  # of the chance to miss: of the strip, of the disc, of each count
_LEAST = 1e-300
_MANY = 4.0  # R, that counts have to be above for the strip


def half_widths(later: Terms, earlier: Terms, level: float) -> Vector:
    """Return how far from the change of each answer the exact one is with chance `level`, (m,).

    Args:
        later: the terms of a release.
        earlier: those of another with the same answers.
        level: between 0 and 1.

    Raises:
        PlanError: where `level` is not between 0 and 1, or the law of the noise is not known.
    """
    outside = 1 - checked_level(level)
    if later.gaussian and earlier.gaussian:
        return _gaussian(later.standard_deviation, earlier.standard_deviation, level)
    one, two = later.mechanism, earlier.mechanism
    found = apart(later.proof.half_widths, earlier.proof.half_widths, level)
    response = [isinstance(own, ResponseMechanism) for own in (one, two)]
    if all(response):  # a sum of more independent reports (Hoeffding)
        own, other = (t.proof.half_widths(level) for t in (later, earlier))
        return np.asarray(np.hypot(own, other))
    if any(response):
        return found
    known = _by_law(one, two, level)
    if known is None:
        known = _drawn(later, earlier, outside)
    return found if known is None else np.asarray(np.minimum(found, known))


def _gaussian(one: Any, two: Any, level: float) -> Vector:  # noqa: ANN401 (numbers, or arrays)
    return np.asarray(normal_quantile(level) * np.hypot(one, two))


def apart(one: Callable[[float], Any], two: Callable[[float], Any], level: float) -> Vector:
    """Return how far a change strays at most where each release is within its own bounds.

    Args:
        one: of a level, how far the later answers stray at most.
        two: the same of the earlier ones.
        level: the chance with which both hold.

    Raises:
        PlanError: where `level` is not between 0 and 1.

    Examples:
        >>> levels = []
        >>> apart(lambda level: levels.append(level) or 1.0, lambda _: 2.0, 0.81).item(), levels
        (3.0, [0.9])
    """
    each = math.sqrt(checked_level(level))
    return np.asarray(one(each) + two(each))


def _by_law(one: Any, two: Any, level: float) -> Vector | None:  # noqa: ANN401 (mechanisms)
    """Return the half widths where all answers are integers of laws whose sums are known."""
    if one.totals.embed is not None or two.totals.embed is not None:
        return None
    noises = [one.noise, two.noise]
    units = np.array([one.totals.unit, two.totals.unit])
    both = np.ones(2)
    quantile: Callable[[Vector], float]
    if all(isinstance(own, GeometricNoise) for own in noises):
        scales = np.array([own.scales for own in noises])

        def quantile(row: Vector) -> float:
            return sum_quantile(Parts(GeometricNoise, row[2:], row[:2], both), level)
    else:
        laws = [own.coordinates for own in noises]
        if laws[0] is None or laws[1] is None or laws[0].law != laws[1].law:
            return None
        law, scales = laws[0].law, np.array([laws[0].scales, laws[1].scales])

        def quantile(row: Vector) -> float:
            return coordinate_quantile(law, row[:2] * row[2:], both, level)

    rows, where = np.unique(np.vstack([scales, units]).T, axis=0, return_inverse=True)
    return frozen(np.array([quantile(row) for row in rows])[where.reshape(-1)])


def _drawn(
    later: Terms,
    earlier: Terms,
    outside: float,
    embed: Callable[[Any], Vector | None] = lambda _: None,
) -> Vector | None:
    """Return the half widths by draws of both noises; None where these would be too many.

    Args:
        later: the terms of a release.
        earlier: those of another.
        outside: the chance beyond them.
        embed: of totals, the answers from what is summed; None for those of the release.
    """
    if not all(simulated(own.mechanism, outside) for own in (later, earlier)):
        return None
    later.view.check_drawn()
    # in an order of their own, so that the change the other way has the same draws
    pair = sorted((later, earlier), key=plan_digest)
    first, second = (
        own.mechanism.simulate(DRAWS, SimulationRandomness(seed), embed(own.mechanism.totals))
        for own, seed in zip(pair, _SEEDS, strict=True)
    )
    rank = covering_rank(DRAWS, outside)
    return frozen(np.partition(np.abs(first - second), rank, axis=0)[rank])


def cell_half_widths(later: Terms, earlier: Terms, names: Sequence[str], level: float) -> Vector:
    """Return how far from the change of a marginal's counts the exact one is with chance `level`.

    Args:
        later: the terms of a release of marginals.
        earlier: those of another.
        names: of the marginal's attributes.
        level: between 0 and 1.

    Returns:
        A number, or an array like the marginal, as `standard_deviation` has it.

    Raises:
        QuestionError: where the marginal does not follow from both.
        PlanError: where `level` is not between 0 and 1.
    """
    outside = 1 - checked_level(level)
    if later.gaussian and earlier.gaussian:
        own, other = (terms.standard_deviation(*names) for terms in (later, earlier))
        return _gaussian(own, other, level)
    found = apart(partial(_cells, later, names), partial(_cells, earlier, names), level)
    one, two = (
        None if own.gaussian else own.mechanism.noise.parts(own.question.index(names))
        for own in (later, earlier)
    )
    if one is None or two is None or one.law is not two.law:
        return found
    fields = ("weights", "scales", "counts")
    joined = (np.concatenate([getattr(one, name), getattr(two, name)]) for name in fields)
    weights, scales, counts = joined
    parts = Parts(one.law, weights, scales, counts)
    known = sum_bound(parts, outside) if outside < _RARE else sum_quantile(parts, level)
    return np.asarray(np.minimum(found, known))


def _cells(terms: Terms, names: Sequence[str], level: float) -> Vector:
    found: Vector = np.asarray(terms.view.half_width(level, *names))  # type: ignore[attr-defined]
    return found


def group_half_widths(
    later: Terms, earlier: Terms, chosen: tuple[int, ...], level: float, one: Vector, two: Vector
) -> Vector | None:
    """Return how far changes of sums about 0, and of a count, are from exact ones; shape (w,).

    Args:
        later: the terms of a release by groups.
        earlier: those of another.
        chosen: the attributes of the margin.
        level: between 0 and 1.
        one: the standard deviations of the same numbers of the later, shape (w,),
        two: and of the earlier.

    Returns:
        None where it is not known but by what is known of each alone.
    """
    if later.gaussian and earlier.gaussian:
        return _gaussian(one, two, level)
    if later.gaussian or earlier.gaussian:
        return None
    question = later.question

    def embed(totals: Any) -> Vector:  # noqa: ANN401
        found: Vector = totals.of_margins(chosen)[: question.length]
        if not question.counted:
            return found
        center = question.mean.center[:, None]
        return np.vstack([found[:-1] + center * found[-1:], found[-1:]])

    return _drawn(later, earlier, 1 - checked_level(level), embed)


def ratio_change(
    later: Ratios, earlier: Ratios, level: float, bounds: Vector, *, normal: bool = True
) -> Vector:
    """Return an interval for each change of a ratio; shape (…, d, 2).

    Let Z(θ) = (s − θn)/σ(s − θn), whose law at the exact ratio θ = S/N is normal. With Z and Z' of
    the two releases, u = σ(s − θn)/N and u' at the exact ratios and denominators, each of these
    holds but with its share of the chance to miss (ours):

        |uZ − u'Z'| ≤ z·√(u² + u'²),   Z² + Z'² ≤ R²,   |n − N| ≤ rσ(n),   |n' − N'| ≤ rσ(n').

    While n > Rσ(n), θ falls as Z(θ) rises over [−R, R], so that the change of ratios is at most the
    greatest over the disc that is in the strip of some u, u' that the last three allow; and that is
    bounded cell by cell. Where denominators are many times their noise, the strip hardly turns,
    and the interval is as wide as the noise of the difference makes it.

    Of other noise that is symmetric and log-concave so are Z, Z' and uZ − u'Z', whose tails those
    of the worst such law bound; a square |Z|, |Z'| ≤ R is in place of the disc. Strip and square
    are asked of exact N that are above 4R times their noise. Where one is below, the strip would
    turn too far, and the square alone has the chance of both.

    Args:
        later: the ratios of a release.
        earlier: those of another.
        level: between 0 and 1.
        bounds: what each ratio is surely within, shape (d, 2).
        normal: whether both noises are Gaussian; else both are symmetric and log-concave.

    Returns:
        The ends; NaN where a denominator may be zero: nothing is excluded.
    """
    outside = 1 - checked_level(level)
    farthest = _farthest if normal else _farthest_of_any
    upper = farthest(later, earlier, outside, bounds)
    return np.stack([0 - farthest(earlier, later, outside, bounds), upper], axis=-1)


def _farthest(later: Ratios, earlier: Ratios, outside: float, bounds: Vector) -> Vector:
    """Return at least the exact ratio of `later` less that of `earlier`, shape (…, d)."""
    strip, disc, count = (outside * share for share in _SHARES)
    far = normal_tail(strip), math.sqrt(-2 * math.log(disc)), normal_tail(count)
    return _in_strip(later, earlier, far, bounds, disc=True)


def _farthest_of_any(later: Ratios, earlier: Ratios, outside: float, bounds: Vector) -> Vector:
    """Return the same under noise that is symmetric and log-concave."""
    strip, square, count = (outside * share for share in _SHARES)
    # of two that are independent, each with the root of the chance
    R, alone = (tail_quantile(-math.expm1(math.log1p(-p) / 2)) for p in (square, strip + square))
    r = tail_quantile(count)
    near = _in_strip(later, earlier, (tail_quantile(strip), R, r), bounds, disc=False)
    apart = _at(later, alone, bounds) - _at(earlier, -alone, bounds)
    one, two = (own.denominator / own.scale if own.scale else math.inf for own in (later, earlier))
    times = np.asarray(np.minimum(one, two))[..., None]
    # which of them the exact denominators ask for: either, where these may be on either side
    either = np.where(times - r < _MANY * R, np.maximum(near, apart), near)
    return np.where(times + r < _MANY * R, apart, either)


def _in_strip(
    later: Ratios, earlier: Ratios, far: tuple[float, float, float], bounds: Vector, *, disc: bool
) -> Vector:
    """Return at least the greatest change of ratios in a strip across a disc, or a square.

    Args:
        later: the ratios of a release.
        earlier: those of another.
        far: z, R and r.
        bounds: of the ratios.
        disc: whether it is across a disc.
    """
    z, R, r = far
    (low, high), (low2, high2) = (_deviations(own, R, r) for own in (later, earlier))
    turns = np.arctan2(low2, high), np.arctan2(high2, low)  # φ, tan φ = u'/u
    found = np.full(turns[0].shape, -np.inf)
    edges = np.linspace(-R, R, _CELLS + 1).tolist()
    for left, right in pairwise(edges):
        nearest = max(left, -right, 0.0) if disc else 0.0
        across = math.sqrt(max(R * R - nearest * nearest, 0.0))
        # (z − x·cos φ)/sin φ falls with x, and over φ is greatest at an end
        beyond = np.maximum(
            *((z - left * np.cos(t)) / np.maximum(np.sin(t), _LEAST) for t in turns)
        )
        own = _at(later, right, bounds) - _at(earlier, -np.clip(beyond, -across, across), bounds)
        found = np.where(beyond < -across, found, np.maximum(found, own))
    return found


def _deviations(own: Ratios, radius: float, count: float) -> tuple[Vector, Vector]:
    """Return the least and the greatest that σ(s − θn)/N can be, shapes (…, d).

    Args:
        own: what was observed.
        radius: of which θ.
        count: how many deviations N is from n at most.
    """
    ends = own.interval(radius)
    flat = own.scale**2 or math.inf
    bottom = np.clip(own.covariance / flat, ends[..., 0], ends[..., 1])
    n = np.asarray(own.denominator, dtype=np.float64)[..., None]
    most = np.max([own.variance_at(ends[..., k]) for k in (0, 1)], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.sqrt(own.variance_at(bottom)) / (n + count * own.scale)
        high = np.sqrt(most) / np.maximum(n - count * own.scale, 0.0)
    return low, np.where(np.isnan(ends[..., 0]), np.nan, high)


def _at(own: Ratios, x: Vector | float, bounds: Vector) -> Vector:
    """Return θ with Z(θ) = −x, within the bounds."""
    ends = own.interval(np.abs(x))
    found = np.where(np.asarray(x) >= 0, ends[..., 1], ends[..., 0])
    return np.asarray(np.clip(found, bounds[:, 0], bounds[:, 1]))
