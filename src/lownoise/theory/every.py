# SPDX-License-Identifier: Apache-2.0
"""What no mechanism beats for linear answers, biased or not: counting, parities, any workload."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds.every import every_approx, every_zcdp, finite_down, finite_zcdp_down
from lownoise.bounds.means import geometric_down
from lownoise.errors import PlanError
from lownoise.numbers.arguments import checked_order
from lownoise.numbers.arrays import matrix
from lownoise.numbers.rounding import grown, growth, shrunk, up
from lownoise.privacy.budget import AbstractBudget
from lownoise.sets.domains import AbstractDomain
from lownoise.theory.bound import HENZINGER, Bound, gamma_down
from lownoise.theory.enclosure import Enclosure
from lownoise.theory.factorization import Factorization, factorize
from lownoise.theory.spectral import check_sizes, checked_count, prefix_trace_norm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_KINDS = ("pure_dp", "approx_dp", "zcdp", "gaussian_dp")
_SHARES = 12
_GREAT_END = 10**9
_MOST_BITS = 500  # so that a count of parities is a float


def workload_bound(
    workload: ArrayLike | Factorization,
    budget: AbstractBudget,
    *,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    most: int | None = None,
) -> Bound:
    """Return κ·γ_(p)(W): what every mechanism errs on some table, biased or not.

    Answers are W·x for x of whole numbers, and neighbours differ by 1 in one coordinate: histograms
    of people who come and go, or streams of counts. The source has it for (ε, δ) with a constant
    that it takes from elsewhere (003, Theorem 36); the constants here are ours (docs/theory.md),
    and with them the bound holds of ρ-zCDP too, where Gaussian noise has γ_F/√(2ρ) for p = 2.

    Args:
        workload: W, shape (m, n); or what `factorize` found for it, with its order and weights.
        budget: `ln.pure_dp`, `ln.approx_dp`, `ln.zcdp` or `ln.gaussian_dp`.
        order: p in [2, ∞].
        weights: ω > 0 on the m answers; ones by default.
        most: the greatest number that a coordinate may be, the least being 0: 1 for bits; None
            where coordinates have no end.

    Raises:
        PlanError: where an argument is out of range, or W cannot be factorized.

    Examples:
        >>> import lownoise as ln
        >>> found = workload_bound(np.tril(np.ones((64, 64))), ln.zcdp(0.005))
        >>> round(found.value**2 / 64 * 0.01, 3)  # of 4.409 that the best Gaussian noise has
        4.387
    """
    kappa = kappa_down(budget, most)
    if isinstance(workload, Factorization):
        if weights is not None or checked_order(order) != workload.order:
            raise PlanError(
                f"a factorization has an order ({workload.order:g}) and weights of its own; give "
                "its order and no weights, or give the matrix",
            )
        if np.any(workload.shift):
            raise PlanError("workload was factorized with a shift; factorize it without one")
        gamma = workload.certificate.lower
    else:
        gamma = factorize(workload, order=order, weights=weights).certificate.lower
    name = "∞" if math.isinf(order) else f"{order:g}"
    return _bound(
        shrunk(kappa * gamma),
        kappa,
        quantity=f"(E‖error‖_{name}²)^{{1/2}}",
        budget=budget,
        most=most,
        theorem=f"{HENZINGER}, Theorem 36",
    )


def worst_table_bound(
    domain: AbstractDomain | Enclosure,
    budget: AbstractBudget,
    *,
    size: int | None = None,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
) -> Bound:
    """Return what every mechanism of a mean or a sum errs on some table, biased or not (ours).

    Of n records, where one is substituted, κ·Γ_p(LK − LK)/n: by Carathéodory's theorem
    N = k(k+1)/2 + 1 differences of records prove Γ_p, k the smaller number of answers and
    coordinates, and ⌊n/N⌋ records go through each, one at a time. As n → ∞ and then ρ → 0 that is
    what Gaussian noise has for p = 2, so that bias helps no mechanism on all tables. Where records
    come and go, κ·Γ_p(LK) on the sum of x − v.

    Args:
        domain: K, the records' domain, or an `Enclosure` of it with that order.
        budget: `ln.pure_dp`, `ln.approx_dp`, `ln.zcdp` or `ln.gaussian_dp`.
        size: n, public: the bound is on a mean; or None: on the sum over tables of any size.
        order: p in [2, ∞].
        weights: ω > 0 on the answers; ones by default.
        workload: L, shape (m, d); the identity by default.

    Raises:
        PlanError: where an argument is out of range, or there are fewer than N records.
        DomainError: where the domain is of a kind that cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> K = ln.Box([0, 0], [1, 1])
        >>> found = ln.theory.worst_table_bound(K, ln.zcdp(0.005), size=10**5)
        >>> round(found.value * 10**5 * 0.1, 3)  # of 2 that Gaussian noise has
        1.993
    """
    n = None if size is None else checked_count("size", size)
    most = None
    if n is not None:
        inner = domain.domain if isinstance(domain, Enclosure) else domain
        if not isinstance(inner, AbstractDomain):
            raise PlanError(f"domain={type(inner).__name__} is no domain; give ln.Box(…) or such")
        k = inner.dimension
        k = k if workload is None else min(k, len(np.atleast_2d(workload)))
        pairs = k * (k + 1) // 2 + 1
        most = min(n // pairs, _GREAT_END)
        if not most:
            raise PlanError(f"size={n} is too small for this proof; it needs {pairs} at least")
    kappa = kappa_down(budget, most)
    gamma = gamma_down(
        domain, differences=n is not None, order=order, weights=weights, workload=workload
    )
    name = "∞" if math.isinf(order) else f"{order:g}"
    return Bound(
        value=shrunk(kappa * gamma * shrunk(1 if n is None else 1 / n)),
        side="lower",
        quantity=f"(E‖error‖_{name}²)^{{1/2}}",
        constant=kappa,
        binds=f"every {budget} mechanism, biased or not",
        over="some table",
        theorem="ours",
        hypotheses=(
            "tables of any size; neighbours differ by one record that comes or goes"
            if n is None
            else f"tables of {n} records; neighbours differ in one",
        ),
    )


def counting_bound(rounds: int, budget: AbstractBudget, *, most: int | None = 1) -> Bound:
    """Return what the root mean square error of running sums is at least, for every mechanism.

    The better of two proofs (003, Theorem 4; the constants and the second are ours):

    * κ·‖W_n‖_*/n, κ of each coordinate in 0…`most`.
    * Rounds in groups of a + c: up to a of them add `most` each, and the truth does not change in
      the c others. k groups are running sums of k numbers in 0…a·most, and k·c of the n rounds
      answer them: √(kc/n)·κ(a·most)·‖W_k‖_*/k. That is how bits come to an error ∝ 1/ε.

    Args:
        rounds: n.
        budget: `ln.pure_dp`, `ln.approx_dp`, `ln.zcdp` or `ln.gaussian_dp`.
        most: the greatest number a round may add, the least being 0: 1 for bits; None without end.

    Raises:
        PlanError: where an argument is out of range.

    Examples:
        >>> import lownoise as ln
        >>> found = counting_bound(1024, ln.zcdp(0.005), most=None)
        >>> round(found.value, 3), found.over
        (29.023, 'some table')
        >>> counting_bound(1024, ln.zcdp(0.005)).value < found.value
        True
    """
    n = checked_count("rounds", rounds, most=10**8)
    kappa, value, largest = kappa_down(budget, most), 0.0, 1 if most is None else most
    chosen = (kappa * _rounds_nearly(n), n, 1.0)
    for size in _group_sizes(n) if most is not None else ():
        for adding in sorted({size * share // _SHARES for share in range(1, _SHARES)} - {0}):
            groups = n // size
            part = math.sqrt(groups * (size - adding) / n)
            wider = part * kappa_down(budget, adding * largest)
            chosen = max(chosen, (wider * _rounds_nearly(groups), groups, wider))
    best = shrunk(kappa * prefix_trace_norm(n) / n)
    if chosen[1] < n:
        value = shrunk(chosen[2] * prefix_trace_norm(chosen[1]) / chosen[1])
    if value > best:
        best, kappa = value, chosen[2]
    return _bound(
        best,
        kappa,
        quantity="(E‖error‖_2²/n)^{1/2}",
        budget=budget,
        most=most,
        theorem=f"{HENZINGER}, Theorem 4",
    )


def parity_bound(
    bits: int, degree: int, budget: AbstractBudget, *, most: int | None = None
) -> Bound:
    """Return what the root mean square error of parities is at least, for every mechanism.

    The answers are Σ Π_{i∈T} x_i over people x in {−1, 1}^d, one for each of the Q = C(d, w) sets T
    of w bits. As rows of a Hadamard matrix they have γ_F = Q, by Lemma 1 and by the factors that
    ask each: κ·Q/√Q = κ·√Q a query (003, Theorem 9; κ is ours).

    Args:
        bits: d, from 1 to 500.
        degree: w, from 0 to d.
        budget: `ln.pure_dp`, `ln.approx_dp`, `ln.zcdp` or `ln.gaussian_dp`.
        most: how many people may be alike; None without end.

    Raises:
        PlanError: where an argument is out of range.

    Examples:
        >>> import lownoise as ln
        >>> found = parity_bound(10, 3, ln.zcdp(0.005))  # 120 queries
        >>> round(found.value**2 * 0.01 / 120, 4)  # of 1 that independent Gaussian noise has
        0.995
    """
    d = checked_count("bits", bits, most=_MOST_BITS)
    w = checked_count("degree", degree, least=0, most=d)
    kappa = kappa_down(budget, most)
    return _bound(
        shrunk(kappa * math.sqrt(math.comb(d, w))),
        kappa,
        quantity="(E‖error‖_2²/Q)^{1/2}",
        budget=budget,
        most=most,
        theorem=f"{HENZINGER}, Theorem 9",
    )


def factorization_error(left: ArrayLike, right: ArrayLike, budget: AbstractBudget) -> Bound:
    """Return the error of the Gaussian mechanism left·(right·x + noise): ‖left‖_F·‖right‖_{1→2}/μ.

    The first part of 003, Theorem 36; μ is that of the exact curve in place of its C_{ε,δ}. The
    mechanism is W·x + left·z, z normal, that `ln.plan` and `ln.stream` run with factors of theirs.

    Args:
        left: L, shape (m, r).
        right: R, shape (r, n); one coordinate of x changes by 1.
        budget: `ln.approx_dp`, `ln.zcdp` or `ln.gaussian_dp`.

    Raises:
        PlanError: where the tables do not fit each other.
        BudgetError: where no Gaussian noise keeps the budget.

    Examples:
        >>> import lownoise as ln
        >>> found = factorization_error(np.eye(3), np.tril(np.ones((3, 3))), ln.zcdp(0.5))
        >>> round(found.value, 6), found.side  # √3·√3/√(2ρ)
        (3.0, 'upper')
    """
    L = matrix(left, field="left", error=PlanError)
    R = matrix(right, field="right", error=PlanError)
    if L.shape[1] != R.shape[0] or not L.size or not R.size:
        raise PlanError(
            f"left has shape {L.shape} and right {R.shape}; give as many columns as rows",
        )
    check_sizes("left", L)
    check_sizes("right", R)
    mu = checked_budget(budget).gaussian_parameter()
    longest = math.sqrt(grown(float(np.max(np.einsum("ij,ij->j", R, R))), growth(len(R) + 9)))
    size = grown(float(np.linalg.norm(L)), growth(L.size + 9))
    return Bound(
        value=grown(up(size * longest) / mu),
        side="upper",
        quantity="(E‖error‖_2²)^{1/2}",
        constant=grown(1 / mu),
        binds=f"the Gaussian mechanism of the factors under {budget}",
        over="every table",
        theorem=f"{HENZINGER}, Theorem 36",
        ours="the exact Gaussian curve",
        hypotheses=("neighbours differ by 1 in one coordinate",),
    )


def kappa_down(budget: AbstractBudget, most: int | None) -> float:
    """Return κ of the budget: each coordinate in 0…`most`, or without end.

    Raises:
        PlanError: where the budget is of no kind that has one, or `most` is no whole number from 1.
    """
    kind = checked_budget(budget).kind
    end = None if most is None else checked_count("most", most, most=10**9)
    if kind in ("zcdp", "gaussian_dp"):
        rho = up(budget.implied("zcdp", None).rho)  # type: ignore[union-attr]
        # what some tables have, all have: a great end may be better than none
        found = finite_zcdp_down(_GREAT_END if end is None else end, rho)
        return max(found, every_zcdp(rho)) if end is None else found
    epsilon = up(float(budget.epsilon))  # type: ignore[attr-defined]
    delta = up(float(budget.delta)) if kind == "approx_dp" else 0.0  # type: ignore[attr-defined]
    if end is not None:
        return finite_down(end, epsilon=epsilon, delta=delta)
    return every_approx(epsilon, delta) if delta else geometric_down(epsilon)


def checked_budget(budget: object, kinds: tuple[str, ...] = _KINDS) -> AbstractBudget:
    """Return the budget.

    Raises:
        PlanError: where it is none of these kinds.
    """
    if not isinstance(budget, AbstractBudget) or budget.kind not in kinds:
        names = ", ".join(f"ln.{kind}(…)" for kind in kinds)
        given = budget if isinstance(budget, AbstractBudget) else type(budget).__name__
        raise PlanError(f"budget={given} is not one that this theorem binds; give one of {names}")
    return budget


def _group_sizes(n: int) -> list[int]:
    """Return how many rounds a group may have: those of few groups, and others a fifth apart."""
    few = {n // k for k in range(1, 2 * _SHARES)}
    apart = {math.floor(2.0 ** (1 + i / 4)) for i in range(4 * n.bit_length() - 7)}
    return sorted(size for size in few | apart if 1 < size <= n)


def _rounds_nearly(n: int) -> float:
    """Return nearly ‖W_n‖_*/n, to choose by."""
    return max(1.0, 0.7226 + math.log(n) / math.pi)


def _bound(
    value: float,
    constant: float,
    *,
    quantity: str,
    budget: AbstractBudget,
    most: int | None,
    theorem: str,
) -> Bound:
    end = "of any size" if most is None else f"from 0 to {most}"
    return Bound(
        value=value,
        side="lower",
        quantity=quantity,
        constant=constant,
        binds=f"every {budget} mechanism, biased or not",
        over="some table",
        theorem=theorem,
        ours="the constant",
        hypotheses=(
            f"coordinates are whole numbers {end}",
            "neighbours differ by 1 in one coordinate",
        ),
    )
