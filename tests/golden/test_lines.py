# SPDX-License-Identifier: Apache-2.0
"""What ran is counted: functions with their docstrings and their classes, code, code that ran."""

import ast
import sys

from tests import shape
from tests.golden.lines import Recorder, counted

TEXT = '''from dataclasses import dataclass


@dataclass
class Kept:
    """Fields alone, which a call of no method sets."""

    one: int


class Unused:
    def never(self):
        return 1


class Used:
    """Two lines of this class and one method."""

    @property
    def value(self):
        """Return one of two."""
        if self:
            return Kept(1)
        return 2

    def never(self):
        return 1
'''


def test_what_ran_is_counted(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(TEXT)
    module = type(sys)("own")
    module.__file__ = str(path)
    sys.modules["own"] = module
    exec(compile(TEXT, str(path), "exec"), vars(module))  # noqa: S102 (a package of one file)
    kept = Recorder(tmp_path)
    tracing = sys.gettrace()
    sys.settrace(kept.called)
    _ = module.Used().value
    sys.settrace(tracing)
    del sys.modules["own"]
    code = {at for at, _ in shape.code(path)}
    found = counted(ast.parse(TEXT), code, *kept.of(path))
    # of Kept 5 lines, 3 of them code; of Used 4 and 1; of its method 6 and 5, of which 4 ran
    assert found == (1, 15, 9, 8)
