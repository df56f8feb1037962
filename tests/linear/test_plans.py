# SPDX-License-Identifier: Apache-2.0
"""The noise of linear queries is private, is the least, and is what other ways to ask give."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.certificate.tables import ParityDual
from lownoise.errors import PlanError
from lownoise.noise.gaussian import gaussian_summed
from lownoise.noise.parity import gaussian_parity
from lownoise.sensitivity.residuals.cost import ParityChanges, parity_costs

SIZES = {"add_remove": None, "substitute": 100}
RNG = np.random.default_rng(3)
LOW = RNG.standard_normal((7, 3)) @ RNG.standard_normal((3, 9))
MATRICES = {
    "prefix": np.tril(np.ones((6, 6))),
    "random": RNG.standard_normal((4, 9)),
    "tall": RNG.standard_normal((9, 4)),
    "low rank": LOW,
    "zeros and twins": np.array([[1, 1, 0, 2.0], [0, 0, 0, 0], [3, 3, 3, 3], [2, 2, 0, 4]]),
    "scales": np.diag([1e6, 1.0, 1e-6]) @ RNG.standard_normal((3, 8)),
    "offset": 1e6 + RNG.integers(0, 3, (3, 8)),
    "one record": np.array([[2.0], [0.0]]),
    "nothing": np.zeros((2, 5)),
}
ORDERS = [2.0, 3.0, math.inf]


def planned(question, relation, order=2.0, rho=0.5, **options):
    return ln.plan(
        question,
        budget=ln.zcdp(rho),
        relation=relation,
        size=SIZES[relation],
        order=order,
        **options,
    )


def queries(W):
    return ln.Queries(W, {"x": W.shape[1]}, outside={"x": 0})


def characters(bits, degrees):
    """The parities' rows over all records, in row-major order: rows of a Hadamard matrix."""
    records = np.array(list(itertools.product([0, 1], repeat=bits)))
    sets = [s for k in degrees for s in itertools.combinations(range(bits), k)]
    return np.array([(1 - 2 * records[:, list(s)]).prod(axis=1) for s in sets], float)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relation", SIZES)
@pytest.mark.parametrize("name", MATRICES)
def test_the_noise_covers_what_one_record_changes_and_no_more(name, relation, order):
    W = MATRICES[name]
    made = planned(queries(W), relation, order)
    assert made.certificate.gap < 2e-6
    assert made.verify()
    assert made.lower_bound <= made.error * (1 + 1e-12)
    # every pair of records, in the covariance of the answers: nothing of the mechanism's own sums
    pairs = itertools.combinations(W.T, 2)
    moved = [a - b for a, b in pairs] if relation == "substitute" else list(W.T)
    noisy = made.standard_deviation > 0
    scale = made.standard_deviation[noisy]
    shape = made.covariance[np.ix_(noisy, noisy)] / np.outer(scale, scale)
    inverse = np.linalg.pinv(shape, rcond=1e-9, hermitian=True)
    worst = 0.0
    for change in moved:
        assert np.all(np.abs(change[~noisy]) <= 1e-9 * np.max(np.abs(W)))
        seen = change[noisy] / scale
        # where answers follow from others, changes keep to what the noise covers
        assert np.allclose(
            shape @ (inverse @ seen), seen, atol=1e-6 * (1 + np.max(np.abs(seen), initial=0))
        )
        worst = max(worst, float(seen @ inverse @ seen))
    assert worst <= made.cost.mu**2 * (1 + 1e-6)
    assert worst >= made.cost.mu**2 * (1 - 1e-5)
    assert made.cost.mu <= 1


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["prefix", "random", "tall", "low rank", "zeros and twins"])
def test_queries_have_the_error_of_the_best_factors(name, order):
    W = MATRICES[name]
    best = ln.theory.factorize(W, order=order).certificate.upper
    assert planned(queries(W), "add_remove", order).objective == pytest.approx(best, rel=2e-6)


def test_prefix_sums_have_the_published_error():
    made = planned(queries(np.tril(np.ones((64, 64)))), "add_remove", rtol=1e-10)
    lower, upper = made.certificate.lower, made.certificate.upper
    assert lower**2 / 64 <= 4.409397203944 <= upper**2 / 64
    assert upper / lower - 1 < 1e-9


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", SIZES)
@pytest.mark.parametrize("order", ORDERS)
def test_queries_of_marginals_have_the_error_of_marginals(relation, order):
    sizes = (2, 3, 2)
    sets = [(0, 1), (2,), (1, 2)]
    cells = list(itertools.product(*map(range, sizes)))
    W = [
        [float(all(record[i] == v for i, v in zip(chosen, at, strict=True))) for record in cells]
        for chosen in sets
        for at in itertools.product(*(range(sizes[i]) for i in chosen))
    ]
    names = "abc"
    universe = dict(zip(names, sizes, strict=True))
    asked = [[names[i] for i in chosen] for chosen in sets]
    stand_in = dict.fromkeys(names, 0)
    tables = planned(ln.Marginals(universe, sets=asked, outside=stand_in), relation, order)
    found = planned(ln.Queries(W, universe, outside=stand_in), relation, order)
    assert found.objective == pytest.approx(tables.objective, rel=3e-6)


@pytest.mark.parametrize("relation", SIZES)
def test_the_number_of_records_alone_needs_noise_only_where_it_is_private(relation):
    W = np.array([[5.0, 5.0, 5.0], [0.0, 1.0, 2.0]])
    deviation = planned(queries(W), relation).standard_deviation
    assert (deviation[0] > 0) == (relation == "add_remove")
    assert deviation[1] > 0


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("order", [2.0, 2.5, 4.0, math.inf])
@pytest.mark.parametrize("relation", SIZES)
@pytest.mark.parametrize(
    ("bits", "degrees"), [(4, [2]), (3, [0, 1, 2]), (4, [1, 2]), (4, [4]), (4, [1, 3])], ids=str
)
def test_parities_are_queries_on_the_hadamard_rows(bits, degrees, relation, order):
    names = [f"b{i}" for i in range(bits)]
    own = planned(ln.Parity(names, degrees, outside=0), relation, order)
    W = characters(bits, degrees)
    universe = dict.fromkeys(names, 2)
    general = planned(ln.Queries(W, universe, outside=dict.fromkeys(names, 0)), relation, order)
    assert own.certificate.gap < 1e-6
    assert own.objective == pytest.approx(general.objective, rel=3e-6)
    hull = ln.Points(W.T)
    body = (
        ln.difference_body(hull) if relation == "substitute" else ln.Points(np.vstack([W.T, -W.T]))
    )
    assert own.objective == pytest.approx(
        ln.theory.enclose(body, order=order).certificate.upper, rel=3e-6
    )
    assert own.lower_bound == pytest.approx(general.lower_bound, rel=3e-6)


@pytest.mark.parametrize("relation", SIZES)
@pytest.mark.filterwarnings("error")
def test_weights_of_parities_are_exact_where_their_powers_are_beyond_floats(relation):
    for order, gap in ((1000.0, 1e-6), (1e6, 1e-5)):
        for weights in ([1.0, 1e3, 2.0], [1e-100, 1e100, 1.0]):
            asked = ln.Parity(["x", "y", "z"], [1, 2, 3], weights=weights, outside=1)
            assert planned(asked, relation, order).certificate.gap < gap


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 3.0, 50.0, math.inf])
@pytest.mark.parametrize("relation", SIZES)
def test_weighted_parities_cost_what_the_cube_says(relation, order):
    bits, degrees, weights = 5, [0, 1, 2, 4], np.array([1.0, 100.0, 0.01, 2.0])
    names = [f"b{i}" for i in range(bits)]
    made = planned(ln.Parity(names, degrees, weights=weights, outside=1), relation, order)
    assert made.certificate.gap < 1e-6
    assert made.verify()
    signs = characters(bits, degrees)
    moved = signs[:, :1] - signs[:, 1:] if relation == "substitute" else signs
    variance = made.standard_deviation**2
    noisy = variance > 0
    assert not np.any(moved[~noisy])
    worst = np.max((moved[noisy] ** 2 / variance[noisy, None]).sum(axis=0))
    assert worst == pytest.approx(made.cost.mu**2, rel=1e-9)
    assert made.cost.mu <= 1
    # weights on variances are weights on rows of a workload
    omega = np.sqrt(np.repeat(weights, [math.comb(bits, k) for k in degrees]))
    W = omega[:, None] * signs
    body = np.vstack([W.T, -W.T]) if relation == "add_remove" else W.T
    domain = ln.Points(body)
    domain = domain if relation == "add_remove" else ln.difference_body(domain)
    least = ln.theory.enclose(domain, order=order, rtol=1e-6).certificate
    assert made.certificate.lower <= least.upper * (1 + 1e-9)
    assert least.lower <= made.certificate.upper * (1 + 1e-9)


@pytest.mark.parametrize(("bits", "degree"), [(3, 1), (5, 2), (6, 3), (6, 6)])
def test_the_source_bound_for_parities_is_the_least_noise(bits, degree):
    # 003, section 8: all singular values of C(D, w) Hadamard rows are 2^{D/2}
    W = characters(bits, [degree])
    values = np.linalg.svd(W, compute_uv=False)
    assert np.allclose(values, 2 ** (bits / 2))
    trace_norm = values.sum() / math.sqrt(W.shape[1])
    m = math.comb(bits, degree)
    assert trace_norm == pytest.approx(m)
    made = planned(ln.Parity([f"b{i}" for i in range(bits)], degree), "add_remove")
    assert made.certificate.lower == pytest.approx(trace_norm, rel=1e-9)
    assert made.standard_deviation == pytest.approx(np.full(m, math.sqrt(m)), rel=1e-9)


@pytest.mark.parametrize("order", [2.0, 7.0, math.inf])
def test_one_degree_has_one_variance_for_every_order(order):
    names = [f"b{i}" for i in range(7)]
    made = planned(ln.Parity(names, 3), "add_remove", order, rho=2.0)
    assert made.standard_deviation == pytest.approx(np.full(35, math.sqrt(35) / 2), rel=1e-9)


def test_costs_of_changes_count_odd_sets():
    bits, degrees = 6, [0, 1, 3, 4, 6]
    expected = [
        [
            4 * sum(sum(i < d for i in s) % 2 for s in itertools.combinations(range(bits), k))
            for k in degrees
        ]
        for d in range(1, bits + 1)
    ]
    assert parity_costs(bits, degrees, "substitute").tolist() == expected


@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
def test_no_evidence_proves_more_than_the_least(order):
    rng = np.random.default_rng(9)
    counts = np.array([5.0, 10.0])
    costs = parity_costs(5, [1, 2], "substitute")
    names = [f"b{i}" for i in range(5)]
    least = planned(ln.Parity(names, [1, 2], outside=0), "substitute", order).objective
    for _ in range(200):
        dual = ParityDual(degrees=rng.random(2) ** 3, patterns=rng.random(5) ** 3)
        found = dual.least(ParityChanges(costs, counts), order, np.ones(2))
        assert 0 < found <= least * (1 + 1e-9)
    nothing = ParityDual(degrees=np.array([1.0, -1.0]), patterns=np.ones(5))
    assert nothing.least(ParityChanges(costs, counts), order, np.ones(2)) == 0


def test_a_million_parities_need_no_table_of_records():
    made = planned(ln.Parity([f"b{i}" for i in range(70)], 4), "add_remove")
    m = math.comb(70, 4)
    assert made.standard_deviation.size == m
    assert made.error == pytest.approx(m, rel=1e-9)
    wide = planned(ln.Parity([f"b{i}" for i in range(100)], range(4), outside=0), "substitute")
    assert wide.certificate.gap < 1e-6
    assert wide.standard_deviation[0] == 0


def test_large_matrices_are_planned():
    rng = np.random.default_rng(1)
    tall = planned(queries(rng.standard_normal((10_000, 12))), "substitute")
    assert tall.certificate.gap < 1e-6
    assert tall.terms.mechanism.length == 11
    wide = planned(queries(np.floor(2 * rng.random((20, 30_000)))), "add_remove", rtol=1e-3)
    assert wide.certificate.gap < 1e-3
    with pytest.raises(PlanError, match="would fill the memory"):
        _ = planned(queries(rng.standard_normal((10_001, 2))), "add_remove").covariance


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"relation": "near"}, "relation='near'"),
        ({"relation": ln.Ball(2)}, "relation=Image"),
        ({"relation": "add_remove", "size": 5}, "size=5"),
        ({"relation": "substitute"}, "size=None"),
        ({"relation": "substitute", "size": 5}, "name what stands in"),
        ({"relation": "add_remove", "weights": [1.0]}, "for means"),
        ({"relation": "add_remove", "order": 1.0}, "order"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "question", [ln.Parity(["a", "b"], 1), ln.Queries(np.eye(2), {"x": 2})], ids=["parity", "W"]
)
def test_what_does_not_fit_is_refused(question, options, said):
    with pytest.raises(PlanError, match=said):
        ln.plan(question, budget=ln.zcdp(1), **options)


@pytest.mark.parametrize("relation", SIZES)
@pytest.mark.parametrize("kind", ["queries", "parity"])
def test_noise_that_is_too_wide_or_too_narrow_is_scaled_to_the_budget(kind, relation):
    W = MATRICES["random"]
    asked = queries(W) if kind == "queries" else ln.Parity(["a", "b"], [1, 2], outside=0)
    made = planned(asked, relation).terms.mechanism
    for factor in (1 / 7, 7.0):
        if kind == "queries":
            own = (asked, relation, made.size, made.answer_noise.scaled(factor), 1.0)
            found = gaussian_summed(*own, made.totals.coordinates)
            assert np.allclose(found.answer_noise.dense(), made.answer_noise.dense(), rtol=1e-6)
        else:
            wide = factor * made.totals.by_degree(made.noise) ** 2
            found = gaussian_parity(asked, relation, made.size, wide, 1.0)
        assert 1 - 1e-8 <= found.loss.mu <= 1


@pytest.mark.parametrize("kind", ["queries", "parity"])
def test_the_lower_bound_is_that_of_the_relation(kind):
    asked = queries(LOW) if kind == "queries" else ln.Parity(["a", "b"], [1, 2], outside=0)
    for relation, spread in (
        ("add_remove", math.exp(2 * 0.3) - 1),
        ("substitute", 2 * math.exp(2 * 0.3) - 2 * math.exp(-0.3)),
    ):
        made = planned(asked, relation, rho=0.3)
        least = made.certificate.lower * math.sqrt(2 * 0.3)  # at μ = 1
        assert made.lower_bound == pytest.approx(least / math.sqrt(spread), rel=1e-9)


COUNTED = {  # the question by what becomes of other rows, what keeps them, and the budget
    "queries": (lambda o: ln.Queries(np.eye(3)[:2], {"a": 3}, outside=o), {"a": 0}, ln.zcdp(1)),
    "records": (lambda o: ln.Queries(np.eye(3), {"a": 3}, outside=o), {"a": 0}, ln.pure_dp(1)),
    "parities": (lambda o: ln.Parity(["a", "b"], [1, 2], outside=o), 0, ln.zcdp(1)),
}


@pytest.mark.parametrize("name", COUNTED)
def test_totals_refuse_a_public_size_that_rows_may_change_and_one_that_is_none(name):
    """By themselves, whoever made them: a size that is private is never compared with a table's."""
    make, kept, budget = COUNTED[name]
    asked = {"mechanism": "laplace_histogram"} if name == "records" else {}
    made = ln.plan(make(kept), budget=budget, relation="substitute", size=10, **asked)
    totals = made.terms.mechanism.totals
    with pytest.raises(PlanError, match="dropping rows would change the public size"):
        dataclasses.replace(totals, question=make("drop"))
    for wrong in ({"size": None}, {"relation": "add_remove"}, {"size": 0}, {"size": True}):
        with pytest.raises(PlanError, match="size does not fit the relation"):
            dataclasses.replace(totals, **wrong)
