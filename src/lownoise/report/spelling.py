# SPDX-License-Identifier: Apache-2.0
"""Numbers, names and sentences as people read them: digits as far as known, names made safe.

A number beside its uncertainty ends where the uncertainty's second significant digit stands (JCGM
100:2008, 7.2.6). Minus signs and powers of ten are the typographic ones. Names
are those that users chose; escaping them is left to whoever writes them.
"""

from __future__ import annotations

import math
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.sensitivity.relations import Change

_WIDE = Context(prec=1000)
_HAIR = 1e-12  # a last bit too many must not show as a whole digit
_LARGE, _SMALL = 12, -5  # powers of ten beyond which a number is written with an exponent
_JOINERS = "\u200c\u200d"  # invisible, and needed to spell Persian, Hindi and emoji
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

NO_PROOF = "No proof was found of how close to least the noise is."
NO_NOISE = "No noise is needed, so there is nothing to gain."
NO_ERROR = "The answers have no error, so there is nothing to compare."
UNWEIGHTED = " This total does not include weights."
NO_BOUND = "At this cost there is no bound above 0."
_ROUNDING = 1e-9  # gaps below this are float rounding, not noise
_BELOW = 1e-6  # gaps below this, 0.0001%, are of no interest to anybody
_SAME = 1e-4  # a ratio of variances that nobody sees
_FEW = 4  # columns that are named


def beside(value: float, uncertainty: float) -> str:
    """Return "value ± uncertainty".

    >>> beside(12.63907, 0.00401)
    '12.6391 ± 0.0040'
    >>> beside(-238113046.2, 15800.6)
    '−238,113,000 ± 16,000'
    >>> beside(1.5e-9, 2e-11)
    '(1.500 ± 0.020)×10⁻⁹'
    >>> beside(3.25, 0.0)
    '3.25 ± 0'
    """
    if not (math.isfinite(value) and math.isfinite(uncertainty)) or uncertainty <= 0:
        return f"{with_uncertainty(value, uncertainty)} ± {shortest(uncertainty)}"
    place = _last_place(uncertainty)
    number, error = _at(value, place), _at(uncertainty, place)
    power = max(number.adjusted() if number else place, error.adjusted())
    if _SMALL <= power < _LARGE:
        return f"{_plain(number)} ± {_written(error)}"
    return f"({_shifted(number, power)} ± {_shifted(error, power)}){_power(power)}"


def with_uncertainty(value: float, uncertainty: float) -> str:
    """Return the digits of `value` that an error of size `uncertainty` leaves.

    >>> with_uncertainty(1040.034873, 0.1637)
    '1,040.03'
    >>> with_uncertainty(0.2, 0.0)
    '0.2'
    """
    if not math.isfinite(value) or uncertainty <= 0 or not math.isfinite(uncertainty):
        return shortest(value)
    return _written(_at(value, _last_place(uncertainty)))


def significant(value: float, digits: int = 3) -> str:
    """Return `value` to so many significant digits.

    >>> significant(0.0466634), significant(8061.69), significant(1.82e-12)
    ('0.0467', '8,060', '1.82×10⁻¹²')
    """
    return _significant(value, digits, ROUND_HALF_EVEN)


def at_most(value: float, digits: int = 4) -> str:
    """Return `value` to so many significant digits, never less than it is (but for 1e-12 of it).

    >>> at_most(0.23670438)
    '0.2368'
    """
    return _significant(value * (1 - _HAIR), digits, ROUND_CEILING)


def brief_at_most(value: float, digits: int = 4) -> str:
    """Return `at_most` without zeros at the end.

    >>> brief_at_most(0.7), brief_at_most(10.0), brief_at_most(0.23670438)
    ('0.7', '10', '0.2368')
    """
    text = at_most(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text and "×" not in text else text


def at_least(value: float, digits: int = 4) -> str:
    """Return `value` to so many significant digits, never more than it is (but for 1e-12 of it).

    >>> at_least(0.06378374)
    '0.06378'
    """
    return _significant(value * (1 + _HAIR), digits, ROUND_FLOOR)


def shortest(value: float) -> str:
    """Return `value` with the fewest digits that read back as it.

    >>> shortest(1500.0), shortest(-0.25), shortest(1e-6), shortest(float("nan"))
    ('1,500', '−0.25', '10⁻⁶', 'not available')
    """
    if math.isnan(value):
        return "not available"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    exact = Decimal(repr(float(value))).normalize(_WIDE)
    if exact == 0:
        return "0"
    if not _SMALL <= exact.adjusted() < _LARGE:
        power = _power(exact.adjusted()).removeprefix("×")
        mantissa = _shifted(exact, exact.adjusted())
        return power if mantissa == "1" else f"{mantissa}×{power}"
    return _plain(exact)


def shown(name: str) -> str:
    r"""Return `name` with what cannot be seen, or would reorder its surroundings, as U+FFFD.

    >>> shown("a\nb\x1b[31m\u202e")
    'a�b�[31m�'
    """
    return "".join(
        c if c.isprintable() or c in _JOINERS else "\N{REPLACEMENT CHARACTER}" for c in name
    )


def shortened(name: str, width: int) -> str:
    """Return `shown(name)` in at most `width` columns of text, its middle left out.

    >>> shortened("sum(arrival_delay_minutes - center)", 20)
    'sum(arriva…- center)'
    """
    text = shown(name)
    if width_of(text) <= width:
        return text
    head, tail = 0, len(text)
    room = width - 1
    while head < tail:
        from_head = head <= len(text) - tail
        room -= width_of(text[head] if from_head else text[tail - 1])
        if room < 0:
            break
        head, tail = (head + 1, tail) if from_head else (head, tail - 1)
    return f"{text[:head]}…{text[tail:]}"


def _significant(value: float, digits: int, rounding: str) -> str:
    if value == 0 or not math.isfinite(value):
        return shortest(value)
    exact = Decimal(value)
    number = _at(value, exact.adjusted() - digits + 1, rounding)
    if number.adjusted() > exact.adjusted():  # 0.9996 became 1.000
        number = _at(value, number.adjusted() - digits + 1, rounding)
    return _written(number)


def _last_place(uncertainty: float) -> int:
    """Return the power of ten of the second digit of `uncertainty`, as rounded there."""
    place = Decimal(uncertainty).adjusted() - 1
    return _at(uncertainty, place).adjusted() - 1


def _at(value: float, place: int, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    unit = Decimal((0, (1,), place))
    return Decimal(value).quantize(unit, rounding=rounding, context=_WIDE)


def _written(number: Decimal) -> str:
    if number == 0 or _SMALL <= number.adjusted() < _LARGE:
        return _plain(number)
    return _shifted(number, number.adjusted()) + _power(number.adjusted())


def _plain(number: Decimal) -> str:
    return f"{abs(number) if number == 0 else number:,f}".replace("-", "−")


def _shifted(number: Decimal, power: int) -> str:
    return _plain(number.scaleb(-power, _WIDE))


def _power(power: int) -> str:
    return f"×10{str(power).translate(_SUPERSCRIPT)}"


def width_of(text: str) -> int:
    """Return how many columns a text takes, letters of Chinese and the like two.

    >>> width_of("age"), width_of("年齢")
    (3, 4)
    """
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


# --- sentences that several sections say


def count(number: int, one: str, many: str | None = None) -> str:
    """Return "1 mean", "2 means".

    >>> count(1, "query", "queries"), count(2000, "row")
    ('1 query', '2,000 rows')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def capital(sentence: str) -> str:
    """Return `sentence` with its first letter a capital and the others as they are."""
    return sentence[:1].upper() + sentence[1:]


def measure(order: float, weighted: str, one: str, of: str) -> str:
    """Return what a plan makes small.

    Args:
        order: p, of the norm.
        weighted: "weighted " or "".
        one: what the largest is of: " of an answer", or "".
        of: what all of them are: " of all answers", or "".
    """
    if order == 2:  # noqa: PLR2004
        return f"root of the total {weighted}variance{of}"
    if math.isinf(order):
        return f"largest {weighted}standard deviation{one}"
    return f"order-{order:g} norm of the {weighted}standard deviations{of}"


def in_order(order: float, *, weighted: bool) -> str:
    """Return in which norm an error is, and whether it is weighted; "" for the usual one."""
    norm = "" if order == 2 else f" in the order-{shortest(order)} norm"  # noqa: PLR2004
    return norm + ", weighted" * weighted


def in_units(*, weighted: bool) -> str:
    """Return whose units an error of columns is in."""
    return "in the columns’ units" + " times their weights" * weighted


def error(found: float, *, exact: bool) -> str:
    """Return an error, with "at most" where it is a bound."""
    return significant(found) if exact else f"at most {at_most(found)}"


def gap(found: float) -> str:
    """Return a certificate's gap as a word or a number."""
    if found == 0:
        return "none"
    if found < _BELOW:
        return "below 0.0001%"
    return f"at most {at_most(100 * found, 2)}%"


def better(found: float, what: str, least: str) -> str:
    """Return how close to least an objective is, by the gap of its certificate.

    Args:
        found: the gap.
        what: of which no other does better.
        least: what is small.
    """
    if math.isinf(found):
        return NO_PROOF
    if found < _ROUNDING:
        small = at_most(found, 2)
        return (
            f"No {what} within the budget has a smaller {least}: the gap, {small}, is due to "
            "rounding."
        )
    return (
        f"No {what} within the budget has a {least} that is smaller by more than "
        f"{at_most(100 * found, 2)}%."
    )


def covers(level: str, what: str = "answer", least: str = "") -> str:
    """Return what an interval is."""
    return (
        f"Each interval contains the exact {what} of the table with probability {level}{least}, "
        "over the random noise. Sampling error is not included."
    )


def change(changed: Change, columns: Sequence[str]) -> str:
    """Return how far a body of changes reaches in each column."""
    every = np.arange(len(columns))
    widths = changed.changes(every, np.ones(every.size)).widths().tolist()
    few = [
        f"{significant(width)} in {shown(name)}"
        for name, width in list(zip(columns, widths, strict=True))[:_FEW]
    ]
    rest = f" and so on in {len(columns) - _FEW:,} more" if len(columns) > _FEW else ""
    return f"a given body of changes, up to {', '.join(few)}{rest}"


def same(ratio: float) -> bool:
    """Return whether a ratio of variances is one that nobody tells from 1."""
    return abs(ratio - 1) < _SAME


def times(ratio: float, words: str) -> str:
    """Return how much another noise would cost more, or less.

    Args:
        ratio: its total variance over this plan's; NaN where this plan has none.
        words: what it is.
    """
    if math.isnan(ratio):
        return "No noise is needed."
    if same(ratio):
        than = "the same as with"
    elif ratio > 1:
        than = f"{significant(ratio, 4)} times smaller than with"
    else:
        than = f"{significant(1 / ratio, 4)} times that of"
    return f"The total variance is {than} {words}."
