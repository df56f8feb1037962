# SPDX-License-Identifier: Apache-2.0
"""1/x as a sum of exponentials is as near as stated, over every range."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lownoise.solvers.fidelity import COARSE, FINE, exponential_sum


@pytest.mark.parametrize(("step", "most"), [(FINE, 0.02), (COARSE, 0.12)])
@given(st.floats(-30, 30), st.floats(0, 30))
def test_it_is_near_everywhere(step, most, low, decades):
    low = 10.0**low
    high = low * 10.0**decades
    t, weights = exponential_sum(low, high, step)
    x = np.geomspace(low, high, 300)
    assert np.all(np.abs(np.exp(-np.outer(x, t)) @ weights * x - 1) < most)
    assert np.all(weights > 0)
    assert t.size <= math.log(high / low) / step + 6
