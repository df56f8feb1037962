# SPDX-License-Identifier: Apache-2.0
"""Designs in which any two values of different factors meet, without the whole product."""

from itertools import combinations


def pairwise_design(factors, allowed=lambda **_: True):
    """Return rows such that every allowed pair of values of two factors is in one of them.

    It is the same whenever it is asked for. A pair is allowed where some whole row with it is.

    Args:
        factors: each factor's name and its values, which can be hashed.
        allowed: whether a row may be; it is given every factor by name.

    Returns:
        The rows, each a dict from a factor's name to its value.
    """
    names = list(factors)
    places = {name: {value: i for i, value in enumerate(factors[name])} for name in names}
    wanted = {
        ((one, a), (other, b)): None
        for one, other in combinations(names, 2)
        for a in factors[one]
        for b in factors[other]
    }
    uses = dict.fromkeys(((name, value) for name in names for value in factors[name]), 0)
    rows = []
    while wanted:
        pair = next(iter(wanted))
        row = _completed(dict(pair), names, factors, allowed, (wanted, uses, places))
        if row is None:
            del wanted[pair]
            continue
        rows.append(row)
        for item in row.items():
            uses[item] += 1
        for met in _pairs(row, names):
            wanted.pop(met, None)
    return rows


def _pairs(row, names):
    own = [(name, row[name]) for name in names if name in row]
    return combinations(own, 2)


def _completed(row, names, factors, allowed, ranking):
    """Return the row with a value of every factor, or None where no such row is allowed."""
    free = [name for name in names if name not in row]
    if not free:
        return row if allowed(**row) else None
    wanted, uses, places = ranking
    name = free[0]

    def rank(value):
        met = sum(pair in wanted for pair in _pairs({**row, name: value}, names))
        return -met, uses[name, value], places[name][value]

    for value in sorted(factors[name], key=rank):
        found = _completed({**row, name: value}, names, factors, allowed, ranking)
        if found is not None:
            return found
    return None
