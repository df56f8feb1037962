# SPDX-License-Identifier: Apache-2.0
"""A body of changes as the relation: its least noise, and that noise covers what codes do.

The oracle draws records, moves them by points of the body that keep them in their domain, and
looks at the integers that are summed. Mutants seen: no slack, one record's slack for two, half the
body, no opposite, no center, no thickness, the substitute body, a bound without its condition.
"""

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from edits import edited
from lownoise import report
from lownoise.engines import ClampingCoding, Coding, ListCoding, TotalsQuery
from lownoise.errors import DomainError, FileError, LownoiseError, PlanError, TableError
from lownoise.noise import AdditiveMechanism, GaussianNoise
from lownoise.noise.means import coding_for
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.sensitivity.relations import Change
from lownoise.sets.domains import AbstractDomain, Difference

SIZE = 1000
TILT = np.array([[1.0, 0.5], [-2.0, 0.25], [0.5, 1.0]])
RANDOM = np.random.default_rng(20)


def make(domain, relation, *, rho=0.5, size=SIZE, **more):
    question = ln.Mean([f"c{i}" for i in range(domain.dimension)], domain)
    return ln.plan(question, budget=ln.zcdp(rho), relation=relation, size=size, **more)


def vertices(body, count, rng):
    """Points of the hull of the body and its opposite, most of them extreme; shape (count, d)."""
    signs = rng.choice([-1.0, 1.0], size=(count, 1))
    if isinstance(body, ln.Points):
        found = body.points[rng.integers(len(body.points), size=count)]
    elif isinstance(body, ln.Box):
        low = rng.random((count, body.dimension)) < 0.5
        found = np.where(low, body.lower, body.upper)
    elif isinstance(body, Difference):
        points = body.base.points
        found = points[rng.integers(len(points), size=count)]
        found = found - points[rng.integers(len(points), size=count)]
    else:
        found = body.extreme(rng.normal(size=(count, body.dimension)))
    return signs * found


def inside(domain, rows):
    return np.all(np.abs(domain.clamp(rows) - rows) <= 1e-9, axis=1)


def neighbours(domain, body, count, seed):
    """Pairs of records in the domain that differ by a point of ±body, from all over and the rim."""
    rng = np.random.default_rng(seed)
    if isinstance(domain, ln.Points):
        n = len(domain.points)
        first, second = rng.integers(n, size=(2, count))
        x, y = domain.points[first], domain.points[second]
        held = body.symmetrized(np.arange(domain.dimension), np.ones(domain.dimension))
        frame = np.linalg.pinv(held.spanning.T) if not hasattr(held, "half_width") else None
        kept = []
        for i, s in enumerate(y - x):
            if frame is None:
                kept.append(np.all(np.abs(s) <= held.half_width))
            elif hasattr(held, "base"):
                z = np.linalg.lstsq(held.dense, s, rcond=None)[0]
                fits = np.allclose(held.dense @ z, s, atol=1e-12)
                kept.append(fits and held.base.norm_up(z[None])[0] <= 1)
            else:
                kept.append(any(np.array_equal(s, v) for v in (*held.points, *-held.points)))
            del i
        return x[kept], y[kept]
    low, high = domain.lower, domain.upper
    if isinstance(domain, ln.Box) or domain.diagonal or domain.factor.shape[1] <= 2:
        raw = rng.uniform(low - (high - low) / 2, high + (high - low) / 2, (count, low.size))
    else:  # where each look is a search
        count //= 20
        raw = domain.extreme(rng.normal(size=(count, low.size)))
        raw = domain.center + rng.random((count, 1)) ** 0.3 * (raw - domain.center)
    x = domain.clamp(raw)
    s = vertices(body, count, rng)
    # the farthest part of each change that stays in the domain
    part = np.ones((count, 1))
    for _ in range(6):
        part = np.where(inside(domain, x + part * s)[:, None], part, part * 0.6)
    kept = inside(domain, x + part * s)
    return x[kept], (x + part * s)[kept]


def coarse(plan, bits):
    """The plan's mechanism on a grid that many bits coarser: there a step matters."""
    own = plan.terms.mechanism
    step = own.totals.query.coding.step * 2.0**bits
    coding = coding_for(plan.terms.question, own.totals.coordinates, step)
    totals = dataclasses.replace(own.totals, query=TotalsQuery(coding, drops_missing=False))
    return AdditiveMechanism(totals, GaussianNoise(own.noise.shape.scaled(2.0**-bits)))


def lengths(noise, moves):
    return np.array([math.sqrt(noise.quadratic_form(m)) for m in moves])


SQUARE = ln.Box([0.0, -3.0], [2.0, 5.0])
CUBE = ln.Box([0.0, -3.0, 1.0], [4.0, 5.0, 7.0])
ZONE = ln.Zonotope([[1.0, 0.5], [-0.5, 2.0], [1.0, -1.0]], center=[0.3, 7.0])
SHEET = ln.Zonotope([[2.0, 0.0, 2.0], [0.0, 1.0, -1.0]], center=[1.0, 2.0, 3.0])
SHEET_BODY = ln.image([[0.5, 0.1], [0.0, 0.25], [0.5, -0.15]], ln.Ball(2))
GRID = ln.Points(np.stack(np.meshgrid(np.arange(7) / 3, np.arange(5) / 7), axis=-1).reshape(-1, 2))
SIMPLEX = ln.Points(np.eye(4))
EDGES = ln.Points([[1.0, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1], [1, 0, 0, -1], [1, 0, -1, 0]])
FLAT = ln.image(TILT, ln.Ball(2, radius=0.3))

CASES = {
    "ball in a box": (SQUARE, ln.Ball(2, radius=0.5)),
    "box in a box": (SQUARE, ln.Box([-0.5, -1.0], [0.5, 1.0])),
    "box off center in a box": (SQUARE, ln.Box([0.25, -1.0], [0.75, 1.0])),
    "cube of ℓ₁ in a box": (SQUARE, ln.Ball(2, radius=0.5, order=1)),
    "ellipsoid in a box": (SQUARE, ln.Ellipsoid([[0.5, 0.2], [0.3, 1.0]])),
    "ball off center in a box": (SQUARE, ln.Ball(2, radius=0.25, center=[0.25, 0.5])),
    "zonotope in a box": (SQUARE, ln.Zonotope([[0.2, 0.5], [0.4, -0.5]])),
    "a line in a box": (SQUARE, ln.Points([[0.5, -1.0]])),
    "differences in a box": (SQUARE, ln.difference_body(ln.Points([[0, 0], [0.5, 1], [1, 0]]))),
    "one column in a box": (SQUARE, ln.Box([0.0, -1.0], [0.0, 1.0])),
    "a tilted disc in a box": (CUBE, FLAT),
    "a tilted disc in a ball": (ln.Ball(3, radius=3, center=[1.0, 2.0, 30.0]), FLAT),
    "ball in a ball": (ln.Ball(2, radius=2, center=[1.0, -5.0]), ln.Ball(2, radius=0.5)),
    "box in a ball": (ln.Ball(2, radius=2, order=3), ln.Box([-0.3, -0.5], [0.3, 0.5])),
    "one column in a ball": (ln.Ball(2, radius=2), ln.Box([-0.5, 0.0], [0.5, 0.0])),
    "ball in an ellipsoid": (ln.Ellipsoid([[1.0, 0.9], [-0.4, 2.0]]), ln.Ball(2, radius=0.5)),
    "ball in a zonotope": (ZONE, ln.Ball(2, radius=0.7)),
    "points in a zonotope": (ZONE, ln.Points([[0.5, 0.5], [-1.0, 0.25]])),
    "a disc in its plane": (SHEET, SHEET_BODY),
    "ball on a grid": (GRID, ln.Ball(2, radius=0.5)),
    "box on a grid": (GRID, ln.Box([-0.7, -0.3], [0.7, 0.3])),
    "box on a grid with a constant": (
        ln.Points(np.hstack([GRID.points, np.full((len(GRID.points), 1), 5.0)])),
        ln.Box([-0.7, -0.3, 0.0], [0.7, 0.3, 0.0]),
    ),
    "edges of a simplex": (SIMPLEX, EDGES),
}


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("order", [2.0, math.inf])
@pytest.mark.parametrize("case", CASES)
def test_noise_covers_every_move_of_the_codes(case, order):
    domain, body = CASES[case]
    plan = make(domain, body, order=order)
    assert plan.verify()
    assert plan.cost.mu <= 1
    # how many bits make a step about a twentieth of the largest change
    own = plan.terms.mechanism
    widest = float(np.max(own.totals.changes.widths()))
    x, y = neighbours(domain, body, 1500, seed=1)
    assert len(x) >= 20
    for bits in (0, int(math.log2(widest)) - 4):
        mechanism = coarse(plan, bits)
        coding = mechanism.totals.query.coding
        moves = coding.encode(y) - coding.encode(x)
        assert np.all(np.abs(moves) <= mechanism.totals.changes.widths() * (1 + 1e-9))
        found = lengths(mechanism.noise.shape, moves.astype(np.float64))
        assert np.all(found <= mechanism.loss.mu * (1 + 1e-9))
        # and what is covered does happen, nearly: noise is not wasted
        if mechanism.loss.mu < 3:  # beyond, hardly any noise is left where the body is flat
            assert np.max(found) >= 0.3 * mechanism.loss.mu


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "case", ["ball in a box", "ellipsoid in a box", "ball in a ball", "ball in a zonotope"]
)
def test_the_slack_is_needed_and_so_is_all_of_the_body(case):
    """The same search finds moves beyond the body alone, and beyond half of it with the slack."""
    domain, body = CASES[case]
    plan = make(domain, body)
    own = plan.terms.mechanism
    mechanism = coarse(plan, int(math.log2(float(np.max(own.totals.changes.widths())))) - 2)
    step = mechanism.totals.query.coding.step
    x, y = neighbours(domain, body, 1500, seed=2)
    moves = (
        mechanism.totals.query.coding.encode(y) - mechanism.totals.query.coding.encode(x)
    ).astype(float)
    found = np.max(lengths(mechanism.noise.shape, moves))
    alone = Change(body).changes(np.arange(domain.dimension), step)
    assert found > alone.radius_up(mechanism.noise.shape)
    half = ln.image(np.full(domain.dimension, 0.5), body)
    totals = dataclasses.replace(mechanism.totals, relation=Change(half))
    less = AdditiveMechanism(totals, mechanism.noise)
    assert found > less.loss.mu


def test_codes_leave_the_plane_of_the_changes_and_the_noise_knows():
    domain, body = CASES["a tilted disc in a box"]
    mechanism = coarse(make(domain, body), 40)
    x, y = neighbours(domain, body, 500, seed=3)
    moves = mechanism.totals.query.coding.encode(y) - mechanism.totals.query.coding.encode(x)
    normal = np.linalg.svd(TILT)[0][:, 2]
    assert np.max(np.abs(moves @ normal)) > 0.5  # in steps: the plane itself has 0
    assert mechanism.noise.shape.rank == 3
    assert math.isfinite(mechanism.loss.mu)


def test_a_coordinate_that_never_changes_is_clamped_to_other_digits_and_the_noise_knows():
    domain, body = CASES["one column in a ball"]
    mechanism = make(domain, body).terms.mechanism
    rng = np.random.default_rng(5)
    rim = domain.extreme(rng.normal(size=(2000, 2)))
    rim = rim[np.abs(rim[:, 0]) >= 0.25]
    inner = rim - np.sign(rim[:, :1]) * [0.25, 0.0]
    coding = mechanism.totals.query.coding
    moves = np.abs(coding.encode(rim) - coding.encode(inner))[:, 1]
    assert 0 < np.max(moves) <= mechanism.totals.changes.widths()[1]


def exact_offset(coding, rows):
    """max |code − (x − center)/step| in fractions, over rows x of the domain."""
    codes = coding.encode(rows)
    pivots = getattr(coding, "pivots", np.arange(rows.shape[1]))
    return [
        max(
            abs(
                int(codes[i, k])
                - (Fraction(rows[i, j]) - Fraction(coding.center[j])) / Fraction(coding.step[k])
            )
            for i in range(len(rows))
        )
        for k, j in enumerate(pivots)
    ]


@pytest.mark.grid(3)
@pytest.mark.parametrize("bits", [3, 10, 40, 50])
@pytest.mark.parametrize("kind", [Coding, ListCoding])
def test_codes_of_boxes_and_lists_are_within_their_slack_exactly(kind, bits):
    rng = np.random.default_rng(7)
    rows = rng.uniform([-1.0, 99.0], [1.0, 100.0], (500, 2))
    rows[:4] = [[-1.0, 99.0], [1.0, 100.0], [-1.0, 100.0], [1.0, 99.0]]
    step = np.full(2, 2.0 ** (1 - bits))
    most = Fraction(0)
    for middle in rng.uniform(-1, 1, 8) / 7:
        center = np.array([middle, 99.7])
        more = {"columns": ("a", "b"), "center": center, "missing": center, "step": step}
        if kind is Coding:
            low, high = np.array([-1.0, 99.0]), np.array([1.0, 100.0])
            coding = Coding(lower=low, upper=high, **more)
        else:
            coding = ListCoding(domain=ln.Points(rows), pivots=np.arange(2), **more)
        off = exact_offset(coding, rows)
        assert all(o <= Fraction(s) for o, s in zip(off, coding.slack, strict=True))
        most = max(most, *off)
    assert most > 0.5 if bits == 50 else most > 0.49  # up there half a step is too little


def test_what_has_one_value_has_no_slack():
    coding = make(
        ln.Box([0, 3], [1, 3]), ln.Box([-0.5, 0], [0.5, 0])
    ).terms.mechanism.totals.query.coding
    assert coding.slack[0] >= 0.5
    assert coding.slack[1] == 0


@pytest.mark.parametrize("d", [1, 3, 50])
def test_a_ball_has_its_closed_form(d):
    """Γ_p of a ball of radius r is r·d^{1/p}; no difference body is formed, so no factor 2."""
    domain = ln.Box(np.zeros(d), np.full(d, 9.0))
    for order in (2.0, 4.0, math.inf):
        plan = make(domain, ln.Ball(d, radius=0.5), order=order, rho=0.02)
        expected = 0.5 * d ** (1 / order) / (SIZE * math.sqrt(2 * 0.02))
        assert plan.objective == pytest.approx(expected, rel=1e-9)
        assert plan.certificate.gap < 1e-6


@pytest.mark.grid
@pytest.mark.parametrize("case", CASES)
def test_the_noise_is_the_least_around_the_body_and_its_opposite(case):
    """Against `ln.theory.enclose` of ±body, whose ellipsoid is about 0, on a path of its own."""
    domain, body = CASES[case]
    plan = make(domain, body)
    d = domain.dimension
    if isinstance(body, ln.Points):
        hull = ln.Points(np.vstack([body.points, -body.points]))
    elif isinstance(body, ln.Box):
        corners = np.stack(np.meshgrid(*zip(body.lower, body.upper, strict=True)), -1)
        hull = ln.Points(np.vstack([corners.reshape(-1, d), -corners.reshape(-1, d)]))
    elif hasattr(body, "base") and hasattr(body, "center") and np.any(body.center):
        hull = ln.hull(ln.Points(vertices(body, 4000, RANDOM)))
    else:
        hull = body
    least = ln.theory.enclose(hull).certificate
    # points of a smooth body make a slightly smaller hull than the body
    smooth = case == "ball off center in a box"
    assert plan.objective * SIZE >= least.lower * (1 - 1e-9)
    assert plan.objective * SIZE <= least.upper * (1 + (1e-4 if smooth else 2e-6))
    assert plan.certificate.gap < 2e-6


@pytest.mark.grid
@pytest.mark.parametrize("case", CASES)
def test_half_the_body_is_half_the_noise(case):
    domain, body = CASES[case]
    if isinstance(domain, ln.Points) and isinstance(body, ln.Points):
        half = ln.Points(body.points / 2)
    else:
        half = ln.image(np.full(domain.dimension, 0.5), body)
    whole, less = make(domain, body), make(domain, half)
    assert less.objective == pytest.approx(whole.objective / 2, rel=1e-6)


def test_the_difference_body_of_the_domain_is_substitute():
    for domain in (SQUARE, ZONE, GRID, ln.Ball(2, radius=2)):
        plan = make(domain, ln.difference_body(domain))
        other = make(domain, "substitute")
        assert plan.error == pytest.approx(other.error, rel=1e-6)
        # the same neighbours, but the bound for a body does not know that a third table is near
        assert plan.lower_bound <= other.lower_bound


def test_a_coordinate_that_never_changes_gets_next_to_no_noise():
    for domain in (SQUARE, ln.Ball(2, radius=2)):
        plan = make(domain, ln.Box([-0.5, 0.0], [0.5, 0.0]))
        assert plan.standard_deviation[1] * SIZE <= 1e-4 * plan.standard_deviation[0] * SIZE
        assert plan.certificate.gap < 1e-6


@pytest.mark.parametrize("rho", [1e-4, 0.5, 3.0])
def test_the_lower_bound_is_that_of_two_neighbours(rho):
    plan = make(ln.Box(np.zeros(3), np.full(3, 9.0)), ln.Ball(3, radius=0.5), rho=rho)
    expected = 0.5 * math.sqrt(3) / (SIZE * math.sqrt(math.expm1(2 * rho)))
    assert expected * (1 - 1e-6) <= plan.lower_bound <= expected
    assert plan.lower_bound < plan.error
    if rho < 0.01:  # one Gaussian is as good as anything
        assert plan.error < 1.001 * plan.lower_bound


def test_the_bound_holds_for_a_mechanism_that_is_not_gaussian_noise_of_this_shape():
    """One bit: X and X + s only. Noise of the least shape for a smaller body breaks the bound."""
    plan = make(ln.Box([0.0], [9.0]), ln.Box([-1.0], [1.0]), rho=0.01)
    smaller = make(ln.Box([0.0], [9.0]), ln.Box([-0.9], [0.9]), rho=0.01)
    assert smaller.error < plan.lower_bound  # power: a tenth less is seen


@pytest.mark.parametrize(
    ("domain", "body", "room"),
    [
        (ln.Box([0.0, 0.0], [1.0, 1.0]), ln.Ball(2, radius=1.5), False),
        (ln.Box([0.0, 0.0], [1.0, 1.0]), ln.Ball(2, radius=0.6), False),
        (ln.Box([0.0, 0.0], [1.0, 1.0]), ln.Ball(2, radius=0.5), True),
        (ln.Box([0.0], [1.0]), ln.Ball(1), True),  # from either end
        (ln.Box([0.0], [1.0]), ln.Ball(1, radius=1.1), False),
        (SIMPLEX, EDGES, False),  # no corner has them all
        (SIMPLEX, ln.Points(EDGES.points[[0, 3, 4]]), True),
        (GRID, ln.Ball(2, radius=0.5), False),  # a list has no disc in it
    ],
)
def test_where_no_record_has_room_the_bound_is_nothing(domain, body, room):
    plan = make(domain, body)
    assert (plan.lower_bound > 0) == room
    assert plan.verify()


def test_what_is_promised_is_said():
    plan = make(SQUARE, ln.Ball(2, radius=0.5))
    said = " ".join(plan.terms.assumptions)
    assert "changes, once moved into its domain, by a point of a given body or its opposite" in said
    assert "row that every change of the body, or its opposite, keeps inside the domain" in said
    assert "1,000, is public" in said
    assert plan.names == ("c0", "c1")
    assert "any other value" in " ".join(make(SQUARE, "substitute").terms.assumptions)


@pytest.mark.grid
@pytest.mark.parametrize("case", CASES)
def test_a_file_says_it_all(case):
    domain, body = CASES[case]
    plan = make(domain, body, order=3.0)
    again = ln.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    assert again.cost.mu == plan.cost.mu
    assert ln.verify(plan.to_json())
    assert isinstance(json.loads(plan.to_json())["terms"]["relation"]["change"], dict)


EDITS = {
    "wider": {"change": {"lower": [-0.6, -1.0], "upper": [0.6, 1.0]}},
    "longer": {"change": {"lower": [-0.5, -1.0, 0], "upper": [0.5, 1.0, 0]}},
    "shorter": {"change": {"lower": [-0.5], "upper": [0.5]}},
    "substitute": "substitute",
    "unknown": "swap",
    "add_remove": "add_remove",
    "empty": {},
    "of no kind": {"change": {"sphere": 1}},
    "no word": 3,
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_relation_is_noticed(edit):
    plan = make(SQUARE, ln.Box([-0.5, -1.0], [0.5, 1.0]))
    text = edited(plan, lambda terms: terms.update(relation=EDITS[edit]))
    assert not ln.verify(text)
    with pytest.raises(FileError):
        ln.Plan.from_json(text)


def test_a_narrower_relation_is_noticed_by_what_it_proves():
    plan = make(SQUARE, ln.Box([-0.5, -1.0], [0.5, 1.0]))
    less = {"change": {"lower": [-0.4, -1.0], "upper": [0.4, 1.0]}}
    text = edited(plan, lambda terms: terms.update(relation=less))
    failed = {check.name for check in ln.verify(text).checks if not check.holds}
    assert {"unedited", "cost as stated", "certificate as stated"} <= failed


def test_a_release_and_its_page(tmp_path):
    names = ["<b>age</b>", "pay"]
    question = ln.Mean(names, SQUARE)
    plan = ln.plan(
        question, budget=ln.zcdp(0.5), relation=ln.Ellipsoid([[0.5, 0.2], [0.3, 1.0]]), size=50
    )
    frame = pd.DataFrame(np.random.default_rng(4).uniform(0, 1, (50, 2)), columns=names)
    ledger = ln.Ledger.create(tmp_path / "account", "people", ln.zcdp(1))
    release = execute(plan.terms, frame, ledger, randomness=SimulationRandomness(1))
    # a spend that hides less than a row says so where spends are added up
    assert ledger.entries()[-1].note.startswith("changes in a body: mean of ")
    exact = frame.to_numpy().mean(axis=0)
    # 1e-6 of two-sided error of the first kind, the seed being fixed
    assert np.all(np.abs(release.estimate - exact) <= 4.9 * release.standard_deviation)
    assert release.region(1 - 1e-6).contains(exact)
    assert np.array_equal(release.mean, release.estimate)
    release.save(tmp_path / "release.json")
    assert ln.Release.from_json((tmp_path / "release.json").read_text()).integers
    assert ln.verify((tmp_path / "release.json").read_text())
    for subject in (plan.terms, release):
        page = report.render_html(report.sections(subject))
        assert "a given body of changes, up to 0.5" in page
        assert "&lt;b&gt;age" in page
        assert "<b>age" not in page
        assert "with a row that has room in its domain for every change" in page
    many = make(ln.Ball(6), ln.Ball(6, radius=0.1))
    assert "in c3 and so on in 2 more" in report.render_html(report.sections(many))
    with pytest.raises(TableError, match="size=50 is not the number of rows"):
        plan.release(frame.iloc[:49])


@pytest.mark.parametrize(
    ("domain", "relation", "more", "said"),
    [
        (SQUARE, ln.Ball(3), {}, "body of 3 coordinates for records of 2"),
        (SQUARE, ln.Ball(2, radius=0), {}, "no width"),
        (SQUARE, ln.Points([[0.0, 0.0]]), {}, "no width"),
        (SQUARE, 0.5, {}, "relation=float is unknown; give one of substitute"),
        (SQUARE, np.ones(2), {}, "relation=ndarray is unknown"),
        (SQUARE, None, {}, "relation=None is unknown"),
        (SQUARE, ln.Ball(2), {"size": None}, "size=None is no public number"),
        (SIMPLEX, ln.Ball(4), {}, "keep to a flat"),
        (SHEET, ln.Ball(3), {}, "keep to a flat"),
        (SHEET, ln.Points([[0.0, 0.0, 1.0]]), {}, "changes coordinate"),
        (ln.Box([0, 3], [1, 3]), ln.Ball(2), {}, "changes coordinate 1 as"),
        (ln.Ball(2, radius=0), ln.Ball(2), {}, "changes coordinate 0 as"),
        (ln.Box([0], [1e12]), ln.Ball(1, radius=1e-3), {}, "too small beside the domain for 1,000"),
    ],
)
def test_refuses(domain, relation, more, said):
    with pytest.raises(PlanError, match=said) as refusal:
        make(domain, relation, **more)
    assert "\n" not in str(refusal.value)


def test_refuses_a_kind_of_body_that_it_does_not_know():
    class Odd(AbstractDomain):
        dimension, center = 2, np.zeros(2)

        def support(self, direction):
            return 1.0

        def contains(self, point):
            return True

        def clip_rows(self, rows):
            return rows

    with pytest.raises(DomainError, match="relation=Odd has no known hull"):
        make(SQUARE, Odd())


def test_dropping_rows_is_refused_with_a_public_size():
    question = ln.Mean(["a"], ln.Box([0], [1]), missing="drop")
    with pytest.raises(PlanError, match="drop"):
        ln.plan(question, budget=ln.zcdp(1), relation=ln.Ball(1, radius=0.1), size=9)


def test_a_body_far_from_zero_is_a_body_of_far_changes():
    """±(c + F·B): a small ball far away is nearly the segment from −c to c."""
    plan = make(ln.Box([0, 0], [99, 99]), ln.Ball(2, radius=1e-3, center=[3.0, 4.0]))
    assert plan.objective * SIZE == pytest.approx(5.0, rel=1e-3)
    assert plan.objective * SIZE > 5.0


@pytest.mark.parametrize("radius", [1e-60, 1e60])
def test_any_unit_will_do(radius):
    plan = make(ln.Box([0, 0], [9 * radius] * 2), ln.Ball(2, radius=radius), size=10)
    assert plan.objective / radius == pytest.approx(math.sqrt(2) / 10, rel=1e-9)


def test_many_columns_need_no_matrix():
    d = 200_000  # of which a matrix would have 320 GB
    box = ln.Box(np.full(d, -2.0), np.full(d, 2.0))
    question = ln.Mean([f"c{i}" for i in range(d)], box)
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation=ln.Ball(d, radius=1), size=100)
    assert plan.error == pytest.approx(math.sqrt(d) / 100, rel=1e-6)


def test_a_clamping_domain_that_cannot_be_a_body_still_takes_one():
    coding = make(ln.Ball(2, radius=2), ln.Ball(2)).terms.mechanism.totals.query.coding
    assert isinstance(coding, ClampingCoding)
    assert issubclass(PlanError, LownoiseError)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ([-1.0, -1.0], [0.5, 0.5]),
        ([-0.5, -1.0], [1.0, 0.5]),
        ([0.25, 0.5], [1.0, 2.0]),
        ([-1.0, -2.0], [1.0, 2.0]),
    ],
)
def test_a_box_of_changes_costs_what_its_farthest_corner_does(lower, upper):
    """Whatever of it lies opposite: the corners in the noise that is stated, by hand."""
    plan = make(ln.Box([0, 0], [9, 9]), ln.Box(lower, upper))
    sums = plan.covariance * plan.terms.size**2
    corners = [np.array([a, b]) for a in (lower[0], upper[0]) for b in (lower[1], upper[1])]
    reached = max(math.sqrt(s @ np.linalg.solve(sums, s)) for s in corners)
    assert reached <= plan.cost.mu * (1 + 1e-9)
    assert reached >= plan.cost.mu * (1 - 1e-4)
