# SPDX-License-Identifier: Apache-2.0
"""Plans and releases of several questions that share a budget, by name, and their files.

Questions on counts may be one question (`planning.merging`): their names have one plan, one release
and one file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, final

from lownoise.errors import FileError, PlanError, QuestionError, path_of, quoted
from lownoise.numbers.randomness import SystemRandomness
from lownoise.numbers.readable import html_table
from lownoise.planning.release_plan import Plan
from lownoise.privacy import PureDP
from lownoise.release import codec
from lownoise.release.execution import execute_together
from lownoise.release.members import Members, joint_event, once, write_members
from lownoise.release.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike
    from pathlib import Path

    from pandas import DataFrame

    from lownoise.privacy import Budget, Event, Payer
    from lownoise.release.change import Change
    from lownoise.release.progress import Listener
    from lownoise.sets.domains import AbstractDomain

_FEW = 0.1  # of an even share


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointPlan:
    """Plans that share a budget, by name; made by `ln.plan` of several questions.

    It is a mapping: `plan["pay"]` is the plan of one question, with its share of the budget.
    `error` is the total error. `release(table, ledger)` reads the table once and pays once.

    Args:
        plans: the plan of each question, with its share of the budget.
        budget: the budget of all together.
        shares: the share of each plan in μ² or ε; they add up to 1.
        importance: the weight of one unit of the error of each plan.
        apart: what `error` would be if no two questions were merged into one plan.
    """

    plans: Mapping[str, Plan]
    budget: Budget
    shares: Mapping[str, float]
    importance: Mapping[str, float]
    apart: float

    def __getitem__(self, name: str) -> Plan:
        """Return the plan of a question."""
        return self.plans[checked_question(name, self.plans)]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in order."""
        return iter(self.plans)

    def __len__(self) -> int:
        """Return how many questions there are."""
        return len(self.plans)

    @property
    def cost(self) -> Event:
        """The cost of all together, rounded up: one ledger entry."""
        return joint_event([own.terms for own in once(self.plans).values()])

    @property
    def error(self) -> float:
        """√Σ(importance·error)², with the errors that the mechanisms are compared by."""
        return math.hypot(
            *(self.importance[n] * own.terms.compared for n, own in self._each().values())
        )

    @property
    def even_error(self) -> float:
        """Approximately what `error` would be with even shares."""
        each, alone = self._each(), self._alone()
        power = self._power()
        return math.hypot(*(alone[n] * len(each) ** power for n, _ in each.values()))

    @property
    def even_importance(self) -> dict[str, float]:
        """The importances for which the shares would be about even; the smallest is 1."""
        one = {n: self.importance[n] / value for n, value in self._alone().items()}
        return {n: value / min(one.values()) for n, value in one.items()}

    def _power(self) -> float:
        """Return the power of a share that errors fall by."""
        return 1.0 if isinstance(self.budget, PureDP) else 0.5

    def _alone(self) -> dict[str, float]:
        """Return importance·error of each question, about, were the budget all its own."""
        return {
            n: self.importance[n] * own.terms.compared * self.shares[n] ** self._power()
            for n, own in self.plans.items()
        }

    def _small(self) -> str:
        """Return what the units of errors leave little of the budget, and what would be even.

        Nothing where somebody said how questions matter.
        """
        each, alone, power = self._each(), self._alone(), 1 / (self._power() + 0.5)
        every = math.fsum(alone[n] ** power for n, _ in each.values())
        few = _FEW / len(each)
        small = [
            f"{names} gets {100 * self.shares[n]:.2g}%"
            for names, (n, _) in each.items()
            if self.shares[n] < few and alone[n] ** power / every < few
        ]
        if not small or len(set(self.importance.values())) > 1:
            return ""
        even = {n: float(f"{value:.2g}") for n, value in self.even_importance.items()}
        return (
            f"{', '.join(small)} of the budget, as one unit of every question's error counts "
            f"alike; importance={even} would split it evenly"
        )

    def _each(self) -> dict[str, tuple[str, Plan]]:
        """Return each plan once, by the names of its questions in a row, and one of these."""
        return {", ".join(names): (names[0], own) for names, own in once(self.plans).items()}

    def __repr__(self) -> str:
        asked = "1 question" if len(self) == 1 else f"{len(self)} questions"
        return f"<JointPlan: {asked} under {self.budget}; error {self.error:.4g}>"

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            (names, f"{100 * self.shares[name]:.1f}%", f"{own.terms.compared:.4g}")
            for names, (name, own) in self._each().items()
        ]

    def _repr_html_(self) -> str:
        table = html_table(repr(self), [("question", "share", "error"), *self._rows()])
        return f"{table}<p>{escape(said)}</p>" if (said := self._small()) else table

    def __str__(self) -> str:
        each = self._rows()
        width = max(len("question"), *(len(names) for names, _, _ in each))
        rows = [f"{'question':<{width}}  share   error"]
        rows += [f"{names:<{width}}  {share:>5}   {error}" for names, share, error in each]
        total = f"total error {self.error:.4g}; with even shares {self.even_error:.4g}"
        if len(each) < len(self):
            total += f"; with a plan for each question {self.apart:.4g}"
        return "\n".join(filter(None, [repr(self), *rows, total, self._small()]))

    def save(self, path: str | PathLike[str]) -> None:
        """Write a new folder: every plan as its own, and `together.json`, which names them.

        Raises:
            FileError: where the folder exists or cannot be written.
        """
        split = {"shares": dict(self.shares), "importance": dict(self.importance)}
        write_members(_made(path), "plans", self.plans, self.budget, **split, apart=self.apart)

    @classmethod
    def load(
        cls, path: str | PathLike[str], domains: Mapping[str, AbstractDomain] | None = None
    ) -> JointPlan:
        """Return what `save` wrote.

        Args:
            path: the folder.
            domains: by name, the domains that are programs (`ln.Oracle`), which files do not hold.

        Raises:
            FileError: where it is no such folder, is damaged, or its plans reveal more together
                than the budget, or have different relations.
        """
        return codec.guarded(lambda: cls._read(Members.of(path), domains or {}))

    @classmethod
    def _read(cls, members: Members, domains: Mapping[str, AbstractDomain]) -> JointPlan:
        read = {
            place: Plan.load(members.folder / place, domains.get(names[0]))
            for place, names in members.by_place("plans").items()
        }
        members.check({place: own.terms for place, own in read.items()})
        return cls(
            {name: read[place] for name, place in members.places.items()},
            members.budget,
            members.statement("shares"),
            members.statement("importance"),
            members.statement("apart"),
        )

    def release(
        self,
        table: Any,  # noqa: ANN401
        ledger: Payer | None = None,
        *,
        progress: Listener | None = None,
    ) -> JointRelease:
        """Read the table, add the noise, and return all answers; one ledger entry pays for them.

        The spend is reserved before the table is read. No noise is drawn before the table has been
        read for every question.

        Args:
            table: as of `Plan.release`; its rows are read once for all questions.
            ledger: the account that pays.
            progress: as of `Plan.release`.

        Raises:
            FileError, LedgerError, TableError, EngineError, PlanError: as `Plan.release`.
        """
        each = once(self.plans)
        made = execute_together(
            [own.terms for own in each.values()],
            table,
            ledger,
            event=self.cost,
            asked=self.budget,
            randomness=SystemRandomness(),
            progress=progress,
        )
        found = {name: own for names, own in zip(each, made, strict=True) for name in names}
        return JointRelease({name: found[name] for name in self.plans}, self.budget)


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointRelease:
    """Answers to several questions that share a budget, by name.

    It is a mapping: `release["pay"]` is the `Release` of one question. `to_pandas()` has one table
    per question, by name. `release["pay"].export(path)` writes one to a file, and `later - earlier`
    has the change of each.

    Args:
        releases: of each question.
        budget: what all may reveal.
    """

    releases: Mapping[str, Release]
    budget: Budget

    def __getitem__(self, name: str) -> Release:
        """Return the answers to a question."""
        return self.releases[checked_question(name, self.releases)]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in order."""
        return iter(self.releases)

    def __len__(self) -> int:
        """Return how many questions there are."""
        return len(self.releases)

    def __sub__(self, earlier: JointRelease) -> dict[str, Change]:
        """Return what the answers to each question changed by since an earlier release, by name.

        Raises:
            PlanError: where the earlier one is of no several questions.
            QuestionError: where it is of others, or a question has no change (`Release`).
        """
        if type(earlier) is not type(self):
            given = type(earlier).__name__
            raise PlanError(f"earlier={given} is no release of several questions; give one")
        if {*self} != {*earlier}:
            asked = " and ".join(quoted(", ".join(own)) for own in (self, earlier))
            raise QuestionError(f"releases answer {asked}; subtract those of one name")
        return {name: own - earlier[name] for name, own in self.releases.items()}

    @property
    def cost(self) -> Event:
        """The cost of all together, rounded up."""
        return joint_event([own.terms for own in once(self.releases).values()])

    def __repr__(self) -> str:
        return f"<JointRelease: {', '.join(self.releases)} under {self.budget}>"

    def __str__(self) -> str:
        each: str = import_module("lownoise.report.sections").printed_together(self.releases)
        return f"{self!r}\n\n{each}"

    def _repr_html_(self) -> str:
        return html_table(repr(self), [(name, repr(own)) for name, own in self.releases.items()])

    def export(self, path: str | PathLike[str]) -> NoReturn:
        """Raise an error: each question has its own table, which its release exports.

        Raises:
            PlanError: always.
        """
        raise PlanError(
            f"file={path} holds one table, and these are answers to {len(self)} questions; export "
            f"each, as release[{next(iter(self))!r}].export(path)"
        )

    def to_pandas(self, level: float = 0.95) -> dict[str, DataFrame]:
        """Return the answers to each question as a table, by its name, as its release shows it.

        Args:
            level: with which each interval covers.

        Raises:
            PlanError: where the level is out of range.
        """
        return {name: own.to_pandas(level=level) for name, own in self.releases.items()}

    def save(self, path: str | PathLike[str]) -> None:
        """Write a new folder: every release as its own, and `together.json`, which names them.

        Raises:
            FileError: where the folder exists or cannot be written.
        """
        self.write(_made(path))

    def write(self, folder: Path) -> None:
        """Write the files of `save` into an empty folder.

        Raises:
            FileError: where one cannot be written.
        """
        write_members(folder, "releases", self.releases, self.budget)

    @classmethod
    def load(
        cls, path: str | PathLike[str], domains: Mapping[str, AbstractDomain] | None = None
    ) -> JointRelease:
        """Return what `save` wrote.

        Args:
            path: the folder.
            domains: by name, the domains that are programs (`ln.Oracle`), which files do not hold.

        Raises:
            FileError: where it is no such folder, is damaged, or its releases reveal more together
                than the budget, or have different relations or entries of a ledger.
        """
        return codec.guarded(lambda: cls._read(Members.of(path), domains or {}))

    @classmethod
    def _read(cls, members: Members, domains: Mapping[str, AbstractDomain]) -> JointRelease:
        read = {
            place: Release.load(members.folder / place, domains.get(names[0]))
            for place, names in members.by_place("releases").items()
        }
        members.check({place: own.terms for place, own in read.items()})
        if len({own.spend for own in read.values()}) > 1:
            raise FileError("releases were not paid by one entry; they are not of one publication")
        return cls({n: read[place] for n, place in members.places.items()}, members.budget)


def _made(path: str | PathLike[str]) -> Path:
    folder = path_of(path, "folder")
    try:
        folder.mkdir()
    except OSError as error:
        raise FileError(
            f"folder={folder} cannot be made ({error.strerror}); give a new one"
        ) from None
    return folder


def checked_question(name: str, among: Mapping[str, Any]) -> str:
    """Return the name of a question.

    Raises:
        PlanError: where there is none of that name.
    """
    if not isinstance(name, str) or name not in among:
        raise PlanError(f"question={quoted(name)} is unknown; give one of {', '.join(among)}")
    return name
