# SPDX-License-Identifier: Apache-2.0
"""Streams with staircases in their sums: what they reveal, by enumeration, and what they say.

Mutants, each seen red: a level's charge halved, the steps of a change rounded down, steps half as
wide as the longest change, ε of a level taken for that of the base, scales taken for deviations,
γ and 1 − γ exchanged in what is between whole steps, sums of parts of rounds let in.
"""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import binom, kstest

import lownoise as ln
from lownoise.certificate.staircase import least_first, staircase_ratio
from lownoise.errors import FileError, LownoiseError, PlanError
from lownoise.noise import PartialNoise, StaircaseNoise
from lownoise.noise.lattice import Shared, Stairs, SteppedNoise
from lownoise.noise.marginal_noise import Parts
from lownoise.noise.pure import ellipsoid_norm
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning import StreamPlan
from lownoise.planning.pure_streams import PURE_STRATEGIES, squared_error
from lownoise.release.tails import geometric_quantile, sum_bound
from lownoise.samplers.steps import StepRadius
from lownoise.streams import TreeSums, round_totals
from lownoise.streams.codec import document
from lownoise.streams.pure import round_codes
from lownoise_check import decide
from streams.test_pure import sums_of

UNIT = ln.Box([0.0], [1.0])
SIGNED = ln.Box([-1.0], [0.5])
CROWD = ln.Box([0.0], [40.0])
PERSON = ln.Box([-1.0], [0.75])
LIST = ln.Points([[0.0], [5.0], [2.0]])
LINE = ln.Points([[0.0, 0.0], [1.0, -2.0], [0.25, -0.5]])  # two answers of one number


def stairs(rounds, epsilon, domain=UNIT, **more):
    asked = {"budget": ln.pure_dp(epsilon), "domain": domain, "mechanism": "staircase", **more}
    return ln.stream(ln.Prefix(rounds) if isinstance(rounds, int) else rounds, **asked)


ASKED = {
    "count": (ln.Prefix(11), UNIT, {}),
    "levels": (ln.Prefix(20), UNIT, {"strategy": "honaker"}),
    "added": (ln.Prefix(12), UNIT, {"strategy": "binary_tree"}),
    "window": (ln.SlidingWindow(9, 4), SIGNED, {"relation": "substitute"}),
    "matrix": (np.tril(np.arange(1.0, 26).reshape(5, 5)), LIST, {"strategy": "tree"}),
    "decayed": (ln.Decayed(9, 0.5), LIST, {"relation": "substitute"}),
    "momentum": (ln.Momentum(8, 0.75), UNIT, {"strategy": "honaker"}),
    "line": (ln.Prefix(9), LINE, {"strategy": "honaker"}),
    "person": (ln.Prefix(12), CROWD, {"relation": PERSON, "strategy": "honaker"}),
    "twice": (ln.Prefix(10), UNIT, {"participations": 2}),
    "largest": (ln.Prefix(40), UNIT, {"error": "max", "strategy": "tree"}),
    "many": (ln.Prefix(300), SIGNED, {}),
}
# to the checker, whatever the noise
STRANGE = ("person", "twice", "window", "matrix", "decayed", "momentum")


@cache
def asked(name, epsilon=3.0):
    workload, domain, more = ASKED[name]
    return stairs(workload, epsilon, domain, **more)


def coarse(name, codes=2):
    """Return the mechanism with few codes, so that all of its noise can be enumerated."""
    strategy, rounds, epsilon, domain, relation, times = SMALL[name]
    more = {"strategy": strategy, "relation": relation, "participations": times}
    terms = stairs(rounds, epsilon, domain, **more).terms
    old, question = terms.mechanism, terms.question
    wide = old.noise.own.scale * float(old.coding.step[0])
    step = frozen(np.array([2.0 ** math.floor(math.log2(wide / codes))]))
    totals = round_totals(question.values, terms.relation, old.totals.coordinates, step, None)
    noise = SteppedNoise.hiding(round_codes(totals), old.noise.own.epsilon)
    return replace(old, totals=totals, noise=noise)


SMALL = {
    # strategy, rounds, ε, domain, relation, participations
    "value": ("input", 2, 2.0, UNIT, "add_remove", 1),
    "tree": ("honaker", 3, 3.0, UNIT, "add_remove", 1),
    "added": ("binary_tree", 3, 3.0, UNIT, "substitute", 1),
    "others": ("honaker", 2, 4.0, SIGNED, "substitute", 1),
    "list": ("honaker", 2, 4.0, LIST, "add_remove", 1),
    "person": ("honaker", 2, 2.0, CROWD, PERSON, 1),
    "twice": ("honaker", 2, 4.0, UNIT, "add_remove", 2),
}


def cells(own, most):
    """P(round(z) = n) of one number, |n| ≤ most, from the mixture of radii that it is drawn by."""
    radii, chances = StepRadius(1, own.epsilon, own.first).law()
    ends = np.arange(most + 2) - 0.5
    beyond = np.maximum(1 - np.abs(ends)[:, None] / (own.scale * radii), 0.0) @ chances / 2
    above = beyond[:-1] - beyond[1:]
    above[0] = 1 - 2 * beyond[1]
    return np.concatenate([above[:0:-1], above])


def moved(mechanism, domain, relation):
    """Yield codes of a round in one world and in the other, of ends of what may change."""
    if isinstance(relation, ln.Box):  # codes are rounded, which is in what they may move by
        for far in range(1, math.floor(mechanism.noise.own.scale) + 1):
            yield from ((3, 3 + far), (3 + far, 3))
        return
    points = domain.points if isinstance(domain, ln.Points) else None
    values = np.array([domain.lower, domain.upper]) if points is None else points
    codes = [own for (own,) in mechanism.coding.encode(values).tolist()]
    others = codes if relation == "substitute" else [0]
    for a, b in itertools.product(codes, others):
        if a != b:
            yield from ((a, b), (b, a))


def outcomes(mechanism, chosen, reach):
    """Return what is published under every noise up to `reach` in each sum, with its chance."""
    pair = mechanism.pair
    counts = [count for count, _ in pair.levels]
    k = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * sum(counts), indexing="ij"))
    k = k.reshape(sum(counts), -1)
    chances = np.ones(k.shape[1])
    laws = [cells(noise.own, reach) for noise in mechanism.noises]
    for row, law in zip(k, np.repeat(np.array(laws), counts, axis=0), strict=True):
        chances *= law[row + reach]
    made = pair.values(np.split(k, np.cumsum(counts)[:-1]))
    published = np.zeros_like(made)
    for t in range(pair.rounds):
        published[t] = made[t] + chosen(t, published[:t])
    odd = np.random.default_rng(5).integers(0, 2**62, pair.rounds) * 2 + 1
    return (published * odd[:, None]).sum(axis=0), chances


@pytest.mark.parametrize("name", SMALL)
def test_no_neighbour_shows_more_than_is_charged_by_enumeration(name):
    """Every transcript, pairs of neighbours, values that follow from answers, exact chances.

    As in `test_whole`: what leads to a transcript within some reach in one world does so within
    that and the change in the other, so that sums are compared without what is beyond.
    """
    _, rounds, _, domain, relation, times = SMALL[name]
    mechanism = coarse(name)
    sums = sum(count for count, _ in mechanism.pair.levels)
    reach = {2: 40, 3: 16, 5: 3}[sums]
    worst = 0.0
    pairs = list(moved(mechanism, domain, relation))
    assert max(abs(a - b) for a, b in pairs) == math.floor(mechanism.noise.own.scale)
    for changed in itertools.combinations(range(rounds), times):
        for moves in itertools.product(pairs, repeat=times):
            worlds = []
            for world in (0, 1):
                own = dict(zip(changed, [move[world] for move in moves], strict=True))

                def chosen(t, before, own=own):
                    if t in own:
                        return own[t]
                    return np.where(before.sum(axis=0) > 2, 3, 0)  # as what was published suggests

                far = sum(abs(a - b) for a, b in moves) * world
                worlds.append(outcomes(mechanism, chosen, reach + far))
            keys, at = np.unique(worlds[0][0], return_inverse=True)
            first = np.bincount(at, weights=worlds[0][1])
            place = np.searchsorted(keys, worlds[1][0]).clip(max=keys.size - 1)
            met = keys[place] == worlds[1][0]
            second = np.bincount(place[met], weights=worlds[1][1][met], minlength=keys.size)
            worst = max(worst, float(np.max(first / second)))
    assert math.log(worst) <= mechanism.loss.epsilon * (1 + 1e-9)
    assert math.log(worst) >= mechanism.loss.epsilon * 0.9


def ends_of(stream):
    """Return the codes' changes of a round, of ends of the domain or of points of a list."""
    mechanism, question = stream.terms.mechanism, stream.terms.question
    domain, relation = question.domain, stream.terms.relation
    if isinstance(relation, str):
        points = getattr(domain, "points", None)
        points = np.stack([domain.lower, domain.upper]) if points is None else points
        codes = mechanism.coding.encode(points).tolist()
        others = codes if relation == "substitute" else [[0]]
        return [a - b for (a,) in codes for (b,) in others]
    found = mechanism.coding.encode(np.linspace(1, 39, 300)[:, None])
    moves = (PERSON.upper, PERSON.lower)
    return np.concatenate(
        [mechanism.coding.encode(np.linspace(1, 39, 300)[:, None] + own) - found for own in moves]
    )[:, 0].tolist()


@pytest.mark.grid(least=6)
@pytest.mark.parametrize("name", ASKED)
def test_epsilon_is_that_of_the_worst_neighbours_in_exact_fractions(name):
    """Whole steps of every sum of every level, for one round and for two."""
    stream = asked(name)
    mechanism, times = stream.terms.mechanism, ASKED[name][2].get("participations", 1)
    levels = np.repeat(
        np.arange(len(mechanism.noises)), [count for count, _ in mechanism.pair.levels]
    ).tolist()
    rows, worst = sums_of(mechanism.pair), Fraction(0)
    changes = sorted(set(ends_of(stream)), key=abs)[-3:]
    for rounds in itertools.combinations(range(min(mechanism.workload.rounds, 12)), times):
        for own in itertools.product(changes, repeat=times):
            total = Fraction(0)
            for row, level in zip(rows, levels, strict=True):
                noise = mechanism.noises[level].own
                far = sum(int(row[t]) * own[i] for i, t in enumerate(rounds))
                total += math.ceil(Fraction(abs(far)) / Fraction(noise.scale)) * Fraction(
                    noise.epsilon
                )
            worst = max(worst, total)
    assert worst <= Fraction(mechanism.loss.epsilon) <= worst * (1 + Fraction(1, 10**12))
    assert 3 * (1 - 1e-9) <= stream.cost.epsilon <= 3
    assert len({noise.own.scale for noise in mechanism.noises}) == 1


@pytest.mark.grid(least=6)
@pytest.mark.parametrize("name", ASKED)
def test_every_sum_has_a_staircase_of_its_level(name, monkeypatch):
    """Kolmogorov-Smirnov against the exact law, 10^-7 a level.

    Of 2,000 numbers and more it sees steps or ε off by a quarter nearly surely.
    """
    mechanism, seen = asked(name).terms.mechanism, []
    with monkeypatch.context() as patch:
        patch.setattr(TreeSums, "values", lambda _, drawn: seen.append(drawn))
        for seed in range(max(4, 2500 // mechanism.workload.rounds)):
            mechanism.all_noise(SimulationRandomness(seed))
    for level, ((count, width), noise) in enumerate(
        zip(mechanism.pair.levels, mechanism.noises, strict=True)
    ):
        own = noise.own
        assert own.epsilon == mechanism.noise.own.epsilon / width
        drawn = np.concatenate([one[level] for one in seen])[:, 0].astype(float) / own.scale
        assert drawn.size == len(seen) * count
        radii, chances = StepRadius(1, own.epsilon, own.first).law()

        def below(x, radii=radii, chances=chances):
            return (1 + np.clip(np.divide.outer(x, radii), -1, 1) @ chances) / 2

        assert kstest(drawn, below).pvalue > 1e-7


def louder(noise):
    noise["epsilon"] *= 1.000001


def narrower(noise):
    noise["scale"] *= 0.999999


@pytest.mark.grid(least=6)
@pytest.mark.parametrize("name", ASKED)
def test_files_are_read_back_verified_and_refused_with_less_noise(name):
    terms = asked(name).terms
    text = document(terms)
    again = StreamPlan.from_json(text)
    assert again.to_json() == text
    assert again.terms.mechanism.loss == terms.mechanism.loss
    assert np.array_equal(again.terms.mechanism.pair.deviations, terms.mechanism.pair.deviations)
    found = ln.verify(text)
    assert found, [check for check in found.checks if not check.holds]
    for edit in (louder, narrower):
        fields = json.loads(text)
        edit(fields["terms"]["noise"])
        with pytest.raises(FileError, match="too small for the budget"):
            StreamPlan.from_json(json.dumps(fields))
    fields = json.loads(text)
    fields["terms"]["pair"]["widths"][-1] *= 0.999999
    with pytest.raises(FileError, match="too small for the budget"):
        StreamPlan.from_json(json.dumps(fields))
    said = decide(text)[1][-1]
    assert said.startswith("CANNOT DECIDE: ")
    assert name in STRANGE or "mechanism='staircase' is not decided" in said, said


@pytest.mark.parametrize(
    "noise",
    [
        {"first": 0.9},  # as private, but other errors than are stated
        {"factor": None},  # of another length
        {"epsilon": 40.0},
        {"epsilon": 0.001},
        {"epsilon": 0.0},
        {"scale": 0.0},
        {"kept": [0]},
        {"scales": [9.0]},
        {"width": 3.0},
    ],
    ids=str,
)
def test_forged_noise_is_refused(noise):
    fields = json.loads(document(asked("count").terms))
    fields["derived"] = {}
    StreamPlan.from_json(json.dumps(fields))
    if "factor" in noise:
        noise = {"factor": packed(np.array([2.0]))}
    fields["terms"]["noise"] |= noise
    with pytest.raises(FileError):
        StreamPlan.from_json(json.dumps(fields))


def test_staircases_are_for_whole_sums_of_one_number():
    mechanism = asked("count").terms.mechanism
    root = PURE_STRATEGIES["square_root"].make(ln.Prefix(11), "mean")
    with pytest.raises(PlanError, match="whole rounds alone"):
        replace(mechanism, pair=root)
    own = mechanism.noise.own
    for odd in (own, PartialNoise(own, np.array([0]), 1)):
        with pytest.raises(PlanError, match="is of no stream"):
            replace(mechanism, noise=odd)
    for odd in (
        StaircaseNoise(own.gauge, own.scale, own.epsilon, 0.9),
        StaircaseNoise(ellipsoid_norm(np.array([2.0])), own.scale, own.epsilon, own.first),
        StaircaseNoise(ellipsoid_norm(np.ones(2)), own.scale, own.epsilon, own.first),
    ):
        with pytest.raises(PlanError, match="of one number and the best"):
            SteppedNoise(odd)
    # what steps of half the width cost is two of them a level
    half = SteppedNoise.least(own.scale / 2, own.epsilon)
    assert replace(mechanism, noise=half).loss.epsilon == 2 * mechanism.loss.epsilon


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"domain": ln.Box([0.0, 0.0], [1.0, 1.0])}, "a value has several numbers; leave"),
        ({"domain": ln.Ball(2)}, "a value has several numbers; leave"),
        ({"domain": ln.Points([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])}, "a value has several"),
        ({"strategy": "square_root"}, "has sums of parts of rounds"),
        ({"strategy": "optimal"}, "is for Gaussian noise"),
        ({"memory": 3}, "memory=3 is for Gaussian noise"),
        ({"budget": ln.pure_dp(2.0**-8)}, "is too little for steps; use laplace"),
        ({"budget": ln.pure_dp(2.0**-6), "strategy": "honaker"}, "are not from 0.0078125 to 32"),
        ({"budget": ln.zcdp(0.5)}, "mechanism='staircase' is pure"),
        ({"workload": ln.Prefix(1 << 21)}, "is too long for a pure budget"),
        ({"workload": 2.0}, "is no workload"),
        ({"participations": 9}, "do not fit in 8 rounds"),
    ],
    ids=str,
)
def test_mistakes_are_one_line_with_the_remedy(more, said, tmp_path):
    asked = {"workload": ln.Prefix(8), "budget": ln.pure_dp(2.0), "mechanism": "staircase"}
    ledger = ln.Ledger.create(tmp_path / "l", "people", ln.pure_dp(100.0))
    with pytest.raises(LownoiseError) as error:
        ln.stream(**{**asked, **more}, ledger=ledger, path=tmp_path / "own")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "own").exists()
    assert not ledger.entries()


def test_a_delta_is_left_unspent():
    stream = stairs(12, 2.0, budget=ln.approx_dp(2.0, 1e-6))
    assert (stream.terms.name, stream.cost.delta) == ("staircase", 0.0)
    assert stream.error == pytest.approx(stairs(12, 2.0).error, rel=1e-9)


def test_more_than_all_of_a_step_is_not_spent():
    assert stairs(8, 1000.0).cost.epsilon == pytest.approx(32.0)
    assert stairs(8, 1000.0, participations=2).cost.epsilon == pytest.approx(64.0)
    assert stairs(8, 1000.0).error == pytest.approx(stairs(8, 32.0).error, rel=1e-9)


@pytest.mark.parametrize("epsilon", [2.0**-7, 0.1, 1.0, 4.0, 12.0, 32.0])
def test_the_closed_form_is_the_least_staircase_and_its_parts_are_its_density(epsilon):
    rates = np.array([epsilon])
    first = float(Stairs.firsts(rates)[0])
    square = StepRadius(1, epsilon, least_first(1, epsilon)).mean(2.0) / 3
    assert StepRadius(1, epsilon, first).mean(2.0) / 3 == pytest.approx(square, rel=1e-9)
    assert 1 / Stairs.precision(rates)[0] == pytest.approx(square, rel=1e-9)
    ratio = staircase_ratio(1, epsilon)
    assert Shared(epsilon, Stairs).deviations(np.ones(1)) ** 2 == pytest.approx(
        ratio * 2 / epsilon**2, rel=1e-9
    )
    # k + v has the density of r·u at every place
    (own,), (chance,) = Stairs.between(rates)
    q = math.exp(-epsilon)
    for x in np.linspace(0.003, 3.2, 57):
        k = np.arange(-40, 41)
        inside = chance / (2 * own) * (np.abs(x - k) < own)
        inside = inside + (1 - chance) / (2 - 2 * own) * (np.abs(x - k) < 1 - own)
        density = float(((1 - q) / (1 + q) * q ** np.abs(k)) @ inside)
        radii, chances = StepRadius(1, epsilon, first).law()
        assert density == pytest.approx(float(chances @ ((radii > x) / (2 * radii))), rel=1e-9)


@pytest.mark.parametrize("few", [False, True], ids=["many", "few"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999, 1 - 1e-6, 1 - 1e-9])
def test_how_far_sums_of_staircases_stray_is_their_quantile_and_hardly_more(level, few):
    """Against convolutions of the law; beyond 10^-7 by Chernoff's bound.

    Of few numbers and a large ε what is between whole steps has a transform below 0 that counts.
    """
    weights, rates, counts = np.array([1.0, 0.7, 0.3]), np.array([4.0, 2.0, 1.0]), [3, 2, 4]
    if few:
        weights, rates, counts = np.array([1.0, 0.4]), np.array([9.0, 7.0]), [1, 1]
    fine = 1000 if few else 200
    most = 24 * fine
    total = None
    for weight, rate, count in zip(weights, rates.tolist(), counts, strict=True):
        own = SteppedNoise.least(fine * weight, rate).own
        for _ in range(count):
            one = cells(own, most)
            total = one if total is None else fftconvolve(total, one)[most:-most]
    parts = Parts(Stairs, weights, 1 / rates, np.array(counts, dtype=float))
    found = geometric_quantile(parts.weights, parts.scales, parts.counts, level, law=Stairs)
    outside = float(total[np.abs(np.arange(-most, most + 1)) > found * fine].sum())
    assert outside <= (1 - level) * (1 + 1e-3) + 1e-12
    if level < 1 - 1e-5:
        assert outside >= (1 - level) * (0.9 if few else 0.97)
        shorter = geometric_quantile(parts.weights, parts.scales, parts.counts, level) * 0.98
        assert shorter < found
    assert found * (1 - 1e-12) <= sum_bound(parts, 1 - level) <= 30 * found


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0, 25.0])
def test_one_staircase_strays_as_its_tail_says(epsilon):
    own = SteppedNoise.least(1.0, epsilon).own
    radii, chances = StepRadius(1, epsilon, own.first).law()
    for outside in (0.5, 0.05, 1e-4, 1e-8):
        one = np.ones(1)
        found = geometric_quantile(one, one / epsilon, one, 1 - outside, law=Stairs)
        tail = float(chances @ np.maximum(1 - found / radii, 0.0))
        assert outside * 0.99 <= tail <= outside * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 20.0])
def test_moments_hold_of_single_numbers_and_of_sums(epsilon):
    own = SteppedNoise.least(1.0, epsilon)
    radii, chances = StepRadius(1, epsilon, own.own.first).law(12.0)
    square = float(chances @ radii**2) / 3
    for order in (2.0, 3.0, 4.0, 8.0, 12.0):
        exact = float(chances @ radii**order) / (order + 1)
        bound = Stairs.moment_of(np.array([1 / epsilon, 2 / epsilon]), order)
        assert exact ** (1 / order) / math.sqrt(square) <= bound
        # of two alike the fourth moment is 2·m4 + 6·m2²
    fourth = float(chances @ radii**4) / 5
    two = (2 * fourth + 6 * square**2) ** 0.25 / math.sqrt(2 * square)
    assert two <= Stairs.moment_of(np.array([1 / epsilon]), 4.0)


def test_tails_of_many_rounds_are_no_log_concave_ones():
    mechanism = stairs(20_001, 16.0, strategy="input").terms.mechanism
    alone = stairs(1, 16.0).terms.mechanism
    assert alone.noise.own.epsilon == mechanism.noise.own.epsilon
    own = mechanism.noise.own
    radii, chances = StepRadius(1, own.epsilon, own.first).law()
    # beyond half a step with a chance of 10^-5 or so, and then many deviations
    beyond = float(chances @ np.maximum(1 - 0.5 / radii, 0.0))
    deviation = math.sqrt(float(chances @ radii**2) / 3)
    assert mechanism.joint(1 - beyond / 2, 1) >= 0.5 / deviation
    assert mechanism.widest(0.95) > 0


LEVEL, DRAWS = 0.8, 4000


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", ["count", "levels", "line", "decayed"])
def test_intervals_cover_and_are_no_wider_than_they_must_be(name):
    """Each alone and all at once; bounds fail a right stream with chance 10^-6 over all.

    What is a fiftieth shorter covers less than is asked for but for what draws leave open.
    """
    stream = asked(name, 2.0)
    mechanism = stream.terms.mechanism
    n, W = mechanism.workload.rounds, stream.terms.question.workload.matrix()
    randomness = SimulationRandomness(20)
    errors = np.array(
        [
            W @ (mechanism.all_noise(randomness).astype(float) @ mechanism.answer_rows.T)
            for _ in range(DRAWS)
        ]
    )
    errors = np.abs(errors)  # (draws, n, d)
    wide = stream.half_widths(level=LEVEL)
    alone = (errors <= wide).mean(axis=0)
    joint = (errors <= stream.half_widths(level=LEVEL, together=n)).all(axis=(1, 2)).mean()
    compared = 8 * (2 * errors.shape[1] * errors.shape[2] + 1)
    low = binom.ppf(1e-6 / compared, DRAWS, LEVEL) / DRAWS
    high = binom.isf(1e-6 / compared, DRAWS, LEVEL) / DRAWS
    assert np.all(alone >= low)
    assert np.all((errors < wide * 0.98).mean(axis=0) <= high)
    assert joint >= low


@pytest.mark.parametrize("mechanism", ["staircase", "geometric"])
def test_it_errs_no_more_than_in_the_tree_of_laplace_noise(mechanism):
    domain = ln.Points([[0.0], [1.0]]) if mechanism == "geometric" else UNIT
    law = Shared(4.0) if mechanism == "geometric" else Shared(4.0, Stairs)
    usual = ln.stream(ln.Prefix(64), budget=ln.pure_dp(4.0), mechanism="laplace")
    own = stairs(64, 4.0, domain, mechanism=mechanism)
    assert own.error**2 <= squared_error(usual.terms.mechanism.pair, "mean", law) * (1 + 1e-9)


@pytest.mark.grid(2)
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
@pytest.mark.parametrize("rounds", [1, 16, 64])
def test_it_has_less_than_laplace_noise_and_more_than_the_lower_bound(rounds, epsilon):
    own, usual = (
        ln.stream(ln.Prefix(rounds), budget=ln.pure_dp(epsilon), mechanism=mechanism)
        for mechanism in ("staircase", "laplace")
    )
    ratio = (own.error / usual.error) ** 2
    assert staircase_ratio(1, epsilon) * (1 - 1e-9) <= ratio < 1
    if rounds == 1:
        assert ratio == pytest.approx(staircase_ratio(1, epsilon), rel=1e-6)
    assert own.lower_bound <= own.error


def test_noise_in_steps_says_what_it_is():
    noise = SteppedNoise.least(512.0, 3.0)
    drawn = noise.simulate(200_000, SimulationRandomness(3))
    # squares have a deviation of less than 3 of their mean: 5 of those of means
    found = np.square(drawn).mean(axis=0) / noise.covariance()
    assert np.all(np.abs(found - 1) < 5 * 3 / math.sqrt(200_000))
    for factor in (0.5, 1.0, 3.0):
        other = noise.scaled(factor)
        assert other.own.epsilon == 3.0 / factor
        assert np.allclose(
            np.square(noise.growth(np.array([factor]))) * noise.covariance(), other.covariance()
        )
