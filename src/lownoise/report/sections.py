# SPDX-License-Identifier: Apache-2.0
"""Any plan or release as one list of sections; the one place that knows which kinds there are.

And what `repr`, `print` and notebooks show of them, which `release.readable` asks for by name, so
that no room below this one imports it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError
from lownoise.kinds import resolved
from lownoise.learning import Evaluation, Learned, LearningPlan
from lownoise.local_model.estimate import LocalEstimate
from lownoise.planning import LocalPlan
from lownoise.privacy import Ledger
from lownoise.release.change import Change
from lownoise.release.nearest import Projected
from lownoise.release.verification import Verification
from lownoise.report import changes, learning, local, records, spelling
from lownoise.report.parts import (
    Caution,
    Chart,
    Figures,
    Items,
    Prose,
    Section,
    Table,
    render_html,
    render_text,
)
from lownoise.report.proofs import ALSO, GaussianWords, PureWords
from lownoise.theory.audit import Audit
from lownoise.theory.comparison import Comparison
from lownoise.theory.enclosure import Enclosure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lownoise.report.parts import Part
    from lownoise.report.proofs import AbstractNoiseWords
    from lownoise.report.view import AbstractView

RECORDS: dict[type, Callable[..., list[Section]]] = {
    Audit: records.audit,
    Comparison: records.comparison,
    Projected: records.projected,
    Enclosure: records.enclosure,
    Ledger: records.account,
    Verification: records.checks,
    LocalPlan: local.plan,
    LocalEstimate: local.estimate,
    LearningPlan: learning.plan,
    Learned: learning.learned,
}
_FEW_COLUMNS = 4  # whose stand-ins are said first
_SEARCHED = {LocalPlan: "curator", LearningPlan: "tree", Learned: "tree"}  # what takes a while


def sections(
    subject: object,
    *,
    level: float = 0.95,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    public: Evaluation | None = None,
) -> list[Section]:
    """Return what a report of anything says; `render_text` and `render_html` write it.

    Args:
        subject: a plan, its `terms`, a release, a change, a local plan or its estimate, a plan of
            learning or what was learned, an enclosure, an audit, a verification or a ledger's
            account.
        level: the chance with which each interval covers.
        marginal: of a release of marginals, the names of the attributes whose marginal is shown
            with its intervals; the first one-way marginal by default. Of means by groups those
            that rows are grouped by; of the last margin that was asked for by default.
        answers: of linear queries that were released, the places of those that are shown with their
            intervals, as in `release.estimate`; the first ones by default.
        names: of an enclosure's coordinates, or of an audit's answers.
        public: of what was learned, how it does on public records.

    Raises:
        PlanError: for anything else; where the level is not between 0 and 1.
        QuestionError: where the marginal does not follow from what was released, or there is no
            such answer.

    Examples:
        >>> import lownoise as ln
        >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
        ...                relation="substitute", size=1000)
        >>> [section.name for section in sections(plan)]
        ['head', 'noise', 'compared', 'certificate', 'bound', 'cost', 'assumptions', 'making']
    """
    if isinstance(subject, Change):
        return changes.sections(changed(subject, level=level, marginal=marginal))
    if type(subject) in RECORDS:
        chosen: dict[str, Any] = {} if names is None else {"names": names}
        if type(subject) is LocalEstimate:
            chosen["level"] = level
        if public is not None:
            chosen["public"] = public
        return RECORDS[type(subject)](subject, **chosen)
    view = view_of(subject, level=level, marginal=marginal, answers=answers)
    words = noise_words(view)
    return [
        _head(view, words),
        *((view.answers(),) if view.release is not None else ()),
        *view.noise(),
        *words.proofs(),
        _cost(view, words),
        Section("assumptions", "Assumptions", (Items(tuple(view.terms.assumptions)),)),
        _making(view, words),
    ]


def view_of(
    subject: Any,  # noqa: ANN401
    *,
    level: float = 0.95,
    marginal: Sequence[str] | None = None,
    answers: Sequence[int] | None = None,
) -> AbstractView:
    """Return what the question of a plan, of terms or of a release says of it.

    Args, Raises: as those of `sections`.
    """
    terms = subject.terms if hasattr(subject, "terms") else subject
    if not hasattr(terms, "mechanism"):
        raise PlanError(
            f"subject={type(subject).__name__} has no page; give a release or a plan, of several "
            "questions one of theirs, as release['name']"
        )
    release = subject if hasattr(subject, "integers") else None
    view: type[AbstractView] = resolved(terms.question.parts.page)
    given = {"marginals": marginal, "linear queries": answers}
    for what, chosen in given.items():
        if chosen is not None and (release is None or what != view.takes):
            name = "marginal" if what == "marginals" else "answers"
            said = tuple(chosen) if what == "marginals" else list(chosen)
            raise PlanError(f"{name}={said} is for a release of {what}; leave it out")
    return view(
        terms=terms,
        release=release,
        level=level,
        gaussian=terms.gaussian,
        by_rows=getattr(subject, "by_rows", None),
        chosen=subject.last if hasattr(subject, "last") else given.get(view.takes),
    )


def changed(
    subject: Change, *, level: float = 0.95, marginal: Sequence[str] | None = None
) -> changes.ChangeView:
    """Return what a change says of itself; arguments as of `sections`."""
    view = view_of(subject.later, level=level, marginal=marginal)
    return changes.ChangeView(change=subject, view=view, level=level, chosen=view.chosen)


def noise_words(view: AbstractView) -> AbstractNoiseWords:
    """Return what the noise of a plan or a release says of itself."""
    return GaussianWords(view) if view.gaussian else PureWords(view)


def _head(view: AbstractView, words: AbstractNoiseWords) -> Section:
    release = view.release
    rows = [("Budget", view.budget), *words.figures()]
    if release is not None:
        rows.append(("Ledger", f"entry {release.spend.number}" if release.spend else "none"))
    kind = "plan" if release is None else "release"
    error = (
        f"The error in root mean square is {words.error()} for {view.whose}, {view.wording.unit}."
    )
    said = " ".join(filter(None, (error, view.typical())))
    return Section(
        "head",
        headline(view),
        (
            Figures(tuple(rows), large=True),
            Prose(said, "error", note=True),
            *_unit(view),
            *_left_out(view),
            *_missing(view),
        ),
        kicker=f"Differentially private {kind}",
    )


def _left_out(view: AbstractView) -> tuple[Prose, ...]:
    """Return which rows are left out, where some may be: the question alone decides."""
    said = view.terms.view.left_out
    return (Prose(spelling.shown(said), "left out", note=True),) if said else ()


def _missing(view: AbstractView) -> tuple[Prose, ...]:
    """Return what a missing value counts as, where its row is not left out."""
    question = view.terms.question
    mean = getattr(question, "mean", question)
    if getattr(mean, "drops_missing", True):
        return ()
    values = zip(mean.missing.tolist(), mean.sources, strict=True)
    each = [f"{spelling.shortest(own)} in {name}" for own, name in islice(values, _FEW_COLUMNS)]
    more = len(mean.sources) - len(each)
    said = ", ".join(each) + f" and so on for {spelling.count(more, 'more column')}" * (more > 0)
    said = f"A missing value counts as {said}"
    if view.terms.size is None:
        said += '; missing="drop" would leave its row out'
    return (Prose(spelling.shown(f"{said}."), "missing", note=True),)


def _unit(view: AbstractView) -> tuple[Prose, ...]:
    """Return whose rows are hidden together, where that is not each row."""
    if view.unit is None:
        return ()
    said = [*view.unit.sentences[:-1], f"In a neighbouring table, {view.changed}."]
    if view.by_rows is not None:
        rows = spelling.significant(view.by_rows)
        said.append(f"With a bound on rows only, not on their total, the error would be {rows}.")
    return (Prose(spelling.shown(" ".join(said)), "privacy unit", note=True),)


def headline(view: AbstractView) -> str:
    """Return the one sentence of a plan or a release."""
    release, asked = view.release, view.wording.asked
    rows = "" if view.size is None else spelling.count(view.size, "row")
    if release is None or release.spend is None:
        verb = "planned" if release is None else "released"
        return f"{asked}{rows and f' of {rows}'}, {verb} under {view.budget}."
    source = spelling.shown(release.spend.dataset) + (rows and f" ({rows})")
    return f"{asked} of {source}, released under {view.budget}."


def _cost(view: AbstractView, words: AbstractNoiseWords) -> Section:
    """Return the cost, and where it was booked or the warning that it was not."""
    release, shared = view.release, view.terms.shared
    if release is None:
        spent: Prose | Caution = Prose("A plan spends nothing; each release of it does.", note=True)
    elif release.spend is not None:
        name = spelling.shown(release.spend.dataset)
        paid = f"Entry {release.spend.number} in the account of “{name}”"
        if shared is not None and release.spend.use is not None:
            paid += f": use {release.spend.use} of the {shared.uses:,} that share it"
        spent = Prose(f"{paid}.", "ledger")
    elif shared is not None:
        spent = Caution(
            "Nothing was recorded: no ledger was given, so it is not known which of its "
            f"{spelling.count(shared.uses, 'use')} this release is, or whether one was left.",
            "ledger",
        )
    else:
        spent = Caution(
            "Nothing was recorded: no ledger was given, so nothing counts this release against a "
            "total. Add its cost to that of every other release from the same people.",
            "ledger",
        )
    title = "What it will cost" if release is None else "What it cost"
    return Section("cost", title, (*words.cost(), spent))


def _making(view: AbstractView, words: AbstractNoiseWords) -> Section:
    """Return what the terms hide, what was asked, and when and with what a release was made."""
    release = view.release
    rows = [*view.neighbours(), *view.wording.details, ("Noise", words.named())]
    if release is not None:
        versions = ", ".join(f"{name} {number}" for name, number in release.versions.items())
        rows += [("Created", release.created), ("Versions", versions)]
    title = "How it will be made" if release is None else "How it was made"
    return Section("making", title, (Figures(tuple(rows)), *view.public()))


# --- what objects show of themselves

_PRINTED = ("head", "answers", "noise", "certificate", "bound", "cost")
_FEW = 6  # rows of a table


def line(subject: object) -> str:
    """Return `repr`: what it is, and its error.

    Examples:
        >>> import lownoise as ln
        >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
        ...                relation="substitute", size=1000)
        >>> line(plan)
        '<Plan: 1 mean of 1,000 rows, planned under 0.5-zCDP; error 0.100>'
    """
    if type(subject) in RECORDS or isinstance(subject, Change):
        return f"<{type(subject).__name__}: {_quick(subject)[0].title.removesuffix('.')}>"
    view = view_of(subject)
    said = headline(view).removesuffix(".")
    return f"<{type(subject).__name__}: {said}; error {noise_words(view).error()}>"


def printed(subject: object) -> str:
    """Return what `print` shows: a few answers, the error, how good it is, what it costs."""
    return render_text(list(_brief(subject)), rows=_FEW).rstrip()


def printed_together(releases: Mapping[str, object]) -> str:
    """Return what `print` shows of releases that one payment is for, which is said once, last."""
    paid: list[Section] = []
    texts = []
    for name, own in releases.items():
        rest, paid = payment_apart(list(_brief(own)))
        texts.append(f"{name}: {render_text(rest, rows=_FEW).rstrip()}")
    return "\n\n".join([*texts, render_text(paid).rstrip()])


def payment_apart(report: Sequence[Section]) -> tuple[list[Section], list[Section]]:
    """Return a release's report without what a ledger recorded, and that alone."""
    rest = [replace(s, parts=tuple(p for p in s.parts if not _of_ledger(p))) for s in report]
    paid = tuple(part for section in report for part in section.parts if _of_ledger(part))
    return rest, [Section("ledger", "", paid)]


def _of_ledger(part: Part) -> bool:
    return isinstance(part, (Prose, Caution)) and part.label == "ledger"


def notebook(subject: object) -> str:
    """Return the same as an element of HTML."""
    return render_html(list(_brief(subject)), whole=False)


def _quick(subject: object) -> list[Section]:
    """Return the sections that are made without a search."""
    if type(subject) in _SEARCHED:
        return RECORDS[type(subject)](subject, **{_SEARCHED[type(subject)]: False})
    return sections(subject)


def _brief(subject: object) -> Iterator[Section]:
    for section in _quick(subject):
        tables = [p for p in section.parts if isinstance(p, Table) and p.terminal]
        if section.name in _PRINTED or tables:
            beside = (p for p in section.parts if not isinstance(p, Chart))
            shown = [p for p in beside if not (isinstance(p, Prose) and p.label == ALSO)]
            parts = [_cut(p) if isinstance(p, Table) else p for p in shown]
            yield Section(section.name, section.title, tuple(parts), section.kicker)


def _cut(table: Table) -> Table:
    """Return a table of a few rows, which says how many there are; a matrix as it is."""
    if table.terminal == len(table.rows):
        return table
    most = table.most(_FEW)
    hidden = table.hidden + max(len(table.rows) - most, 0)
    own = table.own if table.own is not None and table.own < most else None
    return replace(table, rows=table.rows[:most], hidden=hidden, own=own)
