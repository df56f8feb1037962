# SPDX-License-Identifier: Apache-2.0
"""The randomizers on which the laws of all run: one row a member, each small enough to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.local_model import (
    BallGaussian,
    BallKNorm,
    CubeLaplace,
    DirectResponse,
    HalfSpace,
    SampledCoordinates,
    SampledTables,
    SphereCap,
    SubsetSelection,
    UnaryEncoding,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.local_model.randomizer import AbstractRandomizer

MEMBERS: dict[str, Callable[[], AbstractRandomizer]] = {
    "gaussian": lambda: BallGaussian.fitted(3, 1.0, 1e-6),
    "k_norm": lambda: BallKNorm.fitted(3, 1.0),
    "laplace": lambda: CubeLaplace.fitted(3, 1.0),
    "direct": lambda: DirectResponse.fitted(4, 1.0),
    "unary": lambda: UnaryEncoding.fitted(4, 1.0),
    "subset": lambda: SubsetSelection.fitted(6, 1.0),
    "subset, listed": lambda: SubsetSelection.fitted(20, 3.0),
    "sampled": lambda: SampledTables(
        parts=(DirectResponse.fitted(3, 1.0), SubsetSelection.fitted(4, 1.0)), tickets=(2, 3)
    ),
    "cap": lambda: SphereCap.fitted(3, 1.0),
    "half_space": lambda: HalfSpace.fitted(3, 1.0),
    "coordinates": lambda: SampledCoordinates.fitted(3, 1.0),
    "coordinates, two": lambda: SampledCoordinates(coordinates=3, sampled=2, flipped=0.380859375),
}
