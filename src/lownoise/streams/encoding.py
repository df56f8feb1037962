# SPDX-License-Identifier: Apache-2.0
"""Workloads of streams and their factorizations as JSON values, and back with every check.

One row in a table adds a kind.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError
from lownoise.numbers.arrays import vector
from lownoise.numbers.packing import packed, unpacked
from lownoise.questions.streams import Decayed, LowerTriangular, Prefix, SlidingWindow
from lownoise.release.encoding import expect
from lownoise.streams.normalized import NormalizedPair
from lownoise.streams.pairs import AbstractKeptPair, DensePair, ToeplitzPair
from lownoise.streams.recursive import RecursivePair
from lownoise.streams.trees import TreePair

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import AbstractStreamWorkload
    from lownoise.streams.pairs import AbstractPair

_MOST_KEPT = 1 << 26  # rounds of a pair that keeps numbers for each of them
RECURSIVE = "recursive"
_RECURSIVE = ("gaps", "weights", "answer_gaps", "answer_weights")


@singledispatch
def workload_to_dict(workload: object) -> dict[str, Any]:
    """Return the fields of a workload of a stream.

    Raises:
        FileError: where its kind has no form in a file.
    """
    raise FileError(f"workload={type(workload).__name__} cannot be written; use ln.Prefix")


@workload_to_dict.register(Prefix)
def _workload_to_dict_of_prefix(workload: Prefix) -> dict[str, Any]:
    return {"kind": workload.kind, "rounds": workload.rounds}


@workload_to_dict.register(SlidingWindow)
def _workload_to_dict_of_sliding_window(workload: SlidingWindow) -> dict[str, Any]:
    return {"kind": workload.kind, "rounds": workload.rounds, "width": workload.width}


@workload_to_dict.register(Decayed)
def _workload_to_dict_of_decayed(workload: Decayed) -> dict[str, Any]:
    return {"kind": workload.kind, "rounds": workload.rounds, "rate": workload.rate}


@workload_to_dict.register(LowerTriangular)
def _workload_to_dict_of_lower_triangular(workload: LowerTriangular) -> dict[str, Any]:
    return {"kind": workload.kind, "entries": packed(workload.entries)}


_WORKLOADS: dict[str, Callable[[dict[str, Any]], AbstractStreamWorkload]] = {
    Prefix.kind: lambda f: Prefix(f["rounds"]),
    SlidingWindow.kind: lambda f: SlidingWindow(f["rounds"], f["width"]),
    Decayed.kind: lambda f: Decayed(f["rounds"], f["rate"]),
    LowerTriangular.kind: lambda f: LowerTriangular(unpacked(f["entries"], "workload.entries")),
}


def workload_from_dict(fields: dict[str, Any]) -> AbstractStreamWorkload:
    """Return the workload of those fields, checked as if it were new.

    Raises:
        FileError: where its kind is unknown.
        QuestionError: where it is none.
    """
    expect("workload.kind", fields["kind"], tuple(_WORKLOADS))
    return _WORKLOADS[fields["kind"]](fields)


@singledispatch
def pair_to_dict(pair: object) -> dict[str, Any]:
    """Return the fields of a factorization.

    Raises:
        FileError: where its kind has no form in a file.
    """
    raise FileError(f"pair={type(pair).__name__} cannot be written; use another strategy")


@pair_to_dict.register(ToeplitzPair)
def _pair_to_dict_of_toeplitz_pair(pair: ToeplitzPair) -> dict[str, Any]:
    one = np.array_equal(pair.noise, pair.strategy)
    own = {} if one else {"strategy": packed(pair.strategy)}
    return {"kind": "toeplitz", "noise": packed(pair.noise), **own}


@pair_to_dict.register(NormalizedPair)
def _pair_to_dict_of_normalized_pair(pair: NormalizedPair) -> dict[str, Any]:
    one = np.array_equal(pair.noise, pair.strategy)
    own = {} if one else {"strategy": packed(pair.strategy)}
    lengths = packed(pair.lengths)
    return {"kind": "normalized", "noise": packed(pair.noise), **own, "lengths": lengths}


@pair_to_dict.register(DensePair)
def _pair_to_dict_of_dense_pair(pair: DensePair) -> dict[str, Any]:
    return {"kind": "dense", "noise": packed(pair.noise), "strategy": packed(pair.strategy)}


@pair_to_dict.register(TreePair)
def _pair_to_dict_of_tree_pair(pair: TreePair) -> dict[str, Any]:
    return {"kind": "tree", "weighted": pair.weighted}


@pair_to_dict.register(RecursivePair)
def _pair_to_dict_of_recursive_pair(pair: RecursivePair) -> dict[str, Any]:
    return {"kind": RECURSIVE, **{name: getattr(pair, name).tolist() for name in _RECURSIVE}}


def _toeplitz(fields: dict[str, Any], workload: AbstractStreamWorkload) -> AbstractPair:
    return ToeplitzPair(workload, *_columns(fields))


def _columns(fields: dict[str, Any]) -> tuple[Vector, Vector]:
    noise = unpacked(fields["noise"], "pair.noise", 1)
    if "strategy" not in fields:  # both factors are one matrix
        return noise, noise
    return noise, unpacked(fields["strategy"], "pair.strategy", 1)


def _dense(fields: dict[str, Any], workload: AbstractStreamWorkload) -> AbstractPair:
    noise = unpacked(fields["noise"], "pair.noise")
    return DensePair(workload, noise, unpacked(fields["strategy"], "pair.strategy"))


def _normalized(fields: dict[str, Any], workload: AbstractStreamWorkload) -> AbstractPair:
    lengths = unpacked(fields["lengths"], "pair.lengths", 1)
    return NormalizedPair(_running(workload), *_columns(fields), lengths)


def _tree(fields: dict[str, Any], workload: AbstractStreamWorkload) -> AbstractPair:
    return TreePair(_running(workload), fields["weighted"])


def _recursive(fields: dict[str, Any], workload: AbstractStreamWorkload) -> AbstractPair:
    if not isinstance(workload, (Prefix, Decayed)):
        raise FileError("pair.kind='recursive' is for running sums, and sums that forget")
    own = (vector(fields[name], field=f"pair.{name}", error=FileError) for name in _RECURSIVE)
    return RecursivePair(workload, *own)


def _running(workload: AbstractStreamWorkload) -> Prefix:
    if not isinstance(workload, Prefix):
        raise FileError("pair.kind is one for running sums")
    return workload


_PAIRS: dict[str, Callable[[dict[str, Any], AbstractStreamWorkload], AbstractPair]] = {
    "toeplitz": _toeplitz,
    "normalized": _normalized,
    "dense": _dense,
    "tree": _tree,
    RECURSIVE: _recursive,
}


def pair_from_dict(fields: dict[str, Any], workload: AbstractStreamWorkload) -> AbstractPair:
    """Return the factorization of those fields, checked as if it were new.

    Raises:
        FileError: where its kind is unknown, or it keeps more numbers than a file should make.
        PlanError: where it does not fit the workload.
    """
    expect("pair.kind", fields["kind"], tuple(_PAIRS))
    pair = _PAIRS[fields["kind"]](fields, workload)
    if isinstance(pair, AbstractKeptPair) and pair.rounds > _MOST_KEPT:
        raise FileError(f"pair keeps noise of {pair.rounds:,} rounds, more than 2^26")
    return pair
