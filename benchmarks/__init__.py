# SPDX-License-Identifier: Apache-2.0
"""Measurements behind the numbers in documents: `python -m benchmarks.NAME`."""
