# SPDX-License-Identifier: Apache-2.0
"""About another point than its middle a box has fewer changes than the box around them.

What a certificate states is below what noise fitted to the list of its corners reaches. Mutant: the
corners of the box around the changes as evidence, `inner` None, which stated up to 1.6 times it.
"""

import math

import numpy as np
import pytest

import lownoise as ln

BOXES = {
    "about an end": ([0.0, 0.0], [1.0, 1.0], [0.0, 0.0]),
    "about opposite ends": ([0.0, 0.0], [1.0, 4.0], [0.0, 4.0]),
    "nearly the middle": ([-1.0, -1.0, 0.0], [1.0, 1.001, 2.0], [0.0, 0.0, 1.0]),
    "one column off": ([-1.0, -2.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.5]),
    "zero outside": ([1.0, 2.0], [2.0, 5.0], [1.5, 3.0]),
}


def corners(lower, upper):
    grid = np.meshgrid(*zip(lower, upper, strict=True))
    return np.stack([own.ravel() for own in grid], axis=1)


@pytest.mark.grid
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("name", BOXES)
def test_no_mean_is_stated_to_need_more_than_its_corners_do(name, order):
    lower, upper, center = BOXES[name]
    names = [f"c{i}" for i in range(len(lower))]
    certificates = [
        ln.plan(
            ln.Mean(names, domain, center=center),
            budget=ln.zcdp(0.5),
            relation="add_remove",
            order=order,
            weights=np.ones(len(lower)),
            count_share=0.5,
        )
        for domain in (ln.Box(lower, upper), ln.Points(corners(lower, upper)))
    ]
    box, listed = (own.terms for own in certificates)
    deviations = listed.standard_deviation * box.weights
    reached = np.linalg.norm(deviations, ord=order)
    assert 0 < box.certificate.lower <= reached * (1 + 1e-9)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", [name for name in BOXES if name != "zero outside"])
def test_no_stream_is_stated_to_need_more_than_its_corners_do(name):
    lower, upper, _ = BOXES[name]
    listing = ln.Points(np.vstack([np.zeros(len(lower)), corners(lower, upper)]))
    box, listed = (
        ln.stream(ln.Prefix(4), domain=domain, budget=ln.zcdp(0.5), relation="add_remove")
        for domain in (ln.Box(lower, upper), listing)
    )
    assert 0 < box.certificate.lower <= listed.certificate.upper * (1 + 1e-9)
    assert box.terms.lower_bound <= listed.terms.error * (1 + 1e-9)


def test_about_the_middle_nothing_is_lost():
    for box in (ln.Box([-1, -2], [1, 2]), ln.Box([0.1, 0.2], [0.3, 0.7])):
        plan = ln.plan(ln.Mean(["a", "b"], box), budget=ln.zcdp(0.5), relation="add_remove")
        assert plan.certificate.gap < 1e-9
    one = ln.stream(
        ln.Prefix(8), domain=ln.Box([0], [1]), budget=ln.zcdp(0.5), relation="add_remove"
    )
    assert one.certificate.gap < 1e-6  # of one column the whole interval is changes
