# SPDX-License-Identifier: Apache-2.0
"""Noise for one number: none is below, by its proof, its definition and a linear programme."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack

from lownoise.certificate.radial_line import LineProof
from lownoise.solvers.radial import RadialFit, Staircase, usual_moment
from lownoise.solvers.radial_fit import fitted, least_profile
from lownoise.solvers.radial_kept import recalled
from lownoise.solvers.radial_line import _Line

if TYPE_CHECKING:
    from pathlib import Path

BUDGETS = list(itertools.product((0.1, 0.5, 1.0, 2.0, 4.0, 8.0), (1e-6, 1e-9)))


def proof_of(fit: RadialFit) -> LineProof:
    assert isinstance(fit.proof, LineProof)
    return fit.proof


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_nothing_is_below(budget: tuple[float, float]) -> None:
    fit = fitted(1, *budget)
    assert fit.lower_bound() < fit.second_moment < (1 + 8 * fit.delta) * fit.lower_bound()
    assert fit.second_moment < usual_moment(1, *budget)


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", [(0.01, 1e-15), (0.01, 0.01), (20.0, 1e-15), (20.0, 0.01)])
def test_the_ends_of_the_range_have_noise_and_a_proof(budget: tuple[float, float]) -> None:
    fit = fitted(1, *budget)
    assert fit.lower_bound() < fit.second_moment < (1 + 1e-9 + 12 * fit.delta) * fit.lower_bound()


@pytest.mark.parametrize("budget", [(1.0, 1e-6), (4.0, 0.01), (8.0, 1e-9)], ids=str)
def test_delta_is_the_mass_of_the_end_and_any_shorter_change_has_less(
    budget: tuple[float, float],
) -> None:
    fit = fitted(1, *budget)
    heights = fit.weights / fit.radii
    staircase = Staircase(1, fit.radii, np.log(np.cumsum(heights[::-1])[::-1]))
    assert math.isclose(staircase.delta(fit.epsilon), fit.delta, rel_tol=1e-6)
    for shorter in (0.2, 0.5, 0.9, 0.99):
        assert staircase.scaled(1 / shorter).delta(fit.epsilon) < fit.delta


@pytest.mark.parametrize("budget", [(1.0, 0.01), (4.0, 1e-6), (0.5, 1e-6)], ids=str)
def test_the_condition_is_that_of_all_noise(budget: tuple[float, float]) -> None:
    """z² + A(z) again, from the functions that are tested, at many z, and what they are at most."""
    proof = proof_of(fitted(1, *budget))
    growth = math.exp(proof.epsilon)
    most = (proof.end**2 - proof.level) / (growth - 1)

    def rest(z: float) -> float:
        own = z * z - proof.level
        return own + (most if z >= proof.end - 1 else rest(z + 1) / growth)

    def whole(z: float) -> float:  # tested against z + 1
        return most if z >= proof.end - 1 else rest(z + 1) / growth

    inner = (np.arange(400) + 0.5) / 400
    values = np.array([rest(float(z)) for z in inner])
    sent, room = np.maximum(-values, 0), np.maximum(values, 0) / growth
    part = sent.sum() / room.sum()  # of the room that is taken
    assert part <= 1 + 1e-3
    shares = room / room.sum()
    for z, value, out in zip(inner, values, sent, strict=True):
        gained = whole(float(z)) + out  # `out` to all of (γ, 1), in parts of the room there
        lost = max(value, 0.0) * part
        assert z * z + gained - lost >= proof.level * (1 - 1e-3)
    for z in np.linspace(1, proof.end + 2, 500):
        assert 0 <= whole(float(z - 1)) <= most * (1 + 1e-12)
        assert z * z + whole(float(z)) - growth * whole(float(z - 1)) >= proof.level * (1 - 1e-9)
    # What shorter changes are tested with is at most the product of both at their greatest.
    shorter = sent.max() * shares.max() * inner.size
    assert proof.lower <= proof.level - 2 * (most + shorter) * proof.delta


@pytest.mark.parametrize("budget", [(1.0, 0.01), (2.0, 1e-3)], ids=str)
def test_a_linear_programme_finds_none_below(budget: tuple[float, float]) -> None:
    """Densities that are even and constant on cells of 1/8, tested at all changes by cells."""
    epsilon, delta = budget
    cells, size = 8, 8 * 8
    chances = 2 * size + 1
    places = np.arange(-size, size + 1) / cells
    rows, columns, values, at = [], [], [], 0
    for step in range(1, cells + 1):
        k = np.arange(chances + step)  # places from −size to size + step
        loss = chances + at + k
        inside, moved = k < chances, k >= step
        rows += [at + k, at + k[inside], at + k[moved]]
        columns += [loss, k[inside], k[moved] - step]
        values += [np.full(k.size, -1.0), np.ones(chances), np.full(chances, -math.exp(epsilon))]
        at += k.size
    losses = at
    for step, start in zip(range(1, cells + 1), range(cells), strict=True):
        first = start * chances + step * (step - 1) // 2
        k = np.arange(chances + step)
        rows.append(np.full(k.size, losses + start))
        columns.append(chances + first + k)
        values.append(np.ones(k.size))
    matrix = coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(losses + cells, chances + losses),
    )
    mirror = np.eye(chances)[:size] - np.eye(chances)[::-1][:size]
    even = coo_array(np.vstack([mirror, np.ones(chances)]))
    found = linprog(
        np.append(places**2 + 1 / (12 * cells**2), np.zeros(losses)),
        A_ub=matrix.tocsr(),
        b_ub=np.append(np.zeros(losses), np.full(cells, delta)),
        A_eq=hstack([even, coo_array((size + 1, losses))]).tocsr(),
        b_eq=np.append(np.zeros(size), 1.0),
        method="highs-ipm",
    )
    fit = fitted(1, epsilon, delta)
    assert fit.lower_bound() < found.fun < 1.03 * fit.second_moment
    assert fit.second_moment < 1.05 * fit.lower_bound()


@pytest.mark.grid(3)
@pytest.mark.parametrize("budget", [(1.0, 1e-6), (2.0, 1e-6), (0.1, 1e-6)], ids=str)
@pytest.mark.parametrize(
    ("name", "factor"),
    [("level", 1.001), ("end", 0.999), ("below", 1.01), ("above", 0.99), ("end", 0.01)],
)
def test_a_proof_that_says_more_than_it_shows_is_red(
    name: str, factor: float, budget: tuple[float, float]
) -> None:
    proof = proof_of(fitted(1, *budget))
    assert not replace(proof, **{name: getattr(proof, name) * factor}).holds()


@pytest.mark.parametrize("budget", [(1.0, 1e-6), (2.0, 1e-6), (0.1, 1e-6)], ids=str)
def test_a_level_with_no_room_for_shorter_changes_is_red(budget: tuple[float, float]) -> None:
    """Though V changes its sign where it is said to: nothing else is wrong."""
    proof = proof_of(fitted(1, *budget))
    zero = _Line(proof.epsilon, proof.end, proof.level * 1.001).room()[1]
    ends = {"below": zero * (1 - 1e-9), "above": zero * (1 + 1e-9)}
    assert not replace(proof, level=proof.level * 1.001, **ends).holds()
    assert proof.holds()


@pytest.mark.parametrize("factor", [0.9, 0.999, 1.001, 1.1])
def test_a_sign_that_changes_elsewhere_is_red(factor: float) -> None:
    proof = proof_of(fitted(1, 1.0, 1e-6))
    assert not replace(proof, below=proof.below * factor, above=proof.above * factor).holds()


@pytest.mark.grid(3)
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1.0, 0.0])
@pytest.mark.parametrize("name", ["epsilon", "end", "below", "above", "level"])
def test_a_proof_of_no_numbers_bounds_nothing(name: str, wrong: float) -> None:
    broken = replace(proof_of(fitted(1, 1.0, 1e-6)), **{name: wrong})
    assert not broken.holds() or broken.lower <= 0


def test_a_kept_fit_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fit = least_profile(1, 1.0, 1e-6)
    again = recalled(1, 1.0, 1e-6)
    assert again is not None
    assert again.proof == fit.proof
    assert np.array_equal(again.radii, fit.radii)
    assert again.lower_bound() == fit.lower_bound() > 0
