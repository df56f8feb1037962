# SPDX-License-Identifier: Apache-2.0
"""What a test draws does not depend on the tests before it: tests/conftest.py sees to it."""

import numpy as np
import pytest

RNG = np.random.default_rng(3)
FIRST = RNG.normal()  # drawn while the module loads: a part of every test's start


@pytest.mark.parametrize("turn", range(8))
def test_every_test_draws_from_the_start(turn):
    alone = np.random.default_rng(3).normal(size=2)
    assert [FIRST, RNG.normal()] == alone.tolist()
