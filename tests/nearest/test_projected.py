# SPDX-License-Identifier: Apache-2.0
"""Projected answers of releases: in the set, nearest, biased and said to be, and at no cost."""

import itertools
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

import lownoise as ln
from lownoise import report
from lownoise.errors import FileError, LownoiseError, PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.release.nearest.nonnegative import nearest_tables
from lownoise.release.nearest.tables import Tables, given_tables, maximal, metric_of

N = 40
RNG = np.random.default_rng(7)
BITS = {c: RNG.integers(0, 2, N) for c in "abcd"}
CELLS = {"a": RNG.integers(0, 3, N), "b": RNG.integers(0, 2, N), "c": RNG.integers(0, 4, N)}
NUMBERS = {c: RNG.uniform(0, 1, N) for c in "abc"}
STAND_INS = dict.fromkeys("abcd", 0)


def bits(**given):
    return ln.Marginals(dict.fromkeys("abcd", 2), outside=STAND_INS, **given)


SIZES = {"a": 3, "b": 2, "c": 4}
MARGINALS = {
    "two-way bits": (bits(way=2), BITS),
    "three-way bits": (bits(way=3), BITS),
    "sets": (bits(sets=[["a", "b"], ["b", "c"], ["d"]], weights=[1.0, 3.0, 0.5]), BITS),
    "categories": (ln.Marginals(SIZES, way=2, outside=dict.fromkeys("abc", 0)), CELLS),
}
ROWS = {
    "box": (ln.Mean(list("abc"), ln.Box([0] * 3, [1] * 3)), NUMBERS),
    "ball": (ln.Mean(list("abc"), ln.Ball(3)), NUMBERS),
    "points": (ln.Mean(list("abc"), ln.Points(np.eye(3))), NUMBERS),
    "queries": (ln.Queries(np.tril(np.ones((4, 4))), {"c": 4}, outside={"c": 0}), CELLS),
    "parities": (ln.Parity(list("abcd"), [0, 1, 2], outside=0), BITS),
}
RELATIONS = ["substitute", "add_remove"]
NORMS = ["noise", "euclidean"]


@cache
def released(kind, relation, rho=0.003, seed=1):
    question, columns = {**MARGINALS, **ROWS}[kind]
    size = {"size": N} if relation == "substitute" else {}
    plan = ln.plan(question, budget=ln.zcdp(rho), relation=relation, **size)
    return execute(plan.terms, pd.DataFrame(columns), None, randomness=SimulationRandomness(seed))


def test_maximal_sets_and_tables_make_the_marginals_of_a_table():
    sets = maximal([(), (0,), (0, 1), (1, 2), (2,), (0, 2), (1,)])
    assert sets == [(0, 1), (0, 2), (1, 2)]
    for kind in MARGINALS:
        release = released(kind, "add_remove")
        question = release.terms.question
        tables = Tables([a.size for a in question.attributes], maximal(question.sets()))
        given = given_tables(release, tables)
        for chosen in question.sets():
            own = release.marginal(*question.names(chosen))
            assert tables.marginal(given, chosen) == pytest.approx(own, abs=1e-6)
        rng = np.random.default_rng(0)
        cells = {k: rng.normal(size=v.shape) for k, v in tables.cells(given).items()}
        along = sum(np.vdot(cells[k], v) for k, v in tables.cells(given).items())
        pulled = sum(np.vdot(given[k], v) for k, v in tables.pulls(cells).items())
        assert along == pytest.approx(pulled, rel=1e-9)


@pytest.mark.grid
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", MARGINALS)
def test_marginals_agree_and_have_no_cell_below_0(kind, relation, norm):
    release = released(kind, relation)
    assert min(counts.min() for _, counts in release.marginals()) < 0
    for onto in ("nonnegative", "domain"):
        found = release.projected(onto, norm=norm)
        assert found.converged
        total = float(found.marginal())
        if relation == "substitute":
            assert total == pytest.approx(N, abs=1e-9)
        for names, counts in found.marginals():
            assert counts.min() >= 0
            assert counts.sum() == pytest.approx(total, rel=1e-9, abs=1e-9)
            for axis, name in enumerate(names):
                rest = tuple(k for k in range(len(names)) if k != axis)
                assert counts.sum(axis=rest) == pytest.approx(found[name], abs=1e-6)


@pytest.mark.grid
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", MARGINALS)
def test_non_negative_marginals_are_nearest_as_least_squares_have_it(kind, relation, norm):
    """The dual is min ‖√s·T*λ + R⁰/√s‖ over λ ≥ 0: by NNLS, a public total's s being small.

    What is stated as the gap is at least the distance to those.
    """
    release = released(kind, relation)
    metric = metric_of(release.terms, norm)
    tables, weights = metric.tables, metric.weights
    given = given_tables(release, tables)
    found = nearest_tables(tables, given, weights, rtol=1e-5, most=5000)
    assert found.converged
    soft = {
        k: np.where(w > 0, w, 1e-9 * max(v.max() for v in weights.values()))
        for k, w in weights.items()
    }
    columns = []
    shapes = tables.cells(given)
    for key, own in shapes.items():
        for i in range(own.size):
            unit = {k: np.zeros_like(v) for k, v in shapes.items()}
            unit[key].flat[i] = 1.0
            columns.append(tables.pulls(unit))
    roots = {k: np.sqrt(v).reshape(-1, *[1] * len(k)) for k, v in soft.items()}

    def row(stack, times):
        return np.concatenate([(v * times[k]).ravel() for k, v in stack.items()])

    A = np.array([row(c, roots) for c in columns]).T
    y = row(given, {k: 1 / v for k, v in roots.items()})
    multipliers = optimize.nnls(A, -y, maxiter=20_000)[0]
    exact = y + A @ multipliers
    mine = row(found.tables, {k: 1 / v for k, v in roots.items()})
    free = {
        k: np.broadcast_to((w > 0).reshape(-1, *[1] * len(k)), given[k].shape).astype(float)
        for k, w in weights.items()
    }
    fixed = row(free, dict.fromkeys(given, 1.0))
    off = np.linalg.norm(fixed * (mine - exact))
    size = np.linalg.norm(fixed * (exact - y))
    assert off <= found.gap + 1e-4 * size
    assert found.distance == pytest.approx(size, rel=1e-3)


@pytest.mark.grid(3)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", MARGINALS)
def test_the_nearest_tables_are_idempotent_and_come_no_farther_apart(kind, relation, norm):
    releases = [released(kind, relation, seed=seed) for seed in (1, 2, 3)]
    metric = metric_of(releases[0].terms, norm)
    tables, weights = metric.tables, metric.weights

    def length(a, b):
        return np.sqrt(
            sum(
                np.sum(np.square(a[k] - b[k]).reshape(len(w), -1).sum(axis=1)[w > 0] / w[w > 0])
                for k, w in weights.items()
            )
        )

    def near(given):
        return nearest_tables(tables, given, weights, rtol=1e-3, most=5000)

    given = [given_tables(r, tables) for r in releases]
    found = [near(g) for g in given]
    for own in found:
        again = near(own.tables)
        assert length(again.tables, own.tables) <= again.gap + 1e-9 * own.distance
    for i, j in itertools.combinations(range(len(found)), 2):
        apart = length(found[i].tables, found[j].tables)
        assert apart <= length(given[i], given[j]) + found[i].gap + found[j].gap
        assert apart < length(given[i], given[j])  # and not by doing nothing


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", [*MARGINALS, *ROWS])
def test_what_a_table_can_have_stays_and_costs_nothing(kind, relation, norm):
    """With next to no noise on a table that lies inside, what was released is the nearest."""
    release = released(kind, relation, rho=1e6)
    found = release.projected(norm=norm)
    assert found.converged
    if found.distance == 0 and found.tables is None:
        assert np.array_equal(found.estimate, release.estimate)
    else:  # on the edge, as counts of 0 are: no farther than the noise
        assert found.distance <= 10 * (release.error if norm == "euclidean" else 10)


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", ROWS)
def test_the_norm_of_the_noise_is_that_of_its_covariance(kind, relation):
    """√((x − y)ᵀΣ⁻¹(x − y)), over the flat that the noise fills; and none else is as near."""
    moved = 0
    for seed in range(4):
        release = released(kind, relation, seed=seed)
        covariance = np.asarray(release.terms.covariance)
        inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
        found = release.projected()
        off = found.estimate - release.estimate
        assert off @ inverse @ off == pytest.approx(found.distance**2, rel=1e-6, abs=1e-9)
        other = release.projected(norm="euclidean").estimate - release.estimate
        assert other @ inverse @ other >= found.distance**2 * (1 - 1e-3)
        moved += found.distance > 0.1
    assert moved or (kind, relation) == ("ball", "substitute")


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", [*MARGINALS, *ROWS])
def test_in_the_norm_of_the_error_no_run_is_farther_from_the_truth(kind, relation):
    """Pythagoras: ‖x − truth‖² ≤ ‖y − truth‖² − ‖y − x‖², on each of 10 runs."""
    exact = released(kind, relation, rho=1e6)
    for seed in range(10):
        release = released(kind, relation, seed=seed)
        found = release.projected(norm="euclidean")
        if kind in ROWS:
            weights = np.asarray(release.terms.view.weights)
            before = np.linalg.norm(weights * (release.estimate - exact.estimate))
            after = np.linalg.norm(weights * (found.estimate - exact.estimate))
        else:
            weights = release.terms.question
            pairs = zip(
                weights.sets(),
                release.marginals(),
                found.marginals(),
                exact.marginals(),
                strict=True,
            )
            total = np.zeros(2)
            for k, (chosen, (_, old), (_, new), (_, true)) in enumerate(pairs):
                w = weights.weights[k if weights.way is None else len(chosen)]
                total += w * np.array([np.sum((old - true) ** 2), np.sum((new - true) ** 2)])
            before, after = np.sqrt(total)
        room = before**2 - found.distance**2
        assert after <= np.sqrt(max(room, 0)) + found.gap + 1e-3 * before


def test_they_are_biased_where_the_truth_is_at_the_edge_and_err_less():
    """A mean of 0 in [0, 1]: the mean of 150 is σ/√(2π) = 0.4σ above it, ± 0.05σ; five of these."""
    plan = ln.plan(
        ln.Mean(["x"], ln.Box([0], [1])), budget=ln.zcdp(0.5), relation="substitute", size=N
    )
    table = pd.DataFrame({"x": np.zeros(N)})
    source = SimulationRandomness(3)
    made = [execute(plan.terms, table, None, randomness=source) for _ in range(150)]
    deviation = float(plan.standard_deviation[0])
    old = np.array([float(r.estimate[0]) for r in made]) / deviation
    new = np.array([float(r.projected().estimate[0]) for r in made]) / deviation
    assert abs(np.mean(old)) <= 5 / np.sqrt(150)
    assert abs(np.mean(new) - 1 / np.sqrt(2 * np.pi)) <= 5 * np.sqrt((0.5 - 0.5 / np.pi) / 150)
    assert np.mean(new**2) < 0.75 * np.mean(old**2)


@pytest.mark.parametrize("kind", ["box", "two-way bits"])
def test_they_say_that_they_are_biased_everywhere(kind, tmp_path):
    release = released(kind, "add_remove")
    found = release.projected()
    assert repr(found).endswith(": biased>")
    assert "biased" in str(found)
    page = report.render_html(report.sections(found))
    assert found.biased in page
    found.save(tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert written["biased"] == found.biased
    assert written["spend"] is None if "spend" in written else True
    with pytest.raises(FileError):
        ln.Release.load(tmp_path / "out.json")
    with pytest.raises(FileError):
        ln.Release.from_json(found.to_json())


def test_a_release_from_a_file_has_the_same_and_no_plan_names_it():
    release = released("ball", "substitute")
    again = ln.Release.from_json(release.to_json())
    assert np.array_equal(again.projected().estimate, release.projected().estimate)
    assert np.array_equal(again.estimate, release.estimate)  # which stays as it was
    plan = ln.plan(ROWS["queries"][0], budget=ln.pure_dp(1), relation="add_remove")
    assert not any("project" in row.mechanism for row in plan.comparison)


def test_means_of_sums_and_counts_are_in_the_domain():
    release = released("box", "add_remove")
    for norm in NORMS:
        found = release.projected(norm=norm)
        assert np.all((found.mean >= -1e-9) & (found.mean <= 1 + 1e-9))


def test_parities_without_a_count_can_be_anything_where_rows_come_and_go():
    question = ln.Parity(list("abcd"), [1, 2], outside=0)
    plan = ln.plan(question, budget=ln.zcdp(0.01), relation="add_remove")
    release = plan.release(pd.DataFrame(BITS))
    assert np.array_equal(release.projected().estimate, release.estimate)


def test_ordered_attributes_have_the_norm_of_the_error_alone():
    question = ln.Marginals(SIZES, way=2, ordered={"c": "range"}, outside=dict.fromkeys("abc", 0))
    plan = ln.plan(question, budget=ln.zcdp(0.003), relation="add_remove")
    release = plan.release(pd.DataFrame(CELLS))
    with pytest.raises(PlanError, match="euclidean"):
        release.projected()
    found = release.projected(norm="euclidean")
    assert min(counts.min() for _, counts in found.marginals()) >= 0


def test_what_is_too_large_or_no_choice_is_one_line():
    wide = ln.Marginals({f"x{i}": 2 for i in range(30)}, way=1)
    plan = ln.plan(wide, budget=ln.zcdp(0.1), relation="add_remove")
    table = pd.DataFrame({f"x{i}": [0, 1] for i in range(30)})
    release, means = plan.release(table), released("ball", "substitute")
    assert release.projected().converged
    cases = [
        (lambda: release.projected("domain"), "2\\^20"),
        (lambda: release.projected("hull"), "onto="),
        (lambda: release.projected(""), "onto="),
        (lambda: means.projected("nonnegative"), "onto="),
        (lambda: means.projected(norm="l1"), "norm="),
        (lambda: means.projected(rtol=0), "rtol"),
        (lambda: means.projected().marginal("a"), "marginal"),
        (lambda: release.projected().estimate, "estimate"),
        (lambda: release.projected()["x0", "x1"], "does not follow"),
        (lambda: release.projected().mean, "mean"),
    ]
    for call, said in cases:
        with pytest.raises(LownoiseError, match=said) as refused:
            call()
        assert "\n" not in str(refused.value)
