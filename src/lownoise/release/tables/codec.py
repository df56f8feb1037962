# SPDX-License-Identifier: Apache-2.0
"""The terms of marginals as JSON values: what was chosen is stored, what follows is computed."""

from __future__ import annotations

import json
import math
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.residual import ResidualDual
from lownoise.errors import FileError, PlanError
from lownoise.noise import OrderedMechanism, ProductMechanism
from lownoise.noise.residual import ResidualMechanism, grid_steps
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.questions import Marginals
from lownoise.questions.encoding import attribute_to_dict, declared_from
from lownoise.questions.residuals import marginal_orbits
from lownoise.release.codec import derived, order_from, promises, size_from, terms_to_dict
from lownoise.release.encoding import expect, numbers
from lownoise.release.tables.ordered import ordered_from_dict, ordered_to_dict
from lownoise.release.tables.product import product_from_dict, product_to_dict
from lownoise.release.tables.terms import TableTerms

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers
    from lownoise.questions.residuals import Orbits

KIND = "marginals"


@terms_to_dict.register
def _(terms: TableTerms) -> dict[str, Any]:
    question = terms.question
    asked: dict[str, Any] = (
        {"sets": [list(chosen) for chosen in question.chosen]}
        if question.way is None
        else {"way": question.way}
    )
    return {
        "question": {
            "kind": KIND,
            "attributes": [attribute_to_dict(a) for a in question.attributes],
            **asked,
            "weights": question.weights.tolist(),
        },
        "budget": budget_to_dict(terms.budget),
        "relation": terms.relation,
        "size": terms.size,
        "order": "inf" if math.isinf(terms.order) else terms.order,
        **_noise(terms.mechanism, terms.dual),
    }


@singledispatch
def _noise(mechanism: object, dual: object) -> dict[str, Any]:
    raise PlanError(f"mechanism={type(mechanism).__name__} has no form in files; plan again")


@_noise.register(ResidualMechanism)
def _(mechanism: ResidualMechanism, dual: ResidualDual) -> dict[str, Any]:
    return {
        "noise": {
            "deviations": mechanism.deviations.tolist(),
            "steps": mechanism.steps.tolist(),
        },
        "evidence": {
            "cells": dual.cells.tolist(),
            "patterns": dual.patterns.tolist(),
            "chances": dual.chances.tolist(),
        },
    }


_noise.register(OrderedMechanism, ordered_to_dict)
_noise.register(ProductMechanism, product_to_dict)


def terms_from_dict(fields: dict[str, Any]) -> TableTerms:
    """Return the terms that a file describes; every field is checked as if it were new."""
    asked, noise, evidence = fields["question"], fields["noise"], fields["evidence"]
    expect("question.kind", asked["kind"], (KIND,))
    question = _question(asked)
    size = size_from(fields)
    if size is not None and question.drops:
        raise FileError("rows would be dropped from a table of public size")
    mechanism, dual = _reader(question, noise)(question, size, noise, evidence)
    terms = TableTerms(
        question=question,
        budget=budget_from_dict(fields["budget"]),
        order=order_from(fields["order"]),
        dual=dual,
        mechanism=mechanism,
    )
    if not terms.mechanism.event.mu <= terms.parameter:
        raise FileError("noise is too small for the budget")
    if json.dumps(terms_to_dict(terms), sort_keys=True) != json.dumps(fields, sort_keys=True):
        raise FileError("terms say something that they do not mean")
    return terms


def _reader(question: Marginals, noise: dict[str, Any]) -> Callable[..., tuple[Any, Any]]:
    """Return what reads noise of its kind, which is not fitted to marginals without it."""
    if not question.ordered:
        return _residual_from_dict
    return product_from_dict if "axes" in noise else ordered_from_dict


def _residual_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any], evidence: dict[str, Any]
) -> tuple[ResidualMechanism, ResidualDual]:
    orbits = marginal_orbits(question)
    r = len(orbits.residuals)
    deviations = numbers(noise["deviations"], "noise.deviations", r)
    silent = np.array([size is not None and not orbit for orbit in orbits.residuals])
    if np.any(deviations[~silent] <= 0) or np.any(deviations[silent] != 0):
        raise FileError("noise.deviations are not all above 0")
    steps = numbers(noise["steps"], "noise.steps", r)
    if not np.array_equal(steps, grid_steps(deviations)):
        raise FileError("noise.steps are not those of the deviations")
    mechanism = ResidualMechanism(
        orbits=orbits,
        relation="add_remove" if size is None else "substitute",
        size=size,
        deviations=deviations,
        steps=steps,
    )
    return mechanism, _dual(evidence, orbits)


def _question(asked: dict[str, Any]) -> Marginals:
    given = asked["attributes"]
    sizes, outside = declared_from(given)
    ordered = {own["name"]: own["ordered"] for own in given if "ordered" in own}
    names = list(sizes)
    if "way" in asked:
        chosen: dict[str, Any] = {"way": asked["way"]}
    else:
        chosen = {"sets": [[names[i] for i in places] for places in asked["sets"]]}
    return Marginals(sizes, weights=asked["weights"], outside=outside, ordered=ordered, **chosen)


def _dual(evidence: dict[str, Any], orbits: Orbits) -> ResidualDual:
    chances = numbers(evidence["chances"], "evidence.chances", len(evidence["chances"]))
    patterns: Integers = np.array(evidence["patterns"])
    whole = patterns.dtype == np.int64 and patterns.shape == (chances.size, orbits.members.size)
    if not whole or np.any((patterns < 0) | (patterns > orbits.members)):
        raise FileError("evidence.patterns are not one row of whole numbers a chance")
    cells = numbers(evidence["cells"], "evidence.cells", len(orbits.asked))
    if np.any(cells < 0) or np.any(chances < 0):
        raise FileError("evidence has a negative weight")
    return ResidualDual(cells=cells, patterns=patterns, chances=chances)


@derived.register
def _(terms: TableTerms) -> dict[str, Any]:
    return {
        "marginals": [
            {"like": list(names), "count": count, "standard_deviation": deviation}
            for names, count, deviation in terms.deviations()
        ],
        **promises(terms),
    }
