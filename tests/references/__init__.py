# SPDX-License-Identifier: Apache-2.0
"""References: the least noise by slow methods that share no code with the solvers they judge.

Both answer one question, for points x₁ … x_N, queries L and an order p in [2, ∞]:

    Γ = min √tr_{p/2}(L M Lᵀ)   over M and v with (xᵢ − v)ᵀ M⁻¹ (xᵢ − v) ≤ 1 for every i.

`centered` forces v = 0: the body is then the hull of ±xᵢ. Otherwise M covers a translate of the
points, and Γ is Γ_p(K) of 002,
Section 2.2.
"""

from tests.references.ellipsoid_method import ellipsoid_method
from tests.references.fixed_point import fixed_point
from tests.references.question import Bracket

__all__ = ["Bracket", "ellipsoid_method", "fixed_point"]
