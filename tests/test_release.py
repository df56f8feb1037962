# SPDX-License-Identifier: Apache-2.0
"""Releases: unbiased, with the promised covariance and coverage; paid for, or nothing at all."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise import report
from lownoise.engines.queries import totals_query
from lownoise.errors import FileError, LedgerError, PlanError
from lownoise.noise import GaussianNoise
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release import codec
from lownoise.release.codec import drafted, write
from lownoise.release.release import Release

ADULT = Path(__file__).parent / "data" / "adult.csv"
BOX = ln.Box([0, -10, 5], [1, 300, 5.5])
NAMES = ["a", "b", "c"]
REPEATS = 16_000
CORNERS = [BOX.lower, BOX.upper]


def table(records):
    return pd.DataFrame(records, columns=NAMES)


def mixed():
    rng = np.random.default_rng(8)
    return rng.uniform(BOX.lower - 0.2, BOX.upper + 0.2, size=(97, 3))


def plan(relation="substitute", order=2.0, size=97):
    question = ln.Mean(NAMES, BOX)
    size = size if relation == "substitute" else None
    return ln.plan(
        question,
        budget=ln.approx_dp(0.5, 1e-5),
        relation=relation,
        size=size,
        order=order,
        mechanism="gaussian",
    )


def simulate(made, records, seed, repeats=REPEATS):
    """Answers of many releases of one table: the totals are exact, so they are summed once."""
    mechanism = made.terms.mechanism
    totals = totals_query(mechanism.totals.query).of(table(records))
    randomness = SimulationRandomness(seed)
    return np.array(
        [mechanism.answers(mechanism.run(totals, randomness=randomness)) for _ in range(repeats)]
    )


def truth(made, records):
    clamped = np.clip(records, BOX.lower, BOX.upper)
    if made.terms.size is not None:
        return clamped.mean(axis=0)
    sums = (clamped - made.terms.question.center).sum(axis=0)
    return np.append(sums, len(records))


# First kind: each check of a coordinate looks beyond 5.8 standard errors, 7e-9; with 16,000 draws
# a bias of 0.063 standard deviations is seen with chance above 0.98. The variance's standard error
# is 1.1%: a scale off by 5% (σ × 0.95) is 8.7 errors away. The seed is fixed, so it never flakes.
BEYOND = 5.8


def is_unbiased(draws, made, records):
    error = draws.mean(axis=0) - truth(made, records)
    return np.all(np.abs(error) <= BEYOND * made.standard_deviation / math.sqrt(len(draws)))


def has_the_covariance(draws, made):
    centred = (draws - draws.mean(axis=0)) / made.standard_deviation
    measured = centred.T @ centred / len(draws)
    spread = np.where(np.eye(len(measured)) > 0, math.sqrt(2), 1.0) / math.sqrt(len(draws))
    return np.all(np.abs(measured - np.eye(len(measured))) <= BEYOND * spread)


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_answers_are_unbiased_with_the_promised_covariance(relation):
    made, records = plan(relation), mixed()
    draws = simulate(made, records, seed=11)
    assert is_unbiased(draws, made, records)
    assert has_the_covariance(draws, made)
    # power: the same checks reject a shift of 0.07 deviations and a scale × 0.95 and × 1.05
    assert not is_unbiased(draws + 0.07 * made.standard_deviation, made, records)
    for scale in (0.95, 1.05):
        assert not has_the_covariance(draws * scale, made)


@pytest.mark.grid
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("corner", CORNERS, ids=["lower corner", "upper corner"])
def test_at_a_corner_the_noise_is_what_it_is_elsewhere(relation, corner):
    """Draw by draw, so that what the draws on one table show holds on the others."""
    made, records = plan(relation), np.tile(corner, (97, 1))
    here, there = (simulate(made, rows, seed=11, repeats=500) for rows in (records, mixed()))
    apart = truth(made, records) - truth(made, mixed())
    assert np.all(np.abs(here - there - apart) <= 1e-6 * made.standard_deviation)


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_intervals_cover_at_their_level(relation):
    """4,000 releases; first kind 7e-9 a coordinate; a level off by 3.5% is seen with chance 0.9."""
    made, records = plan(relation, order=4.0), mixed()
    totals = totals_query(made.terms.mechanism.totals.query).of(table(records))
    randomness = SimulationRandomness(5)
    exact, means = truth(made, records), np.clip(records, BOX.lower, BOX.upper).mean(axis=0)
    level, n = 0.8, 4000
    covered = np.zeros(len(exact))
    mean_covered = np.zeros(3)
    for _ in range(n):
        integers = made.terms.mechanism.run(totals, randomness=randomness)
        one = Release(terms=made.terms, integers=integers, spend=None, created="", versions={})
        low, high = one.interval(level).T
        covered += (low <= exact) & (exact <= high)
        low, high = one.mean_interval(level).T
        mean_covered += (low <= means) & (means <= high)
    allowed = BEYOND * math.sqrt(level * (1 - level) / n)
    assert np.all(np.abs(covered / n - level) <= allowed)
    assert np.all(np.abs(mean_covered / n - level) <= allowed)


def test_a_mean_interval_excludes_nothing_where_the_count_may_be_zero():
    made = plan("add_remove")
    one = Release(terms=made.terms, integers=(5, 5, 5, -3), spend=None, created="", versions={})
    assert np.isnan(one.mean).all()
    assert np.array_equal(one.mean_interval(), np.stack([BOX.lower, BOX.upper], axis=1))


def test_the_whole_way_on_a_real_table_that_no_other_test_names(tmp_path):
    """Adult, order 3, add_remove, rows with missing values dropped, an off-centre center."""
    question = ln.Mean(
        ["age", "hours-per-week", "education-num"],
        ln.Box([0, 0, 0], [84, 98, 15]),
        center=[20, 40, 9],
        missing="drop",
    )
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove", order=3)
    frame = pd.read_csv(ADULT)[list(question.columns)].astype(float)
    frame.iloc[::1000, 0] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    ledger = ln.Ledger.create(tmp_path / "l", "adult", ln.zcdp(0.5))
    answer = made.release(tmp_path / "t.csv", ledger)
    kept = frame.dropna()
    exact = np.append((kept - [20, 40, 9]).sum(), len(kept))
    assert np.all(np.abs(answer.estimate - exact) < 8 * answer.standard_deviation)
    assert np.all(np.abs(answer.mean - kept.mean()) < 0.02)
    low, high = answer.mean_interval(1 - 1e-12).T
    assert np.all((low < kept.mean()) & (kept.mean() < high))
    assert answer.recorded
    assert ledger.spent().rho <= 0.5
    with pytest.raises(LedgerError, match="too little"):
        made.release(tmp_path / "t.csv", ledger)


def test_release_draws_fresh_noise_and_takes_no_seed():
    made, frame = plan(), table(mixed())
    first, second = made.release(frame), made.release(frame)
    assert first.integers != second.integers
    with pytest.raises(TypeError):
        made.release(frame, None, randomness=SimulationRandomness(1))
    with pytest.raises(TypeError):
        made.release(frame, seed=1)


def test_an_unrecorded_release_says_so():
    answer = plan().release(table(mixed()))
    assert not answer.recorded
    assert json.loads(answer.to_json())["spend"] is None


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_a_release_reads_back_exactly(relation, tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.approx_dp(1, 1e-4), reading="gaussian")
    answer = plan(relation, order=math.inf).release(table(mixed()), ledger)
    answer.save(tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    again = Release.from_json(text)
    assert again.to_json() == text
    assert np.array_equal(again.estimate, answer.estimate)
    assert np.array_equal(again.covariance, answer.covariance)
    assert np.array_equal(again.interval(0.9), answer.interval(0.9))
    assert again.spend == answer.spend
    for damage in (text[:-9], text.replace('"integers"', '"x"'), text.replace("/2", "/9", 1)):
        with pytest.raises(FileError):
            Release.from_json(damage)


def test_one_program_at_a_time_decides_what_a_file_takes_the_place_of(tmp_path, monkeypatch):
    """Else two releases that take the place of one plan both find the plan, and one is lost."""
    fcntl = pytest.importorskip("fcntl")
    made, lost, seen = plan(), codec._lost, []

    def asked(own):
        folder = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            seen.append(own)
        finally:
            os.close(folder)
        return lost(own)

    made.save(tmp_path / "p.json")
    monkeypatch.setattr(codec, "_lost", asked)
    made.release(table(mixed())).save(tmp_path / "p.json")
    assert seen == [tmp_path / "p.json"]
    with pytest.raises(FileError, match="is a release"):  # and the lock was left
        made.save(tmp_path / "p.json")
    assert len(seen) == 2


def test_no_file_takes_the_place_of_what_cannot_be_made_again(tmp_path):
    """A release that was paid for, a ledger and a stream; a plan and a table can be made again."""
    made, frame = plan(), table(mixed())
    ledger = ln.Ledger.create(
        tmp_path / "office.ledger", "d", ln.approx_dp(2, 1e-3), reading="zcdp"
    )
    paid, other = made.release(frame, ledger), made.release(frame)
    ln.stream(ln.Prefix(4), budget=ln.zcdp(1), relation="add_remove", path=tmp_path / "stream")
    paid.save(tmp_path / "r.json")
    paid.save(tmp_path / "r.json")  # nothing is lost
    kept = {own: own.read_bytes() for own in tmp_path.iterdir()}
    for own in kept:
        said = "is a release" if own.suffix == ".json" else "is a ledger, a stream or another data"
        for writes in (
            lambda own=own: other.save(own),
            lambda own=own: made.save(own),
            lambda own=own: report.write_csv(other, own),
            *([lambda own=own: other.export(own)] if own.suffix == ".json" else []),
            *([lambda own=own: other.save(own, overwrite=True)] if own.suffix != ".json" else []),
        ):
            with pytest.raises(FileError, match=f"file=.* {said}.*; give a new path"):
                writes()
    assert {own: own.read_bytes() for own in tmp_path.iterdir()} == kept
    with pytest.raises(FileError, match="or overwrite=True"):
        other.save(tmp_path / "r.json")
    other.save(tmp_path / "r.json", overwrite=True)
    assert ln.Release.load(tmp_path / "r.json").integers == other.integers
    made.save(tmp_path / "p.json")
    plan(order=4.0).save(tmp_path / "p.json")
    assert ln.Plan.load(tmp_path / "p.json").terms.order == 4.0
    report.write_csv(paid, tmp_path / "t.csv")
    other.export(tmp_path / "t.csv")


def test_of_two_releases_that_are_saved_at_once_the_first_stays(tmp_path):
    made, frame = plan(), table(mixed())
    first, second = (made.release(frame).to_json().encode() for _ in "12")

    def both():
        with drafted(tmp_path / "r.json") as late:
            late.write(second)
            write(tmp_path / "r.json", first.decode())

    with pytest.raises(FileError, match="is a release"):
        both()
    assert [own.read_bytes() for own in tmp_path.iterdir()] == [first]


def test_one_release_fills_an_account_of_its_own_budget_exactly(tmp_path):
    budgets = {"gaussian": ln.approx_dp(0.5, 1e-5), "basic": ln.approx_dp(0.5, 1e-5)}
    for adds, budget in [*budgets.items(), ("zcdp", ln.zcdp(0.1)), ("zcdp", ln.zcdp(0.3))]:
        name = f"{adds} of {budget}"
        ledger = ln.Ledger.create(tmp_path / "l", name, budget, reading=adds)
        named = {"mechanism": "gaussian"} if adds == "gaussian" else {}
        made = ln.plan(ln.Mean(NAMES, BOX), budget=budget, relation="substitute", size=97, **named)
        made.release(table(mixed()), ledger)
        with pytest.raises(LedgerError):
            made.release(table(mixed()), ledger)


def test_corners_of_the_domain_change_nothing_but_the_answer():
    """Bad values never speak: infinities, huge values and the corner give the same integers."""
    made = plan()
    wild = np.tile(BOX.upper, (97, 1))
    wild[::2] = np.inf
    wild[1::4] = 1e300
    calm = np.tile(BOX.upper, (97, 1))
    query = made.terms.mechanism.totals.query
    assert totals_query(query).of(table(wild)) == totals_query(query).of(table(calm))


def test_a_plan_with_a_tenth_of_its_noise_does_not_release(tmp_path):
    """Made in memory, where no file was read and checked: nothing is read, nothing is spent."""
    whole = plan("add_remove")
    mechanism = whole.terms.mechanism
    less = replace(mechanism, noise=GaussianNoise(mechanism.noise.shape.scaled(0.1)))
    short = replace(whole, terms=replace(whole.terms, mechanism=less))
    path = tmp_path / "ledger"
    account = ln.Ledger.create(path, "people", ln.approx_dp(5, 1e-4), reading="gaussian")
    with pytest.raises(PlanError, match="reveals more than its budget"):
        short.release(table(mixed()), account)
    assert account.entries() == []
    assert whole.release(table(mixed()), account).recorded
    # with no account nothing else would refuse it
    with pytest.raises(PlanError, match="reveals more than its budget"):
        short.release(table(mixed()))
