# SPDX-License-Identifier: Apache-2.0
"""What is no ledger, or no device's keeper, is refused whatever is asked, and left as it was."""

import pytest

from local_model import test_keeper as keepers
from lownoise.device import Keeper
from lownoise.errors import LedgerError
from lownoise.privacy import Ledger, zcdp
from privacy import test_ledger as ledgers
from refusals import one_line

OPERATIONS = {"ledger": ledgers.OPERATIONS, "keeper": keepers.OPERATIONS}
OPENS = {"ledger": lambda path: Ledger(path, "flights"), "keeper": Keeper}
SAID = {"ledger": "not a lownoise ledger", "keeper": "not a device's keeper"}
DONE = [(kind, name) for kind, own in OPERATIONS.items() for name in own]
each = pytest.mark.parametrize(("kind", "name"), DONE)
# a ledger is made in a file that is missing or empty
each_but_create = pytest.mark.parametrize(
    ("kind", "name"), [own for own in DONE if own != ("ledger", "create")]
)


def begin(kind, path):
    """Begin a file of that kind, with an entry."""
    if kind == "ledger":
        Ledger.create(path, "flights", zcdp(0.3)).reserve(ledgers.TENTH)
    else:
        keepers.OPERATIONS["randomize"](Keeper.create(path))


def refused(kind, name, path, *words):
    """Check that one line with the file's name says so, and that no byte beside it changed."""
    before = {p: p.read_bytes() for p in path.parent.rglob("*") if p.is_file()}
    with one_line(LedgerError) as refusal:
        OPERATIONS[kind][name](OPENS[kind](path))
    assert all(word in str(refusal.value) for word in (path.name, *words)), refusal.value
    assert refusal.value.__cause__ is None
    assert {p: p.read_bytes() for p in path.parent.rglob("*") if p.is_file()} == before


@each_but_create
def test_a_missing_file_is_refused_and_not_made(kind, name, tmp_path):
    refused(kind, name, tmp_path / "absent", "does not exist", ".create")


@each_but_create
def test_an_empty_file_is_refused_and_left_empty(kind, name, tmp_path):
    (tmp_path / "empty").touch()
    refused(kind, name, tmp_path / "empty", SAID[kind])


@each
def test_a_folder_is_refused(kind, name, tmp_path):
    refused(kind, name, tmp_path)


@each
@pytest.mark.parametrize("content", [b"name,age\nann,7\n", b"x" * 10**5, b"SQLite format 3\0" * 10])
def test_another_file_is_refused_and_left_alone(content, kind, name, tmp_path):
    (tmp_path / "people.csv").write_bytes(content)
    refused(kind, name, tmp_path / "people.csv")


@each
@pytest.mark.parametrize("other", ["CREATE TABLE dataset (name TEXT)", "PRAGMA application_id = 7"])
def test_another_database_is_refused_and_left_alone(other, kind, name, tmp_path):
    ledgers.execute(tmp_path / "other.db", [other], ["PRAGMA user_version = 1"])
    refused(kind, name, tmp_path / "other.db", SAID[kind])


@each
def test_a_newer_version_is_refused_and_left_alone(kind, name, tmp_path):
    begin(kind, tmp_path / "own")
    ledgers.execute(tmp_path / "own", ["PRAGMA user_version = 99"])
    refused(kind, name, tmp_path / "own", "version 99", "upgrade lownoise")


@each
def test_a_file_that_is_cut_short_is_refused_and_left_alone(kind, name, tmp_path):
    path = tmp_path / "own"
    begin(kind, path)
    whole = path.read_bytes()
    for share in (0.001, 0.01, 0.3, 0.5, 0.7, *([0.99] if kind == "keeper" else [])):
        path.write_bytes(whole[: int(len(whole) * share)])
        refused(kind, name, path)


@each
def test_a_file_of_two_names_is_refused_under_both(kind, name, tmp_path):
    """Of a crash in a commit under one name SQLite leaves a journal beside that name alone.

    A spend under the other would be taken back with the rest, once the first is used again.
    """
    begin(kind, tmp_path / "own")
    (tmp_path / "other").hardlink_to(tmp_path / "own")
    for other in ("own", "other"):
        refused(kind, name, tmp_path / other, "has another name")
