# SPDX-License-Identifier: Apache-2.0
"""Documents, folders of them, and texts, verified: what is read, and what is checked of it.

What terms guarantee, checked anew: what is covered, what it costs, and both bounds.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.certificate.witness import NEAR
from lownoise.errors import FileError, LownoiseError, path_of, quoted
from lownoise.kinds import resolved
from lownoise.privacy import ApproxDP
from lownoise.privacy.readings import spent, within
from lownoise.questions import QUESTIONS
from lownoise.release import codec, encoding, folders, stored
from lownoise.release.codec import LARGEST, Origin
from lownoise.release.members import DOCUMENT, Members, check_joint, joint_digest, joint_event
from lownoise.release.release import Release
from lownoise.release.verification.checks import (
    Check,
    Verification,
    as_stated,
    holding,
    near,
    off_of,
)
from lownoise.sets.domains import AbstractCompound, Points
from lownoise.sets.domains.encoding import expect_oracle, of_program

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.privacy import Event
    from lownoise.release.comparison import Alternative
    from lownoise.release.stored import TermsCodec
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain

_COVERED = "noise covers what one record can change"
_COVERED_UNITS = "noise covers what the rows of one unit can change"


def guarantees(terms: Terms) -> list[Check]:
    """Return a check for each thing that the terms guarantee."""
    found = _gaussian(terms) if terms.gaussian else _pure(terms)
    if terms.shared is not None:
        said = f"cost of {terms.shared.uses:,} releases within {terms.asked}"
        found.append(Check(said, within(terms.asked, terms.charged), f"{terms.charged}"))
    found += [_compared(terms, own) for own in terms.alternatives if own.mechanism == terms.name]
    if terms.mechanism.most_rounding is not None:
        found.append(_rounding(terms.mechanism.rounding, terms.mechanism.most_rounding))
    return found


def _rounding(found: float, shown: float) -> Check:
    """Return whether the error that is stated, of noise alone, is that of the answers."""
    said = f"{found!r} deviations at most, of {shown!r}"
    return Check("answers are rounded finely beside the noise", found <= shown, said)


def _compared(terms: Terms, own: Alternative) -> Check:
    """Return whether what is said of the mechanism beside others is what its terms say."""
    # before 0.2.0 files compared what at p > 2 is a bound, and said nothing of prices
    off = off_of(terms.mechanism)
    holds = any(near(own.error, error, off=off) for error in (terms.compared, terms.error))
    if own.readings:
        cost = terms.cost
        aside = 0.0 if terms.gaussian else cost.delta
        stated = (own.rho, own.mu, own.delta)
        found = (cost.rho, cost.mu, aside)
        holds &= own.readings == terms.readings and all(map(near, stated, found))
    return Check("mechanism as compared", holds, f"{terms.name}: error {terms.compared!r}")


def _covered(terms: Terms) -> str:
    """Return the name of what matters the most."""
    return _COVERED if getattr(terms, "privacy_unit", None) is None else _COVERED_UNITS


def _pure(terms: Terms) -> list[Check]:
    budget = terms.budget
    cost, delta = terms.cost, budget.delta if isinstance(budget, ApproxDP) else 0.0
    return [
        Check(
            _covered(terms),
            terms.within_budget_as_read,
            f"epsilon {cost.epsilon!r}, rounded up, of {terms.parameter!r} allowed; "
            f"delta {cost.delta!r} of {delta!r}",
        ),
        _paid(terms, cost.event),
        _above(terms.error, terms.lower_bound),
    ]


def _gaussian(terms: Terms) -> list[Check]:
    allowed, mu = terms.parameter, terms.mechanism.loss.mu
    lower, upper = terms.certificate.lower, terms.certificate.upper
    return [
        Check(
            _covered(terms),
            terms.within_budget_as_read,
            f"radius {mu!r}, rounded up, of {allowed!r} allowed",
        ),
        _paid(terms, terms.cost.event),
        Check(
            "certificate brackets the least noise", 0 <= lower <= upper, f"{lower!r} to {upper!r}"
        ),
        _above(terms.error, terms.lower_bound),
    ]


def exactly(terms: Terms, fields: dict[str, Any]) -> list[Check]:
    """Return what is checked in whole numbers and fractions, where a file lets it be."""
    if not terms.gaussian:
        return []
    found, mu = [], terms.mechanism.loss.mu
    covered = terms.view.covers_exactly
    if covered is not None:
        said = f"the sum of (change/deviation)² of a box is at most {mu!r}²"
        found.append(Check("noise covers it in exact fractions", covered, said))
    given = encoding.witness_from_dict(fields["evidence"])
    if given is not None:
        own, least = terms.witnessed(given)
        said = f"{own!r} by the witness, {least!r} by the evidence, at μ = 1"
        enough = own > 0 and own >= least * (1 - NEAR)
        found.append(Check("lower bound in exact whole numbers", enough, said))
    return found


def clipped(terms: Terms) -> list[Check]:
    """Return what becomes of records between listed points, which files cannot tell from a hull's.

    Version 0.1 wrote combinations of lists as lists, and moved records to the nearest point.
    """
    domain = getattr(getattr(terms, "question", None), "domain", None)
    if isinstance(domain, Points):
        said = f"each counts as the nearest of {len(domain.points):,} listed points"
    elif isinstance(domain, AbstractCompound) and domain.lists:
        said = "a part of each counts as the nearest of the points listed for it"
    else:
        return []
    return [Check("records moved as written", holds=True, found=f"{said}, also between them")]


def _paid(terms: Terms, event: Event) -> Check:
    """Return whether the budget pays for it, but for the last bits of who wrote the file."""
    budget, nearly = terms.budget, terms.within_budget_as_read and not terms.within_budget
    said = f"{spent(budget, event)}"
    return Check(f"cost within {budget}", nearly or within(budget, event), said)


def _above(error: float, bound: float) -> Check:
    return Check("error is above the lower bound", bound <= error, f"{error!r} above {bound!r}")


_MARGINALS = "marginals"
_LOCAL_KIND, _LOCAL_TERMS = "local", "local_model.terms:LocalTerms"  # of a room above this one
_STREAM_FILE = "streams.store:StreamFile"
_PLAN = frozenset({"format", "terms", "derived", "digest"})
_LOCAL = frozenset({"format", "terms", "derived", "curator", "digest"})
_FIELDS = {"plan": _PLAN, "release": _PLAN | {"integers", "spend", "created", "versions"}}


def verify(
    source: str | PathLike[str],
    *,
    domain: AbstractDomain | None = None,
    largest: int = LARGEST,
) -> Verification:
    """Check the file of a plan, a release or a stream, or a folder of several releases.

    It recomputes everything that follows from the terms: that the noise covers the sensitivity, the
    cost, the distance to the least noise, and the answers from the integers. In a folder of several
    questions on one budget it checks each member, and the total cost.

    It does not prove who wrote the file. The digest has no key, so `created`, `versions`, `spend`
    and the integers are only as reliable as the writer. Sign the file if that matters.

    Args:
        source: the path of a plan.json or a release.json, of its folder, or of a folder of several
            questions; the text of a file, as `Plan.to_json` or `Release.to_json` returns it; or the
            path of a stream's file, which is not changed.
        domain: the set, if it is or contains an `ln.Oracle`, which is not stored in files.
        largest: the most numbers of a stream to read: of its factors, of rounds with noise of their
            own, of pairs of rounds in its evidence. A short file can need much time and memory, so
            a larger one is refused.

    Returns:
        All checks. `bool()` of it is whether all hold; `print` shows each.

    Raises:
        FileError: where it cannot be read, is no plan, release or stream that this version reads,
            names an oracle that was not given, or is of a stream larger than `largest`.
    """
    if isinstance(source, str) and (not source.strip() or source.lstrip()[0] in "{["):
        return _of_text(source, domain, largest)
    if (together := _folder_of_several(source)) is not None:
        return _several(together, domain, largest)
    return _of_file(source, domain, largest)


def _of_file(
    source: str | PathLike[str], domain: AbstractDomain | None, largest: int
) -> Verification:
    """Return the checks of one document, and of the integers beside it."""
    file = _meant(source)
    text = _of_stream(file, domain, largest) or _opened(file, piped=file == Path(source))
    try:
        found = _of_text(text, domain, largest)
    except FileError as error:
        raise FileError(f"file={file}: {error}") from None
    document = _document(text)
    released = str(document["format"]).startswith("lownoise.release")
    if not released or document["terms"]["question"].get("kind") != _MARGINALS:
        return found
    return Verification((*found.checks, _integers(file.parent)))


def _folder_of_several(path: str | PathLike[str]) -> Path | None:
    """Return the folder of plans or releases on one budget that a path means, if any."""
    with suppress(OSError, ValueError, TypeError):
        file = Path(path)
        folder = file.parent if file.name == DOCUMENT else file
        return folder if (folder / DOCUMENT).exists() else None
    return None


def _several(folder: Path, domain: AbstractDomain | None, largest: int) -> Verification:
    """Return the checks of all members of a folder, and of what they are together."""
    members = codec.guarded(lambda: Members.of(folder))
    found: list[Check] = []
    every: dict[str, Terms] = {}
    payers: list[Any] = []
    for place, names in members.by_place(members.kind).items():
        document = codec.guarded(partial(_document_at, folder / place, members.kind))
        named = codec.guarded(partial(_of_program, document))
        given = domain if named else None
        own = _of_file(folder / place, given, largest)  # and no folder of several in this one
        whose = ", ".join(map(quoted, names))
        found += [replace(check, name=f"{whose}: {check.name}") for check in own.checks]
        try:
            read = partial(stored.terms_from_dict, document["terms"], given)
            terms = codec.guarded(read)
            same = codec.guarded(partial(members.holds, place, terms))
        except LownoiseError as error:
            found.append(Check(f"{whose}: as listed", holds=False, found=str(error)))
            continue
        found.append(Check(f"{whose}: as listed", same, f"plan {stored.plan_digest(terms)}"))
        every[place] = terms
        payers.append(document.get("spend"))
    return Verification((*found, *_jointly(every, members, payers)))


def _jointly(every: dict[str, Terms], members: Members, payers: list[Any]) -> list[Check]:
    """Return the checks of what members are together."""
    own = list(every.values())

    def within_budget() -> str:
        check_joint(own, members.budget)
        return f"{spent(members.budget, joint_event(own))}"

    def split() -> str:
        members.check_split(every)
        return "each share is the part of its plan's own budget"

    one = all(payer == payers[0] for payer in payers)
    said = f"an account's entry says: together {joint_digest(own)}"
    return [
        holding("together within the budget", within_budget),
        *([holding("split as stated", split)] if members.kind == "plans" else []),
        Check("one entry pays", one, said),
    ]


def _meant(path: str | PathLike[str]) -> Path:
    """Return the file that a path means, which may be its folder."""
    file = path_of(path, "file")
    with suppress(OSError, ValueError):
        if file.is_dir():
            names = (folders.DOCUMENT, "plan.json")
            return next((file / name for name in names if (file / name).exists()), file / names[0])
    return file


def _of_stream(file: Path, domain: AbstractDomain | None, largest: int) -> str | None:
    """Return the document of a stream that lives in a file, which is left as it is; or None.

    Only SQLite opens it: a handle of another kind would drop this process's locks on it.
    """

    def check(document: dict[str, Any]) -> None:
        expect_oracle(document["terms"]["question"], domain)
        _check_size(document, largest)

    found: str | None = None
    if _is_file(file):
        found = resolved(_STREAM_FILE).stated(file, domain, check)
    return found


def _is_file(path: Path) -> bool:
    with suppress(OSError):
        return path.is_file()
    return False


def _opened(file: Path, *, piped: bool) -> str:
    """Return the text in a file."""
    try:
        return codec.text_in(file, piped=piped)
    except (OSError, ValueError):
        raise FileError(
            f"file={quoted(str(file))} cannot be read; "
            "give a plan.json or release.json, its folder, or its text, or a stream's file",
        ) from None


def _of_text(text: str, domain: AbstractDomain | None, largest: int) -> Verification:
    """Return the checks of a document."""
    document = codec.guarded(lambda: _document(text))
    kind = str(document["format"]).partition("/")[0].removeprefix("lownoise.")
    digest = Check(
        "unedited",
        document.get("digest") == codec.digest(document),
        "the digest of the file's content: no accident changed it; it has no key",
    )
    if kind == _LOCAL_KIND:
        return Verification((digest, *_local(document, domain, largest)))
    codec.guarded(lambda: expect_oracle(document["terms"]["question"], domain))
    codec.guarded(lambda: _check_size(document, largest))
    try:
        terms, derived = codec.guarded(lambda: _read(kind, text, document, domain))
        found = codec.guarded(lambda: guarantees(terms))
    except LownoiseError as error:
        return Verification((digest, Check("terms", holds=False, found=str(error))))
    found += codec.guarded(lambda: exactly(terms, document["terms"]))
    found += clipped(terms)
    beside = sorted(quoted(name) for name in document if name not in _FIELDS[kind])
    found += as_stated(document.get("derived"), derived, beside, off_of(terms.mechanism))
    return Verification((digest, *found))


def _local(document: dict[str, Any], domain: AbstractDomain | None, largest: int) -> list[Check]:
    """Return the checks of a local plan, and of its lower bound's proof where that is in it."""
    proof = document.get("curator")
    if proof is not None:
        proved = _of_text(json.dumps(proof), domain, largest).checks
    try:
        terms = codec.guarded(lambda: resolved(_LOCAL_TERMS).of_document(document, domain))
        found: list[Check] = codec.guarded(terms.checks)
        derived = codec.guarded(terms.derived)
    except LownoiseError as error:
        return [Check("terms", holds=False, found=str(error))]
    codec.guarded(lambda: codec.expect_meant(document["terms"], terms.stated))
    beside = sorted(quoted(name) for name in document if name not in _LOCAL)
    found += as_stated(document.get("derived"), derived, beside)
    if proof is not None:
        found += [replace(own, name=f"proof: {own.name}") for own in proved]
    return found


def _read(
    kind: str, text: str, document: dict[str, Any], domain: AbstractDomain | None
) -> tuple[Terms, dict[str, Any]]:
    """Return the terms of a document, and all that follows from it."""
    asked, own = document["terms"]["question"]["kind"], _codec(document)
    if kind == "release" and own is not stored.TERMS:
        raise FileError(f"a {asked} has no file of a release; give its plan")
    if kind == "release" and asked != _MARGINALS:
        release = Release.from_json(text, domain)
        return release.terms, release.derived()
    terms = own.read(document["terms"], domain)
    if kind == "release":  # its integers lie beside it
        Origin.from_dict(document)
        folders.expect_integers(document)
    return terms, own.derived(terms)


def _codec(document: dict[str, Any]) -> TermsCodec:
    """Return how a document's terms are read; of a kind that is unknown, by what refuses it."""
    asked = document["terms"]["question"]
    kind = asked.get("kind") if isinstance(asked, dict) else None
    if not isinstance(kind, str) or kind not in QUESTIONS:
        return stored.TERMS
    found: TermsCodec = resolved(QUESTIONS[kind].of.parts.codec)
    return found


def _check_size(document: dict[str, Any], largest: int) -> None:
    """Refuse what a small file makes long to read, before anything is made of it."""
    check = _codec(document).check_size
    if check is not None:
        check(document["terms"], largest)


def _integers(folder: Path) -> Check:
    """Return whether the integers of marginals are those that their document was written for."""

    def read() -> str:
        Release.load(folder)
        return f"the digest of {folders.INTEGERS}"

    return holding("integers as released", read)


def _of_program(document: dict[str, Any]) -> bool:
    return of_program(document["terms"]["question"])


def _document_at(path: Path, kinds: str) -> dict[str, Any]:
    return _document(folders.read_document(path), (kinds.removesuffix("s"),))


def _document(text: str, kinds: tuple[str, ...] = ("plan", "release", "local")) -> dict[str, Any]:
    document = codec.parsed(text)
    codec.expect_format(document, kinds)
    return dict(document)
