# SPDX-License-Identifier: Apache-2.0
"""Released marginals as centred tables, and the norms in which others are near them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.nearest.tables import Tables, centred, maximal
from lownoise.release.marginal_answers import MarginalAnswers

if TYPE_CHECKING:
    from lownoise.nearest.tables import Key, Stack
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Marginals
    from lownoise.release.release import Release
    from lownoise.release.terms import Terms

_MOST_CELLS = 5 * 10**6
_MOST_PARTS = 4 * 10**6  # sets inside the marginals, each as often as it is inside one


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
