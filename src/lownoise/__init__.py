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
    from lownoise.errors import ReadingNotice
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
    from lownoise.questions import (
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
    from lownoise.release.linear import LinearRelease
    from lownoise.release.pure import PureRelease
    from lownoise.release.release import Release
    from lownoise.release.tables import TableRelease
    from lownoise.sets.domains import (
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
    from lownoise.streams import Stream
    from lownoise.theory.enclosure import Enclosure, enclose
    from lownoise.theory.factorization import Factorization, factorize
    from lownoise.theory.optimal import OptimalMechanism, optimal_mechanism
    from lownoise.theory.quadratics import Farthest, farthest
    from lownoise.verification import verify

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
    "FiniteProblem": "lownoise.questions",
    "finite_problem": "lownoise.questions",
    "OptimalMechanism": "lownoise.theory.optimal",
    "optimal_mechanism": "lownoise.theory.optimal",
    "stream": "lownoise.planning",
    "Stream": "lownoise.streams",
    "SlidingWindow": "lownoise.questions",
    "Prefix": "lownoise.questions",
    "Decayed": "lownoise.questions",
    "Farthest": "lownoise.theory.quadratics",
    "farthest": "lownoise.theory.quadratics",
    "image": "lownoise.sets.domains",
    "product": "lownoise.sets.domains",
    "minkowski_sum": "lownoise.sets.domains",
    "projection": "lownoise.sets.domains",
    "hull": "lownoise.sets.domains",
    "kronecker": "lownoise.sets.domains",
    "OrderedBall": "lownoise.sets.domains",
    "TopBall": "lownoise.sets.domains",
    "KyFanBall": "lownoise.sets.domains",
    "OperatorNormBall": "lownoise.sets.domains",
    "SchattenBall": "lownoise.sets.domains",
    "UnitarilyInvariantBall": "lownoise.sets.domains",
    "Zonotope": "lownoise.sets.domains",
    "Ellipsoid": "lownoise.sets.domains",
    "Ball": "lownoise.sets.domains",
    "Box": "lownoise.sets.domains",
    "Enclosure": "lownoise.theory.enclosure",
    "Factorization": "lownoise.theory.factorization",
    "Ledger": "lownoise.privacy",
    "ReadingNotice": "lownoise.errors",
    "Caps": "lownoise.privacy",
    "LinearPlan": "lownoise.planning",
    "LinearRelease": "lownoise.release.linear",
    "Marginals": "lownoise.questions",
    "Mean": "lownoise.questions",
    "Oracle": "lownoise.sets.domains",
    "Parity": "lownoise.questions",
    "Plan": "lownoise.planning",
    "PurePlan": "lownoise.planning",
    "PureRelease": "lownoise.release.pure",
    "Points": "lownoise.sets.domains",
    "Queries": "lownoise.questions",
    "Release": "lownoise.release.release",
    "Slab": "lownoise.sets.domains",
    "TablePlan": "lownoise.planning",
    "TableRelease": "lownoise.release.tables",
    "TensorPower": "lownoise.sets.domains",
    "approx_dp": "lownoise.privacy",
    "convert": "lownoise.privacy",
    "difference_body": "lownoise.sets.domains",
    "enclose": "lownoise.theory.enclosure",
    "factorize": "lownoise.theory.factorization",
    "gaussian_dp": "lownoise.privacy",
    "intersection": "lownoise.sets.domains",
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
