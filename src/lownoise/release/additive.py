# SPDX-License-Identifier: Apache-2.0
"""What no additive noise within (ε, δ) has less error than, from a proof that a plan carries.

The proof is about changes of length 1 in every direction. A body of changes that holds a ball of
radius R, once answers have their weights, needs R times as much (ours).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.bounds import Bound
from lownoise.certificate.additive import proof_from_fields
from lownoise.errors import FileError
from lownoise.numbers.rounding import exact, float_up, shrunk
from lownoise.privacy import ApproxDP

if TYPE_CHECKING:
    from lownoise.certificate.additive import AdditiveProof
    from lownoise.privacy import Budget
    from lownoise.release.terms import Terms

ADDITIVE = "additive"
_EUCLIDEAN = 2.0
MOST_NODES = 1400  # of a proof that a plan carries: seconds to decide
_MOST_INTERVALS = 30_000


def short(proof: AdditiveProof | None) -> AdditiveProof | None:
    """Return the proof where a reader decides it in seconds, else None."""
    nodes = () if proof is None else proof.fields().get("radii", ())
    return proof if len(nodes) <= MOST_NODES else None


def additive_to_dict(proof: AdditiveProof | None) -> dict[str, Any]:
    """Return the proof as an entry of evidence, none where there is none."""
    own = {} if proof is None else {"dimension": proof.dimension, **proof.fields()}
    return {ADDITIVE: own} if own else {}


def additive_from_dict(fields: dict[str, Any] | None, budget: Budget) -> AdditiveProof | None:
    """Return the proof in evidence, about the budget as it is read; None where there is none.

    Args:
        fields: of the evidence.
        budget: that the noise is within.

    Raises:
        FileError: where it is none.
    """
    found = None if fields is None else fields.get(ADDITIVE)
    if found is None or not isinstance(budget, ApproxDP):
        return None
    try:
        proof = short(proof_from_fields(found, int(found["dimension"]), *limits(budget)))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        proof = None
    if proof is None:
        raise FileError("evidence.additive is no proof about additive noise, or too long")
    return proof


def limits(budget: ApproxDP) -> tuple[float, float]:
    """Return floats that are at least ε and δ, however their decimals are read.

    Examples:
        >>> limits(ApproxDP(0.5, 0.1))
        (0.5, 0.1)
    """
    epsilon, delta = (
        float_up(max(exact(own), Fraction(own))) for own in (budget.epsilon, budget.delta)
    )
    return epsilon, delta


def additive_bound(terms: Terms) -> Bound | None:
    """Return what no additive noise errs less than on the answers; None where nothing is proved.

    The proof is decided now, in intervals.
    """
    proof, budget, view = terms.additive, terms.budget, terms.view
    if proof is None or not isinstance(budget, ApproxDP) or terms.size is None:
        return None
    d = view.body.dimension
    if view.embed is not None or not (d == 1 or terms.order == _EUCLIDEAN):
        return None
    weights = np.ones(d) if terms.weights is None else terms.weights
    radius = shrunk(view.body.inner_radius(weights) / view.divisor * terms.rows)
    if not (radius > 0 and view.binding_least > 0):
        return None
    epsilon, delta = limits(budget)
    proof = replace(proof, epsilon=epsilon, delta=delta)
    if not proof.level > 0:  # such a proof states nothing, whatever it took to decide it
        return None
    if not (proof.dimension == d and proof.holds(_MOST_INTERVALS) and proof.lower > 0):
        return None
    root = shrunk(math.sqrt(proof.lower))
    return Bound(
        value=shrunk(root * radius),
        side="lower",
        quantity="(E‖error‖_p²)^{1/2}",
        constant=root,
        binds=f"every mechanism that adds noise and is {budget}",
        over=view.where,
        theorem="ours",
    )


def with_additive(terms: Terms, others: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return lower bounds and that of additive noise, where it is known, the greatest first."""
    own = additive_bound(terms)
    found = others if own is None else (own, *others)
    return tuple(sorted(found, key=lambda bound: -bound.value))
