# SPDX-License-Identifier: Apache-2.0
"""What was compared before a mechanism was taken: for whose account adds up rho, and in files."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import FileError, PlanError
from lownoise.kinds import expect
from lownoise.noise.abstract import NOISES
from lownoise.numbers.readable import readable
from lownoise.privacy.events import READINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms

GAUSSIAN = "gaussian"
RESPONSE, _TABLES = "randomized_response", ("laplace_residual", "geometric_residual")
WHOLE = ("geometric", "discrete_staircase", "discrete_k_norm")
COUNTS = ("laplace_histogram", "geometric_histogram")  # noise on the number of each record
_SAME = 1e-8
_OF_COMPARED = ("rho", "mu", "delta", "readings")  # which files before 0.2.0 do not state
_LEVEL = 0.95
_LESS = 1 - 1e-9


@final
@readable
@dataclass(frozen=True)
class Alternative:
    """A mechanism that was compared.

    Args:
        mechanism: its name.
        error: as `Terms.compared` has it; None where the mechanism was not available.
        note: why it was not, or what it is.
        rho: the least ρ that is proved of it, rounded up; None where none is.
        mu: the least μ, likewise.
        delta: where it is above 0, `rho` and `mu` are of all but a chance `delta`.
        readings: the readings of accounts that can pay for it.
        terms: all of it; None where it was not available, and in a plan that was read from a file.
    """

    mechanism: str
    error: float | None
    note: str
    rho: float | None = None
    mu: float | None = None
    delta: float = 0.0
    readings: tuple[str, ...] = ()
    terms: Terms | None = field(default=None, repr=False, compare=False)

    def paid(self, currency: str) -> float | None:
        """Return √(2ρ) or μ, whichever is asked: what an error is inversely in; None if unknown."""
        if currency == "rho":
            return None if self.rho is None else math.sqrt(2 * self.rho)
        return self.mu

    def row(self) -> tuple[str, ...]:
        """Return its row of a table; what is not known of it is a question mark."""
        numbers = (
            self.error,
            self._number("mean_error"),
            self._number("widest"),
            self.rho,
            self.mu,
        )
        cells = ("?" if own is None else f"{own:.4g}" for own in numbers)
        return self.mechanism, *cells, ", ".join(self.readings)

    def _number(self, name: str) -> float | None:
        try:
            return float(getattr(self, name))
        except PlanError:
            return None

    @property
    def proviso(self) -> str:
        """What its ρ and μ leave out, in words; "" where nothing."""
        if not self.delta:
            return ""
        return f"rho and mu are of all but a chance of {self.delta:.4g}, to be set aside"

    @property
    def widest(self) -> float:
        """The greatest of `half_widths`: of means without the count, of streams in any round."""
        return self._own().view.widest(_LEVEL)

    def half_widths(self, level: float = 0.95) -> Vector:
        """Return how far from its answer the exact one is with chance `level`, shape (m,).

        Of marginals the greatest of each kind that was asked for.

        Raises:
            PlanError: where the mechanism was not available, or was read from a file, which has
                the numbers of the mechanism that was taken alone; or where the level is out of
                range.
        """
        return self._own().view.half_widths(level)

    @property
    def mean_error(self) -> float:
        """E‖ω·error‖_p of the answers that were compared, from 20,000 draws of the noise.

        Of a stream E‖error‖₂ of an answer: its mean over the rounds, or the largest.

        Raises:
            PlanError: as `half_widths`; and where answers are too many to be drawn.
        """
        return self._own().mean_error

    def _own(self) -> Terms:
        if self.terms is None:
            raise PlanError(
                f"{self.mechanism} is not in this plan; plan again with mechanism="
                f'"{self.mechanism}"',
            )
        return self.terms


@final
class Comparison(tuple[Alternative, ...]):
    """All mechanisms that were compared, the best first, then those not available and why.

    Printed it is a table: the yardstick ‖ω·(standard deviations)‖_p, E‖ω·error‖_p, the 95% interval
    of the answer with the widest, the least ρ and μ that are proved, and the readings of accounts
    that can pay.

    Examples:
        >>> Comparison([Alternative("laplace", 1.5, "independent", rho=0.5, mu=1.25)])
        mechanism  error  E‖error‖  95% ±   rho    mu  paid by
        laplace      1.5         ?      ?   0.5  1.25
    """

    __slots__ = ()

    @property
    def gaussian(self) -> Alternative | None:
        """The Gaussian noise that was compared; None where none was."""
        return next((own for own in self if own.mechanism == GAUSSIAN), None)

    def gaussian_at_equal(self, currency: str) -> float | None:
        """Return the error of Gaussian noise at the first one's ρ or μ, where that is less.

        An account that adds up ρ or μ² pays for each noise another price; for what it pays here,
        Gaussian noise, whose error is inverse to √ρ and μ, may err less.

        Args:
            currency: "rho" or "mu".
        """
        first, gaussian = self[0] if self else None, self.gaussian
        if first is None or gaussian is None or gaussian.error is None:
            return None
        least, error, own, price = (
            first.error,
            gaussian.error,
            first.paid(currency),
            gaussian.paid(currency),
        )
        if least is None or not own or price is None or not math.isfinite(own):
            return None  # or nothing is paid
        found = error * (price / own)
        return found if found < least * _LESS else None

    def __repr__(self) -> str:
        """Return the table, and what is to be said of its rows."""
        heads = ("mechanism", "error", "E‖error‖", f"{_LEVEL:.0%} ±", "rho", "mu", "paid by")
        rows = [heads, *(own.row() for own in self if own.error is not None)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
        lines = [
            "  ".join(
                text.ljust(width) if i in (0, len(heads) - 1) else text.rjust(width)
                for i, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        lines += [f"{own.mechanism}: {own.proviso}" for own in self if own.delta]
        lines += [f"{own.mechanism}: {own.note}" for own in self if own.error is None]
        return "\n".join(lines)


NOTHING_COMPARED = Comparison()


def names(*, of_means: bool = False) -> tuple[str, ...]:
    """Return the names of all mechanisms of pure noise, and of randomised response.

    Args:
        of_means: whether those that count records alone are left out.
    """
    found, counting = (*NOISES.names, RESPONSE, *_TABLES), (RESPONSE, *WHOLE, *COUNTS, *_TABLES)
    return tuple(own for own in found if not of_means or own not in counting)


def compared_to_dict(alternatives: Sequence[Alternative]) -> dict[str, Any]:
    """Return the field of the mechanisms that were compared; none where there were none."""
    return {"compared": [_to_dict(own) for own in alternatives]} if alternatives else {}


def _to_dict(own: Alternative) -> dict[str, Any]:
    known = {"rho": own.rho, "mu": own.mu}
    return {
        "mechanism": own.mechanism,
        "error": own.error,
        "note": own.note,
        **{name: number for name, number in known.items() if number is not None},
        **({"delta": own.delta} if own.delta else {}),
        **({"readings": list(own.readings)} if own.readings else {}),
    }


def compared_from_list(encoded: list[dict[str, Any]], chosen: str) -> Comparison:
    """Return the mechanisms that were compared: each once, the best first, one of them chosen."""
    found = Comparison(_alternative(each) for each in encoded)
    names = [own.mechanism for own in found]
    errors = [math.inf if own.error is None else own.error for own in found]
    available = [own.mechanism for own in found if own.error is not None]
    # of equals to nine digits the simplest is first
    rising = all(a <= b * (1 + _SAME) for a, b in pairwise(errors))
    if len(set(names)) < len(names) or chosen not in available or not rising:
        raise FileError("compared has not each mechanism once, the best first, with the chosen one")
    return found


def _alternative(fields: dict[str, Any]) -> Alternative:
    name, error, note = fields["mechanism"], fields["error"], fields["note"]
    expect("compared.mechanism", name, (GAUSSIAN, *names()))
    rho, mu, readings = fields.get("rho"), fields.get("mu"), fields.get("readings", [])
    delta = fields.get("delta", 0.0)
    numbers_or_none = all(
        own is None or (isinstance(own, float) and 0 <= own < math.inf)
        for own in (error, rho, mu, delta)
    )
    known = len(fields) == 3 + sum(own in fields for own in _OF_COMPARED)
    if not numbers_or_none or not isinstance(note, str) or not known:
        raise FileError("compared states an error that is no number, or a note that is no text")
    if not (isinstance(readings, list) and all(own in READINGS for own in readings)):
        raise FileError("compared states readings that no account has")
    return Alternative(name, error, note, rho=rho, mu=mu, delta=delta, readings=tuple(readings))
