# SPDX-License-Identifier: Apache-2.0
"""The noise of pairs of answers as ellipses, beside the circle of i.i.d. noise at equal privacy."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.release.regions import chi_quantile
from lownoise.report import numbers
from lownoise.report.names import shortened, shown
from lownoise.report.ratios import answer_ratios

if TYPE_CHECKING:
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.factors import AbstractShape

LEVEL = 0.95
_MOST_ANSWERS = 4  # whose pairs are drawn: six panels
_LONGEST = 18  # letters of a name beside an axis


def panels(terms: Terms) -> list[dict[str, Any]]:
    """Return what the page draws: for each pair the half axes, in units of the larger reach.

    Of more than four noisy answers, the two that i.i.d. noise serves worst and the two that it
    serves best are paired.
    """
    ratios = answer_ratios(terms, terms.isotropic)
    noisy = np.flatnonzero(~np.isnan(ratios))
    if noisy.size > _MOST_ANSWERS:
        order = noisy[np.argsort(ratios[noisy], kind="stable")]
        noisy = np.sort(np.concatenate([order[:2], order[-2:]]))
    return [_panel(terms, i, j) for i, j in combinations(noisy.tolist(), 2)]


def _panel(terms: Terms, i: int, j: int) -> dict[str, Any]:
    radius = chi_quantile(LEVEL, 2)
    across, up = (float(radius * terms.standard_deviation[k]) for k in (i, j))
    circle = float(radius * terms.isotropic[i])  # the same in every coordinate
    axes, angle = _axes(terms.mechanism.answer_noise, i, j)
    largest = max(across, up, circle)
    words = [shown(terms.names[k]) for k in (i, j)]
    return {
        "across": f"{radius * axes[0] / largest:.4f}",
        "up": f"{radius * axes[1] / largest:.4f}",
        "turn": f"{-angle:.2f}",  # degrees; a picture's y runs down
        "circle": f"{circle / largest:.4f}",
        "x": shortened(terms.names[i], _LONGEST),
        "y": shortened(terms.names[j], _LONGEST),
        "id": f"pair-{i}-{j}",
        "title": f"Noise of {words[0]} (across) and {words[1]} (up)",
        "description": (
            f"This plan: an ellipse reaching {numbers.significant(across)} across and "
            f"{numbers.significant(up)} up; i.i.d. Gaussian noise: a circle of radius "
            f"{numbers.significant(circle)}."
        ),
        "reach": f"±{numbers.significant(across)} and ±{numbers.significant(up)}",
        "round": f"±{numbers.significant(circle)}",
    }


def _axes(noise: AbstractShape, i: int, j: int) -> tuple[tuple[float, float], float]:
    """Return the deviations along the axes of the pair's ellipse, and the first one's angle."""
    rows = np.zeros((2, noise.sources))
    for place, k in enumerate((i, j)):
        columns, entries = noise.row(k)
        rows[place, columns] = entries
    size = float(np.max(np.abs(rows)))
    covariance = (rows / size) @ (rows / size).T
    if covariance[0, 1] == 0:
        return (size * float(covariance[0, 0]) ** 0.5, size * float(covariance[1, 1]) ** 0.5), 0.0
    squares, turned = np.linalg.eigh(covariance)
    least, most = (size * float(v) for v in np.sqrt(np.maximum(squares, 0.0)))
    angle = float(np.degrees(np.arctan2(turned[1, 1], turned[0, 1])))
    return (most, least), (angle + 90) % 180 - 90  # an axis has no front and no back
