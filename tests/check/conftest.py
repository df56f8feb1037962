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
        yield
