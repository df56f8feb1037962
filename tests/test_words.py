# SPDX-License-Identifier: Apache-2.0
"""Public names speak the field's words: no docstring of one uses a word that was retired."""

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import lownoise as ln

NOTATION = Path(__file__).parents[1] / "docs" / "notation.md"

# what is not said any more, and the term of docs/notation.md that is; a pattern leaves alone what
# English or numpy says: a whole number, an array of shape (d,), a set that is known to be bounded
RETIRED = {
    r"reach(es|ed)?": "sensitivity",
    r"what (a|one) (neighbou?r|record|row) (can )?changes?": "sensitivity set",
    r"told|said": "encoded",
    r"whole(?! numbers?)": "complete",
    r"known (domain|set|body|bodies|kind)s?": "domain",
    r"still": "constant coordinate",
    r"spread": "scale",
    r"hints?": "multiplier",
    r"listed": "list file",
    r"declared": "schema",
    r"bases|unit bod(y|ies)": "unit ball",
    r"gauges": "norm",
    r"noise shapes?|own shape|shape of (the |its )?noise": "covariance factor",
    r"(?<!data )(?<!coordinate )frames?": "coordinate frame",
    r"promis\w*": "guarantee",
    r"(private|published|released|noisy) answers?": "estimate",
    r"(exact|secret|true) answers?": "exact total",
    r"(moved?|moves|moving)( \w+)? (in)?to": "clipping",
    r"who (pays|paid)": "account",
    r"ball arithmetic|balls? of numbers": "interval",
    r"entropy": "randomness",
    r"Toeplitz rows?|rows? of (a )?Toeplitz": "row norm",
}
WORDS = re.compile("|".join(rf"\b(?:{pattern})\b" for pattern in RETIRED), re.IGNORECASE)


def public():
    """Every public object and each of its public members, by name."""
    rooms = {"ln": ln, "ln.theory": ln.theory, "ln.errors": ln.errors}
    for room, module in rooms.items():
        yield room, module
        for name in getattr(module, "__all__", [n for n in vars(module) if n[0].isupper()]):
            found = getattr(module, name)
            if isinstance(found, str) or inspect.ismodule(found):
                continue
            yield f"{room}.{name}", found
            if inspect.isclass(found):
                own = [m for m in dir(found) if not m.startswith("_") and m not in dir(Warning)]
                yield from ((f"{room}.{name}.{m}", inspect.getattr_static(found, m)) for m in own)


PUBLIC = {name: found for name, found in public() if not isinstance(found, str | tuple | bool)}


def retired(text):
    """Return what of a text is not said any more."""
    return [match[0] for match in WORDS.finditer(" ".join(text.split()))]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_docstring_has_no_retired_word(name):
    text = inspect.getdoc(PUBLIC[name]) or ""
    prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">>>"))
    assert retired(prose) == []


def called(found):
    """Return what is called, of a class, a function or a method; None of anything else."""
    found = found.__func__ if isinstance(found, classmethod | staticmethod) else found
    calls = inspect.isfunction(found) or (
        inspect.isclass(found) and dataclasses.is_dataclass(found)
    )
    return found if calls else None


CALLED = {name: called(found) for name, found in PUBLIC.items() if called(found)}


@pytest.mark.parametrize("name", CALLED)
def test_no_public_parameter_is_a_retired_word(name):
    assert retired(" ".join(inspect.signature(CALLED[name]).parameters)) == []


def test_the_walk_sees_methods_properties_functions_and_researchers_tools():
    assert len(PUBLIC) > 200
    assert {
        "ln.Plan.release", "ln.Plan.error", "ln.Plan.from_json", "ln.plan", "ln.theory.enclose",
        "ln.theory.OptimalMechanism.draw", "ln.errors.FileError", "ln.Stream.update",
    } <= set(PUBLIC)  # fmt: skip


@pytest.mark.parametrize("term", sorted(set(RETIRED.values())))
def test_the_term_to_say_instead_is_in_the_notation(term):
    assert re.search(rf"^\|[^|]*\b{term}", NOTATION.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the reach of a record", ["reach"]),
        ("a noise shape in a frame", ["noise shape", "frame"]),
        ("records are moved into it", ["moved into"]),
        ("exact answers and private\nanswers", ["exact answers", "private answers"]),
        ("a whole number, of shape (d,), of a data frame; it answers", []),
    ],
)
def test_words_are_found_and_innocent_ones_are_not(text, found):
    assert retired(text) == found
