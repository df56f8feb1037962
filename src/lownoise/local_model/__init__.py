# SPDX-License-Identifier: Apache-2.0
"""Local privacy: each person's device randomizes its own record, and no one is trusted with it.

An *encoder* makes integers of a record, a *randomizer* makes a report of them that is private
whatever they are, and decoding what many reports say together is linear. What a device runs imports
numpy alone, and interval arithmetic where a draw is open. The members of both families stand below:
what only a collector needs (`terms`, `aggregate`) is imported from its file.
"""

from lownoise.local_model.additive import BallGaussian, BallKNorm, CubeLaplace
from lownoise.local_model.ball import HalfSpace, SphereCap
from lownoise.local_model.cells import CellEncoder
from lownoise.local_model.coordinates import SampledCoordinates
from lownoise.local_model.encoder import ENCODERS, AbstractEncoder
from lownoise.local_model.encoders import EllipsoidEncoder, NearestEncoder, RangeEncoder
from lownoise.local_model.labels import DirectResponse, SubsetSelection, UnaryEncoding
from lownoise.local_model.randomizer import FULL, RANDOMIZERS, AbstractRandomizer, LocalLoss
from lownoise.local_model.tables import SampledTables, TablesEncoder

__all__ = [
    "ENCODERS",
    "FULL",
    "RANDOMIZERS",
    "AbstractEncoder",
    "AbstractRandomizer",
    "BallGaussian",
    "BallKNorm",
    "CellEncoder",
    "CubeLaplace",
    "DirectResponse",
    "EllipsoidEncoder",
    "HalfSpace",
    "LocalLoss",
    "NearestEncoder",
    "RangeEncoder",
    "SampledCoordinates",
    "SampledTables",
    "SphereCap",
    "SubsetSelection",
    "TablesEncoder",
    "UnaryEncoding",
]
