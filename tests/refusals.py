# SPDX-License-Identifier: Apache-2.0
"""Refusals in one line, and files of a forger who mends the digest."""

import json
from contextlib import contextmanager

import pytest

import lownoise as ln
from lownoise.errors import FileError, LedgerError
from lownoise.release import codec


@contextmanager
def one_line(error, match=None):
    """Check that what is done raises such an error, whose text is one line that matches."""
    with pytest.raises(error, match=match) as refusal:
        yield refusal
    assert "\n" not in str(refusal.value)


def refused(call, *words, error=LedgerError):
    """Check that a call raises such an error, whose text is one line with all of these words."""
    with one_line(error) as refusal:
        call()
    assert all(word in str(refusal.value) for word in words), refusal.value


def sealed(document):
    """Return a document as text, with the digest that it would have been written with."""
    return json.dumps({**document, "digest": codec.digest(document)})


def refused_plan(text, match=None, error=FileError):
    """Check that no plan is read from a text, and that one line says why."""
    with one_line(error, match):
        ln.Plan.from_json(text)
