# SPDX-License-Identifier: Apache-2.0
"""Files of pure plans and releases: read back exactly, and every edit that matters is noticed."""

import json
import math
from functools import cache

import numpy as np
import pytest

import lownoise as ln
from command_line import run
from edits import changed, leaves, put
from lownoise.errors import FileError
from pure.documents import ASKED, NAMES, plan_of, planned, table
from refusals import one_line, refused_plan, sealed

RELEASED = ("k_norm", "recursive", "randomized_response")
made = cache(plan_of)
TEXTS = [f"{kind} {name}" for kind in ("plan", "release") for name in ASKED]
EDITED = [n for n in TEXTS if n.startswith("plan") or n.removeprefix("release ") in RELEASED]
# Edits of these leave every promise as it was: names, times, who paid, and a mechanism not taken.
HARMLESS = {"columns", "missing", "drops_missing", "created", "versions", "spend", "labels"}
HARMLESS |= {"outside", "name", "categories"}
# Other evidence proves what it proves: a stated bound that is above that is refused (below).
HARMLESS |= {"evidence"}


@cache
def text_of(name):
    kind, own = name.split(" ", 1)
    return (made(own) if kind == "plan" else made(own).release(table())).to_json()


def worse(path, value):
    """An edit that breaks a promise: others may say less than is true."""
    if "lower" in path:  # a wider box promises less privacy; a narrower one may promise the same
        return -1.5
    return value / 2 if path[-2:] == ("budget", "epsilon") else changed(value)


def found(document, path):
    for key in path:
        document = document[key]
    return document


def harmless(name, document, path):
    words = set(map(str, path))
    if path[:2] == ("terms", "compared"):
        # of the mechanisms that were not taken a file says what was found; nothing else rests on it
        taken = found(document, path[:3])["mechanism"] == document["terms"]["mechanism"]
        return not (taken and path[-1] == "error")
    if path == ("terms", "size") and document["terms"]["question"]["kind"] == "queries":
        return name.startswith("plan")  # sums have the noise that they have
    about_center = "center" in words and name.startswith("plan") and document["terms"]["size"]
    return bool(HARMLESS & words) or bool(about_center)


def refused(text):
    """Whether it is refused, in one line."""
    try:
        verified = ln.verify(text)
    except FileError as error:
        return "\n" not in str(error)
    off = [c for c in verified.checks if not c.holds]
    assert all("\n" not in c.found for c in off)
    return bool(off)


def test_every_mechanism_is_among_them():
    # see tests/tables/test_pure_tables.py and tests/mechanisms/test_discrete_k_norm.py
    of_marginals = {"laplace_residual", "geometric_residual", "discrete_k_norm"}
    assert {name.strip() for name in ASKED} == set(NAMES) - of_marginals


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("name", TEXTS)
def test_an_unedited_file_holds_and_reads_back_exactly(name):
    verified = ln.verify(text_of(name))
    assert verified, [c for c in verified.checks if not c.holds]
    names = [c.name for c in verified.checks]
    assert "noise covers what one record can change" in names
    own = made(name.split(" ", 1)[1])
    assert f"cost within {own.terms.budget}" in names
    kind = ln.Plan if name.startswith("plan") else ln.Release
    again = kind.from_json(text_of(name))
    assert again.to_json() == text_of(name)
    assert np.array_equal(again.terms.standard_deviation, own.standard_deviation)
    assert own.verify()


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize("name", EDITED)
def test_every_edit_is_noticed_and_where_it_matters_a_mended_digest_does_not_help(name):
    document = json.loads(text_of(name))
    for path, value in leaves(document):
        if "radial" in name and any(isinstance(i, int) and i % 5 > 0 for i in path):
            continue  # of long lists every fifth place
        wrong = worse(path, value)
        mended = path != ("digest",) and not harmless(name, document, path)
        edited = put(document, path, lambda _, wrong=wrong: wrong)
        assert refused(sealed(edited) if mended else json.dumps(edited)), path


WRONG = [
    ("k_norm", ("scale",), 0.0),
    ("k_norm", ("scale",), -1.0),
    ("k_norm", ("scale",), math.inf),
    ("k_norm", ("scale",), "1"),
    ("k_norm", ("scale",), 10**400),
    ("laplace", ("scales", 0), 0.0),
    ("laplace", ("scales",), []),
    ("laplace", ("scales",), [1e300]),
    ("recursive", ("levels",), []),
    ("recursive", ("levels", 0, "coordinates"), True),
    ("recursive", ("levels", 0, "coordinates"), 3),
    ("recursive", ("levels", 0, "scale"), 1e-300),
    ("recursive", ("rows",), {}),
    ("k_norm ", ("kept",), [0.5, 1.5, 2.5]),
    ("k_norm ", ("kept",), [1, 0]),
    ("k_norm ", ("kept",), [0, 1, 99]),
    ("k_norm ", ("kept",), [0]),
    ("laplace_histogram", ("step",), 0.75),
    ("laplace_histogram", ("step",), 2.0),
    ("laplace_histogram", ("scales",), [1.0]),
    ("randomized_response", ("keep",), 1.0),
    ("randomized_response", ("keep",), 0.0),
]


@pytest.mark.parametrize(("name", "path", "value"), WRONG)
def test_noise_that_no_plan_has_is_one_clear_line(name, path, value):
    document = json.loads(text_of(f"plan {name}"))
    text = sealed(put(document, ("terms", "noise", *path), lambda _: value))
    refused_plan(text)
    assert refused(text)


@pytest.mark.parametrize("name", ASKED)
def test_noise_that_was_made_smaller_throughout_is_still_noticed(name):
    document = json.loads(text_of(f"plan {name}"))
    noise = document["terms"]["noise"]
    for level in noise.get("levels", [noise]):
        if "scale" in level:
            level["scale"] *= 0.99
    if "scales" in noise:
        noise["scales"] = [s * 0.99 for s in noise["scales"]]
    if "keep" in noise:
        noise["keep"] = 0.5
    refused_plan(sealed(document), "too small for the budget")


COMPARED = [
    lambda listed: listed[1:],
    lambda listed: [*listed, listed[0]],
    lambda listed: [listed[0], *listed],
    lambda listed: listed[::-1],
    lambda listed: [{**listed[0], "error": None}, *listed[1:]],
    lambda listed: [{**listed[0], "note": 3}, *listed[1:]],
    lambda listed: [{**listed[0], "more": 3}, *listed[1:]],
    lambda listed: [{**listed[0], "error": -1.0}, *listed[1:]],
    lambda listed: [{**listed[0], "mechanism": "best"}, *listed[1:]],
    lambda _: {},
]


@pytest.mark.parametrize("edit", COMPARED)
def test_a_comparison_that_no_plan_makes_is_refused(edit):
    document = json.loads(planned("queries").to_json())
    document["terms"]["compared"] = edit(document["terms"]["compared"])
    refused_plan(sealed(document))
    assert refused(sealed(document))


def test_a_comparison_that_flatters_the_mechanism_does_not_hold():
    document = json.loads(planned("queries").to_json())
    document["terms"]["compared"][0]["error"] *= 0.5
    off = [c.name for c in ln.verify(sealed(document)).checks if not c.holds]
    assert off == ["mechanism as compared"]


def test_reports_that_no_rows_can_have_given_are_refused():
    document = json.loads(text_of("release randomized_response"))
    for integers in (["31", "0", "0", "0"], ["-1", "31", "0", "0"], ["30", "0", "0"]):
        document["integers"] = integers
        with pytest.raises(FileError):
            ln.Release.from_json(sealed(document))
        assert refused(sealed(document))


def test_a_document_of_another_kind_names_its_own():
    for kind, other, text in [
        (ln.Plan, "release", text_of("release laplace")),
        (ln.Release, "plan", text_of("plan laplace")),
    ]:
        with one_line(FileError, match=other):
            kind.from_json(text)


@pytest.mark.grid(3)
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("question", ["mean", "queries"])
def test_one_plan_and_one_release_read_every_question_and_noise(question, noise):
    budget = ln.zcdp(0.5) if noise == "gaussian" else ln.pure_dp(1.0)
    plan = planned(question, budget=budget)
    again = ln.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    release = plan.release(table())
    assert ln.Release.from_json(release.to_json()).to_json() == release.to_json()


def test_files_are_verified_by_path_and_by_command(tmp_path):
    made("recursive").save(tmp_path / "plan.json")
    assert ln.verify(tmp_path)
    done = run(tmp_path, "verify", "plan.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Everything holds." in done.stdout
    (tmp_path / "plan.json").write_text(text_of("plan recursive").replace("0.7", "0.6"))
    done = run(tmp_path, "verify", "plan.json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "unedited, terms" in done.stderr
