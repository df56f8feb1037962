# SPDX-License-Identifier: Apache-2.0
"""Noise that is a product over ordered attributes and its evidence as JSON values, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.product import AxisDual, ProductDual
from lownoise.errors import FileError
from lownoise.noise.product import ProductMechanism, product_steps
from lownoise.numbers.arrays import frozen
from lownoise.questions.ordered import answer_count
from lownoise.questions.residuals import AxisNoise, product_blocks
from lownoise.release.encoding import numbers
from lownoise.release.tables.ordered import triangle_from, whole_rows

if TYPE_CHECKING:
    from lownoise.questions import Marginals
    from lownoise.questions.residuals import Products


def product_to_dict(mechanism: ProductMechanism, dual: ProductDual) -> dict[str, Any]:
    """Return noise and evidence as JSON values; of each triangle the rows up to the diagonal."""
    return {
        "noise": {
            "axes": [
                {
                    "mean": own.mean.tolist(),
                    "triangle": own.triangle[np.tril_indices(own.mean.size)].tolist(),
                }
                for own in mechanism.noise
            ],
            "deviations": mechanism.deviations.tolist(),
            "steps": mechanism.steps.tolist(),
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


def product_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any], evidence: dict[str, Any]
) -> tuple[ProductMechanism, ProductDual]:
    """Return the noise and the evidence that `product_to_dict` described.

    Raises:
        FileError: where they do not fit the question.
    """
    products = product_blocks(question, public=size is not None)
    sizes = products.blocks.sizes
    if len(noise["axes"]) != len(sizes):
        raise FileError(f"noise.axes are not {len(sizes)} ordered attributes")
    axes = tuple(
        AxisNoise(
            mean=numbers(given["mean"], "noise.axes.mean", n - 1),
            triangle=triangle_from(given["triangle"], n - 1, "noise.axes.triangle"),
        )
        for given, n in zip(noise["axes"], sizes, strict=True)
    )
    deviations = numbers(noise["deviations"], "noise.deviations", products.silent.size)
    if np.any((deviations > 0) == products.silent) or np.any(deviations < 0):
        raise FileError("noise.deviations are not all above 0")
    steps = numbers(noise["steps"], "noise.steps", len(products.parts))
    if not np.array_equal(steps, product_steps(products, axes, deviations)):
        raise FileError("noise.steps are not those of the deviations")
    mechanism = ProductMechanism(
        products=products, size=size, noise=axes, deviations=deviations, steps=steps
    )
    return mechanism, _dual(evidence, products)


def _dual(evidence: dict[str, Any], products: Products) -> ProductDual:
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
    most = products.whole.members
    patterns = whole_rows(evidence["patterns"], "patterns", (chances.size, most.size), most)
    if not blocks.public and np.any(patterns):
        raise FileError("evidence has changes of a record where none is changed")
    cells = numbers(evidence["cells"], "evidence.cells", len(blocks.spans))
    for own in (cells, chances, *(v for a in axes for v in (a.answers, a.chances))):
        if np.any(own < 0):
            raise FileError("evidence has a negative weight")
    return ProductDual(axes=axes, cells=frozen(cells), patterns=patterns, chances=chances)
