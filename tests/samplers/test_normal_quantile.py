# SPDX-License-Identifier: Apache-2.0
"""The error bound of the fast normal numbers, against mpmath at 50 digits.

The oracle inverts nothing: Q falls, so the exact numbers of all tails in [v, v'] lie in
[z − e, z + e] exactly when Q(z + e) ≤ v and v' ≤ Q(z − e).
"""

import math

import mpmath
import numpy as np
import pytest
from flint import arb, arb_poly

from lownoise.errors import FileError
from lownoise.numbers import normals as own
from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import (
    CELLS,
    CUT,
    DEGREE,
    LOW_BITS,
    OCTAVES,
    WORST,
    normals,
    quantile,
    taylor_table,
)
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import up

SMALLEST = 2 ** (63 - OCTAVES)  # the least tail of the table, in units of 2^-64
SIGN = 2**63
INSIDE = 20  # random words a cell
UNIT = 2.0**-53
SMALL = 2e-14  # the largest bound: half of the last bit, where the density is least


def upper_tail(z):
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def holds(tail, z, error):
    """Return whether every tail in [tail, tail + 1]·2^-64 has its number within error of z."""
    with mpmath.workdps(50):
        unit = mpmath.mpf(2) ** -64
        z, error = mpmath.mpf(float(z)), mpmath.mpf(float(error))
        low, high = tail * unit, (tail + 1) * unit
        return bool(upper_tail(z + error) <= low and high <= upper_tail(z - error))


def words_of(octave):
    """Return the ends, the middle and random words of each cell of one octave."""
    randomness = SimulationRandomness(100 + octave)
    width = (SMALLEST << octave) // CELLS
    chosen = []
    for part in range(CELLS):
        start = (SMALLEST << octave) + part * width
        random = [start + int(w) % width for w in randomness.words(INSIDE)]
        chosen += [start, start + width // 2 - 1, start + width // 2, start + width - 1, *random]
    return chosen


@pytest.mark.grid
@pytest.mark.parametrize("octave", range(OCTAVES))
def test_every_cell_keeps_its_bound(octave):
    tails = words_of(octave)
    z, error = normals(np.array(tails, dtype=np.uint64))
    assert np.all(error > 0)
    assert np.all(error < SMALL)
    broken = [t for t, x, e in zip(tails, z, error, strict=True) if not holds(t, x, e)]
    assert broken == []


@pytest.mark.grid(1)
@pytest.mark.parametrize("off", [-2.5, 2.5])
def test_the_oracle_sees_a_number_that_is_off(off):
    # power of the test above: it fails for numbers off by 2½ bounds, and for a bound of nothing
    tails = words_of(OCTAVES - 13) + words_of(OCTAVES - 1)
    z, error = normals(np.array(tails, dtype=np.uint64))
    assert not any(holds(t, x + off * e, e) for t, x, e in zip(tails, z, error, strict=True))
    assert not any(holds(t, x, 0.0) for t, x in zip(tails, z, strict=True))


def test_random_words_land_in_all_cells_that_have_mass():
    words = SimulationRandomness(5).words(4000)
    z, error = normals(words)
    inside = np.isfinite(error)
    tails = [int(w) % SIGN for w in words]
    for tail, x, e, fast in zip(tails, np.abs(z), error, inside, strict=True):
        assert fast == (tail >= SMALLEST)
        assert not fast or holds(tail, x, e)


def test_the_top_bit_is_the_sign_and_nothing_else():
    tails = np.array([w for octave in range(OCTAVES) for w in words_of(octave)], dtype=np.uint64)
    z, error = normals(tails)
    z_minus, error_minus = normals(tails | np.uint64(SIGN))
    assert np.all(z > -error)  # the last tail is 1/2 less half of 2^-64
    assert np.array_equal(z_minus, -z)
    assert np.array_equal(error_minus, error)


@pytest.mark.parametrize("sign", [0, SIGN])
@pytest.mark.parametrize("tail", [0, 1, 2**11 - 1, 2**11, 2**30, 2**42, SMALLEST - 1])
def test_beyond_the_table_nothing_is_promised(tail, sign):
    z, error = normals(np.array([sign + tail, sign + SMALLEST], dtype=np.uint64))
    assert z[0] == 0.0
    assert error[0] == math.inf
    assert abs(z[1]) > 4.3
    assert error[1] < SMALL


def test_each_word_is_judged_alone():
    words = SimulationRandomness(6).words(1000)
    words[::7] &= np.uint64(SIGN + SMALLEST - 1)  # beyond the table
    z, error = normals(words)
    for i in range(0, 1000, 37):
        alone, its_error = normals(words[i : i + 1])
        assert alone[0] == z[i]
        assert its_error[0] == error[i]


def test_the_words_are_left_as_they_were():
    words = SimulationRandomness(7).words(100)
    before = words.copy()
    normals(words)
    assert np.array_equal(words, before)


def test_the_table_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        taylor_table()[0, 0] = 1.0


def made_table():
    """The table of `numbers.normals`, made anew; `np.save` of it is the file shipped."""
    polynomials = [arb_poly([1])]
    for n in range(1, DEGREE + 1):
        p = polynomials[-1]
        polynomials.append(p.derivative() + n * arb_poly([0, 1]) * p)
    table = np.empty((DEGREE + 3, OCTAVES * CELLS))
    with precision(300):
        for cell in range(OCTAVES * CELLS):
            octave, part = divmod(cell, CELLS)
            # in units of 2^-64: v runs over [start, start + 2·radius)
            radius = 2 ** (CUT + octave + LOW_BITS) // (2 * CELLS)
            start = 2 ** (CUT + octave + LOW_BITS) + part * 2 * radius
            unit = arb(2) ** -64
            z = quantile(arb(start + radius) * unit)
            phi = (-z * z / 2).exp() / (2 * arb.pi()).sqrt()
            r = arb(radius) * unit
            exact = [z] + [
                polynomials[n - 1](z) * (-r / phi) ** n / arb(math.factorial(n))
                for n in range(1, DEGREE + 1)
            ]
            rounded = [float(a.mid()) for a in exact]
            z_far = quantile(arb(start) * unit)
            phi_far = (-z_far * z_far / 2).exp() / (2 * arb.pi()).sqrt()
            remainder = (
                polynomials[DEGREE](z_far)
                * (r / phi_far) ** (DEGREE + 1)
                / arb(math.factorial(DEGREE + 1))
            )
            hidden = unit / 2 / phi_far  # the tail is known to half of the last bit
            stored = sum((abs(a - arb(b)) for a, b in zip(exact, rounded, strict=True)), arb(0))
            small = sum((abs(arb(b)) for b in rounded[1:]), arb(0))
            # Horner: 2·DEGREE operations on the small part, t off by one unit, one last addition
            rounding = UNIT * (abs(arb(rounded[0])) + 2 * small) + 40 * UNIT * small
            bound = remainder + hidden + stored + rounding
            table[:, cell] = [*rounded, 2.0**LOW_BITS / radius, up(float(bound.upper()))]
    return table


def test_the_shipped_table_is_the_one_that_ball_arithmetic_makes():
    made, shipped = made_table(), taylor_table()
    # the middle of a ball may differ by a unit between versions of flint; bounds are tested above
    assert np.allclose(shipped, made, rtol=2.0**-50, atol=0)
    assert shipped[-1].max() < WORST


def test_a_damaged_table_is_refused(tmp_path, monkeypatch):
    damaged = tmp_path / "normals.npy"
    made = taylor_table().copy()
    made[-1] /= 2
    np.save(damaged, made)
    monkeypatch.setattr(own, "TABLE", damaged)
    taylor_table.cache_clear()
    with pytest.raises(FileError, match="is not the table of this version; install") as caught:
        taylor_table()
    assert "\n" not in str(caught.value)
