# SPDX-License-Identifier: Apache-2.0
"""Terms of linear queries as JSON values: what was chosen is stored, what follows is computed.

A matrix is stored packed (its shape, and its floats, little-endian, compressed, in base 64): a
large one written out digit by digit would fill the memory of a reader.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate import AbstractDual
from lownoise.certificate.parity import ParityDual
from lownoise.errors import FileError
from lownoise.noise import ParityMechanism, QueryMechanism
from lownoise.noise.queries import QueryGrid, queries_follow
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed, unpacked
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.questions import Parity, Queries
from lownoise.questions.encoding import attribute_to_dict, declared_from
from lownoise.questions.residuals.parities import parity_costs
from lownoise.release.codec import (
    derived,
    expect_gaussian,
    order_from,
    promises,
    size_from,
    terms_to_dict,
)
from lownoise.release.encoding import (
    evidence_from_dict,
    evidence_to_dict,
    expect,
    numbers,
    shape_from_dict,
    shape_to_dict,
)
from lownoise.release.linear.terms import LinearTerms
from lownoise.sensitivity.coordinates import Coordinates

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Universe

KINDS = ("queries", "parity")
_FINEST = 2.0**-22


@terms_to_dict.register
def _(terms: LinearTerms) -> dict[str, Any]:
    mechanism = terms.mechanism
    of_kind = (
        _of_parity(mechanism, terms.dual)
        if isinstance(mechanism, ParityMechanism)
        else _of_queries(mechanism, terms.dual)
    )
    return {
        "budget": budget_to_dict(terms.budget),
        "relation": terms.relation,
        "size": terms.size,
        "order": "inf" if math.isinf(terms.order) else terms.order,
        **of_kind,
    }


def _of_queries(mechanism: QueryMechanism, dual: AbstractDual | ParityDual) -> dict[str, Any]:
    assert isinstance(dual, AbstractDual)  # noqa: S101 (what a plan of queries has)
    question, grid = mechanism.question, mechanism.grid
    evidence = evidence_to_dict(dual, dual)
    return {
        "question": queries_to_dict(question),
        "noise": {**shape_to_dict(mechanism.noise), **grid_to_dict(grid)},
        "evidence": {k: v for k, v in evidence.items() if not k.startswith("plain_")},
    }


def _of_parity(mechanism: ParityMechanism, dual: AbstractDual | ParityDual) -> dict[str, Any]:
    assert isinstance(dual, ParityDual)  # noqa: S101 (what a plan of parities has)
    question = mechanism.question
    return {
        "question": {
            "kind": "parity",
            "bits": [a.name for a in question.attributes],
            "outside": [a.outside for a in question.attributes],
            "degrees": list(question.degrees),
            "weights": question.degree_weights.tolist(),
        },
        "noise": {
            "deviations": mechanism.deviations.tolist(),
            "steps": mechanism.steps.tolist(),
        },
        "evidence": {"degrees": dual.degrees.tolist(), "patterns": dual.patterns.tolist()},
    }


def queries_to_dict(question: Queries) -> dict[str, Any]:
    """Return the question as JSON values."""
    return {
        "kind": "queries",
        "matrix": packed(question.matrix),
        "universe": _universe(question.universe),
    }


def queries_from_dict(asked: dict[str, Any]) -> Queries:
    """Return the question that `queries_to_dict` described, checked as if it were new."""
    return _question(unpacked(asked["matrix"], "question.matrix"), asked["universe"])


def grid_to_dict(grid: QueryGrid) -> dict[str, Any]:
    """Return how records become integers, as JSON values."""
    chosen = grid.coordinates
    kept = (
        {}
        if chosen.embed is None
        else {"pivots": chosen.pivots.tolist(), "embed": packed(chosen.embed)}
    )
    return {"step": grid.step.tolist(), **kept}


def grid_from_dict(noise: dict[str, Any], question: Queries, relation: str) -> QueryGrid:
    """Return the grid that `grid_to_dict` described, checked as if it were new.

    Raises:
        FileError: where it does not describe the question's matrix.
    """
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
    return QueryGrid(question=question, relation=relation, coordinates=chosen, step=step)


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


def terms_from_dict(fields: dict[str, Any]) -> LinearTerms:
    """Return the terms that a file describes; every field is checked as if it were new."""
    expect_gaussian(fields)
    kind = fields["question"]["kind"]
    expect("question.kind", kind, KINDS)
    size_from(fields)
    mechanism, dual = _READERS[kind](fields)
    terms = LinearTerms(
        budget=budget_from_dict(fields["budget"]),
        order=order_from(fields["order"]),
        dual=dual,
        mechanism=mechanism,
    )
    if not terms.mechanism.event.mu <= terms.parameter:
        raise FileError("noise is too small for the budget")
    return terms


def _queries(fields: dict[str, Any]) -> tuple[QueryMechanism, AbstractDual]:
    asked, noise, relation = fields["question"], fields["noise"], fields["relation"]
    question = queries_from_dict(asked)
    grid = grid_from_dict(noise, question, relation)
    evidence = fields["evidence"]
    twice = {**evidence, **{f"plain_{k}": v for k, v in evidence.items()}}
    dual, _ = evidence_from_dict(twice, question.count)
    noisy = shape_from_dict(noise, grid.step.size)
    return QueryMechanism(grid=grid, size=fields["size"], noise=noisy), dual


def _question(matrix: Vector, fields: dict[str, Any]) -> Queries:
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


def _parity(fields: dict[str, Any]) -> tuple[ParityMechanism, ParityDual]:
    asked, noise, evidence = fields["question"], fields["noise"], fields["evidence"]
    policies = ["drop" if cell is None else cell for cell in asked["outside"]]
    question = Parity(
        asked["bits"],
        asked["degrees"],
        weights=asked["weights"],
        outside=dict(zip(asked["bits"], policies, strict=True)),
    )
    k = len(question.degrees)
    deviations = numbers(noise["deviations"], "noise.deviations", k)
    steps = numbers(noise["steps"], "noise.steps", k)
    if any(math.frexp(s)[0] != 0.5 or not _FINEST <= s <= 1 for s in steps.tolist()):  # noqa: PLR2004
        raise FileError("noise.steps are not powers of two from 2^-22 to 1")
    if question.degrees != tuple(asked["degrees"]):
        raise FileError("question.degrees do not rise")
    patterns = len(parity_costs(len(question.attributes), question.degrees, fields["relation"]))
    dual = ParityDual(
        degrees=numbers(evidence["degrees"], "evidence.degrees", k),
        patterns=numbers(evidence["patterns"], "evidence.patterns", patterns),
    )
    mechanism = ParityMechanism(
        question=question,
        relation=fields["relation"],
        size=fields["size"],
        deviations=deviations,
        steps=steps,
    )
    return mechanism, dual


_READERS: dict[
    str,
    Callable[[dict[str, Any]], tuple[QueryMechanism | ParityMechanism, AbstractDual | ParityDual]],
] = {"queries": _queries, "parity": _parity}


@derived.register
def _(terms: LinearTerms) -> dict[str, Any]:
    mechanism = terms.mechanism
    if isinstance(mechanism, ParityMechanism):  # one number a degree says all
        question = mechanism.question
        deviations = [
            {"degree": k, "count": count, "standard_deviation": deviation}
            for k, count, deviation in zip(
                question.degrees,
                question.counts,
                mechanism.deviations.tolist(),
                strict=True,
            )
        ]
        return {"parities": deviations, **promises(terms)}
    return {"standard_deviation": terms.standard_deviation.tolist(), **promises(terms)}
