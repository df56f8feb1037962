"""What tells units apart: no two of them are one, whatever objects or bytes name them."""

import datetime as dt
import math
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.engines.opening import source_of
from lownoise.engines.tables import UnitTable
from lownoise.errors import FileError, LownoiseError, TableError
from lownoise.privacy.units import PrivacyUnit


def units(table, null="drop"):
    """Return how many units a table has: one row of each is kept."""
    source = source_of(UnitTable(table, PrivacyUnit("u", 1, (), null)), ["x"])
    return sum(len(batch.numbers[0]) for batch in source.batches(["x"]))


def frame(items):
    column = items if isinstance(items, pd.Categorical) else pd.Series(items, dtype=object)
    return pd.DataFrame({"u": column, "x": np.arange(len(items), dtype=float)})


class Rude:
    def __ne__(self, other):
        raise RuntimeError("a value")


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("items", "many"),
    [
        ([10**18 + 1, 10**18 + 2, 10**18 + 1, None], 2),
        ([Decimal("0.1"), 0.1, Decimal("0.10")], 2),
        ([1, 1.0, True, np.int64(1), Decimal("1.00"), np.float32(1), "1"], 2),
        ([Decimal("1e999999999"), Decimal("10e999999998"), Decimal("2e999999999")], 2),
        ([10**5000, 10**5000 + 1], 2),
        (["M\udcfcller", "M\udcf6ller", "M?ller", "\0'M\\udcfcller'"], 4),
        (["\0a", "a", "\0'\\x00a'"], 3),
        ([uuid.UUID(int=1), uuid.UUID(int=2), b"a", b"b", b"a"], 4),
        (
            [
                dt.date(2020, 1, 1),
                dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
                pd.Timestamp("2020-01-01", tz="UTC"),
                pd.NaT,
            ],
            2,
        ),
        ([0.0, -0.0, float("nan"), float("inf"), -float("inf"), Decimal("NaN"), Rude()], 3),
        (pd.Categorical([10**18 + 1, 10**18 + 2, None]), 2),
        (pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"])), 2),
    ],
)
def test_no_two_are_one_and_equal_ones_are(items, many):
    assert units(frame(items)) == many
    odd = (type(None), type(pd.NaT), Rude)
    nan = [item for item in items if isinstance(item, (float, Decimal)) and math.isnan(item)]
    lacks = bool(nan) or any(isinstance(item, odd) for item in items)
    assert units(frame(items), "one") == many + lacks


def test_bytes_that_are_no_text_tell_people_apart(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes("u,x\nMüller,1\nMöller,2\nMüller,3\n".encode("latin-1"))
    assert units(path) == 2


def test_objects_tell_units_apart_or_are_asked():
    question = ln.Mean(["x"], ln.Box([0], [1]))
    budget = ln.zcdp(1)
    plan = ln.plan(
        question, budget=budget, relation="add_remove", privacy_unit="x", rows_per_unit=1
    )
    table = pd.DataFrame({"x": pd.Series([1, 2], dtype=object)})
    with pytest.raises(TableError, match="under another name"):
        plan.release(table)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "u\n"])
def test_names_that_cannot_be_shown_are_refused(name):
    with pytest.raises(LownoiseError, match="privacy_unit"):
        PrivacyUnit(name, 1)
    with pytest.raises(LownoiseError, match="order_by"):
        PrivacyUnit("u", 1, (name,))


def test_a_public_number_of_rows_is_that_of_the_file():
    """The count of all rows has no noise: a file with another is no release."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(50), "g": rng.choice(["x", "y"], 50)})
    question = ln.Mean(["a"], ln.Box([0], [1]), by={"g": ["x", "y"]}, way=1, outside="extra")
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=50)
    text = plan.release(table).to_json()
    assert ln.verify(text)
    with pytest.raises(FileError, match="public number"):
        ln.Release.from_json(text.replace('"size": 50', '"size": 5'))
