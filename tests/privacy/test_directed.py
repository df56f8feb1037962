# SPDX-License-Identifier: Apache-2.0
"""What the last step of every privacy number rounds, in exact fractions: up, and hardly."""

from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import root_up
from lownoise.privacy import zcdp_curve

NUMBERS = np.random.default_rng(3).integers(1, 10**9, (300, 2)).tolist()


def test_roots_of_fractions_are_not_below():
    for p, q in NUMBERS:
        square = Fraction(p, q)
        assert square <= Fraction(root_up(square)) ** 2 <= square * Fraction(1 + 1e-14)
    assert root_up(Fraction(9, 4)) == 1.5


def test_numbers_of_zcdp_are_not_below_their_balls():
    """A ball of a fraction, whose upper end is above it by less than 2^-190 of it."""
    with precision(200):
        for p, q in NUMBERS:
            found = Fraction(zcdp_curve._float_up(arb(fmpq(p, q))))
            assert Fraction(p, q) <= found <= Fraction(p, q) * Fraction(1 + 1e-15)
