# SPDX-License-Identifier: Apache-2.0
"""Noise of marginals, and evidence about it, as JSON values, and back with every check."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.product import AxisDual, ProductDual
from lownoise.certificate.tables import OrderedDual, ResidualDual
from lownoise.errors import FileError
from lownoise.kinds import numbers, positive, row_of
from lownoise.noise.abstract import NOISES
from lownoise.noise.cell_norm import CellLayout, CellNoise
from lownoise.noise.discrete_k_norm import DiscreteKNormNoise
from lownoise.noise.discrete_staircase import DiscreteStaircaseNoise
from lownoise.noise.marginal_noise import marginal_mechanism
from lownoise.noise.ordered import OrderedLayout, OrderedNoise, block_steps
from lownoise.noise.product import ProductLayout, ProductNoise, product_steps
from lownoise.noise.pure import KNormNoise
from lownoise.noise.residual import ResidualLayout, ResidualNoise, grid_steps
from lownoise.noise.signed import SIGNED, SignedLayout, SignedNoise, signed_steps
from lownoise.noise.totals import FINEST
from lownoise.numbers.arrays import frozen, vector
from lownoise.sensitivity.orders import answer_count
from lownoise.sensitivity.residuals import (
    AxisNoise,
    marginal_orbits,
    ordered_blocks,
    product_blocks,
)
from lownoise.sensitivity.residuals.ordered import split_marginals
from lownoise.sensitivity.residuals.signed import Signed

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Marginals
    from lownoise.sensitivity.residuals import Blocks, Orbits, Products

    Dual = ResidualDual | OrderedDual | ProductDual


_CELLS = {
    KNormNoise: "k_norm",
    DiscreteKNormNoise: "discrete_k_norm",
    DiscreteStaircaseNoise: "discrete_staircase",
}


def marginals_to_dict(mechanism: AdditiveMechanism, dual: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return noise and evidence as JSON values; of each triangle the rows up to the diagonal."""
    noise = row_of(_WRITERS, mechanism.noise)
    if noise is None:
        raise FileError("noise is of no kind that marginals have")
    return {"noise": noise(mechanism.noise), "evidence": dual_to_dict(dual)}


def marginals_from_dict(
    question: Marginals,
    name: str,
    size: int | None,
    noise: dict[str, Any],
    evidence: dict[str, Any],
    distance: float = 0.0,
    *,
    exchanged: bool = False,
) -> tuple[AdditiveMechanism, Dual]:
    """Return the mechanism and the evidence that `marginals_to_dict` described.

    Args:
        question: what is asked.
        name: of the mechanism.
        size: the public number of records, None under `add_remove`.
        noise: as it was written.
        evidence: as it was written.
        distance: of the noise's law from the exact one that the budget allows, in total variation.
        exchanged: whether records become others where their number is private.

    Raises:
        FileError: where they do not fit the question.
    """
    if size is not None and question.drops:
        raise FileError("rows would be dropped from a table of public size")
    public = size is not None
    product = "axes" in (noise if name == "gaussian" else evidence)
    dual = dual_from_dict(question, evidence, public=public, product=product, exchanged=exchanged)
    if name in SIGNED:
        return _signed_from_dict(question, name, size, noise), dual
    if name in _CELLS.values():
        return _cells_from_dict(question, name, size, noise, distance), dual
    if name != "gaussian":
        raise FileError(f"mechanism={name} does not answer questions of kind marginals")
    read = _residual_from_dict
    if question.ordered:
        read = _product_from_dict if product else _ordered_from_dict
    return read(question, size, noise), dual


def _residual_to_dict(noise: ResidualNoise) -> dict[str, Any]:
    return {"deviations": noise.orbit_deviations.tolist(), "steps": noise.layout.steps.tolist()}


def _residual_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any]
) -> AdditiveMechanism:
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
    return marginal_mechanism(question.attributes, size, own)


def _signed_to_dict(noise: SignedNoise) -> dict[str, Any]:
    """Return the orbits of tables, each by one of them, with their scales."""
    layout = noise.layout
    orbits = layout.tables.orbits

    def table(own: Signed) -> dict[str, list[int]]:
        cells = orbits.members_of(own.cells)
        both = orbits.members_of((*own.cells, *own.signs))
        return {"cells": cells, "signs": [i for i in both if i not in cells]}

    return {
        "tables": [table(own) for own in layout.tables.asked],
        "scales": layout.scales.tolist(),
        "steps": layout.steps.tolist(),
    }


def _signed_from_dict(
    question: Marginals, name: str, size: int | None, noise: dict[str, Any]
) -> AdditiveMechanism:
    blocks = split_marginals(question, public=size is not None)
    make, law = SIGNED[name]
    known = make(marginal_orbits(question), public=size is not None)
    kinds, count = known.orbits.kinds.tolist(), len(question.attributes)

    def orbit(places: list[Any]) -> tuple[int, ...]:
        if not all(type(i) is int and 0 <= i < count for i in places):
            raise FileError("noise.tables are not of the question's attributes")
        return tuple(sorted(kinds[i] for i in places))

    asked = tuple(Signed(orbit(own["cells"]), orbit(own["signs"])) for own in noise["tables"])
    if not set(asked) <= set(known.asked) or len(set(asked)) < len(asked):
        raise FileError(f"noise.tables are not those that {name} may have, each once")
    scales = numbers(noise["scales"], "noise.scales", len(asked))
    if np.any(scales <= 0):
        raise FileError("noise.scales are not all above 0")
    steps, tables = numbers(noise["steps"], "noise.steps", len(asked)), replace(known, asked=asked)
    if not np.array_equal(steps, signed_steps(scales, law, tables)):
        raise FileError("noise.steps are not those of the scales")
    layout = SignedLayout(blocks, steps, tables, scales, law)
    return marginal_mechanism(question.attributes, size, SignedNoise(layout))


def _cells_to_dict(noise: CellNoise) -> dict[str, Any]:
    own = NOISES[_CELLS[type(noise.inner)]].write(noise.inner)
    return {**own, "step": float(noise.layout.steps[0])}


def _cells_from_dict(
    question: Marginals, name: str, size: int | None, noise: dict[str, Any], distance: float
) -> AdditiveMechanism:
    step = positive(noise["step"], "noise.step")
    if math.frexp(step)[0] != 0.5 or not FINEST <= step <= 1:  # noqa: PLR2004
        raise FileError("noise.step is no power of two from 2^-22 to 1")
    table = name == _CELLS[DiscreteKNormNoise]
    layout = (CellLayout.of_table if table else CellLayout.of)(question, size, step)
    own = {field: value for field, value in noise.items() if field != "step"}
    inner = NOISES[name].read(own, "noise", layout.changes, distance)
    return marginal_mechanism(question.attributes, size, CellNoise(layout, inner))


def _ordered_to_dict(noise: OrderedNoise) -> dict[str, Any]:
    triangles = [f[np.tril_indices(len(f))].tolist() for f in noise.factors]
    return {"factors": triangles, "steps": noise.layout.steps.tolist()}


def _ordered_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any]
) -> AdditiveMechanism:
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
    return marginal_mechanism(question.attributes, size, own)


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


def _product_to_dict(noise: ProductNoise) -> dict[str, Any]:
    return {
        "axes": [
            {
                "mean": own.mean.tolist(),
                "triangle": own.triangle[np.tril_indices(own.mean.size)].tolist(),
            }
            for own in noise.along
        ],
        "deviations": noise.orbit_deviations.tolist(),
        "steps": noise.layout.steps.tolist(),
    }


def _product_from_dict(
    question: Marginals, size: int | None, noise: dict[str, Any]
) -> AdditiveMechanism:
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
    return marginal_mechanism(question.attributes, size, own)


_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    ResidualNoise: _residual_to_dict,
    OrderedNoise: _ordered_to_dict,
    ProductNoise: _product_to_dict,
    SignedNoise: _signed_to_dict,
    CellNoise: _cells_to_dict,
}


def dual_to_dict(dual: Dual) -> dict[str, Any]:
    """Return evidence as JSON values.

    Raises:
        FileError: where it is of no kind that marginals have.
    """
    write = row_of(_PROOFS, dual)
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


def _residual_proof(dual: ResidualDual) -> dict[str, Any]:
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


def _ordered_proof(dual: OrderedDual) -> dict[str, Any]:
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


def _product_proof(dual: ProductDual) -> dict[str, Any]:
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


_PROOFS: dict[type, Callable[[Any], dict[str, Any]]] = {
    ResidualDual: _residual_proof,
    OrderedDual: _ordered_proof,
    ProductDual: _product_proof,
}
