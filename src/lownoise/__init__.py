# SPDX-License-Identifier: Apache-2.0
"""Differential privacy with the least noise, certified.

Examples:
    >>> import lownoise as ln
    >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
    ...                relation="substitute", size=1000)
    >>> round(plan.error, 6)
    0.1

Names load when they are first used, so that importing this package costs little.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lownoise import errors
    from lownoise.domains import (
        Ball,
        Box,
        Ellipsoid,
        KyFanBall,
        OperatorNormBall,
        Oracle,
        OrderedBall,
        Points,
        SchattenBall,
        Slab,
        TensorPower,
        TopBall,
        UnitarilyInvariantBall,
        Zonotope,
        difference_body,
        hull,
        image,
        intersection,
        kronecker,
        minkowski_sum,
        product,
        projection,
    )
    from lownoise.enclosure import Enclosure, enclose
    from lownoise.factorization import Factorization, factorize
    from lownoise.linear import LinearRelease
    from lownoise.notices import ReadingNotice
    from lownoise.optimal import OptimalMechanism, optimal_mechanism
    from lownoise.planning import LinearPlan, Plan, PurePlan, TablePlan, plan, stream
    from lownoise.privacy import (
        Caps,
        Ledger,
        approx_dp,
        convert,
        gaussian_dp,
        pure_dp,
        zcdp,
    )
    from lownoise.pure import PureRelease
    from lownoise.quadratics import Farthest, farthest
    from lownoise.release import Release
    from lownoise.streams import Stream
    from lownoise.tables import TableRelease
    from lownoise.verification import verify
    from lownoise.workloads import (
        Decayed,
        FiniteProblem,
        Marginals,
        Mean,
        Parity,
        Prefix,
        Queries,
        SlidingWindow,
        finite_problem,
    )

__version__ = "0.1.0"

__all__ = [
    "Ball",
    "Box",
    "Caps",
    "Decayed",
    "Ellipsoid",
    "Enclosure",
    "Factorization",
    "Farthest",
    "FiniteProblem",
    "KyFanBall",
    "Ledger",
    "LinearPlan",
    "LinearRelease",
    "Marginals",
    "Mean",
    "OperatorNormBall",
    "OptimalMechanism",
    "Oracle",
    "OrderedBall",
    "Parity",
    "Plan",
    "Points",
    "Prefix",
    "PurePlan",
    "PureRelease",
    "Queries",
    "ReadingNotice",
    "Release",
    "SchattenBall",
    "Slab",
    "SlidingWindow",
    "Stream",
    "TablePlan",
    "TableRelease",
    "TensorPower",
    "TopBall",
    "UnitarilyInvariantBall",
    "Zonotope",
    "__version__",
    "approx_dp",
    "convert",
    "difference_body",
    "enclose",
    "errors",
    "factorize",
    "farthest",
    "finite_problem",
    "gaussian_dp",
    "hull",
    "image",
    "intersection",
    "kronecker",
    "minkowski_sum",
    "optimal_mechanism",
    "plan",
    "product",
    "projection",
    "pure_dp",
    "stream",
    "verify",
    "zcdp",
]

_HOMES = {
    "FiniteProblem": "lownoise.workloads",
    "finite_problem": "lownoise.workloads",
    "OptimalMechanism": "lownoise.optimal",
    "optimal_mechanism": "lownoise.optimal",
    "stream": "lownoise.planning",
    "Stream": "lownoise.streams",
    "SlidingWindow": "lownoise.workloads",
    "Prefix": "lownoise.workloads",
    "Decayed": "lownoise.workloads",
    "Farthest": "lownoise.quadratics",
    "farthest": "lownoise.quadratics",
    "image": "lownoise.domains",
    "product": "lownoise.domains",
    "minkowski_sum": "lownoise.domains",
    "projection": "lownoise.domains",
    "hull": "lownoise.domains",
    "kronecker": "lownoise.domains",
    "OrderedBall": "lownoise.domains",
    "TopBall": "lownoise.domains",
    "KyFanBall": "lownoise.domains",
    "OperatorNormBall": "lownoise.domains",
    "SchattenBall": "lownoise.domains",
    "UnitarilyInvariantBall": "lownoise.domains",
    "Zonotope": "lownoise.domains",
    "Ellipsoid": "lownoise.domains",
    "Ball": "lownoise.domains",
    "Box": "lownoise.domains",
    "Enclosure": "lownoise.enclosure",
    "Factorization": "lownoise.factorization",
    "Ledger": "lownoise.privacy",
    "ReadingNotice": "lownoise.notices",
    "Caps": "lownoise.privacy",
    "LinearPlan": "lownoise.planning",
    "LinearRelease": "lownoise.linear",
    "Marginals": "lownoise.workloads",
    "Mean": "lownoise.workloads",
    "Oracle": "lownoise.domains",
    "Parity": "lownoise.workloads",
    "Plan": "lownoise.planning",
    "PurePlan": "lownoise.planning",
    "PureRelease": "lownoise.pure",
    "Points": "lownoise.domains",
    "Queries": "lownoise.workloads",
    "Release": "lownoise.release",
    "Slab": "lownoise.domains",
    "TablePlan": "lownoise.planning",
    "TableRelease": "lownoise.tables",
    "TensorPower": "lownoise.domains",
    "approx_dp": "lownoise.privacy",
    "convert": "lownoise.privacy",
    "difference_body": "lownoise.domains",
    "enclose": "lownoise.enclosure",
    "factorize": "lownoise.factorization",
    "gaussian_dp": "lownoise.privacy",
    "intersection": "lownoise.domains",
    "plan": "lownoise.planning",
    "pure_dp": "lownoise.privacy",
    "verify": "lownoise.verification",
    "zcdp": "lownoise.privacy",
}


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("lownoise.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'lownoise' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
