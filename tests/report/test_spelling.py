# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lownoise.report import spelling

POSITIVE = st.floats(1e-300, 1e300)


def read(text):
    table = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
    mantissa, _, power = text.translate(table).replace(",", "").partition("×10")
    return float(f"{mantissa}e{power or 0}")


@given(POSITIVE, st.integers(1, 8))
def test_at_most_and_at_least_lie_on_their_sides(value, digits):
    above, below = read(spelling.at_most(value, digits)), read(spelling.at_least(value, digits))
    assert below <= value * (1 + 2e-12)
    assert above >= value * (1 - 2e-12)
    assert above - below <= 1.01 * value * 10.0 ** (1 - digits)


def test_a_last_bit_too_many_does_not_show_as_a_digit():
    assert spelling.at_most(0.1) == spelling.at_most(0.1 + 2.0**-56) == "0.1000"
    assert spelling.at_most(0.10001) == "0.1001"


@given(POSITIVE)
def test_significant_is_near(value):
    assert read(spelling.significant(value, 4)) == pytest.approx(value, rel=5.1e-4)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_a_value_beside_its_uncertainty_loses_less_than_it(value, uncertainty):
    assert abs(read(spelling.with_uncertainty(value, uncertainty)) - value) <= uncertainty / 18


@pytest.mark.parametrize(
    ("value", "uncertainty", "expected"),
    [
        (12.279831, 0.0891, "12.280 ± 0.089"),
        (0.0, 0.5, "0.00 ± 0.50"),
        (-0.001, 0.5, "0.00 ± 0.50"),
        (123456.7, 999.6, "123,500 ± 1,000"),
        (1.0, 0.0, "1 ± 0"),
        (math.nan, 1.0, "not available ± 1"),
    ],
)
def test_beside(value, uncertainty, expected):
    assert spelling.beside(value, uncertainty) == expected
