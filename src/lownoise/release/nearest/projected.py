# SPDX-License-Identifier: Apache-2.0
"""A release's answers, moved to the nearest that a table can have: better often, and biased."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast, final

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arguments import checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.questions import Marginals, Mean
from lownoise.release import codec
from lownoise.release.codec import Origin
from lownoise.release.nearest.answers import AbstractAnswers, TableAnswers, answers_of
from lownoise.release.nearest.hulls import Nearest, nearest_point
from lownoise.release.nearest.nonnegative import nearest_tables
from lownoise.release.nearest.tables import Metric, given_tables, metric_of
from lownoise.release.readable import Shown
from lownoise.release.regions import ratio
from lownoise.sensitivity.factors import DiagonalShape

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from lownoise.numbers.arrays import Vector
    from lownoise.release.nearest.tables import Stack, Tables
    from lownoise.release.release import Release
    from lownoise.release.terms import Terms

RTOL = 1e-4
BIASED = (
    "Projected answers are biased: near the edge of what tables can have they are pulled inside, "
    "and no interval of the release is about them. They cost no privacy: they are made of the "
    "release alone."
)
_MOST_DENSE = 2000  # answers whose covariance is decomposed
_MOST_NUMBERS = 10**6  # of a target
_MOST_CORNERS = 5 * 10**7  # numbers of all corners that are looked for
_STEPS = 5000
_SMALL, _INSIDE = 1e-6, 1e-9  # of the noise
_UNKNOWN = 2.0**-42  # of what was released: floats know no distance from a mixture as closely
_FLAT = 1e-12  # of the greatest variance: what counts as none


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Projected(Shown):
    """The nearest answers that a table can have: biased, and at no cost; from `release.projected`.

    Of marginals `projected["age", "sex"]` reads one, as of a release.

    Args:
        release: the answers as they were released, which are unbiased.
        onto: "domain" or "nonnegative".
        norm: in which they are nearest, "noise" or "euclidean".
        distance: how far they are from the release, in that norm.
        gap: at most so far from the nearest ones, in that norm, as floats add up.
        iterations: steps of the search.
        converged: whether the gap is within what was asked for.
        values: the answers, shape (m,); of marginals their centred tables.
        tables: how centred tables make marginals; None of answers in a row.
    """

    release: Release
    onto: str
    norm: str
    distance: float
    gap: float
    iterations: int
    converged: bool
    values: Any
    tables: Tables | None = None

    @property
    def biased(self) -> str:
        """What a reader has to know of them, a sentence or two."""
        return BIASED

    @property
    def estimate(self) -> Vector:
        """The answers in their units, shape (m,), in the order of the release's.

        Raises:
            PlanError: of marginals.
        """
        if self.tables is not None:
            raise PlanError('estimate is not for marginals; read projected["name", …]')
        found: Vector = self.values
        return found

    @property
    def mean(self) -> Vector:
        """The mean of each column, shape (d,): of the domain; NaN where the count is 0.

        Raises:
            PlanError: where the question was no mean.
        """
        question = self.release.terms.question
        if not isinstance(question, Mean):
            raise PlanError("mean is for means of columns; use estimate")
        if self.release.terms.size is not None:
            return self.estimate
        return ratio(self.estimate, question.center)

    def __getitem__(self, names: str | tuple[str, ...]) -> Vector:
        """Return the counts by these attributes: `marginal`."""
        return self.marginal(*((names,) if isinstance(names, str) else names))

    def marginal(self, *names: str) -> Vector:
        """Return the counts by these attributes, one axis each, none below 0; all agree.

        Raises:
            QuestionError: where a name is unknown or the marginal does not follow from what was
                released.
            PlanError: where the question was not of marginals.
        """
        question, tables = self._marginals()
        chosen = question.index(names)
        view: Any = self.release.terms.view
        view.require(chosen)
        found = tables.marginal(self.values, chosen)
        return frozen(np.transpose(np.maximum(found, 0.0), question.order(names)))

    def marginals(self) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """Yield every marginal that was asked for: names, and counts of shape (n, …).

        Raises:
            PlanError: where the question was not of marginals.
        """
        question, tables = self._marginals()
        for chosen in question.sets():
            counts = np.maximum(tables.marginal(self.values, chosen), 0.0)
            yield question.names(chosen), frozen(counts)

    def _marginals(self) -> tuple[Marginals, Tables]:
        question = self.release.terms.question
        if not isinstance(question, Marginals) or self.tables is None:
            raise PlanError("marginal is for ln.Marginals; use estimate")
        return question, self.tables

    def to_json(self) -> str:
        """Return the answers as JSON, which says that they are biased; it is read as no release."""
        own = self.release
        content: dict[str, Any] = {
            "biased": self.biased,
            "onto": self.onto,
            "norm": self.norm,
            "distance": self.distance,
            "gap": self.gap,
            "converged": self.converged,
            **Origin(own.spend, own.created, own.versions).to_dict(),
        }
        if self.tables is None:
            content |= {"names": list(own.names), "estimate": self.estimate.tolist()}
        else:
            content["marginals"] = [
                {"names": list(names), "counts": counts.tolist()}
                for names, counts in self.marginals()
            ]
        return codec.dump("projected", content)

    def export(self, path: str | PathLike[str]) -> NoReturn:
        """Refuse: a table has no place that says that its numbers are biased, and no interval.

        Raises:
            PlanError: always.
        """
        raise PlanError(
            f"file={path} would have biased answers and nothing that says so; use save(path), or "
            "export the release"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, all of it or nothing.

        Raises:
            FileError: where it cannot be written.
        """
        codec.write(path, self.to_json())


def projected(
    release: Release, onto: str | None = None, *, norm: str = "noise", rtol: float = RTOL
) -> Projected:
    """Return a release's answers moved to the nearest that a table can have; see there.

    Raises:
        PlanError: as `Release.projected`.
    """
    marginals = isinstance(release.terms.question, Marginals)
    chosen = ("nonnegative" if marginals else "domain") if onto is None else onto
    if chosen not in ("domain", "nonnegative") or (chosen == "nonnegative" and not marginals):
        known = '"domain" or "nonnegative"' if marginals else '"domain"'
        raise PlanError(f"onto={quoted(onto)} is no set of these answers; give {known}")
    if norm not in ("noise", "euclidean"):
        raise PlanError(f'norm={quoted(norm)} is unknown; give "noise" or "euclidean"')
    rtol = checked_rtol(rtol)
    if marginals:
        return _projected_tables(release, chosen, norm, rtol)
    terms, given = release.terms, np.asarray(release.estimate)
    answers, seen = answers_of(terms), _seen(terms, norm)
    unit = 1.0 if norm == "noise" else release.error
    found = nearest_answers(given, answers, seen, rtol=rtol, unit=unit)
    return Projected(
        release=release,
        onto=chosen,
        norm=norm,
        distance=found.distance,
        gap=found.gap,
        iterations=found.iterations,
        converged=found.converged,
        values=frozen(found.point),
    )


def nearest_answers(
    given: Vector, answers: AbstractAnswers, seen: Vector, *, rtol: float, unit: float
) -> Nearest:
    """Return the answers of some table that are nearest to the given ones.

    Args:
        given: shape (m,).
        answers: those that tables have.
        seen: V, the norm is ‖V·‖₂: shape (k, m), or the diagonal, shape (m,).
        rtol: the gap to stop at, in parts of the distance.
        unit: a distance of the size of the noise; what is a millionth of it is looked into no more.

    Raises:
        PlanError: where they are too many, or no bound is known.
    """
    diagonal = seen.ndim == 1
    if answers.everything or not seen.size or answers.holds(given):
        return Nearest(given, given, 0.0, 0.0, 0, converged=True)
    if diagonal and (clipped := answers.clipped(given)) is not None:
        distance = float(np.linalg.norm(seen * (clipped - given)))
        return Nearest(clipped, clipped, distance, 0.0, 0, converged=True)
    if given.size > _MOST_NUMBERS:
        raise PlanError(f"projected has {given.size:,} answers; ask for at most {_MOST_NUMBERS:,}")
    target = seen * given if diagonal else seen @ given

    def corner(direction: Vector) -> tuple[Vector, Vector, float]:
        point, above = answers.extreme(seen * direction if diagonal else direction @ seen)
        return point, (seen * point if diagonal else seen @ point), above

    most = max(min(_STEPS, _MOST_CORNERS // max(target.size, given.size)), 2)
    cone = _weight_bound(target, corner, most) if answers.cone else None
    found = nearest_point(target, corner, start=target, cone=cone, rtol=rtol, unit=1.0, most=most)
    # what was released is the nearest
    if found.distance <= max(_INSIDE * unit, _UNKNOWN * float(np.linalg.norm(target))):
        return Nearest(given, target, 0.0, 0.0, found.iterations, converged=True)
    return found


def _weight_bound(target: Vector, corner: Any, most: int) -> float:  # noqa: ANN401 (as it is there)
    """Return at least the sum of weights that the point of the cone nearest to the target has.

    With p the point of the corners' hull that is nearest to 0, ⟨p, a⟩ ≥ m > 0 for every corner a. A
    nearest point is no longer than the target, so its weights add up to at most ‖p‖·‖y‖/m.
    """
    low = nearest_point(
        np.zeros_like(target), corner, start=-target, rtol=1e-2, unit=0.0, most=most
    ).seen
    least = -float(corner(-low)[2])
    size = float(np.linalg.norm(low))
    if not least > _FLAT * size * size or not size:
        raise PlanError(
            "projected needs answers of which no table has the opposite ones, as a count; ask for "
            "the count too, or plan with size=",
        )
    return size * float(np.linalg.norm(target)) / least


def _seen(terms: Terms, norm: str) -> Vector:
    """Return V with ‖V(x − y)‖ the norm: the diagonal, or shape (k, m)."""
    m, view = len(terms.names), cast("Any", terms.view)
    if norm == "euclidean":
        weights = np.asarray(view.weights)
        if weights.size == m:
            return weights
        question = terms.question
        # of pure means, which weigh the columns: one row more is one more of the farthest mean
        return np.append(weights, float(np.max(weights * question.domain.extent)))
    if terms.gaussian and isinstance(terms.mechanism.answer_noise, DiagonalShape):
        deviations = np.asarray(terms.standard_deviation)
        if np.all(deviations > 0):
            return 1 / deviations
    if m > _MOST_DENSE:
        raise PlanError(
            f'norm="noise" of {m:,} answers that are noised together is for at most '
            f'{_MOST_DENSE:,}; give norm="euclidean"',
        )
    covariance = np.asarray(terms.covariance)
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    used = np.flatnonzero(size > 0)
    even = covariance[np.ix_(used, used)] / np.outer(size[used], size[used])
    values, axes = np.linalg.eigh((even + even.T) / 2) if used.size else (size[used], even)
    kept = values > _FLAT * max(float(np.max(values, initial=0.0)), 1e-300)
    found = np.zeros((int(np.sum(kept)), m))
    found[:, used] = (axes[:, kept] / np.sqrt(values[kept])).T / size[used]
    return found


def _projected_tables(release: Release, onto: str, norm: str, rtol: float) -> Projected:
    metric: Metric = metric_of(release.terms, norm)
    tables, weights = metric.tables, metric.weights
    given = given_tables(release, tables)
    values: Stack
    if onto == "nonnegative":
        found = nearest_tables(tables, given, weights, rtol=rtol, most=_STEPS)
        how = (found.distance, found.gap, found.iterations, found.converged)
        values = found.tables
    else:
        if tables.numbers > _MOST_DENSE:
            raise PlanError(
                f'projected("domain") of {tables.numbers:,} different numbers is for at most '
                f'{_MOST_DENSE:,}; use projected("nonnegative")',
            )
        roots = {k: np.sqrt(1 / np.where(w > 0, w, math.inf)) for k, w in weights.items()}
        answers = TableAnswers(release.terms.question, tables, roots, release.terms.size)
        row = answers.row(given)
        unit = 1.0 if norm == "noise" else release.error
        near = nearest_answers(row, answers, np.ones(row.size), rtol=rtol, unit=unit)
        how = (near.distance, near.gap, near.iterations, near.converged)
        values = answers.stack(near.point, given)
    distance, gap, count, converged = how
    return Projected(
        release=release,
        onto=onto,
        norm=norm,
        distance=distance,
        gap=gap,
        iterations=count,
        converged=converged,
        values=values,
        tables=tables,
    )
