# SPDX-License-Identifier: Apache-2.0
"""A file of a version one higher is refused in one line with its remedy, and nothing is touched.

Mutants seen: a number of a document, of a stream, of a ledger, of a specification not looked at.
"""

import contextlib
import json
import shutil
import sqlite3
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from tests.golden.files import FILES

import lownoise as ln
from command_line import run
from lownoise.errors import LownoiseError
from lownoise.planning import StreamPlan
from lownoise.spec import read_domain, read_spec

NOW = FILES / "0.2"
POLICY = (Path(__file__).parents[1] / "docs" / "file-versions.md").read_text()
PLANS = {
    "mean-add-gdp": ln.Plan,
    "marginals-prefix": ln.Plan,
    "parity-add-gdp": ln.Plan,
    "pure-change": ln.Plan,
    "decayed": StreamPlan,
}
RELEASES = {
    "mean-change-adp": ln.Release,
    "queries-add-zcdp": ln.Release,
    "pure-laplace": ln.Release,
}
DOCUMENTS = {f"{name}.plan.json": kind for name, kind in PLANS.items()}
DOCUMENTS |= {f"{name}.release.json": kind for name, kind in RELEASES.items()}


def raised(text):
    """The document of a version one higher than what is written now, with a field of its own."""
    fields = json.loads(text)
    kind = fields["format"].partition("/")[0]
    fields["format"] = f"{kind}/{newest(kind) + 1}"
    return json.dumps({**fields, "terms": {"of a kind": "to come"}, "more": 1})


def newest(kind):
    """The version that is written, by the policy."""
    return int(POLICY.partition(f'"{kind}/')[2].partition('"')[0])


def refused(call, *, field):
    """Assert that a call is refused in one line that has the versions and the remedy."""
    with pytest.raises(LownoiseError) as refusal:
        call()
    said = str(refusal.value)
    assert "\n" not in said
    assert said.endswith("; upgrade lownoise")
    assert field in said


def test_a_file_of_every_version_of_plans_and_releases_is_kept():
    """What is read from each stands in `golden/files/index.json`."""
    kept = {json.loads(path.read_text())["format"] for path in FILES.glob("*/*.json")}
    for kind in ("lownoise.plan", "lownoise.release"):
        assert {f"{kind}/{number}" for number in range(1, newest(kind) + 1)} <= kept


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_newer_document_is_refused(name, tmp_path):
    text = raised((NOW / name).read_text())
    field = f"format={json.loads(text)['format']!r}"
    refused(lambda: DOCUMENTS[name].from_json(text), field=field)
    refused(lambda: ln.verify(text), field=field)
    (tmp_path / name).write_text(text)
    ended = run(tmp_path, "verify", name)
    assert ended.returncode == 2
    assert "upgrade lownoise" in ended.stderr
    assert (tmp_path / name).read_text() == text


def test_a_newer_folder_of_marginals_is_refused(tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(NOW / "marginals-way.release", folder)
    text = raised((folder / "release.json").read_text())
    (folder / "release.json").write_text(text)
    refused(lambda: ln.Release.load(folder), field="format=")


def test_a_newer_state_is_refused():
    state = raised((NOW / "decayed.state").read_bytes()).encode()
    refused(lambda: ln.Stream.restore(state), field="format=")


def test_the_policy_says_what_is_written(tmp_path):
    plan = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(1), relation="add_remove")
    stream = ln.stream(ln.Prefix(4), budget=ln.zcdp(1))
    for text in (plan.to_json(), stream.to_json(), stream.state()):
        stated = json.loads(text)["format"]
        assert f'"format": "{stated}"' in POLICY
    ledger = ln.Ledger.create(tmp_path / "l", "people", ln.zcdp(9))
    ln.stream(ln.Prefix(4), budget=ln.zcdp(1), path=tmp_path / "s")
    ln.stream(ln.Prefix(4), budget=ln.zcdp(1), path=tmp_path / "f", ledger=ledger)
    assert [version_of(tmp_path / name) for name in "lsf"] == [2, 1, 2]
    shared = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(1), relation="add_remove", uses=2
    )
    shared.release(pd.DataFrame({"a": [0.5]}), ledger)
    assert version_of(tmp_path / "l") == 3


def version_of(path, change=""):
    """The version of an SQLite file, after a change to it."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version {change}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version


def charged(path):
    ln.Ledger(path, "people").charge(ln.zcdp(0.01), "one more", relation="add_remove")


def again(path):
    ln.stream(ln.Prefix(40), budget=ln.zcdp(0.5), strategy="square_root", path=path)


STORES = {
    "opening a stream": ("square-root.stream", ln.Stream.open),
    "going on with a stream": ("square-root.stream", again),
    "listing a ledger": ("paid.ledger", ln.Ledger.datasets),
    "spending from a ledger": ("paid.ledger", charged),
    "a new account": ("paid.ledger", lambda p: ln.Ledger.create(p, "others", ln.zcdp(1))),
}


@pytest.mark.parametrize("use", STORES)
def test_a_newer_store_is_refused_and_stays_as_it_is(use, tmp_path):
    name, call = STORES[use]
    path = tmp_path / name
    shutil.copy(NOW / name, path)
    newer = 4 if name.endswith("ledger") else 3
    assert version_of(path, f"= {newer}") == newer
    before = path.read_bytes()
    refused(partial(call, path), field=f"has version {newer}")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["mean", "pure", "marginals", "stream"])
def test_a_newer_specification_is_refused_before_its_fields_are_read(name, tmp_path):
    path, text = tmp_path / "spec.toml", (NOW / f"{name}.toml").read_text()
    path.write_text(text)
    unnumbered = read_spec(path)
    path.write_text(f"version = 1\n{text}")
    assert read_spec(path) == unnumbered
    path.write_text(f"version = 2\n[to_come]\nx = 1\n{text}")
    refused(lambda: read_spec(path), field="version=2")
    refused(lambda: read_domain(path), field="version=2")
    ended = run(tmp_path, "plan", path)
    assert ended.returncode == 2
    assert "upgrade lownoise" in ended.stderr


@pytest.mark.parametrize("version", ["0", "true", '"1"', "1.5"])
def test_a_version_that_is_no_number_is_refused_in_one_line(version, tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(f"version = {version}\n{(NOW / 'stream.toml').read_text()}")
    with pytest.raises(LownoiseError, match=r"version is no whole number; give version = 1"):
        read_spec(path)
