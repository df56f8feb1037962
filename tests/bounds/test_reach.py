# SPDX-License-Identifier: Apache-2.0
"""How far a box reaches under a map, in exact fractions: what is subtracted for it is enough."""

from fractions import Fraction

import numpy as np

from lownoise.bounds.means import _extent_up
from lownoise.sets.bodies import SymmetricBox


def test_a_box_reaches_no_farther_than_is_said():
    """One row: its reach is Σ|aⱼ|hⱼ, and to nearest it would be too low for many a row."""
    rng = np.random.default_rng(5)
    low = 0
    for _ in range(200):
        row, half = rng.normal(size=7), rng.exponential(size=7)
        exact = sum(abs(Fraction(a)) * Fraction(h) for a, h in zip(row, half, strict=True))
        found = Fraction(_extent_up(SymmetricBox(half), row[None]))
        assert exact <= found <= exact * Fraction(1 + 1e-14)
        low += Fraction(float(np.abs(row) @ half)) < exact
    assert low > 40
