# SPDX-License-Identifier: Apache-2.0
"""Questions and their totals as JSON values, and back with every check.

A matrix is stored packed (its shape, and its floats, little-endian, compressed, in base 64): a
large one written out digit by digit would fill the memory of a reader.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import FileError, told
from lownoise.kinds import expect, numbers
from lownoise.noise.codes import coding_for
from lownoise.noise.means import MeanTotals
from lownoise.noise.parity import ParityTotals
from lownoise.noise.queries import HistogramTotals, QueryTotals, queries_follow
from lownoise.numbers.arguments import checked_order
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed, unpacked
from lownoise.questions import Marginals, Mean, Parity, Queries
from lownoise.questions.encoding import attribute_to_dict, declared_from
from lownoise.release.encoding import (
    coordinates_from_dict,
    coordinates_to_dict,
    relation_from_dict,
)
from lownoise.sensitivity.relations import RELATIONS, Change
from lownoise.sets.domains.coordinates import Coordinates
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Universe
    from lownoise.sets.domains import AbstractDomain

_FINEST = 2.0**-52
_FINEST_PARITY = 2.0**-22


def mean_to_dict(question: Mean) -> dict[str, Any]:
    """Return the question as JSON values."""
    return {
        "kind": "mean",
        "columns": list(question.columns),
        **domain_to_dict(question.domain),
        "center": question.center.tolist(),
        "missing": question.missing.tolist(),
        "drops_missing": question.drops_missing,
    }


def mean_from_dict(asked: dict[str, Any], domain: AbstractDomain | None = None) -> Mean:
    """Return the question that `mean_to_dict` described, checked as if it were new.

    Args:
        asked: what it wrote.
        domain: the set, where the fields only name it.
    """
    drops = asked["drops_missing"]
    if not isinstance(drops, bool):
        raise FileError(f"question.drops_missing={told(drops)} is not true or false")
    return Mean(
        asked["columns"],
        domain_from_dict(asked, domain),
        center=asked["center"],
        missing="drop" if drops else asked["missing"],
    )


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
    by_size = relation != "add_remove"
    sized = isinstance(size, int) and not isinstance(size, bool) and size >= 1
    counted = isinstance(count_step, float) and _FINEST <= count_step <= 1
    whole = sized if by_size else size is None
    if not whole or by_size != (count_step is None) or by_size == counted:
        raise FileError(
            f"size={told(size)} and count_step={told(count_step)} do not fit the relation"
        )
    if isinstance(relation, Change) and relation.body.dimension != question.domain.dimension:
        raise FileError("relation.change has not one coordinate a column")
    chosen = coordinates_from_dict(noise, question.domain)
    step = numbers(noise["step"], "noise.step", chosen.pivots.size)
    for name, values in (("noise.step", step), ("noise.count_step", [count_step or 1.0])):
        if any(math.frexp(float(s))[0] != 0.5 for s in values):  # noqa: PLR2004
            raise FileError(f"{name} is not made of powers of two")
    about = None
    if "about" in noise:
        expect("noise.about", noise["about"], ("domain",))
        if by_size:
            raise FileError("noise.about is for sums, and the relation has means")
        about = question.domain.center
    return MeanTotals(
        query=TotalsQuery(coding_for(question, chosen, step, about), question.drops_missing),
        relation=relation,
        size=size,
        count_step=count_step,
        coordinates=chosen,
        multipliers=multipliers_of(noise),
        center=None if about is None else question.center,
    )


def mean_totals_to_dict(totals: MeanTotals) -> dict[str, Any]:
    """Return how records become integers, as JSON values."""
    multipliers = totals.multipliers
    return {
        "step": totals.query.coding.step.tolist(),
        "count_step": totals.count_step,
        **({} if totals.center is None else {"about": "domain"}),
        **({} if multipliers is None else {"reach": multipliers.tolist()}),
        **coordinates_to_dict(totals.coordinates),
    }


def multipliers_of(noise: dict[str, Any]) -> Vector | None:
    """Return the coefficients for the bound on a record's reach, None where there are none.

    Raises:
        FileError: where they are not numbers above 0.
    """
    if "reach" not in noise:
        return None
    found = numbers(noise["reach"], "noise.reach", len(noise["reach"]))
    if np.any(found == 0):
        raise FileError("noise.reach is not made of numbers above 0")
    return found


def queries_to_dict(question: Queries) -> dict[str, Any]:
    """Return the question as JSON values."""
    return {
        "kind": "queries",
        "matrix": packed(question.matrix),
        "universe": _universe(question.universe),
    }


def queries_from_dict(asked: dict[str, Any]) -> Queries:
    """Return the question that `queries_to_dict` described, checked as if it were new."""
    return _queries(unpacked(asked["matrix"], "question.matrix"), asked["universe"])


def _universe(universe: Universe) -> dict[str, Any]:
    if universe.listed is None:
        return {"attributes": [attribute_to_dict(a) for a in universe.attributes]}
    labels = [a.labels or () for a in universe.attributes]
    return {
        "columns": [a.name for a in universe.attributes],
        "records": [
            [own[cell] for own, cell in zip(labels, cells, strict=True)]
            for cells in universe.listed.tolist()
        ],
        "outside": universe.outside,
    }


def _queries(matrix: Vector, fields: dict[str, Any]) -> Queries:
    if "records" in fields:
        records, place = fields["records"], fields["outside"]
        return Queries(
            matrix,
            records,
            columns=fields["columns"],
            outside="drop" if place is None else records[place],
        )
    sizes, outside = declared_from(fields["attributes"])
    return Queries(matrix, sizes, outside=outside)


def query_totals_to_dict(totals: QueryTotals) -> dict[str, Any]:
    """Return how records become integers, as JSON values."""
    chosen = totals.coordinates
    kept = (
        {}
        if chosen.embed is None
        else {"pivots": chosen.pivots.tolist(), "embed": packed(chosen.embed)}
    )
    return {"step": totals.step.tolist(), **kept}


def query_totals_from_dict(fields: dict[str, Any], question: Queries) -> QueryTotals:
    """Return the grid that a file describes, checked as if it were new.

    Raises:
        FileError: where it does not describe the question's matrix.
    """
    noise, relation, size = fields["noise"], fields["relation"], size_from(fields)
    W = question.matrix
    start = W[:, 0].copy() if relation == "substitute" else np.zeros(len(W))
    pivots, embed = np.arange(len(W)), None
    if "pivots" in noise:
        pivots = np.array(noise["pivots"], dtype=np.int64).reshape(-1)
        embed = unpacked(noise["embed"], "noise.embed")
    chosen = Coordinates(pivots=pivots, embed=embed, start=frozen(start))
    if not queries_follow(question, chosen):
        raise FileError("noise.pivots and noise.embed do not describe the matrix")
    step = numbers(noise["step"], "noise.step", pivots.size)
    if any(math.frexp(s)[0] != 0.5 for s in step.tolist()):  # noqa: PLR2004
        raise FileError("noise.step is not made of powers of two")
    return QueryTotals(
        question=question, relation=relation, size=size, coordinates=chosen, step=step
    )


def histogram_from_dict(fields: dict[str, Any], question: Queries) -> HistogramTotals:
    """Return the counts of records that a file describes, checked as if they were new.

    Raises:
        FileError: where their step is out of range.
    """
    size, step = size_from(fields), fields["noise"]["step"]
    power = isinstance(step, float) and _FINEST <= step <= 1 and math.frexp(step)[0] == 0.5  # noqa: PLR2004
    if not power:
        raise FileError("noise.step is no power of two from 2^-52 to 1")
    return HistogramTotals(question=question, relation=fields["relation"], size=size, step=step)


def parity_to_dict(question: Parity) -> dict[str, Any]:
    """Return the question as JSON values."""
    return {
        "kind": "parity",
        "bits": [a.name for a in question.attributes],
        "outside": [a.outside for a in question.attributes],
        "degrees": list(question.degrees),
        "weights": question.degree_weights.tolist(),
    }


def parity_from_dict(asked: dict[str, Any]) -> Parity:
    """Return the question that `parity_to_dict` described, checked as if it were new.

    Raises:
        FileError: where its degrees do not rise.
    """
    policies = ["drop" if cell is None else cell for cell in asked["outside"]]
    question = Parity(
        asked["bits"],
        asked["degrees"],
        weights=asked["weights"],
        outside=dict(zip(asked["bits"], policies, strict=True)),
    )
    if question.degrees != tuple(asked["degrees"]):
        raise FileError("question.degrees do not rise")
    return question


def parity_totals_from_dict(fields: dict[str, Any], question: Parity) -> ParityTotals:
    """Return the totals that a file describes, checked as if they were new.

    Raises:
        FileError: where a step is out of range.
    """
    steps = numbers(fields["noise"]["steps"], "noise.steps", len(question.degrees))
    if any(math.frexp(s)[0] != 0.5 or not _FINEST_PARITY <= s <= 1 for s in steps.tolist()):  # noqa: PLR2004
        raise FileError("noise.steps are not powers of two from 2^-22 to 1")
    size = size_from(fields)
    return ParityTotals(question=question, relation=fields["relation"], size=size, steps=steps)


def marginals_question_to_dict(question: Marginals) -> dict[str, Any]:
    """Return the question as JSON values."""
    asked: dict[str, Any] = (
        {"sets": [list(chosen) for chosen in question.chosen]}
        if question.way is None
        else {"way": question.way}
    )
    return {
        "kind": "marginals",
        "attributes": [attribute_to_dict(a) for a in question.attributes],
        **asked,
        "weights": question.weights.tolist(),
    }


def marginals_question_from_dict(asked: dict[str, Any]) -> Marginals:
    """Return the question that `marginals_question_to_dict` described, as if it were new."""
    given = asked["attributes"]
    sizes, outside = declared_from(given)
    ordered = {own["name"]: own["ordered"] for own in given if "ordered" in own}
    names = list(sizes)
    if "way" in asked:
        chosen: dict[str, Any] = {"way": asked["way"]}
    else:
        chosen = {"sets": [[names[i] for i in places] for places in asked["sets"]]}
    return Marginals(sizes, weights=asked["weights"], outside=outside, ordered=ordered, **chosen)


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
    if sized != (fields["relation"] == "substitute") or (not sized and size is not None):
        raise FileError(f"size={told(size)} does not fit the relation")
    return size if sized else None
