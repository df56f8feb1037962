# SPDX-License-Identifier: Apache-2.0
"""What a stream is asked for, and what it will be; nothing has started."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import DomainError, PlanError, quoted
from lownoise.numbers.randomness import SystemRandomness
from lownoise.planning.release_plan import AbstractPlan
from lownoise.privacy import PureDP
from lownoise.privacy.budget import budget_to_dict, checked_budget
from lownoise.questions import LowerTriangular
from lownoise.questions.streams import WORKLOADS
from lownoise.release import codec
from lownoise.release.codec import LARGEST
from lownoise.release.comparison import GAUSSIAN
from lownoise.release.encoding import relation_to_dict
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.sensitivity.relations import checked_relation
from lownoise.sets.domains import AbstractDomain
from lownoise.sets.domains.encoding import domain_to_dict
from lownoise.streams import MECHANISMS, ORDERS, resume, start
from lownoise.streams.codec import document, expect_size, stated, terms_from_dict

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.privacy import Budget, Payer
    from lownoise.questions import AbstractStreamWorkload
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import CheckedRelation
    from lownoise.streams import Stream


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class StreamRequest:
    """What a stream is asked for; see `stream`.

    Raises:
        PlanError, BudgetError, DomainError: where a part is of no known kind.
    """

    workload: AbstractStreamWorkload
    budget: Budget
    strategy: str
    error: str
    domain: AbstractDomain
    relation: CheckedRelation
    memory: int | None
    participation: Participation = ONE
    mechanism: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.error, str) or self.error not in ORDERS:
            raise PlanError(f'error={quoted(self.error)} is unknown; give "mean" or "max"')
        if not isinstance(self.domain, AbstractDomain) or not self.domain.of_records:
            raise DomainError(
                f"domain={type(self.domain).__name__} is no domain of values; use ln.Box"
            )
        self.participation.check(self.workload.rounds)
        if not isinstance(checked_budget(self.budget), PureDP):
            self.budget.gaussian_parameter()
        if self.mechanism is not None and self.mechanism not in (GAUSSIAN, *MECHANISMS):
            raise PlanError(
                f"mechanism={quoted(self.mechanism)} is of no stream; give one of "
                f"{', '.join((GAUSSIAN, *MECHANISMS))}, or leave it out"
            )
        object.__setattr__(self, "relation", checked_relation(self.relation))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values, so that a file knows its own stream again.

        Raises:
            FileError: where a part has no form in a file.
        """
        workload = WORKLOADS.write(self.workload)
        if isinstance(self.workload, LowerTriangular):  # compressed, it is not one text for all
            entries = np.ascontiguousarray(self.workload.entries, dtype="<f8").data
            workload["entries"] = hashlib.sha256(entries).hexdigest()
        return {
            "workload": workload,
            "budget": budget_to_dict(self.budget),
            "strategy": self.strategy,
            "error": self.error,
            "domain": domain_to_dict(self.domain),
            "relation": relation_to_dict(self.relation),
            "memory": self.memory,
            **stated(self.participation),
            **({} if self.mechanism is None else {"mechanism": self.mechanism}),
        }

    def resume(self, path: str | PathLike[str], ledger: Payer | None) -> Stream:
        """Return the stream in a file, where it is this one; nothing is charged.

        Raises:
            FileError: where the file is no stream or is damaged, or holds another stream.
            LedgerError: where the account is not the one that paid.
        """
        program = self.domain if self.domain.oracles else None
        return resume(path, self.to_dict(), ledger=ledger, domain=program)


@final
@dataclass(frozen=True, eq=False, repr=False)
class StreamPlan(AbstractPlan):
    """The plan of a stream: its noise, error, proof and cost. Nothing has started.

    A specification of a stream makes it. `start()` starts the stream, and `save(path)` writes the
    plan to a file. `ln.stream` plans and starts at once.

    Args:
        terms: everything that is guaranteed.
        request: what was asked for; None where the plan was read from a file.
    """

    terms: Terms
    request: StreamRequest | None = None

    def start(self, ledger: Payer | None = None, path: str | PathLike[str] | None = None) -> Stream:
        """Pay, draw the noise, and return the stream before its first round.

        Args:
            ledger: the account that pays, once and for all rounds.
            path: a new file for the stream.

        Raises:
            LedgerError: where the account cannot pay; then nothing has started.
            FileError: where the file exists or cannot be written; then nothing is spent.
        """
        asked = self.request.to_dict() if self.request and path is not None else None
        return start(
            self.terms, randomness=SystemRandomness(), ledger=ledger, path=path, asked=asked
        )

    def as_asked(self, terms: Terms) -> StreamPlan:
        """Return the same with terms of the mechanism that was named."""
        return replace(self, terms=terms)

    def to_json(self) -> str:
        """Return the plan as JSON, versioned; `from_json` reads it back exactly."""
        return document(self.terms)

    @classmethod
    def from_json(
        cls, text: str, domain: AbstractDomain | None = None, *, largest: int = LARGEST
    ) -> StreamPlan:
        """Return the plan that `to_json` wrote.

        Args:
            text: the document.
            domain: the set, if it is or contains an `ln.Oracle`, which files do not hold.
            largest: as that of `ln.verify`.

        Raises:
            FileError: where the text is no plan of a version that is known, or is larger.
        """

        def read() -> StreamPlan:
            fields = codec.load("plan", text)["terms"]
            expect_size(fields, largest)
            return cls(terms_from_dict(fields, domain))

        return codec.guarded(read)
