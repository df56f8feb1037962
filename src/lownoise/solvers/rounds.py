# SPDX-License-Identifier: Apache-2.0
"""A multiplicative rule for the fidelity program, where Newton's system would not fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.solvers.newton import S, objective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.newton import Program


def rounds(
    program: Program[S], weights: Vector, roots: Vector
) -> Iterator[tuple[Vector, Vector, S, float]]:
    """Multiply each weight by what it would gain: slow near the end, and a step costs little.

    Args:
        program: F.
        weights: where w starts, above 0, shape (k,).
        roots: where v starts, shape (n,); the query weights are v^e (see `newton`).

    Yields:
        w, v, F and M there, and the gap on these vertices, without end: the caller stops.
    """
    e, order = program.problem.exponent, program.problem.order
    w, v = weights, roots
    while True:
        state = program.at(w, v**e)
        F, X, stretches = state.value, state.variances(), state.stretches()
        lower = F / math.sqrt(state.mass * float(np.sum(v)) ** e)
        upper = objective(X, order) * math.sqrt(float(np.max(stretches)))
        yield w, v, state, upper / lower - 1
        w = w * stretches / F
        if e:
            v = np.maximum(v**e * X / F, program.problem.floor / v.size)
