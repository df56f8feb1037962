# SPDX-License-Identifier: Apache-2.0
"""Engines: a table becomes exact integer totals; one meaning, whoever computes."""

from lownoise.engines.codings import ClampingCoding, ListCoding, SignCoding
from lownoise.engines.query import AbstractCoding, Coding, Totals, TotalsQuery
from lownoise.engines.source import AbstractSource, Batch, Sums

__all__ = [
    "AbstractCoding",
    "AbstractSource",
    "Batch",
    "ClampingCoding",
    "Coding",
    "ListCoding",
    "SignCoding",
    "Sums",
    "Totals",
    "TotalsQuery",
]
