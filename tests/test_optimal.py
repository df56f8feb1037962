# SPDX-License-Identifier: Apache-2.0
"""The best mechanism of a finite problem: published optima, laws, exact privacy, exact draws."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import lownoise as ln
from lownoise.certificate import FiniteClaim, FiniteDual
from lownoise.certificate.finite import check_private
from lownoise.errors import EngineError, LedgerError, PlanError, QuestionError
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.lazy import UNIT
from lownoise.solvers.finite import needed_pairs, repaired

EPSILONS = (0.05, 0.3, 1.0, 2.5)
ALPHA = 1e-6  # error of the first kind
few = settings(max_examples=15)


def count(n, power=1.0):
    return ln.theory.finite_problem([[1.0]], size=n, power=power)


def best(problem, epsilon, prior=None):
    return ln.theory.optimal_mechanism(
        problem.distances, problem.errors, epsilon=epsilon, prior=prior
    )


LINE = count(2)


def truncated_geometric(n, epsilon):
    """i + Z with P(Z = z) ∝ e^{−ε|z|}, what falls outside 0 … n moved to the end: (n+1, n+1)."""
    a = math.exp(-epsilon)
    i, j = np.mgrid[: n + 1, : n + 1]
    inside = (1 - a) / (1 + a) * a ** np.abs(i - j)
    ends = a ** np.abs(i - j) / (1 + a)
    return np.where((j == 0) | (j == n), ends, inside)


def best_post_processing(law, errors):
    """The least worst error of law·Q over all Q that make an answer of an answer: few unknowns."""
    D, S, R = len(law), law.shape[1], errors.shape[1]
    own = np.einsum("xs,xr->xsr", law, errors).reshape(D, S * R)
    found = optimize.linprog(
        np.append(np.zeros(S * R), 1.0),
        A_ub=np.hstack([own, -np.ones((D, 1))]),
        b_ub=np.zeros(D),
        A_eq=np.hstack([np.kron(np.eye(S), np.ones((1, R))), np.zeros((S, 1))]),
        b_eq=np.ones(S),
    )
    return found.fun


def random_problem(rng, D=5, R=4):
    """Distances without the triangle inequality, some infinite; errors of any kind."""
    d = rng.integers(1, 6, (D, D)) / rng.integers(1, 4)
    d[rng.random((D, D)) < 0.3] = math.inf
    d = np.triu(d, 1)
    d[np.tril_indices(D)] = 0
    return d + d.T, rng.random((D, R)) * (rng.random((D, R)) < 0.8)


def exactly_private(P, d, epsilon):
    """The definition, in fractions and balls of 200 bits; shares nothing with the checker."""
    rows = [[Fraction(float(p)) for p in row] for row in P]
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    with precision(200):
        for x, y in itertools.permutations(range(len(d)), 2):
            if d[x, y] < math.inf:
                ratio = (arb(epsilon) * arb(float(d[x, y]))).exp().lower()
                for p, q in zip(rows[x], rows[y], strict=True):
                    small, large = (arb(v.numerator) / arb(v.denominator) for v in (p, q))
                    if d[x, y] == 0:
                        assert p == q
                    else:
                        assert small <= ratio * large or p == q == 0
    return True


# one count: the geometric mechanism (Ghosh, Roughgarden & Sundararajan 2009)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("power", [1.0, 2.0, 0.5])
def test_one_count_is_the_geometric_mechanism_made_better(n, epsilon, power):
    problem = count(n, power)
    found = best(problem, epsilon)
    wanted = best_post_processing(truncated_geometric(n, epsilon), problem.errors)
    assert found.error == pytest.approx(wanted, rel=1e-7)
    assert found.certificate.lower <= found.certificate.upper
    assert found.certificate.gap < 1e-7


def test_the_program_is_solved_to_the_last_digits():
    """HiGHS alone leaves 6e-8 here."""
    assert best(count(10), 5.0).certificate.gap < 1e-10


def test_the_geometric_mechanism_of_another_epsilon_is_not_it():
    """The comparison above has power."""
    problem = count(5)
    found = best(problem, 1.0)
    for off in (0.98, 1.02):
        wanted = best_post_processing(truncated_geometric(5, off), problem.errors)
        assert abs(wanted / found.error - 1) > 5e-3


@pytest.mark.parametrize("prior", [[1, 1, 1, 1, 1], [5, 1, 0, 1, 5], [0.1, 0.2, 0.3, 0.2, 0.2]])
def test_one_count_under_a_prior_is_the_geometric_mechanism_read_by_bayes(prior):
    problem = count(4)
    found = best(problem, 0.7, prior)
    w = np.array(prior) / np.sum(prior)
    law = truncated_geometric(4, 0.7)
    # each of its answers is read as whatever costs least on average: no program
    wanted = np.min((w[:, None] * law).T @ problem.errors, axis=1).sum()
    assert found.error == pytest.approx(wanted, rel=1e-9)
    assert found.prior == pytest.approx(w)


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("answers", [2, 3, 5])
def test_one_of_several_kinds_is_randomised_response(answers, epsilon):
    """Databases all at distance 1, an answer right or wrong: 1 − e^ε/(e^ε + k − 1)."""
    d = 1 - np.eye(answers)
    found = ln.theory.optimal_mechanism(d, d, epsilon=epsilon)
    wanted = (answers - 1) / (math.exp(epsilon) + answers - 1)
    assert found.error == pytest.approx(wanted, rel=1e-9)


# laws


@few
@given(seed=st.integers(0, 2**32 - 1), epsilon=st.sampled_from((0.01, *EPSILONS, 8.0)))
def test_any_problem_is_private_exactly_and_certified(seed, epsilon):
    rng = np.random.default_rng(seed)
    d, e = random_problem(rng)
    if rng.random() < 0.3:
        d[0, 1] = d[1, 0] = 0.0
    prior = rng.random(5) if rng.random() < 0.5 else None
    found = ln.theory.optimal_mechanism(d, e, epsilon=epsilon, prior=prior)
    assert exactly_private(found.probabilities, d, epsilon)
    each = (found.probabilities * e).sum(axis=1)
    wanted = each.max() if prior is None else each @ prior / prior.sum()
    assert wanted <= found.error * (1 + 1e-14) <= wanted + 1e-12
    assert found.certificate.lower <= found.certificate.upper <= found.certificate.lower + 1e-9
    found.certificate.verify()


def test_error_falls_from_the_best_constant_to_nothing():
    problem = ln.theory.finite_problem(np.eye(2), size=3)
    errors = [best(problem, epsilon).error for epsilon in (1e-5, 0.1, 0.5, 1, 3, 40)]
    D, R = problem.errors.shape
    constant = optimize.linprog(
        np.append(np.zeros(R), 1.0),
        A_ub=np.hstack([problem.errors, -np.ones((D, 1))]),
        b_ub=np.zeros(D),
        A_eq=[[1.0] * R + [0.0]],
        b_eq=[1.0],
    ).fun
    assert errors[0] == pytest.approx(constant, rel=1e-4)
    assert errors[0] <= constant * (1 + 1e-9)
    assert all(b < 0.97 * a for a, b in itertools.pairwise(errors))
    assert errors[-1] < 1e-12


def test_names_of_databases_and_answers_do_not_matter():
    rng = np.random.default_rng(3)
    d, e = random_problem(rng, 6, 5)
    x, r = rng.permutation(6), rng.permutation(5)
    one = ln.theory.optimal_mechanism(d, e, epsilon=0.8)
    other = ln.theory.optimal_mechanism(d[np.ix_(x, x)], e[np.ix_(x, r)], epsilon=0.8)
    assert other.error == pytest.approx(one.error, rel=1e-9)


def test_units_of_errors_and_distances():
    d, e = random_problem(np.random.default_rng(4))
    one = ln.theory.optimal_mechanism(d, e, epsilon=0.8)
    assert ln.theory.optimal_mechanism(d, 1e6 * e, epsilon=0.8).error == pytest.approx(
        1e6 * one.error
    )
    assert ln.theory.optimal_mechanism(d / 4, e, epsilon=3.2).error == pytest.approx(one.error)


@pytest.mark.parametrize("problem", [count(6), ln.theory.finite_problem(np.eye(2), size=3)])
def test_nothing_does_better_under_the_least_favourable_prior(problem):
    worst = best(problem, 1.0)
    assert worst.prior.sum() == pytest.approx(1)
    assert np.all(worst.prior >= 0)
    under = best(problem, 1.0, worst.prior)
    assert under.error == pytest.approx(worst.error, rel=1e-8)
    even = best(problem, 1.0, np.ones(len(worst.prior)))
    assert even.error < 0.97 * worst.error


@few
@given(seed=st.integers(0, 2**32 - 1))
def test_only_pairs_that_no_path_replaces_are_needed(seed):
    rng = np.random.default_rng(seed)
    d, _ = random_problem(rng, 7)
    if seed % 3 == 0:
        d[0, 1] = d[1, 0] = d[1, 2] = d[2, 1] = 0.0
    pairs = needed_pairs(d)
    kept = np.full(d.shape, math.inf)
    kept[tuple(pairs.T)] = d[tuple(pairs.T)]

    def shortest(table):
        table = table.copy()
        np.fill_diagonal(table, 0)
        for k in range(len(table)):
            table = np.minimum(table, table[:, k, None] + table[k])
        return table

    assert np.allclose(shortest(kept), shortest(d))
    for i in range(len(pairs) // 2):  # and each of them is
        fewer = np.delete(pairs, [i, i + len(pairs) // 2], axis=0)
        less = np.full(d.shape, math.inf)
        less[tuple(fewer.T)] = d[tuple(fewer.T)]
        assert not np.allclose(shortest(less), shortest(d))


def test_databases_at_no_distance_are_answered_alike_and_others_freely():
    d = np.array([[0, 0, math.inf], [0, 0, math.inf], [math.inf, math.inf, 0]])
    found = ln.theory.optimal_mechanism(d, 1 - np.eye(3), epsilon=1.0)
    assert np.array_equal(found.probabilities[0], found.probabilities[1])
    assert found.probabilities[0] == pytest.approx([0.5, 0.5, 0], abs=1e-9)
    assert found.error == pytest.approx(0.5)
    assert found.probabilities[2, 2] == 1.0


def test_an_answer_that_is_never_best_is_never_given():
    problem = count(3)
    useless = np.column_stack([problem.errors, np.full(4, 9.0)])
    found = ln.theory.optimal_mechanism(problem.distances, useless, epsilon=1.0)
    assert np.all(found.probabilities[:, 4] == 0)
    assert found.error == pytest.approx(best(problem, 1.0).error, rel=1e-12)


def test_what_is_free_is_free():
    found = ln.theory.optimal_mechanism(1 - np.eye(3), np.zeros((3, 2)), epsilon=1.0)
    assert found.error == found.certificate.lower == 0
    assert ln.theory.optimal_mechanism([[0]], [[3.0, 2.0]], epsilon=1.0).error == pytest.approx(2)


# in two dimensions: mechanisms made by hand are private too, and do worse


def exponential(problem, epsilon, scores):
    law = np.exp(-epsilon * scores)
    return law / law.sum(axis=1, keepdims=True)


def rounded_laplace(n, epsilon):
    """Laplace noise of scale 1/ε on a count, rounded, what is outside 0 … n moved to the end."""
    cuts = np.arange(n) + 0.5
    below = stats.laplace(scale=1 / epsilon).cdf(cuts - np.arange(n + 1)[:, None])
    ends = np.hstack([np.zeros((n + 1, 1)), below, np.ones((n + 1, 1))])
    return np.diff(ends, axis=1)


def on_the_grid(problem, one):
    """Two coordinates answered independently, of the answers 0 … n by 0 … n."""
    i, j = problem.histograms.astype(int).T
    return np.einsum("xa,xb->xab", one[i], one[j]).reshape(len(i), -1)


def test_two_counts_are_answered_better_than_by_anything_made_by_hand():
    n, epsilon = 3, 1.0
    grid = np.array(list(itertools.product(range(n + 1), repeat=2)), dtype=float)
    problem = ln.theory.finite_problem(np.eye(2), size=n, answers=grid)
    found = best(problem, epsilon)
    steps = np.abs(problem.histograms[:, None] - grid).sum(axis=2)
    hands = {
        "Laplace": on_the_grid(problem, rounded_laplace(n, epsilon)),
        "geometric": on_the_grid(problem, truncated_geometric(n, epsilon)),
        "exponential": exponential(problem, epsilon / 2, steps),  # its normaliser costs as much
    }
    for law in hands.values():
        assert exactly_private(repaired(law, problem.distances, epsilon), problem.distances, 1.0)
        assert found.certificate.upper < 0.9 * (law * problem.errors).sum(axis=1).max()


# evidence and privacy are checked, not believed


def claim_of(problem, epsilon=1.0, prior=None):
    return best(problem, epsilon, prior).certificate.claim


def test_a_mechanism_of_twice_the_epsilon_is_refused():
    claim = claim_of(count(4))
    doubled = replace(claim, probabilities=claim_of(count(4), 2.0).probabilities)
    with pytest.raises(PlanError, match="break epsilon"):
        doubled.certificate()
    for slightly in (1.001, 1 + 1e-9):
        other = replace(claim, probabilities=claim_of(count(4), slightly).probabilities)
        with pytest.raises(PlanError, match="break epsilon"):
            other.certificate()


def test_a_mechanism_that_ignores_one_edge_is_refused():
    problem = count(4)
    cut = problem.distances.copy()
    cut[:2, 2:] = cut[2:, :2] = math.inf
    without = ln.theory.optimal_mechanism(cut, problem.errors, epsilon=1.0).certificate.claim
    with pytest.raises(PlanError, match="break epsilon"):
        replace(without, distances=problem.distances).certificate()


def test_every_pair_is_checked_however_far():
    claim = ln.theory.optimal_mechanism(
        3 * LINE.distances, LINE.errors, epsilon=1.0
    ).certificate.claim
    with pytest.raises(PlanError, match="break epsilon"):
        check_private(claim.probabilities, 2.9 * LINE.distances, 1.0)
    check_private(claim.probabilities, 3.1 * LINE.distances, 1.0)


def test_one_unit_too_much_is_refused():
    """The check is exact to the last bit of a probability."""
    half = math.exp(-1.0) / (1 + math.exp(-1.0))
    for low, allowed in ((math.ceil(half / UNIT) + 1, True), (math.floor(half / UNIT) - 1, False)):
        p = low * UNIT
        P = np.array([[1 - p, p], [p, 1 - p]])
        d = 1 - np.eye(2)
        if allowed:
            check_private(P, d, 1.0)
            assert exactly_private(P, d, 1.0)
        else:
            with pytest.raises(PlanError, match="break epsilon"):
                check_private(P, d, 1.0)


@pytest.mark.parametrize("part", range(1, 20))
def test_one_unit_too_much_in_one_column_is_refused(part):
    """Of e²·P[1, 0], to a unit above; what P[0, 0] lacks is in columns with room."""
    low = int((0.08 + 0.001 * part) / UNIT)
    with precision(200):
        most = int((arb(2).exp() * low).floor().unique_fmpz())
    one = int(1 / UNIT)
    for high, allowed in ((most - 2, True), (most + 1, False)):
        rest = [(one - high) // 2, (one - low) // 2]
        P = (
            np.array(
                [
                    [high, rest[0], one - high - rest[0]],
                    [low, rest[1], one - low - rest[1]],
                ]
            )
            * UNIT
        )
        if allowed:
            check_private(P, 1 - np.eye(2), 2.0)
        else:
            with pytest.raises(PlanError, match="break epsilon"):
                check_private(P, 1 - np.eye(2), 2.0)


@pytest.mark.parametrize(
    "P",
    [[[0.5, 0.5 + 2**-52]], [[0.5, 0.25]], [[1.5, -0.5]], [[1 / 3, 2 / 3]], [[math.nan, 1.0]]],
)
def test_what_is_no_law_is_refused(P):
    with pytest.raises(PlanError, match="probabilities"):
        check_private(np.array(P), np.zeros((1, 1)), 1.0)


def test_no_evidence_proves_more_than_the_least():
    """Any z ≥ 0 and w ≥ 0 give a bound, and none is above the optimum; good ones come near it."""
    rng = np.random.default_rng(0)
    for problem in (count(4), ln.theory.finite_problem(np.eye(2), size=2)):
        claim = claim_of(problem)
        proof = claim.certificate()
        for size in (1e-9, 1e-3, 1.0, 30.0):
            z = claim.dual.multipliers * rng.lognormal(0, size, claim.dual.multipliers.shape)
            w = claim.dual.prior * rng.lognormal(0, size, claim.dual.prior.shape)
            for dual in (
                replace(claim.dual, multipliers=z),
                replace(claim.dual, prior=w),
                replace(claim.dual, prior=w, multipliers=z + rng.exponential(size, z.shape)),
            ):
                bound = replace(claim, dual=dual).certificate().lower
                assert 0 <= bound <= proof.upper
        loosened = replace(claim.dual, multipliers=1.01 * claim.dual.multipliers)
        assert replace(claim, dual=loosened).certificate().lower < proof.lower * (1 - 1e-3)


def test_evidence_for_a_looser_problem_proves_less_and_for_a_stricter_one_nothing_false():
    strict, loose = claim_of(count(4), 1.0), claim_of(count(4), 2.0)
    moved = replace(loose, dual=strict.dual)
    assert moved.certificate().lower <= loose.certificate().upper
    dropped = FiniteDual(strict.dual.prior, strict.dual.pairs[1:], strict.dual.multipliers[1:])
    assert replace(strict, dual=dropped).certificate().lower < 0.99 * strict.certificate().lower


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda dual: replace(dual, multipliers=-dual.multipliers), "negative"),
        (lambda dual: replace(dual, prior=-dual.prior), "negative"),
        (lambda dual: replace(dual, prior=0 * dual.prior), "negative"),
        (lambda dual: replace(dual, multipliers=dual.multipliers[1:]), "fit"),
        (lambda dual: replace(dual, pairs=dual.pairs + 3), "fit"),
        (lambda dual: replace(dual, prior=dual.prior[1:]), "fit"),
        (lambda dual: replace(dual, multipliers=dual.multipliers * math.inf), "negative"),
    ],
)
def test_malformed_evidence_is_refused(change, message):
    claim = claim_of(count(3))
    with np.errstate(invalid="ignore"), pytest.raises(PlanError, match=message):
        replace(claim, dual=change(claim.dual)).certificate()


def test_evidence_on_unrelated_databases_is_refused():
    claim = claim_of(count(2))
    d = np.full((3, 3), math.inf)
    np.fill_diagonal(d, 0)
    with pytest.raises(PlanError, match="no finite distance"):
        replace(claim, distances=d).certificate()


def test_a_stated_bound_that_evidence_does_not_give_is_refused():
    proof = best(count(3), 1.0).certificate
    with pytest.raises(PlanError, match="its evidence proves"):
        replace(proof, upper=proof.upper * 0.99).verify()
    assert isinstance(proof.claim, FiniteClaim)


def test_repair_makes_anything_private():
    rng = np.random.default_rng(1)
    d = count(3).distances.copy()
    for alike in (False, True) * 5:
        if alike:
            d[2, 3] = d[3, 2] = 0.0
        P = rng.dirichlet(np.full(5, 0.3), size=4)
        assert exactly_private(repaired(P, d, 1.0), d, 1.0)


# draws


def chi_square(seen, law):
    used = law > 0
    assert seen[~used].sum() == 0
    expected = law[used] * seen.sum()
    return float(np.sum((seen[used] - expected) ** 2 / expected)), int(used.sum()) - 1


def test_draws_have_the_stated_law_and_no_other():
    found = best(count(4), 1.0)
    randomness, n = SimulationRandomness(5), 12_000
    for index in (0, 2):
        drawn = [found.draw(index, randomness=randomness) for _ in range(n)]
        seen = np.bincount(drawn, minlength=5).astype(float)
        law = found.probabilities[index]
        statistic, df = chi_square(seen, law)
        limit = stats.chi2(df).isf(ALPHA)
        assert statistic < limit
        # power: the law of a slightly different ε, and of a neighbour, would have been rejected
        for other in (best(count(4), 1.15).probabilities[index], found.probabilities[index + 1]):
            lam = n * float(np.sum((other - law)[law > 0] ** 2 / law[law > 0]))
            assert stats.ncx2(df, lam).cdf(limit) < 1e-3
            assert chi_square(seen, other)[0] > limit


class Word:
    """Serve one 64-bit word."""

    def __init__(self, word):
        self.word = word

    def words(self, count):
        assert count == 1
        return np.array([self.word], dtype=np.uint64)


def test_every_word_is_where_exact_arithmetic_puts_it():
    """Both sides of every end of every interval."""
    found = best(count(3), 0.5)
    for index, row in enumerate(found.probabilities):
        ends = list(itertools.accumulate(Fraction(float(p)) for p in row))
        units = [int(end * 2**52) for end in ends]
        assert all(Fraction(u, 2**52) == e for u, e in zip(units, ends, strict=True))
        for r, (start, end) in enumerate(itertools.pairwise([0, *units])):
            for unit in {start, end - 1} if end > start else ():
                for rest in (0, 2**12 - 1):
                    assert found.draw(index, randomness=Word((unit << 12) + rest)) == r


def test_draws_come_from_the_operating_system():
    found = best(count(20), 0.05)
    assert len({found.draw(10) for _ in range(60)}) > 1


def test_a_ledger_pays_for_draws_until_it_cannot(tmp_path):
    found = best(count(3), 0.1)
    assert found.epsilon == 0.1
    ledger = ln.Ledger.create(tmp_path / "ledger.sqlite", "people", ln.pure_dp(0.2))
    for _ in range(2):
        assert found.draw(1, ledger=ledger) in range(4)
    with pytest.raises(LedgerError):
        found.draw(1, ledger=ledger)
    assert [entry.event.epsilon for entry in ledger.entries()] == [0.1, 0.1]


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1 / 3, 1.1])
def test_epsilon_is_meant_as_it_prints_and_as_its_float(epsilon):
    found = best(count(1), epsilon)
    assert found.epsilon == epsilon
    used = Fraction(found.certificate.claim.epsilon)
    assert used <= min(Fraction(epsilon), Fraction(repr(epsilon)))
    assert used >= Fraction(epsilon) * (1 - Fraction(1, 2**50))


@pytest.mark.parametrize("index", [-1, 4, 10**30, 1.5, "0", None, slice(0, 1), [0, 1]])
def test_an_index_that_is_none_is_refused_without_a_word_about_it(index, tmp_path):
    found = best(count(3), 1.0)
    ledger = ln.Ledger.create(tmp_path / "ledger.sqlite", "people", ln.pure_dp(1.0))
    with pytest.raises(EngineError) as refusal:
        found.draw(index, ledger=ledger)
    assert str(refusal.value) == (
        "index is no database, and a spend on it stays reserved; give an integer from 0 to 3"
    )
    assert [entry.state for entry in ledger.entries()] == ["reserved"]  # the refusal told of it


# what is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0}, "epsilon=0 is out of range"),
        ({"epsilon": -1}, "epsilon=-1 is out of range"),
        ({"epsilon": math.inf}, "epsilon=inf is out of range"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"epsilon": "much"}, "epsilon='much' is not a number"),
        ({"errors": -LINE.errors}, r"errors\[0, 1\]=-1 is out of range"),
        ({"errors": LINE.errors * math.nan}, "not finite"),
        ({"errors": LINE.errors + 1e300}, "out of range"),
        ({"errors": np.ones((3, 0))}, "errors has shape"),
        ({"errors": np.ones((3, 5000))}, "more than 5,000"),
        ({"errors": [1, 2, 3]}, "errors has shape"),
        ({"distances": 1 - np.eye(101), "errors": np.ones((101, 3))}, "more than 30,000 constr"),
        ({"distances": LINE.distances[:2]}, "distances has shape"),
        ({"distances": LINE.distances - 1}, "is no distance"),
        ({"distances": LINE.distances * math.nan}, "is no distance"),
        ({"distances": LINE.distances + 1}, "is not 0"),
        ({"distances": np.triu(LINE.distances)}, "differ; give the smaller"),
        ({"distances": "abc"}, "distances is not a table"),
        ({"prior": [1, 1]}, "prior has 2 weights for 3"),
        ({"prior": [1, -1, 1]}, "prior has a weight below 0"),
        ({"prior": [0, 0, 0]}, "none above it"),
        ({"prior": [1, math.nan, 1]}, "not finite"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(change, message):
    arguments = {"distances": LINE.distances, "errors": LINE.errors, "epsilon": 1.0} | change
    d, e = arguments.pop("distances"), arguments.pop("errors")
    with pytest.raises(PlanError, match=message) as refusal:
        ln.theory.optimal_mechanism(d, e, **arguments)
    assert "\n" not in str(refusal.value)
    assert ";" in str(refusal.value)


# problems


@pytest.mark.parametrize(
    ("ours", "other"), [("substitute", "bounded"), ("add_remove", "unbounded")]
)
def test_a_relation_by_another_name_makes_the_same_problem(ours, other):
    one, same = (ln.theory.finite_problem(np.eye(3), size=2, relation=r) for r in (ours, other))
    assert one.histograms.tolist() == same.histograms.tolist()
    assert one.distances.tolist() == same.distances.tolist()


def test_a_problem_of_histograms_is_what_it_says():
    W = np.array([[1.0, 1, 0], [0, 2, 1]])
    found = ln.theory.finite_problem(W, size=3, relation="substitute", order=np.inf, power=2)
    assert sorted(map(tuple, found.histograms.tolist())) == sorted(
        h for h in itertools.product(range(4), repeat=3) if sum(h) == 3
    )
    for x, y in itertools.product(range(10), repeat=2):
        moved = found.histograms[x] - found.histograms[y]
        assert found.distances[x, y] == np.maximum(moved, 0).sum()
    exact = found.histograms @ W.T
    assert {tuple(a) for a in found.answers} == {tuple(a) for a in exact}
    off = exact[:, None] - found.answers
    assert np.allclose(found.errors, np.abs(off).max(axis=2) ** 2)
    added = ln.theory.finite_problem(W, size=2, answers=[[0, 0], [1, 1]], order=1)
    assert added.histograms.shape == (10, 3)
    assert added.errors.shape == (10, 2)
    assert np.allclose(added.errors[:, 0], np.abs(added.histograms @ W.T).sum(axis=1))
    assert added.distances.max() == 4
    for array in (added.histograms, added.answers, added.distances, added.errors):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queries": np.zeros((0, 2))}, "queries has shape"),
        ({"queries": [[1e200]]}, "beyond"),
        ({"size": 0}, "size=0"),
        ({"size": 2.0}, "size=2.0"),
        ({"size": True}, "size=True"),
        ({"size": 10**9}, "more than 1,000"),
        ({"relation": "swap"}, "relation='swap' is unknown"),
        ({"answers": [[1.0]]}, "answers has shape"),
        ({"order": 0.5}, "order=0.5"),
        ({"order": math.nan}, "order=nan"),
        ({"power": 0}, "power=0"),
        ({"power": math.nan}, "power=nan"),
    ],
)
def test_a_problem_that_cannot_be_is_refused_in_one_line(change, message):
    arguments = {"queries": np.eye(2), "size": 2} | change
    with pytest.raises(QuestionError, match=message) as refusal:
        ln.theory.finite_problem(arguments.pop("queries"), **arguments)
    assert "\n" not in str(refusal.value)
    assert ";" in str(refusal.value)
