# SPDX-License-Identifier: Apache-2.0
"""Public docstrings and the source's names speak the field's words, and no retired one."""

import ast
import dataclasses
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import lownoise as ln

SOURCE = Path(ln.__file__).parent
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


@pytest.mark.grid(least=3)
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


@pytest.mark.grid(least=3)
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


# parts of names that are retired; a frame, a shape, an answer and balls of flint have others
PARTS = frozenset(
    [
        "reach",
        "reaches",
        "reached",
        "told",
        "said",
        "whole",
        "known",
        "still",
        "spread",
        "hint",
        "listed",
        "declared",
        "bases",
        "gauges",
        "promises",
        "moved",
        "pays",
    ],
)
EXCEPTIONS = {
    # "whole number" is plain English
    ("kinds.py", "whole_numbers"),
    ("spec/declared.py", "_whole_numbers"),
    # public names, which stay
    ("privacy/ledger.py", "stream_moved"),
    ("report/parts.py", "whole"),
    ("sets/domains/abstract.py", "whole"),
    ("sets/domains/tensor.py", "whole"),
    ("sets/domains/tensor_ball.py", "whole"),
    # a name of 0.1, which warns
    ("sets/domains/abstract.py", "reach"),
    # what a specification declares, in the plain meaning of the word
    ("kinds.py", "declared"),
    ("spec/declared.py", "declared_domain"),
    ("spec/declared.py", "declared_question"),
    ("spec/counts.py", "declared_spec"),
    ("spec/counts.py", "_declared"),
    ("spec/counts.py", "declared_attributes"),
    ("spec/model.py", "declared"),
}


@cache  # one walk for both
def names_of(text):
    """Return the functions, classes, fields and arguments that a source defines, by name.

    And the variables that it assigns to, wherever.
    """
    found, assigned = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned.add(node.id)
    return found, assigned


def retired_names(text):
    return {name for name in names_of(text)[0] if PARTS & set(name.lower().split("_"))}


def test_no_name_in_the_source_is_retired_but_the_exceptions():
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in SOURCE.rglob("*.py")
        for name in retired_names(path.read_text("utf-8"))
    }
    assert found == EXCEPTIONS


# a value at hand may be known, a whole number, moved by a step, said in a message, or one of a list
PLAIN = frozenset(["known", "whole", "moved", "said", "listed"])


def retired_variables(text):
    """Return the variables that a source assigns to, wherever, whose names are retired."""
    return {name for name in names_of(text)[1] if (PARTS - PLAIN) & set(name.lower().split("_"))}


def test_no_variable_in_the_source_is_retired():
    found = {path: retired_variables(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    ["{} = 1", "{}, b = 1, 2", "for {} in (): pass", "if ({} := 1): pass", "a = [1 for {} in ()]"],
)
def test_a_retired_variable_is_found_wherever_it_is_assigned(source):
    inside = "def f():\n    " + source
    for name in ("_SPREAD", "still", "reached_up"):
        assert retired_variables(source.format(name)) == {name}
        assert retired_variables(inside.format(name)) == {name}
    assert retired_variables(source.format("known")) == set()


@pytest.mark.parametrize("name", ["_reach_up", "told", "Known", "spread_down", "_whole"])
@pytest.mark.parametrize(
    "source",
    ["def {}():\n    pass", "class {}:\n    pass", "def f(x, *, {}=1):\n    pass", "{}: int = 1"],
)
def test_a_retired_name_is_found_wherever_it_is_defined(source, name):
    assert retired_names(source.format(name)) == {name}
    assert retired_names(source.format("retold")) == set()


def test_a_domains_member_of_0_1_warns_and_names_the_new_one():
    domain = ln.Box([-1.0, 0.0], [1.0, 3.0])
    with pytest.warns(DeprecationWarning, match=r"domain\.extent since 0\.2"):
        extent = domain.reach
    assert extent.tolist() == domain.extent.tolist()


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
