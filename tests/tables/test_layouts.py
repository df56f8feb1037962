# SPDX-License-Identifier: Apache-2.0
"""Released marginals on every layout, of ordered attributes and others: as promised."""

import itertools

import numpy as np
import pytest
from tests.tables.layouts import PLANS, ROWS, N, NoNoise, draws, exact, noise, run

import lownoise as ln
from lownoise.errors import QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.sensitivity.orders import answer_rows

RANGE, BOTH = {"t": "range", "one": "prefix"}, {"t": "prefix", "u": "range"}
# a has as many cells as u where that is not ordered, and another block
SETS = {"sets": [["t", "b"], ["t", "u"], ["u", "a"], ["b", "one"]], "weights": [1, 9, 2, 3]}
EXACT = [
    ("ordered", relation, ordered, asked)
    for relation in ("add_remove", "substitute")
    for ordered in ({"t": "prefix"}, RANGE, BOTH)
    for asked in ({"way": 3}, {"way": 0}, {"sets": [["t", "b"], ["u"], ["a", "one"]]}, SETS)
] + [
    ("product", "add_remove", BOTH, {"way": 3}),
    ("product", "substitute", BOTH, {"way": 2}),
    ("product", "substitute", BOTH, {"way": 0}),
    ("product", "add_remove", RANGE, {"way": 2}),
    ("product", "add_remove", RANGE, {"way": 0}),
    ("product", "substitute", RANGE, SETS),
    ("product", "add_remove", BOTH, SETS),
    *(
        ("residual", relation, {}, asked)
        for relation in ("add_remove", "substitute")
        for asked in ({"way": 3}, {"way": 0}, {"sets": [["a", "b", "one"], ["b", "u"], []]})
    ),
]
each_layout = pytest.mark.parametrize("layout", ["ordered", "product"])
each_relation = pytest.mark.parametrize("relation", ["add_remove", "substitute"])


def quick(layout):
    """Return how near to the least noise must be, where only searches take it: not very."""
    return {"rtol": 0.02} if layout == "ordered" else {}


@pytest.mark.grid(1)
@pytest.mark.parametrize(("layout", "relation", "ordered", "asked"), EXACT, ids=str)
def test_without_noise_the_counts_are_exact(layout, relation, ordered, asked):
    made = PLANS[layout](relation, ordered, **quick(layout), **asked)
    released = execute(made.terms, ROWS, None, randomness=NoNoise())
    question = made.terms.question
    listed = list(released.marginals())
    assert len(listed) == question.count
    for (names, table), chosen in zip(listed, question.sets(), strict=True):
        cells = exact(made, *names)
        assert np.allclose(table, cells, atol=1e-9)
        answers = cells
        for axis, i in enumerate(chosen):
            a = question.attributes[i]
            rows = answer_rows(a.ordered, a.size)
            answers = np.moveaxis(np.tensordot(rows, answers, axes=(1, axis)), 0, axis)
        assert np.allclose(released.answers(*names), answers, atol=1e-9)


@pytest.mark.grid
@each_layout
@each_relation
def test_answers_agree_on_what_they_share(layout, relation):
    ordered = {"t": "prefix", "u": "prefix"}
    asked = {"sets": [["a", "t", "u"], ["t", "b"]]} if layout == "product" else {"way": 3}
    made = PLANS[layout](relation, ordered, **quick(layout), **asked)
    released = made.release(ROWS)
    tu = released.marginal("t", "u")
    assert np.allclose(tu.sum(axis=1), released.marginal("t"))
    assert np.allclose(released.marginal("a", "t", "u").sum(axis=0), tu)
    assert np.allclose(released.answers("t", "b")[-1], released.marginal("b"))
    assert np.allclose(tu.sum(), released.marginal())
    if relation == "substitute":
        assert released.marginal() == pytest.approx(N)


@each_layout
def test_names_may_come_in_any_order(layout):
    made = PLANS[layout](ordered={"t": "range"})
    released = made.release(ROWS)
    assert np.array_equal(released.answers("b", "t"), released.answers("t", "b").T)
    assert np.array_equal(released.marginal("b", "t"), released.marginal("t", "b").T)
    found = released.standard_deviation("b", "t")
    assert found.shape == (4, 6)
    assert np.array_equal(found, made.standard_deviation("t", "b").T)
    assert released.standard_deviation("b", "t", answers=True).shape == (4, 21)
    assert isinstance(released.standard_deviation("b", "u"), float)


@each_layout
def test_what_was_not_asked_is_refused(layout):
    made = PLANS[layout](sets=[["t", "a"], ["b"]])
    for names in (("t", "b"), ("u",), ("t", "u"), ("a", "b")):
        with pytest.raises(QuestionError, match="does not follow"):
            made.standard_deviation(*names)
    assert made.standard_deviation("t").shape == (6,)


@pytest.mark.parametrize("layout", PLANS)
def test_a_release_is_the_exact_integers_plus_that_noise(layout):
    made = PLANS[layout](ordered=BOTH)
    drawn = noise(made, layout, 1, SimulationRandomness(3))[0]
    assert np.array_equal(run(made, SimulationRandomness(3)), run(made, NoNoise()) + drawn)
    assert np.count_nonzero(drawn) > drawn.size * 0.99


@pytest.mark.grid(1)
@each_relation
@pytest.mark.parametrize(
    ("layout", "ordered", "repeats"),
    [
        ("ordered", {"t": "prefix"}, 60_000),
        ("ordered", BOTH, 60_000),
        ("product", BOTH, 20_000),
        ("residual", {}, 60_000),
    ],
    ids=str,
)
def test_counts_are_unbiased_with_the_promised_covariance(relation, layout, ordered, repeats):
    sets = [["t", "a"], ["u", "a"], ["t", "u"], []]
    made = PLANS[layout](relation, ordered, **quick(layout), sets=sets)
    names = [("a", "t"), ("u",), ("t", "u")]
    found = draws(made, layout, names, repeats, SimulationRandomness(8))
    cells = [
        (n, place) for n in names for place in itertools.product(*map(range, exact(made, *n).shape))
    ]
    truth = np.concatenate([exact(made, *n).reshape(-1) for n in names])
    promised = np.array([[made.covariance(x, y) for y in cells] for x in cells])
    deviations = np.sqrt(np.diag(promised))
    own = [np.broadcast_to(made.standard_deviation(*n), exact(made, *n).shape) for n in names]
    assert np.allclose(deviations, np.concatenate([each.reshape(-1) for each in own]))
    # six deviations and a union over a few thousand entries: below 1e-6
    limit = 6.5
    off = (found.mean(axis=0) - truth) / deviations * np.sqrt(repeats)
    assert np.all(np.abs(off) <= limit)
    assert np.all(np.abs(off + 0.1 * np.sqrt(repeats)) > limit)  # a bias of a tenth is seen
    sample = np.cov(found.T)
    scale = np.outer(deviations, deviations)
    error = limit * np.sqrt((scale**2 + promised**2) / repeats)
    assert np.all(np.abs(sample - promised) <= error)
    for wrong in (0.95**2, 1.05**2):
        assert not np.all(np.abs(sample - promised * wrong) <= error)


@pytest.mark.grid(1)
@each_layout
@pytest.mark.parametrize("kind", ["prefix", "range"])
def test_the_objective_is_that_of_the_answers(layout, kind):
    sets = [["t", "a"], ["b", "u"], ["u", "t"]]
    made = PLANS[layout](ordered={"t": kind, "u": "prefix"}, sets=sets)
    total = 0.0
    for names in map(tuple, sets):
        shape = made.release(ROWS).answers(*names).shape
        own = made.standard_deviation(*names, answers=True)
        total += float(np.sum(np.broadcast_to(own, shape) ** 2))
    assert made.objective == pytest.approx(total**0.5, rel=1e-12)
    assert made.error == pytest.approx(total**0.5, rel=1e-12)
    assert 0 < made.certificate.gap < (0.01 if layout == "product" else 1e-6)


@pytest.mark.grid(3)
@each_layout
@pytest.mark.parametrize("kind", ["prefix", "range"])
def test_deviations_of_answers_are_those_of_sums_of_cells(layout, kind):
    made = PLANS[layout](ordered={"t": kind}, sets=[["t", "a"]])
    cells = [(("t", "a"), (k, 1)) for k in range(6)]
    matrix = np.array([[made.covariance(x, y) for y in cells] for x in cells])
    rows = answer_rows(kind, 6)
    expected = np.sqrt(np.einsum("ri,ij,rj->r", rows, matrix, rows))
    found = made.standard_deviation("t", "a", answers=True)
    assert np.allclose(found, expected[:, None], rtol=1e-10)
    if kind == "range":
        released = made.release(ROWS)
        value, deviation = released.total(cells[1:4])
        (place,) = np.flatnonzero(np.all(rows == [0, 1, 1, 1, 0, 0], axis=1))
        assert value == pytest.approx(released.answers("t", "a")[place, 1])
        assert deviation == pytest.approx(found[place, 1], rel=1e-9)


@pytest.mark.grid(1)
@each_relation
@pytest.mark.parametrize(
    ("layout", "ordered", "order"),
    [
        *(("ordered", ordered, 4.0) for ordered in ({"t": "prefix"}, RANGE, BOTH)),
        *(("product", BOTH, order) for order in (2.0, np.inf)),
    ],
    ids=str,
)
def test_a_plan_and_a_release_come_back_from_their_files(
    relation, layout, ordered, order, tmp_path
):
    made = PLANS[layout](relation, ordered, order=order)
    again = ln.Plan.from_json(made.to_json())
    assert again.to_json() == made.to_json()
    assert again.certificate == made.certificate
    assert made.verify()
    assert 1 - 1e-8 <= made.cost.rho / 0.5 <= 1
    released = made.release(ROWS, path=tmp_path / "out")
    back = ln.Release.load(tmp_path / "out")
    for names in (("t", "a"), ("u", "t"), ("b",), ()):
        assert np.array_equal(back.answers(*names), released.answers(*names))
