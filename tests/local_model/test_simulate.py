# SPDX-License-Identifier: Apache-2.0
"""Every row of a table as a person: what their devices send is written, read and summed alike."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from local_model.coins import DIGEST, Coins
from lownoise.engines.folds import Batch
from lownoise.engines.source import AbstractSource
from lownoise.errors import EngineError, FileError, TableError
from lownoise.local_model import simulate as module
from lownoise.local_model.aggregate import Tally
from lownoise.local_model.encoders import RangeEncoder
from lownoise.local_model.simulate import simulate, write
from lownoise.numbers.randomness import SimulationRandomness

ADULT = Path(__file__).parents[1] / "data" / "adult.csv"
COLUMNS = ("age", "education-num", "hours-per-week")


def tally():
    upper = np.array([99.0, 15.0, 99.0])
    encoder = RangeEncoder(
        columns=COLUMNS, lower=np.zeros(3), upper=upper, missing=np.array([50.0, 7.5, 50.0])
    )
    return Tally(encoder, Coins(), DIGEST)


def people(count=500):
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.integers(0, 15, count) for name in COLUMNS})


def test_a_table_of_real_people_is_estimated_within_the_error_that_is_said():
    """Within 6 deviations: error of the first kind below 1e-8; a column missed by 3 is seen."""
    own = tally()
    for block in simulate(own, ADULT, randomness=SimulationRandomness(2)):
        own.add(block)
    found, exact = own.result(), pd.read_csv(ADULT)[list(COLUMNS)].mean().to_numpy()
    assert found.count == 48_842
    assert np.all(np.abs(found.estimate - exact) <= 6 * found.standard_deviation)
    assert np.all(found.standard_deviation <= found.greatest_deviation)
    assert np.max(6 * found.standard_deviation) < 3


KINDS = {
    "frame": lambda table, _: table,
    "floats": lambda table, _: table.astype(float),
    "texts": lambda table, _: table.astype(str),
    "one of texts": lambda table, _: table.astype({"education-num": str}),
    "arrow": lambda table, _: pa.table(table),
    "csv": lambda table, f: table.to_csv(f / "a.csv", index=False) or f / "a.csv",
    "parquet": lambda table, f: table.to_parquet(f / "a.parquet") or f / "a.parquet",
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_reports(kind, tmp_path):
    own, other = tally(), tally()
    table = people()[["hours-per-week", "education-num", "age"]]  # in another order
    for one, given in ((own, people()), (other, KINDS[kind](table, tmp_path))):
        for block in simulate(one, given, randomness=SimulationRandomness(3)):
            one.add(block)
    assert own.result().sums == other.result().sums
    assert own.count == 500


def test_blocks_are_small_and_each_report_has_an_identifier_of_its_own(monkeypatch):
    monkeypatch.setattr(module, "_NUMBERS", 90)
    blocks = list(simulate(tally(), people(), randomness=SimulationRandomness(4)))
    assert [len(block.values) for block in blocks] == [30] * 16 + [20]
    identifiers = np.concatenate([block.identifiers for block in blocks])
    assert len(set(map(tuple, identifiers.tolist()))) == 500
    assert all(np.all(block.formed) and np.all(block.own) for block in blocks)


def test_a_missing_value_is_the_stand_in():
    table = people().astype(float)
    table.loc[:, "age"] = math.nan
    own, plain = tally(), tally()
    for one, given in ((own, table), (plain, table.assign(age=50.0))):
        for block in simulate(one, given, randomness=SimulationRandomness(5)):
            one.add(block)
    assert own.result().sums == plain.result().sums


@pytest.mark.parametrize("ending", [".reports", ".parquet"])
def test_what_is_written_is_what_was_made(ending, tmp_path):
    own, through = tally(), tally()
    blocks = list(simulate(own, people(), randomness=SimulationRandomness(6)))
    path = tmp_path / f"r{ending}"
    assert write(own, iter(blocks), path) == 500
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    for block in blocks:
        own.add(block)
    through.add(path)
    assert through.result().sums == own.result().sums
    with pytest.raises(FileError, match="came before"):
        through.add(blocks[0])
    if ending == ".parquet":
        assert pq.read_schema(path).field("v0").type == pa.int8()


def test_what_fails_while_it_is_written_leaves_nothing(tmp_path):
    def stops():
        yield from simulate(tally(), people(), randomness=SimulationRandomness(7))
        raise KeyboardInterrupt

    for ending in (".reports", ".parquet"):
        with pytest.raises(KeyboardInterrupt):
            write(tally(), stops(), tmp_path / f"r{ending}")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileError, match="unknown ending"):
        write(tally(), [], tmp_path / "r.csv")
    with pytest.raises(FileError, match="cannot be written"):
        write(tally(), [], tmp_path / "nowhere" / "r.reports")


class Torn(AbstractSource):
    """A table whose rows end in an error that quotes one."""

    def kinds(self, columns):
        return ("numbers",) * len(columns)

    def batches(self, numbers, texts=()):
        yield Batch([np.zeros(3) for _ in numbers], [])
        raise ValueError("SECRET")


def test_a_table_that_has_no_such_columns_or_fails_is_refused_in_one_line():
    with pytest.raises(TableError, match="hours-per-week"):
        simulate(tally(), people()[["age", "education-num"]], randomness=SimulationRandomness(8))
    blocks = simulate(tally(), Torn(), randomness=SimulationRandomness(8))
    assert len(next(blocks).values) == 3
    with pytest.raises(EngineError, match=r"^table=Torn could not be read") as caught:
        next(blocks)
    assert "SECRET" not in str(caught.value)
