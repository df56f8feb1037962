# SPDX-License-Identifier: Apache-2.0
"""One value of a batch says nothing of the others: whatever it is, wherever it stands.

The law of this file: for every domain and every kind of container, the integers of all rounds but
one are the same whatever that one is.
"""

import datetime as dt
import itertools
import math
import random
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lownoise as ln
from cases import MEMBERS
from lownoise.errors import StreamError
from lownoise.noise.means import coding_for
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.values import number, number_of_text
from lownoise.questions import Mean
from lownoise.streams import start
from lownoise.streams.values import value_of, values_of

ROUNDS, AT = 5, 2


class Raising:
    """What fails in every way that it is asked."""

    def __float__(self):
        raise ValueError(self)

    __len__ = __iter__ = __index__ = __complex__ = __bool__ = __eq__ = __hash__ = __float__

    def __array__(self, *_, **__):
        raise RuntimeError


class Printing:
    """What says what it is."""

    def __float__(self):
        print("7")  # noqa: T201
        return 7.0


class Number(float):
    """A number whose class makes another of it."""

    def __float__(self):
        raise ValueError

    __gt__ = __lt__ = __eq__ = __float__
    __hash__ = float.__hash__


class Text(str):
    """A text whose class makes another of it."""

    __slots__ = ()

    def __str__(self):
        raise ValueError

    __len__ = __hash__ = __eq__ = __str__


class Rows(list):
    """A list whose class has no items."""

    def __iter__(self):
        raise ValueError

    __len__ = __getitem__ = __iter__


TEXTS = (
    *("x", "", " ", " 1 ", "0.5", "1e400", "-1e400", "nan", "inf", "1_000", "\u0661", "0x10"),
    *("True", "1,2", "\x00", "\ud800", "1" * 1000, "1" * 1001, "9" * 5000, "x" * 10**6),
)
NUMBERS = (math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, -0.0, 0.25)
OBJECTS = (
    *(None, pd.NA, pd.NaT, np.ma.masked, NotImplemented, ..., True, False),
    *(10**400, -(10**400), 2**53 + 1, Decimal("sNaN"), Decimal("1e400"), Decimal("0.5")),
    *(
        Fraction(10**400, 3),
        Fraction(1, 3),
        1j,
        complex(0.5),
        complex(math.nan, 0),
        np.complex64(1j),
    ),
    *(dt.datetime(2020, 1, 1), dt.date(2020, 1, 1), dt.timedelta(1)),  # noqa: DTZ001
    *(np.datetime64(7, "s"), np.timedelta64(7, "s"), np.datetime64("NaT"), pd.Timedelta(1)),
    *(np.float16(0.5), np.longdouble("1e4000"), np.bool_(True), np.int8(-1), np.str_("0.5")),  # noqa: FBT003
    *(b"0.5", b"\xff", b"x" * 10**6, bytearray(b"1"), memoryview(b"1"), np.bytes_(b"1")),
    *([], [1], [1, 2], [[1, 2], [3]], [[[[]]]], (0.5,), range(3), deque([1]), Rows([1])),
    *(np.array(0.5), np.array([1.0]), np.zeros((2, 2)), np.array([None, "x"]), np.array("x")),
    *(np.array([1], "M8[s]"), np.ma.array([1.0], mask=[True]), pd.Series([1]), pa.array([1])),
    *({}, {1: 2}, {1}, object(), Raising(), Printing(), Number(0.5), Text("0.5"), int, len),
    *(pa.scalar(1.0), pd.DataFrame({"a": [1]}), (x for x in "12"), ValueError("x")),
)
ANY = (*TEXTS, *NUMBERS, *OBJECTS)


# ---------------------------------------------------------------- ways in


@dataclass(frozen=True)
class Way:
    """A kind of container: what makes it of rounds, and what one of its items can be.

    `make` takes the rounds, lists of d numbers, and what stands in one of them: a whole round in a
    container of rounds, one number in a container of cells. `flat` is for one number a round, and
    `wanted` is what becomes of the numbers in an array of its type.
    """

    name: str
    make: object
    items: tuple[object, ...]
    flat: bool = False
    wanted: object = None


def objects(items):
    found = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        found[i] = item
    return found


def rounds(rows, odd):
    return [own if i != AT else odd for i, own in enumerate(rows)]


def alone(rows, odd):
    return [own[0] if i != AT else odd for i, own in enumerate(rows)]


def cells(rows, odd):
    """Return columns; the odd one stands in the last of them."""
    columns = [list(own) for own in zip(*rows, strict=True)]
    columns[-1][AT] = odd
    return columns


def table(rows, odd):
    columns = cells(rows, odd)
    return objects([own[i] for i in range(len(rows)) for own in columns]).reshape(len(rows), -1)


def typed(kind):
    def make(rows, odd):
        found = np.array(rows).astype(kind)
        found[AT, -1] = odd
        return found

    return make


def as_type(kind):
    """Return what an array of this type makes of numbers."""
    return lambda rows: np.nan_to_num(rows).astype(kind).astype(float)


def times(rows, odd):
    return typed("M8[s]")(np.nan_to_num(rows), odd)


def no_numbers(rows):
    return np.full(rows.shape, math.nan)


def masked(rows, odd):
    found = np.ma.array(typed(float)(rows, odd))
    found[AT] = np.ma.masked
    return found


def named(columns):
    return {f"x{i}": own for i, own in enumerate(columns)}


def texts(rows, odd):
    columns = [[repr(x) for x in own] for own in cells(rows, 0.0)]
    columns[-1][AT] = odd
    return columns


def damaged(columns):
    """Return an Arrow table of text, of which one is not UTF-8."""
    made = {}
    for name, own in named(columns).items():
        said = [None if x is None else x.encode("utf-8", "surrogatepass") for x in own]
        array = pa.array(said, pa.binary())
        made[name] = pa.Array.from_buffers(pa.string(), len(own), array.buffers())
    return pa.table(made)


def printable(texts):
    return tuple(t for t in texts if "\ud800" not in t)


INTEGERS = (0, 1, -1, 2**62, -(2**63))
NULLED = (None, *NUMBERS)
WAYS = (
    Way("list", rounds, ANY),
    Way("tuple", lambda rows, odd: tuple(rounds(rows, odd)), ANY),
    Way("deque", lambda rows, odd: deque(rounds(rows, odd)), ANY),
    Way("array of rounds", lambda rows, odd: objects(rounds(rows, odd)), ANY),
    Way("rows", lambda rows, odd: rounds([np.array(own) for own in rows], odd), ANY),
    Way("array of objects", table, ANY),
    Way("array of floats", typed(float), NUMBERS),
    Way("array of halves", typed(np.float16), (0.5, math.nan, 7.0), wanted=as_type(np.float16)),
    Way("array of integers", typed(np.int64), INTEGERS, wanted=as_type(np.int64)),
    Way("array of truths", typed(bool), (True, False), wanted=as_type(bool)),
    Way("array of complex numbers", typed(complex), (*NUMBERS, 1j, complex(math.inf, math.nan))),
    Way("array of texts", lambda rows, odd: np.array(texts(rows, odd), dtype=str).T, TEXTS[:-1]),
    Way("array of times", times, (0, 1, 10**9), wanted=no_numbers),
    Way("masked array", masked, NUMBERS),
    Way("pandas", lambda rows, odd: pd.DataFrame(named(map(objects, cells(rows, odd)))), ANY),
    Way("pandas, nullable", lambda rows, odd: pd.DataFrame(
        {name: pd.array(own, dtype="Float64") for name, own in named(cells(rows, odd)).items()}
    ), NULLED),
    Way("polars", lambda rows, odd: pl.DataFrame(named(cells(rows, odd))), NULLED),
    Way("polars, text", lambda rows, odd: pl.DataFrame(named(texts(rows, odd))), printable(TEXTS)),
    Way("Arrow", lambda rows, odd: pa.table(named(cells(rows, odd))), NULLED),
    Way("Arrow, text", lambda rows, odd: damaged(texts(rows, odd)), (None, *TEXTS)),
    Way("numbers", alone, ANY, flat=True),
    Way("column of floats", lambda rows, odd: np.array(alone(rows, odd)), NUMBERS, flat=True),
    Way("column of objects", lambda rows, odd: objects(alone(rows, odd)), ANY, flat=True),
    Way("Series", lambda rows, odd: pd.Series(objects(alone(rows, odd))), ANY, flat=True),
    Way("Series, nullable", lambda rows, odd: pd.Series(
        pd.array(alone(rows, odd), dtype="Float64")
    ), NULLED, flat=True),
    Way("Series, text", lambda rows, odd: pd.Series(texts(rows, odd)[0], dtype="string"),
        (None, *printable(TEXTS)), flat=True),
    Way("categories", lambda rows, odd: pd.Categorical(texts(rows, odd)[0]),
        printable(TEXTS), flat=True),
    Way("polars Series", lambda rows, odd: pl.Series(alone(rows, odd)), NULLED, flat=True),
    Way("polars Series of objects", lambda rows, odd: pl.Series(
        alone(rows, odd), dtype=pl.Object
    ), (Raising(), Decimal(1), "x", 0.5, [1]), flat=True),
    Way("Arrow array", lambda rows, odd: pa.array(alone(rows, odd)), NULLED, flat=True),
    Way("Arrow text", lambda rows, odd: damaged(texts(rows, odd)).column(0), TEXTS, flat=True),
    Way("Arrow decimals", lambda rows, odd: pa.array(
        [None if str(x) in ("nan", "None") else Decimal(repr(x)) for x in alone(rows, odd)]
    ), (None, 0.5, 3.0), flat=True),
)  # fmt: skip
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)


# ---------------------------------------------------------------- the law

DOMAINS = {m.name: m.domain for m in MEMBERS if m.domain.of_records}


@cache
def coding_of(name):
    """Return how a stream of this domain makes integers of values."""
    domain = DOMAINS[name]
    chosen = domain.coordinates()
    asked = Mean(
        [f"x{i}" for i in range(domain.dimension)],
        domain,
        missing=domain.clamp(np.zeros(domain.dimension)),
    )
    return coding_for(asked, chosen, np.full(chosen.pivots.size, 2.0**-20))


@cache
def calm(name):
    """Return values of other rounds: in the domain, beyond it, and missing."""
    domain = DOMAINS[name]
    rng = np.random.default_rng(len(name))
    drawn = domain.center + rng.normal(size=(ROUNDS, domain.dimension)) * [[0.3]] * 3
    drawn[-1, 0] = math.nan
    return drawn.tolist()


@cache
def integers(name, content):
    return coding_of(name).encode(np.frombuffer(content).reshape(ROUNDS, -1))


def never_moves(name, way, items):
    rows, d = calm(name), DOMAINS[name].dimension
    others = np.arange(ROUNDS) != AT
    wanted = integers(name, np.array(rows, dtype=float).tobytes())[others]
    if way.wanted is not None:
        rows = way.wanted(np.array(rows)).tolist()
        wanted = integers(name, np.array(rows).tobytes())[others]
    for odd in items:
        found, _ = values_of(way.make(rows, odd), d)
        assert found.shape == (ROUNDS, d)
        assert np.array_equal(integers(name, found.tobytes())[others], wanted), odd


@pytest.mark.grid(least=8)
@every_way
def test_integers_of_other_rounds_never_move_whatever_one_is(way, capsys):
    for name in ("interval",) if way.flat else ("interval", "two largest"):
        never_moves(name, way, way.items)
    # nor does a warning, an error or a print speak of it
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("name", DOMAINS)
def test_integers_of_other_rounds_never_move_in_any_domain(name):
    drawn = random.Random(name)  # noqa: S311 (of values to try)
    for way in WAYS:
        if not way.flat or DOMAINS[name].dimension == 1:
            never_moves(name, way, drawn.sample(way.items, min(3, len(way.items))))


@pytest.mark.grid
@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("domain", [ln.Box([0.0], [1.0]), ln.Ball(2)], ids=str)
def test_answers_of_other_rounds_never_move(domain, path, tmp_path, capsys):
    d = domain.dimension
    terms = ln.stream(np.eye(ROUNDS), budget=ln.zcdp(1e3), domain=domain, strategy="input").terms
    wanted = None
    for k, odd in enumerate((0.5, "x", *OBJECTS, *TEXTS[::3])):
        file = tmp_path / str(k) if path and k % 20 == 0 else None
        values = [[0.1 * i + 0.01] * d if d > 1 else True for i in range(ROUNDS)]
        values[AT] = odd
        one = start(terms, randomness=SimulationRandomness(5))
        many = start(terms, randomness=SimulationRandomness(5), path=file)
        told = many.update_many(values)
        own = [one.update(v) for v in values if not isinstance(v, np.ndarray)]
        if len(own) == ROUNDS:
            assert np.array_equal(own, told)
        rest = np.delete(told, AT, axis=0)
        wanted = rest if wanted is None else wanted
        assert np.array_equal(rest, wanted), odd
    assert capsys.readouterr().out == ""


def test_a_long_text_costs_its_own_length_alone():
    import tracemalloc

    values = [0.5] * 3000 + ["1" * 10**6]
    tracemalloc.start()
    try:
        found, _ = values_of(values, 1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.isnan(found[-1, 0])
    assert most < 4e6  # numpy's array of texts had 3,001 of the longest: 12 GB


# ---------------------------------------------------------------- what one value means


MEANT = [
    (True, 1), (False, 0), ("0.5", 0.5), (" 1 ", 1), ("1e400", math.inf), ("nan", None),
    ("\u0661", None), ("1_000", 1000), ("\xa01", None), (b"0.5", 0.5), (b"\xff", None),
    ("1" * 1000, math.inf), ("1" * 1001, None), (10**400, math.inf), (-(10**400), -math.inf),
    (Fraction(-(10**400), 3), -math.inf), (Fraction(1, 4), 0.25), (Decimal("0.5"), 0.5),
    (Decimal("sNaN"), None), (Decimal("-1e400"), -math.inf), (1j, None), (complex(2), 2),
    (np.complex128(1j), None), (np.timedelta64(1), None), (pd.NA, None), (np.ma.masked, None),
    (np.array(2.0), 2), (np.array("2"), 2), (np.array([2.0]), None), (Number(0.5), 0.5),
    (Text("0.5"), 0.5), (Printing(), None), (Raising(), None), (np.float32(0.5), 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("value", "meant"), MEANT, ids=range(len(MEANT)))
def test_a_value_is_its_number_or_missing(value, meant, capsys):
    found = number(value)
    assert found == meant or (meant is None and math.isnan(found))
    assert type(found) is float
    assert capsys.readouterr().out == ""


def cast(texts):
    """Return what a cell of each text is in a table, NaN where it is missing."""
    from lownoise.engines.opening import rows_of

    table = pa.table({"x": pa.array(texts, pa.string())})
    return np.concatenate([np.zeros((0, 1)), *rows_of(["x"], table)])[:, 0]


WORDS = ("true", "FALSE", "Yes", "0x1F", "0b11", "\x1c1", "1\u2003", "\u0661", "1\x00", "Infinity")


def test_a_text_means_what_it_does_in_a_table():
    drawn = random.Random(1)  # noqa: S311 (of texts to try)
    letters = "+-019._eEinfaNty \t\v"
    texts = ["".join(drawn.choices(letters, k=drawn.randint(1, 8))) for _ in range(50_000)]
    texts += [repr(drawn.uniform(-1, 1) * 10.0 ** drawn.randint(-330, 300)) for _ in range(5_000)]
    texts += ["".join(own) for k in range(5) for own in itertools.product("+-1._e ", repeat=k)]
    texts += [*WORDS, "9" * 1000, "0." + "1" * 998]
    found = np.array([number_of_text(t) for t in texts])
    assert np.array_equal(found, cast(texts), equal_nan=True)
    assert np.count_nonzero(~np.isnan(found)) > 6000


def test_lists_and_tables_have_their_shapes():
    for values, shape, as_table in (
        ([1, 2], (2, 1), False),
        ([], (0, 1), False),
        ([[1], [2]], (2, 1), False),
        (np.zeros(3), (3, 1), False),
        (np.zeros((3, 1)), (3, 1), True),
        (pd.DataFrame({"x": [1]}), (1, 1), True),
        (memoryview(b"ab"), (2, 1), False),
    ):
        found, table = values_of(values, 1)
        assert (found.shape, table) == (shape, as_table)
    assert values_of([], 3)[0].shape == (0, 3)
    assert values_of(np.zeros((0, 3)), 3)[0].shape == (0, 3)
    assert value_of([1, 2], 2).tolist() == [[1, 2]]
    for value in ([1], 1, [1, 2, 3], "12", None, [[1, 2]]):
        assert np.all(np.isnan(value_of(value, 2)))


@pytest.mark.parametrize(
    ("values", "dimension"),
    [
        *(("12", 1), (b"12", 1), (bytearray(b"1"), 1), (1.0, 1), (None, 1), ({1: 2}, 1), ({1}, 1)),
        *((iter([1]), 1), (np.float64(1), 1), (np.array(1.0), 1), (object(), 1), (Raising(), 1)),
        *((np.zeros((2, 2)), 1), (np.zeros(2), 2), (np.zeros((2, 3)), 2), (np.zeros((1, 1, 1)), 1)),
        *((pd.DataFrame({"x": [1]}), 2), (pa.table({"x": [1]}), 2), (pl.DataFrame({"x": [1]}), 2)),
        *((np.array([["x"]]), 2), (np.array([[None, 1]], dtype=object), 1)),
    ],
    ids=range(21),
)
def test_a_container_of_another_kind_or_shape_is_refused_in_one_line(values, dimension):
    with pytest.raises(StreamError, match="give shape") as refusal:
        values_of(values, dimension)
    assert "\n" not in str(refusal.value)
