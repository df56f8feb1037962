# SPDX-License-Identifier: Apache-2.0
"""What a search keeps: the least noise and the best evidence, whatever came last."""

import math

import pytest

from lownoise.solvers.solution import INTERRUPTED, SOLVED, Sides


def test_the_best_of_both_sides_is_kept():
    sides = Sides(0.3)
    assert (sides.lower, sides.upper, sides.gap) == (0.0, math.inf, math.inf)
    for lower, upper in ((1.0, 2.0), (1.5, 1.9), (1.2, 5.0)):
        sides.prove(lower, f"proves {lower}")
        sides.cover(upper, f"costs {upper}")
    assert (sides.lower, sides.dual) == (1.5, "proves 1.5")
    assert (sides.upper, sides.noise) == (1.9, "costs 1.9")
    assert sides.met
    assert not Sides(0.2).met


def test_of_two_that_cost_the_same_the_later_is_kept_and_the_lesser_bound():
    sides = Sides(tie=1e-3)
    for upper, noise in ((1.0, "first"), (1.0005, "as good"), (1.1, "worse")):
        sides.cover(upper, noise)
    assert (sides.upper, sides.noise) == (1.0, "as good")


def test_the_first_is_kept_even_where_it_proves_nothing():
    sides = Sides()
    sides.prove(0.0, "none")
    sides.cover(math.inf, "some")
    assert (sides.dual, sides.noise) == ("none", "some")


@pytest.mark.parametrize("early", [False, True])
def test_an_interrupt_ends_a_search_with_what_it_has(early):
    sides = Sides()

    def search():
        if not early:
            sides.prove(1.0, "dual")
            sides.cover(1.0, "noise")
        raise KeyboardInterrupt

    if early:
        with pytest.raises(KeyboardInterrupt):
            sides.searched(search)
        return
    found = sides.searched(search)
    assert (found.noise, found.dual, found.status) == ("noise", "dual", INTERRUPTED)


def test_a_search_that_ends_says_how():
    sides = Sides()
    sides.prove(1.0, "dual")
    sides.cover(1.0, "noise")
    assert sides.searched(lambda: SOLVED).status == SOLVED
