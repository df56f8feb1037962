# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as people read them: digits as far as they are known, names made safe.

A number beside its uncertainty ends where the uncertainty's second significant digit stands (JCGM
100:2008, 7.2.6). Minus signs and powers of ten are the typographic ones. Names
are those that users chose; escaping them is left to whoever writes them.
"""

from __future__ import annotations

import math
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

_WIDE = Context(prec=1000)
_HAIR = 1e-12  # a last bit too many must not show as a whole digit
_LARGE, _SMALL = 12, -5  # powers of ten beyond which a number is written with an exponent
_JOINERS = "\u200c\u200d"  # invisible, and needed to spell Persian, Hindi and emoji
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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
    if _width(text) <= width:
        return text
    head, tail = 0, len(text)
    room = width - 1
    while head < tail:
        from_head = head <= len(text) - tail
        room -= _width(text[head] if from_head else text[tail - 1])
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


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
