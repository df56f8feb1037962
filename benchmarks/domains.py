# SPDX-License-Identifier: Apache-2.0
"""How long domains take: `python -m benchmarks.domains [word …]`, members whose names hold a word.

For every member of the family of tests/cases.py, and others that have tests of their own: seconds
to enclose it at p = 2 and p = ∞ with the gaps of the certificates, and milliseconds a row to bring
in records that are inside (mixtures of three extreme points) and outside (about three times as far
as the domain reaches). Times are CPU time of one thread, medians of three runs after one that is
not counted, fewer where one takes seconds. The last column is how many runs the slowest had.

`python -m benchmarks.domains plan` plans means and totals of records that come and go, once each:
seconds of CPU time, and the gap that the plan prints.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from benchmarks.solver import ONE_THREAD, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 3
LONG = 3.0  # seconds after which a member is not run again
ROWS = 256
FEW = 4  # rows where one takes long
COUNTS = ln.intersection(ln.Box([0, 0, 0], [1, 1.5, 2]), ln.Slab([1, 1, 1], 0, 1.8))
LENS = ln.intersection(ln.Ball(3), ln.Ball(3, center=[1, 0, 0]))
HEAD = ("domain", "d", "p=2 s", "gap", "p=∞ s", "gap", "in ms", "out ms", "runs")


def others() -> dict[str, Any]:
    """Return what has tests of its own: sections, meets, oracles, tensors and matrices."""
    rng = np.random.default_rng(8)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    oracles = import_module("oracles")
    points = rng.normal(size=(40, 4))
    totals = [ln.Slab(np.ones(20), 0, 12), ln.Box(np.zeros(20), np.arange(1, 21) / 4)]
    return {
        "counts with a total": ln.intersection(ln.Box([0] * 3, [3, 4, 5]), ln.Slab([1] * 3, 0, 7)),
        "counts with a total, 20": ln.intersection(*totals),
        "lens": ln.intersection(ln.Ball(3), ln.Ball(3, center=[1, 0, 0])),
        "lens, 5": ln.intersection(ln.Ball(5), ln.Ball(5, center=np.eye(5)[0])),
        "differences of a lens, 8": ln.difference_body(
            ln.intersection(ln.Ball(8), ln.Ball(8, center=np.eye(8)[0]))
        ),
        "ball and slab, 8": ln.intersection(ln.Ball(8), ln.Slab(np.ones(8), -0.2, 9)),
        "lens and slab, 5": ln.intersection(
            ln.Ball(5), ln.Ball(5, center=np.eye(5)[0]), ln.Slab(np.eye(5)[1], -0.3, 5)
        ),
        "box and ellipsoid": ln.intersection(
            ln.Box([-1] * 3, [1] * 3), ln.Ellipsoid(turn * [2, 1.2, 0.5], [0.2, 0, 0])
        ),
        "capped ball": ln.intersection(ln.Ball(3), ln.Box([-0.6] * 3, [0.6] * 3)),
        "two ellipsoids": ln.intersection(ln.Ellipsoid([1, 2.0, 1]), ln.Ellipsoid([2, 1, 1.5])),
        "orders 1 and 2": ln.intersection(ln.Ball(3, order=1), ln.Ball(3, radius=0.8)),
        "cross and box, 2": ln.intersection(ln.Ball(2, order=1), ln.Box([-0.7, -0.6], [0.7, 0.6])),
        "orders 2 and 4": ln.intersection(ln.Ball(8), ln.Ball(8, radius=0.7, order=4)),
        "zonotope, 10 × 60": ln.Zonotope(rng.normal(size=(60, 10))),
        "zonotope, 4 × 60": ln.Zonotope(rng.normal(size=(60, 4))),
        "zonotope, 6 × 24": ln.Zonotope(np.random.default_rng(2).normal(size=(24, 6))),
        "zonotope, 30 × 60": ln.Zonotope(np.random.default_rng(2).normal(size=(60, 30))),
        "zonotope, 40 × 40": ln.Zonotope(np.random.default_rng(2).normal(size=(40, 40))),
        "image of ℓ_1.5, 3 × 4": ln.image(rng.normal(size=(3, 4)), ln.Ball(4, order=1.5)),
        "image of ℓ_1.2, 8 × 8": ln.image(rng.normal(size=(8, 8)), ln.Ball(8, order=1.2)),
        "image of sorted, 8 × 8": ln.image(
            rng.normal(size=(8, 8)), ln.OrderedBall(np.linspace(1, 0.2, 8))
        ),
        "image of the largest, 8 × 8": ln.image(
            np.random.default_rng(3).normal(size=(8, 8)), ln.TopBall(8, 2)
        ),
        "hull of product, counts": ln.hull(
            ln.product(ln.Box([0], [1]), ln.Ball(2)), COUNTS
        ),
        "counts + ball": ln.minkowski_sum(COUNTS, ln.Ball(3, 0.5)),
        "counts + box": ln.minkowski_sum(COUNTS, ln.Box([0] * 3, [0.5] * 3)),
        "lens + box": ln.minkowski_sum(LENS, ln.Box([0] * 3, [0.5] * 3)),
        "lens + counts": ln.minkowski_sum(LENS, COUNTS),
        "image of a lens": ln.image(rng.normal(size=(2, 3)), LENS),
        "box + ball": ln.minkowski_sum(ln.Box([-1] * 8, [1] * 8), ln.Ball(8)),
        "ball + cross": ln.minkowski_sum(ln.Ball(5), ln.Ball(5, order=1)),
        "three ellipsoids": ln.minkowski_sum(
            *[ln.Ellipsoid(rng.normal(size=(4, 4))) for _ in range(3)]
        ),
        "kronecker of balls": ln.kronecker(ln.Ball(3), ln.Ball(4)),
        "oracle of a list": ln.Oracle(
            4, oracles.listed(points), center=np.mean(points, axis=0),
            half_widths=np.max(np.abs(points - np.mean(points, axis=0)), axis=0),
            clamp=ln.Points(points).clamp,
        ),
        "one-hot but the last, 100": ln.difference_body(
            ln.Points(np.vstack([np.eye(100), np.zeros(100)]))
        ),
        "tensors of signs": ln.TensorPower(5, 3),
        "tensors of a ball": ln.TensorPower(3, 2, of="ball"),
        "operator norm": ln.OperatorNormBall(4, 5),
        "Schatten 1.5": ln.SchattenBall(4, 5, 1.5),
        "Schatten 3": ln.SchattenBall(4, 5, 3),
        "Ky Fan 2": ln.KyFanBall(4, 5, 2),
    }  # fmt: skip


def _plans() -> dict[str, Any]:
    """Return questions about records that come and go, whose plans once took long or were loose."""

    def names(d: int) -> list[str]:
        return [f"c{i}" for i in range(d)]

    def lens(d: int) -> Any:  # noqa: ANN401
        return ln.intersection(ln.Ball(d), ln.Ball(d, center=np.eye(d)[0]))

    asked: dict[str, Any] = {f"mean over a lens, {d}": ln.Mean(names(d), lens(d)) for d in (3, 6)}
    cut = ln.intersection(ln.Ball(6), ln.Slab(np.ones(6), -0.2, 9))
    asked["mean over a ball and a slab, 6"] = ln.Mean(names(6), cut)
    for d in (3, 20, 32, 40, 64, 200):
        far = ln.Box(np.full(d, 10.0), np.full(d, 11.0))
        asked[f"mean over [10, 11], {d}"] = ln.Mean(names(d), far)
        asked[f"sum over [10, 11], {d}"] = ln.Sum(names(d), far)
    widths = np.arange(1, 21) / 4
    asked["sum over [w/4, w], 20"] = ln.Sum(names(20), ln.Box(widths / 4, widths))
    return asked


def _planned(asked: Any) -> str:  # noqa: ANN401
    start = time.process_time()
    found = ln.plan(asked, budget=ln.zcdp(0.5), relation="add_remove")
    return f"{time.process_time() - start:8.2f} {found.certificate.gap:8.1e}"


def _timed(call: Callable[[], Any], runs: list[int]) -> tuple[float, Any]:
    """Return the median of CPU seconds, and what was returned."""
    times: list[float] = []
    found = None
    for _ in range(RUNS + 1):
        start = time.process_time()
        found = call()
        times.append(time.process_time() - start)
        if times[-1] > LONG:
            break
    kept = times[1:] or times
    runs.append(len(kept))
    return statistics.median(kept), found


def _inside(domain: Any, rng: np.random.Generator, count: int) -> np.ndarray | None:  # noqa: ANN401
    if isinstance(domain, ln.Points):
        share = rng.dirichlet(np.ones(len(domain.points)), size=count)
        return np.asarray(share @ domain.points)
    if hasattr(domain, "extreme"):
        share = rng.dirichlet(np.ones(3), size=count)
        ends = [domain.extreme(rng.normal(size=(count, domain.dimension))) for _ in range(3)]
        return np.asarray(sum(share[:, i : i + 1] * end for i, end in enumerate(ends)))
    width = (domain.upper - domain.lower) / 4
    return np.asarray(domain.center + width * rng.uniform(-1, 1, (count, domain.dimension)))


def _row(name: str, domain: Any) -> list[str]:  # noqa: ANN401
    """Return a member's line; a dash for what it cannot do."""
    cells, runs = [name[:28], str(domain.dimension)], list[int]()
    for order in (2.0, math.inf):
        seconds, found = _timed(partial(ln.theory.enclose, domain, order=order), runs)
        cells += [f"{seconds:.3f}", f"{found.certificate.gap:.1e}"]
    rng = np.random.default_rng(0)
    try:
        start = time.process_time()
        domain.clamp(domain.center + np.zeros((1, domain.dimension)))
        far = 3 * (domain.upper - domain.lower) / 2
        domain.clamp(domain.center + far * rng.normal(size=(1, domain.dimension)))
        count = ROWS if time.process_time() - start < LONG / 10 else FEW
        outside = domain.center + far * rng.normal(size=(count, domain.dimension))
        for rows in (_inside(domain, rng, count), outside):
            seconds, _ = _timed(partial(domain.clamp, rows), runs)
            cells.append(f"{1000 * seconds / count:.3f}")
    except (ln.errors.LownoiseError, AttributeError):
        cells += ["–"] * (8 - len(cells))
    return [*cells, str(min(runs))]


def main(arguments: list[str]) -> int:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        command = [sys.executable, "-m", "benchmarks.domains", *arguments]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})  # noqa: S606
    sys.path.append(str(ROOT / "tests"))
    if arguments == ["plan"]:
        for name, asked in _plans().items():
            print(f"{name:<32} {_planned(asked)}", flush=True)
        return 0
    members = {member.name: member.domain for member in import_module("cases").MEMBERS}
    print("{:<28} {:>4} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>5}".format(*HEAD))
    for name, domain in {**members, **others()}.items():
        if not arguments or any(word in name for word in arguments):
            line = "{:<28} {:>4} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>5}"
            print(line.format(*_row(name, domain)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Arguments(__doc__).words()))
