# SPDX-License-Identifier: Apache-2.0
"""The claims of the sources hold, and a wrong constant, or a wrong program, turns its row red."""

from dataclasses import replace

import numpy as np
import pytest

from lownoise.report.reproduce import (
    CLAIMS,
    Claim,
    Comparison,
    constants,
    counting,
    every,
    gammas,
    means,
    pure,
    reproduce,
)
from lownoise.theory import enclose
from reproduce.once import quickly

NAMES = [f"{claim.source.split()[0].strip(',')}, {claim.place}" for claim in CLAIMS]
BY_NAME = dict(zip(NAMES, CLAIMS, strict=True))


def test_a_name_is_of_one_claim():
    assert len(BY_NAME) == len(CLAIMS)


@pytest.fixture(scope="module")
def rows():
    return {row.claim: row for row in quickly().rows}


@pytest.mark.parametrize("claim", CLAIMS, ids=NAMES)
def test_it_holds(rows, claim):
    row = rows[claim]
    assert row.comparisons
    assert row.verdict == ("holds" if claim.printed is None else "holds as corrected")


@pytest.mark.parametrize("claim", CLAIMS, ids=NAMES)
def test_a_planted_wrong_constant_turns_its_row_red(rows, claim):
    """The source's constant, wrong by a little more than what is shown as its room."""
    planted = rows[claim].room * 1.01
    assert planted < 400
    red = claim.checked(planted, quick=True)
    # a bound on δ at an ε: its room is on δ, and the constant is on ε
    assert red.verdict == "fails"


@pytest.mark.parametrize(
    "claim", [c for c in CLAIMS if c.printed is not None], ids=lambda claim: claim.place
)
def test_a_misprint_has_to_be_one(claim):
    """Where the print were true after all, to call it false turns the row red."""
    assert claim.checked(quick=True).counterexample is not None
    assert replace(claim, printed=claim.rule).checked(quick=True).verdict == "fails"


def scaled(function, factor):
    return lambda *args, **named: function(*args, **named) * factor


BREAKS = [
    ("Nikolov, Lemma 12", means, "delta_up", 60.0),
    ("Hardt, Theorem 3.3", pure, "packing_bound", 8.5),
    ("Hardt, Theorem 4.3, error", pure, "k_norm_error", 1.001),
    ("Hardt, Theorem 6.2", pure, "k_norm_error", 0.999),
    ("Henzinger, Theorem 3", counting, "trace_norm", 1.03),
    ("Henzinger, Theorem 2", counting, "deviation", 1.003),
    ("Henzinger, Lemma 40", counting, "deviation", 0.999),
    ("Henzinger, Theorem 4", every, "square_root", 0.93),
    ("Hardt, Theorem B.1", every, "geometric_down", 0.39),
]


@pytest.mark.parametrize(("claim", "room", "name", "factor"), BREAKS)
def test_a_program_that_is_wrong_turns_a_row_red(monkeypatch, claim, room, name, factor):
    monkeypatch.setattr(room, name, scaled(getattr(room, name), factor))
    assert BY_NAME[claim].checked(quick=True).verdict == "fails"


BOUNDS = [
    ("Nikolov, Theorem 42", "pure_bound", 6.0),
    ("Nikolov, Theorem 43", "concentrated_bound", 3.3),
    ("Nikolov, Theorem 43, sharper", "concentrated_bound", 1.001),
    ("Nikolov, Theorem 4, 51, 52", "approximate_bound", 7.5),
    ("Nikolov, Theorem 55", "local_bound", 1.001),
    ("Nikolov, Theorem 58, 59", "distributional_bound", 42.0),
]


@pytest.mark.parametrize(("claim", "name", "factor"), BOUNDS)
def test_a_bound_that_is_too_large_turns_its_row_red(monkeypatch, claim, name, factor):
    true = getattr(means, name)

    def larger(*args, **named):
        found = true(*args, **named)
        return replace(found, value=found.value * factor)

    monkeypatch.setattr(means, name, larger)
    assert BY_NAME[claim].checked(quick=True).verdict == "fails"


SLIGHT = [
    ("Nikolov, Theorems 3–59, constants", "pure_bound"),
    ("Nikolov, Theorems 3–59, constants", "concentrated_bound"),
    ("Nikolov, Theorems 3–59, constants", "approximate_bound"),
    ("Nikolov, Theorems 3–59, constants", "local_bound"),
    ("Nikolov, Theorems 3–59, constants", "distributional_bound"),
    ("Nikolov, Theorems 3–59, constants", "gaussian_bound"),
    ("Nikolov, Theorems 3–59, constants", "variance_bound"),
    ("Hardt, Theorem 3.3, constants", "volume_bound"),
    ("Hardt, Theorem 3.3, constants", "worst_table_bound"),
    ("Henzinger, Theorems 3–36, constants", "trace_norm_lower"),
    ("Henzinger, Theorems 3–36, constants", "trace_norm_upper"),
    ("Henzinger, Theorems 3–36, constants", "workload_bound"),
]


@pytest.mark.grid(3)
@pytest.mark.parametrize("factor", [0.995, 1.005])
@pytest.mark.parametrize(("claim", "name"), SLIGHT)
def test_a_constant_that_is_slightly_wrong_turns_its_row_red(monkeypatch, claim, name, factor):
    true = getattr(constants, name)

    def other(*args, **named):
        found = true(*args, **named)
        return replace(found, value=found.value * factor)

    monkeypatch.setattr(constants, name, other)
    assert BY_NAME[claim].checked(quick=True).verdict == "fails"


def test_laws_of_nearby_distributions_that_are_said_to_be_nearer_turn_their_row_red(monkeypatch):
    own = means.distributional
    monkeypatch.setattr(means, "distributional", lambda *given: (0.999 * own(*given)[0], 0.0))
    assert BY_NAME["Nikolov, Lemma 57"].checked(quick=True).verdict == "fails"


def test_an_ellipsoid_that_is_too_large_turns_rows_red(monkeypatch):
    def larger(domain, **named):
        found = enclose(domain, **named)
        proved = found.certificate
        return replace(found, certificate=replace(proved, upper=1.05 * proved.upper))

    monkeypatch.setattr(gammas, "enclose", larger)
    for name in ("Lemma 19", "Theorem 26", "Equation (26)", "Equation (27)"):
        assert BY_NAME[f"Nikolov, {name}"].checked(quick=True).verdict == "fails"


def compared(claimed, relation, found, within=0.0):
    return Comparison(case="", claimed=claimed, relation=relation, found=found, within=within)


@pytest.mark.parametrize(
    ("own", "holds"),
    [
        (compared(1.0, "≤", 1.0), True),
        (compared(1.0, "≤", 1.001), False),
        (compared(1.0, "≥", 0.999), False),
        (compared(0.0, "≥", 0.0), True),
        (compared(0.0, "≤", 1.0), False),
        (compared(-1.0, "≥", -2.0), False),
        (compared(1.0, "=", 1.0 + 1e-9, 1e-8), True),
        (compared(1.0, "=", 1.0 + 1e-7, 1e-8), False),
        (compared(np.nan, "≤", 1.0), False),
        (compared(np.inf, "≤", 1.0), False),
        (compared(0.0, "=", 0.0, 1e-9), True),
    ],
)
def test_numbers_are_compared_as_they_say(own, holds):
    assert own.holds is holds


def test_a_claim_without_numbers_does_not_hold():
    empty = Claim(source="nobody", place="nowhere", says="", rule=lambda _, **__: ())
    assert empty.checked().verdict == "fails"
    assert not reproduce(quick=True, claims=(empty,), figures=())
