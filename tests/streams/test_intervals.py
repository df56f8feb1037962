# SPDX-License-Identifier: Apache-2.0
"""Intervals of a stream's answers cover, each alone and all so far at once, with their chance.

Mutants, each seen red: intervals of all rounds that are those of each; of a round that are those of
another; noise of rounds taken for independent; a level taken for what is outside; rounding of
values left out; the greatest draw taken for what so few tell nothing of.
"""

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

import lownoise as ln
from lownoise.errors import PlanError, StreamError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.questions.streams import LowerTriangular
from lownoise.release.guarantees import tail_quantile
from lownoise.release.regions import simultaneous_quantile
from lownoise.streams.progress import noise_of
from lownoise.streams.sums import ToeplitzSums, TreeSums
from streams.kinds import TAKEN, WORKLOADS, factors

ROUNDS, LEVEL = 8, 0.8
DRAWS = 2000
PAIR = ln.Box([0, 0], [1, 3])
KINDS = {
    "optimal": {"budget": ln.zcdp(0.5)},
    "pair": {"budget": ln.zcdp(0.5), "domain": PAIR},
    "tree": {"budget": ln.pure_dp(1.0), "strategy": "honaker"},
    "corner": {"budget": ln.pure_dp(1.0), "domain": PAIR, "mechanism": "k_norm"},
    "box": {"budget": ln.pure_dp(1.0), "domain": PAIR, "relation": "substitute"},
    "ball": {"budget": ln.pure_dp(1.0), "domain": ln.Ball(2), "mechanism": "k_norm"},
}

PURE = ("tree", "corner", "box", "ball")
KNOWN = ("tree", "corner", "box")  # whose law is known for each answer alone


@cache
def made(name):
    return ln.stream(ln.Prefix(ROUNDS), **KINDS[name])


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", KINDS)
def test_they_cover_with_their_chance_and_no_more_than_draws_leave_open(name):
    """Each bound fails a right stream with a chance below 10^-6 over all that is compared here.

    Half widths a seventh too narrow cover 0.728 of answers in place of 0.8: seen with chance 0.99.
    Where they come from draws, and not from the law, they are above the quantile, by at most two
    of the draws' own deviations of 4.8 on either side.
    """
    stream = made(name)
    mechanism = stream.terms.mechanism
    randomness = SimulationRandomness(20)
    noise = np.array(
        [noise_of(mechanism, randomness).take(ROUNDS) for _ in range(DRAWS)], dtype=np.float64
    )
    if name in PURE:
        noise = np.tril(np.ones((ROUNDS, ROUNDS))) @ noise
    errors = np.abs(noise @ mechanism.answer_rows.T)  # (draws, n, d)
    d = errors.shape[2]
    alone = (errors <= stream.half_widths(level=LEVEL)).sum(axis=0)
    joint = [
        np.all(
            errors[:, :t] <= stream.half_widths(1, t, level=LEVEL, together=t), axis=(1, 2)
        ).sum()
        for t in (1, 3, ROUNDS)
    ]
    compared = ROUNDS * d + len(joint)
    low = binom.ppf(1e-6 / compared / len(KINDS) / 2, DRAWS, LEVEL)
    own, drawn = (
        binom.isf(1e-6 / compared / len(KINDS) / 2, DRAWS, LEVEL + more)
        for more in (1e-5, 9.6 * 0.4 / 20_000**0.5)
    )
    assert np.all((low <= alone) & (alone <= (own if name in KNOWN else drawn)))
    for found in joint:
        # one answer of several numbers is covered by an inequality
        assert low <= found
        assert found <= drawn or (d > 1 and found is joint[0])


def test_joint_ones_make_use_of_how_rounds_depend():
    stream = made("optimal")
    factor = stream.half_widths(together=ROUNDS)[0, 0] / stream.standard_deviation(1)
    assert stream.half_widths()[0, 0] < factor * stream.standard_deviation(1)
    assert factor < 0.99 * simultaneous_quantile(0.95, ROUNDS)  # draws leave 0.6 in 100 open
    wider = [stream.half_widths(1, 1, together=t)[0, 0] for t in range(1, ROUNDS + 1)]
    assert all(a <= b for a, b in itertools.pairwise(wider))
    assert wider[0] == pytest.approx(stream.half_widths(1, 1)[0, 0])


@pytest.mark.parametrize("name", KINDS)
def test_some_rounds_have_those_of_all(name):
    for together in (None, 5):
        every = made(name).half_widths(together=together)
        assert len(every) == (together or ROUNDS)
        assert np.array_equal(every[3:5], made(name).half_widths(4, 2, together=together))


@pytest.mark.parametrize("name", ["optimal", "pair", "tree"])
def test_draws_have_the_covariance_of_the_noise(name):
    """To six deviations of each entry's mean over 20,000 draws; a chance below 10^-6."""
    mechanism = made(name).terms.mechanism
    drawn = np.concatenate(list(mechanism.errors(0.5)), axis=1)[:, :, 0]
    deviations = mechanism.deviations(0, ROUNDS)[:, 0]
    scaled = drawn / deviations[:, None]
    if name == "tree":
        expected = np.eye(ROUNDS)  # its variances alone
        kept = np.eye(ROUNDS, dtype=bool)
    else:
        own, _ = factors(mechanism.pair)
        through, side = mechanism.answer_variances
        expected = (own @ own.T * through[0] + side[0] * np.eye(ROUNDS)) / np.outer(
            deviations, deviations
        )
        kept = np.ones((ROUNDS, ROUNDS), dtype=bool)
    products = scaled[:, None] * scaled[None]
    found, spread = products.mean(axis=2), products.std(axis=2) / drawn.shape[1] ** 0.5
    assert np.all(np.abs(found - expected)[kept] <= 6 * spread[kept])


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize(("name", "strategy"), TAKEN, ids=str)
def test_draws_are_through_the_factor_that_noise_is(name, strategy):
    pair = ln.stream(WORKLOADS[name], budget=ln.zcdp(0.5), strategy=strategy).terms.mechanism.pair
    own, _ = factors(pair)
    assert np.allclose(pair.linear(np.eye(own.shape[1])), own)


@pytest.mark.parametrize("name", ["optimal", "ball", "corner"])
def test_a_stream_that_goes_on_has_those_of_one_that_never_stopped(name, tmp_path):
    """About its own answers: of a state, of a file, and of a batch or one round."""
    d = 2 if "domain" in KINDS[name] else 1
    values = np.ones((3, d))
    stream = ln.stream(ln.Prefix(ROUNDS), **KINDS[name])
    stream.update_many(values)
    kept = ln.stream(ln.Prefix(ROUNDS), **KINDS[name], path=tmp_path / "s")
    kept.update_many(values)
    resumed = [ln.Stream.restore(stream.state()), ln.Stream.open(tmp_path / "s")]
    for before, own in zip((stream, kept), resumed, strict=True):
        assert np.array_equal(before.interval(0.9), own.interval(0.9))
        answers = np.reshape(own.update_many(values[:2]), (2, d))
        for found, wide in (
            (own.interval(0.9), own.half_widths(4, 2, level=0.9)),
            (own.simultaneous_interval(0.9), own.half_widths(4, 2, level=0.9, together=5)),
        ):
            assert found.shape == ((2, 2) if d == 1 else (2, d, 2))
            ends = found.reshape(2, d, 2)
            assert np.allclose(ends.mean(axis=2), answers)
            assert np.allclose(np.diff(ends)[..., 0] / 2, wide)
        own.update(values[0] if d > 1 else 1.0)
        assert own.interval().shape == ((1, 2) if d == 1 else (1, d, 2))


def test_what_cannot_be_drawn_keeps_to_inequalities():
    """Beyond what is drawn: those of normal numbers, however dependent, and of log-concave ones."""
    n = 5001
    long = ln.stream(ln.Prefix(n), budget=ln.zcdp(0.5), strategy="square_root")
    factor = long.half_widths(n, 1, together=n)[0, 0] / long.standard_deviation(n)
    assert factor == pytest.approx(simultaneous_quantile(0.95, n), rel=1e-6)
    n = 20_001
    tree = ln.stream(ln.Prefix(n), budget=ln.pure_dp(1.0), strategy="input")
    alone, together = (
        tree.half_widths(n, 1, together=rounds)[0, 0] / tree.standard_deviation(n)
        for rounds in (None, n)
    )
    assert 2.16 < alone < 2.18
    assert 9 < together < 9.2


@pytest.mark.parametrize("name", KINDS)
def test_levels_beyond_what_draws_tell_keep_to_inequalities(name):
    """The greatest of 20,000 draws is above the quantile of 1 - 10^-6 with a chance of 2%."""
    stream, high = made(name), 1 - 1e-6
    mechanism = stream.terms.mechanism
    alone = stream.half_widths(level=high)
    for together in (1, 3, ROUNDS):
        assert np.all(stream.half_widths(together=together, level=high) >= alone[:together])
    wide = alone - mechanism.off
    factors = wide / mechanism.deviations(0, ROUNDS)
    # normal numbers stray least of all, and no log-concave ones beyond the inequality
    least, most = simultaneous_quantile(high, 1), tail_quantile(1e-6)
    assert np.all(factors >= 0.999999 * (most if name == "ball" else least))
    assert np.all(factors <= 1.000001 * (0.999 * most if name in KNOWN else most))
    assert mechanism.widest(high) == pytest.approx(np.max(wide))


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize(
    "sums",
    [
        TreeSums(ln.Prefix(29), (), np.array([1.0])),
        TreeSums(ln.Prefix(29), (2, 4), np.array([1.0, 0.5, 2.0])),
        TreeSums(ln.Prefix(29), (2, 2, 3), np.array([1.0, 2.0, 0.3, 1.5]), fitted=False),
        TreeSums(ln.SlidingWindow(17, 5), (3, 2), np.array([1.0, 2.0, 3.0])),
        TreeSums(LowerTriangular(np.tril(np.arange(1.0, 122).reshape(11, 11))), (2,), np.ones(2)),
        ToeplitzSums(ln.Decayed(12, 0.75), 0.5 ** np.arange(12)),
    ],
)
def test_an_answer_takes_of_every_sum_what_all_noise_goes_through(sums):
    counts = [count for count, _ in sums.levels]
    for level, count in enumerate(counts):
        unit = [np.zeros((other, count)) for other in counts]
        unit[level] = np.eye(count)
        through = sums.workload.matrix() @ sums.linear(unit)
        for t in range(sums.rounds):
            assert np.allclose(sums.weights(t)[level], through[t], atol=1e-13)


def test_rounds_of_a_law_that_is_known_are_not_drawn(monkeypatch):
    stream = ln.stream(ln.Prefix(ROUNDS), **KINDS["corner"])

    def never(self, outside):
        raise AssertionError(outside)

    monkeypatch.setattr(type(stream.terms.mechanism), "errors", never)
    assert stream.half_widths(4, 2).shape == (2, 2)
    assert stream.terms.mechanism.widest(0.95) > 0


def test_what_rounding_values_may_move_is_in_them():
    mechanism = made("tree").terms.mechanism
    moved = float(mechanism.workload.longest * mechanism.coding.slack[0])
    assert mechanism.off[0] >= moved * mechanism.coding.step[0] > 0
    for name in ("optimal", "pair"):  # of no chance of the noise, nothing else is left
        off = made(name).terms.mechanism.off
        for together in (None, 1):
            own = made(name).half_widths(1, 1, level=1e-300, together=together)
            assert np.all(own >= off)
            assert np.all(off > 0)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"level": 1.0}, PlanError),
        ({"level": "0.9"}, PlanError),
        ({"first": 0}, StreamError),
        ({"count": ROUNDS + 1}, StreamError),
        ({"first": 4, "count": 2, "together": 4}, StreamError),
        ({"first": 5, "together": 4}, StreamError),
        ({"together": 0}, StreamError),
        ({"together": ROUNDS + 1}, StreamError),
        ({"together": True}, StreamError),
    ],
)
def test_what_is_no_level_or_round_is_refused(given, error):
    with pytest.raises(error, match=next(iter(given))):
        made("optimal").half_widths(**given)


def test_more_rounds_than_are_shown_at_once_have_intervals_together():
    n = 1 << 25
    long = ln.stream(ln.Prefix(n), budget=ln.zcdp(0.5))
    assert long.half_widths(n, 1, together=n) > long.half_widths(n, 1)


def test_there_are_none_before_the_first_answer():
    with pytest.raises(StreamError, match="has no answers yet"):
        made("optimal").interval()
