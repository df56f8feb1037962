# SPDX-License-Identifier: Apache-2.0
"""The checker for strangers decides marginals and streams of running sums, as `ln.verify` does."""

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import MARGINALS, STREAMS, changed, marginals, stream
from lownoise.numbers.packing import packed, unpacked
from lownoise_check import FALSE, HOLDS, OPEN


def less(value):
    """A part in a million less of a number, of all of a list, or of a packed array."""
    if isinstance(value, dict):
        return packed(unpacked(value, "it", len(value["shape"])) * (1 - 1e-6))
    return [less(own) for own in value] if isinstance(value, list) else value * (1 - 1e-6)


@pytest.mark.parametrize("asked", MARGINALS, ids=str)
def test_marginals_hold_and_a_part_in_a_million_less_does_not(asked):
    text = marginals(*asked)
    status, lines = checker.decide(text)
    assert status == HOLDS, lines
    assert ln.verify(text)
    for path in (
        ("terms", "noise", "deviations"),
        ("derived", "certificate", "upper"),
        ("derived", "cost", "mu"),
        *([("derived", "error")] * (asked[3] == 2.0)),
    ):
        assert checker.decide(changed(text, path, less))[0] == FALSE, path
    for path in (("derived", "certificate", "lower"), ("derived", "lower_bound")):
        more = changed(text, path, lambda value: value * 1.05)
        assert checker.decide(more)[0] != HOLDS, path


@pytest.mark.grid(3)
@pytest.mark.parametrize("asked", STREAMS, ids=str)
def test_streams_hold_and_a_part_in_a_million_less_does_not(asked):
    text = stream(*asked)
    status, lines = checker.decide(text)
    assert status == HOLDS, lines
    assert ln.verify(text)
    noise = "factor" if '"dense",\n      "factor"' in text else "scale"
    for path in (
        ("terms", "noise", noise),
        ("terms", "pair", "noise"),
        ("derived", "certificate", "upper"),
        ("derived", "cost", "mu"),
    ):
        assert checker.decide(changed(text, path, less))[0] == FALSE, path
    if asked[0] < 700:  # a block of 256 rounds is no quick matter
        more = changed(text, ("derived", "certificate", "lower"), lambda value: value * (1 + 1e-6))
        assert checker.decide(more)[0] == FALSE
    bare = changed(text, ("terms", "noise", "cover"), lambda value: [x / 1000 for x in value])
    assert checker.decide(bare)[0] == FALSE


def test_series_are_multiplied_exactly():
    rng = np.random.default_rng(5)
    for n in (1, 2, 17):
        a, b = (rng.integers(-(2**62), 2**62, n).tolist() for _ in range(2))
        wanted = [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(n)]
        assert checker.convolved(a, b) == wanted


def test_the_trace_norm_is_at_most_that_of_the_matrix():
    for n in (1, 2, 7, 50):
        found, exact = (
            float(checker.trace_norm(n)),
            np.linalg.svd(np.tri(n), compute_uv=False).sum(),
        )
        assert exact * (1 - 1e-11) < found < exact * (1 + 1e-14)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: ln.stream(ln.SlidingWindow(9, 3), budget=ln.zcdp(0.5)), "workload.kind"),
        (lambda: ln.stream(ln.Prefix(9), budget=ln.zcdp(0.5), participations=2), "participation"),
        (lambda: ln.stream(ln.Prefix(9), budget=ln.zcdp(0.5), strategy="binary_tree"), "pair.kind"),
    ],
)
def test_what_is_outside_is_named(made, said):
    status, lines = checker.decide(made().to_json())
    assert (status, said in lines[-1]) == (OPEN, True), lines
