# SPDX-License-Identifier: Apache-2.0
"""What a noise adds to every report: how good it is, what nothing beats, and what it costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.noise import ResponseMechanism
from lownoise.privacy import ApproxDP
from lownoise.report import sentences, spelling
from lownoise.report.parts import Column, Prose, Section, Table, pairs
from lownoise.report.spelling import shown
from lownoise.report.view import columns

if TYPE_CHECKING:
    from lownoise.report.parts import Part
    from lownoise.report.view import AbstractView

ANEW = (
    "Both bounds are computed anew from the final noise and its evidence, not taken from the "
    "optimiser’s word."
)


@dataclass(frozen=True)
class AbstractNoiseWords(ABC):
    """What one kind of noise says of itself, whatever was asked."""

    view: AbstractView

    @property
    def terms(self) -> Any:  # noqa: ANN401
        """What is promised."""
        return self.view.terms

    @abstractmethod
    def error(self) -> str:
        """Return the error of all answers, as a number, with "at most" where it is a bound."""

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


@final
@dataclass(frozen=True)
class GaussianWords(AbstractNoiseWords):
    """Gaussian noise: a certificate among such noise, and a bound for every unbiased mechanism."""

    def error(self) -> str:
        """Return the error of all answers."""
        return sentences.error(self.view.error(), exact=self.view.exact())

    def figures(self) -> list[tuple[str, str]]:
        """Return error and gap."""
        return [
            (sentences.capital(f"error of {self.view.brief()}"), self.error()),
            *self.view.figures(),
            ("Gap to the least noise", sentences.gap(self.terms.certificate.gap)),
        ]

    def proofs(self) -> tuple[Section, ...]:
        """Return other Gaussian noise, the certificate, and the bound."""
        return (*self.view.compared(), self._certificate(), self._bound())

    def _certificate(self) -> Section:
        title = "Certificate: how close to the least noise"
        found, measure = self.terms.certificate, self.view.measure()
        if found.upper == 0:
            return Section("certificate", title, (Prose(sentences.NO_NOISE, "certificate"),))
        rows = [
            ("This plan’s noise has", spelling.significant(found.upper, 6)),
            (f"No {self.view.least()} has less than", spelling.significant(found.lower, 6)),
            ("Gap (upper/lower − 1)", spelling.at_most(found.gap, 2)),
            ("Unit of both bounds", found.unit),
        ]
        said = sentences.better(found.gap, self.view.least(), measure)
        note = " ".join(filter(None, (self.view.weight(), ANEW)))
        caption = f"{sentences.capital(measure)}, bounded from both sides."
        parts = (Prose(said, "certificate"), pairs(caption, rows), Prose(note, note=True))
        return Section("certificate", title, parts)

    def _bound(self) -> Section:
        terms = self.terms
        title = "Lower bound: what no unbiased mechanism beats"
        if self.view.error() == 0:
            return Section("bound", title, (Prose(sentences.NO_ERROR, "lower bound"),))
        if terms.lower_bound == 0:
            said, over = sentences.NO_BOUND, spelling.shortest(float("nan"))
        else:
            over = spelling.significant(self.view.error() / terms.lower_bound)
            said = (
                "No unbiased mechanism with this zCDP cost has an error below "
                f"{spelling.at_least(terms.lower_bound)} on {self.view.where()}; this one's "
                f"is {self.error()}, {over} times the bound."
            )
        rows = [
            ("Error of this plan", self.error()),
            ("Lower bound", spelling.at_least(terms.lower_bound)),
            ("Error over lower bound", over),
            ("Unit of both", terms.unit),
        ]
        note = (
            "The bound holds for every unbiased mechanism with this zCDP guarantee, Gaussian or "
            "not; the best of them lies between the two numbers."
        )
        caption = f"Root mean squared error of {self.view.whose()}{self.view.how()}."
        parts = (Prose(said, "lower bound"), pairs(caption, rows), Prose(note, note=True))
        return Section("bound", title, parts)

    def cost(self) -> tuple[Part, ...]:
        """Return the cost in three currencies."""
        return (
            Prose(sentences.cost(self.terms, self.view.together()), "cost"),
            currencies(self.terms, self.view.together()),
        )

    def named(self) -> str:
        """Return what Gaussian noise it is."""
        return self.view.gaussian_noise()


def currencies(terms: Any, together: str) -> Table:  # noqa: ANN401
    """Return the cost of Gaussian noise in three currencies.

    Args:
        terms: what is promised.
        together: of what it is, where that is not one release.
    """
    spent = terms.cost
    whole = together or "for one Gaussian release"
    rows = (
        ("μ-GDP", spelling.at_most(spent.mu), f"The whole trade-off, {whole}."),
        ("ρ-zCDP", spelling.at_most(spent.rho), "Adds up over releases; ρ = μ²/2."),
        ("(ε, δ)-DP", sentences.pair(terms), "The exact δ at that ε."),
    )
    return Table(
        columns=(Column("Currency", "name"), Column("Cost", "value"), Column("Meaning", "words")),
        rows=rows,
        caption="One cost in three currencies, each rounded up.",
    )


@final
@dataclass(frozen=True)
class PureWords(AbstractNoiseWords):
    """Noise of a pure budget: mechanisms compared, and a bound for every mechanism."""

    def error(self) -> str:
        """Return the error of all answers."""
        # that of randomised response depends on the table
        exact = self.view.exact() and not isinstance(self.terms.mechanism, ResponseMechanism)
        return sentences.error(self.view.error(), exact=exact)

    def figures(self) -> list[tuple[str, str]]:
        """Return mechanism, error, and how far it is from the bound."""
        return [
            ("Mechanism", self.terms.name.replace("_", " ")),
            (f"Error of {self.view.whose()}", self.error()),
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
        return self._compared(), self._bound()

    def _compared(self) -> Section:
        terms = self.terms
        best = terms.alternatives[0]
        others = sum(own.error is not None for own in terms.alternatives) - 1
        if best.mechanism != terms.name:
            choice = f"{terms.name} was asked for; {best.mechanism} has the smallest error."
        elif others:
            choice = f"No mechanism that was compared has a smaller error than {terms.name}."
        else:
            choice = f"Only {terms.name} is available."
        table = Table(
            columns=columns("Mechanism", "Error", "What it is, or why it is not", words=_WHAT),
            rows=tuple(
                (
                    own.mechanism,
                    "not available" if own.error is None else spelling.significant(own.error, 4),
                    shown(own.note),
                )
                for own in terms.alternatives
            ),
            caption=(
                f"Root mean squared error of {self.view.whose()}{self.view.how()}, at the same "
                "budget."
            ),
            terminal=len(terms.alternatives),
            own=[own.mechanism for own in terms.alternatives].index(terms.name),
        )
        note = 'Every one of them keeps the budget. `mechanism="…"` asks for any that is available.'
        parts = (Prose(choice, "mechanism"), table, Prose(note, note=True))
        return Section("compared", "Mechanisms compared", parts)

    def _bound(self) -> Section:
        terms, whose = self.terms, self.view.whose()
        title = "Lower bound: what no mechanism of this budget beats"
        known = terms.error > 0 and terms.lower_bound > 0 and not isinstance(terms.budget, ApproxDP)
        if known:
            said = (
                f"No mechanism that is {terms.budget}, biased or not, has an error below "
                f"{spelling.at_least(terms.lower_bound)} on every table; this one's is "
                f"{self.error()}, at most {self._times()} the bound."
            )
        elif terms.error == 0:
            said = sentences.NO_ERROR
        elif isinstance(terms.budget, ApproxDP):
            said = "Nothing is proved of mechanisms that may leave a chance delta out."
        else:
            said = "No bound was found for this question at this budget: it is 0."
        parts: tuple[Part, ...] = (Prose(said, "lower bound"),)
        if known:
            rows = [
                ("Error of this plan", self.error()),
                ("Lower bound", spelling.at_least(terms.lower_bound)),
                ("Error over lower bound", self._times()),
                ("Unit of both", terms.unit),
            ]
            note = (
                "The bound holds for every mechanism, of any noise, on its worst table; the best "
                "of them lies between the two numbers."
            )
            caption = f"Root mean squared error of {whose}{self.view.how()}."
            parts += (pairs(caption, rows), Prose(note, note=True))
        return Section("bound", title, parts)

    def cost(self) -> tuple[Part, ...]:
        """Return what is promised to one person."""
        terms, spent = self.terms, self.terms.cost
        epsilon = spelling.brief_at_most(spent.epsilon)
        neighbour = "takes another value" if terms.size is not None else "comes or goes"
        likelier = (
            f"Whatever is seen is at most e^{epsilon} times likelier when one row {neighbour}"
        )
        if spent.delta == 0:
            said = f"{epsilon}-DP, pure. {likelier}; no chance is left out."
        else:
            delta = spelling.brief_at_most(spent.delta, 3)
            said = (
                f"({epsilon}, {delta})-DP. {likelier}, but for a chance of {delta}: the points of "
                "the noise are drawn by a walk whose law is known that closely."
            )
        return (Prose(f"{said} {sentences.payers(terms)}", "guarantee"),)

    def named(self) -> str:
        """Return which mechanism it is, in words."""
        own = next(a for a in self.terms.alternatives if a.mechanism == self.terms.name)
        return f"{self.terms.name}: {shown(own.note)}"


_WHAT = ("What it is, or why it is not",)
