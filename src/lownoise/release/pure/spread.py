# SPDX-License-Identifier: Apache-2.0
"""How far pure noise strays: errors in other norms, and tails.

The noise z has a symmetric log-concave density (e^{−‖z‖} is one, and so are those of sums and
linear images), so every answer's noise X is symmetric and log-concave on the line. Then
p ↦ ln(E|X|^p/Γ(p + 1)) is concave and 0 at 0 (Borell 1973), so (E|X|^p/Γ(p + 1))^{1/p} falls, and
E|X|^p ≤ Γ(p + 1)·(E X²/2)^{p/2} for p ≥ 2: no moments exceed a Laplace number's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import order_norm

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_POWERS = np.concatenate([np.arange(2.0, 12.0, 0.5), np.geomspace(12.0, 400.0, 40)])
_OUTWARD = 1 + 2.0**-40


def log_concave_error(standard_deviation: Vector, order: float) -> float:
    """Return at most (E‖error‖_p²)^{1/2} of answers with symmetric log-concave noise, shape (m,).

    It is ‖std‖₂ at p = 2. Otherwise the least of that and, over q from 2 to p, of
    (E‖x‖_q^q)^{1/q} ≤ Γ(q + 1)^{1/q}/√2·‖std‖_q, as ‖x‖_p ≤ ‖x‖_q.

    Examples:
        >>> log_concave_error(np.array([3.0, 4.0]), 2.0)
        5.0
        >>> log_concave_error(np.ones(1000), math.inf) < math.sqrt(1000) / 2
        True
    """
    total = order_norm(standard_deviation, 2.0)
    if order == 2 or standard_deviation.size == 1:  # noqa: PLR2004
        return total
    found = [total]
    for q in [*_POWERS[order > _POWERS].tolist(), *([] if math.isinf(order) else [order])]:
        moment = math.exp(math.lgamma(q + 1) / q) / math.sqrt(2)
        found.append(moment * order_norm(standard_deviation, q) * _OUTWARD)
    return min(found)


def tail_quantile(chance: float) -> float:
    """Return t with P(|X| > t·σ) ≤ `chance` for every symmetric log-concave X of variance σ².

    By Markov's inequality for the moments above, the best of many powers.

    Examples:
        >>> 3.0 < tail_quantile(0.05) < 3.4
        True
    """
    logs = [(math.lgamma(p + 1) - math.log(chance)) / p for p in _POWERS.tolist()]
    return math.exp(min(logs)) / math.sqrt(2) * _OUTWARD
