# SPDX-License-Identifier: Apache-2.0
"""Engines: a table becomes exact integer totals; one meaning, whoever computes."""

from lownoise.engines.codings import AbstractCoding, Coding, Totals, TotalsQuery
from lownoise.engines.folds import AbstractFold, Batch
from lownoise.engines.record_codings import ClampingCoding, ListCoding, SignCoding
from lownoise.engines.source import AbstractSource, Groups, Sums

__all__ = [
    "AbstractCoding",
    "AbstractFold",
    "AbstractSource",
    "Batch",
    "ClampingCoding",
    "Coding",
    "Groups",
    "ListCoding",
    "SignCoding",
    "Sums",
    "Totals",
    "TotalsQuery",
]
