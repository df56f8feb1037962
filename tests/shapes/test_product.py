# SPDX-License-Identifier: Apache-2.0
"""The factor of product noise, against the matrix that its definition writes out."""

import sys

import numpy as np
import pytest

from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors.tables import ProductFactor

RNG = np.random.default_rng(4)
ROWS = tuple(
    np.hstack([RNG.uniform(size=(n - 1, 1)), np.tril(RNG.normal(size=(n - 1, n - 1)))])
    for n in (3, 2, 4)
)
SPANS = {
    "pairs": ((), (0,), (1,), (2,), (0, 1), (0, 2)),
    "no total": ((0,), (2,), (0, 2)),
    "all": ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)),
}


def factor(name, sizes=(3, 2), copies=2, scale=1.0):
    spans = SPANS[name]
    scales = tuple((scale * np.arange(1.0, len(spans) + 1)).tolist())
    return ProductFactor(scales=scales, spans=spans, rows=ROWS, sizes=sizes, copies=copies)


def written_out(name):
    """Return the noise of one table by its definition, a row a count, a column a normal number."""
    spans = SPANS[name]
    blocks = []
    for span in spans:
        line = []
        for k, inside in enumerate(spans):
            width = int(np.prod([len(ROWS[t]) for t in inside]))
            if not set(inside) <= set(span):
                line.append(np.zeros((int(np.prod([len(ROWS[t]) for t in span])), width)))
                continue
            part = np.full((1, 1), k + 1.0)
            for t in span:
                part = np.kron(part, ROWS[t][:, 1:] if t in inside else ROWS[t][:, :1])
            line.append(part)
        blocks.append(line)
    return np.block(blocks)


def dense(apply, count):
    return np.array([apply(e) for e in np.eye(count)]).T


@pytest.mark.parametrize("name", SPANS)
def test_it_is_the_matrix_of_its_definition(name):
    found = factor(name)
    D = np.kron(np.hstack([np.eye(2), -np.ones((2, 1))]), np.array([[1.0, -1.0]]))
    expected = np.kron(np.eye(2), np.kron(D, written_out(name)))
    assert np.allclose(dense(found.apply, found.sources), expected, atol=1e-14)
    assert np.allclose(dense(found.apply_abs, found.sources), np.abs(expected), atol=1e-14)
    for i in range(found.dimension):
        columns, entries = found.row(i)
        line = np.zeros(found.sources)
        line[columns] = [int(e.p) / int(e.q) for e in entries]
        assert np.all(np.diff(columns) > 0)
        assert np.allclose(line, expected[i], atol=1e-14)


def test_entries_of_rows_are_exact():
    found = factor("all", sizes=(), copies=1)
    _, entries = found.row(found.dimension - 1)
    from fractions import Fraction

    expected = Fraction(8)  # σ of the last span
    for own in ROWS:
        expected *= Fraction(float(own[-1, -1]))
    assert Fraction(int(entries[-1].p), int(entries[-1].q)) == expected


def test_deciding_every_number_by_itself_gives_the_same(monkeypatch):
    found = factor("pairs", scale=40.0)
    quick = rounded_gaussian(found, randomness=SimulationRandomness(7))
    module = sys.modules["lownoise.samplers.gaussian"]
    monkeypatch.setattr(module, "_LARGEST", 0.0)  # nothing counts as decided
    assert np.array_equal(rounded_gaussian(found, randomness=SimulationRandomness(7)), quick)


class Far:
    """Words of which one is beyond the table of normal numbers."""

    def __init__(self):
        self.source = SimulationRandomness(3)

    def words(self, count):
        found = self.source.words(count).copy()
        found[:1] = np.uint64(12345)
        return found


def test_a_far_normal_number_does_not_leave_all_its_answers_open(monkeypatch):
    module = sys.modules["lownoise.samplers.gaussian"]
    left = []
    decide = module._decide

    def counted(shape, rows, words, randomness):
        left.append(len(rows))
        return decide(shape, rows, words, randomness)

    monkeypatch.setattr(module, "_decide", counted)
    found = factor("all", scale=900.0)
    rounded = rounded_gaussian(found, randomness=Far())
    assert sum(left) < found.dimension / 20
    monkeypatch.setattr(module, "_LARGEST", 0.0)
    assert np.array_equal(rounded_gaussian(found, randomness=Far()), rounded)
    assert left[-1] == found.dimension
