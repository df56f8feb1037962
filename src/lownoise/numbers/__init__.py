# SPDX-License-Identifier: Apache-2.0
"""Arrays, directed rounding, intervals and randomness; how numbers are read and written."""
