# SPDX-License-Identifier: Apache-2.0
"""A local plan: terms, and the verbs of a device and of whoever collects its reports.

What the same people would get from a trusted curator, or from a trusted shuffler; no data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.errors import PlanError
from lownoise.local_model.aggregate import Policies, Tally
from lownoise.local_model.report import Report, ReportFormat
from lownoise.local_model.simulate import simulate
from lownoise.local_model.terms import LocalTerms
from lownoise.numbers.randomness import SystemRandomness
from lownoise.numbers.readable import readable
from lownoise.planning.release_plan import checked_size
from lownoise.planning.verb import plan
from lownoise.privacy import approx_dp, pure_dp
from lownoise.privacy.shuffling import epsilon_up, local_epsilon_down
from lownoise.questions import Marginals, Mean
from lownoise.release import codec
from lownoise.release.readable import Shown
from lownoise.release.verification import Verification, verify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from lownoise.local_model import AbstractEncoder, AbstractRandomizer
    from lownoise.local_model.estimate import LocalEstimate
    from lownoise.local_model.report import Reports
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy.local_budget import LocalDP
    from lownoise.release.comparison import Alternative
    from lownoise.sets.domains import AbstractDomain

_DELTA = 1e-6


@final
@readable
@dataclass(frozen=True, kw_only=True)
class CentralEquivalent:
    """Local privacy compared with a trusted curator, and with a trusted shuffler of the reports.

    Args:
        size: the number n of people.
        local_error: the error of the estimate from their reports.
        central_error: the error of a trusted curator who sees all records, at the same budget, if
            one record may change; its mechanism is `central_mechanism`.
        central_mechanism: the best one of a plan, or "laplace" for marginals under ε.
        people_for_equal_error: the number of people for whom a curator's error is at most that of
            n reports.
        shuffled_delta: δ of the next two.
        shuffled_epsilon: ε of all reports in random order, without their senders; None if a report
            itself has a δ.
        shuffled_local_epsilon: the ε₀ that each report may have, with trusted shuffling, so that
            all together are within the budget's ε (and this δ); None likewise.
    """

    size: int
    local_error: float
    central_error: float
    central_mechanism: str
    people_for_equal_error: int
    shuffled_delta: float
    shuffled_epsilon: float | None
    shuffled_local_epsilon: float | None


def central_equivalent(
    question: Mean | Marginals,
    budget: LocalDP,
    order: float,
    size: int,
    local_error_one: float,
    *,
    weights: Vector | None = None,
    delta: float = _DELTA,
) -> CentralEquivalent:
    """Return what n people's reports compare with; see `CentralEquivalent`.

    Errors are ‖ω·(standard deviations)‖_p of means, and of marginals of shares, as a local plan
    states its own.

    Args:
        question: what the local plan answers.
        budget: of one report.
        order: p in [2, ∞].
        size: n ≥ 1.
        local_error_one: the error of one report; of n people it is that over √n.
        weights: ω of a mean's answers; a question of marginals has its own.
        delta: δ of what is shuffled.

    Raises:
        PlanError: where the size is none, or the marginals are along ordered attributes.
        BudgetError: where delta is out of range.
        DomainError: where no noise is known for the domain.

    Examples:
        >>> import lownoise as ln
        >>> from lownoise.privacy.local_budget import local_dp
        >>> found = central_equivalent(ln.Mean(["x"], ln.Box([-1], [1])), local_dp(1.0), 2.0,
        ...                            10_000, 1 / math.tanh(0.5))
        >>> round(found.local_error, 4), round(found.central_error, 4), found.central_mechanism
        (0.0216, 0.0003, 'staircase')
        >>> found.people_for_equal_error, round(found.shuffled_epsilon, 3)
        (129, 0.053)
    """
    people = checked_size(size, "substitute") or 1
    local_error = local_error_one / math.sqrt(people)
    central_error, mechanism = _central(question, budget, order, people, weights)
    shuffled = shuffled_local = None
    if not budget.delta:
        shuffled = epsilon_up(budget.epsilon, people, delta)
        shuffled_local = local_epsilon_down(budget.epsilon, people, delta)
    # a curator's noise is over n, so that n·error is the same for any number of people
    equal = max(math.ceil(central_error * people / local_error * (1 - 2.0**-40)), 1)
    return CentralEquivalent(
        size=people,
        local_error=local_error,
        central_error=central_error,
        central_mechanism=mechanism,
        people_for_equal_error=equal,
        shuffled_delta=delta,
        shuffled_epsilon=shuffled,
        shuffled_local_epsilon=shuffled_local,
    )


def _central(
    question: Mean | Marginals, budget: LocalDP, order: float, size: int, weights: Vector | None
) -> tuple[float, str]:
    """Return a curator's error on n people, and by which mechanism."""
    allowed = approx_dp(budget.epsilon, budget.delta) if budget.delta else pure_dp(budget.epsilon)
    unit = 1
    if isinstance(question, Marginals):
        unit, weights = size, None
        if question.drops:
            raise PlanError(
                'outside="drop" of ln.Marginals would change the public size; name what stands in '
                "for other values, as outside={name: category}"
            )
        if not budget.delta:
            return _laplace_shares(question, budget.epsilon, order) / size, "laplace"
    made = plan(
        question, budget=allowed, relation="substitute", size=size, order=order, weights=weights
    )
    return made.terms.objective / unit, made.mechanism


def _laplace_shares(question: Marginals, epsilon: float, order: float) -> float:
    """Return n times the error of shares under Laplace noise on the cells of every marginal.

    A record is in one cell of each, and changing it moves two by 1: T marginals beside the public
    number of rows are moved by 2T together, and every cell has deviation √2·2T/ε.
    """
    if question.ordered:
        raise PlanError(
            "question is along ordered attributes, of which no pure central noise is known; "
            "compare without ordered"
        )
    sets = [own for own in question.sets() if own]
    cells = [math.prod(question.attributes[i].size for i in own) for own in sets]
    ways = [len(own) for own in question.sets()]
    each = question.weights if question.way is None else question.weights[ways]
    matter = [w for w, way in zip(each, ways, strict=True) if way]
    deviation = math.sqrt(2) * 2 * len(sets) / epsilon
    return deviation * order_norm(np.sqrt(np.array(matter)), order, np.array(cells))


_ANY = 1 << 62  # numbers of a proof, of a plan that is here already


@final
@dataclass(frozen=True, eq=False, repr=False)
class LocalPlan(Shown):
    """A plan for reports of people's own devices: the randomizer, its error and its proof.

    `ln.local` makes it, and `from_json` reads it. A device makes its report by `randomize(record)`.
    `aggregate(reports)` returns the estimate from many reports. `terms` has everything.

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
        """The budget of one report."""
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
            policies: for reports that cannot be counted as they are: malformed="drop" or "clip",
                duplicates="drop", replays="drop", foreign="drop"; "refuse" by default.

        Raises:
            FileError: where a policy refuses a report, or what is given holds none.
            TableError: where a table cannot be opened or lacks a column.
            PlanError: where a policy is unknown, or no report counts.
        """
        tally = self.tally(**policies)
        tally.add(reports)
        return tally.result()

    def central_equivalent(self, size: int, *, delta: float = 1e-6) -> CentralEquivalent:
        """Return a comparison with a trusted curator, and with shuffled reports, of n people.

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
            domain: the set, if it is or contains an `ln.Oracle` and the proof is in the document.

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
