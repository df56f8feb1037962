# SPDX-License-Identifier: Apache-2.0
"""What no additive noise has less error than: under (ε, δ) from a proof that a plan carries.

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
from lownoise.certificate.radial import proof_from_fields
from lownoise.certificate.staircase import least_square_down
from lownoise.errors import FileError
from lownoise.noise import AdditiveMechanism
from lownoise.noise.groups import AbstractGroupTotals
from lownoise.numbers.rounding import exact, float_up, shrunk
from lownoise.privacy import ApproxDP, PureDP
from lownoise.release.guarantees import brief_up
from lownoise.sets.bodies import AbstractBody

if TYPE_CHECKING:
    from lownoise.certificate.radial import AdditiveProof
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
    return _outward(budget.epsilon), _outward(budget.delta)


def _outward(number: float) -> float:
    return float_up(max(exact(number), Fraction(number)))


def additive_bound(terms: Terms) -> Bound | None:
    """Return what no additive noise errs less than on the answers; None where nothing is proved.

    Of noise within (ε, δ) the proof that the terms carry is decided now, in intervals; of pure
    noise there is one for every dimension, which needs no data.
    """
    view, added = terms.view, isinstance(terms.mechanism, AdditiveMechanism)
    if terms.size is None or not (added and isinstance(view.body, AbstractBody)):
        return None
    if isinstance(terms.mechanism.totals, AbstractGroupTotals):  # its body is that of one group
        return None
    d = view.body.dimension
    if view.embed is not None or not (d == 1 or terms.order == _EUCLIDEAN):
        return None
    weights = np.ones(d) if terms.weights is None else terms.weights
    radius = shrunk(view.body.inner_radius(weights) / view.divisor * terms.rows)
    if not (radius > 0 and view.binding_least > 0):
        return None
    least, named = _decided(terms, d)
    if not least > 0:
        return None
    root = shrunk(math.sqrt(least))
    return Bound(
        value=shrunk(root * radius),
        side="lower",
        quantity="(E‖error‖_p²)^{1/2}",
        constant=root,
        binds=f"every mechanism that adds noise and is {named}",
        over=view.where,
        theorem="ours",
    )


def _decided(terms: Terms, dimension: int) -> tuple[float, str]:
    """Return what E‖Z‖² is at least for changes of length 1, 0 if unproved, and of what noise."""
    proof, budget, loss = terms.additive, terms.budget, terms.mechanism.loss
    if proof is not None and isinstance(budget, ApproxDP):
        epsilon, delta = limits(budget)
        proof = replace(proof, epsilon=epsilon, delta=delta)
        # a proof of no level states nothing, whatever it took to decide it
        holds = proof.level > 0 and proof.dimension == dimension and proof.holds(_MOST_INTERVALS)
        return (proof.lower if holds else 0.0), str(budget)
    if loss.delta:
        return 0.0, ""
    if isinstance(budget, PureDP):
        return least_square_down(dimension, _outward(budget.epsilon)), str(budget)
    return least_square_down(dimension, loss.epsilon), f"{brief_up(loss.epsilon)}-DP"


def with_additive(terms: Terms, others: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """Return lower bounds and that of additive noise, where it is known, the greatest first."""
    own = additive_bound(terms)
    found = others if own is None else (own, *others)
    return tuple(sorted(found, key=lambda bound: -bound.value))
