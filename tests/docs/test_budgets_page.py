# SPDX-License-Identifier: Apache-2.0
"""What docs/budgets.md states of each noise, of what others add and of what accounts charge."""

import math

import pytest
from benchmarks import budgets
from pages import budgets as page
from pages.pure import rows_of

TEXT = page.PAGE.read_text(encoding="utf-8")
NOISES = rows_of(TEXT, "noises")
MAP = rows_of(TEXT, "map")
QUICK = [row for row in NOISES if int(row[1]) <= 16]
BOX = [row for row in NOISES if row[0] == page.MEANS and row[2] == "1" and row[3] == "1e-6"]


def test_the_table_has_all_that_the_command_makes():
    asked = {(row[0], row[1], row[2], row[3]) for row in NOISES}
    shown = {
        (q, str(d), "1", delta)
        for q in budgets.QUESTIONS
        for d in page.SHOWN
        for delta in ("0", "1e-6")
    }
    shown |= {(q, "16", f"{e:g}", "1e-6") for q in budgets.QUESTIONS for e, _ in page.ALONE}
    assert asked == shown


@pytest.mark.grid(3)
@pytest.mark.parametrize("row", QUICK[::3], ids=lambda row: " ".join(row[:4]))
def test_errors_are_as_stated(row):
    found = budgets.row_of(row[0], int(row[1]), float(row[2]), float(row[3])).cells()
    assert found[:5] == row[:5]
    assert float(found[5]) == pytest.approx(float(row[5]), rel=1e-3)
    names = [[part.split(" ")[0] for part in own.split(", ")] for own in (found[7], row[7])]
    assert names[0] == names[1]
    over = [[float(part.split(" ")[1]) for part in own.split(", ")] for own in (found[7], row[7])]
    assert over[0] == pytest.approx(over[1], rel=0.02)


def test_the_map_has_every_budget_and_dimension():
    assert [(row[0], int(row[1]), float(row[2])) for row in MAP] == [
        (q, d, delta) for q in budgets.QUESTIONS for d in budgets.SIZES for delta in page.MAPPED
    ]


@pytest.mark.grid(3)
@pytest.mark.parametrize("row", MAP[2:50:9], ids=lambda row: " ".join(row[:3]))
def test_what_is_least_is_as_mapped(row):
    """At one of five epsilons, which takes turns; of few columns, whose plans are quick."""
    at = (int(row[1]) + len(row[0])) % len(budgets.EPSILONS)
    name, over = row[3 + at].split(" ")
    found = budgets.row_of(row[0], min(int(row[1]), 64), budgets.EPSILONS[at], float(row[2]))
    assert page.least(found).split(" ")[0] == name
    if int(row[1]) <= 64:
        assert float(page.least(found).split(" ")[1]) == pytest.approx(float(over), rel=0.02)


def test_what_others_add_is_what_their_formulas_say():
    """Laplace of scale d/ε on each of d columns, and a Gaussian's; over the least of ours."""
    rows = rows_of(TEXT, "peers")
    assert [row[0] for row in rows] == [str(d) for d in page.SHOWN]
    for row, ours in zip(rows, BOX, strict=True):
        d, least = int(row[0]), float(ours[5])
        assert row[1] == ours[4]
        laplace = math.sqrt(2 * d) * d / least
        assert float(row[3].rstrip("×")) == pytest.approx(laplace, rel=0.01)
        assert float(row[5].rstrip("×")) == pytest.approx(laplace, rel=0.01)
        gaussian = d / page.ASKED.gaussian_parameter() / least
        assert float(row[2].rstrip("×")) == pytest.approx(gaussian, rel=0.01)
        assert float(row[4].rstrip("×")) > float(row[2].rstrip("×"))  # whose curve is not exact


def test_what_accounts_charge_is_what_is_printed():
    assert page.readings() in TEXT
    named = [(row[0], row[1:]) for row in rows_of(TEXT, "readings")]
    for name, cells in named:
        event, asked = page.EVENTS[name]
        paid = {word for word, cell in zip(page.READINGS, cells, strict=True) if cell != "not paid"}
        assert set(event.readings) <= paid
        # with a δ aside what is paid without one is paid, too
        assert paid - set(event.readings) <= {"aside", *(("basic",) if asked else ())}


def test_a_cell_of_the_map_is_printed_by_a_command():
    asked = ["--asked", "categories", "--columns", "2", "--epsilon", "1", "--delta", "0"]
    (row,) = budgets.rows_of(budgets.chosen_by(budgets.parser_of().parse_args(asked)))
    stated = next(own for own in MAP if own[:3] == ["one of d + 1 categories", "2", "0"])
    assert page.least(row) == stated[3 + budgets.EPSILONS.index(1.0)]
    with pytest.raises(SystemExit, match="names none of means"):
        budgets.chosen_by(budgets.parser_of().parse_args(["--asked", "medians"]))
    everything = budgets.chosen_by(budgets.parser_of().parse_args([]))
    assert everything == budgets.Chosen()
