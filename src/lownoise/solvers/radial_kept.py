# SPDX-License-Identifier: Apache-2.0
"""Fits of radial noise, kept between runs: a file is a hint that is checked, never trusted.

A file's name is a digest of what was asked and of the fit's version. What is read must be a
staircase that falls by e^ε a step, whose δ is the one asked for, up to a millionth, and of which
its own proof says, in floats, that no noise has `NEAR` less; a proof is decided again whenever its
bound is stated. Where less than that decides which noise is least, it must also be as near to the
least of staircases as that, by its proof or by its slopes (`radial_near`). So whoever writes in the
folder can cost time, and a thousandth of the noise, and has no part in a choice. Noise is charged
by its own final form, whatever its origin.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.radial import proof_from_fields
from lownoise.certificate.radial_line import LineProof
from lownoise.solvers.radial import RadialFit, Staircase, Threshold
from lownoise.solvers.radial_line import line_at, tail_of
from lownoise.solvers.radial_near import shortfall
from lownoise.solvers.radial_proof import greatest_test, least

if TYPE_CHECKING:
    from lownoise.certificate.radial import RadialProof
    from lownoise.numbers.arrays import Vector

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


def recalled(dimension: int, epsilon: float, delta: float, near: float = NEAR) -> RadialFit | None:
    """Return the fit that is kept, if it is one; None if there is none or it is none.

    Args:
        dimension: d.
        epsilon: ε.
        delta: δ.
        near: parts of E‖z‖² that it may have above the least, if that is below `NEAR`.
    """
    try:
        path = path_of(dimension, epsilon, delta)
        # a pipe or a device has no size, and need have no end
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        with np.errstate(all="ignore"):
            found = _fit(json.loads(path.read_bytes()), dimension, epsilon, delta)
            return found if found is not None and _is_fit(found, near) else None
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


def _is_fit(fit: RadialFit, near: float) -> bool:
    """Whether it is a staircase of the steps and δ that were asked, with hardly more noise.

    δ falls where radii grow, and the steps fix the weights: so larger noise of this form has a
    smaller δ, and is found out too. What starts elsewhere and is as private is found out by the
    proof, or by the end of a line, from which all of it follows.
    """
    staircase = _staircase(fit)
    if staircase is None or not abs(staircase.delta(fit.epsilon) / fit.delta - 1) <= _EXACT:
        return False
    if isinstance(fit.proof, LineProof):
        radii, line = fit.radii, line_at(fit.epsilon, fit.proof.end).staircase()
        same = line.radii.size == radii.size and np.allclose(line.radii, radii, rtol=_LINE, atol=0)
        return bool(same) and abs(math.log(tail_of(line) / fit.delta)) <= _LINE
    return fit.proof is not None and _is_least(fit.proof, staircase, near)


def _staircase(fit: RadialFit) -> Staircase | None:
    """Return the density of which it is the mixture, if that falls by e^{−ε} at each radius."""
    d, radii, weights = fit.dimension, fit.radii, fit.weights
    if not (radii[0] > 0 and np.all(np.diff(radii) > 0) and np.all(weights > 0)):
        return None
    heights = np.log(weights) - d * np.log(radii)
    logs = np.logaddexp.accumulate(heights[::-1])[::-1]
    even = np.allclose(np.diff(logs), -fit.epsilon, rtol=_EXACT, atol=0)
    whole = abs(float(weights.sum()) - 1) <= _EXACT
    return Staircase(d, radii, logs) if even and whole else None


def _is_least(proof: RadialProof, staircase: Staircase, near: float) -> bool:
    """Whether no noise has `NEAR` less, nor any that is like it `near` less."""
    above = staircase.second_moment() / max(_proved(proof), 1e-300) - 1
    if not above <= NEAR:
        return False
    if near >= NEAR or 0 <= above <= near:
        return True
    return shortfall(staircase, proof.epsilon, proof.delta) <= near


def _proved(proof: RadialProof) -> float:
    """Return what no noise's E‖z‖² is below, if what is looked at is all there is."""
    radii, cosines = np.array(proof.radii), np.array(proof.cosines)
    change = np.zeros_like(radii)
    change[: len(proof.transfer)] = proof.transfer
    grid = np.union1d(radii, np.linspace(0.0, radii[-1], _GRID))
    threshold = Threshold(proof.dimension, proof.epsilon, proof.multiplier)
    lines = (np.interp(grid, radii, own) for own in (cosines, change))
    if not (proof.is_formed() and least(threshold, grid, *lines) >= proof.level):
        return 0.0
    most = proof.multiplier + greatest_test(proof.dimension, radii, change)
    return proof.level - most * proof.delta
