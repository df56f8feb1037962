# SPDX-License-Identifier: Apache-2.0
"""All claims checked once, quickly, for every test that asks what was found."""

from functools import cache

from lownoise.report.reproduce import reproduce


@cache
def quickly():
    return reproduce(quick=True)
