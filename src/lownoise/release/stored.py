# SPDX-License-Identifier: Apache-2.0
"""Terms as JSON values: what was chosen is stored, what follows is computed again.

No norm is stored: the unit ball of K-norm noise is that of the changes of the integers, which
follow from the question and the grid.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.groups import GroupDual
from lownoise.certificate.tables import ParityDual
from lownoise.errors import FileError, quoted
from lownoise.kinds import expect, numbers, resolved
from lownoise.kinds import positive as _positive
from lownoise.noise import AdditiveMechanism
from lownoise.noise.discrete_k_norm import DiscreteKNormNoise, counts_cells
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.groups import AbstractGroupTotals
from lownoise.noise.parity import ParityNoise, ParityTotals, law_steps, parity_noise, parity_steps
from lownoise.noise.response import ResponseMechanism
from lownoise.noise.signed import LAWS
from lownoise.noise.sums import sum_mechanism
from lownoise.noise.units import exchange
from lownoise.numbers.packing import without_contents
from lownoise.privacy import ApproxDP, PureDP, Shared
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.privacy.shared import checked_uses
from lownoise.privacy.units import unit_from_dict
from lownoise.questions import (
    QUESTIONS,
    AbstractGrouped,
    AbstractQueries,
    AbstractSummed,
    Marginals,
    Mean,
    Parity,
    Sum,
)
from lownoise.release.additive import ADDITIVE, additive_from_dict, additive_to_dict
from lownoise.release.codec import UNIT, digest, dump, expect_meant
from lownoise.release.comparison import (
    COUNTS,
    GAUSSIAN,
    RESPONSE,
    compared_from_list,
    compared_to_dict,
    names,
)
from lownoise.release.encoding import (
    added_from_dict,
    added_to_dict,
    evidence_from_dict,
    evidence_to_dict,
    relation_from_dict,
    relation_to_dict,
    shape_from_dict,
    witness_to_dict,
)
from lownoise.release.group_encoding import (
    group_evidence_to_dict,
    group_noise_to_dict,
    groups_from_dict,
)
from lownoise.release.guarantees import allowed
from lownoise.release.marginal_encoding import marginals_from_dict, marginals_to_dict
from lownoise.release.pure_bound import of_sums
from lownoise.release.terms import Terms
from lownoise.release.totals import (
    histogram_from_dict,
    mean_totals_from_dict,
    order_from,
    parity_totals_from_dict,
    size_from,
    summed_totals_from_dict,
)
from lownoise.samplers.uniform.abstract import distance_within
from lownoise.sensitivity.relations import ADD_REMOVE, SUBSTITUTE, Change
from lownoise.sets.domains.encoding import with_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.totals import AbstractTotals
    from lownoise.privacy import Budget
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.sets.domains import AbstractDomain

ADDED = "cost_of_noise"  # which files before 0.2.0 do not state
_SUMS = "sums"  # what readers are told where evidence is about sums alone, and not their count
_LEAST_WEIGHT = 2.0**-900  # beside which no number of a certificate vanishes


def terms_to_dict(terms: Terms, *, witnessed: bool = True) -> dict[str, Any]:
    """Return what was chosen, as JSON values.

    Args:
        terms: what was chosen.
        witnessed: whether evidence has its witness beside it, which may be another elsewhere.
    """
    question, mechanism = terms.question, terms.mechanism
    pure = not terms.gaussian
    return {
        "question": QUESTIONS.write(question),
        "budget": budget_to_dict(terms.budget),
        **(
            {}
            if terms.shared is None
            else {
                "shared": {
                    "budget": budget_to_dict(terms.shared.budget),
                    "uses": terms.shared.uses,
                }
            }
        ),
        "relation": relation_to_dict(terms.relation)
        if terms.privacy_unit is None
        else terms.privacy_unit.relation,
        "size": terms.size,
        **({} if terms.privacy_unit is None else {UNIT: terms.privacy_unit.to_dict()}),
        "order": "inf" if math.isinf(terms.order) else terms.order,
        **({} if terms.weights is None else {"weights": terms.weights.tolist()}),
        **({"mechanism": terms.name} if pure else {}),
        **(
            marginals_to_dict(mechanism, terms.evidence)
            if isinstance(question, Marginals)
            else {
                "noise": _noise_to_dict(terms.name, mechanism),
                "evidence": _evidence_to_dict(terms, witnessed=witnessed),
            }
        ),
        **compared_to_dict(terms.alternatives),
    }


def _evidence_to_dict(terms: Terms, *, witnessed: bool) -> dict[str, Any] | None:
    dual = terms.evidence
    if dual is None:
        return None
    if isinstance(dual, GroupDual):
        return group_evidence_to_dict(dual)
    if isinstance(dual, ParityDual):
        return {"degrees": dual.degrees.tolist(), "patterns": dual.patterns.tolist()}
    shown = witness_to_dict(terms.witness) if witnessed else {}
    own = evidence_to_dict(dual, terms.plain_evidence) | shown
    return own | additive_to_dict(terms.additive)


def _noise_to_dict(name: str, mechanism: AdditiveMechanism | ResponseMechanism) -> dict[str, Any]:
    if isinstance(mechanism, ResponseMechanism):
        return {"keep": mechanism.keep}
    totals, noise = mechanism.totals, mechanism.noise
    if isinstance(totals, AbstractGroupTotals):
        return group_noise_to_dict(mechanism, partial(_noise_to_dict, name))
    if isinstance(totals, ParityTotals):
        if isinstance(noise, ParityNoise):
            return {"scales": noise.scales.tolist(), "steps": totals.steps.tolist()}
        assert isinstance(noise, GaussianNoise)  # noqa: S101 (the other that such totals have)
        return {"deviations": totals.by_degree(noise).tolist(), "steps": totals.steps.tolist()}
    return {
        **added_to_dict(name, noise),
        **totals.stated,
    }


def terms_from_dict(fields: dict[str, Any], domain: AbstractDomain | None = None) -> Terms:
    """Return the terms that `terms_to_dict` described; every field is checked as if it were new.

    Args:
        fields: what it wrote.
        domain: the set, where the fields only name it.

    Raises:
        FileError: where a field is missing, wrong, or says what it does not mean.
    """
    name = fields.get("mechanism", GAUSSIAN)
    expect("mechanism", name, (GAUSSIAN, *names()))
    question = QUESTIONS.read(with_program(fields["question"], domain))
    if "mechanism" in fields and name == GAUSSIAN:
        kind = QUESTIONS.of(question).name
        raise FileError(f"mechanism={name} does not answer questions of kind {kind}")
    fields = _of_today(fields, question, name)
    exchanged = UNIT in fields and fields["relation"] == SUBSTITUTE
    # totals of units are those of rows that come and go, and so is their evidence
    inner = {**fields, "relation": ADD_REMOVE} if exchanged else fields
    if exchanged and not isinstance(question, AbstractGrouped):
        inner[_SUMS] = isinstance(question, Mean) and of_sums(question.domain)
    terms: Terms = resolved(question.parts.read)(inner, name, question)
    if UNIT in fields:
        unit = unit_from_dict(fields[UNIT], exchanged=exchanged)
        terms = replace(terms, mechanism=_hidden(terms, unit))
    if not terms.within_budget_as_read:
        raise FileError("noise is too small for the budget")
    with without_contents():  # which are not compared: they have been read
        expect_meant(fields, terms_to_dict(terms, witnessed=False))
    return terms


def _hidden(terms: Terms, unit: PrivacyUnit) -> AdditiveMechanism:
    """Return the mechanism that hides all rows of a unit.

    Raises:
        FileError: where none is known that does.
    """
    if terms.size is not None or not isinstance(terms.mechanism, AdditiveMechanism):
        raise FileError("unit is of noise on totals where records come and go")
    return replace(terms.mechanism, unit=unit)


def _of_today(fields: dict[str, Any], question: object, name: str) -> dict[str, Any]:
    """Return the fields without the weight that 0.1 gave the count of sums with pure noise."""
    if not isinstance(question, Mean) or name == GAUSSIAN or fields["size"] is not None:
        return fields
    return {**fields, "weights": fields["weights"][: len(question.columns)]}


def _head(fields: dict[str, Any], name: str) -> dict[str, Any]:
    budget = budget_from_dict(fields["budget"])
    if name != GAUSSIAN and not isinstance(budget, (PureDP, ApproxDP)):
        raise FileError("budget is not pure, nor (epsilon, delta)")
    found: dict[str, Any] = {"budget": budget, "order": order_from(fields["order"]), "name": name}
    if "shared" in fields:
        shared = fields["shared"]
        uses = checked_uses(shared["uses"])
        if len(shared) > 2:  # noqa: PLR2004
            raise FileError("shared is not a budget and a number of uses")
        found["shared"] = Shared(budget_from_dict(shared["budget"]), uses)
    if name != GAUSSIAN or "compared" in fields:
        found["alternatives"] = compared_from_list(fields["compared"], name)
    return found


def read_mean(fields: dict[str, Any], name: str, question: Mean) -> Terms:
    """Return the terms of means."""
    columns = len(question.columns)
    mechanism = _mechanism(fields, name, question)
    answers = mechanism.deviations.size
    weights = numbers(fields["weights"], "weights", answers if name == GAUSSIAN else columns)
    if fields.get(_SUMS):
        answers = columns
    if not np.all((weights >= _LEAST_WEIGHT) & (weights <= 1 / _LEAST_WEIGHT)):
        raise FileError("weights are not all from 2^-900 to 2^900")
    evidence, plain = _evidence(fields["evidence"], answers, twice=name == GAUSSIAN)
    head = _head(fields, name)
    return Terms(
        question=question,
        mechanism=mechanism,
        weights=weights,
        evidence=evidence,
        plain_evidence=plain,
        additive=additive_from_dict(fields["evidence"], head["budget"]),
        **head,
    )


def read_sum(fields: dict[str, Any], name: str, question: Sum) -> Terms:
    """Return the terms of totals."""
    size, own, mean = fields["size"], fields, question.mean
    if not relation_from_dict(fields["relation"]).counted:
        if not isinstance(size, int) or isinstance(size, bool):
            raise FileError(f"size={quoted(size)} does not fit the relation")
    elif size is not None:
        raise FileError(f"size={quoted(size)} does not fit the relation")
    else:  # of one record, which changes by a point of the domain
        unit = unit_from_dict(fields[UNIT]) if UNIT in fields else None
        mean = question.coming if unit is None else question.of_units(unit.total, unit.rows)
        own = {**fields, "relation": relation_to_dict(Change(mean.domain)), "size": 1}
    terms = read_mean(own, name, mean)
    mechanism = sum_mechanism(question, terms.mechanism, size)
    return replace(terms, question=question, mechanism=mechanism)


def read_summed(fields: dict[str, Any], name: str, question: AbstractSummed) -> Terms:
    """Return the terms of sums of what each row adds."""
    mechanism = _mechanism(fields, name, question)
    weights = None
    if name != GAUSSIAN:
        weights = numbers(fields["weights"], "weights", question.count)
        if not np.array_equal(weights, question.weights):
            raise FileError("weights are not those of the queries, which have none of their own")
    evidence, _ = _evidence(fields["evidence"], question.count)
    head = _head(fields, name)
    return Terms(
        question=question,
        mechanism=mechanism,
        weights=weights,
        evidence=evidence,
        additive=additive_from_dict(fields["evidence"], head["budget"]),
        **head,
    )


def _evidence(fields: dict[str, Any] | None, answers: int, *, twice: bool = False) -> Any:  # noqa: ANN401
    if fields is None:
        return None, None
    own = {name: value for name, value in fields.items() if name != ADDITIVE}
    return evidence_from_dict(own, answers, twice=twice)


def read_parity(fields: dict[str, Any], name: str, question: Parity) -> Terms:
    """Return the terms of parities."""
    k, evidence = len(question.degrees), fields["evidence"]
    bits = len(question.attributes)
    patterns = bits if fields["size"] is not None else 1 + bits * (_SUMS in fields)
    dual = ParityDual(
        degrees=numbers(evidence["degrees"], "evidence.degrees", k),
        patterns=numbers(evidence["patterns"], "evidence.patterns", patterns),
    )
    if name in (GAUSSIAN, *LAWS):
        mechanism: Any = _by_degree(fields, name, question)
    else:
        mechanism = _mechanism(fields, name, question.as_queries)
    return Terms(question=question, mechanism=mechanism, evidence=dual, **_head(fields, name))


def read_groups(fields: dict[str, Any], name: str, question: AbstractGrouped) -> Terms:
    """Return the terms of means or totals by groups."""
    return groups_from_dict(read_mean, fields, name, question)


def _by_degree(fields: dict[str, Any], name: str, question: Parity) -> AdditiveMechanism:
    totals, k = parity_totals_from_dict(fields, question), len(question.degrees)
    field = "deviations" if name == GAUSSIAN else "scales"
    scales = numbers(fields["noise"][field], f"noise.{field}", k)
    steps = parity_steps(scales)
    if name != GAUSSIAN:
        steps = law_steps(question, scales, totals.size, LAWS[name])
    if not np.array_equal(totals.steps, steps):
        raise FileError(f"noise.steps are not those of the {field}")
    if name == GAUSSIAN:
        return AdditiveMechanism(totals, parity_noise(totals, scales))
    own = ParityNoise(scales, totals.steps, tuple(question.counts), LAWS[name])
    return AdditiveMechanism(totals, own)


def read_marginals(fields: dict[str, Any], name: str, question: Marginals) -> Terms:
    """Return the terms of marginals."""
    size = size_from(fields)
    head = _head(fields, name)
    distance = _distance(head["budget"])
    mechanism, dual = marginals_from_dict(
        question,
        name,
        size,
        fields["noise"],
        fields["evidence"],
        distance,
        exchanged=_SUMS in fields,
    )
    return Terms(question=question, mechanism=mechanism, evidence=dual, **head)


def _mechanism(
    fields: dict[str, Any], name: str, question: Mean | AbstractSummed
) -> AdditiveMechanism | ResponseMechanism:
    if name == RESPONSE:
        size = size_from(fields)
        if not isinstance(question, AbstractQueries) or size is None:
            raise FileError("randomized_response is of linear queries and a public size")
        keep = _positive(fields["noise"]["keep"], "noise.keep")
        return ResponseMechanism(question=question, size=size, keep=keep)
    if name in COUNTS:
        if not isinstance(question, AbstractQueries):
            raise FileError(f"{name} is of linear queries")
        totals: AbstractTotals = histogram_from_dict(fields, question)
    elif isinstance(question, Mean):
        totals = mean_totals_from_dict(fields, question)
    else:
        totals = summed_totals_from_dict(fields, question)
    if name == GAUSSIAN:
        return AdditiveMechanism(
            totals, GaussianNoise(shape_from_dict(fields["noise"], totals.length))
        )
    distance = _distance(budget_from_dict(fields["budget"]))
    changes = exchange(totals.changes, totals.becoming) if _SUMS in fields else totals.changes
    noise = added_from_dict(fields["noise"], name, changes, totals.length, distance)
    if isinstance(noise, DiscreteKNormNoise) and not counts_cells(totals.embed):
        raise FileError("discrete_k_norm is of counts of a table's cells, and answers are more")
    return AdditiveMechanism(totals, noise)


def _distance(budget: Budget) -> float:
    """Return how far in total variation a law may be from the exact one within a budget."""
    if not isinstance(budget, ApproxDP):
        return 0.0
    return distance_within(allowed(budget), budget.delta)


def derived(terms: Terms) -> dict[str, Any]:
    """Return what follows from the terms, for the readers of a file."""
    cost, found = terms.cost, {**terms.view.derived, "error": terms.error}
    found["objective"] = terms.objective
    if terms.gaussian:
        ends = terms.certificate
        found["certificate"] = {"lower": ends.lower, "upper": ends.upper}
    found["lower_bound"] = terms.lower_bound
    known = {"rho": cost.rho, "mu": cost.mu}
    found["cost"] = {"epsilon": cost.epsilon, "delta": cost.delta}
    if terms.gaussian:
        found["cost"].update(known)
    else:
        found[ADDED] = known
    if terms.shared is not None:
        found["cost_of_all"] = asdict(terms.charged)
    return found


def plan_digest(terms: Terms) -> str:
    """Return what tells a plan from every other: the digest of what was chosen.

    A file of the plan has the same, wherever it is read.
    """
    return digest(terms_to_dict(terms, witnessed=False))


def plan_document(terms: Terms) -> str:
    """Return the document of a plan."""
    return dump("plan", {"terms": terms_to_dict(terms), "derived": derived(terms)})


@final
@dataclass(frozen=True)
class TermsCodec:
    """How the terms of a question are read from documents of anybody's, for who verifies them.

    Args:
        read: the terms of a document's fields, every one checked as if it were new; and the set,
            where they only name it.
        derived: what follows from terms, as a file states it.
        check_size: what refuses fields that a small file can make long to read, given the most
            numbers that are; None where none can.
    """

    read: Callable[[dict[str, Any], AbstractDomain | None], Terms]
    derived: Callable[[Terms], dict[str, Any]]
    check_size: Callable[[dict[str, Any], int], None] | None = None


TERMS = TermsCodec(terms_from_dict, derived)
