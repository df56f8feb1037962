# SPDX-License-Identifier: Apache-2.0
"""Several plans or releases on one budget: what they reveal together, and the file that names them.

`together.json` lists each member's file and two digests: of its plan, which the account's entry
names too, and of its document. So a folder says which members it has, and an entry whose they are.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, final

from lownoise.errors import FileError, PlanError, path_of, quoted
from lownoise.kinds import positive
from lownoise.numbers.rounding import decimal_up, exact, root_up
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.privacy.events import GaussianEvent, PureNoiseEvent
from lownoise.privacy.readings import within
from lownoise.release import codec, folders
from lownoise.release.stored import plan_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from lownoise.privacy import Budget, Event
    from lownoise.release.terms import Terms

DOCUMENT = folders.SEVERAL
_KIND = "together"
_KINDS = ("releases", "plans")
_SHARES, _IMPORTANCE, _APART = _SPLIT = ("shares", "importance", "apart")  # of plans
_NEAR = 1e-9  # of a share: more than rounding takes
_LONGEST = 60  # letters of questions' names in that of a file
_SHORT = 16  # hexadecimal digits of a digest, in a ledger
T = TypeVar("T")


def once(owned: Mapping[str, T]) -> dict[tuple[str, ...], T]:
    """Return each value once, by all names that have it, in their order.

    Examples:
        >>> once({"a": (one := [1]), "b": [2], "c": one})
        {('a', 'c'): [1], ('b',): [2]}
    """
    names: dict[int, list[str]] = {}
    for name, own in owned.items():
        names.setdefault(id(own), []).append(name)
    return {tuple(own): owned[own[0]] for own in names.values()}


def joint_event(every: Sequence[Terms]) -> Event:
    """Return what releases of one table reveal together, rounded up.

    Raises:
        PlanError: where their noise is not all Gaussian, or all pure.
    """
    events = [terms.cost.event for terms in every]
    if all(isinstance(own, GaussianEvent) for own in events):
        return GaussianEvent(root_up(_sum(own.as_mu_square() for own in events)))
    if not all(isinstance(own, PureNoiseEvent) for own in events):
        raise PlanError("noise is neither all Gaussian nor all pure; give one kind of mechanism")
    pairs = [own.as_pair() or (math.inf, 0.0) for own in events]
    return PureNoiseEvent(
        epsilon=decimal_up(sum((max(exact(e), Fraction(e)) for e, _ in pairs), Fraction(0))),
        rho=decimal_up(_sum(own.as_rho() for own in events)),
        mu=decimal_up(Fraction(root_up(_sum(own.as_mu_square() for own in events)))),
    )


def _sum(parts: Iterable[Fraction | None]) -> Fraction:
    return sum((own for own in parts if own is not None), Fraction(0))


def check_joint(every: Sequence[Terms], budget: Budget) -> None:
    """Refuse releases that reveal more together than a budget, or are of different relations.

    Raises:
        PlanError: as said.
    """
    if not every:
        raise PlanError("no member could be read; give a folder as it was written")
    if not within(budget, joint_event(every)):
        raise PlanError(f"releases reveal more together than {budget}; plan them anew")
    first = every[0]
    for terms in every:
        if terms.relation != first.relation or terms.size != first.size:
            raise PlanError("releases are of different relations or sizes; plan them together")
        if terms.neighbours != first.neighbours:
            raise PlanError("releases hide rows of different units; plan them together")


def joint_note(every: Sequence[Terms]) -> str:
    """Return what a ledger says of a spend on several: a digest of their plans, and their notes."""
    return f"together {joint_digest(every)}: {'; '.join(own.view.note for own in every)}"[:200]


def joint_digest(every: Sequence[Terms]) -> str:
    """Return what tells several plans from any others, short."""
    digests = json.dumps([plan_digest(own) for own in every])
    return hashlib.sha256(digests.encode()).hexdigest()[:_SHORT]


def write_members(
    folder: Path,
    kind: str,
    owned: Mapping[str, Any],
    budget: Budget,
    **split: Any,  # noqa: ANN401 (JSON)
) -> None:
    """Write plans or releases into an empty folder, each once, and what names them.

    Args:
        folder: where they go.
        kind: "releases" or "plans".
        owned: the members, by the names of their questions.
        budget: what all may reveal.
        split: what else is said of plans.

    Raises:
        FileError: where one cannot be written.
    """
    places: dict[str, str] = {}
    members = {}
    for i, (names, own) in enumerate(once(owned).items(), start=1):
        place = place_of(i, names, folder=kind == "releases" and own.terms.view.folder)
        own.save(folder / place)
        places |= dict.fromkeys(names, place)
        members[place] = _digests(own.terms, folder / place)
    document = {
        "budget": budget_to_dict(budget),
        kind: {name: places[name] for name in owned},
        "members": members,
        **split,
    }
    codec.write(folder / DOCUMENT, codec.dump(_KIND, document))


def place_of(number: int, names: Iterable[str], *, folder: bool) -> str:
    """Return the name of a member beside others: of its folder, or of its file.

    Args:
        number: its place among them, from 1.
        names: of the questions that it answers; what has no place in a file's name is left out.
        folder: whether it is one.

    Examples:
        >>> place_of(2, ["pay, by sex", "age"], folder=False)
        '2-pay-by-sex-age.json'
    """
    said = "-".join(re.findall(r"[A-Za-z0-9_]+", " ".join(names)))[:_LONGEST].rstrip("-")
    return f"{number}-{said}".removesuffix("-") + ("" if folder else ".json")


def _digests(terms: Terms, path: Path) -> dict[str, str]:
    """Return the digest of a member's plan, and of its document as it is."""
    document = codec.parsed(folders.read_document(path))
    return {"plan": plan_digest(terms), "document": codec.digest(document)}


@final
@dataclass(frozen=True, eq=False)
class Members:
    """What a folder says of its members.

    Args:
        folder: where they are.
        fields: of its document.
        kind: "releases" or "plans".
        places: the file or the folder of each question, by name.
        budget: what all may reveal.
    """

    folder: Path
    fields: Mapping[str, Any]
    kind: str
    places: Mapping[str, str]
    budget: Budget

    @classmethod
    def of(cls, path: str | PathLike[str]) -> Members:
        """Return what a folder says.

        Raises:
            FileError: where it is no such folder, or was edited.
        """
        folder = path_of(path, "folder")
        try:
            text = codec.text_in(folder / DOCUMENT)
        except (OSError, UnicodeDecodeError):
            raise FileError(f"folder={folder} has no {DOCUMENT}; give one that was saved") from None
        fields = codec.load(_KIND, text)
        kind = next((own for own in _KINDS if own in fields), _KINDS[0])
        own = {"format", "digest", "budget", kind, *(_SPLIT if kind == "plans" else ())}
        if {*fields} - {"members"} != own or not fields[kind]:  # of no older file
            raise FileError(f"{DOCUMENT} has other fields than it is written with")
        if fields["digest"] != codec.digest(fields):
            raise FileError(f"{DOCUMENT} was edited: its digest is another")
        places: dict[str, str] = {}
        for name, place in fields[kind].items():
            if not name.isprintable() or not name:
                raise FileError(f"{DOCUMENT}.{kind} names a question {quoted(name)}")
            i = len({*places.values()}) + 1
            named = isinstance(place, str) and re.fullmatch(
                rf"{i}(-[A-Za-z0-9_-]+)?(\.json)?", place
            )
            if not named and place not in places.values():  # nothing outside
                content = json.dumps(fields[kind])[:80]
                raise FileError(f"{DOCUMENT}.{kind}={content} is not as it is written")
            places[name] = place
        if "members" in fields and {*fields["members"]} != {*places.values()}:
            raise FileError(f"{DOCUMENT}.members are others than {kind} names")
        found = cls(folder, fields, kind, places, budget_from_dict(fields["budget"]))
        for word in _SPLIT if kind == "plans" else ():
            found.statement(word)
        return found

    def statement(self, word: str) -> Any:  # noqa: ANN401 (a number, or one by name)
        """Return what is said of plans: "shares" and "importance" by name, and "apart".

        Raises:
            FileError: where it is no number above 0, or there is not one for each name.
        """
        given = self.fields[word]
        if word == _APART:
            return positive(given, word)
        if {*given} != {*self.places}:
            raise FileError(f"{DOCUMENT}.{word} has not one number a question")
        return {name: positive(given[name], f"{word}[{quoted(name)}]") for name in self.places}

    def by_place(self, kind: str) -> dict[str, list[str]]:
        """Return each member's file or folder once, and the questions that it answers.

        Raises:
            FileError: where they are of another kind.
        """
        if kind != self.kind:
            raise FileError(f"folder={self.folder} has {self.kind}; load it as these")
        found: dict[str, list[str]] = {}
        for name, place in self.places.items():
            found.setdefault(place, []).append(name)
        return found

    def check(self, every: Mapping[str, Terms]) -> None:
        """Refuse members that are not those that were written, or reveal too much together.

        Args:
            every: the terms of each, by its file or folder.

        Raises:
            FileError, PlanError: as said.
        """
        for place, terms in every.items():
            if not self.holds(place, terms):
                raise FileError(f"{self.folder / place} is another than {DOCUMENT} lists")
        check_joint(list(every.values()), self.budget)
        self.check_split(every)

    def check_split(self, every: Mapping[str, Terms]) -> None:
        """Refuse shares of plans that are not the parts of μ² or of ε which these have.

        Args:
            every: the terms of each, by its file.

        Raises:
            FileError: as said.
        """
        if self.kind != "plans":
            return
        parts = {place: own.parameter ** (2 if own.gaussian else 1) for place, own in every.items()}
        whole = sum(parts.values())
        shares, matters = self.statement(_SHARES), self.statement(_IMPORTANCE)
        of = {place: matters[name] for name, place in self.places.items()}
        for name, place in self.places.items():
            if not math.isclose(shares[name], parts[place] / whole, rel_tol=_NEAR):
                raise FileError(f"shares[{quoted(name)}] is not the part that its plan has")
            if matters[name] != of[place]:
                raise FileError(f"importance[{quoted(name)}] is not that of its plan")

    def holds(self, place: str, terms: Terms) -> bool:
        """Return whether a member is the one that was written; True where an old file lists none.

        Args:
            place: its file or folder.
            terms: its terms.
        """
        if "members" not in self.fields:
            return True
        same: bool = self.fields["members"][place] == _digests(terms, self.folder / place)
        return same
