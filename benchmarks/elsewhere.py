# SPDX-License-Identifier: Apache-2.0
"""Plans of one processor on another: `python -m benchmarks.elsewhere [--only TEXT] [NAME …]`.

Some 300 plans, of every question and noise under both relations, are written as by one processor of
x86 and then read, verified and released from as by another, each with each. A processor is what
OpenBLAS, numpy and the C library are told to take it for; `NAMES` are in `PROCESSORS`, two or more.

It prints what is refused, not read, not verified, called another plan or in other steps, and by how
much of it costs differ; its status is 1 where anything is. A row that is given up after `LONGEST`
seconds of processor time, or that has no such noise, is left out and counted.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from benchmarks.solver import ONE_THREAD, ROOT
from lownoise.errors import LownoiseError
from lownoise.planning import LocalPlan, StreamPlan
from lownoise.release.stored import plan_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.sets.domains import AbstractDomain

    Row = tuple[str, Callable[[], Any]]

LONGEST = 20  # seconds of processor time for one plan
PROCESSORS = {
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},  # of processors that have AVX-512 alone
    # no fused operations in exponentials and powers, either
    "oldest": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4",
    },
}
PURE = {"pure": ln.pure_dp(0.7), "pure 4": ln.pure_dp(4.0), "approx": ln.approx_dp(1.0, 1e-6)}
BUDGETS: dict[str, Any] = {"zcdp": ln.zcdp(0.5), **PURE}
SIZES = {"substitute": 40, "add_remove": None}
RNG = np.random.default_rng(9)
ELLIPSOID = ln.Ellipsoid([[2, 0.3], [0.3, 1]], center=[5, 1])
DOMAINS = {
    "box": ln.Box([0, 1], [1, 4]),
    "ball": ln.Ball(2, 2.0, center=[1, 0.5]),
    "ellipsoid": ELLIPSOID,
    "list": ln.Points(np.array([[1, 0], [0, 0], [1, 1.5], [0.3, 0.7]])),
    "octahedron": ln.Ball(3, order=1),
    "cube": ln.Box(np.zeros(4), np.ones(4)),
    "simplex": ln.Points(np.eye(4)),
    "turned ball": ln.image(RNG.normal(size=(4, 4)), ln.Ball(4)),
    "flat ball": ln.image(RNG.normal(size=(3, 5)), ln.Ball(5)),
    "zonotope": ln.Zonotope(RNG.normal(size=(5, 3))),
    "turned octahedron": ln.image(RNG.normal(size=(3, 3)), ln.Ball(3, order=1)),
    "points": ln.Points(RNG.normal(size=(8, 3))),
}
BY = {"sex": ["F", "M"], "region": ["x", "y", "z"]}
OUTSIDE = {"sex": "F", "region": "x", "t": 0}
MECHANISMS = (
    "laplace",
    "k_norm",
    "ellipsoid",
    "recursive",
    "staircase",
    "radial",
    "geometric",
    "discrete_staircase",
    "discrete_k_norm",
    "laplace_histogram",
)


def columns(domain: AbstractDomain) -> list[str]:
    """Return names of the columns of a domain."""
    return [f"c{k}" for k in range(domain.dimension)]


def questions() -> dict[str, Any]:
    """Return what is asked, by name."""
    found: dict[str, Any] = {
        f"mean of {name}": ln.Mean(columns(own), own) for name, own in DOMAINS.items()
    }
    for name in ("box", "ellipsoid", "list"):
        own = DOMAINS[name]
        found[f"sum of {name}"] = ln.Sum(columns(own), own)
        found[f"mean of {name} by groups"] = ln.Mean(columns(own), own, by=BY, way=2)
        found[f"sum of {name} by groups"] = ln.Sum(columns(own), own, by=BY, way=1)
    box = ln.Box([0, 0, 1], [1, 2, 5])
    found["moments of box"] = ln.Moments(columns(box), box)
    found["moments of ball"] = ln.Moments(["c0", "c1"], DOMAINS["ball"])
    found["moments by groups"] = ln.Moments(["c0", "c1"], DOMAINS["box"], by={"sex": ["F", "M"]})
    for degree in ([2], [0, 1, 2], [1, 2, 3]):
        weights = [1.0, 2.0, 5.0][: len(degree)]
        bits = [f"b{k}" for k in range(8)]
        found[f"parities of {degree}"] = ln.Parity(bits, degree, weights=weights, outside=0)
    found["distribution"] = ln.Distribution("a", range(12))
    found["marginals"] = ln.Marginals({**BY, "t": 5}, way=2, outside=OUTSIDE)
    found["ranges"] = ln.Marginals(
        {"sex": ["F", "M"], "t": 5},
        way=2,
        ordered={"t": "range"},
        outside={"sex": "F", "t": 0},
    )
    found["queries"] = ln.Queries(RNG.normal(size=(4, 7)), {"x": 7}, outside={"x": 0})
    found["whole queries"] = ln.Queries(np.tril(np.ones((5, 5))), {"x": 5}, outside={"x": 0})
    return found


def rows() -> Iterator[Row]:
    """Yield names, and what makes a plan of each; budgets, relations and orders take turns."""
    asked = questions()
    for at, (name, question) in enumerate(asked.items()):
        for k, (relation, budget) in enumerate((r, b) for r in SIZES for b in BUDGETS):
            if (at + k) % 2:
                continue
            order = (2.0, math.inf)[(at + k // 2) % 2]
            own = {"budget": BUDGETS[budget], "relation": relation, "order": order}
            yield (
                f"{name}, {budget}, {relation}, {order:g}",
                partial(ln.plan, question, size=SIZES[relation], **own),
            )
    named = [
        n for n in asked if n.startswith(("mean of", "parities", "quer", "whole", "moments o"))
    ]
    for at, name in enumerate(named):
        for k, mechanism in enumerate(MECHANISMS[at % 2 :: 2]):
            budget, relation = list(PURE)[(at + k) % 3], list(SIZES)[(at // 3 + k) % 2]
            more = {"size": SIZES[relation], "relation": relation, "mechanism": mechanism}
            yield (
                f"{name}, {mechanism}, {budget}, {relation}",
                partial(ln.plan, asked[name], budget=PURE[budget], **more),
            )
    units = ("sum of box", "mean of ellipsoid by groups", "mean of turned ball", "marginals")
    for at, name in enumerate((*units, "parities of [0, 1, 2]", "moments of box", "queries")):
        for k, relation in enumerate(SIZES):
            budget = ("zcdp", "pure", "approx")[(at + k) % 3]
            unit = {"privacy_unit": "id", "rows_per_unit": 3, "relation": relation}
            yield (
                f"{name}, units, {budget}, {relation}",
                partial(ln.plan, asked[name], budget=BUDGETS[budget], **unit),
            )
    for name in ("mean of turned ball", "mean of cube", "parities of [1, 2, 3]"):
        for budget in ("zcdp", "pure", "approx"):
            own = {"budget": BUDGETS[budget], "relation": "add_remove", "uses": 5}
            yield f"{name}, uses, {budget}", partial(ln.plan, asked[name], **own)
    yield from streams()
    yield from reports()


def streams() -> Iterator[Row]:
    """Yield streams: under a pure budget noise is in a tree."""
    workloads = {
        "prefix": ln.Prefix(32),
        "window": ln.SlidingWindow(20, 6),
        "decayed": ln.Decayed(19, 0.7),
    }
    values = {"number": ln.Box([0], [1]), "ellipsoid": ELLIPSOID, "flat": DOMAINS["flat ball"]}
    for at, (workload, asked) in enumerate(workloads.items()):
        for k, (name, domain) in enumerate(values.items()):
            for budget in ("zcdp", "pure"):
                relation = list(SIZES)[(at + k) % 2]
                own: dict[str, Any] = {"domain": domain, "relation": relation}
                yield (
                    f"stream, {workload}, {name}, {budget}",
                    partial(ln.stream, asked, budget=BUDGETS[budget], **own),
                )


def reports() -> Iterator[Row]:
    """Yield local plans."""
    asked: dict[str, Any] = {
        "box": ln.Mean(["c0", "c1"], DOMAINS["box"]),
        "ellipsoid": ln.Mean(["c0", "c1"], ELLIPSOID),
        "turned ball": ln.Mean(columns(DOMAINS["turned ball"]), DOMAINS["turned ball"]),
        "list": ln.Mean(["c0", "c1"], DOMAINS["list"]),
        "table": ln.Marginals(BY, way=1, outside={"sex": "F", "region": "x"}),
    }
    budgets = {"1": ln.local_dp(1.0), "4": ln.local_dp(4.0), "delta": ln.local_dp(1.0, 1e-6)}
    for name, question in asked.items():
        for budget, own in budgets.items():
            yield f"reports of {name}, {budget}", partial(ln.local, question, own)


def chosen(only: str) -> list[Row]:
    """Return the rows whose name holds a text."""
    return [row for row in rows() if only in row[0]]


class _LongError(Exception):
    """A row took too long."""


def _ring(*_: object) -> None:
    raise _LongError


def write(folder: Path, only: str) -> None:
    """Write what a plan's file holds, by name, and how many rows have none."""
    found: dict[str, Any] = {}
    left: dict[str, str] = {}
    signal.signal(signal.SIGPROF, _ring)
    for name, make in chosen(only):
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            made = make()
            found[name] = {"text": made.to_json(), **_facts(made)}
            if isinstance(made, ln.Stream):
                found[name]["state"] = made.state().hex()
        except LownoiseError as error:
            left[name] = str(error)
        except _LongError:
            left[name] = "too long"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    (folder / "plans.json").write_text(json.dumps({"found": found, "left": left}))


def _facts(made: Any) -> dict[str, Any]:  # noqa: ANN401 (a plan or a stream)
    """Return what must be the same elsewhere, and what it reveals, which may differ by last bits.

    Steps, of which totals are whole numbers, are what a table is read in: other ones would sum
    other integers.
    """
    if isinstance(made, LocalPlan):
        return {"digest": made.digest, "cost": []}
    mechanism = made.terms.mechanism
    unit = getattr(mechanism, "totals", None)
    steps = getattr(unit, "unit", None)
    loss = mechanism.loss
    return {
        "digest": "" if isinstance(made, ln.Stream | StreamPlan) else plan_digest(made.terms),
        "steps": None if not isinstance(steps, np.ndarray) else steps.tolist(),
        "cost": [x for x in (loss.epsilon, loss.delta, loss.rho, loss.mu) if math.isfinite(x)],
    }


def read(folder: Path) -> dict[str, Any]:
    """Return what does not hold here of plans that were written elsewhere, and their costs here."""
    broken: dict[str, list[str]] = {}
    differ: dict[str, float] = {}
    for name, was in json.loads((folder / "plans.json").read_text())["found"].items():
        said = [f"not verified: {c.name}" for c in ln.verify(was["text"]).checks if not c.holds]
        try:
            made = _loaded(name, was)
            if not isinstance(made, LocalPlan):
                made.terms.check_budget()
            now = _facts(made)
            said += [f"other {key}" for key in ("digest", "steps") if was.get(key) != now.get(key)]
            both = zip(was["cost"], now["cost"], strict=True)
            differ[name] = max((abs(a - b) / b for a, b in both if b), default=0.0)
        except LownoiseError as error:
            said.append(str(error))
        if said:
            broken[name] = said
    return {"broken": broken, "differ": differ}


def _loaded(name: str, was: dict[str, Any]) -> Any:  # noqa: ANN401 (a plan)
    if name.startswith("reports"):
        return LocalPlan.from_json(was["text"])
    if not name.startswith("stream"):
        return ln.Plan.from_json(was["text"])
    ln.Stream.restore(bytes.fromhex(was["state"]))
    return StreamPlan.from_json(was["text"])


def _run(processor: str, *given: str) -> str:
    env = {**os.environ, **ONE_THREAD, **PROCESSORS[processor]}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.elsewhere", *given]
    return subprocess.run(
        command, env=env, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def main() -> int:
    """Return 1 where a plan does not hold elsewhere."""
    parser = Arguments(__doc__)
    parser.add_argument("names", nargs="*", default=["Haswell", "Nehalem", "oldest"])
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write:
        write(asked.write, asked.only)
        return 0
    if asked.read:
        print(json.dumps(read(asked.read)))
        return 0
    lost = 0
    with tempfile.TemporaryDirectory() as place:
        folders = {name: Path(place) / name for name in asked.names}
        for name, folder in folders.items():
            folder.mkdir()
            _run(name, "--write", str(folder), "--only", asked.only)
            made = json.loads((folder / "plans.json").read_text())
            late = sum(why == "too long" for why in made["left"].values())
            print(
                f"{name}: {len(made['found'])} plans; {len(made['left']) - late} have no such "
                f"noise, and {late} take too long",
                flush=True,
            )
        for writer, reader in permutations(asked.names, 2):
            found = json.loads(_run(reader, "--read", str(folders[writer])))
            costs = [own for own in found["differ"].values() if own]
            print(
                f"{writer} to {reader}: {len(found['broken'])} do not hold; {len(costs)} cost "
                f"other last bits, by {max(costs, default=0.0):.1e} at most",
                flush=True,
            )
            for name, said in found["broken"].items():
                print(f"    {name}: {'; '.join(said)}")
            lost += len(found["broken"])
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
