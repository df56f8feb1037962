# SPDX-License-Identifier: Apache-2.0
"""Balls of matrices: closed forms against lists of matrices, records, releases, files and scale."""

import itertools
import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.certificate import SquaresDual
from lownoise.errors import DomainError
from lownoise.sets.bodies import ImageBody
from lownoise.sets.domains import Image, checked_image
from lownoise.sets.domains.nearest import turned
from lownoise.sets.unit_balls import CappedBall, NormBall, SortedBall, SpectralBall

RNG = np.random.default_rng(11)
ORDERS = (2.0, 3.0, math.inf)


def capped(rows, columns, cap):
    m = min(rows, columns)
    gauge = Image(np.ones(m), CappedBall(np.full(m, cap)), np.zeros(m))
    return ln.UnitarilyInvariantBall(rows, columns, gauge, radius=2.0)


# the greatest Euclidean length of a member, which is what Γ_p is in proportion to
KINDS = {
    "operator": (lambda r, c: ln.OperatorNormBall(r, c, 2.0), lambda m: 2 * math.sqrt(m)),
    "Schatten 4": (lambda r, c: ln.SchattenBall(r, c, 4, 2.0), lambda m: 2 * m**0.25),
    "Schatten 3": (lambda r, c: ln.SchattenBall(r, c, 3, 2.0), lambda m: 2 * m ** (1 / 6)),
    "Schatten 2": (lambda r, c: ln.SchattenBall(r, c, 2, 2.0), lambda _: 2.0),
    "Schatten 1.5": (lambda r, c: ln.SchattenBall(r, c, 1.5, 2.0), lambda _: 2.0),
    "nuclear": (lambda r, c: ln.SchattenBall(r, c, 1, 2.0), lambda _: 2.0),
    "Ky Fan 2": (lambda r, c: ln.KyFanBall(r, c, 2, 2.0), lambda m: 2 * max(1, math.sqrt(m) / 2)),
    "capped": (lambda r, c: capped(r, c, 0.6), lambda m: 2 * min(1, 0.6 * math.sqrt(m))),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def listed(kind):
    """Return 2 × 2 members that are enough to need all of the noise: turns of extreme ones."""
    angles = np.arange(8) * math.pi / 8
    turns = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in angles]
    flips = [t @ np.diag([1.0, -1.0]) for t in turns]
    found = []
    for values in itertools.product([-1.0, 0.0, 1.0], repeat=2):
        if any(values):
            found += [a @ np.diag(values) @ b for a, b in itertools.product(turns, flips)]
    points = np.array(found).reshape(-1, 4)
    domain = KINDS[kind][0](2, 2)
    return points * 2 / domain.base.norm_up(points)[:, None]


@pytest.mark.grid(least=3)
@every_kind
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 5), (6, 4)])
def test_the_ball_itself_has_its_closed_form(kind, order, rows, columns):
    make, length = KINDS[kind]
    certificate = ln.theory.enclose(make(rows, columns), order=order).certificate
    gamma = length(min(rows, columns)) * (rows * columns) ** (1 / order)
    assert certificate.gap < 1e-9
    assert certificate.lower <= gamma * (1 + 1e-12)
    assert certificate.upper >= gamma * (1 - 1e-12)
    assert certificate.verify()


@pytest.mark.grid
@every_kind
@pytest.mark.parametrize("order", ORDERS)
def test_the_closed_form_is_that_of_a_list_of_matrices(kind, order):
    """The general solver on points of the ball: it knows nothing of matrices."""
    _, length = KINDS[kind]
    found = ln.theory.enclose(ln.Points(listed(kind)), order=order).certificate
    assert found.lower == pytest.approx(length(2) * 4 ** (1 / order), rel=2e-6)


@pytest.mark.grid(3)
@every_kind
def test_images_hold_the_same_members_on_both_sides(kind):
    """A dense image: its bounds hold what a list of its members needs."""
    domain = KINDS[kind][0](2, 2)
    factor = RNG.normal(size=(3, 4))
    image = checked_image(factor, domain.base, np.zeros(3))
    for order in ORDERS if kind == "operator" else (2.0,):
        certificate = ln.theory.enclose(image, order=order).certificate
        inner = ln.theory.enclose(ln.Points(listed(kind) / 2 @ factor.T), order=order).certificate
        assert inner.lower <= certificate.upper * (1 + 1e-9)
        assert certificate.lower <= certificate.upper
        # the list has members near every extreme one
        assert certificate.lower <= inner.upper * 1.1
        assert certificate.verify()


@pytest.mark.parametrize("order", ORDERS)
def test_diagonal_images_of_contractions_are_exact(order):
    base = SpectralBall(3, 4, NormBall(3, math.inf))
    for scale in (0.3, 2.0):
        factor = np.exp(scale * RNG.normal(size=12))
        assert ln.theory.enclose(
            checked_image(factor, base, np.zeros(12)), order=order
        ).certificate.gap < (1e-4 if math.isinf(order) else 1e-6 if order > 2 else 1e-10)


@pytest.mark.grid(3)
@every_kind
def test_one_number_of_a_matrix_needs_its_support_alone(kind):
    base = KINDS[kind][0](3, 4).base
    factor = RNG.normal(size=(1, 12))
    certificate = ln.theory.enclose(checked_image(factor, base, [0.0])).certificate
    image = checked_image(factor, base, [0.0])
    assert certificate.upper == pytest.approx(image.support(np.ones(1)), rel=1e-9)
    assert certificate.gap < 1e-6


@pytest.mark.grid(3)
@every_kind
def test_records_are_moved_inside_and_members_stay(kind):
    domain = KINDS[kind][0](3, 4)
    points = RNG.normal(size=(50, 12)) * 10.0 ** RNG.integers(-3, 4, size=(50, 1))
    moved = domain.clamp(points)
    norms = domain.base.norm_up(moved / 2)
    assert np.all(norms <= 1 + 1e-12)
    outside = domain.base.norm_up(points / 2) > 1
    assert 5 < np.sum(outside) < 45
    assert np.all(np.abs(moved - points)[~outside] <= 1e-14)
    assert np.all(norms[outside] >= 1 - 1e-11)
    assert all(domain.contains(x) for x in moved)
    assert not any(domain.contains(x) for x in points[outside] * 1.001)
    # its place in a table does not matter
    assert np.array_equal(domain.clamp(points[::-1])[::-1], moved)
    assert np.array_equal(domain.clamp(points[7]), moved[7])


def test_a_center_may_be_a_matrix_or_its_rows_one_after_another():
    center = np.array([[5.0, 1.0], [0.0, -3.0]])
    for given in (center, center.ravel(), center.tolist()):
        domain = ln.OperatorNormBall(2, 2, radius=0.5, center=given)
        assert np.array_equal(domain.center, center.ravel())
        assert domain.support(np.array([1.0, 0, 0, 0])) == pytest.approx(5.5)


def far_codes(coding, domain):
    """Return the codes of rows from everywhere, a few beyond all bounds."""
    rows = RNG.normal(size=(60, domain.dimension)) * 10.0 ** RNG.integers(-2, 3, size=(60, 1))
    extreme = domain.extreme(RNG.normal(size=(200, domain.dimension)))
    nasty = np.full((1, domain.dimension), 1e300)
    nasty[0, 1] = -np.inf
    return coding.encode(np.vstack([rows, extreme, 1.001 * extreme, nasty]))


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", ["operator", "Schatten 3", "nuclear", "Ky Fan 2"])
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("mapped", [False, True])
def test_plans_release_and_verify(kind, relation, mapped):
    domain = KINDS[kind][0](2, 3)
    if mapped:
        factor = turned(domain.base, RNG.normal(size=(6, 6)))
        domain = checked_image(factor, domain.base, np.ones(6))
    names = [f"x{i}" for i in range(domain.dimension)]
    plan = ln.plan(
        ln.Mean(names, domain),
        budget=ln.zcdp(0.5),
        relation=relation,
        size=60 if relation == "substitute" else None,
    )
    assert plan.verify()
    mechanism = plan.terms.mechanism
    codes = far_codes(mechanism.totals.query.coding, domain).astype(np.float64)
    if relation == "substitute":
        change = codes[:, None] - codes[None]
        change = change.reshape(-1, change.shape[-1])
    else:
        change = np.column_stack([codes, np.full(len(codes), 1 / mechanism.totals.count_step)])
    white = mechanism.noise.shape.whitening.matrix
    reach = float(np.max(np.linalg.norm(change @ white.T, axis=1)))
    assert reach <= mechanism.loss.mu <= 1
    assert reach >= 0.75  # the noise is not far more than what these rows need
    table = pd.DataFrame(domain.extreme(RNG.normal(size=(60, domain.dimension))), columns=names)
    release = plan.release(table)
    truth = table.to_numpy().mean(axis=0)
    spread = release.standard_deviation
    if relation == "substitute":
        assert np.all(np.abs(release.estimate - truth) <= 8 * spread)
    again = ln.Release.from_json(release.to_json())
    assert np.array_equal(again.estimate, release.estimate)
    assert ln.verify(release.to_json())


def test_a_mean_of_contractions_needs_less_noise_than_its_frobenius_ball():
    names = [f"x{i}" for i in range(9)]
    errors = [
        ln.plan(ln.Mean(names, domain), budget=ln.zcdp(0.5), relation="substitute", size=100).error
        for domain in (
            ln.OperatorNormBall(3, 3),
            ln.SchattenBall(3, 3, 1),
            ln.Box([-1] * 9, [1] * 9),
        )
    ]
    assert errors[0] == pytest.approx(math.sqrt(3) * errors[1], rel=1e-6)
    assert errors[2] == pytest.approx(math.sqrt(3) * errors[0], rel=1e-6)


def test_maps_are_turned_without_a_change_of_the_set():
    for gauge in (NormBall(3, math.inf), NormBall(3, 3.0), SortedBall(np.array([1.0, 1.0, 0.0]))):
        base = SpectralBall(3, 4, gauge)
        for size in (1, 5, 20):
            factor = RNG.normal(size=(size, 12)) * 10.0 ** RNG.integers(-3, 3)
            found = turned(base, factor)
            directions = RNG.normal(size=(40, size))
            assert np.allclose(
                base.support_up(directions @ found), base.support_up(directions @ factor), rtol=1e-9
            )
            gram = (found.T @ found).reshape(3, 4, 3, 4)
            for trace in (np.einsum("ijkj->ik", gram), np.einsum("ijil->jl", gram)):
                off = trace - np.diag(np.diag(trace))
                assert np.max(np.abs(off)) <= 1e-12 * np.trace(trace)
            assert turned(base, found) is found


def test_what_is_turned_already_stays():
    base = SpectralBall(3, 4, NormBall(3, math.inf))
    for factor in (np.ones(12), np.arange(1.0, 13.0), np.eye(12), np.zeros((2, 12))):
        assert turned(base, factor) is factor
    other = RNG.normal(size=(3, 3))
    assert turned(NormBall(3, math.inf), other) is other


@pytest.mark.parametrize("order", ORDERS)
def test_turning_closes_gaps(order):
    base = SpectralBall(3, 4, NormBall(3, math.inf))
    rows = np.kron(np.eye(3), np.ones((1, 4)))
    columns = np.kron(np.ones((1, 3)), np.eye(4))
    known = {  # the sums of a contraction's rows: √4 times a point of the ball
        "row sums": (rows, 2 * 3 ** (1 / order)),
        "column sums": (columns, math.sqrt(3) * 4 ** (1 / order)),
        "one entry of a turn": (np.kron([[0.6, 0.8, 0.0]], [[0.5, 0.5, 0.5, 0.5]]), 1.0),
    }
    for factor, gamma in known.values():
        image = checked_image(turned(base, factor), base, np.zeros(len(factor)))
        certificate = ln.theory.enclose(image, order=order).certificate
        assert certificate.gap < 2e-6
        assert certificate.upper == pytest.approx(gamma, rel=2e-6)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ln.OperatorNormBall(0, 2), "rows=0"),
        (lambda: ln.OperatorNormBall(2, -1), "columns=-1"),
        (lambda: ln.OperatorNormBall(2.5, 2), "rows=2.5"),
        (lambda: ln.OperatorNormBall(2, columns=True), "columns=True"),
        (lambda: ln.OperatorNormBall(2, 2, radius=math.inf), "radius=inf"),
        (lambda: ln.OperatorNormBall(2, 2, radius=-1), "radius=-1"),
        (lambda: ln.OperatorNormBall(2, 2, radius=1e300), r"beyond 2\^250"),
        (lambda: ln.OperatorNormBall(2, 2, center=[1.0]), "1 coordinates for 4"),
        (lambda: ln.OperatorNormBall(2, 3, center=np.zeros((3, 2))), "give (2, 3)"),
        (lambda: ln.OperatorNormBall(2, 2, center=[[1.0, 2.0], [3.0]]), "shape"),
        (lambda: ln.OperatorNormBall(2, 2, center=[0, 0, 0, math.nan]), "not finite"),
        (lambda: ln.SchattenBall(2, 2, 0.5), "order=0.5"),
        (lambda: ln.SchattenBall(2, 2, math.nan), "order=nan"),
        (lambda: ln.SchattenBall(2, 2, "x"), "not a number"),
        (lambda: ln.KyFanBall(2, 3, 3), "at most 2"),
        (lambda: ln.KyFanBall(2, 3, 0), "largest=0"),
        (lambda: ln.UnitarilyInvariantBall(2, 3, 3.0), "gauge=float"),
        (lambda: ln.UnitarilyInvariantBall(2, 3, ln.Ball(3)), "3 coordinates for 2"),
        (lambda: ln.UnitarilyInvariantBall(2, 3, ln.Ball(2, center=[0, 1])), "about zero"),
        (lambda: ln.UnitarilyInvariantBall(2, 3, ln.Ellipsoid([1.0, 2.0])), "about zero"),
        (lambda: ln.UnitarilyInvariantBall(2, 3, ln.Zonotope([[1, 0], [0, 1]])), "about zero"),
    ],
)
def test_bad_input_is_one_clear_line(make, said):
    with pytest.raises(DomainError) as caught:
        make()
    assert said.replace("\\", "") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_evidence_with_signs_at_random_is_not_believed_beyond_the_truth():
    """⟨H, X⟩ over the nuclear ball is at most √n for a Hadamard matrix H; the matrix of ones, whose
    norm is n, would say 0.8·n if every change of its signs had that norm."""
    hadamard = np.ones((1, 1))
    for _ in range(3):
        hadamard = np.kron([[1.0, 1.0], [1.0, -1.0]], hadamard)
        n = len(hadamard)
        body = ImageBody(hadamard.reshape(1, -1), SpectralBall(n, n, NormBall(n, 1.0)))
        found = SquaresDual(np.ones(n * n), np.ones(1)).least(body, 2.0, np.ones(1))
        assert 0.2 * math.sqrt(n) <= found <= math.sqrt(n)


def test_radii_multiply_and_zero_is_a_point():
    ball = ln.UnitarilyInvariantBall(2, 2, ln.Ball(2, radius=3.0, order=math.inf), radius=2.0)
    assert ball.support(np.array([1.0, 0, 0, 1.0])) == pytest.approx(12.0)
    point = ln.OperatorNormBall(2, 2, radius=0.0, center=np.ones(4))
    assert ln.theory.enclose(point).certificate.upper == 0
    assert np.array_equal(point.clamp(np.full(4, 7.0)), np.ones(4))


def test_vectors_are_matrices_of_one_row():
    for domain in (ln.OperatorNormBall(1, 5, 2.0), ln.KyFanBall(5, 1, 1, 2.0)):
        assert domain.base == ln.Ball(5, 2.0).base


@pytest.mark.parametrize("order", ORDERS)
def test_large_matrices_take_no_square_of_their_entries(order):
    domain = ln.OperatorNormBall(64, 64)
    tracemalloc.start()
    found = ln.theory.enclose(domain, order=order)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4096**2 * 8 / 4  # bytes
    assert found.certificate.gap < 1e-9
    assert found.certificate.upper == pytest.approx(8 * 4096 ** (1 / order), rel=1e-9)
    assert found.shape.scale.shape == (4096,)
