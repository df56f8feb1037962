# SPDX-License-Identifier: Apache-2.0
"""Bodies that levels or tries are for: errors of their noises, and what a draw takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln
from lownoise.numbers.randomness import SystemRandomness
from lownoise.sets.norms import SpannedNorm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.sets.domains import AbstractDomain

SIZE = 1000
NAMES = ("k_norm", "recursive", "ellipsoid", "laplace")
HEAD = ("body", *NAMES, "least/others")
FEW_HEAD = ("d", *(f"d + {k}" for k in (1, 2, 4, 6, 8)))
DIMENSIONS = (12, 16, 24, 32, 64, 128)
DRAWS = 5


def bodies() -> dict[str, AbstractDomain]:
    """Return domains by what they are called."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(16, 18))
    corners = np.random.default_rng(3).choice([-1.0, 1.0], size=(8, 24))
    long = np.geomspace(1, 1e-3, 8)[:, None] * corners
    return {
        "hull of 18 vectors of signs, d = 16": ln.image(signs, ln.Ball(18, order=1)),
        "the two largest, axes 1 to 1e-4, d = 16": ln.image(
            np.diag(np.geomspace(1, 1e-4, 16)), ln.TopBall(16, 2)
        ),
        "sum of 24 segments, 1 to 1e-3, d = 8": ln.image(long, ln.Ball(24, order=np.inf)),
    }


def hull_rows() -> Iterator[list[str]]:
    """Return for each body the error of each noise of the sum of 1,000 records at ε = 1."""
    for called, domain in bodies().items():
        found: dict[str, float] = {}
        for name in NAMES:
            try:
                plan = ln.plan(
                    ln.Mean([f"x{i}" for i in range(domain.dimension)], domain),
                    budget=ln.pure_dp(1.0),
                    relation="substitute",
                    size=SIZE,
                    mechanism=name,
                )
            except ln.errors.PlanError:
                continue
            found[name] = plan.error * SIZE
        least = min(found, key=lambda name: found[name])
        others = min(error for name, error in found.items() if name != least)
        cells = [f"{found[name]:.4g}" if name in found else "–" for name in NAMES]
        yield [called, *cells, f"{found[least] / others:.2f}"]


def few_rows() -> Iterator[list[str]]:
    """Return milliseconds a point of the hull of d + k vectors of random signs."""
    for d in DIMENSIONS:
        cells = []
        for k in (1, 2, 4, 6, 8):
            points = np.random.default_rng(d + k).choice([-1.0, 1.0], size=(d + k, d))
            try:
                uniform = SpannedNorm(points).uniform
            except ln.errors.PlanError:
                cells.append("refused")
                continue
            randomness = SystemRandomness()
            uniform.draw(randomness)
            start = time.process_time()
            for _ in range(DRAWS):
                uniform.draw(randomness)
            cells.append(f"{(time.process_time() - start) / DRAWS * 1000:.2g}")
        yield [str(d), *cells]
