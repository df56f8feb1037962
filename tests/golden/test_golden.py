# SPDX-License-Identifier: Apache-2.0
"""No plan charges less, costs more or sums otherwise than at the freeze.

Each case of the tests' tables once, its relation, budget and order taking turns, as far as a row is
quick; all rows by `python -m tests.golden`. A radius less by 1e-12 shows in `test_files.py`, whose
noise is no solver's. Mutants seen: noise × 0.99, sums moved by one step a row, draws reversed.
"""

import pytest
from tests.golden import chosen, stored
from tests.golden.facts import differences, facts_of
from tests.golden.members import members

STORED = stored()
ROWS = members()


def test_every_row_of_the_tables_is_stored():
    assert ROWS.keys() == STORED.keys()


@pytest.mark.grid(1, least=70)
@pytest.mark.parametrize("name", chosen(STORED, ROWS))
def test_a_plan_is_what_it_was(name):
    lines = list(differences(STORED[name], facts_of(ROWS[name]), name))
    assert not [line for line in lines if not line.startswith("note: ")]


@pytest.mark.parametrize(("less", "said"), [(2.0**-52, 0), (1e-13, 1)])
def test_a_charge_of_the_same_noise_is_less_by_last_bits_alone(less, said):
    """As bounds that are made by products are rounded by each processor its own way."""
    was = STORED["pure member pairs of signs, add_remove, laplace, approx_dp"]
    epsilon = float.fromhex(was["charge"]["epsilon"]) * (1 - less)
    now = {**was, "charge": {**was["charge"], "epsilon": epsilon.hex()}}
    lines = list(differences(was, now, "row"))
    assert [line for line in lines if "epsilon is SMALLER" in line] == lines
    assert len(lines) == said
