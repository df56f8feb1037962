# SPDX-License-Identifier: Apache-2.0
"""Marginals that agree, as centred tables: how these make cells, and how cells pull at them.

The centred table R_A of a set A of attributes is its marginal less all that smaller marginals say:
it sums to 0 along every axis, and T_B = Σ_{A⊆B} R_A / Π_{j∈B∖A} nⱼ for every marginal B. Any such
tables make marginals that agree on what they share, and the R_A are orthogonal to each other.
Sets whose attributes have the same sizes stand in one array.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lownoise.numbers.arrays import Integers, Vector

Key = tuple[int, ...]
Stack = dict[Key, "Vector"]  # arrays of shape (k, n, …) by the sizes n, …


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
