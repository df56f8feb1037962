# SPDX-License-Identifier: Apache-2.0
"""Specifications of streams: what code would ask for, and all mistakes at once."""

import numpy as np
import pytest

import lownoise as ln
from lownoise import report
from lownoise.errors import LownoiseError, SpecError
from lownoise.spec import read_domain, read_spec
from lownoise.spec.streams import StreamSpec

BUDGET = "[budget]\nrho = 0.5\n"


def read(folder, question, more=BUDGET):
    path = folder / "spec.toml"
    path.write_text(f'[question]\nkind = "stream"\n{question}\n{more}', encoding="utf-8")
    return read_spec(path)


BALL = '[question.domain]\nkind = "ball"\ndimension = 2\nradius = 3'
SAME = {
    "rounds = 8": (ln.Prefix(8), {}),
    'workload = "prefix"\nrounds = 8\nerror = "max"': (ln.Prefix(8), {"error": "max"}),
    'workload = "sliding_window"\nrounds = 8\nwidth = 3\nrelation = "substitute"': (
        ln.SlidingWindow(8, 3),
        {"relation": "substitute"},
    ),
    'workload = "decayed"\nrounds = 8\nrate = 0.5\nstrategy = "output"': (
        ln.Decayed(8, 0.5),
        {"strategy": "output"},
    ),
    'workload = "momentum"\nrounds = 8\nrate = 0.5': (ln.Momentum(8, 0.5), {}),
    'workload = "matrix"\nmatrix = [[1, 0], [0.5, 2]]': ([[1, 0], [0.5, 2]], {}),
    "rounds = 9\nparticipations = 2\nseparation = 4": (
        ln.Prefix(9),
        {"participations": 2, "separation": 4},
    ),
    'rounds = 9\nparticipations = 3\nseparation = 3\npattern = "spaced"': (
        ln.Prefix(9),
        {"participations": 3, "separation": 3, "pattern": "spaced"},
    ),
    'rounds = 9\nstrategy = "banded"\nmemory = 2': (
        ln.Prefix(9),
        {"strategy": "banded", "memory": 2},
    ),
    "rounds = 8\ncolumns = { a = { lower = -1, upper = 3 }, b = { lower = 0, upper = 2 } }": (
        ln.Prefix(8),
        {"domain": ln.Box([-1, 0], [3, 2])},
    ),
    f'rounds = 8\ncolumns = ["x", "y"]\n{BALL}': (ln.Prefix(8), {"domain": ln.Ball(2, 3)}),
    'rounds = 8\nstrategy = "square_root"\nparticipations = 3': (
        ln.Prefix(8),
        {"strategy": "square_root", "participations": 3},
    ),
    'rounds = 8\ncolumns = { a = { lower = 0, upper = 90 } }\n[question.changes]\nkind = "box"\n'
    "lower = [-1]\nupper = [1]": (
        ln.Prefix(8),
        {"domain": ln.Box([0], [90]), "relation": ln.Box([-1], [1])},
    ),
}


@pytest.mark.grid
@pytest.mark.parametrize("question", SAME)
def test_a_specification_is_the_stream_that_code_would_start(question, tmp_path):
    workload, more = SAME[question]
    found = read(tmp_path, question)
    by_code = ln.stream(workload, budget=ln.zcdp(0.5), **more)
    assert found.plan().to_json() == by_code.to_json()
    # and a file of the one is taken for the other's
    request = found.question.request(ln.zcdp(0.5))
    ln.stream(workload, budget=ln.zcdp(0.5), **more, path=tmp_path / "s").update_many(
        np.ones((1, len(found.question.names)))
    )
    assert request.resume(tmp_path / "s", None).round == 1


@pytest.mark.grid
@pytest.mark.parametrize("question", SAME)
def test_a_plan_says_what_is_asked_and_to_how_many_rounds_one_person_adds(question, tmp_path):
    plan = read(tmp_path, question).plan()
    title = " ".join(report.render_text(report.sections(plan)).split("planned under")[0].split())
    participation = plan.terms.mechanism.participation
    assert title.startswith(f"{plan.terms.question.workload.rounds} ")
    assert ("one person in" in title) == (participation.count > 1)
    if participation.count > 1:
        assert title.endswith(f"one person in {participation.phrase},")


def test_specifications_here_are_of_every_workload():
    declared = StreamSpec.model_fields["workload"].annotation.__args__
    named = {word for word in declared if any(f'"{word}"' in question for question in SAME)}
    assert named == set(declared)


def test_columns_have_names(tmp_path):
    assert read(tmp_path, "rounds = 3").question.names == ("value",)
    assert read(tmp_path, f"rounds = 3\n{BALL}").question.names == ("x1", "x2")
    named = f'rounds = 3\ncolumns = ["e", "n"]\n{BALL}'
    assert read(tmp_path, named).question.names == ("e", "n")


MISTAKES = [
    ("", "question.rounds: is missing"),
    ("rounds = 0", "question.rounds"),
    ("rounds = 1.5", "question.rounds"),
    ("rounds = true", "question.rounds"),
    ("rounds = 3\nwidth = 2", "question.width: does not go with"),
    ('workload = "sliding_window"\nrounds = 3', "question.width: is missing"),
    ('workload = "sliding_window"\nrounds = 3\nwidth = 4', "is beyond its 3 rounds"),
    ('workload = "decayed"\nrounds = 3\nrate = 1.0', "question.rate"),
    ('workload = "decayed"\nrounds = 3\nrate = nan', "question.rate"),
    ('workload = "sums"\nrounds = 3', "question.workload"),
    ('workload = "matrix"', "question.matrix: is missing"),
    ('workload = "matrix"\nrounds = 2\nmatrix = [[1]]', "question.rounds: does not go with"),
    ('workload = "matrix"\nmatrix = [[1, 2], [1, 1]]', "above the diagonal"),
    ('workload = "matrix"\nmatrix = [[1, 0], [1]]', "is no square matrix"),
    ('workload = "matrix"\nmatrix = "file"', "is no square matrix"),
    ('workload = "matrix"\nmatrix = [["1"]]', r"question.matrix.0.0: is not a number"),
    ('workload = "matrix"\nmatrix = [[inf]]', "finite"),
    ("rounds = 3\nmemory = 0", "question.memory"),
    ('rounds = 3\nerror = "median"', "question.error"),
    ('rounds = 3\nrelation = "replace"', "question.relation"),
    ("rounds = 3\nparticipations = 0", "question.participations"),
    ("rounds = 3\nseparation = 0", "question.separation"),
    ('rounds = 3\npattern = "poisson"', "question.pattern"),
    ("rounds = 3\nparticipations = 2\nseparation = 3", "do not fit in 3 rounds; give at most 1"),
    ('rounds = 9\nparticipations = 2\nseparation = 3\npattern = "any"', "is not kept by"),
    ('rounds = 3\ncolumns = ["a"]', "question.columns: is no table of fields"),
    (
        f"rounds = 3\ncolumns = {{ a = {{ lower = 0, upper = 1 }} }}\n{BALL}",
        "question.columns.a.lower: is given beside question.domain",
    ),
    (f'rounds = 3\ncolumns = ["a"]\n{BALL}', "one name for each of the 2 coordinates"),
    (f'rounds = 3\ncolumns = ["a", "a"]\n{BALL}', "names 'a' twice"),
    ("rounds = 3\ncolumns = {}", "has no name"),
    ("rounds = 3\ncolumns = { a = { lower = 1, upper = 0 } }", "swap them"),
    ("rounds = 3\ncolumns = { a = { lower = 0 } }", "question.columns.a.upper: field required"),
    ("rounds = 3\nsize = 7", "question.size: is not a field"),
    (
        'rounds = 3\nrelation = "add_remove"\nchanges = { kind = "box", lower = [0], upper = [1] }',
        "question.relation: is given beside question.changes",
    ),
    (
        'rounds = 3\nrelation = { kind = "box", lower = [0], upper = [1] }',
        "question.relation: is a word; declare a body of changes as question.changes instead",
    ),
    ('rounds = 3\nchanges = { kind = "cube" }', "question.changes.kind"),
]


@pytest.mark.parametrize(("question", "said"), MISTAKES)
def test_a_mistake_is_named_with_its_path(question, said, tmp_path):
    with pytest.raises(SpecError, match=said):
        read(tmp_path, question)


def test_all_mistakes_are_named_at_once(tmp_path):
    with pytest.raises(SpecError, match="has 3 mistakes"):
        read(tmp_path, 'workload = "matrix"\nrounds = 3\nwidth = 2')
    with pytest.raises(SpecError, match="mistakes"):
        read(tmp_path, 'rounds = 0\nerror = "x"', "[budget]\nrho = -1\n")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ('rounds = 3\nstrategy = "wish"', "strategy='wish' is unknown"),
        ('workload = "decayed"\nrate = 0.5\nrounds = 3\nstrategy = "binary_tree"', "running sums"),
        ("rounds = 3\ncolumns = { a = { lower = 1, upper = 2 } }", "does not hold 0"),
        ('rounds = 3\nchanges = { kind = "ball", dimension = 2 }', "coordinates"),
    ],
)
def test_what_does_not_fit_is_refused_when_it_is_planned(question, said, tmp_path):
    with pytest.raises(LownoiseError, match=said) as refusal:
        read(tmp_path, question).plan()
    assert "\n" not in str(refusal.value)


def test_a_stream_has_no_domain_to_enclose(tmp_path):
    read(tmp_path, "rounds = 3")
    with pytest.raises(SpecError, match="no domain to enclose"):
        read_domain(tmp_path / "spec.toml")
