# SPDX-License-Identifier: Apache-2.0
"""What knows an answer (002, Theorem 53), in fractions: law, privacy, error and draws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import DomainError, EngineError, LedgerError, PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.theory.counterexample import _floats

DELTAS = (0.5, 0.1, 1e-6)
# lists of points whose tables are all looked at, and how many rows
SMALL = {
    "bits": ([[0.0], [1.0]], 3),
    "three numbers": ([[0.1], [0.3], [-2.0]], 3),
    "a triangle": ([[0.0, 0.0], [1.0, 0.25], [0.5, -1.0]], 2),
}
ALPHA = 1e-6  # error of the first kind


def tables(name):
    points, n = SMALL[name]
    return [list(rows) for rows in itertools.product(points, repeat=n)]


def mean(table):
    return tuple(sum(map(Fraction, column)) / len(table) for column in zip(*table, strict=True))


def expected(law):
    size = len(law[0][1])
    return tuple(sum(chance * answer[k] for chance, answer in law) for k in range(size))


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("name", SMALL)
def test_it_is_unbiased_on_every_table_and_exact_on_the_known_one(name, delta):
    every = tables(name)
    guess = ln.theory.exact_on(every[1], delta=delta)
    for table in every:
        law = guess.law(table)
        assert sum(chance for chance, _ in law) == 1
        assert expected(law) == mean(table)
    assert guess.law(every[1]) == ((1, mean(every[1])),)
    assert guess.error(every[1]) == 0 == np.max(np.abs(guess.covariance(every[1])))


@pytest.mark.grid
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("name", SMALL)
def test_the_laws_at_any_two_tables_differ_with_chance_delta_at_most(name, delta):
    """By every set of answers, which is more than neighbours ask: (0, δ) for any two tables."""
    every, exact = tables(name), Fraction(str(delta))
    guess = ln.theory.exact_on(every[1], delta=delta)
    for table, other in itertools.product(every, repeat=2):
        first, second = ({a: c for c, a in guess.law(t)} for t in (table, other))
        answers = sorted(set(first) | set(second))
        worst = max(
            sum((first.get(a, 0) - second.get(a, 0) for a in chosen), Fraction(0))
            for k in range(len(answers) + 1)
            for chosen in itertools.combinations(answers, k)
        )
        assert worst == (exact if mean(table) != mean(other) else 0)
        assert worst == guess.total_variation(table, other)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("name", SMALL)
def test_error_and_covariance_are_those_of_the_law(name, delta):
    every = tables(name)
    guess = ln.theory.exact_on(every[1], delta=delta)
    worst = 0.0
    for table in every:
        law, at = guess.law(table), mean(table)
        square = sum(
            chance * sum((x - m) ** 2 for x, m in zip(answer, at, strict=True))
            for chance, answer in law
        )
        assert 0 <= guess.error(table) - math.sqrt(square) <= 1e-15 * math.sqrt(square)
        found = guess.covariance(table)
        for i, j in np.ndindex(found.shape):
            own = sum(chance * (a[i] - at[i]) * (a[j] - at[j]) for chance, a in law)
            assert found[i, j] == pytest.approx(float(own), rel=1e-14, abs=0)
        if sum(row != known for row, known in zip(table, every[1], strict=True)) == 1:
            worst = max(worst, guess.error(table))
    found = guess.neighbour_error(ln.Points(SMALL[name][0]))
    assert worst <= found <= worst * (1 + 1e-9)


def test_beside_the_known_table_the_error_grows_as_one_over_the_root_of_delta():
    ages = np.linspace(0, 1, 5)[:, None]
    beside = [
        ln.theory.exact_on(ages, delta=delta).neighbour_error(ln.Box([0], [1]))
        for delta in (1e-4, 1e-6, 1e-8)
    ]
    assert beside == pytest.approx([math.sqrt(1 / d - 1) / 5 for d in (1e-4, 1e-6, 1e-8)])


def test_no_bound_of_every_table_holds_for_it_and_the_source_s_alternative_does():
    """A Gaussian of (1, δ) errs everywhere; this one nowhere at X₀ and by 1/√δ beside it."""
    delta, n = 1e-6, 100
    domain = ln.Box([0, 0], [1, 1])
    guess = ln.theory.exact_on(np.full((n, 2), 0.5), delta=delta)
    noise = ln.plan(
        ln.Mean(["a", "b"], domain), budget=ln.approx_dp(1, delta), relation="substitute", size=n
    )
    assert guess.error(guess.reference) == 0 < noise.error
    assert guess.neighbour_error(domain) > 50 * noise.error


@pytest.mark.grid(1)
@pytest.mark.parametrize("delta", [0.5, 0.1])
def test_draws_have_the_law_and_the_coin_is_exact(delta):
    """20,000 draws: with p ± 5 deviations of the count the chance to fail is below ALPHA.

    A coin of 1.15·δ, or of δ/1.15, is refused at a tenth with chance 0.97: 300 off, where
    five deviations are 212.
    """
    guess = ln.theory.exact_on([[0.0], [1.0]], delta=delta)
    source, n = SimulationRandomness(21), 20_000
    table = [[1.0], [1.0]]
    answers = [float(guess.draw(table, randomness=source)[0]) for _ in range(n)]
    values = {float(answer[0]) for _, answer in guess.law(table)}
    assert set(answers) == values
    truly = sum(answer != 0.5 for answer in answers)
    assert abs(truly - n * delta) <= 5 * math.sqrt(n * delta * (1 - delta))


def test_the_coin_s_ends_are_where_delta_says():
    """The word just below 1 − δ keeps the known answer, and the one just above does not."""
    guess = ln.theory.exact_on([[0.0], [1.0]], delta=0.25)

    class Fixed:
        def __init__(self, word):
            self.word = word

        def words(self, count):
            return np.array([self.word] * count, dtype=np.uint64)

    edge = 3 * 2**62
    assert guess.draw([[1.0], [1.0]], randomness=Fixed(edge - 1))[0] == 0.5
    assert guess.draw([[1.0], [1.0]], randomness=Fixed(edge))[0] == 0.5 + 0.5 / 0.25


def test_a_ledger_pays_zero_and_delta_and_refuses_before_a_draw(tmp_path):
    account = ln.Ledger.create(
        tmp_path / "a.ledger", "people", ln.approx_dp(1.0, 1e-6), reading="basic"
    )
    guess = ln.theory.exact_on([[0.0], [1.0]], delta=6e-7)
    guess.draw([[1.0], [1.0]], ledger=account)
    assert account.taken() == {"epsilon": 0.0, "delta": 6e-7}
    with pytest.raises(LedgerError):
        guess.draw([[1.0], [1.0]], ledger=account)
    for wrong in ([[1.0]], [["secret"], [1.0]], "secret"):
        with pytest.raises(PlanError, match="table") as refused:
            guess.draw(wrong, ledger=account)
        assert "secret" not in str(refused.value)
    assert account.taken() == {"epsilon": 0.0, "delta": 6e-7}


def test_what_rows_hold_makes_one_message_and_the_spend_stays(tmp_path):
    account = ln.Ledger.create(
        tmp_path / "a.ledger", "people", ln.approx_dp(1.0, 1e-3), reading="basic"
    )
    guess = ln.theory.exact_on([[0.0], [1.0]], delta=1e-6)
    said = set()
    for wrong in (math.nan, math.inf):
        with pytest.raises(EngineError) as refused:
            guess.draw([[1.0], [wrong]], ledger=account)
        said.add(str(refused.value))
    assert len(said) == 1
    assert account.taken()["delta"] == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("reference", "delta", "said"),
    [
        ([[0.0], [1.0]], 0.0, "delta=0"),
        ([[0.0], [1.0]], 1.0, "delta=1"),
        ([[0.0], [1.0]], math.nan, "delta"),
        ([[0.0], [math.nan]], 0.5, "reference"),
        (np.zeros((0, 2)), 0.5, "reference has shape"),
        (np.zeros((1001, 1000)), 0.5, "reference has shape"),
        ("table", 0.5, "reference"),
    ],
)
def test_refuses_what_is_no_table_or_no_chance(reference, delta, said):
    with pytest.raises(PlanError, match=said):
        ln.theory.exact_on(reference, delta=delta)


def test_refuses_other_domains_and_tables():
    guess = ln.theory.exact_on([[0.0], [1.0]], delta=0.5)
    for domain in (ln.Box([0, 0], [1, 1]), "box"):
        with pytest.raises(DomainError, match="domain="):
            guess.neighbour_error(domain)
    with pytest.raises(PlanError, match="shape"):
        guess.error([[1.0]])
    many = ln.theory.exact_on(np.arange(1001.0)[:, None], delta=0.5)
    with pytest.raises(PlanError, match="different rows"):
        many.neighbour_error(ln.Box([0], [2000]))


def test_answers_beyond_the_floats_are_infinite_and_told_as_every_other():
    """A draw that is paid for ends in an answer, whatever the rows hold."""
    own = ln.theory.exact_on([[0.0]], delta=1e-300)
    assert own.error([[1e250]]) == math.inf
    assert own.covariance([[-1e200]])[0, 0] == math.inf
    assert _floats((Fraction(10) ** 400, -(Fraction(10) ** 400))).tolist() == [math.inf, -math.inf]
