# SPDX-License-Identifier: Apache-2.0
"""The terms of a stream as JSON values: what was chosen is stored, what follows is computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError, counted, quoted
from lownoise.kinds import expect, numbers, whole_numbers
from lownoise.noise.independent import GeometricNoise
from lownoise.noise.lattice import LatticeNoise, SteppedNoise
from lownoise.noise.staircase import StaircaseNoise
from lownoise.numbers.packing import without_contents
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.questions import QUESTIONS
from lownoise.questions.streams import LARGEST_DENSE, Running
from lownoise.release import codec, stored
from lownoise.release.codec import LARGEST
from lownoise.release.comparison import GAUSSIAN, Comparison, compared_from_list, compared_to_dict
from lownoise.release.encoding import (
    added_from_dict,
    added_to_dict,
    coordinates_from_dict,
    evidence_from_dict,
    evidence_to_dict,
    relation_from_dict,
    relation_to_dict,
    shape_from_dict,
)
from lownoise.release.terms import Terms
from lownoise.release.totals import multipliers_of
from lownoise.sensitivity.factors import SHAPES, check_width
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.sensitivity.relations import checked_relation
from lownoise.sets.domains.encoding import with_program
from lownoise.streams.evidence import StreamEvidence, unlike_signs
from lownoise.streams.mechanism import StreamMechanism
from lownoise.streams.pairs import PAIRS
from lownoise.streams.pure import MECHANISMS, PureStreamMechanism, round_codes
from lownoise.streams.rounds import round_totals
from lownoise.streams.sums import SUMS
from lownoise.streams.view import ORDERS, StreamView, spanned

if TYPE_CHECKING:
    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import AbstractStreamWorkload
    from lownoise.sets.domains import AbstractDomain
    from lownoise.streams import AbstractPair, AbstractStreamMechanism

KIND = "stream"
_MOST_KEPT = 1 << 26  # rounds of a pair that keeps numbers for each of them
_SHORT = ("recursive",)  # pairs that keep none
_LONGEST_NAME, _LONGEST_REASON = 60, 500


def terms_to_dict(terms: Terms) -> dict[str, Any]:
    """Return what was chosen, as JSON values.

    Raises:
        FileError: where a part has no form in a file.
    """
    question, mechanism, own = terms.question, terms.mechanism, terms.evidence
    evidence: dict[str, Any] = {"block": own.block, "changes": evidence_to_dict(own.changes)}
    if own.rounds is not None:
        evidence["rounds"] = evidence_to_dict(own.rounds)
    if own.patterns is not None:
        evidence["patterns"] = own.patterns.tolist()
    totals = mechanism.totals.stated
    totals.pop("count_step", None)
    return {
        "question": QUESTIONS.write(question),
        "budget": budget_to_dict(terms.budget),
        "relation": relation_to_dict(terms.relation),
        "error": StreamView(terms).measure,
        "strategy": mechanism.strategy,
        "reason": mechanism.reason,
        **_noise_to_dict(terms.name, mechanism, totals),
        "evidence": evidence,
        **stated(mechanism.participation),
        **compared_to_dict(terms.alternatives),
    }


def _noise_to_dict(
    name: str, mechanism: AbstractStreamMechanism, totals: dict[str, Any]
) -> dict[str, Any]:
    if isinstance(mechanism, StreamMechanism):
        pair, own = PAIRS.write(mechanism.pair), SHAPES.write(mechanism.shape)
        return {"pair": pair, "noise": {**own, **totals, "cover": mechanism.cover.tolist()}}
    assert isinstance(mechanism, PureStreamMechanism)  # noqa: S101 (there are two)
    noise = mechanism.noise
    added = noise.multiples if isinstance(noise, LatticeNoise) else noise
    added = noise.own if isinstance(noise, SteppedNoise) else added
    return {
        "mechanism": name,
        "pair": SUMS.write(mechanism.pair),
        "noise": {**added_to_dict(name, added), **totals},
    }


def stated(participation: Participation) -> dict[str, Any]:
    """Return the fields of a participation, none where one person adds to one round."""
    return {} if participation == ONE else {"participation": participation.to_dict()}


def terms_from_dict(fields: dict[str, Any], domain: AbstractDomain | None = None) -> Terms:
    """Return the terms that `terms_to_dict` described; every field is checked as if it were new.

    Args:
        fields: what it wrote.
        domain: the set, where the fields only name it.

    Raises:
        LownoiseError, ValueError, TypeError, KeyError: where they are damaged, or reveal more than
            their budget; see `codec.guarded`.
    """
    asked, noise, evidence = fields["question"], fields["noise"], fields["evidence"]
    expect("question.kind", asked["kind"], (KIND,))
    relation = checked_relation(relation_from_dict(fields["relation"]))
    expect("error", fields["error"], tuple(ORDERS))
    question: Running = QUESTIONS.read(with_program(asked, domain))
    workload, values = question.workload, question.values
    chosen = coordinates_from_dict(noise, spanned(values.domain, relation))
    relation.check(values.domain, chosen)
    r = chosen.pivots.size
    step = numbers(noise["step"], "noise.step", r)
    if not np.all(step > 0):
        raise FileError("noise.step is not above 0")
    block = evidence["block"]
    if isinstance(block, bool) or not isinstance(block, int) or not 1 <= block <= workload.rounds:
        raise FileError(f"evidence.block={quoted(block)} is no number of rounds of the stream")
    rounds = None
    if "rounds" in evidence:
        if block > LARGEST_DENSE or (block < workload.rounds and not workload.toeplitz):
            raise FileError(f"evidence.block={block} is no block of the workload")
        rounds = evidence_from_dict(evidence["rounds"], block)[0]
    patterns = None
    if "patterns" in evidence:
        patterns = whole_numbers(evidence["patterns"], "evidence.patterns", (2,))
    own = StreamEvidence(
        evidence_from_dict(evidence["changes"], values.domain.dimension)[0], rounds, block, patterns
    )
    participation = Participation.from_dict(fields.get("participation"))
    own.check(participation, signed=unlike_signs(values.domain, relation))
    totals = round_totals(values, relation, chosen, step, multipliers_of(noise))
    name = fields.get("mechanism", GAUSSIAN)
    expect("mechanism", name, (GAUSSIAN, *MECHANISMS))
    wide = totals.spelled if name == "geometric" else None
    if not (
        _are_powers(step)
        or (wide is not None and np.all(wide >= step) and _are_powers(wide / step))
    ):
        raise FileError(
            "noise.step is not made of powers of two, or such parts of what values are apart by"
        )
    compared = fields.get("compared")
    terms = Terms(
        question=question,
        budget=budget_from_dict(fields["budget"]),
        order=ORDERS[fields["error"]],
        mechanism=_mechanism(fields, name, totals, workload, participation),
        evidence=own,
        name=name,
        alternatives=compared_from_list(compared, name) if compared else Comparison(),
    )
    if not terms.within_budget_as_read:
        raise FileError("noise is too small for the budget")
    with without_contents():  # which are not compared: they have been read
        codec.expect_meant(fields, terms_to_dict(terms))
    return terms


def _mechanism(
    fields: dict[str, Any],
    name: str,
    totals: MeanTotals,
    workload: AbstractStreamWorkload,
    participation: Participation,
) -> AbstractStreamMechanism:
    noise, r = fields["noise"], totals.coordinates.pivots.size
    strategy = _words("strategy", fields["strategy"], _LONGEST_NAME)
    reason = _words("reason", fields["reason"], _LONGEST_REASON)
    if name == GAUSSIAN:
        cover = numbers(noise["cover"], "noise.cover", r)
        check_width(cover, "cover")
        return StreamMechanism(
            totals=totals,
            pair=_pair(fields["pair"], workload),
            shape=shape_from_dict(noise, r),
            cover=cover,
            strategy=strategy,
            reason=reason,
            participation=participation,
        )
    added = added_from_dict(noise, name, round_codes(totals), r)
    if name == "geometric":  # its numbers are multiples of what codes are apart by
        if totals.apart is None or not isinstance(added, GeometricNoise):
            raise FileError("noise in whole numbers is for listed values, all of which move")
        added = LatticeNoise(added, totals.apart)
    if name == "staircase":  # its ε is what levels share
        if not isinstance(added, StaircaseNoise):
            raise FileError("a staircase of a stream is of one number, which moves")
        added = SteppedNoise(added)
    return PureStreamMechanism(
        totals=totals,
        pair=SUMS.read(fields["pair"], workload),
        noise=added,
        strategy=strategy,
        reason=reason,
        participation=participation,
    )


def expect_size(fields: dict[str, Any], largest: int = LARGEST) -> None:
    """Refuse terms that a small file can make long to read, before anything is made of them.

    Args:
        fields: what `terms_to_dict` wrote; of other terms nothing is said.
        largest: the most numbers in the arrays, rounds of which noise is kept, and pairs of rounds
            that evidence speaks of.

    Raises:
        FileError: where there are more.
    """
    asked = fields.get("question")
    if not isinstance(asked, dict) or asked.get("kind") != KIND:
        return
    workload, pair, evidence = asked["workload"], fields["pair"], fields["evidence"]
    patterns = evidence.get("patterns", [])
    block = evidence["block"] if "rounds" in evidence or patterns else 0  # else it says nothing
    shapes = [own["shape"] for part in (workload, pair) for own in part.values() if _packed(own)]
    counts = [
        ("numbers", sum(math.prod(abs(int(n)) for n in shape) for shape in shapes)),
        ("rounds", 0 if pair["kind"] in _SHORT else workload.get("rounds", 0)),
        ("pairs of rounds", block**2),
        ("rounds in patterns of evidence", len(patterns) * block),
    ]
    for what, count in counts:
        if count > largest:
            raise FileError(
                f"the stream has {counted(count)} {what}, more than are read from a file that may "
                "be anybody's; where you trust it, give that number as largest=",
            )


def _are_powers(numbers: Vector) -> bool:
    """Return whether all are powers of two."""
    return bool(np.all(np.frexp(numbers)[0] == 0.5))  # noqa: PLR2004


def _packed(value: object) -> bool:
    return isinstance(value, dict) and "shape" in value


def document(terms: Terms) -> str:
    """Return the terms as a JSON document, with what follows from them; `ln.verify` checks it.

    Raises:
        FileError: where a part has no form in a file.
    """
    return codec.dump("plan", {"terms": terms_to_dict(terms), "derived": derived(terms)})


def derived(terms: Terms) -> dict[str, Any]:
    """Return what follows from the terms, for the readers of a file."""
    found = stored.derived(terms)
    del found["objective"]  # which is the error
    return found


def _pair(fields: dict[str, Any], workload: AbstractStreamWorkload) -> AbstractPair:
    found = PAIRS.read(fields, workload)
    if fields["kind"] not in _SHORT and workload.rounds > _MOST_KEPT:
        raise FileError(f"pair keeps noise of {workload.rounds:,} rounds, more than 2^26")
    return found


def _words(field: str, value: object, most: int) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= most:
        raise FileError(f"{field} is no short text")
    return value


TERMS = stored.TermsCodec(terms_from_dict, derived, expect_size)
