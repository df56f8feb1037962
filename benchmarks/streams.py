# SPDX-License-Identifier: Apache-2.0
"""Strategies for streams of prefix sums: `python -m benchmarks.streams [part …]`.

Parts are small (1,024 rounds), middle (10,000), million, trees, rounds (what a running stream
takes) and intervals (what half widths do); without one all of them run, in some four minutes.
Errors are squared, a round, where one unit of change in one round is hidden; seconds are CPU
seconds of the strategy alone. Published figures, of jax-privacy, stand beside ours: they were
measured elsewhere, on one core of a server.
"""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

import lownoise as ln
from benchmarks.arguments import Arguments
from benchmarks.stream_variances import (
    honaker_variances,
    normalized_variances,
    streaming_variances,
    tree_variances,
)
from lownoise.release.regions import simultaneous_quantile
from lownoise.solvers.streams import (
    banded,
    banded_bound,
    banded_variances,
    enough_buffers,
    lower_bound,
    optimal_toeplitz,
    rational,
    square_root,
    squared_error,
    tree_height,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.streams.toeplitz import Error

ERRORS: tuple[Error, ...] = ("mean", "max")
BAND = 64
RUNNING = (
    ("square_root", 10**6),
    ("normalized_square_root", 10**5),
    ("toeplitz", 10**5),
    ("binary_tree", 10**6),
    ("rational", 10**6),
    ("rational", 10**9),
)

PUBLISHED = {  # squared error and seconds, by rounds, strategy and the error that it is made for
    (1024, "square root", "mean"): ("9.67079327", "-"),
    (1024, "square root", "max"): ("10.70961067", "-"),
    (1024, "best Toeplitz", "mean"): ("9.34272978", "7.9"),
    (1024, "rational, 3 buffers", "mean"): ("9.35546899", "56"),
    (1024, "rational, 5 buffers", "mean"): ("9.34749128", "13.5"),
    (1024, "rational, 3 buffers", "max"): ("10.74266092", "39"),
    (1024, f"banded, {BAND}", "mean"): ("15.98174023", "44.5"),
    (1024, "best of all", "mean"): ("8.7346965", "264"),
    (1024, "best of all", "max"): ("8.7702740", "not reached"),
    (10_000, "square root", "mean"): ("14.71191150", "-"),
    (10_000, "square root", "max"): ("15.98408629", "-"),
    (10_000, "rational, 3 buffers", "mean"): ("14.43902895", "178"),
}


@dataclass(frozen=True)
class Made:
    """What a strategy errs, each round or in all, and what no strategy of its kind is below."""

    mean: float
    largest: float
    bound: float | None = None


def main() -> None:
    for part in Arguments(__doc__).words(*PARTS) or PARTS:
        PARTS[part]()
        print(flush=True)


def _table(size: int, rows: dict[str, Callable[[Error], Made]]) -> None:
    print(f"{size:,} rounds: squared error")
    print(
        f"{'':26}{'made for':>9}{'mean':>15}{'largest':>15}{'over bound':>12}{'CPU s':>9}"
        "   published, s"
    )
    for name, make in rows.items():
        for error in ERRORS:
            clock = time.process_time()
            made = make(error)
            seconds = time.process_time() - clock
            over = "-"
            if made.bound is not None:
                reached = made.mean if error == "mean" else made.largest
                over = f"{reached / made.bound - 1:.1e}"
            said = ", ".join(PUBLISHED.get((size, name, error), ()))
            print(
                f"{name:26}{error:>9}{made.mean:15.8f}{made.largest:15.8f}{over:>12}"
                f"{seconds:9.3f}   {said}",
                flush=True,
            )


# kinds of strategies; those made for either error alike are shown twice


def _rows(squares: Vector, moved: float = 1.0) -> Made:
    return Made(float(squares.mean()) * moved, float(squares.max()) * moved)


def _toeplitz(ones: Vector, c: Vector, bound: float | None) -> Made:
    return Made(squared_error(ones, c, "mean"), squared_error(ones, c, "max"), bound)


def _best(ones: Vector, error: Error) -> Made:
    c = optimal_toeplitz(ones, error)
    return _toeplitz(ones, c, lower_bound(ones, c, error))


def _rational(size: int, buffers: int, error: Error, bound: float) -> Made:
    made = rational(1.0, size, buffers, error)
    return Made(made.squared_error(size, "mean"), made.squared_error(size, "max"), bound)


def _banded(ones: Vector, error: Error) -> Made:
    C = banded(ones, BAND, error)
    squares = banded_variances(ones, C, BAND)
    return Made(float(squares.mean()), float(squares.max()), banded_bound(ones, C, BAND, error))


def _dense(size: int, error: Error) -> Made:
    found = ln.theory.factorize(
        np.tril(np.ones((size, size))), order=2 if error == "mean" else math.inf, rtol=1e-8
    )
    squares = np.einsum("ij,ij->i", found.left, found.left)
    count = size if error == "mean" else 1
    return Made(float(squares.mean()), float(squares.max()), found.certificate.lower**2 / count)


def _common(size: int, buffers: tuple[int, ...]) -> dict[str, Callable[[Error], Made]]:
    """Strategies of any length; rational ones are held against the best Toeplitz one's bound."""
    ones, height = np.ones(size), tree_height(size)
    bounds: dict[Error, float] = {}

    def best(error: Error) -> Made:
        made = _best(ones, error)
        assert made.bound is not None
        bounds[error] = made.bound
        return made

    def with_buffers(k: int) -> Callable[[Error], Made]:
        return lambda error: _rational(size, k, error, bounds[error])

    return {
        "binary tree": lambda _: _rows(tree_variances(size), height),
        "Honaker, streaming": lambda _: _rows(streaming_variances(size), height),
        "Honaker, all nodes": lambda _: _rows(honaker_variances(size), height),
        "square root": lambda _: _toeplitz(ones, square_root(ones), None),
        "normalized square root": lambda _: _rows(normalized_variances(ones, square_root(ones))),
        "best Toeplitz": best,
        **{f"rational, {k} buffers": with_buffers(k) for k in buffers},
        "rational, enough buffers": lambda error: _rational(
            size, enough_buffers(1.0, size, error), error, bounds[error]
        ),
    }


def small() -> None:
    """Print every strategy at 1,024 rounds."""
    size = 1024
    rows = _common(size, (3, 5))
    rows[f"banded, {BAND}"] = lambda error: _banded(np.ones(size), error)
    rows["best of all"] = lambda error: _dense(size, error)
    _table(size, rows)


def middle() -> None:
    """Print those that are quick at 10,000 rounds."""
    _table(10_000, _common(10_000, (3, 5)))


def million() -> None:
    """Print those that are quick at a million rounds."""
    size = 10**6
    _table(size, _common(size, (3, 5, 8)))
    for error in ERRORS:
        k = enough_buffers(1.0, size, error)
        print(f"enough buffers within 1% of the best Toeplitz strategy's {error} error: {k}")


def trees() -> None:
    """Print how many times the square root's mean squared error the trees' are."""
    print("Mean squared error over the square root's; the binary tree's tends to 10.27")
    names = ("binary tree", "streaming", "all nodes", "(1+ln(4n/5)/pi)^2")
    print(f"{'rounds':>10}" + "".join(f"{name:>19}" for name in names))
    for power in range(1, 21):
        size = 2**power
        root = squared_error(np.ones(size), square_root(np.ones(size)), "mean")
        kinds = (tree_variances, streaming_variances, honaker_variances)
        ratios = [tree_height(size) * float(kind(size).mean()) / root for kind in kinds]
        ratios.append((1 + math.log(4 * size / 5) / math.pi) ** 2 / root)
        print(f"{size:10}" + "".join(f"{ratio:19.4f}" for ratio in ratios), flush=True)


def rounds() -> None:
    """Print what a running stream takes, and what hides its rounding costs."""
    print(f"{'strategy':<24}{'rounds':>14}{'set-up s':>10}{'many us':>10}{'one us':>8}{'extra':>9}")
    budget = ln.zcdp(0.5)
    ln.stream(ln.Prefix(8), budget=budget).update(1)  # imports are not counted
    for strategy, size in RUNNING:
        setups, many, single = [], [], []
        for _ in range(3):
            start = time.process_time()
            stream = ln.stream(ln.Prefix(size), budget=budget, strategy=strategy)
            setups.append(time.process_time() - start)
            values = np.ones(min(size // 2, 200_000))
            start = time.process_time()
            stream.update_many(values)
            many.append((time.process_time() - start) / len(values) * 1e6)
            start = time.process_time()
            for _ in range(20_000):
                stream.update(1)
            single.append((time.process_time() - start) / 20_000 * 1e6)
        pair = stream.terms.mechanism.pair
        extra = stream.error**2 / (pair.mean_variance * pair.column_up**2) - 1
        times = [statistics.median(own) for own in (setups, many, single)]
        print(
            f"{strategy:<24}{size:14,}{times[0]:10.2f}{times[1]:10.3f}{times[2]:8.1f}{extra:9.0e}",
            flush=True,
        )


def intervals() -> None:
    """Print what half widths take in a process that has asked for none, and beside those of draws.

    Joint ones of Gaussian noise stand beside two that need no draws: those of as many independent
    numbers, and the chances of all rounds less those of both of two neighbours (Hunter).
    """
    n, two = 1024, ln.Box([0, 0], [1, 1])
    kinds: dict[str, dict[str, Any]] = {
        "Laplace": {"budget": ln.pure_dp(1.0)},
        "K-norm, rounds come and go": {"budget": ln.pure_dp(1.0), "domain": two},
        "K-norm, of other values": {
            "budget": ln.pure_dp(1.0),
            "domain": two,
            "relation": "substitute",
        },
    }
    print(f"{'noise':<28}{'one s':>8}{'all s':>8}{'drawn s':>9}{'drawn over known':>18}")
    for name, kind in kinds.items():
        stream = ln.stream(ln.Prefix(n), **kind)
        mechanism, times = stream.terms.mechanism, [time.process_time()]
        mechanism.apart(0.95, n // 2, 1)
        times.append(time.process_time())
        known = mechanism.apart(0.95, 0, n)
        times.append(time.process_time())
        drawn = mechanism.quantiles(0.95).each
        times.append(time.process_time())
        one, every, draws = np.diff(times)
        print(f"{name:<28}{one:8.4f}{every:8.2f}{draws:9.2f}{np.median(drawn / known):18.3f}")
    print(f"\n{'all rounds at once':<28}{'drawn':>8}{'s':>8}{'pairs':>9}{'independent':>18}")
    for size in (8, 64, 365, n):
        mechanism = ln.stream(ln.Prefix(size), budget=ln.zcdp(0.5)).terms.mechanism
        start = time.process_time()
        drawn = mechanism.joint(0.95, size)
        took = time.process_time() - start
        rows = mechanism.pair.linear(np.eye(size))
        rows = rows / np.linalg.norm(rows, axis=1)[:, None]
        pairs = brentq(_entries(np.einsum("ij,ij->i", rows[1:], rows[:-1])), 1.0, 8.0)
        far = simultaneous_quantile(0.95, size)
        print(f"{size:<28}{drawn:8.3f}{took:8.2f}{pairs:9.3f}{far:18.3f}")


def _entries(alike: Vector) -> Callable[[float], float]:
    """Return Σ P(a round is far and the one before is not) less 0.05, of what is far."""
    points, weights = np.polynomial.legendre.leggauss(200)
    spread = np.sqrt(1 - np.square(alike))[:, None]

    def entries(far: float) -> float:
        x = far * points
        beyond = ndtr((-far - alike[:, None] * x) / spread)
        beyond += ndtr((-far + alike[:, None] * x) / spread)
        density = np.exp(-np.square(x) / 2) / math.sqrt(2 * math.pi) * weights * far
        return float(2 * ndtr(-far) + np.sum(beyond @ density) - 0.05)

    return entries


PARTS: dict[str, Callable[[], None]] = {
    "intervals": intervals,
    "small": small,
    "middle": middle,
    "million": million,
    "trees": trees,
    "rounds": rounds,
}


if __name__ == "__main__":
    main()
