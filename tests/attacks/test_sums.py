# SPDX-License-Identifier: Apache-2.0
"""Sums that move by more than a record may: rounding, order, overflow (Casacuberta et al. 2022).

The attack gives two neighbouring tables, or two orders of one table, and asks how far the total
moved. It wins on float and on 64-bit sums; the integer totals never move beyond the mechanism's
reach, which is what the noise was sized for.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.engines import memory, source
from lownoise.engines.queries import totals_query


def float_sum(values, kind=np.float64):
    """Add one by one, as a loop does."""
    return Fraction(float(np.add.accumulate(np.array(values, kind))[-1]))


def int64_sum(values):
    return int(np.sum(np.array(values, np.int64)))


def moved(total, left, right):
    return abs(total(left) - total(right))


def ours(lower, upper, relation="substitute", *, rho=0.5, size=1):
    question = ln.Mean(["x"], ln.Box([lower], [upper]))
    size = size if relation == "substitute" else None
    return ln.plan(question, budget=ln.zcdp(rho), relation=relation, size=size).terms.mechanism


def integers(made, values, engine=source):
    if engine is source:
        totals = totals_query(made.totals.query).of(pa.table({"x": pa.array(values, pa.float64())}))
    else:
        totals = memory.totals(made.totals.query, np.array(values, float).reshape(-1, 1))
    exact = list(totals.sums)
    if made.totals.count_step is not None:
        exact.append(totals.count * int(1 / made.totals.count_step))
    return exact


def within_reach(made, left, right):
    most = made.totals.changes.half_width
    pairs = zip(integers(made, left), integers(made, right), most, strict=True)
    return all(abs(a - b) <= int(reach) for a, b, reach in pairs)


# ---------------------------------------------------------------- where floats and int64 lose


def repeated_rounding(top, many):
    """Rows of −½ are lost beside `top` and counted beside 0; the bounds are [−½, top]."""
    return [top, *[-0.5] * many], [0.0, *[-0.5] * many]


@pytest.mark.parametrize(
    ("kind", "top", "many", "share"),
    [
        (np.float64, 2.0**53, 1000, 1.0),
        (np.float32, 2.0**24, 5000, 1.0001),
        (np.float16, 2048.0, 2000, 1.4),
    ],
)
def test_a_float_sum_moves_by_more_than_a_record(kind, top, many, share):
    left, right = repeated_rounding(top, many)
    reach = Fraction(top) + Fraction(1, 2)
    assert moved(lambda rows: float_sum(rows, kind), left, right) > reach * Fraction(share)


def test_a_float_sum_moves_with_the_order_alone():
    rows = [2.0**53, *[1.0] * 1000]
    assert moved(float_sum, rows, rows[::-1]) == 1000


def test_a_64_bit_sum_wraps():
    rows = [2**62, 2**62 - 1]
    assert moved(int64_sum, [*rows, 0], [*rows, 1]) > 2**63


# ---------------------------------------------------------------- where ours does not

RELATIONS = ["substitute", "add_remove"]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("top", "many"), [(2.0**53, 1000), (2.0**24, 5000), (2048.0, 2000)])
def test_repeated_rounding_moves_our_totals_within_reach(top, many, relation):
    made = ours(-0.5, top, relation, size=many + 1)
    left, right = repeated_rounding(top, many)
    if relation == "add_remove":
        right = right[1:]
    assert within_reach(made, left, right)


@pytest.mark.parametrize("bounds", [(0.0, 2.0**53), (-1e300, 1e300 / 2**150), (-1.0, 1.0)])
def test_the_order_does_not_move_our_totals(bounds):
    bounds = tuple(np.clip(bounds, -(2.0**500), 2.0**500))
    made = ours(*bounds)
    rng = np.random.default_rng(1)
    rows = np.concatenate([np.full(500, bounds[1]), rng.uniform(*bounds, 500), np.ones(1000)])
    expected = integers(made, rows)
    for order in (rows[::-1], np.sort(rows), np.sort(rows)[::-1], rng.permutation(rows)):
        assert integers(made, order) == expected


@pytest.mark.parametrize("relation", RELATIONS)
def test_sums_beyond_64_bits_move_within_reach(relation):
    many = 40_000
    # codes near 2^50: the noise is fitted to a table of 10^12 rows, the sum does not ask
    made = ours(0.0, 1.0, relation, rho=2.0, size=10**12)
    rows = np.ones(many)
    full = integers(made, rows)
    if relation == "substitute":
        assert full[0] > 2**63  # where 64 bits would have wrapped
        assert full[0] == many * int(made.totals.query.coding.greatest()[0])
    for i in (0, many // 2, many - 1):
        other = np.delete(rows, i)
        if relation == "substitute":
            other = np.insert(other, i, 0.0)
        assert within_reach(made, rows, other)
        assert within_reach(made, -rows, -other)


NASTY = [
    0.0, -0.0, 1.0, 1 / 3, 2.0**-1074, -(2.0**-1022), 2.0**50, 2.0**50 + 0.5, 2.0**53, 1e16, 1e300,
    -1e300, 1.7976931348623157e308, -1.7976931348623157e308, np.inf, -np.inf, np.nan,
]  # fmt: skip
BOUNDS = [
    (0.0, 1.0), (-1.0, 1.0), (2.0**50, 2.0**50 + 1), (-(2.0**50), 1 - 2.0**50), (0.1, 0.3),
    (-1e300 / 2**500, 1e300 / 2**500), (0.0, 2.0**-380), (0.0, 2.0**53), (-1e-9, 1e9),
]  # fmt: skip
values = st.one_of(st.sampled_from(NASTY), st.floats(allow_nan=True))


def neighbour(rows, place, value, relation):
    place %= len(rows)
    rest = rows[:place] + rows[place + 1 :]
    return rest if relation == "add_remove" else [*rest, value]  # in another order, too


@settings(max_examples=25)
@given(
    st.sampled_from(BOUNDS),
    st.sampled_from(RELATIONS),
    st.sampled_from([1e-6, 0.5, 1e5]),
    st.lists(values, min_size=1, max_size=30),
    st.integers(0, 10**6),
    values,
)
def test_no_neighbour_moves_a_total_beyond_the_reach(bounds, relation, rho, rows, place, value):
    made = ours(*bounds, relation, rho=rho, size=len(rows))
    other = neighbour(rows, place, value, relation)
    assert within_reach(made, rows, other)
    assert integers(made, rows) == integers(made, rows, memory)


@given(
    st.sampled_from(BOUNDS),
    st.sampled_from(RELATIONS),
    st.lists(values, min_size=1, max_size=30),
    st.integers(0, 10**6),
    values,
)
def test_no_neighbour_moves_the_reference_beyond_the_reach(bounds, relation, rows, place, value):
    made = ours(*bounds, relation, size=len(rows))
    other = neighbour(rows, place, value, relation)
    pairs = zip(
        integers(made, rows, memory),
        integers(made, other, memory),
        made.totals.changes.half_width,
        strict=True,
    )
    assert all(abs(a - b) <= int(reach) for a, b, reach in pairs)


def test_the_reach_is_attained():
    # power: a reach that is one step less would be refused by these neighbours
    for bounds in BOUNDS:
        made = ours(*bounds, size=3)
        low, high = integers(made, [bounds[0]] * 3), integers(made, [bounds[1], *[bounds[0]] * 2])
        assert high[0] - low[0] == made.totals.changes.half_width[0]
