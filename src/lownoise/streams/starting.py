# SPDX-License-Identifier: Apache-2.0
"""A stream begins, once: it is paid for, its noise is drawn, and its file is written."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.answers import Spend
from lownoise.errors import FileError, LedgerError, PlanError
from lownoise.streams.answers import answers_of
from lownoise.streams.noise import KeptNoise, noise_of
from lownoise.streams.progress import Progress
from lownoise.streams.store import StreamFile
from lownoise.streams.stream import Stream, opened

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.domains import AbstractKnownDomain
    from lownoise.entropy import Entropy
    from lownoise.privacy import Ledger
    from lownoise.streams.noise import AbstractNoise
    from lownoise.streams.terms import StreamTerms


def start(
    terms: StreamTerms,
    *,
    entropy: Entropy,
    ledger: Ledger | None = None,
    path: str | PathLike[str] | None = None,
    asked: dict[str, Any] | None = None,
) -> Stream:
    """Pay, draw what noise is kept, write the file, and return the stream before its first round.

    Args:
        terms: what is promised.
        entropy: where the noise comes from; `SystemEntropy()` for anything that is published.
        ledger: the account that pays for all rounds, or None.
        path: a new file that the stream lives in, or None.
        asked: what it was asked for, as JSON values, for a `resume`.

    Raises:
        PlanError: where the terms reveal more than their budget.
        LedgerError: where the account cannot pay; then nothing has been drawn.
        FileError: where the file exists or cannot be written; then nothing is spent.
    """
    if not terms.mechanism.event.mu <= terms.parameter:
        raise PlanError("stream reveals more than its budget; make it anew with ln.stream")
    event, note = terms.mechanism.event, note_of(terms)
    number = ledger.reserve(event, note, asked=terms.budget) if ledger else 0
    spend = Spend(ledger.dataset, number) if ledger else None
    try:
        noise = noise_of(terms.mechanism, entropy)
        file = None
        if path is not None:
            file = _file(Path(path).absolute(), terms, asked or {}, spend, noise)
    except (FileError, PlanError, MemoryError):  # nothing was published, and nothing can be
        if ledger:
            with suppress(LedgerError):  # what cannot be cancelled counts
                ledger.cancel(number)
        raise
    if ledger:
        ledger.settle(number)
    return Stream(terms, noise, spend, file=file)


def _file(
    path: Path,
    terms: StreamTerms,
    asked: dict[str, Any],
    spend: Spend | None,
    noise: AbstractNoise,
) -> StreamFile:
    kept = noise.state()["kept"] if isinstance(noise, KeptNoise) else None
    answers = answers_of(terms.workload, terms.mechanism.coding.step.size).state()
    progress = Progress(
        round=0, answers=answers, noise=noise.state() if kept is None else None, last=None
    )
    return StreamFile.create(path, terms, asked, spend, progress, kept)


def resume(
    path: str | PathLike[str],
    asked: dict[str, Any],
    *,
    ledger: Ledger | None = None,
    domain: AbstractKnownDomain | None = None,
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
        LedgerError: where the account is not the one that paid, or has the spend cancelled.
    """
    found, was = opened(path, domain)
    now = json.loads(json.dumps(asked))
    if now.get("strategy") == found.strategy:  # by its name, where it was chosen
        now["strategy"] = was.get("strategy")
    other = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    if other:
        raise FileError(
            f"file={found.path} holds a stream with another {', '.join(other)}; ask for the same, "
            "or give a new path, which is a release of its own",
        )
    if ledger is not None:
        _settled(ledger, found)
    return found


def _settled(ledger: Ledger, found: Stream) -> None:
    """Settle what a crash left reserved; refuse an account that has not paid."""
    spend = found.spend
    if spend is None or spend.dataset != ledger.dataset:
        raise LedgerError(
            f"file={found.path} holds a stream that dataset={ledger.dataset!r} did not pay for; "
            "leave the ledger out, and record it with `lownoise ledger charge` where it must be",
        )
    own = found.terms.mechanism.event, note_of(found.terms)
    paid = {e.id: e.state for e in ledger.entries() if (e.event, e.note) == own}
    state = paid.get(spend.number)
    if state == "reserved":
        ledger.settle(spend.number)
    elif state != "settled":
        raise LedgerError(
            f"spend={spend.number} of dataset={ledger.dataset!r}, which paid for the stream in "
            f"file={found.path}, is not in the ledger any more; charge it again before going on",
        )


def note_of(terms: StreamTerms) -> str:
    """Return what the ledger says of a stream."""
    workload = terms.workload
    return f"stream: {workload.kind} of {workload.rounds:,} rounds"
