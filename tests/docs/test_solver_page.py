# SPDX-License-Identifier: Apache-2.0
"""The bounds and gains that docs/solver.md states are what the solver finds now."""

import math

import pytest
from benchmarks import solver
from pages import natural_domains
from pages import solver as solver_page

TEXT = solver_page.PAGE.read_text(encoding="utf-8")
RTOL = 1e-6  # what the page was solved to
CASES = solver_page.cases()


def stated(part):
    lines = solver_page.part(TEXT, part).split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_page_has_all_cases_and_domains():
    orders = [solver_page.order_name(p) for p in solver_page.CASE_ORDERS]
    named = [row[:2] for row in stated("cases")]
    assert named == [[case.name, p] for case in CASES for p in orders]
    assert [row[0] for row in stated("gains")] == [d.name for d in natural_domains.DOMAINS]
    assert [row[0] for row in stated("targets")] == [row.title for row in solver.ROWS]


@pytest.mark.grid(3)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_bounds_are_as_stated(case):
    """Both brackets hold one number, so they overlap; and neither is wider than it says."""
    for row in stated("cases"):
        if row[0] != case.name:
            continue
        order = math.inf if row[1] == "∞" else float(row[1])
        low, high = float(row[2]), float(row[3])
        certificate = case.solve(order).certificate.verify()
        assert certificate.gap <= RTOL
        assert low <= certificate.upper
        assert certificate.lower <= high
        assert high / low - 1 <= RTOL + 3e-7  # eight digits, rounded outward


@pytest.mark.grid(least=5)
@pytest.mark.parametrize("domain", natural_domains.DOMAINS, ids=lambda d: d.name)
def test_gains_are_as_stated(domain):
    row = next(row for row in stated("gains") if row[0] == domain.name)
    assert row[1:3] == [str(n) for n in domain.points.shape]
    assert float(row[-1]) == pytest.approx(domain.most, abs=0.6e-4)
    for cell, order in zip(row[3:-1], natural_domains.ORDERS, strict=True):
        gain = domain.gain(order)
        assert float(cell) == pytest.approx(gain, abs=0.6e-4)
        assert 1 - RTOL <= gain <= domain.most * (1 + RTOL)


def test_every_prefix_row_holds_its_published_value():
    for row in stated("targets"):
        wanted = next(r for r in solver.ROWS if r.title == row[0])
        if wanted.value is not None:
            assert float(row[5]) == pytest.approx(float(wanted.value), rel=2 * wanted.gap)


def test_outward_rounds_away():
    assert solver_page.outward(1.23456789012, -1) == "1.2345678"
    assert solver_page.outward(1.23456789012, 1) == "1.2345679"
    assert float(solver_page.outward(2353285398982.7, 1)) >= 2353285398982.7
