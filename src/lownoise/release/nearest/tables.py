# SPDX-License-Identifier: Apache-2.0
"""Marginals that agree, as centred tables: how these make cells, and how cells pull at them.

The centred table R_A of a set A of attributes is its marginal less all that smaller marginals say:
it sums to 0 along every axis, and T_B = Σ_{A⊆B} R_A / Π_{j∈B∖A} nⱼ for every marginal B. Any such
tables make marginals that agree on what they share, and the R_A are orthogonal to each other.
Sets whose attributes have the same sizes stand in one array.

Released marginals become such tables, and norms say which others are near them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.release.marginal_answers import MarginalAnswers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Marginals
    from lownoise.release.release import Release
    from lownoise.release.terms import Terms

Key = tuple[int, ...]
Stack = dict[Key, "Vector"]  # arrays of shape (k, n, …) by the sizes n, …
_MOST_CELLS = 5 * 10**6
_MOST_PARTS = 4 * 10**6  # sets inside the marginals, each as often as it is inside one


@final
class Tables:
    """Marginals of some sets of attributes, by the centred tables of all sets within these.

    Args:
        sizes: n of each attribute.
        sets: rising indices of attributes; none of them inside another.
    """

    def __init__(self, sizes: Sequence[int], sets: Iterable[Key]) -> None:
        self.sizes = tuple(sizes)
        self.outer = _grouped(self.sizes, sets)
        inside = {
            tuple(chosen[j] for j in pattern)
            for group in self.outer.values()
            for chosen in group
            for pattern in _patterns(len(chosen))
        }
        self.inner = _grouped(self.sizes, sorted(inside, key=lambda a: (len(a), a)))
        self._place = {a: i for group in self.inner.values() for i, a in enumerate(group)}
        self._parts: list[tuple[Key, Key, Key, Integers]] = []
        for key, group in self.outer.items():
            for pattern in _patterns(len(key)):
                within = tuple(key[j] for j in pattern)
                at = np.array([self._place[tuple(chosen[j] for j in pattern)] for chosen in group])
                self._parts.append((key, pattern, within, at))

    @property
    def numbers(self) -> int:
        """How many numbers the centred tables have."""
        return sum(len(group) * math.prod(key) for key, group in self.inner.items())

    def cells(self, tables: Stack) -> Stack:
        """Return the marginals that centred tables make."""
        found = {
            key: np.zeros((len(group), *key), dtype=np.float64) for key, group in self.outer.items()
        }
        for key, pattern, within, at in self._parts:
            rest = [j for j in range(len(key)) if j not in pattern]
            share = tables[within][at] / math.prod(key[j] for j in rest)
            found[key] += np.expand_dims(share, tuple(1 + j for j in rest))
        return found

    def marginal(self, tables: Stack, chosen: Key) -> Vector:
        """Return one marginal, of a set inside one of the sets; shape (n, …)."""
        found = np.zeros([self.sizes[i] for i in chosen])
        for pattern in _patterns(len(chosen)):
            key = tuple(self.sizes[chosen[j]] for j in pattern)
            place = self._place[tuple(chosen[j] for j in pattern)]
            rest = [j for j in range(len(chosen)) if j not in pattern]
            share = tables[key][place] / math.prod(self.sizes[chosen[j]] for j in rest)
            found += np.expand_dims(share, tuple(rest))
        return found

    def pulls(self, cells: Stack) -> Stack:
        """Return the adjoint of `cells`: what one number a cell says to the centred tables."""
        found = {
            key: np.zeros((len(group), *key), dtype=np.float64) for key, group in self.inner.items()
        }
        for key, pattern, within, at in self._parts:
            rest = tuple(1 + j for j in range(len(key)) if j not in pattern)
            share = np.sum(cells[key], axis=rest) / math.prod(key[j - 1] for j in rest)
            size = math.prod(within)
            places = (at[:, None] * size + np.arange(size)).ravel()
            flat = np.bincount(places, share.ravel(), minlength=len(self.inner[within]) * size)
            found[within] += flat.reshape(found[within].shape)
        return {key: centred(own) for key, own in found.items()}

    def weighed(self, weights: dict[Key, Vector], tables: Stack) -> Stack:
        """Return every table times its weight."""
        return {key: own * weights[key].reshape(-1, *[1] * len(key)) for key, own in tables.items()}

    def even(self, total: float) -> Stack:
        """Return the centred tables of `total` rows that are spread evenly: but one all are 0."""
        found = {key: np.zeros((len(group), *key)) for key, group in self.inner.items()}
        found[()] = np.full(1, total)
        return found

    def variances(self, weights: dict[Key, Vector]) -> dict[Key, Vector]:
        """Return a cell's variance in each marginal, where R_A has weights[A] on its flat."""
        found = {key: np.zeros(len(group)) for key, group in self.outer.items()}
        for key, pattern, within, at in self._parts:
            own = math.prod(1 - 1 / n for n in within)
            rest = math.prod(key[j] ** -2.0 for j in range(len(key)) if j not in pattern)
            found[key] += weights[within][at] * (own * rest)
        return found


def centred(tables: Vector) -> Vector:
    """Return tables, shape (k, n, …), less their means along each axis but the first."""
    for axis in range(1, tables.ndim):
        tables = tables - np.mean(tables, axis=axis, keepdims=True)
    return tables


def maximal(sets: Iterable[Key]) -> list[Key]:
    """Return the sets that are inside no other: cells of the others are sums of theirs.

    Examples:
        >>> maximal([(), (0,), (1,), (0, 2)])
        [(1,), (0, 2)]
    """
    given = sorted(set(sets), key=len, reverse=True)
    longest = len(given[0]) if given else 0
    found = [chosen for chosen in given if len(chosen) == longest]
    covered = {
        tuple(chosen[j] for j in pattern) for chosen in found for pattern in _patterns(longest)
    }
    for chosen in given[len(found) :]:
        if chosen not in covered:
            found.append(chosen)
            covered |= {tuple(chosen[j] for j in p) for p in _patterns(len(chosen))}
    return sorted(found, key=lambda a: (len(a), a))


def _patterns(count: int) -> list[Key]:
    return [p for k in range(count + 1) for p in itertools.combinations(range(count), k)]


def _grouped(sizes: Sequence[int], sets: Iterable[Key]) -> dict[Key, list[Key]]:
    found: dict[Key, list[Key]] = {}
    for chosen in sets:
        found.setdefault(tuple(sizes[i] for i in chosen), []).append(chosen)
    return found


@final
@dataclass(frozen=True, eq=False)
class Metric:
    """½Σ‖R_A − R⁰_A‖²/s_A, R_A the centred table of the attributes A.

    Args:
        tables: the sets A, and how their tables make marginals.
        weights: s_A, 0 where a table is fixed, as a public total.
    """

    tables: Tables
    weights: dict[Key, Vector]


def metric_of(terms: Terms, norm: str) -> Metric:
    """Return the norm of the noise, s_A its variance, or that in which the error is measured.

    The Euclidean one is Σ_B ω_B‖T_B − T⁰_B‖² over the marginals that were asked for, ω_B their
    weights: T_B holds R_A / Π nⱼ that many times, so 1/s_A = Σ_{B⊇A} ω_B / Π_{j∈B∖A} nⱼ.

    Raises:
        PlanError: where there are too many marginals or cells, or the noise on an ordered attribute
            is not the same on all of its cells.
    """
    question: Marginals = terms.question
    sets = list(question.sets())
    cells = question.cells
    parts = sum(1 << len(chosen) for chosen in sets)
    if cells > _MOST_CELLS or parts > _MOST_PARTS:
        raise PlanError(
            f"projected has {len(sets):,} marginals of {cells:,} cells; it is for at most "
            f"{_MOST_CELLS:,} cells and {_MOST_PARTS:,} sets inside the marginals",
        )
    if norm == "noise" and question.ordered:
        raise PlanError(
            'norm="noise" is for marginals without ordered attributes; give norm="euclidean"'
        )
    tables = Tables([a.size for a in question.attributes], maximal(sets))
    weights = _of_noise(terms, tables) if norm == "noise" else _of_cells(question, sets, tables)
    if terms.size is not None:
        weights[()] = np.zeros(1)
    return Metric(tables, weights)


def _of_noise(terms: Terms, tables: Tables) -> dict[Key, Vector]:
    noise: Any = terms.mechanism.noise
    orbits = noise.layout.orbits
    none: tuple[list[int], list[Vector]] = ([], [])
    variances: dict[Any, float] = {}
    found = {}
    for key, group in tables.inner.items():
        own = np.zeros(len(group))
        for i, chosen in enumerate(group):
            kind = orbits.orbit(chosen)
            if kind not in variances:
                variances[kind] = float(noise.between(chosen, none, none)[0])
            own[i] = variances[kind]
        found[key] = own
    return found


def _of_cells(question: Marginals, sets: list[Key], tables: Tables) -> dict[Key, Vector]:
    sizes = tables.sizes
    place = {a: (key, i) for key, group in tables.inner.items() for i, a in enumerate(group)}
    total = {key: np.zeros(len(group)) for key, group in tables.inner.items()}
    for k, chosen in enumerate(sets):
        weight = float(question.weights[k if question.way is None else len(chosen)])
        for count in range(len(chosen) + 1):
            for inside in itertools.combinations(chosen, count):
                rest = math.prod(sizes[j] for j in chosen if j not in inside)
                key, i = place[inside]
                total[key][i] += weight / rest
    return {key: 1 / own for key, own in total.items()}


def given_tables(release: Release, tables: Tables) -> Stack:
    """Return the centred tables of what was released."""
    answers = MarginalAnswers(release.terms, np.asanyarray(release.integers))
    ordered = {i for i, a in enumerate(release.terms.question.attributes) if a.ordered}
    found = {}
    for key, group in tables.inner.items():
        own = np.empty((len(group), *key))
        alike: dict[tuple[int, ...], list[int]] = {}
        for place, chosen in enumerate(group):
            alike.setdefault(tuple(i if i in ordered else -1 for i in chosen), []).append(place)
        for places in alike.values():
            own[places] = answers.stacked([group[p] for p in places])
        found[key] = centred(own)
    return found
