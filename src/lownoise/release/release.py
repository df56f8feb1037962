# SPDX-License-Identifier: Apache-2.0
"""A release: terms, integers and who paid; all else follows from these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.numbers.arrays import frozen
from lownoise.questions import AbstractGrouped, Marginals, Mean
from lownoise.release import codec, folders, stored
from lownoise.release.codec import Origin, Spend
from lownoise.release.distributions import Counted
from lownoise.release.groups import Groups
from lownoise.release.marginal_answers import MarginalAnswers
from lownoise.release.moments import moments_of
from lownoise.release.readable import Guaranteed, in_brackets
from lownoise.release.regions import Ratios, ratio, within_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.change import Change
    from lownoise.release.groups import GroupTable
    from lownoise.release.marginals import Cell
    from lownoise.release.nearest import Projected
    from lownoise.release.regions import Region
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Release(Guaranteed, Counted):
    """Answers that may be published, with their error, proof and cost.

    `to_pandas()` is a table with intervals. `estimate` has the answers in the order of the
    question: means by column, or sums and the count, whose ratio is `mean`; linear queries;
    parities. Use `release["age", "sex"]` for counts by attributes, and `groups` for groups.

    Args:
        terms: what was guaranteed.
        integers: the release itself, in grid steps; all else follows from it and the terms. For
            marginals an array, in memory or on disk.
        spend: the ledger entry that paid; None if nothing was recorded.
        created: the time (UTC, ISO 8601).
        versions: of Python, numpy and lownoise.
    """

    terms: Terms
    integers: tuple[int, ...] | Integers
    spend: Spend | None
    created: str
    versions: dict[str, str]

    @property
    def recorded(self) -> bool:
        """Whether a ledger recorded the spend."""
        return self.spend is not None

    @cached_property
    def estimate(self) -> Vector:
        """The answers in their units, shape (m,): in the order of the question.

        Raises:
            PlanError: where marginals were asked for.
        """
        found: Vector = self.terms.mechanism.answers(self.integers)
        return found

    def interval(self, *names: Any, level: float = 0.95) -> Any:  # noqa: ANN401
        """Return an interval for each answer on the table, shape (m, 2): lower, upper.

        Each covers the exact value with probability `level` over the noise. It does not include
        sampling error.

        Args:
            names: for marginals, the attributes' names; then two arrays of the marginal's shape
                are returned. Otherwise the level may be given here.
            level: between 0 and 1.

        Raises:
            PlanError: where `level` is not between 0 and 1.
            QuestionError: where a marginal does not follow from what was released.
        """
        if isinstance(self.terms.question, Marginals):
            return self._marginals.interval(*names, level=level)
        if len(names) > 1:
            raise PlanError("interval takes names for marginals only; give the level")
        return self._around(self.terms.proof.half_widths(*(names or (level,))))

    def simultaneous_interval(self, level: float = 0.95) -> Vector:
        """Return intervals that cover all exact values together, shape (m, 2): lower, upper.

        All of them hold with chance at least `level`.

        Raises:
            PlanError: where `level` is not between 0 and 1, or marginals were asked for.
        """
        return self._around(self.terms.proof.joint_half_widths(level))

    def _around(self, width: Vector) -> Vector:
        return frozen(np.stack([self.estimate - width, self.estimate + width], axis=1))

    def region(self, level: float = 0.95) -> Region:
        """Return the smallest ellipsoid that covers the exact values with probability `level`.

        Raises:
            PlanError: where `level` is not between 0 and 1, or the noise is no Gaussian.
        """
        return self.terms.proof.region(self.estimate, level)

    @property
    def mean(self) -> Vector:
        """The mean of each column, shape (d,).

        Under `substitute` it is the estimate. Under `add_remove` it is center + sum/count, which is
        post-processing and not exactly unbiased; NaN if the noisy count is not positive.

        Raises:
            PlanError: where the question was no mean.
        """
        question = self._means
        if self.terms.size is not None:
            return self.estimate
        return ratio(self.estimate, question.center)

    def mean_interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each column's mean, shape (d, 2): lower, upper.

        Under `add_remove` it is Fieller's interval: all θ that sum − θ·count, whose noise has the
        variance σ_s² − 2θσ_sc + θ²σ_c², does not exclude. It covers with probability `level` (with
        pure noise at least that) and is cut to the column's bounds. If the count may be zero, it is
        unbounded, and the bounds are returned.

        Raises:
            PlanError: where `level` is not between 0 and 1, or the question was no mean.
        """
        question = self._means
        public = self.terms.size is not None
        return self.interval(level) if public else self._ratios(question, level)

    def simultaneous_mean_interval(self, level: float = 0.95) -> Vector:
        """Return intervals that cover all columns' means together, shape (d, 2): lower, upper.

        As `mean_interval`, by Šidák's inequality for the d normal numbers sum − θ·count; with pure
        noise each at its share of the chance to miss.

        Raises:
            PlanError: as `mean_interval`.
        """
        question = self._means
        if self.terms.size is not None:
            return self.simultaneous_interval(level)
        return self._ratios(question, level, len(question.columns))

    def _ratios(self, question: Mean, level: float, together: int = 1) -> Vector:
        radius = self.terms.proof.ratio_quantile(level, together)
        return within_bounds(question, self.ratios.interval(radius))

    @property
    def ratios(self) -> Ratios:
        """What means are made of, about the center: the sums, and the count that is private."""
        own, _ = self.terms.mechanism, self._means
        return Ratios.of(self.estimate, *own.answer_scales(own.totals.embed))

    @property
    def moments(self) -> Any:  # noqa: ANN401 (`MomentAnswers`, or by groups `MomentGroups`)
        """Variances, covariances, correlations and least squares, computed from the moments.

        Raises:
            PlanError: where the question was not `ln.Moments`.
        """
        return moments_of(self.terms, lambda: self.estimate, self.integers)

    @property
    def _means(self) -> Mean:
        question = self.terms.question
        if not isinstance(question, Mean):
            raise PlanError("mean is for columns; use groups(…) for groups, or estimate")
        return question

    def groups(self, *names: str, level: float = 0.95) -> GroupTable:
        """Return the counts, sums and means of the groups of one margin; for `ln.Sum` only totals.

        Args:
            names: the attributes that define the groups, of any margin that follows; none for
                all rows. Groups are in the question's order.
            level: the probability, over the noise, with which each mean's interval covers.

        Raises:
            QuestionError, PlanError: as `marginal`; where the level is out of range.
        """
        if not isinstance(self.terms.question, AbstractGrouped):
            raise PlanError("groups need a question with by=, as ln.Mean(…, by=…); use estimate")
        return Groups(self.terms, self.integers).table(names, level)

    @cached_property
    def _marginals(self) -> MarginalAnswers:
        if not isinstance(self.terms.question, Marginals):
            raise PlanError("counts and quantiles need ln.Marginals, ln.Count or ln.Distribution")
        return MarginalAnswers(self.terms, np.asanyarray(self.integers))

    def __getitem__(self, names: str | tuple[str, ...]) -> Vector:
        """Return the counts by these attributes: `marginal`."""
        return self.marginal(*in_brackets(names))

    def marginal(self, *names: str) -> Vector:
        """Return the counts by these attributes, one axis each in the order of the names.

        Args:
            names: of attributes; none for the number of rows, an array of shape ().

        Raises:
            QuestionError: where a name is unknown or the marginal does not follow from what was
                released.
            PlanError: where the question was not of marginals.
        """
        return self._marginals.marginal(*names)

    def answers(self, *names: str) -> Vector:
        """Return the answers for the marginal of these attributes, one axis each.

        Along an ordered attribute: with "prefix" the counts up to each cell, with "range" the
        counts of the ranges [i … j], ordered by i, then j. Along other attributes: the cells.

        Raises:
            QuestionError, PlanError: as `marginal`.
        """
        return self._marginals.answers(*names)

    def marginals(self) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """Yield every marginal that was asked for: names, and counts of shape (n, …).

        A few at a time: nothing but the released integers is held.

        Raises:
            PlanError: where the question was not of marginals.
        """
        return self._marginals.marginals()

    def total(self, cells: Sequence[Cell]) -> tuple[float, float]:
        """Return a sum of cells of any marginals, and the standard deviation of its noise.

        Args:
            cells: of each, names of a marginal's attributes and the number of a cell of each.

        Raises:
            QuestionError: where one of them does not exist or does not follow from what was asked.
            PlanError: where the question was not of marginals.
        """
        return self._marginals.total(cells)

    def projected(
        self, onto: str | None = None, *, norm: str = "noise", rtol: float = 1e-4
    ) -> Projected:
        """Return the nearest answers that a table can have: biased, and at no cost of privacy.

        "domain" projects onto the answers of all tables, with fractional rows: for means the hull
        of the domain, for sums and the count its cone, for counts those of all records.
        "nonnegative", for marginals only, projects onto consistent marginals without negative
        cells. It is faster, and no table need have these answers. A public total is kept.

        In the norm of the noise, √((x − y)ᵀΣ⁻¹(x − y)), the result has the highest likelihood under
        Gaussian noise. In the Euclidean norm, with the weights of the error, it is never farther
        from the truth than the release.

        Args:
            onto: "domain" or "nonnegative", which is the default for marginals.
            norm: "noise" or "euclidean".
            rtol: the distance to the projection, relative to that of the release. `gap` states the
                one that was attained.

        Raises:
            PlanError: if an argument is out of range, there are too many answers, or extreme
                records of the domain cannot be found.

        Examples:
            >>> import numpy as np
            >>> import pandas as pd
            >>> import lownoise as ln
            >>> plan = ln.plan(ln.Marginals({"a": 9, "b": 9}, way=2), budget=ln.zcdp(0.01),
            ...                relation="add_remove")
            >>> rows = np.arange(30)
            >>> release = plan.release(pd.DataFrame({"a": rows % 9, "b": rows % 5}))
            >>> better = release.projected()
            >>> bool(np.all(better["a", "b"] >= 0))
            True
        """
        found: Projected = import_module("lownoise.release.nearest").projected(
            self, onto, norm=norm, rtol=rtol
        )
        return found

    def __sub__(self, earlier: Release) -> Change:
        """Return what answers changed by since an earlier release of the same question."""
        return cast("Change", import_module("lownoise.release.change").Change(self, earlier))

    def derived(self) -> dict[str, Any]:
        """Return what follows from terms and integers, as JSON values: what a file states too."""
        found = stored.derived(self.terms)
        if not isinstance(self.terms.question, Marginals):
            found["estimate"] = self.estimate.tolist()
        return found

    def _document(self, integers: Any) -> str:  # noqa: ANN401 (texts, or where they lie)
        return codec.dump(
            "release",
            {
                "terms": stored.terms_to_dict(self.terms),
                "integers": integers,
                **Origin(self.spend, self.created, self.versions).to_dict(),
                "derived": self.derived(),
            },
        )

    def to_json(self) -> str:
        """Return the release as JSON, versioned; `from_json` reads it back exactly.

        Raises:
            FileError: where the question was of marginals, whose integers are an array: save it.
        """
        if isinstance(self.terms.question, Marginals):
            raise FileError("a release of marginals is a folder; use save(path) and load(path)")
        return self._document([str(k) for k in self.integers])

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the release, all of it or nothing: `to_json` to a file; marginals to a new folder.

        Args:
            path: of the file or the new folder.
            overwrite: whether another release in this file may be replaced, and what it cost lost;
                a folder, a ledger and a stream are never replaced.

        Raises:
            FileError: where it cannot be written, or what is there would be lost.
        """
        if isinstance(self.terms.question, Marginals):
            folders.save(self._document, np.asarray(self.integers), path)
        else:
            codec.write(path, self.to_json(), overwrite=overwrite)

    @classmethod
    def from_json(cls, text: str, domain: AbstractDomain | None = None) -> Release:
        """Return the release that `to_json` wrote.

        Args:
            text: the document.
            domain: the set, if it is or contains an `ln.Oracle`, which files do not hold.

        Raises:
            FileError: where the text is no release of a version that is known.
        """
        return codec.guarded(lambda: cls._read(codec.load("release", text), domain, None))

    @classmethod
    def load(cls, path: str | PathLike[str], domain: AbstractDomain | None = None) -> Release:
        """Return the release in a file, or in a folder, whose integers stay on disk until read.

        Args:
            path: of the file or the folder.
            domain: as of `from_json`.

        Raises:
            FileError: where it is no release of a version that is known, or is damaged.
        """
        text, folder = folders.read_document(path), folders.document_at(path).parent
        return codec.guarded(lambda: cls._read(codec.load("release", text), domain, folder))

    @classmethod
    def _read(
        cls, fields: dict[str, Any], domain: AbstractDomain | None, path: Path | None
    ) -> Release:
        terms, origin = stored.terms_from_dict(fields["terms"], domain), Origin.from_dict(fields)
        integers = folders.released_integers(terms, fields, path)
        terms.mechanism.check_released(integers)
        return cls(
            terms=terms,
            integers=integers,
            spend=origin.spend,
            created=origin.created,
            versions=origin.versions,
        )
