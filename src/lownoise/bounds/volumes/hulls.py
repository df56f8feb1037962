# SPDX-License-Identifier: Apache-2.0
"""The volume of the hull of points and their opposites, from below.

In few dimensions Qhull's facets are evidence, and nothing that it says is believed (ours). Let the
oriented facets be a cycle: at every ridge what borders on it cancels. Each facet with the origin
makes a simplex, and Σ det/k! = ∫w(x) dx, where w(x), how often the cycle winds around x, is a
whole number, and 0 outside the hull. Let every facet have a normal n with ⟨n, x⟩ ≤ 1 on all points
and ⟨n, x⟩ ≥ 1 − η on its own. Then no facet meets the inside of (1 − η)·hull, so w is constant
there, say w₀, and beyond it at most the number f of the facets:

    Σ det/k! ≤ vol(hull)·(w₀ + f·(1 − (1 − η)^k)).

That w₀ is ±1 is told by one ray from the origin that meets one facet. No triangulation need be
right to the last bit, and flat simplices do no harm.

In more dimensions k of the points span a cross-polytope, 2^k·|det|/k!.

Determinants of float matrices, bounded.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import FEW, ROUGH, TINY, grown, growth, lowered, spectral_up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_MOST_POINTS = {2: 20_000, 3: 5_000, 4: 400, 5: 120, 6: 48}  # whose facets are computed
_MOST_SUBSETS = 1 << 16
_BLOCK = 1 << 20
_ROUNDS = 40
_TRIES = 4
_BITS = (192, 1024)


def best_columns(points: Vector) -> Integers | None:
    """Return k of the points whose determinant is nearly the greatest; None where they are flat.

    Pivots first, then exchanges while one point gains a thousandth or more.

    Args:
        points: shape (n, k).
    """
    from scipy.linalg import qr

    k = int(points.shape[1])
    if len(points) < k:
        return None
    chosen = np.asarray(qr(points.T, mode="r", pivoting=True)[1][:k])
    for _ in range(_ROUNDS * k):
        try:
            shares = np.linalg.solve(points[chosen].T, points.T)
        except np.linalg.LinAlgError:
            return None
        out, best = divmod(int(np.argmax(np.abs(shares))), len(points))
        if not abs(shares[out, best]) > 1.001:  # noqa: PLR2004
            break
        chosen[out] = best
    return chosen


def log_hull_down(points: Vector, off: float) -> float:
    """Return at most ln vol of the hull of ±points; −∞ where it may be flat.

    Args:
        points: shape (n, k).
        off: at least the distance of each float point to the one that is meant.

    Examples:
        >>> round(math.exp(log_hull_down(np.eye(3), 0.0)), 6)  # the octahedron
        1.333333
        >>> cube = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1.0]])
        >>> round(math.exp(log_hull_down(cube, 0.0)), 6)
        8.0
    """
    k = int(points.shape[1])
    if k == 1:
        most = float(np.max(np.abs(points))) - off
        return lowered(math.log(2 * most), 1.0) if most > 0 else -math.inf
    found, lost = inner(points, off, math.sqrt(k))
    if math.isinf(found):
        return found
    found += k * math.log(2) - math.lgamma(k + 1)
    if len(points) <= _MOST_POINTS.get(k, 0):
        cycle = _log_cycle(points, "Qt")
        # flat facets may be cut up differently from their two sides; shaken points have none
        found = max(found, _log_cycle(points, "QJ") if math.isinf(cycle) else cycle)
    return lowered(found + lost, 1 + math.lgamma(k + 1))


def inner(points: Vector, off: float, share: float) -> tuple[float, float]:
    """Return at most ln|det| of k of the points, and ln of what errors leave of a volume.

    Let r be the radius of a ball in the hull of float points. Those that are meant, `off` away,
    reach at least h − off ≥ (1 − off/r)·h in each direction, so their hull holds that share of it.

    Args:
        points: shape (n, k).
        off: how far points are off; of a sum of segments, all of them together.
        share: what the inverse of those k points is to be multiplied by for 1/r: √k for their
            cross-polytope, 1 for the sum of their segments.
    """
    k = int(points.shape[1])
    chosen = best_columns(points)
    if chosen is None:
        return -math.inf, 0.0
    square = points[chosen]
    left = 1 - grown(off * float(inverse_up(square)) * share)
    if not left > 0.5:  # noqa: PLR2004
        return -math.inf, 0.0
    return log_gram_down(square), lowered(k * math.log(left), k, TINY)


def _log_cycle(points: Vector, option: str) -> float:
    """Return at most ln vol by the facets that Qhull finds; −∞ where they prove nothing.

    Args:
        points: shape (n, k).
        option: of Qhull, how it makes all facets simplices.
    """
    from scipy.spatial import ConvexHull, QhullError

    k = int(points.shape[1])
    size = np.ldexp(1.0, np.frexp(np.max(np.abs(points), axis=0))[1])
    scaled = points / size  # powers of two: exact
    both = np.unique(np.vstack([scaled, -scaled]) + 0.0, axis=0)
    try:
        hull = ConvexHull(both, qhull_options=option)
    except QhullError:
        return -math.inf
    facets = np.sort(np.asarray(hull.simplices, dtype=np.int64), axis=1)
    signs = cycle_signs(facets)
    if signs is None or not np.all(hull.equations[:, -1] < 0):
        return -math.inf
    normals = hull.equations[:, :-1] / -hull.equations[:, -1:]
    normals, eta = _levels(both, facets, normals)
    share = len(facets) * k * eta
    if not share < 0.5 or not _meets_once(both, facets, normals, eta):  # noqa: PLR2004
        return -math.inf
    values, off = sizes_of_determinants(both[facets])
    total = abs(math.fsum(signs * values)) - grown(math.fsum(off))
    if not total > 0:
        return -math.inf
    log_size = math.fsum(np.log(size))
    found = math.log(total) - math.lgamma(k + 1) - math.log1p(share) + log_size
    return lowered(found, 1 + abs(log_size) + math.lgamma(k + 1))


def cycle_signs(facets: Integers) -> Vector | None:
    """Return a sign for each facet by which all ridges cancel; None where there are none.

    Args:
        facets: rising indices, shape (f, k).

    Examples:
        >>> cycle_signs(np.array([[0, 1], [0, 2], [1, 2]]))
        array([ 1., -1.,  1.])
        >>> cycle_signs(np.array([[0, 1], [0, 2]])) is None
        True
    """
    count, k = facets.shape
    ridges = np.concatenate([np.delete(facets, i, axis=1) for i in range(k)])
    owner = np.tile(np.arange(count), k)
    parity = np.repeat((-1.0) ** np.arange(k), count)
    _, which, times = np.unique(ridges, axis=0, return_inverse=True, return_counts=True)
    if not np.all(times == 2):  # noqa: PLR2004
        return None
    order = np.argsort(which.ravel(), kind="stable").reshape(-1, 2)
    first, second = owner[order[:, 0]], owner[order[:, 1]]
    turn = -parity[order[:, 0]] * parity[order[:, 1]]
    beside: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for a, b, t in zip(first.tolist(), second.tolist(), turn.tolist(), strict=True):
        beside[a].append((b, t))
        beside[b].append((a, t))
    signs = np.zeros(count)
    signs[0], todo = 1.0, [0]
    while todo:
        a = todo.pop()
        for b, t in beside[a]:
            if signs[b] == 0:
                signs[b] = signs[a] * t
                todo.append(b)
    # one piece, and consistent all the way round
    consistent = np.all(signs != 0) and np.all(signs[first] * turn == signs[second])
    return signs if consistent else None


def _levels(points: Vector, facets: Integers, normals: Vector) -> tuple[Vector, float]:
    """Return normals with ⟨n, x⟩ ≤ 1 on all points, and η with ⟨n, x⟩ ≥ 1 − η on their facets."""
    k = int(points.shape[1])
    own = np.min(np.einsum("fk,fik->fi", normals, points[facets]), axis=1)
    top = np.empty(len(normals))
    step = max(_BLOCK // len(points), 1)
    for start in range(0, len(normals), step):
        part = slice(start, start + step)
        top[part] = np.max(normals[part] @ points.T, axis=1)
    hidden = growth(k + 9) * np.sum(np.abs(normals), axis=1)  # no coordinate exceeds 1
    top = grown(top + hidden, FEW)
    eta = float(np.max(1 - (own - hidden) / top))
    return normals / top[:, None], max(eta, 0.0) + TINY


def _meets_once(points: Vector, facets: Integers, normals: Vector, eta: float) -> bool:
    """Return whether some ray from 0 certainly meets one facet, and certainly no other.

    In the cone of a facet with the normal n, ⟨n, u⟩ ≥ (1 − η)·‖u‖ with ‖·‖ the hull's gauge, and
    ‖u‖ ≥ ⟨m, u⟩ for every other normal m: few facets come near a ray u. It is in the cone of
    vertices A where u = Aᵀλ with λ ≥ 0, and not where some entry of the float solution is below 0
    by more than it can be off.
    """
    k = int(points.shape[1])
    sizes = np.abs(np.linalg.det(points[facets]))
    # fixed and uneven: inside the largest facets, and on the edge of none
    mixture = 1.0 + np.sqrt(np.arange(2.0, k + 2)) % 1
    for at in np.argsort(-sizes, kind="stable")[:_TRIES]:
        ray = mixture @ points[facets[at]]
        heights = normals @ ray
        hidden = growth(k + 9) * (np.abs(normals) @ np.abs(ray))
        near = np.flatnonzero(heights + hidden >= (1 - 2 * eta) * np.max(heights - hidden))
        inside = [_inside(points[facets[f]], ray) for f in near]
        if all(solved is not None for solved in inside):
            return sum(bool(solved) for solved in inside) == 1
    return False


def _inside(vertices: Vector, ray: Vector) -> bool | None:
    """Return whether a ray is in the cone of k vertices; None where floats cannot tell."""
    try:
        shares = np.linalg.solve(vertices.T, ray)
    except np.linalg.LinAlgError:
        return None
    rest = np.linalg.norm(vertices.T @ shares - ray) + growth(2 * len(ray) + 9) * (
        np.linalg.norm(np.abs(vertices.T) @ np.abs(shares)) + np.linalg.norm(ray)
    )
    off = grown(inverse_up(vertices) * float(rest), ROUGH)
    if np.all(shares > off):
        return True
    return False if np.any(shares < -off) else None


def log_zonotope_down(generators: Vector, off: float) -> float:
    """Return at most ln vol Σ[−gᵢ, gᵢ] = ln 2^k·Σ|det| over all k of the generators.

    Where these are too many, √Σdet² = √det(GGᵀ) must do (Cauchy and Binet).

    Args:
        generators: shape (n, k).
        off: at least the distance of each to the one that is meant.

    Examples:
        >>> round(math.exp(log_zonotope_down(np.array([[1.0, 0], [0, 1], [1, 1]]), 0.0)), 6)
        12.0
    """
    count, k = (int(size) for size in generators.shape)
    found, lost = inner(generators, off * count, 1.0)
    if math.isinf(found):
        return found
    if count > k:
        found = max(found, log_gram_down(generators.T))
        if math.comb(count, k) <= _MOST_SUBSETS:
            size = np.ldexp(1.0, np.frexp(np.max(np.abs(generators), axis=0))[1])
            chosen = np.array(list(combinations(range(count), k)), dtype=np.int64)
            values, wrong = sizes_of_determinants((generators / size)[chosen])
            total = math.fsum(np.maximum(np.abs(values) - wrong, 0.0))
            logs = math.fsum(np.log(size))
            if total > 0:
                found = max(found, lowered(math.log(total) + logs, 1 + abs(logs)))
    return lowered(found + k * math.log(2) + lost, k, TINY)


def log_gram_down(*factors: Vector) -> float:
    """Return at most ½·ln det(AAᵀ), A the product of the factors; −∞ where it may be 0.

    Args:
        factors: the first has k rows, shape (k, …).

    Examples:
        >>> round(log_gram_down(np.array([[3.0, 0.0, 4.0]])), 9) == round(math.log(5.0), 9)
        True
    """
    from flint import arb_mat

    for bits in _BITS:
        with precision(bits):
            product = arb_mat(factors[0].tolist())
            for factor in factors[1:]:
                product = product * arb_mat(factor.tolist())
            k, n = product.nrows(), product.ncols()
            if k == n:
                found = abs(product.det())
                if found > 0:
                    return _below(float(found.log().lower()))
            else:
                found = (product * product.transpose()).det()
                if found > 0:
                    return _below(float(found.log().lower()) / 2)
    return -math.inf


def _below(x: float) -> float:
    return lowered(x, abs(x), FEW) - 2.0**-1000


def sizes_of_determinants(rows: Vector) -> tuple[Vector, Vector]:
    """Return float determinants and at least how far off they are.

    Gaussian elimination with pivots computes the determinant of a matrix off by |δ| ≤ γ_{3k}·|L||U|
    (Higham 2002, Theorem 9.3), |L| ≤ 1 and |U| ≤ 2^{k−1}·max|A|; the determinant is linear in each
    row, and at most the product of their lengths (Hadamard).

    Args:
        rows: shape (n, k, k).

    Examples:
        >>> value, off = sizes_of_determinants(np.array([[[1.0, 2.0], [3.0, 4.0]]]))
        >>> bool(abs(value[0] + 2) <= off[0] < 1e-11)
        True
    """
    k = rows.shape[1]
    lengths = np.linalg.norm(rows, axis=2)
    most = np.max(np.abs(rows), axis=(1, 2))
    each = growth(3 * k + 9) * k**1.5 * 2.0 ** (k - 1) * most
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.prod(lengths, axis=1)
        off = np.prod(lengths * (1 + growth(k + 9)) + each[:, None], axis=1) - product
        off = grown(off, ROUGH) + product * TINY
        return np.linalg.det(rows), np.where(np.isfinite(off), off, math.inf)


def inverse_up(square: Vector) -> float:
    """Return at least ‖B⁻¹‖₂; ∞ where B may be singular.

    With any X and ‖I − XB‖ ≤ r < 1, ‖B⁻¹‖ ≤ ‖X‖/(1 − r).

    Args:
        square: B, shape (k, k).

    Examples:
        >>> 0.5 <= inverse_up(np.diag([2.0, 4.0])) < 0.5000001
        True
    """
    k = len(square)
    try:
        guess = np.asarray(np.linalg.inv(square), dtype=np.float64)
    except np.linalg.LinAlgError:
        return math.inf
    if not np.all(np.isfinite(guess)):
        return math.inf
    rest = np.eye(k) - guess @ square
    hidden = growth(k + 9) * float(np.linalg.norm(np.abs(guess) @ np.abs(square) + np.eye(k)))
    off = (float(np.linalg.norm(rest)) + hidden) * (1 + growth(k * k + 9))
    return grown(spectral_up(guess) / (1 - off)) if off < 0.5 else math.inf  # noqa: PLR2004
