# SPDX-License-Identifier: Apache-2.0
"""What the collector of reports keeps: exact sums, and which reports have been counted.

Whatever the order, the batches and the merges, the sums are the same integers, and so is all that
follows from them. What is no report of the plan, or came before, is refused or dropped as the
collector has declared; a report is judged by itself alone, and repeated ones by each other.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from lownoise.errors import FileError, PlanError, quoted
from lownoise.local_model.document import check_fit
from lownoise.local_model.estimate import LocalEstimate, Met
from lownoise.local_model.intake import blocks
from lownoise.local_model.report import ReportFormat, shortened
from lownoise.local_model.seen import Seen, run_of, smallest
from lownoise.numbers.readable import number_of, readable

if TYPE_CHECKING:
    from lownoise.local_model.encoder import AbstractEncoder
    from lownoise.local_model.randomizer import AbstractRandomizer
    from lownoise.local_model.report import Reports
    from lownoise.local_model.seen import Repeats
    from lownoise.numbers.arrays import Chosen, Integers

_HELD = 1 << 18  # numbers of reports that are summed at once
_CHOICES = {
    "malformed": ("refuse", "drop", "clip"),
    "duplicates": ("refuse", "drop"),
    "replays": ("refuse", "drop"),
    "foreign": ("refuse", "drop"),
}


@final
@readable
@dataclass(frozen=True)
class Policies:
    """What becomes of reports that cannot be counted as they are.

    "refuse" raises one error, and nothing of what was given is counted; "drop" leaves them out and
    says how many they were.

    Args:
        malformed: of another shape, not of integers, or out of the randomizer's ranges; "clip"
            moves integers that are out of their ranges to the nearest end, and drops what is no
            report even then.
        duplicates: with the identifier of an earlier one and the same values; dropped, the first
            counts.
        replays: with the identifier of another one and other values; dropped, none of them counts.
            That the first one should would make the answer depend on the order.
        foreign: that name another plan.

    Raises:
        PlanError: where one of them is unknown.
    """

    malformed: Literal["refuse", "drop", "clip"] = "refuse"
    duplicates: Literal["refuse", "drop"] = "refuse"
    replays: Literal["refuse", "drop"] = "refuse"
    foreign: Literal["refuse", "drop"] = "refuse"

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value not in _CHOICES[name]:
                known = ", ".join(map(repr, _CHOICES[name]))
                raise PlanError(f"{name}={quoted(value)} is unknown; give one of {known}")


@final
@dataclass(eq=False, repr=False)
class Tally:
    """The running state of who collects reports; not safe for threads, but for merging.

    It takes 17 bytes a report, and its values in the smallest integers that hold them where
    repeated ones are dropped. What stands there is of reports alone, which are public.

    Args:
        encoder: of the plan.
        randomizer: of the plan.
        digest: of the plan, 64 hexadecimal digits.
        policies: what becomes of reports that cannot be counted as they are.

    Raises:
        FileError: where the encoder and the randomizer do not fit.
    """

    encoder: AbstractEncoder
    randomizer: AbstractRandomizer
    digest: str
    policies: Policies = field(default_factory=Policies)
    _count: int = field(default=0, init=False)
    _sums: Any = field(init=False)
    _met: Met = field(default_factory=Met, init=False)
    _seen: Seen = field(default_factory=Seen, init=False)

    def __post_init__(self) -> None:
        check_fit(self.encoder, self.randomizer)
        self._sums = self._summed(np.zeros((0, self.randomizer.lowest.size), dtype=np.int64))

    def __repr__(self) -> str:
        return f"<Tally: {number_of(self._count, 'report')} of plan {shortened(self.digest)}>"

    @property
    def count(self) -> int:
        """How many reports count so far."""
        return self._count

    @property
    def met(self) -> Met:
        """How many were not counted as they were."""
        return self._met

    @property
    def kept(self) -> int:
        """How many bytes each report takes here."""
        return 17 + self._width * np.dtype(self._kind).itemsize

    def add(self, reports: Any) -> None:  # noqa: ANN401 (any frame)
        """Count more reports: all that are given, or where it raises none.

        Args:
            reports: one report, or many: `Report` objects, their bytes or lines of JSON, in any
                iterable; columns (`Reports`); a table with columns plan, report, v0, v1, … as
                `lownoise.engines.opening.opened` takes it, or an `AbstractSource`; the path of a
                ".jsonl" file of such lines, or of a ".reports" file of bytes.

        Raises:
            FileError: where a policy refuses a report, or what is given holds no reports or cannot
                be read.
            TableError: where a table cannot be opened or lacks a column.
            EngineError: where reading its rows failed.
        """
        part = Tally(self.encoder, self.randomizer, self.digest, self.policies)
        form = ReportFormat.of(self.digest, self.randomizer)
        start, found = 0, []
        for block in blocks(reports, form):
            found.append(part._take(block, start))
            start += len(block.formed)
        part._settle(found)
        self.merge(part)

    def merge(self, other: Tally) -> None:
        """Count what another tally of the same plan counted, which stays as it is.

        Raises:
            PlanError: where it is of another plan, or has other policies.
            FileError: where reports are in both, and a policy refuses that; nothing is changed.
        """
        if other.digest != self.digest or other.policies != self.policies:
            raise PlanError(
                f"other={other!r} is of another plan or has other policies than {self!r}; "
                "merge tallies that are made alike"
            )
        run = other._seen.all(self._width, self._kind)
        repeats, new, marks = self._seen.repeats(run)
        self._expect_no(repeats)
        self._sums = self._sums + other._sums
        self._count += other.count
        self._met += other.met
        self._take_back(repeats)
        self._seen.add(run, new, marks)

    def result(self) -> LocalEstimate:
        """Return what the reports say so far.

        Raises:
            PlanError: where none was counted.
        """
        return LocalEstimate(
            encoder=self.encoder,
            randomizer=self.randomizer,
            digest=self.digest,
            count=self._count,
            sums=tuple(self._sums.tolist()),
            met=self._met,
        )

    @property
    def _width(self) -> int:
        """How many values of each report are kept: all where one may be taken back, else none."""
        kept = "drop" in (self.policies.duplicates, self.policies.replays)
        return int(self.randomizer.lowest.size) if kept else 0

    @property
    def _kind(self) -> type[np.signedinteger]:
        return smallest(self.randomizer.lowest, self.randomizer.highest)

    def _summed(self, values: Integers) -> Any:  # noqa: ANN401 (Python integers)
        """Return the sums of reports, exact, shape (T,)."""
        step = max(_HELD // max(values.shape[1], 1), 1)
        found: Any = 0
        for start in range(0, max(len(values), 1), step):
            part = self.randomizer.sums(values[start : start + step].astype(np.int64))
            array = isinstance(part, np.ndarray)  # of numpy's integers, which become Python's
            found = found + (part.astype(object) if array else np.array([*part], dtype=object))
        return found

    def _take(self, block: Reports, start: int) -> tuple[Any, Any, Integers]:
        """Sum the reports of a block that count; return their identifiers and values."""
        others = ~block.own
        formed = block.formed & block.own
        self._expect("foreign", others, start, "is not of plan")
        values, changed = block.values, np.zeros(len(formed), dtype=np.bool_)
        allowed = formed & self.randomizer.allowed(values)
        if self.policies.malformed == "clip" and not np.all(allowed):
            clipped = np.clip(values, self.randomizer.lowest, self.randomizer.highest)
            changed = formed & np.any(clipped != values, axis=1)
            values = clipped
            allowed = formed & self.randomizer.allowed(values)
        else:
            wrong = block.own & ~allowed
            self._expect("malformed", wrong, start, "is malformed or out of the ranges of plan")
        self._met += Met(
            malformed=int(np.sum(block.own & ~allowed)),
            clipped=int(np.sum(changed & allowed)),
            foreign=int(np.sum(others)),
        )
        values, identifiers = values[allowed], block.identifiers[allowed]
        self._count += len(values)
        self._sums = self._sums + self._summed(values)
        return identifiers[:, 0], identifiers[:, 1], values[:, : self._width].astype(self._kind)

    def _expect(self, name: str, wrong: Chosen, start: int, what: str) -> None:
        """Refuse reports that are wrong, where the policy says so."""
        if asdict(self.policies)[name] == "refuse" and np.any(wrong):
            first = start + int(np.argmax(wrong))
            raise FileError(
                f"reports[{first}] {what} {shortened(self.digest)}, and nothing was counted; "
                f"leave it out, or use {name}='drop'"
            )

    def _settle(self, found: list[tuple[Any, Any, Integers]]) -> None:
        """Take back what came more than once among all that was taken."""
        if not found:
            return
        run, repeats = run_of(*(np.concatenate(column) for column in zip(*found, strict=True)))
        self._expect_no(repeats)
        self._take_back(repeats)
        self._seen.runs.append(run)

    def _take_back(self, repeats: Repeats) -> None:
        """Undo what was counted of reports that came more than once."""
        if repeats.surplus:
            self._count -= len(repeats.back)
            self._sums = self._sums - self._summed(repeats.back)
            self._met += Met(duplicates=repeats.surplus, replays=repeats.contested)

    def _expect_no(self, repeats: Repeats) -> None:
        """Refuse reports that came more than once, where the policies say so."""
        if repeats.surplus and not self._width:
            raise FileError(
                f"reports has {number_of(repeats.surplus, 'report')} whose identifier came before, "
                "and nothing was counted; leave them out, or use duplicates='drop' where they are "
                "alike and replays='drop' where they are not"
            )
        if repeats.contested and self.policies.replays == "refuse":
            raise FileError(
                f"reports has {number_of(repeats.contested, 'identifier')} with different values, "
                "and nothing was counted; leave them out, or use replays='drop'"
            )
        if repeats.alike and self.policies.duplicates == "refuse":
            raise FileError(
                f"reports has {number_of(repeats.surplus, 'report')} that came before, and nothing "
                "was counted; leave out what came twice, or use duplicates='drop'"
            )
