# SPDX-License-Identifier: Apache-2.0
"""Releases from images of unit bodies: what a file or an optimiser says is never believed."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from edits import edited
from lownoise.errors import FileError, PlanError
from lownoise.noise.gaussian import gaussian_mean
from lownoise.sensitivity.factors import DenseShape, DiagonalShape

MANY = ln.Zonotope(np.random.default_rng(3).normal(size=(25, 3)))
TURNED = ln.Ellipsoid(np.random.default_rng(4).normal(size=(2, 2)), center=[5.0, -5.0])


def question(domain):
    return ln.Mean([f"c{i}" for i in range(domain.dimension)], domain)


@cache
def planned(domain, relation="substitute"):
    size = 9 if relation == "substitute" else None
    return ln.plan(question(domain), budget=ln.zcdp(0.5), relation=relation, size=size)


def with_hint(hint, scale):
    def change(terms):
        noise = terms["noise"]
        noise["reach"] = hint
        noise["factor"] = (scale * np.array(noise["factor"])).tolist()

    return change


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("hint", [[1.0], [1.0] * 24, [1.0] * 30, [], [0.0] * 25, ["a"]])
def test_a_hint_of_another_length_proves_nothing(hint, relation):
    """One number for all coordinates would be broadcast, and a fifth of the noise would do."""
    text = edited(planned(MANY, relation), with_hint(hint, 0.3))
    with pytest.raises(FileError) as refused:
        ln.Plan.from_json(text)
    assert "\n" not in str(refused.value)
    assert not ln.verify(text)


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_any_hint_of_the_right_length_leaves_no_room_for_less_noise(seed):
    hint = (10.0 ** np.random.default_rng(seed).uniform(-200, 200, 25)).tolist()
    with pytest.raises(FileError, match="too small"):
        ln.Plan.from_json(edited(planned(MANY), with_hint(hint, 0.7)))


@pytest.mark.parametrize("domain", [MANY, TURNED], ids=["zonotope", "ellipsoid"])
@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["noise"]["factor"][0].__setitem__(0, 0.9 * t["noise"]["factor"][0][0]),
        lambda t: t["question"]["image"]["factor"][0].__setitem__(0, 1e3),
        lambda t: t["question"]["image"]["factor"][0].__setitem__(0, math.nan),
        lambda t: t["question"]["image"]["factor"].pop(),
        lambda t: t["question"]["image"]["factor"][0].pop(),
        lambda t: t["question"]["image"].pop("shift"),
        lambda t: t["question"]["image"]["shift"].append(0.0),
        lambda t: t["question"]["image"].__setitem__("base", {"kind": "norm"}),
        lambda t: t["question"]["image"]["base"].__setitem__("size", 3),
        lambda t: t["noise"].__setitem__("step", [3.0] * len(t["noise"]["step"])),
        lambda t: t["evidence"].__setitem__("kind", "corners"),
        lambda t: t["evidence"].__setitem__("query_weights", [1.0]),
    ],
)
def test_a_file_that_was_changed_is_refused_or_does_not_verify(domain, change):
    text = edited(planned(domain), change)
    assert not ln.verify(text)
    try:
        ln.Plan.from_json(text)
    except FileError as refused:
        assert "\n" not in str(refused)  # noqa: PT017 (some only fail to verify)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("size", [1e-200, 1e-140, 1e-9, 1e9, 1e140])
@pytest.mark.parametrize("domain", [ln.Ball(2, order=3), TURNED], ids=["ball", "ellipsoid"])
def test_noise_of_any_size_is_brought_to_the_budget_or_refused(domain, size, relation):
    """What is not a number is no radius: too little noise is enlarged, or there is an error."""
    n = 9 if relation == "substitute" else None
    d = 2 if n else 3
    for shape in (DenseShape(size * (np.eye(d) + np.tril(np.ones((d, d)), -1))),
                  DiagonalShape(np.full(d, size))):  # fmt: skip
        try:
            found = gaussian_mean(question(domain), relation, n, shape, 1.0, domain.coordinates())
        except PlanError as refused:
            assert "\n" not in str(refused)  # noqa: PT017 (either is fine, silence is not)
            continue
        assert 0 < found.loss.mu <= 1


def test_what_lies_far_from_zero_pays_for_its_last_digits():
    """About 2^60 records can only move in steps of 256; the noise is that of those steps."""
    far = planned(ln.Ball(1, 1.0, center=[2.0**60]))
    near = planned(ln.Ball(1, 1.0))
    assert far.standard_deviation[0] > 100 * near.standard_deviation[0]
    assert far.cost.mu <= 1
    assert not any("one point" in line for line in far.terms.assumptions)
    still = planned(ln.Ball(1, 0.0, center=[2.0**60]))
    assert any("one point" in line for line in still.terms.assumptions)
    assert still.cost.mu == 0
