# SPDX-License-Identifier: Apache-2.0
"""Exact counts in the cells of signed tables plus independent noise, Laplace or geometric.

Which tables are noised is a choice that only errors depend on: the marginals that are asked, the
residual spaces they see, or the table of all attributes. Counts are read from all of them together,
by least squares (`residuals.signed`), so that they agree whatever was noised.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import Loss, quotient_up
from lownoise.noise.independent import GeometricNoise, LaplaceNoise
from lownoise.noise.marginal_noise import AbstractRoundNoise, Parts, grid_step, marginal_mechanism
from lownoise.noise.marginals import CHUNK, AbstractLayout
from lownoise.noise.mechanism import covering
from lownoise.noise.tables import averaged, joined
from lownoise.noise.units import of_one_row, times_up
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, sqrt_up
from lownoise.samplers.laplace import MOST
from lownoise.sensitivity.factors.tables import differences
from lownoise.sensitivity.residuals.ordered import split_marginals
from lownoise.sensitivity.residuals.signed import WAYS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.independent import AbstractIndependentNoise
    from lownoise.noise.marginals import Noisy, Piece
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Marginals
    from lownoise.sensitivity.residuals import Orbits
    from lownoise.sensitivity.residuals.signed import SignedTables

    Pair = tuple[tuple[int, ...], tuple[int, ...]]  # the attributes of C and of P

MOST_CELLS = 3 * 10**7  # of one table, which is counted and noised in memory
LAWS: dict[str, type[AbstractIndependentNoise]] = {
    "laplace": LaplaceNoise,
    "geometric": GeometricNoise,
}
# which tables have noise, and of which law, by the names of mechanisms
SIGNED = {law + way: (tables, of) for law, of in LAWS.items() for way, tables in WAYS.items()}


@final
@dataclass(frozen=True)
class SignedSpace:
    """Where the integers of some signed tables of one shape lie, one after another.

    Args:
        sets: the attributes of C and of P of each.
        sizes: n of each attribute of C, in its order.
        orbit: which orbit of tables they are of.
        start: the place of the first integer.
    """

    sets: tuple[Pair, ...]
    sizes: tuple[int, ...]
    orbit: int
    start: int

    @property
    def length(self) -> int:
        """How many integers each table has."""
        return math.prod(self.sizes)

    @property
    def pieces(self) -> list[tuple[int, tuple[Pair, ...]]]:
        """The tables that are noised at once, each with the place of its first integer."""
        many = max(CHUNK // (self.length * 2 ** len(self.sets[0][1])), 1)
        starts = range(0, len(self.sets), many)
        return [(self.start + k * self.length, self.sets[k : k + many]) for k in starts]


@final
@dataclass(frozen=True, eq=False)
class SignedLayout(AbstractLayout):
    """The cells of signed tables.

    Args:
        tables: which tables.
        scales: b of the noise on the cells of each orbit of tables, in records, shape (s,): what
            they tell weighs by it.
        law: of that noise.

    Raises:
        PlanError: where a table has too many cells to be counted, a scale is out of range, or some
            count follows from no table.
    """

    tables: SignedTables
    scales: Vector
    law: type[AbstractIndependentNoise]

    def __post_init__(self) -> None:
        fits = self.scales.shape == self.steps.shape == (len(self.tables.asked),)
        with np.errstate(all="ignore"):
            own = self.scales / self.steps
            fits = fits and bool(np.all((own > self.law.least) & (own <= MOST)))
        if not fits or not np.all(np.isfinite(self.variances)):
            raise PlanError(
                "noise of some marginal is beyond what integers hold; give a larger budget, or "
                "weights that are nearer to each other",
            )
        cells = max(
            (
                length * 2 ** len(own.signs)
                for length, own in zip(self.tables.lengths, self.tables.asked, strict=True)
            ),
            default=1,
        )
        if cells > MOST_CELLS:
            raise PlanError(
                f"a table of {float(cells):.2g} cells is too large for noise on all of them; at "
                "most 3·10^7 are possible",
            )

    @property
    def changes(self) -> SignedTables:
        """What one record changes in tables of counts."""
        return self.tables

    @property
    def becoming(self) -> Any:  # noqa: ANN401 (as of all layouts)
        """What one changes that becomes another: two cells of a table, and not the count of all."""
        counted = any(not (own.cells or own.signs) for own in self.tables.asked)
        return super().becoming if counted else replace(self.tables, public=True)

    @cached_property
    def length(self) -> int:
        """How many integers there are."""
        pairs = zip(self.tables.copies, self.tables.lengths, strict=True)
        return sum(count * length for count, length in pairs)

    @cached_property
    def spaces(self) -> tuple[SignedSpace, ...]:
        """All tables, those of one shape together, in the order of their integers."""
        sizes = self.orbits.sizes[self.orbits.kinds].tolist()
        found, start = [], 0
        for orbit in range(len(self.tables.asked)):
            shaped: defaultdict[tuple[tuple[int, bool], ...], list[Pair]] = defaultdict(list)
            for cells, signs in self.tables.members(orbit):
                both = sorted((*cells, *signs))
                shaped[tuple((sizes[i], i in signs) for i in both)].append((cells, signs))
            for shape, sets in shaped.items():
                own = tuple(size for size, signed in shape if not signed)
                space = SignedSpace(tuple(sets), own, orbit, start)
                start += len(sets) * space.length
                found.append(space)
        return tuple(found)

    @cached_property
    def begins(self) -> dict[Pair, tuple[int, SignedSpace]]:
        """Where the integers of each table begin, and its space."""
        return {
            pair: (space.start + k * space.length, space)
            for space in self.spaces
            for k, pair in enumerate(space.sets)
        }

    def step(self, space: SignedSpace) -> float:
        """Return the unit of a space's integers, in records."""
        return float(self.steps[space.orbit])

    def exact(self, records: Records, space: SignedSpace, sets: Sequence[Pair]) -> Integers:
        """Return the counts of some tables of a space, without noise, flat."""
        unions = [tuple(sorted((*cells, *signs))) for cells, signs in sets]
        signed = [i in sets[0][1] for i in unions[0]]  # at the same axes in all of one shape
        found = records.marginals(unions)
        for axis in reversed(range(len(signed))):
            if signed[axis]:
                found = np.take(found, 0, axis + 1) - np.take(found, 1, axis + 1)
        flat: Integers = found.reshape(-1)
        return flat

    def integers(self, counts: Integers, space: SignedSpace, size: int) -> Integers:
        """Return the integers of exact counts; in steps of 2 how far signs are from all being 1."""
        if self.step(space) > 1:
            return (counts - size) // 2  # each row has 1 or −1: it is even
        return super().integers(counts, space, size)

    @cached_property
    def numbers(self) -> Vector:
        """The variance of the noise of each number of an orbit's tables, in records, shape (s,)."""
        return self.law.variances(self.scales / self.steps) * np.square(self.steps)

    @cached_property
    def variances(self) -> Vector:
        """σ² of each residual space of all attributes, ordered or not, shape (r,)."""
        return self.tables.variances(self.numbers)

    def read(
        self,
        sets: Sequence[tuple[int, ...]],
        ordered: Sequence[int],
        released: Noisy,
    ) -> Vector:
        """Return noisy differences along A in each ordered cell; see `AbstractLayout.read`."""
        return np.stack([self._read(own, ordered, released) for own in sets])

    def _read(
        self,
        chosen: tuple[int, ...],
        ordered: Sequence[int],
        released: Noisy,
    ) -> Vector:
        """Return those of one set A, shape (n₁ − 1, …, cells)."""
        sizes, parts = self.sizes, {}
        for k in range(len(ordered) + 1):
            for within in itertools.combinations(ordered, k):
                both = tuple(sorted((*chosen, *within)))
                own = np.transpose(
                    self._residual(both, released), [both.index(i) for i in (*chosen, *within)]
                )
                parts[tuple(map(ordered.index, within))] = own
        table = joined(parts, len(ordered), len(chosen))
        return table.reshape(*(sizes[i] - 1 for i in chosen), -1)

    @cached_property
    def sizes(self) -> list[int]:
        """How many categories each attribute has."""
        found: list[int] = self.orbits.sizes[self.orbits.kinds].tolist()
        return found

    def _residual(
        self,
        chosen: tuple[int, ...],
        released: Noisy,
    ) -> Vector:
        """Return noisy differences along attributes by least squares, shape (n₁ − 1, …)."""
        memory = released.memory
        if chosen in memory:
            return memory[chosen]
        shape = tuple(self.sizes[i] - 1 for i in chosen)
        if self.tables.public and not chosen:
            return np.array(float(released.size))
        memory[chosen] = averaged(self._estimates(chosen, shape, released))
        return memory[chosen]

    def _estimates(
        self, chosen: tuple[int, ...], shape: tuple[int, ...], released: Noisy
    ) -> Iterator[tuple[Vector, float]]:
        """Yield what each table says of those differences, and with which precision."""
        for cells, signs in self._telling(chosen):
            start, space = self.begins[cells, signs]
            flat = np.asarray(released.integers[start : start + space.length]) * self.step(space)
            if self.step(space) > 1:
                flat = flat + released.size
            rest = tuple(k for k, i in enumerate(cells) if i not in chosen)
            own = flat.reshape(space.sizes).sum(axis=rest)
            square = float(self.numbers[space.orbit])
            precision = 2.0 ** len(signs) / math.prod(space.sizes[k] for k in rest) / square
            yield differences(own).reshape(shape), precision

    def _telling(self, chosen: tuple[int, ...]) -> Iterator[Pair]:
        """Yield the tables that tell of a residual space: P ⊆ A ⊆ P ∪ C."""
        kinds = self.orbits.kinds.tolist()
        inside = [kinds[i] for i in chosen]
        for own in self.tables.asked:
            need = Counter(own.signs)
            left = Counter(own.cells) - (Counter(inside) - need)
            if need - Counter(inside) or (Counter(inside) - need) - Counter(own.cells):
                continue
            for picked in itertools.combinations(chosen, len(own.signs)):
                if Counter(kinds[i] for i in picked) != need:
                    continue
                kept = [i for i in chosen if i not in picked]
                pools = [
                    itertools.combinations(
                        [i for i, k in enumerate(kinds) if k == kind and i not in chosen], count
                    )
                    for kind, count in sorted(left.items())
                ]
                for more in itertools.product(*pools):
                    yield tuple(sorted((*kept, *itertools.chain.from_iterable(more)))), picked


@final
@dataclass(frozen=True, eq=False)
class SignedNoise(AbstractRoundNoise):
    """Independent noise on the cells of signed tables, of one scale in each orbit of them.

    Args:
        layout: the cells, and the scales.
    """

    layout: SignedLayout

    def loss(self, changes: Any) -> Loss:  # noqa: ANN401 (the signed tables of the layout)
        """Return ε of the greatest change, and ρ and μ where all tables change, rounded up."""
        scales, (changes, times) = self.layout.scales, of_one_row(changes)
        epsilon = times_up(times, changes.epsilon_up(scales))
        if not math.isfinite(epsilon):
            return Loss(math.inf)
        rho, square, law = Fraction(0), Fraction(0), self.layout.law
        for own, copies, b in zip(changes.asked, changes.copies, scales.tolist(), strict=True):
            move, moves = quotient_up(float(times), b), copies
            if (
                changes.public
            ):  # two cells by 1 each or, which tells more, one by 2 if rows have signs
                move, moves = (2 * move, copies) if own.signs else (move, 2 * copies)
            rho += moves * Fraction(law.rho_up(move))
            square += moves * Fraction(law.mu_up(move)) ** 2
        return Loss(epsilon, 0.0, fraction_up(rho), sqrt_up(fraction_up(square)))

    @property
    def integer_valued(self) -> bool:
        """As of its law."""
        return self.layout.law.on_lattice

    @property
    def finest(self) -> Vector:
        """The deviation of the cells of each orbit of tables, in steps, shape (s,)."""
        return np.asarray(
            np.sqrt(self.layout.law.variances(self.layout.scales / self.layout.steps))
        )

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every answer's noise X."""
        layout = self.layout
        return layout.law.moment_of(layout.scales / layout.steps, order)

    def parts(self, chosen: Sequence[int]) -> Parts:
        """Return which independent numbers the noise of one cell of a marginal is the sum of."""
        layout, sizes = self.layout, self.layout.sizes
        kept = [i for i in chosen if sizes[i] > 1]
        weights, at, counts = layout.tables.cell_weights(layout.numbers, kept)
        steps, used = layout.steps[at], weights > 0
        scales = layout.scales[at] / steps
        return Parts(layout.law, (weights * steps)[used], scales[used], counts[used])

    def part(self, piece: Piece, randomness: Randomness) -> Integers:
        """Return the rounding of one piece of a draw."""
        space = piece.space
        scale = float(self.layout.scales[space.orbit]) / self.layout.step(space)
        return self.layout.law.rounded(np.full(len(piece.sets) * space.length, scale), randomness)

    @property
    def full(self) -> Orbits:
        """The residual spaces of all attributes, ordered or not."""
        return self.layout.tables.orbits

    @property
    def variances(self) -> Vector:
        """σ² of each of them by least squares, in records, shape (r,)."""
        return self.layout.variances


def signed_mechanism(
    question: Marginals,
    tables: SignedTables,
    size: int | None,
    scales: Vector,
    epsilon: float,
    law: type[AbstractIndependentNoise] = LaplaceNoise,
) -> AdditiveMechanism:
    """Return the mechanism whose scales are in proportion to these and that reveals at most ε.

    Args:
        question: the marginals.
        tables: which tables are noised.
        size: the public number of records, None under `add_remove`.
        scales: b of each orbit of tables up to a factor, shape (s,).
        epsilon: ε > 0.
        law: of the noise of one number.

    Raises:
        PlanError: where a table is too large, or has more noise than integers hold.
    """
    blocks = split_marginals(question, public=size is not None)

    def scaled(factor: float) -> AdditiveMechanism:
        own = frozen(scales * factor)
        layout = SignedLayout(blocks, signed_steps(own, law, tables), tables, own, law)
        return marginal_mechanism(question.attributes, size, SignedNoise(layout))

    if not tables.asked:  # the public number of records alone
        return scaled(1.0)
    return covering(scaled, lambda found: found.loss.epsilon, epsilon, 1 / epsilon)


def signed_steps(
    scales: Vector, law: type[AbstractIndependentNoise], tables: SignedTables
) -> Vector:
    """Return the unit of each orbit's integers that goes with its scale, shape (s,).

    Where noise is on a lattice it is that of counts, as `lattice` returns it.
    """
    if law.on_lattice:
        return lattice(tables)
    return frozen(np.array([grid_step(scale) for scale in scales.tolist()]))


def lattice(tables: SignedTables) -> Vector:
    """Return the steps that records move the numbers of each orbit's tables by, shape (s,).

    It is 1, or 2 where all rows have signs in one cell and their number is public.
    """
    return frozen(np.array([2.0 if tables.public and not t.cells else 1.0 for t in tables.asked]))
