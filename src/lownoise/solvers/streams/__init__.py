# SPDX-License-Identifier: Apache-2.0
"""Factors for streams: numbers only; privacy is proved elsewhere, from what they made."""
