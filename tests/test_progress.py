# SPDX-License-Identifier: Apache-2.0
"""A search can be watched and stopped; what it has then is proved."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.theory.enclosure import proved_status

PROBLEMS = {
    "points": ln.Points(np.random.default_rng(0).normal(size=(12, 3))),
    "many points": ln.Points(np.random.default_rng(1).normal(size=(600, 5))),
    "differences": ln.difference_body(ln.Points(np.random.default_rng(2).normal(size=(90, 4)))),
}
every_problem = pytest.mark.parametrize("name", PROBLEMS)


class Stop:
    """Interrupts at a step, as Ctrl-C would."""

    def __init__(self, step, kind=KeyboardInterrupt):
        self.step, self.kind = step, kind

    def __call__(self, progress):
        if progress.iteration == self.step:
            raise self.kind


@every_problem
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_the_gap_falls_to_what_was_asked(name, order):
    seen = []
    found = ln.theory.enclose(PROBLEMS[name], order=order, progress=seen.append)
    assert [p.iteration for p in seen] == list(range(1, found.iterations + 1))
    gaps = [p.gap for p in seen]
    assert all(a >= b for a, b in itertools.pairwise(gaps))
    assert all(p.lower <= found.certificate.upper for p in seen)
    assert all(p.upper >= found.certificate.lower for p in seen)


@pytest.mark.grid
@every_problem
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("step", [1, 2, 4])
def test_an_interrupt_ends_with_the_best_so_far(name, order, step):
    optimum = ln.theory.enclose(PROBLEMS[name], order=order).certificate
    found = ln.theory.enclose(PROBLEMS[name], order=order, progress=Stop(step))
    assert found.status.startswith("interrupted")
    assert "run again" in found.status
    assert found.iterations == step
    assert found.certificate.verify() == found.certificate
    assert 0 < found.certificate.lower <= optimum.upper
    assert optimum.lower <= found.certificate.upper < math.inf


def test_a_factorization_can_be_interrupted():
    W = np.tril(np.ones((20, 20)))
    found = ln.theory.factorize(W, progress=Stop(2))
    assert found.status.startswith("interrupted")
    assert found.left @ found.right == pytest.approx(W)
    assert np.all(np.linalg.norm(found.right, axis=0) <= 1)


def test_an_interrupt_before_the_first_step_is_one(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("lownoise.solvers.generation.newton", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ln.theory.enclose(PROBLEMS["points"])


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, SystemExit])
def test_an_error_of_the_callback_is_the_callers(kind):
    with pytest.raises(kind):
        ln.theory.enclose(PROBLEMS["points"], progress=Stop(2, kind))


def test_the_status_says_where_less_is_proved_than_was_asked_for():
    """Far from zero the input has lost the digits: 1e-9 cannot be had, and the status says so."""
    points = np.random.default_rng(3).normal(size=(20, 3)) @ np.diag([1.0, 1e-3, 1e-6])
    turned = points @ np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0] + 1e7
    found = ln.theory.enclose(ln.Points(turned), rtol=1e-12)
    assert found.certificate.gap > 1e-12
    assert found.status.startswith("stopped")
    assert ";" in found.status
    assert proved_status("solved", found.certificate, 1.0) == "solved"


def test_answers_that_are_one_up_to_rounding_are_said_to_be():
    found = ln.theory.enclose(ln.Points([[0, 1.0], [1, 0]]), order=3, workload=[[1, 1]])
    assert found.certificate.lower == 0
    assert found.certificate.upper < 1e-14
    assert "less than floats resolve" in found.status
