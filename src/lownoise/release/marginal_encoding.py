# SPDX-License-Identifier: Apache-2.0
"""Noise and evidence of marginals as JSON values, and back with every check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.product import AxisDual, ProductDual
from lownoise.certificate.tables import OrderedDual, ResidualDual
from lownoise.errors import FileError
from lownoise.kinds import numbers
from lownoise.noise.marginal_noise import marginal_mechanism
from lownoise.noise.ordered import OrderedLayout, OrderedNoise, block_steps
from lownoise.noise.product import ProductLayout, ProductNoise, product_steps
from lownoise.noise.residual import ResidualLayout, ResidualNoise, grid_steps
from lownoise.numbers.arrays import frozen, vector
from lownoise.sensitivity.orders import answer_count
from lownoise.sensitivity.residuals import AxisNoise, ordered_blocks, product_blocks
from lownoise.sensitivity.residuals.ordered import split_marginals

if TYPE_CHECKING:
    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Marginals
    from lownoise.sensitivity.residuals import Blocks, Products

    Read = tuple[AdditiveMechanism, ResidualDual | OrderedDual | ProductDual]


def marginals_to_dict(mechanism: AdditiveMechanism, dual: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return noise and evidence as JSON values; of each triangle the rows up to the diagonal."""
    noise = mechanism.noise
    if isinstance(noise, OrderedNoise):
        return _ordered_to_dict(noise, dual)
    if isinstance(noise, ProductNoise):
        return _product_to_dict(noise, dual)
    assert isinstance(noise, ResidualNoise)  # noqa: S101 (the third of three)
    return {
        "noise": {
            "deviations": noise.orbit_deviations.tolist(),
            "steps": noise.layout.steps.tolist(),
        },
        "evidence": {
            "cells": dual.cells.tolist(),
            "patterns": dual.patterns.tolist(),
            "chances": dual.chances.tolist(),
        },
    }


def marginals_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any], evidence: dict[str, Any]
) -> Read:
    """Return the mechanism and the evidence that `marginals_to_dict` described.

    Raises:
        FileError: where they do not fit the question.
    """
    if size is not None and question.drops:
        raise FileError("rows would be dropped from a table of public size")
    read = _residual_from_dict
    if question.ordered:
        read = _product_from_dict if "axes" in noise else _ordered_from_dict
    return read(question, size, noise, evidence)


def _residual_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any], evidence: dict[str, Any]
) -> Read:
    blocks = split_marginals(question, public=size is not None)
    orbits = blocks.plain
    r = len(orbits.residuals)
    deviations = numbers(noise["deviations"], "noise.deviations", r)
    silent = np.array([size is not None and not orbit for orbit in orbits.residuals])
    if np.any(deviations[~silent] <= 0) or np.any(deviations[silent] != 0):
        raise FileError("noise.deviations are not all above 0")
    steps = numbers(noise["steps"], "noise.steps", r)
    if not np.array_equal(steps, grid_steps(deviations)):
        raise FileError("noise.steps are not those of the deviations")
    own = ResidualNoise(ResidualLayout(blocks, steps), deviations)
    chances = numbers(evidence["chances"], "evidence.chances", len(evidence["chances"]))
    shape = (chances.size, orbits.members.size)
    patterns = _integer_rows(evidence["patterns"], "patterns", shape, orbits.members)
    cells = numbers(evidence["cells"], "evidence.cells", len(orbits.asked))
    return marginal_mechanism(question.attributes, size, own), ResidualDual(
        cells=cells, patterns=patterns, chances=chances
    )


def _ordered_to_dict(noise: OrderedNoise, dual: OrderedDual) -> dict[str, Any]:
    triangles = [f[np.tril_indices(len(f))].tolist() for f in noise.factors]
    return {
        "noise": {"factors": triangles, "steps": noise.layout.steps.tolist()},
        "evidence": {
            "cells": [cells.tolist() for cells in dual.cells],
            "patterns": dual.patterns.tolist(),
            "pairs": dual.pairs.tolist(),
            "chances": dual.chances.tolist(),
        },
    }


def _ordered_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any], evidence: dict[str, Any]
) -> Read:
    blocks = ordered_blocks(question, public=size is not None)
    if len(noise["factors"]) != len(blocks.blocks):
        raise FileError(f"noise.factors are not {len(blocks.blocks)} triangles")
    factors = tuple(
        _triangle(given, block.length, "noise.factors")
        for given, block in zip(noise["factors"], blocks.blocks, strict=True)
    )
    steps = numbers(noise["steps"], "noise.steps", len(blocks.blocks))
    if not np.array_equal(steps, block_steps(factors)):
        raise FileError("noise.steps are not those of the factors")
    own = OrderedNoise(OrderedLayout(blocks, steps), factors)
    return marginal_mechanism(question.attributes, size, own), _ordered_dual(evidence, blocks)


def _triangle(given: Any, length: int, field: str) -> Vector:  # noqa: ANN401 (a file)
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


def _ordered_dual(evidence: dict[str, Any], blocks: Blocks) -> OrderedDual:
    chances = numbers(evidence["chances"], "evidence.chances", len(evidence["chances"]))
    most = blocks.plain.members
    patterns = _integer_rows(evidence["patterns"], "patterns", (chances.size, most.size), most)
    top = np.full(2, blocks.categories - 1)
    pairs = _integer_rows(evidence["pairs"], "pairs", (chances.size, 2), top)
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


def _product_to_dict(noise: ProductNoise, dual: ProductDual) -> dict[str, Any]:
    return {
        "noise": {
            "axes": [
                {
                    "mean": own.mean.tolist(),
                    "triangle": own.triangle[np.tril_indices(own.mean.size)].tolist(),
                }
                for own in noise.along
            ],
            "deviations": noise.orbit_deviations.tolist(),
            "steps": noise.layout.steps.tolist(),
        },
        "evidence": {
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
        },
    }


def _product_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any], evidence: dict[str, Any]
) -> Read:
    products = product_blocks(question, public=size is not None)
    sizes = products.blocks.sizes
    if len(noise["axes"]) != len(sizes):
        raise FileError(f"noise.axes are not {len(sizes)} ordered attributes")
    axes = tuple(
        AxisNoise(
            mean=numbers(given["mean"], "noise.axes.mean", n - 1),
            triangle=_triangle(given["triangle"], n - 1, "noise.axes.triangle"),
        )
        for given, n in zip(noise["axes"], sizes, strict=True)
    )
    deviations = numbers(noise["deviations"], "noise.deviations", products.silent.size)
    if np.any((deviations > 0) == products.silent) or np.any(deviations < 0):
        raise FileError("noise.deviations are not all above 0")
    steps = numbers(noise["steps"], "noise.steps", len(products.parts))
    if not np.array_equal(steps, product_steps(products, axes, deviations)):
        raise FileError("noise.steps are not those of the deviations")
    own = ProductNoise(ProductLayout(products.blocks, steps, products), axes, deviations)
    return marginal_mechanism(question.attributes, size, own), _product_dual(evidence, products)


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
