# SPDX-License-Identifier: Apache-2.0
"""What a record changes that becomes another of any group, where totals have no count.

The change is e_g ⊗ x − e_g' ⊗ x'. Let the noise of all rows' sums have the covariance M₀ and that
of every other residual space σ_A²·M. Let h = Σ_A Π (1 − 1/nᵢ)/σ_A², h_δ = Σ_A Π (δᵢ − 1/nᵢ)/σ_A²
over A ≠ ∅, δᵢ = 1 where g and g' agree in attribute i. The change costs

    h·(xᵀM⁻¹x + x'ᵀM⁻¹x') − 2h_δ·xᵀM⁻¹x' + (x − x')ᵀM₀⁻¹(x − x'),

which is affine in h_δ, so that its ends are the worst: h_δ = h, where the groups are one, and the
least h_δ = −m. Either is the squared length of an image of the pair (x, x'),

    (h + h_δ)/2·‖L⁻¹(x − x')‖² + (h − h_δ)/2·‖L⁻¹(x + x')‖² + ‖L₀⁻¹(x − x')‖²,

and what pairs of records there are is a body of its own: so both are measured, and none is bounded
by what x and x' do alone (ours).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lownoise.engines import AbstractCoding, Coding, ListCoding
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import FEW, grown, growth
from lownoise.sets.bodies import ImageBody, RoundedBody, SymmetricPoints, image_body
from lownoise.sets.domains.image import Image
from lownoise.sets.unit_balls import NormBall, product_ball

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.unit_balls import AbstractUnitBall

_RECORDS = 1 << 12  # records, of whose pairs none is left out
_ENTRIES = 1 << 16  # of all such pairs together
_CORNERS = 6  # ranges, whose corners are records enough
_TILTS = range(-8, 9, 2)  # logarithms of the last coefficient: how far the middle counts
_FINER = 2.0 ** np.arange(0, -6, -1)


def pairs_extent(coding: AbstractCoding, slack: Vector) -> AbstractBody | None:
    """Return the codes (x, x') of all pairs of records, and opposites; None where not known.

    Args:
        coding: how records become integers about zero.
        slack: how far a code is off, where codes are no exact numbers, shape (r,).
    """
    if isinstance(coding, ListCoding):
        return _pairs_of(np.unique(coding.codes, axis=0).astype(np.float64))
    if not isinstance(coding, Coding):
        domain: AbstractDomain = coding.domain  # type: ignore[attr-defined]  # of all others
        return _image(domain.as_image(), coding, slack)
    least, greatest = (own.astype(np.float64) for own in (coding.least(), coding.greatest()))
    if least.size <= _CORNERS:  # a convex function of both is greatest at corners
        ends = np.indices((2,) * least.size).reshape(least.size, -1).T
        return _pairs_of(np.unique(np.where(ends, greatest, least), axis=0))
    middle, half = (greatest + least) / 2, (greatest - least) / 2
    columns = np.hstack([np.diag(np.tile(half, 2)), np.tile(middle, 2)[:, None]])
    return image_body(frozen(columns), NormBall(2 * half.size + 1, math.inf))


def _pairs_of(codes: Vector) -> SymmetricPoints | None:
    n, r = codes.shape
    if n > _RECORDS or n * (n + 1) * r > _ENTRIES:
        return None
    first, second = np.triu_indices(n)  # no pair costs more than the same in the other order
    return SymmetricPoints(frozen(np.hstack([codes[first], codes[second]])))


def _image(image: Image | None, coding: AbstractCoding, slack: Vector) -> AbstractBody | None:
    if image is None:
        return None
    d, dense, none = image.dimension, image.dense, np.zeros_like(image.dense)
    both = Image(
        frozen(np.block([[dense, none], [none, dense]])),
        product_ball([image.base, image.base]),
        frozen(np.tile(image.center, 2)),
    )
    pivots = coding.pivots
    body = both.symmetrized(np.concatenate([pivots, pivots + d]), np.tile(coding.step, 2))
    return RoundedBody(body, frozen(np.tile(slack, 2)))


def exchange_up(
    pairs: AbstractBody,
    noise: AbstractShape,
    all_rows: AbstractShape,
    within: float,
    across: float,
) -> float:
    """Return at least μ² of the costliest change.

    Args:
        pairs: all (x, x'), 2r coordinates.
        noise: of shape L, which σ_A multiplies.
        all_rows: of shape L₀.
        within: at least h.
        across: at least m.
    """
    first, second = noise.whitening, all_rows.whitening
    if not (first.defect < 1 and second.defect < 1 and math.isfinite(within + across)):
        return math.inf
    own, alone = first.matrix, second.matrix / (1 - second.defect)
    apart, joined = (np.hstack([own, sign * own]) / (1 - first.defect) for sign in (-1, 1))
    whole = np.hstack([alone, -alone])
    inside = np.vstack([math.sqrt(within) * apart, whole])
    between = np.vstack(
        [
            math.sqrt((within + across) / 2) * joined,
            math.sqrt(max(within - across, 0.0) / 2) * apart,
            whole,
        ]
    )
    longest = max(_length_up(pairs, rows) for rows in (inside, between))
    return grown(longest**2) if math.isfinite(longest) else math.inf


def _length_up(pairs: AbstractBody, rows: Vector) -> float:
    """Return at least max ‖rows·s‖, whatever rounding did to the rows."""
    body = _tilted(pairs, rows)
    hidden = growth(12) * float(np.linalg.norm(np.abs(rows) @ pairs.widths()))
    return float(body.length_up(rows, np.zeros(body.dimension)) + 2 * hidden)


def _tilted(pairs: AbstractBody, rows: Vector) -> AbstractBody:
    """Return the body with coefficients for its bound: any are a proof."""
    if isinstance(pairs, RoundedBody):
        return replace(pairs, body=_tilted(pairs.body, rows))
    if not isinstance(pairs, ImageBody):
        return pairs
    image = rows @ pairs.dense
    if not np.all(np.isfinite(image)):
        return pairs
    squares = np.maximum(np.einsum("ij,ij->j", image, image), np.finfo(float).tiny)

    found = [
        _best_tilt(pairs.base, image, start)
        for start in (squares, np.full_like(squares, np.mean(squares)))
    ]
    return pairs.with_multipliers(frozen(min(found, key=lambda own: own[0])[1]))


def _best_tilt(base: AbstractUnitBall, image: Vector, start: Vector) -> tuple[float, Vector]:
    """Return a bound in floats, and the coefficients that have it, all but the last of `start`.

    Of (image/y)·imageᵀ the last coefficient has a part of rank one: many are looked at together.
    """
    rest = (image[:, :-1] / start[:-1]) @ image[:, :-1].T
    last = np.outer(image[:, -1], image[:, -1]) / start[-1]
    alone = np.append(start[:-1], 0.0)
    energies = base.energy_up(alone), base.energy_up(start)
    adds = math.isclose(energies[1], energies[0] + start[-1], rel_tol=FEW)  # as it does of cubes

    def bounds(tilts: Sequence[float]) -> list[tuple[float, float]]:
        times = 2.0 ** np.asarray(tilts)
        most = np.linalg.eigvalsh(rest + last / times[:, None, None])[:, -1]
        if adds:
            energy = energies[0] + times * start[-1]
        else:
            energy = np.array(
                [base.energy_up(alone + _at_end(alone, t * start[-1])) for t in times]
            )
        return [(float(e), tilt) for e, tilt in zip(most * energy, tilts, strict=True)]

    best = min(bounds(_TILTS))
    for step in _FINER:
        best = min(best, *bounds([best[1] - step, best[1] + step]))
    return best[0], alone + _at_end(alone, start[-1] * 2.0 ** best[1])


def _at_end(like: Vector, number: float) -> Vector:
    found = np.zeros_like(like)
    found[-1] = number
    return found
