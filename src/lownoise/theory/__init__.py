# SPDX-License-Identifier: Apache-2.0
"""Researchers' tools: factorizations, ellipsoids, quadratic forms, small optimal mechanisms."""
