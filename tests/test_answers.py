# SPDX-License-Identifier: Apache-2.0
"""What a release says of where it comes from is read as strictly as it is written."""

import pytest

import lownoise as ln
from lownoise.errors import FileError
from lownoise.release.codec import Origin, Spend
from lownoise.release.release import Release

ORIGIN = Origin(Spend("d", 3), "2026-01-01T00:00:00+00:00", {"python": "3.11"})


def test_an_origin_comes_back():
    assert Origin.from_dict(ORIGIN.to_dict()) == ORIGIN
    none = Origin(None, ORIGIN.created, ORIGIN.versions)
    assert none.to_dict()["spend"] is None
    assert Origin.from_dict(none.to_dict()) == none


@pytest.mark.parametrize(
    "change",
    [
        {"spend": {"dataset": "d", "number": 0}},
        {"spend": {"dataset": "d", "number": True}},
        {"spend": {"dataset": "d", "number": "3"}},
        {"spend": {"dataset": "d", "number": 3, "more": 1}},
        {"spend": {"dataset": 4, "number": 3}},
        {"created": 5},
        {"versions": {"python": 3}},
    ],
)
def test_a_forged_origin_is_refused(change):
    with pytest.raises(FileError):
        Origin.from_dict({**ORIGIN.to_dict(), **change})


def test_a_release_has_as_many_integers_as_its_mechanism():
    plan = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="add_remove")
    made = Release(terms=plan.terms, integers=(1, -(2**70)), spend=None, created="", versions={})
    assert Release.from_json(made.to_json()).integers == made.integers
    short = Release(terms=plan.terms, integers=(1,), spend=None, created="", versions={})
    with pytest.raises(FileError, match="not 2 whole numbers"):
        Release.from_json(short._document(["1"]))
