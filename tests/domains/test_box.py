# SPDX-License-Identifier: Apache-2.0
"""Boxes refuse what is no box, at once, and know their geometry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lownoise import Box
from lownoise.errors import DomainError


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        ([5, 0], [3, 1], r"Box.lower\[0\]=5.0 exceeds Box.upper\[0\]=3.0; swap them"),
        ([0, np.nan], [1, 1], r"Box.lower\[1\]=nan is not finite"),
        ([0], [np.inf], r"Box.upper\[0\]=inf is not finite"),
        ([0, 0], [1], "2 coordinates and Box.upper has 1"),
        ([], [], "shape"),
        ([[0]], [[1]], "shape"),
        ("a", "b", "not a list of numbers"),
        ([0], [None], "not finite|not a list of numbers"),
        ([0], [10**400], "not a list of numbers"),
        ([0], [1e200], "larger unit"),
        ([0], [1e-200], "smaller unit"),
        ([[0], [0, 1]], [1, 1], "not a list of numbers"),
    ],
)
def test_refuses_what_is_no_box(lower, upper, said):
    with pytest.raises(DomainError, match=said) as refusal:
        Box(lower, upper)
    assert "\n" not in str(refusal.value)


def test_takes_lists_and_arrays_and_keeps_its_own_copy():
    lower = np.zeros(2)
    box = Box(lower, [1, 2])
    lower[0] = 9
    assert box.lower.tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 1


@given(
    arrays(float, 3, elements=st.floats(-1e6, 1e6)),
    arrays(float, 3, elements=st.floats(-10, 10)),
    st.lists(st.just(0.0) | st.floats(1e-6, 1e6), min_size=3, max_size=3),
)
def test_support_is_the_most_over_the_corners(lower, direction, widths):
    upper = lower + np.array(widths)
    box = Box(lower, upper)
    corners = np.array(np.meshgrid(*zip(lower, upper, strict=True))).reshape(3, -1).T
    products = corners @ direction
    scale = 1 + np.abs(corners).max() * np.abs(direction).max()
    assert abs(box.support(direction) - products.max()) <= 1e-12 * scale
    assert abs(box.width(direction) - (products.max() - products.min())) <= 1e-11 * scale
