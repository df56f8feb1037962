# SPDX-License-Identifier: Apache-2.0
"""What a noise adds to every report: how good it is, what nothing beats, and what it costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.noise import ResponseMechanism
from lownoise.privacy import ApproxDP
from lownoise.report import spelling
from lownoise.report.parts import Column, Prose, Section, Table, pairs
from lownoise.report.spelling import shown
from lownoise.report.view import columns

if TYPE_CHECKING:
    from lownoise.report.parts import Part
    from lownoise.report.view import AbstractView

ANEW = "Both bounds are recomputed from the final noise and its evidence, without the optimiser."
ALSO = "also proved"  # by which print knows what it leaves to pages and `lownoise plan`
_WHAT = "What it is, or why not"


@dataclass(frozen=True)
class AbstractNoiseWords(ABC):
    """What one kind of noise says of itself, whatever was asked."""

    view: AbstractView

    @property
    def terms(self) -> Any:  # noqa: ANN401
        """What is promised."""
        return self.view.terms

    def error(self) -> str:
        """Return the error of all answers, as a number, with "at most" where it is a bound."""
        # that of randomised response depends on the table
        exact = self.view.exact() and not isinstance(self.terms.mechanism, ResponseMechanism)
        found = self.view.error()
        return spelling.significant(found) if exact else f"at most {spelling.at_most(found)}"

    @abstractmethod
    def figures(self) -> list[tuple[str, str]]:
        """Return the few numbers that come first, after the budget."""

    @abstractmethod
    def proofs(self) -> tuple[Section, ...]:
        """Return the sections on how other noise compares, and how close to least this one is."""

    @abstractmethod
    def cost(self) -> tuple[Part, ...]:
        """Return what it costs."""

    @abstractmethod
    def named(self) -> str:
        """Return what noise it is."""

    def mechanisms(self) -> tuple[Section, ...]:
        """Return the mechanisms that were compared, where there were several."""
        terms = self.terms
        compared = terms.alternatives
        if not compared:
            return ()
        others = sum(own.error is not None for own in compared) - 1
        if others:
            choice = f"No mechanism that was compared has a smaller error than {terms.name}."
        elif len(compared) == 1 and not terms.gaussian:
            choice = f"{terms.name} was selected, so no other mechanism was computed."
        else:
            choice = f"Only {terms.name} is available."
        choice += self._elsewhere()
        table = Table(
            columns=columns("Mechanism", "Error", "ρ", "μ", _WHAT, words=(_WHAT,)),
            rows=tuple(
                (
                    own.mechanism,
                    "not available" if own.error is None else spelling.significant(own.error, 4),
                    *(_price(own, number) for number in (own.rho, own.mu)),
                    shown(own.note),
                )
                for own in compared
            ),
            caption=(
                f"Root mean squared error of {self.view.whose}, at the same budget, and the least "
                "ρ and μ that are proved of each."
            ),
            terminal=len(compared),
            own=[own.mechanism for own in compared].index(terms.name),
        )
        note = f"All of them are within the budget. {self.view.asking}".strip()
        starred = _left_out(compared)
        parts: tuple[Part, ...] = (
            Prose(choice, "mechanism"),
            table,
            *starred,
            Prose(note, note=True),
        )
        return (Section("compared", "Mechanisms compared", parts),)

    def _elsewhere(self) -> str:
        """Return what is better in an account that adds up ρ or μ², in a sentence; or nothing."""
        found = {
            "rho (reading zcdp)": self.terms.alternatives.gaussian_at_equal("rho"),
            "mu (reading gaussian)": self.terms.alternatives.gaussian_at_equal("mu"),
        }
        less = {account: error for account, error in found.items() if error is not None}
        if not less:
            return self._unpaid()
        accounts = " or ".join(less)
        errors = " or ".join(spelling.significant(error, 3) for error in less.values())
        return (
            f"{self._unpaid()} An account that adds up {accounts} gets more for its price from "
            f"gaussian: at the rho or mu of this plan its error would be {errors}."
        )

    def _unpaid(self) -> str:
        """Return what those pay for that pay for this noise only with a δ aside, in a sentence."""
        own = self.terms.alternatives.gaussian
        if own is None or own.error is None:
            return ""
        found = [name for name in ("zcdp", "gaussian") if name not in self.terms.readings]
        if not found:
            return ""
        return (
            f" An account with reading {' or '.join(found)} pays for it only where it sets a delta "
            f'aside (ln.Aside); mechanism="gaussian" is for the others, with error '
            f"{spelling.significant(own.error, 3)}."
        )

    def payers(self) -> str:
        """Return which accounts can pay for it, by their readings."""
        *most, last = self.terms.readings
        listed = f"{', '.join(most)} or {last}" if most else last
        return f"Paid by accounts with reading {listed}.{self._all_uses()}"

    def _all_uses(self) -> str:
        """Return what all releases come to that share a budget, in two sentences; or nothing."""
        shared = self.terms.shared
        if shared is None:
            return ""
        numbers = asdict(self.terms.charged).items()
        known = ", ".join(f"{name} {spelling.at_most(number, 4)}" for name, number in numbers)
        return (
            f" {spelling.capital(spelling.count(shared.uses, 'release'))} of this plan share "
            f"{shared.budget}: together {known}. A ledger reserves that at the first, for this "
            "plan alone."
        )

    def bound(self, of: str, prose: str, over: str | None, note: str) -> Section:
        """Return the section of the lower bound.

        Args:
            of: what does not beat it.
            prose: what is known, in a sentence.
            over: the error over the bound, None where there is none.
            note: of whom it holds.
        """
        parts: tuple[Part, ...] = (Prose(prose, "lower bound"),)
        if over is not None:
            parts += self._beside()
            rows = [
                ("Error of this plan", self.error()),
                ("Lower bound", spelling.at_least(self.terms.lower_bound)),
                ("Error over lower bound", over),
                ("Unit of both", self.terms.unit),
            ]
            caption = f"Root mean squared error of {self.view.whose}."
            parts += (pairs(caption, rows), Prose(note, note=True))
        return Section("bound", f"Lower bound: what no {of} beats", parts)

    def below(self, who: str, over: str) -> str:
        """Return the sentence of a bound: of whom, on which tables, and how far above it is."""
        own = self.terms.bounds[0]
        return (
            f"No {who} has an error below {spelling.at_least(own.value)} on {own.denied[1]} "
            f"({own.source}); this one's is {self.error()}, {over} the bound, both "
            f"{self.view.wording.unit}."
        )

    def _beside(self) -> tuple[Prose, ...]:
        """Return what other bounds say of it, where there are some; print leaves it out."""
        others = [own for own in self.terms.bounds[1:] if own.value > 0]
        said = " ".join(
            f"No {own.denied[0]} has an error below {spelling.at_least(own.value)} "
            f"on {own.denied[1]} ({own.source})."
            for own in others
        )
        return (Prose(said, ALSO),) if said else ()


@final
@dataclass(frozen=True)
class GaussianWords(AbstractNoiseWords):
    """Gaussian noise: a certificate among such noise, and a bound for every unbiased mechanism."""

    def figures(self) -> list[tuple[str, str]]:
        """Return error and gap."""
        return [
            (spelling.capital(f"error of {self.view.brief}"), self.error()),
            *self.view.figures(),
            ("Gap to the least noise", spelling.gap(self.terms.certificate.gap)),
        ]

    def proofs(self) -> tuple[Section, ...]:
        """Return other Gaussian noise, the certificate, and the bound."""
        usual = self.view.compared()
        return (*self.mechanisms(), *usual, self._certificate(), self._bound())

    def _certificate(self) -> Section:
        title, wording = "Certificate: how close to the least noise", self.view.wording
        found, least = self.terms.certificate, wording.least
        if found.upper == 0:
            return Section("certificate", title, (Prose(spelling.NO_NOISE, "certificate"),))
        rows = [
            ("This plan’s noise has", spelling.significant(found.upper, 6)),
            (f"No {least} has less than", spelling.significant(found.lower, 6)),
            ("Gap (upper/lower − 1)", spelling.at_most(found.gap, 2)),
            ("Unit of both bounds", found.unit),
        ]
        prose = spelling.better(found.gap, least, wording.measure)
        has = f"It is {spelling.significant(found.upper)} in the unit of {found.unit}."
        note = " ".join(filter(None, (wording.weight, ANEW)))
        caption = f"{spelling.capital(wording.measure)}, bounded from both sides."
        parts = (
            Prose(f"{prose} {has}", "certificate"),
            pairs(caption, rows),
            Prose(note, note=True),
        )
        return Section("certificate", title, parts)

    def _bound(self) -> Section:
        terms, over = self.terms, None
        if self.view.error() == 0:
            prose = spelling.NO_ERROR
        elif terms.lower_bound == 0:
            prose, over = spelling.NO_BOUND, spelling.shortest(float("nan"))
        else:
            over = spelling.significant(self.view.error() / terms.lower_bound)
            who = "unbiased mechanism with this zCDP cost"
            prose = self.below(who, f"{over} times")
        note = (
            "The bound holds for every unbiased mechanism with this zCDP guarantee, Gaussian or "
            "not. The error of the best of them is between the two numbers."
        )
        return self.bound("unbiased mechanism", prose, over, note)

    def cost(self) -> tuple[Part, ...]:
        """Return the cost as three guarantees, each rounded up."""
        terms, together = self.terms, self.view.wording.together
        mu, rho = (spelling.at_most(own) for own in (terms.cost.mu, terms.cost.rho))
        # ε as the budget has it, or four digits, rounded up
        spelt = spelling.shortest if isinstance(terms.budget, ApproxDP) else spelling.at_most
        pair = f"({spelt(terms.cost.epsilon)}, {spelling.at_most(terms.cost.delta, 3)})"
        prose = f"{mu}-GDP; {rho}-zCDP; {pair}-DP{together and f', {together}'}. {self.payers()}"
        rows = (
            ("μ-GDP", mu, f"The whole trade-off, {together or 'for one Gaussian release'}."),
            ("ρ-zCDP", rho, "Adds up over releases; ρ = μ²/2."),
            ("(ε, δ)-DP", pair, "The exact δ at that ε."),
        )
        heads = (Column("Guarantee", "name"), Column("Cost", "value"), Column("Meaning", "words"))
        caption = "The same cost, stated as three guarantees, each rounded up."
        return Prose(prose, "cost"), Table(columns=heads, rows=rows, caption=caption)

    def named(self) -> str:
        """Return what Gaussian noise it is."""
        return self.view.wording.noise


@final
@dataclass(frozen=True)
class PureWords(AbstractNoiseWords):
    """Noise of a pure budget: mechanisms compared, and a bound for every mechanism."""

    def figures(self) -> list[tuple[str, str]]:
        """Return mechanism, error, and how far it is from the bound."""
        return [
            ("Mechanism", self.terms.name.replace("_", " ")),
            (f"Error of {self.view.wording.whose or f'{self.view.brief} together'}", self.error()),
            ("Error over lower bound", self._times()),
        ]

    def _times(self) -> str:
        terms = self.terms
        if terms.error == 0:
            return "none"
        if not terms.lower_bound > 0:
            return "no bound"
        return f"{spelling.at_most(terms.error / terms.lower_bound, 3)}×"

    def proofs(self) -> tuple[Section, ...]:
        """Return the mechanisms that were compared, and the bound."""
        return (*self.mechanisms(), self._bound())

    def _bound(self) -> Section:
        terms, over = self.terms, None
        if terms.error == 0:
            prose = spelling.NO_ERROR
        elif not terms.lower_bound > 0:
            prose = "No bound was found for this question at this budget: it is 0."
        else:
            over = self._times()
            prose = self.below(terms.bounds[0].denied[0], f"at most {over}")
        note = (
            "The bound holds for every kind of noise and the error on the worst table. The error "
            "of the best mechanism is between the two numbers."
        )
        return self.bound("mechanism of this budget", prose, over, note)

    def cost(self) -> tuple[Part, ...]:
        """Return what is promised to one person."""
        spent = self.terms.cost
        epsilon = spelling.brief_at_most(spent.epsilon)
        changed = self.view.changed
        likelier = f"Every output is at most e^{epsilon} times as likely if {changed}"
        if spent.delta == 0:
            prose = f"{epsilon}-DP, pure. {likelier}, without exception."
        else:
            delta = spelling.brief_at_most(spent.delta, 3)
            why = self.terms.mechanism.noise.left_out
            prose = f"({epsilon}, {delta})-DP. {likelier}, but for a chance of {delta}: {why}."
        return (Prose(f"{prose} {self.payers()}", "guarantee"),)

    def named(self) -> str:
        """Return which mechanism it is, in words."""
        own = next(a for a in self.terms.alternatives if a.mechanism == self.terms.name)
        return f"{self.terms.name}: {shown(own.note)}"


def _price(own: Any, number: float | None) -> str:  # noqa: ANN401
    """Return a ρ or μ of a mechanism, with a sign where it is of all but a δ."""
    if number is None:
        return "–"
    return f"{spelling.at_most(number, 3)}{'*' if own.delta else ''}"


def _left_out(compared: Any) -> tuple[Prose, ...]:  # noqa: ANN401
    """Return what numbers with that sign leave out, in a sentence; or nothing."""
    most = max(own.delta for own in compared)
    if not most:
        return ()
    chance = spelling.at_most(most, 3)
    return (Prose(f"A ρ or μ with * is of all but a chance of {chance}.", "with *", note=True),)
