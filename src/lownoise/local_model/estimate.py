# SPDX-License-Identifier: Apache-2.0
"""What reports say together: exact sums, and all that follows from them and the plan."""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError, quoted
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.release import codec
from lownoise.release.answer_table import AnswerTable
from lownoise.release.readable import Shown
from lownoise.release.regions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import Protocol

    from pandas import DataFrame

    from lownoise.local_model.encoder import AbstractEncoder
    from lownoise.local_model.randomizer import AbstractRandomizer
    from lownoise.numbers.arrays import Vector

    class Planned(Protocol):
        """What a plan has, and a tally."""

        @property
        def encoder(self) -> AbstractEncoder:
            """From records to integers, and from estimates to answers."""

        @property
        def randomizer(self) -> AbstractRandomizer:
            """From those integers to a report."""

        @property
        def digest(self) -> str:
            """Its SHA-256, 64 hexadecimal digits."""


_FIELDS = {"format", "plan", "count", "sums", "met", "derived", "digest"}
_NEAR = 1e-9  # of floats that another machine computed


@final
@readable
@dataclass(frozen=True)
class Met:
    """How many reports were not counted as they were, of those that were given.

    Args:
        malformed: dropped, for they were no reports.
        clipped: counted after integers were moved into their ranges.
        foreign: dropped, for they were of another plan.
        duplicates: dropped, for they came after one of the same identifier.
        replays: identifiers whose reports differed: the first one of each is dropped, too. So what
            was given is what counts, malformed, foreign, duplicates and replays together.
    """

    malformed: int = 0
    clipped: int = 0
    foreign: int = 0
    duplicates: int = 0
    replays: int = 0

    def __add__(self, other: Met) -> Met:
        return Met(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LocalEstimate(Shown):
    """The mean of people's records, or the shares of their labels, as their reports say it.

    It is unbiased for the people who reported, whoever they are; of those who did not it says
    nothing. Whoever sends reports can move it: one report of any kind by `influence`, and k of them
    by k times that, if each has an identifier of its own. No collector can tell a poisoned report
    from an honest one: that is what local privacy means.

    Args:
        encoder: of the plan.
        randomizer: of the plan.
        digest: of the plan, 64 hexadecimal digits.
        count: n, how many reports count.
        sums: what the randomizer sums of them, exact.
        met: how many reports were not counted as they were.

    Raises:
        PlanError: where no report counts.
    """

    encoder: AbstractEncoder
    randomizer: AbstractRandomizer
    digest: str
    count: int
    sums: tuple[int, ...]
    met: Met

    def __post_init__(self) -> None:
        if self.count < 1:
            raise PlanError("reports has no report that counts; give reports of this plan")

    @property
    def names(self) -> Sequence[str]:
        """What each answer is called, m of them."""
        return self.encoder.names

    @cached_property
    def estimate(self) -> Vector:
        """The answers, shape (m,)."""
        return frozen(self.encoder.decode(self.randomizer.mean(self._sums, self.count)))

    @property
    def covariance(self) -> Vector:
        """An estimate of the answers' covariance, shape (m, m), formed on request.

        It counts how people differ, too, as where they are drawn at random; of the people who
        reported it is a little too large.

        Raises:
            PlanError: where only one report counts.
        """
        if self.count < 2:  # noqa: PLR2004
            raise PlanError("covariance cannot be estimated from one report; give more reports")
        A, own = self.encoder.answers, self.randomizer.covariance(self._sums, self.count)
        if A.ndim == 1:
            return frozen(A[:, None] * own * A)
        return frozen(A @ own @ A.T)

    @cached_property
    def standard_deviation(self) -> Vector:
        """The square roots of its diagonal, shape (m,), without forming it.

        Of one report alone the greatest over all records, which `greatest_deviation` has of any
        number.
        """
        if self.count == 1:
            return self.greatest_deviation
        return self.randomizer.deviations(self._sums, self.count, self.encoder.answers)

    @cached_property
    def greatest_deviation(self) -> Vector:
        """At least each answer's standard deviation for these people, whoever they are; (m,)."""
        return frozen(np.sqrt(self.randomizer.variances(self.encoder.answers) / self.count))

    @cached_property
    def influence(self) -> Vector:
        """At least how far one report, honest or not, moves each answer, shape (m,).

        With any other report in its place; k reports by k times that.
        """
        return frozen(self.randomizer.influence(self.encoder.answers) / self.count)

    def interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each answer's exact value of these people, shape (m, 2).

        It covers with chance `level` over the reports, approximately: by the central limit theorem.
        It is wider than that asks for by what one report can do, as where few reports are all
        alike: z deviations and z²/6 influences (Bernstein's inequality has that form), z being the
        normal quantile; the deviation is the estimated one with z influences for its own error, or
        the greatest, whichever is less. Chebyshev's inequality, which needs no approximation, ends
        it at 1/√(1 − level) greatest deviations. It says nothing of how people were chosen.

        Args:
            level: between 0 and 1.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        z = normal_quantile(level)
        estimated = self.standard_deviation + z * self.influence
        deviation = np.minimum(estimated, self.greatest_deviation)
        most = self.greatest_deviation / math.sqrt(1 - level)
        width = np.minimum(z * deviation + z**2 / 6 * self.influence, most)
        return frozen(np.stack([self.estimate - width, self.estimate + width], axis=1))

    def to_pandas(self, level: float = 0.95) -> DataFrame:
        """Return a row an answer: its name, estimate, deviation and interval.

        Raises:
            PlanError: where pandas is not installed, or the level is not between 0 and 1.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise PlanError("pandas is not installed; install it, or read estimate") from None
        ends = self.interval(level)
        columns = {
            "estimate": self.estimate,
            "standard_deviation": self.standard_deviation,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
            "influence": self.influence,
        }
        return DataFrame(columns, index=list(self.names))

    def export(
        self,
        path: str | PathLike[str],
        *,
        level: float = 0.95,
        separator: str | None = None,
        decimal: str = ".",
    ) -> None:
        """Write the answers as a table, as `Release.export` does: .csv, .parquet or .json.

        Raises:
            PlanError: where the level is not between 0 and 1.
            FileError: where the ending is another, or the file cannot be written.
        """
        low, high = self.interval(level).T
        AnswerTable.of_answers(
            {"answer": self.names},
            (self.estimate, low, high, self.standard_deviation),
            called=("answer", "estimate", "the answer’s unit"),
            chance=f"about {level:g}",
        ).export(path, separator=separator, decimal=decimal)

    @property
    def _sums(self) -> Any:  # noqa: ANN401 (Python integers)
        return np.array(self.sums, dtype=object)

    def derived(self) -> dict[str, Any]:
        """Return what follows from sums and plan, as JSON values: what a file states too."""
        return {
            "estimate": self.estimate.tolist(),
            "standard_deviation": self.standard_deviation.tolist(),
            "influence": self.influence.tolist(),
        }

    def to_json(self) -> str:
        """Return it as JSON, versioned: the exact sums, and what follows from them and the plan."""
        return codec.dump(
            "estimate",
            {
                "plan": self.digest,
                "count": self.count,
                "sums": [str(own) for own in self.sums],
                "met": asdict(self.met),
                "derived": self.derived(),
            },
        )

    @classmethod
    def from_json(cls, text: str, plan: Planned) -> LocalEstimate:
        """Return the estimate that `to_json` wrote, with its plan; answers are computed again.

        Args:
            text: the document.
            plan: the local plan that the reports answered.

        Raises:
            FileError: where the text is no estimate of a version that is known, or of another plan,
                or states what does not follow from its sums.
        """
        return codec.guarded(lambda: cls._read(codec.load("estimate", text), plan))

    @classmethod
    def _read(cls, fields: dict[str, Any], plan: Planned) -> LocalEstimate:
        if fields.keys() != _FIELDS:
            raise FileError("estimate has other fields than it is written with")
        if fields["plan"] != plan.digest:
            raise FileError(f"plan={quoted(fields['plan'])} is another one; give the plan of it")
        sums = tuple(int(own) for own in fields["sums"])
        met = Met(**fields["met"])
        shape = plan.randomizer.sums(np.zeros((0, plan.randomizer.lowest.size), dtype=np.int64))
        if fields["sums"] != [str(own) for own in sums] or len(sums) != len(shape):
            raise FileError(f"sums are not {len(shape):,} whole numbers, as they are written")
        if not all(map(_is_count, [fields["count"], *asdict(met).values()])):
            raise FileError("count or met is no number of reports")
        found = cls(
            encoder=plan.encoder,
            randomizer=plan.randomizer,
            digest=plan.digest,
            count=fields["count"],
            sums=sums,
            met=met,
        )
        found._expect_derived(fields["derived"])
        return found

    def _expect_derived(self, stated: dict[str, Any]) -> None:
        """Refuse a statement that does not follow from the sums."""
        own = self.derived()
        if not isinstance(stated, dict) or stated.keys() != own.keys():
            raise FileError("derived has not the fields of an estimate")
        for name, values in own.items():
            given = np.asarray(stated[name], dtype=np.float64)
            scale = max(map(abs, values), default=0.0)
            if given.shape != (len(values),) or not np.all(np.abs(given - values) <= _NEAR * scale):
                raise FileError(f"derived.{name} does not follow from the sums")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
