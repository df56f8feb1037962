# SPDX-License-Identifier: Apache-2.0
"""A stream begins, once: it is paid for, its noise is drawn, its file is written; and goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lownoise.errors import FileError, PlanError, path_of
from lownoise.privacy import checked_ledger
from lownoise.release.codec import Spend
from lownoise.release.execution import advised
from lownoise.sensitivity.relations import relation_name
from lownoise.streams.accounts import StreamAccount, begun
from lownoise.streams.progress import KeptNoise, Progress, noise_of
from lownoise.streams.store import StreamFile
from lownoise.streams.stream import Stream

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Payer, StreamPosition
    from lownoise.release.terms import Terms
    from lownoise.sets.domains import AbstractDomain
    from lownoise.streams.progress import AbstractNoise
    from lownoise.streams.store import Contents

    Made = tuple[AbstractNoise, StreamFile | None, StreamAccount | None]


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

    def made() -> tuple[Made, StreamPosition | None]:
        noise = noise_of(terms.mechanism, randomness)
        if path is None:
            return (noise, None, None), None
        account = StreamAccount.of(ledger) if ledger else None
        file = _file(path_of(path).absolute(), terms, asked or {}, spend, noise, account)
        return (noise, file, account), file.position() if ledger else None

    noise, file, account = begun(ledger, number, made)
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
            rounds, wanted = found.terms.question.workload.rounds, now["workload"].get("rounds")
            of = "" if wanted in (None, rounds) else f", of {rounds} rounds and not {wanted}"
            raise FileError(
                f"file={path} holds a stream with another {', '.join(other)}{of}; ask for the "
                "same, or give a new path, which is a release of its own",
            )

    return Stream.resumed(path, domain, ledger, check)
