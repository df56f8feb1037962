# SPDX-License-Identifier: Apache-2.0
"""The change between two releases: what it is, that its intervals cover, and what has none.

Mutants, each seen red: both noises drawn by one seed; the deviation of one release alone, or
deviations added up; the strip of ratios without the turn that counts allow, narrower or wider than
its share of the chance; the parts of marginals of one release alone.
"""

import functools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lownoise as ln
from command_line import refused, run
from golden.accessors import simulated
from lownoise.errors import FileError, LownoiseError, PlanError, QuestionError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.differences import cell_half_widths, half_widths, ratio_change
from lownoise.release.guarantees import tail_quantile
from lownoise.release.regions import Ratios
from lownoise.release.release import Release
from pure.documents import APPROXIMATE, ASKED, planned
from report.members import RELEASED, plan, released

NUMBERS = ["change", "low", "high", "standard_deviation"]
LEVEL = 0.95


@functools.cache
def pair(name):
    """Two releases of one plan, the second with other noise and on another day."""
    first = released(plan(name))
    terms = first.terms
    rng = np.random.default_rng(2)
    moved = np.asarray(first.integers, dtype=object) + rng.integers(-3, 4, len(first.integers))
    if name in UNMOVED:
        moved = np.asarray(first.integers)
    integers = tuple(map(int, moved))
    if terms.view.folder:
        integers = np.asarray(moved, dtype=first.integers.dtype)
    return replace(first, integers=integers, created="another day"), first


UNMOVED = {name for name in RELEASED if "no noise" in name or "randomized" in name}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", RELEASED)
def test_it_is_the_difference_with_the_sum_of_variances_and_the_other_way_its_negative(name):
    later, earlier = pair(name)
    found, back = (later - earlier).to_pandas(), (earlier - later).to_pandas()
    now, then = later.to_pandas(level=math.sqrt(LEVEL)), earlier.to_pandas(level=math.sqrt(LEVEL))
    value = now.columns[-4]
    own = found.iloc[len(found) - len(now) :].reset_index(drop=True)  # after means over counts
    labels = list(now.columns[:-4])
    assert own[labels].equals(now[labels])
    np.testing.assert_array_equal(own["change"], now[value] - then[value])
    both = np.hypot(now["standard_deviation"], then["standard_deviation"])
    np.testing.assert_allclose(own["standard_deviation"], both, rtol=1e-12)
    np.testing.assert_array_equal(found["change"], -back["change"])
    np.testing.assert_array_equal(found["low"], -back["high"])
    np.testing.assert_array_equal(found["high"], -back["low"])
    assert np.all(found["low"] <= found["high"])
    # never beyond what each interval of level √level allows
    least, most = now["low"] - then["high"], now["high"] - then["low"]
    off = 1e-9 * (1 + np.abs(least) + np.abs(most))
    inside = (own["low"] >= least - off) & (own["high"] <= most + off)
    ratio = own["answer"].str.startswith("mean(") if "answer" in own else False
    assert np.all(inside | ratio)


@pytest.mark.parametrize("name", ["means", "sums", "pairs", "ordered"])
def test_one_release_has_no_change(name, tmp_path):
    first = released(plan(name))
    first.save(tmp_path / "saved")
    again = Release.load(tmp_path / "saved")
    for other in (first, again):
        with pytest.raises(QuestionError, match="are one release, made "):
            other - first
        with pytest.raises(QuestionError, match="are one release, made "):
            first - other
    assert np.all((pair(name)[0] - again).to_pandas()["change"].notna())


def tight(covered, count, level, spare):
    """Whether so many of `count` intervals hold at least their level, and hardly more.

    Of the first kind 1e-6 each; of 40,000 draws a coverage of 0.9475 is below 0.95 with 1 − 1e-6.
    """
    assert stats.binomtest(covered, count, level, "less").pvalue > 1e-6, covered / count
    assert stats.binomtest(covered, count, level + spare, "greater").pvalue > 1e-6, covered / count


DRAWS = 40_000
# randomised response is not of one law: its bound is Hoeffding's, held below
DRAWN = [name for name in ASKED if name != "randomized_response"]


@functools.cache
def two(name):
    kind, relation = ASKED[name]
    own = APPROXIMATE.get(name.strip(), ln.pure_dp(0.7))
    other = ln.approx_dp(1.1, 1e-6) if name.strip() == "radial" else ln.pure_dp(1.1)
    return tuple(planned(kind, relation, name.strip(), budget) for budget in (own, other))


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", DRAWN)
def test_intervals_of_changes_under_pure_noise_cover_at_their_level(name):
    one, other = (own.terms for own in two(name))
    half = half_widths(one, other, LEVEL)
    np.testing.assert_array_equal(half, half_widths(other, one, LEVEL))
    draws = [
        np.asarray(own.mechanism.simulate(DRAWS, SimulationRandomness(seed)))
        for own, seed in ((one, 7), (other, 8))
    ]
    covered = np.sum(np.abs(draws[0] - draws[1]) <= half * (1 + 1e-12), axis=0)
    lattice = "geometric" in name or "discrete" in name
    assert np.all((half > 0) == (np.std(draws[0], axis=0) > 0))
    for count in covered[half > 0].tolist():
        tight(count, DRAWS, LEVEL, 0.045 if lattice else 0.008)


@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.7, 2.5), (4.0, 0.3)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_changes_of_geometric_counts_cover_by_enumeration(scales, level):
    """Of two integers, no smaller interval covers: the law of their difference is added up."""
    laws = []
    for b in scales:
        k = np.arange(-400, 401)
        q = math.exp(-1 / b)
        laws.append((1 - q) / (1 + q) * q ** np.abs(k))
    both = np.convolve(*laws)
    middle = both.size // 2
    inside = np.array([both[middle - t : middle + t + 1].sum() for t in range(300)])
    question = ln.Queries([[1.0, 0]], {"x": 2})
    terms = [
        ln.plan(question, budget=ln.pure_dp(1 / b), relation="add_remove", mechanism="geometric")
        for b in scales
    ]
    np.testing.assert_allclose([t.terms.mechanism.noise.scales[0] for t in terms], scales)
    half = half_widths(*(t.terms for t in terms), level).item()
    assert half == np.flatnonzero(inside >= level)[0]
    counts = [
        ln.plan(
            ln.Count({"x": 2}),
            budget=ln.pure_dp(1 / b),
            relation="add_remove",
            mechanism="geometric_histogram",
        ).terms
        for b in scales
    ]
    assert cell_half_widths(*counts, ["x"], level).item() == half


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_changes_of_laplace_answers_have_the_quantile_of_their_law(level):
    """P(|X − Y| > t) = (1 + t/2b)·e^{−t/b} where both scales are b."""
    question = ln.Mean(["a"], ln.Box([0], [1]))
    laplace = ln.plan(
        question, budget=ln.pure_dp(1), relation="substitute", size=10, mechanism="laplace"
    )
    half = half_widths(laplace.terms, laplace.terms, level).item()
    b = laplace.terms.standard_deviation.item() / math.sqrt(2)
    beyond = (1 + half / (2 * b)) * math.exp(-half / b)
    assert beyond <= 1 - level
    assert beyond == pytest.approx(1 - level, rel=1e-4)


def test_changes_of_reports_have_hoeffdings_bound():
    one, other = (own.terms for own in two("randomized_response"))
    assert math.isclose(
        half_widths(one, other, LEVEL)[0] ** 2,
        sum(own.proof.half_widths(LEVEL)[0] ** 2 for own in (one, other)),
    )
    mixed = planned("queries", "substitute", "laplace").terms
    each = math.sqrt(LEVEL)
    np.testing.assert_array_equal(
        half_widths(one, mixed, LEVEL), one.proof.half_widths(each) + mixed.proof.half_widths(each)
    )


# --- marginals under pure noise

TABLES = ["laplace_residual", "geometric_residual", "laplace_histogram", "k_norm"]


@pytest.mark.parametrize("mechanism", TABLES)
def test_changes_of_counts_cover_at_their_level(mechanism):
    """2,000 changes of 11 cells: of the first kind 1e-6 each, and 0.92 is found with 1 − 1e-5."""
    question = ln.Marginals({"a": 3, "b": 2}, way=2)
    rows = pd.DataFrame({"a": np.arange(90) % 3, "b": np.arange(90) % 2})
    plans = [
        ln.plan(question, budget=ln.pure_dp(e), relation="add_remove", mechanism=mechanism)
        for e in (0.7, 1.1)
    ]
    runs, both = 2000, []
    for k, own in enumerate(plans):
        noise = own.terms.mechanism.noise.simulate(runs, SimulationRandomness(11 + k))
        with simulated(1):
            base = own.release(rows)
        both.append((base, np.rint(noise).astype(np.int64)))
    covered = 0
    width = (both[0][0] - both[1][0])["a", "b"]
    half = ((width["high"] - width["low"]) / 2).to_numpy()
    for k in range(runs):
        errors = [replace(base, integers=noise[k])["a", "b"].ravel() for base, noise in both]
        covered += np.abs(errors[0] - errors[1]) <= half + 1e-9
    for count in covered.tolist():
        tight(count, runs, LEVEL, 0.049 if mechanism in ("geometric_residual", "k_norm") else 0.01)


# --- means over private counts


LAWS = {  # of variance 1, symmetric and log-concave
    "normal": lambda rng, *shape: rng.normal(size=shape),
    "laplace": lambda rng, *shape: rng.laplace(size=shape) / math.sqrt(2),
}


def ratios(rng, sums, count, deviations, beside, runs, law="normal"):
    (one, two), slope = deviations, beside / deviations[1] if beside else 0.0
    drawn = LAWS[law](rng, runs, 2)
    noise = drawn @ np.array([[math.sqrt(one**2 - slope**2), 0], [slope, two]])
    estimate = np.array([sums, count]) + noise
    return Ratios.of(estimate, np.array(deviations), np.array([beside, two**2]))


WIDE = np.array([[-math.inf, math.inf]])
# exact mean about the center, count of both, deviations, covariance with the count; and how wide
# intervals are under normal noise, under Laplace noise, and there with each alone at √level
CASES = {
    "many": ((0.3, 4000), (-0.2, 4400), (2.0, 1.0), 0.0, (1.06, 1.13, 1.75)),
    "a hundred": ((1.5, 100), (-1.5, 130), (2.0, 1.0), -1.2, (1.12, 1.27, 1.6)),
    "between": ((0.0, 18), (0.0, 18), (2.0, 1.0), 0.0, (1.4, 1.9, 1.75)),
    "few": ((0.8, 12), (0.8, 9), (2.0, 1.0), 0.5, (1.7, 1.95, 1.8)),
    "unlike": ((3.0, 60), (0.0, 6000), (4.0, 1.0), 2.0, (1.06, 1.1, 1.2)),
    "an exact count": ((0.5, 50), (-0.5, 500), (2.0, 0.0), 0.0, (1.06, 1.09, 1.3)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", CASES)
def test_changes_of_ratios_cover_and_are_hardly_wider_than_their_noise(name, law):
    """Of 20,000 runs: of the first kind 1e-6, and a coverage of 0.942 is found with 1 − 1e-3."""
    (mean, count), (mean2, count2), deviations, beside, wider = CASES[name]
    rng, runs, normal = np.random.default_rng(5), 20_000, law == "normal"
    later = ratios(rng, mean * count, count, deviations, beside, runs, law)
    earlier = ratios(rng, mean2 * count2, count2, deviations, beside, runs, law)
    low, high = ratio_change(later, earlier, LEVEL, WIDE, normal=normal)[:, 0].T
    unbounded = np.isnan(low)
    exact = mean - mean2
    covered = int(np.sum(unbounded | ((low <= exact) & (exact <= high))))
    assert stats.binomtest(covered, runs, LEVEL, "less").pvalue > 1e-6, covered / runs
    few = [
        replace(own, numerator=own.numerator[:99], denominator=own.denominator[:99])
        for own in (earlier, later)
    ]
    swapped = ratio_change(*few, LEVEL, WIDE, normal=normal)
    np.testing.assert_array_equal(swapped[:, 0, 0], -high[:99])
    # beside the quantile of the noise of the difference, were both counts exact
    strays = [
        (own.numerator[:, 0] - m * own.denominator) / n
        for own, m, n in ((later, mean, count), (earlier, mean2, count2))
    ]
    usual = 2 * np.quantile(np.abs(strays[0] - strays[1]), LEVEL)
    assert np.nanmedian(high - low) > usual
    assert np.nanmedian(high - low) < (wider[0] if normal else wider[1]) * usual
    if law == "laplace":
        each = -math.log(1 - math.sqrt(LEVEL)) / math.sqrt(2)
        alone = sum(np.diff(own.interval(each), axis=-1)[:, 0, 0] for own in (later, earlier))
        assert np.nanmedian(alone) / usual > wider[2]


@pytest.mark.parametrize("normal", [True, False], ids=["normal", "any"])
@pytest.mark.parametrize("level", [0.5, LEVEL, 0.9999])
@pytest.mark.parametrize("off", [(1, 1), (1, -1), (-1, 1), (-1, -1)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_every_noise_that_the_chance_allows_leaves_the_exact_change_inside(
    name, off, level, normal
):
    """On the edge of all that is said to hold with the chance: of strip, disc and both counts."""
    (mean, count), (mean2, count2), (wide, scale), beside, _ = CASES[name]
    missed = 1 - level
    strays = [math.sqrt(wide**2 - 2 * m * beside + (m * scale) ** 2) for m in (mean, mean2)]
    turn = math.atan2(strays[1] / count2, strays[0] / count)
    angles = np.linspace(0, 2 * math.pi, 721)
    if normal:
        z, r = (stats.norm.isf(missed * share / 2) for share in (0.9, 0.025))
        far = math.sqrt(-2 * math.log(0.05 * missed))
    else:  # of the worst log-concave law
        z, r, square = (
            tail_quantile(own)
            for own in (0.9 * missed, 0.025 * missed, 1 - math.sqrt(1 - 0.05 * missed))
        )
        if min(count, count2) < 4 * square * scale:
            z, square = math.inf, tail_quantile(1 - math.sqrt(1 - 0.95 * missed))
        far = square / np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles)))
    length = 0.999 * np.minimum(far, z / np.maximum(np.abs(np.cos(angles - turn)), 1e-9))
    both = []
    for own, n, stray, noise, side in (
        (mean, count, strays[0], -length * np.cos(angles), off[0]),
        (mean2, count2, strays[1], length * np.sin(angles), off[1]),
    ):
        seen = np.full(angles.size, n + 0.999 * side * r * scale)
        estimate = np.stack([own * seen + noise * stray, seen], axis=1)
        both.append(Ratios.of(estimate, np.array([wide, scale]), np.array([beside, scale**2])))
    low, high = ratio_change(*both, level, WIDE, normal=normal)[:, 0].T
    known = ~np.isnan(low)
    assert np.all(low[known] <= mean - mean2)
    assert np.all(mean - mean2 <= high[known])
    assert np.all(known) or name == "few"


def test_levels_beside_one_take_no_digits_off_the_chance():
    """Beside √(u² + u'²) the strip, whose share of the chance to miss is 0.9."""
    noise = np.random.default_rng(3)
    both = [ratios(noise, 3e8, 1e9, (2.0, 1.0), 0.0, 1) for _ in range(2)]
    for level in (1 - 1e-12, 1 - 1e-15, math.nextafter(1, 0)):
        low, high = ratio_change(*both, level, WIDE)[0, 0].tolist()
        usual = stats.norm.isf((1 - level) * 0.9 / 2) * math.hypot(2, 0.3) / 1e9 * math.sqrt(2)
        assert 1 <= (high - low) / 2 / usual < 1.01


def test_a_change_of_a_mean_whose_count_may_be_zero_is_anything():
    question = ln.Mean(["pay"], ln.Box([0], [10]))
    few = ln.plan(question, budget=ln.zcdp(1e-4), relation="add_remove")
    table = pd.DataFrame({"pay": [1.0, 2.0]})
    found = (few.release(table) - few.release(table)).to_pandas().iloc[0]
    assert (found["low"], found["high"]) == (-10, 10)
    assert math.isnan(found["change"])


RUNS, GROUPS = 30, 40


@pytest.mark.parametrize("budget", [ln.zcdp(0.1), ln.pure_dp(0.5)], ids=str)
def test_changes_of_groups_cover_at_their_level(budget):
    """Of 1,200 changes of each answer, of the first kind 1e-6: 0.91 is found, and of sums 0.985."""
    rng = np.random.default_rng(6)
    tables = [
        pd.DataFrame({"pay": rng.gamma(4, 500, n), "site": rng.integers(0, GROUPS, n)})
        for n in (20_000, 22_000)
    ]
    asked = ln.Mean(["pay"], ln.Box([0], [9000]), by={"site": GROUPS})
    made = ln.plan(asked, budget=budget, relation="add_remove", weights="range")
    exact = []
    for table in tables:
        by = table.assign(pay=table["pay"].clip(0, 9000)).groupby("site")["pay"]
        exact.append(
            pd.DataFrame({"count": by.size(), "mean(pay)": by.mean(), "sum(pay)": by.sum()})
        )
    true = exact[1] - exact[0]
    covered = dict.fromkeys(true, 0)
    for k in range(RUNS):
        both = []
        for half, table in enumerate(tables):
            with simulated(2 * k + half):
                both.append(made.release(table))
        found = (both[1] - both[0])["site"]
        for answer in true:
            own = found[found["answer"] == answer]
            inside = (own["low"].array <= true[answer]) & (true[answer] <= own["high"].array)
            covered[answer] += int(inside.sum())
    for answer, count in covered.items():
        test = stats.binomtest(count, RUNS * GROUPS, LEVEL, "less")
        assert test.pvalue > 1e-6 / 3, (answer, count / (RUNS * GROUPS))
    for answer in ("count", "sum(pay)"):
        test = stats.binomtest(covered[answer], RUNS * GROUPS, LEVEL + 0.01, "greater")
        assert test.pvalue > 1e-6 / 3, (answer, covered[answer] / (RUNS * GROUPS))


def test_covariances_are_subtracted_with_the_root_of_both_squares():
    """Of 600 runs, of the first kind 1e-6 each: 0.87 is found; one half width alone covers 0.83."""
    rng, runs = np.random.default_rng(8), 600
    asked = ln.Moments(["a", "b"], ln.Box([0, 0], [10, 5]))
    made = ln.plan(asked, budget=ln.zcdp(0.1), relation="add_remove", weights="range")
    tables = []
    for middle in (5, 6):
        a = rng.normal(middle, 1.5, 2000).clip(0, 10)
        b = (0.3 * a + rng.normal(0, 0.7, 2000)).clip(0, 5)
        tables.append(pd.DataFrame({"a": a, "b": b}))
    exact = tables[1].cov(ddof=0).to_numpy() - tables[0].cov(ddof=0).to_numpy()
    covered = np.zeros((2, 2), int)
    for k in range(runs):
        both = []
        for half, table in enumerate(tables):
            with simulated(2 * k + half):
                both.append(made.release(table).moments)
        wide = [np.diff(own.covariance_interval(LEVEL), axis=-1)[..., 0] / 2 for own in both]
        covered += np.abs(both[1].covariance - both[0].covariance - exact) <= np.hypot(*wide)
    for count in covered.ravel().tolist():
        assert stats.binomtest(count, runs, LEVEL, "less").pvalue > 1e-6, count / runs
        assert stats.binomtest(count, runs, LEVEL + 0.01, "greater").pvalue > 1e-6, count / runs


# --- what has no change, and where it is shown


def pay(**more):
    asked = {"columns": ["pay"], "domain": ln.Box([0], [10]), **more}
    return ln.plan(ln.Mean(**asked), budget=ln.zcdp(1), relation="add_remove")


TABLE = pd.DataFrame({"pay": [1.0, 2.0, 3.0], "sex": ["F", "M", "M"], "id": [1, 2, 3]})
BY = {"by": {"sex": ["F", "M"]}}
UNLIKE = {
    "upper[0] is 10.0 in the later release and 20.0": lambda: pay(domain=ln.Box([0], [20])),
    "question.kind is 'mean'": lambda: pay(**BY),
    "the number of rows is public in one": lambda: ln.plan(
        ln.Mean(["pay"], ln.Box([0], [10])), budget=ln.zcdp(1), relation="substitute", size=3
    ),
    "question.drops_missing is False": lambda: pay(missing="drop"),
    "privacy_unit is not the same": lambda: ln.plan(
        ln.Mean(["pay"], ln.Box([0], [10])),
        budget=ln.zcdp(1),
        relation="add_remove",
        privacy_unit="id",
        rows_per_unit=2,
    ),
}


def test_domains_whose_weights_differ_clip_other_rows():
    """Weights of a question change its noise alone; those of a ball are where rows are cut to."""
    one, other = (
        ln.plan(ln.Mean(["id", "pay"], ln.OrderedBall(w)), budget=ln.zcdp(1), relation="add_remove")
        for w in ([1, 1], [1, 0.01])
    )
    with pytest.raises(QuestionError, match=r"question\.image\.base\.weights\[1\] is 1\.0 in "):
        one.release(TABLE) - other.release(TABLE)


@pytest.mark.parametrize("said", UNLIKE)
def test_releases_of_unlike_questions_have_no_change(said):
    with pytest.raises(QuestionError) as caught:
        pay().release(TABLE) - UNLIKE[said]().release(TABLE)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_categories_that_differ_are_named_and_other_margins_are_not_missed():
    first = ln.Marginals({"sex": ["F", "M"], "id": 4}, way=2)
    more = ln.Marginals({"sex": ["F", "M", "D"], "id": 4}, way=2)
    less = ln.Marginals({"sex": ["F", "M"], "id": 4}, sets=[["sex"]])
    one, three, part = (
        ln.plan(q, budget=ln.zcdp(1), relation="add_remove").release(TABLE)
        for q in (first, more, less)
    )
    with pytest.raises(QuestionError, match=r"question\.attributes\[0\]\.categories is "):
        three - one
    assert list((one - part)["sex"]["sex"]) == ["F", "M"]
    with pytest.raises(QuestionError, match="does not follow"):
        (one - part).to_pandas("id")
    with pytest.raises(PlanError, match="earlier=DataFrame is no release"):
        one - TABLE
    with pytest.raises(LownoiseError, match="level"):
        (one - part).to_pandas("sex", level=1.0)


COUNTED = ln.plan(ln.Count({"sex": ["F", "M"]}), budget=ln.zcdp(1), relation="add_remove")
WRONG_NAMES = [3, None, "nope", True, 1.5, b"sex", slice(0, 1), ("sex", 3), ["sex", ["id"]], (1, 2)]


@pytest.mark.parametrize("names", WRONG_NAMES, ids=str)
def test_what_is_no_attribute_in_brackets_is_refused_in_one_line(names):
    release = COUNTED.release(TABLE)
    for own in (release, COUNTED.release(TABLE) - release):
        with pytest.raises(QuestionError, match=r"^names: .* is no attribute; name some of 'sex'$"):
            own[names]
    assert release[pd.Index(["sex"])].shape == (2,)


NO_NOISE = [name for name in RELEASED if "no noise" in name]


@pytest.mark.parametrize("name", NO_NOISE)
def test_releases_without_noise_are_two_however_soon_one_follows_the_other(name):
    """All of them are equal; that their change is 0 is true, whichever two they are."""
    first = released(plan(name))
    again = replace(first)
    assert (again - first).to_pandas()[NUMBERS].to_numpy().any() == np.False_
    with pytest.raises(QuestionError, match="are one release, made "):
        first - first


def test_who_cannot_tell_two_releases_apart_is_told_what_does():
    first = COUNTED.release(TABLE)
    with pytest.raises(QuestionError, match="give two; entries of a ledger tell apart what one"):
        replace(first) - first


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_no_zero_of_a_change_has_a_sign(value):
    """Of a column that holds one value, the mean is known, and both ends of its change are 0."""
    question = ln.Mean(["pay", "id"], ln.Box([value, 0], [value, 9]))
    own = ln.plan(question, budget=ln.zcdp(1e4), relation="add_remove")
    found = (own.release(TABLE) - own.release(TABLE)).to_pandas().iloc[0][NUMBERS]
    assert found.tolist() == [0, 0, 0, 0]
    assert not np.signbit(found.astype(float)).any()


def test_it_is_shown_and_written_as_releases_are(tmp_path):
    made = pay(**BY)
    found = made.release(TABLE) - made.release(TABLE)
    assert repr(found).startswith("<Change: 1 sum and the count in each of 2 groups")
    assert "of both releases" in found._repr_html_()
    assert "Change (95%)" in str(found)
    for form in ("csv", "parquet", "json"):
        found.export(tmp_path / f"c.{form}", level=0.9)
    assert pd.read_csv(tmp_path / "c.csv").equals(found.to_pandas(level=0.9))
    assert pd.read_parquet(tmp_path / "c.parquet").equals(found.to_pandas(level=0.9))
    assert list(found.to_pandas()) == ["sex", "answer", *NUMBERS]


def test_the_command_prints_and_writes_it(tmp_path):
    made = pay(**BY)
    both = [made.release(TABLE) for _ in range(2)]
    for k, own in enumerate(both):
        own.save(tmp_path / f"q{k}.json")
    done = run(tmp_path, "change", "q1.json", "q0.json", "sex", "--answers", "c.csv")
    assert done.returncode == 0
    assert "Change (95%)" in done.stdout
    assert pd.read_csv(tmp_path / "c.csv").equals((both[1] - both[0])["sex"])
    refused(run(tmp_path, "change", "q1.json", "q1.json"), "are one release")
    refused(run(tmp_path, "change", "q1.json", "none.json"), "none.json")
    with pytest.raises(FileError):
        (both[1] - both[0]).export(tmp_path / "c.xls")


MADE = """
[question]
kind = "marginals"
relation = "add_remove"
attributes = { x = 2 }
way = 1
[budget]
rho = 0.5
[data]
path = "t.csv"
"""
ASIDE = "separator and decimal are of --answers; give it, or leave them out"


def test_a_dialect_without_a_file_is_refused_before_anything_is_spent(tmp_path):
    pd.DataFrame({"x": [0, 1, 1]}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "made.toml").write_text(MADE)
    release = ("release", "made.toml", "--out", "made")
    for said in (("--decimal", ","), ("--separator", ";"), ("--decimal", "none")):
        refused(run(tmp_path, *release, *said), ASIDE)
    refused(run(tmp_path, *release, "--answers", "made/a.csv"), "answers=made/a.csv is in --out")
    assert not (tmp_path / "made").exists()
    assert run(tmp_path, *release, "--answers", "a.csv", "--decimal", ",").returncode == 0
    assert (tmp_path / "a.csv").read_text().startswith('"x";"count";')
    refused(run(tmp_path, "change", "made", "made", "--decimal", ","), ASIDE)
    refused(run(tmp_path, "marginal", "made", "x", "--decimal", ","), "--out or --csv; give it")
    assert ";" in run(tmp_path, "marginal", "made", "x", "--csv", "--decimal", ",").stdout


def test_several_questions_have_the_change_of_each_by_name():
    asked = {"pay": ln.Mean(["pay"], ln.Box([0], [10])), "sex": ln.Count({"sex": ["F", "M"]})}
    made = ln.plan(asked, budget=ln.zcdp(1), relation="add_remove")
    now, then = made.release(TABLE), made.release(TABLE)
    found = now - then
    assert list(found) == ["pay", "sex"]
    for name, own in found.items():
        assert own.to_pandas().equals((now[name] - then[name]).to_pandas())
    other = ln.plan(
        {"pay": asked["pay"], "id": asked["sex"]}, budget=ln.zcdp(1), relation="add_remove"
    ).release(TABLE)
    with pytest.raises(QuestionError, match=r"^releases answer 'pay, sex' and 'pay, id'; subtract"):
        now - other
    with pytest.raises(PlanError, match=r"^earlier=Release is no release of several questions; "):
        now - then["pay"]
    with pytest.raises(PlanError, match=r"^earlier=JointRelease is no release; "):
        now["pay"] - then
    with pytest.raises(QuestionError, match="are one release, made "):
        now - now


def test_matrices_that_differ_are_named_without_their_bytes():
    one, other = (
        ln.plan(ln.Queries(rows, {"id": 4}), budget=ln.zcdp(1), relation="add_remove")
        for rows in ([[1, 0, 0, 1]], [[1, 0, 1, 0.5]])
    )
    with pytest.raises(QuestionError, match=r"^question\.matrix has other numbers in the later"):
        one.release(TABLE) - other.release(TABLE)
