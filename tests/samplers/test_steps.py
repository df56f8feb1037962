# SPDX-License-Identifier: Apache-2.0
"""Radii of staircases have exactly the chances that are said of them.

Mutants, each seen red: e^{−ε} squared, the power d + 1 for d, γ half as large, the rest of the
weights forgotten, an open word decided by its first bits.
"""

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import chi2

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.steps import StepRadius
from uniform_cases import Scripted

ERROR = 1e-6
LAWS = [(1, 1.0, 0.4167), (3, 2.0, 0.8), (2, 8.0, 0.14), (16, 0.5, 1.0)]


def chances(d, epsilon, first, count):
    """(γ + k)^d·e^{−εk}, over the sum of far more of them, in floats."""
    k = np.arange(4000.0)
    weights = (first + k) ** d * np.exp(-epsilon * k)
    return weights[:count] / weights.sum()


@pytest.mark.grid(3)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_many_one_and_simulated_have_the_law(law):
    """χ² over cells of 50 draws each or more: of 40,000, a γ 5% off is seen (λ above 100)."""
    steps, source = StepRadius(*law), SimulationRandomness(1)
    wanted = chances(*law, 400)
    ends = np.flatnonzero(wanted * 4000 >= 50)
    kept = slice(ends[0], ends[-1] + 1)
    samples = {
        "many": steps.many(40_000, source),
        "one by one": np.array([steps.draw(source) for _ in range(4000)]),
        "floats": np.rint(steps.simulate(source.words(40_000) * 2.0**-64) - law[2]).astype(int),
    }
    for name, drawn in samples.items():
        seen = np.bincount(drawn, minlength=400)[:400]
        seen = np.append(seen[kept], len(drawn) - seen[kept].sum())
        own = np.append(wanted[kept], 1 - wanted[kept].sum())
        own, seen = (own, seen) if own[-1] * len(drawn) >= 5 else (own[:-1], seen[:-1])
        statistic = np.sum((seen - own * len(drawn)) ** 2 / (own * len(drawn)))
        assert statistic < chi2.ppf(1 - ERROR, own.size), name


def test_where_a_word_does_not_tell_the_next_one_does():
    """The first radius ends within a word; which side of it a number is, its next bits say."""
    steps = StepRadius(2, 1.5, 0.5)
    with precision(400):
        assert ctx.prec == 400
        fall, total = (-arb(1.5)).exp(), arb(0)
        for k in range(400):
            total += (arb(0.5) + k) ** 2 * fall**k
        bits = int((arb(0.25) / total * arb(2) ** 128).floor().unique_fmpz())
    word, rest = bits >> 64, bits % 2**64
    for more, k in ((rest - 1, 0), (rest + 1, 1)):
        assert steps.draw(Scripted([word, more], SimulationRandomness(1))) == k
        assert steps.many(1, Scripted([word, more], SimulationRandomness(1)))[0] == k
    for near, k in ((word - 1, 0), (word + 1, 1)):
        assert steps.many(1, Scripted([near], SimulationRandomness(1)))[0] == k


def test_the_rest_is_more_than_all_that_is_left_out():
    for law in LAWS:
        weights, rest = StepRadius(*law).weights(64)
        with precision(256):
            k = len(weights)
            left = sum(
                (
                    (arb(law[2]) + j) ** law[0] * (-arb(law[1]) * j).exp()
                    for j in range(k, k + 3000)
                ),
                arb(0),
            )
            assert left < rest
            assert rest < sum(weights, arb(0)) * 2.0**-60


def test_moments_are_those_of_the_law():
    for law in LAWS:
        radii = law[2] + np.arange(400)
        for order in (1.0, 2.0, 40.0):
            wanted = float(chances(*law, 400) @ radii**order)
            assert StepRadius(*law).mean(order) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    "wrong", [(1, 0.001, 0.5), (1, 33.0, 0.5), (0, 1.0, 0.5), (1, 1.0, 0.0), (1, 1.0, 1.5)]
)
def test_what_is_no_staircase_is_refused(wrong):
    with pytest.raises(PlanError) as refusal:
        StepRadius(*wrong)
    assert "\n" not in str(refusal.value)
