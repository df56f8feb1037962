# SPDX-License-Identifier: Apache-2.0
"""One answer a plan and person, told whatever the record becomes; a new one is charged."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from command_line import together
from local_model.plans import document, terms_of
from lownoise import device
from lownoise.device import Keeper, Spent
from lownoise.errors import LedgerError, PlanError, TableError
from lownoise.local_model import CubeLaplace
from lownoise.release import codec
from refusals import one_line

PLAN = device.read(document("laplace"))
OTHER = device.read(document("laplace", name="another question"))
TERMS = terms_of(CubeLaplace.fitted(3, 0.1), epsilon=0.1)
TENTH = device.read(codec.dump("local", {"terms": TERMS, "derived": {}}))
GAUSSIAN = device.read(document("gaussian", delta=1e-6))
RECORD = [0.5, 0.5, 0.5]


@pytest.fixture
def keeper(tmp_path):
    return Keeper.create(tmp_path / "answers")


def refused(call, *words):
    """Assert that a call is refused in one line that has these words."""
    with one_line(LedgerError) as caught:
        call()
    assert all(word in str(caught.value) for word in words)
    assert caught.value.__cause__ is None


def test_an_answer_is_told_again_whatever_the_record_is_now(keeper):
    first = keeper.randomize(PLAN, RECORD, person="Ada")
    for record in ([-1, -1, -1], RECORD, None, "nothing", [1.0]):
        assert keeper.randomize(PLAN, record, person="Ada") == first
    assert Keeper(str(keeper.path)).randomize(PLAN, RECORD, person="Ada") == first
    assert keeper.spent("Ada") == Spent(1.0, 0.0)


def test_another_plan_and_another_person_have_answers_of_their_own(keeper):
    reports = [
        keeper.randomize(plan, RECORD, person=person)
        for plan in (PLAN, OTHER)
        for person in ("Ada", "Bob", "ada", "")
    ]
    assert len({report.id for report in reports}) == 8
    assert keeper.spent("Ada") == Spent(2.0, 0.0)
    assert keeper.spent("nobody") == Spent(0.0, 0.0)


def test_a_new_answer_is_drawn_when_asked_for_charged_and_kept(keeper):
    first = keeper.randomize(PLAN, RECORD, person="Ada", again=True)
    second = keeper.randomize(PLAN, RECORD, person="Ada", again=True)
    assert first != second
    assert keeper.randomize(PLAN, RECORD, person="Ada") == second
    assert keeper.spent("Ada") == Spent(2.0, 0.0)


def test_costs_add_up_exactly_as_decimals_and_with_delta(keeper):
    for _ in range(3):
        keeper.randomize(TENTH, RECORD, person="Ada", again=True)
    assert keeper.spent("Ada") == Spent(0.3, 0.0)
    for _ in range(3):
        keeper.randomize(GAUSSIAN, RECORD, person="Ada", again=True)
    assert keeper.spent("Ada") == Spent(3.3, 3e-6)


def test_a_limit_is_filled_and_not_passed(tmp_path):
    keeper = Keeper.create(tmp_path / "answers", epsilon=0.3)
    kept = [keeper.randomize(TENTH, RECORD, person="Ada", again=True) for _ in range(3)][-1]
    before = keeper.path.read_bytes()
    refused(
        lambda: keeper.randomize(TENTH, RECORD, person="Ada", again=True),
        "epsilon 0.4", "above the limit of 0.3", "send no report",
    )  # fmt: skip
    assert keeper.path.read_bytes() == before
    assert keeper.spent("Ada") == Spent(0.3, 0.0)
    assert keeper.randomize(TENTH, RECORD, person="Ada") == kept
    assert keeper.randomize(TENTH, RECORD, person="Bob") != kept
    assert Keeper(keeper.path).spent("Bob") == Spent(0.1, 0.0)


@pytest.mark.parametrize(
    "plan", [document("laplace", epsilon=1e-3), document("gaussian", delta=1e-9)]
)
def test_a_plan_that_states_less_than_it_reveals_is_not_answered(tmp_path, plan):
    """Else its author could have a thousand answers of a person for one epsilon."""
    keeper = Keeper.create(tmp_path / "answers", epsilon=5.0, delta=1e-6)
    with pytest.raises(PlanError, match="send no report"):
        keeper.randomize(device.read(plan), RECORD, person="Ada")
    assert keeper.spent("Ada") == Spent(0.0, 0.0)


def test_a_limit_without_a_delta_takes_no_answer_with_one(tmp_path):
    keeper = Keeper.create(tmp_path / "pure", epsilon=5.0)
    refused(lambda: keeper.randomize(GAUSSIAN, RECORD, person="Ada"), "delta 1e-06")
    keeper = Keeper.create(tmp_path / "approximate", epsilon=5.0, delta=2e-6)
    for _ in range(2):
        keeper.randomize(GAUSSIAN, RECORD, person="Ada", again=True)
    refused(lambda: keeper.randomize(GAUSSIAN, RECORD, person="Ada", again=True), "delta 3e-06")


def test_what_cannot_be_drawn_costs_nothing(keeper):
    before = keeper.path.read_bytes()
    with pytest.raises(TableError, match="3 values"):
        keeper.randomize(PLAN, [1.0], person="Ada")
    assert keeper.path.read_bytes() == before
    assert keeper.spent("Ada") == Spent(0.0, 0.0)


def test_no_name_stands_in_the_file_and_no_two_files_call_a_person_alike(tmp_path):
    hashes = []
    for name in ("one", "two"):
        keeper = Keeper.create(tmp_path / name)
        keeper.randomize(PLAN, RECORD, person="Ada Lovelace")
        assert b"Lovelace" not in keeper.path.read_bytes()
        with closing(sqlite3.connect(keeper.path)) as connection:
            (person,) = connection.execute("SELECT person FROM answer").fetchone()
        hashes.append(person)
    assert len(set(hashes)) == 2
    assert {len(person) for person in hashes} == {32}


@pytest.mark.parametrize("person", [None, 7, b"Ada", "\ud800"])
def test_a_person_is_a_text(keeper, person):
    refused(lambda: keeper.randomize(PLAN, RECORD, person=person), "is no text")
    refused(lambda: keeper.spent(person), "is no text")


@pytest.mark.parametrize(
    "limit",
    [{"epsilon": -1.0}, {"epsilon": float("nan")}, {"epsilon": float("inf")}, {"epsilon": "1"},
     {"epsilon": True}, {"epsilon": 1.0, "delta": 1.0}, {"epsilon": 1.0, "delta": -1e-9}],
)  # fmt: skip
def test_a_limit_is_a_number_in_its_range(tmp_path, limit):
    refused(lambda: Keeper.create(tmp_path / "answers", **limit), "keeper.")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- files that are no keeper

OPERATIONS = {
    "randomize": lambda keeper: keeper.randomize(PLAN, RECORD, person="Ada"),
    "spent": lambda keeper: keeper.spent("Ada"),
    "adopt": lambda keeper: keeper.adopt(),
}


def refused_untouched(path, call, *words):
    before = path.read_bytes()
    refused(call, *words)
    assert path.read_bytes() == before


def test_a_keeper_is_made_once_and_in_no_other_database(keeper, tmp_path):
    keeper.randomize(PLAN, RECORD, person="Ada")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE answer (number INTEGER)")
    for path in (keeper.path, other):
        refused_untouched(path, lambda path=path: Keeper.create(path), "exists already")


@pytest.mark.parametrize(
    "change",
    ["UPDATE answer SET report = 'x'", "DELETE FROM keeper",
     "INSERT INTO keeper SELECT * FROM keeper"],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_tells_nothing(keeper, change):
    keeper.randomize(PLAN, RECORD, person="Ada")
    with closing(sqlite3.connect(keeper.path)) as connection:
        connection.execute(change)
        connection.commit()
    refused(lambda: keeper.randomize(PLAN, RECORD, person="Ada"), "damaged", "backup")


@pytest.mark.parametrize("change", ["epsilon = 9e999", "epsilon = -1", "delta = 1"])
def test_a_damaged_cost_is_refused_before_anything_is_drawn(keeper, change):
    keeper.randomize(PLAN, RECORD, person="Ada")
    with closing(sqlite3.connect(keeper.path)) as connection:
        connection.execute(f"UPDATE answer SET {change}")  # noqa: S608 (of the test's own)
        connection.commit()
    refused(lambda: keeper.spent("Ada"), "damaged")
    refused_untouched(keeper.path, lambda: keeper.randomize(OTHER, RECORD, person="Ada"), "damaged")


@pytest.mark.parametrize("operate", [OPERATIONS["randomize"], OPERATIONS["spent"]])
def test_a_copy_is_refused_until_it_is_adopted(keeper, operate, tmp_path):
    first = keeper.randomize(PLAN, RECORD, person="Ada")
    copy = Keeper(shutil.copy(keeper.path, tmp_path / "copy"))
    refused_untouched(copy.path, lambda: operate(copy), "is a copy", "adopt()")
    copy.adopt()
    assert copy.randomize(PLAN, [0, 0, 0], person="Ada") == first
    keeper.path.rename(tmp_path / "renamed")  # the original by another name is no copy
    assert Keeper(tmp_path / "renamed").randomize(PLAN, RECORD, person="Ada") == first


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    for path in (file / "answers", tmp_path / "missing" / "answers"):
        refused(lambda path=path: Keeper.create(path), str(path), "in no folder that exists")
    refused(lambda: Keeper.create(tmp_path), str(tmp_path))
    refused(lambda: Keeper.create("/proc/answers"), "/proc/answers", "its folder can be written")
    refused(lambda: Keeper.create("a\0b"), "is no path")


def test_a_folder_that_becomes_read_only_tells_nothing_new(keeper):
    """Where nothing can be written beside it the journal cannot be; root is asked by SQLite."""
    kept = keeper.randomize(PLAN, RECORD, person="Ada")
    journal = keeper.path.with_name(f"{keeper.path.name}-journal")
    journal.mkdir()  # no journal can be written there
    refused(lambda: keeper.randomize(OTHER, RECORD, person="Ada"), "cannot be used")
    journal.rmdir()
    assert keeper.spent("Ada") == Spent(1.0, 0.0)
    assert keeper.randomize(PLAN, RECORD, person="Ada") == kept


# ---------------------------------------------------------------- many processes at once

RACER = """
import sys
from lownoise import device
from lownoise.numbers import locked as module
module._PATIENCE = 1e6  # s, so that no load decides who is refused
plan = device.read(sys.argv[2])
keeper = device.Keeper(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
print(keeper.randomize(plan, [float(sys.argv[3])] * 3, person="Ada").to_json(), flush=True)
"""


def test_of_several_processes_one_draws_and_all_tell_its_answer(keeper, tmp_path):
    (tmp_path / "plan.json").write_text(document("laplace"))
    command = [sys.executable, "-c", RACER, str(keeper.path), str(tmp_path / "plan.json")]
    answers = together([*command, str(k / 4 - 0.5)] for k in range(4))
    assert len(set(answers)) == 1
    assert keeper.randomize(PLAN, RECORD, person="Ada").to_json() == answers[0]
    assert keeper.spent("Ada") == Spent(1.0, 0.0)


def test_a_keeper_whose_making_was_killed_is_made_again(tmp_path):
    """What was written of the first is taken back by its journal, and no keeper that is there."""
    path = tmp_path / "answers"
    killed = (
        "import os, sqlite3, sys\n"
        "own = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "own.execute('PRAGMA cache_size = 1')\n"  # so that pages are written before the end
        "own.execute('BEGIN')\n"
        "for i in range(50): own.execute(f'CREATE TABLE t{i} (a)')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", killed, path], check=True)
    assert path.stat().st_size
    assert path.with_name("answers-journal").exists()
    told = Keeper.create(path).randomize(PLAN, RECORD, person="Ada").to_json()
    path.with_name("answers-journal").touch()
    refused(lambda: Keeper.create(path), "exists already")
    assert Keeper(path).randomize(PLAN, RECORD, person="Ada").to_json() == told
