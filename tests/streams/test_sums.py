# SPDX-License-Identifier: Apache-2.0
"""Streams under a pure budget, whatever noise their sums have: exact but for it, and as stated."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.noise.lattice import Shared, Stairs
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning.pure_streams import squared_error
from lownoise.samplers.steps import StepRadius
from lownoise.solvers.streams.trees import best_tree, short_error
from lownoise.streams import TreeSums, start
from streams import test_pure, test_stairs, test_whole
from streams.test_pure import levels_of, sums_of

TERMS = {
    "laplace": test_pure.terms_of,
    "geometric": lambda name: test_whole.asked(name).terms,
    "staircase": lambda name: test_stairs.asked(name).terms,
}
MEMBERS = {
    "laplace": test_pure.CASES,
    "geometric": test_whole.ASKED,
    "staircase": test_stairs.ASKED,
}
EVERY = [(noise, name) for noise, names in MEMBERS.items() for name in names]


def values_of(terms, seed):
    """Return values of all rounds, shape (n, d)."""
    n, domain = terms.question.workload.rounds, terms.question.domain
    drawn = np.random.default_rng(seed)
    if isinstance(domain, ln.Points):
        return domain.points[drawn.integers(0, len(domain.points), n)]
    return domain.clamp(drawn.uniform(domain.lower, domain.upper, (n, domain.dimension)))


@pytest.mark.grid(least=18)
@pytest.mark.parametrize(("noise", "name"), EVERY)
def test_answers_are_exact_but_for_the_noise(noise, name):
    terms = TERMS[noise](name)
    mechanism, values = terms.mechanism, values_of(terms, 6)
    stream = start(terms, randomness=SimulationRandomness(8))
    noisy = stream.update_many(values).reshape(len(values), -1)
    made = mechanism.all_noise(SimulationRandomness(8)) @ mechanism.answer_rows.T
    W = terms.question.workload.matrix()
    assert np.allclose(noisy, W @ (values + made), atol=1e-5)


CRASHED = [
    *(("laplace", name) for name in ("default", "ball", "momentum", "decayed", "crowd")),
    *(("geometric", name) for name in ("count", "both", "momentum", "person")),
    *(("staircase", name) for name in ("count", "levels", "line", "momentum", "person")),
]


@pytest.mark.grid(3, least=9)
@pytest.mark.parametrize(("noise", "name"), CRASHED)
def test_a_stream_goes_on_bit_for_bit_after_every_crash(noise, name, tmp_path):
    terms = TERMS[noise](name)
    values = values_of(terms, 5)
    n, path = len(values), tmp_path / "own.stream"
    whole = start(terms, randomness=SimulationRandomness(7)).update_many(values).reshape(n, -1)
    start(terms, randomness=SimulationRandomness(7), path=path)
    for t in range(n):
        stream = ln.Stream.open(path)  # as after a crash between two rounds
        assert stream.round == t
        assert np.array_equal(np.atleast_1d(stream.update(values[t])), whole[t])
    assert ln.verify(path)
    alone = start(terms, randomness=SimulationRandomness(7))
    alone.update_many(values[:3])
    alone = ln.Stream.restore(alone.state())
    assert np.array_equal(alone.update_many(values[3:]).reshape(n - 3, -1), whole[3:])


def laplace_variances(mechanism):
    return 2 * np.square(float(mechanism.noise.scales[0]) * mechanism.pair.widths)


def geometric_variances(mechanism):
    q = np.exp(-1 / (float(mechanism.noise.multiples.scales[0]) * mechanism.pair.widths))
    return 2 * q / (1 - q) ** 2


def staircase_variances(mechanism):
    """From the radii that noise is drawn by."""
    own = [noise.own for noise in mechanism.noises]
    return [x.scale**2 * StepRadius(1, x.epsilon, x.first).mean(2.0) / 3 for x in own]


VARIANCES = {  # of a number of each level, in its steps
    "laplace": laplace_variances,
    "geometric": geometric_variances,
    "staircase": staircase_variances,
}
OF_ONE_WIDTH = ("default", "binary", "momentum", "crowd")  # Laplace noise of all coordinates


@pytest.mark.grid(least=18)
@pytest.mark.parametrize(
    ("noise", "name"), [own for own in EVERY if own[0] != "laplace" or own[1] in OF_ONE_WIDTH]
)
def test_what_is_stated_of_an_answer_is_what_its_sums_add_up_to(noise, name):
    """Least squares by linear algebra, of the variances that numbers have."""
    terms = TERMS[noise](name)
    mechanism, pair = terms.mechanism, terms.mechanism.pair
    C = sums_of(pair)
    every = np.repeat(VARIANCES[noise](mechanism), [count for count, _ in pair.levels])
    W = terms.question.workload.matrix()
    unit = [pair.linear(levels_of(pair, row[:, None]))[:, 0] for row in np.eye(len(C))]
    B = W @ np.array(unit).T
    assert np.allclose(B @ C, W)  # unbiased
    own = np.square(B) @ every
    if pair.fitted:
        least = np.linalg.inv((C / every[:, None]).T @ C)
        assert np.allclose(own, np.diag(W @ least @ W.T))
    step = mechanism.noise.spacing if noise == "geometric" else 1.0
    rows = np.square(np.abs(mechanism.answer_rows) * step).sum(axis=1)
    stated = terms.view.standard_deviations()
    near = 2e-9 if noise == "laplace" else 1e-6
    assert np.allclose(np.square(stated), np.outer(own, rows), rtol=near, atol=0)


LAWS = [None, *(Shared(own, *kind) for kind in ((), (Stairs,)) for own in (1.0, 3.0, 6.0))]


@pytest.mark.grid(2, least=6)
@pytest.mark.parametrize("error", ["mean", "max"])
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("rounds", [12, 16, 50])
def test_no_tree_of_two_levels_errs_less(rounds, law, error):
    """Whatever its arity and shares of ε; of full trees alone the best erred up to 21 % more."""
    largest, given = error == "max", () if law is None else (law,)
    arities, widths = best_tree(rounds, largest=largest, **({} if law is None else {"law": law}))
    taken = TreeSums(ln.Prefix(rounds), arities, frozen(np.array(widths)))
    least = math.inf
    for arity in range(2, rounds + 1, 1 + rounds // 20):
        for width in np.geomspace(0.2, 5.0, 33).tolist():
            both = np.array([1.0, width])
            strays = both * (1 + 1 / width) if law is None else law.deviations(both)
            least = min(least, short_error(rounds, (arity,), strays, largest=largest))
    assert squared_error(taken, error, *given) <= least * 1.01
