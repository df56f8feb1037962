# SPDX-License-Identifier: Apache-2.0
"""No edit of a file makes the checker say that something holds that does not.

Every value is enlarged, lessened, negated, made zero, another type or nothing, every list shortened
and lengthened, every name dropped and changed. The digest stays as it was: it is not what catches
them. What may still hold is listed, with the edits that are true or say nothing of noise or bounds.
"""

import copy
import json
import re

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import FILES, changed
from lownoise_check import FALSE, HOLDS, OPEN

ANY = ".*"
MEAN = r"terms\.question\.(total\.)?(mean\.)?"
TABLES = r"terms\.question\.(groups\.|universe\.)?attributes\.#\."
EVIDENCE = r"terms\.evidence\.(changes\.|rounds\.|values\.|tables\.)?"
HARMLESS = [
    # says nothing of noise or bounds
    (r"(digest|integers|spend|created|versions)(\..*)?", ANY),
    (r"derived\.(names|estimate|marginals\.#\.like)(\.#)?", ANY),
    (rf"terms\.(strategy|reason|compared(\..*)?)|{MEAN}(columns|missing)(\.#)?", ANY),
    (rf"{TABLES}(name|categories\.(#|edges\.#))", ANY),
    (rf"{MEAN}drops_missing", "not"),
    (r"terms\.evidence\.witness(\.#)*", ANY),  # the checker makes its own
    # the same set of records, moved or in other words, or a smaller one; the same table
    (rf"{MEAN}(center|image\.shift)\.#", "up|down|half|zero|x2|neg"),
    (rf"{MEAN}(lower|upper)\.#", "down|half|zero"),
    (rf"{MEAN}image\.factor(\.#)+", "neg"),
    (rf"{MEAN}points|terms\.question\.sets", "long"),
    (rf"{TABLES}(outside|categories)", "one|zero|text|more|less|neg"),
    (r"terms\.question\.weights\.0|terms\.size", "up|down|half|x2|zero|more|less"),  # counts
    (r".*", "int|float"),  # 2 is 2.0
    # what is stated is weaker, the noise wider, or the same
    (r"derived\.(error|certificate\.upper|cost(_of_noise)?\.(epsilon|delta|rho|mu))", "up|x2"),
    (r"derived\.(certificate\.lower|lower_bound)", "down|half|zero"),
    (r"terms\.noise\.cover\.#", "up|down"),  # by 0.1%: 2^-40 of μ is left, and that is far less
    (r"terms\.noise\.(values\.)?factors?\.#\.#", "neg|up|x2"),
    (r"terms\.noise\.(steps?\.#|count_step)", "half"),  # a finer grid, where noise is as wide
    # any evidence will do that proves as much, any hint, and bounds of any weighted answers
    (r"terms\.evidence", "null"),  # pure noise has a bound that asks for none
    (rf"{EVIDENCE}(plain_)?(query_weights|squares|points)(\.#)*", ANY),
    (rf"{EVIDENCE}(plain_)?(vertex_weights|vertices)(\.#)*", ANY),
    (rf"{EVIDENCE}(cells|chances|patterns|pairs|block|rounds)(\.#)*", ANY),
    (r"terms\.noise\.reach(\.#)?|terms\.weights\.#", ANY),
    (r"terms\.evidence\.((changes\.|values\.)?kind|rounds\.(kind|measure))", ANY),  # of domains
    (r"derived\.error", "down|half"),  # of a greatest error: no less than the greatest deviation
]  # fmt: skip


def values(value):
    """Return other values by what was done."""
    match value:
        case bool():
            found = {"not": not value}
        case int():
            found = {"more": value + 1, "less": value - 1, "neg": -value, "float": float(value)}
        case float():
            found = {"up": value * 1.001 + 1e-9, "down": value * 0.999, "half": value / 2}
            found |= {"x2": 2 * value + 0.25, "neg": -value, "zero": 0.0, "int": int(value)}
        case str():
            found = {"text": value + "x", "none": ""}
        case None:
            found = {"one": 1, "text": "x", "zero": 0.0}
        case _:
            found = {"number": 1.0, "empty": type(value)()}
    return found | {"null": None}


def edits(document):
    """Yield the way to each value, what was done to it, and the document."""

    def at(path):
        found = copy.deepcopy(document)
        place = found
        for name in path:
            place = place[name]
        return found, place

    def walked(node, path):
        if isinstance(node, dict):
            for name in node:
                found, place = at(path)
                value = place.pop(name)
                yield (*path, name), "drop", found
                found, place = at(path)
                place[f"{name}_"] = place.pop(name)
                yield (*path, name), "rename", found
                found, place = at(path)
                place[name] = value
                yield from walked(value, (*path, name))
        if isinstance(node, list) and node:
            found, place = at(path)
            place.pop()
            yield path, "short", found
            found, place = at(path)
            place.append(copy.deepcopy(node[-1]))
            yield path, "long", found
            for i, value in enumerate(node):
                yield from walked(value, (*path, i))
        for what, other in values(node).items() if path else ():
            if type(other) is not type(node) or other != node:
                found, place = at(path[:-1])
                place[path[-1]] = other
                yield path, what, found

    yield from walked(document, ())


def harmless(path, what):
    """Return whether an edit is listed."""
    exact = ".".join(map(str, path))
    ways = (exact, re.sub(r"\.\d+", ".#", exact))
    found = [how for own, how in HARMLESS if any(re.fullmatch(own, way) for way in ways)]
    return any(re.fullmatch(how, what) for how in found)


def roomy(document, path, what):
    """Return whether a budget is as great, of pure noise that is bounded at its own ε, not δ."""
    terms = document["terms"]
    if "mechanism" not in terms or "delta" not in terms["budget"]:
        return False
    allowed = {"epsilon": ("up", "x2"), "delta": ("up", "x2", "down", "half", "zero")}
    return path[:2] == ("terms", "budget") and what in allowed.get(path[-1], ())


def covered(document):
    """Return whether `ln.verify` finds the noise wide enough, too, for records that were moved."""
    question = document["terms"]["question"]
    totals = "sum" in question["kind"]
    question = question.get("total", question)
    question = question.get("mean", question)
    if totals:  # whose files have the domain's own center
        listed = "points" in question
        own = (
            ln.Points(question["points"])
            if listed
            else ln.Box(question["lower"], question["upper"])
        )
        question["center"] = question["missing"] = own.center.tolist()
    if "points" in question:
        question["missing"] = question["points"][0]  # it must be one of them
    checks = ln.verify(json.dumps(document)).checks
    return any(own.holds for own in checks if own.name.startswith("noise covers"))


@pytest.mark.grid(1, least=4)
@pytest.mark.parametrize("name", FILES)
def test_no_edit_makes_false_things_hold(name):
    document = json.loads(FILES[name]())
    assert checker.decide(json.dumps(document))[0] == HOLDS
    wrong = []
    for path, what, edited in edits(document):
        status, lines = checker.decide(json.dumps(edited))
        assert status in (HOLDS, FALSE, OPEN)
        assert "\n" not in lines[-1]
        moved = {*path} & {"points", "lower"} and what in ("up", "down", "x2")
        if status == HOLDS and not (
            harmless(path, what) or roomy(document, path, what) or (moved and covered(edited))
        ):
            wrong.append((*path, what))
    assert not wrong


def test_a_name_that_stands_twice_is_refused():
    text = FILES["box"]()
    for line in re.findall(r'^ +("[a-z_]+": [^\[{]*?),?$', text, flags=re.MULTILINE)[:30]:
        status, lines = checker.decide(text.replace(line, f"{line}, {line}", 1))
        assert status == FALSE, lines


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("terms", "pair", "noise"), {"shape": [1 << 40], "float64": ""}),
        (("terms", "question", "workload", "rounds"), 1 << 39),
        (("terms", "question", "columns"), ["a"] * 100_000),
        (("terms", "noise", "step"), [5e-324]),
        (("terms", "noise", "scale"), [1.7e308]),
        (("terms", "budget", "rho"), 1e300),
        (("derived", "cost", "epsilon"), 1e300),
        (("derived", "cost", "mu"), 1e-300),
        (("derived", "rounds"), [10**90]),
    ],
)
def test_what_would_take_long_is_refused_first(path, value):
    status, lines = checker.decide(changed(FILES["stream"](), path, lambda _: value))
    assert status in (FALSE, OPEN), lines


def test_the_normal_law_is_enclosed():
    from fractions import Fraction

    from mpmath import mp, mpf, ncdf

    with mp.workdps(120):
        for x in (-18.5, -8, -1 / 3, 0, 1e-9, 2, 20):
            low, high = (checker.normal(Fraction(x), up) for up in (0, 1))
            exact = ncdf(mpf(x))
            assert mpf(low.numerator) / low.denominator <= exact * (1 + mpf(10) ** -100)
            assert mpf(high.numerator) / high.denominator >= exact * (1 - mpf(10) ** -100)
            assert high - low <= 10**-99
        for x in (-300, -0.7, 0, 1, 55.5):
            low, high = (checker.exp(Fraction(x), up) for up in (0, 1))
            exact = mp.exp(mpf(x))
            assert mpf(low.numerator) / low.denominator < exact
            assert exact < mpf(high.numerator) / high.denominator


def test_only_what_is_semidefinite_is_shown_to_be():
    rng = np.random.default_rng(8)
    for _ in range(20):
        rows = rng.integers(-9, 10, (3, 4)).astype(object)
        square = (rows.T @ rows).tolist()  # of rank 3: on the rim, where nothing is shown
        whole = [[4**40 * x for x in row] for row in square]
        for sign in (1, -1):
            near = [[x + sign * (i == j) for j, x in enumerate(row)] for i, row in enumerate(whole)]
            if sign > 0:
                assert checker.semidefinite(near)
            else:
                with pytest.raises(checker.StopError):
                    checker.semidefinite(near)
