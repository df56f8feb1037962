# SPDX-License-Identifier: Apache-2.0
"""Specifications under a pure budget: the plan that code would make, and every mistake at once."""

import pytest

import lownoise as ln
from lownoise.errors import PlanError, SpecError
from lownoise.spec import read_spec
from pure.documents import APPROXIMATE, MATRIX, NAMES, planned

MEAN = """
[question]
relation = "substitute"
size = 30
[question.columns]
a = { lower = 0, upper = 1 }
b = { lower = 0, upper = 4 }
[budget]
kind = "pure_dp"
epsilon = 0.7
"""
QUERIES = f"""
[question]
kind = "queries"
relation = "add_remove"
matrix = {MATRIX.tolist()}
[question.universe]
x = ["p", "q", "r", "s"]
[budget]
kind = "pure_dp"
epsilon = 0.7
"""
TABLES = ("laplace_residual", "geometric_residual", "discrete_k_norm")  # of marginals
PUBLIC = ("laplace_histogram", "geometric_histogram", "randomized_response")  # of queries
NOT_HERE = (*PUBLIC, *TABLES, *APPROXIMATE)


def read(tmp_path, text):
    path = tmp_path / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return read_spec(path)


def lines(tmp_path, text):
    with pytest.raises(SpecError) as refusal:
        read(tmp_path, text)
    return [line.strip() for line in str(refusal.value).splitlines()[1:]]


HERE = (None, *(n for n in NAMES if n not in NOT_HERE))
WHOLE = ("geometric", "discrete_staircase")  # of queries, on their answers
ASKED = [(kind, own) for kind in ("mean", "queries") for own in HERE]
ASKED = [asked for asked in ASKED if asked[0] != "mean" or asked[1] not in WHOLE]


@pytest.mark.grid(3)
@pytest.mark.parametrize(("kind", "mechanism"), ASKED)
def test_a_spec_is_the_plan_that_its_code_would_make(kind, mechanism, tmp_path):
    text, relation = (MEAN, "substitute") if kind == "mean" else (QUERIES, "add_remove")
    named = "" if mechanism is None else f'mechanism = "{mechanism}"\n'
    plan = read(tmp_path, text.replace("[question]\n", f"[question]\n{named}")).plan()
    assert plan.to_json() == planned(kind, relation, mechanism).to_json()
    assert mechanism in (None, plan.mechanism)


@pytest.mark.parametrize("mechanism", PUBLIC)
def test_a_public_size_with_a_stand_in(mechanism, tmp_path):
    own = f'substitute"\nsize = 30\noutside = {{ x = "p" }}\nmechanism = "{mechanism}"'
    plan = read(tmp_path, QUERIES.replace('add_remove"', own)).plan()
    assert plan.to_json() == planned("queries", "substitute", mechanism).to_json()


def test_weights_an_order_and_a_body_that_is_declared(tmp_path):
    disc = """
[question]
relation = "add_remove"
order = inf
missing = "drop"
columns = ["a", "b"]
domain = { kind = "ball", dimension = 2, radius = 5 }
[budget]
kind = "pure_dp"
epsilon = 0.7
"""
    asked = ln.Mean(["a", "b"], ln.Ball(2, radius=5), missing="drop")
    own = ln.plan(asked, budget=ln.pure_dp(0.7), relation="add_remove", order=float("inf"))
    assert read(tmp_path, disc).plan().to_json() == own.to_json()
    weighed = MEAN.replace("[question.col", 'weights = "range"\n[question.col')
    assert read(tmp_path, weighed).plan().to_json() == planned(weights="range").to_json()


def test_a_named_mechanism_under_epsilon_and_delta(tmp_path):
    text = MEAN.replace('kind = "pure_dp"', "delta = 1e-6").replace(
        "size", 'mechanism = "k_norm"\nsize'
    )
    assert read(tmp_path, text).plan().mechanism == "k_norm"
    plain = text.replace('mechanism = "k_norm"\n', "")
    assert len(read(tmp_path, plain).plan().comparison) > 3  # Gaussian noise is one of them
    assert read(tmp_path, text.replace("k_norm", "radial")).plan().mechanism == "radial"
    gaussian = text.replace("k_norm", "gaussian")
    assert read(tmp_path, gaussian).plan().mechanism == "gaussian"
    pure = gaussian.replace("delta = 1e-6", 'kind = "pure_dp"')
    (said,) = lines(tmp_path, pure)
    assert said.startswith('budget: is pure, and question.mechanism = "gaussian" is not')


GAUSSIAN = ("rho = 0.5", "mu = 0.5")


@pytest.mark.parametrize("numbers", GAUSSIAN)
@pytest.mark.parametrize("text", [MEAN, QUERIES], ids=["mean", "queries"])
def test_a_mechanism_that_a_gaussian_budget_does_not_have(text, numbers, tmp_path):
    text = text.replace("[question]\n", '[question]\nmechanism = "laplace"\n')
    text = text.replace('kind = "pure_dp"\nepsilon = 0.7', numbers)
    (said,) = lines(tmp_path, text)
    assert said.startswith('budget: is of Gaussian noise, and question.mechanism = "laplace"')


def test_a_stream_has_its_pure_noise_by_its_strategy_and_by_its_name(tmp_path):
    text = '[question]\nkind = "stream"\nrounds = 8\n'
    pure = '[budget]\nkind = "pure_dp"\nepsilon = 1\n'
    assert read(tmp_path, text + pure).plan().terms.name == "laplace"
    assert read(tmp_path, text + 'mechanism = "laplace"\n' + pure).plan().terms.name == "laplace"
    (said,) = lines(tmp_path, text + 'mechanism = "gaussian"\n' + pure)
    assert said.startswith('budget: is pure, and question.mechanism = "gaussian" is not')
    (said,) = lines(tmp_path, text + 'mechanism = "laplace"\n[budget]\nrho = 1\n')
    assert said.startswith('budget: is of Gaussian noise, and question.mechanism = "laplace"')
    (said,) = lines(tmp_path, text + 'mechanism = "radial"\n' + pure)
    assert said.startswith("question.mechanism: ")


@pytest.mark.parametrize("kind", ["mean", "sum"])
@pytest.mark.parametrize("mechanism", [*WHOLE, "discrete_k_norm"])
def test_integer_noise_of_a_file_of_points_is_asked_for_by_name(mechanism, kind, tmp_path):
    (tmp_path / "points.csv").write_text("a\n0\n1\n", encoding="utf-8")
    fields = f'kind = "{kind}"\nmechanism = "{mechanism}"\npoints = "points.csv"\nsize = 30\n'
    text = MEAN.partition("size")[0] + fields + MEAN[MEAN.index("[budget]") :]
    assert read(tmp_path, text).plan().mechanism == mechanism


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (MEAN, "size", 'mechanism = "k-norm"\nsize', "question.mechanism: is no mechanism"),
        (
            MEAN,
            "size",
            'mechanism = "laplace_histogram"\nsize',
            "question.mechanism: is no mechanism",
        ),
        (MEAN, "size", "mechanism = 3\nsize", "question.mechanism: is no mechanism"),
        (MEAN, "size", "count_share = 0.1\nsize", "budget: question.count_share is for Gaussian"),
        (QUERIES, "matrix", "count_share = 0.1\nmatrix", "question.count_share: is not a field"),
        (QUERIES, "matrix", 'mechanism = "gauss"\nmatrix', "question.mechanism: is no mechanism"),
        (
            MEAN,
            "epsilon = 0.7",
            "epsilon = 0.0",
            "budget.epsilon: is out of range; give at least 1e-06",
        ),
        (MEAN, "epsilon = 0.7", "epsilon = 1\nrho = 1", "budget: pure_dp needs epsilon only"),
    ],
)
def test_one_mistake_is_one_line(text, old, new, said, tmp_path):
    assert old in text
    (line,) = lines(tmp_path, text.replace(old, new, 1))
    assert line.startswith(said)


def test_all_mistakes_at_once(tmp_path):
    text = MEAN.replace("size = 30", 'size = 30\nmechanism = "best"\norder = 1')
    text = text.replace("epsilon = 0.7", "epsilon = -1") + '[ledger]\npath = "l"\n'
    said = lines(tmp_path, text)
    fields = ("question.mechanism", "question.order", "budget.epsilon", "ledger.dataset")
    assert sorted(line.split(":")[0] for line in said) == sorted(fields)
    text = MEAN.replace("size = 30", 'size = 30\nmechanism = "laplace"\ncount_share = 0.1')
    text = text.replace('kind = "pure_dp"\nepsilon = 0.7', "rho = 1") + '[ledger]\npath = "l"\n'
    starts = ["budget: is of Gaussian", "budget: question.count_share", "ledger.dataset"]
    said = lines(tmp_path, text)
    assert len(said) == len(starts)
    assert all(line.startswith(start) for line, start in zip(said, starts, strict=True))


def test_what_only_planning_can_tell_is_one_line_too(tmp_path):
    text = QUERIES.replace("matrix", 'mechanism = "randomized_response"\nmatrix', 1)
    with pytest.raises(PlanError, match="'randomized_response' is not available here") as refusal:
        read(tmp_path, text).plan()
    assert "\n" not in str(refusal.value)


def test_count_share_stays_what_it_was_for_gaussian_noise(tmp_path):
    text = MEAN.replace('substitute"\nsize = 30', 'add_remove"')
    text = text.replace('kind = "pure_dp"\nepsilon = 0.7', "rho = 0.5")
    asked = {"budget": ln.zcdp(0.5), "relation": "add_remove"}
    assert read(tmp_path, text).plan().to_json() == planned(**asked).to_json()
    shared = text.replace("relation", "count_share = 0.2\nrelation", 1)
    own = planned(**asked, count_share=0.2)
    assert read(tmp_path, shared).plan().to_json() == own.to_json()
