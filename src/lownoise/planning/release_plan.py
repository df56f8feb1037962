# SPDX-License-Identifier: Apache-2.0
"""What is asked of a plan beside its question, and a plan: terms, and how it reads a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.randomness import SystemRandomness
from lownoise.privacy import ApproxDP, PureDP
from lownoise.privacy.units import rows_of
from lownoise.release import codec, folders, stored
from lownoise.release.execution import execute
from lownoise.release.guarantees import allowed
from lownoise.release.readable import Guaranteed
from lownoise.release.verification import Verification, verify
from lownoise.sensitivity.relations import checked_relation, checked_word

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import ArrayLike

    from lownoise.privacy import Budget, Event, Payer, Shared
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.release.comparison import Comparison
    from lownoise.release.progress import Listener
    from lownoise.release.release import Release
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation, Word
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Progress


COUNT_SHARE = 0.05
_MOST_RECORDS = 10**12
_SPARE = 1 - 2.0**-50  # of a row's share of a budget, for its rounding


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """The arguments of `plan` as they were given; None where one was left out.

    Where releases share a budget, `budget` is that of one of them, and `shared` what they share.
    Where `unit` is not None it is a unit's budget, and noise is fitted to what one row may cost
    that comes or goes: `dearer` times less where one that becomes another costs as much more.
    Fits from the user's cache will do that have at most `near` parts of E‖z‖² more than the least.
    """

    budget: Budget
    relation: Relation | AbstractDomain
    size: int | None
    order: float
    weights: ArrayLike | str | None
    count_share: float | None
    rtol: float
    progress: Callable[[Progress], None] | None
    mechanism: str | None = None
    shared: Shared | None = None
    unit: PrivacyUnit | None = None
    dearer: float = 1.0
    near: float = 1.0

    @property
    def rows(self) -> int:
        """How many rows of a unit count at most; 1 where rows are protected."""
        return rows_of(self.unit)

    @property
    def exchanged(self) -> bool:
        """Whether units take other rows, and do not only come and go."""
        return self.unit is not None and self.unit.exchanged

    @property
    def gaussian_parameter(self) -> float:
        """The greatest μ that one row may cost, where Gaussian noise is added."""
        found = self.budget.gaussian_parameter()
        return found if self.unit is None else found / self.rows / self.dearer * _SPARE

    @property
    def epsilon(self) -> float:
        """The greatest ε that one row may cost, where pure noise is added.

        Raises:
            PlanError: where the budget is not pure, nor (ε, δ).
        """
        if not isinstance(self.budget, (PureDP, ApproxDP)):
            raise PlanError(f"budget={self.budget} is not pure, nor (epsilon, delta)")
        found = allowed(self.budget)
        return found if self.unit is None else found / self.rows / self.dearer * _SPARE

    @property
    def asked(self) -> Budget:
        """The budget that was given: of one release, or what several share."""
        return self.budget if self.shared is None else self.shared.budget


def checked_counting(request: Request, kind: str, *, drops: bool) -> tuple[Word, int | None]:
    """Return the relation and the public number of records of a question that counts records.

    Args:
        request: what was asked.
        kind: what the question is called.
        drops: whether it may leave rows out.

    Raises:
        PlanError: where they do not fit it, or an argument is one for means.
    """
    relation = checked_word(request.relation, kind)
    if request.weights is not None or request.count_share is not None:
        raise PlanError(
            f"weights and count_share are for means; ln.{kind} counts records: leave them out, or "
            "give the question weights where it takes them",
        )
    size = checked_size(request.size, relation)
    if size is not None and drops:
        raise PlanError(
            f'outside="drop" of ln.{kind} would change the public size; name what stands in for '
            "other values, as outside={name: category}",
        )
    return relation, size


def checked_size(size: int | None, relation: Relation) -> int | None:
    """Return the public number of records, None under `add_remove`.

    Raises:
        PlanError: where it does not fit the relation or is out of range.
    """
    if checked_relation(relation).counted:
        if size is not None:
            raise PlanError(
                f"size={quoted(size)} is private under add_remove; leave it out: the count is "
                "released",
            )
        return None
    if not is_integer(size) or not 1 <= size <= _MOST_RECORDS:
        raise PlanError(
            f"size={quoted(size)} is no public number of records; where one record changes give a "
            "whole number from 1 to 10^12",
        )
    return int(size)


_ANY = 1 << 62  # numbers of a stream, of a plan that is here already


class AbstractPlan(Guaranteed, ABC):
    """What is planned, whatever it will be; nothing has been read, and nothing spent."""

    @property
    def guarantee(self) -> str:
        """The guarantee, in words."""
        return self.terms.proof.guarantee

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings of accounts that can pay: of "gaussian", "zcdp", "basic" and "caps".

        Also "aside", if an account that adds up ρ or μ² can pay only with `ln.Aside`.
        """
        return self.terms.readings

    @abstractmethod
    def to_json(self) -> str:
        """Return the plan as JSON, versioned; `from_json` reads it back exactly."""

    def verify(self) -> Verification:
        """Recompute everything from the plan's file, without the optimiser; see `ln.verify`."""
        return verify(self.to_json(), domain=self.terms.view.program, largest=_ANY)

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, in the place of what is there, all of it or nothing.

        Raises:
            FileError: where it cannot be written, or a release, a ledger or a stream is there.
        """
        codec.write(path, self.to_json())


@final
@dataclass(frozen=True, eq=False, repr=False)
class Plan(AbstractPlan):
    """The plan of a release: its noise, error, proof and cost. No data have been read.

    `ln.plan` makes it. Print it, or look at `standard_deviation` (of each answer, in its unit),
    `error`, `cost`, and `certificate.gap` (the largest possible distance to the least noise). Then
    `release(table, ledger)` reads the table. `save(path)` writes the plan to a file.

    `terms` has everything. `status` states how the search for the least noise ended. `by_rows` is
    the error with `rows_per_unit` alone, if `unit_total` is given, too; else None.

    Examples:
        >>> import pandas as pd
        >>> import lownoise as ln
        >>> own = ln.plan(ln.Mean(["age"], ln.Box([0], [120])), budget=ln.zcdp(0.5),
        ...               relation="substitute", size=1000)
        >>> own.standard_deviation.round(6).tolist()  # in years
        [0.12]
        >>> own.guarantee, round(own.cost.rho, 6)
        ('0.5-zCDP', 0.5)
        >>> release = own.release(pd.DataFrame({"age": [40.0] * 1000}))
        >>> release.names, release.estimate.shape
        (('age',), (1,))
    """

    terms: Terms
    status: str = "read from a file"
    by_rows: float | None = None

    def as_asked(self, terms: Terms) -> Plan:
        """Return the same with terms of the mechanism that was named."""
        return replace(self, terms=terms, status="as asked")

    @property
    def mechanism(self) -> str:
        """The name of the mechanism: "gaussian", or a pure one's."""
        return self.terms.name

    @property
    def comparison(self) -> Comparison:
        """All mechanisms compared, the best first; then the unavailable ones, with reasons.

        It prints as a table. It is empty if the budget allows Gaussian noise only.
        """
        return self.terms.alternatives

    @property
    def uses(self) -> int | None:
        """The number of releases that share the budget; None if each pays it in full."""
        return None if self.terms.shared is None else self.terms.shared.uses

    @property
    def joint_cost(self) -> Event:
        """The charge to an account: for all releases that share the budget, or for one."""
        return self.terms.charged

    def release(
        self,
        table: Any,  # noqa: ANN401
        ledger: Payer | None = None,
        *,
        path: str | PathLike[str] | None = None,
        progress: Listener | None = None,
    ) -> Release:
        """Read the table, add the noise, and return the answers.

        Args:
            table: the path of a CSV or Parquet file, a pandas DataFrame, an Arrow table, …
            ledger: the account that pays, `ln.Ledger(path, dataset)`, or the path of an existing
                ledger. Without one nothing is recorded, and the release states this.
            path: for marginals, a new folder to which the release is written while it is made, so
                that it need not fit into memory; `ln.Release.load(path)` reads it.
            progress: called with a `Part` before each part and while noise is added, such as an
                `ln.ProgressBar()`. It gets no fraction of the reading, which depends on rows.

        Raises:
            FileError: if the folder cannot be made; then nothing is spent.
            LedgerError: if the account cannot pay; then no record has been read.
            TableError: if the table cannot be opened, lacks a column or does not have the public
                number of rows; then nothing is spent.
            EngineError: if reading its rows failed; then the spend stays reserved.
            PlanError: if a path is given for answers other than marginals, which are saved
                afterwards; then nothing is spent.
        """
        return execute(
            self.terms,
            table,
            ledger,
            randomness=SystemRandomness(),
            path=path,
            progress=progress,
        )

    @classmethod
    def from_json(cls, text: str, domain: AbstractDomain | None = None) -> Plan:
        """Return the plan that `to_json` wrote.

        Args:
            text: the document.
            domain: the set, if it is or contains an `ln.Oracle`, which files do not hold.

        Raises:
            FileError: where the text is no plan of a version that is known.
        """

        def read() -> Plan:
            return cls(stored.terms_from_dict(codec.load("plan", text)["terms"], domain))

        return codec.guarded(read)

    @classmethod
    def load(cls, path: str | PathLike[str], domain: AbstractDomain | None = None) -> Plan:
        """Return the plan that `save` wrote.

        Args:
            path: the file.
            domain: as of `from_json`.

        Raises:
            FileError: where it cannot be read, or is no plan of a version that is known.
        """
        return cls.from_json(folders.read_document(path), domain)

    def to_json(self) -> str:
        """Return the plan as JSON, versioned; `from_json` reads it back exactly."""
        return stored.plan_document(self.terms)
