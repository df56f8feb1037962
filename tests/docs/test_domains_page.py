# SPDX-License-Identifier: Apache-2.0
"""The bounds and savings that docs/domains.md states are what comes out now."""

import math

import numpy as np
import pytest
from pages import domains as domains_page
from pages import gallery, users_domains
from pages import solver as solver_page

import lownoise as ln

TEXT = domains_page.PAGE.read_text(encoding="utf-8")


def stated(part):
    lines = solver_page.part(TEXT, part).splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_the_page_has_all_members_and_domains():
    assert [row[0].strip("`") for row in stated("gallery")] == [m.code for m in gallery.MEMBERS]
    assert [row[:2] for row in stated("saved")] == [
        [d.name, f"`{d.code}`"] for d in users_domains.DOMAINS
    ]


@pytest.mark.grid(1, least=4)
@pytest.mark.parametrize("member", gallery.MEMBERS, ids=lambda m: m.name)
def test_bounds_are_as_stated_and_ellipses_cover(member):
    row = next(row for row in stated("gallery") if row[0] == f"`{member.code}`")
    for order, low, high in ((2.0, *row[1:3]), (math.inf, *row[3:5])):
        found = ln.theory.enclose(member.domain, order=order)
        assert float(low) <= found.certificate.upper
        assert found.certificate.lower <= float(high)
        assert float(high) / float(low) - 1 <= found.certificate.gap * 1.1 + 3e-7
        about = member.outline - found.center
        reached = np.einsum("ij,ij->i", about, np.linalg.solve(found.shape.dense(), about.T).T)
        # where a gap is open it need not touch
        closed = found.certificate.gap < 1e-5
        assert (1 - 1e-4 if closed else 0.7) <= np.max(reached) <= 1 + 1e-5
    center, radius = member.circle
    far = np.linalg.norm(member.outline - center, axis=1)
    assert np.max(far) <= radius
    assert np.sum(far > radius * 0.999) >= 2  # a least circle touches in two points or more


@pytest.mark.grid(1, least=4)
@pytest.mark.parametrize("domain", users_domains.DOMAINS, ids=lambda d: d.name)
def test_savings_are_as_stated(domain):
    row = next(row for row in stated("saved") if row[0] == domain.name)
    assert row[2] == str(domain.domain.dimension)
    for order, cell in zip(users_domains.ORDERS, (row[3], row[5]), strict=True):
        ratio, gap = domain.saved(order)
        assert float(cell) == pytest.approx(ratio, abs=0.6e-3)
        assert ratio >= 1 - gap - 1e-9  # round noise is noise: it cannot beat the least
        assert domain.reach <= domain.farthest.upper
    assert float(row[7].replace(",", "")) == pytest.approx(domain.saved_as_given, rel=1e-3)
    rng = np.random.default_rng(0)
    points = domain.changes.extreme(rng.standard_normal((200, domain.domain.dimension)))
    assert np.max(np.linalg.norm(points * domain.weights, axis=1)) <= domain.reach * (1 + 1e-9)


def test_ranges_about_an_end_are_as_stated():
    rows = stated("about")
    assert [(int(row[0]), row[1]) for row in rows] == [
        (d, "∞" if order == math.inf else f"{order:g}")
        for d in domains_page.ABOUT
        for order in users_domains.ORDERS
    ]
    for row in rows:
        if int(row[0]) <= 64:  # the largest takes seconds
            order = math.inf if row[1] == "∞" else float(row[1])
            again = domains_page.about_row(int(row[0]), order)
            assert np.allclose([float(x) for x in again[2:5]], [float(x) for x in row[2:5]], 1e-5)
        around, upper, lower = (float(own) for own in row[2:5])
        assert lower <= upper * (1 + 1e-5) < around
