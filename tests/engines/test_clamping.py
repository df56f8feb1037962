# SPDX-License-Identifier: Apache-2.0
"""Codes of records are as near to the domain as the noise pays for, judged in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from cases import MEMBERS
from lownoise.engines import ClampingCoding
from lownoise.errors import PlanError
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.domains import Image
from lownoise.sets.unit_balls import KroneckerBall, NormBall, SpectralBall
from unit_ball_cases import exact_norm

SEED = st.integers(0, 2**32 - 1)
MATRICES = (KroneckerBall, SpectralBall)  # no formula gives their norms to 60 digits
CLAMPED = [
    m for m in MEMBERS if isinstance(m.domain, Image) and not isinstance(m.domain.base, MATRICES)
]
every = pytest.mark.parametrize("member", CLAMPED, ids=lambda member: member.name)


def coding(domain, step, center=None):
    chosen = domain.coordinates()
    middle = domain.center if center is None else center
    return ClampingCoding(
        columns=tuple(f"c{i}" for i in range(domain.dimension)),
        domain=domain,
        center=middle,
        missing=domain.clamp(middle),
        pivots=chosen.pivots,
        step=np.broadcast_to(step, chosen.pivots.shape).astype(np.float64),
    )


def rows_of(member, rng, count=60):
    """Inside, at the boundary, outside, and what no coordinate can be."""
    domain = member.domain
    count = min(count, 6) if member.slow else count
    inside = member.sample(rng, count)
    width = domain.upper - domain.lower
    far = domain.center + width * rng.normal(size=inside.shape) * 10.0 ** rng.uniform(-1, 6)
    ends = domain.extreme(rng.normal(size=inside.shape) / np.where(width > 0, width, 1.0))
    wild = rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0, -5e-324], (9, domain.dimension))
    return np.vstack([inside, far, ends, wild])


def fractions(values):
    return [Fraction(float(v)) for v in values]


@pytest.mark.grid
@every
@settings(max_examples=2)
@given(seed=SEED, fine=st.sampled_from([2.0**-46, 0.25]))
def test_every_code_is_within_the_slack_of_the_domain(member, seed, fine):
    """Along any θ a code is at most support and slack away: on coarse grids and the finest."""
    rng = np.random.default_rng(seed)
    domain = member.domain
    size = float(np.max(domain.upper - domain.lower)) or 1.0
    step = 2.0 ** math.floor(math.log2(size)) * fine
    center = domain.lower + rng.random(domain.dimension) * (domain.upper - domain.lower)
    own = coding(domain, step, center)
    codes = own.encode(rows_of(member, rng))
    if not own.pivots.size:
        assert codes.shape[1] == 0
        return
    slack = fractions(own.slack)
    for theta in (*np.eye(own.pivots.size), *rng.integers(-3, 4, (4, own.pivots.size))):
        full = np.zeros(domain.dimension)
        full[own.pivots] = theta
        for sign in (1, -1):
            # the code that is farthest along θ, in exact numbers from here on
            t = fractions(sign * theta)
            values = (codes * (sign * theta).astype(np.int64)).sum(axis=1)
            code = codes[int(np.argmax(values))].tolist()
            steps = fractions(own.step)
            at = sum(a * (c * h) for a, c, h in zip(t, code, steps, strict=True))
            at += sum(a * b for a, b in zip(fractions(sign * full), fractions(center), strict=True))
            room = sum(abs(a) * s * h for a, s, h in zip(t, slack, steps, strict=True))
            most = Fraction(domain.support(sign * full))
            # the support is a float: its own rounding, of numbers as large as the center's
            blur = Fraction(float(np.abs(full) @ (np.abs(domain.center) + domain.extent))) / 2**50
            assert at <= most + room + blur


@pytest.mark.grid
@every
@settings(max_examples=2)
@given(seed=SEED)
def test_along_a_diagonal_codes_are_within_the_slack_exactly(member, seed):
    """What is left of a code beside its slack has a norm of at most 1, on the finest grid."""
    domain = member.domain
    if not domain.diagonal:
        return
    rng = np.random.default_rng(seed)
    wide = domain.extent > 0
    far = float(np.max(domain.extent)) or 1.0
    step = np.where(wide, 2.0 ** np.floor(np.log2(np.where(wide, domain.extent, 1.0)) - 48), far)
    center = domain.lower + rng.random(domain.dimension) * (domain.upper - domain.lower)
    own = coding(domain, step, center)
    codes = own.encode(rows_of(member, rng, 8))
    middle, at, F = fractions(domain.center), fractions(own.center), fractions(domain.factor)
    for code in codes.tolist():
        left = []
        for i, c in enumerate(code):
            h, slack = Fraction(float(own.step[i])), Fraction(float(own.slack[i]))
            off = abs(c * h + at[i] - middle[i])
            if not F[i]:
                assert off <= h / 2  # one constant code
                left.append(0.0)
                continue
            left.append(float(max(off - slack * h, 0) / abs(F[i])))
        assert exact_norm(domain.base, np.array(left)) <= 1 + 2.0**-52


@pytest.mark.grid
@every
@settings(max_examples=2)
@given(seed=SEED)
def test_records_inside_get_the_nearest_codes(member, seed):
    """Within half a step of the record itself, and what clamping moves it."""
    rng = np.random.default_rng(seed)
    domain = member.domain
    width = domain.upper - domain.lower
    own = coding(domain, 2.0 ** math.floor(math.log2(float(np.max(width)) or 1.0)) * 2.0**-12)
    rows = member.sample(rng, 8 if member.slow else 40)
    exact = (rows - own.center)[:, own.pivots] / own.step
    assert np.all(np.abs(own.encode(rows) - exact) <= 0.5 + 1e-3)


def changes_of(codes, count_step):
    if count_step is None:
        return (codes[:, None] - codes).reshape(len(codes) ** 2, codes.shape[1])
    return np.hstack([codes, np.full((len(codes), 1), 1 / count_step)])


@pytest.mark.grid(least=3)
@every
@pytest.mark.parametrize("count_step", [None, 0.5])
@settings(max_examples=1)
@given(seed=SEED)
def test_all_changes_of_codes_are_reached(member, count_step, seed):
    """Brute force on coarse grids, where rounding counts as much as the records, in many shapes."""
    rng = np.random.default_rng(seed)
    domain = member.domain
    size = float(np.max(domain.upper - domain.lower)) or 1.0
    center = domain.lower + rng.random(domain.dimension) * (domain.upper - domain.lower)
    own = coding(domain, 2.0 ** (math.floor(math.log2(size)) - int(rng.integers(0, 4))), center)
    reach = own.changes(count_step)
    codes = np.unique(own.encode(rows_of(member, rng, 90)), axis=0)
    changes = changes_of(codes.astype(np.float64), count_step)
    r = changes.shape[1]
    if not r:
        return
    assert np.all(np.max(np.abs(changes), axis=0) <= reach.widths())
    shapes = [DiagonalShape(np.where(np.arange(r) == i, 1.0, 1e9)) for i in range(r)]
    shapes += [DenseShape(np.tril(rng.normal(size=(r, r))) + 2 * np.eye(r)) for _ in range(4)]
    for shape in shapes:
        found = changes / shape.scale if isinstance(shape, DiagonalShape) else None
        if found is None:
            found = np.linalg.solve(shape.factor, changes.T).T
        assert np.max(np.linalg.norm(found, axis=1)) <= reach.radius_up(shape) * (1 + 1e-12)


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_both_ends_of_a_range_can_be_rounded_outward(order, dimension):
    """A range of 8.05 steps has 9 between its codes: more than one slack, less than two."""
    radius = 4.025
    domain = ln.Ball(dimension, radius, order=order)
    own = coding(domain, 1.0, np.full(dimension, radius - 3.500001))
    ends = radius * np.eye(dimension)
    codes = own.encode(np.vstack([ends, -ends]))
    apart = codes[0, 0] - codes[dimension, 0]
    assert apart == 9
    off = Fraction(int(codes[0, 0])) + Fraction(float(own.center[0])) - Fraction(radius)
    assert Fraction(4999, 10**4) <= off <= Fraction(float(own.slack[0]))
    assert 2 * radius + float(own.slack[0]) < apart <= float(own.changes(None).widths()[0])
    for shape in (DiagonalShape(np.ones(dimension)), DenseShape(np.eye(dimension))):
        assert float(np.max(np.linalg.norm(codes[:1] - codes, axis=1))) <= own.changes(
            None
        ).radius_up(shape)
    # one record that comes or goes: its own rounding, once
    most = float(np.max(np.abs(codes[:, 0])))
    assert most <= float(own.changes(1.0).widths()[0])
    assert float(own.changes(1.0).widths()[0]) <= abs(radius - own.center[0]) + 2 * radius


def test_sums_are_exact_however_large_the_codes_are():
    domain = ln.Ball(2, 1.0, order=math.inf, center=[0.0, 5.0])
    own = coding(domain, 2.0**-49)
    rows = np.tile([[1.0, 4.0], [1.0, 4.0], [0.3, 4.5]], (20_000, 1))
    codes = own.encode(rows)
    sums = own.sums(list(rows.T))
    assert sums == [sum(column) for column in codes.T.tolist()]
    assert sums[0] > 2**63  # more than a sum of 64-bit integers holds
    assert sums[1] < -(2**63)


def test_a_grid_too_fine_for_exact_codes_is_refused():
    with pytest.raises(PlanError, match="too fine for its domain; use"):
        coding(ln.Ball(2), 2.0**-51)


@pytest.mark.grid
@every
def test_a_missing_value_counts_as_the_stand_in(member):
    domain = member.domain
    own = coding(domain, 2.0**-8)
    rows = member.sample(np.random.default_rng(0), 9)
    holes = rows.copy()
    holes[4, 0], holes[5] = np.nan, np.nan
    filled = np.where(np.isnan(holes), own.missing, holes)
    assert np.array_equal(own.encode(holes), own.encode(filled))
    # and every other row has the code it had, to the last bit
    kept = [i for i in range(9) if i not in (4, 5)]
    assert np.array_equal(own.encode(holes)[kept], own.encode(rows)[kept])


def test_the_code_of_a_row_is_its_own():
    """Neighbours differ in one row: no other row's code may notice."""
    domain = ln.Ellipsoid(np.random.default_rng(0).normal(size=(3, 3)))
    own = coding(domain, 2.0**-40)
    rng = np.random.default_rng(1)
    rows = 2 * rng.normal(size=(1500, 3))
    codes = own.encode(rows)
    for i, other in ((0, np.nan), (700, np.inf), (1499, 1e308)):
        changed = rows.copy()
        changed[i] = other
        found = own.encode(changed)
        same = np.arange(1500) != i
        assert np.array_equal(found[same], codes[same])
    removed = own.encode(np.delete(rows, 3, axis=0))
    assert np.array_equal(removed, np.delete(codes, 3, axis=0))
    assert isinstance(domain.base, NormBall)
