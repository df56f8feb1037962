# SPDX-License-Identifier: Apache-2.0
"""How close to least a noise is, from both sides, recomputed from its evidence alone."""

from lownoise.certificate.claim import Certificate, Claim
from lownoise.certificate.evidence import AbstractDual, Evidence, Moments
from lownoise.certificate.finite import FiniteClaim, FiniteDual
from lownoise.certificate.images import ImageDual, SquaresDual
from lownoise.certificate.lower import lower_bound
from lownoise.certificate.points import CornerDual, JointDual, OracleDual, PointDual, SectionDual
from lownoise.certificate.tensors import OrthantDual, RotationDual
from lownoise.certificate.upper import upper_bound
from lownoise.numbers.norms import order_norm

__all__ = [
    "AbstractDual",
    "Certificate",
    "Claim",
    "CornerDual",
    "Evidence",
    "FiniteClaim",
    "FiniteDual",
    "ImageDual",
    "JointDual",
    "Moments",
    "OracleDual",
    "OrthantDual",
    "PointDual",
    "RotationDual",
    "SectionDual",
    "SquaresDual",
    "lower_bound",
    "order_norm",
    "upper_bound",
]
