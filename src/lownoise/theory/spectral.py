# SPDX-License-Identifier: Apache-2.0
"""What singular values say of the best factors: ‖W‖_*/√n ≤ γ_F(W) ≤ √(‖W‖_*·‖W‖_op)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arguments import checked_number
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.rounding import grown, growth, lowered, shrunk, spectral_up
from lownoise.theory.bound import HENZINGER, Bound

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector

_LARGEST = 2.0**250
_MOST_ROUNDS = 10**8
_PART = 10**6
_FACTORS = "every factorization W = left·right with columns of right no longer than 1"


def trace_norm_lower(matrix: ArrayLike) -> Bound:
    """Return ‖W‖_*/√n, which γ_F(W) is at least.

    ‖W‖_* ≥ tr(QᵀW) for every Q with ‖Q‖_op ≤ 1: Q is made of singular vectors in floats, and its
    norm and the trace are bounded, so the number is proved whatever a decomposition lost. With one
    singular value it is γ_F (003, Lemma 1 and Corollary 47).

    Args:
        matrix: W, shape (m, n), real or complex.

    Raises:
        PlanError: where it is no table of finite numbers.

    Examples:
        >>> found = trace_norm_lower(np.tril(np.ones((4, 4))))
        >>> round(found.value, 6), round(found.constant, 9)  # Σ 1/(2 sin((2j−1)π/18)), over √4
        (2.532089, 0.5)
    """
    W = checked_complex(matrix)
    real = embedded(W) if np.iscomplexobj(W) else W
    copies = 2 if np.iscomplexobj(W) else 1
    n = W.shape[1]
    return Bound(
        value=shrunk(trace_norm_down(real) / copies / math.sqrt(n)),
        side="lower",
        quantity="γ_F(W)",
        constant=shrunk(1 / math.sqrt(n)),
        binds=_FACTORS,
        over="every matrix",
        theorem=f"{HENZINGER}, Lemma 1",
        hypotheses=("W is a table of finite numbers",),
    )


def trace_norm_upper(matrix: ArrayLike) -> Bound:
    """Return √(‖W‖_*·‖W‖_op), which γ_F(W) is at most.

    The factors left = U·√s and right = √s·Vᵀ of W = U·diag(s)·Vᵀ have ‖left‖_F² = ‖W‖_* and no
    column of right longer than √‖W‖_op. ‖W‖_* is bounded by ½(‖left‖_F² + ‖right‖_F²) of the
    factors in floats, and by what their product is off W.

    Args:
        matrix: W, shape (m, n), real or complex.

    Raises:
        PlanError: where it is no table of finite numbers.

    Examples:
        >>> round(trace_norm_upper([[1.0, 1.0], [1.0, -1.0]]).value, 6)  # orthogonal columns
        2.0
    """
    W = checked_complex(matrix)
    real = embedded(W) if np.iscomplexobj(W) else W
    copies = 2 if np.iscomplexobj(W) else 1
    widest = spectral_up(real)
    return Bound(
        value=grown(math.sqrt(grown(trace_norm_up(real) / copies) * widest)),
        side="upper",
        quantity="γ_F(W)",
        constant=grown(math.sqrt(widest)),
        binds="the factors that singular vectors give",
        over="every matrix",
        theorem=f"{HENZINGER}, Lemma 1",
        hypotheses=("W is a table of finite numbers",),
    )


def trace_norm_down(W: Vector) -> float:
    """Return at most ‖W‖_* of a real matrix, shape (m, n)."""
    first, _, last = np.linalg.svd(W, full_matrices=False)
    Q = first @ last
    products = Q * W
    found = math.fsum(products.ravel().tolist())
    size = math.fsum(np.abs(products).ravel().tolist())
    return max(lowered(found, size), 0.0) / grown(max(spectral_up(Q), 1.0))


def trace_norm_up(W: Vector) -> float:
    """Return at least ‖W‖_* of a real matrix, shape (m, n)."""
    first, values, last = np.linalg.svd(W, full_matrices=False)
    left, right = first * np.sqrt(values), np.sqrt(values)[:, None] * last
    known = (math.fsum(np.square(left).ravel()) + math.fsum(np.square(right).ravel())) / 2
    inner = values.size
    product = np.linalg.norm(np.linalg.norm(left, axis=1)) * np.linalg.norm(right)
    lost = float(np.linalg.norm(W - left @ right)) + growth(inner + 9) * float(product)
    return grown(grown(known) + grown(math.sqrt(inner) * lost))


def prefix_trace_norm(rounds: int, *, upper: bool = False) -> float:
    """Return ‖W_n‖_* of running sums, Σ 1/(2 sin((2j−1)π/(4n+2))), rounded down, or up.

    Args:
        rounds: n, from 1 to 10⁸.
        upper: whether it is rounded up.

    Raises:
        PlanError: where n is no such number.

    Examples:
        >>> round(prefix_trace_norm(64) ** 2 / 64**2, 6)
        4.162122
    """
    n = checked_count("rounds", rounds, most=_MOST_ROUNDS)
    parts = []
    for first in range(1, n + 1, _PART):
        j = np.arange(first, min(first + _PART, n + 1), dtype=np.float64)
        parts.append(float(np.sum(0.5 / np.sin((2 * j - 1) * (math.pi / (4 * n + 2))))))
    found = math.fsum(parts)
    return grown(found) if upper else shrunk(found)


def checked_count(field: str, value: float, *, least: int = 1, most: float = math.inf) -> int:
    """Return a whole number.

    Raises:
        PlanError: where it is none, or out of range.
    """
    number = checked_number(field, value)
    if number != math.floor(number) or not least <= number <= most or math.isinf(number):
        end = "" if math.isinf(most) else f" to {most:,}"
        raise PlanError(
            f"{field}={number:g} is out of range; give a whole number from {least}{end}"
        )
    return int(number)


def checked_complex(values: ArrayLike) -> Vector:
    """Return W, shape (m, n), of floats, or of complex numbers where some are.

    Raises:
        PlanError: where it is no table of finite numbers of sizes up to 2^250.
    """
    try:
        is_complex = np.iscomplexobj(np.asarray(values))
    except (TypeError, ValueError):
        is_complex = False
    if is_complex:
        whole = np.asarray(values, dtype=np.complex128)
        parts = [
            matrix(part, field="matrix", error=PlanError)
            for part in (np.real(whole), np.imag(whole))
        ]
        W = np.asarray(parts[0] + 1j * parts[1])
    else:
        W = matrix(values, field="matrix", error=PlanError)
    if not W.size:
        raise PlanError(f"matrix has shape {W.shape}; give at least one row and one column")
    check_sizes("matrix", W)
    return W


def check_sizes(field: str, values: Vector) -> None:
    """Refuse a table whose largest number has no square in floats.

    Raises:
        PlanError: as said.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest > _LARGEST:
        raise PlanError(f"{field} has a number beyond 2^250; use a larger unit")
    if 0 < largest < 1 / _LARGEST:
        raise PlanError(f"{field} has no number beyond 2^-250; use a smaller unit")


def embedded(W: Vector) -> Vector:
    """Return [[A, −B], [B, A]] of W = A + iB, shape (2m, 2n)."""
    return frozen(np.block([[W.real, -W.imag], [W.imag, W.real]]))
