# SPDX-License-Identifier: Apache-2.0
"""A mean refuses names and points that do not fit its domain."""

import pytest

from lownoise import Box, Mean
from lownoise.errors import QuestionError

SQUARE = Box([0, 0], [1, 2])


@pytest.mark.parametrize(
    ("arguments", "keywords", "said"),
    [
        (("ab", SQUARE), {}, "not a list of names"),
        ((["a"], SQUARE), {}, "1 names and Mean.domain 2"),
        ((["a", "a"], SQUARE), {}, "names 'a' twice"),
        ((["a", ""], SQUARE), {}, "not a list of names"),
        ((["a", 3], SQUARE), {}, "not a list of names"),
        ((["a", "b"], [[0, 1]]), {}, "give ln.Box"),
        ((["a", "b"], SQUARE), {"center": [0, 3]}, r"Mean.center\[1\]=3.0 is outside \[0.0, 2.0\]"),
        ((["a", "b"], SQUARE), {"center": [0]}, "1 coordinates"),
        ((["a", "b"], SQUARE), {"missing": "zero"}, "no policy"),
        ((["a", "b"], SQUARE), {"missing": [float("nan"), 0]}, "not finite"),
        ((["a", "b"], SQUARE), {"missing": [-1, 0]}, r"Mean.missing\[0\]=-1.0 is outside"),
    ],
)
def test_refuses(arguments, keywords, said):
    with pytest.raises(QuestionError, match=said) as refusal:
        Mean(*arguments, **keywords)
    assert "\n" not in str(refusal.value)


def test_missing_is_the_center_by_default():
    question = Mean(["a", "b"], SQUARE, center=[0.25, 0.5])
    assert question.missing.tolist() == [0.25, 0.5]
    assert not question.drops_missing
