# SPDX-License-Identifier: Apache-2.0
"""A stream is paid for once, whatever befalls the program while it starts."""

from dataclasses import replace

import pytest

import lownoise as ln
from lownoise.errors import FileError, LedgerError, PlanError
from lownoise.numbers.randomness import SystemRandomness
from lownoise.privacy import Ledger
from lownoise.privacy.budget import Zcdp
from lownoise.streams import files, start, starting

ASKED = {"workload": ln.Prefix(8), "budget": ln.zcdp(0.2)}


class CrashError(BaseException):
    """The program ends here."""


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger", "d", ln.zcdp(0.5))


def states(ledger):
    return [entry.state for entry in ledger.entries()]


def test_a_stream_is_charged_once_and_for_all_rounds(ledger, tmp_path):
    stream = ln.stream(**ASKED, ledger=ledger)
    assert (stream.spend.dataset, stream.spend.number) == ("d", 1)
    stream.update_many([1] * 8)
    (entry,) = ledger.entries()
    assert entry.state == "settled"
    assert entry.note == "stream: prefix of 8 rounds"
    assert entry.event == stream.cost.event
    assert ledger.spent().rho == pytest.approx(0.2)
    filed = ln.stream(**ASKED, ledger=ledger, path=tmp_path / "s")
    filed.update(1)
    for again in (
        ln.stream(**ASKED, ledger=ledger, path=tmp_path / "s"),
        ln.stream(**ASKED, path=tmp_path / "s"),
        ln.Stream.open(tmp_path / "s"),
        ln.Stream.restore(stream.state()),
    ):
        assert again.spend.dataset == "d"
    assert states(ledger) == ["settled", "settled"]
    with pytest.raises(LedgerError, match="too little"):
        ln.stream(**ASKED, ledger=ledger, path=tmp_path / "t")
    assert not (tmp_path / "t").exists()
    assert ln.stream(**ASKED).spend is None


def test_what_reveals_more_than_its_budget_is_not_started(ledger, tmp_path):
    terms = replace(ln.stream(**ASKED).terms, budget=ln.zcdp(0.19))
    with pytest.raises(PlanError, match="more than its budget"):
        start(terms, randomness=SystemRandomness(), ledger=ledger, path=tmp_path / "s")
    assert states(ledger) == []
    assert not (tmp_path / "s").exists()


def test_a_stream_that_cannot_be_written_costs_nothing(ledger, tmp_path):
    with pytest.raises(FileError):
        ln.stream(**ASKED, ledger=ledger, path=tmp_path / "absent" / "s")
    assert states(ledger) == ["cancelled"]
    assert ledger.spent() == Zcdp(0.0)


def test_the_account_that_paid_is_the_one_that_is_named(ledger, tmp_path):
    other = Ledger.create(tmp_path / "ledger", "other", ln.zcdp(0.5))
    ln.stream(**ASKED, path=tmp_path / "free")
    with pytest.raises(LedgerError, match="did not pay"):
        ln.stream(**ASKED, path=tmp_path / "free", ledger=ledger)
    ln.stream(**ASKED, path=tmp_path / "s", ledger=ledger)
    with pytest.raises(LedgerError, match="did not pay"):
        ln.stream(**ASKED, path=tmp_path / "s", ledger=other)
    emptied = Ledger.create(tmp_path / "new", "d", ln.zcdp(0.5))
    with pytest.raises(LedgerError, match="not the one that paid"):
        ln.stream(**ASKED, path=tmp_path / "s", ledger=emptied)
    assert states(ledger) == ["settled"]
    assert states(other) == states(emptied) == []


def crash_in(patch, owner, name, *, after):
    own = getattr(owner, name)

    def crash(*args, **more):
        if after:
            own(*args, **more)
        raise CrashError

    patch.setattr(owner, name, crash)


# where the program ends, whether the file is there then, and what the ledger says of it
MOMENTS = [
    (Ledger, "reserve", False, False, []),
    (Ledger, "reserve", True, False, ["reserved"]),
    (starting, "noise_of", True, False, ["reserved"]),
    (files, "publish", False, False, ["reserved"]),
    (files, "publish", True, True, ["reserved"]),
    (Ledger, "settle", False, True, ["reserved"]),
    (Ledger, "settle", True, True, ["settled"]),
]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("owner", "name", "after", "there", "said"), MOMENTS)
def test_a_crash_wastes_budget_at_most_and_loses_no_spend(
    owner, name, after, there, said, ledger, tmp_path, monkeypatch
):
    asked = {**ASKED, "ledger": ledger, "path": tmp_path / "s"}
    with monkeypatch.context() as patch:
        crash_in(patch, owner, name, after=after)
        with pytest.raises(CrashError):
            ln.stream(**asked)
    assert (tmp_path / "s").exists() == there
    assert states(ledger) == said
    stream = ln.stream(**asked)
    stream.update(1)
    # the stream that runs is paid for, and a file that was there was not paid for twice
    expected = ["settled"] if there else [*said, "settled"]
    assert states(ledger) == expected
    assert stream.spend.number == len(expected)


@pytest.mark.parametrize("name", ["settle", "reserve"])
def test_a_ledger_that_fails_starts_nothing_unpaid(name, ledger, tmp_path, monkeypatch):
    asked = {**ASKED, "ledger": ledger, "path": tmp_path / "s"}

    def fail(*_, **__):
        raise LedgerError("cannot be used")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, name, fail)
        with pytest.raises(LedgerError):
            ln.stream(**asked)
    if name == "settle":  # the file holds a stream whose spend counts
        assert states(ledger) == ["reserved"]
        ledger.cancel(1)
        with pytest.raises(LedgerError, match="not in the ledger any more"):
            ln.stream(**asked)
    else:
        assert not (tmp_path / "s").exists()


def test_two_that_start_in_one_place_are_one(ledger, tmp_path, monkeypatch):
    asked = {**ASKED, "ledger": ledger, "path": tmp_path / "s"}
    own = files.publish

    def late(draft, path):
        monkeypatch.setattr(files, "publish", own)
        ln.stream(**asked).update(1)  # another was quicker
        own(draft, path)

    monkeypatch.setattr(files, "publish", late)
    with pytest.raises(FileError, match="exists"):
        ln.stream(**asked)
    assert states(ledger) == ["cancelled", "settled"]
    assert ln.stream(**asked).round == 1


def test_a_folder_that_is_missing_is_said_to_be(tmp_path):
    with pytest.raises(FileError, match="is in no folder that exists; make "):
        ln.stream(**ASKED, path=tmp_path / "none" / "s")


def test_a_disk_without_links_will_do(tmp_path, monkeypatch):
    def none(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(files.os, "link", none)
    ln.stream(**ASKED, path=tmp_path / "s").update(1)
    assert ln.Stream.open(tmp_path / "s").round == 1
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    with pytest.raises(FileError, match="exists"):
        start(
            ln.Stream.open(tmp_path / "s").terms, randomness=SystemRandomness(), path=tmp_path / "s"
        )


def test_an_account_of_the_same_name_that_paid_for_something_else_is_refused(tmp_path):
    path = tmp_path / "s.stream"
    paid = ln.Ledger.create(tmp_path / "a.ledger", "ward", ln.zcdp(1))
    asked = {"workload": ln.Prefix(9), "budget": ln.zcdp(0.5), "path": path}
    ln.stream(**asked, ledger=paid)
    other = ln.Ledger.create(tmp_path / "b.ledger", "ward", ln.zcdp(1))
    ln.stream(ln.Prefix(2), budget=ln.zcdp(1e-6), ledger=other)
    with pytest.raises(LedgerError, match="not the one that paid"):
        ln.stream(**asked, ledger=other)
    assert ln.stream(**asked, ledger=paid).round == 0


def test_noise_that_does_not_fit_the_memory_costs_nothing(tmp_path, monkeypatch):
    from lownoise.streams import starting

    ledger = ln.Ledger.create(tmp_path / "a.ledger", "ward", ln.zcdp(1))

    def full(*_):
        raise MemoryError

    monkeypatch.setattr(starting, "noise_of", full)
    with pytest.raises(MemoryError):
        ln.stream(ln.Prefix(9), budget=ln.zcdp(0.5), ledger=ledger)
    assert [e.state for e in ledger.entries()] == ["cancelled"]
