# SPDX-License-Identifier: Apache-2.0
"""Measurements: `python -m benchmarks.NAME`; two checkouts side by side: `benchmarks.pairs`."""
