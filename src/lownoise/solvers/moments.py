# SPDX-License-Identifier: Apache-2.0
"""The least noise of moments: independent but for one block of the squares, and the count.

In half widths the noise has precisions nᵢ of zᵢ, nᵢⱼ of zᵢzⱼ and a block M of squares, and what it
costs is linear in them. M is diag(κ) + Σ gᵢⱼ(eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ, the more of g the less the noise:

* of differences g is at most n/4, by which no sign of what squares change by costs more than
  another. Of few columns differences are found one by one, and nothing is lost. Of many the worst
  is bounded by the relaxation of a cut (`moment_forms`), for a part 1/(d + 1)² at most: with
  vectors x, |x₀| = 1 and |xᵢ|² = 1 − σᵢ, it follows from the greatest Σ ω|xᵢ − xⱼ|; g = n/4;
* of records and their count, g = n/2: the cost is linear in t then, and its worst corner known.

Masses on a few of what is worst prove how near the least of all noise is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from lownoise.solvers.moment_bounds import lifted, relaxed
from lownoise.solvers.moment_masses import ends
from lownoise.solvers.moment_problem import Weighed
from lownoise.solvers.moment_search import searched
from lownoise.solvers.sides import INTERRUPTED, SOLVED
from lownoise.solvers.solution import Solution

if TYPE_CHECKING:
    from lownoise.sets.bodies import AbstractOracleBody, MomentSet
    from lownoise.solvers.solution import Asked

_COARSE = "solved: the least that is proved to cover; the gap says the rest"


def moment_solution(body: AbstractOracleBody, asked: Asked) -> Solution:
    """Return noise that is nearly the least, and what proves how near all noise is."""
    known = cast("MomentSet", body.program)
    weighed = Weighed(known, body, asked)
    status, rounds = SOLVED, 1
    if body.count:
        found, points = lifted(weighed), ends(known.width)
    else:
        found, points, rounds = (searched if known.searched else relaxed)(weighed)
    shape = weighed.shape(found)
    shape = shape.scaled(body.radius_up(shape))
    variances = np.square(weighed.ordered(shape.deviations() / weighed.unit))
    try:
        dual = weighed.evidence(points, variances)
    except KeyboardInterrupt:
        status, dual = INTERRUPTED, weighed.some_evidence(points)
    claim = asked.claim(body, None, shape, dual)
    done = claim.certificate().gap <= asked.rtol
    return Solution(claim, status if done or status == INTERRUPTED else _COARSE, rounds)
