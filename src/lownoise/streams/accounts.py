# SPDX-License-Identifier: Apache-2.0
"""The account that paid for a stream follows it: whoever opens the file goes on where it stands."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, final

from lownoise.errors import FileError, LedgerError, PlanError
from lownoise.privacy import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.privacy import StreamPosition
    from lownoise.privacy.events import Event
    from lownoise.release.codec import Spend
    from lownoise.streams.store import Contents, Place, StreamFile

T = TypeVar("T")


def begun(
    ledger: Ledger | None, number: int, make: Callable[[], tuple[T, StreamPosition | None]]
) -> T:
    """Return what begins: what was reserved for it is settled, or cancelled where it cannot begin.

    Args:
        ledger: the account that pays for all rounds, or None.
        number: of the reservation.
        make: makes it, with where its file stands.

    Raises:
        FileError, PlanError, MemoryError: of `make`; then nothing is spent. What else it raises
            leaves the reservation, which counts.
    """
    try:
        made, at = make()
    except (FileError, PlanError, MemoryError):  # nothing was published, and nothing can be
        if ledger:
            with suppress(LedgerError):  # what cannot be cancelled counts
                ledger.cancel(number)
        raise
    if ledger:
        ledger.settle(number, stream=at)
    return made


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
