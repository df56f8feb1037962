# SPDX-License-Identifier: Apache-2.0
"""A kind from outside the package goes the whole way, and all that names kinds follows."""

import numpy as np
import pandas as pd
import pytest
from tests.toys import Wedge

import lownoise as ln
from cases import MEMBERS
from lownoise import report
from lownoise.errors import FileError, PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.execution import execute
from lownoise.sensitivity.relations import RELATIONS, checked_relation
from lownoise.sets.domains import DOMAINS
from lownoise.sets.domains.encoding import domain_from_dict, domain_to_dict
from lownoise.spec.declared import declared_domain, kinds
from lownoise.spec.files import read_spec

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
    return ln.plan(question, budget=ln.zcdp(0.5), relation=relation, size=size)


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
    assert set(DOMAINS.classes) <= shown


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
