# SPDX-License-Identifier: Apache-2.0
"""Streams under a pure budget: ε by brute force, answers by linear algebra, files and refusals."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from pages import solver as solver_page
from pages import streams as streams_page
from scipy.stats import kstest

import lownoise as ln
from lownoise.errors import FileError, LedgerError, LownoiseError
from lownoise.noise.independent import LaplaceNoise
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed, unpacked
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.planning import StreamPlan
from lownoise.planning.pure_streams import PURE_STRATEGIES, squared_error
from lownoise.solvers.streams.trees import full_error, short_error
from lownoise.spec import read_spec
from lownoise.streams import TreeSums
from lownoise.streams.codec import document
from lownoise.streams.sums import ToeplitzSums
from streams.test_command import run

WORKLOADS = {
    "prefix": ln.Prefix(11),
    "window": ln.SlidingWindow(9, 4),
    "decayed": ln.Decayed(9, 0.5),
    "momentum": ln.Momentum(8, 0.75),
    "matrix": np.tril(np.arange(1.0, 26).reshape(5, 5)),
}
TAKEN = [
    (name, strategy)
    for name, strategy in itertools.product(WORKLOADS, PURE_STRATEGIES)
    if strategy != "square_root" and (name == "prefix" or strategy != "binary_tree")
]
TREES = [
    TreeSums(ln.Prefix(n), arities, frozen(np.linspace(1, 2, len(arities) + 1)), fitted)
    for n, arities in [(1, ()), (5, ()), (7, (2, 2)), (23, (3, 4)), (16, (2, 2, 2)), (50, (7, 3))]
    for fitted in (True, False)
]
EPSILON_OF_ROUNDING = 1e-12


def sums_of(pair):
    """Return C: which rounds each sum holds, level by level, shape (sums, rounds)."""
    rows, size = [], 1
    for level in range(len(pair.widths)):
        size *= pair.arities[level - 1] if level else 1
        for first in range(0, pair.rounds, size):
            row = np.zeros(pair.rounds, dtype=np.int64)
            row[first : first + size] = 1
            rows.append(row)
    return np.array(rows)


def levels_of(pair, rows):
    """Return numbers of all sums, by levels."""
    ends = np.cumsum([count for count, _ in pair.levels])
    return np.split(rows, ends[:-1])


def revealed(mechanism, rounds, changes):
    """Return Σ |moved|/scale over all sums, for changes of some rounds' codes, exactly."""
    pair, total = mechanism.pair, Fraction(0)
    widths = np.repeat(pair.widths, [count for count, _ in pair.levels])
    for row, width in zip(sums_of(pair), widths, strict=True):
        for j, scale in enumerate((mechanism.noise.scales * width).tolist()):
            moved = sum(int(row[i]) * int(own[j]) for i, own in zip(rounds, changes, strict=True))
            total += abs(Fraction(moved)) / Fraction(scale)
    return total


def neighbours(stream):
    """Return the codes' changes of a round: all pairs of corners, or of corners and 0."""
    mechanism, domain = stream.terms.mechanism, stream.terms.question.domain
    ends = zip(domain.lower, domain.upper, strict=True)
    corners = mechanism.coding.encode(np.array(list(itertools.product(*ends))))
    others = corners if mechanism.size else [np.zeros_like(corners[0])]
    return [a - b for a in corners for b in others if np.any(a != b)]


@pytest.mark.grid(least=8)
@pytest.mark.parametrize(("name", "strategy"), TAKEN, ids=str)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("people", [{}, {"participations": 2}], ids=["once", "twice"])
def test_epsilon_is_that_of_the_worst_neighbours_of_all(name, strategy, relation, people):
    domain = ln.Box([-1.0, 0.0], [0.5, 3.0])
    stream = ln.stream(
        WORKLOADS[name],
        budget=ln.pure_dp(0.7),
        strategy=strategy,
        relation=relation,
        domain=domain,
        **people,
    )
    mechanism = stream.terms.mechanism
    if stream.terms.name != "laplace":  # of the same sums
        mechanism = replace(mechanism, noise=LaplaceNoise(frozen(np.array([3e9, 2e9]))))
    changes, n = neighbours(stream), mechanism.workload.rounds
    if people:
        changes = sorted(changes, key=lambda own: tuple(abs(own)))[-2:]
    worst = max(
        revealed(mechanism, rounds, own)
        for rounds in itertools.combinations(range(n), people.get("participations", 1))
        for own in itertools.product(changes, repeat=len(rounds))
    )
    assert worst <= Fraction(mechanism.loss.epsilon)
    assert mechanism.loss.epsilon <= float(worst) * (1 + EPSILON_OF_ROUNDING)
    assert stream.cost.epsilon <= 0.7
    assert stream.cost.epsilon >= 0.7 * (1 - 1e-9)


@pytest.mark.parametrize("name", ["prefix", "window", "decayed", "momentum"])
@pytest.mark.parametrize("size", [3, 2**40], ids=["coarse", "fine"])
def test_toeplitz_sums_move_by_no_more_than_is_charged(name, size):
    # what is published leaves y = k − R(y) of every world; k of a neighbour follows round by round
    pair = PURE_STRATEGIES["square_root"].make(WORKLOADS[name], "mean")
    c = [int(x * 2**20) for x in pair.column.tolist()]
    generator = np.random.default_rng(11)
    k = generator.integers(-9 * size, 9 * size, (pair.rounds, 1))
    y = [int(x) for x in pair.values([k])[:, 0]]

    def noise(of):
        recalled = [sum(c[t - j] * of[j] for j in range(t)) for t in range(len(of))]
        return [own + (past + 2**19) // 2**20 for own, past in zip(of, recalled, strict=True)]

    assert noise(y) == k[:, 0].tolist()
    charged = sum(map(Fraction, pair.charged(lambda _: float(size), lambda _: 1.0)))
    found = []
    for s in range(pair.rounds):
        moved = noise([own - (size if j == s else 0) for j, own in enumerate(y)])
        found.append(sum(abs(a - int(b)) for a, b in zip(moved, k[:, 0], strict=True)))
    assert max(found) <= charged
    assert charged <= max(found) + 2 * pair.rounds  # each rounding once
    near = np.cumsum(pair.linear([k.astype(float)])[:, 0] - np.array(y))
    assert name != "prefix" or np.max(np.abs(near)) <= pair.off_up


def test_no_toeplitz_factors_have_a_smaller_largest_error_than_noise_in_values():
    generator = np.random.default_rng(12)
    for n in (2, 9, 64):
        plain = squared_error(PURE_STRATEGIES["input"].make(ln.Prefix(n), "max"), "max")
        for decay in (0.0, 0.3, 0.5, 0.9, *generator.uniform(0, 2, 5)):
            t = np.arange(1, n)
            column = np.append(1.0, np.rint(0.5 * t ** -(1 + decay) * 2**20) * 2.0**-20)
            pair = ToeplitzSums(ln.Prefix(n), frozen(column))
            assert squared_error(pair, "max") >= plain * (1 - 1e-12)


@pytest.mark.parametrize("pair", TREES, ids=str)
def test_what_is_published_is_a_function_of_the_noisy_sums(pair):
    # E(k + C·z) = E(k) + z in whole numbers, to the last, and modulo 2^64
    C, generator = sums_of(pair), np.random.default_rng(3)
    for size in (10**3, 10**12, 2**62):
        k = generator.integers(-size, size, (len(C), 2))
        z = generator.integers(-size, size, (pair.rounds, 2))
        moved = pair.values(levels_of(pair, k + C @ z))
        assert np.array_equal(moved, pair.values(levels_of(pair, k)) + z)


@pytest.mark.parametrize("pair", TREES, ids=str)
def test_variances_are_those_of_least_squares(pair):
    C = sums_of(pair)
    W = np.tril(np.ones((pair.rounds, pair.rounds)))
    unit = [pair.linear(levels_of(pair, row[:, None]))[:, 0] for row in np.eye(len(C))]
    B = W @ np.array(unit).T
    widths = np.repeat(pair.widths, [count for count, _ in pair.levels])
    assert np.allclose(B @ C, W)
    assert np.allclose(pair.variances(0, pair.rounds), np.square(B) @ np.square(widths))
    if pair.fitted:
        least = np.linalg.inv((C / np.square(widths)[:, None]).T @ C)
        assert np.allclose(pair.variances(0, pair.rounds), np.diag(W @ least @ W.T))
    else:  # every answer adds the fewest sums
        assert set(np.unique(B)) <= {0.0, 1.0}
    k = np.random.default_rng(4).integers(-(10**6), 10**6, (len(C), 1))
    near = np.cumsum(pair.linear([own.astype(float) for own in levels_of(pair, k)]), axis=0)
    off = np.cumsum(pair.values(levels_of(pair, k)), axis=0) - near
    assert np.max(np.abs(off)) <= max(pair.off_up, 1e-6)


@pytest.mark.parametrize(("arities", "rounds"), [((3, 4, 5), 60), ((4, 4), 16), ((7,), 7)])
def test_the_search_looks_at_the_error_of_full_trees(arities, rounds):
    widths = np.linspace(1, 3, len(arities))
    pair = TreeSums(ln.Prefix(rounds), arities[:-1], frozen(widths))
    assert full_error(arities, widths) == pytest.approx(pair.mean_variance, rel=1e-12)
    found = full_error(arities, widths, largest=True)
    assert found == pytest.approx(pair.largest_variance, rel=1e-12)


@pytest.mark.parametrize(("arities", "rounds"), [((), 5), ((3,), 5), ((4, 3), 17), ((7, 2, 2), 30)])
def test_the_search_looks_at_the_error_of_trees_whose_last_groups_are_short(arities, rounds):
    widths = np.linspace(1, 3, len(arities) + 1)
    pair = TreeSums(ln.Prefix(rounds), arities, frozen(widths))
    assert short_error(rounds, arities, widths) == pytest.approx(pair.mean_variance, rel=1e-12)
    found = short_error(rounds, arities, widths, largest=True)
    assert found == pytest.approx(pair.largest_variance, rel=1e-12)


@pytest.mark.grid(3)
@pytest.mark.parametrize("error", ["mean", "max"])
@pytest.mark.parametrize("rounds", [1, 2, 16, 100, 300])
def test_the_default_has_the_least_error_of_all(rounds, error):
    stream = ln.stream(ln.Prefix(rounds), budget=ln.pure_dp(1.0), error=error)
    every = [own.make(ln.Prefix(rounds), error) for own in PURE_STRATEGIES.values()]
    least = math.sqrt(2 * min(squared_error(own, error) for own in every))
    assert stream.error == pytest.approx(least, rel=1e-6)
    assert stream.lower_bound <= stream.error


@pytest.mark.grid(1)
@pytest.mark.parametrize("rounds", [16, 256, 1024])
def test_the_page_states_the_errors_that_come_out(rounds):
    text = streams_page.PAGE.read_text(encoding="utf-8")
    rows = [
        line.strip("| ").split(" | ") for line in solver_page.part(text, "pure").splitlines()[2:]
    ]
    assert [row[0].strip("`") for row in rows] == list(PURE_STRATEGIES)
    first = 2 + 2 * (16, 256, 1024).index(rounds)
    for row, own in zip(rows, PURE_STRATEGIES.values(), strict=True):
        assert row[1] == own.description
        errors = [(own.make(ln.Prefix(rounds), error), error) for error in ("mean", "max")]
        found = [f"{2 * squared_error(sums, error):.4g}" for sums, error in errors]
        assert row[first : first + 2] == found


CASES = {
    "default": (ln.Prefix(20), {}),
    "largest": (ln.Prefix(40), {"error": "max"}),
    "binary": (ln.Prefix(20), {"strategy": "binary_tree"}),
    "honaker": (ln.Prefix(20), {"strategy": "honaker"}),
    "input": (ln.SlidingWindow(9, 3), {"strategy": "input"}),
    "square root": (ln.Prefix(9), {"strategy": "square_root"}),
    "momentum": (ln.Momentum(9, 0.5), {"strategy": "tree"}),
    "decayed": (ln.Decayed(9, 0.5), {"relation": "substitute"}),
    "ball": (ln.Prefix(12), {"domain": ln.Ball(3, 2.0)}),
    "flat": (ln.Prefix(12), {"domain": ln.Box([-1, 0, 2], [1, 0, 5]), "relation": "substitute"}),
    "crowd": (ln.Prefix(9), {"domain": ln.Box([0.0], [90.0]), "relation": ln.Box([-1.0], [1.0])}),
    "list": (ln.Prefix(6), {"domain": ln.Points(np.eye(3)), "relation": "substitute"}),
    "people": (ln.Prefix(12), {"participations": 3, "separation": 4}),
}


def terms_of(name):
    workload, more = CASES[name]
    return ln.stream(workload, budget=ln.pure_dp(0.5), **more).terms


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("name", CASES)
def test_documents_are_read_back_verified_and_refused_with_less_noise(name):
    terms = terms_of(name)
    text = document(terms)
    again = StreamPlan.from_json(text)
    assert again.to_json() == text
    assert again.terms.mechanism.loss == terms.mechanism.loss
    found = ln.verify(text)
    assert found, [check for check in found.checks if not check.holds]
    level = steeper if name == "square root" else narrower_level
    for edit in (less_noise, level, one_more_person):
        fields = json.loads(text)
        edit(fields["terms"])
        with pytest.raises(FileError):
            StreamPlan.from_json(json.dumps(fields))


def less_noise(fields):
    noise = fields["noise"]
    if "scales" in noise:
        noise["scales"] = [0.999999 * scale for scale in noise["scales"]]
    else:
        noise["scale"] *= 0.999999


def narrower_level(fields):
    fields["pair"]["widths"][-1] *= 0.999999


def steeper(fields):
    column = unpacked(fields["pair"]["column"], "column", 1).copy()
    column[-1] += 2.0**-10
    fields["pair"]["column"] = packed(column)


def one_more_person(fields):
    own = fields.get("participation", {"count": 1, "separation": 1, "pattern": "any"})
    count = own["count"] + 1
    separation = 1 if count == 2 else own["separation"] - 1
    fields["participation"] = {"count": count, "separation": separation, "pattern": "separated"}


@pytest.mark.parametrize(
    "pair",
    [
        {"arities": [1, 4]},
        {"arities": [3]},
        {"arities": [3, 4, 5]},
        {"arities": "34"},
        {"widths": [1.0, 0.0, 1.0]},
        {"widths": [1.0, -1.0, 1.0]},
        {"fitted": 1},
        {"kind": "dense"},
    ],
    ids=str,
)
def test_forged_trees_are_refused(pair):
    fields = json.loads(document(terms_of("largest")))
    assert len(fields["terms"]["pair"]["arities"]) == 1
    fields["terms"]["pair"] |= {"arities": [3, 4], "widths": [9.0, 9.0, 9.0]}
    StreamPlan.from_json(json.dumps({**fields, "derived": {}}))  # wide enough
    fields["terms"]["pair"] |= pair
    with pytest.raises(FileError):
        StreamPlan.from_json(json.dumps(fields))


def test_the_noise_of_sums_has_the_stated_law():
    # one test of each at 5·10^-7; of 8,000 numbers a scale off by 6% is seen with chance 0.99
    terms = terms_of("largest")
    mechanism = terms.mechanism
    drawn = mechanism.noise.many(8000, SimulationRandomness(9))[:, 0]
    drawn = drawn.astype(float)
    scale = float(mechanism.noise.scales[0])
    assert kstest(drawn / scale, "laplace").pvalue > 5e-7
    size = abs(float(np.mean(np.abs(drawn))) / scale - 1) * math.sqrt(8000)
    assert size < 5.03


def test_an_answer_says_nothing_of_later_rounds():
    # sums hold later rounds too: what is published before a change is the same to the last bit for
    # noise that hides it, so that what is chosen after it is the same
    terms = terms_of("default")
    pair, n = terms.mechanism.pair, 20
    C = sums_of(pair)
    k = np.random.default_rng(10).integers(-(10**6), 10**6, (len(C), 1))
    for s in range(n):
        moved = np.cumsum(pair.values(levels_of(pair, k - C[:, [s]] * 1000)), axis=0)
        before = np.cumsum(pair.values(levels_of(pair, k)), axis=0)
        assert np.array_equal(moved[:s], before[:s])
        assert np.array_equal(moved[s:] + 1000, before[s:])


def test_a_ledger_pays_once_and_follows(tmp_path):
    account = ln.Ledger.create(tmp_path / "ledger", "days", ln.pure_dp(1.0))
    asked = {"workload": ln.Prefix(8), "budget": ln.pure_dp(0.6)}
    stream = ln.stream(**asked, ledger=account, path=tmp_path / "a.stream")
    stream.update(1)
    again = ln.stream(**asked, ledger=account, path=tmp_path / "a.stream")
    assert again.round == 1
    with pytest.raises(LedgerError):
        ln.stream(**asked, ledger=account)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"strategy": "optimal"}, "strategy='optimal' is for Gaussian noise; under a pure budget"),
        ({"strategy": "none"}, "strategy='none' is unknown; under a pure budget give auto, input"),
        ({"memory": 3}, "memory=3 is for Gaussian noise; leave it out"),
        ({"workload": ln.Momentum(4, 0.5), "strategy": "binary_tree"}, "is for running sums"),
        ({"workload": ln.Prefix(1 << 21)}, "2,097,152 rounds is too long for a pure budget"),
        (
            {"workload": ln.SlidingWindow(5000, 3)},
            "goes to 1,048,576 rounds of ln.Prefix and 2,048",
        ),
        ({"domain": ln.Box([1], [2])}, "domain does not hold 0"),
        ({"participations": 9}, "do not fit in 8 rounds"),
    ],
    ids=str,
)
def test_mistakes_are_one_line_with_the_remedy(more, said):
    with pytest.raises(LownoiseError) as error:
        ln.stream(**{"workload": ln.Prefix(8), "budget": ln.pure_dp(1.0), **more})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_specification_and_the_terminal_ask_for_the_same(tmp_path):
    (tmp_path / "own.toml").write_text(
        '[question]\nkind = "stream"\nrounds = 20\nstrategy = "tree"\n'
        '[budget]\nkind = "pure_dp"\nepsilon = 0.5\n'
    )
    asked = ln.stream(ln.Prefix(20), budget=ln.pure_dp(0.5), strategy="tree")
    planned = read_spec(tmp_path / "own.toml").plan()
    assert planned.to_json() == asked.to_json()
    done = run(tmp_path, "stream", "own.toml", "--state", "own.stream", lines=b"1\n0\n1\n")
    assert (done.returncode, len(done.stdout)) == (0, 4), done.stderr
    stated = [f"{deviation:.3g}" for deviation in asked.standard_deviations(1, 3)[:, 0]]
    assert [f"{float(row[2]):.3g}" for row in done.stdout[1:]] == stated
    assert ln.Stream.open(tmp_path / "own.stream").round == 3


def test_the_report_says_what_one_person_changes_and_no_more():
    text = str(terms_of("people"))
    assert "values change as one person may change them, without exception" in text
    assert "mechanism=" not in text
    assert "the value of one round changes" in " ".join(str(terms_of("ball")).split())


@pytest.mark.parametrize("name", ["largest", "honaker"])
def test_every_level_has_noise_of_its_width(name, monkeypatch):
    # each level's mean |noise| within 5.4 of its deviations: 10^-7 a level; a half is seen surely
    mechanism, seen = terms_of(name).mechanism, []
    with monkeypatch.context() as patch:
        patch.setattr(TreeSums, "values", lambda _, drawn: seen.append(drawn))
        for seed in range(60):
            mechanism.all_noise(SimulationRandomness(seed))
    scale = float(mechanism.noise.scales[0])
    for level, (count, width) in enumerate(mechanism.pair.levels):
        drawn = np.concatenate([own[level] for own in seen])[:, 0].astype(float)
        assert drawn.size == 60 * count
        found = np.mean(np.abs(drawn)) / (scale * width)
        assert abs(found - 1) * math.sqrt(drawn.size) < 5.4


def test_epsilon_is_that_of_people_in_a_crowd():
    mechanism = terms_of("crowd").mechanism
    found = mechanism.coding.encode(np.linspace(0, 89, 300)[:, None])
    after = mechanism.coding.encode(np.linspace(1, 90, 300)[:, None])
    changes = np.unique(after - found, axis=0)
    worst = max(revealed(mechanism, [s], [own]) for s in range(9) for own in changes)
    assert worst <= Fraction(mechanism.loss.epsilon) <= worst * (1 + Fraction(1, 10**6))
