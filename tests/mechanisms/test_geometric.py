"""Geometric noise: its law, what neighbours' tables reveal, and that no mechanism has less.

Statistical tests have an error of the first kind of 1e-6 each, and say their power.
"""

import itertools
import json
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from flint import arb

import lownoise as ln
from frequencies import GivenWords, fits
from lownoise.engines.counts import CodedRows
from lownoise.errors import FileError, PlanError
from lownoise.noise.independent import GeometricNoise, independent_loss
from lownoise.noise.marginal_noise import Parts
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release import comparison, stored
from lownoise.release.tails import geometric_quantile, sum_bound
from lownoise.samplers.laplace import two_sided_geometric
from lownoise.sets.bodies import SymmetricPoints
from refusals import one_line, refused_plan, sealed

ERROR = 1e-6
SCALES = (2.0**-10, 0.125, 0.25, 1.0, 7.3)


def chance(z, scale):
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(z)


def drawn(scale, count=100_000, seed=3):
    return two_sided_geometric(np.full(count, scale), randomness=SimulationRandomness(seed))


@pytest.mark.parametrize("scale", SCALES)
def test_every_integer_has_the_chance_that_is_said(scale):
    """χ² over all integers that 100,000 draws are to have 20 of, and the rest.

    Power: a scale 5% off (25% where few draws are other than 0), or −0 that is kept (which doubles
    the chance of 0), is seen.
    """
    found, z = drawn(scale), np.arange(-100, 101)
    assert fits(found, z, chance(z, scale))
    if scale > 0.1:
        assert not fits(found, z, chance(z, scale * (1.05 if scale > 0.2 else 1.25)))
    if scale > 0.2:
        doubled = np.append(found, np.zeros(np.sum(found == 0), dtype=np.int64))
        assert not fits(doubled, z, chance(z, scale))


def test_what_bits_leave_open_is_decided_with_more_of_them():
    """The 63 bits of U around which −b·log U is 3; and a word whose −0 is drawn anew."""
    with precision(200):
        bits = int((arb(2) ** 63 * (-arb(3) / 1000).exp()).floor().unique_fmpz())
    near = GivenWords([bits << 1, bits << 1 | 1])
    found = two_sided_geometric(np.full(2, 1000.0), randomness=near)
    assert near.asked > 2
    assert found[0] in {2, 3}
    assert found[1] in {-2, -3}
    nothing = GivenWords([2**63, 2**63 | 1])  # U is a half: 0 and −0 for b = 1
    assert two_sided_geometric(np.ones(1), randomness=nothing)[0] == 0
    two_sided_geometric(np.ones(1), randomness=nothing)
    assert nothing.asked > 2


ASKED = {
    "a count": (ln.Count("a"), "add_remove"),
    "a histogram": (ln.Histogram("a", 3, outside={"a": 0}), "substitute"),
    "two tables": (ln.Marginals({"a": 2, "b": 2}, way=1), "add_remove"),
    "two tables ": (ln.Marginals({"a": 2, "b": 2}, way=1, outside={"a": 0, "b": 0}), "substitute"),
    "up to each": (ln.Distribution("a", [0, 1, 2, 3]), "add_remove"),
}
MECHANISMS = ("geometric", "geometric_residual", "geometric_histogram")


@cache
def planned(name, mechanism=None, epsilon=1.5, **more):
    question, relation = ASKED[name]
    size = 3 if relation == "substitute" else None
    budget = ln.pure_dp(epsilon)
    return ln.plan(
        question, budget=budget, relation=relation, size=size, mechanism=mechanism, **more
    )


def tables(plan):
    """The integers of all tables of two records and three, or of three."""
    sizes = [a.size for a in plan.terms.question.attributes]
    totals = plan.terms.mechanism.totals
    cells = list(itertools.product(*map(range, sizes)))
    found = {}
    for count in (2, 3) if plan.terms.size is None else (3,):
        for rows in itertools.combinations_with_replacement(cells, count):
            columns = tuple(np.array(column) for column in zip(*rows, strict=True))
            found[rows] = np.array(totals.exact(CodedRows(sizes, columns)))
    return found


def neighbours(one, other, public):
    rest = list(other)
    shared = sum(1 for row in one if row in rest and not rest.remove(row))
    if public:
        return shared == len(one) - 1
    return abs(len(one) - len(other)) == 1 and shared == min(len(one), len(other))


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_neighbours_outputs_have_chances_within_e_to_the_epsilon_and_some_are_as_far(
    name, mechanism
):
    """All neighbours of two and three records, over outputs all around both: sums of logarithms.

    All outputs are whole, so all tables make the same ones.
    """
    plan = planned(name, mechanism)
    layout = plan.terms.mechanism.totals.layout
    units = [s.orbit for s in layout.spaces for _ in range(len(s.sets) * s.length)]
    rates = 1 / (layout.scales / layout.steps)[units]
    stated, most = plan.cost.epsilon, 0.0
    found = tables(plan)
    assert all(np.array_equal(own, np.rint(own)) for own in found.values())
    for one, other in itertools.permutations(found, 2):
        if not neighbours(one, other, plan.terms.size is not None):
            continue
        a, b = found[one], found[other]
        low, high = np.minimum(a, b) - 1, np.maximum(a, b) + 1
        # the logarithm is a sum over integers: the greatest is where each of its terms is
        steps = [np.arange(lo, hi + 1) for lo, hi in zip(low, high, strict=True)]
        far = [
            np.max(np.log(chance(at - y, 1 / t) / chance(at - x, 1 / t)))
            for at, x, y, t in zip(steps, b, a, rates, strict=True)
        ]
        most = max(most, math.fsum(far))
    assert most <= stated * (1 + 1e-9)
    assert most >= stated * (1 - 1e-9)
    assert stated <= 1.5


def test_no_more_is_seen_of_releases_than_is_claimed():
    """Chances of outputs of 200,000 runs with a count of 3 and of 4: from below, 90% of ε at least.

    Power: noise that is fitted to 1.3 times ε shows more than ε.
    """

    def seen(epsilon):
        (scale,) = planned("a count", epsilon=epsilon).terms.mechanism.totals.layout.scales
        two = [n + drawn(scale, 200_000, seed) for n, seed in ((3, 4), (4, 5))]
        more, less = (float(np.sum(own <= 3)) for own in two)  # e^ε apart, by the law
        z = 5.0  # deviations of each number: 6e-7 in all that one is beyond
        return math.log((more - z * math.sqrt(more)) / (less + z * math.sqrt(less) + z * z))

    assert 1.5 * 0.9 < seen(1.5) <= 1.5
    assert seen(1.95) > 1.5


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 4.0, 8.0])
def test_no_mechanism_at_all_errs_less_on_a_count(epsilon):
    """The bound is on every mechanism of this ε, biased or not, where a count has no end."""
    plan = planned("a count", epsilon=epsilon)
    assert plan.mechanism == "geometric"
    assert plan.lower_bound <= plan.error <= plan.lower_bound * (1 + 1e-8)
    q = math.exp(-epsilon)
    assert plan.error == pytest.approx(math.sqrt(2 * q) / (1 - q), rel=1e-9)
    laplace = planned("a count", "laplace", epsilon=epsilon)
    ratio = (epsilon / 2 / math.sinh(epsilon / 2)) ** 2
    assert (plan.error / laplace.error) ** 2 == pytest.approx(ratio, rel=1e-9)


def test_one_of_two_categories_of_a_public_number_of_rows_has_the_noise_of_one_count():
    """The difference of two counts moves by 2, in steps of 2."""
    bits = ln.Marginals({"a": 2}, way=1, outside={"a": 0})
    plan = ln.plan(bits, budget=ln.pure_dp(4.0), relation="substitute", size=5)
    alone = planned("a count", epsilon=4.0)
    assert plan.mechanism == "geometric_residual"
    assert plan.standard_deviation("a") == pytest.approx(alone.error, rel=1e-9)
    assert plan.cost.rho == pytest.approx(alone.cost.rho, rel=1e-12)
    table = pd.DataFrame({"a": [0, 1, 1, 1, 0]})
    near = [plan.release(table)["a"] for _ in range(20)]  # 3% of them are not exact
    for own in near:
        assert own == pytest.approx(np.rint(own), abs=1e-9)
        assert own.sum() == pytest.approx(5, abs=1e-9)
    assert sum(np.allclose(own, [2, 3]) for own in near) > 10


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ASKED)
def test_tables_have_less_than_with_laplace_noise_and_more_so_as_epsilon_grows(name):
    ratios = []
    for epsilon in (1.5, 4.0, 8.0):
        errors = {own.mechanism: own.error for own in planned(name, epsilon=epsilon).comparison}
        least = {law: min(e for m, e in errors.items() if law in m and e) for law in ("lap", "geo")}
        assert planned(name, epsilon=epsilon).error == min(e for e in errors.values() if e)
        ratios.append(least["geo"] / least["lap"])
    assert 1 > ratios[0] > ratios[1] > ratios[2]


def test_queries_have_steps_that_divide_all_their_numbers():
    """So nothing is rounded, and noise on answers of twos has twice that of ones."""
    matrix = [[0, 2, 4, -6], [3, 6, 9, 0], [0.5, 0, 0.25, 1]]
    for relation, size in (("add_remove", None), ("substitute", 9)):
        asked = {"budget": ln.pure_dp(2), "relation": relation, "size": size}
        question = ln.Queries(matrix, {"a": 4}, outside={"a": 0})
        totals = ln.plan(question, **asked, mechanism="geometric").terms.mechanism.totals
        assert totals.step.tolist() == [2, 3, 0.25]
        assert np.all(totals.rounding == 0)
        rows = [[0, k] for k in (1, 2)]
        ones, twos = (
            ln.plan(ln.Queries([row], {"a": 2}, outside={"a": 0}), **asked).error for row in rows
        )
        assert twos == pytest.approx(2 * ones, rel=1e-12)


def test_it_is_not_made_unasked_where_it_has_hardly_less():
    assert "geometric" not in {own.mechanism for own in planned("a count", epsilon=0.34).comparison}
    assert planned("a count", "geometric", epsilon=0.34).mechanism == "geometric"


@pytest.mark.grid(3)
@pytest.mark.parametrize("scale", [0.125, 0.4, 1.0, 5.0, 300.0])
def test_spreads_and_moments_are_those_of_the_law(scale):
    """Sums over the law itself: of one number moments of even order are met, no sum has more."""
    noise = GeometricNoise(np.array([scale]))
    z = np.arange(-int(80 * scale) - 60, int(80 * scale) + 61)
    law = chance(z, scale)
    variance = float(law @ z.astype(float) ** 2)
    assert law.sum() == pytest.approx(1)
    assert noise.covariance()[0] == pytest.approx(variance, rel=1e-9)
    pair = np.convolve(law, law)
    w = np.arange(2 * z[0], 2 * z[-1] + 1)
    for order in (2.0, 2.5, 4.0, 5.0, 8.0):
        moments = [
            float(own @ np.abs(at / math.sqrt(n * variance)) ** order) ** (1 / order)
            for own, at, n in ((law, z, 1), (pair, w, 2))
        ]
        assert max(moments) <= noise.moment(order) * (1 + 1e-12)
        if order in (2.0, 4.0, 8.0):
            assert noise.moment(order) == pytest.approx(moments[0], rel=3e-3 if scale > 2 else 1e-9)
    several = GeometricNoise(np.array([scale * (1 + k / 7) for k in range(20)]))
    assert noise.moment(6.0) <= several.moment(6.0) <= noise.moment(6.0) * 1.05


@pytest.mark.grid(3)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("scale", [0.2, 1.0, 4.0])
def test_intervals_of_sums_cover_by_their_law_and_hardly_more(scale, level):
    """z₁ + ⋯ + z₅ + z₆/2, whose law is a convolution."""
    half = np.arange(-120, 121)  # halves
    one = np.where(half % 2 == 0, chance(half // 2, scale), 0.0)
    law = chance(half, scale)
    for _ in range(5):
        law = np.convolve(law, one, mode="same")
    weights, counts = np.array([1.0, 0.5]), np.array([5.0, 1.0])
    found = geometric_quantile(weights, np.full(2, scale), counts, level)
    inside = float(law @ (np.abs(half) / 2 <= found))
    deviation = math.sqrt(float(law @ np.square(half / 2)))
    nearer = float(law @ (np.abs(half) / 2 < found - 0.05 * deviation))
    assert nearer < level <= inside
    one = GeometricNoise(np.array([scale])).far(1 - level)[0]
    at = np.arange(-60, 61)
    assert float(chance(at, scale) @ (np.abs(at) <= one)) >= level
    assert one == 0 or float(chance(at, scale) @ (np.abs(at) < one)) < level


@pytest.mark.parametrize("outside", [1e-5, 1e-6, 2e-7, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("scale", [0.2, 1.0, 4.0])
def test_intervals_of_chances_that_no_grid_tells_are_of_their_bound(scale, outside):
    """Of 20 numbers: they cover by the law, a convolution, and are no wider than Chernoff's."""
    at = np.arange(-700, 701)
    law = one = chance(at, scale)
    for _ in range(19):
        law = np.convolve(law, one, mode="same")
    found = geometric_quantile(*np.array([[1.0], [scale], [20.0]]), 1 - outside)
    parts = Parts(GeometricNoise, *np.array([[1.0], [scale], [20.0]]))
    assert 2 * float(law[at > found + 1e-9].sum()) <= outside
    assert found <= sum_bound(parts, outside) * (1 + 1e-6)


@pytest.mark.parametrize("scale", [0.2, 1.0, 4.0])
def test_bounds_of_small_chances_are_hardly_wider_than_they_must_be(scale):
    """Of z₁ + z₂ + z₃, whose chances to be far are sums of a law without end: by its own tail."""
    at = np.arange(-700, 701)
    law = chance(at, scale)
    three = np.convolve(np.convolve(law, law, mode="same"), law, mode="same")
    far = 2 * np.cumsum(three[::-1])[: at.size // 2]  # P(|X| ≥ 700), P(|X| ≥ 699), …
    parts = Parts(GeometricNoise, np.ones(1), np.full(1, scale), np.full(1, 3.0))
    for outside in (1e-4, 1e-6, 1e-9):
        needed = 700 - int(np.sum(far <= outside))
        assert needed <= sum_bound(parts, outside) <= 1.3 * needed + 1


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_intervals_of_margins_grow_as_evenly_as_their_levels(mechanism):
    """Each cell sums hundreds of numbers: beyond a chance of 1e-4 it was 2.4 times as wide."""
    asked = ln.Marginals({"a": 10, "b": 10, "c": 10}, way=2)
    plan = ln.plan(
        asked, budget=ln.pure_dp(4), relation="add_remove", mechanism=mechanism
    ).terms.view
    near, beyond = (plan.half_width(1 - outside, "a") for outside in (2e-4, 5e-5))
    assert near < beyond < 1.4 * near


@pytest.mark.parametrize("rate", [0.1, 1.0, 4.0])
def test_what_accounts_are_charged_is_that_of_the_law(rate):
    """Rényi divergences of the law and the law moved by 1: ρ is their slope at 1, and no less."""
    loss = GeometricNoise(np.array([1 / rate])).loss(SymmetricPoints(np.array([[1.0]])))
    assert loss.epsilon == pytest.approx(rate, rel=1e-15)
    assert Fraction(loss.epsilon) >= 1 / Fraction(1 / rate)
    z = np.arange(-int(50 / rate) - 50, int(50 / rate) + 51)
    p, moved = chance(z, 1 / rate), chance(z - 1, 1 / rate)
    ratios = rate * (np.abs(z - 1) - np.abs(z))
    assert float(p @ ratios) == pytest.approx(loss.rho, rel=1e-9)
    for order in (1.5, 4.0, 30.0):
        divergence = math.log(float(p @ np.exp((order - 1) * ratios))) / (order - 1)
        assert divergence <= order * loss.rho * (1 + 1e-9)
    apart = float(np.abs(p - moved).sum()) / 2
    assert math.erf(loss.mu / 2 / math.sqrt(2)) == pytest.approx(apart, rel=1e-9)


def test_of_several_that_move_no_split_reveals_more():
    """ρ and μ² over all ways in which four numbers move that may move by 1, ε = 2.5 in all."""
    moves = [1.2, 1.0, 0.7, 0.4]
    loss = independent_loss(moves, 2.5, GeometricNoise)
    for shares in itertools.product(np.linspace(0, 1, 6), repeat=4):
        t = np.array(moves) * shares
        if t.sum() <= 2.5:
            assert sum(map(GeometricNoise.rho_up, t.tolist())) <= loss.rho * (1 + 1e-12)
            assert sum(GeometricNoise.mu_up(own) ** 2 for own in t.tolist()) <= loss.mu**2


@pytest.mark.parametrize("wrong", [0.0, 1 / 600, -1.0, math.nan, 2.0**53])
def test_scales_out_of_range_are_refused(wrong):
    with one_line(PlanError, match="scales"):
        GeometricNoise(np.array([1.0, wrong]))
    with pytest.raises(PlanError, match="scales"):
        two_sided_geometric(
            np.array([wrong if wrong > 1 else wrong / 2]), randomness=SimulationRandomness(1)
        )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda noise: noise["scales"].__setitem__(0, noise["scales"][0] * 0.999), "too small"),
        (lambda noise: noise["scales"].__setitem__(0, 0.0), "above 0"),
        (lambda noise: noise["scales"].__setitem__(0, 1e-3), "too small|beyond"),
        (lambda noise: noise["steps"].__setitem__(0, 0.5), "steps"),
    ],
)
def test_forged_files_are_refused_in_one_line(change, said):
    document = json.loads(planned("two tables").to_json())
    change(document["terms"]["noise"])
    refused_plan(sealed(document), said, error=(FileError, PlanError))


def test_a_forged_cost_does_not_verify():
    document = json.loads(planned("two tables").to_json())
    document["derived"]["cost"]["epsilon"] = 1.0
    assert not ln.verify(sealed(document))


def test_a_program_that_does_not_know_the_noise_refuses_its_files_in_one_line(monkeypatch):
    text = planned("two tables").to_json()
    before = tuple(name for name in comparison.names() if "geometric" not in name)
    monkeypatch.setattr(stored, "names", lambda: before)
    with one_line(FileError, match=r"mechanism='geometric.*' is unknown; this version"):
        ln.Plan.from_json(text)


def test_a_budget_beyond_the_least_scales_has_no_more_noise_than_they_have():
    """At ε = 513 counts had Laplace noise, so that no budget was found for an error of 1/1000."""
    ask = {"relation": "add_remove"}
    few = ln.Queries([[1, 0, 1], [0, 1, 1]], {"a": 3})
    for question in (ln.Count("id"), few):
        for named in (None, "geometric"):
            less, more = (
                ln.plan(question, budget=ln.pure_dp(e), mechanism=named, **ask)
                for e in (400.0, 1000.0)
            )
            assert more.mechanism.startswith("geometric")
            assert more.error <= less.error
            assert more.cost.epsilon <= 1000
            assert ln.verify(more.to_json())
    found = ln.budget_for(ln.Count("id"), error=1e-3, like=ln.pure_dp(1.0), **ask)
    assert 14 < found.epsilon < 15
