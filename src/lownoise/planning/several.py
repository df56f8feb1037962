# SPDX-License-Identifier: Apache-2.0
"""Several questions on one budget: split so that the total error is least.

Errors of Gaussian noise are in proportion to 1/μ, and those of pure noise to 1/ε. With eᵢ that of a
question with all of the budget, and a part sᵢ of μ² or of ε, the total Σ eᵢ²/sᵢ, or Σ eᵢ²/sᵢ², is
least under Σ sᵢ = 1 where sᵢ is in proportion to eᵢ, or to eᵢ^(2/3) (Lagrange). What all reveal is
the sum of what each does: μ² of Gaussian noise exactly, ε, ρ and μ² of pure noise.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

from lownoise.errors import FileError, PlanError, quoted
from lownoise.numbers.arguments import checked_number
from lownoise.numbers.randomness import SystemRandomness
from lownoise.numbers.readable import html_table
from lownoise.numbers.rounding import decimal_down, decimal_up, exact, root_down, root_up
from lownoise.planning.verb import plan
from lownoise.privacy import ApproxDP, PureDP, Zcdp, gaussian_dp, pure_dp, zcdp
from lownoise.privacy.budget import budget_from_dict, budget_to_dict, checked_budget
from lownoise.privacy.events import GaussianEvent, PureNoiseEvent
from lownoise.privacy.readings import within
from lownoise.privacy.units import OF_UNITS
from lownoise.release import codec
from lownoise.release.comparison import GAUSSIAN
from lownoise.release.execution import execute_together
from lownoise.release.release import Release
from lownoise.sensitivity.relations import checked_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from lownoise.planning.release_plan import Plan
    from lownoise.privacy import Budget, Event, Payer
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain

_SPARE = 1 - 2.0**-40  # of the budget: more than rounding takes
_DOCUMENT = "together.json"
_KIND = "together"
# what each question may have
_OWN = ("order", "weights", "count_share", "rtol", "mechanism", "unit_total")


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointPlan:
    """Plans that share a budget, by name; made by `together`.

    Args:
        plans: of each question, with its part of the budget.
        budget: what all may reveal.
        shares: the part of each, of μ² or of ε, of sum 1.
        importance: how much one unit of each question's error matters.
    """

    plans: Mapping[str, Plan]
    budget: Budget
    shares: Mapping[str, float]
    importance: Mapping[str, float]

    def __getitem__(self, name: str) -> Plan:
        """Return the plan of a question."""
        return self.plans[_checked_name(name, self.plans)]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in order."""
        return iter(self.plans)

    def __len__(self) -> int:
        """Return how many questions there are."""
        return len(self.plans)

    @property
    def cost(self) -> Event:
        """What all reveal together, rounded up: one entry of a ledger."""
        return joint_event([own.terms for own in self.plans.values()])

    @property
    def error(self) -> float:
        """√Σ(importance·error)², the errors being those that noises are compared by."""
        return math.hypot(
            *(self.importance[n] * own.terms.compared for n, own in self.plans.items())
        )

    @property
    def even_error(self) -> float:
        """What `error` would be, about, with even shares."""
        k, power = len(self.plans), 1.0 if isinstance(self.budget, PureDP) else 0.5
        return math.hypot(
            *(
                self.importance[n] * own.terms.compared * (self.shares[n] * k) ** power
                for n, own in self.plans.items()
            )
        )

    def __repr__(self) -> str:
        return f"<JointPlan: {len(self)} questions under {self.budget}; error {self.error:.4g}>"

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{100 * self.shares[name]:.1f}%", f"{own.terms.compared:.4g}")
            for name, own in self.plans.items()
        ]
        return html_table(repr(self), [("question", "share", "error"), *rows])

    def __str__(self) -> str:
        width = max(len(name) for name in self.plans)
        rows = [f"{'question':<{max(width, 8)}}  share   error"]
        for name, own in self.plans.items():
            share = f"{100 * self.shares[name]:.1f}%"
            rows.append(f"{name:<{max(width, 8)}}  {share:>5}   {own.terms.compared:.4g}")
        total = f"total error {self.error:.4g}; with even shares {self.even_error:.4g}"
        return "\n".join([repr(self), *rows, total])

    def release(self, table: Any, ledger: Payer | None = None) -> JointRelease:  # noqa: ANN401
        """Read the table, add the noises, and return all answers; one entry pays for them.

        No noise is drawn, and nothing is spent, before the table was read for every question.

        Args:
            table: as of `Plan.release`; its rows are read once for all questions.
            ledger: the account that pays.

        Raises:
            FileError, LedgerError, TableError, EngineError, PlanError: as `Plan.release`.
        """
        made = execute_together(
            [own.terms for own in self.plans.values()],
            table,
            ledger,
            event=self.cost,
            asked=self.budget,
            randomness=SystemRandomness(),
        )
        return JointRelease(dict(zip(self.plans, made, strict=True)), self.budget)


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointRelease:
    """Answers to several questions that share a budget, by name.

    Args:
        releases: of each question.
        budget: what all may reveal.
    """

    releases: Mapping[str, Release]
    budget: Budget

    def __getitem__(self, name: str) -> Release:
        """Return the answers to a question."""
        return self.releases[_checked_name(name, self.releases)]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in order."""
        return iter(self.releases)

    def __len__(self) -> int:
        """Return how many questions there are."""
        return len(self.releases)

    @property
    def cost(self) -> Event:
        """What all reveal together, rounded up."""
        return joint_event([own.terms for own in self.releases.values()])

    def __repr__(self) -> str:
        return f"<JointRelease: {', '.join(self.releases)} under {self.budget}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self), [(name, repr(own)) for name, own in self.releases.items()])

    def export(self, path: str | PathLike[str]) -> NoReturn:
        """Refuse: every question has a table of its own, which its release exports.

        Raises:
            PlanError: always.
        """
        raise PlanError(
            f"file={path} holds one table, and these are answers to {len(self)} questions; export "
            f"each, as release[{next(iter(self))!r}].export(path)"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write a new folder: every release as its own, and `together.json`, which names them.

        Raises:
            FileError: where the folder exists or cannot be written.
        """
        self.write(_made(path))

    def write(self, folder: Path) -> None:
        """Write the files of `save` into an empty folder.

        Raises:
            FileError: where one cannot be written.
        """
        places = {}
        for i, (name, own) in enumerate(self.releases.items(), start=1):
            places[name] = f"{i}" if own.terms.view.folder else f"{i}.json"
            own.save(folder / places[name])
        document = {"budget": budget_to_dict(self.budget), "releases": places}
        codec.write(folder / _DOCUMENT, codec.dump(_KIND, document))

    @classmethod
    def load(
        cls, path: str | PathLike[str], domains: Mapping[str, AbstractDomain] | None = None
    ) -> JointRelease:
        """Return what `save` wrote.

        Args:
            path: the folder.
            domains: of questions whose domain is a program, which no file holds, by name.

        Raises:
            FileError: where it is no such folder, is damaged, or its releases reveal more together
                than the budget, or have different relations or entries of a ledger.
        """
        folder = Path(path)
        try:
            text = (folder / _DOCUMENT).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise FileError(
                f"folder={folder} has no {_DOCUMENT}; give one that was saved"
            ) from None
        return codec.guarded(lambda: cls._read(codec.load(_KIND, text), folder, domains or {}))

    @classmethod
    def _read(
        cls, fields: dict[str, Any], folder: Path, domains: Mapping[str, AbstractDomain]
    ) -> JointRelease:
        content = json.dumps(fields["releases"])
        if set(fields) != {"format", "digest", "budget", "releases"} or not fields["releases"]:
            raise FileError(f"{_DOCUMENT} has other fields than it is written with")
        if fields["digest"] != codec.digest(fields):
            raise FileError(f"{_DOCUMENT} was edited: its digest is another")
        budget = budget_from_dict(fields["budget"])
        made = {}
        for i, (name, place) in enumerate(fields["releases"].items(), start=1):
            if place not in (f"{i}", f"{i}.json"):  # nothing outside of the folder
                raise FileError(f"{_DOCUMENT}.releases={content[:80]} is not as it is written")
            made[name] = Release.load(folder / place, domains.get(name))
        check_joint([own.terms for own in made.values()], budget)
        if len({own.spend for own in made.values()}) > 1:
            raise FileError("releases were not paid by one entry; they are not of one publication")
        return cls(made, budget)


def together(
    questions: Mapping[str, Any],
    *,
    budget: Budget,
    relation: Relation,
    size: int | None = None,
    importance: Mapping[str, float] | None = None,
    shares: Mapping[str, float] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **unit: Any,  # noqa: ANN401 (as `plan` takes it)
) -> JointPlan:
    """Plan several questions that share one budget, without reading any data.

    The budget is split so that the total √Σ(importance·error)² is least, or by given shares. Each
    question has the least noise for its part, its own certificate and its own file; a ledger is
    charged once, for what all reveal together. Under `approx_dp` noise is Gaussian.

    Args:
        questions: by name, as `plan` takes them.
        budget: `ln.zcdp(rho)`, `ln.gaussian_dp(mu)`, `ln.approx_dp(epsilon, delta)` or
            `ln.pure_dp(epsilon)`, of all together.
        relation: "substitute" or "add_remove", of all.
        size: as of `plan`, of all.
        importance: how much one unit of a question's error matters, above 0; by default 1 of all.
            Errors are in the units of their answers and weights.
        shares: the part of each question, of μ² (or ρ) or of ε, above 0, in any unit; not beside
            `importance`.
        options: by name what `plan` takes of a question alone: order, weights, count_share, rtol,
            mechanism and unit_total.
        unit: privacy_unit, rows_per_unit, order_by and null_unit, as of `plan`, of all.

    Raises:
        PlanError, BudgetError: where an argument is out of range, or `plan` refuses a question.

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
    if beyond := [name for name in unit if name not in OF_UNITS]:
        raise PlanError(f"{beyond[0]} is no argument of together; give it in options, by question")
    names = _names(questions)
    given = _options(options, names)
    if isinstance(budget, ApproxDP):
        for own in given.values():
            own.setdefault("mechanism", GAUSSIAN)
    pure = isinstance(budget, PureDP)

    def planned(name: str, part: Budget) -> Plan:
        own = {**given[name], **unit}
        return plan(questions[name], budget=part, relation=relation, size=size, **own)

    matters = _positive("importance", importance, names)
    if shares is not None and importance is not None:
        raise PlanError("shares and importance both say how the budget is split; give one of them")
    parts = _positive("shares", shares, names)
    if shares is None:
        alone = {name: planned(name, _part(budget, 1.0)) for name in names}
        power = 2 / 3 if pure else 1.0
        free = [name for name in names if not alone[name].terms.compared > 0]
        if free:
            raise PlanError(f"question={quoted(free[0])} needs no noise; ask it alone, at no cost")
        parts = {n: (matters[n] * own.terms.compared) ** power for n, own in alone.items()}
    total = math.fsum(parts.values())
    split = {name: own / total for name, own in parts.items()}
    plans = {name: planned(name, _part(budget, share)) for name, share in split.items()}
    check_joint([own.terms for own in plans.values()], budget)
    return JointPlan(plans, budget, split, matters)


def joint_event(every: list[Terms]) -> Event:
    """Return what releases of one table reveal together, rounded up.

    Raises:
        PlanError: where their noise is not all Gaussian, or all pure.
    """
    events = [terms.cost.event for terms in every]
    if all(isinstance(own, GaussianEvent) for own in events):
        return GaussianEvent(root_up(_sum(own.as_mu_square() for own in events)))
    if not all(isinstance(own, PureNoiseEvent) for own in events):
        raise PlanError("noise is neither all Gaussian nor all pure; give one kind of mechanism")
    pairs = [own.as_pair() or (math.inf, 0.0) for own in events]
    return PureNoiseEvent(
        epsilon=decimal_up(sum((max(exact(e), Fraction(e)) for e, _ in pairs), Fraction(0))),
        rho=decimal_up(_sum(own.as_rho() for own in events)),
        mu=decimal_up(Fraction(root_up(_sum(own.as_mu_square() for own in events)))),
    )


def _sum(parts: Iterable[Fraction | None]) -> Fraction:
    return sum((own for own in parts if own is not None), Fraction(0))


def check_joint(every: list[Terms], budget: Budget) -> None:
    """Refuse releases that reveal more together than a budget, or are of different relations.

    Raises:
        PlanError: as said.
    """
    if not within(budget, joint_event(every)):
        raise PlanError(f"releases reveal more together than {budget}; plan them anew")
    first = every[0]
    for terms in every:
        if terms.relation != first.relation or terms.size != first.size:
            raise PlanError("releases are of different relations or sizes; plan them together")
        if terms.neighbours != first.neighbours:
            raise PlanError("releases hide rows of different units; plan them together")


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


def _names(questions: Mapping[str, Any]) -> list[str]:
    if not isinstance(questions, Mapping) or len(questions) == 0:
        raise PlanError(
            f"questions={quoted(questions)} are not questions by name; give {{name: …}}"
        )
    for name in questions:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise PlanError(f"questions has the name {quoted(name)}; give a printable text")
    return list(questions)


def _positive(what: str, given: Mapping[str, float] | None, names: list[str]) -> dict[str, float]:
    if given is None:
        return dict.fromkeys(names, 1.0)
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise PlanError(f"{what} has not one number a question; give one for {', '.join(names)}")
    found = {name: checked_number(what, given[name]) for name in names}
    for name, number in found.items():
        if not 1e-100 <= number <= 1e100:  # noqa: PLR2004
            raise PlanError(f"{what}[{name!r}]={number:g} is out of range; give one above 0")
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
        found[_checked_name(name, found)] = dict(own)
        for word in own:
            if word not in _OWN:
                raise PlanError(
                    f"options[{name!r}] has {quoted(word)}; give some of {', '.join(_OWN)}"
                )
    return found


def _made(path: str | PathLike[str]) -> Path:
    folder = Path(path)
    try:
        folder.mkdir()
    except OSError as error:
        raise FileError(
            f"folder={folder} cannot be made ({error.strerror}); give a new one"
        ) from None
    return folder


def _checked_name(name: str, among: Mapping[str, Any]) -> str:
    if name not in among:
        raise PlanError(f"question={quoted(name)} is unknown; give one of {', '.join(among)}")
    return name
