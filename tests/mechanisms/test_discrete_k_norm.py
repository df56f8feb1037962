"""K-norm noise on the lattice of tables: its law, what neighbours reveal, and how far counts stray.

Statistical tests have an error of the first kind of 1e-6 each, and say their power.
"""

import itertools
import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from frequencies import fits, ratio_seen
from lownoise.errors import FileError, PlanError
from lownoise.noise import discrete_k_norm
from lownoise.noise.discrete_k_norm import DiscreteKNormNoise
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sets.bodies import PointDifferences
from refusals import refused_plan, sealed


@cache
def law(cells, scale, far):
    """All whole numbers of the sum 0 that are at most `far`, and their chances."""
    axes = np.indices((2 * far + 1,) * (cells - 1)).reshape(cells - 1, -1).T - far
    z = np.hstack([axes, -axes.sum(axis=1, keepdims=True)])
    chances = np.exp(-np.abs(z).sum(axis=1) / scale)
    return z, chances / chances.sum()


LAWS = ((2, 0.7, 40), (3, 0.5, 20), (4, 0.6, 14))


def drawn(cells, scale, count, seed):
    return DiscreteKNormNoise(cells, scale).block(count, SimulationRandomness(seed))


@pytest.mark.parametrize(("cells", "scale", "far"), LAWS)
def test_every_table_of_noise_has_the_chance_that_is_said(cells, scale, far):
    """χ² over all that 40,000 draws are to have 20 of. Power: 8% of the scale is seen."""
    found = drawn(cells, scale, 40_000, 3)
    for own in (scale, scale * 1.08):
        z, chances = law(cells, own, far)
        assert fits(found, z[:, :-1], chances) == (own == scale)


def test_a_record_that_becomes_another_moves_chances_by_two_steps_at_most():
    """In whole numbers, over all tables of noise of four cells up to 3, and all pairs of cells."""
    z, _ = law(4, 1.0, 3)
    far = set()
    for i, j in itertools.permutations(range(4), 2):
        moved = z.copy()
        moved[:, i] += 1
        moved[:, j] -= 1
        apart = np.abs(moved).sum(axis=1) - np.abs(z).sum(axis=1)
        far |= set(apart.tolist())
    assert far == {-2, 0, 2}
    one = PointDifferences(np.vstack([np.zeros(3), np.eye(3)]))
    loss = DiscreteKNormNoise(4, 0.3).loss(one)
    assert 2 / 0.3 <= loss.epsilon <= 2 / 0.3 * (1 + 1e-12)
    # records that are no cells of one table: both cells are moved one way, and the last by 2
    both = PointDifferences(np.array([[0.0, 0, 0], [1, 1, 0]]))
    assert DiscreteKNormNoise(4, 0.5).loss(both).epsilon == pytest.approx(8.0, rel=1e-12)


@pytest.mark.parametrize(("cells", "scale", "far"), LAWS)
def test_spreads_moments_and_how_far_counts_stray_are_those_of_the_law(cells, scale, far):
    z, chances = law(cells, scale, far)
    noise = DiscreteKNormNoise(cells, scale)
    covariance = (z[:, :-1] * chances[:, None]).T @ z[:, :-1]
    assert noise.covariance() == pytest.approx(covariance, rel=1e-6)
    moments = []
    for k in range(1, cells):
        own = z[:, :k].sum(axis=1)
        deviation = math.sqrt(float(chances @ own**2))
        moments.append(float(chances @ np.abs(own / deviation) ** 6.0) ** (1 / 6))
        for outside in (0.5, 0.05, 1e-3):
            (t,) = noise.strays(np.array([deviation]), outside)
            assert float(chances @ (np.abs(own) > t)) <= outside
            assert t == 0 or float(chances @ (np.abs(own) > t - 1)) > outside
    assert noise.moment(6.0) == pytest.approx(max(moments), rel=1e-6)


@pytest.mark.parametrize("scale", [0.25, 1.4, 8.0])
def test_high_moments_are_no_less_than_those_of_the_law(scale):
    """Of three cells one has chances ∝ q^{2|t|}·(|t| + (1 + q²)/(1 − q²)), q = e^{−1/b}, summed."""
    t, fall = np.arange(0.0, 3000.0), math.exp(-2 / scale)
    logs = np.log(t + (1 + fall) / (1 - fall)) - 2 * t / scale + np.log(np.where(t > 0, 2.0, 1.0))
    logs -= np.log(np.sum(np.exp(logs)))
    deviation = math.sqrt(float(np.exp(logs) @ t**2))
    for order in (64.0, 128.0, 400.0):
        own = logs[1:] + order * np.log(t[1:])
        most = np.max(own)
        true = math.exp((most + math.log(np.sum(np.exp(own - most)))) / order) / deviation
        assert true <= DiscreteKNormNoise(3, scale).moment(order) * (1 + 1e-9) <= 1.1 * true


@pytest.mark.parametrize("cells", [3, 17, 128])
@pytest.mark.parametrize("scale", [0.25, 0.5, 2.0])
def test_many_cells_have_the_law_of_few_and_moments_above_theirs(cells, scale, monkeypatch):
    """A geometric number of the same variance has more of every moment, and hardly more of low."""
    noise, orders = DiscreteKNormNoise(cells, scale), (4.0, 6.0, 20.0, 60.0)
    exact = [noise.moment(order) for order in orders]
    far = noise.strays(np.sqrt(noise.covariance()[0, :1]), 1e-3)
    spread = noise.covariance()
    monkeypatch.setattr(discrete_k_norm, "_FEW_CELLS", 1)
    discrete_k_norm._sum_law.cache_clear()
    bounds = [noise.moment(order) for order in orders]
    assert np.all(np.array(bounds) >= exact)
    assert np.all(np.array(bounds)[:2] <= 1.25 * np.array(exact)[:2])
    assert np.allclose(noise.covariance(), spread, rtol=1e-12)
    assert noise.strays(np.sqrt(spread[0, :1]), 1e-3) == far
    discrete_k_norm._sum_law.cache_clear()


def test_sums_of_a_law_are_those_of_convolutions():
    """Of few to the last bit: files of before state deviations and errors that follow from them."""
    for cells, scale in ((5, 0.6), (6, 1.0), (6, 0.25)):
        reach, q = discrete_k_norm._farthest(cells, scale), math.exp(-1 / scale)
        z = np.arange(-reach, reach + 1)
        one = (1 - q) / (1 + q) * q ** np.abs(z)
        found = own = np.where(z == 0, 1.0, 0.0)
        near = np.abs(z) < reach // 2
        for kept in discrete_k_norm._sums(cells, scale):
            assert np.array_equal(kept, found)
            assert np.allclose(own[near], found[near], rtol=1e-12, atol=0)
            found = np.convolve(found, one, mode="same")
            own = discrete_k_norm._with_one_more(own, scale)


def test_means_of_more_categories_have_whole_noise_as_well():
    """Of 130, drawn until they add up to nothing: 1.4 times less variance than of real numbers."""
    d = 130
    question = ln.Mean([f"c{i}" for i in range(d)], ln.Points(np.eye(d)))
    plan, real = (
        ln.plan(
            question, budget=ln.pure_dp(4.0), relation="substitute", size=50, mechanism=mechanism
        )
        for mechanism in (None, "k_norm")
    )
    assert plan.mechanism == "discrete_k_norm"
    assert plan.error < 0.86 * real.error
    drawn = DiscreteKNormNoise(d, 0.5).block(500, SimulationRandomness(6))
    every = np.hstack([drawn, -drawn.sum(axis=1, keepdims=True)])
    deviation = math.sqrt(plan.terms.mechanism.noise.covariance()[0, 0])
    # 65,000 numbers, nearly independent: to six of the deviations of their mean square
    spread = np.mean(np.square(every) / deviation**2)
    assert abs(spread - 1) < 6 * math.sqrt(np.mean(every**4) / deviation**4 / every.size)
    rows = pd.DataFrame(np.eye(d)[np.arange(50) % d], columns=question.columns)
    counts = np.asarray(plan.release(rows).estimate) * 50
    assert np.allclose(counts, np.rint(counts), atol=1e-9)
    assert counts.sum() == pytest.approx(50)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_how_many_rows_there_are_keeps_no_table_from_it(epsilon):
    """Which `way=1` asks for beside the table, and is public."""
    given = {"budget": ln.pure_dp(epsilon), "relation": "substitute", "size": 60}
    plan = ln.plan(ln.Marginals({"a": 6}, way=1, outside={"a": 0}), **given)
    alone = ln.plan(ln.Count({"a": 6}, outside={"a": 0}), **given)
    assert plan.mechanism == alone.mechanism == "discrete_k_norm"
    assert plan.error == pytest.approx(alone.error)


BITS = {"a": 0, "b": 0}


@cache
def planned(epsilon=4.0, mechanism=None):
    return ln.plan(
        ln.Count({"a": 3, "b": 2}, outside=BITS),
        budget=ln.pure_dp(epsilon),
        relation="substitute",
        size=60,
        mechanism=mechanism,
    )


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0, 8.0])
def test_tables_of_a_public_number_of_rows_have_less_than_with_other_noise(epsilon):
    plan = planned(epsilon)
    assert plan.mechanism == "discrete_k_norm"
    errors = {own.mechanism: own.error for own in plan.comparison if own.error}
    least = min(error for name, error in errors.items() if name != plan.mechanism)
    assert plan.error < {1.0: 0.99, 2.0: 0.94, 4.0: 0.75, 8.0: 0.4}[epsilon] * least
    assert epsilon * (1 - 1e-9) < plan.cost.epsilon <= epsilon
    assert ln.verify(plan.to_json())


def test_released_tables_are_whole_and_add_up_to_the_number_of_rows(tmp_path):
    """Intervals of margins are those of sums of cells, by the law."""
    plan = planned()
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"a": rng.integers(0, 3, 60), "b": rng.integers(0, 2, 60)})
    release = plan.release(table)
    cells = release["a", "b"]
    assert np.allclose(cells, np.rint(cells), rtol=0, atol=1e-9)
    assert cells.sum() == pytest.approx(60, abs=1e-9)
    assert np.allclose(release["a"], cells.reshape(3, 2).sum(axis=1))
    release.save(tmp_path / "release")
    assert ln.verify(tmp_path / "release")
    draws = drawn(6, float(plan.terms.mechanism.noise.inner.scale), 40_000, 7)
    for names, many in ((("a", "b"), 1), (("a",), 2), (("b",), 3)):
        half = plan.terms.view.half_width(0.95, *names)
        sums = np.abs(draws[:, :many].sum(axis=1))
        # 0.0055 is five deviations of a share of 40,000
        assert np.mean(sums <= float(half)) >= 0.95 - 0.0055
        assert np.mean(sums <= float(half) - 1) < 0.95 + 0.0055
        deviation = plan.standard_deviation(*names)
        assert np.std(draws[:, :many].sum(axis=1)) == pytest.approx(float(deviation), rel=0.05)


MARGINS = {  # sizes, what is asked of them beside budgets, and an ε at which the table has least
    "beside": ({"a": 2, "b": 3}, {"way": 2}, 4.0),
    "weighted": ({"a": 3, "b": 2}, {"sets": [["b"], ["a", "b"]], "weights": [9, 1]}, 2.0),
    "margins": ({"a": 2, "b": 3}, {"way": 1}, 4.0),
    "overlapping": ({"a": 2, "b": 3, "c": 2}, {"sets": [["a", "b"], ["b", "c"]]}, 8.0),
    "ranges": ({"a": 2, "b": 4}, {"way": 2, "ordered": {"b": "range"}}, 4.0),
}


@cache
def of_margins(name, order=2.0):
    sizes, asked, epsilon = MARGINS[name]
    return ln.plan(
        ln.Marginals(sizes, outside=dict.fromkeys(sizes, 0), **asked),
        budget=ln.pure_dp(epsilon),
        relation="substitute",
        size=40,
        order=order,
    )


def spread(plan, chosen):
    """The variance of each answer of a marginal, by the covariance of all cells of the table."""
    question, noise = plan.terms.question, plan.terms.mechanism.noise
    sizes = [a.size for a in question.attributes]
    own, last = noise.inner.covariance(), -np.ones((1, math.prod(sizes) - 1))
    every = np.vstack([np.eye(math.prod(sizes) - 1), last])
    sums = np.ones((1, 1))
    for i, a in enumerate(question.attributes):
        n = sizes[i]
        part = np.eye(n) if i in chosen else np.ones((1, n))
        if i in chosen and a.ordered:
            pairs = itertools.combinations_with_replacement(range(n), 2)
            part = np.array([np.isin(np.arange(n), range(j, k + 1)) for j, k in pairs], float)
        sums = np.kron(sums, part)
    rows = sums @ every
    return np.einsum("ij,jk,ik->i", rows, own, rows)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("name", "order"), [*((name, 2.0) for name in MARGINS), ("beside", math.inf)]
)
def test_margins_are_sums_of_one_table_where_that_has_the_least_error(name, order):
    """Which is what sums of its cells have, by the covariance of all of them; others have more."""
    plan = of_margins(name, order)
    question = plan.terms.question
    assert plan.mechanism == "discrete_k_norm"
    weights = [1.0] * question.count if question.way is not None else question.weights
    own = [w * spread(plan, chosen) for w, chosen in zip(weights, question.sets(), strict=True)]
    every = np.concatenate(own)
    error = math.sqrt(every.sum() if order == 2 else every.max())
    assert plan.terms.objective == pytest.approx(error, rel=1e-9)
    others = [o.error for o in plan.comparison if o.error and o.mechanism != plan.mechanism]
    assert error < 0.98 * min(others)
    assert ln.verify(plan.to_json())


def test_a_table_beside_its_margins_has_less_than_with_noise_on_each():
    """Of 2 × 3 cells at ε = 4: 1.54, where geometric noise has 2.08 and K-norm noise 2.17."""
    errors = {own.mechanism: own.error for own in of_margins("beside").comparison if own.error}
    assert errors["discrete_k_norm"] < 0.74 * errors["geometric"] < 0.71 * errors["k_norm"] * 1.01


@pytest.mark.parametrize("name", MARGINS)
def test_margins_agree_with_each_other_are_whole_and_without_noise_exact(name, tmp_path):
    sizes, asked, _ = MARGINS[name]
    rng = np.random.default_rng(8)
    table = pd.DataFrame({a: rng.integers(0, n, 40) for a, n in sizes.items()})
    question = ln.Marginals(sizes, outside=dict.fromkeys(sizes, 0), **asked)
    for epsilon in (4.0, 400.0):  # where any noise has a chance below 1e-80
        plan = ln.plan(
            question,
            budget=ln.pure_dp(epsilon),
            relation="substitute",
            size=40,
            mechanism="discrete_k_norm",
        )
        release = plan.release(table)
        shared = {}
        for chosen in question.sets():
            names = question.names(chosen)
            found = release.marginal(*names)
            assert np.allclose(found, np.rint(found), rtol=0, atol=1e-9)
            assert found.sum() == pytest.approx(40, abs=1e-9)
            for axis, one in enumerate(names):
                along = found.sum(axis=tuple(k for k in range(found.ndim) if k != axis))
                assert np.allclose(along, shared.setdefault(one, along), rtol=0, atol=1e-9)
            if epsilon > 100:
                exact = np.zeros([sizes[a] for a in names])
                for row in table[list(names)].to_numpy():
                    exact[tuple(row)] += 1
                assert np.allclose(found, exact, rtol=0, atol=1e-9)
        release.save(tmp_path / f"{epsilon:g}")
        assert ln.verify(tmp_path / f"{epsilon:g}")


@pytest.mark.parametrize("name", MARGINS)
def test_a_record_moves_one_cell_to_another_whatever_margins_are_asked(name):
    """All pairs of records: what they change in the integers costs 2/b, and that is charged."""
    plan = of_margins(name)
    mechanism, sizes = plan.terms.mechanism, list(MARGINS[name][0].values())
    kinds = [*itertools.product(*map(range, sizes))]
    totals, columns = mechanism.totals, list(MARGINS[name][0])

    def integers(kind):
        rows = pd.DataFrame([kind] * 2 + [kinds[0]] * 38, columns=columns)
        return np.array(totals.exact(totals.read(rows)))

    every = np.array([integers(kind) for kind in kinds]) // 2
    every = np.hstack([every, -every.sum(axis=1, keepdims=True)])
    moved = np.abs(every[:, None] - every[None]).sum(axis=2)
    assert set(moved.ravel().tolist()) == {0, 2}
    assert np.all((moved == 0) == np.eye(len(kinds), dtype=bool))  # no two are taken for one
    charged = plan.cost.epsilon
    assert 2 / mechanism.noise.inner.scale <= charged <= MARGINS[name][2]


def test_prefix_counts_have_less_than_real_numbers_of_the_same_shape():
    """The counts up to each of 8 ages, of a public number of people, at ε = 4."""
    ages = ln.Distribution("age", list(range(9)), outside={"age": 0})
    plan = ln.plan(ages, budget=ln.pure_dp(4.0), relation="substitute", size=100)
    errors = {own.mechanism: own.error for own in plan.comparison if own.error}
    assert plan.mechanism == "discrete_k_norm"
    assert (plan.error / errors["geometric_histogram"]) ** 2 < 0.66
    assert (plan.error / errors["k_norm"]) ** 2 < 0.6


def test_no_more_is_seen_of_neighbours_than_is_claimed():
    """One of three cells after 100,000 runs each: from below, 80% of ε at least.

    Power: noise that is fitted to 1.3 times ε shows more than ε.
    """

    def seen(epsilon):
        one, two = (drawn(3, 2 / epsilon, 100_000, seed) for seed in (4, 5))
        two = two + np.array([1, -1])
        return ratio_seen(one, two, ((0, 0), (0, -1), (-1, 0), (-1, 1)))

    assert 1.5 * 0.8 < seen(1.5) <= 1.5
    assert seen(1.95) > 1.5


def test_forged_files_and_questions_that_it_is_not_for_are_refused_in_one_line():
    for scale, said in ((0.499, "too small"), (0.0, "above 0"), (1e3, "scale")):
        document = json.loads(planned().to_json())
        document["terms"]["noise"]["scale"] = scale
        refused_plan(sealed(document), said, error=(FileError, PlanError))
    margins = ln.Marginals({"a": 3, "b": 3}, way=1)
    asked = {"budget": ln.pure_dp(4.0), "mechanism": "discrete_k_norm", "relation": "add_remove"}
    for question in (margins, ln.Count({"a": 3})):
        with pytest.raises(PlanError, match="one table of a public number of rows"):
            ln.plan(question, **asked)
    for cells, scale in ((1, 1.0), (513, 1.0), (5, 0.0), (5, 100.0)):
        with pytest.raises(PlanError, match="discrete K-norm"):
            DiscreteKNormNoise(cells, scale)
