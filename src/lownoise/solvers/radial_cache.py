# SPDX-License-Identifier: Apache-2.0
"""Fits of radial noise, kept between runs: a file is a hint that is checked, never trusted.

A file's name is a digest of what was asked and of the fit's version. What is read must be a
staircase that falls by e^ε a step and whose δ is the one asked for, up to a millionth; a proof is
decided again whenever its bound is stated. So whoever writes in the folder can cost time, and
another of the staircases that cover; noise is charged by its own final form, whatever its origin.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.additive import proof_from_fields
from lownoise.solvers.radial import RadialFit, Staircase, usual_moment

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_VERSION = 4  # of the fit: raised where another noise or proof is found
_MOST_BYTES = 1 << 24
_EXACT = 1e-6  # of δ and of ε a step, as floats hold them
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
    """Whether the mixture is a staircase whose steps and δ are the asked ones, and no worse noise.

    δ falls where radii grow, and the steps fix the weights: so larger noise of this form has a
    smaller δ, and is found out too.
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
    return fit.second_moment <= usual_moment(d, fit.epsilon, fit.delta)
