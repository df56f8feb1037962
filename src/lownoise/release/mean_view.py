# SPDX-License-Identifier: Apache-2.0
"""What is particular to means: their names, their worst, what is summed and what is public."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import order_norm, unit_of
from lownoise.certificate.exchange import exchanged_least
from lownoise.certificate.witness import covers
from lownoise.noise import baselines
from lownoise.noise.means import MeanTotals
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import ROUGH, grown, shrunk
from lownoise.release.group_words import missing_values
from lownoise.release.lower_bounds import least_with_room
from lownoise.release.pure_bound import farthest_mean, least_of, middle, repeats, unbeaten
from lownoise.release.views import AbstractRowView
from lownoise.sensitivity.relations import (
    SUBSTITUTE,
    Change,
    checked_relation,
    exchange_body,
    sensitivity_set,
)
from lownoise.sets.bodies import SectionBody
from lownoise.sets.domains import AbstractMoments

if TYPE_CHECKING:
    from lownoise.certificate import Evidence
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Mean  # noqa: F401 (in quotes, below)
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates

_FEW_NAMES = 3  # in a ledger's note


@final
class MeanView(AbstractRowView["Mean"]):
    """Means, or sums about the center and the count."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, or their sums and the count."""
        columns = self.question.columns
        if self._terms.size is not None:
            return columns
        return (*(f"sum({c} - center)" for c in columns), "count")

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        columns, terms, what = self.question.columns, self._terms, "mean"
        domain: Any = self.question.domain
        if isinstance(domain, AbstractMoments):  # further columns are products of these
            what, columns = "moments", columns[: domain.source.dimension]
        if not terms.gaussian:
            many = f"{len(columns):,} means" if what == "mean" else f"moments of {len(columns):,}"
            return f"{terms.name}: {many}"
        few = len(columns) <= _FEW_NAMES
        hidden = "changes in a body: " if isinstance(terms.relation, Change) else ""
        asked = ", ".join(columns) if few else f"{len(columns)} columns"
        return f"{hidden}{what} of {asked}"[:200]

    @property
    def totals(self) -> MeanTotals:
        """How records become integers."""
        found = self._terms.mechanism.totals
        assert isinstance(found, MeanTotals)  # noqa: S101 (what all mechanisms of means have)
        return found

    @property
    def chosen(self) -> Coordinates:
        """The coordinates that are summed, of which the evidence speaks, and how all follow."""
        return self.totals.coordinates

    @property
    def weights(self) -> Vector:
        """What one unit of each answer's error matters, or of each column's with pure noise."""
        found = self._terms.weights
        assert found is not None  # noqa: S101 (what all terms of means have)
        return found

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed coordinates to all answers; None where all are summed."""
        return self.totals.embed

    @property
    def divisor(self) -> int:
        """The public number of records, by which sums are divided to be means."""
        return self._terms.size or 1

    @property
    def weighted(self) -> tuple[Vector, None]:
        """Under Gaussian noise the deviations themselves; else times the weights.

        Where sums and the count come with pure noise, those of the worst means.
        """
        if self._terms.gaussian:
            return self.standard_deviation, None
        return self.compared

    @property
    def compared(self) -> tuple[Vector, None]:
        """Those of means, times the weights of columns; where there is a count, of the worst."""
        own = self.standard_deviation if self._terms.size is not None else self.worst_means
        return frozen(self.weights[: own.size] * own), None

    def compared_errors(self, errors: Vector) -> Vector:
        """Return the errors of the same, from those of all answers."""
        d = self.question.domain.dimension
        matters = self.weights[:d]
        if self._terms.size is not None:
            return errors * matters
        m = middle(self.question.domain)
        beside = self._terms.mechanism.answer_scales(self.totals.embed_about(m))[1][:-1]
        far = np.where(beside < 0, -1.0, 1.0) * farthest_mean(self.question.domain)
        return (errors[:, :-1] + (self.question.center - m + far) * errors[:, -1:]) * matters

    def widest(self, level: float) -> float:
        """Return the greatest of the columns' `half_widths`; the count has a unit of its own.

        Raises:
            PlanError: as `half_widths`.
        """
        return float(np.max(self.half_widths(level)[: len(self.question.columns)]))

    def unit(self, *, plain: bool = False) -> str:
        """Return "the answers": columns have units of their own, and the count is of records."""
        return unit_of("the answers", np.ones(1) if plain else self.weights)

    @cached_property
    def worst_means(self) -> Vector:
        """The standard deviations of sums about the worst mean in the columns' bounds, shape (d,).

        To first order n times what the means themselves stray by. The center does not matter, nor
        does where the domain lies.
        """
        about = self.totals.embed_about(middle(self.question.domain))
        deviations, beside = self._terms.mechanism.answer_scales(about)
        far = farthest_mean(self.question.domain)
        ends = far * deviations[-1]
        # in a unit, a power of two, in which no square is beyond floats
        unit = math.ldexp(1.0, math.frexp(max(*deviations[:-1].tolist(), *ends.tolist()))[1])
        own = np.square(deviations[:-1] / unit) + 2 * far * np.abs(beside[:-1] / unit / unit)
        return frozen(np.sqrt(own + np.square(ends / unit)) * unit)

    @property
    def _about_exchange(self) -> bool:
        """Whether evidence is about what a row changes that becomes another."""
        return self._terms.exchanged and self._terms.gaussian

    @cached_property
    def _exchange(self) -> AbstractBody | None:
        """All changes of a row of units that take other rows; None where no solver knows them."""
        asked = self.question
        counted = not asked.comes
        return exchange_body(asked.domain, asked.center, self.chosen, counted=counted)

    @cached_property
    def differences(self) -> AbstractBody:
        """What a row changes of the summed coordinates that becomes another."""
        return sensitivity_set(self.question.domain, SUBSTITUTE, self.question.center, self.chosen)

    @property
    def body(self) -> AbstractBody:
        """All changes that one neighbour makes to the summed coordinates, and the count.

        Of units that take other rows, what the evidence is about.
        """
        if not self._about_exchange:
            return self._coming
        if self._exchange is None and not self.question.comes:
            return self.differences
        return self._exchange or self._coming

    def _least(self, dual: Evidence | None, weights: Vector) -> float:
        sums_alone = self._about_exchange and self._exchange is None and not self.question.comes
        if dual is None or not sums_alone:
            return super()._least(dual, weights)
        terms, image = self._terms, self.question.domain.as_image()
        embed, last = self.chosen.answers(None), float(weights[-1])
        own = dual.least(self.differences, terms.order, weights[:-1], embed)
        away = None
        if image is not None:
            off = weights[:-1] * (image.center - self.question.center)
            away = grown(order_norm(np.abs(off), terms.order), ROUGH)
        return shrunk(exchanged_least(own, last, terms.order, away) * terms.rows)

    @cached_property
    def _coming(self) -> AbstractBody:
        """What a row changes that comes or goes, or all that one does of a public number."""
        totals, terms = self.totals, self._terms
        found = sensitivity_set(
            self.question.domain, terms.relation, self.question.center, totals.coordinates
        )
        if isinstance(found, SectionBody) and totals.multipliers is not None:
            return found.with_multipliers(totals.multipliers)
        return found

    @property
    def covers_exactly(self) -> bool | None:
        """Whether fractions alone show that independent noise covers a box; None for all else."""
        mechanism, unit = self._terms.mechanism, self._terms.privacy_unit
        if unit is not None and unit.exchanged:  # which differences of records cost more than
            return None
        mu, rows = mechanism.loss.mu, self._terms.rows
        own = Fraction(mu) / rows if math.isfinite(mu) else mu
        return covers(self.totals.changes, mechanism.noise.shape, own)

    @property
    def evidence_about(self) -> tuple[AbstractBody, Vector, Vector | None] | None:
        """All changes, weights on the answers, and what answers are made of."""
        if self.body is self.differences:
            return None
        return self.body, self.matters, self.embed

    @property
    def binding_least(self) -> float:
        """0 where no row of the domain has room for every change."""
        return least_with_room(self._terms, self.question.domain, self.plain_least)

    @cached_property
    def pure_least(self) -> float:
        """As `binding_least`: of the worst means, where they come as sums and the count."""
        return least_with_room(self._terms, self.question.domain, least_of(self._terms))

    def unbeaten(self, epsilon: float) -> float:
        """Return what no ε-DP mechanism's error is below on every table."""
        return unbeaten(self._terms, epsilon)

    @cached_property
    def most(self) -> float:
        """How often each change that proves `least` can be made."""
        return math.inf if self._terms.size is None else repeats(self._terms)

    @cached_property
    def isotropic(self) -> Vector:
        """Standard deviations of i.i.d. Gaussian noise at the same budget, shape (m,)."""
        own, embed = self._coming.answer_length(self.embed), self.chosen.answers(None)
        if self._terms.exchanged:
            own = max(own, self.differences.answer_length(embed))
        sensitivity = own / self.divisor
        return baselines.isotropic_gaussian(sensitivity, self.weights.size, self.gaussian_parameter)

    @cached_property
    def laplace(self) -> Vector:
        """Standard deviations of Laplace noise with the budget split evenly, shape (m,)."""
        widths = self._coming.answer_widths(self.embed)
        if self._terms.exchanged:
            wide = self.differences.answer_widths(self.chosen.answers(None))
            widths = np.maximum(widths, np.append(wide, np.zeros(widths.size - wide.size)))
        widths = widths / self.divisor * self._terms.rows
        return baselines.split_laplace(self._terms.budget, widths)

    @property
    def left_out(self) -> str:
        """Those that lack a value, where these are dropped."""
        return missing_values(drops=True) if self.question.drops_missing else ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every release of means rests on, whatever its noise, one sentence each."""
        terms, question = self._terms, self.question
        unit = checked_relation(terms.relation).sentence
        said = [
            self.neighbour(unit),
            *question.domain.assumptions,
        ]
        if question.drops_missing:
            said.append(self.left_out)
        else:
            said.append("A missing value counts as the stand-in, by default the center.")
        if terms.size is not None:
            said.append(f"The number of rows, {terms.size:,}, is public.")
        else:
            said.append(
                "The sums and the count are unbiased; a mean made of them is not exactly unbiased.",
            )
        if terms.gaussian and isinstance(terms.relation, Change):
            said.append(
                "The lower bound holds on tables with a row that every change of the body, or its "
                "opposite, keeps inside the domain.",
            )
        if terms.gaussian and terms.size is not None and not terms.mechanism.loss.mu:
            said.append("The domain is one point, so nothing is revealed and nothing is noised.")
        return tuple(said)

    @property
    def program(self) -> AbstractDomain | None:
        """The domain that a file of the terms only names, None where it holds all of it."""
        return self.question.domain if self.question.domain.oracles else None

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        return {"names": list(self.names), **super().derived}
