# SPDX-License-Identifier: Apache-2.0
"""The least radial noise for a dimension and a budget, with a proof that none adds less.

Fits of radial noise, kept between runs: a file is a hint that is checked, never trusted.

A file's name is a digest of what was asked and of the fit's version. What is read must be a
staircase that falls by e^ε a step, whose δ is the one asked for, up to a millionth, and of which
its own proof says, in floats, that no noise has `NEAR` less; a proof is decided again whenever its
bound is stated. So whoever writes in the folder can cost time, and a thousandth of the noise; what
is that near to being chosen is fitted anew (`planning.verb`), so no file has a part in a choice.
Noise is charged by its own final form, whatever its origin.

The least noise for one number under (ε, δ): a staircase of intervals with an end (ours).

Its density falls by e^{−ε} at γ, γ + 1, γ + 2, … and to 0 at R, whatever of a step is left there.
R and ν fix λ and with it V (certificate/radial_line.py). ν is the one at which the shorter changes
just have room, γ is where V is 0, and R is such that δ, the mass of (R − 1, R), is the one asked
for. E z² is then ν − 2λδ: least but for the share Λ of δ, which is some parts of δ.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.radial import proof_from_fields
from lownoise.certificate.radial_line import LineProof
from lownoise.errors import PlanError
from lownoise.solvers.radial import RadialFit, Staircase, Threshold, covering, usual_moment
from lownoise.solvers.radial_flow import Spare
from lownoise.solvers.radial_proof import curve_of, least, proof_of

if TYPE_CHECKING:
    from lownoise.certificate.radial import RadialProof
    from lownoise.numbers.arrays import Vector

_STEP = 1 + 2.0**-38  # a hair above 1: no rounding lets a change cross two falls
_ROOMS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # parts of ν left to the check in intervals
_APART = 1e-9  # parts of γ to either side of it


@final
@dataclass(frozen=True)
class _Line:
    """What R and ν fix.

    Args:
        epsilon: ε.
        end: R, above 1.
        level: ν.
    """

    epsilon: float
    end: float
    level: float

    def parabolas(self) -> tuple[Vector, Vector]:
        """Return coefficients of V on [0, R mod 1] and on [R mod 1, 1], the constant first."""
        fall = math.exp(-self.epsilon)
        multiplier = (self.end**2 - self.level) / math.expm1(self.epsilon)
        steps = math.floor(self.end)

        def parabola(steps: int) -> Vector:
            j = np.arange(steps + 1.0)
            falls = fall**j
            last = falls[-1] * multiplier
            return np.array(
                [falls @ (j * j - self.level) + last, 2 * falls @ j, float(falls.sum())]
            )

        return parabola(steps), parabola(steps - 1)

    def room(self) -> tuple[float, float]:
        """Return ∫₀^γ V + e^{−ε}∫_γ¹ V, and γ: 0 or 1 where V has one sign."""
        from scipy.optimize import brentq

        meeting, pieces = self.end - math.floor(self.end), self.parabolas()

        def value(z: float) -> float:
            a, b, c = pieces[z > meeting]
            return float(a + z * (b + z * c))

        def integral(low: float, high: float) -> float:
            total = 0.0
            for (a, b, c), start, end in zip(pieces, (0, meeting), (meeting, 1), strict=True):
                first, last = min(max(low, start), high), max(min(high, end), low)
                if first < last:
                    total += (last - first) * a + (last**2 - first**2) * b / 2
                    total += (last**3 - first**3) * c / 3
            return total

        if value(0.0) >= 0 or value(1.0) <= 0:
            return (math.inf, 0.0) if value(0.0) >= 0 else (-math.inf, 1.0)
        zero = float(brentq(value, 0.0, 1.0, xtol=1e-15))
        return integral(0.0, zero) + math.exp(-self.epsilon) * integral(zero, 1.0), zero

    def staircase(self) -> Staircase:
        """Return the density that falls at γ, γ + 1, … and to 0 at R."""
        _, zero = self.room()
        radii = zero + _STEP * np.arange(math.ceil(self.end) + 1)
        radii = np.append(radii[radii < self.end * (1 - 1e-12)], self.end)
        logs = -self.epsilon * np.arange(radii.size, dtype=np.float64)
        return Staircase(1, radii.astype(np.float64), logs)


def fitted_line(epsilon: float, delta: float) -> tuple[Staircase, LineProof | None]:
    """Return the least noise for one number, δ in floats, and why none adds less.

    Args:
        epsilon: ε.
        delta: δ.
    """
    from scipy.optimize import brentq

    def excess(end: float) -> float:
        return math.log(max(_tail(_at(epsilon, end).staircase()), 1e-300) / delta)

    low, high = 1 + 1e-6, 2.0
    while excess(high) > 0:
        low, high = high, 2 * high
    if excess(low) < 0:  # at the largest δ and ε alone
        low = 1 + 1e-9
    line = _at(epsilon, float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)))
    return line.staircase(), _proof(line, delta)


def _at(epsilon: float, end: float) -> _Line:
    """Return the line of the largest ν that leaves the shorter changes room."""
    low, high = 0.0, end**2
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _Line(epsilon, end, middle).room()[0] >= 0 else (low, middle)
    return _Line(epsilon, end, low)


def _tail(staircase: Staircase) -> float:
    """Return the mass of (R − 1, R): the δ of a change by 1, as no other fall is crossed twice."""
    radii, masses = staircase.radii, np.exp(staircase.logs)
    edges = np.append(0.0, radii)
    widths = np.minimum(edges[1:], radii[-1]) - np.maximum(edges[:-1], radii[-1] - 1)
    return float(masses @ np.maximum(widths, 0.0) / (2 * (masses @ np.diff(edges))))


def _proof(line: _Line, delta: float) -> LineProof | None:
    for room in _ROOMS:
        lower = replace(line, level=line.level * (1 - room))
        zero = lower.room()[1]
        ends = (zero * (1 - _APART), zero * (1 + _APART))
        proof = LineProof(lower.epsilon, delta, lower.end, lower.level, *ends)
        if proof.holds():
            return proof
    return None


_VERSION = 4  # of the fit: raised where another noise or proof is found
_MOST_BYTES = 1 << 24
_EXACT = 1e-6  # of δ and of ε a step, as floats hold them
NEAR = 2e-3  # parts of E‖z‖² that a kept fit may have above what is proved of all noise
_GRID = 1000  # radii at which its proof is looked at, beside those between its nodes
_LINE = 1e-9  # of radii and of log δ, to which noise for one number is the one found anew
_MOST_BALLS = 1 << 17


def folder() -> Path:
    """Return where fits are kept: in XDG_CACHE_HOME, or in ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    parent = Path(home) if Path(home).is_absolute() else Path.home() / ".cache"
    return parent / "lownoise" / "radial"


def path_of(dimension: int, epsilon: float, delta: float) -> Path:
    """Return the file of one fit."""
    asked = f"{_VERSION} {dimension} {float(epsilon).hex()} {float(delta).hex()}"
    return folder() / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"


def recalled(dimension: int, epsilon: float, delta: float) -> RadialFit | None:
    """Return the fit that is kept, if it is one; None if there is none or it is none."""
    try:
        path = path_of(dimension, epsilon, delta)
        # a pipe or a device has no size, and need have no end
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        with np.errstate(all="ignore"):
            found = _fit(json.loads(path.read_bytes()), dimension, epsilon, delta)
            return found if found is not None and _is_fit(found) else None
    except Exception:  # noqa: BLE001 (whatever it is, it is no fit)
        return None


def remember(fit: RadialFit) -> None:
    """Keep a fit, whole or not at all; where no file can be written, keep none."""
    proof = None if fit.proof is None else fit.proof.fields()
    fields = {"radii": fit.radii.tolist(), "weights": fit.weights.tolist(), "proof": proof}
    try:
        path = path_of(fit.dimension, fit.epsilon, fit.delta)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w") as file:
                json.dump(fields, file)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
    except (OSError, RuntimeError):  # no folder, no home, no room
        return


def _fit(fields: dict[str, Any], dimension: int, epsilon: float, delta: float) -> RadialFit | None:
    radii, weights = _numbers(fields["radii"]), _numbers(fields["weights"])
    if not (0 < radii.size == weights.size <= _MOST_BALLS):
        return None
    proof = fields["proof"]
    if proof is not None:
        proof = proof_from_fields(proof, dimension, epsilon, delta)
    moment = float(weights @ radii**2 * dimension / (dimension + 2))
    return RadialFit(dimension, epsilon, delta, radii, weights, moment, proof)


def _numbers(values: list[float]) -> Vector:
    found = np.array(values, dtype=float)
    if found.ndim != 1 or not np.all(np.isfinite(found)):
        raise ValueError("no list of numbers")
    return found


def _is_fit(fit: RadialFit) -> bool:
    """Whether it is a staircase of the steps and δ that were asked, with hardly more noise.

    δ falls where radii grow, and the steps fix the weights: so larger noise of this form has a
    smaller δ, and is found out too. What starts elsewhere and is as private is found out by the
    proof, or by the end of a line, from which all of it follows.
    """
    d, radii, weights = fit.dimension, fit.radii, fit.weights
    if not (radii[0] > 0 and np.all(np.diff(radii) > 0) and np.all(weights > 0)):
        return False
    if abs(float(weights.sum()) - 1) > _EXACT:
        return False
    heights = np.log(weights) - d * np.log(radii)
    logs = np.logaddexp.accumulate(heights[::-1])[::-1]
    if not np.allclose(np.diff(logs), -fit.epsilon, rtol=_EXACT, atol=0):
        return False
    staircase = Staircase(d, radii, logs)
    if not abs(staircase.delta(fit.epsilon) / fit.delta - 1) <= _EXACT:
        return False
    if isinstance(fit.proof, LineProof):
        line = _at(fit.epsilon, fit.proof.end).staircase()
        same = line.radii.size == radii.size and np.allclose(line.radii, radii, rtol=_LINE, atol=0)
        return bool(same) and abs(math.log(_tail(line) / fit.delta)) <= _LINE
    return fit.proof is not None and fit.second_moment <= (1 + NEAR) * _proved(fit.proof)


def _proved(proof: RadialProof) -> float:
    """Return what no noise's E‖z‖² is below, if the condition holds between the radii looked at."""
    radii, cosines = np.array(proof.radii), np.array(proof.cosines)
    change = np.zeros_like(radii)
    change[: len(proof.transfer)] = proof.transfer
    grid = np.union1d(radii, np.linspace(0.0, radii[-1], _GRID))
    threshold = Threshold(proof.dimension, proof.epsilon, proof.multiplier)
    lines = (np.interp(grid, radii, own) for own in (cosines, change))
    if not (proof.is_formed() and least(threshold, grid, *lines) >= proof.level):
        return 0.0
    return proof.lower


DIMENSIONS = (1, 4096)
EPSILONS = (0.01, 20.0)
DELTAS = (1e-15, 0.01)
_SECANTS = 12
_LEAST_WEIGHT = 1e-280  # smaller ones leave the range of floats
_WORTH = 0.7  # parts of E‖z‖² below which no bound is stated
_LEVEL = 1e-7  # parts of ν to which it is found
_COARSE = 3e-5  # while λ moves
_MOVED = 0.01  # parts of ν by which it is off where λ moved, at most as a rule
_CLOSE = 2e-2  # of log δ: λ moves no more
_STARTS = 50  # first radii that are compared where δ is 0


def least_profile(dimension: int, epsilon: float, delta: float, *, kept: bool = True) -> RadialFit:
    """Return the least radial noise under (ε, δ) for changes of length at most 1.

    A fit that was found once is kept in the user's cache folder, and checked when it is read.

    Args:
        dimension: d, from 1 to 4096.
        epsilon: ε, from 0.01 to 20.
        delta: δ, from 1e-15 to 0.01.
        kept: whether a fit from there will do, which may have `NEAR` more than the one found anew.

    Raises:
        PlanError: if one is out of range.

    Examples:
        >>> fit = least_profile(16, 1.0, 1e-6)
        >>> round(fit.second_moment / (16 * 17), 3)  # over the K-norm's
        0.677
        >>> 1 < fit.second_moment / fit.proof.lower < 1.0005
        True
    """
    _checked(dimension, epsilon, delta)
    found = recalled(dimension, epsilon, delta) if kept or dimension == 1 else None
    if found is None:
        found = fitted(dimension, epsilon, delta)
        remember(found)
    return found


def fitted(dimension: int, epsilon: float, delta: float) -> RadialFit:
    """Find what `least_profile` returns, with no cache."""
    if dimension == 1:
        staircase, shown = fitted_line(epsilon, delta)
        return _made(staircase, epsilon, delta, shown)
    usual = usual_moment(dimension, epsilon, delta)
    start, curve, proof = _pure_start(dimension, epsilon), None, None
    while True:
        threshold, level = _multiplied(dimension, epsilon, delta, usual, start)
        best = covering(threshold.staircase(start, level), epsilon, delta)
        again = curve is not None
        guess = best.second_moment() + threshold.multiplier * delta
        spare = Spare(best, epsilon, guess)
        curve = curve_of(threshold, guess, spare, best.radii.size)
        if again or curve is None or not 0 < curve.first < 1:
            break
        start = curve.first  # where no change moves anything: there the first radius is least
    if curve is not None:
        proof = proof_of(threshold, curve, spare, delta)
        if not proof.lower > _WORTH * best.second_moment():
            proof = None
    return _made(best, epsilon, delta, proof)


def _pure_start(dimension: int, epsilon: float) -> float:
    """Return the first radius that is best where δ is 0 and each step is as wide as a change."""
    steps = np.arange(math.ceil((45 + 3 * dimension) / epsilon), dtype=np.float64)
    starts = np.linspace(0.01, 0.99, _STARTS)
    moments = [
        Staircase(dimension, start + steps, -epsilon * steps).second_moment() for start in starts
    ]
    return float(starts[int(np.argmin(moments))])


def _made(
    staircase: Staircase, epsilon: float, delta: float, proof: RadialProof | LineProof | None
) -> RadialFit:
    weights = staircase.weights()
    held = weights > _LEAST_WEIGHT
    return RadialFit(
        staircase.dimension,
        epsilon,
        delta,
        staircase.radii[held],
        weights[held],
        staircase.second_moment(),
        proof,
    )


def _multiplied(
    dimension: int, epsilon: float, delta: float, usual: float, start: float
) -> tuple[Threshold, float]:
    """Return λ whose staircase has this δ, and ν there: log δ is followed by secants."""
    logs: list[tuple[float, float]] = []
    at, level = math.log(0.05 * usual / delta), 0.0
    while True:
        threshold = Threshold(dimension, epsilon, math.exp(at))
        if logs:  # dν = δ dλ, as E‖z‖² = ν − λδ is least
            last, gone = logs[-1]
            level += delta * math.exp(gone / 2) * (math.exp(at) - math.exp(last))
        level = _level(threshold, start, level, 2 * usual)
        excess = math.log(max(threshold.staircase(start, level).delta(epsilon), 1e-300) / delta)
        logs.append((at, excess))
        if abs(excess) < _CLOSE or len(logs) > _SECANTS:
            near = (level * (1 - 2 * _COARSE), level * (1 + 2 * _COARSE))
            return threshold, threshold.level(start, *near, _LEVEL)
        step = 0.8 * excess
        if len(logs) > 1:
            (a, f), (b, g) = logs[-2:]
            step = -g * (b - a) / (g - f) if f != g else step
        at += min(max(step, -3.0), 3.0)


def _level(threshold: Threshold, start: float, guess: float, high: float) -> float:
    """Return ν to some digits, from around a guess if it is there."""
    if guess > 0:
        low, most = guess * (1 - _MOVED), guess * (1 + _MOVED)
        found = threshold.level(start, low, most, _COARSE)
        if low < found < most * (1 - 2 * _COARSE):
            return found
    return threshold.level(start, 0.0, high, _COARSE)


def _checked(dimension: int, epsilon: float, delta: float) -> None:
    for field, value, (low, high) in (
        ("dimension", dimension, DIMENSIONS),
        ("epsilon", epsilon, EPSILONS),
        ("delta", delta, DELTAS),
    ):
        if not low <= value <= high:
            raise PlanError(
                f"{field}={value} is out of range for radial noise; give {low} to {high}, or take "
                "another mechanism"
            )
