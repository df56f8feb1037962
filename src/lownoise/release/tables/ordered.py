# SPDX-License-Identifier: Apache-2.0
"""Noise and evidence of ordered attributes as JSON values, and back with every check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.ordered import OrderedDual
from lownoise.errors import FileError
from lownoise.noise.ordered import OrderedMechanism, block_steps
from lownoise.numbers.arrays import frozen, vector
from lownoise.questions.residuals import ordered_blocks
from lownoise.release.encoding import numbers

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Marginals
    from lownoise.questions.residuals import Blocks


def ordered_to_dict(mechanism: OrderedMechanism, dual: OrderedDual) -> dict[str, Any]:
    """Return noise and evidence as JSON values; of each triangle the rows up to the diagonal."""
    triangles = [f[np.tril_indices(len(f))].tolist() for f in mechanism.factors]
    return {
        "noise": {"factors": triangles, "steps": mechanism.steps.tolist()},
        "evidence": {
            "cells": [cells.tolist() for cells in dual.cells],
            "patterns": dual.patterns.tolist(),
            "pairs": dual.pairs.tolist(),
            "chances": dual.chances.tolist(),
        },
    }


def ordered_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any], evidence: dict[str, Any]
) -> tuple[OrderedMechanism, OrderedDual]:
    """Return the noise and the evidence that `ordered_to_dict` described.

    Raises:
        FileError: where they do not fit the question.
    """
    blocks = ordered_blocks(question, public=size is not None)
    if len(noise["factors"]) != len(blocks.blocks):
        raise FileError(f"noise.factors are not {len(blocks.blocks)} triangles")
    factors = tuple(
        triangle_from(given, block.length, "noise.factors")
        for given, block in zip(noise["factors"], blocks.blocks, strict=True)
    )
    steps = numbers(noise["steps"], "noise.steps", len(blocks.blocks))
    if not np.array_equal(steps, block_steps(factors)):
        raise FileError("noise.steps are not those of the factors")
    mechanism = OrderedMechanism(blocks=blocks, size=size, factors=factors, steps=steps)
    return mechanism, _dual(evidence, blocks)


def triangle_from(given: Any, length: int, field: str) -> Vector:  # noqa: ANN401 (a file)
    """Return a lower triangle that is above 0 on its diagonal, from its entries row by row.

    Raises:
        FileError: where it is not one of `length` rows.
    """
    entries = vector(given, field=field, error=FileError)
    if entries.size != length * (length + 1) // 2:
        raise FileError(f"{field} has not the entries of a triangle of {length} rows")
    found = np.zeros((length, length))
    found[np.tril_indices(length)] = entries
    if np.any(np.diag(found) <= 0):
        raise FileError(f"{field} are not all above 0 on the diagonal")
    return frozen(found)


def _dual(evidence: dict[str, Any], blocks: Blocks) -> OrderedDual:
    chances = numbers(evidence["chances"], "evidence.chances", len(evidence["chances"]))
    most = blocks.plain.members
    patterns = whole_rows(evidence["patterns"], "patterns", (chances.size, most.size), most)
    top = np.full(2, blocks.categories - 1)
    pairs = whole_rows(evidence["pairs"], "pairs", (chances.size, 2), top)
    if not blocks.public and (np.any(patterns) or np.any(pairs[:, 0] != pairs[:, 1])):
        raise FileError("evidence has changes of a record where none is changed")
    counts = blocks.counts
    if len(evidence["cells"]) != len(counts):
        raise FileError(f"evidence.cells are not {len(counts)} lists")
    cells = [
        numbers(given, "evidence.cells", count)
        for given, count in zip(evidence["cells"], counts, strict=True)
    ]
    return OrderedDual(cells=tuple(cells), patterns=patterns, pairs=pairs, chances=chances)


def whole_rows(given: Any, field: str, shape: tuple[int, int], most: Integers) -> Integers:  # noqa: ANN401
    """Return whole numbers from 0 to `most`, shape (k, ·).

    Raises:
        FileError: where they are not.
    """
    found: Integers = np.array(given)
    fits = found.dtype == np.int64 and found.shape == shape
    if not fits or np.any((found < 0) | (found > most)):
        raise FileError(f"evidence.{field} are not one row of whole numbers in range a chance")
    return found
