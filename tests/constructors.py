# SPDX-License-Identifier: Apache-2.0
"""Every public function that takes numbers: each with arguments that it takes, and their kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln
from lownoise.questions import LowerTriangular

if TYPE_CHECKING:
    from collections.abc import Callable

BOX = ln.Box([0.0, 0.0], [1.0, 2.0])
MEAN = ln.Mean(["a", "b"], BOX)
COUNTS = ln.Marginals({"a": 3, "b": 2}, way=1)
SQUARE = [[1.0, 0.0], [0.5, 2.0]]


@dataclass(frozen=True)
class Constructor:
    """A function, arguments that it takes, and which of them are numbers.

    `numbers` names what is one real number, `wholes` what is one whole number, `vectors` and
    `matrices` the rest; `endless` names numbers that may be infinite.
    """

    name: str
    call: Callable[..., Any]
    given: dict[str, Any]
    numbers: tuple[str, ...] = ()
    wholes: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    matrices: tuple[str, ...] = ()
    endless: tuple[str, ...] = ()

    def __call__(self, **changed: Any) -> Any:
        return self.call(**{**self.given, **changed})


def disc(matrix: Any, center: Any) -> Any:
    point = np.linalg.eigh(matrix)[1][:, -1]
    return point, float((point - center) @ matrix @ (point - center))


def planned(**given: Any) -> Any:
    return ln.plan(MEAN, budget=ln.zcdp(0.5), **given)


def counted(**given: Any) -> Any:
    return ln.plan(COUNTS, budget=ln.zcdp(0.5), relation="add_remove", **given)


def streamed(workload: Any) -> Any:
    return ln.stream(workload, budget=ln.zcdp(0.5), strategy="input")


CONSTRUCTORS = (
    Constructor(
        "Box",
        ln.Box,
        {"lower": [0.0, 0.0], "upper": [1.0, 2.0]},
        vectors=("lower", "upper"),
    ),
    Constructor(
        "Grid",
        ln.Grid,
        {"lower": [0.0, 0.0], "upper": [1.0, 2.0], "spacing": [0.5, 1.0]},
        vectors=("lower", "upper", "spacing"),
    ),
    Constructor("Points", ln.Points, {"points": SQUARE}, matrices=("points",)),
    Constructor(
        "Ball",
        ln.Ball,
        {"dimension": 2, "radius": 1.0, "order": 2.0, "center": [0.0, 1.0]},
        numbers=("radius", "order"),
        wholes=("dimension",),
        vectors=("center",),
        endless=("order",),
    ),
    Constructor(
        "Ellipsoid",
        ln.Ellipsoid,
        {"factor": [1.0, 2.0], "center": [0.0, 1.0]},
        vectors=("factor", "center"),
    ),
    Constructor("Ellipsoid of a matrix", ln.Ellipsoid, {"factor": SQUARE}, matrices=("factor",)),
    Constructor(
        "Zonotope",
        ln.Zonotope,
        {"generators": SQUARE, "center": [0.0, 1.0]},
        vectors=("center",),
        matrices=("generators",),
    ),
    Constructor(
        "OrderedBall",
        ln.OrderedBall,
        {"weights": [2.0, 1.0], "radius": 1.0, "center": [0.0, 1.0]},
        numbers=("radius",),
        vectors=("weights", "center"),
    ),
    Constructor(
        "TopBall",
        ln.TopBall,
        {"dimension": 2, "largest": 1, "radius": 1.0, "center": [0.0, 1.0]},
        numbers=("radius",),
        wholes=("dimension", "largest"),
        vectors=("center",),
    ),
    *(
        Constructor(
            maker.__name__,
            maker,
            {"rows": 2, "columns": 2, "radius": 1.0, **more},
            numbers=("radius", *(("order",) if "order" in more else ())),
            wholes=("rows", "columns", *(("largest",) if "largest" in more else ())),
            endless=("order",),
        )
        for maker, more in (
            (ln.OperatorNormBall, {}),
            (ln.SchattenBall, {"order": 3.0}),
            (ln.KyFanBall, {"largest": 1}),
            (ln.UnitarilyInvariantBall, {"gauge": ln.Ball(2)}),
        )
    ),
    Constructor(
        "a center of matrices",
        ln.OperatorNormBall,
        {"rows": 2, "columns": 2, "center": SQUARE},
        matrices=("center",),
    ),
    Constructor(
        "TensorPower",
        ln.TensorPower,
        {"dimension": 2, "power": 2, "radius": 1.0},
        numbers=("radius",),
        wholes=("dimension", "power"),
    ),
    Constructor(
        "Slab",
        ln.Slab,
        {"normal": [1.0, 1.0], "lower": 0.0, "upper": 2.0},
        numbers=("lower", "upper"),
        vectors=("normal",),
        endless=("lower", "upper"),
    ),
    Constructor(
        "Oracle",
        ln.Oracle,
        {
            "dimension": 2,
            "maximise": disc,
            "center": [0.0, 0.0],
            "half_widths": [1.0, 1.0],
        },
        wholes=("dimension",),
        vectors=("center", "half_widths"),
    ),
    Constructor(
        "image",
        ln.image,
        {"factor": SQUARE, "domain": BOX, "shift": [0.0, 1.0]},
        vectors=("shift",),
        matrices=("factor",),
    ),
    Constructor(
        "Mean",
        ln.Mean,
        {"columns": ["a", "b"], "domain": BOX, "center": [0.5, 1.0]},
        vectors=("center",),
    ),
    Constructor(
        "Mean.missing",
        lambda missing: ln.Mean(["a", "b"], BOX, missing=missing),
        {"missing": [0.5, 1.0]},
        vectors=("missing",),
    ),
    Constructor(
        "Queries",
        ln.Queries,
        {"matrix": SQUARE, "universe": {"x": 2}},
        matrices=("matrix",),
    ),
    Constructor(
        "Marginals",
        ln.Marginals,
        {"sizes": {"a": 3, "b": 2}, "way": 1, "weights": [1.0, 2.0]},
        wholes=("way",),
        vectors=("weights",),
    ),
    Constructor(
        "Marginals.sizes",
        lambda size: ln.Marginals({"a": size}, way=1),
        {"size": 3},
        wholes=("size",),
    ),
    Constructor(
        "Parity",
        ln.Parity,
        {"bits": ["x", "y"], "degree": 1, "weights": [2.0]},
        wholes=("degree",),
        vectors=("weights",),
    ),
    Constructor("Prefix", ln.Prefix, {"rounds": 4}, wholes=("rounds",)),
    Constructor(
        "SlidingWindow", ln.SlidingWindow, {"rounds": 4, "width": 2}, wholes=("rounds", "width")
    ),
    Constructor(
        "Decayed", ln.Decayed, {"rounds": 4, "rate": 0.5}, numbers=("rate",), wholes=("rounds",)
    ),
    Constructor(
        "Momentum", ln.Momentum, {"rounds": 4, "rate": 0.5}, numbers=("rate",), wholes=("rounds",)
    ),
    Constructor("LowerTriangular", LowerTriangular, {"entries": SQUARE}, matrices=("entries",)),
    Constructor("stream", streamed, {"workload": SQUARE}, matrices=("workload",)),
    Constructor(
        "finite_problem",
        ln.theory.finite_problem,
        {"queries": SQUARE, "size": 2, "answers": SQUARE, "order": 2.0, "power": 1.0},
        numbers=("order", "power"),
        wholes=("size",),
        matrices=("queries", "answers"),
        endless=("order",),
    ),
    Constructor(
        "optimal_mechanism",
        ln.theory.optimal_mechanism,
        {
            "distances": [[0.0, 1.0], [1.0, 0.0]],
            "errors": [[0.0, 1.0], [1.0, 0.0]],
            "epsilon": 1.0,
            "prior": [0.5, 0.5],
        },
        numbers=("epsilon",),
        vectors=("prior",),
        matrices=("errors",),
    ),
    Constructor(
        "optimal_mechanism.distances",
        lambda distances: ln.theory.optimal_mechanism(
            distances, [[0.0, 1.0], [1.0, 0.0]], epsilon=1.0
        ),
        {"distances": [[0.0, 1.0], [1.0, 0.0]]},
        matrices=("distances",),
        endless=("distances",),
    ),
    Constructor(
        "exact_on",
        ln.theory.exact_on,
        {"reference": SQUARE, "delta": 0.5},
        numbers=("delta",),
        matrices=("reference",),
    ),
    Constructor("zcdp", ln.zcdp, {"rho": 0.5}, numbers=("rho",)),
    Constructor("gaussian_dp", ln.gaussian_dp, {"mu": 0.5}, numbers=("mu",)),
    Constructor("pure_dp", ln.pure_dp, {"epsilon": 0.5}, numbers=("epsilon",)),
    Constructor(
        "approx_dp", ln.approx_dp, {"epsilon": 0.5, "delta": 1e-6}, numbers=("epsilon", "delta")
    ),
    Constructor(
        "factorize",
        ln.theory.factorize,
        {"matrix": SQUARE, "order": 2.0, "workload": SQUARE, "weights": [1.0, 2.0], "rtol": 0.1},
        numbers=("order", "rtol"),
        vectors=("weights",),
        matrices=("matrix", "workload"),
        endless=("order",),
    ),
    Constructor(
        "enclose",
        ln.theory.enclose,
        {"domain": BOX, "order": 2.0, "workload": SQUARE, "weights": [1.0, 2.0], "rtol": 0.1},
        numbers=("order", "rtol"),
        vectors=("weights",),
        matrices=("workload",),
        endless=("order",),
    ),
    Constructor(
        "farthest",
        ln.theory.farthest,
        {"domain": BOX, "matrix": SQUARE, "center": [0.0, 1.0]},
        vectors=("center",),
        matrices=("matrix",),
    ),
    Constructor(
        "plan of a mean",
        planned,
        {
            "relation": "substitute",
            "size": 9,
            "order": 2.0,
            "weights": [1.0, 2.0],
            "rtol": 0.1,
        },
        numbers=("order", "rtol"),
        wholes=("size",),
        vectors=("weights",),
        endless=("order",),
    ),
    Constructor(
        "plan of a mean and a count",
        planned,
        {"relation": "add_remove", "count_share": 0.1},
        numbers=("count_share",),
    ),
    Constructor(
        "plan of marginals",
        counted,
        {"order": 2.0, "rtol": 0.1},
        numbers=("order", "rtol"),
        endless=("order",),
    ),
)
