# SPDX-License-Identifier: Apache-2.0
"""What docs/learning.md states of bounds is what comes out now."""

import pytest
from pages import learning as learning_page
from pages import solver as solver_page

TEXT = learning_page.PAGE.read_text(encoding="utf-8")
ROWS = {
    line.split("|")[1].strip(" `"): [cell.strip() for cell in line.strip("|").split("|")]
    for line in solver_page.part(TEXT, "bounds").splitlines()[2:]
}


def test_the_page_has_all_strategies_that_it_compares():
    assert tuple(ROWS) == learning_page.SHOWN


@pytest.mark.grid(3)
@pytest.mark.parametrize("strategy", [own for own in learning_page.SHOWN if own != "optimal"])
def test_bounds_are_as_stated(strategy):
    assert learning_page.bound_row(strategy) == ROWS[strategy]


def test_the_best_model_in_hindsight_is_in_the_ball_and_no_other_is_better():
    rng = learning_page.np.random.default_rng(3)
    X, y = rng.standard_normal((50, 5)), rng.standard_normal(50)
    for radius in (0.05, 10.0):
        best = learning_page.hindsight(X, y, radius)
        assert learning_page.np.linalg.norm(best) <= radius * (1 + 1e-9)
        least = learning_page.np.sum((X @ best - y) ** 2)
        for _ in range(200):
            other = best + 0.1 * radius * rng.standard_normal(5)
            other *= min(1.0, radius / learning_page.np.linalg.norm(other))
            assert learning_page.np.sum((X @ other - y) ** 2) >= least * (1 - 1e-9)
