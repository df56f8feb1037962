# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels make the noise that numpy makes, to the last bit, and are used only where so."""

import sys
from contextlib import contextmanager

import llvmlite
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lownoise as ln
from adders import Always
from lownoise.numbers import compiled
from lownoise.numbers import normals as normal_numbers
from lownoise.numbers.compiled import LEAST, MOST_IN_A_ROW, Kernels, loader
from lownoise.numbers.normals import OCTAVES, normals
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.marginal_answers import MarginalAnswers
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import tables
from lownoise.sensitivity.factors.tables import DifferenceFactor, centered, differences

gaussian = sys.modules["lownoise.samplers.gaussian"]
ROOMS = (normal_numbers, gaussian, tables)  # where noise is made by kernels
SIGN, SMALLEST = 2**63, 2 ** (63 - OCTAVES)


@contextmanager
def made_by(way, rooms=ROOMS):
    """Make noise in one way in the block, in all threads, however little."""
    own = Always(compiled._made() if way == "compiled" else None)
    with pytest.MonkeyPatch.context() as patch:
        for room in rooms:
            patch.setattr(room, "LOADER", own)
        yield own


def both(work):
    found = []
    for way in ("numpy", "compiled"):
        with made_by(way) as used:
            found.append(work())
            assert used.used
    return found


def bits(array):
    return np.ascontiguousarray(array).view(np.int64)


@given(
    st.integers(0, 2**32),
    st.integers(LEAST + 7, LEAST + 20),
    st.integers(0, 6),
    st.sampled_from([0.0, 11 * 2.0**-53]),
    st.lists(st.integers(0, SMALLEST * 2 + 5), max_size=5),
)
def test_normal_numbers_and_bounds_have_the_same_bits(seed, count, start, slope, small):
    """Of random words, of words about the table's end, in slices that begin and end anywhere."""
    words = SimulationRandomness(seed).words(count)
    words[: len(small)] = small
    words[-len(small) or count :] = np.array(small, dtype=np.uint64) + np.uint64(SIGN)
    (z, error), (z_same, error_same) = both(lambda: normals(words[start:], slope))
    assert np.array_equal(bits(z), bits(z_same))
    assert np.array_equal(bits(error), bits(error_same))


SIZES = st.lists(st.integers(2, 9) | st.sampled_from([16, 33]), max_size=4)


def grown(sizes):
    """Return how many tables of these sizes are many enough for kernels."""
    return -(-LEAST // max(int(np.prod([n - 1 for n in sizes], dtype=int)), 1)) + 1


@given(st.integers(0, 2**32), SIZES, st.sampled_from([3.0, 2.0**20 / 3, 2.0**40 / 3, 2.0**51]))
def test_integers_under_a_seed_are_the_same(seed, sizes, scale):
    """Where floats decide, where some are left to ball arithmetic, and beyond what floats hold."""
    factor = DifferenceFactor(scale=scale, sizes=tuple(sizes), copies=grown(sizes))
    if scale > 2.0**30:  # there most are left to balls: few tables, of the least size for kernels
        factor = DifferenceFactor(scale=2.0**38 / 3, sizes=(33, 33), copies=1)
    drawn = both(lambda: rounded_gaussian(factor, randomness=SimulationRandomness(seed)))
    assert np.array_equal(*drawn)


@given(st.lists(st.floats(-(2.0**53), 2.0**53), min_size=1, max_size=30), st.integers(0, 3))
def test_roundings_and_what_they_leave_open_are_the_same(special, start):
    values = np.arange(LEAST + 40) * 0.75
    places = np.arange(len(special)) * 31 % len(values)
    values[places] = special
    values[places[0] + 1 :: 97] += 0.5
    for doubt in (0.0, 0.125):
        for way in (values, np.rint(values)):
            own = way[start:]
            (one, left), (same, left_same) = both(
                lambda own=own, doubt=doubt: gaussian._roundings(own.copy(), np.asarray(doubt))
            )
            assert np.array_equal(one, same)
            assert left.tolist() == left_same.tolist()


@given(SIZES.filter(bool), st.integers(0, 4), st.integers(0, 2**32), st.booleans())
def test_differences_and_what_undoes_them_have_the_same_bits(sizes, axis, seed, whole):
    shape = (grown(sizes), *sizes)
    rng = np.random.default_rng(seed)
    table = np.ldexp(rng.normal(size=shape), rng.integers(-30, 30, shape))
    if whole:
        table = rng.integers(-(2**62), 2**62, shape)
    one, same = both(lambda: differences(table, 1))
    assert np.array_equal(bits(one), bits(same))
    one, same = both(lambda: differences(table.copy(), 1, own=True))
    assert np.array_equal(bits(one), bits(same))
    own, along = table.astype(float), 1 + axis % len(sizes)
    totals = rng.normal(size=(*shape[:along], *shape[along + 1 :]))
    totals[totals > 2] = 0.0
    with made_by("numpy"):
        wanted = centered(own, along, totals)
    room = np.empty(wanted.size + 5)
    room[-own.size :] = own.reshape(-1)
    with made_by("compiled"):
        for given_table, put in ((own, None), (room[-own.size :].reshape(shape), room)):
            assert np.array_equal(bits(centered(given_table, along, totals, put)), bits(wanted))


@pytest.mark.parametrize("n", [MOST_IN_A_ROW - 1, MOST_IN_A_ROW, MOST_IN_A_ROW + 1, 300])
def test_rows_that_numpy_adds_up_in_several_runs_are_numpys(n):
    table = np.random.default_rng(n).normal(size=(LEAST // n + 1, n)) * 2.0**30
    found = []
    for way in ("numpy", "compiled"):
        with made_by(way):
            found.append(bits(centered(table, 1, table[:, 0].copy())))
    assert np.array_equal(*found)


def test_a_release_and_all_its_counts_are_the_same():
    """Marginals of one to three attributes, one of them of one category."""
    rows = np.random.default_rng(1).integers(0, 2, (500, 5))
    sizes = {"a": 12, "b": 2, "c": 11, "d": 1, "e": 9}
    table = pd.DataFrame(rows * [5, 1, 7, 0, 3], columns=list(sizes))
    question = ln.Marginals(sizes, way=3)
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    made = plan.terms.mechanism

    def released():
        room = np.zeros(made.length, dtype=np.int64)
        pieces = made.pieces(made.read(table), randomness=SimulationRandomness(3), room=room)
        assert all(np.shares_memory(own, room) for _, own in pieces)
        counts = [own.ravel() for _, own in MarginalAnswers(plan.terms, room).marginals()]
        return room, np.concatenate(counts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "LEAST", 2)
        (one, counts), (same, same_counts) = both(released)
    assert np.array_equal(one, same)
    assert np.array_equal(bits(counts), bits(same_counts))
    assert one.tolist() == list(made.run(made.read(table), randomness=SimulationRandomness(3)))


# -- when they are used ------------------------------------------------------------------------


@pytest.mark.parametrize("room", ROOMS)
def test_they_are_made_once_there_is_enough_and_few_numbers_do_without(room, monkeypatch):
    made = []
    monkeypatch.setattr(compiled, "_made", lambda: made.append(1) or Kernels())
    own = loader(room._right)
    assert own.after(compiled.ENOUGH - 1) is None
    assert not made
    assert own.after(1) is own.after(1) is not None
    assert made == [1]
    monkeypatch.undo()
    with made_by("compiled") as used:
        normals(SimulationRandomness(1).words(LEAST - 1))
        rounded_gaussian(
            DifferenceFactor(scale=9.0, sizes=(5, 5), copies=3), randomness=SimulationRandomness(1)
        )
    assert not used.used


@pytest.mark.parametrize("room", ROOMS)
def test_without_llvmlite_numpy_makes_noise(room, monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    monkeypatch.setattr(llvmlite, "binding", None)
    monkeypatch.setattr(compiled, "_made", Kernels)
    assert loader(room._right).after(compiled.ENOUGH) is None


APART = """  %product = fmul <4 x double> %z, %t
  %sum = fadd <4 x double> %product, %c
  ret <4 x double> %sum
}
"""
FUSED = """  %sum = call <4 x double>
      @llvm.fma.v4f64(<4 x double> %z, <4 x double> %t, <4 x double> %c)
  ret <4 x double> %sum
}
declare <4 x double> @llvm.fma.v4f64(<4 x double>, <4 x double>, <4 x double>)
"""
FAULTS = [
    (normal_numbers, "@step(<4 x double> %z4,", "@step(<4 x double> %z5,"),
    (normal_numbers, APART, FUSED),
    (normal_numbers, "<i64 47, i64 47, i64 47, i64 47>", "<i64 48, i64 48, i64 48, i64 48>"),
    (normal_numbers, "%beyond = icmp slt", "%beyond = icmp sle"),
    (normal_numbers, "%signed = xor <4 x i64> %bits, %sign", "%signed = or <4 x i64> %bits, %bits"),
    (normal_numbers, "%odd = or <4 x i64> %twice, <i64 1,", "%odd = or <4 x i64> %twice, <i64 0,"),
    (normal_numbers, "fadd <4 x double> %known, %more_off", "fadd <4 x double> %known, %known"),
    (normal_numbers, "fadd <4 x double> %up3, %low2", "fsub <4 x double> %up3, %low2"),
    (gaussian, "fadd <4 x double> %size, %doubts", "fadd <4 x double> %size, %size"),
    (gaussian, "%near = fcmp olt", "%near = fcmp ole"),
    (gaussian, "%near = fcmp olt", "%near = fcmp ult"),
    (gaussian, "%small = fcmp olt", "%small = fcmp ole"),
    (gaussian, "double 0x4338000000000000", "double 0x4330000000000000"),
    (gaussian, "vector.reduce.and.v4i1", "vector.reduce.or.v4i1"),
    (tables, "%float_off = fsub", "%float_off = fadd"),
    (tables, "%int_off = sub", "%int_off = add"),
    (tables, "%single_off = fsub", "%single_off = fadd"),
    (tables, "%kept = sub i64 %n, 1", "%kept = sub i64 %n, 2"),
    (tables, "fadd double %q0, %q1", "fadd double %q0, %p3"),
    (tables, "[ 8, %start ]", "[ 16, %start ]"),
    (tables, "fadd <8 x double> %row_own, %last", "fsub <8 x double> %row_own, %last"),
    (tables, "%left_over = fsub", "%left_over = fadd"),
    (tables, "%single_left = fsub", "%single_left = fadd"),
    (tables, "fdiv double %row_left, %count", "fmul double %row_left, %count"),
]


@pytest.mark.parametrize(("room", "right", "wrong"), FAULTS)
def test_kernels_that_make_anything_else_are_not_used(room, right, wrong, monkeypatch):
    """As on a processor for which they would be compiled into something else."""
    text = compiled.TEXT.read_text(encoding="utf-8")
    assert right in text

    class Faulty:
        def read_text(self, encoding):
            return text.replace(right, wrong)

    assert room._right(compiled._made())
    monkeypatch.setattr(compiled, "TEXT", Faulty())
    assert not room._right(Kernels())
