# SPDX-License-Identifier: Apache-2.0
"""The door to randomness: fresh words wherever and however often it is opened."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lownoise.numbers.randomness import SimulationRandomness, SystemRandomness

# Two equal words among k honest ones have probability k²/2^65: below 1e-10 in every test here.

FORKS = """
import os, sys
from lownoise.numbers.randomness import SystemRandomness
randomness = SystemRandomness()
randomness.words(5)  # a source that keeps a buffer has filled it before the fork
for _ in range(4):
    child = os.fork()
    if child == 0:
        os.write(1, (" ".join(map(str, randomness.words(100).tolist())) + "\\n").encode())
        os._exit(0)
    os.waitpid(child, 0)
os.write(1, (" ".join(map(str, randomness.words(100).tolist())) + "\\n").encode())
"""


@pytest.mark.parametrize("randomness", [SystemRandomness(), SimulationRandomness(1)])
@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_words_are_as_many_as_asked_and_64_bits_wide(randomness, count):
    words = randomness.words(count)
    assert words.shape == (count,)
    assert words.dtype == np.uint64


@pytest.mark.parametrize("randomness", [SystemRandomness(), SimulationRandomness(1)])
def test_every_bit_takes_both_values(randomness):
    # first kind: 64 bits, 128 words all alike, 64·2^-127; power: a bit that is stuck is found
    words = randomness.words(128).tolist()
    ones, zeros = 0, 0
    for word in words:
        ones |= word
        zeros |= ~word & (2**64 - 1)
    assert ones == zeros == 2**64 - 1


@pytest.mark.parametrize("make", [SystemRandomness, lambda: SimulationRandomness(1)])
def test_two_calls_never_share_a_word(make):
    randomness = make()
    drawn = [word for _ in range(50) for word in randomness.words(20).tolist()]
    assert len(set(drawn)) == 1000


def test_two_system_sources_never_share_a_word():
    drawn = SystemRandomness().words(1000).tolist() + SystemRandomness().words(1000).tolist()
    assert len(set(drawn)) == 2000


def test_threads_never_share_a_word():
    randomness = SystemRandomness()
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(randomness.words, [100] * 80))
    assert len(set(np.concatenate(parts).tolist())) == 8000


def test_forked_processes_never_share_a_word():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    drawn = [word for line in lines for word in line.split()]
    assert len(lines) == 5
    assert len(drawn) == len(set(drawn)) == 500


def test_simulation_repeats_its_seed_and_only_its_seed():
    one, same, other = SimulationRandomness(1), SimulationRandomness(1), SimulationRandomness(2)
    first = one.words(100)
    assert first.tolist() == same.words(100).tolist()
    assert not set(first.tolist()) & set(other.words(100).tolist())


def test_simulation_is_one_stream_however_it_is_cut():
    whole, cut = SimulationRandomness(3), SimulationRandomness(3)
    pieces = [cut.words(n) for n in (1, 0, 5, 4)]
    assert whole.words(10).tolist() == np.concatenate(pieces).tolist()
