# SPDX-License-Identifier: Apache-2.0
"""Trees of sums: the binary one and Honaker's better estimates, and others for pure noise.

*The binary tree.* A node of height h sums rounds j·2^h + 1 … (j + 1)·2^h; only nodes that end by
round n are used, each with noise of its own, of variance 1 here. One round lies in at most ⌊log₂ n⌋
+ 1 nodes, so one unit of change moves all nodes by at most √(⌊log₂ n⌋ + 1), and squared errors
below are variances times that.

* `tree`: round t adds the nodes of the binary digits of t.
* `honaker_streaming`: each finished subtree's total is estimated by least squares from the nodes
  inside it: x_v = s_h·(node_v + (x_left + x_right)/(2s_{h−1})) combines its own node and its
  halves, with the variance s_h, 1/s_h = 1 + 1/(2s_{h−1}), s_0 = 1: s_h = 2^h/(2^{h+1} − 1). Nodes
  not finished by round t say nothing yet and finished subtrees share none, so the sum over the
  digits of t is least squares on all nodes that are complete by then (Honaker 2015).
* `honaker`: least squares on all nodes, L = W·R⁺, whose noise has the covariance W(RᵀR)⁻¹Wᵀ. Its
  rows need later nodes; a lower-triangular C with CᵀC = RᵀR makes the same noise in order.

*Other trees*, for pure noise: how many rounds a sum holds, and how ε is shared between levels.
With widths g of the levels, a round costs Σ 1/g_l in units of one sum's ε, and the answers' squared
error is a function V(g), homogeneous of order 2. So V(g)·(Σ 1/g_l)² is made small: what is found is
never trusted, since its cost and its error are computed anew from the stored numbers.

Of noise in whole numbers the variance is no multiple of the square of its scale, so there is no
V(g): what a level's share of ε leaves it is asked of the law (`law`).

For a tree whose groups are all full, means over all positions follow level by level from three
numbers; that is what searches look at. Where rounds are few, a last group that is short may be
best: there the search goes on with the tree as it is.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scipy.sparse import csr_array

    from lownoise.noise.lattice import Shared
    from lownoise.numbers.arrays import Integers, Vector


def tree_height(size: int) -> int:
    """Return ⌊log₂ n⌋ + 1: how many nodes a round lies in, at most.

    Args:
        size: n, at least 1.

    Examples:
        >>> tree_height(1), tree_height(1023), tree_height(1024)
        (1, 10, 11)
    """
    return size.bit_length()


def tree_nodes(size: int) -> tuple[Integers, Integers]:
    """Return the nodes in the order in which they are complete, halves before what they make up.

    Args:
        size: n, at least 1.

    Returns:
        The round (from 1) that completes each node, and its height, shape (N,) each, N < 2n.

    Examples:
        >>> tree_nodes(4)
        (array([1, 2, 2, 3, 4, 4, 4]), array([0, 0, 1, 0, 0, 1, 2]))
    """
    rounds = np.arange(1, size + 1)
    counts = _trailing_zeros(rounds) + 1
    ends = np.repeat(rounds, counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return ends, np.arange(len(ends)) - first


def tree_matrix(size: int) -> csr_array:
    """Return R, shape (N, n): one row of zeros and ones a node, in the order of `tree_nodes`.

    Args:
        size: n, at least 1.

    Examples:
        >>> tree_matrix(3).toarray().astype(int).tolist()
        [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    """
    from scipy.sparse import csr_array

    ends, heights = tree_nodes(size)
    lengths = 1 << heights
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.arange(starts[-1]) - np.repeat(starts[:-1] - (ends - lengths), lengths)
    return csr_array((np.ones(len(columns)), columns, starts), shape=(len(ends), size))


def subtree_variances(heights: int) -> Vector:
    """Return s_h = 2^h/(2^{h+1} − 1) for h < `heights`: of a finished subtree's best estimate.

    Args:
        heights: how many, at least 1.

    Examples:
        >>> subtree_variances(3).tolist()
        [1.0, 0.6666666666666666, 0.5714285714285714]
    """
    return 1.0 / (2.0 - np.exp2(-np.arange(heights, dtype=np.float64)))


def honaker_streaming(noise: Vector, size: int) -> Vector:
    """Return each round's noise: the sum of the estimates of the finished subtrees.

    Args:
        noise: of the nodes in the order of `tree_nodes`, shape (N,) or (N, m); what is linear in
            noise may be asked of it too, such as the identity for L's rows.
        size: n.

    Returns:
        Shape (n,) or (n, m).

    Examples:
        >>> honaker_streaming(np.eye(3), 2).round(6)
        array([[1.      , 0.      , 0.      ],
               [0.333333, 0.333333, 0.666667]])
    """
    _, heights = tree_nodes(size)
    variances = subtree_variances(tree_height(size))
    found = np.zeros((size, *noise.shape[1:]))
    level = noise[heights == 0]
    for h, variance in enumerate(variances):
        if h:
            pairs = level[: 2 * (len(level) // 2)]
            halves = (pairs[0::2] + pairs[1::2]) / (2 * variances[h - 1])
            level = variance * (noise[heights == h] + halves)
        # t has digit h where ⌊t/2^h⌋ is odd, and its node there is the last one of that height
        whole = np.arange(1, size + 1) >> h
        odd = whole & 1 == 1
        found[odd] += level[whole[odd] - 1]
    return found


def honaker(size: int) -> Vector:
    """Return C, shape (n, n), lower triangular with CᵀC = RᵀR: least squares on all nodes.

    B = W·C⁻¹ has BBᵀ = W(RᵀR)⁻¹Wᵀ, the covariance of the rows of L = W·R⁺, and C moves as R does.

    Args:
        size: n, at least 1.

    Examples:
        >>> C, R = honaker(6), tree_matrix(6).toarray()
        >>> bool(np.allclose(C.T @ C, R.T @ R)), bool(np.all(np.triu(C, 1) == 0))
        (True, True)
    """
    matrix = tree_matrix(size)
    gram = (matrix.T @ matrix).toarray()
    # reversed, Cholesky's lower factor of the reversed matrix is the upper factor of this one
    factor = np.linalg.cholesky(gram[::-1, ::-1])[::-1, ::-1].T
    return np.ascontiguousarray(factor, dtype=np.float64)


def _trailing_zeros(rounds: Integers) -> Integers:
    low = rounds & -rounds
    zeros: Integers = np.frexp(low.astype(np.float64))[1].astype(np.int64) - 1
    return zeros


_MOST_LEVELS = 9
_LEAST_ARITY = 4  # where there are many rounds; 10 and more are best there
_FEW = 256
_GAIN = 1e-3
_WORTHLESS = 30.0
_WIDEST = 4.0  # the logarithm of a width beside the others'
_SHORT = 128  # rounds, for which the last group of a level may be short
_STARTS = 16


@lru_cache(maxsize=256)
def best_tree(
    rounds: int, *, largest: bool = False, law: Shared | None = None
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return arities and widths of a tree with little error, for running sums.

    Args:
        rounds: n.
        largest: whether the largest error over the rounds is made small, and not the mean.
        law: of the noise; by default one whose deviations are as its scales.

    Examples:
        >>> best_tree(1)
        ((), (1.0,))
        >>> len(best_tree(1000)[0])
        2
    """
    if largest:
        start = best_tree(rounds, law=law)[0]
        _, arities, _ = _descended(rounds, start, largest=True, law=law)
    else:
        _, arities, _ = min(_searched(rounds, law))
    if 2 < rounds <= _SHORT:  # noqa: PLR2004
        return _settled(rounds, arities, largest=largest, law=law)
    return arities, best_widths(_with_top(rounds, arities), largest=largest, law=law)[1]


def _logged(error: Callable[[Vector], float], widths: Vector, law: Shared | None) -> float:
    """Return the logarithm of the squared error of levels of these widths, scaled to cost ε."""
    if law is not None:
        return math.log(error(law.deviations(widths)))
    return math.log(error(widths)) + 2 * math.log(float(np.sum(1 / widths)))


def _settled(
    rounds: int, start: tuple[int, ...], *, largest: bool, law: Shared | None
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the best tree of one or two levels more than rounds, or that one, as it is."""
    alone = sorted({max(2, round(rounds * k / _STARTS)) for k in range(1, _STARTS)} - {rounds})
    pairs = [(a, b) for a in alone[: _STARTS // 2] for b in (2, 3, 5, 8) if a * b < rounds]
    every = [
        _as_it_is(rounds, own, largest=largest, law=law)
        for own in ((), start, *((a,) for a in alone), *pairs)
    ]
    found = min(every)
    while True:
        near = found
        for i, arity in enumerate(found[1]):
            for other in (arity - 1, arity + 1):
                own = (*found[1][:i], other, *found[1][i + 1 :])
                near = min(near, _as_it_is(rounds, own, largest=largest, law=law))
        if near[0] >= found[0] * (1 - _GAIN):
            return found[1:]
        found = near


@lru_cache(maxsize=1 << 14)
def _as_it_is(
    rounds: int, arities: tuple[int, ...], *, largest: bool, law: Shared | None
) -> tuple[float, tuple[int, ...], tuple[float, ...]]:
    """Return the squared error of a tree for a cost of 1, and its best widths."""
    from scipy.optimize import minimize

    counts = [rounds]
    for arity in arities:
        if arity < 2 or counts[-1] < 2:  # noqa: PLR2004
            return math.inf, arities, (1.0,) * (len(arities) + 1)
        counts.append(-(-counts[-1] // arity))

    def error(logs: Vector) -> float:
        widths = np.exp([0.0, *logs.tolist()])
        own = partial(short_error, rounds, arities, largest=largest)
        return _logged(own, widths, law)

    logs = np.zeros(0)
    if arities:
        room = [(-_WIDEST, _WIDEST)] * len(arities)
        options = {"xatol": 1e-4, "fatol": 1e-7, "maxiter": 200}
        logs = minimize(
            error, np.zeros(len(arities)), method="Nelder-Mead", bounds=room, options=options
        ).x
    widths = np.exp([0.0, *logs.tolist()])
    widths *= float(np.sum(1 / widths))
    return math.exp(error(logs)), arities, tuple(widths.tolist())


def short_error(
    rounds: int, arities: Sequence[int], widths: Vector, *, largest: bool = False
) -> float:
    """Return the mean, or largest, variance of a running sum; last groups may be short.

    Args:
        rounds: n.
        arities: of the levels above the single rounds.
        widths: of each level.
        largest: which of the two.

    Examples:
        >>> short_error(4, [], np.array([1.0])), short_error(4, [], np.array([1.0]), largest=True)
        (2.5, 4.0)
    """
    own, steps = np.full(rounds, float(widths[0]) ** 2), []
    for arity, width in zip(arities, widths[1:].tolist(), strict=True):
        groups = np.zeros((-(-own.size // arity), arity))
        groups.ravel()[: own.size] = own
        ends = np.cumsum(groups, axis=1)
        below = ends[:, -1:]
        steps.append((own.size, (ends - groups) / below, ends / below, below))
        own = below[:, 0] * width**2 / (below[:, 0] + width**2)
    # variances of what is before a sum and of the sum, and how they vary together
    before, beside = np.cumsum(own) - own, np.zeros_like(own)
    for size, start, end, v in reversed(steps):
        before, beside, own = before[:, None], beside[:, None], own[:, None]
        share = end - start
        before = before + 2 * start * beside + start**2 * own + v * start * (1 - start)
        beside = share * beside + start * share * (own - v)
        own = share**2 * own + v * share * (1 - share)
        before, beside, own = (x.ravel()[:size] for x in (before, beside, own))
    found = before + 2 * beside + own
    return float(np.max(found) if largest else np.mean(found))


def _searched(
    rounds: int, law: Shared | None
) -> list[tuple[float, tuple[int, ...], tuple[float, ...]]]:
    """Return the best trees of each number of levels."""
    every: list[tuple[float, tuple[int, ...], tuple[float, ...]]] = []
    for levels in range(_MOST_LEVELS):
        even = max(2, math.ceil(rounds ** (1 / (levels + 1))))
        if levels and even < _LEAST_ARITY and rounds > _FEW:
            break
        found = _descended(rounds, (even,) * levels, largest=False, law=law)
        every += [found, _descended(rounds, _merged(*found[1:]), largest=False, law=law)]
        if found[0] > 2 * min(every)[0]:
            break
    return every


def _descended(
    rounds: int, arities: tuple[int, ...], *, largest: bool, law: Shared | None
) -> tuple[float, tuple[int, ...], tuple[float, ...]]:
    """Return the best tree that single changes of arities lead to."""
    found = _tried(rounds, arities, largest=largest, law=law)
    while True:
        near = found
        for i, arity in enumerate(found[1]):
            for other in {arity - arity // 6, arity - 1, arity + 1, arity + arity // 6, 2 * arity}:
                own = (*found[1][:i], other, *found[1][i + 1 :])
                near = min(near, _tried(rounds, own, largest=largest, law=law))
        if near[0] >= found[0] * (1 - _GAIN):
            return found
        found = near


def _merged(arities: tuple[int, ...], widths: tuple[float, ...]) -> tuple[int, ...]:
    """Return the arities of the levels that are worth their cost: a width beyond all is of none."""
    kept, size = [], 1
    for arity, width in zip(arities, widths[1:], strict=True):
        size *= arity
        if width < _WORTHLESS * min(widths):
            kept.append(size)
            size = 1
    return tuple(kept)


def _with_top(rounds: int, arities: tuple[int, ...]) -> tuple[int, ...]:
    count = rounds
    for arity in arities:
        count = -(-count // arity)
    return (*arities, count)


def _tried(
    rounds: int, arities: tuple[int, ...], *, largest: bool, law: Shared | None
) -> tuple[float, tuple[int, ...], tuple[float, ...]]:
    """Return the error of a tree with its best widths, infinite where it is none of so few."""
    full = _with_top(rounds, arities) if min(arities, default=2) > 1 else (0,)
    if full[-1] < 2 and arities:  # noqa: PLR2004
        return math.inf, arities, (1.0,) * (len(arities) + 1)
    error, widths = best_widths(full, largest=largest, rough=True, law=law)
    return error, arities, widths


@lru_cache(maxsize=4096)
def best_widths(
    arities: tuple[int, ...],
    *,
    largest: bool = False,
    rough: bool = False,
    law: Shared | None = None,
) -> tuple[float, tuple[float, ...]]:
    """Return the squared error for a cost of 1, or of a law, and the widths that it takes.

    Args:
        arities: of each level, and how many sums the last one has.
        largest: as `best_tree`'s.
        rough: whether three digits will do.
        law: as `best_tree`'s.
    """
    from scipy.optimize import minimize

    def error(logs: Vector) -> float:
        widths = [math.exp(x) for x in logs.tolist()]
        if law is not None:
            return math.log(full_error(arities, law.deviations(np.array(widths)), largest=largest))
        cost = math.fsum(1 / width for width in widths)
        return math.log(full_error(arities, widths, largest=largest) * cost**2)

    start, room = np.zeros(len(arities)), [(-_WIDEST, _WIDEST)] * len(arities)
    if len(arities) == 1:
        one = np.ones(1) if law is None else law.deviations(np.ones(1))
        return full_error(arities, one, largest=largest), (1.0,)
    found = minimize(error, start, method="L-BFGS-B", bounds=room, tol=1e-4 if rough else 1e-10).x
    widths = np.exp(found)
    widths *= float(np.sum(1 / widths))
    strays = widths if law is None else law.deviations(widths)
    return full_error(arities, strays, largest=largest), tuple(widths.tolist())


def full_error(
    arities: Sequence[int], widths: Vector | Sequence[float], *, largest: bool = False
) -> float:
    """Return the mean, or largest, variance of a running sum, where all groups are full.

    Args:
        arities: of each level, and how many sums the last one has.
        widths: of each level.
        largest: which of the two.

    Examples:
        >>> full_error([4], [1.0]), full_error([4], [1.0], largest=True)
        (2.5, 4.0)
    """
    own, below = float(widths[0]) ** 2, []
    for arity, width in zip(arities[:-1], widths[1:], strict=True):
        below.append(arity * own)
        own = below[-1] * float(width) ** 2 / (below[-1] + float(width) ** 2)
    if largest:
        return _largest(arities, below, own)
    # variances of what is before a sum and of the sum, and how they vary together: means
    before, beside = own * (arities[-1] - 1) / 2, 0.0
    for arity, v in zip(arities[-2::-1], below[::-1], strict=True):
        first = (arity - 1) / (2 * arity)
        square = first * (2 * arity - 1) / (3 * arity)
        before += 2 * first * beside + square * own + v * (first - square)
        beside = (beside + first * (own - v)) / arity
        own = own / arity**2 + v * (1 - 1 / arity) / arity
    return before + 2 * beside + own


def _largest(arities: Sequence[int], below: list[float], own: float) -> float:
    """Return the largest variance: at the first child of a sum, the last, or one in the middle."""
    before = own * _places(arities[-1]) * arities[-1]
    beside = np.zeros_like(before)
    for arity, v in zip(arities[-2::-1], below[::-1], strict=True):
        p = _places(arity)[:, None]
        before = (before + 2 * p * beside + p**2 * own + v * p * (1 - p)).ravel()
        beside = ((beside + p * (own - v)) / arity).ravel()
        own = own / arity**2 + v * (1 - 1 / arity) / arity
    return float(np.max(before + 2 * beside)) + own


def _places(arity: int) -> Vector:
    """Return where a child begins in its sum, of 1, for the children that may be worst."""
    return np.unique([0, (arity - 1) // 2, arity // 2, arity - 1]) / arity
