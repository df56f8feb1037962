# SPDX-License-Identifier: Apache-2.0
"""Plans under a pure budget: what is compared, what is promised, what is refused."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import lownoise as ln
from lownoise.errors import BudgetError, LownoiseError, PlanError
from lownoise.numbers.packing import packed
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning.pure_levels import recursive
from lownoise.planning.pure_noise import Setting
from lownoise.release import codec
from lownoise.release.guarantees import allowed
from pure.documents import NAMES

ONE = ln.pure_dp(1.0)
RNG = np.random.default_rng(11)


def names(d):
    """Return d names of columns."""
    return [f"c{i}" for i in range(d)]


def means(domain, **request):
    """Plan the means of records in a domain."""
    request = {"budget": ONE, "relation": "substitute", "size": 50, **request}
    if request["relation"] == "add_remove":
        request.pop("size")
    return ln.plan(ln.Mean(names(domain.dimension), domain), **request)


def counts(matrix, **request):
    """Plan linear queries of as many records as the matrix has columns."""
    request = {"budget": ONE, "relation": "add_remove", **request}
    extra = {} if request["relation"] == "add_remove" else {"outside": {"x": 0}}
    return ln.plan(ln.Queries(matrix, {"x": np.shape(matrix)[1]}, **extra), **request)


SIGNS = RNG.choice([-1.0, 1.0], (4, 24))
LONG = np.linalg.qr(RNG.normal(size=(4, 4)))[0] @ (SIGNS / np.array([[1], [16], [16], [16]]))
PLANS = {
    "box": lambda: means(ln.Box([0, 0, 0], [1, 10, 100])),
    "box that comes and goes": lambda: means(ln.Box([0, 2], [1, 3]), relation="add_remove"),
    "column without width": lambda: means(ln.Box([0, 1, 0], [1, 1, 2])),
    "points": lambda: means(ln.Points([[0, 0], [1, 0], [0, 3], [2, 2]])),
    "one-hot": lambda: means(ln.Points(np.eye(4))),
    "ball": lambda: means(ln.Ball(5), relation="add_remove"),
    "l1": lambda: means(ln.Ball(5, order=1)),
    "l3": lambda: means(ln.Ball(3, order=3)),
    "zonotope": lambda: means(ln.Zonotope(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]))),
    "program of matrices": lambda: means(ln.OperatorNormBall(2, 2)),
    "product": lambda: means(ln.product(ln.Ball(2), ln.Points([[0.0], [1.0], [7.0]]))),
    "tensor": lambda: means(ln.TensorPower(3, 2)),
    "body of changes": lambda: means(ln.Box([0, 0], [9, 9]), relation=ln.Ball(2, radius=0.5)),
    "signs": lambda: counts(SIGNS),
    "long": lambda: counts(LONG),
    "counts of a public size": lambda: counts(np.eye(4), relation="substitute", size=30),
    "prefixes": lambda: counts(np.tril(np.ones((6, 6)))),
    "three people": lambda: counts(np.eye(2), relation="substitute", size=3),
}


@pytest.fixture(scope="module")
def plans():
    """Return every plan, made once."""
    return {name: make() for name, make in PLANS.items()}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", PLANS)
def test_the_best_of_those_available_is_taken(plans, name):
    """Errors rise down the comparison; what is not available says why; no cost exceeds ε."""
    plan = plans[name]
    errors = [own.error for own in plan.comparison if own.error is not None]
    assert errors == pytest.approx(sorted(errors), rel=1e-8)
    assert plan.error == pytest.approx(errors[0], rel=1e-8)
    assert all(own.note and "\n" not in own.note for own in plan.comparison)
    assert {own.mechanism for own in plan.comparison} <= set(NAMES)
    assert 0.999999 <= plan.cost.epsilon <= 1.0
    assert plan.cost.delta == 0
    assert plan.guarantee == "1-DP, pure"


@pytest.mark.grid
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_reads_back_as_it_was(plans, name):
    """Its file says everything, and what follows is computed again."""
    text = plans[name].to_json()
    again = type(plans[name]).from_json(text)
    assert again.to_json() == text
    assert again.cost == plans[name].cost


@pytest.mark.parametrize("name", PLANS)
def test_no_error_is_below_what_none_can_beat(plans, name):
    """Every mechanism of the comparison errs more than the lower bound."""
    plan = plans[name]
    assert 0 <= plan.lower_bound <= plan.error
    if name not in ("tensor", "body of changes", "product"):
        assert plan.lower_bound > 0


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("mechanism", ["k_norm", "ellipsoid", "recursive", "laplace"])
def test_deviations_are_those_of_the_noise(plans, name, mechanism):
    """Within 8 standard errors of 20,000 simulated releases, so × 0.9 and × 1.1 are rejected."""
    plan = plans[name]
    if any(own.mechanism == mechanism and own.error is None for own in plan.comparison):
        return
    chosen = _again(name, mechanism)
    noise = chosen.terms.mechanism.simulate(20_000, SimulationRandomness(12))
    own = chosen.standard_deviation
    moving = own > 0
    ratios = np.sqrt(np.mean(noise[:, moving] ** 2, axis=0)) / own[moving]
    assert np.all(np.abs(ratios - 1) < 8 * math.sqrt(5 / 4 / 20_000))
    assert np.all(noise[:, ~moving] == 0)
    ratio = isinstance(chosen.terms.question, ln.Mean) and chosen.terms.size is None
    errors = of_worst_means(chosen) if ratio else own
    assert chosen.error == pytest.approx(np.linalg.norm(chosen.terms.weights * errors))
    stated = np.sqrt(np.diag(chosen.covariance))
    assert np.allclose(stated, own, rtol=1e-9)


def of_worst_means(plan):
    """How sums about each end of each column's bounds stray, the worse of the two ends."""
    question, every = plan.terms.question, plan.covariance
    ends = np.stack([question.domain.lower, question.domain.upper]) - question.center
    own, mixed, count = np.diag(every)[:-1], every[:-1, -1], every[-1, -1]
    return np.sqrt(np.max(own - 2 * ends * mixed + ends**2 * count, axis=0))


def _again(name, mechanism):
    """Return the same plan with a mechanism that was named."""
    real, asked = ln.plan, {}

    def named(question, **request):
        asked["plan"] = real(question, **request, mechanism=mechanism)
        return asked["plan"]

    ln.plan = named
    try:
        return PLANS[name]()
    finally:
        ln.plan = real


def test_for_one_number_k_norm_is_laplace():
    """And no mechanism errs much less: the bound is geometric noise's."""
    for name in ("laplace", "k_norm"):
        plan = means(ln.Box([0], [9]), relation="substitute", size=1, mechanism=name)
        assert plan.error == pytest.approx(9 * math.sqrt(2))
    sums = means(ln.Box([0], [9]), relation="add_remove", budget=ln.pure_dp(0.01))
    alone = math.sqrt(2) * 4.5 / 0.01
    assert sums.lower_bound > alone * (1 - 1e-4)


def test_closed_forms():
    """Norm of a cube, of a ball, of a cross-polytope; Laplace with the best split."""
    d, epsilon = 6, 0.5
    cube = means(ln.Box([0] * d, [1] * d), size=1, budget=ln.pure_dp(epsilon), mechanism="k_norm")
    assert cube.error == pytest.approx(math.sqrt((d + 1) * (d + 2) * d / 3) / epsilon)
    ball = means(ln.Ball(d), size=1, budget=ln.pure_dp(epsilon), mechanism="k_norm")
    assert ball.error == pytest.approx(2 * math.sqrt((d + 1) * d) / epsilon)
    cross = means(ln.Ball(d, order=1), size=1, budget=ln.pure_dp(epsilon))
    assert cross.mechanism == "laplace"
    assert cross.error == pytest.approx(2 * math.sqrt(2 * d) / epsilon)
    widths = np.array([1.0, 8.0, 27.0])
    split = means(ln.Box([0] * 3, widths), size=1, mechanism="laplace")
    # Σ wᵢ/bᵢ = 1 with bᵢ = wᵢ^{1/3}·Σ wⱼ^{2/3}
    scales = np.cbrt(widths) * np.sum(np.cbrt(widths) ** 2)
    assert np.allclose(split.standard_deviation, math.sqrt(2) * scales, rtol=1e-6)


@pytest.mark.parametrize(("relation", "moved"), [("add_remove", 1), ("substitute", 2)])
def test_noise_on_the_histogram_hides_what_one_record_moves(relation, moved):
    """One count changes by 1, or two of them by 1 each: scales of 1/ε or 2/ε, and no less."""
    size = {"size": 9} if relation == "substitute" else {}
    plan = counts(np.eye(4), relation=relation, mechanism="laplace_histogram", **size)
    assert np.allclose(plan.standard_deviation, math.sqrt(2) * moved, rtol=1e-9)
    grid, noise = plan.terms.mechanism.totals, plan.terms.mechanism.noise
    changes = np.eye(4)[:moved] * [[1], [-1]][:moved]
    cost = np.sum(np.abs(changes.sum(axis=0)) / grid.step / noise.scales)
    assert cost == pytest.approx(plan.cost.epsilon, rel=1e-9)


def test_laplace_splits_epsilon_over_a_list_as_a_general_optimiser_does():
    """Σ bᵢ² under Σ|sᵢ|/bᵢ ≤ 1 for all changes, against scipy's SLSQP from several starts."""
    from scipy.optimize import minimize

    points = np.array([[4.0, 1.0, 0.0], [0.0, 3.0, 3.0], [1.0, 1.0, 9.0], [2.0, 0.0, 1.0]])
    plan = counts(points.T, mechanism="laplace")
    found = [
        minimize(
            lambda t: np.sum(1 / t**2),
            start,
            constraints={"type": "ineq", "fun": lambda t: 1 - points @ t},
            bounds=[(1e-4, None)] * 3,
            options={"ftol": 1e-14},
        ).x
        for start in ([0.05] * 3, [0.1, 0.01, 0.05])
    ]
    best = min(np.sum(1 / t**2) * np.max(points @ t) ** 2 for t in found)
    assert plan.error == pytest.approx(math.sqrt(2 * best), rel=2e-5)


@pytest.mark.parametrize("order", [3.0, math.inf])
@pytest.mark.parametrize("mechanism", ["laplace", "recursive"])
def test_epsilon_is_split_for_the_order_of_the_error(mechanism, order):
    """No split nearby has less ‖std‖_p; the one that is best at p = 2 errs up to 15 % more."""
    points = np.array([[4.0, 1.0, 0.0], [0.0, 3.0, 3.0], [1.0, 1.0, 9.0], [2.0, 0.0, 1.0]])
    plan = counts(points.T, mechanism=mechanism, order=order)
    own, unit = plan.terms.mechanism.noise, plan.terms.mechanism.totals.unit
    if mechanism == "laplace":
        changes, parts = points / unit, np.diag(2 * unit**2)

        def made(factors):
            return own.scales * factors

    else:
        firsts = [*(level.dimension for level in own.levels[1:]), 0]
        rows = unit[:, None] * np.linalg.inv(own.rows)
        ends = [level.dimension for level in own.levels]
        changes = np.ones((1, len(ends)))
        inner = [
            rows[:, i:j] @ kept @ rows[:, i:j].T / level.scale**2
            for i, j, kept, level in zip(firsts, ends, own.kept, own.levels, strict=True)
        ]
        parts = np.array([np.diag(one) for one in inner]).T

        def made(factors):
            return np.array([level.scale for level in own.levels]) * factors

    def error(factors):
        scales = made(factors)
        most = np.max(changes @ (1 / scales))
        return np.linalg.norm(np.sqrt(parts @ scales**2), order) * most

    least = error(np.ones(parts.shape[1]))
    assert least == pytest.approx(plan.terms.compared, rel=1e-6)  # at ε = 1
    steps = np.random.default_rng(3).normal(size=(300, parts.shape[1]))
    for far in (0.3, 0.03):
        assert min(error(np.exp(far * step)) for step in steps) > least * (1 - 1e-3)


def test_the_recursion_wins_where_the_body_is_far_from_round():
    """The source's example (section 7), and its split beats an even one."""
    plan = counts(LONG)
    errors = {own.mechanism: own.error for own in plan.comparison}
    assert plan.mechanism == "recursive"
    assert errors["recursive"] < 0.8 * min(errors["k_norm"], errors["laplace"])
    noise = plan.terms.mechanism.noise
    squares = np.array(
        [
            np.trace(kept) / level.scale**2
            for kept, level in zip(noise.kept, noise.levels, strict=True)
        ]
    )
    scales = np.array([level.scale for level in noise.levels])
    shares = (1 / scales) / np.sum(1 / scales)
    assert np.sum(squares / shares**2) < 0.9 * np.sum(squares * len(shares) ** 2)


@pytest.mark.parametrize("kinds", [33, 129])
def test_levels_that_cannot_be_had_leave_the_others(kinds):
    """Half of the dimensions would be a hull of hundreds of differences; few are soon cut up."""
    names = [f"c{i}" for i in range(kinds)]
    question = ln.Mean(names, ln.Points(np.eye(kinds)))
    plan = ln.plan(question, budget=ln.pure_dp(1.0), relation="substitute", size=1)
    rows = {own.mechanism: own for own in plan.comparison}
    assert rows["recursive"].error < 0.95 * rows["laplace"].error
    noise = rows["recursive"].terms.mechanism.noise
    assert noise.levels[1].dimension <= 7


def signed(count, d):
    """The hull of so many vectors of random signs and their opposites."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(d, count))
    return ln.image(signs, ln.Ball(count, order=1))


def test_what_takes_long_to_draw_is_taken_only_if_it_is_named(monkeypatch):
    quick = means(signed(18, 16))
    assert (quick.mechanism, quick.guarantee) == ("k_norm", "1-DP, pure")
    rows = {own.mechanism: own for own in quick.comparison}
    assert quick.error < 0.5 * rows["ellipsoid"].error
    assert "its predicted error is above" in rows["recursive"].note
    assert quick.terms.mechanism.noise.gauge.uniform.work < 1e3  # microseconds

    monkeypatch.setattr("lownoise.planning.pure_noise._MOST_SECONDS", 1e-5)
    plan = means(signed(18, 16))
    rows = {own.mechanism: own for own in plan.comparison}
    assert plan.mechanism == "ellipsoid"
    assert rows["k_norm"].error is None
    assert "by rejection in 16 dimensions; name the" in rows["k_norm"].note
    named = means(signed(18, 16), mechanism="k_norm")
    assert named.error == quick.error


CORNERS = np.random.default_rng(3).choice([-1.0, 1.0], size=(8, 24))
LENGTHS = np.geomspace(1.0, 1e-3, 8)
SORTED = np.geomspace(1.0, 1e-4, 16)


def far_points(name):
    """Return points of a set of which a level has no norm, shape (n, d)."""
    rng = np.random.default_rng(1)
    if name == "zonotope":
        return rng.choice([-1.0, 1.0], size=(400, 24)) @ (LENGTHS[:, None] * CORNERS).T
    points = rng.normal(size=(400, 16)) ** 3
    return SORTED * points / np.sort(np.abs(points), axis=1)[:, -2:].sum(axis=1)[:, None]


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("zonotope", ln.image(LENGTHS[:, None] * CORNERS, ln.Box(-np.ones(24), np.ones(24)))),
        ("sorted", ln.image(np.diag(SORTED), ln.TopBall(16, 2))),
    ],
)
def test_levels_are_ellipsoids_where_the_body_has_no_norm(name, domain):
    """They err less than one ellipsoid, hold all changes, and a file has them as they are."""
    plan = means(domain, size=1, mechanism="recursive")
    assert plan.error < 0.9 * means(domain, size=1, mechanism="ellipsoid").error
    noise, unit = plan.terms.mechanism.noise, plan.terms.mechanism.totals.unit
    assert noise.around
    points = far_points(name) / unit
    changes = points[:200] - points[-200:]
    cost = np.zeros(len(changes))
    for level in noise.levels:
        n = level.dimension
        seen = changes if n == noise.dimension else changes @ noise.rows[:n].T
        cost += level.gauge.norm_up(seen) / level.scale
    assert 0.3 < np.max(cost) <= 1 + 1e-9  # ε
    document = json.loads(plan.to_json())
    assert ln.verify(plan.to_json())
    level = document["terms"]["noise"]["levels"][min(noise.around)]
    level["factor"] = packed(noise.levels[min(noise.around)].gauge.factor / 2)
    document["digest"] = codec.digest(document)
    failed = [own.found for own in ln.verify(json.dumps(document)).checks if not own.holds]
    assert failed == ["noise is too small for the budget"]


def test_levels_are_there_where_corners_are_no_whole_numbers():
    """Their images are rounded, and so is what is left: recursion was refused as too fine."""
    rows, segments = np.random.default_rng(0).normal(size=(3, 7)), 7
    box = ln.Box(-np.ones(segments), np.ones(segments))
    levels = means(ln.image(rows, box), size=1, mechanism="recursive").terms.mechanism
    assert 1 - 1e-6 < levels.loss.epsilon <= 1
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(100, segments))
    changes = 2 * signs @ (rows / levels.totals.unit[:, None]).T
    cost = np.zeros(len(changes))
    for level in levels.noise.levels:
        n = level.dimension
        seen = changes if n == 3 else changes @ levels.noise.rows[:n].T
        cost += level.gauge.norm_up(seen) / level.scale
    assert 0.5 < np.max(cost) <= 1 + 1e-9  # ε


def test_levels_are_split_so_that_no_other_split_is_better():
    """Moving ε from any level to another makes the error larger."""
    plan = counts(LONG)
    setting = Setting(
        totals=plan.terms.mechanism.totals,
        weighted=plan.terms.mechanism.totals.unit,
        epsilon=1.0,
        delta=0.0,
    )
    found = recursive(setting, lambda: np.eye(setting.kept.size))  # which no level asks for
    noise = found.noise
    assert not noise.around
    metric = np.square(found.totals.unit)

    def error(scales):
        inverse = np.linalg.inv(noise.rows)
        total, end = 0.0, 0
        own = inverse.T @ np.diag(metric) @ inverse
        firsts = [*(level.dimension for level in noise.levels[1:]), 0]
        for level, first, kept, scale in zip(noise.levels, firsts, noise.kept, scales, strict=True):
            end = level.dimension
            total += np.sum(own[first:end, first:end] * kept) * (scale / level.scale) ** 2
        return total

    scales = np.array([level.scale for level in noise.levels])
    shares = 1 / scales
    for i in range(len(shares)):
        for j in range(len(shares)):
            if i != j:
                moved = shares.copy()
                moved[i] -= 0.01 * shares[i]
                moved[j] += 0.01 * shares[i]
                assert error(1 / moved) > error(scales)


def test_sums_and_the_count_are_noised_for_the_means_they_make():
    """What is compared is n times the error of the worst means, so no count drowns a mean."""
    widths = np.array([84.0, 98.0, 99.0])
    plan = means(ln.Box([0, 0, 0], widths), relation="add_remove")
    deviations = plan.standard_deviation
    worst = math.sqrt(np.sum(deviations[:3] ** 2 + (widths / 2 * deviations[3]) ** 2))
    assert plan.error == pytest.approx(worst)
    others = [own.error for own in plan.comparison if own.error is not None]
    assert plan.error == pytest.approx(min(others))
    assert deviations[3] * np.max(widths) / 2 < 2 * np.max(deviations[:3])


def test_a_plan_and_a_release_are_told_in_one_line():
    """A notebook shows what matters, not what it is made of."""
    plan = means(ln.Box([0, 0], [1, 9]), mechanism="k_norm")
    assert repr(plan).startswith("<Plan: 2 means of 50 rows, planned under 1-DP; error ")
    assert len(repr(plan)) < 100


def test_weights_and_orders_count():
    """A weight scales a column's error, and p = ∞ bounds the largest."""
    plain = means(ln.Box([0, 0], [1, 1]))
    heavy = means(ln.Box([0, 0], [1, 1]), weights=[1.0, 100.0], mechanism="laplace")
    assert heavy.standard_deviation[1] < 0.8 * plain.standard_deviation[1]
    largest = means(ln.Ball(6), order=math.inf)
    noise = largest.terms.mechanism.simulate(20_000, SimulationRandomness(13))
    measured = math.sqrt(np.mean(np.max(np.abs(noise), axis=1) ** 2))
    assert measured <= largest.error <= 3 * measured


def test_intervals_hold_the_exact_answers():
    """As often as they say: at least 0.9 less 6 standard errors, and not all of the time."""
    for name in ("ball", "signs", "box", "counts of a public size"):
        plan = PLANS[name]()
        noise = np.abs(plan.terms.mechanism.simulate(5000, SimulationRandomness(14)))
        each = np.mean(noise <= plan.terms.proof.half_widths(0.9), axis=0)
        both = np.mean(np.all(noise <= plan.terms.proof.joint_half_widths(0.9), axis=1))
        off = 6 * math.sqrt(0.09 / 5000)
        assert np.all((each > 0.9 - off) & (each < 0.95))
        assert 0.9 - off < both < 0.96  # counts' noise has few values


@pytest.mark.parametrize("chance", [0.9, 0.5, 0.3, 0.05, 1e-3, 1e-9, 1e-300])
def test_tails_of_log_concave_noise_are_covered_and_by_no_more_than_the_worst_takes(chance):
    """Laws with closed forms, exponential densities cut off among them, which are the worst."""
    from scipy.special import gammainc

    from lownoise.noise.coordinates import log_concave_moment
    from lownoise.release.guarantees import tail_quantile

    cut = np.geomspace(1e-4, 800, 20_000)
    deviations = np.sqrt(2 * gammainc(3, cut) / gammainc(1, cut))
    quantiles = -np.log(chance + (1 - chance) * np.exp(-cut)) / deviations
    own = tail_quantile(chance)
    known = {
        "laplace": -math.log(chance) / math.sqrt(2),
        "uniform": (1 - chance) * math.sqrt(3),
        "normal": stats.norm.isf(chance / 2),
        "secant": -2 / math.pi * math.log(math.tan(math.pi / 4 * chance)),
    }
    assert np.all(quantiles <= own)
    assert all(each <= own for each in known.values())
    assert own < 1.003 * max(np.max(quantiles), known["laplace"])
    assert own <= tail_quantile(chance, log_concave_moment)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ln.pure_dp(0), "pure_dp.epsilon=0"),
        (lambda: ln.pure_dp(-1), "out of range"),
        (lambda: ln.pure_dp(math.inf), "out of range"),
        (lambda: ln.pure_dp(math.nan), "out of range"),
        (lambda: ln.pure_dp(1.0, 1e-6), "no delta"),
        (lambda: means(ln.Box([0], [1]), mechanism="gauss"), "is unknown"),
        (lambda: means(ln.Box([0], [1]), mechanism="randomized_response"), "not for this question"),
        (lambda: means(ln.Box([0], [1]), budget=ln.zcdp(1), mechanism="laplace"), "has not"),
        (lambda: means(ln.Box([0], [1]), count_share=0.1, relation="add_remove"), "count_share"),
        (lambda: means(ln.Box([0], [1]), order=1), "order=1"),
        (lambda: means(ln.Box([0], [1]), weights=[0.0]), "weights"),
        (lambda: means(ln.Box([0], [1]), size=0), "size=0"),
        (lambda: means(ln.Box([0], [1]), relation="swap"), "relation"),
        (
            lambda: counts(RNG.choice([-1.0, 1.0], (40, 200)), mechanism="k_norm"),
            "40 dimensions",
        ),
        (
            lambda: means(ln.Box([0, 0], [9, 9]), relation=ln.Box([-1, 0], [1, 0])),
            "never change",
        ),
    ],
)
def test_refused_in_one_line(make, words):
    """What cannot be asked of a pure plan says what, and what to do."""
    with pytest.raises(LownoiseError, match=words) as caught:
        make()
    assert isinstance(caught.value, (PlanError, BudgetError))
    assert "\n" not in str(caught.value)


def test_what_never_changes_is_published_as_it_is():
    """One point: nothing is revealed, and nothing is noised."""
    plan = means(ln.Box([1], [1]))
    assert plan.cost.epsilon == 0
    assert plan.error == 0


def test_epsilon_is_within_its_decimal():
    """The float 0.1 is above a tenth: a plan stays below both."""
    assert allowed(ln.pure_dp(0.5)) == 0.5
    plan = means(ln.Box([0], [3]), budget=ln.pure_dp(0.1))
    assert plan.cost.epsilon <= math.nextafter(0.1, 0)


def test_under_epsilon_and_delta_a_pure_mechanism_may_be_named():
    """Then no Gaussian is used, and δ is not spent."""
    plan = means(ln.Ball(3), budget=ln.approx_dp(1.0, 1e-6), mechanism="k_norm")
    assert plan.mechanism == "k_norm"
    assert plan.cost.delta == 0
    assert isinstance(means(ln.Ball(3), budget=ln.approx_dp(1.0, 1e-6)), ln.Plan)
