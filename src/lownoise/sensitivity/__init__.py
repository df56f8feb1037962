# SPDX-License-Identifier: Apache-2.0
"""Sensitivity: what one neighbour can change, and how far that is in a noise shape."""
