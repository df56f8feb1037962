# SPDX-License-Identifier: Apache-2.0
"""What streams and the command line say beside their answers, whatever values hold."""

import io
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from attacks.observed import EXTRA, MEANS, OBJECTS, TEXTS, cells
from attacks.test_types import written
from command_line import run
from lownoise.errors import StreamError
from said import masked, said

HOSTILE = [own for own in OBJECTS if not hasattr(own, "shape") or np.ndim(own) == 0]
ROUNDS = 2 * len(HOSTILE)

# ---------------------------------------------------------------- streams

DOMAINS = {None: None, **{name: MEANS[name] for name in MEANS if name != "signs"}}
CONTAINERS = {
    "list": list,
    "objects": lambda rounds: pd.Series(rounds, dtype=object),
    "one by one": lambda rounds: rounds,
}


def values(domain, *, wild):
    """Return as many rounds, plain or hostile, for a stream of one number or of two."""
    hostile = HOSTILE if wild else [0, 1]
    rounds = [hostile[i % len(hostile)] for i in range(len(HOSTILE))]
    return rounds if domain is None else [[own, rounds[-i]] for i, own in enumerate(rounds)]


def streamed(domain, container, rounds, folder):
    """Return what is said of a stream in a file, paid by a ledger, and of its going on."""
    for old in ("run", "kept"):
        shutil.rmtree(folder / old, ignore_errors=True)
    (folder / "kept").mkdir()
    (folder / "l.ledger").unlink(missing_ok=True)
    account = ln.Ledger.create(folder / "l.ledger", "people", ln.zcdp(0.5))
    path = folder / "kept" / "stream"  # as secret as the records, whatever its size
    asked = {} if domain is None else {"domain": DOMAINS[domain]}
    if container != "one by one":
        asked["path"] = path

    stream = ln.stream(ln.Prefix(ROUNDS), budget=ln.zcdp(0.5), ledger=account, **asked)
    program = DOMAINS[domain] if domain == "program" else None  # which no file holds

    def job(stream=stream):
        shapes = []
        for _ in range(2):
            if container == "one by one":
                shapes += [np.shape(stream.update(own)) for own in rounds]
                continue
            shapes.append(np.shape(stream.update_many(CONTAINERS[container](rounds))))
            stream = ln.Stream.open(path, program)
        told = set()
        for more in (1, 3):
            with pytest.raises(StreamError) as refusal:
                stream.update_many([rounds[0]] * more)
            told.add(str(refusal.value))
        assert len(told) == 1, told  # how many were given beyond the last round is not said
        return shapes, stream.round, told

    return said(job, folder / "run", account)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_a_stream_says_the_same_whatever_values_hold(domain, container, tmp_path):
    calm, wild = (
        streamed(domain, container, values(domain, wild=wild), tmp_path) for wild in (False, True)
    )
    assert wild == calm
    assert calm["ended"][0] == "returned", calm["ended"]
    assert calm["logged"] == calm["unraised"] == []
    assert calm["printed"] == ("", "", b"")
    # a file with a program asks it about the center, which is public
    assert {text for _, text in calm["warned"]} <= {"SECRET [0. 0.]"}


# ---------------------------------------------------------------- the command line

RELATION = 'relation = "add_remove"\n'
COLUMNS = "columns = { a = { lower = 0, upper = 1 }, b = { lower = -1, upper = 1 } }\n"
UNIVERSE = 'outside = "drop"\n[question.universe]\na = 2\nb = 2\n'
ZCDP = "[budget]\nrho = 0.5\n"
PURE = '[budget]\nkind = "pure_dp"\nepsilon = 1\n'
MATRIX = 'kind = "queries"\nmatrix = [[1, 0, 0, 0], [0, 1, 0, 1]]\n'
SPECS = {
    "mean": RELATION + COLUMNS + ZCDP,
    "pure": 'mechanism = "laplace"\n' + RELATION + COLUMNS + PURE,
    "queries": RELATION + MATRIX + UNIVERSE + ZCDP,
    "parity": RELATION + 'kind = "parity"\nbits = ["a", "b"]\ndegree = 2\noutside = 0\n' + ZCDP,
    "marginals": (
        RELATION + 'kind = "marginals"\nway = 1\noutside = "extra"\nattributes = { a = 2, b = 2 }\n'
        + ZCDP
    ),
}  # fmt: skip
ACCOUNT = '[ledger]\npath = "l.ledger"\ndataset = "people"\n'


def prepared(spec):
    """Write a specification and its ledger into the working folder."""
    Path("spec.toml").write_text("[question]\n" + spec + ACCOUNT)
    ln.Ledger.create("l.ledger", "people", ln.pure_dp(1) if "pure_dp" in spec else ln.zcdp(0.5))


def commanded(arguments):
    done = run(Path.cwd(), *arguments)
    return done.returncode, masked(done.stdout, commas=arguments[0] == "stream"), done.stderr


@pytest.mark.parametrize("name", SPECS)
def test_a_command_says_the_same_whatever_rows_hold(name, tmp_path):
    found = []
    for i, wild in enumerate((False, True)):
        source = written(cells("text", wild=wild, extra=i * EXTRA), tmp_path)

        def job(source=source):
            prepared(SPECS[name])
            as_json = ["--json"] if name in ("pure", "parity") else []
            told = commanded(["release", "spec.toml", "--data", source, "--out", "out", *as_json])
            return told, commanded(["ledger", "show", "l.ledger", "--json"])

        found.append(said(job, tmp_path / "run"))
        shutil.rmtree(tmp_path / "run")
    assert found[0] == found[1]
    (code, _, error), _ = found[0]["ended"][1]
    assert (code, error) == (0, "")
    assert {"out/release.json", "out/report.html", "l.ledger"} <= set(found[0]["left"])


ROWS = 30
LINES = [text for text in TEXTS if "\n" not in text and len(text) < 100]  # else more rounds
STREAM = f'kind = "stream"\nworkload = "prefix"\nrounds = {2 * ROWS}\n' + COLUMNS + ZCDP


@pytest.mark.parametrize("source", ["table", "file", "pipe"])
def test_a_stream_command_says_the_same_whatever_values_hold(source, tmp_path):
    """It starts, goes on from its file, and stops at a line more than there are rounds."""
    found = []
    for wild in (False, True):
        texts = cells("text", wild=wild)
        own = LINES if wild else ["0", "1"]
        rows = [f"{own[i % len(own)]},{own[(i * i + i) % len(own)]}" for i in range(ROWS)]
        lines = tmp_path / "lines"
        lines.write_text("\n".join(rows))
        table = written({name: own[:ROWS] for name, own in texts.items()}, tmp_path)

        def job(table=table, lines=lines):
            prepared(STREAM)
            told = []
            for _ in range(3):
                arguments = ["stream", "spec.toml", "--state", "state"]
                if source == "table":
                    told.append(commanded([*arguments, "--input", table, "--from-next"]))
                    continue
                with lines.open("rb") as raw, pytest.MonkeyPatch.context() as patch:
                    kind = raw if source == "file" else Pipe(raw.read())
                    patch.setattr(sys, "stdin", io.TextIOWrapper(kind))
                    told.append(commanded(arguments))
            return told

        found.append(said(job, tmp_path / "run"))
        shutil.rmtree(tmp_path / "run")
    calm, wild = found
    assert calm["ended"] == wild["ended"]
    assert {**calm, "left": sorted(calm["left"])} == {**wild, "left": sorted(wild["left"])}
    assert [code for code, *_ in calm["ended"][1]] == [0, 0, 2]


class Pipe(io.BytesIO):
    """Standard input that is no file."""

    def fileno(self):
        return PIPE[0]


PIPE = os.pipe()
