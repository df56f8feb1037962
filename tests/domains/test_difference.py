# SPDX-License-Identifier: Apache-2.0
"""Difference bodies: of points without forming pairs, and of boxes, which are boxes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise import Box, Points, difference_body
from lownoise.errors import DomainError


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_its_support_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(1, 8)), 3))
    body = difference_body(Points(points))
    pairs = (points[:, None] - points).reshape(-1, 3)
    direction = rng.normal(size=3)
    assert body.support(direction) == pytest.approx(np.max(pairs @ direction), rel=1e-12, abs=1e-12)
    assert body.support(direction) == pytest.approx(body.support(-direction))
    assert body.width(direction) == pytest.approx(2 * body.support(direction))
    assert all(body.contains(pair) for pair in pairs)
    assert not body.contains(np.full(3, 99.0))
    assert body.contains(body.center)
    assert body.dimension == 3


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0.001, 1e6)), min_size=1, max_size=4))
def test_that_of_a_box_is_a_box(sides):
    lower, width = np.array(sides).T
    box = Box(lower, lower + width)
    body = difference_body(box)
    direction = np.linspace(-1, 1, len(sides))
    assert isinstance(body, Box)
    assert body.support(direction) == pytest.approx(box.width(direction), rel=1e-9, abs=1e-6)


def test_no_record_is_clamped_into_it():
    with pytest.raises(DomainError, match=r"; clamp into the domain itself$"):
        difference_body(Points([[1.0]])).clamp(np.zeros((1, 1)))


@pytest.mark.parametrize("domain", [None, [[1.0]], difference_body(Points([[1.0]]))])
def test_what_has_no_difference_body_is_refused_in_one_line(domain):
    with pytest.raises(DomainError, match=r"^domain=.*; use ln.Points or ln.Box$"):
        difference_body(domain)
