# SPDX-License-Identifier: Apache-2.0
"""Sets: domains, bodies of changes, unit balls, and the norms whose unit balls they are."""
