# SPDX-License-Identifier: Apache-2.0
"""Engines: a table becomes exact integer totals; one meaning, whoever computes."""

from lownoise.engines.query import Coding, Totals, TotalsQuery

__all__ = ["Coding", "Totals", "TotalsQuery"]
