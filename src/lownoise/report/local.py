# SPDX-License-Identifier: Apache-2.0
"""Local plans and what reports say together: errors, guarantee, what is not counted."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import LownoiseError
from lownoise.report import spelling
from lownoise.report.lines import intervals
from lownoise.report.parts import Caution, Column, Figures, Items, Prose, Section, Table, pairs
from lownoise.report.spelling import shown
from lownoise.report.view import MOST_ROWS, columns, estimates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lownoise.local_model.estimate import LocalEstimate
    from lownoise.local_model.randomizer import LocalLoss
    from lownoise.planning import LocalPlan

_LARGEST = 700.0  # ε whose exponential is a float
_PEOPLE = (1, 10_000, 1_000_000)  # whose answers are told beside one's
_WHAT = "What it takes, or why it does not fit"
_HIDDEN = "{hidden} more answers."
_RESTS = (
    "Each person sends one report. Two cost twice, so a device sends its first answer again.",
    "The randomness is drawn by the device’s operating system, and nobody else knows it.",
    "The plan is public. Its domain, ranges and stand-ins were chosen without anybody’s record.",
    "A value outside its range counts as the nearest end, and nothing reveals whose it was.",
    "A report does not hide that it was sent, when, and from which address.",
)


def plan(own: LocalPlan, *, curator: bool = True) -> list[Section]:
    """Return what a local plan says of itself.

    Args:
        own: the plan.
        curator: whether it is compared with a trusted curator's, which takes a search.
    """
    return [
        _head(own),
        _noise(own),
        _compared(own),
        _bound(own),
        _guarantee(own),
        *((_trusted(own),) if curator else ()),
        _device(own),
        Section("assumptions", "Assumptions", (Items(_RESTS),)),
    ]


def _head(own: LocalPlan) -> Section:
    name = f" “{shown(own.terms.name)}”" if own.terms.name else ""
    asked = spelling.count(len(own.names), "answer")
    title = f"{asked} from reports of people’s own devices, each under {own.budget}."
    figures = (
        ("Budget of one report", str(own.budget)),
        ("Randomizer", own.mechanism.replace("_", " ")),
        ("Error of one report", _error(own)),
        (f"Of {_PEOPLE[1]:,} people", _error(own, _PEOPLE[1])),
        ("Error over lower bound", _over(own)),
        ("A report", spelling.count(own.report_bytes, "byte")),
    )
    said = (
        f"{_measure(own)}: {_error(own)} from one report, whatever the record, and that over √n "
        f"from n people: {_error(own, _PEOPLE[1])} from {_PEOPLE[1]:,}. How people differ "
        "comes on top where they are a sample."
    )
    parts = (Figures(figures, large=True), Prose(said, "error", note=True))
    return Section("head", title, parts, kicker=f"Locally private plan{name}")


def _error(own: LocalPlan, people: int = 1) -> str:
    return f"at most {spelling.at_most(own.error / math.sqrt(people), 3)}"


def _measure(own: LocalPlan) -> str:
    """Return what an error is: beyond p = 2 of single answers' deviations, which are less."""
    order, weighted = own.terms.order, bool(np.any(own.terms.weights != 1))
    what = "Root mean squared error" if order == 2 else "Standard deviations"  # noqa: PLR2004
    return f"{what} of all answers together{spelling.in_order(order, weighted=weighted)}"


def _over(own: LocalPlan) -> str:
    bound = own.lower_bound
    return f"at most {spelling.at_most(own.error / bound, 3)}×" if bound > 0 else "no bound"


def _noise(own: LocalPlan) -> Section:
    deviations = [own.standard_deviation / math.sqrt(people) for people in _PEOPLE]
    heads = (f"{spelling.count(n, 'person', 'people')}" for n in _PEOPLE)
    table = Table(
        columns=columns("Answer", *heads),
        rows=tuple(
            (shown(name), *(spelling.at_most(float(each[k]), 3) for each in deviations))
            for k, name in zip(range(MOST_ROWS), own.names, strict=False)
        ),
        caption=(
            "Standard deviation of each answer’s noise, at most: of the worst record, in the "
            "answer’s unit, by how many people report."
        ),
        hidden=max(len(own.names) - MOST_ROWS, 0),
        rest=_HIDDEN,
        terminal=MOST_ROWS,
    )
    note = Prose("These numbers hold whatever the records are: a plan reads none.", note=True)
    return Section("noise", "Noise of each answer", (table, note))


def _compared(own: LocalPlan) -> Section:
    found = [each for each in own.comparison if each.error is not None]
    choice = f"Only {own.mechanism} was compared."
    if len(found) > 1:
        choice = f"No randomizer that was compared has a smaller error than {own.mechanism}."
    least = found[0].error or 1.0
    table = Table(
        columns=columns("Randomizer", "Error", "Times as many people", _WHAT, words=(_WHAT,)),
        rows=tuple(
            (
                each.mechanism,
                "not available" if each.error is None else spelling.significant(each.error, 4),
                "" if each.error is None else _more((each.error / least) ** 2),
                shown(each.note),
            )
            for each in own.comparison
        ),
        caption=(
            f"{_measure(own)}, from one report; and how many times as "
            "many people must report for the same error."
        ),
        terminal=len(own.comparison),
        own=[each.mechanism for each in own.comparison].index(own.mechanism),
    )
    note = 'All of them are within the budget. `mechanism="…"` selects one that is available.'
    parts = (Prose(choice, "randomizer"), table, Prose(note, note=True))
    return Section("compared", "Randomizers compared", parts)


def _more(ratio: float) -> str:
    return f"{spelling.significant(ratio)}×"


def _bound(own: LocalPlan) -> Section:
    title = "Lower bound: what no unbiased local mechanism beats"
    if own.budget.delta:
        prose = "Nothing is proved of reports that may leave a chance delta out."
    elif own.question is None:
        prose = "This file is a device’s, which has no proof; the plan’s own file has it."
    elif not own.lower_bound > 0:
        prose = "No bound was found for this question at this budget: it is 0."
    else:
        bound = spelling.at_least(own.lower_bound)
        prose = (
            f"No mechanism that makes an unbiased estimate of reports under {own.budget} has an "
            f"error below {bound} over √n at its worst records of n people; this one's is "
            f"{_error(own)} over √n, {_over(own)} the bound."
        )
        rows = [
            ("Error of one report", _error(own)),
            ("Lower bound", bound),
            ("Error over lower bound", _over(own)),
        ]
        note = (
            "The bound is for devices that do not hear from each other; the best mechanism lies "
            "between the two numbers."
        )
        caption = f"{_measure(own)}, times √n."
        parts = (Prose(prose, "lower bound"), pairs(caption, rows), Prose(note, note=True))
        return Section("bound", title, parts)
    return Section("bound", title, (Prose(prose, "lower bound"),))


def _guarantee(own: LocalPlan) -> Section:
    loss, epsilon = own.terms.loss, own.budget.epsilon
    times = f"e^{spelling.brief_at_most(epsilon)}"
    if epsilon < _LARGEST:
        times += f" = {spelling.at_most(math.exp(epsilon), 3)}"
    likelier = (
        "Every possible report is at most "
        f"{times} times as likely from one record as from any other"
    )
    chance = (
        f", but for a chance of {spelling.brief_at_most(own.budget.delta, 3)}."
        if own.budget.delta
        else ", without exception."
    )
    note = (
        f"The final numbers of the randomizer reveal {revealed(loss)}, rounded up. Nobody is "
        "trusted with a record: not who collects the reports, nor who reads what they sent."
    )
    parts = (Prose(f"{own.budget}. {likelier}{chance}", "guarantee"), Prose(note, note=True))
    return Section("cost", "What one report reveals", parts)


def _trusted(own: LocalPlan) -> Section:
    """Return what the same people would get where somebody is trusted."""
    title = "If somebody were trusted"
    people = f"{_PEOPLE[1]:,} people"
    try:
        found = own.central_equivalent(_PEOPLE[1])
    except LownoiseError as reason:
        said = f"Nothing is known to compare with: {shown(str(reason))}."
        return Section("central", title, (Prose(said, "curator"),))
    less = spelling.significant(found.local_error / found.central_error)
    said = (
        f"A curator who is trusted with the records of {people} would err by "
        f"{spelling.significant(found.central_error)} at the same budget ({found.central_mechanism}"
        f"), {less} times less than their reports do, and by as much as these with "
        f"{spelling.count(found.people_for_equal_error, 'person', 'people')}."
    )
    parts = [Prose(said, "curator")]
    if found.shuffled_epsilon is not None and found.shuffled_local_epsilon is not None:
        delta = spelling.shortest(found.shuffled_delta)
        mixed = (
            f"All reports of {people} in random order, without their senders, reveal at most "
            f"epsilon {spelling.at_most(found.shuffled_epsilon, 3)} together at delta {delta}, "
            "where somebody is trusted to mix them; each could then have an epsilon of "
            f"{spelling.at_least(found.shuffled_local_epsilon, 3)} of its own, for all to be "
            f"within {spelling.shortest(own.budget.epsilon)}."
        )
        parts.append(Prose(mixed, "shuffler"))
    return Section("central", title, tuple(parts))


def revealed(loss: LocalLoss) -> str:
    """Return what one report reveals, each number rounded up."""
    if math.isinf(loss.epsilon):
        return f"at most {spelling.at_most(loss.mu)}-GDP"
    delta = f" and delta {spelling.brief_at_most(loss.delta, 3)}" if loss.delta else ""
    return f"at most epsilon {spelling.brief_at_most(loss.epsilon, 6)}{delta}"


def _device(own: LocalPlan) -> Section:
    integers = len(own.form.widths)
    facts = (
        ("Columns", _few(own.encoder.columns)),
        ("A report", f"{spelling.count(integers, 'integer')}, {own.report_bytes:,} bytes"),
        ("The plan’s public file", f"{len(own.to_json().encode()):,} bytes"),
        ("Order of the error", spelling.shortest(own.terms.order)),
        ("Reports name the plan by", own.form.plan),
    )
    note = (
        "`lownoise.device` reads that file and makes the report, with numpy alone. Its keeper "
        "tells a first answer again, and draws no second one."
    )
    return Section("device", "What a device needs", (Figures(facts), Prose(note, note=True)))


def _few(names: Iterable[str], most: int = 8) -> str:
    found = [shown(name) for name in names]
    more = f", … ({len(found):,})" if len(found) > most else ""
    return ", ".join(found[:most]) + more


# --- what reports say together


def estimate(found: LocalEstimate, *, level: float = 0.95) -> list[Section]:
    """Return what reports say together.

    Args:
        found: the estimate.
        level: the chance with which each interval covers.

    Raises:
        PlanError: where the level is not between 0 and 1.
    """
    met = found.met
    left = met.malformed + met.foreign + met.duplicates + met.replays
    figures = (
        ("Reports that count", f"{found.count:,}"),
        ("Left out", f"{left:,}"),
        ("Each reveals", revealed(found.randomizer.loss)),
    )
    asked, many = (spelling.count(*own) for own in ((len(found.names), "answer"), _reports(found)))
    head = Section(
        "head",
        f"{asked} from {many} of people’s own devices.",
        (Figures(figures, large=True),),
        kicker="Local estimate",
    )
    return [head, _answers(found, level), _left(found), _made_up(found)]


def _reports(found: LocalEstimate) -> tuple[int, str]:
    return found.count, "report"


def _answers(found: LocalEstimate, level: float) -> Section:
    ends = found.interval(level)
    percent = f"{100 * level:g}%"
    noises = (found.standard_deviation, found.influence)
    table = Table(
        columns=(
            Column("Answer", "name"),
            Column("Estimate", "estimate", level),
            Column("Standard deviation"),
            Column("One report moves it"),
        ),
        rows=tuple(
            zip(
                map(shown, found.names),
                estimates(found.estimate, ends),
                *(map(spelling.significant, each.tolist()) for each in noises),
                strict=True,
            )
        )[:MOST_ROWS],
        caption=(
            f"Estimates with {percent} intervals, standard deviations, and by how much any one "
            "report moves an answer at most, each in the answer’s unit."
        ),
        hidden=max(len(found.names) - MOST_ROWS, 0),
        rest=_HIDDEN,
        terminal=MOST_ROWS,
    )
    note = (
        f"Each interval covers with probability {percent}, approximately, over the reports and "
        "over how people differ. Sampling error and made-up reports are not included. Estimates "
        "are unbiased, so a small share may be below 0."
    )
    chart = intervals(found.names, found.estimate, ends, found.encoder.ends)
    return Section("answers", "Answers", (chart, table, Prose(note, note=True)))


def _left(found: LocalEstimate) -> Section:
    names = (
        "Malformed: no reports, or out of their ranges",
        "Clipped: counted after integers were moved into their ranges",
        "Of another plan",
        "Sent again, under the same identifier",
        "Identifiers under which different reports came: none of them counts",
    )
    rows = [(name, f"{n:,}") for name, n in zip(names, astuple(found.met), strict=True) if n]
    said = "All reports that were given count as they came."
    if rows:
        brief = [(name.partition(":")[0].partition(",")[0], n) for name, n in rows]
        each = "; ".join(f"{n} {name[0].lower()}{name[1:]}" for name, n in brief)
        said = f"Not counted as they came, as the collector declared beforehand: {each}."
    table = (pairs("How many reports, and why.", rows),) if rows else ()
    return Section("left", "What was not counted", (Prose(said, "not counted"), *table))


def _made_up(found: LocalEstimate) -> Section:
    moved = found.influence > 0
    ratios = found.standard_deviation[moved] / found.influence[moved]
    title = "What made-up reports can do"
    if not ratios.size:
        return Section("moved", title, (Prose("No report moves an answer."),))
    k = int(np.argmin(ratios))
    name = shown(found.names[int(np.flatnonzero(moved)[k])])
    few = max(math.ceil(float(ratios[k])), 1)
    said = (
        f"{spelling.count(few, 'report')} made up in agreement can move “{name}” by one standard "
        "deviation, and no answer by fewer. Nobody can tell a made-up report from an honest one: "
        "that is what hides the record. Admit one report a person, by other means."
    )
    return Section("moved", title, (Caution(said, "made up"),))
