# SPDX-License-Identifier: Apache-2.0
"""Kinds from outside the package go the whole way, and all that names kinds follows.

A domain, a noise, a question and an engine, one short file each in `toys/`. Statistical tests have
an error of the first kind of at most 1e-6 in all (six deviations a number), and say their power.
"""

import functools
import html
import inspect
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.toys.directions import Directions
from tests.toys.domain import Wedge
from tests.toys.engine import ToySource
from tests.toys.noise import TwoSidedNoise
from tests.toys.question import Above

import lownoise as ln
import test_members
from cases import MEMBERS, Member
from edits import put
from lownoise import report
from lownoise.certificate import EVIDENCE, AbstractDual
from lownoise.errors import FileError, PlanError, SpecError
from lownoise.kinds import Kinds, resolved
from lownoise.noise.abstract import NOISES, AbstractNoise
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.questions import QUESTIONS, AbstractQuestion
from lownoise.questions.streams import WORKLOADS, AbstractStreamWorkload, Running
from lownoise.release.execution import execute
from lownoise.release.stored import TermsCodec
from lownoise.sensitivity.factors import SHAPES, AbstractShape
from lownoise.sensitivity.relations import RELATIONS, checked_relation
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.domains import DOMAINS, AbstractDomain
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict
from lownoise.sets.domains.moments import MomentBall, MomentBox
from lownoise.sets.unit_balls import UNIT_BALLS, AbstractUnitBall
from lownoise.spec.declared import declared_domain, kinds
from lownoise.spec.files import read_spec
from lownoise.streams.pairs import PAIRS, AbstractPair
from refusals import refused_plan, sealed

SIZE = 400
SPEC = """
[question]
relation = "substitute"
size = 400
columns = ["x", "y"]
domain = { kind = "wedge", size = 3.0 }

[budget]
rho = 0.5

[data]
path = "t.csv"

[ledger]
path = "privacy.ledger"
dataset = "people"
"""


CHANGES = [
    *RELATIONS,
    ln.Box([-0.5, -0.5], [0.5, 0.5]),
    ln.difference_body(Wedge(0.3)),
    ln.difference_body(ln.hull(ln.Ball(2, 0.2), ln.Ball(2, 0.1, center=[0.2, 0.0]))),
]


def planned(domain, relation):
    size = None if relation == "add_remove" else SIZE
    question = ln.Mean(["x", "y"], domain)
    share = 0.05 if size is None else None  # by default it follows from bounds, as a set is written
    budget = ln.zcdp(0.5)
    return ln.plan(question, budget=budget, relation=relation, size=size, count_share=share)


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", CHANGES)
def test_a_domain_from_outside_is_planned_released_written_and_reported(relation):
    plan = planned(Wedge(3.0), relation)
    same = planned(ln.hull(ln.Points([[0, 0], [3.0, 0], [0, 3.0]])), relation)
    assert plan.error == pytest.approx(same.error, rel=1e-5)
    assert plan.certificate.gap < 1e-4
    assert plan.verify()
    assert ln.Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    rows = np.random.default_rng(1).normal(1.0, 2.0, size=(SIZE, 2))
    table = pd.DataFrame(rows, columns=["x", "y"])
    release = execute(plan.terms, table, None, randomness=SimulationRandomness(7))
    assert ln.verify(release.to_json())
    again = ln.Release.from_json(release.to_json())
    assert again.to_json() == release.to_json()
    for subject in (plan, release):
        shown = report.sections(subject)
        for page in (report.render_html(shown), str(report.render_text(shown))):
            assert "0.5-zCDP" in page
    if plan.terms.size is not None:
        truth = Wedge(3.0).clamp(rows).mean(axis=0)
        assert np.all(np.abs(release.estimate - truth) <= 8 * release.standard_deviation)


def test_a_domain_from_outside_is_read_from_a_specification(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    assert read_spec(tmp_path / "spec.toml").question.asked().domain == Wedge(3.0)
    assert "wedge" in kinds()
    _, (mistake,) = declared_domain({"kind": "wedge", "sise": 3.0, "size": 3.0})
    assert mistake.text == "is no field of wedge, which has size"


def of_wedge(rng, count):
    """Points of the wedge by its definition, a third of them corners."""
    inside = 3.0 * rng.dirichlet(np.ones(3), count)[:, :2]
    corners = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[rng.integers(0, 3, count)]
    return np.where(rng.random((count, 1)) < 1 / 3, corners, inside)


REFUSED = frozenset({"kronecker"})  # of what has more than points or balls about zero
WEDGE = Member("wedge", Wedge(3.0), of_wedge, gap=1e-4, beside=1e-3, refuses=REFUSED)
NOT_STATED = (  # the least noise in a closed form, and what is refused
    "test_the_known_least_is_found",
    "test_a_kronecker_product_costs_the_product",
)
LAWS = {
    name: law
    for name, law in vars(test_members).items()
    if name.startswith("test_") and name not in NOT_STATED
    if set(inspect.signature(law).parameters) <= {"member", "order"}
}


@pytest.mark.grid
@pytest.mark.parametrize("law", LAWS)
def test_every_law_of_domains_holds_of_one_from_outside(law):
    takes = inspect.signature(LAWS[law]).parameters
    LAWS[law](member=WEDGE, **({"order": 2.0} if "order" in takes else {}))


def test_what_a_domain_from_outside_has_no_form_for_is_refused_in_one_line():
    test_members.test_what_a_row_says_is_refused_is_refused_in_one_line(WEDGE, "kronecker")


def shown(subject):
    found = report.sections(subject)
    return report.render_html(found) + str(report.render_text(found))


def kept(plan, release):
    """Whatever plans and releases is verified, reads back as it was, and has a page."""
    assert plan.verify()
    assert ln.Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    assert ln.verify(release.to_json())
    assert ln.Release.from_json(release.to_json()).to_json() == release.to_json()
    for subject in (plan, release):
        for name in plan.names[-1:]:
            assert html.escape(name) in shown(subject) or name in shown(subject)


THRESHOLDS = Above("x", (-1.0, 0.0, 2.5))
QUESTIONS_OF_TOYS = {
    "a domain": ln.Mean(["x", "y"], Wedge(3.0)),
    "a question": THRESHOLDS,
    "totals": Directions("x"),
    "neither": ln.Queries(np.tril(np.ones((3, 3))), {"y": 3}, outside={"y": 0}),
}
NOISES_OF_TOYS = {"gaussian": (ln.zcdp(0.5), None), "two_sided": (ln.pure_dp(0.7), "two_sided")}
PURE = {"k_norm", "ellipsoid", "recursive", "laplace"}
EVERY_NOISE = [
    (ln.pure_dp(0.7), PURE),
    (ln.approx_dp(0.7, 1e-6), {*PURE, "radial", "gaussian"}),
]
NOISES_OF_TOYS |= {"laplace": (ln.pure_dp(0.7), "laplace")}
TOGETHER = [
    pytest.param(question, noise, relation, id=f"{question}, {noise}, {relation}")
    for question in QUESTIONS_OF_TOYS
    for noise in NOISES_OF_TOYS
    for relation in RELATIONS
    if question != "neither" or noise == "two_sided"
]
each_pair = pytest.mark.parametrize(("question", "noise", "relation"), TOGETHER)


def rows_of_toys(seed=1):
    rng = np.random.default_rng(seed)
    rows = [
        {"x": float(x), "y": float(y)}
        for x, y in zip(rng.normal(0.5, 2, SIZE), rng.integers(0, 3, SIZE), strict=True)
    ]
    rows[3]["x"] = math.nan
    return rows


def source(rows):
    return ToySource({"x": "numbers", "y": "numbers"}, rows)


@functools.cache
def toy_plan(question, noise, relation):
    budget, mechanism = NOISES_OF_TOYS[noise]
    return ln.plan(
        QUESTIONS_OF_TOYS[question],
        budget=budget,
        relation=relation,
        size=SIZE if relation == "substitute" else None,
        mechanism=mechanism,
    )


@pytest.mark.grid
@each_pair
def test_what_is_from_outside_composes_is_released_written_and_reported(question, noise, relation):
    plan = toy_plan(question, noise, relation)
    release = plan.release(source(rows_of_toys()))
    kept(plan, release)
    assert plan.mechanism == noise
    assert release.estimate.shape == (len(plan.names),)


@pytest.mark.grid(least=8)
@each_pair
def test_one_row_moves_the_totals_by_at_most_their_sensitivity(question, noise, relation):
    """What the noise charges for the change of any row is at most what the plan charges."""
    plan = toy_plan(question, noise, relation)
    totals, own = plan.terms.mechanism.totals, plan.terms.mechanism.noise
    rows = rows_of_toys()
    before = np.array(totals.exact(totals.read(source(rows))), dtype=float)
    others = [{"x": x, "y": y} for x in (-9.0, -0.5, 1.0, 9.0, math.nan) for y in (0.0, 1.0, 2.0)]
    for i, other in enumerate(others):
        after = rows[:i] + rows[i + 1 :] + ([other] if relation == "substitute" else [])
        moved = np.array(totals.exact(totals.read(source(after))), dtype=float) - before
        loss = own.loss(SymmetricPoints(np.array([moved])))
        assert loss.epsilon <= plan.cost.epsilon or noise == "gaussian"
        assert loss.mu <= plan.terms.mechanism.loss.mu


@pytest.mark.grid
@each_pair
def test_answers_are_unbiased_with_the_covariance_that_is_said(question, noise, relation):
    """Of 400 releases: biases of half a deviation, and deviations 1.5 times theirs, are seen."""
    plan, source_of_bits = toy_plan(question, noise, relation), SimulationRandomness(5)
    mechanism, count = plan.terms.mechanism, 400
    records = mechanism.totals.read(source(rows_of_toys()))
    exact = mechanism.answers(mechanism.totals.exact(records))
    runs = [mechanism.run(records, randomness=source_of_bits) for _ in range(count)]
    off = np.array([mechanism.answers(run) for run in runs]) - exact
    covariance = plan.covariance
    deviations = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(off.mean(axis=0)) <= 6 * deviations / math.sqrt(count))
    # fourth moments of Laplace numbers: the variance of a product is at most 6 times the variances'
    unsure = 6 * math.sqrt(6 / count) * np.outer(deviations, deviations)
    assert np.all(np.abs(off.T @ off / count - covariance) <= unsure)


def test_the_question_from_outside_counts_as_it_says():
    totals = toy_plan("a question", "laplace", "substitute").terms.mechanism.totals
    rows = rows_of_toys()
    x = np.array([row["x"] for row in rows])
    found = totals.answers(totals.exact(totals.read(source(rows))))
    assert np.allclose(found, [np.sum(x > own) for own in THRESHOLDS.thresholds])
    assert plain(toy_plan("a question", "two_sided", "add_remove"))


def test_the_totals_from_outside_add_up_what_they_say():
    totals = toy_plan("totals", "laplace", "substitute").terms.mechanism.totals
    rows = rows_of_toys()
    angles = 2 * np.pi * np.nan_to_num([row["x"] for row in rows])
    found = totals.answers(totals.exact(totals.read(source(rows))))
    assert np.allclose(found, [np.cos(angles).sum(), np.sin(angles).sum()])


@pytest.mark.parametrize(("budget", "noises"), EVERY_NOISE)
def test_the_totals_from_outside_are_planned_with_every_noise_that_is_not_of_records(
    budget, noises
):
    """In a disc the norm of changes is the best of pure noise: √6/ε of a radius of 1."""
    plan = ln.plan(Directions("x"), budget=budget, relation="add_remove")
    available = {own.mechanism for own in plan.terms.alternatives if own.error is not None}
    assert available == noises
    known = [own.error for own in plan.terms.alternatives if own.mechanism == "k_norm"]
    assert known == [pytest.approx(math.sqrt(6) / 0.7, rel=1e-5)]
    kept(plan, plan.release(source(rows_of_toys())))


def test_the_totals_from_outside_hide_units_and_stand_beside_other_questions():
    rows = [{**row, "who": f"{i // 2}"} for i, row in enumerate(rows_of_toys())]
    table = ToySource({"x": "numbers", "y": "numbers", "who": "texts"}, rows)
    for relation in RELATIONS:
        plan = ln.plan(
            Directions("x"),
            budget=ln.zcdp(0.5),
            relation=relation,
            privacy_unit="who",
            rows_per_unit=2,
        )
        own = 2 if relation == "add_remove" else 4  # lengths of what two rows change
        assert plan.error == pytest.approx(own * math.sqrt(2), rel=1e-4)
        kept(plan, plan.release(pd.DataFrame(rows)))
    both = ln.together(
        {"directions": Directions("x"), "mean": ln.Mean(["y"], ln.Box([0], [2]))},
        budget=ln.zcdp(0.5),
        relation="add_remove",
    )
    assert set(both.release(table).releases) == {"directions", "mean"}


def plain(plan):
    """Return whether a plan of the same queries by a matrix is as good."""
    same = ln.Queries(THRESHOLDS.matrix, {"k": 4})
    budget, mechanism = NOISES_OF_TOYS["two_sided"]
    other = ln.plan(same, budget=budget, relation="add_remove", mechanism=mechanism)
    return plan.error == other.error and plan.lower_bound == other.lower_bound


def test_the_noise_from_outside_is_drawn_exactly():
    """Of 40,000 numbers of scale 2 the share of zeros: a scale 5% off is seen."""
    noise, count = TwoSidedNoise(np.full(40_000, 2.0)), 40_000
    drawn = np.array(noise.integers(SimulationRandomness(3)))
    ratio = math.exp(-0.5)
    for value in (0, 1, -1, 4):
        chance = (1 - ratio) / (1 + ratio) * ratio ** abs(value)
        unsure = 6 * math.sqrt(chance * (1 - chance) / count)
        assert abs(np.mean(drawn == value) - chance) <= unsure
    wrong = math.exp(-0.5 / 1.05)
    chance = (1 - wrong) / (1 + wrong)
    assert abs(np.mean(drawn == 0) - chance) > 3 * math.sqrt(chance / count)
    assert np.var(drawn) == pytest.approx(noise.covariance()[0], rel=0.08)


def test_the_noise_from_outside_which_has_no_multiples_stays_on_joint_groups():
    asked = ln.Sum(["x"], ln.Box([0], [1]), by={"a": 5, "b": 4}, way=1, outside="extra")
    plans = [
        ln.plan(asked, budget=ln.pure_dp(1), relation="add_remove", mechanism=own)
        for own in ("two_sided", "laplace")
    ]
    assert [len(own.terms.mechanism.noise.tables) for own in plans] == [1, 2]


def test_a_noise_that_says_so_is_fitted_where_a_plan_names_none(monkeypatch):
    asked = {"question": THRESHOLDS, "budget": ln.pure_dp(0.7), "relation": "add_remove"}
    without = ln.plan(**asked).terms.alternatives
    monkeypatch.setattr(TwoSidedNoise, "compared", True)
    plan = ln.plan(**asked)
    (own,) = set(plan.terms.alternatives) - set(without)
    named = ln.plan(**asked, mechanism="two_sided").terms
    assert (own.mechanism, own.note) == ("two_sided", TwoSidedNoise.note)
    assert (own.error, own.rho, own.mu) == (named.compared, named.cost.rho, named.cost.mu)
    assert ln.Plan.from_json(plan.to_json()).terms.alternatives == plan.terms.alternatives


OUTSIDE = """
[question]
kind = "above"
relation = "add_remove"
column = "x"
thresholds = [-1.0, 0.0, 2.5]
mechanism = "two_sided"

[budget]
kind = "pure_dp"
epsilon = 0.7
"""


LINE = "thresholds = [-1.0, 0.0, 2.5]\n"


def test_a_question_and_a_noise_from_outside_are_read_from_a_specification(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(OUTSIDE)
    plan = read_spec(path).plan()
    assert plan.to_json() == toy_plan("a question", "two_sided", "add_remove").to_json()
    (tmp_path / "angles.toml").write_text(OUTSIDE.replace("above", "directions").replace(LINE, ""))
    plan = read_spec(tmp_path / "angles.toml").plan()
    assert plan.to_json() == toy_plan("totals", "two_sided", "add_remove").to_json()
    edits = {
        "column = ": ("colum = ", "question.column: field required"),
        "2.5]": ("-2.5]", "do not rise"),
        "two_sided": ("two_sides", "question.mechanism: is no mechanism"),
        "add_remove": ("remove", "question.relation"),
        '"above"': ('"below"', "is no kind of question; give .*above"),
    }
    for old, (new, said) in edits.items():
        path.write_text(OUTSIDE.replace(old, new))
        with pytest.raises(SpecError, match=said):
            read_spec(path)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("evidence", "query_weights"), [1.0, 1.0], "is not 3 numbers"),
        (("question", "thresholds"), [2.0, 1.0], "do not rise"),
        (("question", "column"), None, "damaged|missing"),
        (("noise", "scales"), [-1.0, 1.0, 1.0], "noise.scales"),
        (("noise", "scales"), [1e-3] * 3, "too small"),
        (("mechanism",), "two_sides", "is unknown"),
        (("question", "kind"), "below", "is unknown"),
    ],
)
def test_forged_fields_of_what_is_from_outside_are_refused_in_one_line(path, value, said):
    noise = "gaussian" if "evidence" in path else "two_sided"
    fields = json.loads(toy_plan("a question", noise, "add_remove").to_json())
    refused_plan(sealed(put(fields, ("terms", *path), lambda _: value)), said)


def test_a_domain_from_outside_combines_with_others():
    pair = ln.product(Wedge(1.0), ln.Box([0], [2]))
    assert pair.support(np.array([1.0, 0.5, 1.0])) == pytest.approx(3.0)
    found = ln.theory.enclose(ln.hull(Wedge(1.0), ln.Ball(2, 0.25)))
    assert found.certificate.gap < 0.5
    assert ln.difference_body(Wedge(2.0)).support(np.array([1.0, -1.0])) == pytest.approx(4.0)
    assert domain_to_dict(domain_from_dict(domain_to_dict(pair))) == domain_to_dict(pair)


def test_every_kind_that_files_name_has_a_member_of_the_family():
    shown = {type(member.domain) for member in MEMBERS}
    shown |= {type(ln.difference_body(ln.Points([[0.0], [1.0]]))), Wedge}
    shown |= {MomentBox, MomentBall}  # of `ln.Moments` alone: test_moments, test_ball_moments
    assert set(DOMAINS.classes) <= shown


FAMILIES = {
    AbstractDomain: DOMAINS,
    AbstractUnitBall: UNIT_BALLS,
    AbstractShape: SHAPES,
    AbstractDual: EVIDENCE,
    AbstractNoise: NOISES,
    AbstractQuestion: QUESTIONS,
    AbstractStreamWorkload: WORKLOADS,
    AbstractPair: PAIRS,
}
OTHERWISE = {  # never in a file, or by the fields of what they belong to
    "Slab",
    "AbstractGrouped",  # whose two kinds have names
    "Running",  # of which a stream's document says the workload and the values
    "SelectedShape",
    "GaussianNoise",
    "PartialNoise",
    "ResidualNoise",
    "OrderedNoise",
    "ProductNoise",
    "CellNoise",  # on tables and parities, which have documents of their own
    "SignedNoise",
    "GroupNoise",
    "LatticeNoise",  # on streams, by its scale; what it is spaced by follows from their values
    "SteppedNoise",
    "JointNoise",  # on groups, by the noise of a mean
    "DiscreteCrossNoise",  # by the name of discrete_k_norm, of which it is the form with a count
    "DiscreteCubeNoise",  # likewise
    "ParityNoise",
    "ParityQueries",  # parities as linear queries, of which a plan keeps the answers alone
}


STANDS = {  # what a question names of a room above, and in which it stands
    "view": ("release", "streams"),
    "read": ("release",),
    "gaussian": ("planning",),
    "pure": ("planning",),
    "page": ("report",),
    "codec": ("release", "streams"),
}


@pytest.mark.parametrize("kind", [*QUESTIONS.classes, Running], ids=lambda kind: kind.__name__)
def test_a_question_names_its_parts_in_the_rooms_that_ask_for_them(kind):
    for name, rooms in STANDS.items():
        part = getattr(kind.parts, name)
        assert (part is None) == (kind is Running and name in ("read", "gaussian", "pure"))
        if part is not None:
            assert part.partition(".")[0] in rooms
            assert callable(resolved(part)) or isinstance(resolved(part), TermsCodec)


def below(cls):
    for one in cls.__subclasses__():
        yield one
        yield from below(one)


@pytest.mark.parametrize("above", FAMILIES, ids=lambda above: above.__name__)
def test_a_family_is_complete_where_its_package_is_read(above):
    """What no file names cannot be read: each class has a kind, without a list of modules."""
    ours = [own for own in below(above) if own.__module__.startswith("lownoise.")]
    made = {own for own in ours if not inspect.isabstract(own)}
    assert {own.__name__ for own in made - set(FAMILIES[above].classes)} <= OTHERWISE
    assert made & set(FAMILIES[above].classes)


DECLARES = re.compile(r"\b[A-Z_]{3,}\.kind\(")
READS = (
    "release.verification",
    "streams.codec",
    "streams.increments",
    "local_model.terms",
    "learning.learning_plan",
)


def test_what_reads_files_knows_every_kind_that_a_module_declares():
    """Its name in its room's `__init__`: else only the program that planned with it reads files."""
    folder = Path(ln.__file__).parent
    declaring = {
        ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if DECLARES.search(path.read_text())
    }
    assert len(declaring) > 30
    program = f"import sys, {', '.join(f'lownoise.{own}' for own in READS)}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert declaring <= set(found.stdout.split())


def test_an_unknown_kind_is_refused_with_those_that_are_known():
    for fields in ({"wedges": 3.0}, {}):
        with pytest.raises(FileError, match=r"no known kind; this version knows .*box.*hull"):
            domain_from_dict(fields)
    with pytest.raises(FileError, match=r"box\.upper is missing"):
        domain_from_dict({"lower": [0.0]})
    box = {"lower": [0.0], "upper": [1.0]}
    more = {"factor": [[1]], "shift": [0], "domain": box, "turn": 1}
    with pytest.raises(FileError, match=r"mapped\.turn is unknown"):
        domain_from_dict({"mapped": more})
    with pytest.raises(FileError, match="domain=Slab cannot be written"):
        domain_to_dict(ln.Slab([1.0], 0.0, 1.0))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *((word, "substitute") for word in ("substitute", "replace_one", "change_one", "bounded")),
        ("add_remove", "add_remove"),
        *((word, "add_remove") for word in ("add_remove_one", "add_or_remove_one", "unbounded")),
    ],
)
def test_relations_are_known_by_the_names_of_the_field_and_said_back_in_ours(given, said):
    plan = planned(ln.Box([0, 0], [1, 2]), given if said == "substitute" else said)
    assert checked_relation(given) == said == plan.terms.relation
    assert f'"{said}"' in plan.to_json()
    with pytest.raises(PlanError, match="relation='swap' is unknown; give one of substitute, add_"):
        checked_relation("swap")


def test_the_name_of_ours_is_not_taken_by_a_class_from_outside():
    """Else a file of Laplace noise would be judged by what a stranger says that it costs."""
    ours = NOISES["laplace"]
    with pytest.raises(FileError, match=r"kind of lownoise already.*another name"):
        NOISES.kind("laplace", "scales")(type("Cheap", (), {}))
    assert NOISES["laplace"] is ours

    def defined():
        return type("Square", (), {})

    shapes = Kinds("shape")
    again = [shapes.kind("square", "side")(defined()) for _ in range(2)]  # a module run again
    assert shapes["square"].of is again[1]
