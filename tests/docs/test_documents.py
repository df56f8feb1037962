# SPDX-License-Identifier: Apache-2.0
"""Every snippet in every document runs, and the printed help is the real help."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sparks
from docs import modules_page
from docs.cli_reference import COMMANDS, reference

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def snippets(page):
    return FENCE.findall(page.read_text(encoding="utf-8"))


IN_A_SHELL = """
import subprocess
from tests.docs.test_documents import run_here
def run(command):  # a shell for one of them: each process imports what the others have
    if command.startswith("lownoise release"):
        subprocess.run(command, shell=True, check=True)
    else:
        run_here(command)
"""


def run_here(command):
    """Run the command in this process, without another's imports."""
    from lownoise.cli import main

    sys.argv = shlex.split(command)
    assert sys.argv[0] == "lownoise"
    code = 0
    try:
        main()
    except SystemExit as left:
        code = left.code or 0
    assert code == 0, command


WITH_CODE = [p for p in PAGES if {"python", "console"} & {kind for kind, _ in snippets(p)}]


@pytest.mark.grid(1, least=4)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # pages are short
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda p: p.name)
def test_every_snippet_runs(page, tmp_path, monkeypatch):
    """Top to bottom, with names of its own; a TOML block whose first line names a file becomes it.

    The README has a process of its own, and a shell for what releases.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    rng = np.random.default_rng(0)
    survey = {"age": rng.uniform(18, 90, 5000), "income": rng.lognormal(10, 1, 5000)}
    survey |= {"region": rng.choice(["north", "west"], 5000), "sex": rng.choice(["F", "M"], 5000)}
    pd.DataFrame(survey).to_csv("survey.csv", index=False)
    script = []
    for kind, body in snippets(page):
        if kind == "python":
            script.append(body)
        named = re.match(r"# (\w+\.toml)\n", body)
        if kind == "toml" and named:
            script.append(f"Path({named[1]!r}).write_text({body!r}, encoding='utf-8')\n")
        if kind == "console":
            commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
            assert commands
            script.extend(f"run({c!r})\n" for c in commands)
    text = "from pathlib import Path\n" + "\n".join(script)
    if page.name == "spark.md":
        sparks.session()  # a small one, which the page then finds
    if page.name != "README.md":
        exec(compile(text, page.name, "exec"), {"__name__": "__main__", "run": run_here})  # noqa: S102
        return
    text = f"import sys\nsys.path[:0] = {[str(ROOT / 'tests'), str(ROOT)]}\n" + IN_A_SHELL + text
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", text], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_pages_with_code_are_found():
    assert {"README.md", "guide.md"} <= {p.name for p in WITH_CODE}


def test_specification_page_shows_a_good_specification(tmp_path):
    from lownoise.spec import read_domain, read_local, read_spec

    blocks = [body for kind, body in snippets(ROOT / "docs/specification.md") if kind == "toml"]
    asked = [block for block in blocks if "[question]" in block]
    assert len(asked) == len(blocks) - 1 == 8
    assert sum("local_dp" in block for block in blocks) == 1
    for block in blocks:
        (tmp_path / "spec.toml").write_text(block, encoding="utf-8")
        if "local_dp" in block:
            own = read_local(tmp_path / "spec.toml").plan()
            assert own.error / own.lower_bound < 3
        elif block in asked:
            plan = read_spec(tmp_path / "spec.toml").plan()
            pure = not plan.terms.gaussian  # their errors are not the least that there is
            off = "center =" in block  # about which a box has fewer changes than surround it
            assert plan.certificate.gap < (1 if pure else 0.2 if off else 1e-6)
        else:
            names, domain = read_domain(tmp_path / "spec.toml")
            assert names == ("x", "y", "z")
            assert domain.support(np.ones(3)) == pytest.approx(7)


def test_specification_page_names_every_kind_of_domain():
    from lownoise.spec.declared import kinds

    page = (ROOT / "docs/specification.md").read_text(encoding="utf-8")
    stated = page[page.index("The kinds are") : page.index("has no form in a file")]
    assert sorted(re.findall(r"`([a-z_]+)`", stated)) == sorted(
        set(kinds()) - {"wedge"}
    )  # the toy of another test


def test_printed_help_is_the_real_help():
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference()


def test_the_page_of_modules_says_what_each_says_of_itself():
    assert (ROOT / "docs" / "modules.md").read_text(encoding="utf-8") == modules_page.page()


def test_every_command_is_documented():
    from lownoise.cli import app, ledger_app

    names = {(c.name or c.callback.__name__,) for c in app.registered_commands}
    names |= {("ledger", c.name or c.callback.__name__) for c in ledger_app.registered_commands}
    assert names <= set(COMMANDS)


def test_links_between_documents_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} → {target}"
