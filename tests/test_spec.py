# SPDX-License-Identifier: Apache-2.0
"""Specifications: all mistakes at once, each with its path."""

import ast
from pathlib import Path

import numpy as np
import pytest

import lownoise as ln
from command_line import written
from lownoise.errors import SpecError
from lownoise.spec import read_domain, read_spec

GOOD = """
[question]
relation = "substitute"
size = 100

[question.columns]
"dep delay" = { lower = -60, upper = 1440, missing = 0 }
distance = { lower = 0, upper = 5000, center = 1000 }

[budget]
epsilon = 1
delta = 1e-6

[data]
path = "t.csv"

[ledger]
path = "sub/privacy.ledger"
dataset = "flights"
"""


def test_a_spec_is_the_plan_that_its_code_would_make(tmp_path):
    spec = read_spec(written(tmp_path, GOOD))
    question = ln.Mean(
        ["dep delay", "distance"],
        ln.Box([-60, 0], [1440, 5000]),
        center=[690, 1000],
        missing=[0, 1000],
    )
    by_code = ln.plan(question, budget=ln.approx_dp(1, 1e-6), relation="substitute", size=100)
    assert spec.plan().to_json() == by_code.to_json()
    assert spec.data.path == tmp_path / "t.csv"
    assert spec.account().path == tmp_path / "sub" / "privacy.ledger"
    assert spec.account().dataset == "flights"


def test_a_budget_may_name_its_kind_and_a_pure_one_must(tmp_path):
    for numbers, budget in (
        ("epsilon = 1", ln.pure_dp(1)),
        ("epsilon = 1\ndelta = 1e-6", ln.approx_dp(1, 1e-6)),
        ("rho = 0.5", ln.zcdp(0.5)),
        ("mu = 0.5", ln.gaussian_dp(0.5)),
    ):
        kind = ln.privacy.budget.budget_to_dict(budget)["kind"]
        named = f'{numbers}\nkind = "{kind}"'
        text = GOOD.replace("epsilon = 1\ndelta = 1e-6", named)
        assert read_spec(written(tmp_path, text)).budget.budget() == budget
        text = GOOD.replace("epsilon = 1\ndelta = 1e-6", numbers)
        if kind == "pure_dp":
            with pytest.raises(SpecError, match="both epsilon and delta, or epsilon and kind"):
                read_spec(written(tmp_path, text))
        else:
            assert read_spec(written(tmp_path, text)).budget.budget() == budget


def test_order_may_be_infinite_and_a_ledger_absent(tmp_path):
    text = GOOD.replace("size = 100", "size = 100\norder = inf").split("[ledger]")[0]
    spec = read_spec(written(tmp_path, text))
    assert spec.plan().terms.order == np.inf
    assert spec.account() is None


def test_weights_by_range_and_by_column(tmp_path):
    by_range = GOOD.replace("size = 100", 'size = 100\nweights = "range"')
    terms = read_spec(written(tmp_path, by_range)).plan().terms
    assert terms.weights.tolist() == [1 / 1500, 1 / 5000]
    by_column = GOOD.replace("missing = 0 }", "weight = 3 }")
    assert read_spec(written(tmp_path, by_column)).plan().terms.weights.tolist() == [3, 1]
    both = by_range.replace("missing = 0 }", "weight = 3 }")
    with pytest.raises(SpecError, match="give one of the two"):
        read_spec(written(tmp_path, both))


def test_add_remove_with_dropping(tmp_path):
    text = GOOD.replace('"substitute"\nsize = 100', '"add_remove"\nmissing = "drop"')
    assert read_spec(written(tmp_path, text)).plan().terms.question.drops_missing


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ('""', "data.path: is an empty path; name a file"),
        ('["t.csv", ""]', "data.path: is an empty path; name a file"),
        (r'"a\nb=hunter2"', "data.path: is a text of several lines, and no path"),
        ('"https://me:hunter2@office.example/t.parquet"', "data.path: is an address with a user"),
    ],
)
def test_what_is_wrong_with_a_path_is_said_and_the_path_is_not(tmp_path, path, said):
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, GOOD.replace('"t.csv"', path)))
    assert said in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_every_mistake_is_reported_at_once_with_its_path(tmp_path):
    text = """
    colour = 1
    [question]
    relation = "substitute"
    order = 1
    missing = "drop"
    [question.columns]
    a = { lower = 3, upper = 2, extra = 1 }
    b = { lower = nan, upper = 2 }
    c = { lower = 0, upper = 1, center = 2, missing = -1 }
    d = { upper = 1 }
    [budget]
    rho = 1
    epsilon = 0
    """
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text))
    said = str(refusal.value)
    for mistake in (
        "colour: is not a field",
        "question.order: ",
        "question.size: is missing",
        'question.missing: "drop" would change',
        "question.columns.a.upper: is below lower=3",
        "question.columns.a.extra: ",
        "question.columns.b.lower: ",
        "question.columns.c.center: is outside [0, 1]",
        "question.columns.c.missing: is outside [0, 1]",
        "question.columns.d.lower: field required",
        "budget.epsilon: ",
    ):
        assert f"\n  {mistake}" in said
    assert "has 11 mistakes" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("size = 100", "size = 0", "question.size: is out of range; give at least 1"),
        ("size = 100", 'size = "100"', "question.size"),
        ("size = 100", "size = 1.5", "question.size"),
        ("epsilon = 1\n", "", "either rho, or mu, or both"),
        ("epsilon = 1\n", "epsilon = 1\nrho = 1\n", "either rho, or mu, or both"),
        ("delta = 1e-6\n", "", 'both epsilon and delta, or epsilon and kind = "pure_dp"'),
        (
            "delta = 1e-6",
            'delta = 1e-6\nkind = "pure_dp"',
            "budget: pure_dp has no delta; leave it",
        ),
        ("delta = 1e-6", 'kind = "approx_dp"', "approx_dp needs delta and epsilon only"),
        ("delta = 1e-6", 'rho = 1\nkind = "pure_dp"', "pure_dp needs epsilon only"),
        ("delta = 1e-6", 'kind = "pure"', "budget.kind: "),
        ("delta = 1e-6", "delta = 1", "budget.delta: is out of range; give less than 1"),
        ('"substitute"', '"replace"', "question.relation"),
        ('dataset = "flights"', 'dataset = ""', "ledger.dataset"),
        ("size = 100", 'size = 100\norder = "inf"', "infinity as inf"),
        ("missing = 0 }", "mising = 0 }", "did you mean 'missing'"),
        ("missing = 0 }", "zzzz = 0 }", "is not a field of a specification; correct its name"),
        ("missing = 0 }", "min = 0 }", "did you mean 'lower'"),
        ("missing = 0 }", "missing = 0 }\nx = [0, 1]", "columns.x: is no table of fields; write {"),
        ("missing = 0 }", "weight = -1 }", "weight"),
        ("size = 100", 'size = 100\nweights = "size"', "question.weights"),
        ("[budget]", "[budget", "not TOML"),
        ("lower = -60", "lower = -1e300", "larger unit"),
    ],
)
def test_one_mistake(old, new, said, tmp_path):
    from lownoise.errors import LownoiseError

    assert old in GOOD
    with pytest.raises(LownoiseError, match=said):
        read_spec(written(tmp_path, GOOD.replace(old, new))).plan()


def test_no_message_refers_to_a_page_that_is_not_installed():
    """Of all texts of the package but those that document its code."""
    for path in sorted((Path(ln.__file__).parent).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert id(node) in prose or "docs/" not in node.value, (path.name, node.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "absent.toml")
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="not TOML"):
        read_spec(tmp_path / "bytes.toml")


ROUND = """
[question]
relation = "substitute"
size = 100
columns = ["east", "north", "hour"]

[question.domain]
kind = "product"

[[question.domain.domains]]
kind = "ball"
dimension = 2
radius = 3
center = [1, 1]

[[question.domain.domains]]
kind = "box"
lower = [0]
upper = [24]

[budget]
rho = 0.1
"""
NAMES = ["east", "north", "hour"]
PRODUCT = ln.product(ln.Ball(2, 3, center=[1, 1]), ln.Box([0], [24]))


def test_a_declared_domain_is_the_one_that_code_makes(tmp_path):
    spec = read_spec(written(tmp_path, ROUND))
    more = {"budget": ln.zcdp(0.1), "relation": "substitute", "size": 100}
    assert spec.plan().to_json() == ln.plan(ln.Mean(NAMES, PRODUCT), **more).to_json()
    # with points that stand in, and weights, of some columns
    named = "{ east = { center = 2, weight = 4 }, north = { missing = 0.5 }, hour = {} }"
    text = ROUND.replace('["east", "north", "hour"]', named)
    question = ln.Mean(NAMES, PRODUCT, center=[2, 1, 12], missing=[2, 0.5, 12])
    by_code = ln.plan(question, weights=[4, 1, 1], **more)
    assert read_spec(written(tmp_path, text)).plan().to_json() == by_code.to_json()


def test_the_stand_in_is_the_domains_own_point_nearest_to_the_center(tmp_path):
    named = "{ east = { center = 4 }, north = { center = 4 }, hour = {} }"
    text = ROUND.replace('["east", "north", "hour"]', named)
    asked = read_spec(written(tmp_path, text)).question.asked()
    assert asked.center.tolist() == [4, 4, 12]
    assert asked.missing[:2] == pytest.approx([1 + 3 / np.sqrt(2)] * 2)


def test_dropping_and_ranges_go_with_a_declared_domain(tmp_path):
    text = ROUND.replace("size = 100", 'missing = "drop"\nweights = "range"')
    terms = read_spec(written(tmp_path, text.replace("substitute", "add_remove"))).plan().terms
    assert terms.question.drops_missing
    assert terms.weights[:3] == pytest.approx([1 / 6, 1 / 6, 1 / 24])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("radius = 3", "radius = -3", "question.domain.domains.0: Ball.radius=-3 is out of range"),
        ("radius = 3", 'radius = "3"', "question.domain.domains.0.radius: is not a number"),
        ("radius = 3", "radus = 3", "question.domain.domains.0.radus: is no field of ball, which"),
        ("dimension = 2", "dimension = 2.0", "domains.0.dimension: is no whole number"),
        ("dimension = 2", "dimension = true", "domains.0.dimension: is no whole number"),
        ("dimension = 2", "dimension = 99999999999", "domains.0.dimension: is too large"),
        ("dimension = 2", "", "question.domain.domains.0.dimension: field required"),
        ("dimension = 2", "dimension = 3", "domains.0: Ball.center has 2 coordinates for 3"),
        ('kind = "box"', 'kind = "bix"', "domains.1.kind: is no kind of domain; give one of ball,"),
        ('kind = "box"', "", "question.domain.domains.1.kind: is no kind"),
        ("lower = [0]", 'lower = ["0"]', "question.domain.domains.1.lower: is no list of numbers"),
        ("lower = [0]", "lower = [30]", "question.domain.domains.1: Box.lower[0]"),
        ("upper = [24]", "upper = [1" + "0" * 400 + "]", "question.domain.domains.1: Box.upper"),
        ("columns = [", 'columns = ["x", ', "question.columns: has 4 names for the 3 coordinates"),
        ('"east", "north"', '"east", "east"', "question.columns: names 'east' twice"),
        ("columns = [", "columns = [1, ", "question.columns: "),
        ('columns = ["east", "north", "hour"]', "", "question.columns: is missing"),
        (
            'columns = ["east", "north", "hour"]',
            "columns = { east = { lower = 0 }, north = {}, hour = {} }",
            "question.columns.east.lower: is given beside question.domain",
        ),
        (
            'columns = ["east", "north", "hour"]',
            "columns = { east = { center = 99 }, north = {}, hour = {} }",
            "question: Mean.center[0]=99.0 is outside",
        ),
        ("columns = [", 'points = "l.csv"\ncolumns = [', "question.columns: has both points and"),
        ('kind = "product"', 'kind = "sum"', "question.domain.kind: is no kind of domain"),
        ('kind = "product"', 'kind = "hull"', "question.domain: hull[1] has 1 coordinates"),
    ],
)
def test_one_mistake_in_a_domain_is_one_line_with_its_path(old, new, said, tmp_path):
    assert old in ROUND
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, ROUND.replace(old, new)))
    head, *lines = str(refusal.value).splitlines()
    assert head.endswith("has a mistake:")
    (line,) = lines
    assert line.startswith(f"  {said}") or f".{said}" in line
    assert len(line) < 400


def test_mistakes_in_a_domain_stand_among_the_others(tmp_path):
    text = ROUND.replace("radius = 3", "radius = nan\nodd = 1").replace("lower = [0]", "")
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text.replace("rho = 0.1", "rho = -1")))
    said = str(refusal.value)
    for mistake in ("question.domain.domains.0.odd: ", "domains.1.lower: field", "budget.rho: "):
        assert mistake in said
    assert "has 3 mistakes" in said  # a constructor is asked once its fields are right


def test_a_domain_that_is_no_domain_of_records(tmp_path):
    slab = 'kind = "slab"\nnormal = [1, 1, 1]\nlower = 0\nupper = 1\n[budget]'
    text = ROUND[: ROUND.index('kind = "product"')] + slab + "\nrho = 1"
    with pytest.raises(SpecError, match=r"question: Mean\.domain=Slab is no domain of records"):
        read_spec(written(tmp_path, text))
    with pytest.raises(SpecError, match=r"question\.domain: is no table; give one with kind"):
        read_spec(written(tmp_path, GOOD.replace("size = 100", 'size = 100\ndomain = "ball"')))


def test_a_domain_alone_or_of_a_specification(tmp_path):
    names, domain = read_domain(written(tmp_path, ROUND))
    assert names == ("east", "north", "hour")
    text = '[domain]\nkind = "schatten_ball"\nrows = 2\ncolumns = 2\norder = inf'
    names, domain = read_domain(written(tmp_path, text))
    assert names == ("x1", "x2", "x3", "x4")
    assert domain.support(np.array([1.0, 0, 0, 1])) == pytest.approx(2)
    few = written(tmp_path, 'columns = ["x"]\ndomain = { kind = "ball", dimension = 2 }')
    with pytest.raises(SpecError, match="columns: has 1 names for the 2 coordinates of domain"):
        read_domain(few)
    with pytest.raises(SpecError, match="domain: field required"):
        read_domain(written(tmp_path, "columns = []"))


@pytest.mark.parametrize("text", ["a = 1" + "0" * 5000, "a = " + "[" * 5000 + "]" * 5000])
def test_a_file_that_no_reader_takes(tmp_path, text):
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text))
    assert "\n" not in str(refusal.value)
