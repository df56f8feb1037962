# SPDX-License-Identifier: Apache-2.0
"""`python -m lownoise.cli`."""

from lownoise.cli import main

main()
