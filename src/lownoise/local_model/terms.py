# SPDX-License-Identifier: Apache-2.0
"""What a local plan guarantees: an encoder, a randomizer, and what follows from the two.

The document holds what a device needs and no more. What proves how near the error is to the least
of any local mechanism is large and stands beside it, in the file of the plan alone: `curator`, the
Gaussian noise of a trusted curator on one record, whose certificate bounds Γ_p(K − K) below.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.bounds.unbiased import ball_local, unbiased_local
from lownoise.certificate import order_norm
from lownoise.errors import FileError, quoted
from lownoise.kinds import NONNEGATIVE, ORDER, POSITIVE
from lownoise.local_model import ENCODERS, RANDOMIZERS
from lownoise.local_model.cap_law import greatest_mean_up
from lownoise.local_model.document import check_fit, parts, terms_digest
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.privacy.local_budget import local_from_dict
from lownoise.questions import Mean
from lownoise.release import codec, stored
from lownoise.release.comparison import Alternative
from lownoise.release.verification import Check
from lownoise.release.verification.checks import near
from lownoise.sensitivity.orders import answer_count

if TYPE_CHECKING:
    from lownoise.local_model.encoder import AbstractEncoder
    from lownoise.local_model.randomizer import AbstractRandomizer, LocalLoss
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy.local_budget import LocalDP
    from lownoise.questions import Marginals
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain

_ALIKE = 1 - 1e-6  # errors that other machines round otherwise
_APART = 1e-6  # of the width: steps of the encoder's grid, and what the ellipsoid is rounded by


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class LocalTerms:
    """The terms of reports, whoever sends them.

    Args:
        encoder: from records to integers, and from estimates to answers.
        randomizer: from those integers to a report.
        budget: the most that one report may reveal.
        order: p in [2, ∞], the norm of the error.
        weights: ω, what one unit of each answer's error matters, shape (m,).
        name: of the collection: reports of another one are not counted.
        alternatives: what was compared, the best first.
        curator: what a trusted curator would do with one record under Gaussian noise, whose
            certificate says what no local mechanism beats; None where it was left out.
    """

    encoder: AbstractEncoder
    randomizer: AbstractRandomizer
    budget: LocalDP
    order: float
    weights: Vector
    name: str = ""
    alternatives: tuple[Alternative, ...] = ()
    curator: Terms | None = None

    def __post_init__(self) -> None:
        check_fit(self.encoder, self.randomizer)
        if self.weights.shape != (self.encoder.length,) or not np.all(self.weights > 0):
            raise FileError("weights are not one number above 0 per answer; plan again")

    @cached_property
    def loss(self) -> LocalLoss:
        """What one report reveals, from the randomizer's final numbers, rounded up."""
        return self.randomizer.loss

    @property
    def within_budget(self) -> bool:
        """Whether that is at most the budget."""
        return self.loss.within(self.budget.epsilon, self.budget.delta)

    @cached_property
    def standard_deviation(self) -> Vector:
        """The greatest standard deviation of each answer over all records, one report; (m,)."""
        return frozen(np.sqrt(self.randomizer.variances(self.encoder.answers)))

    @cached_property
    def error(self) -> float:
        """‖ω·standard deviations‖_p of one report's estimate, at most, whatever the record.

        Of n people's it is that over √n. At p = 2 it is (E‖ω·error‖₂²)^{1/2} of the worst record;
        else each answer's deviation is that of its worst record, and (E‖ω·error‖_p²)^{1/2}, which
        is what errors have together, may be greater (Jensen).
        """
        return error_of(self.encoder, self.randomizer, self.order, self.weights)

    @cached_property
    def lower_bound(self) -> float:
        """What every unbiased ε-local mechanism errs at its worst of n people, times √n, at least.

        The greater of a bound on all records, by Γ_p(K − K), and at p = 2 one on some records of an
        ellipsoid in the domain: see `bounds.unbiased`. 0 where nothing is proved: without
        `curator`, and where a δ is left out.
        """
        if self.curator is None or self.budget.delta:
            return 0.0
        gamma = self.curator.certificate.lower * self.curator.parameter
        everywhere = unbiased_local(gamma, 1, self.budget.epsilon)
        return max(everywhere, self._somewhere(self.curator.question))

    def _somewhere(self, question: Mean | Marginals) -> float:
        """Return a bound at p = 2 from the balls that an inscribed ellipsoid's sections hold."""
        if not isinstance(question, Mean) or self.order != 2:  # noqa: PLR2004
            return 0.0
        axes, epsilon = question.domain.inscribed(self.weights), self.budget.epsilon
        sizes = {2**k for k in range(axes.size.bit_length())} | {axes.size}
        return max(
            (
                float(axes[r - 1]) * ball_local(greatest_mean_up(r, epsilon), 1)
                for r in sizes
                if 1 <= r <= axes.size and axes[r - 1] > 0
            ),
            default=0.0,
        )

    @property
    def stated(self) -> dict[str, Any]:
        """The terms as JSON values: what a device needs."""
        return {
            "name": self.name,
            "budget": self.budget.to_dict(),
            "order": ORDER.write(self.order),
            "weights": self.weights.tolist(),
            "encoder": ENCODERS.write(self.encoder),
            "randomizer": RANDOMIZERS.write(self.randomizer),
            "alternatives": [[own.mechanism, own.error, own.note] for own in self.alternatives],
        }

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the terms, as 64 hexadecimal digits: what reports name their plan by."""
        return terms_digest(self.stated)

    def checks(self) -> list[Check]:
        """Return what must hold."""
        loss, own = self.loss, self.error
        found = [
            Check(
                f"one report is within {self.budget}",
                self.within_budget,
                f"epsilon {loss.epsilon!r}, delta {loss.delta!r}, mu {loss.mu!r}, rounded up",
            ),
            Check(
                "randomizer as compared", self._compared_as_stated(), f"{self.kind}: error {own!r}"
            ),
        ]
        if self.curator is not None:
            bound = self.lower_bound
            found += [
                Check("proof is of this question", *self._proof_fits(self.curator)),
                Check("error is above the lower bound", bound <= own, f"{own!r} above {bound!r}"),
            ]
        return found

    def _compared_as_stated(self) -> bool:
        """Return whether none that is stated errs less, and those of this encoder err as stated."""
        rows = ((each.mechanism, each.error) for each in self.alternatives)
        stated = [(name, error) for name, error in rows if error is not None]
        own = [error for name, error in stated if name == self.kind]
        same = len(own) <= 1 and all(near(error, self.error) for error in own)
        if not same or any(error < self.error * _ALIKE for _, error in stated):
            return False
        for name, error in stated:
            kind = RANDOMIZERS[name].of
            if name == self.kind or kind.takes != self.encoder.makes:
                continue  # of another encoder, which is not in the file, nothing is known
            other = self.encoder.fitted(kind, self.budget.epsilon, self.budget.delta)
            found = error_of(self.encoder, other, self.order, self.weights)
            if not math.isclose(found, error, rel_tol=1 - _ALIKE):
                return False
        return True

    def _proof_fits(self, curator: Terms) -> tuple[bool, str]:
        """Return whether a proof is of the answers that reports give, and what was compared."""
        same = (
            curator.order == self.order
            and curator.size == 1
            and np.array_equal(answer_weights(curator), self.weights)
        )
        off = self.encoder.apart(curator.question) if same else math.inf
        return off <= _APART, f"extreme records come back within {off!r} of their ranges"

    def derived(self) -> dict[str, Any]:
        """Return what follows from the terms, as JSON values."""
        bound = {} if self.curator is None else {"lower_bound": self.lower_bound}
        loss = self.loss
        return {
            "epsilon": loss.epsilon if math.isfinite(loss.epsilon) else None,
            "delta": loss.delta,
            "mu": loss.mu if math.isfinite(loss.mu) else None,
            "standard_deviation": self.standard_deviation.tolist(),
            "error": self.error,
            **bound,
        }

    def document(self, *, proof: bool) -> str:
        """Return the document of a local plan.

        Args:
            proof: whether the curator's plan, which proves the lower bound, is in it.
        """
        own = self if proof else replace(self, curator=None)
        content: dict[str, Any] = {"terms": self.stated, "derived": own.derived()}
        if own.curator is not None:
            content["curator"] = json.loads(stored.plan_document(own.curator))
        return codec.dump("local", content)

    @classmethod
    def of_document(cls, document: dict[str, Any], domain: AbstractDomain | None) -> LocalTerms:
        """Return the terms of a document.

        Args:
            document: what `document` wrote.
            domain: the set, where the proof only names it.

        Raises:
            FileError: where a field is missing, unknown or of no meaning.
        """
        proof = document.get("curator")
        curator = None if proof is None else stored.terms_from_dict(proof["terms"], domain)
        return cls.from_dict(document["terms"], curator)

    @property
    def kind(self) -> str:
        """The randomizer's name in documents."""
        return RANDOMIZERS.of(self.randomizer).name

    @classmethod
    def from_dict(cls, fields: Any, curator: Terms | None = None) -> LocalTerms:  # noqa: ANN401
        """Return the terms that `stated` described, checked.

        Raises:
            FileError: where a field is missing, unknown or of no meaning.
        """
        encoder, randomizer = parts(fields)
        name = fields["name"]
        if not isinstance(name, str):
            raise FileError(f"terms.name={quoted(name)} is no text")
        return cls(
            name=name,
            budget=local_from_dict(fields["budget"]),
            order=ORDER.read(fields["order"], "terms.order"),
            weights=NONNEGATIVE.read(fields["weights"], "terms.weights"),
            encoder=encoder,
            randomizer=randomizer,
            alternatives=tuple(_compared(own) for own in fields["alternatives"]),
            curator=curator,
        )


def _compared(fields: Any) -> Alternative:  # noqa: ANN401
    name, error, note = fields
    if not isinstance(name, str) or not isinstance(note, str):
        raise FileError("terms.alternatives are not names, errors and notes")
    return Alternative(name, None if error is None else POSITIVE.read(error, "error"), note)


def error_of(
    encoder: AbstractEncoder, randomizer: AbstractRandomizer, order: float, weights: Vector
) -> float:
    """Return the error of one report, at most; see `LocalTerms.error`."""
    A = encoder.answers
    weighted = weights * A if A.ndim == 1 else weights[:, None] * A
    if order == 2:  # noqa: PLR2004
        return math.sqrt(randomizer.total_variance(weighted))
    return order_norm(np.sqrt(randomizer.variances(weighted)), order)


def answer_weights(curator: Terms) -> Vector:
    """Return ω, what one unit of each answer's error matters, shape (m,).

    Args:
        curator: the terms of the same question for a trusted curator of one record.
    """
    if curator.weights is not None:
        return np.asarray(curator.weights)
    question = curator.question
    along = [answer_count(own.ordered, own.size) for own in question.attributes]
    cells = [math.prod(along[i] for i in own) for own in question.sets()]
    ways = [len(own) for own in question.sets()]
    each = question.weights if question.way is None else question.weights[ways]
    return np.asarray(np.sqrt(np.repeat(each, cells)))
