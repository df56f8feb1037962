# SPDX-License-Identifier: Apache-2.0
"""The checker computes a number to a hundred places once, not for each edit of the same file."""

from functools import lru_cache

import pytest

import lownoise_check as checker


@pytest.fixture(scope="package", autouse=True)
def _computed_once():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("exp", "normal"):
            patch.setattr(checker, name, lru_cache(1 << 16)(getattr(checker, name)))
        own = checker.Balls
        for name in ("longest", "beyond"):
            patch.setattr(own, name, lru_cache(1 << 10)(getattr(own, name)))

        @lru_cache(1 << 8)
        def known(d, radii, weights):
            return own(d, [[*radii]], [[*weights]])

        def balls(d, radii, weights):
            if len(radii) == len(weights) == 1:
                return known(d, (*radii[0],), (*weights[0],))
            return own(d, radii, weights)

        patch.setattr(checker, "Balls", balls)
        yield
