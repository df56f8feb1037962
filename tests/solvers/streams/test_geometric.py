# SPDX-License-Identifier: Apache-2.0
"""Sums of powers, and their slopes, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from lownoise.solvers.streams.rational import falling_sum, geometric_sum

GAPS = [0.0, 1e-30, 1e-12, 1e-3, 0.02, 0.0333, 0.05, 0.3, 0.9, 1.0, 1.25, 1.9, 2.0]


@pytest.mark.grid
@pytest.mark.parametrize("n", [1, 2, 3, 10, 15, 30])
@pytest.mark.parametrize("gap", GAPS)
def test_short_sums_term_by_term(n, gap):
    p = 1 - Fraction(gap)
    powers = [p**t for t in range(n)]
    slopes = [-t * p ** (t - 1) if t else Fraction(0) for t in range(n)]
    falling = [1 - Fraction(t, n) for t in range(n)]
    for sums, weights in ((geometric_sum, [Fraction(1)] * n), (falling_sum, falling)):
        value, slope = sums(np.array([gap]), n)
        for found, terms in ((value, powers), (slope, slopes)):
            total = float(sum(w * x for w, x in zip(weights, terms, strict=True)))
            size = float(sum(abs(w * x) for w, x in zip(weights, terms, strict=True)))
            assert found[0] == pytest.approx(total, rel=1e-13, abs=1e-14 * size)


@pytest.mark.parametrize("scaled", [1e-9, 0.3, 0.499, 0.501, 2.0, 1e3])
@pytest.mark.parametrize("n", [1000, 10**9])
def test_long_sums_in_closed_form(n, scaled):
    with mp.workdps(60):
        q = mpf(scaled / n)
        power = (1 - q) ** n
        whole, slope = geometric_sum(np.array([scaled / n]), n)
        assert whole[0] == pytest.approx(float((1 - power) / q), rel=1e-13)
        rise = (n * (1 - q) ** (n - 1) * q - (1 - power)) / q**2
        assert slope[0] == pytest.approx(float(rise), rel=1e-12)
        part, _ = falling_sum(np.array([scaled / n]), n)
        assert part[0] == pytest.approx(float((n * q - (1 - q) * (1 - power)) / (n * q**2)), 1e-13)


def test_no_terms():
    value, slope = geometric_sum(np.array([0.0, 0.5, 1.0]), 0)
    assert value.tolist() == slope.tolist() == [0, 0, 0]
