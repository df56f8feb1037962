# SPDX-License-Identifier: Apache-2.0
"""Unit balls come back from JSON to the last bit; what is damaged is refused in one line."""

import pytest

from lownoise.errors import FileError
from lownoise.release.codec import guarded
from lownoise.sets.unit_balls import UNIT_BALLS


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"kind": "cone"},
        {"kind": ["norm"], "size": 1, "order": 2.0},
        {"kind": "norm", "size": 0, "order": 2.0},
        {"kind": "norm", "size": True, "order": 2.0},
        {"kind": "norm", "size": 2.0, "order": 2.0},
        {"kind": "norm", "size": 2, "order": 0.5},
        {"kind": "norm", "size": 2, "order": float("nan")},
        {"kind": "norm", "size": 2, "order": "two"},
        {"kind": "norm", "size": 2},
        {"kind": "capped", "cap": []},
        {"kind": "capped", "cap": [0.5, 0.0]},
        {"kind": "capped", "cap": [0.5, 1.5]},
        {"kind": "capped", "cap": [0.5, -0.5]},
        {"kind": "capped", "cap": [0.5, 1e-170]},
        {"kind": "capped", "cap": [float("nan")]},
        {"kind": "capped", "cap": [[0.5]]},
        {"kind": "sorted", "weights": []},
        {"kind": "sorted", "weights": [0.0, 0.0]},
        {"kind": "sorted", "weights": [1.0, 2.0]},
        {"kind": "sorted", "weights": [1.0, -1.0]},
        {"kind": "sorted", "weights": [1e-170, 0.0]},
        {"kind": "sorted", "weights": [1e300, 1.0]},
        {"kind": "sorted", "weights": [float("inf"), 1.0]},
        {"kind": "mixed", "order": 1.0, "parts": []},
        {"kind": "mixed", "order": "inf", "parts": [{"kind": "norm", "size": 2, "order": 0.0}]},
        {"kind": "mixed", "order": "inf", "parts": {"kind": "norm"}},
        {"kind": "mixed", "order": "inf", "parts": 3},
        {"kind": "mixed", "order": 0.5, "parts": [{"kind": "norm", "size": 2, "order": 2.0}]},
        {"kind": "mixed", "order": "2", "parts": [{"kind": "norm", "size": 2, "order": 2.0}]},
        {"kind": "mixed", "order": True, "parts": [{"kind": "norm", "size": 2, "order": 2.0}]},
        {"kind": "mixed", "parts": [{"kind": "norm", "size": 2, "order": 2.0}]},
        {"kind": "kronecker", "first": {"kind": "norm", "size": 2, "order": 2.0}},
        {"kind": "kronecker", "first": 1, "second": 2},
        [],
        None,
    ],
)
def test_what_is_damaged_is_refused_in_one_line(fields):
    with pytest.raises(FileError) as refused:
        guarded(lambda: UNIT_BALLS.read(fields))
    assert "\n" not in str(refused.value)


def test_parts_of_parts_without_end_are_refused():
    fields = {"kind": "norm", "size": 1, "order": 2.0}
    for _ in range(3000):
        fields = {"kind": "mixed", "order": "inf", "parts": [fields]}
    with pytest.raises(FileError) as refused:
        guarded(lambda: UNIT_BALLS.read(fields))
    assert "\n" not in str(refused.value)


def test_what_is_no_base_cannot_be_written():
    with pytest.raises(FileError, match="cannot be written"):
        UNIT_BALLS.write("ball")
