# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels say what numpy says, of every value, and are used only where they do."""

import math
import subprocess
import sys
from threading import Thread
from types import ModuleType

import llvmlite
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adders import added_by, kernels
from lownoise.engines import Coding, TotalsQuery, adding, compiled
from lownoise.engines.adding import ColumnCode
from lownoise.engines.categories import Reader
from lownoise.engines.compiled import Kernels
from lownoise.engines.folds import CodeSums, RangeSums
from lownoise.engines.groups import GroupCodes
from lownoise.engines.memory import MemorySource
from lownoise.numbers.machine import Loader
from lownoise.questions.attributes import attributes

TIES = [k / 2**p + j * 2.0**-40 for k in range(-9, 10) for p in (1, 3) for j in (-1, 0, 1)]
NASTY = [
    0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324, -5e-324, 2.0**-1022, 1e308,
    -1.7e308, 2.0**50 + 0.25, -(2.0**50) - 0.5, 2.0**52, 2.0**53 + 2, 0.49999999999999994,
    -0.5000000000000001,
]  # fmt: skip
VALUES = st.lists(st.floats(allow_nan=True) | st.sampled_from(NASTY + TIES), max_size=40)


@st.composite
def codings(draw):
    """Any box of one column, its center in it or zero, on any grid whose codes are exact."""
    lower = draw(st.sampled_from([0.0, -4.0, -(2.0**50), 0.1, -1e-300]) | st.floats(-1e9, 1e9))
    width = draw(st.sampled_from([0.0, 1.0, 8.0, 2.0**51]) | st.floats(1e-3, 1e9))
    upper = lower + width
    inside = st.floats(min(lower, upper), upper)
    center, missing = draw(st.just(0.0) | inside), draw(st.just(lower) | inside)
    most = max(abs(end - center) for end in (lower, upper, missing)) or 1.0
    finest = math.frexp(most)[1] - 52  # codes of at most 2^52
    step = 2.0 ** max(finest + draw(st.integers(0, 60)), -1000)  # whose inverse is a float
    fields = {"lower": lower, "upper": upper, "center": center, "missing": missing, "step": step}
    return Coding(columns=("x",), **{name: np.array([own]) for name, own in fields.items()})


@given(codings(), VALUES, st.integers(0, 40))
@example(  # halves that round one way alone, and the largest code
    Coding(
        columns=("x",),
        lower=np.array([-(2.0**52)]),
        upper=np.array([2.0**52]),
        center=np.zeros(1),
        missing=np.array([-(2.0**52)]),
        step=np.ones(1),
    ),
    [0.5, -0.5, 1.5, 2.5, -1.5, 2.0**52, -(2.0**52), 2.0**52 - 1, 2.0**51 + 0.5, math.nan],
    3,
)
def test_compiled_sums_are_those_of_the_reference(coding, values, start):
    """Of all rows and at places, of a slice that begins anywhere, to the integer."""
    column = np.array(values, dtype=float)[start:]
    codes = coding.encode(column.reshape(-1, 1)).ravel().tolist()
    at = np.arange(len(column)) * 7 % 4
    wanted = [
        sum(c for c, place in zip(codes, at.tolist(), strict=True) if place == k + 1)
        for k in range(3)
    ]
    for way in ("numpy", "compiled"):
        with added_by(way) as loader:
            assert coding.sums([column]) == [sum(codes)]
            coding.add_at(found := np.zeros((3, 1, 2), dtype=np.int64), [column], at)
            assert loader.used == 2
        assert [(high << 26) + low for high, low in found[:, 0].tolist()] == wanted


@given(
    st.lists(st.integers(-(2**62), 2**62) | st.none(), max_size=40), st.integers(-(2**52), 2**52)
)
def test_compiled_sums_of_clipped_integers_are_exact(values, lower):
    ends = lower, min(lower + 2**30, 2**52)
    column = np.array([math.nan if v is None else float(v) for v in values])
    clipped = [min(max(v, ends[0]), ends[1]) for v in values if v is not None]
    for way in ("numpy", "compiled"):
        with added_by(way):
            found = MemorySource({"x": column}).sums([("x", *ends)], complete=False)
        assert (found.count, found.present, found.sums) == (
            len(values),
            (len(clipped),),
            (sum(clipped),),
        )


@pytest.mark.parametrize("at_once", [8, 1 << 24])
def test_many_of_the_largest_codes_add_up_exactly(at_once, monkeypatch):
    """In whatever parts, without a carry that is lost."""
    monkeypatch.setattr(compiled, "_AT_ONCE", at_once)
    code = ColumnCode(-(2.0**52), 2.0**52, 0.0, 1.0, 2**52 - 1, 2.0**52)
    values = np.full(10_003, 2.0**60)
    values[::7], values[1::7] = math.nan, -(2.0**52) + 1
    lacking, low = len(values[::7]), len(values[1::7])
    high = len(values) - lacking - low
    sums = high * 2**52 - low * (2**52 - 1)
    assert kernels().sum(code.scalars, values) == (sums, lacking)
    found = np.zeros((2, 2), dtype=np.int64)
    kernels().add_at(found, code.scalars, code.missing, values, np.full(len(values), 2))
    assert (found[:, 0].astype(object) * 2**26 + found[:, 1]).tolist() == [
        0,
        sums + lacking * (2**52 - 1),
    ]


def test_columns_that_do_not_lie_in_a_row_are_numpys():
    code = ColumnCode(-1.0, 1.0, 0.0, 4.0, 0, 4.0)
    values = np.linspace(-2, 2, 40)
    at = np.arange(40) % 3
    for own, places in (
        (values[::2], at[:20]),
        (values[:20].astype(np.float32), at[:20]),
        (values[:20], at[::2]),
    ):
        wanted, found = np.zeros((2, 2, 2), dtype=np.int64)
        with added_by("numpy"):
            sums = code.sum(own)
            code.add_at(wanted, own, places)
        with added_by("compiled"):
            assert code.sum(own) == sums
            code.add_at(found, own, places)
        assert np.array_equal(found, wanted)


def test_a_row_whose_place_is_none_of_the_sums_reaches_no_kernel():
    """Or memory beyond them would be written to."""
    table = MemorySource({"x": np.ones(16), "g": np.arange(16) % 2})
    reader = Reader.of(attributes({"g": 2}), table)
    work = GroupCodes(reader, TotalsQuery(_coding(), drops_missing=False))
    (batch,) = table.batches(work.numbers, work.texts)
    with added_by("compiled") as loader, pytest.raises(ValueError, match="broadcast"):
        work.add(work.zeros()[:1], batch)
    assert not loader.used


# -- when they are used ------------------------------------------------------------------------


def test_kernels_are_made_once_enough_was_added_up(monkeypatch):
    made = []
    monkeypatch.setattr(compiled, "Kernels", lambda: made.append(1) or kernels())
    loader = _loader(100, bool)
    assert [loader.after(60), loader.after(39)] == [None, None]
    assert not made
    assert [loader.after(1), loader.after(1)] == [kernels()] * 2
    assert len(made) == 1


def test_nothing_is_loaded_for_few_values():
    work = CodeSums(TotalsQuery(_coding(), drops_missing=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "Kernels", pytest.fail)
        patch.setattr(adding, "LOADER", _loader(adding._ENOUGH, bool))
        assert CodeSums.totals(MemorySource({"x": np.ones(1000)}).fold(work)).sums == (1000,)


def _loader(enough, right):
    return Loader(enough, compiled.Kernels, right)


def _coding():
    one = np.ones(1)
    return Coding(columns=("x",), lower=-one, upper=one, center=0 * one, missing=0 * one, step=one)


@pytest.mark.parametrize("module", [None, ModuleType("llvmlite.binding")])
def test_without_llvmlite_or_with_another_one_numpy_adds_up(module, monkeypatch):
    """Not there, or not what it is now: nothing is said, and the sums are the same."""
    monkeypatch.setitem(sys.modules, "llvmlite.binding", module)
    monkeypatch.setattr(llvmlite, "binding", module)
    monkeypatch.setattr(adding, "LOADER", loader := _loader(0, adding._right))
    ranges = RangeSums((("x", 0, 3),), complete=False)
    found = MemorySource({"x": np.array([2.0, 9.0, math.nan])}).fold(ranges)
    assert found.tolist() == [[0, 5, 2], [0, 0, 3]]
    assert loader.after(1 << 40) is None
    assert not adding.compiled()


def test_whoever_asks_is_told_whether_they_are_used(monkeypatch):
    monkeypatch.setattr(adding, "LOADER", loader := _loader(adding._ENOUGH, adding._right))
    assert loader.after(1) is None
    assert adding.compiled()
    assert isinstance(loader.after(1), Kernels)


HARDENED = """
import ctypes
from lownoise.engines import adding, compiled
denied = ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0  # PR_SET_MDWE, Linux 6.3
assert adding.compiled() is not denied
"""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_where_no_memory_is_made_executable_numpy_adds_up():
    """As systemd and SELinux may have it: LLVM would end the process."""
    subprocess.run([sys.executable, "-c", HARDENED], check=True)


def test_while_one_thread_makes_kernels_others_do_without(monkeypatch):
    found = []

    def slow():
        other = Thread(target=lambda: found.append(loader.after(5)))
        other.start()
        other.join()
        return kernels()

    monkeypatch.setattr(compiled, "Kernels", slow)
    loader = _loader(1, bool)
    assert loader.after(5) is kernels()
    assert found == [None]


FAULTS = [
    ("@llvm.floor", "@llvm.ceil"),
    ("@llvm.floor", "@llvm.rint"),
    ("double 0.5,", "double 0.25,"),
    ("fcmp uno <8 x double> %x, %x", "fcmp one <8 x double> %x, %x"),
    ("%below = fcmp olt", "%below = fcmp ogt"),
    ("%above = fcmp ogt", "%above = fcmp olt"),
    ("<8 x double> %u, <8 x double> %raised", "<8 x double> %raised, <8 x double> %raised"),
    ("%off = fsub <8 x double> %clipped, %c", "%off = fadd <8 x double> %clipped, %c"),
    ("%shifted = fadd", "%shifted = fsub"),
    ("0x3E50000000000000", "0x3E40000000000000"),
    ("0x4190000000000000", "0x41A0000000000000"),
    ("%highs1 = fadd <8 x double> %highs, %high", "%highs1 = fadd <8 x double> %highs, %low"),
    ("%lack1 = add", "%lack1 = sub"),
    ("%after = add", "%after = sub"),
]


@pytest.mark.parametrize(("right", "wrong"), FAULTS)
def test_kernels_that_say_anything_else_are_not_used(right, wrong, monkeypatch):
    """As on a processor for which they would be compiled into something else."""
    text = compiled.TEXT.read_text(encoding="utf-8")
    assert right in text

    class Faulty:
        def read_text(self, encoding):
            return text.replace(right, wrong)

    assert adding._right(kernels())
    monkeypatch.setattr(compiled, "TEXT", Faulty())
    assert not adding._right(Kernels())
    assert _loader(0, adding._right).after(1) is None
