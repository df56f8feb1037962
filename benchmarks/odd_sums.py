# SPDX-License-Identifier: Apache-2.0
"""What odd sums of signs prove of zonotopes beside squares: `python -m benchmarks.odd_sums`.

Every zonotope of `benchmarks.domains` in six dimensions and more, at p = 2 and p = ∞: the noise
that each proves, the gaps, how many sums there are, how much longer they make a file, and seconds
of processor time. `python -m benchmarks.odd_sums untaken` prints what more and longer sums would
prove of 60 segments in 10 dimensions, at that programme's own accuracy.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from benchmarks.arguments import Arguments
from benchmarks.domains import others
from benchmarks.solver import ONE_THREAD, ROOT
from lownoise.numbers.norms import order_norm
from lownoise.sets.bodies import ImageBody
from lownoise.sets.bodies.multipliers import as_stated
from lownoise.sets.unit_balls import NormBall
from lownoise.solvers import odd_sums, solve

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.solution import Solution

LARGE = ("zonotope, 6 × 24", "zonotope, 10 × 60", "zonotope, 30 × 60")
FIVES = 200  # sums of five signs beside THREES of three
THREES = 100
PART = 1 << 17  # fives that are looked at together


def solved(factor: Vector, order: float, *, sums: bool) -> Solution:
    body = ImageBody(factor, NormBall(factor.shape[1], math.inf))
    return solve(body, order=order, weights=np.ones(len(factor)), odd_sums=sums)


def table() -> None:
    head = "| segments | dimensions | p | squares | odd sums | gap before | now | lower | sums |"
    print(f"{head} bytes | s |")
    for name in LARGE:
        factor = others()[name].dense
        for order in (2.0, math.inf):
            plain = solved(factor, order, sums=False).claim.certificate()
            start = time.process_time()
            claim = solved(factor, order, sums=True).claim
            seconds = time.process_time() - start
            own, numbers = claim.certificate(), claim.body.multipliers
            assert numbers is not None
            rows = [] if numbers.ndim == 1 else as_stated(numbers)[numbers.shape[1] :]
            length = len(json.dumps(rows)) if rows else 0
            sizes = f"{plain.upper:.2f} | {own.upper:.2f} | {plain.gap:.1%} | {own.gap:.1%}"
            shape = f"{factor.shape[1]} | {len(factor)} | {order:g}"
            ends = f"{own.lower:.2f} | {len(rows)} | {length} | {seconds:.1f}"
            print(f"| {shape} | {sizes} | {ends} |", flush=True)


def with_fives(second: Vector, most: int) -> Vector:
    """Return the shortest sums of three signs, and of five: what replaces `_shortest`."""
    threes = PLAIN(second, min(most, THREES))
    k = len(second)
    size = np.sqrt(np.maximum(np.diag(second), np.finfo(float).tiny))
    alike = second / np.outer(size, size)
    signs = np.array([(1, *rest) for rest in itertools.product((1, -1), repeat=4)])
    pairs = [*itertools.combinations(range(5), 2)]
    both = np.array([[s[i] * s[j] for i, j in pairs] for s in signs])
    kept: list[tuple[Any, ...]] = []
    every = itertools.combinations(range(k), 5)
    while part := [*itertools.islice(every, PART)]:
        places = np.array(part)
        crossed = np.array([alike[places[:, i], places[:, j]] for i, j in pairs])
        squares = 5 + 2 * both @ crossed
        best = np.argmin(squares, axis=0)
        least = squares[best, np.arange(len(places))]
        few = np.argsort(least, kind="stable")[:FIVES]
        kept += [(least[i], part[i], signs[best[i]]) for i in few if least[i] < 1]
    rows = np.zeros((min(len(kept), FIVES), k))
    for row, (_, at, sign) in zip(rows, sorted(kept, key=lambda own: own[0]), strict=False):
        row[[*at]] = sign
    return np.vstack([threes, rows])


PLAIN = odd_sums._shortest  # noqa: SLF001 (what else it might be is asked here)


class _FirstThree:
    """Take 200 sums of three in the first round, and then those of five as well."""

    def __init__(self) -> None:
        self._rounds = 0

    def __call__(self, second: Vector, most: int) -> Vector:
        self._rounds += 1
        return PLAIN(second, most) if self._rounds == 1 else with_fives(second, most)


def untaken() -> None:
    factor = others()["zonotope, 10 × 60"].dense
    images = factor / np.max(np.abs(factor))
    tried: dict[str, dict[str, Any]] = {
        "three rounds of 200 sums of three": {"_ROUNDS": 3},
        "800 sums of three at once": {"_ROUNDS": 1, "_MORE": 800},
        "one round of three, two with 200 of five beside 100": {"_shortest": None},
    }
    print("| sums | p | noise | s |")
    for order, (name, given) in itertools.product((2.0, math.inf), tried.items()):
        claim = solved(factor, order, sums=False).claim
        changed: dict[str, Any] = {
            key: _FirstThree() if value is None else value for key, value in given.items()
        }
        start = time.process_time()
        with patch.multiple(odd_sums, **changed):
            y, c = claim.body.multipliers, claim.dual.query_weights
            assert y is not None
            assert c is not None
            _, precision = odd_sums.least_sums(images, y, order, c)
        seconds = time.process_time() - start
        covered = factor @ np.linalg.solve(precision, factor.T)
        noise = order_norm(np.sqrt(np.diag(covered)), order)
        print(f"| {name} | {order:g} | {noise:.2f} | {seconds:.1f} |", flush=True)


def main(arguments: list[str]) -> int:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        command = [sys.executable, "-m", "benchmarks.odd_sums", *arguments]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})  # noqa: S606
    sys.path.append(str(ROOT / "tests"))
    (untaken if arguments else table)()
    return 0


if __name__ == "__main__":
    sys.exit(main(Arguments(__doc__).words("untaken")))
