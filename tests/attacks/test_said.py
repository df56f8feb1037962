# SPDX-License-Identifier: Apache-2.0
"""All that is said beside the released numbers, whatever rows hold, however many there are.

The attacker sees everything of a release but its numbers: what is printed, warned, logged, raised,
left on disk and written into the ledger. The attack wins where any of it differs between a table of
plain records and one of hostile records. Every kind of question is tried, every way in, and the
command line; `docs/threat-model.md` lists what each path says.
"""

import logging
import os
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from attacks.observed import ASKED, EXTRA, SIZE, WAYS, cells, name_of, observed
from lownoise.engines.counts import Histogram
from lownoise.errors import EngineError

OPENED = [("box", "", "add_remove"), ("queries", "", "add_remove")]  # by numbers, by categories
MET = [(asked, way) for asked in OPENED for way in WAYS] + [(asked, "objects") for asked in ASKED]


@pytest.mark.grid(1, least=41)
@pytest.mark.parametrize(("asked", "way"), MET, ids=name_of)
def test_a_release_says_the_same_whatever_rows_hold(asked, way, tmp_path):
    kind = WAYS[way][0]
    extra = EXTRA if asked[2] == "add_remove" else 0
    calm = observed(asked, way, cells(kind, wild=False), tmp_path)
    wild = observed(asked, way, cells(kind, wild=True, extra=extra), tmp_path)
    assert wild == calm
    assert calm["ended"][0] == "returned"
    assert calm["warned"] == calm["logged"] == calm["unraised"] == []
    assert calm["printed"] == ("", "", b"")


# ---------------------------------------------------------------- what the audit would see


def fail(count):
    raise ValueError(f"{count} rows")


def fail_with_a_cause(count):
    raise EngineError("could not be counted") from ValueError(f"{count} rows")


def fail_in_a_thread(count):
    thread = threading.Thread(target=fail, args=(count,))
    thread.start()
    thread.join()


CHANNELS = {  # the ways that are watched, each saying a number of rows
    "print": lambda count: sys.stdout.write(f"{count}\n"),
    "standard error": lambda count: sys.stderr.write(f"{count}\n"),
    "descriptor": lambda count: os.write(2, f"{count}".encode()),
    "warning": lambda count: warnings.warn(f"{count} rows", stacklevel=1),
    "float": lambda count: np.float64(1e308) * (count > SIZE) * 10.0,
    "log": lambda count: logging.getLogger("engine").debug("%d rows", count),
    "error": fail,
    "cause": fail_with_a_cause,
    "file": lambda count: Path("spilled").write_bytes(bytes(count)),
    "folder": lambda count: Path(f"spilled{count}").touch(),
    "thread": fail_in_a_thread,
}


def test_a_silent_engine_is_found_silent_and_a_planted_one_that_says_the_rows_is_not(
    tmp_path, monkeypatch
):
    """The positive control of this file: each channel alone turns it red."""
    from lownoise.release import execution

    clock, asked, counted = execution.now, ("queries", "", "add_remove"), []
    read = Histogram.__init__

    def planted(self, counts):
        counted.append(int(counts.sum()))
        read(self, counts)

    monkeypatch.setattr(Histogram, "__init__", planted)

    def both(channel):
        def now():  # a step that comes after the records, and outside the block that hides them
            channel(counted[-1])
            return clock()

        monkeypatch.setattr(execution, "now", now)
        return [
            observed(asked, "floats", cells("number", wild=False, extra=extra), tmp_path)
            for extra in (0, EXTRA)
        ]

    one, other = both(str)
    assert one == other
    told = {name: both(channel) for name, channel in CHANNELS.items()}
    assert [name for name, (one, other) in told.items() if one == other] == []
