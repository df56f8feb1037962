# SPDX-License-Identifier: Apache-2.0
"""Which cases of a test `make test` runs, and which it leaves to `make sweep`.

A test marked `grid` is a law on a grid: its cases are members of families in settings. Of such a
law `make test` runs the cases that are first to show something new, and `make sweep` the others:

* of an argument with at most twelve values (a relation, an order, an engine) each value is met, in
  some setting; of one with more, each family of values: what a value says is its `family`, or else
  its class. `grid(3)` says so of up to three values, and `grid(0)` asks for neither;
* at least one case stays, or as many as the mark asks for, evenly over the grid: `grid(least=8)`.

The laws of a module begin at different places of their grids, so that a list of members that they
share is gone through by all of them together. A test marked `sweep(sibling)` is left to the sweep
as a whole: it is an expensive check of what its sibling in the module is a cheaper check of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

COLLECTED = pytest.StashKey[list[pytest.Item]]()  # of a run, with what `-m` then leaves out


def first_tier(
    cases: Sequence[dict[str, Any]], each: int = 12, least: int = 1, *, place: int = 0
) -> list[int]:
    """Return which cases of a grid stay in the first tier, by their numbers, in order.

    Args:
        cases: each case's value of every argument.
        each: of an argument with at most so many values each is met, else each family; 0 for none.
        least: how many cases stay at least, if there are as many.
        place: at which case to begin.
    """
    n = len(cases)
    values = {name: {_key(case[name]) for case in cases} for name in cases[0]}
    few = {name for name, own in values.items() if len(own) <= each}
    spread = [(place + i * n // least) % n for i in range(least)]
    met: set[Any] = set()
    kept = set(spread)
    for at in (*spread, *((place + i) % n for i in range(n if each else 0))):
        shown = {(name, _key(v) if name in few else _family(v)) for name, v in cases[at].items()}
        if shown - met:
            kept.add(at)
            met |= shown
    return sorted(kept)


def _family(value):
    return getattr(value, "family", type(value))


def _key(value):
    """Return what equal values have in common; other objects may have any `==`."""
    return (type(value), value if isinstance(value, (str, int, float)) else id(value))


def swept(items) -> list[Any]:
    """Return the items that are further cases of grids.

    Args:
        items: pytest's items; of a grid all cases, or those that are here are taken for all.
    """
    grids: dict[Any, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("grid"):
            grids.setdefault((item.path, item.originalname), []).append(item)
    further = []
    for (_, name), cases in grids.items():
        mark = cases[0].get_closest_marker("grid")
        laws = [own for own in vars(cases[0].module) if own.startswith("test")]
        params = [case.callspec.params for case in cases]
        kept = set(first_tier(params, *mark.args, **mark.kwargs, place=laws.index(name)))
        further += [case for at, case in enumerate(cases) if at not in kept]
    return further
