# SPDX-License-Identifier: Apache-2.0
"""Proofs about all additive noise, as fields of files: of one number, and of several.

`radial` has what several numbers need, `radial_line` what one does.
"""

from __future__ import annotations

from typing import Any

from lownoise.certificate.radial import RadialProof
from lownoise.certificate.radial_line import LineProof

AdditiveProof = RadialProof | LineProof


def proof_from_fields(
    fields: dict[str, Any], dimension: int, epsilon: float, delta: float
) -> AdditiveProof:
    """Return the proof whose `fields` these are; whether it holds, it decides itself.

    Args:
        fields: as its method of that name returned them.
        dimension: d, of the noise.
        epsilon: ε.
        delta: δ.

    Raises:
        KeyError, TypeError, ValueError: where they are no such fields.
    """
    if dimension == 1:
        names = ("end", "level", "below", "above")
        return LineProof(epsilon, delta, *(float(fields[name]) for name in names))
    radii, cosines, transfer = (
        tuple(map(float, fields.get(name, ()))) for name in ("radii", "cosines", "transfer")
    )
    multiplier, level = (float(fields[name]) for name in ("multiplier", "level"))
    return RadialProof(dimension, epsilon, delta, radii, cosines, multiplier, level, transfer)
