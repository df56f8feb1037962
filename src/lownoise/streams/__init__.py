# SPDX-License-Identifier: Apache-2.0
"""Continual release: an answer after every round, all of them within one budget."""

import warnings

from lownoise.release.terms import Terms
from lownoise.streams.evidence import StreamEvidence, unlike_signs
from lownoise.streams.mechanism import StreamMechanism, stream_mechanism
from lownoise.streams.pairs import AbstractPair, DensePair, TreePair
from lownoise.streams.progress import Batch
from lownoise.streams.pure import MECHANISMS, OF_ANY, PureStreamMechanism
from lownoise.streams.recursive import RecursivePair
from lownoise.streams.rounds import AbstractStreamMechanism, round_totals, steps_of
from lownoise.streams.starting import resume, start
from lownoise.streams.stream import Stream
from lownoise.streams.sums import AbstractSums, TreeSums
from lownoise.streams.toeplitz import NormalizedPair, ToeplitzPair
from lownoise.streams.view import ORDERS, StreamView

__all__ = [
    "MECHANISMS",
    "OF_ANY",
    "ORDERS",
    "AbstractPair",
    "AbstractStreamMechanism",
    "AbstractSums",
    "Batch",
    "DensePair",
    "NormalizedPair",
    "PureStreamMechanism",
    "RecursivePair",
    "Stream",
    "StreamEvidence",
    "StreamMechanism",
    "StreamView",
    "ToeplitzPair",
    "TreePair",
    "TreeSums",
    "resume",
    "round_totals",
    "start",
    "steps_of",
    "stream_mechanism",
    "unlike_signs",
]


def __getattr__(name: str) -> type[Terms]:
    if name != "StreamTerms":
        raise AttributeError(f"module 'lownoise.streams' has no attribute {name!r}")
    text = "lownoise.streams.StreamTerms is lownoise.release.terms.Terms since 0.2, and goes in 0.3"
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return Terms
