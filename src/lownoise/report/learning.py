# SPDX-License-Identifier: Apache-2.0
"""Private learning: what a plan promises, and what a run made of it.

Nothing here depends on the records but models that were published, and how these do on records that
the caller says are public.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.report import spelling
from lownoise.report.parts import Caution, Figures, Items, Part, Prose, Section, Table, pairs
from lownoise.report.view import MOST_ROWS, columns
from lownoise.streams.view import shown_rounds

if TYPE_CHECKING:
    from lownoise.learning import Evaluation, Learned, LearningPlan
    from lownoise.learning.bounds import RegretBound

_HIDDEN = "{hidden} more numbers are in `model` and `average`."
_NO_LEDGER = (
    "Nothing was recorded: no ledger was given, so nothing counts this run against a total. Add "
    "its cost to that of every other release from the same people."
)


def plan(own: LearningPlan, *, tree: bool = True) -> list[Section]:
    """Return what a plan of private learning promises.

    Args:
        own: the plan.
        tree: whether its bound is compared with the binary tree's, which takes another plan.
    """
    title = f"{_asked(own)}, planned under {own.request.budget}."
    parts = (Figures(_figures(own), large=True), *_stated(own))
    return [
        Section("head", title, parts, kicker="Plan of private learning"),
        *_promised(own, tree=tree),
        _cost(own, Prose("A plan spends nothing; each run of it does.", note=True)),
        Section("assumptions", "Assumptions", (Items(own.assumptions),)),
    ]


def learned(own: Learned, *, tree: bool = True, public: Evaluation | None = None) -> list[Section]:
    """Return what was learned, and what it cost.

    Args:
        own: what was learned.
        tree: as that of `plan`.
        public: how the model does on public records, as `own.evaluate` says it.
    """
    title = f"{_asked(own.plan)}, learned under {own.plan.request.budget}."
    figures = _figures(own.plan)
    if public is not None:
        figures = (("Loss on public records", spelling.significant(public.loss, 4)), *figures)
        if public.accuracy is not None:
            share = f"{100 * public.accuracy:.1f}%"
            figures = (figures[0], ("Accuracy on public records", share), *figures[1:])
    said = (
        "No number says how well the model does on the records that it was learned from: that "
        "would be another release of them."
    )
    spent: Part = Caution(_NO_LEDGER, "ledger")
    if own.spend is not None:
        name = spelling.shown(own.spend.dataset)
        spent = Prose(f"Entry {own.spend.number} in the account of “{name}”.", "ledger")
    rows = zip(own.model.tolist(), own.average.tolist(), strict=True)
    table = Table(
        columns=columns("Coordinate", "Last model", "Average model"),
        rows=tuple(
            (f"{k}", spelling.significant(last, 4), spelling.significant(mean, 4))
            for k, (last, mean) in zip(range(1, MOST_ROWS + 1), rows, strict=False)
        ),
        caption="The last model, and the mean of all that batches were asked with.",
        hidden=max(own.model.size - MOST_ROWS, 0),
        rest=_HIDDEN,
        terminal=MOST_ROWS,
    )
    parts = (Figures(figures, large=True), *_stated(own.plan), Prose(said, note=True))
    return [
        Section("head", title, parts, kicker="Private learning"),
        Section("answers", "What was learned", (table,)),
        *_promised(own.plan, tree=tree),
        _cost(own.plan, spent),
        Section("assumptions", "Assumptions", (Items(own.plan.assumptions),)),
    ]


def _asked(own: LearningPlan) -> str:
    asked = own.request
    model = spelling.count(asked.dimension, "number")
    records = spelling.count(asked.records, "record")
    return f"A model of {model} from {records} in {spelling.count(own.rounds, 'round')}"


def _figures(own: LearningPlan) -> tuple[tuple[str, str], ...]:
    asked, bound = own.request, own.regret_bound
    said = "no bound" if bound is None else f"at most {spelling.at_most(bound.value, 3)}"
    return (
        ("Loss", asked.loss.name),
        ("Passes", f"{asked.epochs:,} of {asked.batches:,} batches of {asked.batch:,}"),
        ("Noise of a sum’s coordinate", spelling.significant(own.noise)),
        ("Regret a record", said),
        ("Strategy", own.strategy.replace("_", " ")),
        ("Noise kept", spelling.count(own.memory, "byte")),
    )


def _stated(own: LearningPlan) -> tuple[Prose, Prose]:
    asked, mechanism = own.request, own.stream.terms.mechanism
    passes = spelling.count(asked.epochs, "pass", "passes")
    batches = spelling.count(asked.batches, "batch", "batches")
    rounds = (
        f"{spelling.capital(passes)} of {batches} of {spelling.count(asked.batch, 'record')} make "
        f"{spelling.count(own.rounds, 'round')}, with noise of strategy {own.strategy}: "
        f"{mechanism.reason}."
    )
    noise = (
        "The noise in a coordinate of a sum of mean gradients is "
        f"{spelling.significant(own.noise, 4)}, √ of the mean variance over the rounds; "
        f"{spelling.count(own.memory, 'byte')} of it are kept."
    )
    return Prose(rounds, "rounds"), Prose(noise, "noise")


def _promised(own: LearningPlan, *, tree: bool) -> list[Section]:
    return [_noise(own), _regret(own, tree=tree)]


def _noise(own: LearningPlan) -> Section:
    rounds, gap = shown_rounds(own.rounds), own.certificate.gap
    deviations = [float(own.deviations(t, 1)[0]) for t in rounds]
    table = Table(
        columns=columns("Round", "Standard deviation"),
        rows=tuple(
            (f"{t:,}", spelling.significant(own_deviation, 4))
            for t, own_deviation in zip(rounds, deviations, strict=True)
        ),
        caption="Of the noise in each coordinate of the sum of mean gradients, by round.",
        terminal=len(rounds),
    )
    said = f"The gap to the least noise of any factorization is {spelling.gap(gap)}."
    if not own.certificate.lower > 0:
        said = "No bound on the noise of other factorizations was found."
    return Section("noise", "Noise of the sums", (table, Prose(said, "certificate")))


def _regret(own: LearningPlan, *, tree: bool) -> Section:
    title = "How far the models fall behind the best one"
    bound = own.regret_bound
    if bound is None:
        return Section("bound", title, (Prose(own.refusals["regret_bound"], "regret"),))
    said = (
        "The mean over records of the loss, of the model that was public before them, is in "
        f"expectation above the best fixed model’s by at most {spelling.at_most(bound.value, 3)}, "
        f"whatever the records and their order; that is of {bound.of}."
    )
    rows = [
        ("Diameter of the models", spelling.at_most(bound.diameter, 3)),
        ("Width of the gradients", spelling.at_most(bound.width, 3)),
        ("Noise", spelling.at_most(bound.noise, 3)),
        ("Truncation", spelling.at_most(bound.rounding, 3)),
        ("Regret a record", spelling.at_most(bound.value, 3)),
    ]
    rate = f"At the learning rate {spelling.significant(own.learning_rate, 4)}."
    parts: list[Part] = [Prose(said, "regret"), pairs(rate, rows)]
    if own.risk_bound is not None:
        risk = (
            "Where records are drawn alike and apart, the same number bounds how far the average "
            "model’s expected loss is above the best one’s."
        )
        parts.append(Prose(risk, "risk"))
    elif "risk_bound" in own.refusals:
        parts.append(Prose(f"No bound on the risk: {own.refusals['risk_bound']}", "risk"))
    compared = own.binary_tree if tree else None
    if compared is not None:
        parts.append(Prose(_beside(bound, compared), note=True))
    return Section("bound", title, tuple(parts))


def _beside(bound: RegretBound, tree: RegretBound) -> str:
    times = spelling.significant(tree.value / bound.value)
    found = spelling.at_most(tree.value, 3)
    return f"With the binary tree’s noise the bound would be {found}, {times} times this one."


def _cost(own: LearningPlan, spent: Part) -> Section:
    loss = own.stream.terms.mechanism.loss
    said = (
        f"All models of all rounds together reveal at most μ = {spelling.at_most(loss.mu)} "
        f"(Gaussian DP), ρ = {spelling.at_most(loss.rho)} (zCDP), from the final noise, rounded up."
    )
    title = "What all rounds together reveal"
    return Section("cost", title, (Prose(said, "cost"), spent))
