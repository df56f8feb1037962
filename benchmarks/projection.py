# SPDX-License-Identifier: Apache-2.0
"""Where bias wins: a plan's Gaussian noise against its projection onto what tables can have, by n.

    python -m benchmarks.projection [runs]

Errors in root mean square over runs of simulated noise at ρ = 1/2 under `substitute`, with
standard errors: of all moments x ⊗ x of a ball of d dimensions together, and of one answer of all
parities of d bits that 2- or 3-way marginals are made of. A table is of one repeated record, at the
edge of what tables can have, or of random ones, inside. "width" is √E h(Z): the projection errs no
more on any table (docs/theory.md). "unbiased" is what no unbiased mechanism is below. "averaged" is
the error of the average of all runs, as of releases of many months or of many parts, by the
projection over that by the noise: bias does not average out. The last lines fit the exponent of d,
which the source has as 1/4.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.release.nearest.answers import MeanAnswers, ParityAnswers
from lownoise.release.nearest.projected import nearest_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.release.nearest.answers import AbstractAnswers

BUDGET = ln.zcdp(0.5)
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 100_000)
KINDS = ("one record", "random records")


class Case(NamedTuple):
    """A question, per record: noise of one record's size, and its bound below."""

    name: str
    answers: AbstractAnswers
    factor: np.ndarray  # noise of n records is factor @ normal / n
    least: float  # times 1/n: what no unbiased mechanism is below
    share: float  # of a squared error that is one answer's
    bits: int
    degrees: tuple[int, ...]

    def truth(self, n: int, kind: str, rng: np.random.Generator) -> np.ndarray:
        """Return the exact answers of a table of a kind."""
        count = 1 if kind == KINDS[0] else n
        if not self.degrees:
            x = rng.standard_normal((count, self.bits))
            x /= np.linalg.norm(x, axis=1, keepdims=True)
            return (x.T @ x / count).ravel()
        signs = rng.choice([-1.0, 1.0], size=(count, self.bits))
        sets = ln.Parity([f"b{i}" for i in range(self.bits)], self.degrees).sets()
        return np.array([np.mean(np.prod(signs[:, s], axis=1)) for s in sets])


def moments(d: int) -> Case:
    """Return moments of order 2 of a ball, with the least noise of a plan."""
    domain = ln.TensorPower(d, 2, "ball")
    question = ln.Mean([f"x{i}" for i in range(d * d)], domain)
    plan = ln.plan(question, budget=BUDGET, relation="substitute", size=1)
    values, axes = np.linalg.eigh(plan.covariance)
    factor = axes * np.sqrt(np.maximum(values, 0))
    return Case(
        f"moments x ⊗ x, d = {d}", MeanAnswers(domain, None), factor, plan.lower_bound, 1.0, d, ()
    )


def marginals(d: int, way: int) -> Case:
    """Return the parities that marginals of d bits are made of, with the least noise of a plan."""
    degrees = tuple(range(1, way + 1))
    question = ln.Parity([f"b{i}" for i in range(d)], degrees, outside=0)
    plan = ln.plan(question, budget=BUDGET, relation="substitute", size=1)
    return Case(
        f"{way}-way marginals of {d} bits, an answer",
        ParityAnswers(question, 1),
        plan.standard_deviation,
        plan.lower_bound,
        1 / question.count,
        d,
        degrees,
    )


def measured(
    case: Case, n: int, kind: str, runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean squares of noise, projected errors and h(Z), how averages err; and errors."""
    truth, found = case.truth(n, kind, rng), []
    noise, moved = np.zeros(truth.size), np.zeros(truth.size)
    for _ in range(runs):
        draw = rng.standard_normal(truth.size)
        z = (case.factor @ draw if case.factor.ndim > 1 else case.factor * draw) / n
        size = float(np.linalg.norm(z))
        near = nearest_answers(truth + z, case.answers, np.ones(z.size), rtol=1e-3, unit=size)
        noise, moved = noise + z / runs, moved + (near.point - truth) / runs
        above = case.answers.extreme(z)[1] - float(z @ truth)
        found.append([size**2, float(np.sum((near.point - truth) ** 2)), above])
    values = np.array(found) * case.share
    averaged = np.linalg.norm(moved) / np.linalg.norm(noise)
    return np.append(values.mean(axis=0), averaged), values.std(axis=0) / math.sqrt(runs)


def crossing(sizes: Sequence[int], ratios: Sequence[float]) -> str:
    """Return about where the gain falls below a tenth, by interpolation in log n."""
    for k in range(len(sizes) - 1):
        a, b = ratios[k], ratios[k + 1]
        if a < 0.9 <= b:
            step = (0.9 - a) / (b - a) * math.log(sizes[k + 1] / sizes[k])
            return f"about {sizes[k] * math.exp(step):,.0f}"
    return f"beyond {sizes[-1]:,}" if ratios[-1] < 0.9 else f"below {sizes[0]:,}"


def table(case: Case, kind: str, runs: int, rng: np.random.Generator) -> None:
    """Print one case's errors by n."""
    print(f"\n{case.name}, {kind}")
    print("       n    Gaussian     projected      ratio      width   unbiased averaged")
    ratios = []
    for n in SIZES:
        mean, error = measured(case, n, kind, runs, rng)
        noise, projected, width = (math.sqrt(max(v, 0.0)) for v in mean[:3])
        off = error[1] / (2 * projected) if projected else 0.0
        ratios.append(projected / noise)
        least = case.least / n * math.sqrt(case.share)
        print(
            f"{n:8,}  {noise:10.4g}  {projected:9.4g} ± {off:<7.1g} {ratios[-1]:6.3f} "
            f"{width:10.4g} {least:10.4g} {mean[3]:8.2f}",
            flush=True,
        )
    print(f"the gain falls below a tenth at n = {crossing(SIZES, ratios)}")


def exponents(name: str, cases: Sequence[Case], n: int, runs: int) -> None:
    """Print the slopes in log d of the logarithms of the projection's error and of its bound."""
    rng = np.random.default_rng(1)
    found = [np.sqrt(measured(case, n, KINDS[1], runs, rng)[0][1:3]) for case in cases]
    slopes = np.polyfit(np.log([c.bits for c in cases]), np.log(found), 1)[0]
    print(f"{name}, n = {n}: error {slopes[0]:.3f}, width {slopes[1]:.3f}", flush=True)


def main(runs: int) -> None:
    """Print every table, and the exponents."""
    rng = np.random.default_rng(0)
    for case in (moments(8), moments(16), marginals(8, 2), marginals(12, 2), marginals(8, 3)):
        for kind in KINDS:
            table(case, kind, runs, rng)
    print("\nexponent of d in the projection's error and bound, the source's 0.25")
    exponents("moments, d = 8 … 24", [moments(d) for d in (8, 12, 16, 24)], 10, runs)
    bits = [marginals(d, 2) for d in (8, 10, 12, 14)]
    exponents("2-way marginals, an answer, d = 8 … 14", bits, 10, runs)


if __name__ == "__main__":
    main(Arguments(__doc__).number("runs", 100))
