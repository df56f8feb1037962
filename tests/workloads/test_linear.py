# SPDX-License-Identifier: Apache-2.0
"""Linear questions say what they count, and what is wrong with them."""

import itertools

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import QuestionError
from lownoise.questions.universe import universe_of

W = np.arange(12.0).reshape(2, 6)
UNIVERSE = {"a": 2, "b": ["x", "y", "z"]}
LISTED = [[0, "x"], [1, "x"], [0, "z"], [7.5, "y"]]


def test_a_product_is_in_row_major_order():
    universe = ln.Queries(W, UNIVERSE).universe
    names = [universe.record(i) for i in range(universe.size)]
    assert names == list(itertools.product(["0", "1"], ["x", "y", "z"]))
    cells = np.array(list(itertools.product(range(2), range(3)))).T
    assert universe.places(list(cells)).tolist() == list(range(6))
    assert universe.places([np.array([-1, 1]), np.array([0, -1])]).tolist() == [-1, -1]


@pytest.mark.parametrize("seed", range(8))
def test_listed_records_have_their_places(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=int(rng.integers(1, 5)))
    every = np.array(list(itertools.product(*map(range, sizes))))
    kept = rng.permutation(len(every))[: rng.integers(1, len(every) + 1)]
    columns = [f"x{i}" for i in range(sizes.size)]
    universe = universe_of(every[kept], columns)
    # a row's cells are places among the column's values in the order in which they are listed
    cells = []
    for attribute, values in zip(universe.attributes, every.T, strict=True):
        labels = list(attribute.labels)
        cells.append(np.array([labels.index(v) if v in labels else -1 for v in values]))
    expected = np.full(len(every), -1)
    expected[kept] = np.arange(kept.size)
    assert np.array_equal(universe.places(cells), expected)
    stand_in = universe_of(every[kept], columns, outside=every[kept[-1]])
    expected[expected < 0] = kept.size - 1
    assert np.array_equal(stand_in.places(cells), expected)


def test_a_stand_in_and_an_extra_category_drop_nothing():
    assert ln.Queries(W, UNIVERSE).drops
    assert not ln.Queries(W, UNIVERSE, outside={"a": 0, "b": "y"}).drops
    assert ln.Queries(np.ones((1, 12)), UNIVERSE, outside="extra").universe.size == 12
    assert ln.Queries(np.ones((1, 4)), LISTED, columns=["a", "b"]).drops
    assert not ln.Queries(np.ones((1, 4)), LISTED, columns=["a", "b"], outside=[0, "z"]).drops


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ln.Queries(W.T, UNIVERSE), "matrix has shape"),
        (lambda: ln.Queries(np.zeros((0, 6)), UNIVERSE), "matrix has shape"),
        (lambda: ln.Queries(W * np.nan, UNIVERSE), "not finite"),
        (lambda: ln.Queries(W * 1e-80, UNIVERSE), "another unit"),
        (lambda: ln.Queries(W * 1e80, UNIVERSE), "another unit"),
        (lambda: ln.Queries(W, UNIVERSE, columns=["a"]), "columns goes with a list"),
        (lambda: ln.Queries(W, UNIVERSE, outside=[0, 1]), "no policy"),
        (lambda: ln.Queries(W, {"a": 3000, "b": 3000}), "at most"),
        (lambda: ln.Queries(W, "abc"), "neither a mapping"),
        (lambda: ln.Queries(W, LISTED), "columns is no list"),
        (lambda: ln.Queries(W, LISTED, columns=["a", "a"]), "names one twice"),
        (lambda: ln.Queries(W, LISTED, columns=["a"]), "no row of 1 values"),
        (lambda: ln.Queries(W, [*LISTED, [0, "x"]], columns=["a", "b"]), "stands twice"),
        (lambda: ln.Queries(W, [[0, "x"], ["y", "z"]], columns=["a", "b"]), "give one kind"),
        (lambda: ln.Queries(W, [[0, None]], columns=["a", "b"]), "finite numbers or texts"),
        (lambda: ln.Queries(W, LISTED, columns=["a", "b"], outside=[5, "x"]), "not listed"),
        (lambda: ln.Queries(W, LISTED, columns=["a", "b"], outside="x"), "no policy"),
        (lambda: ln.Queries(W, UNIVERSE).universe.record(6), "does not exist"),
        (lambda: ln.Parity("abc", 1), "no list of names"),
        (lambda: ln.Parity(["a", "b", "a"], 1), "twice"),
        (lambda: ln.Parity(["a", "b"], 3), "Parity.degree=3"),
        (lambda: ln.Parity(["a", "b"], [1, 1]), "several different"),
        (lambda: ln.Parity(["a", "b"], "1"), "Parity.degree='1'"),
        (lambda: ln.Parity([f"b{i}" for i in range(100)], 5), "at most"),
        (lambda: ln.Parity(["a"], 1, weights=[1, 2]), "one a degree"),
        (lambda: ln.Parity(["a"], 1, weights=[0]), "1e-100"),
        (lambda: ln.Parity(["a"], 1, outside="extra"), '"drop", 0 or 1'),
        (lambda: ln.Parity(["a"], 1, outside={"b": 1}), "'b'"),
    ],
)
def test_what_is_wrong_is_said(make, said):
    with pytest.raises(QuestionError, match=said):
        make()


def test_places_of_parities_are_those_of_the_sets():
    question = ln.Parity(["a", "b", "c", "d", "e"], [0, 2, 3])
    listed = [question.names(s) for s in question.sets()]
    assert len(listed) == question.count == 1 + 10 + 10
    assert [question.place(names[::-1]) for names in listed] == list(range(question.count))
    with pytest.raises(QuestionError, match="no parity"):
        question.place(["a"])
