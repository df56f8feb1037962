# SPDX-License-Identifier: Apache-2.0
"""The least noise along the coordinates around differences that flips of signs leave as they are.

Noise 1/y covers where Σ yₖsₖ² ≤ 1 for all differences s. With masses λ on some of them, z = Σ λs²
and weights c on the answers, ‖c‖_q ≤ 1, the least ‖ω·deviations‖_p is at least Σ ωₖ√(cₖzₖ), with
equality at the best λ and c: the best c is in proportion to (ω²z)^{1/(2q−1)}, and y then is
√(ω²c/z)/Σ ω√(cz). Differences are taken in one by one, where the greatest
of them sticks out. The masses, spread over all flips, prove how near all noise is, also such as is
not along the coordinates: the squares of moments may have some that is less (docs/moments.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import OracleDual
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, order_norm
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.solvers.sides import INTERRUPTED, SOLVED, Progress
from lownoise.solvers.solution import Solution

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import OracleDifferences
    from lownoise.solvers.solution import Asked

_MOST = 60
_STEPS = 300
_NEAR = 1e-6
_FAINT = 1e-200
_LEAST = 1e-12  # of the greatest mass
_COARSE = "solved: the least along the coordinates; noise of any other shape has at least `lower`"


def flipped_solution(body: OracleDifferences, asked: Asked) -> Solution:
    """Return the least noise along the coordinates, and what proves how near all noise is."""
    flips, q = body.program.flips, conjugate(asked.order)
    unit = np.square(1 / body.step)
    omega = asked.weights
    heard = asked.heard(1.0)
    u = flips.first
    masses = np.full(len(u), 1 / len(u))
    status, y, c, upper, rounds = SOLVED, omega, omega, np.inf, 0
    try:
        for rounds in range(1, _MOST + 1):
            rows = flips.squared(u) * unit
            masses, y, c = _masses(rows, masses, omega, q)
            most = float(np.max(rows @ y))
            far = flips.greatest(y * unit)
            upper = far.upper
            if heard is not None:
                lower = order_norm(omega / np.sqrt(y), asked.order)
                heard(Progress(rounds, lower / np.sqrt(most), lower * np.sqrt(upper)))
            if upper <= most * (1 + asked.rtol / 4) or np.any(np.all(u == far.at, axis=1)):
                break
            u, masses = np.vstack([u, far.at]), np.append(masses * 0.9, 0.1)
    except KeyboardInterrupt:
        status = INTERRUPTED
    kept = masses > _LEAST * np.max(masses)
    points, weights = flips.codes(u[kept], masses[kept] / np.sum(masses[kept]))
    dual = OracleDual(frozen(points), frozen(weights), frozen(c))
    claim = asked.claim(body, None, DiagonalShape(frozen(np.sqrt(upper / y))), dual)
    done = claim.certificate().gap <= asked.rtol
    return Solution(claim, status if done or status == INTERRUPTED else _COARSE, rounds)


def _masses(rows: Vector, masses: Vector, omega: Vector, q: float) -> tuple[Vector, Vector, Vector]:
    """Return nearly the best masses λ on rows of squares, and the y and c that go with them.

    With the best c the bound is ‖(ω²z)^e‖₁^{1/2e}, e = q/(2q − 1): concave in λ.
    """
    from scipy.optimize import minimize

    power = q / (2 * q - 1) if math.isfinite(q) else 0.5
    seen = rows * np.square(omega)
    seen = seen / np.max(seen)

    def short(given: Vector) -> tuple[float, Vector]:
        z = np.maximum(given @ seen, _FAINT)
        total = float(np.sum(z**power))
        return -math.log(total) / power, -(seen @ z ** (power - 1)) / total

    found = minimize(
        short,
        masses,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * masses.size,
        constraints={"type": "eq", "fun": lambda m: np.sum(m) - 1, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": _STEPS},
    )
    masses = np.maximum(found.x, 0.0)
    for _ in range(_STEPS):
        masses = masses / np.sum(masses)
        z = np.maximum(masses @ seen, _FAINT)
        c = (z / np.max(z)) ** (power / q) if math.isfinite(q) else np.ones(z.size)
        c = c / order_norm(c, q)
        gains = np.sqrt(c * z)
        y = np.sqrt(c / z) / np.sum(gains)
        cost = seen @ y
        if np.max(cost) <= 1 + _NEAR:
            break
        masses = masses * np.square(cost)
    return masses, y * np.square(omega) / np.max(rows * np.square(omega)), c
