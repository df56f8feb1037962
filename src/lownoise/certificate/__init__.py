# SPDX-License-Identifier: Apache-2.0
"""How close to least a noise is, from both sides, recomputed from its evidence alone."""

from lownoise.certificate.claim import Certificate, Claim, Evidence
from lownoise.certificate.duals import (
    AbstractDual,
    AbstractVertexDual,
    CornerDual,
    ImageDual,
    JointDual,
    OracleDual,
    OrthantDual,
    PointDual,
    ProductDual,
    RotationDual,
    SectionDual,
    SquaresDual,
)
from lownoise.certificate.finite import FiniteClaim, FiniteDual
from lownoise.certificate.joint import moments
from lownoise.certificate.lower import lower_bound
from lownoise.certificate.upper import upper_bound
from lownoise.numbers.norms import order_norm

__all__ = [
    "AbstractDual",
    "AbstractVertexDual",
    "Certificate",
    "Claim",
    "CornerDual",
    "Evidence",
    "FiniteClaim",
    "FiniteDual",
    "ImageDual",
    "JointDual",
    "OracleDual",
    "OrthantDual",
    "PointDual",
    "ProductDual",
    "RotationDual",
    "SectionDual",
    "SquaresDual",
    "lower_bound",
    "moments",
    "order_norm",
    "upper_bound",
]
