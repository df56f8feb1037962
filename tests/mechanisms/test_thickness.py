# SPDX-License-Identifier: Apache-2.0
"""Noise of a flat or nearly flat shape is thickened: much beside rounding, little beside itself."""

import numpy as np
import pytest

from lownoise.noise.gaussian import thickened
from lownoise.sensitivity.factors import DenseShape, DiagonalShape

THIN = 2.0**-12


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-6, 1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_every_direction_has_noise_and_no_coordinate_much_more(tilt, scale):
    shape = DenseShape(scale * np.array([[1.0, 0.0, 0.0], [1.0, tilt, 0.0], [0.5, 2.0, 3.0]]))
    found = thickened(shape, np.full(3, scale), 100, 1.0)
    deviations = found.deviations()
    assert np.all(found.conditional_scales()[0] >= 0.4 * THIN * deviations)
    assert np.all(shape.deviations() <= deviations * (1 + 1e-12))
    assert np.all(deviations <= shape.deviations() * (1 + THIN**2))
    if tilt >= 1e-2:
        assert found is shape


def test_a_coordinate_that_does_not_move_has_noise_beside_its_range():
    for shape in (DiagonalShape([1.0, 0.0]), DenseShape([[1.0], [0.0]])):
        found = thickened(shape, np.array([4.0, 4.0]), 100, 1.0).deviations()
        assert found[0] == pytest.approx(1, abs=1e-6)
        assert 2.0**-21 * 4 < found[1] < 2.0**-19 * 4
