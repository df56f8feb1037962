# SPDX-License-Identifier: Apache-2.0
"""Points know their geometry, keep their own copy, and take in what lies off them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lownoise import Points

TABLES = arrays(
    float, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)
)


def scaled(domain, rows):
    """In parts of each coordinate's range; one of a single value counts for nothing."""
    width = domain.upper - domain.lower
    return np.where(width > 0, (rows - domain.lower) / np.where(width > 0, width, 1), 0.0)


def wide(points):
    """Whether no column has a range that is positive and hardly so."""
    width = np.ptp(points, axis=0)
    return np.all((width == 0) | (width > 1e-60))


@settings(max_examples=30)
@given(TABLES.filter(wide), st.data())
def test_support_and_width_are_the_most_over_the_points(points, data):
    domain = Points(points)
    direction = data.draw(arrays(float, points.shape[1], elements=st.floats(-10, 10)))
    products = points @ direction
    assert domain.dimension == points.shape[1]
    assert domain.support(direction) == np.max(products)
    assert domain.width(direction) == pytest.approx(np.ptp(products), rel=1e-12, abs=1e-6)


@settings(max_examples=30)
@given(TABLES.filter(wide))
def test_each_point_is_itself_and_the_center_is_amid_them(points):
    domain = Points(points)
    clamped = domain.clamp(points)
    assert scaled(domain, clamped) == pytest.approx(scaled(domain, points), abs=1e-12)
    assert all(domain.contains(p) for p in clamped)
    assert np.all((domain.lower <= domain.center) & (domain.center <= domain.upper))


def test_the_nearest_is_in_parts_of_each_range():
    domain = Points([[0.0, 0.0, 5.0], [1000.0, 1.0, 5.0]])
    assert domain.nearest(np.array([[600.0, 0.1, 5.0], [600.0, 0.6, 99.0]])).tolist() == [0, 1]
    assert domain.nearest(np.array([[np.inf, 1.0, 0.0], [-np.inf, -np.inf, 0.0]])).tolist() == [
        1,
        0,
    ]
    assert domain.clamp(np.array([[[900.0, 1.0, 0.0]]])).shape == (1, 1, 3)


def test_the_nearest_is_that_of_all_points():
    rng = np.random.default_rng(0)
    domain = Points(rng.normal(size=(40, 3)))
    rows = rng.normal(size=(200, 3)) * 2
    clipped = scaled(domain, np.clip(rows, domain.lower, domain.upper))
    wanted = (clipped[:, None] - scaled(domain, domain.points)) ** 2
    assert np.array_equal(domain.nearest(rows), wanted.sum(axis=2).argmin(axis=1))


def test_it_keeps_its_own_copy_unless_the_numbers_cannot_change():
    given = np.eye(2)
    domain = Points(given)
    given[0, 0] = 9.0
    assert domain.points[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        domain.points[0, 0] = 9.0
    final = np.eye(2)
    final.setflags(write=False)
    assert Points(final).points is final
    assert Points([[1, 2], [3, 4]]).points.dtype == np.float64
