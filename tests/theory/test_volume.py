# SPDX-License-Identifier: Apache-2.0
"""Volume bounds, over all tables and near one; noise with a body for each table."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.bounds import Rounding, averaging_bound
from lownoise.errors import PlanError
from lownoise.theory import smooth_noise, volume_bound

RNG = np.random.default_rng(2032)
EPSILONS = [0.05, 1.0, 4.0]
DOMAINS = {
    "box": ln.Box([-1, -2, -3], [1, 2, 3]),
    "ball": ln.Ball(3),
    "points": ln.Points(RNG.normal(size=(5, 3))),
    "turned": ln.image(RNG.normal(size=(3, 3)), ln.Ball(3, order=1)),
}


def extent(domain):
    """At least the greatest ‖x − y‖ in the domain."""
    return float(np.linalg.norm(np.asarray(domain.upper) - np.asarray(domain.lower)))


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_nothing_is_above_the_answer_that_never_changes(name, epsilon):
    """The middle of K has no privacy cost: its error is at most half the extent of a mean, and the
    truth of one table at most r records from another is r extents away.
    """
    domain, budget = DOMAINS[name], ln.pure_dp(epsilon)
    n = 1000
    for power in (1, 2):
        mean = volume_bound(domain, budget, size=n, power=power)
        assert 0 <= mean.value <= extent(domain)
        last = 0.0
        for within in (1, 3, 40, 500):
            near = volume_bound(domain, budget, size=n, within=within, power=power)
            assert near.value <= within * extent(domain) / n
            assert last * (1 - 1e-9) <= near.value <= mean.value * (1 + 1e-9)
            added = volume_bound(domain, budget, within=within, power=power)
            assert added.value <= within * extent(domain)
            last = near.value


@pytest.mark.parametrize("d", [1, 2, 64])
@pytest.mark.parametrize("records", [None, 10**6])
def test_near_a_table_distances_are_rounded_up_and_nothing_else(d, records):
    """What holds around every table is the proof by sets that grow, without records at random."""
    cube, size = ln.Box(-np.ones(d), np.ones(d)), records or 1
    for epsilon in (0.05, 1.0):
        found = volume_bound(cube, ln.pure_dp(epsilon), size=records, within=300)
        proof = averaging_bound(d * math.log(2), d, epsilon=epsilon, most=300, rounding=Rounding(0))
        assert found.value * size == pytest.approx(proof, rel=1e-6)


@pytest.mark.grid(3)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("power", [1, 2])
def test_laplace_noise_is_above_both_forms_in_the_models_of_the_source(epsilon, power):
    """Histograms: Laplace noise on d counts, real or of people, E|noise|^a known."""
    for d in (1, 2, 9):
        laplace = 1 / epsilon if d == power == 1 else math.sqrt(2 * d) / epsilon
        F = np.eye(d)
        ours = volume_bound(F, ln.pure_dp(epsilon), people=False, power=power)
        packed = volume_bound(F, ln.pure_dp(epsilon), people=False, power=power, form="packing")
        people = volume_bound(F, ln.pure_dp(epsilon), power=power)
        assert packed.value <= ours.value <= laplace
        assert people.value <= ours.value
        assert (ours.side, ours.over) == ("lower", "some table")
        assert "packing" not in ours.ours
        # a matrix that is turned asks the same
        turned = np.linalg.qr(RNG.normal(size=(d, d)))[0]
        again = volume_bound(turned, ln.pure_dp(epsilon), people=False, power=power)
        assert again.value == pytest.approx(ours.value, rel=1e-6)


def test_the_mean_error_is_below_the_root_mean_square():
    for domain in DOMAINS.values():
        one, two = (
            volume_bound(domain, ln.pure_dp(0.1), size=10**4, power=power).value for power in (1, 2)
        )
        assert 0 < one <= two


def test_one_number_has_its_exact_constant():
    """Reals: s*·1/2 at a = 1 and s*/√3 at a = 2, s* = W/2 with W = 2/ε."""
    for power, share in ((1, 1 / 2), (2, 1 / math.sqrt(3))):
        found = volume_bound([[1.0]], ln.pure_dp(0.5), people=False, power=power)
        assert found.value == pytest.approx(share / 0.5, rel=1e-9)


def test_projections_help_where_a_body_is_flat():
    """Corollary 3.4: all but one direction hardly matter, and the bound is nearly that of it."""
    wide = volume_bound(np.diag([1.0, 1e-9, 1e-9]), ln.pure_dp(0.5), people=False).value
    assert wide >= 0.999 * volume_bound([[1.0]], ln.pure_dp(0.5), people=False).value


def steps(size=12):
    """Tables in a row, each the neighbour of the next, with two answers that bend at the end."""
    at = np.arange(float(size))
    answers = np.stack([np.where(at < size - 2, at, 40 * at), np.sqrt(at + 1)], axis=1)
    return answers, np.abs(at[:, None] - at)


@pytest.mark.grid(1)
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("tail", [4.5, 6.0, 30.0])
def test_smooth_noise_is_private(epsilon, tail):
    """The density of any answer changes by e^ε at most from a table to its neighbour."""
    answers, far = steps()
    noise = smooth_noise(answers, far, ln.pure_dp(epsilon), tail=tail)
    rng = np.random.default_rng(4)
    worst = 0.0
    for x in range(len(answers) - 1):
        for size in (0.0, 0.3, 5.0, 1e3):
            at = answers[rng.integers(x, x + 2)] + size * rng.normal(size=2)
            worst = max(worst, abs(noise.log_density(x, at) - noise.log_density(x + 1, at)))
    assert worst <= epsilon * (1 + 1e-9)
    assert worst > epsilon / 4  # it spends what it may


def test_smooth_noise_is_a_density_with_the_error_it_says():
    """By integrals over r = ‖z‖_S, along one ray: the density is a function of r alone."""
    answers, far = steps(5)
    noise = smooth_noise(answers, far, ln.pure_dp(4.0), tail=14.0)
    law, body = noise.law(0), noise.body(0)
    end = body[np.argmax(np.linalg.norm(body, axis=1))]  # of norm 1: none is farther out
    logs = np.linspace(-9, 5, 90)
    r = np.exp(logs)
    density = np.exp([noise.log_density(0, answers[0] + t * end) for t in r])
    shares = 2 * math.exp(law.log_volume) * r**2 * density * (logs[1] - logs[0])
    assert math.fsum(shares) == pytest.approx(1, rel=1e-3)
    boundary = 4 / 2 * np.trace(law.covariance)
    assert math.sqrt(math.fsum(shares * r**2) * boundary) == pytest.approx(noise.error(0), rel=1e-3)


def test_linear_answers_have_one_body_and_k_norm_noise_is_smaller():
    at = np.arange(30.0)
    noise = smooth_noise(at[:, None], np.abs(at[:, None] - at), ln.pure_dp(1.0))
    assert noise.error(0) == pytest.approx(noise.error(15))
    assert noise.error(0) > math.sqrt(2)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: volume_bound(np.eye(2), ln.zcdp(1.0)), "pure_dp"),
        (lambda: volume_bound(np.eye(2), ln.pure_dp(1.0), size=5), "size"),
        (lambda: volume_bound(np.eye(2), ln.pure_dp(1.0), form="packing"), "packing"),
        (lambda: volume_bound(np.eye(2), ln.pure_dp(1.0), form="guess"), "guess"),
        (lambda: volume_bound(np.eye(2), ln.pure_dp(1.0), power=3), "power=3"),
        (lambda: volume_bound(np.eye(2), ln.pure_dp(1.0), within=0), "within=0"),
        (lambda: volume_bound(ln.Ball(2), ln.pure_dp(1.0), size=0), "size=0"),
        (lambda: smooth_noise(*steps(), ln.pure_dp(1.0), tail=4.0), "tail=4"),
        (lambda: smooth_noise(*steps(), ln.pure_dp(1.0), tail="x"), "tail"),
        (lambda: smooth_noise(*steps(), ln.zcdp(1.0)), "pure_dp"),
        (lambda: smooth_noise([[1.0], [2.0]], np.zeros((2, 2)), ln.pure_dp(1.0)), "neighbours"),
    ],
)
def test_refuses(call, match):
    with pytest.raises(PlanError, match=match):
        call()


def test_smooth_noise_with_light_tails_has_an_error_that_is_no_underflow():
    """As γ grows the law comes to that of e^{−ε‖z‖}, Laplace noise: √2."""
    far = [[0, 1], [1, 0]]
    for tail in (1e6, 1e200):
        found = ln.theory.smooth_noise([[0.0], [1.0]], far, ln.pure_dp(1.0), tail=tail).error(0)
        assert found == pytest.approx(math.sqrt(2), rel=1e-4)
