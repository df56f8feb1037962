# SPDX-License-Identifier: Apache-2.0
"""The command line: parse, call, print."""

from lownoise.cli.accounts import ledger_app
from lownoise.cli.commands import app, main, plan, release

__all__ = ["app", "ledger_app", "main", "plan", "release"]
