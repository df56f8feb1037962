# SPDX-License-Identifier: Apache-2.0
"""Directed rounding against exact fractions."""

import ast
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lownoise.noise.abstract import Loss, composed, sum_up
from lownoise.numbers.rounding import (
    down,
    fraction_up,
    mul_up,
    norm_up,
    spectral_up,
    sqrt_up,
    square_up,
    up,
)

CLOSE = Fraction(1, 10**14)  # relative
SIZES = st.floats(1e-70, 1e70)
NUMBERS = SIZES | SIZES.map(lambda x: -x)
WIDE = st.floats(allow_nan=False, allow_infinity=False)


def assert_just_above(result, exact):
    assert exact <= Fraction(result) <= exact + abs(exact) * CLOSE


@given(NUMBERS, NUMBERS)
@example(0.1, 0.1)
@example(1.0, 1.0)
def test_mul_up_is_just_above_the_product(a, b):
    assert_just_above(mul_up(a, b), Fraction(a) * Fraction(b))


@given(SIZES)
@example(2.0)
@example(3.0)
@example(4.0)
def test_sqrt_up_is_just_above_the_root(a):
    assert Fraction(a) <= Fraction(sqrt_up(a)) ** 2 <= Fraction(a) * (1 + CLOSE) ** 2


@given(WIDE)
@example(0.1)
@example(3.0)
@example(1e-170)
@example(1e200)
def test_square_up_is_the_square_or_the_float_above(a):
    result = square_up(a)
    exact = Fraction(a) ** 2
    assert result == math.inf or Fraction(down(result)) < exact <= Fraction(result) or a == 0


@given(WIDE, WIDE)
@example(5e-324, 0.25)
@example(1e200, 1e200)
@example(-1e200, 1e200)
def test_mul_up_is_never_below_even_where_floats_end(a, b):
    result = mul_up(a, b)
    assert result == math.inf or Fraction(result) >= Fraction(a) * Fraction(b)


@given(st.floats(0.0, allow_infinity=False))
@example(0.0)
@example(5e-324)
def test_a_root_is_never_below_even_where_floats_end(a):
    assert Fraction(sqrt_up(a)) ** 2 >= Fraction(a)


@given(WIDE)
def test_up_and_down_are_one_step(x):
    assert down(x) < x < up(x)
    assert up(down(x)) == down(up(x)) == x or math.isinf(up(x)) or math.isinf(down(x))


def exact_square(pairs):
    return sum((Fraction(n) / Fraction(d)) ** 2 for n, d in pairs)


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=6))
@example([(1.0, 3.0)])
@example([(1.0, 3.0)] * 6)
@example([(3.0, 5.0), (4.0, 5.0)])
# here the roundings before the root do not make up for that of the root itself
@example([(1.9769308025123813, 1.0146314452931229), (1.948448406590748, 1.0322237387164213)])
def test_norm_up_is_just_above_the_norm(pairs):
    numerators, denominators = np.array(pairs).T
    square = exact_square(pairs)
    result = Fraction(norm_up(numerators, denominators))
    assert square <= result**2 <= square * (1 + CLOSE) ** 2


@given(st.lists(st.tuples(st.floats(0, 1e300), st.floats(1e-3, 1e300)), min_size=1, max_size=4))
@example([(5e-324, 1.0)])
@example([(1e-200, 1.0), (1e-180, 1.0)])
@example([(1e300, 1e-3)])
def test_norm_up_is_never_below_even_where_squares_leave_the_floats(pairs):
    numerators, denominators = np.array(pairs).T
    result = norm_up(numerators, denominators)
    assert result == math.inf or Fraction(result) ** 2 >= exact_square(pairs)


@pytest.mark.parametrize(
    ("numerators", "denominators", "expected"),
    [
        ([0.0], [0.0], 0.0),
        ([0.0, 0.0], [1.0, 0.0], 0.0),
        ([1.0, 0.0], [0.0, 1.0], math.inf),
        ([1e300], [1e-300], math.inf),
    ],
)
def test_norm_up_at_zero(numerators, denominators, expected):
    assert norm_up(np.array(numerators), np.array(denominators)) == expected


def test_norm_up_does_not_change_its_arguments():
    numerators, denominators = np.array([3.0, 0.0]), np.array([5.0, 0.0])
    norm_up(numerators, denominators)
    assert numerators.tolist() == [3.0, 0.0]
    assert denominators.tolist() == [5.0, 0.0]


def test_norm_up_of_squares_whose_sum_overflows_is_infinite():
    assert norm_up(np.array([1.2e154, 1.2e154]), np.ones(2)) == math.inf


def hadamard(n):
    found = np.ones((1, 1))
    while len(found) < n:
        found = np.block([[found, found], [found, -found]])
    return found


@pytest.mark.parametrize(
    ("matrix", "square"),
    [
        *((np.eye(n) * 0.7, Fraction(0.7) ** 2) for n in (1, 2, 7, 60)),
        *((hadamard(n), Fraction(n)) for n in (2, 16, 64)),
        *((hadamard(64)[:k], Fraction(64)) for k in (1, 3, 40)),
        *((np.diag([1.0, s]), Fraction(max(1.0, s)) ** 2) for s in (1e-9, 0.5, 3.0, 1e200)),
        *((np.outer(np.ones(n), [3.0, 4.0]), Fraction(25 * n)) for n in (1, 2, 50)),
        (np.eye(3)[[2, 0, 1]] * 5e-324, Fraction(5e-324) ** 2),
    ],
)
def test_spectral_up_is_just_above_the_norm(matrix, square):
    # Mutants seen: either of the first two + of its last line turned
    for turned in (matrix, matrix.T, -matrix):
        found = Fraction(spectral_up(turned)) ** 2
        assert square <= found <= square * (1 + Fraction(1, 10**9)) + Fraction(10) ** -640


def test_no_sign_makes_a_norm_lower():
    """As its docstring says; rounded up before the square, what is negative came out lower."""
    rng = np.random.default_rng(20)
    sizes, scales = rng.lognormal(size=(2, 20_000))
    for size, scale in zip(sizes.tolist(), scales.tolist(), strict=True):
        found = norm_up(np.array([-size]), np.array([scale]))
        assert found == norm_up(np.array([size]), np.array([scale]))
        assert Fraction(found) >= Fraction(size) / Fraction(scale)


def test_exact_numbers_beyond_all_floats_are_infinite():
    largest = Fraction(1.7976931348623157e308)
    assert fraction_up(largest) == float(largest)
    assert fraction_up(largest + 1) == fraction_up(2 * largest) == math.inf
    assert sum_up([1.7e308, 1.7e308]) == math.inf
    assert composed([Loss(1.0, mu=1e200), Loss(1.0, mu=1e200)]).mu == math.inf


# noise, sets, accounting, and what decides draws; planning and solvers, whose word nothing takes,
# have tolerances of searches
SOURCE = Path(__file__).parents[1] / "src" / "lownoise"
DIRECTED = [
    "bounds",
    "certificate",
    "engines",
    "noise",
    "privacy",
    "questions",
    "release",
    "samplers",
    "sensitivity",
    "sets",
]


@pytest.mark.grid(3)
@pytest.mark.parametrize("room", DIRECTED)
def test_what_rounding_may_take_is_said_by_name(room):
    """`x * (1 + 2.0**-k)` says no direction and no reason; `grown` and `shrunk` say both."""
    found = []
    for path in sorted((SOURCE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
            if product and (_bare(node.left) or _bare(node.right)):
                found.append(path.name)
    assert [x for x in found if x != "shuffling.py"] == []  # it says how near a search comes


def _bare(node):
    """Return whether a node of the source is 1 ± 2.0**-k."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add | ast.Sub)
        and isinstance(node.left, ast.Constant)
        and node.left.value == 1
        and isinstance(node.right, ast.BinOp)
        and isinstance(node.right.op, ast.Pow)
        and isinstance(node.right.right, ast.UnaryOp)
    )
