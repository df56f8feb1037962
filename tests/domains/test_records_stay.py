# SPDX-License-Identifier: Apache-2.0
"""Records inside a domain stay where they are: of every domain, and of what combines them.

A list that a user wrote holds its points alone, and so do tensors; every combination of them holds
their mixtures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from cases import FEW, MEMBERS
from drawn import in_ball
from lownoise.errors import LownoiseError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.sets.domains import BallPower, Box, CubePower, Points

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.domains import AbstractDomain

    Sampler = Callable[[np.random.Generator, int], Vector]

BEYOND = 2.0  # a record outside is drawn so many reaches from the center, at most
TURN = np.random.default_rng(21).normal(size=(2, 9))


@dataclass(frozen=True)
class Held:
    """A domain and points of it, drawn by its definition."""

    name: str
    make: Callable[[], AbstractDomain]
    sample: Sampler
    slow: bool = False


def _rows(points: Vector) -> Sampler:
    return lambda rng, n: np.asarray(points)[rng.integers(0, len(points), n)]


def _beside(one: Sampler, two: Sampler) -> Sampler:
    return lambda rng, n: np.hstack([one(rng, n), two(rng, n)])


def _plus(one: Sampler, two: Sampler) -> Sampler:
    return lambda rng, n: one(rng, n) + two(rng, n)


def _either(one: Sampler, two: Sampler) -> Sampler:
    return lambda rng, n: np.where(rng.random((n, 1)) < 0.5, one(rng, n), two(rng, n))


def _times(one: Sampler, two: Sampler, size: int) -> Sampler:
    return lambda rng, n: np.einsum("ni,nj->nij", one(rng, n), two(rng, n)).reshape(n, size)


def _under(sample: Sampler, factor: Vector) -> Sampler:
    return lambda rng, n: sample(rng, n) @ factor.T


def combined() -> tuple[Held, ...]:
    """Each member in two of the operations it has, beside another member, in turn."""
    found = [Held(m.name, lambda m=m: m.domain, m.sample, m.slow) for m in MEMBERS]
    for i, one in enumerate(MEMBERS):
        d = one.domain.dimension
        alike = [m for m in MEMBERS if m.domain.dimension == d and m is not one]
        two = MEMBERS[(7 * i + 3) % len(MEMBERS)]
        mate = alike[(5 * i + 1) % len(alike)] if alike else one
        turn = TURN[:, :d]
        operations = [
            ("product", two, ln.product, _beside(one.sample, two.sample)),
            ("sum", mate, ln.minkowski_sum, _plus(one.sample, mate.sample)),
            ("hull", mate, ln.hull, _either(one.sample, mate.sample)),
            ("image", None, lambda a, t=turn: ln.image(t, a), _under(one.sample, turn)),
            (
                "projection",
                None,
                lambda a: ln.projection(a, [0]),
                _under(one.sample, np.eye(d)[:1]),
            ),
        ]
        for k in (i % 5, (i // 5 + i + 2) % 5):
            name, other, combine, sample = operations[k]
            parts = (one,) if other is None else (one, other)
            if any(name in part.refuses for part in parts):
                continue
            found.append(
                Held(
                    f"{name} of {' and '.join(part.name for part in parts)}",
                    lambda c=combine, parts=parts: c(*(part.domain for part in parts)),
                    sample,
                    slow=True,
                )
            )
    return tuple(found)


# what has few corners was stored as a list of them: each kind of part in each kind of combination
BOX, LIST, OTHER = (
    Box([0.0, -1.0], [1.0, 2.0]),
    Points(FEW[:, :2]),
    Points([[0, 0], [3, 0], [1, 2]]),
)
OF_BOX: Sampler = lambda rng, n: rng.uniform([0.0, -1.0], [1.0, 2.0], size=(n, 2))  # noqa: E731
OF_LIST, OF_OTHER = _rows(LIST.points), _rows(OTHER.points)
CROSS = _rows(np.vstack([np.eye(2), -np.eye(2)]))
SIGNS = ln.TensorPower(2, 2)
OF_SIGNS = _rows(SIGNS.tensors(np.array([[1.0, 1.0], [1.0, -1.0]])))
CORNERED = (
    Held("list and box", lambda: ln.product(LIST, BOX), _beside(OF_LIST, OF_BOX)),
    Held("two lists", lambda: ln.product(LIST, OTHER), _beside(OF_LIST, OF_OTHER)),
    Held(
        "list and flat box",
        lambda: ln.product(LIST, Box([0, 3], [2, 3])),
        _beside(OF_LIST, lambda rng, n: rng.uniform([0, 3], [2, 3], (n, 2))),
    ),
    Held(
        "list and long box",
        lambda: ln.product(LIST, Box(np.zeros(12), np.ones(12))),
        _beside(OF_LIST, lambda rng, n: rng.uniform(size=(n, 12))),
    ),
    Held("sum of lists", lambda: ln.minkowski_sum(LIST, OTHER), _plus(OF_LIST, OF_OTHER)),
    Held("sum of list and box", lambda: ln.minkowski_sum(LIST, BOX), _plus(OF_LIST, OF_BOX)),
    Held("hull of a list", lambda: ln.hull(LIST), OF_LIST),
    Held(
        "hull of two boxes",
        lambda: ln.hull(BOX, Box([0, 0], [3, 0.5])),
        _either(OF_BOX, lambda rng, n: rng.uniform([0, 0], [3, 0.5], (n, 2))),
    ),
    Held(
        "hull of list and cross",
        lambda: ln.hull(LIST, ln.Ball(2, order=1)),
        _either(OF_LIST, CROSS),
    ),
    Held("kronecker of lists", lambda: ln.kronecker(LIST, OTHER), _times(OF_LIST, OF_OTHER, 4)),
    Held("kronecker of list and box", lambda: ln.kronecker(LIST, BOX), _times(OF_LIST, OF_BOX, 4)),
    Held(
        "image of list and box",
        lambda: ln.image(TURN[:, :4], ln.product(LIST, BOX)),
        _under(_beside(OF_LIST, OF_BOX), TURN[:, :4]),
    ),
    Held(
        "scaled list and box",
        lambda: ln.image([1.0, 2.0, 3.0, 4.0], ln.product(LIST, BOX), [1, 0, 0, 1]),
        lambda rng, n: _beside(OF_LIST, OF_BOX)(rng, n) * [1.0, 2.0, 3.0, 4.0] + [1, 0, 0, 1],
    ),
    Held(
        "some columns of list and box",
        lambda: ln.projection(ln.product(LIST, BOX), [2, 3, 1]),
        lambda rng, n: _beside(OF_LIST, OF_BOX)(rng, n)[:, [2, 3, 1]],
    ),
    Held("image of tensors", lambda: ln.image(np.eye(4), SIGNS), OF_SIGNS),
    Held("tensors and box", lambda: ln.product(SIGNS, BOX), _beside(OF_SIGNS, OF_BOX)),
    Held(
        "kronecker of a cube and a disc",
        lambda: ln.kronecker(Box([-1, -1], [1, 1]), ln.Ball(2)),
        _times(lambda rng, n: rng.choice([-1.0, 1.0], (n, 2)), in_ball(2, 2.0), 4),
        slow=True,
    ),
    Held(
        "kronecker of round balls",
        lambda: ln.kronecker(ln.Ball(2, order=3), ln.Ball(3, 2.0, order=1.5)),
        _times(in_ball(2, 3.0), lambda rng, n: 2 * in_ball(3, 1.5)(rng, n), 6),
        slow=True,
    ),
    Held("products again", lambda: ln.hull(ln.product(LIST, BOX)), _beside(OF_LIST, OF_BOX)),
)
EVERY = (*combined(), *CORNERED)
every = pytest.mark.parametrize("held", EVERY, ids=lambda held: held.name)


@cache
def built(held: Held) -> AbstractDomain | None:
    """Return the domain; None where such a thing is refused."""
    try:
        return held.make()
    except LownoiseError:
        return None


def listed(domain: AbstractDomain) -> bool:
    """Return whether it holds its points alone."""
    return isinstance(domain, (Points, CubePower, BallPower))


def members(held: Held, domain: AbstractDomain, rng: np.random.Generator, count: int) -> Vector:
    """Return points drawn by the definition, mixed where the domain holds mixtures."""
    drawn = held.sample(rng, 3 * count + 3)
    if listed(domain):
        return drawn[rng.permutation(len(drawn))[:count]]
    chosen = rng.integers(0, len(drawn), (count, 4))
    return np.asarray(np.einsum("nk,nkd->nd", rng.dirichlet(np.ones(4), count), drawn[chosen]))


def digits(domain: AbstractDomain) -> Vector:
    """What rounding of its numbers is worth, of those far from zero in all coordinates."""
    far = np.abs(domain.center) + (domain.upper - domain.lower)
    width = domain.upper - domain.lower
    share = np.max(far[width > 0] / width[width > 0], initial=0.0)
    return 1e-8 * width + 2.0**-48 * (far + share * width)


def can_move(domain: AbstractDomain) -> bool:
    """Return whether it moves records: what would ask a user's program about them does not."""
    return bool(getattr(domain, "searchable", True))


@pytest.mark.grid(least=24)
@every
def test_mixtures_of_members_stay_and_are_contained(held: Held) -> None:
    domain = built(held)
    if domain is None or not can_move(domain):
        return
    points = members(held, domain, np.random.default_rng(31), 4 if held.slow else 12)
    assert np.all(np.abs(domain.clamp(points) - points) <= digits(domain))
    for point in points[:3]:
        assert domain.contains(domain.clamp(point) if listed(domain) else point)


@pytest.mark.grid(least=24)
@every
def test_a_record_outside_goes_to_what_is_near(held: Held) -> None:
    """It comes in, stays there, and no step further back toward the record is in the domain."""
    domain = built(held)
    if domain is None or not can_move(domain):
        return
    rng = np.random.default_rng(32)
    reach = (domain.upper - domain.lower) / 2
    for record in domain.center + BEYOND * reach * rng.uniform(
        -1, 1, (1 if held.slow else 3, domain.dimension)
    ):
        found = domain.clamp(record)
        assert domain.contains(found)
        assert np.all(np.abs(domain.clamp(found) - found) <= 1e4 * digits(domain))
        if listed(domain) or np.all(np.abs(record - found) <= 0.05 * reach):
            continue
        assert not domain.contains(found + 0.05 * (record - found))


CORNERS = {
    "list and box": (
        CORNERED[0].make,
        np.array([[*x, *y] for x in LIST.points for y in [[0, -1], [0, 2], [1, -1], [1, 2]]]),
    ),
    "sum of lists": (
        CORNERED[4].make,
        (LIST.points[:, None] + OTHER.points).reshape(-1, 2),
    ),
    "hull of a list": (lambda: ln.hull(Points(FEW)), FEW),
    "one of eight": (lambda: ln.hull(Points(np.eye(8))), np.eye(8)),
    "kronecker of lists": (
        CORNERED[9].make,
        np.array([np.kron(x, y) for x in LIST.points for y in OTHER.points]),
    ),
    "many": (
        lambda: ln.hull(Points(np.random.default_rng(5).normal(size=(700, 5)))),
        np.random.default_rng(5).normal(size=(700, 5)),
    ),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CORNERS)
def test_the_nearest_point_of_a_hull_is_the_nearest(name: str) -> None:
    """⟨x − p, v − p⟩ ≤ 0 at every corner v, each coordinate in parts of its reach."""
    make, corners = CORNERS[name]
    domain = make()
    reach = np.maximum(domain.upper - domain.center, domain.center - domain.lower)
    rng = np.random.default_rng(33)
    records = domain.center + BEYOND * reach * rng.uniform(-1, 1, (20, domain.dimension))
    moved = domain.clamp(records)
    for record, found in zip(records, moved, strict=True):
        assert np.max(((corners - found) / reach) @ ((record - found) / reach)) <= 1e-9
    alone = np.array([domain.clamp(record) for record in records])
    assert np.array_equal(alone, moved)  # no row is moved by those beside it


def test_four_tenths_beside_the_simplex_are_thirds() -> None:
    simplex = ln.hull(Points(np.eye(3)))
    np.testing.assert_allclose(simplex.clamp(np.full(3, 0.4)), np.full(3, 1 / 3), rtol=1e-12)
    beside = ln.product(Points(np.eye(3)), Box([0], [1]))
    np.testing.assert_allclose(beside.clamp(np.full(4, 0.4)), [1 / 3] * 3 + [0.4], rtol=1e-12)
    assert Points(np.eye(3)).clamp(np.array([0.3, 0.4, 0.3])).tolist() == [0, 1, 0]
    halves = ln.image(0.5 * np.eye(3), Points(np.eye(3)))  # of a list a list: it says what it is
    assert halves.clamp(np.array([0.15, 0.2, 0.15])).tolist() == [0, 0.5, 0]


ASKED = (*EVERY[: len(MEMBERS)], *CORNERED)


@pytest.mark.grid(least=24)
@pytest.mark.parametrize("held", ASKED, ids=lambda held: held.name)
def test_a_release_of_members_is_unbiased(held: Held) -> None:
    """Within 7 standard errors: under 2.6e-12 for each of 200 numbers by chance, 1e-9 for all.

    The noise is so small that 1e-3 of a width would be seen for certain, and a record that goes to
    a corner is farther off.
    """
    domain = built(held)
    assert domain is not None
    place = ASKED.index(held)
    relation = ("substitute", "add_remove")[place % 2]
    columns = [f"c{i}" for i in range(domain.dimension)]
    count = 40 if held.slow else 200
    plan = ln.plan(
        ln.Mean(columns, domain),
        budget=ln.zcdp(1e6),
        relation=relation,
        size=count if relation == "substitute" else None,
        rtol=0.1,
    )
    rows = members(held, domain, np.random.default_rng(34 + place), count)
    frame = pd.DataFrame(rows, columns=columns)
    release = execute(plan.terms, frame, None, randomness=SimulationRandomness(35 + place))
    truth = rows.mean(axis=0)
    if relation == "add_remove":
        truth = np.append((rows - plan.terms.question.center).sum(axis=0), count)
    width = np.append(domain.upper - domain.lower, 1.0)[: truth.size]
    error = plan.standard_deviation
    assert np.all(error <= 1e-4 * (1 if relation == "substitute" else count) * width + 1e-300)
    times = 1 if relation == "substitute" else count
    off = times * np.append(digits(domain), 0.0)[: truth.size]
    assert np.all(np.abs(release.estimate - truth) <= 7 * error + off)
    assert ln.verify(release.to_json(), domain=release.terms.view.program)
