# SPDX-License-Identifier: Apache-2.0
"""Every file that a version wrote is read as it was, verified as it was, and gone on with.

Mutants seen: a radius less by 1e-12, another key of a document, a version that is no longer read,
kept noise read one round late, a renewed ledger that forgets its spends.
"""

import math

import pytest
from tests.golden import files

INDEX = files.index()
NEAR = 1e-9  # of an answer, of a bound
SLACK = 1 + 1e-9  # of a charge, upward
LAST = 1 - 2.0**-46  # of a charge, of which other processors have other last bits (decision 111)
MOVED = 1 - 1e-9  # of a charge of a specification, whose noise is fitted again


def test_the_index_has_every_file():
    assert files.names() == sorted(INDEX)
    assert len(INDEX) >= 60


@pytest.mark.grid(least=3)
@pytest.mark.filterwarnings("ignore::lownoise.ReadingNotice")
@pytest.mark.parametrize("name", INDEX)
def test_a_file_says_what_it_said(name, tmp_path):
    agree(INDEX[name], files.read(name, tmp_path), least=MOVED if name.endswith("toml") else 1.0)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("name", [n for n, own in INDEX.items() if "verified" in own])
def test_a_file_written_again_verifies_as_well_and_says_the_same(name, tmp_path):
    was, now = dict(INDEX[name]), files.read_copy(files.copied(name, tmp_path), files.FILES / name)
    assert now.pop("verified") >= was.pop("verified")
    assert now.pop("failing checks") <= was.pop("failing checks")
    agree(was, now)


def agree(was, now, *, least=1.0, path=""):
    """Assert that two readings are the same, but for the last digits of floats."""
    assert type(was) is type(now), path
    if isinstance(was, dict):
        assert was.keys() == now.keys(), path
        for key in was:
            agree(was[key], now[key], least=least, path=f"{path}/{key}")
    elif isinstance(was, list):
        assert len(was) == len(now), path
        for i, (old, new) in enumerate(zip(was, now, strict=True)):
            agree(old, new, least=least, path=f"{path}/{i}")
    elif isinstance(was, float) and path.split("/")[1] in {"charge", "radius", "event"}:
        assert was * least * LAST <= now <= was * SLACK, path
    elif path.startswith("/bounds/lower") and was < now:
        pass  # more is proved of the same noise
    elif isinstance(was, float):
        assert math.isclose(was, now, rel_tol=1e-6 if least < 1 else NEAR, abs_tol=1e-12), path
    else:
        assert was == now, path
