# SPDX-License-Identifier: Apache-2.0
"""`make test` and `make sweep` run every case, and no law or claim is in the second alone."""

import re
from itertools import product
from pathlib import Path

import pytest

from tiers import COLLECTED, first_tier

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`([\w/]+\.py)(?:::(test_\w+))?…?`|`…::(test_\w+)…?`")


def grid(**factors):
    return [dict(zip(factors, row, strict=True)) for row in product(*factors.values())]


@pytest.mark.parametrize("place", range(7))
def test_each_value_of_a_small_factor_is_met_and_each_family_of_a_large_one(place):
    class Kind:
        def __init__(self, family):
            self.family = family

    members = [Kind(i % 4) for i in range(30)]
    cases = grid(member=members, relation=["substitute", "add_remove"], order=[2.0, 3.0, 4.0])
    kept = [cases[at] for at in first_tier(cases, place=place)]
    assert {case["relation"] for case in kept} == {"substitute", "add_remove"}
    assert {case["order"] for case in kept} == {2.0, 3.0, 4.0}
    assert {case["member"].family for case in kept} == {0, 1, 2, 3}
    assert len(kept) <= 4 + 2 + 3
    assert {case["order"] for case in cases} > {
        cases[at]["order"] for at in first_tier(cases, 2, place=place)
    }


@pytest.mark.parametrize("n", [1, 5, 40])
@pytest.mark.parametrize("least", [1, 3, 8])
def test_as_many_stay_as_are_asked_for_evenly_from_any_place(n, least):
    cases = grid(number=range(n), alike=["a"])
    for place in range(2 * n):
        kept = first_tier(cases, 0, least, place=place)
        assert len(kept) == min(n, least)
        assert kept == sorted(set(kept))
        assert place % n in kept
        if n > least:
            gaps = [b - a for a, b in zip(kept, [*kept[1:], kept[0] + n], strict=True)]
            assert max(gaps) - min(gaps) <= 1


def test_the_laws_of_a_module_go_through_a_list_that_they_share():
    cases = grid(number=range(20))
    assert {at for place in range(20) for at in first_tier(cases, 0, place=place)} == {*range(20)}


def test_values_whose_equality_is_odd_are_told_apart_by_themselves():
    class Odd:
        def __eq__(self, other):
            raise ValueError

        __hash__ = None

    assert first_tier(grid(value=[Odd(), Odd(), Odd()])) == [0, 1, 2]


def by_test(request):
    """Return, of every test that was collected, which of its cases are swept."""
    found = {}
    for item in request.config.stash[COLLECTED]:
        own = getattr(item, "originalname", item.name)
        is_swept = item.get_closest_marker("sweep") is not None
        found.setdefault((item.path, own), []).append(is_swept)
    return found


def test_every_test_keeps_a_case_or_has_a_sibling_that_does(request):
    """Of all tests that were collected with this one."""
    found = by_test(request)
    assert (Path(__file__), "test_the_laws_of_a_module_go_through_a_list_that_they_share") in found
    for item in request.config.stash[COLLECTED]:
        mark = item.get_closest_marker("sweep")
        if mark is not None and mark.args:
            assert not all(found[item.path, mark.args[0]]), item.nodeid
            found[item.path, item.originalname] = [False]
    assert [f"{path}::{name}" for (path, name), cases in found.items() if all(cases)] == []


def test_every_claim_is_held_by_what_make_test_runs(request):
    """The tests that a line of docs/claims.md names exist, and `make test` runs one at least.

    Of those whose files were collected with this one.
    """
    kept = {}
    for (path, name), cases in by_test(request).items():
        kept.setdefault(path, {})[name] = not all(cases)
    unknown, swept, file = [], [], ROOT
    for line in (ROOT / "docs" / "claims.md").read_text(encoding="utf-8").splitlines():
        run = []
        for path, name, same in NAMED.findall(line.rsplit("|", 2)[1] if "|" in line else ""):
            file = ROOT / "tests" / path if path else file
            found = [v for n, v in kept.get(file, {}).items() if n.startswith(name or same)]
            run += found
            if file in kept and not found:
                unknown.append(f"{file.name}::{name or same}")
        if run and not any(run):
            swept.append(line)
    assert (unknown, swept) == ([], [])


def test_the_two_commands_run_every_test():
    makefile = (ROOT / "Makefile").read_text()
    assert re.findall(r"\$\(PYTEST\) -m (.*)", makefile) == ['"not sweep"', "sweep"]
    steps = (ROOT / ".ci" / "run").read_text().splitlines()
    assert {"make test", "make sweep", "make check", "make demo"} <= set(steps)
