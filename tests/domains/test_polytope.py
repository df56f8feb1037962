# SPDX-License-Identifier: Apache-2.0
"""The hull of a list: whatever finds a mixture, it is in the hull but for a known rounding."""

import json
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.sets.domains import Polytope
from lownoise.sets.domains.compound import checked_product

RNG = np.random.default_rng(40)
FAR = np.array([2.0**30, -3.0, 1e-3])
SIDE = 3.14159
MANY = RNG.normal(size=(700, 5))


def test_a_clamped_record_is_a_mixture_but_for_its_rounding():
    """In exact fractions, of a simplex whose weights are told by its coordinates."""
    corners = FAR + SIDE * np.eye(3)
    domain = ln.hull(ln.Points(corners))
    assert isinstance(domain, Polytope)
    origin = [Fraction(float(c)) for c in np.min(corners, axis=0)]
    side = [Fraction(float(c)) - o for c, o in zip(np.max(corners, axis=0), origin, strict=True)]
    far = np.max(np.abs(corners), axis=0)
    assert np.all(domain.rounding <= 1e-12 * domain.extent + 2.0**-49 * far)
    off = 0
    for record in domain.center + 3 * SIDE * RNG.normal(size=(200, 3)):
        found = [Fraction(float(c)) for c in domain.clamp(record)]
        assert is_near(found, origin, side, [Fraction(float(r)) for r in domain.rounding])
        off += not is_near(found, origin, side, [Fraction(0)] * 3)
    assert off > 0  # floats do lose something, or nothing is tested


def is_near(point, origin, side, room):
    """Whether some weights, none below 0 and 1 in all, make what is so near in each coordinate."""
    parts = list(zip(point, origin, side, room, strict=True))
    low = [max(Fraction(0), (p - o - r) / s) for p, o, s, r in parts]
    high = [(p - o + r) / s for p, o, s, r in parts]
    return min(high) >= 0 and sum(low) <= 1 <= sum(high)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 2.0, -1.0])
def test_what_is_no_mixture_is_the_first_point(wrong, monkeypatch):
    domain = ln.hull(ln.Points(MANY))

    def broken(points, goal):
        weights = np.zeros(len(points))
        weights[:2] = wrong, 1.0
        return weights

    monkeypatch.setattr("lownoise.sets.domains.points.nearest_mixture", broken)
    found = domain.clamp(5 * RNG.normal(size=(3, 5)))
    assert np.array_equal(found, np.tile(domain.points[0], (3, 1)))


def test_weights_that_are_nearly_a_mixture_are_made_one(monkeypatch):
    domain = ln.hull(ln.Points(MANY))

    def nearly(points, goal):
        weights = np.zeros(len(points))
        weights[7] = 1 + 2.0**-21
        return weights

    monkeypatch.setattr("lownoise.sets.domains.points.nearest_mixture", nearly)
    found = domain.clamp(5 * RNG.normal(size=5))
    assert np.all(np.abs(found - domain.points[7]) <= domain.rounding)


def test_differences_of_a_hull_are_told_from_others():
    corners = ln.Points([[0, 0], [2, 0], [0, 1]])
    of_hull, of_list = ln.difference_body(ln.hull(corners)), ln.difference_body(corners)
    assert of_hull.contains(np.array([0.5, 0.25]))
    assert not of_list.contains(np.array([0.5, 0.25]))
    for body in (of_hull, of_list):
        assert body.contains(np.array([2.0, -1.0]))
        assert not body.contains(np.array([2.0, 1.0]))
    found = [ln.theory.enclose(body, order=3).certificate.upper for body in (of_hull, of_list)]
    assert found[0] == found[1]


def planned(domain, relation="add_remove", size=None):
    columns = [f"c{i}" for i in range(domain.dimension)]
    question = ln.Mean(columns, domain)
    return ln.plan(question, budget=ln.zcdp(0.5), relation=relation, size=size)


def moved_as_written(plan):
    checks = ln.verify(plan.to_json()).checks
    assert all(check.holds for check in checks)
    return [check.found for check in checks if check.name == "records moved as written"]


def test_files_of_lists_move_records_to_points_and_say_so():
    """Version 0.1 stored combinations as lists, and products with lists as their parts."""
    listed = ln.Points(np.eye(3))
    assert len(moved_as_written(planned(listed))) == 1
    assert not moved_as_written(planned(ln.hull(listed)))
    assert not moved_as_written(planned(ln.product(listed, ln.Ball(1))))
    old = planned(checked_product([listed, ln.Ball(1)]))
    assert len(moved_as_written(old)) == 1
    domain = ln.Plan.from_json(old.to_json()).terms.question.domain
    assert domain.clamp(np.array([0.4, 0.3, 0.3, 0.5])).tolist() == [1, 0, 0, 0.5]
    assert json.loads(old.to_json())["terms"]["question"]["product"][0] == {
        "points": np.eye(3).tolist()
    }


def test_a_body_of_changes_may_be_a_hull_or_a_product():
    box, steps = ln.Box([0, 0], [9, 9]), ln.Points([[1.0, 0.0], [0.0, 2.0]])
    hull = planned_change(box, ln.hull(steps))
    assert hull.error == pytest.approx(planned_change(box, steps).error, rel=1e-6)
    beside = ln.product(ln.Points([[0.0], [0.5], [1.0]]), ln.Box([0], [1]))
    corners = ln.Points([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = planned_change(box, beside)
    assert found.error == pytest.approx(planned_change(box, corners).error, rel=1e-6)
    assert ln.verify(found.to_json())


def test_a_product_knows_the_ends_of_its_parts():
    listed = ln.Points([[0.0, 1.0], [10.0, 2.0], [1.0, 9.0]])
    domain = ln.product(listed, ln.Ball(1, center=[5.0]))
    assert domain.lower == pytest.approx([0, 1, 4])
    assert domain.upper == pytest.approx([10, 9, 6])
    columns = ["a", "b", "c"]
    question = ln.Mean(columns, ln.product(listed, ln.Box([4], [6])))
    for size in (1000, None):
        relation = "substitute" if size else "add_remove"
        plan = ln.plan(question, budget=ln.pure_dp(1.0), relation=relation, size=size)
        assert 0 < plan.lower_bound <= plan.error


def planned_change(domain, body):
    question = ln.Mean(["a", "b"], domain)
    return ln.plan(question, budget=ln.zcdp(0.5), relation=body, size=1000)
