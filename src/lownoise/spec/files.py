# SPDX-License-Identifier: Apache-2.0
"""A specification file, and a file that declares a domain alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast, final

from pydantic import Field, PlainValidator, ValidationInfo, field_validator, model_validator

from lownoise.engines.tables import Table
from lownoise.errors import SpecError, TableError
from lownoise.planning import together
from lownoise.privacy import ApproxDP, Budget, Ledger, PureDP
from lownoise.privacy.budget import budget_from_dict
from lownoise.privacy.units import OF_UNITS
from lownoise.questions import QUESTIONS, Sum
from lownoise.release.comparison import GAUSSIAN
from lownoise.spec.arrays import read_points
from lownoise.spec.counts import (
    FOLDER,
    DeclaredSpec,
    MarginalsSpec,
    ParitySpec,
    QueriesSpec,
    declared_spec,
)
from lownoise.spec.means import BOUNDED, DeclaredDomain, MeanSpec
from lownoise.spec.model import Strict, checked, mistaken, read_toml
from lownoise.spec.streams import StreamSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.planning import JointPlan, Plan, StreamPlan
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Progress
    from lownoise.spec.model import AskedSpec

Question = MeanSpec | MarginalsSpec | QueriesSpec | ParitySpec | StreamSpec | DeclaredSpec

_KINDS: dict[str, type[Question]] = {
    "mean": MeanSpec,
    "sum": MeanSpec,
    "moments": MeanSpec,
    "marginals": MarginalsSpec,
    "queries": QueriesSpec,
    "parity": ParitySpec,
    "stream": StreamSpec,
}


# what Python has names for: what else a specification says of it
_MARGINALS = {
    "count": ", with way = 0",
    "histogram": ", with way = 1",
    "distribution": ', with way = 1 and ordered = { COLUMN = "prefix" }',
}


def _question(fields: object, info: ValidationInfo) -> Question:
    """Return the question of a table, of the kind that it names."""
    kind = fields.get("kind", "mean") if isinstance(fields, dict) else "mean"
    outside = QUESTIONS.constructors
    if isinstance(fields, dict) and isinstance(kind, str) and kind in outside:
        return declared_spec(fields)
    if not isinstance(kind, str) or kind not in _KINDS:
        known = [*_KINDS, *outside]
        text = f"is no kind of question; give {', '.join(known[:-1])} or {known[-1]}"
        if isinstance(kind, str) and kind in _MARGINALS:
            text = f'is kind = "marginals" in a specification{_MARGINALS[kind]}'
        raise mistaken([(("kind",), text, kind)])
    if isinstance(fields, dict) and "kind" not in fields:
        other = set(fields) - set(MeanSpec.model_fields)
        shared = {own: other & set(spec.model_fields) for own, spec in _KINDS.items()}
        most = max(shared.values(), key=len)
        if most:
            having = " or ".join(f'"{own}"' for own, of in shared.items() if len(of) == len(most))
            text = f"is missing, and a mean has no {min(most)}; give kind = {having}"
            raise mistaken([(("kind",), text, None)])
    return _KINDS[kind].model_validate(fields, context=info.context)


_Budgets = Literal["zcdp", "gaussian_dp", "approx_dp", "pure_dp"]
_NUMBERS: dict[_Budgets, set[str]] = {
    "zcdp": {"rho"},
    "gaussian_dp": {"mu"},
    "approx_dp": {"epsilon", "delta"},
    "pure_dp": {"epsilon"},
}


class BudgetSpec(Strict):
    """`rho`, or `mu`, or `epsilon` and `delta`, or `epsilon` alone where `kind` is "pure_dp".

    A δ that was forgotten is no pure budget, so that one kind must be named.
    """

    kind: _Budgets | None = None
    rho: Annotated[float, Field(ge=1e-12, le=1e6, strict=True)] | None = None
    mu: Annotated[float, Field(ge=1e-6, le=1e3, strict=True)] | None = None
    epsilon: Annotated[float, Field(ge=1e-6, le=1e3, strict=True)] | None = None
    delta: Annotated[float, Field(ge=1e-100, lt=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = set(self._given())
        if self.kind is None and given not in [_NUMBERS[k] for k in _NUMBERS if k != "pure_dp"]:
            raise ValueError(
                'give either rho, or mu, or both epsilon and delta, or epsilon and kind = "pure_dp"'
            )
        if self.kind == "pure_dp" and "delta" in given:
            raise ValueError('pure_dp has no delta; leave it out, or give kind = "approx_dp"')
        if self.kind is not None and given != _NUMBERS[self.kind]:
            raise ValueError(f"{self.kind} needs {' and '.join(sorted(_NUMBERS[self.kind]))} only")
        return self

    def _given(self) -> dict[str, float]:
        return self.model_dump(exclude={"kind"}, exclude_none=True)

    def budget(self) -> Budget:
        """Return the budget."""
        given = self._given()
        kind = self.kind or next(k for k, numbers in _NUMBERS.items() if numbers == set(given))
        return budget_from_dict({"kind": kind, **given})


def _misfits(question: Question, budget: Budget) -> list[str]:
    """Return what of a question cannot be asked under a budget, one text a mistake."""
    named = question.mechanism
    found = []
    noisy = named not in (None, GAUSSIAN)
    if named == GAUSSIAN and isinstance(budget, PureDP):
        found.append('is pure, and question.mechanism = "gaussian" is not; leave it out')
    if noisy and not isinstance(budget, (PureDP, ApproxDP)):
        found.append(
            f'is of Gaussian noise, and question.mechanism = "{named}" is pure; give epsilon and '
            'kind = "pure_dp", or leave the mechanism out'
        )
    pure = noisy or isinstance(budget, PureDP)
    if pure and isinstance(question, MeanSpec) and question.count_share is not None:
        found.append("question.count_share is for Gaussian noise; with a pure mechanism drop it")
    return found


def _path(given: object) -> Path | str | tuple[Path | str, ...]:
    """Return a path, the text of an address, or several; what may be secret is not shown."""
    try:
        table = Table(cast("Any", given))
    except TableError as error:
        raise mistaken([((), re.sub(r"^table(\[\d+\])?[= ]", "", str(error)), None)]) from None
    paths = table.path if isinstance(table.path, tuple) else (table.path,)
    found = tuple(str(own) if "://" in str(own) else Path(own) for own in paths)
    return found if isinstance(given, list) else found[0]


class DataSpec(Strict):
    """Where the table is, relative to the specification, and what its files' names do not say."""

    path: Annotated[Path | str | tuple[Path | str, ...], PlainValidator(_path)]
    separator: str | None = None
    quotes: bool | None = None
    decimal: str = "."
    partitions: tuple[str, ...] = ()
    engine: str = "duckdb"

    @model_validator(mode="after")
    def _of_files(self) -> Self:
        try:
            self.table()
        except TableError as error:
            raise mistaken([((), str(error), None)]) from None
        return self

    def table(self, path: str | None = None, engine: str | None = None) -> Table:
        """Return the table, or another of such files or on another engine.

        Raises:
            TableError: where an address holds what may be secret, or there is no such engine.
        """
        return Table(
            self.path if path is None else path,
            separator=self.separator,
            quotes=self.quotes,
            decimal=self.decimal,
            partitions=self.partitions,
            engine=self.engine if engine is None else engine,
        )

    def under(self, folder: Path) -> DataSpec:
        """Return the same where its paths are relative to a folder."""
        own = self.path if isinstance(self.path, tuple) else (self.path,)
        paths = tuple(folder / p if isinstance(p, Path) else p for p in own)
        return self.model_copy(update={"path": paths if isinstance(self.path, tuple) else paths[0]})


class LedgerSpec(Strict):
    """Which account pays; the path is relative to the specification."""

    path: Path
    dataset: Annotated[str, Field(min_length=1)]


class Spec(Strict):
    """A specification file."""

    question: Annotated[Question, PlainValidator(_question)]
    budget: BudgetSpec
    data: DataSpec | None = None
    ledger: LedgerSpec | None = None

    @field_validator("budget")
    @classmethod
    def _fitting(cls, budget: BudgetSpec, info: ValidationInfo) -> BudgetSpec:
        """Refuse a question that no mechanism under the budget answers."""
        question = info.data.get("question")
        misfits = [] if question is None else _misfits(question, budget.budget())
        if misfits:
            raise mistaken(((), text, None) for text in misfits)
        return budget

    def plan(
        self,
        progress: Callable[[Progress], None] | None = None,
        *,
        budget: Budget | None = None,
    ) -> Plan | StreamPlan:
        """Return the plan; no data are read.

        Args:
            progress: called with a `Progress` after every step of a search.
            budget: by default the specification's.

        Raises:
            LownoiseError: where the parts do not fit together.
        """
        return self.question.plan(budget or self.budget.budget(), progress)

    def account(self) -> Ledger | None:
        """Return the account that pays, None where none is named."""
        return Ledger(self.ledger.path, self.ledger.dataset) if self.ledger else None


class DomainFile(Strict):
    """A domain alone, and the names of its coordinates."""

    domain: DeclaredDomain
    columns: tuple[Annotated[str, Field(min_length=1)], ...] | None = None

    @field_validator("columns")
    @classmethod
    def _one_each(
        cls, columns: tuple[str, ...] | None, info: ValidationInfo
    ) -> tuple[str, ...] | None:
        domain = info.data.get("domain")
        if columns is not None and domain is not None and len(columns) != domain.dimension:
            raise ValueError(
                f"has {len(columns)} names for the {domain.dimension} coordinates of domain; "
                "give each a name"
            )
        return columns


def read_spec(path: Path) -> Spec:
    """Return the specification in a TOML file, its paths made relative to where it stands.

    Raises:
        SpecError: where the file cannot be read, or with every mistake in it, one a line.
    """
    fields = read_toml(path)
    if isinstance(fields.get("question"), list):
        raise SpecError(f"spec={path} asks several questions; use `lownoise together`")
    return _checked_spec(fields, path)


def read_any(path: Path) -> Spec | JointSpec:
    """Return the specification in a TOML file, of one question or of several.

    Raises:
        SpecError: where the file cannot be read, or with every mistake in it, one a line.
    """
    several = isinstance(read_toml(path).get("question"), list)
    return read_together(path) if several else read_spec(path)


def _checked_spec(fields: dict[str, Any], path: Path) -> Spec:
    asked, budget = fields.get("question"), fields.get("budget")
    if isinstance(budget, dict) and budget.get("kind") == "local_dp":
        raise SpecError(
            f"spec={path}: budget.kind is local_dp, of reports that people's own devices make; use "
            "`lownoise local plan`"
        )
    bounded = not isinstance(asked, dict) or "domain" not in asked
    folder = path.parent
    spec = checked(Spec, fields, path, {BOUNDED: bounded, FOLDER: folder})
    resolved: dict[str, Strict] = {}
    if spec.data is not None:
        resolved["data"] = spec.data.under(folder)
    if spec.ledger is not None:
        own = folder / spec.ledger.path
        resolved["ledger"] = spec.ledger.model_copy(update={"path": own})
    return spec.model_copy(update=resolved)


@final
@dataclass(frozen=True)
class JointSpec:
    """A specification of several questions that share a budget.

    Args:
        parts: of each question a specification with all of the budget, by its name.
        importance: how much one unit of each question's error matters, None for 1.
        shares: the part of each of the budget; None for the best.
    """

    parts: dict[str, Spec]
    importance: dict[str, float] | None
    shares: dict[str, float] | None

    @property
    def budget(self) -> BudgetSpec:
        """What all reveal together."""
        return next(iter(self.parts.values())).budget

    @property
    def data(self) -> DataSpec | None:
        """Where the table is."""
        return next(iter(self.parts.values())).data

    def account(self) -> Ledger | None:
        """Return the account that pays, None where none is named."""
        return next(iter(self.parts.values())).account()

    def plan(
        self,
        _progress: Callable[[Progress], None] | None = None,
        *,
        budget: Budget | None = None,
    ) -> JointPlan:
        """Return the plan; no data are read.

        Args:
            budget: by default the specification's.

        Raises:
            LownoiseError: where the parts do not fit together.
        """
        asked = {n: cast("AskedSpec", own.question) for n, own in self.parts.items()}
        first = next(iter(asked.values()))
        return together(
            {name: own.asked() for name, own in asked.items()},
            budget=budget or self.budget.budget(),
            relation=first.relation,
            size=first.size,
            importance=self.importance,
            shares=self.shares,
            options={name: own.options() for name, own in asked.items()},
            **{name: getattr(first, name) for name in OF_UNITS},
        )


def read_together(path: Path) -> JointSpec:
    """Return the specification of several questions in a TOML file: tables `[[question]]`.

    Each has a `name`, and may have an `importance` or a `share`.

    Raises:
        SpecError: where the file cannot be read, or with every mistake in it, one a line.
    """
    fields = read_toml(path)
    asked = fields.get("question")
    if not isinstance(asked, list) or not asked or not all(isinstance(q, dict) for q in asked):
        raise SpecError(
            f"spec={path} asks one question; use `lownoise plan` and `lownoise release`"
        )
    parts: dict[str, Spec] = {}
    numbers: dict[str, dict[str, Any]] = {"importance": {}, "share": {}}
    mistakes: list[str] = []
    for i, given in enumerate(asked):
        own, place = dict(given), f"question[{i}]"
        name = own.pop("name", None)
        if not isinstance(name, str) or name in parts:
            mistakes.append(f"{place}.name: is missing, or given twice; give each question its own")
            name = place
        for word, found in numbers.items():
            if word in own:
                found[name] = own.pop(word)
        try:
            parts[name] = _checked_spec({**fields, "question": own}, path)
        except SpecError as error:
            _, *said = str(error).split("\n  ")
            mistakes += [line.replace("question", place, 1) for line in said] or [str(error)]
    mistakes += _unlike(parts) if not mistakes else []
    if mistakes:
        unique = list(dict.fromkeys(mistakes))
        raise SpecError(f"spec={path} has mistakes:\n" + "\n".join(f"  {own}" for own in unique))
    given_numbers = {w: (found or None) for w, found in numbers.items()}
    if given_numbers["importance"] is not None:
        given_numbers["importance"] = {n: numbers["importance"].get(n, 1.0) for n in parts}
    return JointSpec(parts, given_numbers["importance"], given_numbers["share"])


def _unlike(parts: dict[str, Spec]) -> list[str]:
    """Return what of questions does not go together, one text a mistake."""
    streams = [name for name, own in parts.items() if own.question.kind == "stream"]
    if streams:
        return [
            f"question {name!r}: is a stream, which has a budget of its own" for name in streams
        ]
    questions = {name: cast("AskedSpec", own.question) for name, own in parts.items()}
    first = next(iter(questions.values()))
    found = []
    for name, own in questions.items():
        if own.relation != first.relation or own.size != first.size:
            found.append(f"question {name!r}: has another relation or size; give all the same")
        elif any(getattr(own, word) != getattr(first, word) for word in OF_UNITS):
            found.append(f"question {name!r}: has another privacy unit; give all the same")
        elif own.uses is not None:
            found.append(f"question {name!r}: has uses, which are of one question; leave them out")
    return found


def read_domain(path: Path) -> tuple[tuple[str, ...], AbstractDomain]:
    """Return the names of coordinates and the domain that a public file describes.

    Args:
        path: a CSV file with a header of names and one point a row; or a TOML file, either a
            specification or one with a table `domain` and, if wanted, a list `columns` of names.

    Raises:
        LownoiseError: where the file cannot be read, or with every mistake in it.
    """
    if path.suffix.lower() != ".toml":
        return read_points(path)
    fields = read_toml(path)
    if "question" in fields:
        question = read_spec(path).question
        if not isinstance(question, MeanSpec):
            raise SpecError(
                f"spec={path} asks for counts, which have no domain to enclose; give a domain",
            )
        asked = question.asked()
        own = asked.mean if isinstance(asked, Sum) else asked
        return own.columns, own.domain
    alone = checked(DomainFile, fields, path, {})
    names = alone.columns or tuple(f"x{i + 1}" for i in range(alone.domain.dimension))
    return names, alone.domain
