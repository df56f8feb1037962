# SPDX-License-Identifier: Apache-2.0
"""The diagonal shape: every method tells of the same L."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lownoise.errors import PlanError
from lownoise.sensitivity.factors import AbstractShape, DiagonalShape

SCALES = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5)
CLOSE = 1e-12


def vectors(draw, size):
    return np.array(draw(st.lists(st.floats(-1e3, 1e3), min_size=size, max_size=size)))


def factor(shape):
    L = np.zeros((shape.dimension, shape.dimension))
    for i in range(shape.dimension):
        columns, entries = shape.row(i)
        L[i, columns] = entries
    return L


@given(SCALES, st.data())
def test_every_method_tells_of_the_same_factor(scale, data):
    shape = DiagonalShape(scale)
    x = vectors(data.draw, len(scale))
    L = factor(shape)
    M = L @ L.T
    assert shape.dimension == len(scale)
    assert np.count_nonzero(L, axis=1).max() == shape.longest_row == 1
    assert shape.apply(x) == pytest.approx(L @ x, rel=CLOSE)
    assert shape.apply_abs(np.abs(x)) == pytest.approx(np.abs(L) @ np.abs(x), rel=CLOSE)
    assert shape.apply(shape.solve(x)) == pytest.approx(x, rel=CLOSE)
    assert shape.dense() == pytest.approx(M, rel=CLOSE)
    assert shape.diagonal() == pytest.approx(np.diag(M), rel=CLOSE)
    assert shape.quadratic_form(x) == pytest.approx(x @ np.linalg.solve(M, x), rel=1e-9)


@given(SCALES, st.floats(-50, 50), st.data())
def test_scaled_is_the_shape_of_the_scaled_noise(scale, number, data):
    shape = DiagonalShape(scale)
    by_vector = vectors(data.draw, len(scale))
    D = np.diag(by_vector)
    assert shape.scaled(number).dense() == pytest.approx(number**2 * shape.dense(), rel=CLOSE)
    assert shape.scaled(by_vector).dense() == pytest.approx(D @ shape.dense() @ D, rel=CLOSE)
    assert isinstance(shape.scaled(number), DiagonalShape)


def test_rows_are_the_stored_floats():
    scale = [0.1, 1 / 3, 5e-324, 0.0]
    shape = DiagonalShape(scale)
    rows = [shape.row(i) for i in range(4)]
    assert [columns.tolist() for columns, _ in rows] == [[0], [1], [2], [3]]
    assert [entries.tolist() for _, entries in rows] == [[s] for s in scale]
    assert rows[0][0].dtype == np.int64


def test_no_noise_where_the_scale_is_zero():
    shape = DiagonalShape([2.0, 0.0])
    assert shape.apply(np.array([3.0, 3.0])).tolist() == [6.0, 0.0]
    assert shape.solve(np.array([3.0, 0.0])).tolist() == [1.5, 0.0]
    assert shape.solve(np.array([3.0, 1.0])).tolist() == [1.5, math.inf]
    assert shape.quadratic_form(np.array([2.0, 0.0])) == 1.0
    assert shape.quadratic_form(np.array([0.0, -1.0])) == math.inf


def test_the_scale_is_a_read_only_copy():
    given_scale = np.array([1.0, 2.0])
    shape = DiagonalShape(given_scale)
    given_scale[0] = 9.0
    assert shape.scale.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        shape.scale[0] = 9.0
    with pytest.raises(AttributeError):
        shape.scale = given_scale


def test_it_is_a_shape():
    assert isinstance(DiagonalShape([1.0]), AbstractShape)
    with pytest.raises(TypeError):
        AbstractShape()


@pytest.mark.parametrize(
    ("scale", "names"),
    [
        ([1.0, -2.0], ["[1]", "-2.0", "negative"]),
        ([-math.inf], ["[0]", "-inf"]),
        ([1.0, 1.0, math.nan], ["[2]", "nan"]),
        ([math.inf], ["[0]", "inf"]),
        ([], ["(0,)"]),
        (3.0, ["()"]),
        ([[1.0]], ["(1, 1)"]),
        (["a"], ["not a list of numbers"]),
        (None, ["scale"]),
        ([10**400], ["not a list of numbers"]),
    ],
)
def test_bad_scales_are_refused_in_one_line(scale, names):
    with pytest.raises(PlanError) as refusal:
        DiagonalShape(scale)
    text = str(refusal.value)
    assert "DiagonalShape.scale" in text
    assert "\n" not in text
    assert all(name in text for name in names)


@pytest.mark.parametrize("by", [math.nan, math.inf])
def test_scaling_by_no_number_is_refused(by):
    with pytest.raises(PlanError):
        DiagonalShape([1.0]).scaled(by)
