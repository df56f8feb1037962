# SPDX-License-Identifier: Apache-2.0
"""An engine from outside the package: a list of rows, two at a time."""

import numpy as np
import pyarrow as pa

from lownoise.engines import AbstractSource, Batch
from lownoise.errors import TableError
from lownoise.numbers.values import number


class ToySource(AbstractSource):
    def __init__(self, schema, rows):
        self.schema, self.rows = schema, rows  # from names to kinds, and mappings

    def kinds(self, columns):
        for name in columns:
            if name not in self.schema:
                raise TableError(f"column={name!r} is not in the table; it has {list(self.schema)}")
        return tuple(self.schema[name] for name in columns)

    def batches(self, numbers, texts=()):
        for start in range(0, len(self.rows), 2):
            some = self.rows[start : start + 2]
            yield Batch(
                [np.array([number(row[name]) for row in some]) for name in numbers],
                [pa.array([row[name] for row in some], pa.string()) for name in texts],
            )
