# SPDX-License-Identifier: Apache-2.0
"""Every public object shows itself briefly: in a line or a few, and in a notebook."""

import functools
import re

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise import theory
from lownoise.numbers.readable import brief
from lownoise.questions.streams import LowerTriangular
from report.members import Reader, stream

RUDE = "<b>\x1b[31m\nname"
PLANE = np.array([[1.0, 0.5], [0.0, 1.0]])
MANY = ln.Box(np.zeros(3000), np.linspace(1, 2, 3000))
WIDE = np.eye(60)
TABLE = pd.DataFrame({"a": [0.0, 1.0, 0.5], "b": [0.0, 2.0, 1.0]})


def together():
    asked = {"a": ln.Mean(["a"], ln.Box([0], [2])), "<b>": ln.Moments(["a"], ln.Box([0], [2]))}
    return ln.together(asked, budget=ln.zcdp(0.5), relation="substitute", size=9)


def cube():
    return ln.Box([0, 0], [1, 2])


@functools.cache
def planned(budget=None, size=3):
    relation = "substitute" if size else "add_remove"
    question = ln.Mean(["a", "b"], cube())
    return ln.plan(question, budget=budget or ln.zcdp(0.5), relation=relation, size=size)


@functools.cache
def released():
    return planned().release(TABLE)


@functools.cache
def devices():
    return ln.local(ln.Mean([RUDE, "b"], cube()), ln.local_dp(1.0))


@functools.cache
def learned():
    asked = {"features": 2, "records": 3, "clip": 1.0, "radius": 1.0, "budget": ln.zcdp(0.5)}
    return ln.learning.plan(ln.learning.Huber(1.0), **asked).fit(np.eye(3, 2), [0.0, 1.0, 0.5])


def ledger(folder):
    made = ln.Ledger.create(folder / "l", "<b>town", ln.zcdp(1))
    made.charge(ln.zcdp(0.25), RUDE)
    return made


# of each public name what it is, or what it returns; every one of them is here
SHOWN = {
    "Plan": lambda _: [planned(), planned(ln.pure_dp(1.0)), planned(size=None)],
    "plan": lambda _: [planned().terms, planned().cost, planned(ln.pure_dp(1.0)).cost],
    "Release": lambda _: [released(), released().terms, released().terms.certificate],
    "StreamPlan": lambda _: [stream(ln.Prefix(365))],
    "stream": lambda _: [ln.stream(ln.Prefix(10), budget=ln.zcdp(0.5)).terms],
    "Stream": lambda _: [ln.stream(ln.Prefix(10), budget=ln.zcdp(0.5))],
    "Table": lambda _: [ln.Table("t.csv", separator=";"), ln.Table(["1.csv"] * 1000)],
    "verify": lambda _: [v := ln.verify(planned().to_json()), v.checks[0], v.checks[-1]],
    "LocalPlan": lambda _: [devices(), ln.local(ln.Ball(50), ln.local_dp(1))],
    "local": lambda _: [
        (own := devices()).aggregate(own.randomize_all([[0, 1]] * 9)),
        *own.comparison,
        own.terms,
        own.terms.loss,
        own.randomize([0.5, 1]),
    ],
    "local_dp": lambda _: [ln.local_dp(1), ln.local_dp(1, 1e-6)],
    "Ledger": lambda folder: [(own := ledger(folder)), *own.entries()],
    "Aside": lambda _: [ln.Aside(delta=1e-7)],
    "Caps": lambda _: [ln.Caps(1.0, 1e-6, 0.5)],
    "approx_dp": lambda _: [ln.approx_dp(1, 1e-6)],
    "gaussian_dp": lambda _: [ln.gaussian_dp(1)],
    "pure_dp": lambda _: [ln.pure_dp(1)],
    "zcdp": lambda _: [ln.zcdp(1 / 3)],
    "Count": lambda _: [ln.Count({RUDE: 2, "b": ["x", "y"]})],
    "Distribution": lambda _: [ln.Distribution("x", [0, 1], by={RUDE: 2})],
    "Histogram": lambda _: [ln.Histogram(RUDE, ["a", "b"])],
    "budget_for": lambda _: [
        ln.budget_for(
            ln.Mean(["a", "b"], cube()), like=ln.zcdp(1), error=1, relation="substitute", size=9
        )
    ],
    "size_for": lambda _: [],  # a whole number
    "convert": lambda _: [ln.convert(ln.zcdp(0.1), "approx_dp", delta=1e-6)],
    "Mean": lambda _: [
        ln.Mean([RUDE], ln.Box([0], [1])),
        ln.Mean([f"column {k}" for k in range(3000)], MANY),
    ],
    "together": lambda _: [together()["a"]],
    "JointPlan": lambda _: [together()],
    "JointRelease": lambda _: [together().release(pd.DataFrame({"a": [1.0] * 9}))],
    "Moments": lambda _: [ln.Moments([RUDE, "b"], cube())],
    "Sum": lambda _: [ln.Sum([RUDE, "b"], cube())],
    "Queries": lambda _: [
        (own := ln.Queries(WIDE, {"x": 60})),
        own.universe,
        ln.Queries(np.eye(2), [[0, RUDE], [1, "y"]], columns=["age", "sex"]),
    ],
    "Parity": lambda _: [ln.Parity([RUDE * 20, *map(str, range(80))], [1, 3])],
    "Marginals": lambda _: [
        ln.Marginals({f"x{k}": [RUDE, "y"] for k in range(100)}, way=2),
        ln.Marginals({"a": 3, "b": 2}, sets=[["a"], ["a", "b"]], weights=[1, 2]),
    ],
    "Prefix": lambda _: [ln.Prefix(10**6)],
    "SlidingWindow": lambda _: [ln.SlidingWindow(100, 7)],
    "Decayed": lambda _: [ln.Decayed(100, 0.5), LowerTriangular(np.tril(np.ones((90, 90))))],
    "Momentum": lambda _: [ln.Momentum(100, 0.5)],
    "learning": lambda _: [
        learned(),
        learned().plan,
        learned().regret_bound,
        learned().evaluate(np.eye(3, 2), [0.0, 1.0, 0.5]),
        ln.learning.ElasticNet(0.5, 1.0),
        ln.learning.Logistic(),
    ],
    "Box": lambda _: [cube(), MANY],
    "Ball": lambda _: [ln.Ball(50, radius=2.0), ln.Ball(2, order=1.0)],
    "Ellipsoid": lambda _: [ln.Ellipsoid(PLANE), ln.Ellipsoid(WIDE)],
    "KyFanBall": lambda _: [ln.KyFanBall(3, 4, 2)],
    "OperatorNormBall": lambda _: [ln.OperatorNormBall(3, 4)],
    "Oracle": lambda _: [ln.Oracle(2, lambda *_: None, half_widths=[1, 1])],
    "OrderedBall": lambda _: [ln.OrderedBall(np.arange(60.0, 0, -1))],
    "Grid": lambda _: [ln.Grid([0], [1], 0.1), ln.Grid([0, 0], [1, 100], [0.1, 1])],
    "Points": lambda _: [ln.Points(np.eye(3)), ln.Points(np.eye(300))],
    "SchattenBall": lambda _: [ln.SchattenBall(3, 4, order=1.0)],
    "Slab": lambda _: [ln.Slab([1.0, 1.0], 0.0, 1.0)],
    "TensorPower": lambda _: [ln.TensorPower(3, 2)],
    "TopBall": lambda _: [ln.TopBall(30, 4)],
    "UnitarilyInvariantBall": lambda _: [ln.UnitarilyInvariantBall(3, 3, ln.Ball(3))],
    "Zonotope": lambda _: [ln.Zonotope(WIDE)],
    "difference_body": lambda _: [ln.difference_body(cube()), ln.difference_body(MANY)],
    "hull": lambda _: [ln.hull(cube(), ln.Ball(2)), ln.hull(ln.Points(WIDE))],
    "image": lambda _: [ln.image(PLANE, cube())],
    "intersection": lambda _: [ln.intersection(cube(), ln.Ball(2))],
    "kronecker": lambda _: [ln.kronecker(ln.Ball(2), ln.Ball(3))],
    "minkowski_sum": lambda _: [ln.minkowski_sum(cube(), ln.Ball(2))],
    "product": lambda _: [ln.product(cube(), MANY)],
    "projection": lambda _: [ln.projection(cube(), [0])],
    "Enclosure": lambda _: [theory.enclose(cube()), theory.enclose(MANY)],
    "Factorization": lambda _: [theory.factorize(np.tril(np.ones((60, 60))))],
    "Farthest": lambda _: [theory.farthest(cube(), PLANE)],
    "FiniteProblem": lambda _: [problem()],
    "ExactOn": lambda _: [theory.exact_on(np.eye(60, 2), delta=1e-6)],
    "Audit": lambda _: [theory.audit(np.eye(2), cube(), ln.zcdp(0.5), size=9)],
    "Direction": lambda _: [theory.audit(np.eye(2), cube(), ln.zcdp(0.5), size=9).wasteful],
    "IsotropicPosition": lambda _: [theory.isotropic(cube())],
    "SmoothNoise": lambda _: [
        theory.smooth_noise(np.arange(9.0)[:, None], np.ones((9, 9)) - np.eye(9), ln.pure_dp(1))
    ],
    "ConvexEnclosure": lambda _: [theory.enclose_convex(cube(), theory.power_error())],
    "Bound": lambda _: [row.bound for row in compared().rows],
    "Compared": lambda _: compared().rows,
    "Comparison": lambda _: [compared()],
    "OptimalMechanism": lambda _: [
        theory.optimal_mechanism(problem().distances, problem().errors, epsilon=1.0)
    ],
}
# functions that return what has a name of its own, and what is no object
RETURN = {
    "enclose_convex",
    "largest_error",
    "power_error",
    "variance_bound",
    "isotropic",
    "k_norm_bound",
    "least_isotropic_constant",
    "most_isotropic_constant",
    "projection_bound",
    "section_bounds",
    "smooth_noise",
    "volume_bound",
    "counting_bound",
    "factorization_error",
    "parity_bound",
    "prefix_trace_norm",
    "trace_norm_lower",
    "trace_norm_upper",
    "workload_bound",
    "worst_table_bound",
    "audit",
    "compare_unbiased",
    "enclose",
    "factorize",
    "farthest",
    "finite_problem",
    "exact_on",
    "gamma_down",
    "approximate_bound",
    "concentrated_bound",
    "distributional_bound",
    "gaussian_bound",
    "local_bound",
    "lower_bound",
    "pure_bound",
    "optimal_mechanism",
}
# a bar is drawn, and is no value
NONE = {"device", "errors", "theory", "ProgressBar", "ReadingNotice", "__version__"}


TRIANGLE = ln.Points([[0, 0], [1, 0], [0, 1]])
FAR = ln.Ball(2, 0.5, center=[2, 0])
DOMAINS = {
    "Box": [(cube(), "Box([0, 0], [1, 2])"), (MANY, "Box(3,000 columns, from 0 to 2)")],
    "Grid": [(ln.Grid([0], [1], 0.1), "Points(11 points, 1 column, from 0 to 1)")],
    "Points": [(TRIANGLE, "Points(3 points, 2 columns, from 0 to 1)")],
    "Ball": [(ln.Ball(3, radius=2), "Image(3 columns, from -2 to 2)")],
    "Slab": [(ln.Slab([1, 1], -1e7, 6), "Slab([1, 1], from -1e+07 to 6)")],
    "TensorPower": [
        (ln.TensorPower(3, 2), "TensorPower(3, 2, 'cube', radius=1)"),
        (ln.TensorPower(3, 2, "ball"), "TensorPower(3, 2, 'ball', radius=1)"),
    ],
    "difference_body": [
        (ln.difference_body(TRIANGLE), f"difference_body({TRIANGLE!r})"),
        (ln.difference_body(cube()), "Box([-1, -2], [1, 2])"),
    ],
    "Oracle": [
        (
            ln.Oracle(2, lambda *_: None, half_widths=[1, 1], name="<b>" * 90),
            f"Oracle({brief('<b>' * 90)}, 2 columns, from -1 to 1)",
        )
    ],
    "hull": [
        (ln.hull(TRIANGLE), "Polytope(3 points, 2 columns, from 0 to 1)"),
        (ln.hull(ln.Ball(2), FAR), "Hull(2 columns, from -1 to 3)"),
    ],
    "product": [(ln.product(ln.hull(TRIANGLE), FAR), "Product(4 columns, from -0.5 to 2.5)")],
    "minkowski_sum": [(ln.minkowski_sum(TRIANGLE, FAR), "Mapped(2 columns, from ")],
    "intersection": [(ln.intersection(cube(), ln.Slab([1, 1], 0, 1)), "Intersection(2 columns, ")],
}


@pytest.mark.parametrize("name", DOMAINS)
def test_a_domain_shows_itself_in_a_line_and_as_a_table_of_its_columns(name):
    for own, said in DOMAINS[name]:
        assert repr(own).startswith(said)
        assert len(repr(own).splitlines()) == 1
        assert len(repr(own)) <= 100
        page = Reader(own._repr_html_())
        assert page.open == []
        assert "b" not in page.tags
        assert repr(own) in "".join(page.words)


def compared():
    bits = ln.Points([[0], [1]])
    return theory.compare_unbiased(bits, [[0.0], [1.0]], budget=ln.approx_dp(1, 1e-6))


def problem():
    return theory.finite_problem(np.ones((1, 3)), size=4)


def test_every_public_name_is_looked_at():
    assert {*SHOWN, *RETURN, *NONE} == {*ln.__all__, *theory.__all__}


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("name", SHOWN)
def test_an_object_shows_itself_in_a_few_lines_and_as_html(name, tmp_path):
    for own in SHOWN[name](tmp_path):
        said = repr(own)
        lines = said.splitlines()
        assert type(own).__name__ in lines[0] or lines[0].partition("(")[0] in ln.__all__
        assert len(lines) <= 12
        assert max(map(len, lines)) <= 100
        assert not re.search(r"array\(|\b0x[0-9a-f]{6}|PosixPath|[\x00-\x09\x0b-\x1f]", said)
        page = Reader(own._repr_html_())
        assert page.open == []
        assert page.fetched == []
        assert "b" not in page.tags
        assert "".join(page.words).strip()


def test_a_number_is_shown_as_it_is_and_many_by_their_range():
    assert repr(ln.zcdp(1 / 3)) == "Zcdp(rho=0.3333333333333333)"
    assert brief(np.array([1.0, 0.5, -2e-9])) == "[1, 0.5, -2e-09]"
    assert brief(np.arange(10.0)) == "10 numbers from 0 to 9"
    assert brief(np.zeros((0, 3))) == "0 × 3 numbers"
    assert brief([[1.0, 2.0], [3.0]]) == "[[1.0, 2.0], [3.0]]"


@pytest.mark.parametrize(("categories", "shown"), [(5, 5), (6, 6), (7, 7), (8, 6), (9, 6)])
def test_a_row_is_not_hidden_for_a_line_that_says_so(categories, shown):
    """In print and in notebooks; what is hidden is counted in rows of the table."""
    asked = {"budget": ln.zcdp(0.5), "relation": "add_remove"}
    plan = ln.plan(ln.Count({"town": categories}), **asked)
    own = plan.release(pd.DataFrame({"town": [0, 1, 1]}))
    page = "".join(Reader(own._repr_html_()).words)
    left = categories - shown
    for said in (str(own), page):
        assert ("more rows of this table" in said.replace("\n", " ")) == (left > 0)
        assert not left or f"{left} more rows" in said
    rows = re.findall(r"^ (\d) .*\d\.\d", str(own), re.MULTILINE)
    assert rows == [str(k) for k in range(shown)]
