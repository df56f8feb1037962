# SPDX-License-Identifier: Apache-2.0
"""Every error that a user can cause: one line that names the field, the value and the remedy."""


class LownoiseError(Exception):
    """The root: catch this to catch every refusal of this library."""


class DomainError(LownoiseError):
    """A domain that is not a bounded set of finite points."""


class QuestionError(LownoiseError):
    """A question (workload) that does not fit its domain."""


class BudgetError(LownoiseError):
    """A privacy budget outside its range, or of a kind that the request cannot use."""


class PlanError(LownoiseError):
    """A plan that cannot be made or is asked for something that it does not have."""


class TableError(LownoiseError):
    """A table that cannot be read or lacks what the question needs; never about a value in it."""


class EngineError(LownoiseError):
    """An engine that failed after it began to read records: what it cost stays reserved."""


class LedgerError(LownoiseError):
    """A ledger that cannot be used, or a spend that it refuses."""


class SpecError(LownoiseError):
    """A specification file with mistakes; the message lists them all, one a line."""


class FileError(LownoiseError):
    """A plan or release file that cannot be read or written."""


class StreamError(LownoiseError):
    """A stream that cannot go on as asked: no round is left, or its state is not the last one."""
