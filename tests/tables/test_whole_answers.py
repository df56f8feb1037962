"""Answers under noise in whole numbers are whole to the last bit where they are whole exactly."""

import functools

import numpy as np
import pandas as pd
import pytest

import lownoise as ln

ROWS = 30_011  # counts are far from the integers that floats have many digits behind
SIZES = {"a": 3, "b": 7, "c": 5}
CELLS = np.eye(7)
RANGES = np.array([CELLS[i : j + 1].sum(axis=0) for i in range(7) for j in range(i, 7)])
GROUPS = {"a": [0, 1, 2], "c": [0, 1, 2, 3, 4]}
POINTS = ln.Points([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 2.0]])


@functools.cache
def table():
    """Return rows whose counts no small number divides."""
    rng = np.random.default_rng(5)
    own = {name: rng.binomial(n - 1, 0.4, ROWS) for name, n in SIZES.items()}
    place = rng.integers(0, 4, ROWS)
    return pd.DataFrame(own | {f"x{k}": POINTS.points[place, k] for k in range(2)})


def marginals(names="abc", **more):
    sizes = {name: SIZES[name] for name in names}
    return ln.Marginals(sizes, outside=dict.fromkeys(sizes, 0), **more)


def grouped(way):
    more = {"outside": "extra", "missing": [0.0, 0.0]}
    return ln.Mean(["x0", "x1"], POINTS, by=GROUPS, way=way, **more)


QUESTIONS = {
    "one attribute": lambda: marginals(way=1),
    "pairs": lambda: marginals(way=2),
    "all": lambda: marginals(way=3),
    "ordered": lambda: marginals("ac", way=2, ordered={"a": "range", "c": "prefix"}),
    "one histogram": lambda: ln.Histogram("b", np.arange(8), outside="extra"),
    "queries": lambda: ln.Queries(RANGES, {"b": 7}, outside={"b": 0}),
    "groups": lambda: grouped(1),
    "joint groups": lambda: grouped(2),
    "totals": lambda: ln.Sum(["x0", "x1"], POINTS, missing=[0.0, 0.0]),
}


@functools.cache
def plans(name, relation):
    """Return the plans of a question whose noise is whole, by mechanism."""
    given = {"budget": ln.pure_dp(1.0), "relation": relation}
    given["size"] = ROWS if relation == "substitute" else None
    question = QUESTIONS[name]()
    every = [row.mechanism for row in ln.plan(question, **given).comparison]
    found = {}
    for mechanism in every:
        try:
            made = ln.plan(question, mechanism=mechanism, **given)
        except ln.errors.PlanError:  # named in the comparison, and not available alone
            continue
        if mechanism != "randomized_response" and made.terms.mechanism.noise.integer_valued:
            found[mechanism] = made
    return found


def released(made, noise=0):
    """Return a release whose noise is given."""
    totals = made.terms.mechanism.totals
    integers = np.array(totals.exact(totals.read(table())), dtype=np.int64) + noise
    marginal = isinstance(made.terms.question, ln.Marginals)
    integers = integers if marginal else tuple(integers.tolist())
    return ln.Release(terms=made.terms, integers=integers, spend=None, created="", versions={})


def counted(names, question):
    """Return the counts of a marginal, one axis each."""
    sizes = {a.name: a.size for a in question.attributes}
    places = tuple(table()[n] for n in names)
    found = np.zeros([sizes[n] for n in names])
    np.add.at(found, (*places, ...), np.ones(ROWS if names else ()))
    return found if names else found * ROWS


def exact(question):
    """Return the exact answers, in the order of the question."""
    rows = table()
    if isinstance(question, ln.Marginals):
        return np.concatenate(
            [counted(question.names(s), question).ravel() for s in question.sets()]
        )
    if isinstance(question, ln.Queries):
        return RANGES @ np.bincount(rows["b"], minlength=7)
    values = rows[["x0", "x1"]].to_numpy()
    if not hasattr(question, "groups"):
        return values.sum(axis=0)
    values = values - question.mean.center
    found = []
    for chosen in question.groups.sets():
        sizes = [question.groups.attributes[i].size for i in chosen]
        names = question.groups.names(chosen)
        at = np.ravel_multi_index([rows[n] for n in names], sizes) if names else np.zeros(ROWS, int)
        own = np.zeros((int(np.prod(sizes)), 3))
        np.add.at(own, at, np.column_stack([values, np.ones(ROWS)]))
        found.append(own.ravel())
    return np.concatenate(found)


def answers(release):
    """Return the released answers, in the order of the question."""
    if isinstance(release.terms.question, ln.Marginals):
        return np.concatenate([counts.ravel() for _, counts in release.marginals()])
    return release.estimate


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_the_exact_ones_where_noise_is_zero(name, relation):
    """Whatever is noised, and however answers follow from it, also where several tables say one."""
    made = plans(name, relation)
    assert bool(made) == (relation == "add_remove" or "groups" not in name)  # none there is whole
    for mechanism, plan in made.items():
        assert np.array_equal(answers(released(plan)), exact(plan.terms.question)), mechanism


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", ["one attribute", "pairs", "all", "ordered", "one histogram"])
def test_margins_of_one_noisy_table_are_sums_of_its_integers(name, relation):
    """Where all follow from the table of all attributes: its counts and what noise adds, summed.

    Where the number of rows is public the noise is made to leave each cell its part of it.
    """
    plan = plans(name, relation)["geometric_histogram"]
    question = plan.terms.question
    names, sizes = zip(*((a.name, a.size) for a in question.attributes), strict=True)
    noise = np.random.default_rng(9).integers(-50_000, 50_000, sizes)
    if relation == "substitute":
        noise[(0,) * noise.ndim] -= noise.sum() % noise.size
    table_of_all = counted(names, question) + noise
    if relation == "substitute":
        table_of_all -= noise.sum() // noise.size
    release = released(plan, noise.ravel())
    for own, counts in release.marginals():
        away = tuple(k for k, n in enumerate(names) if n not in own)
        assert np.array_equal(counts, table_of_all.sum(axis=away))
    if len(names) > 1:
        written = release.to_pandas()["count"]
        assert np.array_equal(written, np.rint(written))


def test_counts_of_groups_are_sums_of_their_noisy_ones():
    """Whole noise on the table of joint groups: each margin's counts, to the last bit."""
    plan = plans("joint groups", "add_remove")["geometric"]
    shape = (4, 6, 3)  # with those that are not declared; two sums and the count
    noise = np.random.default_rng(9).integers(-(10**6), 10**6, shape)
    release = released(plan, noise.ravel())
    counts = np.array(release.integers).reshape(shape)[..., -1]
    for names, away in ((("a",), 1), (("c",), 0), ((), (0, 1))):
        assert np.array_equal(release.groups(*names).counts, counts.sum(axis=away).ravel())
