# SPDX-License-Identifier: Apache-2.0
"""Every pair that can be met is met, in few rows, and the same ones every time."""

from itertools import combinations, product

import pytest

from designs import pairwise_design

FACTORS = {
    "two": {"a": "xyz", "b": (1, 2)},
    "three": {"law": range(8), "member": range(30), "order": (2.0, 3.0)},
    "four alike": {name: range(4) for name in "abcd"},
    "one value": {"a": (1,), "b": (2,), "c": range(5)},
}


def everything(**_):
    return True


def not_both(law=0, member=0, order=0.0, **_):
    return (law + member) % 7 != 0 and (member, order) != (3, 2.0)


@pytest.mark.parametrize("allowed", [everything, not_both])
@pytest.mark.parametrize("name", FACTORS)
def test_every_pair_that_can_be_is_in_a_row(name, allowed):
    factors = FACTORS[name]
    whole = [dict(zip(factors, row, strict=True)) for row in product(*factors.values())]
    whole = [row for row in whole if allowed(**row)]
    rows = pairwise_design(factors, allowed)
    assert all(row in whole for row in rows)

    def pairs(those):
        return {pair for row in those for pair in combinations(sorted(row.items()), 2)}

    assert pairs(rows) == pairs(whole)
    assert pairwise_design(factors, allowed) == rows


def test_there_are_hardly_more_rows_than_the_two_longest_factors_need():
    assert len(pairwise_design(FACTORS["three"])) == 8 * 30
    assert len(pairwise_design(FACTORS["four alike"])) <= 24  # of 256


def test_values_are_used_about_as_often_as_each_other():
    rows = pairwise_design(FACTORS["three"])
    ends = [row["order"] for row in rows]
    assert abs(ends.count(2.0) - ends.count(3.0)) <= 2
