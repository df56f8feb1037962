# SPDX-License-Identifier: Apache-2.0
"""Lists of points in files: read, planned, released and enclosed from the command line."""

import json

import numpy as np
import pytest

import lownoise as ln
from command_line import run
from lownoise.errors import DomainError, FileError, SpecError
from lownoise.spec import read_spec
from lownoise.spec.arrays import read_points

LIST = "basic,plus,pro\n1,0,0\n0,1,0\n0,0,1\n"
SPEC = """
[question]
relation = "substitute"
size = 3
points = "list.csv"
[budget]
rho = 0.5
[data]
path = "table.csv"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "list.csv").write_text(LIST)
    (tmp_path / "table.csv").write_text(LIST)
    (tmp_path / "spec.toml").write_text(SPEC)
    return tmp_path


def test_a_list_is_read_with_its_names(folder):
    names, domain = read_points(folder / "list.csv")
    assert names == ("basic", "plus", "pro")
    assert np.array_equal(domain.points, np.eye(3))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("a,b\n", FileError, "no points"),
        ("", FileError, "no points"),
        ("a,a\n1,2\n", FileError, "repeated"),
        ("a,\n1,2\n", FileError, "empty name"),
        ("a,b\n1\n", FileError, "row 2 has 1 values for 2 names"),
        ("a,b\n1,x\n", FileError, "row 2 is not all numbers"),
        ("a,b\n1,nan\n", DomainError, "not finite"),
        ("a,b\n1,inf\n", DomainError, "not finite"),
        ("a\n1e80\n", DomainError, "beyond 2"),
    ],
)
def test_lists_that_are_none_are_refused_in_one_line(tmp_path, text, error, words):
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(error, match=words) as refused:
        read_points(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_points(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"a\xff\n1\n")
    with pytest.raises(FileError, match="not CSV in UTF-8"):
        read_points(tmp_path / "latin.csv")


def test_a_specification_names_a_list(folder):
    plan = read_spec(folder / "spec.toml").plan()
    assert plan.names == ("basic", "plus", "pro")
    least = ln.theory.enclose(ln.difference_body(ln.Points(np.eye(3)))).certificate
    assert least.lower * (1 - 1e-9) <= 3 * plan.objective <= least.upper * (1 + 1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('points = "list.csv"', ""), "question.columns: is missing"),
        (("[budget]", "[question.columns]\na = {lower=0, upper=1}\n[budget]"), "beside points"),
    ],
)
def test_a_specification_has_either_a_list_or_bounds(folder, change, words):
    (folder / "spec.toml").write_text(SPEC.replace(*change))
    with pytest.raises(SpecError, match=words):
        read_spec(folder / "spec.toml")


def test_the_command_line_releases_and_verifies_a_list(folder):
    done = run(folder, "release", folder / "spec.toml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    release = ln.Release.from_json((folder / "out" / "release.json").read_text())
    assert abs(release.estimate.sum() - 1) < 1e-12
    assert run(folder, "verify", folder / "out" / "release.json").returncode == 0
    page = (folder / "out" / "report.html").read_text()
    assert "correlated between answers" in page
    assert "list of 3 points" in page
    # the noise of a pair of shares leans: one goes up as the other goes down
    assert page.count('<ellipse class="fitted"') == page.count("ry=") == 3
    assert 'transform="rotate(45.00)"' in page


def test_the_command_line_encloses_a_list(folder):
    found = json.loads(run(folder, "enclose", folder / "list.csv", "--json").stdout)
    assert found["certificate"]["upper"] == pytest.approx(2 / 3**0.5)
    pairs = json.loads(run(folder, "enclose", folder / "list.csv", "--difference", "--json").stdout)
    assert pairs["certificate"]["upper"] == pytest.approx(2)
    shown = run(folder, "enclose", folder / "list.csv", "--order", "inf")
    assert shown.returncode == 0
    assert "Solved" in shown.stdout
    refused = run(folder, "enclose", folder / "list.csv", "--order", "1")
    assert refused.returncode == 2
    assert (
        refused.stderr
        == "error: order=1 is out of range; give one from 2 to 1e6, or infinity (math.inf)\n"
    )
