# SPDX-License-Identifier: Apache-2.0
"""What one neighbour can change, against every corner in exact fractions.

The oracle takes the corners x of the box and the definition of neighbours, and nothing else:
`substitute` changes the sum by x − x', `add_remove` changes (sum − count·v, count) by ±(x − v, 1).
Mutants seen: K for K − K, ±K for K − K, the count dropped, the middle of the box taken for the
centre, the sum or the largest taken for the root of squares, a scale halved.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lownoise.errors import DomainError
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.sensitivity.relations import RELATIONS, sensitivity_set
from lownoise.sets.bodies import SymmetricBox
from lownoise.sets.domains import Box

CLOSE = Fraction(1, 10**13)  # relative
# corners about another point than the middle are drawn in by so much, so that what they prove is
# true; that noise covers records follows from their codes (tests of `Coding.changes`)
INSIDE = Fraction(1, 2**47)
NUMBERS = st.floats(-1e6, 1e6) | st.integers(-(2**52), 2**52).map(float)
SCALES = st.floats(1e-3, 1e9)


@st.composite
def boxes(draw):
    ends = draw(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=3))
    low, high = (np.array(side) for side in zip(*map(sorted, ends), strict=True))
    return Box(np.where(high - low < 1e-100, high, low), high)


def corners(box):
    sides = zip(box.lower.tolist(), box.upper.tolist(), strict=True)
    return [tuple(map(Fraction, corner)) for corner in itertools.product(*sides)]


def changes(box, relation, center):
    if relation == "substitute":
        return [
            tuple(a - b for a, b in zip(x, y, strict=True))
            for x, y in itertools.product(corners(box), repeat=2)
        ]
    v = [Fraction(c) for c in center]
    lifted = [(*(a - b for a, b in zip(x, v, strict=True)), Fraction(1)) for x in corners(box)]
    return lifted + [tuple(-a for a in x) for x in lifted]


def greatest_square(box, relation, center, scale):
    return max(
        sum((a / Fraction(s)) ** 2 for a, s in zip(change, scale, strict=True))
        for change in changes(box, relation, center)
    )


def is_safe(radius, square):
    return Fraction(radius) ** 2 >= square


def is_tight(radius, square):
    return Fraction(radius) ** 2 <= square * (1 + CLOSE) ** 2


@given(boxes(), st.data())
@example(Box([0.0], [1.0]), None)
@example(Box([-1e-17], [1.0]), None)
@example(Box([5.0, 7.0], [5.0, 8.0]), None)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_radius_is_just_above_that_of_every_corner(relation, box, data):
    d = box.dimension
    length = d + (relation == "add_remove")
    center, scale = np.full(d, 0.1), [3.0] * length
    if data is not None:
        center = np.array(data.draw(st.lists(NUMBERS, min_size=d, max_size=d)))
        scale = data.draw(st.lists(SCALES, min_size=length, max_size=length))
    body = sensitivity_set(box, relation, center)
    assert body.widths().shape == (length,)
    square = greatest_square(box, relation, center.tolist(), scale)
    radius = body.radius_up(DiagonalShape(scale))
    drawn_in = 0 if isinstance(body, SymmetricBox) else INSIDE
    assert is_safe(radius, square * (1 - drawn_in) ** 2)
    assert is_tight(radius, square)


def test_substitute_is_the_difference_of_the_box_with_itself():
    box = Box([-1.0, 5.0], [1.0, 6.0])
    body = sensitivity_set(box, "substitute", np.array([100.0, -100.0]))
    assert body.half_width.tolist() == [2.0, 1.0]
    for coordinate in range(2):
        reached = {change[coordinate] for change in changes(box, "substitute", [0.0, 0.0])}
        assert max(reached) == -min(reached) == body.half_width[coordinate]


@pytest.mark.parametrize(
    ("center", "widths"),
    [
        ([0.0, 5.5], [1.0, 0.5, 1.0]),  # the middle
        ([0.5, 5.0], [1.5, 1.0, 1.0]),
        ([-0.5, 6.0], [1.5, 1.0, 1.0]),
        ([0.0, 0.0], [1.0, 6.0, 1.0]),  # outside the box
        ([3.0, 10.0], [4.0, 5.0, 1.0]),
    ],
)
def test_add_remove_is_lifted_about_any_centre(center, widths):
    box = Box([-1.0, 5.0], [1.0, 6.0])
    body = sensitivity_set(box, "add_remove", np.array(center))
    assert body.widths() == pytest.approx(widths, rel=1e-14)


def test_mutants_are_seen():
    box, center, scale = Box([-1.0, 5.0], [1.0, 6.0]), [0.5, 5.0], [2.0, 3.0]
    square = greatest_square(box, "substitute", center, scale)
    largest = np.maximum(np.abs(box.lower), np.abs(box.upper))
    as_k = SymmetricBox(largest).radius_up(DiagonalShape(scale))
    about_the_middle = SymmetricBox((box.upper - box.lower) / 2).radius_up(DiagonalShape(scale))
    assert not is_tight(as_k, square)
    assert not is_safe(about_the_middle, square)

    square = greatest_square(box, "add_remove", center, [*scale, 4.0])
    body = sensitivity_set(box, "add_remove", np.array(center)).widths()
    no_count = SymmetricBox(body[:-1]).radius_up(DiagonalShape(scale))
    middle = sensitivity_set(box, "add_remove", box.center)
    assert not is_safe(no_count, square)
    assert not is_safe(middle.radius_up(DiagonalShape([*scale, 4.0])), square)


def test_directions_that_cannot_change_need_no_noise():
    body = sensitivity_set(Box([0.0, 3.0], [1.0, 3.0]), "substitute", np.zeros(2))
    assert body.half_width.tolist() == [1.0, 0.0]
    assert body.radius_up(DiagonalShape([1.0, 0.0])) < 1.000001


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_noise_where_something_changes_is_infinite(relation):
    body = sensitivity_set(Box([0.0, 0.0], [1.0, 1.0]), relation, np.zeros(2))
    scale = np.ones(body.dimension)
    scale[-1] = 0.0
    assert body.radius_up(DiagonalShape(scale)) == math.inf


def test_bodies_cannot_be_written():
    for relation in RELATIONS:
        body = sensitivity_set(Box([0.0], [1.0]), relation, np.zeros(1))
        with pytest.raises(ValueError, match="read-only"):
            (body.half_width if relation == "substitute" else body.points)[0] = 0.0


@pytest.mark.parametrize("domain", [None, 3.0, [[0.0], [1.0]]])
def test_unknown_domains_are_refused(domain):
    with pytest.raises(DomainError, match="no known sensitivity body"):
        sensitivity_set(domain, "substitute", np.zeros(1))
