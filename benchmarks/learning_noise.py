# SPDX-License-Identifier: Apache-2.0
"""Noise for 10^7 parameters: `python -m benchmarks.learning_noise [--peer PYTHON] [--steps N]`.

One step's noise, added to a vector of D gradients: ours (independent, a band, rational: the same
coefficients for all), `torch.randn`, and with `--peer` the noise of jax-privacy under that
interpreter. Each row has a process of its own, all wait, and each makes one step in turn, so that
what else the machine does falls on all; medians of N steps after one that is not counted. Ours are
integers whose law is exact, of 64 random bits each from SHAKE-128; the others are floats.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import Arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.streams.increments import IncrementMechanism

ROUNDS, EPOCHS, PEOPLE, BAND, BUFFERS = 2_000, 8, 100, 16, 4
PEER = """
import json, resource, sys, time
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
from jax_privacy import noise_addition
from jax_privacy.matrix_factorization import buffered_toeplitz, toeplitz
asked = json.loads(sys.argv[1])
if asked["kind"] == "identity":
    own = noise_addition.gaussian_privatizer(stddev=1.0, prng_key=1)
else:
    if asked["kind"] == "banded":
        matrix = toeplitz.inverse_as_streaming_matrix(jnp.array(asked["c"], dtype=jnp.float32))
    else:
        matrix = buffered_toeplitz.BufferedToeplitz.build(
            np.array(asked["decays"]), np.array(asked["weights"])).inverse_as_streaming_matrix()
    own = noise_addition.matrix_factorization_privatizer(matrix, stddev=1.0, prng_key=1)
values = jnp.zeros(asked["d"], dtype=jnp.float32)
state = own.init(values)
step = jax.jit(own.update, donate_argnums=(1,))
print("ready", flush=True)
for line in sys.stdin:
    started, worked = time.perf_counter(), time.process_time()
    found, state = step(values, state)
    jax.block_until_ready((found, state))
    took, work = time.perf_counter() - started, time.process_time() - worked
    print(took, work, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)
"""


def noise(kind: str, parameters: int) -> Callable[[], object]:
    """Return what makes one step's noise here."""
    if kind == "torch":
        import torch

        values = torch.zeros(parameters)
        return lambda: values.add_(torch.randn(parameters))
    from lownoise.streams.increments import IncrementNoise

    mechanism = planned(kind, parameters)
    kept = np.full((mechanism.carried.buffers, parameters), 1, dtype=mechanism.kept_as)
    # as in the middle of a run: all that is kept is there, and is used
    made = IncrementNoise(mechanism, os.urandom(32), done=2 * BAND, kept=kept)
    sums = np.zeros(parameters)
    return lambda: made.add(sums)


def planned(kind: str, parameters: int) -> IncrementMechanism:
    import lownoise as ln
    from lownoise.planning.increments import plan_increments
    from lownoise.sensitivity.participation import Participation

    return plan_increments(
        parameters,
        rounds=ROUNDS,
        people=PEOPLE,
        clip=1.0,
        budget=ln.approx_dp(4.0, 1e-6),
        participation=Participation(EPOCHS, ROUNDS // EPOCHS, "spaced"),
        strategy=kind,
        memory={"identity": 1, "banded": BAND - 1, "rational": BUFFERS}[kind],
    ).mechanism


def serve(kind: str, parameters: int) -> None:
    """Make a step for each line that comes, and say how long it took and the memory's peak."""
    step = noise(kind, parameters)
    print("ready", flush=True)
    for _ in sys.stdin:
        started, worked = time.perf_counter(), time.process_time()
        step()
        took, work = time.perf_counter() - started, time.process_time() - worked
        print(took, work, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)


def asked_of_peer(kind: str, parameters: int) -> str:
    carried: Any = planned(kind, 1).carried
    own: dict[str, object] = {"kind": kind, "d": parameters}
    if kind == "banded":
        own["c"] = carried.coefficients.tolist()
    if kind == "rational":
        own["decays"] = carried.decays.tolist()
        own["weights"] = carried.factors.weights.tolist()
    return json.dumps(own)


def in_turn(
    rows: dict[str, list[str]], steps: int
) -> tuple[dict[str, list[tuple[float, float]]], dict[str, float]]:
    """Return the seconds, wall and CPU, of each row's steps, and its peak of memory in MB."""
    running: dict[str, Any] = {}  # with pipes
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in rows}
    peaks: dict[str, float] = {}
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    for name, command in rows.items():
        running[name] = subprocess.Popen(command, cwd=Path(__file__).parents[1], **pipes)
    for own in running.values():
        assert own.stdout.readline() == "ready\n"
    for turn in range(steps + 1):
        for name, own in running.items():
            own.stdin.write("\n")
            own.stdin.flush()
            took, work, peak = map(float, own.stdout.readline().split())
            peaks[name] = peak / 1024
            if turn:
                taken[name].append((took, work))
    for own in running.values():
        own.communicate()
    return taken, peaks


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--peer")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--parameters", type=int, default=10**7)
    parser.add_argument("--serve")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.parameters)
        return
    kinds = ("identity", "banded", "rational")
    size = str(given.parameters)
    here = [sys.executable, "-m", "benchmarks.learning_noise", "--parameters", size, "--serve"]
    rows = {f"lownoise {kind}": [*here, kind] for kind in kinds}
    rows["torch.randn"] = [*here, "torch"]
    if given.peer:
        for kind in kinds:
            peer = [given.peer, "-c", PEER, asked_of_peer(kind, given.parameters)]
            rows[f"jax-privacy {kind}"] = peer
    taken, peaks = in_turn(rows, given.steps)
    print(f"{given.parameters:,} parameters, {os.cpu_count()} cores, {given.steps} steps each")
    print(f"{'':24}{'s a step':>10}{'CPU s':>10}{'10^6 a s':>10}{'peak MB':>10}")
    for name, own in taken.items():
        wall, work = (statistics.median(each) for each in zip(*own, strict=True))
        speed = given.parameters / wall / 1e6
        print(f"{name:24}{wall:10.3f}{work:10.3f}{speed:10.1f}{peaks[name]:10,.0f}")


if __name__ == "__main__":
    main()
