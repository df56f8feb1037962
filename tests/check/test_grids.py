# SPDX-License-Identifier: Apache-2.0
"""What grids hide: coarse ones add errors that nobody states, fine ones have codes beyond floats.

Each file here was held to be true once, or a true one false, before the checker asked.
"""

import json
import math
from functools import partial

import numpy as np
import pytest

import lownoise as ln
import lownoise_check as checker
from check.documents import FILES, PAIR
from check.test_norms import planned
from lownoise.numbers.packing import packed
from lownoise_check import FALSE, HOLDS, OPEN


def scaled(given, by):
    """Return numbers of any depth, so many times."""
    return [scaled(x, by) for x in given] if isinstance(given, list) else by * given


def coarse(text, places):
    """Return a file of the same noise, of as many deviations, on a grid so much coarser."""
    document = json.loads(text)
    noise = document["terms"]["noise"]
    noise = noise.get("values", noise)
    noise["step"] = scaled(noise["step"], 2.0**places)
    if noise.get("count_step"):
        noise["count_step"] = min(noise["count_step"] * 2.0**places, 1.0)
    for name in {"scale", "factor", "scales"} & {*noise}:
        if isinstance(noise[name], list):
            noise[name] = scaled(noise[name], 2.0**-places)
    return json.dumps(document)


STEPPED = ["box", "sums over a box", "points", "flat list", "totals", "means by groups"]
STEPPED += ["totals by groups", "means under ε", "means under ε and δ", "totals under ε"]


@pytest.mark.parametrize("name", STEPPED)
def test_errors_that_a_coarse_grid_adds_are_not_left_unsaid(name):
    assert checker.decide(coarse(FILES[name](), 0))[0] == HOLDS
    status, lines = checker.decide(coarse(FILES[name](), 24))
    assert status == FALSE, lines
    assert not ln.verify(coarse(FILES[name](), 24))


BOXES = ["box", "sums over a box", "totals", "means by groups", "totals by groups"]


@pytest.mark.parametrize("name", [*BOXES, "means under ε"])
def test_what_stands_in_for_missing_values_of_a_box_is_in_it(name):
    """It is coded as it is: rows that lack a value would move sums beyond what noise hides."""
    document = json.loads(FILES[name]())
    question = document["terms"]["question"]
    mean = question.get("total", question)
    mean = mean.get("mean", mean)
    for end, status in ((mean["upper"][0], HOLDS), (mean["upper"][0] + 1, FALSE)):
        mean["missing"][0] = end
        assert checker.decide(json.dumps(document))[0] == status
    assert not ln.verify(json.dumps(document))


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
@pytest.mark.parametrize("budget", [ln.zcdp(0.5), ln.pure_dp(0.5)], ids=str)
def test_noise_that_is_coarse_on_its_own_grid_is_refused_where_records_are_exact(budget, relation):
    """The count of rows, too, whose grid is its own."""
    asked = {"budget": budget, "relation": relation, "size": 50 if relation[0] == "s" else None}
    mechanism = "gaussian" if "zCDP" in str(budget) else "laplace"
    question = ln.Mean(["a"], ln.Points([[-1.0], [1.0], [3.0]]))
    text = ln.plan(question, mechanism=mechanism, **asked).to_json()
    noise = json.loads(text)["terms"]["noise"]
    forged = [coarse(text, -3 - round(math.log2(noise["step"][0])))]
    if noise["count_step"]:
        document, by = json.loads(text), 0.125 / noise["count_step"]
        own = document["terms"]["noise"]
        own["count_step"] = 0.125
        if "factor" in own:
            own["factor"][-1] = scaled(own["factor"][-1], 1 / by)
        else:
            own["scale" if "scale" in own else "scales"][-1] /= by
        forged.append(json.dumps(document))
    for other in forged:
        status, lines = checker.decide(other)
        assert (status, "coarse" in lines[-1]) == (FALSE, True), lines
        unsaid = [own.name for own in ln.verify(other).checks if not own.holds]
        assert unsaid == ["unedited", "answers are rounded finely beside the noise"]


@pytest.mark.parametrize("budget", [ln.zcdp(1e5), ln.zcdp(1e6)], ids=str)
def test_counts_with_next_to_no_noise_have_the_finest_grid_and_hold(budget, tmp_path):
    """Of counts steps are 2^-22 at least: what is rounded there no reader can see."""
    question = ln.Marginals({"a": 2, "b": 3}, way=2)
    ln.plan(question, budget=budget, relation="add_remove").save(tmp_path / "plan.json")
    assert checker.decide((tmp_path / "plan.json").read_text(encoding="utf-8"))[0] != FALSE
    assert ln.verify(tmp_path / "plan.json")


@pytest.mark.parametrize("name", ["ball", "zonotope"])
def test_noise_of_the_shape_of_rounded_records_is_known_as_far_as_rounding_leaves_it(name):
    """The norm is larger by what rounding adds to it, which `ln.verify` measures."""
    text = planned("mean", name, "substitute", "k_norm")
    for places, said in ((0, "six|eight|ten"), (9, "three|six")):
        status, lines = checker.decide(coarse(text, places))
        assert status == HOLDS
        assert any(f"to {x} digits" in line for line in lines for x in said.split("|"))
    for places in (16, 32):
        status, lines = checker.decide(coarse(text, places))
        assert status in (FALSE, OPEN), lines


@pytest.mark.parametrize("epsilon", [1e-4, 0.01])
def test_noise_that_is_wide_beside_its_grid_is_not_called_false(epsilon):
    """Grids are fine beside the noise, which is wide: beside what records change they are less."""
    asked = {"relation": "substitute", "size": 50, "mechanism": "k_norm"}
    text = ln.plan(ln.Mean(PAIR, ln.Ball(2)), budget=ln.pure_dp(epsilon), **asked).to_json()
    status, lines = checker.decide(text)
    assert status != FALSE, lines
    assert status == HOLDS or epsilon < 0.001


def test_noise_of_a_skew_ellipsoid_in_many_dimensions_is_not_called_false():
    """Its norm is larger than the body by what floats round, more where more is added up."""
    of = ln.Ellipsoid(np.random.default_rng(0).normal(size=(20, 20)))
    asked = {"relation": "add_remove", "mechanism": "k_norm"}
    question = ln.Mean([f"x{i}" for i in range(20)], of)
    text = ln.plan(question, budget=ln.pure_dp(1.0), **asked).to_json()
    status, lines = checker.decide(text)
    assert status == HOLDS, lines
    document = json.loads(text)
    document["terms"]["noise"]["scale"] *= 1 - 1e-9
    assert checker.decide(json.dumps(document))[0] == OPEN
    document["terms"]["noise"]["scale"] *= 1 - 1e-5
    assert checker.decide(json.dumps(document))[0] == FALSE


@pytest.mark.parametrize("mechanism", ["ellipsoid", "k_norm", "radial"])
def test_codes_that_no_integer_of_a_machine_holds_are_refused(mechanism):
    status, lines = checker.decide(coarse(planned("mean", "ball", "substitute", mechanism), -40))
    assert status == FALSE
    assert "codes beyond" in lines[-1]


def test_noise_of_fewer_dimensions_than_its_numbers_has_another_law():
    """A number that stays as it is has no noise: with it deviations would be 2/√3 as large."""
    of = ln.Ellipsoid([[2.0, 0.3], [0.3, 1.0], [0.0, 0.0]])
    asked = {"relation": "substitute", "size": 50, "mechanism": "k_norm"}
    text = ln.plan(ln.Mean(["a", "b", "c"], of), budget=ln.pure_dp(1.0), **asked).to_json()
    document = json.loads(text)
    noise, derived = document["terms"]["noise"], document["derived"]
    noise["step"] = [*noise["step"], noise["step"][0]]
    del noise["pivots"], noise["embed"]
    noise["kept"] = [0, 1]
    assert checker.decide(json.dumps(document))[0] == HOLDS
    noise["kept"] = [0, 1, 2]
    wide = math.sqrt(4 / 3)
    for name in ("standard_deviation", "objective", "error"):
        derived[name] = scaled(derived[name], wide)
    assert checker.decide(json.dumps(document))[0] == FALSE


def bomb(name, many):
    """Return a short file that would unpack to gigabytes."""
    zeros = packed(np.zeros(many))
    if name == "radii":
        document = json.loads(planned("mean", "ball", "substitute", "radial"))
        document["terms"]["noise"] |= {"radii": zeros, "weights": zeros}
        return json.dumps(document)
    document = json.loads(FILES["queries of a public size"]())
    question = document["terms"]["question"]
    attribute = {"name": "a", "categories": many // 100, "outside": None}
    question["universe"] = {"attributes": [attribute]}
    question["matrix"] = zeros | {"shape": [100, many // 100]}
    return json.dumps(document)


@pytest.mark.parametrize("name", ["radii", "matrix"])
def test_nothing_is_unpacked_that_is_too_long(name, monkeypatch):
    text, asked = bomb(name, 10**6 * 8), []
    own = checker.zlib.decompressobj
    monkeypatch.setattr(checker.zlib, "decompressobj", lambda: asked.append(1) or own())
    seen = partial(checker.unpacked)
    monkeypatch.setattr(
        checker, "unpacked", lambda a, b, shape: asked.append(math.prod(shape)) or seen(a, b, shape)
    )
    status, lines = checker.decide(text)
    assert status == OPEN, lines
    assert max(asked, default=0) < 10**6


def test_no_search_over_signs_is_repeated_for_every_level():
    """Of 16 columns a length is a maximum over 2^16 signs: once for each ellipsoid."""
    d = 16
    document = json.loads(planned("mean", "wide box", "substitute", "recursive"))
    question, noise = document["terms"]["question"], document["terms"]["noise"]
    question |= {"columns": ["x"] * d, "lower": [0.0] * d, "upper": [1.0] * d}
    question |= {"center": [0.5] * d, "missing": [0.5] * d}
    noise |= {"step": [2.0**-30] * d, "rows": packed(np.eye(d) * 0.5 + 0.25)}
    levels = [{"coordinates": d - i, "scale": 1e3} for i in range(d - 1)]
    for level in levels:
        level["factor"] = packed(np.eye(level["coordinates"]) * 2.0**30)
    noise["levels"] = levels
    calls, own = [], checker.below
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker, "below", lambda *given: calls.append(1) or len(given[0]) < d)
        checker.decide(json.dumps(document))
    assert len(calls) <= d
    assert own is checker.below
