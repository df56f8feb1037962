# SPDX-License-Identifier: Apache-2.0
"""Every field of a plan's or a release's file is edited, and what matters is noticed."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import lownoise as ln
from command_line import run
from lownoise.errors import FileError
from lownoise.release import codec

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
        )
        yield f"plan {relation}", plan.to_json()
        table = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [1.0, 2.0, 3.0]})
        yield f"release {relation}", plan.release(table).to_json()


DOCUMENTS = dict(documents())


def leaves(node, path=()):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from leaves(value, (*path, i))
    else:
        yield path, node


def changed(value):
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.5 + 0.25
        case None:
            return 1
        case str() if value.lstrip("-").isdigit():
            return str(int(value) + 1)
        case _:
            return value + "x"


def edited(document, path):
    copied = copy.deepcopy(document)
    node = copied
    for key in path[:-1]:
        node = node[key]
    # a wider box promises less privacy; a narrower one may promise the same
    node[path[-1]] = -1.5 if "lower" in path else changed(node[path[-1]])
    return copied


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


@pytest.mark.parametrize(("name", "path"), EDITS)
def test_every_edit_is_noticed(name, path):
    assert not holds(edited(json.loads(DOCUMENTS[name]), path))


@pytest.mark.parametrize(("name", "path"), EDITS)
def test_an_edit_that_mends_the_digest_is_noticed_where_it_matters(name, path):
    document = edited(json.loads(DOCUMENTS[name]), path)
    if path == ("digest",):
        return
    document["digest"] = codec.digest(document)
    if not harmless(name, path):
        assert not holds(document)


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("field", ["lower", "upper", "lower_bound", "error"])
def test_bounds_may_differ_in_their_last_digits_and_nothing_else_may(name, field):
    """Another machine's factorizations round otherwise; errors follow by sums alone."""
    document = json.loads(DOCUMENTS[name])
    bounds = document["derived"]
    bounds = bounds["certificate"] if field in bounds["certificate"] else bounds
    value = bounds[field]
    for off, agrees in ((1e-12, field != "error"), (1e-8, False), (-1e-8, False)):
        bounds[field] = value * (1 + off)
        document["digest"] = codec.digest(document)
        assert holds(document) == agrees


@pytest.mark.parametrize("name", [n for n in DOCUMENTS if n.startswith("release")])
@pytest.mark.parametrize(("field", "value"), [("created", "1999-01-01"), ("versions", {"x": "1"})])
def test_who_made_a_file_is_said_and_not_proved(name, field, value):
    """As docs/threat-model.md says: an edit is noticed, a forger's new digest is not."""
    document = json.loads(DOCUMENTS[name])
    assert type(document[field]) is type(value)
    document[field] = value
    assert [c.name for c in ln.verify(json.dumps(document)).checks if not c.holds] == ["unedited"]
    document["digest"] = codec.digest(document)
    found = ln.verify(json.dumps(document))
    assert found
    assert "it has no key" in found.checks[0].found


def test_noise_that_was_made_smaller_throughout_is_still_noticed():
    """A forger who recomputes digest and derived numbers cannot mend the radius."""
    document = json.loads(DOCUMENTS["plan substitute"])
    noise = document["terms"]["noise"]
    noise["scale"] = [s * 0.99 for s in noise["scale"]]
    document["digest"] = codec.digest(document)
    with pytest.raises(FileError, match="too small for the budget"):
        ln.Plan.from_json(json.dumps(document))
    found = ln.verify(json.dumps(document))
    assert [c.name for c in found.checks if not c.holds] == ["terms"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "lownoise.plan/2"}', "[" * 10**5])
def test_what_is_no_file_of_ours_is_one_line(text):
    with pytest.raises(FileError) as refusal:
        ln.verify(text)
    assert "\n" not in str(refusal.value)


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
    with pytest.raises(FileError, match=r"^file=.* cannot be read; give a plan\.json") as refusal:
        ln.verify(source)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_a_file_that_is_refused_is_named(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(FileError, match=r"^file=.*plan\.json: "):
        ln.verify(tmp_path)


def test_verifying_loads_no_optimiser(tmp_path):
    (tmp_path / "p.json").write_text(DOCUMENTS["plan substitute"])
    code = (
        "import sys; from lownoise.verification import verify;"
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
    assert "is not JSON" in verified("not json").stderr


@pytest.mark.parametrize("size", [-1.0, 0.5, "x", [[1]], 0, 17, True])
def test_a_size_that_is_not_public_is_never_read(size):
    question = ln.Mean(["x"], ln.Box([0], [1]))
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    document = json.loads(made.to_json())
    document["terms"]["size"] = size
    document["digest"] = codec.digest(document)
    with pytest.raises(FileError):
        ln.Plan.from_json(json.dumps(document))
    assert not ln.verify(json.dumps(document))


def test_an_order_that_no_plan_has_is_refused():
    question = ln.Mean(["x"], ln.Box([0], [1]))
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    document = json.loads(made.to_json())
    document["terms"]["order"] = 1e308
    document["digest"] = codec.digest(document)
    assert not ln.verify(json.dumps(document))
