# SPDX-License-Identifier: Apache-2.0
"""Clipped gradients: in the ball exactly, on the grid, each by itself; sums are not rounded."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from learning.members import learning, planned, records, simulated
from lownoise.errors import EngineError
from lownoise.learning.clipping import clipped, clipped_sum, unit_of_clip

NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=64)
ROWS = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 5)), elements=NUMBERS)
CLIPS = st.floats(1e-12, 1e12)


def squared(row):
    return sum(Fraction(float(x)) ** 2 for x in row)


@given(ROWS, CLIPS)
def test_every_row_is_in_the_ball_exactly_and_on_the_grid(rows, clip):
    unit = unit_of_clip(clip, 100)
    found = clipped(rows, clip, unit)
    for row, own in zip(rows, found, strict=True):
        assert squared(own) <= Fraction(clip) ** 2
        assert all((Fraction(float(x)) / Fraction(unit)).denominator == 1 for x in own)
        if not np.all(np.isfinite(row)):
            assert not np.any(own)
        assert np.all((np.sign(own) == np.sign(row)) | (own == 0))


def test_a_row_that_is_longer_by_less_than_a_float_can_say_is_shortened():
    row, unit = np.array([[1.0, 2.0**-30]]), unit_of_clip(1.0, 1)
    assert np.linalg.norm(row) == 1.0
    assert squared(clipped(row, 1.0, unit)[0]) <= 1


@given(ROWS, CLIPS)
def test_a_row_in_the_ball_stays_and_a_longer_one_keeps_its_direction(rows, clip):
    unit = unit_of_clip(clip, 1)
    found = clipped(rows, clip, unit)
    for row, own in zip(rows, found, strict=True):
        if not np.all(np.isfinite(row)):
            continue
        length = squared(row)
        if length <= Fraction(clip * (1 - 1e-12)) ** 2:
            assert np.all(np.abs(own - row) < unit)
        elif length < Fraction(10) ** 300:
            with np.errstate(all="ignore"):
                whole = row * (clip / float(length) ** 0.5)
            assert np.all(np.abs(own - whole) < unit + clip * 1e-12)


@given(ROWS, CLIPS)
def test_a_row_is_a_function_of_itself_alone(rows, clip):
    unit = unit_of_clip(clip, 10)
    for i, own in enumerate(clipped(rows, clip, unit)):
        alone = rows.copy()
        alone[np.arange(len(rows)) != i] = np.nan
        assert np.array_equal(clipped(alone, clip, unit)[i], own)


@pytest.mark.parametrize("batch", [1, 3, 1 << 20, 1 << 22, 1 << 30])
@pytest.mark.parametrize("clip", [1.0, 1.999999, 0.3, 1e-9, 1e9])
def test_a_sum_of_a_batch_has_room_in_a_float(batch, clip):
    unit = unit_of_clip(clip, batch)
    assert batch * Fraction(clip) / Fraction(unit) <= 2**53
    assert unit <= clip * 2.0 ** -min(30, 51 - (batch - 1).bit_length())


def test_a_sum_is_the_same_in_every_order_and_a_record_moves_it_by_its_own_vector():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(5, 3)) * rng.choice([1e-3, 1.0, 1e3], size=(5, 1))
    unit = unit_of_clip(0.7, 5)
    own = clipped(rows, 0.7, unit)
    whole = [sum(map(Fraction, column)) for column in own.T.tolist()]
    for order in itertools.permutations(range(5)):
        assert [Fraction(x) for x in own[list(order)].sum(axis=0).tolist()] == whole
    missing = rows.copy()
    missing[2] = np.nan
    less = clipped(missing, 0.7, unit).sum(axis=0)
    assert np.array_equal(own.sum(axis=0) - less, own[2])


def test_the_streams_codes_are_the_sums_themselves():
    for plan in (planned(), planned(epochs=2, momentum=0.5), planned("huber", batch=60)):
        X, y = records(plan)
        own, coding = plan.request, plan.stream.terms.mechanism.coding
        total = clipped_sum(own.loss, own.first_model, X[:4], y[:4], own.clip, plan.unit)
        codes = coding.encode(total[None])
        assert np.array_equal(codes[0] * coding.step, total)
        far = np.zeros((1, own.dimension))
        far[0, 0] = own.batch * clipped(np.array([[9.0, 0, 0]]), own.clip, plan.unit)[0, 0]
        assert np.array_equal(coding.encode(far) * coding.step, far)


def test_a_record_in_a_run_moves_a_sum_by_no_more_than_the_clip():
    plan = planned(relation="substitute")
    X, y = records(plan)
    own = plan.request
    model = np.array([1.0, -0.5, 0.2])
    other = X.copy(), y.copy()
    other[1][1] = -y[1]
    sums = [
        clipped_sum(own.loss, model, X[:4], y[:4], own.clip, plan.unit) for X, y in ((X, y), other)
    ]
    assert 0 < squared(sums[0] - sums[1]) <= Fraction(2 * own.clip) ** 2


@pytest.mark.parametrize(
    "gradient",
    [
        lambda *own: own[3],
        lambda *own: own[1][:, :1],
        lambda *own: own[1][:-1],
        lambda *own: own[1].sum(axis=1),
        lambda *own: own[1] * 1j,
        lambda *own: own[1].astype(str),
        lambda *own: own[:0],
        lambda *own: [own[1][0], own[2][:1]],
    ],
)
def test_a_gradient_function_that_fails_is_one_line_without_data_and_no_round(gradient):
    loss = learning.Loss(value=len, gradient=gradient, lipschitz=1.0, name="broken")
    plan = learning.plan(
        loss, features=2, records=2, batch=2, clip=1.0, radius=1.0, budget=planned().request.budget
    )
    run = simulated(plan, 1)
    secret = 0.123456789
    with pytest.raises(EngineError, match="loss=broken") as refused:
        run.update([[secret, 1.0], [1.0, 1.0]], [secret, 0.0])
    said = str(refused.value)
    assert said == (
        "loss=broken has no gradients of a batch; return 2 floats a record, shape (records, "
        "coordinates), whatever the records are; the round has not been answered"
    )
    assert "\n" not in said
    assert refused.value.__cause__ is None
    assert run.round == 0
