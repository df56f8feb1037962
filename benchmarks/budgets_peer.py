# SPDX-License-Identifier: Apache-2.0
"""What OpenDP and diffprivlib add to d means of [0, 1], run by an interpreter that has them.

Reads [[d, epsilon, delta], …] as JSON from its first argument, and prints, row by row, the root of
the total variance of one record's part (n = 1, substitution) as {"opendp_laplace",
"opendp_gaussian", "diffprivlib"}; null where a library has none. See benchmarks/budgets.py.
"""

import json
import math
import sys
import warnings

import opendp.prelude as dp
from diffprivlib.mechanisms import LaplaceTruncated

dp.enable_features("contrib")


def laplace(d: int, epsilon: float) -> float:
    """Vector Laplace noise: ε over the ℓ₁ sensitivity d."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=d), dp.l1_distance(T=float)
    scale = dp.binary_search_param(
        lambda s: dp.m.make_laplace(*space, scale=s), d_in=float(d), d_out=epsilon
    )
    return float(math.sqrt(2 * d) * scale)


def gaussian(d: int, epsilon: float, delta: float) -> float:
    """Vector Gaussian noise of the ℓ₂ sensitivity √d, by its own conversion from zCDP."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=d), dp.l2_distance(T=float)

    def made(scale: float) -> dp.Measurement:
        own = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale))
        return dp.c.make_fix_delta(own, delta=delta)

    scale = dp.binary_search_param(made, d_in=math.sqrt(d), d_out=(epsilon, delta))
    return float(math.sqrt(d) * scale)


def by_columns(d: int, epsilon: float) -> float:
    """What its `mean` does of several columns: each has its part of ε; truncated at the bounds.

    The variance is that of the noise before it is truncated, about a value far from the bounds.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = LaplaceTruncated(epsilon=epsilon / d, sensitivity=1.0, lower=-1e9, upper=1e9)
        return math.sqrt(d * float(own.variance(0.0)))


def main() -> None:
    found = []
    for d, epsilon, delta in json.loads(sys.argv[1]):
        own = {
            "opendp_laplace": laplace(d, epsilon),
            "opendp_gaussian": gaussian(d, epsilon, delta) if delta else None,
            "diffprivlib": by_columns(d, epsilon),
        }
        found.append(own)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
