# SPDX-License-Identifier: Apache-2.0
"""Deviations of all answers as a curve, the largest first, with the level of i.i.d. noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.report import numbers

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_LEAST = 8  # answers: fewer are read in the table
_MOST = 400  # points of the curve
_WIDTH, _HEIGHT = 640.0, 170.0  # of the room for the curve, in pixels
_LEFT, _TOP, _BELOW, _RIGHT = 58.0, 12.0, 40.0, 74.0
_ABOVE = 1.08  # of the largest deviation
_APART = 14.0  # pixels between two labels


def curve(deviations: Vector, isotropic: float) -> dict[str, Any] | None:
    """Return what the page draws; None where there are few answers, or none has noise.

    Args:
        deviations: the standard deviation of each answer, shape (m,).
        isotropic: that of i.i.d. noise.
    """
    m = deviations.size
    if m < _LEAST or not np.any(deviations > 0):
        return None
    falling = np.sort(deviations)[::-1]
    top = _ABOVE * max(float(falling[0]), isotropic)
    places = np.unique(np.linspace(0, m - 1, min(m, _MOST)).astype(int))

    def height(value: float) -> float:
        return _TOP + _HEIGHT * (1 - value / top)

    # each answer is a step of even width
    steps = []
    for start, end in zip(places, [*places[1:].tolist(), m], strict=True):
        y = height(float(falling[start]))
        steps.append(f"{_LEFT + _WIDTH * start / m:.1f} {y:.1f}H{_LEFT + _WIDTH * end / m:.1f}")
    level, last = height(isotropic), height(float(falling[-1]))
    if abs(level - last) < _APART:
        last = level + (_APART if last >= level else -_APART)
    return {
        "width": f"{_LEFT + _WIDTH + _RIGHT:.0f}",
        "height": f"{_TOP + _HEIGHT + _BELOW:.0f}",
        "path": "M" + "L".join(steps),
        "left": f"{_LEFT:.1f}",
        "right": f"{_LEFT + _WIDTH:.1f}",
        "label": f"{_LEFT + _WIDTH + 8:.1f}",
        "floor": f"{_TOP + _HEIGHT:.1f}",
        "under": f"{_TOP + _HEIGHT + 18:.1f}",
        "level": f"{level:.1f}",
        "last": f"{last:.1f}",
        "ticks": [
            (f"{height(value):.1f}", numbers.shortest(value)) for value in _round_numbers(top)
        ],
        "count": f"{m:,}",
        "description": (
            f"From {numbers.significant(float(falling[0]))} down to "
            f"{numbers.significant(float(falling[-1]))}; i.i.d. noise has "
            f"{numbers.significant(isotropic)} everywhere."
        ),
    }


def _round_numbers(top: float) -> list[float]:
    """Return 0 and a few even steps of a round number up to `top`."""
    power = 10.0 ** np.floor(np.log10(top))
    step = next(float(s * power) for s in (0.1, 0.2, 0.5, 1, 2, 5) if top / (s * power) <= 5)  # noqa: PLR2004
    return [float(f"{k * step:.6g}") for k in range(int(top / step) + 1)]
