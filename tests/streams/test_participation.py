# SPDX-License-Identifier: Apache-2.0
"""One person in several rounds: what is asked, kept in files, promised, and hidden."""

import itertools
import json

import numpy as np
import pytest
from tests.streams.kinds import TAKEN, WORKLOADS, factors
from tests.streams.kinds_of_patterns import PATTERNED, patterns

import lownoise as ln
from lownoise.errors import FileError, LownoiseError, PlanError
from lownoise.privacy import Ledger
from lownoise.sensitivity.participation import ONE, Participation


def streamed(workload, strategy="auto", **asked):
    return ln.stream(workload, budget=ln.gaussian_dp(1.0), strategy=strategy, **asked)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"participations": 0}, "participations=0 is no whole number"),
        ({"participations": 2.0}, "participations=2.0 is no whole number"),
        ({"participations": True}, "participations=True is no whole number"),
        ({"participations": 2, "separation": 0}, "separation=0 is no whole number"),
        ({"participations": 2, "separation": "b"}, "separation='b' is no whole number"),
        ({"participations": 2, "pattern": "poisson"}, "pattern='poisson' is unknown"),
        ({"participations": 2, "pattern": ["any"]}, "is unknown"),
        ({"participations": 2, "separation": 3, "pattern": "any"}, 'not kept by pattern="any"'),
        ({"participations": 5, "separation": 2}, "do not fit in 8 rounds; give at most 4"),
        ({"participations": 9}, "do not fit in 8 rounds; give at most 8"),
    ],
)
def test_what_is_asked_wrongly_is_one_clear_line(asked, says):
    with pytest.raises(PlanError) as caught:
        streamed(ln.Prefix(8), **asked)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_participation_is_what_a_stream_without_any_is():
    plain = streamed(ln.Prefix(8))
    for asked in ({"separation": 3}, {"pattern": "spaced"}, {"participations": 1}):
        own = streamed(ln.Prefix(8), **asked)
        assert own.terms.mechanism.participation is not None
        assert own.to_json() == plain.to_json()
    assert "participation" not in json.loads(plain.to_json())["terms"]
    assert Participation(1, 5, "spaced") == ONE


def test_the_default_pattern_is_at_least_the_separation_apart():
    assert Participation.asked(2, 1, None).pattern == "any"
    assert Participation.asked(2, 3, None).pattern == "separated"


@pytest.mark.grid
@pytest.mark.parametrize("own", PATTERNED, ids=str)
@pytest.mark.parametrize(("name", "strategy"), TAKEN)
def test_noise_hides_all_rounds_of_a_person_together(name, strategy, own):
    """No pattern of full changes, of any signs, moves C·x by more than the loss says."""
    workload = WORKLOADS[name]
    if own.span > workload.rounds:
        with pytest.raises(PlanError, match="do not fit"):
            own.check(workload.rounds)
        return
    stream = streamed(
        workload,
        strategy,
        participations=own.count,
        separation=own.separation,
        pattern=own.pattern,
        memory=2 if strategy == "rational" else None,  # what is near the best takes seconds to find
    )
    mechanism = stream.terms.mechanism
    scale = float(mechanism.shape.diagonal()[0]) ** 0.5 * float(mechanism.coding.step[0])
    _, C = factors(mechanism.pair)
    worst = 0.0
    for pattern in patterns(own, workload.rounds):
        for signs in itertools.product((1, -1), repeat=len(pattern) - 1):
            worst = max(worst, float(np.linalg.norm(C[:, list(pattern)] @ np.array([1, *signs]))))
    assert worst / scale <= mechanism.loss.mu * (1 + 1e-9)
    assert mechanism.loss.mu <= 1.0


@pytest.mark.grid(3)
@pytest.mark.parametrize("own", PATTERNED, ids=str)
def test_a_participation_is_kept_in_files_and_promised(own, tmp_path):
    asked = {
        "participations": own.count,
        "separation": own.separation,
        "pattern": own.pattern,
    }
    stream = streamed(ln.Prefix(12), path=tmp_path / "s", **asked)
    assert ln.verify(stream.to_json())
    again = ln.StreamPlan.from_json(stream.to_json())
    assert again.terms.mechanism.participation == own
    assert own.phrase in again.terms.view.assumptions[0]
    assert ln.Stream.open(tmp_path / "s").terms.mechanism.participation == own
    with pytest.raises(FileError, match="another participation"):
        streamed(ln.Prefix(12), path=tmp_path / "s")


def test_a_file_that_promises_more_rounds_than_its_noise_hides_is_refused():
    text = streamed(ln.Prefix(12), participations=2, separation=4).to_json()
    fields = json.loads(text)
    for change in (
        {"count": 3},
        {"count": 0},
        {"pattern": "none"},
        {"count": 99},
        {"more": 1},
    ):
        forged = json.loads(text)
        forged["terms"]["participation"].update(change)
        forged.pop("digest", None)
        with pytest.raises(LownoiseError):
            ln.StreamPlan.from_json(json.dumps(forged))
    del fields["terms"]["participation"]["separation"]
    with pytest.raises(FileError):
        ln.StreamPlan.from_json(json.dumps(fields))


def test_the_ledger_says_to_how_many_rounds_one_person_adds(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", "d", ln.gaussian_dp(1.0), reading="gaussian")
    asked = {"participations": 2, "separation": 4, "ledger": ledger, "path": tmp_path / "s"}
    streamed(ln.Prefix(12), **asked).update(1)
    (entry,) = ledger.entries()
    assert entry.note == (
        "stream: prefix of 12 rounds, one person in at most 2 rounds, any two at least 4 apart"
    )
    assert streamed(ln.Prefix(12), **asked).round == 1
    assert len(ledger.entries()) == 1
