# SPDX-License-Identifier: Apache-2.0
"""What is particular to means by groups: products of what is said of a mean and of marginals."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate import order_norm, unit_of
from lownoise.errors import PlanError, QuestionError
from lownoise.noise import AdditiveMechanism
from lownoise.noise.group_noise import group_tables
from lownoise.noise.groups import GroupTotals
from lownoise.noise.joint_groups import JointNoise, JointTotals
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import grown
from lownoise.privacy import gaussian_dp
from lownoise.release.group_bounds import GroupBounds
from lownoise.release.group_scales import (
    laplace_scales,
    sums_covariance,
    sums_factor,
    sums_scales,
    tables_covariance,
    without_all_rows,
)
from lownoise.release.group_words import group_assumptions, group_derived, group_left_out
from lownoise.release.guarantees import farthest
from lownoise.release.mean_view import MeanView
from lownoise.release.proofs import ratio_quantile
from lownoise.release.pure_bound import least_of, middle
from lownoise.release.views import AbstractView
from lownoise.sensitivity.relations import SUBSTITUTE, sensitivity_set
from lownoise.sensitivity.residuals import marginal_orbits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.certificate import AbstractDual
    from lownoise.noise.gaussian import GaussianNoise
    from lownoise.noise.groups import AbstractGroupTotals
    from lownoise.noise.residual import ResidualNoise
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.mean import AbstractGrouped  # noqa: F401 (in quotes, below)
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.factors import AbstractShape

_MOST_DENSE = 10_000
_DRAWS, _SEED = 20_000, 20_100_602
_MOST_DRAWN = 256  # answers, and integers


@final
class GroupView(AbstractView["AbstractGrouped"]):
    """Sums about the center and the count, of each group; or totals."""

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
            evidence=None if own.evidence is None else own.evidence.tables,
            mechanism=AdditiveMechanism(tables, noise),
        )

    @cached_property
    def parted(self) -> bool:
        """Whether the sums of all rows have noise of another shape than others, or no count has."""
        return self._totals.exact_count or self._all_rows is not None

    @property
    def _all_rows(self) -> GaussianNoise | None:
        noise = self._terms.mechanism.noise
        return None if isinstance(noise, JointNoise) else noise.all_rows

    @cached_property
    def _apart(self) -> ResidualNoise:
        """The noise on tables of counts but for that of all rows."""
        return without_all_rows(self.question, self._terms.mechanism.noise.tables)

    @property
    def _inner(self) -> MeanView:
        found = self.mean_terms.view
        assert isinstance(found, MeanView)  # noqa: S101 (the question is a mean)
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The sums and the count of each group."""
        own = self.own_names
        return tuple(f"{name} of {label}" for label in self.question.labels() for name in own)

    @property
    def own_names(self) -> tuple[str, ...]:
        """What each number of one group is."""
        if self.question.counted:
            return self._inner.names
        return tuple(f"sum({name})" for name in self.question.columns)

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        by = ", ".join(a.name for a in self.question.groups.attributes)
        own = self._inner.note
        return f"{own if self.question.counted else own.replace('mean', 'sum', 1)} by {by}"[:200]

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
            measured = self._terms.mechanism.totals.measured
            if not measured.covers(tuple(chosen)):
                raise QuestionError(
                    f"marginal={groups.names(chosen)} does not follow from what was released; "
                    "ask for one whose attributes are among those of a released marginal"
                )
            return math.sqrt(measured.variance(tuple(chosen)))
        names = groups.names(chosen)
        return float(self.table_terms.view.standard_deviation(*names))

    def one_noise(self, chosen: Sequence[int]) -> bool:
        """Return whether the noise of a margin's group is of the law of a mean's."""
        noise = self._terms.mechanism.noise
        if not isinstance(noise, JointNoise):
            return True
        alone = len(noise.tables) == 1 and not self.parted
        return alone and self.table_deviation(chosen) == 1

    def scales(self, chosen: Sequence[int]) -> tuple[Vector, Vector]:
        """Return how the sums and the count in each group of a margin stray, and with the count.

        Args:
            chosen: the attributes of the margin.

        Returns:
            The standard deviations, and the covariance of each with the count, shapes (w,).

        Raises:
            QuestionError: as `table_deviation`.
        """
        (full, beside), times = self._own_scales, self.table_deviation(chosen)
        if not self.parted:
            return times * full, times**2 * beside
        apart, alone = self._parts(chosen, times)
        sums = self._sums_scales(self._totals.inner.embed)
        return np.sqrt(apart * full**2 + alone * sums**2), apart * beside

    def factors(self, chosen: Sequence[int]) -> tuple[float, AbstractShape | None]:
        """Return what a mean's noise is multiplied by in a margin's groups, and what is added.

        Raises:
            QuestionError: as `table_deviation`.
        """
        times = self.table_deviation(chosen)
        if not self.parted:
            return times, None
        apart, alone = self._parts(chosen, times)
        one, rows = self.mean_terms.mechanism, self._all_rows
        unit, embed = one.totals.unit, one.totals.embed
        beside = sums_factor(one, embed) if rows is None else rows.answer_factor(unit, embed)
        return math.sqrt(apart), beside.scaled(math.sqrt(alone))

    def _parts(self, chosen: Sequence[int], times: float) -> tuple[float, float]:
        """Return the parts of a group's variance with a count, and of all rows, which has none."""
        sizes = [self.question.groups.attributes[i].size for i in chosen]
        noise, totals = self._terms.mechanism.noise, self._terms.mechanism.totals
        if isinstance(totals, JointTotals):
            alone = totals.measured.shares_of(())[0]
        else:
            alone = float(noise.tables.variances[0])  # 1 beside `_all_rows`
        alone /= math.prod(n * n for n in sizes)
        return (max(times**2 - alone, 0.0) if math.prod(sizes) > 1 else 0.0), alone

    def _sums_scales(self, embed: Vector | None) -> Vector:
        """Return how the sums of all rows stray beside what σ multiplies, shape (w,)."""
        if self._all_rows is not None:
            return self._all_rows.answer_scales(self._totals.inner.unit, embed)[0]
        return sums_scales(self.mean_terms.mechanism, embed)

    @cached_property
    def _own_scales(self) -> tuple[Vector, Vector]:
        own = self.mean_terms.mechanism
        found: tuple[Vector, Vector] = own.answer_scales(own.totals.embed)
        return found

    @cached_property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, in its unit, shape (m,)."""
        return frozen(
            np.concatenate([np.tile(self.scales(s)[0], self._cells(s)) for s in self.spaces])
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
        own: Vector = self.mean_terms.covariance
        whole = tables_covariance(self.question.groups, self._terms.mechanism.noise.tables)
        if not self.parted:
            return frozen(np.asarray(np.kron(whole, own), dtype=np.float64))
        mechanism = self.mean_terms.mechanism
        unit, embed = mechanism.totals.unit, mechanism.totals.embed
        if self._all_rows is not None:
            sums = self._all_rows.answer_covariance(unit, embed)
        else:
            sums = sums_covariance(mechanism, embed)
        apart = tables_covariance(self.question.groups, self._apart)
        both = np.kron(apart, own) + np.kron(whole - apart, sums)
        return frozen(np.asarray(both, dtype=np.float64))

    @cached_property
    def weighted(self) -> tuple[Vector, Vector]:
        """The deviations, by the weights of groups, and how often each occurs."""
        own, embed = self._inner.weighted[0], self._totals.inner.embed
        return self._product(own, np.ones(own.size), embed)

    @property
    def compared(self) -> tuple[Vector, Vector]:
        """Those of means, times all weights; of the worst."""
        about = self._inner.totals.embed_about(middle(self.question.mean.domain))
        return self._product(self._inner.compared[0], self._inner.weights, about)

    def _product(self, own: Vector, weights: Vector, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how far answers stray in each group, and how often each occurs.

        Args:
            own: of a mean.
            weights: what those are multiplied by.
            embed: what they are made of.
        """
        copies: Vector
        if isinstance(self._terms.mechanism.noise, JointNoise):
            groups, by_way = self.question.groups, self.question.groups.way is not None
            every = [groups.weights[len(s) if by_way else k] for k, s in enumerate(self.spaces)]
            deviations, matters = list(map(self.table_deviation, self.spaces)), np.array(every)
            tables = np.sqrt(matters) * np.array(deviations)
            apart, alone = np.transpose(list(map(self._parts, self.spaces, deviations)))
            copies = np.array([float(self._cells(s)) for s in self.spaces])
        elif self.parted:
            orbits = self._apart.layout.orbits
            apart = orbits.cell_variances(self._apart.variances)
            alone = orbits.cell_variances(self._terms.mechanism.noise.tables.variances) - apart
            copies, matters = orbits.cells, orbits.weights
        else:
            tables, counted = self.table_terms.view.weighted
            assert counted is not None  # noqa: S101 (what marginals have)
            copies = counted
        if self.parted:
            sums = self._sums_scales(embed)[: own.size] * weights[: own.size]
            squares = np.outer(apart, own**2) + np.outer(np.maximum(alone, 0.0), sums**2)
            found = np.sqrt(matters[:, None] * squares)
        else:
            found = np.outer(tables, own)
        return frozen(found.reshape(-1)), frozen(np.repeat(copies, own.size))

    def compared_errors(self, errors: Vector) -> Vector:
        """Return the same errors, from those of all answers."""
        w = self.question.length
        own = self._inner.compared_errors(errors.reshape(-1, w)).reshape(len(errors), -1)
        return np.asarray(own * np.repeat(self.question.weights, w - self.question.counted))

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
            raise PlanError("answers are too many for intervals from draws; use standard_deviation")
        noise = terms.mechanism.noise.simulate(_DRAWS, SimulationRandomness(_SEED))
        answers = np.array(
            [totals.answers(row) for row in np.eye(totals.length, dtype=int).tolist()]
        )
        errors = self.compared_errors(noise @ answers)
        return float(np.mean(np.linalg.norm(errors, ord=terms.order, axis=1)))

    @property
    def upper(self) -> float:
        """At least the objective of the noise."""
        if self.parted:
            return grown(order_norm(self._errors[0], self._terms.order, self._errors[1]))
        return self._inner.upper * self.table_terms.view.upper

    @cached_property
    def _errors(self) -> tuple[Vector, Vector]:
        one, matters = self._inner.standard_deviation, self.matters
        return self._product(one * matters, matters, self._totals.inner.embed)

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
        return self._proved(self._inner.least, self._terms.evidence.values, self.matters)

    @cached_property
    def plain_least(self) -> float:
        """As `least`, for weights of one on the columns."""
        return self._proved(
            self._inner.plain_least, self._terms.evidence.plain, np.ones(self.matters.size)
        )

    def _proved(self, own: float, dual: AbstractDual | None, weights: Vector) -> float:
        """Return what is proved of the groups; arguments as of `GroupBounds.least`."""
        parted = self._terms.gaussian and self.parted
        errors = (self._errors if parted else self.compared)[0]
        view = self.table_terms.view
        return GroupBounds(self._terms, self._inner, view, errors).least(own, dual, weights)

    @cached_property
    def pure_least(self) -> float:
        """As `least`, of the worst means; 0 where nothing is proved."""
        if self._terms.evidence is None:
            return 0.0
        counted = self.question.counted
        own = self._inner.pure_least if counted else least_of(self.mean_terms)
        return self._proved(own, None, self.matters)

    def ratio_radius(self, chosen: Sequence[int], level: float) -> Vector | float:
        """Return how many deviations sum − θ·count strays in a group of a margin, whatever θ is.

        Of sums of the noise of several groups by draws of it, or by what is known of its tails.

        Args:
            chosen: the attributes of the margin.
            level: the chance that it does not.

        Raises:
            PlanError: where the level is not between 0 and 1.
        """
        noise = self._terms.mechanism.noise
        if self.one_noise(chosen):
            proof = self.mean_terms.proof
            if self.question.counted:
                return proof.ratio_quantile(level, 1)
            half, own = proof.half_widths(level), self._own_scales[0]
            return np.divide(half, own, out=np.zeros_like(half), where=own > 0)
        if self.question.counted:
            return ratio_quantile(self._terms.mechanism, level, chosen=tuple(chosen))
        return farthest(noise, 1 - checked_level(level))

    @cached_property
    def isotropic(self) -> Vector:
        """Standard deviations of i.i.d. Gaussian noise at the same budget, shape (m,)."""
        times = math.sqrt(len(self.spaces)) * self._terms.rows
        if not self.alone:  # one group less and one more, or within one
            inner, domain = self._inner, self.question.mean.domain
            own = sensitivity_set(domain, SUBSTITUTE, self.question.mean.center, inner.chosen)
            far = own.answer_length(inner.chosen.answers(None))
            times *= max(math.sqrt(2), far / inner.body.answer_length(inner.embed))
        return frozen(np.tile(self._inner.isotropic * times, self.question.groups.cells))

    @cached_property
    def laplace(self) -> Vector:
        """Standard deviations of Laplace noise with the budget split evenly, shape (m,)."""
        widths = self._inner.body.answer_widths(self._inner.embed) * self._terms.rows
        times, budget = 1 if self.alone else 2, self._terms.budget
        return laplace_scales(self.question, budget, times * widths)

    @property
    def left_out(self) -> str:
        """Those whose categories are not declared, and those that lack a value."""
        return group_left_out(self.question)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every release rests on, one sentence each."""
        size = self._terms.size
        changed = "takes any other values of its domain and any other group"
        own = self.neighbour("is added or removed" if size is None else changed)
        return group_assumptions(self.question, own, self._inner.assumptions, size)

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        deviations = [self.scales(chosen)[0].tolist() for chosen in self.spaces]
        return group_derived(self.question, self.own_names, deviations)
