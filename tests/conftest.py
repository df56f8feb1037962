# SPDX-License-Identifier: Apache-2.0
"""What every test runs under."""

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.load_profile("ci")
