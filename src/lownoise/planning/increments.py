# SPDX-License-Identifier: Apache-2.0
"""Sums of clipped gradients, batch by batch, and a budget become noise; no data are read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arrays import frozen
from lownoise.planning.strategies import STRATEGIES, Choice
from lownoise.privacy import GaussianEvent
from lownoise.privacy.budget import budget_to_dict, checked_budget
from lownoise.questions.streams import Decayed, Prefix
from lownoise.release.guarantees import Cost, cost_of
from lownoise.solvers.streams import divide, enough_buffers, optimal_toeplitz, round_weights
from lownoise.streams.carried import GRID, BandedCarried, RecursiveCarried
from lownoise.streams.increments import IncrementMechanism, check_increments
from lownoise.streams.journal import IncrementRun
from lownoise.streams.recursive import FARTHEST, RecursivePair

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from lownoise.privacy import Budget, Payer
    from lownoise.questions import AbstractStreamWorkload
    from lownoise.sensitivity.participation import Participation
    from lownoise.streams.carried import AbstractCarried

_FINE, _COARSE = 26, 23  # log2 of the noise in steps; the coarser fits in numbers of 4 bytes
_DEAR = 1.01  # times the noise, above which numbers of 4 bytes are not taken
_SUM_BITS = 48
_MEMORY = 4  # numbers a parameter, where nobody says how many
_MOST_MEMORY = 1024
_MOST_BUFFERS = 24
NAMES = ("identity", "banded", "rational")


@final
@dataclass(frozen=True, eq=False)
class IncrementPlan:
    """A run before any data are read: its noise, its memory and its cost.

    Args:
        mechanism: what is published, a batch a round.
        budget: what it was asked with.
        workload: what the iterates are of the increments.
        error: the root mean square deviation of an iterate's coordinate by noise, in units of the
            clip over all rounds: of W·C⁻¹'s rows, times the noise.
        asked: what it is for, as JSON values.
    """

    mechanism: IncrementMechanism
    budget: Budget
    workload: AbstractStreamWorkload
    error: float
    asked: dict[str, Any]

    @property
    def multiplier(self) -> float:
        """The noise multiplier: σ beside the clip, in one sum, before noise is taken back."""
        return self.mechanism.multiplier

    @property
    def memory(self) -> int:
        """The bytes of noise kept from round to round."""
        return self.mechanism.memory

    @property
    def rounds(self) -> int:
        """The number of steps."""
        return self.mechanism.rounds

    @property
    def strategy(self) -> str:
        """The factorization's name."""
        return self.mechanism.strategy

    @property
    def reason(self) -> str:
        """Why it was chosen."""
        return self.mechanism.reason

    @property
    def cost(self) -> Cost:
        """What all steps together reveal, rounded up."""
        return cost_of(GaussianEvent(self.mechanism.loss.mu), self.budget)

    def __str__(self) -> str:
        own = self.mechanism
        kept = f"{own.carried.buffers} a parameter, {self.memory / 1e6:,.1f} MB"
        return "\n".join(
            [
                f"steps       {own.rounds:,}, of at most {own.people:,} people",
                f"one person  adds to {own.participation.phrase}",
                f"strategy    {own.strategy}: {own.reason}",
                f"noise       {self.multiplier:.6g} times the clip of {own.clip:g}",
                f"of iterates {self.error:.6g} times the clip, on average over steps",
                f"memory      {kept}",
                f"cost        {self.cost.mu:.6g}-GDP, within {self.budget}",
            ]
        )

    def start(
        self,
        *,
        ledger: Payer | None = None,
        path: str | PathLike[str] | None = None,
        threads: int | None = None,
    ) -> IncrementRun:
        """Pay for all steps, and return the run before its first.

        Args:
            ledger: the account that pays, once and for all steps.
            path: a new file for the journal, without which no checkpoint is gone on from.
            threads: how many make noise at once.

        Raises:
            PlanError, LedgerError, FileError: as `IncrementRun.begin`.
        """
        return IncrementRun.begin(
            self.mechanism,
            budget=self.budget,
            ledger=ledger,
            path=path,
            asked=self.asked,
            note=f"training, {self.rounds:,} steps",
            threads=threads,
        )

    def resume(
        self,
        path: str | PathLike[str],
        state: dict[str, Any] | None = None,
        *,
        ledger: Payer | None = None,
        threads: int | None = None,
    ) -> IncrementRun:
        """Return the run of a journal, at a checkpoint; nothing is charged.

        Raises:
            FileError, LedgerError, StreamError: as `IncrementRun.resume`.
        """
        return IncrementRun.resume(path, state, asked=self.asked, ledger=ledger, threads=threads)


def plan_increments(  # noqa: PLR0913 (all but the first by name)
    dimension: int,
    *,
    rounds: int,
    people: int,
    clip: float,
    budget: Budget,
    participation: Participation,
    workload: AbstractStreamWorkload | None = None,
    strategy: str = "auto",
    memory: int | None = None,
    relation: str = "add_remove",
    asked: dict[str, Any] | None = None,
) -> IncrementPlan:
    """Plan the noise of sums of people's clipped vectors, a sum a round.

    Args:
        dimension: d, of the vectors.
        rounds: n.
        people: how many add to a round at most.
        clip: the length that each one's vector is cut to.
        budget: what all rounds together may reveal.
        participation: the rounds that one person may add to.
        workload: what is computed of the sums, for which noise is made small: `ln.Prefix(n)`, by
            default, or another that depends on t − s alone.
        strategy: "identity", independent noise; "banded", "rational"; "auto" takes the best.
        memory: how many numbers of noise are kept for each coordinate; by default 4.
        relation: "add_remove", one person's vectors become 0; "substitute", any others.
        asked: what it is for, as JSON values.

    Raises:
        PlanError, BudgetError: where an argument is out of range.

    Examples:
        >>> import lownoise as ln
        >>> from lownoise.sensitivity.participation import Participation
        >>> plan = plan_increments(1000, rounds=40, people=50, clip=1.0, budget=ln.zcdp(0.5),
        ...     participation=Participation(4, 10, "spaced"))
        >>> plan.strategy, plan.cost.mu <= 1
        ('rational', True)
    """
    parameter = checked_budget(budget).gaussian_parameter()
    check_increments(rounds, dimension, people, clip, relation)
    participation.check(rounds)
    own = Prefix(rounds) if workload is None else workload
    if own.rounds != rounds or not own.toeplitz:
        raise PlanError(
            f"workload={type(own).__name__} must be of {rounds:,} rounds and depend on t - s "
            "alone; use ln.Prefix"
        )
    if not isinstance(strategy, str) or strategy not in ("auto", *NAMES):
        raise PlanError(f"strategy={quoted(strategy)} is unknown; give auto, {', '.join(NAMES)}")
    if memory is not None and (
        isinstance(memory, bool) or not isinstance(memory, int) or not 1 <= memory <= _MOST_MEMORY
    ):
        raise PlanError(f"memory={quoted(memory)} is out of range; give 1 to {_MOST_MEMORY:,}")
    keeps = min(_MEMORY if memory is None else memory, max(rounds - 1, 1))

    def planned(name: str) -> IncrementPlan:
        carried = _MAKERS[name](own, participation, keeps)

        def made(exponent: int, deviation: float) -> IncrementMechanism:
            return IncrementMechanism(
                carried=carried,
                rounds=rounds,
                dimension=dimension,
                clip=float(clip),
                exponent=exponent,
                deviation=deviation,
                people=people,
                participation=participation,
                relation=relation,
                strategy=name,
            )

        moved = carried.pair(rounds).sensitivity_up(participation)
        about = moved * float(clip) / parameter
        most = math.ldexp(1.0, _SUM_BITS) / max(people * parameter, 1.0)
        if carried.buffers:
            most = min(most, carried.most / (4 * FARTHEST * carried.inverse_up(rounds)))
        fitted = _fitted(made, about, most, parameter)
        deviation = fitted.deviation * fitted.step / fitted.clip
        noise = divide(own.first_column(), carried.first_column(rounds))
        square = float(round_weights(rounds, "mean") @ np.square(noise))
        fields = {**(asked or {}), "mechanism": fitted.to_dict(), "budget": budget_to_dict(budget)}
        return IncrementPlan(fitted, budget, own, deviation * math.sqrt(square), fields)

    if strategy != "auto":
        return planned(strategy)
    names = [n for n in NAMES if n != "rational" or isinstance(own, (Prefix, Decayed))]
    found = min((planned(n) for n in names if rounds > 1 or n == "identity"), key=lambda p: p.error)
    kept = found.mechanism.carried.buffers
    reason = f"it errs least of those that keep up to {keeps} numbers a parameter; it keeps {kept}"
    return replace(found, mechanism=replace(found.mechanism, reason=reason))


def _fitted(
    made: Callable[[int, float], IncrementMechanism], about: float, most: float, parameter: float
) -> IncrementMechanism:
    """Return the mechanism with its grid and the noise that μ asks for.

    Args:
        made: of log2 of a step, and the noise in steps.
        about: about what the noise will be.
        most: that, in steps.
        parameter: μ.
    """
    room = math.floor(math.log2(most))

    def on(bits: int) -> IncrementMechanism:
        exponent = math.floor(math.log2(about)) - min(bits, room)
        return made(exponent, math.ldexp(about, -exponent)).fitted(parameter)

    fine = on(_FINE)
    if not fine.carried.buffers:
        return fine
    coarse = on(_COARSE)
    cheap = coarse.kept_as.itemsize < fine.kept_as.itemsize
    wide = coarse.deviation * coarse.step > _DEAR * fine.deviation * fine.step
    return coarse if cheap and not wide else fine


def _identity(
    workload: AbstractStreamWorkload, participation: Participation, keeps: int
) -> AbstractCarried:
    return BandedCarried(frozen(np.ones(1)))


def _banded(
    workload: AbstractStreamWorkload, participation: Participation, keeps: int
) -> AbstractCarried:
    column = workload.first_column()
    best = optimal_toeplitz(column, "mean", participation, min(keeps + 1, column.size))
    own = np.rint(best[: keeps + 1] / best[0] / GRID) * GRID
    last = int(np.flatnonzero(own)[-1])
    return BandedCarried(frozen(own[: last + 1].copy()))


def _rational(
    workload: AbstractStreamWorkload, participation: Participation, keeps: int
) -> AbstractCarried:
    why = STRATEGIES["rational"].refuses(workload)
    if why:
        raise PlanError(f'strategy="rational" {why}; use another, or "auto"')
    rate = workload.rate if isinstance(workload, Decayed) else 1.0
    few = min(keeps, _MOST_BUFFERS)
    if few > _MEMORY:
        with np.errstate(all="ignore"):  # likewise
            few = min(few, enough_buffers(rate, workload.rounds, "mean", participation))
    choice = Choice(error="mean", memory=few, participation=participation)
    with np.errstate(all="ignore"):  # far points of the search, from which it comes back
        pair = STRATEGIES["rational"].make(workload, choice).pair
    assert isinstance(pair, RecursivePair)  # noqa: S101 (what the strategy makes)
    return RecursiveCarried(pair)


_MAKERS: dict[str, Callable[[AbstractStreamWorkload, Participation, int], AbstractCarried]] = {
    "identity": _identity,
    "banded": _banded,
    "rational": _rational,
}
