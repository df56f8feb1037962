# SPDX-License-Identifier: Apache-2.0
"""Shares that are read from released marginals, at no cost of privacy.

A share is a count n of a cell over the count d of its group. Under Gaussian noise its interval is
Fieller's, with the covariance of both. Under any other n and d are within intervals of their own,
each but with half of the chance to miss, and every quotient of these is in the share's. Exact
shares are from 0 to 1, and so are the ends; where d may be 0 they are 0 and 1.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import QuestionError, quoted
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.release.answer_table import AbstractTabular, AnswerColumn, AnswerTable, ends_of
from lownoise.release.readable import free
from lownoise.release.regions import normal_quantile, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.release.marginal_answers import MarginalAnswers
    from lownoise.release.marginals import MarginalView


@final
@readable
@dataclass(frozen=True, eq=False)
class Shares(AbstractTabular):
    """Each count of a marginal as a share of its group's, one axis an attribute.

    Args:
        by: the attributes of the marginal.
        of: those whose categories are the groups; none: shares of all rows.
        labels: the categories of each attribute of `by`.
        shares: count over count, not exactly unbiased; those of a group add up to one. NaN where
            its group may have no rows.
        lower: at most the exact share, 0 where the group may have no rows,
        upper: and at least, 1 there; both with chance `level`, each share by itself.
        deviations: how far each strays, to first order; NaN as `shares`.
        level: over the noise.
    """

    by: tuple[str, ...]
    of: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    shares: Vector
    lower: Vector
    upper: Vector
    deviations: Vector
    level: float

    def table(self) -> AnswerTable:
        """Return a row a share: its categories, the share, the ends of its interval."""
        cells = list(zip(*itertools.product(*self.labels), strict=True))
        whole = "the group with the same " + ", ".join(self.of) if self.of else "all rows"
        empty = "no number where that may be zero"
        share = f"the released count over that of {whole}, not exactly unbiased; {empty}"
        meant = {"share": share, **ends_of("share", f"{self.level:g}")}
        meant["standard_deviation"] = f"how far the share strays, to first order; {empty}"
        numbers = (self.shares, self.lower, self.upper, self.deviations)
        return AnswerTable(
            (
                *(
                    AnswerColumn(name, own, f"which category it is: {name}")
                    for name, own in zip(self.by, cells, strict=True)
                ),
                *(
                    AnswerColumn(free(name, self.by), own.ravel(), said, "a share")
                    for (name, said), own in zip(meant.items(), numbers, strict=True)
                ),
            )
        )


def shares(
    answers: MarginalAnswers, names: tuple[str, ...], of: str | Sequence[str], level: float
) -> Shares:
    """Return each count of a marginal as a share of its group's; see `Counted.shares`."""
    view, attributes = answers.view, {a.name: a for a in answers.view.question.attributes}
    n, whole = answers.marginal(*names), (of,) if isinstance(of, str) else of
    if not isinstance(whole, (tuple, list)) or not all(own in names for own in whole):
        raise QuestionError(
            f"of={quoted(of)} names no groups of these shares; give some of their attributes, "
            f"{', '.join(names)}"
        )
    kept = tuple(name for name in names if name in whole)
    axes = tuple(i for i, name in enumerate(names) if name not in kept)

    def like(own: object, *, group: bool = False) -> Vector:  # a number, or one a cell or group
        found = np.asarray(own)
        return np.broadcast_to(
            np.expand_dims(found, axes) if group and found.ndim else found, n.shape
        )

    d = like(answers.marginal(*kept), group=True)
    strays = like(view.standard_deviation(*names))
    base = like(view.standard_deviation(*kept), group=True)
    beside = _covariances(view, names, kept, n.shape)
    if view.gaussian:
        scales = {"variance": strays**2, "covariance": beside, "scale": base}
        each = {name: own[..., None] for name, own in scales.items()}
        ends = ratio_interval(n[..., None], d, **each, radius=normal_quantile(level))
        low, high = ends[..., 0, 0], ends[..., 0, 1]
    else:
        half = (1 + checked_level(level)) / 2 if np.any(base) else level  # a public d has no noise
        far = like(view.half_width(half, *names))
        off = like(view.half_width(half, *kept), group=True) if np.any(base) else 0.0
        least = np.where(d > off, d - off, np.nan)
        low, high = (n - far) / np.where(n > far, d + off, least), (n + far) / least
    bounded = ~np.isnan(high)
    over = np.where(bounded, d, np.nan)
    square = strays**2 - 2 * (n / over) * beside + (n / over * base) ** 2
    return Shares(
        by=names,
        of=kept,
        labels=tuple(tuple(map(attributes[i].label, range(attributes[i].size))) for i in names),
        shares=frozen(n / over),
        lower=frozen(np.where(bounded, np.clip(low, 0.0, 1.0), 0.0)),
        upper=frozen(np.where(bounded, np.clip(high, 0.0, 1.0), 1.0)),
        deviations=frozen(np.sqrt(np.maximum(square, 0.0)) / over),
        level=float(level),
    )


def _covariances(
    view: MarginalView, names: tuple[str, ...], kept: tuple[str, ...], shape: tuple[int, ...]
) -> Vector:
    """Return the covariance of each cell with its group: alike along what is not ordered."""
    ordered = {view.question.attributes[i].name for i in view.layout.axes}
    sizes = [size if n in ordered else 1 for n, size in zip(names, shape, strict=True)]
    found = np.empty(sizes)
    for place in np.ndindex(*sizes):
        group = [k for k, name in zip(place, names, strict=True) if name in kept]
        found[place] = view.covariance((names, place), (kept, group))
    return np.broadcast_to(found, shape)
