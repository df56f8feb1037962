# SPDX-License-Identifier: Apache-2.0
"""What the reference names stands where it says, so that the documents build."""

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

NAMED = re.findall(
    r"^::: (\S+)$", (Path(__file__).parents[2] / "docs/reference.md").read_text(), re.MULTILINE
)


@pytest.mark.grid
@pytest.mark.parametrize("name", NAMED)
def test_what_the_reference_names_is_there(name):
    assert resolve_name(name).__doc__
