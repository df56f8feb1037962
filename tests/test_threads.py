# SPDX-License-Identifier: Apache-2.0
"""Work in threads comes back in its order, and threads draw noise only where no order counts."""

import itertools
import os
import sys
import threading
import warnings
from concurrent.futures import CancelledError

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.noise import marginals, mechanism
from lownoise.numbers import intervals, normals, threads
from lownoise.numbers.arrays import Spare
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness, SystemRandomness
from lownoise.numbers.threads import in_order
from lownoise.release import marginal_answers
from lownoise.samplers import gaussian
from lownoise.sensitivity.factors import DiagonalShape


@pytest.fixture(autouse=True)
def four(monkeypatch):
    monkeypatch.setattr(threads, "processors", lambda: 4)


def test_what_is_made_comes_in_the_order_of_items_however_long_each_takes():
    """The first ends after the fourth: were results given as they end, it would be the last."""
    fourth = threading.Event()

    def made(item):
        if item == 0:
            assert fourth.wait(60)
        if item == 3:
            fourth.set()
        return -item

    assert list(in_order(made, range(20))) == [-item for item in range(20)]


@pytest.mark.parametrize("ahead", [1, 7])
def test_items_are_taken_few_at_a_time_and_one_alone_by_the_calling_thread(ahead):
    """So many are made while the first takes long, and no more are kept at any time."""
    taken, made = [], threading.Semaphore(0)

    def make(item):
        if item:
            made.release()
            return item
        return all(made.acquire() for _ in range(3 + ahead))  # of the others, all ahead

    items = (taken.append(i) or i for i in range(100))
    for done, found in enumerate(in_order(make, items, ahead)):
        assert found == (done or True)
        assert len(taken) <= done + 4 + ahead
    assert list(in_order(lambda _: threading.get_ident(), [0])) == [threading.get_ident()]
    assert not list(in_order(abs, []))


def test_what_fails_is_raised_in_its_turn_and_what_is_quiet_is_so_in_threads():
    def made(item):
        with pytest.raises(ZeroDivisionError):
            1 / (item - item)
        if item == 5:
            raise CancelledError
        return np.float64(item) / 0  # a warning, and so an error, where it is not quiet

    with np.errstate(all="ignore"):
        found = in_order(made, range(9))
        assert [next(found) for _ in range(5)][1:] == [np.inf] * 4
        with pytest.raises(CancelledError):
            next(found)


ROWS = pd.DataFrame({name: np.arange(5_000) * k % 7 for k, name in enumerate("abcd", start=1)})
PLAN = ln.plan(
    ln.Marginals(dict.fromkeys("abcd", 7), way=3), budget=ln.zcdp(0.5), relation="add_remove"
)
MADE = PLAN.terms.mechanism


def test_pieces_drawn_in_threads_stand_where_they_do_one_by_one(monkeypatch):
    """The operating system's words are such that all noise is 0: what comes is exact, in order."""
    monkeypatch.setattr(marginals, "CHUNK", 64)
    monkeypatch.setattr(SystemRandomness, "fill", lambda _self, room: room.fill(2**63 - 1))
    drawn, own = [], type(MADE.noise).part

    def part(noise, piece, source):
        drawn.append(threading.get_ident())
        return own(noise, piece, source)

    monkeypatch.setattr(type(MADE.noise), "part", part)
    records = MADE.read(ROWS)
    assert MADE.run(records, randomness=SystemRandomness()) == tuple(MADE.totals.exact(records))
    assert len(drawn) == len(list(MADE.totals.pieces)) > 10
    assert threading.get_ident() not in drawn


def test_what_a_seed_decides_is_drawn_in_one_order(monkeypatch):
    """Under a seed threads would take each other's words: all is drawn by the calling thread."""

    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(mechanism, "in_order", refused)
    records = MADE.read(ROWS)
    first, again = (MADE.run(records, randomness=SimulationRandomness(1)) for _ in range(2))
    assert first == again


def test_many_marginals_are_read_in_threads_and_come_as_they_do_one_by_one(monkeypatch):
    release, asked = PLAN.release(ROWS), []
    alone = list(release.marginals())
    monkeypatch.setattr(marginal_answers, "_MANY", 0)
    monkeypatch.setattr(marginal_answers, "_AT_ONCE", 64)
    own = marginal_answers.tables_of

    def read(*given):
        asked.append(threading.get_ident())
        return own(*given)

    monkeypatch.setattr(marginal_answers, "tables_of", read)
    found = list(release.marginals())
    assert [names for names, _ in found] == [names for names, _ in alone]
    assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(found, alone, strict=True))
    assert len(asked) > 10
    assert threading.get_ident() not in asked


def test_nobody_has_a_room_that_another_has():
    spare, both = Spare(4, np.float64), threading.Barrier(2)

    def room(_):
        with spare(4) as (own,):
            both.wait(60)
            return own

    first = list(in_order(room, range(2)))
    assert not np.shares_memory(*first)
    with spare(3) as (mine,), spare(4) as (other,), spare(4) as (third,):
        again = [mine, other, third]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(again, 2))
    # what was given back is taken again
    assert sum(np.shares_memory(a, b) for a in first for b in again) == 2


@pytest.mark.parametrize("scale", [1000.0, 2.0**60])  # decided by floats, and by balls
def test_what_interrupts_a_draw_leaves_it_as_it_is(monkeypatch, scale):
    """At each of its lines another draw comes in between, as a signal's handler makes it.

    Mutant, seen red: room that stays with its thread, in which both would have the same noise.
    """
    shape, traced, own = DiagonalShape(np.full(5, scale)), sys.gettrace(), {gaussian, normals}
    files, left, inside = {module.__file__ for module in own}, 0, False

    def fill(_, room):
        room[:] = SimulationRandomness(int(inside)).words(room.size)

    def words(_, count):
        return np.full(count, 2**62 + 5, dtype=np.uint64)

    def line(frame, event, _):
        nonlocal left, inside
        left -= event == "line"
        if not (left or inside):
            inside = True
            others.append(gaussian.rounded_gaussian(shape, randomness=SystemRandomness()).tolist())
            inside = False
        return line

    def begin(frame, *_):
        return line if frame.f_code.co_filename in files else None

    monkeypatch.setattr(SystemRandomness, "fill", fill)
    monkeypatch.setattr(SystemRandomness, "words", words)
    alone = gaussian.rounded_gaussian(shape, randomness=SystemRandomness()).tolist()
    for at in itertools.count(1):
        left, others = at, []
        sys.settrace(begin)
        try:
            found = gaussian.rounded_gaussian(shape, randomness=SystemRandomness()).tolist()
        finally:
            sys.settrace(traced)
        assert found == alone
        if not others:
            break
        assert others[0] != alone
    assert at > 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_while_a_thread_draws_does_not_wait_for_it():
    """The child has the lock of a thread that is not in it: left so, it would wait for ever."""
    inside, over = threading.Event(), threading.Event()

    def drawing():
        with precision(99):
            inside.set()
            over.wait(60)

    thread = threading.Thread(target=drawing)
    thread.start()
    assert inside.wait(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if not child:  # which asks without waiting
        os._exit(0 if intervals._lock.acquire(blocking=False) else 1)
    found = os.waitpid(child, 0)[1]
    over.set()
    thread.join()
    assert found == 0
