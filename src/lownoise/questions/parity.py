# SPDX-License-Identifier: Apache-2.0
"""Parities of bits: sums over records of the product of a few signs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, QuestionError, counted, quoted
from lownoise.kinds import Field
from lownoise.numbers.arguments import checked_weights, is_integer
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.questions.attributes import Attribute, attributes
from lownoise.questions.encoding import QUESTIONS, AbstractQuestion, Parts
from lownoise.questions.queries import AbstractQueries
from lownoise.questions.universe import Universe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from lownoise.engines.counts import Histogram
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Vector

_MOST = 1 << 22  # parities
_MOST_BITS = 10_000
_MOST_LISTED, _MOST_ENTRIES = 16, 1 << 20  # bits, and numbers of a matrix of all their records


def _written(bits: Any, outside: Any, degrees: Any, weights: Any) -> Parity:  # noqa: ANN401 (a file)
    policies = ["drop" if cell is None else cell for cell in outside]
    by_name = dict(zip(bits, policies, strict=True))
    found = Parity(bits, degrees, weights=weights, outside=by_name)
    if found.degrees != tuple(degrees):
        raise FileError("question.degrees do not rise")
    return found


@QUESTIONS.kind(
    "parity",
    Field("bits", attribute=lambda own: [a.name for a in own.attributes]),
    Field("outside", attribute=lambda own: [a.outside for a in own.attributes]),
    "degrees",
    Field("weights", attribute="degree_weights"),
    make=_written,
)
@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class Parity(AbstractQuestion):
    """Parities: for every set S of exactly `degree` bits, Σ over records of Π_{i∈S} (−1)^{xᵢ}.

    The family of the source (003, Definition 8): all sets of exactly that size. For sets of at most
    w bits give `degree=range(w + 1)`.

    Args:
        bits: the names of columns whose values are 0 and 1.
        degree: the size of the sets, or several different sizes, each from 0 to the number of bits.
        weights: the weight of one unit of variance in a parity of each degree, above 0; ones by
            default.
        outside: values that are not 0 or 1: "drop" leaves the row out (`add_remove` only); 0 or 1
            replaces them; or a mapping from names to these.

    Raises:
        QuestionError: where a name stands twice, a degree is out of range, or weights do not fit.

    Examples:
        >>> question = Parity(["b1", "b2", "b3"], degree=2)
        >>> [question.names(s) for s in question.sets()]
        [('b1', 'b2'), ('b1', 'b3'), ('b2', 'b3')]
        >>> Parity([f"b{i}" for i in range(100)], degree=3).count
        161700
    """

    parts: ClassVar[Parts] = Parts(
        view="release.linear_views:ParityView",
        read="release.stored:read_parity",
        gaussian="planning.gaussian:plan_parity",
        pure="planning.pure_tables:pure_parity",
        page="report.linear:LinearView",
    )

    attributes: tuple[Attribute, ...]
    degrees: tuple[int, ...]
    degree_weights: Vector

    def __init__(
        self,
        bits: Sequence[str],
        degree: int | Sequence[int],
        *,
        weights: ArrayLike | None = None,
        outside: object = "drop",
    ) -> None:
        if isinstance(bits, (str, Mapping)) or not isinstance(bits, Sequence) or not len(bits):
            raise QuestionError('Parity.bits is no list of names; give ["b1", "b2", …]')
        if len(bits) > _MOST_BITS:
            raise QuestionError(f"Parity.bits names {len(bits):,}; name at most {_MOST_BITS:,}")
        for i, name in enumerate(bits):
            if not isinstance(name, str):
                raise QuestionError(f"Parity.bits[{i}]={quoted(name)} is no name; give a text")
            if name in bits[:i]:
                raise QuestionError(
                    f"Parity.bits names {quoted(name)} twice; name each column once"
                )
        columns = attributes(dict.fromkeys(bits, 2), _policy(outside, bits))
        degrees = _degrees(degree, len(bits))
        object.__setattr__(self, "attributes", columns)
        object.__setattr__(self, "degrees", degrees)
        own = checked_weights(
            weights, len(degrees), field="Parity.weights", each="a degree", error=QuestionError
        )
        object.__setattr__(self, "degree_weights", own)
        if self.count > _MOST:
            raise QuestionError(
                f"Parity.degree={quoted(degree)} of {len(bits)} bits asks for "
                f"{counted(self.count)} parities; "
                f"ask for at most {_MOST:,}",
            )

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of parities of each degree."""
        return tuple(math.comb(len(self.attributes), k) for k in self.degrees)

    @property
    def count(self) -> int:
        """The number of parities m."""
        return sum(self.counts)

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return any(a.outside is None for a in self.attributes)

    @property
    def weights(self) -> Vector:
        """What one unit of each answer's error matters: √ω, shape (m,)."""
        return np.repeat(np.sqrt(self.degree_weights), self.counts)

    @cached_property
    def as_queries(self) -> ParityQueries:
        """The same as linear queries over all records.

        Raises:
            QuestionError: where these are too many.
        """
        return ParityQueries(self)

    def sets(self) -> Iterator[tuple[int, ...]]:
        """Yield each parity's bits, as rising places in `attributes`: the order of the answers."""
        for k in self.degrees:
            yield from itertools.combinations(range(len(self.attributes)), k)

    def names(self, chosen: Sequence[int]) -> tuple[str, ...]:
        """Return the names of the bits at the places `chosen`."""
        return tuple(self.attributes[i].name for i in chosen)

    def place(self, names: Sequence[str]) -> int:
        """Return where the parity of these bits stands among the answers.

        Raises:
            QuestionError: where it is not one of the question's.

        Examples:
            >>> Parity(["a", "b", "c"], degree=[1, 2]).place(["c", "b"])
            5
        """
        known = {a.name: i for i, a in enumerate(self.attributes)}
        chosen = sorted({known[name] for name in names if name in known})
        if len(chosen) != len(names) or len(chosen) not in self.degrees:
            raise QuestionError(
                f"names={tuple(names)} is no parity that was asked for; give {self.degrees} "
                "different bits",
            )
        degree = self.degrees.index(len(chosen))
        before, bits = sum(self.counts[:degree]), len(self.attributes)
        # the sets that come later in the order of `combinations`
        left = sum(math.comb(bits - 1 - i, len(chosen) - j) for j, i in enumerate(chosen))
        return before + self.counts[degree] - 1 - left


@final
@dataclass(frozen=True, eq=False)
class ParityQueries(AbstractQueries):
    """Parities as linear queries over all 2^D records, where these are few enough to be listed.

    Args:
        parity: which parities.

    Raises:
        QuestionError: where they are not.
    """

    parity: Parity

    def __post_init__(self) -> None:
        bits = len(self.parity.attributes)
        if bits > _MOST_LISTED or self.parity.count << bits > _MOST_ENTRIES:
            raise QuestionError(
                f"Parity.bits has {bits}, whose records are too many to be counted one by one: "
                f"2^{bits} for each of {self.parity.count:,} parities; ask for fewer",
            )

    @cached_property
    def matrix(self) -> Vector:  # type: ignore[override]  # read only, as all of a frozen object is
        """What each record adds to each parity: 1 or −1, shape (m, 2^D)."""
        bits = len(self.parity.attributes)
        signs = 1.0 - 2.0 * np.indices([2] * bits).reshape(bits, -1)
        rows = [np.prod(signs[list(chosen)], axis=0) for chosen in self.parity.sets()]
        return frozen(np.array(rows))

    @cached_property
    def universe(self) -> Universe:  # type: ignore[override]  # likewise
        """All records of bits."""
        return Universe(attributes=self.parity.attributes)

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return self.parity.drops

    def histogram(self, table: Any) -> Histogram:  # noqa: ANN401 (any frame)
        """Return how many rows are of each record.

        Raises:
            TableError, EngineError: as those of `AbstractQueries`.
        """
        return self.reading.of(table)

    @property
    def reading(self) -> TableQuery[Histogram]:
        """What is asked of a table for how many rows are of each record."""
        from lownoise.engines.counts import histogram_query

        return histogram_query(self.universe)

    @property
    def weights(self) -> Vector:
        """What one unit of each parity's error matters, shape (m,)."""
        return self.parity.weights


def _policy(outside: object, bits: Sequence[str]) -> Mapping[str, object] | str:
    given = outside if isinstance(outside, Mapping) else dict.fromkeys(bits, outside)
    for name, policy in given.items():
        drop = isinstance(policy, str) and policy == "drop"
        bit = isinstance(policy, (int, float, np.integer, np.floating)) and policy in (0, 1)
        if not drop and (isinstance(policy, bool) or not bit):
            raise QuestionError(
                f"Parity.outside={quoted(policy)} for {quoted(name)} is no policy; "
                'give "drop", 0 or 1',
            )
    return given


def _degrees(degree: object, bits: int) -> tuple[int, ...]:
    several = isinstance(degree, Sequence) and not isinstance(degree, (str, bytes))
    given: Sequence[object] = degree if several and isinstance(degree, Sequence) else [degree]
    found = [
        int(k) if is_integer(k) else -1
        for k in (given if len(given) <= bits + 1 else ())  # before a long range is listed
    ]
    if not found or min(found) < 0 or max(found) > bits or len(set(found)) < len(found):
        raise QuestionError(
            f"Parity.degree={quoted(degree)} for {bits} bits; give a whole number from 0 to "
            f"{bits}, or several different ones",
        )
    return tuple(sorted(found))
