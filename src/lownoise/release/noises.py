# SPDX-License-Identifier: Apache-2.0
"""Noise on integers as JSON values, and back with every check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError
from lownoise.noise.abstract import NOISES
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.partial import PartialNoise
from lownoise.sensitivity.factors import SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.abstract import AbstractNoise
    from lownoise.sets.bodies import AbstractBody


def added_to_dict(name: str, noise: AbstractNoise) -> dict[str, Any]:
    """Return the noise of a mechanism of this name, as JSON values."""
    if isinstance(noise, PartialNoise):
        own = {} if noise.inner is None else added_to_dict(name, noise.inner)
        return {"kept": noise.kept.tolist(), **own}
    return (
        SHAPES.write(noise.shape) if isinstance(noise, GaussianNoise) else NOISES[name].write(noise)
    )


def added_from_dict(
    fields: dict[str, Any], name: str, changes: AbstractBody, length: int, distance: float = 0.0
) -> AbstractNoise:
    """Return the noise that `added_to_dict` described.

    Args:
        fields: what it wrote.
        name: of the mechanism.
        changes: of the integers that have the noise.
        length: how many these are.
        distance: how far in total variation its points may be from uniform.

    Raises:
        FileError: where the fields do not fit.
    """
    kind = NOISES[name]

    def made(own: AbstractBody) -> AbstractNoise:
        return kind.read(kind.own(fields), "noise", own, distance)

    if fields.get("kept") is None:
        return made(changes)
    return _partial(fields["kept"], changes, length, made)


def _partial(
    given: list[Any],
    changes: AbstractBody,
    length: int,
    made: Callable[[AbstractBody], AbstractNoise],
) -> PartialNoise:
    if any(type(place) is not int for place in given):
        raise FileError("noise.kept are not whole numbers")
    kept = np.array(given, dtype=np.int64).reshape(-1)
    if kept.size and not (kept[0] >= 0 and kept[-1] < length and np.all(np.diff(kept) > 0)):
        raise FileError("noise.kept are not places of integers that rise")
    inner = made(changes.mapped(np.eye(length)[kept])) if kept.size else None
    return PartialNoise(inner, kept, length)
