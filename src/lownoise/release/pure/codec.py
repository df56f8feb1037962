# SPDX-License-Identifier: Apache-2.0
"""Pure terms as JSON values: what was chosen is stored, what follows is computed again.

No norm is stored: the unit ball of K-norm noise is that of the changes of the integers, which
follow from the question and the grid.
"""

from __future__ import annotations

import math
from functools import singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError
from lownoise.noise.grid import MeanGrid
from lownoise.noise.pure import (
    AbstractPureNoise,
    AdditiveMechanism,
    HistogramTotals,
    KNormNoise,
    LaplaceNoise,
    QueryTotals,
    RecursiveNoise,
    ResponseMechanism,
    StillNoise,
    distance_within,
)
from lownoise.numbers.packing import packed, unpacked
from lownoise.privacy import ApproxDP, PureDP
from lownoise.privacy.budget import budget_from_dict, budget_to_dict
from lownoise.questions import Mean
from lownoise.release.codec import (
    derived,
    is_pure,
    mean_from_dict,
    mean_grid_from_dict,
    mean_to_dict,
    order_from,
    program,
    size_from,
    terms_to_dict,
)
from lownoise.release.encoding import (
    coordinates_to_dict,
    evidence_from_dict,
    evidence_to_dict,
    expect,
    numbers,
    relation_from_dict,
    relation_to_dict,
)
from lownoise.release.linear.codec import (
    grid_from_dict,
    grid_to_dict,
    queries_from_dict,
    queries_to_dict,
)
from lownoise.release.pure.terms import Alternative, PureTerms, allowed
from lownoise.sets.domains.encoding import oracle_of
from lownoise.sets.norms import ImageNorm, norm_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate import AbstractDual
    from lownoise.noise.pure.mechanism import Grid
    from lownoise.sensitivity.changes import Reach
    from lownoise.sets.domains import AbstractDomain

NAMES = ("k_norm", "ellipsoid", "recursive", "laplace", "laplace_histogram", "randomized_response")
ADDED = "cost_of_noise"  # which files before 0.2.0 do not state
_LEAST_WEIGHT = 2.0**-900
_FINEST = 2.0**-52
_SAME = 1e-8
_PLAIN = "plain_"  # evidence for weights of one, which here is the same


@terms_to_dict.register(PureTerms)
def _(terms: PureTerms) -> dict[str, Any]:
    question = terms.question
    return {
        "question": mean_to_dict(question)
        if isinstance(question, Mean)
        else queries_to_dict(question),
        "budget": budget_to_dict(terms.budget),
        "relation": relation_to_dict(terms.relation),
        "size": terms.size,
        "order": "inf" if math.isinf(terms.order) else terms.order,
        "weights": terms.weights.tolist(),
        "mechanism": terms.name,
        "noise": _noise_to_dict(terms.name, terms.mechanism),
        "evidence": None if terms.dual is None else _dual_to_dict(terms.dual),
        "compared": [
            {"mechanism": a.mechanism, "error": a.error, "note": a.note} for a in terms.alternatives
        ],
    }


def _dual_to_dict(dual: AbstractDual) -> dict[str, Any]:
    twice = evidence_to_dict(dual, dual)
    return {name: value for name, value in twice.items() if not name.startswith(_PLAIN)}


def _noise_to_dict(name: str, mechanism: AdditiveMechanism | ResponseMechanism) -> dict[str, Any]:
    if isinstance(mechanism, ResponseMechanism):
        return {"keep": mechanism.keep}
    return {
        **_grid_to_dict(mechanism.grid),
        **_added_to_dict(mechanism.noise),
        **(_ellipsoid_to_dict(mechanism) if name == "ellipsoid" else {}),
    }


@singledispatch
def _grid_to_dict(grid: object) -> dict[str, Any]:
    raise FileError(f"grid={type(grid).__name__} has no form in files; plan again")


@_grid_to_dict.register(MeanGrid)
def _(grid: MeanGrid) -> dict[str, Any]:
    return {
        "step": grid.query.coding.step.tolist(),
        "count_step": grid.count_step,
        **({} if grid.center is None else {"about": "domain"}),
        **({} if grid.hint is None else {"reach": grid.hint.tolist()}),
        **coordinates_to_dict(grid.coordinates),
    }


@_grid_to_dict.register(QueryTotals)
def _(grid: QueryTotals) -> dict[str, Any]:
    return grid_to_dict(grid.grid)


@_grid_to_dict.register(HistogramTotals)
def _(grid: HistogramTotals) -> dict[str, Any]:
    return {"step": grid.step}


@singledispatch
def _added_to_dict(noise: object) -> dict[str, Any]:
    raise FileError(f"noise={type(noise).__name__} has no form in files; plan again")


@_added_to_dict.register(StillNoise)
def _(noise: StillNoise) -> dict[str, Any]:
    own = {} if noise.inner is None else _added_to_dict(noise.inner)
    return {"kept": noise.kept.tolist(), **own}


@_added_to_dict.register(KNormNoise)
def _(noise: KNormNoise) -> dict[str, Any]:
    return {"scale": noise.scale}


def _ellipsoid_to_dict(mechanism: AdditiveMechanism) -> dict[str, Any]:
    noise = mechanism.noise
    own = noise.inner if isinstance(noise, StillNoise) else noise
    assert isinstance(own, KNormNoise)  # noqa: S101 (what that mechanism is)
    assert isinstance(own.gauge, ImageNorm)  # noqa: S101
    return {"factor": packed(own.gauge.factor)}


@_added_to_dict.register(LaplaceNoise)
def _(noise: LaplaceNoise) -> dict[str, Any]:
    return {"scales": noise.scales.tolist()}


@_added_to_dict.register(RecursiveNoise)
def _(noise: RecursiveNoise) -> dict[str, Any]:
    return {
        "rows": packed(noise.rows),
        "levels": [
            {"coordinates": level.dimension, "scale": level.scale} for level in noise.levels
        ],
    }


def terms_from_dict(fields: dict[str, Any], domain: AbstractDomain | None = None) -> PureTerms:
    """Return the terms that a file describes; every field is checked as if it were new.

    Args:
        fields: what was written.
        domain: the set, where the fields only name it.
    """
    if not is_pure(fields):
        raise FileError(
            "the document names no pure mechanism; read it with ln.Plan, ln.Release, "
            "ln.LinearPlan or ln.LinearRelease",
        )
    name = fields["mechanism"]
    expect("mechanism", name, NAMES)
    asked = fields["question"]
    expect("question.kind", asked["kind"], ("mean", "queries"))
    question = (
        mean_from_dict(asked, domain) if asked["kind"] == "mean" else queries_from_dict(asked)
    )
    budget = budget_from_dict(fields["budget"])
    if not isinstance(budget, (PureDP, ApproxDP)):
        raise FileError("budget is not pure, nor (epsilon, delta)")
    mechanism = _READERS[name](fields, question)
    answers = mechanism.deviations.size
    given = fields["weights"]
    weighted = len(question.columns) if isinstance(question, Mean) else answers
    if len(given) == weighted + 1 == answers:  # one for the count, as 0.1 wrote
        given = given[:-1]
    weights = numbers(given, "weights", weighted)
    if not np.all((weights >= _LEAST_WEIGHT) & (weights <= 1 / _LEAST_WEIGHT)):
        raise FileError("weights are not all from 2^-900 to 2^900")
    if not isinstance(question, Mean) and not np.array_equal(weights, question.weights):
        raise FileError("weights are not those of the queries, which have none of their own")
    terms = PureTerms(
        question=question,
        budget=budget,
        relation=relation_from_dict(fields["relation"]),
        order=order_from(fields["order"]),
        weights=weights,
        name=name,
        mechanism=mechanism,
        alternatives=_compared(fields["compared"], name),
        dual=_dual(fields["evidence"], answers),
    )
    if not terms.within_budget:
        raise FileError("noise is too small for the budget")
    return terms


def _dual(fields: dict[str, Any] | None, answers: int) -> AbstractDual | None:
    if fields is None:
        return None
    twice = {**fields, **{f"{_PLAIN}{name}": value for name, value in fields.items()}}
    return evidence_from_dict(twice, answers)[0]


def _compared(listed: list[dict[str, Any]], chosen: str) -> tuple[Alternative, ...]:
    """Return the mechanisms that were compared: each once, the best first, one of them chosen."""
    found = tuple(_alternative(each) for each in listed)
    names = [own.mechanism for own in found]
    errors = [math.inf if own.error is None else own.error for own in found]
    available = [own.mechanism for own in found if own.error is not None]
    # of equals to nine digits the simplest is first
    rising = all(a <= b * (1 + _SAME) for a, b in pairwise(errors))
    if len(set(names)) < len(names) or chosen not in available or not rising:
        raise FileError("compared has not each mechanism once, the best first, with the chosen one")
    return found


def _alternative(fields: dict[str, Any]) -> Alternative:
    name, error, note = fields["mechanism"], fields["error"], fields["note"]
    expect("compared.mechanism", name, NAMES)
    number = error is None or (isinstance(error, float) and 0 <= error < math.inf)
    if not number or not isinstance(note, str) or len(fields) != 3:  # noqa: PLR2004
        raise FileError("compared states an error that is no number, or a note that is no text")
    return Alternative(name, error, note)


def _summed(fields: dict[str, Any], question: Any) -> Grid:  # noqa: ANN401 (of two kinds)
    if isinstance(question, Mean):
        return mean_grid_from_dict(fields, question, fields["noise"])
    size = size_from(fields)
    grid = grid_from_dict(fields["noise"], question, fields["relation"])
    return QueryTotals(grid=grid, size=size)


def _k_norm(fields: dict[str, Any], question: Any) -> AdditiveMechanism:  # noqa: ANN401

    budget = budget_from_dict(fields["budget"])
    distance = 0.0
    if isinstance(budget, ApproxDP):
        distance = distance_within(allowed(budget), budget.delta)

    def made(reach: Reach) -> AbstractPureNoise:
        scale = _positive(fields["noise"]["scale"], "noise.scale")
        return KNormNoise(norm_of(reach, distance), scale)

    return _placed(fields, question, made)


def _ellipsoid(fields: dict[str, Any], question: Any) -> AdditiveMechanism:  # noqa: ANN401
    noise = fields["noise"]
    scale = _positive(noise["scale"], "noise.scale")
    factor = unpacked(noise["factor"], "noise.factor", len(noise["factor"]["shape"]))
    if factor.ndim not in (1, 2) or len(set(factor.shape)) != 1:
        raise FileError("noise.factor is no diagonal and no square matrix")
    gauge = ImageNorm(factor, NormBall(len(factor), 2.0))
    return _placed(fields, question, lambda _: KNormNoise(gauge, scale))


def _laplace(fields: dict[str, Any], question: Any) -> AdditiveMechanism:  # noqa: ANN401

    def made(reach: Reach) -> AbstractPureNoise:
        return LaplaceNoise(numbers(fields["noise"]["scales"], "noise.scales", reach.dimension))

    return _placed(fields, question, made)


def _recursive(fields: dict[str, Any], question: Any) -> AdditiveMechanism:  # noqa: ANN401
    noise = fields["noise"]
    rows = unpacked(noise["rows"], "noise.rows")
    levels = [
        (level["coordinates"], _positive(level["scale"], "noise.levels.scale"))
        for level in noise["levels"]
    ]
    if any(type(n) is not int or not 1 <= n <= len(rows) for n, _ in levels):
        raise FileError("noise.levels do not fit noise.rows")

    def made(reach: Reach) -> AbstractPureNoise:
        bodies = [reach, *(reach.mapped(rows[:n]) for n, _ in levels[1:])]
        own = [KNormNoise(norm_of(b), scale) for b, (_, scale) in zip(bodies, levels, strict=True)]
        return RecursiveNoise(rows, tuple(own))

    return _placed(fields, question, made)


def _placed(
    fields: dict[str, Any],
    question: Any,  # noqa: ANN401
    made: Callable[[Reach], AbstractPureNoise],
) -> AdditiveMechanism:
    grid = _summed(fields, question)
    noise = fields["noise"]
    if "kept" not in noise:
        return AdditiveMechanism(grid, made(grid.reach))
    if any(type(place) is not int for place in noise["kept"]):
        raise FileError("noise.kept are not whole numbers")
    kept = np.array(noise["kept"], dtype=np.int64).reshape(-1)
    if kept.size and not (kept[0] >= 0 and kept[-1] < grid.length and np.all(np.diff(kept) > 0)):
        raise FileError("noise.kept are not places of integers that rise")
    inner = made(grid.reach.mapped(np.eye(grid.length)[kept])) if kept.size else None
    return AdditiveMechanism(grid, StillNoise(inner, kept, grid.length))


def _histogram(fields: dict[str, Any], question: Any) -> AdditiveMechanism:  # noqa: ANN401
    size, step = size_from(fields), fields["noise"]["step"]
    power = isinstance(step, float) and _FINEST <= step <= 1 and math.frexp(step)[0] == 0.5  # noqa: PLR2004
    if isinstance(question, Mean) or not power:
        raise FileError("noise.step is no power of two from 2^-52 to 1, or the question no queries")
    grid = HistogramTotals(question=question, relation=fields["relation"], size=size, step=step)
    given = fields["noise"]["scales"]
    return AdditiveMechanism(grid, LaplaceNoise(numbers(given, "noise.scales", grid.length)))


def _response(fields: dict[str, Any], question: Any) -> ResponseMechanism:  # noqa: ANN401
    size = size_from(fields)
    if isinstance(question, Mean) or size is None:
        raise FileError("randomized_response is of linear queries and a public size")
    keep = _positive(fields["noise"]["keep"], "noise.keep")
    return ResponseMechanism(question=question, size=size, keep=keep)


def _positive(value: object, field: str) -> float:
    if not isinstance(value, float) or not 0 < value < math.inf:
        raise FileError(f"{field} is no number above 0")
    return value


_READERS: dict[str, Callable[[dict[str, Any], Any], AdditiveMechanism | ResponseMechanism]] = {
    "k_norm": _k_norm,
    "ellipsoid": _ellipsoid,
    "recursive": _recursive,
    "laplace": _laplace,
    "laplace_histogram": _histogram,
    "randomized_response": _response,
}


@derived.register(PureTerms)
def _(terms: PureTerms) -> dict[str, Any]:
    return {
        "names": list(terms.names),
        "standard_deviation": terms.standard_deviation.tolist(),
        "error": terms.error,
        "objective": terms.objective,
        "lower_bound": terms.lower_bound,
        "cost": {"epsilon": terms.cost.epsilon, "delta": terms.cost.delta},
        ADDED: {"rho": terms.cost.rho, "mu": terms.cost.mu},
    }


@program.register(PureTerms)
def _(terms: PureTerms) -> AbstractDomain | None:
    return oracle_of(terms.question.domain) if isinstance(terms.question, Mean) else None
