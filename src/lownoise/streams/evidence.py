# SPDX-License-Identifier: Apache-2.0
"""What proves that no noise of a stream is much smaller: weights on columns, or on patterns.

A person who adds to the rounds of a pattern π may move W·x by Σ_{i∈π} W_i·ε_i ⊗ s for every change
s of one round: with ε of zeros and ones, the same change in some of the rounds; with signs too
where the opposite of a change is one. Noise must cover all of these, so weights on any of them
prove what no noise is below (ours). Patterns are checked before they prove anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds.unbiased import block_worth_down
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.sensitivity.participation import ONE
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.domains import Box

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions.streams import AbstractStreamWorkload
    from lownoise.sensitivity.participation import Participation
    from lownoise.sensitivity.relations import CheckedRelation
    from lownoise.sets.domains import AbstractDomain

_TINY = 2.0**-50


@final
@dataclass(frozen=True, eq=False)
class StreamEvidence:
    """Evidence that the noise of a stream is near the least.

    Args:
        changes: on the changes of one round's value: no noise of one value is much smaller.
        rounds: on the columns of W's first `block` rounds, or on sums of them by `patterns`; None
            where there is none.
        block: of how many rounds the evidence speaks.
        patterns: shape (N, k): rounds from 1, rising, those whose change is the opposite below 0,
            and zeros after them; None where `rounds` is on single columns.
    """

    changes: AbstractDual
    rounds: AbstractDual | None
    block: int
    patterns: Integers | None = None

    def check(self, participation: Participation, *, signed: bool) -> None:
        """Refuse patterns that one person does not add to.

        Args:
            participation: which rounds are one person's.
            signed: whether the opposite of a change of a round is one.

        Raises:
            PlanError: as said; evidence of them would prove nothing.
        """
        if self.patterns is None:
            return
        k, b = participation.count, participation.separation
        fits = self.rounds is not None and participation != ONE
        fits = fits and self.patterns.ndim == 2 and self.patterns.shape[1] == k  # noqa: PLR2004
        # before |·|, which the least of all integers does not have
        fits = fits and bool(np.all(self.patterns >= -self.block))
        if fits:
            rounds = np.abs(self.patterns)
            used = rounds > 0
            gaps, both = np.diff(rounds, axis=1), used[:, 1:]
            fits = bool(np.all(used[:, 0]) and np.all(used[:, :-1] | ~both))
            fits = fits and bool(np.all(rounds <= self.block) and np.all(gaps[both] >= b))
            if participation.pattern == "spaced":
                far = np.max(rounds, axis=1) - rounds[:, 0] < k * b
                fits = fits and bool(np.all(gaps[both] % b == 0) and np.all(far))
            fits = fits and (signed or bool(np.all(self.patterns >= 0)))
        if not fits:
            raise PlanError(
                "evidence.patterns has rounds, or signs, that are not one person's; plan again"
            )

    def factor_norm(
        self,
        workload: AbstractStreamWorkload,
        participation: Participation,
        order: float,
        *,
        signed: bool,
    ) -> float:
        """Return at most the least error of any factorization of W, for a change of 1 and μ = 1.

        Args:
            workload: W.
            participation: which rounds are one person's.
            order: 2 for the mean error, ∞ for the largest.
            signed: whether the opposite of a change of a round is one.

        Raises:
            PlanError: where the evidence does not fit.
        """
        n, m = workload.rounds, self.block
        self.check(participation, signed=signed)
        found = 0.0
        if self.rounds is not None:
            points, off = self._points(workload.leading(m))
            gamma = self.rounds.least(points, order, np.ones(m))
            # points are sums that were rounded; a nuclear norm moves by √rank·length at most
            length = float(np.max(off) if math.isinf(order) else np.linalg.norm(off))
            gamma = max(gamma - math.sqrt(m) * length * (1 + growth(m + 9)), 0.0)
            found = gamma if math.isinf(order) else gamma * math.sqrt(block_worth_down(m, n))
        return max(found, _closed_down(workload, participation, signed=signed)) * (1 - _TINY)

    def _points(self, leading: Vector) -> tuple[SymmetricPoints, Vector]:
        """Return what patterns move, and how far rounding is off in any of them, shape (m,)."""
        if self.patterns is None:
            return SymmetricPoints(leading.T.copy()), np.zeros(len(leading))
        found = np.zeros((len(self.patterns), len(leading)))
        size = np.zeros_like(found)
        for j in range(self.patterns.shape[1]):
            own = self.patterns[:, j]
            column = leading.T[np.abs(own) - 1] * np.sign(own)[:, None]
            found += column
            size += np.abs(column)
        whole = bool(np.all(leading == np.rint(leading)) and np.max(size) < 2.0**53)
        off = 0.0 if whole else growth(2 * self.patterns.shape[1] + 2)
        return SymmetricPoints(frozen(found)), off * np.max(size, axis=0)


def _closed_down(
    workload: AbstractStreamWorkload, participation: Participation, *, signed: bool
) -> float:
    """Return at most √k·‖W′‖_*/√(m·n) for the first m rounds, which patterns of k tile.

    Patterns a whole number of times over m rounds, each as likely, have each round with the chance
    k/m; with independent signs the moment of what they move is (k/m)·W′W′ᵀ, and its root has the
    trace √(k/m)·‖W′‖_*. Zeros and ones at random have the moment (I + J)/4 on a pattern, at least a
    quarter. No row beyond the first m is counted (ours; ‖W‖_*: 003, Lemma 1).
    """
    n = workload.rounds
    found = workload.trace_norm_down
    k = min(participation.count, -(-n // participation.separation))
    for members in {k, max(k - 1, 1)}:
        gaps = {participation.separation}
        if participation.pattern != "spaced":
            gaps.add(max(n // members, participation.separation))
        for gap in gaps:
            m = n // (members * gap) * (members * gap)
            if m:
                whole = workload.nuclear_norm_down(m)
                chance = members * (1.0 if signed else 0.25)
                found = max(found, math.sqrt(chance / m / n) * whole * (1 - _TINY))
    return found


def unlike_signs(domain: AbstractDomain, relation: CheckedRelation) -> bool:
    """Return whether the opposite of every change of a round's value is surely a change, too.

    Args:
        domain: the values of a round.
        relation: what a neighbour is.

    Examples:
        >>> from lownoise.sensitivity.relations import ADD_REMOVE, SUBSTITUTE
        >>> [unlike_signs(Box([low], [1]), ADD_REMOVE) for low in (0, -1)]
        [False, True]
        >>> unlike_signs(Box([0], [1]), SUBSTITUTE)
        True
    """
    if not relation.counted:
        return True
    if isinstance(domain, Box):
        return bool(np.all(domain.lower == -domain.upper))
    image = domain.as_image()
    return image is not None and not np.any(image.center)
