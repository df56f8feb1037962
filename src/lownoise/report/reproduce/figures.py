# SPDX-License-Identifier: Apache-2.0
"""The figures of the page of claims: errors against what no mechanism beats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from lownoise.bounds import averaging_bound, unbiased_substitute
from lownoise.planning import local
from lownoise.privacy import approx_dp, local_dp
from lownoise.report.reproduce.counting import deviation, least, regret_bound, trace_norm
from lownoise.report.reproduce.pure import DELTA, k_norm_error, random_case
from lownoise.sets.bodies import SymmetricBox
from lownoise.sets.domains import Ball, TensorPower
from lownoise.theory.enclosure import enclose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Look = Literal["own", "level", "third", "proved"]


@final
@dataclass(frozen=True)
class Line:
    """Points in a row, and what they are.

    Args:
        name: written where the line ends.
        points: (x, y), x rising, y finite; two at least.
        look: "own" is ours, "proved" a bound below everybody, others are beside them.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    look: Look = "own"


@final
@dataclass(frozen=True, kw_only=True)
class Figure:
    """Lines over one axis.

    Args:
        lines: one at least; names differ.
        name: one word, which no other figure of the page has.
        caption: what is seen.
        across: what x is, with its unit.
        upward: what y is.
        log: whether x and y have logarithmic axes.
        least: the lowest y of the axis; the lowest of the lines by default.
    """

    lines: tuple[Line, ...]
    name: str
    caption: str
    across: str
    upward: str
    log: tuple[bool, bool] = (True, True)
    least: float | None = None


def _points(
    xs: Iterable[float], height: Callable[[float], float]
) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), height(float(x))) for x in xs)


def optimality(*, quick: bool) -> Figure:
    """Return the least Gaussian's error over each lower bound, against ρ, whatever the domain."""
    rhos = np.logspace(-8, 0, 17 if quick else 65).tolist()

    def published(rho: float) -> float:
        # a symmetric domain, Γ(K − K) = 2Γ(K): the Gaussian has 2Γ/√(2ρ)
        return 4 * math.sqrt(math.expm1(2 * rho) / (2 * rho))

    def two_neighbours(rho: float) -> float:
        return math.sqrt((2 * math.expm1(2 * rho) - 2 * math.expm1(-rho)) / (2 * rho))

    def sharper(rho: float) -> float:
        return 1 / math.sqrt(2 * rho) / unbiased_substitute(1.0, 1, rho)

    return Figure(
        lines=(
            Line("published, with its constant", _points(rhos, published), "level"),
            Line("two neighbours at once, ours", _points(rhos, two_neighbours), "third"),
            Line("the better of it and D(ρ), ours", _points(rhos, sharper), "own"),
        ),
        name="optimality",
        caption=(
            "The error of the least Gaussian noise on a mean, over what no unbiased ρ-zCDP "
            "mechanism is below on any dataset (p = 2, a symmetric domain). 1 would be exactly "
            "optimal; no further step of the proof could gain more than what is above 1."
        ),
        across="ρ",
        upward="error over lower bound",
        log=(True, False),
        least=1.0,
    )


def pure_and_gaussian(*, quick: bool) -> Figure:
    """Return errors on the cube of 8 answers against ε: three noises and two bounds."""
    d = 8
    epsilons = np.logspace(-2, 1, 10 if quick else 31).tolist()
    box = SymmetricBox(np.ones(d))
    k_norm = k_norm_error(box)
    gamma = enclose(Ball(d, radius=1.0, order=math.inf)).certificate.upper

    def gaussian(epsilon: float) -> float:
        return gamma / approx_dp(epsilon, DELTA).gaussian_parameter()

    return Figure(
        lines=(
            Line(
                "Laplace, budget split",
                _points(epsilons, lambda e: math.sqrt(2 * d) * d / e),
                "third",
            ),
            Line("K-norm", _points(epsilons, lambda e: k_norm / e), "own"),
            Line("Gaussian, δ = 10⁻⁶", _points(epsilons, gaussian), "level"),
            Line(
                "no ε-DP mechanism is below",
                _points(epsilons, lambda e: averaging_bound(d * math.log(2), d, epsilon=e)),
                "proved",
            ),
        ),
        name="pure",
        caption=(
            "Root mean square error of a sum of 8 numbers, each from −1 to 1, one record added or "
            "removed. With few answers pure noise is the least; Gaussian noise does not grow with "
            "the number of answers as fast."
        ),
        across="ε",
        upward="error",
    )


def central_and_local(*, quick: bool) -> Figure:
    """Return errors of a mean over the ball of 8 dimensions, 10 000 people, against ε."""
    d, size = 8, 10_000
    epsilons = np.logspace(-1, 1, 7 if quick else 21).tolist()
    ball = Ball(d)
    plans = {epsilon: local(ball, local_dp(epsilon)) for epsilon in epsilons}
    root = math.sqrt(size)
    gamma = 2 * enclose(ball).certificate.upper / size

    def gaussian(epsilon: float) -> float:
        return gamma / approx_dp(epsilon, DELTA).gaussian_parameter()

    return Figure(
        lines=(
            Line("local, ours", _points(epsilons, lambda e: plans[e].error / root), "own"),
            Line(
                "no unbiased one is below",
                _points(epsilons, lambda e: plans[e].lower_bound / root),
                "proved",
            ),
            Line("central Gaussian, δ = 10⁻⁶", _points(epsilons, gaussian), "level"),
        ),
        name="local",
        caption=(
            f"Root mean square error of the mean of {size:,} vectors of length at most 1 in {d} "
            "dimensions: where nobody is trusted, and where a curator is. What that costs grows "
            "with the square root of the number of people."
        ),
        across="ε",
        upward="error",
    )


def random_queries(*, quick: bool) -> Figure:
    """Return errors of 5 random queries against how many kinds of records there are."""
    d = 5
    kinds = (8, 16, 24) if quick else (8, 12, 16, 24, 48, 96)
    cases = {n: random_case(d, n) for n in kinds}

    def of(name: str) -> tuple[tuple[float, float], ...]:
        return tuple((float(n), cases[n][name]) for n in kinds)

    return Figure(
        lines=(
            Line("Laplace on the answers", of("Laplace on the answers"), "third"),
            Line("Gaussian, δ = 10⁻⁶", of("Gaussian"), "level"),
            Line("K-norm", of("K-norm"), "own"),
            Line("no ε-DP mechanism is below", of("bound"), "proved"),
        ),
        name="random",
        caption=(
            "Root mean square error at ε = 1 of 5 queries of random signs on N kinds of records: "
            "what Figure 1 of the source says in letters. All are exact but for the bound, which "
            "is proved."
        ),
        across="N, kinds of records",
        upward="error",
        log=(True, False),
        least=0.0,
    )


def counting(*, quick: bool) -> Figure:
    """Return γ²/n of factorizations of the prefix sums against n."""
    sizes = [2**k for k in range(3, 11 if quick else 15)]
    dense = [n for n in sizes if n <= (256 if quick else 1024)]
    return Figure(
        lines=(
            Line(
                "binary tree",
                _points(sizes, lambda n: deviation(int(n), "binary_tree") ** 2),
                "third",
            ),
            Line(
                "square root",
                _points(sizes, lambda n: deviation(int(n), "square_root") ** 2),
                "level",
            ),
            Line("optimal, certified", _points(dense, lambda n: least(int(n)).upper ** 2), "own"),
            Line(
                "trace norm: none is below",
                _points(sizes, lambda n: trace_norm(int(n)) ** 2),
                "proved",
            ),
        ),
        name="counting",
        caption=(
            "Mean squared error of n running counts at unit noise, for factorizations of the "
            "prefix sums: the tree tends to 10.27 times the square root."
        ),
        across="n, rounds",
        upward="γ²/n",
        log=(True, False),
        least=0.0,
    )


def regret(*, quick: bool) -> Figure:
    """Return the bounds on regret of private learning against the number of records."""
    sizes = [2**k for k in (range(8, 15, 2) if quick else range(8, 19))]
    tree = _points(sizes, lambda n: regret_bound(int(n), "binary_tree"))
    root = _points(sizes, lambda n: regret_bound(int(n), "square_root"))
    return Figure(
        lines=(
            Line(
                "binary tree",
                tree,
                "third",
            ),
            Line("square root", root, "own"),
        ),
        name="regret",
        caption=(
            "Theorem 6 with its constants: the regret of logistic regression on 10 features, one "
            "record a round, at ε = 1 and δ = 10⁻⁶, is at most this."
        ),
        across="n, records",
        upward="bound on regret",
    )


def moments(*, quick: bool) -> Figure:
    """Return Γ₂ of second moments of the ball against d, with the brackets of Theorem 64."""
    del quick
    sizes = (2, 3, 4, 6, 8, 12, 16)

    def exact(d: float) -> float:
        return enclose(TensorPower(int(d), 2, "ball")).certificate.upper

    return Figure(
        lines=(
            Line("at most (Theorem 64)", _points(sizes, lambda d: d), "level"),
            Line("found, certified", _points(sizes, exact), "own"),
            Line("at least, corrected", _points(sizes, lambda d: d / 4), "proved"),
        ),
        name="moments",
        caption=(
            "Γ₂ of the second moments x ⊗ x of a ball in d dimensions: the brackets of Theorem 64, "
            "the lower one with the factor that its display lacks."
        ),
        across="d",
        upward="Γ₂",
        log=(False, False),
        least=0.0,
    )


FIGURES = (
    optimality,
    pure_and_gaussian,
    central_and_local,
    random_queries,
    counting,
    regret,
    moments,
)
