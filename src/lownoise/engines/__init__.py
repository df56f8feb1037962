# SPDX-License-Identifier: Apache-2.0
"""Engines: a table becomes exact integer totals; one meaning, whoever computes."""

from lownoise.engines.clamping import ClampingCoding
from lownoise.engines.listing import ListCoding
from lownoise.engines.query import AbstractCoding, Coding, Totals, TotalsQuery
from lownoise.engines.signs import SignCoding

__all__ = [
    "AbstractCoding",
    "ClampingCoding",
    "Coding",
    "ListCoding",
    "SignCoding",
    "Totals",
    "TotalsQuery",
]
