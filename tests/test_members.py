# SPDX-License-Identifier: Apache-2.0
"""What holds of every domain of the family: its geometry, its least noise, its plan and release."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from cases import MEMBERS
from lownoise.domains import Image
from lownoise.entropy import SimulationEntropy
from lownoise.errors import DomainError
from lownoise.release import execute
from lownoise.samplers import rounded_gaussian
from lownoise.shapes import DiagonalShape

ORDERS = (2.0, 3.0, 4.0, math.inf)
RELATIONS = ("substitute", "add_remove")
SEED = st.integers(0, 2**32 - 1)
ORDER = st.sampled_from(ORDERS)
ROUND = 1 + 1e-9
ROWS = 60

every = pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
few = settings(max_examples=2)


def lengths(shape, rows):
    """√(rowᵀM⁻¹row) for each row, in least squares where M is singular."""
    if isinstance(shape, DiagonalShape):
        part = np.where(shape.scale > 0, rows / np.where(shape.scale > 0, shape.scale, 1.0), 0.0)
        return np.linalg.norm(part, axis=1)
    factor = shape.factor
    if not factor.shape[1]:
        return np.zeros(len(rows))
    unit = np.maximum(np.linalg.norm(factor, axis=1), 1e-300)
    return np.linalg.norm(np.linalg.lstsq(factor / unit[:, None], (rows / unit).T)[0], axis=0)


@cache
def least(member, order):
    return ln.enclose(member.domain, order=order)


def last_digits(member, theta=None):
    """What rounding of numbers as large as the domain's is worth, along θ."""
    size = np.max(np.abs(member.sample(np.random.default_rng(0), 64)), axis=0)
    return 2.0**-48 * float(size @ np.abs(np.ones_like(size) if theta is None else theta))


@every
@few
@given(seed=SEED)
def test_no_point_is_beyond_the_support(member, seed):
    rng = np.random.default_rng(seed)
    points, domain = member.sample(rng, 400), member.domain
    assert points.shape == (400, domain.dimension)
    for theta in (*rng.normal(size=(6, domain.dimension)), *np.eye(domain.dimension)):
        values, off = points @ theta, last_digits(member, theta)
        assert np.max(values) <= domain.support(theta) + off
        assert -np.min(values) <= domain.support(-theta) + off
        assert np.ptp(values) <= domain.width(theta) + 2 * off
        assert domain.support(2 * theta) == pytest.approx(2 * domain.support(theta), abs=off)
    assert np.all(points >= domain.lower - last_digits(member))
    assert np.all(points <= domain.upper + last_digits(member))


@every
@few
@given(seed=SEED)
def test_points_stay_where_they_are_and_others_come_in(member, seed):
    rng = np.random.default_rng(seed)
    domain = member.domain
    points = member.sample(rng, 3 if member.slow else 10)
    width = domain.upper - domain.lower
    room = 1e-8 * width + last_digits(member)
    assert np.all(np.abs(domain.clamp(points) - points) <= room)
    moved = domain.clamp(domain.center + 3 * width * rng.normal(size=(6, domain.dimension)))
    for theta in rng.normal(size=(20, domain.dimension)):
        assert np.max(moved @ theta) <= domain.support(theta) + np.abs(theta) @ room


@every
@few
@given(seed=SEED, order=ORDER)
def test_the_ellipsoid_holds_ten_thousand_points(member, seed, order):
    rng = np.random.default_rng(seed)
    found = least(member, order)
    proof = found.certificate
    about = member.sample(rng, 10_000) - found.center
    reach = np.max(lengths(found.shape, about))
    assert reach <= 1 + 1e-6 + 1e3 * last_digits(member)
    assert 0 <= proof.lower <= proof.upper
    assert proof.gap <= member.gap
    assert proof.verify() == proof
    # what M says is what the certificate says, and M is definite where the domain moves
    M = found.shape.dense()
    assert math.sqrt(np.linalg.norm(np.diag(M), order / 2)) == pytest.approx(
        proof.upper, rel=1e-5, abs=last_digits(member)
    )
    unit = np.where(np.diag(M) > 0, np.sqrt(np.diag(M)), 1.0)
    span = np.linalg.matrix_rank(about[:200] / unit, tol=1e-6)
    assert np.linalg.matrix_rank(M / np.outer(unit, unit), tol=1e-12, hermitian=True) >= span


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("member", [m for m in MEMBERS if m.gamma], ids=lambda m: m.name)
def test_the_known_least_is_found(member, order):
    proof = least(member, order).certificate
    known = member.gamma(order)
    assert proof.lower <= known * (1 + 1e-12)
    assert known <= proof.upper * (1 + 1e-12)
    assert proof.upper <= known * (1 + member.gap)


@every
@few
@given(seed=SEED, order=ORDER)
def test_some_of_its_points_cost_no_more(member, seed, order):
    """Monotone: points drawn by the definition alone are inside, and so is their ellipsoid."""
    points = member.sample(np.random.default_rng(seed), 40)
    some = ln.enclose(ln.Points(points), order=order).certificate
    whole = least(member, order).certificate
    assert some.lower <= whole.upper * ROUND + last_digits(member)


@every
@few
@given(seed=SEED, order=ORDER, factor=st.floats(1e-3, 1e3))
def test_it_scales_and_does_not_move_with_the_domain(member, seed, order, factor):
    rng = np.random.default_rng(seed)
    domain = member.domain
    shift = rng.integers(-9, 9, domain.dimension) * 1.0
    changed = ln.image(np.full(domain.dimension, factor), domain, shift)
    here, there = least(member, order).certificate, ln.enclose(changed, order=order).certificate
    off = last_digits(member) * factor + 2.0**-40 * factor
    assert factor * here.lower <= there.upper * ROUND + off
    assert there.lower <= factor * here.upper * ROUND + off
    theta = rng.normal(size=domain.dimension)
    assert changed.support(theta) == pytest.approx(
        factor * domain.support(theta) + theta @ shift, rel=1e-9, abs=10 * off
    )


def test_a_sum_costs_no_more_than_both():
    """002, Theorem 20, on members and their neighbours in the list, where they have a sum."""
    found = 0
    like = [m for m in MEMBERS if m.domain.dimension == 3]
    for one, other in zip(like, like[1:] + like[:1], strict=True):
        try:
            both = ln.minkowski_sum(one.domain, other.domain)
        except DomainError:
            continue
        found += 1
        order = ORDERS[found % len(ORDERS)]
        proof = ln.enclose(both, order=order, rtol=1e-3).certificate
        most = sum(least(each, order).certificate.upper for each in (one, other)) * ROUND
        assert proof.lower <= most + last_digits(one) + last_digits(other)
        theta = np.random.default_rng(found).normal(size=3)
        assert both.support(theta) == pytest.approx(
            one.domain.support(theta) + other.domain.support(theta), rel=1e-9
        )
    assert found >= 6


@every
@few
@given(seed=SEED, order=ORDER)
def test_differences_of_points_are_in_the_difference_body(member, seed, order):
    rng = np.random.default_rng(seed)
    body = ln.difference_body(member.domain)
    changes = member.sample(rng, 200) - member.sample(rng, 200)
    for theta in rng.normal(size=(6, body.dimension)):
        assert np.max(changes @ theta) <= body.support(theta) + 2 * last_digits(member, theta)
    once, twice = least(member, order).certificate, ln.enclose(body, order=order).certificate
    assert twice.lower <= 2 * once.upper * ROUND + last_digits(member)


def question(member):
    return ln.Mean([f"c{i}" for i in range(member.domain.dimension)], member.domain)


@cache
def planned(member, relation, order=2.0):
    return ln.plan(
        question(member),
        budget=ln.zcdp(0.5),
        relation=relation,
        size=ROWS if relation == "substitute" else None,
        order=order,
    )


def table(member, seed=0):
    """Points of the domain, points outside, and what no coordinate can be."""
    rng = np.random.default_rng(seed)
    rows = member.sample(rng, ROWS)
    width = member.domain.upper - member.domain.lower
    rows[::5] += 2 * width * rng.normal(size=rows[::5].shape)
    rows[3], rows[4, 0], rows[7] = np.nan, np.nan, np.inf
    return rows


@every
@pytest.mark.parametrize(("relation", "order"), [("substitute", math.inf), ("add_remove", 2.0)])
def test_a_plan_keeps_its_budget_and_can_be_checked(member, relation, order):
    plan = planned(member, relation, order)
    assert plan.cost.mu <= plan.terms.parameter == 1.0
    assert plan.verify()
    again = ln.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    assert plan.certificate.lower <= plan.certificate.upper
    assert plan.certificate.gap <= member.gap + 1e-6
    assert plan.lower_bound <= plan.error
    if relation == "substitute":
        least = ln.enclose(ln.difference_body(member.domain), order=order).certificate
        assert least.lower * (1 - 1e-6) <= ROWS * plan.objective + last_digits(member)


@every
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_change_of_the_integers_is_covered(member, relation):
    """The privacy of it: codes of records of every kind, in the final noise, two by two."""
    plan = planned(member, relation)
    mechanism = plan.terms.mechanism
    rng = np.random.default_rng(2)
    count = 20 if member.slow else 200
    ends = member.sample(rng, count)
    if isinstance(member.domain, Image):
        ends = np.vstack([ends, member.domain.extreme(rng.normal(size=(count, ends.shape[1])))])
    codes = mechanism.query.coding.encode(
        np.vstack([table(member, 1)[: 12 if member.slow else ROWS], ends])
    ).astype(np.float64)
    if relation == "substitute":
        changes = (codes[:, None] - codes).reshape(len(codes) ** 2, codes.shape[1])
    else:
        changes = np.hstack([codes, np.full((len(codes), 1), 1 / mechanism.count_step)])
    noise = mechanism.noise
    reached = float(np.max(lengths(noise, changes))) if changes.shape[1] else 0.0
    assert reached <= mechanism.event.mu * (1 + 1e-12)
    # and the noise is not far too much: some change comes near, if any is possible
    assert reached >= mechanism.event.mu / (1 + member.gap) * 0.8


@every
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_release_is_its_codes_and_the_noise_alone(member, relation):
    plan = planned(member, relation)
    mechanism = plan.terms.mechanism
    rows = table(member)
    frame = pd.DataFrame(rows, columns=plan.terms.question.columns)
    release = execute(plan.terms, frame, None, entropy=SimulationEntropy(7))
    noise = rounded_gaussian(mechanism.noise, entropy=SimulationEntropy(7)).tolist()
    exact = [sum(column) for column in mechanism.query.coding.encode(rows).T.tolist()]
    if relation == "add_remove":
        exact.append(ROWS * int(1 / mechanism.count_step))
    assert list(release.integers) == [t + z for t, z in zip(exact, noise, strict=True)]
    assert ln.verify(release.to_json())
    read = ln.Release.from_json(release.to_json())
    assert np.array_equal(read.estimate, release.estimate)
    # without noise the answers are those of the records, each moved into the domain
    inside = np.where(np.isnan(rows), plan.terms.question.missing, rows)
    truth = member.domain.clamp(inside)
    center = plan.terms.question.center
    wanted = (truth - center).sum(axis=0)
    wanted = np.append(wanted, ROWS) if relation == "add_remove" else center + wanted / ROWS
    answers = mechanism.answers(tuple(exact))
    width = np.append(member.domain.upper - member.domain.lower, 1.0)[: wanted.size]
    off = 1e-8 * ROWS * width + ROWS * last_digits(member) + 1e-3 * plan.standard_deviation
    assert np.all(np.abs(answers - wanted) <= off)
