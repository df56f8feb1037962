# SPDX-License-Identifier: Apache-2.0
"""Balls of a norm hold it for every point that they are asked for, and shrink with those."""

import mpmath
import numpy as np
import pytest
from flint import arb

from lownoise.numbers.intervals import precision
from lownoise.sets.unit_balls import (
    CappedBall,
    IntersectionBall,
    MixedBall,
    SortedBall,
    SpectralBall,
    decided,
    enclosed,
)
from unit_ball_cases import MEMBERS, parts

RNG = np.random.default_rng(20261123)
KNOWN = {name: base for name, base in MEMBERS.items() if decided(base)}
every = pytest.mark.parametrize("base", KNOWN.values(), ids=list(KNOWN))


def defined(base, point):
    """Return the norm of a point by its definition, to 60 digits."""
    with mpmath.workdps(60):
        return _of(base, [mpmath.mpf(x) for x in point])


def _of(base, x):
    if isinstance(base, MixedBall):
        return _power([_of(part, x[own]) for part, own in parts(base)], base.order)
    if isinstance(base, IntersectionBall):
        scaled = [[mpmath.mpf(s) * v for s, v in zip(row, x, strict=True)] for row in base.scales]
        return max(_of(part, own) for part, own in zip(base.parts, scaled, strict=True))
    if isinstance(base, SpectralBall):
        rows = [x[i * base.columns : (i + 1) * base.columns] for i in range(base.rows)]
        return _of(base.gauge, list(mpmath.svd_r(mpmath.matrix(rows), compute_uv=False)))
    if isinstance(base, SortedBall):
        falling = sorted(map(abs, x), reverse=True)
        return mpmath.fsum(mpmath.mpf(w) * v for w, v in zip(base.weights, falling, strict=True))
    most = _power(x, base.order)
    if isinstance(base, CappedBall):
        return max(most, *(abs(v) / mpmath.mpf(c) for v, c in zip(x, base.cap, strict=True)))
    return most


def _power(x, order):
    if np.isinf(order):
        return max(map(abs, x))
    return mpmath.fsum(abs(v) ** mpmath.mpf(order) for v in x) ** (1 / mpmath.mpf(order))


def _held(ball, number):
    """Return whether a ball holds a number of 60 digits, but for its last ones."""
    with mpmath.workdps(60):
        low, high = (
            mpmath.mpf(str(end.mid().str(60, radius=False))) for end in (ball.lower(), ball.upper())
        )
        room = mpmath.mpf(10) ** -50 * (1 + number)
        return low - room <= number <= high + room


@pytest.mark.grid(least=3)
@every
def test_the_norm_is_in_the_ball(base):
    for x in RNG.normal(size=(6, base.dimension)).tolist():
        with precision(300):
            found = enclosed(base, [arb(v) for v in x])
            assert found.is_finite()
            assert found.rad() < 2.0**-100
            assert _held(found, defined(base, np.array(x)))


@pytest.mark.grid(least=3)
@every
def test_the_norms_of_all_points_in_wide_balls_are_in_it(base):
    for x in RNG.normal(size=(3, base.dimension)):
        for radius in (2.0**-8, 1.5):
            with precision(120):
                found = enclosed(base, [arb(v, radius) for v in x.tolist()])
                if not found.is_finite():  # told too little: then it says nothing
                    assert isinstance(base, SpectralBall)
                    assert not found <= 1
                    assert not found > 1
                    continue
                moves = RNG.uniform(-1, 1, size=(4, base.dimension))
                moves[:2] = np.sign(moves[:2])
                for move in moves:
                    assert _held(found, defined(base, x + radius * move))


def test_points_beside_the_boundary_are_told_apart():
    """At 2^-200 of the boundary, where no float tells."""
    for base in KNOWN.values():
        x = RNG.normal(size=base.dimension)
        with precision(500):
            norm = enclosed(base, [arb(v) for v in x.tolist()])
            for sign, side in ((-1, True), (1, False)):
                stretch = (1 + sign * arb(2) ** -200) / norm
                own = enclosed(base, [arb(v) * stretch for v in x.tolist()])
                assert (own <= 1, own > 1) == (side, not side)


def test_bodies_whose_norm_is_a_bound_have_no_ball():
    unknown = set(MEMBERS) - set(KNOWN)
    assert {type(MEMBERS[name]).__name__ for name in unknown} == {
        "KroneckerBall",
        "ParityBall",
        "ParityDifferenceBall",
    }
