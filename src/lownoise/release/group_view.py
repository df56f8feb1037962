# SPDX-License-Identifier: Apache-2.0
"""What is particular to means by groups: products of what is said of a mean and of marginals."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import unit_of
from lownoise.errors import PlanError, QuestionError
from lownoise.noise import AdditiveMechanism, baselines
from lownoise.noise.groups import GroupTotals, group_tables
from lownoise.noise.joint_groups import JointNoise
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.privacy import gaussian_dp
from lownoise.release.guarantees import tail_quantile
from lownoise.release.mean_view import MeanView
from lownoise.release.views import AbstractView
from lownoise.sensitivity.residuals import marginal_orbits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.noise.groups import AbstractGroupTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.groups import GroupedMean  # noqa: F401 (in quotes, below)
    from lownoise.release.terms import Terms

_MOST_DENSE = 10_000
_DRAWS, _SEED = 20_000, 20_100_602
_MOST_DRAWN = 256  # answers, and integers
_TINY = 2.0**-50


@final
class GroupView(AbstractView["GroupedMean"]):
    """Sums about the center and the count, of each group."""

    @property
    def _totals(self) -> AbstractGroupTotals:
        found: AbstractGroupTotals = self._terms.mechanism.totals
        return found

    @cached_property
    def mean_terms(self) -> Terms:
        """The terms of a mean of the records of one group."""
        own, evidence = self._terms, self._terms.evidence
        return type(own)(
            question=self.question.mean,
            budget=own.budget,
            order=own.order,
            name=own.name,
            weights=own.weights,
            evidence=None if evidence is None else evidence.values,
            plain_evidence=None if evidence is None else evidence.plain,
            mechanism=AdditiveMechanism(self._totals.inner, own.mechanism.noise.inner),
        )

    @cached_property
    def table_terms(self) -> Terms:
        """The terms of the marginals of the groups with Gaussian noise, about at μ = 1."""
        own, totals = self._terms, self._terms.mechanism.totals
        if isinstance(totals, GroupTotals):
            tables, noise = totals.tables, own.mechanism.noise.tables
        else:  # of whose noise nothing is asked: the evidence speaks of all
            kinds = len(marginal_orbits(self.question.groups).residuals)
            tables, noise = group_tables(self.question, np.ones(kinds))
        return type(own)(
            question=self.question.groups,
            budget=gaussian_dp(1.0),
            order=own.order,
            evidence=own.evidence.tables,
            mechanism=AdditiveMechanism(tables, noise),
        )

    @property
    def _inner(self) -> MeanView:
        found = self.mean_terms.view
        assert isinstance(found, MeanView)  # noqa: S101 (the question is a mean)
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The sums and the count of each group."""
        own = self._inner.names
        return tuple(f"{name} of {label}" for label in self.question.labels() for name in own)

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        by = ", ".join(a.name for a in self.question.groups.attributes)
        return f"{self._inner.note} by {by}"[:200]

    @cached_property
    def spaces(self) -> list[tuple[int, ...]]:
        """The margins that are asked for, each by its attributes, rising."""
        return list(self.question.groups.sets())

    def _cells(self, chosen: Sequence[int]) -> int:
        return math.prod(self.question.groups.attributes[i].size for i in chosen)

    def table_deviation(self, chosen: Sequence[int]) -> float:
        """Return what the noise of a mean is multiplied by in each group of a margin.

        Raises:
            QuestionError: where it does not follow from what was asked.
        """
        groups = self.question.groups
        if isinstance(self._terms.mechanism.noise, JointNoise):
            used = self._terms.mechanism.totals.used
            if not set(chosen) <= set(used):
                raise QuestionError(
                    f"marginal={groups.names(chosen)} does not follow from what was released; "
                    "ask for one whose attributes are among those of a released marginal"
                )
            others = [groups.attributes[i].size for i in used if i not in chosen]
            return math.sqrt(math.prod(others))
        names = groups.names(chosen)
        return float(self.table_terms.view.standard_deviation(*names))

    @cached_property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, in its unit, shape (m,)."""
        own = self.mean_terms.standard_deviation
        return frozen(
            np.concatenate(
                [np.tile(self.table_deviation(s) * own, self._cells(s)) for s in self.spaces]
            )
        )

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request.

        Raises:
            PlanError: beyond 10,000 answers; ask `standard_deviation`.
        """
        if isinstance(self._terms.mechanism.noise, JointNoise):
            found: Vector = self._terms.mechanism.covariance()
            return found
        if self.question.count > _MOST_DENSE:
            raise PlanError(
                f"covariance of {self.question.count:,} answers would fill the memory; "
                "use standard_deviation"
            )
        rows = [np.hstack([self._between(b, c) for c in self.spaces]) for b in self.spaces]
        return frozen(np.kron(np.vstack(rows), self.mean_terms.covariance))

    def _between(self, first: Sequence[int], second: Sequence[int]) -> Vector:
        """Return the covariance of tables of counts: of the groups of two margins."""
        attributes = self.question.groups.attributes
        both = sorted({*first, *second})
        noise = self._terms.mechanism.noise.tables
        orbits, total = noise.layout.orbits, np.zeros((self._cells(first), self._cells(second)))
        common = [i for i in first if i in second and attributes[i].size > 1]
        for choice in np.ndindex(*(2,) * len(common)):
            inside = [i for i, own in zip(common, choice, strict=True) if own]
            place = orbits.place.get(orbits.orbit(inside))
            if place is None:
                continue
            found = np.ones((1, 1))
            for i in both:
                n = attributes[i].size
                rows, columns = (n if i in own else 1 for own in (first, second))
                part = np.full((rows, columns), 1.0)
                if i in inside:
                    part = np.eye(n) - 1 / n
                else:
                    part /= (n if i in first else 1) * (n if i in second else 1)
                found = np.kron(found, part)
            total += float(noise.variances[place]) * found
        return total

    @cached_property
    def weighted(self) -> tuple[Vector, Vector]:
        """The deviations, by the weights of groups, and how often each occurs."""
        return self._product(self._inner.weighted[0])

    @property
    def compared(self) -> tuple[Vector, Vector]:
        """Those of means, times all weights; of the worst."""
        return self._product(self._inner.compared[0])

    def _product(self, own: Vector) -> tuple[Vector, Vector]:
        if isinstance(self._terms.mechanism.noise, JointNoise):
            groups, by_way = self.question.groups, self.question.groups.way is not None
            weights = [groups.weights[len(s) if by_way else k] for k, s in enumerate(self.spaces)]
            deviations = [self.table_deviation(s) for s in self.spaces]
            tables = np.sqrt(np.array(weights)) * np.array(deviations)
            copies = np.array([float(self._cells(s)) for s in self.spaces])
        else:
            tables, counted = self.table_terms.view.weighted
            assert counted is not None  # noqa: S101 (what marginals have)
            copies = counted
        return frozen(np.outer(tables, own).reshape(-1)), frozen(np.repeat(copies, own.size))

    def compared_errors(self, errors: Vector) -> Vector:
        """Return the same errors, from those of all answers."""
        w = self.question.length
        own = self._inner.compared_errors(errors.reshape(-1, w)).reshape(len(errors), -1)
        return np.asarray(own * np.repeat(self.question.weights, w - 1))

    def unit(self, *, plain: bool = False) -> str:
        """Return "the answers": columns have units of their own, and counts are of records."""
        own = self.question.weights
        return unit_of("the answers", own if plain else np.outer(own, self.matters).reshape(-1))

    @property
    def mean_error(self) -> float | None:
        """E‖ω·error‖_p of all answers, from 20,000 draws of Gaussian noise.

        Raises:
            PlanError: where they are too many to be drawn.
        """
        terms, totals = self._terms, self._totals
        if isinstance(terms.mechanism.noise, JointNoise):
            return None
        if max(self.question.count, totals.length) > _MOST_DRAWN:
            raise PlanError("answers are too many to draw; ask for standard deviations")
        noise = terms.mechanism.noise.simulate(_DRAWS, SimulationRandomness(_SEED))
        answers = np.array(
            [totals.answers(row) for row in np.eye(totals.length, dtype=int).tolist()]
        )
        errors = self.compared_errors(noise @ answers)
        return float(np.mean(np.linalg.norm(errors, ord=terms.order, axis=1)))

    @property
    def upper(self) -> float:
        """At least the objective of the noise."""
        return self._inner.upper * self.table_terms.view.upper

    @property
    def body(self) -> Any:  # noqa: ANN401 (the changes of joint groups, or of all margins)
        """All changes that one neighbour makes to what is summed."""
        return self._totals.changes

    @property
    def matters(self) -> Vector:
        """ω of each number of a group."""
        return self._inner.matters

    @cached_property
    def least(self) -> float:
        """The product of what is proved of the mean and of the marginals."""
        return self._inner.least * self.table_terms.view.least * (1 - _TINY)

    @cached_property
    def plain_least(self) -> float:
        """As `least`, for weights of one on the columns."""
        return self._inner.plain_least * self.table_terms.view.least * (1 - _TINY)

    @cached_property
    def pure_least(self) -> float:
        """As `least`, of the worst means; 0 where nothing is proved."""
        if self._terms.evidence is None:
            return 0.0
        return self._inner.pure_least * self.table_terms.view.least * (1 - _TINY)

    def ratio_radius(self, chosen: Sequence[int], level: float) -> Vector | float:
        """Return how many deviations sum − θ·count strays in a group of a margin, whatever θ is.

        Of sums of the noise of several groups by what is known of the tails of such sums.

        Args:
            chosen: the attributes of the margin.
            level: the chance that it does not.

        Raises:
            PlanError: where the level is not between 0 and 1.
        """
        noise = self._terms.mechanism.noise
        if not isinstance(noise, JointNoise) or self.table_deviation(chosen) == 1:
            return self.mean_terms.proof.ratio_quantile(level, 1)
        return tail_quantile(1 - checked_level(level), noise.moment)

    @cached_property
    def isotropic(self) -> Vector:
        """Standard deviations of i.i.d. Gaussian noise at the same budget, shape (m,)."""
        margins = math.sqrt(len(self.spaces))
        return frozen(np.tile(self._inner.isotropic * margins, self.question.groups.cells))

    @cached_property
    def laplace(self) -> Vector:
        """Standard deviations of Laplace noise with the budget split evenly, shape (m,)."""
        inner = self._inner
        widths = inner.body.answer_widths(inner.embed)
        own = baselines.split_laplace(self._terms.budget, np.tile(widths, len(self.spaces)))
        parts = own.reshape(len(self.spaces), -1)
        return frozen(
            np.concatenate(
                [np.tile(part, self._cells(s)) for s, part in zip(self.spaces, parts, strict=True)]
            )
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every release rests on, one sentence each."""
        said = [
            *self._inner.assumptions,
            "The groups are public; none of them was taken from this table.",
        ]
        groups = self.question.groups
        if any(a.outside is not None for a in groups.attributes):
            said.append(
                "A row whose category is missing or not declared counts in the group that is "
                "declared for it."
            )
        if groups.drops:
            said.append(
                "A row whose category is missing or not declared is left out where its attribute "
                "declares no group for it; nothing says how many were."
            )
        said.append("All groups agree on what they share; a count may be negative.")
        return tuple(said)

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        own, groups = self.mean_terms.standard_deviation, self.question.groups
        return {
            "names": list(self._inner.names),
            "groups": [
                {
                    "by": list(groups.names(chosen)),
                    "standard_deviation": (self.table_deviation(chosen) * own).tolist(),
                }
                for chosen in self.spaces
            ],
        }
