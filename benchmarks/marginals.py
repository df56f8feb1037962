# SPDX-License-Identifier: Apache-2.0
"""Marginals of up to three attributes: `python -m benchmarks.marginals [part …]`.

Parts are plans, ordered, adult, wide, noise and peer; without one all of them run, in a few
minutes. Each prints a table. Published figures stand beside ours: they were measured by their
authors on other machines.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.engines.counts import records_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.relations import Relation

DATA = Path(__file__).parents[1] / "tests" / "data"
ADULT = DATA / "adult.csv"
ADULT_ROWS = 48_842
RELATIONS: tuple[Relation, ...] = ("add_remove", "substitute")
BUDGET = ln.zcdp(0.5)  # μ = 1, the privacy cost that the published figures are for
RUNS = 5
REPEATS = 5
FEW = ("workclass", "education-num", "marital-status", "occupation", "race")

PUBLISHED = {  # of ResidualPlanner: rms error a cell, and seconds of its selection
    ("10^10", 2.0): ("9.34811084", "-"),
    ("10^100", 2.0): ("-", "8.0"),
    ("10^100", math.inf): ("-", "50.5"),
    ("Adult", 2.0): ("10.66500805", "0.14"),
}


def even(count: int) -> ln.Marginals:
    """Return the question of all marginals of up to 3 of `count` attributes of 10 values."""
    sizes = {f"x{i}": 10 for i in range(count)}
    return ln.Marginals(sizes, way=3, outside=dict.fromkeys(sizes, 0))


def adult(names: Sequence[str] | None = None) -> ln.Marginals:
    """Return the same question of the Adult table, or of some of its attributes."""
    sizes = json.loads((DATA / "adult-domain.json").read_text())
    kept = {name: sizes[name] for name in names or sizes}
    return ln.Marginals(kept, way=3, outside=dict.fromkeys(kept, 0))


def main() -> None:
    for part in Arguments(__doc__).words(*PARTS) or PARTS:
        PARTS[part]()
        print(flush=True)


# plans


def plans() -> None:
    """Print how long a plan takes, how near the least it provably is, and its error."""
    print("Plans, at rho = 1/2 (HDMM's rms error on Adult: 11.56682, after 89 s)")
    print(
        f"{'':8}{'relation':12}{'p':>4}{'wall s':>8}{'CPU s':>8}{'gap':>9}"
        f"{'rms a cell':>14}{'largest sd':>12}   published: rms, s"
    )
    questions = {"10^10": even(10), "10^50": even(50), "10^100": even(100), "Adult": adult()}
    for name, question in questions.items():
        for order in (2.0, math.inf):
            for relation in RELATIONS:
                print(_plan_line(name, question, order, relation), flush=True)


def _plan_line(name: str, question: ln.Marginals, order: float, relation: Relation) -> str:
    walls, cpus = [], []
    for _ in range(RUNS):
        wall, cpu = time.perf_counter(), time.process_time()
        plan = _planned(question, order, relation)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    said = PUBLISHED.get((name, order)) if relation == "add_remove" else None
    view: Any = plan.terms.view
    deviations = np.sqrt([own[0] for own in plan.terms.mechanism.noise.answer_variances()])
    return (
        f"{name:8}{relation:12}{_order(order):>4}{statistics.median(walls):8.3f}"
        f"{statistics.median(cpus):8.3f}{plan.certificate.gap:9.0e}"
        f"{_typical(deviations, view.layout.orbits.cells):14.8f}{deviations.max():12.5f}"
        f"   {', '.join(said) if said else ''}"
    )


def _planned(question: ln.Marginals, order: float, relation: Relation) -> ln.Plan:
    size = ADULT_ROWS if relation == "substitute" else None
    return ln.plan(question, budget=BUDGET, relation=relation, size=size, order=order)


def _order(order: float) -> str:
    return "inf" if math.isinf(order) else f"{order:g}"


def _typical(deviations: Vector, cells: Vector) -> float:
    return math.sqrt(float(cells @ deviations**2) / float(cells.sum()))


# ordered attributes


OTHERS = {"sex": 2, "race": 5, "education": 16, "work": 9}
AGES = {"age": 85, "income": 100, "hours": 99}
PREFIXES = dict.fromkeys(AGES, "prefix")
ORDERED = {
    "24 x 24, <= 2-way": ({"age": 24, "income": 24}, 2),
    "8 x 8 x 8, <= 2-way": (dict.fromkeys(AGES, 8), 2),
    "85 x 100 x 99 and 4 more, <= 2-way": (AGES | OTHERS, 2),
    "85 x 100 x 99 and 4 more, <= 3-way": (AGES | OTHERS, 3),
}


def ordered() -> None:
    """Print how near the least product noise is, and beside the exact optimum where that is had."""
    print("Prefix counts along 2 or 3 attributes: noise that is a product over them")
    print(f"{'':36}{'relation':12}{'p':>4}{'CPU s':>8}{'gap':>9}{'over the least':>17}")
    for name, (sizes, way) in ORDERED.items():
        kinds = {n: kind for n, kind in PREFIXES.items() if n in sizes}
        question = ln.Marginals(sizes, way=way, outside=dict.fromkeys(sizes, 0), ordered=kinds)
        for relation in ("add_remove", "substitute"):
            for order in (2.0, math.inf):
                print(_ordered_line(name, question, order, relation), flush=True)


def _ordered_line(name: str, question: ln.Marginals, order: float, relation: Relation) -> str:
    from lownoise.sensitivity.residuals import ordered_blocks, product_blocks
    from lownoise.sensitivity.residuals.ordered import MOST_CATEGORIES
    from lownoise.solvers.ordered import solve_ordered
    from lownoise.solvers.product import solve_product

    public = relation == "substitute"
    bounds: list[Any] = []
    cpu = time.process_time()
    solve_product(product_blocks(question, public=public), order, bounds.append)
    cpu = time.process_time() - cpu
    over = "-"
    joint = math.prod(a.size for a in question.attributes if a.ordered)
    if joint <= MOST_CATEGORIES and not public:
        exact: list[Any] = []
        solve_ordered(ordered_blocks(question, public=public), order, 1e-3, exact.append)
        over = f"{100 * (bounds[-1].upper / exact[-1].lower - 1):.2f} %"
    gap = 100 * (bounds[-1].upper / bounds[-1].lower - 1)
    return f"{name:36}{relation:12}{_order(order):>4}{cpu:8.2f}{gap:7.2f} %{over:>17}"


# releases, each in a process of its own


def adult_release() -> None:
    """Print seconds and memory from the CSV to all answers."""
    whole, parts = _process("adult"), _process("adult-phases")
    print(f"Adult: CSV to all {whole['cells']:,} cells, one core, in a process of its own")
    _seconds(whole["seconds"])
    total = sum(cpu for _, cpu in whole["seconds"].values())
    peak = whole["peak"] / 1e9
    good = "PASS" if total <= 10 and peak < 1 else "FAIL"
    print(f"  {'in all':34}{total:16.2f} CPU s, peak {peak:.2f} GB (<= 10 s, < 1 GB: {good})")
    print("  of the release, taken apart")
    _seconds(parts["seconds"])
    print(
        "  ResidualPlanner, published: selection 0.14 s, noise 3.0 s, reconstruction 4.75 s,\n"
        "  1.37 GB, with floating-point noise"
    )


def wide() -> None:
    """Print seconds and memory of 100 attributes."""
    found = _process("wide")
    print("10^100: 166,751 marginals of 1,000 rows, one core, in a process of its own")
    _seconds(found["seconds"])
    folder, peak, mapped = (found[k] / 1e9 for k in ("folder", "peak", "mapped"))
    print(f"  folder {folder:.2f} GB; peak memory {peak:.2f} GB, {mapped:.2f} of it mapped files")


def _process(part: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.marginals_run", part]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _seconds(seconds: dict[str, tuple[float, float]]) -> None:
    for name, (wall, cpu) in seconds.items():
        print(f"  {name:34}{wall:8.2f} s{cpu:6.2f} CPU s")


# noise, predicted and measured


@dataclass(frozen=True)
class Noise:
    """One way to answer all marginals.

    Args:
        name: what it is.
        deviation: the standard deviation of a cell of a marginal, as predicted.
        answers: draws noise once for all marginals, or None where that cannot be done.
    """

    name: str
    deviation: Callable[[tuple[int, ...]], float]
    answers: Callable[[], Iterator[tuple[tuple[int, ...], Vector]]] | None


def noise() -> None:
    """Print the largest and the typical error of a cell beside simpler noise."""
    for title, names in (("Adult", None), (f"{len(FEW)} attributes of Adult", FEW)):
        question = adult(names)
        records = records_query(question.attributes).of(ADULT)
        print(
            f"{title}, {question.cells:,} cells: error of a cell, in rows, over all cells and in "
            f"the worst marginal ({REPEATS} releases)"
        )
        print(
            f"{'':44}{'typical':>10}{'measured':>10}{'worst':>10}{'measured (draws)':>20}"
            f"{'error/predicted':>17}"
        )
        for way in _ways(question, records):
            print(_noise_line(way, question), flush=True)


def _ways(question: ln.Marginals, records: Records) -> list[Noise]:
    rng = np.random.default_rng(0)
    sizes = [a.size for a in question.attributes]
    made = [_planned(question, order, "add_remove") for order in (2.0, math.inf)]
    terms = made[0].terms

    def ours(plan: ln.Plan) -> Callable[[], Iterator[tuple[tuple[int, ...], Vector]]]:
        def draw() -> Iterator[tuple[tuple[int, ...], Vector]]:
            release = plan.release(ADULT)
            for chosen, (_, counts) in zip(question.sets(), release.marginals(), strict=True):
                yield chosen, counts - records.marginal(chosen)

        return draw

    def on_workload() -> Iterator[tuple[tuple[int, ...], Vector]]:
        for chosen in question.sets():
            yield chosen, terms.isotropic * rng.standard_normal([sizes[i] for i in chosen])

    def on_histogram() -> Iterator[tuple[tuple[int, ...], Vector]]:
        table = rng.standard_normal(sizes) * terms.histogram(range(len(sizes)))
        for chosen in question.sets():
            yield chosen, table.sum(axis=tuple(set(range(len(sizes))) - set(chosen)))

    def of_plan(plan: ln.Plan) -> Callable[[tuple[int, ...]], float]:
        view: Any = plan.terms.view
        return lambda chosen: math.sqrt(view.variances(chosen).item())

    fits = math.prod(sizes) <= 10**7
    return [
        *(
            Noise(
                f"least noise, p = {_order(plan.terms.order)}",
                of_plan(plan),
                ours(plan),
            )
            for plan in made
        ),
        Noise("i.i.d. noise on the workload", lambda _: terms.isotropic, on_workload),
        Noise(
            f"i.i.d. noise on the full table ({math.prod(sizes):.0e} cells)",
            terms.histogram,
            on_histogram if fits else None,
        ),
    ]


def _noise_line(way: Noise, question: ln.Marginals) -> str:
    sizes = [a.size for a in question.attributes]
    sets = list(question.sets())
    cells = np.array([math.prod(sizes[i] for i in chosen) for chosen in sets], dtype=float)
    deviations = np.array([way.deviation(chosen) for chosen in sets])
    largest = float(deviations.max())
    worst = {
        chosen for chosen, d in zip(sets, deviations, strict=True) if d >= largest * (1 - 1e-6)
    }
    measured = ["-", "-", "-"]
    if way.answers is not None:
        deviation_of = dict(zip(sets, deviations.tolist(), strict=True))
        squares: defaultdict[bool, float] = defaultdict(float)
        counts: defaultdict[bool, int] = defaultdict(int)
        ratios = 0.0
        for _ in range(REPEATS):
            for chosen, error in way.answers():
                square = float(np.sum(np.square(error)))
                squares[chosen in worst] += square
                counts[chosen in worst] += error.size
                ratios += square / deviation_of[chosen] ** 2
        draws = sum(counts.values())
        measured = [
            f"{math.sqrt(sum(squares.values()) / draws):.4g}",
            f"{math.sqrt(squares[True] / counts[True]):.4g} ({counts[True]:,})",
            f"{math.sqrt(ratios / draws):.4f}",
        ]
    return (
        f"  {way.name:42}{_typical(deviations, cells):10.4g}{measured[0]:>10}"
        f"{largest:10.4g}{measured[1]:>20}{measured[2]:>17}"
    )


# the peer


def peer() -> None:
    """Print what ResidualPlanner takes here, where whoever runs this installed it."""
    try:
        from class_resplan import ResidualPlanner
    except ImportError:
        print(
            "ResidualPlanner is not installed (GPL; put its folder residual_planner on PYTHONPATH)"
        )
        return
    import pandas as pd

    question = adult()
    names = [a.name for a in question.attributes]
    system = ResidualPlanner([a.size for a in question.attributes])
    for chosen in question.sets():
        system.input_mech(chosen)
    system.input_data(pd.read_csv(ADULT)[names], names)
    print("ResidualPlanner on Adult, measured here")
    steps = {
        "selection": lambda: system.selection(choice="sumvar"),
        "noise": system.measurement,
        "reconstruction": system.reconstruction,
    }
    for name, step in steps.items():
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        _seconds({name: (time.perf_counter() - wall, time.process_time() - cpu)})


PARTS: dict[str, Callable[[], None]] = {
    "plans": plans,
    "ordered": ordered,
    "adult": adult_release,
    "wide": wide,
    "noise": noise,
    "peer": peer,
}


if __name__ == "__main__":
    main()
