# SPDX-License-Identifier: Apache-2.0
"""What rows add up to is the same in whatever parts and order, and goes to where rows are."""

import pickle
from functools import partial

import numpy as np
import pytest

from lownoise.engines import Batch, Coding, TotalsQuery
from lownoise.engines.categories import opened, places_of
from lownoise.engines.counts import CellCounts
from lownoise.engines.groups import GroupCodes
from lownoise.engines.memory import MemorySource
from lownoise.engines.source import CodeSums
from lownoise.questions.attributes import attributes

GROUPS = attributes({"g": 3, "w": ["a", "b", "2"]}, {"g": "extra"})
CODING = Coding(
    columns=("x", "g"),
    lower=np.array([-4.0, 0.0]),
    upper=np.array([2.0**50, 2.0]),
    center=np.array([0.5, 1.0]),
    missing=np.array([0.0, 1.0]),
    step=np.array([1 / 4, 1 / 2]),
)
TABLE = MemorySource(
    {
        "x": np.array([1e300, -0.0, np.nan, 2.0**49 + 0.25, -np.inf, 0.1, 7.0] * 9),
        "g": np.array([0, 1, 2, 3, 1, 1, 0] * 9),
        "w": np.array(["a", "b", "2", None, "c", "a", "b"] * 9, object),
    }
)
READER = opened(GROUPS, TABLE)[1]
WORKS = {
    "codes": CodeSums(TotalsQuery(CODING, drops_missing=False)),
    "complete codes": CodeSums(TotalsQuery(CODING, drops_missing=True)),
    "counts": CellCounts(READER, 12, partial(places_of, sizes=(4, 3))),
    "codes by groups": GroupCodes(READER, TotalsQuery(CODING, drops_missing=False)),
    "complete codes by groups": GroupCodes(READER, TotalsQuery(CODING, drops_missing=True)),
}


def said(found):
    """Return what high and low bits add up to, as Python's integers; counts as they are."""
    wide = found.astype(object)
    return wide if found.ndim == 1 else wide[..., 0] * 2**26 + wide[..., 1]


@pytest.mark.parametrize("name", WORKS)
def test_parts_in_any_order_add_up_to_the_whole(name):
    """As an engine's threads and executors take them: each with zeros of its own."""
    work = WORKS[name]
    whole = TABLE.fold(work)
    assert np.any(whole)
    (batch,) = TABLE.batches(work.numbers, work.texts)
    rng = np.random.default_rng(3)
    for ends in (range(64), [0, 1, 1, 30, 63], [0, 62, 63]):
        added = work.zeros()
        for i in rng.permutation(len(ends) - 1):
            own = slice(ends[i], ends[i + 1])
            part = Batch([c[own] for c in batch.numbers], [c[own] for c in batch.texts])
            sent = pickle.loads(pickle.dumps(work))  # noqa: S301 (our own)
            sent.add(found := sent.zeros(), part)
            added += found
        assert np.array_equal(said(added), said(whole))
