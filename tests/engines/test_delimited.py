# SPDX-License-Identifier: Apache-2.0
"""Text tables read by the block: the meaning is that of `cells`, whatever stands together."""

import gzip
import io
import itertools
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.engines import blocks, delimited
from lownoise.engines.cells import Dialect, columns_of, decoded, first_record, records
from lownoise.engines.codings import Coding, TotalsQuery
from lownoise.engines.delimited import TextFile, TextSource, open_text
from lownoise.engines.folds import CodeSums
from lownoise.engines.opening import opened
from lownoise.engines.source import Columns
from lownoise.numbers.values import number_of_text
from lownoise.privacy.units import PrivacyUnit

# what makes a line odd, what nearly does, and lines that are plain
HOSTILE = [
    *[b'"', b",", b"\n"] * 2, b'""', b"\r\n", b"\r", b" ", b"1", b"x", b"\xff", "é".encode(),
    b"\xef\xbb\xbf", b"\0", b"\xe2\x82", b";", b'"a"', b'"1\n2"', b"\n\n", b',"x,y",', b"\t",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\", b"'", b"1" * 1000,
    "é".encode() * 600, "é".encode() * 1001,
]  # fmt: skip
PLAIN = [b"1,2,3\n", b'"a",b,"c\nd"\n', b"7,,\n", b",,\n", b'x,"y""",\n', b"1;2;3\r\n", b"4\t5\t\n"]
DIALECTS = [Dialect(), Dialect(), Dialect(";"), Dialect("\t", quoted=False)]


def known(body, places, dialect):
    """The meaning: every line of the file in its turn."""
    rows = list(records(map(decoded, io.BytesIO(body)), dialect))
    return columns_of(rows, places) if rows else [[] for _ in places]


def read(body, places, width, dialect, block):
    """The same by blocks of some bytes."""
    parser = delimited.Parser(places, width, dialect)
    found = [[] for _ in places]
    for own in blocks.blocks(io.BytesIO(body), dialect, block):
        for column, more in zip(found, parser.columns(own), strict=True):
            column.extend(more.texts().to_pylist())
    return found


asked = st.tuples(
    st.sampled_from([(0,), (1,), (2, 0), (0, 1, 2), (5,)]),
    st.integers(1, 4),
    st.sampled_from(DIALECTS),
)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(HOSTILE[:-3] + PLAIN) | st.binary(max_size=3), max_size=9), asked)
def test_every_split_of_any_bytes_has_the_rows_of_its_lines(parts, how):
    body = b"".join(parts)
    expected = known(body, how[0], how[2])
    for block in range(1, len(body) + 2):
        assert read(body, *how, block) == expected


def test_odd_lines_among_many_plain_ones_change_no_row():
    """Seeded, so that each run is the same."""
    rng = random.Random(1)  # noqa: S311 (no noise)
    for share in [0.0, 0.02, 0.1, 0.5, 1.0] * 5:
        body = b"".join(rng.choice(HOSTILE if rng.random() < share else PLAIN) for _ in range(40))
        for dialect in DIALECTS[1:]:
            places, width = rng.choice([(0,), (2, 0), (1, 4)]), rng.choice([1, 2, 3])
            expected = known(body, places, dialect)
            for block in (rng.randrange(1, 50), 100, 10**6):
                assert read(body, places, width, dialect, block) == expected


HEADERS = [b"a,b,c\n", b'\xef\xbb\xbfa,"b",c\r\n', b'"x\ny",b,a,c\n']
ROWS = b'1,F,0\r\n"2",M,1\n\n 0x10 ,"x\r\ny",,9\n,a"b",1\n\xff,\xfe\n5,"z\n6,7'


@pytest.mark.grid
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("block", [1, 7, 10**6])
def test_a_source_is_the_rows_of_its_file(tmp_path, name, header, block):
    path = tmp_path / name
    packed = gzip.compress if name.endswith("gz") else bytes
    path.write_bytes(packed(header + ROWS))
    source = TextSource((TextFile(path, Dialect(), block),), ("b", "a"))
    file = io.BytesIO(header + ROWS)
    first = first_record(file, path, Dialect())
    rows = list(records(map(decoded, file), Dialect()))
    a, b = columns_of(rows, [first.index("a"), first.index("b")])
    assert source.reader().read_all().to_pydict() == {"b": b, "a": a}
    numbers = [np.nan if text is None else number_of_text(text) for text in a]
    batches = list(source.batches(["a"], ["b", "a"]))
    found = np.concatenate([batch.numbers[0] for batch in batches])
    assert np.array_equal(found, numbers, equal_nan=True)
    assert [t for batch in batches for t in batch.texts[0].to_pylist()] == b
    assert [t for batch in batches for t in batch.texts[1].to_pylist()] == a
    one = np.ones(1)
    box = Coding(columns=("a",), lower=0 * one, upper=9 * one, center=one, missing=one, step=one)
    work = CodeSums(TotalsQuery(box, drops_missing=False))
    known_sum = int(box.encode(np.array(numbers)[:, None]).sum())
    assert CodeSums.totals(source.fold(work)).sums == (known_sum,)
    assert source.kinds(["a", "b"]) == ("texts", "texts")


@pytest.mark.parametrize("dialect", [Dialect(), Dialect(";")])
def test_quotes_anywhere_in_any_order_say_what_they_do_alone(monkeypatch, dialect):
    """All 1,365 words of at most 5 of a quote, a separator, a line feed and a letter, shuffled.

    A wrong move of the automaton, or another of Arrow's, puts a field or a record elsewhere.
    """
    rng = random.Random(3)  # noqa: S311 (no noise)
    letters = '"', dialect.separator, "\n", "x"
    words = ["".join(w).encode() for n in range(6) for w in itertools.product(letters, repeat=n)]
    slow = watched(monkeypatch, delimited, "decoded")
    for _ in range(8):
        rng.shuffle(words)
        body = b"\n".join(words)
        for block in (len(body) // 3, len(body) + 1):
            assert read(body, (0, 1, 2), 2, dialect, block) == known(body, (0, 1, 2), dialect)
    assert sum(slow) < 16 * len(body) / 4


def watched(monkeypatch, module, name):
    """Return the sizes of what a function of the module is given, as they come."""
    sizes, own = [], getattr(module, name)

    def seen(data, *more, **named):
        sizes.append(len(data))
        return own(data, *more, **named)

    monkeypatch.setattr(module, name, seen)
    return sizes


LONG = 400_000
FAR = {
    "a long line": b"1," + b"x" * LONG + b"\n2,3\n",
    "a long quoted field": b'1,"' + b"x\n" * (LONG // 2) + b'"\n2,3\n',
    "an open quote": b'1,2\n3,"' + b"x\n" * (LONG // 2),
    "an odd open quote": b'1,2\n3"",4\n"3",""' + b'a,""\n' * (LONG // 5),
    "fields with line feeds": b"1" + b',"\n"' * (LONG // 4) + b"\n2,3\n",
    "carriage returns": b"1,2" + b"\r" * LONG + b"\n2,3\n",
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("body", FAR.values(), ids=FAR)
def test_a_record_of_any_length_is_looked_at_a_few_times(monkeypatch, body):
    """Each byte at most three times, as long as what is read grows with what is left."""
    sizes = watched(monkeypatch, blocks, "_ended")
    assert read(body, (0, 1), 2, Dialect(), 1 << 14) == known(body, (0, 1), Dialect())
    assert sum(sizes) <= 4 * len(body) + (1 << 18)


def test_no_more_than_a_block_and_a_record_is_held(monkeypatch):
    sizes = watched(monkeypatch, blocks, "_ended")
    body = b'1,2\n3,"x\ny"\n4,5"6"\n' * 4_000
    block = 1 << 12
    assert read(body, (1,), 2, Dialect(), block) == known(body, (1,), Dialect())
    assert max(sizes) <= 2 * block


def test_only_records_of_rare_widths_are_read_one_by_one(monkeypatch):
    """Odd quotes, odd bytes, empty and short lines among others are not."""
    lines = [b'1.5,"x, ""y""",2'] * 5000
    lines[77::100] = [b"1.5,x", b'1"5",x,2"3"', b"\xff,x,2", b"", b'"1"5,x,2'] * 10
    slow = watched(monkeypatch, delimited, "decoded")
    body = b"\n".join(lines)
    for block in (1 << 12, 1 << 20):
        assert read(body, (0, 2), 3, Dialect(), block) == known(body, (0, 2), Dialect())
        assert not slow
    lines[77::100] = [b"1" + b"," * (2 + i) for i in range(50)]
    body = b"\n".join(lines)
    assert read(body, (0, 2), 3, Dialect(), 1 << 20) == known(body, (0, 2), Dialect())
    assert len(slow) == 50 - blocks._WIDTHS


@pytest.mark.parametrize("extra", [b",", b",9,9", b""])
def test_lines_that_are_all_wider_or_shorter_than_the_header_are_plain(monkeypatch, extra):
    slow = watched(monkeypatch, delimited, "decoded")
    body = b"".join(b"%d,%d%b\n" % (i, -i, extra) for i in range(500))
    assert read(body, (1, 2), 3, Dialect(), 1000) == known(body, (1, 2), Dialect())
    assert not slow


def test_a_record_beyond_all_bounds_is_read_one_by_one(monkeypatch):
    monkeypatch.setattr(blocks, "LARGEST", 1 << 10)
    monkeypatch.setattr(delimited, "LARGEST", 1 << 10)
    slow = watched(monkeypatch, delimited, "decoded")
    body = b'1,2\n3,"' + b"x\n" * 1000 + b'",5\n\n6"7,8\n' + b"," * 3000
    assert read(body, (0, 1), 2, Dialect(), 100) == known(body, (0, 1), Dialect())
    assert slow


def test_units_of_a_text_table_are_those_of_the_same_texts_in_memory(tmp_path):
    rng = random.Random(2)  # noqa: S311 (no noise)
    rows = [(rng.choice("ABC"), rng.choice(["1", "x", "", " 2"]), i % 7) for i in range(300)]
    path = tmp_path / "t.csv"
    path.write_text("u,d,x\n" + "".join(f'{u},{d},"{x}"\n' for u, d, x in rows))
    table = pa.table({n: [str(row[i]) for row in rows] for i, n in enumerate("udx")})
    unit, every = PrivacyUnit("u", 4, ("d",)), Columns(["u", "d", "x"])
    found = [
        sorted(x for batch in opened(own, every).bounded(unit, ["x"]).batches(["x"])
               for x in batch.numbers[0].tolist())
        for own in (path, table, open_text(path, ["u", "d", "x"]))
    ]  # fmt: skip
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 12
