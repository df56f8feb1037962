# SPDX-License-Identifier: Apache-2.0
"""How fast the solver proves its answers: `python -m benchmarks.solver [--peers] [row …]`.

Each row is solved in a process of its own with one thread, so that its peak memory is its own.
Times are CPU seconds, medians of several runs after a small one that is not counted, and include
the certificate. A row passes if its time, its gap and its memory are within their targets and its
bounds hold the published value between them. `growth` is a row too: time against N, d and p.

`--peers` also runs what is installed: the fixed point that the package brings for reference, cvxpy
with Clarabel and SCS (`pip install cvxpy clarabel scs`), and the dense optimiser of jax-privacy
(`pip install jax-privacy`). A peer is ended after ten CPU minutes.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments

ROOT = Path(__file__).parents[1]
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
LONGEST = 600  # CPU seconds for a peer


@dataclass(frozen=True)
class Problem:
    """What is solved.

    `points`: the ellipsoid around `count` standard normal points (seed 0) in `dimension`
    coordinates, wherever it may stand. `prefix`: the factors of the `dimension` × `dimension`
    triangle of ones; `triangle`: of one of standard normal numbers, flat to 2⁻ⁿ.
    """

    kind: str
    dimension: int
    count: int = 0
    order: float = 2.0
    rtol: float = 1e-6
    runs: int = 3

    def data(self) -> np.ndarray:
        if self.kind == "prefix":
            return np.tril(np.ones((self.dimension, self.dimension)))
        if self.kind == "triangle":
            return np.tril(np.random.default_rng(0).normal(size=(self.dimension, self.dimension)))
        points = np.random.default_rng(0).standard_normal((self.count, self.dimension))
        points.setflags(write=False)  # so that no copy is taken
        return points

    def solve(self, data: np.ndarray) -> ln.theory.Enclosure | ln.theory.Factorization:
        if self.kind != "points":
            return ln.theory.factorize(data, order=self.order, rtol=self.rtol)
        return ln.theory.enclose(ln.Points(data), order=self.order, rtol=self.rtol)

    def error(self, bound: float) -> float:
        """What a bound on Γ or γ is called in the literature: γ²/n or γ² for prefix sums."""
        if self.kind != "prefix":
            return bound
        return bound**2 / (self.dimension if self.order == 2 else 1)


@dataclass(frozen=True)
class Row:
    """A line of the table of targets; `today` is what its author measured of other tools."""

    name: str
    title: str
    problem: Problem
    seconds: float
    gap: float
    today: str
    fastest: float | None = None  # CPU seconds of what in `today` comes within 1e-5
    value: str | None = None
    gigabytes: float | None = None


ROWS = (
    Row(
        "d20",
        "ellipsoid, d=20, N=500, p=2",
        Problem("points", 20, 500, runs=25),
        0.02,
        1e-6,
        "cvxpy + Clarabel 31 s, + SCS 28 s (4e-6 off)",
        28,
    ),
    Row(
        "d50",
        "ellipsoid, d=50, N=1000, p=2",
        Problem("points", 50, 1000, runs=15),
        0.4,
        1e-6,
        "SCS 220 s, 8% off; Clarabel runs out of memory",
    ),
    Row(
        "million",
        "ellipsoid, d=100, N=10⁶, p=2",
        Problem("points", 100, 10**6),
        15,
        1e-6,
        "none can",
        gigabytes=3,
    ),
    Row(
        "prefix512",
        "prefix sums, n=512, p=2",
        Problem("prefix", 512, rtol=1e-9, runs=5),
        1.5,
        1e-9,
        "jax-privacy 8.8 s to 7.51865, 26.9 s to 1e-9; fixed point 3.2–6.3 s to 1e-6",
        26.9,
        "7.504228294030",
    ),
    Row(
        "prefix1024",
        "prefix sums, n=1024, p=2",
        Problem("prefix", 1024, rtol=1e-9),
        6,
        1e-9,
        "jax-privacy 103 s to 8.73888, 264 s to 1e-9; fixed point 39–84 s to 1e-9",
        39,
        "8.734696478955",
    ),
    Row(
        "prefix2048",
        "prefix sums, n=2048, p=2",
        Problem("prefix", 2048),
        30,
        1e-6,
        "jax-privacy 203 s, not converged; fixed point 193 s to 1e-6",
        193,
        "10.06358198",
    ),
    Row(
        "prefix512max",
        "prefix sums, n=512, p=∞",
        Problem("prefix", 512, order=math.inf, runs=5),
        5,
        1e-6,
        "jax-privacy 229 s, stops at 8.918 (18% above)",
        None,
        "7.54289605",
    ),
    Row(
        "triangle",
        "random triangle, n=200, p=2",
        Problem("triangle", 200),
        5,
        1e-6,
        "not tried",
    ),
    Row(
        "trianglemax",
        "random triangle, n=200, p=∞",
        Problem("triangle", 200, order=math.inf),
        15,
        1e-6,
        "not tried",
    ),
)
NAMES = {row.name: row for row in ROWS}


def growth_problems() -> dict[str, list[tuple[float, Problem]]]:
    """Return three families of problems, each with what varies in it."""
    many = [1000, 3000, 10_000, 30_000, 100_000, 300_000]
    wide = [5, 10, 20, 40, 80, 160]
    long = [64, 128, 256, 512, 1024]
    orders = [2, 2.5, 3, 4, 6, 10, 30, 100, math.inf]
    return {
        "N (d=20, p=2)": [(n, Problem("points", 20, n)) for n in many],
        "d (N=20d, p=2)": [(d, Problem("points", d, 20 * d)) for d in wide],
        "n (prefix sums, p=2)": [(n, Problem("prefix", n)) for n in long],
        "n (prefix sums, p=∞)": [(n, Problem("prefix", n, order=math.inf)) for n in long],
        "p (d=50, N=1000)": [(p, Problem("points", 50, 1000, order=float(p))) for p in orders],
        "p (prefix sums, n=256)": [(p, Problem("prefix", 256, order=float(p))) for p in orders],
    }


def measure(problem: Problem) -> dict[str, object]:
    """Solve in this process; called in one of its own."""
    ln.theory.enclose(ln.Points(np.eye(3)))
    ln.theory.factorize(np.tril(np.ones((4, 4))), order=3)
    data = problem.data()
    times = []
    for _ in range(problem.runs):
        start = time.process_time()
        found = problem.solve(data)
        times.append(time.process_time() - start)
    certificate = found.certificate
    return {
        "seconds": statistics.median(times),
        "lower": certificate.lower,
        "upper": certificate.upper,
        "gap": certificate.gap,
        "iterations": found.iterations,
        "status": found.status,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


def apart(command: str, argument: dict[str, Any]) -> dict[str, Any] | None:
    """Run `measure` or a peer in its own process; None where a peer takes too long."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.solver", command, json.dumps(argument)],
        env={**os.environ, **ONE_THREAD},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def solved(problem: Problem) -> dict[str, Any]:
    found = apart("--measure", asdict(problem))
    if found is None or "failed" in found:
        raise SystemExit(f"{problem}: {found}")
    return found


def verdict(row: Row, found: dict[str, Any]) -> bool:
    """Return whether a row reached all of its targets."""
    good = bool(found["seconds"] <= row.seconds and found["gap"] <= row.gap)
    if row.gigabytes is not None:
        good &= found["gigabytes"] < row.gigabytes
    if row.value is not None:
        half = 0.5 * 10.0 ** -len(row.value.split(".")[1])
        low, high = (row.problem.error(found[side]) for side in ("lower", "upper"))
        good &= low <= float(row.value) + half and high >= float(row.value) - half
    return good


def value_of(row: Row, found: dict[str, Any]) -> str:
    """Return the upper bound in the unit of the literature."""
    digits = 12 if row.gap < 1e-7 else 8
    return f"{row.problem.error(found['upper']):.{digits}f}"


def target_of(row: Row) -> str:
    memory = "" if row.gigabytes is None else f", < {row.gigabytes:g} GB"
    gap = f"{row.gap:.0e}".replace("e-0", "e-")
    return f"≤ {row.seconds:g} s, gap ≤ {gap}{memory}"


def ratio_of(row: Row, found: dict[str, Any]) -> str:
    return "—" if row.fastest is None else f"{row.fastest / found['seconds']:,.0f}×"


def show(row: Row) -> bool:
    found = solved(row.problem)
    good = verdict(row, found)
    published = f" (published {row.value})" if row.value else ""
    print(
        f"{row.title:30} {found['seconds']:8.3f} s, gap {found['gap']:.1e}, "
        f"{value_of(row, found)}{published}, {found['iterations']} steps, "
        f"{found['gigabytes']:.2f} GB; target {target_of(row)}; "
        f"{found['seconds'] / row.seconds:.2f} of it  {'PASS' if good else 'FAIL'}\n"
        f"{'':30} cited today: {row.today}; ratio {ratio_of(row, found)}",
        flush=True,
    )
    return good


def show_growth() -> None:
    for title, problems in growth_problems().items():
        print(f"time against {title}")
        for x, problem in problems:
            found = solved(problem)
            print(
                f"  {x:>8g} {found['seconds']:8.3f} s, {found['iterations']:3} steps, "
                f"gap {found['gap']:.1e}",
                flush=True,
            )


# peers: each returns the value that it reaches, in the unit of `Problem.error`


def by_points(points: np.ndarray, solver: str) -> float:
    """One small semidefinite constraint a point: [[M, x − v], [(x − v)ᵀ, 1]] ⪰ 0."""
    import cvxpy as cp

    d = points.shape[1]
    M, v = cp.Variable((d, d), symmetric=True), cp.Variable((d, 1))
    constraints = [
        cp.bmat([[M, x[:, None] - v], [(x[:, None] - v).T, np.ones((1, 1))]]) >> 0 for x in points
    ]
    programme = cp.Problem(cp.Minimize(cp.trace(M)), constraints)
    programme.solve(solver=solver)
    return math.sqrt(programme.value)


def by_precision(points: np.ndarray, solver: str) -> float:
    """In Y = M⁻¹ and b = Yv each point is xᵀYx − 2bᵀx + t ≤ 1, with t ≥ bᵀY⁻¹b: linear."""
    import cvxpy as cp

    d = points.shape[1]
    Y, b, t = cp.Variable((d, d), symmetric=True), cp.Variable((d, 1)), cp.Variable((1, 1))
    X = cp.Variable((d, d), symmetric=True)
    squares = np.einsum("ni,nj->nij", points, points).reshape(len(points), -1)
    constraints = [
        squares @ cp.vec(Y, order="C") - 2 * points @ b[:, 0] + t[0, 0] <= 1,
        cp.bmat([[Y, b], [b.T, t]]) >> 0,
        cp.bmat([[X, np.eye(d)], [np.eye(d), Y]]) >> 0,  # X ⪰ M
    ]
    programme = cp.Problem(cp.Minimize(cp.trace(X)), constraints)
    programme.solve(solver=solver)
    return math.sqrt(programme.value)


def by_fixed_point(problem: Problem, data: np.ndarray) -> float:
    from tests.references.fixed_point import fixed_point

    centered = problem.kind != "points"
    points = data.T if centered else data
    found = fixed_point(points, order=problem.order, centered=centered, rtol=problem.rtol)
    assert found.gap <= problem.rtol, f"gap {found.gap:.1e} after {found.rounds} rounds"
    return problem.error(found.upper)


def by_jax(problem: Problem, until: float | None) -> float:
    """Run jax-privacy's dense optimiser to its own end, or until its loss is `until`."""
    import jax
    import jax.numpy as jnp
    from jax_privacy.matrix_factorization import dense

    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 (its way to set a flag)
    largest = math.isinf(problem.order)
    ask = {"reduction_fn": jnp.max if largest else jnp.mean}
    if until is not None:
        ask["callback"] = lambda info: bool(info.loss <= until)
    strategy = dense.optimize(problem.dimension, **ask)
    errors = dense.per_query_error(strategy_matrix=strategy, skip_checks=True)
    longest = float(jnp.max(jnp.sum(strategy * strategy, axis=0)))
    return float(jnp.max(errors) if largest else jnp.mean(errors)) * longest


PEERS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "d20": [
        ("fixed point to 1e-6", "fixed", {}),
        ("cvxpy + Clarabel, a constraint a point", "points", {"solver": "CLARABEL"}),
        ("cvxpy + SCS, a constraint a point", "points", {"solver": "SCS"}),
        ("cvxpy + Clarabel, in the precision", "precision", {"solver": "CLARABEL"}),
        ("cvxpy + SCS, in the precision", "precision", {"solver": "SCS"}),
    ],
    "d50": [
        ("fixed point to 1e-6", "fixed", {}),
        ("cvxpy + Clarabel, in the precision", "precision", {"solver": "CLARABEL"}),
        ("cvxpy + SCS, in the precision", "precision", {"solver": "SCS"}),
    ],
    "prefix512": [
        ("fixed point to 1e-6", "fixed", {"rtol": 1e-6}),
        ("fixed point to 1e-9", "fixed", {}),
        ("jax-privacy, to its own end", "jax", {}),
        ("jax-privacy, to 1e-9", "jax", {"until": 7.504228294030 * (1 + 2e-9)}),
    ],
    "prefix1024": [
        ("fixed point to 1e-6", "fixed", {"rtol": 1e-6}),
        ("fixed point to 1e-9", "fixed", {}),
        ("jax-privacy, to its own end", "jax", {}),
        ("jax-privacy, to 1e-9", "jax", {"until": 8.734696478955 * (1 + 2e-9)}),
    ],
    "prefix2048": [
        ("fixed point to 1e-6", "fixed", {}),
        ("jax-privacy, to its own end", "jax", {}),
    ],
    "prefix512max": [
        ("fixed point to 1e-6", "fixed", {}),
        ("jax-privacy, to its own end", "jax", {}),
    ],
}


def peer(name: str, how: str, options: dict[str, Any]) -> dict[str, object]:
    """Run a peer in this process; called in one of its own."""
    # CPU and not wall-clock time: what else the machine does must not end a peer
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST + 60))
    problem = NAMES[name].problem
    data = problem.data()
    if how == "jax":
        import jax_privacy  # noqa: F401 (its import is not counted)
    if how in ("points", "precision"):
        import cvxpy  # noqa: F401 (likewise)
    start = time.process_time()
    if how == "fixed":
        value = by_fixed_point(Problem(**{**asdict(problem), **options}), data)
    elif how == "jax":
        value = by_jax(problem, options.get("until"))
    else:
        value = (by_points if how == "points" else by_precision)(data, **options)
    return {"seconds": time.process_time() - start, "value": value}


def beside(row: Row) -> list[tuple[str, dict[str, Any] | None]]:
    """Return each peer of a row with what it reached."""
    return [
        (title, apart("--peer", {"name": row.name, "how": how, "options": options}))
        for title, how, options in PEERS.get(row.name, [])
    ]


def said(found: dict[str, Any] | None, optimum: float) -> tuple[str, str]:
    """Return a peer's time, and how far it ends above the optimum."""
    if found is None:
        return f"> {LONGEST} s", "—"
    if "failed" in found:
        return "—", found["failed"][:60]
    return f"{found['seconds']:.3g} s", f"{found['value'] / optimum - 1:+.1e}"


def show_peers(row: Row) -> None:
    optimum = row.problem.error(solved(row.problem)["upper"])
    for title, found in beside(row):
        seconds, off = said(found, optimum)
        print(f"{'':30} {title}: {seconds}, {off} of the optimum", flush=True)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--measure"]:
        print(json.dumps(measure(Problem(**json.loads(arguments[1])))))
        return 0
    if arguments[:1] == ["--peer"]:
        print(json.dumps(peer(**json.loads(arguments[1]))))
        return 0
    taken = Arguments(__doc__)
    taken.add_argument("--peers", action="store_true", help="run what is installed, too")
    wanted, peers = taken.words(*NAMES, "growth"), taken.parse_args().peers
    results = []
    for row in ROWS:
        if not wanted or row.name in wanted:
            results.append(show(row))
            if peers:
                show_peers(row)
    if not wanted or "growth" in wanted:
        show_growth()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
