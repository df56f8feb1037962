# SPDX-License-Identifier: Apache-2.0
"""A release: its terms, how it is made, its answers, its files."""
