# SPDX-License-Identifier: Apache-2.0
"""How close to least a noise is, from both sides, recomputed from its evidence alone."""

from lownoise.certificate.claim import Certificate, Claim, unit_of, upper_bound
from lownoise.certificate.evidence import EVIDENCE, AbstractDual, Evidence, Moments
from lownoise.certificate.finite import FiniteClaim, FiniteDual
from lownoise.certificate.measures import (
    CornerDual,
    ImageDual,
    JointDual,
    OracleDual,
    PointDual,
    SectionDual,
    SquaresDual,
)
from lownoise.certificate.moments import FlipDual, TurnedDual
from lownoise.certificate.signs import SignsDual
from lownoise.certificate.tensors import OrthantDual, RotationDual
from lownoise.numbers.norms import order_norm

__all__ = [
    "EVIDENCE",
    "AbstractDual",
    "Certificate",
    "Claim",
    "CornerDual",
    "Evidence",
    "FiniteClaim",
    "FiniteDual",
    "FlipDual",
    "ImageDual",
    "JointDual",
    "Moments",
    "OracleDual",
    "OrthantDual",
    "PointDual",
    "RotationDual",
    "SectionDual",
    "SignsDual",
    "SquaresDual",
    "TurnedDual",
    "order_norm",
    "unit_of",
    "upper_bound",
]
