# SPDX-License-Identifier: Apache-2.0
"""Streams under a pure budget: which sums of rounds have noise, and which noise, by error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.noise.independent import GeometricNoise, LaplaceNoise
from lownoise.noise.lattice import LatticeNoise, Shared, Stairs, SteppedNoise
from lownoise.noise.mechanism import covering, spared
from lownoise.noise.totals import AbstractTotals
from lownoise.numbers.arrays import frozen
from lownoise.planning.pure_noise import Setting, independent, k_norm, require_changes
from lownoise.planning.pure_steps import is_worth_lattice
from lownoise.planning.strategies import STRATEGIES
from lownoise.planning.stream_plan import StreamPlan
from lownoise.privacy import ApproxDP, PureDP
from lownoise.questions import Prefix
from lownoise.questions.streams import Running
from lownoise.release.guarantees import allowed
from lownoise.release.terms import Terms
from lownoise.samplers.steps import LEAST_EPSILON, MOST_EPSILON
from lownoise.sensitivity.patterns import fitting
from lownoise.solvers.streams import square_root
from lownoise.solvers.streams.trees import best_tree
from lownoise.streams import (
    ORDERS,
    PureStreamMechanism,
    TreeSums,
    round_totals,
    steps_of,
)
from lownoise.streams.pure import round_codes
from lownoise.streams.sums import MOST_DENSE, MOST_TOEPLITZ, ToeplitzSums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.stream_plan import StreamRequest
    from lownoise.questions import AbstractStreamWorkload, Mean
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.streams import AbstractSums, StreamEvidence

GEOMETRIC, STAIRCASE = "geometric", "staircase"
_LEAST_OF_STEP = 2.0**-20  # of ε: below it whole numbers are as good as real ones
_MOST_OF_STEP = 32.0  # of ε: beyond it noise is nearly always none, and more is not spent
_SAME = 1 + 1e-6
_ROUNDED = 1e-12  # of a first number of W
_MOST_ROUNDS = 1 << 20  # for which noise is drawn exactly in minutes


@final
@dataclass(frozen=True)
class PureStrategy:
    """One way to choose sums of rounds.

    Args:
        make: returns them, for a workload, an error, "mean" or "max", and the law of whole numbers
            or of staircases, where the noise is of one.
        description: what they are, in a few words.
    """

    make: Callable[..., AbstractSums]
    description: str


def _levels(rounds: int) -> int:
    return max((rounds - 1).bit_length(), 1)


def _even(workload: AbstractStreamWorkload, *, fitted: bool) -> TreeSums:
    """Return the binary tree with noise alike in all sums: the last level has two."""
    levels = _levels(workload.rounds)
    return TreeSums(workload, (2,) * (levels - 1), frozen(np.full(levels, float(levels))), fitted)


def _binary(
    workload: AbstractStreamWorkload, error: str, law: Shared | None = None
) -> AbstractSums:
    if not isinstance(workload, Prefix):
        raise PlanError('strategy="binary_tree" is for running sums, ln.Prefix; use "tree"')
    return _even(workload, fitted=False)


def _honaker(
    workload: AbstractStreamWorkload, error: str, law: Shared | None = None
) -> AbstractSums:
    return _even(workload, fitted=True)


def _input(workload: AbstractStreamWorkload, error: str, law: Shared | None = None) -> AbstractSums:
    return TreeSums(workload, (), frozen(np.ones(1)))


def _tree(workload: AbstractStreamWorkload, error: str, law: Shared | None = None) -> AbstractSums:
    """Return the best tree of running sums; of other answers the best of those for fewer rounds."""
    n = workload.rounds
    sizes = [n]
    while sizes[-1] > 1 and not isinstance(workload, Prefix):
        sizes.append(-(-sizes[-1] // 2))
    # a search for a law may end a little above what is best for Laplace noise
    laws = dict.fromkeys((law, None)) if isinstance(workload, Prefix) else (law,)
    every: dict[tuple[Shared | None, tuple[int, ...]], TreeSums] = {}
    for size, own in product(sizes, laws):
        arities, widths = best_tree(size, largest=error == "max", law=own)
        every[own, arities] = TreeSums(workload, arities, frozen(np.array(widths)))
    return min(every.values(), key=lambda own: squared_error(own, error, law))


def _square_root(
    workload: AbstractStreamWorkload, error: str, law: Shared | None = None
) -> AbstractSums:
    if law is not None:
        raise PlanError(
            'strategy="square_root" has sums of parts of rounds, which are not whole steps; '
            'use "tree"'
        )
    if not workload.toeplitz or abs(workload.first_column(1)[0] - 1) > _ROUNDED:
        raise PlanError(
            'strategy="square_root" needs answers that depend on t - s alone; use "tree"'
        )
    if workload.rounds > MOST_TOEPLITZ:
        raise PlanError(
            f'strategy="square_root" with pure noise goes to {MOST_TOEPLITZ:,} rounds; use "tree"'
        )
    root = square_root(workload.first_column())
    return ToeplitzSums(workload, frozen(np.rint(root * 2.0**20) * 2.0**-20))


PURE_STRATEGIES: dict[str, PureStrategy] = {
    "input": PureStrategy(_input, "noise in every value"),
    "binary_tree": PureStrategy(_binary, "noise in sums of 1, 2, 4, … rounds"),
    "honaker": PureStrategy(_honaker, "least squares on all sums of the binary tree"),
    "square_root": PureStrategy(_square_root, "both factors the square root of W"),
    "tree": PureStrategy(_tree, "least squares on a tree with the best arities and shares of ε"),
}


def squared_error(sums: AbstractSums, error: str, law: Shared | None = None) -> float:
    """Return the error of sums where one round's change costs 1 in noise of variance 1.

    Args:
        sums: of rounds.
        error: "mean" or "max".
        law: of whole numbers or staircases; then the error of those, for its ε.
    """
    if law is not None:
        assert isinstance(sums, TreeSums)  # noqa: S101 (others have none)
        sums = sums.with_deviations(law.deviations(sums.widths))
    own = sums.mean_variance if error == "mean" else sums.largest_variance
    if law is not None:
        return own
    return own * math.fsum(sums.charged(lambda width: 1 / width, lambda _: 0.0)) ** 2


def pure_streams(
    request: StreamRequest,
    question: Mean,
    chosen: Coordinates,
    body: AbstractBody,
    evidence: StreamEvidence,
) -> dict[str, Callable[[], StreamPlan]]:
    """Return what makes a plan of a stream with each pure noise; nothing has started.

    Args:
        request: what is asked for.
        question: the columns of one round.
        chosen: which coordinates are summed.
        body: the changes of one round's value.
        evidence: what no noise is much below.

    Raises:
        PlanError: where an argument does not fit.
    """
    name, reason, sums = _chosen(request)
    builders: dict[str, Callable[[Setting], AdditiveMechanism]] = {
        "laplace": independent,
        "k_norm": k_norm if np.count_nonzero(body.widths()) > 1 else _same,
    }
    budget = request.budget
    assert isinstance(budget, (PureDP, ApproxDP))  # noqa: S101 (`planning.streaming` asks)
    epsilon = allowed(budget)
    # a sum's noise is about as wide as ε is to a change; a coordinate that never moves has none
    near = body.widths() / epsilon
    extent = np.maximum(
        np.abs(question.domain.upper - question.center),
        np.abs(question.domain.lower - question.center),
    )[chosen.pivots]
    require_changes(near, extent)
    step = steps_of(request.workload, extent, near, near, sums)
    totals = round_totals(question, request.relation, chosen, frozen(step), None)
    setting = Setting(
        totals=_Round(totals),
        weighted=step if chosen.embed is None else chosen.embed * step,
        epsilon=epsilon,
        delta=0.0,
    )

    def made(noise: str, mechanism: PureStreamMechanism, spent: float) -> StreamPlan:
        terms = Terms(
            question=Running(request.workload, question),
            budget=budget,
            order=ORDERS[request.error],
            mechanism=_covering(mechanism, spent),
            evidence=evidence,
            name=noise,
        )
        return StreamPlan(terms, request)

    def planned(noise: str) -> StreamPlan:
        mechanism = PureStreamMechanism(
            totals=totals,
            pair=sums,
            noise=builders[noise](setting).noise,
            strategy=name,
            reason=reason,
            participation=request.participation,
        )
        return made(noise, mechanism, epsilon)

    def stepped() -> StreamPlan:
        return made(GEOMETRIC, *_on_lattice(request, question, totals, extent, epsilon))

    def stairs() -> StreamPlan:
        return made(STAIRCASE, *_in_steps(request, question, totals, extent, epsilon))

    found: dict[str, Callable[[], StreamPlan]] = {
        noise: partial(planned, noise) for noise in builders
    }
    most = _step_rate(totals, epsilon)
    if request.mechanism == GEOMETRIC or (most is not None and is_worth_lattice(most)):
        found[GEOMETRIC] = stepped
    if request.mechanism == STAIRCASE:
        found[STAIRCASE] = stairs
    return found


def _step_rate(totals: MeanTotals, epsilon: float) -> float | None:
    """Return the most of ε that a change by one of the steps of values costs; None without any."""
    if totals.spelled is None:
        return None
    most = LaplaceNoise(frozen(totals.spelled / totals.query.coding.step)).loss(round_codes(totals))
    return epsilon / most.epsilon if 0 < most.epsilon < math.inf else None


def _on_lattice(
    request: StreamRequest, question: Mean, near: MeanTotals, extent: Vector, epsilon: float
) -> tuple[PureStreamMechanism, float]:
    """Return the mechanism with noise in the steps of listed values, and how much of ε it spends.

    Args:
        request: what is asked for.
        question: the columns of one round.
        near: the integers of one round on some grid.
        extent: how far a value is from 0, or from the center.
        epsilon: what may be spent.

    Raises:
        PlanError: where values are no list on a lattice, or one of them never moves.
    """
    rate = _step_rate(near, epsilon)
    lattice, times = near.spelled, fitting(request.participation, request.workload.rounds)
    if rate is None or lattice is None:
        raise PlanError(
            "values have no known common step; list them in a unit in which they have one, such as "
            "domain=ln.Points([[0], [1]])"
        )
    if rate < _LEAST_OF_STEP:
        raise PlanError(
            "values are too close together for what one person changes; leave the mechanism out"
        )
    most = min(rate / times, _MOST_OF_STEP)
    law = Shared(most)
    name, reason, sums = _chosen(request, law)
    assert isinstance(sums, TreeSums)  # noqa: S101 (others have no whole numbers)
    base = 1 / most / float(np.sum(1 / sums.widths))
    alone = LatticeNoise(
        GeometricNoise(frozen(np.full(extent.size, base))), np.ones(extent.size, dtype=np.int64)
    )
    wide = lattice * np.sqrt(alone.covariance())
    fitted = sums.with_deviations(alone.growth(sums.widths))
    step = steps_of(request.workload, extent, wide, wide, fitted)
    totals = round_totals(question, request.relation, near.coordinates, frozen(step), None)
    if np.any(np.asarray(totals.apart) * step != lattice) and np.all(lattice >= step):
        # no power of two is a part of what values are apart by: the grid is of parts of that
        step = lattice * np.exp2(-np.floor(np.log2(lattice / step)))
        totals = round_totals(question, request.relation, near.coordinates, frozen(step), None)
    spacing = totals.apart
    assert spacing is not None  # noqa: S101 (values are a list)
    mechanism = PureStreamMechanism(
        totals=totals,
        pair=fitted,
        noise=replace(alone, spacing=spacing),
        strategy=name,
        reason=reason,
        participation=request.participation,
    )
    return mechanism, epsilon if most * times >= rate else epsilon * (most * times / rate)


def _in_steps(
    request: StreamRequest, question: Mean, near: MeanTotals, extent: Vector, epsilon: float
) -> tuple[PureStreamMechanism, float]:
    """Return the mechanism with staircases as wide as the longest change; else as `_on_lattice`.

    Raises:
        PlanError: where a value has several numbers, or ε is too small for a staircase.
    """
    if extent.size != 1:
        raise PlanError("a value has several numbers; leave the mechanism out")
    times = fitting(request.participation, request.workload.rounds)
    most = min(epsilon / times, MOST_EPSILON)
    if most < LEAST_EPSILON:
        raise PlanError(f"{epsilon / times:.4g} of ε is too little for steps; use laplace")
    name, reason, sums = _chosen(request, Shared(most, Stairs))
    assert isinstance(sums, TreeSums)  # noqa: S101 (others have no staircases)
    alone = SteppedNoise.hiding(round_codes(near), most)
    wide = near.query.coding.step * np.sqrt(alone.covariance())
    fitted = sums.with_deviations(alone.growth(sums.widths))
    step = steps_of(request.workload, extent, wide, wide, fitted)
    totals = round_totals(question, request.relation, near.coordinates, frozen(step), None)
    mechanism = PureStreamMechanism(
        totals=totals,
        pair=fitted,
        noise=SteppedNoise.hiding(round_codes(totals), most),
        strategy=name,
        reason=reason,
        participation=request.participation,
    )
    return mechanism, min(epsilon, most * times)


def _same(setting: Setting) -> AdditiveMechanism:
    raise PlanError("for one number it is Laplace noise")


def _covering(mechanism: PureStreamMechanism, epsilon: float) -> PureStreamMechanism:
    allowed = epsilon * spared(mechanism.noise)
    return covering(mechanism.scaled, lambda own: own.loss.epsilon, allowed)


def _chosen(request: StreamRequest, law: Shared | None = None) -> tuple[str, str, AbstractSums]:
    """Return the strategy's name, why it was chosen, and its sums: where given, for a law."""
    workload, asked = request.workload, request.strategy
    if request.memory is not None:
        raise PlanError(f"memory={quoted(request.memory)} is for Gaussian noise; leave it out")
    if not isinstance(asked, str) or asked not in ("auto", *PURE_STRATEGIES):
        gaussian = isinstance(asked, str) and asked in STRATEGIES
        why = "is for Gaussian noise" if gaussian else "is unknown"
        raise PlanError(
            f"strategy={quoted(asked)} {why}; under a pure budget give auto, "
            f"{', '.join(PURE_STRATEGIES)}"
        )
    most = _MOST_ROUNDS if isinstance(workload, Prefix) else MOST_DENSE
    if workload.rounds > most:
        raise PlanError(
            f"stream of {workload.rounds:,} rounds is too long for a pure budget, which goes to "
            f"{_MOST_ROUNDS:,} rounds of ln.Prefix and {MOST_DENSE:,} of others; give ln.zcdp, or "
            "fewer rounds"
        )
    if asked != "auto":
        return asked, "it was asked for", PURE_STRATEGIES[asked].make(workload, request.error, law)
    found: dict[str, tuple[float, AbstractSums]] = {}
    for name, own in PURE_STRATEGIES.items():
        try:
            sums = own.make(workload, request.error, law)
        except PlanError:
            continue
        found[name] = math.sqrt(squared_error(sums, request.error, law)), sums
    # of equals the simplest
    ranked = sorted(found, key=lambda name: float(f"{found[name][0]:.9e}"))
    least = found[ranked[0]][0]
    more = {name: found[name][0] / least for name in ranked if found[name][0] > least * _SAME}
    others = ", ".join(f"{name} {times:.3g}" for name, times in more.items())
    reason = f"no other has less {request.error} error" + (f": {others} times it" if others else "")
    return ranked[0], reason, found[ranked[0]][1]


@final
@dataclass(frozen=True, eq=False)
class _Round(AbstractTotals):
    """The integers of one round's value: what noise is fitted to, and never read."""

    totals: MeanTotals

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", self.totals.relation)
        object.__setattr__(self, "size", self.totals.size)

    @property
    def length(self) -> int:
        """How many integers there are, without a count."""
        return self.totals.coordinates.pivots.size

    @cached_property
    def changes(self) -> AbstractBody:
        """Their changes."""
        return round_codes(self.totals)

    @property
    def unit(self) -> Vector:
        """The grid."""
        return self.totals.query.coding.step

    @property
    def reading(self) -> None:
        """No table is read: values come round by round."""

    def exact(self, records: object) -> list[int]:
        """Refuse: values come round by round.

        Raises:
            PlanError: always.
        """
        raise PlanError("a stream's values come round by round; use Stream.update")

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return what the integers are worth."""
        return np.asarray(integers) * self.unit
