# SPDX-License-Identifier: Apache-2.0
"""Plans and releases as JSON: versioned, exact, and without a word that is not data.

A file holds what was chosen (`terms`) and, for its readers, what follows from it (`derived`).
Reading takes the first and computes the second again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tempfile
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import FileError, LownoiseError, PlanError, told
from lownoise.noise import GaussianMechanism
from lownoise.noise.codes import coding_for
from lownoise.noise.grid import MeanGrid
from lownoise.numbers.arguments import checked_order
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.questions import Mean
from lownoise.release.encoding import (
    coordinates_from_dict,
    coordinates_to_dict,
    evidence_from_dict,
    evidence_to_dict,
    expect,
    numbers,
    relation_from_dict,
    relation_to_dict,
    shape_from_dict,
    shape_to_dict,
)
from lownoise.release.terms import Terms
from lownoise.sensitivity.relations import RELATIONS, Change
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict, oracle_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.release.guarantees import AbstractTerms
    from lownoise.sets.domains import AbstractDomain

VERSION = 2  # of what is written; all from 1 on are read, see docs/file-versions.md
_FORMAT = re.compile(r"lownoise\.([a-z]+)/([1-9][0-9]{0,8})")
_LEAST_WEIGHT = 2.0**-900  # beside which no number of a certificate vanishes
_FINEST = 2.0**-52
T = TypeVar("T")
_DAMAGE = (
    LownoiseError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


def dump(kind: str, content: dict[str, Any]) -> str:
    """Return `content` as a document of `kind` ("plan" or "release")."""
    document = {"format": f"lownoise.{kind}/{VERSION}", **content}
    document["digest"] = digest(document)
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of the document without its digest: a guard against accidents."""
    content = {k: v for k, v in document.items() if k != "digest"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def load(kind: str, text: str) -> dict[str, Any]:
    """Return the document.

    Raises:
        FileError: where it is no document of this kind, or of a newer version.
    """
    document = json.loads(text)
    expect_format(document, (kind,))
    return dict(document)


def expect_format(document: object, kinds: tuple[str, ...]) -> None:
    """Refuse what is no document of these kinds, or of a newer version.

    Raises:
        FileError: as said.
    """
    found = document.get("format") if isinstance(document, dict) else None
    stated = _FORMAT.fullmatch(found) if isinstance(found, str) else None
    if stated is None or stated[1] not in kinds:
        wanted = " or ".join(f"lownoise.{kind}/{VERSION}" for kind in kinds)
        raise FileError(f"format={told(found)} is not {wanted}; give a file of that kind")
    if int(stated[2]) > VERSION:
        raise FileError(
            f"format={told(found)} is newer than this lownoise, which reads up to version "
            f"{VERSION}; upgrade lownoise",
        )


def guarded(read: Callable[[], T]) -> T:
    """Return read(), with every way to be malformed turned into one clear error.

    Raises:
        FileError: where the document is damaged.
    """
    try:
        with np.errstate(all="ignore"):  # what overflows is refused, not warned about
            return read()
    except FileError:
        raise
    except _DAMAGE as error:
        reason = str(error) if isinstance(error, LownoiseError) else "a field is missing or wrong"
        raise FileError(f"the document is damaged: {reason}; use an unedited file") from None


def write(path: Path, text: str) -> None:
    """Write `text` to `path`, all of it or nothing.

    Raises:
        FileError: where the folder cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            dir=path.parent,
            prefix=f".{path.name}.",
            delete=False,
        ) as draft:
            try:
                draft.write(text)
                draft.flush()
                os.fsync(draft.fileno())
                Path(draft.name).replace(path)
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise FileError(
            f"file={path} cannot be written ({error.strerror}); give a folder that can be written",
        ) from None


@singledispatch
def terms_to_dict(terms: object) -> dict[str, Any]:
    """Return what was chosen, as JSON values.

    Raises:
        PlanError: where the terms are of no known kind.
    """
    raise PlanError(f"terms={type(terms).__name__} have no form in files; plan again")


@singledispatch
def derived(terms: object) -> dict[str, Any]:
    """Return what follows from the terms, for the readers of a file.

    Raises:
        PlanError: where the terms are of no known kind.
    """
    raise PlanError(f"terms={type(terms).__name__} have no form in files; plan again")


@singledispatch
def program(terms: object) -> AbstractDomain | None:
    """Return the domain that a file of these terms only names, None where it holds all of it."""
    return None


@program.register(Terms)
def _(terms: Terms) -> AbstractDomain | None:
    return oracle_of(terms.question.domain)


def plan_document(terms: object) -> str:
    """Return the document of a plan."""
    return dump("plan", {"terms": terms_to_dict(terms), "derived": derived(terms)})


@terms_to_dict.register
def _(terms: Terms) -> dict[str, Any]:
    question, mechanism = terms.question, terms.mechanism
    return {
        "question": mean_to_dict(question),
        "budget": budget_to_dict(terms.budget),
        "relation": relation_to_dict(mechanism.relation),
        "size": mechanism.size,
        "order": "inf" if math.isinf(terms.order) else terms.order,
        "weights": terms.weights.tolist(),
        "noise": {
            **shape_to_dict(mechanism.noise),
            "step": mechanism.query.coding.step.tolist(),
            "count_step": mechanism.count_step,
            **({} if mechanism.hint is None else {"reach": mechanism.hint.tolist()}),
            **coordinates_to_dict(mechanism.coordinates),
        },
        "evidence": evidence_to_dict(terms.dual, terms.plain_dual),
    }


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


def mean_grid_from_dict(fields: dict[str, Any], question: Mean, noise: dict[str, Any]) -> MeanGrid:
    """Return how records become integers: the grid, the relation and the public size, checked.

    Args:
        fields: of the terms: `relation` and `size`.
        question: what is asked.
        noise: `step`, `count_step` and the summed coordinates; `about`, "domain", where codes are
            taken about the domain's center and not the question's.
    """
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
    return MeanGrid(
        query=TotalsQuery(coding_for(question, chosen, step, about), question.drops_missing),
        relation=relation,
        size=size,
        count_step=count_step,
        coordinates=chosen,
        hint=hint_of(noise),
        center=None if about is None else question.center,
    )


def terms_from_dict(fields: dict[str, Any], domain: AbstractDomain | None = None) -> Terms:
    """Return the terms that `terms_to_dict` described; every field is checked as if it were new.

    Args:
        fields: what it wrote.
        domain: the set, where the fields only name it.
    """
    expect_gaussian(fields)
    asked, noise, evidence = fields["question"], fields["noise"], fields["evidence"]
    expect("question.kind", asked["kind"], ("mean",))
    question = mean_from_dict(asked, domain)
    grid = mean_grid_from_dict(fields, question, noise)
    counted = grid.count_step is not None
    answers, integers = len(question.columns) + counted, grid.length
    weights = numbers(fields["weights"], "weights", answers)
    if not np.all((weights >= _LEAST_WEIGHT) & (weights <= 1 / _LEAST_WEIGHT)):
        raise FileError("weights are not all from 2^-900 to 2^900")
    dual, plain_dual = evidence_from_dict(evidence, answers)
    terms = Terms(
        question=question,
        budget=budget_from_dict(fields["budget"]),
        order=order_from(fields["order"]),
        weights=weights,
        dual=dual,
        plain_dual=plain_dual,
        mechanism=GaussianMechanism(
            query=grid.query,
            relation=grid.relation,
            size=grid.size,
            count_step=grid.count_step,
            noise=shape_from_dict(noise, integers),
            coordinates=grid.coordinates,
            hint=grid.hint,
        ),
    )
    if not terms.mechanism.event.mu <= terms.parameter:
        raise FileError("noise is too small for the budget")
    return terms


def is_pure(fields: dict[str, Any]) -> bool:
    """Return whether a file's terms are those of a pure mechanism, which they name."""
    return "mechanism" in fields


def expect_gaussian(fields: dict[str, Any]) -> None:
    """Refuse terms of another kind of noise.

    Raises:
        FileError: where they name a pure mechanism.
    """
    if is_pure(fields):
        raise FileError(
            "the document names a pure mechanism; read it with ln.PurePlan.from_json or "
            "ln.PureRelease.from_json",
        )


def hint_of(noise: dict[str, Any]) -> Vector | None:
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


@derived.register
def _(terms: Terms) -> dict[str, Any]:
    return {
        "names": list(terms.names),
        "standard_deviation": terms.standard_deviation.tolist(),
        **promises(terms),
    }


def promises(terms: AbstractTerms) -> dict[str, Any]:
    """Return what every release promises, as JSON values."""
    certificate, cost = terms.certificate, terms.cost
    return {
        "error": terms.error,
        "objective": terms.objective,
        "certificate": {"lower": certificate.lower, "upper": certificate.upper},
        "lower_bound": terms.lower_bound,
        "cost": {
            "mu": cost.mu,
            "rho": cost.rho,
            "epsilon": cost.epsilon,
            "delta": cost.delta,
        },
    }


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
