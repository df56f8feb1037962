# SPDX-License-Identifier: Apache-2.0
"""Checking a plan or a release from its file alone, by code that cannot reach an optimiser.

What was chosen (the terms) is read and everything that follows is computed again: the reach of a
record in the final noise, rounded outward; the cost; both sides of the certificate; the answers.
What the file says of these must be the same to nine digits, as much is computed through products of
matrices, whose last bits differ between machines; and deviations that draws estimate, nearly.

A digest without a key guards against accidents, not against a forger: whoever can write a file can
write its digest. What follows from nothing else in the file is said, not proved: the integers, when
they were made (`created`), by which versions, who paid (`spend`), in which words a stream names its
strategy and the reason for it, and the names of several questions, what one unit of their errors
matters (`importance`) and what they would err by with a plan each (`apart`). That the noise covers
a record, what it costs, both bounds, and that answers follow from the integers is proved whoever
wrote the file. Who wrote it, a signature beside it says.
"""

from lownoise.release.verification.checks import Check, Verification
from lownoise.release.verification.files import verify

__all__ = ["Check", "Verification", "verify"]
