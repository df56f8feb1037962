# SPDX-License-Identifier: Apache-2.0
"""Unbiased mechanisms side by side: their exact errors on a table and beside it, and what binds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import BudgetError, PlanError, quoted
from lownoise.noise.response import keep_for
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import down, exact, shrunk
from lownoise.privacy import ApproxDP, GaussianDP, PureDP, Zcdp, local_dp
from lownoise.release.readable import Shown
from lownoise.sets.domains import Points, difference_body
from lownoise.theory.counterexample import exact_on
from lownoise.theory.enclosure import enclose
from lownoise.theory.unbiased import local_bound, lower_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.bounds import Bound
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy import Budget
    from lownoise.sets.domains import AbstractDomain

_MOST_KINDS = 2000  # whose pairs are looked at
_MOST_EPSILON = 1e3  # of a report


@final
@readable
@dataclass(frozen=True, kw_only=True)
class Compared:
    """One mechanism, and how it does on a table.

    Args:
        mechanism: its name.
        privacy: what a run reveals, in words.
        oblivious: whether its noise is the same on every table.
        bias: ‖E[answer] − mean‖₂; 0 for unbiased ones.
        error: (E‖error‖₂²)^{1/2} on the table, in floats.
        neighbour_error: the greatest on a table that differs in one row.
        bound: what no unbiased mechanism of its privacy is below, here or on a neighbour.
    """

    mechanism: str
    privacy: str
    oblivious: bool
    bias: float
    error: float
    neighbour_error: float
    bound: Bound


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Shown):
    """Unbiased mechanisms for one mean at one budget; made by `compare_unbiased`.

    Args:
        rows: one a mechanism.
        budget: what each of them keeps.
        size: n, the number of rows of the table.
        sample: how many of them the subsampled mean looks at.
    """

    rows: tuple[Compared, ...]
    budget: Budget
    size: int
    sample: int


def compare_unbiased(
    domain: Points,
    table: ArrayLike,
    *,
    budget: Budget,
    sample: int | None = None,
) -> Comparison:
    """Return how unbiased mechanisms of a budget do on a table of rows out of a list of points.

    All errors are closed forms of the table (the noise of Gaussian ones is that which `enclose`
    finds). Neighbours differ in one row, which may become any point of the list.

    * the mean plus Gaussian noise fitted to K − K; under a pure budget plus Laplace noise;
    * the mean of m rows drawn without replacement, plus Gaussian noise. Under (ε, δ) a row is among
      them with chance m/n, so the noise may be that of (ln(1 + (e^ε − 1)n/m), δn/m); under ρ it is
      that of ρ, for no less is known to do;
    * randomized response: each row is reported truly with chance q, else as any point alike;
    * under (ε, δ) the mechanism that is exact on this table (`exact_on`).

    Args:
        domain: the N points that a row may be.
        table: X, shape (n, d), each row a point of the list; public here: nothing is private.
        budget: `ln.zcdp`, `ln.approx_dp` or `ln.pure_dp`; neighbours substitute one row.
        sample: m, from 1 to n; a tenth of the rows by default.

    Raises:
        PlanError: where the domain is no list of at most 2,000 points, a row is none of them, or
            the sample is out of range.
        BudgetError: where the budget is of another kind.

    Examples:
        >>> import lownoise as ln
        >>> bits, half = ln.Points([[0], [1]]), np.repeat([[0.0], [1.0]], 50, axis=0)
        >>> found = ln.theory.compare_unbiased(bits, half, budget=ln.approx_dp(0.5, 1e-6))
        >>> for row in found.rows:
        ...     print(f"{row.mechanism:31} {row.error:.4f} {row.neighbour_error:.4f}")
        Gaussian noise                  0.0806 0.0806
        sample of 10, Gaussian noise    0.2490 0.2490
        randomized response             0.1979 0.1979
        exact on this table             0.0000 10.0000
    """
    counts, points = _counted(domain, table)
    n = int(counts.sum())
    m = _checked_sample(sample, n)
    makers = _MADE.get(type(budget))
    if makers is None:
        raise BudgetError(f"budget={quoted(budget)} is not compared; use zcdp, approx_dp, pure_dp")
    asked = _Asked(domain, points, counts, budget, m)
    return Comparison(rows=tuple(make(asked) for make in makers), budget=budget, size=n, sample=m)


class _Asked:
    """A table as counts of points, and what its neighbours make of functions of it."""

    def __init__(
        self, domain: AbstractDomain, points: Vector, counts: Integers, budget: Budget, sample: int
    ) -> None:
        self.points, self.counts, self.budget, self.sample = points, counts, budget, sample
        self.size = int(counts.sum())
        self.differences = difference_body(domain)
        self.domain = domain

    def gaussian(self, budget: Budget, rows: int) -> float:
        """Return √tr Σ of the Gaussian noise on a mean of so many rows."""
        widest = enclose(self.differences).certificate.upper
        return widest / (rows * budget.gaussian_parameter())

    def variances(self) -> tuple[float, Vector]:
        """Return Σ‖xᵢ − μ‖²/n of the table, and of all its neighbours, shape (a, N)."""
        x, n = self.points, self.size
        mean, square = self.counts @ x / n, np.einsum("ij,ij->i", x, x)
        moved = mean + (x[None, :] - x[self.present, None]) / n
        second = self.counts @ square / n + (square[None, :] - square[self.present, None]) / n
        here = float(self.counts @ np.sum((x - mean) ** 2, axis=1)) / n
        return here, np.maximum(second - np.einsum("abi,abi->ab", moved, moved), 0.0)

    @property
    def present(self) -> Integers:
        """The points that rows of the table are, which one row may leave."""
        return np.flatnonzero(self.counts)

    @cached_property
    def bound(self) -> Bound:
        """Return what binds unbiased mechanisms of the budget, whatever they know of all rows."""
        return lower_bound(self.domain, self.budget, size=self.size)


def _alike(asked: _Asked, mechanism: str, error: float) -> Compared:
    """Noise that is the same on every table."""
    return Compared(
        mechanism=mechanism,
        privacy=str(asked.budget),
        oblivious=True,
        bias=0.0,
        error=error,
        neighbour_error=error,
        bound=asked.bound,
    )


def _gaussian(asked: _Asked) -> Compared:
    """The mean plus Gaussian noise, the same on every table."""
    error = asked.gaussian(asked.budget, asked.size)
    return _alike(asked, "Gaussian noise", error)


def _laplace(asked: _Asked) -> Compared:
    """The mean plus independent Laplace noise of the scale Δ₁/(nε) on each coordinate."""
    assert isinstance(asked.budget, PureDP)  # noqa: S101 (of these it is made)
    x = asked.points
    widest = max(float(np.max(np.sum(np.abs(x - row), axis=1))) for row in x)
    error = math.sqrt(2 * x.shape[1]) * widest / (asked.size * asked.budget.epsilon)
    return _alike(asked, "Laplace noise", error)


def _subsampled(asked: _Asked) -> Compared:
    """The mean of m rows plus noise: sampling adds the variance (n − m)/(m(n − 1))·v."""
    n, m = asked.size, asked.sample
    noise = asked.gaussian(_amplified(asked.budget, m, n), m)
    here, around = asked.variances()
    share = (n - m) / (m * (n - 1)) if n > 1 else 0.0
    return Compared(
        mechanism=f"sample of {m:,}, Gaussian noise",
        privacy=str(asked.budget),
        oblivious=False,
        bias=0.0,
        error=math.sqrt(share * here + noise**2),
        neighbour_error=math.sqrt(share * float(np.max(around)) + noise**2),
        bound=asked.bound,
    )


def _amplified(budget: Budget, sample: int, size: int) -> Budget:
    """Return what may be spent on a sample of m of n rows, drawn without replacement.

    A row is in the sample with chance f = m/n, so (ε', δ') on samples is (ln(1 + f(e^ε' − 1)), fδ')
    on tables (`docs/theory.md`). Under ρ a run's law is a mixture of pairs of ρ-zCDP ones, and no
    less is known of it here.
    """
    if not isinstance(budget, ApproxDP) or sample == size:
        return budget
    more = (size / sample) * -math.expm1(-budget.epsilon) + math.exp(-budget.epsilon)
    epsilon = shrunk(budget.epsilon + math.log(more))
    delta = shrunk(float(exact(budget.delta) * size / sample))
    return ApproxDP(epsilon, min(delta, 0.5))


def _response(asked: _Asked) -> Compared:
    """Each row truly with chance q and else as any point alike, and the unbiased mean of that."""
    budget, x, N = asked.budget, asked.points, len(asked.points)
    # ε-DP is ε²/2-zCDP (Bun & Steinke 2016, Proposition 1.4)
    assert not isinstance(budget, GaussianDP)  # noqa: S101 (which is not compared)
    own = down(math.sqrt(2 * budget.rho)) if isinstance(budget, Zcdp) else budget.epsilon
    epsilon = min(own, _MOST_EPSILON)
    q = keep_for(epsilon, N)
    mean, square = np.mean(x, axis=0), np.einsum("ij,ij->i", x, x)
    first = q * x + (1 - q) * mean
    own = q * square + (1 - q) * np.mean(square) - np.einsum("ij,ij->i", first, first)
    total = float(asked.counts @ own)
    step = float(np.max(own) - np.min(own[asked.present]))
    scale = q * asked.size
    return Compared(
        mechanism="randomized response",
        privacy=f"{epsilon:g}-DP, each row on its own",
        oblivious=False,
        bias=0.0,
        error=math.sqrt(max(total, 0.0)) / scale,
        neighbour_error=math.sqrt(max(total + step, 0.0)) / scale,
        bound=local_bound(asked.domain, local_dp(epsilon), size=asked.size),
    )


def _exact(asked: _Asked) -> Compared:
    """The counterexample to bounds on every table: exact here, and far off beside."""
    assert isinstance(asked.budget, ApproxDP)  # noqa: S101 (of these it is made)
    delta, x = asked.budget.delta, asked.points
    rows = exact_on(np.repeat(x, asked.counts, axis=0), delta=delta)
    far = max(float(np.max(np.linalg.norm(x - x[a], axis=1))) for a in asked.present)
    factor = math.sqrt(float((1 - exact(delta)) / exact(delta)))
    return Compared(
        mechanism="exact on this table",
        privacy=f"(0, {delta:g})-DP",
        oblivious=False,
        bias=0.0,
        error=rows.error(rows.reference),
        neighbour_error=factor * far / asked.size,
        bound=asked.bound,
    )


_MADE: dict[type, tuple[Callable[[_Asked], Compared], ...]] = {
    Zcdp: (_gaussian, _subsampled, _response),
    ApproxDP: (_gaussian, _subsampled, _response, _exact),
    PureDP: (_laplace, _response),
}


def _counted(domain: object, table: ArrayLike) -> tuple[Integers, Vector]:
    """Return how many rows of the table are each point of the list, and the points."""
    if not isinstance(domain, Points) or len(domain.points) > _MOST_KINDS:
        raise PlanError(
            f"domain={domain!r} is no list of at most {_MOST_KINDS:,} points; give ln.Points([…])"
        )
    points = domain.points
    rows = matrix(table, field="table", error=PlanError)
    if not len(rows) or rows.shape[1] != points.shape[1]:
        raise PlanError(
            f"table has shape {rows.shape} for points of {points.shape[1]} coordinates; give a row "
            "a record",
        )
    kinds = np.unique(points, axis=0)
    place = {tuple(row): i for i, row in enumerate(kinds.tolist())}
    counts = np.zeros(len(kinds), dtype=np.int64)
    for i, row in enumerate(rows.tolist()):
        if tuple(row) not in place:
            raise PlanError(f"table[{i}] is no point of the domain's list; give one that is")
        counts[place[tuple(row)]] += 1
    return counts, frozen(kinds)


def _checked_sample(sample: int | None, size: int) -> int:
    if sample is None:
        return max(size // 10, 1)
    if not is_integer(sample) or not 1 <= sample <= size:
        raise PlanError(f"sample={quoted(sample)} is out of range; give one from 1 to {size:,}")
    return int(sample)
