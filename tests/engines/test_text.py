# SPDX-License-Identifier: Apache-2.0
"""A field that is too long is missing before anything is made of it, and hides no other."""

import pytest

from lownoise.engines.cells import LONGEST, open_text

LONG, LONGER = "1" * LONGEST, "1" * (LONGEST + 1)


@pytest.mark.parametrize("fields", [[LONG, LONGER, "x" * 100_000, "2"], [LONG, LONGER], [LONG]])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_fields_beyond_the_longest_number_are_missing(tmp_path, name, fields):
    path = tmp_path / name
    between = "\t" if name.endswith("tsv") else ","
    lines = [between.join(["a", "b"]), *(between.join([f, "7"]) for f in fields)]
    path.write_text("\n".join(lines) + "\n")
    rows = open_text(path, ["a", "b"]).read_all().to_pydict()
    kept = [f if len(f) <= LONGEST else None for f in fields]
    assert rows == {"a": kept, "b": ["7"] * len(fields)}
