# SPDX-License-Identifier: Apache-2.0
"""Bodies of matrices: bounds against sampled matrices, other formulas, linear programmes."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from lownoise.errors import FileError
from lownoise.sets.unit_balls import (
    UNIT_BALLS,
    AbstractUnitBall,
    CappedBall,
    NormBall,
    SortedBall,
    SpectralBall,
    spectral_ball,
)
from lownoise.sets.unit_balls import matrices as matrices_module
from lownoise.sets.unit_balls.matrices import (
    Singular,
    best_substochastic,
    scalings,
    singular_values,
)
from unit_ball_cases import MATRICES

RNG = np.random.default_rng(5)
every_base = pytest.mark.parametrize("base", MATRICES.values(), ids=list(MATRICES))


def members(base, count, rng=RNG):
    """Return points of the body's boundary, some with equal and some with few singular values."""
    x = rng.normal(size=(count, base.rows, base.columns))
    u, s, v = np.linalg.svd(x, full_matrices=False)
    s[: count // 3] = 1.0
    s[count // 3 : count // 2, 1:] = 0.0
    x = ((u * s[:, None, :]) @ v).reshape(count, -1)
    return x / base.norm_up(x)[:, None]


def permuted(base):
    """Return every partial permutation of the base's shape, as lists of pairs."""
    m = min(base.rows, base.columns)
    for i in itertools.permutations(range(base.rows), m):
        for j in itertools.combinations(range(base.columns), m):
            yield np.array(i), np.array(j)


@every_base
def test_norm_is_the_gauge_of_singular_values(base):
    x = RNG.normal(size=(20, base.dimension))
    s = np.linalg.svd(x.reshape(-1, base.rows, base.columns), compute_uv=False)
    found, known = base.norm_up(x), base.gauge.norm_up(s)
    assert np.all(found >= known)
    assert np.all(found <= known * (1 + 1e-10))


@every_base
def test_energy_is_tight_on_sums(base):
    # a permutation of diag(x) attains the bound for y = a + b
    a, b = RNG.exponential(size=base.rows), RNG.exponential(size=base.columns)
    y = a[:, None] + b
    best = max(base.gauge.energy_up(y[i, j]) for i, j in permuted(base))
    assert best * (1 - 1e-9) <= base.energy_up(y.ravel()) <= best * (1 + 1e-9)


def test_energy_of_contractions_is_the_best_assignment_and_at_most_its_double():
    base = SpectralBall(4, 5, NormBall(4, math.inf))
    ratios = []
    for _ in range(30):
        y = RNG.exponential(size=(4, 5))
        i, j = linear_sum_assignment(-y)
        ratios.append(base.energy_up(y.ravel()) / float(np.sum(y[i, j])))
    assert min(ratios) >= 1
    assert max(ratios) < 1.6


@pytest.mark.grid
@every_base
def test_moments_are_those_of_an_explicit_mixture(base):
    """A linear programme mixes squares of members, all on partial permutations, into at least z.

    The weight that it needs is at least the true t, and `moment_up` is at least that weight.
    """
    m = min(base.rows, base.columns)
    for kind in range(3):
        z = (
            np.ones((base.rows, base.columns))
            if kind == 0
            else np.outer(RNG.exponential(size=base.rows), RNG.exponential(size=base.columns))
            if kind == 1
            else RNG.exponential(size=(base.rows, base.columns))
        )
        scales = [f[:, None] * h for f, h in scalings(z)]
        atoms = []
        for (i, j), size in itertools.product(permuted(base), range(1, m + 1)):
            for keep in itertools.combinations(range(m), size):
                for scale in scales:
                    squares = np.zeros((base.rows, base.columns))
                    squares[i[list(keep)], j[list(keep)]] = scale[i[list(keep)], j[list(keep)]]
                    atoms.append(squares.ravel())
        atoms = np.unique(np.array(atoms), axis=0)
        cost = np.square(base.norm_up(np.sqrt(atoms)))
        found = linprog(cost, A_ub=-atoms.T, b_ub=-z.ravel(), method="highs")
        assert found.status == 0
        t = base.moment_up(z.ravel())
        assert t >= found.fun * (1 - 1e-9)
        if kind == 0 and not isinstance(base.gauge, SortedBall | CappedBall):
            assert t <= found.fun * (1 + 1e-9)  # equal entries are exact
        for y in (*RNG.exponential(size=(20, base.dimension)), np.ones(base.dimension)):
            assert z.ravel() @ y <= t * base.energy_up(y)


def test_moments_of_contractions_are_exact():
    """Birkhoff: a linear programme over all partial permutations gives the same t."""
    base = SpectralBall(3, 4, NormBall(3, math.inf))
    atoms = []
    for i, j in permuted(base):
        square = np.zeros((3, 4))
        square[i, j] = 1.0
        atoms.append(square.ravel())
    for _ in range(10):
        z = RNG.exponential(size=12)
        found = linprog(np.ones(len(atoms)), A_ub=-np.array(atoms).T, b_ub=-z, method="highs")
        assert base.moment_up(z) == pytest.approx(found.fun, rel=1e-9)
        assert base.moment_up(z) >= found.fun * (1 - 1e-12)


@pytest.mark.grid
@every_base
def test_random_signs_of_rows_and_columns_stay_inside_and_part_all_entries(base):
    x = members(base, 5)
    total = np.zeros((base.dimension, base.dimension))
    signs = list(itertools.product([-1.0, 1.0], repeat=base.rows + base.columns))
    for sign in signs:
        s = np.outer(sign[: base.rows], sign[base.rows :]).ravel()
        assert np.allclose(base.norm_up(x * s), base.norm_up(x), rtol=1e-10)
        total += np.outer(x[0] * s, x[0] * s)
    assert np.allclose(total / len(signs), np.diag(np.square(x[0])), atol=1e-14)


def test_a_change_of_signs_can_raise_the_norm():
    """Why the rounding of signs needs more than the norm of one pattern."""
    nuclear = SpectralBall(2, 2, NormBall(2, 1.0))
    ones, other = np.array([[1.0, 1.0, 1.0, 1.0]]), np.array([[1.0, 1.0, 1.0, -1.0]])
    assert nuclear.norm_up(other)[0] > 1.4 * nuclear.norm_up(ones)[0]
    assert nuclear.signed_norm_up(ones)[0] >= nuclear.norm_up(other)[0]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2), (3, 7), (12, 13)])
@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_best_weights_meet_their_dual(rows, columns, share):
    """Cauchy: no weights reach more than √(cost(y)·Σ g/y), cost by a linear programme."""
    total = max(share * min(rows, columns), 1.0)
    sums = np.zeros((rows, columns, rows + columns + 1))
    sums[np.arange(rows), :, np.arange(rows)] = 1.0
    sums[:, np.arange(columns), rows + np.arange(columns)] = 1.0
    sums[:, :, -1] = 1.0
    sums = sums.reshape(rows * columns, -1)
    for scale in (0.0, 1.0, 5.0):
        g = np.exp(scale * RNG.normal(size=(rows, columns)))
        z = best_substochastic(g, total)
        need = max(np.max(np.sum(z, axis=0)), np.max(np.sum(z, axis=1)), np.sum(z) / total)
        value = float(np.sum(np.sqrt(g * z))) / math.sqrt(need)
        y = np.sqrt(g / z)
        y /= np.max(y)
        price = np.append(np.ones(rows + columns), total)
        cost = linprog(price, A_ub=-sums, b_ub=-y.ravel(), method="highs").fun
        assert value == pytest.approx(math.sqrt(cost * float(np.sum(g / y))), rel=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.floats(-140, 140))
def test_singular_values_are_bounded_at_any_scale(seed, rows, columns, exponent):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, rows, columns)) * 10.0**exponent
    x[1, :, 0] *= 1e-9
    found = singular_values(x)
    gram = [
        np.sqrt(max(np.linalg.eigvalsh(a @ a.T / (s := np.max(np.abs(a))) ** 2)[-1], 0)) * s
        for a in x
    ]
    assert np.all(found.stretch * found.values[:, 0] + found.off >= np.array(gram) * (1 - 1e-14))
    assert np.all(found.off <= 1e-11 * found.values[:, 0])


def test_a_wrong_decomposition_is_seen(monkeypatch):
    """LAPACK is checked, not trusted."""
    x = RNG.normal(size=(4, 3, 3))
    true = np.linalg.svd(x, compute_uv=False)
    honest = matrices_module.decomposed

    def shrunk(matrices):
        u, s, v = honest(matrices)
        return u, 0.5 * s, v

    def crooked(matrices):
        u, s, v = honest(matrices)
        return 0.5 * u, s, v

    def long(matrices):  # its product is right
        u, s, v = honest(matrices)
        return 1.01 * u, s / 1.01, v

    def missing(matrices):
        u, s, v = honest(matrices)
        return np.nan * u, s, v

    for wrong in (shrunk, crooked, long, missing):
        monkeypatch.setattr(matrices_module, "decomposed", wrong)
        found = singular_values(x)
        assert np.all(found.stretch * found.values[:, 0] + found.off >= true[:, 0])


def test_a_decomposition_that_fails_leaves_its_neighbours_alone(monkeypatch):
    x = RNG.normal(size=(5, 3, 3))
    x[2, 0, 0] = 77.0
    known = singular_values(x)
    svd = np.linalg.svd

    def failing(matrices, **kw):
        if np.any(np.abs(matrices) > 0.99 * np.max(np.abs(x[2] / 128))) and np.any(
            np.isclose(matrices[:, 0, 0], 77.0 / 128)
        ):
            raise np.linalg.LinAlgError
        return svd(matrices, **kw)

    monkeypatch.setattr(matrices_module.np.linalg, "svd", failing)
    found = singular_values(x)
    others = [0, 1, 3, 4]
    assert np.array_equal(found.values[others], known.values[others])
    assert found.off[2] >= known.values[2, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 0},
        {"rows": 2.0},
        {"columns": True},
        {"columns": 2},
        {"gauge": {"kind": "norm", "size": 4, "order": 2.0}},
        {"gauge": {"kind": "capped", "cap": [0.5, 0.6, 0.7]}},
        {"gauge": {"kind": "cube"}},
    ],
)
def test_damaged_fields_are_refused(change):
    fields = UNIT_BALLS.write(SpectralBall(3, 4, NormBall(3, math.inf))) | change
    with pytest.raises(FileError):
        UNIT_BALLS.read(fields)


@dataclass(frozen=True)
class ExactCube(AbstractUnitBall):
    """The cube, with a norm that no float rounds."""

    size: int
    dimension = property(lambda self: self.size)
    symmetric = True
    norm_excess = 0.0

    def norm_up(self, points):
        return np.max(np.abs(points), axis=1)

    support_up = extreme = energy_up = moment_up = best_squares = widths = None


@pytest.mark.parametrize("size", [2, 3])
def test_the_worst_decomposition_that_is_admitted_exceeds_by_what_is_said(size, monkeypatch):
    """In fractions: values too large by all that they may be, and bounds that add as much again.

    The terms are far apart, so that each one missed shows: the smallest, for the last roundings, is
    more than what the factor 2.1 for 2 leaves.
    """
    base = SpectralBall(size, size, ExactCube(size)).as_checked()
    stretch, off = (Fraction(each) for each in base.tolerances)

    def worst(matrices):
        true = np.max(np.abs(matrices), axis=(1, 2))
        values = np.array([float(Fraction(t) * (1 + stretch) * (1 + off)) for t in true])
        rows = np.repeat(values[:, None], size, axis=1)
        return Singular(rows, np.full(len(true), 1 + float(stretch)), float(off) * values)

    monkeypatch.setattr("lownoise.sets.unit_balls.spectral.singular_values", worst)
    sizes = RNG.uniform(0.5, 1.0, 300)  # of multiples of the identity: their greatest entry
    found = base.norm_up(sizes[:, None] * np.eye(size).ravel())
    excess = max(Fraction(f) / Fraction(s) for f, s in zip(found, sizes, strict=True)) - 1
    assert excess <= Fraction(base.norm_excess) <= excess * Fraction(21, 20)


def test_simplest_forms_and_symmetry():
    assert spectral_ball(1, 9, NormBall(1, 7.0)) == NormBall(9, 2.0)
    assert spectral_ball(3, 2, NormBall(2, 2.0)) == NormBall(6, 2.0)
    assert SortedBall(np.array([2.0, 1.0])).symmetric
    assert not SpectralBall(2, 2, NormBall(2, 1.0)).symmetric
