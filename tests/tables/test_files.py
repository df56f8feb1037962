# SPDX-License-Identifier: Apache-2.0
"""Files of marginals read back exactly, and are refused where they were touched."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import FileError, PlanError
from lownoise.release import folders as files
from lownoise.sensitivity.relations import checked_relation
from refusals import refused_plan, sealed

ROWS = pd.DataFrame({"a": [0, 1, 1, 2, 9], "b": ["x", "y", "y", "x", "x"]})


def plan(**keywords):
    question = ln.Marginals({"a": 3, "b": ["x", "y"]}, way=2, outside={"a": "extra", "b": "y"})
    keywords = {"relation": "add_remove", "budget": ln.zcdp(0.5), **keywords}
    return ln.plan(question, **keywords)


MADE = [
    plan(),
    plan(order=math.inf),
    plan(relation="substitute", size=5, budget=ln.approx_dp(1, 1e-6)),
    ln.plan(
        ln.Marginals({"a": 3, "b": [1.5, 2]}, sets=[["a"], ["a", "b"]], weights=[2, 3]),
        budget=ln.gaussian_dp(1),
        relation="add_remove",
    ),
]


@pytest.mark.grid(3)
@pytest.mark.parametrize("made", MADE)
def test_a_plan_reads_back_exactly(made):
    text = made.to_json()
    again = ln.Plan.from_json(text)
    assert again.to_json() == text
    assert again.error == made.error
    assert ln.verify(text)
    assert made.verify()


@pytest.mark.parametrize("made", MADE[:3])
def test_a_release_reads_back_exactly(made, tmp_path):
    on_disk = made.release(ROWS, path=tmp_path / "disk")
    in_memory = made.release(ROWS)
    in_memory.save(tmp_path / "memory")
    for folder, released in (("disk", on_disk), ("memory", in_memory)):
        again = ln.Release.load(tmp_path / folder)
        assert np.array_equal(again.integers, released.integers)
        assert np.array_equal(again.marginal("a", "b"), released.marginal("a", "b"))
        assert again.created == released.created
        assert ln.verify(files.read_document(tmp_path / folder))


def test_a_folder_is_never_lost_to_a_file_that_takes_the_name_of_one_in_it(tmp_path):
    """Whoever asks for it; a release that lies in it by another name may be overwritten."""
    mean = ln.plan(ln.Mean(["a"], ln.Box([0], [9])), budget=ln.zcdp(1), relation="add_remove")
    other = mean.release(ROWS[["a"]])
    plan().release(ROWS).save(tmp_path / "r")
    kept = {own: own.read_bytes() for own in (tmp_path / "r").iterdir()}
    for own in kept:
        for writes in (
            lambda own=own: other.save(own, overwrite=True),
            lambda own=own: other.save(own),
            lambda own=own: plan().save(own),
        ):
            with pytest.raises(FileError, match=r"is of a release's folder.*; give a new path$"):
                writes()
    assert {own: own.read_bytes() for own in (tmp_path / "r").iterdir()} == kept
    for _ in "12":
        other.save(tmp_path / "r" / "other.json", overwrite=True)


def edit(made, change):
    document = json.loads(made.to_json())
    change(document["terms"])
    return sealed(document)


def scale(terms, factor):
    terms["noise"]["deviations"] = [d * factor for d in terms["noise"]["deviations"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda t: scale(t, 1 - 1e-9),
        lambda t: scale(t, -1),
        lambda t: scale(t, 0),
        lambda t: t["noise"].update(deviations=t["noise"]["deviations"][:-1]),
        lambda t: t["noise"].update(steps=[0.3] * 4),
        lambda t: t["noise"].update(steps=[1.0] * 4),
        lambda t: t["noise"].update(more=1),
        lambda t: t.update(size=-1.0),
        lambda t: t.update(order=1e308),
        lambda t: t["question"]["attributes"][0].update(categories=[True, 2, 3]),
        lambda t: t["noise"].update(steps=[2.0**-40] * len(t["noise"]["steps"])),
        lambda t: t.update(relation="substitute"),
        lambda t: t.update(size=5),
        lambda t: t["question"].update(way=3),
        lambda t: t["question"].update(kind="other"),
        lambda t: t["question"]["attributes"].pop(),
        lambda t: t["question"]["attributes"].append(t["question"]["attributes"][0]),
        lambda t: t["question"]["attributes"][0].update(categories=400),
        lambda t: t["question"]["attributes"][1].update(outside=-1),
        lambda t: t["question"]["attributes"][1].update(outside=3),
        lambda t: t["question"]["attributes"][1].update(outside=0.5),
        lambda t: t["evidence"].update(cells=[-1.0] * 4),
        lambda t: t["evidence"].update(patterns=[[9, 9]]),
        lambda t: t["evidence"].update(patterns=[[0.5, 0]]),
        lambda t: t.pop("budget"),
    ],
)
def test_a_plan_that_was_touched_is_refused_or_does_not_verify(change):
    text = edit(plan(), change)
    try:
        found = ln.Plan.from_json(text)
    except FileError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert found.cost.mu <= 1.0
        assert not ln.verify(text)


def test_a_plan_is_loaded_by_its_path_and_a_path_is_no_text(tmp_path):
    made, path = plan(), tmp_path / "plan.json"
    made.save(path)
    assert ln.Plan.load(path).to_json() == ln.Plan.load(str(path)).to_json() == made.to_json()
    refused_plan(path, r"text=PosixPath is no text.*or its path to `load`")
    with pytest.raises(FileError, match=r"none\.json cannot be read; give one that save wrote"):
        ln.Plan.load(tmp_path / "none.json")


def test_folders_that_are_no_release_are_refused(tmp_path):
    made = plan()
    made.release(ROWS, path=tmp_path / "r")
    with pytest.raises(FileError, match=r"no readable release\.json"):
        ln.Release.load(tmp_path)
    integers = np.load(tmp_path / "r" / "integers.npy")
    for wrong in (integers[:-1], integers.astype(float)):
        np.save(tmp_path / "r" / "integers.npy", wrong)
        with pytest.raises(FileError, match="integers of its release"):
            ln.Release.load(tmp_path / "r")
    integers[0] += 1
    np.save(tmp_path / "r" / "integers.npy", integers)
    with pytest.raises(FileError, match="other integers than were released"):
        ln.Release.load(tmp_path / "r")
    assert not ln.verify(tmp_path / "r")
    (tmp_path / "r" / "integers.npy").unlink()
    with pytest.raises(FileError, match="integers of its release"):
        ln.Release.load(tmp_path / "r")
    with pytest.raises(FileError, match="exists"):
        made.release(ROWS).save(tmp_path / "r")


def test_an_interrupt_leaves_no_folder(tmp_path, monkeypatch):
    made = plan()

    def stop(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "seal", stop)
    with pytest.raises(KeyboardInterrupt):
        made.release(ROWS, path=tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["derived"].update(epsilon=1e-9),
        lambda d: d.update(spend={"dataset": "x", "number": -5}),
        lambda d: d.update(spend={"dataset": "x", "number": 5, "more": 1}),
        lambda d: d.update(created=None),
        lambda d: d.update(integers=None),
        lambda d: d["derived"].update(error=1.0),
    ],
)
def test_a_release_that_says_more_than_follows_does_not_verify(change, tmp_path):
    plan().release(ROWS, path=tmp_path / "r")
    document = json.loads(files.read_document(tmp_path / "r"))
    assert ln.verify(json.dumps(document))
    change(document)
    assert not ln.verify(sealed(document))


def test_the_integers_are_on_disk_before_the_document(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(files.os, "fsync", lambda _: done.append("integers"))
    monkeypatch.setattr(files, "write", lambda *_: done.append("document"))
    plan().release(ROWS, path=tmp_path / "r")
    assert done[-2:] == ["integers", "document"]
    assert done.count("document") == 1


def test_what_has_its_document_is_kept(tmp_path, monkeypatch):
    made, write = plan(), files.write

    def late(*arguments):
        write(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write", late)
    with pytest.raises(KeyboardInterrupt):
        made.release(ROWS, path=tmp_path / "r")
    assert ln.Release.load(tmp_path / "r").marginal("a").shape == (4,)


def test_disks_without_allocation_are_filled(tmp_path, monkeypatch):
    monkeypatch.delattr(files.os, "posix_fallocate")
    plan().release(ROWS, path=tmp_path / "r")
    assert ln.Release.load(tmp_path / "r").marginal("a").shape == (4,)


def test_a_disk_that_fills_after_the_spend_still_takes_the_document(tmp_path, monkeypatch):
    """Its room is held from before the spend until it is written, and given back then."""
    from lownoise.engines.queries import TableQuery

    held, read = [], TableQuery.of

    def looked(*arguments):
        held.extend(p.stat().st_size for p in (tmp_path / "made").glob("release.json*"))
        return read(*arguments)

    monkeypatch.setattr(TableQuery, "of", looked)
    plan().release(ROWS, path=tmp_path / "made")
    assert sorted(p.name for p in (tmp_path / "made").iterdir()) == ["integers.npy", "release.json"]
    assert (tmp_path / "made" / "release.json").stat().st_size <= held[0]
    assert len(held) == 1


@pytest.mark.parametrize("made", [MADE[0], MADE[2]])
def test_totals_and_their_layout_have_one_relation(made):
    """The layout says what noise covers; another relation's totals would be released under it."""
    totals = made.terms.mechanism.totals
    public = totals.size is None
    other = ("substitute", 5) if public else ("add_remove", None)
    relation, size = checked_relation(other[0]), other[1]
    with pytest.raises(PlanError, match="relation is not that of what is summed"):
        replace(totals, relation=relation, size=size)
