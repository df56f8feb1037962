# SPDX-License-Identifier: Apache-2.0
"""Several questions on one budget: split so that the total error is least.

Errors of Gaussian noise are in proportion to 1/μ, and those of pure noise to 1/ε, but for steps and
whole numbers, which are measured anew at the part that each has. With eᵢ that of a question with
all of the budget, and a part sᵢ of μ² or of ε, the total Σ eᵢ²/sᵢ, or Σ eᵢ²/sᵢ², is least under
Σ sᵢ = 1 where sᵢ is in proportion to eᵢ, or to eᵢ^(2/3) (Lagrange). What all reveal is the sum of
what each does: μ² of Gaussian noise exactly, ε, ρ and μ² of pure noise.

Questions that may be one are one where that total is less.

Questions on counts of one table become one question, which has less noise than a split between.

Marginals of subsets of some attributes share their residual spaces: the number of rows, what an
attribute says alone, and so on. Released apart each of them is measured once a question; released
as one question each is measured once, with the noise that is least for all of them together
(`docs/theory.md`). One question's answers to two are also the same.

An error of √Σᵢ(aᵢ·errorᵢ)², the errors by Σ w·variance over a question's answers, is that of the
question that has all sets, each with the weight Σᵢ aᵢ²·wᵢ over the questions that ask for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import BudgetError, PlanError, QuestionError, quoted
from lownoise.numbers.arguments import checked_number
from lownoise.numbers.rounding import decimal_down, exact, root_down
from lownoise.planning.joint import JointPlan, checked_question
from lownoise.planning.verb import plan
from lownoise.privacy import ApproxDP, PureDP, Zcdp, gaussian_dp, pure_dp, zcdp
from lownoise.privacy.budget import checked_budget
from lownoise.privacy.units import OF_UNITS
from lownoise.questions import QUESTIONS, AbstractGrouped, Marginals, Mean
from lownoise.release.comparison import GAUSSIAN
from lownoise.release.members import check_joint
from lownoise.sensitivity.relations import checked_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.planning.release_plan import Plan
    from lownoise.privacy import Budget
    from lownoise.questions import Attribute
    from lownoise.sensitivity.relations import Relation

_MOST_SETS = 1 << 10  # of one question that is put together: each is a kind of its own
_SHARED = ("mechanism", "rtol", "order")  # options, where they are the same


@final
@dataclass(frozen=True)
class Merged:
    """Several questions as one.

    Args:
        names: of these, in their order.
        question: that has all of their tables.
        importance: how much one unit of its error matters.
    """

    names: tuple[str, ...]
    question: Any
    importance: float


def merged(
    questions: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    importance: Mapping[str, float],
) -> list[Merged]:
    """Return the questions that may be one, two or more each.

    They count rows by attributes that are the same where they have one name, along at most one that
    is ordered; they leave out the same rows; and errors are those of order 2.

    Args:
        questions: by name.
        options: of each, as `together` takes them.
        importance: how much one unit of each question's error matters.

    Examples:
        >>> from lownoise.questions import Histogram
        >>> asked = {"sex": Histogram("sex", 2, outside="extra"),
        ...          "age": Histogram("age", 9, outside="extra")}
        >>> (one,) = merged(asked, {"sex": {}, "age": {}}, {"sex": 2.0, "age": 1.0})
        >>> one.question.weights.tolist(), one.importance
        ([1.0, 0.25], 2.0)
    """
    groups: list[list[str]] = []
    for name, question in questions.items():
        if not _may(question, options[name]):
            continue
        for group in groups:
            if options[name] == options[group[0]] and _fits(question, group, questions):
                group.append(name)
                break
        else:
            groups.append([name])
    made = [_one(tuple(g), questions, importance) for g in groups if len(g) > 1]
    return [own for own in made if own is not None]


def _may(question: object, options: Mapping[str, Any]) -> bool:
    """Return whether a question may be part of another, by what is asked of it alone."""
    if not isinstance(question, Marginals) or not {*options} <= {*_SHARED}:
        return False
    return options.get("order", 2) == 2 and question.count <= _MOST_SETS  # noqa: PLR2004


def _fits(question: Marginals, group: list[str], questions: Mapping[str, Any]) -> bool:
    """Return whether a question may be one with those of a group."""
    others: list[Marginals] = [questions[name] for name in group]
    every = {a.name: a for other in others for a in other.attributes}
    alike = all(every.get(a.name, a) == a for a in question.attributes)
    ordered = {a.name for a in (*every.values(), *question.attributes) if a.ordered}
    few = question.count + sum(other.count for other in others) <= _MOST_SETS
    return alike and few and len(ordered) <= 1 and _left_out(question) == _left_out(others[0])


def _left_out(question: Marginals) -> set[str]:
    """Return the attributes for whose sake rows are left out."""
    return {a.name for a in question.attributes if a.outside is None}


def _one(
    names: tuple[str, ...], questions: Mapping[str, Any], importance: Mapping[str, float]
) -> Merged | None:
    """Return the questions as one; None where its weights or its cells are out of range."""
    most = max(importance[name] for name in names)
    every: dict[str, Attribute] = {}
    weights: dict[tuple[str, ...], float] = {}
    for name in names:
        question: Marginals = questions[name]
        every |= {a.name: a for a in question.attributes}
    places = {name: i for i, name in enumerate(every)}
    for name in names:
        question = questions[name]
        for k, chosen in enumerate(question.sets()):
            own = question.weights[k if question.way is None else len(chosen)]
            asked = tuple(sorted(question.names(chosen), key=places.__getitem__))
            matters = (importance[name] / most) ** 2 * float(own)
            weights[asked] = weights.get(asked, 0.0) + matters
    try:
        question = Marginals.of(tuple(every.values()), weights)
    except QuestionError:
        return None
    return Merged(names, question, most)


_SPARE = 1 - 2.0**-40  # of the budget: more than rounding takes
_ALONE = "ask it alone, at no cost"
_LESS = 1 - 1e-9  # a gain that is none
# what each question may have
_OWN = ("order", "weights", "count_share", "rtol", "mechanism", "unit_total")


def together(
    questions: Mapping[str, Any] | Sequence[Any],
    *,
    budget: Budget,
    relation: Relation,
    size: int | None = None,
    importance: Mapping[str, float] | None = None,
    shares: Mapping[str, float] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    merge: bool = True,
    **unit: Any,  # noqa: ANN401 (as `plan` takes it)
) -> JointPlan:
    """Plan several questions that share one budget, without reading any data.

    The budget is split so that the total error √Σ(importance·error)² is least, or by given shares.
    Each question gets the least noise for its share, its own certificate and its own file. A ledger
    is charged once, for all questions together. Under `approx_dp` the noise is Gaussian.

    Args:
        questions: by name, each as for `plan`. Or in a list: each is then named by its kind,
            "mean", "sum", "moments", "marginals", "queries" or "parity", with or without groups.
            Several of one kind are numbered, "mean 1" and "mean 2".
        budget: `ln.zcdp(rho)`, `ln.gaussian_dp(mu)`, `ln.approx_dp(epsilon, delta)` or
            `ln.pure_dp(epsilon)`, for all questions together.
        relation: "substitute" or "add_remove", for all.
        size: as for `plan`, for all.
        importance: the weight of one unit of a question's error, above 0; 1 for all by default.
            Errors are in the units of the answers, with their weights.
        shares: the share of each question in μ² (or ρ) or ε, above 0, in any unit. Give this or
            `importance`.
        options: by name, arguments of `plan` for one question: order, weights, count_share, rtol,
            mechanism and unit_total.
        merge: whether questions on counts may be planned as one, if that has a smaller error. It
            applies to marginals, histograms, counts and distributions with the same categories for
            each shared attribute, at most one ordered attribute, and the same rows left out. Each
            of their names then has the plan, release and file of all of them.
        unit: privacy_unit, rows_per_unit, order_by and null_unit, as for `plan`, for all.

    Raises:
        PlanError, BudgetError: if an argument is out of range, or `plan` refuses a question.

    Examples:
        >>> import lownoise as ln
        >>> asked = {"age": ln.Mean(["age"], ln.Box([0], [100])),
        ...          "sex": ln.Histogram("sex", ["F", "M"])}
        >>> both = ln.together(asked, budget=ln.zcdp(0.5), relation="add_remove",
        ...                    importance={"age": 0.01, "sex": 1})
        >>> {name: round(share, 3) for name, share in both.shares.items()}
        {'age': 0.414, 'sex': 0.586}
        >>> both.error < both.even_error
        True
    """
    checked_budget(budget)
    checked_word(relation, "together")  # a body of changes is of one question's columns
    questions = _by_name(questions)
    if beyond := [name for name in unit if name not in OF_UNITS]:
        form = f"options={{{quoted(next(iter(questions)))}: {{'{beyond[0]}': …}}}}"
        remedy = f"give it in options, as {form}" if beyond[0] in _OWN else "leave it out"
        raise PlanError(f"{beyond[0]} is of one question; {remedy}")
    names = list(questions)
    given = _options(options, names)
    if isinstance(budget, ApproxDP):
        for own in given.values():
            own.setdefault("mechanism", GAUSSIAN)

    matters, parts, split_by = _split(importance, shares, names)
    differ = "give importance" if split_by == "budget" else "give numbers that differ less"

    def planned(entry: Merged, share: float) -> Plan:
        try:
            part = _part(budget, share)
        except BudgetError:
            raise PlanError(
                f"{split_by} leaves question={quoted(entry.names[0])} {share:.1e} of the budget, "
                f"for which no noise is made; {differ}, or a larger budget"
            ) from None
        own = {**given[entry.names[0]], **unit}
        return plan(entry.question, budget=part, relation=relation, size=size, **own)

    entries = {name: Merged((name,), questions[name], matters[name]) for name in names}
    apart = math.nan
    if shares is None:
        power, measured = (2 / 3, 2) if isinstance(budget, PureDP) else (1.0, 1)

        def part(entry: Merged, share: float) -> float:
            share = share if measured > 1 else 1.0
            return _need(entry, planned(entry, share), share, power)

        parts = dict.fromkeys(entries, 1.0)
        for _ in range(measured):
            every = math.fsum(parts.values())
            parts = {name: part(entry, parts[name] / every) for name, entry in entries.items()}
        apart = math.fsum(parts.values()) ** (1 / power)
        if merge:
            _take_merged(entries, parts, merged(questions, given, matters), part)
    total = math.fsum(parts.values())
    made = {name: planned(entry, parts[name] / total) for name, entry in entries.items()}
    check_joint([own.terms for own in made.values()], budget)
    of = {name: key for key, entry in entries.items() for name in entry.names}
    found = JointPlan(
        {name: made[of[name]] for name in names},
        budget,
        {name: parts[of[name]] / total for name in names},
        {name: entries[of[name]].importance for name in names},
        apart,
    )
    return found if shares is None else replace(found, apart=found.error)


def _need(entry: Merged, own: Plan, share: float, power: float) -> float:
    """Return what part of a budget a question is in need of, that has a share of it now.

    Raises:
        PlanError: where it needs no noise.
    """
    error: float = own.terms.compared
    if not error > 0:
        raise PlanError(f"question={quoted(entry.names[0])} needs no noise; {_ALONE}")
    return math.pow(entry.importance * error * share, power)


def _take_merged(
    entries: dict[str, Merged],
    parts: dict[str, float],
    candidates: list[Merged],
    part: Callable[[Merged, float], float],
) -> None:
    """Put questions in the place of several that need more of the budget, under their first name.

    Args:
        entries: what is planned.
        parts: what each needs.
        candidates: questions that may be one.
        part: what one needs, at a share of the budget.
    """
    for whole in candidates:
        share = math.fsum(parts[name] for name in whole.names) / math.fsum(parts.values())
        value = part(whole, share)
        if value < _LESS * math.fsum(parts[name] for name in whole.names):
            for name in whole.names:
                del entries[name], parts[name]
            entries[whole.names[0]], parts[whole.names[0]] = whole, value


def _part(budget: Budget, share: float) -> Budget:
    """Return a part of a budget: of μ² and ρ, or of ε."""
    part = Fraction(share) * Fraction(_SPARE)
    if isinstance(budget, PureDP):
        epsilon = min(exact(budget.epsilon), Fraction(budget.epsilon))
        return pure_dp(decimal_down(epsilon * part))
    square = Fraction(budget.gaussian_parameter()) ** 2 * part
    return (
        zcdp(decimal_down(square / 2))
        if isinstance(budget, Zcdp)
        else gaussian_dp(root_down(square))
    )


def _by_name(questions: Mapping[str, Any] | Sequence[Any]) -> Mapping[str, Any]:
    """Return questions by name, with names by what they ask where they have none.

    Raises:
        PlanError: where there is none, one stands twice, or a name is no printable text.
    """
    listed = isinstance(questions, Sequence) and not isinstance(questions, (str, bytes))
    if not (listed or isinstance(questions, Mapping)) or len(questions) == 0:
        raise PlanError(
            f"questions={quoted(questions)} are no questions; give [question, …], or by name "
            "{'name': question, …}"
        )
    found = questions if isinstance(questions, Mapping) else _named(questions)
    for name in found:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise PlanError(f"questions has the name {quoted(name)}; give a printable text")
    return found


def _named(questions: Sequence[Any]) -> dict[str, Any]:
    """Return listed questions by what each asks, numbered where several ask the same.

    Raises:
        PlanError: where one is none, or stands twice.
    """
    written: list[object] = []
    for place, own in enumerate(questions):
        if type(own) not in QUESTIONS.classes:
            raise PlanError(
                f"questions[{place}]={type(own).__name__} is no question that files know; give "
                "ln.Mean(…) or such, or {'name': question, …} where it is one of your own"
            )
        fields = QUESTIONS.write(own)
        if fields in written:
            first = written.index(fields)
            raise PlanError(
                f"questions[{place}] asks what questions[{first}] asks; leave one out, or give "
                "{'name': question, …}"
            )
        written.append(fields)
    words = [_word(own) for own in questions]
    every, seen, found = Counter(words), Counter[str](), {}
    for word, own in zip(words, questions, strict=True):
        seen[word] += 1
        found[word if every[word] == 1 else f"{word} {seen[word]}"] = own
    return found


def _word(question: Any) -> str:  # noqa: ANN401 (of any kind)
    """Return what files call the kind of a question, without "by groups"; of moments that."""
    each = question.mean if isinstance(question, AbstractGrouped) else question
    if isinstance(each, Mean) and each.columns != each.sources:
        return "moments"
    return QUESTIONS.of(question).name.removesuffix("_by_groups")


def _split(
    importance: Mapping[str, float] | None, shares: Mapping[str, float] | None, names: list[str]
) -> tuple[dict[str, float], dict[str, float], str]:
    """Return how much questions matter, their shares, and the argument that splits the budget."""
    if shares is not None and importance is not None:
        raise PlanError("shares and importance both say how the budget is split; give one of them")
    matters, parts = _positive("importance", importance, names), _positive("shares", shares, names)
    return matters, parts, "shares" if shares else "importance" if importance else "budget"


def _positive(what: str, given: Mapping[str, float] | None, names: list[str]) -> dict[str, float]:
    if given is None:
        return dict.fromkeys(names, 1.0)
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise PlanError(f"{what} has not one number a question; give one for {', '.join(names)}")
    found = {name: checked_number(f"{what}[{name!r}]", given[name]) for name in names}
    for name, number in found.items():
        if not 1e-100 <= number <= 1e100:  # noqa: PLR2004
            raise PlanError(f"{what}[{name!r}]={number:g} is out of range; give 1e-100 to 1e100")
    return found


def _options(
    options: Mapping[str, Mapping[str, Any]] | None, names: list[str]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {name: {} for name in names}
    if not isinstance(options or {}, Mapping):
        raise PlanError("options is no mapping from names to options; give {name: {…}}")
    for name, own in (options or {}).items():
        if not isinstance(own, Mapping):
            raise PlanError(f"options[{quoted(name)}] is no mapping; give {{'order': 2}} or such")
        found[checked_question(name, found)] = dict(own)
        for word in own:
            if word not in _OWN:
                raise PlanError(
                    f"options[{name!r}] has {quoted(word)}; give some of {', '.join(_OWN)}"
                )
    return found
