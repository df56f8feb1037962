# SPDX-License-Identifier: Apache-2.0
"""Every field of a plan's or a release's file is edited, and what matters is noticed."""

import base64
import json
import math
import os
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from command_line import run
from edits import changed, leaves, put
from lownoise.errors import FileError, PlanError
from lownoise.release import codec
from refusals import one_line, refused_plan, sealed

# Edits of these leave every promise as it was: names, times, and who paid.
HARMLESS = {"columns", "missing", "drops_missing", "created", "versions", "spend"}


def documents():
    for relation, budget in (("substitute", ln.zcdp(0.5)), ("add_remove", ln.approx_dp(1, 1e-6))):
        plan = ln.plan(
            ln.Mean(["a", "b"], ln.Box([0, 0], [1, 4])),
            budget=budget,
            relation=relation,
            size=3 if relation == "substitute" else None,
            order=3,
            mechanism="gaussian",
        )
        yield f"plan {relation}", plan.to_json()
        table = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [1.0, 2.0, 3.0]})
        yield f"release {relation}", plan.release(table).to_json()


DOCUMENTS = dict(documents())


def edited(document, path):
    # a wider box promises less privacy; a narrower one may promise the same
    return put(document, path, lambda value: -1.5 if "lower" in path else changed(value))


def harmless(name, path):
    # under substitute the center moves no difference, so only a release's answers show it
    return HARMLESS & set(map(str, path)) or (name == "plan substitute" and "center" in path)


def holds(document):
    try:
        return bool(ln.verify(json.dumps(document)))
    except FileError:
        return False


EDITS = [
    pytest.param(name, path, id=f"{name} {'.'.join(map(str, path))}")
    for name, text in DOCUMENTS.items()
    for path, _ in leaves(json.loads(text))
]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_unedited_file_holds(name):
    found = ln.verify(DOCUMENTS[name])
    assert found, [c for c in found.checks if not c.holds]


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("name", "path"), EDITS)
def test_every_edit_is_noticed(name, path):
    assert not holds(edited(json.loads(DOCUMENTS[name]), path))


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("name", "path"), EDITS)
def test_an_edit_that_mends_the_digest_is_noticed_where_it_matters(name, path):
    document = edited(json.loads(DOCUMENTS[name]), path)
    if path == ("digest",):
        return
    document["digest"] = codec.digest(document)
    if not harmless(name, path):
        assert not holds(document)


@pytest.mark.grid
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("field", ["lower", "upper", "lower_bound", "error", "mu"])
def test_numbers_may_differ_in_their_last_digits_and_no_more(name, field):
    """Another machine's products and factorizations round otherwise."""
    document = json.loads(DOCUMENTS[name])
    numbers = document["derived"]
    numbers = next((numbers[k] for k in ("certificate", "cost") if field in numbers[k]), numbers)
    value = numbers[field]
    less = field == "lower_bound"  # as a version that proves less states it
    for off, agrees in ((1e-12, True), (1e-8, False), (-1e-8, less), (-2, False)):
        numbers[field] = value * (1 + off)
        document["digest"] = codec.digest(document)
        assert holds(document) == agrees


@cache
def elsewhere():
    """Return files whose last bits differ between the two kernels, by what `verify` takes.

    With noise of this package alone: those of other tests may have added theirs to the process.
    """
    matrix = [[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.7]]
    mean = ln.Mean(["a", "b", "c"], ln.Ellipsoid(matrix, center=[5, 1, 0]))
    moments = ln.Moments(["a", "b", "c"], ln.Box([0, 0, 1], [1, 2, 5]))
    corners = np.random.default_rng(5).normal(size=(8, 3))
    points = ln.Mean(["a", "b", "c"], ln.Points(corners))
    table = pd.DataFrame({"a": [0.1, 0.2], "b": [1.0, 2.0], "c": [1.0, 3.0]})
    asked = [(q, b) for q in (mean, moments, points) for b in (ln.zcdp(0.3), ln.pure_dp(1.0))]
    plans = [ln.plan(question, budget=b, relation="add_remove") for question, b in asked]
    turned = [ln.image(np.random.default_rng(k).normal(size=(4, 4)), ln.Ball(4)) for k in range(4)]
    own = {"budget": ln.approx_dp(4.0, 1e-6), "relation": "substitute", "size": 1000}
    stairs = [
        ln.plan(ln.Mean([f"c{k}" for k in range(4)], domain), mechanism=named, **own)
        for domain in turned
        for named in ("staircase", "ellipsoid", "gaussian")
    ]
    counts, ball = ln.Distribution("a", range(12)), ln.Ellipsoid(np.eye(2) + 0.3)
    simplex, sums = ln.Points(np.eye(4)), ln.minkowski_sum(ln.Points(corners), ln.Ball(3))
    names, own = ["a", "b", "c", "d"], {"relation": "add_remove"}
    more = [
        *parities(),
        ln.plan(ln.Mean(names, simplex), budget=ln.pure_dp(0.7), order=np.inf, **own),
        ln.plan(ln.Mean(names[:3], sums, missing="drop"), budget=ln.gaussian_dp(0.3), **own),
        ln.plan(counts, budget=ln.zcdp(0.3), **own),
    ]
    return {
        **{f"plan-{k}": plan.to_json() for k, plan in enumerate((*plans, *stairs, *more))},
        **{f"release-{k}": plan.release(table).to_json() for k, plan in enumerate(plans)},
        "stream": ln.stream(ln.Prefix(8), budget=ln.zcdp(0.3), domain=ball).to_json(),
        "local": ln.local(points, ln.local_dp(1.0), mechanism="cap").to_json(),
        "local-delta": ln.local(mean, ln.local_dp(1.0, 1e-6), mechanism="gaussian").to_json(),
    }


def parities():
    """Return plans whose cost was an ulp above the whole budget without fused operations.

    That of the hull of what a record changes has deviations that a simulation says.
    """
    own = {"relation": "substitute", "size": 40}
    gaussian, pure = ln.gaussian_dp(0.54), ln.pure_dp(0.55)
    asked = [(5, 4.0, gaussian), (8, 4.0, gaussian), (5, 5.0, pure), (11, 3.0, ln.pure_dp(0.53))]
    for bits, last, budget in asked:
        question = ln.Parity(
            [f"b{k}" for k in range(bits)], [1, 2, 3], weights=[1, 2, last], outside=0
        )
        named = "gaussian" if budget is gaussian else "laplace"
        yield ln.plan(question, budget=budget, mechanism=named, **own)
    five = ln.Parity([f"b{k}" for k in range(5)], [0, 1, 2], outside=0)
    yield ln.plan(five, budget=ln.pure_dp(0.7), mechanism="k_norm", **own)


@pytest.mark.parametrize("kernels", ["Nehalem", "Haswell"])
def test_files_verify_where_products_of_matrices_round_otherwise(kernels, tmp_path):
    """And plans are released from there. Staircases are as wide as the longest change, but for it.

    OpenBLAS is told to take a processor's kernels, with and without fused operations.
    One of the two is not what wrote the files, where the processor is one of x86.
    """
    for name, text in elsewhere().items():
        (tmp_path / f"{name}.json").write_text(text)
    program = (
        "import sys, pathlib, lownoise as ln\n"
        "for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        "    off = [c for c in ln.verify(file).checks if not c.holds]\n"
        "    assert not off, (file.read_text()[:200], off)\n"
        "    if file.stem.startswith('plan'):\n"
        "        ln.Plan.load(file).terms.check_budget()\n"
    )
    given = {**os.environ, "OPENBLAS_CORETYPE": kernels}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def restated(text, path, factor):
    """Return a document with a number so many times as great, and its digest mended."""
    return mended(put(json.loads(text), path, lambda value: value * factor))


def test_simulated_deviations_may_differ_as_draws_do_and_costs_may_not():
    """A walk's, or simplices': another machine's comparisons of floats fall the other way."""
    text = elsewhere()["plan-22"]
    assert ln.Plan.from_json(text).terms.mechanism.estimated
    for path, off, agrees in (
        (("derived", "error"), 1.05, True),
        (("derived", "error"), 1.2, False),
        (("derived", "cost", "epsilon"), 1 + 1e-12, True),
        (("derived", "cost", "epsilon"), 1 - 1e-8, False),
        (("derived", "lower_bound"), 1 + 1e-8, False),
    ):
        assert holds(restated(text, path, off)) == agrees, (path, off)
    assert not holds(restated(elsewhere()["plan-18"], ("derived", "error"), 1.05))


def test_what_stands_in_for_no_record_is_read_as_it_is_stated():
    """Rows with a missing value are dropped; its point is a search's, in some domains."""
    question = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 4]), missing="drop")
    text = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove").to_json()
    near = restated(text, ("terms", "question", "missing", 0), 1 + 1e-13)
    assert holds(near)
    assert json.loads(ln.Plan.from_json(json.dumps(near)).to_json()) == near
    assert not holds(restated(text, ("terms", "question", "missing", 0), 1 + 1e-6))


def test_the_error_of_a_local_plan_is_compared_but_for_last_digits():
    question = ln.Mean(["a", "b"], ln.Ball(2))
    text = ln.local(question, ln.local_dp(1.0), mechanism="cap").to_json()
    for off, agrees in ((1 - 1e-13, True), (1 + 1e-8, False)):
        assert holds(restated(text, ("terms", "alternatives", 0, 1), off)) == agrees


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_what_costs_more_by_last_bits_is_read_and_never_released(mechanism, tmp_path):
    """As where another machine proved a cost that is lower by its last bits."""
    name, budget = ("rho", ln.zcdp(0.5)) if mechanism == "gaussian" else ("epsilon", ln.pure_dp(1))
    question = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 4]))
    plan = ln.plan(question, budget=budget, relation="add_remove", mechanism=mechanism)
    document, file = json.loads(plan.to_json()), tmp_path / "plan.json"
    asked = document["terms"]["budget"][name]
    document["terms"]["budget"][name] = asked * (1 - 2.0**-42)
    file.write_text(json.dumps(document))
    table = pd.DataFrame({"a": [0.1], "b": [1.0]})
    with pytest.raises(PlanError, match="reveals more than its budget"):
        ln.Plan.load(file).release(table)
    document["terms"]["budget"][name] = asked * (1 - 2.0**-36)
    file.write_text(json.dumps(document))
    with pytest.raises(FileError, match="too small for the budget"):
        ln.Plan.load(file)


@pytest.mark.parametrize("name", [n for n in DOCUMENTS if n.startswith("release")])
@pytest.mark.parametrize(("field", "value"), [("created", "1999-01-01"), ("versions", {"x": "1"})])
def test_who_made_a_file_is_said_and_not_proved(name, field, value):
    """As docs/threat-model.md says: an edit is noticed, a forger's new digest is not."""
    document = json.loads(DOCUMENTS[name])
    assert type(document[field]) is type(value)
    document[field] = value
    assert [c.name for c in ln.verify(json.dumps(document)).checks if not c.holds] == ["unedited"]
    found = ln.verify(sealed(document))
    assert found
    assert "it has no key" in found.checks[0].found


def test_noise_that_was_made_smaller_throughout_is_still_noticed():
    """A forger who recomputes digest and derived numbers cannot mend the radius."""
    document = json.loads(DOCUMENTS["plan substitute"])
    noise = document["terms"]["noise"]
    noise["scale"] = [s * 0.99 for s in noise["scale"]]
    refused_plan(sealed(document), "too small for the budget")
    found = ln.verify(sealed(document))
    assert [c.name for c in found.checks if not c.holds] == ["terms"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "lownoise.plan/2"}', "[" * 10**5])
def test_what_is_no_file_of_ours_is_one_line(text):
    with one_line(FileError):
        ln.verify(text)


def test_a_path_a_folder_and_a_text_are_verified_alike(tmp_path):
    text = DOCUMENTS["plan substitute"]
    (tmp_path / "plan.json").write_text(text)
    (path,) = tmp_path.iterdir()
    found = ln.verify(text)
    assert found
    assert [ln.verify(p) for p in (path, str(path), tmp_path, str(tmp_path))] == [found] * 4


@pytest.mark.parametrize(
    "source", ["absent.json", Path("absent"), "no\nname", "no\0name", "x" * 10**5, None, 3, b"{}"]
)
def test_what_is_no_file_is_one_line(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with one_line(
        FileError,
        match=r"^file=.* (cannot be read; give a plan\.json|is no path(;| that a system takes; ))",
    ) as refusal:
        ln.verify(source)
    assert len(str(refusal.value)) < 400


def test_a_file_that_is_refused_is_named(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(FileError, match=r"^file=.*plan\.json: "):
        ln.verify(tmp_path)


def test_verifying_loads_no_optimiser(tmp_path):
    (tmp_path / "p.json").write_text(DOCUMENTS["plan substitute"])
    code = (
        "import sys; from lownoise.release.verification import verify;"
        "assert verify(open(sys.argv[1]).read());"
        "print([m for m in sys.modules if m.startswith('lownoise.solvers')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "p.json")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_the_command_says_what_does_not_hold(tmp_path):
    def verified(text):
        (tmp_path / "f.json").write_text(text)
        return run(tmp_path, "verify", "f.json")

    good = verified(DOCUMENTS["release add_remove"])
    assert (good.returncode, good.stderr) == (0, "")
    bad = verified(DOCUMENTS["release add_remove"].replace('"rho"', '"rho "', 1))
    assert bad.returncode == 2
    assert "unedited" in bad.stderr
    assert bad.stderr.count("\n") == 1
    assert good.stdout.startswith("Everything holds.\n")
    assert "file=f.json: it is not JSON; give" in verified("not json").stderr


@pytest.mark.parametrize("size", [-1.0, 0.5, "x", [[1]], 0, 17, True])
def test_a_size_that_is_not_public_is_never_read(size):
    question = ln.Mean(["x"], ln.Box([0], [1]))
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    document = json.loads(made.to_json())
    document["terms"]["size"] = size
    refused_plan(sealed(document))
    assert not ln.verify(sealed(document))


def test_an_order_that_no_plan_has_is_refused():
    question = ln.Mean(["x"], ln.Box([0], [1]))
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    document = json.loads(made.to_json())
    document["terms"]["order"] = 1e308
    assert not ln.verify(sealed(document))


def mended(document):
    document["digest"] = codec.digest(document)
    return document


def dicts(node, path=()):
    """Yield where dictionaries stand in a document."""
    if isinstance(node, dict):
        yield path
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, (dict, list)):
            yield from dicts(value, (*path, key))


PLACES = [
    pytest.param(name, path, id=f"{name} {'.'.join(map(str, path))}")
    for name, text in DOCUMENTS.items()
    for path in dicts(json.loads(text))
    if "versions" not in path  # texts of any name
]


@pytest.mark.parametrize(("name", "path"), PLACES)
def test_whatever_else_a_file_states_is_noticed(name, path):
    """A claim that nothing follows from: our programs ignored it, and a person may not."""
    document = json.loads(DOCUMENTS[name])
    node = document
    for key in path:
        node = node[key]
    node["epsilon_of_all"] = 0.001
    assert not holds(mended(document))


NUMBERS = [
    pytest.param(name, path, id=f"{name} {'.'.join(map(str, path))}")
    for name, text in DOCUMENTS.items()
    for path, value in leaves(json.loads(text))
    if isinstance(value, (int, float)) and value == int(value)
]


@pytest.mark.parametrize(("name", "path"), NUMBERS)
def test_a_number_of_another_type_is_noticed(name, path):
    """Equal to what was written, and not the same: true is 1, and so is 1.0."""
    document = json.loads(DOCUMENTS[name])
    *inner, last = path
    node = document
    for key in inner:
        node = node[key]
    value = node[last]
    others = [kind(value) for kind in (bool, int, float) if kind(value) == value]
    for other in (other for other in others if type(other) is not type(value)):
        node[last] = other
        assert not holds(mended(document))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_name_that_stands_twice_is_refused(name):
    """Readers disagree on which of two holds: ours took the last one, and called it unedited."""
    text = DOCUMENTS[name]
    for first in ('"budget": {', '"order": ', '"error": ', '"format": '):
        assert text.count(first) == 1
        twice = text.replace(first, f"{first.partition(':')[0]}: 0, {first}")
        for read in (ln.verify, ln.Plan.from_json, ln.Release.from_json):
            with pytest.raises(FileError, match="stands twice"):
                read(twice)


def test_a_stream_that_says_a_name_twice_is_refused():
    state = ln.stream(ln.Prefix(4), budget=ln.zcdp(0.5)).state()
    with pytest.raises(FileError, match="'round' stands twice"):
        ln.Stream.restore(state.replace(b'"round": 0', b'"round": 1, "round": 0'))


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("bound", ["lower_bound", "certificate"])
def test_a_bound_beyond_all_floats_is_noticed(name, bound):
    document = json.loads(DOCUMENTS[name])
    node = document["derived"]
    node = node["certificate"] if bound == "certificate" else node
    node["upper" if bound == "certificate" else bound] = 10**400
    assert not ln.verify(json.dumps(mended(document)))


def test_a_release_of_no_kind_is_noticed_in_its_file_too(tmp_path):
    document = json.loads(DOCUMENTS["release substitute"])
    del document["terms"]["question"]["kind"]
    (tmp_path / "release.json").write_text(json.dumps(mended(document)))
    assert not ln.verify(tmp_path)


@pytest.mark.parametrize("integers", [lambda k: {k: 1}, lambda k: [f"+{k}"], lambda k: [f" {k}"]])
def test_integers_are_read_as_they_are_written(integers):
    plan = ln.plan(
        ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="substitute", size=3
    )
    document = json.loads(plan.release(pd.DataFrame({"a": [0.5, 0.5, 0.5]})).to_json())
    document["integers"] = integers(document["integers"][0].lstrip("-"))
    with pytest.raises(FileError, match="integers are not 1 whole numbers"):
        ln.Release.from_json(json.dumps(document))


ROUNDED = "answers are rounded finely beside the noise"


def coarse(plan, factor):
    """Return the plan as a forger has it: a grid so much coarser, and noise that covers it."""
    document = json.loads(plan.to_json())
    noise = document["terms"]["noise"]
    noise["step"] = [s * factor for s in noise["step"]]
    if noise["kind"] == "dense":
        noise["factor"] = [[noise["factor"][0][0] / factor + 4.0]]
    else:
        noise["scale"][0] = noise["scale"][0] / factor + 4.0
    return ln.Plan.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("question", "budget", "relation", "size"),
    [
        (ln.Mean(["a"], ln.Box([0], [1])), ln.zcdp(0.5), "substitute", 10**6),
        (ln.Mean(["a"], ln.Box([0], [1])), ln.zcdp(0.5), "add_remove", None),
        (ln.Mean(["a"], ln.Box([0], [1])), ln.zcdp(0.5), ln.Box([-0.5], [0.5]), 10**6),
        (
            ln.Queries([[0.1, 0.3, 0.7]], {"x": 3}, outside={"x": 0}),
            ln.zcdp(0.5),
            "substitute",
            10**6,
        ),
    ],
    ids=["means", "sums", "changes", "queries"],
)
def test_a_grid_that_shows_beside_the_noise_is_noticed(question, budget, relation, size):
    """The noise covers it, and the error that is stated is not that of the answers."""
    plan = ln.plan(question, budget=budget, relation=relation, size=size)
    assert ln.verify(plan.to_json())
    forged = coarse(plan, 2.0**36)
    checks = [c.name for c in ln.verify(forged.to_json()).checks if not c.holds]
    assert ROUNDED in checks


def test_a_grid_of_a_stream_that_shows_beside_the_noise_is_noticed():
    domain = ln.Box([0], [1])
    text = ln.stream(ln.Prefix(64), domain=domain, budget=ln.zcdp(0.5)).to_json()
    assert ln.verify(text)
    document = json.loads(text)
    noise = document["terms"]["noise"]
    noise.update(step=[0.5], scale=[8.0], cover=[64.0])
    forged = ln.StreamPlan.from_json(json.dumps(document)).to_json()
    checks = [c.name for c in ln.verify(forged).checks if not c.holds]
    assert checks == [ROUNDED]


@pytest.mark.parametrize("shape", [[10**18, 0], [0, 10**18]])
def test_an_array_of_nothing_has_no_more_rows_than_others(shape):
    """A small file had its reader count 10^18 rows."""
    question = ln.Queries([[0, 1, 3]], {"x": 3}, outside={"x": 0})
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=3)
    document = json.loads(plan.to_json())
    nothing = base64.b64encode(zlib.compress(b"")).decode()
    document["terms"]["question"]["matrix"] = {"shape": shape, "float64": nothing}
    refused_plan(json.dumps(document), "matrix has the shape")


def test_whole_numbers_may_have_a_coarser_grid_as_long_as_noise_is_fine_on_it():
    """Nothing is lost of records, so that of 10^6 a grid of 2^20 steps a record is as exact."""
    question = ln.Queries([[0, 1, 3]], {"x": 3}, outside={"x": 0})
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=10**6)
    step = json.loads(plan.to_json())["terms"]["noise"]["step"][0]
    for places, holds in ((20, True), (12, False)):
        own = ln.verify(coarse(plan, 2.0**-places / step).to_json())
        assert (ROUNDED not in [c.name for c in own.checks if not c.holds]) == holds


STEPS = {
    "step",
    "count_step",
    "scale",
    "scales",
    "factor",
}  # of a grid, and what is told in it


def on_coarse_grid(text, places):
    """Return a file of the same noise, of as many deviations, on a grid so much coarser."""

    def moved(value, by):
        return [moved(own, by) for own in value] if isinstance(value, list) else by * value

    document = json.loads(text)
    noise = document["terms"]["noise"]
    noise = noise.get("values", noise)
    for name in STEPS & {name for name, own in noise.items() if own is not None}:
        grid = name.endswith("step")
        if grid or isinstance(noise[name], list):
            noise[name] = moved(noise[name], 2.0 ** (places if grid else -places))
    return json.dumps(mended(document))


@cache
def exact(name):
    """Return a plan of records that no grid of their kind rounds, and of real noise."""
    lists = ln.Points([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    asked = {"relation": "add_remove", "budget": ln.zcdp(0.5)}
    question = ln.Mean(["a", "b"], lists)
    match name:
        case "totals":
            question = ln.Sum(["a", "b"], lists)
        case "groups":
            question = ln.Mean(["a", "b"], lists, by={"g": 2, "h": 3})
        case "queries":
            question = ln.Queries([[0, 1, 3], [1, 1, 0]], {"x": 3})
        case "pure" | "pure groups":
            asked |= {"budget": ln.pure_dp(0.5), "mechanism": "laplace"}
            by = {"g": 2} if name == "pure groups" else None
            question = ln.Mean(["a", "b"], lists, by=by)
    return ln.plan(question, **asked).to_json()


@pytest.mark.parametrize("name", ["means", "totals", "queries", "pure", "groups", "pure groups"])
def test_real_noise_that_is_coarse_on_its_own_grid_is_noticed(name):
    """Rounding of the noise adds errors that no stated error has, where records are exact, too."""
    text = exact(name)
    assert ln.verify(on_coarse_grid(text, 0))
    noise = json.loads(text)["terms"]["noise"]
    noise = noise.get("values", noise)
    steps = [*noise["step"], noise.get("count_step") or 0.0]
    quarters = -round(math.log2(max(steps))) - 2  # of a record, which stays whole
    checks = [c.name for c in ln.verify(on_coarse_grid(text, quarters)).checks if not c.holds]
    assert checks == [ROUNDED]


def test_steps_of_parities_are_those_of_their_noise():
    bits = ln.Parity(["a", "b"], [1, 2], outside={"a": 0, "b": 0})
    document = json.loads(
        ln.plan(bits, budget=ln.zcdp(50.0), relation="substitute", size=9).to_json()
    )
    document["terms"]["noise"]["steps"] = [1.0, 1.0]  # of noise of a third of a record
    assert [c.found for c in ln.verify(json.dumps(mended(document))).checks if not c.holds] == [
        "noise.steps are not those of the deviations"
    ]


@pytest.mark.grid
@pytest.mark.parametrize("domain", [ln.Box([1, 2], [1, 2]), ln.Points([[1.0, 2.0]])])
@pytest.mark.parametrize("budget", [ln.pure_dp(1.0), ln.zcdp(0.5)])
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_domains_of_one_point_are_read_and_verified(domain, budget, relation):
    size = 3 if relation == "substitute" else None
    plan = ln.plan(ln.Mean(["a", "b"], domain), budget=budget, relation=relation, size=size)
    assert ln.verify(plan.to_json())
    release = plan.release(pd.DataFrame({"a": [1.0] * 3, "b": [2.0] * 3}))
    assert ln.verify(release.to_json())


@pytest.mark.grid
@pytest.mark.parametrize("budget", [ln.pure_dp(1.0), ln.zcdp(0.5)])
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("order", [2.0, float("inf")])
@pytest.mark.parametrize("scale", [2.0**-390, 2.0**500])
def test_the_widest_and_narrowest_boxes_have_an_error_and_a_file(budget, relation, order, scale):
    size = 3 if relation == "substitute" else None
    question = ln.Mean(["a"], ln.Box([-scale], [scale]))
    plan = ln.plan(question, budget=budget, relation=relation, size=size, order=order)
    assert 0 < plan.lower_bound <= plan.error < float("inf")
    release = plan.release(pd.DataFrame({"a": [0.0] * 3}))
    assert ln.verify(release.to_json())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["plan.json", "release.json", "together.json", "1.json"])
@pytest.mark.parametrize("kind", ["pipe", "endless", "zeros"])
def test_what_waits_or_never_ends_in_a_folder_is_refused_unread(tmp_path, monkeypatch, name, kind):
    """As anybody may send one: zeros take no room on a disk, and all of the memory."""
    if name == "1.json":
        asked = {"a": ln.Count({"x": 2}), "b": ln.Mean(["y"], ln.Box([0.0], [1.0]))}
        plan = ln.plan(asked, budget=ln.zcdp(0.5), relation="add_remove")
        plan.save(tmp_path / "f")
        name = next(own.name for own in (tmp_path / "f").iterdir() if own.name.startswith("1"))
        (tmp_path / "f" / name).unlink()
    else:
        (tmp_path / "f").mkdir()
    path = tmp_path / "f" / name
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "endless":
            path.symlink_to("/dev/zero")
        case _:
            path.touch()
            os.truncate(path, 2**31 + 1)
    real = Path.read_text

    def read(own, *args, **more):
        assert own != path
        return real(own, *args, **more)

    monkeypatch.setattr(Path, "read_text", read)
    with pytest.raises(FileError, match=r"cannot be read|has no together"):
        ln.verify(tmp_path / "f")
    if name == "release.json":
        with pytest.raises(FileError, match="has no readable release"):
            ln.Release.load(tmp_path / "f")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_integers_that_are_a_pipe_are_refused_unread(tmp_path, monkeypatch):
    plan = ln.plan(ln.Count({"x": 2}), budget=ln.zcdp(0.5), relation="add_remove")
    plan.release(pd.DataFrame({"x": [0, 1]})).save(tmp_path / "f")
    path = tmp_path / "f" / "integers.npy"
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("read"))
    found = ln.verify(tmp_path / "f")
    assert [own.name for own in found.checks if not own.holds] == ["integers as released"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_that_is_named_is_read(tmp_path):
    os.mkfifo(tmp_path / "p")
    write = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"
    text = DOCUMENTS["plan substitute"]
    writer = subprocess.Popen([sys.executable, "-c", write, tmp_path / "p", text])
    assert ln.verify(tmp_path / "p")
    assert not writer.wait()
