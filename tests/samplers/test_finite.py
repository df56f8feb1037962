# SPDX-License-Identifier: Apache-2.0
"""An answer out of finitely many: every word at an end of an interval gives the right one."""

import numpy as np
import pytest

from lownoise.samplers.lazy import UNIT, drawn

WHOLE = 2**52


class Words:
    """Randomness that gives one word."""

    def __init__(self, uniform):
        self.word = np.array([uniform << 12], dtype=np.uint64)

    def words(self, count):
        assert count == 1
        return self.word


@pytest.mark.parametrize(
    "shares",
    [
        [WHOLE],
        [0, WHOLE, 0],
        [1, WHOLE - 2, 1],
        [3, 0, 0, 5, WHOLE - 9, 0, 1],
        [WHOLE // 2, WHOLE // 4, 0, WHOLE // 4],
    ],
)
def test_as_many_words_give_an_answer_as_it_has_shares(shares):
    law = np.array(shares, dtype=np.float64) * UNIT
    first = 0
    for answer, share in enumerate(shares):
        ends = {first, first + share // 2, first + share - 1} if share else set()
        assert all(drawn(law, randomness=Words(word)) == answer for word in ends)
        first += share
    assert first == WHOLE
