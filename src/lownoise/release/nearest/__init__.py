# SPDX-License-Identifier: Apache-2.0
"""Post-processing: the answers nearest to a release's that a table can have, said to be biased."""

from lownoise.release.nearest.projected import Projected, projected

__all__ = ["Projected", "projected"]
