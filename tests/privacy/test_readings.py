# SPDX-License-Identifier: Apache-2.0
"""How the spends of an account add up: exactly in each reading's terms, never too little."""

import math
from dataclasses import asdict, replace
from fractions import Fraction

import mpmath
import pytest
from dp_accounting import dp_event, pld
from hypothesis import given
from hypothesis import strategies as st

import lownoise as ln
from lownoise.errors import BudgetError
from lownoise.numbers.rounding import decimal_down, exact
from lownoise.privacy import (
    ApproxDPEvent,
    ApproxNoiseEvent,
    GaussianEvent,
    PureDPEvent,
    PureNoiseEvent,
    ZcdpEvent,
    approx_dp,
    gaussian_dp,
    pure_dp,
    zcdp,
)
from lownoise.privacy.choices import chosen, fitting, named, reading_from_text
from lownoise.privacy.gaussian_curve import delta_up
from lownoise.privacy.pure_curve import mu_square_up, rho_up
from lownoise.privacy.readings import only_reading, paying, spent, within
from lownoise.privacy.zcdp_curve import delta_up as zcdp_delta_up
from lownoise.privacy.zcdp_curve import parameter_down

MUS = st.lists(st.floats(1e-3, 10), min_size=1, max_size=6)
WHOLE = approx_dp(1.0, 1e-6)
NOISE = PureNoiseEvent(1.0, 0.368, 1.13)
EVENTS = {
    "gaussian": GaussianEvent(0.1),
    "zcdp": ZcdpEvent(0.005),
    "approx_dp": ApproxDPEvent(0.1, 1e-9),
    "pure_dp": PureDPEvent(0.1),
    "pure_noise": NOISE,
    "approx_noise": ApproxNoiseEvent(0.1, 1e-9, 0.004, 0.09),
}


def owned(reading, *events, asked=None):
    return [(e, reading.pair(e, asked)) for e in events]


def rho_within(budget):
    """Return the greatest ρ that implies the budget, as its float and as its decimal."""
    return decimal_down(Fraction(parameter_down(budget.epsilon, budget.delta)))


def stays(reading, budget, *events, asked=None):
    found = named(reading) if isinstance(reading, (str, ln.Caps, ln.Aside)) else reading
    return found.within(budget, owned(found, *events, asked=asked))


# ---------------------------------------------------------------- sums are exact


@pytest.mark.parametrize(
    ("reading", "tenth", "budget", "lower"),
    [
        ("zcdp", ZcdpEvent(0.1), zcdp(0.3), zcdp(math.nextafter(0.3, 0))),
        (only_reading(pure_dp(1)), PureDPEvent(0.1), pure_dp(0.3), pure_dp(math.nextafter(0.3, 0))),
        ("basic", PureDPEvent(0.1), approx_dp(0.3, 1e-9), approx_dp(math.nextafter(0.3, 0), 1e-9)),
        ("basic", ApproxDPEvent(0.1, 1e-9), approx_dp(0.3, 3e-9), approx_dp(0.3, 2.999e-9)),
        ("basic", ApproxDPEvent(0.1, 1e-7), approx_dp(0.3, 3e-7), approx_dp(0.29999, 3e-7)),
        (
            ln.Caps(epsilon=0.3, delta=3e-9, mu=0.1),
            ApproxDPEvent(0.1, 1e-9),
            WHOLE,
            None,
        ),
    ],
)
def test_three_spends_of_a_tenth_fill_three_tenths_exactly(reading, tenth, budget, lower):
    assert stays(reading, budget, *[tenth] * 3)
    tiny = replace(tenth, **dict.fromkeys(asdict(tenth), 1e-12))
    assert not stays(reading, budget, *[tenth] * 3, tiny)
    assert lower is None or not stays(reading, lower, *[tenth] * 3)


@given(MUS)
def test_gaussian_squares_add_exactly(mus):
    events = [GaussianEvent(mu) for mu in mus]
    square = sum(Fraction(mu) ** 2 for mu in mus)
    assert named("gaussian").total(owned(named("gaussian"), *events)) == {"square": square}
    rho = named("zcdp").total(owned(named("zcdp"), *events, ZcdpEvent(0.1)))
    assert rho == {"rho": square / 2 + Fraction(1, 10)}
    caps = ln.Caps(epsilon=0.1, delta=0.0, mu=0.1)
    found = caps.total(owned(caps, *events, PureDPEvent(0.1)))
    assert found == {"square": square, "epsilon": Fraction(1, 10), "delta": 0}


def test_nothing_costs_nothing():
    assert zcdp_delta_up(0.0, 1.0) == 0.0
    for reading in ("gaussian", "zcdp", "basic"):
        assert named(reading).total([]) == {}
        assert named(reading).spent(WHOLE, []).delta == 0
        assert stays(reading, WHOLE)


# ---------------------------------------------------------------- what each reading says


@given(MUS, st.floats(0.01, 20))
def test_gaussian_releases_are_one_of_the_root_of_the_summed_squares(mus, epsilon):
    root = math.sqrt(math.fsum(mu * mu for mu in mus))
    reading = named("gaussian")
    found = reading.spent(approx_dp(epsilon, 0.1), owned(reading, *map(GaussianEvent, mus))).delta
    # never less than a release that is smaller by a few roundings, never more than a larger one
    assert delta_up(root * (1 - 1e-15), epsilon) <= found <= delta_up(root * (1 + 1e-15), epsilon)


@pytest.mark.grid
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("mus", [[0.7], [0.3, 0.4, 0.5], [0.2] * 9, [0.1, 1.0]])
def test_gaussian_composition_is_the_convolution_of_the_privacy_losses(mus, epsilon):
    # second method: dp_accounting convolves discretised losses. Mutants seen: μ added in place of
    # μ², the largest μ alone, σ halved
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    for mu in mus:
        accountant.compose(dp_event.GaussianDpEvent(1 / mu))
    reading = named("gaussian")
    found = reading.spent(approx_dp(epsilon, 0.1), owned(reading, *map(GaussianEvent, mus))).delta
    assert accountant.get_delta(epsilon) == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5])
def test_a_known_rho_costs_at_least_its_gaussian(rho, epsilon):
    # the Gaussian release of μ = √(2ρ) is ρ-zCDP, so ρ alone cannot promise less
    assert zcdp_delta_up(rho, epsilon) >= delta_up(math.sqrt(2 * rho), epsilon)
    assert zcdp_delta_up(rho, epsilon) <= zcdp_delta_up(rho * 1.01, epsilon)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("epsilon", [1e-3, 0.01, 0.1, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("delta", [1e-15, 1.5199110829529332e-05, 1e-6, 0.0053, 0.1])
def test_one_release_of_any_kind_may_take_the_whole_of_an_approximate_budget(epsilon, delta):
    budget = approx_dp(epsilon, delta)
    mu, rho = budget.gaussian_parameter(), rho_within(budget)
    for event, more in (
        (GaussianEvent(mu), GaussianEvent(mu * (1 + 1e-12))),
        (ZcdpEvent(rho), ZcdpEvent(rho * (1 + 1e-9))),
        (ApproxDPEvent(epsilon, delta), ApproxDPEvent(epsilon, delta * (1 + 1e-12))),
        (PureDPEvent(epsilon), PureDPEvent(epsilon * (1 + 1e-12))),
        (PureNoiseEvent(epsilon, 1e3, 1e3), PureNoiseEvent(epsilon * 1.001, 0.0, 0.0)),
    ):
        assert within(budget, event), event
        assert not within(budget, more), more
        # the basic reading pays for it whole too, by the pair that it was asked with
        assert stays("basic", budget, event, asked=budget), event


@pytest.mark.parametrize("rho", [1e-12, 0.1, 0.5, 3.0, 1e6])
def test_one_release_may_take_the_whole_of_a_zcdp_budget(rho):
    mu = zcdp(rho).gaussian_parameter()
    assert within(zcdp(rho), GaussianEvent(mu))
    assert not within(zcdp(rho), GaussianEvent(mu * (1 + 1e-12)))


def test_pairs_are_frozen_by_what_was_asked():
    basic, plan = named("basic"), approx_dp(0.25, 1e-7)
    event = GaussianEvent(plan.gaussian_parameter())
    assert basic.pair(event, plan) == (0.25, 1e-7)
    assert basic.pair(event, approx_dp(0.24, 1e-7)) is None  # which it does not keep
    assert basic.pair(event, zcdp(0.1)) is None
    assert basic.pair(NOISE, plan) == (1.0, 0.0)
    assert basic.pair(ApproxDPEvent(0.1, 1e-9), plan) == (0.1, 1e-9)
    assert basic.pair(ZcdpEvent(rho_within(plan)), plan) == (0.25, 1e-7)
    for reading in ("gaussian", "zcdp"):
        assert named(reading).pair(event, plan) is None
    assert basic.spent(WHOLE, [(event, (0.25, 1e-7))] * 3) == approx_dp(0.75, 3e-7)


def test_pure_spends_count_by_their_own_rho_and_mu_where_those_are_known():
    pure = PureDPEvent(1.0)
    assert named("zcdp").total(owned(named("zcdp"), pure, NOISE)) == {
        "rho": rho_up(Fraction(1)) + Fraction("0.368")
    }
    assert named("gaussian").total(owned(named("gaussian"), pure, NOISE)) == {
        "square": mu_square_up(Fraction(1)) + Fraction("1.13") ** 2
    }
    assert named("basic").total(owned(named("basic"), pure, NOISE)) == {"epsilon": 2, "delta": 0}
    assert stays("zcdp", zcdp(0.005), PureDPEvent(0.1))
    assert not stays("zcdp", zcdp(0.00499), PureDPEvent(0.1))
    mu = ln.convert(ln.pure_dp(1), "gaussian_dp").mu
    assert stays("gaussian", gaussian_dp(mu), pure)
    assert not stays("gaussian", gaussian_dp(mu * (1 - 1e-12)), pure)


# ---------------------------------------------------------------- what can be paid


PAYS = {
    "gaussian": ("gaussian", "zcdp", "caps"),
    "zcdp": ("zcdp",),
    "approx_dp": ("basic", "caps", "aside"),
    "approx_noise": ("basic", "caps", "aside"),
    "pure_dp": ("gaussian", "zcdp", "basic", "caps"),
    "pure_noise": ("gaussian", "zcdp", "basic", "caps"),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_each_reading_pays_for_what_it_can_add_and_for_nothing_else(kind):
    event = EVENTS[kind]
    assert paying(event, None) == PAYS[kind]
    assert set(paying(event, WHOLE)) >= {*PAYS[kind], "basic"} - {"mixed"}
    for name in ("gaussian", "zcdp", "basic", "caps"):
        reading = named(ln.Caps(epsilon=5, delta=0.1, mu=0.1) if name == "caps" else name)
        (spend,) = owned(reading, event)
        if name in PAYS[kind]:
            assert reading.charge(*spend)
            continue
        with pytest.raises(BudgetError, match=r"cannot be paid where .*add.*; ") as caught:
            reading.charge(*spend)
        assert "\n" not in str(caught.value)
        assert all(other in str(caught.value) for other in PAYS[kind])


def test_an_approximate_event_without_a_delta_is_pure():
    assert paying(ApproxDPEvent(0.1, 0.0), None) == PAYS["pure_dp"]
    for reading in ("gaussian", "zcdp"):
        assert named(reading).charge(ApproxDPEvent(0.1, 0.0), None) == named(reading).charge(
            PureDPEvent(0.1), None
        )


@pytest.mark.parametrize("other", [GaussianEvent(1e-9), ZcdpEvent(1e-9), ApproxDPEvent(0.1, 1e-9)])
def test_a_pure_budget_takes_nothing_else(other):
    with pytest.raises(BudgetError, match=r"of pure spends adds up; release with ln\.pure_dp"):
        within(pure_dp(1.0), other)


@pytest.mark.parametrize(
    ("reading", "budget"),
    [
        ("gaussian", zcdp(1)),
        ("basic", zcdp(1)),
        ("zcdp", gaussian_dp(1)),
        ("basic", gaussian_dp(1)),
        ("gaussian", pure_dp(1)),
        ("zcdp", pure_dp(1)),
        (ln.Caps(epsilon=0.1, delta=0, mu=0.1), zcdp(1)),
        (ln.Caps(epsilon=0.1, delta=0, mu=0.1), pure_dp(1)),
    ],
)
def test_a_reading_that_a_budget_cannot_have_is_refused(reading, budget):
    with pytest.raises(BudgetError, match=r"^reading='\w+' does not fit .*; leave it out$"):
        chosen(reading, budget)


def test_a_budget_with_one_reading_may_have_it_named():
    for name, budget in (("zcdp", zcdp(1)), ("gaussian", gaussian_dp(1)), ("basic", pure_dp(1))):
        assert chosen(name, budget) == only_reading(budget)
    assert only_reading(WHOLE) is None


@pytest.mark.parametrize("budget", [None, 1.0, "zcdp", (1.0, 1e-6)])
def test_unknown_budgets_are_refused(budget):
    for ask in (within, spent):
        with pytest.raises(BudgetError, match="no known kind"):
            ask(budget, GaussianEvent(0.1))


# ---------------------------------------------------------------- caps


def test_caps_are_checked_against_the_budget_with_outward_rounding():
    mu = approx_dp(0.75, 5e-7).gaussian_parameter()
    assert ln.Caps(epsilon=0.25, delta=5e-7, mu=mu).caps(WHOLE)["square"] == Fraction(mu) ** 2
    for more in (
        ln.Caps(epsilon=0.25, delta=5e-7, mu=mu * (1 + 1e-9)),
        ln.Caps(epsilon=0.25, delta=math.nextafter(5.0001e-7, 1), mu=mu),
        ln.Caps(epsilon=0.25000001, delta=5e-7, mu=mu),
        ln.Caps(epsilon=0.0, delta=1e-6, mu=0.1),
    ):
        with pytest.raises(BudgetError, match=r"^caps come to a delta of .*; lower caps\.mu"):
            more.caps(WHOLE)
    with pytest.raises(BudgetError, match=r"caps\.epsilon=1\.1 is more than that of"):
        ln.Caps(epsilon=1.1, delta=0, mu=0).caps(WHOLE)
    for wrong in (-1, math.nan, math.inf, "1", None, True, 10**400):
        with pytest.raises(BudgetError, match=r"caps\.mu=.* is no number; give one"):
            ln.Caps(epsilon=0.1, delta=0, mu=wrong).caps(WHOLE)


@pytest.mark.parametrize("kind", EVENTS)
@pytest.mark.parametrize("like", ["zcdp", "gaussian"])
def test_an_account_with_a_delta_aside_pays_for_what_others_do_and_for_what_has_a_delta(kind, like):
    event, reading = EVENTS[kind], ln.Aside(1e-7, like)
    pays = {"aside", like} & set(event.readings)
    if not pays:
        with pytest.raises(BudgetError, match=r"cannot be paid where mu² adds up beside a delta"):
            reading.charge(event, None)
        return
    charged = reading.charge(event, None)
    delta = event.as_pair()[1] if "aside" in event.readings else 0.0
    assert charged.pop("delta") == exact(delta)
    (own,) = charged.values()
    if "aside" not in event.readings:
        assert charged == named(like).charge(event, None)
    elif kind == "approx_dp":  # all but delta is what epsilon alone implies
        assert own == {"zcdp": rho_up, "gaussian": mu_square_up}[like](exact(0.1))
    else:
        assert own == {"zcdp": exact(event.rho), "gaussian": exact(event.mu) ** 2}[like]


@pytest.mark.parametrize("aside", [1e-9, 3e-7, 9.9e-7])
def test_what_is_set_aside_and_the_rest_are_the_budget_together(aside):
    """δ′ + (1 − δ′)·δ(ε) is within δ, and no more than rounding below it."""
    reached = {
        "zcdp": lambda caps: zcdp_delta_up(float(caps["rho"]), WHOLE.epsilon),
        "gaussian": lambda caps: delta_up(math.sqrt(caps["square"]), WHOLE.epsilon),
    }
    for like, curve in reached.items():
        caps = ln.Aside(aside, like).caps(WHOLE)
        together = aside + (1 - aside) * curve(caps)
        assert WHOLE.delta * (1 - 1e-9) < together <= WHOLE.delta * (1 + 1e-12)


def test_a_delta_that_is_set_aside_is_one_and_leaves_some():
    for wrong in (0, -1e-9, math.nan, math.inf, "1", None, True):
        with pytest.raises(BudgetError, match=r"^aside\.delta=.* is no chance; give one above 0$"):
            ln.Aside(wrong).caps(WHOLE)
    for much in (1e-6, 0.5, 1.0, 7):
        with pytest.raises(BudgetError, match=r"leaves nothing of the delta of .*; give less"):
            ln.Aside(much).caps(WHOLE)
    for budget in (zcdp(1.0), gaussian_dp(1.0), pure_dp(1.0)):
        with pytest.raises(BudgetError, match="has no delta to set aside; open the account with"):
            ln.Aside(1e-9).caps(budget)
    with pytest.raises(BudgetError, match=r'aside\.reading=.basic. adds up nothing; give "zcdp"'):
        ln.Aside(1e-9, "basic")


def test_caps_hold_one_by_one():
    caps = ln.Caps(epsilon=0.5, delta=1e-7, mu=0.1)
    assert stays(caps, WHOLE, PureDPEvent(0.5), GaussianEvent(0.1))
    assert not stays(caps, WHOLE, PureDPEvent(0.5), GaussianEvent(0.1000001))
    assert not stays(caps, WHOLE, PureDPEvent(0.500001))  # although no Gaussian was spent
    assert not stays(caps, WHOLE, ApproxDPEvent(0.1, 1.01e-7))
    at = caps.spent(WHOLE, [(PureDPEvent(0.5), None), (GaussianEvent(0.1), None)]).delta
    assert delta_up(0.1, 0.5) <= at <= delta_up(0.1, 0.5) * (1 + 1e-12)


# ---------------------------------------------------------------- what remains


CASES = [
    ("gaussian", WHOLE, [GaussianEvent(0.1), PureDPEvent(0.01)]),
    ("gaussian", gaussian_dp(1.0), [GaussianEvent(0.3)]),
    ("zcdp", WHOLE, [ZcdpEvent(0.001), GaussianEvent(0.05)]),
    ("zcdp", zcdp(0.3), [ZcdpEvent(0.1)] * 2),
    ("basic", WHOLE, [PureDPEvent(0.1), ApproxDPEvent(0.1, 3e-7)]),
    (ln.Caps(epsilon=0.5, delta=1e-7, mu=0.1), WHOLE, [PureDPEvent(0.1), GaussianEvent(0.05)]),
    (ln.Aside(1e-7), WHOLE, [ApproxDPEvent(0.01, 1e-9), GaussianEvent(0.05), ZcdpEvent(1e-4)]),
    (ln.Aside(9e-7, "gaussian"), WHOLE, [ApproxDPEvent(0.01, 1e-7), GaussianEvent(0.05)]),
]


@pytest.mark.parametrize(("reading", "budget", "events"), CASES)
def test_what_remains_can_be_spent_and_not_more(reading, budget, events):
    found = named(reading)
    left = found.remaining(budget, owned(found, *events))
    kinds = {
        "mu": GaussianEvent,
        "rho": ZcdpEvent,
        "epsilon": PureDPEvent,
        "delta": lambda x: ApproxDPEvent(0.0, x),
    }
    names = {"square": "mu"}
    assert set(left) == {names.get(k, k) for k in found.caps(budget)}
    rest = [kinds[name](number) for name, number in left.items()]
    assert stays(reading, budget, *events, *rest)
    everything = asdict(found.spent(budget, owned(found, *events, *rest)))
    assert all(number <= asdict(budget)[name] for name, number in everything.items())
    for name, number in left.items():
        assert number > 0
        assert not stays(reading, budget, *events, kinds[name](number * (1 + 1e-9)))


# ---------------------------------------------------------------- files, and old accounts


@pytest.mark.parametrize(
    "reading", ["gaussian", "zcdp", "basic", ln.Caps(0.5, 1e-7, 0.1), ln.Aside(1e-7, "gaussian")]
)
def test_readings_are_written_and_read(reading):
    assert reading_from_text(named(reading).to_text()) == named(reading)


@pytest.mark.parametrize("reading", ["", "renyi", None, 1, ("gaussian",), "mixed"])
def test_an_unknown_reading_is_refused(reading):
    with pytest.raises(BudgetError, match=r"^reading=.* is unknown; give \"gaussian\""):
        named(reading)


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([], None),
        ([GaussianEvent(0.1), GaussianEvent(0.1)], "gaussian"),
        ([ZcdpEvent(0.005), ZcdpEvent(0.001)], "zcdp"),
        ([PureDPEvent(0.5), ApproxDPEvent(0.2, 1e-7)], "basic"),
        ([PureDPEvent(0.5), PureDPEvent(0.4)], "basic"),
        # one reading could add these up, but which one would be picked after the answers were seen
        ([GaussianEvent(0.1), PureDPEvent(0.01)], "mixed"),
        ([PureDPEvent(0.01), GaussianEvent(0.1)], "mixed"),
        ([GaussianEvent(0.1), ZcdpEvent(0.001)], "mixed"),
        ([GaussianEvent(0.1), PureDPEvent(0.5)], "mixed"),
        ([ApproxDPEvent(0.1, 1e-9), GaussianEvent(0.1)], "mixed"),
        ([GaussianEvent(0.1), ZcdpEvent(0.03)], "mixed"),
        # of one kind, but more of it than the reading lets: the old rule had another way to see it
        ([ApproxDPEvent(0.5, 9e-7), ApproxDPEvent(0.2, 2e-7)], "mixed"),
        ([PureDPEvent(0.011)] * 100, "mixed"),
    ],
)
def test_an_old_account_has_the_reading_that_all_its_spends_would_have_fixed(events, kind):
    found = fitting(WHOLE, [(e, None) for e in events])
    assert (found and found.kind) == kind


def test_the_sum_that_still_holds_of_mixed_spends_is_that_of_their_pairs():
    mixed = fitting(WHOLE, [(GaussianEvent(0.1), None), (PureDPEvent(0.5), None)])
    spends = [GaussianEvent(0.1), PureDPEvent(0.5), ZcdpEvent(0.003), ApproxDPEvent(0.1, 1e-7)]
    found = mixed.spent(WHOLE, [(e, None) for e in spends])
    assert found.delta == pytest.approx(5e-7 + 2.5e-7 + 1e-7, rel=1e-12)
    known = Fraction(found.epsilon) - exact(0.5) - exact(0.1)
    gaussian = ln.convert(gaussian_dp(0.1), "approx_dp", delta=5e-7).epsilon
    concentrated = ln.convert(zcdp(0.003), "approx_dp", delta=2.5e-7).epsilon
    assert float(known) == pytest.approx(gaussian + concentrated, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 2.0, 5.5])
def test_caps_that_come_to_exactly_the_budget_fit(epsilon):
    """Nothing is lost where no rounding is needed: what is left of ε is a float."""
    for i in range(40):
        mu = 1 + i / 16
        delta = delta_up(mu, 8 - epsilon)
        ln.Caps(epsilon=epsilon, delta=0, mu=mu).check(ln.approx_dp(8, delta))
        with pytest.raises(BudgetError, match=r"caps come to"):
            ln.Caps(epsilon=epsilon, delta=0, mu=mu).check(ln.approx_dp(8, delta * (1 - 1e-12)))


@pytest.mark.parametrize("epsilon", [0.5, 999.0, 1001.0, 1e4, 1e6])
def test_the_mu_of_an_epsilon_hides_every_pair(epsilon):
    """Φ(−μ/2) ≤ 1/(1 + e^ε), in digits enough for e^−1000000."""
    with mpmath.workdps(50):
        mu = mpmath.sqrt(
            mpmath.mpf(str(mu_square_up(Fraction(epsilon)).numerator))
            / mu_square_up(Fraction(epsilon)).denominator
        )
        assert mpmath.erfc(mu / mpmath.sqrt(8)) / 2 <= 1 / (1 + mpmath.exp(epsilon))
