# SPDX-License-Identifier: Apache-2.0
"""The nearest tables that agree and have no cell below 0, with a proved distance to the nearest.

Let f(R) = ½Σ‖R_A − R⁰_A‖²/s_A, T the map to cells, T* its adjoint. For every λ ≥ 0

    min f(R) over TR ≥ 0  ≥  min over R of f(R) − ⟨λ, TR⟩ = f(R_λ) − ⟨λ, TR_λ⟩,  R_λ = R⁰ + s·T*λ,

and f is 1-strongly convex in its own norm: tables R without a cell below 0 are off the nearest by
at most √(2(f(R) − that bound)). The bound is raised by accelerated steps, restarted where they
turn; tables are made of R_λ by mixing even cells into it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.release.nearest.tables import Stack, Tables

_POWER_STEPS = 20
_LOOKED = 10  # steps between two looks at the gap
_ABOVE = 1 + 2.0**-40  # of what is mixed in, so that no cell is below 0 by a rounding


@final
@dataclass(frozen=True, eq=False)
class NearestTables:
    """Tables without a cell below 0, and how far they can be from the nearest ones.

    Args:
        tables: the centred tables.
        distance: ‖R − R⁰‖ in the norm of the weights.
        gap: at least ‖R − nearest‖.
        iterations: steps of the search.
        converged: whether the gap is what was asked for.
    """

    tables: Stack
    distance: float
    gap: float
    iterations: int
    converged: bool


def nearest_tables(
    space: Tables,
    given: Stack,
    weights: Stack,
    *,
    rtol: float,
    most: int,
) -> NearestTables:
    """Return the nearest agreeing tables whose cells are at least 0.

    Args:
        space: how tables make cells.
        given: R⁰.
        weights: s of each table, the variance of what was added to it; 0 where it may not change,
            as the total where it is public.
        rtol: the gap to stop at, in parts of the distance.
        most: steps.
    """
    search = _Search(space, given, weights)
    best, bound, found = math.inf, 0.0, given
    for count in range(most + 1):
        if count % _LOOKED == 0 or count == most:
            tables, value, below = search.looked()
            bound = max(bound, below)
            if value < best:
                best, found = value, tables
            gap = math.sqrt(max(2 * (best - bound), 0.0))
            distance = math.sqrt(2 * best)
            if gap <= rtol * distance:
                break
        search.step()
    return NearestTables(found, distance, gap, count, gap <= rtol * distance)


class _Search:
    """Multipliers of the cells, raised by accelerated projected steps."""

    def __init__(self, space: Tables, given: Stack, weights: Stack) -> None:
        self.space, self.given, self.weights = space, given, weights
        variances = space.variances(weights)
        self.scale = {
            key: (1 / np.where(v > 0, v, np.inf)).reshape(-1, *[1] * len(key))
            for key, v in variances.items()
        }
        cells = space.cells(given)
        self.multipliers = {key: np.zeros_like(own) for key, own in cells.items()}
        self.ahead, self.momentum = self.multipliers, 1.0
        self.steepness = self._steepness(cells)

    def tables(self, multipliers: Stack) -> Stack:
        moved = self.space.weighed(self.weights, self.space.pulls(multipliers))
        return {key: own + moved[key] for key, own in self.given.items()}

    def step(self) -> None:
        cells = self.space.cells(self.tables(self.ahead))
        size = 1 / self.steepness
        new = {
            key: np.maximum(own - size * self.scale[key] * cells[key], 0.0)
            for key, own in self.ahead.items()
        }
        turned = sum(
            float(np.vdot((self.ahead[key] - own) / self.scale[key], own - self.multipliers[key]))
            for key, own in new.items()
            if np.all(self.scale[key] > 0)
        )
        following = 1.0 if turned > 0 else (1 + math.sqrt(1 + 4 * self.momentum**2)) / 2
        part = 0.0 if turned > 0 else (self.momentum - 1) / following
        self.ahead = {key: own + part * (own - self.multipliers[key]) for key, own in new.items()}
        self.multipliers, self.momentum = new, following

    def looked(self) -> tuple[Stack, float, float]:
        """Return tables without a cell below 0, what they cost, and a bound below every cost."""
        tables = self.tables(self.multipliers)
        cells = self.space.cells(tables)
        inner = sum(float(np.vdot(own, cells[key])) for key, own in self.multipliers.items())
        bound = self.cost(tables) - inner
        raised = self._raised(tables, cells)
        return raised, self.cost(raised), bound

    def _raised(self, tables: Stack, cells: Stack) -> Stack:
        """Mix even cells into tables, as many as the lowest cell needs."""
        total = float(tables[()][0]) if () in tables else 0.0
        if not self.weights[()][0] > 0:
            part = max(
                float(np.max(-own / (total / math.prod(key) - own), initial=0.0, where=own < 0))
                for key, own in cells.items()
            )
            part = min(part * _ABOVE, 1.0)
            even = self.space.even(total)
            return {key: (1 - part) * own + part * even[key] for key, own in tables.items()}
        lacks = max(math.prod(key) * float(np.max(-own, initial=0.0)) for key, own in cells.items())
        even = self.space.even(lacks * _ABOVE)
        return {key: own + even[key] for key, own in tables.items()}

    def cost(self, tables: Stack) -> float:
        """Return ½Σ‖R_A − R⁰_A‖²/s_A."""
        total = 0.0
        for key, own in tables.items():
            square = np.square(own - self.given[key]).reshape(len(own), -1).sum(axis=1)
            s = self.weights[key]
            total += float(np.sum(square[s > 0] / s[s > 0]))
        return total / 2

    def _steepness(self, cells: Stack) -> float:
        """Return about the greatest eigenvalue of the scaled pull of cells on cells."""
        rng = np.random.default_rng(0)  # a start only
        v = {key: rng.standard_normal(own.shape) for key, own in cells.items()}
        found = 1.0
        for _ in range(_POWER_STEPS):
            size = math.sqrt(sum(float(np.vdot(own, own)) for own in v.values()))
            v = {key: own * np.sqrt(self.scale[key]) / size for key, own in v.items()}
            pulled = self.space.weighed(self.weights, self.space.pulls(v))
            v = {
                key: own * np.sqrt(self.scale[key]) for key, own in self.space.cells(pulled).items()
            }
            found = math.sqrt(sum(float(np.vdot(own, own)) for own in v.values()))
            if not found:
                return 1.0
        return 1.1 * found
