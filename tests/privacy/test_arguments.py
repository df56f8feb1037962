# SPDX-License-Identifier: Apache-2.0
"""Whatever a caller gives a ledger or a budget: refused in one line, and nothing is spent."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from attacks.observed import Rude
from lownoise.errors import BudgetError, LedgerError, LownoiseError
from lownoise.privacy import GaussianEvent, entries

ZERO = 0  # of rounds there may be none
WRONG = [  # neither a name, nor a count, nor the number of an entry
    *(
        b"",
        math.nan,
        math.inf,
        -1,
        ZERO,
        True,
        0.5,
        2**70,
        -(10**5000),
        1j,
        [1],
        {},
        (1, 2),
        slice(1),
    ),
    *(Rude(), object(), np.float64(0.5), np.True_, Decimal("sNaN"), Fraction(1, 3)),
    *(np.zeros(2), pd.DataFrame({"a": [41]}), Ellipsis, int),
]
TINY, EVENT = ln.zcdp(1e-6), GaussianEvent(1e-6)
AT = entries.StreamPosition("s", 0, "d")


def moved(**more):
    return entries.StreamPosition(**{"stream": "t", "round": 1, "digest": "d", **more})


ACCOUNT = {  # what is asked of an account with the reservation 1, and the use 1 of 2
    "settle": lambda own, x: own.settle(x),
    "settle.stream": lambda own, x: own.settle(1, stream=x),
    "settle.stream.stream": lambda own, x: own.settle(1, stream=moved(stream=x)),
    "settle.stream.round": lambda own, x: own.settle(1, stream=moved(round=-2 if x is ZERO else x)),
    "cancel": lambda own, x: own.cancel(x),
    "reserve.event": lambda own, x: own.reserve(x),
    "reserve.note": lambda own, x: own.reserve(EVENT, x),
    "reserve.asked": lambda own, x: own.reserve(EVENT, asked=x),
    "reserve.relation": lambda own, x: own.reserve(EVENT, relation=x),
    "reserve_use.event": lambda own, x: own.reserve_use(x, "p", 3),
    "reserve_use.plan": lambda own, x: own.reserve_use(EVENT, x, 3),
    "reserve_use.uses": lambda own, x: own.reserve_use(EVENT, "p", x),
    "reserve_use.note": lambda own, x: own.reserve_use(EVENT, "p", 3, note=x),
    "reserve_use.asked": lambda own, x: own.reserve_use(EVENT, "p", 3, asked=x),
    "reserve_use.relation": lambda own, x: own.reserve_use(EVENT, "p", 3, relation=x),
    "settle_use.number": lambda own, x: own.settle_use(x, 1),
    "settle_use.use": lambda own, x: own.settle_use(2, x),
    "cancel_use.number": lambda own, x: own.cancel_use(x, 1),
    "cancel_use.use": lambda own, x: own.cancel_use(2, x),
    "charge.budget": lambda own, x: own.charge(x, "census"),
    "charge.note": lambda own, x: own.charge(TINY, x),
    "charge.relation": lambda own, x: own.charge(TINY, "census", relation=x),
    "stream_entered.number": lambda own, x: own.stream_entered(x, AT),
    "stream_entered.at": lambda own, x: own.stream_entered(1, x),
    "stream_moved": lambda own, x: own.stream_moved(None, x),
    "dataset": lambda own, x: ln.Ledger(own.path, x).reserve(EVENT),
    "path": lambda _, x: ln.Ledger(x, "people").budget(),
    "datasets": lambda _, x: ln.Ledger.datasets(x),
    "create.dataset": lambda own, x: ln.Ledger.create(own.path, x, TINY),
    "create.budget": lambda own, x: ln.Ledger.create(own.path, "other", x),
    "create.reading": lambda own, x: ln.Ledger.create(
        own.path, "other", ln.approx_dp(1, 1e-6), reading=x
    ),
    "aside.reading": lambda own, x: ln.Ledger.create(
        own.path, "other", ln.approx_dp(1, 1e-6), reading=ln.Aside(delta=1e-7, reading=x)
    ),
}


@pytest.mark.parametrize("asked", ACCOUNT)
def test_what_is_given_to_an_account_by_mistake_is_one_line_and_changes_nothing(asked, tmp_path):
    own = ln.Ledger.create(tmp_path / "l", "people", ln.zcdp(1.0))
    assert own.reserve(EVENT) == 1
    assert own.reserve_use(EVENT, "plan", 2) == (2, 1)
    before = own.path.read_bytes()
    for wrong in WRONG:
        with pytest.raises(LownoiseError) as caught:
            ACCOUNT[asked](own, wrong)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600
        assert own.path.read_bytes() == before
        # what is wrong is what was given, and not the file
        assert "cannot be used" not in str(caught.value)
    own.settle(np.int64(1))
    own.settle_use(2, 1)
    assert [each.state for each in own.entries()] == ["settled", "settled"]


def test_no_data_given_for_a_note_are_in_the_file_or_in_the_message(tmp_path):
    own = ln.Ledger.create(tmp_path / "l", "people", ln.zcdp(1.0))
    for data in ([41_234, 41_235], np.array([41_234]), pd.Series([41_234])):
        for asked in ("charge.note", "reserve.note"):
            with pytest.raises(LedgerError, match=r"^note=<\w+> is no text; give a text$"):
                ACCOUNT[asked](own, data)
    assert own.entries() == []


BUDGETS = {
    "zcdp": ln.zcdp,
    "gaussian_dp": ln.gaussian_dp,
    "pure_dp": ln.pure_dp,
    "pure_dp.delta": lambda x: ln.pure_dp(1, x),
    "approx_dp.epsilon": lambda x: ln.approx_dp(x, 1e-6),
    "approx_dp.delta": lambda x: ln.approx_dp(1, x),
    "local_dp.epsilon": ln.local_dp,
    "local_dp.delta": lambda x: ln.local_dp(1, x),
    "caps.epsilon": lambda x: ln.Caps(x, 1e-9, 0.01).check(ln.approx_dp(1, 1e-6)),
    "caps.delta": lambda x: ln.Caps(0.5, x, 0.01).check(ln.approx_dp(1, 1e-6)),
    "caps.mu": lambda x: ln.Caps(0.5, 1e-9, x).check(ln.approx_dp(1, 1e-6)),
    "aside.delta": lambda x: ln.Aside(x).caps(ln.approx_dp(1, 1e-6)),
    "convert.budget": lambda x: ln.convert(x, "zcdp"),
    "convert.kind": lambda x: ln.convert(TINY, x),
    "convert.delta": lambda x: ln.convert(TINY, "approx_dp", delta=x),
}
BESIDES = [
    *("", "0.5", "x" * 10**6, "\ud800", 10**400, -math.inf, np.float64("nan"), Decimal("1e400")),
    (i for i in range(2)),
]


@pytest.mark.parametrize("asked", BUDGETS)
def test_what_is_given_for_a_number_of_a_budget_by_mistake_is_one_line(asked):
    for wrong in [*WRONG, *BESIDES]:
        if type(wrong) in (int, float, Fraction, np.float64) and 0 <= wrong <= 1:
            continue
        with pytest.raises(BudgetError) as caught:
            BUDGETS[asked](wrong)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600
