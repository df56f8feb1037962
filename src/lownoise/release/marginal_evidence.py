# SPDX-License-Identifier: Apache-2.0
"""Evidence about noise on marginals as JSON values, and back with every check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.product import AxisDual, ProductDual
from lownoise.certificate.tables import OrderedDual, ResidualDual
from lownoise.errors import FileError
from lownoise.kinds import numbers, row_of
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.orders import answer_count
from lownoise.sensitivity.residuals import marginal_orbits, ordered_blocks, product_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers
    from lownoise.questions import Marginals
    from lownoise.sensitivity.residuals import Blocks, Orbits, Products

    Dual = ResidualDual | OrderedDual | ProductDual


def dual_to_dict(dual: Dual) -> dict[str, Any]:
    """Return evidence as JSON values.

    Raises:
        FileError: where it is of no kind that marginals have.
    """
    write = row_of(_WRITERS, dual)
    if write is None:
        raise FileError(f"evidence={type(dual).__name__} is of no kind that marginals have")
    return write(dual)


def dual_from_dict(
    question: Marginals,
    evidence: dict[str, Any],
    *,
    public: bool,
    product: bool,
    exchanged: bool = False,
) -> Dual:
    """Return the evidence that `dual_to_dict` described.

    Args:
        question: the marginals.
        evidence: what it returned.
        public: whether the number of records is public.
        product: whether noise along ordered attributes is a product.
        exchanged: whether evidence may be about records that become others where it is private.

    Raises:
        FileError: where it does not fit the question.
    """
    if not question.ordered:
        return _residual_dual(evidence, marginal_orbits(question))
    if product:
        return _product_dual(evidence, product_blocks(question, public=public))
    blocks = ordered_blocks(question, public=public)
    return _ordered_dual(evidence, blocks, public=public, exchanged=exchanged)


def _residual_to_dict(dual: ResidualDual) -> dict[str, Any]:
    return {
        "cells": dual.cells.tolist(),
        "patterns": dual.patterns.tolist(),
        "chances": dual.chances.tolist(),
    }


def _residual_dual(evidence: dict[str, Any], orbits: Orbits) -> ResidualDual:
    chances = numbers(evidence["chances"], "evidence.chances", len(evidence["chances"]))
    shape = (chances.size, orbits.members.size)
    patterns = _integer_rows(evidence["patterns"], "patterns", shape, orbits.members)
    cells = numbers(evidence["cells"], "evidence.cells", len(orbits.asked))
    return ResidualDual(cells=cells, patterns=patterns, chances=chances)


def _ordered_to_dict(dual: OrderedDual) -> dict[str, Any]:
    return {
        "cells": [cells.tolist() for cells in dual.cells],
        "patterns": dual.patterns.tolist(),
        "pairs": dual.pairs.tolist(),
        "chances": dual.chances.tolist(),
    }


def _ordered_dual(
    evidence: dict[str, Any], blocks: Blocks, *, public: bool, exchanged: bool
) -> OrderedDual:
    chances = numbers(evidence["chances"], "evidence.chances", len(evidence["chances"]))
    most = blocks.plain.members
    patterns = _integer_rows(evidence["patterns"], "patterns", (chances.size, most.size), most)
    top = np.full(2, blocks.categories - (not exchanged))  # beyond the last is none
    pairs = _integer_rows(evidence["pairs"], "pairs", (chances.size, 2), top)
    counts = blocks.counts
    if len(evidence["cells"]) != len(counts):
        raise FileError(f"evidence.cells are not {len(counts)} lists")
    cells = [
        numbers(given, "evidence.cells", count)
        for given, count in zip(evidence["cells"], counts, strict=True)
    ]
    found = OrderedDual(cells=tuple(cells), patterns=patterns, pairs=pairs, chances=chances)
    if found.becoming and not (public or exchanged):
        raise FileError("evidence has changes of a record where none is changed")
    return found


def _product_to_dict(dual: ProductDual) -> dict[str, Any]:
    return {
        "axes": [
            {
                "answers": own.answers.tolist(),
                "chances": own.chances.tolist(),
                "split": own.split.tolist(),
            }
            for own in dual.axes
        ],
        "cells": dual.cells.tolist(),
        "patterns": dual.patterns.tolist(),
        "chances": dual.chances.tolist(),
    }


def _product_dual(evidence: dict[str, Any], products: Products) -> ProductDual:
    blocks = products.blocks
    if len(evidence["axes"]) != len(blocks.sizes):
        raise FileError(f"evidence.axes are not {len(blocks.sizes)} ordered attributes")
    axes = tuple(
        AxisDual(
            answers=numbers(given["answers"], "evidence.axes.answers", answer_count(order, n)),
            chances=numbers(given["chances"], "evidence.axes.chances", n),
            split=numbers(given["split"], "evidence.axes.split", n),
        )
        for given, order, n in zip(evidence["axes"], blocks.orders, blocks.sizes, strict=True)
    )
    chances = numbers(evidence["chances"], "evidence.chances", len(evidence["chances"]))
    most = products.complete.members
    patterns = _integer_rows(evidence["patterns"], "patterns", (chances.size, most.size), most)
    if not blocks.public and np.any(patterns):
        raise FileError("evidence has changes of a record where none is changed")
    cells = numbers(evidence["cells"], "evidence.cells", len(blocks.spans))
    for own in (cells, chances, *(v for a in axes for v in (a.answers, a.chances))):
        if np.any(own < 0):
            raise FileError("evidence has a negative weight")
    return ProductDual(axes=axes, cells=frozen(cells), patterns=patterns, chances=chances)


def _integer_rows(given: Any, field: str, shape: tuple[int, int], most: Integers) -> Integers:  # noqa: ANN401
    """Return whole numbers from 0 to `most`, shape (k, ·).

    Raises:
        FileError: where they are not.
    """
    found: Integers = np.array(given)
    fits = found.dtype == np.int64 and found.shape == shape
    if not fits or np.any((found < 0) | (found > most)):
        raise FileError(f"evidence.{field} are not one row of whole numbers in range a chance")
    return found


_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    ResidualDual: _residual_to_dict,
    OrderedDual: _ordered_to_dict,
    ProductDual: _product_to_dict,
}
