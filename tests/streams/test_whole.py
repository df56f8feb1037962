# SPDX-License-Identifier: Apache-2.0
"""Streams of listed values with whole noise: what they reveal, by enumeration, and what they say.

Mutants, each seen red: noise of one step of the grid in place of what codes are apart by, its
spacing forgotten in what is charged or only halved, a level's noise of the base scale, scales taken
for deviations, codes of values that may become 0 taken apart from one another alone, an interval of
the base scale, log-concave tails of whole numbers, a tree that was searched for real ones.
"""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

import lownoise as ln
from lownoise.errors import FileError, LownoiseError, PlanError
from lownoise.noise import GeometricNoise
from lownoise.noise.lattice import LatticeNoise, Shared
from lownoise.noise.means import MeanTotals
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning import StreamPlan
from lownoise.planning.pure_streams import PURE_STRATEGIES, squared_error
from lownoise.planning.stream_plan import StreamRequest
from lownoise.sensitivity.participation import Participation
from lownoise.sensitivity.relations import checked_relation
from lownoise.solvers.streams.trees import best_tree
from lownoise.streams import TreeSums, start
from lownoise.streams.codec import document
from lownoise_check import decide

YES = ln.Points([[0.0], [1.0]])
FEW = ln.Points([[0.0], [3.0], [1.5]])  # steps of 1.5
TENTHS = ln.Points([[0.0], [0.1], [0.1 + 0.2]])  # of which no power of two is a part
THIRDS = ln.Points([[2 / 3], [1.0], [0.0]])
BOTH = ln.Points([[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
PERSON = ln.Box([-1.0], [1.0])
TENTH = ln.Box([-0.1 * (1 + 1e-9)], [0.1 * (1 + 1e-9)])
CROWD = ln.Points(np.arange(4.0)[:, None])


def whole(rounds, epsilon, domain=YES, **more):
    asked = {"budget": ln.pure_dp(epsilon), "domain": domain, "mechanism": "geometric", **more}
    return ln.stream(ln.Prefix(rounds) if isinstance(rounds, int) else rounds, **asked)


def codes_of(mechanism, domain):
    return [tuple(own) for own in mechanism.coding.encode(domain.points).tolist()]


def neighbours(mechanism, domain, relation):
    """Yield codes of a round in one world and in the other."""
    codes = codes_of(mechanism, domain)
    for i, j in itertools.permutations(range(len(codes)), 2):
        if relation == "substitute":
            taken = True
        elif relation == "add_remove":
            taken = not np.any(domain.points[i]) or not np.any(domain.points[j])
        else:
            taken = bool(np.all(np.abs(domain.points[i] - domain.points[j]) <= relation.upper))
        if taken:
            yield codes[i], codes[j]


SMALL = {
    # strategy, rounds, ε, domain, relation, participations
    "value": ("input", 2, 2.0, YES, "add_remove", 1),
    "tree": ("honaker", 3, 3.0, YES, "add_remove", 1),
    "added": ("binary_tree", 3, 3.0, YES, "substitute", 1),
    "steps": ("honaker", 2, 4.0, FEW, "add_remove", 1),
    "others": ("honaker", 2, 4.0, FEW, "substitute", 1),
    "person": ("honaker", 2, 2.0, CROWD, PERSON, 1),
    "twice": ("honaker", 2, 4.0, YES, "add_remove", 2),
    "tenths": ("honaker", 2, 4.0, TENTHS, "add_remove", 1),
    "thirds": ("honaker", 2, 4.0, THIRDS, "substitute", 1),
    "tenth moves": ("honaker", 2, 2.0, TENTHS, TENTH, 1),
}


def outcomes(mechanism, chosen, reach):
    """Return what is published under every noise of up to so many multiples, with its chance.

    A round's value is chosen by what was published before it, and each by the noise in that world.

    Args:
        mechanism: of one coordinate.
        chosen: from a round and what was published, (t, draws), to a code, shape (draws,).
        reach: the most multiples in every sum.

    Returns:
        A number for each transcript, and its chance.
    """
    pair, noise = mechanism.pair, mechanism.noise
    counts = [count for count, _ in pair.levels]
    scales = np.repeat([float(own.multiples.scales[0]) for own in mechanism.noises], counts)
    k = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * sum(counts), indexing="ij"))
    k = k.reshape(sum(counts), -1)
    q = np.exp(-1 / scales)
    chances = np.exp(-(np.abs(k) / scales[:, None]).sum(axis=0)) * np.prod((1 - q) / (1 + q))
    made = pair.values(np.split(k * int(noise.spacing[0]), np.cumsum(counts)[:-1]))
    published = np.zeros_like(made)
    for t in range(pair.rounds):
        published[t] = made[t] + chosen(t, published[:t])
    odd = np.random.default_rng(5).integers(0, 2**62, pair.rounds) * 2 + 1
    return (published * odd[:, None]).sum(axis=0), chances


@pytest.mark.parametrize("name", SMALL)
def test_no_neighbour_shows_more_than_is_charged_by_enumeration(name):
    """Every transcript, every pair of neighbours, values that follow from answers, exact chances.

    What leads to a transcript within some reach in one world does so within that and the change in
    the other, so that sums over these are compared without what is beyond.
    """
    strategy, rounds, epsilon, domain, relation, times = SMALL[name]
    stream = whole(
        rounds, epsilon, domain, strategy=strategy, relation=relation, participations=times
    )
    mechanism = stream.terms.mechanism
    step, reach = int(mechanism.noise.spacing[0]), 4
    assert step > 2**20
    codes = [own for (own,) in codes_of(mechanism, domain)]
    worst = 0.0
    pairs = list(neighbours(mechanism, domain, relation))
    for changed in itertools.combinations(range(rounds), times):
        for moves in itertools.product(pairs, repeat=times):
            worlds = []
            for world in (0, 1):
                own = dict(zip(changed, [move[world][0] for move in moves], strict=True))

                def chosen(t, before, own=own):
                    if t in own:
                        return own[t]
                    high = before.sum(axis=0) > step // 3  # as what was published suggests
                    return np.where(high, codes[-1], codes[0])

                far = sum(abs(a[0] - b[0]) for a, b in moves) // step * world
                worlds.append(outcomes(mechanism, chosen, reach + far))
            keys, at = np.unique(worlds[0][0], return_inverse=True)
            first = np.bincount(at, weights=worlds[0][1])
            place = np.searchsorted(keys, worlds[1][0]).clip(max=keys.size - 1)
            met = keys[place] == worlds[1][0]
            second = np.bincount(place[met], weights=worlds[1][1][met], minlength=keys.size)
            worst = max(worst, float(np.max(first / second)))
    assert math.log(worst) <= mechanism.loss.epsilon * (1 + 1e-9)
    assert math.log(worst) >= mechanism.loss.epsilon * 0.999
    assert epsilon * (1 - 1e-9) <= stream.cost.epsilon <= epsilon


ASKED = {
    "count": (ln.Prefix(11), YES, {}),
    "window": (ln.SlidingWindow(9, 4), YES, {"relation": "substitute"}),
    "matrix": (np.tril(np.arange(1.0, 26).reshape(5, 5)), FEW, {"strategy": "tree"}),
    "decayed": (ln.Decayed(9, 0.5), FEW, {"relation": "substitute"}),
    "momentum": (ln.Momentum(8, 0.75), YES, {"strategy": "honaker"}),
    "both": (ln.Prefix(9), BOTH, {"strategy": "honaker"}),
    "either": (ln.Prefix(9), BOTH, {"relation": "substitute"}),
    "person": (ln.Prefix(12), CROWD, {"relation": PERSON, "strategy": "honaker"}),
    "twice": (ln.Prefix(10), YES, {"participations": 2}),
    "largest": (ln.Prefix(40), YES, {"error": "max", "strategy": "tree"}),
    "one hot": (ln.Prefix(9), ln.Points(np.eye(3)), {"relation": "substitute"}),
    "many": (ln.Prefix(300), YES, {}),
    "tenths": (ln.Prefix(12), TENTHS, {}),
    "thirds": (ln.SlidingWindow(9, 4), THIRDS, {"relation": "substitute"}),
    "grid": (ln.Prefix(6), ln.Grid([-0.5, 0], [0.5, 2], [0.1, 1]), {"strategy": "honaker"}),
}


STRANGE = ("person", "twice")  # to the checker, whatever the noise


@cache
def asked(name, epsilon=3.0):
    workload, domain, more = ASKED[name]
    return whole(workload, epsilon, domain, **more)


@pytest.mark.grid(least=6)
@pytest.mark.parametrize("name", ASKED)
def test_epsilon_is_that_of_the_worst_neighbours_in_exact_fractions(name):
    stream = asked(name)
    mechanism, domain = stream.terms.mechanism, stream.terms.question.domain
    more = ASKED[name][2]
    relation = more.get("relation", "add_remove")
    scales = [own.multiples.scales.tolist() for own in mechanism.noises]
    spacing = mechanism.noise.spacing.tolist()
    worst = Fraction(0)
    if relation == "add_remove":
        pairs = [(own, tuple([0] * len(own))) for own in codes_of(mechanism, domain)]
    else:
        pairs = list(neighbours(mechanism, domain, relation))
    for a, b in pairs:
        moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
        assert all(m % s == 0 for m, s in zip(moved, spacing, strict=True))
        parts = [Fraction(m, s) for m, s in zip(moved, spacing, strict=True)]
        worst = max(
            worst,
            sum(p / Fraction(own) for b_l in scales for p, own in zip(parts, b_l, strict=True)),
        )
    worst *= more.get("participations", 1)
    slack = Fraction(1, 10**6) if name == "person" else Fraction(1, 10**12)  # changes are rounded
    assert worst <= Fraction(mechanism.loss.epsilon) <= worst * (1 + slack)
    assert 3 * (1 - 1e-9) <= stream.cost.epsilon <= 3


@pytest.mark.grid(least=6)
@pytest.mark.parametrize("name", ASKED)
def test_every_sum_has_geometric_noise_in_whole_steps(name, monkeypatch):
    """Chances of 0, ±1 and ±2 multiples of every level to five deviations: 10^-6 over all."""
    mechanism, seen = asked(name).terms.mechanism, []
    with monkeypatch.context() as patch:
        patch.setattr(TreeSums, "values", lambda _, drawn: seen.append(drawn))
        for seed in range(max(4, 2000 // mechanism.workload.rounds)):
            mechanism.all_noise(SimulationRandomness(seed))
    base = float(mechanism.noise.multiples.scales[0])
    for level, (count, width) in enumerate(mechanism.pair.levels):
        drawn = np.concatenate([own[level] for own in seen])
        assert len(drawn) == len(seen) * count
        assert not np.any(drawn % mechanism.noise.spacing)
        k = (drawn // mechanism.noise.spacing).astype(float).ravel()
        q = math.exp(-1 / (base * width))
        for size in range(3):
            chance = (1 - q) / (1 + q) * q**size * (1 if size == 0 else 2)
            found = np.count_nonzero(np.abs(k) == size)
            assert binom.cdf(found, k.size, chance) > 1e-8
            assert binom.sf(found - 1, k.size, chance) > 1e-8


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
    fields = json.loads(text)
    fields["terms"]["noise"]["scales"] = [x * 0.999999 for x in fields["terms"]["noise"]["scales"]]
    with pytest.raises(FileError):
        StreamPlan.from_json(json.dumps(fields))
    decided = name not in STRANGE and isinstance(ASKED[name][0], ln.Prefix)
    assert decide(text)[1][-1].startswith("HOLDS: " if decided else "CANNOT DECIDE: ")


def edited(name, **noise):
    fields = json.loads(document(asked(name).terms))
    fields["terms"]["noise"] |= noise
    return {**fields, "derived": {}}


@pytest.mark.parametrize(
    ("name", "noise"),
    [
        ("both", {"scales": [9.0, 8.0]}),  # unlike: least squares is of one
        ("both", {"scales": [9.0]}),
        ("count", {"scales": [0.0]}),
        ("count", {"scales": [9.0], "kept": [0]}),
        ("count", {"scales": [9.0], "step": [4.0]}),  # codes of one value are apart by nothing
    ],
    ids=str,
)
def test_forged_noise_is_refused(name, noise):
    wide = [9.0] * len(asked(name).terms.mechanism.noise.spacing)
    StreamPlan.from_json(json.dumps(edited(name, scales=wide)))
    with pytest.raises(FileError):
        StreamPlan.from_json(json.dumps(edited(name, **noise)))


def test_whole_noise_is_for_whole_sums_of_listed_values():
    stream = asked("count")
    mechanism = stream.terms.mechanism
    finer = replace(mechanism.noise, spacing=mechanism.noise.spacing // 2)
    assert replace(mechanism, noise=finer).loss.epsilon > 5  # steps that divide are private
    coarse = replace(mechanism.noise, spacing=mechanism.noise.spacing * 2)
    with pytest.raises(PlanError, match="finer than sums move"):
        replace(mechanism, noise=coarse)
    root = PURE_STRATEGIES["square_root"].make(ln.Prefix(11), "mean")
    with pytest.raises(PlanError, match="finer than sums move"):
        replace(mechanism, pair=root)
    real = ln.stream(ln.Prefix(11), budget=ln.pure_dp(3.0)).terms.mechanism
    with pytest.raises(PlanError, match="finer than sums move"):
        replace(real, noise=mechanism.noise)
    with pytest.raises(PlanError, match="is of no stream"):
        replace(real, noise=GeometricNoise(np.array([9.0])))


@pytest.mark.parametrize(
    ("domain", "relation", "apart"),
    [
        (YES, "add_remove", 1.0),
        (FEW, "substitute", 1.5),
        (CROWD, PERSON, 1.0),
        (ln.Points([[0.0], [6.0], [15.0]]), "add_remove", 3.0),
        (ln.Points([[1.0], [7.0], [16.0]]), "substitute", 3.0),
        (ln.Points([[-1.0], [0.0], [2.0]]), "add_remove", 1.0),
    ],
    ids=str,
)
def test_steps_are_what_codes_are_apart_by(domain, relation, apart):
    mechanism = whole(8, 3.0, domain, relation=relation).terms.mechanism
    assert mechanism.noise.spacing * mechanism.coding.step == apart
    codes = np.array(codes_of(mechanism, domain))
    assert not np.any((codes - codes[0]) % mechanism.noise.spacing)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("value", [0.1, 2.2, 1 / 3, -1e-9, 1e9 / 7])
def test_a_unit_of_two_values_changes_no_noise(value, relation):
    """A value that no power of two divides is rounded to the grid, and its noise is of its code."""
    stream = whole(8, 6.0, ln.Points([[0.0], [value]]), relation=relation, mechanism=None)
    one = whole(8, 6.0, YES, relation=relation, mechanism=None)
    mechanism = stream.terms.mechanism
    assert stream.terms.name == one.terms.name == "geometric"
    assert stream.error == pytest.approx(one.error * abs(value), rel=1e-9)
    moved = {
        abs(x - y) for (x,), (y,) in neighbours(mechanism, ln.Points([[0.0], [value]]), relation)
    }
    (spacing,) = mechanism.noise.spacing.tolist()
    assert moved == {spacing}
    scales = [float(own.multiples.scales[0]) for own in mechanism.noises]
    assert sum(1 / Fraction(own) for own in scales) <= Fraction(mechanism.loss.epsilon) <= 6
    assert ln.verify(document(stream.terms))
    answers = start(stream.terms, randomness=SimulationRandomness(8)).update_many([[value]] * 8)
    made = mechanism.all_noise(SimulationRandomness(8))[:, 0] * float(mechanism.coding.step[0])
    exact = np.cumsum(value + made)
    assert np.all(np.abs(answers.ravel() - exact) <= mechanism.off[0] + 1e-12 * np.abs(exact))


def test_steps_of_values_that_become_0_are_also_from_0_on():
    totals = asked("count").terms.mechanism.totals
    coding = replace(totals.query.coding, domain=ln.Points([[1.0], [3.0]]))
    for size, apart in ((None, 1.0), (1, 2.0)):
        relation = "substitute" if size else "add_remove"
        own = MeanTotals(
            query=replace(totals.query, coding=coding),
            relation=relation,
            size=size,
            count_step=None if size else 1.0,
            coordinates=totals.coordinates,
        )
        assert own.apart * coding.step == apart


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"domain": ln.Box([0.0], [1.0])}, "values have no known common step"),
        ({"domain": ln.Ball(2)}, "values have no known common step"),
        ({"strategy": "square_root"}, "has sums of parts of rounds, which are not whole"),
        (
            {"domain": ln.Points([[0.0], [0.1], [math.pi]])},
            "values have no known common step",
        ),
        (
            {"domain": ln.Points([[0.0], [2.0**-25], [1.0]])},
            "values are too close together",
        ),
        ({"budget": ln.zcdp(0.5)}, "mechanism='geometric' is pure"),
    ],
    ids=str,
)
def test_mistakes_are_one_line_with_the_remedy(more, said):
    with pytest.raises(LownoiseError) as error:
        ln.stream(
            **{
                "workload": ln.Prefix(8),
                "budget": ln.pure_dp(2.0),
                "domain": YES,
                "mechanism": "geometric",
                **more,
            }
        )
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.grid(2)
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("rounds", [1, 16, 256])
def test_the_least_of_all_is_taken(rounds, epsilon):
    stream = ln.stream(ln.Prefix(rounds), budget=ln.pure_dp(epsilon), domain=YES)
    errors = {own.mechanism: own.error for own in stream.terms.alternatives if own.error}
    assert stream.terms.name == "geometric"
    assert stream.error == pytest.approx(min(errors.values()), rel=1e-9)
    law = Shared(epsilon)
    every = [
        own.make(ln.Prefix(rounds), "mean", law)
        for name, own in PURE_STRATEGIES.items()
        if name != "square_root"
    ]
    least = math.sqrt(min(squared_error(own, "mean", law) for own in every))
    arities, widths = best_tree(rounds, law=law)
    tree = TreeSums(ln.Prefix(rounds), arities, frozen(np.array(widths)))
    assert least**2 <= squared_error(tree, "mean", law)
    assert stream.error == pytest.approx(least, rel=1e-6)
    assert stream.error < errors["laplace"]
    assert stream.lower_bound <= stream.error
    # what cannot gain a hundredth is not looked at
    small = ln.stream(ln.Prefix(rounds), budget=ln.pure_dp(0.3), domain=YES)
    assert {own.mechanism for own in small.terms.alternatives} == {"laplace", "k_norm"}


def test_under_epsilon_and_delta_it_is_compared_too():
    stream = ln.stream(ln.Prefix(32), budget=ln.approx_dp(2.0, 1e-6), domain=YES)
    errors = {own.mechanism: own.error for own in stream.terms.alternatives if own.error}
    assert stream.terms.name == "geometric"
    assert set(errors) == {"gaussian", "laplace", "geometric"}
    assert stream.error == pytest.approx(min(errors.values()), rel=1e-9)


def test_more_than_all_of_a_step_is_not_spent():
    stream = whole(8, 1000.0)
    assert stream.cost.epsilon == pytest.approx(32.0)
    assert whole(8, 1000.0, participations=2).cost.epsilon == pytest.approx(64.0)


LEVEL, DRAWS = 0.8, 4000


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", ["count", "both", "one hot", "decayed"])
def test_intervals_cover_and_are_no_wider_than_they_must_be(name):
    """Each alone and all at once; bounds fail a right stream with chance 10^-6 over all.

    What whole numbers add up to has atoms, so an interval may cover more; what is a fiftieth
    shorter, and not an atom, covers less than is asked for but for what draws leave open.
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


def test_tails_of_many_rounds_are_of_whole_numbers():
    """Beyond what is drawn moments speak; those of small whole numbers are no log-concave ones'."""
    mechanism = whole(20_001, 16.0, strategy="input").terms.mechanism
    own = mechanism.noise
    alone = whole(1, 16.0).terms.mechanism
    assert alone.noise.multiples.scales[0] == own.multiples.scales[0]
    # one number is other than 0 with chance 7·10^-4, and then 38 deviations or more
    q = math.exp(-1 / float(own.multiples.scales[0]))
    beyond, outside = 1.0 / math.sqrt(2 * q / (1 - q) ** 2), 2 * q / (1 + q)
    far = mechanism.joint(1 - outside / 2, 1)
    assert far >= beyond
    assert mechanism.widest(0.95) > 0


def test_a_stream_that_was_begun_with_other_noise_goes_on_with_it(tmp_path):
    """A program of before took Laplace noise of the same request."""
    before = ln.stream(ln.Prefix(9), budget=ln.pure_dp(3.0), domain=YES, mechanism="laplace").terms
    request = StreamRequest(
        workload=ln.Prefix(9),
        budget=ln.pure_dp(3.0),
        strategy="auto",
        error="mean",
        domain=YES,
        relation=checked_relation("add_remove"),
        memory=None,
        participation=Participation.asked(1, 1, None),
    )
    path, seed = tmp_path / "own.stream", SimulationRandomness(7)
    start(before, randomness=seed, path=path, asked=request.to_dict()).update(1)
    stream = ln.stream(ln.Prefix(9), budget=ln.pure_dp(3.0), domain=YES, path=path)
    assert (stream.terms.name, stream.round) == ("laplace", 1)
    alone = start(before, randomness=SimulationRandomness(7))
    alone.update(1)
    assert stream.update(1) == alone.update(1)


def test_noise_of_multiples_says_what_it_is():
    noise = LatticeNoise(GeometricNoise(np.full(2, 1.5)), np.array([3, 5]))
    drawn = noise.simulate(200_000, SimulationRandomness(3))
    assert not np.any(drawn % noise.spacing)
    # squares have a deviation of about 2.4 of their mean: 5 of those of means
    found = np.square(drawn).mean(axis=0) / noise.covariance()
    assert np.all(np.abs(found - 1) < 5 * 2.4 / math.sqrt(200_000))
    for factor in (0.5, 3.0):
        other = noise.scaled(factor)
        assert np.allclose(
            np.square(noise.growth(np.array([factor]))) * noise.covariance(), other.covariance()
        )
    for odd in (np.array([3, 0]), np.array([3])):
        with pytest.raises(PlanError):
            LatticeNoise(GeometricNoise(np.full(2, 1.5)), odd)
