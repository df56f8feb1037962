# SPDX-License-Identifier: Apache-2.0
"""Researchers' tools: factorizations, ellipsoids, quadratic forms, small optimal mechanisms."""

from lownoise.bounds import Bound
from lownoise.questions import FiniteProblem, finite_problem
from lownoise.theory.audit import Audit, Direction, audit
from lownoise.theory.bound import gamma_down
from lownoise.theory.comparison import Compared, Comparison, compare_unbiased
from lownoise.theory.counterexample import ExactOn, exact_on
from lownoise.theory.enclosure import Enclosure, enclose
from lownoise.theory.every import (
    counting_bound,
    factorization_error,
    parity_bound,
    workload_bound,
    worst_table_bound,
)
from lownoise.theory.factorization import Factorization, factorize
from lownoise.theory.isotropy import (
    IsotropicPosition,
    isotropic,
    k_norm_bound,
    least_isotropic_constant,
    most_isotropic_constant,
    projection_bound,
    section_bounds,
)
from lownoise.theory.optimal import OptimalMechanism, optimal_mechanism
from lownoise.theory.quadratics import Farthest, farthest
from lownoise.theory.simplicial import ConvexEnclosure
from lownoise.theory.smooth import SmoothNoise, smooth_noise
from lownoise.theory.spectral import prefix_trace_norm, trace_norm_lower, trace_norm_upper
from lownoise.theory.unbiased import (
    approximate_bound,
    concentrated_bound,
    distributional_bound,
    gaussian_bound,
    local_bound,
    lower_bound,
    pure_bound,
)
from lownoise.theory.variances import (
    enclose_convex,
    largest_error,
    power_error,
    variance_bound,
)
from lownoise.theory.volume import volume_bound

__all__ = [
    "Audit",
    "Bound",
    "Compared",
    "Comparison",
    "ConvexEnclosure",
    "Direction",
    "Enclosure",
    "ExactOn",
    "Factorization",
    "Farthest",
    "FiniteProblem",
    "IsotropicPosition",
    "OptimalMechanism",
    "SmoothNoise",
    "approximate_bound",
    "audit",
    "compare_unbiased",
    "concentrated_bound",
    "counting_bound",
    "distributional_bound",
    "enclose",
    "enclose_convex",
    "exact_on",
    "factorization_error",
    "factorize",
    "farthest",
    "finite_problem",
    "gamma_down",
    "gaussian_bound",
    "isotropic",
    "k_norm_bound",
    "largest_error",
    "least_isotropic_constant",
    "local_bound",
    "lower_bound",
    "most_isotropic_constant",
    "optimal_mechanism",
    "parity_bound",
    "power_error",
    "prefix_trace_norm",
    "projection_bound",
    "pure_bound",
    "section_bounds",
    "smooth_noise",
    "trace_norm_lower",
    "trace_norm_upper",
    "variance_bound",
    "volume_bound",
    "workload_bound",
    "worst_table_bound",
]
