# SPDX-License-Identifier: Apache-2.0
"""Sums of gradient descent with momentum: exact but for their slack, however they are batched."""

import math
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import QuestionError

RATES = (0.5, 0.9, 0.999, 1 / 3, 2.0**-40)


@pytest.mark.parametrize("rate", RATES)
def test_its_matrix_is_running_sums_of_sums_that_forget(rate):
    own = ln.Momentum(30, rate)
    product = ln.Prefix(30).matrix() @ ln.Decayed(30, rate).matrix()
    assert np.allclose(own.matrix(), product, rtol=1e-13)
    assert np.allclose(own.row_sums(3, 4), product.sum(axis=1)[3:7], rtol=1e-12)
    assert own.longest >= product.sum(axis=1).max()


@pytest.mark.parametrize("rate", RATES)
def test_its_column_is_within_what_factors_are_measured_with(rate):
    exact, power = Fraction(0), Fraction(1)
    for found in ln.Momentum(80, rate).first_column().tolist():
        exact += power
        power *= Fraction(rate)
        assert abs(Fraction(found) - exact) <= exact * Fraction(2) ** -50


@pytest.mark.parametrize("rate", RATES)
def test_its_answers_are_within_the_slack_of_the_exact_ones(rate):
    own = ln.Momentum(60, rate)
    codes = np.random.default_rng(2).integers(-(1 << 40), 1 << 40, size=(60, 2))
    found = own.exact(2).push(codes)
    slack = Fraction(own.slack(float(1 << 40)))
    last, total, worst = [Fraction(0)] * 2, [Fraction(0)] * 2, Fraction(0)
    for code, answer in zip(codes.tolist(), found.tolist(), strict=True):
        last = [Fraction(rate) * v + x for v, x in zip(last, code, strict=True)]
        total = [a + v for a, v in zip(total, last, strict=True)]
        worst = max(worst, *(abs(a - x) for a, x in zip(total, answer, strict=True)))
    assert Fraction(4, 10) < worst <= slack


def test_what_is_lost_below_a_step_is_within_the_slack():
    """Each product is cut down to a unit: of all of them at most n/(1 − rate)."""
    rate, rounds = 1 - 2.0**-20, 1 << 12
    own = ln.Momentum(rounds, rate)
    lost = own.slack(1.0) - 0.5
    assert lost > 0
    v, total, exact_v, exact = 0, 0, Fraction(0), Fraction(0)
    numerator, shift = (1 << 20) - 1, 20
    for t in range(200):
        code = (1 if t == 0 else 0) << 64
        v = ((v * numerator) >> shift) + code
        total += v
        exact_v = exact_v * Fraction(rate) + code
        exact += exact_v
    assert 0 < (exact - total) / 2**64 <= lost


def test_rounds_are_answered_alike_however_they_are_batched_and_after_a_state():
    codes = np.random.default_rng(3).integers(-9, 9, size=(20, 3))
    own = ln.Momentum(20, 0.9)
    whole = own.exact(3).push(codes)
    first = own.exact(3)
    parts = [first.push(codes[:7])]
    again = own.exact(3)
    again.restore(first.state())
    parts += [again.push(codes[t : t + 1]) for t in range(7, 20)]
    assert np.array_equal(np.concatenate(parts), whole)
    for wrong in ({"sums": [["1", "2"]]}, {"sums": [["1"]] * 3}):
        with pytest.raises(ValueError, match=r"^$"):
            own.exact(3).restore(wrong)


@pytest.mark.grid(3)
@pytest.mark.parametrize("strategy", ["auto", "toeplitz", "square_root", "banded"])
def test_a_stream_of_them_is_unbiased_and_certified(strategy):
    stream = ln.stream(ln.Momentum(40, 0.8), budget=ln.zcdp(1e6), strategy=strategy)
    values = np.random.default_rng(4).integers(0, 2, 40).astype(float)
    found = stream.update_many(values)
    assert np.max(np.abs(found - stream.terms.question.workload.matrix() @ values)) < 0.1
    assert stream.lower_bound <= stream.error
    assert ln.verify(stream.to_json())


@pytest.mark.parametrize(
    ("given", "match"),
    [((4, 1.0), "between 0 and 1"), ((4, math.nan), "rate"), ((0, 0.5), "rounds=0")],
)
def test_what_is_no_momentum_is_refused(given, match):
    with pytest.raises(QuestionError, match=match):
        ln.Momentum(*given)
