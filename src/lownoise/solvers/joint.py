# SPDX-License-Identifier: Apache-2.0
"""Solutions for products: the parts' own, scaled, and under `add_remove` with their centers traded.

Parts covered by Eᵢ about bᵢ (seen from the public point) are covered together, and with a count, by

    M = [[diag(uᵢEᵢ) + t·bbᵀ, t·b], [t·bᵀ, t]],   Σ 1/uᵢ + 1/t ≤ 1,

and for given parts the least (u, t) is a convex problem in a few numbers. A part alone with a count
of weight κᵢ has the same optimum with uᵢ/t in the place of u/t: where those agree the parts' optima
make the best M of this form (ours). So parts are solved for guessed κᵢ, and κᵢ follows from u, t.

Under `substitute`, and for a product that may be translated, that is the least M (002, Lemma 60).
With a count it is where at most one part is off its center; otherwise an M that ties the parts can
be a little less (by 0.4% between two lists of 6 and 7 points), and evidence for independent parts
falls short of it: the certificate says by how much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import JointDual
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import JointBody
from lownoise.sets.frames import find_frame
from lownoise.solvers.solution import INTERRUPTED, SOLVED, Sides, Solution, honest, lower_triangle
from lownoise.solvers.solve import solution

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual, Claim
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.solvers.solution import Asked

_TRADES = 12
_ROUNDS = 400
_SETTLED = 1e-13
_ALIKE = 1e-9  # of a weight: what changes nothing
_HALVINGS = 100
_LEAST = 1e-12
_SHARE = 0.25  # of the gap that is asked for: what each part may leave open


@final
@dataclass(frozen=True, eq=False)
class _Part:
    """A part's ellipsoid E about b, and its answers.

    Args:
        root: E = root·rootᵀ, shape (d, r).
        center: b, shape (d,).
        answers: which of the whole's, shape (k,).
        squares: their weighted squares under E, shape (k,).
        pull: and of b, shape (k,).
        solution: where it is from.
    """

    root: Vector
    center: Vector
    answers: Integers
    squares: Vector
    pull: Vector
    solution: Solution


@solution.register(JointBody)
def joint_solution(body: JointBody, asked: Asked) -> Solution:
    """Return the least ellipsoid around a product, from those around its parts.

    Where an answer is made of several parts the whole is solved like any other body.
    """
    order, weights, rtol = asked.order, asked.weights, asked.rtol
    split = body.split(asked.queries)
    frame = find_frame(body, asked.queries, in_order=asked.in_order)
    if split is None or not frame.rank:
        found = solution(body.combined, asked)
        return replace(found, claim=replace(found.claim, body=body))
    sides: Sides[Claim, AbstractDual] = Sides(rtol)
    counts = np.full(len(body.parts), weights[-1])
    for _ in range(_TRADES if body.counted else 1):
        parts = [
            _solved(
                body, i, split[i], counts[i], replace(asked, rtol=rtol * _SHARE, in_order=False)
            )
            for i in range(len(body.parts))
        ]
        scale, time = _scales(parts, order, float(weights[-1]) if body.counted else None)
        dual = JointDual(
            tuple(part.solution.claim.dual for part in parts),
            frozen(_query_weights(parts, scale, time, order, weights, body.counted)),
        )
        shape = DenseShape(lower_triangle(frame.down(_root(body, parts, scale, time).T).T))
        claim = asked.claim(body, frame, shape, dual, _standing(body, parts))
        sides.steps += sum(part.solution.iterations for part in parts)
        stopped = any(part.solution.status == INTERRUPTED for part in parts)
        proof = claim.proved
        sides.prove(proof.lower, dual)
        sides.cover(proof.upper, claim)
        if stopped or sides.met or not body.counted:
            break
        pairs = zip(parts, scale, strict=True)
        new = np.array([_count(part, u, time, order) for part, u in pairs])
        if np.all(np.abs(new - counts) <= _ALIKE * new):
            break
        counts = new
    assert sides.noise is not None  # noqa: S101 (there is a first round)
    assert sides.dual is not None  # noqa: S101 (likewise)
    # the least ellipsoid, and the evidence that says most
    best = replace(sides.noise, dual=sides.dual)
    status = INTERRUPTED if stopped else SOLVED
    return Solution(best, honest(status, best, rtol), sides.steps)


def _standing(body: JointBody, parts: list[_Part]) -> Vector:
    """Return where the whole's ellipsoid stands, shape (d,)."""
    if not body.moves:
        return np.zeros(body.dimension)
    found = np.concatenate([part.center for part in parts])
    return found if body.offsets is None else found + body.offsets


def _solved(
    body: JointBody,
    i: int,
    part: tuple[Integers, Vector | None],
    count: float,
    asked: Asked,
) -> _Part:
    """Return a part's own least ellipsoid, with a count of the given weight where it has one."""
    answers, queries = part
    omega = asked.weights[answers]
    own = frozen(np.append(omega, count) if body.counted else omega.copy())
    found = solution(body.parts[i], replace(asked, weights=own, queries=queries))
    claim, d = found.claim, body.parts[i].dimension
    factor = getattr(claim.shape, "factor", None)
    if factor is None:
        factor = np.diag(claim.shape.deviations())
    up = factor if claim.frame is None or claim.frame.exact else claim.frame.up() @ factor
    m = up @ up.T
    if not body.counted:
        root, center, time = up, claim.center, 1.0
        share = 1.0
    else:
        time = float(m[-1, -1])
        center = m[:-1, -1] / time
        root = _root_of(m[:-1, :-1] - time * np.outer(center, center), up.shape[1])
        share = 1 - 1 / time if time > 1 else _LEAST
    root = root * math.sqrt(share)
    rows = np.eye(root.shape[0]) if queries is None else queries[: answers.size, : root.shape[0]]
    constant = np.zeros(answers.size)
    if queries is not None and body.counted:
        constant = queries[:-1, -1]
    squares = np.square(omega) * np.einsum("ij,ij->i", rows @ root, rows @ root)
    pull = np.square(omega * (rows @ center + constant)) if body.counted else np.zeros(answers.size)
    assert d == root.shape[0] + body.counted  # noqa: S101 (what bodies of parts are)
    return _Part(root, center, answers, squares, pull, found)


def _root_of(square: Vector, columns: int) -> Vector:
    values, axes = np.linalg.eigh((square + square.T) / 2)
    kept = np.argsort(-values)[: max(columns - 1, 0)]
    return np.asarray(axes[:, kept] * np.sqrt(np.maximum(values[kept], 0.0)))


def _scales(parts: list[_Part], order: float, count: float | None) -> tuple[Vector, float]:
    """Return u and t that make the objective least: at the optimum all N_u·u² and N_t·t² are one.

    Args:
        parts: the parts.
        order: p.
        count: κ, or None where nothing is counted; t is then not used.
    """
    n = len(parts)
    wide = np.array([float(np.max(part.squares, initial=0.0)) > 0 for part in parts])
    if math.isinf(order):
        return _flat_scales(parts, count, wide)
    h = order / 2
    u, t = np.where(wide, n + 1.0, math.inf), n + 1.0 if count is not None else math.inf
    for _ in range(_ROUNDS):
        slopes = np.zeros(n)
        slope = 0.0 if count is None else (count**2 * t) ** (h - 1) * count**2
        top = max(
            [count**2 * t if count is not None else 0.0]
            + [
                float(np.max(u[i] * part.squares + (t if count is not None else 0.0) * part.pull))
                for i, part in enumerate(parts)
                if wide[i]
            ]
        )
        if count is not None:
            slope = (count**2 * t / top) ** (h - 1) * count**2
        for i, part in enumerate(parts):
            if not wide[i]:
                if count is not None:
                    slope += float(np.sum((t * part.pull / top) ** (h - 1) * part.pull))
                continue
            v = u[i] * part.squares + (t * part.pull if count is not None else 0.0)
            tilt = (v / top) ** (h - 1)
            slopes[i] = float(np.sum(tilt * part.squares))
            if count is not None:
                slope += float(np.sum(tilt * part.pull))
        new = np.where(wide, u * (u * u * np.where(wide, slopes, 1.0)) ** (-1 / (h + 1)), math.inf)
        late = t * (t * t * slope) ** (-1 / (h + 1)) if count is not None else math.inf
        total = float(np.sum(1 / new)) + 1 / late
        new, late = new * total, late * total
        moved = float(np.max(np.abs(new[wide] / u[wide] - 1), initial=0.0))
        u, t = new, late
        if moved < _SETTLED:
            break
    return u, t


def _flat_scales(parts: list[_Part], count: float | None, wide: Vector) -> tuple[Vector, float]:
    """Return u and t that make the greatest answer least."""

    def needed(level: float, t: float) -> Vector:
        own = [
            np.min((level - t * p.pull[p.squares > 0]) / p.squares[p.squares > 0])
            if w
            else math.inf
            for p, w in zip(parts, wide, strict=True)
        ]
        return np.array(own)

    def level(t: float) -> float:
        """Return the least level that is enough at this t."""
        low = max(
            [count**2 * t if count is not None else 0.0]
            + [float(np.max(t * p.pull, initial=0.0)) for p in parts]
        )
        high = low + 1.0
        while not _enough(needed(high, t), t):
            high *= 2
        for _ in range(_HALVINGS):
            half = (low + high) / 2
            low, high = (low, half) if _enough(needed(half, t), t) else (half, high)
        return high

    if count is None:
        sizes = np.array([float(np.max(p.squares, initial=0.0)) for p in parts])
        total = float(np.sum(sizes))
        return np.where(wide, total / np.where(wide, sizes, 1.0), math.inf), math.inf
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda x: math.log(level(1 + math.exp(x))),
        bounds=(-12, 25),
        method="bounded",
        options={"xatol": 1e-12},
    )
    t = 1 + math.exp(float(found.x))
    return needed(level(t), t), t


def _enough(u: Vector, t: float) -> bool:
    return bool(np.all(u > 0) and float(np.sum(1 / u)) + 1 / t <= 1)


def _count(part: _Part, u: float, t: float, order: float) -> float:
    """Return the weight of a count with which the part alone would have the same u/t."""
    if not math.isfinite(u):
        return 1.0
    alone, time = 1 + u / t, 1 + t / u  # u/t as in the whole, 1/u + 1/t = 1
    v = alone * part.squares + time * part.pull
    top = float(np.max(v))
    if math.isinf(order):
        return math.sqrt(top / time)
    h = order / 2
    tilt = (v / top) ** (h - 1)
    left = float(np.sum(tilt * part.squares)) * (alone / time) ** 2 - float(tilt @ part.pull)
    left = max(left, _LEAST * top / time)
    # κ²·(κ²·t/top)^(h − 1) is left
    return math.sqrt((left * (top / time) ** (h - 1)) ** (1 / h))


def _query_weights(
    parts: list[_Part],
    scale: Vector,
    time: float,
    order: float,
    weights: Vector,
    counted: bool,  # noqa: FBT001
) -> Vector:
    """Return c: within a part as its own, and so that all uᵢ²·Σ c·spread are one number."""
    if order == 2:  # noqa: PLR2004
        return np.ones(weights.size)
    c, pulled = np.zeros(weights.size), 0.0
    for part, u in zip(parts, scale, strict=True):
        own = part.solution.claim.dual.query_weights[: part.answers.size]
        size = float(own @ part.squares)
        if not (math.isfinite(u) and size > 0):
            continue
        c[part.answers] = own / (u * u * size)
        pulled += float(c[part.answers] @ part.pull)
    if counted:
        c[-1] = max(1 / time**2 - pulled, 0.0) / weights[-1] ** 2
    return np.asarray(c / np.max(c))


def _root(body: JointBody, parts: list[_Part], scale: Vector, time: float) -> Vector:
    """Return a factor of M, shape (d, k)."""
    width = sum(part.root.shape[1] for part in parts) + body.counted
    found = np.zeros((body.dimension, width))
    j = 0
    for part, at, u in zip(parts, body.blocks, scale, strict=True):
        k = part.root.shape[1]
        if math.isfinite(u):
            found[at, j : j + k] = math.sqrt(u) * part.root
        j += k
        if body.counted:
            found[at, -1] = math.sqrt(time) * part.center
    if body.counted:
        found[-1, -1] = math.sqrt(time)
    return found
