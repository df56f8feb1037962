# SPDX-License-Identifier: Apache-2.0
"""Noise that repeats, and work that tells: forks, threads, precision, and counts of operations."""

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from flint import ctx

import lownoise as ln
from lownoise.engines import Totals
from lownoise.numbers.randomness import SimulationRandomness, SystemRandomness
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import DiagonalShape

sampler = sys.modules["lownoise.samplers.gaussian"]
THREADS = 8

# ---------------------------------------------------------------- forks

# Each child prints the noise that a generator of numpy's draws, and that lownoise draws, after
# the parent has drawn both: no database is opened, so a fork is safe.
FORKS = """
import json, os, warnings
import numpy as np
import lownoise as ln
from lownoise.engines import Totals
from lownoise.numbers.randomness import SystemRandomness
warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
question = ln.Mean(["x", "y"], ln.Box([0, 0], [1, 1]))
mechanism = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=3).terms.mechanism
randomness = SystemRandomness()
copied = np.random.default_rng()
def draw():
    ours = mechanism.run(Totals(3, (0, 0)), randomness=randomness)
    return {"naive": copied.standard_normal(2).tolist(), "ours": list(ours)}
found = [draw()]
for _ in range(6):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, json.dumps(draw()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        found.append(json.loads(pipe.read()))
    os.waitpid(pid, 0)
found.append(draw())
print(json.dumps(found))
"""


def repeats(draws):
    """Return how many draws are copies of another."""
    return len(draws) - len({tuple(d) for d in draws})


def test_a_fork_repeats_the_noise_of_a_copied_generator_and_never_ours():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert repeats([f["naive"] for f in found]) == 6  # each child, and the parent after them
    # first kind: two coordinates of 2^32 steps or more coincide with chance below 28·2^-62
    assert repeats([f["ours"] for f in found]) == 0


# ---------------------------------------------------------------- threads


def together(work):
    """Run work(i) in THREADS threads that switch as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    start = threading.Barrier(THREADS)

    def run(i):
        start.wait()
        return work(i)

    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(run, range(THREADS)))
    finally:
        sys.setswitchinterval(before)


def test_threads_repeat_the_noise_of_a_copied_generator_and_never_ours():
    question = ln.Mean(["x", "y"], ln.Box([0, 0], [1, 1]))
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=3).terms.mechanism
    randomness = SystemRandomness()

    def ours(_):
        return [made.run(Totals(3, (0, 0)), randomness=randomness) for _ in range(50)]

    def naive(_):  # a seed from a public clock, as code has it that wants a generator a thread
        return [tuple(np.random.default_rng(7).standard_normal(2)) for _ in range(50)]

    assert repeats([d for draws in together(ours) for d in draws]) == 0
    assert repeats([d for draws in together(naive) for d in draws]) > 0


class Scripted:
    """Serve the given words, then one for ever: more bits are the same whoever asks, and when."""

    def __init__(self, words, later):
        self._words, self._later = words, later

    def words(self, count):
        if self._words is not None:
            first, self._words = self._words, None
            return first
        return np.full(count, self._later, dtype=np.uint64)


def test_the_shared_precision_of_ball_arithmetic_changes_no_answer():
    # at these scales floats decide nothing: every rounding sets the precision that threads share
    shape = DiagonalShape(np.geomspace(2.0**52, 2.0**60, 60))
    later = 0x123456789ABCDEF

    def draw(i):
        words = SimulationRandomness(100 + i).words(shape.dimension)
        return rounded_gaussian(shape, randomness=Scripted(words, later)).tolist()

    before = ctx.prec
    alone = [draw(i) for i in range(THREADS)]
    assert ctx.prec == before
    try:
        for _ in range(3):
            assert together(draw) == alone
    finally:
        ctx.prec = before  # threads may leave another's; nothing in lownoise rests on it
    assert len({tuple(a) for a in alone}) == THREADS


@pytest.mark.parametrize("precision", [2, 53, 5000])
def test_a_precision_that_another_left_behind_changes_no_answer(precision):
    shape = DiagonalShape(np.geomspace(2.0**52, 2.0**58, 20))
    words = SimulationRandomness(3).words(20)
    expected = rounded_gaussian(shape, randomness=Scripted(words, 5)).tolist()
    with ctx.workprec(precision):
        assert rounded_gaussian(shape, randomness=Scripted(words, 5)).tolist() == expected


# ---------------------------------------------------------------- work


class Counting:
    """Count the words that are drawn from a seeded source, call by call."""

    def __init__(self, seed):
        self._source, self.calls = SimulationRandomness(seed), []

    def words(self, count):
        self.calls.append(count)
        return self._source.words(count)


def naive_truncated(total, most, seed):
    """Draw until the noisy total is a possible one, [0, most]; return how many draws it took."""
    rng = np.random.default_rng(seed)
    draws = 1
    while not 0 <= total + 20 * rng.standard_normal() <= most:
        draws += 1
    return draws


TOTALS = [
    Totals(4, (0, 0)),
    Totals(4, (1, -1)),
    Totals(4, (2**31, -(2**33))),
    Totals(4, (2**63, -(2**63))),
    Totals(4, (2**100 + 1, -(2**90))),
]


def work(made, totals, seed, monkeypatch):
    """Return everything the noise does that takes time: words, slow decisions, ball evaluations."""
    decided = []
    source = Counting(seed)
    with monkeypatch.context() as patch:
        slow = sampler._decide

        def watched(shape, rows, words, randomness):
            decided.append((rows.tolist(), words.tolist()))
            return slow(shape, rows, words, randomness)

        patch.setattr(sampler, "_decide", watched)
        answer = made.run(totals, randomness=source)
    sums = np.array([a - t for a, t in zip(answer, totals.sums, strict=False)], dtype=object)
    return source.calls, decided, sums.tolist()


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_the_work_of_the_noise_does_not_depend_on_the_totals(relation, monkeypatch):
    question = ln.Mean(["x", "y"], ln.Box([0, -1], [1, 2.0**40]))
    size = 4 if relation == "substitute" else None
    plan = ln.plan(question, budget=ln.zcdp(1e-9), relation=relation, size=size)
    made = plan.terms.mechanism
    slow = 0
    for seed in range(400):
        first, *others = [work(made, t, seed, monkeypatch) for t in TOTALS]
        assert all(other == first for other in others)
        slow += len(first[1])
    assert slow > 0  # some of the decisions that were compared were slow ones


def test_the_work_of_a_naive_sampler_depends_on_the_total():
    # 400 seeds each; at the edge half of all draws are refused, in the middle none: the mean
    # number of draws is 2 with standard error 0.07, against 1
    edge, middle = (sum(naive_truncated(t, 1000, s) for s in range(400)) for t in (0, 500))
    assert middle == 400
    assert edge > 600
