# SPDX-License-Identifier: Apache-2.0
"""Convex errors of variances: closed forms, the orders that are solved otherwise, and all budgets.

Broken once, each seen red: a slope's offset dropped, weights taken for their squares, the proved
lower side of an enclosure taken for its upper one, D for 2ρ.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import lownoise as ln
from lownoise.theory import enclose_convex, largest_error, power_error, variance_bound

RNG = np.random.default_rng(3)
DOMAINS = {
    "points": ln.Points(RNG.normal(size=(12, 3))),
    "box": ln.Box([0, 0, 0], [1, 2, 5]),
    "differences": ln.difference_body(ln.Points(RNG.normal(size=(10, 4)))),
    "ball": ln.Ball(3, radius=2),
    "simplex": ln.Points(np.eye(4)),
    "flat": ln.Points([[0, 0, 0], [1, 1, 1.0]]),
    "tensors": ln.TensorPower(3, 2),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [2.0, 3.0, 8.0, math.inf])
@pytest.mark.parametrize("name", DOMAINS)
def test_orders_that_are_solved_otherwise(name, order):
    """Σ v^{p/2} is ‖std‖_p^p, and the largest variance ‖std‖_∞²: both brackets hold the least."""
    domain, power = DOMAINS[name], order if math.isfinite(order) else 2.0
    error = power_error(order / 2) if math.isfinite(order) else largest_error()
    found = enclose_convex(domain, error)
    known = ln.theory.enclose(domain, order=order).certificate
    assert found.status == "solved"
    assert found.gap <= 1e-5
    assert found.lower <= known.upper**power
    assert known.lower**power <= found.upper
    assert error(found.variances)[0] <= found.upper


def test_groups_of_a_box_in_closed_form():
    """v = h²/y with Σy ≤ 1: a group of total half width H and share s needs H²/s."""
    box = ln.Box([0] * 4, [1, 2, 3, 4])
    found = enclose_convex(box, largest_error([[1, 1, 0, 0], [0, 0, 1, 1]]))
    assert found.lower <= 1.5**2 + 3.5**2 <= found.upper
    assert found.gap <= 1e-5


def test_an_error_of_ones_own_that_is_not_homogeneous():
    """Σ(e^v − 1) + 3v₁ over a box, against a general optimiser over y."""
    half = np.array([0.5, 1.0, 0.75])

    def error(v):
        slope = np.exp(v)
        slope[0] += 3
        return float(np.sum(np.exp(v) - 1) + 3 * v[0]), slope

    def of_shares(z):
        y = np.exp(z) / np.sum(np.exp(z))
        return error(0.3 * half**2 / y)[0]

    found = enclose_convex(ln.Box(-half, half), error, scale=0.3)
    least = min(minimize(of_shares, z, method="Nelder-Mead").fun for z in np.eye(3))
    assert found.lower * (1 - 1e-9) <= least <= found.upper * (1 + 1e-4)
    assert found.gap <= 1e-5


def test_workload_is_the_mapped_domain():
    domain, rows = DOMAINS["points"], np.array([[1.0, 1, 0], [0, 2, 1]])
    error = power_error(1.5, weights=[1.0, 4.0])
    found = enclose_convex(domain, error, workload=rows)
    other = enclose_convex(ln.Points(domain.points @ rows.T), error)
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    seen = np.diag(rows @ found.matrix @ rows.T)
    assert error(seen)[0] <= found.upper


@pytest.mark.parametrize("error", [power_error(2.0), largest_error(), power_error()])
def test_the_ellipsoid_covers_and_none_that_covers_has_less(error):
    points = DOMAINS["points"].points
    found = enclose_convex(DOMAINS["points"], error)
    about = points - found.center
    assert np.max(np.einsum("nd,de,ne->n", about, np.linalg.inv(found.matrix), about)) <= 1 + 1e-9
    rng = np.random.default_rng(1)
    for _ in range(200):
        factor = rng.normal(size=(3, 3)) / 3 + np.linalg.cholesky(found.matrix)
        shape, center = factor @ factor.T, found.center + rng.normal(size=3) / 10
        about = points - center
        longest = np.max(np.einsum("nd,de,ne->n", about, np.linalg.inv(shape), about))
        assert error(longest * np.diag(shape))[0] >= found.lower


def test_answers_that_do_not_matter_cost_nothing():
    """The middle coordinate may have any noise: the least is that of the others alone."""
    box = ln.Box([0, 0, 0], [1, 2, 5])
    found = enclose_convex(box, power_error(1.0, weights=[1.0, 0.0, 1.0]))
    assert found.lower <= 3.0**2 <= found.upper * (1 + 1e-9)
    assert found.upper <= 3.0**2 * (1 + 1e-3)


def test_a_search_that_ends_early_still_proves():
    found = enclose_convex(DOMAINS["differences"], largest_error(), iterations=3)
    known = ln.theory.enclose(DOMAINS["differences"], order=math.inf).certificate
    assert "stopped" in found.status
    assert found.lower <= known.upper**2
    assert known.lower**2 <= found.upper
    assert found.gap > 1e-4


def test_no_width_needs_no_noise():
    found = enclose_convex(ln.Points([[1.0, 2.0]]), power_error())
    assert found.lower == found.upper == 0
    assert found.gap == 0


@pytest.mark.grid(1)
@pytest.mark.parametrize("rho", [1e-6, 1e-2, 0.5])
@pytest.mark.parametrize("error", [power_error(), power_error(2.0), largest_error()])
def test_no_unbiased_mechanism_is_below(error, rho):
    """Above the bound stands the Gaussian fitted to K − K, and as ρ → 0 hardly."""
    domain, size = DOMAINS["points"], 40
    bound = variance_bound(domain, ln.zcdp(rho), error, size=size)
    gaussian = enclose_convex(ln.difference_body(domain), error, scale=1 / (2 * rho * size**2))
    power = 2 if error(np.array([2.0]))[0] == 4 else 1
    ratio = gaussian.upper / bound.value
    assert 1 < ratio <= (1 + 2 * math.sqrt(3 * rho) * (1 + 3 * rho)) ** power * (1 + 1e-4)
    assert bound.side == "lower"


def test_the_sum_of_variances_is_the_bound_at_order_two():
    domain, budget = DOMAINS["points"], ln.gaussian_dp(0.3)
    bound = variance_bound(domain, budget, power_error(), size=7).value
    known = ln.theory.concentrated_bound(domain, budget, size=7).value
    assert bound == pytest.approx(known**2, rel=1e-5)


def _concave(v):
    return float(np.sum(np.sqrt(v))), 0.5 / np.sqrt(v)


BAD = {
    "not callable": (2.0, {}, "is no function"),
    "concave": (_concave, {}, "not convex"),
    "falling": (lambda v: (-float(np.sum(v)), -np.ones(v.size)), {}, "slope of at least 0"),
    "nan": (lambda v: (math.nan, np.ones(v.size)), {}, "error=nan"),
    "shape": (lambda v: (float(np.sum(v)), np.ones(2)), {}, "one slope"),
    "one number": (lambda v: float(np.sum(v)), {}, "no pair"),
    "scale": (power_error(), {"scale": 0}, "scale=0"),
    "rtol": (power_error(), {"rtol": 0}, "rtol=0"),
    "workload": (power_error(), {"workload": np.eye(2)}, "workload has shape"),
    "domain": (power_error(), {"domain": "box"}, "is no domain"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name):
    error, options, said = BAD[name]
    domain = options.pop("domain", DOMAINS["box"])
    with pytest.raises(ln.errors.LownoiseError, match=said) as caught:
        enclose_convex(domain, error, **options)
    assert "\n" not in str(caught.value)


def test_errors_that_are_given_wrong():
    for wrong, said in (
        (lambda: power_error(0.5), "power=0.5"),
        (lambda: power_error(weights=[-1.0]), "below 0"),
        (lambda: largest_error([[1.0, -1.0]]), "below 0"),
    ):
        with pytest.raises(ln.errors.PlanError, match=said):
            wrong()
