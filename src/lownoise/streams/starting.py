# SPDX-License-Identifier: Apache-2.0
"""A stream begins, once: it is paid for, its noise is drawn, its file is written; and goes on.

The account that paid for a stream follows it: whoever opens the file goes on where it stands.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final

from lownoise.errors import FileError, LedgerError, PlanError
from lownoise.privacy import Ledger, checked_ledger
from lownoise.release import codec
from lownoise.release.codec import Spend
from lownoise.release.execution import advised
from lownoise.sensitivity.relations import relation_name
from lownoise.streams.progress import KeptNoise, Progress, noise_from, noise_of
from lownoise.streams.store import StreamFile
from lownoise.streams.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Payer
    from lownoise.privacy.events import Event
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain
    from lownoise.streams.progress import AbstractNoise
    from lownoise.streams.store import Contents, Place


def start(
    terms: Terms,
    *,
    randomness: Randomness,
    ledger: Payer | None = None,
    path: str | PathLike[str] | None = None,
    asked: dict[str, Any] | None = None,
) -> Stream:
    """Pay, draw what noise is kept, write the file, and return the stream before its first round.

    Args:
        terms: what is guaranteed.
        randomness: where the noise comes from; `SystemRandomness()` for anything that is published.
        ledger: the account that pays for all rounds, or None.
        path: a new file that the stream lives in, or None.
        asked: what it was asked for, as JSON values, for a `resume`.

    Raises:
        PlanError: where the terms reveal more than their budget.
        LedgerError: where the account cannot pay; then nothing has been drawn.
        FileError: where the file exists or cannot be written; then nothing is spent.
    """
    if not terms.within_budget:
        raise PlanError("stream reveals more than its budget; make it anew with ln.stream")
    event, note = terms.cost.event, terms.view.note
    ledger = checked_ledger(ledger)
    name = relation_name(terms.relation)
    with advised(terms, ledger):
        number = ledger.reserve(event, note, asked=terms.budget, relation=name) if ledger else 0
    spend = Spend(ledger.dataset, number) if ledger else None
    file = account = None
    try:
        noise = noise_of(terms.mechanism, randomness)
        if path is not None:
            account = StreamAccount.of(ledger) if ledger else None
            file = _file(Path(path).absolute(), terms, asked or {}, spend, noise, account)
    except (FileError, PlanError, MemoryError):  # nothing was published, and nothing can be
        if ledger:
            with suppress(LedgerError):  # what cannot be cancelled counts
                ledger.cancel(number)
        raise
    if ledger:
        ledger.settle(number, stream=file.position() if file else None)
    return Stream(terms, noise, spend, file=file, account=account)


def _file(
    path: Path,
    terms: Terms,
    asked: dict[str, Any],
    spend: Spend | None,
    noise: AbstractNoise,
    account: StreamAccount | None,
) -> StreamFile:
    kept = noise.state()["kept"] if isinstance(noise, KeptNoise) else None
    answers = terms.question.workload.exact(terms.mechanism.coding.step.size).state()
    progress = Progress(
        round=0, answers=answers, noise=noise.state() if kept is None else None, last=None
    )
    counted = account and account.to_dict()
    return StreamFile.create(path, terms, asked, spend, progress, kept, counted)


def opened(
    path: str | PathLike[str],
    domain: AbstractDomain | None = None,
    ledger: Payer | None = None,
    check: Callable[[Contents], None] = lambda _: None,
) -> Stream:
    """Return the stream in a file.

    Args:
        path: the file.
        domain: the set, where the file only names it.
        ledger: the account that paid.
        check: what may refuse the file for what it holds.

    Raises:
        FileError: where it is no stream of this version, or is damaged; it is left as it is.
        LedgerError: as `Stream.open`.
    """
    ledger = checked_ledger(ledger)
    with StreamFile.opening(Path(path).absolute(), domain) as (held, found, follow):
        progress = found.progress
        state = {"kept": found.kept} if progress.noise is None else progress.noise
        noise = codec.guarded(lambda: noise_from(found.terms.mechanism, state, progress.round))
        check(found)
        file, account = followed(held, found, follow, ledger)
    return codec.guarded(
        lambda: Stream(
            found.terms, noise, found.spend, progress=progress, file=file, account=account
        )
    )


def resume(
    path: str | PathLike[str],
    asked: dict[str, Any],
    *,
    ledger: Payer | None = None,
    domain: AbstractDomain | None = None,
) -> Stream:
    """Return the stream in a file, where it is the one that is asked for; nothing is charged.

    Args:
        path: the file.
        asked: what is asked for, as JSON values.
        ledger: the account that paid when it was started.
        domain: the set, where the file only names it.

    Raises:
        FileError: where the file is no stream or is damaged, or holds another stream than is asked
            for.
        LedgerError: where the account is not the one that paid, has the spend cancelled, or says
            that the stream stands elsewhere.
    """

    def check(found: Contents) -> None:
        was, now = found.asked, json.loads(json.dumps(asked))
        if (
            now.get("strategy") == found.terms.mechanism.strategy
        ):  # by its name, where it was chosen
            now["strategy"] = was.get("strategy")
        if now.get("mechanism") == found.terms.name and "mechanism" not in was:
            del now["mechanism"]
        other = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        if other:
            raise FileError(
                f"file={path} holds a stream with another {', '.join(other)}; ask for the same, "
                "or give a new path, which is a release of its own",
            )

    return opened(path, domain, ledger, check)


class Followed(Protocol):
    """What a ledger that follows a file sees of it."""

    @property
    def spend(self) -> Spend | None:
        """Where it was paid."""

    @property
    def paid(self) -> tuple[Event, str]:
        """What was paid for it, and what the ledger says of it."""

    @property
    def ledger(self) -> dict[str, Any] | None:
        """How the ledger is found, None where none followed it so far."""

    @property
    def place(self) -> Place:
        """Where it stands."""


@final
@dataclass(frozen=True)
class StreamAccount:
    """An account, and what tells its ledger from every other.

    Args:
        ledger: the account.
        identifier: of the ledger that paid; another file may have come in its place since.
    """

    ledger: Ledger
    identifier: str

    @classmethod
    def of(cls, ledger: Ledger) -> StreamAccount:
        """Return an account as it is now.

        Raises:
            LedgerError: where the file is no ledger.
        """
        return cls(ledger, ledger.identifier())

    @classmethod
    def from_dict(
        cls, fields: dict[str, Any], spend: Spend | None, given: Ledger | None
    ) -> StreamAccount:
        """Return the account that a stream's file names, where it was or in the ledger given."""
        if spend is None:
            raise TypeError
        ledger = given or Ledger(Path(str(fields["path"])), spend.dataset)
        return cls(ledger, str(fields["identifier"]))

    def to_dict(self) -> dict[str, Any]:
        """Return how it is found again, as JSON values."""
        return {"identifier": self.identifier, "path": str(self.ledger.path.absolute())}

    def follow(self, path: Path, found: Followed) -> None:
        """See that the file stands where the ledger does, or one batch beyond, and follow it there.

        Args:
            path: the file, which nobody else holds.
            found: what it holds. A file of an older version, which no ledger followed, is taken
                to stand where it does.

        Raises:
            LedgerError: where another ledger paid, or the stream stands elsewhere by the ledger.
        """
        ledger, spend = self.ledger, found.spend
        if not ledger.path.is_file():
            raise LedgerError(
                f"ledger={ledger.path}, which follows the stream in file={path}, is not there; "
                "give it as ledger=, wherever it is now",
            )
        if spend is None or spend.dataset != ledger.dataset:
            raise LedgerError(
                f"file={path} holds a stream that dataset={ledger.dataset!r} did not pay for; "
                "leave the ledger out, and record it with `lownoise ledger charge` where it must "
                "be",
            )
        if ledger.identifier() != self.identifier:
            raise LedgerError(
                f"ledger={ledger.path} is not the one that paid for the stream in file={path}; "
                "give that one, wherever it is now",
            )
        paid = {e.id: e.state for e in ledger.entries() if (e.event, e.note) == found.paid}
        state = paid.get(spend.number)
        if state not in ("reserved", "settled"):
            raise LedgerError(
                f"spend={spend.number} of dataset={ledger.dataset!r}, which paid for the stream in "
                f"file={path}, is not in the ledger any more; charge it again before going on",
            )
        place = found.place
        unseen = found.ledger is None or not place.at.round
        if state == "reserved" and unseen:  # a crash before the first round left it so
            ledger.settle(spend.number, stream=place.at)
        elif found.ledger is None:
            ledger.stream_entered(spend.number, place.at)
        else:
            self.move(path, place)

    def move(self, path: Path, place: Place) -> None:
        """Move the ledger to where the file stands, from one batch before or from there.

        Raises:
            LedgerError: where it stands elsewhere: another copy of the stream went on.
        """
        try:
            self.ledger.stream_moved(place.before, place.at)
        except LedgerError as error:
            raise LedgerError(f"file={path}: {error}") from None


def followed(
    file: StreamFile,
    found: Contents,
    follow: Callable[[dict[str, Any]], StreamFile],
    ledger: Ledger | None,
) -> tuple[StreamFile, StreamAccount | None]:
    """Return a file that is held, and the account that follows it from here on, None without one.

    Args:
        file: the file.
        found: what it holds.
        follow: what lets a ledger follow it, for a file of an older version.
        ledger: the account; by default the one that the file names.

    Raises:
        LedgerError: as `StreamAccount.follow`.
    """
    if found.ledger is not None:
        account = StreamAccount.from_dict(found.ledger, found.spend, ledger)
        account.follow(file.path, found)
        return file, account
    if ledger is None:
        return file, None
    account = StreamAccount.of(ledger)
    account.follow(file.path, found)
    # the ledger knows where the file stands before the file says so: a crash between is mended
    return follow(account.to_dict()), account
