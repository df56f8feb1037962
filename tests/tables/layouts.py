# SPDX-License-Identifier: Apache-2.0
"""Marginals whose noise stands on one of its layouts, and many releases of one table of them."""

import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.engines.counts import records_query
from lownoise.noise.product import ProductNoise
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors.tables import CorrelatedFactor, DifferenceFactor

N = 300
RNG = np.random.default_rng(12)
SIZES = {"a": 2, "t": 5, "one": 1, "u": ["low", "mid", "high"], "b": 3}
ROWS = pd.DataFrame(
    {
        "a": RNG.integers(0, 2, N),
        "t": RNG.choice([0, 1, 2, 3, 4, 9], N),
        "one": 0,
        "u": RNG.choice(["low", "mid", "high"], N),
        "b": RNG.integers(0, 3, N),
    }
)


class NoNoise:
    """Words whose normal numbers are 0 up to 2^-60: for tests of everything but the noise."""

    def words(self, count):
        return np.full(count, 2**63 - 1, dtype=np.uint64)


@contextmanager
def products():
    """Let products begin with few categories, so that all that is here can be looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lownoise.planning.gaussian.MOST_CATEGORIES", 1)
        yield


def ordered_plan(relation="add_remove", ordered=None, rho=0.5, order=2.0, rtol=1e-6, **asked):
    """Return a plan of `SIZES` with noise that is correlated along ordered attributes."""
    question = ln.Marginals(
        SIZES,
        outside="extra",
        ordered={"t": "prefix"} if ordered is None else ordered,
        **(asked or {"way": 2}),
    )
    size = N if relation == "substitute" else None
    return ln.plan(
        question, budget=ln.zcdp(rho), relation=relation, size=size, order=order, rtol=rtol
    )


def product_plan(relation="add_remove", ordered=None, order=2.0, **asked):
    """Return a plan of `SIZES` with noise that is a product over ordered attributes."""
    ordered = {"t": "prefix", "u": "range"} if ordered is None else ordered
    with products():
        made = ordered_plan(relation, ordered, order=order, **asked)
    assert isinstance(made.terms.mechanism.noise, ProductNoise)
    return made


def residual_plan(relation="add_remove", ordered=None, **more):
    """Return a plan of `SIZES` without an order, whatever is asked of others."""
    return ordered_plan(relation, {}, **more)


PLANS = {"ordered": ordered_plan, "product": product_plan, "residual": residual_plan}


def exact(made, *names, rows=ROWS):
    """Return a marginal's cells, without noise."""
    attributes = list(made.terms.question.attributes)
    return records_query(attributes).of(rows).marginal(made.terms.question.index(names))


def run(made, randomness, rows=ROWS):
    """Return the integers of one release, as they are made."""
    mechanism = made.terms.mechanism
    records = records_query(made.terms.question.attributes).of(rows)
    integers = np.zeros(mechanism.length, dtype=np.int64)
    for start, piece in mechanism.pieces(records, randomness=randomness):
        integers[start : start + piece.size] = piece
    return integers


def residual_factor(mechanism, space, copies):
    """Return the factor of a space's noise where no attribute is ordered."""
    step = mechanism.totals.layout.step(space)
    scale = float(mechanism.noise.orbit_deviations[space.orbit] / step)
    return DifferenceFactor(scale=scale, sizes=space.sizes, copies=copies)


def ordered_factor(mechanism, space, copies):
    """Return it where noise is correlated along ordered attributes."""
    layout = mechanism.totals.layout
    k = next(i for i, part in enumerate(layout.parts) if part.place == space.orbit)
    triangle = mechanism.noise.factors[k] / layout.steps[k]
    return CorrelatedFactor(triangle=triangle, sizes=space.sizes, copies=copies)


def product_factor(mechanism, space, copies):
    """Return it where it is a product."""
    return mechanism.noise.factor(space, copies)


FACTORS = {"residual": residual_factor, "ordered": ordered_factor, "product": product_factor}


def noise(made, layout, repeats, randomness):
    """Return the noise of many releases, shape (repeats, length): each space's for all at once."""
    mechanism = made.terms.mechanism
    found = np.zeros((repeats, mechanism.length), dtype=np.int64)
    for space in mechanism.totals.layout.spaces:
        factor = FACTORS[layout](mechanism, space, repeats * len(space.sets))
        own = rounded_gaussian(factor, randomness=randomness).reshape(repeats, -1)
        found[:, space.start : space.start + own.shape[1]] = own
    return found


def draws(made, layout, names, repeats, randomness, rows=ROWS):
    """Return released cells of many releases of one table."""

    def counts(integers):
        release = ln.Release(
            terms=made.terms, integers=integers, spend=None, created="", versions={}
        )
        return np.concatenate([release.marginal(*n).reshape(-1) for n in names])

    length = made.terms.mechanism.length
    start = counts(np.zeros(length, dtype=np.int64))
    step = 2**20  # counts are affine in the integers
    unit = np.eye(length, dtype=np.int64) * step
    matrix = np.array([(counts(row) - start) / step for row in unit])
    integers = run(made, NoNoise(), rows) + noise(made, layout, repeats, randomness)
    return start + integers @ matrix


def damaged(text, change):
    """Return the text of a plan after a change of its terms."""
    content = json.loads(text)
    change(content["terms"])
    return json.dumps(content)
