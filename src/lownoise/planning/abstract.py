# SPDX-License-Identifier: Apache-2.0
"""What every plan promises and how it is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.privacy.choices import paying
from lownoise.release import codec
from lownoise.release.readable import Readable
from lownoise.verification import Verification, verify

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.certificate import Certificate
    from lownoise.privacy import Ledger
    from lownoise.release.guarantees import AbstractTerms, Cost
    from lownoise.release.pure import PureTerms
    from lownoise.release.pure.terms import PureCost


class AbstractPlan(Readable, ABC):
    """Terms, and how the search for the least noise ended; made by `plan`."""

    terms: AbstractTerms | PureTerms
    status: str

    @property
    def error(self) -> float:
        """(E‖error‖_p²)^{1/2} of all answers, in their units: exact at p = 2, else a stated bound.

        Where the question has weights, of the answers times √weight. Under a pure budget of the
        answers times the weights asked for, and where means come as sums and a count, of the worst
        means, times the number of records.
        """
        return self.terms.error

    @property
    def objective(self) -> float:
        """‖standard deviations‖_p of all answers, times √weight where the question has weights."""
        return self.terms.objective

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least objective of any Gaussian noise within the budget.

        Under a pure budget: on the least error of any mechanism of that ε, over all tables.
        """
        return self.terms.certificate

    @property
    def lower_bound(self) -> float:
        """What no unbiased mechanism with this plan's ρ has an error below, on any dataset.

        Where the relation is a body of changes: on tables with a row that has room in its domain
        for every change; 0 where there can be none. Under a pure budget: what no mechanism of that
        ε, biased or not, has an error below on every dataset.
        """
        return self.terms.lower_bound

    @property
    def cost(self) -> Cost | PureCost:
        """What the release reveals, from the final noise, rounded up."""
        return self.terms.cost

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings of accounts that can pay for it: of "gaussian", "zcdp", "basic", "caps"."""
        return paying(self.cost.event, self.terms.budget)

    @abstractmethod
    def release(self, table: Any, ledger: Ledger | None = None) -> object:  # noqa: ANN401
        """Read the table, add the noise, and return the answers."""

    def verify(self) -> Verification:
        """Recompute everything from the plan's own file, without the optimiser; see `verify`."""
        return verify(self.to_json(), domain=codec.program(self.terms))

    def to_json(self) -> str:
        """Return the plan as JSON, versioned; `from_json` reads it back exactly."""
        return codec.plan_document(self.terms)

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, all of it or nothing.

        Raises:
            FileError: where it cannot be written.
        """
        codec.write(Path(path), self.to_json())
