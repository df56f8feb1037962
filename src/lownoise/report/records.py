# SPDX-License-Identifier: Apache-2.0
"""Reports of what is no plan or release: enclosures, comparisons, verifications, accounts.

Reports of projected answers: beside what was released, with how near they are and their bias.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.privacy.entries import amounts
from lownoise.questions import Marginals
from lownoise.report import spelling
from lownoise.report.parts import Caution, Column, Figures, Items, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.privacy import Ledger
    from lownoise.release.nearest import Projected
    from lownoise.release.verification import Verification
    from lownoise.theory.audit import Audit
    from lownoise.theory.comparison import Comparison
    from lownoise.theory.enclosure import Enclosure

_LONG = re.compile(r"-?\d+\.\d{6,}(e-?\d+)?|-?\d\.\d+e-?\d+")
_WIDE = 90  # letters


def enclosure(found: Enclosure, names: Sequence[str] | None = None) -> list[Section]:
    """Return the center and half width of an ellipsoid in each coordinate, then its proof."""
    proof = found.certificate
    given = names or [f"x{k}" for k in range(found.center.size)]
    widths = found.shape.deviations().tolist()
    table = Table(
        columns=(
            Column("Coordinate", "name"),
            Column("Center"),
            Column("Half width = sd at ρ = 1/2", "value"),
        ),
        rows=tuple(
            (shown(name), spelling.significant(center, 6), spelling.significant(width, 6))
            for name, center, width in zip(given, found.center.tolist(), widths, strict=True)
        )[:MOST_ROWS],
        caption="The ellipsoid reaches that far from its center in each coordinate.",
        hidden=max(found.center.size - MOST_ROWS, 0),
        rest="{hidden} more coordinates.",
        terminal=MOST_ROWS,
    )
    upper, lower = (spelling.significant(end, 9) for end in (proof.upper, proof.lower))
    gap = spelling.at_most(proof.gap, 2)
    ended = f"{found.status[0].upper()}{found.status[1:]}; Newton steps: {found.iterations}."
    proved = f"At most {upper}; at least {lower}, in the unit of {proof.unit}; gap {gap}."
    figures = Figures((("At most", upper), ("At least", lower), ("Gap", gap)), large=True)
    title = f"The least ellipsoid around a set of {len(given):,} coordinates."
    return [
        Section("head", title, (figures,), kicker="Enclosure"),
        Section("coordinates", "Where it lies", (table,)),
        Section(
            "certificate",
            "Certificate: how close to least",
            (Prose(proved, "least"), Prose(ended, "search")),
        ),
    ]


def enclosure_dict(names: Sequence[str], found: Enclosure) -> dict[str, Any]:
    """Return an enclosure as JSON values, with the matrix M of the shape."""
    proof = found.certificate
    return {
        "names": list(names),
        "center": found.center.tolist(),
        "matrix": found.shape.dense().tolist(),
        "certificate": {"lower": proof.lower, "upper": proof.upper, "gap": proof.gap},
        "status": found.status,
        "iterations": found.iterations,
    }


def checks(verification: Verification) -> list[Section]:
    """Return each check with its verdict."""
    table = Table(
        columns=(Column("Check", "name"), Column("Verdict", "words"), Column("Computed", "words")),
        rows=tuple(
            (
                shown(check.name),
                "holds" if check.holds else "DOES NOT HOLD",
                _brief(shown(check.found)),
            )
            for check in verification.checks
        ),
        terminal=MOST_ROWS,
    )
    title = "Everything holds." if verification else "It does not hold."
    return [Section("head", title, (table,), kicker="Verification")]


def comparison(found: Comparison) -> list[Section]:
    """Return unbiased mechanisms side by side, with what binds each of them."""
    table = Table(
        columns=(
            Column("Mechanism", "name"),
            Column("Privacy", "words"),
            Column("Bias"),
            Column("Error here", "value"),
            Column("Error beside"),
            Column("At least"),
        ),
        rows=tuple(
            (
                row.mechanism,
                row.privacy,
                spelling.significant(row.bias, 3),
                spelling.significant(row.error, 4),
                spelling.significant(row.neighbour_error, 4),
                spelling.significant(row.bound.value, 4),
            )
            for row in found.rows
        ),
        caption="Errors in root mean square: on this table, and on the worst that differs from it "
        "in one row. The last column is what no unbiased mechanism of that privacy is below: "
        "everywhere, or under (ε, δ) here or on a neighbour.",
        terminal=MOST_ROWS,
    )
    title = f"Unbiased means of {spelling.count(found.size, 'row')} under {found.budget}."
    kinds = {row.bound.binds: row.bound for row in found.rows}
    said = Items(tuple(map(str, kinds.values())))
    return [
        Section("head", title, (table,), kicker="Comparison"),
        Section("bounds", "What binds them", (said,)),
    ]


def audit(found: Audit, names: Sequence[str] | None = None) -> list[Section]:
    """Return whether a covariance is private, whether it can be true, and what it wastes."""
    size = found.tightest.vector.size
    given = names or [f"answer {k}" for k in range(size)]
    rows = zip(given, found.tightest.vector.tolist(), found.wasteful.vector.tolist(), strict=True)
    table = Table(
        columns=(Column("Answer", "name"), Column("Tightest"), Column("Most wasteful")),
        rows=tuple(
            (shown(name), spelling.significant(tight, 3), spelling.significant(waste, 3))
            for name, tight, waste in rows
        )[:MOST_ROWS],
        caption="Two combinations of the answers: where one record moves them most beside their "
        "noise, and where it moves them least.",
        hidden=max(size - MOST_ROWS, 0),
        rest="{hidden} more answers.",
        terminal=MOST_ROWS,
    )
    low, high = (spelling.significant(end, 4) for end in found.excess)
    needs = spelling.at_most(found.rho, 4)
    figures = Figures((("Needs rho", needs), ("Times the least", low)), large=True)
    allowed = found.budget.gaussian_parameter()
    less = "is NOT private" if found.mu[0] > allowed else "is not shown to be private"
    keeps = "is private" if found.private else less
    title = f"Gaussian noise of this covariance {keeps} under {found.budget}."
    ends = [
        *(spelling.at_least(end[0], 6) for end in (found.mu, found.least)),
        *(spelling.at_most(end[1], 6) for end in (found.mu, found.least)),
    ]
    waste = spelling.significant(found.wasteful.factor, 4)
    deviation = spelling.significant(found.deviation, 6)
    said = (
        Prose(f"{needs}-zCDP; its μ is from {ends[0]} to {ends[2]}.", "needs"),
        Prose(_possible(found), "possible"),
        Prose(
            f"{low} to {high} times: ‖standard deviations‖_{found.order:g} is {deviation}, and "
            f"Gaussian noise as private needs from {ends[1]} to {ends[3]}."
            if math.isfinite(found.rho)
            else "Not known: some change meets no noise, so there is no privacy to compare at.",
            "over the least",
        ),
        Prose(f"{found.bound}.", "any unbiased"),
        Prose(f"Where most, {waste} times what changes along there need.", "waste"),
    )
    return [
        Section("head", title, (figures,), kicker="Audit"),
        Section("findings", "What follows", said),
        Section("directions", "Where it is tight and where it wastes", (table,)),
    ]


def _possible(found: Audit) -> str:
    """Return whether any unbiased mechanism may have a covariance."""
    tight = found.tightest
    if found.possible:
        return "An unbiased mechanism of this budget may have it."
    return (
        "No unbiased mechanism of this budget has it, on any dataset: along the tightest direction "
        f"its deviation is {spelling.significant(tight.deviation, 4)}, and one record moves the "
        f"answer by {spelling.significant(tight.change, 4)}."
    )


def _brief(found: str) -> str:
    """Return the numbers of a check to six digits, and not too many of them."""
    text = _LONG.sub(lambda number: f"{float(number[0]):.6g}", found)
    return text if len(text) <= _WIDE else f"{text[:_WIDE]}…"


def account(ledger: Ledger) -> list[Section]:
    """Return what the dataset may spend, has spent, and each spend."""
    rows = []
    for entry in ledger.entries():
        numbers = ", ".join(f"{k}={v:.6g}" for k, v in asdict(entry.event).items())
        when = entry.created[:16].replace("T", " ")
        what = f"{entry.event.kind} {numbers}"
        if entry.uses is not None:
            what += f"; {entry.uses.taken:,} of {spelling.count(entry.uses.uses, 'use')} taken"
        rows.append((str(entry.id), entry.state, what, shown(entry.note), when))
    table = Table(
        columns=(
            Column("Spend", "name"),
            Column("State", "words"),
            Column("What", "words"),
            Column("Note", "words"),
            Column("When", "words"),
        ),
        rows=tuple(rows),
        terminal=MOST_ROWS,
    )
    said = f"{spent_text(ledger)}; {reading_text(ledger)}{relation_text(ledger)}"
    spends = (table,) if rows else (Prose("Nothing was spent yet.", "spends"),)
    return [Section("head", f"{shown(ledger.dataset)}: {said}", spends, kicker="Account")]


def spent_text(account: Ledger) -> str:
    """Return what is spent of the budget, in what adds up: of an (ε, δ) not the δ at all of ε."""
    budget, taken = account.budget(), account.taken()
    if account.reading() == "mixed" or len(asdict(budget)) == len(taken) == 1:
        return f"spent {account.spent()} of {budget}"
    if not any(taken.values()):
        return f"nothing spent of {budget}"
    return f"spent {amounts(taken)} of {budget}"


def reading_text(account: Ledger) -> str:
    """Return what adds up over the account's spends, and what is left of it."""
    reading, left = account.reading(), account.remaining()
    if reading is None:
        return "its first spend fixes what adds up"
    if reading == "mixed":
        return (
            "an older version took its spends by no one reading, so it pays for nothing more; "
            "what still holds is the sum of their (epsilon, delta)"
        )
    kind = reading if isinstance(reading, str) else reading.kind
    if not isinstance(reading, str) and reading.like != kind:
        kind = f"{reading.like} with a delta aside"
    squares = " (its squares add up)" if "mu" in left else ""
    return f"reading {kind}, {amounts(left)} left{squares}"


def relation_text(account: Ledger) -> str:
    """Return what the neighbours are of all spends, and nothing where none says it."""
    found = {e.relation for e in account.entries() if e.state != "cancelled"} - {None}
    return "".join(f"; relation {name}" for name in sorted(filter(None, found)))


def account_dict(account: Ledger) -> dict[str, Any]:
    """Return an account as JSON values."""
    reading = account.reading()
    return {
        "ledger": account.identifier(),
        "dataset": account.dataset,
        "budget": asdict(account.budget()),
        "spent": asdict(account.spent()),
        "reading": reading if reading is None or isinstance(reading, str) else asdict(reading),
        "taken": account.taken(),
        "remaining": account.remaining(),
        "entries": [
            {
                "id": entry.id,
                "state": entry.state,
                "event": {"kind": entry.event.kind, **asdict(entry.event)},
                "pair": entry.pair,
                "relation": entry.relation,
                "uses": entry.uses and asdict(entry.uses),
                "note": entry.note,
                "created": entry.created,
            }
            for entry in account.entries()
        ],
    }


_NORMS = {"noise": "the norm of the noise", "euclidean": "the Euclidean norm of the error"}
_SETS = {
    "domain": "the answers that tables can have",
    "nonnegative": "marginals that agree and have no cell below 0",
}


def projected(found: Projected) -> list[Section]:
    """Return projected answers beside the released ones, and how near to the nearest they are."""
    question = found.release.terms.question
    marginals = isinstance(question, Marginals)
    count = question.count if marginals else found.estimate.size
    asked = spelling.count(count, "marginal" if marginals else "answer")
    title = f"{asked}, projected onto {_SETS[found.onto]}: biased."
    rows = list(islice(_rows(found), MOST_ROWS))
    every = (question.cells if marginals else count) - len(rows)
    table = Table(
        columns=(Column("Answer", "name"), Column("Projected", "value"), Column("Released")),
        rows=tuple(
            (shown(name), spelling.significant(new, 6), spelling.significant(old, 6))
            for name, new, old in rows
        ),
        caption="What was released is unbiased, and stays what intervals are about.",
        hidden=every,
        rest="{hidden} more answers.",
        terminal=MOST_ROWS,
    )
    ended = "within what was asked for" if found.converged else "not within what was asked for"
    figures = (
        ("Nearest in", _NORMS[found.norm]),
        ("Moved by", spelling.significant(found.distance, 4)),
        ("From the nearest, at most", f"{spelling.at_most(found.gap, 2)}, {ended}"),
        ("Steps", f"{found.iterations:,}"),
    )
    return [
        Section("head", title, (Caution(found.biased, "biased"),), kicker="Projected answers"),
        Section("answers", "Answers", (table,)),
        Section(
            "nearest",
            "How near",
            (
                Figures(figures),
                Prose(
                    "No plan chooses this: its errors are compared with no lower bound here, for "
                    "those are of unbiased mechanisms.",
                    "bounds",
                    note=True,
                ),
            ),
        ),
    ]


def _rows(found: Projected) -> Iterator[tuple[str, float, float]]:
    """Yield the names of answers, what they are now and what was released."""
    if not isinstance(found.release.terms.question, Marginals):
        old = found.release.estimate.tolist()
        yield from zip(found.release.names, found.estimate.tolist(), old, strict=True)
        return
    labels = {a.name: a for a in found.release.terms.question.attributes}
    both = zip(found.marginals(), found.release.marginals(), strict=True)
    for (names, new), (_, old) in both:
        for place in np.ndindex(new.shape):
            said = [f"{n}={labels[n].label(k)}" for n, k in zip(names, place, strict=True)]
            yield ", ".join(said) or "rows", float(new[place]), float(old[place])
