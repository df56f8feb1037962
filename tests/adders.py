# SPDX-License-Identifier: Apache-2.0
"""Both ways in which codes are added up: by numpy, which says what they are, and compiled."""

from contextlib import contextmanager
from functools import cache

import pytest

from lownoise.engines import adding
from lownoise.engines.compiled import Kernels

WAYS = ("numpy", "compiled")


class Always:
    """A loader that has the kernels from the first value on, or never."""

    def __init__(self, kernels):
        self.kernels, self.used = kernels, 0

    def after(self, values):
        self.used += 1
        return self.kernels


kernels = cache(Kernels)


@contextmanager
def added_by(way):
    """Add up in one way in the block, in all threads."""
    loader = Always(kernels() if way == "compiled" else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adding, "LOADER", loader)
        yield loader
