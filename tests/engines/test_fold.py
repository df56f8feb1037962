# SPDX-License-Identifier: Apache-2.0
"""What rows add up to is the same in whatever parts and order, and goes to where rows are."""

import math
import pickle
import threading
from functools import partial
from itertools import repeat
from weakref import WeakSet

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import adders
from lownoise.engines import (
    Batch,
    Coding,
    Totals,
    TotalsQuery,
    adding,
    codings,
    folds,
    opening,
    parts,
)
from lownoise.engines.categories import Reader, places_of
from lownoise.engines.counts import CellCounts
from lownoise.engines.folds import CodeSums, Folds, InTurn, RangeSums, floats_of
from lownoise.engines.groups import GroupCodes, GroupSums
from lownoise.engines.memory import MemorySource
from lownoise.engines.parts import Part, PlainTable
from lownoise.engines.record_codings import ClampingCoding
from lownoise.engines.source import Columns
from lownoise.questions.attributes import attributes
from lownoise.sets.domains import Ball

GROUPS = attributes({"g": 3, "w": ["a", "b", "2"]}, {"g": "extra"})
CODING = Coding(
    columns=("x", "g"),
    lower=np.array([-4.0, 0.0]),
    upper=np.array([2.0**50, 2.0]),
    center=np.array([0.5, 1.0]),
    missing=np.array([0.0, 1.0]),
    step=np.array([1 / 4, 1 / 2]),
)
TABLE = MemorySource(
    {
        "x": np.array([1e300, -0.0, np.nan, 2.0**49 + 0.25, -np.inf, 0.1, 7.0] * 9),
        "g": np.array([0, 1, 2, 3, 1, 1, 0] * 9),
        "w": np.array(["a", "b", "2", None, "c", "a", "b"] * 9, object),
    }
)
READER = Reader.of(GROUPS, TABLE)
WORKS = {
    "codes": CodeSums(TotalsQuery(CODING, drops_missing=False)),
    "complete codes": CodeSums(TotalsQuery(CODING, drops_missing=True)),
    "counts": CellCounts(READER, 12, partial(places_of, sizes=(4, 3))),
    "codes by groups": GroupCodes(READER, TotalsQuery(CODING, drops_missing=False)),
    "complete codes by groups": GroupCodes(READER, TotalsQuery(CODING, drops_missing=True)),
}

WORKS["ranges"] = RangeSums((("x", 0, 9), ("g", 0, 2)), complete=False)
BALL = ClampingCoding(
    columns=("x", "g"),
    domain=Ball(2, 5.0),
    center=np.array([0.5, 1.0]),
    missing=np.zeros(2),
    pivots=np.arange(2),
    step=np.array([1 / 4, 1 / 2]),
)
WORKS["codes of a ball by groups"] = GroupCodes(READER, TotalsQuery(BALL, drops_missing=False))
WORKS["several"] = Folds(tuple(WORKS.values()))
SOLE, WORDED = attributes({"g": 3, "w": ["a", "b"]}, "extra")
SHARED = (
    WORKS["ranges"],
    CellCounts(Reader.of([SOLE], TABLE), 4, partial(places_of, sizes=(4,))),
    CellCounts(Reader.of([WORDED], TABLE), 3, partial(places_of, sizes=(3,))),
    WORKS["codes"],
)
WORKS["several in turn"] = Folds(SHARED)
WORKS["several in turn, by groups"] = Folds((*SHARED, WORKS["codes by groups"]))


def said(found, work=None):
    """Return what high and low bits add up to, as Python's integers; counts as they are."""
    if isinstance(work, Folds):
        return np.concatenate([said(part).reshape(-1) for part in work.parts(found)])
    wide = found.astype(object)
    return wide if found.ndim == 1 else wide[..., 0] * 2**26 + wide[..., 1]


def test_numbers_of_an_array_are_its_own_from_anywhere_on_and_null_is_none():
    every = pa.array([1.5, -0.0, math.inf, 2.0**-1074, None, 3.0])
    for start, end in ((0, 4), (1, 3), (2, 2), (1, 6), (5, 6)):
        own = every[start:end]
        found = floats_of(own)
        expected = [math.nan if x is None else x for x in own.to_pylist()]
        assert found.tobytes() == np.array(expected, dtype=float).tobytes()


@pytest.mark.grid
@pytest.mark.parametrize("way", adders.WAYS)
@pytest.mark.parametrize("name", WORKS)
def test_parts_in_any_order_add_up_to_the_whole(name, way):
    """As an engine's threads and executors take them: each with zeros of its own."""
    work = WORKS[name]
    with adders.added_by("numpy"):
        whole = TABLE.fold(work)
    with adders.added_by(way):
        require_parts_of_any_order(work, whole)


def require_parts_of_any_order(work, whole):
    assert np.any(whole)
    (batch,) = TABLE.batches(work.numbers, work.texts)
    rng = np.random.default_rng(3)
    for ends in (range(64), [0, 1, 1, 30, 63], [0, 62, 63]):
        added = work.zeros()
        for i in rng.permutation(len(ends) - 1):
            own = slice(ends[i], ends[i + 1])
            part = Batch([c[own] for c in batch.numbers], [c[own] for c in batch.texts])
            sent = pickle.loads(pickle.dumps(work))  # noqa: S301 (our own)
            sent.add(found := sent.zeros(), part)
            added += found
        assert np.array_equal(said(added, work), said(whole, work))


@pytest.mark.parametrize("name", WORKS)
def test_blocks_of_any_width_add_up_to_the_whole(name, monkeypatch):
    work = WORKS[name]
    with adders.added_by("numpy"):
        whole = TABLE.fold(work)
        for module in (adding, codings):
            monkeypatch.setattr(module, "BLOCK", 16)
        assert np.array_equal(said(TABLE.fold(work), work), said(whole, work))


def test_sums_by_groups_are_of_the_codes_that_rows_have():
    """A missing value has the code of what stands in for it, in whatever block."""
    (g,) = attributes({"g": 3}, {"g": "extra"})
    work = GroupCodes(Reader.of([g], TABLE), TotalsQuery(CODING, drops_missing=False))
    records = np.stack([TABLE.columns["x"], TABLE.columns["g"]], axis=1).astype(float)
    codes = np.hstack([CODING.encode(records), np.ones((len(records), 1), dtype=np.int64)])
    wanted = [codes[records[:, 1] == k].sum(axis=0).tolist() for k in range(4)]
    assert GroupSums(TABLE.fold(work)).table([0]).tolist() == wanted


WORDS = pa.array(["a", None, "b", "é", "2", "c", "a"])
AWKWARD = pa.table(
    {
        "x": pa.array([1e300, -0.0, math.nan, None, -math.inf, 5e-324, 2.0**50 + 0.25]),
        "g": pa.array([0, 1, None, 3, 2, 1, 0], pa.int8()),
        "w": WORDS,
        "small": pa.array([1.5, None, math.nan, math.inf, -0.0, 0.1, -3.25], pa.float32()),
        "bit": pa.array([True, False, None, True, True, False, False]),
        "far": pa.array([2**63 - 1, -(2**63), None, 2**53 + 1, 0, 1, -1], pa.int64()),
        "farther": pa.array([2**64 - 1, 2**63 + 2**10, None, 2**53 + 1, 0, 1, 7], pa.uint64()),
        "w.k": WORDS,
        "category": WORDS.dictionary_encode(),
        "long": WORDS.cast(pa.large_string()),
    }
)
NUMBERS = ["x", "g", "small", "bit", "far", "farther"]
SHAPES = {
    "one": lambda t, _: t,
    "chunks": lambda t, _: pa.concat_tables([t.slice(0, 3), t.slice(3, 0), t.slice(3)]),
    "a slice": lambda t, _: pa.concat_tables([t, t]).combine_chunks().slice(7),
    "a file": lambda t, folder: written(t, folder / "t.parquet", row_group_size=2),
    "files": lambda t, folder: [
        written(t.slice(0, 4), folder / "a.parquet", use_dictionary=False),
        written(t.slice(4), folder / "b.parquet", row_group_size=1),
    ],
    "pandas": lambda t, _: t.to_pandas(types_mapper=pd.ArrowDtype),
}


def written(table, path, **how):
    pa.parquet.write_table(table, path, **how)
    return path


@pytest.mark.grid(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_arrow_hands_over_is_what_the_engine_reads(shape, tmp_path):
    """Every type of column, with threads and without; and it is Arrow that hands it over."""
    table = SHAPES[shape](AWKWARD, tmp_path)
    words = ["w", "w.k", "long"] if "file" in shape else ["w", "w.k", "category", "long"]
    require_rows_of_the_engine(table, words)


@pytest.mark.parametrize("shape", ["a file", "files"])
def test_groups_that_are_read_in_turn_are_what_the_engine_reads(shape, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "_IN_TURN", range(1, 1 << 21))  # rows
    require_rows_of_the_engine(SHAPES[shape](AWKWARD, tmp_path), ["w", "w.k", "long"])


def require_rows_of_the_engine(table, words):
    found = opening.opened(table, Columns([*NUMBERS, *words]))
    assert found.table.parts(NUMBERS, words) is not None

    def engine():  # which may read a file once
        return opening.opened(table, Columns([*NUMBERS, *words])).engine()

    ends = {"small": (-1.0, 1.0), "bit": (0.0, 1.0), "x": (-3.0, 2.0**49), "g": (0.0, 2.0)}
    lower, upper = np.array([ends.get(name, (-(2.0**40), 2.0**40)) for name in NUMBERS]).T
    coding = Coding(
        columns=tuple(NUMBERS),
        lower=lower,
        upper=upper,
        center=(lower + upper) / 2,
        missing=upper,
        step=np.exp2(np.ceil(np.log2(upper - lower)) - 40),
    )
    every = {name: ["a", "b", "é", "z"] for name in words}
    groups = attributes(every, dict.fromkeys(words, "extra"))
    reader = Reader.of(groups, found)
    for drops in (False, True):
        query = TotalsQuery(coding, drops_missing=drops)
        for work in (CodeSums(query), GroupCodes(reader, query)):
            with adders.added_by("numpy"):
                wanted = said(engine().fold(work))
                assert np.array_equal(said(found.fold(work)), wanted)
            with adders.added_by("compiled"):
                assert np.array_equal(said(found.fold(work)), wanted)
        ranges = [("g", 0, 2), ("far", -(2**52), 2**52), ("bit", 1, 1)]
        assert found.sums(ranges, complete=drops) == engine().sums(ranges, complete=drops)


@pytest.mark.parametrize("name", [name for name, work in WORKS.items() if work.in_turn])
def test_columns_in_turn_are_read_once_and_one_is_held(name, monkeypatch):
    """By every fold that says that it asks for them in turn, whose totals are those of all rows."""
    work = WORKS[name]
    (batch,) = TABLE.batches(work.numbers, work.texts)
    read, held = [], WeakSet()
    monkeypatch.setattr(folds, "_ROWS", 5)  # added at once

    def column(name):
        assert len(held) <= 1  # the one before, which the fold may still have
        read.append(name)
        held.add(found := batch.numbers[work.numbers.index(name)].view(Held))
        return found

    work.add(found := work.zeros(), Batch(InTurn(column, work.numbers), batch.texts))
    assert np.array_equal(said(found, work), said(TABLE.fold(work), work))
    again = {"g"} if "by groups" in name else set()  # first to group by
    assert sorted(read) == sorted([*work.numbers, *again])


def test_columns_are_taken_in_turn_where_no_row_is_left_out_for_another():
    in_turn = {name for name, work in WORKS.items() if work.in_turn}
    alone = {"codes", "codes by groups", "ranges"}
    assert in_turn == {*alone, "several in turn", "several in turn, by groups"}


def test_several_are_in_turn_where_they_are_few_and_each_takes_columns_one_by_one():
    assert Folds(SHARED).in_turn
    assert not Folds((*SHARED, WORKS["counts"])).in_turn  # of two columns of numbers
    assert not Folds((*SHARED, WORKS["complete codes"])).in_turn
    assert not Folds((*SHARED, *SHARED, WORKS["codes"])).in_turn


@pytest.mark.parametrize("name", [name for name in WORKS if "several" in name])
def test_several_are_what_each_is(name):
    found = WORKS[name].parts(TABLE.fold(WORKS[name]))
    for own, part in zip(WORKS[name].members, found, strict=True):
        assert np.array_equal(part, TABLE.fold(own))


class Held(np.ndarray):
    """Arrays that weak references tell apart."""

    __hash__ = object.__hash__


@pytest.mark.parametrize(("texts", "rows", "most"), [
    ((), 1 << 16, 1 << 26), ((), 1 << 15, 1 << 26), ((), 1 << 16, 8), (("w",), 1 << 16, 1 << 26),
    (("w",), 1 << 16, 8),
])  # fmt: skip
def test_groups_of_files_are_read_in_turn_where_columns_of_them_are_held(
    texts, rows, most, tmp_path, monkeypatch
):
    """Neither small ones, for which that is slow, nor those whose texts are large."""
    monkeypatch.setattr(parts, "_TEXTS", most)
    table = pa.table({"x": np.arange(1 << 16), "w": pa.array(["a", "b"] * (1 << 15))})
    path = written(table, tmp_path / "t.parquet", row_group_size=rows)
    found = PlainTable.of_files([path]).parts(["x"], texts, in_turn=True)
    batches = [batch for part in found for batch in part]
    in_turn = rows == 1 << 16 and not (texts and most == 8)
    assert {isinstance(batch.numbers, InTurn) for batch in batches} == {in_turn}
    assert np.array_equal(
        np.concatenate([batch.numbers[0] for batch in batches]), np.arange(1 << 16)
    )


@pytest.mark.parametrize("processors", [1, 2, 7])
def test_threads_take_each_batch_once(processors, monkeypatch):
    """Also where one has no part of its own, and where parts are many."""
    monkeypatch.setattr(parts, "processors", lambda: processors)
    batch = Batch([np.ones(3), np.zeros(3)], [])
    work = CodeSums(TotalsQuery(CODING, drops_missing=False))
    for sizes in ([], [0], [5], [1, 0, 9, 2], [1] * 30):
        found = parts.fold(work, [Part(partial(repeat, batch, size)) for size in sizes])
        assert CodeSums.totals(found) == Totals(3 * sum(sizes), (6 * sum(sizes), -6 * sum(sizes)))


@pytest.mark.parametrize("name", [name for name, work in WORKS.items() if work.in_turn])
def test_threads_share_the_columns_of_batches(name, monkeypatch):
    """Of one batch alone, of fewer than there are threads, and of many."""
    monkeypatch.setattr(parts, "processors", lambda: 5)
    work = WORKS[name]
    (batch,) = TABLE.batches(work.numbers, work.texts)

    def opened(count):
        for _ in range(count):
            column = dict(zip(work.numbers, batch.numbers, strict=True)).__getitem__
            yield Batch(InTurn(column, work.numbers), batch.texts)

    once = said(TABLE.fold(work), work)
    for sizes in ([1], [1, 2], [3, 0, 7, 2, 9, 4]):
        found = parts.fold(work, [Part(partial(opened, size)) for size in sizes])
        assert np.array_equal(said(found, work), sum(sizes) * once)


@pytest.mark.parametrize("name", ["codes", "ranges"])
def test_a_thread_without_rows_takes_a_column_of_another_s(name, monkeypatch):
    """Of one batch of two columns: each is read while the other is, or this never ends well."""
    monkeypatch.setattr(parts, "processors", lambda: 2)
    work, both, readers = WORKS[name], threading.Barrier(2), set()
    (batch,) = TABLE.batches(work.numbers, work.texts)

    def column(own):
        both.wait(60)
        readers.add(threading.get_ident())
        return batch.numbers[work.numbers.index(own)]

    found = parts.fold(work, [Part(lambda: [Batch(InTurn(column, work.numbers), [])])])
    assert np.array_equal(said(found, work), said(TABLE.fold(work), work))
    assert len(readers) == 2


def test_no_thread_leaves_a_batch_of_which_another_adds_a_column():
    """Else both would add to one total, and one of the sums might be lost."""
    shared, both, left, seen = parts._Columns(2), threading.Barrier(2), threading.Event(), []

    class Work:
        def turns(self, found, batch):
            return {0: self.add, 1: self.add}

        def add(self, column):
            both.wait(60)
            if threading.current_thread() is helper:
                seen.append(left.wait(0.3))  # as long as somebody wrong would take to leave

    helper = threading.Thread(target=shared.help)
    helper.start()
    with shared:
        shared.add(Work(), None, Batch([np.ones(1)] * 2, []))
        left.set()
    with shared:
        pass
    helper.join()
    assert seen == [False]


@pytest.mark.parametrize("lacking", ["x", "g"])
def test_what_fails_in_a_column_fails_whoever_takes_it(lacking, monkeypatch):
    monkeypatch.setattr(parts, "processors", lambda: 3)
    work = WORKS["codes"]
    columns = {"x": np.ones(3), "g": np.ones(3)}
    del columns[lacking]
    rows = [Batch(InTurn(columns.__getitem__, work.numbers), []) for _ in range(4)]
    with pytest.raises(KeyError, match=lacking):
        parts.fold(work, [Part(lambda: rows)])


@pytest.mark.parametrize("processors", [1, 3])
def test_what_fails_in_a_thread_fails(processors, monkeypatch):
    monkeypatch.setattr(parts, "processors", lambda: processors)

    def broken():
        yield Batch([np.ones(3), np.zeros(3)], [])
        raise RuntimeError("cut")

    work = CodeSums(TotalsQuery(CODING, drops_missing=False))
    with pytest.raises(RuntimeError, match="cut"):
        parts.fold(work, [Part(broken), *[Part(partial(repeat, 1, 0)) for _ in range(3)]])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_where_a_thread_does_not_begin_no_other_waits_for_it(error, monkeypatch):
    """As where a machine has no more threads, or somebody interrupts meanwhile."""
    begin, begun = threading.Thread.start, []

    def refused(thread):
        if len(begun) == 2:
            raise error("no more")
        begun.append(thread)
        begin(thread)

    monkeypatch.setattr(parts, "processors", lambda: 4)
    monkeypatch.setattr(threading.Thread, "start", refused)
    batch = Batch([np.ones(3), np.zeros(3)], [])
    work = CodeSums(TotalsQuery(CODING, drops_missing=False))
    with pytest.raises(error, match="no more"):
        parts.fold(work, [Part(partial(repeat, batch, 2)) for _ in range(3)])
    assert len(begun) == 2


@pytest.mark.parametrize("shape", ["one", "a file", "files"])
def test_no_engine_is_opened_for_what_arrow_hands_over(shape, tmp_path, monkeypatch):
    table = SHAPES[shape](AWKWARD, tmp_path)
    found = opening.opened(table, Columns(NUMBERS))
    wanted = found.engine().sums((("bit", 0, 1),), complete=False)

    def connected():
        raise AssertionError

    monkeypatch.setattr(opening, "connected", connected)
    again = opening.opened(table, Columns(NUMBERS))
    assert again.kinds(NUMBERS) == found.engine().kinds(NUMBERS)
    assert again.sums((("bit", 0, 1),), complete=False) == wanted
    with pytest.raises(AssertionError):
        again.engine()
