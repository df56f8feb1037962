# SPDX-License-Identifier: Apache-2.0
"""How far one person moves C·x in several rounds: every bound beside all patterns one by one."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.streams.kinds import TAKEN, WORKLOADS, factors
from tests.streams.kinds_of_patterns import patterns

import lownoise as ln
from lownoise.planning.strategies import STRATEGIES, Choice
from lownoise.sensitivity import patterns as bounds
from lownoise.sensitivity import toeplitz
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.sensitivity.toeplitz import by_levels, toeplitz_lag, toeplitz_up, tree_lag, tree_up
from lownoise.streams import NormalizedPair, RecursivePair, ToeplitzPair

ASKED = (
    Participation(2, 5, "spaced"),
    Participation(4, 4, "spaced"),
    Participation(3, 1, "spaced"),
    Participation(2, 6, "separated"),
    Participation(4, 4, "separated"),
    Participation(5, 6, "separated"),  # more than fit
    Participation(3, 1, "any"),
)
SMALL = 1 + 1e-10


@cache
def made(name, strategy):
    return STRATEGIES[strategy].make(WORKLOADS[name], Choice(error="mean")).pair


def greatest(gram, own):
    """Return the greatest Σ|G_ij| of all patterns, one by one."""
    found = patterns(own, len(gram))
    return max(float(np.abs(gram[np.ix_(each, each)]).sum()) for each in found)


def exactly(columns, members):
    """Return Σ|G_ij| of one pattern, in fractions: what no rounding may stay below."""
    own = [[Fraction(x) for x in columns[:, i].tolist()] for i in members]
    dots = (sum(a * b for a, b in zip(x, y, strict=True)) for x in own for y in own)
    return sum(map(abs, dots))


def with_signs(columns, own):
    """Return the greatest ‖Σ ±C_i‖ of all patterns and all signs."""
    return max(
        float(np.linalg.norm(columns[:, list(each)] @ np.array([1, *signs])))
        for each in patterns(own, columns.shape[1])
        for signs in itertools.product((1, -1), repeat=len(each) - 1)
    )


def matrices():
    """Yield small matrices: with numbers of both signs, none below 0, a band, one that grows."""
    rng = np.random.default_rng(20)
    for n in (5, 9, 12):
        both = rng.normal(size=(n - 2, n))
        yield f"both{n}", both
        yield f"above{n}", np.abs(both)
        yield f"band{n}", np.tril(np.triu(rng.random((n, n)), -2))
        yield f"late{n}", np.tril(rng.random((n, n))) * np.arange(1, n + 1)
        yield f"sparse{n}", both * (rng.random(both.shape) < 0.3)


MATRICES = dict(matrices())


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("own", ASKED, ids=str)
@pytest.mark.parametrize(("name", "strategy"), TAKEN)
def test_no_pattern_moves_further_and_one_as_far(name, strategy, own):
    """Small streams of every strategy: exact, where G ≥ 0 even for the changes themselves."""
    pair = made(name, strategy)
    gram = factors(pair)[1].T @ factors(pair)[1]
    found, worst = pair.sensitivity_up(own), math.sqrt(greatest(gram, own))
    assert worst * (1 - 1e-14) <= found <= worst * SMALL


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("own", ASKED, ids=str)
@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_of_any_signs_is_bounded(name, own):
    C = MATRICES[name]
    found = bounds.worst(bounds.gram_up(C), own)
    worst = greatest(C.T @ C, own)
    assert found.members in set(patterns(own, C.shape[1]))
    assert found.exact
    assert exactly(C, found.members) <= found.square_up <= worst * SMALL
    assert found.length_up >= with_signs(C, own)
    if np.all(C >= 0):
        assert found.length_up <= with_signs(C, own) * SMALL


@pytest.mark.grid
@pytest.mark.parametrize("name", MATRICES)
def test_products_and_their_sums_are_rounded_up(name):
    """Each by itself, in fractions: beside the other's margin neither would be missed."""
    C = MATRICES[name]
    gram, n = bounds.gram_up(C), C.shape[1]
    for i, j in itertools.product(range(n), repeat=2):
        dot = sum(Fraction(a) * Fraction(b) for a, b in C[:, [i, j]].tolist())
        assert Fraction(gram[i, j]) >= abs(dot)
        assert i != j or gram[i, j] <= float(dot) * SMALL + 1e-300
    for b, k in itertools.product((1, 2), (2, 3, 5)):
        for pattern in ("spaced", "separated"):
            own = Participation(k, b, pattern)
            found = bounds.worst(gram, own)
            exact = sum(Fraction(gram[i, j]) for i in found.members for j in found.members)
            assert Fraction(found.square_up) >= exact


def vectors(rng, count):
    """Return vectors of length 1, to be made worse one by one."""
    found = rng.normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("name", [name for name in MATRICES if name.startswith("both")])
def test_vectors_move_no_further_than_the_bound(name):
    """Contributions of several numbers may do more than signs: the bound holds for them, too."""
    C, own, rng = MATRICES[name], Participation(3, 2, "separated"), np.random.default_rng(3)
    gram, most = C.T @ C, bounds.worst(bounds.gram_up(C), own).length_up
    for each in patterns(own, C.shape[1]):
        part, u = gram[np.ix_(each, each)], vectors(rng, len(each))
        for _ in range(20):
            for i in range(len(each)):
                pull = part[i] @ u - part[i, i] * u[i]
                u[i] = pull / np.linalg.norm(pull) if np.linalg.norm(pull) else u[i]
        assert np.linalg.norm(C[:, list(each)] @ u) <= most


@pytest.mark.grid
@pytest.mark.parametrize("own", ASKED[3:], ids=str)
@pytest.mark.parametrize("name", MATRICES)
def test_each_bound_alone_holds_for_every_pattern(name, own, monkeypatch):
    """The majorant, positions either way round, chains, and branch and bound that is cut short."""
    gram = bounds.gram_up(MATRICES[name])
    n, b = len(gram), own.separation
    k, worst = bounds.fitting(own, n), greatest(gram, own)
    chains = bounds._Chains.of(gram, k, b)
    monkeypatch.setattr(bounds, "_MOST_PAIRS", 0)  # as where they would be long
    few = bounds._Chains.of(gram, k, b)
    back = gram[::-1, ::-1]
    for found in (
        bounds.majorant(gram, k, b),
        bounds.by_position(bounds._covered(gram), n, k, b),
        bounds.by_position(bounds._covered(back), n, k, b),
        float(chains.best[k].max()) * (1 + 1e-13),
        chains.bound((0,))[0],
        few.bound((0,))[0],
    ):
        assert found >= worst * (1 - 1e-14)


@pytest.mark.grid
@pytest.mark.parametrize("steps", [0, 1, 7])
@pytest.mark.parametrize("pairs", [0, 1 << 20])
@pytest.mark.parametrize("name", ["both12", "sparse12"])
def test_branches_that_are_not_followed_are_bounded(name, pairs, steps, monkeypatch):
    gram, own = bounds.gram_up(MATRICES[name]), Participation(6, 1, "any")
    monkeypatch.setattr(bounds, "_MOST_STEPS", steps)
    monkeypatch.setattr(bounds, "_MOST_PAIRS", pairs)
    assert bounds.worst(gram, own).square_up >= greatest(gram, own) * (1 - 1e-14)


@pytest.mark.parametrize("name", ["both12", "late12", "band12"])
def test_long_streams_take_bounds_that_need_no_chains(name, monkeypatch):
    gram, exact = bounds.gram_up(MATRICES[name]), {}
    for own in ASKED[3:]:
        exact[own] = bounds.worst(gram, own).square_up
    monkeypatch.setattr(bounds, "_MOST_CHAINED", 0)
    for own, least in exact.items():
        found = bounds.worst(gram, own)
        assert found.square_up >= least * (1 - 1e-14)
        assert found.attained <= least


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("name", "strategy"), TAKEN)
def test_more_participations_and_less_separation_never_move_less(name, strategy):
    pair = made(name, strategy)
    assert pair.sensitivity_up(ONE) == pair.column_up
    for pattern in ("spaced", "separated"):
        rising = [pair.sensitivity_up(Participation(k, 3, pattern)) for k in (1, 2, 3, 7)]
        assert rising == sorted(rising)
    falling = [pair.sensitivity_up(Participation(3, b, "separated")) for b in (1, 2, 3, 9)]
    assert all(a * SMALL >= b for a, b in itertools.pairwise(falling))
    spaced = pair.sensitivity_up(Participation(3, 4, "spaced"))
    separated = pair.sensitivity_up(Participation(3, 4, "separated"))
    anywhere = pair.sensitivity_up(Participation(3, 1, "any"))
    assert spaced <= separated * SMALL <= anywhere * SMALL**2
    assert anywhere <= 3 * pair.column_up * (1 + 1e-15)


COLUMNS = {
    "falls": 1 / np.sqrt(np.arange(1.0, 15)),
    "rises": np.arange(14.0),
    "late": np.array([0.1, 2.0, 0.3, 0.4, *np.linspace(0.9, 0.1, 10)]),
    "both": np.cos(np.arange(14.0)) * 0.9 ** np.arange(14),
    "band": np.array([1.0, -2.0, 0.5] + 11 * [0.0]),
    "gap": np.array([1.0, 0.0, 0.0, 0.9, 0.0, 0.0, 0.8] + 7 * [0.0]),
}


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("own", ASKED, ids=str)
@pytest.mark.parametrize("name", COLUMNS)
def test_toeplitz_matrices_are_bounded_with_and_without_a_matrix(name, own, monkeypatch):
    column = COLUMNS[name]
    n = column.size
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    C = np.where(lag >= 0, column[np.maximum(lag, 0)], 0.0)
    lengths = np.linspace(2.0, 1.0, n)
    pairs = {
        ToeplitzPair(ln.Prefix(n), column, column): C,
        NormalizedPair(ln.Prefix(n), column, column, lengths): C / lengths,
    }
    for pair, matrix in pairs.items():
        worst = math.sqrt(greatest(matrix.T @ matrix, own))
        assert worst * (1 - 1e-14) <= pair.sensitivity_up(own) <= worst * SMALL
    for limit in ("_MOST_DENSE", "_MOST_LAGS"):  # what is longer than memory
        monkeypatch.setattr(toeplitz, limit, 0)
        for scale, matrix in ((None, C), (lengths, C / lengths)):
            worst = math.sqrt(greatest(matrix.T @ matrix, own))
            assert toeplitz_up(column, own, scale) >= worst * (1 - 1e-14)


@pytest.mark.parametrize("name", ["falls", "late"])
def test_a_column_that_falls_from_its_bth_number_is_worst_at_the_first_rounds(name):
    """What is proved of Toeplitz factors: {0, b, 2b, …} for all patterns; all bounds attain it."""
    column, n = COLUMNS[name], 14
    moved = sum(np.concatenate([np.zeros(4 * m), column[: n - 4 * m]]) for m in range(3))
    most, lag = np.linalg.norm(moved), toeplitz_lag(column)
    for pattern in ("spaced", "separated"):
        found = toeplitz_up(column, Participation(3, 4, pattern))
        assert most <= found <= most * SMALL
    assert most**2 * (1 - 1e-14) <= bounds.by_position(lag, n, 3, 4) <= most**2 * SMALL
    if name == "falls":
        gram = bounds.gram_of(lag, n)
        assert bounds.majorant(gram, 3, 4) <= most**2 * SMALL
        assert bounds.by_position(bounds._covered(gram), n, 3, 4) <= most**2 * SMALL


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("gaps", "weights"),
    [
        ((0.1, 0.4), (0.3, 0.5)),
        ((0.1, 0.4), (0.9, 0.8)),  # rises after its first number
        ((0.1, 1.7), (0.1, 0.8)),  # of both signs
        ((0.3, 0.2), (-0.9, 0.5)),
        ((1.0, 0.25), (0.25, 0.5)),
    ],
)
@pytest.mark.parametrize("own", ASKED, ids=str)
def test_exponentials_are_added_in_closed_form(gaps, weights, own):
    pair = RecursivePair(
        ln.Decayed(15, 0.9),
        np.array(gaps),
        np.array(weights),
        np.array([0.0, 0.35, 0.6]),
        np.array([0.4, 0.3, 0.2]),
    )
    C = factors(pair)[1]
    worst, found = math.sqrt(greatest(C.T @ C, own)), pair.sensitivity_up(own)
    assert found >= worst * (1 - 1e-14)
    if min(weights) > 0 and max(gaps) <= 1:
        assert found <= worst * SMALL


@pytest.mark.grid
@pytest.mark.parametrize("own", ASKED, ids=str)
@pytest.mark.parametrize("rounds", [1, 6, 15, 16, 21])
def test_trees_are_bounded_level_by_level(rounds, own):
    rows = [
        (np.arange(rounds) >> level == k).astype(float)
        for level in range(rounds.bit_length())
        for k in range(rounds >> level)
    ]
    gram = np.array(rows).T @ np.array(rows)
    assert np.array_equal(bounds.gram_of(tree_lag(rounds), rounds), gram)
    k, worst = bounds.fitting(own, rounds), greatest(gram, own)
    levels = by_levels(rounds, k, own.separation)
    assert levels >= worst
    assert worst <= tree_up(rounds, own) ** 2 * (1 + 1e-15) <= worst * SMALL
    if own.separation == 4 and rounds == 16:
        assert levels == worst


def test_what_is_not_finite_is_no_bound():
    wide = np.array([[1e200, 1e200], [1e200, -1e200]])
    with np.errstate(all="ignore"):
        found = bounds.worst(bounds.gram_up(wide), Participation(2, 1, "any"))
    assert math.isinf(found.square_up)
    assert not found.exact


@pytest.mark.parametrize("size", [1e-308, 1e-160, 1.0, 1e155, 1e160, 1e300])
@pytest.mark.parametrize("pattern", ["spaced", "separated"])
def test_lengths_whose_products_leave_the_range_of_floats_prove_nothing_small(size, pattern):
    """A file may hold any lengths: a product that overflows must not make a movement vanish."""
    column = np.array([1.0, 0.5, 0.375, 0.3125]) * min(size, 1e150)
    pair = NormalizedPair(ln.Prefix(4), np.ones(4), column, np.full(4, size))
    with np.errstate(all="ignore"):
        found = pair.sensitivity_up(Participation(2, 2, pattern))
    moved = [Fraction(c) + Fraction(d) for c, d in zip(column, [0.0, 0.0, *column], strict=False)]
    assert Fraction(found) ** 2 >= sum(own**2 for own in moved) / Fraction(size) ** 2


def test_decays_that_balls_do_not_tell_from_1_are_no_bound():
    gaps, weights = np.array([1e-200]), np.array([0.5])
    pair = RecursivePair(ln.Prefix(4), gaps, weights, np.array([0.0, 0.5]), np.array([1.0, 0.1]))
    assert pair.column_up == math.inf
    assert pair.sensitivity_up(Participation(2, 2, "separated")) == math.inf
