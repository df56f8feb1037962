# SPDX-License-Identifier: Apache-2.0
"""A device reads a public plan, needs numpy alone, and believes nothing that it can compute."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from local_model.members import MEMBERS
from local_model.plans import document, encoder_for, terms_of
from lownoise import device
from lownoise.errors import FileError, PlanError, TableError
from lownoise.local_model import FULL, RANDOMIZERS
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release import codec
from refusals import one_line, sealed

DELTA = {"gaussian": 1e-6}
LOSSES = {name: member().loss.epsilon for name, member in MEMBERS.items()}
# what each plan states: the whole number at or above its loss, 1 of Gaussian reports
EPSILON = {name: float(math.ceil(own)) if own < math.inf else 1.0 for name, own in LOSSES.items()}
EACH = pytest.mark.parametrize("name", MEMBERS)


def text_of(name, **more):
    stated = {"epsilon": EPSILON[name], "delta": DELTA.get(name, 0.0)}
    return document(name, **stated | more)


def record_for(plan, value=0.25):
    return [value] * len(plan.encoder.columns)


def edited(name, change):
    """A plan's document with a change in it, and the digest of the changed one."""
    parsed = json.loads(text_of(name))
    change(parsed)
    del parsed["digest"]
    return sealed(parsed)


@EACH
def test_a_plan_is_read_from_its_text_and_from_its_file(name, tmp_path):
    text = text_of(name)
    path = tmp_path / "plan.json"
    path.write_text(text)
    plans = [device.read(text), device.read(path), device.read(str(path)), device.read("\n" + text)]
    assert len({plan.digest for plan in plans}) == 1
    plan = plans[0]
    assert plan.randomizer == MEMBERS[name]()
    assert (plan.epsilon, plan.delta) == (EPSILON[name], DELTA.get(name, 0.0))
    assert f"epsilon={plan.epsilon}" in repr(plan)


@EACH
def test_a_report_is_what_the_randomizer_makes_of_the_encoded_record(name, monkeypatch):
    plan = device.read(text_of(name))
    monkeypatch.setattr(device, "SystemRandomness", lambda: SimulationRandomness(21))
    randomness = SimulationRandomness(21)
    record = record_for(plan)
    encoded = encoder_for(plan.randomizer).encode([record])
    values = plan.randomizer.reports(encoded, randomness=randomness)[0]
    expected = plan.form.fresh(values, randomness=randomness)
    assert plan.randomize(record) == expected
    assert expected.plan == plan.digest[:16]
    assert plan.form.from_bytes(plan.form.to_bytes(expected)) == expected


def test_a_report_says_nothing_of_which_record_it_is_beside_its_integers():
    plan = device.read(text_of("laplace"))
    reports = [plan.randomize([x, 0, 0]) for x in (-1, 1, float("nan"), "text", None)]
    assert len({report.plan for report in reports}) == 1
    assert len({report.id for report in reports}) == 5
    assert len({len(plan.form.to_bytes(report)) for report in reports}) == 1


@EACH
@pytest.mark.parametrize("record", [[1.0], [1.0] * 99, {"x0": 1.0}, [[1.0, 2.0]] * 5])
def test_a_record_of_another_shape_is_refused(name, record):
    with pytest.raises(TableError, match=r"the plan's \d+ values"):
        device.read(text_of(name)).randomize(record)


def test_a_value_that_is_no_number_counts_as_the_stand_in(monkeypatch):
    plan = device.read(text_of("laplace"))
    found = []
    for value in (0.0, float("nan"), float("inf"), "no number", None, object()):
        monkeypatch.setattr(device, "SystemRandomness", lambda: SimulationRandomness(22))
        found.append(plan.randomize([0.5, value, 0.5]))
    assert all(report == found[0] for report in found)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "not JSON"),
        ("[]", "is not lownoise.local"),
        ("{}", "is not lownoise.local"),
        ('{"format": "lownoise.plan/2"}', "is not lownoise.local"),
        ('{"format": "lownoise.local/99"}', "upgrade lownoise"),
        ('{"format": "lownoise.local/2"}', "damaged"),
        ("nowhere.json", "cannot be read"),
        ("a\0b", "is no path"),
        (b"\xff", "is no path"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(source, message):
    with one_line(FileError, match=message):
        device.read(source)


def test_an_edited_plan_is_refused():
    text = text_of("laplace").replace('"epsilon": 1.0', '"epsilon": 2.0')
    with pytest.raises(FileError, match="digest is not that of the document"):
        device.read(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["terms"].pop("budget"), "fields of a local plan"),
        (lambda d: d["terms"].update(more=1), "fields of a local plan"),
        (lambda d: d.update(terms=[]), "fields of a local plan"),
        (lambda d: d["terms"]["randomizer"].update(kind="none"), "is unknown"),
        (lambda d: d["terms"]["randomizer"].update(kind=["laplace"]), "is unknown"),
        (lambda d: d["terms"]["encoder"].update(kind="none"), "is unknown"),
        (lambda d: d["terms"]["randomizer"].update(dimension=2), "does not take"),
        (lambda d: d["terms"]["randomizer"].update(scale=-1.0), "no number above 0"),
        (lambda d: d["terms"]["budget"].update(epsilon=0.0), "none of local_dp"),
        (lambda d: d["terms"]["budget"].update(epsilon="1"), "none of local_dp"),
        (lambda d: d["terms"]["budget"].update(delta=1.0), "none of local_dp"),
        (lambda d: d["terms"]["budget"].update(kind="zcdp"), "none of local_dp"),
        (lambda d: d["terms"]["budget"].update(more=1), "none of local_dp"),
        (lambda d: d["terms"]["budget"].pop("delta"), "none of local_dp"),
    ],
)
def test_a_plan_of_no_meaning_is_refused_in_one_line(change, message):
    with one_line(FileError, match=message):
        device.read(edited("laplace", change))


# ---------------------------------------------------------------- what is believed


@EACH
def test_an_honest_plan_verifies(name):
    plan = device.read(text_of(name))
    assert plan.verify() == MEMBERS[name]().loss


@EACH
def test_a_plan_that_reveals_more_than_it_states_does_not(name):
    text = text_of(name, epsilon=0.5)
    with pytest.raises(PlanError, match=r"states epsilon=0\.5.*send no report"):
        device.read(text).verify()


def test_a_gaussian_plan_that_states_no_delta_does_not_verify():
    with pytest.raises(PlanError, match="send no report"):
        device.read(document("gaussian", epsilon=1000.0)).verify()


# ---------------------------------------------------------------- what a device loads

HEAVY = (
    "flint", "scipy", "pandas", "pyarrow", "duckdb", "ibis", "dp_accounting", "pydantic", "jinja2",
    "sqlite3",
)  # fmt: skip
ROOMS = (
    "bounds", "certificate", "engines", "noise", "planning", "privacy", "questions", "report",
    "samplers", "sensitivity", "sets", "solvers", "spec", "streams", "theory",
)  # fmt: skip
DRAWS = """
import json, sys
import lownoise.device as device
from lownoise.local_model import RANDOMIZERS
from lownoise.numbers.randomness import SimulationRandomness
randomness = SimulationRandomness(31)
device.SystemRandomness = lambda: randomness
heavy, rooms = {heavy!r}, {rooms!r}
for text in json.load(sys.stdin):
    plan = device.read(text)
    rest = [0.5] * (len(plan.encoder.columns) - 2)
    for k in range(300):
        report = plan.randomize([-1.0 + k / 150, float("nan"), *rest])
        plan.form.to_bytes(report), report.to_json()
own = [m.split(".")[1] for m in sys.modules if m.startswith("lownoise.")]
print(json.dumps([[m for m in heavy if m in sys.modules], sorted(set(rooms) & set(own)),
                  sorted(RANDOMIZERS.names)]))
"""


def run(code, texts):
    text = json.dumps(texts)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_device_imports_numpy_alone():
    """The seed leaves no draw open: thousands of numbers, each open once in 2^20."""
    texts = [text_of(name) for name in MEMBERS]
    heavy, rooms, _ = run(DRAWS.format(heavy=HEAVY, rooms=ROOMS), texts)
    assert heavy == []
    assert rooms == []


OPEN = """
import json, sys
import numpy as np
import lownoise.device as device
class Crafted:
    def words(self, count):
        return np.full(count, 2**30, dtype=np.uint64)  # beyond the table of normal numbers
device.SystemRandomness = Crafted
plan = device.read(json.load(sys.stdin)[0])
before = "flint" in sys.modules
report = plan.randomize([0.5, 0.5, 0.5])
print(json.dumps([before, "flint" in sys.modules, list(report.values)]))
"""


@pytest.mark.parametrize("name", ["gaussian", "k_norm", "laplace"])
def test_a_draw_that_is_open_imports_interval_arithmetic_and_is_right(name):
    before, after, values = run(OPEN, [text_of(name)])
    assert (before, after) == (False, True)
    own = MEMBERS[name]()

    class Crafted:
        def words(self, count):
            return np.full(count, 2**30, dtype=np.uint64)

    encoded = encoder_for(own).encode([[0.5, 0.5, 0.5]])
    assert values == own.reports(encoded, randomness=Crafted())[0].tolist()
    assert np.max(np.abs(encoded)) <= FULL


COMPLETE = """
import importlib, json, pkgutil
import lownoise.device
from lownoise.local_model import ENCODERS, RANDOMIZERS
first = [sorted(RANDOMIZERS.names), sorted(ENCODERS.names)]
import lownoise.local_model as room
for module in pkgutil.iter_modules(room.__path__):
    importlib.import_module(f"lownoise.local_model.{module.name}")
print(json.dumps([first, [sorted(RANDOMIZERS.names), sorted(ENCODERS.names)]]))
"""


def test_a_device_reads_every_kind_that_there_is():
    first, all_kinds = run(COMPLETE, [])
    assert first == all_kinds
    assert set(first[0]) >= {RANDOMIZERS.of(member()).name for member in MEMBERS.values()}


def test_what_a_document_states_of_its_terms_is_what_reports_name():
    terms = terms_of(MEMBERS["laplace"](), name="a")
    other = terms_of(MEMBERS["laplace"](), name="b")
    one, two = (
        device.read(codec.dump("local", {"terms": t, "derived": {}})) for t in (terms, other)
    )
    assert one.digest != two.digest
    proof = codec.dump("local", {"terms": terms, "derived": {"error": 1.0}, "curator": {}})
    assert device.read(proof).digest == one.digest
