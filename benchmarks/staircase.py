# SPDX-License-Identifier: Apache-2.0
"""Staircase noise: `python -m benchmarks.staircase [counts|speed|costs|streams|intervals]`.

Ratios of E‖z‖² of staircases to K-norm noise, by the number of integers that move and ε, whatever
the norm. With `counts`: of plans of counts to their Laplace noise, and of counts of units with
several rows to geometric noise. With `speed`: how many vectors
of integers are drawn a second, of one number and around a ball. With `costs`: what staircases and
K-norm noise cost an account that adds up ρ or μ², around a ball and a box. With `streams`: what
running sums have with geometric noise over what they have with Laplace noise, of values 0 and 1,
the same of staircases and values from 0 to 1, and the seconds of processor time that planning
these takes the first time. With `intervals`: how long one of an answer takes.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.certificate.staircase import least_first, least_square_down, staircase_ratio
from lownoise.noise import KNormNoise, StaircaseNoise
from lownoise.noise.pure import ellipsoid_norm
from lownoise.numbers.randomness import SystemRandomness
from lownoise.samplers.steps import StepRadius
from lownoise.sets.bodies import ImageBody
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall
from lownoise.solvers.streams.trees import best_tree, best_widths

if TYPE_CHECKING:
    from lownoise.planning.ask import Question
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain

EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
SIZES = (1, 2, 3, 4, 6, 8, 16, 32)
HEAD = ("d", *(f"ε = {epsilon:g}" for epsilon in EPSILONS))
SCALE = 2.0**32  # grid steps of noise, as plans have
MANY = 20_000


def rows() -> list[list[str]]:
    """Return E‖z‖² of staircase noise over that of K-norm noise, a row a dimension."""
    return [[str(d), *(f"{staircase_ratio(d, e):.4f}" for e in EPSILONS)] for d in SIZES]


def gaps() -> list[list[str]]:
    """Return how far E‖z‖² around a ball is above what is proved of all additive noise."""
    found = []
    for d in SIZES:
        cells = []
        for epsilon in EPSILONS:
            own = StepRadius(d, epsilon, least_first(d, epsilon)).mean(2.0) * d / (d + 2)
            cells.append(f"{own / least_square_down(d, epsilon) - 1:.1e}")
        found.append([str(d), *cells])
    return found


BITS = {f"x{i}": 2 for i in range(6)}
PAIRS = [list(pair) for pair in itertools.combinations(BITS, 2)]
COUNTS: dict[str, tuple[Question, Relation]] = {
    "a count": (ln.Count("id"), "add_remove"),
    "cells of a 5 × 4 table": (ln.Count({"a": 5, "b": 4}), "add_remove"),
    "the same, one changes": (ln.Count({"a": 5, "b": 4}, outside={"a": 0, "b": 0}), "substitute"),
    "its two margins": (ln.Marginals({"a": 5, "b": 4}, sets=[["a"], ["b"]]), "add_remove"),
    "15 tables of pairs of bits": (ln.Marginals(BITS, sets=PAIRS), "add_remove"),
    "counts up to each of 32 ages": (ln.Distribution("age", list(range(33))), "add_remove"),
}
COUNT_HEAD = ("question", *(f"ε = {epsilon:g}" for epsilon in EPSILONS))


def counts() -> list[list[str]]:
    """Return the squared error of each plan over that of its best Laplace noise, and the noise."""
    return [
        [name, *(_beside(question, relation, e) for e in EPSILONS)]
        for name, (question, relation) in COUNTS.items()
    ]


def _beside(question: Question, relation: Relation, epsilon: float) -> str:
    size = 1000 if relation == "substitute" else None
    plan = ln.plan(question, budget=ln.pure_dp(epsilon), relation=relation, size=size)
    laplace = [
        own.error for own in plan.comparison if own.error and own.mechanism.startswith("laplace")
    ]
    return f"{(plan.error / min(laplace)) ** 2:.4f}"


UNIT_ROWS = (2, 4, 8, 20)
UNIT_HEAD = ("rows of a unit", *COUNT_HEAD[1:])


def units() -> list[list[str]]:
    """Return E z² of the best whole noise on a count of units over that of geometric noise."""
    found = []
    for rows in UNIT_ROWS:
        unit: dict[str, Any] = {"privacy_unit": "person", "rows_per_unit": rows}
        cells = []
        for epsilon in EPSILONS:
            budget = ln.pure_dp(epsilon)
            plan, usual = (
                ln.plan(ln.Count("id"), budget=budget, relation="add_remove", mechanism=m, **unit)
                for m in ("discrete_staircase", "geometric")
            )
            cells.append(f"{(plan.error / usual.error) ** 2:.4f}")
        found.append([str(rows), *cells])
    return found


def speed() -> list[list[str]]:
    """Return vectors of integers a second of CPU time, of K-norm and of staircase noise."""
    found = []
    for d in (1, 2, 4, 16):
        gauge = ellipsoid_norm(np.ones(d))
        cells = []
        for noise in (KNormNoise(gauge, SCALE), StaircaseNoise(gauge, SCALE, 2.0, 0.5)):
            noise.many(100, SystemRandomness())
            start = time.process_time()
            noise.many(MANY, SystemRandomness())
            cells.append(f"{MANY / (time.process_time() - start):,.0f}")
        found.append([str(d), *cells])
    return found


def costs(epsilon: float = 1.0) -> list[list[str]]:
    """Return ρ and μ of a staircase, and those over K-norm noise's ρ and μ², a row a dimension."""
    found = []
    for d in SIZES:
        cells = []
        for order in (2.0, np.inf):
            ball = NormBall(d, order)
            gauge, body = ImageNorm(np.ones(d), ball), ImageBody(np.ones(d), ball)
            first = least_first(d, epsilon)
            own = StaircaseNoise(gauge, 1.0, epsilon, first).loss(body)
            usual = KNormNoise(gauge, 1 / epsilon).loss(body)
            cells += [f"{own.rho:.4f}", f"{own.mu:.4f}"]
            cells += [f"{own.rho / usual.rho:.2f}", f"{(own.mu / usual.mu) ** 2:.2f}"]
        found.append([str(d), *cells])
    return found


ROUNDS = (16, 64, 256, 1024, 4096)
STREAM_HEAD = ("rounds", "levels", *COUNT_HEAD[1:])


def streams(mechanism: str, domain: AbstractDomain) -> list[list[str]]:
    """Return mean variances of running sums over those with Laplace noise, and levels.

    A row a length, Laplace noise's levels first; the noise has the levels that are best for it.
    """
    found = []
    for rounds in ROUNDS:
        cells = []
        for epsilon in EPSILONS:
            own, real = (
                ln.stream(
                    ln.Prefix(rounds), budget=ln.pure_dp(epsilon), domain=domain, mechanism=noise
                )
                for noise in (mechanism, "laplace")
            )
            levels = len(own.terms.mechanism.pair.levels)
            cells.append(f"{(own.error / real.error) ** 2:.4f} ({levels})")
        found.append([str(rounds), str(len(real.terms.mechanism.pair.levels)), *cells])
    return found


def planning() -> list[list[str]]:
    """Return seconds of processor time that a stream with staircases takes to plan at first."""
    found = []
    for rounds in ROUNDS:
        cells = []
        for epsilon in EPSILONS:
            best_tree.cache_clear()
            best_widths.cache_clear()
            start = time.process_time()
            ln.stream(ln.Prefix(rounds), budget=ln.pure_dp(epsilon), mechanism="staircase")
            cells.append(f"{time.process_time() - start:.2f}")
        found.append([str(rounds), "", *cells])
    return found


def intervals() -> list[list[str]]:
    """Return milliseconds of processor time that an interval takes, of each noise."""
    found = []
    for rounds in (256, 1024, 4096, 10_000):
        cells = []
        for mechanism in ("geometric", "staircase", "laplace"):
            stream = ln.stream(
                ln.Prefix(rounds),
                budget=ln.pure_dp(4.0),
                domain=ln.Points([[0.0], [1.0]]),
                mechanism=mechanism,
            )
            stream.half_widths(1, 1)
            asked = range(2, rounds, rounds // 100)
            start = time.process_time()
            for t in asked:
                stream.half_widths(t, 1)
            cells.append(f"{(time.process_time() - start) / len(asked) * 1e3:.2f}")
        found.append([str(rounds), *cells])
    return found


def main(asked: list[str]) -> int:
    """Print the tables."""
    if asked == ["counts"]:
        tables = [(COUNT_HEAD, counts()), (UNIT_HEAD, units())]
    elif asked == ["speed"]:
        tables = [(("d", "K-norm", "staircase"), speed())]
    elif asked == ["streams"]:
        tables = [(STREAM_HEAD, planning())]
        tables += [(STREAM_HEAD, streams("geometric", ln.Points([[0.0], [1.0]])))]
        tables += [(STREAM_HEAD, streams("staircase", ln.Box([0.0], [1.0])))]
    elif asked == ["intervals"]:
        tables = [(("rounds", "geometric", "staircase", "laplace"), intervals())]
    elif asked == ["costs"]:
        tables = [(("d", *("rho", "mu", "rho ×", "mu² ×") * 2), costs())]
    else:
        tables = [(HEAD, rows()), (HEAD, gaps())]
    for head, body in tables:
        for row in (head, *body):
            widths = [max(len(each[i]) for each in (head, *body)) for i in range(len(head))]
            cells = zip(row, widths, strict=True)
            print("  ".join(f"{cell:>{max(width, 8)}}" for cell, width in cells))
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(Arguments(__doc__).words("counts", "speed", "costs", "streams", "intervals")))
