# SPDX-License-Identifier: Apache-2.0
"""What DuckDB's own habits would change in sums, and do not."""

import random
from collections import Counter
from contextlib import suppress
from decimal import Context, Decimal
from threading import Event, Thread

import ibis
import numpy as np
import pyarrow as pa
import pytest

from lownoise.engines.counts import records_query
from lownoise.engines.duckdb import connected
from lownoise.engines.opening import opened, source_of
from lownoise.engines.source import Columns
from lownoise.engines.tables import UnitTable
from lownoise.privacy.units import PrivacyUnit
from lownoise.questions.attributes import attributes

TEXTS = ["m", *["M"] * 1000, "É", "é", "e", "", None]


def collated(folder, *, of_file):
    """One "m" before a thousand "M", where the database says that they are one text."""
    con = ibis.duckdb.connect(folder / "t.duckdb")
    con.con.execute("CREATE TABLE t (s VARCHAR COLLATE NOCASE.NOACCENT)")
    con.con.executemany("INSERT INTO t VALUES (?)", [[text] for text in TEXTS])
    con.con.execute("SET default_collation = 'nocase'")
    if not of_file:
        return con.table("t").mutate(s=ibis._["s"].substr(0))
    con.disconnect()
    return str(folder / "t.duckdb")


@pytest.mark.parametrize("of_file", [True, False])
def test_no_collation_makes_two_texts_one(of_file, tmp_path):
    """One row would decide the category of all whose texts are like its own."""
    table = collated(tmp_path, of_file=of_file)
    declared = attributes({"s": ["M", "m", "é", "e"]}, "drop")
    assert records_query(declared).of(table).table.tolist() == [1000, 1, 1, 1]
    found = Counter()
    for groups in opened(table, Columns(["s"])).group_sums([], ["s"]):
        found += Counter(
            dict(zip(groups.keys.texts[0].to_pylist(), groups.counts.tolist(), strict=True))
        )
    assert found == Counter(TEXTS)


def test_our_own_connection_makes_several_batches_ahead_and_a_user_s_is_left_as_it_is():
    """With room for less than a batch the engine's threads wait until one of ours has taken it."""
    rows = pa.table({"x": np.arange(9.0), "u": np.arange(9)})
    setting = "SELECT current_setting('streaming_buffer_size')"
    user = ibis.duckdb.connect()
    before = user.con.execute(setting).fetchone()
    user.con.execute("CREATE TABLE held AS SELECT range::DOUBLE x FROM range(9)")
    assert list(opened(user.table("held"), Columns(["x"])).batches(["x"]))
    assert user.con.execute(setting).fetchone() == before
    ours = source_of(UnitTable(rows, PrivacyUnit("u", 3)), ["x"]).connection.con
    assert connected().con.execute(setting).fetchone() == ("61.0 MiB",)  # 64 MB
    assert ours.execute(setting).fetchone() == ("488.2 MiB",)  # 512 MB, of units
    users = UnitTable(user.table("held"), PrivacyUnit("x", 3))
    assert list(source_of(users, ["x"]).batches(["x"]))
    assert user.con.execute(setting).fetchone() == before


def test_another_query_on_the_connection_cuts_no_rows_off():
    """A reader would end there as if the table did."""
    con = ibis.duckdb.connect()
    con.con.execute("CREATE TABLE t AS SELECT range::DOUBLE x FROM range(300000)")
    source = opened(con.table("t"), Columns(["x"]))
    first, *others = (len(batch.numbers[0]) for batch in asked_between(source, con))
    assert first + sum(others) == 300_000
    assert others
    stop, whole, failed = Event(), [], []

    def ask():
        while not stop.is_set():
            with suppress(Exception):  # what is stopped is asked anew
                con.con.execute("SELECT 42").fetchall()

    def read():
        try:
            whole.append(sum(len(batch.numbers[0]) for batch in source.batches(["x"])))
        except Exception as error:  # noqa: BLE001 (a release says one line for each)
            failed.append(error)

    threads = [Thread(target=read) for _ in range(4)]
    other = Thread(target=ask)
    for thread in (other, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    other.join()
    assert len(whole) + len(failed) == 4
    assert set(whole) <= {300_000}


def asked_between(source, con):
    for batch in source.batches(["x"]):
        yield batch
        assert con.con.execute("SELECT 42").fetchall() == [(42,)]


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("digits", "scale"), [(38, 18), (38, 0), (18, 4), (9, 2), (38, 37), (30, 10)]
)
def test_a_decimal_is_the_float_nearest_to_it(digits, scale):
    """As Python has it; DuckDB's cast made 2.53 of 38 digits 2.5300000000000002."""
    draw, exact = random.Random(7), Context(prec=60)  # noqa: S311
    bounds = [10 ** draw.randrange(1, digits + 1) for _ in range(500)]
    values = [exact.scaleb(Decimal(draw.randrange(-b + 1, b)), -scale) for b in bounds]
    table = pa.table({"x": pa.array(values, pa.decimal128(digits, scale))})
    (batch,) = opened(table, Columns(["x"])).batches(["x"])
    assert batch.numbers[0].tolist() == [float(value) for value in values]


def test_an_integer_of_128_bits_is_the_float_nearest_to_it():
    con = ibis.duckdb.connect()
    values = [2**126 + 2**73 + 1, -(2**53) - 1, 10**37 + 7]
    con.con.execute("CREATE TABLE t (x HUGEINT)")
    con.con.executemany("INSERT INTO t VALUES (?::HUGEINT)", [[str(value)] for value in values])
    (batch,) = opened(con.table("t"), Columns(["x"])).batches(["x"])
    assert np.array_equal(batch.numbers[0], [float(value) for value in values])
