# SPDX-License-Identifier: Apache-2.0
"""What no unbiased mechanism for a mean beats, one function a theorem of 002, with every constant.

All are of (E‖ω·error‖_p²)^{1/2}. Under "substitute" the number of records is public and their mean
is asked for; under "add_remove" records come and go, and the sum of x − v is asked for, for any v.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lownoise.bounds import NIKOLOV_TANG, Bound, published_local, unbiased_local
from lownoise.bounds import approximate as either
from lownoise.bounds import unbiased_add_remove as concentrated_add_remove
from lownoise.bounds import unbiased_substitute as concentrated_substitute
from lownoise.errors import BudgetError, PlanError
from lownoise.numbers.rounding import grown, shrunk
from lownoise.privacy import ApproxDP, GaussianDP, LocalDP, PureDP, Zcdp
from lownoise.release.guarantees import gaussian_factor
from lownoise.sets.domains import AbstractDomain, difference_body
from lownoise.theory.bound import EVERY, Asked, Form, MeanAsked, Relation, budget_of, clauses
from lownoise.theory.enclosure import enclose

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


def pure_bound(
    domain: Asked,
    budget: PureDP,
    *,
    size: int | None = None,
    relation: Relation = "substitute",
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
    form: Form = "best",
) -> Bound:
    """Return what every unbiased ε-DP mechanism errs at least, on every dataset.

    Published (002, Theorem 42): Γ_p(K)/(2n·e^{−ε/2}(e^ε − 1)), with the constant that its proof
    gives (ours). Best (ours): Γ_p(K−K)/(n√C), C = (e^ε − 1)²·max(e^{−ε}, 2/(e^ε + 2)), at least
    twice as much for a symmetric domain and e^ε ≤ 2; randomized response attains it on {0, 1}.
    Under "add_remove" Γ_p(K)/(e^{−ε/2}(e^ε − 1)), of the sum.

    Args:
        domain: K, the records' domain, or an `Enclosure` of it.
        budget: `ln.pure_dp(epsilon)`.
        size: n ≥ 1, public; only under "substitute".
        relation: "substitute" or "add_remove".
        order: p in [2, ∞].
        weights: ω > 0 on the m answers; ones by default.
        workload: L, shape (m, d); the identity by default.
        form: "best" or "published".

    Raises:
        BudgetError: where the budget is of another kind.
        PlanError: where another argument is out of range.
        DomainError: where the domain cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> bit = pure_bound(ln.Box([0], [1]), ln.pure_dp(math.log(2)), size=9)
        >>> round(bit.value * 9, 6), bit.over  # randomized response of one bit has √2 as well
        (1.414214, 'every dataset')
    """
    epsilon = budget_of(budget, PureDP, "ln.pure_dp(epsilon)").epsilon
    asked = MeanAsked(domain, size, relation, order, weights, workload, form)
    one = shrunk(math.exp(-epsilon / 2) / -math.expm1(-epsilon))
    binds = f"every unbiased mechanism that is {budget}"
    if relation == "add_remove":
        return asked.bound(one, binds, "Theorem 42", "the whole width and the constant")
    if form == "published":
        return asked.bound(one / 2, binds, "Theorem 42", "the constant 1/2")
    return asked.bound(unbiased_local(1.0, 1, epsilon), binds, "Theorem 42", "two extremes at once")


def local_bound(
    domain: Asked,
    budget: LocalDP,
    *,
    size: int,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
    form: Form = "best",
) -> Bound:
    """Return what every unbiased ε-local mechanism errs at least, on every dataset.

    Published (002, Theorem 55): Γ_p(K)/(2√n·e^{−ε/2}(e^ε − 1)), with the constant that its proof
    gives (ours). Best (ours): Γ_p(K−K)/(√n√C), C as in `pure_bound`.

    Args:
        domain: K, the records' domain, or an `Enclosure` of it.
        budget: `ln.local_dp(epsilon)`, of each person's report, which sees no other's.
        size: n ≥ 1 people.
        order: p in [2, ∞].
        weights: ω > 0 on the m answers; ones by default.
        workload: L, shape (m, d); the identity by default.
        form: "best" or "published".

    Raises:
        BudgetError: where the budget is of another kind, or has a δ: there is no such bound then
            (002, Theorem 53, of one person).
        PlanError: where another argument is out of range.
        DomainError: where the domain cannot be enclosed.

    Examples:
        >>> import lownoise as ln
        >>> found = local_bound(ln.Ball(3), ln.local_dp(1.0), size=100)
        >>> found.value <= ln.local(ln.Ball(3), ln.local_dp(1.0)).error / 10
        True
    """
    own = budget_of(budget, LocalDP, "ln.local_dp(epsilon)")
    if own.delta:
        raise BudgetError(
            f"budget={own} has a delta, with which an unbiased report may be exact on one record; "
            "give ln.local_dp(epsilon)",
        )
    asked = MeanAsked(domain, size, "substitute", order, weights, workload, form)
    binds = f"every unbiased mechanism that is {budget}"
    root = math.sqrt(asked.size)
    if form == "published":
        each = published_local(1.0, 1, own.epsilon)
        return asked.bound(each * root, binds, "Theorem 55", "the constant 1/2")
    each = unbiased_local(1.0, 1, own.epsilon)
    return asked.bound(each * root, binds, "Theorem 55", "two extremes at once")


def concentrated_bound(
    domain: Asked,
    budget: Zcdp | GaussianDP,
    *,
    size: int | None = None,
    relation: Relation = "substitute",
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
    form: Form = "best",
) -> Bound:
    """Return what every unbiased ρ-zCDP mechanism errs at least, on every dataset.

    Published (002, Theorem 43, ρ = ε²/2): Γ_p(K)/(2n√(e^{2ρ} − 1)), with the constant that its
    proof gives (ours; the proof prints χ² as 2^{D₂} − 1 where e^{D₂} − 1 is meant). Best (ours):
    Γ_p(K−K)/(n√D(ρ)), D(ρ) ≤ 2e^{2ρ} − 2e^{−ρ}, and D(ρ)/2ρ → 1 as ρ → 0: the least Gaussian noise
    is asymptotically the best of all unbiased mechanisms at p = 2. Under "add_remove"
    Γ_p(K)/√(e^{2ρ} − 1), of the sum. A μ-GDP budget is taken at ρ = μ²/2, which follows from it.

    Args:
        domain: K, the records' domain, or an `Enclosure` of it.
        budget: `ln.zcdp(rho)` or `ln.gaussian_dp(mu)`.
        size: n ≥ 1, public; only under "substitute".
        relation: "substitute" or "add_remove".
        order: p in [2, ∞].
        weights: ω > 0 on the m answers; ones by default.
        workload: L, shape (m, d); the identity by default.
        form: "best" or "published".

    Raises:
        BudgetError, PlanError, DomainError: as `pure_bound`.

    Examples:
        >>> import lownoise as ln
        >>> cube = ln.Box([0] * 4, [1] * 4)
        >>> sizes = {form: concentrated_bound(cube, ln.zcdp(0.01), size=10, form=form).value
        ...          for form in ("published", "best")}
        >>> least = ln.plan(ln.Mean(list("abcd"), cube), budget=ln.zcdp(0.01),
        ...                 relation="substitute", size=10).error
        >>> sizes["published"] < sizes["best"] < least
        True
    """
    own = budget_of(budget, (Zcdp, GaussianDP), "ln.zcdp(rho) or ln.gaussian_dp(mu)")
    rho = own.rho if isinstance(own, Zcdp) else grown(own.mu**2 / 2)
    asked = MeanAsked(domain, size, relation, order, weights, workload, form)
    binds = f"every unbiased mechanism that is {rho:.6g}-zCDP"
    if relation == "add_remove":
        factor = concentrated_add_remove(1.0, rho)
        return asked.bound(factor, binds, "Theorem 43", "the whole width and the constant")
    if form == "published":
        factor = concentrated_add_remove(1.0, rho) / 2
        return asked.bound(factor, binds, "Theorem 43", "the constant 1/2")
    factor = concentrated_substitute(1.0, 1, rho)
    return asked.bound(factor, binds, "Theorem 43", "two extremes at once")


def approximate_bound(
    domain: Asked,
    budget: ApproxDP,
    *,
    size: int | None = None,
    relation: Relation = "substitute",
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
    share: float | None = None,
) -> Bound:
    """Return what every unbiased (ε, δ)-DP mechanism errs at least, on a dataset or a neighbour.

    002, Theorems 51 and 52: either the error on the dataset is at least A(1 − x)², or on some
    neighbour at least B·x², for every share x in (0, 1); A is about Γ_p(K−K)/(n√C), as under ε-DP,
    and B of the order of Γ_p(K−K)/(nd√(δ/ε)). Without a share the bound is theirs together, as in
    Theorem 4: the greater of the two errors is at least (A^{−1/2} + B^{−1/2})^{−2}. Every constant
    is ours, and so is the proof, which needs neither δ ≤ c/n nor ε ≤ c. One dataset alone has no
    such bound (Theorem 53).

    Args:
        domain: K, the records' domain, or an `Enclosure` of it.
        budget: `ln.approx_dp(epsilon, delta)`.
        size: n ≥ 1, public; only under "substitute".
        relation: "substitute" or "add_remove".
        order: p in [2, ∞].
        weights: ω > 0 on the m answers; ones by default.
        workload: L, shape (m, d); the identity by default.
        share: x; None for both together.

    Raises:
        BudgetError, PlanError, DomainError: as `pure_bound`.

    Examples:
        >>> import lownoise as ln
        >>> ball = ln.Ball(5)
        >>> both = approximate_bound(ball, ln.approx_dp(1.0, 1e-9), size=100)
        >>> both.over
        'the dataset or a neighbour'
        >>> one = approximate_bound(ball, ln.approx_dp(1.0, 1e-9), size=100, share=0.01)
        >>> one.value > both.value, one.alternative.value < both.value
        (True, True)
    """
    own = budget_of(budget, ApproxDP, "ln.approx_dp(epsilon, delta)")
    asked = MeanAsked(domain, size, relation, order, weights, workload)
    found = asked.either(own.epsilon, own.delta)
    theorem = "Theorems 51 and 52" if share is not None else "Theorem 4"
    binds = f"every unbiased mechanism that is {budget}"
    return clauses(asked, found, share, binds, theorem, ("the dataset", "a neighbour"))


def distributional_bound(
    domain: Asked,
    budget: PureDP | ApproxDP,
    *,
    size: int,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
    share: float | None = None,
    form: Form = "best",
) -> Bound:
    """Return what mechanisms err at least that are unbiased for the mean of a distribution.

    A mechanism is distributionally unbiased where, for every distribution P on K and n independent
    records drawn from it, its expectation is the mean of P (002, Definition 56). For every P the
    error under P is at least A(1 − x)², or that under a distribution at most 1/n from it in total
    variation is at least B·x² (002, Theorem 59); without a share the greater of the two is at least
    what is returned, so that some distribution has it (Theorem 58). A and B are those of
    `approximate_bound` at the (ε', δ') that the laws of the mechanism are within: published 6ε and
    4e^{6ε}δ (Lemma 57, which fails beyond ε = 2.8: laws may be e^ε − 1 apart, more than 6ε), best
    at most e^ε − 1 and δ(e^{ε'} − 1)/(e^ε − 1) (ours). Under ε-DP there is no second clause, and
    the bound holds for every P.

    Args:
        domain: K, the records' domain, or an `Enclosure` of it.
        budget: `ln.pure_dp(epsilon)` or `ln.approx_dp(epsilon, delta)`.
        size: n ≥ 1.
        order: p in [2, ∞].
        weights: ω > 0 on the m answers; ones by default.
        workload: L, shape (m, d); the identity by default.
        share: x; None for both clauses together.
        form: "best" or "published".

    Raises:
        BudgetError, PlanError, DomainError: as `pure_bound`; PlanError also where Lemma 57 fails.

    Examples:
        >>> import lownoise as ln
        >>> cube = ln.Box([0, 0], [1, 1])
        >>> ours, theirs = (
        ...     distributional_bound(cube, ln.approx_dp(0.1, 1e-12), size=50, form=form).value
        ...     for form in ("best", "published")
        ... )
        >>> ours > 4 * theirs
        True
    """
    own = budget_of(
        budget, (PureDP, ApproxDP), "ln.pure_dp(epsilon) or ln.approx_dp(epsilon, delta)"
    )
    delta = own.delta if isinstance(own, ApproxDP) else 0.0
    asked = MeanAsked(domain, size, "substitute", order, weights, workload, form)
    within = either.distributional(own.epsilon, delta, asked.size)
    if form == "published":
        if within[0] > 6 * own.epsilon:
            raise PlanError(
                f"form='published' rests on Lemma 57's 6ε, and laws are {within[0]:.4g} apart at "
                f"epsilon={own.epsilon:g}, more than that; give form='best', or epsilon below 2.8",
            )
        within = 6 * own.epsilon, 4 * math.exp(6 * own.epsilon) * delta
    found = asked.either(*within)
    binds = f"every mechanism that is {budget} and unbiased for the mean of a distribution"
    if not delta:
        where = "every distribution"
        return asked.stated(found.here, binds, "Theorem 59", "the constants", where)
    theorem = "Theorem 59" if share is not None else "Theorems 58 and 59"
    near = "one at most 1/n from it"
    return clauses(asked, found, share, binds, theorem, ("the distribution", near))


def lower_bound(domain: Asked, budget: Any, **chosen: Any) -> Bound:  # noqa: ANN401
    """Return the best lower bound on the error of unbiased mechanisms within a budget.

    Args:
        domain: as that of `pure_bound`.
        budget: any budget; its kind picks `pure_bound`, `concentrated_bound`, `approximate_bound`
            or `local_bound`.
        chosen: their arguments, by name.

    Raises:
        BudgetError, PlanError, DomainError: as those functions.

    Examples:
        >>> import lownoise as ln
        >>> budgets = (ln.zcdp(0.1), ln.pure_dp(0.4), ln.approx_dp(1, 1e-9), ln.local_dp(1))
        >>> for budget in budgets:
        ...     print(lower_bound(ln.Ball(4), budget, size=1000).theorem)
        Nikolov & Tang 2023, Theorem 43
        Nikolov & Tang 2023, Theorem 42
        Nikolov & Tang 2023, Theorem 4
        Nikolov & Tang 2023, Theorem 55
    """
    made: dict[type, Callable[..., Bound]] = {
        PureDP: pure_bound,
        Zcdp: concentrated_bound,
        GaussianDP: concentrated_bound,
        ApproxDP: approximate_bound,
        LocalDP: local_bound,
    }
    own = budget_of(budget, tuple(made), "a budget, as ln.zcdp(rho)")
    return made[type(own)](domain, own, **chosen)


def gaussian_bound(
    domain: AbstractDomain,
    budget: Zcdp | GaussianDP | ApproxDP | PureDP,
    *,
    size: int,
    order: float = 2.0,
    weights: ArrayLike | None = None,
    workload: ArrayLike | None = None,
) -> Bound:
    """Return what the least Gaussian noise on a mean errs at most, on every dataset.

    002, Theorems 3 and 15 and Corollary 16, with their constants: Γ_p(K−K)·c/(nμ), μ the greatest
    that the budget allows, c = 1 at p = 2 and else the least of c_p = √2·(Γ((p+1)/2)/√π)^{1/p},
    m^{1/2−1/p} and m^{1/p}√(2 ln m + 2) for m answers. The source covers a translate of K, which
    costs up to √(2d/(d+1)) more (ours).

    Args:
        domain: K; no enclosure.
        budget: any that Gaussian noise keeps.
        size: n ≥ 1.
        order: p in [2, ∞].
        weights: ω > 0 on the m answers; ones by default.
        workload: L, shape (m, d); the identity by default.

    Raises:
        BudgetError: where no Gaussian noise keeps the budget.
        PlanError, DomainError: as `pure_bound`.

    Examples:
        >>> import lownoise as ln
        >>> most = gaussian_bound(ln.Ball(4), ln.zcdp(0.1), size=100)
        >>> least = concentrated_bound(ln.Ball(4), ln.zcdp(0.1), size=100)
        >>> most.side, 1 < most.value / least.value < 1.9
        ('upper', True)
    """
    own = budget_of(budget, (Zcdp, GaussianDP, ApproxDP, PureDP), "a budget, as ln.zcdp(rho)")
    asked = MeanAsked(domain, size, "substitute", order, weights, workload)
    found = enclose(difference_body(asked.body), order=order, weights=weights, workload=workload)
    answers = asked.answers
    factor = grown(gaussian_factor(order, answers) / (asked.size * own.gaussian_parameter()))
    return Bound(
        value=grown(factor * found.certificate.upper),
        side="upper",
        quantity=asked.quantity,
        constant=factor,
        binds=f"the least Gaussian noise that is {budget}",
        over=EVERY,
        theorem=f"{NIKOLOV_TANG}, Theorems 3 and 15",
        ours="the constants, and the noise on differences",
    )
