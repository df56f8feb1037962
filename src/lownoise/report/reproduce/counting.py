# SPDX-License-Identifier: Apache-2.0
"""Henzinger, Upadhyay & Upadhyay 2023, continual counting: its claims, and what is found."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.bounds import HENZINGER
from lownoise.learning import Logistic
from lownoise.learning import plan as learning_plan
from lownoise.planning import stream
from lownoise.privacy import approx_dp, zcdp
from lownoise.questions import Prefix
from lownoise.report.reproduce.claim import Claim, Comparison
from lownoise.theory.factorization import factorize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.certificate import Certificate

_GAP = 1e-6


@cache
def deviation(rounds: int, strategy: str) -> float:
    """Return γ/√n: the root mean square error at unit noise, a change of one in one round."""
    return float(_plan(rounds, strategy).certificate.upper)


@cache
def least(rounds: int) -> Certificate:
    """Return bounds on γ_F(W_n)/√n."""
    found: Certificate = _plan(rounds, "optimal").certificate
    return found


def _plan(rounds: int, strategy: str) -> Any:  # noqa: ANN401
    return stream(Prefix(rounds), budget=zcdp(0.5), strategy=strategy)


def singular_values(rounds: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return those of W_n in closed form: 1/(2 sin((2j − 1)π/(4n + 2))), j = 1 … n."""
    j = np.arange(1, rounds + 1)
    return np.asarray(1 / (2 * np.sin((2 * j - 1) * np.pi / (4 * rounds + 2))))


def trace_norm(rounds: int) -> float:
    """Return ‖W_n‖_*/n, which is below γ_F(W_n)/√n."""
    return float(np.sum(singular_values(rounds))) / rounds


def _sizes(*, quick: bool) -> tuple[int, ...]:
    return (8, 64, 256) if quick else (8, 64, 256, 1024)


def _values(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for n in (1, 5, 40) if quick else (1, 5, 40, 300):
        found = np.linalg.svd(np.tril(np.ones((n, n))), compute_uv=False)
        wrong = int(np.argmax(np.abs(found / singular_values(n) - 1)))
        yield Comparison(
            case=f"n = {n}, the one that is farthest off",
            claimed=constant * float(singular_values(n)[wrong]),
            relation="=",
            found=float(found[wrong]),
            within=1e-9,
        )


def _spectral(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for n in _sizes(quick=quick):
        values = singular_values(n)
        proved = least(n)
        yield Comparison(
            case=f"prefix sums, n = {n}",
            claimed=constant * trace_norm(n),
            relation="≥",
            found=proved.upper,
        )
        yield Comparison(
            case=f"prefix sums, n = {n}",
            claimed=math.sqrt(float(np.sum(values) * values[0]) / n) / constant,
            relation="≤",
            found=proved.lower,
        )
    for power in (2, 4):
        matrix = np.ones((1, 1))
        for _ in range(power):
            matrix = np.kron(matrix, np.array([[1.0, 1.0], [1.0, -1.0]]))
        yield Comparison(
            case=f"Hadamard matrix of order {2**power}",
            claimed=constant * 2**power * math.sqrt(2**power) / math.sqrt(2**power),
            relation="=",
            found=factorize(matrix).certificate.upper,
            within=_GAP,
        )


def _root(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for n in (7, 64, 1024) if quick else (7, 64, 1024, 2**14, 2**20):
        yield Comparison(
            case=f"n = {n:,}",
            claimed=(1 + math.log(4 * n / 5) / math.pi) / constant,
            relation="≤",
            found=deviation(n, "square_root"),
        )


def _root_small(constant: float, *, quick: bool) -> Iterator[Comparison]:
    del quick
    for n in range(1, 7):
        yield Comparison(
            case=f"n = {n}",
            claimed=(1 + math.log(4 * n / 5) / math.pi) / constant,
            relation="≤",
            found=deviation(n, "square_root"),
        )


def _lower(constant: float, *, quick: bool) -> Iterator[Comparison]:
    for n in _sizes(quick=quick):
        yield Comparison(
            case=f"n = {n}",
            claimed=constant * trace_norm(n),
            relation="≥",
            found=least(n).upper,
        )


def _recurrence(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare r_k = (1 − 1/(2k)) r_{k−1} with numbers whose square is all ones."""
    n = 200 if quick else 2000
    r = np.cumprod(np.concatenate([[1.0], 1 - 1 / (2 * np.arange(1.0, n))]))
    squared = np.convolve(r, r)[:n]
    worst = int(np.argmax(np.abs(squared - 1)))
    yield Comparison(
        case=f"R², entry {worst} of {n}",
        claimed=constant,
        relation="=",
        found=float(squared[worst]),
        within=1e-10,
    )


def _tree(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare the tree's γ² with (k + 1) nodes over a leaf times nk/2 + 1 ones, n = 2^k."""
    for k in (3, 6, 9) if quick else (3, 6, 9, 14):
        n = 2**k
        yield Comparison(
            case=f"n = {n:,}",
            claimed=constant * math.sqrt((k + 1) * (k / 2 + 1 / n)),
            relation="=",
            found=deviation(n, "binary_tree"),
            within=1e-9,
        )


def _trees(constant: float, *, quick: bool) -> Iterator[Comparison]:
    limit = math.pi**2 / (2 * math.log(2) ** 2)
    previous = 0.0
    for k in (4, 7, 10) if quick else (4, 7, 10, 14, 20):
        n = 2**k
        ratio = (deviation(n, "binary_tree") / deviation(n, "square_root")) ** 2
        yield Comparison(
            case=f"n = {n:,}: below its limit",
            claimed=limit / constant,
            relation="≤",
            found=ratio,
        )
        yield Comparison(
            case=f"n = {n:,}: above that of a shorter stream",
            claimed=constant * previous,
            relation="≥",
            found=ratio,
        )
        previous = ratio


def _parity(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare γ_F of rows of a Hadamard matrix, the parities of weight w, with their number."""
    for d, weight in ((3, 1), (4, 2)) if quick else ((3, 1), (4, 2), (5, 2), (6, 3)):
        cube = np.array(np.meshgrid(*[[-1.0, 1.0]] * d)).reshape(d, -1)
        chosen = [s for s in range(2**d) if s.bit_count() == weight]
        rows = [np.prod(cube[[i for i in range(d) if s >> i & 1]], axis=0) for s in chosen]
        yield Comparison(
            case=f"d = {d}, w = {weight}",
            claimed=constant * math.comb(d, weight),
            relation="=",
            found=factorize(np.array(rows)).certificate.upper,
            within=_GAP,
        )


def _regret(constant: float, *, quick: bool) -> Iterator[Comparison]:
    """Compare bounds on regret: with the square root below the tree's, and falling as 1/√n."""
    for n in (2**8, 2**12) if quick else (2**8, 2**12, 2**16):
        root, tree = (regret_bound(n, name) for name in ("square_root", "binary_tree"))
        yield Comparison(
            case=f"n = {n:,}: square root below tree",
            claimed=tree / constant,
            relation="≤",
            found=root,
        )
        yield Comparison(
            case=f"n = {n:,}: a stream four times as long",
            claimed=root * _growth(4 * n) / _growth(n) / 2 / constant,
            relation="≤",
            found=regret_bound(4 * n, "square_root"),
        )


def _growth(n: int) -> float:
    return 1 + math.log(4 * n / 5) / math.pi


@cache
def regret_bound(records: int, strategy: str) -> float:
    """Return the bound on regret of logistic regression, 10 features, at (1, 10⁻⁶)."""
    made = learning_plan(
        Logistic(),
        features=10,
        records=records,
        clip=1.0,
        radius=1.0,
        budget=approx_dp(1.0, 1e-6),
        strategy=strategy,
    )
    assert made.regret_bound is not None  # noqa: S101 (of a loss with a Lipschitz constant)
    return float(made.regret_bound.value)


_claim = partial(Claim, HENZINGER)

CLAIMS = (
    _claim(
        "Lemma 1",
        "‖W‖_*/√n ≤ γ_F(W) ≤ √(‖W‖_*‖W‖_op), equal where all singular values are",
        _spectral,
    ),
    _claim("Theorem 19", "the singular values of W_n are 1/(2 sin((2j − 1)π/(4n + 2)))", _values),
    _claim(
        "Equation (27)",
        "r_k = (1 − 1/(2k))·r_{k−1} makes R² the matrix of prefix sums",
        _recurrence,
    ),
    _claim(
        "Theorem 2",
        "the square root has γ²/n ≤ (1 + ln(4n/5)/π)²",
        _root,
        printed=_root_small,
        correction="The formula needs n ≥ 7: below, the square root has more.",
    ),
    _claim("Theorem 3", "every factorization has γ²/n ≥ ‖W_n‖_*²/n²", _lower),
    _claim("Lemma 40", "the binary tree has γ²/n = (k + 1)(k/2 + 1/n), n = 2^k", _tree),
    _claim(
        "Theorem 5",
        "the tree's mean squared error over the square root's tends to π²/(2 ln²2)",
        _trees,
    ),
    _claim(
        "Theorem 9",
        "γ_F of the parities of weight w is C(d, w): all singular values are equal",
        _parity,
    ),
    _claim(
        "Theorem 6",
        "regret ≤ c·√((1 + C√d(1 + ln(4n/5)/π))/n): with the square root less than with the tree",
        _regret,
        note="The bounds of `ln.learning`, with their constants, are compared.",
    ),
)
