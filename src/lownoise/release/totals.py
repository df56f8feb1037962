# SPDX-License-Identifier: Apache-2.0
"""Totals as JSON values, and back with every check.

A matrix is stored packed (its shape, and its floats, little-endian, compressed, in base 64): a
large one written out digit by digit would fill the memory of a reader.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import FileError, quoted
from lownoise.kinds import expect, numbers, positive, resolved, whole_numbers
from lownoise.noise.means import DOMAIN, START, MeanTotals, coding_for
from lownoise.noise.parity import ParityTotals
from lownoise.noise.queries import HistogramTotals
from lownoise.noise.totals import FINEST
from lownoise.numbers.arguments import checked_order
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import unpacked
from lownoise.release.encoding import (
    coordinates_from_dict,
    relation_from_dict,
)
from lownoise.sensitivity.relations import RELATIONS, Change, word_of
from lownoise.sets.domains import Points

if TYPE_CHECKING:
    from lownoise.noise.totals import AbstractSummedTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import AbstractQueries, AbstractSummed, Mean, Parity

_FINEST = 2.0**-52
_MOST_SIGNS = 1 << 22  # places of sums: more than a plan has, and what they fill


def mean_totals_from_dict(fields: dict[str, Any], question: Mean) -> MeanTotals:
    """Return how records become integers: the grid, the relation and the public size, checked.

    Args:
        fields: of the terms: `relation`, `size`,
            and of `noise` `step`, `count_step` and the summed coordinates; `about`, "domain",
            where codes are taken about the domain's center and not the question's.
        question: what is asked.
    """
    noise = fields["noise"]
    relation = relation_from_dict(fields["relation"])
    size, count_step = fields["size"], noise["count_step"]
    by_size = not relation.counted
    sized = isinstance(size, int) and not isinstance(size, bool) and size >= 1
    counted = isinstance(count_step, float) and _FINEST <= count_step <= 1
    whole = sized if by_size else size is None
    if not whole or by_size != (count_step is None) or by_size == counted:
        raise FileError(
            f"size={quoted(size)} and count_step={quoted(count_step)} do not fit the relation"
        )
    if isinstance(relation, Change) and relation.body.dimension != question.domain.dimension:
        raise FileError("relation.change has not one coordinate a column")
    chosen = coordinates_from_dict(noise, question.domain)
    step = numbers(noise["step"], "noise.step", chosen.pivots.size)
    listed = isinstance(question.domain, Points)
    powers = all(math.frexp(s)[0] == 0.5 for s in step.tolist())  # noqa: PLR2004
    if not (powers or (listed and np.all(step > 0))):
        raise FileError("noise.step is not made of powers of two")
    if math.frexp(count_step or 1.0)[0] != 0.5:  # noqa: PLR2004
        raise FileError("noise.count_step is not made of powers of two")
    about = None
    if "about" in noise:
        expect("noise.about", noise["about"], (DOMAIN, START) if listed else (DOMAIN,))
        starts = noise["about"] == START
        if by_size and not starts:
            raise FileError("noise.about is for sums, and the relation has means")
        about = frozen(question.domain.start) if starts else question.domain.center
    totals = MeanTotals(
        query=TotalsQuery(coding_for(question, chosen, step, about), question.drops_missing),
        relation=relation,
        size=size,
        count_step=count_step,
        coordinates=chosen,
        multipliers=multipliers_of(noise),
        center=None if about is None else question.center,
        comes=question.comes,
    )
    lattice = totals.lattice
    if not powers and (lattice is None or not np.array_equal(step, lattice)):
        raise FileError("noise.step is not made of powers of two, nor what all points are apart by")
    return totals


def multipliers_of(noise: dict[str, Any]) -> Vector | None:
    """Return the coefficients for the bound on a record's reach, None where there are none.

    Raises:
        FileError: where they are not numbers above 0 and, after these, weights of sums of signs.
    """
    if "reach" not in noise:
        return None
    given = noise["reach"]
    sums = [own for own in given if isinstance(own, list)]
    k = len(given) - len(sums)
    if k * len(sums) > _MOST_SIGNS:
        raise FileError(f"noise.reach has {len(sums)} sums of signs; use an unedited file")
    found = numbers(given[:k], "noise.reach", k)
    if np.any(found == 0):
        raise FileError("noise.reach is not made of numbers above 0")
    if not sums:
        return found
    rows = np.vstack([found, np.zeros((len(sums), k))])
    for row, (weight, *signs) in zip(rows[1:], sums, strict=True):
        places = np.abs(whole_numbers(signs, "noise.reach", (1,)))
        if places.size != np.unique(places).size or not np.all((places > 0) & (places <= k)):
            raise FileError(f"noise.reach has a sum that is not of signs at places from 1 to {k}")
        row[places - 1] = positive(weight, "noise.reach") * np.sign(signs)
    return frozen(rows)


def summed_totals_from_dict(
    fields: dict[str, Any], question: AbstractSummed
) -> AbstractSummedTotals[Any]:
    """Return the grid that a file describes, checked as if it were new.

    Raises:
        FileError: where it does not describe what the question sums.
    """
    noise, relation, size = fields["noise"], fields["relation"], size_from(fields)
    pivots, embed = np.arange(question.count), None
    if "pivots" in noise:
        pivots = np.array(noise["pivots"], dtype=np.int64).reshape(-1)
        embed = unpacked(noise["embed"], "noise.embed")
    chosen = question.as_summed(relation, pivots, embed)
    if not question.follows(chosen):
        raise FileError("noise.pivots and noise.embed do not describe the matrix")
    step = numbers(noise["step"], "noise.step", pivots.size)
    totals: AbstractSummedTotals[Any] = resolved(question.totals)(
        question=question, relation=relation, size=size, coordinates=chosen, step=step
    )
    powers = all(math.frexp(s)[0] == 0.5 for s in step.tolist())  # noqa: PLR2004
    lattice = totals.lattice
    if not powers and (lattice is None or not np.array_equal(step, lattice)):
        raise FileError("noise.step is not made of powers of two, nor what all numbers divide by")
    return totals


def histogram_from_dict(fields: dict[str, Any], question: AbstractQueries) -> HistogramTotals:
    """Return the counts of records that a file describes, checked as if they were new.

    Raises:
        FileError: where their step is out of range.
    """
    size, step = size_from(fields), fields["noise"]["step"]
    power = isinstance(step, float) and _FINEST <= step <= 1 and math.frexp(step)[0] == 0.5  # noqa: PLR2004
    if not power:
        raise FileError("noise.step is no power of two from 2^-52 to 1")
    return HistogramTotals(question=question, relation=fields["relation"], size=size, step=step)


def parity_totals_from_dict(fields: dict[str, Any], question: Parity) -> ParityTotals:
    """Return the totals that a file describes, checked as if they were new.

    Raises:
        FileError: where a step is out of range.
    """
    steps = numbers(fields["noise"]["steps"], "noise.steps", len(question.degrees))
    size = size_from(fields)
    most = 1 if size is None else 2
    if any(math.frexp(s)[0] != 0.5 or not FINEST <= s <= most for s in steps.tolist()):  # noqa: PLR2004
        raise FileError(f"noise.steps are not powers of two from 2^-22 to {most}")
    return ParityTotals(question=question, relation=fields["relation"], size=size, steps=steps)


def order_from(value: float | str) -> float:
    """Return the order that a file states.

    Raises:
        PlanError: where `plan` would refuse it.
    """
    return checked_order(math.inf if value == "inf" else float(value))


def size_from(fields: dict[str, Any]) -> int | None:
    """Return the public number of records that a file of counts states, None under `add_remove`.

    Raises:
        FileError: where it does not fit the relation, or that is of no known kind.
    """
    expect("relation", fields["relation"], RELATIONS)
    size = fields["size"]
    sized = isinstance(size, int) and not isinstance(size, bool) and size >= 1
    if sized == word_of(fields["relation"]).counted or (not sized and size is not None):
        raise FileError(f"size={quoted(size)} does not fit the relation")
    return size if sized else None
