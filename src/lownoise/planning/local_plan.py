# SPDX-License-Identifier: Apache-2.0
"""A local plan: terms, and the verbs of a device and of whoever collects its reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import PlanError
from lownoise.local_model.aggregate import Policies, Tally
from lownoise.local_model.report import Report, ReportFormat
from lownoise.local_model.simulate import simulate
from lownoise.local_model.terms import LocalTerms
from lownoise.numbers.randomness import SystemRandomness
from lownoise.planning.local_central import central_equivalent
from lownoise.questions import Mean
from lownoise.release import codec
from lownoise.release.readable import Shown
from lownoise.verification import Verification, verify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from lownoise.local_model import AbstractEncoder, AbstractRandomizer
    from lownoise.local_model.estimate import LocalEstimate
    from lownoise.local_model.report import Reports
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.local_central import CentralEquivalent
    from lownoise.privacy.local_budget import LocalDP
    from lownoise.questions import Marginals
    from lownoise.release.comparison import Alternative
    from lownoise.sets.domains import AbstractDomain

_ANY = 1 << 62  # numbers of a proof, of a plan that is here already


@final
@dataclass(frozen=True, eq=False, repr=False)
class LocalPlan(Shown):
    """What each person's device sends, its error, its proof, and what collects the reports.

    Made by `ln.local`, and read by `from_json`; `terms` holds everything.

    Args:
        terms: the encoder, the randomizer, and what follows.
        question: what was asked; None where the plan was read from a device's document.
    """

    terms: LocalTerms
    question: Mean | Marginals | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return tuple(self.encoder.names)

    @property
    def mechanism(self) -> str:
        """The randomizer's name."""
        return self.terms.kind

    @property
    def encoder(self) -> AbstractEncoder:
        """From records to integers, and from estimates to answers."""
        return self.terms.encoder

    @property
    def randomizer(self) -> AbstractRandomizer:
        """From those integers to a report."""
        return self.terms.randomizer

    @property
    def budget(self) -> LocalDP:
        """The most that one report may reveal."""
        return self.terms.budget

    @property
    def comparison(self) -> tuple[Alternative, ...]:
        """Every randomizer that was compared, the best first, then those not available and why."""
        return self.terms.alternatives

    @property
    def standard_deviation(self) -> Vector:
        """The greatest standard deviation of each answer over all records, one report; (m,).

        Of n people's answer it is that over √n.
        """
        return self.terms.standard_deviation

    @property
    def error(self) -> float:
        """‖ω·standard deviations‖_p of one report, at most; of n people's that over √n.

        At p = 2 that is (E‖ω·error‖₂²)^{1/2} of the worst record; else the latter may be greater.
        """
        return self.terms.error

    @property
    def lower_bound(self) -> float:
        """What every unbiased ε-local mechanism errs at its worst of n people, times √n, at least.

        0 where nothing is proved: for a budget with a δ, and of a plan without its proof.
        """
        return self.terms.lower_bound

    @property
    def report_bytes(self) -> int:
        """How many bytes one report takes on the wire."""
        return self.form.size

    @property
    def form(self) -> ReportFormat:
        """How reports are written, in bytes and in tables."""
        return ReportFormat.of(self.digest, self.randomizer)

    @property
    def digest(self) -> str:
        """The SHA-256 of the terms, 64 hexadecimal digits: what reports name their plan by."""
        return self.terms.digest

    def randomize(self, record: Any) -> Report:  # noqa: ANN401 (as the encoder takes it)
        """Return one report of one record, as its person's device would send it.

        Every call draws anew, and two reports of one person cost twice: a device keeps its answer
        by `lownoise.device.Keeper`.

        Args:
            record: d numbers, in order or by the columns' names; of marginals the values by the
                attributes' names. What is no finite number counts as the public stand-in.

        Raises:
            TableError: where it has not the plan's values; nothing is drawn then.
        """
        return self.randomize_all([record])[0]

    def randomize_all(self, records: Any) -> list[Report]:  # noqa: ANN401
        """Return a report of each record, as so many devices would send them.

        Args:
            records: n of them, each as `randomize` takes it, or an array of shape (n, d).

        Raises:
            TableError: where one has not the plan's values; nothing is drawn then.
        """
        self._check()
        encoded = self.encoder.encode(records)
        randomness = SystemRandomness()
        values = self.randomizer.reports(encoded, randomness=randomness)
        form = self.form
        return [form.fresh(own, randomness=randomness) for own in values]

    def simulate(self, table: Any) -> Iterator[Reports]:  # noqa: ANN401 (any frame)
        """Return a report of each row of a table, in blocks: what people's devices would send.

        Whoever runs this has the table, and is trusted with it. Every row is a person, once.

        Args:
            table: as every release takes one, with the columns of the plan's records.

        Raises:
            TableError: where it cannot be opened or lacks a column.
            EngineError: later, where reading its rows failed.
        """
        self._check()
        return simulate(self, table, randomness=SystemRandomness())

    def tally(self, **policies: Any) -> Tally:  # noqa: ANN401
        """Return an empty tally, which takes reports as they come; see `Tally` and `Policies`."""
        return Tally(self.encoder, self.randomizer, self.digest, Policies(**policies))

    def aggregate(self, reports: Any, **policies: Any) -> LocalEstimate:  # noqa: ANN401
        """Return the unbiased estimate from reports, which may be in any order.

        Args:
            reports: an iterable of reports, a table of them or a file; see `Tally.add`.
            policies: what becomes of reports that cannot be counted as they are, "refuse" by
                default: malformed="drop" or "clip", duplicates="drop", replays="drop",
                foreign="drop".

        Raises:
            FileError: where a policy refuses a report, or what is given holds none.
            TableError: where a table cannot be opened or lacks a column.
            PlanError: where a policy is unknown, or no report counts.
        """
        tally = self.tally(**policies)
        tally.add(reports)
        return tally.result()

    def central_equivalent(self, size: int, *, delta: float = 1e-6) -> CentralEquivalent:
        """Return what the same people would get from a trusted curator, and by shuffling.

        Args:
            size: the number n of people.
            delta: δ of what shuffled reports reveal.

        Raises:
            PlanError: where the question is not known, as of a device's document.
        """
        if self.question is None:
            raise PlanError("question is not in a device's document; read the plan with its proof")
        terms = self.terms
        weights = terms.weights if isinstance(self.question, Mean) else None
        return central_equivalent(
            self.question,
            terms.budget,
            terms.order,
            size,
            terms.error,
            weights=weights,
            delta=delta,
        )

    def _check(self) -> None:
        if not self.terms.within_budget:
            raise PlanError("plan reveals more than its budget; make it anew with ln.local")

    def to_json(self, *, proof: bool = False) -> str:
        """Return the public plan that a device needs, as JSON; `from_json` reads it back exactly.

        Args:
            proof: whether what proves the lower bound is written, too: it is large, and no device
                needs it. Reports name either by the same digest.
        """
        return self.terms.document(proof=proof)

    @classmethod
    def from_json(cls, text: str, domain: AbstractDomain | None = None) -> LocalPlan:
        """Return the plan that `to_json` wrote.

        Args:
            text: the document.
            domain: the set, where it is or holds an `ln.Oracle` and the proof is in the document.

        Raises:
            FileError: where the text is no local plan of a version that is known.
        """

        def read() -> LocalPlan:
            document = codec.load("local", text)
            terms = LocalTerms.of_document(document, domain)
            return cls(terms, None if terms.curator is None else terms.curator.question)

        return codec.guarded(read)

    def save(self, path: str | PathLike[str], *, proof: bool = False) -> None:
        """Write `to_json` to a file, all of it or nothing.

        Raises:
            FileError: where it cannot be written.
        """
        codec.write(path, self.to_json(proof=proof))

    def verify(self) -> Verification:
        """Recompute everything from the plan's own file, without the optimiser; see `ln.verify`."""
        program = None if self.terms.curator is None else self.terms.curator.view.program
        return verify(self.to_json(proof=True), domain=program, largest=_ANY)
