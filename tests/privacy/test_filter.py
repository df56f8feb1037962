# SPDX-License-Identifier: Apache-2.0
"""LAW: no adversary that picks each spend after seeing the answers so far exceeds an account.

The adversary knows the log-likelihood ratio ℓ of all answers and picks the next spend that the
account still pays for, by dynamic programming, so that P(S) − e^ε·Q(S) = E_P max(0, 1 − e^{ε−ℓ}) is
greatest. Every spend is answered by a worst pair of its kind: shifted normals, randomised response,
the leaking randomised response of an (ε, δ), that which is seldom given where noise is known but
for a δ, and for ρ-zCDP, which has no single worst pair, five.

ℓ lives on a grid. The value grows with ℓ, so losses rounded up give an upper bound on what this
adversary reaches and losses rounded down a lower one, to
a millionth of a step: the lower one must not exceed δ, nor the upper one by more than the 3% by
which rounding can move it.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.signal import fftconvolve
from scipy.special import ndtr

import lownoise as ln
from lownoise.privacy import (
    ApproxDPEvent,
    ApproxNoiseEvent,
    GaussianEvent,
    PureDPEvent,
    ZcdpEvent,
    aside_curve,
)
from lownoise.privacy.choices import chosen
from lownoise.privacy.gaussian_curve import delta_up, parameter_down
from lownoise.privacy.zcdp_curve import parameter_down as rho_down

HALF = 8_000  # grid steps to each side of ℓ = 0
MANY = 4  # small spends of one kind before the rest
SELDOM = 0.2  # of radial noise in some ten dimensions at ε = 1
SKEW = (1e-6, 1e-4, 1e-2)  # chances of the likelier outcome of a skew pair


# ---------------------------------------------------------------- worst pairs: losses under P


@dataclass(frozen=True)
class Loss:
    """Atoms (loss, chance), of which one may be at infinity, or a shifted normal of `mu`."""

    atoms: tuple = ()
    mu: float = 0.0


def response(epsilon, delta=0.0):
    true = math.exp(epsilon) / (1 + math.exp(epsilon))
    kept = 1 - delta
    return Loss(((epsilon, true * kept), (-epsilon, (1 - true) * kept), (math.inf, delta)))


def seldom(epsilon, delta):
    """Randomised response that is given with chance `SELDOM`, and all told with chance δ."""
    (high, true), (low, false), _ = response(epsilon).atoms
    kept = 1 - delta
    given = ((high, SELDOM * true * kept), (low, SELDOM * false * kept))
    return Loss((*given, (0.0, (1 - SELDOM) * kept), (math.inf, delta)))


def noise_event(epsilon, delta):
    variation = SELDOM * math.tanh(epsilon / 2)
    rho, mu = (of(epsilon, variation) for of in (aside_curve.rho_up, aside_curve.mu_up))
    return ApproxNoiseEvent(epsilon, delta, rho, mu)


def renyi_holds(p, q, rho):
    """Whether two-point laws (p, 1 − p), (q, 1 − q) are ρ-zCDP both ways.

    D_α grows with α, so D at a grid's next order at most αρ is enough; beyond D_∞/ρ it is at most
    D_∞ ≤ αρ.
    """
    for one, two in ((p, q), (q, p)):
        most = max(math.log(one / two), math.log((1 - one) / (1 - two)))
        orders = 1 + np.geomspace(1e-6, max(most / rho, 1.1), 400)
        above = np.append(orders[1:], orders[-1])
        terms = np.logaddexp(
            above * math.log(one) + (1 - above) * math.log(two),
            above * math.log1p(-one) + (1 - above) * math.log1p(-two),
        )
        if np.any(np.maximum(terms, 0) / (above - 1) > orders * rho):
            return False
    return True


@cache
def skew(p, rho):
    """The least q for which (p, 1 − p) against (q, 1 − q) is ρ-zCDP, nearly."""
    low, high = p * 1e-9, p * (1 - 1e-9)
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if renyi_holds(p, middle, rho) else (middle, high)
    return Loss(((math.log(p / high), p), (math.log1p(-p) - math.log1p(-high), 1 - p)))


@cache
def losses(event):
    """The losses of the worst pairs of an event's kind."""
    match event:
        case GaussianEvent(mu=mu):
            return (Loss(mu=mu),)
        case PureDPEvent(epsilon=epsilon):
            return (response(epsilon),)
        case ApproxDPEvent(epsilon=epsilon, delta=delta):
            return (response(epsilon, delta),)
        case ApproxNoiseEvent(epsilon=epsilon, delta=delta):
            return (seldom(epsilon, delta),)
        case ZcdpEvent(rho=rho):
            own = brentq(lambda e: e * math.tanh(e / 2) - rho, 0, 50 + 2 * rho)
            own *= 1 - 1e-12
            return (Loss(mu=math.sqrt(2 * rho)), response(own), *(skew(p, rho) for p in SKEW))
    raise AssertionError(event)


# ---------------------------------------------------------------- the game


class Game:
    """Values of states on a grid of ℓ, as an upper or as a lower bound."""

    def __init__(self, epsilon, *, upper):
        self.h = epsilon / 3600  # which the pairs' own losses are multiples of
        self.upper = upper
        grid = np.arange(-HALF, HALF + 1) * self.h
        self.end = np.maximum(-np.expm1(np.minimum(epsilon - grid, 0)), 0)

    def steps(self, loss):
        return math.ceil(loss / self.h - 1e-6) if self.upper else math.floor(loss / self.h + 1e-6)

    def padded(self, value, width):
        low = value[0] if self.upper else 0.0
        high = 1.0 if self.upper else value[-1]
        return np.concatenate([np.full(width, low), value, np.full(width, high)])

    def normal(self, value, mu):
        """E value(ℓ + loss), the loss normal about μ²/2 with deviation μ, in cells of the grid."""
        reach = min(math.ceil((9 * mu + mu * mu / 2) / self.h), 2 * HALF)
        edges = (np.arange(-reach, reach + 1) * self.h - mu * mu / 2) / mu
        # of each cell by its nearer tail, so that small chances keep their digits
        cells = np.where(edges[:-1] > 0, ndtr(-edges[:-1]) - ndtr(-edges[1:]), np.diff(ndtr(edges)))
        below, above = ndtr(edges[0]), ndtr(-edges[-1])
        kernel = np.zeros(2 * reach + 1)
        kernel[1:] += cells if self.upper else 0
        kernel[:-1] += 0 if self.upper else cells
        kernel[0] += below if self.upper else 0
        kernel[-1] += 0 if self.upper else above
        moved = fftconvolve(self.padded(value, reach), kernel[::-1], mode="valid")
        return moved + (above if self.upper else 0)

    def after(self, value, loss):
        if loss.mu:
            return self.normal(value, loss.mu)
        found = np.zeros_like(value)
        for step, chance in loss.atoms:
            if step == math.inf:
                found += chance
                continue
            by = min(max(self.steps(step), -2 * HALF), 2 * HALF)
            wide = self.padded(value, abs(by))
            found += chance * wide[abs(by) + by :][: value.size]
        return found

    def best(self, account):
        """The most that the adversary reaches from the beginning."""
        memo = {}

        def value(counts):
            if counts not in memo:
                found = self.end
                spends = account.spends(counts)
                for i in range(len(counts)):
                    more = tuple(n + (j == i) for j, n in enumerate(counts))
                    if counts[i] < account.most and account.pays(account.spends(more)):
                        rest = value(more)
                        for loss in losses(account.menu[i]):
                            found = np.maximum(found, self.after(rest, loss))
                for event in account.rest(spends):
                    for loss in losses(event):
                        found = np.maximum(found, self.after(self.end, loss))
                memo[counts] = found
            return memo[counts]

        return float(value((0,) * len(account.menu))[HALF])


# ---------------------------------------------------------------- accounts: the law, the control


class Account:
    """An account as the library reads it, and small spends that it may be asked for."""

    most = MANY

    def __init__(self, budget, reading):
        self.budget = budget
        self.reading = chosen(reading, budget)
        left = self.reading.remaining(budget, [])
        share = {k: v / MANY for k, v in left.items()}
        small = []
        if "mu" in left:
            small.append(GaussianEvent(left["mu"] / math.sqrt(MANY)))
        if "rho" in left:
            small.append(ZcdpEvent(share["rho"]))
        epsilon = share.get("epsilon", budget.epsilon / (2 * MANY))
        small.append(PureDPEvent(epsilon / 2))
        if self.reading.kind == "aside":
            small[-1:] = [noise_event(epsilon, share["delta"]), ApproxDPEvent(0.0, share["delta"])]
        elif "delta" in left:
            small.append(ApproxDPEvent(epsilon, share["delta"]))
        pays = {self.reading.kind, self.reading.like}
        self.menu = [e for e in small if pays & set(e.readings)]

    def spends(self, counts):
        events = [e for e, n in zip(self.menu, counts, strict=True) for _ in range(n)]
        return [(e, self.reading.pair(e, None)) for e in events]

    def pays(self, spends):
        return self.reading.within(self.budget, spends)

    def rest(self, spends):
        """All that is left in one spend, of every kind that can be paid."""
        left = self.reading.remaining(self.budget, spends)
        mu, rho = left.get("mu", 0.0), left.get("rho", 0.0)
        wished = [GaussianEvent(mu), ZcdpEvent(rho)]
        if "epsilon" in left:
            wished.append(ApproxDPEvent(left["epsilon"], left["delta"]))
        elif mu:
            wished.append(PureDPEvent((math.log(ndtr(mu / 2) / ndtr(-mu / 2))) * (1 - 1e-9)))
        elif rho:
            own = brentq(lambda e: e * math.tanh(e / 2) - rho, 0, 50 + 2 * rho)
            wished.append(PureDPEvent(own * (1 - 1e-9)))
        if self.reading.kind == "aside" and left["delta"] and isinstance(wished[-1], PureDPEvent):
            wished[-1] = ApproxDPEvent(wished[-1].epsilon, left["delta"])
        found = [
            e for e in wished if any(getattr(e, k, 0) > 1e-6 for k in ("mu", "rho", "epsilon"))
        ]
        for event in found:
            assert self.pays([*spends, (event, self.reading.pair(event, None))])
        return found


class OldRule(Account):
    """What version 1 did: the least δ of several accountings of the spends so far."""

    def __init__(self, budget, many):
        self.budget = budget
        self.reading = chosen("basic", budget)
        self.most = many
        self.menu = [GaussianEvent(parameter_down(budget.epsilon, budget.delta) / math.sqrt(many))]

    def pays(self, spends):
        mu = math.sqrt(sum(e.mu**2 for e, _ in spends))
        return delta_up(mu, self.budget.epsilon) <= self.budget.delta * (1 + 1e-6)

    def rest(self, spends):
        """One pure spend of the greatest ε that leaves the Gaussians within δ."""
        mu = math.sqrt(sum(e.mu**2 for e, _ in spends))
        epsilon, delta = self.budget.epsilon, self.budget.delta
        if not mu:
            return []
        found = [GaussianEvent(math.sqrt(max(parameter_down(epsilon, delta) ** 2 - mu**2, 0)))]
        for share in (0, 0.5, 0.9, 0.99):
            low, high = 0.0, epsilon
            for _ in range(30):
                middle = (low + high) / 2
                fits = delta_up(mu, epsilon - middle) + share * delta <= delta
                low, high = (middle, high) if fits else (low, middle)
            if low:
                found.append(ApproxDPEvent(low, share * delta))
        return [e for e in found if getattr(e, "mu", 1)]


class JointRule(OldRule):
    """δ of the Gaussians plus the δ of pairs, with no cap of their own for either."""

    def rest(self, spends):
        """All that is left, as a Gaussian or as a chance of telling everything."""
        mu = math.sqrt(sum(e.mu**2 for e, _ in spends))
        epsilon, delta = self.budget.epsilon, self.budget.delta
        left = delta - delta_up(mu, epsilon)
        most = parameter_down(epsilon, delta)
        found = [GaussianEvent(math.sqrt(max(most**2 - mu**2, 0))), ApproxDPEvent(0.0, left)]
        return [e for e in found if getattr(e, "mu", left) > 0]


BUDGETS = {
    "(1, 1e-6)": ln.approx_dp(1, 1e-6),
    "(1, 0.01)": ln.approx_dp(1, 0.01),
    "(8, 1e-6)": ln.approx_dp(8, 1e-6),
}


def reading_of(name, budget):
    if name.startswith("aside"):
        return ln.Aside(budget.delta / 4, name.split()[1])
    if name != "caps":
        return name
    half, part = budget.epsilon / 2, budget.delta / 2
    return ln.Caps(epsilon=half, delta=part, mu=parameter_down(half, part * (1 - 1e-9)))


CASES = [(name, own) for name in ("gaussian", "zcdp", "basic", "caps") for own in BUDGETS]
CASES += [("aside gaussian", "(1, 0.01)"), ("aside zcdp", "(1, 1e-6)")]


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize(("name", "own"), CASES)
def test_no_adaptive_adversary_exceeds_an_account(name, own):
    budget = BUDGETS[own]
    account = Account(budget, reading_of(name, budget))
    reached = Game(budget.epsilon, upper=False).best(account)
    assert reached <= budget.delta
    assert Game(budget.epsilon, upper=True).best(account) <= budget.delta * 1.03
    # the law has power: one spend of the whole reaches what Gaussians and pairs are allowed
    if name in ("gaussian", "basic", "aside gaussian"):
        assert reached >= budget.delta * 0.97


@pytest.mark.parametrize(
    ("rule", "many", "budget", "times"),
    [
        (OldRule, 4, "(1, 1e-6)", 3.0),
        (OldRule, 16, "(1, 1e-6)", 5.0),
        (OldRule, 16, "(1, 0.01)", 2.3),
        (OldRule, 16, "(8, 1e-6)", 7.5),
        (JointRule, 4, "(1, 1e-6)", 1.3),
    ],
)
def test_control_rules_that_are_no_filters_are_exceeded(rule, many, budget, times):
    """Lower bounds on what the adversary reaches: the rule before readings, and a joint region."""
    found = BUDGETS[budget]
    reached = Game(found.epsilon, upper=False).best(rule(found, many))
    assert reached > times * found.delta


def test_the_grid_says_what_the_curve_says():
    """Second method: one normal loss against the exact curve, one zCDP spend below its bound."""
    for epsilon, delta in ((1, 1e-6), (1, 0.01), (8, 1e-6)):
        mu = parameter_down(epsilon, delta)
        for upper in (False, True):
            game = Game(epsilon, upper=upper)
            found = game.after(game.end, Loss(mu=mu))[HALF]
            assert (found >= delta) == upper
            assert found == pytest.approx(delta, rel=0.01)
        rho = rho_down(epsilon, delta)
        game = Game(epsilon, upper=True)
        reached = [game.after(game.end, loss)[HALF] for loss in losses(ZcdpEvent(rho))]
        assert max(reached) <= delta
