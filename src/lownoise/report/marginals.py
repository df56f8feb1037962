# SPDX-License-Identifier: Apache-2.0
"""Marginals: one of them with its intervals, and the noise of all, by those that are alike."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.report import charts, spelling
from lownoise.report.distributions import distribution
from lownoise.report.margins import others
from lownoise.report.parts import Chart, Column, Estimate, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import (
    FEW,
    MOST_ROWS,
    AbstractView,
    Kinds,
    Row,
    Wording,
    comparison,
    like_it,
    noise_section,
    totals,
    weighed,
)
from lownoise.sensitivity.orders import answer_count
from lownoise.sensitivity.residuals import marginal_orbits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markupsafe import Markup

    from lownoise.questions import Attribute, Marginals
    from lownoise.report.parts import Part

MOST_ATTRIBUTES = 100  # that are drawn
_MOST_LABELS, _MOST_LETTERS = 50, 200  # of an attribute's categories


@final
@dataclass(frozen=True, kw_only=True)
class MarginalsView(AbstractView):
    """What marginals say of themselves."""

    takes: ClassVar[str] = "marginals"
    beside: ClassVar[tuple[str, ...]] = ()  # what names a row, beside its categories

    @property
    def margins(self) -> Marginals:
        """What was asked for."""
        asked: Marginals = self.terms.question
        return asked

    @cached_property
    def wording(self) -> Wording:
        """What the answers are called: cells, or counts along an order."""
        question, order = self.terms.question, self.terms.order
        one = "count" if question.ordered else "cell"
        attributes = spelling.count(len(question.attributes), "attribute")
        uneven = bool(np.any(question.weights != 1))
        of = (f" of a {one}", f" of all {one}s")
        return Wording(
            asked=f"{spelling.count(question.count, 'marginal')} of {attributes}",
            measure=spelling.measure(order, "weighted " if uneven else "", *of),
            noise="Gaussian, independent on residual spaces, rounded to a grid",
            one=one,
            number="count",
            how=spelling.in_order(order, weighted=uneven),
            weight=weighed(question.weights, f"a {one}", "marginal"),
            details=(("Marginals", f"{question.count:,}, with {question.cells:,} {one}s"),),
        )

    def count(self) -> int:
        """Return how many cells there are."""
        return int(self.terms.question.cells)

    @cached_property
    def kinds(self) -> Kinds:
        """The marginals by their noise, the largest first; of those alike one is named."""
        terms, question = self.terms, self.terms.question
        found = []
        for names, count, deviation in terms.deviations():
            chosen = question.index(names)
            attributes = [question.attributes[i] for i in chosen]
            ordered = any(a.ordered for a in attributes)
            # along an ordered attribute each answer has a deviation of its own
            own = terms.standard_deviation(*names, answers=True) if ordered else deviation
            public = terms.size is not None and not chosen
            cells = math.prod(answer_count(a.ordered, a.size) for a in attributes)
            numbers = [totals(np.atleast_1d(own)).typical, float(np.max(own))]
            if self.gaussian:
                numbers += [0.0, 0.0] if public else [terms.isotropic, terms.histogram(chosen)]
            found.append((names, count, cells, numbers))
        found.sort(key=lambda kind: (-kind[3][1], len(kind[0])))
        typical, largest, *others = np.array([numbers for *_, numbers in found]).T

        def label(k: int) -> tuple[str, str, str]:
            names, count, cells, _ = found[k]
            return marginal_name(names), like_it(count), f"{cells:,}"

        return Kinds(
            label=label,
            counts=np.array([float(count) * cells for _, count, cells, _ in found]),
            typical=typical,
            largest=largest,
            others=tuple(others),
        )

    def answers(self) -> Section:
        """Return the marginal that was chosen, or the first one-way one and then the others."""
        names, table = self._shown(), self.counts()
        said = (
            "A small count may be below 0: this keeps counts unbiased, so that sums of them are "
            "right. `lownoise marginal DIR NAME…` prints any other marginal of this release."
        )
        covers = Prose(spelling.covers(self.percent, "count"), "intervals", note=True)
        title = f"Counts: {marginal_name(names)}" if names else "Counts: The number of rows"
        parts: tuple[Part, ...] = (table, covers, Prose(said, note=True), *others(self, names))
        if self.chosen is None:
            parts = (*distribution(self.release, self.level, self.percent), *parts)
        return Section("answers", title, parts)

    def _shown(self) -> tuple[str, ...]:
        return first_marginal(self.release) if self.chosen is None else tuple(self.chosen)

    def counts(self) -> Table:
        """Return the counts of the marginal that is shown, with their intervals."""
        names, every = self.rows()
        rows: list[tuple[str | Estimate, ...]] = [
            (
                *map(shown, row.labels or ("all rows",)),
                Estimate(row.estimate, row.low, row.high),
                spelling.significant(row.deviation),
            )
            for row in itertools.islice(every, MOST_ROWS)
        ]
        return Table(
            columns=(
                *(Column(shown(name), "name") for name in names or ("Rows",)),
                Column("Count", "estimate", self.level),
                Column("Standard deviation"),
            ),
            rows=tuple(rows),
            caption=f"Numbers of rows with {self.percent} intervals.",
            hidden=sum(1 for _ in every),
            rest=(
                "{hidden} more rows of this table are in the release; `lownoise marginal DIR "
                "NAME… --out FILE.csv` writes all of them."
            ),
            terminal=FEW,
        )

    def names(self) -> Iterable[str]:
        """Refuse: no one row holds them."""
        raise PlanError(
            "a plan of marginals has no single table; use plan.standard_deviation(*names)"
        )

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return the cells of the marginal, the last attribute running fastest."""
        release, question = self.release, self.terms.question
        names = self._shown()
        chosen = [question.attributes[question.index([name])[0]] for name in names]
        counts = release.marginal(*names)
        low, high = release.interval(*names, level=self.level)
        deviations = np.broadcast_to(np.asarray(release.standard_deviation(*names)), counts.shape)
        labels = itertools.product(*([a.label(k) for k in range(a.size)] for a in chosen))
        numbers = (own.ravel().tolist() for own in (counts, low, high, deviations))
        return names, (
            Row(labels=cell, estimate=value, low=below, high=above, deviation=deviation)
            for cell, value, below, above, deviation in zip(labels, *numbers, strict=True)
        )

    def noise(self) -> tuple[Section, ...]:
        """Return the noise of all marginals, the largest first, and a map of it by pairs."""
        one = self.wording.one
        table = self.kinds.table(
            (
                Column("Marginal", "name"),
                Column("Like it", "words"),
                Column(f"{one.capitalize()}s"),
                Column("This plan", "value"),
            ),
            ("i.i.d.", "Full table") if self.gaussian else (),
            caption=(
                f"Standard deviation of a {one}, in rows, at the same budget. Marginals with the "
                "same noise are named once."
            ),
            title="Largest noise first",
            rest="{hidden} more kinds of marginals have less noise.",
            terminal=FEW if self.release is None else 0,
        )
        drawn = heatmap(self.terms, one)
        return noise_section(self, "Noise of the marginals", table, drawn)

    def compared(self) -> tuple[Section, ...]:
        """Return how i.i.d. noise on the cells, or on the full table, compares."""
        others = (
            (
                "i.i.d. noise",
                "i.i.d. on these marginals",
                f"i.i.d. Gaussian noise on every {self.wording.one} of these marginals",
            ),
            (
                "full table",
                "i.i.d. on the full table, summed",
                "i.i.d. noise on the full table of all attributes, summed up",
            ),
        )
        return comparison(self, self.kinds, others)

    def public(self) -> tuple[Part, ...]:
        """Return the attributes with their categories."""
        attributes = self.terms.question.attributes
        return (attributes_table("Attributes and their categories", attributes),)


def marginal_name(names: Sequence[str]) -> str:
    """Return what a marginal is called: "age × sex", or the number of rows."""
    return " × ".join(map(shown, names)) if names else "(number of rows)"


def first_marginal(release: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the attribute of the first one-way marginal that was asked for, else a smallest."""
    question = release.terms.question
    best: tuple[int, ...] | None = None
    for chosen in question.sets():
        if len(chosen) == 1:
            return tuple(question.names(chosen))
        if best is None or not best or 0 < len(chosen) < len(best):
            best = chosen
    return tuple(question.names(best or ()))


def heatmap(terms: Any, one: str) -> tuple[Chart, ...]:  # noqa: ANN401
    """Return a square a pair of attributes; nothing where no pair and no attribute was asked for.

    Args:
        terms: of marginals.
        one: what an answer is called.
    """
    attributes = terms.question.attributes[:MOST_ATTRIBUTES]
    count = len(attributes)
    orbits = marginal_orbits(terms.question)
    typical = (float(np.sqrt(np.mean(np.square(d)))) for *_, d in terms.deviations())
    asked = dict(zip(orbits.asked, typical, strict=True))
    values = {
        (i, j): asked[orbit]
        for i in range(count)
        for j in range(i + 1)
        if (orbit := orbits.orbit({i, j})) in asked
    }
    if count < 2 or not values:  # noqa: PLR2004
        return ()
    edges = _edges([v for v in values.values() if v > 0])
    names = [spelling.shortened(a.name, 20) for a in attributes]
    drawn = charts.drawing(
        _size(names),
        _squares(names, values, edges),
        name="map",
        look="fixed",
        title=f"Standard deviation of a {one}, by pairs of attributes",
        description=_map_in_words(terms, values),
    )
    caption = (
        f"Standard deviation of a {one}, in rows: of the marginal of two attributes, and on the "
        "diagonal of one."
    )
    if len(values) < count * (count + 1) // 2:
        caption += " A pair without a square was not asked for."
    hidden = len(terms.question.attributes) - count
    if hidden:
        caption += f" The first {count} attributes are shown; {hidden:,} more are not."
    ranges = [f"{spelling.significant(low)} – {spelling.significant(high)}" for low, high in edges]
    if len(edges) == 1:
        ranges = [spelling.significant(edges[0][1])]
    legend = tuple((_opacity(k, len(edges)), said) for k, said in enumerate(ranges))
    return (Chart((drawn,), caption, legend, name="Map of standard deviations"),)


def _side(count: int) -> float:
    """Return how wide a square is, in pixels."""
    return min(max(620.0 / count, 13.0), 44.0)


def _left(names: Sequence[str]) -> float:
    """Return the room for names beside the squares."""
    return charts.room_for(names) - 12


def _size(names: Sequence[str]) -> tuple[float, float]:
    left, wide = _left(names), len(names) * _side(len(names))
    return left + wide + 8, wide + left


def _squares(
    names: Sequence[str],
    values: dict[tuple[int, int], float],
    edges: list[tuple[float, float]],
) -> list[Markup]:
    """Draw the squares of each shade in one path, their numbers where they fit, and the names."""
    count, left = len(names), _left(names)
    side = _side(count)
    said = {place: spelling.significant(v) for place, v in values.items()}
    numbered = side >= 40 and max(map(len, said.values())) <= 6  # noqa: PLR2004 (pixels, letters)
    paths = [""] * len(edges)
    parts: list[Markup] = []
    for (i, j), value in values.items():
        x, y = left + j * side, i * side
        shade = sum(value >= low for low, _ in edges[1:])
        paths[shade] += f"M{x:.1f} {y:.1f}h{side - 1:.1f}v{side - 1:.1f}h{1 - side:.1f}z"
        if numbered:
            dark = shade >= len(edges) - 2 and len(edges) > 2  # noqa: PLR2004
            look = "number onto" if dark else "number"
            parts.append(charts.text(x + side / 2, y + side / 2, said[i, j], look))
    for k, name in enumerate(names):
        middle = (k + 0.5) * side
        parts.append(charts.text(left - 6, middle, name, "end"))
        turned = f"translate({left + middle:.1f} {count * side + 6:.1f}) rotate(-90)"
        parts.append(charts.element("text", {"class": "end", "transform": turned}, name))
    shades = [
        charts.element(
            "path", {"class": "square", "fill-opacity": _opacity(k, len(edges)), "d": path}
        )
        for k, path in enumerate(paths)
        if path
    ]
    return [*shades, *parts]


def _edges(values: list[float]) -> list[tuple[float, float]]:
    """Return the least and largest deviation of each of six shades, evenly on a log scale."""
    if not values:
        return [(0.0, 0.0)]
    low, high = min(values), max(values)
    if high <= low * 1.005:  # as near as this they have one shade
        return [(low, high)]
    return list(itertools.pairwise(np.geomspace(low, high, 7).tolist()))


def _opacity(shade: int, count: int) -> str:
    return f"{0.12 + 0.88 * (shade / (count - 1) if count > 1 else 0.4):.3f}"


def _map_in_words(terms: Any, values: dict[tuple[int, int], float]) -> str:  # noqa: ANN401
    """Return the range, and where its ends are."""

    def named(place: tuple[int, int]) -> str:
        names = terms.question.names(sorted(set(place)))
        return f"{spelling.significant(values[place])} for {' by '.join(map(shown, names))}"

    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if math.isclose(values[least], values[most]):
        return f"Every one is {spelling.significant(values[most])}."
    return f"From {named(least)} to {named(most)}."


def attributes_table(title: str, attributes: Sequence[Attribute], outside: str = "") -> Table:
    """Return declared attributes, a row each: name, number of cells, categories, other values.

    Args:
        title: what a reader opens.
        attributes: what was declared.
        outside: where other values go, where that is no attribute's own.
    """
    return Table(
        columns=(
            Column("Name", "name"),
            Column("Cells"),
            Column("Categories", "words"),
            Column("Missing or other", "words"),
        ),
        rows=tuple(
            (shown(a.name), f"{a.size:,}", _labels(a), outside or _outside(a)) for a in attributes
        ),
        caption="Public categories, and what a missing or other value counts as.",
        folded=title,
    )


def _labels(attribute: Attribute) -> str:
    if attribute.labels is None and attribute.edges is None:
        return f"0 to {attribute.categories - 1:,}"
    labels = [shown(attribute.label(k)) for k in range(min(attribute.categories, _MOST_LABELS))]
    listed = ", ".join(labels)
    if len(listed) > _MOST_LETTERS or attribute.categories > len(labels):
        return f"{listed[:_MOST_LETTERS]}…"
    return listed


def _outside(attribute: Attribute) -> str:
    if attribute.outside is None:
        return "row left out"
    if attribute.outside == attribute.categories:
        return "a cell of their own"
    return f"counted as {shown(attribute.label(attribute.outside))}"
