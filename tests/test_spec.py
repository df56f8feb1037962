# SPDX-License-Identifier: Apache-2.0
"""Specifications: all mistakes at once, each with its path."""

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import SpecError
from lownoise.spec import read_spec

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


def written(tmp_path, text):
    path = tmp_path / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return path


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
        ("size = 100", "size = 0", "question.size"),
        ("size = 100", 'size = "100"', "question.size"),
        ("size = 100", "size = 1.5", "question.size"),
        ("epsilon = 1\n", "", "either rho, or mu, or both"),
        ("epsilon = 1\n", "epsilon = 1\nrho = 1\n", "either rho, or mu, or both"),
        ("delta = 1e-6", "delta = 1", "budget.delta"),
        ('"substitute"', '"replace"', "question.relation"),
        ('dataset = "flights"', 'dataset = ""', "ledger.dataset"),
        ("size = 100", 'size = 100\norder = "inf"', "infinity as inf"),
        ("missing = 0 }", "mising = 0 }", "is not a field"),
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


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "absent.toml")
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="not TOML"):
        read_spec(tmp_path / "bytes.toml")
