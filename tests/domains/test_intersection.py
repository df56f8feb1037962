# SPDX-License-Identifier: Apache-2.0
"""Intersections: simplest form, membership, the least noise against listed vertices, privacy."""

import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.certificate import SectionDual
from lownoise.errors import DomainError
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import SectionBody
from lownoise.sets.domains import Image, Intersection
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict
from lownoise.sets.unit_balls import CappedBall, IntersectionBall, NormBall

RANDOM = np.random.default_rng(5)
TURN = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]


def counts(caps, total):
    return ln.intersection(ln.Box([0] * len(caps), caps), ln.Slab([1] * len(caps), 0, total))


def vertices(caps, total):
    """Every vertex of {0 ≤ x ≤ caps, Σx ≤ total}, one by one."""
    found = set()
    for signs in itertools.product([0, 1], repeat=len(caps)):
        x = np.array(signs) * caps
        if x.sum() <= total:
            found.add(tuple(x))
        for j in range(len(caps)):
            y = x.astype(float)
            y[j] = total - (x.sum() - x[j])
            if 0 <= y[j] <= caps[j]:
                found.add(tuple(y))
    return np.array(sorted(found), dtype=float)


PARTS = {
    "counts": [ln.Box([0] * 3, [3, 4, 5]), ln.Slab([1] * 3, 0, 7)],
    "lens": [ln.Ball(3), ln.Ball(3, center=[1, 0, 0])],
    "half": [ln.Ball(3, radius=2, center=[5, 5, 5]), ln.Slab([1, 1, 0], 10, math.inf)],
    "box and ellipsoid": [
        ln.Box([-1] * 3, [1] * 3),
        ln.Ellipsoid(TURN * [2, 1.2, 0.5], [0.2, 0, 0]),
    ],
    "capped": [ln.Ball(3), ln.Box([-0.6] * 3, [0.6] * 3)],
    "capped cross": [ln.Ball(3, order=1), ln.Box([-0.6, -0.5, -0.3], [0.6, 0.5, 0.3])],
    "ellipsoids": [ln.Ellipsoid([1, 2.0, 1]), ln.Ellipsoid([2, 1, 1.5])],
}
DOMAINS = {name: ln.intersection(*parts) for name, parts in PARTS.items()}


@pytest.fixture(params=PARTS)
def case(request):
    return DOMAINS[request.param], PARTS[request.param]


def test_takes_the_simplest_form():
    box = ln.intersection(ln.Box([0, 0], [2, 2]), ln.Box([1, -1], [3, 1]), ln.Slab([2, 0], -8, 3))
    assert (box.lower.tolist(), box.upper.tolist()) == ([1, 0], [1.5, 1])
    ball, cube = ln.Ball(3), ln.Box([-0.5] * 3, [0.5] * 3)
    assert ln.intersection(ball, cube) is not ball
    assert isinstance(ln.intersection(ball, cube), ln.Box)  # the cube's corners are inside
    assert ln.intersection(ball, ln.Box([-1] * 3, [1] * 3)) is ball
    assert ln.intersection(ball, ln.Ball(3, radius=2)) is ball
    assert ln.intersection(ball, ball) is ball
    assert isinstance(DOMAINS["capped"], Image)
    assert isinstance(DOMAINS["capped"].base, CappedBall)
    assert isinstance(DOMAINS["ellipsoids"].base, IntersectionBall)
    assert isinstance(DOMAINS["lens"], Intersection)
    equal = ln.intersection(ln.Ball(3), ln.Ball(3))
    assert equal.support(np.array([0, 0, 1.0])) == pytest.approx(1)
    one = ln.intersection(ln.Points([[0.1, 0.2]]), ln.Ball(2))
    assert one.points.tolist() == [[0.1, 0.2]]


@pytest.mark.grid(3)
def test_holds_what_all_parts_hold(case):
    domain, parts = case
    size = domain.upper - domain.lower
    rows = domain.lower + RANDOM.uniform(-0.1, 1.1, (400, 3)) * size
    both = np.array([all(part.contains(x) for part in parts) for x in rows])
    own = np.array([domain.contains(x) for x in rows])
    assert np.array_equal(both, own)
    assert 10 < np.count_nonzero(own) < 390


@pytest.mark.grid(3)
def test_clamps_into_every_part_and_leaves_what_is_inside(case):
    domain, parts = case
    rows = np.vstack(
        [domain.center + RANDOM.standard_normal((200, 3)) * 3, [[1e300, -1e300, 0.0], [np.inf] * 3]]
    )
    near = domain.clamp(rows)
    for part in parts:
        inner = domain.center + (near - domain.center) * (1 - 1e-9)
        assert all(part.contains(x) for x in inner)
    assert np.max(np.abs(domain.clamp(near) - near)) <= 1e-9
    for i in (0, 57, 201):  # a row's arithmetic does not depend on the others
        assert np.array_equal(domain.clamp(rows[i]), near[i])


@pytest.mark.grid(3)
def test_supports_cover_samples_tightly(case):
    domain, _ = case
    near = domain.clamp(domain.center + RANDOM.standard_normal((20000, 3)) * 4)
    for direction in RANDOM.standard_normal((8, 3)):
        most = float(np.max(near @ direction))
        width = domain.width(direction)
        assert most <= domain.support(direction) + 1e-9 * width
        assert domain.support(direction) <= most + 0.12 * width


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([], "no domains"),
        ([ln.Ball(2), ln.Ball(3)], "intersection.1. has 3 coordinates"),
        ([ln.Ball(2), 3], "int cannot be intersected"),
        ([ln.Box([0], [1]), ln.Box([2], [3])], "empty: coordinate 0"),
        ([ln.Ball(3), ln.Ball(3, center=[3, 0, 0])], "empty"),
        ([ln.Box([0, 0], [1, 1]), ln.Slab([1, 1], 3, 4)], "empty"),
        ([ln.Ball(2), ln.Slab([1, 1], 3, 4)], "empty"),
        ([ln.Ball(3), ln.Ball(3, center=[2, 0, 0])], "no interior"),
        ([ln.Slab([1, 1], 0, 1), ln.Slab([1, -1], 0, 1)], "bounded part"),
        ([ln.Points([[0, 0], [1, 1]]), ln.Ball(2)], "ln.Slab"),
        ([ln.Points([[5, 5]]), ln.Ball(2)], "empty"),
        ([ln.Ball(2, order=1), ln.Slab([1, 1], 0, 4)], "order 2 or infinity"),
        ([ln.Zonotope([[1, 0], [0, 1], [1, 1]]), ln.Ball(2, center=[1, 0])], "no inverse"),
        ([ln.Box([0, 1], [1, 1]), ln.Ball(2)], "leave that column out"),
    ],
)
def test_refuses_what_has_no_intersection(parts, said):
    with pytest.raises(DomainError, match=said) as refusal:
        ln.intersection(*parts)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("normal", "lower", "upper", "said"),
    [
        ([0, 0], 0, 1, "no direction"),
        ([1, 0], 1, 1, "not below"),
        ([1, 0], -math.inf, math.inf, "infinite"),
        ([1, 0], math.nan, 1, "nan"),
        ([1, np.nan], 0, 1, "not finite"),
    ],
)
def test_refuses_what_is_no_slab(normal, lower, upper, said):
    with pytest.raises(DomainError, match=said):
        ln.Slab(normal, lower, upper)


def test_a_slab_alone_is_unbounded():
    with pytest.raises(DomainError, match="unbounded"):
        ln.theory.enclose(ln.Slab([1, 1], 0, 1))


def test_cubes_share_a_cube_that_has_a_file():
    found = ln.intersection(ln.Box([-1, -2], [1, 2]), ln.Ball(2, radius=1.5, order=math.inf))
    assert np.array_equal(found.factor, [1.0, 1.5])
    assert isinstance(found.base, NormBall)
    question = ln.Mean(["a", "b"], found)
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    assert ln.Plan.from_json(plan.to_json()).verify()


@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
def test_a_simplex_is_exact(order):
    simplex = counts(np.ones(4), 1)
    corners = ln.Points(np.vstack([np.zeros(4), np.eye(4)]))
    for ours, listed in (
        (ln.difference_body(simplex), ln.difference_body(corners)),
        (simplex, corners),
    ):
        found, least = ln.theory.enclose(ours, order=order), ln.theory.enclose(listed, order=order)
        assert found.certificate.gap < 1e-5
        assert found.certificate.upper == pytest.approx(least.certificate.upper, rel=1e-5)


@pytest.mark.parametrize("order", [2.0, math.inf])
def test_counts_bracket_the_optimum_of_their_listed_vertices(order):
    caps = np.array([3, 4, 5, 6, 7.0])
    domain, listed = counts(caps, 10.0), ln.Points(vertices(caps, 10.0))
    for ours, exact in (
        (ln.difference_body(domain), ln.difference_body(listed)),
        (domain, listed),
    ):
        found, least = ln.theory.enclose(ours, order=order), ln.theory.enclose(exact, order=order)
        assert found.certificate.lower <= least.certificate.upper
        assert least.certificate.lower <= found.certificate.upper
        assert found.certificate.gap < 0.08
        # the lower bound is nearly the optimum: what is lost is the proof of the upper one
        assert found.certificate.lower >= least.certificate.lower * 0.995
        found.certificate.verify()


@pytest.mark.parametrize("by", [1.2, 1.5])
def test_evidence_of_points_outside_proves_no_more_than_of_those_on_the_boundary(by):
    found = ln.theory.enclose(ln.difference_body(DOMAINS["counts"])).certificate
    claim, dual = found.claim, found.claim.dual
    assert isinstance(dual, SectionDual)
    out = replace(dual, points=by * dual.points)
    lower = out.least(claim.body, claim.order, claim.weights, claim.queries)
    assert found.lower * 0.99 < lower <= found.upper < by * found.lower


def test_evidence_of_points_is_about_the_center_of_sums():
    domain, center, corners = DOMAINS["counts"], np.array([1, 0.5, 2]), vertices([3.0, 4, 5], 7.0)
    found, _ = domain.lifted(np.arange(3), np.ones(3), center).changes(corners - domain.middle)
    np.testing.assert_allclose(found, np.c_[corners - center, np.ones(len(found))], atol=1e-9)


def test_queries_that_see_a_part_only():
    domain = counts(np.array([3.0, 4, 5]), 7.0)
    listed = ln.Points(vertices(np.array([3.0, 4, 5]), 7.0))
    queries = [[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]
    found = ln.theory.enclose(ln.difference_body(domain), workload=queries)
    least = ln.theory.enclose(ln.difference_body(listed), workload=queries)
    assert found.certificate.lower <= least.certificate.upper * (1 + 1e-6)
    assert found.certificate.upper >= least.certificate.lower * (1 - 1e-6)
    assert found.certificate.gap < 0.15


@pytest.mark.grid(1)
@pytest.mark.parametrize("kind", ["differences", "translates"])
def test_no_multipliers_prove_less_than_the_truth(kind):
    # whatever an optimiser says, the reach is at least what points reach
    domain = DOMAINS["counts"]
    section = domain.section
    corners = vertices(np.array([3.0, 4, 5]), 7.0) - domain.center
    for _ in range(40):
        matrix = RANDOM.standard_normal((3, 3)) * 10.0 ** RANDOM.uniform(-2, 2, 3)
        hint = RANDOM.uniform(0.01, 1, 2 * len(section.rows)) ** 2
        body = SectionBody(section, kind).with_multipliers(hint)
        center = np.zeros(3) if kind == "differences" else RANDOM.standard_normal(3) * 0.3
        points = corners - center
        if kind == "differences":
            points = (corners[:, None] - corners[None]).reshape(-1, 3)
        most = float(np.max(np.linalg.norm(points @ matrix.T, axis=1)))
        y, tilt = hint[:4] + hint[4:], 2 * (hint[:4] - hint[4:])
        far = body.far + np.abs(center)
        assert most <= body._bounded(matrix, center, y, tilt, far)
        assert most <= body.length_up(matrix, center)


def test_tilts_beyond_their_weights_prove_nothing():
    # with Aᵀλ = 0 nothing but the limit |λ| ≤ y keeps the bound above the truth
    section = DOMAINS["counts"].section
    body = SectionBody(section, "differences")
    y = np.full(len(section.rows), 0.25)
    null = np.linalg.svd(section.rows.T)[2][-1]
    null *= np.sign(null @ section.offsets)
    corners = vertices(np.array([3.0, 4, 5]), 7.0)
    changes = (corners[:, None] - corners[None]).reshape(-1, 3)
    most = float(np.max(np.square(changes @ section.rows.T) @ y))
    for size in (0.0, 0.1, 1.0, 10.0, 1000.0):
        assert body.energy_up(y, size * null, np.zeros(3)) >= most


@cache
def planned(name, relation):
    """A rough plan will do: what it reveals and stores is exact whatever its gap."""
    size = {"size": 40} if relation == "substitute" else {}
    question = ln.Mean(["a", "b", "c"], DOMAINS[name])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lownoise.solvers.section._MOST_WORK", 0.0)
        return ln.plan(question, budget=ln.zcdp(0.5), relation=relation, rtol=0.05, **size)


@pytest.mark.grid(7)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("name", PARTS)
def test_noise_covers_every_change_of_integers(name, relation):
    domain = DOMAINS[name]
    plan = planned(name, relation)
    mechanism = plan.terms.mechanism
    assert mechanism.loss.mu <= 1.0
    rows = domain.center + RANDOM.standard_normal((100, 3)) * np.max(domain.extent) * 9
    codes = mechanism.totals.query.coding.encode(rows).astype(float)
    if relation == "substitute":
        changes = (codes[:, None] - codes[None]).reshape(-1, 3)
    else:
        changes = np.hstack([codes, np.full((len(codes), 1), 1 / mechanism.totals.count_step)])
    noise = mechanism.noise.shape.dense()
    stretch = np.einsum("ni,ij,nj->n", changes, np.linalg.inv(noise), changes)
    assert np.max(stretch) <= mechanism.loss.mu**2 * (1 + 1e-9)
    assert np.max(stretch) >= 0.5 * mechanism.loss.mu**2  # the noise is no wider than it must be
    assert 0 < plan.certificate.lower <= plan.certificate.upper


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("name", ["counts", "lens", "ellipsoids"])
def test_is_released_saved_and_verified(name, relation, tmp_path):
    plan = planned(name, relation)
    assert plan.verify()
    again = ln.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    table = pd.DataFrame(RANDOM.standard_normal((40, 3)) * 3, columns=["a", "b", "c"])
    release = again.release(table)
    assert ln.verify(release.to_json())


def test_a_file_that_describes_no_section_is_refused():
    fields = domain_to_dict(DOMAINS["lens"])
    for field, value in (("center", [9.0, 9.0]), ("offsets", [2.0] * 6), ("rows", [[1.0] * 3] * 2)):
        broken = {"intersection": {**fields["intersection"], field: value}}
        with pytest.raises(DomainError):
            domain_from_dict(broken)


def test_gradients_with_two_clips():
    small = ln.intersection(ln.Ball(10), ln.Box([-0.4] * 10, [0.4] * 10))
    found = ln.theory.enclose(small)
    assert found.certificate.gap < 1e-6
    assert found.certificate.upper == pytest.approx(math.sqrt(10), rel=1e-6)  # the ball's own
    d = 100_000
    cap = np.random.default_rng(1).uniform(0.001, 0.01, d)
    large = ln.theory.enclose(ln.intersection(ln.Ball(d), ln.Box(-cap, cap)))
    assert large.certificate.gap < 1e-6
    assert large.certificate.upper < 0.99 * math.sqrt(d)


def test_radius_is_infinite_where_a_shape_says_nothing():
    body = SectionBody(DOMAINS["lens"].section, "differences")
    assert body.radius_up(DenseShape(np.zeros((3, 3)))) == math.inf


def test_supports_across_a_face_are_tight():
    """Along a slab's own normal the central path ends where floats carry it no further."""
    cut = ln.intersection(ln.Ball(2), ln.Slab([1, 1], -0.2, 2))
    for turn in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        angle = np.radians(225) + turn
        direction = np.array([np.cos(angle), np.sin(angle)])
        reached = float(direction @ cut.extreme(direction[None])[0])
        assert reached <= cut.support(direction) <= reached + 1e-6


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", ["points", "differences"])
def test_many_coordinates_have_some_bound_from_below(monkeypatch, relation):
    """Where a thorough search would take minutes, few points that are nearly extreme do."""
    d = 12
    lens = ln.intersection(ln.Ball(d), ln.Ball(d, center=np.eye(d)[0] / 2))
    domain = lens if relation == "points" else ln.difference_body(lens)
    whole = ln.theory.enclose(domain).certificate
    monkeypatch.setattr("lownoise.solvers.section._MOST_WORK", 0.0)
    found = ln.theory.enclose(domain).certificate
    assert found.verify() == found
    assert found.lower <= whole.lower * (1 + 1e-6)
    assert found.gap < 0.3


def test_caps_that_vanish_beside_their_ball_are_refused():
    with pytest.raises(DomainError, match="coordinate 0"):
        ln.intersection(ln.Ball(2, 1e70), ln.Box([-1e-70, -1e71], [1e-70, 1e71]))
