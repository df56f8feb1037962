# SPDX-License-Identifier: Apache-2.0
"""What is no path is refused in one line wherever one is taken, and nothing is made or spent."""

import functools
import inspect

import pyarrow as pa
import pytest

import lownoise as ln
from lownoise.errors import LownoiseError
from report.members import stream

ROWS = pa.table({"age": [30.0, 40.0], "sex": [0, 1]})
ASKED = {"budget": ln.zcdp(0.5), "relation": "add_remove"}
WRONG = (
    None,
    5,
    True,
    1.5,
    b"x.csv",
    "",
    "a\0.csv",
    "a\nb.csv",
    "\ud800.csv",
    {"x.csv"},
    object(),
    "x" * 400,
    "https://me:S3CR3T@h/x.csv?S3CR3T 1",
)


@functools.cache
def planned(question):
    return {
        "mean": lambda: ln.plan(ln.Mean(["age"], ln.Box([0], [99])), **ASKED),
        "margins": lambda: ln.plan(ln.Marginals({"sex": 2}), **ASKED),
        "joint": lambda: ln.together(
            {"a": planned("mean").terms.question, "b": planned("margins").terms.question}, **ASKED
        ),
        "local": lambda: ln.local(ln.Histogram("sex", 2), budget=ln.local_dp(1.0)),
        "stream": lambda: stream(ln.Prefix(3)),
        "learning": lambda: ln.learning.plan(
            ln.learning.LeastSquares(), features=1, feature_radius=1.0, target_bound=1.0,
            records=10, batch=5, clip=1.0, radius=1.0, budget=ln.zcdp(1),
        ),
    }[question]()  # fmt: skip


def streamed(path, ledger=None):
    domain = ln.Box([0], [1])
    return ln.stream(ln.Prefix(3), domain=domain, budget=ln.zcdp(0.5), path=path, ledger=ledger)


@functools.cache
def released(question):
    return planned(question).release(ROWS)


# by what they are given for a path, and for an account, where they pay
TAKES = {
    "JointPlan.load": lambda path, _: ln.JointPlan.load(path),
    "JointPlan.save": lambda path, _: planned("joint").save(path),
    "JointRelease.export": lambda path, _: released("joint").export(path),
    "JointRelease.load": lambda path, _: ln.JointRelease.load(path),
    "JointRelease.save": lambda path, _: released("joint").save(path),
    "Ledger.__init__": lambda path, _: ln.Ledger(path, "d"),
    "Ledger.create": lambda path, _: ln.Ledger.create(path, "d", ln.zcdp(1)),
    "Ledger.datasets": lambda path, _: ln.Ledger.datasets(path),
    "Ledger.open_or_create": lambda path, _: ln.Ledger.open_or_create(path, "d", ln.zcdp(1)),
    "LocalPlan.save": lambda path, _: planned("local").save(path),
    "Plan.export": lambda path, _: planned("mean").export(path),
    "Plan.load": lambda path, _: ln.Plan.load(path),
    "Plan.release": lambda path, ledger: planned("margins").release(ROWS, ledger, path=path),
    "Plan.save": lambda path, _: planned("mean").save(path),
    "Release.export": lambda path, _: released("mean").export(path),
    "Release.load": lambda path, _: ln.Release.load(path),
    "Release.save": lambda path, _: (released("mean").save(path), released("margins").save(path)),
    "Stream.export": lambda path, _: streamed(None).export(path),
    "Stream.open": lambda path, _: ln.Stream.open(path),
    "Stream.resumed": lambda path, _: ln.Stream.resumed(path, None, None),
    "StreamPlan.export": lambda path, _: planned("stream").export(path),
    "StreamPlan.save": lambda path, _: planned("stream").save(path),
    "StreamPlan.start": lambda path, ledger: planned("stream").start(ledger, path),
    "Table.__init__": lambda path, ledger: planned("mean").release(path, ledger),
    "device.Keeper.__init__": lambda path, _: ln.device.Keeper(path),
    "device.Keeper.create": lambda path, _: ln.device.Keeper.create(path),
    "device.read": lambda path, _: ln.device.read(path),
    "learning.LearningPlan.fit": lambda path, ledger: planned("learning").fit(
        [[0.1]] * 10, [0.1] * 10, ledger=ledger, path=path
    ),
    "learning.LearningPlan.save": lambda path, _: planned("learning").save(path),
    "learning.LearningPlan.start": lambda path, ledger: planned("learning").start(
        ledger=ledger, path=path
    ),
    "stream": streamed,
    "verify": lambda path, _: ln.verify(path),
}


def taken():
    """Return what takes a path of all that is public, and whether it may be left out."""
    for room, before in ((ln, ""), (ln.device, "device."), (ln.learning, "learning.")):
        each = {name: getattr(room, name) for name in dir(room)}
        classes = {name: own for name, own in each.items() if inspect.isclass(own)}
        for name, own in classes.items():
            each |= {f"{name}.{n}": member for n, member in inspect.getmembers(own)}
        for name, own in each.items():
            public = not name.removesuffix(".__init__").rpartition(".")[2].startswith("_")
            if public and (inspect.isfunction(own) or inspect.ismethod(own)):
                for given in inspect.signature(own).parameters.values():
                    if str(given.annotation).startswith("str | PathLike[str]"):
                        yield before + name, given.default is None


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("place", TAKES)
def test_what_is_no_path_is_refused_in_a_line(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = ln.Ledger.create("l.ledger", "d", ln.zcdp(100))
    optional = dict(taken())[place]
    for wrong in WRONG[optional:]:
        with pytest.raises(LownoiseError) as refusal:
            TAKES[place](wrong, ledger)
        assert "\n" not in str(refusal.value)
        assert "; " in str(refusal.value)
        assert "S3CR3T" not in str(refusal.value)
    assert [own.name for own in tmp_path.iterdir()] == ["l.ledger"]
    assert all(entry.state == "cancelled" for entry in ledger.entries())


def test_every_public_place_is_tried():
    assert {place for place, _ in taken()} == set(TAKES)
