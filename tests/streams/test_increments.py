# SPDX-License-Identifier: Apache-2.0
"""Noise of increments: its law, what it costs, and that it is made again bit for bit."""

import copy
import itertools
import math
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.streams.kinds_of_patterns import patterns

import lownoise as ln
from lownoise.errors import FileError, LedgerError, PlanError, StreamError
from lownoise.planning.increments import NAMES, plan_increments
from lownoise.sensitivity.participation import ONE, Participation
from lownoise.streams import carried, increments
from lownoise.streams.carried import BandedCarried
from lownoise.streams.increments import IncrementMechanism, IncrementNoise
from lownoise.streams.journal import IncrementRun

KEY = bytes(range(32))
SPACED = Participation(3, 4, "spaced")


@cache
def planned(strategy, participation=SPACED, rounds=12, dimension=3):
    return plan_increments(
        dimension,
        rounds=rounds,
        people=5,
        clip=1.5,
        budget=ln.gaussian_dp(1.0),
        participation=participation,
        strategy=strategy,
        memory=3,
    )


def strategy_of(mechanism):
    """C, of the first column; shape (n, n)."""
    n = mechanism.rounds
    c = mechanism.carried.first_column(n)
    return np.array([[c[t - s] if s <= t else 0.0 for s in range(n)] for t in range(n)])


@pytest.mark.parametrize("name", NAMES)
def test_given_what_was_published_the_next_is_a_rounded_gaussian_about_a_known_integer(
    name, monkeypatch
):
    """All paths of a tiny run: Y_t − h_t is r_t, and neighbours' h_t are as far as is said."""
    plain = planned(name, Participation(2, 2, "spaced"), rounds=4, dimension=1).mechanism
    mechanism = replace(plain, deviation=2.0, exponent=0)
    C = [[Fraction(c) for c in row] for row in strategy_of(mechanism).tolist()]
    drawn = []
    monkeypatch.setattr(increments, "rounded_gaussian", lambda *_, **__: np.array([drawn.pop(0)]))

    def published(z, r):
        drawn[:] = r
        noise, found = IncrementNoise(mechanism, KEY), []
        for value in z:
            sums = np.array([float(value)])
            noise.add(sums)
            found.append(int(sums[0]))
        return found

    by_path = {}
    worst = 0.0
    tops = ((0, 0, 0, 0), (1, 0, -1, 0), (0, 1, 0, 1), (1, 0, 0, 0))
    for z, r in itertools.product(tops, itertools.product((-3, 0, 1, 4), repeat=4)):
        Y = published(z, r)
        assert (z, tuple(Y)) not in by_path  # one noise a path: its chance is that of r
        by_path[z, tuple(Y)] = [y - own for y, own in zip(Y, r, strict=True)]
        N = [y - own for y, own in zip(Y, z, strict=True)]
        for t in range(4):
            remembered = sum((C[t][j] * N[j] for j in range(t)), Fraction(0))
            off = abs(float(by_path[z, tuple(Y)][t] - z[t] + remembered))
            worst = max(worst, off)
            assert off <= mechanism.off_up
    # h_t is found from the path alone: the same for all z that give the same N so far
    for z in tops[1:]:
        shared = [y for own, y in by_path if own == z and (tops[0], y) in by_path]
        for Y in shared:
            mine, other = by_path[z, Y], by_path[tops[0], Y]
            u = np.array(z) - np.array(tops[0])
            moved = np.array(mine) - np.array(other)
            exact = strategy_of(mechanism) @ u
            assert np.all(np.abs(moved - exact) <= 2 * mechanism.off_up + 1e-9)
            first = int(np.flatnonzero(u)[0])
            assert not moved[:first].any()
            assert float(np.linalg.norm(moved)) <= mechanism.loss.mu * mechanism.deviation
    if mechanism.carried.buffers:
        assert worst > 0.25  # half of it would not do


@pytest.mark.grid
@pytest.mark.parametrize("own", [ONE, SPACED, Participation(3, 2, "separated"), Participation(2)])
@pytest.mark.parametrize("name", NAMES)
def test_noise_hides_all_rounds_of_a_person_and_what_rounding_shows(name, own):
    mechanism = planned(name, own).mechanism
    C, moved = strategy_of(mechanism), 0.0
    for pattern in patterns(own, mechanism.rounds):
        for signs in itertools.product((1, -1), repeat=len(pattern) - 1):
            moved = max(moved, float(np.linalg.norm(C[:, list(pattern)] @ np.array([1, *signs]))))
    change = 1.5 / mechanism.step + math.sqrt(3)
    assert moved * change / mechanism.deviation <= mechanism.loss.mu * (1 + 1e-12) <= 1 + 1e-12
    assert mechanism.multiplier == mechanism.deviation * mechanism.step / 1.5


@pytest.mark.parametrize("name", NAMES)
def test_roundings_are_charged_in_all_coordinates_and_rounds_that_they_reach(name):
    own = planned(name).mechanism
    wide = replace(own, dimension=10**8, deviation=2.0**20, exponent=own.exponent + 4)
    reach = {"identity": 0, "banded": min(3 * 3, 11), "rational": 11}[name]
    charged = wide.loss.mu * wide.deviation
    least = wide.sensitivity_up * wide.change_up + 2 * 0.5 * math.sqrt(1e8 * reach)
    assert charged >= least
    assert wide.change_up >= 1.5 / wide.step + 1e4
    crowd = replace(
        own, dimension=10**6, people=10**6, deviation=2.0**20, exponent=own.exponent + 9
    )
    off = 2 * 1e6 * (1e6 + 2 * 1e6) * 2.0**-53  # of the sum, and of everybody's length
    assert crowd.change_up >= 1.5 * (1 + off) / crowd.step + 1e3
    assert replace(wide, relation="substitute").change_up >= 3 / wide.step + 1e4


@pytest.mark.parametrize("name", NAMES)
def test_noise_times_c_is_white(name):
    """Covariances of C·N in units of σ², d = 60,000.

    Each of 36 is off by more than 5.8 of its deviations, 1/√d (√(2/d) on the diagonal), with a
    chance below 1e-8; a correlation of 0.05, or a variance off by a tenth, is found with a chance
    above 1 − 1e-9.
    """
    d = 60_000
    mechanism = planned(name, rounds=8, participation=ONE, dimension=d).mechanism
    noise = IncrementNoise(mechanism, KEY)
    N = np.zeros((8, d))
    for row in N:
        noise.add(row)
    white = strategy_of(mechanism) @ N / mechanism.deviation
    covariance = white @ white.T / d
    off = np.abs(covariance - np.eye(8)) * math.sqrt(d)
    assert np.all(off <= 5.8 * np.where(np.eye(8), math.sqrt(2), 1.0))
    if mechanism.carried.buffers:  # and N itself is not
        first = N @ N.T / d / mechanism.deviation**2
        assert abs(first[0, 1]) * math.sqrt(d) > 20


@pytest.mark.parametrize("name", NAMES)
def test_noise_is_made_again_bit_for_bit_by_any_number_of_threads(name):
    mechanism = planned(name, dimension=2 * increments.BLOCK + 7).mechanism

    def made(threads, rounds, **state):
        noise, found = IncrementNoise(mechanism, KEY, threads=threads, **state), []
        for _ in range(rounds):
            found.append(np.zeros(mechanism.dimension))
            noise.add(found[-1])
        return found, noise

    whole, _ = made(1, 5)
    assert all(map(np.array_equal, whole, made(3, 5)[0]))
    _, half = made(1, 3)
    rest, _ = made(2, 2, done=3, kept=half.kept.copy())
    assert all(map(np.array_equal, whole[3:], rest))
    # rounds, and blocks of one round, share no noise
    assert not np.array_equal(whole[0], whole[1])
    assert not np.array_equal(whole[0][: increments.BLOCK], whole[0][increments.BLOCK :][:-7])


def test_memory_is_that_of_the_strategy_and_no_more():
    for name, buffers in (("identity", 0), ("banded", 3), ("rational", 3)):
        mechanism = planned(name, dimension=10**7, rounds=64).mechanism
        assert mechanism.carried.buffers <= buffers
        kept = IncrementNoise(mechanism, KEY).kept
        assert kept.shape == (mechanism.carried.buffers, 10**7)
        assert kept.nbytes == mechanism.memory <= 8 * buffers * 10**7


def test_auto_takes_the_least_error_and_keeps_to_its_memory():
    plans = {name: planned(name) for name in NAMES}
    best = planned("auto")
    assert best.error == min(own.error for own in plans.values())
    assert best.mechanism.carried.buffers <= 3
    assert plans["identity"].error > best.error


@pytest.mark.parametrize("name", NAMES)
def test_a_mechanism_is_kept_in_documents(name):
    own = planned(name).mechanism
    again = IncrementMechanism.from_dict(own.to_dict())
    assert again.to_dict() == own.to_dict()
    assert again.loss == own.loss


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"strategy": "best"}, "strategy='best' is unknown"),
        ({"memory": 0}, "memory=0 is out of range"),
        ({"clip": 0.0}, "clip=0.0 is out of range"),
        ({"clip": math.nan}, "clip=nan is out of range"),
        ({"people": 0}, "people=0 is out of range"),
        ({"relation": "changes"}, "relation='changes' is unknown"),
        ({"participation": Participation(4, 4, "spaced")}, "do not fit in 12 rounds"),
        ({"workload": ln.Prefix(13)}, "workload=Prefix must be of 12 rounds"),
        ({"workload": ln.SlidingWindow(12, 3), "strategy": "rational"}, "is for ln.Prefix"),
    ],
)
def test_what_is_asked_wrongly_is_one_clear_line(asked, says):
    given = {
        "rounds": 12,
        "people": 5,
        "clip": 1.5,
        "budget": ln.zcdp(0.5),
        "participation": SPACED,
        **asked,
    }
    with pytest.raises(PlanError) as caught:
        plan_increments(3, **given)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_noise_that_would_not_be_exact_is_refused():
    own = planned("banded").mechanism
    with pytest.raises(PlanError, match="more digits than are exact"):
        replace(own, deviation=2.0**40)
    with pytest.raises(PlanError, match=r"multiples of 2\^-16"):
        BandedCarried(np.array([1.0, 1 / 3]))
    with pytest.raises(PlanError, match=r"multiples of 2\^-16"):
        BandedCarried(np.array([0.5, 0.5]))
    with pytest.raises(StreamError, match="does not fit"):
        IncrementNoise(own, KEY, done=2, kept=np.zeros((1, 3)))
    assert own.loss.mu <= 1
    assert replace(own, deviation=own.deviation / 2).loss.mu > 1.9


def test_a_round_that_was_interrupted_is_not_gone_on_with(monkeypatch):
    mechanism = planned("banded", dimension=increments.BLOCK + 1).mechanism
    run, own, blocks = IncrementRun.begin(mechanism, threads=1), IncrementNoise._block, []

    def fails_late(noise, values, start):
        blocks.append(start)
        if start:
            raise MemoryError
        own(noise, values, start)

    monkeypatch.setattr(IncrementNoise, "_block", fails_late)
    with pytest.raises(MemoryError):
        run.add_noise(np.zeros(mechanism.dimension))
    assert blocks == [0, increments.BLOCK]
    for again in (lambda: run.add_noise(np.zeros(mechanism.dimension)), run._noise.state):
        with pytest.raises(StreamError, match="was interrupted in the middle of a round"):
            again()


def test_noise_is_used_once_in_one_process(monkeypatch):
    run = IncrementRun.begin(planned("banded").mechanism)
    with pytest.raises(StreamError, match="is not copied"):
        copy.deepcopy(run)
    monkeypatch.setattr("lownoise.streams.journal.os.getpid", lambda: -1)
    with pytest.raises(StreamError, match="in a forked process"):
        run.add_noise(np.zeros(3))
    with pytest.raises(StreamError, match="no 3 doubles"):
        run.add_noise(np.zeros(4))
    with pytest.raises(StreamError, match="no 3 doubles"):
        run.add_noise(np.zeros(3, dtype=np.float32))
    assert run.done == 0


def test_a_journal_pays_what_was_paid_and_no_other_is_taken(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.gaussian_dp(1.0))
    mechanism = planned("rational").mechanism
    run = IncrementRun.begin(mechanism, ledger=ledger, path=tmp_path / "j")
    run.add_noise(np.zeros(3))
    (entry,) = ledger.entries()
    assert (entry.event.mu, entry.state) == (mechanism.loss.mu, "settled")
    again = IncrementRun.resume(tmp_path / "j", run.state())
    assert (again.done, again.spend, again.mechanism.loss) == (1, run.spend, mechanism.loss)
    other = ln.Ledger.create(tmp_path / "k", "d", ln.gaussian_dp(1.0))
    with pytest.raises(LedgerError, match="not the one that paid"):
        IncrementRun.resume(tmp_path / "j", ledger=other)
    with pytest.raises(LedgerError, match="too little"):
        IncrementRun.begin(mechanism, ledger=ledger, path=tmp_path / "more")
    with pytest.raises(FileError, match="exists"):
        IncrementRun.begin(mechanism, path=tmp_path / "j")
    with pytest.raises(PlanError, match="more than its budget"):
        IncrementRun.begin(mechanism, budget=ln.gaussian_dp(0.5))
    for table, column in (("part", "content"), ("round", "sums")):
        shutil.copy(tmp_path / "j", tmp_path / "altered")
        with closing(sqlite3.connect(tmp_path / "altered")) as file:
            file.execute(f"UPDATE {table} SET {column} = x'00'")  # noqa: S608 (both are ours)
            file.commit()
        with pytest.raises(FileError, match="is damaged"):
            IncrementRun.resume(tmp_path / "altered")
    (tmp_path / "text").write_text("no journal")
    with pytest.raises(FileError, match="is no stream of lownoise"):
        IncrementRun.resume(tmp_path / "text")


def test_how_far_an_inverse_grows_is_bounded_whatever_was_found_for_it():
    column, n = np.zeros(40), 40
    column[:2] = 1, -0.5  # c⁻¹ is 1, 1/2, 1/4, …
    exact = 2 - 2.0 ** (1 - n)
    first = np.eye(1, n)[0]
    assert exact <= carried._inverse_up(column, first, 0.0) <= 2.001
    assert carried._inverse_up(column, 0.5 ** np.arange(n), 0.0) == pytest.approx(exact, rel=1e-9)
    assert carried._inverse_up(column, first, 0.25) >= 3.9
    assert carried._inverse_up(column, -first, 0.0) == math.inf
    for name in NAMES:
        own = planned(name).mechanism
        inverse = np.linalg.inv(strategy_of(own))[:, 0]
        assert np.abs(inverse).sum() <= own.carried.inverse_up(12) * (1 + 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_published_is_integers_whatever_sums_are_given(name):
    run = planned(name).start()
    values = np.array([0.25, -1.5, 1e3 + 0.125])
    run.add_noise(values)
    assert np.array_equal(values, np.rint(values))
