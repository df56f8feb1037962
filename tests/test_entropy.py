# SPDX-License-Identifier: Apache-2.0
"""The door to randomness: fresh words wherever and however often it is opened."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from lownoise.numbers import keystream, randomness
from lownoise.numbers.keystream import LEAST, Keystream
from lownoise.numbers.randomness import SimulationRandomness, SystemRandomness, drawn_into

# Two equal words among k honest ones have probability k²/2^65: below 1e-8 in every test here.

FORKS = """
import os, sys
from lownoise.numbers.randomness import SystemRandomness
from lownoise.numbers import keystream
randomness = SystemRandomness()
count = int(sys.argv[1])
if count > 100:  # so many that they are a cipher's, of a process that has it before the fork
    keystreams = sys.modules["lownoise.numbers.randomness"]._keystreams
    assert keystreams.after(keystream.ENOUGH) is not None
randomness.words(count)  # a source that keeps a buffer has filled it before the fork
for _ in range(4):
    child = os.fork()
    if child == 0:
        os.write(1, (" ".join(map(str, randomness.words(count)[:100].tolist())) + "\\n").encode())
        os._exit(0)
    os.waitpid(child, 0)
os.write(1, (" ".join(map(str, randomness.words(count)[:100].tolist())) + "\\n").encode())
"""


@pytest.fixture
def ciphered(monkeypatch):
    """Make many words a cipher's from the first on."""
    made = keystream.Loader(0, Keystream, Keystream.right)
    monkeypatch.setattr(randomness, "_keystreams", made)
    return made


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


@pytest.mark.parametrize("count", [100, LEAST])
def test_forked_processes_never_share_a_word(count):
    command = [sys.executable, "-c", FORKS, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
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


# ---------------------------------------------------------------- many words of one key


@pytest.mark.parametrize("count", [LEAST, LEAST + 1, (1 << 15) - 1, 1 << 15, (1 << 16) + 3])
def test_many_words_are_a_standard_cipher_under_a_key_of_the_system(monkeypatch, ciphered, count):
    keys = []

    def asked(size, draw=os.urandom):
        keys.append(draw(size))
        return keys[-1]

    monkeypatch.setattr(os, "urandom", asked)
    words = SystemRandomness().words(count)
    assert [len(key) for key in keys] == [32]
    whole = (
        Cipher(algorithms.AES(keys[0]), modes.CTR(bytes(16))).encryptor().update(bytes(8 * count))
    )
    assert words.tobytes() == whole
    assert words.shape == (count,)
    assert words.dtype == np.uint64


def test_a_room_is_filled_with_a_key_for_every_so_many_words_and_nothing_beside_it(
    monkeypatch, ciphered
):
    """The last few words, of a part too small for the cipher, are the system's own."""
    given = []

    def asked(size, draw=os.urandom):
        given.append(draw(size))
        return given[-1]

    monkeypatch.setattr(os, "urandom", asked)
    whole = np.zeros(2 * (1 << 15) + 9, dtype=np.uint64)
    room = whole[2:-2]
    assert drawn_into(room, SystemRandomness()) is room
    keys, rest = given[:2], given[2:]
    parts = [
        Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(8 << 15))
        for key in keys
    ]
    assert room.tobytes() == b"".join([*parts, *rest])
    assert [len(each) for each in given] == [32, 32, 8 * 5]
    assert not whole[:2].any()
    assert not whole[-2:].any()


def test_each_time_many_words_have_another_key(ciphered):
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(SystemRandomness().words, [LEAST] * 40))
    assert ciphered.after(0) is not None
    drawn = np.concatenate(parts)  # two that are equal: a chance of 3e-9
    assert len(set(drawn.tolist())) == drawn.size


@pytest.mark.parametrize("fault", ["counts backwards", "other key", "nothing", "one block again"])
def test_a_cipher_that_is_not_the_standard_s_is_not_used(monkeypatch, fault):
    honest = Keystream._fill

    def wrong(self, key, counter, room):
        honest(self, key[::-1] if fault == "other key" else key, counter, room)
        if fault == "counts backwards":
            room[:] = room.reshape(-1, 2)[::-1].reshape(-1)
        elif fault == "nothing":
            room[:] = 0
        elif fault == "one block again":
            room[2:4] = room[:2]

    monkeypatch.setattr(Keystream, "_fill", wrong)
    assert keystream.Loader(0, Keystream, Keystream.right).after(LEAST) is None


def test_where_there_is_no_cipher_the_system_gives_all_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    made = keystream.Loader(0, Keystream, Keystream.right)
    monkeypatch.setattr(randomness, "_keystreams", made)
    assert SystemRandomness().words(LEAST).shape == (LEAST,)
    assert made.after(LEAST) is None


def test_few_words_are_the_system_s(ciphered):
    SystemRandomness().words(LEAST - 1)
    assert ciphered._found is None
