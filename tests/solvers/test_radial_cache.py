# SPDX-License-Identifier: Apache-2.0
"""Kept fits of radial noise: found again as they were, and never trusted."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lownoise.certificate.radial import proof_from_fields
from lownoise.certificate.radial_transfer import Transfer
from lownoise.solvers import radial_fit
from lownoise.solvers.radial import Staircase, covering, usual_moment
from lownoise.solvers.radial_fit import fitted, least_profile
from lownoise.solvers.radial_kept import folder, path_of, recalled, remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.solvers.radial import RadialFit

ASKED = (16, 4.0, 1e-9)


@pytest.fixture(scope="module")
def fit() -> RadialFit:
    return fitted(*ASKED)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_what_is_kept_comes_back(fit: RadialFit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert recalled(*ASKED) is None
    remember(fit)
    monkeypatch.setattr(radial_fit, "fitted", None)  # nothing is found anew
    again = least_profile(*ASKED)
    assert np.array_equal(again.radii, fit.radii)
    assert np.array_equal(again.weights, fit.weights)
    assert again.proof == fit.proof
    assert again.lower_bound() == fit.lower_bound() > 0


@pytest.mark.parametrize("other", [(17, 4.0, 1e-9), (16, 4.0001, 1e-9), (16, 4.0, 2e-9)])
def test_another_question_finds_nothing(fit: RadialFit, other: tuple[int, float, float]) -> None:
    remember(fit)
    assert recalled(*other) is None
    path_of(*ASKED).rename(path_of(*other))  # and takes no file that was put in its place
    assert recalled(*other) is None


def _scaled(factor: float) -> Callable[[dict[str, Any]], None]:
    def poison(fields: dict[str, Any]) -> None:
        fields["radii"] = [r * factor for r in fields["radii"]]

    return poison


def _inner(fields: dict[str, Any]) -> None:
    fields["weights"][5] += fields["weights"][8] / 2
    fields["weights"][8] /= 2


def _single(fields: dict[str, Any]) -> None:
    fields["radii"], fields["weights"] = [1.0], [1.0]


def _not_a_number(fields: dict[str, Any]) -> None:
    fields["weights"][0] = float("nan")


def _empty(fields: dict[str, Any]) -> None:
    fields["radii"], fields["weights"] = [], []


def _text(fields: dict[str, Any]) -> None:
    fields["radii"] = "1"


def _listed_proof(fields: dict[str, Any]) -> None:
    fields["proof"] = [1]


POISONS = [_scaled(0.99), _scaled(1.01), _inner, _single, _not_a_number, _empty, _text, dict.clear]
POISONS += [_scaled(1e200), _listed_proof]


@pytest.mark.grid(3)
@pytest.mark.parametrize("poison", POISONS)
def test_a_poisoned_profile_is_not_taken(
    fit: RadialFit, poison: Callable[[dict[str, Any]], None]
) -> None:
    remember(fit)
    path = path_of(*ASKED)
    fields = json.loads(path.read_text())
    poison(fields)
    path.write_text(json.dumps(fields))
    assert recalled(*ASKED) is None
    assert np.array_equal(least_profile(*ASKED).radii, fit.radii)
    assert recalled(*ASKED) is not None  # and what was found anew is kept


@pytest.mark.parametrize("asked", [(2, 4.0, 1e-9), (1, 4.0, 1e-9)])
def test_noise_that_is_as_private_and_larger_is_not_taken(asked: tuple[int, float, float]) -> None:
    """A staircase of the same steps and δ, and less than usual noise, that begins elsewhere."""
    d, epsilon, delta = asked
    own = fitted(*asked)
    remember(own)
    assert recalled(*asked) is not None
    falls = np.arange(own.radii.size + 2.0)
    worse = covering(Staircase(d, 0.3 + falls, -epsilon * falls), epsilon, delta)
    apart = own.second_moment / 50
    assert own.second_moment + apart < worse.second_moment() < usual_moment(*asked)
    fields = json.loads(path_of(*asked).read_text())
    fields |= {"radii": worse.radii.tolist(), "weights": worse.weights().tolist()}
    for proof in (fields["proof"], None):
        path_of(*asked).write_text(json.dumps({**fields, "proof": proof}))
        assert recalled(*asked) is None
    if d > 1:  # nor where its proof says more than can be proved
        lines = {"radii": [0.0, 30.0], "cosines": [-0.5, -1e-9], "multiplier": 1e9}
        for level in (worse.second_moment(), own.second_moment):
            fields["proof"] = {**lines, "level": level}
            path_of(*asked).write_text(json.dumps(fields))
            assert recalled(*asked) is None


def test_what_is_kept_is_read_with_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell of what shorter changes cost is decided, and of those in a bound few."""
    asked, looked = (2, 8.0, 1e-6), []
    cost = Transfer._cost
    monkeypatch.setattr(Transfer, "_cost", lambda own, *at: looked.append(at) or cost(own, *at))
    own = fitted(*asked)
    assert own.proof is not None
    size = len(own.proof.transfer)
    assert size > 500  # half of them times the other half are cells
    assert 0 < len(looked) < size**2 / 64
    remember(own)
    del looked[:]
    assert recalled(*asked) is not None
    assert recalled(*asked, 1e-6) is not None
    assert not looked


def test_a_poisoned_proof_bounds_nothing(fit: RadialFit) -> None:
    remember(fit)
    path = path_of(*ASKED)
    fields = json.loads(path.read_text())
    fields["proof"]["level"] *= 1.01
    path.write_text(json.dumps(fields))
    assert recalled(*ASKED) is None
    proof = proof_from_fields(fields["proof"], *ASKED)
    assert replace(fit, proof=proof).lower_bound() == 0


@pytest.mark.parametrize("content", [b"", b"\xff", b"{", b"[" * 100_000, b"[1, 2]", b"null"])
def test_what_is_no_fit_is_none(content: bytes) -> None:
    path = path_of(*ASKED)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert recalled(*ASKED) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="systems without pipes")
def test_what_is_no_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody writes to, and a device, which need have no end: both of size 0."""
    path, read = path_of(*ASKED), []
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(Path, "read_bytes", lambda own: read.append(own) or b"")
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", "/dev/null"):
        path.symlink_to(odd)
        assert recalled(*ASKED) is None
        path.unlink()
    assert not read


def test_where_nothing_can_be_kept_nothing_fails(fit: RadialFit, tmp_path: Path) -> None:
    (tmp_path / "lownoise").write_text("a file, where the folder would be")
    remember(fit)
    assert recalled(*ASKED) is None


def test_many_writers_leave_one_whole_file(fit: RadialFit) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(remember, [fit] * 64))
        found = list(pool.map(lambda _: recalled(*ASKED), range(8)))
    assert all(each is not None for each in found)
    assert [file.suffix for file in folder().iterdir()] == [".json"]
