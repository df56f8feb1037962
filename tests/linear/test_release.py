# SPDX-License-Identifier: Apache-2.0
"""Released linear queries: exact but for the noise, unbiased, with the promised spread; files."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from edits import put
from lownoise.engines.counts import histogram_query, parities_query
from lownoise.errors import FileError, LedgerError, PlanError, TableError
from lownoise.noise import GaussianNoise
from lownoise.numbers.packing import packed, unpacked
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from refusals import sealed

N = 500
RNG = np.random.default_rng(2)
BITS = ["p", "q", "r", "s"]
ROWS = pd.DataFrame(
    {
        "age": RNG.integers(0, 6, N),
        "sex": RNG.choice(["F", "M", "?"], N, p=[0.5, 0.4, 0.1]),
        **{b: RNG.integers(0, 2, N) for b in BITS},
    }
)
UNIVERSE = {"age": 5, "sex": ["F", "M"]}
OUTSIDE = {"age": 4, "sex": "M"}
W = np.vstack([np.tril(np.ones((10, 10)))[3:8], np.ones(10), np.zeros(10), 2 * np.eye(10)[:2]])
REPEATS = 3000


class NoNoise:
    """Words whose normal numbers are 0 up to 2^-60: for tests of everything but the noise."""

    def words(self, count):
        return np.full(count, 2**63 - 1, dtype=np.uint64)


def question(kind):
    if kind == "queries":
        return ln.Queries(W, UNIVERSE, outside=OUTSIDE)
    if kind == "list":
        cells = [[a, s] for a in range(5) for s in ("F", "M")]
        return ln.Queries(W, cells, columns=["age", "sex"], outside=[4, "M"])
    return ln.Parity(BITS, [0, 1, 2], outside=0)


def plan(kind, relation="add_remove", rho=0.5, **options):
    size = N if relation == "substitute" else None
    return ln.plan(question(kind), budget=ln.zcdp(rho), relation=relation, size=size, **options)


def exact(kind):
    if kind == "parity":
        signs = 1 - 2 * ROWS[BITS].to_numpy()
        sets = [s for k in range(3) for s in itertools.combinations(range(4), k)]
        return np.array([signs[:, list(s)].prod(axis=1).sum() for s in sets], float)
    known = (ROWS.age < 5) & (ROWS.sex != "?")
    age = np.where(known | (kind == "queries"), np.minimum(ROWS.age, 4), 4)
    male = (ROWS.sex != "F") | ~(known | (kind == "queries"))
    return W @ np.bincount(age * 2 + male, minlength=10)


KINDS = ["queries", "list", "parity"]
RELATIONS = ["add_remove", "substitute"]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_answers_are_exact(kind, relation):
    released = execute(plan(kind, relation).terms, ROWS, None, randomness=NoNoise())
    assert np.allclose(released.estimate, exact(kind), rtol=0, atol=1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_any_numbers_are_within_the_grid(relation):
    matrix = RNG.standard_normal((7, 3)) @ RNG.standard_normal((3, 10))
    asked = ln.Queries(matrix, UNIVERSE, outside=OUTSIDE)
    size = N if relation == "substitute" else None
    made = ln.plan(asked, budget=ln.zcdp(0.5), relation=relation, size=size)
    released = execute(made.terms, ROWS, None, randomness=NoNoise())
    histogram = histogram_query(asked.universe).of(ROWS).counts
    assert np.allclose(released.estimate, matrix @ histogram, rtol=0, atol=1e-8)
    grid = made.terms.mechanism.totals
    about = (matrix.T - grid.coordinates.start)[:, grid.coordinates.pivots] / grid.step
    assert np.max(np.abs(grid.codes - about)) <= 0.5 + 1e-3
    assert np.max(np.abs(about - np.rint(about))) > 0.01  # the numbers are not on the grid


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", ["queries", "parity"])
def test_answers_are_unbiased_with_the_promised_covariance(kind, relation):
    made = plan(kind, relation)
    randomness = SimulationRandomness(5)
    mechanism, asked = made.terms.mechanism, made.terms.question
    if kind == "queries":
        records = histogram_query(asked.universe).of(ROWS)
    else:
        records = parities_query(asked.attributes, asked.degrees).of(ROWS)
    draws = np.array(
        [mechanism.answers(mechanism.run(records, randomness=randomness)) for _ in range(REPEATS)]
    )
    off = draws - exact(kind)
    noisy = made.standard_deviation > 0
    assert np.allclose(off[:, ~noisy], 0, atol=1e-9)
    unit = off[:, noisy] / made.standard_deviation[noisy]
    # 6 deviations: two-sided chance 2e-9 for each of at most 11 means and 66 moments
    assert np.max(np.abs(unit.mean(axis=0))) < 6 / np.sqrt(REPEATS)
    scale = made.standard_deviation[noisy]
    promised = made.covariance[np.ix_(noisy, noisy)] / np.outer(scale, scale)
    found = unit.T @ unit / REPEATS
    assert np.max(np.abs(found - promised)) < 6.5 * np.sqrt(2 / REPEATS)
    inside = np.abs(unit) < 1.959964
    assert np.all(np.abs(inside.mean(axis=0) - 0.95) < 6 * np.sqrt(0.95 * 0.05 / REPEATS))


@pytest.mark.parametrize("kind", KINDS)
def test_covariance_is_that_of_the_integers(kind):
    made = plan(kind)
    mechanism = made.terms.mechanism
    zero = mechanism.answers((0,) * mechanism.length)
    unit = np.array(
        [
            mechanism.answers(tuple(int(2**20 * x) for x in row)) - zero
            for row in np.eye(mechanism.length)
        ]
    )
    unit /= 2**20
    if kind == "parity":
        noise = np.diag(mechanism.noise.shape.scale**2)
    else:
        noise = mechanism.noise.shape.dense()
    assert np.allclose(unit.T @ noise @ unit, made.covariance, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_surround_the_estimate(kind):
    released = plan(kind, "substitute").release(ROWS)
    for found in (released.interval(0.9), released.simultaneous_interval(0.9)):
        assert np.allclose(found.mean(axis=1), released.estimate)
    narrow, wide = released.interval(), released.simultaneous_interval()
    assert np.all(np.diff(narrow) <= np.diff(wide))
    assert np.allclose(np.diff(narrow).ravel(), 2 * 1.959964 * released.standard_deviation)
    region = released.region(0.95)
    assert region.contains(released.estimate)
    assert np.all(region.box[:, 0] <= released.estimate)
    with pytest.raises(PlanError):
        released.interval(1.5)


@pytest.mark.grid
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_files_give_everything_back(kind, relation):
    made = plan(kind, relation, order=4.0)
    again = ln.Plan.from_json(made.to_json())
    assert again.to_json() == made.to_json()
    assert np.array_equal(again.standard_deviation, made.standard_deviation)
    released = made.release(ROWS)
    read = ln.Release.from_json(released.to_json())
    assert np.array_equal(read.estimate, released.estimate)
    assert read.to_json() == released.to_json()
    assert ln.verify(made.to_json())
    assert ln.verify(released.to_json())


def edited(document, *path, to):
    return sealed(put(json.loads(document), path, to))


def smaller(values):
    return [smaller(v) for v in values] if isinstance(values, list) else 0.99 * values


def cut(matrix):
    return {**matrix, "shape": [matrix["shape"][0] + 1, matrix["shape"][1]]}


@pytest.mark.parametrize(
    ("kind", "path", "to"),
    [
        ("queries", ("noise", "factor"), smaller),
        ("queries", ("noise", "step"), smaller),
        ("queries", ("noise", "pivots"), lambda p: p[::-1]),
        ("queries", ("noise", "embed"), lambda e: packed(1.01 * unpacked(e, "e"))),
        ("queries", ("question", "matrix"), lambda m: packed(2 * unpacked(m, "m"))),
        ("queries", ("question", "matrix"), cut),
        ("queries", ("question", "matrix"), lambda m: {**m, "float64": "%" + m["float64"]}),
        ("queries", ("question", "matrix"), lambda m: {**m, "float64": "AAAA"}),
        ("queries", ("size",), lambda _: 5),
        ("queries", ("evidence", "vertex_weights"), lambda w: [-x for x in w]),
        ("list", ("question", "universe", "records"), lambda r: [r[1], *r[1:]]),
        ("list", ("question", "universe", "outside"), lambda _: 99),
        ("parity", ("noise", "deviations"), smaller),
        ("parity", ("noise", "steps"), smaller),
        ("parity", ("question", "degrees"), lambda d: d[::-1]),
        ("parity", ("evidence", "degrees"), lambda w: [-1.0 for _ in w]),
        ("parity", ("evidence", "patterns"), lambda w: [*w, 1.0]),
        ("parity", ("relation",), lambda _: "substitute"),
        ("parity", ("question", "kind"), lambda _: "queries"),
    ],
)
def test_files_that_were_edited_are_refused(kind, path, to):
    document = edited(plan(kind).to_json(), "terms", *path, to=to)
    with pytest.raises(FileError):
        ln.Plan.from_json(document)
    assert not ln.verify(document)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_file_states_is_checked(kind):
    text = plan(kind).to_json()
    assert not ln.verify(edited(text, "derived", "error", to=lambda e: e * 0.9))
    released = plan(kind).release(ROWS).to_json()
    moved = edited(released, "integers", 0, to=lambda k: str(int(k) * 3 // 2 + 1))
    assert not ln.verify(moved)


@pytest.mark.parametrize("kind", KINDS)
def test_a_ledger_pays(kind, tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l.sqlite", "t", ln.zcdp(0.7))
    made = plan(kind, "substitute")
    released = made.release(ROWS, ledger)
    assert released.recorded
    with pytest.raises(LedgerError):
        made.release(ROWS, ledger)
    short = ln.Ledger.create(tmp_path / "s.sqlite", "t", ln.zcdp(0.7))
    with pytest.raises(TableError, match="is not in the table"):
        made.release(ROWS.iloc[:, :0], short)
    assert made.release(ROWS, short).recorded  # what was refused was given back


def test_a_plan_that_reveals_too_much_is_not_run():
    made = plan("parity")
    terms = made.terms
    less = GaussianNoise(terms.mechanism.noise.shape.scaled(0.9))
    short = replace(terms, mechanism=replace(terms.mechanism, noise=less))
    with pytest.raises(PlanError, match="more than its budget"):
        replace(made, terms=short).release(ROWS)
