# SPDX-License-Identifier: Apache-2.0
"""Specification files: a question, a budget, and where the data and the ledger are.

TOML, checked as a whole: every mistake is reported at once, each with its path in the file.
"""

from lownoise.spec.files import JointSpec, Spec, read_any, read_domain, read_spec, read_together
from lownoise.spec.local import LocalSpec, read_local

__all__ = [
    "JointSpec",
    "LocalSpec",
    "Spec",
    "read_any",
    "read_domain",
    "read_local",
    "read_spec",
    "read_together",
]
