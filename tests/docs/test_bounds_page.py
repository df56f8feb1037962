# SPDX-License-Identifier: Apache-2.0
"""What docs/bounds.md says of each bound is what the bound says of itself."""

import re
from pathlib import Path

import numpy as np
import pytest

import lownoise as ln

TEXT = (Path(__file__).parents[2] / "docs/bounds.md").read_text(encoding="utf-8")
TABLE = TEXT[TEXT.index("<!-- bounds -->") : TEXT.index("<!-- end -->")]
ROWS = re.findall(r"^\| `(.*?)` \| (.*) \|$", TABLE, re.MULTILINE)
GIVEN = {"np": np, "ln": ln, "t": ln.theory, "W": np.tril(np.ones((64, 64))), "K": ln.Ball(4)}


@pytest.mark.parametrize(("call", "said"), ROWS, ids=lambda text: text.split("(")[0])
def test_a_row_is_what_the_bound_says(call, said):
    found = eval(call, dict(GIVEN))  # noqa: S307 (a line of a page of ours)
    assert said.split(" | ") == [found.side, found.binds, found.over, found.theorem]


def test_every_bound_has_a_row_and_the_printed_one_is_printed():
    listed = {call.split("(")[0].removeprefix("t.") for call, _ in ROWS}
    names = {name for name in ln.theory.__all__ if name.endswith(("_bound", "_bounds"))}
    assert names - {"lower_bound"} <= listed
    printed = str(ln.theory.workload_bound(GIVEN["W"], ln.zcdp(0.1)))
    assert printed in TEXT
