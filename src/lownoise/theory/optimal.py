# SPDX-License-Identifier: Apache-2.0
"""The best private mechanism of a small finite problem, with its proof."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import EngineError, PlanError
from lownoise.numbers.arguments import checked_number
from lownoise.numbers.arrays import floats, frozen, matrix, vector
from lownoise.numbers.randomness import SystemRandomness
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import down, exact
from lownoise.privacy import PureDPEvent
from lownoise.release.execution import charged
from lownoise.samplers import drawn
from lownoise.solvers import best_mechanism

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.certificate import Certificate
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Payer

_LARGEST, _SMALLEST = 2.0**250, 2.0**-250  # products of numbers stay normal
_LEAST_EPSILON, _MOST_EPSILON = 1e-6, 1e3
_MOST = 5_000  # unknowns, databases × answers: what takes a minute or less
_MOST_DATABASES = 1000


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class OptimalMechanism:
    """The mechanism of the least error among all ε-differentially private ones.

    Made by `optimal_mechanism`.

    Args:
        probabilities: P, shape (D, R): row x is the law of the answer on database x, in multiples
            of 2⁻⁵²; rows sum to one and P[x, r] ≤ e^{ε·d(x, x')}·P[x', r], both exactly.
        prior: shape (D,): the least favourable prior, under which no mechanism errs less than the
            best one does on its worst database; or the prior that was given.
        epsilon: what a draw costs, for each unit of distance.
        certificate: lower ≤ least error ≤ upper, and `verify`.
    """

    probabilities: Vector
    prior: Vector
    epsilon: float
    certificate: Certificate

    @property
    def error(self) -> float:
        """The expected error, rounded up: on the worst database, or under the prior given."""
        return self.certificate.upper

    def draw(
        self,
        index: int,
        *,
        ledger: Payer | None = None,
        randomness: Randomness | None = None,
    ) -> int:
        """Return one answer on one database: r with probability probabilities[index, r], exactly.

        This is the private release. A ledger is charged ε, which is right where one person moves
        the database by a distance of 1; draws on the data of one person add up.

        Args:
            index: which database; private, and no message tells of it.
            ledger: the account that pays; without one, who calls has to charge ε.
            randomness: where the one random word comes from; the operating system by default, and
                nothing else for anything that is published.

        Raises:
            LedgerError: where the account cannot pay; nothing is drawn then.
            EngineError: where there is no such database; the spend stays reserved, for the refusal
                tells of the index.
        """
        source = SystemRandomness() if randomness is None else randomness
        event = PureDPEvent(self.epsilon)
        note = "a draw of an optimal mechanism"
        # whether it is a database is looked at once it is paid for: a refusal tells that it is none
        return charged(ledger, event, note, lambda: drawn(self._row(index), randomness=source))[0]

    def _row(self, index: int) -> Vector:
        """Return the chances of the answers on a database, shape (R,)."""
        try:
            place = operator.index(index)
            if place >= 0:
                row: Vector = self.probabilities[place]
                return row
        except (IndexError, TypeError):
            pass
        raise EngineError(
            "index is no database, and a spend on it stays reserved; give an integer from 0 to "
            f"{len(self.probabilities) - 1}",
        )


def optimal_mechanism(
    distances: ArrayLike,
    errors: ArrayLike,
    *,
    epsilon: float,
    prior: ArrayLike | None = None,
) -> OptimalMechanism:
    """Return the ε-differentially private mechanism of the least expected error.

    It is the solution of a linear program (001, section 2.4; Ghosh, Roughgarden & Sundararajan 2009
    for one count), made private exactly (ours).

    Args:
        distances: d, shape (D, D): symmetric, 0 on the diagonal, ∞ where nothing is asked. A pair
            further apart than a path of others is as near as that path.
        errors: e ≥ 0, shape (D, R): what answer r costs on database x.
        epsilon: ε in [1e-6, 1000], for each unit of distance.
        prior: weights ≥ 0 of the databases, shape (D,): the expected error under it is made least;
            by default that on the worst database is.

    Raises:
        PlanError: where an argument is malformed, or the program is too large: above 5,000 for
            D·R, or above 30,000 for R times the ordered pairs that no path replaces.

    Examples:
        >>> import lownoise as ln
        >>> count = ln.theory.finite_problem([[1.0]], size=1)  # is one person in the table?
        >>> best = ln.theory.optimal_mechanism(count.distances, count.errors, epsilon=1.0)
        >>> round(best.error, 6), best.certificate.gap < 1e-9  # 1/(1 + e)
        (0.268941, True)
        >>> best.draw(0) in (0, 1)
        True
    """
    e = _checked_errors(errors)
    d = checked_distances(distances, len(e))
    number = checked_number("epsilon", epsilon)
    if not _LEAST_EPSILON <= number <= _MOST_EPSILON:
        raise PlanError(f"epsilon={number:g} is out of range; give one from 1e-6 to 1000")
    weights = None if prior is None else _checked_prior(prior, len(e))
    # 0.1 is meant as it prints, and its float is above that: what is proved is the lesser
    lesser = down(number) if Fraction(number) > exact(number) else number
    claim = best_mechanism(d, e, lesser, weights)
    found = claim.dual.prior
    return OptimalMechanism(
        probabilities=claim.probabilities,
        prior=frozen(found / np.sum(found)),
        epsilon=number,
        certificate=claim.certificate(),
    )


def _checked_errors(errors: ArrayLike) -> Vector:
    e = matrix(errors, field="errors", error=PlanError)
    if not e.size:
        raise PlanError(f"errors has shape {e.shape}; give a row a database, a column an answer")
    wrong = np.argwhere((e < 0) | (e > _LARGEST) | ((e > 0) & (e < _SMALLEST)))
    if wrong.size:
        x, r = wrong[0].tolist()
        raise PlanError(
            f"errors[{x}, {r}]={e[x, r]:g} is out of range; give 0 or one in [2^-250, 2^250]",
        )
    if e.size > _MOST:
        raise PlanError(
            f"errors has {len(e):,} databases × {e.shape[1]:,} answers, more than {_MOST:,} in "
            "all; take fewer records or a coarser list of answers",
        )
    return e


def checked_distances(distances: ArrayLike, count: int) -> Vector:
    """Return the distances between databases, shape (D, D).

    Raises:
        PlanError: where they are no distances, or there are too many.
    """
    try:
        d = floats(distances)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise PlanError("distances is not a table of numbers; give one for each pair") from None
    if d.shape != (count, count):
        raise PlanError(
            f"distances has shape {d.shape} for {count} databases; give a row and a column each",
        )
    if count > _MOST_DATABASES:
        raise PlanError(f"distances has {count:,} databases; give at most {_MOST_DATABASES:,}")
    wrong = np.argwhere(~(d >= 0) | ((d > 0) & (d < _SMALLEST)))
    if wrong.size:
        x, y = wrong[0].tolist()
        raise PlanError(
            f"distances[{x}, {y}]={d[x, y]:g} is no distance; give 0 or one from 2^-250, or "
            "infinity",
        )
    if np.any(np.diag(d) != 0):
        x = int(np.flatnonzero(np.diag(d))[0])
        raise PlanError(f"distances[{x}, {x}]={d[x, x]:g} is not 0; a database is at 0 from itself")
    uneven = np.argwhere(d != d.T)
    if uneven.size:
        x, y = uneven[0].tolist()
        raise PlanError(
            f"distances[{x}, {y}]={d[x, y]:g} and distances[{y}, {x}]={d[y, x]:g} differ; "
            "give the smaller for both",
        )
    return frozen(d)


def _checked_prior(prior: ArrayLike, count: int) -> Vector:
    w = vector(prior, field="prior", error=PlanError)
    if w.size != count:
        raise PlanError(f"prior has {w.size} weights for {count} databases; give one each")
    if np.any(w < 0) or not np.any(w > 0):
        raise PlanError("prior has a weight below 0, or none above it; give probabilities")
    w = w / np.max(w)
    return frozen(w / np.sum(w))
