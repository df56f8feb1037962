# SPDX-License-Identifier: Apache-2.0
"""Continual release: an answer after every round, all of them within one budget."""

from lownoise.streams.mechanism import StreamMechanism, steps_of, stream_mechanism
from lownoise.streams.normalized import NormalizedPair
from lownoise.streams.pairs import AbstractPair, DensePair, ToeplitzPair
from lownoise.streams.progress import Batch
from lownoise.streams.recursive import RecursivePair
from lownoise.streams.starting import resume, start
from lownoise.streams.stream import Stream
from lownoise.streams.terms import ERRORS, StreamTerms
from lownoise.streams.trees import TreePair

__all__ = [
    "ERRORS",
    "AbstractPair",
    "Batch",
    "DensePair",
    "NormalizedPair",
    "RecursivePair",
    "Stream",
    "StreamMechanism",
    "StreamTerms",
    "ToeplitzPair",
    "TreePair",
    "resume",
    "start",
    "steps_of",
    "stream_mechanism",
]
