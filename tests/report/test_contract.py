# SPDX-License-Identifier: Apache-2.0
"""One contract for the report of everything: both renderers, literal names, the terms' numbers."""

import itertools
import re
import sys
import unicodedata

import numpy as np
import pytest

import lownoise as ln
from lownoise import report
from lownoise.errors import PlanError, QuestionError
from lownoise.questions.streams import Running
from lownoise.report.parts import Chart, Estimate, Figures, Section, Table
from lownoise.sensitivity.orders import answer_count
from lownoise.sets.domains import MomentBox
from lownoise.theory.enclosure import enclose
from report.members import (
    KINDS,
    MEMBERS,
    RELEASED,
    RUDE,
    STREAMS,
    Reader,
    mean,
    plan,
    release,
    subject,
    words,
)

NUMBER = re.compile(r"([−-]?(?:\d|(?<!\w)\.(?=\d))[\d,]*(?:\.\d+)?)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?([%×]?)")
SPELT = ("Budget", "Mechanism", "Strategy")  # words, and what the user typed
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
each = pytest.mark.parametrize(("name", "kind"), KINDS)


def records(tmp_path):
    ledger = ln.Ledger.create(tmp_path / "l", RUDE[0], ln.zcdp(1))
    ledger.charge(ln.zcdp(0.25), RUDE[0])
    return ledger, plan("means").verify(), enclose(ln.Box([-1, 0], [1, 2]))


def check_page(text):
    page = Reader(text)
    assert page.open == []
    assert page.fetched == []
    assert not {"script", "link", "iframe", "img", "object", "foreignObject"} & page.tags
    assert "@import" not in text
    assert "://" not in text
    assert "url(" not in text
    assert len(page.ids) == len(set(page.ids))
    assert set(page.targets) <= set(page.ids)
    said = "".join(page.words)
    assert "\x1b" not in said
    assert "nan" not in re.findall(r"[a-z]+", said)
    return said


@pytest.mark.grid(least=3)
@each
def test_a_page_is_whole_and_fetches_nothing(name, kind):
    found = report.sections(subject(name, kind))
    text = report.render_html(found)
    said = check_page(text)
    assert text.startswith("<!doctype html>")
    assert len(text) < 700_000
    assert text == report.render_html(report.sections(subject(name, kind)))
    assert check_page(report.render_html(found, whole=False))
    terms = subject(name, kind).terms
    assert all(line in said for line in terms.assumptions)
    assert ("Nothing was recorded" in said) == (kind == "release")
    assert ("A plan spends nothing" in said) == (kind == "plan")
    assert ("nothing to compare" in said) == ("no noise" in name)
    if kind == "plan":
        assert text == report.render_html(report.sections(terms))


@pytest.mark.grid(least=3)
@each
@pytest.mark.parametrize("width", [40, 80])
def test_a_terminal_shows_it_within_its_width(name, kind, width):
    text = report.render_text(report.sections(subject(name, kind)), width=width)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    for line in text.splitlines():
        assert sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line) <= width
    assert "nan" not in re.findall(r"[a-z]+", text)
    labels = ["error", "lower bound", "guarantee" if name.startswith("pure") else "cost"]
    labels += ["mechanism" if name.startswith("pure") else "certificate"]
    labels += ["ledger"] * (kind == "release")
    assert all(re.search(rf"^{label} ", text, re.MULTILINE) for label in labels)
    payers = "reading basic, caps or aside" if "radial" in name else "reading gaussian, zcdp"
    assert payers in " ".join(text.split())
    assert ("falls in steps" in " ".join(text.split())) == ("radial" in name)
    assert "by a walk" not in text
    assert "\x1b[1m" in report.render_text(report.sections(subject(name, kind)), styled=True)


def numbers_in(text):
    """Yield each number of a text with half of what its last digit is worth."""
    for digits, power, unit in NUMBER.findall(text):
        plain = digits.replace(",", "").replace("−", "-")
        scale = 10.0 ** int(power.translate(RAISED) or 0) / (100 if unit == "%" else 1)
        places = len(plain.partition(".")[2]) or len(plain.rstrip("0")) - len(plain)
        yield float(plain) * scale, 10.0**-places * scale


def of_marginals(terms):
    """Return the noises of all cells, and numbers of single marginals."""
    question, found = terms.question, []
    noises = {"own": [], "isotropic": [], "histogram": []}
    sets = [question.names(s) for s in question.sets()]
    for names in sets:
        public = terms.size is not None and not names
        places = question.index(names)
        chosen = [question.attributes[i] for i in places]
        many = np.prod([answer_count(a.ordered, a.size) for a in chosen], dtype=int)
        deviations = terms.standard_deviation(*names, answers=True)
        cells = np.broadcast_to(np.ravel(deviations), (many,))
        noises["own"].append(cells)
        others = (0.0, 0.0) if public else (terms.isotropic, terms.histogram(places))
        for name, other in zip(("isotropic", "histogram"), others, strict=True):
            noises[name].append(np.full(many, other))
        found += [float(np.sqrt(np.mean(cells**2))), float(cells.max()), many, *others]
    found += [question.cells, question.count, *range(len(sets))]
    return {name: np.concatenate(own) for name, own in noises.items()}, found


def of_rows(terms):
    """Return the noises of answers that stand in a row."""
    noises = {"own": terms.standard_deviation}
    compared = ("isotropic", "laplace" if isinstance(terms.question, ln.Mean) else "histogram")
    for other in compared:
        if terms.gaussian:
            noises[other] = np.broadcast_to(getattr(terms, other), noises["own"].shape)
    if "histogram" in noises:
        noises["isotropic"] = np.where(noises["own"] > 0, noises["isotropic"], 0.0)
    return noises, []


def of_rounds(terms):
    """Return the deviations of all rounds."""
    rounds = terms.question.workload.rounds
    deviations = np.ravel(terms.view.deviations(0, rounds)).tolist()
    return {}, [*deviations, *range(1, rounds + 1)]


def of_anything(terms):
    """Return the bounds and costs that all terms have, and the numbers of the question."""
    question = terms.question
    error = terms.error
    found = [terms.lower_bound, terms.certificate.upper, terms.certificate.lower, error, 0.0]
    found += [terms.certificate.gap, error / terms.lower_bound if terms.lower_bound else 0.0]
    found += [getattr(terms.cost, key) or 0.0 for key in ("mu", "rho", "epsilon", "delta")]
    if isinstance(question, Running):
        return found
    if isinstance(question, ln.Mean):
        read = question.domain.source
        for point in (read.lower, read.upper, question.center, question.missing):
            found += point.tolist()
    else:
        known = question if hasattr(question, "attributes") else question.universe
        found += [a.size for a in known.attributes]
    if hasattr(terms, "alternatives"):
        for own in terms.alternatives:
            found += [number for number in (own.error, own.rho, own.mu) if number is not None]
    return found


def reachable(terms, released):
    """Return every number that a report may state: of the terms, of the release, and ratios."""
    of = of_marginals if isinstance(terms.question, ln.Marginals) else of_rows
    noises, found = (of_rounds if isinstance(terms.question, Running) else of)(terms)
    found = [*found, *of_anything(terms)]
    for noise in noises.values():
        found += [*noise.tolist(), float(np.sqrt(np.mean(noise**2)))]
        for p in (2, np.inf):
            own, other = (np.linalg.norm(n, p) for n in (noises["own"], noise))
            found += [other / own, (other / own) ** 2] if own else []
    if released is not None:
        table = report.to_pandas(released)
        found += np.ravel(table.select_dtypes("number")).tolist()
        if isinstance(terms.question, ln.Marginals) and terms.question.ordered:
            own = [released.quantile(q) for q in (0.1, 0.25, 0.5, 0.75, 0.9)]
            own += [
                released.quantile(q.q, where={"sex": sex}) for q in own for sex in (0, 1, "(other)")
            ]
            found += [number for q in own for number in (q.value, q.lower, q.upper)]
        if isinstance(terms.question, ln.Mean):
            found += [*released.mean.tolist(), *np.ravel(released.mean_interval()).tolist()]
        if isinstance(getattr(terms.question, "domain", None), MomentBox):
            own = released.moments
            tables = (own.covariance, own.correlation)
            ends = (own.covariance_interval(), own.correlation_interval())
            found += [number for table in (*tables, *ends) for number in np.ravel(table).tolist()]
    every = np.array(found, float)
    return np.unique(every[~np.isnan(every)])  # a quantile of no rows is none


def stated(found):
    """Yield the texts of numeric cells and figures."""
    for part in itertools.chain.from_iterable(s.parts for s in found):
        if isinstance(part, Figures) and part.large:
            yield from (said for what, said in part.rows if what not in SPELT)
        if isinstance(part, Table):
            for row in part.rows:
                for cell, column in zip(row, part.columns, strict=True):
                    if isinstance(cell, Estimate):
                        yield from cell.ends()
                    elif column.kind in ("value", "other"):
                        yield cell


@pytest.mark.grid(least=3)
@pytest.mark.parametrize(
    ("name", "kind"), [k for k in KINDS if k[0] not in ("many attributes", "many means")]
)
def test_every_number_is_found_in_the_terms(name, kind):
    """A number stands as one of the terms' rounded up, down or to nearest, or an order of p."""
    known = np.unique(
        reachable(subject(name, kind).terms, None if kind == "plan" else release(name))
    )
    for text in stated(report.sections(subject(name, kind))):
        for value, unit in numbers_in(text):
            assert np.min(np.abs(known - value)) <= unit * 1.01, (text, value)


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", ["plan", "release"])
@pytest.mark.parametrize("name", [name for name in MEMBERS if "rude" in name])
def test_what_users_wrote_is_literal_and_controls_are_made_visible(name, kind):
    text = report.render_html(report.sections(subject(name, kind)))
    assert "<script" not in text
    said = words(text)
    names = RUDE[:1] if name == "queries, rude" else RUDE[:3]
    assert all(said.count(own) >= 1 + (kind == "release") for own in names), names
    assert ("line�break�[31m" in said) == (name != "queries, rude")


def test_everything_else_has_the_same_two_renderers(tmp_path):
    made = [report.sections(own) for own in records(tmp_path)]
    for found in made:
        said = check_page(report.render_html(found))
        assert found[0].title in said
        assert "\x1b" not in report.render_text(found)
    account, checks, ellipsoid = made
    empty = ln.Ledger.create(tmp_path / "m", "town", ln.zcdp(1))
    assert "Nothing was spent yet." in report.render_text(report.sections(empty))
    assert f"{RUDE[0]}: spent 0.25-zCDP of 1-zCDP" in words(report.render_html(account))
    assert "Everything holds." in report.render_text(checks)
    assert "DOES NOT HOLD" not in report.render_text(checks)
    text = report.render_text(report.sections(enclose(ln.Box([-1, 0], [1, 2])), names=["<b>", "y"]))
    assert re.search(r"<b>\s+0\s+1.41421\n y\s+1.00000\s+1.41421", text)
    assert "At most 2.00000000; at least 2.00000000, in the unit of the answers" in " ".join(
        text.split()
    )
    assert ellipsoid[1].parts[0].rows[0][0] == "x0"


def test_what_is_neither_has_no_report():
    for wrong in (3, None, "plan"):
        with pytest.raises(PlanError, match=r"has no page; .*of several questions one of theirs"):
            report.sections(wrong)
        for render in (report.render_html, report.render_text):
            with pytest.raises(PlanError, match=r"is no report; give report\.sections\(release\)"):
                render(wrong)


@pytest.mark.grid
@pytest.mark.parametrize("name", RELEASED)
def test_an_answer_is_chosen_where_there_are_answers(name):
    """Linear queries by their places, marginals by their names, and nothing else by anything."""
    question = plan(name).terms.question
    linear, marginals = (
        isinstance(question, ln.Queries | ln.Parity),
        isinstance(question, ln.Marginals),
    )
    if not linear:
        with pytest.raises(PlanError, match="is for a release of linear queries"):
            report.sections(release(name), answers=[0])
    if not marginals:
        with pytest.raises(PlanError, match="is for a release of marginals"):
            report.sections(release(name), marginal=["a"])
    for chosen in ({"answers": [0]}, {"marginal": []}):
        with pytest.raises(PlanError, match="is for a release of"):
            report.sections(plan(name), **chosen)
    for wrong in ([10**6], [-1], [True], [0.5]) if linear else ():
        with pytest.raises(QuestionError, match="no place of an answer"):
            report.sections(release(name), answers=wrong)
    if marginals:
        with pytest.raises(QuestionError, match="no attribute"):
            report.sections(release(name), marginal=["nowhere"])
    with pytest.raises(PlanError, match="level"):
        report.sections(release(name), level=1.5)


def test_a_recorded_release_names_its_entry(tmp_path):
    from report.members import released

    ledger = ln.Ledger.create(tmp_path / "l", "town <b>", ln.zcdp(1))
    found = report.sections(released(mean(["a"], budget=ln.zcdp(0.5)), ledger))
    page = report.render_html(found)
    assert "Nothing was recorded" not in page
    assert "Entry 1 in the account of “town &lt;b&gt;”" in page
    assert "1 mean of town <b> (40 rows)" in report.render_text(found)


@pytest.mark.grid(least=3)
@each
def test_plans_and_releases_show_themselves_briefly(name, kind):
    """In a line, printed, in a notebook, as a table; never as what they are made of."""
    own = subject(name, kind)
    line, printed = repr(own), str(own)
    assert re.fullmatch(r"<\w+: .*; error (at most )?\S+>", line)
    assert line.startswith(f"<{type(own).__name__}: ")
    assert len(line) <= 120
    found = report.sections(own)
    assert printed.splitlines()[0] == report.render_text(found).splitlines()[0]
    said = " ".join(printed.split())
    assert "error in root mean square is" in said
    # error, certificate and bound name their units
    units = "(rows|the columns’ units( times their weights)?)"
    assert re.search(rf"error in root mean square is [^;]*, in {units}\.", said)
    assert "in the unit of" in said or "pure" in name or "no noise" in name
    assert said.count("the bound, both in") == len(re.findall(r"(?:times|×) the bound", said))
    assert len(printed.splitlines()) <= 72
    assert "array" not in line + printed
    said = check_page(2 * own._repr_html_())  # of two cells of one notebook
    assert "<main" not in own._repr_html_()
    assert found[0].title in said
    assert len(own._repr_html_()) < 60_000
    if kind == "plan" and isinstance(own.terms.question, ln.Marginals):
        with pytest.raises(PlanError, match="no single table"):
            own.to_pandas()
        return
    table = own.to_pandas()
    if name in STREAMS:
        deviations = own.terms.view.deviations()
        assert table["round"].tolist() == list(range(1, len(deviations) + 1))
        assert np.array_equal(table.drop(columns="round"), deviations)
        return
    if not isinstance(own.terms.question, ln.Marginals):  # means of a private count come first
        expected = own.terms.standard_deviation
        table = table[-expected.size :]
        assert np.array_equal(table["standard_deviation"], expected)
    assert table["standard_deviation"].notna().all()


def test_a_table_without_pandas_is_refused_in_a_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PlanError, match="pandas is not installed; run `pip install pandas`"):
        plan("means").to_pandas()


def test_a_table_of_any_marginal():
    own = release("pairs")
    assert list(own.to_pandas("town", "age"))[:3] == ["town", "age", "count"]
    narrow = own.to_pandas("age", level=0.5)
    assert np.array_equal(narrow["low"], own.interval("age", level=0.5)[0])


def test_sections_have_names_of_their_own_and_charts_have_words():
    for name, kind in KINDS:
        found = report.sections(subject(name, kind))
        assert all(isinstance(section, Section) for section in found)
        assert len({section.name for section in found}) == len(found)
        for part in itertools.chain.from_iterable(s.parts for s in found):
            if isinstance(part, Chart):
                assert all("<title" in d and "<desc" in d and 'role="img"' in d for d in part.drawn)


def test_the_names_of_version_0_1_warn_and_name_the_new_ones():
    asks = {
        "html": lambda old: old(plan("means")),
        "plan_table": lambda old: old(plan("means").terms),
        "release_table": lambda old: old(release("means")),
        "marginal_table": lambda old: old(release("pairs"), ["age"]),
        "marginal_csv": lambda old: old(release("pairs"), ["age"]),
        "cell_rows": lambda old: list(old(release("pairs"), ["age"], 0.9)),
        "checks_table": lambda old: old(plan("means").verify()),
        "enclosure_table": lambda old: old(["x"], enclose(ln.Box([0], [1]))),
        "enclosure_dict": lambda old: old(["x"], enclose(ln.Box([0], [1]))),
    }
    for name, ask in asks.items():
        with pytest.warns(DeprecationWarning, match=f"report.{name} goes in the next version; use"):
            assert ask(getattr(report, name))
    with pytest.raises(AttributeError):
        report.nothing  # noqa: B018
