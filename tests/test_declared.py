# SPDX-License-Identifier: Apache-2.0
"""Domains as plain values: each kind is its constructor, called with the same arguments."""

import inspect
import itertools
import json
import math

import pytest

import lownoise as ln
from lownoise.sets.domains import DOMAINS
from lownoise.spec.declared import declared_domain

BALL = {"kind": "ball", "dimension": 2, "radius": 3, "order": 1.5, "center": [1, 2]}
OTHER = {"kind": "ellipsoid", "factor": [[1.0, 2.0], [0, 3]], "center": [1, 2]}
SLAB = {"kind": "slab", "normal": [1, 1], "lower": -math.inf, "upper": 3.5}
SQUARE = {"kind": "box", "lower": [0, 0], "upper": [2, 3]}
# one row a kind: its fields, and the same domain by code
KNOWN = {
    "ball": (BALL, ln.Ball(2, 3, 1.5, [1, 2])),
    "box": (SQUARE, ln.Box([0, 0], [2, 3])),
    "ellipsoid": (OTHER, ln.Ellipsoid([[1, 2], [0, 3]], [1, 2])),
    "grid": (
        {"lower": [0, -1], "upper": [0.3, 2], "spacing": [0.1, 1]},
        ln.Points(list(itertools.product([0, 0.1, 0.2, 0.3], [-1, 0, 1, 2]))),
    ),
    "hull": (
        {"domains": [{**BALL, "order": 2}, OTHER]},
        ln.hull(ln.Ball(2, 3, center=[1, 2]), ln.Ellipsoid([[1, 2], [0, 3]], [1, 2])),
    ),
    "image": (
        {"factor": [[1, 1]], "domain": SQUARE, "shift": [7]},
        ln.image([[1, 1]], ln.Box([0, 0], [2, 3]), [7]),
    ),
    "intersection": (
        {"domains": [SQUARE, SLAB]},
        ln.intersection(ln.Box([0, 0], [2, 3]), ln.Slab([1, 1], -math.inf, 3.5)),
    ),
    "kronecker": (
        {"first": {**BALL, "center": [0, 0]}, "second": {"kind": "ball", "dimension": 3}},
        ln.kronecker(ln.Ball(2, 3, 1.5), ln.Ball(3)),
    ),
    "ky_fan_ball": ({"rows": 3, "columns": 4, "largest": 2}, ln.KyFanBall(3, 4, 2)),
    "minkowski_sum": (
        {"domains": [BALL, OTHER, SQUARE]},
        ln.minkowski_sum(
            ln.Ball(2, 3, 1.5, [1, 2]),
            ln.Ellipsoid([[1, 2], [0, 3]], [1, 2]),
            ln.Box([0, 0], [2, 3]),
        ),
    ),
    "operator_norm_ball": (
        {"rows": 2, "columns": 1, "center": [[1], [2]]},
        ln.OperatorNormBall(2, 1, center=[1, 2]),
    ),
    "ordered_ball": ({"weights": [3, 1, 0.5], "radius": 2}, ln.OrderedBall([3, 1, 0.5], 2)),
    "points": ({"points": [[0, 1], [2, 3], [4, 0]]}, ln.Points([[0, 1], [2, 3], [4, 0]])),
    "product": (
        {"domains": [SQUARE, {"kind": "points", "points": [[1], [2]]}]},
        ln.product(ln.Box([0, 0], [2, 3]), ln.Points([[1], [2]])),
    ),
    "projection": (
        {"domain": OTHER, "coordinates": [1]},
        ln.projection(ln.Ellipsoid([[1, 2], [0, 3]], [1, 2]), [1]),
    ),
    "schatten_ball": ({"rows": 2, "columns": 3, "order": 4}, ln.SchattenBall(2, 3, 4)),
    "slab": (SLAB, ln.Slab([1, 1], -math.inf, 3.5)),
    "tensor_power": (
        {"dimension": 2, "power": 3, "of": "ball", "radius": 0.5},
        ln.TensorPower(2, 3, "ball", 0.5),
    ),
    "top_ball": ({"dimension": 4, "largest": 2, "radius": 5}, ln.TopBall(4, 2, 5)),
    "unitarily_invariant_ball": (
        {"rows": 2, "columns": 3, "gauge": {"kind": "ball", "dimension": 2, "order": 3}},
        ln.UnitarilyInvariantBall(2, 3, ln.Ball(2, order=3)),
    ),
    "zonotope": ({"generators": [[1, 2], [0, 1], [3, 3]]}, ln.Zonotope([[1, 2], [0, 1], [3, 3]])),
}


def told(domain):
    """All that a domain holds, nested values and arrays as lists."""
    if hasattr(domain, "__dataclass_fields__"):
        return {name: told(getattr(domain, name)) for name in domain.__dataclass_fields__}
    if isinstance(domain, (list, tuple)):
        return [told(each) for each in domain]
    return domain.tolist() if hasattr(domain, "tolist") else domain


@pytest.mark.parametrize("kind", KNOWN)
def test_each_kind_is_what_its_constructor_makes(kind):
    fields, wanted = KNOWN[kind]
    found, mistakes = declared_domain({"kind": kind, **fields})
    assert not mistakes
    assert type(found) is type(wanted)
    assert told(found) == told(wanted)
    assert json.dumps(told(wanted))  # nothing is left out of the comparison


@pytest.mark.parametrize("kind", KNOWN)
def test_each_field_of_each_kind_is_read_and_missed(kind):
    fields, _ = KNOWN[kind]
    parameters = inspect.signature(DOMAINS.constructors[kind]).parameters
    assert set(fields) - {"kind"} <= set(parameters)
    for name, parameter in parameters.items():
        _, wrong = declared_domain({"kind": kind, **fields, name: {"kind": "no"}})
        assert [mistake.path[0] for mistake in wrong] == [name]
        rest = {k: v for k, v in fields.items() if k != name}
        _, missing = declared_domain({**rest, "kind": kind})
        if parameter.default is inspect.Parameter.empty:
            assert [(m.path, m.text) for m in missing] == [((name,), "field required")]
        else:
            assert [m for m in missing if m.path] == []  # has a default


def test_every_public_constructor_of_domains_is_a_kind_or_a_program():
    homes = {name: getattr(getattr(ln, name), "__module__", "") for name in ln.__all__}
    made = {name for name, home in homes.items() if home.startswith("lownoise.sets.domains")}
    assert made - {c.__name__ for c in DOMAINS.constructors.values()} == {
        "Oracle",
        "difference_body",
    }


def test_too_many_coordinates_are_refused_and_not_allocated(monkeypatch):
    vast = {"kind": "operator_norm_ball", "rows": 2**24, "columns": 2**24}
    _, (mistake,) = declared_domain(vast)
    assert "make more than 2^24 numbers; give fewer" in mistake.text

    def full(*_):
        raise MemoryError

    monkeypatch.setattr("lownoise.sets.domains.balls.spectral_ball", full)
    _, (mistake,) = declared_domain({"kind": "operator_norm_ball", "rows": 9, "columns": 9})
    assert "does not fit in memory" in mistake.text


def test_domains_within_domains_are_read_so_deep_and_no_deeper():
    def nested(depth):
        fields = {"kind": "ball", "dimension": 2}
        for _ in range(depth):
            fields = {"kind": "minkowski_sum", "domains": [fields]}
        return declared_domain(fields)

    assert nested(32)[0].support([1.0, 0.0]) == pytest.approx(1)
    for depth in (33, 100_000):
        (mistake,) = nested(depth)[1]
        assert "too deep" in mistake.text
