# SPDX-License-Identifier: Apache-2.0
"""The randomizers, errors and ratios that docs/local.md states are what comes out now."""

import re

import pytest
from pages import local as local_page
from pages import solver as solver_page

from lownoise.local_model import RANDOMIZERS

TEXT = local_page.PAGE.read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in solver_page.part(TEXT, "randomizers").splitlines()[2:]
]


def test_the_page_has_all_questions_and_randomizers():
    assert [row[0] for row in ROWS] == list(local_page.QUESTIONS)
    for name in RANDOMIZERS.names:
        assert f"| `{name}` |" in TEXT or name.startswith("toy")


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", local_page.QUESTIONS)
def test_errors_are_as_stated(name):
    """Of randomizers that err alike to the last digits, any may be the best."""
    stated = next(row for row in ROWS if row[0] == name)
    for epsilon, own in zip(local_page.MEASURED, stated[1:], strict=True):
        plan, mechanism = local_page.answered(name, epsilon), own.partition(" ")[0]
        assert local_page.cell(plan).partition(" ")[2] == own.partition(" ")[2]
        errors = [each.error for each in plan.comparison if each.mechanism == mechanism]
        assert min(errors) <= plan.error * (1 + 1e-9)


def test_every_error_is_above_its_bound():
    ratios = [float(re.search(r"([\d.]+)×", own)[1]) for row in ROWS for own in row[1:]]
    assert len(ratios) == len(local_page.QUESTIONS) * len(local_page.MEASURED)
    assert min(ratios) >= 1
