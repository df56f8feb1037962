# SPDX-License-Identifier: Apache-2.0
"""What no mechanism beats for linear answers: the constants, and mechanisms that stay above."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

import lownoise as ln
from lownoise.bounds.every import every_approx, every_zcdp, finite_down, finite_zcdp_down
from lownoise.errors import BudgetError, PlanError
from lownoise.theory.spectral import prefix_trace_norm

BUDGETS = [
    ln.zcdp(0.005),
    ln.zcdp(3.0),
    ln.zcdp(1e6),
    ln.gaussian_dp(0.1),
    ln.approx_dp(0.1, 1e-9),
    ln.approx_dp(1.0, 0.3),
    ln.pure_dp(0.1),
    ln.pure_dp(3.0),
    ln.pure_dp(1e3),
]


def prefix(n):
    return np.tril(np.ones((n, n)))


def least_deviation(epsilon, delta, per=3, reach=12):
    """√min E Z² over laws on a grid that a step of 1 does not tell apart: a linear program."""
    n = 2 * per * reach + 1
    z = np.arange(-per * reach, per * reach + 1) / per
    A = lil_matrix((2 * n + 2, 3 * n))
    for i in range(n):
        for row, other, late in ((i, i + per, n), (n + i, i - per, 2 * n)):
            A[row, i] = 1  # (P(z) − e^ε·P(z ± 1))₊ is one more unknown, δ in all
            A[row, late + i] = -1
            if 0 <= other < n:
                A[row, other] = -math.exp(epsilon)
    A[2 * n, n : 2 * n] = 1
    A[2 * n + 1, 2 * n :] = 1
    limits = np.zeros(2 * n + 2)
    limits[2 * n :] = delta
    whole = np.concatenate([np.ones(n), np.zeros(2 * n)])[None]
    cost = np.concatenate([z**2, np.zeros(2 * n)])
    found = linprog(cost, A_ub=A.tocsr(), b_ub=limits, A_eq=whole, b_eq=[1])
    assert found.status == 0
    return math.sqrt(found.fun)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-2), (1.0, 0.1), (0.7, 0.03), (3.0, 1e-3), (2.0, 1e-4)]
)
def test_the_constant_is_nearly_what_a_linear_program_finds(epsilon, delta):
    """A law on a grid is a law, so that its deviation is no less; and it is hardly more."""
    least = least_deviation(epsilon, delta)
    assert 0.95 * least < every_approx(epsilon, delta) <= least * (1 + 1e-9)


@pytest.mark.grid(3)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.3), (0.5, 0.2), (1.0, 0.01), (0.3, 1e-4)])
def test_the_constant_is_the_least_of_what_its_inequalities_leave(epsilon, delta):
    """4∫[c(t)T(t) + c(1−t)T(1−t)] − 2B, each T found by a linear program, for the best J."""
    q = math.exp(-epsilon)
    t = (np.arange(40) + 0.5) / 80
    best = 0.0
    for last in (0, 1, 2, 3, 5, 8, 13, 21, 34):
        j = np.arange(last + 1)
        cost = np.stack([((t[:, None] + j) @ q**j), ((1 - t[:, None] + j) @ q**j)], axis=1)
        least = [
            linprog(
                own,
                A_ub=[[-1, -q], [-q, -1]],
                b_ub=[-q * (1 - delta)] * 2,
                bounds=[(0, 0.5)] * 2,
            ).fun
            for own in cost
        ]
        lost = delta * q / (1 - q) * np.sum((1 + 2 * j) * (1 - q**j))
        best = max(best, 4 * np.mean(least) / 2 - 2 * lost)
    assert every_approx(epsilon, delta) ** 2 == pytest.approx(best, rel=0.03)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("delta", [1e-3, 0.2])
def test_a_bit_that_is_sometimes_shown_has_the_constant_exactly(epsilon, delta):
    """With a chance of δ the bit itself, else randomized response: nothing (ε, δ)-DP tells more."""
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    exact = math.sqrt((1 - delta) * share * (1 - share))
    assert finite_down(1, epsilon=epsilon, delta=delta) == pytest.approx(exact, rel=1e-9)


@pytest.mark.grid(3)
@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("epsilon", [1e-4, 0.3])
def test_counting_is_the_best_of_its_groups_and_below_an_answer_that_never_changes(
    n, most, epsilon
):
    """t·most/2 in round t costs nothing, and is off by half of what a stream may add."""
    found = ln.theory.counting_bound(n, ln.pure_dp(epsilon), most=most).value
    assert found <= most / 2 * math.sqrt(np.mean(np.arange(1, n + 1) ** 2))
    best = finite_down(most, epsilon=epsilon) * prefix_trace_norm(n) / n
    for size in range(2, n + 1):
        k = n // size
        trace = prefix_trace_norm(k) / k
        for a in range(1, size):
            part = math.sqrt(k * (size - a) / n)
            best = max(best, part * finite_down(a * most, epsilon=epsilon) * trace)
    assert 0.93 * best <= found <= best * (1 + 1e-9)


def test_without_delta_it_is_that_of_geometric_noise():
    for epsilon in (1e-4, 0.1, 1.0, 5.0):
        q = math.exp(-epsilon)
        exact = math.sqrt(2 * q) / (1 - q)
        assert every_approx(epsilon, 0.0) == pytest.approx(exact, rel=1e-7)
        assert every_approx(epsilon, 0.0) <= exact


@pytest.mark.parametrize("rho", [1e-6, 0.005, 0.5, 3.0])
def test_gaussian_noise_is_above_the_constants(rho):
    deviation = 1 / math.sqrt(2 * rho)
    assert every_zcdp(rho) < deviation
    for most in (1, 2, 5, 40, 10**6):
        assert finite_zcdp_down(most, rho) < deviation
    if rho < 0.01:
        assert every_zcdp(rho) > 0.995 * deviation


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("most", [1, 3, 8])
def test_no_mechanism_of_one_count_beats_the_constant(epsilon, most):
    """The least greatest error of all, by a linear program; estimates at quarters cost a little."""
    levels = np.arange(most + 1.0)
    estimates = np.linspace(0, most, 4 * most + 1)
    errors = np.square(levels[:, None] - estimates)
    best = ln.theory.optimal_mechanism(
        np.abs(levels[:, None] - levels), errors, epsilon=epsilon
    ).certificate.lower
    assert finite_down(most, epsilon=epsilon) ** 2 <= best * (1 + 1e-6)
    assert finite_down(most, epsilon=epsilon) ** 2 > 0.4 * best


def least_of_counts(most, epsilon, delta, per=3):
    """The least greatest mean square error of counts in 0…M under (ε, δ): a linear program."""
    levels, answers = np.arange(most + 1), np.linspace(0, most, per * most + 1)
    n = len(answers)
    size = (most + 1) * n
    pairs = [(j, k) for j in levels for k in (j - 1, j + 1) if 0 <= k <= most]
    A = lil_matrix((len(pairs) * (n + 1) + most + 1, size + len(pairs) * n + 1))
    limits = np.zeros(A.shape[0])
    for i, (j, k) in enumerate(pairs):
        for r in range(n):  # (p_j − e^ε·p_k)₊ is one more unknown
            A[i * n + r, j * n + r] = 1
            A[i * n + r, k * n + r] = -math.exp(epsilon)
            A[i * n + r, size + i * n + r] = -1
        A[len(pairs) * n + i, size + i * n : size + (i + 1) * n] = 1
        limits[len(pairs) * n + i] = delta
    for j in levels:
        row = len(pairs) * (n + 1) + j
        A[row, j * n : (j + 1) * n] = np.square(answers - j)
        A[row, A.shape[1] - 1] = -1
    whole = lil_matrix((most + 1, A.shape[1]))
    for j in levels:
        whole[j, j * n : (j + 1) * n] = 1
    cost = np.zeros(A.shape[1])
    cost[-1] = 1
    found = linprog(cost, A_ub=A.tocsr(), b_ub=limits, A_eq=whole.tocsr(), b_eq=np.ones(most + 1))
    assert found.status == 0
    return math.sqrt(found.fun)


@pytest.mark.parametrize(
    ("most", "epsilon", "delta"),
    [(1, 0.5, 0.1), (3, 0.5, 0.1), (9, 1.0, 1e-2), (9, 1.0, 1e-4), (6, 2.0, 0.05), (12, 3.0, 1e-3)],
)
def test_no_mechanism_of_one_count_beats_the_constant_at_a_delta(most, epsilon, delta):
    least = least_of_counts(most, epsilon, delta)
    assert 0.6 * least < finite_down(most, epsilon=epsilon, delta=delta) <= least * (1 + 1e-7)


@pytest.mark.parametrize("rho", [0.02, 0.3, 2.0])
@pytest.mark.parametrize("most", [1, 4, 20])
def test_the_posterior_mean_of_a_count_with_gaussian_noise_is_above_the_constant(rho, most):
    """Biased, and the best of that noise under a prior: the proof's own, or an even one."""
    levels, deviation = np.arange(most + 1.0), 1 / math.sqrt(2 * rho)
    a = np.linspace(-7 * deviation, most + 7 * deviation, 4001)
    density = np.exp(-0.5 * np.square((a - levels[:, None]) / deviation))
    density /= np.sum(density, axis=1, keepdims=True)
    chi = math.sqrt(math.expm1(2 * rho))
    prior = np.array([math.hypot(1, chi), *[chi] * (most - 1), 1])
    for weights in (prior / prior.sum(), np.full(most + 1, 1 / (most + 1))):
        joint = weights[:, None] * density
        mean = levels @ joint / joint.sum(axis=0)
        error = float(np.sum(joint * np.square(mean - levels[:, None])))
        worst = np.max(np.sum(density * np.square(mean - levels[:, None]), axis=1))
        assert finite_zcdp_down(most, rho) ** 2 <= worst
        if weights[0] != weights[-1]:  # under its own prior the proof says it of the mean
            assert (most / np.sum(prior)) ** 2 <= error


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
@pytest.mark.parametrize(
    "domain", [ln.Box([0, -1], [1, 2]), ln.Ball(3), ln.Points(np.eye(4))], ids=str
)
def test_no_mean_has_a_bound_above_gaussian_noise(domain, order):
    least = ln.theory.enclose(ln.difference_body(domain), order=order).certificate.upper
    for budget in (ln.zcdp(0.005), ln.zcdp(2.0), ln.approx_dp(1, 1e-6)):
        noise = least / budget.gaussian_parameter()  # times n: ‖deviations‖_p
        last = 0.0
        for n in (11, 50, 10**4, 10**8):
            found = ln.theory.worst_table_bound(domain, budget, size=n, order=order)
            assert last * (1 - 1e-9) <= found.value * n <= noise
            last = found.value * n
        summed = ln.theory.worst_table_bound(domain, budget, order=order)
        mirrored = 2 if not isinstance(domain, ln.Points) else 1  # K − v is half of K − K
        assert 0 < summed.value <= noise / mirrored
    found = ln.theory.worst_table_bound(domain, ln.zcdp(0.005), size=10**8, order=order)
    assert found.value * 10**8 > 0.99 * least / 0.1


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomised_response_is_above_what_bits_need(epsilon):
    """Of a bit nothing is better than ½ ± c by the answer; its mean square error is the bound."""
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    error = math.sqrt(share * (1 - share))  # of the posterior mean, both bits alike
    assert finite_down(1, epsilon=epsilon) == pytest.approx(error, rel=1e-9)
    assert finite_down(1, epsilon=epsilon) <= error


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_more_room_never_lowers_a_bound(budget):
    W = prefix(6)
    found = [ln.theory.workload_bound(W, budget, most=most).value for most in (1, 2, 7, 1000)]
    assert found == sorted(found)
    assert all(value >= 0 for value in found)
    assert ln.theory.workload_bound(W, budget).value >= 0


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
@pytest.mark.parametrize("budget", [ln.zcdp(0.005), ln.zcdp(0.5), ln.approx_dp(1, 1e-6)], ids=str)
def test_no_bound_is_above_gaussian_noise(budget, order):
    """Its (E‖error‖_p²)^{1/2} is at least √tr_{p/2}, of the best factors."""
    W = np.random.default_rng(3).normal(size=(5, 7))
    best = ln.theory.factorize(W, order=order)
    bound = ln.theory.workload_bound(best, budget, order=order)
    assert bound.value < best.certificate.upper / budget.gaussian_parameter()
    assert bound.value == pytest.approx(
        ln.theory.workload_bound(W, budget, order=order).value, rel=1e-9
    )


def test_bits_reach_an_error_that_grows_as_epsilon_falls():
    """Theorem 4: rounds in groups make room, so that 1/ε comes in; alone bits have a half."""
    far, near = (ln.theory.counting_bound(2**14, ln.pure_dp(e)).value for e in (0.01, 1.0))
    assert far > 8 * near
    for most in (1, 3, 50):
        bound = ln.theory.counting_bound(500, ln.pure_dp(0.05), most=most)
        assert bound.value <= ln.theory.counting_bound(500, ln.pure_dp(0.05), most=None).value


@pytest.mark.grid
@pytest.mark.parametrize("n", [1, 2, 3, 17, 64])
@pytest.mark.parametrize("most", [1, 5, None])
@pytest.mark.parametrize("budget", [ln.zcdp(0.05), ln.approx_dp(0.5, 1e-6)], ids=str)
def test_counting_is_below_the_square_root_mechanism(n, most, budget):
    """Theorem 2's mechanism, with its exact error."""
    r = np.cumprod(np.concatenate([[1.0], 1 - 1 / (2 * np.arange(1, n))]))
    error = math.sqrt(np.sum(np.arange(n, 0, -1) * r**2) * np.sum(r**2) / n)
    bound = ln.theory.counting_bound(n, budget, most=most)
    assert 0 < bound.value < error / budget.gaussian_parameter()


def test_a_half_is_exact_for_groups_that_are_written_out():
    """The groups' proof, by the matrix of their informative rounds: nothing but W is used."""
    n, adding, idle = 12, 2, 2
    W = prefix(n)
    rows = [t for t in range(n) if t % (adding + idle) >= adding]
    columns = list(range(0, n, adding + idle))
    groups = W[np.ix_(rows, columns)]
    trace = np.linalg.norm(prefix(3), "nuc")
    assert ln.theory.factorize(groups).certificate.upper >= math.sqrt(idle) * trace / math.sqrt(3)


@pytest.mark.parametrize(("bits", "degree"), [(3, 0), (3, 1), (4, 2), (5, 5)])
def test_parities_are_what_their_matrix_gives(bits, degree):
    signs = np.array([[1 - 2 * ((x >> i) & 1) for i in range(bits)] for x in range(2**bits)])
    sets = [T for T in range(2**bits) if T.bit_count() == degree]
    rows = [np.prod(signs[:, [i for i in range(bits) if T >> i & 1]], axis=1) for T in sets]
    W = np.array(rows, dtype=float)
    assert ln.theory.factorize(W).certificate.upper == pytest.approx(len(sets), rel=1e-6)
    bound = ln.theory.parity_bound(bits, degree, ln.zcdp(0.1))
    root = math.sqrt(len(sets))
    assert bound.value == pytest.approx(
        ln.theory.workload_bound(W, ln.zcdp(0.1)).value / root, rel=1e-6
    )


def test_the_factors_mechanism_is_what_a_stream_has():
    """Theorem 36, first part, run by `ln.stream` with the best factors."""
    budget = ln.approx_dp(1.0, 1e-6)
    found = ln.theory.factorize(prefix(32), rtol=1e-9)
    error = ln.theory.factorization_error(found.left, found.right, budget)
    bound = ln.theory.workload_bound(found, budget)
    assert bound.value < error.value
    mu = budget.gaussian_parameter()
    assert error.value == pytest.approx(found.certificate.upper / mu, rel=1e-7)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: ln.theory.workload_bound(prefix(3), ln.local_dp(1.0)), "budget="),
        (lambda: ln.theory.workload_bound(prefix(3), 0.5), "budget=float"),
        (lambda: ln.theory.workload_bound(prefix(3), ln.zcdp(1.0), most=0), "most=0"),
        (lambda: ln.theory.workload_bound(prefix(3), ln.zcdp(1.0), most=1.5), r"most=1\.5"),
        (
            lambda: ln.theory.worst_table_bound(ln.Ball(3), ln.zcdp(1.0), size=6),
            "needs 7",
        ),
        (lambda: ln.theory.worst_table_bound(3, ln.zcdp(1.0), size=9), "domain=int"),
        (lambda: ln.theory.counting_bound(0, ln.zcdp(1.0)), "rounds=0"),
        (lambda: ln.theory.parity_bound(3, 4, ln.zcdp(1.0)), "degree=4"),
        (
            lambda: ln.theory.workload_bound(
                ln.theory.factorize(prefix(3)), ln.zcdp(1.0), order=4.0
            ),
            "order",
        ),
        (
            lambda: ln.theory.workload_bound(
                ln.theory.factorize(prefix(3), shift=True), ln.zcdp(1.0)
            ),
            "shift",
        ),
        (lambda: ln.theory.factorization_error(np.eye(2), np.eye(3), ln.zcdp(1.0)), "columns"),
    ],
)
def test_refuses(call, match):
    with pytest.raises(PlanError, match=match):
        call()


def test_no_gaussian_keeps_a_pure_budget():
    with pytest.raises(BudgetError, match="pure"):
        ln.theory.factorization_error(np.eye(2), np.eye(2), ln.pure_dp(1.0))
