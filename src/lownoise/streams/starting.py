# SPDX-License-Identifier: Apache-2.0
"""A stream begins, once: it is paid for, its noise is drawn, its file is written; and goes on."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.errors import FileError, LedgerError, PlanError
from lownoise.privacy import checked_ledger
from lownoise.release import codec
from lownoise.release.codec import Spend
from lownoise.sensitivity.relations import relation_name
from lownoise.streams.accounts import StreamAccount, followed, note_of
from lownoise.streams.answers import answers_of
from lownoise.streams.noise import KeptNoise, noise_from, noise_of
from lownoise.streams.progress import Progress
from lownoise.streams.store import StreamFile
from lownoise.streams.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Ledger
    from lownoise.sets.domains import AbstractDomain
    from lownoise.streams.noise import AbstractNoise
    from lownoise.streams.store import Contents
    from lownoise.streams.terms import StreamTerms


def start(
    terms: StreamTerms,
    *,
    randomness: Randomness,
    ledger: Ledger | None = None,
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
    if not terms.mechanism.event.mu <= terms.parameter:
        raise PlanError("stream reveals more than its budget; make it anew with ln.stream")
    event, note = terms.mechanism.event, note_of(terms)
    ledger = checked_ledger(ledger)
    name = relation_name(terms.relation)
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
    terms: StreamTerms,
    asked: dict[str, Any],
    spend: Spend | None,
    noise: AbstractNoise,
    account: StreamAccount | None,
) -> StreamFile:
    kept = noise.state()["kept"] if isinstance(noise, KeptNoise) else None
    answers = answers_of(terms.workload, terms.mechanism.coding.step.size).state()
    progress = Progress(
        round=0, answers=answers, noise=noise.state() if kept is None else None, last=None
    )
    counted = account and account.to_dict()
    return StreamFile.create(path, terms, asked, spend, progress, kept, counted)


def opened(
    path: str | PathLike[str],
    domain: AbstractDomain | None = None,
    ledger: Ledger | None = None,
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
    ledger: Ledger | None = None,
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
        if now.get("strategy") == found.terms.strategy:  # by its name, where it was chosen
            now["strategy"] = was.get("strategy")
        other = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        if other:
            raise FileError(
                f"file={path} holds a stream with another {', '.join(other)}; ask for the same, "
                "or give a new path, which is a release of its own",
            )

    return opened(path, domain, ledger, check)
